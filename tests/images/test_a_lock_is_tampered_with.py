from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ImageError, ManifestError
from harness.images import image_tree
from harness.images.locks import DebianPackage, Wheel, format_debian, format_wheels, read_debian, read_wheels
from harness.images.record import recorded_tree
from tests.images.making import Workbench

SHA = "a" * 64
words = st.text("abcdefghijklmnopqrstuvwxyz0123456789+.-", min_size=1, max_size=12)


@given(st.dictionaries(words, st.tuples(words, st.integers(0, 10**9)), min_size=1))
def test_a_debian_lock_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[str, tuple[str, int]]
) -> None:
    packages = [DebianPackage(n, v, "amd64", size, SHA, f"pool/{n}.deb") for n, (v, size) in rows.items()]
    path = tmp_path_factory.mktemp("lock") / "debian.lock"
    path.write_text(format_debian(packages, name="x"))
    assert read_debian(path) == sorted(packages)


def test_a_wheel_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    wheels = [
        Wheel("numpy", "2.4.6", SHA, "numpy-2.4.6-cp311.whl"),
        Wheel("pip", "26.3", SHA, "pip-26.3.whl", True),
    ]
    path = tmp_path / "wheels.cpu.lock"
    path.write_text(format_wheels(wheels, name="x"))
    assert read_wheels(path) == wheels


def test_a_wheel_lock_keeps_sizes_and_is_read_without_them(tmp_path: Path) -> None:
    wheels = [
        Wheel("libmf", "0.9", SHA, "libmf-0.9.tar.gz", flags="-O2 -g0", size=20),
        Wheel("numpy", "2.4.6", SHA, "numpy-2.4.6-cp311.whl"),
        Wheel("pip", "26.3", SHA, "pip-26.3.whl", True, size=10),
    ]
    path = tmp_path / "wheels.cpu.lock"
    path.write_text(format_wheels(wheels, name="x"))
    assert read_wheels(path) == wheels
    assert [wheel.part.size for wheel in read_wheels(path)] == [20, None, 10]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"a 1 amd64 10 {SHA}", "six fields"),
        (f"a 1 amd64 ten {SHA} pool/a.deb", "six fields"),
        ("a 1 amd64 10 abc pool/a.deb", "six fields"),
        (f"a 1 amd64 10 {'g' * 64} pool/a.deb", "six fields"),
        (f"a 1 amd64 10 {'A' * 64} pool/a.deb", "six fields"),
        (f"a 1 amd64 10 {SHA} http://example.org/a.deb", "relative"),
        (f"a 1 amd64 10 {SHA} /etc/passwd", "relative"),
        (f"a 1 amd64 10 {SHA} ../../etc/passwd", "relative"),
    ],
)
def test_a_line_that_is_not_whole_is_refused_with_its_number(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "debian.lock"
    path.write_text(f"# head\n{line}\n")
    with pytest.raises(ManifestError, match=why) as caught:
        read_debian(path)
    assert f"{path}: line 2" in str(caught.value)


def test_a_wheel_without_a_hash_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wheels.cpu.lock"
    path.write_text("numpy==2.4.6  # numpy-2.4.6.whl\n")
    with pytest.raises(ManifestError, match="expected NAME==VERSION"):
        read_wheels(path)


@pytest.mark.parametrize("sha256", ["abc", "g" * 64, "A" * 64, "a" * 63, "a" * 65])
def test_a_wheel_whose_hash_is_none_is_refused(tmp_path: Path, sha256: str) -> None:
    path = tmp_path / "wheels.cpu.lock"
    path.write_text(f"numpy==2.4.6 --hash=sha256:{sha256}  # numpy-2.4.6.whl\n")
    with pytest.raises(ManifestError, match="line 1"):
        read_wheels(path)


def test_a_package_locked_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "debian.lock"
    path.write_text(f"a 1 amd64 10 {SHA} pool/a.deb\na 2 amd64 10 {SHA} pool/b.deb\n")
    with pytest.raises(ManifestError, match="locked twice: a"):
        read_debian(path)


def test_a_missing_lock_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="harness image lock"):
        read_debian(tmp_path / "toy" / "debian.lock")


@pytest.mark.parametrize("name", ["_base", "_python", "_numpy"])
def test_a_changed_lock_makes_every_tree_above_it_unknown(bench: Workbench, name: str) -> None:
    layout = bench.layout
    assert recorded_tree(layout, "als_wr")
    lock = next((layout.containers / name).glob("*.lock"))
    lock.write_text(lock.read_text().replace("3", "4", 1))
    with pytest.raises(ImageError, match=f"'{name}' has locks that changed"):
        recorded_tree(layout, "als_wr")


def test_a_parent_that_was_recorded_anew_is_noticed(bench: Workbench) -> None:
    path = bench.layout.containers / "_base" / "tree.toml"
    text = path.read_text()
    tree = text.split('tree = "')[1][:64]
    path.write_text(text.replace(tree, "0" * 64))
    with pytest.raises(ImageError, match="'_python' extends an environment that changed"):
        recorded_tree(bench.layout, "als_wr")


def test_an_unrecorded_environment_says_so(bench: Workbench) -> None:
    bench.debian("toy", {"./etc/toy": b"1"})
    with pytest.raises(ImageError, match="never built and recorded") as caught:
        image_tree(bench.layout, "toy")
    assert "--record" in str(caught.value)
