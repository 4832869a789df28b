"""All that is known of one run: job, verdict, image, inputs, scores beside published numbers, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.base.errors import InvalidPredictions
from harness.base.few import few
from harness.base.files import read_json
from harness.base.foreign_text import printable, shortened
from harness.base.layout import Layout
from harness.base.tables import aligned, wrapped
from harness.base.vocabulary import Verdict
from harness.benchmarks.method_report import METHOD, read_report
from harness.handles.lookup import Handle
from harness.handles.publication import PublishedLines, metric_lines, published_beside
from harness.planning.jobs import Job
from harness.planning.plan import Present
from harness.results.records import JOB_FILE
from harness.results.reference import reference_of
from harness.results.scoring import without_truth
from harness.results.store import Store

_MOST_WARNINGS = 5


def page_of(layout: Layout, store: Store, handle: Handle, mirrors: Sequence[Path] = ()) -> dict[str, Any]:
    """Everything as JSON values."""
    content, planned = handle.content, handle.planned
    scores = handle.scores(layout)
    claims = published_beside(layout, store, [planned], mirrors) if handle.verdict is Verdict.OK else {}
    return {
        "key": handle.key,
        "label": planned.job.label,
        "kind": "run of this machine" if handle.folder else "reference result",
        "where": handle.where,
        # who gives the whole key of a run of this machine has not looked for it
        "committed": (handle.reference or reference_of(layout, planned)) is not None,
        "current": Present(layout).holds(planned),
        "verdict": str(handle.verdict),
        "reason": handle.reason,
        "job": planned.job.model_dump(mode="json"),
        "image": {"tree": planned.image_tree, **content["image"]},
        "inputs": {
            "dataset": planned.dataset_digest,
            "split": planned.split_digest,
            **({"weights": planned.weights_digest} if planned.weights_digest else {}),
            "order": "secret" if content.get("order") else "published",
            "files": _inputs(handle),
        },
        "resources": dict(content["resources"]),
        "limits": dict(content["limits"]),
        "made": {
            "started": content["started"],
            "finished": content["finished"],
            "attempts": content["attempts"],
            "harness_version": content["harness_version"],
            "engine": dict(content["engine"]),
            "made_by": content.get("made_by"),
        },
        "scores": {"metrics": scores.metrics, "notes": scores.notes, "series": scores.series} if scores else None,
        "published": list(claims.get(handle.key, [])),
        "files": _files(handle),
        "warnings": _warnings(handle),
    }


def _moment(text: str) -> str:
    """Records of several kinds write their moments in several forms."""
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def page_text(page: Mapping[str, Any]) -> str:
    """The page for a terminal."""
    key = page["key"][:12]
    lines = [f"{page['label']}", f"  key       {page['key']}"]
    lines += _pairs({page["kind"]: page["where"]})
    if page["committed"] and page["kind"] != "reference result":
        lines.append("            the same job is a committed reference result, too")
    if not page["current"]:
        lines.append(
            "            superseded: code, image, data or split have changed since; a new run has another key"
        )
    lines += [f"{page['verdict']}: {printable(page['reason'])}", ""]
    job = page["job"]
    lines += ["job", *_pairs({name: value for name, value in job.items() if value not in ("", {})})]
    lines += ["image", *_pairs(page["image"])]
    inputs = page["inputs"]
    lines += ["inputs", *_pairs({name: value for name, value in inputs.items() if name != "files"})]
    lines += aligned([["", name, entry] for name, entry in inputs["files"].items()] or [[""]], indent="  ")
    used, made = page["resources"], page["made"]
    lines += ["run", f"  {_times(used)}", f"  from {_moment(made['started'])} to {_moment(made['finished'])}"]
    lines += _made_by(made)
    lines += ["scores", *_scores(page)]
    lines += [f"  warning of the method: {one}" for one in page["warnings"]]
    lines += ["files", *_file_lines(page["files"]), ""]
    lines += [f"harness show {key} --log    harness audit {key}    harness diff {key} OTHER"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _inputs(handle: Handle) -> dict[str, str]:
    """What was mounted, by name: shape and digest; of a run of this machine only."""
    document = read_json(handle.folder / JOB_FILE) if handle.folder else None
    inputs = document.get("inputs", {}) if isinstance(document, dict) else {}
    if not isinstance(inputs, dict):
        return {}
    return {name: _described(entry) for name, entry in inputs.items()}


def _described(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    shape = "x".join(map(str, entry["shape"])) if isinstance(entry.get("shape"), list) else ""
    return " ".join(one for one in (shape, str(entry.get("dtype", "")), str(entry.get("sha256", ""))[:16]) if one)


def _files(handle: Handle) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "bytes": entry["bytes"],
            "sha256": entry["sha256"],
            "here": handle.folder is not None and (handle.folder / name).is_file(),
        }
        for name, entry in sorted(handle.content["files"].items())
    ]


def _warnings(handle: Handle) -> list[str]:
    path = handle.folder / METHOD if handle.folder else None
    if path is None or not path.is_file() or METHOD not in handle.content["files"]:
        return []
    try:
        warnings = read_report(path).warnings if handle.verdict is Verdict.OK else []
    except (OSError, InvalidPredictions) as error:
        # a page of a run is asked for where something is wrong with it
        return [printable(f"its report can't be read: {error}")]
    return few([shortened(printable(one)) for one in warnings], _MOST_WARNINGS)


def _pairs(values: Mapping[str, Any]) -> list[str]:
    return aligned([[name.replace("_", " "), _value(value)] for name, value in values.items()], indent="  ")


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_value(one)}" for name, one in value.items() if one not in ("", {}))
    return str(value)


def _times(used: Mapping[str, Any]) -> str:
    parts = [
        f"{used[name]:.1f} s {words}" for name, words in (("wall_s", "wall"), ("cpu_s", "CPU")) if used.get(name)
    ]
    if used.get("peak_bytes"):
        parts.append(f"{used['peak_bytes'] / 2**20:.0f} MiB at most")
    return ", ".join(parts) or "nothing was measured"


def _made_by(made: Mapping[str, Any]) -> list[str]:
    engine = made["engine"]
    lines = [f"  by {engine.get('name', 'an engine')} {engine.get('version', '')}, attempts: {made['attempts']}"]
    maker = made["made_by"]
    if maker:
        text = f"harness {maker['harness'][:12]}, {maker['processor']}, Linux {maker['kernel']}"
        lines.append(f"  {text}")
    return lines


def _scores(page: Mapping[str, Any]) -> Iterator[str]:
    """A line per metric, published numbers below the metric that they are about."""
    if page["scores"] is None:
        if page["verdict"] != Verdict.OK:
            yield "  none: only a run that ended ok is a result"
        elif page["kind"] == "reference result":
            yield "  not of today's metrics: run the job again to have them"
        elif reason := without_truth(Job.model_validate(page["job"])):
            yield f"  none: {reason}"
        else:
            yield f"  none that are fresh: harness score {page['key'][:12]}"
        return
    published = PublishedLines(page["published"])
    metrics = [*page["scores"]["metrics"].items()]
    yield from metric_lines(metrics, page["scores"]["notes"], published)
    # of a series, such as one value per type
    for name in dict.fromkeys(one["metric"] for one in page["published"]):
        if name not in page["scores"]["metrics"]:
            yield from (f"  {name}: {line}" for line in published.about(name))
    for reason in published.reasons:
        yield from wrapped(reason, "  ", 100)


def _file_lines(files: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        [one["name"], f"{one['bytes']:,} bytes", one["sha256"][:16], "" if one["here"] else "not here"]
        for one in files
    ]
    return aligned(rows, indent="  ") if rows else ["  none"]
