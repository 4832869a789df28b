"""Printed accuracies of a type are shares of its released test items, or are known not to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.parts import TEST_S1, TEST_S2
from harness.compare import Book, ClaimVerdict, load_claims, load_names
from harness.compare.claims import Claim
from harness.compare.names import PublishedNames
from harness.data import load_dataset

# What section 8.10 of the paper says of its numbers, but for #1.
SENTENCES = {
    48: "The risk or severity of adverse effects can be increased",
    46: "The metabolism of #Drug2 can be decreased",
    72: "The serum concentration of #Drug2 can be increased",
    29: "#Drug1 may increase the orthostatic hypotensive activities",
    71: "#Drug1 may decrease the excretion rate of #Drug2",
    57: "#Drug1 may decrease the cardiotoxic activities",
    24: "#Drug1 may increase the atrioventricular blocking (AV block) activities",
    18: "#Drug1 may increase the vasoconstricting activities",
}
PARTS = {"S1": TEST_S1, "S2": TEST_S2}
BATCH = 128
MOST_RUNS = 6


@pytest.fixture(scope="module")
def drugbank(repository: Layout, shared: Path) -> DdiDataset:
    return load_dataset(repository, "drugbank", DdiDataset, mirrors=[shared / "mirror"])


@pytest.fixture(scope="module")
def names(repository: Layout) -> PublishedNames:
    return load_names(repository, "ddi")


@pytest.fixture(scope="module")
def shares(repository: Layout, names: PublishedNames) -> list[Claim]:
    """All of Tables 4 and 12."""
    return [one for one in load_claims(repository, names) if "accuracy of type" in one.metric]


def asked(claim: Claim) -> tuple[str, int]:
    """Setting and type."""
    setting, *_, kind = claim.metric.split()
    return setting, int(kind)


def items_of(drugbank: DdiDataset, names: PublishedNames, setting: str, split: str, kind: int) -> tuple[int, int]:
    """Test items of a type, and those that full batches leave."""
    number = drugbank.released_names.index(names.splits[split].rpartition("=")[2])
    parts, places = drugbank.released[drugbank.drugs :, 2 * number : 2 * number + 2].T
    inside = parts == PARTS[setting]
    own = inside & (drugbank.labels == kind)
    return int(own.sum()), int((own & (places < inside.sum() // BATCH * BATCH)).sum())


def is_share(value: float, items: int, runs: int = MOST_RUNS) -> bool:
    """Whether so many right answers over one to `runs` runs can be printed so, rounded or cut off."""
    for total in range(items, items * runs + 1, items) if items else ():
        thousandths = 1000 * np.arange(total + 1) / total
        near = np.abs(thousandths - 1000 * value) <= 0.5 + 1e-6
        cut_off = np.floor(thousandths + 1e-6) == round(1000 * value)
        if (near | cut_off).any():
            return True
    return False


def test_number_one_is_type_one_and_its_sentence_is_not(
    drugbank: DdiDataset, names: PublishedNames, shares: list[Claim]
) -> None:
    """The finding. No share that is printed of #1 can be one of type 0."""
    assert "photosensitizing" in drugbank.type_names[0] and "anticholinergic" in drugbank.type_names[1]
    for kind, sentence in SENTENCES.items():
        assert drugbank.type_names[kind].startswith(sentence)
    for split, counts in (("without", (0, 18)), ("with", (1, 35))):
        assert tuple(items_of(drugbank, names, "S1", split, kind)[0] for kind in (0, 1)) == counts
        printed = [one.value for one in shares if asked(one) == ("S1", 1) and one.split == split and one.value]
        assert len(printed) == 4
        assert all(is_share(value, counts[1], runs=3) for value in printed)
        assert not any(is_share(value, counts[0]) for value in printed)


def test_claims_without_test_items_are_not_comparable(
    drugbank: DdiDataset, names: PublishedNames, shares: list[Claim], ddi_book: Book
) -> None:
    """The finding, and that names.toml says so of these claims and of no others, whatever was run."""
    judged = {one.claim: one for one in ddi_book.comparisons}
    without = []
    for claim in shares:
        setting, kind = asked(claim)
        absent = not any(items_of(drugbank, names, setting, claim.split, kind))
        told = judged[claim].reason.endswith(f"item of type {kind}: the printed value is of other test items")
        assert told == absent, claim
        if absent:
            without.append(claim)
            assert judged[claim].verdict is ClaimVerdict.NOT_COMPARABLE
    assert len(without) == 35 and sum(claim.value > 0 for claim in without) == 21
    assert {asked(claim) for claim in without} == {("S2", kind) for kind in (1, 18, 29, 57)}


@pytest.mark.parametrize(
    ("method", "split", "kind", "items"), [("MLP", "without", 71, (19, 12)), ("DDI-GPT", "with", 24, (3, 3))]
)
def test_some_printed_shares_are_of_other_items_of_a_type(
    drugbank: DdiDataset,
    names: PublishedNames,
    shares: list[Claim],
    method: str,
    split: str,
    kind: int,
    items: tuple[int, int],
) -> None:
    (claim,) = (one for one in shares if (one.method, one.split) == (method, split) and asked(one) == ("S2", kind))
    assert items_of(drugbank, names, "S2", split, kind) == items
    assert not any(is_share(claim.value, count) for count in items)
