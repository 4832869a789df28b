"""A small made-up repository with runs of every kind, and its crate as text in which all that follows from bytes
has a name: so that the rest can be compared word for word with what a person wrote down.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from harness import __version__
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.plan import Plan, make_plan
from harness.results.records import RECORD_FILE
from harness.results.store import Store
from tests.export.crates import rewrite
from tests.fabricate import SEEDS, copy_repository, job_of, planned_of, put_run

_CARDS = {
    "constant": """
name = "constant"
title = "Constant"
language = "python"
benchmarks = ["repurposing"]
category = "control"
control = true
summary = "One score\\nfor all."
inputs = ["folds"]
deterministic = true
[variants.published]
summary = "It is 1."
parameters = { score = 1.0 }
""",
    "als_wr": """
name = "als_wr"
title = "ALS"
language = "octave"
benchmarks = ["repurposing"]
category = "matrix factorisation"
summary = "Least squares."
inputs = ["folds"]
deterministic = true
[paper]
title = "On squares"
authors = "Ada and Bob"
year = 2007
venue = "Squares 1(2):3"
doi = "10.1000/squares"
[origin]
repository = "https://github.com/ada/squares/"
commit = "7f0d7395"
licence = "MIT; see the file LICENSE"
[variants.published]
summary = "As printed."
parameters = { reg = 0.01, alpha = 2.0 }
""",
    "lrssl": """
name = "lrssl"
title = "LRSSL"
language = "r"
benchmarks = ["repurposing"]
category = "graph-based"
summary = "Graphs."
inputs = ["folds"]
deterministic = true
[paper]
title = "On graphs"
authors = "Cleo"
year = 2017
[origin]
repository = "https://example.org/graphs/"
licence = "none stated"
[variants.published]
summary = "As printed."
parameters = { k = 10 }
""",
}
_METHODS = ("constant", "als_wr", "lrssl")


def small_repository(repository: Layout, folder: Path) -> tuple[Layout, Plan]:
    """Six cells: three ok, one of an original and one with weights; a failed, a damaged, and a pending one."""
    layout = copy_repository(repository, folder)
    for name in ("LICENSE", "CITATION.cff"):
        (layout.root / name).write_text(f"{name}\n")
    for name, text in _CARDS.items():
        (layout.methods / name / "method.toml").write_text(text)
    jobs = [job_of(layout, method, seed) for method in _METHODS for seed in SEEDS]
    jobs[2] = jobs[2].model_copy(update={"upstream": "a" * 64})
    plan = make_plan(layout, "small & *made*", jobs)
    weighty = planned_of(plan.cells[5]).model_copy(update={"weights_digest": "b" * 64})
    plan = replace(plan, cells=(*plan.cells[:5], replace(plan.cells[5], planned=weighty)))
    store = Store(layout.runs)
    for number, cell in enumerate(plan.cells):
        if number == 1:
            continue
        planned = planned_of(cell)
        if number == 3:
            put_run(layout, planned, verdict=Verdict.ERROR, reason="exit code 3: no such matrix")
        else:
            put_run(layout, planned)
        rewrite(store.path(planned.key) / RECORD_FILE, partial(_tell, number))
    (store.path(planned_of(plan.cells[4]).key) / "log.txt").write_text("nothing\n")
    return layout, plan


def _tell(number: int, record: Any) -> None:
    """Times, use and image of a run, so that no two runs tell the same."""
    record["started"] = f"2026-01-0{7 - number}T01:02:03.456789Z"
    record["finished"] = f"2026-01-0{7 - number}T04:05:06.5Z"
    record["resources"] |= {"wall_s": 10.5 + number, "cpu_s": 8.25 + number, "peak_bytes": 1000 + number}
    if number == 3:
        # of a run that ended at once not all is known
        record["resources"] |= {"cpu_s": None, "peak_bytes": 0}


@dataclass(frozen=True)
class Names:
    """What stands in place of bytes that follow from code, data and chance."""

    layout: Layout
    plan: Plan
    crate: Path

    def lines(self) -> list[str]:
        """The description, line by line, without files of which nothing is said but their size and checksum."""
        text = (self.crate / "ro-crate-metadata.json").read_text(encoding="utf-8")
        lines = []
        for line in text.splitlines():
            if not line.startswith('{"'):
                lines.append(line)
                continue
            comma = "," if line.endswith(",") else ""
            entity = json.loads(line.removesuffix(","))
            assert line == json.dumps(entity, sort_keys=True, ensure_ascii=False) + comma
            if entity != self._plain(entity["@id"]):
                lines.append(self._named(json.dumps(self._shorter(entity), ensure_ascii=False)))
        return lines

    def files(self) -> list[str]:
        """Every file of the crate that is described, in order."""
        names = [path.relative_to(self.crate).as_posix() for path in self.crate.rglob("*") if path.is_file()]
        paths = sorted(map(Path, set(names) - {"ro-crate-metadata.json", "SHA256SUMS"}))
        return [path.as_posix() for path in paths]

    def _plain(self, name: str) -> dict[str, Any] | None:
        """What is said of a file that is nothing but a file."""
        path = self.crate / name
        if name.startswith("#") or not path.is_file():
            return None
        kinds = {"json": "application/json", "jsonl": "application/jsonl", "md": "text/markdown"}
        kinds |= {"npy": "application/octet-stream", "toml": "application/toml", "csv": "text/csv"}
        content = path.read_bytes()
        return {
            "@id": name,
            "@type": "File",
            "name": name.rpartition("/")[2],
            "description": name,
            "encodingFormat": kinds.get(path.name.rpartition(".")[2], "text/plain"),
            "contentSize": str(len(content)),
            "sha256": hashlib.sha256(content).hexdigest(),
        }

    def _shorter(self, entity: dict[str, Any]) -> dict[str, Any]:
        """Lists of files that are all of a folder by the folder's name, scores and sizes by their own."""
        entity = {**entity}
        for field in ("hasPart", "softwareRequirements"):
            value = entity.get(field)
            if isinstance(value, list):
                entity[field] = self._folders([one["@id"] for one in value])
        if entity["@id"].startswith("#run-") and "-score-" in entity["@id"]:
            (key,) = re.findall(r"^#run-([0-9a-f]{64})-score-", entity["@id"])
            scores = json.loads((self.crate / "scores" / key[:2] / f"{key}.json").read_text())
            assert entity["value"] == scores["metrics"][entity["name"]]
            entity["value"] = "{score}"
        if "sha256" in entity and "contentSize" in entity:
            plain = self._plain(entity["@id"])
            assert plain and all(entity[one] == plain[one] for one in ("sha256", "contentSize"))
            entity |= {"sha256": "{sha256}", "contentSize": "{size}"}
        return entity

    def _folders(self, names: list[str]) -> list[str]:
        """Names in their order; those that are all files of one folder of the repository stand as one."""
        every = self.files()
        if names[: len(every)] == every:
            return ["{every file}", *names[len(every) :]]
        modules = [one for one in every if one.startswith("repository/harness/") and "/sdk/" not in one]
        if names == sorted(modules):
            return ["{every module of the scorer}"]
        shorter: list[str] = []
        while names:
            folder = "/".join(names[0].split("/")[:3])
            own = [one for one in every if one.startswith(f"{folder}/")]
            whole = folder.startswith("repository/containers/") and names[: len(own)] == own
            shorter.append(f"{folder}/*" if whole else names[0])
            names = names[len(own) if whole else 1 :]
        return shorter

    def _named(self, text: str) -> str:
        for value, name in self.values.items():
            text = text.replace(value, name)
        return text

    @cached_property
    def values(self) -> dict[str, str]:
        """Every digest by its name: the longest first."""
        values: dict[str, str] = {}
        for number, cell in enumerate(self.plan.cells):
            planned, name = planned_of(cell), f"{cell.job.method}{number}"
            values[f"{planned.key[:2]}/{planned.key}"] = f"{{folder of {name}}}"
            values[planned.key] = f"{{{name}}}"
            values[planned.split_digest] = f"{{split {cell.job.split.seed}}}"
            values[planned.dataset_digest] = "{dataset}"
            values[planned.image_tree] = f"{{image of {cell.job.method}}}"
            record = self.layout.runs / planned.key[:2] / planned.key / RECORD_FILE
            if record.is_file():
                image = json.loads(record.read_text())["image"]
                values[image["code_tree"]] = f"{{code of {cell.job.method}}}"
                values[image["name"].partition(":")[2]] = f"{{tag of {cell.job.method}}}"
        values = dict(sorted(values.items(), key=lambda pair: -len(pair[0])))
        for one, name in [*values.items()]:
            if re.fullmatch("[0-9a-f]{64}", one):
                values.setdefault(one[:16], f"{name}[:16]")
        for method in _METHODS:
            values[self._swhid(self.layout.methods / method)] = f"{{swh {method}}}"
        harness = self.crate / "repository" / "harness" / "__init__.py"
        values[self._git("hash-object", str(harness))] = "{swh harness}"
        values[hashlib.sha256((self.crate / "suite.json").read_bytes()).hexdigest()[:16]] = "{suite}"
        values[f'"{__version__}"'] = '"{version}"'
        return values

    def _swhid(self, folder: Path) -> str:
        """What git calls the content of a folder."""
        rows = []
        for path in sorted(path for path in folder.iterdir() if path.name != "__pycache__"):
            if path.is_dir():
                rows.append(f"040000 tree {self._swhid(path)}\t{path.name}\0")
            else:
                mode = "100755" if path.stat().st_mode & 0o100 else "100644"
                rows.append(f"{mode} blob {self._git('hash-object', '-w', str(path))}\t{path.name}\0")
        return self._git("mktree", "-z", text="".join(rows))

    def _git(self, *command: str, text: str | None = None) -> str:
        """What git prints, in a repository of its own."""
        folder = self.crate.with_name("objects")
        if not folder.is_dir():
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
        done = subprocess.run(
            ["git", *command], cwd=folder, input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()
