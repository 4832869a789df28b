"""A site is whole or not there, equal for equal results, small at its first page, and harms no other folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness import api
from harness.base import files
from harness.base.errors import UsageError
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.planning.plan import Plan
from harness.report.site import write_site
from harness.report.site_pages import SitePages
from harness.results.last_audit import STORED, read_last_audit
from tests.fabricate import table_of
from tests.report.devtools import Tab


def _content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_equal_results_are_an_equal_site(evidence: Layout, made_up: Plan, own: Path) -> None:
    first = _content(own)
    write_site(evidence, table_of(evidence, made_up), own)
    assert _content(own) == first
    listing = json.loads(first["site.json"])["files"]
    assert listing == {name: sha256_of(own / name) for name in first if name != "site.json"}


def test_no_sentence_announces_what_does_not_come(whole: Path) -> None:
    """A figure without claims has no verdicts to count."""
    pages = {path.name: path.read_text(encoding="utf-8") for path in whole.rglob("*.html")}
    assert [name for name, text in pages.items() if re.search(r":\s*</p>", text)] == []
    assert "<p>repurposing</p>" in pages["repurposing-figure-2b.html"]
    assert "<p>repurposing: <span" in pages["repurposing-bnnr-mean-over-seeds.html"]


def test_a_failure_leaves_the_earlier_site(
    evidence: Layout, made_up: Plan, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _content(own)

    def full_disk(*_: object) -> bytes:
        raise OSError("no space left")

    monkeypatch.setattr(SitePages, "_dataset", full_disk)
    for folder in (own, own.with_name("new")):
        with pytest.raises(OSError, match="no space"):
            write_site(evidence, table_of(evidence, made_up), folder)
    assert _content(own) == first
    assert sorted(path.name for path in own.parent.iterdir() if "own" in path.name or "new" in path.name) == [
        "own"
    ]


@pytest.mark.parametrize("fault", [OSError("no space left"), KeyboardInterrupt("no space left")])
def test_the_earlier_site_comes_back_where_the_new_one_can_not_take_its_place(
    evidence: Layout, made_up: Plan, own: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    first, seen = _content(own), list[bool]()

    def full_disk(*_: object) -> None:
        # the earlier site is out of the way, and what a killed attempt left there is gone
        seen.append(own.exists())
        raise fault

    (own.with_name(".own.earlier") / "left").mkdir(parents=True)
    monkeypatch.setattr(files, "move", full_disk)
    with pytest.raises(type(fault), match="no space"):
        write_site(evidence, table_of(evidence, made_up), own)
    assert seen == [False] and _content(own) == first
    assert [path.name for path in own.parent.iterdir() if "own" in path.name] == ["own"]
    # a kill leaves nobody to put it back: the next call does, whatever becomes of its own site
    own.rename(own.with_name(".own.earlier"))
    with pytest.raises(type(fault), match="no space"):
        write_site(evidence, table_of(evidence, made_up), own)
    assert _content(own) == first
    monkeypatch.undo()
    (own.with_name(".own.earlier")).mkdir()
    write_site(evidence, table_of(evidence, made_up), own)
    assert [path.name for path in own.parent.iterdir() if "own" in path.name] == ["own"]


@pytest.mark.parametrize("what", ["a file beside", "another folder", "a link", "a file of that name"])
def test_a_folder_that_holds_something_else_is_left(
    evidence: Layout, made_up: Plan, own: Path, tmp_path: Path, what: str
) -> None:
    folder = own
    if what == "a file beside":
        (own / "methods" / "notes.txt").write_text("mine")
    elif what == "a link":
        (own / "out").symlink_to(tmp_path)
    elif what == "another folder":
        folder = tmp_path / "thesis"
        folder.mkdir()
        (folder / "index.html").write_text("mine")
    else:
        folder = tmp_path / "file"
        folder.write_text("mine")
    before = _content(tmp_path)
    with pytest.raises(UsageError, match="left as it is"):
        write_site(evidence, table_of(evidence, made_up), folder)
    assert _content(tmp_path) == before


def test_an_empty_folder_may_become_a_site(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert write_site(evidence, table_of(evidence, made_up), tmp_path / "empty").is_file()


def test_a_link_stays_and_where_it_leads_is_written(evidence: Layout, made_up: Plan, own: Path) -> None:
    link = own.with_name("published")
    link.symlink_to(own)
    (own / "index.html").write_text("of old")
    assert write_site(evidence, table_of(evidence, made_up), link) == own / "index.html"
    assert link.readlink() == own and "of old" not in (own / "index.html").read_text()
    assert sorted(path.name for path in own.parent.iterdir() if path.name != "copy") == ["own", "published"]


def test_the_first_page_is_small_and_needs_nothing_else(site: Path) -> None:
    size = (site / "index.html").stat().st_size + (site / "style.css").stat().st_size
    assert size < 300_000
    for path in site.rglob("*.html"):
        text = path.read_text()
        assert "default-src 'none'" in text
        assert not re.search(r'<(?!a )[^>]*(src|href)="(https?:)?//', text), path.name
        assert "@import" not in text and "url(" not in text


def test_the_index_finds_every_page(site: Path) -> None:
    index = (site / "index.html").read_text()
    for folder in ("methods", "datasets", "claims", "findings"):
        names = sorted(path.name for path in (site / folder).iterdir())
        assert names
        for name in names:
            assert f'href="{folder}/{name}"' in index


def test_the_search_works_from_a_file_and_the_style_applies(site: Path, tab: Tab) -> None:
    tab.look()
    tab.go((site / "index.html").as_uri())
    assert tab.evaluate("getComputedStyle(document.querySelector('.brand')).textTransform") == "uppercase"
    find = "form.elements.q.value = {!r}; form.dispatchEvent(new Event('input'));"
    tab.evaluate(find.format("bounded nuclear nothing"))
    assert tab.evaluate("rows.every(row => row.hidden)")
    tab.evaluate(find.format("bnnr repurposing"))
    found = tab.evaluate("rows.filter(row => !row.hidden).map(row => row.querySelector('a').getAttribute('href'))")
    assert "methods/bnnr.html" in found and "claims/repurposing-bnnr-value-per-seed.html" in found
    assert len(found) < 8


def test_the_search_leads_from_a_key_to_the_evidence_of_its_run(site: Path, tab: Tab) -> None:
    tab.look()
    anchors = {
        anchor: path.name
        for path in (site / "methods").iterdir()
        for anchor in re.findall(r'<tr id="run-([0-9a-f]{12})">', path.read_text())
    }
    files = sorted((site / "keys").iterdir())
    keys = [key for path in files for key in re.findall("[0-9a-f]{64}", path.read_text())]
    assert len(keys) > 1000 and {key[:12] for key in keys} == anchors.keys(), "every run of the site, and no other"
    key = keys[len(keys) // 2]
    type_in = "form.elements.q.value = {!r}; form.dispatchEvent(new Event('input'));"
    other = key[:63] + ("1" if key.endswith("0") else "0")
    for wanted, count in ((key, 1), (f" {key[:8].upper()}", 1), (other, 0)):
        tab.go((site / "index.html").as_uri())
        tab.evaluate(type_in.format(wanted))
        tab.wait_until("document.getElementById('count').textContent")
        assert tab.evaluate("document.getElementById('count').textContent") == f"{count} found.", wanted
    tab.evaluate(type_in.format(key[:8]))
    tab.evaluate("form.requestSubmit()")
    tab.press("Enter")
    tab.wait_until("document.querySelector('tr:target')")
    page, row = tab.evaluate("[location.pathname, document.querySelector('tr:target').id]")
    assert (page.rpartition("/")[2], row) == (anchors[key[:12]], f"run-{key[:12]}")


def test_a_search_without_the_file_of_keys_ends(own: Path, tab: Tab) -> None:
    (own / "keys" / "a.js").unlink()
    tab.go((own / "index.html").as_uri())
    tab.evaluate("form.elements.q.value = 'a'.repeat(8); find()")
    tab.wait_until("document.getElementById('count').textContent")
    assert tab.evaluate("document.getElementById('count').textContent") == "0 found."


def test_the_page_says_when_all_was_audited_and_that_more_has_come(evidence: Layout, made_up: Plan) -> None:
    here = api.Repository(evidence)
    page = api.report(table_of(evidence, made_up), repository=here)
    assert "not made on this machine yet; <code>harness audit --all</code> looks at all 4" in page.read_text()
    api.audit(repository=here)
    audit = read_last_audit(evidence, STORED)
    assert audit is not None and audit.results == 4
    page = api.report(table_of(evidence, made_up), unless_current=True, repository=here)
    assert f"{audit.passed} of 4 passed" in page.read_text() and "have come or gone" not in page.read_text()
    # whoever can write to the results has no seal to say that all was audited
    path = evidence.local / "audit.json"
    note = path.read_text()
    path.write_text(note.replace('"failed": 0', '"failed": 1'))
    assert path.read_text() != note and read_last_audit(evidence, STORED) is None
    path.write_text(note)
    audited = next(evidence.runs.glob("*/*/record.json")).parent
    audited.rename(evidence.local / "gone")
    assert "have come or gone" in api.report(table_of(evidence, made_up), repository=here).read_text()


def test_an_audit_of_a_part_is_not_told_as_one_of_all(evidence: Layout, made_up: Plan) -> None:
    here = api.Repository(evidence)
    key = next(evidence.runs.glob("*/*/record.json")).parent.name
    api.audit(key, repository=here)
    assert read_last_audit(evidence, STORED) is None
