"""Numbers in the texts of cards and pages, computed again from the committed results and the published values."""

from __future__ import annotations

import csv
from collections import defaultdict
from statistics import fmean, stdev

import pytest

from harness.base.layout import Layout
from harness.methods.card import load_method
from harness.results.reference import load_reference
from tests.conftest import REPOSITORY

PUBLISHED = REPOSITORY / "results" / "published" / "repurposing"
SPLITS = {"random": "random_simple", "weakly_correlated": "weakly_correlated"}
NAMES = {"fdataset": "Fdataset", "cdataset": "Cdataset", "lrssl": "LRSSL", "synthetic": "Synthetic"}
# ours, and what the published files call it
METRICS = {
    "NS-AUC": "NS-AUC",
    "AUC": "AUC",
    "accuracy": "ACC",
    "disease-wise AUC": "avg_disease_AUC_binary",
    "NDCG": "avg_disease_NDCG_NS",
    "global NDCG": "global_NDCG",
    "F-score": "Fscore",
    "HR@2": "HR@2",
    "HR@5": "HR@5",
    "HR@10": "HR@10",
}


def said(layout: Layout, method: str, variant: str = "") -> str:
    """The text of a card, or of a variant of it, in one line."""
    card = load_method(layout, method)
    return " ".join((card.variant(variant).summary if variant else card.summary).split())


def ours(
    layout: Layout, method: str, metric: str, variant: str = "published", benchmark: str = "repurposing"
) -> dict[tuple[str, str], dict[int, float]]:
    """The scores of the committed results by dataset and strategy, and there by seed."""
    found: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for result in load_reference(layout, benchmark, methods=[method]).values():
        job = result.planned.job
        if job.variant != variant or result.fresh_scores is None or job.split.seed is None:
            continue
        if (value := result.fresh_scores.every[metric]) is not None:
            found[job.dataset, job.split.strategy][job.split.seed] = value
    return found


def of_seeds(method: str, metric: str = "NS-AUC") -> dict[tuple[str, str], dict[int, float]]:
    """The published values in the same form: about half of the seeds."""
    found: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    with (PUBLISHED / "per_seed.csv").open() as file:
        for row in csv.DictReader(file):
            if row["method"] == method and row[metric]:
                found[row["dataset"], row["split"]][int(row["seed"])] = float(row[metric])
    return found


def of_all_seeds(method: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Mean and standard deviation of the NS-AUC over all 100 seeds, to three decimals."""
    with (PUBLISHED / "summary.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == method]
    return {
        (row["dataset"], row["split"]): (f"{float(row['NS-AUC_mean']):.3f}", f"{float(row['NS-AUC_std']):.3f}")
        for row in rows
        if int(row["NS-AUC_count"])
    }


def distances(
    layout: Layout, method: str, name: str, dataset: str, split: str, metric: str = "NS-AUC"
) -> list[float]:
    """Between our value and the published one, of every seed that has both."""
    mine = ours(layout, method, f"{metric}/as-published")[dataset, split]
    theirs = of_seeds(name, METRICS[metric])[NAMES[dataset], SPLITS[split]]
    return [abs(mine[seed] - theirs[seed]) for seed in mine.keys() & theirs.keys()]


def test_drrs_is_as_far_from_the_published_values_as_its_card_says(repository: Layout) -> None:
    text, published = said(repository, "drrs"), of_all_seeds("DRRS")
    mine = {key: list(found.values()) for key, found in ours(repository, "drrs", "NS-AUC/as-published").items()}

    def told(dataset: str, split: str, count: str) -> str:
        values = mine[dataset, split]
        mean, spread = published[NAMES[dataset], SPLITS[split]]
        return f"{fmean(values):.3f} ({stdev(values):.3f}; {count}) against {mean} ({spread})"

    counts = [len(mine[key]) for key in (("fdataset", "random"), ("fdataset", "weakly_correlated"))]
    assert [*counts, len(mine["cdataset", "random"]), len(mine["cdataset", "weakly_correlated"])] == [
        10,
        10,
        13,
        11,
    ]
    assert f"Fdataset, random, {told('fdataset', 'random', 'ten seeds')}" in text
    assert f"weakly correlated {told('fdataset', 'weakly_correlated', 'ten')}" in text
    assert f"Cdataset, random, {told('cdataset', 'random', '13')}" in text
    apart = [
        distances(repository, "drrs", "DRRS", dataset, split)
        for dataset, split in (("fdataset", "random"), ("fdataset", "weakly_correlated"), ("cdataset", "random"))
    ]
    means = sorted(fmean(one) for one in apart)
    between = f"{means[0]:.3f} to {means[-1]:.3f} on average and {max(map(max, apart)):.3f} at most"
    assert f"the difference is {between}" in text
    tested, aim = fmean(mine["cdataset", "weakly_correlated"]), published["Cdataset", "weakly_correlated"]
    assert f"{float(aim[0]) - tested:.3f} too low ({tested:.3f} against {aim[0]}, eleven seeds)" in text
    assert 0.8 < (float(aim[0]) - tested) / float(aim[1]) < 1
    assert {len(mine["lrssl", split]) for split in SPLITS} == {10}
    assert "ten seeds each give" in text
    for split, place in (("random", "random splits"), ("weakly_correlated", "the weakly correlated one")):
        mean, spread = published["LRSSL", SPLITS[split]]
        start = f"{fmean(mine['lrssl', split]):.2f} on {place} against {mean} ({spread})"
        assert start in text


def test_scpmf_has_the_distribution_that_its_card_says(repository: Layout) -> None:
    values = list(ours(repository, "scpmf", "NS-AUC/as-published")["fdataset", "random"].values())
    mean, spread = of_all_seeds("SCPMF")["Fdataset", "random_simple"]
    told = f"{fmean(values):.3f} (standard deviation {stdev(values):.3f}) against the published {mean} ({spread})"
    assert len(values) == 100 and told in said(repository, "scpmf", "published")


def test_nimcgcn_comes_out_as_nearly_as_its_card_says(repository: Layout) -> None:
    farthest = {}
    for dataset in NAMES:
        apart = [distances(repository, "nimcgcn", "NIMCGCN", dataset, split) for split in SPLITS]
        assert {len(one) for one in apart} == {46}
        farthest[dataset] = max(map(max, apart))
    most = f"{farthest.pop('cdataset'):.3f} at most on Cdataset"
    assert f"by {most} and by 0.0006 at most on" in said(repository, "nimcgcn", "published")
    assert 0.0005 < max(farthest.values()) < 0.0006


def test_single_seeds_of_han_are_no_farther_than_its_card_says(repository: Layout) -> None:
    apart = [distances(repository, "han", "HAN", dataset, split) for dataset in NAMES for split in SPLITS]
    assert f"up to {max(map(max, apart)):.2f} of NS-AUC" in said(repository, "han", "published")


def test_libmf_orders_random_splits_of_synthetic_alone(repository: Layout) -> None:
    found = ours(repository, "libmf", "NS-AUC/as-published", "corrected")
    assert {key for key, values in found.items() if {*values.values()} == {1.0}} == {("synthetic", "random")}
    assert {value for key, values in found.items() if key[0] != "synthetic" for value in values.values()} == {0.5}
    mean, _ = of_all_seeds("LibMF")["Synthetic", "random_simple"]
    told = f"every test pair of random splits of Synthetic rightly (published NS-AUC: {float(mean):.2f})"
    assert told in said(repository, "libmf", "corrected")


def test_a_constant_has_the_published_auc_that_its_card_says(repository: Layout) -> None:
    means = {
        key: f"{fmean(found.values()):.2f}"
        for key, found in ours(repository, "constant", "AUC/as-published").items()
    }
    synthetic = [means.pop(("synthetic", split)) for split in SPLITS]
    told = f"{min(means.values())} to {max(means.values())} (items outside the test fold count as zeros; "
    assert f"published AUC of {told}{' and '.join(synthetic)} on Synthetic" in said(repository, "constant")


@pytest.mark.parametrize("metric", METRICS)
def test_als_wr_agrees_with_all_published_metrics(repository: Layout, metric: str) -> None:
    """As docs/metrics.md says: 46 seeds of each, and one value that is off."""
    apart = [
        one
        for dataset in ("fdataset", "cdataset")
        for split in SPLITS
        for one in distances(repository, "als_wr", "ALSWR", dataset, split, metric)
    ]
    assert len(apart) == 4 * 46
    off = [one for one in apart if one > 4e-16]
    assert [f"{one:.0e}" for one in off] == (["2e-08"] if metric == "global NDCG" else [])


def test_all_drugs_come_to_what_is_printed_of_scibert(repository: Layout) -> None:
    with (REPOSITORY / "results" / "published" / "combos" / "tables.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == "2" and row["method"] == "SciBERT"]
    printed = {
        row["metric"].removesuffix(" F1"): float(row["value"]) for row in rows if row["statistic"] == "band"
    }
    told = []
    for metric in ("exact positive", "partial positive", "exact any", "partial any"):
        found = ours(repository, "all_drugs", f"{metric} F1/as-published", benchmark="combos")[
            "combos", "released"
        ]
        (value,) = {round(100 * one, 1) for one in found.values()}
        told.append((metric, value, 100 * printed[metric]))
    first, *others = told
    listed = [
        f"{first[0]} {first[1]} against {first[2]:.1f}",
        *(f"{one} {a} against {b:.1f}" for one, a, b in others),
    ]
    assert f"({', '.join(listed)})" in said(repository, "all_drugs")


def test_the_product_of_degrees_has_the_auroc_that_its_card_says(repository: Layout) -> None:
    """On tasks of Test 1 as published. tests/dti holds the other spaces."""
    found: dict[str, list[float]] = defaultdict(list)
    for result in load_reference(repository, "dti", methods=["degree_product"]).values():
        job, scores = result.planned.job, result.fresh_scores
        if (job.dataset, job.split.strategy) == ("beta_network", "connectivity") and scores:
            value = scores.every["AUROC"]
            assert value is not None
            found[str(job.split.parameters["space"])].append(value)
    told = [f"{fmean(found[space]):.2f} in {space}" for space in ("CC", "TC", "TT")]
    assert f"a mean AUROC of {told[0]}, {told[1]} and {told[2]}" in said(repository, "degree_product")
    assert max(fmean(found[space]) for space in ("SS", "SU", "DI")) < 0.52


def test_no_binding_reaches_one_half_by_dtinet(repository: Layout) -> None:
    """As its card says of the committed results: recall is 0 in all of them, whatever the AUROC."""
    every = [
        result.fresh_scores.every
        for result in load_reference(repository, "dti", methods=["dtinet"]).values()
        if result.fresh_scores
    ]
    assert len(every) > 100 and {scores["recall"] for scores in every} == {0.0}
    told = "no binding that is asked reaches one half in the committed results of BETA"
    assert told in said(repository, "dtinet", "published")


def test_mste_has_the_numbers_of_one_answer_that_the_page_about_metrics_says(repository: Layout) -> None:
    """In S2, on both released splits, whatever the seed."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for result in load_reference(repository, "ddi", methods=["mste"]).values():
        job, scores = result.planned.job, result.fresh_scores
        if (job.dataset, job.variant, job.split.strategy) == ("drugbank", "published", "released") and scores:
            for name in ("F1", "accuracy", "kappa"):
                value = scores.every[f"S2 {name}/as-published"]
                assert value is not None
                found[name][str(job.split.parameters["which"])].add(f"{100 * value:.2f}")
    told = {name: [*values["cluster"], *values["random"]] for name, values in found.items()}
    assert told.pop("kappa") == ["0.00", "0.00"]
    text = " ".join((REPOSITORY / "docs" / "metrics.md").read_text(encoding="utf-8").split())
    numbers = ", ".join(f"{name} {first} and {second} %" for name, (first, second) in told.items())
    assert f"on both released splits ({numbers}, kappa 0)" in text
