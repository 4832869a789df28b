"""The self-test of a method: what every image must do in its real container, whatever the method."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import cast

from harness.base.errors import UsageError
from harness.conformance.checks import Bench, Check, CheckResult, apply
from harness.execution.trials import Runner
from harness.methods.card import MethodCard

__all__ = ["Check", "CheckResult", "checks_of", "self_test"]


def checks_of(card: MethodCard) -> tuple[Check, ...]:
    """The checks of the benchmarks a method is for, in order."""
    known = {found.name for found in pkgutil.iter_modules(__path__) if found.ispkg}
    if missing := [name for name in card.benchmarks if name not in known]:
        raise UsageError(
            f"there is no self-test yet for {', '.join(missing)}",
            where=f"method '{card.name}'",
            todo="add made-up problems and checks under harness/conformance/",
        )
    modules = [import_module(f"{__name__}.{name}.checks") for name in card.benchmarks]
    return tuple(check for module in modules for check in cast(tuple[Check, ...], module.CHECKS))


def self_test(card: MethodCard, run: Runner) -> Iterator[CheckResult]:
    """All checks, in order."""
    bench = Bench(card, run)
    for check in checks_of(card):
        yield apply(check, bench)
