"""What a card's page says, which variant it recommends, and what a job is told of its pretrained model."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from harness.base.errors import WeightsError
from harness.base.layout import Layout
from harness.methods.card import MethodCard, Origin, Paper, Refusal, load_method
from harness.methods.page import markdown
from harness.methods.recommendation import recommended, undone
from harness.methods.weights import KeptWeights, WeightsManifest


@pytest.fixture
def card(layout: Layout) -> MethodCard:
    """One with a corrected variant, which it refuses on one dataset."""
    known = load_method(layout, "constant")
    (published,) = known.variants.values()
    corrected = published.model_copy(
        update={
            "summary": "Labels keep their sign. Without it half of them are lost.",
            "parameters": {"score": 2.0},
        }
    )
    changes = {
        "title": "One *method*",
        "summary": "It says one thing.",
        "variants": {"published": published, "corrected": corrected},
        "refuses": [
            Refusal(dataset="hdvd", variant="corrected", reason="it has no signs"),
            Refusal(dataset="lrssl", reason="too large"),
        ],
        "control": False,
        "category": "matrix factorisation",
    }
    return known.model_copy(update=changes)


def test_corrected_is_recommended_where_there_is_one_that_can_be_run(card: MethodCard, layout: Layout) -> None:
    found = recommended(card, "fdataset")
    reason = "recommended, because 'published' keeps defects of the authors' code: Labels keep their sign"
    assert (found.variant, found.reason) == ("corrected", reason)


@pytest.mark.parametrize(("dataset", "why"), [("hdvd", "it has no signs"), ("lrssl", "too large")])
def test_published_is_recommended_where_corrected_is_refused(card: MethodCard, dataset: str, why: str) -> None:
    found = recommended(card, dataset)
    assert found.variant == "published"
    assert found.reason == f"recommended: 'corrected' is refused on {dataset}: {why}"


def test_published_is_recommended_where_nothing_is_corrected(layout: Layout) -> None:
    found = recommended(load_method(layout, "constant"), "fdataset")
    assert (found.variant, found.reason) == ("published", "recommended: the card has no corrected variant")


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        ("One.", "One"),
        ("One. Two.", "One"),
        ("One\n  line", "One line"),
        ("Of 1.5 or less. Two", "Of 1.5 or less"),
    ],
)
def test_what_is_undone_is_the_first_sentence(card: MethodCard, summary: str, told: str) -> None:
    one = card.variants["corrected"].model_copy(update={"summary": summary})
    assert undone(card.model_copy(update={"variants": {**card.variants, "corrected": one}})) == told


def test_a_page_has_every_fact_of_a_card(card: MethodCard) -> None:
    full = card.model_copy(
        update={
            "paper": Paper(title="Methods", authors="A and B", year=2020, venue="Journal", doi="10.1/2"),
            "origin": Origin(repository="a/b", commit="12ab", licence="MIT"),
            "cuda": True,
            "deterministic": False,
            "published_order": "Weights are met in it.",
            "inputs": ["associations", "folds"],
        }
    )
    lines = markdown([full]).splitlines()
    start = lines.index("## One \\*method\\* (`constant`)")
    assert lines[:start][0] == "# Method cards"
    assert lines[start + 1] == "It says one thing."
    facts = dict(
        line.strip("| ").split(" | ", 1)
        for line in lines
        if line.startswith("| ") and "---" not in line and line.count("|") == 3 and line != "| | |"
    )
    resources = card.resources
    assert facts == {
        "kind": "matrix factorisation",
        "language": "python",
        "benchmarks": "`repurposing`",
        "inputs": "`associations`, `folds`",
        "deterministic": "no",
        "order of items": "published. Weights are met in it.",
        "limits of one run": f"{resources.cpus} CPU, {resources.memory}, {resources.seconds} s",
        "computes on": "CPU, or a GPU with `--accelerator cuda`",
        "paper": "A and B: Methods, Journal, 2020, doi 10.1/2",
        "origin": "a/b at `12ab`; licence: MIT",
    }
    assert "**Variant `corrected`.** Labels keep their sign. Without it half of them are lost." in lines
    assert (
        lines[
            lines.index("**Variant `corrected`.** Labels keep their sign. Without it half of them are lost.") + 1
        ]
        == "Parameters: `score` = 2.0"
    )
    assert lines[-3:] == [
        "Not applicable to `hdvd` in variant `corrected`: it has no signs",
        "",
        "Not applicable to `lrssl`: too large",
    ]


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        (Origin(repository="a/b"), "| origin | a/b; licence: none stated |"),
        (Origin(repository="a/b", commit="12ab"), "| origin | a/b at `12ab`; licence: none stated |"),
        (Origin(repository="a/b", licence="MIT; data: CC0"), "| origin | a/b; licence: MIT; data: CC0 |"),
        (Origin(repository="https://a.org/b"), "| origin | <https://a.org/b>; licence: none stated |"),
    ],
)
def test_an_origin_is_told_with_its_whole_licence_and_the_commit_that_is_known(
    card: MethodCard, origin: Origin, told: str
) -> None:
    assert told in markdown([card.model_copy(update={"origin": origin})]).splitlines()


def test_a_plain_card_says_what_is_usual(card: MethodCard) -> None:
    lines = markdown([card.model_copy(update={"control": True, "cuda": False, "paper": None, "origin": None})])
    assert "| kind | control |" in lines and "| computes on | CPU |" in lines
    assert "| deterministic | yes |" in lines and "| order of items | secret |" in lines
    assert "| paper |" not in lines and "| origin |" not in lines


@pytest.fixture
def kept(tmp_path: Path) -> KeptWeights:
    """Two files of a model."""
    manifest = cast(WeightsManifest, SimpleNamespace(title="A model", revision="r1"))
    files = {"words.txt": b"a", "model.bin": b"bc"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    return KeptWeights(manifest, tmp_path, {name: hashlib.sha256(one).hexdigest() for name, one in files.items()})


def test_a_job_is_told_which_model_it_has_file_by_file(kept: KeptWeights) -> None:
    described = kept.described()
    assert (described["title"], described["revision"], len(described)) == ("A model", "r1", 3)
    assert list(described["files"].items()) == [
        ("model.bin", {"file": "weights/model.bin", "sha256": hashlib.sha256(b"bc").hexdigest()}),
        ("words.txt", {"file": "weights/words.txt", "sha256": hashlib.sha256(b"a").hexdigest()}),
    ]


def test_a_model_is_known_by_its_files_wherever_they_lie(kept: KeptWeights, tmp_path: Path) -> None:
    elsewhere = KeptWeights(kept.manifest, tmp_path / "other", dict(reversed(list(kept.sha256.items()))))
    assert elsewhere.digest == kept.digest
    assert KeptWeights(kept.manifest, tmp_path, {**kept.sha256, "model.bin": "0" * 64}).digest != kept.digest


@pytest.mark.parametrize("change", ["other", "gone"])
def test_a_changed_file_of_a_model_is_named(kept: KeptWeights, tmp_path: Path, change: str) -> None:
    kept.verify()
    path = tmp_path / "model.bin"
    path.unlink()
    if change == "other":
        path.write_bytes(b"cb")
    actual = hashlib.sha256(b"cb").hexdigest() if change == "other" else "nothing"
    with pytest.raises(WeightsError) as refused:
        kept.verify()
    assert refused.value.what == "the file 'model.bin' of A model was changed"
    assert refused.value.where == f"{path}: sha256 is {actual}, recorded {kept.sha256['model.bin']}"
    assert refused.value.todo == f"remove the folder {tmp_path} and bring the files again"
