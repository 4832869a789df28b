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
from harness.base.logs import last_line
from harness.images.bounds import outgrew, run_bounded, too_long
from harness.images.cards import WheelsPart
from harness.images.locks import Part, Wheel

# The newest glibc that Debian bookworm has.
PLATFORM = "x86_64-manylinux_2_36"


def lock_wheels(request: WheelsPart, more: Sequence[str], parents: Sequence[Wheel], *, where: str) -> list[Wheel]:
    """The wheels that requirements come to for a Linux machine and Python; sources only for `from_source`.

    What `parents` (wheels of parent environments) hold keeps its version and is not locked again.
    """
    installer = request.installer.split("=")[0].split("<")[0].split(">")[0].strip()
    locked = [_wheel(package, installer, where) for package in _solution(request, more, parents, where)]
    # every build needs its installer at hand
    return [wheel for wheel in locked if wheel.installer or wheel not in parents] + [
        _source(requirement, request.flags) for requirement in request.from_source
    ]


def _solution(
    request: WheelsPart, more: Sequence[str], parents: Sequence[Wheel], where: str
) -> list[dict[str, object]]:
    """The packages of uv's lock. It builds nothing to find them: what has no wheel is refused."""
    if find_spec("uv") is None:
        raise UsageError(
            "locking wheels needs uv", todo="install this package's extra: pip install 'permafrost[lock]'"
        )
    with tempfile.TemporaryDirectory() as folder:
        requirements, lock = Path(folder) / "requirements.in", Path(folder) / "pylock.toml"
        requirements.write_text("\n".join([*request.requirements, *more, request.installer]) + "\n")
        constraints, excludes = Path(folder) / "constraints.txt", Path(folder) / "excludes.txt"
        constraints.write_text("".join(f"{wheel.name}=={wheel.version}\n" for wheel in parents))
        excludes.write_text("".join(f"{name}\n" for name in request.left_out))
        command = [
            *(sys.executable, "-m", "uv", "pip", "compile", str(requirements), "-o", str(lock), "--quiet"),
            *("--format", "pylock.toml", "--only-binary", ":all:", "--no-sources"),
            *("--python-version", request.python, "--python-platform", PLATFORM),
            *("--constraints", str(constraints), "--excludes", str(excludes)),
        ]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise UsageError(
                f"uv finds no set of wheels that meets the requirements:\n{result.stderr.strip()}",
                where=where,
                todo="relax the requirements, or check the network and uv's index settings",
            )
        packages: list[dict[str, object]] = tomllib.loads(lock.read_text())["packages"]
    return packages


def _source(requirement: str, flags: str) -> Wheel:
    """Whatever file the index gives for NAME==VERSION; its dependencies are not looked at."""
    name, _, version = requirement.partition("==")
    with tempfile.TemporaryDirectory() as folder:
        file = _copy_source(requirement, Path(folder))
        if not file.name.endswith(".tar.gz"):
            raise UsageError(
                f"the source distribution of {requirement} is {file.name}",
                where="from_source",
                todo="ask for a version that has a .tar.gz",
            )
        size, sha256 = file.stat().st_size, sha256_of(file)
        return Wheel(name=name, version=version, sha256=sha256, file=file.name, flags=flags, size=size)


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
    """One file in `folder`, downloaded by the user's pip with its own index, proxy and certificate settings.

    Nothing of a package runs: pip does not open a wheel it only downloads, and sources are not given to it.
    """
    folder.mkdir(exist_ok=True)
    if part.kind == "source":
        file = _copy_source(part.path, folder, part=part)
    else:
        _pip_download(part, folder)
        file = folder / part.file
    if file.name != part.file or not file.is_file() or sha256_of(file) != part.sha256:
        raise _not_there(part.file, "it gives another file")
    return file


def _copy_source(requirement: str, folder: Path, *, part: Part | None = None) -> Path:
    front = str(Path(__file__).with_name("pip_front.py"))
    only = ["--sha256", part.sha256] if part is not None else []
    # -P: the folder of that program holds modules with common names
    output = _output_of([sys.executable, "-P", front, *only, requirement, str(folder)], requirement, part)
    return folder / output.strip()


def _pip_download(part: Part, folder: Path) -> None:
    interpreter, abi, platforms = part.file.removesuffix(".whl").split("-")[-3:]
    version = interpreter.split(".")[-1].removeprefix("cp").removeprefix("py")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lines:
        lines.write(f"{part.path} --hash=sha256:{part.sha256}\n")
        lines.flush()
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
            # an index's page, kept by pip, may be longer than the file that no file may outgrow
            *("--no-cache-dir", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(folder)),
            *("--python-version", version if len(version) > 1 else "3.11", "--implementation", interpreter[:2]),
            *(option for tag in abi.split(".") for option in ("--abi", tag)),
            *(option for tag in platforms.split(".") for option in ("--platform", tag)),
            *("--requirement", lines.name),
        ]
        _output_of(command, part.path, part)


def _output_of(command: Sequence[str], requirement: str, part: Part | None) -> str:
    size = part.size if part is not None else None
    most = MOST_BYTES if size is None else size
    result = run_bounded(command, most)
    if result.returncode != 0:
        why = too_long(most, locked=size is not None) if outgrew(result) else last_line(result.stderr)
        raise _not_there(requirement, why)
    return result.stdout


def _not_there(name: str, why: str) -> MissingData:
    return MissingData(
        f"pip can't download {name}: {why}",
        where="the indexes of this system's pip configuration",
        todo="check `pip config list` and the network, or give a folder that holds it: --mirror DIR",
    )
