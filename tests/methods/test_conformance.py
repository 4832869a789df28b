"""Every method's image, in its real container, does what every method must do."""

from __future__ import annotations

import pytest

from harness.conformance import checks_of, self_test
from harness.engine import Engine
from harness.layout import Layout, find_layout
from harness.methods import load_method, method_names
from harness.trials import InContainers
from tests.conftest import REPOSITORY


@pytest.mark.engine
@pytest.mark.parametrize("name", method_names(find_layout(REPOSITORY)))
def test_a_method_keeps_the_protocol(layout: Layout, engine: Engine, name: str) -> None:
    card = load_method(layout, name)
    results = list(self_test(card, InContainers(layout, engine)))
    assert [result.check for result in results] == [check.name for check in checks_of(card)]
    assert {result.check: result.reason for result in results if not result.passed} == {}
