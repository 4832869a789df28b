"""Bringing weights from a folder, from mirror folders, or from where they are published: all files, or none."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.base.download import Refused, mirror_folders, transfer
from harness.base.errors import WeightsError
from harness.base.files import folder_in_the_making, sha256_of, write_json
from harness.base.layout import Layout
from harness.data.manifest import mirror_path
from harness.methods.weights.cache import CHECKSUMS, KeptWeights, kept_weights, must_be, weights_folder
from harness.methods.weights.manifest import WeightsManifest, load_weights

Say = Callable[[str], None]


def bring_weights(
    layout: Layout, method: str, *, given: Path | None = None, mirrors: Sequence[Path] = (), say: Say
) -> KeptWeights:
    """All files of a model in the cache, with their checksums; files that are there already are checked."""
    manifest = load_weights(layout, method)
    final = weights_folder(layout, method, manifest)
    if not final.is_dir():
        with folder_in_the_making(final) as making:
            sums = {name: _bring(manifest, name, making / name, given, mirrors, say) for name in manifest.files}
            write_json(making / CHECKSUMS, sums)
    weights = kept_weights(layout, method)
    weights.verify()
    return weights


def _bring(
    manifest: WeightsManifest, name: str, target: Path, given: Path | None, mirrors: Sequence[Path], say: Say
) -> str:
    """Copy one file to `target`; returns its checksum."""
    url = manifest.url(name)
    folders = [given / name] if given else [folder / mirror_path(url) for folder in mirror_folders(mirrors)]
    source = next((path for path in folders if path.is_file()), None)
    failures = [f"{path}: no such file" for path in folders]
    if source is not None:
        shutil.copyfile(source, target)
    elif given is not None or (failure := _download(url, target)):
        if given is None:
            failures.append(f"{url}: {failure}")
        raise WeightsError(
            f"'{name}' of {manifest.title} is in none of its sources",
            where="\n         ".join(failures),
            todo=f"get the files of {manifest.repository}, revision {manifest.revision}, elsewhere and give their "
            "folder with --from",
        )
    sha256 = sha256_of(target)
    if name in manifest.sha256:
        must_be(manifest, name, sha256, manifest.sha256[name], where=str(source or url))
    say(f"{name}: {target.stat().st_size} bytes, sha256 {sha256}")
    return sha256


def _download(url: str, target: Path) -> str:
    """Fetch a file whose checksum may be unrecorded; returns why that failed, else an empty text."""
    try:
        transfer(url, target, resume=False)
    except Refused as error:
        return str(error)
    return ""
