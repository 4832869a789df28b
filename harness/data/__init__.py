"""Datasets: from a manifest to arrays whose content is known by digest, or one clear message why not.

The way: manifest, sources (cache, mirror folders, URLs), converter, checks, converted arrays by digest.
"""

from harness.data.datasets import dataset_digest, load_dataset
from harness.data.manifest import DatasetManifest, load_manifest, manifest_names, sound_names

__all__ = ["DatasetManifest", "dataset_digest", "load_dataset", "load_manifest", "manifest_names", "sound_names"]
