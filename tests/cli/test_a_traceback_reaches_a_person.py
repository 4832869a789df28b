"""Whatever fails, a person gets a message with what, where and what to do; a traceback only on request."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

import harness.cli
from harness.base.errors import UsageError
from harness.cli import main
from tests.conftest import REPOSITORY


def _fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def failing() -> None:
        raise error

    monkeypatch.setattr(harness.cli.group, "get_command", lambda context, name: failing)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "/a/file"), ("Permission denied", "/a/file", "harness doctor")),
        (OSError(28, "No space left on device"), ("No space left on device", "harness.cli", "free space")),
        (KeyError("x"), ("KeyError", "harness.cli", "PERMAFROST_TRACEBACK")),
    ],
)
def test_an_unforeseen_failure_has_three_parts(
    error: Exception,
    said: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("PERMAFROST_TRACEBACK", raising=False)
    _fail_with(error, monkeypatch)
    with pytest.raises(SystemExit) as ended:
        main(["status"])
    told = capsys.readouterr().err
    assert ended.value.code == 3
    assert all(part in told for part in (*said, "where:", "to do:")), told
    assert "Traceback" not in told


@pytest.mark.parametrize("variable", ["PERMAFROST_RESULTS", "PERMAFROST_DATA", "PERMAFROST_CACHE"])
@pytest.mark.parametrize(
    ("name", "kind"), [("file", "a file"), ("link", "a broken link"), ("pipe", "a pipe or a")]
)
@pytest.mark.parametrize("below", ["", "a/b"])
def test_a_variable_that_names_no_folder_is_told_by_its_name(
    variable: str,
    name: str,
    kind: str,
    below: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It was said that a file exists, or that each run of a plan is damaged."""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv(variable, str(tmp_path / name / below))
    with pytest.raises(SystemExit) as ended:
        main(["status"])
    told = capsys.readouterr().err
    assert ended.value.code == 2 and f"error: ${variable} has to name a folder, and {kind}" in told
    assert f"where: {tmp_path / name}\n" in told and f"or unset {variable}" in told
    for words in (["status", "--help"], ["status", "-h"], ["--version"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0, words
    if variable == "PERMAFROST_DATA":
        with pytest.raises(SystemExit) as ended:
            main(["--data", str(tmp_path), "list", "suites"])
        assert ended.value.code == 0


def test_a_traceback_comes_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERMAFROST_TRACEBACK", "1")
    _fail_with(KeyError("x"), monkeypatch)
    with pytest.raises(KeyError):
        main(["status"])


def test_an_interrupt_while_modules_load_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    done = _harness("status", PYTHONPATH=f"{tmp_path}:{REPOSITORY}")
    assert done.stderr == "interrupted\n"
    assert done.returncode in (130, -signal.SIGINT)


def test_another_early_failure_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyError('x')\n")
    assert "KeyError: 'x'" in _harness("status", PYTHONPATH=f"{tmp_path}:{REPOSITORY}").stderr


@pytest.mark.parametrize(
    ("command", "resumes"),
    [
        ("run", True),
        ("--data DIR run", True),
        ("--data=DIR run", True),
        ("status", False),
        ("--data run status", False),
        ("doctor", False),
    ],
)
def test_only_a_command_that_resumes_says_so(
    command: str, resumes: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _fail_with(KeyboardInterrupt(), monkeypatch)
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    told = capsys.readouterr().err.strip()
    assert ended.value.code == 130 and told.startswith("interrupted")
    assert ("finished runs are kept" in told) == resumes


def test_an_interrupt_while_an_error_is_told_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An engine that is told to end fails first, and the command hears of it a moment later."""
    echo, told = click.echo, list[str]()

    def interrupted(message: object = None, err: bool = False) -> None:
        told.append(str(message))
        if len(told) == 1:
            raise KeyboardInterrupt
        echo(message, err=err)

    monkeypatch.setattr(click, "echo", interrupted)
    _fail_with(UsageError("no", where="here", todo="that"), monkeypatch)
    with pytest.raises(SystemExit) as ended:
        main(["status"])
    assert ended.value.code == 130 and len(told) == 2
    assert capsys.readouterr().err == "interrupted\n"


_LEAVING = """
import os, signal, sys, time
import harness.cli
from harness.base.interrupt import end_on_interrupt

def slowly(arguments, error, code):
    print("leaving", flush=True)
    time.sleep(30)
    sys.exit(code)

def failing(arguments):
    raise KeyboardInterrupt

# as a terminal starts it, whoever started the tests
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
harness.cli._leave, harness.cli._run = slowly, failing
harness.cli.main(["status"])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_comes_while_it_leaves_ends_it_at_once(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", _LEAVING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "leaving\n"
        process.send_signal(number)
        assert process.wait(timeout=15) == 130


_BEGINNING = """
import os, signal, sys
import harness.cli

number = int(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
begin = harness.cli.end_on_interrupt

def begin_and_meet():
    begin()
    os.kill(os.getpid(), number)

harness.cli.end_on_interrupt = begin_and_meet
harness.cli.main(["status"])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_comes_as_soon_as_it_is_heard_has_the_exit_code_of_its_own(number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _BEGINNING, str(int(number))], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def _harness(arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -m harness {arguments}"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def _failures(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The other output, without signs of life, which a slow machine gives."""
    return [line for line in done.stderr.splitlines() if not line.startswith("at work: ")]


def test_a_terminal_without_unicode_gets_an_answer() -> None:
    done = _harness("compare --method bnnr", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert "repurposing" in done.stdout
    assert _failures(done) == []


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_name_in_no_encoding_is_told_to_a_program(encoding: str) -> None:
    done = _harness("data verify $'\\xff' --json", PYTHONIOENCODING=encoding)
    assert json.loads(done.stdout)["error"]["what"] == "no dataset is called '?'"
    assert _failures(done) == []


def test_a_reader_that_leaves_early_is_no_failure() -> None:
    done = _harness("compare --all | head -1")
    assert done.stdout.startswith("repurposing")
    assert _failures(done) == []


@pytest.mark.parametrize("command", ["list suites", "list suites --json"])
def test_a_full_disk_behind_the_output_is_told(command: str) -> None:
    done = _harness(f"{command} > /dev/full")
    assert done.returncode == 3
    assert "No space left" in done.stderr and "where: what this command prints" in done.stderr
    assert "Traceback" not in done.stderr
