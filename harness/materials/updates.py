"""Which locked Debian packages an archive has in a newer version, and which of these are security updates.

The archive is the one that the caller names: a URL or a folder, or several. Its indices are believed: signatures
are not checked, because nothing is installed from what they say.
"""

from __future__ import annotations

import gzip
import lzma
import re
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from harness.base.download import Refused, transfer
from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.images.cards import environment_chain
from harness.images.debian import ARCHITECTURE
from harness.images.lock import held_packages
from harness.materials.versions import compare_versions

_SECURITY = "-security"
_SUITES = ("", "-updates", _SECURITY)
_READERS: Mapping[str, Callable[[bytes], bytes]] = {".xz": lzma.decompress, ".gz": gzip.decompress, "": bytes}
_PACKAGE = re.compile(rb"^Package: ", re.MULTILINE)
# package -> the newest version
Index = Mapping[str, str]


@dataclass(frozen=True)
class NewerPackage:
    """A locked package that is older than what the archive has."""

    name: str
    version: str
    newest: str
    # the newest version in the security suite, if it is newer than the locked one
    security: str
    environments: tuple[str, ...]


@dataclass(frozen=True)
class ArchiveComparison:
    """The locked packages of some images beside an archive."""

    packages: int
    newer: tuple[NewerPackage, ...]
    # locked packages that no index of the archive has in any version
    absent: tuple[str, ...]
    suites: tuple[str, ...]


def compare_with_archives(layout: Layout, names: Sequence[str], archives: Sequence[str]) -> ArchiveComparison:
    """The locked Debian packages of these methods and environments beside the archives' indices."""
    archives = [_place(archive) for archive in archives]
    places: dict[tuple[str, str], set[str]] = {}
    suites = set()
    for environment in {one.name: one for name in names for one in environment_chain(layout, name)}.values():
        for package in held_packages([environment]):
            places.setdefault((package.name, package.version), set()).add(environment.name)
            suites.add(environment.card.debian.suite)
    indices = [(suite, index) for base in sorted(suites) for suite, index in _indices(base, archives)]
    newer, absent = [], []
    for (name, version), environments in sorted(places.items()):
        versions = [index[name] for _, index in indices if name in index]
        secure = [index[name] for suite, index in indices if suite.endswith(_SECURITY) and name in index]
        if not versions:
            absent.append(name)
        elif compare_versions(version, newest := _newest(versions)) < 0:
            security = _newest(secure) if secure else ""
            is_later = security and compare_versions(version, security) < 0
            newer.append(
                NewerPackage(name, version, newest, security if is_later else "", tuple(sorted(environments)))
            )
    return ArchiveComparison(
        len(places), tuple(newer), tuple(absent), tuple(sorted({suite for suite, _ in indices}))
    )


def _place(archive: str) -> str:
    """The archive; of a URL of this machine's own files the folder that it names."""
    url = urlsplit(archive)
    is_folder = url.scheme == "file" and url.netloc in ("", "localhost")
    return url2pathname(url.path) if is_folder else archive


def _newest(versions: Iterable[str]) -> str:
    return max(versions, key=cmp_to_key(compare_versions))


def _indices(base: str, archives: Sequence[str]) -> Iterator[tuple[str, Index]]:
    """The index of each suite in each archive that has it; the suite and its security updates must be there."""
    seen = set()
    for extension in _SUITES:
        for archive in archives:
            if (content := _packages_file(archive, base + extension)) is not None:
                seen.add(extension)
                yield base + extension, _read(content)
    for extension in ("", _SECURITY):
        if extension not in seen:
            raise MissingData(
                f"no archive that was named has the suite {base}{extension}",
                where=", ".join(archives),
                todo="name the archive that has it too: --archive may be repeated, and Debian keeps security "
                "updates in an archive of their own",
            )


def _packages_file(archive: str, suite: str) -> bytes | None:
    """The content of a suite's index; None where the archive answers and has none."""
    folder = f"dists/{suite}/main/binary-{ARCHITECTURE}"
    for ending, decompress in _READERS.items():
        path = f"{folder}/Packages{ending}"
        content = _web_file(archive, path) if "://" in archive else _local_file(archive, path)
        if content is None:
            continue
        try:
            index = decompress(content)
            # a page that asks for a name and a password comes with status 200, too
            if index.strip() and not _PACKAGE.search(index):
                raise ValueError("no line of it begins with 'Package: '")
            return index
        except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
            raise CorruptData(
                f"an index can't be read: {error}",
                where=f"{archive.rstrip('/')}/{path}",
                todo="try another archive",
            ) from None
    return None


def _local_file(archive: str, path: str) -> bytes | None:
    if not Path(archive).is_dir():
        raise MissingData(
            "the archive is no folder and no URL", where=archive, todo="name a folder that has dists/, or a URL"
        )
    file = Path(archive) / path
    return file.read_bytes() if file.is_file() else None


def _web_file(archive: str, path: str) -> bytes | None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return transfer(f"{archive.rstrip('/')}/{path}", Path(folder) / "index", resume=False).read_bytes()
        except Refused as error:
            if str(error).startswith(("status 404", "status 403")):
                return None
            raise MissingData(
                f"an archive can't be read: {error}",
                where=f"{archive.rstrip('/')}/{path}",
                todo="check the network and the URL, or name a folder with a copy of its dists/",
            ) from None


def _read(content: bytes) -> Index:
    """The newest version of every package of an index."""
    index: dict[str, str] = {}
    name = ""
    for line in content.decode("utf-8", "replace").splitlines():
        if line.startswith("Package: "):
            name = line[9:].strip()
        elif line.startswith("Version: "):
            version = line[9:].strip()
            if name not in index or compare_versions(index[name], version) < 0:
                index[name] = version
    return index
