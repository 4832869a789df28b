"""`methods/NAME/weights.toml`: which files of which revision of a pretrained model a method reads, and from where.

Checksums may be left out. Then those of the files that are brought first are recorded beside them, and hold from
there on.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator, model_validator

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml
from harness.data.manifest import mirror_path
from harness.methods.card import load_method, method_names

FILE = "weights.toml"


class WeightsManifest(Strict):
    """A pretrained model, as its method reads it."""

    title: str
    repository: str = Field(description="the page of the model")
    revision: str
    source: str = Field(description="the URL that a file's name is put after")
    licence: str
    citation: str
    size: str = Field(description="of all files, about")
    files: list[str] = Field(min_length=1)
    sha256: dict[str, str] = {}

    @field_validator("files")
    @classmethod
    def _are_plain_names(cls, names: list[str]) -> list[str]:
        for name in names:
            if not name or Path(name).name != name:
                raise ValueError(f"'{name}' is not a plain file name")
        return names

    @model_validator(mode="after")
    def _says_where(self) -> WeightsManifest:
        for name in self.files:
            mirror_path(self.url(name))
        if unknown := sorted(set(self.sha256) - set(self.files)):
            raise ValueError(f"sha256: no such file: {', '.join(unknown)}")
        return self

    def url(self, name: str) -> str:
        """Where one file is published."""
        return f"{self.source.rstrip('/')}/{name}"


def weights_names(layout: Layout) -> list[str]:
    """All methods that read a pretrained model."""
    return [name for name in method_names(layout) if (layout.methods / name / FILE).is_file()]


def load_weights(layout: Layout, method: str) -> WeightsManifest:
    """The manifest of a method's weights."""
    load_method(layout, method)
    path = layout.methods / method / FILE
    if not path.is_file():
        raise UsageError(
            f"method '{method}' reads no pretrained model",
            where=str(path),
            todo=f"name one of: {', '.join(weights_names(layout))}",
        )
    return load_toml(path, WeightsManifest)
