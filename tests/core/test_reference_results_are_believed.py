"""Committed results must be those of runs that were made: nothing changed, outgrown or unfinished counts."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from harness import benchmarks
from harness.audit import audit_runs, believed_reference
from harness.audit.replay import replay_sample
from harness.base.errors import AuditError, CorruptData, UsageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import group
from harness.compare import load_names
from harness.compare.runs import Runs, obtain
from harness.planning.plan import make_plan
from harness.proof.log import Log
from harness.results.records import RECORD_FILE
from harness.results.reference import (
    _parsed,
    _recording,
    _refuse_unrecorded,
    count_reference,
    load_reference,
    overview,
    reference_file,
    save_reference,
)
from harness.results.scoring import score_run
from harness.results.store import Store, StoredRun
from harness.splits import recorded_split
from tests.fabricate import SEEDS, copy_repository, job_of, plan_of, planned_of, put_run, table_of


@pytest.fixture
def made(repository: Layout, tmp_path: Path) -> Layout:
    """Two runs of one method, one of them out of memory, taken into the reference results."""
    layout = copy_repository(repository, tmp_path)
    first, second = plan_of(layout, ["als_wr"]).cells
    put_run(layout, planned_of(first))
    put_run(layout, planned_of(second), verdict=Verdict.MEMORY, reason="killed at 2 GiB")
    saved, (file,) = save_reference(layout, Store(layout.runs))
    assert saved == 2
    assert file == layout.reference / "repurposing" / "als_wr" / "synthetic-random.jsonl.gz"
    return layout


def elsewhere(layout: Layout) -> Layout:
    """The same repository on a machine where nothing was run."""
    return replace(layout, local=layout.local.parent / "elsewhere")


def obtained(layout: Layout) -> Runs:
    """What claims are held against there."""
    return obtain(layout, Store(layout.runs), load_names(layout, "repurposing"))["published"]


def file_of(layout: Layout) -> Path:
    (file,) = layout.reference.rglob("*.jsonl.gz")
    return file


def change(layout: Layout, *path: str, value: object, digest: bool = False) -> None:
    """Change one field of the first line; `digest` as a forger would, who knows how digests are made."""
    lines = gzip.decompress(file_of(layout).read_bytes()).decode().splitlines()
    line = json.loads(lines[0])
    part = line
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    if digest:
        told = {name: value for name, value in line[path[0]].items() if name != "digest"}
        line[path[0]]["digest"] = digest_of(told)
    file_of(layout).write_bytes(gzip.compress("\n".join([json.dumps(line), *lines[1:]]).encode()))


def test_what_is_saved_is_what_is_read(made: Layout) -> None:
    entries = load_reference(made)
    assert [entry.content["verdict"] for entry in entries.values()] == ["ok", "memory"]
    assert [entry.planned.job.split.seed for entry in entries.values()] == list(SEEDS)
    (row,) = overview(made)
    assert (row.seeds, row.verdicts, row.stale) == (2, "ok 1, memory 1", 0)


def test_results_are_scored_with_data_of_mirrors_before_they_are_saved(
    made: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def noticed(layout: Layout, store: Store, planned: Any, mirrors: object) -> Any:
        asked.append(mirrors)
        return score_run(layout, store, planned, ())

    monkeypatch.setattr("harness.results.reference.score_run", noticed)
    save_reference(made, Store(made.runs), [tmp_path / "mirror"])
    assert asked == [(tmp_path / "mirror",)]


def test_saving_twice_changes_nothing(made: Layout) -> None:
    before = file_of(made).read_bytes()
    save_reference(made, Store(made.runs))
    assert file_of(made).read_bytes() == before
    # nor does saving where nothing was run
    save_reference(elsewhere(made), Store(elsewhere(made).runs))
    assert file_of(made).read_bytes() == before


@pytest.mark.parametrize(
    ("path", "value", "digest"),
    [
        (("scores", "metrics", "NS-AUC/as-published"), 0.99, False),
        # what is no number is none, however right its digest
        (("scores", "metrics", "NS-AUC/as-published"), True, True),
        (("scores", "evidence", "predictions.npy"), "0" * 64, True),
        (("record", "reason"), "another", False),
        (("record", "key"), "0" * 64, True),
        (("record", "verdict"), "memory", True),
        (("record", "planned", "job", "split", "seed"), 5, True),
        (("record", "files", "predictions.npy", "sha256"), "0" * 64, True),
    ],
)
def test_a_changed_line_is_refused_by_file_and_line(
    made: Layout, path: tuple[str, ...], value: object, digest: bool
) -> None:
    change(made, *path, value=value, digest=digest)
    with pytest.raises(CorruptData) as refused:
        load_reference(made)
    assert refused.value.where == "results/reference/repurposing/als_wr/synthetic-random.jsonl.gz: line 1"
    with pytest.raises(AuditError):
        believed_reference(made)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("record", "files"), {}, "has no job.json"),
        (("record", "verdict"), "splendid", "breaks its schema"),
        (("record", "planned"), {}, "breaks its schema"),
        (("record", "planned", "job", "benchmark"), "alchemy", "of no benchmark that is here: 'alchemy'"),
    ],
)
def test_a_forged_record_is_refused_however_right_its_digest(
    made: Layout, path: tuple[str, ...], value: object, said: str
) -> None:
    change(made, "scores", "evidence", value={}, digest=True)
    change(made, *path, value=value, digest=True)
    with pytest.raises(CorruptData, match=said):
        load_reference(made)


def test_a_key_that_differs_in_its_last_digit_is_another(made: Layout) -> None:
    (entry,) = [one for one in load_reference(made).values() if one.where.endswith("line 1")]
    key = entry.content["key"]
    forged = key[:-1] + ("0" if key[-1] != "0" else "1")
    for part in ("record", "scores"):
        change(made, part, "key", value=forged, digest=True)
    with pytest.raises(CorruptData, match="a record carries another job's key"):
        load_reference(made)


def test_a_run_that_stands_twice_is_refused(made: Layout) -> None:
    copy = file_of(made).with_name("synthetic-zzz.jsonl.gz")
    copy.write_bytes(file_of(made).read_bytes())
    with pytest.raises(CorruptData, match="a second time"):
        load_reference(made)


def test_results_on_another_split_are_outgrown(made: Layout) -> None:
    planned = next(iter(load_reference(made).values())).planned
    other = planned.model_copy(update={"split_digest": "0" * 64})
    change(made, "record", "planned", value=other.model_dump(mode="json"))
    change(made, "record", "key", value=other.key, digest=True)
    change(made, "scores", "key", value=other.key, digest=True)
    assert [row.stale for row in overview(made)] == [1]
    (runs,) = obtained(elsewhere(made)).values()
    assert list(runs) == [SEEDS[1]]


def test_a_cut_file_is_refused(made: Layout) -> None:
    file_of(made).write_bytes(file_of(made).read_bytes()[:-20])
    with pytest.raises(CorruptData, match="cut"):
        load_reference(made)


def test_results_of_changed_code_are_outgrown(made: Layout) -> None:
    (made.methods / "als_wr" / "als.py").write_text("other code\n")
    assert [row.stale for row in overview(made)] == [2]
    assert obtained(elsewhere(made)) == {}
    report = audit_runs(made, believed_reference(made))
    assert (report.passed, report.superseded, report.failed) == (0, 2, 0)
    save_reference(made, Store(made.runs))
    assert load_reference(made) == {}
    assert not list(made.reference.rglob("*.jsonl.gz"))


def test_results_of_another_card_are_outgrown(made: Layout) -> None:
    """No tree of an image tells it, and whoever changes the card can write the statement anew."""
    card = made.methods / "als_wr" / "method.toml"
    text = card.read_text()
    assert "alpha = 15.0" in text
    card.write_text(text.replace("alpha = 15.0", "alpha = 16.0"))
    report = audit_runs(made, believed_reference(made))
    assert (report.passed, report.superseded, report.failed) == (0, 2, 0)
    said = "the card of 'als_wr' gives variant 'published' other parameters now"
    assert {audit.superseded for audit in report.audits} == {said}
    save_reference(made, Store(made.runs))
    assert load_reference(made) == {}


def test_a_run_with_chosen_parameters_is_no_reference(made: Layout, tmp_path: Path) -> None:
    cell = plan_of(made, ["als_wr"], [3]).cells[0]
    job = planned_of(cell).job
    chosen = planned_of(cell).model_copy(
        update={"job": job.model_copy(update={"parameters": {**job.parameters, "alpha": 1.0}})}
    )
    put_run(made, chosen)
    save_reference(made, Store(made.runs))
    assert chosen.key not in load_reference(made)


def test_a_reviewer_audits_one_cell_or_one_suite_of_them(made: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(elsewhere(made).local))
    key = next(iter(load_reference(made)))
    for asked, audited in (
        ([key[:12]], 1),
        (["--reference", key[:12]], 1),
        (["--reference", "--suite", "smoke"], 2),
        (["--reference", "--suite", "ddi-smoke"], 0),
    ):
        outcome = CliRunner().invoke(group, ["audit", *asked, "--json"], standalone_mode=False)
        assert json.loads(outcome.stdout)["audited"] == audited
    with pytest.raises(UsageError, match="no run is called 'ffff"):
        CliRunner().invoke(group, ["audit", "f" * 16], standalone_mode=False, catch_exceptions=False)


def test_the_audit_says_that_predictions_were_not_seen(made: Layout) -> None:
    report = audit_runs(made, believed_reference(made))
    assert (report.passed, report.failed) == (2, 0)
    assert all(
        [step.checked for step in audit.steps if step.name == "predictions"] == ["not checked"]
        for audit in report.audits
    )


def test_claims_are_held_against_reference_results_where_nothing_was_run(made: Layout) -> None:
    (runs,) = obtained(elsewhere(made)).values()
    assert [(run.verdict, run.reference) for run in runs.values()] == [(Verdict.OK, True), (Verdict.MEMORY, True)]
    (here,) = obtained(made).values()
    assert [run.reference for run in here.values()] == [False, False]
    assert here[SEEDS[0]].metrics == runs[SEEDS[0]].metrics


def test_a_variant_beside_keeps_its_runs_apart_and_the_store_is_read_once(
    made: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_plan(made, "made-up", [job_of(made, "als_wr", SEEDS[0], variant="corrected")]).cells[0]
    key = put_run(made, planned_of(cell)).key
    asked: list[str] = []
    standing = Store.standing

    def counted(store: Store, key: str) -> StoredRun:
        asked.append(key)
        return standing(store, key)

    monkeypatch.setattr(Store, "standing", counted)
    names = load_names(made, "repurposing").model_copy(update={"beside": ["corrected", "partial"]})
    found = obtain(made, Store(made.runs), names)
    assert asked.count(key) == 1
    assert found.pop("published") == obtained(made) and found.pop("partial") == {}
    ((_, runs),) = found.items()
    assert [run.key for seeds in runs.values() for run in seeds.values()] == [key]


def test_a_table_tells_reference_results_from_runs_made_here(made: Layout) -> None:
    far, plan = elsewhere(made), plan_of(made, ["als_wr"])
    assert table_of(far, plan).counts == {Verdict.PENDING: 2}
    table = table_of(far, plan, load_reference(far))
    assert table.counts == {Verdict.OK: 1, Verdict.MEMORY: 1}
    assert all(scored.reference and scored.cell.reason.startswith("reference result: ") for scored in table.cells)
    here = table_of(made, plan, load_reference(made))
    assert not any(scored.reference for scored in here.cells)


def test_the_commands_show_them(made: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(elsewhere(made).local))
    monkeypatch.setenv("PERMAFROST_CACHE", str(made.cache))
    shown = CliRunner().invoke(group, ["reference", "list"]).output
    assert re.search(r"\n  als_wr +1 +1 +2  ok 1, memory 1 ", shown)
    shown = CliRunner().invoke(group, ["reference", "list", "--dataset", "synthetic"]).output
    assert "repurposing/als_wr/synthetic-random    2 seeds  ok 1, memory 1" in shown
    status = CliRunner().invoke(group, ["status", "--reference", "--method", "als_wr"]).output
    assert "not run on this machine: the committed reference results are shown" in status


def test_the_file_of_each_dataset_whose_splits_are_not_recorded_is_named(made: Layout) -> None:
    job = job_of(made, "als_wr", 5)
    names = ("synthetic", "hdvd", "synthetic")
    results: Any = [SimpleNamespace(job=job.model_copy(update={"dataset": name})) for name in names]
    with pytest.raises(UsageError) as refused:
        _refuse_unrecorded(made, results)
    assert refused.value.what == "2 splits of finished runs are not recorded; nothing was saved"
    files = [str(made.datasets / name / "splits.csv") for name in ("hdvd", "synthetic")]
    assert refused.value.where.split("\n         ") == files
    assert len(refused.value.todo.split("\n         ")) == 3


def test_results_on_splits_that_are_not_recorded_are_refused_before_anything_is_written(
    made: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A strict audit fails on them, and it would be found out long after the runs."""
    before = {path: path.read_bytes() for path in made.reference.rglob("*") if path.is_file()}
    shares = {"test_share": 0.3}
    for seed, parameters in ((6, {}), (5, {}), (5, shares)):
        job = job_of(made, "als_wr", seed)
        split = job.split.model_copy(update={"parameters": parameters})
        put_run(made, planned_of(make_plan(made, "new", [job.model_copy(update={"split": split})]).cells[0]))
    with pytest.raises(UsageError) as refused:
        save_reference(made, Store(made.runs))
    recorded = made.datasets / "synthetic" / "splits.csv"
    assert refused.value.what == "3 splits of finished runs are not recorded; nothing was saved"
    assert refused.value.where == str(recorded)
    commands = refused.value.todo.split("\n         ")
    assert commands == [
        "harness split make synthetic random --seed 5 --seed 6 --record",
        "harness split make synthetic random --set test_share=0.3 --seed 5 --record",
        "or remove these runs: `harness forget --help`",
    ]
    assert {path: path.read_bytes() for path in made.reference.rglob("*") if path.is_file()} == before
    # the commands are right: what they record can be saved
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("PERMAFROST_CACHE", str(made.cache))
    for command in commands[:-1]:
        CliRunner().invoke(group, command.split()[1:], catch_exceptions=False)
    assert save_reference(made, Store(made.runs))[0] == 5


@pytest.mark.parametrize(
    ("split", "settings"),
    [
        ("random", []),
        ("cluster:gamma=0.5,level=2", ["gamma=0.5", "level=2"]),
        (
            'test2:group="two words, $HOME, a comma",share=1',
            ['group="two words, $HOME, a comma"', "share=1"],
        ),
    ],
)
def test_the_command_that_records_a_split_is_one_for_a_shell(split: str, settings: list[str]) -> None:
    words = [word for setting in settings for word in ("--set", setting)]
    told = shlex.split(_recording("mine", split, [5, 6]))
    start = ["harness", "split", "make", "mine", split.partition(":")[0]]
    assert told == [*start, *words, "--seed", "5", "--seed", "6", "--record"]


def test_results_lie_by_benchmark_method_variant_dataset_and_split(made: Layout) -> None:
    planned = next(iter(load_reference(made).values())).planned
    folder = made.reference / "repurposing"

    def place(**changed: object) -> Path:
        return reference_file(
            made, planned.model_copy(update={"job": planned.job.model_copy(update=changed)})
        ).relative_to(folder)

    assert place() == Path("als_wr/synthetic-random.jsonl.gz")
    assert place(variant="corrected") == Path("als_wr-corrected/synthetic-random.jsonl.gz")
    split = planned.job.split.model_copy(update={"parameters": {"share": 0.5}, "seed": 7})
    assert place(split=split) == Path("als_wr/synthetic-random-share=0.5.jsonl.gz")


def test_results_of_one_benchmark_can_be_asked_for(made: Layout) -> None:
    assert load_reference(made, "repurposing") == load_reference(made)
    assert load_reference(made, "ddi") == {}


def test_lines_are_in_the_order_of_their_seeds(made: Layout) -> None:
    for seed in (978124, 78863732):
        put_run(made, planned_of(plan_of(made, ["als_wr"], [seed]).cells[0]))
    saved, files = save_reference(made, Store(made.runs))
    assert saved == 4 and files == [file_of(made)]
    seeds = [entry.planned.job.split.seed for entry in load_reference(made).values()]
    assert seeds == sorted((978124, 78863732, *SEEDS))
    # no time stamp, so that equal results are equal files
    assert file_of(made).read_bytes()[4:8] == bytes(4)


def test_an_overview_counts_what_there_is(made: Layout) -> None:
    (row,) = overview(made)
    assert row.label == "repurposing/als_wr/synthetic-random"
    assert row.cpu_hours == pytest.approx(2 * 1.25 / 3600)
    assert row.to_json() == {
        "label": row.label,
        "verdicts": {"ok": 1, "memory": 1},
        "stale": 0,
        "cpu_hours": row.cpu_hours,
    }


def test_committed_lines_are_counted_and_their_words_are_read_as_they_were_written(made: Layout) -> None:
    store = Store(made.runs)
    for key in [*store.finished()]:
        store.amend(store.record(key).model_copy(update={"reason": "größer als 1"}))
    save_reference(made, store)
    assert count_reference(made) == len(load_reference(made)) == 2
    assert "größer als 1" in gzip.decompress(file_of(made).read_bytes()).decode()


@pytest.mark.parametrize("verdict", [Verdict.INTERRUPTED, Verdict.INFRASTRUCTURE])
def test_a_run_that_tells_nothing_of_its_method_is_no_reference(made: Layout, verdict: Verdict) -> None:
    planned = planned_of(plan_of(made, ["als_wr"], [5]).cells[0])
    put_run(made, planned, verdict=verdict)
    saved, _ = save_reference(made, Store(made.runs))
    assert saved == 2 and planned.key not in load_reference(made)
    # the log tells of it all the same
    told = [leaf.verdict for leaf in Log(made.reference).leaves() if leaf.key == planned.key]
    assert told == [verdict]


@pytest.mark.parametrize("changed", [{"upstream": "a" * 64}, {"accelerator": "cuda"}])
def test_what_can_not_be_had_again_here_is_no_reference(made: Layout, changed: dict[str, str]) -> None:
    cell = plan_of(made, ["als_wr"], [5]).cells[0]
    planned = planned_of(cell)
    other = planned.model_copy(update={"job": planned.job.model_copy(update=changed)})
    put_run(made, other)
    saved, _ = save_reference(made, Store(made.runs))
    assert saved == 2 and other.key not in load_reference(made)


@pytest.mark.parametrize("key", ["0" * 64, "f" * 64])
def test_a_run_under_a_key_of_old_is_no_reference_and_hides_none_that_is_read_after_it(
    made: Layout, key: str
) -> None:
    store, planned = Store(made.runs), planned_of(plan_of(made, ["als_wr"], [5]).cells[0])
    record = put_run(made, planned)
    store.path(key).parent.mkdir(parents=True, exist_ok=True)
    store.path(planned.key).rename(store.path(key))
    store.amend(record.model_copy(update={"key": key}))
    saved, _ = save_reference(made, store)
    assert saved == 2 and key not in load_reference(made)


@pytest.mark.parametrize("field", ["planned", "made_by"])
def test_a_run_whose_record_has_another_form_is_no_reference(made: Layout, field: str) -> None:
    store, planned = Store(made.runs), planned_of(plan_of(made, ["als_wr"], [5]).cells[0])
    put_run(made, planned)
    path = store.path(planned.key) / RECORD_FILE
    content = json.loads(path.read_text())
    del content["digest"], content[field][next(iter(content[field]))]
    path.write_text(json.dumps({**content, "digest": digest_of(content)}))
    saved, _ = save_reference(made, store)
    assert saved == 2 and planned.key not in load_reference(made)


def test_a_result_without_scores_must_not_have_ended_ok(made: Layout) -> None:
    change(made, "scores", value=None)
    with pytest.raises(CorruptData, match="a run that ended ok has scores, and no other has"):
        load_reference(made)


def test_scores_of_another_run_are_refused(made: Layout) -> None:
    change(made, "scores", "key", value="0" * 64, digest=True)
    with pytest.raises(CorruptData, match="of other predictions"):
        load_reference(made)


LINES = [b"", b"{}", b"[]", b"not json", b'{"record": {}}', b"null"]
# JSON for Python alone, and records that are none
LINES += [
    b'{"record": %b, "scores": null}' % record
    for record in (b"[]", b'"a"', b'{"digest": NaN}', b'{"a": NaN, "digest": ""}')
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_no_result_is_refused_by_its_number(made: Layout, line: bytes) -> None:
    lines = gzip.decompress(file_of(made).read_bytes()).splitlines()
    file_of(made).write_bytes(gzip.compress(b"\n".join([*lines, line, b""])))
    with pytest.raises(CorruptData) as refused:
        load_reference(made)
    assert refused.value.where.endswith("synthetic-random.jsonl.gz: line 3") and refused.value.todo


@pytest.mark.parametrize("at", ["first", "last"])
def test_a_line_with_a_field_that_nobody_reads_is_refused(made: Layout, at: str) -> None:
    """It would say to people what no check looks at."""
    first, *others = gzip.decompress(file_of(made).read_bytes()).splitlines()
    more = b'"confirmed":true'
    line = b"{%b,%b" % (more, first[1:]) if at == "first" else b"%b,%b}" % (first[:-1], more)
    assert json.loads(line)["confirmed"]
    file_of(made).write_bytes(gzip.compress(b"\n".join([line, *others, b""])))
    with pytest.raises(CorruptData) as refused:
        load_reference(made)
    assert refused.value.what == "not a reference result"
    assert refused.value.where.endswith("synthetic-random.jsonl.gz: line 1")


def test_lines_as_we_write_them_are_not_written_anew_to_be_checked(
    made: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    _parsed.cache_clear()
    monkeypatch.setattr("harness.results.canonical_text.digest_of", lambda _: "written anew")
    assert len(load_reference(made)) == 2


def test_a_number_that_is_none_is_refused_however_right_its_digest(made: Layout) -> None:
    """JSON for Python alone: no other program reads it, so nobody could check it."""
    text = gzip.decompress(file_of(made).read_bytes()).decode()
    digest = json.loads(text.splitlines()[0])["record"]["digest"]
    line = re.sub(r'"attempts":[0-9]+', '"attempts":NaN', text.splitlines()[0])
    record = line[len('{"record":') :].partition(',"scores":')[0].replace(f'"digest":"{digest}",', "")
    forged = line.replace(digest, hashlib.sha256(record.encode()).hexdigest())
    file_of(made).write_bytes(gzip.compress(f"{forged}\n".encode()))
    with pytest.raises(CorruptData, match="not a reference result"):
        load_reference(made)


@pytest.mark.parametrize("part", ["record", "metrics"])
@pytest.mark.parametrize("spaces", [False, True])
def test_a_name_that_stands_twice_is_refused(made: Layout, part: str, spaces: bool) -> None:
    """We would take the last of the two, other programs the first. Spaces: it is not our own text either."""
    line = gzip.decompress(file_of(made).read_bytes()).decode().splitlines()[0]
    more = {"record": '"attempts":7,', "metrics": '"AUC/as-defined":0.5,'}[part]
    forged = line.replace(f'"{part}":{{', f'"{part}":{{{more}', 1)
    assert json.loads(forged) == json.loads(line)
    if spaces:
        forged = forged.replace('{"record":', '{ "record": ', 1)
    file_of(made).write_bytes(gzip.compress(f"{forged}\n".encode()))
    with pytest.raises(CorruptData) as refused:
        load_reference(made)
    assert refused.value.where.endswith(": line 1")


def test_lines_whose_text_and_content_differ_are_refused(made: Layout) -> None:
    """The known digest is right for a part of each text, and what would be believed is another record."""
    line = gzip.decompress(file_of(made).read_bytes()).decode().splitlines()[0]
    digest, empty = json.loads(line)["record"]["digest"], hashlib.sha256(b"").hexdigest()
    record, _, scores = line[len('{"record":') : -1].partition(',"scores":')
    other, stated = record.replace('"attempts":1', '"attempts":2'), f'"digest":"{digest}",'
    forged = (
        f'{{"record":{record},"scores":{scores},"record":{other},"scores":{scores}}}',
        f'{{"record":{other},"scores":{scores},"record":{record}}}'.replace(record, other),
        line.replace('"resources":{', f'"resources":{{{stated}'),
        line.replace('"limits":{', f'"limits":{{{stated}'),
        line.replace(record, other.replace(digest, empty)),
        f'{record},"scores":{scores}',
        line.replace('"resources":{', '"resources":{"scores":1,'),
    )
    for text in forged:
        assert text != line
        _parsed.cache_clear()
        file_of(made).write_bytes(gzip.compress(f"{text}\n".encode()))
        with pytest.raises(CorruptData):
            load_reference(made)


def test_scores_of_other_metrics_are_not_fresh(made: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = load_reference(made).values()
    assert first.fresh_scores == first.scores is not None and second.fresh_scores is second.scores is None
    monkeypatch.setattr("harness.results.reference.scorer_digest", lambda _: "0" * 64)
    assert first.fresh_scores is None


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_the_splits_of_committed_results_are_recorded(repository: Layout, benchmark: str) -> None:
    """So a table of them takes no data, no download and no split that is made: on any machine, at once."""
    for entry in load_reference(repository, benchmark).values():
        job = entry.planned.job
        line = recorded_split(repository, job.dataset, job.split)
        chosen = "".join(f" --set {name}={value}" for name, value in job.split.parameters.items())
        make = f"harness split make {job.dataset} {job.split.strategy}{chosen} --seed {job.split.seed} --record"
        assert line is not None, make
        assert line.sha256 == entry.planned.split_digest, job.label


def test_evaluators_are_told_the_run_that_is_drawn_and_how_many_there_are(repository: Layout) -> None:
    """Both change with the results: the page shows what `harness audit --reference --replay 1` prints."""
    entries = load_reference(repository)
    (drawn,) = replay_sample({key: one.record.verdict for key, one in entries.items()}, 1, 0)
    page = (repository.root / "docs" / "artifact-evaluation.md").read_text(encoding="utf-8")
    label = entries[drawn].planned.job.label
    # which of the two it is, the processor decides
    told = (
        f"ok           {label}: run again in a fresh container: ",
        f"not checked  {label}: another predictions",
    )
    assert any(f"\nRun again\n  {line}" in page for line in told)
    assert f"\n{len(entries)} stored runs audited = {len(entries)} passed + 0 failed" in page
