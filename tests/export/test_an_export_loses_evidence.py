"""An export is a valid Process Run Crate, whole, checked against its records, and the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import main
from harness.data import load_manifest
from harness.export import export
from harness.export.crate import METADATA, PROFILE
from harness.export.pack import SUMS
from harness.methods.card import load_method
from harness.planning.jobs import make_job
from harness.planning.plan import Plan, make_plan
from harness.results.records import RECORD_FILE
from harness.results.scoring import scores_path
from harness.results.store import Store
from harness.splits.spec import parse_split
from tests.fabricate import planned_of, put_run


@pytest.fixture
def crate(evidence: Layout, made_up: Plan, tmp_path: Path) -> Path:
    export(evidence, made_up, tmp_path / "crate")
    return tmp_path / "crate"


def graph_of(crate: Path) -> dict[str, dict[str, Any]]:
    entities = json.loads((crate / METADATA).read_text())["@graph"]
    found = {entity["@id"]: entity for entity in entities}
    assert len(found) == len(entities), "an @id is used twice"
    return found


def references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [found for entry in value for found in references(entry)]
    if isinstance(value, dict):
        return (
            [value["@id"]]
            if set(value) == {"@id"}
            else [one for entry in value.values() for one in references(entry)]
        )
    return []


def test_the_crate_has_what_its_profile_requires(crate: Path) -> None:
    graph = graph_of(crate)
    descriptor, root = graph[METADATA], graph["./"]
    assert descriptor["@type"] == "CreativeWork" and descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"]["@id"].startswith("https://w3id.org/ro/crate/1.1")
    assert root["@type"] == "Dataset"
    assert {"name", "description", "datePublished", "license", "hasPart", "mentions"} <= root.keys()
    assert root["conformsTo"] == {"@id": PROFILE} and graph[PROFILE]["@type"] == "CreativeWork"
    assert (
        "https://w3id.org/ro/terms/workflow-run/context" in json.loads((crate / METADATA).read_text())["@context"]
    )
    actions = [entity for entity in graph.values() if entity["@type"] == "CreateAction"]
    assert len(actions) == 4 and {one["@id"] for one in actions} == set(references(root["mentions"]))
    for action in actions:
        instrument = graph[action["instrument"]["@id"]]
        assert instrument["@type"] == "SoftwareApplication"
        assert {"startTime", "endTime", "object", "result", "containerImage"} <= action.keys()
        assert graph[action["containerImage"]["@id"]]["@type"] == "ContainerImage"


def test_every_reference_leads_somewhere(crate: Path) -> None:
    graph = graph_of(crate)
    outside = ("http://schema.org/", "https://w3id.org/ro/crate/", "https://w3id.org/ro/terms/")
    for entity in graph.values():
        for reference in references(list(entity.values())):
            assert reference in graph or reference.startswith(outside), reference


def test_every_file_is_described_and_summed(crate: Path) -> None:
    graph = graph_of(crate)
    files = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()}
    described = {name for name, entity in graph.items() if entity["@type"] == "File"}
    assert described == files - {METADATA, SUMS} == set(references(graph["./"]["hasPart"]))
    for name in described:
        assert graph[name]["sha256"] == hashlib.sha256((crate / name).read_bytes()).hexdigest()
    done = subprocess.run(["sha256sum", "--check", "--quiet", SUMS], cwd=crate, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len((crate / SUMS).read_text().splitlines()) == len(files) - 1


def test_a_failed_run_is_a_failed_action_with_its_reason(crate: Path, made_up: Plan) -> None:
    graph = graph_of(crate)
    failed = graph[f"#run-{planned_of(made_up.cells[3]).key}"]
    assert failed["actionStatus"]["@id"].endswith("FailedActionStatus")
    assert failed["error"] == "exit code 3: no such matrix"
    assert graph[f"#run-{planned_of(made_up.cells[0]).key}"]["actionStatus"]["@id"].endswith(
        "CompletedActionStatus"
    )


def test_the_whole_table_is_there_and_predictions_only_when_asked_for(
    evidence: Layout, made_up: Plan, crate: Path, tmp_path: Path
) -> None:
    assert json.loads((crate / "status.json").read_text())["planned"] == 6
    assert not list(crate.rglob("*.npy"))
    assert len(list((crate / "scores").iterdir())) == 3
    assert export(evidence, made_up, tmp_path / "large", with_predictions=True).runs == 4
    assert len(list((tmp_path / "large").rglob("predictions.npy"))) == 3


def test_equal_results_give_equal_bytes(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    export(evidence, made_up, tmp_path / "first.zip", with_predictions=True)
    export(evidence, made_up, tmp_path / "second.zip", with_predictions=True)
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "first.zip") as archive:
        assert archive.testzip() is None
        assert METADATA in archive.namelist()


def test_evidence_that_fails_its_record_is_left_out_and_the_rest_exported(
    evidence: Layout, made_up: Plan, tmp_path: Path
) -> None:
    key = planned_of(made_up.cells[0]).key
    log = Store(evidence.runs).path(key) / "log.txt"
    log.write_text(log.read_text().replace("done", "Done"))
    export(evidence, made_up, tmp_path / "crate.zip")
    exported = export(evidence, made_up, tmp_path / "crate")
    assert exported.runs == 3 and exported.left_out == {key: "a file of a run differs from its record"}
    assert key in (tmp_path / "crate" / "README.md").read_text()
    assert len(list((tmp_path / "crate" / "runs").iterdir())) == 3
    assert f"#run-{key}" not in graph_of(tmp_path / "crate")
    with zipfile.ZipFile(tmp_path / "crate.zip") as archive:
        assert not [name for name in archive.namelist() if key in name]


def test_a_person_is_told_what_was_left_out(
    evidence: Layout,
    made_up: Plan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = planned_of(made_up.cells[0]).key
    (Store(evidence.runs).path(key) / "log.txt").write_text("reading\nfitting\nDone\n")
    monkeypatch.chdir(evidence.root)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(evidence.local))
    with pytest.raises(SystemExit) as left:
        main(["export", "--suite", "stored", "--output", str(tmp_path / "crate")])
    assert left.value.code == 4 and f"left out {key[:12]}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("resources", {"wall_s": 1.0, "cpu_s": 9e17, "peak_bytes": 900000000000000001}),
        ("resources", {"wall_s": "long", "cpu_s": [1], "peak_bytes": 10**30}),
        ("started", 7),
        ("planned", {}),
        ("planned", None),
    ],
)
def test_no_record_costs_the_others_their_index(
    evidence: Layout, made_up: Plan, field: str, value: object, caplog: pytest.LogCaptureFixture
) -> None:
    import pyarrow.parquet as pq

    from harness.results.index import build_index

    key = planned_of(made_up.cells[0]).key
    path = Store(evidence.runs).path(key) / RECORD_FILE
    content = {**json.loads(path.read_text()), field: value}
    if field == "planned" and value == {}:
        content[field] = {**json.loads(path.read_text())["planned"], "job": {"seed": 10**30}}
    content["digest"] = digest_of({name: told for name, told in content.items() if name != "digest"})
    path.write_text(json.dumps(content))
    rows = {row["key"]: row for row in pq.read_table(build_index(evidence)).to_pylist()}
    others = {planned_of(cell).key for cell in made_up.cells[1:4]}
    assert others <= rows.keys() <= others | {key}
    assert all(rows[other]["wall_s"] == 1.5 for other in others)
    assert key in caplog.text


def test_an_export_never_overwrites(evidence: Layout, made_up: Plan, crate: Path) -> None:
    with pytest.raises(UsageError):
        export(evidence, made_up, crate)


def test_the_index_has_a_row_per_run_and_equal_bytes(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    from harness.results.index import build_index

    scores_path(evidence, planned_of(made_up.cells[1]).key).unlink()
    first = build_index(evidence).read_bytes()
    assert build_index(evidence, tmp_path / "again.parquet").read_bytes() == first
    monkeypatch.chdir(evidence.root)
    monkeypatch.setenv("PERMAFROST_CACHE", str(evidence.cache))
    monkeypatch.setenv("PERMAFROST_RESULTS", str(evidence.local))
    with pytest.raises(SystemExit) as left:
        main(["export", "--output", str(tmp_path / "third.parquet")])
    assert left.value.code == 0
    rows = pq.read_table(tmp_path / "third.parquet").to_pylist()
    assert {row["key"] for row in rows} == {planned_of(cell).key for cell in made_up.cells[:4]}
    assert {(row["upstream"], row["accelerator"]) for row in rows} == {("", "cpu")}
    scored = {row["key"]: row["NS-AUC/as-published"] for row in rows}
    assert sum(value is not None for value in scored.values()) == 2
    assert sorted(row["verdict"] for row in rows) == [Verdict.ERROR, Verdict.OK, Verdict.OK, Verdict.OK]


def test_the_index_tells_splits_of_one_strategy_apart(layout: Layout) -> None:
    import pyarrow.parquet as pq

    from harness.results.index import build_index

    card, data = load_method(layout, "majority_type"), load_manifest(layout, "synthetic_ddi")
    splits = ["cluster:gamma=0.5", "cluster:gamma=0.7"]
    for cell in make_plan(layout, "two", [make_job(card, data, parse_split(one, 1)) for one in splits]).cells:
        put_run(layout, planned_of(cell), verdict=Verdict.ERROR)
    rows = pq.read_table(build_index(layout)).to_pylist()
    assert sorted(row["split"] for row in rows) == splits
