"""Whatever results are made of is held against the commit, file by file; what nobody commits is left out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.audit import Lack, check_checkout
from harness.audit.steps import Checked, not_checked, ok
from harness.base.layout import Layout

_WHO = ("-c", "user.name=a", "-c", "user.email=a@b")
# what results and tables of results are made of, what tells of them, and what would hide a change
HELD = (
    "harness/audit/chain.py",
    "methods/constant/main.py",
    "containers/_numpy/wheels.cpu.lock",
    "datasets/synthetic/dataset.toml",
    "results/published/repurposing/tables.csv",
    "results/reference/repurposing/constant/synthetic-random.jsonl.gz",
    "requirements/run.lock",
    "Dockerfile",
    "run_all.sh",
    "pyproject.toml",
    "docs/methods.md",
    "docs/findings.md",
    "docs/running.md",
    "results/allowed_signers",
    "README.md",
    "CITATION.cff",
    "tests/test_one.py",
    "scripts/environment.sh",
    "benchmarks/README.md",
    ".ci/run",
)


@pytest.fixture
def committed(tmp_path: Path) -> Layout:
    """A repository of one file in each place, all committed."""
    root = tmp_path / "repository"
    for name in HELD:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("as it was\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", str(root), *_WHO, *words], check=True)
    return Layout(root=root, cache=tmp_path / "cache", local=tmp_path / "local")


def commit_of(layout: Layout) -> str:
    words = ["git", "-C", str(layout.root), "rev-parse", "HEAD"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def test_a_tree_as_it_was_committed_is_told_with_its_commit(committed: Layout) -> None:
    said = "every file is as it was committed"
    assert check_checkout(committed) == [ok("commit", said, commit_of(committed))]


@pytest.mark.parametrize("name", HELD)
def test_a_changed_file_is_open(committed: Layout, name: str) -> None:
    (committed.root / name).write_text("as it is\n")
    what = f"files differ from commit {commit_of(committed)[:12]}: 1 changed: {name}"
    assert check_checkout(committed) == [not_checked("commit", what, Lack.CHANGED)]


@pytest.mark.parametrize(
    "name",
    [
        "harness/audit/__pycache__/chain.cpython-311.pyc",
        "__pycache__/scratch.cpython-311.pyc",
        "harness/audit/.chain.py.swp",
        "datasets/synthetic/own/table.csv",
        "datasets/synthetic/first_seen.json",
        "my matrix.csv",
        "ranking.xlsx",
        "results/local/table.csv",
        "results/paper/table.csv",
        "docs/more.md",
        "tests/test_more.py",
    ],
)
def test_what_programs_and_persons_leave_beside_files_is_no_change(committed: Layout, name: str) -> None:
    (committed.root / name).parent.mkdir(parents=True, exist_ok=True)
    (committed.root / name).write_text("mine\n")
    assert [step.checked for step in check_checkout(committed)] == [Checked.OK]


@pytest.mark.parametrize(
    "name",
    [
        "harness/benchmarks/ddi/splits/strategies/__pycache__/__init__.py",
        # Python imports it without a source
        "harness/benchmarks/__pycache__/__init__.pyc",
        "results/published/__pycache__/findings.toml",
        "methods/.ipynb_checkpoints/method.toml",
        "harness/audit/.chain.py.swp/chain.py",
    ],
)
def test_what_is_read_from_where_programs_leave_files_is_one(committed: Layout, name: str) -> None:
    (committed.root / name).parent.mkdir(parents=True, exist_ok=True)
    (committed.root / name).write_text("mine\n")
    what = f"files differ from commit {commit_of(committed)[:12]}: 1 untracked: {name}"
    assert check_checkout(committed) == [not_checked("commit", what, Lack.CHANGED)]


@pytest.mark.parametrize(
    "name",
    [
        "sitecustomize.py",
        "click.so",
        "click.pyc",
        "click/__init__.py",
        "org/python/core.py",
        "mine.egg-info/entry_points.txt",
        "mine-1.0.DIST-INFO/entry_points.txt",
        "harness/more.md",
        "scripts/more.sh",
        "requirements/more.lock",
        "results/reference/more.jsonl.gz",
        "results/table.csv",
        "datasets/more.toml",
    ],
)
def test_what_nobody_committed_is_open_where_it_is_read_or_imported(committed: Layout, name: str) -> None:
    (committed.root / name).parent.mkdir(parents=True, exist_ok=True)
    (committed.root / name).write_text("mine\n")
    what = f"files differ from commit {commit_of(committed)[:12]}: 1 untracked: {name}"
    assert check_checkout(committed) == [not_checked("commit", what, Lack.CHANGED)]


@pytest.mark.parametrize("name", [b"harness/\xff.so", b"docs/\xff"])
def test_a_name_in_no_encoding_can_be_told(committed: Layout, tmp_path: Path, name: bytes) -> None:
    path = committed.root / os.fsdecode(name)
    if path.suffix:
        path.touch()
    else:
        path.symlink_to(tmp_path)
    commit_all(committed)
    (step,) = check_checkout(committed)
    assert step.checked is Checked.NOT_CHECKED
    assert step.what.encode().endswith(name.replace(b"\xff", b"\\xff"))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_name_cannot_write_a_line_of_its_own(committed: Layout, compiled: bool) -> None:
    """Nor move what a terminal shows: the name of a file is whatever a forger likes."""
    name = f"harness/a\n  ok  commit: as it was\x1b[2K\u202e.{'pyc' if compiled else 'md'}"
    (committed.root / name).touch()
    if compiled:
        commit_all(committed)
    (step,) = check_checkout(committed)
    assert step.checked is Checked.NOT_CHECKED
    assert step.what.endswith(f": harness/a\\n  ok  commit: as it was\\x1b[2K\\u202e{Path(name).suffix}")


def commit_all(layout: Layout) -> None:
    for words in (["add", "-A", "-f"], ["commit", "-q", "-m", "tidy"]):
        subprocess.run(["git", "-C", str(layout.root), *_WHO, *words], check=True)


@pytest.mark.parametrize(
    "name",
    ["harness/audit/__pycache__/chain.cpython-311.pyc", "harness/audit/chain.cpython-311-x86_64-linux-gnu.so"],
)
def test_compiled_code_is_open_though_it_is_committed(committed: Layout, name: str) -> None:
    """Python runs it in place of the source beside it, in every clone."""
    (committed.root / name).parent.mkdir(exist_ok=True)
    (committed.root / name).write_text("other\n")
    commit_all(committed)
    what = f"compiled code is committed: {name}"
    assert check_checkout(committed) == [not_checked("commit", what, Lack.CHANGED)]


@pytest.mark.parametrize("name", ["harness/audit/chain.py", "docs"])
def test_a_link_is_open_though_it_is_committed(committed: Layout, tmp_path: Path, name: str) -> None:
    """What it leads to may change, and no commit knows."""
    path = committed.root / name
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    commit_all(committed)
    what = f"a link is committed, and what it leads to is not: {name}"
    assert check_checkout(committed) == [not_checked("commit", what, Lack.CHANGED)]


def test_each_of_several_compiled_files_and_links_is_named(committed: Layout, tmp_path: Path) -> None:
    compiled, links = ["harness/audit/chain.pyc", "harness/chain.so"], ["docs", "harness/audit/chain.py"]
    for name in compiled:
        (committed.root / name).write_text("other\n")
    commit_all(committed)
    what = f"compiled code is committed: {', '.join(compiled)}"
    assert check_checkout(committed) == [not_checked("commit", what, Lack.CHANGED)]
    for name in compiled:
        (committed.root / name).unlink()
    for number, name in enumerate(links):
        (committed.root / name).rename(tmp_path / f"{number}")
        (committed.root / name).symlink_to(tmp_path / f"{number}")
    commit_all(committed)
    what = f"a link is committed, and what it leads to is not: {', '.join(links)}"
    assert check_checkout(committed) == [not_checked("commit", what, Lack.CHANGED)]


def test_outside_of_a_git_checkout_that_is_said(tmp_path: Path) -> None:
    layout = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")
    said = "this is not a git checkout: files can't be held against a commit"
    assert check_checkout(layout) == [not_checked("commit", said, Lack.GIT)]
