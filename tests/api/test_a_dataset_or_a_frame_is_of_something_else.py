"""One's own data are made of the tables that were named, and a frame has every value in its own column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harness import api
from harness.api.frames import table
from harness.api.pages import is_current, remember
from harness.audit import AuditReport
from harness.audit.steps import Audit, failed, ok
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.data import load_manifest
from harness.results.scoring import Scores
from harness.results.store import Store
from tests.combos.made_documents import line
from tests.core.factories import planned_job, put_run
from tests.core.word_for_word import said


@pytest.fixture
def own(tmp_path: Path) -> api.Repository:
    """A repository without anything."""
    (tmp_path / "root").mkdir()
    return api.Repository(Layout(root=tmp_path / "root", cache=tmp_path / "cache", local=tmp_path / "local"))


def write(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_a_dataset_is_made_of_the_tables_that_were_named(own: api.Repository, tmp_path: Path) -> None:
    first = write(tmp_path / "first.jsonl", line())
    second = write(tmp_path / "second.jsonl", line(doc_id="2"), line(doc_id="3", rels=[]))
    made = api.new_data("mine", title="My own", sentences=first, test_sentences=str(second), repository=own)
    assert made.name == "mine" and made.arrays["released"].tolist() == [0, 1, 1]
    manifest = load_manifest(own.layout, "mine")
    assert (manifest.title, manifest.benchmark) == ("My own", "combos")
    with pytest.raises(UsageError):
        api.new_data("other", nothing=first, repository=own)


def test_what_is_accepted_names_the_runs_that_are_of_something_else(own: api.Repository, tmp_path: Path) -> None:
    made = api.new_data("mine", sentences=write(tmp_path / "first.jsonl", line()), repository=own)
    store = Store(own.layout.runs)
    old, other = planned_job(1, dataset="mine"), planned_job(2, dataset="theirs")
    newer = write(tmp_path / "newer.jsonl", line(), line(doc_id="2", rels=[]))
    accepted = api.accept_data("mine", sentences=newer, repository=own).accepted
    assert accepted.changes and accepted.dataset.digest != made.digest
    present = planned_job(3, dataset="mine").model_copy(update={"dataset_digest": accepted.dataset.digest})
    # of data whose names begin alike, and of which it is a beginning
    alike = planned_job(4, dataset="mine_too"), planned_job(5, dataset="min")
    for number, planned in enumerate((old, other, present, *alike)):
        put_run(store, planned, tmp_path / str(number))
    again = api.accept_data("mine", repository=own)
    assert again.accepted.dataset.digest == accepted.dataset.digest
    assert again.outdated == ((old.key, old),)


def test_a_frame_of_scores_has_each_metric_with_its_note() -> None:
    scores = Scores("k", "s", {}, {"AUC": 0.5, "F1": None}, {"F1": "no positives"}, {"accuracy of type": [1.0]})
    frame = table(api.ScoredRun(planned_job().job, scores))
    assert list(frame.columns) == ["metric", "value", "note"]
    assert frame["metric"].tolist() == ["AUC", "F1", "accuracy of type 0"]
    assert frame["note"].tolist() == ["", "no positives", ""] and frame["value"].isna().tolist() == [
        False,
        True,
        False,
    ]


def test_a_frame_of_an_audit_has_a_row_for_each_step() -> None:
    steps = (ok("record", "it is whole"), failed("log", "it was changed"))
    frame = table(AuditReport((Audit("k" * 64, "a label", "", steps),)))
    assert list(frame.columns) == ["key", "label", "step", "checked", "what", "expected", "found", "where"]
    assert frame["step"].tolist() == ["record", "log"] and set(frame["label"]) == {"a label"}
    assert frame["checked"].tolist() == ["ok", "FAILED"] and set(frame["key"]) == {"k" * 64}
    both = table(AuditReport((Audit("k" * 64, "a label", "", steps), Audit("l" * 64, "another", "", steps[:1]))))
    assert both["label"].tolist() == ["a label", "a label", "another"] and both["key"].tolist()[2] == "l" * 64
    nothing = table(AuditReport(()))
    assert nothing.empty and list(nothing.columns) == list(frame.columns)


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"datasets": ("fdataset",)}, "--dataset"),
        ({"upstream": "folder"}, "--upstream"),
        ({"methods": "bnnr", "seeds": 1}, "--method"),
        ({"seeds": np.arange(2)}, "--seed"),
        ({"seeds": 0}, "--seed"),
        ({"methods": np.array(["bnnr", "mlp"])}, "--method"),
    ],
)
def test_what_a_suite_would_ignore_is_named_first(own: api.Repository, asked: dict[str, Any], where: str) -> None:
    with pytest.raises(UsageError) as refused:
        api.plan(suite="smoke", repository=own, **asked)
    assert said(refused.value) == (
        "--suite names its own jobs",
        where,
        "give either --suite or --method and what goes with it",
    )


def test_a_mirror_that_is_no_folder_is_named(own: api.Repository, tmp_path: Path) -> None:
    file = write(tmp_path / "file")
    with pytest.raises(UsageError) as refused:
        api.open_repository(own.layout.root, mirrors=[tmp_path, file])
    assert said(refused.value) == ("a mirror is no folder", str(file), "name a folder of original data files")


def test_a_page_is_current_while_it_is_the_one_that_was_noted(own: api.Repository) -> None:
    own.layout.page.parent.mkdir(parents=True)
    page = write(own.layout.page, {})
    assert not is_current(own.layout, "f1")
    remember(own.layout, "f1")
    assert is_current(own.layout, "f1") and not is_current(own.layout, "f2")
    page.write_text("other")
    assert not is_current(own.layout, "f1")
    note = json.loads(own.layout.page_note.read_bytes())
    assert set(note) == {"page", "made_of", "seal"} and note["made_of"] == "f1"


def test_an_audit_looks_at_the_page_and_the_statement_too(own: api.Repository, tmp_path: Path) -> None:
    """Of a store without a run: what belongs to no run is looked at all the same."""
    own.layout.page.parent.mkdir(parents=True)
    write(own.layout.page, {})
    report = api.audit(progress=None, repository=own)
    assert report.audits == () and {"page", "statement"} <= {step.name for step in report.repository}


def test_runs_to_audit_may_be_the_column_of_a_frame(own: api.Repository, tmp_path: Path) -> None:
    planned = [planned_job(number) for number in range(3)]
    for one in planned:
        put_run(Store(own.layout.runs), one, tmp_path / one.key)
    keys = pd.DataFrame({"key": [one.key for one in planned[:2]]})["key"]
    report = api.audit(keys, progress=None, repository=own)
    assert [audit.key for audit in report.audits] == [*keys]


def test_a_folder_that_holds_no_runs_is_not_merged(own: api.Repository, tmp_path: Path) -> None:
    put_run(Store(own.layout.runs), planned_job(), tmp_path / "work")
    with pytest.raises(UsageError, match="there are no runs to merge"):
        api.merge(tmp_path / "nowhere", progress=None, repository=own)
    with pytest.raises(UsageError, match="can't be merged with itself"):
        api.merge([own.layout.local], progress=None, repository=own)
