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
from harness.base.heartbeat import activity
from harness.base.output_files import error_naming

MIRROR_VARIABLE = "PERMAFROST_MIRROR"
ATTEMPTS = 3
TIMEOUT_SECONDS = 30.0
# Where no size is known: more than the largest wheel there is, less than a disk.
MOST_BYTES = 4 << 30
_CHUNK = 1 << 18
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_PAUSE = 0.5

T = TypeVar("T")


def mirror_folders(options: Sequence[Path] = ()) -> list[Path]:
    """Mirror folders given by option, then those of $PERMAFROST_MIRROR (separated as in $PATH)."""
    folders = os.environ.get(MIRROR_VARIABLE, "").split(os.pathsep)
    return list(dict.fromkeys([*map(Path, options), *(Path(folder) for folder in folders if folder)]))


class Refused(Exception):
    """A URL did not give the file; says why in a few words."""

    def __init__(self, reason: str, *, again: bool = False, corrupt: bool = False) -> None:
        super().__init__(reason)
        self.again = again
        self.corrupt = corrupt


class Checksum(Protocol):
    """What is known of a file's content, if it is recorded."""

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
    """Fetch `file` to `target`; a partial file that is there is continued if the checksum is recorded."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    size = file.bytes if file.recorded else None

    def once() -> Path:
        resumed = _continue(url, part, size, resume=file.recorded)
        return _accept(file, part, target, resumed=resumed)

    with _alone(target.with_name(target.name + ".lock")):
        is_whole = file.recorded and target.is_file() and target.stat().st_size == size
        return target if is_whole and sha256_of(target) == file.sha256 else _retry(once, pause)


def transfer(url: str, target: Path, *, size: int | None = None, resume: bool) -> Path:
    """Fetch what a URL gives to a path that only the caller uses; the caller checks the content.

    `resume`: bytes that came before the connection broke are kept, because the content will be checked.
    """
    target.unlink(missing_ok=True)
    with activity(f"downloading {url.rpartition('/')[2] or url}"):
        _retry(lambda: _continue(url, target, size, resume=resume), _PAUSE)
    return target


def _retry(once: Callable[[], T], pause: float) -> T:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return once()
        except Refused as error:
            if attempt == ATTEMPTS or not error.again:
                reason = f"{error} (attempt {attempt} of {ATTEMPTS})" if error.again else str(error)
                raise Refused(reason, corrupt=error.corrupt) from None
            time.sleep(pause * 2 ** (attempt - 1))
    raise AssertionError("unreachable: the last attempt raises or returns")


def _continue(url: str, part: Path, size: int | None, *, resume: bool) -> bool:
    """Append what is missing to the part; returns whether there was a part."""
    offset = part.stat().st_size if resume and part.is_file() else 0
    if size is not None and offset > size:
        part.unlink()
        offset = 0
    if offset == size and offset > 0:
        return True
    headers = {"User-Agent": f"permafrost/{__version__}", "Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
    with _refusals(part):
        response = build_opener(_OnlyWeb).open(Request(url, headers=headers), timeout=TIMEOUT_SECONDS)
    with response:
        _receive(response, part, size, offset)
    return offset > 0


@contextmanager
def _refusals(part: Path) -> Iterator[None]:
    """What goes wrong between here and the server is a `Refused`; writing to this machine's disk lies outside."""
    try:
        yield
    except HTTPError as error:
        with error:
            if error.code == 416:
                part.unlink(missing_ok=True)
                raise Refused("the part can't be continued", again=True) from None
            raise Refused(f"status {error.code} {error.reason}", again=error.code in _WORTH_ANOTHER_TRY) from None
    except URLError as error:
        raise Refused(f"can't be reached: {_text_of(error.reason)}", again=True) from None
    except TimeoutError:
        raise Refused(f"no answer within {TIMEOUT_SECONDS:.0f} s", again=True) from None
    except (http.client.InvalidURL, ValueError) as error:
        # of urllib, over an address that a person wrote or a server leads to
        raise Refused(f"not an address: {_text_of(error)}") from None
    except (http.client.HTTPException, OSError) as error:
        raise Refused(f"the connection broke: {_text_of(error)}", again=True) from None


def _receive(response: _Response, part: Path, size: int | None, offset: int) -> None:
    # a person may name a file by URL; then there is no status
    if response.status not in (None, 200, 206):
        raise Refused(f"status {response.status}")
    continued = response.status == 206
    if continued and not (response.headers.get("Content-Range") or "").startswith(f"bytes {offset}-"):
        part.unlink(missing_ok=True)
        raise Refused("the server continued at another place", again=True)
    here = offset if continued else 0
    announced = response.headers.get("Content-Length") or ""
    least = size if size is not None else here + int(announced) if announced.isdecimal() else 0
    most = MOST_BYTES if size is None else size
    with error_naming(part), part.open("ab" if continued else "wb") as stream:
        while piece := _piece(response, part):
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


def _piece(response: _Response, part: Path) -> bytes:
    with _refusals(part):
        return response.read(_CHUNK)


def _accept(file: Checksum, part: Path, target: Path, *, resumed: bool) -> Path:
    """The target, made of a part with the recorded content; an old part may have been of another file."""
    actual = sha256_of(part)
    if file.recorded and actual != file.sha256:
        part.unlink()
        raise Refused(f"sha256 is {actual}, not the recorded {file.sha256}", again=resumed, corrupt=True)
    part.chmod(0o644)
    part.replace(target)
    sync_folder(target.parent)
    return target


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold a lock, so that two processes that want the same file fetch it once."""
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


def _text_of(reason: object) -> str:
    return (getattr(reason, "strerror", None) or str(reason) or type(reason).__name__).strip()
