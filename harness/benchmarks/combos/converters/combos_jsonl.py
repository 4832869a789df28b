"""Documents in JSON Lines, as the drug-combination dataset releases them; faults name file, line and field.

A line is an object: `doc_id`, `sentence`, `paragraph`, `source`, `spans` (`span_id`, `text`, `start`, `end`) and
`rels` (`class`, `spans`, `is_context_needed`). Other fields are left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from harness.base.errors import CorruptData
from harness.base.faults import Faults, all_faults
from harness.base.manifests import Strict
from harness.benchmarks.combos.checks import check_texts
from harness.benchmarks.combos.dataset import TEST_FILE, TRAINING_FILE, UNANNOTATED, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import LABELS, NO_COMB, Document, DrugRelation, MarkedDrug
from harness.data.cells import unpacked
from harness.data.lines import path_of
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of

T = TypeVar("T")
_CLASSES = {name: number for number, name in enumerate(LABELS) if number != NO_COMB}
_BLANKS = b" \t\r\n\xef\xbb\xbf"
_KINDS = {str: "a text", list: "a list", dict: "an object", int: "a whole number", bool: "true or false"}


class Parameters(Strict):
    """Which file is what."""

    train: str
    test: str = ""
    # documents without relations, for `harness predict`
    unannotated: str = ""


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> CombosDataset:
    """The documents of all files, those to learn from first."""
    parameters = parameters_of(manifest, Parameters)
    documents, released, places = list[Document](), list[int](), dict[str, str]()
    tables = (
        (parameters.train, TRAINING_FILE),
        (parameters.test, TEST_FILE),
        (parameters.unannotated, UNANNOTATED),
    )
    with all_faults() as faults:
        for name, part in tables:
            for where, document in _documents(path_of(name, files), part, faults) if name else ():
                with faults.noted():
                    _check_id(document.doc_id, where, places)
                documents.append(document)
                released.append(part)
    return dataset_of(manifest.name, documents, released)


def _check_id(doc_id: str, where: str, places: dict[str, str]) -> None:
    """Add a document to those with their lines; refuse one without a name, or with that of another one."""
    if not doc_id:
        raise CorruptData("the doc_id is empty", where=f"{where}: doc_id", todo="give each document one")
    if doc_id in places:
        what = f"the document '{doc_id}' is also in {places[doc_id]}"
        raise CorruptData(what, where=f"{where}: doc_id", todo="give each document a doc_id of its own")
    places[doc_id] = where


def _documents(path: Path, part: int, faults: Faults) -> Iterator[tuple[str, Document]]:
    """Where each document is, and the document; those with faults are noted and left out."""
    content = unpacked(path)
    if b"\0" in content:
        # JSON writes such a character otherwise
        what = "not UTF-8: it has zero bytes, as texts in UTF-16 have"
        raise CorruptData(what, where=str(path), todo="save the file as UTF-8")
    if content.lstrip(_BLANKS).startswith(b"["):
        raise CorruptData(
            "not JSON Lines: one list of documents",
            where=str(path),
            todo="write each document in a line of its own: jq -c '.[]' documents.json > documents.jsonl",
        )
    # not splitlines: a text may hold other characters that end a line
    for number, line in enumerate(content.split(b"\n"), start=1):
        where, document = f"{path}: line {number}", None
        with faults.noted():
            if line.strip():
                document = _checked(_document(line, where), part, where)
        if document is not None:
            yield where, document


def _checked(document: Document, part: int, where: str) -> Document:
    if part == UNANNOTATED and document.relations:
        what = "a document that is not annotated has relations"
        raise CorruptData(what, where=f"{where}: rels", todo="leave them out, or list it for training")
    check_texts(document, where)
    return document


def _document(line: bytes, where: str) -> Document:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CorruptData(f"not UTF-8: {error.reason}", where=where, todo="save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:
        todo = "write each document as JSON in a line of its own; this one may be cut short"
        raise CorruptData(f"not a line of JSON: {error}", where=where, todo=todo) from None
    if not isinstance(row, dict):
        raise CorruptData("not an object", where=where, todo='write {"doc_id": ..., "sentence": ...}')
    with all_faults() as faults:
        texts, drugs, relations = dict[str, str](), list[MarkedDrug](), list[DrugRelation]()
        for name in ("doc_id", "sentence", "paragraph", "source"):
            with faults.noted():
                missing = name == "source" and row.get(name) is None
                texts[name] = "" if missing else _field(row, name, str, where)
        with faults.noted():
            for number, one in enumerate(_field(row, "spans", list, where)):
                with faults.noted():
                    drugs.append(_drug(one, number, f"{where}: spans[{number}]"))
        with faults.noted():
            for number, one in enumerate(_field(row, "rels", list, where)):
                with faults.noted():
                    relations.append(_relation(one, f"{where}: rels[{number}]"))
    # a sentence without an abstract is all that is known
    texts["paragraph"] = texts["paragraph"] or texts["sentence"]
    return Document(**texts, drugs=tuple(drugs), relations=tuple(relations))


def _drug(span: Any, number: int, where: str) -> MarkedDrug:
    own = _field(span, "span_id", int, where)
    if own != number:
        raise CorruptData(
            f"span_id is {own}, not {number}", where=where, todo="number the spans of a line from 0 in their order"
        )
    start, end = (_field(span, name, int, where) for name in ("start", "end"))
    return MarkedDrug(start, end, _field(span, "text", str, where))


def _relation(relation: Any, where: str) -> DrugRelation:
    _typed(relation, dict, where)
    with all_faults() as faults:
        with faults.noted():
            name = _field(relation, "class", str, where)
            if name not in _CLASSES:
                todo = f"use {', '.join(_CLASSES)}"
                raise CorruptData(f"'{name}' is no class", where=f"{where}.class", todo=todo)
        with faults.noted():
            drugs = [_typed(drug, int, f"{where}.spans") for drug in _field(relation, "spans", list, where)]
        with faults.noted():
            is_context_needed = _field(relation, "is_context_needed", bool, where)
    return DrugRelation(_CLASSES[name], tuple(drugs), is_context_needed)


def _field(row: Any, name: str, kind: type[T], where: str) -> T:
    """The field of a line, if it is of this kind."""
    own = _typed(row, dict, where)
    if name not in own:
        raise CorruptData(f"there is no field '{name}'", where=where, todo="add it; a text may be empty")
    return _typed(own[name], kind, f"{where}.{name}" if where.endswith("]") else f"{where}: {name}")


def _typed(value: Any, kind: type[T], where: str) -> T:
    if type(value) is not kind:
        raise CorruptData(f"{value!r:.60} is not {_KINDS[kind]}", where=where, todo="correct the value")
    return value
