"""Runs in an image with torch: the common trainer of DDI-Ben on problems small enough to say what it must do.

The model says what a list holds for the epoch, so that all accuracies are known before. Prints the names of the
checks that do not hold.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from ddi_examples import Examples
from ddi_items import without_contradictions
from ddi_losses import weighted_bce
from ddi_sdk import Answer, Items, Problem
from ddi_selection import Validation
from ddi_training import bce_of_softmax, cleaned, fit, type_weights
from torch import Tensor, nn
from training import OtherPairs, OtherTypes

DRUGS, TYPES = 6, 4
PARAMETERS = {
    "epochs": 20,
    "patience": 2,
    "batch_size": 4,
    "learning_rate": 0.0,
    "weight_decay": 0.0,
    "evaluation_batch": 0,
}


def items(rows: list[tuple[int, int, int]], setting: int = 0) -> Items:
    """Head, tail and type."""
    given = np.array(rows).reshape(-1, 3)
    return Items(given[:, :2], given[:, 2].astype(np.int32), np.full(len(given), setting, dtype=np.int8))


def together(parts: list[Items]) -> Items:
    return Items(
        *(np.concatenate([getattr(one, name) for one in parts]) for name in ("pairs", "labels", "setting"))
    )


def problem(valid: list[Items]) -> Problem:
    """Training pairs are those of drugs 0 and 1; test pairs one of S1 and one of S2."""
    train = items([(0, 1, 2), (1, 0, 3), (0, 1, 1), (0, 0, 0), (1, 1, 2)])
    tests = np.array([[0, 5], [5, 4]]), np.array([1, 2], dtype=np.int8)
    return Problem(DRUGS, TYPES, DRUGS, 0, False, train, together(valid), *tests, {}, PARAMETERS, 0)


VALID = [items([(0, 2, 1)] * 2), items([(0, 3, 1)] * 2, 1), items([(3, 4, 2)] * 2, 2)]


class Listed(nn.Module):
    """After epoch e: type `right` of each setting's valid row wins where the list says so; test pairs get e."""

    def __init__(self, right: dict[tuple[int, int], str]) -> None:
        super().__init__()
        self.right, self.epoch = right, nn.Parameter(torch.zeros(()), requires_grad=False)
        self.idle = nn.Parameter(torch.zeros(()))

    def next(self, epoch: int) -> None:
        self.epoch.fill_(float(epoch))

    def scores(self, pairs: Tensor) -> Tensor:
        logits = torch.zeros(len(pairs), TYPES)
        logits[:, 3] = 0.5
        epoch = int(self.epoch)
        for row, pair in enumerate(pairs.tolist()):
            listed = self.right.get(tuple(pair))
            if listed is None:
                logits[row, 0] = epoch
            elif epoch <= len(listed) and listed[epoch - 1] != "-":
                logits[row, int(listed[epoch - 1])] = 1.0
        return logits


def trained(right: dict[tuple[int, int], str], valid: list[Items], train: Items | None = None) -> Answer:
    model = Listed(right)
    return fit(
        problem(valid),
        model,
        lambda batch: (model.idle * batch.target.sum()).sum(),
        model.scores,
        per_pair=True,
        drop_last=True,
        train=train,
        before_epoch=model.next,
    )


def each_setting_is_answered_by_its_own_best_epoch() -> bool:
    # only strictly better counts, so that the first of equals stays
    answer = trained({(0, 2): "-1", (0, 3): "--11", (3, 4): "2"}, VALID)
    return dict(answer.chosen) == {"S0": 2, "S1": 3, "S2": 1} and answer.scores[:, 0].tolist() == [3.0, 1.0]


def what_a_setting_reached_is_told_where_it_was_measured() -> bool:
    some = trained({(0, 2): "-1", (0, 3): "---"}, VALID[:2])
    return dict(some.validation) == {"S0": 1.0, "S1": 0.0}


def training_ends_when_all_settings_have_waited_longer_than_patience() -> bool:
    # the last improvement is that of epoch 3; epochs 4, 5 and 6 wait
    return trained({(0, 2): "-1", (0, 3): "--11", (3, 4): "2"}, VALID).epochs == 6


def a_setting_without_valid_items_is_answered_by_the_last_epoch() -> bool:
    answer = trained({(0, 2): "-1", (0, 3): "1"}, VALID[:2])
    return answer.chosen["S2"] == answer.epochs == 5 and answer.scores[:, 0].tolist() == [1.0, 5.0]


def without_any_valid_item_all_epochs_are_trained() -> bool:
    return trained({}, [items([])]).epochs == PARAMETERS["epochs"]


def the_incomplete_last_batch_is_dropped_setting_by_setting() -> bool:
    rows = [items([(0, 2, 1)] * 7), items([(0, 3, 1)] * 4, 1), items([(3, 4, 2)] * 3, 2)]
    given = problem(rows)
    kept = Validation.of(replace(given, parameters={**PARAMETERS, "evaluation_batch": 4}))
    # a setting that has no complete batch keeps what it has
    return np.bincount(kept.setting).tolist() == [4, 4, 3] and len(Validation.of(given).truth) == 14


def only_the_lowest_type_of_a_pair_is_right() -> bool:
    rows = [items([(0, 1, 3), (2, 0, 3), (2, 0, 1)])]
    return Validation.of(problem(rows)).truth.tolist() == [1, 1, 1]


def what_is_learned_from_does_not_change_what_is_right() -> bool:
    """The pair 0, 1 has types 2 and 1 in training, 3 in valid; MSTE learns from the first of them alone."""
    valid = [items([(0, 1, 3)])]
    learned = OtherTypes.of(problem(valid), torch.device("cpu")).items
    answer = trained({(0, 1): "21"}, valid, learned)
    return dict(answer.validation) == {"S0": 1.0} and answer.chosen["S0"] == 2


def types_without_lines_count_nothing_and_are_averaged() -> bool:
    labels = np.array([[1, 0, -1, 0], [-1, 0, -1, 0], [1, 1, 0, 0]], dtype=np.int8)
    lines = Items(np.array([[0, 2], [0, 3], [0, 4]]), labels, np.zeros(3, dtype=np.int8))
    given = replace(problem(VALID), multilabel=True, train=lines, valid=lines)
    logits = np.array([[1, 1, 1, 1], [1, -1, -1, -1], [1, -1, 1, 1]])
    # by type 2 of 3, 0 of 1, 1 of 2, none
    return bool(np.isclose(Validation.of(given).accuracies(logits)[0], (2 / 3 + 0 + 1 / 2 + 0) / 4))


def an_example_is_a_pair_with_all_its_types_or_an_item() -> bool:
    train = problem(VALID).train
    pairs = Examples.of(train, TYPES, per_pair=True, device=torch.device("cpu")).batch(torch.arange(4))
    rows = Examples.of(train, TYPES, per_pair=False, device=torch.device("cpu")).batch(torch.arange(5))
    several = dict(zip(map(tuple, pairs.pairs.tolist()), pairs.target.tolist(), strict=True))
    return (
        several[0, 1] == [0, 1, 1, 0]
        and several[1, 0] == [0, 0, 0, 1]
        and rows.target.argmax(dim=1).tolist() == [2, 3, 1, 0, 2]
        and rows.target.sum() == 5
    )


def a_last_batch_of_training_is_dropped_unless_it_is_the_only_one() -> bool:
    examples = Examples.of(problem(VALID).train, TYPES, per_pair=False, device=torch.device("cpu"))
    sizes = {
        (size, drop): [len(one.index) for one in examples.shuffled(size, drop_last=drop)]
        for size in (2, 8)
        for drop in (True, False)
    }
    return sizes == {(2, True): [2, 2], (2, False): [2, 2, 1], (8, True): [5], (8, False): [5]}


def losses_are_their_formulas() -> bool:
    logits, target = torch.tensor([[0.2, -1.0, 3.0], [0.0, 1.0, 2.0]]), torch.tensor([[1.0, 0, 1], [0, 1, 0]])
    share = logits.exp() / logits.exp().sum(dim=1, keepdim=True)
    expected = -(target * share.log() + (1 - target) * (1 - share).log()).mean()
    said, weight = torch.tensor([[1.0, 0, -1], [0, 0, 1]]), torch.tensor([0.5, 0.2, 1.0]).double()
    chance = torch.sigmoid(logits)
    terms = 0.5 * -chance[0, 0].log() - (1 - chance[0, 2]).log() - chance[1, 2].log()
    return bool(
        torch.isclose(bce_of_softmax(logits, target), expected)
        and torch.isclose(weighted_bce(logits, said, weight), terms.double() / 6)
    )


def a_type_that_training_says_nothing_of_weighs_nothing() -> bool:
    labels = np.array([[1, 0, -1], [-1, 0, 0], [1, 0, -1], [1, 0, 0]], dtype=np.int8)
    return bool(torch.equal(type_weights(labels), torch.tensor([0.5, 0.0, 1.0]).double()))


def contradicted() -> Problem:
    """The last line stands against types 0 and 1; the first says that its pair, turned round, has type 0."""
    labels = np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [1, 1, 0, 0], [-1, -1, 0, 0]], dtype=np.int8)
    lines = Items(np.array([[0, 1], [2, 3], [2, 4], [1, 0]]), labels, np.zeros(4, dtype=np.int8))
    return replace(problem(VALID), multilabel=True, train=lines)


def no_pair_stands_against_a_type_it_has() -> bool:
    """The finding: as published it does."""
    given, labels = contradicted(), {}
    for clean in (False, True):
        wanted = replace(given, parameters={**PARAMETERS, "clean_negatives": clean})
        labels[clean] = cleaned(wanted).train.labels.tolist()
    return labels[False] == given.train.labels.tolist() and labels[True] == [
        [1, 0, 0, 0],
        [-1, 0, 0, 0],
        [1, 1, 0, 0],
        [0, -1, 0, 0],
    ]


def mste_meets_another_negative_where_the_first_is_none() -> bool:
    """The finding: the third line meets the first one's pair. Corrected, another negative takes its place."""
    as_published = OtherPairs.of(contradicted(), torch.device("cpu"))
    corrected = OtherPairs.of(without_contradictions(contradicted()), torch.device("cpu"))
    return (
        as_published.types.tolist() == [0, 0, 1]
        and as_published.against.tolist() == [[2, 3], [1, 0], [1, 0]]
        and corrected.against.tolist() == [[2, 3], [2, 3], [1, 0]]
    )


def mste_says_when_there_is_nothing_to_learn_from() -> bool:
    """Positives of some types, negatives of others."""
    labels = np.array([[1, 0, 0, 0], [0, -1, 0, 0]], dtype=np.int8)
    lines = Items(np.array([[0, 1], [2, 3]]), labels, np.zeros(2, dtype=np.int8))
    try:
        OtherPairs.of(replace(problem(VALID), multilabel=True, train=lines), torch.device("cpu"))
    except ValueError as error:
        return str(error).startswith(
            "none of the 4 types has both positives and negatives in the 2 training lines"
        )
    return False


def mste_draws_any_other_type_of_a_pairs_first_type() -> bool:
    """Each about equally often, and never the pair's own."""
    one = OtherTypes.of(problem(VALID), torch.device("cpu"))
    drawn = torch.zeros(len(one.own), TYPES)

    class Drawing(nn.Module):
        gamma = 1.0

        def __call__(self, pairs: Tensor, types: Tensor) -> Tensor:
            drawn[torch.arange(len(types)), types[:, 1]] += 1
            return torch.zeros(types.shape)

    examples = Examples.of(one.items, TYPES, per_pair=False, device=torch.device("cpu"))
    for _ in range(600):
        one.loss(Drawing(), examples.batch(torch.arange(len(one.own))))
    own = drawn[torch.arange(len(one.own)), one.own]
    others = drawn[drawn > 0]
    # the pair 0, 1 has type 2 first, then 1
    return one.own.tolist() == [2, 3, 0, 2] and not own.any() and len(others) == 12 and bool(others.min() > 140)


CHECKS: tuple[Callable[[], bool], ...] = (
    each_setting_is_answered_by_its_own_best_epoch,
    what_a_setting_reached_is_told_where_it_was_measured,
    training_ends_when_all_settings_have_waited_longer_than_patience,
    a_setting_without_valid_items_is_answered_by_the_last_epoch,
    without_any_valid_item_all_epochs_are_trained,
    the_incomplete_last_batch_is_dropped_setting_by_setting,
    only_the_lowest_type_of_a_pair_is_right,
    what_is_learned_from_does_not_change_what_is_right,
    types_without_lines_count_nothing_and_are_averaged,
    an_example_is_a_pair_with_all_its_types_or_an_item,
    a_last_batch_of_training_is_dropped_unless_it_is_the_only_one,
    losses_are_their_formulas,
    a_type_that_training_says_nothing_of_weighs_nothing,
    no_pair_stands_against_a_type_it_has,
    mste_meets_another_negative_where_the_first_is_none,
    mste_says_when_there_is_nothing_to_learn_from,
    mste_draws_any_other_type_of_a_pairs_first_type,
)

if __name__ == "__main__":
    sys.stdout.write(json.dumps({"broken": [check.__name__ for check in CHECKS if not check()]}))
