"""The variant of a method that a person is advised to use on questions of their own."""

from __future__ import annotations

from dataclasses import dataclass

from harness.methods.card import MethodCard

PUBLISHED, CORRECTED = "published", "corrected"


@dataclass(frozen=True)
class Recommendation:
    """A variant, and why this one."""

    variant: str
    reason: str


def recommended(card: MethodCard, dataset: str) -> Recommendation:
    """`corrected` where the card has it and does not refuse the dataset in it; else `published`.

    What reproduces a paper keeps the defects of its code; who asks about their own drugs has no use for them.
    """
    if CORRECTED not in card.variants:
        return Recommendation(PUBLISHED, "recommended: the card has no corrected variant")
    if refusal := card.refusal(dataset, CORRECTED):
        return Recommendation(PUBLISHED, f"recommended: '{CORRECTED}' is refused on {dataset}: {refusal}")
    return Recommendation(
        CORRECTED, f"recommended, because '{PUBLISHED}' keeps defects of the authors' code: {undone(card)}"
    )


def undone(card: MethodCard) -> str:
    """What the corrected variant does otherwise: the first sentence of its summary."""
    return " ".join(card.variant(CORRECTED).summary.split()).split(". ", 1)[0].rstrip(".")
