"""Ownership follows the life of a process, however it ends, and never a number that can be reused."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.ownership import abandoned_folders, is_owned, own_folder, owner_of

HOLD = """
import sys, time
from pathlib import Path
from harness.base.ownership import own_folder
folder = own_folder(Path(sys.argv[1]))
(folder / "run-1").mkdir()
print(folder, flush=True)
time.sleep(60)
"""


def test_a_killed_process_owns_nothing_any_more(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert is_owned(Path(owner_of(folder))) and abandoned_folders(tmp_path) == []
        process.send_signal(signal.SIGKILL)
    assert not is_owned(Path(owner_of(folder)))
    assert abandoned_folders(tmp_path) == [folder]


def test_our_own_folder_is_one_and_is_never_abandoned(tmp_path: Path) -> None:
    folder = own_folder(tmp_path)
    assert own_folder(tmp_path) == folder and abandoned_folders(tmp_path) == []


def test_a_forked_child_makes_a_folder_of_its_own(tmp_path: Path) -> None:
    folder = own_folder(tmp_path)
    child = os.fork()
    if child == 0:
        os._exit(0 if own_folder(tmp_path) != folder else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert is_owned(Path(owner_of(folder))), "the child's end must not free its parent's lock"


def test_a_missing_lock_has_no_owner_where_it_would_be_seen(tmp_path: Path) -> None:
    folder = own_folder(tmp_path)
    gone = folder.with_name(folder.name + "x")
    assert not is_owned(Path(owner_of(gone)))
    assert is_owned(tmp_path / "none"), "nothing tells where this lock would be seen"


def _elsewhere(folder: Path, *, boot_id: str = "", space: str = "") -> Path:
    """The name of a folder of another start of the machine, or of another mount name space."""
    prefix, boot, mount, rest = folder.name.split("-", 3)
    return folder.with_name("-".join((prefix, boot_id or boot, space or mount, rest + "x")))


def test_a_lock_of_another_name_space_that_can_not_be_seen_may_be_held(tmp_path: Path) -> None:
    assert is_owned(Path(owner_of(_elsewhere(own_folder(tmp_path), space="f0000001"))))


def test_nothing_outlives_the_machines_start(tmp_path: Path) -> None:
    own = own_folder(tmp_path)
    other = "0000" if own.name.split("-")[1] != "0000" else "1111"
    assert not is_owned(Path(owner_of(_elsewhere(own, boot_id=other, space="f0000001"))))


def test_a_lock_of_another_name_space_that_can_be_seen_tells_by_itself(tmp_path: Path) -> None:
    """A results folder that several containers share is seen by all of them."""
    folder = _elsewhere(own_folder(tmp_path), space="f0000001")
    folder.mkdir()
    lock = Path(owner_of(folder))
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert is_owned(lock) and abandoned_folders(tmp_path) == []
    assert not is_owned(lock) and abandoned_folders(tmp_path) == [folder]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a mount name space")
def test_a_harness_elsewhere_leaves_what_it_can_not_see(tmp_path: Path) -> None:
    """As in a container beside the same engine: this folder is not there, and its owner lives."""
    look = "import sys; from pathlib import Path; from harness.base.ownership import is_owned; "
    look += f"print(is_owned(Path({owner_of(own_folder(tmp_path))!r})))"
    script = tmp_path.parent / "look.py"
    script.write_text(look)
    command = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$1" && exec "$2" "$3"', "sh"]
    done = subprocess.run(
        [*command, str(tmp_path), sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.stdout.strip() == "True"


def test_folders_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "somebody-elses").mkdir()
    assert abandoned_folders(tmp_path) == [] and abandoned_folders(tmp_path / "missing") == []
