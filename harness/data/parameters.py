"""A converter's parameters: the manifest's table, validated like any other, errors naming file and field."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from harness.base.errors import ManifestError
from harness.base.manifests import Strict
from harness.data.manifest import DatasetManifest

Model = TypeVar("Model", bound=Strict)


def parameters_of(manifest: DatasetManifest, model: type[Model]) -> Model:
    """The manifest's `[parameters]` as the converter understands them."""
    try:
        return model.model_validate(manifest.parameters)
    except ValidationError as error:
        lines = [
            f"datasets/{manifest.name}/dataset.toml: "
            f"{'.'.join(['parameters', *(str(step) for step in fault['loc'])])}: {fault['msg']}"
            for fault in error.errors()
        ]
        raise ManifestError(
            f"the parameters of converter '{manifest.converter}' are wrong",
            where="\n         ".join(lines),
            todo="correct these fields",
        ) from None
