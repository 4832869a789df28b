"""What a page is told of cells, claims and evidence, against the made-up runs that it is told of."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict, Comparison
from harness.compare.names import Target
from harness.images import image_tree
from harness.images.cards import load_environment
from harness.images.record import lock_digests, read_record, recorded_listing, write_record
from harness.planning.cells import Cell
from harness.planning.plan import Plan
from harness.report.content import Shared, claim_entry, image_entries, page_data
from harness.report.evidence import Evidence, File, gather
from harness.results.records import RECORD_FILE
from harness.results.reference import load_reference
from harness.results.store import Store
from harness.status import Table
from tests.fabricate import planned_of, table_of
from tests.report.made_up import OPEN, claim

_METRICS = (
    *(f"{name}/{kind}" for name in ("AUC",) for kind in ("as-defined", "as-published")),
    *("NS-AUC/as-defined", "NS-AUC/as-published"),
)


def seen(layout: Layout, plan: Plan, books: list[Book], *more: str) -> Evidence:
    """The evidence of the first four cells."""
    table = table_of(layout, plan)
    table = Table("some", 6, table.cells[:4], 0)
    return gather(layout, table, books, more)


def claims_in(data: dict[str, Any], entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The claims of an entry, with the texts that all claims share."""
    return [
        {**one, **{name: data["shared"][one[name]] for name in ("source", "reason")}} for one in entry["claims"]
    ]


def told_of(one: Comparison) -> dict[str, Any]:
    """What is told of a claim that stands alone."""
    shared = Shared()
    entry = claim_entry(one, shared)
    return {**entry, "source": shared.values[entry["source"]], "reason": shared.values[entry["reason"]]}


def test_every_cell_is_told_with_all_that_it_rests_on(facts: Layout, made_up: Plan) -> None:
    beside = planned_of(made_up.cells[4])
    books = [
        Book(
            "repurposing",
            (),
            (
                claim(seed=17263407),
                claim("status", "ok", seed=17263407, ours=None, metric=None),
                claim(seed=17263407, method="als_wr", verdict=ClaimVerdict.REPRODUCED),
                claim(seed=22928437, dataset="hdvd"),
                claim(seed=None),
            ),
        )
    ]
    evidence = seen(facts, made_up, books, beside.key, "", planned_of(made_up.cells[0]).key)
    keys = [planned_of(cell).key for cell in made_up.cells[:4]]
    assert [*evidence.runs] == [*keys, beside.key]
    data = page_data(evidence, books, [[4, 0], [1], [4]])
    assert data["planned"] == 4 and len(data["cells"]) == 5
    order = [cell["key"] for cell in data["cells"]]
    # groups by name, controls last; runs of no cell in view behind all
    assert order == [keys[2], keys[3], keys[0], keys[1], beside.key]
    assert data["numbers"] == [[4, 2], [3], [4]]
    store, metrics = Store(facts.runs), data["metrics"]["repurposing"]
    scores = {key: _scores(facts, key) for key in (*keys[:3], beside.key)}
    assert metrics == sorted({name for one in scores.values() for name in one["metrics"]}) and {*metrics} > {
        *_METRICS
    }
    assert data["metrics"].keys() == {"repurposing"}

    def value(number: int) -> Any:
        return data["shared"][number]

    assert len({json.dumps(one, sort_keys=True) for one in data["shared"]}) == len(data["shared"])
    for entry in data["cells"]:
        key = entry["key"]
        record = store.record(key).model_dump(mode="json")
        job, ended = record["planned"]["job"], record["verdict"] == "ok"
        seed = job["split"]["seed"]
        log = (store.path(key) / "log.txt").read_text()
        files = {name: [one["sha256"], one["bytes"]] for name, one in record["files"].items()}
        expected: dict[str, Any] = {
            "benchmark": "repurposing",
            "method": job["method"],
            "dataset": "synthetic",
            "split": "random",
            "seed": seed,
            "verdict": record["verdict"],
            "reason": record["reason"],
            "key": key,
            "job": {name: job[name] for name in ("method", "variant", "parameters", "options")},
            "run": f"harness run --method {job['method']} --dataset synthetic --seed SEED",
            "pins": {
                "image": record["planned"]["image_tree"],
                "dataset": record["planned"]["dataset_digest"],
                "split": record["planned"]["split_digest"],
            },
            "record": {
                **{name: record[name] for name in ("attempts", "started", "finished", "harness_version")},
                **{name: record[name] for name in ("resources", "limits", "engine", "made_by")},
                "files": {"log.txt": files["log.txt"]} if key == beside.key else files,
                "digest": digest_of(record),
            },
            "folder": str(store.path(key)),
            "log": log,
        }
        if job["method"] == "constant":
            expected["control"] = True
        if ended:
            expected["metrics"] = [scores[key]["metrics"].get(name) for name in metrics]
        if key == beside.key:
            expected["notes"] = {}
        elif ended and scores[key]["notes"]:
            expected["notes"] = scores[key]["notes"]
        if key == keys[0]:
            expected["claims"] = [told_of(one) for one in books[0].comparisons[:2]]
        if key == keys[2]:
            expected["claims"] = [told_of(books[0].comparisons[2])]
        shared = {name: value(entry[name]) for name in ("reason", "job", "run")}
        if "claims" in entry:
            shared["claims"] = claims_in(data, entry)
        own = {name: value(entry["record"][name]) for name in ("limits", "engine", "made_by")}
        assert {**entry, **shared, "record": {**entry["record"], **own}} == expected
    trees = {store.record(key).planned.image_tree: store.record(key).image for key in order}
    assert data["images"] == trees and [*data["images"]] == sorted(trees)
    assert data["methods"].keys() == {"als_wr", "constant", "lrssl"}
    for name, made in data["methods"].items():
        image = {planned.image_tree for planned in map(planned_of, made_up.cells) if planned.job.method == name}
        assert {made["image"]} == image and len(made["code"]) == 64
        language = "r" if name == "lrssl" else "python"
        assert made["folders"] == [
            f"methods/{name}",
            f"methods/_sdk/{language}",
            f"harness/benchmarks/repurposing/sdk/{language}",
        ]
        chain = {
            "python": ("_base/debian", "_python/debian", "_numpy/wheels.cpu"),
            "r": ("_base/debian", "_r/debian"),
        }
        places = [f"containers/{one}.lock" for one in chain[language]]
        assert made["locks"] == [
            [place, hashlib.sha256((facts.root / place).read_bytes()).hexdigest()] for place in places
        ]


def _scores(layout: Layout, key: str) -> Any:
    return json.loads((layout.local / "scores" / key[:2] / f"{key}.json").read_text())


def test_a_variant_of_ours_has_no_claim(facts: Layout, made_up: Plan) -> None:
    books = [Book("repurposing", (), (claim(seed=17263407),))]
    evidence = seen(facts, made_up, books)
    cells = evidence.table.cells
    other = replace(cells[0].cell, job=cells[0].cell.job.model_copy(update={"variant": "corrected"}))
    table = replace(evidence.table, cells=(replace(cells[0], cell=other), *cells[1:]))
    data = page_data(replace(evidence, table=table), books)
    assert not [entry for entry in data["cells"] if "claims" in entry]
    assert [entry for entry in page_data(evidence, books)["cells"] if "claims" in entry]


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"upstream": "0" * 64}, "--upstream DIR"),
        ({"options": {"inner_folds": 0}}, "--inner-folds 0"),
        ({"accelerator": "cuda"}, "--accelerator cuda"),
        ({}, "--set level=2"),
    ],
)
def test_what_is_published_is_not_of_an_unusual_run(
    facts: Layout, made_up: Plan, change: dict[str, Any], asked: str
) -> None:
    books = [Book("repurposing", (), (claim(seed=17263407),))]
    evidence = seen(facts, made_up, books)
    told = [cell["key"] for cell in page_data(evidence, books)["cells"] if "claims" in cell]
    (usual,) = (one for one in evidence.table.cells if [one.key] == told)
    job = usual.cell.job.model_copy(update=change)
    odd = replace(usual, cell=replace(usual.cell, job=job), choices={} if change else {"level": 2})
    table = replace(evidence.table, cells=tuple(odd if one is usual else one for one in evidence.table.cells))
    data = page_data(replace(evidence, table=table), books)
    assert not [entry for entry in data["cells"] if "claims" in entry]
    # and whoever runs it again is told all that is unusual
    commands = [data["shared"][entry["run"]] for entry in data["cells"] if entry["key"] == usual.key]
    assert commands == [f"harness run --method {job.method} --dataset synthetic --seed SEED {asked}"]


def test_a_claim_of_a_variant_stands_at_its_cell(facts: Layout, made_up: Plan) -> None:
    books = [Book("repurposing", (), (claim(seed=17263407, variant="other"),))]
    evidence = seen(facts, made_up, books)
    assert not [entry for entry in page_data(evidence, books)["cells"] if "claims" in entry]
    cells = evidence.table.cells
    other = replace(cells[0].cell, job=cells[0].cell.job.model_copy(update={"variant": "other"}))
    table = replace(evidence.table, cells=(replace(cells[0], cell=other), *cells[1:]))
    data = page_data(replace(evidence, table=table), books)
    told = [claims_in(data, entry) for entry in data["cells"] if "claims" in entry]
    assert told == [[told_of(books[0].comparisons[0])]]


def test_a_cell_names_the_split_that_its_group_is_found_by(facts: Layout, made_up: Plan) -> None:
    """The matrix leads to the cells of its method, dataset and split, with options that are not usual."""
    evidence = seen(facts, made_up, [])
    cells = evidence.table.cells
    odd = replace(cells[0].cell, job=cells[0].cell.job.model_copy(update={"options": {"inner_folds": 0}}))
    table = replace(evidence.table, cells=(replace(cells[0], cell=odd), *cells[1:]))
    told = page_data(replace(evidence, table=table), [])["cells"]
    assert {(one.row, one.dataset, one.split) for one in table.groups} == {
        (entry["method"], entry["dataset"], entry["split"]) for entry in told
    }
    assert "random, 0 inner folds" in {entry["split"] for entry in told}


def test_scores_just_computed_and_scores_read_give_one_page(facts: Layout, made_up: Plan) -> None:
    """Their notes come in another order, and the page of equal results is equal byte for byte."""
    evidence = seen(facts, made_up, [])
    first, *others = evidence.table.cells
    notes = {"AUC": "two", "AP": "one"}
    tables = [
        replace(evidence.table, cells=(replace(first, notes=dict(own)), *others))
        for own in (notes.items(), reversed(notes.items()))
    ]
    one, same = (json.dumps(page_data(replace(evidence, table=table), [])) for table in tables)
    assert one == same and '"AP": "one", "AUC": "two"' in one


def test_a_claim_of_seed_0_stands_at_its_cell(facts: Layout, made_up: Plan) -> None:
    books = [Book("repurposing", (), (claim(seed=0), claim(seed=None)))]
    evidence = seen(facts, made_up, books)
    cells = evidence.table.cells
    job = cells[0].cell.job
    first = job.model_copy(update={"split": job.split.model_copy(update={"seed": 0})})
    table = replace(evidence.table, cells=(replace(cells[0], cell=replace(cells[0].cell, job=first)), *cells[1:]))
    data = page_data(replace(evidence, table=table), books)
    told = [(one["seed"], claims_in(data, one)) for one in data["cells"] if "claims" in one]
    assert told == [(0, [told_of(books[0].comparisons[0])])]


@pytest.mark.parametrize(("verdict", "bytes_"), [(Verdict.OK, 800), (Verdict.ERROR, 4000)])
def test_of_a_success_less_of_the_log_is_shown(
    evidence: Layout, made_up: Plan, verdict: Verdict, bytes_: int
) -> None:
    number = 0 if verdict is Verdict.OK else 3
    path = Store(evidence.runs).path(planned_of(made_up.cells[number]).key) / "log.txt"
    seen_ = seen(evidence, made_up, [])
    for size in (bytes_, bytes_ + 1):
        path.write_text("x" * size)
        (log,) = (
            entry["log"]
            for entry in page_data(seen_, [])["cells"]
            if entry["key"] == planned_of(made_up.cells[number]).key
        )
        told = f"[the last {bytes_:,} of {size:,} bytes]\n" if size > bytes_ else ""
        assert log == told + "x" * bytes_


def test_a_claim_is_told_with_its_verdict() -> None:
    entry = {
        "source": "a file",
        "metric": "NS-AUC/as-published",
        "published": "0.75",
        "ours": 0.5,
        "difference": -0.25,
        "verdict": "deviates",
        "reason": claim().why,
    }
    assert told_of(claim()) == entry
    lacking = claim(verdict=OPEN, n=3, needed=5)
    assert told_of(lacking)["reason"] == "a reason; 2 more would decide"
    assert told_of(claim(metric=None)) == {**entry, "metric": "AUC"}
    status = claim("status", "ok", metric=None, ours=1.0)
    bare = status._replace(claim=status.claim._replace(metric=""))
    assert told_of(bare) == {**entry, "metric": "status", "published": "ok", "ours": 1.0, "difference": None}


def test_equal_values_stand_once() -> None:
    shared = Shared()
    assert [shared.number(one) for one in ({"a": 1, "b": 2}, "x", {"b": 2, "a": 1}, "y", "x")] == [0, 1, 0, 2, 1]
    assert shared.values == [{"a": 1, "b": 2}, "x", "y"]
    alike = [{"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"}, "{'a': 1}"]
    assert [shared.number(one) for one in (*alike, *alike)] == [3, 4, 5, 6, 7] * 2


def test_an_image_is_told_only_of_a_run(facts: Layout, made_up: Plan) -> None:
    cells = table_of(facts, made_up).cells
    bare = replace(cells[0], cell=replace(cells[0].cell, record={}))
    unplanned = replace(cells[2], cell=replace(cells[2].cell, planned=None))
    assert image_entries([bare, unplanned]) == {}
    assert image_entries(cells[:1]) == {planned_of(made_up.cells[0]).image_tree: cells[0].cell.record["image"]}


def test_a_method_is_made_of_its_code_and_locks(evidence: Layout, made_up: Plan) -> None:
    one = seen(evidence, made_up, [])
    made = one.made("constant")
    assert made is not None and made is one.made("constant")
    assert made.image == planned_of(made_up.cells[0]).image_tree

    def file(path: Path) -> File:
        return File(path, hashlib.sha256(path.read_bytes()).hexdigest())

    folders = (
        evidence.methods / "constant",
        evidence.methods / "_sdk" / "python",
        evidence.benchmarks / "repurposing" / "sdk" / "python",
    )
    names = ("main.py", "permafrost_sdk.py", "repurposing_sdk.py")
    assert made.folders == folders
    assert made.files == tuple(file(folder / name) for folder, name in zip(folders, names, strict=True))
    locks = ("_base/debian.lock", "_python/debian.lock", "_numpy/wheels.cpu.lock")
    assert made.locks == tuple(file(evidence.containers / name) for name in locks)
    (evidence.methods / "als_wr" / "link.py").symlink_to("/etc/hostname")
    assert one.made("als_wr") is None and one.made("als_wr") is None


def test_an_environment_of_two_kinds_of_packages_has_two_locks(evidence: Layout, made_up: Plan) -> None:
    folder = evidence.containers / "_numpy"
    record = read_record(load_environment(evidence, "_numpy"), "cpu")
    assert record is not None
    card = folder / "environment.toml"
    card.write_text(card.read_text() + '[debian]\npackages = ["libgomp1"]\n')
    (folder / "debian.lock").write_text("libgomp1\n")
    changed = load_environment(evidence, "_numpy")
    locks = {"locks": lock_digests(changed, "cpu")}
    write_record(changed, "cpu", record.model_copy(update=locks), recorded_listing(changed, "cpu", record))
    made = seen(evidence, made_up, []).made("constant")
    assert made is not None
    assert [path.relative_to(evidence.root).as_posix() for path, _ in made.locks] == [
        f"containers/{name}.lock"
        for name in ("_base/debian", "_python/debian", "_numpy/debian", "_numpy/wheels.cpu")
    ]


def test_a_run_on_a_gpu_rests_on_the_locks_of_its_own_image(facts: Layout, made_up: Plan) -> None:
    one = seen(facts, made_up, [])
    cpu, cuda = one.made("mlp"), one.made("mlp", "cuda")
    assert cpu and cuda and cuda.image == image_tree(facts, "mlp", "cuda") != cpu.image
    assert (cuda.code, cuda.folders, cuda.files) == (cpu.code, cpu.folders, cpu.files)
    other = [(file.path.name, of.path.name) for file, of in zip(cpu.locks, cuda.locks, strict=True) if file != of]
    assert other == [("wheels.cpu.lock", "wheels.cuda.lock")]
    (first, *rest) = one.table.cells
    job = first.cell.job.model_copy(update={"accelerator": "cuda"})
    table = replace(one.table, cells=(replace(first, cell=replace(first.cell, job=job)), *rest))
    data = page_data(replace(one, table=table), [])
    assert [(cell["method"], cell.get("accelerator")) for cell in data["cells"]].count(("constant", "cuda")) == 1
    assert sum("accelerator" in cell for cell in data["cells"]) == 1
    assert [*data["methods"]] == ["als_wr", "constant", "constant cuda"]


def test_a_place_is_told_within_the_repository(facts: Layout, made_up: Plan) -> None:
    one = seen(facts, made_up, [])
    assert one.place(facts.root / "methods" / "x" / "y.py") == "methods/x/y.py"
    assert one.place(facts.benchmarks / "ddi" / "sdk") == "harness/benchmarks/ddi/sdk"
    assert one.place(Path("/somewhere/else.lock")) == "else.lock"


def test_runs_are_found_by_key_and_group(facts: Layout, made_up: Plan) -> None:
    beside = planned_of(made_up.cells[4])
    one = seen(facts, made_up, [], beside.key)
    keys = [planned_of(cell).key for cell in made_up.cells[:4]]
    assert [(group.row, len(group.cells)) for group in one.groups] == [
        ("als_wr", 2),
        ("lrssl", 1),
        ("constant", 2),
    ]
    assert {key: group.row for key, group in one.group_of.items()} == {
        **dict.fromkeys(keys[:2], "constant"),
        **dict.fromkeys(keys[2:], "als_wr"),
        beside.key: "lrssl",
    }
    assert [group.row for group in one.groups_of([beside.key, keys[1], "nobody", keys[0]])] == [
        "lrssl",
        "constant",
    ]
    assert one.groups_of([]) == []
    # what a claim rests on is beside the table where it is not in it
    runs: Any = {Target("x", None, None): {1: SimpleNamespace(key=beside.key), 2: SimpleNamespace(key=keys[0])}}
    for book in (Book("repurposing", (), (), runs), Book("repurposing", (), (), {}, {"other": runs})):
        assert [scored.key for scored in seen(facts, made_up, [book]).beside] == [beside.key]


def test_a_reference_result_stands_beside_too(repository: Layout, facts: Layout, made_up: Plan) -> None:
    layout = replace(repository, local=facts.local)
    key, entry = next(iter(load_reference(layout).items()))
    table = Table("some", 6, table_of(facts, made_up).cells[:4], 0)
    (scored,) = gather(layout, table, [], [key, key]).beside
    assert scored.key == key and scored.reference and scored.cell.job == entry.planned.job
    waiting = table_of(layout, Plan("some", (Cell(entry.planned.job, entry.planned),)))
    assert [cell.cell.record for cell in waiting.cells] == [{}]
    # a cell that waits for a run of this machine is no reason to forget the committed one
    assert [one.key for one in gather(layout, waiting, [], [key]).beside] == [key]
    # nor is a run of this machine that was damaged
    damaged = Store(layout.runs).path(key)
    damaged.mkdir(parents=True)
    (damaged / RECORD_FILE).write_text("cut")
    (scored,) = gather(layout, table, [], [key]).beside
    assert scored.key == key and scored.reference and scored.metrics
    shutil.rmtree(damaged)
    record = page_data(gather(layout, table, [], [key]), [], [[4]])["cells"][-1]
    assert record["reference"] is True and "folder" not in record and "log" not in record
