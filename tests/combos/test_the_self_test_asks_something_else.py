"""The self-test of a method of combos asks what real data hold, and says what it looks at."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.benchmarks.combos.answer import Combination
from harness.benchmarks.combos.conformance import checks
from harness.benchmarks.combos.conformance.checks import CHECKS
from harness.benchmarks.combos.conformance.problems import sentences
from harness.benchmarks.combos.documents import COMB, NEG, POS, DrugRelation


def test_the_self_test_says_what_it_looks_at() -> None:
    assert [(check.name, check.promise) for check in CHECKS] == [
        ("sentences", "answers sentences with no drug up to sixteen"),
        ("repeats", "gives the same bytes for the same job"),
        ("seed", "depends on the seed as its card says"),
        ("order", "gives every document the combinations that belong to it"),
        ("learns", "scores do not depend on the order of documents and drugs"),
        ("truth", "is not told the relations of asked documents"),
    ]


def test_the_self_test_asks_what_real_data_hold() -> None:
    """Every kind of sentence, drugs from behind in every third, and odd ones at the end."""
    problem = sentences()
    documents = problem.dataset.documents
    assert (problem.split.training, problem.split.test, problem.dataset.name) == (28, 18, "made-up")
    shown = [
        (one.sentence, [drug.text for drug in one.drugs], [(told.label, told.spans) for told in one.relations])
        for one in (*documents[:7], *documents[42:])
    ]
    letters = [
        "galtucane",
        "hexaprolin",
        "abrevolin",
        "bractimab",
        "caldorine",
        "dremoxan",
        "eltavisen",
        "fenzorbide",
    ]
    many = [*letters, "galtucane-14", "hexaprolin-14", *(f"{one}-15" for one in letters[2:])]
    assert shown == [
        ("bractimab plus caldorine improved sleep .", ["caldorine", "bractimab"], [(POS, (0, 1))]),
        (
            "caldorine plus dremoxan , but not eltavisen , improved sleep .",
            ["caldorine", "dremoxan", "eltavisen"],
            [(POS, (0, 1))],
        ),
        ("dremoxan or eltavisen was given .", ["dremoxan", "eltavisen"], []),
        (
            "sleep was worse with eltavisen plus fenzorbide than with galtucane .",
            ["galtucane", "fenzorbide", "eltavisen"],
            [(NEG, (1, 2))],
        ),
        (
            "fenzorbide , galtucane and hexaprolin were taken together .",
            ["fenzorbide", "galtucane", "hexaprolin"],
            [(COMB, (0, 1, 2))],
        ),
        (
            "galtucane plus hexaprolin improved sleep , with abrevolin even more .",
            ["galtucane", "hexaprolin", "abrevolin"],
            [(POS, (0, 1)), (POS, (0, 1, 2))],
        ),
        (
            "hexaprolin was compared with abrevolin and bractimab .",
            ["bractimab", "abrevolin", "hexaprolin"],
            [],
        ),
        (
            "\U0001f9ea nai\u0308ve : dremoxan plus eltavisen improved sleep .",
            ["eltavisen", "dremoxan"],
            [(POS, (0, 1))],
        ),
        ("eltavisen was given .", ["eltavisen"], []),
        ("no drug was given .", [], []),
        (f"{' , '.join(many)} were in the panel .", many[::-1], []),
    ]
    for number, one in enumerate(documents):
        assert one.paragraph == f"This is report {number}. {one.sentence} Nothing else was seen."
        assert (one.doc_id, one.source) == (f"document {number}", "")
        assert all(one.sentence[drug.start : drug.end] == drug.text for drug in one.drugs)


def test_other_labels_are_other_labels_of_asked_documents_alone() -> None:
    problem, other = sentences(), sentences().with_other_test_labels()
    asked = problem.split.asked.tolist()
    for place, (one, changed) in enumerate(zip(problem.dataset.documents, other.dataset.documents, strict=True)):
        relations = one.relations
        if place in asked:
            made = (DrugRelation(NEG, (0, 1), context_needed=True),) if len(one.drugs) > 1 else ()
            relations = () if one.relations else made
        assert changed == replace(one, relations=relations)
    assert other.dataset.name == "made-up" and other.split is not None
    assert other.dataset.released.tolist() == problem.dataset.released.tolist()


def test_an_answer_to_the_self_test_is_scored_by_its_truth() -> None:
    problem = sentences()
    labels = {POS: "POS", NEG: "COMB", COMB: "COMB"}
    rows = [
        [{"spans": sorted(one.spans), "label": labels[one.label], "score": 1} for one in document.relations]
        for document in (problem.dataset.documents[place] for place in problem.split.asked.tolist())
    ]
    answer = [json.dumps({"combinations": own}).encode() for own in rows]
    metrics = problem.metrics({"combinations.jsonl": answer})
    assert metrics["exact positive F1/as-defined"] == 1.0
    assert (
        problem.metrics({"combinations.jsonl": [b'{"combinations": []}'] * len(rows)})[
            "exact any recall/as-defined"
        ]
        == 0.0
    )


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        ([Combination((0, 1), "POS", 0.5)], True),
        ([Combination((0, 1), "POS", 0.500009)], True),
        ([Combination((0, 1), "POS", 0.50002)], False),
        ([Combination((0, 1), "POS", 0.49998)], False),
        ([Combination((0, 1), "COMB", 0.5)], False),
        ([Combination((0, 2), "POS", 0.5)], False),
        ([], False),
        ([Combination((0, 1), "POS", 0.5), Combination((0, 2), "POS", 0.5)], False),
    ],
)
def test_documents_are_alike_by_drugs_label_and_score(other: list[Combination], is_alike: bool) -> None:
    """A sum may be rounded otherwise where other documents are asked, too."""
    assert checks._alike((Combination((0, 1), "POS", 0.5),), tuple(other)) is is_alike
