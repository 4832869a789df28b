"""The self-test of a method: what every image must do in its real container, whatever the method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, cast

from harness import benchmarks
from harness.base.errors import UsageError
from harness.conformance.checks import Bench, Check, CheckResult, apply
from harness.execution.trials import Runner
from harness.methods.card import MethodCard

__all__ = ["CheckResult", "checks_of", "self_test"]


class _Checks(Protocol):
    CHECKS: tuple[Check, ...]


def checks_of(card: MethodCard) -> tuple[Check, ...]:
    """The checks of the benchmarks a method is for, in order."""
    modules = {name: benchmarks.part(name, "conformance.checks") for name in card.benchmarks}
    checks = {name: cast(_Checks, module).CHECKS if module else () for name, module in modules.items()}
    if gaps := [name for name, own in checks.items() if not own]:
        raise UsageError(
            f"there is no self-test yet for {', '.join(gaps)}",
            where=f"method '{card.name}'",
            todo="add made-up problems and checks: conformance/ in the benchmark's package",
        )
    return tuple(check for own in checks.values() for check in own)


def self_test(card: MethodCard, run: Runner) -> Iterator[CheckResult]:
    """All checks, in order."""
    bench = Bench(card, run)
    for check in checks_of(card):
        yield apply(check, bench)
