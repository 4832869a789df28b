"""Throughput of tiny containers: the harness against a loop of plain `docker run` with the same limits.

Both run the same number of containers at the same concurrency, in alternating rounds so that other load on the
machine hits both alike. Also measured: the CPU the harness process itself spends per run. Wanted: a throughput
ratio of at least 0.95 and at most 30 ms of CPU per run.

    python -m benchmarks.throughput [--runs 20] [--rounds 7] [--workers 2] [--engine docker] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.base.layout import find_layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine, find_engine
from harness.engine.probe import exiting_archive, import_tree
from harness.engine.walls import SYSTEM_CALLS, walls
from harness.execution.runs import Limits, RunRequest, execute
from harness.execution.runs.container import shown_mounts, write_shown_files

MEMORY = 256 << 20
WANTED_RATIO, WANTED_CPU_MS = 0.95, 30.0


def harness_run(engine: Engine, image_id: str, folder: Path) -> Callable[[], None]:
    """One run through the harness; nothing is required of its output."""
    inputs = folder / "in"
    inputs.mkdir()
    limits = Limits(seconds=60, memory_bytes=MEMORY)
    request = RunRequest("tiny", image_id, inputs, folder / "work", limits, entrypoint=("/end",), required=())

    def run() -> None:
        outcome = execute(engine, request)
        outcome.discard()
        if outcome.verdict is not Verdict.OK:
            raise SystemExit(f"a tiny container failed: {outcome.reason}")

    return run


def plain_run(engine: Engine, image_id: str, folder: Path) -> Callable[[], None]:
    """The same container by the engine's own command, with the same flags."""
    program = shutil.which(engine.name)
    if not program:
        raise SystemExit(f"the command `{engine.name}` is needed for the comparison")
    out = folder / "plain-out"
    out.mkdir(exist_ok=True)
    shown = folder / "plain-shown"
    write_shown_files(shown, Limits(seconds=60, memory_bytes=MEMORY))
    flags = "--rm --network=none --read-only --cap-drop=ALL --user=1900000000:1900000000 "
    flags += f"--security-opt=no-new-privileges --security-opt=seccomp={SYSTEM_CALLS} "
    flags += "--cgroupns=private --ipc=private --pids-limit=256 --cpus=1 --log-driver=none --hostname=permafrost "
    flags += f"--memory={MEMORY} --memory-swap={MEMORY} --shm-size={64 << 20} "
    flags += "--tmpfs=/tmp:rw,nosuid,nodev,noexec,mode=1777,size=268435456 "
    flags += f"--ulimit=nofile=4096:4096 --ulimit=fsize={1 << 30}:{1 << 30} --ulimit=core=0:0 "
    flags += (
        "--ulimit=nproc=288:288 --ulimit=sigpending=4096:4096 --ulimit=memlock=65536:65536 --ulimit=msgqueue=0:0"
    )
    mounts = [
        f"--mount=type=bind,source={folder / 'in'},target=/in,readonly",
        f"--mount=type=bind,source={out},target=/out",
        *(f"--mount=type=bind,source={one.source},target={one.target},readonly" for one in shown_mounts(shown)),
    ]
    if engine.name == "podman":
        # what is hidden can be said to this command alone; Docker's hides its usual ten paths here
        flags += "".join(
            f" --security-opt={one}" for one in walls(engine.facts)["SecurityOpt"] if one[:4] == "mask"
        )
    remote = ["--remote", f"--url={engine.address}"] if engine.name == "podman" else [f"--host={engine.address}"]
    command = [program, *remote, "run", *flags.split(), *mounts, "--entrypoint=/end", image_id]

    def run() -> None:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ})

    return run


def rate(run: Callable[[], None], *, runs: int, workers: int) -> float:
    """Containers per second."""
    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(run) for _ in range(runs)]:
            future.result()
    return runs / (time.perf_counter() - began)


def measure(engine: Engine, *, runs: int, rounds: int, workers: int) -> dict[str, float]:
    """Import the tiny image, compare, remove it."""
    image_id = import_tree(engine, exiting_archive(), "permafrost/tiny")
    try:
        with tempfile.TemporaryDirectory() as name:
            ours, plain = harness_run(engine, image_id, Path(name)), plain_run(engine, image_id, Path(name))
            return compare(ours, plain, runs=runs, rounds=rounds, workers=workers)
    finally:
        engine.api.remove_image(image_id, force=True)


def compare(
    ours: Callable[[], None], plain: Callable[[], None], *, runs: int, rounds: int, workers: int
) -> dict[str, float]:
    """Alternating rounds; the median of the ratios of neighbouring rounds."""
    for warm_up in (ours, plain):
        rate(warm_up, runs=2 * workers, workers=workers)
    rates: list[tuple[float, float]] = []
    spent = 0.0
    for _ in range(rounds):
        before = time.process_time()
        mine = rate(ours, runs=runs, workers=workers)
        spent += time.process_time() - before
        rates.append((mine, rate(plain, runs=runs, workers=workers)))
    return {
        "harness_per_s": statistics.median(mine for mine, _ in rates),
        "plain_per_s": statistics.median(other for _, other in rates),
        "ratio": statistics.median(mine / other for mine, other in rates),
        "harness_cpu_ms_per_run": 1e3 * spent / (rounds * runs),
    }


def main() -> None:
    """Measure, print, and exit with 1 where a wish is not met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engine", choices=["docker", "podman"])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with find_engine(find_layout(), only=chosen.engine) as engine:
        figures = measure(engine, runs=chosen.runs, rounds=chosen.rounds, workers=chosen.workers)
        name = f"{engine.name} {engine.facts.version}"
    good = figures["ratio"] >= WANTED_RATIO and figures["harness_cpu_ms_per_run"] <= WANTED_CPU_MS
    if chosen.json:
        print(json.dumps({"engine": name, "workers": chosen.workers, **figures, "good": good}))
    else:
        print(f"{name}, {chosen.workers} workers, {chosen.rounds} rounds of {chosen.runs} containers")
        print(f"  harness      {figures['harness_per_s']:.2f} per s")
        print(f"  plain run    {figures['plain_per_s']:.2f} per s")
        print(f"  ratio        {figures['ratio']:.3f} (wanted: at least {WANTED_RATIO})")
        spent = figures["harness_cpu_ms_per_run"]
        print(f"  harness CPU  {spent:.1f} ms per run (wanted: at most {WANTED_CPU_MS:.0f})")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
