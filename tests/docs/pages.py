"""The generated parts of docs/architecture.md and docs/benchmarks.md: `python -m tests.docs.pages` writes them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.base.markdown import code
from harness.base.tables import markdown_table
from tests.conftest import REPOSITORY
from tests.docs import contract, house

_DOCS = REPOSITORY / "docs"


def picture(graph: house.Arrows) -> str:
    """The layers, the highest first."""
    rows = house.layers(graph)
    lines = [f"{height:>3}  {', '.join(names)}" for height, names in reversed([*enumerate(rows)])]
    return "\n".join(["```text", *lines, "```"])


def rooms(graph: house.Arrows, root: Path = REPOSITORY) -> str:
    """A row for each package: what its docstring says, and what it imports."""
    names = [name for layer in reversed(house.layers(graph)) for name in layer]
    return "\n".join(
        markdown_table(
            ("package", "what it does", "imports"),
            ((code(name), _purpose(root, name), ", ".join(sorted(graph[name])) or "nothing") for name in names),
        )
    )


def _purpose(root: Path, name: str) -> str:
    """The first paragraph of the docstring of a package or module in the root."""
    folder = root / "harness"
    places = (
        (folder / "__init__.py",)
        if name == "harness"
        else (folder / name.replace(".", "/") / "__init__.py", folder / f"{name}.py")
    )
    path = next(place for place in places if place.is_file())
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "architecture.md": {
        "layers": lambda: picture(house.arrows()),
        "packages": lambda: rooms(house.arrows()),
    },
    "benchmarks.md": {"contract": contract.members},
}


def current(page: str) -> str:
    """The page as it should be."""
    text = (_DOCS / page).read_text(encoding="utf-8")
    for name, make in PARTS[page].items():
        start, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
        before, opened, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        assert opened and closed, f"{page} has no place for '{name}'"
        text = f"{before}{start}{make()}\n{end}{after}"
    return text


if __name__ == "__main__":
    for page in PARTS:
        text = current(page)
        (_DOCS / page).write_text(text, encoding="utf-8")
