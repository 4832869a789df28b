"""Runs in DeepPurpose's image: our training beside the package's own, and what becomes of texts it can't read.

Prints one number or list for each.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from dti_sdk import Pairs
from golden import steps
from package import DTI, network_of, quietly, triples, utils
from permafrost_sdk import Case
from sides import Side, with_tables
from torch import nn
from training import Task, answers, fit

SMILES = ["CCO", "c1ccccc1C(=O)O", "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "C", "N#CC1=CC=CC=C1Cl", "[Na+].[Cl-]"]
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
EPOCHS, SIZE = 2, 8
STATES = ("published", "without dropout")


def sequences() -> list[str]:
    """Of many lengths; one longer than what is read, one with a residue that has no letter."""
    draw = np.random.default_rng(5)
    texts = ["".join(draw.choice(list(LETTERS), size)) for size in (3, 40, 200, 985, 1200)]
    return [*texts, texts[1][:20] + "*x" + texts[1][20:]]


def drawn(binary: bool) -> tuple[Pairs, Pairs, Pairs]:
    """Pairs to train on, to choose by, to be asked."""
    draw = np.random.default_rng(9)
    pairs = draw.integers(len(SMILES), size=(48, 2))
    values = (pairs.sum(axis=1) % 2 if binary else draw.normal(size=48) + pairs[:, 0]).astype(np.float64)
    return tuple(Pairs(pairs[part], values[part]) for part in (slice(20), slice(20, 40), slice(40, 48)))


def frame(part: Pairs, encodings: Sequence[str]) -> pd.DataFrame:
    """Pairs as the package takes them."""
    texts = sequences()
    drugs, targets = (
        [own[place] for place in column] for own, column in zip((SMILES, texts), part.pairs.T, strict=True)
    )
    return utils.data_process(drugs, targets, part.values, *encodings, split_method="no_split")


def without_dropout(network: nn.Module, state: str) -> nn.Module:
    """The network, if so asked for, with nothing left to chance."""
    if state == "without dropout":
        for layer in network.modules():
            if isinstance(layer, nn.Dropout):
                layer.p = 0.0
    return network


def packages(encodings: tuple[str, str], binary: bool, state: str) -> np.ndarray:
    """What the package's own trainer makes of it."""
    train, valid, asked = drawn(binary)
    with quietly():
        config = utils.generate_config(*encodings, result_folder="result", train_epoch=EPOCHS, batch_size=SIZE)
        torch.manual_seed(3)
        model = DTI.DBTA(**config)
        without_dropout(model.model, state)
        torch.manual_seed(4)
        model.train(frame(train, encodings), frame(valid, encodings), None, verbose=False)
        return np.array(model.predict(frame(asked, encodings)))


def ours(encodings: tuple[str, str], binary: bool, state: str) -> np.ndarray:
    """What we make of it."""
    train, valid, asked = drawn(binary)
    torch.manual_seed(3)
    network = without_dropout(network_of(*encodings), state)
    with_tables(network, encodings, (SMILES, sequences()))
    torch.manual_seed(4)
    fit(network, train, valid, {"epochs": EPOCHS, "batch_size": SIZE, "learning_rate": 1e-4})
    return answers(network, Task(binary), asked.pairs, SIZE)


def trained() -> dict[str, float]:
    """Largest difference of scores, and how far training moved them."""
    found = {}
    for encodings in (("CNN", "CNN"), ("Morgan", "AAC"), ("Daylight", "AAC"), ("Transformer", "Transformer")):
        # where an encoder itself draws, we draw for fewer numbers, so that the streams part
        state = STATES["Transformer" in encodings]
        for binary in (True, False):
            name = f"{'/'.join(encodings)}, {'labels' if binary else 'affinities'}"
            theirs = packages(encodings, binary, state)
            found[f"{name}: difference"] = float(np.abs(ours(encodings, binary, state) - theirs).max())
            found[f"{name}: spread"] = float(theirs.std())
    return found


def shared() -> dict[str, list[int]]:
    """How many encodings a step of eight pairs of two targets asks for: with dropout inside, one for each pair."""
    found = {}
    for kind in ("CNN", "Transformer", "AAC"):
        network = network_of("Morgan", kind)
        with_tables(network, ("Morgan", kind), (SMILES, sequences()))
        side: Side = network.model_protein
        found[kind] = [_encoded(side.train(training)) for training in (True, False)]
    return found


def _encoded(side: Side) -> int:
    counts = []
    mark = side.encoder.register_forward_hook(lambda *arguments: counts.append(len(arguments[-1])))
    side(torch.tensor([1, 2] * 4))
    mark.remove()
    return sum(counts)


def warned() -> dict[str, list[str]]:
    """What is said of texts that the package can't read, or cuts; unknown texts are nobody's fault."""
    long = "".join(np.random.default_rng(1).choice(list(LETTERS), 3000))
    drugs, targets = ["CCO", "not a molecule", "[Na+]", "", "C" * 101], ["MKV", "mkv", "M", "", long]
    found = {}
    for encodings in (("CNN", "CNN"), ("Transformer", "Transformer"), ("Morgan", "AAC"), ("Daylight", "AAC")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            with_tables(network_of(*encodings), encodings, (drugs, targets))
        found["/".join(encodings)] = [str(one.message) for one in caught if one.category is UserWarning]
    return found


def unclear() -> dict[str, object]:
    """Validation that says nothing, and values that are no labels."""
    train, valid, asked = drawn(True)
    parameters = {"epochs": 2, "batch_size": SIZE, "learning_rate": 1e-2}
    scores = []
    for part in (Pairs(valid.pairs[:0], valid.values[:0]), Pairs(valid.pairs, np.ones(len(valid.values)))):
        torch.manual_seed(3)
        network = network_of("Morgan", "AAC")
        with_tables(network, ("Morgan", "AAC"), (SMILES, sequences()))
        scores += [answers(network, Task(True), asked.pairs, SIZE)]
        fit(network, train, part, parameters)
        scores += [answers(network, Task(True), asked.pairs, SIZE)]
    try:
        Task.of(np.array([5.0, 7.0]))
        error = ""
    except ValueError as refusal:
        error = str(refusal)
    moved = [float(np.abs(scores[place] - scores[place + 1]).max()) for place in (0, 2)]
    return {"moved without validation": moved, "two values": error}


# other numbers of layers and other widths than the package's own
OTHERS = {
    ("CNN", "AAC"): {
        "cnn_drug_filters": [8, 12], "cnn_drug_kernels": [3, 5], "hidden_dim_drug": 20,
        "mlp_hidden_dims_target": [16], "hidden_dim_protein": 24, "cls_hidden_dims": [30],
    },
    ("Transformer", "CNN"): {
        "transformer_emb_size_drug": 16, "hidden_dim_drug": 16, "transformer_intermediate_size_drug": 24,
        "transformer_n_layer_drug": 3, "cnn_target_filters": [8, 12, 9, 7], "cnn_target_kernels": [3, 5, 2, 9],
        "hidden_dim_protein": 20, "cls_hidden_dims": [30, 10],
    },
}  # fmt: skip


def replayed() -> dict[str, float]:
    """How far a golden case of other sizes is from the package itself, with weights by the goldens' rule."""
    found = {}
    for encodings, sizes in OTHERS.items():
        plain = network_of(*encodings, **sizes).eval()
        names = dict(plain.named_parameters())
        with torch.no_grad():
            for place, (name, own) in enumerate(names.items()):
                drawn = np.random.RandomState(7000 + place).standard_normal(tuple(own.shape))
                drawn /= np.sqrt(np.prod(own.shape[1:]) if own.dim() > 1 else 400)
                drawn = drawn * np.sqrt(own.shape[1]) / 2 if "embeddings.weight" in name else drawn
                own.copy_(torch.from_numpy((drawn + name.endswith(".gamma")).astype(np.float32)))
        case = {
            "drug_encoding": encodings[:1], "target_encoding": encodings[1:], "seed": np.array([7]),
            "keys": list(names), "grad_keys": list(names),
            "shapes": [str(tuple(own.shape)) for own in names.values()],
            "dtypes": [str(own.dtype) for own in names.values()], "smiles": SMILES, "seqs": sequences(),
            "y": np.arange(len(SMILES), dtype=np.float32) % 2,
        }  # fmt: skip
        rows = Pairs(np.arange(len(SMILES)).repeat(2).reshape(-1, 2), case["y"])
        loader = utils.data_process_loader(
            np.arange(len(SMILES)), case["y"], frame(rows, encodings),
            drug_encoding=encodings[0], target_encoding=encodings[1],
        )  # fmt: skip
        drugs, targets, _ = next(iter(torch.utils.data.DataLoader(loader, batch_size=len(SMILES))))
        with torch.no_grad():
            logits = plain(drugs, targets).numpy()
        found["/".join(encodings)] = float(np.abs(logits - steps(Case(case, {}))["logits"]).max())
    return found


def main() -> None:
    """All of them."""
    # the package's trainer leaves folders where it runs
    os.chdir("/tmp")
    text = sequences()[3] + "AAAAAA" + "ACACACA"
    counts = [len(re.findall(word, text)) for word in triples("")]
    found = {**trained(), "shared": shared(), "warned": warned(), **unclear(), "replayed": replayed()}
    found["triples"] = list(triples(text).values()) == counts
    sys.stdout.write(json.dumps(found) + "\n")


main()
