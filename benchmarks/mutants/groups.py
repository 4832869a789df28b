"""Which tests have to notice a defect of which module: the folders that belong to its package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

# The longest beginning that fits a module's path decides.
_GROUPS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "harness/api/": ("api", "api"),
        "harness/audit/": ("audit", "audit"),
        "harness/base/": ("base", "data core"),
        "harness/benchmarks/": ("benchmarks", "core toy"),
        "harness/benchmarks/combos/sdk/": ("sdk", "methods"),
        "harness/benchmarks/combos/": ("combos", "combos"),
        "harness/benchmarks/combos/study/": ("combos", "combos study"),
        "harness/benchmarks/ddi/sdk/": ("sdk", "methods"),
        "harness/benchmarks/ddi/": ("ddi", "ddi"),
        "harness/benchmarks/ddi/checks.py": ("data", "data"),
        "harness/benchmarks/ddi/converters/": ("data", "data"),
        "harness/benchmarks/ddi/dataset.py": ("data", "data"),
        "harness/benchmarks/ddi/splits/": ("splits", "splits"),
        "harness/benchmarks/ddi/statistics.py": ("data", "data"),
        "harness/benchmarks/ddi/study/": ("study", "study"),
        "harness/benchmarks/dti/sdk/": ("sdk", "methods"),
        "harness/benchmarks/dti/": ("dti", "dti"),
        "harness/benchmarks/dti/study.py": ("dti", "dti study"),
        "harness/benchmarks/repurposing/sdk/": ("sdk", "methods"),
        "harness/benchmarks/repurposing/": ("repurposing", "repurposing"),
        "harness/benchmarks/repurposing/checks.py": ("data", "data"),
        "harness/benchmarks/repurposing/converters/": ("data", "data"),
        "harness/benchmarks/repurposing/dataset.py": ("data", "data"),
        "harness/benchmarks/repurposing/splits/": ("splits", "splits"),
        "harness/benchmarks/repurposing/statistics.py": ("data", "data"),
        "harness/benchmarks/repurposing/study/": ("study", "study"),
        "harness/cli/": ("cli", "cli core"),
        "harness/compare/": ("compare", "compare"),
        "harness/conformance/": ("conformance", "methods"),
        "harness/contest/": ("contest", "contest"),
        "harness/data/": ("data", "data"),
        "harness/data/croissant.py": ("data", "fair"),
        "harness/engine/": ("engine", "engine runs"),
        "harness/execution/": ("execution", "runs campaigns core"),
        "harness/export/": ("export", "export"),
        "harness/handles/": ("handles", "handles"),
        "harness/images/": ("images", "images"),
        "harness/materials/": ("materials", "materials"),
        "harness/meaning/": ("meaning", "meaning"),
        "harness/methods/": ("methods", "methods core scaffold"),
        "harness/notebook/": ("notebook", "notebook"),
        "harness/parity/": ("parity", "parity"),
        "harness/planning/": ("planning", "core"),
        "harness/prediction/": ("prediction", "prediction"),
        "harness/proof/": ("proof", "proof"),
        "harness/report/": ("report", "report"),
        "harness/results/": ("results", "core"),
        "harness/splits/": ("splits", "splits"),
        "harness/status/": ("status", "status"),
        "harness/study/": ("study", "study"),
        "harness/upkeep/": ("upkeep", "upkeep"),
        "methods/_sdk/python/": ("sdk", "methods"),
    }
)

# Parts that every benchmark has, whose tests also lie where those of all benchmarks do.
_PARTS: Mapping[str, str] = MappingProxyType(
    {
        "conformance/": "methods",
        "extension.py": "data prediction",
        "ordering.py": "core",
        "own_data.py": "data prediction",
        "parity/": "parity",
        "ranking.py": "prediction",
        "reading.py": "prediction",
        "requests.py": "core",
    }
)


def group_of(module: str) -> str:
    """The package under whose score a module counts; empty where none does."""
    return _longest(module)[0]


def folders_of(module: str) -> tuple[str, ...]:
    """The test folders that have to notice a defect of a module."""
    own = _longest(module)[1].split()
    part = module.removeprefix("harness/benchmarks/").partition("/")[2] if own else ""
    others = (names.split() for start, names in _PARTS.items() if part.startswith(start))
    return tuple(f"tests/{name}" for name in dict.fromkeys([*own, *(name for some in others for name in some)]))


def modules_of(root: Path, wanted: list[str]) -> list[str]:
    """The modules of some packages or paths, or all; what runs inside images belongs to no package here."""
    paths = [*(root / "harness").rglob("*.py"), *(root / "methods" / "_sdk" / "python").glob("*.py")]
    names = sorted(path.relative_to(root).as_posix() for path in paths)
    chosen = [name for name in names if group_of(name) and "/sdk/" not in name and "/inside/" not in name]
    return [name for name in chosen if not wanted or group_of(name) in wanted or name in wanted]


def _longest(module: str) -> tuple[str, str]:
    prefixes = [prefix for prefix in _GROUPS if module.startswith(prefix)]
    return _GROUPS[max(prefixes, key=len)] if prefixes else ("", "")
