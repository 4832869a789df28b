"""The committed runs and the published names, read from their files."""

from __future__ import annotations

import fnmatch
import gzip
import json
import math
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """One committed run, as its record and scores say."""

    method: str
    variant: str
    dataset: str
    split: str
    seed: int
    verdict: str
    metrics: dict[str, float | None]
    cpu_s: float | None
    memory: int | None
    key: str


@cache
def names(benchmark: str) -> dict[str, Any]:
    """The content of `names.toml`."""
    return toml(ROOT / "results" / "published" / benchmark / "names.toml")


def toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    with path.open("rb") as stream:
        return tomllib.load(stream)


@cache
def runs(benchmark: str) -> tuple[Run, ...]:
    """The committed runs with the parameters of their variant, and the options that the claims are about."""
    usual_options = names(benchmark).get("options", {})
    members = []
    for path in sorted((ROOT / "results" / "reference" / benchmark).glob("*/*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                content = json.loads(line)
                record, scores = content["record"], content["scores"] or {}
                job = record["planned"]["job"]
                if job["upstream"] or job.get("accelerator") or job["options"] != usual_options:
                    continue
                if job["parameters"] != parameters(job["method"], job["variant"]):
                    continue
                metrics = dict(scores.get("metrics", {}))
                for name, values in scores.get("series", {}).items():
                    metrics |= {f"{name} {place}": value for place, value in enumerate(values)}
                used = record["resources"]
                members.append(
                    Run(
                        job["method"],
                        job["variant"],
                        job["dataset"],
                        split_text(job["split"]),
                        job["split"]["seed"],
                        record["verdict"],
                        metrics,
                        used.get("cpu_s"),
                        used.get("peak_bytes"),
                        record["key"],
                    )
                )
    return tuple(members)


@cache
def card(method: str) -> dict[str, Any]:
    """The content of a method's card."""
    return toml(ROOT / "methods" / method / "method.toml")


def parameters(method: str, variant: str) -> dict[str, Any]:
    """The parameters of a variant, with those of the variant that it is like."""
    own = card(method)["variants"][variant]
    before = parameters(method, own["like"]) if "like" in own else {}
    return {**before, **own.get("parameters", {})}


def controls(benchmark: str) -> list[str]:
    """The methods that every table carries to be beaten."""
    folders = sorted(path.parent.name for path in (ROOT / "methods").glob("*/method.toml"))
    return [name for name in folders if card(name).get("control") and benchmark in card(name)["benchmarks"]]


def split_text(split: dict[str, Any]) -> str:
    """`cluster:gamma=0.6`."""
    texts = [
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in sorted(split["parameters"].items())
    ]
    return str(split["strategy"]) + (":" + ",".join(texts) if texts else "")


@cache
def runs_of(benchmark: str, method: str, variant: str, dataset: str, split: str) -> tuple[Run, ...]:
    """The runs of one place by seed; a `*` in the split stands for any value."""

    def is_of(text: str) -> bool:
        strategy, _, settings = text.partition(":")
        strategy_asked, _, settings_asked = split.partition(":")
        if strategy != strategy_asked:
            return False
        values = dict(one.split("=", 1) for one in settings.split(",") if one)
        asked = dict(one.split("=", 1) for one in settings_asked.split(",") if one)
        return values.keys() == asked.keys() and all(
            fnmatch.fnmatchcase(value, asked[name]) for name, value in values.items()
        )

    members = [
        run
        for run in runs(benchmark)
        if (run.method, run.variant, run.dataset) == (method, variant, dataset)
        and (run.split == split or ("*" in split and is_of(run.split)))
    ]
    return tuple(sorted(members, key=lambda run: (run.split, run.seed)))


def mean(values: list[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(values) / len(values)


def deviation(values: list[float]) -> float:
    """The standard deviation of a sample."""
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))
