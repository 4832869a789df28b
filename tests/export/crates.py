"""Crates for tests, and what a forger does to one: every list of checksums is made again after a change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.base.files import digest_of, sha256_of
from harness.base.layout import Layout
from harness.export.contents import METADATA, SUMS
from harness.planning.plan import Plan, make_plan
from harness.results.records import RECORD_FILE
from harness.results.reference import load_reference

Graph = dict[str, dict[str, Any]]


def graph_of(crate: Path) -> Graph:
    """The entities of a crate by name, each of which stands once."""
    entities = json.loads((crate / METADATA).read_text())["@graph"]
    graph = {entity["@id"]: entity for entity in entities}
    assert len(graph) == len(entities), "an @id is used twice"
    return graph


def references(value: Any) -> list[str]:
    """Every entity that a value refers to."""
    if isinstance(value, list):
        return [name for entry in value for name in references(entry)]
    if not isinstance(value, dict):
        return []
    return (
        [value["@id"]] if set(value) == {"@id"} else [one for entry in value.values() for one in references(entry)]
    )


def rewrite(path: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON file; a digest that it carries is made again."""
    content = json.loads(path.read_text())
    change(content)
    if "digest" in content:
        content["digest"] = digest_of({name: value for name, value in content.items() if name != "digest"})
    path.write_text(json.dumps(content))


def run_folder(crate: Path, key: str) -> Path:
    """The folder of a run."""
    return crate / "runs" / key[:2] / key


def replace_file(crate: Path, key: str, name: str, content: bytes) -> None:
    """Change a file of a run, and its record with it."""
    path = run_folder(crate, key) / name
    path.write_bytes(content)

    def name_it(record: Any) -> None:
        record["files"][name] = {"sha256": sha256_of(path), "bytes": len(content)}

    rewrite(run_folder(crate, key) / RECORD_FILE, name_it)


def seal(crate: Path) -> None:
    """Make checksums and sizes true again, in the description and in the list."""
    document = json.loads((crate / METADATA).read_text())
    for entity in document["@graph"]:
        path = crate / entity["@id"]
        if "sha256" in entity and path.is_file():
            entity |= {"sha256": sha256_of(path), "contentSize": str(path.stat().st_size)}
    (crate / METADATA).write_text(json.dumps(document))
    names = sorted(path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file())
    lines = [f"{sha256_of(crate / name)}  {name}\n" for name in names if name != SUMS]
    (crate / SUMS).write_text("".join(lines))


def reference_plan(layout: Layout) -> Plan:
    """A small plan that there are reference results of: the controls of drug repurposing on Synthetic."""
    jobs = [
        entry.planned.job
        for entry in load_reference(layout, "repurposing").values()
        if entry.planned.job.dataset == "synthetic" and entry.planned.job.method in ("constant", "als_wr")
    ]
    return make_plan(layout, "controls", jobs[:4])
