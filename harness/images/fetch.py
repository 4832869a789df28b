"""Filling the store of parts: several sources per file, in order, each file verified, nothing half-written.

Folders (--mirror, $PERMAFROST_MIRROR), this system's own apt and pip with their proxies and
certificates, and for Debian packages the archives that $PERMAFROST_DEBIAN_MIRROR names, for example a snapshot.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.base.download import mirror_folders
from harness.base.errors import CorruptData, DataError, MissingData
from harness.base.heartbeat import activity
from harness.base.large_files import file_in_the_making
from harness.base.layout import Layout
from harness.base.ownership import abandoned_folders, own_folder
from harness.base.plurals import counted
from harness.base.progress import Progress as ShownProgress
from harness.images import archives, conda, wheels
from harness.images.cards import BASE, load_environment
from harness.images.locks import Part
from harness.images.parts import admit, checked_part, incoming, missing_parts

PARALLEL = 4
_HINTS = {
    "debian": ", or the URL of a Debian archive or snapshot ($PERMAFROST_DEBIAN_MIRROR)",
    "wheel": ", or an index that pip knows (`pip config list`)",
    "source": ", or an index that pip knows (`pip config list`)",
    "conda": ", or the URL that your channels lie under ($PERMAFROST_CONDA_MIRROR)",
}
# a version such as 2.13.0+cpu
_LOCAL_BUILD = (
    ". Builds whose version has a '+' are kept in their publisher's own index, not in the public one: name that "
    "index in $PIP_EXTRA_INDEX_URL, or a folder that holds the file in $PIP_FIND_LINKS"
)
Progress = Callable[[int, int, Part], None]


@dataclass(frozen=True)
class PartSources:
    """Where parts may come from."""

    mirrors: Sequence[Path] = ()
    archives: Sequence[str] = ()
    fallbacks: Sequence[str] = ()
    network: bool = True


def find_sources(layout: Layout, mirrors: Sequence[Path] = (), *, network: bool = True) -> PartSources:
    """The configured sources: options first, then $PERMAFROST_MIRROR and $PERMAFROST_DEBIAN_MIRROR."""
    archives = os.environ.get("PERMAFROST_DEBIAN_MIRROR", "").split()
    fallbacks = load_environment(layout, BASE).card.debian.archives
    return PartSources(mirrors=mirror_folders(mirrors), archives=archives, fallbacks=fallbacks, network=network)


def fetch_parts(
    layout: Layout, parts: Sequence[Part], sources: PartSources, *, progress: Progress | None = None
) -> int:
    """Fetch what is not in the store yet; returns how many files that was. The first failure stops the rest."""
    missing = missing_parts(layout, parts)
    if not missing:
        return 0
    for leftover in abandoned_folders(incoming(layout)):
        shutil.rmtree(leftover, ignore_errors=True)
    count = 0
    what = f"fetching {counted(len(missing), 'part')}"
    with activity(what), ThreadPoolExecutor(PARALLEL) as pool:
        pending = {pool.submit(_fetch, layout, part, sources): part for part in missing}
        try:
            for future in as_completed(pending):
                future.result()
                count += 1
                if progress is not None:
                    progress(count, len(missing), pending[future])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return count


@dataclass(frozen=True)
class Supply:
    """Where parts come from when one turns out to be missing."""

    mirrors: Sequence[Path] = ()
    network: bool = True
    progress: Progress | None = None
    # called with what is about to be built, because that can take minutes
    announce: Callable[[str], None] = lambda _what: None

    def fetch(self, layout: Layout, parts: Sequence[Part]) -> int:
        """Fetch what is not in the store yet; returns how many files that was."""
        sources = find_sources(layout, self.mirrors, network=self.network)
        return fetch_parts(layout, parts, sources, progress=self.progress)


def few_notes(shown: ShownProgress) -> Progress:
    """A callback that notes the first and the last of many parts; a line for each would hide all others."""

    def tell(done: int, total: int, _part: Part) -> None:
        if done in (1, total):
            shown.note(f"fetched {done} of {counted(total, 'part')}")

    return tell


def export_parts(layout: Layout, parts: Sequence[Part], target: Path) -> int:
    """Copy fetched parts into a folder that serves as a --mirror, so that no archive is needed ever again."""
    count = 0
    for part in {part.sha256: part for part in parts}.values():
        source, final = checked_part(layout, part), target / part.sha256[:2] / part.sha256
        if final.is_file():
            continue
        final.parent.mkdir(parents=True, exist_ok=True)
        with file_in_the_making(final) as making:
            shutil.copyfile(source, making)
        count += 1
    return count


def _fetch(layout: Layout, part: Part, sources: PartSources) -> Path:
    failures: list[str] = []
    corrupt: CorruptData | None = None
    for name, get in _ways(part, sources):
        with tempfile.TemporaryDirectory(dir=own_folder(incoming(layout))) as folder:
            try:
                download = get(Path(folder))
                if download is not None:
                    return admit(layout, part, download)
                failures.append(f"{name}: not there")
            except CorruptData as error:
                corrupt = error
                failures.append(f"{name}: {error.what}")
            except DataError as error:
                failures.append(f"{name}: {error.what}")
    attempts = "\n         ".join(failures) or "no source is configured for it"
    if corrupt is not None:
        raise CorruptData(corrupt.what, where=attempts, todo=corrupt.todo)
    local = _LOCAL_BUILD if part.kind == "wheel" and "+" in part.path else ""
    raise MissingData(
        f"{part.file} is in none of its sources",
        where=attempts,
        todo=f"check the network, or give a folder that has it (--mirror DIR){_HINTS[part.kind]}{local}; "
        f"wanted: {part.path}, sha256 {part.sha256}",
    )


def _ways(part: Part, sources: PartSources) -> list[tuple[str, Callable[[Path], Path | None]]]:
    ways: list[tuple[str, Callable[[Path], Path | None]]] = [
        (str(mirror), partial(_from_mirror, mirror, part)) for mirror in sources.mirrors
    ]
    if not sources.network:
        return ways
    if part.kind in ("wheel", "source"):
        ways.append(("pip", partial(wheels.pip_download, part)))
    elif part.kind == "debian":
        ways += [(url, partial(archives.download, url, part)) for url in sources.archives]
        ways += [(f"apt: {url}", partial(archives.download_by_apt, url, part)) for url in archives.apt_archives()]
        ways += [(url, partial(archives.download, url, part)) for url in sources.fallbacks]
    else:
        ways += [(url, partial(archives.download, url, part)) for url in conda.channel_roots()]
    return ways


def _from_mirror(mirror: Path, part: Part, folder: Path) -> Path | None:
    """A copy from a mirror, which may be laid out by sha256, like an archive, or flat."""
    places = (Path(part.sha256[:2]) / part.sha256, Path(part.sha256), Path(part.path), Path(part.file))
    for place in places:
        if (mirror / place).is_file():
            return Path(shutil.copyfile(mirror / place, folder / part.file))
    return None
