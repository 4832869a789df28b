"""Tutorials as programs: what a reader is told to type, in order, and what is to come of it.

A block `console` holds commands behind `$ ` and what they print; `...` stands for anything, within a line or
for any number of lines. `<!-- file: PATH -->` above a block makes it the content of a file. From
`<!-- containers -->` on a container engine is needed. Blocks of other kinds are only shown.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "docs" / "tutorials"

_PART = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n```\w*\n(?P<content>.*?)^```$"
    r"|```console\n(?P<session>.*?)^```$"
    r"|(?P<containers><!-- containers -->))",
    re.MULTILINE | re.DOTALL,
)
_LEFT_OUT = (".git", ".venv", ".*_cache", "__pycache__", "local", ".hypothesis")


@dataclass(frozen=True)
class File:
    """A file that the reader writes."""

    path: str
    content: str


@dataclass(frozen=True)
class Command:
    """A command that the reader types, and what is to be seen then."""

    words: str
    shown: str


class Containers:
    """The place from which on an engine is needed."""


Step = File | Command | Containers


def steps(text: str) -> list[Step]:
    """All steps of a tutorial."""
    result: list[Step] = []
    for part in _PART.finditer(text):
        if part["file"]:
            result.append(File(part["file"], part["content"]))
        elif part["containers"]:
            result.append(Containers())
        else:
            result += _commands(part["session"])
    return result


def without_containers(every: Sequence[Step]) -> list[Step]:
    """The steps before the first that needs an engine."""
    ends = [place for place, step in enumerate(every) if isinstance(step, Containers)]
    return [*every[: ends[0] if ends else None]]


def _commands(session: str) -> list[Command]:
    assert session.startswith("$ "), f"a block begins with what is shown: {session}"
    typed = re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
    return [Command(*_split(one)) for one in typed]


def _split(typed: str) -> tuple[str, str]:
    """The command, which goes on below where a line ends with a backslash, and the lines after it."""
    match = re.match(r"(?:.*\\\n)*.*\n", typed)
    assert match
    return match[0].strip(), typed[match.end() :]


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; spaces at the ends of lines do not count.

    Signs of life neither: how many there are depends on how fast the machine is.
    """
    pattern = ""
    for line in shown.rstrip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(piece) for piece in line.rstrip().split("...")) + r"\n"
    said = (line.rstrip() for line in printed.rstrip().splitlines() if not line.startswith("at work: "))
    lines = "".join(f"{line}\n" for line in said)
    return re.fullmatch(pattern, lines) is not None


@dataclass(frozen=True)
class Desk:
    """A copy of the repository that a reader may change, and a shell in it."""

    root: Path
    environment: Mapping[str, str]

    def do(self, step: Step) -> None:
        """Do what a step says; what comes of it is what the page shows."""
        if isinstance(step, File):
            path = self.root / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.content, encoding="utf-8")
        elif isinstance(step, Command):
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", step.words],
                cwd=self.root,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=900,
                check=False,
            )
            assert done.returncode == 0, f"$ {step.words}\nexit code {done.returncode}\n{done.stdout}"
            assert agrees(step.shown, done.stdout), f"$ {step.words}\n{done.stdout}\nthe page shows:\n{step.shown}"


def desk(folder: Path, environment: Mapping[str, str]) -> Desk:
    """A fresh copy of the repository, whose own harness is what `harness` starts."""
    root, programs = folder / "permafrost", folder / "bin"
    shutil.copytree(REPOSITORY, root, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    programs.mkdir()
    harness = programs / "harness"
    harness.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n')
    harness.chmod(0o755)
    own = {
        "PYTHONPATH": str(root),
        "PATH": f"{programs}:{environment['PATH']}",
        "HOME": environment["HOME"],
        "PERMAFROST_DATA": str(folder / "data"),
    }
    kept = ("PERMAFROST_CACHE", "DOCKER_HOST", "CONTAINER_HOST", "PERMAFROST_MIRROR", "PERMAFROST_DEBIAN_MIRROR")
    return Desk(root, own | {name: environment[name] for name in kept if name in environment})
