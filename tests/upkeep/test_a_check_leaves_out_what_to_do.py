"""Each check of `harness doctor` word for word: what it found, and what is to be done about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import CorruptData, EngineError, UsageError
from harness.base.layout import Layout
from harness.data import dataset_names, load_manifest
from harness.engine import Engine
from harness.engine.confinement import Confinement
from harness.engine.probe import ControlRun
from harness.upkeep import doctor
from harness.upkeep.doctor import Examination, State
from tests.upkeep.test_a_check_of_the_machine_says_the_wrong_thing import CONTROL, GIB, engine

CONFINED = cast(Confinement, SimpleNamespace())
CONTROLS: dict[str, tuple[ControlRun, State, str, str]] = {
    "well": (
        replace(CONTROL, memory_limit_kept=True, confinement=CONFINED),
        State.OK,
        "ended in 0.2 s; the kernel holds its memory limit; system calls are filtered, no rights are held",
        "",
    ),
    "failed": (
        replace(CONTROL, ok=False, detail="no shell"),
        State.FAIL,
        "no shell",
        "correct what the engine names; nothing can run before",
    ),
    "memory": (
        replace(CONTROL, memory_limit_kept=False, broken=("rights",)),
        State.WARN,
        "the kernel does not hold the memory limit that was asked for",
        "trust no memory limit of this engine; use another",
    ),
    "broken": (
        replace(CONTROL, broken=("a filter", "rights")),
        State.FAIL,
        "the kernel does not enforce: a filter, rights",
        "use an engine whose filter works: runs with this one end as infrastructure",
    ),
    "let through": (
        replace(CONTROL, let_through="a mount"),
        State.WARN,
        "a mount was not refused",
        "use an engine that keeps what it is asked for, or a stronger runtime (--runtime)",
    ),
}


@pytest.mark.parametrize("case", CONTROLS)
def test_a_control_run_says_what_to_do(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    control, state, detail, todo = CONTROLS[case]
    asked: list[object] = []

    def run(one: Engine) -> ControlRun:
        asked.append(one)
        return control

    monkeypatch.setattr(doctor, "control_run", run)
    machine = engine()
    assert doctor._control(machine) == Examination("control run", state, detail, todo) and asked == [machine]


def test_limits_say_what_to_do() -> None:
    assert doctor._limits(engine()) == Examination(
        "limits", State.OK, "memory, processes and CPU are limited by the engine"
    )
    assert doctor._limits(engine(process_limit_enforced=False)) == Examination(
        "limits",
        State.WARN,
        "not enforced: processes; every record will say so",
        "use an engine run by root, or a rootless one on cgroup v2 with these controllers delegated",
    )


def test_copied_layers_are_told_with_the_engine() -> None:
    check = doctor._engine(engine(storage_driver="vfs"))
    assert (check.name, check.detail) == (
        "engine",
        "docker 20.10 (root, vfs, cgroup v2) at /run/engine.sock, runtime runc; vfs storage copies every layer",
    )


IDENTITIES: dict[str, tuple[int, State, str, str]] = {
    "as committed": (0, State.OK, "swh:dir, swh:rev", ""),
    "with a change": (
        1,
        State.WARN,
        "swh:dir, swh:rev; differs from it: 1 file",
        "commit or take back the changes, if others shall find what you run",
    ),
}


@pytest.mark.parametrize("case", IDENTITIES)
def test_what_the_tree_is_called(monkeypatch: pytest.MonkeyPatch, layout: Layout, case: str) -> None:
    changed, state, detail, todo = IDENTITIES[case]
    asked = []

    def identify(root: Path) -> Any:
        asked.append(root)
        return SimpleNamespace(directory="swh:dir", revision="swh:rev", changed=changed)

    monkeypatch.setattr(doctor, "identify", identify)
    assert doctor._identity(layout) == Examination("identity", state, detail, todo) and asked == [layout.root]


def test_a_tree_without_git_is_no_failure(monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
    def identify(_root: Path) -> Any:
        raise UsageError("no repository", where="/tree", todo="clone it")

    monkeypatch.setattr(doctor, "identify", identify)
    assert doctor._identity(layout) == Examination("identity", State.WARN, "no repository (/tree)", "clone it")


def test_images_say_how_they_come_to_be(monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
    monkeypatch.setattr(doctor, "load_methods", lambda _layout: [SimpleNamespace(name=name) for name in "bac"])
    monkeypatch.setattr(doctor, "image_name", lambda _layout, name: f"image of {name}")
    assert doctor._images(layout, None) == Examination(
        "images", State.WARN, "3 methods; no engine to look for images in"
    )
    machine, asked = engine(images=frozenset({"image of c"})), list[object]()
    absent: list[int] = []

    def needed_parts(_layout: Layout, names: list[str]) -> list[int]:
        asked.append(names)
        return [1, 2, 3]

    def missing_parts(_layout: Layout, parts: list[int]) -> list[int]:
        asked.append(parts)
        return absent

    monkeypatch.setattr(doctor, "needed_parts", needed_parts)
    monkeypatch.setattr(doctor, "missing_parts", missing_parts)
    built, when = (
        "1 of 3 are built; to be built: a, b",
        "they are built when they are needed, or by `harness image build`",
    )
    assert doctor._images(layout, machine) == Examination("images", State.OK, built, when)
    absent += [1, 3]
    assert doctor._images(layout, machine) == Examination(
        "images",
        State.OK,
        f"{built}; 2 of the 3 files for that are not here",
        f"{when}, which fetch those; `harness image fetch --dry-run` lists them",
    )
    assert asked == [["a", "b"], [1, 2, 3]] * 2, "files for what is built are not needed"


def test_a_full_disk_says_what_can_be_freed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage: Callable[[Path], object] = lambda _place: SimpleNamespace(free=2 * GIB)  # noqa: E731
    monkeypatch.setattr(doctor.shutil, "disk_usage", usage)  # type: ignore[attr-defined]
    assert doctor._room("disk", tmp_path, 3 * GIB) == Examination(
        "disk",
        State.WARN,
        f"2.0 GiB free under {tmp_path}, 3.0 GiB wanted",
        "free some (harness clean --images --cache), or move it ($PERMAFROST_CACHE, $PERMAFROST_RESULTS)",
    )


@pytest.mark.parametrize(("memory", "cpus"), [(GIB - 1, 4), (GIB, 3)])
def test_a_small_machine_is_told_with_the_largest_method(
    monkeypatch: pytest.MonkeyPatch, layout: Layout, memory: int, cpus: int
) -> None:
    sizes = [(GIB, 1), (GIB // 2, 4)]
    limits = {
        str(size): SimpleNamespace(resources=SimpleNamespace(memory_bytes=size, cpus=own)) for size, own in sizes
    }
    cards = [SimpleNamespace(variants=[name], of_variant=limits.__getitem__) for name in limits]
    monkeypatch.setattr(doctor, "load_methods", lambda _layout: cards)
    monkeypatch.setattr(doctor, "this_machine", lambda: SimpleNamespace(memory=memory, cpus=cpus))
    assert doctor._memory(layout) == Examination(
        "memory",
        State.WARN,
        f"runs may use {cpus} CPUs and 1.0 GiB; methods need up to 4 CPUs and 1.0 GiB",
        "the largest methods cannot run here: use a larger machine for them",
    )


def test_a_repository_without_methods_needs_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch, layout: Layout
) -> None:
    monkeypatch.setattr(doctor, "load_methods", lambda _layout: [])
    monkeypatch.setattr(doctor, "this_machine", lambda: SimpleNamespace(memory=GIB, cpus=1))
    assert doctor._memory(layout) == Examination(
        "memory", State.OK, "runs may use 1 CPU and 1.0 GiB; methods need up to 1 CPU and 0.0 GiB"
    )


def test_gpus_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_gpus", lambda: [])
    assert doctor._gpu(engine()) == Examination(
        "gpu", State.OK, "none; the CPU images are the reference and need none"
    )
    monkeypatch.setattr(doctor, "find_gpus", lambda: [SimpleNamespace(name="H100")])
    monkeypatch.setattr(doctor, "engine_lends_gpus", lambda _facts: False)
    assert doctor._gpu(engine()) == Examination(
        "gpu",
        State.WARN,
        "1: H100; the engine cannot hand them to containers",
        "install the NVIDIA container toolkit for CUDA images; CPU images work without",
    )


def test_data_are_looked_for_in_every_mirror(
    monkeypatch: pytest.MonkeyPatch, layout: Layout, tmp_path: Path
) -> None:
    asked = []

    def judged(given: Layout, name: str, mirrors: Any) -> Examination:
        asked.append((given, name, mirrors))
        if name == "cdataset":
            raise UsageError("no title", where="dataset.toml", todo="write one")
        if name == "fdataset":
            raise CorruptData("it changed", where="x.csv", todo="put it back")
        return Examination(name, State.OK, "here")

    monkeypatch.setattr(doctor, "_dataset", judged)
    checks = doctor.data_checks(layout, [tmp_path])
    names = dataset_names(layout)
    assert asked == [(layout, name, [tmp_path]) for name in names] and len(checks) == len(names)
    assert [one for one in checks if one.state is State.FAIL] == [
        Examination("data cdataset", State.FAIL, "no title (dataset.toml)", "write one"),
        Examination("data fdataset", State.FAIL, "it changed (x.csv)", "put it back"),
    ]
    asked.clear()

    def none(*_: object, **__: object) -> Engine:
        raise EngineError("none", where="x", todo="y")

    monkeypatch.setattr(doctor, "find_engine", none)
    list(doctor.examine(layout, [tmp_path]))
    assert asked[0][2] == [tmp_path]


def test_copies_in_a_mirror_are_found(monkeypatch: pytest.MonkeyPatch, layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    asked: list[Any] = []

    def copy(*arguments: Any) -> Path | None:
        asked.append(arguments)
        return None if len(asked) == 1 else tmp_path

    monkeypatch.setattr(doctor, "missing_tables", lambda *_: ())
    monkeypatch.setattr(doctor, "changed_files", lambda *_: [])
    monkeypatch.setattr(doctor, "is_converted", lambda *_: False)
    monkeypatch.setattr(doctor, "local_copy", copy)
    manifest = load_manifest(layout, "fdataset")
    check = doctor._dataset(layout, "fdataset", [tmp_path])
    assert asked == [(layout, "fdataset", file, [tmp_path]) for file in manifest.files]
    assert check.detail == f"not here: 1 original file ({manifest.files[0].bytes / 1e6:.1f} MB)"


def test_left_overs_are_looked_for_where_runs_work(monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
    asked = []

    def abandoned(place: Path) -> list[Path]:
        asked.append(place)
        return []

    monkeypatch.setattr(doctor, "abandoned_folders", abandoned)
    assert doctor._leftovers(layout, None).state is State.OK and asked == [layout.local / "work"]
