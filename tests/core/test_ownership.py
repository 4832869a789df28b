"""Ownership follows the life of a process, however it ends, and never a number that can be reused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from harness.ownership import abandoned_folders, is_owned, own_folder, owner_of

HOLD = """
import sys, time
from pathlib import Path
from harness.ownership import own_folder
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


def test_a_missing_lock_has_no_owner(tmp_path: Path) -> None:
    assert not is_owned(tmp_path / "none")


def test_folders_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "somebody-elses").mkdir()
    assert abandoned_folders(tmp_path) == [] and abandoned_folders(tmp_path / "missing") == []
