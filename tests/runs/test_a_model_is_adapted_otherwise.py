"""What the program that adapts a model finds and what is made of what it leaves: its container is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import DataError, HarnessError, UsageError, WeightsError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.execution import adaptation
from harness.execution.adaptation import adapt_weights, readable
from harness.execution.gpus import Gpu
from harness.execution.runs import RunRequest
from harness.execution.tasks import limits_of
from harness.images import Supply
from harness.methods.card import load_method
from harness.methods.weights import are_here, bring_weights, kept_weights, load_weights
from tests.core.word_for_word import said
from tests.runs.made_up import ENGINE, IMAGE, Execute, contents, outcome_of

METHOD, ADAPTED = "pure_scibert", "pure_scibert:dapt"
FILES = {"config.json": b"{}", "vocab.txt": b"a\n", "model.safetensors": b"adapted"}
REPORT = json.dumps({"said": ["blocks of 64", "loss 1.5"]}).encode()


@pytest.fixture
def apart(repository: Layout, tmp_path: Path) -> Layout:
    """A cache of the test's own, in which the method's own model lies."""
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    own = tmp_path / "own"
    own.mkdir()
    for name in load_weights(layout, METHOD).files:
        (own / name).write_bytes(f"own {name}".encode())
    bring_weights(layout, METHOD, given=own, say=lambda _: None)
    return layout


@pytest.fixture
def ensured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    words: list[tuple[Any, ...]] = []

    def ensure_image(*given: Any, supply: Supply) -> Any:
        words.append((*given, *supply.mirrors))
        return IMAGE

    monkeypatch.setattr(adaptation, "ensure_image", ensure_image)
    return words


def corpus(folder: Path, text: bytes = "a drug with another\nand ä third\n".encode()) -> Path:
    path = folder / "abstracts.txt"
    path.write_bytes(text)
    return path


def look(request: RunRequest) -> dict[str, bytes]:
    assert all(path.stat().st_mode & 0o004 for path in request.in_folder.rglob("*"))
    return contents(request.in_folder)


def test_the_program_finds_the_own_model_the_texts_and_the_settings(
    apart: Layout, tmp_path: Path, ensured: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, heard = corpus(tmp_path), list[str]()
    made = outcome_of(tmp_path / "run", files={**FILES, "adaptation.json": REPORT})
    execute = Execute(lambda _: made, look)
    monkeypatch.setattr(adaptation, "execute", execute)
    kept = adapt_weights(
        ENGINE, apart, ADAPTED, texts, {"epochs": 1.0, "length": 64.0}, mirrors=[tmp_path], say=heard.append
    )
    (request,), (seen,) = execute.requests, execute.seen
    assert ensured == [(ENGINE, apart, METHOD, "cpu", tmp_path)] and execute.engines == [ENGINE]
    assert json.loads(seen.pop("settings.json")) == {"epochs": 1.0, "length": 64.0}
    own = load_weights(apart, METHOD).files
    assert seen == {
        "corpus.txt": texts.read_bytes(),
        **{f"weights/{name}": f"own {name}".encode() for name in own},
    }
    card = load_method(apart, METHOD)
    assert request.limits == limits_of(card.of_variant("dapt")) != limits_of(card)
    assert (request.image, request.image_id, request.work) == (IMAGE.name, IMAGE.image_id, apart.local / "work")
    assert request.entrypoint == ("/usr/bin/tini-static", "--")
    assert request.command == ("python3", "-m", "combination_adaptation")
    assert (
        request.required
        == request.expected
        == ("config.json", "vocab.txt", "model.safetensors", "adaptation.json")
    )
    assert heard[:2] == ["blocks of 64", "loss 1.5"]
    assert kept == kept_weights(apart, ADAPTED) and kept.digest != kept_weights(apart, METHOD).digest
    assert {name: (kept.folder / name).read_bytes() for name in FILES} == FILES
    assert not made.folder.exists() and not request.in_folder.exists()
    with pytest.raises(UsageError) as refused:
        adapt_weights(ENGINE, apart, ADAPTED, texts, {}, say=heard.append)
    title = load_weights(apart, ADAPTED).title
    assert said(refused.value) == (
        f"{title} is here already",
        str(kept.folder),
        "remove this folder to make it of another corpus",
    )
    assert len(execute.requests) == 1


def test_a_model_that_another_process_made_meanwhile_is_not_taken_for_this_one(
    apart: Layout, tmp_path: Path, ensured: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name in FILES:
        (theirs / name).write_bytes(b"theirs")

    def meanwhile(_: RunRequest) -> None:
        bring_weights(apart, ADAPTED, given=theirs, say=print)

    made = outcome_of(tmp_path / "run", files={**FILES, "adaptation.json": REPORT})
    monkeypatch.setattr(adaptation, "execute", Execute(lambda _: made, meanwhile))
    with pytest.raises(UsageError) as refused:
        adapt_weights(ENGINE, apart, ADAPTED, corpus(tmp_path), {}, say=lambda _: None)
    folder = kept_weights(apart, ADAPTED).folder
    assert said(refused.value) == (
        f"{load_weights(apart, ADAPTED).title} is here already, of other files than these",
        f"{folder}, and {made.out_folder}",
        f"remove the folder {folder}, then again",
    )


def test_it_computes_on_a_gpu_that_is_lent_to_this_process_and_that_the_image_can_use(
    apart: Layout, tmp_path: Path, ensured: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that finds none computes on the CPU, and says nothing."""
    execute = Execute(lambda _: outcome_of(tmp_path / "run", files={**FILES, "adaptation.json": REPORT}))
    asked, tried = list[Any](), list[Any]()

    def usable_gpus(*about: Any) -> list[Gpu]:
        asked.append(about)
        return [Gpu("H100", "9.0", "2"), Gpu("H100", "9.0", "5")]

    monkeypatch.setattr(adaptation, "execute", execute)
    monkeypatch.setattr(adaptation, "usable_gpus", usable_gpus)
    monkeypatch.setattr(adaptation, "confirm_gpu", lambda *about: tried.append(about))
    adapt_weights(ENGINE, apart, ADAPTED, corpus(tmp_path), {}, accelerator="cuda", say=lambda _: None)
    limits = limits_of(load_method(apart, METHOD).of_variant("dapt", "cuda"), ("2",))
    assert asked == [(apart, ENGINE.facts, [METHOD])] and tried == [(ENGINE, apart, IMAGE, limits)]
    assert ensured == [(ENGINE, apart, METHOD, "cuda")]
    assert execute.requests[0].limits == limits and limits.gpus == ("2",)


@pytest.mark.parametrize("verdict", [one for one in Verdict if one is not Verdict.OK])
def test_what_was_not_made_is_not_kept_and_says_why(
    apart: Layout, tmp_path: Path, ensured: list[Any], monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    """Also where it was ended at a limit, or by a person: what lies there may be half of a model."""
    log = b"x" * 2500 + b"\nlast words\n\n"
    made = outcome_of(tmp_path / "run", verdict, {**FILES, "adaptation.json": REPORT}, log=log)
    monkeypatch.setattr(adaptation, "execute", Execute(lambda _: made))
    with pytest.raises(WeightsError) as refused:
        adapt_weights(ENGINE, apart, ADAPTED, corpus(tmp_path), {}, say=lambda _: None)
    what, where, todo = said(refused.value)
    assert what == f"{load_weights(apart, ADAPTED).title} was not made: made up"
    assert where == "[the last 2,000 of 2,513 bytes]\nlast words"
    assert todo == "correct the corpus or the settings"
    assert not are_here(apart, ADAPTED) and not made.folder.exists()


def test_only_what_nobody_publishes_is_made(apart: Layout, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        adapt_weights(ENGINE, apart, METHOD, corpus(tmp_path), {}, say=lambda _: None)
    assert said(refused.value) == (
        "'pure_scibert' is published, and not made here",
        "",
        "get it with `harness weights get pure_scibert`",
    )


def test_nothing_is_made_of_another_model_than_the_recorded_one(
    apart: Layout, tmp_path: Path, ensured: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = Execute(lambda _: outcome_of(tmp_path / "run"))
    monkeypatch.setattr(adaptation, "execute", execute)
    path = kept_weights(apart, METHOD).folder / "vocab.txt"
    path.chmod(0o644)
    path.write_bytes(b"another")
    with pytest.raises(HarnessError, match=r"vocab\.txt.* was changed"):
        adapt_weights(ENGINE, apart, ADAPTED, corpus(tmp_path), {}, say=lambda _: None)
    assert not execute.requests


def test_a_corpus_that_is_no_text_is_refused_by_its_line(
    apart: Layout, tmp_path: Path, ensured: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = corpus(tmp_path), tmp_path / "bad.txt"
    assert readable(good) == good
    bad.write_bytes(b"one\ntwo\nthr\xffee\nfour\xff\n")
    execute = Execute(lambda _: outcome_of(tmp_path / "run"))
    monkeypatch.setattr(adaptation, "execute", execute)
    with pytest.raises(DataError) as refused:
        adapt_weights(ENGINE, apart, ADAPTED, bad, {}, say=lambda _: None)
    what, where, todo = said(refused.value)
    assert (what, todo) == ("the corpus is no UTF-8 text", "save it as UTF-8")
    assert where.startswith(f"{bad}, line 3: ") and "position 3" in where
    assert not execute.requests and not list((apart.local / "work").glob("*/in-*"))
