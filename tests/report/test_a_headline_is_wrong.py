"""The result in a few facts: claims, cells, the last audit and who signed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare import Book, ClaimVerdict
from harness.compare.names import Target
from harness.compare.runs import Obtained
from harness.proof.tree import leaf_hash, root_of
from harness.report import headlines as head
from harness.report.headlines import Headlines, make_headlines
from harness.results.last_audit import LastAudit, digest_of_keys
from harness.status import ScoredCell, Table
from tests.fabricate import drug_cell
from tests.report.made_up import claim

LOG = [leaf_hash(b"%d" % number) for number in range(2487)]
_CELL = drug_cell("mlp", {}, {}, seed=7)


def _book(*verdicts: ClaimVerdict) -> Book:
    return Book("ddi", (), tuple(claim(verdict=one) for one in verdicts))


def test_the_result_in_a_few_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    layout = Layout(tmp_path, tmp_path, tmp_path / "local")
    monkeypatch.setattr(head, "load_reference", lambda own: {"r": own})

    def audit(own: Layout, of: str, keys: Any) -> str:
        calls.append((own, of, keys))
        return f"audit of {of}"

    monkeypatch.setattr(head, "_audit", audit)
    monkeypatch.setattr(head, "_signature", lambda own, of, folder: f"signature of {of} in {folder}")
    done = ClaimVerdict.REPRODUCED
    books = [
        _book(done, ClaimVerdict.DEVIATES, ClaimVerdict.PENDING, done),
        _book(ClaimVerdict.NOT_COMPARABLE, done),
    ]

    def cell(verdict: Verdict, *, reference: bool = False, ran: bool = True) -> ScoredCell:
        own = replace(_CELL.cell, verdict=verdict, record={"a": "record"} if ran else {})
        return replace(_CELL, cell=own, reference=reference)

    waiting = [cell(Verdict.PENDING, ran=False, reference=True) for _ in range(3)]
    stored = [
        ("Audit of the runs made here", "audit of stored"),
        ("Signature of the runs made here", f"signature of stored in {tmp_path / 'local'}"),
    ]
    reference = [
        ("Audit of the reference results", "audit of reference"),
        ("Signature of the reference results", f"signature of reference in {layout.reference}"),
    ]
    for cells, lines in (
        ([cell(Verdict.OK), cell(Verdict.ERROR), cell(Verdict.ERROR)], stored),
        ([cell(Verdict.OK, reference=True)], reference),
        ([cell(Verdict.OK), cell(Verdict.OK, reference=True)], [*stored, *reference]),
        ([], stored),
    ):
        found = make_headlines(layout, Table("t", 9, tuple(cells + waiting), 0), books)
        counts = {one: sum(c.cell.verdict is one for c in cells + waiting) for one in Verdict}
        expected = sorted(((str(one), n) for one, n in counts.items() if n), key=lambda pair: -pair[1])
        assert {*found.cells} == {*expected} and [n for _, n in found.cells] == [n for _, n in expected]
        assert (found.claims, found.reproduced, found.deviating, found.undecided) == (6, 3, 1, 2)
        assert found.planned == len(cells) + 3 and [*found.lines] == lines
    ours = Obtained("a", Verdict.OK, "", {}, {})
    theirs = {seed: replace(ours, key=f"b{seed}", reference=True) for seed in range(1200)}
    one = replace(
        books[0],
        runs={Target("bnnr", "x", "random"): {1: ours}},
        beside={"corrected": {Target("bnnr", "x", "random"): theirs}},
    )
    table = Table("t", 1, (cell(Verdict.OK),), 0)
    basis = ("Claims rest on", "1 run made here and 1,200 committed reference results")
    assert [*make_headlines(layout, table, [one, *books]).lines] == [basis, *stored, *reference]
    alone = replace(
        one, runs={Target("bnnr", "x", "random"): {1: replace(ours, key="b", reference=True)}}, beside={}
    )
    basis = ("Claims rest on", "1 committed reference result")
    assert [*make_headlines(layout, table, [alone]).lines] == [basis, *stored, *reference]
    two = replace(one, runs={Target("bnnr", "x", "random"): {1: ours, 2: replace(ours, key="c")}}, beside={})
    assert [*make_headlines(layout, table, [two]).lines] == [
        ("Claims rest on", "2 runs made here"),
        *stored,
    ]
    assert calls[0] == (layout, "stored", []) and (layout, "reference", ["r"]) in calls
    assert Headlines(10, 3, 4, 0, (), ()).undecided == 3


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, "2026-01-02: 1,038 of 2,000 passed; by tree 0123456789ab"),
        ({"replayed": 1003}, "2026-01-02: 1,038 of 2,000 passed, 1,003 of them run again; by tree 0123456789ab"),
        (
            {"failed": 1, "superseded": 2000, "unfinished": 3},
            "2026-01-02: 1,038 of 2,000 passed, 1 failed, 2,000 superseded, 3 unfinished; by tree 0123456789ab",
        ),
        ({"tree": ""}, "2026-01-02: 1,038 of 2,000 passed; by tree unknown to git"),
        ({"tree": "0123456789abcdef+"}, "2026-01-02: 1,038 of 2,000 passed; by tree 0123456789ab with changes"),
        (
            {"digest": "another"},
            "2026-01-02: 1,038 of 2,000 passed; by tree 0123456789ab; results have come or gone since",
        ),
    ],
)
def test_the_last_audit_in_a_line(
    facts: Layout, monkeypatch: pytest.MonkeyPatch, change: Mapping[str, Any], text: str
) -> None:
    usual = {"at": "2026-01-02", "tree": "0123456789abcdef", "results": 2000, "passed": 1038}
    usual |= {"failed": 0, "superseded": 0, "unfinished": 0, "replayed": 0, "digest": digest_of_keys(["a", "b"])}
    audit = LastAudit.model_validate({**usual, **change})

    def read(layout: Layout, of: str) -> LastAudit:
        assert (layout, of) == (facts, "stored")
        return audit

    monkeypatch.setattr(head, "read_last_audit", read)
    assert head._audit(facts, "stored", ["b", "a"]) == text


def test_where_nothing_was_audited_the_command_is_named(facts: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head, "read_last_audit", lambda *_: None)
    keys = [str(number) for number in range(1234)]
    told = "not made on this machine yet; `harness audit"
    assert head._audit(facts, "stored", keys) == f"{told} --all` looks at all 1,234"
    assert head._audit(facts, "reference", keys) == f"{told} --reference` looks at all 1,234"


@pytest.mark.parametrize(
    ("signed", "commit", "log", "text"),
    [
        (
            True,
            "0123456789abcdef",
            LOG[:2486],
            "by ada; statement of then, commit 0123456789ab: 2,486 leaves, root {root}",
        ),
        (False, "", LOG[:2486], "not signed; statement of then: 2,486 leaves, root {root}"),
        (True, "", LOG[:2487], "by ada; statement of then: 2,486 leaves, root {root}; the log has 2,487 now"),
        # one leaf is gone, one is another, two changed places
        (True, "", LOG[:2485], "does not hold: the log is not the one that was signed (log.jsonl)"),
        (
            True,
            "",
            [b"another", *LOG[1:2486]],
            "does not hold: the log is not the one that was signed (log.jsonl)",
        ),
        (
            False,
            "",
            [LOG[1], LOG[0], *LOG[2:]],
            "does not hold: the log is not the one that was stated (log.jsonl)",
        ),
    ],
)
def test_who_signed_in_a_line(
    facts: Layout, monkeypatch: pytest.MonkeyPatch, signed: bool, commit: str, log: list[bytes], text: str
) -> None:
    folder = facts.local
    root = root_of(LOG[:2486]).hex()
    statement = SimpleNamespace(made="then", commit=commit, size=2486, root=root)
    monkeypatch.setattr(head, "read", lambda own: statement if own == folder else None)
    monkeypatch.setattr(head, "is_signed", lambda path: signed and path == folder / "statement.json")
    monkeypatch.setattr(head, "allowed_signers", lambda layout: ("signers of", layout))
    monkeypatch.setattr(
        head,
        "signer_of_file",
        lambda path, signers: (
            "ada" if (path, signers) == (folder / "statement.json", ("signers of", facts)) else ""
        ),
    )
    path = folder / "log.jsonl"
    monkeypatch.setattr(
        head, "Log", lambda own: SimpleNamespace(path=path, hashes=lambda: log if own == folder else [])
    )
    assert head._signature(facts, "stored", folder) == text.format(root=root[:16])


def test_without_a_statement_the_command_is_named(facts: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head, "read", lambda _: None)
    told = "not signed: there is no statement; "
    assert head._signature(facts, "stored", facts.local) == f"{told}harness attest makes one"
    assert head._signature(facts, "reference", facts.local) == f"{told}harness attest --reference makes one"

    def cut(_: Path) -> None:
        raise CorruptData("the statement is cut", where="x")

    monkeypatch.setattr(head, "read", cut)
    assert head._signature(facts, "stored", facts.local) == "does not hold: the statement is cut (statement.json)"
