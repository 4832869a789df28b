"""One's own drug-target pairs as comma-separated tables; names are matched without regard to case.

docs/data.md says what each table holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.base.faults import Faults, all_faults
from harness.base.manifests import Strict
from harness.benchmarks.dti.checks import SIMILARITY_DIGITS
from harness.benchmarks.dti.dataset import MEMBER, DtiDataset, Integers, Numbers
from harness.data.cells import TableFile, TableLine, check_once, listed_table, table_of
from harness.data.lines import whole
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

_PAIR = ("drug", "target")
_EDGE = ("head_type", "head", "tail_type", "tail")
_TEST_PART, _MOST_FOLDS = -1, 127
# what a SMILES and a sequence may be written with
_SIGNS, _RESIDUES = re.compile(r"[!-~]"), re.compile(r"[A-Za-z]")
# the group of all drugs and targets, in an order that Test 0 and the spaces TA, CA and AA of Test 1 depend on
NETWORK = "network"
# what the members of a test's groups are
_MEMBERS = {"test2": ("drug",), "test3": ("target",), "test5": ("target",), "test6": ("target",), NETWORK: _PAIR}
_CLASSES, _DISEASES = ("test2", "test3"), ("test5", "test6")

_Network = tuple[Integers, tuple[str, ...], tuple[str, ...]]
_Groups = tuple[tuple[str, ...], Integers, Integers]


class Parameters(Strict):
    """The names of the files; an empty one: there is none."""

    drugs: str = "drugs.csv"
    targets: str = "targets.csv"
    pairs: str = "pairs.csv"
    edges: str = Field(default="", description="the network")
    groups: str = Field(default="", description="classes and diseases that Tests 2, 3, 5 and 6 are about")
    drug_similarity: str = ""
    target_similarity: str = ""


class _Nodes(NamedTuple):
    """Drugs or targets: their names, a text of each, their numbers by lower-case name, and the first as a node."""

    kind: str
    names: tuple[str, ...]
    texts: tuple[str, ...]
    numbers: Mapping[str, int]
    first: int

    def number(self, row: TableLine, column: str) -> int:
        name = row.cells[column]
        if name.lower() not in self.numbers:
            what = f"{self.kind} '{name}' has no line among the {self.kind}s"
            raise row.refused(what, "add it there, or remove this line")
        return self.numbers[name.lower()]


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> DtiDataset:
    """The dataset out of its tables."""
    names = parameters_of(manifest, Parameters).model_dump()
    paths = {table: listed_table(name, files, manifest.name) for table, name in names.items() if name}
    drugs = _nodes(paths["drugs"], "drug", "smiles", 0)
    targets = _nodes(paths["targets"], "target", "sequence", len(drugs.names))
    pairs, values, released = _pairs(paths["pairs"], drugs, targets)
    edges, relations, others = _network(paths.get("edges"), drugs, targets)
    groups, members, bindings = _groups(paths.get("groups"), drugs, targets, pairs)
    return DtiDataset(
        name=manifest.name,
        pairs=pairs,
        values=values,
        drug_ids=drugs.names,
        target_ids=targets.names,
        smiles=drugs.texts,
        sequences=tuple(text.upper() for text in targets.texts),
        released=released,
        edges=edges,
        node_names=others,
        relation_names=relations,
        drug_similarity=_similarity(paths.get("drug_similarity"), drugs),
        target_similarity=_similarity(paths.get("target_similarity"), targets),
        group_names=groups,
        group_sizes=np.bincount(members[:, 0], minlength=len(groups)).astype(np.int32),
        group_members=members,
        group_pairs=bindings,
    )


def _nodes(file: TableFile, kind: str, text: str, first: int) -> _Nodes:
    # a name behind a SMILES, or lines of a sequence file, would be read as part of the text
    own = _RESIDUES if text == "sequence" else _SIGNS
    with all_faults() as faults:
        rows = table_of(file, (kind, text), faults=faults)
        _check_once(rows, f"{kind} {{}}", kind, faults=faults)
        for row in rows:
            with faults.noted():
                row.check_full(kind)
                if odd := next((sign for sign in row.cells[text] if not own.fullmatch(sign)), None):
                    what = f"the {text} of {kind} '{row.cells[kind]}' has {odd!r} in it"
                    raise row.refused(what, "give the bare text, or leave the cell empty")
    names = tuple(row.cells[kind] for row in rows)
    numbers = {name.lower(): number for number, name in enumerate(names)}
    return _Nodes(kind, names, tuple(row.cells[text] for row in rows), numbers, first)


def _pairs(file: TableFile, drugs: _Nodes, targets: _Nodes) -> tuple[Integers, Numbers, npt.NDArray[np.int8]]:
    """Pairs in the order of the table, their values, and the authors' parts if there are any."""
    pairs, values, parts = [], [], []
    with all_faults() as faults:
        rows = table_of(file, _PAIR, optional=("value", "part"), faults=faults)
        for row in rows:
            with faults.noted():
                row.check_full(*row.cells)
                pairs.append((drugs.number(row, "drug"), targets.number(row, "target")))
                values.append(_finite(row, "value") if "value" in row.cells else 1.0)
                parts += [_part(row)] if "part" in row.cells else []
        _check_once(rows, "the pair of {}", *_PAIR, faults=faults)
    strengths = np.array(values)
    if (strengths != 1).any() and np.isin(strengths, (0, 1)).all():
        what = "the values are 0 and 1, which are no affinities"
        raise rows[int(np.argmin(strengths))].refused(what, "list the pairs that bind, without values")
    return _integers(pairs, 2), strengths, np.array(parts, dtype=np.int8)


def _network(file: TableFile | None, drugs: _Nodes, targets: _Nodes) -> _Network:
    """Edges, drugs and targets first in each; relations and other nodes (`type:name`) as they are first read."""
    known = {"drug": drugs, "target": targets}
    places: dict[tuple[str, str], int] = {}
    relations: dict[str, int] = {}
    others: list[str] = []
    edges, keys = [], []
    with all_faults() as faults:
        for row in table_of(file, _EDGE, faults=faults) if file else []:
            with faults.noted():
                row.check_full(*_EDGE)
                ends = []
                for end in ("head", "tail"):
                    kind, name = row.cells[f"{end}_type"].lower(), row.cells[end]
                    if kind in known:
                        node = known[kind].first + known[kind].number(row, end)
                    else:
                        node = places.setdefault(
                            (kind, name.lower()), targets.first + len(targets.names) + len(places)
                        )
                        others += [f"{kind}:{name}"] if len(places) > len(others) else []
                    ends.append((kind not in known, kind, name.lower(), node))
                # a relation has one name, whichever end stands first
                (_, *head, first), (_, *tail, second) = sorted(ends)
                if (head[0], tail[0]) == _PAIR:
                    raise row.refused("the edge joins a drug and a target", "list it among the pairs")
                if first == second:
                    raise row.refused(f"{head[0]} '{row.cells['head']}' is joined with itself", "remove the line")
                edges.append((relations.setdefault(f"{head[0]}-{tail[0]}", len(relations)), first, second))
                keys.append((row, ", ".join(f"{kind} '{name}'" for kind, name in (head, tail))))
        check_once(keys, "the edge of {}", faults)
    return _integers(edges, 3), tuple(relations), tuple(others)


def _groups(file: TableFile | None, drugs: _Nodes, targets: _Nodes, pairs: Integers) -> _Groups:
    """Groups as they are first read, and the lines of the dataset's `group_members` and `group_pairs`."""
    members: list[tuple[int, ...]] = []
    bindings: list[tuple[int, ...]] = []
    with all_faults() as faults:
        rows = table_of(file, ("group", *_PAIR), faults=faults) if file else []
        _check_once(rows, "the line of {}", "group", *_PAIR, faults=faults)
        names = {name: place for place, name in enumerate(dict.fromkeys(row.cells["group"] for row in rows))}
        for row in rows:
            with faults.noted():
                name, group = row.cells["group"], names[row.cells["group"]]
                test, _, of = name.partition("/")
                if test not in _MEMBERS or bool(of) == (test == NETWORK) or (test in _CLASSES and ":" not in of):
                    raise row.refused(
                        f"'{name}' is no group", "name it test2/SCHEME:CLASS or test5/DISEASE, for example"
                    )
                ends = [nodes for nodes in (drugs, targets) if row.cells[nodes.kind]]
                numbers = [nodes.number(row, nodes.kind) for nodes in ends]
                if len(ends) == len(_PAIR) and test in _DISEASES:
                    if (pairs == numbers).all(axis=1).any():
                        raise row.refused(
                            "the binding is among the pairs, so it is not new", "remove one of the lines"
                        )
                    bindings.append((group, *numbers))
                    continue
                if len(ends) != 1 or ends[0].kind not in _MEMBERS[test]:
                    raise row.refused(
                        f"the line gives no member of '{name}'", f"give its {' or '.join(_MEMBERS[test])}"
                    )
                members.append((group, MEMBER, ends[0].first + numbers[0]))
                if test in _CLASSES:
                    own = pairs[pairs[:, _PAIR.index(ends[0].kind)] == numbers[0]].tolist()
                    bindings += [(group, drug, target) for drug, target in own]
    # each group's own lines stay in their order
    members, bindings = (sorted(lines, key=lambda line: line[0]) for lines in (members, bindings))
    return tuple(names), _integers(members, 3), _integers(bindings, 3)


def _similarity(file: TableFile | None, nodes: _Nodes) -> Numbers:
    """A symmetric matrix with ones on its diagonal."""
    if file is None:
        return np.empty((0, 0))
    similarity, keys = np.eye(len(nodes.names)), []
    with all_faults() as faults:
        for row in table_of(file, (nodes.kind, "other", "similarity"), faults=faults):
            with faults.noted():
                one, other = sorted((nodes.number(row, nodes.kind), nodes.number(row, "other")))
                number = _finite(row, "similarity")
                rounded = round(number, SIMILARITY_DIGITS)
                if one == other and rounded != 1:
                    what = f"{nodes.kind} '{nodes.names[one]}' is said to be {number} similar to itself"
                    raise row.refused(what, "write 1, or leave the line out")
                if not 0 <= rounded <= 1:
                    what = f"the similarity is {number}, which is not in 0 to 1"
                    raise row.refused(what, "scale all of them: 1 is how similar each is to itself")
                similarity[one, other] = similarity[other, one] = number
                keys.append((row, f"'{nodes.names[one]}', '{nodes.names[other]}'"))
        check_once(keys, "the similarity of {}", faults)
    return similarity


def _check_once(rows: Iterable[TableLine], what: str, *columns: str, faults: Faults) -> None:
    """Note a fault for every line that is the same as an earlier one in these columns."""
    keys = ((row, ", ".join(f"'{row.cells[column].lower()}'" for column in columns)) for row in rows)
    check_once(keys, what, faults)


def _finite(row: TableLine, column: str) -> float:
    try:
        number = row.number(column)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise row.refused(f"'{row.cells[column]}' is no finite number", "correct the number")
    return number


def _part(row: TableLine) -> int:
    text = row.cells["part"]
    if text.lower() == "test":
        return _TEST_PART
    fold = whole(text)
    if fold is None or fold > _MOST_FOLDS:
        raise row.refused(f"'{text}' is no part", "write test, or the number of a training fold")
    return fold


def _integers(rows: Iterable[Sequence[int]], columns: int) -> Integers:
    return np.array(list(rows), dtype=np.int32).reshape(-1, columns)
