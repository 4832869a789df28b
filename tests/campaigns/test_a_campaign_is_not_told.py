"""What a campaign tells while it runs, and how it ends when somebody asks. Most need no container."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner

from harness import api
from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import group
from harness.engine import Engine
from harness.execution import campaign, turns
from harness.execution.bulletins import Bulletin, IllWorker, Tally, Underway, Wish, ask_to_end, bulletins, telling
from harness.execution.tasks import Task
from harness.planning.plan import Plan
from harness.results.records import Record
from harness.results.store import Store, join
from tests.campaigns.test_one_run_ends_the_campaign import IMAGE, made_up_plan
from tests.conftest import REPOSITORY
from tests.core.factories import record_of
from tests.fabricate import plan_of

BULLETIN = Bulletin(
    name="3fa91c",
    plan="full",
    on="slurm.toml",
    host="login",
    process=17,
    seconds=7200.0,
    runs=400,
    ended={"ok": 190, "timeout": 10},
    nodes={"n1": 120, "n2": 80},
    underway=(Underway(label="bnnr/published on fdataset", host="n2", seconds=95.0),),
    ill=(IllWorker(host="n3", worker="tcp://n3:1", reason="the disk is full"),),
    lost=4,
    seconds_left=7200.0,
    wish=None,
)


@pytest.fixture
def here(tmp_path: Path) -> Layout:
    return Layout(root=REPOSITORY, cache=tmp_path / "cache", local=tmp_path / "local")


@pytest.fixture
def told(here: Layout) -> Iterator[tuple[Tally, threading.Event, threading.Event]]:
    """A campaign that tells, and what it heard: enough, stop."""
    tally, enough, stop = Tally(), threading.Event(), threading.Event()
    with telling(here, tally, plan="made up", on="local", enough=enough, stop=stop):
        yield tally, enough, stop


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def only(layout: Layout) -> Bulletin:
    until(lambda: bulletins(layout))
    (one,) = bulletins(layout).values()
    return one


def test_what_it_tells_is_read_word_for_word() -> None:
    assert BULLETIN.text().splitlines() == [
        "3fa91c: full on slurm.toml, by process 17 of login: 200 of 400 runs in 2.0 h, about 2.0 h left",
        "  190 ok, 10 timeout, 4 lost with their worker",
        "  n1: 0 at work, 120 ended",
        "  n2: 1 at work, 80 ended",
        "    bnnr/published on fdataset (95 s)",
        "  n3: 0 at work, 0 ended",
        "    worker tcp://n3:1 is given nothing more: the disk is full",
    ]
    new = BULLETIN.model_copy(
        update={
            "on": "local",
            "ended": {},
            "nodes": {},
            "underway": (),
            "ill": (),
            "lost": 0,
            "seconds_left": None,
        }
    )
    assert new.text() == "3fa91c: full, by process 17 of login: 0 of 400 runs in 2.0 h"
    # what is left may take no time at all, which is not the same as that nobody knows
    assert new.model_copy(update={"seconds_left": 0.0}).text() == f"{new.text()}, about 0 s left"
    for wish, words in ((Wish.DRAIN, "what runs is finished"), (Wish.STOP, "at once")):
        assert new.model_copy(update={"wish": wish}).text().endswith(f"\n  asked to end: {words}")


def test_runs_are_counted_by_verdict_and_host() -> None:
    tally = Tally()
    tally.expect([10.0] * 5)
    tally.begun("a", "run a", "n1")
    tally.begun("b", "run b", "n2")
    tally.begun("c", "run c", "n2")
    tally.ended("a", Verdict.OK, "n1")
    tally.ended("b", Verdict.TIMEOUT, "n2")
    tally.left("c", lost=True)
    tally.begun("c", "run c", "n1")
    tally.begun("d", "run d", "n2")
    tally.left("d")
    now = tally.bulletin("x", "plan", "local", None)
    assert (now.runs, now.ended, now.nodes, now.lost) == (5, {"ok": 1, "timeout": 1}, {"n1": 1, "n2": 1}, 1)
    assert [(one.label, one.host) for one in now.underway] == [("run c", "n1")] and not now.ill
    tally.is_ill(IllWorker(host="n1", worker="tcp://n1:1", reason="no disk"))
    assert [one.worker for one in tally.bulletin("x", "plan", "local", None).ill] == ["tcp://n1:1"]


def test_a_run_that_is_named_again_keeps_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 5.0, 6.0])
    monkeypatch.setattr("harness.execution.bulletins.time.monotonic", lambda: next(clock))
    tally = Tally()
    tally.begun("a", "run a", "n1")
    tally.begun("a", "run a", "n1")
    (one,) = tally.bulletin("x", "plan", "local", None).underway
    assert one.seconds == 1.0


@pytest.mark.parametrize(
    ("expected", "ended", "left"),
    [
        # 30 of 100 expected seconds took 60
        ({"a": 10.0, "b": 20.0, "c": 70.0}, "ab", 140.0),
        # of one nobody knows: 2 of 3 took 60
        ({"a": 10.0, "b": 20.0, "c": None}, "ab", 30.0),
        ({"a": 10.0, "b": 20.0, "c": math.nan}, "ab", 30.0),
        ({"a": 10.0, "b": 20.0}, "", None),
        ({"a": 10.0, "b": 20.0}, "ab", 0.0),
    ],
)
def test_the_time_that_is_left_goes_on_as_up_to_now(
    monkeypatch: pytest.MonkeyPatch, expected: dict[str, float | None], ended: str, left: float | None
) -> None:
    monkeypatch.setattr("harness.execution.bulletins.time.monotonic", lambda: 0.0)
    tally = Tally()
    tally.expect(expected.values())
    for key in ended:
        tally.ended(key, Verdict.OK, expected=expected[key])
    monkeypatch.setattr("harness.execution.bulletins.time.monotonic", lambda: 60.0)
    assert tally.bulletin("x", "plan", "local", None).seconds_left == (
        None if left is None else pytest.approx(left)
    )


def test_it_is_told_as_long_as_it_runs(here: Layout) -> None:
    assert bulletins(here) == {}
    tally = Tally()
    tally.expect([1.0])
    with telling(here, tally, plan="made up", on="dask", enough=threading.Event(), stop=threading.Event()):
        one = only(here)
        assert (one.plan, one.on, one.runs, one.wish) == ("made up", "dask", 1, None)
        assert re.fullmatch("[0-9a-f]{6}", one.name), "short enough to be typed"
        tally.ended("a", Verdict.OK)
        until(lambda: only(here).ended == {"ok": 1})
    assert bulletins(here) == {} and not list((here.local / "work").glob("*/campaign-*"))


def test_a_campaign_that_was_killed_is_not_shown(here: Layout) -> None:
    words = [sys.executable, "-c", _OTHER, str(here.local)]
    other = subprocess.Popen(words, cwd=REPOSITORY)
    try:
        assert only(here).process == other.pid, "another process's campaign is seen"
    finally:
        other.kill()
        other.wait()
    assert list((here.local / "work").glob("*/campaign-*.json")) and bulletins(here) == {}


_OTHER = """
import sys, threading
from pathlib import Path
from harness.base.layout import Layout
from harness.execution.bulletins import Tally, telling
layout = Layout(root=Path.cwd(), cache=Path("none"), local=Path(sys.argv[1]))
with telling(layout, Tally(), plan="other", on="local", enough=threading.Event(), stop=threading.Event()):
    threading.Event().wait(60)
"""


@pytest.mark.parametrize("wish", Wish)
def test_a_wish_is_heard(here: Layout, told: tuple[Tally, threading.Event, threading.Event], wish: Wish) -> None:
    _, enough, stop = told
    name = only(here).name
    assert ask_to_end(here, name, wish).name == name
    until(lambda: only(here).wish is wish)
    assert (enough.is_set(), stop.is_set()) == (wish is Wish.DRAIN, wish is Wish.STOP)


def test_who_is_to_end_must_be_clear(here: Layout) -> None:
    with pytest.raises(UsageError, match="no campaign is at work here"):
        ask_to_end(here, "", Wish.DRAIN)
    events = [threading.Event() for _ in range(4)]
    with (
        telling(here, Tally(), plan="one", on="local", enough=events[0], stop=events[1]),
        telling(here, Tally(), plan="two", on="local", enough=events[2], stop=events[3]),
    ):
        until(lambda: len(bulletins(here)) == 2)
        with pytest.raises(UsageError, match="2 campaigns are at work here") as refused:
            ask_to_end(here, "", Wish.DRAIN)
        assert all(f"{one.name} ({one.plan})" in refused.value.todo for one in bulletins(here).values())
        with pytest.raises(UsageError, match="no campaign is called nobody"):
            ask_to_end(here, "nobody", Wish.DRAIN)
        (second,) = (one.name for one in bulletins(here).values() if one.plan == "two")
        ask_to_end(here, second, Wish.DRAIN)
        until(events[2].is_set)
        assert not events[0].is_set()


def test_what_no_campaign_told_is_named(
    here: Layout, told: tuple[Tally, threading.Event, threading.Event]
) -> None:
    only(here)
    (path,) = bulletins(here)
    (path.parent / "campaign-other.json").write_text('{"name": "x", "colour": "red"}')
    with pytest.raises(CorruptData, match="not what a campaign tells") as refused:
        ask_to_end(here, "other", Wish.DRAIN)
    assert refused.value.where.endswith("campaign-other.json")
    (path.parent / "campaign-other.json").unlink()


@pytest.mark.parametrize(("wish", "last"), [(Wish.DRAIN, Verdict.OK), (Wish.STOP, Verdict.INTERRUPTED)])
def test_a_campaign_that_is_asked_begins_nothing_more(
    here: Layout, monkeypatch: pytest.MonkeyPatch, wish: Wish, last: Verdict
) -> None:
    """Asked in its second run, which is finished or stopped as asked."""
    began: list[str] = []

    def perform(task: Task, engine: Engine, stop: threading.Event) -> Record:
        began.append(task.planned.key)
        verdict = Verdict.OK
        if len(began) == 2:
            only(here)
            ask_to_end(here, "", wish)
            until(lambda: only(here).wish is wish)
            (shown,) = only(here).underway
            assert shown.label == task.planned.job.label
            verdict = Verdict.INTERRUPTED if stop.is_set() else Verdict.OK
        record = record_of(task.planned, verdict).model_copy(update={"resources": {"wall_s": 1.0}})
        return Store(here.runs).put(record, {})

    monkeypatch.setattr(turns, "perform", perform)
    monkeypatch.setattr(campaign, "take_image", lambda *_, **__: IMAGE)
    monkeypatch.setattr(campaign, "remove_orphans", lambda _: [])
    plan = made_up_plan("constant", runs=6)
    assert run(here, plan) is True
    verdicts = Counter(cell.verdict for cell in join(plan, Store(here.runs)))
    assert len(began) == 2 and verdicts == Counter([Verdict.OK, last, *[Verdict.PENDING] * 4])
    monkeypatch.setattr(turns, "perform", lambda task, *_: Store(here.runs).put(_made(task), {}))
    assert run(here, plan) is False, "nobody asked, and it says that it was stopped"
    assert {cell.verdict for cell in join(plan, Store(here.runs))} == {Verdict.OK}


def _made(task: Task) -> Record:
    return record_of(task.planned, Verdict.OK).model_copy(update={"resources": {"wall_s": 1.0}})


def run(layout: Layout, plan: Plan) -> bool:
    joined = join(plan, Store(layout.runs), records=True)
    return campaign.run_cells(
        layout, joined, cast(Engine, None), choices=campaign.Choices(workers=1), name=plan.name
    )


def test_commands_show_and_stop_it(
    here: Layout, told: tuple[Tally, threading.Event, threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, enough, _ = told
    monkeypatch.setenv("PERMAFROST_RESULTS", str(here.local))
    name = only(here).name
    shown = CliRunner().invoke(group, ["status", "--watch", "--json"])
    assert shown.exit_code == 0 and f'"name": "{name}"' in shown.stdout
    stopped = CliRunner().invoke(group, ["stop"])
    assert stopped.stdout == f"{name} (made up) begins nothing more; what is at work (0 runs) is finished\n"
    until(enough.is_set)


def test_nothing_at_work_is_said(here: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(here.local))
    shown = CliRunner().invoke(group, ["status", "--watch"])
    assert (shown.exit_code, shown.stdout) == (0, f"no campaign is at work in {here.local}\n")


def test_a_table_is_not_watched(here: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(here.local))
    refused = CliRunner().invoke(group, ["status", "--watch", "--cells"])
    assert isinstance(refused.exception, UsageError) and "no table" in str(refused.exception)


@pytest.mark.engine
def test_a_real_run_is_finished_before_it_ends(layout: Layout, engine: Engine) -> None:
    # more than any machine ends before it reads that it is to stop
    plan = plan_of(layout, ["constant"], range(1, 201))
    repository = api.Repository(layout)

    def ask() -> None:
        until(lambda: [one for one in api.campaigns(repository=repository) if sum(one.ended.values())])
        api.stop(repository=repository)

    asking = threading.Thread(target=ask)
    asking.start()
    ended = api.run(plan, workers=1, progress=None, repository=repository)
    asking.join()
    verdicts = Counter(cell.verdict for cell in join(plan, Store(layout.runs)))
    assert ended.stopped and set(verdicts) == {Verdict.OK, Verdict.PENDING}
