"""Lines of original files: identifiers of BETA in full or short, pairs, and tables; faults name file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base.errors import CorruptData
from harness.data.cells import check_width, read_table
from harness.data.lines import lines_of

_NODE = re.compile(r"(?:<http://bio2rdf\.org/drugbank:)?((?:db|be)\d+)>?", re.IGNORECASE)
# how the identifiers of each kind begin
KINDS = {"drug": "db", "target": "be"}

# a drug and a target, by name
Pair = tuple[str, str]


def damaged(what: str, where: str | Path) -> CorruptData:
    """The error for an original file that is not as it was released."""
    return CorruptData(what, where=str(where), todo="restore the original file")


def short_id(text: str, kind: str, where: str) -> str:
    """`db00790` of `<http://bio2rdf.org/drugbank:DB00790>`, which has to be of this kind."""
    match = _NODE.fullmatch(text)
    if not match or not match[1].lower().startswith(KINDS[kind]):
        raise damaged(f"'{text}' names no {kind}", where)
    return match[1].lower()


def pairs_in(path: Path, *labels: str) -> dict[Pair, bool]:
    """Whether each pair of a file binds, in order; every line ends with one of the labels `true` and `false`."""
    binds, lines = {}, dict[Pair, str]()
    for where, (drug, target, label) in lines_of(path, 3):
        pair = short_id(drug, "drug", where), short_id(target, "target", where)
        if label.lower() not in labels:
            raise damaged(f"the label '{label}' is not {' or '.join(labels)}", where)
        if pair in lines:
            raise damaged(f"{drug} with {target} is also in {lines[pair].rpartition(': ')[2]}", where)
        binds[pair], lines[pair] = label.lower() == "true", where
    return binds


def table(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a comma-separated table, packed by gzip or not, with where they are; other columns are left out."""
    lines = read_table(path)
    header = lines.header
    if missing := [name for name in columns if name not in header]:
        what = f"there is no column {', '.join(missing)}"
        raise CorruptData(what, where=f"{path}: line 1", todo=f"name {', '.join(columns)}")
    for line, cells in lines.lines[1:]:
        check_width(cells, header, f"{path}: line {line}")
        yield f"{path}: line {line}", {name: cells[header.index(name)] for name in columns}
