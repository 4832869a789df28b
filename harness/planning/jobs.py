"""Jobs: what should be known. A job's key is a hash over everything that can change its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from pydantic import Field, ValidationError

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.manifest_faults import plain_lines
from harness.base.manifests import Strict
from harness.base.unknown_names import refuse_unknown_names
from harness.base.vocabulary import PROTOCOL_VERSION, Accelerator
from harness.data import DatasetManifest
from harness.methods.card import MethodCard, load_method, merged_parameters
from harness.splits.spec import SplitSpec

# Seeds of 31 bits are valid in every language.
_SEED_BYTES = 4


class Job(Strict):
    """One planned cell, named in the words of a person."""

    benchmark: str
    method: str
    variant: str = "published"
    parameters: dict[str, Any] = {}
    dataset: str
    split: SplitSpec
    # what the benchmark lets be chosen beside all these (its `options`), every one of them spelled out
    options: dict[str, int] = {}
    # The tree hash of a person's own checkout that ran in place of our implementation; empty for ours.
    upstream: str = ""
    # Written down, and part of the key, where it is not the CPU.
    accelerator: Accelerator = Field(default="cpu", exclude_if=lambda value: value == "cpu")

    @property
    def row(self) -> str:
        """The method, with its variant unless that is the published one."""
        return self.method if self.variant == "published" else f"{self.method}/{self.variant}"

    @property
    def label(self) -> str:
        """`bnnr/published on fdataset, random-17263407`."""
        return f"{self.method}/{self.variant}{self.marks} on {self.dataset}, {self.split.label}"

    @property
    def fit_seed(self) -> int:
        """What the generators of a container are seeded with.

        It follows from the seed of the split by a one-way function, because that seed tells too much: with it a
        stratified draw can be traced back to the labels. The published seeds are few enough to be tried, so this
        alone hides nothing (docs/decisions/order-of-items.md).
        """
        digest = hashlib.sha256(f"{self.method} {self.split.seed}".encode()).digest()
        return int.from_bytes(digest[:_SEED_BYTES]) >> 1

    @property
    def marks(self) -> str:
        """What sets a run apart from one of our code on the CPU, wherever it is named; empty for those."""
        upstream = f" [upstream {self.upstream[:12]}]" if self.upstream else ""
        return upstream + (f" [{self.accelerator}]" if self.accelerator != "cpu" else "")


def make_job(
    card: MethodCard,
    manifest: DatasetManifest,
    split: SplitSpec,
    *,
    variant: str = "published",
    chosen: Mapping[str, Any] = MappingProxyType({}),
    options: Mapping[str, int] = MappingProxyType({}),
    upstream: str = "",
) -> Job:
    """A job as a person asks for it: the variant's parameters and the usual options, but for those given."""
    if manifest.benchmark in card.benchmarks:
        known = benchmarks.get(manifest.benchmark).input_names
        refuse_unknown_names("input", card.inputs, known, where=f"methods/{card.name}/method.toml: inputs")
    return Job(
        benchmark=manifest.benchmark,
        method=card.name,
        variant=variant,
        parameters=merged_parameters(card, variant, chosen),
        dataset=manifest.name,
        split=split,
        options=complete_options(manifest.benchmark, options),
        upstream=upstream,
    )


def complete_options(benchmark: str, options: Mapping[str, int], *, where: str = "") -> dict[str, int]:
    """Every option of a benchmark: those given, validated, and the usual values of the others.

    `where` names the file and field that gave them; without it the command line did.
    """
    model = benchmarks.get(benchmark).options

    def place(name: str) -> str:
        return f"{where}.{name}" if where else f"--{name.replace('_', '-')}"

    if unknown_names := [name for name in options if name not in model.model_fields]:
        raise UsageError(
            f"benchmark {benchmark} has no {unknown_names[0].replace('_', ' ')}",
            where=place(unknown_names[0]),
            todo="leave it out" + (f"; it has {', '.join(model.model_fields)}" if model.model_fields else ""),
        )
    try:
        return model.model_validate(dict(options)).model_dump()
    except ValidationError as error:
        name, _, words = plain_lines(error, [])[0].partition(": ")
        raise UsageError(
            f"{name.replace('_', ' ')} {words}",
            where=f"{place(name)} {options[name]}",
            todo="give another number, or leave it out",
        ) from None


def unusual_options(job: Job) -> dict[str, int]:
    """The options of a job that differ from the benchmark's usual ones."""
    usual = _usual_options(job.benchmark)
    return {name: value for name, value in job.options.items() if value != usual.get(name)}


# asked for every cell of a plan
@cache
def _usual_options(benchmark: str) -> MappingProxyType[str, int]:
    """The usual options of a benchmark, which nobody can change."""
    return MappingProxyType(complete_options(benchmark, {}))


def card_of(layout: Layout, job: Job) -> MethodCard:
    """The card of a job's method, with the limits of its run."""
    return load_method(layout, job.method).of_variant(job.variant, job.accelerator)


def on_accelerator(layout: Layout, jobs: Iterable[Job], accelerator: Accelerator) -> Iterable[Job]:
    """The jobs, computed on `accelerator` where their method can, and some of them must."""
    if accelerator == "cpu":
        return jobs
    every = list(jobs)
    cards = {name: load_method(layout, name) for name in {job.method for job in every}}
    if not any(card.cuda for card in cards.values()):
        raise UsageError(
            f"{', '.join(sorted(cards))}: no method of these computes on a GPU",
            where=f"--accelerator {accelerator}",
            todo="leave it out",
        )
    return [
        job.model_copy(update={"accelerator": accelerator}) if cards[job.method].cuda else job for job in every
    ]


class PlannedJob(Strict):
    """A job with the checksums that pin it down."""

    job: Job
    image_tree: str
    dataset_digest: str
    split_digest: str
    # of the pretrained model that the variant reads; empty for all others
    weights_digest: str = ""

    @property
    def key(self) -> str:
        """Equal keys mean equal answers; anything that can change the answer changes the key."""
        version = benchmarks.get(self.job.benchmark).inputs_version
        return digest_of(
            {
                # part of the key from version 2 on, so that keys of version 1 do not change
                **({"materialisation": version} if version > 1 else {}),
                **({"weights": self.weights_digest} if self.weights_digest else {}),
                **({"accelerator": self.job.accelerator} if self.job.accelerator != "cpu" else {}),
                "protocol": PROTOCOL_VERSION,
                "image": self.image_tree,
                "dataset": self.dataset_digest,
                "split": self.split_digest,
                "benchmark": self.job.benchmark,
                "method": self.job.method,
                "variant": self.job.variant,
                "parameters": self.job.parameters,
                **self.job.options,
                "upstream": self.job.upstream,
                "seed": self.job.split.seed,
            }
        )
