"""Converters: how original files become arrays. One module per way; a dataset's folder may bring its own.

A converter is a module with `convert(manifest, files)` that gives a dataset of the manifest's benchmark. The
manifest names it: `csv` is the module of that name in `converters/` of its benchmark, `./convert.py` a file beside
the manifest. Nothing else has to be changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from harness import benchmarks
from harness.base.errors import ManifestError, unknown
from harness.base.layout import Layout
from harness.benchmarks import Dataset
from harness.data.manifest import DatasetManifest, manifest_path

_PLACE = "converters"
Convert = Callable[[DatasetManifest, Mapping[str, Path]], Dataset]


def find_converter(layout: Layout, manifest: DatasetManifest) -> Convert:
    """The converter a manifest names."""
    source = converter_source(layout, manifest)[0]
    module: ModuleType | None
    if manifest.converter.startswith("./"):
        module = _load_file(source, f"permafrost_converter_{manifest.name}")
    else:
        module = benchmarks.part(manifest.benchmark, f"{_PLACE}.{manifest.converter}")
    convert: Convert | None = getattr(module, "convert", None)
    if convert is None:
        raise ManifestError(
            "a converter has no function 'convert'", where=str(source), todo="define convert(manifest, files)"
        )
    return convert


def converter_source(layout: Layout, manifest: DatasetManifest) -> list[Path]:
    """The files of the converter a manifest names; the first is where `convert` is looked for."""
    where, names = manifest_path(layout, manifest.name), benchmarks.modules_in(manifest.benchmark, _PLACE)
    if manifest.converter.startswith("./"):
        path = (where.parent / manifest.converter).resolve()
        if path.parent != where.parent.resolve() or not path.is_file():
            raise ManifestError(
                f"there is no converter {manifest.converter} beside the manifest",
                where=f"{where}: converter",
                todo="put it there, or name one of: " + ", ".join(names),
            )
        return [path]
    if manifest.converter not in names:
        raise unknown("converter", manifest.converter, names, where=f"{where}: converter")
    module = benchmarks.folder(manifest.benchmark) / _PLACE / manifest.converter
    return sorted(module.glob("*.py")) if module.is_dir() else [module.with_suffix(".py")]


def _load_file(path: Path, name: str) -> ModuleType:
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # a .py file always has both
    module = module_from_spec(spec)
    # annotations of its classes are looked up there
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
