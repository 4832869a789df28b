"""What is chosen for one setting: the published code has other numbers for S1 than for S2, and by dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Choices:
    """`own_vectors`: drugs have vectors of their own, not ones made from their fingerprints."""

    learning_rate: float
    weight_decay: float
    batch_size: int
    width: int
    layers: int
    own_vectors: bool

    @classmethod
    def of(cls, parameters: Mapping[str, Any], setting: int, *, multilabel: bool) -> Choices:
        """Those parameters whose names end in _s1 or _s2, followed by _multilabel for such a dataset."""
        ending = f"_s{setting}" + "_multilabel" * multilabel
        return cls(**{one.name: parameters[one.name + ending] for one in fields(cls)})
