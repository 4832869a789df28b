"""Lines of BETA's files: identifiers in full or short, and pairs; faults name file and line."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.base.errors import CorruptData
from harness.data.lines import lines_of

_NODE = re.compile(r"(?:<http://bio2rdf\.org/drugbank:)?((?:db|be)\d+)>?", re.IGNORECASE)
_GZIP = b"\x1f\x8b"
_KINDS = {"db": "drug", "be": "target"}


class PairLine(NamedTuple):
    """A line of a drug, a target and whether they bind."""

    where: str
    drug: str
    target: str
    binds: bool


def short_id(text: str, kind: str, where: str) -> str:
    """`db00790` of `<http://bio2rdf.org/drugbank:DB00790>`; `kind` is how it has to start."""
    match = _NODE.fullmatch(text)
    if not match or not match[1].lower().startswith(kind):
        raise CorruptData(f"'{text}' names no {_KINDS[kind]}", where=where, todo="restore the original file")
    return match[1].lower()


def pairs_in(path: Path, labels: Mapping[str, bool]) -> Iterator[PairLine]:
    """The lines of a file of pairs whose last word is one of the labels."""
    for where, (drug, target, label) in lines_of(path, 3):
        if label.lower() not in labels:
            raise CorruptData(
                f"the label '{label}' is not {' or '.join(labels)}", where=where, todo="restore the original file"
            )
        yield PairLine(where, short_id(drug, "db", where), short_id(target, "be", where), labels[label.lower()])


def once(pairs: Iterable[PairLine]) -> Iterator[PairLine]:
    """The pairs, if none is there twice."""
    lines: dict[tuple[str, str], str] = {}
    for pair in pairs:
        if before := lines.get(pair[1:3]):
            raise CorruptData(
                f"{pair.drug} with {pair.target} is also in {before.rpartition(': ')[2]}",
                where=pair.where,
                todo="restore the original file",
            )
        lines[pair[1:3]] = pair.where
        yield pair


def table(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a comma-separated table, packed by gzip or not, with where they are; other columns are left out."""
    content = path.read_bytes()
    try:
        text = (gzip.decompress(content) if content.startswith(_GZIP) else content).decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise CorruptData(f"not a comma-separated table: {error}", where=str(path)) from None
    header = [name.strip() for name in rows[0]] if rows else []
    if missing := [name for name in columns if name not in header]:
        raise CorruptData(
            f"there is no column {', '.join(missing)}", where=f"{path}: line 1", todo=f"name {', '.join(columns)}"
        )
    for line, cells in enumerate(rows[1:], start=2):
        where = f"{path}: line {line}"
        if len(cells) == len(header):
            yield where, {name: cells[header.index(name)].strip() for name in columns}
        elif cells:
            raise CorruptData(
                f"{len(cells)} cells instead of {len(header)}",
                where=where,
                todo="give every line the header's columns",
            )
