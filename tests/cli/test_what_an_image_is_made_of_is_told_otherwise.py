"""What `harness image sbom`, `provenance` and `outdated` print, write and return."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.cli.materials import _tell_of_others
from harness.materials.provenance import provenance_of
from harness.materials.sbom import bill_of_materials
from harness.materials.updates import ArchiveComparison, NewerPackage
from harness.methods.card import method_names
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

materials = "harness.cli.materials"


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)


@pytest.mark.parametrize(("form", "ending"), [("cyclonedx", ".cdx.json"), ("spdx", ".spdx.json")])
def test_a_bill_is_printed_alone_or_written_with_a_note(
    form: Any, ending: str, tmp_path: Path, repository: Layout
) -> None:
    text, components = bill_of_materials(repository, "als_wr", "cpu", form=form)
    unknown = len([one for one in components if not one.licence])
    note = f"als_wr: {len(components)} components, the licences of {unknown} are not known"
    result = harness_of("image", "sbom", "als_wr", "--format", form)
    assert (result.stdout, result.stderr) == (text, f"{note}\n")
    result = harness_of("image", "sbom", "als_wr", "als_wr", "--format", form, "--output", str(tmp_path))
    file = tmp_path / f"als_wr{ending}"
    assert (result.stdout, file.read_text(encoding="utf-8")) == (f"{note}: {file}\n", text)


def test_a_bill_is_of_the_variant_and_the_licences_that_are_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []

    def bill(_layout: Layout, name: str, accelerator: str, *, form: str) -> tuple[str, list[Any]]:
        asked.append((name, accelerator, form))
        return "{}\n", [SimpleNamespace(licence=one) for one in ("MIT", "", "")]

    monkeypatch.setattr(f"{materials}.bill_of_materials", bill)
    result = harness_of("image", "sbom", "bnnr", "--accelerator", "cuda")
    count = "bnnr: 3 components, the licences of 2 are not known\n"
    lack = "bnnr has no CUDA variant: the bill is of the CPU image\n"
    assert (result.stdout, result.stderr) == ("{}\n", lack + count)
    assert asked == [("bnnr", "cuda", "cyclonedx")]
    assert harness_of("image", "sbom", "mlp", "--accelerator", "cuda").stderr == count.replace("bnnr", "mlp")
    assert harness_of("image", "sbom", "bnnr").stderr == count
    files = {name: tmp_path / f"{name}.cdx.json" for name in ("bnnr", "mlp")}
    told = harness_of("image", "sbom", *files, "--output", str(tmp_path)).stdout.splitlines()
    assert told == [f"{count.strip().replace('bnnr', name)}: {file}" for name, file in files.items()]
    assert all(file.is_file() for file in files.values())


def test_of_many_images_without_such_a_variant_six_are_named(
    repository: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"{materials}.environment_chain", lambda *_: [])
    for names, told in (("abcdef", "a, b, c, d, e, f"), ("abcdefg", "a, b, c, d, e, f and 1 more")):
        _tell_of_others(repository, [*names], "cuda", "bill")
        assert capsys.readouterr().err == f"{told} have no CUDA variant: the bills are of their CPU images\n"
    _tell_of_others(repository, [*"abc"], "cpu", "bill")
    assert capsys.readouterr().err == ""


def test_provenance_is_printed_alone_or_written_with_a_note(
    tmp_path: Path, repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = provenance_of(repository, "als_wr", "cpu")
    count = len(statement["predicate"]["buildDefinition"]["resolvedDependencies"])
    result = harness_of("image", "provenance", "als_wr")
    assert json.loads(result.stdout) == statement and result.stderr == f"als_wr: {count} dependencies\n"
    # the same bytes on every machine
    assert result.stdout == json.dumps(statement, indent=1, sort_keys=True) + "\n"
    asked: list[str] = []

    def of_one(_layout: Layout, name: str, accelerator: str) -> dict[str, Any]:
        asked.append(accelerator)
        return {"predicate": {"buildDefinition": {"resolvedDependencies": [name]}}}

    monkeypatch.setattr(f"{materials}.provenance_of", of_one)
    words = ("image", "provenance", "als_wr", "bnnr", "--accelerator", "cuda", "--output", str(tmp_path))
    files = {name: tmp_path / f"{name}.intoto.json" for name in ("als_wr", "bnnr")}
    result = harness_of(*words)
    assert result.stdout.splitlines() == [f"{name}: 1 dependency: {file}" for name, file in files.items()]
    assert result.stderr == "als_wr, bnnr have no CUDA variant: the statements are of their CPU images\n"
    one = harness_of("image", "provenance", "bnnr", "--accelerator", "cuda")
    assert one.stderr.startswith("bnnr has no CUDA variant: the statement is of the CPU image\n")
    asked.pop()
    assert asked == ["cuda", "cuda"] and all(file.read_text().endswith("}\n") for file in files.values())


def test_notices_are_recorded_in_place_of_a_bill(monkeypatch: pytest.MonkeyPatch, repository: Layout) -> None:
    monkeypatch.setattr(f"{materials}.record_notices", lambda _layout, name: (Path(f"/{name}.txt"), len(name)))
    result = harness_of("image", "sbom", "--all", "--record")
    assert result.stdout.splitlines() == [
        f"{name}: wrote /{name}.txt, notices of {len(name)} parts" for name in method_names(repository)
    ]


@pytest.mark.parametrize("words", [("sbom",), ("provenance",), ("outdated", "--archive", "a")])
def test_names_or_all_of_them_are_asked_for(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="no image is named") as error:
        harness_of("image", *words)
    assert error.value.todo == "name methods or environments (`harness image list`), or give --all"
    with pytest.raises(UsageError, match="names are given beside --all"):
        harness_of("image", *words, "bnnr", "--all")
    if words[0] != "outdated":
        with pytest.raises(UsageError, match="several documents don't fit into one output") as error:
            harness_of("image", *words, "bnnr", "als_wr")
        assert "--output DIR" in error.value.todo


PLAIN = NewerPackage("bash", "5.1", "5.2", "", ("_octave", "_r"))
SECURE = NewerPackage("libc6", "2.31", "2.36", "2.32", ("_r",))


@pytest.mark.parametrize(
    ("newer", "absent", "code", "lines"),
    [
        (
            (PLAIN, SECURE),
            ("gone", "lost"),
            1,
            [
                "bash 5.1 -> 5.2  newer  (_octave, _r)",
                "libc6 2.31 -> 2.36  security 2.32  (_r)",
                "gone  is in none of these suites",
                "lost  is in none of these suites",
                "7 locked packages beside bookworm, bookworm-security: 2 are newer there, 1 of them in a security "
                "suite; 2 are not there",
            ],
        ),
        (
            (PLAIN,),
            (),
            0,
            [
                "bash 5.1 -> 5.2  newer  (_octave, _r)",
                "7 locked packages beside bookworm, bookworm-security: 1 are newer there, 0 of them in a security "
                "suite; 0 are not there",
            ],
        ),
    ],
)
def test_a_security_update_is_the_exit_code(
    newer: tuple[NewerPackage, ...],
    absent: tuple[str, ...],
    code: int,
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    repository: Layout,
) -> None:
    asked: list[Any] = []
    comparison = ArchiveComparison(7, newer, absent, ("bookworm", "bookworm-security"))

    def compare(_layout: Layout, names: list[str], archives: tuple[str, ...]) -> ArchiveComparison:
        asked.append((names, archives))
        return comparison

    monkeypatch.setattr(f"{materials}.compare_with_archives", compare)
    result = harness_of("image", "outdated", "bnnr", "_r", "bnnr", "--archive", "one", "--archive", "two")
    assert (result.return_value, result.stdout.splitlines()) == (code, lines)
    result = harness_of("image", "outdated", "--all", "--archive", "one", "--json")
    told = document(result)
    assert result.return_value == code and told["packages"] == 7
    assert told["newer"] == [{**asdict(one), "environments": [*one.environments]} for one in newer]
    assert (told["absent"], told["suites"]) == ([*absent], [*comparison.suites])
    assert asked == [(["bnnr", "_r"], ("one", "two")), (method_names(repository), ("one",))]
