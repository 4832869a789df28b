"""Every card names inputs, files and environments that exist, and its parity tables are complete."""

from __future__ import annotations

import re

import pytest

from harness import benchmarks
from harness.base.layout import Layout, find_layout
from harness.benchmarks.repurposing.parity.answers import SOURCES
from harness.methods.card import load_method, merged_parameters, method_names
from tests.conftest import REPOSITORY

NAMES = method_names(find_layout(REPOSITORY))
# what a card names although every method of the benchmark gets it; of ddi, only what is beside it
ALWAYS_DECLARED: dict[str, set[str]] = {
    "repurposing": {"associations", "folds"},
    "ddi": set(),
    "dti": set(),
    "combos": set(),
}
MAINS = {"python": "main.py", "octave": "main.m", "r": "main.R", "java": "main.java"}


@pytest.mark.parametrize("name", NAMES)
def test_a_method_has_its_code_and_its_environment(repository: Layout, name: str) -> None:
    card = load_method(repository, name)
    assert (repository.methods / name / MAINS[card.language]).is_file()
    assert (repository.containers / name / "environment.toml").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_its_inputs_exist_in_all_its_benchmarks(repository: Layout, name: str) -> None:
    card = load_method(repository, name)
    for one in card.benchmarks:
        assert set(card.inputs) <= set(benchmarks.get(one).input_names)
        assert set(card.inputs) >= ALWAYS_DECLARED[one]


@pytest.mark.parametrize("name", NAMES)
def test_its_parity_tables_are_complete(repository: Layout, name: str) -> None:
    card = load_method(repository, name)
    for table in card.parity:
        if table.given:
            # a step of training: the method is handed the golden's own arrays, and no others
            assert table.task != "predict" and not table.inputs
        else:
            assert set(card.inputs) - {"folds"} <= set(table.inputs)
            assert all(source.partition(":")[0] in SOURCES for source in table.inputs.values())
            assert "{dataset}" in table.cases
            assert "{seed}" in table.cases
        assert table.compare
        merged_parameters(card, table.variant, table.parameters)


@pytest.mark.parametrize("name", NAMES)
def test_a_method_that_is_no_control_is_held_to_goldens_or_says_why_not(repository: Layout, name: str) -> None:
    card = load_method(repository, name)
    assert card.control or bool(card.parity) != bool(card.without_golden)


@pytest.mark.parametrize("name", NAMES)
def test_main_files_stay_small(repository: Layout, name: str) -> None:
    card = load_method(repository, name)
    text = (repository.methods / name / MAINS[card.language]).read_text()
    lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\s*#", line)]
    assert len(lines) <= 40
