"""Skeletons: a new method that builds, passes its self-test and appears in the table before a line is written.

A skeleton is one folder under methods/ and one under containers/, both there or neither.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from harness import benchmarks
from harness.base.errors import HarnessError, UsageError
from harness.base.layout import Layout
from harness.base.unknown_names import unknown_name

# an engine takes no other name of an image
_NAME = re.compile(r"(?=.{2,40}\Z)[a-z][a-z0-9]*(__?[a-z0-9]+)*")
# words that a command takes beside methods, and for which
_TAKEN = {"metrics": "harness parity", "splits": "harness parity", "all": "harness predict --method"}
_SHARED = Path(__file__).parent / "templates"
_BENCHMARK = "templates"


@dataclass(frozen=True)
class _Language:
    """Where a language's methods begin, and the environment they share."""

    main: str
    parent: str


LANGUAGES = {
    "python": _Language("main.py", "_numpy"),
    "octave": _Language("main.m", "_octave"),
    "r": _Language("main.R", "_r"),
    "java": _Language("main.java", "_java"),
}


def new_method(layout: Layout, name: str, language: str, of: str, title: str = "") -> list[Path]:
    """The files of a new skeleton, which is made whole or not at all."""
    benchmarks.get(of)
    if language not in (known := languages_of(of)):
        if language in LANGUAGES:
            raise UsageError(
                f"methods of {of} are written in {' or '.join(known)}, not in {language}",
                todo=f"give --language {known[0]}, or name another benchmark: --benchmark",
            )
        raise unknown_name("language", language, known, where=f"benchmark {of}")
    targets = {"methods": layout.methods / name, "containers": layout.containers / name}
    _check_name(name, targets)
    _check_title(title)
    skeleton = LANGUAGES[language]
    words = {
        "NAME": name,
        "TITLE": title or name.replace("_", " ").upper(),
        "LANGUAGE": language,
        "BENCHMARK": of,
        "PARENT": skeleton.parent,
        "YEAR": str(datetime.now(UTC).year),
    }
    own = benchmarks.folder(of) / _BENCHMARK
    files = {
        Path("containers", "environment.toml"): _fill(_SHARED, "environment.toml", words),
        Path("methods", skeleton.main): _fill(own, skeleton.main, words),
        Path("methods", "method.toml"): _fill(own, "method.toml", words),
    }
    # beside methods/ and containers/, not in them: half a skeleton must never look like a method
    draft = Path(tempfile.mkdtemp(dir=layout.root, prefix=".new-"))
    try:
        for path, text in files.items():
            (draft / path).parent.mkdir(exist_ok=True)
            (draft / path).write_text(text, encoding="utf-8")
        _move_in(draft, targets)
    except OSError as error:
        raise HarnessError(
            f"the skeleton could not be written: {error.strerror}",
            where=str(layout.root),
            todo="nothing was changed: look at rights and free space there, then try again",
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return [targets[path.parts[0]] / path.name for path in files]


def languages_of(of: str) -> list[str]:
    """The languages that a benchmark's methods are written in: those with a skeleton."""
    folder = benchmarks.folder(of) / _BENCHMARK
    return [language for language, skeleton in LANGUAGES.items() if (folder / f"{skeleton.main}.txt").is_file()]


def _move_in(draft: Path, targets: dict[str, Path]) -> None:
    """Move the skeleton to its places, the card last: with it the method begins to exist."""
    (draft / "containers").rename(targets["containers"])
    try:
        (draft / "methods").rename(targets["methods"])
    except OSError:
        shutil.rmtree(targets["containers"], ignore_errors=True)
        raise


def _check_name(name: str, targets: dict[str, Path]) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' is not a name for a method",
            todo="use 2 to 40 small letters, digits and _, beginning with a letter, one or two _ between others",
        )
    if name in _TAKEN:
        raise UsageError(f"'{name}' means something else to `{_TAKEN[name]}`", todo="choose another name")
    for target in targets.values():
        if target.exists():
            raise UsageError(
                f"there is a '{name}' already",
                where=str(target),
                todo="choose another name, or remove that folder",
            )


def _check_title(title: str) -> None:
    """Refuse what would end the text or the comment that a title stands in, in TOML or a language of methods."""
    if not title.isprintable() or any(sign in title for sign in ('"', "\\", "*/")):
        raise UsageError(
            f"'{title}' is no title for a method",
            where="--title",
            todo='leave out quotation marks ("), backslashes, */ and ends of lines',
        )


def _fill(folder: Path, template: str, words: dict[str, str]) -> str:
    text = (folder / f"{template}.txt").read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text
