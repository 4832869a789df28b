"""Bringing weights: from a folder, from mirror folders, or from where they are published. All come, or none."""

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
    """Copies of all files in the cache, with their checksums; what is there already stays, and is checked."""
    manifest = load_weights(layout, method)
    final = weights_folder(layout, method, manifest)
    if not final.is_dir():
        with folder_in_the_making(final) as making:
            sums = {name: _bring(manifest, name, making / name, given, mirrors, say) for name in manifest.files}
            write_json(making / CHECKSUMS, sums)
    kept = kept_weights(layout, method)
    kept.verify()
    return kept


def _bring(
    manifest: WeightsManifest, name: str, target: Path, given: Path | None, mirrors: Sequence[Path], say: Say
) -> str:
    """One file, and its checksum."""
    url = manifest.url(name)
    folders = [given / name] if given else [folder / mirror_path(url) for folder in mirror_folders(mirrors)]
    source = next((path for path in folders if path.is_file()), None)
    tried = [f"{path}: no such file" for path in folders]
    if source is not None:
        shutil.copyfile(source, target)
    elif given is not None or (failure := _download(url, target)):
        if given is None:
            tried.append(f"{url}: {failure}")
        raise WeightsError(
            f"'{name}' of {manifest.title} is in none of its sources",
            where="\n         ".join(tried),
            todo=f"get the files of {manifest.repository}, revision {manifest.revision}, elsewhere and give their "
            "folder with --from",
        )
    found = sha256_of(target)
    if name in manifest.sha256:
        must_be(manifest, name, found, manifest.sha256[name], where=str(source or url))
    say(f"{name}: {target.stat().st_size} bytes, sha256 {found}")
    return found


def _download(url: str, target: Path) -> str:
    """Fetch a file whose checksum nobody may have recorded; says what went wrong."""
    try:
        transfer(url, target, resume=False)
    except Refused as error:
        return str(error)
    return ""
