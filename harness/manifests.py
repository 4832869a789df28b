"""TOML in, validated models out: every error names the file and the field."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import ManifestError


class Strict(BaseModel):
    """A frozen model that refuses unknown fields, so that a typing error is never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def load_toml(path: Path, model: type[Model]) -> Model:
    """Read and validate one TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ManifestError("a manifest is missing", where=str(path), todo="restore the file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ManifestError(f"not valid TOML: {error}", where=str(path), todo="correct that line") from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ManifestError(
            f"{path.name} breaks its schema", where=_fields(path, error), todo="correct these fields"
        ) from None


def _fields(path: Path, error: ValidationError) -> str:
    """`file: field.sub: what is wrong`, one line per fault."""
    lines = [
        f"{path}: {'.'.join(str(step) for step in fault['loc']) or '(top level)'}: {fault['msg']}"
        for fault in error.errors()
    ]
    return "\n         ".join(lines)
