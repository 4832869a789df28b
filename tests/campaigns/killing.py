"""A campaign on a Dask cluster whose worker, scheduler or client is killed at random moments, again and again."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.plan import Plan
from harness.results.store import Store, join
from tests.campaigns.machines import Machines
from tests.campaigns.sleeping import ATTEMPTS, HOLD
from tests.conftest import REPOSITORY

KINDS = ("worker", "scheduler", "client")
_LIMIT_S = 900.0

CLIENT = """
import sys
from pathlib import Path
from harness.base.layout import Layout
from harness.execution import campaign as module, cluster
from tests.campaigns.sleeping import MEANING
from tests.campaigns.on_a_cluster import campaign, plan_with
from tests.conftest import REPOSITORY

class There:
    address = sys.argv[1]

module.own_meaning = cluster.own_meaning = lambda: MEANING
cluster._CONNECT_S = 5.0
local = Path(sys.argv[2])
layout = Layout(root=REPOSITORY, cache=local.parent / "cache", local=local)
campaign(There, layout, plan_with(int(sys.argv[3])))
"""


class Siege:
    """One plan, as many clients and clusters as it takes, and what was killed."""

    def __init__(self, layout: Layout, plan: Plan, *, seconds: float, workers: int, open_ones: ExitStack) -> None:
        self._layout, self._plan, self._seconds, self._workers = layout, plan, seconds, workers
        self._open = open_ones
        self._log = open_ones.enter_context((layout.local.parent / "clients.log").open("ab"))
        self._clusters = 0
        self.killed: Counter[str] = Counter()
        self._machines = self._cluster()
        self._client = self._start()

    def run(self, kills: int, moments: random.Random, limit_s: float) -> None:
        """Kill so often, then let the campaign come to its end; start what was killed again, as a person would."""
        deadline, kinds, wanted = time.monotonic() + limit_s, list[str](), 3
        while time.monotonic() < deadline:
            time.sleep(moments.uniform(0.05, 0.5))
            if self._client.poll() is not None:
                if self.is_finished():
                    return
                self._client = self._start()
            elif self.killed.total() < kills and self._begun() >= wanted:
                # never before some run has begun since the last; each kind as often as the others
                kinds = kinds or moments.sample(KINDS, len(KINDS))
                self._kill(kinds.pop(), moments)
                wanted = self._begun() + moments.randint(1, 8)
        raise AssertionError(f"it comes to no end: {self._verdicts()}")

    def is_finished(self) -> bool:
        """Whether every cell has its run."""
        return self._verdicts() == {Verdict.OK: len(self._plan.cells)}

    def _begun(self) -> int:
        path = self._layout.local / ATTEMPTS
        return len(path.read_text().split()) if path.is_file() else 0

    def _verdicts(self) -> Counter[Verdict]:
        return Counter(cell.verdict for cell in join(self._plan, Store(self._layout.runs)))

    def _kill(self, kind: str, moments: random.Random) -> None:
        if kind == "client":
            self._client.kill()
            self._client.wait()
        elif kind == "worker":
            self._machines.kill(moments.randrange(self._workers))
            with self._held():
                self._machines.add(seconds=self._seconds)
        else:
            # its workers are left to end by themselves, what they run may still be stored
            self._machines.scheduler.kill()
            with self._held():
                self._machines = self._cluster()
            self._client.wait()
        self.killed[kind] += 1

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Nothing ends meanwhile: on a busy machine the plan would be over before the next kill."""
        hold = self._layout.local / HOLD
        hold.touch()
        yield
        hold.unlink()

    def _cluster(self) -> Machines:
        self._clusters += 1
        folder = self._layout.local.parent / f"cluster-{self._clusters}"
        folder.mkdir()
        machines = Machines(folder)
        self._open.callback(machines.close)
        machines.add(seconds=self._seconds, count=self._workers)
        return machines

    def _start(self) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", CLIENT, self._machines.address, str(self._layout.local)]
        client = subprocess.Popen(
            [*words, str(len(self._plan.cells))],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            cwd=REPOSITORY,
            stdout=self._log,
            stderr=self._log,
        )
        self._open.callback(client.kill)
        return client


def besiege(
    folder: Path,
    plan: Plan,
    *,
    kills: int,
    seed: int,
    seconds: float,
    workers: int = 3,
    limit_s: float = _LIMIT_S,
) -> Counter[str]:
    """Run a plan below a folder while so many kills happen; returns what was killed how often."""
    layout = Layout(root=REPOSITORY, cache=folder / "cache", local=folder / "local")
    layout.local.mkdir()
    with ExitStack() as open_ones:
        siege = Siege(layout, plan, seconds=seconds, workers=workers, open_ones=open_ones)
        siege.run(kills, random.Random(seed), limit_s)
        return siege.killed
