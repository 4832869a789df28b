"""Which answers of a server are worth another try, how often and after which pause, and what is kept meanwhile."""

from __future__ import annotations

import errno
import hashlib
import io
from collections.abc import Callable, Iterator
from email.message import Message
from http.client import IncompleteRead
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request

import pytest

from harness.base import download as module
from harness.base.download import Refused, download, mirror_folders, transfer
from harness.data.manifest import SourceFile

CONTENT = b"0123456789" * 10
URL = "https://example.org/data/file.bin"
RECORDED = SourceFile(name="file.bin", urls=[URL], sha256=hashlib.sha256(CONTENT).hexdigest(), bytes=len(CONTENT))
UNKNOWN = SourceFile(name="file.bin", urls=[URL])

Answer = Callable[[Request], Any]


class Server:
    """Answers one request after the other; the last answer stands for all that follow."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    def open(self, request: Request, timeout: float) -> Any:
        assert timeout == 30.0
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(request)


class Response(io.BytesIO):
    """A body with a status and headers."""

    def __init__(self, body: bytes, status: int = 200, **headers: str) -> None:
        super().__init__(body)
        self.status = status
        self.headers = Message()
        for name, value in headers.items():
            self.headers[name.replace("_", "-")] = value


def refuses(status: int) -> Answer:
    def answer(request: Request) -> Any:
        raise HTTPError(request.full_url, status, "why", Message(), io.BytesIO())

    return answer


def gives(body: bytes, status: int = 200, **headers: str) -> Answer:
    return lambda _request: Response(body, status, **headers)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The pauses that were made; none takes any time."""
    made: list[float] = []
    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=made.append))
    yield made


def serve(monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> Server:
    server = Server(*answers)
    monkeypatch.setattr(module, "build_opener", lambda *_: server)
    return server


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_three_times(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float], status: int
) -> None:
    server = serve(monkeypatch, refuses(status))
    with pytest.raises(Refused) as refused:
        download(URL, RECORDED, tmp_path / "file")
    assert str(refused.value) == f"status {status} why (attempt 3 of 3)" and not refused.value.corrupt
    assert len(server.requests) == 3 and pauses == [0.5, 1.0] and not (tmp_path / "file").exists()
    # and is over in time, once
    server = serve(monkeypatch, refuses(status), refuses(status), gives(CONTENT))
    assert download(URL, RECORDED, tmp_path / "file", pause=2.0).read_bytes() == CONTENT
    assert len(server.requests) == 3 and pauses[2:] == [2.0, 4.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 418, 501, 505])
def test_what_will_not_pass_is_asked_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float], status: int
) -> None:
    server = serve(monkeypatch, refuses(status))
    with pytest.raises(Refused) as refused:
        download(URL, RECORDED, tmp_path / "file")
    assert str(refused.value) == f"status {status} why" and len(server.requests) == 1 and pauses == []


def test_a_part_that_the_server_will_not_continue_is_begun_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT[:40])
    server = serve(monkeypatch, refuses(416), gives(CONTENT))
    assert download(URL, RECORDED, tmp_path / "file").read_bytes() == CONTENT
    assert [request.get_header("Range") for request in server.requests] == ["bytes=40-", None]
    assert not (tmp_path / "file.part").exists()


def test_a_server_that_continues_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    serve(monkeypatch, refuses(416))
    with pytest.raises(Refused, match=r"^the part can't be continued \(attempt 3 of 3\)$"):
        download(URL, RECORDED, tmp_path / "file")


@pytest.mark.parametrize("changed", range(8))
def test_a_file_with_other_content_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float], changed: int
) -> None:
    (tmp_path / "file").write_bytes(CONTENT[:-1] + bytes([changed]))
    server = serve(monkeypatch, gives(CONTENT))
    assert download(URL, RECORDED, tmp_path / "file").read_bytes() == CONTENT and len(server.requests) == 1


def test_a_part_is_continued_where_it_ends_and_only_where_the_content_will_be_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT[:40])
    server = serve(monkeypatch, gives(CONTENT[40:], 206, Content_Range="bytes 40-99/100"))
    assert download(URL, RECORDED, tmp_path / "file").read_bytes() == CONTENT
    (request,) = server.requests
    assert request.get_header("Range") == "bytes=40-" and request.get_header("Accept-encoding") == "identity"
    assert str(request.get_header("User-agent")).startswith("permafrost/")
    (tmp_path / "other.part").write_bytes(b"of another file")
    server = serve(monkeypatch, gives(CONTENT))
    assert download(URL, UNKNOWN, tmp_path / "other").read_bytes() == CONTENT
    assert server.requests[0].get_header("Range") is None


def test_a_whole_part_needs_no_request(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT)
    server = serve(monkeypatch, refuses(404))
    assert download(URL, RECORDED, tmp_path / "file").read_bytes() == CONTENT and server.requests == []
    (tmp_path / "file").unlink()
    # but a part that is too long is none
    (tmp_path / "file.part").write_bytes(CONTENT + b"x")
    server = serve(monkeypatch, gives(CONTENT))
    download(URL, RECORDED, tmp_path / "file")
    assert [request.get_header("Range") for request in server.requests] == [None]


@pytest.mark.parametrize("place", ["bytes 41-99/100", "bytes 4-99/100", ""])
def test_a_server_that_continues_elsewhere_is_asked_from_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float], place: str
) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT[:40])
    server = serve(monkeypatch, gives(CONTENT[40:], 206, Content_Range=place), gives(CONTENT))
    assert download(URL, RECORDED, tmp_path / "file").read_bytes() == CONTENT
    assert server.requests[1].get_header("Range") is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (CONTENT[:-1], "cut: 99 of 100 bytes came"),
        (CONTENT + b"x", "longer than the recorded 100 bytes"),
        (CONTENT[:-1] + b"x", "not the recorded"),
    ],
)
def test_a_file_of_another_length_or_content_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float], body: bytes, message: str
) -> None:
    serve(monkeypatch, gives(body))
    with pytest.raises(Refused, match=message) as refused:
        download(URL, RECORDED, tmp_path / "file")
    # what came whole and is wrong will come again
    assert refused.value.corrupt is ("cut" not in message)
    assert len(pauses) == (2 if "cut" in message else 0)
    assert (tmp_path / "file.part").exists() is ("cut" in message) and not (tmp_path / "file").exists()


def test_an_announced_length_is_held_to_and_nonsense_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    serve(monkeypatch, gives(CONTENT, Content_Length="101"))
    with pytest.raises(Refused, match="cut: 100 of 101 bytes came"):
        download(URL, UNKNOWN, tmp_path / "file")
    for length in ("100", "-1", "many", "99"):
        serve(monkeypatch, gives(CONTENT, Content_Length=length))
        assert download(URL, UNKNOWN, tmp_path / length).read_bytes() == CONTENT


def test_an_endless_file_of_unknown_length_ends_at_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    serve(monkeypatch, gives(CONTENT))
    download(URL, UNKNOWN, tmp_path / "file")
    serve(monkeypatch, gives(CONTENT + b"x"))
    with pytest.raises(Refused, match="longer than the limit of 100 bytes") as refused:
        download(URL, UNKNOWN, tmp_path / "other")
    assert not refused.value.corrupt and not (tmp_path / "other.part").exists() and pauses == []


@pytest.mark.parametrize("status", [201, 204, 300])
def test_another_status_is_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float], status: int
) -> None:
    serve(monkeypatch, gives(CONTENT, status))
    with pytest.raises(Refused, match=f"status {status}"):
        download(URL, RECORDED, tmp_path / "file")
    assert pauses == []


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (URLError(OSError(111, "Connection refused")), "can't be reached: Connection refused"),
        (URLError("unknown host"), "can't be reached: unknown host"),
        (TimeoutError(), "no answer within 30 s"),
        (ConnectionResetError(104, "Connection reset"), "the connection broke: Connection reset"),
    ],
)
def test_a_lost_connection_is_tried_again_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float], error: Exception, message: str
) -> None:
    def broken(_request: Request) -> Any:
        raise error

    serve(monkeypatch, broken)
    with pytest.raises(Refused) as refused:
        download(URL, RECORDED, tmp_path / "file")
    assert str(refused.value) == f"{message} (attempt 3 of 3)" and len(pauses) == 2


def test_a_body_that_breaks_off_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    def breaks(_request: Request) -> Any:
        response = Response(CONTENT)
        monkeypatch.setattr(response, "read", lambda _amount: (_ for _ in ()).throw(IncompleteRead(b"", 100)))
        return response

    server = serve(monkeypatch, breaks, gives(CONTENT))
    assert download(URL, RECORDED, tmp_path / "file").read_bytes() == CONTENT and len(server.requests) == 2
    serve(monkeypatch, breaks)
    with pytest.raises(Refused, match=r"^the connection broke: .*\(attempt 3 of 3\)$"):
        download(URL, UNKNOWN, tmp_path / "other")


def test_a_full_disk_is_no_broken_connection(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    """No other try and no mirror helps: the error is that of the machine, and names the file."""
    (tmp_path / "file.part").symlink_to("/dev/full")
    server = serve(monkeypatch, gives(CONTENT))
    with pytest.raises(OSError, match="No space left on device") as full:
        download(URL, RECORDED, tmp_path / "file")
    assert full.value.errno == errno.ENOSPC and full.value.filename == str(tmp_path / "file.part")
    assert len(server.requests) == 1 and pauses == []


def test_a_folder_in_the_way_is_no_broken_connection(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    (tmp_path / "file.part").mkdir()
    server = serve(monkeypatch, gives(CONTENT))
    with pytest.raises(IsADirectoryError):
        download(URL, RECORDED, tmp_path / "file")
    assert len(server.requests) == 1 and pauses == []


@pytest.mark.parametrize("address", ["http://127.0.0.1/a file.bin", "http://127.0.0.1:port/file.bin", "file.bin"])
def test_what_is_no_address_is_asked_for_once(tmp_path: Path, pauses: list[float], address: str) -> None:
    with pytest.raises(Refused, match=r"^not an address: (?!.*attempt)"):
        download(address, RECORDED, tmp_path / "file")
    assert pauses == []


def test_a_transfer_begins_with_nothing_and_resumes_if_it_may(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pauses: list[float]
) -> None:
    target = tmp_path / "file"
    for resume, ranges in ((True, [None, "bytes=40-"]), (False, [None, None])):
        target.write_bytes(b"of yesterday")
        rest = gives(CONTENT[40:], 206, Content_Range="bytes 40-99/100") if resume else gives(CONTENT)
        server = serve(monkeypatch, gives(CONTENT[:40]), rest)
        assert transfer(URL, target, size=100, resume=resume).read_bytes() == CONTENT
        assert [request.get_header("Range") for request in server.requests] == ranges


def test_mirrors_are_those_named_then_those_of_the_environment_each_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    monkeypatch.setenv("PERMAFROST_MIRROR", f"{two}::{three}:{one}")
    assert mirror_folders([one]) == [one, two, three]
    monkeypatch.delenv("PERMAFROST_MIRROR")
    assert mirror_folders() == []
