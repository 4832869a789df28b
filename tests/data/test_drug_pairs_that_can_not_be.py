"""Arrays of drug pairs that can't be right must be refused before anything uses them, whoever converted them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from harness.base.errors import CorruptData
from harness.benchmarks.ddi.checks import checked_remarks
from harness.benchmarks.ddi.dataset import DdiDataset
from tests.ddi.tiny import SIGNS, tiny


def _with(name: str, place: tuple[int, ...], value: int) -> Callable[[], DdiDataset]:
    def made() -> DdiDataset:
        array = getattr(tiny(), name).copy()
        array[place] = value
        return tiny(**{name: array})

    return made


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (_with("pairs", (0, 1), 3), r"'pairs' holds 3, which is not in 0 to 2\n.*row 0"),
        (_with("pairs", (2, 0), -1), r"'pairs' holds -1"),
        (_with("pairs", (0, 1), 0), r"drug 'a' is paired with itself\n.*item 0"),
        (_with("labels", (1,), 2), r"'labels' holds 2, which is not in 0 to 1"),
        (_with("fingerprints", (0, 0), -1), r"'fingerprints' holds -1, which is not in 0 to any"),
        (_with("knowledge", (0, 1), 4), r"'knowledge' holds 4, which is not in 0 to 3"),
        (_with("knowledge", (0, 2), 1), r"'knowledge' holds 1, which is not in 0 to 0"),
        (_with("years", (1,), 19), r"'years' holds 19"),
        (_with("released", (0, 0), 3), r"a role or part is none of the known ones[\s\S]*'random'"),
        (_with("released", (5, 0), 7), r"a role or part is none of the known ones"),
        (_with("released", (5, 1), 0), r"two items have the same place"),
        (lambda: tiny(pairs=np.array([[0, 1], [0, 1], [1, 2]]), labels=np.array([1, 1, 1])), r"is there twice"),
        (lambda: tiny(labels=np.array([0, 1])), r"'labels' has shape \(2,\), not \(3,\)"),
        (lambda: tiny(smiles=("C", "CC")), r"'smiles' has not one text per drug"),
        (lambda: tiny(drug_ids=("a", "a", "c")), r"1 drugs have a name that others have, 'a' for one"),
        (lambda: tiny(type_names=("x", "x")), r"1 types have a name that others have"),
        (lambda: tiny(entity_names=("b", "a", "c", "gene")), r"the first entities are not the drugs"),
        (lambda: tiny(entity_names=("a", "b", "gene", "c")), r"the first entities are not the drugs"),
        (lambda: tiny(smiles=("C", "CC", "C(")), r"'C\(' is no structure[\s\S]*drug 'c'"),
        (lambda: tiny(labels=SIGNS * 2), r"'labels' holds 2, which is not in -1 to 1"),
        (lambda: tiny(labels=SIGNS * [[1], [0], [1]]), r"neither positive nor negative, or both\n.*item 1"),
        (
            lambda: tiny(labels=np.array([[1, -1], [1, 0], [1, 0]])),
            r"neither positive nor negative, or both\n.*item 0",
        ),
    ],
)
def test_what_can_not_be_is_refused(made: Callable[[], DdiDataset], message: str) -> None:
    with pytest.raises(CorruptData, match=message):
        checked_remarks(made())


def test_no_item_is_refused() -> None:
    with pytest.raises(CorruptData, match="there is no item"):
        checked_remarks(
            tiny(
                pairs=np.empty((0, 2), dtype=np.int32),
                labels=np.empty(0, dtype=np.int32),
                released=tiny().released[:3],
            )
        )


def test_one_pair_may_have_another_sign_or_order() -> None:
    pairs = np.array([[0, 1], [0, 1], [1, 0]], dtype=np.int32)
    remarks = checked_remarks(tiny(pairs=pairs, labels=SIGNS, released_names=(), released=np.empty((6, 0))))
    assert "1 negative item of pairs that have some type, in one order or the other" in remarks


def test_type_without_an_item_and_item_in_a_wrong_part_are_told() -> None:
    assert checked_remarks(tiny(labels=np.array([1, 1, 1]))) == (
        "1 drug of a single atom: graphs without an edge",
        "2 drugs without a node of the knowledge graph",
        "1 drug without a year of approval",
        "1 type without an item",
    )
    for part, wrong in ((5, 0), (6, 1), (4, 1), (0, 1), (2, 1), (-2, 0)):
        released = tiny().released.copy()
        released[4] = part, 9
        remarks = checked_remarks(tiny(released=released))
        told = [remark for remark in remarks if "of drugs of other roles" in remark]
        assert len(told) == wrong, part
