"""docs/benchmarks.md tells the contract as the code has it, and every member says what it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import benchmarks
from tests.conftest import REPOSITORY
from tests.docs import contract, pages
from tests.docs.test_the_picture_is_not_the_house import AGAIN

_MEMBERS = [
    (part.name, member) for path in contract.SOURCES for part in contract.parts(path) for member in part.members
]


def test_the_page_is_current() -> None:
    assert (REPOSITORY / "docs" / "benchmarks.md").read_text() == pages.current("benchmarks.md"), AGAIN


def test_every_member_says_what_it_is() -> None:
    silent = [f"{owner}.{member.name}" for owner, member in _MEMBERS if not member.sentence]
    assert silent == [], "write a docstring, or a comment above the field"


@pytest.mark.parametrize("name", benchmarks.names())
def test_every_benchmark_has_what_is_called_required(name: str) -> None:
    required = {member.name for owner, member in _MEMBERS if owner == "Benchmark" and member.required}
    benchmark = benchmarks.get(name)
    assert required
    assert {member for member in required if not hasattr(benchmark, member)} == set()


def test_members_are_read_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "contract.py"
    path.write_text(
        "class Form(ABC):\n"
        '    """The form."""\n'
        "    # how it is\n"
        "    # called\n"
        '    name: str = ""\n'
        "    count: int\n"
        "    @property\n"
        "    @abstractmethod\n"
        "    def made(self) -> str:\n"
        '        """What was\n        made.\n\n        More."""\n'
        "class Kept(NamedTuple):\n"
        "    one: int\n"
    )
    (part,) = contract.parts(path)
    assert (part.name, part.text) == ("Form", "The form.")
    assert part.members == (
        contract.Member("name", "How it is called.", required=False),
        contract.Member("count", "", required=True),
        contract.Member("made", "What was made.", required=True),
    )


def test_the_worked_example_has_the_files_that_the_page_lists() -> None:
    listed = (REPOSITORY / "docs" / "benchmarks.md").read_text().partition("```text\n")[2].partition("```")[0]
    names = set(re.findall(r"[\w-]+[.](?:py|toml|csv)\b", listed))
    tree = REPOSITORY / "tests" / "toy" / "tree"
    known = {path.name for path in tree.rglob("*") if path.suffix in {".py", ".toml", ".csv"}}
    assert names - {"__init__.py"} == known - {"__init__.py"}
