"""What the goldens of candidates, texts, orders, samples and decoding ask for."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from combination_candidates import NO_COMB, Candidate, all_sets, asked_candidates, training_candidates
from combination_decoding import greedy
from combination_orders import BalancedBatches, sampled, shuffled, split
from combos_sdk import LABELS, Document, Relation, Span
from marked_texts import marked_text
from permafrost_sdk import Array, Case

Row = list[Any]
_HALVES = ("train", "test")


def documents(case: Case) -> dict[str, Array]:
    """The candidates of some documents by mode, as `texts/DOCUMENT/MODE`."""
    own = documents_of(case, "in")
    asked = [name.split("/") for name in case.about["shapes"]]
    return {
        f"{kind}/{number}/{mode}": hashes(map(compact, rows_of(own[int(number)], mode)))
        for kind, number, mode in asked
    }


def corpus(case: Case) -> dict[str, Array]:
    """Digests of documents, and the numbers of candidates of all, by file and mode."""
    traces: dict[str, Array] = {}
    for name, lines in case.about["lines"].items():
        half, mode = name.split("/")
        digests, counts = [], Counter[int]()
        for document in documents_of(case, half):
            rows = list(rows_of(document, mode))
            counts.update(label for _, label, _ in rows)
            digests.append([len(rows), *hashes([compact(rows)])[0, :8]])
        traces[f"digests/{name}"] = np.array([digests[line] for line in lines], dtype=np.int32)
        traces[f"totals/{name}"] = np.array([counts.total(), counts[0], counts[1], counts[2]])
    return traces


def decoding(case: Case) -> dict[str, Array]:
    """The predictions that greedy decoding keeps."""
    traces: dict[str, Array] = {}
    for name, lines in case.arrays.items():
        places: dict[str, list[int]] = defaultdict(list)
        rows = [json.loads(line) for line in lines]
        for place, (document, _, _) in enumerate(rows):
            places[document].append(place)
        kept = [
            own[place]
            for own in places.values()
            for place in greedy([tuple(rows[at][1]) for at in own], [rows[at][2] for at in own])
        ]
        traces[f"out/{name.removeprefix('in/')}"] = hashes(lines[place] for place in sorted(kept))
    return traces


def batches(case: Case) -> dict[str, Array]:
    """Balanced batches, filled with -1."""
    traces: dict[str, Array] = {}
    for number, setting in enumerate(case.about["settings"]):
        sampler = BalancedBatches(case.arrays[f"in/{number}"].tolist(), setting["batch_size"], setting["seed"])
        rows = sampler.batches()
        width = max(map(len, rows))
        traces[f"batches/{number}"] = np.array(
            [[*row, *[-1] * (width - len(row))] for row in rows], dtype=np.int32
        )
        traces[f"numbers/{number}"] = np.array([sampler.ratio, sampler.rare_share, len(sampler)], dtype=np.float64)
    return traces


def orders(case: Case) -> dict[str, Array]:
    """Orders of candidates by seed, and a sample of some documents' by label."""
    halves = [documents_of(case, half) for half in _HALVES]
    trained = [[list(_candidates(document, "train")) for document in own] for own in halves]
    train, test = (sum(map(len, own)) for own in trained)
    asked = sum(len(all_sets(len(document.spans))) for document in halves[1])
    traces: dict[str, Array] = {"candidates": np.array([train, test, asked])}
    for seed in {name.split("/")[1] for name in case.about["shapes"] if name.startswith("orders/")}:
        generator = random.Random(int(seed))
        parts = split(range(train), int(seed))
        own = {
            "shuffle_train": shuffled(range(train), generator),
            # drawn after it
            "shuffle_test": shuffled(range(test), generator),
            "shuffle_test_infer": shuffled(range(asked), random.Random(int(seed))),
            "split_train": parts[0],
            "split_val": parts[1],
        }
        for name, order in own.items():
            digest = hashlib.sha256(",".join(map(str, order)).encode()).digest()
            traces[f"orders/{seed}/{name}"] = np.array([*order[:10], *digest])
        traces[f"orders/{seed}/sizes"] = np.array([len(part) for part in parts])
    return traces | {"sampled": _sampled(case, trained[0])}


def _sampled(case: Case, candidates: Sequence[Sequence[Candidate]]) -> Array:
    example, names = case.about["sampled"], case.arrays["train/doc_ids"]
    first, last = map(int, re.findall(r"\d+", example["docs"]))
    rows = [(names[line], one) for line in range(first, last + 1) for one in candidates[line]]
    labels = [one.label for _, one in rows]
    sample = sampled(rows, labels, example["ratios"], random.Random(example["seed"]))
    return hashes(compact([name, list(one.drugs), one.label]) for name, one in sample)


def documents_of(case: Case, prefix: str) -> list[Document]:
    """The documents of a case, as the SDK makes them of a job's inputs."""
    names = ("sentences", "paragraphs", "spans", "relations", "relation_spans")
    sentences, paragraphs, spans, relations, members = (case.arrays[f"{prefix}/{name}"] for name in names)
    drugs: list[list[Span]] = [[] for _ in sentences]
    for document, begin, end in spans.tolist():
        drugs[document].append(Span(begin, end, ""))
    listed: list[list[int]] = [[] for _ in relations]
    for relation, drug in members.tolist():
        listed[relation].append(drug)
    own: list[list[Relation]] = [[] for _ in sentences]
    for (document, label, *_), places in zip(relations.tolist(), listed, strict=True):
        own[document].append(Relation(tuple(places), LABELS[label]))
    texts = zip(sentences, paragraphs, drugs, own, strict=True)
    return [Document(sentence, text, tuple(of), tuple(seen)) for sentence, text, of, seen in texts]


def rows_of(document: Document, mode: str) -> Iterator[Row]:
    """Drugs, label and text of each candidate.

    A mode says by its name whether it is of training, which sets are no combination there, whether the text is the
    paragraph's, and how many words it has.
    """
    if not (setting := re.fullmatch(r"(train|infer)(_\w+?)??_(?:(no)?ctx(\d+)|nowindow)", mode)):
        raise ValueError(f"'{mode}' names no mode that is known here")
    kind, negatives, without, width = setting.groups()
    text = marked_text(document, context=not without)
    for drugs, label in _candidates(document, kind, negatives or ""):
        yield [list(drugs), label, text.passage(drugs, int(width)).text if width else text.whole(drugs)]


def _candidates(document: Document, kind: str, negatives: str = "") -> Iterable[Candidate]:
    sets = all_sets(len(document.spans))
    if kind == "infer":
        return asked_candidates(sets, document.relations)
    largest = {"": len(document.spans), "_binary_nocomb": 2, "_no_nocomb": 0}[negatives]
    candidates = training_candidates(sets, document.relations)
    return [one for one in candidates if one.label != NO_COMB or len(one.drugs) <= largest]


def hashes(texts: Iterable[str]) -> Array:
    """The sha256 of each text, a row of 32 numbers."""
    rows = [np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint8) for text in texts]
    return np.array(rows, dtype=np.uint8).reshape(-1, 32)


def compact(value: object) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
