"""Names that a person gives: found in any case, of the kind that was said, refused where no row can have them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks import Dataset
from harness.benchmarks.new_item import Kind
from harness.data import load_dataset
from harness.prediction import PredictionRequest
from harness.prediction.names import Selection, is_known, known_name, selection_of


@pytest.fixture(scope="module")
def dataset(repository: Layout) -> Dataset:
    return load_dataset(repository, "synthetic")


def names_of(dataset: Dataset) -> tuple[list[str], list[str]]:
    """Drugs and diseases."""
    drugs, diseases = (list(dataset.names[one]) for one in ("drug_ids", "disease_ids"))
    return drugs, diseases


def test_what_was_asked_is_what_is_selected(dataset: Dataset) -> None:
    drugs, diseases = names_of(dataset)
    request = PredictionRequest(
        methods=("bnnr",),
        dataset="synthetic",
        only=(("drug", drugs[0].upper()), ("drug", drugs[3].lower()), ("disease", diseases[2])),
        pairs=((drugs[1], diseases[1].upper()), (diseases[0], "Mine")),
    )
    selection = selection_of("repurposing", dataset, request, own=["Mine"])
    assert selection.own == {"Mine"}
    assert selection.named == {"drug": {drugs[0], drugs[3]}, "disease": {diseases[2]}}
    assert selection.pairs == {frozenset({drugs[1], diseases[1]}), frozenset({"Mine", diseases[0]})}
    assert selection.names_known_things


def test_a_pair_of_known_things_beside_what_was_added_is_refused(dataset: Dataset) -> None:
    """Methods were fitted, and no row was left."""
    drugs, diseases = names_of(dataset)
    request = PredictionRequest(methods=("bnnr",), dataset="synthetic", pairs=((drugs[1], diseases[1]),))
    with pytest.raises(UsageError) as refused:
        selection_of("repurposing", dataset, request, own=["Mine", "Other"])
    assert refused.value.what == "no row has both what was added (Mine, Other) and a pair of known ones"
    assert refused.value.where == f"--pair {drugs[1]} {diseases[1]}"
    assert refused.value.todo == "name what was added in the pair, or ask for the pair without it"
    assert selection_of("repurposing", dataset, request).pairs == {frozenset({drugs[1], diseases[1]})}


def test_nothing_asked_selects_nothing(dataset: Dataset) -> None:
    selection = selection_of("repurposing", dataset, PredictionRequest(methods=("bnnr",), dataset="synthetic"))
    assert not selection.names_known_things and not selection.own


def test_a_name_is_of_the_kind_that_was_said(dataset: Dataset) -> None:
    drugs, diseases = names_of(dataset)
    assert known_name("repurposing", dataset, drugs[4].lower(), "drug") == drugs[4]
    assert known_name("repurposing", dataset, diseases[4]) == diseases[4]
    with pytest.raises(UsageError, match=f"nothing in dataset synthetic is called '{diseases[4]}'") as refused:
        known_name("repurposing", dataset, diseases[4], "drug")
    assert refused.value.where == "--drug"


def test_of_names_that_differ_in_capitals_alone_the_one_that_is_written_is_meant(dataset: Dataset) -> None:
    drugs, _ = names_of(dataset)
    both = replace(dataset, drug_ids=("5-FU", "5-fu", "aspirin", *drugs[3:]))
    assert [known_name("repurposing", both, one) for one in ("5-FU", "5-fu", "ASPIRIN")] == [
        "5-FU",
        "5-fu",
        "aspirin",
    ]
    assert is_known("repurposing", both, "5-fu", "drug") and not is_known("repurposing", both, "5-Fu", "drug")
    assert not is_known("repurposing", both, "5-fu", "disease")


def test_a_name_that_nothing_has_is_told_with_those_near_it(dataset: Dataset) -> None:
    drugs, _ = names_of(dataset)
    with pytest.raises(UsageError, match="nothing in dataset synthetic is called") as refused:
        known_name("repurposing", dataset, f"{drugs[0]}x")
    assert drugs[0] in refused.value.todo and refused.value.where == "what is asked about"


def test_what_a_person_added_is_known_by_its_name(dataset: Dataset) -> None:
    assert known_name("repurposing", dataset, "MINE", own=["Mine"]) == "Mine"
    with pytest.raises(UsageError):
        known_name("repurposing", dataset, "Mine")


@pytest.mark.parametrize(("first", "second", "what"), [(0, 0, "the same"), (0, 1, "both a drug")])
def test_a_pair_that_no_row_has_is_refused(dataset: Dataset, first: int, second: int, what: str) -> None:
    drugs, _ = names_of(dataset)
    request = PredictionRequest(methods=("bnnr",), dataset="synthetic", pairs=((drugs[first], drugs[second]),))
    with pytest.raises(UsageError, match=f"are {what}: no row has both") as refused:
        selection_of("repurposing", dataset, request)
    assert refused.value.todo == "name a drug and a disease"


def test_rows_are_taken_that_all_conditions_hold_for(dataset: Dataset) -> None:
    drugs, diseases = names_of(dataset)
    columns = ("drug", "disease")
    request = PredictionRequest(
        methods=("bnnr",), dataset="synthetic", only=(("drug", drugs[0]),), pairs=((drugs[0], diseases[1]),)
    )
    selection = selection_of("repurposing", dataset, request)
    assert selection.takes(columns, (drugs[0], diseases[1]))
    assert not selection.takes(columns, (drugs[0], diseases[2]))
    assert not selection.takes(columns, (drugs[1], diseases[1]))
    mine = replace(selection, own=frozenset({"Mine"}), pairs=frozenset())
    assert not mine.takes(columns, (drugs[0], diseases[1])) and not mine.ranks((drugs[0], diseases[1]))


_FEW = st.frozensets(st.sampled_from("abMN"))


@given(
    columns=st.sampled_from([("drug", "disease"), ("drug 1", "drug 2")]),
    names=st.tuples(st.sampled_from("abMN"), st.sampled_from("abMN")),
    own=_FEW.map(lambda some: some & {"M", "N"}),
    named=st.dictionaries(st.sampled_from(["drug", "disease"]), _FEW.filter(bool)),
    pairs=st.frozensets(st.frozensets(st.sampled_from("abMN"), min_size=2, max_size=2), max_size=2),
)
def test_a_row_is_taken_if_and_only_if_all_that_was_asked_holds_of_it(
    columns: tuple[str, str],
    names: tuple[str, str],
    own: frozenset[str],
    named: dict[str, frozenset[str]],
    pairs: frozenset[frozenset[str]],
) -> None:
    """What was added takes the place of a name that was asked for in the column of its kind, and nowhere else."""
    holds = [not own or any(name in own for name in names)]
    holds.append(not pairs or any(set(pair) == set(names) for pair in pairs))
    for kind, wanted in named.items():
        if kind in columns:
            name = names[columns.index(kind)]
            holds.append(name in wanted or name in own)
        else:
            holds.append(names[0] in wanted or names[1] in wanted)
    assert Selection(own, named, pairs).takes(columns, names) == all(holds)


def test_a_name_is_looked_up_in_every_list_the_shown_one_first(repository: Layout) -> None:
    drugs = load_dataset(repository, "synthetic_ddi")
    ids, names = drugs.names["drug_ids"], drugs.names["drug_names"]
    for number in (0, 5, -1):
        assert known_name("ddi", drugs, names[number].upper()) == ids[number]
        assert known_name("ddi", drugs, ids[number].lower(), "drug") == ids[number]
    # an earlier list counts for more than a later one, and what a person added for most; no text is no name
    own = {**drugs.names, "drug_ids": ("a", "b", "c"), "drug_names": ("b", "a", "")}
    turned = _named(drugs, own)
    assert [known_name("ddi", turned, one) for one in "abc"] == ["a", "b", "c"]
    assert (
        known_name("ddi", turned, "B", own=["b", "x"]) == "b" and known_name("ddi", turned, "X", own=["x"]) == "x"
    )
    with pytest.raises(UsageError):
        known_name("ddi", turned, "")


def _named(dataset: Dataset, names: dict[str, tuple[str, ...]]) -> Any:
    return SimpleNamespace(name=dataset.name, names=names)


def test_five_names_near_it_at_most_are_told(dataset: Dataset) -> None:
    few = _named(dataset, {"drug_ids": ("abcd1", "abcd2", "abcd3"), "disease_ids": ("zzzz",)})
    many = _named(dataset, {"drug_ids": tuple(f"abcd{one}" for one in range(9)), "disease_ids": ("zzzz",)})
    usage = "add one of your own as NAME=TEXT (docs/predicting.md)"
    for names, asked, near in (
        (few, "ABCD", {"abcd1", "abcd2", "abcd3"}),
        (many, "abcd", 5),
    ):
        with pytest.raises(UsageError) as refused:
            known_name("repurposing", names, asked)
        assert refused.value.what == f"nothing in dataset synthetic is called '{asked}'"
        told, _, rest = refused.value.todo.partition("; ")
        assert rest == usage and told.startswith("near it: ")
        found = told.removeprefix("near it: ").split(", ")
        assert len(found) == near if isinstance(near, int) else {*found} == near
    with pytest.raises(UsageError) as refused:
        known_name("repurposing", few, "qqqq")
    assert refused.value.todo == usage


def test_a_benchmark_that_takes_no_items_knows_those_of_a_person_alone(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmarks, "part", lambda *_: None)
    assert known_name("repurposing", dataset, "mine", own=["Mine"]) == "Mine"
    with pytest.raises(UsageError, match="nothing in dataset synthetic is called 'drug1'"):
        known_name("repurposing", dataset, "drug1")


def test_a_pair_is_refused_in_the_words_of_its_benchmark(repository: Layout, dataset: Dataset) -> None:
    drugs = load_dataset(repository, "synthetic_ddi")
    first, second = drugs.names["drug_ids"][:2]
    # two drugs are a pair where all pairs are of drugs
    request = PredictionRequest(methods=("mlp",), dataset="synthetic_ddi", pairs=((first, second),))
    assert selection_of("ddi", drugs, request).pairs == {frozenset({first, second})}
    for benchmark, of, pair, what, todo in (
        ("ddi", drugs, (first, drugs.names["drug_names"][0]), "the same", "name two"),
        ("repurposing", dataset, ("disease1", "Disease2"), "both a disease", "name a drug and a disease"),
        ("repurposing", dataset, ("drug1", "DRUG1"), "the same", "name a drug and a disease"),
    ):
        request = PredictionRequest(methods=("x",), dataset=of.name, pairs=(pair,))
        with pytest.raises(UsageError) as refused:
            selection_of(benchmark, of, request)
        assert refused.value.what == f"'{pair[0]}' and '{pair[1]}' are {what}: no row has both"
        assert (refused.value.where, refused.value.todo) == (f"--pair {pair[0]} {pair[1]}", todo)
    # one that a person added is of no kind
    own = PredictionRequest(methods=("x",), dataset="synthetic", pairs=(("drug1", "Mine"),))
    assert selection_of("repurposing", dataset, own, ["Mine"]).pairs == {frozenset({"drug1", "Mine"})}


def test_a_kind_that_is_in_no_list_is_no_kind_of_a_pair(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"drug": Kind(lists=("drug_ids",)), "note": Kind("a text")}
    monkeypatch.setattr("harness.benchmarks.new_item.extension_of", lambda _: SimpleNamespace(KINDS=kinds))
    request = PredictionRequest(methods=("x",), dataset="synthetic", pairs=(("drug1", "drug2"),))
    assert selection_of("repurposing", dataset, request).pairs == {frozenset({"drug1", "drug2"})}
