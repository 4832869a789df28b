"""A damaged copy must never be used, and an absent file must be reported with every place that was tried."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.download import MIRROR_VARIABLE, mirror_folders
from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.data.manifest import mirror_path
from harness.data.sources import cache_path, check_file, obtain
from tests.data.own_data import source
from tests.data.told import put
from tests.data.web import Web, serving

CONTENT = b"0.5,0.25\n" * 100
RAW = "https://raw.githubusercontent.com/owner/repo/0a1b/folder/a%20file.csv"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A server on this machine, reached without any proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(CONTENT) as served:
        yield served


def test_mirror_is_laid_out_by_url() -> None:
    assert mirror_path(RAW) == Path("github.com/owner/repo/0a1b/folder/a file.csv")
    assert mirror_path("https://github.com/owner/repo/raw/0a1b/x.csv") == Path("github.com/owner/repo/0a1b/x.csv")
    assert mirror_path("https://example.org/data/x.csv") == Path("example.org/data/x.csv")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/../../etc/passwd",
        "https://example.org/%2e%2e/x",
        "https://example.org/a%2Fb",
        "file:///etc/passwd",
        "http://../x",
        "http://./x",
        "http://..:80/x",
    ],
)
def test_url_can_not_lead_out_of_a_mirror(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL|does not name a file"):
        mirror_path(url)


def test_mirror_is_used_before_the_network(own: Layout, web: Web, tmp_path: Path) -> None:
    file = source(CONTENT, web.url())
    copy = put(tmp_path / "mirror" / mirror_path(web.url()), CONTENT)
    assert obtain(own, "mine", file, [tmp_path / "mirror"]) == copy
    assert web.asked == []


@pytest.mark.parametrize("of", [0, 1])
def test_a_mirror_of_any_address_is_used(own: Layout, tmp_path: Path, of: int) -> None:
    urls = [RAW, "https://example.org/data/x.csv"]
    copy = put(tmp_path / "mirror" / mirror_path(urls[of]), CONTENT)
    assert obtain(own, "mine", source(CONTENT, *urls), [tmp_path / "mirror"]) == copy


def test_environment_names_mirrors_too(own: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = put(tmp_path / "second" / mirror_path(RAW), CONTENT)
    monkeypatch.setenv(MIRROR_VARIABLE, f"{tmp_path / 'first'}:{tmp_path / 'second'}")
    assert mirror_folders([tmp_path / "first"]) == [tmp_path / "first", tmp_path / "second"]
    assert obtain(own, "mine", source(CONTENT, RAW)) == copy


def test_damaged_mirror_is_passed_over(own: Layout, web: Web, tmp_path: Path) -> None:
    file = source(CONTENT, web.url())
    put(tmp_path / "mirror" / mirror_path(web.url()), b"x" * len(CONTENT))
    assert obtain(own, "mine", file, [tmp_path / "mirror"]) == cache_path(own, file)
    assert cache_path(own, file).read_bytes() == CONTENT


def test_damaged_cache_is_replaced(own: Layout, web: Web) -> None:
    file = source(CONTENT, web.url())
    put(cache_path(own, file), CONTENT[:-1])
    assert obtain(own, "mine", file).read_bytes() == CONTENT


def test_second_url_is_tried(own: Layout, web: Web) -> None:
    web_file = source(CONTENT, "http://127.0.0.1:9/gone", web.url())
    assert obtain(own, "mine", web_file).read_bytes() == CONTENT


def test_error_names_every_source_and_its_failure(own: Layout, web: Web, tmp_path: Path) -> None:
    web.status = 404
    file = source(CONTENT, web.url())
    with pytest.raises(MissingData) as caught:
        obtain(own, "mine", file, [tmp_path / "one", tmp_path / "two"])
    told = str(caught.value)
    assert "'file.bin' (dataset mine) is in none of its sources" in told
    for place in (str(cache_path(own, file)), str(tmp_path / "one"), str(tmp_path / "two")):
        assert f"{place}" in told
    assert f"{web.url()}: status 404" in told
    assert "--mirror DIR" in told
    assert caught.value.exit_code == 4


def test_wrong_content_everywhere_is_corrupt_not_missing(own: Layout, web: Web, tmp_path: Path) -> None:
    web.content = b"y" * len(CONTENT)
    file = source(CONTENT, web.url())
    put(tmp_path / "mirror" / mirror_path(web.url()), CONTENT[:-5])
    with pytest.raises(CorruptData) as caught:
        obtain(own, "mine", file, [tmp_path / "mirror"])
    told = str(caught.value)
    assert f"{len(CONTENT) - 5} bytes instead of {len(CONTENT)}" in told
    assert f"not the recorded {file.sha256}" in told
    assert not cache_path(own, file).exists()
    # one place is enough, wherever it is
    with pytest.raises(CorruptData, match=r"no source of 'file.bin' \(dataset mine\) has the recorded content"):
        obtain(own, "mine", file)


@pytest.mark.parametrize(
    ("recorded", "copy", "told"),
    [
        (CONTENT, CONTENT.replace(b"\n", b"\r\n"), "other line ends"),
        (CONTENT.replace(b"\n", b"\r\n"), CONTENT, "other line ends"),
        (CONTENT, CONTENT.replace(b"\n", b"\r\n")[:-9], "cut or changed"),
    ],
)
def test_a_copy_with_other_line_ends_is_told_from_a_damaged_one(
    tmp_path: Path, recorded: bytes, copy: bytes, told: str
) -> None:
    file = source(recorded, "https://example.invalid/x.csv")
    fault = check_file(put(tmp_path / "x.csv", copy), file)
    assert fault is not None and told in fault
