"""Where a pretrained model's files come from, what is said where they are not, and when they are refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from harness.base.download import MIRROR_VARIABLE, Refused
from harness.base.errors import HarnessError, ManifestError, UsageError, WeightsError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.methods import weights as module
from harness.methods.weights import (
    are_here,
    bring_weights,
    kept_weights,
    load_weights,
    weights_digest,
    weights_names,
)
from tests.core.word_for_word import said

CARD = """
name = "{name}"
title = "A title"
language = "python"
benchmarks = ["ddi"]
category = "control"
control = true
summary = "A summary."
inputs = ["known"]
[variants.published]
summary = "s"
weights = true
"""
MANIFEST = """
title = "A model"
repository = "https://models.example/a"
revision = "r1"
source = "https://models.example/a/r1/"
licence = "MIT"
citation = "A: a model."
size = "3 B"
files = ["words.txt", "model.bin"]
"""
CONTENT = {"words.txt": b"a", "model.bin": b"bc"}
SUMS = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A repository with one method that reads a model, and no mirror but those that a test names."""
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    folder = tmp_path / "methods" / "mine"
    folder.mkdir(parents=True)
    (folder / "method.toml").write_text(CARD.format(name="mine"))
    (folder / "weights.toml").write_text(MANIFEST)
    return Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")


def change(layout: Layout, old: str, new: str, name: str = "weights.toml") -> None:
    path = layout.methods / "mine" / name
    path.write_text((path.read_text() if path.exists() else MANIFEST).replace(old, new))


def files_in(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A folder of a person's, with all files."""
    return files_in(tmp_path / "given")


def bring(layout: Layout, **how: object) -> list[str]:
    heard: list[str] = []
    bring_weights(layout, "mine", say=heard.append, **how)  # type: ignore[arg-type]
    return heard


def test_what_a_person_gives_is_kept_with_its_checksums(layout: Layout, given: Path) -> None:
    assert not are_here(layout, "mine")
    assert bring(layout, given=given) == [
        f"{name}: {len(content)} bytes, sha256 {SUMS[name]}" for name, content in CONTENT.items()
    ]
    kept = kept_weights(layout, "mine")
    assert are_here(layout, "mine") and kept.sha256 == SUMS and list(kept.sha256) == sorted(SUMS)
    assert {name: (kept.folder / name).read_bytes() for name in SUMS} == CONTENT
    assert kept.folder.parent == layout.cache / "weights" and kept.folder.name.startswith("mine-")
    assert weights_digest(layout, "mine") == kept.digest
    assert bring(layout, given=given) == [], "what is there is not brought again"


@pytest.mark.parametrize("content", [b"other", None])
def test_what_a_person_gives_is_not_passed_over_for_what_is_here(
    layout: Layout, given: Path, tmp_path: Path, content: bytes | None
) -> None:
    bring(layout, given=given)
    other = files_in(tmp_path / "other")
    if content is None:
        (other / "model.bin").unlink()
    else:
        (other / "model.bin").write_bytes(content)
    with pytest.raises(UsageError) as refused:
        bring_weights(layout, "mine", given=other, say=print)
    folder = kept_weights(layout, "mine").folder
    assert said(refused.value) == (
        "A model is here already, of other files than these",
        f"{folder}, and {other}",
        f"remove the folder {folder}, then again",
    )
    assert bring(layout, given=given) == [] and kept_weights(layout, "mine").sha256 == SUMS


def test_a_mirror_has_files_by_host_and_path(layout: Layout, tmp_path: Path) -> None:
    empty, full = tmp_path / "empty", tmp_path / "full"
    empty.mkdir()
    files_in(full / "models.example" / "a" / "r1")
    bring(layout, mirrors=[empty, full])
    assert kept_weights(layout, "mine").sha256 == SUMS


def test_a_file_that_is_nowhere_is_told_with_every_place(
    layout: Layout, given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (given / "model.bin").unlink()
    todo = "get the files of https://models.example/a, revision r1 elsewhere, and give their folder with --from"
    with pytest.raises(WeightsError) as error:
        bring(layout, given=given)
    assert error.value.what == "'model.bin' of A model is in none of its sources"
    assert (error.value.where, error.value.todo) == (f"{given / 'model.bin'}: no such file", todo)
    monkeypatch.setattr(module, "_download", lambda url, target: "no network")
    with pytest.raises(WeightsError) as error:
        bring(layout, mirrors=[tmp_path])
    place = tmp_path / "models.example" / "a" / "r1" / "words.txt"
    url = "https://models.example/a/r1/words.txt"
    assert error.value.where == f"{place}: no such file\n         {url}: no network" and error.value.todo == todo
    assert not are_here(layout, "mine") and not [*(layout.cache / "weights").glob("mine*")]


def test_what_is_in_no_folder_is_fetched(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []

    def transfer(url: str, target: Path, *, resume: bool) -> None:
        fetched.append((url, resume))
        target.write_bytes(CONTENT[target.name])

    monkeypatch.setattr(module, "transfer", transfer)
    bring(layout)
    assert fetched == [(f"https://models.example/a/r1/{name}", False) for name in CONTENT]
    assert kept_weights(layout, "mine").sha256 == SUMS


def test_a_url_that_refuses_is_told_in_its_own_words(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def transfer(url: str, target: Path, *, resume: bool) -> None:
        raise Refused("HTTP status 404")

    monkeypatch.setattr(module, "transfer", transfer)
    with pytest.raises(WeightsError) as error:
        bring(layout)
    assert error.value.where == "https://models.example/a/r1/words.txt: HTTP status 404"


def test_a_fetched_file_that_is_another_is_told_with_its_url(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(layout, "files =", f'sha256 = {{ "words.txt" = "{"0" * 64}" }}\nfiles =')
    monkeypatch.setattr(module, "transfer", lambda url, target, resume: target.write_bytes(b"a"))
    with pytest.raises(WeightsError) as error:
        bring(layout)
    url = "https://models.example/a/r1/words.txt"
    assert error.value.where == f"{url}: sha256 is {SUMS['words.txt']}, recorded {'0' * 64}"


def test_models_that_were_brought_are_found_again_by_a_later_version(layout: Layout, given: Path) -> None:
    """The name of their folder is that of their revision and the names of their files."""
    bring(layout, given=given)
    digest = digest_of(["r1", ["model.bin", "words.txt"]])
    assert kept_weights(layout, "mine").folder.name == f"mine-{digest[:16]}"


def test_a_recorded_checksum_is_held_to(layout: Layout, given: Path) -> None:
    change(layout, "files =", f'sha256 = {{ "model.bin" = "{"0" * 64}" }}\nfiles =')
    with pytest.raises(WeightsError) as error:
        bring(layout, given=given)
    assert error.value.what == "'model.bin' is not the file of A model that the manifest records"
    recorded = f"sha256 is {SUMS['model.bin']}, recorded {'0' * 64}"
    assert error.value.where == f"{given / 'model.bin'}: {recorded}"
    assert error.value.todo == ("bring the file of https://models.example/a, revision r1, or correct the manifest")
    assert not are_here(layout, "mine")
    change(layout, "0" * 64, SUMS["model.bin"])
    bring(layout, given=given)
    # recorded after it was brought
    change(layout, SUMS["model.bin"], "1" * 64)
    with pytest.raises(WeightsError, match="is not the file of A model that the manifest records") as error:
        kept_weights(layout, "mine")
    assert error.value.where.endswith(f"sha256 is {SUMS['model.bin']}, recorded {'1' * 64}")


@pytest.mark.parametrize(
    "record", [["words.txt"], {"words.txt": SUMS["words.txt"]}, {**SUMS, "more.txt": SUMS["words.txt"]}]
)
def test_a_changed_record_is_refused(layout: Layout, given: Path, record: object) -> None:
    bring(layout, given=given)
    path = kept_weights(layout, "mine").folder / "checksums.json"
    path.write_text(json.dumps(record))
    with pytest.raises(WeightsError) as error:
        kept_weights(layout, "mine")
    assert error.value.what == "the record of A model was changed" and error.value.where == str(path)
    assert error.value.todo == f"remove the folder {path.parent} and bring the files again"


@pytest.mark.parametrize(
    ("old", "new"), [('revision = "r1"', 'revision = "r2"'), ('"model.bin"]', '"model.bin", "more.txt"]')]
)
def test_another_revision_or_list_of_files_is_another_model(
    layout: Layout, given: Path, old: str, new: str
) -> None:
    bring(layout, given=given)
    change(layout, old, new)
    assert not are_here(layout, "mine")
    change(layout, new, old)
    change(layout, '["words.txt", "model.bin"]', '["model.bin", "words.txt"]')
    assert are_here(layout, "mine"), "their order does not matter"


def test_what_is_not_here_says_how_to_have_it(layout: Layout) -> None:
    with pytest.raises(WeightsError) as error:
        kept_weights(layout, "mine")
    assert error.value.what == (
        "A model (3 B) is not here: "
        "`harness weights get mine` fetches it, or with --from FOLDER takes it from a folder"
    )
    assert error.value.where.startswith(f"{layout.cache / 'weights' / 'mine-'}")
    assert error.value.todo == "the files are words.txt, model.bin of https://models.example/a, revision r1"


@pytest.fixture
def made(layout: Layout) -> Layout:
    """A further model, which a program of the method's makes."""
    change(layout, 'source = "https://models.example/a/r1/"', 'program = "adapt"', "weights.mixed.toml")
    return layout


def test_what_a_program_makes_is_fetched_from_nowhere(made: Layout, given: Path) -> None:
    with pytest.raises(WeightsError) as error:
        bring_weights(made, "mine:mixed", say=print)
    assert (error.value.what, error.value.where) == ("A model is published nowhere", "A: a model.")
    assert error.value.todo == "make it with `harness weights adapt`, or give its folder with --from"
    with pytest.raises(WeightsError) as error:
        kept_weights(made, "mine:mixed")
    assert error.value.what == (
        "A model (3 B) is not here: "
        "`harness weights adapt mine:mixed --corpus FILE` makes it of texts, one per line; "
        "`harness weights get mine:mixed --from FOLDER` takes it from a folder"
    )
    assert error.value.todo == "the files are words.txt, model.bin of A model, as made by a person"
    kept = bring_weights(made, "mine:mixed", given=given, say=lambda _: None)
    assert kept.folder.name.startswith("mine-mixed-") and not are_here(made, "mine")


def test_models_are_called_by_method_and_name(made: Layout) -> None:
    other = made.methods / "another"
    other.mkdir()
    (other / "method.toml").write_text(CARD.format(name="another"))
    (other / "weights.toml").write_text(MANIFEST)
    change(made, "", "", "weights.b.toml")
    assert weights_names(made) == ["another", "mine", "mine:b", "mine:mixed"]
    with pytest.raises(UsageError) as error:
        load_weights(made, "mine:large")
    assert error.value.what == "no pretrained model is called 'mine:large'"
    assert error.value.where == str(made.methods)
    assert error.value.todo == ("did you mean 'mine:b'? known: another, mine, mine:b, mine:mixed")
    # a path that leads to one is no name
    for name in ("yours", "mine/../another"):
        with pytest.raises(UsageError, match=f"no pretrained model is called '{name}'"):
            load_weights(made, name)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"model.bin"]', '"../model.bin"]', "'../model.bin' is not a plain file name"),
        ('"model.bin"]', '""]', "'' is not a plain file name"),
        ('"model.bin"]', '".."]', "'..' is not a plain file name"),
        ('["words.txt", "model.bin"]', "[]", "files"),
        ("source =", 'program = "adapt"\nsource =', "source: either this or program says where"),
        ('source = "https://models.example/a/r1/"', "", "source: either this or program says where"),
        ("https://models.example/a/r1/", "ftp://models.example/a", "is not an http or https URL"),
        ("files =", 'sha256 = { "z" = "1", "y" = "1", "words.txt" = "1" }\nfiles =', "no such file: y, z"),
    ],
)
def test_a_manifest_that_can_not_be_so_says_why(layout: Layout, old: str, new: str, what: str) -> None:
    change(layout, old, new)
    with pytest.raises((ManifestError, HarnessError)) as error:
        load_weights(layout, "mine")
    assert what in f"{error.value.what} {error.value.where}"
