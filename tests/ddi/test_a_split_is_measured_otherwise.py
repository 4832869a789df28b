"""`split measure` and `split consistency` tell a person of the splits that were named, by their own names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from harness.base.errors import DataError, EngineError, MissingData, UsageError
from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.documents import ANSWERS, ConsistencyAnswer, ConsistencyRow
from harness.benchmarks.ddi.splits.consistency import consistency
from harness.benchmarks.ddi.splits.parts import PartSplit, part_split
from harness.benchmarks.ddi.splits.strategies.random import Parameters, make
from harness.cli.split import command
from harness.data import load_dataset

NAME = "synthetic_ddi"
QUICK = ("--year", "2000", "--controls", "3")


def said(*words: str) -> str:
    """What a command says; an error is raised."""
    shown = CliRunner().invoke(command, words, standalone_mode=False, catch_exceptions=False)
    return shown.stdout


def answer(*words: str) -> dict[str, Any]:
    """What a program reads of it."""
    document: dict[str, Any] = json.loads(said(*words, "--json"))
    return document


@pytest.fixture(scope="module")
def dataset(repository: Layout) -> DdiDataset:
    """The embedded dataset."""
    return load_dataset(repository, NAME, DdiDataset)


def random_split(dataset: DdiDataset, seed: int) -> PartSplit:
    """The split that a person gets for a seed."""
    split: PartSplit = make(dataset, seed, Parameters())
    return split


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without containers: the one strategy that needs them makes no split."""

    def fails(*_: object) -> None:
        raise EngineError("there is no engine")

    monkeypatch.setattr("harness.benchmarks.ddi.splits.strategies.datasail.answered", fails)


def test_each_seed_is_measured_and_told_by_its_label(dataset: DdiDataset) -> None:
    rows = answer("measure", NAME, "random", "--seed", "1", "--seed", "2")["rows"]
    assert [(row["dataset"], row["split"]) for row in rows] == [(NAME, "random-1"), (NAME, "random-2")]
    trained = [random_split(dataset, seed).training for seed in (1, 2)]
    assert [row["items"]["train"] for row in rows] == trained


def test_a_person_reads_the_same_numbers_below_the_digest(dataset: DdiDataset) -> None:
    split = random_split(dataset, 1)
    head, *lines = said("measure", NAME, "random", "--seed", "1").splitlines()
    assert head == f"random-1  {split.digest}"
    assert any(line.split()[:3] == ["items", "train", f"{split.training},"] for line in lines)


def test_a_file_is_measured_in_place_of_a_strategy(dataset: DdiDataset, tmp_path: Path) -> None:
    """Its items, not those of the split that the strategy makes."""
    made = random_split(dataset, 1)
    other = part_split(made.drugs, np.where(made.items == 0, -2, made.items).astype(np.int32))
    path = tmp_path / "other.npy"
    np.save(path, other.table)
    named = ("measure", NAME, "random", "--seed", "1", "--file", str(path))
    (row,) = answer(*named)["rows"]
    assert row["split"] == str(path) and row["items"]["train"] == 0
    assert said(*named).splitlines()[0] == f"{path}  {other.digest}"


def test_a_split_is_compared_once_per_seed_and_told_which(dataset: DdiDataset) -> None:
    named = ("consistency", NAME, *QUICK, "--split", "random", "--seed", "1", "--seed", "2")
    rows = answer(*named)["rows"]
    assert [row["split"] for row in rows] == ["random (1)", "random (2)"]
    roles = {f"random ({seed})": random_split(dataset, seed).drugs for seed in (1, 2)}
    expected = consistency(roles, dataset.years, thresholds=[2000], controls=3)
    assert rows == [row.to_json() for row in expected]
    # with one seed there is nothing to tell apart; without a seed it is 124
    (row,) = answer("consistency", "--dataset", NAME, *QUICK, "--split", "random")["rows"]
    assert (row["split"], row["year"]) == ("random", 2000)
    (usual,) = consistency(
        {"random": random_split(dataset, 124).drugs}, dataset.years, thresholds=[2000], controls=3
    )
    assert row == usual.to_json()


def test_the_table_shows_what_the_document_holds() -> None:
    named = ("consistency", NAME, *QUICK, "--split", "random", "--split", "usage", "--seed", "1")
    (one, other), lines = answer(*named)["rows"], said(*named).splitlines()
    assert lines[0].split() == (
        ["year", "split", "drugs", "penalty", "index", "controls", "better", "worse", "differs", "from", "random"]
    )
    for row, line in zip((one, other), lines[1:], strict=True):
        shares = [f"{row[name]:.3f}" for name in ("better", "worse", "differs")]
        chance = [f"{row['control_mean']:,.0f}", "±", f"{row['control_sd']:.0f}"]
        index = f"{row['index']:.3f}"
        assert line.split() == (
            ["2000", row["split"], str(row["drugs"]), f"{row['penalty']:,}", index, *chance, *shares]
        )
    assert one["penalty"] != other["penalty"]
    turned = said(*named, "--against", "usage").splitlines()
    assert turned[0].split()[-1] == "usage" and turned[2].split()[-1] == "1.000"


def test_a_split_without_a_penalty_has_no_index() -> None:
    """Drugs known until 2002, and new since: with this seed the one that validates is of 2002 as well."""
    split = "period:after=1990,until=2002,new_after=2002,valid_share=0.001"
    years = ("--year", "2002", "--year", "1995")
    named = ("consistency", NAME, "--split", split, *years, "--controls", "2", "--seed", "7")
    first, second = answer(*named)["rows"]
    assert (first["year"], first["penalty"], first["index"]) == (2002, 0, None)
    assert second["year"] == 1995 and second["index"] == 1
    assert said(*named).splitlines()[1].split()[3:5] == ["0", "-"]


def test_what_no_split_was_made_of_is_left_out_by_name(no_engine: None) -> None:
    lines = said("consistency", NAME, *QUICK, "--seed", "77").splitlines()
    assert lines[-1] == "left out: datasail: there is no engine"
    told = [line.split()[1] for line in lines[1:-1]]
    # one is for predicting, another one is made of approval times; no split of this dataset was released
    assert not {"new_drugs", "period", "released", "datasail"} & {*told}
    assert {"cluster", "frequency", "random", "scaffold", "usage"} <= {*told} and len(told) == len({*told})


def test_what_these_data_have_too_few_drugs_for_is_left_out_by_name(
    no_engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.splits import load_split

    def fails(layout: Layout, name: str, spec: Any, mirrors: tuple[Path, ...]) -> object:
        if spec.strategy == "cluster":
            raise DataError("split cluster: no group is small enough")
        return load_split(layout, name, spec, mirrors)

    monkeypatch.setattr("harness.splits.load_split", fails)
    lines = said("consistency", NAME, *QUICK, "--seed", "77").splitlines()
    assert "left out: cluster: split cluster: no group is small enough" in lines
    assert "random" in {line.split()[1] for line in lines[1:-2]}


def test_a_split_that_is_named_is_not_left_out(no_engine: None) -> None:
    with pytest.raises(EngineError, match="there is no engine"):
        said("consistency", NAME, *QUICK, "--split", "random", "--split", "datasail")


def test_a_released_split_is_the_same_for_every_seed(monkeypatch: pytest.MonkeyPatch, dataset: DdiDataset) -> None:
    """Made once, and told without a seed; by default each is compared, behind those that are made."""
    from harness.benchmarks.ddi import commands

    asked = []

    def split_of(_layout: Layout, name: str, spec: Any, _mirrors: tuple[Path, ...]) -> PartSplit:
        asked.append((name, spec.label))
        return random_split(dataset, 1)

    monkeypatch.setattr("harness.splits.load_split", split_of)
    with_released = DdiDataset(**{**vars(dataset), "released_names": ("one", "two")})
    roles, left_out = commands._roles(Layout(Path(), Path(), Path()), with_released, (), (3, 4), ())
    assert left_out == {}
    assert [*roles][-4:] == ["usage (3)", "usage (4)", "released:which=one", "released:which=two"]
    assert len(asked) == len(roles) and {name for name, _ in asked} == {NAME}


def test_a_dataset_of_another_benchmark_has_no_index() -> None:
    with pytest.raises(UsageError, match="only drug interactions have this index") as caught:
        said("consistency", "synthetic", *QUICK)
    assert caught.value.todo == "name a dataset of benchmark ddi"


def test_without_a_measurement_there_is_no_page(
    tmp_path: Path, repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Layout(root=tmp_path, cache=repository.cache, local=tmp_path / "local")
    monkeypatch.setattr("harness.benchmarks.ddi.commands.find_layout", lambda: empty)
    with pytest.raises(MissingData, match="nothing was measured") as caught:
        said("consistency", "--markdown")
    assert caught.value.where == str(empty.reference / "ddi")
    assert caught.value.todo == "`harness study --benchmark ddi --measure` does that"


@pytest.mark.parametrize(
    "words",
    [
        ["synthetic_ddi"],
        ["--dataset", "synthetic_ddi"],
        ["--split", "random"],
        ["--seed", "124"],
        ["--year", "1990"],
        ["--against", "random"],
        ["--controls", "400"],
    ],
)
def test_the_page_of_what_was_measured_answers_no_question(words: list[str]) -> None:
    with pytest.raises(click.UsageError, match="nothing else goes with it"):
        said("consistency", "--markdown", *words)


def test_the_page_ends_where_it_ends() -> None:
    page = said("consistency", "--markdown")
    assert page.startswith("# Consistency of drug splits") and page.endswith("\n") and not page.endswith("\n\n")


ROW = {
    **{"split": "a", "year": 2000, "drugs": 3, "penalty": 4, "index": None},
    **{"control_mean": 1.5, "control_sd": 0.5, "better": 0.5, "worse": 0.5, "differs": 1.0},
}


@pytest.mark.parametrize(
    "changes", [{"year": "soon"}, {"drugs": 1.5}, {"penalty": None}, {"more": 1}, {"split": 1}]
)
def test_the_schema_takes_no_other_row(changes: dict[str, object]) -> None:
    assert ConsistencyRow.model_validate(ROW).model_dump() == ROW
    with pytest.raises(ValidationError):
        ConsistencyRow.model_validate(ROW | changes)


def test_the_schema_takes_no_answer_that_lacks_a_field() -> None:
    """Without what was left out, and why, the other rows would be taken for all."""
    whole = {"permafrost": 1, "command": "split consistency", "rows": [ROW], "left_out": {"datasail": "why"}}
    assert ConsistencyAnswer.model_validate(whole).model_dump() == whole
    for form, fields in ((ConsistencyAnswer, whole), (ConsistencyRow, ROW)):
        for name in fields:
            with pytest.raises(ValidationError):
                form.model_validate({key: value for key, value in fields.items() if key != name})


def test_both_commands_have_a_schema() -> None:
    assert {name: [form.__name__ for form in forms] for name, forms in ANSWERS.items()} == {
        "split measure": ["Measurements"],
        "split consistency": ["ConsistencyAnswer"],
    }
