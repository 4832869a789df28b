"""Documents drawn at random: any drugs in any order, relations that share drugs, abstracts that are shared."""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from pathlib import Path

from hypothesis import strategies as st

from harness.base.layout import Layout
from harness.benchmarks.combos.dataset import TEST_FILE, TRAINING_FILE, UNANNOTATED, CombosDataset, dataset_of
from harness.benchmarks.combos.documents import COMB, NEG, POS, Document, DrugRelation, MarkedDrug
from tests.data.own_data import listed

# some of several code points, some beyond 16 bits
WORDS = ("and", "plus", "na\u0308ive", "\U0001f48a", "\u2028", "alone", "(", ",")
_SOURCES = ("", "", "https://example.org/1", "https://example.org/2", "https://example.org/3")


@st.composite
def documents(draw: st.DrawFn, number: int, annotated: bool) -> Document:
    """A document whose sentence nobody else has."""
    names = [f"drug{number}-{drug}" for drug in range(draw(st.integers(0, 5)))]
    text, drugs = "", list[MarkedDrug]()
    for name in names:
        text += draw(st.sampled_from(WORDS)) + " "
        drugs.append(MarkedDrug(len(text), len(text) + len(name), name))
        text += name + " "
    sentence = f"{text}end {number}"
    subsets = [one for size in range(2, len(drugs) + 1) for one in combinations(range(len(drugs)), size)]
    chosen = draw(st.lists(st.sampled_from(subsets), unique=True, max_size=4)) if annotated and subsets else []
    relations = (
        DrugRelation(
            draw(st.sampled_from((COMB, POS, NEG))), tuple(draw(st.permutations(one))), draw(st.booleans())
        )
        for one in chosen
    )
    paragraph = f"before {sentence} after"
    source = draw(st.sampled_from(_SOURCES))
    return Document(
        f"id{number}", sentence, paragraph, source, tuple(draw(st.permutations(drugs))), tuple(relations)
    )


@st.composite
def datasets(draw: st.DrawFn) -> CombosDataset:
    """A dataset with documents of both files."""
    parts = st.sampled_from((TRAINING_FILE, TEST_FILE, UNANNOTATED))
    released = [TRAINING_FILE, TEST_FILE, *draw(st.lists(parts, max_size=8))]
    return dataset_of(
        "drawn",
        [draw(documents(number, part != UNANNOTATED)) for number, part in enumerate(released)],
        released,
    )


def line(**changes: object) -> dict[str, object]:
    """A line as it should be, but for the changes; None leaves a field out."""
    sentence = "\U0001f48a abrevolin plus bractimab , not caldorine , helped ."
    spans = [
        {"span_id": number, "text": name, "start": sentence.index(name), "end": sentence.index(name) + len(name)}
        for number, name in enumerate(("bractimab", "abrevolin", "caldorine"))
    ]
    row = {
        "doc_id": hashlib.md5(sentence.encode()).hexdigest(),
        "sentence": sentence,
        "spans": spans,
        "rels": [{"class": "POS", "spans": [1, 0], "is_context_needed": False}],
        "paragraph": f"First. {sentence} Last.",
        "source": None,
        **changes,
    }
    return {name: value for name, value in row.items() if value is not None or name == "source"}


def write_files(layout: Layout, relations: int = 1, **files: list[dict[str, object]] | bytes) -> Path:
    """Write files of lines, and a manifest that names their true checksums; returns the folder."""
    folder = layout.datasets / "mine"
    folder.mkdir(parents=True)
    tables, names, documents = "", "", 0
    for name, rows in files.items():
        content = rows if isinstance(rows, bytes) else "".join(json.dumps(row) + "\n" for row in rows).encode()
        tables += listed(folder, {f"{name}.jsonl": content})
        names += f'{name} = "{name}.jsonl"\n'
        documents += content.count(b"\n")
    (folder / "dataset.toml").write_text(
        'name = "mine"\ntitle = "Mine"\nbenchmark = "combos"\ncitation = "none"\nlicence = "mine"\n'
        f'converter = "combos_jsonl"\n[parameters]\n{names}{tables}[statistics]\n'
        f"documents = {max(1, documents)}\nrelations = {relations}\n",
        encoding="utf-8",
    )
    return folder
