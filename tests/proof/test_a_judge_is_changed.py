"""Who changes what judges results, and commits it, changes no result: the statement's digests know how it was."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.git import committed_files
from harness.base.layout import Layout
from harness.proof import digests
from harness.proof.digests import digests_of, parts_of

_FILES = {
    "harness/audit": "harness/audit/plausibility.py",
    "harness/benchmarks": "harness/benchmarks/structures.py",
    "harness/compare": "harness/compare/judge.py",
    "harness/contest": "harness/contest/contest.py",
    "harness/export": "harness/export/scores.py",
    "harness/parity": "harness/parity/cases.py",
    "harness/report": "harness/report/page/page.js",
    "harness/results": "harness/results/scoring.py",
    "harness/status": "harness/status/table.py",
    "harness/study": "harness/study/sheets.py",
    "harness": "harness/__init__.py",
    "requirements": "requirements/run.lock",
    "commands": "scripts/environment.sh",
    "benchmarks/ddi": "harness/benchmarks/ddi/study/realtime.py",
    "benchmarks/repurposing": "harness/benchmarks/repurposing/input_arrays.py",
    "benchmarks/combos": "harness/benchmarks/combos/parity/metrics.py",
    "parity/decagon": "methods/decagon/parity/golden.py",
    "recipe": "containers/_recipe/confine.pl",
    "docs/consistency.md": "docs/consistency.md",
    "code/bnnr": "methods/bnnr/BNNR.m",
    "code/_sdk": "methods/_sdk/python/permafrost_sdk.py",
    "benchmarks/dti": "harness/benchmarks/dti/sdk/java/Dti.java",
}


@pytest.mark.parametrize(("part", "name"), [*_FILES.items(), ("recipe", "Dockerfile"), ("commands", "run_all.sh")])
def test_what_judges_results_has_a_digest(
    repository: Layout, monkeypatch: pytest.MonkeyPatch, part: str, name: str
) -> None:
    before = digests_of(repository)
    read = Path.read_bytes
    target = repository.root / name
    assert target.is_file()
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b"\nMORE = 1\n" if path == target else b""))
    after = digests_of(repository)
    assert {key for key in {*before, *after} if before.get(key) != after.get(key)} == {part}


def test_every_package_has_a_digest(repository: Layout) -> None:
    """One that had none could show what it likes, and no statement would know."""
    packages = {path.parent.name for path in (repository.root / "harness").glob("*/__init__.py")}
    assert {f"harness/{name}" for name in packages} <= digests_of(repository).keys() and len(packages) > 25


# Committed, and in no part: keys come after what they sign; no result rests on prose, tests and measurements.
_IN_NO_PART = re.compile(
    r"results/allowed_signers|docs/.*\.md|(tests|benchmarks|examples|LICENSES)/.*|[^/]*\.(md|cff|json)|LICENSE"
    r"|REUSE\.toml"
    r"|\.gitignore|(containers|results/published)/README\.md"
)


def test_every_committed_file_is_in_one_part(repository: Layout) -> None:
    """What is in none could be changed and committed, and no statement would know."""
    parts = [
        path.relative_to(repository.root).as_posix()
        for _, paths in parts_of(repository).values()
        for path in paths
    ]
    committed = {name for name in committed_files(repository.root) if (repository.root / name).exists()}
    results = {name for name in committed if name.startswith("results/reference/")}
    assert [name for name in committed - results - {*parts} if not _IN_NO_PART.fullmatch(name)] == []
    assert len(parts) == len({*parts})


def test_what_a_machine_leaves_beside_files_has_none(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(tmp_path, repository.cache, repository.local)
    for name in ("datasets/mine/dataset.toml", "methods/mine/method.toml", "methods/mine/parity/golden.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    before = digests_of(layout)
    assert {"data/mine", "cards/mine", "parity/mine"} <= before.keys()
    left = ("__pycache__/golden.cpython-311.pyc", ".golden.py.swp", ".ipynb_checkpoints/golden-checkpoint.py")
    for name in ("datasets/mine/first_seen.json", *(f"methods/mine/parity/{one}" for one in left)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert digests_of(layout) == before
    # what is read, or imported, from where Python and editors leave such files
    for name in ("__pycache__/__init__.py", "__pycache__/__init__.pyc", "__pycache__/x.toml"):
        path = tmp_path / "methods" / "mine" / "parity" / name
        path.write_text("{}")
        assert digests_of(layout) != before, name
        path.unlink()
    (tmp_path / "datasets" / "mine" / "table.csv").write_text("a\n")
    assert digests_of(layout) != before


def test_the_order_of_names_in_a_suite_counts(repository: Layout, tmp_path: Path) -> None:
    """Which cells of a search are drawn goes by it. A comment counts for nothing."""
    layout = Layout(tmp_path, repository.cache, repository.local)
    path = layout.methods / "mine" / "method.toml"
    path.parent.mkdir(parents=True)
    first, comment, turned = "[search]\na = [1]\nb = [2]\n", "# more\n", "[search]\nb = [2]\na = [1]\n"
    digests = []
    for text in (first, comment + first, turned):
        path.write_text(text)
        digests.append(digests_of(layout)["cards/mine"])
    assert digests[0] == digests[1] != digests[2]


def test_files_of_one_name_in_several_folders_all_count(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(tmp_path, repository.cache, repository.local)
    folder = layout.methods / "mine"
    files = [folder / one for one in ("main.py", "first/main.py", "second/main.py")]

    def digest(*numbers: int) -> str:
        for file, number in zip(files, numbers, strict=True):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"x = {number}\n")
        return digests_of(layout)["code/mine"]

    # whichever is another, and whichever two have changed places
    contents = [(0, 1, 2), (9, 1, 2), (0, 9, 2), (0, 1, 9), (1, 0, 2), (2, 1, 0), (0, 2, 1)]
    assert len({digest(*numbers) for numbers in contents}) == len(contents)
    before = digest(0, 1, 2)
    files[1].rename(folder / "first" / "other.py")
    assert digests_of(layout)["code/mine"] != before


def test_compiled_code_beside_the_harness_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python takes it in place of a source."""
    monkeypatch.setattr(Layout, "benchmarks", property(lambda layout: layout.root / "harness" / "benchmarks"))
    layout = Layout(tmp_path, tmp_path / "cache", tmp_path / "local")
    files = {
        "harness/api.abi3.so": "harness",
        "harness/audit/chain.abi3.so": "harness/audit",
        "harness/audit/deep/chain.pyc": "harness/audit",
        "harness/_Own/chain.abi3.so": "harness/_Own",
        "harness/benchmarks/order.abi3.so": "harness/benchmarks",
        "harness/benchmarks/ddi/scoring.abi3.so": "benchmarks/ddi",
        # only those above are studies and suites
        "harness/benchmarks/ddi/deep/study.toml": "benchmarks/ddi",
        "harness/benchmarks/ddi/deep/suites/one.toml": "benchmarks/ddi",
    }
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    parts = parts_of(layout)
    found = {path.relative_to(tmp_path).as_posix(): name for name, (_, paths) in parts.items() for path in paths}
    assert found == files


def test_a_dataset_whose_manifest_is_a_link_counts(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "root", repository.cache, repository.local)
    manifest = layout.datasets / "linked" / "dataset.toml"
    manifest.parent.mkdir(parents=True)
    (tmp_path / "elsewhere.toml").write_text("x = 1\n")
    manifest.symlink_to(tmp_path / "elsewhere.toml")
    assert parts_of(layout)["data/linked"] == (manifest.parent, [manifest])


@pytest.mark.parametrize(
    ("link", "part"),
    [
        ("harness/status/table", "harness/status"),
        ("harness/benchmarks/ddi/scoring", "benchmarks/ddi"),
        ("methods/mine/more", "code/mine"),
        ("org/python", "root/org/python"),
    ],
)
def test_a_link_to_a_folder_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str, part: str) -> None:
    """Python looks for modules there, before it takes a file of that name; whether it is committed or not."""
    monkeypatch.setattr(Layout, "benchmarks", property(lambda layout: layout.root / "harness" / "benchmarks"))
    # there is no scorer here
    monkeypatch.setattr(digests, "meaning_of_scorer", lambda *_: "")
    layout = Layout(tmp_path, tmp_path / "cache", tmp_path / "local")
    for name in ("harness/status/table.py", "methods/mine/main.py", "tests/more/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    before = digests_of(layout)
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / "tests" / "more")
    after = digests_of(layout)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == {part}


# Files of a repository by the part whose digest they are in; None: in none.
_PARTS = {
    "results/published/ddi/tables.csv": "claims/ddi",
    "results/published/ddi/contrasts.toml": "claims/ddi",
    "results/published/ddi/names.toml": "names/ddi",
    "results/published/ddi/findings.toml": "findings/ddi",
    "results/published/ddi/notes.txt": None,
    "results/published/README.md": None,
    "requirements/run.lock": "requirements",
    "requirements/cluster.lock": "requirements",
    "requirements/dev.lock": "requirements",
    "requirements/judges/proof.lock": "requirements",
    "run_all.sh": "commands",
    "run_tests.sh": "commands",
    "pyproject.toml": "commands",
    ".ci/run": "commands",
    ".gitattributes": "commands",
    "scripts/one.sh": "commands",
    "scripts/site/one.py": "commands",
    "sitecustomize.py": "root/sitecustomize.py",
    "click.so": "root/click.so",
    "click.pyc": "root/click.pyc",
    "click/__init__.py": "root/click/__init__.py",
    "numpy/__init__.abi3.so": "root/numpy/__init__.abi3.so",
    # packages without an `__init__.py`, of which the standard library asks for the first
    "org/python/core.py": "root/org/python/core.py",
    "org/python/core.pyc": "root/org/python/core.pyc",
    "org/python/core.abi3.so": "root/org/python/core.abi3.so",
    "org/python/notes.txt": None,
    "mine-1/python3.11/one.py": None,
    ".venv/lib/one.py": None,
    "mine/python3.11/one.py": None,
    "one.egg-info/entry_points.txt": "root/one.egg-info/entry_points.txt",
    # the oldest form is one file
    "two.egg-info": "root/two.egg-info",
    ".dist-info/entry_points.txt": "root/.dist-info/entry_points.txt",
    "one-1.Dist-Info/more/entry_points.txt": "root/one-1.Dist-Info/more/entry_points.txt",
    "tests/__init__.py": None,
    "tests/golden/one.json": None,
    "benchmarks/README.md": None,
    "README.md": None,
    "LICENSE": None,
    "ranking.xlsx": None,
    "methods/mine/method.toml": "cards/mine",
    "methods/mine/main.py": "code/mine",
    "methods/mine/more/main.m": "code/mine",
    # only the one above is the card
    "methods/mine/more/method.toml": "code/mine",
    "methods/mine/main.pyc": "code/mine",
    "methods/mine/parity/golden.py": "parity/mine",
    "methods/mine/parity/more/golden.json": "parity/mine",
    "datasets/mine/dataset.toml": "data/mine",
    "datasets/mine/table.csv": "data/mine",
    "datasets/mine_new_1/dataset.toml": "data/mine_new_1",
    "containers/mine/environment.toml": "locks/mine",
    "containers/mine/locks/apt.lock": "locks/mine",
    "containers/_recipe/confine.pl": "recipe",
    "containers/_recipe/more.sh": "recipe",
    "Dockerfile": "recipe",
    "docs/artifact-evaluation.md": "docs/artifact-evaluation.md",
    "docs/consistency.md": "docs/consistency.md",
    "docs/findings.md": "docs/findings.md",
    "docs/methods.md": "docs/methods.md",
    "docs/other.md": None,
    "docs/schemas/one.json": None,
    "containers/README.md": None,
}


def test_whatever_else_is_committed_is_in_a_part(repository: Layout, tmp_path: Path) -> None:
    """A file that other programs read in place of ours, or that a reader takes for one of ours."""
    layout = Layout(tmp_path, repository.cache, repository.local)
    author = ("-c", "user.name=Tests", "-c", "user.email=tests@localhost")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    before = digests_of(layout)
    parts = {
        "pytest.ini": "others/",
        ".python-version": "others/",
        # read in place of a section of pyproject.toml
        "ruff.toml": "others/",
        ".github/workflows/ci.yml": "others/.github/workflows",
        "docs/schemas/audit.json": "others/docs/schemas",
        "docs/pictures/report.png": "others/docs/pictures",
        "results/published/ddi/notes.txt": "others/results/published/ddi",
        "results/more.csv": "others/results",
        # no prose, whatever it is called like
        "results/more.md.csv": "others/results",
        # beside the packages that have a part, and where Python keeps what it compiled
        "harness/benchmarks/none/one.py": "others/harness/benchmarks/none",
        "harness/cli/__pycache__/one.py": "others/harness/cli/__pycache__",
        "results/reference/one.jsonl": None,
        "results/allowed_signers": None,
        "tests/one.py": None,
        "docs/other.md": None,
        "LICENSE": None,
    }
    # names of other bytes than those of UTF-8, each told apart
    parts |= {"\udcff.ini": "others/", "\udcfe/one.ini": r"others/\xfe", "\udcfd/two.ini": r"others/\xfd"}
    for name, part in parts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
        assert digests_of(layout) == before, f"{name}: what a person keeps there is nothing that is committed"
        subprocess.run(["git", "add", name], cwd=tmp_path, check=True)
        subprocess.run(["git", *author, "commit", "-qm", "more"], cwd=tmp_path, check=True)
        after = digests_of(layout)
        assert {key for key in after if before.get(key) != after[key]} == ({part} if part else set()), name
        before = after


def test_each_file_of_a_repository_counts_for_its_part(repository: Layout, tmp_path: Path) -> None:
    layout = Layout(tmp_path, repository.cache, repository.local)
    before = digests_of(layout)
    for name, part in _PARTS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
        after = digests_of(layout)
        assert {key for key in after if before.get(key) != after[key]} == ({part} if part else set()), name
        before = after
    assert list(before) == sorted(before)


def test_no_plugin_runs_before_the_audit_that_would_find_it(repository: Layout, tmp_path: Path) -> None:
    """A distribution that is described where modules are looked for may name one; git may be told to ignore it."""
    (tmp_path / "mine.egg-info").mkdir()
    (tmp_path / "mine.egg-info" / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (tmp_path / "mine.egg-info" / "entry_points.txt").write_text("[pydantic]\nmine = mine:plugin\n")
    (tmp_path / "mine.py").write_text("print('it ran')\nplugin = None\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{repository.root}"}
    for program, ran in (("import pydantic", True), ("import harness.api", False)):
        environment.pop("PYDANTIC_DISABLE_PLUGINS", None)
        define = f"{program}; from pydantic import BaseModel; type('One', (BaseModel,), {{}})"
        command = [sys.executable, "-c", define]
        done = subprocess.run(command, env=environment, cwd=tmp_path, check=False, capture_output=True, text=True)
        assert ("it ran" in done.stdout) == ran, done.stderr
