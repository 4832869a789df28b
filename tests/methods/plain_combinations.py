"""Runs in the image of the marked classifier: network, steps, batches and decisions, by plain definitions.

Prints one number, truth or text for each.
"""

from __future__ import annotations

import json
import math
import random
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import torch
from combination_adaptation import Masking, Settings, adapt, blocks_of
from combination_bert import Bert, BertSizes
from combination_classifier import CombinationClassifier, choose_trained, loss_of
from combination_decoding import greedy
from combination_encoders import ENCODERS
from combination_features import Frozen, Whole, by_length, padded, predicted
from combination_method import Decided, Marked, decide, divided, label_of, largest_first, sets_of
from combination_optimiser import optimiser_of, rate_at
from combination_training import Course, fit, new_model
from combination_weights import EncoderFilesError, WordHead, load_bert, load_with_head, save_bert, words_of
from combos_sdk import Document, Problem, Relation, Span
from marked_texts import MarkedText
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertConfig, BertModel

CPU = torch.device("cpu")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(25))]
SIZES = BertSizes(len(WORDS), 12, 3, 3, 20, 40, segments=2)
STILL = replace(SIZES, dropout=0.0, attention_dropout=0.0)
PARAMETERS = {
    "strategy": "final-bert-layer", "train_words": False, "frozen_dropout": False, "epochs": 2, "batch_size": 4,
    "learning_rate": 1e-2, "weight_decay": 0.0, "schedule": "constant", "warm_up": 0.0, "shuffle": False,
    "choose_epoch": False, "class_weights": "",
}  # fmt: skip


def drawn(sizes: BertSizes = STILL, seed: int = 1) -> CombinationClassifier:
    """A classifier whose weights are all large enough to matter."""
    torch.manual_seed(seed)
    model = new_model(Bert(sizes), 3)
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.3)
    return model.eval()


def texts(count: int = 11, seed: int = 2) -> list[np.ndarray]:
    """Rows of ids with one to four start markers."""
    draw = np.random.default_rng(seed)
    rows = [draw.integers(4, len(WORDS), draw.integers(8, 20)).astype(np.int32) for _ in range(count)]
    for row in rows:
        for place in draw.choice(len(row) - 1, draw.integers(1, 5), replace=False):
            row[place] = len(WORDS)
    return rows


def apart(first: Tensor, second: Tensor) -> float:
    return float((first - second).abs().max())


def network() -> dict[str, object]:
    """The last layer at markers and those below, against the library's BERT; dropout against the plain form."""
    model, (ids, mask) = drawn(), padded(texts(), CPU)
    names = {"vocab_size": model.start + 2, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3}
    library = BertModel(BertConfig(**names, intermediate_size=20, max_position_embeddings=40)).eval()
    library.load_state_dict(model.bert.state_dict(), strict=True)
    plain = library(input_ids=ids, attention_mask=mask.long()).last_hidden_state
    marked = (ids == model.start).float()
    mean = torch.einsum("bt,btw->bw", marked / marked.sum(1, keepdim=True), plain)
    ours = model.entities(model.bert.lower(ids, mask), ids, mask)
    said = {"entities": apart(ours, mean), "all tokens": apart(model.bert(ids, mask)[mask], plain[mask])}
    head = nn.Sequential(nn.LayerNorm(12, eps=1e-5), nn.Linear(12, 3))
    head[0].load_state_dict(model.layer_norm.state_dict())
    head[1].load_state_dict(model.classifier.state_dict())
    said["logits"] = apart(model(ids, mask), head(mean))
    weights = torch.randn(len(ids), 12, generator=torch.Generator().manual_seed(5))
    (ours * weights).sum().backward()
    (mean * weights).sum().backward()
    theirs = dict(library.named_parameters())
    grads = {name: one.grad for name, one in model.bert.named_parameters() if one.grad is not None}
    said["gradients"] = max(apart(grad, theirs[name].grad) for name, grad in grads.items())
    said["gradients of"] = len(grads)
    said["alone"] = max(
        apart(model(*padded([row], CPU)), model(ids, mask)[number]) for number, row in enumerate(texts())
    )
    attention = drawn(SIZES).bert.encoder.layer[-1].attention.self.train()
    vectors, seen = torch.randn(4, 9, 12), torch.ones(4, 1, 1, 9).bool()
    torch.manual_seed(3)
    folded = attention.from_places(vectors[:, :2], vectors, seen)
    parts = (attention.query, attention.key, attention.value)
    query, key, value = (part(vectors).unflatten(2, (3, 4)) for part in parts)
    shares = torch.softmax(torch.einsum("bkhd,bthd->bkht", query[:, :2], key) / 2, dim=3)
    torch.manual_seed(3)
    dropped = functional.dropout(shares.flatten(1, 2), 0.1).unflatten(1, (2, 3))
    said["dropout"] = apart(folded, torch.einsum("bkht,bthd->bkhd", dropped, value).flatten(2))
    said["dropped"] = apart(dropped, shares) > 0.05
    try:
        model(torch.zeros(2, 5, dtype=torch.int64), None)
    except ValueError as error:
        said["no marker"] = str(error)
    return said


def steps() -> dict[str, object]:
    """Five steps with decay, against the formula; rates; what learns."""
    torch.manual_seed(4)
    module = nn.Linear(5, 3)
    weight, bias = (one.detach().double().clone() for one in module.parameters())
    state = {name: [torch.zeros_like(one)] * 2 for name, one in (("weight", weight), ("bias", bias))}
    optimiser = optimiser_of(module, 0.01, 0.1)
    for step in range(1, 6):
        for name, mine in (("weight", weight), ("bias", bias)):
            grad = torch.randn(mine.shape) * 10.0**-step
            getattr(module, name).grad = grad.clone()
            m, v = state[name]
            m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad.double() ** 2
            state[name] = [m, v]
            rate = 0.01 * math.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            mine -= rate * m / (v.sqrt() + 1e-6)
            if name == "weight":
                mine -= 0.01 * 0.1 * mine
        optimiser.step()
    said: dict[str, object] = {"adamw": max(apart(module.weight, weight), apart(module.bias, bias))}
    said["rates"] = [rate_at(step, 10, 0.2) for step in (0, 1, 2, 6, 10)]
    model = drawn()
    for strategy, words in (
        ("final-bert-layer", False),
        ("final-bert-layer", True),
        ("BitFit", False),
        ("all", True),
    ):
        names = choose_trained(model, strategy, words=words)
        layers = sorted({name.split(".")[3] for name in names if "encoder" in name})
        said[f"{strategy}, {words}"] = [layers, "bert.embeddings.word_embeddings.weight" in names, len(names)]
    logits, labels = torch.randn(6, 3), torch.tensor([0, 1, 2, 2, 1, 0])
    weights = torch.tensor([0.2, 0.3, 0.5])
    each = -torch.log_softmax(logits, 1)[range(6), labels]
    said["loss"] = apart(loss_of(logits, labels), each.mean())
    said["weighted loss"] = apart(
        loss_of(logits, labels, weights.tolist()), (each * weights[labels]).sum() / weights[labels].sum()
    )
    return said


def still_above(model: CombinationClassifier) -> None:
    """No dropout in the last layer and in the head."""
    last = model.bert.encoder.layer[-1]
    last.attention.self.dropout = 0.0
    for module in (model.dropout, *last.modules()):
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def course() -> dict[str, object]:
    """What is kept of the frozen layers says the same; what learns; orders, and the chosen epoch."""
    rows, labels = texts(24), [number % 3 for number in range(24)]
    model = drawn()
    kept, whole = Frozen.of(model, rows, CPU), Whole(model, rows, CPU)
    some = [3, 17, 4, 9, 20]
    said: dict[str, object] = {"frozen": apart(kept.logits(some), whole.logits(some))}
    said["mean length"] = sum(map(len, rows)) * 12 == kept.vectors.numel()
    chances = predicted(model, rows, CPU)
    one_by_one = np.concatenate([predicted(model, [row], CPU) for row in rows])
    said["predicted"] = float(np.abs(chances - one_by_one).max())
    groups = list(by_length([len(row) for row in rows], CPU))
    said["groups"] = sorted(one for group in groups for one in group) == list(range(24))
    said["widest"] = max(
        max(len(rows[one]) for one in group) / min(len(rows[one]) for one in group) for group in groups
    )

    def trained(
        changes: dict[str, object], sizes: BertSizes = STILL, *, above: bool = True
    ) -> tuple[dict[str, Tensor], list[float], int]:
        learner = drawn(sizes)
        if not above:
            still_above(learner)
        result = fit(learner, Course.of(PARAMETERS | changes), rows, labels, rows[:6], [2] * 6)
        return (
            {name: one.detach().clone() for name, one in learner.named_parameters()},
            result.losses,
            result.epoch,
        )

    before = {name: one.detach() for name, one in drawn().named_parameters()}
    after, losses, epoch = trained({})
    changed = [name for name in before if not torch.equal(before[name], after[name])]
    said["changed"] = sorted({name.split(".")[3] if "encoder" in name else name.split(".")[0] for name in changed})
    said["epoch"] = epoch
    # the same through the whole model: nothing is kept where word embeddings learn
    _, whole_losses, _ = trained({"train_words": True, "learning_rate": 1e-9})
    _, still, _ = trained({"learning_rate": 1e-9})
    said["losses of whole"] = float(np.abs(np.array(whole_losses) - still).max())
    said["twice"] = all(torch.equal(after[name], again) for name, again in trained({})[0].items())
    said["shuffled"] = trained({"shuffle": True})[1] != losses
    moving = [trained({"frozen_dropout": one, "learning_rate": 1e-12}, SIZES)[1] for one in (False, True)]
    said["dropout of frozen layers"] = abs(moving[0][0] - moving[1][0]) > 1e-4
    # whole, with dropout below alone, which only `frozen_dropout` lets happen
    nowhere = {"train_words": True, "learning_rate": 1e-9}
    below = [trained({**nowhere, "frozen_dropout": one}, SIZES, above=False)[1] for one in (False, True)]
    said["no dropout below, and some"] = [float(np.abs(np.array(one) - whole_losses).max()) for one in below]
    chosen, _, best = trained({"choose_epoch": True, "epochs": 4, "learning_rate": 0.5})
    ends = [trained({"epochs": 4, "learning_rate": 0.5})[0], trained({"epochs": best, "learning_rate": 0.5})[0]]
    said["best epoch"] = best
    said["chosen is the best, not the last"] = [
        all(torch.equal(chosen[name], end[name]) for name in chosen) for end in ends
    ]
    return said


def decisions() -> dict[str, object]:
    """Deciding the largest first leaves out what no decoding keeps, and nothing else."""
    draw = np.random.default_rng(9)
    same, decided, every = True, 0, 0
    for count in (2, 3, 5, 6) * 6:
        sets = [one for size in range(2, count + 1) for one in combinations(range(count), size)]
        chances = {one: draw.dirichlet([4, 1, 1]) for one in sets}
        asked: list[tuple[int, ...]] = []

        def predict(rows: Sequence[Marked]) -> np.ndarray:
            asked.extend(row.drugs for row in rows)  # noqa: B023
            return np.array([chances[row.drugs] for row in rows])  # noqa: B023

        one = Decided(MarkedText("", ()), largest_first(sets))
        decide([one], predict, greedily=True)
        labels = [label_of(chances[own].tolist()) for own in sets]
        full = {(sets[place], labels[place]) for place in greedy(sets, labels)}
        own = list(map(label_of, one.chances))
        same &= full == {(one.sets[place], own[place]) for place in greedy(one.sets, own)}
        same &= len(asked) == len(set(asked))
        decided, every = decided + len(asked), every + len(sets)
        one = Decided(MarkedText("", ()), largest_first(sets))
        decide([one], predict, greedily=False)
        same &= len(one.sets) == len(sets)
    return {"same decisions": bool(same), "decided": decided, "of": every}


def division() -> dict[str, object]:
    """Which candidates are trained on, and which are held out."""

    def document(drugs: int, number: int) -> Document:
        names = [f"d{number}x{one}" for one in range(drugs)]
        sentence, spans = " ".join(names), []
        for name in names:
            start = sentence.index(name)
            spans.append(Span(start, start + len(name), name))
        return Document(sentence, "", tuple(spans), (Relation((0, 1), "POS"), Relation((1, 0), "NEG")))

    documents = tuple(document(2 + number % 5, number) for number in range(40))
    base = {
        "pruned_above": 0,
        "reach": 3,
        "most_drugs_trained": 15,
        "most_others": 0,
        "classes": 3,
        "held_out": 0.1,
    }

    def parts(**changes: object) -> list[list[Marked]]:
        problem = Problem(documents, (), {}, {**base, "held_out_by": "candidates", **changes}, 7)
        return list(divided(problem, [MarkedText(one.sentence, ()) for one in documents]))

    train, held_out = parts()
    said: dict[str, object] = {"candidates": [len(train), len(held_out)]}
    by_document = parts(held_out_by="documents")
    own = [{id(one.text) for one in part} for part in by_document]
    said["documents held out"] = [len(own[1]), len(own[0] & own[1])]
    others = [one for part in parts(most_others=2) for one in part if one.label == 0]
    counts = {id(one.text): 0 for one in others}
    for one in others:
        counts[id(one.text)] += 1
    said["most others"] = max(counts.values())
    said["fewer drugs"] = max(max(one.drugs) for part in parts(most_drugs_trained=4) for one in part)
    said["labels"] = [sorted({one.label for part in parts(classes=count) for one in part}) for count in (2, 3)]
    said["again"] = [one.drugs for one in parts()[0]] == [one.drugs for one in train]
    many = document(13, 99)
    said["sets"] = [len(sets_of(many, base)), len(sets_of(many, {**base, "pruned_above": 8}))]
    return said


def stored(folder: Path) -> dict[str, Tensor]:
    """A tiny encoder's files, with the names of published ones."""
    config = {"vocab_size": len(WORDS), "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3}
    config |= {"intermediate_size": 20, "max_position_embeddings": 40, "hidden_act": "gelu", "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tensors = {f"bert.{name}": one.detach() for name, one in Bert(SIZES).state_dict().items()}
    torch.manual_seed(8)
    return {name: torch.randn_like(one) * 0.1 for name, one in tensors.items()}


def cut_short(folder: Path, tensors: dict[str, Tensor]) -> None:
    """A file whose end is missing."""
    path = folder / "model.safetensors"
    save_file(tensors, path)
    path.write_bytes(path.read_bytes()[:999])
    tensors.clear()


def with_code(folder: Path, tensors: dict[str, Tensor]) -> None:
    """A pickled file that names a class."""
    torch.save({"bert": Settings()}, folder / "pytorch_model.bin")
    tensors.clear()


def refusals() -> dict[str, object]:
    """What is said of damaged files."""
    said: dict[str, object] = {}

    def attempt(name: str, change: Callable[[Path, dict[str, Tensor]], None], *, safe: bool = True) -> None:
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work)
            tensors = stored(folder)
            change(folder, tensors)
            if tensors and safe:
                save_file(tensors, folder / "model.safetensors")
            elif tensors:
                torch.save(OrderedDict(tensors), folder / "pytorch_model.bin")
            try:
                bert = load_bert(folder)
                words = load_with_head(folder)[1]
                total = sum(float(one.abs().sum()) for one in bert.state_dict().values())
                said[name] = [round(total, 2), len(words)]
            except EncoderFilesError as error:
                said[name] = str(error).replace(str(folder), "FOLDER")

    def configured(**changes: object) -> Callable[[Path, dict[str, Tensor]], None]:
        def change(folder: Path, _: dict[str, Tensor]) -> None:
            path = folder / "config.json"
            path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

        return change

    def renamed(old: str, new: str) -> Callable[[Path, dict[str, Tensor]], None]:
        def change(_: Path, tensors: dict[str, Tensor]) -> None:
            for name in [one for one in tensors if old in one]:
                tensors[name.replace(old, new)] = tensors.pop(name)

        return change

    def more(**others: Tensor) -> Callable[[Path, dict[str, Tensor]], None]:
        return lambda _, tensors: tensors.update({name.replace("__", "."): one for name, one in others.items()})

    attempt("whole", lambda *_: None)
    attempt("pickled", lambda *_: None, safe=False)
    attempt("without bert.", renamed("bert.", ""))
    attempt("gamma", renamed("LayerNorm.weight", "LayerNorm.gamma"))
    attempt("beta", renamed("LayerNorm.bias", "LayerNorm.beta"))
    places = {"bert__embeddings__position_ids": torch.arange(40)}
    attempt("with heads", more(cls__seq_relationship__bias=torch.zeros(2), **places))
    attempt("no pooler", lambda _, own: [own.pop(name) for name in list(own) if "pooler" in name])
    attempt("missing", lambda _, own: own.pop("bert.encoder.layer.1.output.dense.bias"))
    attempt("unexpected", more(bert__encoder__layer__3__output__dense__bias=torch.zeros(12)))
    attempt("other width", configured(hidden_size=24))
    attempt("other heads", configured(num_attention_heads=5))
    attempt("other kind", configured(hidden_act="relu"))
    attempt("fewer words", configured(vocab_size=29))
    attempt("no vocabulary", lambda folder, _: (folder / "vocab.txt").unlink())
    attempt("no configuration", lambda folder, _: (folder / "config.json").unlink())
    attempt("no weights", lambda _, own: own.clear())
    others = "\n".join(WORDS).replace("[CLS]", "cls")
    attempt("no [CLS]", lambda folder, _: (folder / "vocab.txt").write_text(others))
    attempt("cut short", cut_short)
    attempt("with code", with_code)
    attempt("other places", more(bert__embeddings__position_ids=torch.arange(1, 41)))
    return said


def adaptation() -> dict[str, object]:
    """Masks, blocks, and that texts are learned; what is kept is what was learned."""
    torch.manual_seed(6)
    settings = Settings.of({"length": 16, "epochs": 12, "batch_size": 8, "part_size": 3, "learning_rate": 5e-3})
    ids = torch.randint(5, 30, (400, 128))
    ids[:, 0] = 2
    masking = Masking(settings, 4, torch.tensor([0, 1, 2, 3, 4]), len(WORDS))
    read, chosen = masking(ids)
    kinds = [float((one & chosen).sum() / chosen.sum()) for one in (read == 4, read == ids)]
    said: dict[str, object] = {
        "chosen": float(chosen[:, 1:].float().mean()),
        "special": int(chosen[:, 0].sum()),
        "masked, kept": kinds,
        "others": bool((read == ids)[~chosen].all()),
    }
    lines = [" ".join(f"w{(start + step) % 25}" for step in range(9)) for start in range(25)] * 6 + [
        "",
        "W3 unknown",
    ]
    blocks = blocks_of(lines, WORDS, settings.length)
    said["blocks"] = [*blocks.shape, blocks[0, :12].tolist()]
    try:
        blocks_of(["w1"], WORDS, 16)
    except ValueError as error:
        said["too short"] = str(error)
    try:
        Settings.of({"epoch": 1})
    except ValueError as error:
        said["unknown setting"] = str(error)

    def learned() -> tuple[Bert, WordHead, list[float]]:
        torch.manual_seed(settings.seed)
        bert = Bert(STILL)
        head = WordHead(bert, {})
        return bert, head, adapt(bert, head, blocks, WORDS, settings)

    bert, head, losses = learned()
    said["losses"] = [losses[0], losses[-1]]
    said["again"] = learned()[2] == losses
    said["first loss"] = first_loss(blocks, replace(settings, epochs=1, learning_rate=0.0), masking)
    said["parts"] = float(np.abs(np.array(adapt_whole(blocks, settings)) - losses).max())
    with tempfile.TemporaryDirectory() as work:
        source, target = Path(work) / "source", Path(work) / "target"
        source.mkdir()
        target.mkdir()
        stored(source)
        save_bert(bert, head.stored(), source, target)
        again, words = load_with_head(target)
        pairs = zip(again.state_dict().values(), bert.state_dict().values(), strict=True)
        said["kept"] = all(torch.equal(one, other) for one, other in pairs)
        said["head"] = all(
            torch.equal(one, other)
            for one, other in zip(
                WordHead(again, words).state_dict().values(), head.state_dict().values(), strict=True
            )
        )
        said["vocabulary"] = words_of(target) == WORDS
    return said


def first_loss(blocks: np.ndarray, settings: Settings, masking: Masking) -> float:
    """How far an epoch that learns nothing is from the mean surprise at hidden pieces, of the same draws."""
    bert = drawn().bert
    without_markers = bert.embeddings.word_embeddings.weight[:-2].detach()
    bert.embeddings.word_embeddings = nn.Embedding.from_pretrained(without_markers, freeze=False)
    head = WordHead(bert, {})
    torch.manual_seed(settings.seed)
    (loss,) = adapt(bert, head, blocks, WORDS, settings)
    torch.manual_seed(settings.seed)
    total = 0.0
    for rows in torch.randperm(len(blocks)).split(settings.batch_size):
        ids = torch.from_numpy(blocks[rows.numpy()].astype(np.int64))
        read, chosen = masking(ids)
        with torch.no_grad():
            said = torch.log_softmax(head(bert(read, None), bert.embeddings.word_embeddings.weight), 2)
        total -= float(said.gather(2, ids[..., None])[..., 0][chosen].mean()) * len(rows)
    return abs(loss - total / len(blocks))


def adapt_whole(blocks: np.ndarray, settings: Settings) -> list[float]:
    """The same training, without dropout as the other; a step's texts together."""
    torch.manual_seed(settings.seed)
    bert = Bert(STILL)
    return adapt(bert, WordHead(bert, {}), blocks, WORDS, replace(settings, part_size=settings.batch_size))


def main() -> None:
    """All of them."""
    random.seed(1)
    torch.set_num_threads(1)
    parts = (network, steps, course, decisions, division, refusals, adaptation)
    said = {part.__name__: part() for part in parts}
    said["encoders"] = {name: len(ENCODERS[name]().words) for name in ("minilm", "untrained")}
    sys.stdout.write(json.dumps(said) + "\n")


main()
