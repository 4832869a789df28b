"""What every page of a site is given, value by value: templates only write it down."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import ClaimVerdict
from harness.compare.book import keys_of
from harness.compare.text import comparison_json
from harness.data import load_manifest
from harness.methods.card import load_method
from harness.planning.plan import Plan
from harness.report import site
from harness.report.html import (
    Report,
    context_of,
)
from harness.report.matrix import matrix_of, published_means
from harness.report.site_map import RunLinks, SiteMap, slug
from harness.report.site_pages import SitePages
from harness.results.findings import Finding
from harness.results.store import Store
from harness.status import metric_sets
from tests.fabricate import planned_of
from tests.report.made_up import DONE, NOT, OFF, OPEN, claim, counts_of


@pytest.fixture
def pages(report: Report, monkeypatch: pytest.MonkeyPatch) -> tuple[SitePages, list[tuple[str, dict[str, Any]]]]:
    """The pages of the report, and what their templates are given."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def written(self: SitePages, template: str, root: str = "../", **values: Any) -> bytes:
        calls.append((template, {"root": root, **values}))
        return template.encode()

    monkeypatch.setattr(SitePages, "_page", written)
    return SitePages(SiteMap(report)), calls


def test_a_site_has_a_page_for_everything(pages: Any, report: Report) -> None:
    own, calls = pages
    files = [*own.files()]
    assert [name for name, _ in files if not name.startswith("files/")] == [
        "style.css",
        "index.html",
        "methods/als_wr.html",
        "methods/lrssl.html",
        "methods/constant.html",
        "datasets/synthetic.html",
        "claims/repurposing-table-3.html",
        "claims/repurposing-figure-2b.html",
        "claims/repurposing-constant-value-per-seed.html",
        "claims/repurposing-theirs-r-da-al.html",
        "findings/repurposing-1.html",
        "findings/repurposing-2.html",
        *(f"keys/{digit}.js" for digit in "0123456789abcdef"),
    ]
    assert files[0][1].decode() == context_of(report)["style"]
    copies = [name for name, _ in files if name.startswith("files/")]
    assert copies == sorted(copies) and "files/tests/test_x.py.txt" in copies
    root = report.layout.root
    for name, content in files:
        if name.startswith("files/methods/") or name.startswith("files/containers/"):
            assert content == (root / name.removeprefix("files/").removesuffix(".txt")).read_bytes()
    templates = ["index.html", *["method.html"] * 3, "dataset.html", *["claims.html"] * 4, *["finding.html"] * 2]
    assert [name for name, _ in calls] == templates


def test_every_run_is_found_by_the_first_digit_of_its_key() -> None:
    """Of a method, in order; a cell that was never run has no page to lead to."""

    def cell(key: str, record: object = "a record") -> SimpleNamespace:
        return SimpleNamespace(key=key, cell=SimpleNamespace(record=record))

    groups = [
        SimpleNamespace(method="one", cells=[cell("a2"), cell("07"), cell("a1"), cell("a3", None), cell("")]),
        SimpleNamespace(method="two", cells=[cell("a0"), cell("f9")]),
    ]
    site_map = SimpleNamespace(
        evidence=SimpleNamespace(groups=groups), title=lambda group: f"title of {group.method}"
    )
    keys = SitePages._keys(cast(SitePages, SimpleNamespace(map=site_map)))
    assert list(keys) == list("0123456789abcdef")
    assert {digit: runs for digit, runs in keys.items() if runs} == {
        "0": [("one", "title of one", ["07"])],
        "a": [("one", "title of one", ["a1", "a2"]), ("two", "title of two", ["a0"])],
        "f": [("two", "title of two", ["f9"])],
    }


def test_pages_stand_by_benchmark_with_controls_last() -> None:
    planned = [
        ("combos", "all_pairs", "sentences", True),
        ("ddi", "tiger", "drugbank", False),
        ("repurposing", "popularity", "cdataset", True),
        ("repurposing", "pmf", "fdataset", False),
        ("ddi", "mlp", "biggest", False),
        ("repurposing", "bnnr", "cdataset", False),
    ]
    names = ("benchmark", "method", "dataset", "control")
    groups = [SimpleNamespace(**dict(zip(names, one, strict=True))) for one in planned]
    site_map = SiteMap(cast(Report, SimpleNamespace(evidence=SimpleNamespace(groups=groups))))
    assert list(site_map.methods) == ["bnnr", "pmf", "popularity", "mlp", "tiger", "all_pairs"]
    assert list(site_map.datasets) == ["cdataset", "fdataset", "biggest", "drugbank", "sentences"]
    assert site_map.datasets["cdataset"] == [groups[2], groups[5]]


def test_the_index_tells_what_is_behind_each_page(pages: Any, report: Report) -> None:
    own, calls = pages
    own._index()
    ((_, values),) = calls
    cards = {name: load_method(report.layout, name) for name in ("als_wr", "constant", "lrssl")}
    about = {name: f"{', '.join(card.benchmarks)}: {card.category}" for name, card in cards.items()}
    ok, pending = ("ok", 1), ("pending", 1)
    manifest = load_manifest(report.layout, "synthetic")
    assert values == {
        "root": "",
        "name": "made-up",
        "tables": [
            (
                "methods",
                "Methods",
                "Claims about each that a run decided, and its planned cells by verdict.",
                ["method", "kind", "reproduced", "deviates", "cells"],
                [
                    ("methods/als_wr.html", "ALS-WR (als_wr)", about["als_wr"], [1, 0], [ok, ("error", 1)]),
                    ("methods/lrssl.html", "LRSSL (lrssl)", about["lrssl"], [0, 0], [ok, pending]),
                    ("methods/constant.html", "Constant (constant)", about["constant"], [0, 1], [("ok", 2)]),
                ],
            ),
            (
                "datasets",
                "Datasets",
                "Where each comes from, its splits by sha256, and what ran on it.",
                ["dataset", "benchmark", "cells"],
                [
                    (
                        "datasets/synthetic.html",
                        f"{manifest.title} (synthetic)",
                        "repurposing",
                        [],
                        [("ok", 4), ("error", 1), pending],
                    )
                ],
            ),
            (
                "claims",
                "Claims",
                "The tables and figures of the papers, made again, and other published numbers.",
                ["table, figure or numbers", "benchmark", *map(str, ClaimVerdict)],
                [
                    (f"claims/{name}.html", title, "repurposing", counts, None)
                    for name, title, counts in (
                        ("repurposing-table-3", "Table 3. Means", counts_of(DONE, OPEN, NOT)),
                        ("repurposing-figure-2b", "Figure 2b. Drawn", counts_of()),
                        ("repurposing-constant-value-per-seed", "constant: value per seed", counts_of(OFF)),
                        ("repurposing-theirs-r-da-al", "Theirs: Réda & al.", counts_of(NOT, NOT)),
                    )
                ],
            ),
            (
                "findings",
                "Findings",
                "What an original or a paper does otherwise than it says, and what demonstrates it.",
                ["finding", "about"],
                [
                    ("findings/repurposing-1.html", "One", "repurposing: ALS", [], None),
                    ("findings/repurposing-2.html", "Two", "repurposing: All", [], None),
                ],
            ),
        ],
    }


def test_the_claims_of_a_method_are_counted_in_all_books(pages: Any, report: Report) -> None:
    """A method may have many claims of one verdict, and part in several benchmarks."""
    _, calls = pages
    SitePages(SiteMap(replace(report, books=report.books * 2)))._index()
    ((_, values),) = calls
    assert [row[3] for row in values["tables"][0][4]] == [[2, 0], [0, 0], [0, 2]]


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_page_of_a_method_has_its_runs_and_what_made_them(pages: Any, report: Report, made_up: Plan) -> None:
    own, calls = pages
    root, evidence, store = report.layout.root, report.evidence, report.evidence.store
    for name in ("als_wr", "lrssl"):
        own._method(name, own.map.methods[name])
    (_, values), (_, other) = calls
    made = evidence.made("als_wr")
    assert made is not None
    (group,) = own.map.methods["als_wr"]
    metrics = [
        metric for members in metric_sets("repurposing") for metric in members if group.summary(metric) is not None
    ]
    runs = []
    for cell in made_up.cells[2:4]:
        key = planned_of(cell).key
        record = store.record(key).model_dump(mode="json")
        log = store.path(key) / "log.txt"
        scored = next(one for one in report.table.cells if one.key == key)
        runs.append(
            {
                "key": key,
                "seed": cell.job.split.seed,
                "verdict": record["verdict"],
                "reason": record["reason"],
                "scores": [scored.metrics.get(metric) for metric in metrics],
                "record": digest_of(record),
                "log": _sum(log),
                "log_bytes": f"{log.stat().st_size:,}",
                "log_text": log.read_text(),
                "split": planned_of(cell).split_digest,
                "again": f"harness audit {key[:12]} --replay 1",
            }
        )
    code = [
        ("methods/als_wr/als.py", root),
        ("methods/als_wr/main.py", root),
        ("methods/_sdk/python/permafrost_sdk.py", root),
        ("harness/benchmarks/repurposing/sdk/python/repurposing_sdk.py", report.layout.benchmarks.parents[1]),
    ]
    locks = [f"containers/{one}.lock" for one in ("_base/debian", "_python/debian", "_numpy/wheels.cpu")]
    anchor = f"g{digest_of(['als_wr', 'synthetic', 'random'])[:12]}"
    assert values == {
        "root": "../",
        "card": load_method(report.layout, "als_wr"),
        "made": made,
        "groups": [
            {
                "id": anchor,
                "title": "als_wr on synthetic, random",
                "dataset": "synthetic",
                "verdicts": [("ok", 1), ("error", 1)],
                "scores": [(metric, group.summary(metric)) for metric in metrics],
                "locks": [(name, _sum(root / name), f"../files/{name}.txt") for name in locks],
                "earlier": 0,
                "runs": runs,
            }
        ],
        "concerning": [
            ("../findings/repurposing-1.html", "One"),
            ("../claims/repurposing-table-3.html", "repurposing: Table 3. Means"),
        ],
        "waiting": [],
        "files": [(name, _sum(place / name), f"../files/{name}.txt") for name, place in code],
        "texts": [(name, (place / name).read_text()) for name, place in code[:2]],
        "locks": [(name, _sum(root / name), f"../files/{name}.txt") for name in locks],
    }
    assert other["waiting"] == [("pending", "synthetic", "not run yet", 1)]
    assert [len(one["runs"]) for one in other["groups"]] == [1]


def test_a_method_without_whole_code_has_a_page(pages: Any, report: Report) -> None:
    own, calls = pages
    report.evidence._made["constant", "cpu"] = None
    try:
        own._method("constant", own.map.methods["constant"])
    finally:
        del report.evidence._made["constant", "cpu"]
    ((_, values),) = calls
    assert (values["made"], values["files"], values["texts"], values["locks"]) == (None, [], [], [])
    # all runs are of another image than none
    assert [group["earlier"] for group in values["groups"]] == [2]


def test_a_run_on_a_gpu_is_of_the_image_for_it(pages: Any, report: Report) -> None:
    own, calls = pages
    (group,) = own.map.methods["constant"]
    made, other = report.evidence.made("constant"), report.evidence.made("mlp", "cuda")
    assert made is not None and other is not None
    lock = next(file for file in other.locks if file.path.name == "wheels.cuda.lock")
    cells = []
    for one in group.cells:
        planned = {**one.cell.record["planned"], "image_tree": "e" * 64}
        job = one.cell.job.model_copy(update={"accelerator": "cuda"})
        cells.append(replace(one, cell=replace(one.cell, job=job, record={**one.cell.record, "planned": planned})))
    report.evidence._made["constant", "cuda"] = replace(made, image="e" * 64, locks=(made.locks[0], lock))
    try:
        told = own._group(replace(group, cells=tuple(cells)))
        own._method("constant", [replace(group, cells=tuple(cells))])
    finally:
        del report.evidence._made["constant", "cuda"]
    usual = own._group(group)
    assert (told["earlier"], usual["earlier"]) == (0, 0)
    assert len(usual["locks"]) == 3 and told["locks"] == [usual["locks"][0], own._copy(lock)]
    # the page lists both: of the code as it is today, and of the runs
    ((_, values),) = calls
    assert values["locks"] == [*usual["locks"], own._copy(lock)]


def test_a_run_tells_where_it_came_from(pages: Any, report: Report, made_up: Plan) -> None:
    own, _ = pages
    scored = next(one for one in report.table.cells if one.key == planned_of(made_up.cells[0]).key)
    reference = own._run(replace(scored, reference=True), ["NS-AUC/as-published", "gone"])
    key = planned_of(made_up.cells[0]).key
    assert reference["again"] == f"harness audit --reference {key[:12]} --replay 1" and reference["log_text"] == ""
    assert reference["scores"] == [scored.metrics["NS-AUC/as-published"], None]
    record = {**scored.cell.record, "files": {}}
    bare = own._run(replace(scored, cell=replace(scored.cell, record=record)), [])
    assert (bare["log"], bare["log_bytes"]) == ("no log", "0")


@pytest.mark.parametrize("size", [4000, 4001, 1_000_000])
def test_of_a_log_the_end_is_on_the_page(evidence: Layout, made_up: Plan, report: Report, size: int) -> None:
    key = planned_of(made_up.cells[0]).key
    store = Store(evidence.runs)
    (store.path(key) / "log.txt").write_text("x" * size)
    scored = next(one for one in report.table.cells if one.key == key)
    log = SitePages(SiteMap(replace(report, evidence=replace(report.evidence, store=store))))._run(scored, [])[
        "log_text"
    ]
    assert log == (f"[the last 4,000 of {size:,} bytes]\n" if size > 4000 else "") + "x" * 4000


def test_the_page_of_a_dataset_has_its_splits(pages: Any, report: Report, made_up: Plan, monkeypatch: Any) -> None:
    own, calls = pages
    planned = [planned_of(cell) for cell in made_up.cells]
    recorded = {planned[0].split_digest}
    monkeypatch.setattr(
        "harness.report.site_pages.recorded_splits",
        lambda *_: {number: SimpleNamespace(sha256=one) for number, one in enumerate(recorded)},
    )
    groups = own.map.datasets["synthetic"]
    own._dataset("synthetic", groups)
    ((_, values),) = calls
    href: Callable[[Any], str] = values.pop("entry_href")
    ran = list(groups)
    assert href(groups[0]) == f"../methods/als_wr.html#{own.map.anchor(groups[0])}"
    means = published_means(report.books)
    assert values == {
        "root": "../",
        "manifest": load_manifest(report.layout, "synthetic"),
        "digests": [planned[0].dataset_digest],
        "matrix": matrix_of("synthetic", ran, "matrix-of", means, has_one_dataset=True),
        "without": 0,
        "splits": [
            (_place(planned[0]), "random", 17263407, planned[0].split_digest, "datasets/synthetic/splits.csv"),
            (_place(planned[1]), "random", 22928437, planned[1].split_digest, "the records of its runs"),
        ],
    }
    calls.clear()
    # seeds that give one split are two rows, of which one is the place that runs lead to
    (first,) = [group for group in ran if group.row == "constant"]
    same = [replace(first, cells=tuple(_on_split(one, planned[0].split_digest) for one in first.cells))]
    own._dataset("synthetic", same)
    assert [row[:3] for row in calls[0][1]["splits"]] == [
        (_place(planned[0]), "random", 17263407),
        ("", "random", 22928437),
    ]
    calls.clear()
    # of another state of the dataset, which is named too
    (first, *more) = groups[0].cells
    planned_then = {**first.cell.record["planned"], "dataset_digest": "f" * 64}
    then = replace(first, cell=replace(first.cell, record={**first.cell.record, "planned": planned_then}))
    own._dataset("synthetic", [replace(groups[0], cells=(then, *more))])
    assert calls[0][1]["digests"] == sorted([planned[0].dataset_digest, "f" * 64])
    calls.clear()
    # a planned group without a run is no row, and its split is counted where no other group has runs of it
    waiting = [replace(group, cells=_waiting(group), split="zz") for group in groups[:2]]
    own._dataset("synthetic", [groups[2], *waiting])
    assert calls[0][1]["without"] == 1 and [*calls[0][1]["matrix"].rows] == [(True, "constant")]
    assert calls[0][1]["entry_href"](waiting[0]) == ""
    calls.clear()
    own._dataset("synthetic", waiting)
    assert (calls[0][1]["matrix"], calls[0][1]["digests"], calls[0][1]["splits"]) == (None, [], [])
    calls.clear()
    monkeypatch.setattr("harness.report.site_pages.recorded_path", lambda *_: Path("/mine/secret/own/splits.csv"))
    own._dataset("synthetic", groups)
    assert calls[0][1]["splits"][0][-1] == "synthetic/splits.csv"


def _place(planned: Any) -> str:
    return f"split-{planned.split_digest[:12]}"


def _on_split(one: Any, digest: str) -> Any:
    planned = {**one.cell.record["planned"], "split_digest": digest}
    return replace(one, cell=replace(one.cell, record={**one.cell.record, "planned": planned}))


def _waiting(group: Any) -> Any:
    return tuple(replace(one, cell=replace(one.cell, record={}, verdict=Verdict.PENDING)) for one in group.cells)


def test_the_page_of_claims_shows_what_was_decided(pages: Any, report: Report) -> None:
    own, calls = pages
    names = [*own.map.sheets]
    for name in names:
        own._claims(name)
    book, (study,) = report.books[0], report.studies
    table, figure, per_seed, others = (values for _, values in calls)
    told = [comparison_json(one, keys_of(book, one)) for one in book.comparisons]
    assert table == {
        "root": "../",
        "heading": "Table 3. Means",
        "benchmark": "repurposing",
        "sources": ("the paper",),
        "columns": "what columns say",
        "sheet": study.sheets[0],
        "tally": [(str(one), 1) for one in ClaimVerdict if one in (DONE, OPEN, NOT)],
        "claims": sorted(
            [told[1], told[3]], key=lambda one: [str(verdict) for verdict in ClaimVerdict].index(one["verdict"])
        ),
        "reasons": [("pending", "a reason", 1)],
    }
    assert figure["columns"] == "" and figure["sheet"] == study.sheets[1] and figure["claims"] == []
    assert per_seed["sheet"] is None and per_seed["columns"] == "" and per_seed["claims"] == [told[0]]
    assert per_seed["reasons"] == [] and per_seed["tally"] == [("deviates", 1)]
    assert others["claims"] == [] and others["reasons"] == [("not-comparable", "a reason", 2)]


def test_what_columns_mean_is_told_by_the_study_of_their_own_benchmark(pages: Any, report: Report) -> None:
    _, calls = pages
    (study,) = report.studies
    sheets = tuple(replace(one, columns="what others say") for one in study.sheets)
    other = replace(study, benchmark="ddi", sheets=sheets)
    for studies in ((other, study), (study, other)):
        SitePages(SiteMap(replace(report, studies=studies)))._claims("repurposing-table-3")
    assert [values["columns"] for _, values in calls] == ["what columns say"] * 2


def test_what_is_decided_without_a_number_of_ours_or_by_a_0_is_not_undecided(pages: Any) -> None:
    own, calls = pages
    name, (book, title, sheet, _) = next(iter(own.map.sheets.items()))
    status = claim("status", "ok", ours=None, metric=None, verdict=ClaimVerdict.REPRODUCED)
    waiting = claim("status", "ok", ours=None, metric=None, verdict=ClaimVerdict.PENDING)
    nothing = claim("mean", "0.5", ours=0.0, verdict=ClaimVerdict.NOT_COMPARABLE)
    own.map.sheets[name] = (book, title, sheet, [nothing, status, waiting])
    own._claims(name)
    ((_, told),) = calls
    assert [one["verdict"] for one in told["claims"]] == ["reproduced", "not-comparable"]
    assert told["reasons"] == [("pending", "a reason", 1)]


def test_the_page_of_a_finding_has_the_tests_that_show_it(pages: Any, report: Report) -> None:
    own, calls = pages
    for benchmark, finding in own.map.findings.values():
        own._finding(benchmark, finding)
    findings = report.findings[0][1]
    place = report.layout.root / "tests" / "test_x.py"
    assert [values for _, values in calls] == [
        {
            "root": "../",
            "finding": findings[0],
            "benchmark": "repurposing",
            "tests": [("tests/test_x.py", _sum(place), "../files/tests/test_x.py.txt")],
            "splits": [("hdvd random:x=1", "../datasets/hdvd.html#splits")],
        },
        {"root": "../", "finding": findings[1], "benchmark": "repurposing", "tests": [], "splits": []},
    ]


def test_every_test_of_a_finding_is_copied_and_no_other_file(pages: Any, report: Report) -> None:
    own, calls = pages
    places = [f"tests/test_{name}.py" for name in ("y", "x")]
    shown = [f"{places[0]}::test_y", "methods/constant/main.py", "run_all.sh", f"{places[1]}::test_x"]
    own._finding("repurposing", Finding(title="T", about="A", text="t", shown_by=shown))
    root = report.layout.root
    assert (root / "run_all.sh").is_file() and (root / "methods/constant/main.py").is_file()
    copied = [(place, _sum(root / place), f"../files/{place}.txt") for place in places]
    assert calls[0][1]["tests"] == copied
    assert own.copies == {f"files/{place}.txt": (root / place).read_bytes() for place in places}


def test_a_number_leads_to_the_page_of_its_method(report: Report, made_up: Plan) -> None:
    place, keys = SiteMap(report), [planned_of(cell).key for cell in made_up.cells]
    links = RunLinks(place)
    anchors = {group.row: place.anchor(group) for group in place.evidence.groups}
    assert links.href([]) == links.href(["nobody"]) == ""
    assert links.href([keys[0]]) == f"../methods/constant.html#run-{keys[0][:12]}"
    assert links.href(keys[:2]) == f"../methods/constant.html#{anchors['constant']}"
    assert links.rests() == []
    assert links.href([keys[2], keys[0], keys[1], "nobody"]) == "#rests-1"
    assert links.href([keys[0], keys[2]]) == "#rests-2"
    assert links.href([keys[3], keys[1], keys[0]]) == "#rests-1"
    constant = f"../methods/constant.html#{anchors['constant']}"
    als = f"../methods/als_wr.html#{anchors['als_wr']}"
    assert links.rests() == [
        ("rests-1", [("als_wr on synthetic, random", als, 1), ("constant on synthetic, random", constant, 2)]),
        ("rests-2", [("constant on synthetic, random", constant, 1), ("als_wr on synthetic, random", als, 1)]),
    ]
    # of the same sets, but of other numbers of runs
    assert links.href([keys[2], keys[0]]) == "#rests-3"
    assert links.rests()[2] == (
        "rests-3",
        [("als_wr on synthetic, random", als, 1), ("constant on synthetic, random", constant, 1)],
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [(("DDI", "Table 3"), "ddi-table-3"), (("a_b/c", "(d) "), "a-b-c-d"), (("--x--",), "x"), (("É2",), "2")],
)
def test_a_file_is_named_after_its_words(words: tuple[str, ...], expected: str) -> None:
    assert slug(*words) == expected


def test_a_page_is_written_with_its_links(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    own = SitePages(SiteMap(report))
    seen: list[Any] = []

    def template(name: str) -> Any:
        def written(*given: Any, **values: Any) -> str:
            seen.append((name, given, values))
            return "é"

        return SimpleNamespace(render=written)

    monkeypatch.setitem(own.__dict__, "environment", SimpleNamespace(get_template=template))
    assert own._page("x.html", a=1) == own._page("y.html", root="", b=2) == "é".encode()
    (one, (context,), first), (two, _, second) = seen
    assert (one, two, context) == ("x.html", "y.html", own.context)
    assert (first["root"], first["a"], second["root"], second["b"]) == ("../", 1, "", 2)
    assert first["href"].__self__ is first["rests"].__self__ is not second["href"].__self__


def test_files_of_a_site_are_listed_and_may_be_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    site._fill(tmp_path, iter([("z.html", b"z"), ("a/b.txt", b"b")]), {})
    (tmp_path / "site.json").chmod(0o600)
    site._fill(tmp_path, iter([("z.html", b"z"), ("a/b.txt", b"b")]), {"Audit of x": "never"})
    sums = {"a/b.txt": hashlib.sha256(b"b").hexdigest(), "z.html": hashlib.sha256(b"z").hexdigest()}
    assert (tmp_path / "site.json").read_text() == json.dumps(
        {"audits": {"Audit of x": "never"}, "files": sums}, indent=1
    ) + "\n"
    modes = {
        path.relative_to(tmp_path).as_posix(): stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")
    }
    assert modes == {"z.html": 0o644, "a": 0o755, "a/b.txt": 0o644, "site.json": 0o644}
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


@pytest.mark.parametrize("listing", [None, "[]", "{}", '{"files": []}', '{"files": {"a": "0"}}', "no json"])
def test_a_folder_is_a_site_only_by_its_list(listing: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    site.refuse_other_content(folder)
    folder.mkdir()
    site.refuse_other_content(folder)
    (folder / "a").write_text("")
    if listing is not None:
        (folder / "site.json").write_text(listing)
    if listing and '"a"' in listing:
        site.refuse_other_content(folder)
        (folder / "b").write_text("")
    with pytest.raises(Exception, match="this is not a site of an earlier `harness report --site`") as refused:
        site.refuse_other_content(folder)
    error: Any = refused.value
    other = "b" if listing and '"a"' in listing else "a"
    assert error.where == str(folder / other)
    assert error.todo == "name another folder, or empty this one" and error.what.endswith("and is left as it is")
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="not a site") as refused:
        site.refuse_other_content(tmp_path / "file")
    error = refused.value
    assert error.where == str(tmp_path / "file")


def test_a_site_is_of_all_that_is_in_view(
    facts: Layout, report: Report, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mirrors: Any = ["m"]
    given: list[Any] = []
    monkeypatch.setattr(site, "load_reference", lambda layout: ("reference", layout))

    def make(*own: Any) -> Report:
        given.append(own)
        return report

    monkeypatch.setattr(site, "make_report", make)
    monkeypatch.setattr(SitePages, "files", lambda _: iter([("index.html", b"x")]))
    monkeypatch.chdir(tmp_path)
    assert site.write_site(facts, report.table, Path("one"), mirrors=mirrors) == tmp_path / "one" / "index.html"
    reference = replace(
        report.table, cells=(*report.table.cells[:1], replace(report.table.cells[1], reference=True))
    )
    site.write_site(facts, reference, tmp_path / "one", mirrors=mirrors)
    assert given == [
        (facts, report.table, mirrors, (), None),
        (facts, reference, mirrors, ("reference", facts), None),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]
    assert not re.search("earlier", " ".join(path.name for path in tmp_path.rglob("*")))
