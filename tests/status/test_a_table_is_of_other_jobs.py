"""Which jobs a table is asked about, and what is said where some of its data are published and others are not."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import count

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.planning.jobs import PlannedJob
from harness.results.store import Store
from harness.status import Table, known_sets, suite_jobs
from harness.status.text import notes
from tests.fabricate import drug_cell, plan_of, planned_of, put_run


def test_a_suite_has_as_many_published_seeds_as_were_asked_for(repository: Layout) -> None:
    store = Store(repository.runs)
    usual, more = (suite_jobs(repository, store, "repurposing-table5", seeds) for seeds in (None, 12))
    seeds_of = [{job.split.seed for job in jobs} for jobs in (usual, more)]
    assert (len(seeds_of[0]), len(seeds_of[1])) == (10, 12) and seeds_of[0] < seeds_of[1]


@pytest.mark.parametrize(
    ("suite", "number", "what", "where"),
    [
        ("stored", 3, "the suite 'stored' takes no published seeds", "--suite stored --published-seeds 3"),
        ("stored", 0, "the suite 'stored' takes no published seeds", "--suite stored --published-seeds 0"),
        (
            "dti-smoke",
            3,
            "the suite 'dti-smoke' takes no published seeds",
            "--suite dti-smoke --published-seeds 3",
        ),
        ("smoke", -1, "benchmark repurposing has 100 published seeds", "--published-seeds -1"),
        ("smoke", 0, "benchmark repurposing has 100 published seeds", "--published-seeds 0"),
        ("smoke", 101, "benchmark repurposing has 100 published seeds", "--published-seeds 101"),
        ("combos-table2", 5, "benchmark combos has 4 published seeds", "--published-seeds 5"),
    ],
)
def test_a_number_of_published_seeds_is_not_ignored(
    repository: Layout, suite: str, number: int, what: str, where: str
) -> None:
    with pytest.raises(UsageError) as found:
        suite_jobs(repository, Store(repository.runs), suite, number)
    assert (found.value.what, found.value.where) == (what, where)


def test_what_code_of_old_ran_too_is_one_job(evidence: Layout) -> None:
    main_file = evidence.methods / "constant" / "main.py"
    main_file.write_text(main_file.read_text() + "\nchanged = 1\n")
    put_run(evidence, planned_of(plan_of(evidence, methods=("constant",)).cells[0]))
    store = Store(evidence.runs)
    assert len([*store.finished()]) == 5
    jobs = suite_jobs(evidence, store, "stored")
    assert len(jobs) == len({job.label for job in jobs}) == 4


@pytest.mark.parametrize("is_older_first", [True, False])
def test_a_run_goes_by_the_name_of_its_data_that_it_has(evidence: Layout, is_older_first: bool) -> None:
    """An older run, by other code, had the same data under another name: both would be one run by now."""
    folder = evidence.datasets / "renamed"
    shutil.copytree(evidence.datasets / "synthetic", folder)
    manifest = folder / "dataset.toml"
    manifest.write_text(manifest.read_text().replace('name = "synthetic"', 'name = "renamed"', 1))
    planned = planned_of(plan_of(evidence, methods=("constant",)).cells[0])
    job = planned.job.model_copy(update={"dataset": "renamed"})
    trees = (PlannedJob.model_validate({**dict(planned), "job": job, "image_tree": f"{n:064x}"}) for n in count())
    older = next(one for one in trees if (one.key < planned.key) is is_older_first)
    put_run(evidence, older)
    store = Store(evidence.runs)
    assert {planned.key, older.key} <= {*store.finished()}
    names = [job.dataset for job in suite_jobs(evidence, store, "stored") if job.split == planned.job.split]
    assert "renamed" not in names and len(names) == len({*names}) * names.count("synthetic")


@pytest.mark.parametrize(
    ("unpublished", "said"),
    [
        (set(), ", as published."),
        ({"a"}, ", as published; of a, of which nothing is published, as defined."),
        ({"c", "a"}, ", as published; of a, c, of which nothing is published, as defined."),
        ({"a", "b", "c"}, ", as defined, for nothing is published of these data."),
    ],
)
def test_how_metrics_are_computed_is_said_of_each_dataset(unpublished: set[str], said: str) -> None:
    cells = []
    for name in "cab":
        scored = drug_cell("mlp", {}, {})
        job = scored.cell.job.model_copy(update={"dataset": name})
        cells.append(replace(scored, cell=replace(scored.cell, job=job)))
    table = Table("three", 3, tuple(cells), 0, unpublished=frozenset(unpublished))
    first = "Metrics: mean ± sample standard deviation over the seeds that ended ok (n of them)"
    assert notes(table)[0] == first + said
    assert notes(table, "S1 F1/as-defined")[0] == f"{first}."
    # beside published data others are shown as published, too
    of_all = known_sets(table.groups)[0][0]
    assert of_all == ("S1 F1/as-defined" if len(unpublished) == 3 else "S1 F1/as-published")
