"""Who answers, in which variant, and what is said of it: nothing of that may be decided in silence."""

from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks import names
from harness.benchmarks.new_item import NewItem, extension_of
from harness.benchmarks.reading import reading_of
from harness.data import load_dataset, load_manifest
from harness.methods.card import load_method, load_methods
from harness.methods.recommendation import recommended
from harness.prediction import PredictionRequest, participants
from harness.prediction.participants import Participant


def members(repository: Layout, *methods: str, dataset: str = "synthetic", **asked: Any) -> list[Participant]:
    """Who answers a request."""
    request = PredictionRequest(methods=methods, dataset=dataset, **asked)
    return [*participants(repository, request).members]


def test_the_corrected_variant_is_recommended_wherever_there_is_one(repository: Layout) -> None:
    for card in load_methods(repository):
        choice = recommended(card, "some dataset")
        assert choice.variant == ("corrected" if "corrected" in card.variants else "published"), card.name
        assert choice.reason.startswith("recommended")


def test_a_variant_that_refuses_the_dataset_is_not_recommended(repository: Layout) -> None:
    card = load_method(repository, "ssi_ddi")
    choice = recommended(card, "drugbank")
    assert (
        choice.variant == "published"
        and "'corrected' is refused on drugbank: it has no negatives" in choice.reason
    )
    assert recommended(card, "synthetic_ddi").variant == "corrected"
    # the other way round the corrected one is what can be run at all
    assert recommended(load_method(repository, "pmf"), "hdvd").variant == "corrected"


def test_the_variant_that_was_asked_for_answers(repository: Layout) -> None:
    found = members(repository, "als_wr/published", "als_wr", "bnnr")
    assert [one.name for one in found] == ["als_wr/published", "als_wr/corrected", "bnnr/published"]
    assert [one.job.variant for one in found] == ["published", "corrected", "published"]
    assert "keeps defects of the authors' code, unlike 'corrected': The drugs' half step" in found[0].remarks[0]
    assert not any("keeps defects" in remark for one in found[1:] for remark in one.remarks)
    assert [one.name for one in members(repository, "als_wr", "pmf", variant="published")] == [
        "als_wr/published",
        "pmf/published",
    ]


@pytest.mark.parametrize(
    ("methods", "asked", "what"),
    [
        (("als_wr", "als_wr/corrected"), {}, "als_wr/corrected is named twice"),
        (("bnnr/corrected",), {}, "has no variant 'corrected'"),
        (("bnnr",), {"variant": "best"}, "has no variant 'best'"),
        (("bnnr", "pmf"), {"parameters": {"alpha": 2.0}}, "no parameter is called 'alpha'"),
        (("mlp",), {}, "MLP does not belong to benchmark repurposing"),
        (("bnnr",), {"only": (("drug", "drug9999"),)}, "nothing in dataset synthetic is called 'drug9999'"),
        (("bnnr",), {"only": (("drug", "disease1"),)}, "nothing in dataset synthetic is called 'disease1'"),
        (("bnnr",), {"pairs": (("drug1", "drug2"),)}, "'drug1' and 'drug2' are both a drug: no row has both"),
        (("bnnr",), {"pairs": (("drug1", "DRUG1"),)}, "are the same: no row has both"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    repository: Layout, methods: tuple[str, ...], asked: dict[str, Any], what: str
) -> None:
    with pytest.raises(UsageError) as error:
        members(repository, *methods, **asked)
    assert what in str(error.value)


def test_a_parameter_reaches_the_job(repository: Layout) -> None:
    (one,) = members(repository, "bnnr", parameters={"alpha": 2.5})
    assert one.job.parameters["alpha"] == 2.5


def test_all_are_those_that_can_answer(repository: Layout) -> None:
    """Controls, methods that read nothing of a new item, and those without weights take part by name only."""
    new = (NewItem(kind="drug", name="mine", text="feature1=0.5"),)
    with pytest.raises(UsageError, match="reads nothing of a new drug"):
        members(repository, "als_wr", new=new)
    participation = participants(repository, PredictionRequest(methods=("all",), dataset="synthetic"))
    cards = {card.name: card for card in load_methods(repository, "repurposing")}
    assert {one.card.name for one in participation.members} == {
        name for name, card in cards.items() if not card.control
    }
    assert sorted(participation.left_out) == [
        f"{name} does not take part: it is a control" for name, card in sorted(cards.items()) if card.control
    ]
    of_pairs = participants(repository, PredictionRequest(methods=("all",), dataset="synthetic_ddi"))
    without = [line for line in of_pairs.left_out if "weights are not here" in line]
    assert {line.split()[0] for line in without} <= {"ddi_gpt", "textddi"}


def test_what_speaks_against_a_method_is_said(repository: Layout) -> None:
    (control,) = members(repository, "constant")
    assert control.remarks[0].startswith("a control")
    (mste,) = members(repository, "mste", dataset="synthetic_ddi")
    assert "finding: MSTE knows nothing of a new drug (docs/findings.md)" in mste.remarks
    (corrected,) = members(repository, "libmf")
    (published,) = members(repository, "libmf/published")
    assert {*corrected.remarks} < {*published.remarks}


@pytest.mark.parametrize("benchmark", names())
def test_every_benchmark_says_what_its_scores_mean(repository: Layout, benchmark: str) -> None:
    name = extension_of(benchmark).USUAL.datasets[-1]
    reading = reading_of(benchmark, load_dataset(repository, name))
    assert reading.meaning and all(text.endswith(".") for text in reading.meaning)


def test_what_is_known_is_what_the_data_say(repository: Layout) -> None:
    for name, count in (("synthetic", 50000), ("dti_world", None), ("synthetic_ddi", None)):
        dataset = load_dataset(repository, name)
        known = reading_of(load_manifest(repository, name).benchmark, dataset).known
        assert len(known) == (count or len(dataset.arrays["pairs"])) and len({names for names, _ in known}) > 100
    dataset = load_dataset(repository, "synthetic_ddi")
    first = dataset.arrays["pairs"][0]
    names_of, fact = reading_of("ddi", dataset).known[0]
    assert names_of == tuple(dataset.names["drug_ids"][one] for one in first)
    assert fact == dataset.names["type_names"][dataset.arrays["labels"][0]]
    associations = load_dataset(repository, "synthetic").arrays["associations"]
    facts = [fact for _, fact in reading_of("repurposing", load_dataset(repository, "synthetic")).known]
    assert facts.count("associated") == (associations == 1).sum()
    assert facts.count("not associated") == (associations == -1).sum()
