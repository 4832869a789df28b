"""A report of made-up runs, claims, a study and findings."""

from __future__ import annotations

from typing import Any

import pytest

from harness.base.layout import Layout
from harness.compare import Book, ClaimVerdict, Comparison
from harness.compare.claims import Claim
from harness.compare.names import Target
from harness.planning.plan import Plan
from harness.report.evidence import gather
from harness.report.headlines import Headlines
from harness.report.html import (
    Report,
)
from harness.results.findings import Finding
from harness.study.sheets import Sheet, Study
from tests.evidence import copy_of
from tests.fabricate import planned_of, put_run, table_of

DONE, OFF, OPEN, NOT = (
    ClaimVerdict.REPRODUCED,
    ClaimVerdict.DEVIATES,
    ClaimVerdict.PENDING,
    ClaimVerdict.NOT_COMPARABLE,
)


def claim(
    statistic: str = "value",
    published: str = "0.75",
    *,
    method: str | None = "constant",
    dataset: str | None = "synthetic",
    split: str | None = "random",
    seed: int | None = None,
    metric: str | None = "NS-AUC/as-published",
    verdict: ClaimVerdict = ClaimVerdict.DEVIATES,
    ours: float | None = 0.5,
    variant: str = "",
    **more: Any,
) -> Comparison:
    """A claim beside a number of ours."""
    own = {name: more.pop(name) for name in ("source", "sd", "sheet") if name in more}
    about = Claim(own.pop("source", "a file"), statistic, "Theirs", "D", "S", "AUC", published, seed=seed, **own)
    return Comparison(
        about, Target(method, dataset, split, variant), metric, verdict, "a reason", ours=ours, **more
    )


def counts_of(*verdicts: ClaimVerdict) -> list[int]:
    return [verdicts.count(one) for one in ClaimVerdict]


@pytest.fixture(scope="session")
def facts(fabricated: Layout, made_up: Plan, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """The made-up runs and one more. Not to be changed."""
    layout = copy_of(fabricated, tmp_path_factory.mktemp("pages") / "copy")
    (layout.root / "tests").mkdir()
    for name in ("x", "y"):
        (layout.root / "tests" / f"test_{name}.py").write_text(f"def test_{name}(): ...\n")
    put_run(layout, planned_of(made_up.cells[4]))
    return layout


@pytest.fixture(scope="session")
def report(facts: Layout, made_up: Plan) -> Report:
    """Five runs and a pending cell, with claims, a study and findings that are made up."""
    table = table_of(facts, made_up)
    keys = [planned_of(cell).key for cell in made_up.cells]
    claims = (
        claim(seed=17263407, keys=(keys[0],)),
        claim("mean", "0.8765432", method="als_wr", verdict=DONE, sheet="Table 3", keys=tuple(keys[2:4])),
        claim("mean", "0.5", sheet="Table 3", verdict=OPEN, ours=None, source="the paper, page 3"),
        claim("mean", "0.5", sheet="Table 3", verdict=NOT, ours=0.25, method="lrssl"),
        claim("band", "0.5", verdict=NOT, ours=None, method=None, source="Réda & al., 2024"),
        claim("band", "0.5", verdict=NOT, ours=None, method=None, source="Réda & al., 2025"),
    )
    book = Book("repurposing", ("the paper",), claims)
    sheets = (
        Sheet("table", "3", "Means", ["a"], [["1"]], columns="what columns say"),
        Sheet("figure", "2b", "Drawn", ["a"], [["1"]]),
    )
    study = Study("repurposing", ("the paper",), sheets)
    findings = [
        Finding(
            title="One",
            about="ALS",
            methods=["nobody", "als_wr"],
            text="t",
            shown_by=["tests/test_x.py::test_x", "tests/test_x.py::other", "harness audit", "tests/gone.py::x"],
            splits=["hdvd random:x=1"],
        ),
        Finding(title="Two", about="All", text="t", shown_by=[]),
    ]
    evidence = gather(facts, table, [book])
    own = Report(facts, table, (book,), (study,), evidence, Headlines(6, 1, 1, 6, (), ()))
    own.__dict__["findings"] = [("repurposing", findings)]
    return own
