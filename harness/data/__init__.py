"""Datasets: from a manifest to arrays whose content is known by digest, or one clear message why not.

The way: manifest, sources (cache, mirror folders, URLs), converter, checks, converted arrays by digest.
"""

from harness.data.datasets import dataset_digest, load_dataset, recorded_digest
from harness.data.manifest import DatasetManifest, dataset_names, load_manifest, manifest_names

__all__ = [
    "DatasetManifest",
    "dataset_digest",
    "dataset_names",
    "load_dataset",
    "load_manifest",
    "manifest_names",
    "recorded_digest",
]
