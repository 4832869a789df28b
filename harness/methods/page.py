"""Method cards as Markdown, generated from the registry, so that the page in docs/ can't drift from the code."""

from __future__ import annotations

from collections.abc import Iterable

from harness.base.markdown import code, plain, prose
from harness.methods.card import MethodCard

_HEAD = """# Method cards
Generated from `methods/*/method.toml` by `harness list methods --markdown`; a test keeps this page current.
"""


def markdown(cards: Iterable[MethodCard]) -> str:
    """The page of these cards."""
    return "\n".join([_HEAD, *map(card_text, cards)])


def card_text(card: MethodCard) -> str:
    """One card."""
    lines = [f"## {plain(card.title)} ({code(card.name)})", prose(card.summary), ""]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in _facts(card)]
    for name, variant in card.variants.items():
        lines += ["", f"**Variant {code(name)}.** {prose(variant.summary)}"]
        if variant.parameters:
            lines.append(
                "Parameters: "
                + ", ".join(f"{code(key)} = {plain(value)}" for key, value in variant.parameters.items())
            )
    for refusal in card.refuses:
        which = f" in variant {code(refusal.variant)}" if refusal.variant else ""
        lines += ["", f"Not applicable to {code(refusal.dataset)}{which}: {prose(refusal.reason)}"]
    return "\n".join(lines) + "\n"


def _facts(card: MethodCard) -> list[tuple[str, str]]:
    facts = [
        ("kind", "control" if card.control else plain(card.category)),
        ("language", card.language),
        ("benchmarks", ", ".join(map(code, card.benchmarks))),
        ("inputs", ", ".join(map(code, card.inputs)) or "none"),
        ("deterministic", "yes" if card.deterministic else "no"),
        ("order of items", f"published. {card.published_order}" if card.published_order else "secret"),
        (
            "limits of one run",
            f"{card.resources.cpus} CPU, {card.resources.memory}, {card.resources.seconds:,} s",
        ),
        ("computes on", "CPU, or a GPU with `--accelerator cuda`" if card.cuda else "CPU"),
    ]
    if card.paper:
        doi = f", doi {card.paper.doi}" if card.paper.doi else ""
        venue = f", {card.paper.venue}" if card.paper.venue else ""
        facts.append(("paper", prose(f"{card.paper.authors}: {card.paper.title}{venue}, {card.paper.year}{doi}")))
    if card.origin:
        commit = f" at {code(card.origin.commit)}" if card.origin.commit else ""
        licence = prose(card.origin.licence)
        place = card.origin.repository
        # an address is a link wherever the page is read
        place = f"<{place}>" if place.startswith("https://") else prose(place)
        facts.append(("origin", f"{place}{commit}; licence: {licence}"))
    return facts
