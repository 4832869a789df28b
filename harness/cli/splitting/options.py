"""How a person names splits: dataset and strategy by place or by option, seeds, and the strategy's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.settings import split_settings
from harness.cli.names import DATASET, SPLIT
from harness.cli.options import SEED, Command, parse_settings
from harness.splits.spec import SplitSpec
from harness.splits.splits import benchmark_of


@dataclass(frozen=True)
class SplitRequest:
    """The splits that a person names: one strategy on one dataset, with seeds and parameters."""

    dataset: str
    strategy: str | None
    seeds: tuple[int, ...]
    parameters: dict[str, Any]

    def specs(self, layout: Layout, *, published: bool = False) -> list[SplitSpec]:
        """One split per seed; without a seed the one of the benchmark's usual seed, if it has one."""
        if self.strategy is None:
            raise UsageError("no strategy is named", todo="give it after the dataset, or as --strategy NAME")
        form = benchmarks.get(benchmark_of(layout, self.dataset)).form
        usual = form.usual_seed
        seeds = (*self.seeds, *(form.published_seeds() if published else ()))
        if not seeds and usual is None:
            raise UsageError("no seed is named", todo="give --seed N; harness split make also takes --published")
        return [
            SplitSpec(strategy=self.strategy, seed=seed, parameters=self.parameters)
            for seed in dict.fromkeys(seeds or (usual,))
            if seed is not None
        ]


def split_options(command: Command) -> Command:
    """`DATASET [STRATEGY]` or `--dataset` and `--strategy`, seeds and parameters; the command gets a `request`.

    Parameters may stand behind the strategy, too: `cluster:gamma=0.6`.
    """

    @wraps(command)
    def call(
        *,
        dataset: str | None,
        named_dataset: str | None,
        strategy: str | None,
        named_strategy: str | None,
        seeds: tuple[int, ...],
        settings: tuple[str, ...],
        gamma: float | None,
        **others: Any,
    ) -> Any:
        # with --dataset, the positional argument is the strategy
        if named_dataset and dataset and not strategy:
            dataset, strategy = None, dataset
        name = one_of("dataset", dataset, named_dataset)
        text = one_of("strategy", strategy, named_strategy) if strategy or named_strategy else ""
        # as `harness run --split` takes it
        strategy_name, _, behind = text.partition(":")
        own = (*(split_settings(behind) if behind else ()), *(() if gamma is None else (f"gamma={gamma}",)))
        parameters = parse_settings((*settings, *own))
        return command(request=SplitRequest(name, strategy_name or None, seeds, parameters), **others)

    for decorate in (
        click.option("--gamma", type=float, help="The same as --set gamma=NUMBER."),
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the strategy."
        ),
        click.option("--seed", "seeds", multiple=True, type=SEED, help="A seed of the split; may be repeated."),
        click.option("--strategy", "named_strategy", type=SPLIT, help="In place of STRATEGY."),
        click.option("--dataset", "named_dataset", type=DATASET, help="In place of DATASET."),
        click.argument("strategy", type=SPLIT, required=False),
        click.argument("dataset", type=DATASET, required=False),
    ):
        call = decorate(call)
    return call


def one_of(kind: str, placed: str | None, named: str | None) -> str:
    """The name given as an argument or as an option; two different names, or none, are refused."""
    if placed and named and placed != named:
        raise UsageError(f"two are named as {kind}: '{placed}' and '{named}'", todo="name one")
    if name := placed or named:
        return name
    raise UsageError(f"no {kind} is named", todo=f"give it by its place, or as --{kind} NAME")
