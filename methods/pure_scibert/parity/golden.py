"""The golden cases of the classifier and of its training; the encoder is a small one of each case."""

from __future__ import annotations

from network_goldens import batch as batch
from network_goldens import training as training
