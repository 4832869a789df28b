"""The walk from a stored run down to everything it rests on. Links that many runs share are checked once.

The links of the run itself are here: record, files, job document, and the seed that the container was told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.audit.basis import (
    Superseded,
    check_built,
    check_dataset,
    check_environment,
    check_image,
    check_inputs,
    check_recorded,
    check_split,
    find_superseded,
    outgrown_by_card,
)
from harness.audit.plausibility import check_card, check_kept, check_maker, check_plausibility
from harness.audit.results import check_against_reference, check_predictions, check_scores, kept_scores
from harness.audit.steps import Audit, Lack, Step, equal, failed, guarded, not_checked, ok
from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.base.plain_json import read_plain
from harness.base.vocabulary import PROTOCOL_VERSION, Verdict
from harness.engine import Engine
from harness.methods.card import load_method
from harness.results.records import JOB_FILE, RECORD_FILE, Record
from harness.results.reference import ReferenceResult, reference_file
from harness.results.scoring import Scores
from harness.results.store import Store


@dataclass
class Auditor:
    """Walks chains; remembers what was found for images, datasets, splits and inputs."""

    layout: Layout
    store: Store
    engine: Engine | None = None
    mirrors: Sequence[Path] = ()
    _steps: dict[tuple[str, tuple[str, ...]], list[Step]] = field(default_factory=dict)
    _superseded: dict[tuple[str, ...], Superseded] = field(default_factory=dict)

    def audit(self, key: str) -> Audit:
        """The whole chain of one stored run. Below a broken record nothing can be checked."""
        record, steps = check_record(self.store, key)
        if record is None:
            return Audit(key, f"the run {key[:12]}", "", tuple(steps))
        document = read_job(self.store, record)
        superseded, folder = self._find_superseded(record), self.store.path(key)
        steps += guarded("files", lambda: check_files(self.store, record))
        steps += check_job(document, record, folder / JOB_FILE)
        steps += self._plausible(record, superseded, kept_scores(self.layout, record))
        if not superseded.image:
            steps += guarded("plausibility", lambda: check_kept(self.layout, record, folder, document))
        steps += guarded("reference", lambda: check_against_reference(self.layout, record))
        steps += self._results(record, superseded)
        steps += self._frozen(record, superseded)
        steps += self._sources(record, document, superseded)
        return _audit(record, superseded, steps)

    def audit_reference(self, entry: ReferenceResult) -> Audit:
        """The chain of a committed reference result, whose predictions only a replay can show."""
        record = entry.record
        card = outgrown_by_card(self.layout, record.planned.job)
        superseded = replace(self._find_superseded(record), card=card)
        steps = [*check_entry(entry), *check_place(self.layout, entry)]
        steps += self._plausible(record, superseded, entry.scores)
        why = "a reference result keeps their sha256 only; --replay makes them again"
        steps.append(not_checked("predictions", why, Lack.REPLAY))
        steps += self._frozen(record, superseded)
        if not superseded.data:
            about = (record.planned.job.dataset, record.planned.job.split.label)
            steps += self._once("recorded", about, lambda: check_recorded(self.layout, record.planned))
        steps += self._data(record, superseded)
        return _audit(record, superseded, steps)

    def _plausible(self, record: Record, superseded: Superseded, scores: Scores | None) -> list[Step]:
        steps = check_maker(record) + guarded("plausibility", lambda: check_plausibility(record, scores))
        if not superseded.image:
            steps += guarded("plausibility", lambda: check_card(self.layout, record))
        return steps

    def _results(self, record: Record, superseded: Superseded) -> list[Step]:
        if superseded.data:
            return [not_checked("scores", f"superseded: {superseded.data}", Lack.SUPERSEDED)]
        return [
            *guarded("predictions", lambda: check_predictions(self.layout, self.store, record, self.mirrors)),
            *guarded("scores", lambda: check_scores(self.layout, self.store, record, self.mirrors)),
        ]

    def _find_superseded(self, record: Record) -> Superseded:
        planned = record.planned
        about = (planned.job.method, planned.image_tree, planned.job.dataset, planned.dataset_digest)
        if about not in self._superseded:
            self._superseded[about] = find_superseded(self.layout, record, self.mirrors)
        return self._superseded[about]

    def _frozen(self, record: Record, superseded: Superseded) -> list[Step]:
        method, accelerator = record.planned.job.method, record.planned.job.accelerator
        trees = (record.planned.image_tree, str(record.image), superseded.image)
        return [
            *self._once("image tree", (method, *trees), lambda: check_image(self.layout, record, superseded)),
            *self._once(
                "lock", (method, accelerator), lambda: check_environment(self.layout, method, accelerator)
            ),
            *self._once(
                "engine image",
                (method, superseded.image, str(record.image)),
                lambda: check_built(self.layout, self.engine, record, superseded),
            ),
        ]

    def _sources(self, record: Record, document: dict[str, Any] | None, superseded: Superseded) -> list[Step]:
        if superseded.data:
            return self._data(record, superseded)
        planned, inputs = record.planned, None if document is None else document.get("inputs") or {}
        job = planned.job
        about = (job.dataset, planned.dataset_digest, planned.split_digest, job.split.label, str(job.options))
        names = self._inputs_of(job.method, superseded)
        return [
            *self._once(
                "inputs",
                (*about, record.order, str(names), json.dumps(inputs, sort_keys=True)),
                lambda: check_inputs(self.layout, record, inputs, self.mirrors, names),
            ),
            *self._data(record, superseded),
        ]

    def _inputs_of(self, method: str, superseded: Superseded) -> list[str] | None:
        """The inputs that a run's card names; None where the present card is not held against it."""
        try:
            return None if superseded.image else load_method(self.layout, method).inputs
        except HarnessError:
            return None  # the step about the card tells what is broken

    def _data(self, record: Record, superseded: Superseded) -> list[Step]:
        if superseded.data:
            return [not_checked("dataset", f"superseded: {superseded.data}", Lack.SUPERSEDED)]
        planned, job = record.planned, record.planned.job
        place = (job.dataset, planned.dataset_digest, planned.split_digest, job.split.label)
        return [
            *self._once("dataset", place[:2], lambda: check_dataset(self.layout, planned, self.mirrors)),
            *self._once("split", place, lambda: check_split(self.layout, planned, self.mirrors)),
        ]

    def _once(self, name: str, about: tuple[str, ...], check: Callable[[], Sequence[Step]]) -> list[Step]:
        if (name, about) not in self._steps:
            self._steps[name, about] = guarded(name, check)
        return self._steps[name, about]


def _audit(record: Record, superseded: Superseded, steps: Sequence[Step]) -> Audit:
    job = record.planned.job
    return Audit(
        record.key,
        job.label,
        str(superseded),
        tuple(steps),
        _unfinished(record),
        benchmark=job.benchmark,
        verdict=str(record.verdict),
    )


def _unfinished(record: Record) -> str:
    """Why a run is no evidence of its method, sound as it may be; empty for one that ended by itself."""
    return "" if record.verdict.is_final else f"the verdict is '{record.verdict}': {record.reason}"


def check_record(store: Store, key: str) -> tuple[Record | None, list[Step]]:
    """The record's own digest, its schema, and its key recomputed from its parts."""
    try:
        record = store.record(key)
    except HarnessError as error:
        return None, [failed("record", error.what, where=error.where)]
    return record, [ok("record", "digest, schema, and key recomputed from its parts", key)]


def check_entry(entry: ReferenceResult) -> list[Step]:
    """The steps that reading a committed reference result has already checked."""
    steps = [ok("record", "digest, schema, and key recomputed from its parts", entry.content["key"])]
    if entry.scores is not None:
        step = ok("scores", "digest, and made from the files that the record names")
        is_stale = entry.fresh_scores is None
        steps.append(
            not_checked("scores", "of another scorer than the present one", Lack.STALE) if is_stale else step
        )
    return steps


def check_place(layout: Layout, entry: ReferenceResult) -> list[Step]:
    """A broken link where a result lies in another file than that in which it is looked for by its job."""
    expected = reference_file(layout, entry.planned).relative_to(layout.root).as_posix()
    found = entry.where.rpartition(": line ")[0]
    if found in ("", expected):
        return []
    what = "it lies in another file than that of its job"
    return [failed("record", what, expected=expected, found=found, where=entry.where)]


def check_files(store: Store, record: Record) -> list[Step]:
    """Every file against the record, and nothing beside them."""
    folder = store.path(record.key)
    steps = []
    for place, what in ((folder, "the run's folder"), (folder.parent, "the folder of the run's folder")):
        if place.is_symlink():
            steps.append(failed("files", f"{what} is a link to another", found=str(place.readlink()), where=place))
    if (record_file := folder / RECORD_FILE).is_symlink():
        found = str(record_file.readlink())
        steps.append(failed("files", "the record is a link to another file", found=found, where=record_file))
    for name, file in sorted(record.files.items()):
        path = folder / name
        if not path.is_file() or path.is_symlink():
            steps.append(failed(name, "the file is missing", expected=file.sha256, found="-", where=path))
        else:
            steps.append(equal(name, f"sha256 of {file.bytes:,} bytes", file.sha256, sha256_of(path), path))
    names = {*record.files, RECORD_FILE}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        if path.relative_to(folder).as_posix() not in names:
            steps.append(failed("files", "a file that the record does not name", found=path.name, where=path))
    if record.verdict is Verdict.OK:
        steps += [
            failed("files", f"a run that ended ok has no {name}", where=folder) for name in record.missing_files
        ]
    return steps


def read_job(store: Store, record: Record) -> dict[str, Any] | None:
    """The job document the container was given, where it was kept."""
    document = read_plain(store.path(record.key) / JOB_FILE)
    return document if isinstance(document, dict) else None


def check_job(document: dict[str, Any] | None, record: Record, where: Path) -> list[Step]:
    """What the container was told is what the key says: method, variant, hyper-parameters, folds, seed."""
    if document is None and JOB_FILE in record.files:
        return [failed("job", "the job document can't be read", where=where)]
    if document is None:
        return [
            not_checked("job", "the run kept no job document", lack=None),
            not_checked("seed", "no job document", lack=None),
        ]
    job = record.planned.job
    expected: dict[str, Any] = {
        "protocol": PROTOCOL_VERSION,
        "benchmark": job.benchmark,
        "task": "predict",
        "method": job.method,
        "variant": job.variant,
        "parameters": job.parameters,
        **job.options,
        "trace": False,
    }
    found = {name: document.get(name) for name in expected}
    checked_elsewhere = {"seed", "limits", "inputs", *(["weights"] if record.planned.weights_digest else [])}
    more = [
        failed("job", "the container was told what no job document has", found=name, where=where)
        for name in sorted(document.keys() - expected.keys() - checked_elsewhere)
    ]
    return [
        *more,
        equal("job", "what the container was told is what the key says", _text(expected), _text(found), where),
        equal("seed", "the seed the container was told", str(job.fit_seed), str(document.get("seed")), where),
    ]


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True)
