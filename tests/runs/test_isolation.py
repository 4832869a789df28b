"""What a method must not be able to do, tried from inside a real container on each engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.base.vocabulary import Verdict
from tests.runs.helpers import GOOD, Bench

pytestmark = pytest.mark.engine

ATTEMPTS = """
import ctypes, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
result = {}
def attempt(name, action):
    try:
        result[name] = ["did it", repr(action())]
    except OSError as error:
        result[name] = ["refused", error.strerror or str(error)]
def call(number):
    if number < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
attempt("connect", lambda: socket.create_connection(("192.0.2.1", 80), 2))
attempt("name", lambda: socket.getaddrinfo("example.org", 80))
attempt("raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("write /in", lambda: open("/in/x", "w"))
attempt("change /in", lambda: os.chmod("/in/job.json", 0o777))
attempt("remove input", lambda: os.unlink("/in/job.json"))
for place in ("/x", "/etc/x", "/usr/x", "/proc/sys/kernel/hostname", "/sys/x", "/dev/x"):
    attempt("write " + place, lambda: open(place, "w"))
attempt("become root", lambda: os.setuid(0))
attempt("become another", lambda: os.setuid(1000))
attempt("chown", lambda: os.chown("/out", 0, 0))
attempt("mount", lambda: call(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)))
attempt("own mounts", lambda: call(libc.unshare(0x00020000)))
attempt("chroot", lambda: os.chroot("/tmp"))
attempt("device", lambda: os.mknod("/tmp/sda", 0o060666, os.makedev(8, 0)))
attempt("kernel memory", lambda: open("/proc/kcore", "rb").read(1))
attempt("hostname", lambda: socket.sethostname("mine"))
with open("/tmp/p", "w") as file:
    file.write("#!/bin/sh")
os.chmod("/tmp/p", 0o755)
attempt("execute scratch", lambda: os.execv("/tmp/p", ["p"]))
result["interfaces"] = [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line]
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
result["status"] = {key: value.split() for key, value in status.items()}
result["processes"] = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
result["seen"] = {name: os.path.exists(name) for name in WANTED}
print(json.dumps(result))
"""


def test_nothing_reaches_outside(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "work" / "another-run" / "out"
    other.mkdir(parents=True)
    (other / "predictions.npy").write_bytes(b"secret")
    sockets = [str(bench.engine.socket), "/var/run/docker.sock", "/run/podman/podman.sock"]
    wanted = [str(other / "predictions.npy"), str(tmp_path), "/home/user", "/boot", *sockets]
    outcome = bench.run(GOOD + ATTEMPTS.replace("WANTED", repr(wanted)), log_bytes=1 << 20)
    assert outcome.verdict is Verdict.OK, (outcome.reason, outcome.log.read_text())
    seen = json.loads(outcome.log.read_text())
    done = {name: result for name, result in seen.items() if isinstance(result, list) and result[:1] == ["did it"]}
    assert not done
    assert seen["interfaces"] == ["lo"]
    assert not any(seen["seen"].values()), seen["seen"]
    status = seen["status"]
    assert len({*status["Uid"], *status["Gid"]}) == 1 and status["Uid"] != ["65534"] * 4
    assert status["CapEff"] == status["CapPrm"] == status["CapBnd"] == ["0000000000000000"]
    assert int(status["Uid"][0]) > 1000
    assert status["NoNewPrivs"] == ["1"] and status["Seccomp"] == ["2"]
    assert len(seen["processes"]) <= 2, "only the init program and the method itself"
    assert (tmp_path / "in" / "job.json").read_text() == '{"protocol": 1}'


def test_a_later_run_sees_nothing_of_an_earlier_one(bench: Bench) -> None:
    first = bench.run(GOOD + "open('/tmp/note', 'w').write('x'); open('/dev/shm/note', 'w').write('x')")
    second = bench.run(GOOD + "print(os.listdir('/tmp'), os.listdir('/dev/shm'), os.listdir('/out'))")
    assert first.ok and second.ok, (first.reason, second.reason)
    assert second.log.read_text() == "[] [] ['predictions.npy']\n"
    assert first.folder != second.folder


def test_a_link_in_the_output_leads_nowhere(bench: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    program = GOOD + (
        f"os.symlink({str(secret)!r}, '/out/method.json')\n"
        "os.symlink('/', '/out/trace')\n"
        "os.symlink('../../in/job.json', '/out/validation.npy')\n"
    )
    outcome = bench.run(program)
    assert outcome.verdict is Verdict.INVALID and "symbolic link" in outcome.reason
    assert [path.name for path in outcome.out_folder.iterdir()] == ["predictions.npy"]
    assert secret.read_text() == "secret" and Path("/").exists()
