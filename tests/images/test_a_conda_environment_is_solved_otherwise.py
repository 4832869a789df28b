"""What conda-lock and its small conda are asked, and how their answers are read."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import ManifestError, UsageError
from harness.images import conda, conda_front
from harness.images.cards import CondaPart, Environment, EnvironmentCard
from harness.images.locks import Part
from tests.core.word_for_word import said
from tests.images.programs import SHA, Runs


def record(name: str, *, hashed: bool = True) -> Any:
    digest = SimpleNamespace(hex=lambda: "ab") if hashed else None
    return SimpleNamespace(
        name=SimpleNamespace(normalized=name),
        version=1.5,
        build=7,
        channel="toys",
        file_name=f"{name}.conda",
        url=f"https://h/toys/linux-64/{name}.conda",
        md5=digest,
        sha256=digest,
        size=9,
        subdir="linux-64",
        depends=("a",),
        constrains=("b",),
    )


@pytest.mark.parametrize("platform", [None, "osx-64"])
def test_the_small_conda_answers_with_what_a_solver_found(
    monkeypatch: pytest.MonkeyPatch, platform: str | None
) -> None:
    asked: dict[str, Any] = {}

    async def solve(**about: Any) -> list[Any]:
        asked.update(about)
        return [record("one"), record("two", hashed=False)]

    monkeypatch.setattr(conda_front, "import_module", lambda name: {"rattler": SimpleNamespace(solve=solve)}[name])
    monkeypatch.delenv("CONDA_SUBDIR", raising=False)
    if platform:
        monkeypatch.setenv("CONDA_SUBDIR", platform)
    command = [
        "create",
        "--prefix",
        "/p",
        "--dry-run",
        "--json",
        "--channel",
        "a",
        "-c",
        "b",
        "--override-channels",
        "one",
        "two>=1",
    ]
    answer = json.loads(conda_front.main(command))
    assert asked == {
        "sources": ["a", "b"],
        "specs": ["one", "two>=1"],
        "platforms": [platform or "linux-64", "noarch"],
        "virtual_packages": [],
    }
    fetch = [
        {
            "name": name,
            "version": "1.5",
            "build": "7",
            "channel": "toys",
            "fn": f"{name}.conda",
            "url": f"https://h/toys/linux-64/{name}.conda",
            "md5": digest,
            "sha256": digest,
            "size": 9,
            "subdir": "linux-64",
            "timestamp": 0,
            "depends": ["a"],
            "constrains": ["b"],
        }
        for name, digest in (("one", "ab"), ("two", None))
    ]
    link = [
        {
            **one,
            "dist_name": f"{one['name']}-1.5-7",
            "base_url": "https://h/toys",
            "platform": "linux-64",
            "build_number": 0,
            "build_string": "7",
        }
        for one in fetch
    ]
    assert answer == {"success": True, "dry_run": True, "actions": {"FETCH": fetch, "LINK": link}}


def test_the_small_conda_says_its_version_and_refuses_the_rest() -> None:
    assert conda_front.main(["--version"]) == conda_front.main(["-V", "x"]) == "conda 24.11.0"
    assert json.loads(conda_front.main(["info", "--json"])) == {"conda_version": "24.11.0", "pkgs_dirs": []}
    for command in (["create", "x"], ["install", "--dry-run"], ["remove", "x"]):
        with pytest.raises(SystemExit) as refused:
            conda_front.main(command)
        assert refused.value.code == f"only `create --dry-run` is known, not: {' '.join(command)}"


def toys(tmp_path: Path, text: str) -> Environment:
    (tmp_path / "environment.yml").write_text(text)
    return Environment("toys", tmp_path, EnvironmentCard(summary="x", conda=CondaPart(platform="linux-7")))


YML = "channels: [toys, more]\ndependencies: [a]\n"


def test_conda_lock_is_asked_and_its_answer_made_relative(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    seen: dict[str, Any] = {}

    def solve(command: list[str]) -> None:
        front = Path(command[command.index("--conda") + 1])
        seen["front"], seen["mode"] = front.read_text(), front.stat().st_mode & 0o777
        lockfile = Path(command[command.index("--lockfile") + 1])
        package = {"name": "a", "url": "https://h/c/toys/linux-7/a-1.conda", "hash": {"sha256": SHA}}
        lockfile.write_text(json.dumps({"version": 1, "package": [package], "other": 3}))
        seen["names"] = [front.relative_to(lockfile.parent).as_posix(), lockfile.name]
        seen["folder"] = lockfile.parent

    runs = Runs(does=solve)
    monkeypatch.setattr("harness.images.conda.subprocess.run", runs)
    monkeypatch.setattr(conda, "find_spec", lambda _: True)
    monkeypatch.setenv("PERMAFROST_CONDA_MIRROR", "https://h/c")
    monkeypatch.setenv("PYTHONPATH", "/mine")
    lock = json.loads(conda.lock_conda(toys(tmp_path, YML)))
    folder = seen["folder"]
    assert runs.command == [
        *(sys.executable, "-m", "conda_lock", "lock", "--conda", f"{folder}/conda", "--without-cuda"),
        *("--file", str(tmp_path / "environment.yml"), "--platform", "linux-7"),
        *("--lockfile", f"{folder}/solved.yml"),
        *("--channel", "https://h/c/toys", "--channel", "https://h/c/more"),
    ]
    root = str(Path(conda.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": f"{root}:/mine"}
    assert runs.more == (
        (),
        {"capture_output": True, "text": True, "cwd": folder, "env": environment},
    )
    assert seen["front"] == f'#!/bin/sh\nexec "{sys.executable}" -m harness.images.conda_front "$@"\n'
    assert (seen["mode"], seen["names"]) == (0o755, ["conda", "solved.yml"])
    assert lock == {
        "version": 1,
        "metadata": {
            "channels": [{"url": "toys", "used_env_vars": []}, {"url": "more", "used_env_vars": []}],
            "content_hash": {"linux-7": hashlib.sha256(YML.encode()).hexdigest()},
            "platforms": ["linux-7"],
            "sources": ["environment.yml"],
        },
        "package": [{"name": "a", "url": "toys/linux-7/a-1.conda", "hash": {"sha256": SHA}}],
    }


def test_a_solution_from_elsewhere_is_refused() -> None:
    solution = {"version": 1, "package": [{"url": "https://h/cx/a"}]}
    with pytest.raises(UsageError) as failed:
        conda._relative(solution, "https://h/c/", ["toys"], Path("/e.yml"), CondaPart())
    assert failed.value.what == "conda-lock chose a package outside https://h/c/: https://h/cx/a"
    assert failed.value.where == "/e.yml"


@pytest.mark.parametrize(
    ("out", "err", "words"), [(f"first {'o' * 2000}", "", "o" * 2000), ("out", " err\n", "err")]
)
def test_what_conda_lock_says_at_last_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, out: str, err: str, words: str
) -> None:
    pytest.importorskip("yaml")
    monkeypatch.setattr("harness.images.conda.subprocess.run", Runs(1, out, err))
    monkeypatch.setattr(conda, "find_spec", lambda _: True)
    monkeypatch.setenv("PERMAFROST_CONDA_MIRROR", "https://h/c/")
    with pytest.raises(UsageError) as failed:
        conda.lock_conda(toys(tmp_path, YML))
    assert said(failed.value) == (
        f"conda-lock found no solution:\n{words}",
        str(tmp_path / "environment.yml"),
        "relax the environment, or check the channels below https://h/c/",
    )


@pytest.mark.parametrize("missing", ["conda_lock", "rattler"])
def test_without_conda_lock_nothing_is_locked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    monkeypatch.setattr(conda, "find_spec", lambda name: None if name == missing else True)
    with pytest.raises(UsageError) as failed:
        conda.lock_conda(toys(tmp_path, YML))
    assert (failed.value.what, failed.value.todo) == (
        "locking a conda environment needs conda-lock and py-rattler",
        "install this package's extra: pip install 'permafrost[lock]'",
    )


@pytest.mark.parametrize(
    ("text", "what", "where", "todo"),
    [
        (None, "an environment file is missing", "", "write it"),
        *(
            (text, "this is no environment of conda", "", "write `channels` and `dependencies`")
            for text in (
                *("", "[a]", "channels: [", "a text", "\x00", b"channels: [\xe9]\ndependencies: [a]\n"),
                *(
                    "channels: conda-forge\n",
                    "channels: [a]\ndependencies: a\n",
                    "dependencies: 3\nchannels: [a]\n",
                ),
            )
        ),
        (
            "channels: [a]\ndependencies: [a, {pip: [b]}]\n",
            "packages of pip inside a conda environment are not supported",
            ": dependencies",
            "ask for them in a [wheels] table of an environment of their own",
        ),
        *(
            (
                text,
                "channels must be names",
                ": channels",
                "name them; $PERMAFROST_CONDA_MIRROR says where they lie",
            )
            for text in (
                "dependencies: [a]\n",
                "channels: []\n",
                "channels:\ndependencies:\n",
                "channels: [a, 'https://h/b']\n",
            )
        ),
    ],
)
def test_a_request_that_is_none_says_where(
    tmp_path: Path, text: str | bytes | None, what: str, where: str, todo: str
) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "environment.yml"
    if text is not None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ManifestError) as failed:
        conda._channels(path)
    assert said(failed.value) == (what, f"{path}{where}", todo)


def test_channels_keep_their_order(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    (tmp_path / "e.yml").write_text("channels: [b, a/label/x, 3]\ndependencies:\n")
    assert conda._channels(tmp_path / "e.yml") == ["b", "a/label/x", "3"]


def test_channels_lie_where_they_are_said_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERMAFROST_CONDA_MIRROR", "https://h/c")
    assert conda.channel_roots() == ["https://h/c"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERMAFROST_CONDA_MIRROR", "some: where")
    assert conda.channel_roots() == [(tmp_path / "some: where").as_uri()]
    monkeypatch.delenv("PERMAFROST_CONDA_MIRROR")
    monkeypatch.setattr(conda, "find_spec", lambda _: None)
    assert conda.channel_roots() == []
    monkeypatch.setattr(conda, "find_spec", lambda name: name)
    channel = lambda name: SimpleNamespace(base_url=f"https://c/{name}/")  # noqa: E731
    monkeypatch.setattr(conda, "import_module", lambda name: {"rattler": SimpleNamespace(Channel=channel)}[name])
    assert conda.channel_roots() == ["https://c/"]


PACKAGE = {"manager": "conda", "name": "a", "url": "toys/linux-64/a-1.conda", "hash": {"sha256": SHA}}


def test_a_conda_lock_is_read_as_parts(tmp_path: Path) -> None:
    path = tmp_path / "toys" / "conda.lock"
    path.parent.mkdir()
    path.write_text(json.dumps({"package": [PACKAGE, {**PACKAGE, "url": "b.conda"}]}))
    assert conda.read_conda(path) == [
        Part("conda", "a-1.conda", SHA, None, "toys/linux-64/a-1.conda"),
        Part("conda", "b.conda", SHA, None, "b.conda"),
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({**PACKAGE, "manager": "pip"}, "ValueError('a is not a conda package')"),
        *(
            ({**PACKAGE, **change}, "ValueError('a has no address below a channel, or no sha256')")
            for change in (
                {"url": "https://h/a"},
                {"url": "/etc/a"},
                {"url": "../a"},
                {"hash": {"sha256": SHA[1:]}},
                {"hash": {"sha256": SHA + "a"}},
            )
        ),
        ({**PACKAGE, "hash": {}}, "KeyError('sha256')"),
        ("text", "TypeError"),
    ],
)
def test_a_conda_lock_that_is_none_says_why(tmp_path: Path, content: object, why: str) -> None:
    path = tmp_path / "toys" / "conda.lock"
    path.parent.mkdir()
    path.write_text(json.dumps({"package": [content]}))
    with pytest.raises(ManifestError) as failed:
        conda.read_conda(path)
    assert failed.value.what.startswith(f"not a conda.lock: {why}")
    assert failed.value.where == str(path)
    assert failed.value.todo == "restore the file, or make it again with `harness image lock toys`"
    path.unlink()
    with pytest.raises(ManifestError) as failed:
        conda.read_conda(path)
    assert said(failed.value) == (
        "an environment has no lock",
        str(path),
        "make it with `harness image lock toys`",
    )
