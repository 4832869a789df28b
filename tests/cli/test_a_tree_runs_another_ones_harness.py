"""A copied or moved tree is served by its own harness or by none: never by the one of the tree it came from."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.base.layout import find_layout
from harness.cli import main
from tests.conftest import REPOSITORY

# Stand-ins for Python and for that of an environment, whose harness names the tree it was installed from.
_PYTHON = """#!/bin/bash
[[ $1 == -m ]] || exit 0
mkdir -p "$3/bin" && cp "$(dirname "$0")/inner" "$3/bin/python"
"""
_INNER = """#!/bin/bash
bin=$(dirname "$0")
case "$*" in
    *--editable*)
        root=${@: -1}
        echo "$root/harness" > "$bin/imported"
        printf '#!/bin/bash\\necho "harness of %s, in $PWD: $*"\\n' "$root" > "$bin/harness"
        chmod +x "$bin/harness"
        ;;
    *"import harness"*) cat "$bin/imported" ;;
esac
"""
_MADE = "making the environment"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What the scripts need of a tree, in a folder with a space."""
    root, programs = tmp_path / "a tree", tmp_path / "bin"
    for name in ("scripts/environment.sh", "run_all.sh", "requirements/run.lock", "requirements/dev.lock"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, root / name)
    shutil.copy2(REPOSITORY / "pyproject.toml", root)
    programs.mkdir()
    for name, text in (("python3.11", _PYTHON), ("inner", _INNER)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return root


def start(root: Path) -> tuple[str, str]:
    """What `run_all.sh` of a tree writes: which harness ran, and what was said."""
    path = f"{root.parent / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(
        [root / "run_all.sh"], capture_output=True, text=True, env={"PATH": path}, cwd="/", check=True
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize(("folder", "told"), [("größe", "C.UTF-8"), ("a tree", "C")])
def test_a_path_that_the_locale_cannot_write_is_read_all_the_same(tmp_path: Path, folder: str, told: str) -> None:
    """Python itself would end with a trace, before any of our code runs."""
    script = tmp_path / folder / "scripts" / "environment.sh"
    script.parent.mkdir(parents=True)
    shutil.copy2(REPOSITORY / "scripts" / "environment.sh", script)
    words = ["bash", "-euc", 'source "$0"; echo "$LC_ALL"', str(script)]
    for locale, expected in (("C", told), ("C.UTF-8", "C.UTF-8")):
        done = subprocess.run(
            words, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": locale}, check=True
        )
        assert done.stdout == f"{expected}\n"


def slowed(root: Path) -> None:
    """Python takes a while to make an environment."""
    program = root.parent / "bin" / "python3.11"
    program.write_text(program.read_text().replace("mkdir", "sleep 1\nmkdir"))


def ran(root: Path) -> str:
    return f"harness of {root}, in /: run --suite smoke --install --report\n"


def test_a_removal_that_is_broken_off_leaves_no_whole_environment(tree: Path) -> None:
    start(tree)
    (tree / "requirements" / "run.lock").write_text("other packages\n")
    # as a Ctrl-C in the midst of it
    (tree.parent / "bin" / "rm").write_text('#!/bin/bash\n/bin/rm "$1" "$2"\nexit 1\n')
    (tree.parent / "bin" / "rm").chmod(0o755)
    with pytest.raises(subprocess.CalledProcessError):
        start(tree)
    assert (tree / ".venv" / "bin" / "harness").is_file() and not (tree / ".venv" / ".made-from").exists()


def test_an_environment_is_made_once(tree: Path) -> None:
    out, said = start(tree)
    assert out == ran(tree) and _MADE in said and "anew" not in said
    assert start(tree) == (ran(tree), "")


def test_of_two_at_once_one_makes_the_environment(tree: Path) -> None:
    slowed(tree)
    with ThreadPoolExecutor() as pool:
        both = sorted(pool.map(start, [tree, tree]), key=lambda one: _MADE in one[1])
    waited, made = both
    assert waited == (ran(tree), "another command makes the environment in .venv: waiting for it\n")
    assert made[0] == ran(tree) and _MADE in made[1] and "anew" not in made[1]


@pytest.mark.parametrize("lock", ["run", "dev"])
def test_a_copy_makes_its_own(tree: Path, lock: str) -> None:
    script = f'source scripts/environment.sh && make_environment "$root/requirements/{lock}.lock"'
    environment = {"PATH": f"{tree.parent / 'bin'}:/usr/bin:/bin"}
    subprocess.run(["bash", "-ec", script], cwd=tree, env=environment, check=True)
    assert start(tree) == (ran(tree), "")
    copy = tree.with_name("copy")
    shutil.copytree(tree, copy)
    out, said = start(copy)
    assert out == ran(copy) and "of another tree" in said and _MADE in said
    assert start(copy) == (ran(copy), "") and start(tree) == (ran(tree), "")


def test_a_moved_tree_makes_its_own(tree: Path) -> None:
    start(tree)
    moved = tree.rename(tree.with_name("moved"))
    out, said = start(moved)
    assert out == ran(moved) and "of another tree" in said
    assert start(moved) == (ran(moved), "")


@pytest.mark.parametrize("called", ["absolute", "relative"])
def test_an_environment_that_a_process_runs_from_stays(tree: Path, called: str) -> None:
    start(tree)
    shutil.copy2("/bin/sleep", tree / ".venv" / "bin" / "sleep")
    program = (tree if called == "absolute" else Path()) / ".venv" / "bin" / "sleep"
    with subprocess.Popen([program, "60"], cwd=tree) as process:
        assert start(tree) == (ran(tree), ""), "it is as it should be: nothing to make"
        (tree / "requirements" / "run.lock").write_text("other packages\n")
        with pytest.raises(subprocess.CalledProcessError) as refused:
            start(tree)
        process.kill()
    assert (refused.value.returncode, refused.value.stdout) == (3, "")
    assert refused.value.stderr == (
        f"error: the environment in .venv has to be made anew, and processes still run from it: {process.pid}\n"
        "  to do: wait for their end, or stop them (harness stop ends a campaign); then run this again\n"
    )
    assert start(tree)[0] == ran(tree)


def test_an_environment_stays_for_a_python_that_was_called_by_its_name_alone(tree: Path) -> None:
    """Its line of command tells of no folder. What is no Python, as the shell itself, needs nothing of it."""
    start(tree)
    environment = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": str(tree / ".venv")}
    (tree / "requirements" / "run.lock").write_text("other packages\n")
    said = "import time; print('begun', flush=True); time.sleep(60)"
    with (
        subprocess.Popen(["sleep", "60"], env=environment) as shell,
        subprocess.Popen(
            ["python", "-c", said], executable=sys.executable, env=environment, stdout=subprocess.PIPE
        ) as process,
    ):
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        with pytest.raises(subprocess.CalledProcessError) as refused:
            start(tree)
        shell.kill()
        process.kill()
    assert refused.value.returncode == 3 and f"still run from it: {process.pid}\n" in refused.value.stderr
    assert start(tree)[0] == ran(tree)


def test_an_environment_whose_python_is_gone_is_made_anew(tree: Path) -> None:
    start(tree)
    python = tree / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python")
    out, said = start(tree)
    assert out == ran(tree) and "its Python is gone" in said


def test_an_environment_that_imports_another_harness_is_made_anew(tree: Path) -> None:
    start(tree)
    (tree / ".venv" / "bin" / "imported").write_text("/another/harness\n")
    assert _MADE in start(tree)[1]
    assert start(tree) == (ran(tree), "")


def test_a_link_to_a_tree_is_the_tree(tree: Path) -> None:
    start(tree)
    link = tree.with_name("link")
    link.symlink_to(tree)
    assert start(link) == (ran(tree), "")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another tree, with a harness of its own."""
    for name in ("methods", "harness", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "run_all.sh").touch()
    return tmp_path


def test_a_harness_started_in_another_tree_refuses(
    other: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(other / "docs")
    with pytest.raises(SystemExit) as ended:
        main(["plan"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "not the one of this tree" in said and str(other) in said and str(REPOSITORY / "harness") in said


def test_data_without_a_harness_and_links_to_this_one_are_served(other: Path) -> None:
    with pytest.raises(UsageError):
        find_layout(other)
    (other / "harness").rmdir()
    assert find_layout(other).root == other
    (other / "harness").symlink_to(REPOSITORY / "harness")
    assert find_layout(other).root == other
    assert find_layout(REPOSITORY / "docs").root == REPOSITORY
