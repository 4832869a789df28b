"""How two runs differ: job, image, inputs, outcome, scores, files; apart from these, where and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness import benchmarks
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.benchmarks.method_report import METHOD
from harness.handles.lookup import Handle
from harness.results.records import JOB_FILE, LOG_FILE

_ABSENT = "absent"
# Files that hold times or secrets of their run, and so differ wherever these do.
_OWN_FILES = (JOB_FILE, METHOD, LOG_FILE)


@dataclass(frozen=True)
class Difference:
    """One thing that differs: its section, its name, and both values; of numbers also second minus first."""

    section: str
    name: str
    first: str
    second: str
    by: float | None = None

    @property
    def decides(self) -> bool:
        """Whether it is more than where and when a run was made."""
        return self.section not in ("machine", "own files")


def differences_of(layout: Layout, first: Handle, second: Handle) -> list[Difference]:
    """All differences, section by section."""
    return [
        *_between("job", _job(first), _job(second)),
        *_between("image", _image(first), _image(second)),
        *_between("inputs", _inputs(first), _inputs(second)),
        *_between("outcome", _outcome(first), _outcome(second)),
        *_scores(layout, first, second),
        *_files(first, second),
        *_between("machine", _machine(first), _machine(second)),
    ]


def _between(section: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys([*first, *second]):
        one, other = first.get(name, _ABSENT), second.get(name, _ABSENT)
        if one != other:
            is_number = all(isinstance(value, float) for value in (one, other))
            yield Difference(section, name, _text(one), _text(other), other - one if is_number else None)


def _text(value: Any) -> str:
    return "undefined" if value is None else value if isinstance(value, str) else repr(value)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested values by their path."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _job(handle: Handle) -> dict[str, Any]:
    return _flat(handle.content["planned"]["job"])


def _image(handle: Handle) -> dict[str, Any]:
    # the engine's own id is no property of the image: another engine gives the same tree another one
    own = {name: value for name, value in handle.content["image"].items() if name != "id"}
    return {"tree": handle.planned.image_tree, **own}


def _inputs(handle: Handle) -> dict[str, Any]:
    planned = handle.planned
    return {
        "dataset": planned.dataset_digest,
        "split": planned.split_digest,
        "weights": planned.weights_digest,
        "order of items": "secret" if handle.content.get("order") else "published",
    }


def _outcome(handle: Handle) -> dict[str, Any]:
    return {"verdict": str(handle.verdict), "reason": handle.reason}


def _scores(layout: Layout, first: Handle, second: Handle) -> Iterator[Difference]:
    """Metric by metric; one line where a run has no fresh scores."""
    one, other = first.scores(layout), second.scores(layout)
    if one and other:
        yield from _between("scores", one.every, other.every)
    elif one or other:
        counts = (counted(len(scores.every), "value") if scores else "no fresh ones" for scores in (one, other))
        yield Difference("scores", "all metrics", next(counts), next(counts))


def _files(first: Handle, second: Handle) -> Iterator[Difference]:
    """Differences of content, by sha256; those of an answer first."""
    answer = set(benchmarks.get(first.planned.job.benchmark).compared_files)
    one, other = ({name: file["sha256"] for name, file in run.content["files"].items()} for run in (first, second))
    for name in sorted({*one, *other}, key=lambda name: (name not in answer, name)):
        if one.get(name) != other.get(name):
            section = "own files" if name in _OWN_FILES else "files"
            yield Difference(section, name, one.get(name, _ABSENT)[:16], other.get(name, _ABSENT)[:16])


def _machine(handle: Handle) -> dict[str, Any]:
    content = handle.content
    used = {
        name: value for name, value in content["resources"].items() if name in ("wall_s", "cpu_s", "peak_bytes")
    }
    return {
        "started": content["started"],
        "harness version": content["harness_version"],
        **{f"limit of {name}": value for name, value in content["limits"].items()},
        **_flat({"engine": content["engine"], "made_by": content.get("made_by") or {}}),
        **used,
    }
