"""Every check of `harness doctor` at both sides of its bounds: its state, what it names, what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import CorruptData, EngineError
from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.data import load_manifest, manifest_names
from harness.engine import Engine
from harness.engine.facts import read_facts
from harness.engine.probe import ControlRun
from harness.images import image_name, needed_parts
from harness.methods.card import load_methods
from harness.upkeep import doctor
from harness.upkeep.doctor import Examination, State, examine

GIB = 1 << 30
FACTS = read_facts(
    {"Version": "20.10"},
    {"Driver": "overlay2", "SecurityOptions": ["name=seccomp"], "DefaultRuntime": "runc", "CgroupVersion": "2"},
    api_version="1.41",
    socket="/run/engine.sock",
)


class FakeEngine:
    """An engine with these facts that holds these images."""

    def __init__(self, images: frozenset[str] = frozenset(), **facts: Any) -> None:
        self.facts = replace(FACTS, **facts)
        self._images = images

    def image_id(self, name: str) -> str | None:
        return "sha256:1" if name in self._images else None

    def __enter__(self) -> FakeEngine:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def engine(**facts: Any) -> Engine:
    return cast(Engine, FakeEngine(**facts))


def test_an_engine_is_told_in_one_line() -> None:
    check = doctor._engine(engine(rootless=True, served=True))
    assert check.state is State.OK and check.todo == ""
    assert check.detail == (
        "docker 20.10 (rootless, overlay2, cgroup v2) at /run/engine.sock, served by the harness, runtime runc"
    )
    assert doctor._engine(engine(runtime="")).detail == (
        "docker 20.10 (root, overlay2, cgroup v2) at /run/engine.sock, runtime unknown"
    )


def test_an_engine_that_copies_every_layer_is_warned_of() -> None:
    check = doctor._engine(engine(storage_driver="vfs"))
    assert check.state is State.WARN and "vfs storage copies every layer" in check.detail
    assert check.todo == "put the cache or the engine's storage on a disk that can hold overlays"


def test_each_limit_that_is_not_kept_is_named() -> None:
    fields = {
        "memory": "memory_limit_enforced",
        "processes": "process_limit_enforced",
        "cpu": "cpu_limit_enforced",
    }
    assert doctor._limits(engine()).state is State.OK
    for name, field in fields.items():
        check = doctor._limits(engine(**{field: False}))
        assert check.state is State.WARN and check.detail.startswith(f"not enforced: {name};") and check.todo
    every = doctor._limits(engine(**dict.fromkeys(fields.values(), False)))
    assert every.detail == "not enforced: memory, processes, cpu; every record will say so"


CONTROL = ControlRun(ok=True, detail="ended", seconds=0.25)


@pytest.mark.parametrize(
    ("control", "state", "text"),
    [
        (CONTROL, State.OK, "ended in 0.2 s; its memory limit could not be looked at"),
        (replace(CONTROL, memory_limit_kept=True), State.OK, "ended in 0.2 s; the kernel holds its memory limit"),
        (replace(CONTROL, ok=False, detail="no shell"), State.FAIL, "no shell"),
        (replace(CONTROL, memory_limit_kept=False), State.WARN, "the kernel does not hold the memory limit"),
        (replace(CONTROL, broken=("a filter", "rights")), State.FAIL, "does not enforce: a filter, rights"),
        (replace(CONTROL, let_through="a mount"), State.WARN, "a mount was not refused"),
        # the worst of several is told
        (replace(CONTROL, broken=("rights",), let_through="a mount"), State.FAIL, "does not enforce: rights"),
    ],
)
def test_the_control_run_is_judged_by_what_it_showed(
    monkeypatch: pytest.MonkeyPatch, control: ControlRun, state: State, text: str
) -> None:
    monkeypatch.setattr(doctor, "control_run", lambda _engine: control)
    check = doctor._control(engine())
    assert (check.name, check.state) == ("control run", state) and text in check.detail
    assert bool(check.todo) == (state is not State.OK)


def test_a_limit_that_nobody_promised_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "control_run", lambda _engine: replace(CONTROL, memory_limit_kept=False))
    check = doctor._control(engine(memory_limit_enforced=False))
    assert check.state is State.OK and check.detail == "ended in 0.2 s"


def test_images_that_are_still_to_be_built_are_named(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the cache of this machine holds."""
    methods = [card.name for card in load_methods(layout)]
    assert doctor._images(layout, None).state is State.WARN
    every = frozenset(image_name(layout, name) for name in methods)
    check = doctor._images(layout, engine(images=every))
    assert (check.state, check.detail) == (State.OK, f"all {len(methods)} are built")
    told = f"{len(methods) - 1} of {len(methods)} are built; to be built: constant"
    parts = needed_parts(layout, ["constant"])
    for absent, more in ((0, ""), (2, f"; 2 of the {len(parts)} files for that are not here")):
        monkeypatch.setattr(doctor, "missing_parts", lambda _, wanted, absent=absent: wanted[:absent])
        check = doctor._images(layout, engine(images=every - {image_name(layout, "constant")}))
        assert check.detail == told + more and check.todo


@pytest.mark.parametrize(
    ("free", "need", "state"),
    [
        (5 * GIB, 5 * GIB, State.OK),
        (5 * GIB - 1, 5 * GIB, State.WARN),
        (GIB, 5 * GIB, State.WARN),
        (GIB - 1, 5 * GIB, State.FAIL),
        # however little is needed, a machine works badly on less
        (GIB, 1, State.OK),
        (GIB - 1, 1, State.FAIL),
    ],
)
def test_room_is_judged_at_its_bounds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, need: int, state: State
) -> None:
    asked = []

    def usage(place: Path) -> SimpleNamespace:
        asked.append(place)
        return SimpleNamespace(free=free, total=free * 2)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    check = doctor._room("disk", tmp_path / "not" / "yet", need)
    assert check.state is state and asked == [tmp_path] and bool(check.todo) == (state is not State.OK)
    assert (
        check.detail == f"{free / GIB:.1f} GiB free under {tmp_path / 'not' / 'yet'}, {need / GIB:.1f} GiB wanted"
    )


def test_every_disk_in_use_is_looked_at(layout: Layout, tmp_path: Path) -> None:
    names = ["disk for results", "disk for the cache"]
    assert [one.name for one in doctor._disk(layout, None)] == names
    for folder in ("", str(tmp_path / "elsewhere")):
        assert [one.name for one in doctor._disk(layout, engine(root_folder=folder))] == names
    check = doctor._disk(layout, engine(root_folder=str(tmp_path)))
    assert [one.name for one in check] == [*names, "disk for images"]
    places = (layout.local, layout.cache, tmp_path)
    assert all(f"under {place}," in one.detail for one, place in zip(check, places, strict=True))
    # results need their own room; images need the same wherever they lie
    wanted = [one.detail.rpartition(", ")[2] for one in check]
    assert wanted[0] == "5.0 GiB wanted" and wanted[1] == wanted[2] != wanted[0]


@pytest.mark.parametrize("less_memory", [0, 1])
@pytest.mark.parametrize("fewer_cpus", [0, 1])
def test_memory_and_processors_are_held_against_the_largest_method(
    monkeypatch: pytest.MonkeyPatch, layout: Layout, less_memory: int, fewer_cpus: int
) -> None:
    limits = [card.of_variant(name).resources for card in load_methods(layout) for name in card.variants]
    memory, cpus = (max(getattr(one, name) for one in limits) for name in ("memory_bytes", "cpus"))
    # some cards give a variant more than the others
    assert memory > max(card.resources.memory_bytes for card in load_methods(layout))
    machine = SimpleNamespace(memory=memory - less_memory, cpus=cpus - fewer_cpus)
    monkeypatch.setattr(doctor, "this_machine", lambda: machine)
    check = doctor._memory(layout)
    fits = not less_memory and not fewer_cpus
    assert check.state is (State.OK if fits else State.WARN) and bool(check.todo) == (not fits)
    assert check.detail.endswith(f"methods need up to {counted(cpus, 'CPU')} and {memory / GIB:.1f} GiB")
    assert check.detail.startswith(f"runs may use {counted(machine.cpus, 'CPU')} and ")


@pytest.mark.parametrize("lends", [False, True])
def test_a_gpu_that_no_container_can_have_is_warned_of(monkeypatch: pytest.MonkeyPatch, *, lends: bool) -> None:
    gpus = [SimpleNamespace(name="H200"), SimpleNamespace(name="A100"), SimpleNamespace(name="A100")]
    monkeypatch.setattr(doctor, "find_gpus", lambda: gpus)
    monkeypatch.setattr(doctor, "engine_lends_gpus", lambda _facts: lends)
    check = doctor._gpu(engine())
    assert check.state is (State.OK if lends else State.WARN) and check.detail.startswith("3: A100, H200")
    assert bool(check.todo) == (not lends)
    # without an engine nobody can tell
    assert doctor._gpu(None) == Examination("gpu", State.OK, "3: A100, H200")


@pytest.mark.parametrize(("containers", "folders"), [(0, 0), (2, 0), (0, 3), (1, 1)])
def test_leftovers_are_counted(
    monkeypatch: pytest.MonkeyPatch, layout: Layout, containers: int, folders: int
) -> None:
    monkeypatch.setattr(doctor, "find_orphans", lambda _engine: [object()] * containers)
    monkeypatch.setattr(doctor, "abandoned_folders", lambda place: [place] * folders)
    check = doctor._leftovers(layout, engine())
    if not containers and not folders:
        assert check == Examination("leftovers", State.OK, "none")
        return
    detail = f"{counted(containers, 'container')} and {counted(folders, 'temporary folder')} without an owner"
    assert check == Examination("leftovers", State.WARN, detail, "harness clean")
    assert doctor._leftovers(layout, None).state is (State.WARN if folders else State.OK)


def test_a_dataset_is_judged_by_what_lies_here(monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
    def judged(name: str, **answers: object) -> Examination:
        usual: dict[str, object] = {
            "missing_tables": (),
            "changed_files": [],
            "is_converted": False,
            "local_copy": Path("here"),
        }
        for function, answer in {**usual, **answers}.items():
            monkeypatch.setattr(doctor, function, lambda *_, answer=answer: answer)
        return doctor._dataset(layout, name, ())

    name = "fdataset"
    files = load_manifest(layout, name).files
    title = f"data {name}"
    assert judged(name) == Examination(title, State.OK, "all original files are here")
    assert judged(name, is_converted=True) == Examination(title, State.OK, "converted")
    missing = judged(name, local_copy=None)
    size = sum(file.bytes for file in files) / 1e6
    assert missing.detail == f"not here: {counted(len(files), 'original file')} ({size:.1f} MB)"
    # beside others, of which the sizes are known
    unknown = [files[0].model_copy(update={"sha256": "", "bytes": 0}), *files]
    manifest = load_manifest(layout, name).model_copy(update={"files": unknown})
    with monkeypatch.context() as changed_manifest:
        changed_manifest.setattr(doctor, "load_manifest", lambda *_: manifest)
        of_unknown_size = judged(name, local_copy=None).detail
    assert of_unknown_size == f"not here: {counted(len(unknown), 'original file')} (of unknown size)"
    assert missing.state is State.WARN and missing.todo == f"harness data get {name}, or give --mirror DIR"
    changed = judged(name, changed_files=[Path("a/one.csv"), Path("b/two.csv")], is_converted=True)
    assert changed.detail == "changed, not what the manifest records: one.csv, two.csv"
    assert changed.state is State.FAIL and changed.todo == (
        f"harness data accept {name}, if that is meant; else put the recorded file back"
    )
    # nobody can download it: whatever else is said of it, the machine is not at fault
    monkeypatch.setattr(doctor, "reason_to_bring", lambda _manifest: "a licence")
    bring = judged(name, missing_tables=("table",), changed_files=[Path("one.csv")])
    assert bring == Examination(title, State.OK, "yours to bring, if you have it: a licence")


CHECKS = ["identity", "images", "disk for results", "disk for the cache", "memory", "gpu"]


def test_one_check_that_fails_hides_no_other(monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
    def broken(*_: object) -> object:
        raise CorruptData("the card is cut", where="method.toml", todo="restore it")

    for name, function in {"memory": "_memory", "leftovers": "_leftovers", "images": "_images"}.items():
        with monkeypatch.context() as changed:
            changed.setattr(doctor, function, broken)
            check = list(doctor._without_engine(layout, (), None))
        (failed,) = (one for one in check if one.state is State.FAIL and one.name == name)
        assert failed == Examination(name, State.FAIL, "the card is cut (method.toml)", "restore it")
        assert {*CHECKS, "leftovers"} <= {one.name for one in check}


@pytest.mark.parametrize("found", [True, False])
def test_all_is_examined_with_and_without_an_engine(
    monkeypatch: pytest.MonkeyPatch, layout: Layout, *, found: bool
) -> None:
    def find(_layout: Layout, *, runtime: str | None) -> Engine:
        assert runtime == "runsc"
        if not found:
            raise EngineError("no engine answers", where="/run/x", todo="start one")
        return engine()

    monkeypatch.setattr(doctor, "find_engine", find)
    monkeypatch.setattr(doctor, "control_run", lambda _engine: CONTROL)
    monkeypatch.setattr(doctor, "find_orphans", lambda _engine: [])
    check = list(examine(layout, runtime="runsc"))
    names = [one.name for one in check if not one.name.startswith("data ")]
    first = ["engine", "limits", "control run"] if found else ["engine"]
    assert names == [*first, *CHECKS, "leftovers"]
    assert {f"data {name}" for name in manifest_names(layout)} <= {one.name for one in check}
    if not found:
        assert check[0] == Examination("engine", State.FAIL, "no engine answers (/run/x)", "start one")


@pytest.mark.parametrize(("name", "stops"), [("engine", True), ("control run", True), ("limits", False)])
def test_what_stops_everything_is_the_engine(name: str, *, stops: bool) -> None:
    judge: Callable[[State], bool] = lambda state: Examination(name, state, "").of_engine  # noqa: E731
    assert judge(State.FAIL) is stops
