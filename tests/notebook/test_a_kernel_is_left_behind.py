"""A kernel's container ends with its client, with Ctrl-C, and with a harness that had no time to say goodbye."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from tests.notebook.conftest import Cells, Door

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.thorough), signal.SIGTERM, signal.SIGKILL]
)
def test_the_harness_ends_first(
    number: signal.Signals, open_door: Callable[..., Door], kernels: Callable[[], list[str]]
) -> None:
    door = open_door("constant")
    door.process.send_signal(number)
    code = door.process.wait(30)
    assert code == (-number if number == signal.SIGKILL else 0)
    assert kernels() == []


@pytest.mark.thorough
def test_a_job_that_cannot_be_loaded_leaves_a_silent_kernel(
    environment: dict[str, str], kernels: Callable[[], list[str]]
) -> None:
    # read by als_wr's main.py before anything else, and put where no text may hold a NUL
    command = [sys.executable, "-m", "harness", "notebook", "als_wr", "--set", 'blas_kernels="a\\u0000b"']
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "ended before it listened" in done.stderr
    assert "ValueError" in done.stderr
    assert kernels() == []


@pytest.mark.thorough
def test_a_registered_kernel_cannot_be_started_interrupted_or_started_anew(
    environment: dict[str, str],
    kernels: Callable[[], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = [sys.executable, "-m", "harness", "notebook", "constant", "--register"]
    subprocess.run(
        command, env={**environment, "JUPYTER_DATA_DIR": str(tmp_path)}, check=True, capture_output=True
    )
    told = json.loads((tmp_path / "kernels" / "permafrost-constant" / "kernel.json").read_text())
    assert told["display_name"] == "Permafrost: Constant on synthetic"
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    specs = KernelSpecManager(kernel_dirs=[str(tmp_path / "kernels")], ensure_native_kernel=False)
    manager = KernelManager(kernel_name="permafrost-constant", kernel_spec_manager=specs)
    manager.start_kernel(env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.client()
    cell = Cells(client)
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        assert cell("answer = fit_predict(problem); problem.model").text == "0"
        assert cell.interrupt("import time; time.sleep(100)", manager.interrupt_kernel) < 30
        manager.restart_kernel()
        client.wait_for_ready(timeout=120)
        assert cell("'answer' in globals()").text == "False"
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
        manager.cleanup_resources()
    assert kernels() == []
