"""The parts of the repository that runs rest on: code, cards, locks, recipe, manifests and the scorer.

A crate holds them under the names that they have in the repository.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import harness
from harness.base.layout import Layout
from harness.data import load_manifest
from harness.data.manifest import manifest_path
from harness.export.licences import may_hand_on
from harness.images.cards import environment_chain
from harness.images.identity import code_folders
from harness.images.sources import code_files
from harness.meaning.modules import meanings
from harness.meaning.scorer import scorer_roots

_PACKAGE = Path(harness.__file__).parent
# What every crate holds, where the repository has it.
_ALWAYS = ("LICENSE", "NOTICE", "Dockerfile", "CITATION.cff")
_MANIFEST_FILES = ("dataset.toml", "splits.csv", "first_seen.json")


def method_files(layout: Layout, method: str) -> list[str]:
    """The code that lies in a method's image, by its names in the repository: its own, SDK and shared parts."""
    folders = code_folders(layout, method)
    return [_name(layout, folder / file) for folder in folders for file in code_files(folder)]


def environment_files(layout: Layout, method: str) -> list[str]:
    """The environment of a method and all that it extends or is made with: what was asked for, locks, listings."""
    names, queue = list[str](), [method]
    while queue:
        for environment in environment_chain(layout, queue.pop()):
            if environment.name not in names:
                names.append(environment.name)
                queue += [environment.helper] if environment.helper else []
    folders = [layout.containers / name for name in sorted(names)]
    return [_name(layout, path) for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]


def manifest_files(layout: Layout, dataset: str) -> list[str]:
    """The manifest of a dataset and the checksums of its splits; its own files where they may be handed on."""
    folder, manifest = manifest_path(layout, dataset).parent, load_manifest(layout, dataset)
    names = [*_MANIFEST_FILES]
    if may_hand_on(manifest):
        names += [file.name for file in manifest.own_files]
    if manifest.converter.startswith("./"):
        names.append(manifest.converter.removeprefix("./"))
    return [_name(layout, folder / name) for name in names if (folder / name).is_file()]


def scorer_files(benchmark: str) -> list[str]:
    """The modules that decide a benchmark's scores, and the packages that they lie in."""
    names = set[str]()
    for module in meanings(_PACKAGE, scorer_roots(benchmark)):
        steps = module.split(".")
        names |= {".".join(steps[:count]) for count in range(1, len(steps) + 1)}
    return sorted(_module_file(name) for name in names)


def copy_parts(layout: Layout, root: Path, methods: Iterable[str], datasets: Iterable[str]) -> None:
    """Copy all that runs of these methods on these datasets rest on to the repository of a crate."""
    names = dict.fromkeys(name for name in _ALWAYS if (layout.root / name).is_file())
    for method in methods:
        names |= dict.fromkeys([*method_files(layout, method), *environment_files(layout, method)])
        names |= dict.fromkeys(_whole_folder(layout, method))
    for dataset in datasets:
        names |= dict.fromkeys(manifest_files(layout, dataset))
    for name in names:
        _copy(_source(layout, name), root / name)
    for benchmark in dict.fromkeys(load_manifest(layout, dataset).benchmark for dataset in datasets):
        for name in scorer_files(benchmark):
            _copy(_PACKAGE.parent / name, root / name)
        # without it the table of a crate would say that nothing is published of any data
        names_of_papers = layout.published / benchmark / "names.toml"
        if names_of_papers.is_file():
            _copy(names_of_papers, root / _name(layout, names_of_papers))


def _whole_folder(layout: Layout, method: str) -> Iterator[str]:
    """Every file of a method's folder: so its identifier is that of the folder in the repository."""
    for path in sorted((layout.methods / method).rglob("*")):
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
            yield _name(layout, path)


def _module_file(module: str) -> str:
    path = _PACKAGE.parent.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.relative_to(_PACKAGE.parent).as_posix()


def _name(layout: Layout, path: Path) -> str:
    """The name of a file in the repository; the SDKs of benchmarks lie in the harness, wherever that is.

    In a crate, a person's own datasets lie among the others.
    """
    for place in (layout.data, layout.extended):
        if place and path.is_relative_to(place):
            return f"{layout.datasets.name}/{path.relative_to(place).as_posix()}"
    if path.is_relative_to(layout.benchmarks):
        return f"harness/benchmarks/{path.relative_to(layout.benchmarks).as_posix()}"
    return path.relative_to(layout.root).as_posix()


def _source(layout: Layout, name: str) -> Path:
    within = Path(name)
    if within.parts[:2] == ("harness", "benchmarks"):
        return layout.benchmarks.joinpath(*within.parts[2:])
    if within.parts[0] == layout.datasets.name:
        return manifest_path(layout, within.parts[1]).parent.joinpath(*within.parts[2:])
    return layout.root / name


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    # whether code may be executed is part of its tree
    target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)
