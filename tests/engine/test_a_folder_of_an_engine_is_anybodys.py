"""Where an engine's socket and locks lie, whom that folder belongs to, and what a dead engine leaves mounted."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import EngineError
from harness.base.files import digest_of
from harness.engine import service
from harness.engine.leftovers import remove_stubborn
from harness.engine.service import mounts_below, service_folder, services_folder, unmount_below
from harness.engine.sockets import SocketCandidate, chosen_by_user, exists, usual_places
from tests.engine.children import NOBODY, become_nobody, in_child, leave_the_mounts, standard_input

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def a_user(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr("os.geteuid", lambda: number)


def test_each_cache_and_user_has_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = digest_of(str(tmp_path))[:8]
    a_user(monkeypatch, 0)
    monkeypatch.setattr("os.access", lambda path, mode: (path, mode) == ("/run", os.W_OK))
    assert services_folder(tmp_path, {"XDG_RUNTIME_DIR": "/run/user/0"}) == Path(f"/run/permafrost-0-{own}")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    temporary = Path(tempfile.gettempdir())
    assert services_folder(tmp_path, {}) == temporary / f"permafrost-0-{own}"
    a_user(monkeypatch, 7)
    assert services_folder(tmp_path, {"XDG_RUNTIME_DIR": "/run/user/7"}) == Path(f"/run/user/7/permafrost-7-{own}")
    assert services_folder(tmp_path, {"XDG_RUNTIME_DIR": ""}) == temporary / f"permafrost-7-{own}"
    assert services_folder(tmp_path / "other", {}) != services_folder(tmp_path, {})


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path leaves room for that of a socket, wherever the tests write."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def folder_in(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(service, "services_folder", lambda cache, environment: place)
    return service_folder("docker", Path("cache"), {})


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_folder_of_ones_own_is_taken(short: Path, monkeypatch: pytest.MonkeyPatch, mode: int) -> None:
    """Others may read that it is there; nobody else may write."""
    place = short / "services"
    assert folder_in(place, monkeypatch) == place / "docker"
    assert [path.stat().st_mode & 0o777 for path in (place, place / "docker")] == [0o700, 0o700]
    place.chmod(mode)
    assert folder_in(place, monkeypatch) == place / "docker"


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
@pytest.mark.parametrize("inner", [False, True])
def test_a_folder_that_others_may_write_is_refused(
    short: Path, monkeypatch: pytest.MonkeyPatch, mode: int, inner: bool
) -> None:
    place = short / "services"
    open_one = folder_in(place, monkeypatch) if inner else place
    open_one.mkdir(exist_ok=True)
    open_one.chmod(mode)
    with pytest.raises(EngineError) as error:
        folder_in(place, monkeypatch)
    assert error.value.what == "the folder for the engine's socket is not private to this user"
    assert error.value.where == str(open_one)
    assert error.value.todo == "remove it, or set XDG_RUNTIME_DIR to a folder of your own"


def test_a_link_to_a_folder_is_refused(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, target = short / "services", short / "target"
    target.mkdir(0o700)
    place.symlink_to(target)
    with pytest.raises(EngineError, match="not private"):
        folder_in(place, monkeypatch)


@as_root
def test_a_folder_of_somebody_else_is_refused(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = short / "services"
    place.mkdir(0o700)
    os.chown(place, NOBODY, NOBODY)
    with pytest.raises(EngineError, match="not private"):
        folder_in(place, monkeypatch)


def test_a_socket_whose_path_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred bytes with `/docker/engine.sock` behind it; nothing is made."""
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: pytest.fail("made a folder"))
    place = Path("/x" + "y" * 80)
    with pytest.raises(EngineError) as error:
        folder_in(place, monkeypatch)
    assert error.value.what == "the folder for the engine's socket has too long a name"
    assert (error.value.where, error.value.todo) == (
        str(place / "docker"),
        "set XDG_RUNTIME_DIR or TMPDIR to a shorter path",
    )
    with pytest.raises(pytest.fail.Exception, match="made a folder"):
        folder_in(Path("/x" + "y" * 79), monkeypatch)


@as_root
def test_what_is_mounted_below_is_detached_the_deepest_first(tmp_path: Path) -> None:
    place, beside = tmp_path / "a place", tmp_path / "a place beside"
    inner = place / "tab\tand\\"

    def work() -> object:
        for folder in (place, beside, inner):
            folder.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
        link = tmp_path / "link"
        link.symlink_to(place)
        found = sorted(mounts_below(place))
        with (inner / "in use").open("w"):
            detached = unmount_below(link)
        return found, detached, mounts_below(place), unmount_below(place), mounts_below(beside)

    assert in_child(leave_the_mounts, work) == str(([place, inner], [inner, place], [], [], [beside]))


@as_root
@pytest.mark.parametrize("has_podman", [True, False])
def test_what_belongs_to_a_containers_user_is_removed_through_podman(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], has_podman: bool
) -> None:
    """As a user that may not remove it; the pretended `podman` writes down what it is asked, and complains."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        held = folder / "tree" / "of root"
        held.mkdir(parents=True)
        (held / "file").touch()
        asked, podman = folder / "asked.txt", folder / "podman"
        asked.touch()
        asked.chmod(0o666)
        podman.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {asked}\n/bin/cat >> {asked}\necho no >&2\nexit 1\n')
        podman.chmod(0o755 if has_podman else 0o644)
        monkeypatch.setenv("PATH", str(folder))
        with standard_input(b"from the terminal"):
            left = in_child(become_nobody, lambda: remove_stubborn(held.parent))
        assert left == str([f"{held}: Permission denied"])
        assert capfd.readouterr() == ("", ""), "what it says is not for the person who cleans up"
        words = ["unshare", "rm", "-rf", "--", str(held.parent)]
        assert asked.read_text().splitlines() == (words if has_podman else [])


@as_root
def test_root_needs_nobody_to_remove_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where something stays, as what is mounted does."""
    monkeypatch.setattr("harness.engine.leftovers.shutil.which", lambda name: "/usr/bin/false")
    held = tmp_path / "tree" / "mounted"
    held.mkdir(parents=True)

    def work() -> object:
        subprocess.run(["mount", "-t", "tmpfs", "none", held], check=True)
        monkeypatch.setattr("harness.engine.leftovers.subprocess.run", lambda *_, **__: os._exit(1))
        return remove_stubborn(tmp_path / "tree")

    assert in_child(leave_the_mounts, work) == str([f"{held}: Device or resource busy"])
    assert remove_stubborn(tmp_path / "tree") == [] and not (tmp_path / "tree").exists()


def test_the_machines_sockets_come_before_the_users() -> None:
    machine = [Path("/var/run/docker.sock"), Path("/run/podman/podman.sock")]
    assert [place.path for place in usual_places({})] == machine
    own = [Path("/run/user/7/docker.sock"), Path("/run/user/7/podman/podman.sock")]
    assert [place.path for place in usual_places({"XDG_RUNTIME_DIR": "/run/user/7"})] == [*machine, *own]


def test_a_chosen_socket_says_who_chose_it() -> None:
    both = {"DOCKER_HOST": "unix:///d", "CONTAINER_HOST": "http+unix:///c"}
    assert chosen_by_user(both) == SocketCandidate(Path("/d"), "$DOCKER_HOST")
    assert chosen_by_user({**both, "DOCKER_HOST": ""}) == SocketCandidate(Path("/c"), "$CONTAINER_HOST")
    with pytest.raises(EngineError) as error:
        chosen_by_user({"CONTAINER_HOST": "tcp://127.0.0.1:2375"})
    assert error.value.what == "CONTAINER_HOST names an engine elsewhere: tcp://127.0.0.1:2375"
    assert error.value.where == "$CONTAINER_HOST" and "unix:///" in error.value.todo


@as_root
def test_where_one_may_not_look_there_may_be_a_socket(tmp_path: Path) -> None:
    assert not exists(SocketCandidate(tmp_path / "none", ""))
    (tmp_path / "some").touch()
    assert exists(SocketCandidate(tmp_path / "some", ""))
    shut = tmp_path / "shut"
    shut.mkdir(0o700)
    assert in_child(become_nobody, lambda: exists(SocketCandidate(shut / "some", ""))) == "True"
