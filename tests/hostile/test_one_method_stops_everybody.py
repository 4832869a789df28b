"""One hostile method gets its own verdict; what runs beside it and after it neither ends nor waits for it."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.base.machine import room_on
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.campaign import Choices
from harness.execution.runs import Limits, Outcome, RunRequest, execute
from harness.planning.plan import Plan
from harness.results.store import Store, join
from tests.campaigns.conftest import probe_plan
from tests.engines import ProbeImage
from tests.fabricate import run_plan
from tests.runs.helpers import ANSWER

pytestmark = [pytest.mark.engine, pytest.mark.alone]

MIB = 1 << 20
HONEST = "import time; time.sleep(4); open('/out/predictions.npy', 'w').write('x')"
# the disk is full within one look; each file is within the limit and gone at once
FAST = """
import os, time
time.sleep(1)
held = []
try:
    for number in range(100):
        held.append(os.open(f'/out/{number}', os.O_CREAT | os.O_RDWR))
        os.unlink(f'/out/{number}')
        os.posix_fallocate(held[-1], 0, 31 << 20)
except OSError:
    pass
time.sleep(60)
"""
# files that are open nowhere, but mapped
MAPPED = """
import mmap, os, time
held = []
for number in range(3):
    handle = os.open(f'/out/{number}', os.O_CREAT | os.O_RDWR)
    os.truncate(handle, 20 << 20)
    held.append(mmap.mmap(handle, 20 << 20))
    os.close(handle)
    os.unlink(f'/out/{number}')
time.sleep(60)
"""


def _run(engine: Engine, image: ProbeImage, folder: Path, name: str, program: str) -> Outcome:
    inputs = folder / f"in-{name}"
    inputs.mkdir()
    limits = Limits(seconds=90, memory_bytes=128 * MIB, output_bytes=32 * MIB)
    return execute(
        engine,
        RunRequest(
            image.name,
            image.image_id,
            inputs,
            folder / "work",
            limits,
            entrypoint=image.entrypoint,
            command=(program,),
            **ANSWER,
        ),
    )


def test_who_fills_the_disk_is_blamed_and_not_his_neighbours(
    any_engine: Engine, probe_image: ProbeImage, small_disk: Path
) -> None:
    with ThreadPoolExecutor(3) as pool:
        names = {"fast": FAST, "first": HONEST, "second": HONEST}
        runs = {
            name: pool.submit(_run, any_engine, probe_image, small_disk, name, program)
            for name, program in names.items()
        }
        ended = {name: run.result() for name, run in runs.items()}
    assert ended["fast"].verdict is Verdict.INVALID, ended["fast"].reason
    assert "in deleted files that it holds open" in ended["fast"].reason
    for name in ("first", "second"):
        assert ended[name].verdict is Verdict.OK, ended[name].reason
    assert room_on(small_disk) > 500 * MIB, "with its container, the room comes back"


def test_deleted_files_that_are_only_mapped_count(
    any_engine: Engine, probe_image: ProbeImage, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may look at what a process has mapped")
    ended = _run(any_engine, probe_image, tmp_path, "mapped", MAPPED)
    assert ended.verdict is Verdict.INVALID and "deleted files" in ended.reason, ended.reason


def test_a_disk_that_others_fill_is_no_runs_fault(
    any_engine: Engine, probe_image: ProbeImage, small_disk: Path
) -> None:
    with (small_disk / "others").open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, room_on(small_disk) + 10 * MIB)
        ended = _run(any_engine, probe_image, small_disk, "long", HONEST.replace("sleep(4)", "sleep(30)"))
    assert ended.verdict is Verdict.INFRASTRUCTURE and "must stay free" in ended.reason, ended.reason
    assert ended.wall_s < 20


def test_a_campaign_goes_on_after_every_answer(probe_layout: Layout, engine: Engine) -> None:
    """Answers that harnesses have stumbled over come first; the honest runs behind them all end well."""
    npy = "data = open('/out/predictions.npy', 'rb').read(); head = {!r}; "
    npy += "open('/out/predictions.npy', 'wb').write(data[:8] + len(head).to_bytes(2, 'little') + head)"
    said = "{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}"
    hostile = [
        npy.format(said.format("<f8", "0x" + "f" * 4000).encode()),
        npy.format(said.format("m8[s/0]", "2").encode()),
        npy.format(said.format("<f8", "9" * 4000).encode()),
        """open('/out/method.json', 'w').write('{"protocol": ' + '1' * 5000 + '}')""",
        "os.mkdir('/out/a'); os.chmod('/out/a', 0); os.chmod('/out', 0)",
    ]
    cells = [probe_plan(probe_layout, 1, last_words=words).cells[0] for words in hostile]
    plan = Plan("hostile", (*cells, *probe_plan(probe_layout, 2, seconds=0.1).cells))
    run_plan(probe_layout, plan, engine, choices=Choices(workers=2), stop=threading.Event())
    verdicts = [cell.verdict for cell in join(plan, Store(probe_layout.runs))]
    assert verdicts == [Verdict.INVALID] * 4 + [Verdict.OK] * 3
    assert list((probe_layout.local / "work").glob("harness-*/run-*")) == []
