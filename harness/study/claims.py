"""A table with a row per claim: printed, from the authors' files, from our runs, and what the controls reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from harness.compare.book import keys_of
from harness.compare.claims import ADJUSTED_P, STATISTICS, Claim, H
from harness.compare.comparison import ClaimVerdict, Comparison
from harness.compare.paper import ALL_DATASETS
from harness.compare.text import comparison_json
from harness.status.table import Summary
from harness.study.sheets import NONE, Sheet, runs_at, tally_of
from harness.study.sides import CONTROL, Row, Sides
from harness.study.specs import Spec

_HEAD = ("", "", "printed", "authors' files", "ours", "best control", "verdict")
_OURS = _HEAD.index("ours")


@dataclass(frozen=True)
class _Line:
    """A line of a table of claims: its subject, its comparison, and the value of the best control.

    A part is about some of the datasets only; the paper prints no number for it.
    """

    about: str
    quantity: str
    comparison: Comparison
    control: str = ""
    part: bool = False
    runs: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The entries, one for each column of the table."""
        one, files = self.comparison, self.comparison.files
        claim_text = one.claim.published if one.claim.sd is None else f"{one.claim.published} ± {one.claim.sd:g}"
        if self.part:
            claim_text = NONE
        elif one.claim.note.startswith("not printed"):
            claim_text = f"({claim_text})"
        theirs = NONE
        if files is not None:
            theirs = f"{_number(self.quantity, files.value)} ({files.n}){'' if files.agrees else ' ≠'}"
        ours = NONE if one.ours is None else f"{_number(self.quantity, one.ours)} ({one.n})"
        return self.about, self.quantity, claim_text, theirs, ours, self.control, str(one.verdict)

    @property
    def values(self) -> dict[str, Any]:
        """The line as JSON values."""
        about = {"about": self.about, "quantity": self.quantity, "control": self.control}
        return {**about, **comparison_json(self.comparison, self.runs)}


@dataclass(frozen=True)
class ClaimsTable:
    """A table with a row per claim."""

    sides: Sides
    spec: Spec
    columns: str

    def sheet(self) -> Sheet:
        """The table, with the controls at its end; claims about single methods have no best control."""
        members = self.sides.claims(self.spec.label)
        # claims about the same dataset or class come together
        places = list(dict.fromkeys((one.claim.dataset, one.claim.method) for one in members))
        members.sort(key=lambda one: places.index((one.claim.dataset, one.claim.method)))
        lines = [line for one in members for line in self._lines(one)]
        # a part of a claim is nothing that the paper prints
        tally = tally_of(line.comparison for line in lines if not line.part)
        controls = list(self._controls(members))
        blank = [""] * (len(_HEAD) - 1)
        runs = [runs_at((_OURS, -1), line.texts, line.runs) for line in lines]
        runs += [runs_at((_OURS,), _HEAD, keys) for *_, keys in controls]
        sheet = self.spec.sheet(
            _HEAD,
            [
                *(line.texts for line in lines),
                *(
                    (name, metric, NONE, NONE, f"{mean.mean:.4f} ({mean.n})", "", CONTROL)
                    for name, metric, mean, _ in controls
                ),
            ],
            runs=runs,
            tally=tally,
            notes=list(_notes(lines)),
            chips=[*([*blank, str(line.comparison.verdict)] for line in lines), *([*blank, ""] for _ in controls)],
            columns=self.columns,
            values={
                "title": self.spec.title,
                "verdicts": {str(verdict): count for verdict, count in tally.items()},
                "rows": [
                    *(line.values for line in lines),
                    *(
                        {"about": name, "quantity": metric, "ours": mean.mean, "n": mean.n, "verdict": CONTROL}
                        for name, metric, mean, _ in controls
                    ),
                ],
            },
        )
        return sheet.without_empty_columns()

    def _lines(self, one: Comparison) -> Iterator[_Line]:
        claim, sides = one.claim, self.sides
        if claim.statistic not in STATISTICS:
            yield _Line(sides.title(claim.method), claim.metric, one, runs=keys_of(sides.book, one))
            return
        contrast = claim.method.partition(",")[0]
        about = contrast if claim.dataset == ALL_DATASETS else sides.title(claim.dataset)
        yield _Line(about, claim.statistic, one, self._best_control(claim), runs=keys_of(sides.book, one))
        if part := sides.several.on_part(claim):
            every = sides.several.paper.datasets_of(claim.dataset)
            here = [name for name in every if not sides.several.why_without(name)]
            about = f"{about} on {part.claim.dataset}"
            control, keys = self._best_control(claim, here), keys_of(sides.book, part, here)
            yield _Line(about, claim.statistic, part, control, part=True, runs=keys)

    def _best_control(self, claim: Claim, datasets: Sequence[str] = ()) -> str:
        several = self.sides.several
        if not datasets and any(map(several.why_without, several.paper.datasets_of(claim.dataset))):
            # its mean would be one over fewer datasets
            return ""
        places = [place for group in several.groups(claim, datasets) for place in group]
        best = self.sides.best_control(claim.metric, places)
        return f"{best[1]:.3f} {best[0]}" if best else ""

    def _controls(self, members: Sequence[Comparison]) -> Iterator[tuple[str, str, Summary, tuple[str, ...]]]:
        """Name, metric, mean and keys of the controls, if the table is about methods on one dataset and split."""
        single = [one.claim for one in members if one.claim.statistic not in STATISTICS]
        for control, metric in product(self.sides.controls, dict.fromkeys(claim.metric for claim in single)):
            row = Row(control, control, CONTROL)
            place = (row, single[0].dataset, single[0].split)
            if summary := self.sides.ours(*place, metric):
                yield control, metric, summary, self.sides.keys(*place)


def _number(quantity: str, value: float) -> str:
    """A number, with digits according to its kind."""
    return f"{value:.1f}" if quantity == H else f"{value:.1g}" if quantity == ADJUSTED_P else f"{value:.4f}"


def _notes(lines: Sequence[_Line]) -> Iterator[str]:
    """The reasons why numbers are not reproduced, and the notes of claims: each once, with its rows."""
    rows: dict[str, list[str]] = {}
    for line in lines:
        one = line.comparison
        if one.verdict is not ClaimVerdict.REPRODUCED:
            reason = one.reason.removesuffix(f"; {one.claim.note}") + one.lacking
            rows.setdefault(f"{one.verdict}: {reason}", []).append(line.about)
        for note in filter(None, one.claim.note.split("; ")):
            rows.setdefault(note, []).append(line.about)
    every = {line.about for line in lines}
    for reason, about in rows.items():
        yield f"{'all' if set(about) == every else '; '.join(dict.fromkeys(about))}: {reason}"
