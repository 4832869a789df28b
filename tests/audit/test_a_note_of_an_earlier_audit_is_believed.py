"""A note that something was made again is of the code, the files and the recipe that made it, and of no others."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.audit.remake import remake_dataset, remake_split
from harness.audit.steps import Lack, Step, failed, not_checked, ok
from harness.base.errors import ManifestError
from harness.base.layout import Layout
from harness.planning.jobs import PlannedJob
from harness.planning.plan import Plan
from harness.splits.spec import SplitSpec
from harness.splits.splits import complete
from tests.data.own_data import TABLES, write_dataset
from tests.fabricate import planned_of

Remake = Callable[[Layout, PlannedJob], list[Step]]


def dataset(layout: Layout, planned: PlannedJob) -> list[Step]:
    return [remake_dataset(layout, planned, ())]


def split(layout: Layout, planned: PlannedJob) -> list[Step]:
    return remake_split(layout, planned, ())


def made_anew(remake: Remake, layout: Layout, planned: PlannedJob) -> bool:
    """Whether it is made, where a note of an earlier time may do."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("convert_dataset", "make_split"):
            patch.setattr(f"harness.audit.remake.{name}", None)
        try:
            remake(layout, planned)
        except TypeError:
            return True
    return False


@pytest.mark.parametrize(
    ("remake", "name", "again"),
    [
        (dataset, "harness/benchmarks/repurposing/converters/synthetic.py", True),
        (dataset, "harness/benchmarks/repurposing/dataset.py", True),
        (dataset, "harness/data/arrays.py", True),
        (dataset, "harness/data/parameters.py", True),
        (dataset, "harness/base/npy.py", True),
        (dataset, "harness/benchmarks/repurposing/splits/folds.py", False),
        (dataset, "harness/planning/plan.py", False),
        (split, "harness/benchmarks/repurposing/splits/strategies/random.py", True),
        (split, "harness/benchmarks/repurposing/splits/__init__.py", True),
        (split, "harness/benchmarks/measures.py", True),
        (split, "harness/base/npy.py", True),
        (split, "harness/benchmarks/repurposing/converters/synthetic.py", False),
        (split, "harness/planning/plan.py", False),
    ],
)
def test_other_code_makes_it_again(
    evidence: Layout,
    made_up: Plan,
    monkeypatch: pytest.MonkeyPatch,
    repository: Layout,
    remake: Remake,
    name: str,
    again: bool,
) -> None:
    """Where it is code that it depends on."""
    planned, target, read = planned_of(made_up.cells[0]), repository.root / name, Path.read_bytes
    assert target.is_file()
    remake(evidence, planned)
    assert not made_anew(remake, evidence, planned)
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b"\nMORE = 1\n" if path == target else b""))
    assert made_anew(remake, evidence, planned) is again


@pytest.fixture
def mine(evidence: Layout, made_up: Plan) -> PlannedJob:
    """A plan on a dataset of one's own, three tables beside its manifest."""
    write_dataset(evidence)
    planned = planned_of(made_up.cells[0])
    return planned.model_copy(update={"job": planned.job.model_copy(update={"dataset": "mine"})})


def test_other_files_make_it_again(evidence: Layout, mine: PlannedJob) -> None:
    """Those that the manifest records."""
    dataset(evidence, mine)
    assert not made_anew(dataset, evidence, mine)
    shutil.rmtree(evidence.datasets / "mine")
    write_dataset(evidence, tables={"drug_features.csv": TABLES["drug_features.csv"].replace("180.2", "180.3")})
    assert made_anew(dataset, evidence, mine)


def test_other_parameters_make_it_again(evidence: Layout, made_up: Plan) -> None:
    """A dataset that is generated has no files that could be others."""
    planned = planned_of(made_up.cells[0])
    dataset(evidence, planned)
    assert not made_anew(dataset, evidence, planned)
    manifest = evidence.datasets / planned.job.dataset / "dataset.toml"
    before = manifest.read_text()
    manifest.write_text(before.replace("\nseed = ", "\nseed = 1"))
    assert manifest.read_text() != before
    assert made_anew(dataset, evidence, planned)


CONVERTER = """from harness.benchmarks.repurposing.converters.csv import convert
"""


def test_another_converter_of_ones_own_makes_it_again(
    evidence: Layout, mine: PlannedJob, repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And any other harness: nobody knows what a person's own code takes from it."""
    folder = evidence.datasets / "mine"
    (folder / "convert.py").write_text(CONVERTER)
    manifest = folder / "dataset.toml"
    manifest.write_text(manifest.read_text().replace('converter = "csv"', 'converter = "./convert.py"'))
    dataset(evidence, mine)
    assert not made_anew(dataset, evidence, mine)
    (folder / "convert.py").write_text(f"{CONVERTER}MORE = 1\n")
    assert made_anew(dataset, evidence, mine)
    (folder / "convert.py").write_text(CONVERTER)
    assert not made_anew(dataset, evidence, mine)
    monkeypatch.setattr("harness.audit.remake.meaning_of_folder", lambda _: "of another harness")
    assert made_anew(dataset, evidence, mine)


def test_a_converter_that_is_gone_is_no_note_of_another(evidence: Layout, mine: PlannedJob) -> None:
    folder = evidence.datasets / "mine"
    manifest = folder / "dataset.toml"
    manifest.write_text(manifest.read_text().replace('converter = "csv"', 'converter = "./convert.py"'))
    with pytest.raises(ManifestError, match=r"there is no converter \./convert\.py"):
        dataset(evidence, mine)


def finding(layout: Layout, planned: PlannedJob, *titles: str) -> None:
    """Findings that say why the split of a run breaks a promise."""
    label = f"{planned.job.dataset} {complete('repurposing', planned.job.split).text}"
    path = layout.published / "repurposing" / "findings.toml"
    text = "".join(
        f'[[findings]]\ntitle = "{title}"\nabout = "Synthetic"\ntext = "It is so."\n'
        f'shown_by = ["harness split verify"]\nsplits = ["{label}"]\n'
        for title in titles
    )
    path.write_text(f'benchmark = "repurposing"\n{text}')


KEPT = ok("split", "keeps what its strategy promises")
BROKEN = [failed("split", "breaks a promise: items twice"), failed("split", "breaks a promise: none left")]
KNOWN = ok("split", "breaks a promise as it was published, a known finding: Twice, None")


@pytest.mark.parametrize(
    ("digest", "seed", "steps"), [("", 0, [KNOWN]), ("0", 0, BROKEN), ("f", 0, BROKEN), ("", 7, BROKEN)]
)
def test_a_promise_that_was_always_broken_is_a_finding(
    evidence: Layout,
    made_up: Plan,
    monkeypatch: pytest.MonkeyPatch,
    digest: str,
    seed: int,
    steps: list[Step],
) -> None:
    """Of the split as it was published: of another one, or one that nobody published, it is a broken link."""
    planned = planned_of(made_up.cells[0])
    finding(evidence, planned, "Twice", "None")
    made = ok("split", "made again from its recipe", planned.split_digest)
    assert split(evidence, planned) == [made, KEPT]
    for path in (evidence.cache / "audit").iterdir():
        path.unlink()
    monkeypatch.setattr("harness.audit.remake.verify_split", lambda *_, **__: ["items twice", "none left"])
    if digest:
        path = evidence.datasets / "synthetic" / "splits.csv"
        path.write_text(path.read_text().replace(planned.split_digest, digest * 64))
    if seed:
        other = planned.job.split.model_copy(update={"seed": seed})
        planned = planned.model_copy(update={"job": planned.job.model_copy(update={"split": other})})
    for _ in range(2):
        # once made, and once as it was noted
        assert split(evidence, planned)[1:] == steps


def test_without_a_finding_a_broken_promise_is_a_broken_link(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = planned_of(made_up.cells[0])
    finding(
        evidence, planned.model_copy(update={"job": planned.job.model_copy(update={"dataset": "hdvd"})}), "Twice"
    )
    monkeypatch.setattr("harness.audit.remake.verify_split", lambda *_, **__: ["items twice", "none left"])
    made = ok("split", "made again from its recipe", planned.split_digest)
    assert split(evidence, planned) == [made, *BROKEN]


def test_another_split_than_the_runs_is_told_with_both(evidence: Layout, made_up: Plan) -> None:
    one, other = (planned_of(made_up.cells[cell]) for cell in (0, 1))
    job = one.job.model_copy(update={"split": SplitSpec(strategy="random", seed=other.job.split.seed)})
    first, second = split(evidence, one.model_copy(update={"job": job}))
    assert first == failed(
        "split", "made again from its recipe", expected=one.split_digest, found=other.split_digest
    )
    assert second == KEPT


def test_a_dataset_that_comes_out_otherwise_is_told_with_both(evidence: Layout, made_up: Plan) -> None:
    planned = planned_of(made_up.cells[0])
    what = "converted again from the original files"
    for digest in ("0" * 64, "f" * 64):
        other = planned.model_copy(update={"dataset_digest": digest})
        assert dataset(evidence, other) == [failed("dataset", what, expected=digest, found=planned.dataset_digest)]
    assert dataset(evidence, planned) == [ok("dataset", what, planned.dataset_digest)]


def test_a_file_that_is_cut_is_not_on_this_machine(evidence: Layout, mine: PlannedJob) -> None:
    path = evidence.datasets / "mine" / "drug_features.csv"
    path.write_text("drug\n")
    said = "not converted again: drug_features.csv is not on this machine"
    assert dataset(evidence, mine) == [not_checked("dataset", said, Lack.DATA)]
