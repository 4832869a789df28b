"""Whatever is changed in a crate is found by its verification, however well the change is covered up.

The forger here makes every checksum, size and digest of the crate true again after each change.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import api, benchmarks
from harness.api.repository import Repository
from harness.audit.steps import Step
from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.cli import main
from harness.data.arrays import read
from harness.data.manifest import manifest_path
from harness.export import Extent, Profile, export
from harness.export.contents import METADATA, SUITE, SUMS
from harness.export.integrity import check_sums
from harness.export.verdicts import to_json, to_text
from harness.export.verify import Verification, verify
from harness.planning.plan import Plan
from harness.results.records import RECORD_FILE
from tests.export.crates import graph_of, reference_plan, replace_file, rewrite, run_folder, seal
from tests.fabricate import plan_of

Change = Callable[[Path, list[str]], None]


def failures(verification: Verification) -> str:
    """All that failed, in words."""
    return "\n".join(
        f"{step.name}: {step.what}"
        for audit in verification.every
        for step in audit.steps
        if str(step.checked) == "FAILED"
    )


_LOCKS = (("_base", "debian.lock"), ("_python", "debian.lock"), ("_numpy", "wheels.cpu.lock"))
_SCORES = (
    "ok scores: the run that they are of",
    "ok scores: the files that they are of",
    "ok scorer: its modules in the crate",
    "ok scores: 18 metrics computed again, with the labels in the crate",
)


def _step(step: Step) -> str:
    return f"{step.checked} {step.name}: {step.what}"


def _environment(name: str, lock: str) -> list[str]:
    return [
        f"ok lock {name}/{lock}: sha256 against containers/{name}/tree.toml",
        f"ok parent of {name}: the tree it was built on",
        f"ok tree {name}: the listing beside it has this digest",
    ]


def test_a_true_crate_passes_with_no_result_and_no_cache(whole: Path, empty: Layout, keys: list[str]) -> None:
    verification = verify(empty, whole)
    assert not verification.failed, failures(verification)
    assert to_json(verification)["runs"] == {"ok": 4, "FAILED": 0, "not checked": 0}
    assert verification.without_run == 2
    assert "4 runs: 4 ok" in to_text(verification)
    assert [_step(step) for step in verification.crate.steps] == [
        f"ok files: {len((whole / SUMS).read_text().splitlines())} files against SHA256SUMS",
        "ok suite: 6 planned cells",
        "not checked plan: 'made-up' is no suite of this repository: who packed it chose its runs",
        *(f"ok {name}: follows from the other files" for name in ("README.md", "status.json", "status.md")),
        "ok materials/als_wr.cpu.cdx.json: follows from the other files",
        "ok materials/constant.cpu.cdx.json: follows from the other files",
        "ok description: every entity follows from the other files",
    ]
    for audit, key in zip(verification.runs, keys, strict=True):
        record = json.loads((run_folder(whole, key) / RECORD_FILE).read_text())
        files = [f"ok {name}: sha256 of {one['bytes']:,} bytes" for name, one in sorted(record["files"].items())]
        ended = record["verdict"] == "ok"
        assert audit.key == key and [_step(step) for step in audit.steps] == [
            "ok record: digest, schema, and key recomputed from its parts",
            "ok verdict: the suite names that of the record",
            *files,
            *(line for name, lock in _LOCKS for line in _environment(name, lock)),
            "ok code: the image tree, from packed code and locks",
            "ok job: what the container was told is what the key says",
            "ok seed: the seed the container was told",
            *(_SCORES if ended else ()),
        ]
    assert not empty.cache.exists() and not empty.local.exists(), "a verification looks at the crate alone"


def test_a_packed_crate_is_verified_as_its_folder_is(
    fabricated: Layout, empty: Layout, tmp_path: Path, keys: list[str]
) -> None:
    export(fabricated, plan_of(fabricated), tmp_path / "crate.zip")
    assert not verify(empty, tmp_path / "crate.zip").failed
    with zipfile.ZipFile(tmp_path / "crate.zip") as archive:
        archive.extractall(tmp_path / "crate")
    replace_file(tmp_path / "crate", keys[0], "log.txt", b"nothing happened\n")
    with zipfile.ZipFile(tmp_path / "changed.zip", "w") as archive:
        for path in (tmp_path / "crate").rglob("*"):
            archive.write(path, path.relative_to(tmp_path / "crate"))
    assert "its checksum differs" in failures(verify(empty, tmp_path / "changed.zip"))


def change_prediction(crate: Path, keys: list[str]) -> None:
    values = np.load(run_folder(crate, keys[0]) / "predictions.npy")
    values[:, 0] += 5
    stream = io.BytesIO()
    np.save(stream, values)
    replace_file(crate, keys[0], "predictions.npy", stream.getvalue())


def change_score(crate: Path, keys: list[str]) -> None:
    rewrite(score_path(crate, keys[0]), lambda scores: scores["metrics"].update({"NS-AUC/as-published": 0.97}))


def hide_prediction(crate: Path, keys: list[str]) -> None:
    """The scores name the changed predictions."""
    change_prediction(crate, keys)
    record = json.loads((run_folder(crate, keys[0]) / RECORD_FILE).read_text())
    sha256 = record["files"]["predictions.npy"]["sha256"]
    rewrite(score_path(crate, keys[0]), lambda scores: scores["evidence"].update({"predictions.npy": sha256}))


def relabel(crate: Path, keys: list[str]) -> None:
    rewrite(
        run_folder(crate, keys[3]) / RECORD_FILE,
        lambda record: record.update(verdict="timeout", reason="stopped at its limit"),
    )


def change_seed(crate: Path, keys: list[str]) -> None:
    job = json.loads((run_folder(crate, keys[0]) / "job.json").read_text())
    replace_file(crate, keys[0], "job.json", json.dumps({**job, "seed": 1}).encode())


def change_key(crate: Path, keys: list[str]) -> None:
    rewrite(
        run_folder(crate, keys[0]) / RECORD_FILE,
        lambda record: record["planned"]["job"]["parameters"].update(score=0.5),
    )


def change_code(crate: Path, keys: list[str]) -> None:
    path = crate / "repository/methods/constant/main.py"
    path.write_text(path.read_text() + "\nprint(1)\n")


def change_sdk(crate: Path, keys: list[str]) -> None:
    path = crate / "repository/methods/_sdk/python/permafrost_sdk.py"
    path.write_text(path.read_text() + "\nprint(1)\n")


def change_lock(crate: Path, keys: list[str]) -> None:
    path = crate / "repository/containers/_base/debian.lock"
    path.write_text(path.read_text() + "\n")


def change_listing(crate: Path, keys: list[str]) -> None:
    path = crate / "repository/containers/_base/tree.cpu.txt"
    path.write_text(path.read_text().replace("0", "1", 1))


def change_scorer(crate: Path, keys: list[str]) -> None:
    path = crate / "repository/harness/benchmarks/measures.py"
    path.write_text(path.read_text() + "\nprint(1)\n")


def change_labels(crate: Path, keys: list[str]) -> None:
    path = next(crate.glob("data/datasets/*/associations.npy"))
    labels = np.load(path)
    labels[0, :] = -labels[0, :]
    np.save(path, labels)


def hide_labels(crate: Path, keys: list[str]) -> None:
    """The changed labels carry their own digest."""
    change_labels(crate, keys)
    folder = next(crate.glob("data/datasets/*"))
    with pytest.raises(CorruptData) as refused:
        read(folder, "synthetic", benchmarks.get("repurposing").dataset)
    found = re.search(r"digest is ([0-9a-f]{64})", refused.value.where)
    assert found
    content = json.loads((folder / "names.json").read_text())
    (folder / "names.json").write_text(json.dumps({**content, "digest": found[1]}))


def change_split(crate: Path, keys: list[str]) -> None:
    path = min(crate.glob("data/splits/*.npy"))
    folds = np.load(path)
    folds[0], folds[1] = folds[1].copy(), folds[0].copy()
    np.save(path, folds)


def remove_run(crate: Path, keys: list[str]) -> None:
    shutil.rmtree(run_folder(crate, keys[3]))


def remove_good_run(crate: Path, keys: list[str]) -> None:
    shutil.rmtree(run_folder(crate, keys[0]))


def lose_answer(crate: Path, keys: list[str]) -> None:
    """Those of the other runs are still there, and described."""
    (run_folder(crate, keys[0]) / "predictions.npy").unlink()


def forget_run(crate: Path, keys: list[str]) -> None:
    """The suite says that it was never run."""
    shutil.rmtree(run_folder(crate, keys[3]))
    rewrite(crate / SUITE, lambda suite: suite["cells"][3].update(verdict="pending", reason=""))


def strike_cell(crate: Path, keys: list[str]) -> None:
    """The suite says that it was never planned, but its run is there."""
    rewrite(crate / SUITE, lambda suite: suite["cells"].pop(3))


def swap_verdict(crate: Path, keys: list[str]) -> None:
    rewrite(crate / SUITE, lambda suite: suite["cells"][3].update(verdict="ok"))


def claim_run(crate: Path, keys: list[str]) -> None:
    rewrite(crate / SUITE, lambda suite: suite["cells"][4].update(verdict="error", reason="it failed"))


def change_status(crate: Path, keys: list[str]) -> None:
    path = crate / "status.json"
    path.write_text(path.read_text().replace('"mean": 0.', '"mean": 1.'))


def change_readme(crate: Path, keys: list[str]) -> None:
    (crate / "README.md").write_text("All is well.\n")


def add_file(crate: Path, keys: list[str]) -> None:
    (run_folder(crate, keys[0]) / "more.txt").write_text("more")


def add_file_to_failure(crate: Path, keys: list[str]) -> None:
    (run_folder(crate, keys[3]) / "more.txt").write_text("more")


def add_run(crate: Path, keys: list[str]) -> None:
    shutil.copytree(run_folder(crate, keys[0]), run_folder(crate, "f" * 64))


def remove_scores(crate: Path, keys: list[str]) -> None:
    score_path(crate, keys[0]).unlink()


def score_failure(crate: Path, keys: list[str]) -> None:
    score_path(crate, keys[3]).parent.mkdir(exist_ok=True)
    shutil.copyfile(score_path(crate, keys[0]), score_path(crate, keys[3]))


def rename_scores(crate: Path, keys: list[str]) -> None:
    """Every value is right: they only say that they are of another run."""
    rewrite(score_path(crate, keys[0]), lambda scores: scores.update(key=keys[1]))


def in_description(name: str, field: str, value: Any) -> Change:
    def change(crate: Path, keys: list[str]) -> None:
        def put(document: Any) -> None:
            entities = [one for one in document["@graph"] if one["@id"].endswith(name.format(*keys))]
            assert entities, name
            entities[0][field] = value

        rewrite(crate / METADATA, put)

    return change


def drop_entity(crate: Path, keys: list[str]) -> None:
    rewrite(crate / METADATA, lambda document: document["@graph"].pop(5))


def add_entity(crate: Path, keys: list[str]) -> None:
    more = {"@id": "#more", "@type": "PropertyValue", "name": "NS-AUC", "value": 1.0}
    rewrite(crate / METADATA, lambda document: document["@graph"].append(more))


def add_twin(crate: Path, keys: list[str]) -> None:
    """Of two entities with one name, readers may take the first: it says something else."""

    def put(document: Any) -> None:
        root = next(one for one in document["@graph"] if one["@id"] == "./")
        document["@graph"].insert(0, {**root, "license": {"@id": "https://spdx.org/licenses/MIT"}})

    rewrite(crate / METADATA, put)


def add_beside_graph(crate: Path, keys: list[str]) -> None:
    rewrite(crate / METADATA, lambda document: document.update({"@included": [{"@id": "#more"}]}))


def plan_twice(crate: Path, keys: list[str]) -> None:
    """A plan would refuse it, so that nothing could be made again, and README say anything."""
    rewrite(crate / SUITE, lambda suite: suite["cells"].append(suite["cells"][0]))
    change_readme(crate, keys)


def change_context(crate: Path, keys: list[str]) -> None:
    rewrite(crate / METADATA, lambda document: document["@context"].append({"value": "http://schema.org/name"}))


def score_path(crate: Path, key: str) -> Path:
    return crate / "scores" / key[:2] / f"{key}.json"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (change_prediction, "scores: the files that they are of"),
        (hide_prediction, "not what the predictions give"),
        (change_score, "not what the predictions give: metric NS-AUC/as-published"),
        (relabel, "verdict: the suite names that of the record"),
        (change_seed, "seed: the seed the container was told"),
        (change_key, "a record lies under another job's key"),
        (change_code, "code: the image tree"),
        (change_sdk, "code: the image tree"),
        (change_lock, "has locks that changed"),
        (change_listing, "the listing beside it is another"),
        (change_scorer, "scorer: its modules in the crate"),
        (change_labels, "arrays of dataset 'synthetic' were changed"),
        (hide_labels, "the dataset is not the one of the run"),
        (change_split, "the split is not the one of the run"),
        (remove_run, "suite: 'error' without a run"),
        (remove_good_run, "suite: 'ok' without a run"),
        (lose_answer, "predictions.npy: the file is missing"),
        (forget_run, "description: "),
        (strike_cell, "suite: a run that the suite does not plan"),
        (swap_verdict, "verdict: the suite names that of the record"),
        (claim_run, "suite: 'error' without a run"),
        (change_status, "status.json: not what these give"),
        (change_readme, "README.md: not what these give"),
        (add_file, "a file that the record does not name: more.txt"),
        (add_file_to_failure, "a file that the record does not name: more.txt"),
        (plan_twice, "suite: a run is planned twice"),
        (add_run, "a run that the suite does not plan"),
        (remove_scores, "scores: there are none"),
        (score_failure, "a run that ended as 'error' has scores"),
        (rename_scores, "scores: the run that they are of"),
        (in_description("run-{0}-score-NS-AUC-as-published", "value", 0.97), "score-NS-AUC-as-published: value"),
        (in_description("run-{0}-wall_s", "value", 0.1), "wall_s: value"),
        (in_description("run-{3}", "actionStatus", "http://schema.org/CompletedActionStatus"), "actionStatus"),
        (in_description("run-{3}", "error", "for want of memory"), ": error"),
        (in_description("constant-parameter-score", "workExample", []), "constant-parameter-score: workExample"),
        (in_description("./", "license", {"@id": "https://spdx.org/licenses/MIT"}), "./: license"),
        (in_description("constant-dataset", "name", "x"), "constant-dataset: name"),
        (drop_entity, "description: "),
        (add_entity, "#more: no such entity"),
        (in_description("./", "keywords", "audited"), "./: keywords"),
        (in_description("run-{3}", "keywords", "audited"), ": keywords"),
        (add_twin, "an entity that stands twice"),
        (add_beside_graph, "another context"),
        (change_context, "another context"),
    ],
)
def test_a_forgery_whose_checksums_are_true_is_found(
    crate: Path, empty: Layout, keys: list[str], change: Change, told: str
) -> None:
    change(crate, keys)
    seal(crate)
    verification = verify(empty, crate)
    assert verification.failed and told in failures(verification), failures(verification)
    assert "its checksum differs" not in failures(verification), "the forger forgot a checksum"
    # and nothing else is said to be wrong
    found, expected = _named(verification, keys), _forgeries().get(change.__name__)
    assert len(found) == 1 if expected is None else found == expected


def _forgeries() -> dict[str, list[str]]:
    """All that each forgery breaks, in words, by its name."""
    sections = Path(__file__).with_name("forgeries.txt").read_text().removeprefix("## ").split("\n## ")
    return {name: rest.split("\n") for name, _, rest in (one.strip().partition("\n") for one in sections)}


def _named(verification: Verification, keys: list[str]) -> list[str]:
    """What failed and what was not checked, with names in place of digests and scores."""
    steps = [step for audit in verification.every for step in audit.steps]
    lines = [f"{step.name}: {step.what}" for step in steps if str(step.checked) == "FAILED"]
    lines += [
        f"not checked  {step.name}: {step.what}"
        for step in steps
        if str(step.checked) == "not checked" and step.name != "plan"
    ]
    text = "\n".join(lines)
    for number, key in enumerate(keys):
        text = text.replace(f"{key[:2]}/{key}", f"{{{number}}}").replace(key, f"{{{number}}}")
    for pattern, name in (
        (r"swh:1:dir:[0-9a-f]{40}", "{code}"),
        (r"f{64}", "{stranger}"),
        (r"is \d\.\d+", "is {number}"),
        (r"-[0-9a-f]{16}\b", "-{value}"),
    ):
        text = re.sub(pattern, name, text)
    return text.split("\n")


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff", b"[]", b"{}", b'{"@graph": 1}', b'{"@graph": [[]]}', b'{"@graph": [{"@id": []}]}']
)
def test_a_description_that_is_none_is_told_beside_all_else(crate: Path, empty: Layout, text: bytes) -> None:
    (crate / METADATA).write_bytes(text)
    verification = verify(empty, crate)
    assert verification.failed and "description: it can't be read" in failures(verification)


def test_a_changed_byte_of_any_file_is_found(crate: Path, empty: Layout) -> None:
    """By the list of checksums alone, whatever else would notice; one of each kind by the whole verification."""
    verified = set[tuple[str, str]]()
    for path in sorted(path for path in crate.rglob("*") if path.is_file() and path.name != SUMS):
        name, content = path.relative_to(crate), path.read_bytes()
        path.write_bytes(content + b" ")
        (step,) = check_sums(crate)
        assert str(step.checked) == "FAILED" and str(step.what) == f"its checksum differs: {name}"
        if (kind := (name.parts[0], path.suffix)) not in verified:
            verified.add(kind)
            try:
                found = failures(verify(empty, crate))
            except CorruptData as error:
                found = str(error)
            assert found, path
        path.write_bytes(content)
    assert len(verified) > 10


def test_a_link_in_a_crate_is_no_file(crate: Path, empty: Layout) -> None:
    (crate / "README.md").unlink()
    (crate / "README.md").symlink_to("/etc/hostname")
    assert "no file or folder: README.md" in failures(verify(empty, crate))


@pytest.mark.parametrize("name", ["../outside", "/outside", "a/../../outside"])
def test_a_packed_crate_can_not_leave_its_folder(name: str, empty: Layout, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "crate.zip", "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(CorruptData, match="leads out of the crate"):
        verify(empty, tmp_path / "crate.zip")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"name": 1}'])
def test_what_is_no_crate_is_named(content: bytes, crate: Path, empty: Layout) -> None:
    (crate / SUITE).write_bytes(content)
    with pytest.raises(CorruptData, match="no crate of Permafrost"):
        verify(empty, crate)
    with pytest.raises(UsageError, match="there is no crate"):
        verify(empty, crate / "README.md")


def test_labels_that_may_not_lie_in_a_crate_are_taken_from_here(
    evidence: Layout, made_up: Plan, empty: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = manifest_path(evidence, "synthetic")
    path.write_text(path.read_text().replace("generated; no rights needed", "none stated by the repository"))
    export(evidence, made_up, tmp_path / "crate")
    verification = verify(empty, tmp_path / "crate")
    assert not verification.failed, failures(verification)
    assert "with the labels of this machine" in to_text(verification, everything=True)
    looked: list[Sequence[Path]] = []
    monkeypatch.setattr("harness.export.scores.is_here", lambda *places: looked.append(places[-1]))
    text = to_text(verify(empty, tmp_path / "crate", mirrors=[tmp_path / "mirror"]))
    assert {*looked} == {(tmp_path / "mirror",)}
    assert "may not lie in a crate, and are not here" in text
    assert "4 runs: 1 ok, 3 not checked" in text


def test_a_crate_without_predictions_does_not_pass_for_a_whole_one(
    evidence: Layout, made_up: Plan, empty: Layout, tmp_path: Path
) -> None:
    export(evidence, made_up, tmp_path / "crate", extent=Extent.WITHOUT_PREDICTIONS)
    verification = verify(empty, tmp_path / "crate")
    assert not verification.failed, failures(verification)
    assert to_json(verification)["runs"] == {"ok": 1, "FAILED": 0, "not checked": 3}
    rewrite(tmp_path / "crate" / SUITE, lambda suite: suite.update(extent=str(Extent.WHOLE)))
    seal(tmp_path / "crate")
    assert "predictions.npy: the file is missing" in failures(verify(empty, tmp_path / "crate"))


def test_a_reference_crate_is_verified_but_for_its_predictions(
    layout: Layout, empty: Layout, tmp_path: Path
) -> None:
    count = export(layout, reference_plan(layout), tmp_path / "crate", extent=Extent.REFERENCE).runs
    verification = verify(empty, tmp_path / "crate")
    assert not verification.failed, failures(verification)
    assert to_json(verification)["runs"] == {"ok": 0, "FAILED": 0, "not checked": count}
    key = next(one.key for one in verification.runs)
    name = next(one["name"] for one in graph_of(tmp_path / "crate").values() if "-score-" in one["@id"])
    rewrite(score_path(tmp_path / "crate", key), lambda scores: scores["metrics"].update({name: 0.5}))
    seal(tmp_path / "crate")
    assert failures(verify(empty, tmp_path / "crate"))


def test_a_suite_of_the_repository_has_all_of_its_cells(layout: Layout, empty: Layout, tmp_path: Path) -> None:
    plan = api.plan(suite="smoke", make_splits=False, repository=Repository(layout))
    assert export(layout, plan, tmp_path / "crate", extent=Extent.REFERENCE).runs > 20
    assert not verify(empty, tmp_path / "crate").failed
    less = Plan(plan.name, plan.cells[1:])
    export(layout, less, tmp_path / "less", extent=Extent.REFERENCE)
    assert failures(verify(empty, tmp_path / "less")) == f"plan: not in the crate: {plan.cells[0].job.label}"


def test_a_crate_of_processes_alone_is_verified_too(
    evidence: Layout, made_up: Plan, empty: Layout, tmp_path: Path
) -> None:
    export(evidence, made_up, tmp_path / "crate", profile=Profile.PROCESS)
    assert "mainEntity" not in graph_of(tmp_path / "crate")["./"]
    assert not verify(empty, tmp_path / "crate").failed


def test_a_fresh_clone_without_network_verifies_a_crate(
    whole: Path, repository: Layout, tmp_path: Path, keys: list[str]
) -> None:
    clone = tmp_path / "clone"
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=repository.root, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (repository.root / name).is_file() and not name.startswith("results/reference"):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(repository.root / name, clone / name)
    shutil.copytree(whole, tmp_path / "crate")
    settings = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "PYTHONPATH": str(clone)}
    apart = ["unshare", "--net", "--map-root-user"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        apart = []

    def verified(*more: str) -> subprocess.CompletedProcess[str]:
        command = [*apart, sys.executable, "-m", "harness", "export", "--verify", str(tmp_path / "crate"), *more]
        return subprocess.run(command, cwd=clone, env=settings, capture_output=True, text=True, check=False)

    done = verified("--json")
    assert done.returncode == 0, done.stderr + done.stdout
    assert json.loads(done.stdout)["runs"] == {"ok": 4, "FAILED": 0, "not checked": 0}
    change_score(tmp_path / "crate", keys)
    seal(tmp_path / "crate")
    done = verified()
    assert done.returncode == 5 and "not what the predictions give" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give --output PATH"),
        (("--verify", "x", "--suite", "smoke"), "--suite means nothing here"),
        (("--verify", "x", "--reference"), "--reference means nothing here"),
        (("--output", "x.parquet", "--reference"), "--reference means nothing here"),
        (("--output", "x.parquet", "--without-predictions"), "--without-predictions means nothing here"),
        (("--output", "x.parquet", "--profile", "process"), "--profile means nothing here"),
        (("--output", "x", "--reference", "--suite", "stored"), "--reference goes with a suite"),
        (("--output", "x", "--reference", "--without-predictions"), "--reference goes with a suite"),
        (("--output", "x.parquet", "--suite", "nonsense"), "no suite is called 'nonsense'"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(
    arguments: tuple[str, ...],
    told: str,
    evidence: Layout,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(evidence.root)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(evidence.local))
    with pytest.raises(SystemExit) as left:
        main(["export", *arguments])
    assert left.value.code == 2 and told in capsys.readouterr().err
    assert not (evidence.root / "x").exists() and not (evidence.root / "x.parquet").exists()
