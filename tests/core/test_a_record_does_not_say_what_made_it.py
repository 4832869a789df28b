"""A record names harness, scorer, processor, kernel and engine of its run, and no folder of the machine."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import benchmarks
from harness.base import machine
from harness.base.errors import CorruptData
from harness.base.files import digest_of, write_atomic
from harness.base.git import LEFTOVERS, commit_of, differences
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data.own_tables import personal_names
from harness.engine import Engine
from harness.engine.facts import read_facts
from harness.execution import maker, tasks
from harness.execution.runs import Outcome
from harness.execution.tasks import Task, perform
from harness.images import BuiltImage
from harness.meaning.folders import meaning_of_folder
from harness.results.records import parse_record
from harness.results.scoring import scorer_digest
from tests.core.factories import planned_job, record_of
from tests.fabricate import plan_of, planned_of

IMAGE = BuiltImage(
    engine="docker", name="made-up", image_id="sha256:0", environment_tree="0", code_tree="0", size_bytes=1
)


def outcome_of(folder: Path, socket: Path, words: str) -> Outcome:
    """A run that ended with an error, in the words of a harness that names its folders."""
    (folder / "collected").mkdir(parents=True)
    (folder / "log.txt").write_text("last words\n")
    facts = read_facts(
        {"Version": "20.10"}, {"DockerRootDir": str(socket / "root")}, api_version="1.41", socket=str(socket)
    )
    values: dict[str, Any] = dict.fromkeys(Outcome.__dataclass_fields__)
    values |= {"verdict": Verdict.ERROR, "reason": words, "attempts": (), "image_id": ""}
    values |= {"started": "2026-01-01T00:00:00Z", "wall_s": 2.5}
    values |= {"log": folder / "log.txt", "out_folder": folder / "collected", "folder": folder}
    return Outcome(**{**values, "ignored": (words,), "warnings": (words,), "engine": facts})


def test_no_folder_of_a_machine_is_in_a_record(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = {name: tmp_path / f"odd {name}" for name in ("home", "cwd", "results", "cache", "socket", "tmp")}
    for folder in odd.values():
        folder.mkdir()
    monkeypatch.setenv("HOME", str(odd["home"]))
    monkeypatch.setattr("tempfile.tempdir", str(odd["tmp"]))
    monkeypatch.chdir(odd["cwd"])
    layout = Layout(root=repository.root, cache=odd["cache"], local=odd["results"])
    words = ", ".join(
        f"no room in {folder}/somewhere" for name, folder in odd.items() if name not in ("cwd", "socket")
    )
    outcome = outcome_of(odd["results"] / "work" / "run", odd["socket"], words)
    monkeypatch.setattr(tasks, "execute", lambda *_, **__: outcome)
    record = perform(Task(layout, planned_of(plan_of(layout).cells[0]), IMAGE), Engine.__new__(Engine))
    text = json.dumps(record.to_json())
    assert "odd " not in text and str(tmp_path) not in text and str(repository.root) not in text
    places = ("~", "RESULTS", "CACHE", "$TMPDIR")
    assert record.reason == ", ".join(f"no room in {place}/somewhere" for place in places)


def test_a_record_says_what_made_it(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = outcome_of(tmp_path / "run", tmp_path / "socket", "exit code 1")
    monkeypatch.setattr(tasks, "execute", lambda *_, **__: outcome)
    record = perform(Task(layout, planned_of(plan_of(layout).cells[0]), IMAGE), Engine.__new__(Engine))
    made_by = record.made_by
    assert made_by is not None
    assert made_by.harness == meaning_of_folder(layout.root / "harness")
    assert made_by.scorer == scorer_digest("repurposing")
    assert made_by.commit.removesuffix("+") == commit_of(layout.root)
    assert (made_by.kernel, made_by.engine) == (platform.release(), "docker 20.10")
    assert record.hardware == (machine.processor(), machine.processor_flags())
    text = record.to_json()
    assert parse_record(json.dumps(text).encode(), tmp_path) == record
    assert made_by.harness[:12] in made_by.text and "docker 20.10" in made_by.text


def test_the_scorer_of_a_record_is_that_of_its_own_benchmark(layout: Layout) -> None:
    facts = read_facts({}, {}, api_version="1.41", socket="/run/engine.sock")
    named = {name: maker.maker_of(layout, name, facts).scorer for name in benchmarks.names()}
    assert named == {name: scorer_digest(name) for name in named} and len({*named.values()}) == len(named) > 2


def test_a_record_of_before_stays_valid(tmp_path: Path) -> None:
    record = record_of(planned_job())
    assert "made_by" not in record.to_json()
    assert parse_record(json.dumps(record.to_json()).encode(), tmp_path) == record
    other = {name: value for name, value in record.to_json().items() if name != "digest"} | {"made_at": "home"}
    with pytest.raises(CorruptData, match="other fields"):
        parse_record(json.dumps({**other, "digest": digest_of(other)}).encode(), tmp_path)


def test_the_flags_are_those_that_libraries_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "processor: 0\nmodel name: One\nflags\t\t: fpu avx2 sse4_2 amx_tile avx512f fma hypervisor f16c\n"
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: text)
    machine.processor_flags.cache_clear()
    assert machine.processor_flags() == ["amx_tile", "avx2", "avx512f", "f16c", "fma", "sse4_2"]
    machine.processor_flags.cache_clear()


def test_a_harness_is_known_by_what_it_means(tmp_path: Path) -> None:
    folder = tmp_path / "harness"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "one.py").write_text("value = 1\n")
    digest = meaning_of_folder(folder)
    for name, text, same in (
        ("a/one.py", "value = 1  # one\n", True),
        ("a/__pycache__/one.pyc", "x", True),
        (".hidden", "x", True),
        ("a/one.py", "value = 2\n", False),
        ("a/two.toml", "x = 1", False),
    ):
        copy = tmp_path / digest_of([name, text])[:8] / "harness"
        shutil.copytree(folder, copy)
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(text)
        assert (meaning_of_folder(copy) == digest) is same, name


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository of one commit."""
    root = tmp_path / "repository"
    (root / "methods").mkdir(parents=True)
    (root / "methods" / "one.py").write_text("one")
    (root / "methods" / "two.sh").write_text("two")
    (root / "methods" / "link").symlink_to("one.py")
    (root / "other").write_text("other")
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], [*author, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def test_a_file_that_git_was_told_to_overlook_is_seen(committed: Path) -> None:
    assert len(commit_of(committed)) == 40 and not differences(committed, ["methods"])
    (committed / "methods" / "__pycache__").mkdir()
    (committed / "methods" / "__pycache__" / "one.pyc").write_text("x")
    (committed / "other").write_text("not asked for")
    assert not differences(committed, ["methods"], ("__pycache__",))
    subprocess.run(["git", "update-index", "--assume-unchanged", "methods/one.py"], cwd=committed, check=True)
    (committed / ".git" / "info" / "exclude").write_text("methods/new.py\n")
    (committed / "methods" / "one.py").write_text("two")
    (committed / "methods" / "new.py").write_text("new")
    (committed / "methods" / "two.sh").chmod(0o755)
    assert not subprocess.run(
        ["git", "status", "--porcelain", "methods/one.py", "methods/new.py"], cwd=committed, capture_output=True
    ).stdout
    found = differences(committed, ["methods"], ("__pycache__",))
    assert (found.changed, found.untracked) == (("methods/one.py", "methods/two.sh"), ("methods/new.py",))
    (committed / "methods" / "link").unlink()
    assert differences(committed, ["methods"], ("__pycache__",)).missing == ("methods/link",)
    assert "methods/new.py" in str(found) and "1 untracked" in str(found)


def test_code_that_nobody_committed_has_no_name_that_hides_it(committed: Path) -> None:
    layout = Layout(committed, committed / "cache", committed / "local")
    left_out = (*LEFTOVERS, *personal_names(layout))
    folders = ["harness", "methods", "datasets"]
    for name in ("datasets/mine/own/pairs.csv", "datasets/mine/first_seen.json"):
        write_atomic(committed / name, "a person's own")
    assert not differences(committed, folders, left_out)
    # each would be imported: as a benchmark, or with no source beside it
    code = (
        "harness/benchmarks/own/__init__.py",
        "harness/benchmarks/x_new_1/__init__.py",
        "datasets/x_new_1/dataset.toml",
        "harness/benchmarks/more/__init__.pyc",
        "harness/first_seen.json/__init__.py",
        "methods/mine/own/main.py",
    )
    for name in code:
        write_atomic(committed / name, "more")
    assert set(differences(committed, folders, left_out).untracked) == {*code}


def test_without_git_no_commit_is_made_up(tmp_path: Path, committed: Path) -> None:
    assert commit_of(tmp_path) == "" == commit_of(committed / "methods")


def test_code_that_differs_from_its_commit_is_marked(committed: Path) -> None:
    layout = Layout(committed, committed / "cache", committed / "local")

    def told() -> str:
        maker._commit.cache_clear()
        return maker._commit(layout)

    for personal in ("mine/own/table.csv", "mine/first_seen.json"):
        path = committed / "datasets" / personal
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("what a person has for themselves")
    for left in (
        "harness/__pycache__/one.cpython-311.pyc",
        "methods/.one.py.swp",
        "datasets/.ipynb_checkpoints/x-checkpoint.py",
    ):
        write_atomic(committed / left, "what tools leave")
    assert told() == commit_of(committed)
    for code in ("harness", "methods", "containers", "datasets"):
        write_atomic(committed / code / "more.toml", "more")
        assert told() == f"{commit_of(committed)}+"
        (committed / code / "more.toml").unlink()
    write_atomic(committed / "docs" / "page.md", "no code")
    assert told() == commit_of(committed)
    (committed / "methods" / "one.py").write_text("three")
    assert told() == f"{commit_of(committed)}+"
    maker._commit.cache_clear()
