"""Names are taken in letters of any case, and a name that nobody knows is refused with the nearest one."""

from __future__ import annotations

from typing import Any

import click
import pytest

from harness.cli import main, names


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


@pytest.mark.parametrize(
    ("kind", "typed", "taken"),
    [
        (names.METHOD, "BNNR", "bnnr"),
        (names.METHOD_ROW, "Als_WR/corrected", "als_wr/corrected"),
        (names.DATASET, "FDataset", "fdataset"),
        (names.SUITE, "Smoke", "smoke"),
        (names.STORED_SUITE, "STORED", "stored"),
        (names.BENCHMARK, "DDI", "ddi"),
        (names.SPLIT, "Cluster:gamma=0.6", "cluster:gamma=0.6"),
        (names.VARIANT, "Published", "published"),
        (names.METRIC, "ns-auc/as-defined", "NS-AUC/as-defined"),
        (names.IMAGE, "_Torch", "_torch"),
    ],
)
def test_a_name_is_taken_as_it_is_known_and_it_is_said(
    kind: names.Name, typed: str, taken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with click.Context(click.Command("x")) as context:
        assert kind.convert(typed, None, context) == taken
        word = capsys.readouterr().err
        assert "taken as" in word and word.split()[0] == kind.name
        assert kind.convert(taken, None, context) == taken
    assert capsys.readouterr().err == ""


def test_a_name_that_is_known_so_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = names.Name("thing", lambda layout: ["a", "A"])
    with click.Context(click.Command("x")) as context:
        assert [kind.convert(one, None, context) for one in ("A", "a", "B")] == ["A", "a", "B"]


def test_a_plan_in_capitals_is_the_same_plan(capsys: pytest.CaptureFixture[str]) -> None:
    small = _run(capsys, "plan", "--method", "constant", "--dataset", "synthetic", "--seed", "1", "--cells")
    large = _run(capsys, "plan", "--method", "Constant", "--dataset", "SYNTHETIC", "--seed", "1", "--cells")
    assert small[:2] == large[:2] == (0, small[1])
    assert large[2] == "method Constant: taken as constant\ndataset SYNTHETIC: taken as synthetic\n"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("plan", "--method", "BNNRR", "--dataset", "synthetic", "--seed", "1"), "bnnr"),
        (("plan", "--method", "bnnr", "--dataset", "HDVB", "--seed", "1"), "hdvd"),
        (("plan", "--suite", "Smokes"), "smoke"),
        (("data", "verify", "HDVB"), "hdvd"),
        (("notebook", "BNRR"), "bnnr"),
        (("weights", "get", "pure_cibert"), "pure_scibert"),
        (("image", "build", "bnrr"), "bnnr"),
    ],
)
def test_a_name_that_nobody_knows_is_refused_with_the_nearest(
    arguments: tuple[str, ...], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = _run(capsys, *arguments)
    assert code == 2 and f"did you mean '{meant}'" in said, said
