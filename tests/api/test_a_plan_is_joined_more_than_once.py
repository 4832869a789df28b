"""A command reads the store once before runs and once after them; with nothing left to run, once."""

from __future__ import annotations

from collections import Counter

import pytest

from harness import api
from harness.base.errors import MissingData, UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.plan import Plan
from harness.results.scoring import scores_path
from harness.results.store import Store, StoredRun
from tests.fabricate import SEEDS, planned_of


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often which record was read."""
    counts: Counter[str] = Counter()
    honest = Store.standing

    def counted(store: Store, key: str) -> StoredRun:
        counts[key] += 1
        return honest(store, key)

    monkeypatch.setattr(Store, "standing", counted)
    return counts


def _finished(plan: Plan, layout: Layout) -> Plan:
    store = Store(layout.runs)
    return Plan("done", tuple(one for one in plan.cells if store.standing(planned_of(one).key).verdict.is_final))


def test_with_nothing_left_every_record_is_read_once(evidence: Layout, made_up: Plan, read: Counter[str]) -> None:
    plan = _finished(made_up, evidence)
    read.clear()
    campaign = api.run(plan, progress=None, repository=api.Repository(evidence))
    assert (campaign.left, campaign.stopped) == (0, False)
    assert set(read.values()) == {1} and len(read) == len(plan.cells) == 4


def test_what_is_needed_is_told_from_the_same_reading(evidence: Layout, made_up: Plan, read: Counter[str]) -> None:
    repository = api.Repository(evidence)
    cells = api.cells(made_up, repository=repository)
    assert api.needs(made_up, joined=cells, repository=repository).left == 2
    assert set(read.values()) == {1}


def test_a_table_has_a_row_for_every_cell(evidence: Layout, made_up: Plan) -> None:
    frame = api.table(made_up, repository=api.Repository(evidence))
    assert list(frame["verdict"].value_counts().sort_index().items()) == [("error", 1), ("ok", 3), ("pending", 2)]
    assert list(frame["key"]) == [planned_of(cell).key for cell in made_up.cells]
    scored = frame[frame["verdict"] == "ok"]
    assert scored["AUC/as-defined"].notna().all() and frame["AUC/as-defined"].notna().sum() == 3
    assert set(frame["seed"]) == set(SEEDS)
    empty = api.table(Plan("none", ()), repository=api.Repository(evidence))
    assert empty.empty


def test_scores_and_an_audit_are_frames_too(evidence: Layout, made_up: Plan) -> None:
    repository, key = api.Repository(evidence), planned_of(made_up.cells[0]).key
    run = api.scores(key[:12], repository=repository)
    frame = api.table(run)
    assert (
        dict(zip(frame["metric"], frame["value"], strict=True))["AUC/as-defined"]
        == run.scores.metrics["AUC/as-defined"]
    )
    assert api.scores(key, again=True, repository=repository) == run
    report = api.audit(key[:12], progress=None, repository=repository)
    assert len(report.audits) == 1 and not report.failed
    steps = api.table(report)
    assert len(steps) == len(report.audits[0].steps) and set(steps["key"]) == {key}
    whole = api.audit(made_up, progress=None, repository=repository)
    assert (len(whole.audits), whole.without_run) == (4, 2)


def test_scores_that_can_not_be_computed_again_are_not_lost(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, key = api.Repository(evidence), planned_of(made_up.cells[0]).key
    path = scores_path(evidence, key)
    kept = path.read_bytes()

    def gone(*_: object) -> None:
        raise MissingData("its labels are gone")

    monkeypatch.setattr("harness.results.scoring.read_answer", gone)
    with pytest.raises(MissingData, match="its labels are gone"):
        api.scores(key, again=True, repository=repository)
    assert path.read_bytes() == kept and api.scores(key, repository=repository).scores.metrics


def test_claims_are_a_frame(evidence: Layout) -> None:
    book = api.compare("repurposing", methods="als_wr", datasets="fdataset", repository=api.Repository(evidence))
    frame = api.table(book)
    assert len(frame) == len(book.comparisons) > 0
    assert set(frame["method"]) == {"als_wr"} and frame["published"].notna().all()
    with pytest.raises(UsageError, match="no method of ours or of claims is called 'nobody'"):
        api.compare("repurposing", methods="nobody", repository=api.Repository(evidence))


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"methods": "constant"}, "--method"),
        ({"variant": "published"}, "--variant"),
        ({"splits": ["random"]}, "--split"),
        ({"seeds": 0}, "--seed"),
        ({"parameters": {"alpha": 1}}, "--set"),
        ({"options": {"inner_folds": 0}}, "--inner-folds"),
    ],
)
def test_what_a_suite_would_ignore_is_refused(evidence: Layout, asked: dict[str, object], where: str) -> None:
    with pytest.raises(UsageError, match="names its own jobs") as error:
        api.plan(suite="smoke", repository=api.Repository(evidence), **asked)  # type: ignore[arg-type]
    assert error.value.where == where


def test_one_name_may_stand_for_a_list(layout: Layout) -> None:
    repository = api.Repository(layout)
    one = api.plan(methods="constant", datasets="synthetic", seeds=7, repository=repository)
    several = api.plan(
        methods=["constant"], datasets=("synthetic",), seeds=[7], splits="random", repository=repository
    )
    assert one == several and len(one.cells) == 1
    assert one.cells[0].verdict is Verdict.PENDING


def test_a_plan_without_its_splits_makes_none_and_is_not_run(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An estimate needs no data and no container; a run needs the split, so its plan must have it."""
    monkeypatch.setattr("harness.splits.splits.make_split", lambda *_: pytest.fail("a split was made"))
    repository = api.Repository(layout)
    unrecorded = {"methods": "constant", "datasets": "synthetic", "seeds": 123456789}
    plan = api.plan(**unrecorded, make_splits=False, repository=repository)  # type: ignore[arg-type]
    assert [(cell.key, cell.verdict) for cell in plan.cells] == [(None, Verdict.PENDING)]
    assert api.needs(plan, repository=repository).left == 1
    with pytest.raises(UsageError, match="without its splits"):
        api.run(plan, progress=None, repository=repository)


def test_a_mirror_that_is_not_there_is_refused(layout: Layout) -> None:
    with pytest.raises(UsageError, match="a mirror is no folder"):
        api.open_repository(layout.root, mirrors=["/nowhere/at/all"])
