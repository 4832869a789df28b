"""A dataset of a person's own is whole or absent; a change is accepted whole, and what it outdates is told."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness import api, benchmarks
from harness.base.errors import CorruptData, HarnessError, MissingData, UsageError
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.benchmarks import Dataset
from harness.benchmarks.own_data import benchmark_of, own_data_of, table_words
from harness.cli import data as command
from harness.data import load_dataset, load_manifest, manifest_names, own_dataset
from harness.data.converters import Convert, find_converter
from harness.data.manifest import FIRST_SEEN, DatasetManifest, manifest_path
from harness.data.own_dataset import Change, accept_changes, new_dataset
from harness.export import export
from harness.planning.jobs import Job
from harness.planning.plan import make_plan
from harness.prediction import PredictionRequest, participants
from harness.results.store import Store
from tests.core.word_for_word import said
from tests.data.own_data import TABLES, write_dataset
from tests.data.test_a_fault_hides_another import BARE, PAIRS, SENTENCES, SEQUENCES, STRUCTURES, TRIPLETS
from tests.data.workbooks import rows_xml, write_workbook
from tests.fabricate import job_of, planned_of, put_run

COMBINED = '"rels": [{"class": "POS", "spans": [0, 1], "is_context_needed": false}]'
FILES = {
    "associations.csv": TABLES["associations.csv"],
    "drugs.csv": TABLES["drug_features.csv"],
    # the last has no interaction, and no target
    "structures.csv": STRUCTURES + "D,CCCl,\n",
    "bare.csv": BARE + "D,CCCl\n",
    "interactions.csv": TRIPLETS,
    "knowledge.csv": "head,tail,relation\nA,gene,binds\n",
    "pairs.csv": PAIRS,
    "targets.csv": SEQUENCES,
    "similarity.csv": "drug,other,similarity\nA,B,0.5\n",
    "sentences.jsonl": SENTENCES.replace('"rels": []', COMBINED, 2),
    "open.jsonl": SENTENCES.replace('"doc_id": "', '"doc_id": "open '),
}
OWN = {
    "repurposing": ({"associations": "associations.csv", "drugs": "drugs.csv"}, "drugs", 3),
    "ddi": (
        {"interactions": "interactions.csv", "drugs": "structures.csv", "knowledge": "knowledge.csv"},
        "edges",
        1,
    ),
    "dti": (
        {"pairs": "pairs.csv", "drugs": "bare.csv", "targets": "targets.csv", "drug-similarity": "similarity.csv"},
        "pairs",
        3,
    ),
    "combos": ({"sentences": "sentences.jsonl", "open-sentences": "open.jsonl"}, "unannotated", 4),
}


@pytest.fixture
def house(own: Layout) -> Layout:
    return replace(own, data=own.root / "mine")


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    folder = tmp_path / "my tables"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_every_benchmark_makes_one_of_its_tables(house: Layout, tables: Path, benchmark: str) -> None:
    files, count, number = OWN[benchmark]
    made = new_dataset(house, "mine", {word: tables / file for word, file in files.items()})
    manifest = load_manifest(house, "mine")
    assert manifest.benchmark == benchmark and all(file.recorded for file in manifest.files)
    assert manifest.converted is not None and manifest.converted.digest == made.digest
    assert getattr(manifest.statistics, count) == number
    loaded = load_dataset(house, "mine")
    assert (loaded.digest, loaded.name, loaded.names) == (made.digest, "mine", made.names)
    for file in files.values():
        assert (manifest_path(house, "mine").parent / file).read_bytes() == (tables / file).read_bytes()


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_its_unknown_part_can_be_predicted(
    house: Layout, repository: Layout, tables: Path, benchmark: str
) -> None:
    """The job, its dataset and its split are planned; that a container answers is one test for all."""
    files, _, _ = OWN[benchmark]
    new_dataset(house, "mine", {word: tables / file for word, file in files.items()})
    layout = replace(repository, cache=house.cache, local=house.local, data=house.data)
    methods = {"repurposing": "bnnr", "ddi": "mlp", "dti": "deeppurpose", "combos": "pure_minilm"}
    request = PredictionRequest(methods=(f"{methods[benchmark]}/published",), dataset="mine")
    (member,) = participants(layout, request).members
    (cell,) = make_plan(layout, "predict", [member.job]).cells
    assert cell.planned is not None, cell.reason


def test_words_of_tables_are_parameters_of_their_converter() -> None:
    for benchmark in benchmarks.names():
        own = own_data_of(benchmark)
        assert own is not None
        module = benchmarks.part(benchmark, f"converters.{own.CONVERTER}")
        assert module is not None
        fields = module.Parameters.model_fields
        assert {table.parameter for table in own.TABLES.values()} <= fields.keys()
        assert len({table.parameter for table in own.TABLES.values()}) == len(own.TABLES)
        assert benchmark_of({word for word, table in own.TABLES.items() if table.required}) == benchmark
        assert benchmark_of(own.TABLES) == benchmark
    assert next(iter(table_words())) == "associations"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no benchmark makes a dataset of these tables"),
        (("interactions",), r"a table is missing\n.*--interactions\n.*ddi: add --drugs FILE"),
        (("associations", "targets"), r"no benchmark makes(.|\n)*repurposing: --associations FILE"),
        (("drugs",), r"a table is missing(.|\n)*dti: add --pairs FILE --targets FILE"),
    ],
)
def test_what_is_missing_is_named(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        benchmark_of(words)


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("my-data", "associations.csv", "'my-data' is not a name: small letters"),
        ("../mine", "associations.csv", "'../mine' is not a name"),
        ("taken", "associations.csv", r"there is a dataset 'taken' already(.|\n)*harness data accept taken"),
        ("mine", "nowhere.csv", "there is no such file"),
        ("mine", ".", "a folder is no table"),
        ("mine", "dataset.toml", "a table can't have this name"),
        ("mine", "structures.csv", "the columns are drug, smiles, year"),
    ],
)
def test_nothing_is_left_of_what_can_not_be_made(
    house: Layout, tables: Path, name: str, file: str, message: str
) -> None:
    write_dataset(house, name="taken")
    (tables / "dataset.toml").write_text(FILES["associations.csv"])
    with pytest.raises(HarnessError, match=message):
        new_dataset(house, name, {"associations": tables / file})
    assert not house.own_datasets.exists() or not any(house.own_datasets.iterdir())


def test_two_files_of_one_name_are_not_mixed_up(house: Layout, tables: Path) -> None:
    (tables / "more").mkdir()
    (tables / "more" / "associations.csv").write_text(FILES["drugs.csv"])
    files = {"associations": tables / "associations.csv", "drugs": tables / "more" / "associations.csv"}
    with pytest.raises(UsageError, match="two files have one name"):
        new_dataset(house, "mine", files)


def test_a_copy_that_can_not_be_kept_leaves_nothing(
    house: Layout, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr("harness.data.own_dataset.load_dataset", broken)
    with pytest.raises(OSError, match="full"):
        new_dataset(house, "mine", {"associations": tables / "associations.csv"})
    assert manifest_names(house) == [] and not any(house.own_datasets.iterdir())


def test_a_folder_that_another_process_made_meanwhile_stays_and_is_not_taken_for_ours(
    house: Layout, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = house.own_datasets / "mine"

    def meanwhile(layout: Layout, manifest: DatasetManifest, paths: Mapping[str, Path]) -> Dataset:
        folder.mkdir(parents=True)
        (folder / "dataset.toml").write_text("theirs")
        return converted(layout, manifest, paths)

    converted = own_dataset._converted
    monkeypatch.setattr(own_dataset, "_converted", meanwhile)
    with pytest.raises(UsageError) as refused:
        new_dataset(house, "mine", {"associations": tables / "associations.csv"})
    assert said(refused.value) == (
        "there is such a folder already",
        str(folder),
        "give another name, or remove it",
    )
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"dataset.toml": "theirs"}


def test_a_home_of_nobody_is_no_fault_of_the_harness(house: Layout) -> None:
    with pytest.raises(UsageError) as refused:
        new_dataset(house, "mine", {"associations": "~nobody_of_that_name/a.csv"})
    assert said(refused.value) == (
        "there is no such file",
        "--associations ~nobody_of_that_name/a.csv",
        "give its whole path, or that from the folder you are in",
    )


def test_a_pipe_is_not_called_missing(house: Layout, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError) as refused:
        new_dataset(house, "mine", {"associations": pipe})
    assert said(refused.value) == (
        "a pipe or a device is no file, and can't be copied",
        f"--associations {pipe}",
        "write it into a file first",
    )


@pytest.fixture
def made(house: Layout, tables: Path) -> Layout:
    new_dataset(house, "mine", {"associations": tables / "associations.csv", "drugs": tables / "drugs.csv"})
    return house


def test_a_change_is_told_and_recorded(made: Layout) -> None:
    path = manifest_path(made, "mine")
    before = load_dataset(made, "mine").digest
    text = "# a word of mine\n" + path.read_text()
    path.write_text(text)
    (path.parent / "associations.csv").write_text(FILES["associations.csv"] + "zinc,flu,1\n")
    with pytest.raises(CorruptData, match=r"associations.csv changed(.|\n)*harness data accept mine"):
        load_dataset(made, "mine")
    accepted = accept_changes(made, "mine")
    changes = {change.what: (change.before, change.now) for change in accepted.changes}
    assert changes.keys() == {"associations.csv", "positives", "digest"}
    assert changes["positives"] == ("2", "3") and changes["digest"] == (before, accepted.dataset.digest)
    assert before != accepted.dataset.digest == load_dataset(made, "mine").digest
    assert path.read_text().startswith("# a word of mine\n")
    assert accept_changes(made, "mine").changes == ()


def test_splits_of_the_data_before_are_no_splits_of_those_that_there_are_now(made: Layout) -> None:
    """They would be taken: a split file fits all data with so many items."""
    folder = manifest_path(made, "mine").parent
    (folder / "splits.csv").write_text("as recorded\n")
    assert not accept_changes(made, "mine").changes and (folder / "splits.csv").is_file()
    (folder / "associations.csv").write_text(FILES["associations.csv"] + "zinc,flu,1\n")
    accepted = accept_changes(made, "mine")
    assert accepted.changes[-1] == Change("recorded splits", "of the data before", "none")
    assert not (folder / "splits.csv").exists()


def test_a_file_is_one_by_whichever_way_it_is_named(house: Layout, tables: Path, tmp_path: Path) -> None:
    """A workbook whose sheets are given once through a link to its folder."""
    names = ("associations", "drugs")
    sheets = {name: rows_xml([*csv.reader(FILES[f"{name}.csv"].splitlines())]) for name in names}
    book, link = write_workbook(tables / "all.xlsx", sheets), tmp_path / "link"
    link.symlink_to(tables)
    new_dataset(house, "mine", {"associations": f"{book}#associations", "drugs": f"{link / 'all.xlsx'}#drugs"})
    folder = manifest_path(house, "mine").parent
    assert {path.name for path in folder.iterdir()} == {".gitignore", "dataset.toml", "all.xlsx"}


def test_a_file_is_never_written_over_that_of_another_table(made: Layout, tables: Path) -> None:
    (tables / "May").mkdir()
    given = tables / "May" / "associations.csv"
    given.write_text(FILES["drugs.csv"])
    folder = manifest_path(made, "mine").parent
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(UsageError) as refused:
        accept_changes(made, "mine", {"drugs": given})
    assert said(refused.value) == (
        "another table of dataset 'mine' has this file name",
        f"{given}, {folder / 'associations.csv'}",
        "rename the file that you give, or give it for both tables",
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    # nor is the name free where the other table's file is gone
    (folder / "associations.csv").rename(tables / "kept.csv")
    with pytest.raises(UsageError, match="another table of dataset 'mine' has this file name"):
        accept_changes(made, "mine", {"drugs": given})
    (tables / "kept.csv").rename(folder / "associations.csv")
    # what holds the same is no other
    shutil.copy(folder / "associations.csv", given)
    assert not accept_changes(made, "mine", {"associations": given}).changes


def test_a_fault_is_not_accepted(made: Layout) -> None:
    path = manifest_path(made, "mine")
    before = path.read_bytes()
    (path.parent / "associations.csv").write_text(FILES["associations.csv"].replace("flu,-1", "flu,2"))
    with pytest.raises(CorruptData, match="label '2'"):
        accept_changes(made, "mine")
    assert path.read_bytes() == before
    (path.parent / "associations.csv").unlink()
    with pytest.raises(MissingData, match="a file is not here"):
        accept_changes(made, "mine")


def test_another_file_takes_the_place_of_one(made: Layout, tables: Path) -> None:
    (tables / "May.csv").write_text(";pain;flu\naspirin;1;0\nzinc;0;1\n")
    accepted = accept_changes(made, "mine", {"associations": tables / "May.csv"})
    folder = manifest_path(made, "mine").parent
    assert {path.name for path in folder.iterdir()} == {".gitignore", "dataset.toml", "May.csv", "drugs.csv"}
    assert load_manifest(made, "mine").parameters["associations"] == "May.csv"
    assert {"associations.csv", "May.csv", "associations"} <= {change.what for change in accepted.changes}
    with pytest.raises(UsageError, match="has no such table"):
        accept_changes(made, "mine", {"targets": tables / "May.csv"})


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_a_table_that_it_was_made_without_can_follow(house: Layout, tables: Path, benchmark: str) -> None:
    files, own = {word: tables / file for word, file in OWN[benchmark][0].items()}, own_data_of(benchmark)
    assert own is not None
    first = {word: path for word, path in files.items() if own.TABLES[word].required}
    new_dataset(house, "mine", first)
    accepted = accept_changes(house, "mine", {word: path for word, path in files.items() if word not in first})
    folder = manifest_path(house, "mine").parent
    assert {path.name for path in folder.iterdir()} == {".gitignore", "dataset.toml", *OWN[benchmark][0].values()}
    assert accepted.dataset.digest == new_dataset(house, "other", files).digest


def test_a_workbook_stays_while_one_of_its_sheets_is_used(house: Layout, tables: Path) -> None:
    sheets = {
        name: rows_xml([*csv.reader(FILES[f"{name}.csv"].splitlines())]) for name in ("associations", "drugs")
    }
    book = write_workbook(tables / "all.xlsx", sheets)
    new_dataset(house, "mine", {"associations": f"{book}#associations", "drugs": f"{book}#drugs"})
    accept_changes(house, "mine", {"associations": tables / "associations.csv"})
    folder = manifest_path(house, "mine").parent
    names = {".gitignore", "dataset.toml", "all.xlsx"}
    assert {path.name for path in folder.iterdir()} == {*names, "associations.csv"}
    # all that is of no use any more goes at once
    (folder / FIRST_SEEN).write_text("{}")
    accept_changes(house, "mine", {"associations": f"{book}#associations"})
    assert {path.name for path in folder.iterdir()} == names


def test_a_file_that_changes_while_it_is_read_is_not_taken(
    house: Layout, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tables / "drugs.csv"

    def slow(layout: Layout, manifest: DatasetManifest) -> Convert:
        def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> Dataset:
            dataset = find_converter(layout, manifest)(manifest, files)
            path.write_text(path.read_text() + "iron,55.8,0\n")
            return dataset

        return convert

    monkeypatch.setattr(own_dataset, "find_converter", slow)
    with pytest.raises(CorruptData, match="the file changed while it was read") as refused:
        new_dataset(house, "mine", {"associations": tables / "associations.csv", "drugs": path})
    assert refused.value.where == str(path)
    assert not (house.own_datasets / "mine").exists()


def test_a_manifest_written_by_hand_is_filled_in(own: Layout) -> None:
    """Counts are corrected all at once, and checksums need not be typed."""
    path = write_dataset(own, statistics={"positives": 0, "drugs": 9}, more="# the end\n")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(("bytes", "sha256"))))
    (path.parent / FIRST_SEEN).write_text("{}")
    accepted = accept_changes(own, "mine")
    assert not (path.parent / FIRST_SEEN).exists(), "the manifest says it now"
    assert {"positives", "drugs", "digest", *TABLES} == {change.what for change in accepted.changes}
    assert "# the end\n" in path.read_text() and load_dataset(own, "mine").digest == accepted.dataset.digest


def test_what_a_manifest_counts_is_counted_again(own: Layout) -> None:
    """Zinc has no association: it is none of the drugs of a manifest that counts the associated ones."""
    path = write_dataset(own, statistics={"drugs": 2}, more="associated = true\n")
    (path.parent / "associations.csv").write_text(TABLES["associations.csv"].replace("-1", "1"))
    changes = {change.what: (change.before, change.now) for change in accept_changes(own, "mine").changes}
    assert changes.keys() == {"associations.csv", "positives", "negatives", "digest"}
    assert (changes["positives"], changes["negatives"]) == (("2", "3"), ("1", "0"))
    counts = load_manifest(own, "mine").statistics
    assert (counts.settings, counts.model_dump()["drugs"]) == ({"associated": True}, 2)


def test_published_data_can_not_be_accepted(repository: Layout) -> None:
    for name in ("fdataset", "synthetic", "gottlieb"):
        with pytest.raises(UsageError, match="not made of files beside its manifest alone"):
            accept_changes(repository, name)


def test_a_dataset_that_is_committed_with_the_tree_stays_whole(own: Layout, tmp_path: Path) -> None:
    """Its recorded splits and its files would be removed, and all that was published of it be of other data."""
    folder = write_dataset(own).parent
    (folder / "splits.csv").write_text("recorded\n")
    (folder / "associations.csv").write_text(TABLES["associations.csv"].replace("-1", "1"))
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "all")):
        person = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", *person, "-C", str(own.root), *words], check=True)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(UsageError, match=r"'mine' is committed with this tree(.|\n)*git restore datasets/mine"):
        accept_changes(own, "mine")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def _two_with_runs(layout: Layout, tables: Path) -> tuple[api.Repository, list[Job]]:
    """Datasets `mine` and `other`, of tables that differ in one pair, and a run of each."""
    here = api.Repository(layout)
    rows = [[f"d{i}", *("1" if (i + j) % 3 == 0 else "0" for j in range(10))] for i in range(12)]
    (tables / "m.csv").write_text("\n".join(map(";".join, [["", *(f"e{j}" for j in range(10))], *rows])))
    (tables / "n.csv").write_text((tables / "m.csv").read_text().replace("d1;0", "d1;1"))
    for name, file in {"mine": "m.csv", "other": "n.csv"}.items():
        api.new_data(name, associations=tables / file, repository=here)
    jobs = [job_of(layout, "constant", 1, dataset) for dataset in ("mine", "other")]
    for cell in make_plan(layout, "made-up", jobs).cells:
        put_run(layout, planned_of(cell), score=False)
    return here, jobs


def test_runs_of_what_it_was_are_named(house: Layout, repository: Layout, tables: Path) -> None:
    layout = replace(repository, cache=house.cache, local=house.local, data=house.data)
    here, jobs = _two_with_runs(layout, tables)
    assert api.accept_data("mine", repository=here).outdated == ()
    (tables / "m.csv").write_text((tables / "m.csv").read_text().replace("d0;1", "d0;0"))
    ((key, planned),) = api.accept_data("mine", associations=tables / "m.csv", repository=here).outdated
    assert planned.job == jobs[0] and Store(layout.runs).record(key).planned == planned


@pytest.mark.parametrize(("changed", "file", "kept"), [("mine", "n.csv", 1), ("other", "m.csv", 0)])
def test_what_became_the_same_data_is_one_run_by_the_name_that_it_has(
    house: Layout, repository: Layout, tables: Path, changed: str, file: str, kept: int
) -> None:
    layout = replace(repository, cache=house.cache, local=house.local, data=house.data)
    here, jobs = _two_with_runs(layout, tables)
    assert [cell.job for cell in api.plan(suite="stored", repository=here).cells] == jobs
    api.accept_data(changed, associations=tables / file, repository=here)
    assert [cell.job for cell in api.plan(suite="stored", repository=here).cells] == [jobs[kept]]


def test_a_dataset_of_other_arrays_than_recorded_keeps_the_runs_of_others_in_an_export(
    house: Layout, repository: Layout, tables: Path, tmp_path: Path
) -> None:
    layout = replace(repository, cache=house.cache, local=house.local, data=house.data)
    here, _ = _two_with_runs(layout, tables)
    plan = api.plan(suite="stored", repository=here)
    table, path = layout.own_datasets / "mine" / "m.csv", manifest_path(layout, "mine")
    # as many bytes, and the checksum put in by hand: all that is left to differ is the digest
    before = sha256_of(table)
    table.write_text(table.read_text().replace("d0;1;0", "d0;0;1"))
    path.write_text(path.read_text().replace(before, sha256_of(table)))
    exported = export(layout, plan, tmp_path / "crate")
    mine, _ = (planned_of(cell).key for cell in plan.cells)
    told = "dataset 'mine' was converted to other arrays than those recorded"
    assert (exported.runs, exported.left_out) == (1, {mine: told})
    assert [path.parent.name for path in (tmp_path / "crate" / "runs").glob("*/*/record.json")] != [mine]


def test_a_plan_is_pinned_with_the_files_of_a_mirror(house: Layout, repository: Layout, tables: Path) -> None:
    """A split that nobody recorded is made of data that only the mirror has: the first run on a new machine."""
    layout = replace(repository, cache=house.cache, local=house.local, data=house.data)
    rows = [[f"d{i}", *("1" if (i + j) % 3 == 0 else "0" for j in range(10))] for i in range(12)]
    (tables / "m.csv").write_text("\n".join(map(";".join, [["", *(f"e{j}" for j in range(10))], *rows])))
    api.new_data("mine", associations=tables / "m.csv", repository=api.Repository(layout))
    manifest = layout.own_datasets / "mine" / "dataset.toml"
    (name,) = (file.name for file in load_manifest(layout, "mine").files)
    urls = f'urls = ["https://example.invalid/{name}"]'
    manifest.write_text(manifest.read_text().replace(f'name = "{name}"', f'name = "{name}"\n{urls}'))
    mirror = tables / "mirror"
    (mirror / "example.invalid").mkdir(parents=True)
    (manifest.parent / name).rename(mirror / "example.invalid" / name)
    shutil.rmtree(layout.cache)

    def keys(*mirrors: Path) -> list[str | None]:
        here = api.Repository(layout, mirrors=mirrors)
        plan = api.plan(methods=["constant"], datasets=["mine"], seeds=[1], repository=here)
        return [cell.planned.key if cell.planned else None for cell in plan.cells]

    assert keys() == [None]
    (key,) = keys(mirror)
    assert key is not None


Invoke = Callable[..., str]


@pytest.fixture
def invoke(house: Layout, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    monkeypatch.setattr(command, "find_layout", lambda: house)
    monkeypatch.setattr("harness.api.repository.find_layout", lambda *_: house)
    monkeypatch.setenv("PERMAFROST_DATA", str(house.own_datasets))

    def run(*words: str) -> str:
        return CliRunner().invoke(command.command, words, standalone_mode=False, catch_exceptions=False).output

    return run


def test_the_commands_say_what_was_made_and_changed(house: Layout, tables: Path, invoke: Invoke) -> None:
    told = invoke("new", "mine", "--associations", str(tables / "associations.csv"))
    assert told.startswith("mine: 2 drugs 2 diseases 2 + 1 - (benchmark repurposing)\n")
    assert f"kept in: {house.own_datasets / 'mine'}\nnext: harness predict --dataset mine" in told
    shown = json.loads(invoke("show", "mine", "--json"))
    assert shown["folder"] == str(house.own_datasets / "mine") and shown["statistics"]["positives"] == 2
    assert str(house.own_datasets / "mine" / "associations.csv") in invoke("show", "mine")
    assert invoke("accept", "mine").startswith("mine: nothing has changed\n")
    table = house.own_datasets / "mine" / "associations.csv"
    table.write_text("drug,disease\na,b\nc,d\n")
    shown = invoke("show", "mine")
    assert "not here" not in shown and f"{table}: {table.stat().st_size} bytes instead of " in shown
    changed = json.loads(invoke("accept", "mine", "--json"))
    assert {"what": "negatives", "before": "1", "now": "0"} in changed["changes"]
    assert json.loads(invoke("new", "other", "--associations", str(tables / "associations.csv"), "--json"))[
        "digest"
    ]


NONE_NEW = " ...; name what you ask about: --drug NAME, --pair NAME NAME, or one of your own: --drug NAME=SMILES"


@pytest.mark.parametrize(
    ("options", "asks"),
    [
        ({"interactions": "interactions.csv", "drugs": "structures.csv"}, " --top 100"),
        ({"interactions": "interactions.csv", "drugs": "known.csv"}, NONE_NEW),
        ({"pairs": "pairs.csv", "drugs": "bare.csv", "targets": "targets.csv"}, " --top 100"),
        ({"sentences": "sentences.jsonl", "open-sentences": "open.jsonl"}, " --top 100"),
    ],
)
def test_what_is_advised_next_can_be_asked(
    house: Layout, tables: Path, invoke: Invoke, options: dict[str, str], asks: str
) -> None:
    (tables / "known.csv").write_text(STRUCTURES)
    files = [word for name, file in options.items() for word in (f"--{name}", str(tables / file))]
    told = invoke("new", "mine", *files)
    assert told.splitlines()[-1] == f"next: harness predict --dataset mine{asks} (docs/predicting.md)"


def test_an_unknown_name_says_how_to_add_one(house: Layout) -> None:
    write_dataset(house)
    for name in ("nope", "../datasets/mine", "datasets/mine", ""):
        with pytest.raises(UsageError, match="harness data new NAME") as caught:
            load_manifest(house, name)
        assert str(house.own_datasets) in caught.value.where and str(house.datasets) in caught.value.where


def test_a_folder_in_place_of_a_table_is_called_one(own: Layout) -> None:
    path = write_dataset(own)
    (path.parent / "associations.csv").unlink()
    (path.parent / "associations.csv").mkdir()
    with pytest.raises(MissingData, match="a folder, not a file"):
        load_dataset(own, "mine")


def test_many_files_are_counted_in_a_line(
    repository: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    layout = replace(repository, cache=tmp_path)
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    monkeypatch.setattr(command, "find_layout", lambda: layout)
    listed = CliRunner().invoke(command.command, ["list"], standalone_mode=False, catch_exceptions=False).output
    (line,) = [line for line in listed.splitlines() if line.startswith("twosides ")]
    assert line.endswith(": 34 files (harness data show twosides)")
    told = CliRunner().invoke(command.command, ["show", "twosides"], standalone_mode=False).output
    assert told.count("not here: https://") == 34


@pytest.mark.engine
def test_a_matrix_becomes_a_ranking(house: Layout, repository: Layout, tables: Path, engine: object) -> None:
    """Semicolons, decimal commas, names with blanks: two calls from the file to the answer of a container."""
    here = api.Repository(replace(repository, local=house.local, data=house.data))
    known = [[i % 5 == j % 5 and (i // 5 + j // 5) % 3 > 0 for j in range(40)] for i in range(60)]
    rows = [[f"Stoff {i}", *("1,0" if cell else "0,0" for cell in row)] for i, row in enumerate(known)]
    head = ["", *(f"Leiden {j}" for j in range(40))]
    (tables / "my matrix.csv").write_text("\n".join(map(";".join, [head, *rows])))
    api.new_data("mine", associations=tables / "my matrix.csv", repository=here)
    # without features the corrected SCPMF answers with values that are not finite
    prediction = api.predict(("bnnr", "scpmf/corrected"), "mine", top=20, repository=here, progress=None)
    (failure,) = prediction.failures
    assert "scpmf/corrected does not take part: its run ended as 'invalid'" in failure
    assert [one.name for one in prediction.methods] == ["bnnr/published"] and failure in prediction.meaning
    # what the pattern has and the matrix lacks
    for row in prediction.rows:
        named = dict(zip(prediction.columns, row, strict=True))
        i, j = int(str(named["drug"]).removeprefix("Stoff ")), int(str(named["disease"]).removeprefix("Leiden "))
        assert i % 5 == j % 5 and not known[i][j]
