"""conda-lock as a lock back end: an `environment.yml` becomes exact packages by sha256.

The lock is conda-lock's own file, kept as JSON (which is YAML), with addresses below their channels, so that it
names no host and no folder of the system it was made on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.base.errors import ManifestError, UsageError
from harness.base.files import sha256_of
from harness.images.cards import CondaPart, Environment
from harness.images.locks import Part, missing_lock

MIRROR = "PERMAFROST_CONDA_MIRROR"
_LISTS = "channels", "dependencies"


def lock_conda(environment: Environment) -> str:
    """The text of conda.lock: an environment.yml as conda-lock solves it."""
    request = environment.card.conda
    assert request is not None  # only called for environments with a [conda] table
    if find_spec("conda_lock") is None or find_spec("rattler") is None:
        raise UsageError(
            "locking a conda environment needs conda-lock and py-rattler",
            todo="install this package's extra: pip install 'permafrost[lock]'",
        )
    path = environment.folder / request.environment
    root = channel_roots()[0].rstrip("/") + "/"
    channels = _channels(path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        front = folder / "conda"
        front.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness.images.conda_front "$@"\n')
        front.chmod(0o755)
        lockfile = folder / "solved.yml"
        command = [
            *(sys.executable, "-m", "conda_lock", "lock", "--conda", str(front), "--without-cuda"),
            *("--file", str(path), "--platform", request.platform, "--lockfile", str(lockfile)),
            *(option for channel in channels for option in ("--channel", root + channel)),
        ]
        package_root = str(Path(__file__).resolve().parents[2])
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join([package_root, os.environ.get("PYTHONPATH", "")])}
        result = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=variables)
        if result.returncode != 0:
            raise UsageError(
                f"conda-lock found no solution:\n{(result.stderr or result.stdout).strip()[-2000:]}",
                where=str(path),
                todo=f"relax the environment, or check the channels below {root}",
            )
        solution: dict[str, Any] = import_module("yaml").safe_load(lockfile.read_text())
    return _relative(solution, root, channels, path, request)


def read_conda(path: Path) -> list[Part]:
    """The packages of a conda.lock."""
    if not path.is_file():
        raise missing_lock(path, path.parent.name)
    try:
        packages = json.loads(path.read_text(encoding="utf-8"))["package"]
        parts = [_part(package) for package in packages]
    except (ValueError, KeyError, TypeError) as error:
        raise ManifestError(
            f"not a conda.lock: {error!r}",
            where=str(path),
            todo=f"restore the file, or make it again with `harness image lock {path.parent.name}`",
        ) from None
    return parts


def channel_roots() -> list[str]:
    """Where channels lie: $PERMAFROST_CONDA_MIRROR (a URL or a folder), else where conda's own clients look."""
    mirror = os.environ.get(MIRROR, "")
    if mirror:
        return [mirror if "://" in mirror else Path(mirror).absolute().as_uri()]
    if find_spec("rattler") is None:
        return []
    name = "conda-forge"
    return [str(import_module("rattler").Channel(name).base_url).rstrip("/").removesuffix(name)]


def _channels(path: Path) -> list[str]:
    yaml = import_module("yaml")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ManifestError("an environment file is missing", where=str(path), todo="write it") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        content = None
    if not isinstance(content, dict) or not all(isinstance(content.get(name) or [], list) for name in _LISTS):
        raise ManifestError(
            "this is no environment of conda", where=str(path), todo="write `channels` and `dependencies`"
        )
    if any(isinstance(item, dict) for item in content.get("dependencies") or []):
        raise ManifestError(
            "packages of pip inside a conda environment are not supported",
            where=f"{path}: dependencies",
            todo="ask for them in a [wheels] table of an environment of their own",
        )
    channels = [str(channel) for channel in content.get("channels") or []]
    if not channels or any("/" in channel and "://" in channel for channel in channels):
        raise ManifestError(
            "channels must be names",
            where=f"{path}: channels",
            todo=f"name them; ${MIRROR} says where they lie",
        )
    return channels


def _relative(solution: dict[str, Any], root: str, channels: list[str], path: Path, request: CondaPart) -> str:
    packages = []
    for package in solution["package"]:
        address = str(package["url"])
        if not address.startswith(root):
            todo = f"name channels that all lie in one place (${MIRROR})"
            raise UsageError(f"conda-lock chose a package outside {root}: {address}", where=str(path), todo=todo)
        packages.append({**package, "url": address.removeprefix(root)})
    metadata = {
        "channels": [{"url": channel, "used_env_vars": []} for channel in channels],
        "content_hash": {request.platform: sha256_of(path)},
        "platforms": [request.platform],
        "sources": [request.environment],
    }
    lock = {"version": solution["version"], "metadata": metadata, "package": packages}
    return json.dumps(lock, indent=1, sort_keys=True) + "\n"


def _part(package: dict[str, Any]) -> Part:
    if package["manager"] != "conda":
        raise ValueError(f"{package['name']} is not a conda package")
    address, sha256 = str(package["url"]), str(package["hash"]["sha256"])
    if "://" in address or address.startswith(("/", ".")) or len(sha256) != 64:
        raise ValueError(f"{package['name']} has no address below a channel, or no sha256")
    return Part("conda", address.rsplit("/", 1)[-1], sha256, None, address)
