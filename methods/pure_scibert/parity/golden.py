"""The golden cases of texts, orders and decoding, of the classifier, and of its training with small encoders."""

from __future__ import annotations

from combination_goldens import batches as batches
from combination_goldens import corpus as corpus
from combination_goldens import decoding as decoding
from combination_goldens import documents as documents
from combination_goldens import orders as orders
from network_goldens import batch as batch
from network_goldens import training as training
