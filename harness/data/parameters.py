"""A converter's parameters: the manifest's table, validated like any other, errors naming file and field."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from harness.base.errors import ManifestError
from harness.base.manifest_faults import plain_lines
from harness.base.manifests import Strict
from harness.data.manifest import DatasetManifest

Model = TypeVar("Model", bound=Strict)


def parameters_of(manifest: DatasetManifest, model: type[Model]) -> Model:
    """The manifest's `[parameters]` as the converter understands them."""
    try:
        return model.model_validate(manifest.parameters)
    except ValidationError as error:
        faults = plain_lines(error, list(model.model_fields))
        lines = [f"{manifest.name}/dataset.toml: parameters.{fault}" for fault in faults]
        raise ManifestError(
            f"the parameters of converter '{manifest.converter}' are wrong",
            where="\n         ".join(lines),
            todo="correct these fields",
        ) from None
