"""SLSA provenance of an image: an in-toto statement of what it is built from and by which recipe.

It is computed from the repository: what the recorded trees are built from, and what `harness image verify` holds
images to. It is no report of one build, and holds no time and no machine.
"""

from __future__ import annotations

from typing import Any

from harness import __version__
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.cards import environment_chain
from harness.images.locks import Part
from harness.images.preparation import needed_layers, parts_of_layers
from harness.images.record import lock_digests, variant_of
from harness.materials.components import components_of, subject_of

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
# explained in docs/materials.md
BUILD_TYPE = "urn:permafrost:build-type:frozen-image:1"
BUILDER = "urn:permafrost:builder:harness:1"


def provenance_of(layout: Layout, name: str, accelerator: Accelerator = "cpu") -> dict[str, Any]:
    """The statement about the image of a method, or of an environment."""
    subject = subject_of(layout, name, accelerator)
    subjects = [{"name": subject.image, "digest": {"permafrostTree": subject.tree}}]
    layers = needed_layers(layout, [name], accelerator)
    purls = {one.part.sha256: one.purl for one in components_of(layout, name, accelerator)}
    parts = sorted(parts_of_layers(layers), key=lambda part: (part.file, part.sha256))
    materials = [_material(part, purls) for part in parts]
    if subject.code_tree:
        code = {"name": f"code of {name}", "digest": {"permafrostTree": subject.code_tree}}
        materials = [code, *materials]
    chain = [environment for environment, _ in layers]
    chain += [one for one in environment_chain(layout, name) if one not in chain]
    environments = [
        {
            "name": environment.name,
            "environment.toml": {"sha256": sha256_of(environment.folder / "environment.toml")},
            "locks": {
                lock: {"sha256": digest}
                for lock, digest in lock_digests(environment, variant_of(environment, accelerator)).items()
            },
        }
        for environment in chain
    ]
    return {
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"name": name, "accelerator": accelerator, "environments": environments},
                "internalParameters": {"recipe": _recipe(layout), "environmentTree": subject.environment_tree},
                "resolvedDependencies": materials,
            },
            "runDetails": {"builder": {"id": BUILDER, "version": {"permafrost": __version__}}},
        },
    }


def _material(part: Part, purls: dict[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = {"name": part.file, "digest": {"sha256": part.sha256}}
    if part.sha256 in purls:
        document["uri"] = purls[part.sha256]
    else:
        # what installs or compiles the others, and is not in the image
        document["annotations"] = {"role": "only needed to build"}
    return document


def _recipe(layout: Layout) -> dict[str, dict[str, str]]:
    paths = [layout.root / "Dockerfile", *sorted((layout.containers / "_recipe").iterdir())]
    return {
        path.relative_to(layout.root).as_posix(): {"sha256": sha256_of(path)} for path in paths if path.is_file()
    }
