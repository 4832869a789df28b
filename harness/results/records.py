"""Records: what one run leaves behind. A record carries its own digest, so that a changed one shows."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field, ValidationError, field_validator

from harness import benchmarks
from harness.base.errors import CorruptData
from harness.base.files import digest_of
from harness.base.manifests import Strict
from harness.base.plain_json import parse_plain
from harness.base.vocabulary import Verdict
from harness.benchmarks.method_report import METHOD
from harness.planning.jobs import PlannedJob
from harness.results.canonical_text import digest_as_read

RECORD_FILE = "record.json"
# What a container was told, and what it printed.
JOB_FILE, LOG_FILE = "job.json", "log.txt"
_ALWAYS = (JOB_FILE, LOG_FILE, METHOD)
_OPTIONAL = {"order", "made_by"}


class StoredFile(Strict):
    """A file beside the record."""

    sha256: str
    bytes: int


class Maker(Strict):
    """What made a run, beside its image and inputs: the harness, the processor, the kernel and the engine.

    `harness` is a digest of the harness' meaning, `commit` that of git, marked by `+` where the code differed from
    it, `scorer` the digest of what scores the benchmark. No path of the machine is among them.
    """

    harness: str
    commit: str
    scorer: str
    processor: str
    flags: list[str]
    kernel: str
    engine: str

    @property
    def text(self) -> str:
        """One line for people."""
        commit = f", commit {self.commit[:12]}{'+' * self.commit.endswith('+')}" if self.commit else ""
        return (
            f"harness {self.harness[:12]}{commit}, scorer {self.scorer[:12]}; {self.processor} "
            f"({' '.join(self.flags)}), Linux {self.kernel}, {self.engine}"
        )


# all runs of a benchmark have files of the same names
@lru_cache(maxsize=1024)
def _lies_within(name: str) -> bool:
    """Whether a name leads to a file below the folder that it is read from."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and bool(path.parts)


def is_fit_to_show(reason: str) -> bool:
    """Whether a terminal obeys nothing of a reason: what a method wrote is made so before it is quoted."""
    return reason.replace("\n", " ").isprintable()


class Record(Strict):
    """One execution of a job in a container, with everything needed to believe it."""

    key: str
    planned: PlannedJob
    verdict: Verdict
    reason: str
    image: dict[str, str]
    limits: dict[str, int]
    resources: dict[str, Any]
    engine: dict[str, Any]
    files: dict[str, StoredFile]
    attempts: int
    started: str
    finished: str
    harness_version: str
    # The secret that the order of its items followed from (benchmarks.order); empty for the published order.
    order: str = Field(default="", exclude_if=lambda value: value == "")
    # Absent in records of earlier versions.
    made_by: Maker | None = Field(default=None, exclude_if=lambda value: value is None)

    @field_validator("reason")
    @classmethod
    def _controls_no_terminal(cls, reason: str) -> str:
        if not is_fit_to_show(reason):
            raise ValueError("it holds what can't be printed")
        return reason

    @field_validator("files")
    @classmethod
    def _lie_within_the_run(cls, files: dict[str, StoredFile]) -> dict[str, StoredFile]:
        for name in files:
            if not _lies_within(name):
                raise ValueError(f"'{name}' is not a file of the run's folder")
        return files

    @property
    def hardware(self) -> tuple[str, list[str]] | None:
        """The processor it ran on, by name and abilities; None where an earlier version wrote down less.

        A name is not enough: virtual machines give processors of several kinds the same.
        """
        return (self.made_by.processor, self.made_by.flags) if self.made_by else None

    @property
    def answer(self) -> dict[str, str]:
        """The sha256 of the files that must come again bit for bit."""
        names = benchmarks.get(self.planned.job.benchmark).compared_files
        return {name: self.files[name].sha256 for name in names if name in self.files}

    @property
    def evidence(self) -> dict[str, str]:
        """The sha256 of the files that its scores are computed from."""
        names = benchmarks.get(self.planned.job.benchmark).scored_files
        return {name: self.files[name].sha256 for name in sorted(names) if name in self.files}

    @property
    def answer_files(self) -> list[str]:
        """The files of its answer, whether or not they must come again."""
        files = benchmarks.get(self.planned.job.benchmark).answer_files
        return [file.name for file in files if file.name in self.files]

    @property
    def missing_files(self) -> list[str]:
        """What a run that ended ok must have left, and this one has not; anything else may be there."""
        required = benchmarks.get(self.planned.job.benchmark).required_files
        return [name for name in (*_ALWAYS, *required) if name not in self.files]

    def to_json(self) -> dict[str, Any]:
        """The record with its digest, ready to be written."""
        content = self.model_dump(mode="json")
        return {**content, "digest": digest_of(content)}


def parse_record(text: bytes, where: Path) -> Record:
    """Read a record and check its digest; `CorruptData` when it was cut, changed, or is not one."""
    content = checked_content(text, where)
    try:
        return Record.model_validate(content)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(str(step) for step in fault["loc"])
        raise _corrupt(f"a record breaks its schema: {fault['msg']}", f"{where}: {field}") from None


class CheckedFields(dict[str, Any]):
    """The fields of a record after its digest was checked, unvalidated; nobody may change them."""

    def __init__(self, fields: dict[str, Any], digest: str) -> None:
        super().__init__(fields)
        self.digest = digest


def checked_content(text: bytes, where: Path | str) -> CheckedFields:
    """The record's fields after its digest was checked, unvalidated: what resuming needs, and no more."""
    try:
        content = parse_plain(text)
    except (ValueError, RecursionError):
        raise _corrupt("a record is cut or not a record", str(where)) from None
    return checked_fields(content, where)


def checked_fields(read: Any, where: Path | str, text: str = "") -> CheckedFields:
    """The same of a JSON value, which may be anything. `text`: what it was read from, if that may be canonical."""
    try:
        content = {name: value for name, value in read.items() if name != "digest"}
        stated_digest = read["digest"]
        digest = digest_as_read(content, stated_digest, text)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise _corrupt("a record is cut or not a record", str(where)) from None
    if digest != stated_digest:
        raise _corrupt("a record differs from its own digest", str(where))
    if odd_fields := (content.keys() ^ Record.model_fields.keys()) - (_OPTIONAL - content.keys()):
        odd = ", ".join(sorted(odd_fields))
        raise _corrupt("a record has other fields than this version writes", f"{where}: {odd}")
    return CheckedFields(content, digest)


def record_digest(fields: dict[str, Any]) -> str:
    """The digest of a record's fields: the one that they were checked by, if they were."""
    return fields.digest if isinstance(fields, CheckedFields) else digest_of(fields)


def _corrupt(what: str, where: str) -> CorruptData:
    return CorruptData(
        what, where=where, todo="remove that run's folder and run again; `harness audit` tells more"
    )
