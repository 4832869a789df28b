"""Debian's closure: which exact packages an environment needs, found by apt in a private root.

apt resolves against what the parent environments hold (for the base: nothing); then what was left out, and
what only that needed, is dropped. This system's own sources, proxies and keys are used; nothing is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ManifestError, UsageError
from harness.images.deb import parse_fields, read_control
from harness.images.locks import DebianPackage

ARCHITECTURE = "amd64"
ESSENTIAL = "?essential"
_FAKE_FIELDS = ("Package", "Version", "Architecture", "Multi-Arch", "Provides", "Essential", "Maintainer")


@dataclass(frozen=True)
class PackageCandidate:
    """A package of apt's solution, with what it needs."""

    package: DebianPackage
    essential: bool
    provides: tuple[str, ...]
    # Conjunction of alternatives: every entry needs one of its names.
    depends: tuple[tuple[str, ...], ...]


class Apt:
    """apt-get and apt-cache on a private root with the host's sources."""

    def __init__(self, root: Path, suite: str) -> None:
        if shutil.which("apt-get") is None or shutil.which("apt-cache") is None:
            raise UsageError(
                "locking Debian packages needs apt, which this system does not have",
                todo="run `harness image lock` on a Debian or Ubuntu system; building from a lock works anywhere",
            )
        self.root = root
        self.suite = suite
        for folder in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/lib/dpkg"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "var/cache/apt/archives/partial").mkdir(parents=True, exist_ok=True)
        self._status = root / "var/lib/dpkg/status"
        self._status.write_text("")

    def update(self) -> None:
        """Fetch the package indexes of the host's sources."""
        self._run("apt-get", "update", "-q")

    def hold(self, debs: Iterable[Path]) -> None:
        """Make apt treat these packages as installed, whole and in order."""
        paragraphs = []
        for path in debs:
            fields = read_control(path)
            lines = [f"{name}: {fields[name]}" for name in _FAKE_FIELDS if name in fields]
            paragraphs.append("\n".join([*lines, "Status: install ok installed", "Description: held"]) + "\n")
        self._status.write_text("\n".join(paragraphs))

    def solve(self, packages: Sequence[str]) -> list[PackageCandidate]:
        """All packages that installing `packages` would add."""
        text = self._run("apt-get", "install", "--simulate", "-y", *packages)
        versions = re.findall(r"^Inst (\S+) (?:\[[^\]]*\] )?\((\S+) ", text, re.M)
        if not versions:
            raise ManifestError(
                "apt finds nothing to install",
                where=f"debian.packages = {list(packages)}",
                todo="remove packages that a parent environment already holds",
            )
        text = self._run("apt-cache", "show", "--no-all-versions", *(f"{name}={v}" for name, v in versions))
        candidates = {c.package.name: c for c in map(_candidate, text.split("\n\n")) if c is not None}
        return [candidates[name.removesuffix(f":{ARCHITECTURE}")] for name, _ in versions]

    def _run(self, program: str, *arguments: str) -> str:
        root = str(self.root)
        options = {
            "Dir::State": f"{root}/var/lib/apt",
            "Dir::State::status": str(self._status),
            "Dir::Cache": f"{root}/var/cache/apt",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": f"{root}/etc/apt/preferences.d",
            "APT::Architecture": ARCHITECTURE,
            "APT::Architectures": ARCHITECTURE,
            "APT::Install-Recommends": "false",
            "APT::Default-Release": "",
            "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
            "Acquire::Languages": "none",
        }
        command = [program, *(f"-o{name}={value}" for name, value in options.items()), *arguments]
        result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        if result.returncode != 0:
            raise UsageError(
                f"{program} {arguments[0]} failed:\n{(result.stderr or result.stdout).strip()}",
                where=f"apt with this system's sources and a private state in {root}",
                todo=f"check the package names, and that this system's apt sources hold Debian {self.suite}",
            )
        return result.stdout


def close_over(
    candidates: Sequence[PackageCandidate], roots: Sequence[str], left_out: Iterable[str]
) -> list[DebianPackage]:
    """The candidates that `roots` reach through dependencies when `left_out` are taken away."""
    exclusions = set(left_out)
    by_name = {candidate.package.name: candidate for candidate in candidates}
    unknown = sorted(exclusions - set(by_name))
    if unknown:
        raise ManifestError(
            f"left out, but nothing needs them: {', '.join(unknown)}",
            where="environment.toml: debian.left_out",
            todo="remove these entries",
        )
    providers: dict[str, list[str]] = {name: [name] for name in by_name}
    for candidate in candidates:
        for name in candidate.provides:
            providers.setdefault(name, []).append(candidate.package.name)
    queue = [name for name in roots if name in by_name]
    if ESSENTIAL in roots:
        queue += [name for name, candidate in by_name.items() if candidate.essential]
    closure: set[str] = set()
    while queue:
        name = queue.pop()
        if name in closure or name in exclusions:
            continue
        closure.add(name)
        for alternatives in by_name[name].depends:
            provider = next((a for a in alternatives if a in providers), None)
            if provider is not None:
                queue += providers[provider]
    return sorted(by_name[name].package for name in closure)


def _candidate(paragraph: str) -> PackageCandidate | None:
    fields = parse_fields(paragraph)
    if "Package" not in fields:
        return None
    package = DebianPackage(
        name=fields["Package"],
        version=fields["Version"],
        architecture=fields["Architecture"],
        size=int(fields["Size"]),
        sha256=fields["SHA256"],
        path=fields["Filename"],
    )
    return PackageCandidate(
        package=package,
        essential=fields.get("Essential") == "yes",
        provides=tuple(alternatives_of(fields.get("Provides", "").replace(",", "|"))),
        depends=tuple(map(tuple, needs_of(fields))),
    )


def needs_of(fields: Mapping[str, str]) -> list[list[str]]:
    """What a package depends on: of each entry one of its names is needed."""
    groups = ", ".join(fields[name] for name in ("Pre-Depends", "Depends") if name in fields).split(",")
    return [alternatives_of(group) for group in groups if group.strip()]


def alternatives_of(alternatives: str) -> list[str]:
    """The names of a group of packages one of which is enough, as in `a (>= 1) | b:any`."""
    return [text.split("(")[0].split(":")[0].strip() for text in alternatives.split("|") if text.strip()]
