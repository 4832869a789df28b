"""Some eighty forgeries by somebody who may write to the repository, the store and the cache, all but the key.

Each ends an audit with 5: `--strict` without log and statement, `--signed`, or both, as the table says. What
neither finds stands in docs/auditing.md.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from harness.audit import Lack
from harness.audit.steps import Checked
from harness.base.errors import AuditError
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import image_name
from harness.images.stages import tag_image
from tests.audit import forgeries as by
from tests.audit.forgeries import Forgery
from tests.audit.tampered import (
    CONTROL,
    FAILURE,
    PROBE,
    STILL,
    Evidence,
    audited,
    copied,
    exit_code,
    make_evidence,
    signed,
)
from tests.fabricate import planned_of

pytestmark = pytest.mark.engine
METRIC = "AUC/as-defined"
CLAIMS = "results/published/repurposing/tables.csv"
STUDY = "harness/benchmarks/repurposing/study.toml"
SUITE = "harness/benchmarks/repurposing/suites/smoke.toml"

RECORDS = [
    Forgery("a success called timeout", by.relabelled),
    Forgery("a success called timeout, with all that fits", by.relabelled_with_care, replay=4),
    Forgery("the same, beside the committed result", by.relabelled_with_care, beside=True),
    Forgery("a failure called ok", by.record(by.top(verdict="ok"), FAILURE)),
    Forgery("a failure called ok, with an answer and all that fits", by.promoted, replay=4),
    Forgery("the same, beside the committed result", by.promoted, beside=True),
    Forgery("an error called memory", by.record(by.top(verdict="memory", reason="killed out of memory"), FAILURE)),
    Forgery("an error called timeout", by.record(by.top(verdict="timeout", reason="stopped"), FAILURE)),
    Forgery("an error called interrupted", by.record(by.top(verdict="interrupted", reason="stopped"), FAILURE)),
    Forgery(
        "an error called infrastructure", by.record(by.top(verdict="infrastructure", reason="no disk"), FAILURE)
    ),
    Forgery("it ended before it began", by.record(lambda one: one.update(by.moments(-10, -100)))),
    Forgery("it ended in the future", by.record(lambda one: one.update(by.moments(7200, 7210)))),
    Forgery("times that are none", by.record(by.top(finished="yesterday"))),
    Forgery("it took longer than from beginning to end", by.record(by.field("resources", wall_s=3000.0))),
    Forgery("more memory than its limit", by.record(by.field("resources", peak_bytes=1 << 40))),
    Forgery("more processor time than there was", by.record(by.field("resources", cpu_s=900.0))),
    Forgery("a higher limit of memory", by.record(by.field("limits", memory_bytes=1 << 36))),
    Forgery("a lower limit of time", by.record(by.field("limits", seconds=20))),
    Forgery("no attempt", by.record(by.top(attempts=0))),
    Forgery("nine attempts", by.record(by.top(attempts=9))),
    Forgery("another image name", by.record(by.field("image", name="localhost/permafrost/still:latest"))),
    Forgery("no image id", by.record(by.field("image", id=""))),
    Forgery("another code tree", by.record(by.field("image", code_tree="0" * 64))),
    Forgery("another environment tree", by.record(by.field("image", environment_tree="0" * 64))),
    Forgery("no order", by.record(lambda one: one.pop("order"))),
    Forgery("another order", by.record(by.top(order="0" * 32))),
    Forgery("another engine made it", by.record(by.field("made_by", engine="podman 5.0"))),
    Forgery("another scorer", by.record(by.field("made_by", scorer="0" * 64))),
    Forgery("no length of the log", by.record(lambda one: one["resources"].pop("log_bytes"))),
    Forgery("a size of the answer that is null", by.record(by.field("resources", output_bytes=None))),
    Forgery("no processor time", by.record(lambda one: one["resources"].pop("cpu_s"))),
    Forgery("nothing made it", by.record(lambda one: one.pop("made_by")), strict=False),
    Forgery("a shorter time", by.record(by.field("resources", wall_s=0.9, ran_s=0.5)), strict=False),
    Forgery("less memory", by.record(by.field("resources", peak_bytes=1 << 20)), strict=False),
]

FILES = [
    Forgery("other predictions", by.answer_alone, signed=False),
    Forgery("better predictions, vouched for and scored", by.better_answer, replay=4),
    Forgery("the same, beside the committed result", by.better_answer, beside=True),
    Forgery("another log", by.log_of("all went well\n")),
    Forgery("an empty log", by.log_of("")),
    Forgery("other last words of as many bytes", by.other_words),
    Forgery("another version of a library", by.report(lambda one: one["versions"].update(numpy="2.4.7"))),
    Forgery("longer fits than the run", by.report(lambda one: one["seconds"].update(fit=[500.0]))),
    Forgery("told another seed", by.job(lambda one: one.update(seed=one["seed"] + 1))),
    Forgery("told other parameters", by.job(lambda one: one["parameters"].update(more=1))),
    Forgery("told other limits", by.job(lambda one: one["limits"].update(threads=64))),
    Forgery("saw other inputs", by.job(lambda one: one["inputs"]["associations"].update(sha256="0" * 64))),
    Forgery("a file too many", lambda case: (case.folder(CONTROL) / "notes.txt").write_text("more"), signed=False),
    Forgery("a record gone", lambda case: (case.folder(CONTROL) / "record.json").unlink()),
    Forgery("a report gone", lambda case: (case.folder(CONTROL) / "method.json").unlink()),
    Forgery("a result deleted", by.removed(CONTROL)),
    Forgery("a failure deleted", by.removed(FAILURE)),
    Forgery("the run of one seed as that of the other", by.under_another_key),
]

SCORES = [
    Forgery("better scores", by.scores(lambda one: one["metrics"].update({METRIC: 0.99}))),
    Forgery("scores better by a billionth", by.scores(by.times(1 + 1e-9))),
    Forgery("scores times 0.97", by.scores(by.times(0.97))),
    Forgery("scores of another scorer", by.scores(lambda one: one.update(scorer="0" * 64))),
    Forgery("a metric less", by.scores(lambda one: one["metrics"].pop(METRIC))),
    Forgery("another run's scores", by.scores(lambda one: one.update(key="0" * 64))),
    Forgery("other words on scores", by.scores(lambda one: one.update(notes={METRIC: "excellent"}))),
]

DATA = [
    Forgery(
        "another checksum of a split",
        lambda case: by.edit(
            "datasets/synthetic/splits.csv", planned_of(case.plan.cells[CONTROL]).split_digest, "0" * 64
        )(case),
    ),
    Forgery("a doctored split, recorded and run", by.doctored_split),
    Forgery("the same, with a note of an audit", by.noted_before(by.doctored_split_with_note)),
    Forgery("another split in the cache", by.cached_split, signed=False),
    Forgery("other arrays in the cache", by.cached_array, signed=False),
    Forgery("a doctored dataset, recorded and run", by.doctored_dataset),
]

LOCKS = [
    Forgery("another version in a lock", by.edit("containers/_numpy/wheels.cpu.lock", "2.4.6", "2.4.5")),
    Forgery("the same, recorded", by.lock_and_record),
    Forgery("another recorded tree", by.edit("containers/_numpy/tree.toml", 'tree = "', 'tree = "0')),
    Forgery("another listing of a tree", by.append("containers/_numpy/tree.cpu.txt", "0 1 /more\n")),
    Forgery("another parent", by.edit("containers/_numpy/tree.toml", 'parent = "', 'parent = "0')),
]

CODE = [
    Forgery("other code of a method", by.append(f"methods/{STILL}/main.py", "\nLEVEL = 2\n"), signed=False),
    Forgery("other code, and the old answer under its key", by.new_code_old_answer),
    Forgery(
        "other code of the SDK", by.append("methods/_sdk/python/permafrost_sdk.py", "\nLEVEL = 2\n"), signed=False
    ),
    Forgery("a higher limit on a card", by.edit(f"methods/{PROBE}/method.toml", "256MiB", "512MiB")),
    Forgery("a shorter limit on a card", by.edit(f"methods/{PROBE}/method.toml", "seconds = 20", "seconds = 10")),
    Forgery(
        "no published order on a card",
        by.edit(f"methods/{PROBE}/method.toml", 'published_order = "Its scores are drawn row by row."', ""),
    ),
]

IMAGES = [
    Forgery("another image, with a receipt", by.swapped_image, signed=False),
    Forgery("the same, with a note that it was read back", by.swapped_image_with_note, signed=False),
    Forgery("an image by which the engine runs more", by.image_that_runs_more, signed=False),
    Forgery("a file where engines mount", by.image_with_a_file_where_engines_mount, signed=False),
]

_UNCOMMITTED = {"committed": False, "signed": False}
REPOSITORY = [
    Forgery("a claim set to what we got", by.first_number(CLAIMS), committed=False),
    Forgery("the same, committed", by.first_number(CLAIMS), strict=False),
    Forgery(
        "the same, and git told to overlook it", by.overlooked(by.first_number(CLAIMS), CLAIMS), committed=False
    ),
    Forgery("a method out of a suite", by.append(SUITE, "# less\nseeds = [1]\n"), committed=False),
    Forgery("a suite of one's own", by.append(SUITE.replace("smoke", "best"), 'name = "best"\n'), committed=False),
    Forgery(
        "a name changed",
        by.append("results/published/repurposing/names.toml", "\n[more]\nx = 1\n"),
        committed=False,
    ),
    Forgery(
        "a finding changed",
        by.append("results/published/repurposing/findings.toml", "\nmore = 1\n"),
        committed=False,
    ),
    Forgery(
        "0.97 of every metric in the harness",
        by.append("harness/benchmarks/repurposing/scoring.py", "\nFACTOR = 0.97\n"),
        committed=False,
    ),
    Forgery("code as of a person's own tables", by.append("methods/own/main.py", "LEVEL = 2\n"), **_UNCOMMITTED),
    Forgery(
        "a benchmark named as what a person keeps",
        by.append("harness/benchmarks/own/__init__.py", "LEVEL = 2\n"),
        **_UNCOMMITTED,
    ),
    Forgery(
        "a compiled module without a source",
        by.append("harness/benchmarks/more/__init__.pyc", "LEVEL = 2\n"),
        **_UNCOMMITTED,
    ),
    Forgery(
        "an environment's request changed, committed",
        by.append("containers/_numpy/environment.toml", "\n[more]\n"),
    ),
    Forgery(
        "a card's summary, committed",
        by.edit(f"methods/{PROBE}/method.toml", "Does what", "Beats what"),
        strict=False,
    ),
]

COMMITTED = [
    Forgery("a suite without a method, committed", by.append(SUITE, "\n[[blocks]]\n"), strict=False),
    Forgery("a study without its bad methods, committed", by.append(STUDY, "\n[more]\nx = 1\n"), strict=False),
    Forgery(
        "a finding less, committed",
        by.append("results/published/repurposing/findings.toml", "\nmore = 1\n"),
        strict=False,
    ),
    Forgery(
        "0.97 of every metric, committed",
        by.append("harness/benchmarks/repurposing/scoring.py", "\nFACTOR = 0.97\n"),
        strict=False,
    ),
    Forgery(
        "a wider band of claims, committed",
        by.edit("harness/compare/means.py", "_USUAL_BAND = 0.05", "_USUAL_BAND = 0.5"),
        strict=False,
    ),
    Forgery("other code of the study, committed", by.append("harness/study/sheets.py", "\nX = 1\n"), strict=False),
    Forgery("another recipe of images, committed", by.append("Dockerfile", "RUN true\n"), strict=False),
    Forgery(
        "another reading of data, committed",
        by.append("harness/benchmarks/repurposing/input_arrays.py", "\nX = 1\n"),
        strict=False,
    ),
    Forgery(
        "a signer of one's own, not committed",
        by.append("results/allowed_signers", "forger x y\n"),
        signed=False,
        committed=False,
    ),
]

REFERENCE = [
    Forgery(
        "a committed score",
        by.reference(lambda lines: lines[0]["scores"]["metrics"].update({METRIC: 0.9})),
        reference=True,
        replay=4,
    ),
    Forgery(
        "the same, beside the run",
        by.reference(lambda lines: lines[0]["scores"]["metrics"].update({METRIC: 0.9})),
        beside=True,
    ),
    Forgery(
        "a committed score above its range",
        by.reference(lambda lines: lines[0]["scores"]["metrics"].update({METRIC: 1.5})),
        reference=True,
    ),
    Forgery("a committed success called timeout", by.reference(by.line_relabelled), reference=True),
    Forgery(
        "a committed time",
        by.reference(lambda lines: lines[0]["record"]["resources"].update(cpu_s=1e5)),
        reference=True,
    ),
    Forgery(
        "committed scores of another scorer",
        by.reference(lambda lines: lines[0]["scores"].update(scorer="0" * 64)),
        reference=True,
    ),
    Forgery(
        "a committed result deleted",
        by.reference(lambda lines: lines.pop(), "als_wr"),
        strict=False,
        reference=True,
    ),
    Forgery(
        "a committed failure deleted",
        by.reference(lambda lines: lines.clear(), PROBE),
        strict=False,
        reference=True,
    ),
]

PROOF = [
    Forgery("a better number on the page", lambda case: case.layout.page.write_text("<p>1.0"), signed=False),
    Forgery("the same, noted", by.page, signed=False),
    Forgery("no note of the page", lambda case: case.layout.page_note.unlink(), signed=False),
    Forgery("a failure deleted everywhere, and from the logs", by.failure_deleted_everywhere),
    Forgery("a log that was cut", by.log_cut(lambda layout: layout.local), strict=False),
    Forgery("a committed log that was cut", by.log_cut(lambda layout: layout.reference), strict=False),
    Forgery("a failure deleted, log and statement made anew without a signature", by.unsigned_statement),
]

EVERY = [*RECORDS, *FILES, *SCORES, *DATA, *LOCKS, *CODE, *IMAGES, *REPOSITORY, *COMMITTED, *REFERENCE, *PROOF]
FOUND = [one for one in EVERY if one.strict or one.signed]


@pytest.fixture(scope="module")
def sound(repository: Layout, tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[Evidence]:
    """Real runs that nobody touched."""
    folder = tmp_path_factory.mktemp("sound")
    evidence = make_evidence(repository, folder / "first", engine)
    yield evidence
    engine.client.images.remove(image_name(evidence.layout, STILL), force=True)
    shutil.rmtree(folder)


@pytest.fixture
def case(sound: Evidence) -> Iterator[Evidence]:
    """A copy of them, and the engine's names as they were afterwards."""
    client = sound.engine.client
    names = {method: image_name(sound.layout, method) for method in (STILL,)}
    images = {name: str(client.images.get(name).id) for name in names.values()}
    with copied(sound) as copy:
        yield copy
    for name, image in images.items():
        if (other := str(client.images.get(name).id)) != image:
            tag_image(sound.engine, image, name)
            client.images.remove(other, force=True)


def strict(case: Evidence, *, reference: bool = False, replay: int = 0, beside: bool = False) -> int:
    """The exit code of a strict audit that is not told of log and statement."""
    if not reference and not beside:
        shutil.rmtree(case.layout.reference)
    waived = [Lack.STATEMENT, *([Lack.REPLAY] if reference else [])]
    return exit_code(audited(case, reference=reference, replay=replay), waived)


def test_nothing_is_found_where_nobody_forged(case: Evidence) -> None:
    assert signed(case)
    report = audited(case, replay=4)
    steps = [step for audit in report.audits for step in audit.steps] + [*report.repository]
    assert [step for step in steps if step.checked is Checked.FAILED] == []
    assert not report.is_broken and not report.gaps, report.gaps
    assert report.passed == 4
    assert strict(case, reference=True) == 0
    assert strict(case, beside=True) == 0
    case.commit()


@pytest.mark.parametrize("forgery", FOUND, ids=[f"{number}-{one.name}" for number, one in enumerate(FOUND)])
def test_a_forgery_is_found(case: Evidence, forgery: Forgery) -> None:
    forgery.forge(case)
    if forgery.signed:
        assert not signed(case), "signed"
    if not forgery.strict:
        return
    if not forgery.reference and not forgery.beside:
        shutil.rmtree(case.layout.reference)
        case.layout.reference.mkdir()
    if forgery.committed:
        case.commit()
    waived = [Lack.STATEMENT, *([Lack.REPLAY] if forgery.reference else [])]
    try:
        code = exit_code(audited(case, reference=forgery.reference, replay=forgery.replay), waived)
    except AuditError as error:
        code = error.exit_code
    assert code == AuditError.exit_code


def test_the_table_is_as_large_as_it_says() -> None:
    assert len(EVERY) >= 80
    assert len({one.name for one in EVERY}) + EVERY.count(EVERY[0]) <= len(EVERY) + 1
