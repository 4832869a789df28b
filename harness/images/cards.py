"""What a frozen environment shall be: `containers/NAME/environment.toml`, validated, with its parents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from harness.base.errors import ManifestError, UsageError
from harness.base.file_state import load_toml_once
from harness.base.layout import Layout
from harness.base.manifest_faults import plain_faults
from harness.base.manifests import Strict
from harness.base.unknown_names import unknown_name
from harness.base.vocabulary import Accelerator

Language = Literal["python", "octave", "r", "java"]
Backend = Literal["debian", "wheels", "conda"]

BASE = "_base"
_NAME = re.compile(r"_?[a-z][a-z0-9_]*")
_CAPABILITY = re.compile(r"\d{1,2}\.\d")
_PINNED = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9._+!]+")


class DebianPart(Strict):
    """Debian packages by name; the closure is found when the lock is made."""

    suite: str = "bookworm"
    # Archives by URL, tried last: for systems whose own apt does not know Debian.
    archives: list[str] = []
    packages: list[str] = []
    # Members of the closure that nothing needs at run time, each with its reason. What only they need goes too.
    left_out: dict[str, str] = {}


class WheelsPart(Strict):
    """Python packages, as requirements; `installer` is run from its own wheel and not installed."""

    python: str = "3.11"
    requirements: list[str] = []
    # Packages that others require and nothing here imports, each with its reason. What only they need goes too.
    left_out: dict[str, str] = {}
    installer: str = "pip"
    # NAME==VERSION: packages that have no wheels. What they need is asked for as any other requirement.
    from_source: list[str] = []
    # What these are compiled with, besides what makes the result independent of the day and the folder.
    flags: str = Field(default="-O2", min_length=1)
    # The environment that holds the compiler and what else is only needed to build.
    builder: str = "_compiler"

    @field_validator("from_source")
    @classmethod
    def _are_pinned(cls, values: list[str]) -> list[str]:
        for value in values:
            if not _PINNED.fullmatch(value):
                raise ValueError(f"'{value}' is not NAME==VERSION")
        return values

    @field_validator("flags")
    @classmethod
    def _are_for_any_machine(cls, value: str) -> str:
        if "=native" in value:
            raise ValueError("'native' would make what is built depend on the machine that builds it")
        return value


class CondaPart(Strict):
    """A conda environment, for originals that exist only as conda packages."""

    environment: str = "environment.yml"
    platform: str = "linux-64"
    # The environment that holds the program which unpacks conda packages during the build.
    installer: str = "_conda"


class AcceleratorPart(Strict):
    """What the CPU or the CUDA variant has beyond the common wheels."""

    wheels: list[str] = []
    compute_capabilities: list[str] = []
    # Why there can be no lock of this variant.
    not_lockable: str = ""

    @field_validator("compute_capabilities")
    @classmethod
    def _are_capabilities(cls, values: list[str]) -> list[str]:
        for value in values:
            if not _CAPABILITY.fullmatch(value):
                raise ValueError(f"'{value}' is not a compute capability such as '8.0'")
        return values


class EnvironmentCard(Strict):
    """`environment.toml`: short and written by a person; everything exact lies in the locks beside it."""

    summary: str
    extends: str | None = None
    language: Language | None = None
    epoch: int | None = Field(default=None, ge=0)
    debian: DebianPart = DebianPart()
    wheels: WheelsPart | None = None
    conda: CondaPart | None = None
    variants: dict[Accelerator, AcceleratorPart] = {"cpu": AcceleratorPart()}
    # A command that must succeed in the finished environment; `harness image verify` runs it.
    check: list[str] = []

    @model_validator(mode="after")
    def _variants_differ_in_wheels_only(self) -> EnvironmentCard:
        if any(part.wheels for part in self.variants.values()) and self.wheels is None:
            raise ValueError("variants: have wheels, but there is no [wheels] table")
        if "cuda" in self.variants and not self.variants["cuda"].compute_capabilities:
            raise ValueError("variants.cuda.compute_capabilities: is missing")
        return self


@dataclass(frozen=True)
class Environment:
    """One environment with the folder it lies in."""

    name: str
    folder: Path
    card: EnvironmentCard

    @property
    def backends(self) -> list[Backend]:
        """The lock back ends this environment itself uses, in the order they are installed."""
        used: list[Backend] = ["debian"] if self.card.debian.packages else []
        if self.card.wheels is not None:
            used.append("wheels")
        if self.card.conda is not None:
            used.append("conda")
        return used

    @property
    def helper(self) -> str | None:
        """The environment in which a part of this one is made: conda packages unpacked, or sources compiled."""
        if self.card.conda is not None:
            return self.card.conda.installer
        wheels = self.card.wheels
        return wheels.builder if wheels is not None and wheels.from_source else None

    def supports(self, accelerator: Accelerator) -> bool:
        """Whether there is a variant for `accelerator`."""
        return accelerator in self.card.variants

    def lock_path(self, backend: Backend, accelerator: Accelerator) -> Path:
        """Where the lock of one back end lies; only wheels differ between accelerators."""
        name = f"wheels.{accelerator}.lock" if backend == "wheels" else f"{backend}.lock"
        return self.folder / name


def environment_names(layout: Layout) -> list[str]:
    """All environments: every folder under containers/ with an environment.toml."""
    return sorted(path.parent.name for path in layout.containers.glob("*/environment.toml"))


def load_environment(layout: Layout, name: str) -> Environment:
    """One environment by name."""
    folder = layout.containers / name
    if not _NAME.fullmatch(name) or not (folder / "environment.toml").is_file():
        raise unknown_name("environment", name, environment_names(layout), where=layout.containers)
    path = folder / "environment.toml"
    with plain_faults(path, EnvironmentCard):
        card = load_toml_once(path, EnvironmentCard)
    return Environment(name=name, folder=folder, card=card)


def environment_chain(layout: Layout, name: str) -> list[Environment]:
    """The environment and everything it extends, base first."""
    chain = [load_environment(layout, name)]
    while (parent := chain[0].card.extends) is not None:
        if parent in (environment.name for environment in chain):
            raise ManifestError(
                f"'{parent}' extends itself",
                where=f"{chain[0].folder / 'environment.toml'}: extends",
                todo="let one of them extend another environment",
            )
        chain.insert(0, load_environment(layout, parent))
    return chain


def layers_of(chain: Sequence[Environment]) -> list[Environment]:
    """The environments of a chain that add something, so that they are images of their own."""
    return [environment for environment in chain if environment.backends]


def language_of(chain: Sequence[Environment]) -> Language:
    """The language of the most specific environment that names one."""
    for environment in reversed(chain):
        if environment.card.language is not None:
            return environment.card.language
    raise ManifestError(
        f"environment '{chain[-1].name}' has no language",
        where=f"{chain[-1].folder / 'environment.toml'}: language",
        todo="name one of python, octave, r, java, or extend an environment that does",
    )


def epoch_of(chain: Sequence[Environment]) -> int:
    """SOURCE_DATE_EPOCH: the newest time stamp a file may carry, the same for every image of a base."""
    for environment in reversed(chain):
        if environment.card.epoch is not None:
            return environment.card.epoch
    raise ManifestError(
        "no epoch is given",
        where=f"{chain[0].folder / 'environment.toml'}: epoch",
        todo="write epoch = SECONDS (SOURCE_DATE_EPOCH) in the base",
    )


def refuse_unless_usable(card: EnvironmentCard, *, name: str, capability: str) -> None:
    """Raise unless a GPU of this compute capability is one the CUDA variant was built for."""
    part = card.variants.get("cuda")
    if part is None:
        raise UsageError(
            f"environment '{name}' has no CUDA variant",
            where="containers/" + name + "/environment.toml: variants",
            todo="run it on the CPU (--accelerator cpu)",
        )
    if capability not in part.compute_capabilities:
        raise UsageError(
            f"this GPU has compute capability {capability}; the CUDA variant of '{name}' was built for "
            f"{', '.join(part.compute_capabilities)}",
            where="containers/" + name + "/environment.toml: variants.cuda.compute_capabilities",
            todo="use another GPU, or run it on the CPU (--accelerator cpu), which is the reference",
        )
