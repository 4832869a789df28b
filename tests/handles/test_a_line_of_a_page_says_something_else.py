"""Pages, differences and messages about runs, word for word, of made-up runs that exist nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import MissingData, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.handles import (
    Difference,
    Forgotten,
    Handle,
    differences_of,
    find_handle,
    forget,
    page_of,
    page_text,
    runs_to_forget,
)
from harness.handles.lookup import key_text, stored_handle
from harness.planning.jobs import Job, PlannedJob
from harness.planning.obstacles import Obstacles
from harness.results.reference import ReferenceResult
from harness.results.scoring import Scores, scorer_digest, scores_path
from harness.results.store import Store
from harness.splits.spec import SplitSpec
from tests.core.factories import planned_job, put_run
from tests.core.word_for_word import said

KEY = "ab" * 32
PAGE: dict[str, Any] = {
    "key": KEY,
    "label": "bnnr/published on fdataset, random-7",
    "kind": "run of this machine",
    "where": "/runs/ab",
    "committed": False,
    "current": True,
    "verdict": "ok",
    "reason": "finished\twith valid predictions",
    "job": {"method": "bnnr", "marks": "", "parameters": {"alpha": 1, "more": {}}, "options": {}},
    "image": {"tree": "t1", "code_tree": "c1"},
    "inputs": {"dataset": "d1", "split": "s1", "order": "secret", "files": {"folds": "3x2 <i4 abc", "k": "x"}},
    "resources": {"wall_s": 1.25, "cpu_s": 2.0, "peak_bytes": 3 * 2**20},
    "made": {
        "started": "2026-01-01T01:00:00+01:00",
        "finished": "2026-01-01T00:00:02Z",
        "attempts": 2,
        "engine": {"name": "podman", "version": "5"},
        "made_by": {"harness": "5" * 64, "processor": "a processor", "kernel": "6.1"},
    },
    "scores": {"metrics": {"AUC": 0.5, "AUPR": None}, "notes": {"AUPR": "no positives"}},
    "published": [
        {"metric": "AUC", "published": "0.8", "statistic": "value", "verdict": "deviates", "reason": "by chance"},
        {"metric": "of type 48", "published": "1", "statistic": "value", "verdict": "reproduced", "reason": ""},
    ],
    "files": [
        {"name": "log.txt", "bytes": 1234567, "sha256": "f" * 64, "here": True},
        {"name": "p.npy", "bytes": 1, "sha256": "e" * 64, "here": False},
    ],
    "warnings": ["it did not converge"],
}


def lines(**changed: Any) -> list[str]:
    return page_text({**PAGE, **changed}).split("\n")


def test_a_page_reads_so() -> None:
    assert lines() == [
        "bnnr/published on fdataset, random-7",
        f"  key       {KEY}",
        "  run of this machine  /runs/ab",
        "ok: finished\\twith valid predictions",
        "",
        "job",
        "  method      bnnr",
        "  parameters  alpha=1",
        "image",
        "  tree       t1",
        "  code tree  c1",
        "inputs",
        "  dataset  d1",
        "  split    s1",
        "  order    secret",
        "    folds  3x2 <i4 abc",
        "    k      x",
        "run",
        "  1.2 s wall, 2.0 s CPU, 3 MiB at most",
        "  from 2026-01-01 00:00:00 UTC to 2026-01-01 00:00:02 UTC",
        "  by podman 5, attempts: 2",
        "  harness 555555555555, a processor, Linux 6.1",
        "scores",
        "  AUC   0.5",
        "        published 0.8: deviates [1]",
        "  undefined, no positives: AUPR",
        "  of type 48: published 1: reproduced",
        "  [1] by chance",
        "  warning of the method: it did not converge",
        "files",
        "  log.txt  1,234,567 bytes  ffffffffffffffff",
        "  p.npy    1 bytes          eeeeeeeeeeeeeeee  not here",
        "",
        "harness show abababababab --log    harness audit abababababab    harness diff abababababab OTHER",
        "",
    ]


def _predicting() -> Job:
    job = planned_job().job
    return job.model_copy(update={"split": SplitSpec(strategy="unknown_pairs", seed=0)})


@pytest.mark.parametrize(
    ("changed", "line", "place"),
    [
        ({"committed": True}, "            the same job is a committed reference result, too", 3),
        (
            {"current": False},
            "            superseded: code, image, data or split have changed since; a new run has another key",
            3,
        ),
        ({"committed": True, "kind": "reference result"}, "  reference result  /runs/ab", 2),
        ({"committed": True, "kind": "reference result"}, "ok: finished\\twith valid predictions", 3),
        ({"verdict": "error", "scores": None}, "  none: only a run that ended ok is a result", 23),
        (
            {"kind": "reference result", "scores": None},
            "  not of today's metrics: run the job again to have them",
            23,
        ),
        (
            {"scores": None, "job": planned_job().job.model_dump()},
            "  none that are fresh: harness score abababababab",
            27,
        ),
        (
            {"scores": None, "job": _predicting().model_dump()},
            "  none: split unknown_pairs asks for what is not known: there is no truth to score by",
            27,
        ),
        ({"resources": {}}, "  nothing was measured", 18),
        ({"resources": {"cpu_s": 1.0}}, "  1.0 s CPU", 18),
        ({"made": {**PAGE["made"], "made_by": None, "engine": {}}}, "  by an engine , attempts: 2", 20),
        ({"made": {**PAGE["made"], "made_by": None}}, "scores", 21),
        ({"inputs": {**PAGE["inputs"], "files": {}}}, "", 15),
        ({"files": []}, "  none", 30),
    ],
)
def test_a_page_of_another_run_says_so(changed: dict[str, Any], line: str, place: int) -> None:
    assert lines(**changed)[place] == line


@pytest.fixture
def here(repository: Layout, tmp_path: Path) -> Layout:
    """Cards and data of the repository, and nothing that was run or committed."""
    return Layout(tmp_path / "root", repository.cache, tmp_path / "local")


def content_of(planned: PlannedJob, **changed: Any) -> dict[str, Any]:
    return {
        "key": planned.key,
        "planned": planned.model_dump(mode="json"),
        "verdict": "ok",
        "reason": "well",
        "image": {"id": "i1", "code_tree": "c1"},
        "resources": {"wall_s": 1.0, "cpu_s": 2.0, "peak_bytes": 3, "exit_code": 0},
        "files": {
            name: {"sha256": f"{name}-1" * 8} for name in ("job.json", "log.txt", "predictions.npy", "more")
        },
        "started": "then",
        "harness_version": "1",
        "limits": {"seconds": 60},
        "engine": {"name": "docker"},
        **changed,
    }


def run(planned: PlannedJob, metrics: dict[str, float | None] | None = None, **changed: Any) -> Handle:
    """A committed run with these scores."""
    content = content_of(planned, **changed)
    scores = Scores(planned.key, scorer_digest("repurposing"), {}, metrics, {}) if metrics is not None else None
    return Handle(content, None, ReferenceResult(content, scores, "results.jsonl.gz: line 1"))


def test_two_runs_differ_so(here: Layout) -> None:
    one = planned_job(1)
    other = one.model_copy(
        update={
            "image_tree": "9" * 64,
            "dataset_digest": "8" * 64,
            "split_digest": "7" * 64,
            "weights_digest": "6" * 64,
            "job": planned_job(2).job,
        }
    )
    files = {name: {"sha256": f"{name}-2" * 8} for name in ("job.json", "log.txt", "predictions.npy")}
    first = run(one, {"AUC": 0.5, "AUPR": None, "same": 1.0})
    second = run(
        other,
        {"AUC": 0.75, "AUPR": 0.1, "same": 1.0},
        image={"id": "i2", "code_tree": "c2"},
        order="0" * 64,
        reason="also well",
        files=files,
        resources={"wall_s": 1.5, "exit_code": 9},
        started="later",
        limits={"seconds": 61},
        engine={"name": "podman"},
        made_by={"kernel": "6.1"},
    )
    assert differences_of(here, first, second) == [
        Difference("job", "split.seed", "1", "2"),
        Difference("image", "tree", "1" * 64, "9" * 64),
        Difference("image", "code_tree", "c1", "c2"),
        Difference("inputs", "dataset", "2" * 64, "8" * 64),
        Difference("inputs", "split", one.split_digest, "7" * 64),
        Difference("inputs", "weights", "", "6" * 64),
        Difference("inputs", "order of items", "published", "secret"),
        Difference("outcome", "reason", "well", "also well"),
        Difference("scores", "AUC", "0.5", "0.75", 0.25),
        Difference("scores", "AUPR", "undefined", "0.1"),
        Difference("files", "predictions.npy", "predictions.npy-", "predictions.npy-"),
        Difference("own files", "job.json", "job.json-1job.js", "job.json-2job.js"),
        Difference("own files", "log.txt", "log.txt-1log.txt", "log.txt-2log.txt"),
        Difference("files", "more", "more-1more-1more", "absent"),
        Difference("machine", "started", "then", "later"),
        Difference("machine", "limit of seconds", "60", "61"),
        Difference("machine", "engine.name", "docker", "podman"),
        Difference("machine", "wall_s", "1.0", "1.5", 0.5),
        Difference("machine", "cpu_s", "2.0", "absent"),
        Difference("machine", "peak_bytes", "3", "absent"),
        Difference("machine", "made_by.kernel", "absent", "6.1"),
    ]
    assert {one.section for one in differences_of(here, first, second) if not one.decides} == {
        "machine",
        "own files",
    }
    assert differences_of(here, first, first) == []


@pytest.mark.parametrize(
    ("metrics", "others", "told"),
    [
        ({"AUC": 0.5}, None, [("1 value", "no fresh ones")]),
        (None, {"AUC": 0.5, "AUPR": 0.1}, [("no fresh ones", "2 values")]),
        (None, None, []),
    ],
)
def test_runs_without_fresh_scores_differ_in_one_line(
    here: Layout, metrics: dict[str, float | None] | None, others: dict[str, float | None] | None, told: list[Any]
) -> None:
    differences = differences_of(here, run(planned_job(), metrics), run(planned_job(), others))
    assert [(one.section, one.name, one.first, one.second) for one in differences] == [
        ("scores", "all metrics", *pair) for pair in told
    ]


def test_a_committed_run_tells_what_it_has(here: Layout) -> None:
    handle = run(planned_job(), {"AUC": 0.5})
    scores = handle.scores(here)
    assert scores is not None and scores.metrics == {"AUC": 0.5}
    assert run(planned_job(), {"AUC": 0.5}, verdict="unstable").scores(here) is None
    assert replace(handle, reference=None).scores(here) is None
    assert (handle.where, replace(handle, reference=None).where) == ("results.jsonl.gz: line 1", "")
    assert replace(handle, folder=Path("/there")).where == "/there"
    with pytest.raises(MissingData) as refused:
        handle.log(here)
    sha256, key = "log.txt-1" * 8, handle.key[:12]
    assert (refused.value.what, refused.value.where) == (
        "a reference result keeps no log, only the log's sha256",
        f"results.jsonl.gz: line 1: {sha256}",
    )
    assert refused.value.todo == (
        f"run it again: harness audit {key} --replay 1, or "
        "harness run --method constant --dataset synthetic --seed 1"
    )
    with pytest.raises(MissingData) as refused:
        run(planned_job(), files={}).log(here)
    assert refused.value.where.endswith(": none")
    assert not run(planned_job(), files={}).has_recorded(b"")


@pytest.fixture
def store(here: Layout, tmp_path: Path) -> Store:
    """Two runs, of which one failed."""
    store = Store(here.runs)
    put_run(store, planned_job(1), tmp_path / "one")
    put_run(store, planned_job(2, "als_wr"), tmp_path / "two", Verdict.TIMEOUT)
    return store


def test_a_log_that_is_gone_is_told(here: Layout, store: Store) -> None:
    handle = stored_handle(store, planned_job(1).key)
    assert handle.log(here) == b"a line\n"
    assert handle.has_recorded(b"a line\n") and not handle.has_recorded(b"a line")
    assert handle.folder is not None
    (handle.folder / "log.txt").unlink()
    with pytest.raises(MissingData) as refused:
        handle.log(here)
    assert said(refused.value) == ("this run has no log", str(handle.folder), "run the job again")


def test_a_key_that_leads_nowhere_says_what_was_looked_at(
    here: Layout, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [*store.finished()]
    known = f"known here: {keys[0][:12]}, {keys[1][:12]}; "
    both = "`harness status --suite stored --cells` and `harness reference list --keys` list all"
    with pytest.raises(UsageError) as refused:
        find_handle(here, store, "fffffffffff")
    assert said(refused.value) == (
        "no run has a key that begins with 'fffffffffff'",
        f"{store.folder} (2 runs), {here.reference} (0 runs)",
        f"{known}{both}; where code or data changed since, a job has another key",
    )
    with pytest.raises(UsageError) as refused:
        key_text(store, "bnnr")
    assert said(refused.value) == (
        "no run is called 'bnnr': a key holds digits and letters from a to f",
        str(store.folder),
        f"give a key or its beginning; {known}{both}",
    )
    assert key_text(store, " AB\n") == "ab" and key_text(store, "a" * 64) == "a" * 64
    nothing = Store(here.local / "nothing" / "runs")
    with pytest.raises(UsageError) as refused:
        key_text(nothing, "a" * 65)
    assert refused.value.todo == f"give a key or its beginning; {both}"
    # of many the first six
    many = [f"{number}" * 64 for number in range(7)]
    monkeypatch.setattr(Store, "finished", lambda _: iter(many))
    with pytest.raises(UsageError) as refused:
        key_text(store, "bnnr")
    known = ", ".join(one[:12] for one in many[:6])
    assert refused.value.todo == f"give a key or its beginning; known here: {known}; {both}"


def test_of_many_runs_six_are_named_and_the_shortest_text_that_tells_them_apart(here: Layout) -> None:
    store = Store(here.runs)
    for number in range(8):
        store.path(f"abcde{number}{'0' * 58}").mkdir(parents=True)
    with pytest.raises(UsageError) as refused:
        find_handle(here, store, "ABC")
    named = ", ".join(f"abcde{number}000000 (its record can't be read)" for number in range(6))
    assert said(refused.value) == (
        "8 keys begin with 'ABC'",
        f"{named} and 2 more",
        "give 6 characters of it, which tell all of them apart",
    )
    for number in range(2, 8):
        store.path(f"abcde{number}{'0' * 58}").rmdir()
    store.path(f"abcde0{'0' * 14}1{'0' * 43}").mkdir(parents=True)
    with pytest.raises(UsageError) as refused:
        find_handle(here, store, "abcde")
    assert "abcde0" + "0" * 15 + " (its" in refused.value.where and " more" not in refused.value.where
    assert refused.value.todo.startswith("give 21 characters")


def test_what_is_forgotten_is_told_and_gone(here: Layout, store: Store) -> None:
    one, two = planned_job(1), planned_job(2, "als_wr")
    path = scores_path(here, one.key)
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    size = sum(file.stat().st_size for file in store.path(one.key).iterdir()) + 2
    runs = runs_to_forget(here, store, [one.key[:9], one.key])
    assert runs == [Forgotten(one.key, one.job.label, "ok", size)]
    assert [run.key for run in runs_to_forget(here, store, methods=["als_wr"])] == [two.key]
    assert runs_to_forget(here, store, methods=["als_wr"])[0].verdict == "timeout"
    assert len(runs_to_forget(here, store, datasets=["synthetic"])) == 2
    assert len(runs_to_forget(here, store, methods=["als_wr"], datasets=["synthetic"])) == 1
    notes = Obstacles(store.folder)
    for key in (one.key, two.key):
        notes.note("run", key, "a fault of the harness")
    with store.claim(one.key):
        assert [*forget(store, runs)] == [
            Forgotten(one.key, one.job.label, "ok", 0, "a harness is running it right now")
        ]
    assert path.is_file() and {*notes.all("run")} == {one.key, two.key}
    # one that is busy keeps none of those after it
    busy = runs_to_forget(here, store, methods=["als_wr"])
    with store.claim(two.key):
        assert [*forget(store, [*busy, *runs])] == [
            Forgotten(two.key, two.job.label, "timeout", 0, "a harness is running it right now"),
            *runs,
        ]
    assert {*notes.all("run")} == {two.key}
    assert not path.exists() and [*store.finished()] == [two.key]


def test_a_method_or_dataset_whose_name_begins_alike_is_not_forgotten(
    here: Layout, store: Store, tmp_path: Path
) -> None:
    for seed, method, dataset in ((3, "als_wr_2", "synthetic"), (4, "als_wr", "synthetic_2")):
        put_run(store, planned_job(seed, method, dataset), tmp_path / dataset / method)
    (run,) = runs_to_forget(here, store, methods=["als_wr"], datasets=["synthetic"])
    assert run.key == planned_job(2, "als_wr").key


def test_a_wrong_wish_names_what_to_give(here: Layout, store: Store) -> None:
    for keys, methods, what in (
        ([], [], "name what to forget"),
        (["a"], ["als_wr"], "keys and --method or --dataset exclude each other"),
    ):
        with pytest.raises(UsageError) as refused:
            runs_to_forget(here, store, keys, methods=methods)
        assert said(refused.value) == (what, "harness forget", "give keys, or --method and --dataset")
    with pytest.raises(UsageError) as refused:
        runs_to_forget(here, store, methods=["bnnr"])
    assert refused.value.what == "no method of a stored run is called 'bnnr'"
    assert refused.value.where == str(store.folder) and "als_wr, constant" in refused.value.todo
    with pytest.raises(UsageError, match="no dataset of a stored run is called 'x'") as refused:
        runs_to_forget(here, store, datasets=["x"])
    assert refused.value.where == str(store.folder) and "synthetic" in refused.value.todo


def test_a_run_whose_record_is_cut_is_counted_and_named_by_its_fault(here: Layout, store: Store) -> None:
    key = planned_job(2, "als_wr").key
    (store.path(key) / "record.json").write_text("{")
    (told,) = runs_to_forget(here, store, [key])
    assert told.verdict == "unknown" and told.label.startswith("unknown (") and told.bytes > 1
    with pytest.raises(UsageError, match="no method of a stored run"):
        runs_to_forget(here, store, methods=["als_wr"])


def test_a_page_tells_what_lies_there(repository: Layout, store: Store, tmp_path: Path) -> None:
    layout = replace(repository, local=tmp_path / "local")
    handle = stored_handle(store, planned_job(2, "als_wr").key)
    assert handle.folder is not None
    inputs = {"folds": {"shape": [3, 2], "dtype": "<i4", "sha256": "a" * 64}, "k": 3, "t": {"sha256": "b" * 64}}
    (handle.folder / "job.json").write_text(json.dumps({"inputs": inputs}))
    (handle.folder / "predictions.npy").unlink()
    page = page_of(layout, store, handle)
    record = store.record(handle.key)
    assert {name: page[name] for name in ("key", "label", "kind", "where", "committed", "current", "verdict")} == {
        "key": handle.key,
        "label": "als_wr/published on synthetic, random-2",
        "kind": "run of this machine",
        "where": str(handle.folder),
        "committed": False,
        "current": False,
        "verdict": "timeout",
    }
    assert page["inputs"] == {
        "dataset": "2" * 64,
        "split": "3" * 64,
        "order": "published",
        "files": {"folds": f"3x2 <i4 {'a' * 16}", "k": "3", "t": "b" * 16},
    }
    # weights are an input, too; an empty order is none
    planned = {**handle.content["planned"], "weights_digest": "4" * 64}
    with_weights = replace(handle, content={**handle.content, "planned": planned, "order": ""})
    assert page_of(layout, store, with_weights)["inputs"] == {**page["inputs"], "weights": "4" * 64}
    assert page["made"] == {
        "started": "2026-01-01T00:00:00Z",
        "finished": "2026-01-01T00:00:02Z",
        "attempts": 1,
        "harness_version": "0",
        "engine": {"name": "docker"},
        "made_by": None,
    }
    assert page["image"] == {"tree": "1" * 64, **record.image} and page["job"]["method"] == "als_wr"
    assert page["limits"] == {"seconds": 60, "memory_bytes": 1 << 30} and page["reason"] == record.reason
    assert page["resources"] == record.resources
    assert (page["scores"], page["published"], page["warnings"]) == (None, [], [])
    assert [(one["name"], one["bytes"], one["here"]) for one in page["files"]] == [
        ("log.txt", 7, True),
        ("predictions.npy", 19, False),
    ]
    committed = page_of(layout, store, run(planned_job(2, "als_wr"), **{**_failed(), "order": "0" * 64}))
    assert (committed["kind"], committed["committed"], committed["inputs"]["order"]) == (
        "reference result",
        True,
        "secret",
    )
    assert committed["inputs"]["files"] == {} and committed["warnings"] == []
    assert not any(one["here"] for one in committed["files"])


@pytest.mark.parametrize(
    ("resources", "told"),
    [
        ({"wall_s": 1.26, "cpu_s": 2.0, "peak_bytes": 3 << 20}, "1.3 s wall, 2.0 s CPU, 3 MiB at most"),
        ({"wall_s": 70.0, "cpu_s": None, "peak_bytes": None}, "70.0 s wall"),
        ({"cpu_s": 0.04}, "0.0 s CPU"),
        ({"wall_s": 0, "peak_bytes": 5 << 30}, "5120 MiB at most"),
        ({"wall_s": 0, "cpu_s": None, "peak_bytes": 0}, "nothing was measured"),
        ({}, "nothing was measured"),
    ],
)
def test_of_what_a_run_took_that_is_told_which_was_measured(resources: dict[str, Any], told: str) -> None:
    page = lines(resources=resources)
    assert page[page.index("run") + 1] == f"  {told}"


@pytest.mark.parametrize("verdict", ["ok", "timeout"])
def test_a_good_run_is_held_against_what_is_published_by_what_mirrors_have(
    repository: Layout, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: str
) -> None:
    layout = replace(repository, local=tmp_path / "local")
    handle = stored_handle(store, planned_job(1).key)
    handle = replace(handle, content={**handle.content, "verdict": verdict})
    asked: list[tuple[object, ...]] = []

    def beside(*asked_for: object) -> dict[str, list[str]]:
        asked.append(asked_for)
        return {handle.key: ["a number"], "of another run": ["another number"]}

    monkeypatch.setattr("harness.handles.page.published_beside", beside)
    page = page_of(layout, store, handle, [tmp_path / "mirror"])
    is_good = verdict == "ok"
    assert page["published"] == (["a number"] if is_good else [])
    assert asked == ([(layout, store, [handle.planned], [tmp_path / "mirror"])] if is_good else [])


@pytest.mark.parametrize(("verdict", "told"), [("ok", True), ("timeout", False)])
def test_what_a_method_warns_of_is_told_of_a_result_the_first_five(
    repository: Layout, store: Store, tmp_path: Path, verdict: str, told: bool
) -> None:
    layout = replace(repository, local=tmp_path / "local")
    handle = stored_handle(store, planned_job(1).key)
    assert handle.folder is not None
    content = {**handle.content, "verdict": verdict}
    content["files"] = {**content["files"], "method.json": {"sha256": "a" * 64, "bytes": 9}}
    for count in (5, 6, 7):
        report = {"protocol": 1, "warnings": [f"{number}\tis odd" for number in range(count)]}
        (handle.folder / "method.json").write_text(json.dumps(report))
        warnings = [f"{number}\\tis odd" for number in range(5)] + [f"and {count - 5} more"] * (count > 5)
        assert page_of(layout, store, replace(handle, content=content))["warnings"] == (warnings if told else [])
    assert page_of(layout, store, handle)["warnings"] == []


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "method.json: is not JSON"), ("", "method.json: is not JSON"), ('{"protocol": 2}', "method.json")],
)
def test_a_report_that_can_not_be_read_is_told_on_the_page_of_its_run(
    repository: Layout, store: Store, tmp_path: Path, text: str, why: str
) -> None:
    """The page is asked for where something is wrong with a run."""
    layout = replace(repository, local=tmp_path / "local")
    handle = stored_handle(store, planned_job(1).key)
    assert handle.folder is not None
    files = {**handle.content["files"], "method.json": {"sha256": "a" * 64, "bytes": 9}}
    (handle.folder / "method.json").write_text(text)
    damaged = replace(handle, content={**handle.content, "verdict": "ok", "files": files})
    (warning,) = page_of(layout, store, damaged)["warnings"]
    assert warning.startswith(f"its report can't be read: {why}")


def _failed() -> dict[str, Any]:
    files = {"log.txt": {"sha256": "f" * 64, "bytes": 7}}
    return {"verdict": "error", "finished": "then", "attempts": 1, "files": files}
