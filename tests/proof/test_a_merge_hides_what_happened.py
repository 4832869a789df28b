"""A merged log must hold the other log whole, prove it, and say of every run what became of it."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.proof.leaves import Event, Leaf, parse_leaf
from harness.proof.log import Log
from harness.proof.merges import broken_merges, merged_lines
from harness.proof.plans import LoggedCell, enter_plan
from harness.proof.results import ResultSet, faults_of
from harness.proof.tree import leaf_hash, root_of
from harness.proof.verification import verify
from harness.results.reference import save_reference
from harness.results.sets import reference_set, stored_set
from harness.results.store import Store
from tests.fabricate import plan_of, planned_of, put_run
from tests.proof.conftest import Command

AT = "2026-01-01T00:00:00Z"


def line(name: str) -> bytes:
    return Leaf(Event.FAILURE, AT, name, key=name, record="r", verdict="interrupted").line


def leaves_of(lines: list[bytes]) -> list[Leaf]:
    return [parse_leaf(one, "") for one in lines]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.integers(0, 2), st.sampled_from("abcde")),
            st.tuples(st.integers(0, 2), st.integers(0, 2)),
        ),
        max_size=12,
    )
)
def test_a_log_holds_every_log_that_was_merged_into_it(acts: list[tuple[int, str | int]]) -> None:
    """Three logs that grow and are merged in any order: each is put together again from the leaves it names."""
    logs: list[list[bytes]] = [[], [], []]
    for target, what in acts:
        if isinstance(what, str):
            logs[target].append(line(what))
            continue
        before = list(logs[target])
        logs[target] += merged_lines(before, logs[what])
        for wanted in set(logs[what]):
            assert logs[target].count(wanted) >= logs[what].count(wanted)
        assert merged_lines(logs[target], logs[what]) == [] or what == target
    for log in logs:
        assert list(broken_merges(leaves_of(log))) == []


def test_the_other_log_is_told_by_its_root_and_by_its_places() -> None:
    held, other = [line("a"), line("b")], [line("b"), line("c"), line("a"), line("a")]
    new = merged_lines(held, other)
    assert new[:2] == [line("c"), line("a")]
    leaf = parse_leaf(new[2], "")
    assert (leaf.kind, leaf.scope, leaf.parts) == (Event.MERGE, "a log of 4 leaves", "2-3,1,4")
    assert leaf.root == root_of([leaf_hash(one) for one in other]).hex()


@pytest.mark.parametrize(
    "parts",
    ["", "0", "1-3", "3-1", "1,1,1", "2-9", "1-", "-", "x", "1-2,", "9" * 40, "1-\u0662", "1-2,1-2,1-2,1-2"],
)
def test_places_that_are_not_those_of_the_log_are_found(parts: str) -> None:
    lines = [line("a"), line("b")]
    good = parse_leaf(merged_lines([], lines)[-1], "")
    assert list(broken_merges([*leaves_of(lines), replace(good, parts="1-2")])) == []
    bad = replace(good, parts=parts)
    assert list(broken_merges([*leaves_of(lines), bad])) == [bad]


@pytest.mark.parametrize("change", ["removed", "changed", "swapped"])
def test_a_leaf_of_the_other_log_that_is_touched_is_found_also_two_merges_deep(change: str) -> None:
    first = [line("a"), line("b"), line("c")]
    second = [line("x")]
    second += merged_lines(second, first)
    third = [line("y"), line("z")]
    third += merged_lines(third, second)
    place = third.index(line("b"))
    assert list(broken_merges(leaves_of(third))) == []
    if change == "removed":
        del third[place]
    elif change == "changed":
        third[place] = line("d")
    else:
        third[place], third[place + 1] = third[place + 1], third[place]
    assert list(broken_merges(leaves_of(third)))


def broken_one(place: int) -> Leaf:
    """A merge of another log than the leaf at that place."""
    return Leaf(Event.MERGE, AT, "a log of 1 leaf", root="0" * 64, parts=str(place))


def test_a_merge_that_was_broken_before_its_log_was_merged_is_found() -> None:
    second = [line("x"), broken_one(1).line]
    third = [line("y")]
    third += merged_lines(third, second)
    assert list(broken_merges(leaves_of(third))) == [broken_one(1)]


def test_a_broken_merge_is_found_beside_a_good_one() -> None:
    lines = [line("a"), line("b"), broken_one(1).line, broken_one(2).line]
    lines += merged_lines(lines, [line("c")])
    assert list(broken_merges(leaves_of(lines))) == [broken_one(2), broken_one(1)]
    faults = faults_of(leaves_of(lines[2:4]), ResultSet("made up", Path("/nowhere"), {}))
    assert [fault.where for fault in faults] == [f"log.jsonl: root {'0' * 16}"] * 2


def test_a_merge_names_no_leaf_that_came_after_it() -> None:
    lines = [line("a"), line("b")]
    early = Leaf(
        Event.MERGE, AT, "a log of 2 leaves", root=root_of(list(map(leaf_hash, lines[::-1]))).hex(), parts="0-1"
    )
    assert list(broken_merges([leaves_of(lines)[0], early, leaves_of(lines)[1]])) == [early]


def test_a_merge_can_not_name_more_leaves_than_there_are() -> None:
    """A short line must not fill the memory of whoever looks at it."""
    leaves = leaves_of([line(str(number)) for number in range(200)])
    endless = Leaf(Event.MERGE, AT, "a log of many leaves", root="0" * 64, parts=",".join(["1-200"] * 500))
    tracemalloc.start()
    try:
        assert list(broken_merges([*leaves, endless])) == [endless]
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


@pytest.fixture
def other(made: Layout, tmp_path: Path) -> Layout:
    """Another machine: it was told of the same plan, and made its third run."""
    elsewhere = replace(made, local=tmp_path / "elsewhere")
    cells = plan_of(made, ["als_wr"], (5, 6, 7)).cells
    with Store(elsewhere.runs).open_log() as (log, _):
        enter_plan(log, "three", [LoggedCell(planned_of(cell).key, cell.job.label) for cell in cells])
    put_run(elsewhere, planned_of(cells[2]), verdict=Verdict.INFRASTRUCTURE)
    put_run(elsewhere, planned_of(cells[2]))
    return elsewhere


def test_a_merged_store_can_be_attested_audited_and_saved(made: Layout, other: Layout, harness: Command) -> None:
    merged = harness("store", "merge", other.local)
    assert merged.exit_code == 0 and f"{other.local}: 1 run taken (ok 1)\n" in merged.output
    assert "plan three: 3 cells, 0 left\n" in merged.output
    log = Log(made.local)
    (leaf,) = (one for one in log.leaves() if one.kind is Event.MERGE)
    assert leaf.root == Log(other.local).root()
    assert harness("attest", "--key", made.root.parent / "key").exit_code == 0
    assert verify(made, stored_set(made)).failed == 0
    predicate = json.loads((made.local / "statement.json").read_text())["predicate"]
    assert predicate["leaves"]["merge"] == 1 and predicate["leaves"]["plan"] in (1, 2)
    assert [(plan["name"], plan["missing"]) for plan in predicate["plans"]] == [("three", 0)]
    assert predicate["imported"] == 0 == predicate["unplanned"]
    # the scores came along: nothing is computed again
    size = log.size
    harness("score")
    assert log.size == size
    save_reference(made, Store(made.runs))
    told = [leaf.verdict for leaf in Log(made.reference).leaves() if leaf.kind is Event.FAILURE]
    assert told == ["memory", "infrastructure"], "a try that came to nothing is not told of"
    assert harness("attest", "--reference").exit_code == 0 and reference_set(made).log.size


def test_a_merge_can_not_be_taken_back_a_leaf_at_a_time(made: Layout, other: Layout, harness: Command) -> None:
    """The failure of the other machine is dropped, before anybody signed the merged log."""
    harness("store", "merge", other.local)
    log = Log(made.local)
    kept = [one for one in log.lines() if b"infrastructure" not in one]
    log.path.write_bytes(b"".join(one + b"\n" for one in kept))
    refused = harness("attest")
    assert refused.exit_code == 5
    assert "a log of 4 leaves that was merged is not among the leaves any more" in str(refused.exception)


def test_the_exit_code_tells_damage_and_disagreement(made: Layout, other: Layout, harness: Command) -> None:
    first, _, third = (planned_of(cell) for cell in plan_of(made, ["als_wr"], (5, 6, 7)).cells)
    path = Store(other.runs).path(third.key) / "predictions.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    refused = harness("store", "merge", other.local)
    assert refused.exit_code == 4 and f"refused: {third.job.benchmark}: {third.job.method}" in refused.output
    assert "plan three: 3 cells, 1 left\n" in refused.output
    put_run(other, first, verdict=Verdict.ERROR)
    disagrees = harness("store", "merge", other.local, "--json")
    assert disagrees.exit_code == 5
    (folder,) = json.loads(disagrees.output)["folders"]
    assert [run["key"] for run in folder["disagreements"]] == [first.key]
    assert Store(made.runs).standing(first.key).verdict is Verdict.UNSTABLE
    (note,) = (leaf.note for leaf in Log(made.local).leaves() if leaf.kind is Event.DUPLICATE)
    assert note.startswith("not that of the other log: it ended as 'error' (record ")


def test_nothing_to_merge_is_a_usage_error(harness: Command, tmp_path: Path) -> None:
    assert harness("store", "merge", tmp_path).exit_code == 2
