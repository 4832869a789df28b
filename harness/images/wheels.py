"""Wheels: a requirement becomes one exact file per package, found by uv and fetched by the user's own pip."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlparse

from harness.errors import MissingData, UsageError
from harness.images.cards import WheelsPart
from harness.images.locks import Wheel

# The newest glibc that Debian bookworm has.
PLATFORM = "x86_64-manylinux_2_36"


def lock_wheels(asked: WheelsPart, more: Sequence[str], *, where: str) -> list[Wheel]:
    """Resolve requirements for a Linux machine of the given Python; only wheels, never a source archive."""
    if find_spec("uv") is None:
        raise UsageError(
            "locking wheels needs uv", todo="install this package's extra: pip install 'permafrost[lock]'"
        )
    with tempfile.TemporaryDirectory() as folder:
        wanted, out = Path(folder) / "requirements.in", Path(folder) / "pylock.toml"
        wanted.write_text("\n".join([*asked.requirements, *more, asked.installer]) + "\n")
        command = [
            *(sys.executable, "-m", "uv", "pip", "compile", str(wanted), "-o", str(out), "--quiet"),
            *("--format", "pylock.toml", "--only-binary", ":all:", "--no-sources"),
            *("--python-version", asked.python, "--python-platform", PLATFORM),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise UsageError(
                f"uv finds no set of wheels that meets the requirements:\n{done.stderr.strip()}",
                where=where,
                todo="relax the requirements, or check the network and uv's index settings",
            )
        found = tomllib.loads(out.read_text())["packages"]
    installer = asked.installer.split("=")[0].split("<")[0].split(">")[0].strip()
    return [_wheel(package, installer, where) for package in found]


def _wheel(package: dict[str, object], installer: str, where: str) -> Wheel:
    wheels = package.get("wheels")
    if not isinstance(wheels, list) or not wheels:
        raise UsageError(
            f"{package['name']} {package['version']} has no wheel for {PLATFORM}",
            where=where,
            todo="ask for a version that has one",
        )
    wheel = wheels[0]
    location = urlparse(str(wheel.get("url") or wheel.get("path")))
    name = str(package["name"])
    return Wheel(
        name=name,
        version=str(package["version"]),
        sha256=str(wheel["hashes"]["sha256"]),
        file=unquote(PurePosixPath(location.path).name),
        installer=name == installer,
    )


def pip_download(name: str, wheel_file: str, requirement: str, folder: Path) -> Path:
    """Let the user's pip, with its own index, proxy and certificate settings, put one wheel into `folder`."""
    interpreter, abi, platforms = wheel_file.removesuffix(".whl").split("-")[-3:]
    version = interpreter.split(".")[-1].removeprefix("cp").removeprefix("py")
    lines = folder / "requirement.txt"
    lines.write_text(requirement + "\n")
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
        *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(folder)),
        *("--python-version", version if len(version) > 1 else "3.11", "--implementation", interpreter[:2]),
        *(option for tag in abi.split(".") for option in ("--abi", tag)),
        *(option for tag in platforms.split(".") for option in ("--platform", tag)),
        *("--requirement", str(lines)),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    found = folder / wheel_file
    if done.returncode != 0 or not found.is_file():
        raise MissingData(
            f"pip can't download {wheel_file}: {_last_line(done.stderr)}",
            where="the indexes of this system's pip configuration",
            todo=f"check `pip config list` and the network, or give a folder that holds it: --mirror DIR ({name})",
        )
    return found


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason was given"
