"""Writes runs with all that they rest on as a crate: a folder or a .zip, whole or not at all.

Equal results give equal bytes. Every score is computed again before it is packed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import benchmarks
from harness.audit.results import kept_scores
from harness.base.errors import AuditError, CorruptData, UsageError
from harness.base.files import folder_in_the_making, sha256_of, write_json
from harness.base.layout import Layout
from harness.base.progress import Progress, Silent
from harness.base.vocabulary import Verdict
from harness.data import load_dataset, load_manifest
from harness.export.archives import write_zip
from harness.export.contents import (
    SUITE,
    SUMS,
    Contents,
    CrateLayout,
    Extent,
    Profile,
    SuiteCell,
    SuiteFile,
    crate_layout,
    relative_path,
)
from harness.export.licences import may_hand_on
from harness.export.parts import copy_parts
from harness.export.scores import difference
from harness.export.summaries import describer, write_derived
from harness.planning.cells import Cell
from harness.planning.plan import Plan
from harness.results.records import RECORD_FILE, Record
from harness.results.reference import ReferenceResult, load_reference
from harness.results.scoring import Scores, compute_scores, scores_path
from harness.results.store import Store, join
from harness.splits import load_split
from harness.splits.splits import split_path
from harness.status.table import STORED


@dataclass(frozen=True)
class Exported:
    """The number of runs that were written, and the reasons for those that were left out, by key.

    `outgrown`: the verdicts of stored runs of other code, data or splits than today's: no plan holds them.
    """

    runs: int
    left_out: Mapping[str, str]
    outgrown: Mapping[str, Verdict] = field(default_factory=dict)


@dataclass(frozen=True)
class Packer:
    """Packs the runs of one plan into the draft of a crate."""

    layout: Layout
    mirrors: Sequence[Path]
    extent: Extent
    profile: Profile
    progress: Progress

    def fill(self, plan: Plan, draft: Path) -> Exported:
        """Write the crate of a plan's cells."""
        if self.extent is Extent.REFERENCE:
            cells, records, left_out = self._reference(plan, draft)
            outgrown = {}
        else:
            cells, records, left_out = self._stored(plan, draft)
            outgrown = self._outgrown(cells) if plan.name == STORED else {}
        if not records and left_out:
            key, reason = next(iter(left_out.items()))
            raise CorruptData(
                f"every run of '{plan.name}' is damaged: there is nothing to export",
                where=f"{self._source}: {key[:12]}: {reason}",
                todo=f"harness audit {key[:12]} tells more; run them again",
            )
        if not records and self.extent is Extent.REFERENCE:
            raise UsageError(
                f"no result of '{plan.name}' is committed: there is nothing to export",
                where=str(self._source),
                todo="see what is: harness reference list; what was run here is exported without --reference",
            )
        if not records:
            name = "smoke" if plan.name == STORED else plan.name
            raise UsageError(
                f"nothing was run of '{plan.name}': there is nothing to export",
                where=str(self._source),
                todo=f"run it: harness run --suite {name}, or export the committed results: --reference",
            )
        methods = sorted({cell.job.method for cell in cells})
        datasets = sorted({cell.job.dataset for cell in cells})
        crate = crate_layout(draft)
        copy_parts(self.layout, crate.root, methods, datasets)
        if self.extent is Extent.WHOLE:
            self._copy_data(records, crate)
        suite = SuiteFile(
            name=plan.name,
            extent=self.extent,
            profile=self.profile,
            describer=describer(),
            cells=[
                SuiteCell(job=one.job, planned=one.planned, verdict=one.verdict, reason=one.reason)
                for one in cells
            ],
        )
        write_json(draft / SUITE, suite.model_dump(mode="json"))
        write_derived(Contents(draft, suite, records))
        names = sorted(relative_path(draft, path) for path in draft.rglob("*") if path.is_file())
        with (draft / SUMS).open("w", encoding="utf-8") as stream:
            stream.writelines(f"{sha256_of(draft / name)}  {name}\n" for name in names)
        return Exported(len(records), left_out, outgrown)

    @property
    def _source(self) -> Path:
        return self.layout.reference if self.extent is Extent.REFERENCE else self.layout.runs

    def _stored(self, plan: Plan, draft: Path) -> tuple[list[Cell], dict[str, Record], dict[str, str]]:
        """The cells of a plan, and the runs that were copied, each checked against its record."""
        store, records, left_out, cells = Store(self.layout.runs), dict[str, Record](), dict[str, str](), []
        joined, there = join(plan, store, records=True), set(store.finished())
        self.progress.begin("pack", sum(1 for cell in joined if cell.key in there))
        for cell in joined:
            if cell.key is None or cell.key not in there:
                cells.append(cell)
                continue
            try:
                record = store.record(cell.key)
                store.check(record)
                scores = self._scores(store, record)
            except CorruptData as error:
                # its files, or the data that its scores are computed from: no reason to keep the others here
                left_out[cell.key] = error.what
                reason = f"left out, because its evidence is damaged: {error.what}"
                cells.append(replace(cell, verdict=Verdict.INFRASTRUCTURE, reason=reason, record={}))
                continue
            self._copy_run(store, record, scores, crate_layout(draft))
            records[record.key] = record
            cells.append(replace(cell, verdict=record.verdict, reason=record.reason))
            self.progress.step(cell.job.label)
        if plan.name == STORED:
            # what is so damaged that nobody knows of what it was is no cell, and is lost all the same
            others = {key: store.standing(key) for key in sorted(there - {cell.key for cell in joined})}
            left_out |= {key: one.reason for key, one in others.items() if not one.content}
        return cells, records, left_out

    def _outgrown(self, cells: Iterable[Cell]) -> dict[str, Verdict]:
        """The verdicts of the stored runs that can be read and are no cells of today."""
        store, known = Store(self.layout.runs), {cell.key for cell in cells}
        others = {key: store.standing(key) for key in sorted(set(store.finished()) - known)}
        return {key: one.verdict for key, one in others.items() if one.content}

    def _copy_run(self, store: Store, record: Record, scores: Scores | None, crate: CrateLayout) -> None:
        source, target = store.path(record.key), Store(crate.runs).path(record.key)
        for name in (RECORD_FILE, *sorted(record.files)):
            if self.extent is Extent.WHOLE or name not in record.answer_files:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / name, target / name)
        if scores:
            write_json(scores_path(crate, record.key), scores.to_json())

    def _scores(self, store: Store, record: Record) -> Scores | None:
        """The scores that tables show, after the predictions gave them again; None where the run has no result."""
        if record.verdict is not Verdict.OK:
            return None
        computed = compute_scores(self.layout, store, record.planned, self.mirrors)
        kept = kept_scores(self.layout, record)
        if kept and (fault := difference(computed, kept)):
            raise AuditError(
                f"the kept scores are not what the predictions give: {fault}",
                where=f"{record.planned.job.label}: {scores_path(self.layout, record.key)}",
                todo=f"see `harness audit {record.key[:12]}`; remove that file and run `harness score`",
            )
        return kept or computed

    def _reference(self, plan: Plan, draft: Path) -> tuple[list[Cell], dict[str, Record], dict[str, str]]:
        """The cells of a plan with the reference results that there are, whose lines were checked when read."""
        entries, crate = load_reference(self.layout), crate_layout(draft)
        chosen = {cell.key: entries[cell.key] for cell in plan.cells if cell.key and cell.key in entries}
        cells, records = [], dict[str, Record]()
        self.progress.begin("pack", len(chosen))
        for cell in plan.cells:
            entry = chosen.get(cell.key or "")
            if entry is None:
                cells.append(cell)
                continue
            record = entry.record
            write_json(Store(crate.runs).path(record.key) / RECORD_FILE, record.to_json())
            if record.verdict is Verdict.OK:
                write_json(scores_path(crate, record.key), _fresh(entry).to_json())
            records[record.key] = record
            cells.append(replace(cell, verdict=record.verdict, reason=record.reason))
            self.progress.step(cell.job.label)
        return cells, records, {}

    def _copy_data(self, records: Mapping[str, Record], crate: CrateLayout) -> None:
        """Copy the splits of the runs that ended ok, and the arrays of datasets that may be handed on."""
        from harness.data.arrays import keep

        for planned in [record.planned for record in records.values() if record.verdict is Verdict.OK]:
            job = planned.job
            target = split_path(crate, job.benchmark, planned.split_digest)
            if not target.is_file():
                split = load_split(self.layout, job.dataset, job.split, self.mirrors)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(benchmarks.get(job.benchmark).form.content(split))
            folder = crate.cache / "datasets" / planned.dataset_digest
            if may_hand_on(load_manifest(self.layout, job.dataset)) and not folder.is_dir():
                keep(load_dataset(self.layout, job.dataset, mirrors=self.mirrors), folder)


def export(
    layout: Layout,
    plan: Plan,
    output: Path,
    *,
    extent: Extent = Extent.WHOLE,
    profile: Profile = Profile.PROVENANCE,
    mirrors: Sequence[Path] = (),
    progress: Progress | None = None,
    overwrite: bool = False,
) -> Exported:
    """Write the runs of a plan's cells, or their reference results, to a new folder or .zip.

    `overwrite` lets a .zip take the place of another one; a folder never does.

    Each run is checked against its record; a damaged one is left out, and the export names it. Scores that the
    predictions do not give again are an `AuditError`, and nothing is written.
    """
    is_zip = output.suffix.lower() == ".zip"
    # a link to what is not there is in the way like a file
    replaceable = output.is_file() or not output.exists()
    if os.path.lexists(output) and not (overwrite and is_zip and replaceable):
        raise UsageError("the export exists already", where=str(output), todo="remove it, or choose another name")
    packer = Packer(layout, mirrors, extent, profile, progress or Silent())
    if not is_zip:
        with folder_in_the_making(output) as draft:
            return packer.fill(plan, draft)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.") as folder:
        exported = packer.fill(plan, Path(folder))
        write_zip(Path(folder), output, packer.progress)
    return exported


def _fresh(entry: ReferenceResult) -> Scores:
    if scores := entry.fresh_scores:
        return scores
    raise AuditError(
        "the scores of a reference result are of another scorer than the present one",
        where=entry.where,
        todo="check out the commit whose scorer made them, or have the reference results scored anew",
    )
