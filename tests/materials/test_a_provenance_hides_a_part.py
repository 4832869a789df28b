"""The provenance of an image names all it is built from, and is what in-toto and SLSA call one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import __version__
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.images.cards import load_environment
from harness.images.identity import code_tree, image_name, image_tree
from harness.images.preparation import needed_parts
from harness.materials.components import components_of, subject_of
from harness.materials.provenance import BUILD_TYPE, BUILDER, _recipe, provenance_of
from tests.judges import judge

BUILDING = {"annotations": {"role": "only needed to build"}}
_VALIDATE = """
import json, sys
from google.protobuf.json_format import ParseDict
from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
document = json.load(open(sys.argv[1]))
Statement.copy_from_pb(ParseDict(document, statement_pb2.Statement())).validate()
ParseDict(document["predicate"], Provenance())
"""


def validation(document: object, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "statement.json"
    path.write_text(json.dumps(document))
    return subprocess.run([judge("proof") / "python", "-c", _VALIDATE, path], capture_output=True, text=True)


@pytest.mark.parametrize("name", ["als_wr", "libmf", "biolne", "_octave"])
def test_in_toto_accepts_the_statement(repository: Layout, tmp_path: Path, name: str) -> None:
    done = validation(provenance_of(repository, name), tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_judge_refuses_what_is_no_provenance(repository: Layout, tmp_path: Path) -> None:
    document = provenance_of(repository, "als_wr")
    del document["subject"][0]["digest"]
    assert validation(document, tmp_path).returncode != 0
    document = provenance_of(repository, "als_wr")
    document["predicate"]["buildDefinition"]["parts"] = []
    assert validation(document, tmp_path).returncode != 0


@pytest.mark.parametrize("name", ["als_wr", "libmf", "sagan"])
def test_every_part_is_named_also_those_that_only_build(repository: Layout, name: str) -> None:
    document = provenance_of(repository, name)
    materials = document["predicate"]["buildDefinition"]["resolvedDependencies"]
    digests = {one["digest"].get("sha256") for one in materials} - {None}
    assert digests == {part.sha256 for part in needed_parts(repository, [name])}
    compilers = [one for one in materials if one["name"].startswith("g++-12_")]
    assert len(compilers) == (name == "libmf")
    assert all(one["annotations"] == {"role": "only needed to build"} and "uri" not in one for one in compilers)


def test_subject_and_parameters_are_the_repositorys(repository: Layout) -> None:
    document = provenance_of(repository, "bnnr")
    assert document["subject"] == [
        {"name": image_name(repository, "bnnr"), "digest": {"permafrostTree": image_tree(repository, "bnnr")}}
    ]
    definition = document["predicate"]["buildDefinition"]
    environments = {one["name"]: one for one in definition["externalParameters"]["environments"]}
    assert [*environments] == ["_base", "_octave", "bnnr"]
    lock = repository.containers / "_octave" / "debian.lock"
    assert environments["_octave"]["locks"] == {"debian.lock": {"sha256": sha256_of(lock)}}
    assert definition["internalParameters"]["recipe"]["Dockerfile"] == {
        "sha256": sha256_of(repository.root / "Dockerfile")
    }


def test_the_build_type_is_explained(repository: Layout) -> None:
    page = (repository.root / "docs" / "materials.md").read_text()
    assert f"`{BUILD_TYPE}`" in page
    assert f"`{BUILDER}`" in page


@pytest.mark.parametrize(
    ("name", "chain"),
    [
        ("_octave", ["_base", "_octave"]),
        # adds nothing to the last one, and is named all the same
        ("als_wr", ["_base", "_python", "_numpy", "als_wr"]),
    ],
)
def test_a_statement_word_for_word(repository: Layout, name: str, chain: list[str]) -> None:
    subject = subject_of(repository, name)
    components = components_of(repository, name)
    environments = [load_environment(repository, one) for one in chain]
    purls = {one.part.sha256: one.purl for one in components}
    materials: list[dict[str, Any]] = [
        {"name": part.file, "digest": {"sha256": part.sha256}}
        | ({"uri": purls[part.sha256]} if part.sha256 in purls else BUILDING)
        for part in sorted(needed_parts(repository, [name]), key=lambda part: (part.file, part.sha256))
    ]
    if name == "als_wr":
        code = {"name": "code of als_wr", "digest": {"permafrostTree": code_tree(repository, name)}}
        materials = [code, *materials]
    recipe = [repository.root / "Dockerfile", *sorted((repository.containers / "_recipe").iterdir())]
    assert provenance_of(repository, name) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": subject.image, "digest": {"permafrostTree": subject.tree}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:permafrost:build-type:frozen-image:1",
                "externalParameters": {
                    "name": name,
                    "accelerator": "cpu",
                    "environments": [
                        {
                            "name": one.name,
                            "environment.toml": {"sha256": sha256_of(one.folder / "environment.toml")},
                            "locks": {
                                path.name: {"sha256": sha256_of(path)} for path in one.folder.glob("*.lock")
                            },
                        }
                        for one in environments
                    ],
                },
                "internalParameters": {
                    "recipe": {
                        path.relative_to(repository.root).as_posix(): {"sha256": sha256_of(path)}
                        for path in recipe
                        if path.is_file()
                    },
                    "environmentTree": subject.environment_tree,
                },
                "resolvedDependencies": materials,
            },
            "runDetails": {
                "builder": {"id": "urn:permafrost:builder:harness:1", "version": {"permafrost": __version__}}
            },
        },
    }


def test_a_recipe_is_its_files_in_one_order(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    shutil.copytree(repository.containers / "_recipe", layout.containers / "_recipe")
    shutil.copyfile(repository.root / "Dockerfile", tmp_path / "Dockerfile")
    (layout.containers / "_recipe" / "a folder").mkdir()
    files = sorted(path.name for path in (layout.containers / "_recipe").iterdir() if path.is_file())
    assert list(_recipe(layout)) == ["Dockerfile", *(f"containers/_recipe/{name}" for name in files)]
    assert _recipe(layout) == _recipe(repository)


def test_another_variant_has_its_own_locks(repository: Layout) -> None:
    definition = provenance_of(repository, "sagan", "cuda")["predicate"]["buildDefinition"]
    assert definition["externalParameters"]["accelerator"] == "cuda"
    (locks,) = (
        one["locks"] for one in definition["externalParameters"]["environments"] if one["name"] == "_torch"
    )
    assert "wheels.cuda.lock" in locks and "wheels.cpu.lock" not in locks
    files = {one["digest"].get("sha256") for one in definition["resolvedDependencies"]} - {None}
    assert files == {part.sha256 for part in needed_parts(repository, ["sagan"], "cuda")}
    uris = {one["uri"] for one in definition["resolvedDependencies"] if "uri" in one}
    assert uris == {one.purl for one in components_of(repository, "sagan", "cuda")}
