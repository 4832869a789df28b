"""What is planned for a table: every method on every seed that any of them has, and no run of another kind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness import api
from harness.api import Repository
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.contest import Contest, ContestRequest, Mark, contest_plan, draw
from harness.contest.rows import notes
from harness.planning.plan import Plan, make_plan
from harness.results.reference import save_reference
from harness.results.store import Store
from harness.splits.spec import parse_split
from tests.fabricate import SEEDS, job_of, planned_of, put_run

METRIC = "AUC/as-defined"


def _states(contest: Contest) -> dict[str, tuple[int, int, tuple[Mark, ...]]]:
    return {entry.row: (len(entry.values), entry.planned, entry.marks) for entry in contest.entries}


def test_a_method_without_a_run_on_anothers_seed_is_marked(evidence: Layout) -> None:
    contest = api.contest(["lrssl", "als_wr", "constant"], metric=METRIC, repository=Repository(evidence))
    assert _states(contest) == {
        "lrssl": (0, 2, (Mark.MISSING,)),
        "als_wr": (1, 2, (Mark.FAILED, Mark.FEW)),
        "constant": (2, 2, (Mark.FEW,)),
    }
    assert contest.first == "lrssl"
    assert contest.tests == 0


def test_only_the_seeds_that_are_named_count(evidence: Layout) -> None:
    here = Repository(evidence)
    contest = api.contest(["als_wr", "constant"], metric=METRIC, seeds=SEEDS[0], repository=here)
    assert _states(contest) == {"als_wr": (1, 1, (Mark.FEW,)), "constant": (1, 1, (Mark.FEW,))}
    # named with dataset and split, they are planned though nothing was run
    named = api.contest("lrssl", datasets="synthetic", splits="weakly_correlated", seeds=5, repository=here)
    assert _states(named) == {"lrssl": (0, 1, (Mark.MISSING,))}
    assert [entry.setting for entry in named.entries] == ["synthetic, weakly_correlated"]


def test_of_common_seeds_a_failure_is_one_and_what_others_have_is_left_out(evidence: Layout) -> None:
    """Of the two seeds on which both were run the method failed on one; the third is of the control alone."""
    here = Repository(evidence)
    put_run(evidence, planned_of(make_plan(evidence, "more", [job_of(evidence, "constant", 99)]).cells[0]))
    everything = api.contest(["als_wr", "constant"], metric=METRIC, repository=here)
    assert {row: state[:2] for row, state in _states(everything).items()} == {"als_wr": (1, 3), "constant": (3, 3)}
    common = api.contest(["als_wr", "constant"], metric=METRIC, common_seeds=True, repository=here)
    assert _states(common) == {"als_wr": (1, 2, (Mark.FAILED, Mark.FEW)), "constant": (2, 2, (Mark.FEW,))}
    told = "Of each setting only the seeds on which every method was run count, whatever came of the run."
    assert told in notes(common) and told not in notes(everything)
    assert told.encode() in draw(common, "svg").replace(b"\n", b" ") and told.encode() not in draw(
        everything, "svg"
    )


def test_a_run_that_the_table_does_not_show_makes_no_seed_common(evidence: Layout) -> None:
    """Its method was run on that seed as it was before: its cell is empty."""
    here = Repository(evidence)
    put_run(evidence, planned_of(make_plan(evidence, "more", [job_of(evidence, "constant", 99)]).cells[0]))
    planned = planned_of(make_plan(evidence, "more", [job_of(evidence, "als_wr", 99)]).cells[0])
    put_run(evidence, planned.model_copy(update={"image_tree": "1" * 64}))
    common = api.contest(["als_wr", "constant"], metric=METRIC, common_seeds=True, repository=here)
    assert _states(common) == {"als_wr": (1, 2, (Mark.FAILED, Mark.FEW)), "constant": (2, 2, (Mark.FEW,))}


def test_a_seed_is_common_whether_its_runs_are_stored_or_committed(evidence: Layout) -> None:
    """Of the control the runs of both seeds are stored; of the others each has one committed, pmf both."""
    jobs = [job_of(evidence, *one) for one in (("lrssl", SEEDS[0]), ("pmf", SEEDS[0]), ("pmf", SEEDS[1]))]
    planned = [planned_of(cell) for cell in make_plan(evidence, "committed", jobs).cells]
    committed: dict[str, Any] = {one.key: SimpleNamespace(planned=one) for one in planned}
    for methods, seeds in (
        (("lrssl", "constant"), SEEDS[:1]),
        (("constant", "pmf"), SEEDS),
        (("pmf", "lrssl"), SEEDS[:1]),
        (("pmf", "constant", "lrssl"), SEEDS[:1]),
    ):
        request = ContestRequest(methods=methods, common=True)
        cells = contest_plan(evidence, Store(evidence.runs), request, committed).cells
        assert {(cell.job.method, cell.job.split.seed) for cell in cells} == {
            (method, seed) for method in methods for seed in seeds
        }


def test_common_seeds_of_a_setting_that_one_method_lacks_are_none(evidence: Layout) -> None:
    here = Repository(evidence)
    for split in ("random", "weakly_correlated"):
        job = job_of(evidence, "lrssl", SEEDS[0]).model_copy(update={"split": parse_split(split, SEEDS[0])})
        put_run(evidence, planned_of(make_plan(evidence, "more", [job]).cells[0]))
    common = api.contest(["lrssl", "constant"], metric=METRIC, common_seeds=True, repository=here)
    assert [entry.setting for entry in common.entries] == ["synthetic, random"] * 2
    with pytest.raises(UsageError, match="on no seed all of these methods were run"):
        api.contest(["lrssl", "pmf"], metric=METRIC, common_seeds=True, repository=here)
    for asked in ({"suite": "repurposing-table7"}, {"seeds": SEEDS[0]}):
        with pytest.raises(UsageError, match="common seeds are those of what was run"):
            api.contest(["lrssl"], common_seeds=True, repository=here, **asked)


def test_a_suite_names_settings_and_seeds(evidence: Layout) -> None:
    """Table 7 of the paper: ten seeds, of which few were run."""
    here = Repository(evidence)
    contest = api.contest(["als_wr", "constant"], metric=METRIC, suite="repurposing-table7", repository=here)
    assert _states(contest) == {
        "als_wr": (1, 10, (Mark.FAILED, Mark.MISSING, Mark.FEW)),
        "constant": (2, 10, (Mark.MISSING, Mark.FEW)),
    }
    assert {entry.setting for entry in contest.entries} == {"synthetic, random"}


def test_runs_of_other_parameters_are_others(evidence: Layout) -> None:
    job = job_of(evidence, "als_wr", 99)
    other = job.model_copy(update={"parameters": {**job.parameters, "alpha": 77.0}})
    put_run(evidence, planned_of(make_plan(evidence, "other", [other]).cells[0]))
    contest = api.contest("als_wr", metric=METRIC, repository=Repository(evidence))
    assert _states(contest)["als_wr"][1] == len(SEEDS)


def test_committed_results_count_only_where_asked_for(evidence: Layout, made_up: Plan) -> None:
    store, here = Store(evidence.runs), Repository(evidence)
    save_reference(evidence, store)
    for cell in made_up.cells[:2]:
        store.remove(planned_of(cell).key)
    with pytest.raises(UsageError, match="no run of what was asked for is known"):
        api.contest("constant", metric=METRIC, repository=here)
    contest = api.contest("constant", metric=METRIC, reference=True, repository=here)
    assert _states(contest) == {"constant": (2, 2, (Mark.FEW,))}
    (row,) = api.table(contest).to_dict("records")
    assert row["reference"] == 2


def test_variants_are_methods_of_their_own(evidence: Layout) -> None:
    job = job_of(evidence, "als_wr", SEEDS[0], variant="corrected")
    put_run(evidence, planned_of(make_plan(evidence, "other", [job]).cells[0]))
    here = Repository(evidence)
    both = api.contest(["als_wr/corrected", "als_wr"], metric=METRIC, seeds=SEEDS[0], repository=here)
    assert _states(both) == {"als_wr/corrected": (1, 1, (Mark.FEW,)), "als_wr": (1, 1, (Mark.FEW,))}
    alone = api.contest("als_wr", variant="corrected", metric=METRIC, repository=here)
    assert [entry.group.cells[0].cell.job.variant for entry in alone.entries] == ["corrected"]


def test_a_failure_is_no_value(evidence: Layout) -> None:
    contest = api.contest("als_wr", metric=METRIC, repository=Repository(evidence))
    (entry,) = contest.entries
    assert entry.group.verdicts[Verdict.ERROR] == entry.failures == 1
    assert contest.problems == ["†§ als_wr on synthetic, random: error 1, ok 1; 1 of 2 seeds have a value"]
