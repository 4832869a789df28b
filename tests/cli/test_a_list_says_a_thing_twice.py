"""Lists for people: one head for one kind of split, and no finding that names its subject twice."""

from __future__ import annotations

import pytest

from harness.base.layout import Layout
from harness.cli.split import tell
from harness.results.findings import all_findings


def _row(split: str, seed: int, *, broken: bool = False) -> dict[str, object]:
    return {
        "dataset": "drugbank",
        "split": split,
        "seeds": [seed],
        "sha256": f"{seed:064x}",
        "examined": ["all roles"],
        "broken": ["a role is lost"] if broken else [],
        "known_findings": [],
    }


def test_splits_of_one_kind_stand_below_one_head(capsys: pytest.CaptureFixture[str]) -> None:
    near, far = "cluster:gamma=0.55", "cluster:gamma=0.6"
    tell([_row(near, 124), _row(far, 124), _row(near, 1, broken=True)])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        f"drugbank, {near}: 2 splits",
        f"drugbank, {far}: 1 split",
        "promises kept: 2 of 3 splits",
    ]
    assert [line.split()[-1] for line in lines if line.startswith("  seed")] == ["proved", "BROKEN", "proved"]


def test_no_finding_names_its_subject_twice(repository: Layout) -> None:
    every = [one for members in all_findings(repository).values() for one in members]
    assert {"TIGER's attention has no effect"} <= {one.line for one in every}
    for one in every:
        assert not one.line.startswith(f"{one.about}: {one.about}")
        assert one.title in one.line and one.about in one.line
