"""A web server on the loopback interface that misbehaves on request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Web:
    """What is served, how it fails, and which ranges were asked for."""

    content: bytes
    address: str = ""
    cut_after: int | None = None
    status: int | None = None
    fail_first: int = 0
    understands_ranges: bool = True
    wrong_range: bool = False
    redirect: str = ""
    asked: list[str | None] = field(default_factory=list)

    def url(self, name: str = "file.bin") -> str:
        """The address of the file."""
        return f"http://{self.address}/data/{name}"


@contextmanager
def serving(content: bytes) -> Iterator[Web]:
    """Serve `content` until the block ends."""
    web = Web(content)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked.append(self.headers.get("Range"))
            if web.status or len(web.asked) <= web.fail_first:
                self.send_error(web.status or 503)
                return
            if web.redirect:
                self.send_response(302)
                self.send_header("Location", web.redirect)
                self.end_headers()
                return
            start = self._start()
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(web.content) - start))
            if start:
                told = 0 if web.wrong_range else start
                self.send_header("Content-Range", f"bytes {told}-{len(web.content) - 1}/{len(web.content)}")
            self.end_headers()
            end = len(web.content) if web.cut_after is None else min(len(web.content), start + web.cut_after)
            self.wfile.write(web.content[start:end])

        def _start(self) -> int:
            asked = self.headers.get("Range")
            return int(asked.removeprefix("bytes=").rstrip("-")) if asked and web.understands_ranges else 0

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host, port = server.server_address[:2]
    web.address = f"{host!s}:{port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
