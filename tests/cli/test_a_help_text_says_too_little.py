"""What `--help` says is whole: every option is explained, no text is cut off, and all begin alike."""

from __future__ import annotations

import click
import pytest

from harness.cli import group
from tests.cli.test_an_option_is_dropped import COMMANDS

# commands of benchmarks are part of the digest of what judges results
_KEPT = {("split", "measure"), ("split", "consistency")}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_is_explained(path: tuple[str, ...]) -> None:
    texts = {one.opts[0]: one.help or "" for one in COMMANDS[path].params if isinstance(one, click.Option)}
    assert [name for name, text in texts.items() if len(text.split()) < 2 or text[-1] not in ".?"] == []


@pytest.mark.parametrize("path", [one for one in COMMANDS if len(one) > 1 and one not in _KEPT], ids=" ".join)
def test_no_text_in_a_list_of_commands_is_cut_off(path: tuple[str, ...]) -> None:
    """It is a sentence that says what the command does."""
    text = COMMANDS[path].get_short_help_str(limit=60)
    assert text.endswith(".") and not text.endswith("..."), text
    assert text.split()[0] not in {"The", "What", "How", "All", "From"}, text


def test_a_default_is_a_value() -> None:
    context = click.Context(group)
    for path, command in COMMANDS.items():
        assert "[default: (" not in command.get_help(click.Context(command, parent=context)), path
