"""Croissant descriptions of datasets, made from their manifests: JSON-LD that loaders of datasets read.

A file beside the manifest is named by its path there; a table of ours is described column by column. Files that a
person has to bring, and files whose content nobody has recorded, have no checksum: they are named in words alone.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from harness.base.errors import MissingData
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.data.cells import read_table
from harness.data.manifest import DatasetManifest, SourceFile, load_manifest, manifest_path

# https://docs.mlcommons.org/croissant/docs/croissant-spec.html, whose keys the context must name
VERSION = "http://mlcommons.org/croissant/1.0"
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".nt": "application/n-triples",
    ".txt": "text/plain",
    ".zip": "application/zip",
}
_UNKNOWN_TYPE = "application/octet-stream"
_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
# what manifests call data that we generated ourselves
_OURS = "generated; no rights needed"
_NO_RIGHTS = "https://creativecommons.org/publicdomain/zero/1.0/"


def croissant_of(layout: Layout, name: str) -> dict[str, Any]:
    """The description of one dataset as JSON-LD."""
    manifest = load_manifest(layout, name)
    files = [file for file in manifest.files if file.recorded]
    document: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": manifest.name,
        "alternateName": manifest.title,
        "description": _description(manifest),
        "citeAs": manifest.citation,
        "license": _NO_RIGHTS if manifest.licence == _OURS else manifest.licence,
        "url": _address(files),
        "distribution": [_file_object(file) for file in files],
    }
    if manifest.converted is not None:
        document["identifier"] = f"sha256:{manifest.converted.digest}"
    tables = [file for file in manifest.own_files if file.recorded and file.name.endswith(".csv")]
    folder = manifest_path(layout, name).parent
    if records := [one for file in tables if (one := _record_set(file, folder / file.name))]:
        document["recordSet"] = records
    return document


def _description(manifest: DatasetManifest) -> str:
    statistics = ", ".join(
        f"{name.replace('_', ' ')}: {value}"
        for name, value in sorted(manifest.statistics.model_dump().items())
        if value
    )
    sentences = [manifest.summary or manifest.title, f"After conversion: {statistics}." if statistics else ""]
    if manifest.stand_in:
        sentences.append(f"A stand-in, on which no claim may rest: {manifest.stand_in}.")
    if manifest.bring:
        sentences.append(f"No file can be fetched: {manifest.bring}.")
    brought = [
        *(table.name for table in manifest.brought),
        *(one.name for one in manifest.files if not one.recorded),
    ]
    if brought:
        sentences.append(f"Beside the files that are listed, a person brings {', '.join(brought)}.")
    if manifest.extends:
        sentences.append(f"It is the dataset {manifest.extends} with {counted(len(manifest.new), 'item')} added.")
    return " ".join(sentence for sentence in sentences if sentence)


def _address(files: list[SourceFile]) -> str:
    """Where the first file comes from; of files beside the manifest their folder."""
    return next((url for file in files for url in file.urls[:1]), "./")


def _file_object(file: SourceFile) -> dict[str, Any]:
    media = _MEDIA_TYPES.get(Path(file.name).suffix.lower(), _UNKNOWN_TYPE)
    document = {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.urls[0] if file.urls else file.name,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": media,
        "sha256": file.sha256,
    }
    if file.licence:
        document["license"] = file.licence
    return document


def _record_set(file: SourceFile, path: Path) -> dict[str, Any] | None:
    """The columns of a table, each with the narrowest type that all its values have.

    Loaders read commas and UTF-8 alone, and take the first line that is not empty for the header, also one that
    tells spreadsheet programs what separates cells. Croissant has no words for others: of such a table None.
    """
    if not path.is_file():
        raise MissingData("a file is not here", where=str(path), todo="put it back")
    table = read_table(path)
    if table.separator != ",":
        return None
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            header, line = next((row, reader.line_num) for row in reader if row)
            rows = [*reader]
    except UnicodeDecodeError:
        return None
    if line != table.lines[0][0]:
        return None
    name = Path(file.name).stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": _type_of([row[place] for row in rows if len(row) == len(header)]),
                "source": {"fileObject": {"@id": file.name}, "extract": {"column": column}},
            }
            for place, column in enumerate(header)
        ],
    }


def _type_of(values: list[str]) -> str:
    if values and all(_WHOLE.fullmatch(value) for value in values):
        return "sc:Integer"
    if values and all(_NUMBER.fullmatch(value) for value in values):
        return "sc:Float"
    return "sc:Text"
