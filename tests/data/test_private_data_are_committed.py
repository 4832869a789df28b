"""What a person keeps must lie where no `git add -A` finds it, and be found again from there."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness import api
from harness.base.errors import UsageError
from harness.base.layout import DATA_VARIABLE, Layout, data_folder, find_layout
from harness.benchmarks.new_item import NewItem
from harness.cli import group
from harness.data import dataset_names, load_dataset, load_manifest, manifest_names
from harness.data.extension import extended
from harness.data.manifest import check_known, has_manifest, manifest_path
from harness.data.own_dataset import new_dataset
from harness.export.parts import copy_parts
from harness.splits.checksums import recorded_path
from harness.upkeep.clean import clean_folders
from tests.data.own_data import TABLES, write_dataset

MATRIX = ";pain;flu\na;1;0\nb;0;1\n"


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "my matrix.csv"
    path.write_text(MATRIX)
    return path


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, "HOME/.local/share/permafrost/datasets"),
        ({"XDG_DATA_HOME": "/data"}, "/data/permafrost/datasets"),
        ({"XDG_DATA_HOME": "/data", DATA_VARIABLE: "/mine"}, "/mine"),
        ({DATA_VARIABLE: "~/my data"}, "HOME/my data"),
        ({DATA_VARIABLE: ""}, "HOME/.local/share/permafrost/datasets"),
    ],
)
def test_own_data_lie_among_those_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], folder: str
) -> None:
    for name in ("XDG_DATA_HOME", DATA_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    expected = Path(folder.replace("HOME", str(tmp_path)))
    assert data_folder() == expected == find_layout().data == api.open_repository().layout.data
    assert api.open_repository(data="~/other").layout.data == tmp_path / "other"


def test_the_trees_own_folder_is_one_place(repository: Layout) -> None:
    assert repository.with_data(repository.datasets).dataset_places == (repository.datasets,)


@pytest.mark.parametrize("inside", [True, False])
def test_git_sees_nothing_of_it(own: Layout, matrix: Path, inside: bool) -> None:
    layout = own if inside else replace(own, data=own.root / "elsewhere" / "of mine")
    subprocess.run(["git", "init", "--quiet", str(own.root)], check=True)
    matrix = matrix.replace(own.root / ".git" / matrix.name)
    new_dataset(layout, "mine", {"associations": matrix})
    shutil.rmtree(own.cache, ignore_errors=True)
    folder = layout.own_datasets / "mine"
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "dataset.toml", matrix.name]
    status = subprocess.run(
        ["git", "-C", str(own.root), "status", "--porcelain", "-uall"], check=True, capture_output=True, text=True
    )
    assert status.stdout == ""
    load_dataset(layout, "mine")


def test_data_of_both_places_are_found(own: Layout, matrix: Path) -> None:
    house = replace(own, data=own.root / "mine")
    write_dataset(own, name="old")
    new_dataset(house, "new", {"associations": matrix})
    assert manifest_names(house) == ["new", "old"] and manifest_names(own) == ["old"]
    assert load_manifest(house, "new").name == "new" and load_manifest(house, "old").name == "old"
    assert recorded_path(house, "new") == house.own_datasets / "new" / "splits.csv"
    assert recorded_path(house, "old") == own.datasets / "old" / "splits.csv"


def test_two_of_one_name_are_both_named(own: Layout, matrix: Path) -> None:
    house = replace(own, data=own.root / "mine")
    new_dataset(house, "twice", {"associations": matrix})
    write_dataset(own, name="twice")
    for use in (load_manifest, load_dataset):
        with pytest.raises(UsageError, match="two datasets are called 'twice'") as caught:
            use(house, "twice")
        assert caught.value.where.split() == [
            str(place / "twice" / "dataset.toml") for place in (own.datasets, house.own_datasets)
        ]
    assert dataset_names(house) == ["twice"] and manifest_names(house) == []


def test_a_dataset_in_the_making_is_in_no_list(own: Layout, matrix: Path) -> None:
    house = replace(own, data=own.root / "mine")
    new_dataset(house, "mine", {"associations": matrix})
    shutil.copytree(house.own_datasets / "mine", house.own_datasets / ".mine.half")
    assert dataset_names(house) == manifest_names(house) == ["mine"]


def test_items_of_ones_own_are_put_beside_no_data_and_into_no_list(own: Layout, matrix: Path) -> None:
    house = replace(own, data=own.root / "mine")
    write_dataset(own, name="public")
    new_dataset(house, "private", {"associations": matrix})
    here = sorted(path for path in own.root.rglob("*") if not path.is_relative_to(own.cache))
    names = [
        extended(house, "private", [NewItem(kind="drug", name="c", text="a=0.5")]),
        extended(house, "public", [NewItem(kind="drug", name="c", text="mass=0.5")]),
    ]
    for name in names:
        assert manifest_path(house, name).is_relative_to(own.cache)
        # it is known by its name all the same
        check_known(house, [name])
        assert load_dataset(house, name).name == name
    assert sorted(path for path in own.root.rglob("*") if not path.is_relative_to(own.cache)) == here
    assert dataset_names(house) == manifest_names(house) == ["private", "public"]
    with pytest.raises(UsageError, match="no dataset is called"):
        check_known(house, [f"../{own.extended.name}/{names[0]}"])


def test_clean_removes_what_was_extended_wherever_it_lies(own: Layout, matrix: Path) -> None:
    house = replace(own, data=own.root / "mine")
    new_dataset(house, "my_new_data", {"associations": matrix})
    name = extended(house, "my_new_data", [NewItem(kind="drug", name="c", text="a=0.5")])
    # where earlier versions put it
    shutil.copytree(own.extended / name, house.own_datasets / name)
    assert list(clean_folders(house, cache=False, dry_run=False)) == []
    removed = {removal.name for removal in clean_folders(house, cache=True, dry_run=False)}
    assert {str(own.extended), str(house.own_datasets / name)} <= removed
    assert manifest_names(house) == ["my_new_data"] and not has_manifest(house, name)


def test_one_option_moves_them_for_every_command(
    tmp_path: Path, matrix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERMAFROST_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "data of mine"

    def harness(*words: str) -> str:
        return CliRunner().invoke(group, words, standalone_mode=False, catch_exceptions=False).output

    told = harness("--data", str(place), "data", "new", "mine", "--associations", str(matrix))
    assert f"kept in: {place / 'mine'}\n" in told
    assert f"next: harness --data '{place}' predict --dataset mine --top 100" in told
    assert "mine " in harness("--data", str(place), "data", "list")
    assert "mine " not in harness("data", "list"), "the option holds for one command"
    monkeypatch.setenv(DATA_VARIABLE, str(place))
    assert "mine " in harness("data", "list")


def test_a_crate_takes_the_manifest_along_and_leaves_the_tables(
    own: Layout, repository: Layout, matrix: Path, tmp_path: Path
) -> None:
    house = replace(repository, cache=own.cache, data=own.root / "mine")
    new_dataset(house, "mine", {"associations": matrix})
    crate = tmp_path / "crate"
    copy_parts(house, crate, [], ["mine"])
    files = sorted(path.name for path in (crate / "datasets").rglob("*") if path.is_file())
    assert files == ["dataset.toml"], "nobody said that the tables may be handed on"
    assert load_manifest(Layout(crate, own.cache, own.local), "mine") == load_manifest(house, "mine")


def test_no_record_tells_where_they_lie(own: Layout) -> None:
    house = replace(own, data=Path("/secret/place"))
    assert house.without_folders({"why": "/secret/place/mine: changed"}) == {"why": "DATA/mine: changed"}


def test_a_dataset_in_the_making_is_none(own: Layout) -> None:
    manifest = write_dataset(own, name="whole")
    shutil.copytree(manifest.parent, own.datasets / ".half.x1")
    assert manifest_names(own) == ["whole"]
    assert {path.name for path in manifest.parent.iterdir()} == {*TABLES, "dataset.toml"}
