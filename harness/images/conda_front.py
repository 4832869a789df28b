"""A conda command just large enough for conda-lock, over py-rattler's solver, so that no conda need be installed.

conda-lock asks it to solve (`create --dry-run --json`) and reads which packages it would fetch and link.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from importlib import import_module
from typing import Any

# What conda-lock wants to read; it decides by it which options it may use.
_VERSION = "24.11.0"


def main(arguments: list[str]) -> str:
    """The answer to one call of conda-lock."""
    if arguments[:1] in (["--version"], ["-V"]):
        return f"conda {_VERSION}"
    if arguments[:1] == ["info"]:
        return json.dumps({"conda_version": _VERSION, "pkgs_dirs": []})
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--prefix")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--channel", "-c", action="append", default=[])
    options, rest = parser.parse_known_args(arguments)
    if options.command != "create" or not options.dry_run:
        raise SystemExit(f"only `create --dry-run` is known, not: {' '.join(arguments)}")
    specifications = [text for text in rest if not text.startswith("-")]
    platform = os.environ.get("CONDA_SUBDIR", "linux-64")
    records = asyncio.run(_solve(options.channel, specifications, platform))
    actions = {"FETCH": [_fetch(record) for record in records], "LINK": [_link(record) for record in records]}
    return json.dumps({"success": True, "dry_run": True, "actions": actions})


async def _solve(channels: list[str], specifications: list[str], platform: str) -> list[Any]:
    rattler = import_module("rattler")
    records: list[Any] = await rattler.solve(
        sources=channels, specs=specifications, platforms=[platform, "noarch"], virtual_packages=[]
    )
    return records


def _fetch(record: Any) -> dict[str, Any]:
    return {
        "name": record.name.normalized,
        "version": str(record.version),
        "build": str(record.build),
        "channel": str(record.channel),
        "fn": record.file_name,
        "url": str(record.url),
        "md5": record.md5.hex() if record.md5 else None,
        "sha256": record.sha256.hex() if record.sha256 else None,
        "size": record.size,
        "subdir": record.subdir,
        "timestamp": 0,
        "depends": list(record.depends),
        "constrains": list(record.constrains),
    }


def _link(record: Any) -> dict[str, Any]:
    return {
        **_fetch(record),
        "dist_name": f"{record.name.normalized}-{record.version}-{record.build}",
        "base_url": str(record.url).rsplit("/", 2)[0],
        "platform": record.subdir,
        "build_number": 0,
        "build_string": str(record.build),
    }


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]) + "\n")
    sys.stdout.flush()
    # The solver's threads can crash the interpreter while it ends.
    os._exit(0)
