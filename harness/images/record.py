"""The recorded tree of an environment: `tree.toml` and the listing beside it, committed with the locks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from harness.base.errors import ImageError, UsageError
from harness.base.file_state import load_toml_once
from harness.base.files import sha256_of, write_atomic
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml
from harness.base.vocabulary import Accelerator
from harness.images.cards import Environment, environment_chain, layers_of
from harness.images.locks import canonical_name, read_wheels
from harness.images.trees import listing_digest

RECORD = "tree.toml"
# The folder of what pip notes of an installed wheel.
_WHEEL_FACTS = re.compile(r"/([^/\n]+)-([^/\n-]+)\.dist-info$", re.MULTILINE)


class TreeRecord(Strict):
    """One variant of an environment as it was first built."""

    tree: str
    parent: str
    files: int
    bytes: int
    # Beyond the parent's.
    added_bytes: int
    # sha256 of each lock it was built from: {"debian.lock": ..., "wheels.cpu.lock": ...}
    locks: dict[str, str]


class Records(Strict):
    """`tree.toml`."""

    cpu: TreeRecord | None = None
    cuda: TreeRecord | None = None


def variant_of(environment: Environment, accelerator: Accelerator) -> Accelerator:
    """The variant to use: an environment without a CUDA variant is used for CUDA as it is."""
    if environment.card.wheels is None:
        return "cpu"
    variant: Accelerator = accelerator if environment.supports(accelerator) else "cpu"
    part = environment.card.variants.get(variant)
    if part is None or part.not_lockable:
        raise UsageError(
            f"environment '{environment.name}' has no {variant} variant",
            where=f"{environment.folder / 'environment.toml'}: variants.{variant}"
            + (f": {part.not_lockable}" if part is not None else ""),
            todo="choose another (--accelerator)",
        )
    return variant


def lock_digests(environment: Environment, accelerator: Accelerator) -> dict[str, str]:
    """sha256 of every lock that a variant is built from."""
    paths = [environment.lock_path(backend, accelerator) for backend in environment.backends]
    return {path.name: sha256_of(path) for path in paths if path.is_file()}


def read_record(environment: Environment, accelerator: Accelerator) -> TreeRecord | None:
    """The record of one variant, or None if it was never built."""
    path = environment.folder / RECORD
    if not path.is_file():
        return None
    records = load_toml_once(path, Records)
    return records.cuda if accelerator == "cuda" else records.cpu


def listing_path(environment: Environment, accelerator: Accelerator) -> Path:
    """Where the recorded listing lies."""
    return environment.folder / f"tree.{accelerator}.txt"


def write_record(environment: Environment, accelerator: Accelerator, record: TreeRecord, listing: str) -> None:
    """Record a variant, keeping the other one."""
    path = environment.folder / RECORD
    records = load_toml(path, Records) if path.is_file() else Records()
    both: dict[Literal["cpu", "cuda"], TreeRecord | None] = {"cpu": records.cpu, "cuda": records.cuda}
    both[accelerator] = record
    lines = [f"# Recorded by `harness image build {environment.name} --record`; do not edit."]
    for name, entry in both.items():
        if entry is not None:
            lines += ["", f"[{name}]", f'tree = "{entry.tree}"', f'parent = "{entry.parent}"']
            lines += [f"files = {entry.files}", f"bytes = {entry.bytes}", f"added_bytes = {entry.added_bytes}"]
            lines += ["", f"[{name}.locks]"]
            lines += [f'"{lock}" = "{digest}"' for lock, digest in sorted(entry.locks.items())]
    write_atomic(listing_path(environment, accelerator), listing)
    write_atomic(path, "\n".join(lines) + "\n")


def recorded_listing(environment: Environment, accelerator: Accelerator, record: TreeRecord) -> str:
    """The recorded listing; empty where it is missing or its digest is not the record's."""
    path = listing_path(environment, accelerator)
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return text if listing_digest(text) == record.tree else ""


def wheels_not_in(listing: str, environment: Environment, accelerator: Accelerator) -> list[str]:
    """The locked wheels, as NAME VERSION, of which a listing has no folder of facts: they were not installed."""
    if environment.card.wheels is None:
        return []
    installed = {(canonical_name(name), version) for name, version in _WHEEL_FACTS.findall(listing)}
    wheels = read_wheels(environment.lock_path("wheels", accelerator))
    return [
        f"{one.name} {one.version}"
        for one in wheels
        if not one.installer and (canonical_name(one.name), one.version) not in installed
    ]


def recorded_tree(layout: Layout, name: str, accelerator: Accelerator = "cpu") -> str:
    """The environment tree that `name` must have; a record older than a lock or a parent is refused."""
    parent = ""
    for environment in layers_of(environment_chain(layout, name)):
        variant = variant_of(environment, accelerator)
        record = read_record(environment, variant)
        if record is None:
            raise _unrecorded(environment, "was never built and recorded")
        if record.locks != lock_digests(environment, variant):
            raise _unrecorded(environment, "has locks that changed since it was recorded")
        if record.parent != parent:
            raise _unrecorded(environment, "extends an environment that changed since it was recorded")
        parent = record.tree
    if not parent:
        raise _unrecorded(environment_chain(layout, name)[-1], "is empty")
    return parent


def _unrecorded(environment: Environment, why: str) -> ImageError:
    return ImageError(
        f"environment '{environment.name}' {why}",
        where=str(environment.folder / RECORD),
        todo=f"restore its files, or accept what they give with `harness image build {environment.name} --record`",
    )
