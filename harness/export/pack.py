"""Writes an export as a folder or a .zip, whole or not at all. Equal results give equal bytes.

SHA256SUMS lists every file.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import CorruptData, UsageError
from harness.base.files import folder_in_the_making, sha256_of
from harness.base.layout import Layout
from harness.base.markdown import plain
from harness.export.crate import METADATA, CrateFile, describe
from harness.methods.card import load_method, method_names
from harness.planning.plan import Plan
from harness.results.records import RECORD_FILE, Record
from harness.results.scoring import scores_path
from harness.results.store import Store, join
from harness.status import Table, build_table, to_json, to_markdown

SUMS = "SHA256SUMS"
_README = """# Permafrost results: {name}
One folder per run under `runs/`, named by job key: the record, the job the container was given, its log and its
own report. Scores lie under `scores/`. `status.md` and `status.json` show every planned cell with its verdict.
`ro-crate-metadata.json` describes all of it as a Process Run Crate.
`sha256sum --check SHA256SUMS` checks every file.
"""
# The earliest time in a .zip: entries of equal results must be equal.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Exported:
    """The number of runs that were written, and the reasons for those that were left out, by key."""

    runs: int
    left_out: Mapping[str, str]


def export(layout: Layout, plan: Plan, output: Path, *, with_predictions: bool = False) -> Exported:
    """Write the runs of a plan's cells to a new folder or .zip.

    Each run is checked against its record; a damaged one is left out, and the export names it.
    """
    if output.exists():
        raise UsageError("the export exists already", where=str(output), todo="remove it, or choose another name")
    store = Store(layout.runs)
    table = build_table(layout, store, plan, join(plan, store, records=True))
    keys = sorted({scored.key for scored in table.cells if scored.key and scored.cell.record})
    if output.suffix == ".zip":
        with tempfile.TemporaryDirectory(prefix="permafrost-export-") as folder:
            exported = _fill(layout, store, table, keys, Path(folder), with_predictions=with_predictions)
            _zip(Path(folder), output)
    else:
        with folder_in_the_making(output) as draft:
            exported = _fill(layout, store, table, keys, draft, with_predictions=with_predictions)
    return exported


def _fill(
    layout: Layout, store: Store, table: Table, keys: list[str], folder: Path, *, with_predictions: bool
) -> Exported:
    records, files, left_out = [], {}, {}
    for key in keys:
        try:
            record = store.record(key)
            store.check(record)
        except CorruptData as error:
            left_out[key] = error.what
            continue
        records.append(record)
        files[key] = _copy_run(layout, store, record, folder, with_predictions=with_predictions)
    (folder / "README.md").write_text(_README.format(name=plain(table.name)) + _losses(left_out), encoding="utf-8")
    (folder / "status.md").write_text(to_markdown(table), encoding="utf-8")
    status = json.dumps(to_json(table), indent=2, sort_keys=True, ensure_ascii=False)
    (folder / "status.json").write_text(status + "\n", encoding="utf-8")
    files[""] = [_crate_file(folder, name) for name in ("README.md", "status.json", "status.md")]
    methods = set(method_names(layout))
    cards = {name: load_method(layout, name) for name in {one.planned.job.method for one in records} & methods}
    crate = describe(table.name, records, files, cards)
    text = json.dumps(crate, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / METADATA).write_text(text, encoding="utf-8")
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    sums = "".join(f"{sha256_of(folder / name)}  {name}\n" for name in names)
    (folder / SUMS).write_text(sums, encoding="utf-8")
    return Exported(len(records), left_out)


def _losses(left_out: Mapping[str, str]) -> str:
    if not left_out:
        return ""
    lines = [f"- {key}: {reason}" for key, reason in left_out.items()]
    return "\n".join(["", "Left out, because their evidence is damaged:", "", *lines, ""])


def _copy_run(
    layout: Layout, store: Store, record: Record, folder: Path, *, with_predictions: bool
) -> list[CrateFile]:
    names = [name for name in sorted(record.files) if with_predictions or not name.endswith(".npy")]
    files = []
    for name in (RECORD_FILE, *names):
        target = f"runs/{record.key}/{name}"
        _copy(store.path(record.key) / name, folder / target)
        files.append(_crate_file(folder, target))
    scores = scores_path(layout, record.key)
    if scores.is_file():
        target = f"scores/{record.key}.json"
        _copy(scores, folder / target)
        files.append(_crate_file(folder, target))
    return files


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _crate_file(folder: Path, name: str) -> CrateFile:
    path = folder / name
    return CrateFile(name, sha256_of(path), path.stat().st_size)


def _zip(folder: Path, output: Path) -> None:
    with _whole_file(output) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _ZIP_EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, path.read_bytes())


@contextmanager
def _whole_file(path: Path) -> Iterator[Path]:
    """The path of a draft, which gets its name only if the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
