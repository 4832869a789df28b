"""A download that is cut, changed, too long or interrupted must never become a file of the cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base import download as module
from harness.base.download import Refused, download
from tests.data.own_data import source
from tests.data.web import Web, serving

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A server on this machine, reached without any proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(CONTENT) as served:
        yield served


def _fetch(web: Web, target: Path, content: bytes = CONTENT) -> Path:
    return download(web.url(), source(content), target, pause=0.0)


def _nothing_is_there(target: Path) -> bool:
    return not target.exists()


def test_whole_file_arrives(web: Web, tmp_path: Path) -> None:
    target = tmp_path / "cache" / "file"
    assert _fetch(web, target).read_bytes() == CONTENT
    assert sorted(path.name for path in target.parent.iterdir()) == ["file", "file.lock"]


def test_second_request_downloads_nothing(web: Web, tmp_path: Path) -> None:
    _fetch(web, tmp_path / "file")
    _fetch(web, tmp_path / "file")
    assert len(web.asked) == 1


def test_cut_download_is_continued_where_it_broke(web: Web, tmp_path: Path) -> None:
    web.cut_after = 4000
    assert _fetch(web, tmp_path / "file").read_bytes() == CONTENT
    assert web.asked == [None, "bytes=4000-", "bytes=8000-"]


def test_download_that_stays_cut_is_refused_and_its_part_kept(web: Web, tmp_path: Path) -> None:
    web.cut_after = 100
    with pytest.raises(Refused, match=f"cut: 300 of {len(CONTENT)} bytes.*attempt 3 of 3"):
        _fetch(web, tmp_path / "file")
    assert _nothing_is_there(tmp_path / "file")
    assert (tmp_path / "file.part").read_bytes() == CONTENT[:300]


def test_server_without_ranges_starts_again(web: Web, tmp_path: Path) -> None:
    web.understands_ranges = False
    (tmp_path / "file.part").write_bytes(CONTENT[:10])
    assert _fetch(web, tmp_path / "file").read_bytes() == CONTENT


def test_server_that_continues_elsewhere_is_not_believed(web: Web, tmp_path: Path) -> None:
    web.wrong_range = True
    (tmp_path / "file.part").write_bytes(CONTENT[:10])
    assert _fetch(web, tmp_path / "file").read_bytes() == CONTENT
    assert web.asked == ["bytes=10-", None]


def test_wrong_checksum_is_refused_at_once_and_leaves_nothing(web: Web, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"sha256 is .* not the recorded") as caught:
        _fetch(web, tmp_path / "file", bytes(len(CONTENT)))
    assert caught.value.corrupt
    assert len(web.asked) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file.lock"]


def test_part_of_another_file_does_not_block_for_ever(web: Web, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(b"x" * 50)
    assert _fetch(web, tmp_path / "file").read_bytes() == CONTENT


def test_part_that_is_too_long_is_thrown_away(web: Web, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    assert _fetch(web, tmp_path / "file").read_bytes() == CONTENT


def test_longer_file_is_refused(web: Web, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="longer than the recorded 100 bytes"):
        _fetch(web, tmp_path / "file", CONTENT[:100])
    assert _nothing_is_there(tmp_path / "file")
    assert _nothing_is_there(tmp_path / "file.part")


def test_error_page_with_status_500_is_no_data(web: Web, tmp_path: Path) -> None:
    web.status = 500
    with pytest.raises(Refused, match="status 500"):
        _fetch(web, tmp_path / "file")
    assert len(web.asked) == module.ATTEMPTS
    assert _nothing_is_there(tmp_path / "file.part")


def test_passing_trouble_is_tried_again(web: Web, tmp_path: Path) -> None:
    web.fail_first = 2
    assert _fetch(web, tmp_path / "file").read_bytes() == CONTENT


def test_missing_file_is_not_asked_for_again(web: Web, tmp_path: Path) -> None:
    web.status = 404
    with pytest.raises(Refused, match="status 404"):
        _fetch(web, tmp_path / "file")
    assert len(web.asked) == 1


def test_unreachable_server_is_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(CONTENT) as gone:
        url = gone.url()
    with pytest.raises(Refused, match=r"can't be reached: .*attempt 3 of 3"):
        download(url, source(CONTENT), tmp_path / "file", pause=0.0)


def test_silent_server_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/file"
        with pytest.raises(Refused, match="attempt 3 of 3"):
            download(url, source(CONTENT), tmp_path / "file", pause=0.0)


def test_damaged_file_of_the_right_size_is_fetched_again(web: Web, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(len(CONTENT)))
    assert _fetch(web, tmp_path / "file").read_bytes() == CONTENT
    assert len(web.asked) == 1


@pytest.mark.parametrize("elsewhere", ["ftp://127.0.0.1:9/file", "file:///etc/passwd"])
def test_redirect_away_from_the_web_is_refused(web: Web, tmp_path: Path, elsewhere: str) -> None:
    web.redirect = elsewhere
    with pytest.raises(Refused, match=f"leads to {elsewhere}, which is neither http nor https"):
        _fetch(web, tmp_path / "file")
    assert _nothing_is_there(tmp_path / "file")


def test_redirect_on_the_web_is_followed(web: Web, tmp_path: Path) -> None:
    with serving(CONTENT) as other:
        web.redirect = other.url()
        assert _fetch(web, tmp_path / "file").read_bytes() == CONTENT


_NO_ADDRESSES = (
    "nothing",
    "http://[no/x",
    "http://127.0.0.1:9/\u00e4",
    "http://\u200b/x",
    f"http://{'a' * 64}.org/",
)


@pytest.mark.parametrize("address", _NO_ADDRESSES)
def test_what_is_no_address_is_refused_at_once(tmp_path: Path, address: str) -> None:
    with pytest.raises(Refused, match=r"not an address: (?!.*attempt)"):
        download(address, source(CONTENT), tmp_path / "file", pause=0.0)


def test_redirect_to_what_is_no_address_is_refused(web: Web, tmp_path: Path) -> None:
    web.redirect = "http://[no/x"
    with pytest.raises(Refused, match="not an address: "):
        _fetch(web, tmp_path / "file")
