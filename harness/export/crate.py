"""The description of exported runs: a Process Run Crate (Workflow Run RO-Crate profiles), as plain JSON-LD.

Every run, with any verdict, is a `CreateAction` of an image on a dataset and a split, with its files and their
sha256. Equal inputs give equal text: the date is that of the last run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from harness import __version__
from harness.base.vocabulary import Verdict
from harness.methods.card import MethodCard
from harness.results.records import Record

METADATA = "ro-crate-metadata.json"
CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_CONTEXT = [f"{CRATE}/context", "https://w3id.org/ro/terms/workflow-run/context"]
_LICENCE = "https://spdx.org/licenses/Apache-2.0"
_HARNESS = "#permafrost"
_FORMATS = {
    ".json": "application/json",
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".npy": "application/octet-stream",
}
_NO_RUN = "1970-01-01T00:00:00Z"

Entity = dict[str, Any]


@dataclass(frozen=True)
class CrateFile:
    """A file of the crate."""

    path: str
    sha256: str
    bytes: int


def describe(
    name: str, runs: Iterable[Record], files: Mapping[str, list[CrateFile]], cards: Mapping[str, MethodCard]
) -> Entity:
    """The content of `ro-crate-metadata.json`. `files`: those of each run by key, and under "" all others."""
    records = sorted(runs, key=lambda record: record.key)
    methods = sorted({record.planned.job.method for record in records})
    planned = [record.planned for record in records]
    datasets = _things("dataset", {one.dataset_digest: one.job.dataset for one in planned})
    splits = _things("split", {one.split_digest: f"{one.job.dataset}, {one.job.split.label}" for one in planned})
    parts = [_file(file) for group in sorted(files) for file in files[group]]
    last = max((record.finished for record in records), default=_NO_RUN)
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Permafrost results: {name}",
        "description": f"{len(records)} runs of published predictors in frozen containers, with their evidence.",
        "datePublished": last,
        "license": {"@id": _LICENCE},
        "conformsTo": {"@id": PROFILE},
        "hasPart": [{"@id": part["@id"]} for part in parts],
        "mentions": [{"@id": _action_id(record)} for record in records],
    }
    graph = [
        {
            "@id": METADATA,
            "@type": "CreativeWork",
            "conformsTo": {"@id": CRATE},
            "about": {"@id": "./"},
        },
        root,
        {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
        {"@id": _LICENCE, "@type": "CreativeWork", "name": "Apache License 2.0"},
        {"@id": _HARNESS, "@type": "SoftwareApplication", "name": "Permafrost harness", "version": __version__},
        *(_method(method, cards.get(method)) for method in methods),
        *datasets,
        *splits,
        *_images(records),
        *parts,
        *(_action(record, files.get(record.key, [])) for record in records),
    ]
    return {"@context": _CONTEXT, "@graph": graph}


def _action(record: Record, files: list[CrateFile]) -> Entity:
    job = record.planned.job
    is_ok = record.verdict is Verdict.OK
    action: Entity = {
        "@id": _action_id(record),
        "@type": "CreateAction",
        "name": job.label,
        "description": f"verdict: {record.verdict}",
        "instrument": {"@id": f"#method-{job.method}"},
        "containerImage": {"@id": f"#image-{record.planned.image_tree[:16]}"},
        "object": [
            {"@id": f"#dataset-{record.planned.dataset_digest[:16]}"},
            {"@id": f"#split-{record.planned.split_digest[:16]}"},
        ],
        "result": [{"@id": file.path} for file in files],
        "startTime": record.started,
        "endTime": record.finished,
        "actionStatus": {"@id": f"http://schema.org/{'CompletedActionStatus' if is_ok else 'FailedActionStatus'}"},
    }
    return action if is_ok else {**action, "error": record.reason}


def _method(name: str, card: MethodCard | None) -> Entity:
    entity: Entity = {"@id": f"#method-{name}", "@type": "SoftwareApplication", "name": name, "version": "unknown"}
    if card is None:
        return entity
    entity |= {
        "name": card.title,
        "description": " ".join(card.summary.split()),
        "programmingLanguage": card.language,
    }
    if card.origin:
        entity |= {"url": card.origin.repository, "version": card.origin.commit or "unknown"}
    if card.paper and card.paper.doi:
        entity["citation"] = f"https://doi.org/{card.paper.doi}"
    return entity


def _images(records: Iterable[Record]) -> list[Entity]:
    images = {}
    for record in records:
        tree = record.planned.image_tree
        images[tree] = {
            "@id": f"#image-{tree[:16]}",
            "@type": "ContainerImage",
            "additionalType": {"@id": "https://w3id.org/ro/terms/workflow-run#DockerImage"},
            "name": record.image.get("name", ""),
            "identifier": tree,
            "sha256": record.image.get("id", "").removeprefix("sha256:"),
        }
    return [images[tree] for tree in sorted(images)]


def _things(kind: str, names: Mapping[str, str]) -> list[Entity]:
    """The datasets or splits of these digests."""
    return [
        {"@id": f"#{kind}-{digest[:16]}", "@type": "Dataset", "name": name, "identifier": digest}
        for digest, name in sorted(names.items())
    ]


def _file(file: CrateFile) -> Entity:
    path = PurePosixPath(file.path)
    return {
        "@id": file.path,
        "@type": "File",
        "name": path.name,
        "encodingFormat": _FORMATS.get(path.suffix, "text/plain"),
        "contentSize": str(file.bytes),
        "sha256": file.sha256,
    }


def _action_id(record: Record) -> str:
    return f"#run-{record.key}"
