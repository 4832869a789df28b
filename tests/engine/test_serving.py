"""A served engine: shared while it runs, stopped by the last one out, and never blocked by what died before."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.errors import EngineError, ImageError
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.engine.find import serve_docker, serve_podman
from harness.engine.lease import Lease
from harness.engine.programs import find_program
from harness.engine.service import Service, service_folder
from harness.engine.sockets import silence
from harness.execution.runs import Limits, RunRequest, execute
from tests.engines import ProbeImage, make_probe_image
from tests.private_engine import UNCLOSED, pid_of, private_cache, served, when_running
from tests.runs.helpers import ANSWER

pytestmark = [pytest.mark.engine, pytest.mark.alone, UNCLOSED]

JOIN = """
import sys, time
from pathlib import Path
from harness.engine.find import serve_docker
engine = serve_docker(Path(sys.argv[1]), {})
print(engine.answers(), flush=True)
time.sleep(60)
"""


__all__ = ["private_cache", "served"]


@pytest.fixture
def cache(private_cache: Path) -> Path:
    return private_cache


def test_a_second_harness_joins_and_the_last_one_stops_it(cache: Path) -> None:
    first, second = serve_docker(cache, {}), serve_docker(cache, {})
    assert first and second and first.socket == second.socket and first.facts.served
    first.close()
    assert second.answers(), "the first one out must not take the engine away"
    second.close()
    assert silence(second.socket)


def test_a_harness_killed_with_9_leaves_an_engine_that_is_used_and_stopped(cache: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", JOIN, str(cache)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "True\n"
        process.send_signal(signal.SIGKILL)
    engine = serve_docker(cache, {})
    assert engine is not None and engine.answers()
    engine.close()
    assert silence(engine.socket)


def test_a_stale_process_number_blocks_nothing_and_kills_nobody(cache: Path) -> None:
    folder = service_folder("docker", cache, {})
    with subprocess.Popen(["sleep", "60"]) as bystander:
        for name in ("pid", "engine.pid"):
            (folder / name).write_text(f"{bystander.pid}\n")
        (folder / "engine.sock").touch()
        engine = serve_docker(cache, {})
        assert engine is not None and engine.answers()
        engine.close()
        assert bystander.poll() is None
        bystander.kill()


def test_an_engine_that_cannot_start_says_why(tmp_path: Path) -> None:
    service = Service("false", ["/bin/sh", "-c", "echo the reason; exit 7"], tmp_path)
    with pytest.raises(EngineError, match="ended with code 7") as error:
        Lease(service)
    assert "the reason" in error.value.where


def run_of(image: ProbeImage, folder: Path, program: str) -> RunRequest:
    (folder / "in").mkdir(exist_ok=True)
    limits = Limits(seconds=120, memory_bytes=256 << 20)
    return RunRequest(
        image.name,
        image.image_id,
        folder / "in",
        folder / "work",
        limits,
        entrypoint=image.entrypoint,
        command=(program,),
        **ANSWER,
    )


SLOW = "import time; time.sleep(3); open('/out/predictions.npy', 'w').write('x')"


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGKILL, id="killed"), pytest.param(signal.SIGTERM, id="restarted")]
)
def test_an_engine_lost_mid_run_is_found_again_and_the_run_repeated(
    served: Engine, tmp_path: Path, number: signal.Signals
) -> None:
    image = make_probe_image(served)
    killer = when_running(served, lambda _: os.kill(pid_of(served), number))
    outcome = execute(served, run_of(image, tmp_path, SLOW))
    killer.join()
    assert outcome.verdict is Verdict.OK, outcome.reason
    assert [attempt.verdict for attempt in outcome.attempts] == [Verdict.INFRASTRUCTURE, Verdict.OK]
    assert served.client.api.containers(all=True, filters={"label": "permafrost.run"}) == []
    said = (served.socket.parent / "log.txt").read_text()
    assert "failed to start" not in said, "it waited for a containerd that had died with the other engine"


def test_an_engine_that_does_not_come_back_is_the_machines_fault(served: Engine, tmp_path: Path) -> None:
    image = make_probe_image(served)
    borrowed = Engine(served.socket)
    killer = when_running(served, lambda _: os.kill(pid_of(served), signal.SIGKILL))
    outcome = execute(borrowed, run_of(image, tmp_path, SLOW), patience=0.5)
    killer.join()
    borrowed.close()
    assert outcome.verdict is Verdict.INFRASTRUCTURE and "did not come back" in outcome.reason
    served.renew()


def test_a_container_stopped_by_someone_else_is_not_the_methods_fault(served: Engine, tmp_path: Path) -> None:
    image = make_probe_image(served)
    api = served.client.api

    killer = when_running(served, api.kill)
    outcome = execute(served, run_of(image, tmp_path, SLOW))
    killer.join()
    assert outcome.verdict is Verdict.OK, outcome.reason
    assert "stopped through the engine" in outcome.attempts[0].reason


def test_an_image_that_changed_is_refused(served: Engine, tmp_path: Path) -> None:
    image = make_probe_image(served)
    planned = ProbeImage(f"localhost/{image.name}:latest", "sha256:" + "1" * 64, image.entrypoint)
    with pytest.raises(ImageError, match=f"its name now stands for {image.image_id}"):
        execute(served, run_of(planned, tmp_path, SLOW))
    assert list((tmp_path / "work").glob("harness-*/run-*")) == []


# The machine's own files, laid over /etc in a mount name space that ends with the process.
FOREIGN = """
import os, sys
from pathlib import Path
from harness.engine.find import serve_docker
engine = serve_docker(Path(sys.argv[1]), {})
print(engine.answers(), engine.api.info()["DockerRootDir"], flush=True)
engine.close()
"""


@pytest.mark.parametrize(
    "foreign",
    [
        '{"hosts": ["unix:///run/somewhere-else.sock"]}',
        '{"data-root": "/var/lib/somewhere-else"}',
        '{"bridge": "docker9"}',
        "this is not JSON",
    ],
)
def test_the_machines_own_configuration_does_not_matter(cache: Path, tmp_path: Path, foreign: str) -> None:
    unshare = find_program("unshare")
    if unshare is None or subprocess.run([unshare, "--mount", "true"], capture_output=True).returncode:
        pytest.skip("needs mount name spaces")
    (tmp_path / "daemon.json").write_text(foreign)
    script = 'mount -t tmpfs none /etc/docker && cp "$1" /etc/docker/daemon.json && shift && exec "$@"'
    Path("/etc/docker").mkdir(exist_ok=True)
    python = [sys.executable, "-c", FOREIGN, str(tmp_path / "cache")]
    done = subprocess.run(
        [unshare, "--mount", "sh", "-c", script, "sh", str(tmp_path / "daemon.json"), *python],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", str(tmp_path / "cache" / "engine" / "docker")]
    shutil.rmtree(service_folder("docker", tmp_path / "cache", {}).parent)


def test_podman_is_served_with_what_it_needs_here(tmp_path: Path, podman_engine: Engine) -> None:
    engine = serve_podman(tmp_path, {})
    assert engine is not None
    with engine:
        assert engine.name == "podman"
    assert silence(engine.socket)
    shutil.rmtree(engine.socket.parent.parent)
