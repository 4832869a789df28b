"""What findings say of the originals, held against the numbers that the originals gave: the goldens of ddi."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.benchmarks.ddi.metrics.multilabel import by_type
from tests.methods.plain_emergnn import loss_of, plain

Array = npt.NDArray[Any]
BOTH = ("drugbank_00", "twosides_00")


def golden(shared: Path, name: str) -> dict[str, Array]:
    """The arrays of a case by name."""
    with np.load(shared / "golden" / "ddi" / f"{name}.npz") as arrays:
        return dict(arrays)


def of_group(case: dict[str, Array], group: str) -> dict[str, Array]:
    """Those whose names begin so, without the beginning."""
    return {name.removeprefix(group): array for name, array in case.items() if name.startswith(group)}


@pytest.mark.parametrize("name", BOTH)
def test_sagan_has_a_network_of_its_own(shared: Path, name: str) -> None:
    sagan, other = golden(shared, f"SAGAN/{name}"), golden(shared, f"SSI-DDI/{name}")
    shapes = [{one: array.shape for one, array in of_group(case, "param/").items()} for case in (sagan, other)]
    assert shapes[0] == shapes[1]
    # and beside it the discriminator and what it is shown: a batch of other pairs
    assert of_group(sagan, "param_ad/") and not of_group(other, "param_ad/")
    assert of_group(sagan, "in/adv_") and not of_group(other, "in/adv_")
    np.testing.assert_allclose(sagan["loss_steps"], sagan["loss_label"] + 0.01 * sagan["loss_adv"], rtol=1e-6)


@pytest.mark.parametrize("name", BOTH)
def test_decagon_sees_types_or_bends(shared: Path, name: str) -> None:
    """Its logits are a linear function of features and a graph whose edges have ends, and nothing else."""
    case = golden(shared, f"Decagon/{name}")
    weights = {one: array.astype(float) for one, array in of_group(case, "param/").items()}
    source, target = case["in/edge_index"]
    around = np.eye(len(case["in/init_emb"]))
    np.add.at(around, (target, source), 1.0)
    share = around.sum(axis=1) ** -0.5
    around *= share[:, None] * share
    nodes = case["in/init_emb"]
    for layer in ("conv1", "conv2"):
        nodes = around @ nodes @ weights[f"{layer}.lin.weight"].T + weights[f"{layer}.bias"]
    heads, tails = (
        np.einsum("bi,rij->brj", nodes[case[f"in/{end}"]], weights["relation_param"]) for end in ("head", "tail")
    )
    logits = np.einsum("bri,ij,brj->br", heads, weights["interaction_model"][0], tails)
    np.testing.assert_allclose(case["out/logits"], logits, rtol=0, atol=1e-8)
    assert not [one for one in case if "edge_type" in one]
    assert [one for one in golden(shared, "MRCGNN/drugbank_00") if "edge_type" in one]


@pytest.mark.parametrize("name", ["drugbank_00", "drugbank_02"])
def test_emergnn_sums_a_pairs_loss_once(shared: Path, name: str) -> None:
    case = golden(shared, f"EmerGNN/{name}")
    repeated = loss_of(case["out/logits"].astype(float), case["in/y"])
    assert len(case["in/y"]) > 5
    assert case["out/loss_eval"] == pytest.approx(repeated, rel=1e-6)


@pytest.mark.parametrize("name", ["twosides_00", "twosides_02"])
def test_emergnns_third_metric_is_accuracy(shared: Path, name: str) -> None:
    case = golden(shared, f"EmerGNN/{name}")
    about = json.loads((shared / "golden" / "ddi" / "EmerGNN" / f"{name}.json").read_text())
    lines = np.concatenate([case["in/pos"], case["in/neg"]])
    trained = {f"param/{one}": array for one, array in of_group(case, "after_train_epoch/").items()}
    _, logits = plain({**case, **trained, "in/head": lines[:, 0], "in/tail": lines[:, 1]}, about)
    signs = np.concatenate([case["in/pos"][:, 2:], -case["in/neg"][:, 2:]]).astype(np.int8)
    found = by_type(signs, (1 / (1 + np.exp(-logits))).astype(np.float32))
    means = {one: values[found.decided].mean() for one, values in found.values.items()}
    printed = [means["ROC-AUC"], means["PR-AUC"], means["precision at half"]]
    np.testing.assert_allclose([case[f"out/eval_{one}"] for one in ("roc", "pr", "ap")], printed, atol=1e-12)
    assert abs(means["accuracy"] - means["precision at half"]) > 0.01


@pytest.mark.parametrize("name", ["drugbank_easy_bioclass_00", "twosides_biogpt_cls_00"])
def test_ddi_gpt_fills_up_with_what_is_for_filling_up(shared: Path, name: str) -> None:
    """BioGPT's id for it is 1. The last place, where the class is read, is masked."""
    case = golden(shared, f"DDI-GPT/{name}")
    mask = {one: array for one, array in of_group(case, "in/").items() if "mask" in one}
    assert mask
    for one, kept in mask.items():
        ids = case["in/" + one.replace("attention_mask", "input_ids").replace("_mask", "_input_ids")]
        shorter = kept.sum(axis=1) < kept.shape[1]
        assert shorter.any()
        assert not kept[shorter, -1].any()
        assert (ids[kept == 0] == 2).all()
        assert not (ids == 1).any()
