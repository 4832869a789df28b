"""Golden texts, orders, samples and decoded predictions, as arrays and notes.

What is a text, or a row of several values, is compared by the sha256 of its compact JSON: 32 numbers in a row.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.benchmarks.combos.dataset import CombosDataset
from harness.data import load_dataset
from harness.parity.goldens import Array, Golden

_DATASET = "combos"
_HALVES = ("train", "test")


def hashes(texts: Iterable[str]) -> Array:
    """The sha256 of each text, a row of 32 numbers."""
    rows = [np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint8) for text in texts]
    return np.array(rows, dtype=np.uint8).reshape(-1, 32)


def compact(value: object) -> str:
    """JSON without blanks, as the goldens' digests are of."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def padded(rows: Sequence[Sequence[int]]) -> Array:
    """Rows of several lengths, filled with -1."""
    width = max(map(len, rows), default=0)
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], dtype=np.int32).reshape(len(rows), width)


def documents(path: Path, layout: Layout, mirrors: Sequence[Path]) -> Golden:
    """Every candidate of some documents in several modes: `texts/DOCUMENT/MODE`, a row each."""
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    dataset = load_dataset(layout, _DATASET, CombosDataset, mirrors=mirrors)
    numbers = {one: number for number, one in enumerate(dataset.doc_ids)}
    if strange := [line["doc_id"] for line in lines if line["doc_id"] not in numbers]:
        raise CorruptData(f"the dataset has no document {strange[0]}", where=str(path), todo="get this file again")
    texts = _problem("in", dataset, [numbers[line["doc_id"]] for line in lines])
    rows = {
        f"texts/{number}/{mode}": hashes(map(compact, candidates))
        for number, line in enumerate(lines)
        for mode, candidates in line["modes"].items()
    }
    return Golden({**texts, **rows})


def corpus(path: Path, layout: Layout, mirrors: Sequence[Path]) -> Golden:
    """Digests of the documents of both files (number of candidates, eight bytes), and how many have each label."""
    stored = json.loads(gzip.decompress(path.read_bytes()))
    arrays, lines = _halves(layout, mirrors), dict[str, list[int]]()
    for mode in stored["totals"]:
        own = {
            int(key.rpartition("/")[2]): value
            for key, value in stored["docs"].items()
            if key.startswith(f"{mode}/")
        }
        lines[mode] = sorted(own)
        rows = [[own[line][0], *bytes.fromhex(own[line][1])] for line in sorted(own)]
        arrays[f"digests/{mode}"] = np.array(rows, dtype=np.int32)
        counts = stored["totals"][mode]
        arrays[f"totals/{mode}"] = np.array([counts[name] for name in ("n", "0", "1", "2")])
    return Golden(arrays, {"lines": lines})


def predictions(path: Path, _layout: Layout, _mirrors: Sequence[Path]) -> Golden:
    """Rows of predictions, and those that greedy decoding keeps."""
    arrays: dict[str, Array] = {}
    for case in json.loads(gzip.decompress(path.read_bytes())):
        if case["adjust"] is not None:
            where = f"{path}: case {case['case']}: adjust"
            raise CorruptData(
                "not a setting of decoding that is known here", where=where, todo="leave this case out"
            )
        kept, given = ([_row(row) for row in case[name]] for name in ("out", "in"))
        arrays |= {f"in/{case['case']}": np.array(given), f"out/{case['case']}": hashes(kept)}
    return Golden(arrays)


def batches(path: Path, _layout: Layout, _mirrors: Sequence[Path]) -> Golden:
    """Labels, and the balanced batches drawn from them."""
    arrays: dict[str, Array] = {}
    settings = []
    for number, case in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        settings.append({name: case[name] for name in ("batch_size", "seed")})
        arrays[f"in/{number}"] = np.array(case["labels"], dtype=np.int32)
        arrays[f"batches/{number}"] = padded(case["batches"])
        numbers = [case[name] for name in ("imbalance_ratio", "p_minority", "len")]
        arrays[f"numbers/{number}"] = np.array(numbers, dtype=np.float64)
    return Golden(arrays, {"settings": settings})


def orders(path: Path, layout: Layout, mirrors: Sequence[Path]) -> Golden:
    """Orders in which candidates are shuffled and split, by seed: the first ten and the sha256 of all."""
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    arrays = _halves(layout, mirrors)
    names = ("n_train_candidates", "n_test_candidates_train_mode", "n_test_candidates_infer_mode")
    arrays["candidates"] = np.array([stored[name] for name in names])
    for seed, order in stored["seeds"].items():
        for name in sorted(one.removesuffix("_sha256") for one in order if one.endswith("_sha256")):
            (first,) = (
                value for one, value in order.items() if re.fullmatch(rf"{name}(_train)?(_mode)?_first10", one)
            )
            arrays[f"orders/{seed}/{name}"] = np.array([*first, *bytes.fromhex(order[f"{name}_sha256"])])
        arrays[f"orders/{seed}/sizes"] = np.array([order["n_train"], order["n_val"]])
    example = stored["label_sampling_example"]
    arrays["sampled"] = hashes(_row(json.loads(row)) for row in example.pop("row_ids"))
    return Golden(arrays, {"sampled": example})


def _halves(layout: Layout, mirrors: Sequence[Path]) -> dict[str, Array]:
    """Both files, as `train/` and `test/`."""
    dataset = load_dataset(layout, _DATASET, CombosDataset, mirrors=mirrors)
    return {
        name: array
        for released, half in enumerate(_HALVES)
        for name, array in _problem(half, dataset, np.flatnonzero(dataset.released == released)).items()
    }


def _problem(prefix: str, dataset: CombosDataset, numbers: Iterable[int]) -> dict[str, Array]:
    """Some documents as a method finds them, numbered anew."""
    new = {int(number): place for place, number in enumerate(numbers)}
    own = [(row, new[int(of)]) for row, of in enumerate(dataset.relations[:, 0]) if int(of) in new]
    own.sort(key=lambda one: one[1])
    place = {row: at for at, (row, _) in enumerate(own)}
    spans = [(new[int(of)], start, end) for of, start, end in dataset.spans if int(of) in new]
    members = [(place[int(row)], span) for row, span in dataset.relation_spans if int(row) in place]
    arrays: dict[str, Array] = {
        "doc_ids": np.array([dataset.doc_ids[number] for number in new]),
        "sentences": np.array([dataset.sentences[number] for number in new]),
        "paragraphs": np.array([dataset.paragraphs[number] for number in new]),
        "spans": np.array(sorted(spans, key=lambda span: span[0]), dtype=np.int32).reshape(-1, 3),
        "relations": np.array([(of, *dataset.relations[row, 1:]) for row, of in own], dtype=np.int32).reshape(
            -1, 3
        ),
        "relation_spans": np.array(sorted(members, key=lambda one: one[0]), dtype=np.int32).reshape(-1, 2),
    }
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _row(row: dict[str, Any]) -> str:
    return compact([row["doc_id"], row["drug_idxs"], row["relation_label"]])
