"""An engine that fails to start a container of a test is asked once more, and its second answer counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from docker.errors import APIError

from tests.methods.frozen import run_in_image


@pytest.fixture
def asked() -> Any:
    """An engine, and the containers that it makes."""
    containers: list[Mock] = []
    case = SimpleNamespace(containers=containers, failing=0, settings=[])

    def create(image_id: str, **settings: Any) -> Mock:
        container = Mock()
        container.wait.return_value = {"StatusCode": 3}
        container.logs.side_effect = lambda *, stdout, stderr: b"printed" if stdout else b"said"
        container.start.side_effect = APIError("no file") if len(containers) < case.failing else None
        containers.append(container)
        case.settings.append((image_id, settings))
        return container

    case.client = SimpleNamespace(containers=SimpleNamespace(create=create))
    return case


@pytest.mark.parametrize("failing", [0, 1])
def test_a_start_that_failed_is_tried_once_more(asked: Any, failing: int) -> None:
    asked.failing = failing
    done = run_in_image(asked, "image", ["sh", "-c", "true"], {})
    assert (done.returncode, done.stdout, done.stderr) == (3, "printed", "said")
    assert len(asked.containers) == failing + 1 and len({repr(one) for one in asked.settings}) == 1
    assert [one.remove.call_count for one in asked.containers] == [1] * (failing + 1)


def test_an_engine_that_starts_nothing_is_a_failure(asked: Any) -> None:
    asked.failing = 9
    with pytest.raises(APIError, match="no file"):
        run_in_image(asked, "image", ["true"], {})
    assert [one.remove.call_count for one in asked.containers] == [1, 1]
