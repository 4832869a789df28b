"""Methods in a language without a kernel are refused before anything is built."""

from __future__ import annotations

import re

from click.testing import CliRunner

from harness.base.errors import UsageError
from harness.cli import group
from tests.conftest import REPOSITORY


def test_a_method_in_java_is_refused_with_what_to_do_instead() -> None:
    done = CliRunner().invoke(group, ["notebook", "biolne"])
    assert isinstance(done.exception, UsageError)
    assert "no notebook for methods in java" in done.exception.what
    (page,) = re.findall(r"docs/[\w-]+\.md", done.exception.todo)
    # it tells how a container is started without a notebook
    assert "harness job write" in (REPOSITORY / page).read_text()
