"""Bills of materials of an image, the same bytes wherever and whenever they are made: CycloneDX 1.6, SPDX 2.3."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from harness import __version__
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.materials.components import Component, ImageSubject, components_of, subject_of
from harness.materials.licences import references_in

Format = Literal["cyclonedx", "spdx"]
ENDINGS: Mapping[Format, str] = {"cyclonedx": ".cdx.json", "spdx": ".spdx.json"}
_IMAGE = "image"


def bill_of_materials(
    layout: Layout, name: str, accelerator: Accelerator = "cpu", *, form: Format = "cyclonedx"
) -> tuple[str, Sequence[Component]]:
    """The bill of an image as JSON, and the components it lists."""
    components = components_of(layout, name, accelerator)
    write: Callable[[ImageSubject, Sequence[Component]], dict[str, Any]] = (
        _cyclonedx if form == "cyclonedx" else _spdx
    )
    document = write(subject_of(layout, name, accelerator), components)
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n", components


def _cyclonedx(subject: ImageSubject, components: Sequence[Component]) -> dict[str, Any]:
    """https://cyclonedx.org/docs/1.6/json"""
    trees = {"image": subject.tree, "environment": subject.environment_tree, "code": subject.code_tree}
    image = {
        "bom-ref": _IMAGE,
        "type": "container",
        "name": subject.image.rpartition(":")[0],
        "version": subject.image.rpartition(":")[2],
        "properties": _properties({f"{kind}-tree": tree for kind, tree in trees.items() if tree}),
    }
    needs = [{"ref": _IMAGE, "dependsOn": [component.purl for component in components]}]
    needs += [
        {"ref": component.purl, "dependsOn": list(component.needs)}
        for component in components
        if component.needs is not None
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{_identifier(subject, components)}",
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": "permafrost", "version": __version__}]},
            "component": image,
        },
        "components": [_cyclonedx_component(component) for component in components],
        "dependencies": needs,
    }


def _cyclonedx_component(component: Component) -> dict[str, Any]:
    facts = {"environment": component.environment, "file": component.part.file, "licence": component.remark}
    document: dict[str, Any] = {
        "bom-ref": component.purl,
        "type": "library",
        "name": component.name,
        "version": component.version,
        "purl": component.purl,
        "hashes": [{"alg": "SHA-256", "content": component.part.sha256}],
        "properties": _properties({name: text for name, text in facts.items() if text}),
    }
    if component.licence:
        document["licenses"] = [{"expression": component.licence, "acknowledgement": "declared"}]
    return document


def _properties(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": f"permafrost:{name}", "value": value} for name, value in sorted(values.items())]


def _spdx(subject: ImageSubject, components: Sequence[Component]) -> dict[str, Any]:
    """https://spdx.github.io/spdx-spec/v2.3"""
    numbers = {component.purl: f"SPDXRef-Package-{number}" for number, component in enumerate(components, 1)}
    image = f"SPDXRef-{_IMAGE}"
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", image)]
    relations += [(image, "CONTAINS", numbers[component.purl]) for component in components]
    relations += [
        (numbers[component.purl], "DEPENDS_ON", numbers[purl])
        for component in components
        for purl in component.needs or ()
    ]
    references = sorted({name for component in components for name in references_in(component.licence)})
    package: dict[str, Any] = {
        "SPDXID": image,
        "name": subject.image.rpartition(":")[0],
        "versionInfo": subject.image.rpartition(":")[2],
        "primaryPackagePurpose": "CONTAINER",
        "comment": f"image tree {subject.tree}, environment tree {subject.environment_tree}",
        **_UNKNOWN,
    }
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": subject.image,
        "documentNamespace": f"urn:uuid:{_identifier(subject, components)}",
        # when the image's newest file is from: the bill is the same on every day
        "creationInfo": {
            "created": datetime.fromtimestamp(subject.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": [f"Tool: permafrost-{__version__}"],
        },
        "packages": [
            package,
            *(_spdx_package(component, numbers[component.purl]) for component in components),
        ],
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
            for one, kind, other in relations
        ],
        "hasExtractedLicensingInfos": [
            {
                "licenseId": name,
                "extractedText": f"Its text stands in the copyright files or metadata that use this name: {name}",
            }
            for name in references
        ],
    }


_UNKNOWN = {
    "downloadLocation": "NOASSERTION",
    "filesAnalyzed": False,
    "licenseConcluded": "NOASSERTION",
    "licenseDeclared": "NOASSERTION",
    "copyrightText": "NOASSERTION",
}


def _spdx_package(component: Component, number: str) -> dict[str, Any]:
    document: dict[str, Any] = {
        **_UNKNOWN,
        "SPDXID": number,
        "name": component.name,
        "versionInfo": component.version,
        "packageFileName": component.part.file,
        "checksums": [{"algorithm": "SHA256", "checksumValue": component.part.sha256}],
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": component.purl,
            }
        ],
    }
    if component.licence:
        document["licenseDeclared"] = component.licence
    if component.remark:
        document["licenseComments"] = component.remark
    return document


def _identifier(subject: ImageSubject, components: Sequence[Component]) -> uuid.UUID:
    """The same for the same content, another for any other."""
    facts = [subject.image, subject.tree, __version__]
    facts += [f"{one.purl} {one.part.sha256} {one.licence} {one.remark} {one.needs}" for one in components]
    return uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(facts))
