"""Whole drawings and pages as they have to come out, each in a file that a person can open and look at."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from difflib import unified_diff
from itertools import groupby
from pathlib import Path
from typing import Any

from harness.study.sheets import Sheet

FOLDER = Path(__file__).parent / "kept"
# Of JSON values so many members: a row of each kind.
_MOST = 4


def is_kept(name: str, text: str, folder: Path = FOLDER) -> bool:
    """Whether a text is, to the last character, the one that is kept in a folder."""
    kept = (folder / name).read_text(encoding="utf-8")
    if text.rstrip() != kept.rstrip():
        new = Path(tempfile.mkdtemp(prefix="kept-")) / name
        new.write_text(text, encoding="utf-8")
        lines = unified_diff(kept.splitlines(), text.splitlines(), "kept", str(new), lineterm="", n=0)
        raise AssertionError("\n".join([f"if {new} is right, copy it to {folder / name}", *lines]))
    return True


def by_mark(svg: str) -> str:
    """A drawing with a mark on each line, which an eye and a comparison can read."""
    return svg.replace("><", ">\n<") + "\n"


def described(sheet: Sheet) -> str:
    """All that a sheet holds but its drawings: the entries with verdicts, and runs by first letter."""

    def letters(keys: Sequence[str]) -> str:
        heads = ((letter, len([*group])) for letter, group in groupby(key[0] for key in keys))
        return " ".join(f"{count} {letter}" for letter, count in heads)

    lines = [f"{sheet.kind} {sheet.number}: {sheet.title}", f"tally: {sheet.tally_text}"]
    lines += [f"{name}: {getattr(sheet, name)}" for name in ("counted", "columns", "legend", "style")]
    lines.append(" | ".join(sheet.head))
    for row in sheet.entries:
        entries = [
            text + (f" [{chip}]" if chip else "") + (f" <{letters(keys)}>" if keys else "")
            for text, chip, keys in row
        ]
        lines.append(" | ".join(entries))
    lines += [f"note: {note}" for note in sheet.notes]
    lines += [f"picture: {picture.heading}" for picture in sheet.pictures]
    for name, value in sheet.values.items():
        members = value if isinstance(value, list) else [value]
        lines += [f"{name}: {json.dumps(_short(member), sort_keys=True)}" for member in members[:_MOST]]
    return "\n".join(lines) + "\n"


def _short(value: Any) -> Any:
    """A value with as many digits as every machine computes alike, and keys by their first letter."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: _short(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_short(member) for member in value]
    return value[0] if isinstance(value, str) and len(value) == len(64 * "k") and len({*value}) == 1 else value
