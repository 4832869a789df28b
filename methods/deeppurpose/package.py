"""The package DeepPurpose as its authors published it: its encoders, its networks, and its choice of a device."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from typing import Any

# matplotlib, which the package imports, makes a folder for its settings
os.environ["MPLCONFIGDIR"] = "/tmp/matplotlib"

from DeepPurpose import DTI, encoders, pybiomed_helper, utils
from rdkit import RDLogger
from torch import nn

__all__ = ["device", "network_of", "quietly", "utils"]

device = encoders.device
# a line for each drug that it can't read, and one for each fingerprint: the method warns of the former all at once
RDLogger.DisableLog("rdApp.*")


def network_of(drug_encoding: str, target_encoding: str, **sizes: Any) -> nn.Module:
    """The package's network with fresh weights, of its own sizes where no others are given."""
    with tempfile.TemporaryDirectory() as folder, quietly():
        config = utils.generate_config(drug_encoding, target_encoding, result_folder=folder)
        network: nn.Module = DTI.DBTA(**{**config, **sizes}).model
    return network


def quietly() -> contextlib.redirect_stdout[io.StringIO]:
    """What the package prints of each text that it can't read is dropped, for the same reason."""
    return contextlib.redirect_stdout(io.StringIO())


def triples(sequence: str) -> dict[str, int]:
    """How often each of the 8,000 words of three residues stands in a sequence, without overlaps.

    The package searches for every word with an expression of its own; these are the same counts in a hundredth of
    the time.
    """
    counts = dict.fromkeys(_TRIPLES, 0)
    counts |= {
        word: sequence.count(word)
        for word in {sequence[start : start + 3] for start in range(len(sequence) - 2)}
        if word in counts
    }
    return counts


_TRIPLES = pybiomed_helper.Getkmers()
pybiomed_helper.GetSpectrumDict = triples
