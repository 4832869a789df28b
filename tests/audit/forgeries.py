"""What a forger may do: one function each, on a copy of real runs. All digests that can be recomputed are."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.files import digest_of, sha256_of, write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data.arrays import content_digest, keep
from harness.data.datasets import load_dataset
from harness.execution.tasks import Task, perform
from harness.images import code_tree, ensure_image, image_name, image_tree
from harness.images.export import HeldTrees
from harness.images.receipts import BuiltImage, receipt_path, write_receipt
from harness.images.record import recorded_tree
from harness.images.stages import tag_image
from harness.planning.plan import make_plan
from harness.proof.attestation import attest
from harness.proof.log import LOG
from harness.proof.statement import STATEMENT
from harness.results.scoring import score_run, scores_path
from harness.results.sets import reference_set
from harness.results.store import Store
from harness.splits.splits import load_split, split_path
from tests.audit.forging import forge_plan, forge_record, forge_scores, refresh
from tests.audit.tampered import CONTROL, FAILURE, MATRIX, OTHER_SEED, PROBE, STILL, Evidence
from tests.fabricate import planned_of

_SWAPPED = {"/opt/method": "notes.py"}
Change = Callable[[dict[str, Any]], object]
Forge = Callable[[Evidence], object]


@dataclass(frozen=True)
class Forgery:
    """One kind: what is done, and which commands must end with 5 for it.

    `strict`: without log, statement and signature, and for a forger who commits; `signed`: with them. `replay`: so
    many runs are run again. `reference`: it is the committed results that are audited. `beside`: the committed
    results are left where they are, to be compared with. `committed`: the forger commits.
    """

    name: str
    forge: Forge
    strict: bool = True
    signed: bool = True
    replay: int = 0
    reference: bool = False
    beside: bool = False
    committed: bool = True


def record(change: Change, cell: int = CONTROL) -> Forge:
    """Another record."""
    return lambda case: forge_record(case.layout, case.plan, change, cell)


def field(part: str, **values: Any) -> Change:
    """Other values of a part of the record."""
    return lambda content: content[part].update(values)


def top(**values: Any) -> Change:
    """Other fields of the record."""
    return lambda content: content.update(values)


def moments(started: float, finished: float) -> dict[str, str]:
    """Times, in seconds from now."""
    now = datetime.now(UTC)
    return {
        "started": (now + timedelta(seconds=started)).isoformat(),
        "finished": (now + timedelta(seconds=finished)).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def without_answer(case: Evidence, cell: int, change: Change) -> None:
    """A run whose answer is gone, and its scores."""
    folder = case.folder(cell)
    answers = [path for path in folder.iterdir() if path.name not in ("record.json", "job.json", "log.txt")]
    text = json.loads((folder / "record.json").read_text())
    for path in answers:
        path.unlink()
        text["files"].pop(path.name, None)
    (folder / "record.json").write_text(json.dumps(text))
    scores_path(case.layout, case.key(cell)).unlink(missing_ok=True)
    forge_record(case.layout, case.plan, change, cell)


def relabelled(case: Evidence) -> None:
    """A success called timeout."""
    change = top(verdict="timeout", reason="stopped at its time limit of 600 s")
    without_answer(case, CONTROL, change)


def relabelled_with_care(case: Evidence) -> None:
    """The same, with times, exit code and resources that fit."""

    def change(content: dict[str, Any]) -> None:
        seconds = content["limits"]["seconds"] + 0.5
        content.update(verdict="timeout", reason=f"stopped at its time limit of {content['limits']['seconds']} s")
        content.update(moments(-seconds - 60, -50))
        content["resources"].update(wall_s=seconds + 1, ran_s=seconds, exit_code=137, output_bytes=0)

    without_answer(case, CONTROL, change)


def promoted(case: Evidence) -> None:
    """A failure called ok, with an answer that another run gave, and all that fits."""
    folder, other = case.folder(FAILURE), case.folder(CONTROL)
    text = json.loads((folder / "record.json").read_text())
    size = 0
    for name in ("predictions.npy", "validation.npy", "lowest.npy", "method.json"):
        shutil.copy(other / name, folder / name)
        size += (folder / name).stat().st_size
        text["files"][name] = {"bytes": 0, "sha256": ""}
    (folder / "record.json").write_text(json.dumps(text))

    def change(content: dict[str, Any]) -> None:
        content.update(verdict="ok", reason="finished with valid predictions")
        content["resources"].update(exit_code=0, output_bytes=size)

    forge_record(case.layout, case.plan, change, FAILURE)


def better_answer(case: Evidence, cell: int = MATRIX) -> None:
    """Predictions near the truth, scored again."""
    from harness.results.truth import truth_of

    planned = planned_of(case.plan.cells[cell])
    path = case.folder(cell) / "predictions.npy"
    values = np.load(path)
    truth = truth_of(case.layout, planned.job)
    split = truth.split
    labels = truth.dataset.arrays["associations"][split.folds == -1]  # type: ignore[attr-defined]
    np.save(path, values + (labels == 1).astype(values.dtype)[None] * np.ptp(values))
    forge_record(case.layout, case.plan, lambda content: None, cell)
    scores_path(case.layout, planned.key).unlink()
    score_run(case.layout, Store(case.layout.runs), planned)


def answer_alone(case: Evidence) -> None:
    """Other predictions, the record untouched."""
    path = case.folder(CONTROL) / "predictions.npy"
    values = np.load(path)
    np.save(path, values + 1.0)


def log_of(text: str, cell: int = FAILURE) -> Forge:
    """Another log, which the record vouches for."""

    def forge(case: Evidence) -> None:
        (case.folder(cell) / "log.txt").write_text(text)
        forge_record(case.layout, case.plan, lambda content: None, cell)

    return forge


def other_words(case: Evidence) -> None:
    """The log of a failure says something else, in as many bytes."""
    path = case.folder(FAILURE) / "log.txt"
    text = path.read_text()
    path.write_text(text.replace("told to fail", "ran too long"))
    assert path.read_text() != text
    forge_record(case.layout, case.plan, lambda content: None, FAILURE)


def report(change: Change) -> Forge:
    """Another report of the method, as long as before, which the record vouches for."""

    def forge(case: Evidence) -> None:
        path = case.folder(CONTROL) / "method.json"
        content = json.loads(path.read_text())
        change(content)
        text = json.dumps(content)
        size = path.stat().st_size
        path.write_text(text.ljust(size))
        outputs = path.stat().st_size - size
        forge_record(
            case.layout,
            case.plan,
            lambda kept: kept["resources"].update(output_bytes=kept["resources"]["output_bytes"] + outputs),
        )

    return forge


def job(change: Change) -> Forge:
    """Another job document, which the record vouches for."""

    def forge(case: Evidence) -> None:
        path = case.folder(CONTROL) / "job.json"
        content = json.loads(path.read_text())
        change(content)
        write_json(path, content)
        forge_record(case.layout, case.plan, lambda kept: None)

    return forge


def scores(change: Change) -> Forge:
    """Other kept scores, with their own digest."""
    return lambda case: forge_scores(case.layout, case.plan, change)


def times(factor: float) -> Change:
    """Every metric times a number."""

    def change(content: dict[str, Any]) -> None:
        content["metrics"] = {
            name: value if value is None else value * factor for name, value in content["metrics"].items()
        }

    return change


def removed(cell: int) -> Forge:
    """A run that is not there any more, scores and all."""

    def forge(case: Evidence) -> None:
        shutil.rmtree(case.folder(cell))
        scores_path(case.layout, case.key(cell)).unlink(missing_ok=True)

    return forge


def under_another_key(case: Evidence) -> None:
    """The run of one seed handed out as that of the other."""
    shutil.rmtree(case.folder(OTHER_SEED))
    planned = planned_of(case.plan.cells[OTHER_SEED])
    forge_plan(case.layout, case.plan, CONTROL, job=planned.job, split_digest=planned.split_digest)


def run_again(case: Evidence, cell: int) -> str:
    """Plan and run a job as the tampered repository gives it; the key of the new run."""
    refresh()
    (one,) = make_plan(case.layout, "again", [case.plan.cells[cell].job]).cells
    planned = planned_of(one)
    image = ensure_image(case.engine, case.layout, planned.job.method)
    assert perform(Task(case.layout, planned, image), case.engine).verdict is Verdict.OK
    score_run(case.layout, Store(case.layout.runs), planned)
    return planned.key


def doctored_split(case: Evidence) -> None:
    """Easier test items: a split file of one's own, recorded under its own checksum, and a run on it."""
    planned = planned_of(case.plan.cells[MATRIX])
    split = load_split(case.layout, "synthetic", planned.job.split)
    folds = split.folds.copy()  # type: ignore[attr-defined]
    dataset = load_dataset(case.layout, "synthetic")
    test = np.argwhere((folds == -1) & (dataset.arrays["associations"] == 0))
    for place in test[: len(test) // 4]:
        folds[tuple(place)] = 0
    path = split_path(case.layout, "repurposing", planned.split_digest)
    np.save(path.with_suffix(".new.npy"), folds)
    digest = sha256_of(path.with_suffix(".new.npy"))
    path.with_suffix(".new.npy").rename(split_path(case.layout, "repurposing", digest))
    case.edit("datasets/synthetic/splits.csv", planned.split_digest, digest)
    shutil.rmtree(case.folder(MATRIX))
    run_again(case, MATRIX)


def doctored_split_with_note(case: Evidence) -> None:
    """The same, with a note of an earlier audit that says it was made again."""
    doctored_split(case)
    planned = Store(case.layout.runs).record(run_again(case, MATRIX)).planned
    for path in (case.layout.cache / "audit").glob("*.json"):
        note = json.loads(path.read_text())
        if note["about"][0] == "split":
            note["content"]["sha256"] = planned.split_digest
            write_json(path, note)


def noted_before(forge: Forge) -> Forge:
    """What a forger does who finds the notes of an earlier audit."""

    def done(case: Evidence) -> None:
        from tests.audit.tampered import audited

        audited(case)
        forge(case)

    return done


def doctored_dataset(case: Evidence) -> None:
    """Arrays of one's own under a digest of one's own, and a run on them."""
    from dataclasses import replace

    dataset = load_dataset(case.layout, "synthetic")
    matrix = dataset.arrays["associations"].copy()
    ones, zeros = np.argwhere(matrix == 1), np.argwhere(matrix == 0)
    matrix[tuple(ones[0])], matrix[tuple(zeros[0])] = 0, 1
    other: Any = replace(dataset, associations=matrix)
    digest = content_digest(other)
    keep(replace(other, digest=digest), case.layout.cache / "datasets" / digest)
    case.edit("datasets/synthetic/dataset.toml", dataset.digest, digest)
    manifest = case.layout.datasets / "synthetic" / "dataset.toml"
    manifest.write_text("\n".join(line for line in manifest.read_text().splitlines()) + "\n")
    (case.layout.datasets / "synthetic" / "splits.csv").unlink()
    run_again(case, CONTROL)


def cached_array(case: Evidence) -> None:
    """A label flipped in the cached arrays."""
    digest = planned_of(case.plan.cells[CONTROL]).dataset_digest
    path = case.layout.cache / "datasets" / digest / "associations.npy"
    values = np.load(path)
    values.flat[0] = 1 - values.flat[0]
    np.save(path, values)
    refresh()


def cached_split(case: Evidence) -> None:
    """Two items of the cached split file that change places."""
    path = split_path(case.layout, "repurposing", planned_of(case.plan.cells[CONTROL]).split_digest)
    folds = np.load(path)
    test, training = np.argwhere(folds == -1)[0], np.argwhere(folds == 0)[0]
    folds[tuple(test)], folds[tuple(training)] = 0, -1
    np.save(path, folds)
    refresh()


def edit(path: str, old: str, new: str) -> Forge:
    """An edit of a file of the repository."""
    return lambda case: case.edit(path, old, new)


def append(path: str, text: str) -> Forge:
    """A text put behind a file of the repository."""

    def forge(case: Evidence) -> None:
        file = case.layout.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((file.read_text() if file.is_file() else "") + text)

    return forge


def first_number(path: str) -> Forge:
    """Another last value in the second line of a table."""

    def forge(case: Evidence) -> None:
        file = case.layout.root / path
        lines = file.read_text().splitlines()
        lines[1] = lines[1].replace("0.", "0.1", 1) if "0." in lines[1] else lines[1] + "1"
        file.write_text("\n".join(lines) + "\n")

    return forge


def overlooked(forge: Forge, path: str) -> Forge:
    """An edit that git was told not to look at."""

    def done(case: Evidence) -> None:
        subprocess.run(["git", "update-index", "--assume-unchanged", path], cwd=case.layout.root, check=True)
        forge(case)

    return done


def lock_and_record(case: Evidence) -> None:
    """Another version in a lock, and the sha256 of it where the tree was recorded."""
    lock = case.layout.containers / "_numpy" / "wheels.cpu.lock"
    before = sha256_of(lock)
    lock.write_text(lock.read_text().replace("numpy==2.4.6", "numpy==2.4.5").replace("numpy-2.4.6", "numpy-2.4.5"))
    case.edit("containers/_numpy/tree.toml", before, sha256_of(lock))


def new_code_old_answer(case: Evidence) -> None:
    """Other code, and the old run under the key that it would have."""
    append(f"methods/{STILL}/main.py", "\nLEVEL = 2\n")(case)
    layout, tree = case.layout, image_tree(case.layout, STILL)
    key = forge_plan(layout, case.plan, CONTROL, image_tree=tree)
    path = Store(layout.runs).path(key) / "record.json"
    content = json.loads(path.read_text())
    del content["digest"]
    content["image"].update(name=image_name(layout, STILL), code_tree=code_tree(layout, STILL))
    write_json(path, {**content, "digest": digest_of(content)})


def page(case: Evidence) -> None:
    """A better number on the page, and its sha256 where the page was noted."""
    case.layout.page.write_text("<p>als_wr 0.99")
    note = json.loads(case.layout.page_note.read_text())
    write_json(case.layout.page_note, {**note, "page": sha256_of(case.layout.page)})


def image_that_runs_more(case: Evidence) -> str:
    """An image of the very same files, by which the engine runs something beside each method; its id."""
    check = {"Test": ["CMD-SHELL", "touch /out/more"], "Interval": 1_000_000_000}
    return swapped_image(case, files={}, Healthcheck=check)


def image_with_a_file_where_engines_mount(case: Evidence) -> str:
    """An image with a file in a folder that engines make, and do not always mount over; its id."""
    return swapped_image(case, files={"/mnt": "labels.npy"})


def swapped_image(
    case: Evidence, method: str = STILL, files: Mapping[str, str] = _SWAPPED, **settings: Any
) -> str:
    """Another image under the method's name, and a receipt that says it was verified; its id."""
    layout, name = case.layout, image_name(case.layout, method)
    container = case.engine.client.containers.create(name, command=["never"], labels={"permafrost": "export"})
    try:
        for folder, file in files.items():
            container.put_archive(folder, _archive(file, b"LEVEL = 3\n"))
        image = container.commit(conf={**case.engine.client.images.get(name).attrs["Config"], **settings})
    finally:
        container.remove(force=True)
    receipt = BuiltImage(
        engine=case.engine.name,
        name=name,
        image_id=str(image.id),
        environment_tree=recorded_tree(layout, method),
        code_tree=code_tree(layout, method),
        size_bytes=1,
    )
    write_receipt(receipt_path(layout, case.engine, name), receipt)
    tag_image(case.engine, str(image.id), name)
    return str(image.id)


def _archive(name: str, content: bytes) -> bytes:
    import io
    import tarfile

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def swapped_image_with_note(case: Evidence) -> None:
    """The same, with a note that its files were read back and are right."""
    image = swapped_image(case)
    layout = case.layout
    trees = HeldTrees(
        image_id=image,
        environment_tree=recorded_tree(layout, STILL),
        code_tree=code_tree(layout, STILL),
    )
    notes = layout.cache / "images" / "held"
    about = [image, "meaning 2"]
    content = {"about": about, "content": trees.model_dump(), "seal": "0" * 64}
    write_json(notes / f"{digest_of(about)[:32]}.json", content)


def reference(change: Callable[[list[dict[str, Any]]], object], method: str = STILL) -> Forge:
    """Other committed results of a method, with digests of their own."""

    def forge(case: Evidence) -> None:
        (path,) = (case.layout.reference / "repurposing" / method).glob("*.gz")
        lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        change(lines)
        for line in lines:
            for name in ("record", "scores"):
                if line[name] is not None:
                    line[name].pop("digest", None)
                    line[name]["digest"] = digest_of(line[name])
        text = "".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in lines)
        path.write_bytes(gzip.compress(text.encode(), mtime=0)) if lines else path.unlink()

    return forge


def line_relabelled(lines: list[dict[str, Any]]) -> None:
    """A committed success called timeout."""
    lines[0]["record"].update(verdict="timeout", reason="stopped at its time limit of 600 s")
    lines[0]["scores"] = None


def unsigned_statement(case: Evidence) -> None:
    """The log made anew without a failure, and a statement about it that nobody signed."""
    reference(lambda lines: lines.clear(), PROBE)(case)
    folder = case.layout.reference
    for name in (LOG, STATEMENT, f"{STATEMENT}.sig", "statement.dsse.json"):
        (folder / name).unlink(missing_ok=True)
    case.save_reference()
    reference(lambda lines: lines.clear(), PROBE)(case)
    (folder / LOG).unlink(missing_ok=True)
    shutil.rmtree(case.folder(FAILURE))
    case.save_reference()
    # what commits and the cache know of the log goes, too
    shutil.rmtree(case.layout.root / ".git")
    shutil.rmtree(case.layout.cache / "proof", ignore_errors=True)
    case.git("init", "-q")
    case.commit()
    attest(case.layout, reference_set(case.layout), None)


def log_cut(where: Callable[[Layout], Path]) -> Forge:
    """The last leaf of a log taken away."""

    def forge(case: Evidence) -> None:
        path = where(case.layout) / LOG
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))

    return forge


def failure_deleted_everywhere(case: Evidence) -> None:
    """A failure gone from the store, the committed results, and the log."""
    removed(FAILURE)(case)
    reference(lambda lines: lines.clear(), PROBE)(case)
    for folder in (case.layout.local, case.layout.reference):
        path = folder / LOG
        lines = [line for line in path.read_bytes().splitlines(keepends=True) if PROBE.encode() not in line]
        path.write_bytes(b"".join(lines))
