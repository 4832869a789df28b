"""One's own data as three tables: known pairs, drug features, disease features.

associations: a list of pairs (columns `drug`, `disease` and, if wanted, `label`: +1, -1 or 0, without it all have
+1, and `part`: train or test, for the split `released`), or a matrix: drugs in lines, diseases in columns, a label
or nothing in each cell. Features: the first column names the drug or disease, every other column is a feature; an
empty cell is an unknown value. The feature tables say which drugs and diseases there are, and in which order;
where there is none, the associations do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import Field

from harness.base.errors import CorruptData
from harness.base.faults import Faults, all_faults
from harness.base.manifests import Strict
from harness.base.plurals import counted
from harness.benchmarks.repurposing.dataset import Features, Labels, RepurposingDataset
from harness.benchmarks.repurposing.released import ReleasedDataset
from harness.benchmarks.repurposing.splits.folds import OUTSIDE, TEST
from harness.data.cells import RawTable, check_width, listed_table, read_table, without_columns
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

_ENDS, _LABEL, _PART = ("drug", "disease"), "label", "part"
_COLUMNS = (*_ENDS, _LABEL, _PART)
# What people write above the first column of a matrix whose lines are drugs, or diseases.
_CORNERS = tuple((end, f"{end}s") for end in _ENDS)
_PARTS = {"train": 0, "test": TEST}
# lines that are looked at to tell a matrix from a list
_LOOK_LINES = 20


class Parameters(Strict):
    """The names of the files; `book.xlsx#sheet` is a sheet of a workbook."""

    associations: str = "associations.csv"
    drug_features: str = Field(default="drug_features.csv", description="empty: nothing is known of the drugs")
    disease_features: str = Field(default="disease_features.csv", description="empty: likewise")


class _Pair(NamedTuple):
    """A pair with its label, where it stands, and the part it is of where the table has parts."""

    drug: str
    disease: str
    label: int
    where: str
    part: int | None = None


class _Known(NamedTuple):
    """Features of one kind, and the names of its rows and columns."""

    names: tuple[str, ...]
    features: Features
    columns: tuple[str, ...]
    # where there is no table, nothing says which names are right
    is_listed: bool


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> RepurposingDataset:
    """The dataset out of its tables."""
    parameters = parameters_of(manifest, Parameters)
    associations, drugs, diseases = (
        listed_table(name, files, manifest.name) if name else None
        for name in (parameters.associations, parameters.drug_features, parameters.disease_features)
    )
    if associations is None:
        where = f"{manifest.name}/dataset.toml: parameters.associations"
        raise CorruptData("there are no associations", where=where, todo="name the table that holds them")
    table = read_table(associations)
    with all_faults() as faults:
        pairs, names = _associations(table, faults)
    known = [
        _features(read_table(file)) if file else _alike_to_itself(own)
        for file, own in zip((drugs, diseases), names, strict=True)
    ]
    labels = _labels(pairs, names, known, table)
    (drug_ids, drug_features, drug_columns, _), (disease_ids, disease_features, disease_columns, _) = known
    released = _released(pairs, drug_ids, disease_ids)
    return ReleasedDataset(
        name=manifest.name,
        associations=labels,
        drug_features=drug_features,
        disease_features=disease_features,
        drug_ids=drug_ids,
        disease_ids=disease_ids,
        drug_feature_names=drug_columns,
        disease_feature_names=disease_columns,
        released=released,
        remarks=(
            *(
                f"nothing is known of the {kind}s but their names: each resembles itself alone"
                for kind, one in zip(_ENDS, known, strict=True)
                if not one.is_listed
            ),
            *(
                f"as many features as {kind}s: methods take them for similarities to the {kind}s, in their order"
                for kind, one in zip(_ENDS, known, strict=True)
                if len(one.columns) == len(one.names) and one.columns != one.names
            ),
            *([] if released is None else [_parts_remark(released)]),
        ),
    )


def _parts_remark(released: Labels) -> str:
    """Which split the column `part` is for; a column that names no test pair is for none."""
    tested = int((released == TEST).sum())
    if not tested:
        return "column `part` names no pair to test on: --split released needs some"
    return f"{counted(tested, 'pair')} to test on: --split released"


def _alike_to_itself(names: Sequence[str]) -> _Known:
    """Features of things that nothing is known of: a similarity matrix with ones on its diagonal."""
    return _Known(tuple(names), np.eye(len(names)), tuple(names), is_listed=False)


def _features(table: RawTable) -> _Known:
    header, rows = table.header, table.lines[1:]
    if not rows or len(header) < 2:
        raise CorruptData(
            "the table has no features",
            where=str(table.file),
            todo="give a header, a first column of names and at least one feature column",
        )
    lines: dict[str, int] = {}
    values = np.full((len(rows), len(header) - 1), np.nan)
    with all_faults() as faults:
        for place, name in enumerate(header[1:], start=2):
            if not name:
                # one more makes features of similarities
                where = f"{table.head}, column {place}"
                todo = "name it by its feature, or leave it out"
                faults.add(CorruptData("the column has no name", where=where, todo=todo))
        for number, (line, row) in enumerate(rows):
            where = table.where(line)
            with faults.noted():
                check_width(row, header, where)
                _check_new(row[0], line, lines, where)
                values[number] = _numbers(table, row, where, faults)
    names, columns = tuple(lines), tuple(header[1:])
    places = {column: place for place, column in enumerate(columns)}
    if len(columns) == len(names) and places.keys() == lines.keys():
        # similarities to each other: methods take a column for what stands at its place among the rows
        values, columns = values[:, [places[name] for name in names]], names
    return _Known(names, values, columns, is_listed=True)


def _check_new(name: str, line: int, lines: dict[str, int], where: str) -> None:
    """Add a name to those with their lines; refuse an empty or a known one."""
    if not name:
        raise CorruptData("the line has no name", where=where, todo="name it in the first column")
    if name in lines:
        raise CorruptData(f"'{name}' is also in line {lines[name]}", where=where, todo="keep one of the lines")
    lines[name] = line


def _associations(table: RawTable, faults: Faults) -> tuple[list[_Pair], tuple[list[str], list[str]]]:
    """Pairs with a label, and the names of drugs and of diseases as they are first read."""
    columns = [name.lower() for name in table.header]
    is_list = {*_ENDS} <= {*columns}
    others = [name for name in table.header if name.lower() not in _COLUMNS]
    if is_list and not others and len({*columns}) == len(columns):
        pairs = list(_of_list(table, columns, faults))
        return pairs, (
            list(dict.fromkeys(one.drug for one in pairs)),
            list(dict.fromkeys(one.disease for one in pairs)),
        )
    if _is_matrix(table):
        return _of_matrix(table, faults)
    raise CorruptData(
        table.columns,
        where=table.head,
        todo=without_columns(others, columns, optional=_COLUMNS)
        if is_list and others
        else f"for a list of pairs, name them {', '.join(_COLUMNS)} ({_LABEL} and {_PART} may be left out); for a "
        "matrix, give a line per drug and a column per disease, with 1, -1, 0 or nothing in the cells"
        + _but(table),
    )


def _but(table: RawTable) -> str:
    """What stands in the first cell of what must be a matrix: of more columns than a list, or of drugs alone."""
    columns = [name.lower() for name in table.header]
    names_drugs = columns[0] in _CORNERS[0] and not {*columns} & {*_CORNERS[1]}
    cells = [row[1] for _, row in table.lines[1:2] if len(row) > len(_COLUMNS) or (names_drugs and len(row) > 2)]
    return "".join(f", and not '{cell:.40}'" for cell in cells)


def _is_matrix(table: RawTable) -> bool:
    """Whether what stands behind the first column are labels, and not names."""
    cells = [row[1] for _, row in islice(table.lines[1:], _LOOK_LINES) if len(row) > 1]
    return len(table.header) > 1 and sum(not cell or _number(table, cell) is not None for cell in cells) * 2 > len(
        cells
    )


def _of_list(table: RawTable, columns: Sequence[str], faults: Faults) -> Iterator[_Pair]:
    lines: dict[tuple[str, str], int] = {}
    for line, row in table.lines[1:]:
        where = table.where(line)
        with faults.noted():
            check_width(row, columns, where)
            cells = dict(zip(columns, row, strict=True))
            drug, disease = ends = cells["drug"], cells["disease"]
            if not all(ends):
                raise CorruptData("the pair has a name that is empty", where=where, todo="give both names")
            if ends in lines:
                raise CorruptData(
                    f"the pair '{drug}', '{disease}' is also in line {lines[ends]}",
                    where=where,
                    todo="keep one of the lines",
                )
            lines[ends] = line
            label = _label(table, cells[_LABEL], where) if _LABEL in cells else 1
            yield _Pair(drug, disease, label, where, _part(cells[_PART], where) if _PART in cells else None)


def _of_matrix(table: RawTable, faults: Faults) -> tuple[list[_Pair], tuple[list[str], list[str]]]:
    header, pairs = table.header, []
    if header[0].lower() in _CORNERS[1]:
        raise CorruptData(
            f"the lines of the matrix are said to be diseases: '{header[0]}'",
            where=table.head,
            todo="give a line per drug and a column per disease; if the lines are drugs, say so in this cell",
        )
    drugs: dict[str, int] = {}
    diseases: dict[str, int] = {}
    for place, name in enumerate(header[1:], start=2):
        with faults.noted():
            where = f"{table.head}, column {place}"
            if not name:
                raise CorruptData("the column has no name", where=where, todo="name it by its disease")
            if name in diseases:
                what = f"'{name}' is also the name of column {diseases[name]}"
                raise CorruptData(what, where=where, todo="keep one of the columns")
            diseases[name] = place
    for line, row in table.lines[1:]:
        where = table.where(line)
        with faults.noted():
            check_width(row, header, where)
            _check_new(row[0], line, drugs, where)
            for disease, cell in zip(header[1:], row[1:], strict=True):
                at = f"{where}, column '{disease}'"
                with faults.noted():
                    if label := _label(table, cell, at) if cell else 0:
                        pairs.append(_Pair(row[0], disease, label, at))
    return pairs, (list(drugs), list(diseases))


def _labels(
    pairs: Sequence[_Pair], names: Sequence[Sequence[str]], known: Sequence[_Known], table: RawTable
) -> Labels:
    """The matrix of labels; every drug and disease that is named must be among the known ones."""
    numbers = [{name: place for place, name in enumerate(one.names)} for one in known]
    if all(
        own and set(own) <= other.keys() and set(own).isdisjoint(listed)
        for own, listed, other in zip(names, numbers, reversed(numbers), strict=True)
    ):
        raise CorruptData(
            "diseases stand where drugs belong, and drugs where diseases belong",
            where=str(table.file),
            todo="turn the matrix, or exchange the two tables of features",
        )
    labels = np.zeros([len(one) for one in numbers], dtype=np.int8)
    with all_faults() as faults:
        for at, kind in enumerate(_ENDS):
            places = {pair[at]: pair.where for pair in reversed(pairs)}
            for name in (one for one in names[at] if one not in numbers[at]):
                faults.add(
                    CorruptData(
                        f"{kind} '{name}' has no line in the {kind} features",
                        where=places.get(name, str(table.file)),
                        todo="add it there (its cells may be empty), or remove it here",
                    )
                )
    for pair in pairs:
        labels[numbers[0][pair.drug], numbers[1][pair.disease]] = pair.label
    return labels


def _label(table: RawTable, cell: str, where: str) -> int:
    label = _number(table, cell)
    if label not in (-1, 0, 1):
        raise CorruptData(f"label '{cell}' is none of -1, 0, +1", where=where, todo="correct the label")
    return int(label)


def _part(cell: str, where: str) -> int:
    if cell.lower() not in _PARTS:
        raise CorruptData(f"'{cell}' is no part", where=where, todo=f"write {' or '.join(_PARTS)}")
    return _PARTS[cell.lower()]


def _released(pairs: Sequence[_Pair], drugs: Sequence[str], diseases: Sequence[str]) -> Labels | None:
    """The part of every pair that the table names; None where it has no parts."""
    parts = {(pair.drug, pair.disease): pair.part for pair in pairs if pair.part is not None}
    if not parts:
        return None
    rows, columns = ({name: place for place, name in enumerate(names)} for names in (drugs, diseases))
    released = np.full((len(rows), len(columns)), OUTSIDE, dtype=np.int8)
    for (drug, disease), part in parts.items():
        released[rows[drug], columns[disease]] = part
    return released


def _numbers(table: RawTable, row: Sequence[str], where: str, faults: Faults) -> list[float]:
    """The features of a line; an empty cell is an unknown one."""
    numbers = [_number(table, cell) if cell else math.nan for cell in row[1:]]
    for cell, column, number in zip(row[1:], table.header[1:], numbers, strict=True):
        if number is None:
            place = f"{where}, column '{column}'"
            todo = "give a number, or leave an unknown value empty"
            faults.add(CorruptData(f"'{cell}' is not a number", where=place, todo=todo))
    return [math.nan if number is None else number for number in numbers]


def _number(table: RawTable, cell: str) -> float | None:
    try:
        return table.number(cell)
    except ValueError:
        return None
