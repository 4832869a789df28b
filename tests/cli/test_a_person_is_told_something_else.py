"""What commands about stored runs print, to a person and to a program, and with which exit code they end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.base.layout import Layout
from harness.base.tables import aligned
from harness.cli import log as lines_of_log
from harness.cli import main
from harness.handles.difference import Difference
from harness.proof.log import Log
from harness.proof.tree import leaf_hash, root_of
from harness.results.store import Store
from harness.upkeep import Removal
from tests.evidence import go_to

Told = Callable[..., tuple[int, str, str]]


@pytest.fixture
def told(evidence: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Exit code and both outputs of a command over the made-up runs."""
    go_to(evidence, monkeypatch)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return run


def test_runs_are_listed_counted_and_asked_about_before_they_go(
    told: Told, evidence: Layout, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(evidence.runs)
    runs = api.forget(methods="constant", dry_run=True, repository=api.Repository(evidence))
    sizes = [f"{run.bytes / 1e6:.1f} MB" for run in runs]
    whole = f"{sum(run.bytes for run in runs) / 1e6:.1f} MB"
    code, out, _ = told("forget", "--method", "constant", "--dry-run")
    assert code == 0
    assert sorted(line.split()[:2] for line in out.splitlines()[:2]) == sorted(
        [key[:12], "ok"] for key in keys[:2]
    )
    assert out.splitlines()[2:] == [f"2 runs, {whole} of predictions, logs, records and scores"]
    rows = [[run.key[:12], run.verdict, run.label, size] for run, size in zip(runs, sizes, strict=True)]
    assert out.splitlines()[:2] == list(aligned(rows))

    code, out, err = told("forget", "--method", "constant", "--json")
    error = json.loads(out)["error"]
    assert (code, error["what"], error["where"], error["todo"], err) == (
        2,
        "with --json nobody is asked",
        "harness forget",
        "add --yes or --dry-run",
        "",
    )
    code, _, err = told("forget", keys[0][:12])
    assert code == 2
    assert err.splitlines() == [
        "error: nobody is here to be asked",
        "  where: harness forget",
        "  to do: add --yes, or --dry-run",
    ]
    monkeypatch.setattr("harness.cli.forget._is_asked", lambda: True)
    for answer, expected in ((False, 1), (True, 0)):
        asked: list[str] = []
        monkeypatch.setattr("click.confirm", lambda text, *_, a=answer, seen=asked: (seen.append(text), a)[1])
        code, out, _ = told("forget", keys[0][:12])
        assert (code, asked) == (expected, ["remove them?"])
        assert out.splitlines()[-1] == ("removed: 1" if answer else "nothing was removed")
        assert (keys[0] in store.finished()) is not answer
    code, out, _ = told("forget", keys[1], "--yes", "--json")
    document = json.loads(out)
    assert (code, document["removed"], [run["key"] for run in document["runs"]]) == (0, True, [keys[1]])
    assert sorted(Store(evidence.runs).finished()) == sorted(keys[2:4])


def test_a_run_that_stays_is_told_with_the_reason(
    told: Told, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary = api.forget

    def forget(*given: Any, **named: Any) -> list[Any]:
        runs = ordinary(*given, **{**named, "dry_run": True})
        return (
            runs
            if named.get("dry_run")
            else [*(replace(run, fault="it is in use") for run in runs[:2]), *runs[2:]]
        )

    monkeypatch.setattr("harness.api.forget", forget)
    code, out, err = told("forget", *keys[:3], "--yes")
    assert (code, out.splitlines()[-1]) == (1, "removed: 1")
    assert err == "".join(f"not removed: {key[:12]}: it is in use\n" for key in keys[:2])
    code, out, _ = told("forget", keys[0], "--yes", "--json")
    assert (code, json.loads(out)["runs"][0]["fault"]) == (1, "it is in use")


def test_the_log_ends_with_its_root_and_shows_the_last_events(
    told: Told, evidence: Layout, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # the made-up runs have fewer events than are shown
    assert lines_of_log._LAST == 20
    monkeypatch.setattr(lines_of_log, "_LAST", 2)
    leaves = Log(evidence.local).leaves()
    root = root_of([leaf_hash(leaf.line) for leaf in leaves]).hex()
    code, out, _ = told("log")
    lines = out.splitlines()
    assert (code, lines[-1]) == (0, f"{len(leaves)} leaves, root {root}")
    numbers = [int(line.split()[0]) for line in lines[:-1]]
    assert numbers == [*range(1, len(leaves) + 1)][-2:]
    assert all(leaf.at in line for leaf, line in zip(leaves[-2:], lines, strict=False))

    code, out, _ = told("log", keys[0][:12].upper(), "--proof")
    own = [number for number, leaf in enumerate(leaves, start=1) if leaf.key == keys[0]]
    assert code == 0 and own
    for number in own:
        assert f"leaf {number}: {leaf_hash(leaves[number - 1].line).hex()}" in out.splitlines()
    document = json.loads(told("log", keys[0][:12], "--proof", "--json")[1])
    assert (document["size"], document["root"]) == (len(leaves), root)
    assert [row["leaf"] for row in document["leaves"]] == own
    for row in document["leaves"]:
        assert row["hash"] == leaf_hash(leaves[row["leaf"] - 1].line).hex()
        assert [one in out for one in row["proof"]] == [True] * len(row["proof"])
    assert not any("proof" in row for row in json.loads(told("log", "--json")[1])["leaves"])

    code, _, err = told("log", "--proof")
    assert code == 2 and "--proof needs a KEY" in err
    code, _, err = told("log", "f" * 12)
    assert code == 2 and "run of the log" in err and str(Log(evidence.local).path) in err


def test_a_difference_is_shown_by_section_and_is_the_exit_code(
    told: Told, evidence: Layout, keys: list[str]
) -> None:
    here = api.Repository(evidence)
    differences = api.diff(keys[0], keys[2], repository=here)
    code, out, _ = told("diff", keys[0][:12], keys[2][:12])
    lines = out.splitlines()
    assert code == 1 and "the same" not in out
    assert [line for line in lines if not line.startswith(" ")] == list(
        dict.fromkeys(one.section for one in differences)
    )
    shown = [line for line in lines if line.startswith("  ")]
    assert [line.split()[0] for line in shown] == [one.name.split()[0] for one in differences]
    for one, line in zip(differences, shown, strict=True):
        for text in (one.first, one.second):
            assert (text if len(text) <= 34 else f"{text[:33]}…") in line
        assert one.by is None or line.endswith(f"{one.by:+.3g}")
    code, out, _ = told("diff", keys[0][:12], keys[2][:12], "--json")
    assert (code, [row["decides"] for row in json.loads(out)["rows"]]) == (1, [one.decides for one in differences])

    code, out, _ = told("diff", keys[0], keys[0])
    assert (code, out) == (0, "the same: job, image, inputs, outcome, scores, and every file of the answer\n")


def test_runs_that_differ_in_time_and_machine_alone_are_the_same(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = [Difference("machine", "wall_s", "8.0", "9.0", 1.0), Difference("own files", "log.txt", "a", "b")]
    monkeypatch.setattr(api, "diff", lambda *_, **__: later)
    code, out, _ = told("diff", "one", "other")
    assert code == 0 and "wall_s" in out
    assert out.splitlines()[-1].startswith("the same: job, image, inputs, outcome, scores")
    code, out, _ = told("diff", "one", "other", "--json")
    assert (code, [row["decides"] for row in json.loads(out)["rows"]]) == (0, [False, False])
    # one that decides is enough, wherever it stands
    later.append(Difference("files", "predictions.npy", "a", "b"))
    code, out, _ = told("diff", "one", "other")
    assert code == 1 and "the same" not in out and told("diff", "one", "other", "--json")[0] == 1


_REMOVALS = (
    Removal("container", "one", 0),
    Removal("image", "two", 1_500_000),
    Removal("image", "three", 1_000_000),
    Removal("cache", "four", 2_000_000, "it is in use"),
    Removal("folder", "five", 500_000),
)


@pytest.mark.parametrize(("asked", "word"), [((), "removed"), (("--dry-run",), "would remove")])
def test_what_is_removed_is_told_with_sizes_and_sums(
    asked: tuple[str, ...], word: str, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[Any, ...]] = []

    def removing(layout: Layout, environment: Any, *, dry_run: bool) -> Iterator[Removal]:
        given.append((environment is os.environ, dry_run))
        yield from _REMOVALS

    monkeypatch.setattr("harness.cli.clean.clean_all", removing)
    code, out, _ = told("clean", "--all", *asked)
    assert (code, given) == (1, [(True, bool(asked))])
    assert out.splitlines() == [
        f"{word} container one",
        f"{word} image two, 1.5 MB",
        f"{word} image three, 1.0 MB",
        "could not remove cache four, 2.0 MB: it is in use",
        f"{word} folder five, 0.5 MB",
        "image   2.5 MB",
        "folder  0.5 MB",
        "(layers that images share are counted with each of them)",
    ]
    code, out, _ = told("clean", "--all", "--json", *asked)
    assert code == 1 and [row["name"] for row in json.loads(out)["rows"]] == [
        *("one", "two", "three", "four", "five"),
    ]


def test_runs_of_another_machine_are_told_as_they_were_taken(
    told: Told, evidence: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "mine"))
    first = f"{evidence.local}: 4 runs taken (error 1, ok 3)"
    again = f"{evidence.local}: 0 runs taken; 4 known before"
    for expected in (first, again):
        code, out, err = told("store", "merge", str(evidence.local))
        assert (code, out.splitlines()[0]) == (0, expected)
        assert "refused" not in err and "disagrees" not in err
    document = json.loads(told("store", "merge", str(evidence.local), "--json")[1])
    assert [(one["folder"], one["known"]) for one in document["folders"]] == [(str(evidence.local), 4)]
