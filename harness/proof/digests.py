"""What results are judged by and made from, as digests: parts of the repository that no result names itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from harness import benchmarks
from harness.base.files import digest_of
from harness.base.git import committed_files, is_leftover, text_of_name
from harness.base.layout import Layout
from harness.data.manifest import FIRST_SEEN
from harness.meaning import meaning_of
from harness.meaning.scorer import meaning_of_scorer

# How the repository is installed, run, tested and cloned.
_COMMANDS = ("run_all.sh", "run_tests.sh", "pyproject.toml", ".ci/*", "scripts/**/*", ".gitattributes")
# Pages of docs/ that are made from cards and findings, and the one that tells a reviewer what to expect. Who
# writes the others, or a test, need not sign again.
_DOCS = ("artifact-evaluation.md", "consistency.md", "findings.md", "methods.md")
_IMPORTED = ("*.py", "*.pyc", "*.so", "*/__init__.*")
_PACKAGES = ("harness", "tests", "scripts", "benchmarks")
# Folders of ours by whose names no library asks for modules.
_NO_PACKAGES = ("containers", "datasets", "docs", "examples", "methods", "requirements", "results")
_MODULES = (".py", ".pyc", ".so")
# What no part holds, because no result rests on it: folders, and what is for people and other tools.
_NO_PART = ("tests/", "benchmarks/", "examples/", "LICENSES/")
_FOR_OTHERS = (
    *("LICENSE", "REUSE.toml", "CITATION.cff", "codemeta.json", ".zenodo.json", ".gitignore", ".oxlintrc.json"),
    "results/allowed_signers",
)
# Of results a statement names each file by itself.
_HELD = ("results/reference/",)
# Folders that describe a distribution. Where Python looks for modules, libraries look for them, and run what
# they say.
_DISTRIBUTIONS = (".dist-info", ".egg-info")


def digests_of(layout: Layout) -> dict[str, str]:
    """The sha256 of what each part means, by its name: `claims/NAME`, `cards/METHOD`, `locks/ENVIRONMENT`, ...

    Of code and of text in TOML it counts what they mean, not comments or formatting; of all else every byte. The
    order of a table's names counts: combinations of a search are drawn by it.
    """
    harness = layout.benchmarks.parent
    digests = {f"scorer/{name}": meaning_of_scorer(harness, name) for name in benchmarks.names()}
    for name, (folder, paths) in parts_of(layout).items():
        files = {text_of_name(path.relative_to(folder).as_posix()): path for path in paths}
        digests[text_of_name(name)] = digest_of(
            {file: meaning_of(file, _content(path), ordered=True) for file, path in files.items()}
        )
    return dict(sorted(digests.items()))


def imported_first(root: Path) -> list[str]:
    """What lies at the root and Python loads before anything of ours, or in its place: none of it is committed."""
    paths = [path for pattern in _IMPORTED for path in root.glob(pattern) if path.parent.name not in _PACKAGES]
    folders = [path for path in root.iterdir() if path.name.lower().endswith(_DISTRIBUTIONS)]
    described = [path for folder in folders for path in (folder, *folder.rglob("*")) if path.is_file()]
    others = [path for path in root.iterdir() if path.is_dir() and path.name not in (*_PACKAGES, *_NO_PACKAGES)]
    below = [path for folder in others for path in _modules_below(folder)]
    every = dict.fromkeys((*paths, *described, *below))
    return [path.relative_to(root).as_posix() for path in every]


def _modules_below(folder: Path) -> Iterator[Path]:
    """The modules of a folder that Python takes for a package, with or without an `__init__.py`.

    Libraries ask for some that are never installed, and the standard library does: `copy` for `org.python.core`.
    """
    if not folder.name.isidentifier():
        return
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name.isidentifier())
        yield from (Path(at, name) for name in sorted(files) if name.endswith(_MODULES))
        yield from filter(_leads_to_folder, (Path(at, name) for name in folders))


def parts_of(layout: Layout) -> dict[str, tuple[Path, list[Path]]]:
    """The files of each part, and the folder that their names start from.

    Together they are every file that is committed, but for results, which a statement names one by one, for the
    keys that are believed, and for prose, tests and measurements, on which no result rests.
    """
    parts: dict[str, tuple[Path, list[Path]]] = {}

    def add(name: str, folder: Path, *patterns: str, but: tuple[str, ...] = ()) -> None:
        left_out = {path for pattern in but for path in folder.glob(pattern)}
        paths = {path for pattern in patterns for path in folder.glob(pattern)} - left_out
        if files := [path for path in paths if _is_held(path) and _counts(path)]:
            parts[name] = folder, files

    for name in benchmarks.names():
        add(f"claims/{name}", layout.published / name, "*.csv", "contrasts.toml")
        add(f"names/{name}", layout.published / name, "names.toml")
        add(f"findings/{name}", layout.published / name, "findings.toml")
        add(f"suites/{name}", layout.benchmarks / name, "suites/*.toml")
        add(f"study/{name}", layout.benchmarks / name, "study.toml")
        # whatever lies there: Python prefers a compiled module to its source
        add(f"benchmarks/{name}", layout.benchmarks / name, "**/*", but=("suites/*.toml", "study.toml"))
    # every package: what makes results and judges them, and no less what shows them, and what audits all this
    harness = layout.benchmarks.parent
    add("harness", harness, "*")
    for package in harness.glob("*/"):
        # of benchmarks each has a digest of its own
        add(f"harness/{package.name}", package, "*" if package == layout.benchmarks else "**/*")
    add("requirements", layout.root / "requirements", "**/*")
    add("commands", layout.root, *_COMMANDS)
    for name in imported_first(layout.root):
        add(f"root/{name}", layout.root, name)
    for folder in layout.methods.glob("*/"):
        add(f"cards/{folder.name}", folder, "method.toml")
        add(f"parity/{folder.name}", folder, "parity/**/*")
        add(f"code/{folder.name}", folder, "**/*", but=("method.toml", "parity/**/*"))
    for manifest in layout.datasets.glob("*/dataset.toml"):
        add(f"data/{manifest.parent.name}", manifest.parent, "*")
    for environment in layout.containers.glob("*/environment.toml"):
        add(f"locks/{environment.parent.name}", environment.parent, "**/*")
    add("recipe", layout.root, "Dockerfile", "containers/_recipe/*")
    for page in _DOCS:
        add(f"docs/{page}", layout.root / "docs", page)
    held = {path for _, paths in parts.values() for path in paths}
    # the harness that runs may be another checkout's: its parts hold what has their names here
    held |= {layout.root / "harness" / path.relative_to(harness) for path in held if path.is_relative_to(harness)}
    for name in committed_files(layout.root):
        no_part = name.endswith(".md") or name in _FOR_OTHERS or name.startswith((*_NO_PART, *_HELD))
        if not no_part and (path := layout.root / name) not in held and _is_held(path):
            parts.setdefault(f"others/{name.rpartition('/')[0]}", (layout.root, []))[1].append(path)
    return parts


def _is_held(path: Path) -> bool:
    """Whether a path is told of by itself: a file, or a link to a folder, in which nothing is looked for."""
    return path.is_file() or _leads_to_folder(path)


def _leads_to_folder(path: Path) -> bool:
    return path.is_symlink() and path.is_dir()


def _content(path: Path) -> bytes:
    """What counts of it; of a link to a folder where it leads."""
    return os.fsencode(path.readlink()) if _leads_to_folder(path) else path.read_bytes()


def _counts(path: Path) -> bool:
    """Whether a file is of the repository: what Python left, or this machine noted at first sight, is not."""
    return path.name != FIRST_SEEN and not is_leftover(path.as_posix())
