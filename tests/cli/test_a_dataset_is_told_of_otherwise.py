"""What `harness data` says of datasets and of those of one's own, and how it ends."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import harness.cli.data
from harness import benchmarks
from harness.base.errors import CorruptData, MissingData, UsageError
from harness.base.layout import DATA_VARIABLE, Layout
from harness.cli.data import _next, _state, _verification
from harness.cli.documents.envelope import json_text
from harness.data import dataset_names, load_manifest, manifest_names
from harness.data.croissant import croissant_of
from harness.data.own_dataset import Accepted, Change
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

data = "harness.cli.data"
MATRIX = "drug,d1,d2,d3\na,1,0,1\nb,0,1,0\nc,0,0,0\n"


@pytest.fixture(autouse=True)
def own_cache(repository_here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERMAFROST_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of a person's own, and a folder with a space for the datasets made of it."""
    monkeypatch.setenv(DATA_VARIABLE, "/nowhere")
    (tmp_path / "matrix.csv").write_text(MATRIX)
    return tmp_path / "own data"


def test_a_dataset_of_ones_own_is_made_told_and_accepted_again(own: Path, tmp_path: Path) -> None:
    words = ("--data", str(own), "data")
    table = ("--associations", str(tmp_path / "matrix.csv"))
    result = harness_of(*words, "new", "mine", *table, "--title", "My own")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("mine: ") and lines[0].endswith(" (benchmark repurposing)")
    assert "  " not in lines[0] and " 3 " in lines[0]
    assert lines[-2:] == [
        f"kept in: {own / 'mine'}",
        f"next: harness --data '{own}' predict --dataset mine --top 100 (docs/predicting.md)",
    ]
    told = document(harness_of(*words, "new", "again", *table, "--json"))
    assert (told["name"], told["benchmark"], told["folder"]) == ("again", "repurposing", str(own / "again"))
    assert told["statistics"]["positives"] == 3 and len(told["digest"]) == 64
    assert lines[1:-2] == [f"  {remark}" for remark in told["remarks"]] and told["remarks"]
    shown = document(harness_of(*words, "show", "mine", "--json"))
    assert shown["title"] == "My own" and shown["folder"] == str(own / "mine")
    assert document(harness_of(*words, "show", "again", "--json"))["title"] == "again"

    result = harness_of(*words, "accept", "mine")
    assert result.stdout.splitlines()[0] == "mine: nothing has changed"
    (tmp_path / "matrix.csv").write_text(MATRIX.replace("c,0,0,0", "c,0,0,1"))
    result = harness_of(*words, "accept", "mine", *table)
    head, *lines = result.stdout.splitlines()
    assert head == "mine: accepted" and "  positives: 3 -> 4" in lines
    told = document(harness_of(*words, "accept", "mine", "--json"))
    assert (told["name"], told["changes"], told["outdated"]) == ("mine", [], [])


def test_every_table_that_is_named_is_taken(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    def refused(_name: str, **tables: object) -> object:
        asked.append(tables)
        raise UsageError("enough")

    monkeypatch.setattr("harness.api.accept_data", refused, raising=False)
    with pytest.raises(UsageError, match="enough"):
        harness_of("data", "accept", "hdvd", "--associations", "a.csv", "--drugs", "b.csv", "--diseases", "c.csv")
    assert asked == [{"associations": "a.csv", "drugs": "b.csv", "diseases": "c.csv"}]


def test_a_setting_of_a_converter_reaches_it(own: Path, tmp_path: Path) -> None:
    table = ("--associations", str(tmp_path / "matrix.csv"))
    with pytest.raises(UsageError, match="nonsense"):
        harness_of("--data", str(own), "data", "new", "mine", *table, "--set", "nonsense=1")


@pytest.mark.parametrize(("runs", "more"), [(0, 0), (1, 0), (20, 0), (22, 2)])
def test_runs_of_other_data_are_told_and_a_few_of_them_by_name(
    runs: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = (Change("drugs", "", "4"), Change("title", "x", ""))
    accepted = Accepted(SimpleNamespace(digest="d" * 64, remarks=("a drug has no disease", "so has b")), changes)  # type: ignore[arg-type]
    outdated = [
        (f"{number:064x}"[::-1], SimpleNamespace(job=SimpleNamespace(label=f"job {number}")))
        for number in range(runs)
    ]
    monkeypatch.setattr(
        "harness.api.accept_data",
        lambda _name, **_: SimpleNamespace(accepted=accepted, outdated=outdated),
        raising=False,
    )
    head, *lines = harness_of("data", "accept", "hdvd").stdout.splitlines()
    assert [head, *lines[:3]] == [
        "hdvd: accepted",
        "  drugs: none -> 4",
        "  title: x -> none",
        "  a drug has no disease",
    ]
    assert lines[3] == "  so has b"
    listed = [f"  {key[:12]}  {planned.job.label}" for key, planned in outdated[:20]]
    if runs:
        listed = [f"{runs} stored run{'s' if runs > 1 else ''} of other data than these:", *listed]
        listed += [f"  and {more} more"] if more else []
        listed += ["they stay as they are; to remove one: harness forget KEY"]
    assert lines[4:] == listed
    told = document(harness_of("data", "accept", "hdvd", "--json"))
    assert told["digest"] == "d" * 64 and told["remarks"] == ["a drug has no disease", "so has b"]
    assert told["outdated"] == [{"key": key, "label": planned.job.label} for key, planned in outdated]
    assert told["changes"] == [
        {"what": "drugs", "before": "", "now": "4"},
        {"what": "title", "before": "x", "now": ""},
    ]


def test_a_dataset_is_shown_with_all_that_is_known_of_it(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = load_manifest(layout, "fdataset")
    # how the arrays are to be counted is no count
    counts = manifest.statistics.model_dump(exclude_none=True, exclude={"associated"})
    summary = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())
    monkeypatch.setattr(f"{data}._state", lambda *_: "here")
    monkeypatch.setattr(f"{data}.missing_tables", lambda *_: ["drugs", "diseases"])
    unrecorded = manifest.files[0].model_copy(update={"sha256": "", "bytes": 0, "urls": []})
    urls = ["https://a/x", "https://b/x"]
    others = [manifest.files[0].model_copy(update={"name": name, "urls": urls}) for name in ("x.txt", "y.txt")]
    changed = manifest.model_copy(update={"files": [unrecorded, *others]})
    monkeypatch.setattr(f"{data}.load_manifest", lambda *_: changed)
    found = {"x.txt": tmp_path / "x"}
    asked: list[Any] = []

    def local_copy(_layout: Layout, name: str, file: Any, mirrors: tuple[Path, ...]) -> Path | None:
        asked.append((name, mirrors))
        return found.get(file.name)

    monkeypatch.setattr(f"{data}.local_copy", local_copy)
    lines = harness_of("data", "show", "fdataset", "--mirror", str(tmp_path)).stdout.splitlines()
    assert lines == [
        f"fdataset: {manifest.title} (benchmark repurposing)",
        *([f"  {manifest.summary}"] if manifest.summary else []),
        f"  citation: {manifest.citation}",
        f"  licence: {manifest.licence}",
        f"  folder: {REPOSITORY / 'datasets' / 'fdataset'}",
        "  state: here",
        f"  {summary}",
        f"  {unrecorded.name} (unknown size): not here: it belongs beside the manifest",
        f"  {others[0].name} ({others[0].bytes:,} bytes): {tmp_path / 'x'}",
        *(f"  {one.name} ({one.bytes:,} bytes): not here: https://a/x, https://b/x" for one in others[1:]),
        "  drugs: to be brought",
        "  diseases: to be brought",
    ]
    assert asked == [("fdataset", (tmp_path,))] * 3
    # of a file beside the manifest that was edited that is told, wherever a copy of it is
    edited = REPOSITORY / "datasets" / "fdataset" / "x.txt"
    monkeypatch.setattr(f"{data}.changed_files", lambda *_: {edited: "its sha256 is another"})
    shown = harness_of("data", "show", "fdataset").stdout.splitlines()
    assert [line for line in shown if line not in lines] == [
        f"  x.txt ({others[0].bytes:,} bytes): {edited}: its sha256 is another"
    ]


def test_a_list_has_a_line_for_each_dataset_and_a_fault_in_place_of_one(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = set[tuple[Path, ...]]()

    def state(_layout: Layout, _manifest: Any, mirrors: tuple[Path, ...]) -> str:
        looked.add(mirrors)
        return "here"

    monkeypatch.setattr(f"{data}._state", state)
    result = harness_of("data", "list", "--mirror", str(tmp_path))
    assert looked == {(tmp_path,)}
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert list(lines) == dataset_names(layout) and result.return_value == 0
    manifests = {name: load_manifest(layout, name) for name in manifest_names(layout)}
    assert {one.stand_in != "" for one in manifests.values()} == {True, False}
    for name, manifest in manifests.items():
        note = "  (a stand-in: no claim rests on it)" if manifest.stand_in else ""
        line = f"{name} {manifest.benchmark} {manifest.statistics.line}  here{note}"
        assert lines[name].split() == line.split()
    assert len({line.index("  here") for line in lines.values()}) == 1
    bad = tmp_path / "own" / "zbad" / "dataset.toml"
    bad.parent.mkdir(parents=True)
    bad.write_text('name = "zbad"\n')
    result = harness_of("--data", str(tmp_path / "own"), "data", "list")
    shown = [line for line in result.stdout.splitlines() if line.startswith("zbad ")]
    assert result.return_value == 2 and shown[0].split()[:3] == ["zbad", "faulty:", "dataset.toml"]
    # the fault has several lines, the dataset has one
    assert len(result.stdout.splitlines()) == len(lines) + 1 and f"{bad}: " in shown[0] and "to do: " in shown[0]
    result = harness_of("--data", str(tmp_path / "own"), "data", "list", "--json")
    rows = {row["name"]: row for row in document(result)["rows"]}
    assert result.return_value == 2 and "breaks its schema" in rows["zbad"]["fault"]
    assert rows["hdvd"]["state"] == "here" and "fault" not in rows["hdvd"]


def test_what_was_got_is_told_and_what_has_to_be_brought_is_named(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    remarks = ("a drug has no disease", "another")

    def load(_layout: Layout, name: str, *, mirrors: tuple[Path, ...]) -> Any:
        asked.append((name, mirrors))
        return SimpleNamespace(digest=name.ljust(64, "0"), remarks=remarks)

    states = {"cdataset": "to be brought: somehow", "hdvd": "to be brought: somehow"}
    monkeypatch.setattr(f"{data}.load_dataset", load)
    monkeypatch.setattr(f"{data}._state", lambda _layout, manifest, _mirrors: states.get(manifest.name, "here"))
    result = harness_of("data", "get", "hdvd", "fdataset", "--mirror", str(tmp_path))
    assert (result.return_value, asked) == (0, [("hdvd", (tmp_path,)), ("fdataset", (tmp_path,))])
    told = [line for name in ("hdvd", "fdataset") for line in (f"{name}: {name.ljust(64, '0')}", *_below(remarks))]
    assert result.stdout.splitlines() == told
    rows = document(harness_of("data", "get", "hdvd", "--json"))["rows"]
    assert rows == [{"name": "hdvd", "digest": "hdvd".ljust(64, "0"), "remarks": [*remarks]}]

    asked.clear()
    result = harness_of("data", "get", "--all")
    assert [name for name, _ in asked] == [name for name in manifest_names(layout) if name not in states]
    assert "cdataset: to be brought: somehow" in result.stdout.splitlines() and result.return_value == 0
    rows = document(harness_of("data", "get", "--all", "--json"))["rows"]
    assert {row["name"]: row for row in rows}["cdataset"] == {
        "name": "cdataset",
        "digest": None,
        "remarks": ["to be brought: somehow"],
    }
    # all but one that can't be read
    monkeypatch.setattr(f"{data}.dataset_names", lambda _layout: [*manifest_names(layout), "bad"])
    assert harness_of("data", "get", "--all").return_value == 2
    assert harness_of("data", "get", "fdataset").return_value == 0


def test_a_dataset_that_nobody_has_costs_no_other_one(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_layout: Layout, name: str, *, mirrors: tuple[Path, ...]) -> Any:
        if name in ("beta", "hdvd"):
            raise MissingData(f"a file of {name} is in none of its sources", where="far away", todo="bring it")
        return SimpleNamespace(digest=name.ljust(64, "0"), remarks=())

    monkeypatch.setattr(f"{data}.load_dataset", load)
    monkeypatch.setattr(f"{data}._state", lambda *_: "here")
    result = harness_of("data", "get", "--all")
    got = [name for name in manifest_names(layout) if name not in ("beta", "hdvd")]
    assert result.stdout.splitlines() == [f"{name}: {name.ljust(64, '0')}" for name in got]
    first, *_ = result.stderr.split("hdvd: ")
    assert first == (
        "beta: not got: a file of beta is in none of its sources\n  where: far away\n  to do: bring it\n"
    )
    rows = document(json_of := harness_of("data", "get", "--all", "--json"))["rows"]
    assert {row["name"]: row for row in rows}["hdvd"] == {
        "name": "hdvd",
        "digest": None,
        "remarks": ["not got: a file of hdvd is in none of its sources"],
    }
    assert (result.return_value, json_of.return_value) == (4, 4)
    with pytest.raises(MissingData):
        harness_of("data", "get", "hdvd", "fdataset")

    # the worst of the faults is the exit code, whichever came last
    def refuse(layout: Layout, name: str, *, mirrors: tuple[Path, ...]) -> Any:
        if name == "hdvd":
            raise UsageError("a manifest is faulty")
        return load(layout, name, mirrors=mirrors)

    monkeypatch.setattr(f"{data}.load_dataset", refuse)
    assert harness_of("data", "get", "--all").return_value == 4


def _below(remarks: tuple[str, ...]) -> list[str]:
    return [f"  {remark}" for remark in remarks]


def test_a_dataset_is_described_or_written_into_a_folder(layout: Layout, tmp_path: Path) -> None:
    text = json_text(croissant_of(layout, "hdvd"))
    assert harness_of("data", "croissant", "hdvd").stdout == f"{text}\n"
    result = harness_of("data", "croissant", "hdvd", "fdataset", "--output", str(tmp_path))
    files = [tmp_path / f"{name}.croissant.json" for name in ("hdvd", "fdataset")]
    assert (result.return_value, result.stdout.splitlines()) == (0, [str(file) for file in files])
    with pytest.raises(UsageError, match="several documents need a folder") as error:
        harness_of("data", "croissant", "hdvd", "fdataset")
    assert error.value.todo == "name one: --output DIR"
    with pytest.raises(UsageError, match="datasets are named beside --all") as error:
        harness_of("data", "croissant", "hdvd", "fdataset", "--all")
    assert error.value.where == "hdvd, fdataset"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (("a.txt", "b.txt"), "forgotten: a.txt, b.txt"),
        ((), "nothing was recorded at first sight"),
    ],
)
def test_what_was_taken_back_is_told(files: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{data}.forget", lambda _layout, _name: files)
    assert harness_of("data", "forget", "hdvd").stdout == f"hdvd: {said}\n"
    told = document(harness_of("data", "forget", "hdvd", "--json"))
    assert (told["name"], told["forgotten"]) == ("hdvd", [*files])


class _Kept:
    """A dataset with this digest."""

    def __init__(self, digest: str) -> None:
        self.digest = digest


@pytest.mark.parametrize(
    ("found", "verdict", "reason"),
    [
        ("a", "ok", ""),
        ("b", "corrupt", "kept arrays have digest b, converted again a"),
        (MissingData("it is away"), "not here", "it is away"),
        (CorruptData("it is cut"), "corrupt", "it is cut"),
        (UsageError("no manifest"), "corrupt", "no manifest"),
    ],
)
def test_kept_arrays_are_held_against_a_conversion(
    found: str | Exception, verdict: str, reason: str, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(_layout: Layout, _name: str, *, mirrors: tuple[Path, ...]) -> _Kept:
        assert mirrors == (Path("m"),)
        if isinstance(found, Exception):
            raise found
        return _Kept(found)

    def convert(_layout: Layout, name: str, *, mirrors: tuple[Path, ...]) -> _Kept:
        assert (name, mirrors) == ("fdataset", (Path("m"),))
        return _Kept("a")

    monkeypatch.setattr(harness.cli.data, "load_dataset", load)
    monkeypatch.setattr(harness.cli.data, "convert_dataset", convert)
    monkeypatch.setattr(f"{data}._state", lambda *_: "to be downloaded: x")
    row = _verification(layout, "fdataset", (Path("m"),), required=True)
    assert row == {"name": "fdataset", "verdict": verdict, "reason": reason}
    for state in ("to be brought: x", "to be downloaded: x"):
        monkeypatch.setattr(f"{data}._state", lambda *_, state=state: state)
        row = _verification(layout, "fdataset", (Path("m"),), required=False)
        assert (row["verdict"], row["reason"]) == ("not here", state)
    monkeypatch.setattr(f"{data}._state", lambda *_: "here")
    monkeypatch.setattr(f"{data}._away", lambda *_: [])
    assert _verification(layout, "fdataset", (Path("m"),), required=False)["verdict"] == verdict


@pytest.mark.parametrize(
    ("count", "recorded", "told"),
    [
        (1, True, "to be downloaded: f0"),
        (3, True, "to be downloaded: f0, f1, f2"),
        (4, True, "to be downloaded: 4 files (harness data show fdataset)"),
        (2, False, "to be brought or downloaded: f0, f1"),
    ],
)
def test_a_few_files_that_are_away_are_named_and_many_counted(
    count: int, recorded: bool, told: str, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = load_manifest(layout, "fdataset")
    file = manifest.files[0]
    files = [file.model_copy(update={"name": f"f{number}"}) for number in range(count)]
    files[-1] = files[-1].model_copy(update={} if recorded else {"sha256": ""})
    here = file.model_copy(update={"name": "here"})
    found = {"here": Path("x")}
    for name, answer in (("missing_tables", []), ("changed_files", {}), ("is_converted", False)):
        monkeypatch.setattr(f"{data}.{name}", lambda *_, answer=answer: answer)
    monkeypatch.setattr(f"{data}.local_copy", lambda _layout, _name, one, _mirrors: found.get(one.name))
    assert _state(layout, manifest.model_copy(update={"files": [here, *files]}), ()) == told


def test_a_place_of_ones_own_holds_for_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def names(_layout: Layout) -> list[str]:
        seen.append(os.environ.get(DATA_VARIABLE))
        return []

    monkeypatch.setattr(f"{data}.dataset_names", names)
    for before in (None, "/other"):
        if before is None:
            monkeypatch.delenv(DATA_VARIABLE, raising=False)
        else:
            monkeypatch.setenv(DATA_VARIABLE, before)
        assert harness_of("--data", str(tmp_path), "data", "list").stdout == ""
        assert os.environ.get(DATA_VARIABLE) == before
        harness_of("data", "list")
    assert seen == [str(tmp_path), None, str(tmp_path), "/other"]


@pytest.mark.parametrize(
    ("encoding", "separator", "described"),
    [("utf-8", ",", True), ("utf-8-sig", ",", True), ("utf-8", ";", False), ("utf-16", ",", False)],
)
def test_columns_are_those_that_a_loader_reads(
    own: Path, tmp_path: Path, encoding: str, separator: str, described: bool
) -> None:
    rows = [("drug", "pain", "fever"), ("a", "1", "0"), ("b", "0", "1")]
    table = tmp_path / "matrix.csv"
    table.write_text("".join(f"{separator.join(row)}\n" for row in rows), encoding=encoding)
    words = ("--data", str(own), "data")
    harness_of(*words, "new", "mine", "--associations", str(table))
    told = json.loads(harness_of(*words, "croissant", "mine").stdout)
    columns = [field["name"] for one in told.get("recordSet", []) for field in one["field"]]
    assert columns == (["drug", "pain", "fever"] if described else [])
    assert [file["name"] for file in told["distribution"]] == ["matrix.csv"]


def test_what_to_ask_first_is_said_of_a_dataset_whose_questions_a_person_has_to_name(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = load_manifest(layout, "synthetic")
    asked: list[tuple[str, str]] = []

    def nothing_to_ask(layout: Layout, name: str, split: Any) -> None:
        asked.append((name, split.strategy))
        raise MissingData("nothing is asked", todo="name drugs by --drug")

    monkeypatch.setattr(harness.cli.data, "_harness", lambda: "harness")
    monkeypatch.setattr(harness.cli.data, "make_split", nothing_to_ask)
    assert _next(layout, manifest) == "harness predict --dataset synthetic ...; name drugs by --drug"
    assert asked == [("synthetic", benchmarks.get("repurposing").scoring.predicting)]
    monkeypatch.setattr(harness.cli.data, "make_split", lambda *_: None)
    assert _next(layout, manifest) == "harness predict --dataset synthetic --top 100"


def test_kept_arrays_whose_originals_are_away_are_not_called_right(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are here, and nothing says that they are what the originals give."""
    monkeypatch.setattr(harness.cli.data, "is_converted", lambda *_: True)
    nowhere = replace(layout, cache=tmp_path / "empty")
    assert _verification(nowhere, "fdataset", (), required=False) == {
        "name": "fdataset",
        "verdict": "not here",
        "reason": "to be downloaded: 1 original file of these arrays: harness data verify fdataset",
    }
