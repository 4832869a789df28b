"""What apt and uv answer becomes lines of a lock; what is said while parts are fetched; what is no source text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.errors import ImageError, ManifestError, UsageError
from harness.base.layout import Layout
from harness.base.progress import Progress
from harness.images.debian import Apt
from harness.images.fetch import few_notes
from harness.images.identity import code_folders
from harness.images.locks import Part
from harness.images.preparation import overview
from harness.images.sources import MOST_BYTES, _check_source
from harness.images.verify import ImageFinding
from harness.images.wheels import _wheel
from tests.fabricate import copy_repository

INSTALLED = """NOTE: This is only a simulation!
Inst libb:amd64 (2:1.5-1 Debian:12 [amd64])
Inst a [1.0] (1.2 Debian:12 [all])
Conf a (1.2 Debian:12 [all])
"""
SHOWN = """Package: a
Version: 1.2
Architecture: all
Essential: yes
Size: 12
SHA256: {0}
Filename: pool/main/a/a_1.2_all.deb
Pre-Depends: libb (>= 2:1)
Depends: c | d (<< 3), e:any
Provides: f (= 1), g

Package: libb
Version: 2:1.5-1
Architecture: amd64
Essential: no
Size: 34
SHA256: {1}
Filename: pool/main/b/libb_1.5-1_amd64.deb

"""


class Answers(Apt):
    """An apt that answers what it was told to."""

    def __init__(self, installed: str) -> None:
        self.installed, self.asked = installed, list[tuple[str, ...]]()

    def _run(self, program: str, *arguments: str) -> str:
        self.asked.append((program, *arguments))
        return self.installed if program == "apt-get" else SHOWN.format("1" * 64, "2" * 64)


def test_what_apt_would_install_is_asked_for_and_read_in_its_order() -> None:
    apt = Answers(INSTALLED)
    second, first = apt.solve(["a"])
    assert apt.asked == [
        ("apt-get", "install", "--simulate", "-y", "a"),
        ("apt-cache", "show", "--no-all-versions", "libb:amd64=2:1.5-1", "a=1.2"),
    ]
    package = first.package
    assert (package.name, package.version, package.architecture, package.size, package.sha256, package.path) == (
        "a",
        "1.2",
        "all",
        12,
        "1" * 64,
        "pool/main/a/a_1.2_all.deb",
    )
    assert first.essential and first.provides == ("f", "g")
    assert first.depends == (("libb",), ("c", "d"), ("e",))
    assert (second.package.name, second.package.version, second.package.size) == ("libb", "2:1.5-1", 34)
    assert (second.essential, second.provides, second.depends) == (False, (), ())


def test_nothing_to_install_is_a_fault_of_the_request() -> None:
    with pytest.raises(ManifestError, match="apt finds nothing to install") as caught:
        Answers("NOTE: This is only a simulation!\n").solve(["a", "b"])
    assert caught.value.where == "debian.packages = ['a', 'b']"


def package_of(*wheels: dict[str, Any]) -> dict[str, object]:
    return {"name": "torch", "version": "2.0+cpu", "wheels": list(wheels)}


@pytest.mark.parametrize(("size", "installer"), [(1234, "uv"), (None, "torch")])
def test_a_wheel_of_uvs_lock_is_one_of_ours(size: int | None, installer: str) -> None:
    told: dict[str, Any] = {"url": "https://host/a/torch-2.0%2Bcpu-py3.whl", "hashes": {"sha256": "3" * 64}}
    told |= {} if size is None else {"size": size}
    wheel = _wheel(package_of(told, {"url": "another"}), installer, "where")
    assert (wheel.name, wheel.version, wheel.sha256) == ("torch", "2.0+cpu", "3" * 64)
    assert (wheel.file, wheel.size) == ("torch-2.0+cpu-py3.whl", size)
    assert wheel.installer == (installer == "torch")


def test_a_package_without_a_wheel_is_refused() -> None:
    with pytest.raises(UsageError, match=r"torch 2\.0\+cpu has no wheel for"):
        _wheel(package_of(), "uv", "where")


@pytest.mark.parametrize(
    ("total", "noted"),
    [
        (1, ["fetched 1 of 1 part"]),
        (2, ["fetched 1 of 2 parts", "fetched 2 of 2 parts"]),
        (5, ["fetched 1 of 5 parts", "fetched 5 of 5 parts"]),
    ],
)
def test_of_many_parts_the_first_and_the_last_are_noted(total: int, noted: list[str]) -> None:
    notes: list[str] = []
    tell = few_notes(cast(Progress, SimpleNamespace(note=notes.append)))
    for done in range(1, total + 1):
        tell(done, total, cast(Part, None))
    assert notes == noted


def fifo(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("name", "make", "why"),
    [
        ("pipe.py", fifo, "is no regular file"),
        ("folder.py", Path.mkdir, "is no regular file"),
        ("data.bin", lambda path: path.write_bytes(b"text"), "is no source file ("),
        (
            "large.py",
            lambda path: path.write_bytes(b"#" * (MOST_BYTES + 1)),
            f"has {MOST_BYTES + 1} bytes, more than",
        ),
        ("latin.py", lambda path: path.write_bytes(b"# \xe9"), "is not UTF-8 text"),
        ("zero.py", lambda path: path.write_bytes(b"# \0"), "holds a zero byte, so it is no text"),
    ],
)
def test_what_is_no_source_text_is_told_by_its_path(tmp_path: Path, name: str, make: Any, why: str) -> None:
    make(tmp_path / name)
    with pytest.raises(ImageError) as caught:
        _check_source(tmp_path / name)
    assert caught.value.what.startswith(f"what an image would be made of {why}")
    assert caught.value.where == str(tmp_path / name)


def test_source_text_of_any_length_up_to_the_bound_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    for content in (b"", "é = 1\n".encode(), b"#" * MOST_BYTES):
        path.write_bytes(content)
        _check_source(path)


@pytest.mark.parametrize("shared", [False, True])
def test_of_what_lies_beside_a_method_no_two_files_have_one_name(
    repository: Layout, tmp_path: Path, shared: bool
) -> None:
    """All of it lies in one folder of the image, the SDK's core among it."""
    layout = copy_repository(repository, tmp_path)
    layout = Layout(layout.root, repository.cache, tmp_path / "local")
    core, *others = code_folders(layout, "mlp")[1:]
    assert core == layout.methods / "_sdk" / "python" and others
    name = next(path.name for path in core.glob("*.py"))
    own = layout.methods / "mlp" / name
    if not shared:
        # a method's own files lie in another folder
        own.write_text("")
        assert code_folders(layout, "mlp")[0] == own.parent
        return
    place = next(folder for folder in others if folder.is_relative_to(layout.methods))
    (place / name).write_text("")
    with pytest.raises(ImageError, match=f"two shared folders of method 'mlp' hold a file called {name}"):
        code_folders(layout, "mlp")


def test_environments_that_methods_share_are_listed_first(repository: Layout) -> None:
    rows = overview(repository)
    kinds = [row["kind"] for row in rows]
    assert kinds == sorted(kinds) and set(kinds) == {"environment", "method"}
    for kind in ("environment", "method"):
        names: Sequence[str] = [row["name"] for row in rows if row["kind"] == kind]
        assert list(names) == sorted(names) and names
    assert {row["variant"] for row in rows} == {"cpu"}


def test_a_finding_says_whether_it_holds() -> None:
    sound = ImageFinding("bnnr", "tree", "as recorded")
    assert sound.as_json() == {
        "image": "bnnr",
        "check": "tree",
        "detail": "as recorded",
        "fault": "",
        "seconds": 0.0,
        "ok": True,
    }
    assert ImageFinding("bnnr", "tree", "", "another", 1.5).as_json()["ok"] is False
