"""`harness reference`: what is committed is listed by method, by split or by key, and what is taken is told."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import reference
from harness.planning.jobs import Job
from harness.results.reference import ReferenceRow
from harness.splits.spec import SplitSpec
from tests.cli.calls import document, harness_of


def job(benchmark: str, method: str, dataset: str, variant: str = "published", split: str = "random") -> Job:
    spec = SplitSpec(strategy=split, seed=1)
    return Job(benchmark=benchmark, method=method, variant=variant, dataset=dataset, split=spec)


def row(job: Job, stale: int, hours: float, **counts: int) -> ReferenceRow:
    label = f"{job.benchmark}/{job.method}/{job.dataset}-{job.split.strategy}"
    return ReferenceRow(
        label, job, Counter({Verdict(name): count for name, count in counts.items()}), stale, hours
    )


ROWS = [
    row(job("ddi", "mlp", "drugbank"), 2, 1.25, ok=3),
    row(job("repurposing", "bnnr", "hdvd"), 0, 0.5, ok=9, timeout=1),
    row(job("repurposing", "bnnr", "hdvd", split="cluster"), 1, 10.0, ok=10),
    row(job("repurposing", "bnnr", "lrssl"), 0, 2.0, error=1),
    row(job("repurposing", "bnnr", "lrssl", "corrected"), 0, 0.04, ok=1),
]
CHANGED = "of code, images or data that changed since"
RULE = "-" * len(f"2 {CHANGED}")


pytestmark = pytest.mark.usefixtures("repository_here")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """These results are committed."""
    monkeypatch.setattr(reference, "overview", lambda _layout: ROWS)
    entries = {
        f"{number}" * 64: SimpleNamespace(planned=SimpleNamespace(job=one.job), content={"verdict": "ok"})
        for number, one in enumerate(ROWS)
    }
    monkeypatch.setattr(reference, "load_reference", lambda _layout: entries)


@pytest.mark.usefixtures("rows")
def test_results_are_summed_up_by_benchmark_and_method() -> None:
    assert harness_of("reference", "list").stdout.splitlines() == [
        "ddi",
        "  method  datasets  splits  runs  verdicts   CPU h",
        f"  ------  --------  ------  ----  --------  ------  {RULE}",
        f"  mlp            1       1     3  ok 3         1.2  2 {CHANGED}",
        "",
        "repurposing",
        "  method          datasets  splits  runs  verdicts                    CPU h",
        f"  --------------  --------  ------  ----  -------------------------  ------  {RULE}",
        f"  bnnr                   2       3    21  ok 19, error 1, timeout 1    12.5  1 {CHANGED}",
        "  bnnr/corrected         1       1     1  ok 1                          0.0",
        "",
        "25 runs, 13.8 CPU hours",
        "more: --method NAME or --dataset NAME, each split; --keys, each run",
    ]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("words", "places", "end"),
    [
        (("--method", "bnnr"), (1, 2, 3, 4), "22 runs, 12.5 CPU hours"),
        (("--dataset", "hdvd"), (1, 2), "20 runs, 10.5 CPU hours"),
        (("--method", "bnnr", "--method", "mlp", "--dataset", "lrssl"), (3, 4), "2 runs, 2.0 CPU hours"),
        (("--method", "mlp"), (0,), "3 runs, 1.2 CPU hours"),
        (("--split", "cluster"), (2,), "10 runs, 10.0 CPU hours"),
        (("--split", "cluster", "--split", "random", "--dataset", "hdvd"), (1, 2), "20 runs, 10.5 CPU hours"),
    ],
)
def test_results_that_were_named_are_shown_by_split(
    words: tuple[str, ...], places: tuple[int, ...], end: str
) -> None:
    lines = harness_of("reference", "list", *words).stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [ROWS[place].label for place in places]
    assert lines[-1] == end
    for line, one in zip(lines, (ROWS[place] for place in places), strict=False):
        seeds = f"{one.seeds:3} seed{'s' if one.seeds != 1 else ''}"
        assert seeds in line and one.verdicts in line and f"{one.cpu_hours:6.2f} CPU h" in line
        assert line.endswith(f"{one.stale} {CHANGED}") is bool(one.stale)
    told = document(harness_of("reference", "list", *words, "--json"))["rows"]
    assert told == [ROWS[place].to_json() for place in places]
    told = document(harness_of("reference", "list", *words, "--keys", "--json"))["rows"]
    assert [one["key"] for one in told] == [f"{place}" * 64 for place in places]
    assert told[0]["label"] == ROWS[places[0]].job.label and told[0]["verdict"] == "ok"
    assert told[0].items() >= ROWS[places[0]].job.model_dump(mode="json").items()
    lines = harness_of("reference", "list", *words, "--keys").stdout.splitlines()
    assert [line.split("  ") for line in lines] == [
        [f"{place}" * 12, "ok", ROWS[place].job.label] for place in places
    ]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("keys", [(), ("--keys",)])
def test_what_no_result_is_about_is_refused(keys: tuple[str, ...], layout: Layout) -> None:
    assert len(document(harness_of("reference", "list", *keys, "--json"))["rows"]) == 5
    for word, name, near in (
        ("method", "bnrr", "bnnr"),
        ("dataset", "hdvb", "hdvd"),
        ("split", "clutser", "cluster"),
    ):
        # also behind one that there is
        with pytest.raises(UsageError, match=f"no {word} is called '{name}'"):
            harness_of("reference", "list", *keys, f"--{word}", near, f"--{word}", name)
        with pytest.raises(UsageError, match=f"no {word} is called '{name}'") as error:
            harness_of("reference", "list", *keys, f"--{word}", name)
        assert f"did you mean '{near}'" in error.value.todo and error.value.where == str(layout.reference)


def test_what_was_taken_is_told_with_its_size(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files, asked = [tmp_path / "a", tmp_path / "b"], list[Any]()
    for path, size in zip(files, (1_200_000, 60_000), strict=True):
        path.write_bytes(b"x" * size)

    def save(_layout: object, store: Any, mirrors: tuple[Path, ...]) -> tuple[int, list[Path]]:
        asked.append((store.folder, mirrors))
        return 3, files

    monkeypatch.setattr(reference, "save_reference", save)
    folder = layout.reference
    assert harness_of("reference", "save").stdout == f"3 runs taken; 2 files, 1.3 MB, under {folder}\n"
    told = document(harness_of("reference", "save", "--mirror", str(tmp_path), "--json"))
    assert (told["runs"], told["files"], told["bytes"], told["folder"]) == (3, 2, 1_260_000, str(folder))
    assert asked == [(layout.runs, ()), (layout.runs, (tmp_path,))]
