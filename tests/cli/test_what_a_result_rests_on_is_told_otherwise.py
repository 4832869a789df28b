"""What attest, audit, compare and export ask for, what they say of what came, and which exit code that is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import harness.cli.export
from harness.audit import AuditReport, Lack, strict_lines, to_text
from harness.audit.steps import Audit, Checked, Step
from harness.base.vocabulary import Verdict
from harness.compare import ClaimVerdict
from harness.export import Exported, Extent, Profile
from harness.proof.attestation import Attestation
from harness.proof.keys import Signer
from harness.proof.statement import Statement
from harness.results.index import RunIndex
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

FILE = str(REPOSITORY / "LICENSE")
Asked = list[dict[str, Any]]


pytestmark = pytest.mark.usefixtures("repository_here")


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], Asked]:
    """Let a function of the interface give an answer, and note by name what it is asked for."""

    def answer(name: str, value: Any) -> Asked:
        asked: Asked = []

        def call(*positions: Any, **named: Any) -> Any:
            asked.append({"": positions, **named})
            return value

        monkeypatch.setattr(f"harness.{name}", call, raising=False)
        return asked

    return answer


PREDICATE = {
    "about": "runs of this machine",
    "made": "2026-01-01T00:00:00Z",
    "git": {"commit": "a" * 40},
    "log": {"root": "ab" * 32, "size": 3},
    "harness": "d" * 64,
    "leaves": {"record": 3},
    "results": 3,
    "verdicts": {"ok": 2, "error": 1},
    "removals": {},
    "imported": 0,
    "plans": [],
    "unplanned": 1,
    "digests": {},
}


def stated(signer: Signer | None, **others: Any) -> Attestation:
    return Attestation(Statement(b"text", {**PREDICATE, **others}, {}), signer, Path("/r/statement.json"))


@pytest.mark.parametrize(
    ("signer", "lines"),
    [
        (None, ["unsigned: anybody could have written it. Sign it with your own key: --key FILE"]),
        (Signer("SHA256:x", "me"), ["signed by me (SHA256:x): statement.json.sig, statement.dsse.json"]),
        (
            Signer("SHA256:x"),
            [
                "signed by somebody (SHA256:x): statement.json.sig, statement.dsse.json",
                "results/allowed_signers does not name this key yet; readers will believe no other",
            ],
        ),
    ],
)
def test_a_statement_is_told_with_whose_key_it_has(
    signer: Signer | None, lines: list[str], answering: Callable[[str, Any], Asked]
) -> None:
    made = stated(signer, imported=2)
    assert len(made.statement.remarks) == 2
    asked = answering("api.attest", made)
    result = harness_of("attest", "--reference", "--key", FILE)
    head = ["runs of this machine: ok 2, error 1", f"log: 3 leaves, root {'ab' * 32}", *made.statement.remarks]
    assert result.return_value == 0
    assert result.stdout.splitlines() == [*head, "statement: /r/statement.json", *lines]
    result = harness_of("attest", "--json")
    told = document(result)
    assert result.return_value == 0
    assert told["signed_by"] == (signer and {"name": signer.name, "key": signer.fingerprint})
    assert (told["path"], told["sha256"], told["results"]) == ("/r/statement.json", made.statement.sha256, 3)
    assert asked == [
        {"": (), "reference": True, "key": Path(FILE)},
        {"": (), "reference": False, "key": None},
    ]


def test_a_statement_about_nothing_says_so(answering: Callable[[str, Any], Asked]) -> None:
    made = stated(None, verdicts={}, log={"root": "ab" * 32, "size": 1})
    answering("api.attest", made)
    lines = harness_of("attest").stdout.splitlines()
    assert lines[:2] == ["runs of this machine: none", f"log: 1 leaf, root {'ab' * 32}"]


def report_of(*steps: Step, **others: Any) -> AuditReport:
    return AuditReport((Audit("a" * 64, "the run", "", steps), Audit("b" * 64, "another", "", ())), **others)


GOOD = Step("record", Checked.OK, "as it was written")
BAD = Step("record", Checked.FAILED, "another one", where="there")
UNCHECKED = Step("replay", Checked.NOT_CHECKED, "not replayed", lack=Lack.REPLAY)


@pytest.mark.parametrize(
    ("steps", "words", "code"),
    [
        ((GOOD,), (), 0),
        ((BAD,), (), 5),
        ((UNCHECKED,), (), 0),
        ((UNCHECKED,), ("--strict",), 5),
        ((UNCHECKED,), ("--strict", "--waive", "data"), 5),
        ((UNCHECKED,), ("--strict", "--waive", "data", "--waive", "replay"), 0),
        ((GOOD,), ("--strict",), 0),
        ((BAD,), ("--strict", "--waive", "replay"), 5),
    ],
)
def test_a_broken_link_is_the_exit_code_and_a_gap_where_it_is_strict(
    steps: tuple[Step, ...], words: tuple[str, ...], code: int, answering: Callable[[str, Any], Asked]
) -> None:
    report = report_of(*steps)
    answering("api.audit", report)
    waived = [Lack(word) for word in words if word in ("data", "replay")]
    result = harness_of("audit", *words)
    strict = (
        "".join(f"{line}\n" for line in strict_lines(report.gaps, waived, is_broken=report.is_broken))
        if "--strict" in words
        else ""
    )
    assert (result.return_value, result.stdout) == (code, to_text(report) + strict)
    result = harness_of("audit", *words, "--json")
    assert (result.return_value, document(result)["waived"]) == (code, [*map(str, waived)])


def test_an_audit_is_asked_for_what_was_named(answering: Callable[[str, Any], Asked], tmp_path: Path) -> None:
    asked = answering("api.audit", report_of(GOOD))
    harness_of("audit", "abc", "DEF", "--reference", "--replay", "3", "--seed", "7", "--mirror", str(tmp_path))
    harness_of("audit", "--suite", "smoke", "--reference", "--json")
    harness_of("audit", "--suite", "stored", "--anew")
    harness_of("audit", "--all")
    harness_of("audit", "--strict")
    harness_of("audit", "--strict", "--noted")
    harness_of("audit", "--strict", "--anew")
    usual = {"": ((),), "suite": None, "reference": False, "replay": 0, "seed": 0, "progress": "auto"}
    usual |= {"believing": "notes"}
    repositories = [one.pop("repository") for one in asked]
    assert asked == [
        {**usual, "": (("abc", "DEF"),), "reference": True, "replay": 3, "seed": 7},
        {**usual, "suite": "smoke", "reference": True, "progress": None},
        {**usual, "believing": "nothing"},
        usual,
        {**usual, "believing": "nothing"},
        usual,
        {**usual, "believing": "nothing"},
    ]
    assert [one.mirrors for one in repositories] == [(tmp_path,), *[()] * 6]


@pytest.mark.parametrize(
    ("words", "out", "err", "is_brief", "progress"),
    [
        (("--reference",), False, False, True, None),
        (("--reference",), False, True, True, "auto"),
        (("--reference",), True, False, False, "auto"),
        (("--reference", "--verbose"), False, False, False, "auto"),
        (("--reference", "abc"), False, False, False, "auto"),
        ((), False, False, False, "auto"),
    ],
)
def test_a_file_that_keeps_what_is_printed_gets_no_line_for_each_of_a_thousand_runs(
    words: tuple[str, ...],
    out: bool,
    err: bool,
    is_brief: bool,
    progress: str | None,
    answering: Callable[[str, Any], Asked],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = report_of(GOOD)
    asked = answering("api.audit", report)
    streams = {
        name: SimpleNamespace(isatty=lambda is_one=is_one: is_one)
        for name, is_one in (("stdout", out), ("stderr", err))
    }
    monkeypatch.setattr("harness.cli.audit.sys", SimpleNamespace(**streams))
    text = to_text(report, everything="--verbose" in words, brief=is_brief)
    assert harness_of("audit", *words).stdout == text
    assert asked[0]["progress"] == progress
    assert to_text(report) != to_text(report, brief=True) != to_text(report, everything=True)


def test_a_confirmation_is_told_beside_the_audit(answering: Callable[[str, Any], Asked]) -> None:
    report = report_of(GOOD)
    audits = answering("api.audit", report)
    asked = answering(
        "api.confirm", SimpleNamespace(signer=Signer("SHA256:x", "me"), path=Path("/r/confirmation"))
    )
    words = ("audit", "--reference", "--replay", "1", "--attest", "--key", FILE)
    result = harness_of(*words)
    said = "signed by me (SHA256:x): /r/confirmation\n"
    assert result.return_value == 0 and result.stdout.endswith(said) and result.stderr == ""
    result = harness_of(*words, "--json")
    assert document(result)["audited"] == 2 and result.stderr == said
    assert asked[0] == {"": (report, Path(FILE)), "reference": True, "repository": audits[0]["repository"]}


@pytest.mark.parametrize(("failed", "code"), [(0, 0), (2, 5)])
def test_what_was_stated_and_signed_is_verified_alone(
    failed: int, code: int, answering: Callable[[str, Any], Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = SimpleNamespace(failed=failed)
    asked = answering("api.verify", proof)
    monkeypatch.setattr("harness.proof.text.proof_text", lambda one: f"{one.failed} failed\n")
    monkeypatch.setattr(
        "harness.proof.text.proof_json", lambda one: {"about": "x", "failed": one.failed, "steps": []}
    )
    result = harness_of("audit", "--signed", "--reference", "--signers", FILE)
    assert (result.return_value, result.stdout) == (code, f"{failed} failed\n")
    result = harness_of("audit", "--signed", "--json")
    assert (result.return_value, document(result)["failed"]) == (code, failed)
    assert asked == [
        {"": (), "reference": True, "signers": Path(FILE)},
        {"": (), "reference": False, "signers": None},
    ]


def test_a_comparison_is_asked_for_what_was_named_and_its_verdicts_are_the_exit_code(
    answering: Callable[[str, Any], Asked], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = dict.fromkeys(ClaimVerdict, 0)
    book = SimpleNamespace(tally=tally, benchmark="repurposing")
    asked = answering("api.compare", book)
    for kind in ("text", "markdown"):
        monkeypatch.setattr(
            f"harness.compare.text.to_{kind}", lambda _book, everything, kind=kind: f"{kind} {everything}\n"
        )
    fields = {"benchmark": "dti", "sources": [], "claims": 1, "verdicts": {}, "comparisons": []}
    monkeypatch.setattr("harness.compare.text.to_json", lambda _book: fields)
    result = harness_of("compare")
    told = "nothing is published of what was asked for: no number was held against another\n"
    hint = "these are the claims of repurposing; for others: --benchmark ddi or dti or combos\n"
    assert (result.return_value, result.stdout, result.stderr) == (0, "text False\n" + hint, told)
    # who names something knows
    for words in (("--benchmark", "ddi"), ("--method", "bnnr"), ("--dataset", "hdvd"), ("--against", FILE)):
        result = harness_of("compare", *words)
        assert (result.stdout, result.stderr) == ("text False\n", told)
    del asked[1:]
    for verdict in ClaimVerdict:
        tally.update({**dict.fromkeys(ClaimVerdict, 0), verdict: 1})
        result = harness_of("compare", "--all", "--markdown")
        assert (result.return_value, result.stderr) == (int(verdict is ClaimVerdict.DEVIATES), "")
        assert result.stdout == "markdown True\n"
    result = harness_of("compare", "--json")
    assert (result.return_value, document(result)["benchmark"]) == (0, "dti")
    file = tmp_path / "claims.md"
    options = ("--benchmark", "dti", "--method", "bnnr", "--dataset", "hdvd", "--split", "random", "--seed", "7")
    harness_of("compare", *options, "--against", FILE, "--mirror", str(tmp_path), "--output", str(file))
    assert file.read_text() == "markdown False\n"
    named = {"methods": ("bnnr",), "datasets": ("hdvd",), "splits": ("random",), "seeds": (7,)}
    assert asked[-1].pop("repository").mirrors == (tmp_path,)
    assert asked[-1] == {"": ("dti",), **named, "against": Path(FILE)}
    assert asked[0]["seeds"] == () and asked[0]["against"] is None and asked[0][""] == (None,)


@pytest.mark.parametrize(("differing", "code"), [((), 0), (("one",), 1)])
def test_a_gpu_is_compared_without_claims(
    differing: tuple[str, ...],
    code: int,
    answering: Callable[[str, Any], Asked],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = answering("api.compare_accelerators", SimpleNamespace(differing=differing))
    module = "harness.compare.accelerators"
    for kind in ("text", "markdown"):
        monkeypatch.setattr(f"{module}.to_{kind}", lambda found, kind=kind: f"{kind} {len(found.differing)}\n")
    monkeypatch.setattr(
        f"{module}.to_json", lambda _found: {"differing": len(differing), "pairs": [], "alone": []}
    )
    result = harness_of("compare", "--gpu")
    assert (result.return_value, result.stdout) == (code, f"text {len(differing)}\n")
    assert harness_of("compare", "--gpu", "--markdown").stdout == f"markdown {len(differing)}\n"
    result = harness_of("compare", "--gpu", "--json")
    assert (result.return_value, document(result)["differing"]) == (code, len(differing))
    options = (
        "--benchmark",
        "ddi",
        "--method",
        "mlp",
        "--dataset",
        "drugbank",
        "--split",
        "random",
        "--seed",
        "7",
    )
    files = [tmp_path / "a.json", tmp_path / "a.md"]
    for file in files:
        harness_of("compare", "--gpu", *options, "--mirror", str(tmp_path), "--output", str(file))
    assert '"differing"' in files[0].read_text() and files[1].read_text().startswith("markdown")
    assert asked[-1].pop("repository").mirrors == (tmp_path,)
    named = {"methods": ("mlp",), "datasets": ("drugbank",), "splits": ("random",), "seeds": (7,)}
    assert asked[-1] == {"": ("ddi",), **named}


class Exports:
    """What an export was asked for, and whether it was shown as it went on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: Asked = []
        self.plans: Asked = []
        self.shown: list[object] = []
        self.left_out: dict[str, str] = {}
        self.outgrown: dict[str, Verdict] = {}
        cells = [SimpleNamespace(key="k1"), SimpleNamespace(key=None), SimpleNamespace(key="k2")]
        self.plan = SimpleNamespace(cells=cells)
        monkeypatch.setattr(harness.cli.export, "export", self._export)
        monkeypatch.setattr(harness.cli.export, "progress_for", self._progress)
        monkeypatch.setattr("harness.api.plan", self._plan, raising=False)
        monkeypatch.setattr(harness.cli.export, "plan_of_keys", self._plan_of_keys)

    def _plan_of_keys(
        self, _layout: object, keys: tuple[str, ...], *, reference: bool, mirrors: tuple[Path, ...]
    ) -> object:
        self.plans.append({"keys": keys, "reference": reference, "mirrors": mirrors})
        return self.plan

    def _export(self, _layout: object, plan: object, output: Path, **named: Any) -> Exported:
        assert plan is self.plan
        self.asked.append({"output": output, **named})
        return Exported(2, self.left_out, self.outgrown)

    def _progress(self, choice: object) -> object:
        self.shown.append(choice)
        return nullcontext("progress")

    def _plan(self, **named: Any) -> object:
        self.plans.append({name: value for name, value in named.items() if name != "repository"})
        return self.plan


@pytest.fixture
def exports(monkeypatch: pytest.MonkeyPatch) -> Exports:
    return Exports(monkeypatch)


def test_an_export_is_asked_for_what_was_named(exports: Exports, tmp_path: Path) -> None:
    new, file = tmp_path / "crate", tmp_path / "crate.zip"
    file.write_bytes(b"")
    usual = {
        "output": new,
        "extent": Extent.WHOLE,
        "profile": Profile.PROVENANCE,
        "overwrite": False,
        "mirrors": (),
        "progress": "progress",
    }
    result = harness_of("export", "--output", str(new))
    assert (result.return_value, result.stdout) == (0, f"exported 2 runs: {new}\n")
    harness_of("export", "--output", str(new), "--without-predictions", "--mirror", str(tmp_path))
    harness_of("export", "--output", str(file), "--force", "--reference", "--suite", "full")
    other = next(one for one in Profile if one is not Profile.PROVENANCE)
    result = harness_of("export", "--output", str(new), "--profile", str(other), "--json")
    told = document(result)
    assert result.return_value == 0 and (told["file"], told["runs"], told["left_out"]) == (str(new), 2, {})
    assert exports.asked == [
        usual,
        {**usual, "extent": Extent.WITHOUT_PREDICTIONS, "mirrors": (tmp_path,)},
        {**usual, "extent": Extent.REFERENCE, "output": file, "overwrite": True},
        {**usual, "profile": other},
    ]
    assert exports.plans == [{"suite": "smoke"}, {"suite": "smoke"}, {"suite": "full"}, {"suite": "smoke"}]
    assert exports.shown == ["auto", "auto", "auto", None]
    harness_of("export", "abc", "--mirror", str(tmp_path), "--output", str(new))
    harness_of("export", "abc", "DEF", "--reference", "--output", str(new))
    assert exports.plans[4:] == [
        {"keys": ("abc",), "reference": False, "mirrors": (tmp_path,)},
        {"keys": ("abc", "DEF"), "reference": True, "mirrors": ()},
    ]
    assert exports.asked[4:] == [{**usual, "mirrors": (tmp_path,)}, {**usual, "extent": Extent.REFERENCE}]


def test_runs_of_earlier_code_are_counted_by_verdict(exports: Exports, tmp_path: Path) -> None:
    """Whoever repaired a method has its failures among them: that they are not in the crate is told."""
    exports.outgrown = {"b" * 64: Verdict.ERROR, "a" * 64: Verdict.OK, "c" * 64: Verdict.ERROR}
    result = harness_of("export", "--suite", "stored", "--output", str(tmp_path / "crate"))
    what = "3 runs of other code, data or splits than today's (ok 1, error 2)"
    assert result.return_value == 0
    assert result.stderr == f"not in it: {what}; each by its key: harness show {'a' * 12}\n"
    result = harness_of("export", "--suite", "stored", "--output", str(tmp_path / "again"), "--json")
    assert document(result)["outgrown"] == exports.outgrown


def test_a_run_that_was_left_out_is_named_with_the_reason(exports: Exports, tmp_path: Path) -> None:
    exports.left_out["a" * 64] = "its log is cut"
    result = harness_of("export", "--output", str(tmp_path / "crate"), "--suite", "stored")
    assert result.return_value == 4 and exports.plans == [{"suite": "stored"}]
    said = f"left out {'a' * 12}: its log is cut (harness audit {'a' * 12} tells more)\n"
    assert result.stderr == said and result.stdout.count("\n") == 1
    # each of them
    exports.left_out["b" * 64] = "its job is gone"
    result = harness_of("export", "--output", str(tmp_path / "crate"), "--suite", "stored")
    assert result.stderr == f"{said}left out {'b' * 12}: its job is gone (harness audit {'b' * 12} tells more)\n"
    result = harness_of("export", "--output", str(tmp_path / "crate"), "--json")
    assert (result.return_value, document(result)["left_out"]) == (4, exports.left_out)


@pytest.mark.parametrize(
    ("words", "keys"), [((), None), (("--suite", "stored"), None), (("--suite", "full"), {"k1", "k2"})]
)
@pytest.mark.parametrize("name", ["runs.parquet", "runs.PARQUET"])
def test_an_index_is_of_the_store_or_of_a_suite(
    words: tuple[str, ...],
    keys: set[str] | None,
    name: str,
    exports: Exports,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def build(_layout: object, path: Path, keys: object) -> RunIndex:
        asked.append((path, keys))
        return RunIndex(path, 2, exports.left_out)

    monkeypatch.setattr(harness.cli.export, "build_index", build)
    file = tmp_path / name
    result = harness_of("export", "--output", str(file), *words)
    assert (result.return_value, result.stdout, result.stderr) == (0, f"index of 2 runs: {file}\n", "")
    exports.left_out["a" * 64] = "its log is cut"
    result = harness_of("export", "--output", str(file), *words)
    assert (result.return_value, result.stdout) == (4, f"index of 2 runs: {file}\n")
    assert result.stderr == f"left out {'a' * 12}: its log is cut (harness audit {'a' * 12} tells more)\n"
    result = harness_of("export", "--output", str(file), *words, "--json")
    told = document(result)
    assert (result.return_value, told["file"], told["runs"]) == (4, str(file), 2)
    assert told["left_out"] == exports.left_out
    assert asked == [(file, keys)] * 3 and exports.asked == []
    assert exports.plans == ([{"suite": "full"}] * 3 if keys else [])


@pytest.mark.parametrize(("failed", "code"), [(False, 0), (True, 5)])
def test_a_crate_that_does_not_hold_is_the_exit_code(
    failed: bool, code: int, exports: Exports, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def verify(_layout: object, crate: Path, *, mirrors: tuple[Path, ...], progress: object) -> object:
        asked.append((crate, mirrors, progress))
        return SimpleNamespace(failed=failed)

    monkeypatch.setattr("harness.export.verify.verify", verify)
    module = "harness.export.verdicts"
    monkeypatch.setattr(f"{module}.to_text", lambda one, everything: f"{one.failed} {everything}\n")
    crate = {"key": "", "label": "", "outcome": "ok", "steps": []}
    fields = {"failed": failed, "runs": {}, "cells_without_run": 0, "crate": crate, "audits": []}
    monkeypatch.setattr(f"{module}.to_json", lambda _one: fields)
    result = harness_of("export", "--verify", "c.zip", "--mirror", str(tmp_path))
    assert (result.return_value, result.stdout) == (code, f"{failed} False\n")
    assert harness_of("export", "--verify", "c.zip", "--verbose").stdout == f"{failed} True\n"
    result = harness_of("export", "--verify", "c.zip", "--json")
    assert (result.return_value, document(result)["failed"]) == (code, failed)
    assert asked == [(Path("c.zip"), mirrors, "progress") for mirrors in ((tmp_path,), (), ())]
    assert exports.shown == ["auto", "auto", None]
