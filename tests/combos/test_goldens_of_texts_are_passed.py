"""Goldens of texts, orders and decoding: the published ones, ones made by definition, and ones that are wrong."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import CorruptData, MissingData
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.combos.dataset import TEST_FILE, TRAINING_FILE, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import COMB, NEG, POS, Document, DrugRelation, MarkedDrug
from harness.benchmarks.combos.parity import texts as reading
from harness.execution.trials import Result, Trial, write_trial
from harness.methods.card import load_method
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing
from tests.combos import plain_texts as plain
from tests.combos.conftest import FOLDERS

_TASKS = ("documents", "corpus", "decoding", "batches", "orders")
_FILES = ("a_preprocess", "a_preprocess_digests", "c_greedy", "g_balanced_sampler", "h_order")
_CLASSES = {COMB: 1, NEG: 1, POS: 2}
Modes = Mapping[str, tuple[bool, bool, int]]
# whether of training, whether the paragraph is read, how many words
_MODES: Modes = {
    "train_ctx30": (True, True, 30),
    "infer_noctx9": (False, False, 9),
    "train_noctx400": (True, False, 400),
}


class TextsAlone:
    """A runner of the golden cases of texts on this machine: their code needs NumPy alone."""

    def __init__(self, layout: Layout, work: Path) -> None:
        self._work = work
        self._path = [str(layout.root / folder) for folder in (*FOLDERS, f"{FOLDERS[0]}/parity")]

    @contextmanager
    def __call__(self, trial: Trial) -> Iterator[Result]:
        folder = self._work / trial.task
        for name in ("in", "out"):
            (folder / name).mkdir(parents=True)
        write_trial(trial, folder / "in")
        (folder / "golden.py").write_text("from combination_goldens import *\n")
        (folder / "main.py").write_text("import combos_sdk\ncombos_sdk.run(None)\n")
        own = {"PERMAFROST_IN": str(folder / "in"), "PERMAFROST_OUT": str(folder / "out")}
        done = subprocess.run(
            [sys.executable, "-B", str(folder / "main.py")],
            env={**os.environ, **own, "PYTHONPATH": os.pathsep.join([str(folder), *self._path])},
            capture_output=True,
            text=True,
            check=False,
        )
        yield Result(Verdict.ERROR if done.returncode else Verdict.OK, done.stderr, folder / "out", 0.0)


def _findings(layout: Layout, golden: Path, work: Path, *mirrors: Path) -> dict[str, CaseFinding]:
    card = load_method(layout, "pure_scibert")
    card = card.model_copy(update={"parity": [table for table in card.parity if table.task in _TASKS]})
    cases = [case for case in find_cases(golden) if case.name in _FILES]
    run = TextsAlone(layout, work)
    return {finding.case: finding for finding in check_cases(layout, cases, [card], run, mirrors=mirrors)}


def test_the_published_cases(layout: Layout, shared: Path, tmp_path: Path) -> None:
    findings = _findings(layout, shared / "golden" / "combos", tmp_path, shared / "mirror")
    assert {name: one.worst for name, one in findings.items()} == dict.fromkeys(sorted(_FILES), Standing.OK), (
        findings
    )
    # nothing of a case is left out: 15 documents in 7 modes, 6 digests and totals, 10 decodings, 5 samples
    counts = {name: len(one.arrays) for name, one in findings.items()}
    assert counts == dict(zip(_FILES, (105, 12, 10, 10, 14), strict=True))


def test_without_the_dataset_it_is_missing_and_no_failure(
    layout: Layout, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: object, **__: object) -> CombosDataset:
        raise MissingData("the dataset is not here")

    monkeypatch.setattr(reading, "load_dataset", load)
    findings = _findings(layout, shared / "golden" / "combos", tmp_path)
    needing = {name for name, one in findings.items() if one.worst is Standing.MISSING_DATA}
    assert needing == {"a_preprocess", "a_preprocess_digests", "h_order"}


@pytest.fixture
def dataset(monkeypatch: pytest.MonkeyPatch) -> CombosDataset:
    """Documents of 2 to 7 drugs in any order, with relations listed in any order."""
    draw = random.Random(5)
    documents = [_document(number, draw) for number in range(14)]
    made = dataset_of("made", documents, [TRAINING_FILE] * 9 + [TEST_FILE] * 5)
    monkeypatch.setattr(reading, "load_dataset", lambda *_, **__: made)
    return made


def _document(number: int, draw: random.Random) -> Document:
    text, drugs = f"{number} ", list[MarkedDrug]()
    for drug in range(draw.randint(2, 7)):
        text += draw.choice(["plus ", "", "\u2009and  ", "\U0001f48a , ", "of a trial of "])
        name = f"drug{drug}"
        drugs.append(MarkedDrug(len(text), len(text) + len(name), name))
        text += name + draw.choice([" ", ") "])
    draw.shuffle(drugs)
    sets = draw.sample(plain.subsets(len(drugs)), k=draw.randint(0, min(3, len(drugs) - 1)))
    relations = tuple(
        DrugRelation(draw.choice([*_CLASSES]), tuple(draw.sample(one, len(one))), False) for one in sets
    )
    return Document(f"id{number}", text + ".", f"Before. {text}. After.", "", tuple(drugs), relations)


def _rows(document: Document, mode: str) -> list[list[Any]]:
    training, context, width = _MODES[mode]
    annotated = [(one.spans, _CLASSES[one.label]) for one in document.relations]
    shift = document.paragraph.index(document.sentence) if context else 0
    text = document.paragraph if context else document.sentence
    rows = (plain.trained if training else plain.asked)(len(document.drugs), annotated)
    return [
        [list(one), label, plain.window(plain.marked(text, _places(document, one, shift)), width)]
        for one, label in rows
    ]


def _places(document: Document, drugs: tuple[int, ...], shift: int) -> list[tuple[int, int]]:
    return [(document.drugs[drug].start + shift, document.drugs[drug].end + shift) for drug in drugs]


def _packed(path: Path, value: object) -> None:
    path.write_bytes(gzip.compress(json.dumps(value).encode()))


def _make(folder: Path, dataset: CombosDataset) -> None:
    """Golden files of other documents, sizes, seeds and modes than the published ones."""
    halves = {"train": dataset.documents[:9], "test": dataset.documents[9:]}
    lines = [
        {"doc_id": one.doc_id, "modes": {mode: _rows(one, mode) for mode in _MODES}}
        for one in halves["train"][::2]
    ]
    (folder / "a_preprocess.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    digests: dict[str, Any] = {"totals": {}, "docs": {}}
    for half, mode in (("train", "train_ctx30"), ("test", "infer_noctx9")):
        rows = [_rows(one, mode) for one in halves[half]]
        labels = [str(row[1]) for own in rows for row in own]
        digests["totals"][f"{half}/{mode}"] = {"n": len(labels), **{name: labels.count(name) for name in "012"}}
        for line in range(1, len(rows), 2):
            text = json.dumps(rows[line], ensure_ascii=False, separators=(",", ":"))
            digest = [len(rows[line]), hashlib.sha256(text.encode()).hexdigest()[:16]]
            digests["docs"][f"{half}/{mode}/{line}"] = digest
    _packed(folder / "a_preprocess_digests.json.gz", digests)
    _packed(folder / "c_greedy.json.gz", [*_decoded(random.Random(3))])
    (folder / "g_balanced_sampler.json").write_text(json.dumps([*_sampled(random.Random(4))]))
    (folder / "h_order.json").write_text(json.dumps(_orders(halves)))


def _decoded(draw: random.Random) -> Iterator[dict[str, Any]]:
    names = ("doc_id", "drug_idxs", "relation_label")
    rows = [
        (f"d{drugs}", list(one), draw.choice([0, 0, 1, 2])) for drugs in (4, 7) for one in plain.subsets(drugs)
    ]
    draw.shuffle(rows)
    for number, own in ((1, rows), (3, rows[:20])):
        parts = {"in": own, "out": plain.greedy(own)}
        lines = {part: [dict(zip(names, row, strict=True)) for row in some] for part, some in parts.items()}
        yield {"case": number, "adjust": None, **lines}


def _sampled(draw: random.Random) -> Iterator[dict[str, Any]]:
    for size, seed in ((5, 1), (11, 3)):
        labels = [int(draw.random() < 0.3) for _ in range(53)]
        ratio = max(labels.count(0), labels.count(1)) / min(labels.count(0), labels.count(1))
        own = {"labels": labels, "batch_size": size, "seed": seed, "batches": [*plain.batches(labels, size, seed)]}
        share = (size / (ratio + 1) - 1) / (size - 2)
        yield {**own, "imbalance_ratio": ratio, "p_minority": share, "len": -(-53 // size)}


def _orders(halves: Mapping[str, tuple[Document, ...]]) -> dict[str, Any]:
    rows = {
        half: [(one.doc_id, row) for one in own for row in _rows(one, "train_noctx400")]
        for half, own in halves.items()
    }
    train, test = map(len, rows.values())
    asked = sum(len(_rows(one, "infer_noctx9")) for one in halves["test"])
    document: dict[str, Any] = {"n_train_candidates": train, "n_test_candidates_train_mode": test}
    document |= {"n_test_candidates_infer_mode": asked, "seeds": {}}
    for seed in (7, 123):
        generator = random.Random(seed)
        orders = {"shuffle_train": [*range(train)], "shuffle_test_train_mode": [*range(test)]}
        for order in orders.values():
            generator.shuffle(order)
        orders["shuffle_test_infer_mode"] = [*range(asked)]
        random.Random(seed).shuffle(orders["shuffle_test_infer_mode"])
        drawn = plain.permutation(train, seed)
        sizes = train - train // 10, train // 10
        orders |= {"split_train": drawn[: sizes[0]], "split_val": drawn[sizes[0] :]}
        own: dict[str, Any] = {"n_train": sizes[0], "n_val": sizes[1]}
        for name, order in orders.items():
            short = name.removesuffix("_mode").removesuffix("_train") if "test" in name else name
            own[f"{name}_first10"] = order[:10]
            own[f"{short}_sha256"] = hashlib.sha256(",".join(map(str, order)).encode()).hexdigest()
        document["seeds"][str(seed)] = own
    ratios, generator = [0.25, 3.0, 1.5], random.Random(9)
    some = [(of, row) for of, row in rows["train"] if of in [one.doc_id for one in halves["train"][:6]]]
    sample: list[Any] = []
    for label, ratio in enumerate(ratios):
        of_label = [one for one in some if one[1][1] == label]
        sample += generator.choices(of_label, k=int(ratio * len(of_label)))
    generator.shuffle(sample)
    texts = [json.dumps({"doc_id": of, "drug_idxs": row[0], "relation_label": row[1]}) for of, row in sample]
    example = {"docs": "train lines 0..5", "seed": 9, "ratios": ratios, "window": 400, "row_ids": texts}
    return {**document, "label_sampling_example": example}


def test_cases_of_other_documents_and_sizes(layout: Layout, tmp_path: Path, dataset: CombosDataset) -> None:
    folder = tmp_path / "combos"
    folder.mkdir()
    _make(folder, dataset)
    findings = _findings(layout, folder, tmp_path / "work")
    assert {name: one.worst for name, one in findings.items()} == dict.fromkeys(sorted(_FILES), Standing.OK), (
        findings
    )


def test_wrong_cases_are_found(layout: Layout, tmp_path: Path, dataset: CombosDataset) -> None:
    """One candidate, one digest, one prediction, one batch and one order are others."""
    folder = tmp_path / "combos"
    folder.mkdir()
    _make(folder, dataset)

    def change(name: str, old: str, new: str) -> None:
        path = folder / name
        is_packed = path.suffix == ".gz"
        text = (gzip.decompress(path.read_bytes()) if is_packed else path.read_bytes()).decode()
        assert old in text
        content = text.replace(old, new, 1).encode()
        path.write_bytes(gzip.compress(content) if is_packed else content)

    change("a_preprocess.jsonl.gz", "<<m>> drug", "<<m>>  drug")
    digest = next(
        iter(json.loads(gzip.decompress((folder / "a_preprocess_digests.json.gz").read_bytes()))["docs"].values())
    )[1]
    change("a_preprocess_digests.json.gz", digest, f"{int(digest, 16) ^ 1:016x}")
    change("g_balanced_sampler.json", '"batches": [[', '"batches": [[52, ')
    order = json.loads((folder / "h_order.json").read_text())["seeds"]["7"]["split_val_sha256"]
    change("h_order.json", order, f"{int(order, 16) ^ 1:064x}")
    rows = json.loads(gzip.decompress((folder / "c_greedy.json.gz").read_bytes()))
    rows[0]["out"].pop()
    _packed(folder / "c_greedy.json.gz", rows)
    findings = _findings(layout, folder, tmp_path / "work")
    assert {name: one.worst for name, one in findings.items()} == dict.fromkeys(sorted(_FILES), Standing.BEYOND)
    assert {sum(array.standing is Standing.BEYOND for array in one.arrays) for one in findings.values()} == {1}


def test_documents_are_numbered_as_they_come_in_the_golden(
    layout: Layout, tmp_path: Path, dataset: CombosDataset
) -> None:
    turned = dataset.documents[::-1]
    path = tmp_path / "a_preprocess.jsonl.gz"
    path.write_bytes(
        gzip.compress("\n".join(json.dumps({"doc_id": one.doc_id, "modes": {}}) for one in turned).encode())
    )
    expected = dataset_of("made", turned, [TRAINING_FILE] * len(turned))
    arrays = reading.documents(path, layout, ()).arrays
    assert arrays["in/doc_ids"].tolist() == [one.doc_id for one in turned]
    for name in ("spans", "relations", "relation_spans"):
        assert arrays[f"in/{name}"].tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("adjust", [0, False, "", {}, 1.5])
def test_decoding_with_a_setting_that_nobody_knows_is_refused(
    layout: Layout, tmp_path: Path, adjust: object
) -> None:
    rows = [{"doc_id": "a", "drug_idxs": [0, 1], "relation_label": 1}]
    cases = [{"case": number, "adjust": own, "in": rows, "out": rows} for number, own in ((1, None), (2, adjust))]
    path = tmp_path / "c_greedy.json.gz"
    _packed(path, cases)
    with pytest.raises(CorruptData, match="not a setting of decoding that is known here") as refused:
        reading.predictions(path, layout, ())
    assert refused.value.where == f"{path}: case 2: adjust"
    _packed(path, cases[:1])
    assert sorted(reading.predictions(path, layout, ()).arrays) == ["in/1", "out/1"]


def test_digests_stand_beside_the_lines_they_are_of(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By number of line, whatever the order in which the file has them."""
    monkeypatch.setattr(reading, "_halves", lambda *_: {})
    path = tmp_path / "a_preprocess_digests.json.gz"
    digests = {"train/10": [3, "00" * 7 + "0a"], "test/1": [1, "ff" * 8], "train/2": [4, "01" * 8]}
    totals = {mode: {"2": 7, "n": 10, "0": 1, "1": 2} for mode in ("train", "test")}
    path.write_bytes(gzip.compress(json.dumps({"docs": digests, "totals": totals}).encode()))
    golden = reading.corpus(path, layout, ())
    assert golden.about == {"lines": {"train": [2, 10], "test": [1]}}
    assert golden.arrays["digests/train"].tolist() == [[4, *[1] * 8], [3, *[0] * 7, 10]]
    assert golden.arrays["digests/test"].tolist() == [[1, *[255] * 8]]
    assert golden.arrays["totals/train"].tolist() == [10, 1, 2, 7]


def test_every_file_is_a_case_or_part_of_one(shared: Path, tmp_path: Path) -> None:
    """What nobody knows is named; the folder may have any name."""
    golden = shared / "golden" / "combos"
    cases = find_cases(golden)
    files = {file for case in cases for file in (case.path, *case.files)}
    assert files == {path for path in golden.rglob("*") if path.is_file()}
    assert {case.benchmark for case in cases} == {"combos"}
    other = tmp_path / "kept"
    other.mkdir()
    (other / "older").mkdir()
    for name in ("c_greedy.json.gz", "older/c_greedy.json.gz", "z_unheard_of.json"):
        (other / name).write_bytes(b"")
    assert [case.name for case in find_cases(other)] == ["c_greedy", "older/c_greedy.json.gz", "z_unheard_of.json"]
