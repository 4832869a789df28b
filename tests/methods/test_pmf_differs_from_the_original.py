"""PMF draws and steps as its plain transcription does, and its two defects show where they should."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.plain_factorisations import pmf
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.jobs import Job
from harness.planning.plan import make_plan
from harness.splits.spec import SplitSpec
from tests.methods.labels_only import Labels, Matrix, NoAnswer, OnLabels, made_up

NOT_IN_THE_ORIGINAL = ("shrink_batch", "positives_only")


@pytest.fixture
def run(layout: Layout, tmp_path: Path) -> OnLabels:
    return OnLabels(layout, tmp_path, "pmf")


def plainly(run: OnLabels, labels: Labels, batch_size: int) -> Matrix:
    parameters = {name: value for name, value in run.parameters().items() if name not in NOT_IN_THE_ORIGINAL}
    return pmf(np.ascontiguousarray(labels.T), **{**parameters, "batch_size": batch_size})


# numbers of drugs below, at and above a power of two: that many low bits of a word are looked at
@pytest.mark.parametrize("shape", [(31, 23), (32, 23), (33, 23), (9, 40)], ids=str)
@pytest.mark.parametrize("negatives", [False, True], ids=["no negatives", "negatives"])
def test_batches_and_steps_are_those_of_the_plain_transcription(
    run: OnLabels, shape: tuple[int, int], negatives: bool
) -> None:
    """With many drugs drawn twice in a batch, and with diseases that have one drug, one label or none."""
    labels = made_up(shape, negatives=negatives)
    expected = plainly(run, labels, batch_size=11)
    np.testing.assert_allclose(run(labels, batch_size=11).scores, expected, rtol=0, atol=1e-12)


def test_finding_fewer_diseases_than_a_batch_have_no_answer(run: OnLabels) -> None:
    labels = made_up((60, 34))
    with pytest.raises(NoAnswer, match="34 diseases are fewer than one batch of 100"):
        run(labels)
    corrected = run(labels, "corrected").scores
    np.testing.assert_allclose(corrected, plainly(run, labels, batch_size=34), rtol=0, atol=1e-12)
    assert corrected[labels == 1].mean() > corrected[labels == 0].mean() + 1


def test_finding_what_is_known_not_to_treat_counts_as_a_treatment(run: OnLabels) -> None:
    labels = made_up((40, 30), negatives=True)
    published, corrected = (run(labels, variant, batch_size=10).scores for variant in ("published", "corrected"))
    unknown = labels == 0
    assert published[labels == -1].mean() > published[unknown].mean() + 1
    assert corrected[labels == -1].mean() == pytest.approx(corrected[unknown].mean(), abs=0.5)
    without = np.maximum(labels, 0)
    np.testing.assert_array_equal(run(without, batch_size=10).scores, corrected)


def test_a_disease_with_every_drug_does_not_run_for_ever(run: OnLabels) -> None:
    labels = made_up((20, 12))
    labels[:, 5] = 1
    with pytest.raises(NoAnswer, match="there is no other drug to draw"):
        run(labels, batch_size=10)


def test_hdvd_is_refused_as_published_and_not_as_corrected(repository: Layout) -> None:
    split = SplitSpec(strategy="random", seed=1)
    jobs = [
        Job(benchmark="repurposing", method="pmf", dataset="hdvd", split=split, variant=variant)
        for variant in ("published", "corrected")
    ]
    published, corrected = make_plan(repository, "both", jobs).cells
    assert published.verdict is Verdict.NOT_APPLICABLE
    assert "34 diseases" in published.reason
    assert corrected.verdict is not Verdict.NOT_APPLICABLE
