"""A known drug that is asked about again must be like itself in all but its interactions, and change no other."""

from __future__ import annotations

import numpy as np
import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.ddi.checks import checked_remarks
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.extension import again, not_asked_again, with_new
from harness.benchmarks.ddi.metrics.pairs import asked_pairs
from harness.benchmarks.ddi.splits.strategies import new_drugs
from harness.benchmarks.new_item import NewItem
from harness.data import load_dataset


@pytest.fixture(scope="module")
def known(repository: Layout) -> DdiDataset:
    """The embedded dataset: every drug has an interaction."""
    return load_dataset(repository, "synthetic_ddi", DdiDataset)


def test_it_is_like_itself_but_in_no_pair(known: DdiDataset) -> None:
    drug = int(known.knowledge[known.knowledge[:, 0] < known.drugs][0, 0])
    name = known.drug_ids[drug]
    other = NewItem(kind="drug", name="mine", text="CCO")
    (item,) = again(known, [name], []).values()
    larger = with_new(known, [other, item])
    checked_remarks(larger)
    place = larger.drug_ids.index(item.name)
    assert place == known.drugs + 1 and item.name == f"{name} again"
    for texts in (larger.smiles, larger.drug_names, larger.drug_texts, larger.graph_texts):
        assert texts[place] == texts[drug] or not texts[drug]
    np.testing.assert_array_equal(larger.fingerprints[place], known.fingerprints[drug])
    np.testing.assert_array_equal(larger.pairs, known.pairs)

    def edges(node: int) -> set[tuple[str, str, int]]:
        """Edges of a node, its own name left out."""
        names = ["" if one == node else name for one, name in enumerate(larger.entity_names)]
        return {
            (names[head], names[tail], relation)
            for head, tail, relation in larger.knowledge.tolist()
            if node in (head, tail)
        }

    assert edges(place) == edges(drug) != set() and edges(known.drugs) == set()
    assert len(larger.knowledge) == len(known.knowledge) + len(edges(drug))


def test_pairs_with_it_are_asked_while_its_own_are_learned_from(known: DdiDataset) -> None:
    name = known.drug_ids[3]
    (item,) = again(known, [], [[name, known.drug_ids[4]]]).values()
    larger = with_new(known, [item])
    split = new_drugs.make(larger, 0, new_drugs.Parameters())
    asked = {tuple(larger.drug_ids[one] for one in pair) for pair in asked_pairs(larger, split).pairs.tolist()}
    assert asked == {pair for other in known.drug_ids for pair in ((item.name, other), (other, item.name))}
    assert (split.items >= 0).sum() == len(known.pairs)


def test_as_few_as_are_needed_are_asked_again(known: DdiDataset) -> None:
    one, two, three = known.drug_ids[:3]
    assert [*again(known, [], [[one, two], [three, one]])] == [one]
    assert [*again(known, [one, two], [])] == [one, two]
    larger = with_new(known, [NewItem(kind="drug", name="mine", text="CCO")])
    # where a drug is new its pairs are asked anyway; those of two known ones are not
    assert again(larger, [one], [["mine", one]]) == {}
    assert [*again(larger, [one], [[one, two]])] == [one]


def test_a_drug_that_is_asked_with_new_ones_alone_is_said_to_be(known: DdiDataset) -> None:
    one, two = known.drug_ids[:2]
    assert not_asked_again(known, [one]) == []
    new = [NewItem(kind="drug", name=name, text="CCO") for name in ("mine", "ours")]
    # all pairs of a new one are asked
    assert not_asked_again(with_new(known, new[:1]), ["mine", one]) == [
        f"{one}: only pairs with the drug without interactions are asked; `--pair {one} OTHER` asks about another"
    ]
    told = not_asked_again(with_new(known, new), [one, two])
    assert [text.split(" are asked")[0] for text in told] == [
        f"{name}: only pairs with the 2 drugs without interactions" for name in (one, two)
    ]


@pytest.mark.parametrize("text", ["like nobody", "like ", "likeSYN36"])
def test_it_must_be_like_something(known: DdiDataset, text: str) -> None:
    with pytest.raises(UsageError, match="is no structure"):
        with_new(known, [NewItem(kind="drug", name="x", text=text)])
