"""What an engine says of a failure is quoted, and its own failures are told from those of an image."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import docker.errors
import pytest
import requests
import urllib3.exceptions

from harness.base.foreign_text import printable, shortened
from harness.execution.runs.faults import engine_faults, explain, is_program_fault, status_of
from harness.execution.runs.log import BoundedLog


def answer(status: int, explanation: Any) -> docker.errors.APIError:
    response: Any = SimpleNamespace(status_code=status, reason="no", url="u")
    return docker.errors.APIError("message", response=response, explanation=explanation)


@pytest.mark.parametrize(
    "error",
    [
        docker.errors.DockerException(),
        answer(500, ""),
        requests.ConnectionError(),
        urllib3.exceptions.ProtocolError(),
        ConnectionResetError(),
        TimeoutError(),
    ],
)
def test_every_way_to_lose_an_engine_is_its_failure(error: Exception) -> None:
    assert isinstance(error, engine_faults())
    assert not isinstance(ValueError(), engine_faults())


def test_the_engines_own_words_are_quoted() -> None:
    assert explain(answer(500, b" no \xff space\n")) == "no \ufffd space"
    assert explain(answer(500, "no space")) == "no space"
    assert explain(OSError("gone")) == "gone"
    assert explain(ValueError()) == "ValueError"
    assert status_of(answer(404, "")) == 404 and status_of(OSError()) is None


@pytest.mark.parametrize(
    ("words", "of_the_program"),
    [
        ('exec: "x": executable file not found in $PATH: unknown', True),
        ("exec /opt/x: exec format error", True),
        ('exec: "/opt/x": permission denied: unknown', True),
        ('Exec: "/no": stat /no: No such file or directory', True),
        ("error mounting /in: no such file or directory", False),
        ("exec: connection refused", False),
        ("fork/exec /usr/bin/runc: permission denied", False),
        ("", False),
    ],
)
def test_a_program_that_cannot_start_is_told_from_an_engine_that_cannot(words: str, of_the_program: bool) -> None:
    assert is_program_fault(words) is of_the_program


def test_reasons_are_printable_and_bounded() -> None:
    assert printable("a\x1b[2J\n\u202eb") == "a\\x1b[2J\\n\\u202eb"
    assert shortened("x" * 1000) == "x" * 1000 and shortened("a" + "x" * 1000) == "a" + "x" * 999 + " ..."


def test_the_last_line_survives_long_ones(tmp_path: Any) -> None:
    with BoundedLog(tmp_path / "log", 0) as log:
        assert log.last_line == ""
        log.write(b"a" * 5000)
        assert log.last_line == "a" * 200
        log.write(b"\n" + b"b" * 700 + b"\nthe end")
        log.write(b"\n")
        assert log.last_line == "the end"
    assert log.cut == log.total == 5710
    log.close()


def test_the_last_line_controls_no_terminal(tmp_path: Any) -> None:
    with BoundedLog(tmp_path / "log", 100) as log:
        log.write(b"\x1b[2Jno\n")
        assert log.last_line == "\\x1b[2Jno"
