"""Connection files that can't be served are refused, and the bridge carries every byte and follows no link."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.notebook.bridge import Bridge, find_sockets
from harness.notebook.connection import CHANNELS, new_connection, read_connection, socket_names


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"transport": "ipc"}, "transport 'ipc'"),
        ({"shell_port": "any"}, "lacks a usable"),
        ({"ip": "0.0.0.0"}, "other machines may reach it"),
        ({"ip": "*"}, "other machines may reach it"),
        ({"key": ""}, "has no key"),
    ],
)
def test_a_connection_file_that_cannot_be_served_is_taken(
    change: dict[str, object], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.json"
    path.write_text(json.dumps({**new_connection().outside(), **change}))
    with pytest.raises(UsageError, match=said):
        read_connection(path)
    path.write_text("[]")
    with pytest.raises(UsageError, match="is not a connection file"):
        read_connection(path)


def test_both_sides_sign_with_different_keys() -> None:
    connection = new_connection()
    outside, inside = connection.outside(), connection.inside()
    assert outside["key"] == inside["key"] != new_connection().key
    assert (outside["transport"], inside["transport"]) == ("tcp", "ipc")
    assert outside["ip"] == "127.0.0.1"
    assert connection.key not in repr(connection)


def test_bytes_get_lost_on_the_way(tmp_path: Path) -> None:
    # longer than the address of a socket may be
    folder = tmp_path / ("deep" * 30)
    folder.mkdir()
    sent = os.urandom(3 << 20)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
        writer.close()

    async def there_and_back() -> bytes:
        handle = os.open(folder, os.O_RDONLY)
        servers = [
            await asyncio.start_unix_server(echo, f"/proc/self/fd/{handle}/{name}")
            for name in socket_names().values()
        ]
        found = find_sockets(folder)
        assert found is not None
        bridge = Bridge(found)
        connection = await bridge.listen(new_connection())
        assert len(set(connection.ports.values())) == len(CHANNELS)
        reader, writer = await asyncio.open_connection("127.0.0.1", connection.ports["shell"])
        writer.write(sent)
        came = await reader.readexactly(len(sent))
        writer.close()
        await bridge.close()
        for server in servers:
            server.close()
        os.close(handle)
        return came

    assert asyncio.run(there_and_back()) == sent


def test_a_link_in_the_containers_folder_is_followed(tmp_path: Path) -> None:
    names = list(socket_names().values())
    assert find_sockets(tmp_path) is None
    listeners = []
    for name in names[1:]:
        listeners.append(socket.socket(socket.AF_UNIX))
        listeners[-1].bind(str(tmp_path / name))
    assert find_sockets(tmp_path) is None
    (tmp_path / names[0]).symlink_to(tmp_path / names[1])
    assert find_sockets(tmp_path) is None
    for listener in listeners:
        listener.close()


def test_a_taken_port_is_passed_over() -> None:
    async def listen(taken: int) -> None:
        connection = new_connection()
        await Bridge({"shell": os.open("/", os.O_PATH)}).listen(connection.with_ports({"shell": taken}))

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(UsageError, match="shell port is not free"):
            asyncio.run(listen(other.getsockname()[1]))
