"""A malformed manifest is refused with the file and the field, never half-understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import ManifestError, UsageError
from harness.base.layout import Layout
from harness.methods.card import load_method, merged_parameters

GOOD = """
name = "toy"
title = "Toy"
language = "python"
benchmarks = ["repurposing"]
category = "control"
summary = "A toy."
control = true
inputs = ["associations", "folds"]

[variants.published]
summary = "As is."
parameters = { alpha = 1.0 }
"""

_LIKE = """
[variants.corrected]
summary = "Better."
like = "published"
parameters = {{ {} }}
"""

_PARITY = '[[parity]]\ncases = "x"\n[parity.compare]\nx = {'


@pytest.fixture
def toy(tmp_path: Path) -> tuple[Layout, Path]:
    layout = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    path = tmp_path / "methods" / "toy" / "method.toml"
    path.parent.mkdir(parents=True)
    path.write_text(GOOD)
    return layout, path


def test_a_good_card_is_read(toy: tuple[Layout, Path]) -> None:
    layout, _ = toy
    card = load_method(layout, "toy")
    assert card.variant("published").parameters == {"alpha": 1.0}
    assert card.resources.memory_bytes == 2 << 30


def test_a_variant_has_the_parameters_of_another_but_for_its_own(toy: tuple[Layout, Path]) -> None:
    layout, path = toy
    path.write_text(GOOD.replace("alpha = 1.0", "alpha = 1.0, beta = 2") + _LIKE.format("beta = 3"))
    assert load_method(layout, "toy").variant("corrected").parameters == {"alpha": 1.0, "beta": 3}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (("language =", "languages ="), "language"),
        (('language = "python"', 'language = "fortran"'), "language"),
        (("control = true", 'control = "perhaps"'), "control"),
        (("control = true", "control = false"), "paper"),
        (("[variants.published]", "[variants.other]"), "published"),
        (('inputs = ["associations", "folds"]', "inputs = 3"), "inputs"),
        (("[variants.published]", '[resources]\nmemory = "2 bananas"\n[variants.published]'), "resources.memory"),
        (("[variants.published]", "[resources]\nseconds = 0\n[variants.published]"), "resources.seconds"),
        (("alpha = 1.0", "alpha = nan"), "parameters.alpha: nan is no finite number"),
        (("alpha = 1.0", "alpha = -inf"), "parameters.alpha: -inf is no finite number"),
        (("[variants.published]", "[self_test]\nalpha = inf\n[variants.published]"), "self_test.alpha: inf is no"),
        *(
            (
                ("[variants.published]", f"{_PARITY} {bound} = {value} }}\n[variants.published]"),
                f"x.{bound}: has to",
            )
            for bound in ("absolute", "relative", "correlation")
            for value in ("nan", "inf")
        ),
        (('As is."', 'As is."\nlike = "corrected"'), "published.like"),
        (("alpha = 1.0 }", f"alpha = 1.0 }}{_LIKE.format('beta = 2')}"), "corrected.parameters"),
    ],
)
def test_a_malformed_card_names_file_and_field(
    toy: tuple[Layout, Path], change: tuple[str, str], field: str
) -> None:
    layout, path = toy
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change))
    with pytest.raises(ManifestError) as caught:
        load_method(layout, "toy")
    assert str(path) in caught.value.where
    assert field in caught.value.where
    assert caught.value.todo


def test_broken_toml_names_the_line(toy: tuple[Layout, Path]) -> None:
    layout, path = toy
    path.write_text("name = \n")
    with pytest.raises(ManifestError, match="line 1") as caught:
        load_method(layout, "toy")
    assert caught.value.where == str(path)


def test_a_card_in_a_folder_of_another_name_is_refused(toy: tuple[Layout, Path]) -> None:
    layout, path = toy
    path.write_text(GOOD.replace('name = "toy"', 'name = "tay"'))
    with pytest.raises(ManifestError, match="'tay'"):
        load_method(layout, "toy")


def test_an_unknown_method_suggests_the_nearest(toy: tuple[Layout, Path]) -> None:
    layout, _ = toy
    with pytest.raises(UsageError, match="did you mean 'toy'"):
        load_method(layout, "toi")


def test_an_unknown_parameter_is_refused(toy: tuple[Layout, Path]) -> None:
    layout, _ = toy
    card = load_method(layout, "toy")
    assert merged_parameters(card, "published", {"alpha": 2.0}) == {"alpha": 2.0}
    with pytest.raises(UsageError, match="did you mean 'alpha'"):
        merged_parameters(card, "published", {"alfa": 2.0})


@pytest.mark.parametrize("value", ["abc", True, None, [1.0]])
def test_a_parameter_of_another_type_is_refused_before_anything_runs(
    toy: tuple[Layout, Path], value: object
) -> None:
    card = load_method(toy[0], "toy")
    assert merged_parameters(card, "published", {"alpha": 2}) == {"alpha": 2}
    with pytest.raises(UsageError, match="is no value for parameter 'alpha'"):
        merged_parameters(card, "published", {"alpha": value})


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("deep = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("deep = " + "{a = " * 5000 + "1" + "}" * 5000, "nested too deeply"),
        ("long = " + "9" * 5000, "not valid TOML"),
        ("long = 0x" + "f" * 4000, "long: a whole number of more than 64 bits"),
        ("[variants.corrected.parameters]\nlong = [1, 0xffffffffffffffffff]", "parameters.long: a whole number"),
    ],
)
def test_a_hostile_manifest_is_an_ordinary_error_that_names_its_file(
    toy: tuple[Layout, Path], line: str, words: str
) -> None:
    layout, path = toy
    path.write_text(GOOD + "\n" + line)
    with pytest.raises(ManifestError) as caught:
        load_method(layout, "toy")
    assert words in caught.value.what and str(path) in caught.value.where
