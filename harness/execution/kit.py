"""A kit: a folder with all that one run needs, for a person who starts its container with a plain engine.

It holds the very /in of a run (test labels are not in it), an empty /out, and what the container is shown in the
place of the kernel's files. What comes out is judged like the answer of a run. It is never stored as one: nobody
watched how it was made.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from harness import benchmarks
from harness.base.errors import CorruptData, InvalidPredictions, UsageError
from harness.base.files import read_json, sha256_of, write_json
from harness.base.foreign_text import printable, shortened
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.benchmarks.order import Arrangement
from harness.engine import Engine
from harness.engine.facts import EngineFacts
from harness.engine.leftovers import open_folder, remove_stubborn
from harness.engine.walls import SYSTEM_CALLS
from harness.execution.runs import Limits, answer_files
from harness.execution.runs.command_line import command_line
from harness.execution.runs.container import container_configuration, write_shown_files
from harness.execution.runs.disk import output_fault
from harness.execution.runs.user import ContainerUser, container_user
from harness.execution.runs.workspace import Workspace, collect, make_out, make_readable, temporary_folders
from harness.execution.tasks import AnswerCheck, Task, arrangement_of, limits_of, order_of, prepare
from harness.images import BuiltImage, Supply, ensure_image, folder_tree
from harness.planning.jobs import PlannedJob

_NOTE = "kit.json"
_IN, _UPSTREAM = "in", "upstream"


class KitNote(Strict):
    """What a kit is for; it lies beside what the container sees."""

    planned: PlannedJob
    image: BuiltImage
    # The order that the items of /in are in: it leads back from the answer to the published one.
    order: str
    # The tree of /in as it was written.
    inputs_tree: str


@dataclass(frozen=True)
class Kit:
    """A kit that was written, and the words of the line that starts its container."""

    folder: Path
    note: KitNote
    command: tuple[str, ...]
    # What the harness does for a run and no engine's client does.
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class HandMade:
    """An answer made by hand: `fault` says why it is none, `files` holds the sha256 of what counts of it."""

    note: KitNote
    fault: str
    files: Mapping[str, str]


def write_kit(
    layout: Layout,
    engine: Engine,
    planned: PlannedJob,
    folder: Path,
    *,
    order: str | None = None,
    mirrors: Sequence[Path] = (),
    upstream: Path | None = None,
) -> Kit:
    """A kit in a new folder; `order` is that of an earlier run, else a new one."""
    folder = folder.absolute()
    job = planned.job
    image = ensure_image(engine, layout, job.method, job.accelerator, supply=Supply(mirrors))
    task = Task(layout, planned, image, tuple(mirrors), upstream, order=order)
    order = task.order if task.order is not None else order_of(task.card)
    arrangement = arrangement_of(task, order)
    user = container_user(engine.facts, uid=os.geteuid(), gid=os.getegid())
    with _new_folder(folder):
        for name in (_IN, _UPSTREAM):
            (folder / name).mkdir()
        workspace = Workspace(folder, user)
        make_out(workspace)
        request = prepare(task, arrangement, folder, inputs=folder / _IN, code=folder / _UPSTREAM)
        make_readable(folder / _IN)
        if not planned.job.upstream:
            (folder / _UPSTREAM).rmdir()
        profile = folder / SYSTEM_CALLS.name
        shutil.copyfile(SYSTEM_CALLS, profile)
        write_shown_files(workspace.shown, request.limits)
        configuration = container_configuration(
            request, engine.facts, out=workspace.out, shown=workspace.shown, run="", owner="", user=user
        )
        # without an owner: no harness may take the container for one that another left behind
        configuration["Labels"] = dict(request.labels)
        note = KitNote(
            planned=planned,
            image=image,
            order=order,
            inputs_tree=folder_tree(folder / _IN),
        )
        write_json(folder / _NOTE, note.model_dump(mode="json"))
    words = command_line(configuration, engine.facts, system_calls=profile)
    return Kit(folder, note, tuple(words), _remarks(engine.facts, request.limits))


def judge_by_hand(layout: Layout, folder: Path, mirrors: Sequence[Path] = ()) -> HandMade:
    """What the /out of a kit holds, by the checks of a run, in the published order; it stays as it is."""
    note = _read_note(folder)
    task = Task(layout, note.planned, note.image, tuple(mirrors), order=note.order)
    if folder_tree(folder / _IN) != note.inputs_tree:
        return HandMade(note, "/in was changed since it was written: this is no answer to that job", {})
    arrangement, limits = arrangement_of(task, note.order), limits_of(task.card)
    user = ContainerUser(os.geteuid(), os.getegid(), own=False)
    with temporary_folders(layout.local / "work", "answer") as (copies,):
        workspace = _ByHand(folder, user, copies)
        if not workspace.out.is_dir():
            return HandMade(note, "/out is missing", {})
        with _left_as_it_is(workspace.out, limits.output_files):
            return _judged(note, workspace, arrangement, limits)


def _judged(note: KitNote, workspace: Workspace, arrangement: Arrangement, limits: Limits) -> HandMade:
    if fault := output_fault(workspace, limits, ended=True):
        return HandMade(note, fault, {})
    benchmark = note.planned.job.benchmark
    if fault := collect(workspace, limits, **answer_files(benchmark)).fault:
        return HandMade(note, fault, {})
    try:
        AnswerCheck(note.planned.job, arrangement)(workspace.collected)
    except InvalidPredictions as error:
        return HandMade(note, shortened(printable(str(error))), {})
    answer = (workspace.collected / name for name in benchmarks.get(benchmark).compared_files)
    return HandMade(note, "", {path.name: sha256_of(path) for path in answer if path.is_file()})


@dataclass(frozen=True)
class _ByHand(Workspace):
    """The /out of a kit; what is copied out of it lies elsewhere, so that the kit stays as it is."""

    copies: Path

    @property
    def collected(self) -> Path:
        """The files that were copied out of /out."""
        return self.copies


@contextmanager
def _left_as_it_is(folder: Path, most: int) -> Iterator[None]:
    """What is closed to its owner is opened to be read, folders and files; it is closed again at the end."""
    modes: dict[str, int] = {}
    try:
        _open_and_note(folder, modes, most)
        yield
    finally:
        # what lies in a folder comes before the folder
        for path, mode in reversed(modes.items()):
            if stat.S_IMODE(os.lstat(path).st_mode) != mode:
                Path(path).chmod(mode)


def _open_and_note(folder: Path, modes: dict[str, int], most: int) -> None:
    """Note the modes of all in a folder by path; folders are opened, as by the checks of a run."""

    def note(path: str) -> None:
        state = os.lstat(path)
        if not stat.S_ISLNK(state.st_mode):
            modes[path] = stat.S_IMODE(state.st_mode)
        if stat.S_ISDIR(state.st_mode):
            # what can't be opened is told by the checks
            with suppress(OSError):
                os.close(open_folder(path))

    note(str(folder))
    # each folder is listed after it was noted in the one that it lies in
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if len(modes) > most:
                return
            note(f"{place}/{name}")


def _read_note(folder: Path) -> KitNote:
    path = folder / _NOTE
    if not path.is_file():
        raise UsageError(
            "this is no folder that `harness job write` made", where=str(path), todo="write one: harness job write"
        )
    try:
        return KitNote.model_validate(read_json(path))
    except ValidationError as error:
        raise CorruptData(
            f"the note of this job can't be read: {error.error_count()} fields are wrong",
            where=str(path),
            todo="write the job again, into another folder",
        ) from None


def refuse_taken(folder: Path) -> None:
    """Refuse a folder that is there: at once, and not after minutes in which an image was built for it."""
    if os.path.lexists(folder):
        raise UsageError("there is something of that name", where=str(folder), todo="name a new folder")


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """A private folder that is gone again if the block fails."""
    refuse_taken(folder)
    folder.mkdir(mode=0o700, parents=True)
    try:
        yield
    except BaseException:
        remove_stubborn(folder)
        raise


def _remarks(facts: EngineFacts, limits: Limits) -> tuple[str, ...]:
    """What the harness does for a run, and the line alone does not."""
    remarks = [
        f"nobody ends it after {limits.seconds:g} s, and nobody looks how much it writes: the harness's own clock "
        "and eyes do that",
    ]
    if facts.name == "docker":
        remarks.append("Docker's client hides fewer files of the kernel than the harness has it hide")
    if facts.served:
        remarks.append(
            "the engine is served by the harness: `harness engine start` keeps it running for this line"
            if facts.name == "docker"
            else "Podman's images are your own: no service need run for this line"
        )
    return tuple(remarks)
