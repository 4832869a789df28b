"""A file that came is readable by others, safe in a power cut and fetched once; a person hears of it."""

from __future__ import annotations

import fcntl
import http.client
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import OpenerDirector, Request

import pytest

from harness.base import download as module
from harness.base.download import Refused, download, transfer
from harness.base.heartbeat import PULSE

CONTENT = b"content"
URL = "https://example.org/data/file.bin"


@dataclass(frozen=True)
class Known:
    """What is recorded of a file."""

    content: bytes = CONTENT
    recorded: bool = True

    @property
    def sha256(self) -> str:
        return sha256(self.content).hexdigest()

    @property
    def bytes(self) -> int:
        return len(self.content)


class Response(io.BytesIO):
    """An answer without headers."""

    status = 200
    headers = Message()


def serve(monkeypatch: pytest.MonkeyPatch, answer: Callable[[], Any]) -> None:
    """Let every request have this answer."""

    class Opener:
        def open(self, _request: Request, timeout: float) -> Any:
            return answer()

    monkeypatch.setattr(module, "build_opener", lambda *_: Opener())


def test_others_may_read_it_and_its_name_survives_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, int]] = []

    def sync(handle: int) -> None:
        synced.append((str(Path(f"/proc/self/fd/{handle}").readlink()), os.fstat(handle).st_size))

    serve(monkeypatch, lambda: Response(CONTENT))
    monkeypatch.setattr(os, "fsync", sync)
    before = os.umask(0o077)
    try:
        target = download(URL, Known(), tmp_path / "file")
    finally:
        os.umask(before)
    assert target.stat().st_mode & 0o777 == 0o644
    assert synced[0] == (str(tmp_path / "file.part"), len(CONTENT)) and synced[1][0] == str(tmp_path)


def test_two_that_want_it_fetch_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer() -> Response:
        with (tmp_path / "file.lock").open("w") as other, pytest.raises(BlockingIOError):
            # nor may both hold it who ask as the harness does
            fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return Response(CONTENT)

    serve(monkeypatch, answer)
    download(URL, Known(), tmp_path / "file")
    with (tmp_path / "file.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize(
    ("there", "known", "asked"),
    [
        (CONTENT, Known(), False),
        (b"another", Known(), True),
        (b"longer than it", Known(), True),
        # nothing says that it is the right one
        (CONTENT, Known(recorded=False), True),
    ],
)
def test_only_the_recorded_content_is_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bytes, known: Known, asked: bool
) -> None:
    requests: list[int] = []

    def answer() -> Response:
        requests.append(1)
        return Response(CONTENT)

    (tmp_path / "file").write_bytes(there)
    serve(monkeypatch, answer)
    assert download(URL, known, tmp_path / "file").read_bytes() == CONTENT
    assert bool(requests) is asked


def test_a_folder_of_its_name_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").mkdir()
    serve(monkeypatch, lambda: Response(CONTENT))
    with pytest.raises(IsADirectoryError):
        download(URL, Known(), tmp_path / "file")


def test_a_file_without_content_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, lambda: Response(b""))
    assert download(URL, Known(b""), tmp_path / "file").read_bytes() == b""
    assert transfer(URL, tmp_path / "other", size=0, resume=True).read_bytes() == b""


def test_a_file_may_be_named_by_its_place(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(CONTENT)
    assert download((tmp_path / "source").as_uri(), Known(), tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize(("url", "named"), [(URL, "file.bin"), ("https://a.b/c/", "https://a.b/c/")])
def test_a_person_hears_what_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, named: str
) -> None:
    said: list[str] = []

    def answer() -> Response:
        PULSE.beat(-1e12)
        return Response(CONTENT)

    serve(monkeypatch, answer)
    with PULSE.speaker(said.append):
        transfer(url, tmp_path / "file", resume=False)
    assert [text.rpartition(" (")[0] for text in said] == [f"downloading {named}"]


def test_a_part_of_something_else_is_asked_for_again_once_it_proves_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole, but of another file: only what was there before may be to blame."""
    (tmp_path / "file.part").write_bytes(b"another")
    serve(monkeypatch, lambda: Response(CONTENT))
    assert download(URL, Known(), tmp_path / "file", pause=0.0).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (http.client.HTTPException(), "the connection broke: HTTPException"),
        (http.client.BadStatusLine("x\n"), "the connection broke: x"),
        (http.client.IncompleteRead(b"ab"), "the connection broke: IncompleteRead(2 bytes read)"),
        (URLError(TimeoutError("timed out")), "can't be reached: timed out"),
    ],
)
def test_what_broke_is_told_in_its_own_words_or_by_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def answer() -> Any:
        raise error

    serve(monkeypatch, answer)
    with pytest.raises(Refused) as refused:
        download(URL, Known(), tmp_path / "file", pause=0.0)
    assert str(refused.value) == f"{told} (attempt 3 of 3)"


@pytest.mark.parametrize("header", ["location", "uri"])
@pytest.mark.parametrize(
    ("address", "follows"),
    [
        ("https://a.b/c", True),
        ("http://a.b/c", True),
        ("other", True),
        ("ftp://a.b/c", False),
        ("file:///etc", False),
    ],
)
def test_a_server_leads_to_the_web_by_either_header_or_nowhere(header: str, address: str, follows: bool) -> None:
    class Parent(OpenerDirector):
        def open(self, fullurl: Any, data: Any = None, timeout: float | None = None) -> Any:
            return fullurl.full_url

    handler, headers, request = module._OnlyWeb(), http.client.HTTPMessage(), Request(URL)
    handler.add_parent(Parent())
    headers[header] = address
    request.timeout = 1.0
    for way in (301, 302, 303, 307, 308):
        answer = getattr(handler, f"http_error_{way}")
        if follows:
            found = answer(request, io.BytesIO(), way, "moved", headers)
            assert found == (address if "://" in address else "https://example.org/data/other")
            request = Request(URL)
            request.timeout = 1.0
        else:
            with pytest.raises(URLError, match=f"leads to {address}, which is neither http nor https"):
                answer(request, io.BytesIO(), way, "moved", headers)
    assert handler.http_error_302(request, io.BytesIO(), 302, "moved", http.client.HTTPMessage()) is None


def test_a_refusal_lets_go_of_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = io.BytesIO(b"not here")

    def answer() -> Any:
        raise HTTPError(URL, 404, "none", Message(), body)

    serve(monkeypatch, answer)
    with pytest.raises(Refused, match=r"^status 404 none$"):
        download(URL, Known(), tmp_path / "file")
    assert body.closed
