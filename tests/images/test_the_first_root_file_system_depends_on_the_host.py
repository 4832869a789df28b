from __future__ import annotations

import gzip
import io
import lzma
import random
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest

from harness.base.errors import CorruptData
from harness.images.deb import open_data, read_control
from harness.images.stage0 import is_excluded, merged, write_stage0
from tests.images.making import EPOCH, ar_member, make_deb, tar_of

FILES: dict[str, bytes | str] = {
    "./": b"",
    "./bin/": b"",
    "./bin/tool": b"#!/bin/sh\n",
    "./lib64/ld.so": "../lib/x/ld.so",
    "./usr/share/doc/one/changelog.gz": b"long",
    "./usr/share/doc/one/copyright": b"terms",
    "./usr/share/man/man1/tool.1": b"how",
    "./etc/one": b"1",
}


def _names(path: Path) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(path) as archive:
        return {info.name: info for info in archive}


def test_equal_packages_give_equal_bytes_in_any_order(tmp_path: Path) -> None:
    packages = [make_deb(tmp_path, "one", FILES), make_deb(tmp_path, "two", {"./etc/two": b"2"})]
    for name, order in (("a.tar", packages), ("b.tar", packages[::-1])):
        write_stage0(order, tmp_path / name, epoch=EPOCH)
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_usr_is_merged_and_no_time_is_newer_than_the_epoch(tmp_path: Path) -> None:
    write_stage0([make_deb(tmp_path, "one", FILES)], tmp_path / "out.tar", epoch=EPOCH)
    found = _names(tmp_path / "out.tar")
    assert found["bin"].linkname == "usr/bin"
    assert "usr/bin/tool" in found
    assert found["usr/lib64/ld.so"].linkname == "../lib/x/ld.so"
    assert "bin/tool" not in found
    assert max(info.mtime for info in found.values()) == EPOCH
    assert len(found) == len({*found})


def test_documentation_is_left_out_but_licences_stay(tmp_path: Path) -> None:
    write_stage0([make_deb(tmp_path, "one", FILES)], tmp_path / "out.tar", epoch=EPOCH)
    found = _names(tmp_path / "out.tar")
    assert "usr/share/doc/one/copyright" in found
    assert "usr/share/doc/one/changelog.gz" not in found
    assert "usr/share/man/man1/tool.1" not in found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("./bin/sh", "usr/bin/sh"),
        ("./lib", "usr/lib"),
        ("./library/x", "library/x"),
        ("./", ""),
        ("./usr/bin", "usr/bin"),
    ],
)
def test_paths_are_called_as_on_a_merged_usr(name: str, expected: str) -> None:
    assert merged(name) == expected


def test_a_folder_of_copyright_is_not_excluded_by_its_name_alone() -> None:
    assert is_excluded("usr/share/doc/one/examples/copyright.txt")
    assert not is_excluded("usr/share/doc/one/copyright")


def test_the_control_file_is_read_with_continuation_lines(tmp_path: Path) -> None:
    path = make_deb(tmp_path, "one", FILES, Depends="a,\n b", Recommends="c,\n\td: e")
    fields = read_control(path)
    assert (fields["Depends"], fields["Recommends"]) == ("a,\nb", "c,\nd: e")


@pytest.mark.parametrize("control", ["./control", "control"])
def test_only_the_control_file_itself_is_read(tmp_path: Path, control: str) -> None:
    path = tmp_path / "x.deb"
    names = ("./", "./control-of-another", "./control.old", "./below/control", control)
    files: dict[str, bytes | str] = {name: f"Package: {name}\n".encode() * (name != "./") for name in names}
    members = {"control.tar": tar_of(files), "data.tar": tar_of({})}
    path.write_bytes(b"!<arch>\n" + b"".join(ar_member(*one) for one in members.items()))
    assert read_control(path) == {"Package": control}


def test_what_does_not_begin_as_a_package_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.deb"
    path.write_bytes(b"!<ARCH>\n" + ar_member("control.tar", tar_of({"./control": b"Package: one\n"})))
    with pytest.raises(CorruptData) as refused:
        read_control(path)
    assert refused.value.what == "not a readable Debian package: not an ar archive"
    assert refused.value.where == str(path)
    assert refused.value.todo == "delete this file and run `harness image fetch` again"


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        ("", bytes),
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".zst", lambda content: pyarrow.compress(content, "zstd", asbytes=True)),
    ],
)
def test_a_member_is_read_however_it_is_compressed(
    tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "x.deb"
    path.write_bytes(b"!<arch>\n" + ar_member(f"data.tar{ending}", compress(tar_of({"./etc/x": b"x" * 5000}))))
    with open_data(path) as archive:
        assert [(info.name, info.size) for info in archive] == [("./etc/x", 5000)]
    path.write_bytes(b"!<arch>\n" + ar_member("data.tar.bz2", b"x"))
    with pytest.raises(CorruptData, match=r"unknown compression of data\.tar\.bz2"), open_data(path):
        pass


@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_a_member_of_an_odd_length_hides_none_behind_it(tmp_path: Path, size: int) -> None:
    path = tmp_path / "x.deb"
    members = {"control.tar.x": b"c" * size, "data.tar": tar_of({"./etc/x": b"x"})}
    path.write_bytes(b"!<arch>\n" + b"".join(ar_member(*one) for one in members.items()))
    with open_data(path) as archive:
        assert [info.name for info in archive] == ["./etc/x"]


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_a_package_that_is_damaged_in_the_middle_of_a_file_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    whole = tar_of({"./etc/one": random.Random(0).randbytes(400_000)})
    if kind == "gz":
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        # a block of the third kind, of which there is none
        content = packer.compress(whole[:200_000]) + packer.flush(zlib.Z_FULL_FLUSH) + b"\xff" * 64
    else:
        content = lzma.compress(whole)
        content = content[:200_000] + b"\xff" * 64 + content[200_064:]
    path = tmp_path / "x.deb"
    path.write_bytes(b"!<arch>\n" + ar_member(f"data.tar.{kind}", content))
    with pytest.raises(CorruptData, match="not a readable Debian package") as caught, open_data(path) as archive:
        for info in archive:
            assert info.name == "./etc/one"
            stream = archive.extractfile(info)
            assert stream is not None
            stream.read()
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("keep", [0, 4, 40, 300, -3])
def test_a_truncated_package_is_refused_by_name(tmp_path: Path, keep: int) -> None:
    path = make_deb(tmp_path, "one", {"./etc/one": bytes(range(256)) * 40})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CorruptData, match=r"not a readable Debian package") as caught, open_data(path) as archive:
        for info in archive:
            if info.isreg():
                stream = archive.extractfile(info)
                assert stream is not None
                io.BytesIO(stream.read())
    assert str(path) in str(caught.value)


def test_a_package_says_what_it_is_wherever_that_stands_in_it(tmp_path: Path) -> None:
    path = tmp_path / "x.deb"

    def packed(files: dict[str, bytes | str]) -> None:
        path.write_bytes(b"!<arch>\n" + ar_member("control.tar", tar_of(files)))

    # what is no field, such as a comment, tells nothing
    packed({"./md5sums": b"Package: other\n", "./control": b"Package: one\n# a remark\nVersion: 1:2\n"})
    assert read_control(path) == {"Package": "one", "Version": "1:2"}
    packed({"./md5sums": b"Package: other\n"})
    with pytest.raises(CorruptData) as refused:
        read_control(path)
    assert refused.value.what == "not a readable Debian package: it has no control file"
