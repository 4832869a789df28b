"""What a campaign tells while it runs, to whoever sees its folder of results, and how it is asked to end.

Its bulletin is a small file in the folder of its process, whose lock says whether the process is still there. No
result rests on it: a bulletin that can't be written stops nothing.
"""

from __future__ import annotations

import logging
import math
import os
import secrets
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from harness.base.errors import CorruptData, UsageError
from harness.base.files import read_json, write_atomic
from harness.base.heartbeat import duration
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.base.ownership import is_owned, own_folder, owner_of
from harness.base.plurals import counted
from harness.base.vocabulary import Verdict

log = logging.getLogger(__name__)

_PREFIX, _SUFFIX, _WISH = "campaign-", ".json", ".wish"
_TELL_S, _HEAR_S = 2.0, 0.5


class Wish(StrEnum):
    """How a campaign is asked to end."""

    # nothing more begins; what runs is finished
    DRAIN = "drain"
    # what runs is stopped too, as by Ctrl-C
    STOP = "stop"


class Underway(Strict):
    """A run that has begun and not ended."""

    label: str
    host: str
    seconds: float


class IllWorker(Strict):
    """A worker that is given nothing more, and why."""

    host: str
    worker: str
    reason: str

    def text(self) -> str:
        """For a person."""
        return f"worker {self.worker} is given nothing more: {self.reason}"


class Bulletin(Strict):
    """A campaign as it told of itself last. Times are spans, so that no two clocks are compared."""

    name: str
    plan: str
    # where its runs are made: "local", or what `--on` named
    on: str
    host: str
    process: int
    seconds: float
    runs: int
    # by verdict
    ended: dict[str, int]
    # by host
    nodes: dict[str, int]
    underway: tuple[Underway, ...]
    ill: tuple[IllWorker, ...]
    lost: int
    seconds_left: float | None
    wish: Wish | None

    def text(self) -> str:
        """A few lines for a person."""
        done = sum(self.ended.values())
        left = f", about {duration(self.seconds_left)} left" if self.seconds_left is not None else ""
        on = "" if self.on == "local" else f" on {self.on}"
        head = f"{self.name}: {self.plan}{on}, by process {self.process} of {self.host}"
        lines = [f"{head}: {done} of {counted(self.runs, 'run')} in {duration(self.seconds)}{left}"]
        if self.wish is not None:
            lines.append("  asked to end: " + ("what runs is finished" if self.wish is Wish.DRAIN else "at once"))
        counts = [f"{count} {verdict}" for verdict, count in sorted(self.ended.items())]
        if self.lost:
            counts.append(f"{self.lost} lost with their worker")
        if counts:
            lines.append(f"  {', '.join(counts)}")
        for host in sorted({*self.nodes, *(one.host for one in self.underway), *(one.host for one in self.ill)}):
            mine = [one for one in self.underway if one.host == host]
            lines.append(f"  {host}: {len(mine)} at work, {self.nodes.get(host, 0)} ended")
            lines += [f"    {one.label} ({duration(one.seconds)})" for one in mine]
            lines += [f"    {one.text()}" for one in self.ill if one.host == host]
        return "\n".join(lines)


class Tally:
    """What has become of a campaign's runs so far, counted from any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._began = time.monotonic()
        # no list of the runs: there may be a million
        self._runs, self._known, self._seconds = 0, 0, 0.0
        self._spent = 0.0
        self._ended: Counter[str] = Counter()
        self._nodes: Counter[str] = Counter()
        self._underway: dict[str, tuple[str, str, float]] = {}
        self._ill: list[IllWorker] = []
        self._lost = 0

    def expect(self, seconds: Iterable[float | None]) -> None:
        """The runs to come: how long each is expected to take, None or no number where that is not known."""
        for one in seconds:
            self._runs += 1
            if one is not None and not math.isnan(one):
                self._known += 1
                self._seconds += one

    def begun(self, key: str, label: str, host: str = "") -> None:
        """A run began on a host, which is this machine where none is named. Said again, nothing changes."""
        host = host or socket.gethostname()
        with self._guard:
            before = self._underway.get(key)
            if before is None or before[1] != host:
                self._underway[key] = (label, host, time.monotonic())

    def ended(self, key: str, verdict: Verdict, host: str = "", *, expected: float | None = None) -> None:
        """A run has its verdict. `expected` is the time that was expected of it."""
        with self._guard:
            self._underway.pop(key, None)
            self._ended[str(verdict)] += 1
            self._nodes[host or socket.gethostname()] += 1
            self._spent += expected or 0.0

    def left(self, key: str, *, lost: bool = False) -> None:
        """A run will have no verdict from where it was: it was given back, or its worker was lost."""
        with self._guard:
            self._underway.pop(key, None)
            self._lost += lost

    def is_ill(self, worker: IllWorker) -> None:
        """A worker is given nothing more."""
        with self._guard:
            self._ill.append(worker)

    def bulletin(self, name: str, plan: str, on: str, wish: Wish | None) -> Bulletin:
        """All of it, now."""
        with self._guard:
            now = time.monotonic()
            return Bulletin(
                name=name,
                plan=plan,
                on=on,
                host=socket.gethostname(),
                process=os.getpid(),
                seconds=now - self._began,
                runs=self._runs,
                ended=dict(self._ended),
                nodes=dict(self._nodes),
                underway=tuple(
                    Underway(label=label, host=host, seconds=now - since)
                    for label, host, since in self._underway.values()
                ),
                ill=tuple(self._ill),
                lost=self._lost,
                seconds_left=self._left(now - self._began),
                wish=wish,
            )

    def _left(self, seconds: float) -> float | None:
        """The seconds to come if all goes on as in these, by expected time or else by number; None at first."""
        done, all_of_it = self._spent, self._seconds
        if self._known < self._runs:
            done, all_of_it = float(sum(self._ended.values())), float(self._runs)
        return max(0.0, all_of_it - done) * seconds / done if done else None


@contextmanager
def telling(
    layout: Layout, tally: Tally, *, plan: str, on: str, enough: threading.Event, stop: threading.Event
) -> Iterator[None]:
    """Tell of a campaign until the block ends; set `enough` or `stop` when somebody asks for it."""
    name = secrets.token_hex(3)
    file = own_folder(layout.local / "work") / f"{_PREFIX}{name}{_SUFFIX}"
    wish = file.with_suffix(_WISH)
    over = threading.Event()

    def tell() -> None:
        told = 0.0
        while not over.wait(_HEAR_S):
            asked = _asked(wish)
            if asked is not None:
                (enough if asked is Wish.DRAIN else stop).set()
            if time.monotonic() - told < _TELL_S:
                continue
            told = time.monotonic()
            try:
                write_atomic(file, tally.bulletin(name, plan, on, asked).model_dump_json())
            except OSError as error:
                log.warning("this campaign can't tell of itself: %s", error)

    teller = threading.Thread(target=tell, name="bulletin", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        file.unlink(missing_ok=True)
        wish.unlink(missing_ok=True)


def _asked(wish: Path) -> Wish | None:
    try:
        return Wish(wish.read_text(encoding="utf-8"))
    # whatever the folder answers: half a second later it is asked again
    except (OSError, ValueError):
        return None


def bulletins(layout: Layout, name: str = "") -> dict[Path, Bulletin]:
    """The campaigns whose processes may be there, by the files in which they tell of themselves.

    One that can't be read, as of another version of the harness, is left out with a warning; that of `name` is an
    error.
    """
    found = {}
    for path in sorted((layout.local / "work").glob(f"*/{_PREFIX}*{_SUFFIX}")):
        if not is_owned(Path(owner_of(path.parent))):
            continue
        content = read_json(path)
        if content is None and not path.exists():
            continue
        try:
            found[path] = Bulletin.model_validate(content)
        except ValidationError as error:
            unreadable = CorruptData(
                f"this is not what a campaign tells: {error.errors()[0]['msg']}",
                where=str(path),
                todo="it may be of another version of the harness, which can stop it",
            )
            if path.name == f"{_PREFIX}{name}{_SUFFIX}":
                raise unreadable from None
            _warn(f"warning: a campaign is left out: {unreadable}")
    return found


@cache
def _warn(text: str) -> None:
    """Once: who watches campaigns looks again and again."""
    log.warning(text)


def ask_to_end(layout: Layout, name: str, wish: Wish) -> Bulletin:
    """Ask a campaign to end, by its name; without a name the only one. It hears of it within a second."""
    known = bulletins(layout, name)
    chosen = [path for path, one in known.items() if name in ("", one.name)]
    if len(chosen) != 1:
        names = ", ".join(f"{one.name} ({one.plan})" for one in known.values())
        several = f"{counted(len(known), 'campaign')} are at work here" if known else "no campaign is at work here"
        what = f"no campaign is called {name}" if name else several
        todo = (
            f"name one: {names}" if known else "nothing is to be stopped: harness status --watch shows what runs"
        )
        raise UsageError(what, where=str(layout.local), todo=todo)
    (path,) = chosen
    write_atomic(path.with_suffix(_WISH), str(wish))
    return known[path]
