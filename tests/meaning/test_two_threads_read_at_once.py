"""Several runs at once ask what code means: each must be answered as if it were alone."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from harness.meaning.python import python_meaning
from tests.conftest import REPOSITORY


@pytest.fixture
def disturbed() -> Iterator[None]:
    """Other threads get their turn in the middle of everything, as where a library watches the collector."""

    def let_others_go(*_: object) -> None:
        time.sleep(0)

    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(let_others_go)
    gc.set_threshold(100)
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)
    gc.callbacks.remove(let_others_go)


def test_trees_that_are_read_at_once_do_not_mix(disturbed: None) -> None:
    """Python 3.11 ended some of them with `AST constructor recursion depth mismatch`."""
    files = [path.read_bytes() for path in sorted((REPOSITORY / "harness" / "execution").rglob("*.py"))]
    found: list[list[str]] = []
    faults: list[BaseException] = []

    def read() -> None:
        try:
            found.append([python_meaning(content) for content in files])
        except SystemError as error:
            faults.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and len(found) == 4 and all(one == found[0] for one in found)
