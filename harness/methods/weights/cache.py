"""Weights that are here: kept in the cache by revision, with the checksums they had when they were brought.

A container gets them only if they still have these checksums, and a run's key holds a digest of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import WeightsError
from harness.base.files import checksum, digest_of, read_json
from harness.base.layout import Layout
from harness.methods.weights.manifest import WeightsManifest, load_weights

CHECKSUMS = "checksums.json"


@dataclass(frozen=True)
class KeptWeights:
    """A folder with every file of a manifest, and their recorded checksums."""

    manifest: WeightsManifest
    folder: Path
    sha256: Mapping[str, str]

    @property
    def digest(self) -> str:
        """A digest of all files; their place does not matter."""
        return digest_of(dict(self.sha256))

    def verify(self) -> None:
        """Raise `WeightsError` unless every file is the recorded one; a file is read once until it changes."""
        for name, recorded in self.sha256.items():
            path = self.folder / name
            actual = checksum(path) if path.is_file() else "nothing"
            if actual != recorded:
                raise WeightsError(
                    f"the file '{name}' of {self.manifest.title} was changed",
                    where=f"{path}: sha256 is {actual}, recorded {recorded}",
                    todo=f"remove the folder {self.folder} and bring the files again",
                )

    def described(self) -> dict[str, Any]:
        """What job.json says about the weights."""
        files = {name: {"file": f"weights/{name}", "sha256": one} for name, one in sorted(self.sha256.items())}
        return {"title": self.manifest.title, "revision": self.manifest.revision, "files": files}


def weights_folder(layout: Layout, method: str, manifest: WeightsManifest) -> Path:
    """Where a method's weights are kept; another revision or list of files has another place."""
    digest = digest_of([manifest.revision, sorted(manifest.files)])
    return layout.cache / "weights" / f"{method}-{digest[:16]}"


def are_here(layout: Layout, method: str) -> bool:
    """Whether the weights of a method were brought."""
    return weights_folder(layout, method, load_weights(layout, method)).is_dir()


def kept_weights(layout: Layout, method: str) -> KeptWeights:
    """The weights of a method, or what to do to have them."""
    manifest = load_weights(layout, method)
    folder = weights_folder(layout, method, manifest)
    if not are_here(layout, method):
        raise WeightsError(
            f"{manifest.title} ({manifest.size}) is not here: `harness weights get {method}` fetches it, or with "
            "--from FOLDER takes it from a folder",
            where=str(folder),
            todo=f"the files are {', '.join(manifest.files)} of {manifest.repository}, "
            f"revision {manifest.revision}",
        )
    recorded = read_json(folder / CHECKSUMS)
    if not isinstance(recorded, dict) or set(recorded) != set(manifest.files):
        raise WeightsError(
            f"the record of {manifest.title} was changed",
            where=str(folder / CHECKSUMS),
            todo=f"remove the folder {folder} and bring the files again",
        )
    sums = {name: str(recorded[name]) for name in sorted(recorded)}
    for name, sha256 in manifest.sha256.items():
        must_be(manifest, name, sums[name], sha256, where=str(folder))
    return KeptWeights(manifest, folder, sums)


def weights_digest(layout: Layout, method: str) -> str:
    """The digest that binds a run to its weights."""
    return kept_weights(layout, method).digest


def must_be(manifest: WeightsManifest, name: str, actual: str, recorded: str, *, where: str) -> None:
    """Raise `WeightsError` unless a file has the checksum that the manifest records."""
    if actual != recorded:
        raise WeightsError(
            f"'{name}' is not the file of {manifest.title} that the manifest records",
            where=f"{where}: sha256 is {actual}, recorded {recorded}",
            todo=f"bring the file of revision {manifest.revision}, or correct weights.toml",
        )
