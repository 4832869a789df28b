"""Names of splits: how a person writes them, and how tables and files call them."""

from __future__ import annotations

from typing import Any

from harness.base.manifests import Strict
from harness.base.settings import parse_settings, setting_text, split_settings


class SplitSpec(Strict):
    """A split by name: strategy, seed and the strategy's own parameters."""

    strategy: str
    seed: int
    parameters: dict[str, Any] = {}

    @property
    def label(self) -> str:
        """A short name for tables and file names."""
        if not self.parameters:
            return f"{self.strategy}-{self.seed}"
        extra = "".join(f"-{name}={value}" for name, value in sorted(self.parameters.items()))
        return f"{self.strategy}{extra}-{self.seed}"

    @property
    def text(self) -> str:
        """How a person writes it, without its seed; `parse_split` reads it."""
        if not self.parameters:
            return self.strategy
        settings = [f"{name}={setting_text(value)}" for name, value in sorted(self.parameters.items())]
        return f"{self.strategy}:{','.join(settings)}"


def parse_split(text: str, seed: int) -> SplitSpec:
    """`cluster`, or with parameters `cluster:gamma=0.6,valid_share=0.2`; values are JSON where they can be."""
    strategy, _, settings = text.partition(":")
    parameters = parse_settings(
        split_settings(settings) if settings else (), f"split {strategy}", "write for example cluster:gamma=0.6"
    )
    return SplitSpec(strategy=strategy, seed=seed, parameters=parameters)
