"""An error tells what, where and what to do, in the words of its command, and ends with its own exit code."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable

import click
import pytest

import harness.cli
from harness.base.settings import _value
from harness.cli import _words, main
from harness.cli.documents import envelope
from harness.proof.tree import leaf_hash
from tests.cli.test_a_program_reads_something_else import _run
from tests.cli.test_a_traceback_reaches_a_person import _fail_with


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (OSError(1, "no", "/a", None, "/b"), ["the operating system says: no", "where: /a, /b"]),
        (OSError(1, "no", "/a"), ["the operating system says: no", "where: /a"]),
        (OSError(1, "no"), ["the operating system says: no", "where: harness.cli, line N"]),
        (OSError("odd"), ["the operating system says: odd", "where: harness.cli, line N"]),
        (
            MemoryError("8 GiB"),
            ["the memory of this machine does not suffice: 8 GiB", "where: harness.cli, line N"],
        ),
        (MemoryError(), ["the memory of this machine does not suffice", "where: harness.cli, line N"]),
        (KeyError("x"), ["a fault of the harness itself: KeyError: 'x'", "where: harness.cli, line N"]),
    ],
)
def test_a_failure_is_told_with_all_that_is_known_of_it(
    error: Exception, lines: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PERMAFROST_TRACEBACK", raising=False)
    _fail_with(error, monkeypatch)
    with pytest.raises(SystemExit):
        main(["status"])
    what, where, _ = capsys.readouterr().err.splitlines()
    assert [what, re.sub(r"line \d+", "line N", where.strip())] == [f"error: {lines[0]}", lines[1]]


@pytest.mark.parametrize(
    ("function", "where"),
    [
        # the first is raised by Python's own code, which says nothing of the harness
        (lambda: _value(None), "harness.base.settings, line N"),  # type: ignore[arg-type]
        (lambda: leaf_hash(None), "harness.proof.tree, line N"),  # type: ignore[arg-type]
    ],
)
def test_a_fault_is_placed_where_it_is_and_not_where_it_was_called(
    function: Callable[[], object],
    where: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("PERMAFROST_TRACEBACK", raising=False)
    _run_instead(function, monkeypatch)
    with pytest.raises(SystemExit):
        main(["status"])
    told = capsys.readouterr().err.splitlines()
    assert re.sub(r"line \d+", "line N", told[1].strip()) == f"where: {where}"


def _run_instead(function: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    command = click.Command("status", callback=function)
    monkeypatch.setattr(harness.cli.group, "get_command", lambda context, name: command)


@pytest.mark.parametrize(("answer", "code"), [(None, 0), (0, 0), (4, 4), ("text", 0)])
def test_what_a_command_returns_is_the_exit_code(
    answer: object, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_instead(lambda: answer, monkeypatch)
    monkeypatch.setattr(sys, "argv", ["/bin/harness", "status"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code


@pytest.mark.parametrize(("wish", "colour"), [("", None), ("1", False)])
def test_colours_are_left_out_where_nobody_wants_them(
    wish: str, colour: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool | None] = []
    _run_instead(lambda: seen.append(click.get_current_context().color), monkeypatch)
    monkeypatch.setenv("NO_COLOR", wish)
    with pytest.raises(SystemExit):
        main(["status"])
    assert seen == [colour]


def test_a_wrong_word_is_told_with_the_usage_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["status", "--jsn"], ["Usage: harness status", "'harness status --help'", "No such option '--jsn'"]),
        (["--jsn"], ["Usage: harness", "No such option '--jsn'"]),
        (["--", "--jsn"], ["Usage: harness", "No such option '--jsn'"]),
        (["--data", "x"], ["Usage: harness", "Missing command."]),
        (["zzzzzz"], ["Usage: harness", "Error: No such command 'zzzzzz'.\n"]),
        (["stauts"], ["Usage: harness", "Error: No such command 'stauts'. Did you mean 'status'?\n"]),
        (["merge"], ["Usage: harness", "Error: No such command 'merge'. Did you mean 'store merge'?\n"]),
        (["get"], ["Usage: harness", "Error: No such command 'get'. Did you mean 'data get' or 'weights get'?\n"]),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        told = capsys.readouterr().err
        assert ended.value.code == 2 and all(one in told for one in said), told


@pytest.mark.parametrize(
    ("arguments", "printed"), [(["status"], b"a ? b?\n"), (["status", "--json"], "a → b…\n".encode())]
)
def test_a_stream_that_lacks_a_character_gets_another(
    arguments: list[str], printed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program reads a document in UTF-8; what is said beside it is a person's, whose terminal it fits."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="latin-1") for name in ("stdout", "stderr")}

    def speaking() -> None:
        click.echo("a → b…")
        click.echo("a…", err=True)

    command = click.Command("status", callback=speaking)
    command.params.append(click.Option(["--json"], is_flag=True, expose_value=False))
    monkeypatch.setattr(harness.cli.group, "get_command", lambda context, name: command)
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    monkeypatch.undo()
    for stream in streams.values():
        stream.flush()
    written = {name: stream.buffer.getvalue() for name, stream in streams.items()}
    assert written == {"stdout": printed, "stderr": b"a?\n"} and not ended.value.code


def test_the_help_lists_every_command_with_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    told = capsys.readouterr().out
    assert not ended.value.code and "\nCommands:\n" in told
    text = " ".join(told.partition("\nCommands:\n")[2].split())
    assert all(f"{name} {does}" in text for name, does in harness.cli._COMMANDS.items())


@pytest.mark.parametrize(
    ("arguments", "words", "where"),
    [
        (("--data", "/nowhere", "data", "verify", "nope"), "data verify", None),
        (("--data", "/nowhere", "list", "--jsn"), "list", "harness list"),
        (("--data=/nowhere", "list", "--jsn"), "list", "harness list"),
        (("list", "--jsn"), "list", "harness list"),
        (("data", "verify", "--jsn"), "data verify", "harness data verify"),
        (("stauts",), "", "harness"),
        (("--jsn",), "", "harness"),
        ((), "", "harness"),
    ],
)
def test_an_error_tells_the_command_and_where_its_help_is(
    arguments: tuple[str, ...],
    words: str,
    where: str | None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, document, _ = _run(capsys, *arguments)
    assert document["command"] == words
    if where is not None:
        assert (document["error"]["where"], document["error"]["todo"]) == (where, f"{where} --help")
    assert _words(["data", "nope"]) == "data" and _words(["data"]) == "data"
    # of a command that was not loaded nobody knows yet whether its next word is one of the command or of a person
    assert _words(["split", "make"]) in ("split make", "split")
    monkeypatch.delitem(sys.modules, "harness.cli.split", raising=False)
    assert _words(["split", "make"]) == "split" == _words(["split", "mine"])


def test_a_fault_of_click_that_has_no_command_is_told_of_the_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise click.FileError("a file", "it is odd")

    monkeypatch.setattr("harness.api.open_repository", failing)
    code, document, _ = _run(capsys, "status")
    error = document["error"]
    assert (code, error["exit_code"], error["where"], error["todo"]) == (1, 1, "harness", "harness --help")
    assert "it is odd" in error["what"]


def test_the_text_of_an_answer_is_that_of_its_values() -> None:
    assert envelope.json_text({"b": "ß", "a": [1]}) == '{\n  "a": [\n    1\n  ],\n  "b": "ß"\n}'
    with (
        click.Context(click.Command("harness"), info_name="harness") as outer,
        click.Context(click.Command("x"), outer, "x y"),
    ):
        assert envelope.document([1]) == {"permafrost": 1, "command": "x y", "rows": [1]}


def test_a_traceback_of_the_operating_system_comes_on_request_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERMAFROST_TRACEBACK", "1")
    _fail_with(PermissionError(13, "no", "/a"), monkeypatch)
    with pytest.raises(PermissionError):
        main(["status"])


@pytest.mark.parametrize("words", [["list", "nothing", "--json"], ["status", "--suite", "nobody", "--json"]])
def test_a_program_that_asks_for_json_gets_its_error_as_json_from_the_shell_too(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell hands its words over in the program's own arguments."""
    monkeypatch.setattr(sys, "argv", ["harness", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    told = json.loads(capsys.readouterr().out)
    assert (ended.value.code, told["command"], told["error"]["exit_code"]) == (2, words[0], 2)
