"""What methods predict of unknown pairs, or of items of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from harness.api.repository import Repository, numbers, opened, settings, several
from harness.base.errors import UsageError
from harness.base.progress import ProgressChoice, progress_for
from harness.benchmarks.new_item import NewItem
from harness.engine import find_engine
from harness.prediction import Prediction, PredictionRequest, participants
from harness.prediction import predict as predict_request


def predict(
    methods: str | Iterable[str],
    dataset: str,
    *,
    variant: str | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    seed: int = 0,
    top: int | None = None,
    new: Iterable[tuple[str, str, str]] = (),
    only: Iterable[tuple[str, str]] = (),
    pairs: Iterable[tuple[str, str]] = (),
    both_orders: bool = False,
    progress: ProgressChoice = "auto",
    repository: Repository | None = None,
) -> Prediction:
    """The unknown pairs of a dataset, best first, ranked by methods that were fitted on all known ones.

    A method is `NAME` or `NAME/VARIANT`, without one in the variant that is recommended; `"all"` are all that can
    answer. Several have a consensus. `new` are items of one's own, each a kind, a name and a text:
    `("drug", "mine", "CCO")`. Then only rows with these are listed. `only` are kinds and names of things that rows
    must have, `pairs` are two names each. What is known of these is listed below.
    """
    here = opened(repository)
    if not (chosen := several(methods)):
        raise UsageError("no method is named", where="--method", todo="name one, or 'all'")
    if top is not None and top < 1:
        raise UsageError(f"{top} rows are none", where="--top", todo="give 1 or more, or leave it out")
    (one_seed,) = numbers([seed])
    request = PredictionRequest(
        methods=chosen,
        dataset=dataset,
        variant=variant,
        parameters=settings(parameters),
        seed=one_seed,
        new=tuple(NewItem(kind=kind, name=name, text=text) for kind, name, text in new),
        only=tuple(only),
        pairs=tuple(pairs),
        both_orders=both_orders,
        top=top,
    )
    participation = participants(here.layout, request, here.mirrors)
    with (
        progress_for(progress) as shown,
        find_engine(here.layout, install=here.install, runtime=here.runtime) as engine,
    ):
        return predict_request(here.layout, engine, request, participation, mirrors=here.mirrors, progress=shown)
