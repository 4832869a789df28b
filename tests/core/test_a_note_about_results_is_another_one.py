"""What is noted about results: findings, published datasets, the last audit, how long committed runs took."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import CorruptData, UsageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.planning.jobs import Job
from harness.results import last_audit
from harness.results.durations import reference_seconds
from harness.results.findings import Finding, all_findings, findings_on, load_findings, markdown
from harness.results.last_audit import LastAudit, digest_of_keys, git_tree, read_last_audit, write_last_audit
from harness.results.publications import published_datasets
from tests.core.factories import planned_job

FINDINGS = """
benchmark = "{name}"
[[findings]]
title = "BNNR: the scale is lost"
about = "BNNR"
methods = ["bnnr", "drrs"]
text = "It <b>divides</b> by _n_."
shown_by = ["tests/a.py::test_b", "harness show KEY"]
splits = ["cdataset random:share=0.5"]
undone_in = "the variant `corrected`"
[[findings]]
title = "Labels are read"
about = "the paper"
text = "They are."
shown_by = ["harness audit"]
"""
PAGE = """# Findings
Generated from `results/published/*/findings.toml` by `harness list findings --markdown`; a test keeps it current
and sees that every demonstration exists.

## `{first}`

### 1. BNNR: the scale is lost
About: BNNR.

It &lt;b>divides&lt;/b> by _n_.

- methods: `bnnr`, `drrs`
- shown by `tests/a.py::test_b`
- shown by `harness show KEY`
- undone in the variant `corrected`

### 2. Labels are read
About: the paper.

They are.

- shown by `harness audit`

## `{second}`

### 1. Labels are read
"""


@pytest.fixture
def here(tmp_path: Path) -> Layout:
    """A repository of nothing."""
    layout = Layout(tmp_path, tmp_path / "cache", tmp_path / "results" / "local")
    layout.published.mkdir(parents=True)
    return layout


def write(layout: Layout, benchmark: str, name: str, text: str) -> None:
    path = layout.published / benchmark / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_findings_are_read_by_benchmark_and_split(here: Layout) -> None:
    write(here, "toy", "findings.toml", FINDINGS.format(name="toy"))
    first, second = load_findings(here, "toy")
    assert (first.line, second.line) == ("BNNR: the scale is lost", "the paper: Labels are read")
    # a title that names its subject farther on does not begin with it
    titled = first.model_copy(update={"title": "the scale of BNNR is lost"})
    assert titled.line == f"{first.about}: the scale of BNNR is lost"
    assert (second.methods, second.splits, second.undone_in) == ([], [], "")
    assert load_findings(here, "other") == []
    assert findings_on(here, "toy", "cdataset random:share=0.5") == [first]
    assert findings_on(here, "toy", "cdataset random") == [] == findings_on(here, "other", "any")


def test_the_page_of_findings_reads_word_for_word(here: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.benchmarks.names", lambda: ("beta", "nothing", "toy"))
    # nobody's benchmark: what lies there is no finding
    for name in ("toy", "beta", "__pycache__", ".hidden"):
        write(here, name, "findings.toml", FINDINGS.format(name=name))
    every = all_findings(here)
    assert [*every] == ["beta", "toy"]
    assert {name: len(members) for name, members in every.items()} == {"beta": 2, "toy": 2}
    shown = markdown({"beta": every["beta"], "toy": every["toy"][1:]})
    assert (
        shown
        == PAGE.format(first="beta", second="toy")
        + "About: the paper.\n\nThey are.\n\n- shown by `harness audit`\n"
    )
    assert markdown({}) == PAGE.partition("\n##")[0]


@pytest.mark.parametrize("lost", ["title", "about", "text", "shown_by", "benchmark"])
def test_a_finding_lacks_nothing_that_it_must_have(here: Layout, lost: str) -> None:
    lines = FINDINGS.format(name="toy").splitlines(keepends=True)
    write(here, "toy", "findings.toml", "".join(line for line in lines if not line.startswith(lost)))
    with pytest.raises(UsageError, match=re.escape(lost)):
        load_findings(here, "toy")
    assert set(Finding.model_fields) == {"title", "about", "methods", "text", "shown_by", "splits", "undone_in"}


def test_published_datasets_are_those_of_all_benchmarks_under_our_names(here: Layout) -> None:
    write(here, "toy", "names.toml", 'more = 1\n[datasets]\nLetters = "letters"\nWords = "words"\n')
    write(here, "beta", "names.toml", '[datasets]\n"The letters" = "letters"\nNumbers = "numbers"\n')
    write(here, "none", "other.toml", '[datasets]\nNot = "this"\n')
    assert published_datasets(here) == {"letters", "words", "numbers"}


AUDIT = LastAudit(
    at="2026-01-02 03:04 UTC",
    tree="abc+",
    results=9,
    passed=5,
    failed=1,
    superseded=2,
    unfinished=3,
    replayed=4,
    digest="0" * 64,
)


def test_the_last_audits_of_both_sets_are_kept_beside_each_other(here: Layout) -> None:
    assert read_last_audit(here, "stored") is None
    write_last_audit(here, "stored", AUDIT)
    other = AUDIT.model_copy(update={"results": 10})
    write_last_audit(here, "reference", other)
    assert (last_audit.STORED, last_audit.REFERENCE) == ("stored", "reference")
    assert read_last_audit(here, "stored") == AUDIT and read_last_audit(here, "reference") == other
    content = json.loads((here.local / "audit.json").read_text())
    assert set(content) == {"stored", "reference"} and set(content["stored"]) == {*AUDIT.model_dump(), "seal"}


@pytest.mark.parametrize("content", ["[]", "{", "null", '"text"', '{"stored": []}', '{"stored": {}}', ""])
def test_a_note_that_is_none_is_read_as_none_and_written_over(here: Layout, content: str) -> None:
    here.local.mkdir(parents=True)
    (here.local / "audit.json").write_text(content)
    assert read_last_audit(here, "stored") is None
    write_last_audit(here, "stored", AUDIT)
    assert read_last_audit(here, "stored") == AUDIT


@pytest.mark.parametrize("field", [*AUDIT.model_dump(), "seal"])
def test_a_last_audit_that_somebody_edited_is_none(here: Layout, field: str) -> None:
    write_last_audit(here, "stored", AUDIT)
    path = here.local / "audit.json"
    content: dict[str, Any] = json.loads(path.read_text())
    value = content["stored"][field]
    for forged in ({field: value + 1 if isinstance(value, int) else value + "0"}, {field: None}):
        path.write_text(json.dumps({"stored": {**content["stored"], **forged}}))
        assert read_last_audit(here, "stored") is None
    # that of one set says nothing of the other
    path.write_text(json.dumps({"reference": content["stored"]}))
    assert read_last_audit(here, "reference") is None
    path.write_text(json.dumps(content))
    assert read_last_audit(here, "stored") == AUDIT


def test_a_set_of_keys_has_one_digest_in_any_order() -> None:
    assert digest_of_keys(["b", "a"]) == digest_of_keys(iter("ab")) == digest_of(["a", "b"])
    assert digest_of_keys(["a"]) != digest_of_keys(["a", "b"])


def test_the_time_of_an_audit_is_utc_to_the_minute(here: Layout) -> None:
    assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d [0-2]\d:[0-5]\d UTC", last_audit.now())
    assert git_tree(here.root) == "", "git knows nothing of it"


def test_the_tree_of_an_audit_is_gits_with_a_mark_where_files_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    class Identity:
        directory = "swh:1:dir:0123456789"
        changed: tuple[str, ...] = ()

    monkeypatch.setattr(last_audit, "identify", lambda root: Identity)
    assert git_tree(Path()) == "0123456789"
    Identity.changed = ("a file",)
    assert git_tree(Path()) == "0123456789+"


def line_of(method: str, variant: str, dataset: str, **resources: float | None) -> dict[str, Any]:
    job = {"method": method, "variant": variant, "dataset": dataset}
    return {"record": {"planned": {"job": job}, "resources": resources}, "scores": None}


def commit(layout: Layout, place: str, *lines: object) -> Path:
    path = layout.reference / f"{place}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(json.dumps(line) for line in lines).encode()))
    return path


def job(method: str, variant: str = "published", dataset: str = "synthetic", accelerator: str = "cpu") -> Job:
    changed = {"method": method, "variant": variant, "dataset": dataset, "accelerator": accelerator}
    return planned_job().job.model_copy(update=changed)


def test_hours_are_estimated_from_the_median_of_committed_runs(here: Layout) -> None:
    """Of the same method, variant and dataset, on any split, on the CPU; wall time where no other is known."""
    commit(
        here,
        "repurposing/one/synthetic-random",
        # too short to be measured, and a run as any
        line_of("one", "published", "synthetic", cpu_s=0.0, wall_s=99.0),
        line_of("one", "published", "synthetic", cpu_s=30.0),
        line_of("one", "published", "other", cpu_s=7.0),
    )
    commit(
        here, "repurposing/one/synthetic-other", line_of("one", "published", "synthetic", cpu_s=None, wall_s=20.5)
    )
    commit(here, "repurposing/one-fast/synthetic-random", line_of("one", "fast", "synthetic", cpu_s=1, wall_s=5))
    commit(
        here, "repurposing/two/synthetic-random", line_of("two", "published", "synthetic", cpu_s=None, peak=3.0)
    )
    commit(here, "repurposing/three/synthetic-random", line_of("three", "published", "synthetic", cpu_s=3.0))
    commit(here, "ddi/one/synthetic-random", line_of("one", "published", "synthetic", cpu_s=1000.0))
    asked = [job("one"), job("one", "fast"), job("two"), job("three", accelerator="cuda"), job("four")]
    found = reference_seconds(here, asked)
    assert found == {("one", "published", "synthetic"): 20.5, ("one", "fast", "synthetic"): 1.0}
    assert all(type(value) is float for value in found.values())
    assert reference_seconds(here, [job("one", dataset="other")]) == {("one", "published", "other"): 7.0}
    assert reference_seconds(here, []) == {}


@pytest.mark.parametrize(
    "line",
    [
        {},
        [],
        None,
        {"record": {}},
        {"record": {"planned": {}, "resources": {}}},
        line_of("one", "published", "synthetic", cpu_s="soon"),  # type: ignore[arg-type]
        {"record": {"planned": {"job": {"method": "one", "variant": "published", "dataset": "synthetic"}}}},
        {"record": {**line_of("one", "published", "synthetic")["record"], "resources": []}},
        *(line_of("one", "published", "synthetic", cpu_s=float(text)) for text in ("nan", "inf")),
    ],
)
def test_a_committed_line_without_sense_is_named_by_its_file(here: Layout, line: object) -> None:
    path = commit(here, "repurposing/one/synthetic-random", line)
    refused_with_file(here, path)


DAMAGED = {"empty": b"", "plain": b"no gzip", "cut": gzip.compress(b"{}")[:-9], "no JSON": gzip.compress(b"{")}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_committed_file_that_is_damaged_is_named(here: Layout, content: bytes) -> None:
    path = commit(here, "repurposing/one/synthetic-random")
    path.write_bytes(content)
    if not content:
        assert reference_seconds(here, [job("one")]) == {}
        return
    refused_with_file(here, path)


def refused_with_file(layout: Layout, path: Path) -> None:
    with pytest.raises(CorruptData) as found:
        reference_seconds(layout, [job("one")])
    assert (found.value.what, found.value.where, found.value.todo) == (
        "a file of reference results can't be read",
        str(path),
        "restore it (git checkout)",
    )
