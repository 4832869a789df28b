"""What is read once, until the file changes that it was read from.

`load_named` and `checksum` remember by a simpler rule of their own: scores depend on their
modules, whose digests no change for speed may touch.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel

from harness.base.manifests import load_toml

FileState = tuple[int, int, int, int]
_SETTLED_NS = 100_000_000
Model = TypeVar("Model", bound=BaseModel)


def state_of(path: Path) -> FileState:
    """What is another after every change: size, time of the change, and inode.

    The time is that which nobody can set. File systems count it in milliseconds: a file that has just been changed
    may be changed again within the same one, so it never has the same state twice.
    """
    about, now = path.stat(), time.time_ns()
    is_settled = about.st_ctime_ns + _SETTLED_NS < now
    return about.st_size, about.st_ctime_ns, about.st_ino, 0 if is_settled else time.perf_counter_ns()


def load_toml_once(path: Path, model: type[Model]) -> Model:
    """As `load_toml`, for what many ask for: nobody may change what is returned."""
    return cast(Model, _load(path, model, state_of(path)))


@cache
def _load(path: Path, model: type[BaseModel], _state: FileState) -> BaseModel:
    return load_toml(path, model)
