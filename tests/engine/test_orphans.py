"""What a killed harness leaves running is found and removed; what a living one runs is never touched."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from harness.base.vocabulary import Verdict
from harness.engine import Engine, find_orphans, remove_orphans
from harness.engine.probe import CONTROL_IMAGE, CONTROL_LABEL, control_run
from harness.execution.runs import Limits, RunRequest, execute
from tests.engines import ProbeImage
from tests.runs.helpers import ANSWER

pytestmark = [pytest.mark.engine, pytest.mark.alone]

RUN = """
import pickle, sys
from pathlib import Path
from harness.engine import Engine
from harness.execution.runs import execute
engine = Engine(Path(sys.argv[1]))
execute(engine, pickle.loads(bytes.fromhex(sys.argv[2])))
"""


def long_run(image: ProbeImage, folder: Path, seconds: float) -> RunRequest:
    (folder / "in").mkdir(exist_ok=True)
    program = f"import time; time.sleep({seconds}); open('/out/predictions.npy', 'w').write('x')"
    limits = Limits(seconds=100, memory_bytes=64 << 20)
    return RunRequest(
        image.name,
        image.image_id,
        folder / "in",
        folder / "work",
        limits,
        entrypoint=image.entrypoint,
        command=(program,),
        labels={"permafrost.test": folder.name},
        **ANSWER,
    )


def running(engine: Engine, folder: Path) -> list[str]:
    found = engine.client.api.containers(all=True, filters={"label": f"permafrost.test={folder.name}"})
    return [entry["Id"] for entry in found if entry["State"] == "running"]


def wait_for(engine: Engine, folder: Path) -> str:
    for _ in range(200):
        if found := running(engine, folder):
            return found[0]
        time.sleep(0.05)
    raise AssertionError("no container came up")


def test_only_the_orphan_is_removed(any_engine: Engine, probe_image: ProbeImage, tmp_path: Path) -> None:
    import pickle

    mine, theirs = tmp_path / f"mine-{any_engine.name}", tmp_path / f"theirs-{any_engine.name}"
    mine.mkdir()
    theirs.mkdir()
    request = pickle.dumps(long_run(probe_image, theirs, 60)).hex()
    with subprocess.Popen([sys.executable, "-c", RUN, str(any_engine.socket), request]) as harness:
        orphan = wait_for(any_engine, theirs)
        assert orphan not in {found.container for found in find_orphans(any_engine)}, "its harness still lives"
        harness.send_signal(signal.SIGKILL)
    results = []
    run = threading.Thread(target=lambda: results.append(execute(any_engine, long_run(probe_image, mine, 3))))
    run.start()
    living = wait_for(any_engine, mine)
    removed = {found.container for found in remove_orphans(any_engine)}
    assert orphan in removed and living not in removed
    assert running(any_engine, theirs) == [] and find_orphans(any_engine) == []
    run.join()
    assert results[0].verdict is Verdict.OK


def test_the_control_run_leaves_nothing(any_engine: Engine) -> None:
    control = control_run(any_engine)
    assert control.ok, control.detail
    assert control.memory_limit_kept is not False or not any_engine.facts.memory_limit_enforced
    assert any_engine.client.api.images(CONTROL_IMAGE) == []
    assert any_engine.client.api.containers(all=True, filters={"label": CONTROL_LABEL}) == []
