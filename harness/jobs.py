"""Jobs: what should be known. A job's key is a hash over everything that can change its answer."""

from __future__ import annotations

from typing import Any

from harness import benchmark
from harness.files import digest_of
from harness.manifests import Strict
from harness.vocabulary import PROTOCOL_VERSION


class SplitSpec(Strict):
    """A split by name: strategy, seed and the strategy's own parameters."""

    strategy: str
    seed: int
    parameters: dict[str, Any] = {}

    @property
    def label(self) -> str:
        """A short name for tables and file names."""
        extra = "".join(f"-{name}={value}" for name, value in sorted(self.parameters.items()))
        return f"{self.strategy}{extra}-{self.seed}"


class Job(Strict):
    """One planned cell, named in the words of a person."""

    benchmark: str
    method: str
    variant: str = "published"
    parameters: dict[str, Any] = {}
    dataset: str
    split: SplitSpec
    inner_folds: int = 5
    # The tree hash of a person's own checkout that ran in place of our implementation; empty for ours.
    upstream: str = ""

    @property
    def label(self) -> str:
        """`bnnr/published on fdataset, random-17263407`."""
        upstream = f" [upstream {self.upstream[:12]}]" if self.upstream else ""
        return f"{self.method}/{self.variant}{upstream} on {self.dataset}, {self.split.label}"


class PlannedJob(Strict):
    """A job with the checksums that pin it down."""

    job: Job
    image_tree: str
    dataset_digest: str
    split_digest: str

    @property
    def key(self) -> str:
        """Equal keys mean equal answers; anything that can change the answer changes the key."""
        prepared = benchmark.get(self.job.benchmark).MATERIALISATION_VERSION
        return digest_of(
            {
                # told from the second way of preparing inputs on, so that keys of the first stay what they were
                **({"materialisation": prepared} if prepared > 1 else {}),
                "protocol": PROTOCOL_VERSION,
                "image": self.image_tree,
                "dataset": self.dataset_digest,
                "split": self.split_digest,
                "benchmark": self.job.benchmark,
                "method": self.job.method,
                "variant": self.job.variant,
                "parameters": self.job.parameters,
                "inner_folds": self.job.inner_folds,
                "upstream": self.job.upstream,
                "seed": self.job.split.seed,
            }
        )
