"""A page or a site that somebody published is held against the results: what was changed is found, and named."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness import api
from harness.base.errors import CorruptData, UsageError
from harness.base.files import sha256_of, write_json
from harness.base.layout import Layout
from harness.planning.needs import PART, REQUEST
from harness.planning.plan import Plan
from harness.report import write_report
from harness.report.site import LISTING
from harness.report.verification import FileDifference, ReportVerification, verify_report
from harness.results.last_audit import STORED, LastAudit, write_last_audit
from harness.results.reference import save_reference
from harness.results.store import Store
from tests.fabricate import table_of

PAGE = "methods/constant.html"
DATA = '<script type="application/json" id="data">'


@pytest.fixture
def verified(shown: Layout, made_up: Plan, own: Path) -> ReportVerification:
    """What is said of it as it was published."""
    return verify_report(shown, table_of(shown, made_up), own)


def _named(verification: ReportVerification) -> list[tuple[str, int | None]]:
    return [(one.file, one.line) for one in verification.differences]


def test_an_honest_site_is_what_the_results_give(verified: ReportVerification, own: Path) -> None:
    assert verified.differences == ()
    assert verified.files == sum(path.is_file() for path in own.rglob("*"))
    assert list(verified.audits) == ["Audit of the runs made here"]


def test_every_change_is_found_and_shown(shown: Layout, made_up: Plan, own: Path) -> None:
    """A number, a page that is gone, one that was added, a link in a page's place; with a listing that agrees."""
    text = (own / PAGE).read_text(encoding="utf-8")
    line = next(n for n, one in enumerate(text.splitlines(), start=1) if "</table>" in one)
    at = text.index("</table>")
    (own / PAGE).write_text(f"{text[:at]}<p>0.999</p>{text[at:]}", encoding="utf-8")
    (own / "index.html").write_bytes((own / "index.html").read_bytes()[:-1])
    (own / "style.css").unlink()
    (own / "datasets" / "more.html").write_text("more")
    moved = min((own / "claims").iterdir())
    moved.rename(moved.with_suffix(".txt"))
    moved.symlink_to(moved.with_suffix(".txt"))
    files = [path for path in own.rglob("*") if path.is_file() and path.name != LISTING]
    sums = {path.relative_to(own).as_posix(): sha256_of(path) for path in sorted(files)}
    write_json(own / LISTING, json.loads((own / LISTING).read_text()) | {"files": sums})
    found = verify_report(shown, table_of(shown, made_up), own)
    differences = {one.file: one for one in found.differences}
    name = moved.relative_to(own).as_posix()
    assert sorted(differences) == sorted(
        [PAGE, "index.html", "style.css", "datasets/more.html", name, name.replace(".html", ".txt"), LISTING]
    )
    number = differences[PAGE]
    assert (number.line, number.what) == (line, "not what the results give")
    assert "<p>0.999</p></table>" in number.found and "0.999" not in number.expected
    assert number.expected.startswith(number.found.partition("<p>0.999")[0]) and "</table>" in number.expected
    assert (differences["index.html"].found, differences["index.html"].expected) == ("</html", "</html>")
    assert differences["style.css"] == FileDifference("style.css", "missing, or no file")
    assert differences[name] == FileDifference(name, "missing, or no file")
    assert differences["datasets/more.html"] == FileDifference("datasets/more.html", "no page of these results")


def test_other_results_are_another_site(evidence: Layout, made_up: Plan, own: Path) -> None:
    table = table_of(evidence, made_up)
    scored = next(one for one in table.cells if one.metrics)
    better = replace(scored, metrics=dict.fromkeys(scored.metrics, 0.999))
    cells = tuple(better if one is scored else one for one in table.cells)
    found = _named(verify_report(evidence, replace(table, cells=cells), own))
    assert (f"methods/{scored.cell.job.method}.html", None) not in found
    assert f"methods/{scored.cell.job.method}.html" in dict(found)


def test_what_it_tells_of_audits_is_its_own(
    evidence: Layout, made_up: Plan, own: Path, verified: ReportVerification
) -> None:
    """Where it was made nothing was audited, here something was: the one fact that another machine can't know."""
    numbers = dict.fromkeys(("results", "passed", "failed", "superseded", "unfinished", "replayed"), 1)
    write_last_audit(evidence, STORED, LastAudit(at="2036-01-01 00:00 UTC", tree="", digest="d", **numbers))
    table = table_of(evidence, made_up)
    assert verify_report(evidence, table, own) == verified
    listing = json.loads((own / LISTING).read_text())
    write_json(own / LISTING, listing | {"audits": {"Audit of the runs made here": "all of them, by everybody"}})
    changed = verify_report(evidence, table, own)
    assert changed.audits == {"Audit of the runs made here": "all of them, by everybody"}
    # its pages say otherwise
    assert "index.html" in dict(_named(changed))
    assert all("all of them" in one.expected for one in changed.differences if one.file == "index.html")


@pytest.mark.parametrize("listing", [None, "[]", '{"audits": {}}', '{"files": []}', '{"files": {}, "audits": []}'])
def test_a_folder_without_a_site_is_refused(
    shown: Layout, made_up: Plan, tmp_path: Path, listing: str | None
) -> None:
    if listing is not None:
        (tmp_path / LISTING).write_text(listing)
    with pytest.raises(CorruptData, match=r"no site of `harness report --site`") as caught:
        api.verify_report(tmp_path, table_of(shown, made_up), repository=api.Repository(shown))
    assert caught.value.where == str(tmp_path / LISTING)


@pytest.fixture(scope="session")
def made(shown: Layout, made_up: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the made-up runs, written within the repository, and moved. Not to be changed."""
    page = write_report(shown, table_of(shown, made_up), shown.root / "own" / "page.html")
    moved = Path(shutil.move(page, tmp_path_factory.mktemp("made")))
    page.parent.rmdir()
    return moved


@pytest.fixture
def page(made: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copy(made, tmp_path / "page.html"))


def test_an_honest_page_is_what_the_results_give_wherever_it_lies(
    shown: Layout, made_up: Plan, page: Path
) -> None:
    assert '"root":"../"' in page.read_text(encoding="utf-8")
    verified = verify_report(shown, table_of(shown, made_up), page)
    assert (verified.files, verified.differences) == (1, ())
    assert list(verified.audits) == ["Audit of the runs made here"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("</main>", "<p>0.999</p></main>"), "<p>0.999</p>"),
        (('"verdict":"ok"', '"verdict":"OK"'), '"verdict":"OK"'),
        (("not made on this machine yet", "all passed"), "all passed"),
    ],
)
def test_a_changed_page_is_found_and_shown(
    shown: Layout, made_up: Plan, page: Path, change: tuple[str, str], told: str
) -> None:
    text = page.read_text(encoding="utf-8")
    assert change[0] in text
    page.write_text(text.replace(*change, 1), encoding="utf-8")
    (found,) = verify_report(shown, table_of(shown, made_up), page).differences
    assert (found.file, found.what) == ("page.html", "not what the results give")
    assert told in found.found and told not in found.expected
    assert found.line == text[: text.index(change[0])].count("\n") + 1


def test_a_page_of_other_results_is_another_page(evidence: Layout, made_up: Plan, page: Path) -> None:
    table = table_of(evidence, made_up)
    scored = next(one for one in table.cells if one.metrics)
    better = replace(scored, metrics=dict.fromkeys(scored.metrics, 0.999))
    cells = tuple(better if one is scored else one for one in table.cells)
    assert len(verify_report(evidence, replace(table, cells=cells), page).differences) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>",
        f"{DATA}{{</script>",
        f"{DATA}[]</script>",
        f'{DATA}{{"root":"","audits":[],"plan":"x","reference":true}}</script>',
        f'{DATA}{{"audits":{{}},"plan":"x","reference":true}}</script>',
        f'{DATA}{{"root":"","audits":{{}},"reference":true}}</script>',
        f'{DATA}{{"root":"","audits":{{}},"plan":"x","reference":1}}</script>',
        # where a page must not lead
        f'{DATA}{{"root":"https://example.org/","audits":{{}},"plan":"x","reference":true}}</script>',
        f'{DATA}{{"root":"../../elsewhere/","audits":{{}},"plan":"x","reference":true}}</script>',
        b"\xff",
    ],
)
def test_what_is_no_page_is_refused(shown: Layout, made_up: Plan, tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(CorruptData, match=r"no page of `harness report`") as caught:
        verify_report(shown, table_of(shown, made_up), path)
    assert caught.value.where == str(path)


def test_a_page_is_held_against_the_suite_that_it_says_it_is_of(evidence: Layout, tmp_path: Path) -> None:
    """What it says is not believed: one of other results is another page, whatever it is called."""
    repository = api.Repository(evidence)
    save_reference(evidence, Store(evidence.runs))
    shutil.rmtree(evidence.runs)

    def written(name: str, *, reference: bool, published_seeds: int | None) -> Path:
        plan = api.plan(suite="smoke", published_seeds=published_seeds, make_splits=False, repository=repository)
        table = api.status(plan, reference=reference, repository=repository)
        return api.report(table, tmp_path / name, repository=repository)

    own = written("own.html", reference=False, published_seeds=None)
    pages = [own, written("both.html", reference=True, published_seeds=None)]
    pages.append(written("few.html", reference=True, published_seeds=1))
    assert len({page.read_bytes() for page in pages}) == 3
    for page in pages:
        assert api.verify_report(page, repository=repository).differences == ()
    renamed = own.read_text(encoding="utf-8").replace('"plan":"smoke"', '"plan":"stored"')
    own.write_text(renamed, encoding="utf-8")
    assert [one.file for one in api.verify_report(own, repository=repository).differences] == ["own.html"]
    own.write_text(renamed.replace('"plan":"stored"', '"plan":"no such suite"'), encoding="utf-8")
    with pytest.raises(UsageError, match="no such suite"):
        api.verify_report(own, repository=repository)


@pytest.mark.parametrize("plan", [REQUEST, f"smoke{PART}shard 1/3"])
def test_a_page_of_a_part_tells_not_enough_of_itself(
    evidence: Layout, made_up: Plan, tmp_path: Path, plan: str
) -> None:
    repository = api.Repository(evidence)
    table = replace(table_of(evidence, made_up), name=plan)
    page = api.report(table, tmp_path / "page.html", repository=repository)
    assert api.verify_report(page, table, repository=repository).differences == ()
    with pytest.raises(UsageError, match="a page of a part of a suite, or of single runs") as caught:
        api.verify_report(page, repository=repository)
    assert caught.value.where == f"{page}: {plan}"


def test_a_site_does_not_tell_what_it_is_of(shown: Layout, own: Path) -> None:
    with pytest.raises(UsageError, match="a site does not tell what it is of"):
        api.verify_report(own, repository=api.Repository(shown))
