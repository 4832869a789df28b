"""Who answers: methods in the variant that a person names or the project recommends, and their jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.new_item import NewItem, extension_of, items_again, kind_of, notes_of_again
from harness.data import DatasetManifest, load_dataset, load_manifest
from harness.data.datasets import is_here
from harness.data.extension import extended
from harness.methods.card import MethodCard, load_methods, merged_parameters, named_method, refuse_twice
from harness.methods.recommendation import CORRECTED, PUBLISHED, Recommendation, recommended, undone
from harness.methods.weights import are_here
from harness.planning.jobs import Job, make_job
from harness.prediction.names import Selection, selection_of
from harness.prediction.request import EVERY, PredictionRequest
from harness.results.findings import load_findings
from harness.splits.spec import SplitSpec


@dataclass(frozen=True)
class Participant:
    """A method that answers, why in this variant, and what a person should know of it."""

    card: MethodCard
    variant: str
    reason: str
    job: Job
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """`bnnr/published`."""
        return f"{self.card.name}/{self.variant}"


@dataclass(frozen=True)
class Participation:
    """All that answer one request, the rows that it asks for, and which methods and pairs it leaves out."""

    members: tuple[Participant, ...]
    selection: Selection
    left_out: tuple[str, ...] = ()


def usual_choice(layout: Layout, benchmark: str, mirrors: Sequence[Path]) -> tuple[str, str]:
    """The method and the dataset that are taken where a person names a benchmark alone.

    It is the first usual dataset whose files are here: nothing is downloaded that nobody named.
    """
    usual = extension_of(benchmark).USUAL
    manifests = [load_manifest(layout, name) for name in usual.datasets]
    here = [one.name for one in manifests if is_here(layout, one, mirrors)]
    return usual.method, (here or usual.datasets)[0]


def participants(layout: Layout, request: PredictionRequest, mirrors: Sequence[Path] = ()) -> Participation:
    """Who answers a request. What can't be asked is refused before anything is made.

    Items of one's own, and known things that can only be asked about as if they were new, make a larger dataset.
    """
    manifest = load_manifest(layout, request.dataset)
    benchmark = benchmarks.get(manifest.benchmark)
    left_out: list[str] = []
    if request.methods == (EVERY,):
        chosen, left_out = _everybody(layout, request, manifest)
    else:
        chosen = [_named(layout, request, manifest, text) for text in request.methods]
    refuse_twice((card, one.variant) for card, one in chosen)
    for card, choice in chosen:
        merged_parameters(card, choice.variant, request.parameters)
    own = [item.name for item in (*manifest.new, *request.new)]
    dataset = load_dataset(layout, manifest.name, mirrors=mirrors)
    selection = selection_of(manifest.benchmark, dataset, request, own)
    items = [*request.new]
    if not own and selection.names_known_things:
        wanted = sorted(frozenset().union(*selection.named.values()))
        again = items_again(manifest.benchmark, dataset, wanted, [sorted(pair) for pair in selection.pairs])
        items = [*again.values()]
        left_out += notes_of_again(manifest.benchmark, dataset, [name for name in wanted if name not in again])
        selection = replace(
            selection, own=frozenset(again), stands_for={item.name: name for name, item in again.items()}
        )
    if items:
        for card, _ in chosen:
            _check_reads(layout, card, manifest.benchmark, [*manifest.new, *items])
        manifest = load_manifest(layout, extended(layout, request.dataset, items, mirrors))
    split = SplitSpec(strategy=benchmark.scoring.predicting, seed=request.seed)
    members = []
    for card, choice in chosen:
        job = make_job(
            card,
            manifest,
            split,
            variant=choice.variant,
            chosen=request.parameters,
            options=benchmark.options_to_predict,
        )
        remarks = tuple(_remarks(layout, card, choice.variant, manifest))
        members.append(Participant(card, choice.variant, choice.reason, job, remarks))
    return Participation(tuple(members), selection, tuple(left_out))


def _named(
    layout: Layout, request: PredictionRequest, manifest: DatasetManifest, text: str
) -> tuple[MethodCard, Recommendation]:
    """A method that a person names, and its variant."""
    card, variant = named_method(layout, text, request.variant or "")
    if manifest.benchmark not in card.benchmarks:
        names = [one.name for one in load_methods(layout, manifest.benchmark)]
        raise UsageError(
            f"{card.title} does not belong to benchmark {manifest.benchmark}",
            where=f"dataset {manifest.name}",
            todo=f"choose one of its methods: {', '.join(names)}",
        )
    if not variant:
        return card, recommended(card, manifest.extends or manifest.name)
    card.variant(variant)
    return card, Recommendation(variant, "as asked for")


def _everybody(
    layout: Layout, request: PredictionRequest, manifest: DatasetManifest
) -> tuple[list[tuple[MethodCard, Recommendation]], list[str]]:
    """Every method that can answer, and why the others do not: those take part where a person names them."""
    chosen, left_out = [], []
    for card in load_methods(layout, manifest.benchmark):
        name = manifest.extends or manifest.name
        choice = Recommendation(request.variant, "as asked for") if request.variant else recommended(card, name)
        reason = _why_not(layout, card, choice.variant, manifest, request.new)
        if reason:
            left_out.append(f"{card.name} does not take part: {reason}")
        else:
            chosen.append((card, choice))
    if not chosen:
        raise UsageError("no method can answer", where="; ".join(left_out), todo="name one (harness list methods)")
    return chosen, left_out


def _why_not(
    layout: Layout, card: MethodCard, variant: str, manifest: DatasetManifest, new: Iterable[NewItem]
) -> str:
    """Why a method that nobody named does not answer; empty if it does."""
    if card.control:
        return "it is a control"
    if variant not in card.variants:
        return f"it has no variant '{variant}'"
    if refusal := card.refusal(manifest.extends or manifest.name, variant):
        return refusal
    for item in (*manifest.new, *new):
        if not _reads(card, manifest.benchmark, item):
            return f"it reads nothing of a new {item.kind}"
    weights = card.weights_of(variant)
    return f"its weights are not here ({weights})" if weights and not are_here(layout, weights) else ""


def _remarks(layout: Layout, card: MethodCard, variant: str, manifest: DatasetManifest) -> Iterable[str]:
    """What speaks against believing a method."""
    if card.control:
        yield "a control, which every method has to beat: it says little of a single pair"
    if variant == PUBLISHED and CORRECTED in card.variants:
        yield f"'{PUBLISHED}' keeps defects of the authors' code, unlike '{CORRECTED}': {undone(card)}"
    for finding in load_findings(layout, manifest.benchmark):
        is_undone = variant == CORRECTED and CORRECTED in finding.undone_in
        if card.name in finding.methods and not is_undone:
            yield f"finding: {finding.title} (docs/findings.md)"


def _reads(card: MethodCard, benchmark: str, item: NewItem) -> bool:
    inputs = {*kind_of(benchmark, item.kind, where=item.where).inputs}
    return not inputs or bool(inputs & {*card.inputs})


def _check_reads(layout: Layout, card: MethodCard, benchmark: str, items: Iterable[NewItem]) -> None:
    """Refuse a method that reads nothing of an item: its scores would say nothing of it."""
    for item in items:
        if not _reads(card, benchmark, item):
            readers = [one.name for one in load_methods(layout, benchmark) if _reads(one, benchmark, item)]
            raise UsageError(
                f"{card.title} reads nothing of a new {item.kind}: its scores would say nothing of '{item.name}'",
                where=item.where,
                todo=f"choose a method that does: {', '.join(readers)}",
            )
