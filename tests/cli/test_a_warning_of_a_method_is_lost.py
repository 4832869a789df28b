"""What a method warned of (a SMILES it could not read, say) reaches the person who ran it, whole and harmless."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli.warnings import echo_warnings
from harness.results.store import Store

KEY = "ab" * 32


def said(folder: Path, warnings: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    store = Store(folder)
    store.path(KEY).mkdir(parents=True)
    (store.path(KEY) / "method.json").write_text(json.dumps({"protocol": 1, "warnings": warnings}))
    echo_warnings(store, KEY, indent="  ")
    return capsys.readouterr().out.splitlines()


def test_each_is_a_line_that_controls_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(tmp_path, ["UserWarning: 1 drug can't be read", "\x1b[2Ja\nb"], capsys)
    assert lines == [
        "  warning of the method: 1 drug can't be read",
        r"  warning of the method: \x1b[2Ja\nb",
    ]


def test_of_many_the_first_are_shown_and_the_rest_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(tmp_path, [f"number {number}" for number in range(8)], capsys)
    assert len(lines) == 6 and "number 4" in lines[4]
    assert "and 3 more warnings" in lines[5] and lines[5].endswith("method.json")
    # where a document is on standard output, all of them are beside it
    echo_warnings(Store(tmp_path), KEY, indent="  ", err=True)
    assert capsys.readouterr() == ("", "".join(f"{line}\n" for line in lines))
    for number, last in ((6, "and 1 more warning: "), (5, "warning of the method: number 4")):
        told = said(tmp_path / str(number), [f"number {one}" for one in range(number)], capsys)
        assert len(told) == number and told[-1].strip().startswith(last)


def test_a_run_of_which_nothing_is_left_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    echo_warnings(Store(tmp_path), KEY)
    assert capsys.readouterr().out == ""
