"""What was measured is outdated by the code that measures, by data that are gone, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.benchmarks.ddi.study import STUDY, changes_since, sheets_of_data
from harness.benchmarks.ddi.study.data_facts import Sizes, SplitFacts, measuring_code
from harness.compare import Book, load_names
from harness.data import dataset_digest
from harness.meaning import modules
from harness.study.measurements import load_measured, notes_on_data, save_measured
from harness.study.sides import Sides


@pytest.mark.parametrize(
    ("module", "counts"),
    [
        ("benchmarks/ddi/study/measurement.py", True),
        ("benchmarks/ddi/splits/consistency.py", True),
        # what these use of the benchmark
        ("benchmarks/ddi/splits/drugs/similarity.py", True),
        ("benchmarks/ddi/dataset.py", True),
        # what they use of the rest of the harness, which says of no number how it is computed
        ("base/errors.py", False),
        ("splits/spec.py", False),
        # what shows the numbers
        ("benchmarks/ddi/study/realtime.py", False),
    ],
)
def test_the_code_that_measures_is_the_benchmarks_own(
    repository: Layout, monkeypatch: pytest.MonkeyPatch, module: str, counts: bool
) -> None:
    before, content = measuring_code(), (repository.root / "harness" / module).read_bytes()
    read = modules._read

    def changed(text: bytes) -> tuple[str, Any]:
        meaning, imports = read(text)
        return f"another {meaning}" if text == content else meaning, imports

    monkeypatch.setattr(modules, "_read", changed)
    assert (measuring_code() != before) is counts


def facts_of(dataset: str, *sized: str) -> SplitFacts:
    sizes = [Sizes(dataset=name, digest="", drugs=1, types=1, triplets={}, pairs=1) for name in sized]
    empty: dict[str, Any] = {name: [] for name in ("years", "splits", "periods", "drug_map")}
    return SplitFacts(dataset=dataset, digest="", code="", left_out={}, sizes=sizes, dated=0, **empty)


def test_of_what_was_measured_the_data_that_are_gone_are_told(repository: Layout) -> None:
    told = "dataset {}, which was measured, is here no more"
    assert changes_since(repository, facts_of("drugbank", "gone", "drugbank")) == [told.format("gone")]
    assert changes_since(repository, facts_of("lost", "drugbank")) == [told.format("lost")]
    assert changes_since(repository, facts_of("lost", "gone")) == [told.format("gone"), told.format("lost")]


def test_what_is_committed_was_measured_by_the_code_that_is_here(repository: Layout) -> None:
    """Otherwise: `harness study --benchmark ddi --measure --mirror DIR`, and commit what it keeps."""
    committed = load_measured(repository, "ddi", SplitFacts)
    assert committed is not None and changes_since(repository, committed) == []


@pytest.fixture
def sides(repository: Layout) -> Sides:
    return Sides(repository, Book("ddi", (), (), {}), load_names(repository, "ddi"), ())


def test_without_a_measurement_there_is_no_sheet_of_data(sides: Sides, tmp_path: Path) -> None:
    names = ["strategies", "sizes", "periods", "map", "index", "differences", "index of gamma"]
    spec: Any = None
    assert {name: make(spec) for name, make in sheets_of_data(sides, None).items()} == dict.fromkeys(names)
    elsewhere = replace(sides, layout=Layout(tmp_path, tmp_path, tmp_path))
    makers = STUDY.makers(elsewhere)
    assert [*makers] == ["bars", "gamma", "types", "tuning", *names]
    assert [makers[name](spec) for name in names] == [None] * len(names)


def test_ensembles_are_made_of_all_runs_with_the_data_of_mirrors(
    sides: Sides, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[object, ...]] = []

    def ensembles(*some: object) -> dict[object, object]:
        given.append(some)
        return {}

    monkeypatch.setattr("harness.benchmarks.ddi.study.ensembles", ensembles)
    (one,) = STUDY.derived(sides, [tmp_path])
    assert given == [(sides.layout, sides.book.runs, sides.names.methods, [tmp_path])]
    assert (one.title, one.runs) == ("ensemble", {})
    assert one.rule == (
        "An ensemble is the mean probability of the methods that have a run of every seed that two have."
    )


class _Facts(Strict):
    place: Path


def test_facts_of_any_kind_are_kept(tmp_path: Path) -> None:
    layout, facts = Layout(tmp_path, tmp_path, tmp_path), _Facts(place=tmp_path)
    save_measured(layout, "toy", facts)
    assert load_measured(layout, "toy", _Facts) == facts


class _Number(Strict):
    value: float


@pytest.mark.parametrize("number", ["1e999", "NaN", "-1e999"])
def test_a_measured_number_that_is_endless_is_refused_with_its_file(tmp_path: Path, number: str) -> None:
    layout = Layout(tmp_path, tmp_path, tmp_path)
    save_measured(layout, "toy", _Number(value=1e300))
    path = layout.reference / "toy" / "measured.json"
    assert load_measured(layout, "toy", _Number) == _Number(value=1e300)
    path.write_text(path.read_text().replace("1e+300", number))
    with pytest.raises(CorruptData) as refused:
        load_measured(layout, "toy", _Number)
    assert refused.value.where == str(path)


def test_the_other_studies_tell_of_data_that_changed_as_well(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = dataset_digest(repository, "synthetic")
    assert notes_on_data(repository, "synthetic", present) == []
    told = f"Outdated: dataset synthetic is another one by now ({'0' * 12} was measured)."
    assert notes_on_data(repository, "synthetic", "0" * 64) == [told]
    near = present[:-1] + ("0" if present[-1] != "0" else "1")
    assert notes_on_data(repository, "synthetic", near) == [told.replace("0" * 12, near[:12])]
    assert notes_on_data(repository, "lost", present) == [
        "Outdated: dataset lost, which was measured, is here no more."
    ]
    # where nobody here can tell, nothing is said
    assert notes_on_data(repository, "dndataset", "0" * 64) == []
    for module, kind in (("combos.study.corpus", "CorpusFacts"), ("dti.study", "TaskFacts")):
        study = import_module(f"harness.benchmarks.{module}")
        benchmark = module.partition(".")[0]
        facts: Any = load_measured(repository, benchmark, getattr(study, kind))
        sides = Sides(repository, Book(benchmark, (), (), {}), load_names(repository, benchmark), ())
        spec: Any = SimpleNamespace(number="none", sheet=lambda *_, notes, **__: notes)
        changed = facts.model_copy(update={"digest": "0" * 64})
        before, after = study.sheet(sides, facts, spec), study.sheet(sides, changed, spec)
        assert after == [
            *before,
            f"Outdated: dataset {facts.dataset} is another one by now ({'0' * 12} was measured).",
        ]
