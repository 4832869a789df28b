"""The command that asks for a job: what a person types to run it, again or elsewhere."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.methods.card import MethodCard, load_method
from harness.planning.jobs import Job, unusual_options


def unusual_parameters(card: MethodCard, job: Job) -> dict[str, Any]:
    """The parameters of a job that are not those of its variant on the card; None for one that it lacks."""
    usual = card.variant(job.variant).parameters
    names = sorted({*usual, *job.parameters})
    return {name: job.parameters.get(name) for name in names if usual.get(name) != job.parameters.get(name)}


def run_command(job: Job, choices: Mapping[str, Any], *, seed: str = "") -> str:
    """`harness run ...` with all that is not usual of a job; `choices` are its `unusual_parameters`.

    `seed` may stand for the job's own. A job that lacks a parameter is of an earlier card: it can't be asked for.
    """
    words = ["harness run", f"--method {job.method}"]
    if job.variant != "published":
        words.append(f"--variant {job.variant}")
    words.append(f"--dataset {job.dataset}")
    if job.split.text != "random":
        words.append(f"--split {shlex.quote(job.split.text)}")
    words.append(f"--seed {seed or job.split.seed}")
    words += [f"--{name.replace('_', '-')} {value}" for name, value in unusual_options(job).items()]
    if job.upstream:
        words.append("--upstream DIR")
    if job.accelerator != "cpu":
        words.append(f"--accelerator {job.accelerator}")
    chosen = {name: value for name, value in choices.items() if value is not None}
    words += [f"--set {shlex.quote(f'{name}={json.dumps(value)}')}" for name, value in chosen.items()]
    return " ".join(words)


def command_of_stored(layout: Layout, job: Job) -> str:
    """`run_command` of a job of any time: of a method that is no longer here, without its parameters."""
    try:
        choices = unusual_parameters(load_method(layout, job.method), job)
    except UsageError:
        choices = {}
    return run_command(job, choices)
