"""Golden cases of DeepPurpose: what its encoders read, and its network's answers, gradients and steps."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from package import device, network_of, utils
from permafrost_sdk import Array, Case
from sides import with_tables
from training import Task, adam, step

Shapes = Mapping[str, tuple[int, ...]]

STEPS, LEARNING_RATE = 3, 1e-4


def encode(case: Case) -> dict[str, Array]:
    """What each encoder reads of every case's SMILES and sequence."""
    given = case.arrays
    alphabets = (("smiles_categories", utils.enc_drug), ("amino_categories", utils.enc_protein))
    for name, encoder in alphabets:
        if list(given[name]) != list(encoder.categories_[0]):
            raise ValueError(f"{name}: the case numbers other letters, {given[name]}")
    arrays: dict[str, Array] = {}
    for number in given["cases"]:
        (smiles,), (sequence,) = given[f"c{number}_smiles"], given[f"c{number}_seq"]
        composition = utils.target2aac(sequence)
        arrays |= {
            f"c{number}_{name}": np.asarray(value)
            for name, value in {
                **dict(zip(("bpe_ids", "bpe_mask"), utils.drug2emb_encoder(smiles), strict=True)),
                **dict(zip(("prot_bpe_ids", "prot_bpe_mask"), utils.protein2emb_encoder(sequence), strict=True)),
                "drug_onehot_idx": utils.drug_2_embed(utils.trans_drug(smiles)).argmax(axis=0),
                "prot_onehot_idx": utils.protein_2_embed(utils.trans_protein(sequence)).argmax(axis=0),
                "morgan_on": np.flatnonzero(utils.smiles2morgan(smiles)),
                "daylight_on": np.flatnonzero(utils.smiles2daylight(smiles)),
                "aac_idx": np.flatnonzero(composition),
                "aac_val": composition[composition != 0],
            }.items()
        }
    return arrays


def steps(case: Case) -> dict[str, Array]:
    """Answers and gradients without dropout, and three steps of training."""
    given = case.arrays
    encodings = (given["drug_encoding"][0], given["target_encoding"][0])
    shapes = dict(zip(given["keys"], map(ast.literal_eval, given["shapes"]), strict=True))
    network = network_of(*encodings, **_sizes(encodings, shapes))
    network.load_state_dict(_weights(shapes, given["seed"].item()))
    trained = dict(network.named_parameters())
    for name, dtype in zip(given["keys"], given["dtypes"], strict=True):
        if str(trained[name].dtype) != dtype:
            raise ValueError(f"{name} is {trained[name].dtype}, in the case {dtype}")
    with_tables(network, encodings, (given["smiles"], given["seqs"]))
    network.eval()
    rows = torch.arange(len(given["y"]), device=device)
    values = torch.from_numpy(given["y"]).to(device)
    labels, affinities = Task(binary=True), Task(binary=False)
    optimiser = adam(network, LEARNING_RATE)
    arrays: dict[str, Any] = {}
    with torch.no_grad():
        logits = network(rows, rows)
        arrays = {
            "logits": logits,
            "prob": labels.answer(logits),
            "bce": labels.loss(logits, values),
            "mse": affinities.loss(logits, values),
            "v_drug": network.model_drug(rows),
            "v_prot": network.model_protein(rows),
        }
    losses = [step(labels.loss(network(rows, rows), values), optimiser)]
    arrays["grad_l2"] = [torch.linalg.vector_norm(trained[name].grad.double()) for name in given["grad_keys"]]
    losses += [step(labels.loss(network(rows, rows), values), optimiser) for _ in range(STEPS - 1)]
    with torch.no_grad():
        arrays |= {"adam_bce": losses, "logits_after3": network(rows, rows)}
    return {name: np.asarray(torch.as_tensor(value).cpu()) for name, value in arrays.items()}


def _weights(shapes: Shapes, seed: int) -> dict[str, torch.Tensor]:
    """The rule that both sides make a case's weights by."""
    weights = {}
    for place, (name, shape) in enumerate(shapes.items()):
        fan = np.prod(shape[1:]) if len(shape) > 1 else 400
        values = np.random.RandomState(seed * 1000 + place).standard_normal(shape) / np.sqrt(fan)
        if name.endswith(".gamma"):
            values += 1
        if "embeddings.weight" in name:
            values *= np.sqrt(shape[1]) * 0.5
        weights[name] = torch.from_numpy(values.astype(np.float32))
    return weights


def _sizes(encodings: tuple[str, str], shapes: Shapes) -> dict[str, Any]:
    """The package's configuration, as far as the case's arrays say it: not how many heads there are."""
    sizes: dict[str, Any] = {"cls_hidden_dims": _widths(shapes, "predictor")[:-1]}
    for kind, prefix, side, own in zip(
        encodings, ("model_drug", "model_protein"), ("drug", "protein"), ("drug", "target"), strict=True
    ):
        if kind == "CNN":
            kernels = [shape[2] for name, shape in _layers(shapes, f"{prefix}.conv")]
            sizes |= {f"cnn_{own}_filters": _widths(shapes, f"{prefix}.conv"), f"cnn_{own}_kernels": kernels}
            sizes[f"hidden_dim_{side}"] = shapes[f"{prefix}.fc1.weight"][0]
        elif kind == "Transformer":
            words, width = shapes[f"{prefix}.emb.word_embeddings.weight"]
            layers = {name.split(".")[3] for name in shapes if name.startswith(f"{prefix}.encoder.layer.")}
            sizes |= {
                f"input_dim_{side}": words,
                f"hidden_dim_{side}": width,
                f"transformer_emb_size_{own}": width,
                f"transformer_n_layer_{own}": len(layers),
                f"transformer_intermediate_size_{own}": shapes[
                    f"{prefix}.encoder.layer.0.intermediate.dense.weight"
                ][0],
            }
        else:
            *hidden, last = _widths(shapes, f"{prefix}.predictor")
            sizes |= {f"mlp_hidden_dims_{own}": hidden, f"hidden_dim_{side}": last}
            sizes[f"input_dim_{side}"] = shapes[f"{prefix}.predictor.0.weight"][1]
    return sizes


def _widths(shapes: Shapes, prefix: str) -> list[int]:
    return [shape[0] for _, shape in _layers(shapes, prefix)]


def _layers(shapes: Shapes, prefix: str) -> list[tuple[str, tuple[int, ...]]]:
    """The weights of numbered layers, in their order."""
    return [
        (name, shape)
        for name, shape in shapes.items()
        if name.startswith(f"{prefix}.") and name.endswith(".weight") and name[len(prefix) + 1].isdigit()
    ]
