"""What describes the repository to others (citation, licences, identity, data) is valid and agrees with itself."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.base.errors import MissingData, UsageError
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.base.swhid import identify
from harness.cli import group
from harness.data.croissant import croissant_of
from harness.data.manifest import load_manifest, manifest_names
from tests.conftest import REPOSITORY
from tests.judges import judge


def run(*arguments: object, folder: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(one) for one in arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_the_citation_is_valid() -> None:
    done = run(judge("files") / "cffconvert", "--validate")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    """CITATION.cff as a judge reads it."""
    program = (
        "import json, ruamel.yaml; print(json.dumps(ruamel.yaml.YAML(typ='safe').load(open('CITATION.cff'))))"
    )
    done = run(judge("files") / "python", "-c", program)
    assert done.returncode == 0, done.stderr
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_every_benchmark_has_its_paper_with_a_doi(citation: dict[str, Any]) -> None:
    papers = citation["references"]
    assert len(papers) == 4
    assert all(paper["doi"].startswith("10.") and paper["authors"] for paper in papers)
    for benchmark in ("repurposing", "ddi", "dti", "combos"):
        names = (REPOSITORY / "results" / "published" / benchmark / "names.toml").read_text()
        (paper,) = [one for one in papers if f"Benchmark {benchmark}" in one["notes"]]
        assert f'paper = "{paper["authors"][0]["family-names"]}' in names


def test_the_descriptions_agree(citation: dict[str, Any]) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    codemeta = json.loads((REPOSITORY / "codemeta.json").read_text())
    zenodo = json.loads((REPOSITORY / ".zenodo.json").read_text())
    dois = [paper["doi"] for paper in citation["references"]]
    abstract = " ".join(citation["abstract"].split())
    assert {citation["version"], codemeta["version"], zenodo["version"]} == {project["version"]}
    assert citation["license"] == project["license"]
    assert codemeta["license"].rpartition("/")[2] == project["license"]
    assert zenodo["license"] == project["license"].lower()
    assert [paper["@id"] for paper in codemeta["referencePublication"]] == [
        f"https://doi.org/{doi}" for doi in dois
    ]
    assert [one["identifier"] for one in zenodo["related_identifiers"]] == dois
    assert codemeta["description"] == zenodo["description"] == abstract
    assert codemeta["keywords"] == zenodo["keywords"] == citation["keywords"]
    authors = [
        [one["name"] for one in people] for people in (codemeta["author"], zenodo["creators"], citation["authors"])
    ]
    assert authors == [["The Permafrost contributors"]] * 3
    names = [[one["familyName"] for one in paper["author"]] for paper in codemeta["referencePublication"]]
    assert names == [[one["family-names"] for one in paper["authors"]] for paper in citation["references"]]


def test_every_file_has_a_licence() -> None:
    done = run(judge("files") / "reuse", "lint")
    assert done.returncode == 0, done.stdout + done.stderr


def test_generated_data_is_free_and_the_manifests_say_so(repository: Layout) -> None:
    """REUSE.toml names by path what manifests call generated: neither has more than the other."""
    blocks = tomllib.loads((REPOSITORY / "REUSE.toml").read_text())["annotations"]
    paths = {path for block in blocks if block["SPDX-License-Identifier"] == "CC0-1.0" for path in block["path"]}
    free = {path.split("/")[1] for path in paths if path.startswith("datasets/")}
    manifests = [load_manifest(repository, name) for name in manifest_names(repository)]
    generated = {one.name for one in manifests if one.own_files and one.licence == "generated; no rights needed"}
    assert free == generated


# One process of the judge for all: to start it takes longer than to judge.
_JUDGED = """
import io, json, logging, sys
import mlcroissant
judged = {}
for path in sys.argv[1:]:
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        mlcroissant.Dataset(path)
        judged[path] = {"error": None}
    except mlcroissant.ValidationError as error:
        judged[path] = {"error": str(error)}
    logging.getLogger().removeHandler(handler)
    judged[path]["warnings"] = log.getvalue()
print(json.dumps(judged))
"""


def judged(*paths: Path) -> list[dict[str, Any]]:
    """What the judge of croissants says of each file: its error, or None, and its warnings."""
    done = run(judge("proof") / "python", "-c", _JUDGED, *paths)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    return [said[str(path)] for path in paths]


def written(layout: Layout, name: str, folder: Path) -> Path:
    """The croissant of a dataset."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(croissant_of(layout, name)))
    return path


@pytest.fixture(scope="module")
def croissants(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the judge says of every dataset of the repository."""
    names, folder = manifest_names(repository), tmp_path_factory.mktemp("croissants")
    return dict(zip(names, judged(*(written(repository, name, folder) for name in names)), strict=True))


@pytest.mark.parametrize("name", manifest_names(Layout(REPOSITORY, REPOSITORY, REPOSITORY)))
def test_a_dataset_is_a_croissant(repository: Layout, croissants: dict[str, dict[str, Any]], name: str) -> None:
    said = croissants[name]
    assert said["error"] is None
    # that dates are recommended is said of every dataset: the judge does warn
    assert "is recommended" in said["warnings"] and "not standard" not in said["warnings"]
    recorded = {file.name: file.sha256 for file in load_manifest(repository, name).files if file.recorded}
    document = croissant_of(repository, name)
    assert {file["@id"]: file["sha256"] for file in document["distribution"]} == recorded


def test_the_judge_of_croissants_refuses_a_file_without_checksum(repository: Layout, tmp_path: Path) -> None:
    document = croissant_of(repository, "davis")
    del document["distribution"][0]["sha256"]
    path = tmp_path / "croissant.json"
    path.write_text(json.dumps(document))
    sound, changed = judged(written(repository, "davis", tmp_path), path)
    assert sound["error"] is None and "sha256" in changed["error"]


def test_others_load_the_records_of_our_tables(repository: Layout, tmp_path: Path) -> None:
    folder = tmp_path / "dti_world"
    folder.mkdir()
    for file in (repository.datasets / "dti_world").glob("*.csv"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "croissant.json").write_text(json.dumps(croissant_of(repository, "dti_world")))
    program = (
        "import itertools, mlcroissant; data = mlcroissant.Dataset(jsonld='croissant.json'); "
        "print(next(iter(data.records(record_set='drug_similarity'))))"
    )
    done = run(judge("proof") / "python", "-c", program, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "b'WD001'" in done.stdout
    assert "0.2" in done.stdout


def test_several_datasets_need_a_folder(tmp_path: Path) -> None:
    arguments = ["data", "croissant", "davis", "kiba"]
    done = CliRunner().invoke(group, arguments, standalone_mode=False)
    assert isinstance(done.exception, UsageError)
    done = CliRunner().invoke(group, [*arguments, "--output", str(tmp_path)], standalone_mode=False)
    assert done.exception is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["davis.croissant.json", "kiba.croissant.json"]


def git(folder: Path, *arguments: object) -> None:
    options = ("-c", "user.name=Nobody", "-c", "user.email=no@example.org", "-c", "init.defaultBranch=main")
    done = run("git", *options, *arguments, folder=folder)
    assert done.returncode == 0, done.stderr


def test_the_identity_is_that_of_a_clone(tmp_path: Path) -> None:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("needs a clone: this tree has no history")
    identity = identify(REPOSITORY)
    git(tmp_path, "clone", "--quiet", "--no-hardlinks", REPOSITORY, "clone")
    verify = (judge("proof") / "swh", "identify", "--exclude", ".git", "--verify")
    done = run(*verify, identity.directory, tmp_path / "clone")
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "clone" / "LICENSE").chmod(0o755)
    assert run(*verify, identity.directory, tmp_path / "clone").returncode != 0


def test_changed_files_are_counted(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    before = identify(tmp_path)
    assert before.changed == 0
    (tmp_path / "file").write_text("two")
    assert identify(tmp_path).changed == 1
    git(tmp_path, "commit", "--quiet", "--all", "--message", "two")
    after = identify(tmp_path)
    assert (after.changed, after.directory != before.directory, after.revision != before.revision) == (
        0,
        True,
        True,
    )


def test_a_tree_without_history_has_no_identity_of_another(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "inside").mkdir()
    with pytest.raises(MissingData, match="not known"):
        identify(tmp_path)  # no commit yet
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "one")
    with pytest.raises(MissingData, match="not known"):
        identify(tmp_path / "inside")


def test_the_licences_are_the_texts_of_their_names() -> None:
    assert sha256_of(REPOSITORY / "LICENSES" / "Apache-2.0.txt") == sha256_of(REPOSITORY / "LICENSE")
    assert "CC0 1.0 Universal" in (REPOSITORY / "LICENSES" / "CC0-1.0.txt").read_text()
