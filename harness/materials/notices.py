"""What fetched parts say of themselves, recorded beside the locks: licences, and what they need.

Locks hold names and checksums. A bill of materials needs more, and must be the same on a machine that has fetched
nothing. So it is read once from the parts themselves, each checked against its lock. No tree depends on it.
"""

from __future__ import annotations

import json
import re
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from email.message import Message
from email.parser import HeaderParser
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from pydantic import ValidationError

from harness.base.errors import CorruptData, ManifestError
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.images.cards import Environment, environment_chain
from harness.images.context import parts_of
from harness.images.deb import open_data, read_control
from harness.images.debian import alternatives_of, needs_of
from harness.images.lock import held_packages
from harness.images.locks import Part
from harness.images.parts import checked_part, is_fetched
from harness.images.record import variant_of

NOTICES = "notices.jsonl"
# Packages whose documentation is a link to that of another, which may be one again.
_MOST_LINKS = 5
_LONGEST_NAME = 80
# Where every image runs, whatever this machine is.
_PLACE = {
    "extra": "",
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "sys_platform": "linux",
}
_MACHINE_READABLE = re.compile(r"^Format(-Specification)?:.*(copyright-format|dep5)", re.MULTILINE | re.IGNORECASE)


class Notice(Strict):
    """One line of notices.jsonl: what one part says of itself."""

    sha256: str
    file: str
    # Names of licences as the part writes them; all of them hold, each for some of its files.
    licences: list[str] = []
    # Common licences that a copyright file in free text refers to; which files they hold for is not said.
    refers: list[str] = []
    # Every entry needs one of its names.
    needs: list[list[str]] = []
    provides: list[str] = []
    # The Debian source package, where it has another name.
    source: str = ""


def read_notices(environment: Environment) -> Mapping[str, Notice]:
    """The recorded notices of an environment's own parts, by sha256; empty where none were recorded."""
    path = environment.folder / NOTICES
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else {}


def unlike_notices(environment: Environment, parts: Iterable[Part]) -> list[str]:
    """The files of these parts whose notice was recorded of a file with another sha256."""
    noticed = {notice.file: sha256 for sha256, notice in read_notices(environment).items()}
    return [part.file for part in parts if noticed.get(part.file, part.sha256) != part.sha256]


def record_notices(layout: Layout, name: str) -> tuple[Path, int]:
    """Record what the fetched parts of one environment say; returns the file, and for how many parts."""
    chain = environment_chain(layout, name)
    environment = chain[-1]
    parts = {
        part.sha256: part
        for accelerator, variant in environment.card.variants.items()
        if not variant.not_lockable
        for part in parts_of(environment, variant_of(environment, accelerator))
    }
    debs = {package.name: package.part for package in held_packages(chain)}
    notices = dict(read_notices(environment))
    for part in parts.values():
        if is_fetched(layout, part) and part.kind != "conda":
            notices[part.sha256] = _notice(layout, part, debs, chain)
    notices = {sha256: notice for sha256, notice in notices.items() if sha256 in parts}
    lines = [
        json.dumps(notice.model_dump(exclude_defaults=True), sort_keys=True, ensure_ascii=False)
        for notice in sorted(notices.values(), key=lambda notice: (notice.file, notice.sha256))
    ]
    path = environment.folder / NOTICES
    write_atomic(path, "".join(f"{line}\n" for line in lines))
    return path, len(notices)


@cache
def _read(path: Path, _changed: int) -> Mapping[str, Notice]:
    notices = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            notice = Notice.model_validate_json(line)
        except ValidationError as error:
            raise ManifestError(
                f"not a notice: {error.errors()[0]['msg']}",
                where=f"{path}: line {number}",
                todo=f"restore the file, or make it again: `harness image sbom {path.parent.name} --record`",
            ) from None
        notices[notice.sha256] = notice
    return notices


def _notice(layout: Layout, part: Part, debs: Mapping[str, Part], chain: Sequence[Environment]) -> Notice:
    path = checked_part(layout, part)
    if part.kind == "debian":
        return _of_debian(layout, path, part, debs)
    wheels = chain[-1].card.wheels
    assert wheels is not None  # only wheels and source distributions are left
    facts = _wheel_facts(path) if part.kind == "wheel" else _source_facts(path)
    requirements = [Requirement(text) for text in facts.get_all("Requires-Dist", [])]
    place = {**_PLACE, "python_version": wheels.python, "python_full_version": f"{wheels.python}.0"}
    needs = sorted({one.name for one in requirements if one.marker is None or one.marker.evaluate(place)})
    return Notice(
        sha256=part.sha256, file=part.file, licences=_python_licences(facts), needs=[[name] for name in needs]
    )


def _of_debian(layout: Layout, path: Path, part: Part, debs: Mapping[str, Part]) -> Notice:
    fields = read_control(path)
    text = _copyright(layout, fields["Package"], debs)
    # with the version in brackets, where that is another
    source = fields.get("Source", fields["Package"]).split(" ")[0]
    machine_readable = _MACHINE_READABLE.search(text) is not None
    names = re.findall(r"^License:[ \t]*(\S.*?)[ \t]*$", text, re.MULTILINE) if machine_readable else []
    common = re.findall(r"common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text)
    return Notice(
        sha256=part.sha256,
        file=part.file,
        licences=sorted(set(names)),
        refers=[] if machine_readable else sorted(set(common)),
        needs=needs_of(fields),
        provides=alternatives_of(fields.get("Provides", "").replace(",", "|")),
        source="" if source == fields["Package"] else source,
    )


def _copyright(layout: Layout, package: str, debs: Mapping[str, Part]) -> str:
    """The text of a package's copyright file; that of another package, if its documentation is a link to it."""
    for _ in range(_MOST_LINKS):
        if package not in debs or not is_fetched(layout, debs[package]):
            break
        folder, target = f"usr/share/doc/{package}", ""
        with open_data(checked_part(layout, debs[package])) as archive:
            for info in archive:
                name = info.name.removeprefix("./")
                if name not in (folder, f"{folder}/copyright") or info.isdir():
                    continue
                if info.isreg() and (stream := archive.extractfile(info)):
                    return stream.read().decode("utf-8", "replace")
                target = info.linkname
                break
        package = next(
            (step for step in target.split("/") if step not in ("", ".", "..", "usr", "share", "doc")), ""
        )
    return ""


def _wheel_facts(path: Path) -> Message:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
        return _facts(path, [archive.read(name) for name in names[:1]])


def _source_facts(path: Path) -> Message:
    with tarfile.open(path, "r:gz") as archive:
        infos = [info for info in archive if re.fullmatch(r"[^/]+/PKG-INFO", info.name) and info.isreg()]
        return _facts(path, [stream.read() for info in infos[:1] if (stream := archive.extractfile(info))])


def _facts(path: Path, texts: Sequence[bytes]) -> Message:
    if not texts:
        raise CorruptData(
            "a Python package has no metadata", where=str(path), todo="delete this file and fetch it again"
        )
    return HeaderParser().parsestr(texts[0].decode("utf-8", "replace"))


def _python_licences(facts: Message) -> list[str]:
    """The name of the licence; whole texts, which older packages put into the same field, are no name."""
    expression, free = facts.get("License-Expression", ""), facts.get("License", "").strip()
    if expression:
        return [expression]
    if (
        free
        and free != "UNKNOWN"
        and "\n" not in free
        and len(free) <= _LONGEST_NAME
        and "copyright" not in free.lower()
    ):
        return [free]
    return _classified(facts.get_all("Classifier", []))


def _classified(classifiers: Iterable[str]) -> list[str]:
    steps = [text.split(" :: ") for text in classifiers if text.startswith("License :: ")]
    return sorted({path[-1] for path in steps if path[-1] != "OSI Approved"})
