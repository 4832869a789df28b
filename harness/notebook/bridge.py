"""From a port of this machine to a socket in the container's folder: bytes are carried, nothing is understood.

ZeroMQ's protocol is a stream of bytes on either kind of socket, so a kernel without any network serves clients
that know nothing but ports.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from harness.base.errors import UsageError
from harness.notebook.connection import Connection, socket_names

_PIECE = 1 << 16


class Bridge:
    """Listens for one kernel's clients. Made inside a running event loop; `close` ends every connection."""

    def __init__(self, sockets: Mapping[str, int]) -> None:
        self._sockets = sockets
        self._servers: list[asyncio.Server] = []
        self._carrying: set[asyncio.Task[None]] = set()

    async def listen(self, connection: Connection) -> Connection:
        """Accept clients from now on; returns the connection with its ports."""
        ports = {}
        for channel, handle in self._sockets.items():
            try:
                server = await asyncio.start_server(
                    partial(self._accept, handle=handle),
                    connection.address,
                    connection.ports[channel],
                )
            except OSError as error:
                raise UsageError(
                    f"the kernel's {channel} port is not free: {error.strerror or error}",
                    where=f"{connection.address}:{connection.ports[channel]}",
                    todo="start the kernel again; the client then chooses other ports",
                ) from error
            self._servers.append(server)
            ports[channel] = int(server.sockets[0].getsockname()[1])
        return connection.with_ports(ports)

    async def close(self) -> None:
        """Close all ports, connections and sockets."""
        for server in self._servers:
            server.close()
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)
        for handle in self._sockets.values():
            os.close(handle)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: int) -> None:
        task = asyncio.ensure_future(_carry(reader, writer, handle))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)


def find_sockets(folder: Path) -> dict[str, int] | None:
    """Channel -> a handle on its socket, once all are there.

    Handles, because a path may be too long for a socket address; and no link is followed, because what lies in the
    folder is the container's doing.
    """
    handles: dict[str, int] = {}
    root = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for channel, name in socket_names().items():
            handle = os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=root)
            handles[channel] = handle
            if not stat.S_ISSOCK(os.fstat(handle).st_mode):
                raise FileNotFoundError(name)
    except FileNotFoundError:
        for handle in handles.values():
            os.close(handle)
        return None
    finally:
        os.close(root)
    return handles


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: int) -> None:
    """One client's connection, until either side or the bridge ends it."""
    with closing(writer):
        try:
            inner_reader, inner_writer = await asyncio.open_unix_connection(f"/proc/self/fd/{handle}")
        except OSError:
            # the kernel is gone or going: to the client it is as if nobody had listened
            return
        with closing(inner_writer):
            ways = [
                asyncio.ensure_future(_copy(reader, inner_writer)),
                asyncio.ensure_future(_copy(inner_reader, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    # an end that breaks off is an end
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
