"""What just fits passes, what just does not is refused: packed crates, lists of faults, licences, identifiers."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from harness.audit.steps import Audit, Checked, Lack, Step, failed, not_checked, ok
from harness.base.errors import CorruptData, UsageError
from harness.base.layout import Layout
from harness.base.progress import Silent
from harness.base.vocabulary import Verdict
from harness.data import load_manifest
from harness.export import archives
from harness.export.archives import unpacked, write_zip
from harness.export.contents import SuiteCell, SuiteFile, bill_path, crate_layout, read_suite
from harness.export.integrity import check_cells, check_plan, check_sums
from harness.export.licences import may_hand_on, spdx
from harness.export.parts import copy_parts, environment_files, manifest_files, method_files
from harness.export.scores import difference
from harness.export.swhid import page_of
from harness.export.things import licence, licence_id, references
from harness.export.verdicts import to_json, to_text
from harness.export.verify import Verification, outcome
from harness.images.cards import environment_chain
from harness.planning.suites import jobs_of, load_suite
from harness.results.scoring import Scores
from tests.fabricate import copy_repository, job_of, plan_of, planned_of


class Notes(Silent):
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files: in a folder, one that may be executed, and one that is empty."""
    folder = tmp_path / "folder"
    (folder / "b").mkdir(parents=True)
    (folder / "empty").mkdir()
    for name, text, mode in (("b/text.md", "x" * 5000, 0o640), ("run.sh", "y", 0o700), ("a.json", "", 0o600)):
        (folder / name).write_text(text)
        (folder / name).chmod(mode)
    return folder


def test_a_packed_crate_holds_every_file_in_order_and_nothing_of_this_machine(
    folder: Path, tmp_path: Path
) -> None:
    notes = Notes()
    write_zip(folder, tmp_path / "one.zip", notes)
    assert notes.lines == ["compressing 3 files"]
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        found = [
            (one.filename, one.date_time, one.compress_type, one.external_attr >> 16, one.file_size)
            for one in archive.infolist()
        ]
        assert archive.read("b/text.md") == b"x" * 5000 and archive.testzip() is None
        assert archive.getinfo("b/text.md").compress_size < 100
    epoch, packed = (1980, 1, 1, 0, 0, 0), zipfile.ZIP_DEFLATED
    assert found == [
        ("a.json", epoch, packed, 0o644, 0),
        ("b/text.md", epoch, packed, 0o644, 5000),
        ("run.sh", epoch, packed, 0o755, 1),
    ]
    again = tmp_path / "other" / "folder"
    shutil.copytree(folder, again)
    for path in again.rglob("*"):
        os.utime(path, (1e9, 1e9))
    write_zip(again, tmp_path / "two.zip", Silent())
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "other", "one.zip", "two.zip"}


def test_a_failure_leaves_the_earlier_packed_crate(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crate.zip").write_text("earlier")

    def full_disk(*_: object) -> None:
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".crate.zip.")]
        raise OSError("no space left")

    monkeypatch.setattr(shutil, "copyfileobj", full_disk)
    with pytest.raises(OSError, match="no space left"):
        write_zip(folder, tmp_path / "crate.zip", Silent())
    assert {path.name: path.is_dir() or path.read_text() for path in tmp_path.iterdir()} == {
        "folder": True,
        "crate.zip": "earlier",
    }


def test_what_was_packed_unpacks_as_it_was(folder: Path, tmp_path: Path) -> None:
    write_zip(folder, tmp_path / "crate.zip", Silent())
    with unpacked(tmp_path / "crate.zip") as out:
        found = {
            path.relative_to(out).as_posix(): (path.read_text(), stat.S_IMODE(path.stat().st_mode))
            for path in out.rglob("*")
            if path.is_file()
        }
    assert found == {"a.json": ("", 0o644), "b/text.md": ("x" * 5000, 0o644), "run.sh": ("y", 0o755)}
    assert not out.exists()
    with unpacked(folder) as out:
        assert out == folder
    assert folder.is_dir()


def _zip(path: Path, *entries: tuple[str, int]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, mode in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, "text")
    return path


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([("a", 0o644), ("b/c", 0o755), ("b/", stat.S_IFDIR | 0o755), ("b/..c", 0o644)], ""),
        ([("a", stat.S_IFREG | 0o644)], ""),
        ([("a", 0o644), ("/b", 0o644)], "/b"),
        ([("a/../b", 0o644)], "a/../b"),
        ([("..", 0o644)], ".."),
        ([("b/..", 0o644)], "b/.."),
        ([("a", 0o644), ("b", stat.S_IFLNK | 0o777)], "b"),
        ([("a", 0o644), ("b", 0o644), ("a", 0o644)], "a"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_no_entry_leads_out_of_a_packed_crate(entries: list[tuple[str, int]], fault: str, tmp_path: Path) -> None:
    path = _zip(tmp_path / "crate.zip", *entries)
    if not fault:
        with unpacked(path) as out:
            assert (out / "a").read_text() == "text"
            assert {one.relative_to(out).as_posix() for one in out.rglob("*")} == {
                name.strip("/") for name, _ in entries
            } | {"b" for name, _ in entries if "/" in name}
        return
    with pytest.raises(CorruptData) as refused, unpacked(path):
        pass
    assert refused.value.what == f"the crate can't be unpacked: {fault} leads out of the crate, or stands twice"
    assert (refused.value.where, refused.value.todo) == (str(path), "get it again")
    assert [one.name for one in tmp_path.iterdir()] == ["crate.zip"]


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_crate_unpacks_to_a_tebibyte_at_most(more: int, fits: bool, tmp_path: Path) -> None:
    class Archive:
        def infolist(self) -> list[zipfile.ZipInfo]:
            one, two = zipfile.ZipInfo("a"), zipfile.ZipInfo("b")
            one.file_size, two.file_size = 2**40 - 7, 7 + more
            return [one, two]

        def extract(self, info: zipfile.ZipInfo, target: Path) -> str:
            raise InterruptedError(f"{info.filename} to {target}")

    expected = InterruptedError if fits else zipfile.BadZipFile
    with pytest.raises(expected) as raised:
        archives._unpack(cast(zipfile.ZipFile, Archive()), tmp_path)
    told = f"a to {tmp_path}" if fits else "it unpacks to more than 1099511627776 bytes"
    assert str(raised.value) == told


@pytest.mark.parametrize("what", ["cut", "text", "nothing"])
def test_what_is_no_packed_crate_is_named(what: str, tmp_path: Path) -> None:
    path = tmp_path / "crate.zip"
    if what == "cut":
        _zip(path, ("a", 0o644), ("b", 0o644))
        content = path.read_bytes()
        path.write_bytes(content.replace(b"text", b"tex!", 1))
        with pytest.raises(CorruptData, match=r"^.*the crate can't be unpacked: Bad CRC-32 for file 'a'"):  # noqa: SIM117
            with unpacked(path):
                pass
        return
    if what == "text":
        path.write_text("no zip")
    with pytest.raises(UsageError) as refused, unpacked(path):
        pass
    assert (refused.value.what, refused.value.where) == ("there is no crate", str(path))
    assert refused.value.todo == "name the folder or the .zip that `harness export` wrote"


@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 22])
def test_of_many_faults_twenty_are_shown(count: int, tmp_path: Path) -> None:
    lines = [f"{'0' * 64}  {number:02}\n" for number in range(count)]
    (tmp_path / "SHA256SUMS").write_text("".join(lines))
    where = str(tmp_path / "SHA256SUMS")
    steps = [failed("files", f"missing: {number:02}", where=where) for number in range(min(count, 20))]
    if count > 20:
        steps.append(failed("files", f"and {count - 20} more", where=where))
    assert check_sums(tmp_path) == (steps or [ok("files", "0 files against SHA256SUMS")])


def test_files_are_held_against_their_list(tmp_path: Path) -> None:
    sums = {"a": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}
    (tmp_path / "a").write_text("a")
    (tmp_path / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    assert check_sums(tmp_path) == [ok("files", "1 file against SHA256SUMS")]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "more").write_text("")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "folder").symlink_to("b")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_text("b")
    told = [step.what for step in check_sums(tmp_path)]
    assert told == [
        "no file or folder: folder",
        "no file or folder: link",
        "no file or folder: pipe",
        "its checksum differs: a",
        "not listed: b/more",
    ]
    (tmp_path / "SHA256SUMS").write_bytes(b"\xff\xfe")
    with pytest.raises(CorruptData, match="the list of checksums is no text") as refused:
        check_sums(tmp_path)
    assert refused.value.where == str(tmp_path / "SHA256SUMS")


def test_a_cell_says_that_it_ended_only_where_its_run_is(repository: Layout) -> None:
    cells = plan_of(repository, ["constant", "als_wr"]).cells
    planned = [planned_of(cell) for cell in cells]

    def cell(number: int, verdict: Verdict, pinned: int | None = -1) -> SuiteCell:
        own = None if pinned is None else planned[number if pinned < 0 else pinned]
        return SuiteCell(job=cells[number].job, planned=own, verdict=verdict, reason="")

    keys = {planned[0].key}
    fine = [
        cell(0, Verdict.OK),
        cell(1, Verdict.PENDING),
        cell(2, Verdict.INFRASTRUCTURE),
        cell(3, Verdict.MISSING_DATA, None),
    ]
    assert check_cells(fine, keys) == [ok("suite", "4 planned cells")]
    wrong = [
        cell(1, Verdict.OK),
        cell(2, Verdict.TIMEOUT, None),
        cell(3, Verdict.PENDING, 0),
        cell(3, Verdict.OK, 0),
    ]
    assert check_cells(wrong, keys) == [
        failed("suite", f"a cell is pinned to another job: {cells[3].job.label}", where="suite.json"),
        failed("suite", f"a cell is pinned to another job: {cells[3].job.label}", where="suite.json"),
        failed("suite", f"'ok' without a run: {cells[1].job.label}", where="suite.json"),
        failed("suite", f"'timeout' without a run: {cells[2].job.label}", where="suite.json"),
    ]


def test_a_suite_has_the_cells_that_the_repository_plans(repository: Layout) -> None:
    jobs = [*jobs_of(repository, load_suite("dti-smoke"))]
    stranger = job_of(repository, "constant", 1)

    def suite(name: str, *jobs: Any) -> SuiteFile:
        cells = [SuiteCell(job=job, planned=None, verdict=Verdict.PENDING, reason="") for job in jobs]
        return SuiteFile.model_validate(
            {"name": name, "extent": "records and scores of reference results", "profile": "process"}
            | {"describer": "", "cells": cells}
        )

    assert check_plan(repository, suite("dti-smoke", *jobs)) == [
        ok("plan", "the cells that suite 'dti-smoke' plans")
    ]
    assert check_plan(repository, suite("dti-smoke", *jobs[1:], stranger)) == [
        failed("plan", f"not in the crate: {jobs[0].label}", where="suite.json"),
        failed("plan", f"not in the suite: {stranger.label}", where="suite.json"),
    ]
    assert check_plan(repository, suite("mine", *jobs)) == [
        not_checked("plan", "no suite of this repository is called 'mine'")
    ]


def test_the_reason_why_a_suite_can_not_be_read_is_short(tmp_path: Path) -> None:
    with pytest.raises(CorruptData) as refused:
        read_suite(tmp_path)
    told = f"[Errno 2] No such file or directory: '{tmp_path}/suite.json'"
    assert refused.value.where == f"{tmp_path}/suite.json: {told[:200]}"
    assert refused.value.todo == "name the folder or the .zip that `harness export` wrote"
    (tmp_path / "suite.json").write_text('{"name": 1}')
    with pytest.raises(ValidationError) as whole:
        SuiteFile.model_validate({"name": 1})
    words = " ".join(str(whole.value).split())
    assert len(words) > 201
    with pytest.raises(CorruptData, match="this is no crate of Permafrost, or its suite can't be read") as refused:
        read_suite(tmp_path)
    assert refused.value.where == f"{tmp_path}/suite.json: {words[:200]}"


_STATEMENTS = {
    "MIT": "MIT",
    "MIT, see the file": "MIT",
    "Apache-2.0; of the code alone": "Apache-2.0",
    "BSD-2-Clause: simplified": "BSD-2-Clause",
    " BSD-3-Clause (new)": "BSD-3-Clause",
    "GPL-3.0": "GPL-3.0-only",
    "CC0 (public domain)": "CC0-1.0",
    "CC0-1.0": "CC0-1.0",
    "CC-BY-4.0": "CC-BY-4.0",
    "CC BY 4.0, but for figures": "CC-BY-4.0",
    "": "",
    "none stated; MIT is likely": "",
    "MIT or GPL-3.0": "",
    "mit": "",
    "generated; no rights needed": "",
    "CC BY-NC 4.0": "",
}


@pytest.mark.parametrize("statement", _STATEMENTS)
def test_a_licence_is_known_by_its_first_words(statement: str) -> None:
    name = _STATEMENTS[statement]
    assert spdx(statement) == name
    entity = licence(statement)
    assert entity["description"] == statement and entity["name"] == (name or statement)
    assert entity["@id"] == licence_id(statement)
    assert (entity["@id"] == f"https://spdx.org/licenses/{name}") == bool(name)


def test_data_are_handed_on_only_where_every_statement_allows_it(repository: Layout) -> None:
    made = load_manifest(repository, "synthetic")
    assert may_hand_on(made)
    for statement, free in (("generated", False), ("generated;", True), ("generated by hand", False), ("", False)):
        assert may_hand_on(made.model_copy(update={"licence": statement})) is free
    for field, value in (("bring", "a reason"), ("brought", ["a table"]), ("extends", "synthetic")):
        assert not may_hand_on(made.model_copy(update={field: value}))
    corpus = load_manifest(repository, "combos_corpus")
    assert len(corpus.files) > 1
    for one, other, free in (
        ("MIT", "", True),
        ("", "", True),
        ("MIT", "none stated", False),
        ("none stated", "MIT", False),
    ):
        files = [file.model_copy(update={"licence": "MIT"}) for file in corpus.files]
        files[0] = files[0].model_copy(update={"licence": one})
        files[-1] = files[-1].model_copy(update={"licence": other})
        assert may_hand_on(corpus.model_copy(update={"licence": "MIT", "files": files})) is free


def _made(folder: Path, names: dict[str, str]) -> Path:
    for name, text in names.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    "names",
    [
        {"a": ""},
        {"a": "x", "b/c": "y"},
        # git sorts folders as if their names ended with a slash
        {"a.b": "1", "a/b": "2", "a-b": "3", "a0": "4", "ab": "5", "a/a.b/c": "6", "a/a/c": "7", "a/a-b": "8"},
        {"ä ö": "é", 'q"uote': "x" * 70000, "new\nline": "", "back\\slash": "7", "deep/er/and/deeper": "z"},
        {"run.sh": "4", "4": "run", "40000": "0", "40000.x/y": "1"},
    ],
)
@pytest.mark.parametrize("mode", [0o644, 0o755, 0o700, 0o655])
def test_a_folder_has_the_name_that_git_gives_it(names: dict[str, str], mode: int, tmp_path: Path) -> None:
    folder = _made(tmp_path / "code", names)
    first = folder / min(names)
    first.chmod(mode)

    def git(*command: str) -> str:
        run = ["git", "-c", "core.fileMode=true", "-c", "core.autocrlf=false", *command]
        return subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    git("add", "-A")
    tree, blob = git("write-tree"), git("hash-object", "--no-filters", str(first))
    shutil.rmtree(folder / ".git")
    page = "https://archive.softwareheritage.org/swh:1"
    assert page_of(folder) == f"{page}:dir:{tree}"
    assert page_of(first) == f"{page}:cnt:{blob}"


def test_one_reference_stands_without_a_list() -> None:
    assert references(["#a"]) == references(["#a", "#a"]) == {"@id": "#a"}
    assert references(["#b", "#a", "#b"]) == [{"@id": "#b"}, {"@id": "#a"}] and references([]) == []


def _scores(metrics: dict[str, float | None], series: Any = None, notes: Any = None) -> Scores:
    return Scores("key", "scorer", {}, metrics, notes=notes or {}, series=series or {})


@pytest.mark.parametrize(
    ("computed", "kept", "told"),
    [
        ({"a": 0.5, "b": None}, {"a": 0.5, "b": None}, ""),
        ({"a": 0.5}, {"a": 0.5 + 9e-13}, ""),
        ({"a": 1000.0}, {"a": 1000.0 + 9e-10}, ""),
        ({"a": 0.5}, {"a": 0.5 + 1.2e-12}, "metric a is 0.5, kept is 0.5000000000012"),
        ({"a": 1000.0}, {"a": 1000.0 + 1.1e-9}, "metric a is 1000.0, kept is 1000.0000000011"),
        ({"a": 0.0}, {"a": 9e-13}, ""),
        ({"a": 0.0}, {"a": 2e-12}, "metric a is 0.0, kept is 2e-12"),
        ({"a": None}, {"a": 0.0}, "metric a is None, kept is 0.0"),
        ({"a": 0.0}, {"a": None}, "metric a is 0.0, kept is None"),
        ({"b": 1.0, "a": 2.0}, {"b": 2.0, "a": 1.0}, "metric a is 2.0, kept is 1.0"),
        ({"a": 1.0}, {"a": 1.0, "b": None}, "metric b stands on one side only"),
        ({"a": 1.0, "b": 1.0}, {"b": 1.0}, "metric a stands on one side only"),
    ],
)
def test_scores_differ_beyond_the_last_bits(computed: Any, kept: Any, told: str) -> None:
    assert difference(_scores(computed), _scores(kept)) == told


def test_series_and_notes_agree_to_the_last_digit() -> None:
    one = _scores({}, {"x": [0.5]}, {"a": "why"})
    assert difference(one, _scores({}, {"x": [0.5]}, {"a": "why"})) == ""
    assert difference(one, _scores({}, {"x": [0.5 + 1e-15]}, {"a": "why"})) == "a series of values differs"
    assert difference(one, _scores({}, {"x": [0.5]}, {"a": "why not"})) == "the notes differ"
    assert difference(one, _scores({"a": 1.0}, {}, {})) == "metric a stands on one side only"


def test_the_environment_of_a_method_is_all_that_it_extends(repository: Layout, tmp_path: Path) -> None:
    layout = copy_repository(repository, tmp_path)
    for method in ("constant", "lrssl", "emergnn", "deeppurpose"):
        if not (layout.methods / method).is_dir():
            continue
        names, queue = set[str](), [method]
        while queue:
            for one in environment_chain(layout, queue.pop(0)):
                queue += [one.helper] if one.helper and one.helper not in names else []
                names.add(one.name)
        files = [path for name in names for path in (layout.containers / name).rglob("*") if path.is_file()]
        expected = sorted(files, key=lambda path: (path.relative_to(layout.containers).parts[0], path))
        assert environment_files(layout, method) == [str(path.relative_to(layout.root)) for path in expected]


def test_a_folder_of_code_is_copied_whole_and_as_it_was(repository: Layout, tmp_path: Path) -> None:
    layout = copy_repository(repository, tmp_path)
    own = layout.methods / "constant"
    _made(own, {"__pycache__/main.pyc": "x", "notes/more.md": "y", "run.py": "z"})
    (own / "run.py").chmod(0o700)
    (own / "main.py").chmod(0o640)
    root = tmp_path / "crate"
    copy_parts(layout, root, ["constant"], ["synthetic"])
    there = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert "methods/constant/notes/more.md" in there and not [name for name in there if "__pycache__" in name]
    modes = {
        name: stat.S_IMODE((root / f"methods/constant/{name}").stat().st_mode) for name in ("run.py", "main.py")
    }
    assert modes == {"run.py": 0o755, "main.py": 0o644}
    assert method_files(layout, "constant") == [
        "methods/constant/main.py",
        "methods/constant/run.py",
        "methods/_sdk/python/permafrost_sdk.py",
        "harness/benchmarks/repurposing/sdk/python/repurposing_sdk.py",
    ]
    assert {name for name in there if name.startswith("datasets/")} == {
        "datasets/synthetic/dataset.toml",
        "datasets/synthetic/splits.csv",
    }
    (own / "out").symlink_to("/etc/hostname")
    crate = tmp_path / "again"
    with pytest.raises(Exception, match="is a link"):
        copy_parts(layout, crate, ["constant"], ["synthetic"])


def test_files_beside_a_manifest_are_handed_on_where_they_may(repository: Layout, tmp_path: Path) -> None:
    layout = copy_repository(repository, tmp_path)
    folder = layout.datasets / "synthetic"
    manifest = folder / "dataset.toml"
    text = manifest.read_text()
    own = '\n[[files]]\nname = "own.csv"\nurls = []\nsha256 = "{}"\nbytes = 1\n'.format("0" * 64)
    for name in ("own.csv", "other.csv", "convert.py", "first_seen.json"):
        (folder / name).write_text("x")
    always = ["dataset.toml", "splits.csv", "first_seen.json"]
    for licence_, converter, expected in (
        ("generated; no", "synthetic", [*always, "own.csv"]),
        ("generated; no", "./convert.py", [*always, "own.csv", "convert.py"]),
        ("none stated", "./convert.py", [*always, "convert.py"]),
    ):
        changed = text.replace("generated; no rights needed", licence_)
        changed = changed.replace('converter = "synthetic"', f'converter = "{converter}"')
        manifest.write_text(changed + own)
        assert manifest_files(layout, "synthetic") == [f"datasets/synthetic/{name}" for name in expected]


@pytest.mark.parametrize("place", ["data", "extended"])
def test_a_dataset_of_ones_own_lies_among_the_others(repository: Layout, tmp_path: Path, place: str) -> None:
    copied = copy_repository(repository, tmp_path)
    layout = Layout(copied.root, copied.cache, copied.local, tmp_path / "mine")
    target = (tmp_path / "mine" if place == "data" else layout.extended) / "own"
    shutil.copytree(layout.datasets / "synthetic", target)
    manifest = target / "dataset.toml"
    manifest.write_text(manifest.read_text().replace('name = "synthetic"', 'name = "own"'))
    assert manifest_files(layout, "own") == ["datasets/own/dataset.toml", "datasets/own/splits.csv"]
    copy_parts(layout, tmp_path / "crate", ["constant"], ["own"])
    assert (tmp_path / "crate/datasets/own/dataset.toml").read_text() == manifest.read_text()


def test_a_crate_is_laid_out_as_a_machine_is(tmp_path: Path) -> None:
    layout = crate_layout(tmp_path)
    places = (layout.root, layout.cache, layout.local, layout.benchmarks, layout.runs)
    names = ("repository", "data", "", "repository/harness/benchmarks", "runs")
    assert places == tuple(tmp_path / name for name in names)
    assert bill_path("bnnr", "cuda") == "materials/bnnr.cuda.cdx.json"


def _audit(key: str, label: str, *steps: Step) -> Audit:
    return Audit(key, label, "", steps)


_FINE = ok("record", "as it was", found="f")
_BROKEN = Step("scores", Checked.FAILED, "differ", "1", "2", "a/path")
_BARE = failed("log", "is gone")
_UNSEEN = not_checked("data", "no labels", Lack.DATA)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((), Checked.OK),
        ((_FINE,), Checked.OK),
        ((_FINE, _UNSEEN), Checked.NOT_CHECKED),
        ((_UNSEEN, _FINE, _BROKEN), Checked.FAILED),
        ((_BROKEN,), Checked.FAILED),
    ],
)
def test_the_worst_step_is_the_outcome(steps: tuple[Step, ...], expected: Checked) -> None:
    one = _audit("k", "l", *steps)
    assert outcome(one) is expected
    for runs in ((), (_audit("", "", _FINE),), (_audit("", "", _UNSEEN),)):
        assert Verification(one, runs, 0).failed is (expected is Checked.FAILED)
    assert Verification(_audit("", ""), (one,), 0).failed is (expected is Checked.FAILED)


_RUNS = (
    _audit("0123456789abcdef", "one", _FINE),
    _audit("1123456789abcdef", "two", _FINE, _BROKEN, _BARE),
    _audit("2123456789abcdef", "three", _UNSEEN),
    _audit("3123456789abcdef", "four", _UNSEEN, _FINE),
)
_TEXT = """ok           crate of x
{fine}ok           0123456789ab  one
{fine}FAILED       1123456789ab  two
{fine}    FAILED  scores: differ
      expected: 1
      found: 2
      where: a/path
    FAILED  log: is gone
not checked  2123456789ab  three
{unseen}not checked  3123456789ab  four
{unseen}{fine}
Not checked
  data: no labels (2x)

4 runs: 1 ok, 1 FAILED, 2 not checked; the crate as a whole: ok
planned, without a run in the crate: 1 cell
"""


def test_a_verification_reads_as_it_came_out() -> None:
    verification = Verification(_audit("", "crate of x", _FINE), _RUNS, 1)
    fine, unseen = "    ok  record: as it was\n", "    not checked  data: no labels\n"
    assert to_text(verification) == _TEXT.format(fine="", unseen="")
    assert to_text(verification, everything=True) == _TEXT.format(fine=fine, unseen=unseen)
    empty = Verification(_audit("", "crate of x", _BROKEN), (), 0)
    assert to_text(empty).splitlines()[-2:] == ["", "0 runs: none; the crate as a whole: FAILED"]
    assert "Not checked" not in to_text(empty)


def test_a_verification_as_json_has_every_step() -> None:
    def step(one: Step) -> dict[str, Any]:
        lack = str(one.lack) if one.lack else None
        told = {"name": one.name, "checked": str(one.checked), "what": one.what, "expected": one.expected}
        return {**told, "found": one.found, "where": one.where, "lack": lack}

    def audit(one: Audit, outcome: str) -> dict[str, Any]:
        return {"key": one.key, "label": one.label, "outcome": outcome, "steps": [*map(step, one.steps)]}

    crate = _audit("", "crate of x", _FINE)
    ends = ("ok", "FAILED", "not checked", "not checked")
    assert to_json(Verification(crate, _RUNS, 3)) == {
        "failed": True,
        "runs": {"ok": 1, "FAILED": 1, "not checked": 2},
        "cells_without_run": 3,
        "crate": audit(crate, "ok"),
        "audits": [audit(one, end) for one, end in zip(_RUNS, ends, strict=True)],
    }
