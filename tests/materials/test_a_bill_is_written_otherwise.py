"""Whole bills of three made-up components, word for word: what others' tools read must not change unnoticed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from harness.base.layout import Layout
from harness.images.identity import combined
from harness.images.locks import Part
from harness.materials import sbom
from harness.materials.components import Component, ImageSubject
from harness.materials.sbom import ENDINGS, bill_of_materials

SUBJECT = ImageSubject("toy", "localhost/permafrost/toy:12ab", "e" * 64, "c" * 64, 1767225600)
BARE = Component(
    Part("debian", "a_1_all.deb", "1" * 64, 7, "pool/a_1_all.deb"),
    "a",
    "1",
    "pkg:deb/debian/a@1",
    "_base",
    remark="it names no licence that a program can read",
)
LICENSED = Component(
    Part("wheel", "b-2.whl", "2" * 64, None, "b==2"),
    "b",
    "2",
    "pkg:pypi/b@2",
    "toy",
    "MIT AND LicenseRef-pypi-é",
    needs=("pkg:deb/debian/a@1", "pkg:pypi/c@3"),
)
REFERENCE = replace(
    BARE, part=replace(BARE.part, sha256="3" * 64, file="c-3.whl"), name="c", version="3", purl="pkg:pypi/c@3"
)
REFERENCE = replace(REFERENCE, licence="LicenseRef-pypi-x", remark="", needs=())
COMPONENTS = [BARE, LICENSED, REFERENCE]


@pytest.fixture(autouse=True)
def first_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness's own version stands in every bill."""
    monkeypatch.setattr(sbom, "__version__", "1.0")


def properties(**values: str) -> list[dict[str, str]]:
    return [{"name": f"permafrost:{name.replace('_', '-')}", "value": value} for name, value in values.items()]


def test_a_bill_in_cyclonedx() -> None:
    def component(one: Component, **more: Any) -> dict[str, Any]:
        return {
            "bom-ref": one.purl,
            "type": "library",
            "name": one.name,
            "version": one.version,
            "purl": one.purl,
            "hashes": [{"alg": "SHA-256", "content": one.part.sha256}],
            **more,
        }

    assert sbom._cyclonedx(SUBJECT, COMPONENTS) == {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{IDENTIFIER}",
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": "permafrost", "version": "1.0"}]},
            "component": {
                "bom-ref": "image",
                "type": "container",
                "name": "localhost/permafrost/toy",
                "version": "12ab",
                "properties": properties(
                    code_tree="c" * 64, environment_tree="e" * 64, image_tree=combined("e" * 64, "c" * 64)
                ),
            },
        },
        "components": [
            component(
                BARE,
                properties=properties(
                    environment="_base",
                    file="a_1_all.deb",
                    licence="it names no licence that a program can read",
                ),
            ),
            component(
                LICENSED,
                properties=properties(environment="toy", file="b-2.whl"),
                licenses=[{"expression": "MIT AND LicenseRef-pypi-é", "acknowledgement": "declared"}],
            ),
            component(
                REFERENCE,
                properties=properties(environment="_base", file="c-3.whl"),
                licenses=[{"expression": "LicenseRef-pypi-x", "acknowledgement": "declared"}],
            ),
        ],
        "dependencies": [
            {"ref": "image", "dependsOn": [one.purl for one in COMPONENTS]},
            {"ref": "pkg:pypi/b@2", "dependsOn": ["pkg:deb/debian/a@1", "pkg:pypi/c@3"]},
            {"ref": "pkg:pypi/c@3", "dependsOn": []},
        ],
    }


def test_an_environments_bill_has_no_code() -> None:
    image = sbom._cyclonedx(replace(SUBJECT, code_tree=""), [])["metadata"]["component"]
    assert image["properties"] == properties(environment_tree="e" * 64, image_tree="e" * 64)


def test_a_bill_in_spdx() -> None:
    def package(one: Component, number: int, **more: str) -> dict[str, Any]:
        return {
            "SPDXID": f"SPDXRef-Package-{number}",
            "name": one.name,
            "versionInfo": one.version,
            "packageFileName": one.part.file,
            "checksums": [{"algorithm": "SHA256", "checksumValue": one.part.sha256}],
            "externalRefs": [
                {
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": one.purl,
                }
            ],
            **unknown,
            **more,
        }

    def related(one: str, kind: str, other: str) -> dict[str, str]:
        return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}

    def text(name: str) -> dict[str, str]:
        where = "Its text stands in the copyright files or metadata that use this name: "
        return {"licenseId": name, "extractedText": f"{where}{name}"}

    unknown = {
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }
    first, second, third = (f"SPDXRef-Package-{number}" for number in (1, 2, 3))
    assert sbom._spdx(SUBJECT, COMPONENTS) == {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "localhost/permafrost/toy:12ab",
        "documentNamespace": f"urn:uuid:{IDENTIFIER}",
        "creationInfo": {"created": "2026-01-01T00:00:00Z", "creators": ["Tool: permafrost-1.0"]},
        "packages": [
            {
                "SPDXID": "SPDXRef-image",
                "name": "localhost/permafrost/toy",
                "versionInfo": "12ab",
                "primaryPackagePurpose": "CONTAINER",
                "comment": f"image tree {SUBJECT.tree}, environment tree {'e' * 64}",
                **unknown,
            },
            package(BARE, 1, licenseComments="it names no licence that a program can read"),
            package(LICENSED, 2, licenseDeclared="MIT AND LicenseRef-pypi-é"),
            package(REFERENCE, 3, licenseDeclared="LicenseRef-pypi-x"),
        ],
        "relationships": [
            related("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-image"),
            related("SPDXRef-image", "CONTAINS", first),
            related("SPDXRef-image", "CONTAINS", second),
            related("SPDXRef-image", "CONTAINS", third),
            related(second, "DEPENDS_ON", first),
            related(second, "DEPENDS_ON", third),
        ],
        "hasExtractedLicensingInfos": [text("LicenseRef-pypi-"), text("LicenseRef-pypi-x")],
    }


# of exactly these components: the same on every machine and every day
IDENTIFIER = "94adeb07-f291-5493-8025-f61a9eda594c"
CHANGES: dict[str, Any] = {
    "purl": "pkg:pypi/c@4",
    "part": replace(REFERENCE.part, sha256="4" * 64),
    "licence": "MIT",
    "remark": "?",
    "needs": None,
}
OTHERS = {
    "image": (replace(SUBJECT, image="localhost/permafrost/toy:34"), COMPONENTS),
    "tree": (replace(SUBJECT, environment_tree="f" * 64), COMPONENTS),
    "component": (SUBJECT, COMPONENTS[:2]),
    "order": (SUBJECT, COMPONENTS[::-1]),
    **{name: (SUBJECT, [BARE, LICENSED, replace(REFERENCE, **{name: value})]) for name, value in CHANGES.items()},
}


@pytest.mark.parametrize("changed", OTHERS)
def test_another_bill_has_another_identifier(changed: str) -> None:
    assert str(sbom._identifier(*OTHERS[changed])) != IDENTIFIER


def test_a_later_harness_writes_another_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(sbom._identifier(SUBJECT, COMPONENTS)) == IDENTIFIER
    monkeypatch.setattr(sbom, "__version__", "2.0")
    assert str(sbom._identifier(SUBJECT, COMPONENTS)) != IDENTIFIER


@pytest.mark.parametrize(("form", "ending"), [("cyclonedx", ".cdx.json"), ("spdx", ".spdx.json")])
def test_a_bill_is_json_in_one_order(
    repository: Layout, monkeypatch: pytest.MonkeyPatch, form: Any, ending: str
) -> None:
    asked = []

    def made(*arguments: Any) -> list[Component]:
        asked.append(arguments)
        return COMPONENTS

    monkeypatch.setattr(sbom, "components_of", made)

    def about(*arguments: Any) -> ImageSubject:
        asked.append(arguments)
        return SUBJECT

    monkeypatch.setattr(sbom, "subject_of", about)
    text, components = bill_of_materials(repository, "toy", "cuda", form=form)
    document = {"cyclonedx": sbom._cyclonedx, "spdx": sbom._spdx}[form](SUBJECT, COMPONENTS)
    assert text == json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert components == COMPONENTS and ENDINGS[form] == ending
    assert asked == [(repository, "toy", "cuda")] * 2
    assert bill_of_materials(repository, "toy")[0] == bill_of_materials(repository, "toy", form="cyclonedx")[0]
    assert asked[2:] == [(repository, "toy", "cpu")] * 4
