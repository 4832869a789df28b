"""Fixtures every test may use: the repository, a private place for results, and what may be absent."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from harness.base.layout import DATA_VARIABLE, Layout, find_layout
from tests.documents import every_document_is_of_its_schema
from tests.engines import any_engine, docker_engine, engine, podman_engine, probe_image
from tests.evidence import evidence, fabricated, made_up
from tests.temporary import prefer_memory

__all__ = [
    "any_engine",
    "docker_engine",
    "engine",
    "every_document_is_of_its_schema",
    "evidence",
    "fabricated",
    "made_up",
    "podman_engine",
    "probe_image",
]

# how fast examples are made depends on what else the machine does
settings.register_profile("permafrost", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("permafrost")

prefer_memory()

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session", autouse=True)
def _no_earlier_logs_of_this_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is known of the logs of tests is not kept among this user's notes."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.proof.history.state_folder", lambda: folder)
        yield


# what methods compute in their containers: half an hour of it, and it changes only with their images
_THOROUGH = {REPOSITORY / "tests" / "methods", REPOSITORY / "tests" / "parity"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--until`, for a run that somebody stops after a while."""
    parser.addoption(
        "--until",
        type=float,
        metavar="SECONDS",
        help="begin no test after this moment, in seconds since 1970; files come in an order that depends on it",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Every container test of these folders is thorough."""
    if item.path.parent in _THOROUGH and item.get_closest_marker("engine"):
        item.add_marker(pytest.mark.thorough)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What there is no time for is skipped, and pytest's summary says how much that was."""
    until = item.config.getoption("--until")
    if until is not None and time.time() > until:
        pytest.skip("no time was left for it (--until)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where tests run side by side: none that needs the machine to itself, and files with containers first.

    Where there may not be time for all, another order each time, the same in all processes.
    """
    until = config.getoption("--until")
    if until is not None:
        files = sorted({item.path for item in items})
        random.Random(until).shuffle(files)
        places = {file: place for place, file in enumerate(files)}
        items.sort(key=lambda item: places[item.path])
    side_by_side = getattr(config, "workerinput", {}).get("workercount", 1) > 1
    if not side_by_side:
        return
    for item in items:
        if item.get_closest_marker("alone"):
            item.add_marker(pytest.mark.skip(reason="needs the machine to itself: run it without --numprocesses"))
    # these take longest: what comes last is short, and no processor waits for it
    first = {item.path for item in items if item.get_closest_marker("engine")}
    items.sort(key=lambda item: item.path not in first)


@pytest.fixture(scope="session", autouse=True)
def no_data_of_ones_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a person keeps among the user's data is no part of any test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA_VARIABLE, str(tmp_path_factory.getbasetemp() / "no data of one's own"))
        yield


@pytest.fixture(scope="session")
def repository() -> Layout:
    """The real repository with its real cache: for what is expensive to make and content-addressed."""
    return find_layout(REPOSITORY)


@pytest.fixture
def layout(repository: Layout, tmp_path: Path) -> Layout:
    """The real repository and cache, and a results folder of the test's own."""
    return Layout(root=repository.root, cache=repository.cache, local=tmp_path / "local")


@pytest.fixture
def private(repository: Layout, tmp_path: Path) -> Layout:
    """The real repository on another machine: nothing was run there, and its cache is empty."""
    return Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with goldens and mirrored data that lies beside some clones; without it a test skips."""
    folder = Path(os.environ.get("PERMAFROST_SHARED") or REPOSITORY.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"needs goldens and mirrored data in {folder} (set PERMAFROST_SHARED)")
    return folder


def asked_for(request: pytest.FixtureRequest, test: Callable[..., None]) -> list[str]:
    """The `name` of each case of a test that this session runs."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    return [str(item.callspec.params["name"]) for item in items if item.function is test]
