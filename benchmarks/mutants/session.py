"""A plug-in of pytest: collects once, notes which test reaches which function, then tests one mutant per fork.

What the tests import is loaded and collected once, so that a mutant costs the tests that reach it and little more.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mutants import planting, reach
from benchmarks.mutants.changes import Mutant
from benchmarks.mutants.forks import cpu_seconds, forked, limit_child
from benchmarks.mutants.groups import folders_of
from benchmarks.mutants.reach import Reach, chosen_of, follow

# The description of the work, which the commands write.
VARIABLE = "PERMAFROST_MUTANTS"
# seconds of tests, as they took without a mutant, that one mutant may cost
_MOST_SECONDS = 40.0
# seconds, however slow the machine is
_LONGEST = 300.0


@dataclass(frozen=True)
class Outcome:
    """What came of one mutant: the test it fell to, or how many it survived."""

    mutant: Mutant
    killed_by: str
    because: str
    tests: int
    left_out: int

    def to_json(self) -> dict[str, Any]:
        """One line of the table of outcomes."""
        return {"name": self.mutant.name, **asdict(self)}


class Session:
    """Runs instead of pytest's own loop."""

    def __init__(self, root: Path, work: Path, mutants: list[Mutant]) -> None:
        self.root, self.work, self.mutants = root, work, mutants
        self.outcomes = work / "outcomes.jsonl"
        # tests to which a mutant fell, by whether they pass without any
        self._passes: dict[str, bool] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Learn what each test reaches, then plant one mutant after the other."""
        items = {item.nodeid: item for item in session.items}
        reaches = self._reaches(session, items)
        for mutant in self.mutants:
            outcome = self._test(session, items, reaches, mutant)
            with self.outcomes.open("a") as stream:
                stream.write(json.dumps(outcome.to_json()) + "\n")
            note = f"falls to {outcome.killed_by.rpartition('::')[2]}" if outcome.killed_by else "SURVIVES"
            self._say(f"{mutant.module}:{mutant.line} {mutant.before[:60]!r} -> {mutant.after[:60]!r} {note}")
        return True

    def _say(self, text: str) -> None:
        with (self.work / "progress.txt").open("a") as stream:
            stream.write(text + "\n")

    def _reaches(self, session: pytest.Session, items: Mapping[str, pytest.Item]) -> dict[str, list[Reach]]:
        """What passes without a mutant, by test file; kept until the file changes."""
        files: dict[str, list[pytest.Item]] = {}
        for item in items.values():
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        reaches = {}
        for name, own in sorted(files.items()):
            digest = sha256((self.root / name).read_bytes()).hexdigest()
            kept = self.work / "reach" / f"{name.replace('/', '-')}-{digest[:12]}.json"
            if not kept.exists():
                began = time.monotonic()
                forked(partial(self._learn, session, own, kept), 1800.0)
                self._say(f"learnt {name}: {time.monotonic() - began:.0f} s")
            content = json.loads(kept.read_text()) if kept.exists() else []
            reaches[name] = [
                Reach(one["test"], one["seconds"], frozenset((file, name) for file, name in one["functions"]))
                for one in content
            ]
        return reaches

    def _learn(self, session: pytest.Session, items: list[pytest.Item], kept: Path) -> None:
        trace = self.work / "trace.txt"
        trace.unlink(missing_ok=True)
        os.environ["PERMAFROST_MUTANTS_TRACE"] = f"{self.root}:{trace}"
        follow(self.root, trace)
        watcher = _Watcher()
        session.config.pluginmanager.register(watcher)
        _run(items, lambda: False)
        sys.settrace(None)
        called: dict[str, set[tuple[str, str]]] = {}
        for line in trace.read_text().splitlines() if trace.exists() else ():
            test, module, name = line.split("\t")
            called.setdefault(test, set()).add((module, name))
        shared = called.get(reach.SHARED_SETUP, set())
        content = [
            {
                "test": item.nodeid,
                "seconds": watcher.seconds[item.nodeid],
                "functions": sorted(called.get(item.nodeid, set()) | shared),
            }
            for item in items
            if watcher.passed.get(item.nodeid)
        ]
        for item in items:
            if watcher.passed.get(item.nodeid) is False:
                self._say(f"left out, fails without a mutant: {item.nodeid}")
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(content))

    def _test(
        self,
        session: pytest.Session,
        items: Mapping[str, pytest.Item],
        reaches: Mapping[str, list[Reach]],
        mutant: Mutant,
    ) -> Outcome:
        """What came of a mutant, by tests that pass without it today."""
        while True:
            outcome = self._test_once(session, items, reaches, mutant)
            test = outcome.killed_by
            if test in items and test not in self._passes:
                report = self.work / "report.json"
                report.unlink(missing_ok=True)
                forked(partial(self._try, session, [items[test]], None, report), _LONGEST)
                self._passes[test] = not report.exists()
            if self._passes.get(test, True):
                return outcome
            self._say(f"left out, fails without a mutant: {test}")

    def _test_once(
        self,
        session: pytest.Session,
        items: Mapping[str, pytest.Item],
        reaches: Mapping[str, list[Reach]],
        mutant: Mutant,
    ) -> Outcome:
        own = tuple(f"{folder}/" for folder in folders_of(mutant.module))
        near = {name: tests for name, tests in reaches.items() if name.startswith(own)}
        pairs = planting.functions_of(self.root, mutant)
        chosen = [one for one in chosen_of(near, self.root, mutant, pairs) if self._passes.get(one.test, True)]
        chosen.sort(key=lambda one: one.seconds)
        if not chosen:
            return Outcome(mutant, "", "no test reaches it", 0, 0)
        ends = accumulate(one.seconds for one in chosen)
        affordable = chosen[: max(1, sum(end <= _MOST_SECONDS for end in ends))]
        limit = min(60.0 + 8 * sum(one.seconds for one in affordable), _LONGEST)
        tests = [one.test for one in affordable]
        report = self.work / "report.json"
        report.unlink(missing_ok=True)
        if pairs is None:
            ended = self._start_anew(mutant, tests, report, limit)
        else:
            files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
            tests.sort(key=lambda test: files.index(test.partition("::")[0]))
            ended = forked(lambda: self._try(session, [items[test] for test in tests], mutant, report), limit)
        killed_by, because = "", ""
        if report.exists():
            killed_by, because = json.loads(report.read_text())
        elif ended != 0:
            killed_by, because = ("time", "took too long") if ended is None else ("crash", f"ended with {ended}")
        return Outcome(mutant, killed_by, because, len(tests), len(chosen) - len(affordable))

    def _try(self, session: pytest.Session, items: list[pytest.Item], mutant: Mutant | None, report: Path) -> None:
        limit_child()
        if mutant is not None and not planting.plant(self.root, mutant, self.work):
            report.write_text(json.dumps(["", "no function of this process holds it"]))
            return
        watcher = _Watcher()
        session.config.pluginmanager.register(watcher)
        _run(items, lambda: bool(watcher.failed))
        if watcher.failed:
            report.write_text(json.dumps(watcher.failed))

    def _start_anew(self, mutant: Mutant, tests: list[str], report: Path, limit: float) -> int | None:
        """For what is decided while a module is loaded: its tests in a new process."""
        planting.announce(self.root, mutant, self.work)
        environment = {**os.environ, "PERMAFROST_MUTANTS_REPORT": str(report)}
        del environment[VARIABLE]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not engine"]
        command += ["-p", "benchmarks.mutants.session", f"--basetemp={self.work / 'tmp' / 'new'}", *tests]
        try:
            with subprocess.Popen(
                command,
                cwd=self.root,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            ) as process:
                try:
                    return process.wait(limit)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    return None
        finally:
            del os.environ[planting.VARIABLE]


class _Watcher:
    """What became of each test."""

    def __init__(self, report: Path | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self.passed: dict[str, bool] = {}
        self.failed: tuple[str, str] | None = None
        self._report = report
        self._began = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note one phase of a test."""
        if report.when == "call":
            self.passed[report.nodeid] = report.passed
        if report.failed:
            self.passed[report.nodeid] = False
            crash = getattr(report.longrepr, "reprcrash", None)
            self.failed = (report.nodeid, str(crash.message if crash else report.longrepr)[:200])
            if self._report:
                self._report.write_text(json.dumps(self.failed))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """What a fixture of several tests calls, all tests of the file may depend on."""
        before = reach.label
        if fixturedef.scope != "function":
            reach.label = reach.SHARED_SETUP
        try:
            return (yield)
        finally:
            reach.label = before

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """From here on calls are this test's."""
        reach.label = nodeid
        self._began = cpu_seconds()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """What the test took, of this process and its children: others may use the machine, too."""
        self.seconds[nodeid] = cpu_seconds() - self._began


def pytest_configure(config: pytest.Config) -> None:
    """Take the place of pytest's loop where work is described, or report the first failure."""
    if path := os.environ.get(VARIABLE):
        content = json.loads(Path(path).read_text())
        mutants = [Mutant(**one) for one in content["mutants"]]
        config.pluginmanager.register(Session(Path(content["root"]), Path(content["work"]), mutants))
    elif report := os.environ.get("PERMAFROST_MUTANTS_REPORT"):
        config.pluginmanager.register(_Watcher(Path(report)))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A module that can't be loaded any more was noticed, too."""
    path = os.environ.get("PERMAFROST_MUTANTS_REPORT")
    if path and report.failed and not Path(path).exists():
        text = f"does not load: {str(report.longrepr)[-150:]}"
        Path(path).write_text(json.dumps([report.nodeid or "collection", text]))


def _run(items: list[pytest.Item], done: Callable[[], bool]) -> None:
    for number, item in enumerate(items):
        following = items[number + 1] if number + 1 < len(items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if done():
            return
