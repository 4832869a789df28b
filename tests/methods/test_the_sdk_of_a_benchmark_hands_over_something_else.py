"""What SDKs in Python of `combos`, `ddi`, `dti` make of a job and an answer: each item in its place or refused."""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.names import SETTING_NAMES

CORE = "permafrost_sdk"


class Desk:
    """Runs jobs of one benchmark in this process; `problem` is what the last one told."""

    def __init__(self, sdk: ModuleType, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.sdk, self.folder = sdk, folder
        self.problem: Any = None
        for name in ("in", "out"):
            (folder / name).mkdir()
            patch.setenv(f"PERMAFROST_{name.upper()}", str(folder / name))

    def run(self, inputs: dict[str, Any], answer: Any) -> dict[str, Any]:
        """The report on a job with these inputs, lists as JSON Lines, that was answered so."""
        described = {}
        for name, value in inputs.items():
            file = f"{name}.jsonl" if isinstance(value, list) else f"{name}.npy"
            if isinstance(value, list):
                (self.folder / "in" / file).write_text("".join(f"{json.dumps(one)}\n" for one in value))
            else:
                np.save(self.folder / "in" / file, value)
            described[name] = {"file": file}
        job = {"protocol": 1, "task": "predict", "seed": 5, "parameters": {"rank": 3}, "trace": False}
        (self.folder / "in" / "job.json").write_text(json.dumps({**job, "inputs": described}))

        def answered(problem: Any) -> Any:
            self.problem = problem
            return answer

        self.sdk.run(answered)
        report: dict[str, Any] = json.loads((self.folder / "out" / "method.json").read_text())
        return report


def desk_of(benchmark: str, repository: Layout, folder: Path) -> Iterator[Desk]:
    """The SDK of a benchmark, as its methods import it."""
    name = f"{benchmark}_sdk"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(repository.methods / "_sdk" / "python")
        patch.syspath_prepend(repository.root / "harness" / "benchmarks" / benchmark / "sdk" / "python")
        for module in (name, CORE):
            patch.delitem(sys.modules, module, raising=False)
        yield Desk(importlib.import_module(name), folder, patch)
        for module in (name, CORE):
            sys.modules.pop(module, None)


@pytest.fixture
def combos(repository: Layout, tmp_path: Path) -> Iterator[Desk]:
    yield from desk_of("combos", repository, tmp_path)


@pytest.fixture
def ddi(repository: Layout, tmp_path: Path) -> Iterator[Desk]:
    yield from desk_of("ddi", repository, tmp_path)


@pytest.fixture
def dti(repository: Layout, tmp_path: Path) -> Iterator[Desk]:
    yield from desk_of("dti", repository, tmp_path)


def whole(*rows: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(rows, dtype=np.int32)


# three sentences: the last is asked first; the drugs of the second relation are not listed in ascending order
TEXTS: dict[str, Any] = {
    "sentences": ["A with B and C", "D alone", "E with F"],
    "spans": whole((0, 0, 1), (0, 7, 8), (0, 13, 14), (1, 0, 1), (2, 0, 1), (2, 7, 8)),
    "relations": whole((0, 2, 1), (0, 1, 0), (1, 3, 0)),
    "relation_spans": whole((0, 0), (0, 1), (1, 2), (1, 0), (2, 0)),
    "train": whole(0),
    "asked": whole(2, 1),
}


def combined(sdk: ModuleType, *spans: int, label: str = "POS", score: float = 0.5) -> Any:
    return sdk.Combination(spans, label, score)


def test_documents_are_learned_from_in_the_order_in_which_they_are_handed_over(combos: Desk) -> None:
    combos.run(TEXTS | {"train": whole(2, 0), "asked": whole(1)}, combos.sdk.Answer([[]], 0, []))
    assert [one.sentence for one in combos.problem.train] == ["E with F", "A with B and C"]


def test_documents_have_their_own_drugs_and_relations(combos: Desk) -> None:
    sdk = combos.sdk
    told = {"paragraphs": ["one", "two", "three"], "span_texts": list("abcdef"), "extra": whole(7)}
    report = combos.run(TEXTS | told, sdk.Answer([[], []], 4, [0.5, math.nan]))
    (first,), asked = combos.problem.train, combos.problem.asked
    assert [one.sentence for one in asked] == ["E with F", "D alone"]
    assert [one.paragraph for one in (first, *asked)] == ["one", "three", "two"]
    assert first.spans == (sdk.Span(0, 1, "a"), sdk.Span(7, 8, "b"), sdk.Span(13, 14, "c"))
    assert first.relations == (sdk.Relation((0, 1), "POS"), sdk.Relation((2, 0), "COMB"))
    assert [one.text for one in asked[0].spans] == ["e", "f"]
    assert (asked[0].relations, asked[1].relations) == ((), (sdk.Relation((0,), "NEG"),))
    assert [*combos.problem.inputs] == ["extra"]
    assert (combos.problem.seed, dict(combos.problem.parameters)) == (5, {"rank": 3})
    assert (report["iterations"], report["losses"]) == ([4], [0.5, None])


def test_what_was_not_declared_is_empty(combos: Desk) -> None:
    combos.run(TEXTS, combos.sdk.Answer([[], []]))
    (first,) = combos.problem.train
    assert (first.paragraph, [one.text for one in first.spans]) == ("", ["", "", ""])


def test_combinations_are_written_in_the_order_asked_and_their_drugs_in_their_own(combos: Desk) -> None:
    answers = [[combined(combos.sdk, 1, 0), combined(combos.sdk, 0, 1, label="NO_COMB", score=1)], []]
    combos.run(TEXTS, combos.sdk.Answer(answers))
    lines = (combos.folder / "out" / "combinations.jsonl").read_text().splitlines()
    assert [json.loads(line)["combinations"] for line in lines] == [
        [
            {"spans": [0, 1], "label": "POS", "score": 0.5},
            {"spans": [0, 1], "label": "NO_COMB", "score": 1.0},
        ],
        [],
    ]


@pytest.mark.parametrize(
    ("spans", "changed", "said"),
    [
        ((0,), {}, "two or more different drugs of the 2"),
        ((), {}, "two or more different drugs of the 2"),
        ((0, 1, 1), {}, "two or more different drugs of the 2"),
        ((0, 2), {}, "two or more different drugs of the 2"),
        ((-1, 1), {}, "two or more different drugs of the 2"),
        ((0, 1), {"label": "NEG"}, "'NEG' is not POS, COMB, NO_COMB"),
        ((0, 1), {"score": 1.5}, "1.5 is not from 0 to 1"),
        ((0, 1), {"score": -0.5}, "-0.5 is not from 0 to 1"),
        ((0, 1), {"score": math.nan}, "nan is not from 0 to 1"),
    ],
)
def test_a_combination_that_can_not_be_is_refused(
    combos: Desk, spans: tuple[int, ...], changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        combos.run(TEXTS, combos.sdk.Answer([[combined(combos.sdk, *spans, **changed)], []]))


def test_every_asked_document_has_an_answer(combos: Desk) -> None:
    with pytest.raises(ValueError, match="shorter"):
        combos.run(TEXTS, combos.sdk.Answer([[]]))


DRUGS: dict[str, Any] = {
    "sizes": whole(4, 3, 9, 2),
    "train_pairs": whole((0, 1), (1, 2)),
    "train_labels": whole(2, 0),
    "valid_pairs": whole((0, 3), (2, 3)),
    "valid_labels": whole(1, 1),
    "valid_setting": np.array([1, 2], dtype=np.int8),
    "test_pairs": whole((3, 0), (3, 1), (0, 2)),
    "test_setting": np.array([2, 1, 1], dtype=np.int8),
}


def test_pairs_of_drugs_have_their_own_labels_and_settings(ddi: Desk) -> None:
    scores = np.arange(9.0).reshape(3, 3)
    answer = ddi.sdk.Answer(scores, 7, {"S1": 3}, [1.0, math.inf], {"S1": 0.25, "S2": math.nan})
    report = ddi.run(DRUGS | {"extra": whole(1)}, answer)
    problem = ddi.problem
    assert (problem.drugs, problem.types, problem.entities, problem.relations) == (4, 3, 9, 2)
    assert not problem.multilabel
    # a method calls them by these names, and so do scores
    assert [*ddi.sdk.SETTINGS] == ["S0", *(SETTING_NAMES[number] for number in (1, 2))]
    assert (problem.train.labels.tolist(), problem.train.setting.tolist()) == ([2, 0], [0, 0])
    assert (problem.valid.labels.tolist(), problem.valid.setting.tolist()) == ([1, 1], [1, 2])
    assert problem.test_setting.tolist() == [2, 1, 1]
    for own, name in (
        (problem.train.pairs, "train"),
        (problem.valid.pairs, "valid"),
        (problem.test_pairs, "test"),
    ):
        assert own.dtype == np.int64 and own.tolist() == DRUGS[f"{name}_pairs"].tolist()
    assert [*problem.inputs] == ["extra"]
    assert (problem.seed, dict(problem.parameters)) == (5, {"rank": 3})
    written = np.load(ddi.folder / "out" / "predictions.npy")
    assert written.dtype == np.dtype("<f4") and np.array_equal(written, scores)
    told = {"iterations": [7], "chosen": {"S1": 3}, "losses": [1.0, None], "validation": {"S1": 0.25, "S2": None}}
    assert told.items() <= report.items()


def test_signs_of_several_types_are_told_as_such(ddi: Desk) -> None:
    signs = np.array([[1, 0, 1], [-1, 0, -1]], dtype=np.int8)
    ddi.run(DRUGS | {"train_labels": signs, "valid_labels": signs}, ddi.sdk.Answer(np.zeros((3, 3)), 0, {}))
    assert ddi.problem.multilabel and np.array_equal(ddi.problem.train.labels, signs)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (9,), (3, 3, 1)])
def test_scores_are_of_every_type_for_every_pair(ddi: Desk, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="3 pairs x 3 types"):
        ddi.run(DRUGS, ddi.sdk.Answer(np.zeros(shape), 0, {}))
    assert not (ddi.folder / "out" / "predictions.npy").exists()


BINDINGS: dict[str, Any] = {
    "sizes": whole(5, 4, 20, 0),
    "train_pairs": whole((0, 1), (0, 2), (3, 1), (4, 0)),
    "train_values": np.ones(4),
    "test_pairs": whole((1, 0), (2, 3)),
}


def test_pairs_of_drugs_and_targets_have_their_own_values(dti: Desk) -> None:
    told = dti.sdk.Answer(np.array([0.5, 0.25]), 3, [math.nan, 2.0, math.inf])
    report = dti.run(BINDINGS | {"extra": whole(1)}, told)
    problem = dti.problem
    assert (problem.drugs, problem.targets, problem.nodes, problem.affinity) == (5, 4, 20, False)
    assert problem.train.pairs.tolist() == BINDINGS["train_pairs"].tolist()
    assert problem.train.pairs.dtype == problem.test_pairs.dtype == np.int64
    assert (problem.train.values.tolist(), problem.test_pairs.tolist()) == ([1.0] * 4, [[1, 0], [2, 3]])
    assert [*problem.inputs] == ["extra"]
    assert (problem.seed, dict(problem.parameters)) == (5, {"rank": 3})
    written = np.load(dti.folder / "out" / "scores.npy")
    assert written.dtype == np.dtype("<f8") and written.tolist() == [0.5, 0.25]
    assert (report["iterations"], report["losses"]) == ([3], [None, 2.0, None])
    dti.run(BINDINGS | {"sizes": whole(5, 4, 20, 1)}, dti.sdk.Answer(np.zeros(2)))
    assert dti.problem.affinity is True


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 1)])
def test_there_is_one_score_for_every_pair(dti: Desk, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="for 2 pairs"):
        dti.run(BINDINGS, dti.sdk.Answer(np.zeros(shape)))
    assert not (dti.folder / "out" / "scores.npy").exists()


@pytest.mark.parametrize(("ratio", "count"), [(0.5, 2), (0.7, 3), (1.0, 4), (1.4, 6), (100.0, 5)])
def test_drawn_negatives_join_what_training_has_and_bind_nowhere(dti: Desk, ratio: float, count: int) -> None:
    """Three drugs and three targets train: of their nine pairs five are left, fewer than six."""
    dti.run(BINDINGS, dti.sdk.Answer(np.zeros(2)))
    known = {*map(tuple, BINDINGS["train_pairs"].tolist())}
    possible = {(drug, target) for drug in (0, 3, 4) for target in (0, 1, 2)} - known
    met = set()
    for seed in range(20):
        drawn = dti.sdk.with_negatives(dti.problem, ratio, np.random.default_rng(seed))
        assert drawn.pairs[:4].tolist() == BINDINGS["train_pairs"].tolist()
        negatives = [*map(tuple, drawn.pairs[4:].tolist())]
        assert len(negatives) == min(count, 5) and len({*negatives}) == len(negatives)
        assert {*negatives} <= possible
        # what is drawn first counts
        draw, first = np.random.default_rng(seed), dict[tuple[int, int], None]()
        while len(first) < len(negatives):
            columns = (draw.choice(nodes, len(negatives)).tolist() for nodes in ([0, 3, 4], [0, 1, 2]))
            first |= dict.fromkeys(pair for pair in zip(*columns, strict=True) if pair in possible)
        assert negatives == [*first][: len(negatives)]
        assert drawn.values.tolist() == [1.0] * 4 + [0.0] * len(negatives)
        again = dti.sdk.with_negatives(dti.problem, ratio, np.random.default_rng(seed))
        assert np.array_equal(again.pairs, drawn.pairs)
        met |= {*negatives}
    assert met == possible


@pytest.mark.parametrize(
    "changed", [{"sizes": whole(5, 4, 20, 1)}, {"train_values": np.array([1.0, 0.0, 1.0, 1.0])}]
)
def test_nothing_is_drawn_beside_affinities_or_known_negatives(dti: Desk, changed: dict[str, Any]) -> None:
    dti.run(BINDINGS | changed, dti.sdk.Answer(np.zeros(2)))
    assert dti.sdk.with_negatives(dti.problem, 1.0, np.random.default_rng(0)) is dti.problem.train


@pytest.mark.parametrize(
    ("values", "held"),
    [
        # each value's share
        ([1.0] * 8 + [0.0] * 12, {1.0: 2, 0.0: 3}),
        # to the nearest number
        ([1.0] * 7 + [0.0] * 13, {1.0: 2, 0.0: 3}),
        ([1.0] * 20, {1.0: 5}),
        # a share of all, whatever their affinities
        ([*np.linspace(5, 9, 20)], None),
    ],
)
def test_a_share_is_held_back_and_the_rest_is_trained_on(
    dti: Desk, values: list[float], held: dict[float, int] | None
) -> None:
    pairs, ever_held = np.column_stack([np.arange(20), np.arange(20) + 100]), set[int]()
    for seed in range(40):
        given = dti.sdk.Pairs(pairs, np.array(values))
        train, valid = dti.sdk.held_back(given, 0.25, np.random.default_rng(seed))
        assert (len(train.pairs), len(valid.pairs)) == (15, 5)
        assert sorted([*train.pairs[:, 0], *valid.pairs[:, 0]]) == [*range(20)]
        for part in (train, valid):
            places = part.pairs[:, 0]
            assert (np.diff(places) > 0).all() and np.array_equal(part.pairs, pairs[places])
            assert np.array_equal(part.values, np.array(values)[places])
        if held:
            assert {value: int((valid.values == value).sum()) for value in held} == held
        ever_held |= {*valid.pairs[:, 0].tolist()}
    assert ever_held == {*range(20)}, "which are held back is drawn"
