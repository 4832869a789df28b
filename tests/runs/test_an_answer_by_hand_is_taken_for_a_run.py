"""What a person gets to hold is what a run gets; what comes out is judged like a run, and never stored."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from harness import api
from harness.api.repository import Repository
from harness.base.errors import CorruptData, HarnessError, InvalidPredictions, UsageError
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.benchmarks.order import PUBLISHED
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.cli import group
from harness.engine.walls import SYSTEM_CALLS
from harness.execution import kit, tasks
from harness.execution.inputs import job_folder, make_inputs
from harness.execution.kit import Kit, judge_by_hand, write_kit
from harness.execution.runs import Limits
from harness.execution.tasks import Task, limits_of
from harness.images import BuiltImage, Supply, folder_tree
from harness.methods.card import load_method
from harness.planning.jobs import PlannedJob
from harness.planning.plan import pinned
from harness.results.truth import truth_of
from tests.core.word_for_word import said
from tests.runs.made_up import ENGINE, IMAGE
from tests.runs.test_container import FACTS


@pytest.fixture
def planned(layout: Layout) -> PlannedJob:
    return pinned(asked(layout).cells[0])


@pytest.fixture
def written(layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    monkeypatch.setattr(kit, "ensure_image", lambda *_, **__: IMAGE)
    return write_kit(layout, ENGINE, planned, tmp_path / "kit")


def asked(layout: Layout, method: str = "constant") -> Any:
    return api.plan(methods=method, datasets="synthetic", seeds=1, repository=Repository(layout))


def answer(written: Kit) -> Path:
    """An answer to a job with five inner models."""
    folds, out = np.load(written.folder / "in" / "folds.npy"), written.folder / "out"
    tested = int((folds == -1).sum())
    np.save(out / "predictions.npy", np.arange(5 * tested, dtype=float).reshape(5, tested) + 1)
    np.save(out / "validation.npy", np.ones(folds.size - tested))
    np.save(out / "lowest.npy", np.ones(5))
    (out / "method.json").write_text('{"protocol": 1}')
    return out


def test_in_is_that_of_a_run_in_the_same_order(
    layout: Layout, planned: PlannedJob, written: Kit, tmp_path: Path
) -> None:
    card = load_method(layout, "constant")
    again = tmp_path / "again"
    again.mkdir()
    job_folder(make_inputs(layout, planned, card.inputs, order=written.note.order), again, planned, card)
    files = sorted(path.name for path in again.iterdir())
    assert files == sorted(path.name for path in (written.folder / "in").iterdir())
    for name in files:
        assert (written.folder / "in" / name).read_bytes() == (again / name).read_bytes()


def test_no_test_label_is_in_it(layout: Layout, planned: PlannedJob, written: Kit) -> None:
    truth = truth_of(layout, planned.job)
    assert isinstance(truth.dataset, RepurposingDataset)
    known, folds = (np.load(written.folder / "in" / f"{name}.npy") for name in ("associations", "folds"))
    assert (known[folds == -1] == 0).all() and known.sum() < truth.dataset.associations.sum()
    assert sorted(path.name for path in (written.folder / "in").iterdir()) == [
        "associations.npy",
        "folds.npy",
        "job.json",
    ]


def test_the_container_sees_nothing_else_of_the_folder(written: Kit) -> None:
    mounted = [word for word in written.command if word.startswith("--mount=")]
    places = {word.split("source=")[1].split(",")[0].removeprefix(f"{written.folder}/") for word in mounted}
    assert places == {"in", "out", *(f"shown/{path.name}" for path in (written.folder / "shown").iterdir())}
    assert list((written.folder / "out").iterdir()) == []


def test_no_harness_takes_the_container_for_an_orphan(written: Kit) -> None:
    labels = [word for word in written.command if word.startswith("--label=")]
    assert labels == [f"--label=permafrost.key={written.note.planned.key}"]


def test_an_answer_is_judged_in_the_published_order_and_stays_as_it_is(layout: Layout, written: Kit) -> None:
    out = answer(written)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    judged = judge_by_hand(layout, written.folder)
    assert judged.fault == "" and set(judged.files) == {"predictions.npy", "validation.npy", "lowest.npy"}
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    first = sha256_of(out / "predictions.npy")
    assert judged.files["predictions.npy"] != first, "put back into the published order"
    assert judged.files["lowest.npy"] == sha256_of(out / "lowest.npy")
    assert not (written.folder / "collected").exists()
    assert not layout.runs.exists(), "nothing is stored"


def test_whatever_else_lies_there_is_no_hindrance(layout: Layout, written: Kit) -> None:
    answer(written)
    judged = judge_by_hand(layout, written.folder)
    (written.folder / "collected").write_bytes(b"a person's own")
    assert judge_by_hand(layout, written.folder) == judged and judged.fault == ""
    assert (written.folder / "collected").read_bytes() == b"a person's own"
    assert not list((layout.local / "work").glob("*/answer-*"))


def test_an_out_that_is_gone_is_said_to_be_missing(layout: Layout, written: Kit) -> None:
    shutil.rmtree(written.folder / "out")
    assert judge_by_hand(layout, written.folder).fault == "/out is missing"
    (written.folder / "out").touch()
    assert judge_by_hand(layout, written.folder).fault == "/out is missing"


def test_an_out_that_is_closed_is_read_and_closed_again(layout: Layout, written: Kit) -> None:
    out = answer(written)
    for mode in (0o000, 0o555, 0o777):
        out.chmod(mode)
        assert judge_by_hand(layout, written.folder).fault == ""
        assert out.stat().st_mode & 0o777 == mode


def test_of_a_flood_of_files_no_more_are_looked_at_than_may_be(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for number in range(9):
        (tmp_path / f"{number}.npy").touch()
        (tmp_path / "below" / f"{number}.npy").touch()
    modes: dict[str, int] = {}
    kit._open_and_note(tmp_path, modes, 5)
    # one more tells that there are too many
    assert len(modes) == 6 and next(iter(modes)) == str(tmp_path)


def test_what_is_closed_in_out_is_closed_again(layout: Layout, written: Kit) -> None:
    """A folder that was opened to be counted stayed open."""
    answer(written)
    out = written.folder / "out"
    (out / "more" / "deep").mkdir(parents=True)
    (out / "more" / "deep" / "file").touch()
    modes = {"predictions.npy": 0o400, "more/deep/file": 0o000, "more/deep": 0o500, "more": 0o100}
    for name, mode in modes.items():
        (out / name).chmod(mode)
    assert judge_by_hand(layout, written.folder).fault == ""
    found = {}
    for name in reversed(modes):
        found[name] = (out / name).stat().st_mode & 0o777
        (out / name).chmod(0o700)
    assert found == modes


def link(path: Path) -> None:
    path.rename(path.parent.parent / path.name)
    path.symlink_to(path.parent.parent / path.name)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda out: (out / "predictions.npy").unlink(), "predictions.npy"),
        (lambda out: np.save(out / "predictions.npy", np.ones((2, 2))), "shape"),
        (lambda out: (out / "method.json").unlink(), "method.json"),
        (lambda out: link(out / "method.json"), "method.json is a symbolic link"),
        (lambda out: link(out / "predictions.npy"), "predictions.npy is a symbolic link"),
        (lambda out: link(out / "validation.npy"), "validation.npy is a symbolic link"),
        (lambda out: shutil.copy("/etc/hostname", out.parent / "in" / "more"), "/in was changed"),
        (lambda out: (out.parent / "in" / "associations.npy").write_bytes(b""), "/in was changed"),
    ],
)
def test_what_is_no_answer_is_said_to_be_none(layout: Layout, written: Kit, damage: Any, fault: str) -> None:
    damage(answer(written))
    assert fault in judge_by_hand(layout, written.folder).fault


def test_what_an_answer_says_is_made_fit_for_a_terminal(
    layout: Layout, written: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fault may quote what a method wrote."""

    def refuse(folder: Path) -> None:
        raise InvalidPredictions("a name \x1b[2J" + "x" * 5000)

    answer(written)
    monkeypatch.setattr(kit, "AnswerCheck", lambda *_: refuse)
    fault = judge_by_hand(layout, written.folder).fault
    assert fault.startswith(r"a name \x1b[2Jx") and fault.endswith("x ...") and len(fault) < 5000


def test_a_folder_that_is_there_is_left_alone(layout: Layout, planned: PlannedJob, written: Kit) -> None:
    before = sorted(written.folder.rglob("*"))
    with pytest.raises(UsageError, match="something of that name"):
        write_kit(layout, ENGINE, planned, written.folder)
    assert sorted(written.folder.rglob("*")) == before


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt("No time")])
def test_a_failure_leaves_nothing(
    layout: Layout,
    planned: PlannedJob,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(kit, "ensure_image", lambda *_, **__: IMAGE)
    monkeypatch.setattr(kit, "write_shown_files", fail)
    with pytest.raises(type(error), match="No "):
        write_kit(layout, ENGINE, planned, tmp_path / "kit")
    assert not (tmp_path / "kit").exists()


CLOCK = "nobody ends it after 7 s, and nobody looks how much it writes: the harness's own clock and eyes do that"
FILES = "Docker's client hides fewer files of the kernel than the harness has it hide"


@pytest.mark.parametrize(
    ("name", "served", "more"),
    [
        ("docker", False, [FILES]),
        (
            "docker",
            True,
            [FILES, "the engine is served by the harness: `harness engine start` keeps it running for this line"],
        ),
        ("podman", False, []),
        ("podman", True, ["Podman's images are your own: no service need run for this line"]),
    ],
)
def test_what_the_line_alone_does_not_do_is_told_of_each_engine(name: str, served: bool, more: list[str]) -> None:
    facts = replace(FACTS, name=name, served=served)
    assert kit._remarks(facts, Limits(seconds=7, memory_bytes=1)) == (CLOCK, *more)


def test_another_folder_is_not_read(layout: Layout, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder that"):
        judge_by_hand(layout, tmp_path)
    (tmp_path / "kit.json").write_text('{"planned": 1}')
    with pytest.raises(CorruptData, match="can't be read"):
        judge_by_hand(layout, tmp_path)


def test_a_kit_is_that_of_the_job_and_of_an_order(
    layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensured = list[Any]()

    def ensure_image(*words: Any, supply: Supply) -> BuiltImage:
        ensured.append((*words, supply.mirrors))
        return IMAGE

    monkeypatch.setattr(kit, "ensure_image", ensure_image)
    monkeypatch.chdir(tmp_path)
    first = write_kit(layout, ENGINE, planned, Path("deep/first"))
    assert first.folder == tmp_path / "deep" / "first" and ensured == [(ENGINE, layout, "constant", "cpu", ())]
    assert first.note == kit._read_note(first.folder)
    assert (first.note.planned, first.note.image) == (planned, IMAGE)
    assert first.note.inputs_tree == folder_tree(first.folder / "in")
    assert first.folder.stat().st_mode & 0o777 == 0o700
    again = write_kit(layout, ENGINE, planned, tmp_path / "again", order=first.note.order)
    other = write_kit(layout, ENGINE, planned, tmp_path / "other")
    assert again.note == first.note != other.note
    published = write_kit(layout, ENGINE, planned, tmp_path / "published", order=PUBLISHED)
    folds = np.asarray(make_inputs(layout, planned, ["folds"]).inputs["folds"])
    assert np.array_equal(np.load(published.folder / "in" / "folds.npy"), folds)
    assert not np.array_equal(np.load(other.folder / "in" / "folds.npy"), folds)
    for one in (first, again, other, published):
        names = {"in", "kit.json", "out", "shown", SYSTEM_CALLS.name}
        assert {path.name for path in one.folder.iterdir()} == names
        assert (one.folder / SYSTEM_CALLS.name).read_bytes() == SYSTEM_CALLS.read_bytes()
        assert f"--security-opt=seccomp={one.folder / SYSTEM_CALLS.name}" in one.command
        assert all(path.stat().st_mode & 0o004 for path in (one.folder / "in").iterdir())
        assert (one.folder / "out").stat().st_mode & 0o777 == 0o777
    memory = load_method(layout, "constant").resources.memory_bytes
    assert f"MemTotal: {memory >> 10:>14} kB" in (first.folder / "shown" / "meminfo").read_text()
    assert len(first.remarks) == 2 and first.remarks[0].startswith("nobody ends it after 600 s")


def test_a_kit_of_a_job_for_a_gpu_has_the_image_for_one(
    layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensured = list[Any]()

    def ensure_image(*words: Any, supply: Supply) -> BuiltImage:
        ensured.append(words)
        return IMAGE

    monkeypatch.setattr(kit, "ensure_image", ensure_image)
    job = planned.job.model_copy(update={"accelerator": "cuda"})
    write_kit(layout, ENGINE, planned.model_copy(update={"job": job}), tmp_path / "kit")
    assert ensured == [(ENGINE, layout, "constant", "cuda")]


def test_a_container_of_another_user_can_read_what_a_private_person_wrote(
    layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kit, "ensure_image", lambda *_, **__: IMAGE)
    before = os.umask(0o077)
    try:
        folder = write_kit(layout, ENGINE, planned, tmp_path / "kit").folder / "in"
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o044 for path in (folder, *folder.iterdir())} == {0o044}


def test_data_come_from_the_mirrors_that_a_person_names(
    layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Task]()

    def arrangement_of(task: Task, order: str) -> Any:
        asked.append(task)
        assert order == task.order == "an order"
        return tasks.arrangement_of(task, order)

    supplies = list[Supply]()

    def ensure_image(*_: Any, supply: Supply) -> BuiltImage:
        supplies.append(supply)
        return IMAGE

    monkeypatch.setattr(kit, "ensure_image", ensure_image)
    monkeypatch.setattr(kit, "arrangement_of", arrangement_of)
    folder = tmp_path / "kit"
    written = write_kit(layout, ENGINE, planned, folder, order="an order", mirrors=[Path("/m")])
    answer(written)
    assert judge_by_hand(layout, folder, [Path("/n")]).fault == ""
    assert asked == [Task(layout, planned, IMAGE, (Path(name),), order="an order") for name in ("/m", "/n")]
    assert supplies == [Supply([Path("/m")])], "and the parts of the image"


def test_of_an_answer_only_what_there_has_to_be_counts(
    layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without inner models there are no validation scores."""
    monkeypatch.setattr(kit, "ensure_image", lambda *_, **__: IMAGE)
    job = planned.job.model_copy(update={"options": {"inner_folds": 0}})
    written = write_kit(layout, ENGINE, planned.model_copy(update={"job": job}), tmp_path / "kit")
    out = answer(written)
    (out / "validation.npy").unlink()
    np.save(out / "predictions.npy", np.load(out / "predictions.npy")[:1])
    np.save(out / "lowest.npy", np.ones(1))
    judged = judge_by_hand(layout, written.folder)
    assert judged.fault == "" and set(judged.files) == {"predictions.npy", "lowest.npy"}


def test_a_kit_holds_the_checkout_that_runs_in_place_of_ours(
    layout: Layout, planned: PlannedJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kit, "ensure_image", lambda *_, **__: IMAGE)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "als.py").write_text("own = 1\n")
    job = planned.job.model_copy(update={"method": "als_wr", "upstream": folder_tree(checkout)})
    upstream = planned.model_copy(update={"job": job})
    written = write_kit(layout, ENGINE, upstream, tmp_path / "kit", upstream=checkout)
    assert (written.folder / "upstream" / "als.py").read_text() == "own = 1\n"
    assert any(f"source={written.folder}/upstream,target=/opt/upstream" in word for word in written.command)


def test_too_large_an_answer_is_none(layout: Layout, written: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    out = answer(written)
    limits = limits_of(load_method(layout, "constant"))
    monkeypatch.setattr(kit, "limits_of", lambda card: replace(limits, output_files=3))
    judged = judge_by_hand(layout, written.folder)
    assert (judged.fault, judged.files) == ("made more than 3 files and folders in /out", {})
    assert judged.note == written.note and not (written.folder / "collected").exists()
    monkeypatch.setattr(kit, "limits_of", lambda card: replace(limits, output_files=4))
    assert judge_by_hand(layout, written.folder).fault == ""
    (out / "closed").mkdir(mode=0)
    assert "more than 4" in judge_by_hand(layout, written.folder).fault


def test_what_is_no_kit_is_told_in_three_parts(layout: Layout, written: Kit, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        judge_by_hand(layout, tmp_path)
    assert said(refused.value) == (
        "this is no folder that `harness job write` made",
        str(tmp_path / "kit.json"),
        "write one: harness job write",
    )
    note = written.folder / "kit.json"
    note.write_text(note.read_text().replace('"order"', '"disorder"'))
    with pytest.raises(CorruptData) as corrupt:
        judge_by_hand(layout, written.folder)
    assert said(corrupt.value) == (
        "the note of this job can't be read: 2 fields are wrong",
        str(note),
        "write the job again, into another folder",
    )
    with pytest.raises(UsageError) as taken:
        write_kit(layout, ENGINE, written.note.planned, written.folder)
    assert said(taken.value) == ("there is something of that name", str(written.folder), "name a new folder")


def test_a_changed_in_is_told_word_for_word(layout: Layout, written: Kit) -> None:
    answer(written)
    # whatever its digest is compared with the recorded one: larger or smaller
    for name in "abcdefg":
        (written.folder / "in" / name).touch()
        judged = judge_by_hand(layout, written.folder)
        assert judged.fault == "/in was changed since it was written: this is no answer to that job"
    assert (judged.note, judged.files) == (written.note, {})


def test_one_job_is_asked_for(layout: Layout, tmp_path: Path) -> None:
    here = Repository(layout)
    several = api.plan(methods="constant", datasets="synthetic", seeds=[1, 2], repository=here)
    with pytest.raises(UsageError, match="2 cells"):
        api.write_job(several, tmp_path / "kit", repository=here)
    impossible = api.plan(methods="bnnr", datasets="gottlieb", seeds=1, make_splits=False, repository=here)
    with pytest.raises(HarnessError, match="missing-data"):
        api.write_job(impossible, tmp_path / "kit", repository=here)
    assert not (tmp_path / "kit").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x"], "no job was named"),
        (["0123", "x", "--method", "constant"], "a key says which job it is"),
        (["1", "2", "3"], "3 names were given"),
    ],
)
def test_the_command_asks_for_one_job(arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        CliRunner().invoke(group, ["job", "write", *arguments], standalone_mode=False, catch_exceptions=False)


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_the_pasted_line_gives_the_bits_of_the_run(layout: Layout, tmp_path: Path) -> None:
    here = Repository(layout)
    plan = asked(layout)
    assert api.run(plan, progress=None, repository=here).is_good
    key = plan.cells[0].key
    assert key is not None
    result = CliRunner().invoke(
        group,
        ["job", "write", key[:12], str(tmp_path / "kit")],
        standalone_mode=False,
        catch_exceptions=False,
        env={"PERMAFROST_RESULTS": str(layout.local)},
    )
    done = subprocess.run(["bash", "-c", result.stdout], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stored = sorted(layout.runs.rglob("*"))
    checked = api.check_job(tmp_path / "kit", repository=here)
    assert checked.equal is True and checked.is_good and checked.key == key
    assert sorted(layout.runs.rglob("*")) == stored
    scores = np.load(tmp_path / "kit" / "out" / "predictions.npy")
    scores[0, 0] += 1
    np.save(tmp_path / "kit" / "out" / "predictions.npy", scores)
    checked = api.check_job(tmp_path / "kit", repository=here)
    assert checked.equal is False and not checked.is_good
