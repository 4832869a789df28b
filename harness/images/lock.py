"""Making locks: what a person asked for becomes exact versions and sha256, written beside the request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness.base.errors import ManifestError
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.base.vocabulary import Accelerator
from harness.images.cards import Environment, environment_chain
from harness.images.conda import lock_conda
from harness.images.debian import ESSENTIAL, Apt, close_over
from harness.images.locks import (
    DebianPackage,
    Wheel,
    format_debian,
    format_wheels,
    missing_lock,
    read_debian,
    read_wheels,
)
from harness.images.parts import checked_part
from harness.images.record import variant_of
from harness.images.wheels import lock_wheels

Say = Callable[[str], None]


def lock_environment(layout: Layout, name: str, *, say: Say) -> list[Path]:
    """Make every lock of one environment, whose parents are locked and fetched; returns their paths."""
    chain = environment_chain(layout, name)
    environment = chain[-1]
    paths = []
    if "debian" in environment.backends:
        packages = _lock_debian(layout, chain)
        path = environment.lock_path("debian", "cpu")
        write_atomic(path, format_debian(packages, name=name))
        say(f"{path.name}: {counted(len(packages), 'package')}, {sum(p.size for p in packages) / 1e6:.1f} MB")
        paths.append(path)
    if environment.card.wheels is not None:
        for accelerator, part in environment.card.variants.items():
            if part.not_lockable:
                say(f"no lock for {accelerator}: {part.not_lockable}")
                continue
            where = str(environment.folder / "environment.toml")
            held = _held_wheels(chain[:-1], accelerator)
            wheels = lock_wheels(environment.card.wheels, part.wheels, held, where=where)
            path = environment.lock_path("wheels", accelerator)
            write_atomic(path, format_wheels(wheels, name=name))
            say(f"{path.name}: {counted(len(wheels), 'wheel')}")
            paths.append(path)
    if environment.card.conda is not None:
        path = environment.lock_path("conda", "cpu")
        write_atomic(path, lock_conda(environment))
        say(f"{path.name}: made by conda-lock")
        paths.append(path)
    return paths


def held_packages(chain: Sequence[Environment]) -> list[DebianPackage]:
    """All Debian packages that a chain of environments installs."""
    return [
        package
        for environment in chain
        if "debian" in environment.backends
        for package in read_debian(environment.lock_path("debian", "cpu"))
    ]


def _held_wheels(chain: Sequence[Environment], accelerator: Accelerator) -> list[Wheel]:
    """All wheels that a chain of environments installs."""
    return [
        wheel
        for environment in chain
        if environment.card.wheels is not None
        for wheel in read_wheels(environment.lock_path("wheels", variant_of(environment, accelerator)))
        if not wheel.installer
    ]


def _lock_debian(layout: Layout, chain: Sequence[Environment]) -> list[DebianPackage]:
    environment, parents = chain[-1], chain[:-1]
    request = environment.card.debian
    for parent in parents:
        if "debian" in parent.backends and not parent.lock_path("debian", "cpu").is_file():
            raise missing_lock(parent.lock_path("debian", "cpu"), parent.name)
    held = held_packages(parents)
    apt = Apt(layout.cache / "apt", request.suite)
    apt.update()
    apt.hold(checked_part(layout, package.part) for package in held)
    solution = close_over(apt.solve(request.packages), request.packages, request.left_out)
    # apt lists a held package again where its index and our short status entry differ in more than the version.
    packages = [package for package in solution if package not in held]
    names = {package.name for package in packages}
    if changed := names & {package.name for package in held}:
        raise ManifestError(
            f"newer versions of packages that a parent holds are needed: {', '.join(sorted(changed))}",
            where=str(environment.folder / "environment.toml"),
            todo=f"lock the parents again first: {', '.join(parent.name for parent in parents)}",
        )
    if missing := [name for name in request.packages if name != ESSENTIAL and name not in names]:
        raise ManifestError(
            f"asked for but not in the closure: {', '.join(missing)}",
            where=str(environment.folder / "environment.toml"),
            todo="remove what a parent already holds",
        )
    return packages
