"""The provenance of an image names all it is built from, and is what in-toto and SLSA call one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.images.identity import image_name, image_tree
from harness.images.preparation import needed_parts
from harness.materials.provenance import BUILD_TYPE, BUILDER, provenance_of
from tests.judges import judge

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
