"""Suites: named sets of jobs. Each is a TOML file in this folder; a new suite is a new file."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from pathlib import Path

from pydantic import Field, field_validator, model_validator

from harness import benchmarks
from harness.base.errors import ManifestError
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml
from harness.base.unknown_names import refuse_unknown_names, unknown_name
from harness.data import load_manifest
from harness.methods.card import MethodCard, Scalar, load_method, load_methods
from harness.planning.jobs import Job, complete_options, make_job
from harness.planning.published_seeds import first_published
from harness.splits.spec import SplitSpec, parse_split

_SEEDS = " --published-seeds "
_BRACES, _RANGE = re.compile(r"(\{[^{}]+\})"), re.compile(r"([0-9]+)\.\.([0-9]+)")


class Block(Strict):
    """A full product of methods, datasets, splits and seeds."""

    benchmark: str = Field(default="", description="follows from the folder that the suite lies in")
    methods: list[str] = Field(default=[], description="these and every control; empty: every method")
    variants: list[str] = Field(
        default=["published"], min_length=1, description="those a method does not have are skipped"
    )
    weights: bool = Field(
        default=True, description="false: for a variant that reads a pretrained model, the first that reads none"
    )
    datasets: list[str] = Field(min_length=1)
    splits: list[str] = Field(
        min_length=1,
        description="strategies, with parameters as in cluster:gamma=0.6; {a,b} and {0..9}: a split each",
    )
    seeds: list[int] = Field(default=[], description="these seeds")
    published_seeds: int = Field(default=0, ge=0, le=100, description="or the first so many of the published ones")
    search: dict[str, list[Scalar]] = Field(
        default={}, description="values to try of parameters, by name; those a method does not have are skipped"
    )
    draws: int = Field(default=0, ge=0, description="so many combinations of `search`, drawn for each method")
    follow: dict[str, str] = Field(
        default={},
        description="parameters that take a searched one's value, where the method's own two are equal",
    )
    options: dict[str, int] = Field(default={}, description="of the benchmark; those not given are as usual")

    @field_validator("splits")
    @classmethod
    def _are_each_named(cls, texts: list[str]) -> list[str]:
        return [one for text in texts for one in expansions(text)]

    @model_validator(mode="after")
    def _asks_for_something(self) -> Block:
        if not (self.seeds or self.published_seeds):
            raise ValueError("seeds: name some, or give published_seeds; without a seed nothing is asked")
        if self.search and not self.draws:
            raise ValueError("draws: say how many combinations of `search` are drawn")
        return self


class Suite(Strict):
    """`NAME.toml`."""

    name: str
    summary: str
    includes: list[str] = Field(default=[], description="suites whose blocks come after its own")
    blocks: list[Block] = []

    @model_validator(mode="after")
    def _asks_for_something(self) -> Suite:
        if not (self.blocks or self.includes):
            raise ValueError("blocks: write one, or include another suite; this one asks for nothing")
        return self


def expansions(text: str) -> list[str]:
    """Every text that one with `{a,b}` or `{0..9}` stands for, the last such part changing first."""
    # every second piece is a pair of braces with what is in it
    pieces = enumerate(_BRACES.split(text))
    parts = [_values(piece[1:-1]) if number % 2 else [piece] for number, piece in pieces]
    return ["".join(members) for members in product(*parts)]


def _values(inner: str) -> list[str]:
    if limits := _RANGE.fullmatch(inner):
        return [str(number) for number in range(int(limits[1]), int(limits[2]) + 1)]
    return inner.split(",")


@cache
def suite_names() -> list[str]:
    """All suites."""
    return sorted({path.stem for name in benchmarks.names() for path in _folder(name).glob("*.toml")})


def load_suite(name: str) -> Suite:
    """One suite by name, with the blocks of those it includes: of several benchmarks, one after the other."""
    parts = []
    for benchmark in benchmarks.in_order(benchmarks.names()):
        path = _folder(benchmark) / f"{name}.toml"
        if path.is_file():
            suite = load_toml(path, Suite)
            if suite.name != name:
                raise ManifestError(
                    f"the name is '{suite.name}', the file is '{path.name}'",
                    where=f"{path}: name",
                    todo="give both the same name",
                )
            others = [block for other in suite.includes for block in load_suite(other).blocks]
            where = f"{path}: blocks.options"
            own = [
                block.model_copy(
                    update={
                        "benchmark": benchmark,
                        "options": complete_options(benchmark, block.options, where=where),
                    }
                )
                for block in suite.blocks
            ]
            parts.append(suite.model_copy(update={"blocks": [*own, *others]}))
    if not parts:
        raise unknown_name("suite", name, suite_names(), where="suites/ of every benchmark")
    return Suite(
        name=name,
        summary=" ".join(part.summary for part in parts),
        includes=[other for part in parts for other in part.includes],
        blocks=[block for part in parts for block in part.blocks],
    )


def _folder(benchmark: str) -> Path:
    return benchmarks.folder(benchmark) / "suites"


def jobs_of(layout: Layout, suite: Suite, published_seeds: int | None = None) -> list[Job]:
    """The jobs of a suite, seed by seed: stopped at any time, every cell has about as many seeds.

    `published_seeds` takes so many in place of the number in the file, wherever a block takes published ones.
    """
    jobs: dict[tuple[str, int], Job] = {}
    for block in suite.blocks:
        if published_seeds is not None and block.published_seeds:
            block = block.model_copy(update={"published_seeds": published_seeds})
        for place, job in _jobs_of_block(layout, block):
            jobs.setdefault(place, job)
    return list(jobs.values())


def plan_name(suite: str, published_seeds: int | None) -> str:
    """The name of a plan: what a person types after `--suite`."""
    return suite if published_seeds is None else f"{suite}{_SEEDS}{published_seeds}"


def named_plan(name: str) -> tuple[str, int | None]:
    """Suite and number of published seeds by the name of a plan."""
    suite, _, count = name.partition(_SEEDS)
    return suite, int(count) if count.isdecimal() else None


def _jobs_of_block(layout: Layout, block: Block) -> list[tuple[tuple[str, int], Job]]:
    """Each job with what is equal for equal jobs: the text of its kind, and its seed."""
    cards = load_methods(layout, block.benchmark)
    if block.methods:
        # what a method must beat stands in every table
        cards = [*(load_method(layout, name) for name in block.methods), *(card for card in cards if card.control)]
    # what one method lacks is skipped; what all lack is a slip of the pen
    variants = {name for card in cards for name in card.variants}
    refuse_unknown_names("variant", block.variants, variants, where=f"suites/ of {block.benchmark}")
    seeds = _seeds(block)
    manifests = [load_manifest(layout, dataset) for dataset in block.datasets]
    of_no_seed = [
        (split, make_job(card, manifest, first, variant=variant, chosen=parameters, options=block.options))
        for manifest, (split, first), card in product(manifests, _splits(block, 0).items(), cards)
        for variant in _variants(block, card)
        for parameters in _combinations(block, card, variant)
    ]
    kinds = [(split, job, job.model_dump_json()) for split, job in of_no_seed]
    # what makes a job takes thirty times as long as giving it another seed
    return [
        ((kind, seed), job.model_copy(update={"split": splits[split]}))
        for seed, splits in ((seed, _splits(block, seed)) for seed in seeds)
        for split, job, kind in kinds
    ]


def _splits(block: Block, seed: int) -> dict[str, SplitSpec]:
    return {split: parse_split(split, seed) for split in block.splits}


def _variants(block: Block, card: MethodCard) -> list[str]:
    """Those of the block's variants that the method has, or what runs in the place of one that reads weights."""
    own = [name for name in block.variants if name in card.variants]
    if block.weights:
        return own
    return list(dict.fromkeys(card.runs_everywhere if card.variants[name].weights else name for name in own))


def _combinations(block: Block, card: MethodCard, variant: str) -> list[dict[str, Scalar]]:
    """The combinations of parameters that a block tries: the card's own, or draws from what there is to search.

    Drawn by the method's name, so that every dataset, split and seed tries the same ones.
    """
    own = card.variant(variant).parameters
    values = {name: choices for name, choices in block.search.items() if name in own}
    if not values:
        return [{}]
    generator = random.Random(f"{card.name} {variant}")
    # of many combinations only those that are drawn are made
    count = prod(map(len, values.values()))
    drawn = range(count) if count <= block.draws else generator.sample(range(count), block.draws)
    sample = [_combination(values, number) for number in drawn]
    followers = {
        name: other for name, other in block.follow.items() if other in values and own.get(name) == own[other]
    }
    return [{**point, **{name: point[other] for name, other in followers.items()}} for point in sample]


def _combination(values: Mapping[str, Sequence[Scalar]], number: int) -> dict[str, Scalar]:
    """One of all combinations, numbered as `itertools.product` makes them: the last parameter changes first."""
    point = {}
    for name, choices in reversed(list(values.items())):
        number, place = divmod(number, len(choices))
        point[name] = choices[place]
    return {name: point[name] for name in values}


def _seeds(block: Block) -> list[int]:
    if not block.published_seeds:
        return block.seeds
    return [*first_published(block.benchmark, block.published_seeds), *block.seeds]
