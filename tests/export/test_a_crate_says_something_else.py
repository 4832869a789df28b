"""Every text of a small crate, word for word: what it says must be what was run, and no word of it may change.

`small_crate.jsonl` is its description as the profiles and docs/exporting.md want it, entity by entity. Only
digests, sizes and scores have names in place of values, and lists of all files of a folder its name.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.base.vocabulary import Verdict
from harness.export import Exported, Extent, Profile, export, pack, summaries, things
from harness.export import crate as descriptions
from harness.export.actions import run_actions, score_values, suite_actions
from harness.export.contents import Contents, read_suite
from harness.export.integrity import check_derived
from harness.export.parts import scorer_files
from harness.export.summaries import describer, texts
from harness.planning.plan import Plan
from harness.results.records import Record
from harness.results.scoring import Scores, compute_scores, scores_path
from harness.results.store import Store
from harness.status import to_json, to_markdown
from harness.status.table import key_metrics
from tests.export.crates import graph_of, references
from tests.export.small import Names, small_repository
from tests.fabricate import planned_of, table_of

_HERE = Path(__file__).parent
_LEFT_OUT = "left out, because its evidence is damaged: a file of a run differs from its record"


@pytest.fixture(scope="module")
def small(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> tuple[Layout, Plan]:
    """The repository and its plan. Not to be changed."""
    return small_repository(repository, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def whole(small: tuple[Layout, Plan], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its crate. Not to be changed."""
    layout, plan = small
    folder = tmp_path_factory.mktemp("small crate") / "crate"
    exported = export(layout, plan, folder)
    damaged = planned_of(plan.cells[4]).key
    assert exported == Exported(4, {damaged: "a file of a run differs from its record"})
    return folder


@pytest.fixture(scope="module")
def less(small: tuple[Layout, Plan], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without predictions. Not to be changed."""
    layout, plan = small
    folder = tmp_path_factory.mktemp("less") / "crate"
    export(layout, plan, folder, extent=Extent.WITHOUT_PREDICTIONS)
    return folder


def test_the_description_is_what_was_written_down(small: tuple[Layout, Plan], whole: Path) -> None:
    assert Names(*small, whole).lines() == (_HERE / "small_crate.jsonl").read_text().splitlines()


def test_without_predictions_it_speaks_of_none(small: tuple[Layout, Plan], less: Path) -> None:
    lines, usual = Names(*small, less).lines(), (_HERE / "small_crate.jsonl").read_text().splitlines()
    other = (_HERE / "small_crate_without_predictions.jsonl").read_text().splitlines()
    assert [line for line in lines if line not in usual] == other
    # what has another description stands once, what is a prediction does not stand at all
    names = [json.loads(line)["@id"] for line in lines if line.startswith('{"@id"')]
    here = [json.loads(line)["@id"] for line in usual if line.startswith('{"@id"')]
    assert len(names) == len({*names}) and {*here} - {*names} == {
        *(f"#{method}-answer" for method in ("als_wr", "constant", "lrssl")),
        "data/datasets/{dataset}/",
    }
    assert [line for line in usual if line in lines] == [line for line in lines if line in usual]


def test_of_processes_alone_there_is_no_workflow(small: tuple[Layout, Plan], whole: Path, tmp_path: Path) -> None:
    layout, plan = small
    export(layout, plan, tmp_path / "crate", profile=Profile.PROCESS)
    found, expected = graph_of(tmp_path / "crate"), graph_of(whole)
    keys = [planned_of(plan.cells[number]).key for number in (0, 2, 3, 5)]
    for name in [
        *(f"#step-{method}" for method in ("als_wr", "constant", "lrssl")),
        *(f"#control-{key}" for key in keys),
        "#suite-run",
        "#organised",
        "https://w3id.org/ro/wfrun/workflow/0.5",
        "https://w3id.org/ro/wfrun/provenance/0.5",
        "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
    ]:
        del expected[name]
    del expected["./"]["mainEntity"]
    expected["./"]["conformsTo"] = {"@id": "https://w3id.org/ro/wfrun/process/0.5"}
    expected["./"]["mentions"] = [{"@id": f"#run-{key}"} for key in keys]
    content = (tmp_path / "crate" / "suite.json").read_bytes()
    expected["suite.json"] = {
        "@id": "suite.json",
        "@type": "File",
        "name": "suite.json",
        "description": "suite.json",
        "encodingFormat": "application/json",
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    assert found == expected


def test_the_files_are_those_that_runs_rest_on(small: tuple[Layout, Plan], whole: Path, less: Path) -> None:
    layout, plan = small
    runs = {number: planned_of(plan.cells[number]) for number in (0, 2, 3, 5)}
    alone = {"record.json", "job.json", "log.txt"}
    ended = {*alone, "method.json"}
    answer = {"predictions.npy", "validation.npy", "lowest.npy"}
    of_whole = {
        f"runs/{one.key[:2]}/{one.key}/{name}"
        for number, one in runs.items()
        for name in (alone if number == 3 else {*ended, *answer})
    }
    scores = {f"scores/{one.key[:2]}/{one.key}.json" for number, one in runs.items() if number != 3}
    data = {f"data/splits/{runs[number].split_digest}.npy" for number in (0, 5)}
    arrays = ("associations.npy", "disease_features.npy", "drug_features.npy", "names.json")
    data |= {f"data/datasets/{runs[0].dataset_digest}/{name}" for name in arrays}
    copied = {"Dockerfile", "LICENSE", "CITATION.cff", "datasets/synthetic/dataset.toml"}
    copied |= {"datasets/synthetic/splits.csv", "results/published/repurposing/names.toml"}
    for method in ("constant", "als_wr", "lrssl"):
        folder = layout.methods / method
        copied |= {
            path.relative_to(layout.root).as_posix()
            for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    common = {f"materials/{method}.cpu.cdx.json" for method in ("constant", "als_wr", "lrssl")}
    common |= {"README.md", "status.json", "status.md", "suite.json", *(f"repository/{name}" for name in copied)}

    def beside(crate: Path) -> set[str]:
        # which code and locks belong to an image, and which modules to a scorer, is told by their own tests
        known = ("repository/containers/", "repository/methods/_sdk/", "repository/harness/")
        return {name for name in Names(layout, plan, crate).files() if not name.startswith(known)}

    assert beside(whole) == common | of_whole | scores | data
    assert beside(less) == common | scores | {name for name in of_whole if name.rpartition("/")[2] not in answer}
    for crate, name in ((whole, "LICENSE"), (less, "LICENSE"), (whole, "datasets/synthetic/dataset.toml")):
        assert (crate / "repository" / name).read_bytes() == (layout.root / name).read_bytes()
    for name in of_whole:
        assert (whole / name).read_bytes() == (layout.local / name).read_bytes()


def test_every_file_is_summed_in_the_order_of_names(whole: Path) -> None:
    names = sorted(path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file())
    names.remove("SHA256SUMS")
    lines = [f"{hashlib.sha256((whole / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    assert (whole / "SHA256SUMS").read_text() == "".join(lines)


def test_every_file_is_described_however_it_is_called(tmp_path: Path) -> None:
    names = [".hidden", "a", "folder/.kept", "folder/SHA256SUMS", "folder/ro-crate-metadata.json", "z"]
    for name in [*reversed(names), "SHA256SUMS", "ro-crate-metadata.json"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert summaries.described_files(tmp_path) == [
        descriptions.CrateFile(name, hashlib.sha256(name.encode()).hexdigest(), len(name)) for name in names
    ]


def test_the_suite_names_every_cell_with_its_verdict(small: tuple[Layout, Plan], whole: Path, less: Path) -> None:
    _, plan = small
    ok = "the container finished and its predictions are valid"
    verdicts = [
        ("ok", ok),
        ("pending", "not run yet"),
        ("ok", ok),
        ("error", "exit code 3: no such matrix"),
        ("infrastructure", _LEFT_OUT),
        ("ok", ok),
    ]
    cells = [
        {
            "job": cell.job.model_dump(mode="json"),
            "planned": planned_of(cell).model_dump(mode="json"),
            "verdict": verdict,
            "reason": reason,
        }
        for cell, (verdict, reason) in zip(plan.cells, verdicts, strict=True)
    ]
    for crate, extent in (
        (whole, "records, logs, predictions, data and scores"),
        (less, "records, logs and scores"),
    ):
        assert json.loads((crate / "suite.json").read_text()) == {
            "name": "small & *made*",
            "extent": extent,
            "profile": "provenance",
            "describer": describer(),
            "cells": cells,
        }


def _records(layout: Layout, plan: Plan, *numbers: int) -> dict[str, Record]:
    store = Store(layout.runs)
    return {key: store.record(key) for key in (planned_of(plan.cells[number]).key for number in numbers)}


_README = """# Permafrost results: {name}
{count} of 6 planned cells were run. This crate holds {extent}.

- `suite.json`: every planned cell with its verdict; `status.md` and `status.json`: the table of these
- `runs/`: a folder per run, named by job key: record, job, log, the method's own report{answers}
- `scores/`: the scores of each run that ended ok
- `data/`: {data}
- `repository/`: what the runs rest on, under the names of the repository: code, cards, locks, listings of the
  environments, the recipe of the images, manifests, the names that papers use, the modules that compute scores
- `materials/`: a bill of materials per image: every package, with its version and licence (CycloneDX 1.6)
- `ro-crate-metadata.json`: all of this as a Provenance Run Crate (Workflow Run RO-Crate)

In a clone of the repository `harness export --verify CRATE` checks all of it{scores}.
`sha256sum --check SHA256SUMS` checks the files alone.
"""


def test_the_first_page_says_what_is_here(small: tuple[Layout, Plan], whole: Path, less: Path) -> None:
    layout, plan = small
    losses = f"\nLeft out:\n\n- {planned_of(plan.cells[4]).key}: {_LEFT_OUT}\n"
    name = r"small &amp; \*made\*"
    assert (whole / "README.md").read_text() == losses.join(
        [
            _README.format(
                name=name,
                count=4,
                extent="records, logs, predictions, data and scores",
                answers=", predictions",
                data="splits, and the true labels of the datasets whose licence allows it",
                scores=" and computes every score again from the predictions",
            ),
            "",
        ]
    )
    told = {"name": name, "count": 4, "extent": "records, logs and scores", "answers": ""}
    told |= {"data": "nothing", "scores": ""}
    assert (less / "README.md").read_text() == _README.format(**told) + losses
    suite = read_suite(whole)
    reference = suite.model_copy(update={"extent": Extent.REFERENCE, "cells": suite.cells[:4]})
    told |= {"extent": "records and scores of reference results", "answers": " (here: the record)"}
    expected = _README.format(**{**told, "count": 3}).replace("of 6 planned", "of 4 planned")
    assert texts(Contents(whole, reference, _records(layout, plan, 0, 2, 3)))["README.md"] == expected


def test_every_loss_is_named_and_what_is_here_is_none(small: tuple[Layout, Plan], whole: Path) -> None:
    """A run that the machine ended is no loss: its record is here."""
    layout, plan = small
    suite, lost = read_suite(whole), {"verdict": Verdict.INFRASTRUCTURE, "reason": "the disk is full"}
    cells = [cell.model_copy(update=lost) if number != 4 else cell for number, cell in enumerate(suite.cells)]
    contents = Contents(whole, suite.model_copy(update={"cells": cells}), _records(layout, plan, 0, 2, 3))
    told = texts(contents)["README.md"].partition("\nLeft out:\n\n")[2]
    reasons = {1: "the disk is full", 4: _LEFT_OUT, 5: "the disk is full"}
    assert told == "".join(f"- {planned_of(plan.cells[place]).key}: {why}\n" for place, why in reasons.items())


def test_a_method_on_two_accelerators_has_two_images_and_two_bills(
    small: tuple[Layout, Plan], whole: Path
) -> None:
    records = _records(*small, 0, 2, 3)
    one = next(iter(records.values()))
    job = one.planned.job.model_copy(update={"accelerator": "cuda"})
    planned = one.planned.model_copy(update={"job": job, "image_tree": "e" * 64})
    records["f" * 64] = one.model_copy(update={"planned": planned})
    contents = Contents(whole, read_suite(whole), records)
    assert contents.images == [("als_wr", "cpu"), ("constant", "cpu"), ("constant", "cuda")]
    # methods whose names begin alike have bills of their own
    contents.__dict__["images"] = [*contents.images, ("als", "cpu"), ("als_wr_again", "cpu")]
    trees = [record.planned.image_tree for record in records.values()]
    assert [entity["identifier"] for entity in things.images(records.values())] == [*dict.fromkeys(trees)]
    bills = {
        card.name: [
            name
            for name in references([*things.method(contents, card, {})][-1]["softwareRequirements"])
            if name.startswith("materials/")
        ]
        for card in things.cards_of(contents)
    }
    assert bills == {
        "als_wr": ["materials/als_wr.cpu.cdx.json"],
        "constant": ["materials/constant.cpu.cdx.json", "materials/constant.cuda.cdx.json"],
    }


def test_a_score_of_0_is_a_score(small: tuple[Layout, Plan]) -> None:
    (record,) = _records(*small, 0).values()
    name, other = key_metrics("repurposing")[:2]
    scores = Scores(record.key, "", {}, {name: 0.0, other: None}, notes={})
    assert [(one["name"], one["value"]) for one in score_values(record, scores)] == [(name, 0.0)]


def test_what_took_nothing_was_measured_and_what_was_not_seen_was_not(
    small: tuple[Layout, Plan], whole: Path
) -> None:
    records = _records(*small, 0)
    (record,) = records.values()
    used = {**record.resources, "wall_s": 0.5, "cpu_s": 0.0, "peak_bytes": None}
    contents = Contents(whole, read_suite(whole), records)
    (card,) = things.cards_of(contents)
    told = {one["@id"]: one for one in run_actions(contents, record.model_copy(update={"resources": used}), card)}
    values = {name: one["value"] for name, one in told.items() if one["@type"] == "PropertyValue"}
    assert values == {f"#run-{record.key}-wall_s": 0.5, f"#run-{record.key}-cpu_s": 0.0}
    assert [one["@id"] for one in told[f"#run-{record.key}"]["resourceUsage"]] == [*values]


@pytest.mark.parametrize(
    ("verdict", "status", "error"),
    [
        (Verdict.OK, "Completed", None),
        (Verdict.NOT_APPLICABLE, "Completed", None),
        (Verdict.PENDING, "Failed", "not all cells ended ok: ok 1, pending 1"),
    ],
)
def test_a_suite_is_complete_where_nothing_is_left_to_be_done(
    small: tuple[Layout, Plan], whole: Path, verdict: Verdict, status: str, error: str | None
) -> None:
    suite = read_suite(whole)
    cells = [suite.cells[0], suite.cells[2].model_copy(update={"verdict": verdict})]
    contents = Contents(whole, suite.model_copy(update={"cells": cells}), _records(*small, 0))
    action = next(suite_actions(contents))
    assert action["actionStatus"] == f"http://schema.org/{status}ActionStatus" and action.get("error") == error


@pytest.mark.parametrize("name", ["export/crate.py", "status/table.py", "materials/sbom.py"])
def test_whoever_makes_another_crate_is_another_describer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "harness"
    shutil.copytree(Path(summaries.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(summaries, "_PACKAGE", package)
    usual = summaries.describer.__wrapped__()
    assert summaries.describer.__wrapped__() == usual
    (package / name).write_text(f"{(package / name).read_text()}x = 1\n")
    assert summaries.describer.__wrapped__() != usual


def test_the_status_is_that_of_the_runs_that_were_packed(small: tuple[Layout, Plan], whole: Path) -> None:
    layout, plan = small
    table = table_of(layout, plan)
    # the damaged run is told of in the words of the export
    cells = tuple(
        replace(one, cell=replace(one.cell, reason=_LEFT_OUT)) if one.key == planned_of(plan.cells[4]).key else one
        for one in table.cells
    )
    table = replace(table, cells=cells)
    assert (whole / "status.md").read_text() == to_markdown(table)
    text = json.dumps(to_json(table), indent=2, sort_keys=True, ensure_ascii=False)
    assert (whole / "status.json").read_text() == text + "\n"


def test_scores_are_packed_as_they_were_kept(small: tuple[Layout, Plan], whole: Path) -> None:
    layout, plan = small
    for number in (0, 2, 5):
        kept = scores_path(layout, planned_of(plan.cells[number]).key)
        assert json.loads((whole / kept.relative_to(layout.local)).read_text()) == json.loads(kept.read_text())


def test_where_last_bits_differ_the_scores_that_tables_show_are_packed(
    small: tuple[Layout, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, plan = small
    store, planned = Store(layout.runs), planned_of(plan.cells[0])
    kept = compute_scores(layout, store, planned)
    assert json.loads(scores_path(layout, planned.key).read_text()) == kept.to_json()
    shown = {name: value and value * (1 + 1e-15) for name, value in kept.metrics.items()}
    monkeypatch.setattr(pack, "compute_scores", lambda *_: replace(kept, metrics=shown))
    packer = pack.Packer(layout, (), Extent.WHOLE, Profile.PROVENANCE, Silent())
    assert shown != kept.metrics and packer._scores(store, store.record(planned.key)) == kept
    scores_path(layout, planned.key).rename(tmp := scores_path(layout, planned.key).with_suffix(".away"))
    try:
        computed = packer._scores(store, store.record(planned.key))
    finally:
        tmp.rename(scores_path(layout, planned.key))
    assert computed is not None and computed.metrics == shown


def test_a_run_of_any_damage_is_left_out_and_named(
    small: tuple[Layout, Plan], whole: Path, tmp_path: Path
) -> None:
    """Cut, grown or changed: it is the same to whoever reads the crate, and no folder of this machine is named."""
    layout, _ = small
    assert Store(layout.runs).standing(planned_of(small[1].cells[4]).key).content == {}
    for path in whole.rglob("*"):
        if path.is_file() and path.suffix in (".json", ".md"):
            assert str(layout.root.parent) not in path.read_text(), path.name


def _twice(*entities: dict[str, Any]) -> Any:
    return lambda *_: iter(entities)


def test_one_name_stands_for_one_thing(
    small: tuple[Layout, Plan], whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = Contents(whole, read_suite(whole), {})
    one, again = {"@id": "#x", "@type": "Person", "name": "a"}, {"@id": "#x", "@type": "Person", "name": "b"}
    monkeypatch.setattr(descriptions, "_entities", _twice(one, again))
    assert [*descriptions.describe(contents, [])] == [one]
    monkeypatch.setattr(descriptions, "_entities", _twice(one, {**one, "@type": "Dataset"}))
    with pytest.raises(CorruptData, match="two things of a crate have one name") as refused:
        [*descriptions.describe(contents, [])]
    assert (refused.value.where, refused.value.todo) == ("#x", "rename one of them")


def test_the_scorers_of_every_benchmark_are_named(small: tuple[Layout, Plan], whole: Path) -> None:
    records = _records(*small, 0, 2)
    key, one = next(iter(records.items()))
    other = one.planned.job.model_copy(update={"benchmark": "ddi"})
    records[key] = one.model_copy(update={"planned": one.planned.model_copy(update={"job": other})})
    (engine,) = (
        entity
        for entity in descriptions.describe(Contents(whole, read_suite(whole), records), [])
        if entity.get("name") == "Permafrost harness"
    )
    files = {f"repository/{name}" for benchmark in ("ddi", "repurposing") for name in scorer_files(benchmark)}
    assert {part["@id"] for part in engine["hasPart"]} == files


def test_of_several_datasets_each_is_a_part_of_the_crate_and_was_read_by_the_suite(
    small: tuple[Layout, Plan], whole: Path
) -> None:
    records = _records(*small, 0, 2)
    key, one = next(iter(records.items()))
    other = {"dataset_digest": "d" * 64, "split_digest": "e" * 64}
    records[key] = one.model_copy(update={"planned": one.planned.model_copy(update=other)})
    contents = Contents(whole, read_suite(whole), records)
    told = {entity["@id"]: entity for entity in descriptions.describe(contents, [])}
    planned = [record.planned for record in records.values()]
    data = [things.dataset_id(contents, one) for one in planned]
    read = [name for one in planned for name in (things.dataset_id(contents, one), things.split_id(contents, one))]
    assert read[:2] == [f"#dataset-{'d' * 16}", f"#split-{'e' * 16}"] and not read[2].startswith("#")
    assert [part["@id"] for part in told["./"]["hasPart"]] == data
    assert [part["@id"] for part in told["#suite-run"]["object"]] == read
    assert [part["@id"] for part in told["#organised"]["object"]] == [f"#control-{key}" for key in records]
    runs = [f"#run-{key}" for key in records]
    assert [part["@id"] for part in told["./"]["mentions"]] == ["#suite-run", "#organised", *runs]


def test_another_version_of_the_describer_is_no_fault_of_the_crate(
    small: tuple[Layout, Plan], whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, plan = small
    contents = Contents(whole, read_suite(whole), _records(layout, plan, 0, 2, 3, 5))

    def told(contents: Contents) -> list[tuple[str, str, str, str]]:
        return [(step.name, str(step.checked), step.what, step.where) for step in check_derived(contents)]

    names = ["README.md", "status.json", "status.md"]
    names += [f"materials/{method}.cpu.cdx.json" for method in ("als_wr", "constant", "lrssl")]
    fine = [(name, "ok", "follows from the other files", "") for name in names]
    fine.append(("description", "ok", "every entity follows from the other files", ""))
    assert told(contents) == fine
    other = replace(contents, suite=contents.suite.model_copy(update={"describer": "of another version"}))
    # it gives the same all the same: but for the suite's own words nothing differs
    assert told(other) == fine
    unknown = [("description", "not checked", "another version of the harness wrote it; check that out", "")]

    def with_a_name(*own: Any) -> Any:
        first, *others = descriptions.describe(*own)
        return iter([{**first, "name": "x"}, *others])

    with monkeypatch.context() as patch:
        patch.setattr("harness.export.integrity.describe", with_a_name)
        name = "ro-crate-metadata.json"
        assert told(contents) == [*fine[:-1], ("description", "FAILED", f"{name}: name", str(whole / name))]
        assert told(other) == unknown
    monkeypatch.setattr("harness.export.integrity.texts", lambda _: {"README.md": "x", "gone.md": "y"})
    faults = [
        ("README.md", "FAILED", "not what these give", str(whole / "README.md")),
        ("gone.md", "FAILED", "not what these give", str(whole / "gone.md")),
        fine[-1],
    ]
    assert told(contents) == faults
    assert told(other) == unknown
