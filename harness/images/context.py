"""The folder an engine builds from: parts checked against their locks, under the names that tools expect."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.builder import RECIPE
from harness.images.cards import Environment, epoch_of
from harness.images.conda import read_conda
from harness.images.limits import LIMITS, LIMITS_FILE
from harness.images.lock import held_packages
from harness.images.locks import Part, read_debian, read_wheels
from harness.images.parts import checked_part
from harness.images.sources import code_files, refuse_links
from harness.images.stage0 import write_stage0


def parts_of(environment: Environment, accelerator: Accelerator) -> list[Part]:
    """Every file that one environment's own locks name."""
    parts: list[Part] = []
    for backend in environment.backends:
        path = environment.lock_path(backend, accelerator)
        if backend == "debian":
            parts += [package.part for package in read_debian(path)]
        elif backend == "wheels":
            parts += [wheel.part for wheel in read_wheels(path)]
        else:
            parts += read_conda(path)
    return parts


def fill_environment_context(
    layout: Layout, chain: Sequence[Environment], accelerator: Accelerator, folder: Path
) -> None:
    """Fill a folder with all that the last environment of `chain` is built from, and nothing else."""
    environment = chain[-1]
    shutil.copyfile(layout.root / "Dockerfile", folder / RECIPE)
    refuse_links(layout.containers / "_recipe")
    shutil.copytree(layout.containers / "_recipe", folder / "recipe")
    (folder / LIMITS_FILE).write_text(LIMITS.text)
    folders = {"debian": "debs", "wheel": "wheels", "source": "sources", "conda": "conda"}
    by_kind = {kind: folder / name for kind, name in folders.items()}
    for path in by_kind.values():
        path.mkdir()
    for part in parts_of(environment, accelerator):
        link(checked_part(layout, part), by_kind[part.kind] / part.file)
    if environment.card.conda is not None:
        shutil.copyfile(environment.lock_path("conda", accelerator), folder / "conda.lock")
    write_installed(chain, folder / "installed.txt")
    if len(chain) == 1:
        debs = sorted(by_kind["debian"].glob("*.deb"))
        write_stage0(debs, folder / "stage0.tar", epoch=epoch_of(chain))
    wheels = []
    if environment.card.wheels is not None:
        wheels = read_wheels(environment.lock_path("wheels", accelerator))
    required = [wheel.requirement for wheel in wheels if not wheel.installer and not wheel.flags]
    (folder / "requirements.txt").write_text("".join(f"{line}\n" for line in required))
    sources = [f"{wheel.file} {wheel.flags}" for wheel in wheels if wheel.flags]
    (folder / "sources.txt").write_text("".join(f"{line}\n" for line in sources))


def require_built(folder: Path, wheels: Sequence[Path]) -> None:
    """Add wheels that were made from sources to the requirements, like the locked ones."""
    with (folder / "requirements.txt").open("a") as stream:
        for wheel in sorted(wheels):
            name, version = wheel.name.split("-")[:2]
            stream.write(f"{name}=={version} --hash=sha256:{sha256_of(wheel)}\n")


def write_installed(chain: Sequence[Environment], path: Path) -> None:
    """Write what dpkg must report once a whole chain is installed, sorted as `LC_ALL=C sort` does."""
    # a set: what `harness notebook` adds to a method's image may be there in part
    rows = sorted({f"{p.name} {p.version} {p.architecture} installed" for p in held_packages(chain)})
    path.write_text("\n".join(rows) + "\n")


def fill_method_context(layout: Layout, method: Path, sdk: Sequence[Path], folder: Path) -> None:
    """Fill a folder with a method's code and what it shares; modes do not depend on this system's umask."""
    shutil.copyfile(layout.root / "Dockerfile", folder / RECIPE)
    for shared in sdk:
        _copy_code(shared, folder / "sdk", code_files(shared))
    _copy_code(method, folder / "method", code_files(method))


def _copy_code(source: Path, target: Path, files: Iterable[str]) -> None:
    target.mkdir(mode=0o755, exist_ok=True)
    target.chmod(0o755)
    for relative in files:
        final = target / relative
        final.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / relative, final)
        executable = (source / relative).stat().st_mode & 0o100
        final.chmod(0o755 if executable else 0o644)
    for path in target.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)


def link(source: Path, target: Path) -> None:
    """Make a hard link where the file system allows it, else a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
