"""The description of exported runs: a Provenance Run Crate (Workflow Run RO-Crate profiles), as plain JSON-LD.

The suite is the workflow, a method's code its tool, every run with any verdict an action. All of it follows from
the files of the crate: equal files give equal entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness import __version__
from harness.base.errors import CorruptData
from harness.base.files import sha256_of
from harness.base.plain_json import read_plain
from harness.base.plurals import counted
from harness.export.actions import (
    OPERATOR,
    SUITE_RUN,
    action_id,
    engine_id,
    moment,
    run_actions,
    score_file,
    score_values,
    step_id,
    steps,
    suite_actions,
)
from harness.export.contents import METADATA, README, SUITE, Contents, Profile
from harness.export.parts import scorer_files
from harness.export.things import (
    OUR_LICENCE,
    SUITE_FORMAT,
    Entity,
    cards_of,
    dataset_id,
    datasets,
    formal_parameters,
    images,
    language_id,
    languages,
    licence,
    method,
    packed,
    parameters_of,
    reference,
    references,
    splits,
)
from harness.results.records import Record
from harness.results.scoring import Scores, parse_scores, scores_path

CRATE = "https://w3id.org/ro/crate/1.1"
CONTEXT = [f"{CRATE}/context", "https://w3id.org/ro/terms/workflow-run/context"]
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_PROFILES = {
    PROFILE: ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/provenance/0.5": ("Provenance Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
_CONTRIBUTORS = "#contributors"
_FORMATS = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".npy": "application/octet-stream",
    ".toml": "application/toml",
    ".csv": "text/csv",
}


@dataclass(frozen=True)
class CrateFile:
    """A file of a crate."""

    path: str
    sha256: str
    bytes: int


def describe(contents: Contents, files: Sequence[CrateFile]) -> Iterator[Entity]:
    """The entities of `ro-crate-metadata.json`, each once."""
    seen: dict[str, str] = {}
    for entity in _entities(contents, files):
        kind = str(entity["@type"])
        if entity["@id"] not in seen:
            seen[entity["@id"]] = kind
            yield entity
        elif seen[entity["@id"]] != kind:
            raise CorruptData(
                "two things of a crate have one name", where=entity["@id"], todo="rename one of them"
            )


def _entities(contents: Contents, files: Sequence[CrateFile]) -> Iterator[Entity]:
    records, parameters = contents.records, parameters_of(contents)
    cards = {card.name: card for card in cards_of(contents)}
    has_workflow = contents.suite.profile is Profile.PROVENANCE
    special: dict[str, Entity] = {SUITE: _suite(contents)} if has_workflow else {}
    yield {"@id": METADATA, "@type": "CreativeWork", "conformsTo": reference(CRATE), "about": reference("./")}
    yield from _root(contents, files)
    for card in cards.values():
        yield from method(contents, card, parameters[card.name])
        yield from formal_parameters(contents, card, parameters[card.name])
    yield _engine(contents)
    yield from languages(cards.values())
    yield from datasets(contents, parameters)
    yield from splits(contents, parameters)
    yield from images(records.values())
    if has_workflow:
        yield from steps(contents)
        yield from suite_actions(contents)
    for record in records.values():
        yield from run_actions(contents, record, cards[record.planned.job.method])
        if scores := read_packed_scores(contents, record):
            about = score_file(contents, record, scores)
            special[about["@id"]] = about
            yield from score_values(record, scores)
    for file in files:
        yield {**_file(file), **special.get(file.path, {})}


def read_packed_scores(contents: Contents, record: Record) -> Scores | None:
    """The scores of a run in a crate; None where there are none, or they differ from their own digest."""
    return parse_scores(read_plain(scores_path(contents.layout, record.key)))


def _root(contents: Contents, files: Sequence[CrateFile]) -> Iterator[Entity]:
    records, suite = contents.records.values(), contents.suite
    folders = [dataset_id(contents, record.planned) for record in records]
    has_workflow = suite.profile is Profile.PROVENANCE
    profiles = _PROFILES if has_workflow else {PROFILE: _PROFILES[PROFILE]}
    suite_run = [SUITE_RUN, "#organised"] if has_workflow else []
    runs = counted(len(records), "run")
    yield {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Permafrost results: {suite.name}",
        "description": f"{runs} of published predictors in frozen containers: {suite.extent}.",
        "datePublished": max(moment(record.finished) for record in records),
        "license": reference(OUR_LICENCE),
        "author": reference(_CONTRIBUTORS),
        "publisher": reference(_CONTRIBUTORS),
        "conformsTo": references(profiles),
        "hasPart": references([*(file.path for file in files), *folders]),
        "mentions": references([*suite_run, *(action_id(record) for record in records)]),
        **({"mainEntity": reference(SUITE)} if has_workflow else {}),
    }
    for profile, (name, version) in profiles.items():
        yield {"@id": profile, "@type": "CreativeWork", "name": name, "version": version}
    yield {
        **licence("Apache-2.0"),
        "description": "Of our code and of what it wrote. Datasets and originals have licences of their own.",
    }
    yield {
        "@id": _CONTRIBUTORS,
        "@type": "Organization",
        "name": "The Permafrost contributors",
        "url": packed("CITATION.cff"),
    }
    yield {
        "@id": OPERATOR,
        "@type": "Person",
        "name": "whoever ran the harness",
        "description": "Records do not name the person.",
    }


def _suite(contents: Contents) -> Entity:
    cards = cards_of(contents)
    return {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": f"suite {contents.suite.name}",
        "description": "Every planned cell: method, parameters, dataset, split and seed, pinned by checksums.",
        "version": sha256_of(contents.folder / SUITE)[:16],
        "url": SUITE,
        "programmingLanguage": reference(SUITE_FORMAT),
        "license": reference(OUR_LICENCE),
        "hasPart": references(contents.tools.values()),
        "step": references(step_id(card) for card in cards),
    }


def _engine(contents: Contents) -> Entity:
    return {
        "@id": engine_id(contents),
        "@type": "SoftwareApplication",
        "url": engine_id(contents),
        "name": "Permafrost harness",
        "description": "Runs suites and computes the scores; the modules that do the latter are in the crate.",
        "hasPart": references(packed(name) for name in sorted(_scorers(contents))),
        "version": __version__,
        "license": reference(OUR_LICENCE),
        "programmingLanguage": reference(language_id("python")),
    }


def _scorers(contents: Contents) -> set[str]:
    names = {record.planned.job.benchmark for record in contents.records.values()}
    return {file for name in names for file in scorer_files(name)}


def _file(file: CrateFile) -> Entity:
    path = PurePosixPath(file.path)
    entity = {
        "@id": file.path,
        "@type": "File",
        "name": path.name,
        "description": file.path,
        "encodingFormat": _FORMATS.get(path.suffix, "text/plain"),
        "contentSize": str(file.bytes),
        "sha256": file.sha256,
    }
    return {**entity, "about": reference("./")} if file.path == README else entity
