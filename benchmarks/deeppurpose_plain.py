"""Runs in DeepPurpose's image: ours or the package's own trainer, on one thread; prints CPU seconds and memory."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time

import numpy as np
import torch
from dti_sdk import Pairs
from package import DTI, network_of, pybiomed_helper, quietly, triples, utils
from sides import with_tables
from training import Task, answers, fit

WHOSE, *ENCODINGS = sys.argv[1:]
SMILES, SEQUENCES = ([str(text) for text in np.load(f"/in/{name}.npy")] for name in ("smiles", "sequences"))
PAIRS, VALUES = (np.load(f"/in/{name}.npy") for name in ("pairs", "values"))
SIZE = 256


def package() -> list[float]:
    """When each part began, and when the last ended."""
    moments = [time.process_time()]
    # as the package has it
    pybiomed_helper.GetSpectrumDict = lambda text: {word: len(re.findall(word, text)) for word in triples("")}
    texts = ([own[place] for place in column] for own, column in zip((SMILES, SEQUENCES), PAIRS.T, strict=True))
    frame = utils.data_process(*texts, VALUES, *ENCODINGS, split_method="no_split")
    config = utils.generate_config(*ENCODINGS, result_folder="result", train_epoch=1, batch_size=SIZE)
    model = DTI.DBTA(**config)
    moments.append(time.process_time())
    model.train(frame, None, None, verbose=False)
    moments.append(time.process_time())
    with torch.no_grad():
        model.predict(frame)
    return [*moments, time.process_time()]


def ours() -> list[float]:
    """The same."""
    moments = [time.process_time()]
    network = network_of(*ENCODINGS)
    with_tables(network, tuple(ENCODINGS), (SMILES, SEQUENCES))
    moments.append(time.process_time())
    pairs = PAIRS.astype(np.int64)
    train = Pairs(pairs, VALUES)
    fit(network, train, Pairs(pairs[:0], VALUES[:0]), {"epochs": 1, "batch_size": SIZE, "learning_rate": 1e-4})
    moments.append(time.process_time())
    answers(network, Task(binary=False), pairs, SIZE)
    return [*moments, time.process_time()]


def main() -> None:
    """The one that is asked for."""
    # the package's trainer leaves folders where it runs
    os.chdir("/tmp")
    with quietly():
        moments = {"ours": ours, "package": package}[WHOSE]()
    seconds = dict(zip(("reading", "training", "scoring"), np.diff(moments).tolist(), strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(json.dumps({**seconds, "peak": peak}) + "\n")


main()
