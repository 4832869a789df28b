"""Every method's image, in its real container, does what every method must do."""

from __future__ import annotations

import pytest

from harness.conformance import CHECKS, Check
from harness.conformance.checks import apply
from harness.engine import Engine
from harness.layout import Layout, find_layout
from harness.methods import load_method, method_names
from harness.trials import InContainers
from tests.conftest import REPOSITORY


@pytest.mark.engine
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("name", method_names(find_layout(REPOSITORY)))
def test_a_method_keeps_the_protocol(layout: Layout, engine: Engine, name: str, check: Check) -> None:
    result = apply(check, load_method(layout, name), InContainers(layout, engine))
    assert result.passed, result.reason
