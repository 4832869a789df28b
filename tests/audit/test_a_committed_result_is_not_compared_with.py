"""A run is held against the committed result of its job: verdict, files and scores, in both directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.audit.results import check_against_reference, kept_scores
from harness.audit.steps import Checked, Lack, Step, failed, not_checked, ok
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.plan import Plan
from harness.results.records import Record, StoredFile
from harness.results.reference import ReferenceResult, load_reference, save_reference
from harness.results.store import Store
from tests.audit.forging import forge_scores
from tests.fabricate import planned_of

SAME = ok("reference", "the committed reference result of this job has the same answer")
DIFFERS = "the committed reference result of this job differs: "
AWAY = "; it was made on another processor"
UNTOLD = "; not both tell on which processor they were made"
STALE = "the scores of the committed reference result are of another scorer than the present one"
STOPPED = "; this run was stopped"
METRIC = "NS-AUC/as-published"
ANSWERS = ("predictions.npy", "validation.npy", "lowest.npy")


@pytest.fixture
def entry(evidence: Layout, made_up: Plan) -> ReferenceResult:
    """The committed result of the first run."""
    save_reference(evidence, Store(evidence.runs))
    return load_reference(evidence)[planned_of(made_up.cells[0]).key]


def other_files(record: Record, digest: str, *names: str) -> Record:
    files = {name: StoredFile(sha256=digest * 64, bytes=record.files[name].bytes) for name in names}
    return record.model_copy(update={"files": {**record.files, **files}})


def told(layout: Layout, record: Record) -> Step:
    (step,) = check_against_reference(layout, record)
    return step


def test_without_a_committed_result_there_is_nothing_to_say(evidence: Layout, made_up: Plan) -> None:
    record = Store(evidence.runs).record(planned_of(made_up.cells[0]).key)
    assert check_against_reference(evidence, record) == []


def test_the_same_run_is_the_same(evidence: Layout, made_up: Plan, entry: ReferenceResult) -> None:
    """An error too, which has neither answer nor scores; and one on another machine."""
    for cell in made_up.cells[:4]:
        record = Store(evidence.runs).record(planned_of(cell).key)
        assert told(evidence, record) == SAME
        assert record.made_by is not None
        made_by = record.made_by.model_copy(update={"processor": "another"})
        assert told(evidence, record.model_copy(update={"made_by": made_by})) == SAME


@pytest.mark.parametrize("digest", ["0", "f"])
@pytest.mark.parametrize("name", ANSWERS)
def test_another_file_of_an_answer_is_a_broken_link(
    evidence: Layout, entry: ReferenceResult, name: str, digest: str
) -> None:
    what = f"{DIFFERS}{name} is {digest * 64}, there {entry.record.files[name].sha256}"
    record = other_files(entry.record, digest, name)
    assert told(evidence, record) == failed("reference", what, where=entry.where)


def test_of_several_files_the_first_by_name_is_told(evidence: Layout, entry: ReferenceResult) -> None:
    assert told(evidence, other_files(entry.record, "0", *ANSWERS)).what.startswith(f"{DIFFERS}lowest.npy is ")
    for number, name in enumerate(sorted(ANSWERS)):
        record = other_files(entry.record, "0", *sorted(ANSWERS)[number:])
        assert told(evidence, record).what.startswith(f"{DIFFERS}{name} is ")


def test_what_an_answer_is_not_made_of_may_differ(evidence: Layout, entry: ReferenceResult) -> None:
    """Times and memory are not the same twice."""
    assert told(evidence, other_files(entry.record, "0", "log.txt", "method.json")) == SAME


def test_a_file_on_one_side_alone_is_a_difference(
    evidence: Layout, entry: ReferenceResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = entry.record
    digest = whole.files["lowest.npy"].sha256
    files = {name: file for name, file in whole.files.items() if name != "lowest.npy"}
    fewer = whole.model_copy(update={"files": files})
    assert told(evidence, fewer).what == f"{DIFFERS}lowest.npy is -, there {digest}"
    # a file of results that was made otherwise than by the harness
    other = replace(entry, content=fewer.model_dump(mode="json"))
    monkeypatch.setattr("harness.audit.results.reference_of", lambda *_: other)
    assert told(evidence, whole).what == f"{DIFFERS}lowest.npy is {digest}, there -"


@pytest.mark.parametrize("verdict", [one for one in Verdict if one is not Verdict.OK])
def test_another_end_is_told_before_any_file(evidence: Layout, entry: ReferenceResult, verdict: Verdict) -> None:
    """A run that a person or a machine stopped shows nothing of its method."""
    record = other_files(entry.record, "0", *ANSWERS).model_copy(update={"verdict": verdict})
    what = f"{DIFFERS}it ended as '{verdict}', there as 'ok'"
    assert told(evidence, record) == (
        failed("reference", what, where=entry.where)
        if verdict.is_final
        else not_checked("reference", f"{what}{STOPPED}", Lack.MACHINE)
    )


def elsewhere(record: Record, **changes: Any) -> Record:
    """The same on a machine of which something else is known, or nothing."""
    assert record.made_by is not None
    made_by = record.made_by.model_copy(update=changes) if changes else None
    return record.model_copy(update={"made_by": made_by})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"processor": ""}, AWAY),
        ({"processor": "zzz"}, AWAY),
        # one name, and another kind of processor: virtual machines have it so
        ({"flags": ["avx2"]}, AWAY),
        ({}, UNTOLD),
    ],
)
def test_on_another_processor_other_bits_are_no_broken_link(
    evidence: Layout,
    entry: ReferenceResult,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    why: str,
) -> None:
    """What they make of the scores is told, and decides nothing."""
    record = other_files(entry.record, "0", "predictions.npy")
    what = f"{DIFFERS}predictions.npy is {'0' * 64}, there {entry.record.files['predictions.npy'].sha256}"
    none = f"{what}{why}, and not both have scores of one scorer to compare"
    assert told(evidence, elsewhere(record, **changes)) == not_checked("reference", none, Lack.MACHINE)
    other = replace(entry, content=elsewhere(entry.record, **changes).model_dump(mode="json"))
    with monkeypatch.context() as patch:
        patch.setattr("harness.audit.results.reference_of", lambda *_: other)
        assert told(evidence, record).what.startswith(f"{what}{why}")
    mine = kept_scores(evidence, entry.record)
    assert mine is not None
    # of other bits none are kept here: those of the run stand for them
    monkeypatch.setattr("harness.audit.results.kept_scores", lambda *_: mine)
    same = f"{what}{why}, and every score is the same"
    assert told(evidence, elsewhere(record, **changes)) == not_checked("reference", same, Lack.MACHINE)
    others = replace(mine, metrics={**mine.metrics, METRIC: 0.99})
    monkeypatch.setattr("harness.audit.results.kept_scores", lambda *_: others)
    step = told(evidence, elsewhere(record, **changes))
    assert (step.checked, step.lack) == (Checked.NOT_CHECKED, Lack.SCORES)
    assert step.what.startswith(f"{what}{why}, and {METRIC} is not what was kept: 0.99, there ")


def test_of_two_runs_of_unknown_processors_nobody_knows_that_it_was_one(
    evidence: Layout, entry: ReferenceResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = elsewhere(other_files(entry.record, "0", "predictions.npy"))
    what = f"{DIFFERS}predictions.npy is {'0' * 64}, there {entry.record.files['predictions.npy'].sha256}"
    other = replace(entry, content=elsewhere(entry.record).model_dump(mode="json"))
    monkeypatch.setattr("harness.audit.results.reference_of", lambda *_: other)
    why = f"{what}{UNTOLD}, and not both have scores of one scorer to compare"
    assert told(evidence, record) == not_checked("reference", why, Lack.MACHINE)


def test_the_same_answer_has_the_same_scores_on_every_processor(
    evidence: Layout, made_up: Plan, entry: ReferenceResult
) -> None:
    forge_scores(evidence, made_up, lambda scores: scores["metrics"].update({METRIC: 0.99}))
    for record in (elsewhere(entry.record), elsewhere(entry.record, processor="another")):
        assert told(evidence, record).checked is Checked.FAILED


@pytest.mark.parametrize("there", [Verdict.OK, Verdict.ERROR, Verdict.MEMORY])
@pytest.mark.parametrize("here", [one for one in Verdict if one.is_final and one is not Verdict.OK])
def test_another_end_on_another_processor_is_as_strange_as_other_scores_unless_it_depends_on_one(
    evidence: Layout, entry: ReferenceResult, monkeypatch: pytest.MonkeyPatch, here: Verdict, there: Verdict
) -> None:
    if here is there:
        return
    record = entry.record.model_copy(update={"verdict": here})
    other = replace(entry, content=entry.record.model_copy(update={"verdict": there}).model_dump(mode="json"))
    monkeypatch.setattr("harness.audit.results.reference_of", lambda *_: other)
    what = f"{DIFFERS}it ended as '{here}', there as '{there}'{AWAY}"
    of_the_machine = {here, there} & {Verdict.TIMEOUT, Verdict.MEMORY}
    lack = Lack.MACHINE if of_the_machine else Lack.SCORES
    assert told(evidence, elsewhere(record, processor="x")) == not_checked("reference", what, lack)


BETTER: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a metric": (lambda scores: scores["metrics"].update({METRIC: 0.99}), f"{METRIC} is not what was kept"),
    "a series": (
        lambda scores: scores.update(series={"accuracy of type": [1.0]}),
        "accuracy of type 0 is not what was kept",
    ),
    "more metrics": (lambda scores: scores["metrics"].update(more=1.0), "more is not what was kept"),
}


@pytest.mark.parametrize("kind", BETTER)
def test_better_scores_than_the_committed_ones_are_a_broken_link(
    evidence: Layout, made_up: Plan, entry: ReferenceResult, kind: str
) -> None:
    """Of the same answer, by the same scorer."""
    change, said = BETTER[kind]
    forge_scores(evidence, made_up, change)
    step = told(evidence, entry.record)
    assert (step.checked, step.where) == (Checked.FAILED, entry.where)
    assert step.what.startswith(f"{DIFFERS}{said}")


def test_scores_are_compared_where_both_have_them_from_one_scorer(
    evidence: Layout, made_up: Plan, entry: ReferenceResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = forge_scores(evidence, made_up, lambda scores: scores["metrics"].update({METRIC: 0.99}))
    with monkeypatch.context() as patch:
        patch.setattr("harness.results.reference.scorer_digest", lambda _: "0" * 64)
        assert told(evidence, entry.record) == not_checked("reference", f"{SAME.what}; {STALE}", Lack.STALE)
    assert told(evidence, entry.record).checked is Checked.FAILED
    path.unlink()
    assert told(evidence, entry.record) == SAME


def test_committed_scores_of_another_scorer_are_a_lack_of_their_own(
    evidence: Layout, made_up: Plan, entry: ReferenceResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who changes the scorer and scores anew leaves nothing to compare: that is told, of other bits as well.

    Nobody who accepts other bits accepts it with them. A run that failed has no scores.
    """
    others = elsewhere(other_files(entry.record, "0", "predictions.npy"), processor="x")
    records = (Store(evidence.runs).record(planned_of(cell).key) for cell in made_up.cells[:4])
    failing = next(record for record in records if record.verdict is Verdict.ERROR)
    monkeypatch.setattr("harness.results.reference.scorer_digest", lambda _: "0" * 64)
    bits, stale = check_against_reference(evidence, others)
    assert (bits.checked, bits.lack) == (Checked.NOT_CHECKED, Lack.MACHINE)
    assert stale == not_checked("reference", STALE, Lack.STALE)
    assert told(evidence, failing) == SAME
