"""Commands that run in the process of the tests leave its handlers of signals as they were."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def handlers_of_signals() -> Iterator[None]:
    """What a command that was interrupted does about signals is for its own end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
