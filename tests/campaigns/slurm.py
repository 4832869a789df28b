"""A real Slurm of the tests' own: a controller, two nodes and a munge, as processes that end with it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue")
_WAIT_S = 60.0

_CONFIGURATION = """
ClusterName=permafrost
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
SlurmdParameters=config_overrides
MpiDefault=none
KillWait=1
OverTimeLimit=0
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=8000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=8000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing_programs() -> list[str]:
    """What a Slurm would take that is not on this machine."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


class Slurm:
    """Slurm with two nodes of two processors each. Commands find it by `environment`."""

    def __init__(self, folder: Path) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._log = (folder / "slurm.log").open("ab")
        configuration = folder / "slurm.conf"
        host = socket.gethostname().partition(".")[0]
        configuration.write_text(_CONFIGURATION.format(folder=folder, host=host, ports=_free_ports(3)))
        for name in ("state", "spool-n1", "spool-n2"):
            (folder / name).mkdir()
        self.environment = {"SLURM_CONF": str(configuration)}
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o400)
        files = [f"--{kind}-file={folder}/munge.{kind}" for kind in ("key", "pid", "log", "seed")]
        self._start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *files)
        _until((folder / "munge.socket").exists)
        self._start("slurmctld", "-D", "-f", str(configuration))
        for node in ("n1", "n2"):
            self._start("slurmd", "-D", "-N", node, "-f", str(configuration))
        _until(lambda: self.ask("sinfo", "-h", "-t", "idle", "-o", "%D") == ["2"])

    def ask(self, *words: str) -> list[str]:
        """What a command of Slurm prints, by words."""
        environment = {**os.environ, **self.environment}
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        return done.stdout.split()

    def jobs(self) -> list[str]:
        """Numbers of the jobs that run."""
        return self.ask("squeue", "-h", "-t", "running", "-o", "%i")

    def close(self) -> None:
        """End all of it, jobs first; nothing stays."""
        self.ask("scancel", "--user=root", "--full")
        deadline = time.monotonic() + _WAIT_S / 6
        while self.ask("squeue", "-h", "-o", "%i") and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        self._log.close()
        # what a killed slurmd leaves: its slurmstepd, and the jobs of these
        _until(lambda: not _killed(self.processes()), "what Slurm started does not end")

    def processes(self) -> list[int]:
        """All that this Slurm started: they have its configuration in their environment."""
        mark = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        return [process for process in _every_process() if mark in _environment_of(process)]

    def _start(self, *words: str) -> None:
        environment = {**os.environ, **self.environment}
        self._processes.append(subprocess.Popen(words, stdout=self._log, stderr=self._log, env=environment))


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    with ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


def _every_process() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if int(path.name) != os.getpid()]


def _environment_of(process: int) -> list[bytes]:
    """What a process was started with; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _killed(processes: list[int]) -> list[int]:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return processes


def _until(holds: Callable[[], bool], otherwise: str = "Slurm does not start") -> None:
    deadline = time.monotonic() + _WAIT_S
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.1)
