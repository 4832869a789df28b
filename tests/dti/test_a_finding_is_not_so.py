"""What findings say of BETA's tasks and printed numbers, held against files, printed tables and our results."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.generator.families import CategoryParameters
from harness.benchmarks.dti.splits.pairs import NEGATIVE, TEST
from harness.benchmarks.dti.splits.strategies import annotated_pairs, new_pairs
from harness.data import load_dataset
from harness.results.reference import load_reference
from tests.conftest import REPOSITORY

SPACES = ("TEO", "TRO", "TEE", "TRE")
DISEASES = {new_pairs: 5, annotated_pairs: 10}


def printed(metric: str = "General score") -> dict[tuple[str, str], float]:
    """Printed numbers in percent, by split and method."""
    with (REPOSITORY / "results" / "published" / "dti" / "tables.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == metric]
    return {(row["split"], row["method"]): 100 * float(row["value"]) for row in rows}


def ours(
    layout: Layout, method: str, strategy: str, metric: str, **asked: str
) -> list[tuple[dict[str, Any], float]]:
    """Parameters and score of every task of a strategy on BETA with these parameters."""
    found = {}
    for result in load_reference(layout, "dti", methods=[method]).values():
        job = result.planned.job
        told = {"reading": "as-published", **job.split.parameters}
        if job.dataset.startswith("beta") and job.split.strategy == strategy and asked.items() <= told.items():
            assert result.fresh_scores is not None
            value = result.fresh_scores.every[metric]
            assert value is not None
            # a task that is asked for by its group and by its rank is one
            found[result.planned.split_digest] = (told, value)
    return [*found.values()]


def test_one_drug_has_all_negatives_of_two_spaces_alone(repository: Layout, shared: Path) -> None:
    dataset = load_dataset(repository, "beta", DtiDataset, mirrors=[shared / "mirror"])
    drugs: dict[str, list[int]] = defaultdict(list)
    for strategy, diseases in DISEASES.items():
        for rank in range(diseases):
            for space in SPACES:
                split = strategy.make(dataset, 1024, CategoryParameters(space=space, rank=rank))
                negative = (split.rows[:, 0] == TEST) & (split.rows[:, 3] == NEGATIVE)
                assert negative.any()
                drugs[space].append(len(np.unique(split.rows[negative, 1])))
    assert drugs["TEE"] == drugs["TRE"] == [1] * 15
    assert max(drugs["TEO"] + drugs["TRO"]) == 30
    # in Test 5 never fewer than four
    assert min(drugs["TEO"][:5] + drugs["TRO"][:5]) == 4


def test_counting_drugs_is_above_both_printed_methods(repository: Layout) -> None:
    table = printed()
    for test, strategy, tasks, mean in (
        ("Test 5", "new_pairs", 20, 91.4),
        ("Test 6", "annotated_pairs", 40, 89.9),
    ):
        control = ours(repository, "test_frequency", strategy, "general score", reading="as-published")
        assert len(control) == tasks
        assert round(100 * fmean(value for _, value in control), 1) == mean
        assert all(table[test, method] < mean for method in ("NeoDTI", "DeepPurpose"))
        corrected = ours(repository, "test_frequency", strategy, "AUROC", reading="corrected")
        assert len(corrected) == tasks
        assert fmean(value for _, value in corrected) == pytest.approx(0.5, abs=0.02)


def test_one_printed_disease_is_above_the_counting_of_drugs(repository: Layout) -> None:
    """By both methods, of the seven that are printed and published."""
    table, asked = printed(), {"method": "test_frequency", "metric": "general score", "reading": "as-published"}
    of_disease = defaultdict(list)
    for told, value in ours(repository, strategy="annotated_pairs", **asked):
        of_disease["test 6, " + told["group"].replace("_", " ")].append(100 * value)
    for told, value in ours(repository, strategy="new_pairs", **asked):
        # in the order of their bindings
        name = ("epilepsy", "heart failure", "obesity", "migraine", "breast cancer")[told["rank"]]
        of_disease[f"test 5, {name}"].append(100 * value)
    assert {len(one) for one in of_disease.values()} == {4}
    control = {split: fmean(one) for split, one in of_disease.items()}
    assert {split for split, _ in table if split.lower() in control} == {
        *(f"Test 5, {one}" for one in ("breast cancer", "obesity", "migraine")),
        *(f"Test 6, {one}" for one in ("Alzheimer disease", "leukemia", "myocardial infarction", "obesity")),
    }
    higher = {place for place, value in table.items() if value > control.get(place[0].lower(), 100)}
    assert higher == {("Test 6, myocardial infarction", method) for method in ("NeoDTI", "DeepPurpose")}
    assert round(control["test 6, myocardial infarction"], 1) == 86.1


def test_the_product_of_degrees_knows_two_spaces_of_test_1(repository: Layout) -> None:
    means = {}
    for space in ("CC", "TC", "TT", "SS", "SU", "DI"):
        tasks = ours(repository, "degree_product", "connectivity", "AUROC", space=space, reading="as-published")
        assert len(tasks) == 10
        means[space] = round(fmean(value for _, value in tasks), 2)
    assert means == {"CC": 0.94, "TC": 0.81, "TT": 0.63, "SS": 0.51, "SU": 0.50, "DI": 0.50}


def test_the_product_of_degrees_has_a_higher_auroc_than_is_printed_in_test_0(repository: Layout) -> None:
    found = {}
    for metric in ("AUROC", "precision"):
        tasks = ours(repository, "degree_product", "general", metric, reading="as-defined")
        assert len(tasks) == 10
        found[metric] = round(fmean(value for _, value in tasks), 3)
    assert found == {"AUROC": 0.899, "precision": 0.615}
    highest = max(printed("AUROC"), key=printed("AUROC").__getitem__)
    assert highest == ("Test 0", "bioLNE") and printed("AUROC")[highest] == pytest.approx(88.65)
    assert len(printed("Precision")) == 3 and min(printed("Precision").values()) > 61.5


def test_two_values_are_printed_for_breast_cancer(shared: Path) -> None:
    text = (shared / "papers" / "beta.txt").read_text(encoding="utf-8")
    found = re.findall(
        r"([\w ]+?) (?:had the best predictive performance )?\(([\d.]+)% for NeoDTI and ([\d.]+)% for DeepP", text
    )
    values = {name.strip(): [] for name, *_ in found} | defaultdict(list)
    for name, *pair in found:
        values[name.strip()].append(tuple(pair))
    assert values["breast cancer"] == [("92.56", "90.59"), ("91.41", "87.32")]
    assert values["spinal muscular atrophy"] == [("92.56", "83.70")]
    curves = {cut: printed(f"MAP@{cut}") for cut in (10, 20, 50)}
    for method in ("NeoDTI", "DeepPurpose", "bioLNE"):
        ten, twenty, fifty = (curves[cut]["Test 4", method] for cut in (10, 20, 50))
        assert (ten < twenty < fifty) == (method != "bioLNE")
    assert min(twenty / ten, twenty / fifty) > 1.85
