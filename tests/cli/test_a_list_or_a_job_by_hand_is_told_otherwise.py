"""What there is, and a job that is held by hand, are told as they are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import benchmarks
from harness.base.errors import ManifestError, UsageError
from harness.base.layout import Layout
from harness.cli.job import shell_text
from harness.data import load_manifest, manifest_names
from harness.methods import page as pages
from harness.methods.card import load_method, load_methods
from harness.planning.suites import load_suite, suite_names
from harness.results import findings
from tests.cli.calls import document, harness_of
from tests.core.word_for_word import said
from tests.fabricate import copy_repository


@pytest.mark.parametrize(
    ("words", "job", "upstream"),
    [
        (("abc",), "abc", None),
        (("abc", "--upstream", "CODE"), "abc", "CODE"),
        (("--suite", "smoke"), None, None),
        (("--method", "constant", "--dataset", "synthetic", "--seed", "1"), None, None),
    ],
)
def test_a_job_by_hand_is_written_and_told_with_the_line_that_runs_it(
    words: tuple[str, ...], job: str | None, upstream: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []
    folder = tmp_path / "a b"
    planned = SimpleNamespace(key="a" * 64, job=SimpleNamespace(label="a job"))
    image = SimpleNamespace(name="permafrost/x:1", image_id="sha256:1")
    note = SimpleNamespace(planned=planned, image=image)
    kit = SimpleNamespace(
        folder=folder, note=note, command=("docker", "run", "a b"), remarks=("no limit", "no GPU")
    )

    def write(job: object, where: str, *, upstream: Path | None, repository: object) -> object:
        asked.append((job, where, upstream, repository))
        return kit

    def planning(**named: Any) -> object:
        return {**named, "repository": None}

    monkeypatch.setattr("harness.api.write_job", write, raising=False)
    monkeypatch.setattr("harness.api.plan", planning, raising=False)
    monkeypatch.setattr("harness.api.open_repository", lambda **named: named, raising=False)
    key = [] if job is None else [job]
    options = [str(tmp_path) if word == "CODE" else word for word in words if word != job]
    extra = ["--mirror", str(tmp_path), "--install", "--runtime", "runsc"]
    result = harness_of("job", "write", *key, str(folder), *options, *extra)
    assert result.stdout == "docker run 'a b'\n"
    assert result.stderr.splitlines() == [
        f"a job: {folder}; this runs it:",
        "note: no limit",
        "note: no GPU",
        f"then: harness job check '{folder}'",
    ]
    told = document(harness_of("job", "write", *key, str(folder), *options, "--json"))
    assert (told["key"], told["folder"], told["image"], told["image_id"], told["line"], told["remarks"]) == (
        "a" * 64,
        str(folder),
        "permafrost/x:1",
        "sha256:1",
        ["docker", "run", "a b"],
        ["no limit", "no GPU"],
    )
    (first, where, code, repository), other = asked
    assert where == str(folder) and code == (tmp_path if upstream else None)
    assert repository == {"mirrors": (tmp_path,), "install": True, "runtime": "runsc"}
    assert other[3]["install"] is False and other[3]["runtime"] is None
    if job is not None:
        assert first == job
    else:
        assert (first["suite"], first["methods"]) == (
            ("smoke", ()) if "--suite" in words else (None, ("constant",))
        )


def test_an_answer_made_by_hand_is_checked_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    note = SimpleNamespace(planned=SimpleNamespace(job=SimpleNamespace(label="a job")))
    checked = SimpleNamespace(
        key="a" * 64, answer=SimpleNamespace(note=note, fault="no file", files={}), equal=None, is_good=False
    )

    def check(folder: Path, *, repository: object) -> object:
        asked.append((folder, repository))
        return checked

    monkeypatch.setattr("harness.api.check_job", check, raising=False)
    monkeypatch.setattr("harness.api.open_repository", lambda **named: named, raising=False)
    assert harness_of("job", "check", "try", "--mirror", str(tmp_path)).stdout == "a job: no answer: no file\n"
    assert asked == [(Path("try"), {"mirrors": (tmp_path,)})]


def test_a_line_is_as_wide_as_a_screen_and_no_wider() -> None:
    first, fitting, wide = "a" * 48, "b" * 49, "b" * 50
    assert shell_text([first, fitting, "c"]).splitlines() == [f"{first} {fitting} \\", "  c"]
    assert max(map(len, shell_text([first, fitting, "c"]).splitlines())) == 100
    assert shell_text([first, wide]).splitlines() == [f"{first} \\", f"  {wide}"]


@pytest.mark.parametrize("option", [("--suite", "smoke"), ("--method", "constant"), ("--set", "a=1")])
def test_a_job_that_a_key_names_takes_no_options(option: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a key says which job it is") as error:
        harness_of("job", "write", "abc", str(tmp_path / "new"), *option)
    assert (error.value.where, error.value.todo) == ("harness job write abc", "leave the key out, or the options")
    with pytest.raises(UsageError, match="no job was named") as error:
        harness_of("job", "write", "new", "--dataset", "hdvd")
    assert error.value.where == "harness job write new" and "--method" in error.value.todo
    with pytest.raises(UsageError, match="3 names were given") as error:
        harness_of("job", "write", "a", "b", "c")
    assert (error.value.where, error.value.todo) == ("a b c", "give [KEY] DIR")


def test_methods_are_listed_with_what_they_are(layout: Layout) -> None:
    cards = load_methods(layout)
    assert {card.control for card in cards} == {True, False}
    result = harness_of("list")
    lines = result.stdout.splitlines()
    summaries = {
        card.name: f"{card.title}: {card.category}, {card.language}{' (control)' if card.control else ''}"
        for card in cards
    }
    width = max(map(len, summaries))
    assert lines == [f"{name:{width}}  {summary}" for name, summary in summaries.items()]
    answer, page = harness_of("list", "methods", "--json"), harness_of("list", "--markdown")
    assert [one.return_value for one in (result, answer, page)] == [0, 0, 0]
    rows = document(answer)["rows"]
    assert [(row["name"], row["summary"]) for row in rows] == [*summaries.items()]
    assert [row["title"] for row in rows] == [card.title for card in cards]
    assert page.stdout == pages.markdown(cards)


def test_what_else_there_is_is_listed_by_name(layout: Layout) -> None:
    found = findings.all_findings(layout)
    listed = {
        "datasets": [(name, load_manifest(layout, name).title) for name in manifest_names(layout)],
        "suites": [(name, load_suite(name).summary) for name in suite_names()],
        "findings": [(name, one.line) for name, members in found.items() for one in members],
        "metrics": [
            (metric.name, f"{name}: {metric.description}")
            for name in benchmarks.names()
            for metric in benchmarks.get(name).scoring.metrics
        ],
    }
    for kind, expected in listed.items():
        result = harness_of("list", kind)
        width = max(len(name) for name, _ in expected)
        shown = [f"{name:{width}}  {summary}".rstrip() for name, summary in expected]
        assert (result.return_value, result.stdout.splitlines()) == (0, shown), kind
        rows = document(harness_of("list", kind, "--json"))["rows"]
        assert [(row["name"], row["summary"]) for row in rows] == expected
    titles = [one.title for members in found.values() for one in members]
    rows = document(harness_of("list", "findings", "--json"))["rows"]
    assert [row["title"] for row in rows] == titles
    assert harness_of("list", "findings", "--markdown").stdout == findings.markdown(found)


def test_a_faulty_manifest_is_listed_and_is_the_exit_code(tmp_path: Path, layout: Layout) -> None:
    bad = tmp_path / "own" / "bad" / "dataset.toml"
    bad.parent.mkdir(parents=True)
    bad.write_text('name = "bad"\n')
    result = harness_of("--data", str(tmp_path / "own"), "list", "datasets")
    assert result.return_value == 2 and len(result.stdout.splitlines()) > len(manifest_names(layout))
    with pytest.raises(ManifestError) as error:
        load_manifest(replace(layout, data=tmp_path / "own"), "bad")
    summary = f"{error.value.what} ({error.value.where})"
    assert any(line.split(maxsplit=1)[0] == "bad" for line in result.stdout.splitlines())
    result = harness_of("--data", str(tmp_path / "own"), "list", "datasets", "--json")
    row = next(row for row in document(result)["rows"] if row["name"] == "bad")
    assert result.return_value == 2
    assert row == {"name": "bad", "summary": summary, "fault": error.value.what}


def test_a_faulty_card_hides_no_other_method(
    tmp_path: Path, repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = copy_repository(repository, tmp_path)
    # of two faults each is told, and the card is a line all the same
    for name, field in (("bnnr", ""), ("lrssl", 'tongue = "octave"')):
        card = copy.methods / name / "method.toml"
        card.write_text(re.sub("^language = .*$", field, card.read_text(), flags=re.MULTILINE))
    monkeypatch.setattr("harness.cli.list.find_layout", lambda: copy)
    with pytest.raises(ManifestError) as error:
        load_method(copy, "bnnr")
    result, answer = harness_of("list"), harness_of("list", "--json")
    others = [one.name for one in load_methods(repository) if one.name not in ("bnnr", "lrssl")]
    assert [line.split()[0] for line in result.stdout.splitlines()] == [*others, "bnnr", "lrssl"]
    assert [result.return_value, answer.return_value] == [2, 2]
    rows = document(answer)["rows"]
    summary = f"{error.value.what} ({error.value.where})"
    assert rows[-2] == {"name": "bnnr", "summary": summary, "fault": error.value.what}
    assert [row["name"] for row in rows] == [*others, "bnnr", "lrssl"] and "fault" in rows[-1]


def test_methods_that_are_named_are_told_whole_each_once(layout: Layout) -> None:
    """Their cards, as the page of all has them; of other kinds there is no card, and what shows one is told."""
    named = [load_method(layout, name) for name in ("pmf", "bnnr")]
    told, answer = (
        harness_of("list", "methods", "pmf", "bnnr", "pmf"),
        harness_of("list", "methods", "pmf", "bnnr", "--json"),
    )
    assert told.stdout == "\n".join(map(pages.card_text, named)) and told.return_value == 0
    assert all(pages.card_text(card) in pages.markdown(load_methods(layout)) for card in named)
    every = {one["name"]: one for one in document(harness_of("list", "methods", "--json"))["rows"]}
    assert document(answer)["rows"] == [every["pmf"], every["bnnr"]]


@pytest.mark.parametrize(
    ("kind", "todo"),
    [
        ("datasets", "harness data show hdvd"),
        ("suites", "harness list suites"),
        ("metrics", "harness list metrics"),
    ],
)
def test_what_has_no_card_is_listed_whole(kind: str, todo: str) -> None:
    with pytest.raises(UsageError) as refused:
        harness_of("list", kind, "hdvd")
    assert said(refused.value) == (f"{kind} are listed whole", "hdvd", todo)
