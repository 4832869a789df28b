"""The files of a crate that follow from its other files: README, status table, bills of materials, description.

They are written when a crate is made, and made again when it is verified.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from harness.base.files import sha256_of
from harness.base.markdown import plain
from harness.base.vocabulary import Verdict
from harness.export.contents import METADATA, README, SUMS, Contents, Extent, bill_path, relative_path
from harness.export.crate import CONTEXT, CrateFile, describe
from harness.export.things import Entity
from harness.materials.sbom import bill_of_materials
from harness.meaning.modules import meaning_of_modules
from harness.status import to_json, to_markdown

_PACKAGE = Path(__file__).parents[1]
_README = """# Permafrost results: {name}
{count} of {planned} planned cells were run. This crate holds {extent}.

- `suite.json`: every planned cell with its verdict; `status.md` and `status.json`: the table of these
- `runs/`: a folder per run, named by job key: record, job, log, the method's own report{answers}
- `scores/`: the scores of each run that ended ok
- `data/`: {data}
- `repository/`: what the runs rest on, under the names of the repository: code, cards, locks, listings of the
  environments, the recipe of the images, manifests, the names that papers use, the modules that compute scores
- `materials/`: a bill of materials per image: every package, with its version and licence (CycloneDX 1.6)
- `ro-crate-metadata.json`: all of this as a Provenance Run Crate (Workflow Run RO-Crate)

In a clone of the repository `harness export --verify CRATE` checks all of it{recomputes}.
`sha256sum --check SHA256SUMS` checks the files alone.
"""
_ANSWERS = {Extent.WHOLE: ", predictions", Extent.WITHOUT_PREDICTIONS: "", Extent.REFERENCE: " (here: the record)"}
_RECOMPUTES = " and computes every score again from the predictions"


@cache
def describer() -> str:
    """A digest of the code that makes these files: another version may make others of the same results."""
    return meaning_of_modules(
        _PACKAGE, ["harness.export.summaries"], ["harness.export", "harness.status", "harness.materials"]
    )


def write_derived(contents: Contents) -> None:
    """Write the files that follow from those that are there."""
    for name, text in texts(contents).items():
        path = contents.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with (contents.folder / METADATA).open("w", encoding="utf-8") as stream:
        stream.writelines(_json_lines(describe(contents, described_files(contents.folder))))


def texts(contents: Contents) -> dict[str, str]:
    """README, status table and bills of materials, by file name."""
    table = contents.table
    status = json.dumps(to_json(table), indent=2, sort_keys=True, ensure_ascii=False)
    return {
        README: _readme(contents),
        "status.json": status + "\n",
        "status.md": to_markdown(table),
        **{bill_path(*image): bill_of_materials(contents.layout, *image)[0] for image in contents.images},
    }


def described_files(folder: Path) -> list[CrateFile]:
    """Every file of a crate but its description and the list of checksums, sorted by name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {relative_path(folder, path): path for path in paths}
    return [
        CrateFile(name, sha256_of(path), path.stat().st_size)
        for name, path in names.items()
        if name not in (METADATA, SUMS)
    ]


def _json_lines(entities: Iterable[Entity]) -> Iterator[str]:
    """The text of a description, an entity per line, so that 100,000 runs are never in memory at once."""
    yield f'{{\n"@context": {json.dumps(CONTEXT)},\n"@graph": [\n'
    separator = ""
    for entity in entities:
        yield separator + json.dumps(entity, sort_keys=True, ensure_ascii=False)
        separator = ",\n"
    yield "\n]\n}\n"


def _readme(contents: Contents) -> str:
    suite = contents.suite
    whole = suite.extent is Extent.WHOLE
    data = "splits, and the true labels of the datasets whose licence allows it" if whole else "nothing"
    text = _README.format(
        name=plain(suite.name),
        count=len(contents.records),
        planned=len(suite.cells),
        extent=suite.extent,
        answers=_ANSWERS[suite.extent],
        data=data,
        recomputes=_RECOMPUTES if whole else "",
    )
    keys = contents.records
    losses = [
        f"- {cell.planned.key}: {cell.reason}"
        for cell in suite.cells
        if cell.planned and cell.planned.key not in keys and cell.verdict is Verdict.INFRASTRUCTURE
    ]
    return text + ("\n".join(["", "Left out:", "", *losses, ""]) if losses else "")
