"""Wheels: a requirement becomes one exact file per package, found by uv and fetched by the user's own pip.

Packages that exist only as source distributions are taken as that, by name, and become wheels during the build.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlparse

from harness.base.download import MOST_BYTES
from harness.base.errors import MissingData, UsageError
from harness.base.files import sha256_of
from harness.images.bounds import outgrew, run_bounded, too_long
from harness.images.cards import WheelsPart
from harness.images.locks import Part, Wheel

# The newest glibc that Debian bookworm has.
PLATFORM = "x86_64-manylinux_2_36"


def lock_wheels(asked: WheelsPart, more: Sequence[str], held: Sequence[Wheel], *, where: str) -> list[Wheel]:
    """Resolve requirements for a Linux machine of the given Python; only wheels, but for `from_source`.

    What parent environments hold keeps its version and is not locked again.
    """
    installer = asked.installer.split("=")[0].split("<")[0].split(">")[0].strip()
    locked = [_wheel(package, installer, where) for package in _resolved(asked, more, held, where)]
    # every build needs its installer at hand
    return [wheel for wheel in locked if wheel.installer or wheel not in held] + [
        _source(requirement, asked.flags) for requirement in asked.from_source
    ]


def _resolved(
    asked: WheelsPart, more: Sequence[str], held: Sequence[Wheel], where: str
) -> list[dict[str, object]]:
    """The packages of uv's lock. It builds nothing to find them: what has no wheel is refused."""
    if find_spec("uv") is None:
        raise UsageError(
            "locking wheels needs uv", todo="install this package's extra: pip install 'permafrost[lock]'"
        )
    with tempfile.TemporaryDirectory() as folder:
        wanted, out = Path(folder) / "requirements.in", Path(folder) / "pylock.toml"
        wanted.write_text("\n".join([*asked.requirements, *more, asked.installer]) + "\n")
        constraints, excludes = Path(folder) / "constraints.txt", Path(folder) / "excludes.txt"
        constraints.write_text("".join(f"{wheel.name}=={wheel.version}\n" for wheel in held))
        excludes.write_text("".join(f"{name}\n" for name in asked.left_out))
        command = [
            *(sys.executable, "-m", "uv", "pip", "compile", str(wanted), "-o", str(out), "--quiet"),
            *("--format", "pylock.toml", "--only-binary", ":all:", "--no-sources"),
            *("--python-version", asked.python, "--python-platform", PLATFORM),
            *("--constraints", str(constraints), "--excludes", str(excludes)),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise UsageError(
                f"uv finds no set of wheels that meets the requirements:\n{done.stderr.strip()}",
                where=where,
                todo="relax the requirements, or check the network and uv's index settings",
            )
        found: list[dict[str, object]] = tomllib.loads(out.read_text())["packages"]
    return found


def _source(requirement: str, flags: str) -> Wheel:
    """Whatever file the index gives for NAME==VERSION; its dependencies are not looked at."""
    name, _, version = requirement.partition("==")
    with tempfile.TemporaryDirectory() as folder:
        found = _copy_source(requirement, Path(folder))
        if not found.name.endswith(".tar.gz"):
            raise UsageError(
                f"the source distribution of {requirement} is {found.name}",
                where="from_source",
                todo="ask for a version that has a .tar.gz",
            )
        size, sha256 = found.stat().st_size, sha256_of(found)
        return Wheel(name=name, version=version, sha256=sha256, file=found.name, flags=flags, size=size)


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
        size=int(wheel["size"]) if "size" in wheel else None,
    )


def pip_download(part: Part, folder: Path) -> Path:
    """Let the user's pip, with its own index, proxy and certificate settings, put one file into `folder`.

    Nothing of a package runs: pip does not open a wheel it only downloads, and sources are not given to it.
    """
    folder.mkdir(exist_ok=True)
    if part.kind == "source":
        found = _copy_source(part.path, folder, part=part)
    else:
        _pip_download(part, folder)
        found = folder / part.file
    if found.name != part.file or not found.is_file() or sha256_of(found) != part.sha256:
        raise _not_there(part.file, "it gives another file")
    return found


def _copy_source(requirement: str, folder: Path, *, part: Part | None = None) -> Path:
    front = str(Path(__file__).with_name("pip_front.py"))
    only = ["--sha256", part.sha256] if part is not None else []
    # -P: the folder of that program holds modules with common names
    said = _bounded([sys.executable, "-P", front, *only, requirement, str(folder)], requirement, part)
    return folder / said.strip()


def _pip_download(part: Part, folder: Path) -> None:
    interpreter, abi, platforms = part.file.removesuffix(".whl").split("-")[-3:]
    version = interpreter.split(".")[-1].removeprefix("cp").removeprefix("py")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lines:
        lines.write(f"{part.path} --hash=sha256:{part.sha256}\n")
        lines.flush()
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
            *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(folder)),
            *("--python-version", version if len(version) > 1 else "3.11", "--implementation", interpreter[:2]),
            *(option for tag in abi.split(".") for option in ("--abi", tag)),
            *(option for tag in platforms.split(".") for option in ("--platform", tag)),
            *("--requirement", lines.name),
        ]
        _bounded(command, part.path, part)


def _bounded(command: Sequence[str], requirement: str, part: Part | None) -> str:
    size = part.size if part is not None else None
    most = MOST_BYTES if size is None else size
    done = run_bounded(command, most)
    if done.returncode != 0:
        why = too_long(most, locked=size is not None) if outgrew(done) else _last_line(done.stderr)
        raise _not_there(requirement, why)
    return done.stdout


def _not_there(name: str, why: str) -> MissingData:
    return MissingData(
        f"pip can't download {name}: {why}",
        where="the indexes of this system's pip configuration",
        todo="check `pip config list` and the network, or give a folder that holds it: --mirror DIR",
    )


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason was given"
