"""A prediction as CSV, JSON, a workbook and Parquet. CSV has the rows alone; all others say what they mean too."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from harness.base.tables import csv_text
from harness.base.workbook import Worksheet, workbook_bytes
from harness.prediction.prediction import Prediction

KINDS = ("csv", "xlsx", "parquet", "json")


def content_of(prediction: Prediction, kind: str) -> str | bytes:
    """The file of one of the KINDS but JSON, which `to_json` is for."""
    if kind == "xlsx":
        return workbook_bytes(
            [
                Worksheet("ranking", prediction.columns, prediction.rows),
                Worksheet(
                    "about", ("what", "it says"), [*_question(prediction), *_about(prediction)], wrapped=True
                ),
            ]
        )
    return _parquet(prediction) if kind == "parquet" else csv_text(prediction.columns, prediction.rows)


def about_lines(prediction: Prediction) -> list[str]:
    """Who answers and why in this variant, what speaks against believing them, and what the columns say."""
    return [f"{what}: {text}" for what, text in _about(prediction)]


def to_json(prediction: Prediction) -> dict[str, Any]:
    """Everything, with a row as an object."""
    return {**_facts(prediction), "rows": _objects(prediction)}


def _question(prediction: Prediction) -> Iterator[tuple[str, str]]:
    """What was asked, which a file has to say months later, and which runs answered; a heading and a text each."""
    request = prediction.request
    for item in request.new:
        yield f"new {item.kind}", f"{item.name}: {item.text}" if item.text else item.name
    for kind, name in request.only:
        yield "only", f"rows with {kind} {name}"
    for first, second in request.pairs:
        yield "only", f"rows with both {first} and {second}"
    yield "seed", str(request.seed)
    for one in prediction.methods:
        yield "run", f"{one.key}, ended {one.finished}, made by harness {one.harness}"


def _about(prediction: Prediction) -> list[tuple[str, str]]:
    """Pairs of a heading and a text."""
    summary = f": {prediction.summary}" if prediction.summary else ""
    lines = [("dataset", f"{prediction.dataset} ({prediction.title}){summary}")]
    for one in prediction.methods:
        lines.append((one.name, f"{one.reason} (evidence: harness audit {one.key[:12]})"))
        lines += [(one.name, remark) for remark in one.remarks]
    return [*lines, *(("note", text) for text in prediction.meaning)]


def _facts(prediction: Prediction) -> dict[str, Any]:
    request = prediction.request
    return {
        "benchmark": prediction.benchmark,
        "dataset": prediction.dataset,
        "summary": prediction.summary,
        "new": [item.model_dump() for item in request.new],
        "only": [{"kind": kind, "name": name} for kind, name in request.only],
        "pairs": [list(pair) for pair in request.pairs],
        "seed": request.seed,
        "methods": [
            {
                "method": one.method,
                "variant": one.variant,
                "reason": one.reason,
                "remarks": list(one.remarks),
                "key": one.key,
                "finished": one.finished,
                "harness": one.harness,
            }
            for one in prediction.methods
        ],
        "meaning": list(prediction.meaning),
        "columns": list(prediction.columns),
        "ranked": prediction.table.ranked,
        "asked": prediction.table.asked,
        "among": prediction.table.among,
    }


def _objects(prediction: Prediction) -> list[dict[str, Any]]:
    return [dict(zip(prediction.columns, row, strict=True)) for row in prediction.rows]


def _parquet(prediction: Prediction) -> bytes:
    """A column for each column; all that is said beside the rows is JSON in the metadata `permafrost`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = zip(*prediction.rows, strict=True) if prediction.rows else ([] for _ in prediction.columns)
    table = pa.table(dict(zip(prediction.columns, map(pa.array, map(list, columns)), strict=True)))
    table = table.replace_schema_metadata({"permafrost": json.dumps(_facts(prediction), ensure_ascii=False)})
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()
