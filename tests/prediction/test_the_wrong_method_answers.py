"""Who answers, in which variant, and what is said of it: nothing of that may be decided in silence."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks import names
from harness.benchmarks.new_item import NewItem, extension_of
from harness.benchmarks.reading import reading_of
from harness.data import load_dataset, load_manifest
from harness.methods.card import MethodCard, Refusal, load_method, load_methods
from harness.methods.recommendation import Recommendation, recommended
from harness.prediction import PredictionRequest, participants, usual_choice
from harness.prediction.names import Selection
from harness.prediction.participants import Participant
from harness.results.findings import Finding
from harness.splits.spec import SplitSpec

# the package's attribute of this name is the function
_MODULE = import_module("harness.prediction.participants")


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


def test_a_job_is_what_was_asked_for(repository: Layout) -> None:
    (one,) = members(repository, "bnnr", seed=7)
    assert one.job.split == SplitSpec(strategy="unknown_pairs", seed=7) and one.job.options == {"inner_folds": 0}
    assert (one.job.benchmark, one.job.dataset, one.job.method) == ("repurposing", "synthetic", "bnnr")
    (one,) = members(repository, "mlp/published", dataset="synthetic_ddi", variant="corrected")
    assert one.job.split == SplitSpec(strategy="new_drugs", seed=0) and one.job.variant == "published"
    assert one.reason == "as asked for"
    participation = participants(
        repository, PredictionRequest(methods=("all",), dataset="synthetic", variant="published", seed=2)
    )
    assert {one.reason for one in participation.members} == {"as asked for"}
    assert {(one.variant, one.job.variant, one.job.split.seed) for one in participation.members} == {
        ("published", "published", 2)
    }


@pytest.mark.parametrize(
    ("request_", "what", "where", "todo"),
    [
        (
            {"methods": ("als_wr", "bnnr", "als_wr/corrected")},
            "als_wr/corrected is named twice",
            "--method",
            "name each once; variants as NAME/VARIANT",
        ),
        (
            {"methods": ("mlp",)},
            "MLP does not belong to benchmark repurposing",
            "dataset synthetic",
            "choose one of its methods: {repurposing}",
        ),
        (
            {"methods": ("als_wr",), "new": (NewItem(kind="drug", name="mine", text="feature1=0.5"),)},
            "ALS-WR reads nothing of a new drug: its scores would say nothing of 'mine'",
            "new drug 'mine'",
            "choose a method that does: {readers}",
        ),
    ],
)
def test_a_refusal_says_where_and_what_to_do(
    repository: Layout, request_: dict[str, Any], what: str, where: str, todo: str
) -> None:
    with pytest.raises(UsageError) as refused:
        participants(repository, PredictionRequest(dataset="synthetic", **request_))
    cards = load_methods(repository, "repurposing")
    features = {"drug_features", "drug_standardised", "drug_similarity"}
    todo = todo.format(
        repurposing=", ".join(card.name for card in cards),
        readers=", ".join(card.name for card in cards if features & {*card.inputs}),
    )
    assert (refused.value.what, refused.value.where, refused.value.todo) == (what, where, todo)


def test_why_a_method_does_not_take_part(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    card = load_method(repository, "bnnr")
    usual = card.variant("published")
    with_weights = {"published": usual.model_copy(update={"weights": True})}
    too_small = [Refusal(dataset="synthetic", reason="too small")]
    cards = [
        card.model_copy(update={"name": "control", "control": True}),
        card.model_copy(update={"name": "reader"}),
        card.model_copy(update={"name": "deaf", "inputs": ["associations"]}),
        card.model_copy(update={"name": "weighty", "variants": with_weights}),
        card.model_copy(update={"name": "choosy", "refuses": too_small}),
        card.model_copy(update={"name": "corrected", "variants": {"corrected": usual}}),
    ]
    monkeypatch.setattr(_MODULE, "load_methods", lambda *_: cards)
    monkeypatch.setattr(_MODULE, "are_here", lambda *_: False)
    monkeypatch.setattr(_MODULE, "extended", _larger(repository, []))
    new = (NewItem(kind="drug", name="mine", text="feature1=0.5"),)
    request = PredictionRequest(methods=("all",), dataset="synthetic", new=new, variant="published")
    participation = participants(repository, request)
    assert [one.card.name for one in participation.members] == ["reader"]
    weights = cards[3].weights_of("published")
    assert participation.left_out == (
        "control does not take part: it is a control",
        "deaf does not take part: it reads nothing of a new drug",
        f"weighty does not take part: its weights are not here ({weights})",
        "choosy does not take part: too small",
        "corrected does not take part: it has no variant 'published'",
    )
    # weights that are here are no reason
    monkeypatch.setattr(_MODULE, "are_here", lambda _, name: name == weights)
    assert [one.card.name for one in participants(repository, request).members] == ["reader", "weighty"]
    monkeypatch.setattr(_MODULE, "are_here", lambda *_: False)
    # without new items it need not read of any
    request = PredictionRequest(methods=("all",), dataset="synthetic", variant="published")
    assert [one.card.name for one in participants(repository, request).members] == ["reader", "deaf"]
    cards[:] = [cards[0], cards[4]]
    with pytest.raises(UsageError, match="no method can answer") as refused:
        participants(repository, request)
    assert refused.value.where == (
        "control does not take part: it is a control; choosy does not take part: too small"
    )
    assert refused.value.todo == "name one (harness list methods)"


def _larger(repository: Layout, calls: list[Any]) -> Any:
    """In place of making a larger dataset: what it would be made of is noted."""

    def extended(layout: Layout, dataset: str, items: Any, mirrors: Any) -> str:
        calls.append((layout, dataset, [*items], mirrors))
        return "hdvd"

    return extended


def test_known_things_are_asked_about_again_where_they_must(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `ddi` no pair of known drugs is asked otherwise: one like the first of each pair is added."""
    calls: list[Any] = []
    monkeypatch.setattr(_MODULE, "extended", _larger(repository, calls))

    def again(benchmark: str, dataset: Any, names: Any, pairs: Any) -> dict[str, NewItem]:
        calls.append((benchmark, dataset.name, names, pairs))
        return {"drug2": NewItem(kind="drug", name="drug2 again", text="x")}

    monkeypatch.setattr(_MODULE, "items_again", again)
    request = PredictionRequest(
        methods=("bnnr",),
        dataset="synthetic",
        only=(("drug", "drug4"), ("drug", "drug2"), ("disease", "disease1")),
        pairs=(("drug3", "disease2"),),
    )
    participation = participants(repository, request, [repository.root])
    assert calls == [
        ("repurposing", "synthetic", ["disease1", "drug2", "drug4"], [["disease2", "drug3"]]),
        (repository, "synthetic", [NewItem(kind="drug", name="drug2 again", text="x")], [repository.root]),
    ]
    assert participation.selection == Selection(
        own=frozenset({"drug2"}),
        named={"drug": frozenset({"drug2", "drug4"}), "disease": frozenset({"disease1"})},
        pairs=frozenset({frozenset({"drug3", "disease2"})}),
        stands_for={"drug2 again": "drug2"},
    )
    assert [one.job.dataset for one in participation.members] == ["hdvd"]
    # a method that reads nothing of what is added says nothing of it
    with pytest.raises(UsageError, match="ALS-WR reads nothing of a new drug"):
        participants(repository, PredictionRequest(methods=("als_wr",), dataset="synthetic", only=request.only))
    calls.clear()
    new = (NewItem(kind="drug", name="mine", text="feature1=0.5"),)
    own = participants(
        repository, PredictionRequest(methods=("bnnr",), dataset="synthetic", only=request.only, new=new)
    )
    assert own.selection.own == {"mine"} and not own.selection.stands_for
    assert calls == [(repository, "synthetic", [*new], ())]
    calls.clear()
    assert members(repository, "bnnr")[0].job.dataset == "synthetic" and calls == []


def test_the_usual_dataset_is_the_first_that_is_here(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = extension_of("ddi").USUAL
    assert usual.datasets == ("drugbank", "synthetic_ddi") and usual.method == "mlp"
    mirrors = (Path("/a mirror"),)
    for here, expected in (
        ((), "drugbank"),
        (("synthetic_ddi",), "synthetic_ddi"),
        (("drugbank", "synthetic_ddi"), "drugbank"),
    ):

        def is_here(layout: Layout, manifest: Any, own: Any, here: tuple[str, ...] = here) -> bool:
            assert layout == repository and own == mirrors
            return manifest.name in here

        monkeypatch.setattr(_MODULE, "is_here", is_here)
        assert usual_choice(repository, "ddi", mirrors) == ("mlp", expected)


def test_remarks_are_those_of_the_method_and_the_variant(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = [
        Finding(title="One", about="x", methods=["als_wr", "bnnr"], text="", shown_by=[]),
        Finding(title="Two", about="x", methods=["als_wr"], text="", shown_by=[], undone_in="als_wr/corrected"),
        Finding(title="Three", about="x", methods=["pmf"], text="", shown_by=[], undone_in="pmf/corrected"),
    ]

    def load(layout: Layout, benchmark: str) -> list[Finding]:
        assert (layout, benchmark) == (repository, "repurposing")
        return findings

    monkeypatch.setattr(_MODULE, "load_findings", load)
    one, two = (f"finding: {name} (docs/findings.md)" for name in ("One", "Two"))
    summary = " ".join(load_method(repository, "als_wr").variant("corrected").summary.split())
    defects = "'published' keeps defects of the authors' code, unlike 'corrected': " + summary.split(". ")[
        0
    ].removesuffix(".")
    control = "a control, which every method has to beat: it says little of a single pair"
    found = {
        one.name: one.remarks for one in members(repository, "als_wr/published", "als_wr", "bnnr", "constant")
    }
    assert found == {
        "als_wr/published": (defects, one, two),
        "als_wr/corrected": (one,),
        "bnnr/published": (one,),
        "constant/published": (control,),
    }


def test_of_a_larger_dataset_the_one_below_it_decides(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is recommended and refused is of the data that were extended; what must be read is of all of it."""
    asked: list[tuple[str, str]] = []

    def recommend(card: MethodCard, dataset: str) -> Recommendation:
        asked.append((card.name, dataset))
        return Recommendation("published", "made up")

    plain = load_manifest(repository, "synthetic")
    item = NewItem(kind="drug", name="mine", text="feature1=0.5")
    larger = plain.model_copy(update={"extends": "hdvd", "new": [item]})
    monkeypatch.setattr(_MODULE, "recommended", recommend)
    cards = [load_method(repository, name) for name in ("bnnr", "als_wr")]
    cards.append(cards[0].model_copy(update={"refuses": [Refusal(dataset="hdvd", reason="too small")]}))
    monkeypatch.setattr(_MODULE, "load_methods", lambda *_: cards)
    every = PredictionRequest(methods=("all",), dataset="synthetic")
    for manifest, name, left_out in (
        (plain, "synthetic", []),
        (
            larger,
            "hdvd",
            [
                "als_wr does not take part: it reads nothing of a new drug",
                "bnnr does not take part: too small",
            ],
        ),
    ):
        asked.clear()
        _MODULE._named(repository, every, manifest, "bnnr")
        found = _MODULE._everybody(repository, every, manifest)
        assert {dataset for _, dataset in asked} == {name} and len(asked) == 4
        assert found[1] == left_out and len(found[0]) == 3 - len(left_out)
