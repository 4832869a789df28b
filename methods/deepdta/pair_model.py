"""DeepDTA's network, with the texts of the drugs and targets that it is asked about."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from affinity_letters import RESIDUES, letter_numbers
from affinity_training import Model, device
from network import Network, Sizes
from torch import Tensor

# of canonical SMILES without stereochemistry
SMILES = "#%()+-.0123456789=ABCDEFGHIKLMNOPRSTUVWYZ[]_abcdefghilmnorstuy"
DRUG_LENGTH, TARGET_LENGTH = 100, 1000


class DeepDTA(Model):
    """Drugs and targets by their places in the lists; `kernels` are the widths of windows on either side."""

    def __init__(
        self, smiles: Sequence[str], sequences: Sequence[str], kernels: tuple[int, int], dropout: float
    ) -> None:
        super().__init__()
        where = device()
        self.drug_letters, self.target_letters = (
            torch.from_numpy(letter_numbers(*texts)).to(where)
            for texts in (
                (smiles, SMILES, DRUG_LENGTH, "SMILES"),
                (sequences, RESIDUES, TARGET_LENGTH, "sequences"),
            )
        )
        sizes = Sizes((len(SMILES) + 1, len(RESIDUES) + 1))
        self.network = Network(sizes, kernels, dropout).to(where)

    def drugs(self, drugs: Tensor, counts: Tensor) -> Tensor:
        rows: Tensor = self.network.drug(self.drug_letters[drugs])
        return rows

    def targets(self, targets: Tensor) -> Tensor:
        rows: Tensor = self.network.protein(self.target_letters[targets])
        return rows

    def pairs(self, drugs: Tensor, targets: Tensor) -> Tensor:
        return self.network.pairs(drugs, targets)
