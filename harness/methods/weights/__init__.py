"""Pretrained models: named by a method's weights.toml, brought by a person, kept, and given to its containers."""

from __future__ import annotations

from harness.methods.weights.bring import bring_weights
from harness.methods.weights.cache import KeptWeights, are_here, kept_weights, weights_digest
from harness.methods.weights.manifest import WeightsManifest, load_weights, weights_names

__all__ = [
    "KeptWeights",
    "WeightsManifest",
    "are_here",
    "bring_weights",
    "kept_weights",
    "load_weights",
    "weights_digest",
    "weights_names",
]
