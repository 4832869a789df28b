"""The first root file system, made in pure Python from locked .deb files: just enough for dpkg to run in.

The same packages give the same bytes, on any host, with no Debian tool and no base image.
dpkg then unpacks and configures the same packages over it properly (containers/_recipe/bootstrap.sh).
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from harness.images.deb import open_data, read_control

# Debian's merged /usr: these four names are links, in every package's paths too.
_MERGED = ("bin", "lib", "lib64", "sbin")
# What no program reads at run time; copyright files stay. recipe/packages.sh gives dpkg the same list.
EXCLUDED = ("usr/share/man/*", "usr/share/info/*", "usr/share/locale/*", "usr/share/doc/*", "usr/share/lintian/*")
KEPT = ("usr/share/doc/*/copyright",)
_FOLDERS = (
    "etc",
    "usr",
    *(f"usr/{name}" for name in _MERGED),
    "var",
    "var/lib",
    "var/lib/dpkg",
    "var/lib/dpkg/info",
)

# Engines mount over the three in /etc; where one is missing, each engine leaves a stub of its own.
_EMPTY = ("etc/hostname", "etc/hosts", "etc/resolv.conf", "var/lib/dpkg/available", "var/lib/dpkg/status")


def write_stage0(packages: Sequence[Path], target: Path, *, epoch: int) -> None:
    """Write the tar of all files of `packages` over a merged /usr, with an empty dpkg database."""
    names: set[str] = set()
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as out:
        for name in _FOLDERS:
            _add(out, names, _entry(name, tarfile.DIRTYPE, 0o755, epoch))
        for name in _MERGED:
            link = _entry(name, tarfile.SYMTYPE, 0o777, epoch)
            link.linkname = f"usr/{name}"
            _add(out, names, link)
        for name in _EMPTY:
            _add(out, names, _entry(name, tarfile.REGTYPE, 0o644, epoch), b"")
        for _, path in sorted((read_control(path)["Package"], path) for path in packages):
            _add_package(out, names, path, epoch)


def _add_package(out: tarfile.TarFile, names: set[str], path: Path, epoch: int) -> None:
    with open_data(path) as archive:
        for info in archive:
            name = merged(info.name)
            if not name or name in names or is_excluded(name):
                continue
            content = None
            if info.isreg():
                stream = archive.extractfile(info)
                assert stream is not None  # isreg() was true
                content = stream.read()
            entry = _entry(name, info.type if not info.isreg() else tarfile.REGTYPE, info.mode, epoch)
            entry.mtime = min(int(info.mtime), epoch)
            entry.uid, entry.gid = info.uid, info.gid
            entry.linkname = merged(info.linkname) if info.islnk() else info.linkname
            _add(out, names, entry, content)


def merged(name: str) -> str:
    """A package's path as it is called on a merged /usr, without a leading ./"""
    plain = name.removeprefix("./").strip("/")
    if plain in _MERGED or plain.split("/", 1)[0] in _MERGED:
        return f"usr/{plain}"
    return "" if plain == "." else plain


def is_excluded(name: str) -> bool:
    """Whether a path is documentation that images do without."""
    return any(fnmatchcase(name, pattern) for pattern in EXCLUDED) and not any(
        fnmatchcase(name, pattern) for pattern in KEPT
    )


def _entry(name: str, kind: bytes, mode: int, epoch: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime = kind, mode, epoch
    return entry


def _add(out: tarfile.TarFile, names: set[str], entry: tarfile.TarInfo, content: bytes | None = None) -> None:
    entry.size = len(content) if content is not None else 0
    out.addfile(entry, io.BytesIO(content) if content is not None else None)
    names.add(entry.name)
