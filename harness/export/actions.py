"""What happened, as actions of a crate: each run with any verdict, and the suite that it belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from harness.base.plurals import counted
from harness.base.vocabulary import Verdict
from harness.export.contents import STATUS, SUITE, Contents, Profile, relative_path
from harness.export.swhid import page_of
from harness.export.things import (
    Entity,
    cards_of,
    dataset_id,
    image_id,
    reference,
    references,
    run_folder,
    settings_of,
    split_id,
    value_id,
)
from harness.methods.card import MethodCard
from harness.results.records import JOB_FILE, RECORD_FILE, Record
from harness.results.reference import verdict_counts
from harness.results.scoring import Scores, scores_path
from harness.status.table import key_metrics

OPERATOR = "#operator"
SUITE_RUN = "#suite-run"
# The words of the profile's resource usage, and the codes of their units.
_USAGE = {
    "wall_s": ("wall time", "http://qudt.org/vocab/unit/SEC"),
    "cpu_s": ("processor time", "http://qudt.org/vocab/unit/SEC"),
    "peak_bytes": ("peak memory", "http://qudt.org/vocab/unit/BYTE"),
}


def engine_id(contents: Contents) -> str:
    """The harness, by the content of the file that names its version."""
    return page_of(contents.layout.root / "harness" / "__init__.py")


def action_id(record: Record) -> str:
    """The action of a run."""
    return f"#run-{record.key}"


def step_id(card: MethodCard) -> str:
    """The step of the suite that runs a method."""
    return f"#step-{card.name}"


def steps(contents: Contents) -> Iterator[Entity]:
    """The suite's steps: one per method."""
    for place, card in enumerate(cards_of(contents), start=1):
        yield {
            "@id": step_id(card),
            "@type": "HowToStep",
            "name": f"run {card.title}",
            "position": str(place),
            "workExample": reference(contents.tools[card.name]),
        }


def suite_actions(contents: Contents) -> Iterator[Entity]:
    """The run of the suite, and the harness that organised it."""
    records = contents.records.values()
    counts = Counter(cell.verdict for cell in contents.suite.cells)
    summary = verdict_counts(counts)
    is_good = all(cell.verdict.is_good for cell in contents.suite.cells)
    times = {
        "startTime": min(moment(record.started) for record in records),
        "endTime": max(moment(record.finished) for record in records),
    }
    yield {
        "@id": SUITE_RUN,
        "@type": "CreateAction",
        "name": f"suite {contents.suite.name}",
        "description": f"{counted(len(contents.suite.cells), 'planned cell')}: {summary}.",
        "instrument": reference(SUITE),
        "agent": reference(OPERATOR),
        "object": references(_inputs(contents)),
        "result": references(STATUS),
        **times,
        **_status("" if is_good else f"not all cells ended ok: {summary}"),
    }
    yield {
        "@id": "#organised",
        "@type": "OrganizeAction",
        "name": f"the harness runs suite {contents.suite.name}",
        "description": "Every run was started, watched and judged by the harness.",
        "instrument": reference(engine_id(contents)),
        "agent": reference(OPERATOR),
        "object": references(f"#control-{record.key}" for record in records),
        "result": reference(SUITE_RUN),
        **times,
    }


def run_actions(contents: Contents, record: Record, card: MethodCard) -> Iterator[Entity]:
    """A run, the step that it is of, and what it took."""
    planned, job = record.planned, record.planned.job
    folder = run_folder(contents, record)
    # a crate without predictions names them in the record only
    here = [name for name in (RECORD_FILE, *sorted(record.files)) if (contents.folder / folder / name).is_file()]
    settings = settings_of(planned).items()
    inputs = [dataset_id(contents, planned), split_id(contents, planned)]
    inputs += [f"{folder}{name}" for name in here if name == JOB_FILE]
    inputs += [value_id(job.method, name, value) for name, value in settings]
    usage = {name: record.resources[name] for name in _USAGE if record.resources.get(name) is not None}
    if job.upstream:
        inputs.append(f"#upstream-{job.upstream}")
        yield {
            "@id": f"#upstream-{job.upstream}",
            "@type": "CreativeWork",
            "name": "a checkout of the authors' own code, which ran in place of ours; not in this crate",
            "identifier": job.upstream,
        }
    yield {
        "@id": action_id(record),
        "@type": "CreateAction",
        "name": job.label,
        "description": f"verdict: {record.verdict}",
        "instrument": reference(contents.tools[card.name]),
        "agent": reference(OPERATOR),
        "containerImage": reference(image_id(record)),
        "object": references(inputs),
        "result": references(f"{folder}{name}" for name in here if name != JOB_FILE),
        "resourceUsage": references(f"{action_id(record)}-{name}" for name in usage),
        "startTime": moment(record.started),
        "endTime": moment(record.finished),
        **_status("" if record.verdict is Verdict.OK else f"{record.verdict}: {record.reason}"),
    }
    if contents.suite.profile is Profile.PROVENANCE:
        yield {
            "@id": f"#control-{record.key}",
            "@type": "ControlAction",
            "name": f"run {job.label}",
            "instrument": reference(step_id(card)),
            "object": reference(action_id(record)),
        }
    for name, value in usage.items():
        label, unit = _USAGE[name]
        yield {
            "@id": f"{action_id(record)}-{name}",
            "@type": "PropertyValue",
            "name": label,
            "propertyID": f"https://w3id.org/ro/terms/workflow-run#{name}",
            "value": value,
            "unitCode": unit,
        }


def score_values(record: Record, scores: Scores) -> Iterator[Entity]:
    """The metrics of a run that tables show, where they have a value."""
    for name in key_metrics(record.planned.job.benchmark):
        if (value := scores.metrics.get(name)) is not None:
            yield {"@id": _score_id(record, name), "@type": "PropertyValue", "name": name, "value": value}


def score_file(contents: Contents, record: Record, scores: Scores) -> Entity:
    """What the entity of a run's scores says beside its checksum."""
    folder = run_folder(contents, record)
    sources = [f"{folder}{name}" for name in sorted(scores.evidence)]
    values = [one["@id"] for one in score_values(record, scores)]
    return {
        "@id": relative_path(contents.folder, scores_path(contents.layout, record.key)),
        "description": f"The scores of {record.planned.job.label}, computed by the harness.",
        "about": reference(action_id(record)),
        "isBasedOn": references(
            [name for name in sources if (contents.folder / name).is_file()] or [f"{folder}{RECORD_FILE}"]
        ),
        "variableMeasured": references(values),
    }


def moment(text: str) -> str:
    """A time of a record as the profile writes it: with a numeric offset."""
    return datetime.fromisoformat(text).isoformat(timespec="seconds")


def _inputs(contents: Contents) -> Iterator[str]:
    for planned in [record.planned for record in contents.records.values()]:
        yield dataset_id(contents, planned)
        yield split_id(contents, planned)


def _status(error: str) -> Entity:
    name = "FailedActionStatus" if error else "CompletedActionStatus"
    return {"actionStatus": f"http://schema.org/{name}", **({"error": error} if error else {})}


def _score_id(record: Record, metric: str) -> str:
    plain = "".join(letter if letter.isalnum() else "-" for letter in metric)
    return f"{action_id(record)}-score-{plain}"
