"""Word pieces: words, casing, markers, lengths, as the published tokeniser has them, and where its code ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.in_image import measured
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import ensure_environment
from tests.combos.conftest import FOLDERS


@pytest.fixture(scope="module")
def told(repository: Layout, engine: Engine) -> dict[str, Any]:
    """One run inside the image, because importing its libraries costs more than all that is looked at."""
    mounts = {repository.root / folder: f"/code/{number}" for number, folder in enumerate(FOLDERS)}
    return measured(
        engine,
        ensure_environment(engine, repository, "pure_minilm").image_id,
        ("/opt/venv/bin/python3", "/tests/plain_pieces.py"),
        {},
        mounts={**mounts, Path(__file__).parent: "/tests"},
        environment={"PYTHONPATH": ":".join(mounts.values()), "PYTHONDONTWRITEBYTECODE": "1"},
    )


@pytest.mark.engine
def test_rows_are_those_of_the_published_tokeniser(told: dict[str, Any]) -> None:
    """Over a vocabulary of our own, cased and with gaps, and over MiniLM's."""
    assert told["own"] == 100
    assert told["minilm"] == 100
    assert told["same vocabulary"]


@pytest.mark.engine
def test_markers_are_two_pieces_behind_the_vocabulary(told: dict[str, Any]) -> None:
    size, expected, start, end = told["size"]
    assert size == expected
    assert (start, end) == (size - 2, size - 1)


@pytest.mark.engine
def test_long_rows_are_cut_so_that_a_start_is_left(told: dict[str, Any]) -> None:
    cut = told["cut"]
    assert cut["cut on the right"]
    # both starts fit in 7; in 6 the row begins one piece later, and in 5 the second start is left out
    assert cut["starts"] == [[1], [1, 5], [2, 6], [2, 6]]
    assert cut["late"] == [[True, True], 12, 2]
    # two starts that are further apart than the row is long: the first is kept
    assert cut["wide"] == [[1], 12]
    # a window that cuts all starts off is not used
    assert cut["narrow"] == 2
    assert cut["padding"]


@pytest.mark.engine
def test_batches_are_filled_and_weigh_starts_alike(told: dict[str, Any]) -> None:
    cut = told["cut"]
    assert cut["mask"] == [20, 7]
    assert cut["weights"] == [[0.0, 0.5], [0.0, 0.5]]
