"""What a split is called is what a person can ask for, whatever its parameters hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.cli.split import command
from harness.splits.spec import SplitSpec, parse_split

VALUES = st.one_of(st.text(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.none())


@given(st.dictionaries(st.from_regex(r"[a-z]+", fullmatch=True), VALUES | st.booleans(), max_size=3))
@example({"group": "2055"})
@example({"group": "cat:Agents, topical"})
@example({"group": 'a,"b', "other": 'c",d'})
@example({"group": "a\\,b"})
@example({"group": "nan", "other": "null"})
def test_a_split_is_asked_for_as_it_is_called(parameters: dict[str, object]) -> None:
    spec = SplitSpec(strategy="drug_classes", seed=7, parameters=parameters)
    assert parse_split(spec.text, 7) == spec


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("cat:A/B", "cat:A/B"),
        ("2055", '"2055"'),
        (2055, "2055"),
        ("a, b", '"a, b"'),
        ("ä,ö", '"ä,ö"'),
        (0.6, "0.6"),
    ],
)
def test_quotes_stand_where_a_text_would_be_read_otherwise(value: object, text: str) -> None:
    spec = SplitSpec(strategy="drug_classes", seed=7, parameters={"group": value})
    assert spec.text == f"drug_classes:group={text}"


@pytest.mark.parametrize("text", ["cluster:gamma=1,,b=2", "cluster:,gamma=1", "cluster:gamma=1,"])
def test_a_setting_that_is_none_is_refused(text: str) -> None:
    assert parse_split("cluster:", 1) == SplitSpec(strategy="cluster", seed=1)
    with pytest.raises(UsageError, match="'' sets nothing"):
        parse_split(text, 1)


def test_settings_behind_a_strategy_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what the name of a group holds makes no folder."""
    words = ["make", "synthetic", "random:test_share=0.25,inner_folds=2", "--seed", "3", "--to", str(tmp_path)]
    assert CliRunner().invoke(command, words, catch_exceptions=False).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["synthetic-random-inner_folds=2-test_share=0.25-3.npy"]
    monkeypatch.setattr(SplitSpec, "label", property(lambda _: "random-group=cat:A/B-3"))
    assert CliRunner().invoke(command, words, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "synthetic-random-group=cat:A_B-3.npy").is_file()
