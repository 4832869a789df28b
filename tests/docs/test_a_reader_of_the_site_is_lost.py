"""The site is built and read without a network; every link of it leads somewhere, and a search finds."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from harness import benchmarks
from harness.base.errors import EngineError, HarnessError, UsageError
from harness.base.layout import Layout
from scripts.site.build import build_site, render, site_programs
from scripts.site.sources import pages
from tests.conftest import REPOSITORY
from tests.report.devtools import Tab, opened

# a program that starts another one where there is no way to any other machine
_ALONE = ("unshare", "--net", "--map-root-user") if shutil.which("unshare") else ()


@pytest.fixture(scope="session")
def programs(repository: Layout) -> Path:
    """Sphinx, or the test skips."""
    try:
        return site_programs(repository)
    except EngineError as error:
        pytest.skip(error.what)


@pytest.fixture(scope="session")
def site(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as the command makes it with the network off."""
    assert programs
    folder = tmp_path_factory.mktemp("documentation") / "site"
    can_be_alone = _ALONE and subprocess.run([*_ALONE, "true"], capture_output=True, check=False).returncode == 0
    command = [*(_ALONE if can_be_alone else ()), sys.executable, "-m", "scripts.site", str(folder)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"written: {folder}/index.html\n"
    return folder


class _Page(HTMLParser):
    """What a page links to, what a browser loads for it, and the places in it that links may name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: text or "" for name, text in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])


@pytest.fixture(scope="session")
def read(site: Path) -> dict[Path, _Page]:
    """Every page of the site."""
    return {path: _Page(path) for path in sorted(site.rglob("*.html"))}


def _dead(read: dict[Path, _Page], page: Path, address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return False
    there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if there.is_dir() or not there.exists():
        return True
    return bool(parts.fragment) and there in read and unquote(parts.fragment) not in read[there].places


@pytest.mark.thorough
def test_every_link_leads_somewhere(read: dict[Path, _Page]) -> None:
    assert len(read) > 60
    dead = [
        f"{page.name}: {address}"
        for page, what in read.items()
        for address in {*what.links, *what.loaded}
        if address != "#" and _dead(read, page, address)
    ]
    assert dead == []


@pytest.mark.thorough
def test_no_page_asks_another_host_for_anything(site: Path, read: dict[Path, _Page]) -> None:
    assert [one for what in read.values() for one in what.loaded if re.match("(https?:)?//", one)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url[(]|@import)\s*[\"']?(?:https?:)?//[^)]*", styles) == []


@pytest.mark.thorough
def test_every_page_of_the_repository_is_there(site: Path) -> None:
    missing = [
        name for name, place in pages(REPOSITORY).items() if not (site / place).with_suffix(".html").is_file()
    ]
    assert missing == []


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    """A page in a browser that has no network."""
    with opened(tmp_path) as one:
        one.send("Network.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        one.send("Network.emulateNetworkConditions", **offline)
        yield one


@pytest.mark.thorough
@pytest.mark.parametrize("name", benchmarks.names())
def test_the_studies_are_there(site: Path, name: str) -> None:
    assert "<h2>Table " in (site / "studies" / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_search_finds_from_a_folder(site: Path, tab: Tab) -> None:
    tab.go((site / "index.html").as_uri())
    tab.evaluate("document.querySelector('.sidebar-search').focus()")
    tab.send("Input.insertText", text="replay")
    tab.press("Enter")
    tab.wait_until("document.querySelector('#search-results li a')")
    hits = tab.evaluate("[...document.querySelectorAll('#search-results li a')].map(one => one.href)")
    assert f"{(site / 'auditing.html').as_uri()}" in [hit.partition("?")[0].partition("#")[0] for hit in hits]
    asked = [
        event["params"]["request"]["url"] for event in tab.browser.events if "request" in event.get("params", {})
    ]
    assert asked and {url.partition(":")[0] for url in asked} <= {"file", "data"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["index", "permafrost", "methods", "tables", "tutorials/author", "reference/commands"]
)
@pytest.mark.parametrize("width", [390, 1400])
def test_no_page_is_wider_than_the_window(site: Path, tab: Tab, name: str, width: int) -> None:
    tab.look(width=width)
    tab.go((site / f"{name}.html").as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_dead_links_end_the_build(programs: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "conf.py").write_text("extensions = ['myst_parser']\nmyst_heading_anchors = 4\n")
    (sources / "index.md").write_text("# One\n```{toctree}\nother\n```\n[x](other.md#here)\n")
    (sources / "other.md").write_text("# Other\n## Here\n[x](#here)\n")
    render(programs, sources, tmp_path / "good")
    (sources / "other.md").write_text("# Other\n[x](nowhere.md)\n\n![x](nowhere.png)\n")
    (sources / "alone.md").write_text("# Nothing leads here\n")
    with pytest.raises(HarnessError) as caught:
        render(programs, sources, tmp_path / "bad")
    # each of the four, and no other
    places = [line.partition(": ")[0] for line in caught.value.where.splitlines()]
    assert sorted(places) == ["alone.md", "index.md:5", "other.md:2", "other.md:4"], caught.value.where


def test_another_folder_is_left_alone(repository: Layout, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UsageError, match="something else"):
        build_site(repository, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
