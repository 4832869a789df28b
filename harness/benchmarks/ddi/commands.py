"""`harness split measure` and `consistency`: sizes of splits, and how near they come to real time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from click.core import ParameterSource

from harness.base.layout import find_layout
from harness.base.tables import aligned
from harness.cli.names import DATASET, SPLIT
from harness.cli.options import SEED, OnceCommand, echo_json, json_option, mirror_option
from harness.cli.splitting.options import SplitRequest, one_of, split_options

if TYPE_CHECKING:
    from harness.base.layout import Layout
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import Codes, PartSplit

_WITHOUT_SEED = "released"
# They simulate no approval times: one is for predicting, the other one is made of approval times.
_NO_SIMULATION = {"new_drugs", "period"}


@click.command("measure", cls=OnceCommand, short_help="Sizes of a split, similarity of known and new drugs.")
@split_options
@click.option("--file", "path", type=click.Path(dir_okay=False, path_type=Path), help="A split file to measure.")
@mirror_option
@json_option
def measure(request: SplitRequest, path: Path | None, mirrors: tuple[Path, ...], as_json: bool) -> None:
    """Measure splits of DATASET by STRATEGY, or a file: sizes, and how similar known and new drugs are."""
    from harness.cli.split import show
    from harness.splits import load_split
    from harness.splits.splits import describe_split, read_split_file

    layout = find_layout()
    rows = []
    for spec in request.specs(layout):
        if path:
            split = read_split_file(layout, request.dataset, path, mirrors)
        else:
            split = load_split(layout, request.dataset, spec, mirrors)
        about = describe_split(layout, request.dataset, spec, split, mirrors)
        rows.append({"dataset": request.dataset, "split": str(path or spec.label), **about})
        if not as_json:
            click.echo(f"{path or spec.label}  {split.digest}")
            show(about)
    if as_json:
        echo_json(rows)


@click.command("consistency", cls=OnceCommand, short_help="How near drug splits come to approval times.")
@click.argument("dataset", type=DATASET, required=False)
@click.option("--dataset", "named_dataset", type=DATASET, help="In place of DATASET.")
@click.option(
    "--split",
    "texts",
    multiple=True,
    type=SPLIT,
    metavar="STRATEGY[:NAME=VALUE,...]",
    help="May be repeated; every strategy that simulates time, and every released split, by default.",
)
@click.option("--seed", "seeds", multiple=True, type=SEED, default=[124], help="124 by default; may be repeated.")
@click.option("--year", "years", multiple=True, type=int, help="Thresholds; 1985 to 2020 by 5 by default.")
@click.option("--against", help="The split that the others are compared with; the first by default.")
@click.option("--controls", type=click.IntRange(min=1), default=400, show_default=True, help="Random draws.")
@click.option("--markdown", is_flag=True, help="As a page, of what the study has measured: docs/consistency.md.")
@mirror_option
@json_option
def consistency(
    dataset: str | None,
    named_dataset: str | None,
    texts: tuple[str, ...],
    seeds: tuple[int, ...],
    years: tuple[int, ...],
    against: str | None,
    controls: int,
    markdown: bool,
    mirrors: tuple[Path, ...],
    as_json: bool,
) -> None:
    """The consistency index of drug splits of DATASET (DDI-Ben, Algorithm 2), with its significance."""
    from harness.base.errors import UsageError
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.consistency import YEARS
    from harness.benchmarks.ddi.splits.consistency import consistency as judged
    from harness.data import load_dataset

    layout = find_layout()
    if markdown:
        others = ("dataset", "named_dataset", "texts", "seeds", "years", "against", "controls", "as_json")
        if any(map(_is_given, others)):
            raise click.UsageError("--markdown shows what the study has measured, and nothing else goes with it")
        click.echo(_page(layout), nl=False)
        return
    name = one_of("dataset", dataset, named_dataset)
    data = load_dataset(layout, name, mirrors=mirrors)
    if not isinstance(data, DdiDataset):
        raise UsageError("only drug interactions have this index", todo="name a dataset of benchmark ddi")
    splits, left_out = _roles(layout, data, texts, seeds, mirrors)
    rows = judged(splits, data.years, thresholds=years or YEARS, against=against, controls=controls)
    if as_json:
        echo_json({"rows": [row.to_json() for row in rows], "left_out": left_out})
        return
    other = f"differs from {against or next(iter(splits))}"
    lines = [["year", "split", "drugs", "penalty", "index", "controls", "better", "worse", other]]
    for row in rows:
        index = "-" if row.index is None else f"{row.index:.3f}"
        chance = f"{row.control_mean:8,.0f} ± {row.control_sd:3.0f}"
        shares = [f"{share:.3f}" for share in (row.better, row.worse, row.differs)]
        lines.append([str(row.year), row.split, f"{row.drugs:5}", f"{row.penalty:7,}", index, chance, *shares])
    for line in aligned(lines):
        click.echo(line)
    for split, reason in left_out.items():
        click.echo(f"left out: {split}: {reason}")


def _is_given(name: str) -> bool:
    """Whether a person gave this option, or argument, of the present command."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def _page(layout: Layout) -> str:
    from harness.base.errors import MissingData
    from harness.benchmarks.ddi.study.data_facts import SplitFacts
    from harness.benchmarks.ddi.study.page import markdown
    from harness.study.measurements import load_measured

    measurements = load_measured(layout, "ddi", SplitFacts)
    if measurements is None:
        raise MissingData(
            "nothing was measured",
            where=str(layout.reference / "ddi"),
            todo="`harness study --benchmark ddi --measure` does that",
        )
    return markdown(measurements)


def _roles(
    layout: Layout, data: DdiDataset, texts: tuple[str, ...], seeds: tuple[int, ...], mirrors: tuple[Path, ...]
) -> tuple[dict[str, Codes], dict[str, str]]:
    """The roles of the named splits, or of all, and the splits that can't be made here, with the reason."""
    from harness.base.errors import DataError, EngineError
    from harness.splits import load_split
    from harness.splits.spec import parse_split
    from harness.splits.strategies import strategy_names

    every = [name for name in strategy_names("ddi") if name not in {_WITHOUT_SEED, *_NO_SIMULATION}]
    every += [f"{_WITHOUT_SEED}:which={name}" for name in data.released_names]
    roles, left_out = {}, {}
    for text in texts or every:
        once = len(seeds) == 1 or text.startswith(_WITHOUT_SEED)
        for seed in seeds[:1] if once else seeds:
            try:
                split = cast("PartSplit", load_split(layout, data.name, parse_split(text, seed), mirrors))
            except (EngineError, DataError) as error:
                if texts:
                    raise
                left_out[text] = error.what
            else:
                roles[text if once else f"{text} ({seed})"] = split.drugs
    return roles, left_out


SPLIT_COMMANDS = (measure, consistency)
