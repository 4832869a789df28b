"""What plan, status, report, study and table are asked with is what is planned and written, and how they end."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from harness import api, benchmarks
from harness.base.errors import HarnessError, UsageError
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.benchmarks import folder
from harness.planning.needs import PART
from harness.planning.plan import Plan
from harness.report.verification import FileDifference, ReportVerification
from harness.results.last_audit import REFERENCE, STORED, LastAudit, read_last_audit, write_last_audit
from harness.results.store import Store
from harness.status import Table, to_json, to_markdown, to_text
from tests.cli.calls import document, harness_of
from tests.cli.test_a_campaign_is_watched_otherwise import bulletin
from tests.core.factories import planned_job, put_run
from tests.fabricate import table_of


@pytest.fixture
def planned(looked_at: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What plans are asked for; each is the made-up one."""
    asked: list[dict[str, Any]] = []

    def plan(**others: Any) -> Plan:
        asked.append(others)
        return made_up

    monkeypatch.setattr("harness.api.plan", plan, raising=False)
    return asked


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ((), {"suite": "smoke"}),
        (("--published-seeds", "3"), {"suite": "smoke", "published_seeds": 3}),
        (("--accelerator", "cuda"), {"suite": "smoke", "accelerator": "cuda"}),
        (("--shard", "1/2"), {"suite": "smoke", "shard": "1/2"}),
        (("--suite", "full"), {"suite": "full"}),
        # as a shell leaves it of a variable that is not set: what refuses it is the plan
        (("--suite", ""), {"suite": ""}),
        (("--variant", ""), {"variant": ""}),
        (("--suite", "full", "--shard", "3/10"), {"suite": "full", "shard": "3/10"}),
        (("--seed", "0"), {"seeds": (0,)}),
        (("--dataset", "synthetic"), {"datasets": ("synthetic",)}),
        (("--inner-folds", "0"), {"options": {"inner_folds": 0}}),
        (("--method", "constant"), {"suite": "full"}),
        (("--method", "constant", "--published-seeds", "2"), {"suite": "full", "published_seeds": 2}),
        (("--method", "constant", "--shard", "1/2"), {"suite": "full", "shard": "1/2"}),
        (
            ("--method", "constant", "--dataset", "synthetic"),
            {"methods": ("constant",), "datasets": ("synthetic",)},
        ),
        (
            ("--method", "constant", "--set", "score=1"),
            {"methods": ("constant",), "parameters": {"score": 1}},
        ),
    ],
)
def test_a_plan_is_of_what_was_typed(
    words: tuple[str, ...], changed: dict[str, Any], planned: list[dict[str, Any]]
) -> None:
    result = harness_of("plan", *words)
    assert result.return_value is None and result.stdout.startswith("made-up")
    usual: dict[str, Any] = dict.fromkeys(("suite", "published_seeds", "variant", "upstream", "shard"))
    usual |= dict.fromkeys(("methods", "datasets", "splits", "seeds"), ())
    usual |= {"parameters": {}, "options": {}, "accelerator": "cpu", "make_splits": False}
    (asked,) = planned
    assert asked.pop("repository").install is False
    assert asked == {**usual, **changed}


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize(
    ("words", "options"), [((), ""), (("--suite", "smoke", "--accelerator", "cuda"), " --accelerator cuda")]
)
def test_the_command_that_starts_a_plan_is_of_that_plan(words: tuple[str, ...], options: str) -> None:
    last = harness_of("plan", *words).stdout.splitlines()[-1]
    assert last == f"  start or resume it with: ./run_all.sh --suite made-up{options}"


def test_of_the_whole_plan_the_cells_of_a_method_are_shown(
    planned: list[dict[str, Any]], keys: list[str], looked_at: Layout, made_up: Plan
) -> None:
    told = document(harness_of("plan", "--method", "als_wr", "--method", "lrssl", "--json"))
    assert told["suite"] == f"made-up{PART}als_wr, lrssl"
    assert [(cell["key"], cell["verdict"], cell["reason"]) for cell in told["cells"]] == [
        (keys[2], "ok", "the container finished and its predictions are valid"),
        (keys[3], "error", "exit code 3: no such matrix"),
        (keys[4], "pending", "not run yet"),
        (keys[5], "pending", "not run yet"),
    ]
    assert told["cells"][0].items() >= made_up.cells[2].job.model_dump(mode="json").items()
    few = replace(made_up, name=told["suite"], cells=tuple(made_up.cells)[2:])
    needs = api.needs(few, repository=api.Repository(looked_at))
    # what is free on this machine changes meanwhile
    assert {**told["needs"], "free_bytes": 0} == {**asdict(needs), "free_bytes": 0}
    assert told["needs"]["planned"] == 4 and told["needs"]["left"] == 2
    lines = harness_of("plan", "--method", "als_wr", "--cells").stdout.splitlines()
    assert lines[:2] == [
        f"{keys[2][:12]}  {'ok':14}  {made_up.cells[2].job.label}",
        f"{keys[3][:12]}  {'error':14}  {made_up.cells[3].job.label}",
    ]
    assert lines[2].startswith(f"made-up{PART}als_wr: 2 cells planned, 0 left")
    assert harness_of("plan", "--method", "als_wr").stdout.splitlines() == lines[2:]
    with pytest.raises(UsageError, match="no method is called 'bnnr'") as error:
        harness_of("plan", "--method", "bnnr")
    assert "the suite 'full'" in error.value.where


@pytest.mark.usefixtures("planned")
def test_records_are_read_once_for_a_plan(made_up: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    ordinary, joining = api.needs, api.cells

    def cells(plan: Plan, *, repository: api.Repository) -> Any:
        asked.append(joining(plan, repository=repository))
        return asked[-1]

    def needs(plan: Plan, *, joined: Any, repository: api.Repository) -> Any:
        assert joined is asked[-1]
        return ordinary(plan, joined=joined, repository=repository)

    monkeypatch.setattr("harness.api.cells", cells, raising=False)
    monkeypatch.setattr("harness.api.needs", needs, raising=False)
    assert harness_of("plan").stdout.startswith("made-up: 6 cells planned, 2 left") and len(asked) == 1


def test_a_status_is_of_the_plan_that_was_named(
    planned: list[dict[str, Any]], looked_at: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, asked = table_of(looked_at, made_up), []

    def status(plan: Plan, *, reference: bool, repository: object) -> Table:
        asked.append(reference)
        return whole

    monkeypatch.setattr("harness.api.status", status, raising=False)
    result = harness_of("status")
    assert (result.return_value, result.stderr) == (1, "")
    harness_of("status", "--suite", "full", "--reference", "--published-seeds", "7")
    assert asked == [False, True]
    assert [(one["suite"], one["published_seeds"], one["make_splits"]) for one in planned] == [
        ("smoke", None, False),
        ("full", 7, False),
    ]
    assert all(one["repository"].layout.root == looked_at.root for one in planned)
    # what is told is the exit code of what is in view
    for words, code, chosen in (
        (("--method", "constant"), 0, {"methods": ("constant",)}),
        (("--method", "constant", "--method", "als_wr"), 1, {"methods": ("constant", "als_wr")}),
        (("--verdict", "OK"), 0, {"verdicts": ["ok"]}),
        (("--verdict", "ok", "--verdict", "error"), 1, {"verdicts": ["ok", "error"]}),
        (("--dataset", "synthetic", "--benchmark", "repurposing"), 1, {"datasets": ("synthetic",)}),
    ):
        wanted: dict[str, Any] = dict.fromkeys(("benchmarks", "methods", "datasets", "verdicts"), ())
        table = whole.select(**{**wanted, **chosen})
        result = harness_of("status", *words, "--json")
        told = document(result)
        assert (result.return_value, told["in_view"]) == (code, len(table.cells))
        assert told.items() >= json.loads(json.dumps(to_json(table))).items()
    for word, name in (("benchmark", "dti"), ("method", "bnnr"), ("dataset", "hdvd")):
        with pytest.raises(UsageError, match=f"no {word} is called '{name}'") as error:
            harness_of("status", f"--{word}", name)
        assert "the plan 'smoke'; others: --suite" in error.value.where
    with pytest.raises(UsageError, match="no metric is called 'AUPR/as-defined'") as error:
        harness_of("status", "--metric", "AUPR/as-defined")
    assert "`harness list metrics`" in error.value.where
    # a metric may be of any benchmark of the plan, and a run on any dataset
    other = whole.cells[-1]
    job = other.cell.job.model_copy(update={"benchmark": "ddi", "dataset": "hdvd"})
    whole = replace(whole, cells=(*whole.cells[:-1], replace(other, cell=replace(other.cell, job=job))))
    assert harness_of("status", "--benchmark", "repurposing", "--metric", "NS-AUC/as-defined").return_value == 1
    own = next(one.name for one in benchmarks.get("ddi").scoring.metrics if not one.name.startswith("AUC"))
    assert harness_of("status", "--benchmark", "repurposing", "--metric", own).return_value == 1
    with pytest.raises(UsageError, match="no benchmark is called 'dti'"):
        harness_of("status", "--benchmark", "ddi", "--benchmark", "dti")
    for name, count in (("hdvd", 1), ("synthetic", len(whole.cells) - 1)):
        assert document(harness_of("status", "--dataset", name, "--json"))["in_view"] == count


@pytest.mark.usefixtures("looked_at")
@pytest.mark.parametrize(
    ("words", "is_json"), [(("--json",), True), ((), False), (("--json", "--benchmark", "repurposing"), True)]
)
def test_beside_a_file_a_program_reads_nothing_that_is_no_json(
    words: tuple[str, ...], is_json: bool, tmp_path: Path
) -> None:
    file = tmp_path / "a.json"
    result = harness_of("status", "--suite", "stored", *words, "--output", str(file))
    note = f"written: {file}\n"
    assert (result.stdout, result.stderr) == (("", note) if is_json else (note, ""))
    assert json.loads(file.read_text())["command"] == "status"


def test_a_table_is_written_in_the_form_of_its_file(looked_at: Layout, made_up: Plan, tmp_path: Path) -> None:
    table = api.status(api.plan(suite="stored", make_splits=False), repository=api.Repository(looked_at))
    metric = "AUC/as-defined"
    words = ("status", "--suite", "stored")
    assert harness_of(*words, "--markdown").stdout == to_markdown(table, cells=False, metric="")
    shown = harness_of(*words, "--markdown", "--cells", "--metric", metric).stdout
    assert shown == to_markdown(table, cells=True, metric=metric)
    assert harness_of(*words, "--output", str(tmp_path / "a.txt"), "--cells").return_value == 1
    assert (tmp_path / "a.txt").read_text() == to_text(table, cells=True, metric="")
    harness_of(*words, "--write", str(tmp_path / "a.md"), "--metric", metric)
    assert (tmp_path / "a.md").read_text() == to_markdown(table, cells=False, metric=metric)
    result = harness_of(*words, "--output", str(tmp_path / "a.json"))
    assert result.stdout == f"written: {tmp_path / 'a.json'}\n"
    text = (tmp_path / "a.json").read_text()
    assert text == harness_of(*words, "--json").stdout and json.loads(text)["command"] == "status"
    shown = harness_of(*words, "--cells", "--metric", metric).stdout
    assert "  key  " in shown and " AUC" in shown and "NS-AUC" not in shown
    assert "  key  " not in harness_of(*words, "--metric", metric).stdout


def test_campaigns_at_work_are_a_document_too(looked_at: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    result = harness_of("status", "--watch", "--json")
    assert result.return_value == 0 and document(result)["campaigns"] == []
    two = [bulletin("3f"), bulletin("4a", runs=5)]
    monkeypatch.setattr("harness.api.campaigns", lambda **_: two, raising=False)
    told = document(harness_of("status", "--watch", "--json"))["campaigns"]
    assert told == [one.model_dump(mode="json") for one in two]
    monkeypatch.setattr("harness.api.campaigns", lambda **_: [], raising=False)
    result = harness_of("status", "--watch")
    assert (result.return_value, result.stdout) == (0, f"no campaign is at work in {looked_at.local}\n")


@pytest.fixture
def pages(looked_at: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """What is asked of the pages; each writes a little."""
    asked = SimpleNamespace(plans=[], status=[], pages=[], sites=[], opened=[], collects=[], folders=[])
    asked.verification = ReportVerification(410, (), {"Audit of x": "never", "Audit of y": "today"})

    def plan(**others: Any) -> Plan:
        asked.plans.append((others["suite"], others["published_seeds"], others["make_splits"]))
        asked.folders.append(others["repository"].mirrors)
        asked.collects.append(gc.isenabled())
        return made_up

    def report(_table: object, output: Path | None, *, repository: Any) -> Path:
        asked.pages.append((output, repository.mirrors))
        (tmp_path / "page.html").write_bytes(b"x" * 1_260_000)
        return tmp_path / "page.html"

    def site(_table: object, target: Path, *, repository: Any) -> Path:
        asked.sites.append((target, repository.mirrors))
        (target / "below").mkdir(parents=True, exist_ok=True)
        (target / "below" / "b").write_bytes(b"x" * 2_000_000)
        (target / "index.html").write_bytes(b"x" * 340_000)
        return target / "index.html"

    monkeypatch.setattr("harness.api.plan", plan, raising=False)

    def status(_plan: Plan, *, reference: bool, repository: api.Repository) -> str:
        asked.status.append(reference)
        asked.folders.append(repository.mirrors)
        return "the table"

    monkeypatch.setattr("harness.api.status", status, raising=False)
    monkeypatch.setattr("harness.api.report", report, raising=False)
    monkeypatch.setattr("harness.api.site", site, raising=False)

    def verify_report(target: Path, table: object, *, repository: api.Repository) -> ReportVerification:
        asked.sites.append((target, table, repository.mirrors))
        asked.collects.append(gc.isenabled())
        verification: ReportVerification = asked.verification
        return verification

    monkeypatch.setattr("harness.api.verify_report", verify_report, raising=False)
    monkeypatch.setattr("click.launch", asked.opened.append)
    return asked


@pytest.mark.parametrize(
    ("words", "suite", "reference"),
    [
        ((), "smoke", False),
        (("--suite", "full"), "full", False),
        (("--reference",), "smoke", True),
        (("--suite", "stored", "--reference"), "stored", True),
        (("--site", "SITE"), "full", True),
        (("--site", "SITE", "--suite", "smoke"), "smoke", False),
        (("--site", "SITE", "--suite", "smoke", "--reference"), "smoke", True),
    ],
)
def test_a_page_is_of_the_plan_that_was_named(
    words: tuple[str, ...], suite: str, reference: bool, pages: SimpleNamespace, tmp_path: Path
) -> None:
    words = tuple(str(tmp_path / "site") if word == "SITE" else word for word in words)
    result = harness_of("report", *words)
    assert result.return_value == 0
    assert (pages.plans, pages.status) == ([(suite, None, False)], [reference])
    assert (pages.collects, gc.isenabled(), pages.opened) == ([False], True, [])
    if "--site" in words:
        assert result.stdout == f"site: {tmp_path / 'site' / 'index.html'} (2.3 MB)\n"
        assert (pages.pages, pages.sites) == ([], [(tmp_path / "site", ())])
    else:
        assert result.stdout == f"report: {tmp_path / 'page.html'} (1.3 MB)\n"
        assert (pages.pages, pages.sites) == ([(None, ())], [])


def test_a_page_goes_where_it_is_wanted(pages: SimpleNamespace, tmp_path: Path, looked_at: Layout) -> None:
    words = ("report", "--published-seeds", "5", "--mirror", str(looked_at.root), "--json")
    told = document(harness_of(*words, "--output", str(tmp_path / "a.html")))
    assert (told["file"], told["bytes"], told["site"]) == (str(tmp_path / "page.html"), 1_260_000, False)
    assert pages.pages == [(tmp_path / "a.html", (looked_at.root,))] and pages.plans == [("smoke", 5, False)]
    assert pages.folders == [(looked_at.root,)] * 2
    told = document(harness_of(*words, "--site", str(tmp_path / "s"), "--open"))
    assert (told["file"], told["bytes"], told["site"]) == (str(tmp_path / "s" / "index.html"), 2_340_000, True)
    assert pages.sites == [(tmp_path / "s", (looked_at.root,))]
    assert pages.opened == [(tmp_path / "s" / "index.html").as_uri()]


@pytest.mark.parametrize(("words", "own"), [((), False), (("--suite", "stored"), True)])
def test_a_site_of_the_reference_results_tells_nothing_of_ones_own(
    pages: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    looked_at: Layout,
    tmp_path: Path,
    words: tuple[str, ...],
    own: bool,
) -> None:
    """But for when what is committed was audited here."""
    layout = replace(looked_at, local=tmp_path / "local")
    put_run(Store(layout.runs), planned_job(), tmp_path / "work")
    numbers = dict.fromkeys(("results", "passed", "failed", "superseded", "unfinished", "replayed"), 1)
    for of in (STORED, REFERENCE):
        write_last_audit(layout, of, LastAudit(at=of, tree="", digest="d", **numbers))
    monkeypatch.setattr("harness.api.open_repository", lambda **_: api.Repository(layout))
    seen: list[Any] = []

    def site(_table: object, target: Path, *, repository: api.Repository) -> Path:
        audits = [read_last_audit(repository.layout, of) for of in (STORED, REFERENCE)]
        seen.append(([*repository.store.finished()], [one and one.at for one in audits], repository.layout.local))
        write_atomic(target / "index.html", "x")
        return target / "index.html"

    monkeypatch.setattr("harness.api.site", site)
    harness_of("report", "--site", str(tmp_path / "site"), *words)
    ((keys, audits, local),) = seen
    assert keys == ([planned_job().key] if own else []) and audits == [STORED if own else None, REFERENCE]
    assert (local == layout.local) is own and local.exists() is own


@pytest.mark.parametrize(
    ("is_site", "words", "suite", "reference"),
    [
        (True, (), "full", True),
        (True, ("--suite", "smoke"), "smoke", False),
        (True, ("--suite", "smoke", "--reference"), "smoke", True),
        (False, ("--reference",), "smoke", True),
        (False, ("--suite", "full"), "full", False),
        (False, ("--suite", "full", "--reference"), "full", True),
    ],
)
def test_a_report_is_verified_with_the_options_that_make_it(
    pages: SimpleNamespace,
    looked_at: Layout,
    tmp_path: Path,
    is_site: bool,
    words: tuple[str, ...],
    suite: str,
    reference: bool,
) -> None:
    path = tmp_path if is_site else tmp_path / "page.html"
    if not is_site:
        path.write_text("")
    words = ("report", "--verify", str(path), "--mirror", str(looked_at.root), *words)
    result = harness_of(*words)
    assert (pages.plans, pages.status) == ([(suite, None, False)], [reference])
    assert (pages.sites, pages.pages) == ([(path, "the table", (looked_at.root,))], [])
    assert (result.return_value, result.stdout.splitlines()) == (
        0,
        [
            f"verified: {path} is what these results give, 410 files",
            "  as told there, and by nothing here: Audit of x: never",
            "  as told there, and by nothing here: Audit of y: today",
        ],
    )
    answer = document(harness_of(*words, "--json"))
    assert (answer["verified"], answer["files"], answer["differences"]) == (str(path), 410, [])
    assert answer["audits"] == {"Audit of x": "never", "Audit of y": "today"}


def test_a_page_without_options_tells_what_it_is_of(
    pages: SimpleNamespace, looked_at: Layout, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text("")
    words = ("report", "--verify", str(path), "--mirror", str(looked_at.root))
    assert harness_of(*words).stdout.startswith(f"verified: {path} is what these results give")
    assert (pages.plans, pages.status, pages.sites) == ([], [], [(path, None, (looked_at.root,))])
    assert pages.collects == [False] and gc.isenabled()
    harness_of(*words, "--published-seeds", "3")
    assert (pages.plans, pages.status, pages.sites[1][1]) == ([("smoke", 3, False)], [False], "the table")


def test_a_site_that_differs_is_told_with_exit_code_5(pages: SimpleNamespace, tmp_path: Path) -> None:
    changed = FileDifference("methods/bnnr.html", "not what the results give", 120, "0.999", "0.917")
    gone = [FileDifference(f"{n}.html", "missing, or no file") for n in range(12)]
    pages.verification = ReportVerification(410, (changed, *gone), {})
    result = harness_of("report", "--verify", str(tmp_path))
    assert (result.return_value, result.stdout.splitlines()) == (
        5,
        [
            f"{tmp_path} is not what these results give: of 410 files, 13 differ",
            "  methods/bnnr.html:120: not what the results give",
            "    there: 0.999",
            "    here:  0.917",
            *(f"  {n}.html: missing, or no file" for n in range(9)),
            "  and 3 files more (--json lists all)",
            "  to do: compare in the commit that it is of, a site with the same --suite and --reference",
        ],
    )
    answered = harness_of("report", "--verify", str(tmp_path), "--json")
    assert answered.return_value == 5 and len(document(answered)["differences"]) == 13
    for count, more in ((10, 0), (11, 1)):
        pages.verification = ReportVerification(410, tuple(gone[:1] * count), {})
        lines = harness_of("report", "--verify", str(tmp_path)).stdout.splitlines()
        assert lines.count("  and 1 file more (--json lists all)") == more and len(lines) == 12 + more
    pages.verification = ReportVerification(1, (changed,), {})
    assert "of 1 file, 1 differs\n" in harness_of("report", "--verify", str(tmp_path)).stdout


def test_what_a_stranger_wrote_on_a_page_does_not_control_the_terminal(
    pages: SimpleNamespace, tmp_path: Path
) -> None:
    changed = FileDifference("\x1b[2Ja.html", "not what the results give", 1, "\x1b[31m0.9", "0.8\u202e")
    pages.verification = ReportVerification(1, (changed,), {})
    assert "\x1b" not in (text := harness_of("report", "--verify", str(tmp_path)).stdout) and "\u202e" not in text
    assert "  \\x1b[2Ja.html:1: " in text and "there: \\x1b[31m0.9\n" in text and "here:  0.8\\u202e\n" in text
    pages.verification = ReportVerification(1, (), {"Audit of x": "\x1b[1mall"})
    assert harness_of("report", "--verify", str(tmp_path)).stdout.endswith("Audit of x: \\x1b[1mall\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--output", "new.html"), "--verify and --output exclude each other"),
        (("--site", "new"), "--verify and --site exclude each other"),
        (("--open",), "--verify and --open exclude each other"),
    ],
)
def test_what_is_verified_is_not_written(
    pages: SimpleNamespace, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(click.UsageError, match=said):
        harness_of("report", "--verify", str(tmp_path), *words)
    assert pages.plans == []


def test_garbage_is_looked_for_again_after_a_failure(
    pages: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise UsageError("no")

    monkeypatch.setattr("harness.api.report", failing, raising=False)
    with pytest.raises(UsageError):
        harness_of("report")
    assert gc.isenabled()


@pytest.fixture
def studied(looked_at: Layout, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A study that tells of itself; what it is asked for."""
    sheets: dict[str, Any] = {"sources": [], "tables": {}, "figures": {}}
    case = SimpleNamespace(asked=[], deviates=False, study=None)

    def measure(_layout: object, benchmark: str, mirrors: tuple[Path, ...], *, say: Callable[[str], None]) -> None:
        case.asked.append(("measure", benchmark, mirrors))
        say("measured")

    def compare(_layout: object, store: Store, benchmark: str, *, mirrors: tuple[Path, ...]) -> str:
        case.asked.append(("compare", benchmark, mirrors, store.folder == looked_at.runs))
        return "book"

    def make(_layout: object, book: str, mirrors: tuple[Path, ...]) -> object:
        case.asked.append(("study", book, mirrors))
        return case.study

    def only(wanted_tables: tuple[str, ...], figures: tuple[str, ...]) -> object:
        case.asked.append(("only", wanted_tables, figures))
        return SimpleNamespace(deviates=case.deviates, name="part")

    case.study = SimpleNamespace(deviates=False, name="whole", only=only)
    monkeypatch.setattr("harness.study.measure_anew", measure)
    monkeypatch.setattr("harness.compare.compare_claims", compare)
    monkeypatch.setattr("harness.study.make_study", make)
    monkeypatch.setattr("harness.study.to_text", lambda study: f"text of the {study.name}\n")
    monkeypatch.setattr("harness.study.to_markdown", lambda study: f"# the {study.name}\n")
    monkeypatch.setattr("harness.study.to_json", lambda study: {**sheets, "benchmark": study.name})
    return case


def test_a_study_is_made_of_what_was_named(studied: SimpleNamespace, looked_at: Layout, tmp_path: Path) -> None:
    result = harness_of("study")
    assert (result.return_value, result.stdout, result.stderr) == (0, "text of the whole\n", "")
    assert studied.asked == [("compare", "repurposing", (), True), ("study", "book", ())]
    studied.asked.clear()
    studied.deviates = True
    words = (
        "study",
        "--benchmark",
        "ddi",
        "--measure",
        "--mirror",
        str(looked_at.root),
        "--table",
        "10",
        "--figure",
        "3",
    )
    result = harness_of(*words, "--table", "2", "--markdown")
    assert (result.return_value, result.stdout, result.stderr) == (1, "# the part\n", "measured\n")
    folders = (looked_at.root,)
    assert studied.asked == [
        ("measure", "ddi", folders),
        ("compare", "ddi", folders, True),
        ("study", "book", folders),
        ("only", ("10", "2"), ("3",)),
    ]
    for part in (("--table", "1"), ("--figure", "1")):
        assert harness_of("study", *part, "--output", str(tmp_path / f"{part[0]}.md")).return_value == 1
        assert (tmp_path / f"{part[0]}.md").read_text() == "# the part\n"
    result = harness_of("study", "--json")
    assert result.return_value == 0 and document(result)["benchmark"] == "whole"
    harness_of("study", "--output", str(tmp_path / "a.json"))
    assert (tmp_path / "a.json").read_text() == result.stdout and result.stdout.endswith("}\n")
    harness_of("study", "--output", str(tmp_path / "a.txt"))
    assert (tmp_path / "a.txt").read_text() == "text of the whole\n"
    studied.study = None
    with pytest.raises(UsageError, match="benchmark 'ddi' has no study") as error:
        harness_of("study", "--benchmark", "ddi")
    assert error.value.where == str(folder("ddi"))
    assert error.value.todo == "name one whose package has a study.toml"


@pytest.fixture
def contests(monkeypatch: pytest.MonkeyPatch, looked_at: Layout) -> SimpleNamespace:
    """A contest with something to remark; what is asked of it."""
    case = SimpleNamespace(asked=[], contest=SimpleNamespace(problems=("one seed", "two failed")))

    def contest(methods: tuple[str, ...], **others: Any) -> object:
        case.asked.append({"methods": methods, **others})
        return case.contest

    monkeypatch.setattr("harness.api.contest", contest, raising=False)
    for kind in ("text", "markdown", "latex", "csv"):
        monkeypatch.setattr(f"harness.contest.to_{kind}", lambda _contest, kind=kind: f"in {kind}\n")
    numbers: dict[str, Any] = {name: [] for name in ("rows", "values", "problems", "notes")}
    numbers |= {"metric": "x", "better": "x", "first": "x", "significance": 0.05, "rank_test": None}
    monkeypatch.setattr("harness.contest.to_json", lambda _contest: numbers)
    monkeypatch.setattr("harness.contest.draw", lambda _contest, kind: f"drawn in {kind}")
    return case


def test_a_table_is_of_what_was_named(contests: SimpleNamespace) -> None:
    harness_of("table", "--method", "bnnr")
    words = ["--method", "scpmf/corrected", "--variant", "published", "--metric", "auc/as-defined", "--reference"]
    words += ["--dataset", "hdvd", "--split", "random", "--seed", "1", "--seed", "0", "--suite", "smoke"]
    harness_of("table", "--method", "bnnr", *words)
    harness_of("table", "--method", "bnnr", "--common-seeds")
    usual: dict[str, Any] = dict.fromkeys(("metric", "variant", "suite"))
    usual |= dict.fromkeys(("datasets", "splits", "seeds"), ())
    usual |= {"reference": False, "common_seeds": False}
    assert [{name: one[name] for name in one if name != "repository"} for one in contests.asked] == [
        {**usual, "methods": ("bnnr",)},
        {
            "methods": ("bnnr", "scpmf/corrected"),
            "metric": "AUC/as-defined",
            "variant": "published",
            "datasets": ("hdvd",),
            "splits": ("random",),
            "seeds": (1, 0),
            "common_seeds": False,
            "suite": "smoke",
            "reference": True,
        },
        {**usual, "methods": ("bnnr",), "common_seeds": True},
    ]
    assert isinstance(contests.asked[0]["repository"], api.Repository)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.txt", "in text\n"),
        ("a.md", "in markdown\n"),
        ("a.tex", "in latex\n"),
        ("a.csv", "\ufeffin csv\n"),
        ("a.svg", "drawn in svg"),
        ("a.pdf", "drawn in pdf"),
    ],
)
def test_a_table_has_the_form_of_its_file(
    file: str, content: str, contests: SimpleNamespace, tmp_path: Path
) -> None:
    result = harness_of("table", "--method", "bnnr", "--output", str(tmp_path / file))
    assert (tmp_path / file).read_text(encoding="utf-8") == content
    # what is remarked stands in the table itself where it is shown
    assert result.return_value == 0 and result.stderr == "one seed\ntwo failed\n"
    if file != "a.pdf":
        shown = harness_of("table", "--method", "bnnr", "--format", content.split()[-1].upper())
        assert (shown.stdout, shown.stderr) == (content.removeprefix("\ufeff"), "")


def test_a_table_is_a_document_for_a_program(contests: SimpleNamespace, tmp_path: Path) -> None:
    words = ("table", "--method", "bnnr")
    result = harness_of(*words, "--json")
    assert result.return_value == 0 and document(result)["first"] == "x" and result.stderr == ""
    assert harness_of(*words, "--format", "json", "--json").stdout == result.stdout
    harness_of(*words, "--output", str(tmp_path / "a.json"))
    assert (tmp_path / "a.json").read_text() == result.stdout
    with pytest.raises(click.UsageError, match="--format csv and --json exclude each other"):
        harness_of(*words, "--format", "csv", "--json")


def test_a_strict_table_names_every_problem(contests: SimpleNamespace) -> None:
    with pytest.raises(HarnessError, match="numbers of this table must not stand alone") as error:
        harness_of("table", "--method", "bnnr", "--strict")
    assert error.value.where == "one seed\n         two failed"
    contests.contest.problems = ()
    assert harness_of("table", "--method", "bnnr", "--strict").stdout == "in text\n"
