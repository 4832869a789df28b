"""Further pretraining: a model made of a method's own and of a person's texts, by a program in its image."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.base.errors import DataError, UsageError, WeightsError
from harness.base.files import write_json
from harness.base.layout import Layout
from harness.base.logs import log_tail
from harness.base.vocabulary import Accelerator, Verdict
from harness.engine import Engine
from harness.execution.gpus import confirm_gpu, usable_gpus
from harness.execution.runs import INIT, RunRequest, execute
from harness.execution.runs.workspace import make_readable, temporary_folders
from harness.execution.tasks import limits_of
from harness.images import Supply, ensure_image
from harness.methods.card import load_method
from harness.methods.weights import KeptWeights, are_here, bring_weights, kept_weights, load_weights

_REPORT = "adaptation.json"


def adapt_weights(
    engine: Engine,
    layout: Layout,
    name: str,
    corpus: Path,
    settings: Mapping[str, float],
    *,
    accelerator: Accelerator = "cpu",
    mirrors: Sequence[Path] = (),
    say: Callable[[str], None],
) -> KeptWeights:
    """The model METHOD:NAME, made of METHOD's own and a file of texts, one per line; kept as if brought."""
    method, manifest = name.partition(":")[0], load_weights(layout, name)
    if not manifest.program:
        raise UsageError(
            f"'{name}' is published, and not made here", todo=f"get it with `harness weights get {name}`"
        )
    if are_here(layout, name):
        raise UsageError(
            f"{manifest.title} is here already",
            where=str(kept_weights(layout, name).folder),
            todo="remove this folder to make it of another corpus",
        )
    card, own = load_method(layout, method), kept_weights(layout, method)
    own.verify()
    variant = next(one for one in card.variants if card.weights_of(one) == name)
    card = card.of_variant(variant, accelerator)
    on_gpu = accelerator == "cuda"
    gpus = [gpu.number for gpu in usable_gpus(layout, engine.facts, [method])] if on_gpu else []
    limits = limits_of(card, tuple(gpus[: card.resources.gpus]))
    image = ensure_image(engine, layout, method, accelerator, supply=Supply(mirrors))
    if on_gpu:
        confirm_gpu(engine, layout, image, limits)
    with temporary_folders(layout.local / "work", "in") as (folder,):
        own.copy_to(folder / "weights")
        shutil.copyfile(readable(corpus), folder / "corpus.txt")
        write_json(folder / "settings.json", dict(settings))
        files = (*manifest.files, _REPORT)
        request = RunRequest(
            image=image.name,
            image_id=image.image_id,
            in_folder=folder,
            work=layout.local / "work",
            limits=limits,
            required=files,
            expected=files,
            entrypoint=INIT,
            command=("python3", "-m", manifest.program),
        )
        make_readable(folder)
        outcome = execute(engine, request)
        try:
            if outcome.verdict is not Verdict.OK:
                raise WeightsError(
                    f"{manifest.title} was not made: {outcome.reason}",
                    where=log_tail(outcome.log, 2000).strip(),
                    todo="correct the corpus or the settings",
                )
            for line in json.loads((outcome.out_folder / _REPORT).read_text())["said"]:
                say(line)
            return bring_weights(layout, name, given=outcome.out_folder, say=say)
        finally:
            outcome.discard()


def readable(corpus: Path) -> Path:
    """The file, if it holds text."""
    with corpus.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise DataError(
                    "the corpus is no UTF-8 text",
                    where=f"{corpus}, line {number}: {error}",
                    todo="save it as UTF-8",
                ) from None
    return corpus
