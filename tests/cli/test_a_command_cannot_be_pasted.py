"""A command that `harness job write` prints fits a screen, and a shell reads the same words when it is pasted."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from harness.cli.job import shell_text

# a word of a command line holds any character but the one that ends it
_WORDS = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=60), min_size=1
)


@given(_WORDS)
def test_a_shell_reads_the_same_words(words: list[str]) -> None:
    script = f"words=({shell_text(words)})\nprintf '%s\\0' \"${{words[@]}}\"\n"
    shell = subprocess.run(["bash"], input=script.encode(), capture_output=True, check=True)
    assert shell.stdout.decode() == "".join(f"{word}\0" for word in words)


def test_lines_fit_a_screen() -> None:
    words = [
        "docker",
        "run",
        *(f"--ulimit=name{number}={number}:{number}" for number in range(40)),
        "x" * 120,
        "last",
    ]
    lines = shell_text(words).splitlines()
    assert all(line.endswith(" \\") for line in lines[:-1]) and lines[-1] == "  last"
    assert [line for line in lines if len(line) > 100] == [f"  {'x' * 120} \\"]
    assert len(lines) < 15
