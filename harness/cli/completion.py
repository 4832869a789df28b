"""Completion in a shell answers from outlines of the commands, which are kept: importing a command takes too long.

An outline holds names and types of a command's options and arguments. It is made when a shell first asks for the
command, and again when any file of the harness has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from harness.base.files import write_atomic
from harness.base.layout import Layout, find_layout
from harness.cli import names

_KINDS = {id(value): word for word, value in vars(names).items() if isinstance(value, names.Name)}


def outlined(word: str, load: Callable[[], click.Command]) -> click.Command:
    """A stand-in for a command, for completion alone; `load` imports the command if its outline is not here."""
    layout = find_layout()
    folder = layout.cache / "completion" / _stamp(Path(__file__).parents[1])
    path = folder / f"{word}.json"
    try:
        return stand_in(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        outline = outline_of(word, load())
    _keep(layout, path, json.dumps(outline))
    return stand_in(outline)


def outline_of(word: str, command: click.Command) -> dict[str, Any]:
    """What a shell must know of a command, as JSON values."""
    members = command.commands if isinstance(command, click.Group) else {}
    return {
        "name": word,
        "help": command.get_short_help_str(),
        "params": [_param_outline(param) for param in command.params],
        "members": [outline_of(name, member) for name, member in members.items()],
    }


def stand_in(outline: dict[str, Any]) -> click.Command:
    """A command that can be completed, and not run."""
    params: list[click.Parameter] = [_param(one) for one in outline["params"]]
    if not outline["members"]:
        return click.Command(outline["name"], params=params, short_help=outline["help"])
    members = {one["name"]: stand_in(one) for one in outline["members"]}
    return click.Group(outline["name"], params=params, short_help=outline["help"], commands=members)


def _param_outline(param: click.Parameter) -> dict[str, Any]:
    common = {"name": param.name, "nargs": param.nargs, "type": _type_outline(param.type)}
    if not isinstance(param, click.Option):
        return common
    return common | {
        "opts": param.opts,
        "secondary": param.secondary_opts,
        "help": param.help or "",
        "multiple": param.multiple,
        "flag": param.is_flag,
    }


def _param(outline: dict[str, Any]) -> click.Parameter:
    kind, name, nargs = _type(outline["type"]), outline["name"], outline["nargs"]
    if "opts" not in outline:
        return click.Argument([name], type=kind, nargs=nargs, required=False)
    spelled = [name, *outline["opts"]]
    if outline["flag"]:
        both = f"{outline['opts'][0]}/{outline['secondary'][0]}" if outline["secondary"] else ""
        return click.Option([name, both] if both else spelled, is_flag=True, help=outline["help"])
    return click.Option(spelled, type=kind, nargs=nargs, multiple=outline["multiple"], help=outline["help"])


def _type_outline(kind: click.ParamType[Any]) -> dict[str, Any]:
    if id(kind) in _KINDS:
        # metrics are part of the code, and its outline changes with it
        known = kind.known() if kind is names.METRIC else None
        return {"name": _KINDS[id(kind)], "known": known}
    if isinstance(kind, click.Choice):
        return {"choices": [str(one) for one in kind.choices]}
    if isinstance(kind, click.Path):
        return {"path": "folders" if not kind.file_okay else "files"}
    return {}


def _type(outline: dict[str, Any]) -> click.ParamType[Any]:
    if "choices" in outline:
        return click.Choice(outline["choices"], case_sensitive=False)
    if "path" in outline:
        return click.Path(file_okay=outline["path"] == "files")
    if "name" not in outline:
        return click.STRING
    if (known := outline["known"]) is not None:
        return names.Name(outline["name"].lower(), lambda layout: known)
    kind: click.ParamType[Any] = getattr(names, outline["name"])
    return kind


def _stamp(package: Path) -> str:
    """A digest that changes when any file of the harness does."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(package):
        folders[:] = [one for one in folders if one != "__pycache__"]
        for name in files:
            if name.endswith(".py"):
                about = os.stat(f"{folder}/{name}")  # noqa: PTH116 a Path for each of some hundred files takes twice the time
                digest.update(f"{folder}/{name} {about.st_mtime_ns} {about.st_size}\n".encode())
    return digest.hexdigest()[:16]


def _keep(layout: Layout, path: Path, text: str) -> None:
    """Keep an outline, and no older ones. Where nothing can be written, the next one is made again."""
    try:
        write_atomic(path, text)
    except OSError:
        return
    for folder in (layout.cache / "completion").iterdir():
        if folder != path.parent:
            shutil.rmtree(folder, ignore_errors=True)
