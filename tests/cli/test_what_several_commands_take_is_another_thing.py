"""Options that several commands share are made anew with the same names, help and types."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from harness.benchmarks.own_data import table_words
from harness.cli.data import _table_options
from harness.cli.image import _names
from tests.conftest import REPOSITORY


def test_names_of_images_are_one_many_or_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    asked: list[Any] = []

    @click.command()
    @_names
    def command(names: tuple[str, ...], everything: bool) -> None:
        asked.append((names, everything))

    for words in (["bnnr", "_octave"], [], ["--all"]):
        assert CliRunner().invoke(command, words).exit_code == 0
    assert asked == [(("bnnr", "_octave"), False), ((), False), ((), True)]
    # a name of any case is that of an image
    assert "taken as bnnr" in CliRunner().invoke(command, ["BNNR"]).stderr
    assert "--all   Every method (the default)." in CliRunner().invoke(command, ["--help"]).stdout


def test_every_table_of_every_benchmark_is_an_option() -> None:
    asked: list[Any] = []

    @click.command()
    @_table_options
    @click.option("--other")
    def command(tables: dict[str, str], other: str) -> None:
        """Take tables."""
        asked.append((tables, other))

    words = list(table_words())
    options = {one.opts[0]: one for one in command.params if isinstance(one, click.Option)}
    assert list(options) == [*(f"--{word}" for word in words), "--other"]
    for word, own in table_words().items():
        text = "; ".join(f"{benchmark}: {table.holds}" for benchmark, table in own.items())
        assert (options[f"--{word}"].help, options[f"--{word}"].metavar) == (f"{text}.", "FILE")
        result = CliRunner().invoke(command, [f"--{word}", "a file", "--other", "x"])
        assert result.exit_code == 0, result.output
    assert asked == [({word.replace("-", "_"): "a file"}, "x") for word in words]
    assert command.help == "Take tables."
