"""A plug-in of pytest: collects once, notes which test reaches which function, then tests one mutant per fork.

What the tests import is loaded and collected once, so that a mutant costs the tests that reach it and little more.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from benchmarks.mutants import planting
from benchmarks.mutants.changes import Mutant
from benchmarks.mutants.groups import folders_of

# The description of the work, as `Work.to_json` writes it.
VARIABLE = "PERMAFROST_MUTANTS"
# seconds of tests, as they took without a mutant, that one mutant may cost
_MOST_SECONDS = 40.0
# seconds, however slow the machine is
_LONGEST = 300.0
_MEMORY = 12 << 30
_FILE = 2 << 30
_SHARED_SETUP = "*"


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


@dataclass(frozen=True)
class Reach:
    """What one test took, and the functions it called: by module and name, which stay when lines move."""

    test: str
    seconds: float
    functions: frozenset[tuple[str, str]]


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
                _forked(partial(self._learn, session, own, kept), 1800.0)
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
        shared = called.get(_SHARED_SETUP, set())
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
                _forked(partial(self._try, session, [items[test]], None, report), _LONGEST)
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
        chosen = [one for one in _chosen(near, self.root, mutant, pairs) if self._passes.get(one.test, True)]
        chosen.sort(key=lambda reach: reach.seconds)
        affordable: list[Reach] = []
        total = 0.0
        for reach in chosen:
            total += reach.seconds
            if affordable and total > _MOST_SECONDS:
                break
            affordable.append(reach)
        if not affordable:
            return Outcome(mutant, "", "no test reaches it", 0, 0)
        limit = min(60.0 + 8 * sum(reach.seconds for reach in affordable), _LONGEST)
        tests = [reach.test for reach in affordable]
        report = self.work / "report.json"
        report.unlink(missing_ok=True)
        if pairs is None:
            ended = self._start_anew(mutant, tests, report, limit)
        else:
            files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
            tests.sort(key=lambda test: files.index(test.partition("::")[0]))
            ended = _forked(lambda: self._try(session, [items[test] for test in tests], mutant, report), limit)
        killed_by, because = "", ""
        if report.exists():
            killed_by, because = json.loads(report.read_text())
        elif ended != 0:
            killed_by, because = ("time", "took too long") if ended is None else ("crash", f"ended with {ended}")
        return Outcome(mutant, killed_by, because, len(tests), len(chosen) - len(affordable))

    def _try(self, session: pytest.Session, items: list[pytest.Item], mutant: Mutant | None, report: Path) -> None:
        _limit()
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
        global _label
        before, _label = _label, _SHARED_SETUP if fixturedef.scope != "function" else _label
        try:
            return (yield)
        finally:
            _label = before

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """From here on calls are this test's."""
        global _label
        _label = nodeid
        self._began = _cpu_seconds()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """What the test took, of this process and its children: others may use the machine, too."""
        self.seconds[nodeid] = _cpu_seconds() - self._began


_label = ""


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


def follow(root: Path, trace: Path) -> None:
    """Append every function of ours that is called from here on, once per test."""
    prefixes = (f"{root}/harness/", f"{root}/methods/_sdk/")
    handle = os.open(trace, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seen: set[tuple[str, CodeType]] = set()

    def called(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(prefixes):
            return
        label = _label or os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        if (label, code) not in seen:
            seen.add((label, code))
            line = f"{label}\t{code.co_filename[len(str(root)) + 1 :]}\t{code.co_qualname}\n"
            os.write(handle, line.encode())

    sys.settrace(called)
    threading.settrace(called)


def _chosen(
    reaches: Mapping[str, list[Reach]],
    root: Path,
    mutant: Mutant,
    pairs: list[tuple[CodeType, CodeType]] | None,
) -> Iterator[Reach]:
    """The tests that can notice: those that call the function; where it is kept or loaded once, those near it."""
    names = {(mutant.module, one.co_qualname) for one, _ in pairs or ()}
    text = (root / mutant.module).read_text(encoding="utf-8").splitlines()
    outer = min((one.co_firstlineno for one, _ in pairs or ()), default=0)
    kept = outer and any(
        "cache" in line for line in text[outer - 1 : outer + 2] if line.startswith(("@", "    @"))
    )
    whole = pairs is None or bool(kept)
    exact = [one for tests in reaches.values() for one in tests if one.functions & names]
    if not whole:
        yield from exact
        return
    dotted = mutant.module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    # who builds a class or reads a table calls no function: a test file that imports from the module may notice
    importing = {name for name in reaches if _imports((root / name).read_text(encoding="utf-8"), dotted)}
    near = [
        one
        for name, tests in reaches.items()
        for one in tests
        if name in importing or mutant.module in {file for file, _ in one.functions}
    ]
    if near:
        yield from near
        return
    # a module without functions: whatever reaches a module that imports it
    users = {
        path.relative_to(root).as_posix()
        for path in (root / "harness").rglob("*.py")
        if _imports(path.read_text(encoding="utf-8"), dotted)
    }
    yield from (one for tests in reaches.values() for one in tests if users & {f for f, _ in one.functions})


def _imports(text: str, dotted: str) -> bool:
    """Whether a text of Python imports a module, or anything from it."""
    package, _, name = dotted.rpartition(".")
    statements = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.ImportFrom)]
    names = {alias.name for one in statements if one.module == package for alias in one.names}
    return name in names or any(one.module == dotted for one in statements)


def _run(items: list[pytest.Item], done: Callable[[], bool]) -> None:
    for number, item in enumerate(items):
        following = items[number + 1] if number + 1 < len(items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if done():
            return


def _forked(work: Callable[[], None], limit: float) -> int | None:
    """How a child ended that did this work; None where it took too long."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(quiet, handle)
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + limit
    ended = None
    while ended is None and time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ended = os.waitstatus_to_exitcode(status)
        else:
            time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if ended is None:
        os.waitpid(pid, 0)
    return ended


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE, _FILE))
