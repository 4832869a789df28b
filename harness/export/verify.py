"""Verifies a crate: every checksum, every record, what each run rests on, every score, and the whole description.

All is recomputed from the crate and the code of the repository that verifies; results and caches of this machine
are not looked at, but for labels that may not lie in a crate. No code of the crate is executed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness import benchmarks
from harness.audit.basis import check_environment
from harness.audit.chain import check_job, check_record, read_job
from harness.audit.steps import Audit, Checked, Step, equal, failed, guarded, not_checked, ok
from harness.base.errors import CorruptData
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.base.plain_json import read_plain
from harness.base.plurals import counted
from harness.base.progress import Progress, Silent
from harness.base.vocabulary import Verdict
from harness.export.archives import unpacked
from harness.export.contents import (
    SUITE,
    Contents,
    Extent,
    SuiteCell,
    crate_layout,
    read_suite,
    relative_path,
)
from harness.export.integrity import check_cells, check_derived, check_plan, check_sums
from harness.export.scores import difference, labels_of, recompute
from harness.images import image_tree
from harness.meaning.modules import meaning_of_modules
from harness.meaning.scorer import scorer_roots
from harness.meaning.scripts import Unsure
from harness.results.records import JOB_FILE, RECORD_FILE, Record
from harness.results.scoring import parse_scores, scorer_digest, scores_path, without_truth
from harness.results.store import Store


@dataclass(frozen=True)
class Verification:
    """What was checked of a crate as a whole, and of each of its runs."""

    crate: Audit
    runs: tuple[Audit, ...]
    # planned cells that were not run
    without_run: int

    @property
    def every(self) -> tuple[Audit, ...]:
        """The crate and its runs."""
        return (self.crate, *self.runs)

    @property
    def failed(self) -> bool:
        """Whether anything does not hold."""
        return any(one.failed for one in self.every)


def outcome(audit: Audit) -> Checked:
    """What the steps of one run come to: it is ok only where all of them were checked and hold."""
    return next((one for one in (Checked.FAILED, Checked.NOT_CHECKED) if audit.counts[one]), Checked.OK)


def verify(
    layout: Layout, path: Path, *, mirrors: Sequence[Path] = (), progress: Progress | None = None
) -> Verification:
    """Verify the crate in a folder or .zip with the code of this repository."""
    with unpacked(path) as folder:
        return _Verifier(layout, folder, tuple(mirrors), progress or Silent()).verify()


@dataclass(frozen=True)
class _Verifier:
    here: Layout
    folder: Path
    mirrors: tuple[Path, ...]
    progress: Progress

    def verify(self) -> Verification:
        """The checks of files, then of runs, then of the description, which needs whole records."""
        steps = guarded("files", lambda: check_sums(self.folder))
        suite = read_suite(self.folder)
        keys = set(self._store.finished())
        chosen = [cell for cell in suite.cells if cell.planned and cell.planned.key in keys]
        strangers = keys - {cell.planned.key for cell in chosen if cell.planned}
        steps += [failed("suite", f"a run that the suite does not plan: {key}") for key in sorted(strangers)]
        self.progress.begin("verify", len(chosen))
        runs, records = [], dict[str, Record]()
        for cell in chosen:
            audit, record = self._check_run(cell, suite.extent)
            if record is not None:
                records[record.key] = record
            runs.append(audit)
            self.progress.step(f"{outcome(audit)}: {audit.label}")
        if not chosen:
            steps.append(failed("suite", "no planned cell has a run", where=SUITE))
        of_cells = check_cells(suite.cells, keys)
        steps += of_cells
        # a cell that says that it ended, without its run, can't be described
        is_whole = chosen and len(records) == len(chosen) and all(step.checked is Checked.OK for step in of_cells)
        steps += guarded("plan", lambda: check_plan(self.here, suite))
        other = [name for name, digest in self._scorers.items() if digest != scorer_digest(name)]
        if other:
            steps.append(not_checked("description", f"this repository has another scorer of {', '.join(other)}"))
        elif is_whole and not strangers:
            steps += guarded("description", lambda: check_derived(Contents(self.folder, suite, records)))
        else:
            steps.append(not_checked("description", "not all records are here and whole"))
        return Verification(
            Audit("", f"crate of {suite.name}", "", tuple(steps)), tuple(runs), len(suite.cells) - len(chosen)
        )

    @property
    def _store(self) -> Store:
        return Store(crate_layout(self.folder).runs)

    def _check_run(self, cell: SuiteCell, extent: Extent) -> tuple[Audit, Record | None]:
        assert cell.planned is not None
        key, label = cell.planned.key, cell.job.label
        record, steps = check_record(self._store, key)
        if record is None:
            return Audit(key, label, "", tuple(steps)), None
        steps.append(_check_verdict(cell, record))
        steps += self._check_files(record, extent)
        steps += guarded("code", lambda: self._check_code(record))
        if extent is not Extent.REFERENCE:
            document = read_job(self._store, record)
            steps += check_job(document, record, self._store.path(key) / JOB_FILE)
        steps += guarded("scores", lambda: self._check_scores(record, extent))
        return Audit(key, label, "", tuple(steps)), record

    def _check_files(self, record: Record, extent: Extent) -> list[Step]:
        """Every file of a run against its record; those that the crate says it does not hold are not checked."""
        folder, steps, absent = self._store.path(record.key), list[Step](), list[str]()
        for name, file in sorted(record.files.items()):
            path = folder / name
            if path.is_file():
                steps.append(equal(name, f"sha256 of {file.bytes:,} bytes", file.sha256, sha256_of(path), path))
            elif extent is Extent.REFERENCE or (
                extent is Extent.WITHOUT_PREDICTIONS and name in record.answer_files
            ):
                absent.append(name)
            else:
                steps.append(failed(name, "the file is missing", where=path))
        names = {relative_path(folder, path) for path in folder.rglob("*") if not path.is_dir()}
        for name in sorted(names - {RECORD_FILE, *record.files}):
            steps.append(failed("files", f"a file that the record does not name: {name}", where=folder))
        if record.verdict is Verdict.OK and (missing := record.missing_files):
            steps.append(failed("files", f"a run that ended ok has no {missing[0]}", where=folder))
        if absent:
            steps.append(not_checked("files", f"the crate holds {extent}"))
        return steps

    def _check_code(self, record: Record) -> list[Step]:
        """The image's tree from the packed code, locks and listings."""
        job = record.planned.job
        crate = crate_layout(self.folder)
        tree = image_tree(crate, job.method, job.accelerator)
        steps = check_environment(crate, job.method, job.accelerator)
        steps += [equal("code", "the image tree, from packed code and locks", record.planned.image_tree, tree)]
        if job.upstream:
            steps.append(not_checked("code", "a checkout of the authors' code ran, which is not in the crate"))
        return steps

    def _check_scores(self, record: Record, extent: Extent) -> list[Step]:
        crate, job = crate_layout(self.folder), record.planned.job
        path = scores_path(crate, record.key)
        if record.verdict is not Verdict.OK:
            return (
                [failed("scores", f"a run that ended as '{record.verdict}' has scores")] if path.exists() else []
            )
        kept = parse_scores(read_plain(path))
        if kept is None:
            return [failed("scores", "there are none, or they differ from their own digest", where=path)]
        files, files_of_kept = json.dumps(record.evidence), json.dumps(kept.evidence)
        steps = [
            equal("scores", "the run that they are of", record.key, kept.key, path),
            equal("scores", "the files that they are of", files, files_of_kept, path),
            equal("scorer", "its modules in the crate", kept.scorer, self._scorers.get(job.benchmark, "-"), path),
        ]
        if kept.scorer != scorer_digest(job.benchmark):
            return [
                *steps,
                not_checked("scores", "this repository has another scorer; check out that of the crate"),
            ]
        if extent is not Extent.WHOLE:
            return [*steps, not_checked("scores", "the crate has no predictions to compute them from")]
        computed = recompute(crate, self.here, record, self.mirrors)
        if fault := difference(computed, kept):
            return [*steps, failed("scores", f"not what the predictions give: {fault}", where=path)]
        if reason := without_truth(job):
            return [*steps, not_checked("scores", reason)]
        where = "in the crate" if labels_of(crate, record.planned).is_dir() else "of this machine"
        return [
            *steps,
            ok("scores", f"{counted(len(kept.metrics), 'metric')} computed again, with the labels {where}"),
        ]

    @cached_property
    def _scorers(self) -> dict[str, str]:
        """The digests of the scorers that lie in the crate, by benchmark."""
        package = crate_layout(self.folder).root / "harness"
        digests = {}
        for name in benchmarks.names():
            if (package / "benchmarks" / name / "scoring.py").is_file():
                try:
                    digests[name] = meaning_of_modules(package, scorer_roots(name))
                except CorruptData as error:
                    digests[name] = f"can't be read: {error.what}"
                except OSError as error:
                    digests[name] = f"can't be read: {error}"
                except Unsure:
                    digests[name] = "can't be read: a module is no Python"
        return digests


def _check_verdict(cell: SuiteCell, record: Record) -> Step:
    expected = f"{record.verdict}: {record.reason}"
    if cell.planned != record.planned:
        return failed("suite", "the suite plans another job than was run", where=SUITE)
    return equal(
        "verdict", "the suite names that of the record", expected, f"{cell.verdict}: {cell.reason}", SUITE
    )
