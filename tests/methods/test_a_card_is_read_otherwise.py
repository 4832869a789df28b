"""What a card may say, what it means where it says nothing, and what of it a run gets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ManifestError, UsageError
from harness.base.layout import Layout
from harness.methods.card import (
    MethodCard,
    Origin,
    Paper,
    ParityTable,
    Refusal,
    Tolerance,
    Variant,
    load_method,
    load_methods,
    merged_parameters,
    method_names,
    refuse_twice,
)
from tests.core.word_for_word import said

PAPER = '[paper]\ntitle = "T"\nauthors = "A"\nyear = 2020\n'
PLAIN = """
name = "{name}"
title = "A title"
language = "python"
benchmarks = ["repurposing"]
category = "control"
control = {control}
summary = "A summary."
inputs = ["associations", "folds"]
"""
VARIANT = '[variants.published]\nsummary = "As printed."\n'


def layout_of(folder: Path) -> Layout:
    return Layout(root=folder, cache=folder / "cache", local=folder / "local")


def write(folder: Path, more: str = VARIANT, *, name: str = "mine", control: bool = True) -> Path:
    path = folder / "methods" / name / "method.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PLAIN.format(name=name, control=str(control).lower()) + more)
    return path


def card_of(folder: Path, more: str = VARIANT, **others: Any) -> MethodCard:
    write(folder, more, **others)
    return load_method(layout_of(folder), others.get("name", "mine"))


def test_what_a_card_leaves_out_is_the_usual(tmp_path: Path) -> None:
    card = card_of(tmp_path)
    usual = {name: getattr(card, name) for name in card.model_fields_set ^ set(MethodCard.model_fields)}
    resources = usual.pop("resources")
    assert usual == {
        "paper": None,
        "origin": None,
        "uses": [],
        "deterministic": True,
        "cuda": False,
        "gpu_tolerance": 0.01,
        "asked_together": "",
        "published_order": "",
        "refuses": [],
        "self_test": {},
        "parity": [],
        "without_golden": "",
    }
    assert resources.model_dump() == {
        "cpus": 1,
        "memory": "2GiB",
        "seconds": 3600,
        "processes": 64,
        "output": "1GiB",
        "gpus": 0,
    }
    assert (resources.memory_bytes, resources.output_bytes) == (2 << 30, 1 << 30)


def test_what_a_table_of_a_card_leaves_out_is_the_usual() -> None:
    tolerance = {
        **{"absolute": 0.0, "relative": 0.0, "of": "", "repeated": False, "mean": False},
        **{"each": False, "correlation": 0.0, "either_sign": False},
    }
    assert ParityTable(cases="a", compare={"x": Tolerance()}).model_dump() == {
        **{"cases": "a", "task": "predict", "variant": "published", "when": "always", "parameters": {}},
        **{"rows": "", "inputs": {}, "processor": [], "given": [], "mirrored": {}, "absent": {}, "reason": ""},
        "compare": {"x": tolerance},
    }
    assert Variant(summary="s").model_dump() == {
        **{"summary": "s", "like": "", "parameters": {}, "weights": False, "resources": None}
    }
    assert Refusal(dataset="d", reason="r").variant == ""
    paper = Paper(title="t", authors="a", year=2020)
    assert (paper.venue, paper.doi) == ("", "")
    origin = Origin(repository="r")
    assert (origin.commit, origin.licence) == ("", "none stated")


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("resources.cpus", "cpus = 0"),
        ("resources.seconds", "seconds = 0"),
        ("resources.processes", "processes = 7"),
        ("resources.gpus", "gpus = -1"),
        ("resources.memory", 'memory = "2GB"'),
        ("resources.memory", 'memory = "2GiB "'),
        ("resources.output", 'output = "many"'),
        ("resources.colour", 'colour = "red"'),
    ],
)
def test_a_limit_that_is_none_is_named_with_its_place(tmp_path: Path, field: str, text: str) -> None:
    path = write(tmp_path, f"[resources]\n{text}\n{VARIANT}")
    with pytest.raises(ManifestError) as error:
        load_method(layout_of(tmp_path), "mine")
    assert f"{path}: {field}: " in error.value.where


def test_a_misspelt_field_of_a_card_is_told_in_plain_words(tmp_path: Path) -> None:
    path = tmp_path / "methods" / "mine" / "method.toml"
    card_of(tmp_path, VARIANT)
    path.write_text(path.read_text().replace("category", "categroy"))
    with pytest.raises(ManifestError) as error:
        load_method(layout_of(tmp_path), "mine")
    assert error.value.where == f"{path}: categroy: there is no such field; did you mean 'category'?"


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ("[]", "name at least one"),
        ('["ddi", "dti", "ddi"]', "named twice: ddi"),
        ('["dti", "ddi", "combos", "ddi", "dti"]', "named twice: ddi, dti"),
    ],
)
def test_a_card_of_no_benchmark_is_refused(tmp_path: Path, names: str, what: str) -> None:
    """Its self-test had nothing to ask, and passed."""
    path = write(tmp_path, VARIANT)
    path.write_text(re.sub(r"benchmarks = \[.*\]", f"benchmarks = {names}", path.read_text()))
    with pytest.raises(ManifestError) as error:
        load_method(layout_of(tmp_path), "mine")
    assert error.value.where == f"{path}: benchmarks: {what}"


def test_the_least_limits_are_allowed(tmp_path: Path) -> None:
    least = '[resources]\ncpus = 1\nseconds = 1\nprocesses = 8\ngpus = 0\nmemory = "3 MiB"\noutput = "1MiB"\n'
    resources = card_of(tmp_path, least + VARIANT).resources
    assert (resources.memory_bytes, resources.output_bytes, resources.processes) == (3 << 20, 1 << 20, 8)


@pytest.mark.parametrize("value", ["0", "-0.1", "nan", "inf"])
def test_a_tolerance_of_a_gpu_is_above_none_and_has_an_end(tmp_path: Path, value: str) -> None:
    write(tmp_path, f"gpu_tolerance = {value}\n{VARIANT}")
    with pytest.raises(ManifestError, match="gpu_tolerance"):
        load_method(layout_of(tmp_path), "mine")


@pytest.mark.parametrize(
    ("more", "control", "what"),
    [
        (VARIANT, False, "paper: is missing; only a control may have none"),
        ('[variants.other]\nsummary = "s"\n', True, "variants: 'published' is missing; it is the default"),
        (
            VARIANT + '[variants.more]\nsummary = "s"\nlike = "later"\n[variants.later]\nsummary = "s"\n',
            True,
            "more.like: no variant 'later' stands above it",
        ),
        (
            VARIANT + 'parameters = { a = 1 }\n[variants.more]\nsummary = "s"\nlike = "published"\n'
            "parameters = { c = 1, b = 2 }\n",
            True,
            "more.parameters: 'published' has no b, c",
        ),
    ],
)
def test_a_card_that_contradicts_itself_says_where(tmp_path: Path, more: str, control: bool, what: str) -> None:
    write(tmp_path, more, control=control)
    with pytest.raises(ManifestError) as error:
        load_method(layout_of(tmp_path), "mine")
    assert what in error.value.where


def test_a_variant_like_another_has_its_parameters_and_its_own(tmp_path: Path) -> None:
    more = VARIANT + 'parameters = { a = 1, b = 2.5, c = "x" }\n'
    more += '[variants.second]\nsummary = "s"\nlike = "published"\nparameters = { b = 3.5 }\n'
    more += '[variants.third]\nsummary = "s"\nlike = "second"\nparameters = { c = "y" }\n'
    more += '[variants.apart]\nsummary = "s"\nparameters = { z = true }\n'
    card = card_of(tmp_path, more)
    assert {name: one.parameters for name, one in card.variants.items()} == {
        "published": {"a": 1, "b": 2.5, "c": "x"},
        "second": {"a": 1, "b": 3.5, "c": "x"},
        "third": {"a": 1, "b": 3.5, "c": "y"},
        "apart": {"z": True},
    }


def test_a_variant_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    card = card_of(tmp_path, VARIANT + '[variants.corrected]\nsummary = "s"\n')
    assert card.variant("corrected").summary == "s"
    with pytest.raises(UsageError) as error:
        card.variant("best")
    assert error.value.what == "method 'mine' has no variant 'best'"
    assert error.value.todo == "choose one of: corrected, published"


def test_a_variant_that_is_named_twice_is_refused_and_two_variants_are_not(tmp_path: Path) -> None:
    mine, other = card_of(tmp_path), card_of(tmp_path, name="other")
    refuse_twice([(mine, "published"), (mine, "corrected"), (other, "published")])
    with pytest.raises(UsageError) as error:
        refuse_twice([(other, "published"), (mine, "corrected"), (mine, "published"), (mine, "corrected")])
    assert said(error.value) == (
        "mine/corrected is named twice",
        "--method",
        "name each once; variants as NAME/VARIANT",
    )


def test_the_pretrained_model_of_a_variant_is_the_methods_or_a_further_one(tmp_path: Path) -> None:
    more = VARIANT + "weights = true\n"
    more += '[variants.other]\nsummary = "s"\nweights = "small"\n[variants.none]\nsummary = "s"\n'
    card = card_of(tmp_path, more)
    assert [card.weights_of(name) for name in card.variants] == ["mine", "mine:small", ""]
    assert card.runs_everywhere == "none"
    assert card_of(tmp_path, VARIANT, name="bare").runs_everywhere == "published"
    assert card_of(tmp_path, VARIANT + "weights = true\n", name="heavy").runs_everywhere == "published"


def test_limits_of_a_variant_and_of_a_gpu(tmp_path: Path) -> None:
    more = VARIANT + '[variants.large]\nsummary = "s"\n[variants.large.resources]\nmemory = "5GiB"\ncpus = 2\n'
    card = card_of(tmp_path, '[resources]\nmemory = "512MiB"\ncpus = 3\n' + more)
    assert card.of_variant("published").resources == card.resources
    own = card.of_variant("large").resources
    assert (own.memory_bytes, own.cpus, own.gpus) == (5 << 30, 2, 0)
    with_gpu = card.of_variant("large", "cuda").resources
    assert (with_gpu.memory_bytes, with_gpu.cpus, with_gpu.gpus) == (9 << 30, 2, 1)
    assert card.of_variant("published", "cuda").resources.memory == f"{512 + 4096}MiB"


def test_a_refusal_is_of_a_dataset_and_of_a_variant_where_one_is_named(tmp_path: Path) -> None:
    card = card_of(tmp_path).model_copy(
        update={
            "refuses": [
                Refusal(dataset="a", variant="corrected", reason="signs"),
                Refusal(dataset="b", reason="size"),
            ]
        }
    )
    assert card.refusal("a", "corrected") == "signs" and card.refusal("a", "published") is None
    assert card.refusal("b", "corrected") == card.refusal("b", "published") == "size"
    # nor of data whose name begins alike
    for name in ("c", "ab", "b_corpus", ""):
        assert card.refusal(name, "corrected") is None


def test_methods_are_folders_with_a_card_and_controls_come_last(tmp_path: Path) -> None:
    layout = layout_of(tmp_path)
    write(tmp_path, name="a_control")
    for name in ("z_method", "b_method"):
        write(tmp_path, PAPER + VARIANT, name=name, control=False)
    other = write(tmp_path, PAPER + VARIANT, name="c_method", control=False)
    other.write_text(other.read_text().replace('["repurposing"]', '["ddi", "dti"]'))
    (tmp_path / "methods" / "no_card").mkdir()
    assert method_names(layout) == ["a_control", "b_method", "c_method", "z_method"]
    every = [card.name for card in load_methods(layout)]
    assert every == ["b_method", "c_method", "z_method", "a_control"]
    assert [card.name for card in load_methods(layout, "dti")] == ["c_method"]
    assert [card.name for card in load_methods(layout, "repurposing")] == ["b_method", "z_method", "a_control"]
    with pytest.raises(UsageError, match="no method is called 'b_methud'") as error:
        load_method(layout, "b_methud")
    assert error.value.where == str(tmp_path / "methods") and "did you mean 'b_method'?" in error.value.todo


def test_a_persons_parameters_replace_the_variants(tmp_path: Path) -> None:
    card = card_of(tmp_path, VARIANT + 'parameters = { rate = 0.5, epochs = 3, fast = true, name = "x" }\n')
    assert merged_parameters(card, "published", {}) == {"rate": 0.5, "epochs": 3, "fast": True, "name": "x"}
    changed = merged_parameters(card, "published", {"rate": 2, "epochs": 4, "fast": False, "name": "y"})
    assert changed == {"rate": 2, "epochs": 4, "fast": False, "name": "y"}
    assert card.variants["published"].parameters["rate"] == 0.5, "the card stays as it is"


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("epochs", 4.0, "epochs = 3 | int"),
        ("epochs", True, "epochs = 3 | int"),
        ("rate", True, "rate = 0.5 | float"),
        ("rate", "fast", "rate = 0.5 | float"),
        ("fast", 1, "fast = True | bool"),
        ("name", 1, "name = 'x' | str"),
    ],
)
def test_a_value_of_another_type_is_refused(tmp_path: Path, name: str, value: object, wanted: str) -> None:
    card = card_of(tmp_path, VARIANT + 'parameters = { rate = 0.5, epochs = 3, fast = true, name = "x" }\n')
    with pytest.raises(UsageError) as error:
        merged_parameters(card, "published", {name: value})
    default, _, kind = wanted.partition(" | ")
    assert error.value.what == f"'{value}' is no value for parameter '{name}'"
    assert error.value.where == f"method mine: {default}" and error.value.todo == f"give one of type {kind}"


def test_a_parameter_that_is_not_there_is_refused(tmp_path: Path) -> None:
    card = card_of(tmp_path, VARIANT + "parameters = { rate = 0.5, epochs = 3 }\n")
    with pytest.raises(UsageError) as error:
        merged_parameters(card, "published", {"epoch": 4})
    assert error.value.what == "no parameter is called 'epoch'" and error.value.where == "method mine"
    assert error.value.todo == "did you mean 'epochs'? known: epochs, rate"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    ("more", "field"),
    [
        (VARIANT + "[variants.published.parameters]\nrank = {}\n", "variants.published.parameters.rank"),
        (VARIANT + "[self_test]\nrank = {}\n", "self_test.rank"),
        (
            VARIANT + '[[parity]]\ncases = "x/*"\ncompare = {{}}\n[parity.parameters]\nrank = {}\n',
            "parity.0.parameters.rank",
        ),
    ],
)
def test_a_parameter_of_a_card_is_a_finite_number_as_one_that_is_set_has_to_be(
    tmp_path: Path, more: str, field: str, value: str
) -> None:
    path = write(tmp_path, more.format(value))
    with pytest.raises(ManifestError) as refused:
        load_method(layout_of(tmp_path), "mine")
    assert refused.value.where == f"{path}: {field}: {float(value)} is no finite number"
