"""One file from one URL: resumed, bounded, checked. It appears whole and with its recorded sha256, or not at all.

Proxies are those of the environment, as urllib knows them.
"""

from __future__ import annotations

import fcntl
import http.client
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from urllib.error import HTTPError, URLError
from urllib.request import Request

from harness import __version__
from harness.base.files import sha256_of, sync_folder
from harness.base.web import open_address
from harness.data.manifest import SourceFile

ATTEMPTS = 3
TIMEOUT_SECONDS = 30.0
_CHUNK = 1 << 18
_LONGEST_UNKNOWN = 4 << 30
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})


class Refused(Exception):
    """A URL did not give the file; says why in a few words."""

    def __init__(self, reason: str, *, again: bool = False, corrupt: bool = False) -> None:
        super().__init__(reason)
        self.again = again
        self.corrupt = corrupt


class _Response(Protocol):
    status: int
    headers: http.client.HTTPMessage

    def read(self, amount: int, /) -> bytes: ...


def download(url: str, file: SourceFile, target: Path, *, pause: float = 0.5) -> Path:
    """Fetch `file` to `target`; a part that is already there is continued, if it is known what of."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with _alone(target.with_name(target.name + ".lock")):
        if (
            file.recorded
            and target.is_file()
            and target.stat().st_size == file.bytes
            and sha256_of(target) == file.sha256
        ):
            return target
        for attempt in range(1, ATTEMPTS + 1):
            try:
                resumed = _continue(url, file, part)
                return _accept(file, part, target, resumed=resumed)
            except Refused as error:
                if attempt == ATTEMPTS or not error.again:
                    raise Refused(
                        f"{error} (attempt {attempt} of {ATTEMPTS})" if error.again else str(error),
                        corrupt=error.corrupt,
                    ) from None
                time.sleep(pause * 2 ** (attempt - 1))
    raise AssertionError("unreachable: the last attempt raises or returns")


def _continue(url: str, file: SourceFile, part: Path) -> bool:
    """Append what is missing to the part; tells whether there was one."""
    have = part.stat().st_size if file.recorded and part.is_file() else 0
    if have > file.bytes:
        part.unlink()
        have = 0
    if have == file.bytes and have > 0:
        return True
    headers = {"User-Agent": f"permafrost/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with open_address(Request(url, headers=headers), timeout=TIMEOUT_SECONDS) as response:
            _receive(response, file, part, have)
    except HTTPError as error:
        with error:
            if error.code == 416:
                part.unlink(missing_ok=True)
                raise Refused("the part can't be continued", again=True) from None
            raise Refused(f"status {error.code} {error.reason}", again=error.code in _WORTH_ANOTHER_TRY) from None
    except URLError as error:
        raise Refused(f"can't be reached: {_told(error.reason)}", again=True) from None
    except TimeoutError:
        raise Refused(f"no answer within {TIMEOUT_SECONDS:.0f} s", again=True) from None
    except (http.client.HTTPException, OSError) as error:
        raise Refused(f"the connection broke: {_told(error)}", again=True) from None
    return have > 0


def _receive(response: _Response, file: SourceFile, part: Path, have: int) -> None:
    if response.status not in (200, 206):
        raise Refused(f"status {response.status}")
    continued = response.status == 206
    if continued and not (response.headers.get("Content-Range") or "").startswith(f"bytes {have}-"):
        part.unlink(missing_ok=True)
        raise Refused("the server continued at another place", again=True)
    size = have if continued else 0
    told = response.headers.get("Content-Length") or ""
    least = file.bytes if file.recorded else int(told) if told.isdecimal() else 0
    most = file.bytes if file.recorded else _LONGEST_UNKNOWN
    with part.open("ab" if continued else "wb") as stream:
        while piece := response.read(_CHUNK):
            size += len(piece)
            if size > most:
                break
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
    if size > most:
        part.unlink()
        told = "recorded" if file.recorded else "limit of"
        raise Refused(f"longer than the {told} {most} bytes", corrupt=file.recorded)
    if size < least:
        raise Refused(f"cut: {size} of {least} bytes came", again=True)


def _accept(file: SourceFile, part: Path, target: Path, *, resumed: bool) -> Path:
    """The part becomes the file only with the recorded content; an old part may have been of another file."""
    found = sha256_of(part)
    if file.recorded and found != file.sha256:
        part.unlink()
        raise Refused(f"sha256 is {found}, not the recorded {file.sha256}", again=resumed, corrupt=True)
    part.chmod(0o644)
    part.replace(target)
    sync_folder(target.parent)
    return target


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Two processes that want the same file fetch it once."""
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _told(reason: object) -> str:
    return (getattr(reason, "strerror", None) or str(reason) or type(reason).__name__).strip()
