"""A third benchmark is folders alone: texts go in, JSON Lines come out, and every command knows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.notebook.conftest import door
from tests.toy.conftest import Tree

SUITE = ("--suite", "notes-smoke")
ON_NOTES = ("--method", "word_counts", "--dataset", "notes", "--split", "shuffled")


def _runs(tree: Tree) -> list[Path]:
    return sorted(path.parent for path in (tree.root / "local" / "runs").rglob("record.json"))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["list", "methods"], "Word counts: counting, python"),
        (["list", "metrics"], "share of test notes whose subject is right"),
        (["list", "suites"], "Every method on embedded notes."),
        (["data", "list"], "60 notes     3 subjects"),
        (["data", "get", "open_notes"], "10 notes have no subject"),
        (["data", "verify", "notes"], "notes: ok"),
        (
            ["--data", "own", "data", "new", "mine", "--notes", "datasets/notes/notes.jsonl"],
            "mine: 60 notes 3 subjects (benchmark notes)",
        ),
        (["split", "list"], "notes shuffled: a share of the notes, drawn at random, is asked"),
        (["split", "make", "notes", "shuffled", "--seed", "1", "--to", "out"], "train 45, test 15, outside 0"),
        (
            ["split", "verify", "notes", "shuffled", "--seed", "1"],
            "examined: As many test notes as the share says",
        ),
        (["plan", *SUITE], "2 cells planned"),
        (["run", "--help"], "--longest-note"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_what_needs_no_run(tree: Tree, command: list[str], expected: str) -> None:
    assert expected in tree.harness(*command)


def test_the_option_of_another_benchmark_is_refused(tree: Tree) -> None:
    before = _runs(tree)
    tree.harness("run", *ON_NOTES, "--seed", "1", "--inner-folds", "2", code=2)
    assert _runs(tree) == before


@pytest.mark.engine
def test_a_skeleton_passes_its_own_check(tree: Tree, engine: object) -> None:
    tree.harness("new", "method", "my_notes", "--language", "python", "--benchmark", "notes")
    try:
        told = tree.harness("new", "check", "my_notes", "word_counts")
        assert told.count(": passed") == 10
        assert "my_notes: is not told the subjects of test notes: passed" in told
    finally:
        for name in ("methods", "containers"):
            path = tree.root / name / "my_notes"
            for file in path.iterdir():
                file.unlink()
            path.rmdir()


@pytest.mark.engine
def test_runs_are_scored_and_shown(finished: Tree) -> None:
    cells = json.loads(finished.harness("status", *SUITE, "--json"))["cells"]
    assert [cell["metrics"]["accuracy"] for cell in cells] == [1.0, 1.0]
    assert "accuracy" in finished.harness("score", _runs(finished)[0].name[:12])


@pytest.mark.engine
def test_claims_are_held_against_runs(finished: Tree) -> None:
    told = finished.harness("compare", "--benchmark", "notes", code=1)
    assert "deviates        accuracy       0.1" in told


@pytest.mark.engine
def test_its_table_is_made_again(finished: Tree) -> None:
    told = finished.harness("study", "--benchmark", "notes", "--markdown", code=1)
    assert "Accuracy on notes" in told
    assert "deviates" in told


@pytest.mark.engine
def test_an_audit_makes_each_answer_again(finished: Tree) -> None:
    told = finished.harness("audit", "--all", "--replay", "2")
    assert "2 stored runs audited = 2 passed" in told


@pytest.mark.engine
def test_an_answer_in_json_lines_is_evidence(finished: Tree) -> None:
    """A changed line is found by the audit, and by the score."""
    path = _runs(finished)[0] / "answers.jsonl"
    kept = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(kept.replace(b"weather", b"cooking", 1))
    try:
        assert "FAILED" in finished.harness("audit", path.parent.name, code=5)
    finally:
        path.write_bytes(kept)


@pytest.mark.engine
def test_lines_come_back_in_the_published_order(finished: Tree) -> None:
    """Runs find their notes in secret orders; the counts of words give the same answer in each."""
    tell = finished.harness
    tell("run", *ON_NOTES, "--seed", "1", "--longest-note", "1000")
    orders, answers = set(), set()
    for run in _runs(finished):
        record = json.loads((run / "record.json").read_text())
        if record["planned"]["job"]["split"]["seed"] == 1:
            orders.add(record["order"])
            answers.add((run / "answers.jsonl").read_bytes())
    assert len(orders) == 2
    assert len(answers) == 1


@pytest.mark.engine
def test_the_report_has_its_table(finished: Tree) -> None:
    finished.harness("report", *SUITE)
    assert "word_counts" in (finished.root / "local" / "report.html").read_text()


@pytest.mark.engine
def test_it_predicts(finished: Tree) -> None:
    told = finished.harness("predict", "--method", "word_counts", "--dataset", "open_notes", "--top", "3")
    assert told.splitlines()[0] == "rank,note,subject,certainty"
    assert len(told.splitlines()) == 4


@pytest.mark.engine
def test_it_predicts_on_a_note_of_ones_own(finished: Tree) -> None:
    told = finished.harness("predict", "notes", "--note", "the ship and its sails", "--note", "bread").splitlines()
    assert told[0] == "rank,note,subject,certainty"
    assert sorted(line.split(",")[1] for line in told[1:]) == ["note 1", "note 2"]


@pytest.mark.thorough
@pytest.mark.engine
def test_a_notebook_opens_with_its_problem(finished: Tree) -> None:
    with door(
        "word_counts", "--split", "shuffled", environment=finished.environment, folder=finished.root
    ) as opened:
        assert opened.cells("len(problem.documents), len(problem.asked)").text == "(60, 15)"
        assert opened.cells("{subject for subject, _ in fit_predict(problem)}").status == "ok"
