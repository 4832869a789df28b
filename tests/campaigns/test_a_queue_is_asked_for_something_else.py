"""What a queue is asked for, in the words of its file. The queue and Dask's clusters of jobs are made up."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import EngineError, ManifestError, UsageError
from harness.base.layout import Layout
from harness.execution import cluster, queues
from harness.execution.cluster import Cluster, Worker, check_workers, open_cluster, resources_of
from harness.execution.errands import own_meaning, refusal
from harness.execution.gpus import Gpu
from harness.execution.queues import QueueFile, _check_interface, asked_of, logs_of, open_queue
from harness.planning.budget import Share
from tests.conftest import REPOSITORY
from tests.core.word_for_word import said

FILE = """
queue = "slurm"
workers = 3
cpus = 4
GiB = 9
walltime = "1-00:30:00"
"""


def asked(folder: Path, text: str = FILE) -> Path:
    path = folder / "queue.toml"
    path.write_text(text)
    return path


class Jobs:
    """In the place of a cluster of dask-jobqueue: it keeps what it was given."""

    job_cls = type("Job", (), {"name": "a job"})
    made: list[Jobs]

    def __init__(self, **named: Any) -> None:
        self.named, self.adapted, self.is_open = named, list[Any](), False
        self.workers: dict[str, Any] = {"a": 1}
        type(self).made.append(self)

    def adapt(self, **named: Any) -> None:
        assert self.is_open
        self.adapted.append(named)

    @property
    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": self.workers}

    def __enter__(self) -> Jobs:
        self.is_open = True
        return self

    def __exit__(self, *error: object) -> None:
        self.is_open = False


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[Jobs]]:
    names = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster", "lsf": "LSFCluster"}
    made = {queue: type(name, (Jobs,), {"made": []}) for queue, name in names.items()}
    module = SimpleNamespace(**{names[queue]: kind for queue, kind in made.items()})
    monkeypatch.setitem(sys.modules, "dask_jobqueue", cast(Any, module))
    monkeypatch.setattr("socket.if_nameindex", lambda: [(1, "lo"), (2, "ib0")])
    return made


def test_a_job_of_the_queue_is_one_worker_of_this_tree(
    tmp_path: Path, kinds: dict[str, type[Jobs]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/my folder/python")
    logs = tmp_path / "a" / "logs"
    with open_queue(asked(tmp_path), logs, threading.Event()) as opened:
        assert logs.is_dir()
        (jobs,) = kinds["slurm"].made
        assert cast(Any, opened) is jobs and jobs.is_open
    assert not jobs.is_open, "all jobs end with it"
    assert jobs.adapted == [{"minimum_jobs": 3, "maximum_jobs": 3, "interval": "2s"}]
    job = jobs.named.pop("job_cls")
    assert issubclass(job, Jobs.job_cls) and job is not Jobs.job_cls
    assert jobs.named == {
        "queue": None,
        "cores": 4,
        "processes": 1,
        "memory": "9GiB",
        "walltime": "1-00:30:00",
        "interface": None,
        "python": "exec '/my folder/python'",
        "nanny": False,
        "log_directory": str(logs),
        "job_name": "permafrost",
        "job_extra_directives": [],
        "job_script_prologue": [],
        "worker_extra_args": ["--resources", "'cpus=4 GiB=8'", "--memory-limit", "0", "--no-dashboard"],
        "scheduler_options": {"dashboard_address": ":0"},
        "account": None,
    }


@pytest.mark.parametrize(
    ("queue", "account"), [("slurm", "account"), ("pbs", "account"), ("sge", "project"), ("lsf", "project")]
)
def test_each_queue_is_asked_in_its_own_words(
    tmp_path: Path, kinds: dict[str, type[Jobs]], queue: str, account: str
) -> None:
    more = (
        'partition = "short"\naccount = "mine"\ngpus = 2\ninterface = "ib0"\n'
        'directives = ["--exclusive", "--nice=10"]\nbefore = ["module purge", "module load podman"]\n'
    )
    file = asked(tmp_path, FILE.replace("slurm", queue) + more)
    with open_queue(file, tmp_path, threading.Event()):
        pass
    assert [name for name, kind in kinds.items() if kind.made] == [queue]
    named = kinds[queue].made[0].named
    assert {name: named.get(name) for name in ("account", "project")} == {
        "account": "mine" if account == "account" else None,
        "project": "mine" if account == "project" else None,
    }
    assert account in named and len({"account", "project"} & named.keys()) == 1
    assert (named["queue"], named["interface"]) == ("short", "ib0")
    assert named["job_extra_directives"] == ["--exclusive", "--nice=10"]
    assert named["job_script_prologue"] == ["module purge", "module load podman"]
    assert named["worker_extra_args"][1] == "'cpus=4 GiB=8 GPU=2'"


def test_a_file_may_ask_for_little(tmp_path: Path) -> None:
    least = asked_of(asked(tmp_path, 'queue="pbs"\nworkers=1\ncpus=1\nGiB=2\nwalltime="0:01"\n'))
    assert least.resources == "cpus=1 GiB=1"
    assert (least.gpus, least.partition, least.account, least.interface) == (0, None, None, None)
    assert (least.directives, least.before) == ((), ())


@pytest.mark.parametrize(
    ("line", "field", "told"),
    [
        ("workers = 0", "workers", "workers: has to be 1 or more, not 0"),
        ("cpus = 0", "cpus", "cpus: has to be 1 or more, not 0"),
        ("GiB = 1", "GiB", "GiB: has to be more than 1, not 1"),
        ("gpus = -1", "gpus", "gpus: has to be 0 or more, not -1"),
        ('walltime = "10"', "walltime", "walltime: '10' is no time such as '24:00:00' or '2-00:00:00'"),
        ('walltime = "1:2"', "walltime", "walltime: '1:2' is no time such as '24:00:00' or '2-00:00:00'"),
        (
            'walltime = "1:00:00 "',
            "walltime",
            "walltime: '1:00:00 ' is no time such as '24:00:00' or '2-00:00:00'",
        ),
        ("walltime = 24", "walltime", "walltime: has to be a text in quotes, not 24"),
        ('queue = "cron"', "queue", "queue: has to be 'slurm', 'pbs', 'sge' or 'lsf', not 'cron'"),
        ("cpu = 4", "cpus", "cpu: there is no such field; did you mean 'cpus'?"),
    ],
)
def test_what_no_queue_can_give_is_refused_in_plain_words(
    tmp_path: Path, line: str, field: str, told: str
) -> None:
    lines = [one for one in FILE.splitlines() if not one.startswith(f"{field} ")]
    path = asked(tmp_path, "\n".join([*lines, line, ""]))
    with pytest.raises(ManifestError) as refused:
        asked_of(path)
    assert refused.value.where == f"{path}: {told}"


def test_a_network_that_is_not_there_is_told(tmp_path: Path, kinds: dict[str, type[Jobs]]) -> None:
    file = asked(tmp_path, f'{FILE}interface = "nope0"\n')
    with pytest.raises(UsageError) as refused, open_queue(file, tmp_path, threading.Event()):
        pass
    assert said(refused.value) == (
        "this machine has no network interface 'nope0'",
        f"{file}: interface",
        "name one that it has: lo, ib0",
    )
    assert not kinds["slurm"].made


def test_of_many_networks_eight_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = asked(tmp_path, f'{FILE}interface = "nope0"\n')
    for count, rest in ((8, ""), (9, " and 1 more")):
        there = [(number, f"ib{number}") for number in range(count)]
        monkeypatch.setattr("harness.execution.queues.socket.if_nameindex", lambda there=there: there)
        with pytest.raises(UsageError) as refused:
            _check_interface(asked_of(path), path)
        names = ", ".join(f"ib{number}" for number in range(8))
        assert refused.value.todo == f"name one that it has: {names}{rest}"


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        asked_of(tmp_path / "none.toml")
    where = f"--on {tmp_path / 'none.toml'}"
    assert said(refused.value) == ("there is no such file", where, "write one: docs/cluster.md")


def test_without_its_package_the_lock_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with pytest.raises(EngineError) as refused, open_queue(asked(tmp_path), tmp_path, threading.Event()):
        pass
    assert said(refused.value) == (
        "dask-jobqueue is not installed here",
        "queue = slurm",
        ".venv/bin/python -m pip install --require-hashes -r requirements/cluster.lock",
    )


def test_it_waits_for_a_first_worker_until_a_person_stops(
    tmp_path: Path, kinds: dict[str, type[Jobs]], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, told = list[float](), list[str]()

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            looks.append(timeout or 0.0)
            if len(looks) == 3:
                self.set()
            return self.is_set()

    @contextmanager
    def activity(what: str) -> Iterator[None]:
        told.append(what)
        yield

    monkeypatch.setattr(queues, "activity", activity)
    kinds["slurm"].workers = property(lambda _: {}, lambda *_: None)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt), open_queue(asked(tmp_path), tmp_path, Stop()):
        raise AssertionError("there is no worker")
    assert looks == [0.5] * 3 and told == ["slurm: waiting for the first of 3 workers"]
    assert not kinds["slurm"].made[0].is_open


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file", "sbatch"), "the command sbatch is not on this machine"),
        (
            RuntimeError("Command exited\nstderr:\nsbatch: error: invalid partition\n  \n"),
            "sbatch: error: invalid partition",
        ),
        (OSError(), "OSError"),
    ],
)
def test_what_the_queue_says_is_told_and_its_job_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    submitted, closed, told = list[str](), list[tuple[str | None, str]](), list[str]()

    class Job:
        async def _submit_job(self, script: str) -> int:
            submitted.append(script)
            if script == "bad":
                raise error
            return 17

        @classmethod
        async def _close_job(cls, job_id: str | None, cancel_command: str) -> None:
            closed.append((job_id, cancel_command))

    kind = queues._telling(Job, told.append)
    assert asyncio.run(kind()._submit_job("good")) == "17" and not told
    assert asyncio.run(kind()._submit_job("bad")) == "0" and told == [words]
    assert submitted == ["good", "bad"]
    for number in ("17", "0", None):
        asyncio.run(kind._close_job(number, "scancel"))
    assert closed == [("17", "scancel"), (None, "scancel")]


def test_a_queue_that_takes_no_job_ends_the_waiting(tmp_path: Path, kinds: dict[str, type[Jobs]]) -> None:
    class Job:
        async def _submit_job(self, script: str) -> str:
            raise RuntimeError("no such partition")

    def adapt(self: Jobs, **named: Any) -> None:
        self.workers = {}
        asyncio.run(self.named["job_cls"]()._submit_job("x"))

    kinds["slurm"].job_cls, kinds["slurm"].adapt = Job, adapt  # type: ignore[method-assign]
    file = asked(tmp_path)
    with pytest.raises(EngineError) as refused, open_queue(file, tmp_path, threading.Event()):
        pass
    assert said(refused.value) == (
        "the queue takes no job: no such partition",
        str(file),
        "correct the file: docs/cluster.md",
    )


def test_logs_of_workers_lie_beside_the_results(tmp_path: Path) -> None:
    assert logs_of(Layout(REPOSITORY, tmp_path / "c", tmp_path / "l")) == tmp_path / "l" / "queue"


def test_a_file_opens_a_cluster_of_so_many_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, clients = list[Any](), list[Any]()

    @contextmanager
    def open_queue(*words: Any) -> Iterator[str]:
        opened.append(words)
        yield "jobs"

    class Client:
        def __init__(self, *words: Any, **named: Any) -> None:
            clients.append((words, named))

        def __enter__(self) -> Client:
            return self

        def __exit__(self, *error: object) -> None:
            clients.append("closed")

    monkeypatch.setitem(sys.modules, "distributed", cast(Any, SimpleNamespace(Client=Client)))
    monkeypatch.setattr(cluster, "open_queue", open_queue)
    file, stop = asked(tmp_path), threading.Event()
    with open_cluster(str(file), logs=tmp_path / "logs", stop=stop) as one:
        assert (one.address, one.most) == (str(file), 3) and isinstance(one.client, Client)
    assert opened == [(file, tmp_path / "logs", stop)]
    assert clients == [(("jobs",), {"set_as_default": False}), "closed"]
    with open_cluster(str(file), logs=tmp_path):
        pass
    assert isinstance(opened[1][2], threading.Event) and not opened[1][2].is_set()
    for name in (str(file), "tcp://x:1"):
        with pytest.raises(UsageError) as refused, open_cluster(name, logs=tmp_path, workers=2):
            pass
        assert said(refused.value) == (
            "--workers says how many CPUs of this machine are lent",
            f"--on {name}",
            "leave it out: each worker of the cluster says what it lends",
        )
    with open_cluster("tcp://x:1", logs=tmp_path) as one:
        assert (one.address, one.most) == ("tcp://x:1", None)
    assert clients[-2:] == [(("tcp://x:1",), {"timeout": 20.0, "set_as_default": False}), "closed"]


@pytest.mark.parametrize("name", ["tcp://localhost", "foo", "", "tcp://:1", "http://h:1", "h:port", "tcp://h:1/x"])
def test_what_is_no_address_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "distributed", cast(Any, SimpleNamespace()))
    with pytest.raises(UsageError) as refused, open_cluster(name, logs=tmp_path):
        pass
    assert said(refused.value) == (
        "this is no address of a Dask scheduler",
        f"--on {name}",
        "write it as tcp://HOST:PORT; dask is one in this process, FILE.toml asks a queue for workers",
    )


@pytest.mark.parametrize("name", ["h:1", "tcp://[::1]:8786", "tls://h:1"])
@pytest.mark.parametrize("context", [None, "a context"])
def test_an_address_is_reached_by_tls_where_dask_has_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, context: str | None
) -> None:
    security = SimpleNamespace(get_connection_args=lambda role: {"ssl_context": context})
    dask = SimpleNamespace(Client=lambda *_, **__: nullcontext(), Security=lambda: security)
    monkeypatch.setitem(sys.modules, "distributed", cast(Any, dask))
    if context or not name.startswith("tls"):
        with open_cluster(name, logs=tmp_path) as one:
            assert one.address == name
        return
    with pytest.raises(UsageError) as refused, open_cluster(name, logs=tmp_path):
        pass
    assert said(refused.value) == (
        "Dask knows no certificates for TLS here",
        "--on tls://h:1",
        "name them in Dask's own configuration: distributed.comm.tls",
    )


@pytest.mark.parametrize("kind", [OSError, ValueError])
def test_nobody_at_an_address_is_told_in_three_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def client(*_: Any, **__: Any) -> Any:
        raise kind("Timed out\n  trying to connect")

    monkeypatch.setitem(sys.modules, "distributed", cast(Any, SimpleNamespace(Client=client)))
    with pytest.raises(EngineError) as refused, open_cluster("tcp://x:1", logs=tmp_path):
        pass
    assert said(refused.value) == (
        "no Dask scheduler answers: Timed out trying to connect",
        "--on tcp://x:1",
        "start one: .venv/bin/dask scheduler; write its address as tcp://HOST:PORT, or dask for one here",
    )


def test_a_cluster_in_this_process_lends_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, closed = list[Any](), list[str]()

    class Opened:
        def __init__(self, *words: Any, **named: Any) -> None:
            made.append((words, named))

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: object) -> None:
            closed.append(type(self).__name__)

    class Client(Opened):
        pass

    class Local(Opened):
        pass

    monkeypatch.setitem(sys.modules, "distributed", cast(Any, SimpleNamespace(Client=Client, LocalCluster=Local)))
    monkeypatch.setattr(cluster, "find_gpus", lambda: [Gpu("H100", "9.0", number) for number in "01"])
    monkeypatch.setattr(cluster, "this_machine", lambda workers, gpus: Share(workers or 7, 3 << 30, gpus))
    for workers in (None, 5):
        with open_cluster("dask", logs=tmp_path, workers=workers) as one:
            assert (one.address, one.most) == ("dask", None) and isinstance(one.client, Client)
        share = Share(workers or 7, 3 << 30, 2)
        words, named = made[-2]
        assert (words, named) == (
            (),
            {
                "n_workers": 1,
                "threads_per_worker": share.cpus,
                "processes": False,
                "dashboard_address": "127.0.0.1:0",
                "memory_limit": 0,
                "resources": {"cpus": share.cpus, "GiB": 3.0, "GPU": 2},
            },
        )
        assert isinstance(made[-1][0][0], Local) and made[-1][1] == {}
    assert closed == ["Client", "Local"] * 2


def test_without_dask_it_is_told_in_three_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EngineError) as refused, open_cluster("dask", logs=tmp_path):
        pass
    assert said(refused.value) == (
        "Dask is not installed here",
        "--on dask",
        ".venv/bin/python -m pip install --require-hashes -r requirements/cluster.lock",
    )


def test_resources_that_dask_is_told_are_read_back() -> None:
    for share in (Share(4, 3 << 29, 0), Share(1, 1 << 30, 2)):
        told = resources_of(share)
        assert told == {"cpus": share.cpus, "GiB": share.memory / 2**30, **({"GPU": 2} if share.gpus else {})}
        assert cluster._share_of(told) == share
    assert cluster._share_of({}) == Share(0, 0, 0)


class Client:
    """A scheduler's client with workers that say what they lend, and refuse for a reason or not."""

    def __init__(self, resources: dict[str, dict[str, float]], reasons: dict[str, str] | None = None) -> None:
        self.resources, self.reasons, self.asked = resources, reasons or {}, list[Any]()

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1, "all of them, however many there are"
        return {"workers": {name: {"nthreads": 2, "resources": one} for name, one in self.resources.items()}}

    def run(self, *words: Any) -> dict[str, str]:
        self.asked.append(words)
        return {name: self.reasons.get(name, "") for name in self.resources}


def test_workers_are_those_that_can_do_something_for_us(tmp_path: Path) -> None:
    client = Client({"tcp://a": {"cpus": 2, "GiB": 4.5}, "tcp://b": {}})
    one = Cluster(cast(Any, client), "tcp://s:1")
    assert check_workers(one, tmp_path / "wanted") == [
        Worker("tcp://a", 2, Share(2, 9 << 29, 0)),
        Worker("tcp://b", 2, Share(0, 0, 0)),
    ]
    assert client.asked == [(refusal, tmp_path / "wanted", own_meaning())]


@pytest.mark.parametrize("lent", [{"cpus": 2.0}, {"GiB": 4.0}, {}])
@pytest.mark.parametrize(
    ("address", "where"), [("tcp://s:1", "tcp://s:1"), ("dask", "tcp://HOST:PORT"), ("q.toml", "tcp://HOST:PORT")]
)
def test_workers_that_lend_nothing_are_told_how_they_are_started(
    tmp_path: Path, lent: dict[str, float], address: str, where: str
) -> None:
    command = f'.venv/bin/dask worker {where} --nthreads 8 --memory-limit 0 --resources "cpus=8 GiB=30"'
    with pytest.raises(EngineError) as refused:
        check_workers(Cluster(cast(Any, Client({"tcp://a": lent})), address), tmp_path)
    assert said(refused.value) == (
        "no worker says how many cpus and how much memory (GiB) it lends",
        f"--on {address}",
        f"start them so: {command}",
    )
    with pytest.raises(EngineError) as refused:
        check_workers(Cluster(cast(Any, Client({})), address), tmp_path)
    assert said(refused.value) == (
        "the cluster has no worker",
        f"--on {address}",
        f"start one on each machine, in this tree: {command}",
    )


def test_the_first_worker_that_refuses_is_named(tmp_path: Path) -> None:
    lent = {"cpus": 2.0, "GiB": 4.0}
    client = Client({"tcp://c": lent, "tcp://b": lent, "tcp://a": lent}, {"tcp://b": "no b", "tcp://c": "no c"})
    with pytest.raises(EngineError) as refused:
        check_workers(Cluster(cast(Any, client), "tcp://s:1"), tmp_path)
    assert said(refused.value) == (
        "no b",
        "worker tcp://b",
        "start the workers in the same tree, where the same folder of results has the same name; "
        "mount it so that locks reach all machines (NFS: without nolock and local_lock); let all keep "
        "their time (chrony, ntp)",
    )


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    assert asked_of(asked(tmp_path)) == QueueFile(queue="slurm", workers=3, cpus=4, GiB=9, walltime="1-00:30:00")
