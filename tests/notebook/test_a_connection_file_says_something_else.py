"""What a client and a kernel read in their connection files, and what a registered kernel is started with."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.data import load_manifest
from harness.methods.card import load_method
from harness.notebook.connection import (
    CHANNELS,
    Connection,
    new_connection,
    read_connection,
    register,
    socket_names,
    write_private,
)
from harness.planning.jobs import Job, make_job
from harness.splits.spec import SplitSpec

PORTS = {"shell": 11, "iopub": 12, "stdin": 13, "control": 14, "hb": 15}
OUTSIDE = {
    "transport": "tcp",
    "ip": "::1",
    "shell_port": 11,
    "iopub_port": 12,
    "stdin_port": 13,
    "control_port": 14,
    "hb_port": 15,
    "key": "secret",
    "signature_scheme": "hmac-sha512",
}


def test_both_files_are_those_that_jupyter_defines() -> None:
    connection = Connection("::1", PORTS, "secret", "hmac-sha512")
    assert connection.outside() == OUTSIDE
    assert connection.inside() == {
        **OUTSIDE,
        "transport": "ipc",
        "ip": "/out/kernel",
        "shell_port": 1,
        "iopub_port": 2,
        "stdin_port": 3,
        "control_port": 4,
        "hb_port": 5,
    }
    # where ZeroMQ makes them: the address, a hyphen and the port
    assert socket_names() == {
        "shell": "kernel-1",
        "iopub": "kernel-2",
        "stdin": "kernel-3",
        "control": "kernel-4",
        "hb": "kernel-5",
    }


def test_chosen_ports_are_taken_over_and_nothing_else() -> None:
    connection = Connection("::1", dict.fromkeys(CHANNELS, 0), "secret", "hmac-sha512")
    ports = dict(PORTS)
    chosen = connection.with_ports(ports)
    assert chosen.outside() == OUTSIDE
    ports["shell"] = 99
    assert chosen.ports["shell"] == 11


def test_a_new_connection_is_to_this_machine_with_a_long_key() -> None:
    connection = new_connection()
    assert (connection.address, connection.signature) == ("127.0.0.1", "hmac-sha256")
    assert connection.ports == {"shell": 0, "iopub": 0, "stdin": 0, "control": 0, "hb": 0}
    assert len(bytes.fromhex(connection.key)) == 32


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_what_a_client_has_written_is_what_is_served(tmp_path: Path, address: str) -> None:
    path = tmp_path / "kernel.json"
    path.write_text(json.dumps({**OUTSIDE, "ip": address, "kernel_name": "ours"}))
    assert read_connection(path) == Connection(address, PORTS, "secret", "hmac-sha512")


def test_what_a_client_may_leave_out_is_what_jupyter_takes_for_it(tmp_path: Path) -> None:
    path = tmp_path / "kernel.json"
    path.write_text(
        json.dumps({name: OUTSIDE[name] for name in OUTSIDE if name not in ("transport", "signature_scheme")})
    )
    assert read_connection(path) == Connection("::1", PORTS, "secret", "hmac-sha256")


@pytest.mark.parametrize("name", ["ip", "key", "hb_port"])
def test_what_a_client_may_not_leave_out_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "kernel.json"
    path.write_text(json.dumps({one: OUTSIDE[one] for one in OUTSIDE if one != name}))
    with pytest.raises(UsageError) as refusal:
        read_connection(path)
    assert refusal.value.what == f"the connection file lacks a usable '{name}'"
    assert refusal.value.where == str(path)
    assert refusal.value.todo == (
        "let a Jupyter client write it (transport tcp, ip 127.0.0.1), or leave --connection-file out"
    )


@pytest.mark.parametrize("port", [None, [11], "many"])
def test_a_port_that_is_none_is_told(tmp_path: Path, port: object) -> None:
    path = tmp_path / "kernel.json"
    path.write_text(json.dumps({**OUTSIDE, "hb_port": port}))
    with pytest.raises(UsageError, match="the connection file has a port that is no number"):
        read_connection(path)


def test_only_its_owner_can_read_a_file_with_a_key(tmp_path: Path) -> None:
    path = tmp_path / "kernel.json"
    write_private(path, OUTSIDE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == OUTSIDE
    assert path.read_text().startswith('{\n "transport": "tcp",\n') and path.read_text().endswith("}\n")


def job_of(layout: Layout, method: str) -> Job:
    split = SplitSpec(strategy="random", seed=1)
    return make_job(load_method(layout, method), load_manifest(layout, "synthetic"), split)


@pytest.mark.parametrize(
    ("method", "language", "cells", "name"),
    [
        ("bnnr", "octave", "octave", "permafrost-bnnr"),
        ("als_wr", "python", "python", "permafrost-als-wr"),
        ("lrssl", "r", "python", "permafrost-lrssl"),
    ],
)
def test_a_registered_kernel_opens_this_notebook(
    repository: Layout,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    language: str,
    cells: str,
    name: str,
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    # the empty name is that of no folder
    for name_of, folder in (("CACHE", "relcache"), ("DATA", "~/data"), ("RESULTS", ""), ("RUNTIME", "runsc")):
        monkeypatch.setenv(f"PERMAFROST_{name_of}", folder)
    job = job_of(repository, method)
    for _ in range(2):  # a second time it is replaced
        assert register(job, "Title", language, [method, "--seed=1"]) == tmp_path / "data" / "kernels" / name
    assert json.loads((tmp_path / "data" / "kernels" / name / "kernel.json").read_text()) == {
        "argv": [
            sys.executable,
            "-m",
            "harness",
            "notebook",
            method,
            "--seed=1",
            "--connection-file",
            "{connection_file}",
        ],
        "display_name": "Permafrost: Title",
        "language": cells,
        "interrupt_mode": "message",
        "env": {
            "PERMAFROST_CACHE": str(tmp_path / "relcache"),
            "PERMAFROST_DATA": str(tmp_path / "home" / "data"),
        },
        "metadata": {"permafrost": {"job": job.label}},
    }


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"JUPYTER_DATA_DIR": "{}/jupyter-data", "XDG_DATA_HOME": "{}/xdg"}, "jupyter-data"),
        ({"XDG_DATA_HOME": "{}/xdg"}, "xdg/jupyter"),
        ({}, "home/.local/share/jupyter"),
    ],
)
def test_a_kernel_is_registered_where_jupyter_looks(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], place: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("JUPYTER_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    folder = register(job_of(repository, "constant"), "Constant", "python", [])
    assert folder == tmp_path / place / "kernels" / "permafrost-constant"
