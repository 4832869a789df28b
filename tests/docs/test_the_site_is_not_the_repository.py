"""The site's sources are the repository's pages, with links that fit, and a reference of all that the code has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from harness import api, benchmarks
from harness.base.layout import Layout
from harness.cli import group
from harness.data import manifest_names
from scripts.site.reference import PAGES
from scripts.site.sources import DeadLink, contents, relinked, write_pages
from tests.conftest import REPOSITORY


def _commands(parent: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    yield context.command_path, parent
    if isinstance(parent, click.Group):
        for name in parent.list_commands(context):
            command = parent.get_command(context, name)
            assert command
            yield from _commands(command, click.Context(command, info_name=name, parent=context))


def test_every_command_and_option_is_in_the_reference(repository: Layout) -> None:
    page = "\n".join(PAGES["commands"](repository))
    every = [*_commands(group, click.Context(group, info_name="harness"))][1:]
    assert len(every) > 30
    parts = {part.partition("\n")[0]: part for part in re.split(r"^#+ ", page, flags=re.MULTILINE)}
    for path, command in every:
        for option in (one for one in command.params if isinstance(one, click.Option) and not one.hidden):
            assert option.opts[0] in parts[path], f"{path} {option.opts[0]}"


def test_the_reference_has_every_name(repository: Layout) -> None:
    text = {name: "\n".join(page(repository)) for name, page in PAGES.items()}
    assert re.findall(r"^## (\w+)$", text["python"], re.MULTILINE) == sorted(api.__all__, key=str.lower)
    assert re.findall(r"^## .*[(]`(\w+)`[)]$", text["datasets"], re.MULTILINE) == manifest_names(repository)
    metrics = {metric.name for name in benchmarks.names() for metric in benchmarks.get(name).scoring.metrics}
    assert metrics <= set(re.findall(r"^\| `([^`]+)` \|", text["metrics"], re.MULTILINE))


def test_every_exit_code_has_its_errors(repository: Layout) -> None:
    page = "\n".join(PAGES["exit-codes"](repository))
    rows = dict(re.findall(r"^\| (\d+) \|(.*)$", page, re.MULTILINE))
    assert list(rows) == ["0", "1", "2", "3", "4", "5", "130"]
    assert "`UsageError`" in rows["2"] and "`WeightsError`" in rows["4"] and "`AuditError`" in rows["5"]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A repository of four pages and a file."""
    texts = {
        "docs/README.md": "# Docs\n## One\n[a](a.md) [a](a.md#x)\n### Two\n[b](sub/b.md) [out](../README.md)\n",
        "docs/a.md": "# A\n[home](README.md) [file](../code.py) [far](https://example.org/x.md)\n",
        "docs/sub/b.md": "# B\n[a](../a.md#x)\n```text\n[a](nowhere.md)\n```\n[home](../README.md#one)\n",
        **dict.fromkeys(("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"), "# X\n"),
        "code.py": "",
    }
    root = tmp_path / "repository"
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_links_go_where_pages_went(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    write_pages(small, folder)
    assert (folder / "a.md").read_text() == (
        "# A\n[home](index.md) [file](files/code.py) [far](https://example.org/x.md)\n"
    )
    assert (folder / "sub" / "b.md").read_text() == (
        "# B\n[a](../a.md#x)\n```text\n[a](nowhere.md)\n```\n[home](../index.md#one)\n"
    )
    assert (folder / "files" / "code.py").is_file()


def test_the_side_bar_has_every_page_once(small: Path) -> None:
    assert re.findall(r"^:caption: (.*)$|^([\w/]+)$", contents(small), re.MULTILINE) == [
        ("One", ""),
        ("", "a"),
        ("Two", ""),
        ("", "sub/b"),
        ("", "permafrost"),
    ]


@pytest.mark.parametrize("address", ["nowhere.py", "../../outside.md", "../docs"])
def test_a_link_to_no_file_is_named(small: Path, tmp_path: Path, address: str) -> None:
    (tmp_path / "outside.md").write_text("")
    (small / "docs" / "a.md").write_text(f"[x]({address})\n")
    with pytest.raises(DeadLink, match=f"docs/a.md: {re.escape(address)}"):
        write_pages(small, tmp_path / "sources")


def test_links_in_code_are_left_alone() -> None:
    text = "[x](a)\n````md\n```\n[x](a)\n```\n````\n[x](a#b)\n"
    assert relinked(text, str.upper) == "[x](A)\n````md\n```\n[x](a)\n```\n````\n[x](A#b)\n"


def _variables() -> set[str]:
    """The variables of ours that a person may set; containers have some of their own."""
    code = [
        *(REPOSITORY / "harness").rglob("*.py"),
        *REPOSITORY.glob("*.sh"),
        REPOSITORY / "tests" / "conftest.py",
    ]
    text = "".join(path.read_text(encoding="utf-8") for path in code if "sdk" not in path.parts)
    inside = {"PERMAFROST_SEED", "PERMAFROST_SDK", "PERMAFROST_NOTEBOOK", "PERMAFROST_UPSTREAM"}
    inside |= {"PERMAFROST_IN", "PERMAFROST_OUT"}
    return set(re.findall(r"PERMAFROST_[A-Z_]+", text)) - inside


def test_the_page_of_variables_has_all_of_them() -> None:
    page = (REPOSITORY / "docs" / "environment.md").read_text(encoding="utf-8")
    assert set(re.findall(r"PERMAFROST_[A-Z_]+", page)) == _variables()
