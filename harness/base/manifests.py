"""TOML in, validated models out: every error names the file and the field."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from harness.base.errors import ManifestError


class Strict(BaseModel):
    """A frozen model that refuses unknown fields, so that a typing error is never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NamedManifest(Strict):
    """A manifest that says its own name."""

    name: str

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, text: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", text):
            raise ValueError(f"'{text}' is not a name: small letters, digits and _ only")
        return text


Model = TypeVar("Model", bound=BaseModel)
Named = TypeVar("Named", bound=NamedManifest)


def load_toml(path: Path, model: type[Model]) -> Model:
    """Read and validate one TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        _check_numbers(content)
    except FileNotFoundError:
        raise ManifestError("a manifest is missing", where=str(path), todo="restore the file") from None
    except ValueError as error:
        raise ManifestError(f"not valid TOML: {error}", where=str(path), todo="correct that line") from None
    except RecursionError:
        raise ManifestError(
            "not valid TOML: nested too deeply", where=str(path), todo="write it with fewer brackets"
        ) from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ManifestError(
            f"{path.name} breaks its schema", where=_fields(path, error), todo="correct these fields"
        ) from None


def _check_numbers(value: Any, name: str = "") -> None:
    """Refuse integers of more than 64 bits, which TOML does not promise and Python may not be able to print."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_numbers(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for inner in value:
            _check_numbers(inner, name)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{name}: a whole number of more than 64 bits")


def load_named(path: Path, model: type[Named]) -> Named:
    """Read a manifest whose `name` must be its folder's; read once until the file changes."""
    return cast(Named, _load_named(path, model, path.stat().st_mtime_ns))


@cache
def _load_named(path: Path, model: type[NamedManifest], _changed: int) -> NamedManifest:
    manifest = load_toml(path, model)
    if manifest.name != path.parent.name:
        raise ManifestError(
            f"the name is '{manifest.name}', the folder is '{path.parent.name}'",
            where=f"{path}: name",
            todo="give both the same name",
        )
    return manifest


def _fields(path: Path, error: ValidationError) -> str:
    """`file: field.sub: what is wrong`, one line per fault."""
    lines = [
        f"{path}: {'.'.join(str(step) for step in fault['loc']) or '(top level)'}: {fault['msg']}"
        for fault in error.errors()
    ]
    return "\n         ".join(lines)
