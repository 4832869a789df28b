"""Connection files that can't be served are refused, and the bridge carries every byte and follows no link."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.notebook.bridge import Bridge, find_sockets
from harness.notebook.connection import CHANNELS, new_connection, read_connection, socket_names


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"transport": "ipc"}, "asks for transport 'ipc'"),
        ({"transport": "ws"}, "asks for transport 'ws'"),
        ({"shell_port": "any"}, "has a port that is no number"),
        ({"hb_port": 65536}, "has a port outside 0 to 65535: 65536"),
        ({"stdin_port": -1}, "has a port outside 0 to 65535: -1"),
        # of several the first, in the order in which channels are named
        ({"control_port": 65537, "shell_port": -2}, "has a port outside 0 to 65535: -2"),
        ({"ip": "0.0.0.0"}, "asks to listen at '0.0.0.0', where other machines may reach it"),
        ({"ip": "*"}, "asks to listen at '*', where other machines may reach it"),
        ({"key": ""}, "has no key: anybody could send cells"),
        (None, "is not a connection file"),
    ],
)
def test_a_connection_file_that_cannot_be_served_is_taken(
    change: dict[str, object] | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "kernel.json"
    path.write_text(json.dumps([] if change is None else {**new_connection().outside(), **change}))
    with pytest.raises(UsageError) as refusal:
        read_connection(path)
    assert (refusal.value.what, refusal.value.where) == (f"the connection file {said}", str(path))


def test_a_port_beyond_all_numbers_is_none(tmp_path: Path) -> None:
    path = tmp_path / "kernel.json"
    path.write_text(
        json.dumps({**new_connection().outside(), "shell_port": "BEYOND"}).replace('"BEYOND"', "1e999")
    )
    with pytest.raises(UsageError, match="has a port that is no number"):
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
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match="the kernel's shell port is not free: ") as refusal:
            asyncio.run(listen(port))
    assert refusal.value.where == f"127.0.0.1:{port}"
    assert refusal.value.todo == "start the kernel again; the client then chooses other ports"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[list[socket.socket]]:
    """A kernel's five sockets, in the order of the channels."""
    listeners = []
    for name in socket_names().values():
        listeners.append(socket.socket(socket.AF_UNIX))
        listeners[-1].bind(str(tmp_path / name))
        listeners[-1].listen()
        listeners[-1].setblocking(False)
    yield listeners
    for listener in listeners:
        listener.close()


Client = Callable[[str], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


def bridged(folder: Path, talk: Callable[[Client, Bridge], Awaitable[None]]) -> None:
    """Have `talk` connect to channels of a bridge to the sockets in the folder."""

    async def run() -> None:
        found = find_sockets(folder)
        assert found is not None
        bridge = Bridge(found)
        ports = (await bridge.listen(new_connection())).ports

        async def client(channel: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            return await asyncio.open_connection("127.0.0.1", ports[channel])

        await asyncio.wait_for(talk(client, bridge), 60)

    asyncio.run(run())


@pytest.mark.parametrize("place", range(len(CHANNELS)))
def test_a_channel_leads_to_another_socket(tmp_path: Path, kernel: list[socket.socket], place: int) -> None:
    async def talk(client: Client, bridge: Bridge) -> None:
        _, writer = await client(CHANNELS[place])
        writer.write(b"hello")
        inner, _ = await asyncio.get_running_loop().sock_accept(kernel[place])
        inner.setblocking(False)
        assert await asyncio.get_running_loop().sock_recv(inner, 100) == b"hello"
        inner.close()
        writer.close()
        await bridge.close()

    bridged(tmp_path, talk)


@pytest.mark.parametrize("first", ["client", "kernel", "bridge"])
def test_an_end_of_one_side_is_not_told_to_the_other(
    tmp_path: Path, kernel: list[socket.socket], first: str
) -> None:
    async def talk(client: Client, bridge: Bridge) -> None:
        loop = asyncio.get_running_loop()
        reader, writer = await client("shell")
        inner, _ = await loop.sock_accept(kernel[0])
        inner.setblocking(False)
        if first == "client":
            writer.close()
            assert await loop.sock_recv(inner, 100) == b""
        elif first == "kernel":
            inner.close()
            assert await reader.read() == b""
        if first != "bridge":
            # the others are served all the same
            _, other = await client("hb")
            again, _ = await loop.sock_accept(kernel[4])
            other.close()
            again.close()
            # a kernel is open for days: of connections that have ended nothing is kept
            while bridge._carrying:
                await asyncio.sleep(0)
        await bridge.close()
        if first == "bridge":
            assert await loop.sock_recv(inner, 100) == b"" and await reader.read() == b""
        with pytest.raises(OSError):
            await client("shell")
        inner.close()
        writer.close()

    bridged(tmp_path, talk)


def test_a_kernel_that_reads_nothing_holds_a_closed_bridge(tmp_path: Path, kernel: list[socket.socket]) -> None:
    async def talk(client: Client, bridge: Bridge) -> None:
        before = asyncio.all_tasks()
        _, writer = await client("shell")
        inner, _ = await asyncio.get_running_loop().sock_accept(kernel[0])
        # more than all buffers on the way hold
        writer.write(b"x" * (16 << 20))
        while len(asyncio.all_tasks() - before) < 3:
            await asyncio.sleep(0)
        await asyncio.sleep(0.1)
        await bridge.close()
        for _ in range(9):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() <= before
        inner.close()
        writer.transport.abort()
        await asyncio.sleep(0.01)

    bridged(tmp_path, talk)


def test_a_client_of_a_kernel_that_is_gone_waits_for_ever(tmp_path: Path, kernel: list[socket.socket]) -> None:
    async def talk(client: Client, bridge: Bridge) -> None:
        for listener in kernel:
            listener.close()
        reader, writer = await client("shell")
        assert await reader.read() == b""
        writer.close()
        await bridge.close()

    bridged(tmp_path, talk)


def handles() -> set[str]:
    """The open files of this process; that of the listing itself is gone again."""
    return {path.name for path in Path("/proc/self/fd").iterdir() if path.exists()}


def test_looking_for_sockets_leaves_files_open(tmp_path: Path, kernel: list[socket.socket]) -> None:
    before = handles()
    found = find_sockets(tmp_path)
    assert found is not None and list(found) == list(CHANNELS)
    assert handles() - before == {str(handle) for handle in found.values()}

    async def close() -> None:
        await Bridge(found).close()

    asyncio.run(close())
    assert handles() == before
    for name in [*socket_names().values()][-1:]:
        (tmp_path / name).unlink()
        assert find_sockets(tmp_path) is None and handles() == before
        # neither a file nor a link is one
        (tmp_path / name).touch()
        assert find_sockets(tmp_path) is None and handles() == before
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    for folder in (link, tmp_path / socket_names()["hb"]):
        with pytest.raises(OSError):
            find_sockets(folder)
