"""Opening addresses: a redirect leads to http or https, or nowhere; no server chooses how a file is read."""

from __future__ import annotations

import http.client
from typing import IO, Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener


class _OnlyWeb(HTTPRedirectHandler):
    # urllib's own look at the scheme allows ftp
    def http_error_302(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage
    ) -> Any:
        address = headers.get("location") or headers.get("uri") or ""
        if urlsplit(address).scheme not in ("", "http", "https"):
            raise URLError(f"the server leads to {address}, which is neither http nor https")
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def open_address(request: Request, *, timeout: float) -> Any:
    """The answer to a request, through the proxies of the environment."""
    return build_opener(_OnlyWeb).open(request, timeout=timeout)
