"""What results are judged by and made from, as digests: parts of the repository that no result names itself."""

from __future__ import annotations

from pathlib import Path

from harness import benchmarks
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.data.extension import EXTENDED
from harness.data.manifest import FIRST_SEEN
from harness.meaning import meaning_of
from harness.meaning.scorer import meaning_of_scorer

# Pages of docs/ that are made from cards and findings.
_DOCS = ("consistency.md", "findings.md", "methods.md")
# What the harness itself runs with; other lists are for its developers.
_REQUIREMENTS = ("run.lock", "cluster.lock")


def digests_of(layout: Layout) -> dict[str, str]:
    """The sha256 of what each part means, by its name: `claims/NAME`, `cards/METHOD`, `locks/ENVIRONMENT`, ...

    Of text in TOML the values count, not comments or formatting; of all else every byte.
    """
    parts: dict[str, tuple[Path, list[Path]]] = {}

    def add(name: str, folder: Path, *patterns: str) -> None:
        parts[name] = folder, [path for pattern in patterns for path in folder.glob(pattern)]

    for name in benchmarks.names():
        add(f"claims/{name}", layout.published / name, "*.csv", "contrasts.toml")
        add(f"names/{name}", layout.published / name, "names.toml")
        add(f"findings/{name}", layout.published / name, "findings.toml")
        add(f"suites/{name}", layout.benchmarks / name, "suites/*.toml")
        add(f"study/{name}", layout.benchmarks / name, "study.toml")
        add(f"benchmarks/{name}", layout.benchmarks / name, "**/*.py")
    # every package: what makes results and judges them, and no less what shows them, and what audits all this
    harness = layout.benchmarks.parent
    add("harness", harness, "*.py")
    for package in harness.glob("*/__init__.py"):
        # of benchmarks each has a digest of its own
        of_all = "*.py" if package.parent == layout.benchmarks else "**/*"
        add(f"harness/{package.parent.name}", package.parent, of_all)
    add("requirements", layout.root / "requirements", *_REQUIREMENTS)
    add("commands", layout.root, "run_all.sh", "scripts/*")
    for card in layout.methods.glob("*/method.toml"):
        add(f"cards/{card.parent.name}", card.parent, card.name)
        add(f"parity/{card.parent.name}", card.parent, "parity/**/*")
    for manifest in layout.datasets.glob("*/dataset.toml"):
        # a person's own data are nothing that is committed
        if EXTENDED not in manifest.parent.name:
            add(f"data/{manifest.parent.name}", manifest.parent, "*")
    for environment in layout.containers.glob("*/environment.toml"):
        add(f"locks/{environment.parent.name}", environment.parent, "**/*")
    add("recipe", layout.root, "Dockerfile", "containers/_recipe/*")
    for page in _DOCS:
        add(f"docs/{page}", layout.root / "docs", page)
    digests = {f"scorer/{name}": meaning_of_scorer(harness, name) for name in benchmarks.names()}
    for name, (folder, paths) in parts.items():
        files = {path.relative_to(folder).as_posix(): path for path in paths if path.is_file() and _counts(path)}
        if files:
            digests[name] = digest_of({file: meaning_of(file, path.read_bytes()) for file, path in files.items()})
    return dict(sorted(digests.items()))


def _counts(path: Path) -> bool:
    """Whether a file is of the repository: what Python left, or this machine noted at first sight, is not."""
    return path.name != FIRST_SEEN and path.parent.name != "__pycache__"
