"""A small repository with git history, real runs in real containers, their cache, and copies of it to tamper with.

Four runs: two of a control, one of a matrix method, and one of a method that fails. All are committed as reference
results, too. Every copy has a path of its own, so that nothing that a process remembers is of another copy.
"""

from __future__ import annotations

import shutil
import subprocess
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from unittest.mock import patch

from harness.api.pages import remember
from harness.audit import Lack, audit_runs, check_checkout, check_page
from harness.audit.report import AuditReport
from harness.base.errors import AuditError
from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.execution.tasks import Task, perform
from harness.images import ensure_image
from harness.images.export import held_trees
from harness.planning.plan import Plan, make_plan
from harness.proof.attestation import attest
from harness.proof.verification import verify
from harness.results.reference import load_reference, save_reference
from harness.results.scoring import score_run
from harness.results.sets import reference_set, stored_set
from harness.results.store import Store
from tests.audit.forging import refresh
from tests.campaigns.conftest import CARD, CODE
from tests.fabricate import SEEDS, job_of, planned_of
from tests.proof.conftest import make_key, vouch

FOLDERS = ("harness", "methods", "containers", "datasets", "results/published", "requirements")
FILES = ("Dockerfile", "run_all.sh", "pyproject.toml")
PROBE = "probe"
# The control `constant` under another name and with code that nobody else has: its image may be tampered with.
STILL = "still"
# the runs of the plan, by what is known of them
CONTROL, OTHER_SEED, MATRIX, FAILURE = range(4)
_KEPT = (STILL, "als_wr", PROBE, "synthetic")
_AUTHOR = ("-c", "user.name=Tests", "-c", "user.email=tests@localhost")
_copies = count()


@dataclass(frozen=True)
class Evidence:
    """A repository, its runs, and the engine that they were made with."""

    layout: Layout
    plan: Plan
    engine: Engine

    def key(self, cell: int) -> str:
        """The key of a run."""
        return planned_of(self.plan.cells[cell]).key

    def folder(self, cell: int) -> Path:
        """The folder of a run."""
        return Store(self.layout.runs).path(self.key(cell))

    def git(self, *words: str) -> None:
        """Run git in the repository."""
        subprocess.run(["git", *_AUTHOR, *words], cwd=self.layout.root, check=True, capture_output=True)

    def commit(self) -> None:
        """Commit whatever is there."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "more")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that occurs in a file of the repository."""
        file = self.layout.root / path
        text = file.read_text()
        assert old in text, path
        file.write_text(text.replace(old, new, 1))

    def save_reference(self) -> None:
        """Write the runs to the reference results."""
        save_reference(self.layout, Store(self.layout.runs))


def make_evidence(repository: Layout, folder: Path, engine: Engine) -> Evidence:
    """The repository as it is committed, with one more method; four runs of it; all of it committed."""
    layout = Layout(root=folder / "repository", cache=folder / "cache", local=folder / "local")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in FOLDERS:
        shutil.copytree(repository.root / name, layout.root / name, ignore=ignored)
    for name in FILES:
        shutil.copy(repository.root / name, layout.root / name)
    write_atomic(layout.methods / PROBE / "method.toml", CARD.replace('behaviour = "ok"', 'behaviour = "exit"'))
    write_atomic(layout.methods / PROBE / "main.py", CODE)
    write_atomic(layout.containers / PROBE / "environment.toml", 'summary = "For tests"\nextends = "_numpy"\n')
    for place in (layout.methods, layout.containers):
        (place / "constant").rename(place / STILL)
    card, code = layout.methods / STILL / "method.toml", layout.methods / STILL / "main.py"
    card.write_text(card.read_text().replace('name = "constant"', f'name = "{STILL}"'))
    code.write_text(f"{code.read_text()}SESSION = '{uuid.uuid4().hex}'\n")
    layout.cache.mkdir(parents=True)
    layout.parts.symlink_to(repository.parts)
    if (repository.cache / "images").is_dir():
        shutil.copytree(repository.cache / "images", layout.cache / "images")
    # what the four need, and no more: it is copied for every forgery
    for folder in (layout.methods, layout.containers, layout.datasets):
        for path in folder.iterdir():
            if path.name.startswith("_") or path.name in _KEPT:
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    jobs = [
        job_of(layout, STILL, SEEDS[0]),
        job_of(layout, STILL, SEEDS[1]),
        job_of(layout, "als_wr", SEEDS[0]),
        job_of(layout, PROBE, SEEDS[0]),
    ]
    evidence = Evidence(layout, make_plan(layout, "tampered", jobs), engine)
    evidence.git("init", "-q")
    evidence.commit()
    for cell in evidence.plan.cells:
        planned = planned_of(cell)
        image = ensure_image(engine, layout, planned.job.method)
        # noted by id, as by a person's first audit: copies need not read the same image again
        held_trees(engine, layout, image.image_id)
        record = perform(Task(layout, planned, image), engine)
        if record.verdict is Verdict.OK:
            score_run(layout, Store(layout.runs), planned)
    layout.page.write_text("<p>als_wr 0.9")
    remember(layout, "1" * 64)
    evidence.save_reference()
    key = make_key(folder / "key")
    vouch(layout, "tests@localhost", key)
    evidence.commit()
    for results in (stored_set(layout), reference_set(layout)):
        attest(layout, results, key)
    evidence.commit()
    # one file in place of thousands: they are copied for every forgery
    evidence.git("gc", "-q")
    return evidence


@contextmanager
def copied(evidence: Evidence) -> Iterator[Evidence]:
    """A copy that may be tampered with."""
    source = evidence.layout.root.parent
    target = source.parent / f"copy-{next(_copies)}"
    # parts stay where they are
    shutil.copytree(source, target, symlinks=True)
    layout = Layout(root=target / "repository", cache=target / "cache", local=target / "local")
    refresh()
    try:
        yield replace(evidence, layout=layout)
    finally:
        shutil.rmtree(target)


def audited(evidence: Evidence, *, reference: bool = False, replay: int = 0) -> AuditReport:
    """The audit of every run, or of every reference result."""
    layout = evidence.layout
    stored = list(Store(layout.runs).finished())
    return audit_runs(
        layout,
        load_reference(layout) if reference else stored,
        engine=evidence.engine,
        replay=replay,
        without_run=0 if reference else len(evidence.plan.cells) - len(stored),
        repository=[*check_checkout(layout), *check_page(layout)],
    )


def signed(evidence: Evidence) -> bool:
    """Whether `harness audit --signed` finds nothing, about runs and reference results."""
    # the harness that runs is this one; the suites and scorers that are held against the statement are the copy's
    with patch.object(Layout, "benchmarks", property(lambda layout: layout.root / "harness" / "benchmarks")):
        layout = evidence.layout
        return not any(verify(layout, make(layout)).failed for make in (stored_set, reference_set))


def exit_code(report: AuditReport, waived: Collection[Lack]) -> int:
    """The exit code of `harness audit --strict`, with waivers."""
    return AuditError.exit_code if report.is_broken or report.lacking(waived) else 0
