"""What `--json` prints is one JSON document of a known version and form, errors too; who lacks it is told."""

from __future__ import annotations

import io
import json
from typing import Any

import click
import fastjsonschema
import pytest
from pydantic import ValidationError

from harness.cli import main
from harness.cli.documents import envelope
from harness.cli.documents.answers import answers
from tests.cli.test_an_option_is_dropped import COMMANDS
from tests.conftest import REPOSITORY
from tests.docs.schemas import AGAIN, SCHEMAS, current
from tests.documents import check

# They print a document whose form others have made: SLSA, CycloneDX or SPDX, Croissant.
_OF_OTHERS = {("image", "sbom"), ("image", "provenance"), ("data", "croissant")}
# Answers of a second at most, without an engine and without runs.
_CHEAP = (
    *(
        "list suites",
        "list methods",
        "list metrics",
        "list findings",
        "data list",
        "weights list",
        "split list",
        "image list",
    ),
    *("plan --method constant --dataset synthetic --seed 1", "status --suite stored", "score", "log", "diff"),
    *(
        "split verify synthetic random --seed 1",
        "data verify synthetic",
        "compare --method als_wr --dataset hdvd",
        "show",
    ),
)


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, the only document of the standard output, and the other output."""
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--json"])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), json.loads(shown.out), shown.err


def test_every_command_has_it_and_a_schema() -> None:
    without = {
        path
        for path, command in COMMANDS.items()
        if not any("--json" in option.opts for option in command.params if isinstance(option, click.Option))
    }
    assert without == _OF_OTHERS
    told = (REPOSITORY / "docs" / "json.md").read_text().partition("## Documents of others\nThree commands")[2]
    assert all(f"`harness {' '.join(path)}`" in told for path in without)
    assert {" ".join(path) for path in COMMANDS.keys() - without} == answers().keys()


def test_the_schemas_in_the_docs_are_those_of_the_code() -> None:
    assert {path.stem: path.read_text() for path in SCHEMAS.glob("*.json")} == current(), AGAIN


@pytest.mark.parametrize("asked", _CHEAP)
def test_an_answer_is_of_the_committed_schema(
    asked: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path))
    monkeypatch.chdir(REPOSITORY)
    words = next(one for one in sorted(answers(), key=len, reverse=True) if f"{asked} ".startswith(f"{one} "))
    code, document, _ = _run(capsys, *asked.split())
    schema = json.loads((SCHEMAS / f"{words.replace(' ', '-')}.json").read_text())
    fastjsonschema.compile(schema)(document)
    assert (document["permafrost"], document["command"]) == (envelope.VERSION, words)
    assert ("error" in document) == (asked in ("show", "diff")), code


@pytest.mark.parametrize(
    ("arguments", "code", "kind", "what"),
    [
        (("data", "verify", "nope"), 2, "UsageError", "no dataset is called 'nope'"),
        (("status", "--jsn"), 2, "UsageError", "No such option '--jsn'"),
        (("split",), 2, "UsageError", "No such option '--json'"),
        (("stauts",), 2, "UsageError", "Did you mean 'status'"),
        (("show", "0" * 64), 2, "UsageError", "no run has a key"),
        (("list", "methods", "--markdown"), 2, "UsageError", "exclude each other"),
    ],
)
def test_an_error_is_a_document_too(
    arguments: tuple[str, ...], code: int, kind: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, document, others = _run(capsys, *arguments)
    error = document["error"]
    assert (ended, error["exit_code"], error["kind"], others) == (code, code, kind, "")
    assert what in error["what"] and error["todo"]
    assert document["permafrost"] == envelope.VERSION


@pytest.mark.parametrize(
    ("raised", "code", "what"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (PermissionError(13, "Permission denied", "/a/file"), 3, "the operating system says: Permission denied"),
        (KeyError("x"), 3, "a fault of the harness itself"),
    ],
)
def test_what_nobody_foresaw_is_a_document_too(
    raised: BaseException,
    code: int,
    what: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.delenv("PERMAFROST_TRACEBACK", raising=False)
    monkeypatch.setattr("harness.api.open_repository", failing)
    ended, document, others = _run(capsys, "status")
    assert (ended, document["command"], document["error"]["exit_code"]) == (code, "status", code)
    assert others.strip() == ""
    assert what in document["error"]["what"]


def _bytes_of(monkeypatch: pytest.MonkeyPatch, encoding: str, *arguments: str) -> bytes:
    """What a command prints where the terminal has this encoding."""
    shown = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", shown)
    with pytest.raises(SystemExit):
        main([*arguments])
    shown.flush()
    buffer: Any = shown.buffer
    return bytes(buffer.getvalue())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "utf-16"])
def test_a_letter_that_a_terminal_lacks_is_not_lost(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = _bytes_of(monkeypatch, encoding, "data", "verify", "Łódź-ü", "--json")
    assert json.loads(printed.decode())["error"]["what"] == "no dataset is called 'Łódź-ü'"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("words", ["data croissant synthetic", "image sbom _base"])
def test_a_document_of_others_is_utf_8_too(encoding: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.cli.materials.bill_of_materials", lambda *_, **__: ('{"name": "Łódź"}\n', []))
    monkeypatch.setattr("harness.cli.data.croissant_of", lambda *_: {"name": "Łódź"})
    assert json.loads(_bytes_of(monkeypatch, encoding, *words.split()).decode()) == {"name": "Łódź"}


def test_a_name_behind_two_dashes_asks_for_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["show", "--", "--json"])
    shown = capsys.readouterr()
    assert shown.out == "" and "a key holds" in shown.err


def test_a_field_that_no_schema_tells_is_noticed() -> None:
    row = {"kind": "container", "name": "x", "bytes": 0, "fault": ""}
    envelope_of = {"permafrost": envelope.VERSION, "command": "clean"}
    check("clean", {**envelope_of, "rows": [row]})
    with pytest.raises(ValidationError, match="rows"):
        check("clean", {**envelope_of, "rows": [{**row, "size": 0}], "sum": 1})
    with pytest.raises(ValidationError, match="permafrost"):
        check("clean", {**envelope_of, "permafrost": 2, "rows": [row]})


def test_an_answer_never_hides_the_envelope() -> None:
    with click.Context(click.Command("show")), pytest.raises(AssertionError, match="command"):
        envelope.document({"command": "mine"})


def test_whoever_reads_an_answer_sees_first_whose_it_is() -> None:
    with click.Context(click.Command("show")):
        answers = [envelope.document({"a": 1}), envelope.document([])]
    assert [[*one] for one in answers] == [
        ["permafrost", "command", "a"],
        ["permafrost", "command", envelope.ROWS],
    ]
