"""Every method's image, in its real container, does what every method must do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from harness.base.layout import Layout, find_layout
from harness.conformance import checks_of, self_test
from harness.conformance.checks import CheckResult
from harness.engine import Engine
from harness.execution.trials import InContainers
from harness.images import ensure_image
from harness.methods.card import load_method, method_names
from tests.conftest import REPOSITORY, asked_for

Results = dict[str, Future[list[CheckResult]]]


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest, repository: Layout, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Results]:
    """The self-tests of the methods that were asked for, on all processors at once: each run needs one."""
    names = asked_for(request, test_a_method_keeps_the_protocol)
    layout = Layout(repository.root, repository.cache, tmp_path_factory.mktemp("self-tests") / "local")
    for name in names:
        ensure_image(engine, layout, name)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {name: pool.submit(_tested, layout, engine, name) for name in names}
        pool.shutdown(cancel_futures=True)


def _tested(layout: Layout, engine: Engine, name: str) -> list[CheckResult]:
    return list(self_test(load_method(layout, name), InContainers(layout, engine)))


@pytest.mark.engine
@pytest.mark.parametrize("name", method_names(find_layout(REPOSITORY)))
def test_a_method_keeps_the_protocol(repository: Layout, results: Results, name: str) -> None:
    found = results[name].result()
    assert [one.check for one in found] == [check.name for check in checks_of(load_method(repository, name))]
    assert {one.check: one.reason for one in found if not one.passed} == {}
