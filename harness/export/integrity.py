"""What is checked of a crate as a whole: its files, its suite, and all that follows from its other files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from harness.audit.steps import Checked, Step, failed, not_checked, ok
from harness.base.errors import CorruptData
from harness.base.few import few
from harness.base.files import digest_of, sha256_of
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.export.contents import METADATA, SUITE, SUMS, Contents, SuiteCell, SuiteFile, relative_path
from harness.export.crate import CONTEXT, describe
from harness.export.summaries import described_files, describer, texts
from harness.planning.suites import jobs_of, load_suite, suite_names

# Of what differs: one changed file may change thousands of entities.
_SHOWN = 20


def check_sums(folder: Path) -> list[Step]:
    """Every file against the list of checksums, and nothing beside them."""
    path, faults, names = folder / SUMS, list[str](), set[str]()
    try:
        rows = [line.partition("  ") for line in path.read_text(encoding="utf-8").splitlines()]
    except UnicodeDecodeError:
        raise CorruptData(
            "the list of checksums is no text", where=str(path), todo="get the crate again"
        ) from None
    sums = {name: digest for digest, _, name in rows}
    for file in sorted(folder.rglob("*")):
        if file.is_symlink() or not (file.is_file() or file.is_dir()):
            faults.append(f"no file or folder: {relative_path(folder, file)}")
        elif file.is_file() and file != path:
            names.add(relative_path(folder, file))
    for name in sorted(names | sums.keys()):
        if name not in sums or name not in names:
            faults.append(f"{'not listed' if name not in sums else 'missing'}: {name}")
        elif sums[name] != sha256_of(folder / name):
            faults.append(f"its checksum differs: {name}")
    return _steps("files", f"{counted(len(names), 'file')} against {SUMS}", faults, path)


def check_cells(cells: Sequence[SuiteCell], keys: Set[str]) -> list[Step]:
    """A cell without a run may not say that there was one, nor be pinned to another job than it names.

    No run may be planned twice: a plan would refuse it, so that nothing of the crate could be made again.
    """
    planned = Counter(cell.planned.key for cell in cells if cell.planned)
    faults = [f"a run is planned twice: {key}" for key, count in planned.items() if count > 1]
    faults += [
        f"a cell is pinned to another job: {cell.job.label}"
        for cell in cells
        if cell.planned and cell.planned.job != cell.job
    ]
    faults += [
        f"'{cell.verdict}' without a run: {cell.job.label}"
        for cell in cells
        if cell.verdict.is_final and not (cell.planned and cell.planned.key in keys)
    ]
    return _steps("suite", counted(len(cells), "planned cell"), faults, SUITE)


def check_plan(layout: Layout, suite: SuiteFile) -> list[Step]:
    """The cells of the crate are those that the repository plans in the suite of this name, if it has one."""
    if suite.name not in suite_names():
        return [
            not_checked("plan", f"'{suite.name}' is no suite of this repository: who packed it chose its runs")
        ]
    planned = {
        digest_of(job.model_dump(mode="json")): job.label for job in jobs_of(layout, load_suite(suite.name))
    }
    packed = {digest_of(cell.job.model_dump(mode="json")): cell.job.label for cell in suite.cells}
    faults = [f"not in the crate: {label}" for job, label in planned.items() if job not in packed]
    faults += [f"not in the suite: {label}" for job, label in packed.items() if job not in planned]
    return _steps("plan", f"the cells that suite '{suite.name}' plans", faults, SUITE)


def check_derived(contents: Contents) -> list[Step]:
    """README, status, bills of materials and description, made again from the other files."""
    steps = []
    for name, text in texts(contents).items():
        path = contents.folder / name
        same = path.is_file() and path.read_bytes() == text.encode()
        steps += _steps(name, "follows from the other files", [] if same else ["not what these give"], path)
    faults, path = list(_faults(contents)), contents.folder / METADATA
    steps += _steps("description", "every entity follows from the other files", faults, path)
    if any(step.checked is not Checked.OK for step in steps) and contents.suite.describer != describer():
        return [not_checked("description", "another version of the harness wrote it; check that out")]
    return steps


def _faults(contents: Contents) -> Iterator[str]:
    """Where the description is not what the other files of the crate give."""
    try:
        document = json.loads((contents.folder / METADATA).read_bytes())
        entities = {entity["@id"]: entity for entity in document["@graph"]}
        whole = document.keys() == {"@context", "@graph"} and len(entities) == len(document["@graph"])
    except (OSError, ValueError, KeyError, TypeError):
        yield "it can't be read"
        return
    if not whole or document["@context"] != CONTEXT:
        yield "another context, or an entity that stands twice"
    for entity in describe(contents, described_files(contents.folder)):
        found = entities.pop(entity["@id"], {})
        # as it is read again: a tuple is written as a list
        expected = json.loads(json.dumps(entity))
        if names := sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name)):
            yield f"{entity['@id']}: {', '.join(names)}"
    yield from (f"{name}: no such entity" for name in entities)


def _steps(name: str, what: str, faults: Sequence[str], where: Path | str) -> list[Step]:
    if not faults:
        return [ok(name, what)]
    return [failed(name, fault, where=where) for fault in few(faults, _SHOWN)]
