"""One file from one URL: resumed, bounded, checked. It appears whole and with its recorded sha256, or not at all.

Proxies are those of the environment, as urllib knows them. A redirect leads to http or https, or nowhere: no
server chooses how a file is read.
"""

from __future__ import annotations

import fcntl
import http.client
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from harness import __version__
from harness.base.files import sha256_of, sync_folder

MIRROR_VARIABLE = "PERMAFROST_MIRROR"
ATTEMPTS = 3
TIMEOUT_SECONDS = 30.0
# Where no size is known: more than the largest wheel there is, less than a disk.
MOST_BYTES = 4 << 30
_CHUNK = 1 << 18
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_PAUSE = 0.5

T = TypeVar("T")


def mirror_folders(chosen: Sequence[Path] = ()) -> list[Path]:
    """Mirror folders given by option, then those of $PERMAFROST_MIRROR (separated as in $PATH)."""
    told = os.environ.get(MIRROR_VARIABLE, "").split(os.pathsep)
    return list(
        dict.fromkeys([*(Path(folder) for folder in chosen), *(Path(folder) for folder in told if folder)])
    )


class Refused(Exception):
    """A URL did not give the file; says why in a few words."""

    def __init__(self, reason: str, *, again: bool = False, corrupt: bool = False) -> None:
        super().__init__(reason)
        self.again = again
        self.corrupt = corrupt


class Checksum(Protocol):
    """What is known of a file's content; nothing, where it is not recorded."""

    @property
    def recorded(self) -> bool: ...
    @property
    def sha256(self) -> str: ...
    @property
    def bytes(self) -> int: ...


class _Response(Protocol):
    status: int | None
    headers: http.client.HTTPMessage

    def read(self, amount: int, /) -> bytes: ...


def download(url: str, file: Checksum, target: Path, *, pause: float = _PAUSE) -> Path:
    """Fetch `file` to `target`; a part that is already there is continued, if it is known what of."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    size = file.bytes if file.recorded else None

    def once() -> Path:
        resumed = _continue(url, part, size, resume=file.recorded)
        return _accept(file, part, target, resumed=resumed)

    with _alone(target.with_name(target.name + ".lock")):
        whole = file.recorded and target.is_file() and target.stat().st_size == size
        return target if whole and sha256_of(target) == file.sha256 else _tried(once, pause)


def transfer(url: str, target: Path, *, size: int | None = None, resume: bool) -> Path:
    """Fetch what a URL gives to a place that is the caller's own, who checks its content.

    `resume`: what came before the connection broke is kept, for the content is known.
    """
    target.unlink(missing_ok=True)
    _tried(lambda: _continue(url, target, size, resume=resume), _PAUSE)
    return target


def _tried(once: Callable[[], T], pause: float) -> T:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return once()
        except Refused as error:
            if attempt == ATTEMPTS or not error.again:
                told = f"{error} (attempt {attempt} of {ATTEMPTS})" if error.again else str(error)
                raise Refused(told, corrupt=error.corrupt) from None
            time.sleep(pause * 2 ** (attempt - 1))
    raise AssertionError("unreachable: the last attempt raises or returns")


def _continue(url: str, part: Path, size: int | None, *, resume: bool) -> bool:
    """Append what is missing to the part; tells whether there was one."""
    have = part.stat().st_size if resume and part.is_file() else 0
    if size is not None and have > size:
        part.unlink()
        have = 0
    if have == size and have > 0:
        return True
    headers = {"User-Agent": f"permafrost/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with build_opener(_OnlyWeb).open(Request(url, headers=headers), timeout=TIMEOUT_SECONDS) as response:
            _receive(response, part, size, have)
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


def _receive(response: _Response, part: Path, size: int | None, have: int) -> None:
    # an address of a file, which a person may name, has no status
    if response.status not in (None, 200, 206):
        raise Refused(f"status {response.status}")
    continued = response.status == 206
    if continued and not (response.headers.get("Content-Range") or "").startswith(f"bytes {have}-"):
        part.unlink(missing_ok=True)
        raise Refused("the server continued at another place", again=True)
    here = have if continued else 0
    announced = response.headers.get("Content-Length") or ""
    least = size if size is not None else here + int(announced) if announced.isdecimal() else 0
    most = MOST_BYTES if size is None else size
    with part.open("ab" if continued else "wb") as stream:
        while piece := response.read(_CHUNK):
            here += len(piece)
            if here > most:
                break
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
    if here > most:
        part.unlink()
        limit = "limit of" if size is None else "recorded"
        raise Refused(f"longer than the {limit} {most} bytes", corrupt=size is not None)
    if here < least:
        raise Refused(f"cut: {here} of {least} bytes came", again=True)


def _accept(file: Checksum, part: Path, target: Path, *, resumed: bool) -> Path:
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


def _told(reason: object) -> str:
    return (getattr(reason, "strerror", None) or str(reason) or type(reason).__name__).strip()
