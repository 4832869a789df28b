"""Options that do not go together are refused by name, before anything is done, and defaults are what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from harness import api
from harness.audit import Lack
from harness.base.errors import HarnessError, UsageError
from harness.base.layout import Layout
from harness.cli.audit import _LACKS
from harness.cli.options import parse_settings
from harness.results.store import Store
from tests.cli.calls import document, harness_of
from tests.cli.test_an_option_is_dropped import COMMANDS
from tests.conftest import REPOSITORY
from tests.core.factories import planned_job, put_run

pytestmark = pytest.mark.usefixtures("repository_here")


KEY = str(REPOSITORY / "LICENSE")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit", "abc", "--all"), "KEY, --all and --suite exclude each other"),
        (("audit", "abc", "--suite", "smoke"), "KEY, --all and --suite exclude each other"),
        (("audit", "--all", "--suite", "smoke"), "KEY, --all and --suite exclude each other"),
        (("audit", "--suite", "stored", "--reference"), "the runs made here are --suite stored, the committed"),
        (("audit", "--all", "--reference"), "the runs made here are --all, the committed"),
        (("audit", "--waive", "data"), "--waive goes with --strict"),
        (("audit", "--noted"), "--noted goes with --strict, and without --anew"),
        (("audit", "--noted", "--strict", "--anew"), "--noted goes with --strict, and without --anew"),
        (("audit", "--signed", "abc"), "--signed is about all results"),
        (("audit", "--signed", "--all"), "--signed is about all results"),
        (("audit", "--signed", "--suite", "smoke"), "--signed is about all results"),
        (("audit", "--signed", "--replay", "1"), "--signed is about all results"),
        (("audit", "--signed", "--seed", "1"), "--signed is about all results"),
        (("audit", "--signed", "--attest"), "--signed is about all results"),
        (("audit", "--signed", "--strict"), "--signed is about all results"),
        (("audit", "--signed", "--anew"), "--signed is about all results"),
        (("audit", "--signed", "--key", KEY), "--signed is about all results"),
        (("audit", "--signed", "--verbose"), "--signed is about all results"),
        (("audit", "--signed", "--strict", "--noted"), "--signed is about all results"),
        (("audit", "--signed", "--strict", "--waive", "data"), "--signed is about all results"),
        (("audit", "--signers", KEY), "--signers goes with --signed"),
        (("audit", "--attest", "--replay", "1"), "--attest needs --replay N and --key FILE"),
        (("audit", "--attest", "--key", KEY), "--attest needs --replay N and --key FILE"),
        (("audit", "--replay", "1", "--key", KEY), "--key needs --attest"),
        (("run", "bnnr", "--seed", "1"), "(bnnr). Did you mean --method bnnr?"),
        (("run", "BNNR/published", "synthetic"), "Did you mean --method BNNR/published --dataset synthetic?"),
        (("status", "nothing", "smoke"), "(nothing). Did you mean --suite smoke?"),
        (("predict", "fdataset", "--method", "pmf"), "name it by its option: --dataset fdataset"),
        (("image", "fetch", "pmf", "--dry-run", "--mirror", str(REPOSITORY)), "--dry-run looks into no mirror"),
        (("export",), "give --output PATH, or --verify CRATE"),
        (("export", "--output", "NEW", "--verbose"), "--verbose goes with --verify"),
        (("export", "--output", "NEW", "--reference", "--suite", "stored"), "goes with a suite of the repository"),
        (("export", "--output", "NEW", "--reference", "--without-predictions"), "never has predictions"),
        (("export", "--verify", "c", "--output", "NEW"), "--output means nothing here"),
        (("export", "abc", "--suite", "smoke", "--output", "NEW"), "KEY and --suite exclude each other"),
        (("export", "abc", "--verify", "c"), "KEY means nothing here"),
        (("export", "abc", "--output", "NEW.parquet"), "KEY means nothing here"),
        (("export", "--verify", "c", "--suite", "smoke"), "--suite means nothing here"),
        (("export", "--verify", "c", "--reference"), "--reference means nothing here"),
        (("export", "--verify", "c", "--profile", "process"), "--profile means nothing here"),
        (("export", "--verify", "c", "--without-predictions"), "--without-predictions means nothing here"),
        (("export", "--output", "NEW.parquet", "--reference"), "--reference means nothing here"),
        (("export", "--output", "NEW.parquet", "--profile", "process"), "--profile means nothing here"),
        (("export", "--output", "NEW.parquet", "--without-predictions"), "--without-predictions means nothing"),
        (("report", "--site", "NEW", "--output", "NEW.html"), "--site and --output exclude each other"),
        (("compare", "--gpu", "--all"), "--gpu compares no claims\n  where: --all"),
        (("compare", "--gpu", "--against", KEY), f"--gpu compares no claims\n  where: --against {KEY}"),
        (("status", "--watch", "--suite", "full"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--published-seeds", "3"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--reference"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--markdown"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--cells"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--benchmark", "ddi"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--method", "bnnr"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--dataset", "hdvd"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--verdict", "ok"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--metric", "AUC/as-defined"), "--watch shows all campaigns at work, and no table"),
        (("status", "--watch", "--output", "NEW.md"), "--watch shows all campaigns at work, and no table"),
        (("status", "--metric", "AUCC/as-defined"), "no metric is called 'AUCC/as-defined'"),
        (("status", "--benchmark", "nope"), "no benchmark is called 'nope'"),
        (("table", "--method", "bnnr", "--suite", "smoke", "--seed", "1"), "a suite names its own seeds"),
        (("--data", "", "list"), "Invalid value for '--data': no folder is named"),
        (("list", "suites", "--markdown"), "suites have no cards, and no page"),
        (("data", "get"), "no dataset is named"),
        (("data", "croissant", "--all"), "several documents need a folder"),
        (("data", "croissant"), "no dataset is named"),
        (("split", "verify", "synthetic", "--set", "a=1"), "--set needs a STRATEGY"),
        (("split", "verify", "synthetic", "--file", KEY), "a file holds one split, and it is not said which"),
        (("job", "write", "a", "b", "c"), "3 names were given"),
        (("job", "write", "NEW"), "no job was named"),
        (("job", "write", "abc", "NEW", "--seed", "1"), "a key says which job it is"),
        (("job", "write", "abc", "NEW", "--accelerator", "cuda"), "a key says which job it is"),
        (("image", "sbom", "bnnr", "--record", "--output", "NEW"), "--record writes no bill"),
        (("image", "sbom", "bnnr", "--record", "--format", "spdx"), "--record writes no bill"),
        (("image", "sbom", "bnnr", "--record", "--accelerator", "cuda"), "--record writes no bill"),
        (("job", "write", "NEW", "--suite", "smoke"), "and a folder holds one job"),
        (("predict",), "nothing says what to learn from"),
        (("predict", "ddi", "--dataset", "hdvd"), "dataset hdvd is one of benchmark repurposing"),
        (("plan", "--suite", "smoke", "--method", "bnnr"), "--suite names its own jobs"),
    ],
)
def test_what_would_be_ignored_is_refused(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    words = tuple(str(tmp_path / word.lower()) if word.startswith("NEW") else word for word in words)
    with pytest.raises((UsageError, click.UsageError)) as raised:
        harness_of(*words)
    error = raised.value
    if isinstance(error, UsageError):
        assert said in str(error) and error.todo
    else:
        assert isinstance(error, click.UsageError) and said in error.format_message()
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("word", "is_here"), [("nonsense", True), ("bnnr", False)])
def test_what_names_nothing_is_no_name_that_lacks_its_option(
    monkeypatch: pytest.MonkeyPatch, word: str, is_here: bool
) -> None:
    """And where no repository is found, no name is known."""

    def nowhere() -> Layout:
        raise UsageError("this is not a Permafrost repository", where="x", todo="y")

    if not is_here:
        monkeypatch.setattr("harness.cli.names.find_layout", nowhere)
    with pytest.raises(click.UsageError) as raised:
        harness_of("run", word)
    assert raised.value.format_message() == f"Got unexpected extra argument ({word})"


def test_what_an_audit_may_waive_is_what_it_can_lack() -> None:
    assert {*_LACKS} == {str(one) for one in Lack} and len(_LACKS) == len(Lack)


@pytest.mark.parametrize(
    ("words", "usual"),
    [
        (("audit",), {"replay": 0, "seed": 0, "anew": False, "strict": False, "waived": (), "suite": None}),
        (("audit",), {"reference": False, "every": False, "signed": False, "attest": False}),
        (("status",), {"suite": "smoke", "metric": "", "reference": False, "cells": False, "watches": False}),
        (("predict",), {"seed": 0, "top": None, "both_orders": False, "install": False, "methods": ()}),
        (("run",), {"on": "local", "accelerator": "cpu", "install": False, "again": (), "workers": None}),
        (("plan",), {"accelerator": "cpu", "shard": None, "suite": None, "variant": None, "with_cells": False}),
        (("clean",), {"images": False, "cache": False, "everything": False, "dry_run": False}),
        (("doctor",), {"on": "local", "runtime": None}),
        (("forget",), {"yes": False, "dry_run": False}),
        (("stop",), {"now": False, "name": ""}),
        (("list",), {"kind": "methods", "markdown": False}),
        (("new", "method"), {"benchmark": "repurposing", "title": ""}),
        (("study",), {"benchmark": "repurposing", "measure": False}),
        (("weights", "adapt"), {"accelerator": "cpu", "install": False}),
        (("image", "verify"), {"accelerator": "cpu", "rebuild": False, "everything": False}),
    ],
)
def test_what_is_not_said_has_its_usual_value(words: tuple[str, ...], usual: dict[str, Any]) -> None:
    command = COMMANDS[words]
    context = click.Context(command, resilient_parsing=True)
    command.parse_args(context, [])
    assert {name: context.params[name] for name in usual} == usual


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["alpha"], "'alpha' sets nothing"),
        (["=1"], "'=1' sets nothing"),
        (["a=1", "a=2"], "a is set twice: 1 and 2"),
        (["a=nan"], "'nan' is no finite number"),
        (["a=-Infinity"], "'-Infinity' is no finite number"),
        (["a=1e999"], "'1e999' is no finite number"),
    ],
)
def test_a_parameter_that_is_not_set_once_is_refused(texts: list[str], said: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_settings(texts)
    where = f"--set {texts[0]}" if "finite" in said else "--set"
    assert error.value.what == said and error.value.where == where and error.value.todo


def test_a_value_may_hold_a_sign_of_equality_and_is_read_as_json() -> None:
    told = parse_settings(["a=b=c", "b=true", "c=[1, 2]", "d=", 'e="1"'])
    assert told == {"a": "b=c", "b": True, "c": [1, 2], "d": "", "e": "1"}


@pytest.mark.parametrize(
    "words",
    [
        ("plan",),
        ("report", "--output", "OUT/page.html"),
        ("report", "--site", "OUT/site"),
        ("export", "--output", "OUT/crate"),
        ("table", "--method", "constant"),
    ],
)
def test_a_suite_without_a_letter_is_not_the_usual_one(words: tuple[str, ...], tmp_path: Path) -> None:
    """A shell leaves nothing of a variable that is not set."""
    with pytest.raises(UsageError, match="no suite is called ''"):
        harness_of(*(word.replace("OUT", str(tmp_path)) for word in words), "--suite", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["", " "])
def test_a_key_without_a_letter_is_not_that_of_every_run(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the only run that is stored it was the beginning."""
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "results"))
    put_run(Store(tmp_path / "results" / "runs"), planned_job(), tmp_path / "work")
    for words in (("audit", key), ("audit", "--reference", key), ("audit", planned_job().key, key)):
        with pytest.raises(UsageError, match="the key is empty") as error:
            harness_of(*words)
        assert error.value.todo == "give a key or its beginning; without one every run is audited"


def test_a_plan_without_options_is_that_of_the_smoke_suite() -> None:
    usual = document(harness_of("plan", "--json"))
    assert usual["suite"] == "smoke" and usual["needs"]["planned"] == len(usual["cells"])
    lines = harness_of("plan", "--cells").stdout.splitlines()
    shown = [line.split()[:2] for line in lines[: len(usual["cells"])]]
    assert shown == [[(cell["key"] or "-")[:12], cell["verdict"]] for cell in usual["cells"]]
    assert len(harness_of("plan").stdout.splitlines()) == len(lines) - len(usual["cells"])


def test_a_plan_of_methods_alone_is_their_part_of_the_whole_reproduction() -> None:
    told = document(harness_of("plan", "--method", "constant", "--json"))
    assert {cell["method"] for cell in told["cells"]} == {"constant"} and len(told["cells"]) > 10
    assert told["suite"].startswith("full") and told["suite"].endswith("constant")


def test_a_strict_table_is_not_shown_with_a_number_that_must_not_stand_alone() -> None:
    methods = ("bnnr", "drrs")
    problems = api.contest(methods, reference=True, datasets="hdvd", seeds=17263407).problems
    assert problems
    words = ["table", "--reference", "--dataset", "hdvd", "--seed", "17263407", "--strict"]
    with pytest.raises(HarnessError, match="must not stand alone") as error:
        harness_of(*words, *(word for name in methods for word in ("--method", name)))
    assert all(one in error.value.where for one in problems) and error.value.exit_code == 1
