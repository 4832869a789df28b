"""What the released data hold, beside the numbers of Section 2.7 and the introduction, and what is odd in them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise
from math import comb
from pathlib import Path

from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.benchmarks.combos.dataset import TEST_FILE, CombosDataset
from harness.benchmarks.combos.documents import POS, Document, abstracts_of
from harness.benchmarks.combos.metrics.scored_rows import drug_names
from harness.compare.claims import SHOWN, TABLES, load_printed
from harness.data import load_dataset
from harness.study.measurements import notes_on_data
from harness.study.sheets import NONE, Sheet
from harness.study.sides import Sides
from harness.study.specs import Spec

DATASET = "combos"
PARTS = ("train", "test", "all")
_Counts = Callable[[Sequence[Document]], int]


class CorpusFacts(Strict):
    """Each count in the training file, in the test file, and in both."""

    dataset: str
    digest: str
    counts: dict[str, list[int]]


def measure(layout: Layout, mirrors: Sequence[Path]) -> CorpusFacts:
    """Everything counted now."""
    dataset = load_dataset(layout, DATASET, CombosDataset, mirrors=mirrors)
    return CorpusFacts(dataset=DATASET, digest=dataset.digest, counts=counts_of(dataset))


def counts_of(dataset: CombosDataset) -> dict[str, list[int]]:
    """Every count by its name."""
    is_test = (dataset.released == TEST_FILE).tolist()
    parts = [
        [document for document, own in zip(dataset.documents, is_test, strict=True) if own == wanted]
        for wanted in (False, True)
    ]
    documents = [*parts, [*dataset.documents]]
    counts = {name: [count(own) for own in documents] for name, count in _COUNTS.items()}
    known = {combination for document in parts[0] for combination in _combinations(document)}
    asked = [combination for document in parts[1] for combination in _combinations(document)]
    unseen = sum(combination not in known for combination in asked)
    counts["test relations that training does not have"] = [0, unseen, unseen]
    counts["full percents of test relations that training does not have"] = [0, *[100 * unseen // len(asked)] * 2]
    leaders = abstracts_of(dataset.documents)
    groups = [
        Counter(leader for leader, own in zip(leaders, is_test, strict=True) if own == one)
        for one in (False, True)
    ]
    shared = [sum(count for count in group.values() if count > 1) for group in groups]
    counts["instances that share an abstract with another one of their file"] = [*shared, sum(shared)]
    both = len(groups[0].keys() & groups[1].keys())
    counts["abstracts of both files"] = [both] * 3
    return counts


def sheet(sides: Sides, facts: CorpusFacts | None, spec: Spec) -> Sheet | None:
    """A row per count: printed, then ours by file; `≠` where they differ."""
    if facts is None:
        return None
    printed: dict[str, dict[str, str]] = {}
    for row in load_printed(sides.layout.published / sides.names.benchmark / TABLES):
        if row["statistic"] == SHOWN and row["table"] == spec.number:
            printed.setdefault(row["metric"], {})[row["split"]] = row["value"]
    rows = []
    for name in [*printed, *(name for name in facts.counts if name not in printed)]:
        ours = dict(zip(PARTS, facts.counts[name], strict=True))
        own = printed.get(name, {})
        texts = [f"{own.get(part, NONE)}{_mark(own.get(part), ours[part])}" for part in PARTS]
        rows.append([name, " / ".join(texts) if own else NONE, *(str(ours[part]) for part in PARTS)])
    notes = notes_on_data(sides.layout, facts.dataset, facts.digest)
    return spec.sheet(["", f"printed: {' / '.join(PARTS)}", *PARTS], rows, notes=notes)


def _mark(printed: str | None, ours: int) -> str:
    return " ≠" if printed is not None and int(printed) != ours else ""


def _combinations(document: Document) -> Iterable[tuple[str, ...]]:
    texts = [drug.text for drug in document.drugs]
    return (drug_names(texts, relation.spans) for relation in document.relations)


def _of_relations(holds: Callable[[str, int, bool], bool]) -> _Counts:
    """How many relations have a class, a size and a need of the context that fit."""

    def count(documents: Sequence[Document]) -> int:
        relations = (relation for document in documents for relation in document.relations)
        return sum(
            holds("POS" if one.label == POS else "OTHER", len(one.spans), one.context_needed) for one in relations
        )

    return count


def _of_documents(holds: Callable[[Document], bool]) -> _Counts:
    return lambda documents: sum(map(holds, documents))


def training_candidates(document: Document) -> int:
    """Relations, and all sets of two drugs or more that are part of none."""
    drugs, gold = range(len(document.drugs)), [frozenset(relation.spans) for relation in document.relations]
    within = {
        frozenset(part)
        for one in gold
        for size in range(2, len(one) + 1)
        for part in combinations(sorted(one), size)
    }
    return len(gold) + sum(comb(len(drugs), size) for size in range(2, len(drugs) + 1)) - len(within)


def _is_overlapping(document: Document) -> bool:
    sets = [{*relation.spans} for relation in document.relations]
    return any(one & other for one, other in combinations(sets, 2))


_COUNTS: dict[str, _Counts] = {
    "instances": len,
    "relations": _of_relations(lambda label, size, context: True),
    "POS": _of_relations(lambda label, size, context: label == "POS"),
    "OTHER": _of_relations(lambda label, size, context: label == "OTHER"),
    "relations that need context": _of_relations(lambda label, size, context: context),
    "no relation": _of_documents(lambda one: not one.relations),
    "one relation": _of_documents(lambda one: len(one.relations) == 1),
    "two or more relations": _of_documents(lambda one: len(one.relations) > 1),
    "2 drugs": _of_relations(lambda label, size, context: size == 2),
    "3 drugs": _of_relations(lambda label, size, context: size == 3),
    "4 drugs": _of_relations(lambda label, size, context: size == 4),
    "5 drugs or more": _of_relations(lambda label, size, context: size > 4),
    "abstracts with a positive combination": _of_documents(
        lambda one: any(relation.label == POS for relation in one.relations)
    ),
    "fewest drugs of a sentence": lambda documents: min(len(one.drugs) for one in documents),
    "most drugs of a sentence": lambda documents: max(len(one.drugs) for one in documents),
    "most drugs of a positive combination": lambda documents: max(
        len(relation.spans) for one in documents for relation in one.relations if relation.label == POS
    ),
    "candidates, as the script of the published numbers makes them": lambda documents: sum(
        2 ** len(one.drugs) - len(one.drugs) - 1 for one in documents
    ),
    "candidates, as training makes them": lambda documents: sum(map(training_candidates, documents)),
    "instances with overlapping relations: disjoint decoding can't find all": _of_documents(_is_overlapping),
    "instances whose spans are not in the order of the text": _of_documents(
        lambda one: any(first.start > second.start for first, second in pairwise(one.drugs))
    ),
    "relations that list their drugs in no order": lambda documents: sum(
        [*relation.spans] != sorted(relation.spans) for one in documents for relation in one.relations
    ),
    "drugs whose text is not that of the sentence": lambda documents: sum(
        one.sentence[drug.start : drug.end] != drug.text for one in documents for drug in one.drugs
    ),
    "instances without a source": _of_documents(lambda one: not one.source),
    "instances whose doc_id is not the md5 of their sentence": _of_documents(
        lambda one: one.doc_id != hashlib.md5(one.sentence.encode(), usedforsecurity=False).hexdigest()
    ),
}
