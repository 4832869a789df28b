"""What a build is given, file by file, and what its first root file system holds."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from harness.images import context
from harness.images.cards import (
    AcceleratorPart,
    CondaPart,
    DebianPart,
    Environment,
    WheelsPart,
)
from harness.images.locks import DebianPackage, Wheel, format_debian, format_wheels
from harness.images.stage0 import EXCLUDED, is_excluded, merged, write_stage0
from tests.images.making import EPOCH, make_deb, tar_of
from tests.images.programs import SHA
from tests.images.site import Site, sha_of


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


ALWAYS = {
    "permafrost-context.dockerfile": b"FROM scratch",
    "recipe/": b"",
    "recipe/packages.sh": b"recipe",
    "limits.txt": b"3600 8388608 16777216\n",
    "debs/": b"",
    "wheels/": b"",
    "sources/": b"",
    "conda/": b"",
    "requirements.txt": b"",
    "sources.txt": b"",
    "installed.txt": b"\n",
}


def base_of(site: Site) -> tuple[Environment, Path]:
    deb = make_deb(site.folder, "one", {"./etc/": b"", "./etc/one": b"1"})
    environment = site.environment("_base", epoch=EPOCH, debian=DebianPart(packages=["one"]))
    sha256 = site.store(deb.read_bytes())
    packages = [DebianPackage("one", "2:1.0", "all", 5, sha256, "pool/x/one_1.0_all.deb")]
    (environment.folder / "debian.lock").write_text(format_debian(packages, name="_base"))
    return environment, deb


def test_a_base_is_built_from_its_packages_and_a_first_root(site: Site, tmp_path: Path) -> None:
    environment, deb = base_of(site)
    files = site.fill(environment)
    write_stage0([deb], tmp_path / "stage0.tar", epoch=EPOCH)
    assert files == {
        **ALWAYS,
        "debs/one_1.0_all.deb": deb.read_bytes(),
        "installed.txt": b"one 2:1.0 all installed\n",
        "stage0.tar": (tmp_path / "stage0.tar").read_bytes(),
    }


def test_what_dpkg_must_report_is_said_once_and_sorted_by_its_bytes(site: Site, tmp_path: Path) -> None:
    chain = []
    for name, held in (("_base", ("zlib1g", "libc6", "a-x", "a")), ("_more", ("perl", "libc6", "a+x", "0ad"))):
        environment = site.environment(name, debian=DebianPart(packages=["a"]))
        packages = [DebianPackage(one, "1", "all", 5, SHA, f"pool/{one}.deb") for one in held]
        (environment.folder / "debian.lock").write_text(format_debian(packages, name=name))
        chain.append(environment)
    context.write_installed(chain, tmp_path / "installed.txt")
    assert (tmp_path / "installed.txt").read_text().splitlines() == [
        f"{name} 1 all installed" for name in ("0ad", "a", "a+x", "a-x", "libc6", "perl", "zlib1g")
    ]


@pytest.mark.parametrize("accelerator", ["cpu", "cuda"])
def test_a_layer_of_wheels_has_requirements_and_sources(site: Site, accelerator: Any) -> None:
    base, _ = base_of(site)
    variants: Any = {"cpu": AcceleratorPart(), "cuda": AcceleratorPart(compute_capabilities=["8.0"])}
    layer = site.environment("_wheels", extends="_base", wheels=WheelsPart(), variants=variants)
    for variant in ("cpu", "cuda"):
        contents = [f"{name} {variant}".encode() for name in ("b", "pip", "a", "s")]
        b, pip, a, s = (site.store(content) for content in contents)
        locked = [
            Wheel("b", "2", b, "b-2-py3-none-any.whl"),
            Wheel("pip", "9", pip, "pip-9-py3-none-any.whl", installer=True),
            Wheel("a", "1", a, "a-1-py3-none-any.whl", size=3),
            Wheel("s", "4", s, "s-4.tar.gz", flags="-O2 -g"),
        ]
        (layer.folder / f"wheels.{variant}.lock").write_text(format_wheels(locked, name="_wheels"))
    files = site.fill(base, layer, accelerator=accelerator)
    first, second = (f"{name} {accelerator}".encode() for name in ("a", "b"))
    assert files == {
        **ALWAYS,
        "wheels/a-1-py3-none-any.whl": first,
        "wheels/b-2-py3-none-any.whl": second,
        "wheels/pip-9-py3-none-any.whl": f"pip {accelerator}".encode(),
        "sources/s-4.tar.gz": f"s {accelerator}".encode(),
        "requirements.txt": (
            f"a==1 --hash=sha256:{sha_of(first)}\nb==2 --hash=sha256:{sha_of(second)}\n".encode()
        ),
        "sources.txt": b"s-4.tar.gz -O2 -g\n",
        "installed.txt": b"one 2:1.0 all installed\n",
    }


def test_a_layer_of_conda_packages_has_their_lock(site: Site) -> None:
    base, _ = base_of(site)
    layer = site.environment("_toys", extends="_base", conda=CondaPart())
    sha256 = site.store(b"package")
    lock = f'{{"package": [{{"manager": "conda", "url": "toys/x/a.conda", "hash": {{"sha256": "{sha256}"}}}}]}}'
    (layer.folder / "conda.lock").write_text(lock)
    assert site.fill(base, layer) == {
        **ALWAYS,
        "conda/a.conda": b"package",
        "conda.lock": lock.encode(),
        "installed.txt": b"one 2:1.0 all installed\n",
    }


def test_parts_are_linked_or_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("x")
    context.link(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").samefile(tmp_path / "a")

    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("harness.images.context.os.link", refuse)
    context.link(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "c").read_text() == "x" and not (tmp_path / "c").samefile(tmp_path / "a")


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_a_methods_code_has_the_same_modes_everywhere(site: Site, umask: int) -> None:
    old = os.umask(umask)
    try:
        method, core, shared, target = (site.folder / name for name in ("m", "core", "shared", "target"))
        for folder, name, mode in (
            (method, "main.py", 0o600),
            (method, "below/deep/tool.py", 0o744),
            (method, "notes.md", 0o644),
            (core, "core.py", 0o666),
            (shared, "more/x.py", 0o611),
        ):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
            (folder / name).chmod(mode)
        target.mkdir()
        context.fill_method_context(site.layout, method, [core, shared], target)
    finally:
        os.umask(old)
    found = {
        path.relative_to(target).as_posix(): (
            "" if path.is_dir() else path.read_text(),
            path.stat().st_mode & 0o777 if path.name != "permafrost-context.dockerfile" else 0,
        )
        for path in target.rglob("*")
    }
    assert found == {
        "permafrost-context.dockerfile": ("FROM scratch", 0),
        "sdk": ("", 0o755),
        "sdk/core.py": ("core.py", 0o644),
        "sdk/more": ("", 0o755),
        "sdk/more/x.py": ("more/x.py", 0o644),
        "method": ("", 0o755),
        "method/main.py": ("main.py", 0o644),
        "method/below": ("", 0o755),
        "method/below/deep": ("", 0o755),
        "method/below/deep/tool.py": ("below/deep/tool.py", 0o755),
    }


def test_what_was_built_is_required_in_order(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("z-1-py3.whl", "a_b-2.0-1-py3.whl")]
    for file in files:
        file.write_text(file.name)
    (tmp_path / "requirements.txt").write_text("x==1\n")
    context.require_built(tmp_path, files)
    digests = [sha_of(file.name.encode()) for file in files]
    assert (tmp_path / "requirements.txt").read_text() == (
        f"x==1\na_b==2.0 --hash=sha256:{digests[1]}\nz==1 --hash=sha256:{digests[0]}\n"
    )


# what the first root file system holds


def test_the_first_root_is_this_entry_by_entry(tmp_path: Path) -> None:
    old, new = EPOCH - 5, EPOCH + 5
    first = make_deb(tmp_path, "a", {})
    second = make_deb(tmp_path, "b", {})
    member = io.BytesIO()
    with tarfile.open(fileobj=member, mode="w") as archive:
        for name, kind, mode, link, mtime, content in (
            ("./", tarfile.DIRTYPE, 0o700, "", old, b""),
            ("./usr/", tarfile.DIRTYPE, 0o700, "", old, b""),
            ("./bin/tool", tarfile.REGTYPE, 0o4755, "", old, b"tool"),
            ("./bin/hard", tarfile.LNKTYPE, 0o4755, "./bin/tool", new, b""),
            ("./lib/soft", tarfile.SYMTYPE, 0o777, "bin/tool", new, b""),
            ("./usr/share/info/x", tarfile.REGTYPE, 0o644, "", old, b"x"),
            ("./srv/", tarfile.DIRTYPE, 0o1777, "", new, b""),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.linkname, entry.mtime = kind, mode, link, mtime
            entry.uid, entry.gid, entry.size = 7, 8, len(content)
            archive.addfile(entry, io.BytesIO(content))
    rewrite(first, member.getvalue())
    rewrite(second, tar_of({"./bin/tool": b"of another", "./etc/b": b"b"}))
    # in the order of the packages' names, and not of the files that they lie in
    first = first.rename(tmp_path / "z.deb")
    write_stage0([second, first], tmp_path / "out.tar", epoch=EPOCH)
    with tarfile.open(tmp_path / "out.tar") as archive:
        rows = []
        for info in archive:
            stream = archive.extractfile(info) if info.isreg() else None
            held = stream.read() if stream is not None else b""
            rows.append((info.name, info.type, info.mode, info.uid, info.gid, info.mtime, info.linkname, held))
    dirs, soft, file, hard = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.REGTYPE, tarfile.LNKTYPE
    names = "etc usr usr/bin usr/lib usr/lib64 usr/sbin var var/lib var/lib/dpkg var/lib/dpkg/info"
    empty = "etc/hostname etc/hosts etc/resolv.conf var/lib/dpkg/available var/lib/dpkg/status"
    assert rows == [
        *((name, dirs, 0o755, 0, 0, EPOCH, "", b"") for name in names.split()),
        *((name, soft, 0o777, 0, 0, EPOCH, f"usr/{name}", b"") for name in ("bin", "lib", "lib64", "sbin")),
        *((name, file, 0o644, 0, 0, EPOCH, "", b"") for name in empty.split()),
        ("usr/bin/tool", file, 0o4755, 7, 8, old, "", b"tool"),
        ("usr/bin/hard", hard, 0o4755, 7, 8, EPOCH, "usr/bin/tool", b""),
        ("usr/lib/soft", soft, 0o777, 7, 8, EPOCH, "bin/tool", b""),
        ("srv", dirs, 0o1777, 7, 8, EPOCH, "", b""),
        ("etc/b", file, 0o644, 0, 0, EPOCH, "", b"b"),
    ]


def rewrite(deb: Path, data: bytes) -> None:
    """Give a package other files."""
    content = deb.read_bytes()
    head = content[: content.index(b"data.tar.xz")]
    header = f"{'data.tar':16}{EPOCH:<12}{0:<6}{0:<6}{'100644':8}{len(data):<10}`\n".encode()
    deb.write_bytes(head + header + data)


@pytest.mark.parametrize("top", ["bin", "lib", "lib64", "sbin"])
def test_four_names_are_merged(top: str) -> None:
    assert (merged(f"./{top}/"), merged(f"{top}/a/b")) == (f"usr/{top}", f"usr/{top}/a/b")
    assert (merged(f"./{top}x/a"), merged(f"usr/{top}/a"), merged(f"./x/{top}")) == (
        f"{top}x/a",
        f"usr/{top}/a",
        f"x/{top}",
    )


def test_only_documentation_is_excluded() -> None:
    for kind in ("man", "info", "locale", "doc", "lintian"):
        assert is_excluded(f"usr/share/{kind}/x") and not is_excluded(f"usr/share/{kind}")
        assert not is_excluded(f"usr/share/{kind}x/y") and not is_excluded(f"opt/usr/share/{kind}/x")
    assert not is_excluded("usr/share/doc/a/copyright") and is_excluded("usr/share/doc/copyright")
    assert tuple(f"usr/share/{kind}/*" for kind in ("man", "info", "locale", "doc", "lintian")) == EXCLUDED
