"""A page that is kept because nothing changed shows what is: whatever it is made of, a change makes it anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from harness import api
from harness.api.pages import fingerprint, remember
from harness.audit import Lack, check_page
from harness.audit.steps import Believed, Checked, Step, ok
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.needs import REQUEST
from harness.planning.plan import Plan
from harness.results.last_audit import REFERENCE, STORED, LastAudit, write_last_audit
from harness.results.scoring import scores_path
from harness.results.store import Store
from tests.fabricate import planned_of, put_run


def _other_bytes(path: Path) -> None:
    """Other content of the same size, with the time of writing put back."""
    before = path.stat()
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _touched(path: Path) -> None:
    """The same text, and a comment."""
    path.write_text(path.read_text() + "# more\n")


def _log(layout: Layout, plan: Plan) -> Path:
    return Store(layout.runs).path(planned_of(plan.cells[0]).key) / "log.txt"


CHANGES: dict[str, Callable[[Layout, Plan, Path], object]] = {
    "a run more": lambda layout, plan, page: put_run(layout, planned_of(plan.cells[-1])),
    "a log": lambda layout, plan, page: _other_bytes(_log(layout, plan)),
    "scores": lambda layout, plan, page: scores_path(layout, planned_of(plan.cells[0]).key).unlink(),
    "a claim": lambda layout, plan, page: _touched(layout.published / "repurposing" / "names.toml"),
    "a card": lambda layout, plan, page: _touched(layout.methods / "constant" / "method.toml"),
    "a reference": lambda layout, plan, page: write_atomic(layout.reference / "new.txt", "x"),
    "data in the cache": lambda layout, plan, page: write_atomic(layout.cache / "data" / "new", "x"),
    "the page": lambda layout, plan, page: _other_bytes(page),
    "no page": lambda layout, plan, page: page.unlink(),
    "no note": lambda layout, plan, page: layout.local.joinpath("report.json").unlink(),
}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The pages that are made, each in place of what takes seconds."""
    pages: list[Path] = []

    def write(layout: Layout, table: object, output: Path, **more: object) -> Path:
        output.write_text(f"page {len(pages)}")
        pages.append(output)
        return output

    monkeypatch.setattr("harness.api.pages.write_report", write)
    return pages


def _report(layout: Layout, plan: Plan, *, unless_current: bool = True) -> Path:
    repository = api.Repository(layout)
    return api.report(
        api.status(plan, repository=repository), unless_current=unless_current, repository=repository
    )


def test_a_page_is_kept_while_nothing_changes(evidence: Layout, made_up: Plan, made: list[Path]) -> None:
    page = _report(evidence, made_up)
    assert _report(evidence, made_up) == page and len(made) == 1
    assert _report(evidence, made_up, unless_current=False) == page and len(made) == 2
    assert _report(evidence, Plan("other", made_up.cells[:1])) == page and len(made) == 3
    repository = api.Repository(evidence)
    for _ in range(2):
        api.report(api.status(made_up, repository=repository), repository=repository)
    assert len(made) == 5, "a page is kept only where that is asked for"


def test_a_copy_elsewhere_is_made_each_time_and_the_page_stays_what_is_vouched_for(
    evidence: Layout, made_up: Plan, made: list[Path], tmp_path: Path
) -> None:
    _report(evidence, made_up)
    repository, copy = api.Repository(evidence), tmp_path / "copy.html"
    table = api.status(made_up, repository=repository)
    for _ in range(2):
        assert api.report(table, copy, unless_current=True, repository=repository) == copy
    assert made == [evidence.page, copy, copy]
    (step,) = check_page(evidence)
    assert step.checked is Checked.OK
    assert _report(evidence, made_up) == evidence.page and len(made) == 3
    # its usual place by another name
    usual = evidence.local / ".." / evidence.local.name / "report.html"
    api.report(table, usual, repository=repository)
    (step,) = check_page(evidence)
    assert step.checked is Checked.OK and len(made) == 4


def _told_of_the_page(layout: Layout) -> dict[str, list[Step]]:
    """What audits say of the page, by what they believe."""
    return {
        believing: [
            step
            for step in api.audit(believing=believing, progress=None, repository=api.Repository(layout)).repository
            if step.name.startswith("page")
        ]
        for believing in get_args(Believed)
    }


def test_an_audit_that_believes_no_note_makes_the_page_again(evidence: Layout) -> None:
    """Whoever has the seal can note a forged page as the harness does."""
    repository = api.Repository(evidence)
    plan = api.plan(suite=STORED, make_splits=False, repository=repository)
    page = _report(evidence, plan, unless_current=False)
    (vouched,) = check_page(evidence)
    anew = ok("page anew", "it is what the results give")
    assert _told_of_the_page(evidence) == {"notes": [vouched], "nothing": [vouched, anew]}
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</main>", "\x1b[2J<p>0.999</p></main>"), encoding="utf-8")
    remember(evidence, "1" * 64)
    told = _told_of_the_page(evidence)
    (vouched,) = told["notes"]
    assert vouched.checked is Checked.OK and told["nothing"][0] == vouched
    (forged,) = told["nothing"][1:]
    line = text[: text.index("</main>")].count("\n") + 1
    assert (forged.name, forged.checked, forged.where) == ("page anew", Checked.FAILED, f"{page}:{line}")
    # a stranger's page does not control the terminal
    assert "\\x1b[2J<p>0.999</p></main>" in forged.found
    assert "</main>" in forged.expected and "0.999" not in forged.expected
    assert forged.what.endswith("make it again: harness report")
    assert api.audit(believing="nothing", progress=None, repository=repository).is_broken
    elsewhere = page.rename(page.with_name("elsewhere.html"))
    page.symlink_to(elsewhere)
    (*_, linked) = _told_of_the_page(evidence)["nothing"]
    assert (linked.checked, linked.where, linked.found) == (Checked.FAILED, str(page), "")
    page.unlink()
    page.write_text("<p>als_wr 0.9", encoding="utf-8")
    remember(evidence, "1" * 64)
    (_, damaged) = _told_of_the_page(evidence)["nothing"]
    assert damaged.checked is Checked.FAILED and "no page of `harness report`" in damaged.what


def test_a_page_of_single_runs_is_no_broken_link(evidence: Layout, made_up: Plan) -> None:
    page = _report(evidence, replace(made_up, name=REQUEST), unless_current=False)
    (_, part) = _told_of_the_page(evidence)["nothing"]
    assert (part.name, part.checked, part.lack) == ("page anew", Checked.NOT_CHECKED, Lack.OTHER)
    assert part.what.startswith("a page of a part of a suite, or of single runs, can't be made")
    assert part.what.endswith("of itself; make the page of a suite: harness report")
    page.unlink()
    assert _told_of_the_page(evidence) == {"notes": [], "nothing": []}


def test_every_folder_that_a_page_is_made_of_and_each_audit_counts(
    fabricated: Layout, made_up: Plan, tmp_path: Path
) -> None:
    table = api.status(made_up, repository=api.Repository(fabricated))
    layout = Layout(tmp_path / "root", tmp_path / "cache", tmp_path / "local")
    places = [
        *("root/harness", "root/methods/one", "root/containers/_base", "root/datasets", "root/results/published"),
        *(
            "root/results/reference",
            "cache/data",
            "cache/datasets",
            "cache/splits/x",
            "local/runs/a",
            "local/scores",
        ),
    ]
    audit = LastAudit(
        **{"at": "today", "tree": "", "digest": "d", "results": 1, "passed": 1, "failed": 0},
        **{"superseded": 0, "unfinished": 0, "replayed": 0},
    )
    found = [fingerprint(layout, table)]
    for place in places:
        write_atomic(tmp_path / place / "file", "x")
        found.append(fingerprint(layout, table))
    # a name that is no text is a name
    Path(os.fsdecode(os.fsencode(tmp_path / "cache/data") + b"/\xff")).touch()
    found.append(fingerprint(layout, table))
    (tmp_path / "root/methods/link").symlink_to(tmp_path / "cache")
    found.append(fingerprint(layout, table))
    for of in (STORED, REFERENCE):
        write_last_audit(layout, of, audit)
        found.append(fingerprint(layout, table))
    assert len(set(found)) == len(found) == 16
    for place in ("root/methods/one/__pycache__", "cache/parts", "local/work", "root/docs"):
        write_atomic(tmp_path / place / "file", "x")
        assert fingerprint(layout, table) == found[-1]


def test_a_file_that_another_process_takes_away_meanwhile_does_not_count(
    fabricated: Layout, made_up: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = api.status(made_up, repository=api.Repository(fabricated))
    layout = Layout(tmp_path / "root", tmp_path / "cache", tmp_path / "local")
    write_atomic(layout.scores / "one.json", "{}")
    expected = fingerprint(layout, table)
    draft, scandir = layout.scores / "another.json.draft", os.scandir
    draft.touch()

    def listed(folder: str) -> list[os.DirEntry[str]]:
        entries = list(scandir(folder))
        draft.unlink(missing_ok=True)
        return entries

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", listed)
        assert fingerprint(layout, table) == expected


def test_each_thing_that_is_told_of_a_cell_and_each_mirror_counts(
    fabricated: Layout, made_up: Plan, tmp_path: Path
) -> None:
    table = api.status(made_up, repository=api.Repository(fabricated))
    one, *others = table.cells
    cell = one.cell
    changed = [
        replace(one, cell=replace(cell, verdict=Verdict.ERROR)),
        replace(one, cell=replace(cell, reason="another")),
        replace(one, row="another"),
        replace(one, metrics={}),
        replace(one, notes={"AUC": "a note"}),
        replace(one, reference=True),
        replace(one, control=not one.control),
    ]
    tables = [table, replace(table, name="other"), replace(table, cells=(*others, one))]
    tables += [replace(table, cells=(one_, *others)) for one_ in changed]
    found = [fingerprint(fabricated, shown) for shown in tables]
    found += [fingerprint(fabricated, table, mirrors) for mirrors in ([tmp_path], [tmp_path / "x"])]
    # a cell without a key is known by its job
    jobs = [replace(one, cell=replace(cell, planned=None, job=own.cell.job)) for own in table.cells[:3]]
    found += [fingerprint(fabricated, replace(table, cells=(own,))) for own in jobs]
    assert len(set(found)) == len(found) and fingerprint(fabricated, table) == found[0]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_the_page_is_made_anew(
    evidence: Layout, made_up: Plan, made: list[Path], change: str
) -> None:
    page = _report(evidence, made_up)
    CHANGES[change](evidence, made_up, page)
    _report(evidence, made_up)
    assert len(made) == 2
    _report(evidence, made_up)
    assert len(made) == 2


def test_what_changes_while_the_page_is_made_is_not_taken_for_shown(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []

    def write(layout: Layout, table: object, output: Path, **more: object) -> Path:
        pages.append(output)
        output.write_text("page")
        if len(pages) == 1:
            _other_bytes(_log(evidence, made_up))
        return output

    monkeypatch.setattr("harness.api.pages.write_report", write)
    for _ in range(3):
        _report(evidence, made_up)
    assert len(pages) == 2
