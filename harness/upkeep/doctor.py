"""Checks before long work: they find in seconds what would fail after hours, and say what to do about it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.base.errors import EngineError, HarnessError
from harness.base.layout import Layout
from harness.base.machine import GIB
from harness.base.ownership import abandoned_folders
from harness.base.plurals import counted
from harness.base.swhid import identify
from harness.data import dataset_names, load_manifest
from harness.data.datasets import is_converted
from harness.data.own_tables import missing_tables, reason_to_bring
from harness.data.sources import changed_files, local_copy
from harness.engine import Engine, find_engine, find_orphans
from harness.engine.probe import control_run
from harness.execution.gpus import engine_lends_gpus, find_gpus
from harness.images import image_name, missing_parts, needed_parts, recorded_size
from harness.methods.card import load_methods
from harness.planning.budget import this_machine

# free bytes that a long campaign needs for results and inputs, and the least that is not a failure
_RESULTS_BYTES, _LEAST_BYTES = 5 * GIB, GIB
_MOVE = "move it ($PERMAFROST_CACHE, $PERMAFROST_RESULTS)"


class State(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Examination:
    """One check with its result."""

    name: str
    state: State
    detail: str
    todo: str = ""

    @property
    def of_engine(self) -> bool:
        """Whether no container can run while this check fails."""
        return self.name in ("engine", "control run")


def examine(layout: Layout, mirrors: Sequence[Path] = (), *, runtime: str | None = None) -> Iterator[Examination]:
    """The checks, each as soon as its result is there."""
    try:
        engine = find_engine(layout, runtime=runtime)
    except (EngineError, OSError) as error:
        yield _failed("engine", error)
        yield from _without_engine(layout, mirrors, None)
        return
    with engine:
        yield _engine(engine)
        yield _limits(engine)
        yield _control(engine)
        yield from _without_engine(layout, mirrors, engine)


def _without_engine(layout: Layout, mirrors: Sequence[Path], engine: Engine | None) -> Iterator[Examination]:
    yield _identity(layout)
    parts: list[tuple[str, Callable[[], list[Examination]]]] = [
        ("images", lambda: [_images(layout, engine)]),
        ("disk", lambda: _disk(layout, engine)),
        ("memory", lambda: [_memory(layout)]),
        ("gpu", lambda: [_gpu(engine)]),
        ("data", lambda: data_checks(layout, mirrors)),
        ("leftovers", lambda: [_leftovers(layout, engine)]),
    ]
    for name, check in parts:
        try:
            yield from check()
        except (HarnessError, OSError) as error:
            yield _failed(name, error)


def _failed(name: str, error: HarnessError | OSError) -> Examination:
    """A check that could not be made is a finding, too."""
    if isinstance(error, OSError):
        detail = f"the operating system says: {error.strerror or error}"
        where = f" ({error.filename})" if error.filename else ""
        return Examination(name, State.FAIL, f"{detail}{where}", "look at rights and free space there")
    return Examination(name, State.FAIL, f"{error.what} ({error.where})", error.todo)


def _identity(layout: Layout) -> Examination:
    """What this tree is called by Software Heritage; no run depends on it."""
    try:
        identity = identify(layout.root)
    except HarnessError as error:
        return Examination("identity", State.WARN, f"{error.what} ({error.where})", error.todo)
    detail = f"{identity.directory}, {identity.revision}"
    if identity.changed:
        todo = "commit or take back the changes, if others shall find what you run"
        return Examination(
            "identity", State.WARN, f"{detail}; differs from it: {counted(identity.changed, 'file')}", todo
        )
    return Examination("identity", State.OK, detail)


def _engine(engine: Engine) -> Examination:
    facts = engine.facts
    kind = "rootless" if facts.rootless else "root"
    served = ", served by the harness" if facts.served else ""
    detail = (
        f"{facts.name} {facts.version} ({kind}, {facts.storage_driver}, cgroup v{facts.cgroup_version}) "
        f"at {facts.socket}{served}, runtime {facts.runtime or 'unknown'}"
    )
    if facts.storage_driver == "vfs":
        todo = "put the cache or the engine's storage on a disk that can hold overlays"
        return Examination("engine", State.WARN, f"{detail}; vfs storage copies every layer", todo)
    return Examination("engine", State.OK, detail)


def _limits(engine: Engine) -> Examination:
    facts = engine.facts
    enforced = {
        "memory": facts.memory_limit_enforced,
        "processes": facts.process_limit_enforced,
        "cpu": facts.cpu_limit_enforced,
    }
    lacking = [name for name, is_kept in enforced.items() if not is_kept]
    if not lacking:
        return Examination("limits", State.OK, "memory, processes and CPU are limited by the engine")
    return Examination(
        "limits",
        State.WARN,
        f"not enforced: {', '.join(lacking)}; every record will say so",
        "use an engine run by root, or a rootless one on cgroup v2 with these controllers delegated",
    )


def _control(engine: Engine) -> Examination:
    control = control_run(engine)
    if not control.ok:
        todo = "correct what the engine names; nothing can run before"
        return Examination("control run", State.FAIL, control.detail, todo)
    if control.memory_limit_kept is False and engine.facts.memory_limit_enforced:
        todo = "trust no memory limit of this engine; use another"
        return Examination(
            "control run", State.WARN, "the kernel does not hold the memory limit that was asked for", todo
        )
    if control.broken:
        todo = "use an engine whose filter works: runs with this one end as infrastructure"
        return Examination(
            "control run", State.FAIL, f"the kernel does not enforce: {', '.join(control.broken)}", todo
        )
    if control.let_through:
        todo = "use an engine that keeps what it is asked for, or a stronger runtime (--runtime)"
        return Examination("control run", State.WARN, f"{control.let_through} was not refused", todo)
    note = {
        True: "; the kernel holds its memory limit",
        False: "",
        None: "; its memory limit could not be looked at",
    }
    confinement = "; system calls are filtered, no rights are held" if control.confinement else ""
    detail = f"{control.detail} in {control.seconds:.1f} s{note[control.memory_limit_kept]}{confinement}"
    return Examination("control run", State.OK, detail)


def _images(layout: Layout, engine: Engine | None) -> Examination:
    methods = [card.name for card in load_methods(layout)]
    if engine is None:
        return Examination(
            "images", State.WARN, f"{counted(len(methods), 'method')}; no engine to look for images in"
        )
    ready = [name for name in methods if engine.image_id(image_name(layout, name))]
    missing = sorted(set(methods) - set(ready))
    if not missing:
        return Examination("images", State.OK, f"all {len(methods)} are built")
    detail = f"{len(ready)} of {len(methods)} are built; to be built: {', '.join(missing)}"
    parts = needed_parts(layout, missing)
    todo = "they are built when they are needed, or by `harness image build`"
    if absent := missing_parts(layout, parts):
        detail = f"{detail}; {len(absent)} of the {counted(len(parts), 'file')} for that are not here"
        todo = f"{todo}, which fetch those; `harness image fetch --dry-run` lists them"
    return Examination("images", State.OK, detail, todo)


def _disk(layout: Layout, engine: Engine | None) -> list[Examination]:
    images = recorded_size(layout, (card.name for card in load_methods(layout)))
    checks = [
        _room("disk for results", layout.local, _RESULTS_BYTES),
        _room("disk for the cache", layout.cache, images),
    ]
    if engine is not None and engine.facts.root_folder and Path(engine.facts.root_folder).exists():
        checks.append(_room("disk for images", Path(engine.facts.root_folder), images))
    return checks


def _room(name: str, place: Path, need: int) -> Examination:
    here = next(path for path in (place, *place.parents) if path.exists())
    if not os.access(here, os.W_OK):
        return Examination(name, State.FAIL, f"nothing can be written to {here}", _MOVE)
    free = shutil.disk_usage(here).free
    detail = f"{free / GIB:.1f} GiB free under {place}, {need / GIB:.1f} GiB wanted"
    if free >= max(need, _LEAST_BYTES):
        return Examination(name, State.OK, detail)
    todo = f"free some (harness clean --images --cache), or {_MOVE}"
    return Examination(name, State.FAIL if free < _LEAST_BYTES else State.WARN, detail, todo)


def _memory(layout: Layout) -> Examination:
    machine = this_machine()
    # a variant may have limits of its own
    limits = [card.of_variant(name).resources for card in load_methods(layout) for name in card.variants]
    wants = max((one.memory_bytes for one in limits), default=0)
    cpus = max((one.cpus for one in limits), default=1)
    detail = (
        f"runs may use {counted(machine.cpus, 'CPU')} and {machine.memory / GIB:.1f} GiB; "
        f"methods need up to {counted(cpus, 'CPU')} and {wants / GIB:.1f} GiB"
    )
    if machine.memory >= wants and machine.cpus >= cpus:
        return Examination("memory", State.OK, detail)
    return Examination(
        "memory", State.WARN, detail, "the largest methods cannot run here: use a larger machine for them"
    )


def _gpu(engine: Engine | None) -> Examination:
    gpus = find_gpus()
    if not gpus:
        return Examination("gpu", State.OK, "none; the CPU images are the reference and need none")
    detail = f"{len(gpus)}: {', '.join(sorted({gpu.name for gpu in gpus}))}"
    if engine is not None and not engine_lends_gpus(engine.facts):
        todo = "install the NVIDIA container toolkit for CUDA images; CPU images work without"
        return Examination("gpu", State.WARN, f"{detail}; the engine cannot hand them to containers", todo)
    return Examination("gpu", State.OK, detail)


def data_checks(layout: Layout, mirrors: Sequence[Path] = ()) -> list[Examination]:
    """A check per dataset: whether its data are here, and its manifest and own tables are valid."""
    checks = []
    for name in dataset_names(layout):
        try:
            checks.append(_dataset(layout, name, mirrors))
        except HarnessError as error:
            # it hides no other dataset
            checks.append(Examination(f"data {name}", State.FAIL, f"{error.what} ({error.where})", error.todo))
    return checks


def _dataset(layout: Layout, name: str, mirrors: Sequence[Path]) -> Examination:
    manifest, title = load_manifest(layout, name), f"data {name}"
    if missing_tables(layout, manifest):
        # it can't be downloaded, so its absence is no fault of this machine
        return Examination(title, State.OK, f"yours to bring, if you have it: {reason_to_bring(manifest)}")
    if files := changed_files(layout, manifest):
        names = ", ".join(path.name for path in files)
        todo = f"harness data accept {name}, if that is meant; else put the recorded file back"
        return Examination(title, State.FAIL, f"changed, not what the manifest records: {names}", todo)
    if is_converted(layout, manifest):
        return Examination(title, State.OK, "converted")
    missing = [file for file in manifest.files if local_copy(layout, name, file, mirrors) is None]
    if not missing:
        return Examination(title, State.OK, "all original files are here")
    size = sum(file.bytes for file in missing)
    how_large = f"{size / 1e6:.1f} MB" if all(file.recorded for file in missing) else "of unknown size"
    detail = f"not here: {counted(len(missing), 'original file')} ({how_large})"
    return Examination(title, State.WARN, detail, f"harness data get {name}, or give --mirror DIR")


def _leftovers(layout: Layout, engine: Engine | None) -> Examination:
    orphans = len(find_orphans(engine)) if engine is not None else 0
    folders = len(abandoned_folders(layout.local / "work"))
    if not orphans and not folders:
        return Examination("leftovers", State.OK, "none")
    detail = f"{counted(orphans, 'container')} and {counted(folders, 'temporary folder')} without an owner"
    return Examination("leftovers", State.WARN, detail, "harness clean")
