"""What can't be meant is refused, with what, where and what to do, before anything is computed or written."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base.errors import UsageError
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.unknown_names import unknown_name
from harness.cli import group, main
from harness.cli.options import parse_settings
from harness.cli.output import deliver
from harness.data import load_manifest
from harness.methods.card import load_method
from harness.planning.request import Request, requested_jobs
from harness.prediction import PredictionRequest, participants
from tests.conftest import REPOSITORY

_PREDICT = ("predict", "--method", "bnnr", "--dataset", "synthetic", "--output")


def refusal(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a person reads; the exit code must be that of a wrong request."""
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    shown = capsys.readouterr()
    told = shown.err + shown.out
    assert ended.value.code == 2, told
    return told


@pytest.mark.parametrize(
    ("command", "file", "endings"),
    [
        (_PREDICT, "ranking.xls", ".csv, .xlsx, .parquet, .json"),
        (_PREDICT, "ranking", ".csv, .xlsx, .parquet, .json"),
        (("status", "--write"), "table.tex", ".txt, .md, .json"),
        (("status", "--output"), "table.csv", ".txt, .md, .json"),
        (("compare", "--output"), "claims.csv", ".txt, .md, .json"),
        (("study", "--output"), "study.html", ".txt, .md, .json"),
        (("table", "--method", "bnnr", "--output"), "t.xlsx", ".txt, .md, .tex, .csv, .json, .svg, .pdf"),
        (("report", "--output"), "report.pdf", ".html"),
        (("export", "--output"), "runs.csv", "none, .zip, .parquet"),
        (("export", "--output"), "crate.tar.gz", "none, .zip, .parquet"),
    ],
)
def test_a_file_of_a_kind_that_is_not_written_is_refused(
    command: tuple[str, ...], file: str, endings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refusal(*command, str(tmp_path / file), capsys=capsys)
    assert file in told and f"Known endings: {endings}." in told
    assert list(tmp_path.iterdir()) == []


_WRITERS = [
    (_PREDICT, "ranking.csv"),
    (("status", "--output"), "status.md"),
    (("report", "--output"), "report.html"),
    (("export", "--output"), "runs.parquet"),
    (("export", "--output"), "crate.zip"),
    (("compare", "--output"), "claims.txt"),
    (("study", "--output"), "study.md"),
    (("table", "--method", "bnnr", "--output"), "table.tex"),
]


@pytest.mark.parametrize(("command", "file"), _WRITERS)
def test_no_file_is_overwritten_and_no_folder_made_unasked(
    command: tuple[str, ...], file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).write_text("precious")
    told = refusal(*command, str(tmp_path / file), capsys=capsys)
    assert "the file is there already" in told and "--force" in told and file in told
    told = refusal(*command, str(tmp_path / "absent" / file), "--force", capsys=capsys)
    assert "the folder is not there" in told
    (tmp_path / "taken" / file).mkdir(parents=True)
    assert "a folder has this name" in refusal(*command, str(tmp_path / "taken" / file), "--force", capsys=capsys)
    assert (tmp_path / file).read_text() == "precious" and not (tmp_path / "absent").exists()


@pytest.mark.parametrize("before", [True, False])
def test_a_file_is_overwritten_where_it_is_asked_for(
    before: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wherever --force stands; and a spreadsheet finds the mark that says UTF-8."""
    file = tmp_path / "t.csv"
    file.write_text("old")
    names = ["--output", str(file)]
    asked = ["table", "--method", "bnnr", "--reference", *(["--force", *names] if before else [*names, "--force"])]
    with pytest.raises(SystemExit) as ended:
        main(asked)
    assert ended.value.code == 0 and file.read_bytes().startswith(b"\xef\xbb\xbfmetric,")
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["table", "--method", "bnnr", "--reference", "--format", "csv"])
    assert capsys.readouterr().out == file.read_text(encoding="utf-8-sig")


@pytest.mark.parametrize("file", ["ranking.csv", "ranking.xlsx"])
def test_a_full_disk_names_the_file(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as error:
        deliver(b"content", tmp_path / file)
    assert error.value.filename == str(tmp_path / file) and not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("flag", "file"), [("--json", "t.md"), ("--markdown", "t.json"), ("--json", "t.txt")])
def test_a_flag_and_a_name_that_say_different_kinds_exclude_each_other(
    flag: str, file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refusal("status", flag, "--write", str(tmp_path / file), capsys=capsys)
    assert "exclude each other" in told and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-Infinity", "1e999"])
def test_a_parameter_without_a_finite_value_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="no finite number") as error:
        parse_settings([f"alpha={value}"])
    assert f"alpha={value}" in error.value.where


def test_finite_values_and_words_are_taken() -> None:
    assert parse_settings(["a=1e9", "b=info", "c=-0.5"]) == {"a": 1e9, "b": "info", "c": -0.5}


@pytest.mark.parametrize("command", ["verify", "get"])
def test_a_dataset_that_nobody_knows_is_a_wrong_request_and_not_corrupt(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refusal("data", command, "hdvb", capsys=capsys)
    assert "no dataset is called 'hdvb'" in told and "did you mean 'hdvd'" in told


def test_a_dataset_beside_all_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "beside --all" in refusal("data", "get", "synthetic", "--all", capsys=capsys)


@pytest.mark.parametrize("name", ["../datasets/hdvd", "./hdvd", "hdvd/", "hdvd/../hdvd"])
def test_a_path_is_no_name_of_a_dataset(repository: Layout, name: str) -> None:
    with pytest.raises(UsageError, match="no dataset is called"):
        load_manifest(repository, name)


def test_capitals_are_no_reason_to_know_nothing(repository: Layout) -> None:
    with pytest.raises(UsageError) as error:
        load_method(repository, "BNNR")
    assert error.value.todo.startswith("did you mean 'bnnr'?")


def test_a_language_may_begin_with_a_capital(repository: Layout) -> None:
    done = CliRunner().invoke(group, ["new", "method", "bnnr", "--language", "R"])
    assert isinstance(done.exception, UsageError) and "there is a 'bnnr' already" in str(done.exception)


def test_a_method_of_another_benchmark_predicts_nothing(repository: Layout) -> None:
    with pytest.raises(UsageError, match="LRSSL does not belong to benchmark ddi") as error:
        participants(repository, PredictionRequest(methods=("lrssl",), dataset="synthetic_ddi"))
    assert "mlp" in error.value.todo and "bnnr" not in error.value.todo


_RUN = ("run", "--method", "constant", "--dataset", "synthetic", "--seed", "1")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((*_RUN, "--inner-folds", "1"), 2, "a fold that is held out needs another one to learn from"),
        ((*_RUN, "--inner-folds", "1000000"), 2, "inner folds has to be 100 or less, not 1000000"),
        ((*_RUN, "--inner-folds", "3", "--split", "random:inner_folds=4"), 2, "has 4 inner folds"),
        (
            (*_RUN, "--split", "random:test_share=0.99999"),
            2,
            "can't be shared out by label\n  where: dataset synthetic",
        ),
        (
            (*_RUN, "--split", "random:test_share=2"),
            2,
            "test_share: has to be less than 1.0, not 2\n  to do: `harness",
        ),
        ((*_RUN, "--split", "random:test_shar=0.3"), 2, "did you mean 'test_share'?"),
        (("run", "--method", "bnnr", "--dataset", "synthetic_ddi", "--seed", "1"), 2, "BNNR does not belong to"),
        ((*_RUN, "--method", "mlp"), 2, "MLP does not belong to benchmark repurposing"),
        ((*_RUN, "--set", "score=nan"), 2, "'nan' is no finite number"),
        ((*_RUN, "--set", "score=1e999"), 2, "'1e999' is no finite number"),
        ((*_RUN, "--upstream", "docs"), 2, "replaces nothing of 'constant'"),
    ],
)
def test_a_run_that_cannot_be_is_refused_before_an_engine_is_started(
    arguments: tuple[str, ...],
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def no_engine(*_: object, **__: object) -> None:
        pytest.fail("an engine was looked for")

    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr("harness.api.runs.find_engine", no_engine)
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    told = capsys.readouterr().err
    assert ended.value.code == code and said in told and "to do: " in told


def test_what_fits_together_is_planned(repository: Layout) -> None:
    request = Request(methods=("constant",), datasets=("synthetic",), seeds=(1,))
    for options, split in (
        ({}, "random"),
        ({"inner_folds": 0}, "random"),
        ({"inner_folds": 3}, "random:inner_folds=3"),
    ):
        (job,) = requested_jobs(repository, replace(request, options=options, splits=(split,)))
        assert job.options["inner_folds"] == options.get("inner_folds", 5)
    both = replace(request, methods=("constant", "mlp"), datasets=("synthetic", "synthetic_ddi"))
    assert len(requested_jobs(repository, both)) == 4


@pytest.mark.parametrize(("asked", "said"), [(["--seed", "5"], True), (["--method", "bnnr"], False)])
def test_an_empty_comparison_is_not_taken_for_agreement(
    asked: list[str], said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", *asked])
    shown = capsys.readouterr()
    # 1 where a claim deviates, and only there
    assert ended.value.code == int("\n  deviates " in shown.out)
    assert ("nothing is published of what was asked for" in shown.err) == said


def test_a_full_disk_names_the_file_that_was_to_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_atomic(tmp_path / "table.md", "text")
    assert error.value.filename == str(tmp_path / "table.md")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["datasets/fdataset", "../datasets/fdataset/"])
def test_a_folder_in_place_of_a_dataset_is_told_its_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = refusal("run", "--method", "bnnr", "--dataset", name, "--seed", "1", "--dry-run", capsys=capsys)
    assert f"no dataset is called '{name}'" in told and "did you mean 'fdataset'?" in told
    # of what lies nowhere, what shows all names
    told = refusal("run", "--method", "bnnr", "--dataset", "a/mine", "--seed", "1", "--dry-run", capsys=capsys)
    assert "`harness list datasets` shows all " in told


_MANY = [f"method_{number}" for number in range(40)]


@pytest.mark.parametrize(
    ("kind", "name", "known", "todo"),
    [
        ("method", "bnr", [*_MANY, "bnnr"], "did you mean 'bnnr'? `harness list methods` shows all 41"),
        (
            "suite",
            "smo",
            [*_MANY, "smoke", "smog"],
            "did you mean 'smoke' or 'smog'? `harness list suites` shows all 42",
        ),
        (
            "metric",
            "AUCC",
            [*_MANY, "AUC/as-defined"],
            "did you mean 'AUC/as-defined'? `harness list metrics` shows all 41",
        ),
        ("dataset", "zzzzz", _MANY, "`harness list datasets` shows all 40"),
        ("thing", "x", _MANY, f"known: {', '.join(_MANY[:8])} and 32 more"),
        ("method", "method_1/x", _MANY, "name a variant beside its method: --method method_1 --variant x"),
        ("method", "x", _MANY[:8], f"known: {', '.join(_MANY[:8])}"),
        ("method", "x", [], "known: none"),
    ],
)
def test_an_unknown_name_is_told_what_was_meant_and_no_dozens_of_others(
    kind: str, name: str, known: list[str], todo: str
) -> None:
    assert unknown_name(kind, name, known).todo == todo


def test_the_same_beginning_suggests_three_at_most() -> None:
    assert unknown_name("method", "METHOD", _MANY).todo.count("'method_") == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "nope"),
        ("build", "bnnr", "nope"),
        ("verify", "nope"),
        ("save", "images.tar", "nope"),
        ("build", "bnnr", "--all"),
    ],
)
def test_an_image_that_cannot_be_is_refused_before_an_engine_is_started(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A build waits for those of others; a wrong name need not."""

    def no_engine(*_: object, **__: object) -> None:
        pytest.fail("an engine was looked for")

    monkeypatch.setattr("harness.cli.image.find_engine", no_engine)
    told = refusal("image", *arguments, capsys=capsys)
    assert "no environment is called 'nope'" in told or "images are named beside --all" in told


def test_every_image_that_is_named_beside_all_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told = refusal("image", "verify", "bnnr", "_octave", "--all", capsys=capsys)
    assert "images are named beside --all\n  where: bnnr, _octave\n" in told
