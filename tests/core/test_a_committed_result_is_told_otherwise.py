"""What is said of committed results, and what one log takes over from another, word for word."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import benchmarks
from harness.base.errors import CorruptData
from harness.base.files import digest_of, write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.proof.leaves import Event, Leaf, LoggedResult
from harness.proof.log import Log
from harness.proof.plans import LoggedCell, enter_plan, plan_path
from harness.results import digests
from harness.results.canonical_text import digest_as_read
from harness.results.records import StoredFile
from harness.results.reference import (
    ReferenceResult,
    ReferenceRow,
    find_reference,
    load_reference,
    overview,
    reference_file,
    reference_of,
    seconds_in_reference,
    verdict_counts,
)
from harness.results.scoring import Scores, scored_files
from harness.results.sets import reference_set, stored_set
from harness.results.store import Store
from tests.core.factories import planned_job, put_run, record_of
from tests.core.word_for_word import RESTORE, layout_of, said


def scores_of(key: str, evidence: dict[str, str], **changed: Any) -> dict[str, Any]:
    return {**Scores(key, "s" * 64, evidence, {"AUC": 0.5}, {}).to_json(), **changed}


def test_stored_results_are_records_verdicts_and_scores_that_count(tmp_path: Path) -> None:
    made, scores = Store(tmp_path / "local" / "runs"), tmp_path / "local" / "scores"
    logged: dict[str, LoggedResult] = {}
    for seed, change in enumerate(
        ["whole", "none", "failed", "damaged", "of another run", "edited", "no scores", "list", "odd"], start=1
    ):
        planned = planned_job(seed)
        verdict = Verdict.MEMORY if change == "failed" else Verdict.OK
        record = put_run(made, planned, tmp_path / change, verdict)
        key, path = planned.key, scores / planned.key[:2] / f"{planned.key}.json"
        evidence = {"predictions.npy": record.files["predictions.npy"].sha256}
        content: Any = {
            "none": None,
            "of another run": scores_of(key, {"predictions.npy": "0" * 64}),
            "edited": scores_of(key, evidence, metrics={"AUC": 0.9}),
            "no scores": {"digest": "1" * 64},
            "list": [1],
            "odd": scores_of(key, {"another.npy": "0" * 64}),
        }.get(change, scores_of(key, evidence))
        if content is not None:
            write_json(path, content)
        if change == "damaged":
            (made.path(key) / "log.txt").unlink()
            logged[key] = LoggedResult("damaged", "infrastructure", "", "")
            continue
        whole = content["digest"] if change == "whole" else ""
        score = "damaged" if change in ("edited", "no scores", "list", "odd") else whole
        scope = f"repurposing: constant/published on synthetic, random-{seed}"
        logged[key] = LoggedResult(digest_of(made.standing(key).content), str(verdict), score, scope)
    assert digests.stored_results(made, scores) == logged
    layout = layout_of(tmp_path / "local")
    assert stored_set(layout).results == logged
    assert (stored_set(layout).name, stored_set(layout).folder) == ("runs of this machine", layout.local)


def committed(
    path: Path, seeds: Iterable[int], dataset: str = "synthetic", method: str = "constant", **resources: Any
) -> dict[str, ReferenceResult]:
    """Committed runs of these seeds in one file; those with an even seed failed."""
    lines, entries = [], {}
    for seed in seeds:
        planned, ok = planned_job(seed, method, dataset), bool(seed % 2)
        required = ("job.json", "log.txt", "method.json", *benchmarks.get("repurposing").required_files)
        files = {name: StoredFile(sha256=f"{seed}" * 8, bytes=1) for name in required}
        record = record_of(planned, Verdict.OK if ok else Verdict.TIMEOUT)
        record = record.model_copy(update={"files": files, "resources": {"wall_s": 10.0 * seed, **resources}})
        content = record.to_json()
        scores = None
        if ok:
            evidence = scored_files("repurposing", content["files"])
            scores = Scores(planned.key, "s" * 64, evidence, {"AUC": 0.5}, {})
        lines.append({"record": content, "scores": scores.to_json() if scores else None})
        entries[planned.key] = ReferenceResult(content, scores, f"line {seed}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(json.dumps(line) for line in lines).encode()))
    return entries


def test_committed_results_are_found_by_job_and_by_file(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    committed(path, range(1, 4), cpu_s=1800.0)
    found = load_reference(layout)
    assert [entry.where for entry in found.values()] == [
        f"results/reference/repurposing/constant/synthetic-random.jsonl.gz: line {number}" for number in (1, 2, 3)
    ]
    for seed in (1, 2, 3):
        planned = planned_job(seed)
        one = reference_of(layout, planned)
        assert one == found[planned.key] and one is not None and one.record.key == planned.key
        assert one.planned == planned
        # one file holds them all, of which those alone are found whose keys begin so
        assert find_reference(layout, planned.key[:12]) == {planned.key: one}
    assert reference_of(layout, planned_job(4)) is None
    assert reference_of(layout, planned_job(1, "another")) is None
    results = digests.reference_results(found)
    assert [(one.verdict, bool(one.score)) for one in results.values()] == [
        ("ok", True),
        ("timeout", False),
        ("ok", True),
    ]
    for key, logged in results.items():
        kept = found[key].scores
        assert logged.record == digest_of(found[key].content)
        assert logged.score == (kept.to_json()["digest"] if kept else "")
        assert logged.scope.startswith("repurposing: constant/published on synthetic, random-")
    (layout.reference / "log.jsonl").write_text("")
    (layout.reference / "log.next").write_text("")
    (layout.reference / "statement.json").write_text("")
    (layout.reference / "statement.json.sig").write_text("")
    (layout.reference / "statement.dsse.json").write_text("")
    (layout.reference / "statement.sig").write_text("")
    (layout.reference / "ddi").mkdir()
    (layout.reference / "ddi" / "statement.json").write_text("")
    (layout.reference / "attestations").mkdir()
    (layout.reference / "attestations" / "one.json").write_text("")
    # what others confirm lies at the top alone
    (layout.reference / "ddi" / "attestations").mkdir()
    (layout.reference / "ddi" / "attestations" / "one.json").write_text("")
    shown = reference_set(layout)
    assert (shown.name, shown.folder) == ("reference results", layout.reference) and shown.results == results
    # an intent that was never carried out is none of ours to commit: a statement has to name it
    assert {one.relative_to(layout.reference).as_posix() for one in shown.files or ()} == {
        "ddi/attestations/one.json",
        "ddi/statement.json",
        "log.next",
        "repurposing/constant/synthetic-random.jsonl.gz",
        "statement.sig",
    }


def test_a_row_of_reference_results_counts_its_verdicts() -> None:
    counts = Counter({Verdict.TIMEOUT: 1, Verdict.OK: 9, Verdict.ERROR: 0})
    row = ReferenceRow("a/b", planned_job().job, counts, stale=2, cpu_hours=0.5)
    assert (row.job.row, row.seeds, row.verdicts) == ("constant", 10, "ok 9, timeout 1")
    other = ReferenceRow("a/b", planned_job().job.model_copy(update={"variant": "fast"}), counts, 0, 0.0)
    assert other.job.row == "constant/fast" and verdict_counts(Counter()) == ""
    assert row.to_json() == {
        "label": "a/b",
        "verdicts": {"ok": 9, "timeout": 1},
        "stale": 2,
        "cpu_hours": 0.5,
    }


def test_an_overview_tells_hours_and_what_is_outgrown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    committed(reference_file(layout, planned_job()), range(1, 4), cpu_s=1800.0)
    other = planned_job(5, "another")
    committed(reference_file(layout, planned_job()).with_name("zzz.jsonl.gz"), range(4, 6))

    class Present:
        def __init__(self, given: Layout) -> None:
            assert given is layout

        def holds_as_usual(self, planned: Any) -> bool:
            return bool(planned.job.split.seed == 1)

    monkeypatch.setattr("harness.results.reference.Present", Present)
    (row,) = overview(layout)
    assert row.label == "repurposing/constant/synthetic-random" and other.job.method == "another"
    assert row.counts == {Verdict.OK: 3, Verdict.TIMEOUT: 2} and row.stale == 4
    assert row.cpu_hours == 3 * 0.5


def test_results_of_a_method_are_those_of_all_its_variants(tmp_path: Path) -> None:
    """And not those of a method whose name begins alike."""
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    for folder, seeds in (("constant", range(1, 3)), ("constant-fast", range(3, 5)), ("constants", range(5, 6))):
        committed(path.parent.parent / folder / path.name, seeds)
    found = load_reference(layout, methods=["constant"])
    assert [entry.planned.job.split.seed for entry in found.values()] == [1, 2, 3, 4]
    assert load_reference(layout, methods=["const"]) == {}
    # the folder of another method may be called as one of a variant
    another = reference_file(layout, planned_job(6, "constant-other"))
    committed(another, [6], method="constant-other")
    assert load_reference(layout, methods=["constant"]) == found
    assert len(load_reference(layout, methods=["constant-other"])) == 1


def test_results_of_several_benchmarks_can_be_asked_for(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    for seed, benchmark in enumerate(("ddi", "dti", "repurposing"), start=1):
        committed(layout.reference / benchmark / "constant" / path.name, [seed])
    for wanted, seeds in ((("dti", "ddi"), [1, 2]), (("repurposing",), [3]), ((), [1, 2, 3])):
        found = load_reference(layout, *wanted)
        assert [entry.planned.job.split.seed for entry in found.values()] == seeds


def test_a_metric_that_is_no_number_is_no_committed_score_though_its_digest_is_right(tmp_path: Path) -> None:
    """Of a line as the harness writes it, whose digest is taken over its text."""
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    committed(path, range(1, 2))
    line = json.loads(gzip.decompress(path.read_bytes()))
    for metric, is_one in ((0.5, True), (float("nan"), False), (float("inf"), False)):
        line["scores"]["metrics"] = {"AUC": metric}
        fields = {name: one for name, one in line["scores"].items() if name != "digest"}
        line["scores"]["digest"] = hashlib.sha256(canonical(fields).encode()).hexdigest()
        path.write_bytes(gzip.compress(canonical(line).encode()))
        if is_one:
            assert len(load_reference(layout)) == 1
            continue
        with pytest.raises(CorruptData) as found:
            load_reference(layout)
        place = "results/reference/repurposing/constant/synthetic-random.jsonl.gz: line 1"
        assert said(found.value) == ("not a reference result", place, RESTORE)


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def test_times_are_those_of_a_method_on_a_dataset_on_whatever_split(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    committed(path, range(1, 4))
    committed(path.with_name("synthetic-other.jsonl.gz"), [4], wall_s=5.0)
    # one that was over before the clock ticked
    committed(path.with_name("synthetic-short.jsonl.gz"), [6], wall_s=0.0)
    # a name that merely begins so
    committed(path.with_name("synthetic-large-random.jsonl.gz"), [5], dataset="synthetic-large", wall_s=9.0)
    assert seconds_in_reference(layout, planned_job(9).job) == [5.0, 10.0, 20.0, 30.0, 0.0]
    assert seconds_in_reference(layout, planned_job(9, dataset="synthetic-large").job) == [9.0]
    assert seconds_in_reference(layout, planned_job(1, "another").job) == []


@pytest.mark.parametrize("odd", ["soon", None, [1.0]])
def test_what_is_no_number_is_no_time_of_a_committed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: Any
) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    committed(reference_file(layout, planned_job()), range(1, 4), cpu_s=odd, wall_s=odd)
    nothing_holds = SimpleNamespace(holds_as_usual=lambda _: False)
    monkeypatch.setattr("harness.results.reference.Present", lambda _: nothing_holds)
    assert seconds_in_reference(layout, planned_job().job) == []
    assert [row.cpu_hours for row in overview(layout)] == [0.0]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda line: line.pop("scores"), "not a reference result"),
        (lambda line: line["scores"].update(metrics={"AUC": 1.0}), "scores differ from their own digest"),
        (lambda line: line.update(scores=None), "a run that ended ok has scores, and no other has"),
        (lambda line: line.update(scores=0), "scores differ from their own digest"),
    ],
)
def test_a_committed_line_that_is_not_believed_is_told(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], what: str
) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    committed(path, range(1, 3))
    first, second = (json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines())
    change(first)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, (second, first))).encode()))
    place = "results/reference/repurposing/constant/synthetic-random.jsonl.gz"
    for read in (lambda: load_reference(layout), lambda: reference_of(layout, planned_job())):
        with pytest.raises(CorruptData) as found:
            read()
        assert said(found.value) == (what, f"{place}: line 2", RESTORE)
    path.write_bytes(b"no gzip")
    with pytest.raises(CorruptData) as found:
        load_reference(layout)
    assert said(found.value) == ("not a gzipped file, or cut", place, RESTORE)


@pytest.mark.parametrize(
    ("fields", "text", "same"),
    [
        ({"a": 1, "z": "é"}, '{"a":1,"digest":"STATED","z":"é"}', True),
        ({"a": 1}, "", True),
        ({"a": 1}, '{"a":1, "digest":"STATED"}', True),
        ({"a": 2}, '{"a":2,"digest":"STATED"}', False),
        ({"a": 2}, "", False),
    ],
)
def test_a_text_that_is_canonical_saves_writing_it_again_and_no_other_is_believed(
    fields: dict[str, Any], text: str, same: bool
) -> None:
    stated = digest_of({**fields, "a": 1})
    assert digest_as_read(fields, stated, text.replace("STATED", stated)) == digest_of(fields)
    assert (digest_of(fields) == stated) is same
    assert digest_as_read(fields, hashlib.sha256(b"").hexdigest(), "") == digest_of(fields)


def test_a_text_that_names_a_thing_twice_has_no_digest() -> None:
    stated = digest_of({"a": 1})
    for text in (f'{{"a":1,"digest":"{stated}","digest":"{stated}"}}', f'{{"a":2,"a":1,"digest":"{stated}"}}'):
        with pytest.raises(ValueError, match="a name stands twice"):
            digest_as_read({"a": 1}, stated, text)


def test_a_committed_run_that_stands_twice_is_told_where(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "results" / "local")
    path = reference_file(layout, planned_job())
    committed(path, range(1, 2))
    shutil.copyfile(path, path.with_name("synthetic-zzz.jsonl.gz"))
    with pytest.raises(CorruptData) as found:
        load_reference(layout)
    where = "results/reference/repurposing/constant/synthetic-zzz.jsonl.gz: line 1"
    # which of the two is the strange one, its reader decides
    what = "a run stands here a second time, after results/reference/repurposing/constant/{}: line 1"
    assert said(found.value) == (what.format(path.name), where, RESTORE)


def test_a_log_takes_over_what_is_of_its_jobs_and_no_more(tmp_path: Path) -> None:
    source, target = Log(tmp_path / "source"), Log(tmp_path / "target")
    for log in (source, target):
        log.folder.mkdir()
    ours, gone, outgrown, other = (planned_job(seed).key for seed in (1, 2, 3, 4))
    enter_plan(source, "with one of ours", [LoggedCell(ours, "ours"), LoggedCell(other, "other")])
    enter_plan(source, "of others", [LoggedCell(other, "other")])

    def leaf(kind: Event, key: str, record: str = "", verdict: str = "", score: str = "") -> Leaf:
        return Leaf(kind, "2026-01-01T00:00:00Z", f"of {key[:4]}", key, record, verdict, score)

    source.append(
        [
            leaf(Event.FAILURE, ours, "1" * 64, "timeout"),
            leaf(Event.RECORD, ours, "2" * 64, "ok"),
            leaf(Event.SCORE, ours, "2" * 64, score="3" * 64),
            leaf(Event.RECORD, gone, "4" * 64, "ok"),
            leaf(Event.REMOVAL, gone),
            leaf(Event.RECORD, other, "5" * 64, "ok"),
        ]
    )
    target.append(
        [
            leaf(Event.RECORD, outgrown, "6" * 64, "ok"),
            leaf(Event.FAILURE, other, "7" * 64, "interrupted"),
        ]
    )
    results = {
        ours: LoggedResult("2" * 64, "ok", "3" * 64, "of ours"),
        planned_job(5).key: LoggedResult("8" * 64, "ok", "9" * 64, "of nobody"),
        planned_job(6).key: LoggedResult("a" * 64, "memory", "", "failed"),
    }
    digests.take_over(source, target, {ours}, results)
    new = target.leaves()[2:]
    assert [(one.kind, one.key) for one in new] == [
        (Event.PLAN, ""),
        (Event.FAILURE, ours),
        (Event.RECORD, ours),
        (Event.SCORE, ours),
        (Event.RECORD, gone),
        (Event.REMOVAL, gone),
        (Event.REMOVAL, outgrown),
        (Event.IMPORT, planned_job(5).key),
        (Event.IMPORT, planned_job(6).key),
    ]
    assert [one.line for one in new[:6]] == [line for at, line in enumerate(source.lines()) if at not in (1, 7)]
    assert plan_path(target.folder, new[0].plan).read_bytes() == plan_path(source.folder, new[0].plan).read_bytes()
    assert (new[6].note, new[6].scope) == (
        "outgrown: code, images or data changed since",
        f"of {outgrown[:4]}",
    )
    note = "no leaf of the store says how it came about"
    assert [(one.record, one.verdict, one.score, one.scope, one.note) for one in new[7:]] == [
        ("8" * 64, "ok", "9" * 64, "of nobody", note),
        ("a" * 64, "memory", "", "failed", note),
    ]
    size = target.size
    digests.take_over(source, target, {ours}, results)
    assert target.size == size, "what was taken over is taken over once"
    # that one of ours was imported elsewhere says nothing new; that it is another one does
    known = results[planned_job(5).key]
    source.append([leaf(Event.IMPORT, planned_job(5).key, known.record, "ok")])
    digests.take_over(source, target, {ours}, results)
    assert target.size == size
    changed = {**results, planned_job(5).key: LoggedResult("c" * 64, "ok", "", "of nobody")}
    source.append([leaf(Event.IMPORT, planned_job(5).key, "c" * 64, "ok")])
    digests.take_over(source, target, set(), changed)
    assert [one.record for one in target.leaves()[size:]] == ["c" * 64]
    assert target.lines()[size:] == source.lines()[-1:], "as the other log says it"


def test_a_failure_is_imported_without_scores() -> None:
    results = {
        "1": LoggedResult("a" * 64, "memory", "b" * 64, "failed"),
        "2": LoggedResult("c", "ok", "d", "s", 7),
    }
    first, second = digests.import_leaves(results, "why")
    assert (first.kind, first.scope, first.key, first.record) == (Event.IMPORT, "failed", "1", "a" * 64)
    assert (first.verdict, first.score, first.note) == ("memory", "", "why")
    assert (second.verdict, second.score, second.record) == ("ok", "d", "c")
    assert second.at.endswith("Z") and second.at[:2] == "20"
