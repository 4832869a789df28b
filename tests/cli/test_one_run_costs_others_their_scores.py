"""`harness score` and `harness predict` over runs that went wrong: each is told of, and costs no other."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any, cast

import pytest

from harness.base.errors import HarnessError, UsageError
from harness.base.files import read_json
from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.base.vocabulary import Verdict
from harness.cli import main
from harness.engine import Engine
from harness.planning.cells import Cell
from harness.planning.plan import Plan, make_plan
from harness.prediction import PredictionRequest, participants, prediction
from harness.results.scoring import scores_path
from harness.results.store import Store
from harness.status.table import key_metrics
from tests.audit.forging import refresh
from tests.evidence import go_to
from tests.fabricate import job_of, planned_of, put_run


@pytest.fixture
def gone(evidence: Layout, monkeypatch: pytest.MonkeyPatch) -> str:
    """The key of a run whose dataset was here and is not any more."""
    go_to(evidence, monkeypatch)
    own = evidence.datasets / "mine"
    shutil.copytree(evidence.datasets / "synthetic", own)
    manifest = own / "dataset.toml"
    manifest.write_text(manifest.read_text().replace('name = "synthetic"', 'name = "mine"', 1))
    (own / "splits.csv").unlink()
    (cell,) = make_plan(evidence, "own", [job_of(evidence, "constant", 1, "mine")]).cells
    put_run(evidence, planned_of(cell), score=False)
    shutil.rmtree(own)
    refresh()
    return planned_of(cell).key


def test_data_that_are_gone_cost_no_other_run_its_scores(
    evidence: Layout, made_up: Plan, gone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = sorted(planned_of(cell).key for cell in made_up.cells[:3])
    with pytest.raises(SystemExit) as ended:
        main(["score", "--again"])
    told = capsys.readouterr()
    assert ended.value.code == 4
    assert told.err.count("not scored: no dataset is called 'mine'") == 1 and gone[:16] in told.err
    assert sorted(line[:16] for line in told.out.splitlines()) == [key[:16] for key in keys]
    first = read_json(scores_path(evidence, keys[0]))["metrics"]
    for name in key_metrics("repurposing"):
        assert f"  {name} {first[name]:.4f}" in told.out
    assert all(read_json(scores_path(evidence, key))["key"] == key for key in keys)


@pytest.mark.parametrize("verdict", [Verdict.UNSTABLE, Verdict.INVALID, Verdict.TIMEOUT])
def test_a_run_that_did_not_end_ok_is_passed_over_unless_it_is_named(
    here: Layout, keys: list[str], capsys: pytest.CaptureFixture[str], verdict: Verdict
) -> None:
    """Also one whose predictions lie there: a repetition gave others."""
    store = Store(here.runs)
    store.amend(store.record(keys[0]).model_copy(update={"verdict": verdict, "reason": "made up"}))
    with pytest.raises(SystemExit) as ended:
        main(["score"])
    told = capsys.readouterr()
    assert (ended.value.code, told.err) == (0, "")
    assert sorted(line[:16] for line in told.out.splitlines()) == sorted(key[:16] for key in keys[1:3])
    with pytest.raises(SystemExit) as ended:
        main(["score", keys[1], keys[0]])
    told = capsys.readouterr()
    assert ended.value.code == UsageError.exit_code
    assert f"run {keys[0][:16]} has nothing to score: {verdict}" in told.err


def test_a_run_that_could_not_be_scored_is_not_told_away(
    evidence: Layout, made_up: Plan, gone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for cell in made_up.cells[:3]:
        shutil.rmtree(Store(evidence.runs).path(planned_of(cell).key))
    refresh()
    with pytest.raises(SystemExit) as ended:
        main(["score"])
    told = capsys.readouterr()
    assert ended.value.code == 4 and told.out == ""
    assert f"{gone[:16]}  " in told.err and "not scored: no dataset is called 'mine'" in told.err


def test_a_run_that_was_asked_for_is_an_error_of_its_own(gone: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", gone[:12]])
    assert ended.value.code == 2 and "no dataset is called 'mine'" in capsys.readouterr().err


def test_a_key_that_nobody_knows_is_not_called_too_short(gone: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", "nope"])
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert "no run is called 'nope'" in told and gone[:12] in told and "more of" not in told


def test_a_failed_prediction_says_error_once(
    evidence: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(layout: Layout, cells: Sequence[Cell], *_: Any, **__: Any) -> None:
        put_run(layout, planned_of(cells[0]), verdict=Verdict.ERROR, reason="exit code 1: too few")

    monkeypatch.setattr(prediction, "run_cells", failing)
    before = {*Store(evidence.runs).finished()}
    request = PredictionRequest(methods=("constant", "popularity"), dataset="synthetic")
    participation = participants(evidence, request)
    with pytest.raises(HarnessError) as error:
        prediction.predict(evidence, cast(Engine, None), request, participation, mirrors=(), progress=Silent())
    (key,) = (one[:12] for one in Store(evidence.runs).finished() if one not in before)
    assert str(error.value).splitlines()[:2] == [
        "constant/published does not take part: its run ended as 'error': exit code 1: too few "
        f"(harness show {key} --log)",
        "       popularity/published does not take part: its run ended as 'pending': not run yet",
    ]
    assert "log" in error.value.todo
