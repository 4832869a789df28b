"""The command line must say what is here, what is not, and what is damaged, with the documented exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.base.errors import MissingData, UsageError
from harness.base.layout import Layout
from harness.cli import data as module
from tests.data.own_data import TABLES, write_dataset

Invoke = Callable[..., Result]


@pytest.fixture
def invoke(own: Layout, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """`harness data ...` in the test's own repository."""
    monkeypatch.setattr(module, "find_layout", lambda: own)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(module.command, list(arguments), standalone_mode=False)

    return run


def test_list_says_what_is_here(own: Layout, invoke: Invoke) -> None:
    write_dataset(own)
    (row,) = json.loads(invoke("list", "--json").stdout)["rows"]
    assert row["name"] == "mine"
    assert row["state"] == "can be made from what is here"
    assert row["statistics"]["positives"] == 2
    invoke("get", "mine")
    assert invoke("list").output.rstrip().endswith("here")


def test_list_says_what_is_not_here(own: Layout, invoke: Invoke) -> None:
    path = write_dataset(own)
    (path.parent / "associations.csv").unlink()
    assert "to be downloaded: associations.csv" in invoke("list").output


def test_get_shows_digest_and_remarks(own: Layout, invoke: Invoke) -> None:
    write_dataset(own)
    (row,) = json.loads(invoke("get", "mine", "--json").stdout)["rows"]
    assert len(row["digest"]) == 64
    assert any("without a known association" in remark for remark in row["remarks"])


def test_get_without_a_name_is_a_usage_error(own: Layout, invoke: Invoke) -> None:
    assert isinstance(invoke("get").exception, UsageError)


def test_get_of_absent_files_is_missing_data(own: Layout, invoke: Invoke) -> None:
    path = write_dataset(own)
    (path.parent / "associations.csv").unlink()
    error = invoke("get", "mine").exception
    assert isinstance(error, MissingData)
    assert "put the file beside its manifest" in str(error)


def test_verify_finds_a_damaged_file(own: Layout, invoke: Invoke) -> None:
    path = write_dataset(own)
    good = invoke("verify", "mine")
    assert (good.output, good.return_value) == ("mine: ok\n", 0)
    (path.parent / "associations.csv").write_text(TABLES["associations.csv"].replace("-1", "+1"))
    bad = invoke("verify")
    assert bad.return_value == 4
    assert "mine: corrupt" in bad.output
    assert "not the recorded" in bad.output


def test_verify_passes_over_what_is_not_here(own: Layout, invoke: Invoke, tmp_path: Path) -> None:
    path = write_dataset(own)
    (path.parent / "drug_features.csv").unlink()
    result = invoke("verify", "--json")
    assert result.return_value == 0
    assert json.loads(result.stdout)["rows"][0]["verdict"] == "not here"


def test_verify_does_not_call_what_is_missing_corrupt(own: Layout, invoke: Invoke) -> None:
    path = write_dataset(own)
    invoke("get", "mine")
    (path.parent / "drug_features.csv").unlink()
    named, unnamed = invoke("verify", "mine"), invoke("verify")
    assert unnamed.output == (
        "mine: not here: to be downloaded: 1 original file of these arrays: harness data verify mine\n"
    )
    assert re.match(r"mine: not here: .*\n  where: (.|\n)*\n  to do: ", named.output)
    assert (named.return_value, unnamed.return_value) == (4, 0), "what is named must be here"


def test_verify_downloads_nothing_that_nobody_named(
    own: Layout, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_dataset(own)
    invoke("get", "mine")
    (path.parent / "drug_features.csv").unlink()
    wanted: list[str] = []

    def convert(_layout: Layout, name: str, **_: object) -> None:
        wanted.append(name)
        raise MissingData("it is not here", where="there", todo="bring it")

    monkeypatch.setattr(module, "convert_dataset", convert)
    assert "not here" in invoke("verify").output and wanted == []
    assert "not here" in invoke("verify", "mine").output and wanted == ["mine"]


def test_one_faulty_manifest_hides_no_other_dataset(own: Layout, invoke: Invoke) -> None:
    write_dataset(own)
    for name, change in {"broken": ("title", "titel"), "strange": ('"csv"', '"nonsense"')}.items():
        path = write_dataset(own, name=name)
        path.write_text(path.read_text().replace(*change, 1))
    listed = invoke("list")
    assert listed.return_value == 2
    assert re.search(
        r"^broken +faulty: dataset\.toml breaks its schema where: .*titel: there is no such field; did you mean"
        r" 'title'\? to do: correct these fields$",
        listed.output,
        re.MULTILINE,
    )
    assert re.search(r"mine +repurposing .*can be made from what is here", listed.output)
    assert re.search(r"strange +faulty: no converter is called 'nonsense'", listed.output)
    told = invoke("list", "--json")
    assert told.return_value == 2
    assert [(row["name"], "fault" in row) for row in json.loads(told.stdout)["rows"]] == [
        ("broken", True),
        ("mine", False),
        ("strange", True),
    ]
    got = invoke("get", "--all")
    assert got.return_value == 2
    assert re.search(r"strange: not got: no converter is called 'nonsense'\n  where: .*converter\n", got.stderr)
    # those behind a dataset whose data are wrong are got, too, and that counts more
    (write_dataset(own, name="altered").parent / "drug_features.csv").write_text("x")
    told = invoke("get", "--all", "--json")
    assert told.return_value == 4
    assert [(row["name"], bool(row["digest"])) for row in json.loads(told.stdout)["rows"]] == [
        ("altered", False),
        ("mine", True),
        ("strange", False),
    ]
    assert isinstance(invoke("get", "strange").exception, UsageError)
    (own.datasets / "altered" / "dataset.toml").unlink()
    verified = invoke("verify", "--json")
    assert verified.return_value == 4
    assert [row["verdict"] for row in json.loads(verified.stdout)["rows"]] == ["corrupt", "ok", "corrupt"]
