"""What was not checked, or is not as it must be, is listed, counted, and under `--strict` an error."""

from __future__ import annotations

import json
import stat
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from harness import api
from harness.api import Repository
from harness.audit import AuditReport, Lack, audit_runs, check_checkout, check_page, strict_lines, to_json, to_text
from harness.audit.basis import check_dataset, check_split
from harness.audit.remake import remake_dataset, remake_split
from harness.audit.steps import Audit, Checked, Step, failed, not_checked, ok
from harness.base import seal
from harness.base.layout import Layout
from harness.base.seal import read_note, write_note
from harness.cli import audit as command
from harness.data import load_manifest
from harness.planning.plan import Plan
from harness.results.reference import load_reference, save_reference
from harness.results.store import Store
from tests.fabricate import planned_of


def made(key: str, *steps: Step, superseded: str = "", unfinished: str = "", verdict: str = "ok") -> Audit:
    return Audit(key * 64, f"run {key}", superseded, steps, unfinished, benchmark="dti", verdict=verdict)


LACKING = AuditReport(
    (
        made("1", ok("record", "sound"), not_checked("scores", "nothing is scored", lack=None)),
        made("2", not_checked("engine image", "no engine", Lack.ENGINE), not_checked("a", "b", Lack.ENGINE)),
        made("3", superseded="code changed", verdict="timeout"),
        made("4", ok("record", "sound"), unfinished="the verdict is 'interrupted'"),
        made("5", replace(ok("scores", "recomputed; those kept are of another scorer"), lack=Lack.STALE)),
    ),
    without_run=2,
    repository=(not_checked("commit", "1 changed: a", Lack.CHANGED), ok("page", "as written")),
)


def test_a_run_counts_once_for_each_lack() -> None:
    assert {lack: gap.count for lack, gap in LACKING.gaps.items()} == {
        Lack.ENGINE: 1,
        Lack.CHANGED: 1,
        Lack.STALE: 1,
        Lack.SUPERSEDED: 1,
        Lack.MISSING: 3,
    }
    assert not AuditReport(LACKING.audits[:1]).gaps
    # a run that did not end lacks what its links lack, too
    cut = made("6", not_checked("engine image", "no engine", Lack.ENGINE), unfinished="it was cut off")
    assert {lack: [*gap.reasons] for lack, gap in AuditReport((cut,)).gaps.items()} == {
        Lack.ENGINE: ["engine image: no engine"],
        Lack.MISSING: ["run 6: it was cut off"],
    }
    # one of the repository counts beside those of runs
    both = AuditReport(LACKING.audits, repository=(not_checked("page", "no engine", Lack.ENGINE),))
    assert both.gaps[Lack.ENGINE].count == 2
    assert [*both.gaps[Lack.ENGINE].reasons] == ["engine image: no engine", "page: no engine"]
    assert not LACKING.is_broken


def test_what_is_waived_is_no_lack_and_is_said() -> None:
    waived = [Lack.ENGINE, Lack.CHANGED, Lack.STALE, Lack.SUPERSEDED]
    assert set(LACKING.lacking(waived)) == {Lack.MISSING}
    lines = strict_lines(LACKING.gaps, waived)
    assert lines[1] == "NOT STRICT"
    assert any(line.startswith("  missing (3)") and "--waive missing" in line for line in lines)
    assert lines[-1] == "waived: engine (1), changed (1), stale (1), superseded (1)"
    assert strict_lines(LACKING.gaps, list(Lack))[1].startswith("strict: nothing is lacking but what was waived")
    assert strict_lines({}, [])[1].startswith("strict: every link was checked")


def test_a_strict_audit_says_what_it_does_not_accept_and_why() -> None:
    """The first reasons of each lack, in the order of the lacks; what a person waived comes last."""
    audits = [made(str(number), not_checked(f"link {number}", "why", Lack.ENGINE)) for number in range(1, 5)]
    few = [made(str(number), not_checked(f"split {number}", "why", Lack.DATA)) for number in range(1, 4)]
    gaps = AuditReport((*few, *audits), repository=(not_checked("commit", "1 changed: a", Lack.CHANGED),)).gaps
    assert strict_lines(gaps, [Lack.CHANGED]) == [
        "",
        "NOT STRICT",
        "  engine (4): no engine, or the image is not in it; --waive engine accepts it",
        "    link 1: why",
        "    link 2: why",
        "    link 3: why",
        "    and 1 more",
        "  data (3): an original file is not on this machine; --waive data accepts it",
        "    split 1: why",
        "    split 2: why",
        "    split 3: why",
        "waived: changed (1)",
    ]
    assert strict_lines(gaps, list(Lack)) == [
        "",
        "strict: nothing is lacking but what was waived",
        "waived: engine (4), data (3), changed (1)",
    ]
    alike = [made(str(number), not_checked("engine image", "no engine", Lack.ENGINE)) for number in range(1, 6)]
    assert strict_lines(AuditReport(tuple(alike)).gaps, [])[2:] == [
        "  engine (5): no engine, or the image is not in it; --waive engine accepts it",
        "    engine image: no engine",
    ]
    assert strict_lines({}, []) == ["", "strict: every link was checked, and every run is as it must be"]
    # of broken links nothing is said but that they are
    broken = ["", "NOT STRICT", "  FAILED: broken links, listed above; they can't be waived"]
    assert strict_lines({}, [], is_broken=True) == broken
    waived = ["waived: engine (4), data (3), changed (1)"]
    assert strict_lines(gaps, list(Lack), is_broken=True) == broken + waived
    assert strict_lines(AuditReport((audits[0],)).gaps, [])[1:] == [
        "NOT STRICT",
        "  engine (1): no engine, or the image is not in it; --waive engine accepts it",
        "    link 1: why",
    ]
    (missing,) = (line for line in strict_lines(LACKING.gaps, []) if line.startswith("    planned"))
    assert missing == "    planned, without a run: 2 cells"


def test_of_several_links_that_lack_the_same_the_first_is_told() -> None:
    """And a superseded run lacks nothing else."""
    both = (not_checked("lock", "one", Lack.ENGINE), not_checked("engine image", "two", Lack.ENGINE))
    assert [*AuditReport((made("1", *both),)).gaps[Lack.ENGINE].reasons] == ["lock: one"]
    old = AuditReport((made("1", *both, superseded="code changed", unfinished="stopped"),))
    assert {lack: [*gap.reasons] for lack, gap in old.gaps.items()} == {Lack.SUPERSEDED: ["code changed"]}
    stopped = AuditReport((made("1", *both, unfinished="stopped"),))
    assert {lack: [*gap.reasons] for lack, gap in stopped.gaps.items()} == {
        Lack.ENGINE: ["lock: one"],
        Lack.MISSING: ["run 1: stopped"],
    }
    assert [(gap.count, [*gap.reasons]) for gap in AuditReport((), without_run=1).gaps.values()] == [
        (1, ["planned, without a run: 1 cell"])
    ]


MEANINGS = {
    "engine": "no engine, or the image is not in it",
    "data": "an original file is not on this machine",
    "replay": "only a replay shows it",
    "machine": "another machine gives other bits or ends otherwise",
    "scores": "another machine gives other scores than the committed ones, or another end",
    "git": "no commit to hold the files against",
    "changed": "files differ from their commit",
    "statement": "no statement, or one that something here is not as",
    "log": "a result is not as its log tells, or is gone",
    "stale": "the kept scores are of another scorer",
    "superseded": "of code, an environment or data that has changed since",
    "missing": "a planned cell has no sound run",
    "other": "not checked",
}


def test_a_lack_is_called_and_explained_so() -> None:
    assert {str(lack): lack.meaning for lack in Lack} == MEANINGS
    assert {state.name: str(state) for state in Checked} == {
        "OK": "ok",
        "FAILED": "FAILED",
        "NOT_CHECKED": "not checked",
    }


def test_a_broken_link_of_the_repository_is_one() -> None:
    report = AuditReport((), repository=(failed("page", "it was changed"),))
    assert report.is_broken and "FAILED\n  page: it was changed" in to_text(report)
    assert to_json(report)["repository"][0]["checked"] == "FAILED"


def test_programs_are_told_what_is_lacking() -> None:
    told = to_json(LACKING)["lacking"]
    assert told["engine"] == {"count": 1, "reasons": ["engine image: no engine"]}


def test_the_option_knows_every_lack() -> None:
    assert set(command._LACKS) == {str(lack) for lack in Lack}
    assert all(lack.meaning for lack in Lack)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 0),
        (["--strict"], 5),
        (["--strict", "--waive", "engine"], 5),
        (["--strict", *(word for lack in LACKING.gaps for word in ("--waive", str(lack)))], 0),
        (["--waive", "engine"], 2),
    ],
)
def test_only_a_strict_audit_ends_with_five_for_a_gap(
    monkeypatch: pytest.MonkeyPatch, words: list[str], code: int
) -> None:
    monkeypatch.setattr(api, "audit", lambda *_, **__: LACKING, raising=False)
    monkeypatch.setattr(api, "open_repository", lambda **_: None, raising=False)
    for more in ([], ["--json"]):
        assert CliRunner().invoke(command.command, [*words, *more], standalone_mode=False).return_value in (
            (code,) if code != 2 else (None,)
        )


def test_reference_results_are_summed_up(evidence: Layout, made_up: Plan) -> None:
    save_reference(evidence, Store(evidence.runs))
    entries = load_reference(evidence)
    report = audit_runs(evidence, entries)
    lines = to_text(report, brief=True).splitlines()
    assert lines[0].startswith("repurposing       4 runs: 3 ok, 1 error; audited: 4 ok")
    assert "replay (4)" in lines[1] and "engine (4)" in lines[1] and len(lines) < 10
    broken = replace(report, audits=(made("1", failed("record", "cut")), *report.audits))
    assert "    record: cut" in to_text(broken, brief=True)


def test_a_note_that_others_wrote_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    about: Any = ["split", {"seed": 1}]
    write_note(tmp_path / "notes", about, {"sha256": "1"})
    assert read_note(tmp_path / "notes", about) == {"sha256": "1"}
    assert read_note(tmp_path / "notes", ["split", {"seed": 2}]) is None
    (path,) = (tmp_path / "notes").iterdir()
    honest = json.loads(path.read_text())
    for change in ({"content": {"sha256": "2"}}, {"seal": "0" * 64}, {"seal": "é"}, {"about": ["split", {}]}):
        path.write_text(json.dumps({**honest, **change}))
        assert read_note(tmp_path / "notes", about) is None
    path.write_text(json.dumps(honest))
    secret = tmp_path / "state" / "permafrost" / "seal"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    # another user's harness
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert read_note(tmp_path / "notes", about) is None


def test_who_doubts_the_secret_believes_what_was_found_out_since_and_nothing_else(tmp_path: Path) -> None:
    notes, forged = (
        tmp_path / "notes",
        {"about": "one", "content": "forged", "seal": seal.seal_of("one", "forged")},
    )
    write_note(notes, "one", "forged")
    (path,) = notes.iterdir()
    assert json.loads(path.read_text()) == forged, "who has the secret writes notes like this user's harness"
    for _ in range(2):
        with seal.only_new_notes():
            assert read_note(notes, "one") is None
            assert not seal.is_sealed("one", "forged", forged["seal"])
            write_note(notes, "one", "found out")
            assert read_note(notes, "one") == "found out", "what is made again is made once"
            path.write_text(json.dumps(forged))
            assert read_note(notes, "one") is None
        assert read_note(notes, "one") == "forged", "the doubt is over"
    with suppress(KeyError), seal.only_new_notes():
        raise KeyError
    assert read_note(notes, "one") == "forged"
    with seal.only_new_notes():
        write_note(notes, "one", "found out")
    assert read_note(notes, "one") == "found out", "what it cost is not lost"


def test_without_a_place_for_the_secret_nothing_is_believed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    write_note(tmp_path / "notes", "one", 1)
    assert read_note(tmp_path / "notes", "one") == 1
    seal._secret.cache_clear()
    assert read_note(tmp_path / "notes", "one") is None


def test_what_is_made_again_is_made_once(evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = planned_of(made_up.cells[0])
    first = [remake_dataset(evidence, planned, ()), *remake_split(evidence, planned, ())]
    assert {step.checked for step in first} == {Checked.OK} and len(first) == 3
    monkeypatch.setattr("harness.audit.remake.convert_dataset", None)
    monkeypatch.setattr("harness.audit.remake.make_split", None)
    assert [remake_dataset(evidence, planned, ()), *remake_split(evidence, planned, ())] == first
    for path in (evidence.cache / "audit").iterdir():
        path.write_text(path.read_text().replace('"seal": "', '"seal": "0'))
    with pytest.raises(TypeError):
        remake_dataset(evidence, planned, ())
    with pytest.raises(TypeError):
        remake_split(evidence, planned, ())


def test_a_note_with_the_stolen_seal_is_found_by_an_audit_that_believes_none(evidence: Layout) -> None:
    key, repository = next(Store(evidence.runs).finished()), Repository(evidence)
    (honest,) = api.audit(key, progress=None, repository=repository).audits
    for path in (evidence.cache / "audit").iterdir():
        about = json.loads(path.read_text())["about"]
        if about[0] == "split":
            write_note(path.parent, about, {"sha256": "0" * 64, "broken": ["forged"]})
    (believed,) = api.audit(key, progress=None, repository=repository).audits
    assert believed.failed and not honest.failed
    assert api.audit(key, believing="nothing", progress=None, repository=repository).audits == (honest,)
    assert api.audit(key, progress=None, repository=repository).audits == (honest,), "it was written over"


@pytest.mark.parametrize(
    ("module", "part"),
    [
        ("dataset", "meaning_of_modules"),
        ("dataset", "load_manifest"),
        ("dataset", "brought_tables"),
        ("split", "recipe_of"),
        ("split", "_promises"),
    ],
)
def test_a_note_is_of_the_code_and_the_inputs_that_made_it(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, module: str, part: str
) -> None:
    """Where any of them is another, dataset or split are made again."""
    planned, remake = planned_of(made_up.cells[0]), {"dataset": remake_dataset, "split": remake_split}[module]
    name = f"harness.audit.remake.{part}"
    before = {
        "meaning_of_modules": lambda *_, **__: "1",
        "load_manifest": load_manifest,
        "brought_tables": lambda *_: {},
        "recipe_of": lambda *_: {"seed": 1},
        "_promises": lambda *_: "1",
    }
    after = {
        "meaning_of_modules": lambda *_, **__: "2",
        "load_manifest": lambda *args: load_manifest(*args).model_copy(update={"parameters": {"more": 1}}),
        "brought_tables": lambda *_: {"mine.csv": evidence.root / "Dockerfile"},
        "recipe_of": lambda *_: {"seed": 2},
        "_promises": lambda *_: "2",
    }
    monkeypatch.setattr(name, before[part])
    remake(evidence, planned, ())
    for made in ("convert_dataset", "make_split"):
        monkeypatch.setattr(f"harness.audit.remake.{made}", None)
    remake(evidence, planned, ())
    monkeypatch.setattr(name, after[part])
    with pytest.raises(TypeError):
        remake(evidence, planned, ())


@pytest.mark.parametrize("own", [{"bring": "nobody may publish it"}, {"extends": "synthetic"}])
def test_of_a_persons_own_tables_no_note_is_kept(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, own: dict[str, str]
) -> None:
    """They are converted each time."""
    manifest = load_manifest(evidence, "synthetic").model_copy(update=own)
    monkeypatch.setattr("harness.audit.remake.load_manifest", lambda *_: manifest)
    made: list[object] = []

    def convert(*_: object, **__: object) -> SimpleNamespace:
        made.append(None)
        return SimpleNamespace(digest="7" * 64)

    monkeypatch.setattr("harness.audit.remake.convert_dataset", convert)
    for _ in range(2):
        assert remake_dataset(evidence, planned_of(made_up.cells[0]), ()).found == "7" * 64
    assert len(made) == 2 and not (evidence.cache / "audit").exists()


def test_a_split_is_made_and_proved_of_the_data_in_the_mirrors(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned, mirrors = planned_of(made_up.cells[0]), (Path("a mirror"),)
    about = (planned.job.dataset, planned.job.split)
    split, asked = SimpleNamespace(digest=planned.split_digest), dict[str, tuple[object, ...]]()

    def asking(name: str, answer: object) -> None:
        def answered(layout: Layout, *rest: object, **options: object) -> object:
            asked[name] = (*rest, *options.items())
            return answer

        monkeypatch.setattr(f"harness.audit.remake.{name}", answered)

    asking("recipe_of", {"seed": 1})
    asking("make_split", split)
    asking("verify_split", [])
    steps = remake_split(evidence, planned, mirrors)
    assert [step.checked for step in steps] == [Checked.OK, Checked.OK]
    assert asked == {
        "recipe_of": (*about, mirrors),
        "make_split": (*about, mirrors),
        "verify_split": (*about, split, mirrors, ("recorded", False)),
    }


def test_a_split_is_told_of_every_promise_that_it_breaks(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.audit.remake.verify_split", lambda *_, **__: ["items twice", "no test pair"])
    planned = planned_of(made_up.cells[0])
    for _ in ("found out", "noted"):
        made, *broken = remake_split(evidence, planned, ())
        assert made == ok("split", "made again from its recipe", planned.split_digest)
        assert broken == [failed("split", f"breaks a promise: {text}") for text in ("items twice", "no test pair")]


def test_nothing_is_fetched_for_an_audit(evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clean clone has no data: that is said of every result, and no address is asked."""
    planned = planned_of(made_up.cells[0])
    monkeypatch.setattr("harness.audit.basis.is_here", lambda *_: False)
    for name in ("load_dataset", "load_split", "split_digest", "remake_dataset", "remake_split"):
        monkeypatch.setattr(f"harness.audit.basis.{name}", None)
    for steps in (check_dataset(evidence, planned, ()), check_split(evidence, planned, ())):
        assert [step.checked for step in steps] == [Checked.OK, Checked.NOT_CHECKED]
        assert steps[1].lack is Lack.DATA
    other = planned.model_copy(update={"split_digest": "0" * 64})
    assert check_split(evidence, other, ())[0].checked is Checked.FAILED


def test_where_there_is_no_git_nothing_is_called_committed(evidence: Layout) -> None:
    (step,) = check_checkout(evidence)
    assert (step.checked, step.lack) == (Checked.NOT_CHECKED, Lack.GIT)
    assert check_page(evidence) == []


def test_a_dataset_that_nobody_committed_is_told_whatever_it_is_called(evidence: Layout) -> None:
    """Those that `harness predict --new` makes are called so, and lie in the cache."""
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(evidence.root), *who, *words], check=True)
    assert [step.checked for step in check_checkout(evidence)] == [Checked.OK]
    own = evidence.datasets / "synthetic_new_12345678"
    own.mkdir()
    (own / "dataset.toml").write_text("")
    (evidence.datasets / "synthetic" / "another.toml").write_text("")
    (step,) = check_checkout(evidence)
    assert step.lack is Lack.CHANGED
    assert step.what.endswith("datasets/synthetic/another.toml, datasets/synthetic_new_12345678/dataset.toml")
