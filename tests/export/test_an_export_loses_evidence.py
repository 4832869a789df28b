"""An export is whole, true, checked against its records and predictions, and the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import AuditError, CorruptData, UsageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.cli import main
from harness.data import load_manifest
from harness.data.manifest import manifest_path
from harness.export import Extent, export
from harness.export.contents import METADATA, SUMS
from harness.export.licences import may_hand_on
from harness.export.swhid import page_of
from harness.methods.card import load_method
from harness.planning.jobs import make_job
from harness.planning.plan import Plan, make_plan
from harness.results.records import RECORD_FILE
from harness.results.reference import load_reference
from harness.results.scoring import scores_path
from harness.results.store import Store
from harness.splits.spec import parse_split
from harness.status import suite_jobs
from tests.evidence import go_to
from tests.export.crates import graph_of, reference_plan, references, rewrite, run_folder
from tests.fabricate import planned_of, put_run


@pytest.fixture
def crate(evidence: Layout, made_up: Plan, tmp_path: Path) -> Path:
    export(evidence, made_up, tmp_path / "crate")
    return tmp_path / "crate"


def test_the_code_that_ran_is_the_instrument_and_the_original_what_it_is_based_on(
    evidence: Layout, made_up: Plan, tmp_path: Path
) -> None:
    planned, crate = planned_of(made_up.cells[4]), tmp_path / "crate"
    put_run(evidence, planned)
    export(evidence, made_up, crate)
    graph, card = graph_of(crate), load_method(evidence, planned.job.method)
    assert card.origin and card.paper and card.language == "r"
    tool = graph[graph[f"#run-{planned.key}"]["instrument"]["@id"]]
    assert tool["@id"] == page_of(evidence.methods / card.name)
    code = {f"repository/methods/{card.name}/main.R", "repository/methods/_sdk/r/permafrost.R"}
    assert code <= set(references(tool["hasPart"]))
    locks = set(references(tool["softwareRequirements"]))
    assert {"repository/containers/_base/debian.lock", "repository/containers/_base/tree.cpu.txt"} <= locks
    original = graph[tool["isBasedOn"]["@id"]]
    assert original["codeRepository"] == card.origin.repository and original["version"] == card.origin.commit
    assert graph[original["license"]["@id"]]["description"] == card.origin.licence
    assert tool["citation"]["@id"] == f"https://doi.org/{card.paper.doi}"
    bill = json.loads((crate / f"materials/{card.name}.cpu.cdx.json").read_text())
    assert any(part.get("licenses") for part in bill["components"])
    assert (crate / "repository" / "Dockerfile").is_file()


def test_an_instrument_is_named_by_what_git_calls_its_content(repository: Layout, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    (folder / "parts").mkdir(parents=True)
    for name, text in (("main.m", "1"), ("parts/a.m", "2"), ("parts.m", "3"), ("run.sh", "4")):
        (folder / name).write_text(text)
    (folder / "run.sh").chmod(0o755)
    for command in ("init -q", "add -A"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    tree = subprocess.run(["git", "write-tree"], cwd=folder, capture_output=True, text=True, check=True).stdout
    shutil.rmtree(folder / ".git")
    assert page_of(folder).endswith(f"swh:1:dir:{tree.strip()}")


def test_what_a_run_was_told_is_in_the_description(crate: Path, made_up: Plan) -> None:
    graph, planned = graph_of(crate), planned_of(made_up.cells[2])
    inputs = [graph[name] for name in references(graph[f"#run-{planned.key}"]["object"])]
    values = {one["name"]: one["value"] for one in inputs if one["@type"] == "PropertyValue"}
    assert values["split-seed"] == planned.job.split.seed and values["variant"] == "published"
    assert values["seed"] == planned.job.fit_seed
    for name, value in planned.job.parameters.items():
        assert values[f"parameter-{name}"] == value
    dataset = next(one for one in inputs if one["@type"] == "Dataset")
    assert dataset["identifier"] == planned.dataset_digest
    assert graph[dataset["license"]["@id"]]["description"] == "generated; no rights needed"
    assert f"data/splits/{planned.split_digest}.npy" in {one["@id"] for one in inputs}


def test_the_suite_is_the_main_entity_and_every_run_a_step_of_it(crate: Path, made_up: Plan) -> None:
    graph = graph_of(crate)
    suite = graph[graph["./"]["mainEntity"]["@id"]]
    assert suite["@id"] == "suite.json" and len(references(suite["step"])) == 2
    controlled = {references(one["object"])[0] for one in graph.values() if one["@type"] == "ControlAction"}
    keys = {planned_of(cell).key for cell in made_up.cells[:4]}
    assert controlled == {f"#run-{key}" for key in keys}
    cells = json.loads((crate / "suite.json").read_text())["cells"]
    assert [cell["verdict"] for cell in cells] == ["ok", "ok", "ok", "error", "pending", "pending"]


def test_every_reference_leads_somewhere(crate: Path) -> None:
    graph = graph_of(crate)
    outside = ("http://schema.org/", "https://w3id.org/ro/crate/", "https://w3id.org/ro/terms/")
    for entity in graph.values():
        for reference in references(list(entity.values())):
            assert reference in graph or reference.startswith(outside), reference


def test_every_file_is_described_and_summed(crate: Path) -> None:
    graph = graph_of(crate)
    files = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()}
    described = {name for name, entity in graph.items() if "File" in entity["@type"]}
    assert described == files - {METADATA, SUMS}
    assert described <= set(references(graph["./"]["hasPart"]))
    for name in described:
        assert graph[name]["sha256"] == hashlib.sha256((crate / name).read_bytes()).hexdigest()
    done = subprocess.run(["sha256sum", "--check", "--quiet", SUMS], cwd=crate, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len((crate / SUMS).read_text().splitlines()) == len(files) - 1


def test_a_failed_run_is_a_failed_action_with_its_reason(crate: Path, made_up: Plan) -> None:
    graph = graph_of(crate)
    failed = graph[f"#run-{planned_of(made_up.cells[3]).key}"]
    assert failed["actionStatus"].endswith("FailedActionStatus")
    assert failed["error"] == "error: exit code 3: no such matrix"
    assert graph[f"#run-{planned_of(made_up.cells[0]).key}"]["actionStatus"].endswith("CompletedActionStatus")


def test_the_whole_table_is_there_and_predictions_unless_they_are_not_wanted(
    evidence: Layout, made_up: Plan, crate: Path, tmp_path: Path
) -> None:
    assert json.loads((crate / "status.json").read_text())["planned"] == 6
    assert len(list(crate.rglob("predictions.npy"))) == len(list((crate / "scores").rglob("*.json"))) == 3
    small = export(evidence, made_up, tmp_path / "small", extent=Extent.WITHOUT_PREDICTIONS)
    assert small.runs == 4 and not list((tmp_path / "small").rglob("*.npy"))
    assert len(list((tmp_path / "small").rglob("log.txt"))) == 4


def test_equal_results_give_equal_bytes(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    export(evidence, made_up, tmp_path / "first.zip")
    export(evidence, made_up, tmp_path / "second.zip")
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "first.zip") as archive:
        assert archive.testzip() is None
        assert METADATA in archive.namelist()
    assert {path.name for path in tmp_path.iterdir()} == {"copy", "first.zip", "second.zip"}


def test_data_that_may_not_be_handed_on_stay_here(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    path = manifest_path(evidence, "synthetic")
    path.write_text(path.read_text().replace("generated; no rights needed", "none stated by the repository"))
    export(evidence, made_up, tmp_path / "crate")
    assert not list((tmp_path / "crate").rglob("associations.npy"))
    assert len(list((tmp_path / "crate/data/splits").iterdir())) == 2
    graph, planned = graph_of(tmp_path / "crate"), planned_of(made_up.cells[0])
    dataset = graph[f"#dataset-{planned.dataset_digest[:16]}"]
    assert graph[dataset["license"]["@id"]]["name"] == "none stated by the repository"


@pytest.mark.parametrize(
    ("statement", "free"),
    [
        ("generated; no rights needed", True),
        ("MIT, as the authors' page says", True),
        ("CC0", True),
        ("none stated by the repository", False),
        ("code of the repositories: MIT (BETA); bindings: DrugBank, CC BY-NC 4.0 for academic use", False),
        ("CC BY-NC 4.0", False),
        ("not MIT", False),
        ("", False),
    ],
)
def test_only_a_known_licence_allows_data_to_be_handed_on(layout: Layout, statement: str, free: bool) -> None:
    manifest = load_manifest(layout, "synthetic").model_copy(update={"licence": statement})
    assert may_hand_on(manifest) is free
    assert not may_hand_on(manifest.model_copy(update={"bring": "a person brings it"}))
    corpus = load_manifest(layout, "combos_corpus")
    files = [corpus.files[0], corpus.files[1].model_copy(update={"licence": statement})]
    assert may_hand_on(corpus.model_copy(update={"files": files})) is (free or not statement)


def test_scores_that_predictions_do_not_give_are_not_exported(
    evidence: Layout, made_up: Plan, tmp_path: Path
) -> None:
    key = planned_of(made_up.cells[0]).key
    rewrite(scores_path(evidence, key), lambda scores: scores["metrics"].update({"NS-AUC/as-published": 0.99}))
    for name in ("crate", "crate.zip"):
        with pytest.raises(AuditError, match="NS-AUC/as-published"):
            export(evidence, made_up, tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"copy"}


def test_nothing_is_exported_of_an_empty_store(evidence: Layout, made_up: Plan, tmp_path: Path) -> None:
    shutil.rmtree(evidence.local)
    for name in ("crate", "crate.zip"):
        with pytest.raises(UsageError, match="nothing was run"):
            export(evidence, made_up, tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"copy"}


def test_reference_results_are_packed_without_predictions(layout: Layout, tmp_path: Path) -> None:
    plan = reference_plan(layout)
    exported = export(layout, plan, tmp_path / "crate", extent=Extent.REFERENCE)
    entries = load_reference(layout)
    chosen = [entries[cell.key] for cell in plan.cells if cell.key in entries]
    assert exported.runs == len(chosen) > 0
    for entry in chosen:
        record = json.loads((run_folder(tmp_path / "crate", entry.record.key) / RECORD_FILE).read_text())
        assert record == entry.record.to_json()
    assert not list((tmp_path / "crate").rglob("*.npy"))


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
    assert len(list((tmp_path / "crate" / "runs").glob("*/*"))) == 3
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


@pytest.mark.parametrize("damage", ["a log that has grown", "no record"])
def test_no_damage_hides_a_run_from_an_export_of_all(
    damage: str, evidence: Layout, made_up: Plan, tmp_path: Path
) -> None:
    """None is counted as one that other code made; those of which nothing is known are told in their order."""
    store, keys = Store(evidence.runs), [planned_of(cell).key for cell in made_up.cells[:4]]
    damaged = sorted(keys[1:]) if damage == "no record" else keys[:1]
    name, text = ("log.txt", "reading\nfitting\ndone\nmore\n") if damage != "no record" else (RECORD_FILE, "{")
    for key in damaged:
        (store.path(key) / name).write_text(text)
    plan = make_plan(evidence, "stored", suite_jobs(evidence, store, "stored"))
    exported = export(evidence, plan, tmp_path / "crate")
    assert (exported.runs, [*exported.left_out], exported.outgrown) == (4 - len(damaged), damaged, {})


def test_a_failure_of_earlier_code_is_not_left_out_in_silence(
    evidence: Layout, made_up: Plan, tmp_path: Path
) -> None:
    store, failed = Store(evidence.runs), planned_of(made_up.cells[3])
    source = next((evidence.methods / failed.job.method).glob("*.py"))
    source.write_text(f"{source.read_text()}\nREPAIRED = 1\n")
    plan = make_plan(evidence, "stored", suite_jobs(evidence, store, "stored"))
    keys = [planned_of(cell).key for cell in made_up.cells]
    exported = export(evidence, plan, tmp_path / "crate")
    assert (exported.runs, exported.left_out) == (2, {})
    assert exported.outgrown == {keys[2]: Verdict.OK, keys[3]: Verdict.ERROR}
    # of another plan they are no part
    assert export(evidence, replace(plan, name="mine"), tmp_path / "mine").outgrown == {}


@pytest.mark.parametrize("name", ["stored", "made-up"])
def test_runs_that_are_all_damaged_are_not_told_as_none(
    name: str, evidence: Layout, made_up: Plan, tmp_path: Path
) -> None:
    for log in evidence.runs.glob("*/*/log.txt"):
        log.write_text("other\n")
    with pytest.raises(CorruptData) as refused:
        export(evidence, replace(made_up, name=name), tmp_path / "crate")
    key = planned_of(made_up.cells[0]).key[:12]
    assert refused.value.what == f"every run of '{name}' is damaged: there is nothing to export"
    assert refused.value.where == f"{evidence.runs}: {key}: a file of a run differs from its record"
    assert refused.value.todo == f"harness audit {key} tells more; run them again"


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
    index = build_index(evidence)
    rows = {row["key"]: row for row in pq.read_table(index.path).to_pylist()}
    others = {planned_of(cell).key for cell in made_up.cells[1:4]}
    assert others <= rows.keys() <= others | {key}
    assert all(rows[other]["wall_s"] == 1.5 for other in others)
    assert (key in rows and key in caplog.text) or [*index.left_out] == [key]


def test_an_export_never_overwrites(evidence: Layout, made_up: Plan, crate: Path) -> None:
    with pytest.raises(UsageError):
        export(evidence, made_up, crate)


def test_the_index_has_a_row_per_run_and_equal_bytes(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    from harness.results.index import build_index

    scores_path(evidence, planned_of(made_up.cells[1]).key).unlink()
    first = build_index(evidence).path.read_bytes()
    assert build_index(evidence, tmp_path / "again.parquet").path.read_bytes() == first
    go_to(evidence, monkeypatch)
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
    rows = pq.read_table(build_index(layout).path).to_pylist()
    assert sorted(row["split"] for row in rows) == splits


def test_an_index_of_a_suite_has_the_runs_of_this_suite_alone(
    evidence: Layout, made_up: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    go_to(evidence, monkeypatch)
    keys = {}
    for suite in ("smoke", "stored", "dti-smoke"):
        with pytest.raises(SystemExit) as left:
            main(["export", "--suite", suite, "--output", str(tmp_path / f"{suite}.parquet")])
        assert left.value.code == 0
        keys[suite] = {row["key"] for row in pq.read_table(tmp_path / f"{suite}.parquet").to_pylist()}
    stored = {planned_of(cell).key for cell in made_up.cells[:4]}
    assert keys["stored"] == stored and keys["dti-smoke"] == set()
    jobs = suite_jobs(evidence, Store(evidence.runs), "smoke")
    smoke = {cell.key for cell in make_plan(evidence, "smoke", jobs).cells}
    assert keys["smoke"] == stored & smoke != set()
