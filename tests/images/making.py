"""Hand-made packages and environments: small enough to read, real enough for dpkg, conda and the engines."""

from __future__ import annotations

import hashlib
import io
import lzma
import shutil
import tarfile
from collections.abc import Collection, Mapping
from pathlib import Path

from harness.base.layout import Layout
from harness.images.fetch import fetch_parts, find_sources
from harness.images.locks import DebianPackage, format_debian
from harness.images.parts import part_path
from harness.images.preparation import needed_parts

EPOCH = 1767225600


def tar_of(files: Mapping[str, bytes | str], *, mtime: int = EPOCH + 99, programs: Collection[str] = ()) -> bytes:
    """A tar of files (bytes), links (text) and folders (names that end with /)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.mode = mtime, 0o755
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                archive.addfile(entry)
            elif name.endswith("/"):
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                entry.mode, entry.size = 0o755 if name in programs else 0o644, len(content)
                archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def make_deb(
    folder: Path,
    name: str,
    files: Mapping[str, bytes | str],
    *,
    version: str = "1.0",
    after: str = "",
    **fields: str,
) -> Path:
    """A Debian package made by hand; `after` is the script that dpkg runs when its files are there."""
    control = {"Package": name, "Version": version, "Architecture": "all", "Maintainer": "Nobody <no@example.org>"}
    control |= {**fields, "Description": "made by a test"}
    text = "".join(f"{key}: {value}\n" for key, value in control.items())
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": lzma.compress(_control(text, after)),
        "data.tar.xz": lzma.compress(tar_of(files)),
    }
    path = folder / f"{name}_{version}_all.deb"
    path.write_bytes(b"!<arch>\n" + b"".join(ar_member(*item) for item in members.items()))
    return path


def _control(text: str, after: str) -> bytes:
    """The control archive; a script in it must be a program."""
    files = {"./": b"", "./control": text.encode()}
    return tar_of(files | ({"./postinst": after.encode()} if after else {}), programs={"./postinst"})


def ar_member(name: str, content: bytes) -> bytes:
    """One member of a package, as `ar` lays it out."""
    header = f"{name:16}{EPOCH:<12}{0:<6}{0:<6}{'100644':8}{len(content):<10}`\n".encode()
    return header + content + b"\n" * (len(content) % 2)


def locked(deb: Path, *, version: str = "1.0") -> DebianPackage:
    """The lock line of a hand-made package."""
    content = deb.read_bytes()
    name = deb.name.split("_")[0]
    sha256 = hashlib.sha256(content).hexdigest()
    return DebianPackage(name, version, "all", len(content), sha256, f"pool/{deb.name}")


class Workbench:
    """A copy of the repository's environments with room for made-up ones, over the real cache."""

    def __init__(self, repository: Layout, folder: Path) -> None:
        self.layout = Layout(root=folder, cache=repository.cache, local=folder / "local")
        shutil.copytree(repository.containers, self.layout.containers)
        shutil.copyfile(repository.root / "Dockerfile", folder / "Dockerfile")
        self._folder = folder
        self._parts: list[Path] = []

    def environment(self, name: str, text: str) -> Path:
        """Write an environment.toml; returns its folder."""
        folder = self.layout.containers / name
        folder.mkdir(exist_ok=True)
        (folder / "environment.toml").write_text(text)
        return folder

    def debian(
        self, name: str, files: Mapping[str, bytes | str], *, extends: str = "_base", after: str = ""
    ) -> Path:
        """An environment that adds one hand-made package, locked and in the store."""
        package = f"permafrost-test-{name.replace('_', '-')}"
        deb = make_deb(self._folder, package, files, after=after)
        folder = self.environment(
            name,
            f'summary = "made by a test"\nextends = "{extends}"\nlanguage = "octave"\n'
            f'check = ["/bin/true"]\n[debian]\npackages = ["{package}"]\n',
        )
        line = locked(deb)
        (folder / "debian.lock").write_text(format_debian([line], name=name))
        self.store(deb, part_path(self.layout, line.part))
        return folder

    def store(self, source: Path, target: Path) -> None:
        """Put a file into the store until the test ends."""
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        self._parts.append(target)

    def fetch(self, *environments: str) -> None:
        """Fetch the parts of real environments, as a build would: on a new machine none was made yet."""
        fetch_parts(self.layout, needed_parts(self.layout, environments), find_sources(self.layout))

    def clean(self) -> None:
        """Take out of the store what this test put in."""
        for path in self._parts:
            path.unlink(missing_ok=True)
