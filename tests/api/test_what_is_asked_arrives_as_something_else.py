"""What a person asks for reaches what answers it, each word in its place; what needs an engine is stood in for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import api as typed_api
from harness.api import audits, claims, contests, datasets, handles, jobs, pages, plans, predictions, proofs, runs
from harness.api.repository import without_own_runs
from harness.audit.steps import ok
from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.new_item import NewItem
from harness.contest import ContestRequest
from harness.execution.campaign import Choices
from harness.execution.queues import logs_of
from harness.handles import find_handle
from harness.planning.cells import wanted_again
from harness.planning.needs import run_kind
from harness.planning.plan import Plan
from harness.planning.request import Request
from harness.planning.shards import parse_shard
from harness.prediction import PredictionRequest
from harness.proof.verification import Proof
from harness.results.last_audit import REFERENCE, STORED, LastAudit, read_last_audit, write_last_audit
from harness.results.scoring import Scored
from tests.api.conftest import Listener, Machine, Put
from tests.fabricate import plan_of, planned_of

# what answers is stood in for: its answers are of no type
api: Any = typed_api


def test_a_prediction_is_of_all_that_was_asked(machine: Machine, put: Put) -> None:
    chosen, answers = put(predictions, "participants", "who"), put(predictions, "predict_request", "answer")
    listener, here = Listener(), machine.repository
    whole: dict[str, Any] = {"variant": "v", "parameters": {"alpha": 1}, "seed": 7, "top": 3, "both_orders": True}
    told = api.predict(
        ["a", "b/c"],
        "d",
        new=[("drug", "mine", "CCO")],
        only=[("drug", "known")],
        pairs=[("x", "y")],
        progress=listener,
        repository=here,
        **whole,
    )
    request = PredictionRequest(
        methods=("a", "b/c"),
        dataset="d",
        new=(NewItem(kind="drug", name="mine", text="CCO"),),
        only=(("drug", "known"),),
        pairs=(("x", "y"),),
        **whole,
    )
    assert told == "answer" and chosen == [((machine.layout, request, here.mirrors), {})]
    own = (machine.layout, machine.engine, request, "who")
    assert answers == [(own, {"mirrors": here.mirrors, "progress": listener})]
    assert machine.asked == [((machine.layout,), {"install": True, "runtime": "runsc"})]
    api.predict("all", "d", repository=here)
    assert chosen[1][0][1] == PredictionRequest(methods=("all",), dataset="d")
    assert type(answers[1][1]["progress"]).__name__ == "ProgressLines"


def test_an_audit_is_told_what_to_run_again_and_shows_it(machine: Machine, put: Put, made_up: Plan) -> None:
    here, keys = machine.repository, [planned_of(cell).key for cell in made_up.cells]
    again = SimpleNamespace(steps=(ok("replay", "equal bit for bit"),))
    found = put(
        audits,
        "audit_runs",
        SimpleNamespace(audits=(again, again), passed=5, failed=2, superseded=1, not_audited=3),
    )
    put(audits, "check_checkout", ("check_checkout",))
    pages = put(audits, "check_page", ("check_page",))
    statements, noted = put(audits, "check_statement", ("check_statement",)), put(audits, "write_last_audit")
    api.audit(keys[0], replay=2, seed=7, progress="auto", repository=here)
    (((layout, chosen), named),) = found
    assert layout == machine.layout and chosen == [keys[0]] and noted == []
    assert type(named.pop("progress")).__name__ == "ProgressLines", "what runs again is shown, few as they are"
    assert named == {
        "engine": machine.engine,
        "mirrors": here.mirrors,
        "replay": 2,
        "seed": 7,
        "without_run": 0,
        "repository": ["check_checkout", "check_statement", "check_page"],
    }
    assert machine.asked == [((machine.layout,), {"install": True, "runtime": "runsc"})]
    assert statements == [((machine.layout,), {"reference": False})]
    assert pages == [((machine.layout,), {})]
    # of keys that lead to committed results the statement about these tells
    put(audits, "believed_reference", {"f" * 64: "an entry"})
    api.audit("ffff", progress=None, repository=here)
    assert statements[-1] == ((machine.layout,), {"reference": True}) and found[-1][0][1] == {"f" * 64: "an entry"}
    # of a suite too: what was run here is none of them
    put(audits, "jobs_of", [cell.job for cell in made_up.cells])
    entry = SimpleNamespace(planned=planned_of(made_up.cells[0]))
    put(audits, "believed_reference", {"e" * 64: entry})
    api.audit(suite="smoke", reference=True, progress=None, repository=here)
    assert found[-1][0][1] == {"e" * 64: entry} and found[-1][1]["without_run"] == len(made_up.cells) - 1
    api.audit(suite="smoke", progress=None, repository=here)
    assert sorted(found[-1][0][1]) == sorted(here.store.finished())
    api.audit(replay=9, progress=None, repository=here)
    (_, of, note), _ = noted[-1]
    assert (of, note.results, note.replayed, note.failed, note.superseded) == ("stored", 2, 2, 2, 1)
    assert (note.passed, note.unfinished) == (5, 3)
    assert (found[-1][1]["without_run"], found[-1][1]["seed"]) == (0, 0)


@pytest.mark.parametrize(("count", "shown"), [(19, "Silent"), (20, "ProgressLines")])
def test_few_audits_are_over_before_a_bar_could_be_read(
    machine: Machine, put: Put, monkeypatch: pytest.MonkeyPatch, count: int, shown: str
) -> None:
    found = put(audits, "audit_runs")
    monkeypatch.setattr(audits, "keys_of_jobs", lambda *_: (["k"] * count, 4))
    api.audit(Plan("none", ()), repository=machine.repository)
    assert type(found[0][1]["progress"]).__name__ == shown and found[0][1]["without_run"] == 4


def test_published_numbers_are_compared_with_what_was_named(machine: Machine, put: Put, tmp_path: Path) -> None:
    books, pairs = put(claims, "compare_claims", "book"), put(claims, "compare_of_store", "pairs")
    here = machine.repository
    named: dict[str, Any] = {"methods": "als_wr", "datasets": ["fdataset"], "splits": "random", "seeds": 7}
    own = (machine.layout, here.store, "repurposing")
    expected: dict[str, Any] = {
        "methods": ("als_wr",),
        "datasets": ("fdataset",),
        "splits": ("random",),
        "seeds": (7,),
    }
    expected["mirrors"] = here.mirrors
    assert api.compare(**named, repository=here) == "book"
    assert books == [(own, {**expected, "against": None})]
    assert api.compare_accelerators(**named, repository=here) == "pairs"
    assert pairs == [(own, expected)]
    other = put(claims, "load_external", [SimpleNamespace(method="Theirs", dataset="D", split="S")])
    api.compare("ddi", methods="Theirs", against=str(tmp_path / "claims.csv"), repository=here)
    assert books[1][0][2] == "ddi" and books[1][1]["against"] == tmp_path / "claims.csv"
    assert other[0][0][1] == tmp_path / "claims.csv"


def test_a_contest_is_of_what_was_named(machine: Machine, put: Put) -> None:
    here, layout = machine.repository, machine.layout
    planned, entries = (
        put(contests, "contest_plan", Plan("table", ())),
        put(contests, "load_reference", {"k": "v"}),
    )
    cells, joined = [SimpleNamespace(row=row) for row in ("b", "a", "b")], put(contests, "join", "joined")
    tables = put(contests, "build_table", SimpleNamespace(cells=cells))
    held = put(contests, "hold_contest", "contest")
    named: dict[str, Any] = {"datasets": "synthetic", "splits": ["random"], "seeds": [7]}
    assert api.contest(["als_wr", "pmf"], variant="corrected", **named, repository=here) == "contest"
    request = ContestRequest(
        methods=("als_wr", "pmf"),
        variant="corrected",
        datasets=("synthetic",),
        splits=("random",),
        seeds=(7,),
        suite="stored",
    )
    assert planned == [((layout, here.store, request, {}), {})] and entries == []
    ((own, _),) = tables
    assert own == (layout, here.store, Plan("table", ()), "joined", {})
    assert joined == [((Plan("table", ()), here.store), {"records": True})]
    ((table, metric, order), common) = held[0]
    assert common == {"on_common_seeds": False}
    assert table.cells == cells and metric.name == "NS-AUC/as-defined" and order == ["b", "a"]
    api.contest("pmf", metric="AUC/as-published", suite="smoke", reference=True, repository=here)
    assert planned[1][0][2:] == (ContestRequest(methods=("pmf",), suite="smoke"), {"k": "v"})
    assert entries == [((layout, "repurposing"), {})] and tables[1][0][4] == {"k": "v"}
    assert held[1][0][1].name == "AUC/as-published"
    api.contest("pmf", common_seeds=True, repository=here)
    assert planned[2][0][2] == ContestRequest(methods=("pmf",), common=True)
    assert held[2][1] == {"on_common_seeds": True}


def test_a_page_of_a_run_and_what_is_forgotten_are_of_what_was_named(machine: Machine, put: Put) -> None:
    here, layout = machine.repository, machine.layout
    found, page = put(handles, "find_handle", "the run"), put(handles, "page_of", {"a": "page"})
    assert api.show("k", repository=here) == {"a": "page"}
    assert found == [((layout, here.store, "k"), {})]
    assert page == [((layout, here.store, "the run", here.mirrors), {})]
    chosen, gone = put(handles, "runs_to_forget", ["one"]), put(handles, "forget_runs", ["gone"])
    assert api.forget("k", methods="m", datasets=["d"], dry_run=True, repository=here) == ["one"] and gone == []
    assert chosen == [((layout, here.store, ("k",)), {"methods": ("m",), "datasets": ("d",)})]
    assert api.forget("k", repository=here) == ["gone"] and gone == [((here.store, ["one"]), {})]


def test_a_job_by_hand_is_that_of_the_run_in_its_order(machine: Machine, put: Put, made_up: Plan) -> None:
    here, planned = machine.repository, planned_of(made_up.cells[0])
    written = put(jobs, "write_kit", "kit")
    assert api.write_job(planned.key[:12], "folder", repository=here) == "kit"
    own = (machine.layout, machine.engine, planned, Path("folder"))
    order = here.store.record(planned.key).order
    usual = {"order": order, "mirrors": here.mirrors, "upstream": None}
    assert order and written == [(own, usual)]
    assert machine.asked == [((machine.layout,), {"install": True, "runtime": "runsc"})]
    api.write_job(Plan("one", made_up.cells[:1]), "folder", upstream="up", repository=here)
    assert written[1] == (own, {**usual, "order": None, "upstream": Path("up")})
    # a record that names no order is of the published one
    handle = find_handle(machine.layout, here.store, planned.key)
    content = {name: value for name, value in handle.content.items() if name != "order"}
    put(jobs, "find_handle", replace(handle, content=content))
    api.write_job(planned.key, "folder", repository=here)
    assert written[2] == (own, {**usual, "order": ""})


@pytest.mark.parametrize(
    ("number", "change", "fault", "expected"),
    [
        (0, {}, "", (True, True)),
        (0, {"predictions.npy": "0"}, "", (False, False)),
        (0, {}, "no answer", (None, False)),
        # a failed run and a cell without a run have no answer to be equal to
        (3, {}, "", (None, True)),
        (4, {}, "", (None, True)),
    ],
)
def test_an_answer_by_hand_is_held_against_that_of_its_run(
    machine: Machine, put: Put, made_up: Plan, number: int, change: Any, fault: str, expected: tuple[Any, bool]
) -> None:
    here, planned = machine.repository, planned_of(made_up.cells[number])
    names = ("predictions.npy", "validation.npy", "lowest.npy")
    files = {name: here.store.record(planned_of(made_up.cells[0]).key).files[name].sha256 for name in names}
    answer = SimpleNamespace(note=SimpleNamespace(planned=planned), fault=fault, files={**files, **change})
    judged = put(jobs, "judge_by_hand", answer)
    checked = api.check_job("folder", repository=here)
    assert judged == [((machine.layout, Path("folder"), here.mirrors), {})]
    assert (checked.key, checked.answer) == (planned.key, answer)
    assert (checked.equal, checked.is_good) == expected


def test_a_campaign_is_run_with_all_that_was_chosen(machine: Machine, put: Put, made_up: Plan) -> None:
    here, listener, stop = machine.repository, Listener(), threading.Event()
    ran, whole = put(runs, "run_cells", True), Plan("all", made_up.cells)
    shard = replace(Plan("half", made_up.cells[3:]), part_of=whole)
    campaign = api.run(
        shard,
        progress=listener,
        workers=3,
        again=["error"],
        remove_images=True,
        upstream="up",
        stop=stop,
        repository=here,
    )
    assert (campaign.left, campaign.stopped) == (3, True) and len(campaign.table.cells) == 3
    assert campaign.table.cells[0].cell.record["verdict"] == "error"
    (((layout, cells, engine), named),) = ran
    assert layout == machine.layout and engine is machine.engine
    assert [cell.verdict for cell in cells] == [Verdict.ERROR, Verdict.PENDING, Verdict.PENDING]
    assert named.pop("stop") is stop and named.pop("progress") is listener
    choices = Choices(
        mirrors=here.mirrors,
        workers=3,
        again=frozenset({Verdict.ERROR}),
        remove_images=True,
        upstream=Path("up"),
    )
    assert named == {"choices": choices, "name": "all", "announced": whole.cells}
    assert machine.asked == [((machine.layout,), {"install": True, "runtime": "runsc"})]
    first, second, third = listener.notes
    assert first == "engine: docker 20.10" and second.startswith("3 of 3 cells left; ") and "free" in second
    again = wanted_again(api.cells(shard, repository=here), [Verdict.ERROR])
    assert third == api.needs(shard, joined=again, repository=here).time()


def test_what_is_wanted_again_needs_its_disk_and_took_its_time(
    machine: Machine, put: Put, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, ran = machine.repository, put(runs, "run_cells", False)
    finished = replace(made_up, cells=made_up.cells[:3])
    assert api.needs(finished, repository=here).left == 0
    again = wanted_again(api.cells(finished, repository=here), [Verdict.OK])
    needs = api.needs(finished, joined=again, repository=here)
    assert (needs.left, needs.measured) == (3, 3)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(total=1, free=1))
    with pytest.raises(EngineError, match="of disk"):
        api.run(finished, progress=Listener(), again=["ok"], repository=here)
    assert not ran


def test_hours_of_what_never_ran_here_are_those_of_the_reference_results(machine: Machine, put: Put) -> None:
    listener, plan = Listener(), plan_of(machine.layout, ["nimcgcn"], [1])
    put(runs, "run_cells", False)
    asked = put(runs, "reference_seconds", {run_kind(plan.cells[0].job): 7200.0})
    api.run(plan, progress=listener, repository=machine.repository)
    assert [(layout, [*jobs]) for (layout, jobs), _ in asked] == [(machine.layout, [plan.cells[0].job])]
    assert "1 estimated from the reference results" in listener.notes[-1]


def test_room_is_asked_for_one_method_at_a_time_where_images_are_removed(
    machine: Machine, put: Put, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who removes them has to have no room for all of them, and is not told to do what is done."""
    here, ran = machine.repository, put(runs, "run_cells", False)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(total=1, free=1))
    for remove_images in (False, True):
        with pytest.raises(EngineError, match="of disk") as refused:
            api.run(made_up, progress=Listener(), remove_images=remove_images, repository=here)
        assert ("--remove-images" in refused.value.todo) != remove_images
    assert not ran


def test_scores_are_computed_of_what_mirrors_have(machine: Machine, put: Put, made_up: Plan) -> None:
    here, whole = machine.repository, Plan("all", made_up.cells[:3])
    every = put(runs, "score_all", Scored(tuple(whole.cells), 0))
    api.run(whole, progress=None, repository=here)
    (((layout, store, cells, mirrors), named),) = every
    assert (layout, store, len(cells), mirrors, named) == (here.layout, here.store, 3, here.mirrors, {})
    one, key = put(runs, "score_run", "scores"), planned_of(whole.cells[0]).key
    for again in (False, True):
        assert api.scores(key[:12], again=again, repository=here).scores == "scores"
    job = planned_of(whole.cells[0])
    assert one == [((here.layout, here.store, job, here.mirrors), {"again": again}) for again in (False, True)]


def test_workers_of_a_cluster_are_given_the_same(
    machine: Machine, put: Put, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, listener, opened = machine.repository, Listener(), []

    @contextmanager
    def cluster(*own: Any, **named: Any) -> Iterator[str]:
        opened.append((own, named))
        yield "cluster"

    monkeypatch.setattr(runs, "open_cluster", cluster)
    ran, whole, stop = put(runs, "run_cells_on", False), Plan("all", made_up.cells), threading.Event()
    shard = replace(Plan("half", made_up.cells[3:]), part_of=whole)
    campaign = api.run(
        shard, progress=listener, workers=2, on="tcp://host:1", stop=stop, again=["error"], repository=here
    )
    assert (campaign.left, campaign.stopped, machine.asked) == (3, False, [])
    expected = {"workers": 2, "logs": logs_of(machine.layout), "stop": stop}
    assert opened == [(("tcp://host:1",), expected)]
    choices = Choices(mirrors=here.mirrors, workers=2, again=frozenset({Verdict.ERROR}))
    ((own, named),) = ran
    assert own[:2] == ("cluster", machine.layout) and len(own[2]) == 3
    assert named.pop("progress") is listener and named == {
        "choices": choices,
        "stop": stop,
        "name": "all",
        "announced": whole.cells,
        "runtime": "runsc",
    }
    assert listener.notes == ["3 of 3 cells left"]


def test_a_campaign_in_another_thread_is_stopped_by_its_own_event(machine: Machine) -> None:
    given, found = threading.Event(), list[threading.Event]()

    def other_thread() -> None:
        for stop in (None, given):
            with runs._stopping(stop) as event:
                found.append(event)

    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    assert found[1] is given and isinstance(found[0], threading.Event) and found[0] is not given
    before = signal.getsignal(signal.SIGINT)
    with runs._stopping(given) as event:
        assert event is given and signal.getsignal(signal.SIGINT) == before
    with runs._stopping(None) as event:
        assert not event.is_set() and signal.getsignal(signal.SIGINT) != before


def test_a_request_is_planned_word_for_word(machine: Machine, put: Put) -> None:
    here, layout = machine.repository, machine.layout
    asked, refused = put(plans, "requested_jobs", ["job"]), put(plans, "refuse_impossible_splits")
    chosen, made = put(plans, "on_accelerator", ["chosen"]), put(plans, "make_plan", "the plan")
    whole: dict[str, Any] = {"published_seeds": 2, "parameters": {"alpha": 1}, "options": {"inner_folds": 3}}
    told = api.plan(
        methods=["a"],
        datasets="d",
        splits="cold",
        seeds=7,
        variant="corrected",
        upstream="up",
        accelerator="cuda",
        repository=here,
        **whole,
    )
    request = Request(
        methods=("a",),
        datasets=("d",),
        splits=("cold",),
        seeds=(7,),
        variant="corrected",
        upstream=Path("up"),
        **whole,
    )
    assert told == "the plan" and asked == [((layout, request), {})]
    assert refused == [((layout, ["job"], here.mirrors), {})] and chosen == [((layout, ["job"], "cuda"), {})]
    assert made == [((layout, "request", ["chosen"]), {"mirrors": here.mirrors, "make_splits": True})]
    api.plan(methods="a", datasets="d", make_splits=False, repository=here)
    usual = Request(methods=("a",), datasets=("d",), splits=("random",), variant="published")
    assert asked[1] == ((layout, usual), {}) and len(refused) == 1 and made[1][1]["make_splits"] is False
    listed = put(plans, "suite_jobs", ["job of the suite"])
    api.plan(suite="smoke", published_seeds=2, repository=here)
    assert listed == [((layout, here.store, "smoke", 2), {})]
    assert chosen[2][0][1:] == (["job of the suite"], "cpu") and made[2][0][1] != "request"


def test_a_part_is_refused_before_anything_is_planned(machine: Machine, put: Put) -> None:
    asked = put(plans, "requested_jobs", [])
    with pytest.raises(Exception, match="3/2"):
        api.plan(methods="a", datasets="d", shard="3/2", repository=machine.repository)
    assert asked == []


def test_parts_are_made_equal_by_the_hours_of_the_reference_results(
    machine: Machine, put: Put, made_up: Plan
) -> None:
    for name in ("requested_jobs", "refuse_impossible_splits", "on_accelerator"):
        put(plans, name, [])
    put(plans, "make_plan", made_up)
    seconds, parts = put(plans, "reference_seconds", {"m": 1.0}), put(plans, "shard_of", "a part")
    assert api.plan(methods="a", datasets="d", shard="2/3", repository=machine.repository) == "a part"
    ((layout, jobs_), _) = seconds[0]
    assert layout == machine.layout and list(jobs_) == [cell.job for cell in made_up.cells]
    assert parts == [((made_up, parse_shard("2/3"), {"m": 1.0}), {})]


def test_an_empty_path_is_the_folder_one_is_in_and_not_none(machine: Machine, put: Put, made_up: Plan) -> None:
    """A variable that a script forgot to set must not leave a statement unsigned without a word."""
    here = machine.repository
    asked, written = put(plans, "requested_jobs", []), put(jobs, "write_kit")
    ran, compared = put(runs, "run_cells", True), put(claims, "compare_claims")
    stated, held = put(proofs, "make_statement"), put(proofs, "verify_results", Proof("runs", ()))
    api.plan(methods="a", datasets="d", upstream="", repository=here)
    api.write_job(Plan("one", made_up.cells[:1]), "folder", upstream="", repository=here)
    api.run(Plan("half", made_up.cells[3:]), progress=None, again="error", upstream="", repository=here)
    api.compare(against="", repository=here)
    api.attest(reference=True, key="", repository=here)
    api.verify(reference=True, signers="", repository=here)
    given = [
        asked[0][0][1].upstream,
        written[0][1]["upstream"],
        ran[0][1]["choices"].upstream,
        compared[0][1]["against"],
        stated[0][0][2],
        held[0][0][2],
    ]
    assert given == [Path()] * 6


def test_what_is_needed_is_told_of_the_plan_by_the_reference_results(
    machine: Machine, put: Put, made_up: Plan
) -> None:
    here, cells = machine.repository, made_up.cells[:2]
    seconds, needed = put(plans, "reference_seconds", {"m": 1.0}), put(plans, "needs_of", "needs")
    assert api.needs(made_up, joined=cells, repository=here) == "needs"
    ((layout, jobs_), _) = seconds[0]
    assert layout == machine.layout and list(jobs_) == [cell.job for cell in cells]
    assert needed == [((machine.layout, "made-up", cells, {"m": 1.0}), {})]
    api.needs(made_up, repository=here)
    assert [cell.verdict for cell in needed[1][0][2]][:4] == [Verdict.OK] * 3 + [Verdict.ERROR]


def test_a_page_and_a_site_are_written_where_they_were_wanted(
    machine: Machine, put: Put, made_up: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = machine.repository
    table = api.status(made_up, repository=here)
    sites = put(pages, "write_site", "index")
    assert api.site(table, str(tmp_path / "site"), repository=here) == "index"
    assert sites == [((machine.layout, table, tmp_path / "site"), {"mirrors": here.mirrors})]
    compared = put(pages, "compare_report", "verification")
    assert api.verify_report(str(tmp_path / "site"), table, repository=here) == "verification"
    assert compared == sites
    monkeypatch.setattr(pages, "remember", lambda *_: None)
    written = put(pages, "write_report")
    assert api.report(table, repository=here) == machine.layout.page
    assert api.report(table, str(tmp_path / "page.html"), repository=here) == tmp_path / "page.html"
    assert [own[2] for own, _ in written] == [machine.layout.page, tmp_path / "page.html"]
    assert written[0] == ((machine.layout, table, machine.layout.page), {"mirrors": here.mirrors})


def test_a_clone_has_what_is_committed_and_no_run_of_this_machine(evidence: Layout) -> None:
    here = api.Repository(evidence, mirrors=(Path("m"),))
    numbers = {"results": 4, "passed": 4, **dict.fromkeys(("failed", "superseded", "unfinished", "replayed"), 0)}
    notes = {of: LastAudit(at=f"{of} then", tree="", digest="d", **numbers) for of in (REFERENCE, STORED)}
    for of, note in notes.items():
        write_last_audit(here.layout, of, note)
    assert list(here.store.finished())
    with without_own_runs(here) as alone:
        layout = alone.layout
        assert list(alone.store.finished()) == []
        assert read_last_audit(layout, REFERENCE) == notes[REFERENCE] and read_last_audit(layout, STORED) is None
        assert alone.mirrors == here.mirrors and replace(layout, local=here.layout.local) == here.layout
    assert not layout.local.exists()
    assert {of: read_last_audit(here.layout, of) for of in notes} == notes and list(here.store.finished())


def test_a_dataset_is_made_with_its_title_and_parameters(machine: Machine, put: Put) -> None:
    made = put(datasets, "new_dataset", "dataset")
    here: dict[str, Any] = {"repository": machine.repository}
    assert api.new_data("mine", title="T", parameters={"a": 1}, my_table="t.csv", **here) == "dataset"
    own = (machine.layout, "mine", {"my-table": "t.csv"})
    assert made == [(own, {"title": "T", "parameters": {"a": 1}})]
    api.new_data("other", **here)
    assert made[1] == ((machine.layout, "other", {}), {"title": "", "parameters": {}})


def test_without_an_engine_all_but_a_replay_is_audited(
    machine: Machine, put: Put, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*own: Any, **named: Any) -> object:
        raise EngineError("there is none", where="here")

    monkeypatch.setattr(audits, "find_engine", nothing)
    found, key = put(audits, "audit_runs"), planned_of(made_up.cells[0]).key
    api.audit(key, progress=None, repository=machine.repository)
    assert found[0][1]["engine"] is None
    with pytest.raises(EngineError, match="there is none"):
        api.audit(key, replay=1, progress=None, repository=machine.repository)
