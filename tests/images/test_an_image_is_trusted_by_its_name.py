"""An image counts by what it holds: its name, a stale receipt or a build that came out otherwise prove nothing."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError, ImageNotFound
from requests import Response

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.base.seal import only_new_notes
from harness.images import build as building_module
from harness.images.build import (
    ensure_environment,
    ensure_image,
    known_image,
    record_environment,
    remove_images,
)
from harness.images.cards import environment_chain, layers_of, load_environment
from harness.images.fetch import Supply
from harness.images.identity import code_tree, environment_image_name, image_name
from harness.images.preparation import built_size, needed_layers, recorded_size
from harness.images.receipts import (
    BuiltImage,
    building,
    every_receipt,
    read_receipt,
    receipt_path,
    receipts_of,
    write_receipt,
)
from harness.images.record import TreeRecord, read_record, recorded_listing, recorded_tree, write_record
from harness.images.stages import EnvironmentBuild
from harness.images.trees import (
    TreeEntry,
    code_of_entries,
    differing_folders,
    environment_listing,
    listing_digest,
)
from tests.images.making import Workbench

FILES = {
    "usr": TreeEntry("folder", 0o755, 0, 0, "", "", 0),
    "usr/a": TreeEntry("file", 0o644, 0, 0, "", "1" * 64, 30),
}
CODE = {"opt/method/main.py": TreeEntry("file", 0o644, 0, 0, "", "2" * 64, 3)}
TREE = listing_digest(environment_listing(FILES, {}))
NAME = "permafrost/made:1"


class FakeEngine:
    """An engine that holds images by name, and reads them back as they are told here."""

    name, socket = "docker", Path("/run/fake.sock")

    def __init__(self) -> None:
        self.client = SimpleNamespace(images=self, info=lambda: {"DockerRootDir": "/somewhere"})
        self.ids: dict[str, str] = {}
        self.refusals: dict[str, APIError] = {}
        self.read: list[str] = []
        self.removed: list[str] = []
        self.entries = {**FILES, **CODE}

    def get(self, name: str) -> Any:
        if name not in self.ids:
            raise ImageNotFound("none")
        return SimpleNamespace(id=self.ids[name], attrs={"Size": 1234})

    def list(self, _repository: str) -> list[Any]:
        return [SimpleNamespace(tags=[name]) for name in self.ids]

    def remove(self, name: str) -> None:
        if name in self.refusals:
            raise self.refusals[name]
        if name not in self.ids:
            raise ImageNotFound("none")
        del self.ids[name]
        self.removed.append(name)

    def read_back(self, name: str) -> dict[str, TreeEntry]:
        self.read.append(name)
        return self.entries


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Any:
    fake = FakeEngine()
    monkeypatch.setattr(building_module, "image_entries", lambda engine, name: engine.read_back(name))
    monkeypatch.setattr(building_module, "image_config", lambda *_: {})
    monkeypatch.setattr(
        building_module, "tag_image", lambda engine, image_id, name: engine.ids.update({name: image_id})
    )
    monkeypatch.setattr("harness.images.receipts._stores", {})
    return fake


def receipt(image_id: str, **changed: Any) -> BuiltImage:
    fields: dict[str, Any] = {
        "engine": "docker",
        "name": NAME,
        "image_id": image_id,
        "environment_tree": TREE,
        "code_tree": code_of_entries(CODE),
        "size_bytes": 5,
        "built_seconds": 7.5,
    }
    return BuiltImage(**{**fields, **changed})


def known(engine: Any, layout: Layout, tree: str = TREE, code: str = code_of_entries(CODE)) -> BuiltImage | None:
    return known_image(engine, layout, NAME, tree, code)


def test_what_the_engine_does_not_have_is_not_known(engine: Any, private: Layout) -> None:
    write_receipt(receipt_path(private, engine, NAME), receipt("sha256:1"))
    assert known(engine, private) is None


def test_a_receipt_of_the_same_id_saves_the_reading(engine: Any, private: Layout) -> None:
    engine.ids[NAME] = "sha256:1"
    write_receipt(receipt_path(private, engine, NAME), receipt("sha256:1"))
    assert known(engine, private) == receipt("sha256:1") and engine.read == []


@pytest.mark.parametrize("kind", ["unsealed", "changed", "of another name", "of another user"])
def test_a_receipt_that_this_user_s_harness_did_not_write_saves_nothing(
    engine: Any, private: Layout, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Who can write to the cache and tag an image would have it run as verified."""
    engine.ids[NAME] = "sha256:1"
    path, other = receipt_path(private, engine, NAME), receipt_path(private, engine, f"{NAME}x")
    if kind == "of another user":
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr("harness.images.receipts.seal_of", lambda *_: "0" * 64)
            write_receipt(path, receipt("sha256:1"))
    else:
        write_receipt(other if "name" in kind else path, receipt("sha256:0" if kind == "changed" else "sha256:1"))
    if "name" in kind:
        other.rename(path)
    elif kind != "of another user":
        content = json.loads(path.read_text())
        path.write_text(
            json.dumps({**content, "image_id": "sha256:1", **({"seal": ""} if kind[0] == "u" else {})})
        )
    assert read_receipt(path) is None and read_receipt(path, of_anybody=True) == receipt("sha256:1")
    with pytest.raises(ImageError):
        known(engine, private, "0" * 64)
    assert engine.read == [NAME]
    known(engine, private)
    assert read_receipt(path) is not None, "it was read back, and is what its name says"


def test_who_believes_no_note_reads_an_image_in_spite_of_its_receipt(engine: Any, private: Layout) -> None:
    engine.ids[NAME] = "sha256:1"
    write_receipt(receipt_path(private, engine, NAME), receipt("sha256:1"))
    with only_new_notes():
        assert known(engine, private) and known(engine, private)
    assert engine.read == [NAME], "once"


def test_a_receipt_of_an_id_that_begins_alike_is_of_another_image(engine: Any, private: Layout) -> None:
    engine.ids[NAME] = f"sha256:{'1' * 64}"
    write_receipt(receipt_path(private, engine, NAME), receipt(f"sha256:{'1' * 63}2"))
    known(engine, private)
    assert engine.read == [NAME]


@pytest.mark.parametrize("before", [None, "sha256:0"])
def test_an_image_made_elsewhere_is_read_back_and_taken(engine: Any, private: Layout, before: str | None) -> None:
    engine.ids[NAME] = "sha256:1"
    path = receipt_path(private, engine, NAME)
    if before:
        write_receipt(path, receipt(before))
    found = known(engine, private)
    assert found == receipt("sha256:1", size_bytes=1234, built_seconds=7.5 if before else 0.0)
    assert read_receipt(path) == found and engine.read == [NAME]


def test_an_environment_is_known_without_its_code(engine: Any, private: Layout) -> None:
    engine.ids[NAME] = "sha256:1"
    found = known_image(engine, private, NAME, TREE)
    assert found is not None and (found.environment_tree, found.code_tree) == (TREE, "")


@pytest.mark.parametrize("what", ["tree", "code"])
@pytest.mark.parametrize("before", [None, "sha256:0"])
def test_an_image_that_holds_something_else_is_refused(
    engine: Any, private: Layout, what: str, before: str | None
) -> None:
    engine.ids[NAME] = "sha256:1"
    if before:
        write_receipt(receipt_path(private, engine, NAME), receipt(before))
    tree, code = ("0" * 64, code_of_entries(CODE)) if what == "tree" else (TREE, "0" * 64)
    with pytest.raises(ImageError) as refused:
        known(engine, private, tree, code)
    verified = ", verified was sha256:0" if before else ""
    assert refused.value.what == f"image {NAME} does not hold what its name says: its id is sha256:1{verified}"
    held = f"environment tree {TREE[:16]}" if what == "tree" else f"code tree {code_of_entries(CODE)[:16]}"
    assert refused.value.where == f"docker at /run/fake.sock: {held} instead of {'0' * 16}"
    assert refused.value.todo == f"remove it (docker rmi -f {NAME}); it is then built again"
    with pytest.raises(ImageError, match=r"environment tree .*, code tree "):
        known(engine, private, "0" * 64, "0" * 64)
    kept = read_receipt(receipt_path(private, engine, NAME))
    assert kept == (receipt(before) if before else None)


def test_an_engine_with_another_store_has_receipts_of_its_own(engine: Any, private: Layout) -> None:
    other: Any = FakeEngine()
    other.socket, other.client.info = Path("/run/other.sock"), lambda: {"DockerRootDir": "/elsewhere"}
    podman: Any = FakeEngine()
    podman.socket, podman.name = Path("/run/podman.sock"), "podman"
    places = {receipt_path(private, one, NAME) for one in (engine, other, podman)}
    assert len(places) == 3 and receipt_path(private, engine, NAME + "x") not in places
    for number, place in enumerate(sorted(places)):
        write_receipt(place, receipt(f"sha256:{number}"))
    assert sorted(one.image_id for one in receipts_of(private, NAME)) == ["sha256:0", "sha256:1", "sha256:2"]
    assert receipts_of(private, NAME + "x") == []
    for text in ("", "{}", '{"image_id": 3}'):
        place.write_text(text)
        assert read_receipt(place) is None


def test_one_builds_at_a_time_and_what_a_killed_one_left_goes(private: Layout) -> None:
    folder = private.cache / "images"
    (folder / "context-abc").mkdir(parents=True)
    (folder / "another").mkdir()
    # no folder, and nobody's: it is passed over
    (folder / "context-file").touch()
    with building(private):
        assert sorted(path.name for path in folder.iterdir()) == [
            "another",
            "building.lock",
            "context-file",
        ]
        with (folder / "building.lock").open() as another, pytest.raises(BlockingIOError):
            fcntl.flock(another, fcntl.LOCK_SH | fcntl.LOCK_NB)
    with (folder / "building.lock").open() as another:
        fcntl.flock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Builder:
    """Builds whatever is asked for, and remembers what was asked."""

    def __init__(self, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.did: list[str] = []
        self.files = FILES
        self._engine = engine
        monkeypatch.setattr(building_module, "make_environment", self._environment)
        monkeypatch.setattr(building_module, "make_method", self._method)
        fetch = lambda _layout, parts: self.did.append(f"fetch {len(parts) > 0}")  # noqa: E731
        self.supply: Any = SimpleNamespace(fetch=fetch, announce=self.did.append)

    def _environment(
        self,
        _engine: object,
        _layout: object,
        layers: Any,
        accelerator: str,
        *,
        base: str | None,
        helper: str | None,
    ) -> EnvironmentBuild:
        self.did.append(f"make {layers[-1].name} {accelerator} on {base} with {helper}")
        return EnvironmentBuild(f"sha256:{layers[-1].name}", self.files, environment_listing(self.files, {}), 2.25)

    def _method(self, _engine: object, _layout: object, method: str, environment: str) -> tuple[str, float]:
        self.did.append(f"make {method} on {environment}")
        return f"sha256:{method}", 1.75


@pytest.fixture
def builder(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> Builder:
    return Builder(engine, monkeypatch)


def test_a_method_that_is_known_is_not_built(engine: Any, private: Layout, builder: Builder) -> None:
    name = image_name(private, "constant")
    engine.ids[name] = "sha256:1"
    there = receipt("sha256:1", name=name)
    write_receipt(receipt_path(private, engine, name), there)
    assert ensure_image(engine, private, "constant", supply=builder.supply) == there and builder.did == []


def test_a_method_that_another_process_built_meanwhile_is_not_built_again(
    engine: Any, private: Layout, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = image_name(private, "constant")
    there = receipt("sha256:1", name=name)

    @contextmanager
    def waiting(layout: Layout) -> Iterator[None]:
        engine.ids[name] = "sha256:1"
        write_receipt(receipt_path(layout, engine, name), there)
        yield

    monkeypatch.setattr(building_module, "building", waiting)
    assert ensure_image(engine, private, "constant", supply=builder.supply) == there and builder.did == []


def test_missing_layers_are_built_from_the_lowest_to_the_method(
    engine: Any, private: Layout, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building_module, "compare_with_record", lambda *_: None)
    image = ensure_image(engine, private, "als_wr", supply=builder.supply)
    layers = [one.name for one in layers_of(environment_chain(private, "als_wr"))]
    made = [text.split()[1] for text in builder.did if text.startswith("make ")]
    assert made[0] == "_base" and [one for one in made if one in layers] == layers and made[-1] == "als_wr"
    references = [environment_image_name(name, recorded_tree(private, name)) for name in layers]
    for name, below in zip(layers, ["None", *references], strict=False):
        assert any(text.startswith(f"make {name} cpu on {below} ") for text in builder.did), name
    assert builder.did[-2:] == ["building the image of als_wr", f"make als_wr on {references[-1]}"]
    assert f"building environment {layers[-1]}" in builder.did and "fetch True" in builder.did
    assert image == BuiltImage(
        engine="docker",
        name=image_name(private, "als_wr"),
        image_id="sha256:als_wr",
        environment_tree=recorded_tree(private, "als_wr"),
        code_tree=code_tree(private, "als_wr"),
        size_bytes=1234,
        built_seconds=1.8,
    )
    assert engine.ids[references[-1]] == f"sha256:{layers[-1]}"
    # all of it is known now
    builder.did.clear()
    assert ensure_image(engine, private, "als_wr", supply=builder.supply) == image
    lower = ensure_environment(engine, private, layers[-1], supply=builder.supply)
    assert (lower.image_id, lower.code_tree) == (f"sha256:{layers[-1]}", "") and builder.did == []


def test_images_of_a_method_before_its_edit_are_named_with_what_removes_them(
    engine: Any, private: Layout, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building_module, "compare_with_record", lambda *_: None)
    engine.ids |= {
        "localhost/permafrost/als_wr:0123": "sha256:old",
        "localhost/permafrost/als_wr:4567": "sha256:older",
        "localhost/permafrost/als_wr_2:0123": "sha256:other",
    }
    ensure_image(engine, private, "als_wr", supply=builder.supply)
    assert builder.did[-1].startswith("2 other images of als_wr here: harness clean --old-images removes")
    assert engine.removed == []


def test_a_layer_that_comes_out_otherwise_is_no_image(engine: Any, private: Layout, builder: Builder) -> None:
    with pytest.raises(ImageError) as refused:
        ensure_environment(engine, private, "_base", supply=builder.supply)
    recorded = recorded_tree(private, "_base")
    assert refused.value.what == f"environment '_base' came out as tree {TREE[:16]}, recorded is {recorded[:16]}"
    environment = load_environment(private, "_base")
    record = read_record(environment, "cpu")
    assert record is not None
    folders = differing_folders(recorded_listing(environment, "cpu", record), environment_listing(FILES, {}))
    assert refused.value.where == f"what differs: {', '.join(folders[:8])} and {len(folders) - 8} more"
    assert "`harness image build _base --record`" in refused.value.todo
    assert engine.ids == {} and receipts_of(private, environment_image_name("_base", recorded)) == []


def refusal(status: int) -> APIError:
    response = Response()
    response.status_code = status
    return APIError("refused", response=response)


def test_what_is_removed_is_the_methods_own_and_never_the_base(engine: Any, private: Layout) -> None:
    layers = [one.name for one in layers_of(environment_chain(private, "als_wr"))]
    names = [environment_image_name(name, recorded_tree(private, name)) for name in layers]
    own = image_name(private, "als_wr")
    engine.ids = dict.fromkeys([own, *names], "sha256:1")
    for name in engine.ids:
        write_receipt(receipt_path(private, engine, name), receipt("sha256:1", name=name))
    remove_images(engine, private, "als_wr")
    assert engine.removed == [own, *reversed(names[1:])] and list(engine.ids) == [names[0]]
    assert [one.name for one in every_receipt(private)] == [names[0]]
    # what is in use is left, and a receipt of what is not there is of nothing
    engine.ids = dict.fromkeys([own], "sha256:1")
    engine.refusals[own] = refusal(409)
    for name in (own, names[1]):
        write_receipt(receipt_path(private, engine, name), receipt("sha256:1", name=name))
    remove_images(engine, private, "als_wr")
    assert list(engine.ids) == [own]
    assert {one.name for one in every_receipt(private)} == {names[0], own}
    engine.refusals[own] = refusal(500)
    with pytest.raises(APIError):
        remove_images(engine, private, "als_wr")


def test_a_record_counts_what_was_built_beyond_its_parent(
    engine: Any, bench: Workbench, builder: Builder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    layout = Layout(root=bench.layout.root, cache=tmp_path / "cache", local=tmp_path / "local")
    layers = layers_of(environment_chain(layout, "_numpy"))
    parent = read_record(layers[-2], "cpu")
    before = read_record(layers[-1], "cpu")
    assert parent is not None and before is not None
    monkeypatch.setattr(
        building_module, "known_image", lambda *about: receipt("sha256:0", environment_tree=about[3])
    )
    record = record_environment(engine, layout, "_numpy", supply=builder.supply)
    assert record == replace_record(
        before, tree=TREE, parent=parent.tree, files=1, bytes=30, added_bytes=30 - parent.bytes
    )
    assert read_record(layers[-1], "cpu") == record
    assert recorded_listing(layers[-1], "cpu", record) == environment_listing(FILES, {})
    assert engine.ids == {environment_image_name("_numpy", TREE): "sha256:_numpy"}


def replace_record(record: TreeRecord, **changed: Any) -> TreeRecord:
    return record.model_copy(update=changed)


def test_a_record_keeps_the_other_variant_and_is_read_as_it_was_written(bench: Workbench) -> None:
    environment = layers_of(environment_chain(bench.layout, "_numpy"))[-1]
    listing = environment_listing(FILES, {})
    fields: dict[str, Any] = {"tree": TREE, "parent": "2" * 64, "files": 1, "bytes": 2, "added_bytes": 3}
    cpu = TreeRecord(**fields, locks={"debian.lock": "3" * 64, "wheels.cpu.lock": "4" * 64})
    cuda = cpu.model_copy(update={"files": 7, "locks": {}})
    write_record(environment, "cpu", cpu, listing)
    write_record(environment, "cuda", cuda, listing + "x")
    assert (read_record(environment, "cpu"), read_record(environment, "cuda")) == (cpu, cuda)
    assert recorded_listing(environment, "cpu", cpu) == listing
    # a listing that is not the one of the record is none
    assert recorded_listing(environment, "cuda", cuda) == ""
    (environment.folder / "tree.cpu.txt").write_bytes(b"\xff")
    assert recorded_listing(environment, "cpu", cpu) == ""
    assert recorded_listing(replace(environment, folder=environment.folder / "nowhere"), "cpu", cpu) == ""
    head = (environment.folder / "tree.toml").read_text().splitlines()[0]
    assert head == "# Recorded by `harness image build _numpy --record`; do not edit."


def test_supply_is_quiet_unless_somebody_listens() -> None:
    Supply().announce("nobody hears it")


def test_what_a_receipt_tells_to_be_here_is_told_apart_from_what_is_to_be_built(
    engine: Any, private: Layout
) -> None:
    layers = {
        environment.name: record
        for environment, variant in needed_layers(private, ["als_wr", "pmf"])
        if (record := read_record(environment, variant)) is not None
    }
    assert len(layers) > 1 and built_size(private, ["als_wr", "pmf"]) == 0
    expected = 0
    for name, record in layers.items():
        image = environment_image_name(name, record.tree)
        write_receipt(receipt_path(private, engine, image), receipt("sha256:1", name=image))
        expected += record.added_bytes
        assert built_size(private, ["als_wr", "pmf"]) == expected
    assert expected == recorded_size(private, ["als_wr", "pmf"])
