"""What differs from a commit is told file by file, whatever git was told to say, and in words that stay short."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import MissingData
from harness.base.git import Differences, commit_of, committed_files, differences, git
from harness.base.layout import Layout
from harness.base.swhid import identify

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")


def run(root: Path, *words: str) -> str:
    """What git itself answers."""
    return subprocess.run(
        ["git", *AUTHOR, *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository of one commit, with a name that git writes in quotes."""
    root = tmp_path / "repository"
    (root / "code" / "below").mkdir(parents=True)
    for name in ("one.py", "ü.py", "below/two.py"):
        (root / "code" / name).write_text(name)
    run(root, "init", "-q")
    run(root, "add", "-A")
    # a repository in the repository, whose files are not its own
    (root / "code" / "sub").mkdir()
    run(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},code/sub")
    run(root, "commit", "-q", "-m", "first")
    return root


def test_few_names_are_told_and_of_many_the_first_six() -> None:
    six, seven = tuple("abcdef"), tuple("abcdefg")
    assert str(Differences(("x",), six, seven)) == (
        "1 changed: x; 6 missing: a, b, c, d, e, f; 7 untracked: a, b, c, d, e, f, ..."
    )
    assert str(Differences((), (), ("x",))) == "1 untracked: x" and str(Differences((), (), ())) == ""
    assert not Differences((), (), ())
    assert all(Differences(*(("x",) if kind == one else () for kind in range(3))) for one in range(3))


def test_nothing_differs_in_a_fresh_clone_whatever_its_names_are(committed: Path) -> None:
    assert not differences(committed, ["code"]) and not differences(committed, ["code/one.py", "code/below"])


def test_files_are_told_in_their_order_and_links_to_nowhere_with_them(committed: Path) -> None:
    names = [f"code/more/{number}" for number in range(12)]
    (committed / "code" / "more").mkdir()
    for name in names[::-1]:
        (committed / name).symlink_to("nowhere")
    (committed / "code" / "below" / "two.py").unlink()
    found = differences(committed, ["code"])
    assert (list(found.untracked), found.missing, found.changed) == (sorted(names), ("code/below/two.py",), ())


def test_only_what_is_named_may_be_there_uncommitted(committed: Path) -> None:
    for name, left_out, is_left in (
        ("code/own/table.csv", ("code/*/table.csv",), True),
        ("code/own/table.csv", ("own",), True),
        ("code/own/table.csv", ("table.csv",), True),
        # a pattern is of a whole path, a name of a whole part
        ("code/own/table.csv", ("*.csv",), False),
        ("code/own/table.csv", ("own/*",), False),
        ("code/own/table.csv", ("csv", "ow", "table"), False),
        ("code/own/TABLE.csv", ("code/*/table.csv",), False),
        ("code/.one.py.swp", (".swp",), True),
        ("code/x.swp/one", (".swp",), True),
        ("code/one.swp.py", (".swp",), False),
        ("code/oneswp", ("swp",), False),
        ("code/a/b", (), False),
    ):
        (committed / name).parent.mkdir(parents=True, exist_ok=True)
        (committed / name).touch()
        found = differences(committed, ["code"], left_out)
        assert found.untracked == (() if is_left else (name,)), (name, left_out)
        (committed / name).unlink()


def test_what_is_committed_counts_also_where_its_name_may_be_left_out(committed: Path) -> None:
    (committed / "code" / "one.py").write_text("changed")
    assert differences(committed, ["code"], ("one.py",)).changed == ("code/one.py",)


def test_a_replaced_commit_does_not_stand_for_the_real_one(committed: Path) -> None:
    first = commit_of(committed)
    (committed / "code" / "one.py").write_text("changed")
    run(committed, "commit", "-q", "-a", "-m", "second")
    second = commit_of(committed)
    run(committed, "reset", "-q", "--soft", first)
    run(committed, "replace", first, second)
    assert "changed" in run(committed, "show", "HEAD:code/one.py")
    assert differences(committed, ["code"]).changed == ("code/one.py",)


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"])
def test_another_repository_of_the_environment_is_not_asked(
    committed: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    commit = commit_of(committed)
    monkeypatch.setenv(variable, "/nowhere")
    assert commit_of(committed) == commit != "" and committed_files(committed)
    assert git(committed, "status", "--porcelain", "--untracked-files=no") == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder to somebody else")
def test_a_repository_of_another_user_is_read(committed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    commit = commit_of(committed)
    for path in (committed, committed / ".git"):
        os.chown(path, 12345, 12345)
    assert commit_of(committed) == commit != ""


@pytest.mark.parametrize("fault", [FileNotFoundError("git"), subprocess.TimeoutExpired("git", 60)])
def test_where_git_can_not_answer_nothing_is_known(
    committed: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    patience: list[object] = []

    def fail(*_: object, **options: object) -> None:
        patience.append(options["timeout"])
        raise fault

    assert git(committed, "no-such-command") == "" and git(committed / "code", "rev-parse", "HEAD") == ""
    monkeypatch.setattr(subprocess, "run", fail)
    assert commit_of(committed) == "" and patience == [60]


def test_a_name_of_any_bytes_is_a_name(committed: Path) -> None:
    """Git knows bytes alone; a name in another encoding failed each run, after its container."""
    names = [os.fsdecode(name) for name in (b"code/\xff.py", b"code/a\r\nb.py", b"code/l\xe9nk")]
    for name in names[:2]:
        (committed / name).write_text("x")
    (committed / names[2]).symlink_to(os.fsdecode(b"to/\xfe"))
    run(committed, "add", "-A")
    run(committed, "commit", "-q", "-m", "more")
    assert {*names} < {*committed_files(committed)} and not differences(committed, ["code"])
    (committed / names[0]).write_text("y")
    (committed / names[2]).unlink()
    (committed / "code" / os.fsdecode(b"\xe9.py")).touch()
    # and it can be printed
    assert str(differences(committed, ["code"])).encode() == (
        b"1 changed: code/\\xff.py; 1 missing: code/l\\xe9nk; 1 untracked: code/\\xe9.py"
    )


def test_looking_changes_nothing_in_the_repository(committed: Path) -> None:
    os.utime(committed / "code" / "one.py", (1, 1))
    index = committed / ".git" / "index"
    before = index.read_bytes()
    assert identify(committed).changed == 0
    assert index.read_bytes() == before


def test_a_commit_that_is_not_there_has_no_identifier(committed: Path) -> None:
    commit = commit_of(committed)
    (committed / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    assert commit_of(committed) == commit
    with pytest.raises(MissingData, match="the identifier of this tree is not known") as refused:
        identify(committed)
    assert refused.value.where == f"{committed}: no clone, or git is not installed"
    assert refused.value.todo == (
        "clone the repository; `swh identify` computes the identifier of a copy without history"
    )


@pytest.mark.parametrize("setting", ["core.autocrlf=true", "core.eol=crlf"])
def test_a_clone_holds_the_committed_bytes_whatever_git_is_told(
    setting: str, repository: Layout, tmp_path: Path
) -> None:
    """Digests are over bytes: other line ends would make every lock, record and statement another one."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    contents = {"a.py": b"one\ntwo\n", "b.lock": b"one\r\ntwo\r\n", "c.csv": b"one\r\ntwo\n", "d.gz": b"\0\r\n\n"}
    for name, content in contents.items():
        (origin / name).write_bytes(content)
    shutil.copy(repository.root / ".gitattributes", origin)
    run(origin, "init", "-q")
    run(origin, "-c", setting, "add", "-A")
    run(origin, "commit", "-q", "-m", "first")
    run(tmp_path, "clone", "-q", "-c", setting, str(origin), str(clone))
    assert {name: (clone / name).read_bytes() for name in contents} == contents
    assert not run(clone, "status", "--porcelain")
