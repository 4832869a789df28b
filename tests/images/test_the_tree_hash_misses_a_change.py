from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.images import code_tree
from harness.images.context import fill_method_context
from harness.images.identity import combined
from harness.images.sources import MOST_BYTES
from harness.images.trees import (
    TreeEntry,
    code_of_entries,
    code_of_folders,
    differing,
    differing_folders,
    environment_listing,
    listing_digest,
    read_tree,
)
from harness.methods.card import load_method, method_names
from tests.core.word_for_word import said
from tests.images.making import tar_of

CONFIG: dict[str, Any] = {"Env": ["A=1", "B=2"], "Entrypoint": ["x"], "User": "65534:65534", "WorkingDir": "/tmp"}
ENTRIES = {
    "usr": TreeEntry("folder", 0o755, 0, 0, "", "", 0),
    "usr/a": TreeEntry("file", 0o644, 0, 0, "", "1" * 64, 3),
    "usr/b": TreeEntry("link", 0, 0, 0, "a", "", 0),
    "usr/lib": TreeEntry("folder", 0o755, 0, 0, "", "", 0),
    "usr/lib/c": TreeEntry("file", 0o755, 0, 0, "", "2" * 64, 3),
}


def _tree(entries: dict[str, TreeEntry], config: dict[str, Any] = CONFIG) -> str:
    return listing_digest(environment_listing(entries, config))


changes = st.sampled_from(
    [("kind", "special"), ("mode", 0o4755), ("uid", 5), ("gid", 5), ("target", "z"), ("sha256", "9")]
)


@given(st.sampled_from(sorted(ENTRIES)), changes)
def test_any_change_of_any_entry_changes_the_tree(name: str, change: tuple[str, Any]) -> None:
    field, value = change
    if ENTRIES[name].kind == "link" and field == "mode":
        return  # a link's mode means nothing, and engines differ in it
    changed = {**ENTRIES, name: replace(ENTRIES[name], **{field: value})}
    assert _tree(changed) != _tree(ENTRIES)
    assert differing(ENTRIES, changed) == [f"/{name} ({field})"]


CODE = {
    "opt/method": TreeEntry("folder", 0o755, 0, 0, "", "", 0),
    "opt/method/main.py": TreeEntry("file", 0o644, 0, 0, "", "3" * 64, 3),
}


@pytest.mark.parametrize(
    "entry",
    [
        TreeEntry("file", 0o644, 0, 0, "", "4" * 64, 3),
        TreeEntry("file", 0o755, 0, 0, "", "3" * 64, 3),
        TreeEntry("link", 0, 0, 0, "/usr/a", "", 0),
        TreeEntry("link", 0, 0, 0, "/usr/lib/c", "", 0),
        TreeEntry("special-1", 0o644, 0, 0, "", "", 0),
    ],
)
@pytest.mark.parametrize("name", ["opt/method/main.py", "opt/method/more", "opt/sdk/more"])
def test_whatever_lies_among_the_code_is_part_of_its_tree_alone(name: str, entry: TreeEntry) -> None:
    """Also what we never put there, as a link: who makes an image elsewhere may."""
    changed = {**CODE, name: entry}
    assert code_of_entries(changed) != code_of_entries(CODE)
    assert code_of_entries({**changed, name: replace(entry, mode=entry.mode ^ 0o100)}) != code_of_entries(changed)
    assert _tree({**ENTRIES, **changed}) == _tree({**ENTRIES, **CODE}) == _tree(ENTRIES)
    # that is told by itself, and not as a difference of environments
    assert differing({**ENTRIES, **CODE}, {**ENTRIES, **changed}) == []


@given(st.permutations(sorted(ENTRIES)))
def test_the_order_of_entries_does_not_matter(order: list[str]) -> None:
    assert _tree({name: ENTRIES[name] for name in order}) == _tree(ENTRIES)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_a_missing_and_an_added_entry_are_seen_and_named(name: str) -> None:
    fewer = {other: entry for other, entry in ENTRIES.items() if other != name}
    assert _tree(fewer) != _tree(ENTRIES)
    assert differing(ENTRIES, fewer) == [f"/{name} (gone)"]
    assert differing(fewer, ENTRIES) == [f"/{name} (new)"]


def test_code_is_no_difference_between_environments_but_what_is_called_like_its_folders_is() -> None:
    file = TreeEntry("file", 0o644, 0, 0, "", "3" * 64, 3)
    code = ("opt/method", "opt/method/main.py", "opt/sdk", "opt/sdk/python/sdk.py")
    others = ("opt/methods/main.py", "opt/sdk2", "usr/opt/sdk/x")
    more = {**ENTRIES, **dict.fromkeys((*code, *others), file)}
    assert differing(ENTRIES, more) == [f"/{name} (new)" for name in others]
    assert differing(more, ENTRIES) == [f"/{name} (gone)" for name in others]
    changed = {**more, **dict.fromkeys((*code, *others), replace(file, mode=0o600, size=4))}
    assert differing(more, changed) == [f"/{name} (mode, size)" for name in others]


@pytest.mark.parametrize(
    "change",
    [
        *(
            {"Env": env}
            for env in (["A=2", "B=2"], ["B=2"], [*CONFIG["Env"], "PATH=/x"], [*CONFIG["Env"], "LD_PRELOAD=x"])
        ),
        {"Entrypoint": ["y"]},
        {"User": "0"},
        {"WorkingDir": "/"},
        {"Cmd": ["z"]},
        {"Healthcheck": {"Test": ["CMD", "x"]}},
        {"Volumes": {"/x": {}}},
        {"OnBuild": ["RUN x"]},
        {"Shell": ["/bin/x"]},
        {"StopSignal": "SIGSTOP"},
    ],
)
def test_how_a_container_starts_is_part_of_the_tree(change: dict[str, Any]) -> None:
    assert _tree(ENTRIES, {**CONFIG, **change}) != _tree(ENTRIES)
    first, second = (environment_listing(ENTRIES, {**CONFIG, **more}) for more in ({}, change))
    assert differing_folders(first, second) == ["settings"]


def test_engines_that_write_settings_in_another_order_agree() -> None:
    assert _tree(ENTRIES, {**CONFIG, "Env": ["B=2", "A=1"], "Cmd": None, "Labels": {"x": "y"}}) == _tree(ENTRIES)
    usual: dict[str, Any] = {"Healthcheck": None, "Volumes": {}, "OnBuild": [], "StopSignal": "SIGTERM"}
    assert _tree(ENTRIES, {**CONFIG, **usual}) == _tree(ENTRIES) == _tree(ENTRIES, {**CONFIG, "StopSignal": "15"})
    # what says nothing is written as nothing, or left out, and the folder also as the root
    nothing: list[dict[str, Any]] = [dict.fromkeys(CONFIG), {"Env": [], "Entrypoint": [], "User": "", "Cmd": []}]
    for config in [*nothing, {"WorkingDir": ""}, {"WorkingDir": "/"}]:
        assert _tree(ENTRIES, config) == _tree(ENTRIES, {})


STUBS = (
    *(".dockerenv", "etc/hosts", "etc/resolv.conf", "etc/hostname", "etc/mtab"),
    *("dev/", "dev/console", "proc/", "proc/1", "sys/", "sys/x", "run/", "run/x/", "mnt/", "mnt/x/"),
)


@pytest.mark.parametrize("stub", STUBS)
def test_times_and_what_engines_mount_do_not_matter(stub: str) -> None:
    """What is only called alike does, and so does what lies where a container may write."""
    names = (
        *("etc/", "etc/one", "etc/hosts.allow", "device", "running/x", ".dockerenv2"),
        *("tmp/x", "var/tmp/x", "var/run/x", "var/cache/x", "root/x", "home/x", "media/x", "usr/dev/x"),
    )
    files: dict[str, bytes | str] = dict.fromkeys(names, b"1")
    first = read_tree(io.BytesIO(tar_of(files, mtime=1)))
    second = read_tree(io.BytesIO(tar_of({**files, stub: b"x"}, mtime=2)))
    assert first == second
    assert set(first) == {name.rstrip("/") for name in names}


@pytest.mark.parametrize("folder", ["run", "mnt"])
def test_where_engines_mount_a_file_counts_that_holds_anything(folder: str) -> None:
    name = f"{folder}/x"
    assert [*read_tree(io.BytesIO(tar_of({"a": b"1", name: b""})))] == ["a"]
    assert [*read_tree(io.BytesIO(tar_of({"a": b"1", name: b"1"})))] == ["a", name]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link = tarfile.TarInfo(name)
        link.type, link.linkname = tarfile.SYMTYPE, "labels"
        archive.addfile(link)
        hard = tarfile.TarInfo(f"{folder}/y")
        hard.type, hard.linkname = tarfile.LNKTYPE, name
        archive.addfile(hard)
    buffer.seek(0)
    assert {path: entry.target for path, entry in read_tree(buffer).items()} == {
        name: "labels",
        f"{folder}/y": "labels",
    }


def test_a_hard_link_counts_as_the_file_it_is() -> None:
    buffer = io.BytesIO(tar_of({"a": b"same", "b": b"same"}))
    linked = io.BytesIO()
    with tarfile.open(fileobj=linked, mode="w") as archive:
        entry = tarfile.TarInfo("a")
        entry.size, entry.mode = 4, 0o644
        archive.addfile(entry, io.BytesIO(b"same"))
        link = tarfile.TarInfo("b")
        link.type, link.linkname = tarfile.LNKTYPE, "a"
        archive.addfile(link)
    linked.seek(0)
    assert read_tree(linked) == read_tree(buffer)


@pytest.mark.parametrize("target", ["etc/hosts", "dev/x", "run/x", "nowhere"])
def test_a_hard_link_to_what_no_tree_counts_is_told(target: str) -> None:
    linked = io.BytesIO(tar_of({"etc/hosts": b"x", "dev/x": b"x", "run/x": b""}))
    with tarfile.open(fileobj=linked, mode="a") as archive:
        link = tarfile.TarInfo("usr/b")
        link.type, link.linkname = tarfile.LNKTYPE, target
        archive.addfile(link)
    linked.seek(0)
    with pytest.raises(ImageError) as refused:
        read_tree(linked)
    assert said(refused.value) == (
        "a hard link leads to what belongs to no tree",
        f"/usr/b -> /{target}",
        "make the image without it: engines mount over that file, or write it themselves",
    )


@pytest.mark.parametrize("bit", [0o4000, 0o2000, 0o1000])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_a_special_bit_of_a_mode_is_read(kind: bytes, bit: int) -> None:
    found = []
    for mode in (0o755, 0o755 | bit):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            entry = tarfile.TarInfo("usr/x")
            entry.type, entry.mode = kind, mode
            archive.addfile(entry)
        buffer.seek(0)
        found.append(read_tree(buffer))
    assert found[1]["usr/x"].mode == 0o755 | bit
    assert _tree(found[0]) != _tree(found[1])


@pytest.mark.parametrize("place", [0, 1 << 20, (1 << 20) + 1, -1])
def test_every_byte_of_a_large_file_counts(place: int) -> None:
    content = bytearray((2 << 20) + 7)
    content[place] = 1
    (entry,) = read_tree(io.BytesIO(tar_of({"a": bytes(content)}))).values()
    assert entry.sha256 == hashlib.sha256(content).hexdigest()


def test_the_folders_that_differ_are_named() -> None:
    changed = {**ENTRIES, "usr/lib/c": replace(ENTRIES["usr/lib/c"], sha256="3" * 64)}
    first, second = environment_listing(ENTRIES, CONFIG), environment_listing(changed, CONFIG)
    assert differing_folders(first, second) == ["/usr/lib"]
    assert differing_folders(first, first.replace(" 1 /usr/lib", " 2 /usr/lib")) == ["/usr/lib"]
    # a folder that one of them does not have is one, whichever it is
    more = environment_listing({**ENTRIES, "var/odd/c": ENTRIES["usr/lib/c"]}, CONFIG)
    assert differing_folders(first, more) == differing_folders(more, first) == ["/var/odd"]


def _image_of(layout: Layout, method: Path, sdk: Path, folder: Path) -> dict[str, TreeEntry]:
    """The entries of an image with this code, as an engine exports it."""
    folder.mkdir()
    fill_method_context(layout, method, [sdk], folder)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder / "method", "opt/method")
        archive.add(folder / "sdk", "opt/sdk")
    buffer.seek(0)
    return read_tree(buffer)


def _code(folder: Path) -> tuple[Path, Path]:
    method, sdk = folder / "method", folder / "sdk"
    for path, content in ((method / "main.py", "1"), (method / "part" / "x.py", "2"), (sdk / "sdk.py", "3")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return method, sdk


def test_the_repository_and_the_image_agree_on_the_code(tmp_path: Path, layout: Layout) -> None:
    method, sdk = _code(tmp_path)
    (method / "main.py").chmod(0o700)
    (method / "part" / "x.py").chmod(0o600)
    entries = _image_of(layout, method, sdk, tmp_path / "context")
    assert code_of_entries(entries) == code_of_folders(method, sdk)
    assert {oct(entry.mode) for entry in entries.values()} == {"0o755", "0o644"}


@pytest.mark.parametrize("name", ["main.py", "part/x.py", "part/new.py"])
def test_a_changed_or_new_file_of_code_changes_the_code_tree(tmp_path: Path, name: str) -> None:
    method, sdk = _code(tmp_path)
    before = code_of_folders(method, sdk)
    (method / name).write_text("changed")
    assert code_of_folders(method, sdk) != before


def test_a_file_that_becomes_a_program_changes_the_code_tree(tmp_path: Path) -> None:
    method, sdk = _code(tmp_path)
    before = code_of_folders(method, sdk)
    (method / "main.py").chmod(0o755)
    assert code_of_folders(method, sdk) != before


@pytest.mark.parametrize(
    "name", ["method.toml", "README.md", "__pycache__/main.pyc", ".hidden", "tests/test_x.py", "x.py~"]
)
def test_what_cannot_change_an_answer_does_not_change_the_code_tree(tmp_path: Path, name: str) -> None:
    method, sdk = _code(tmp_path)
    before = code_of_folders(method, sdk)
    (method / name).parent.mkdir(exist_ok=True)
    (method / name).write_text("anything")
    assert code_of_folders(method, sdk) == before


def test_code_moved_between_method_and_sdk_is_another_tree(tmp_path: Path) -> None:
    method, sdk = _code(tmp_path)
    before = code_of_folders(method, sdk)
    (method / "main.py").rename(sdk / "main.py")
    assert code_of_folders(method, sdk) != before


def test_every_method_has_a_code_tree_without_any_engine(repository: Layout) -> None:
    trees = {name: code_tree(repository, name) for name in ("als_wr", "bnnr", "constant", "lrssl")}
    assert len(set(trees.values())) == len(trees)
    assert combined("a", "b") != combined("b", "a")


def test_an_image_built_before_a_comment_changed_holds_the_present_code(tmp_path: Path, layout: Layout) -> None:
    method, sdk = _code(tmp_path)
    (method / "steps.m").write_text("x = y'; % old\n")
    (method / "steps.R").write_text("x <- 1 # old\n")
    old = code_of_entries(_image_of(layout, method, sdk, tmp_path / "context"))
    (method / "main.py").write_text('"""New."""\n\n1  # new\n')
    (method / "steps.m").write_text("% new\nx = y';\n")
    (method / "steps.R").write_text("# new\n\nx <- 1\n")
    assert code_of_folders(method, sdk) == old
    for name, text in (("main.py", "x = 2"), ("steps.m", "x = y.';"), ("steps.R", "x <- 2")):
        (method / name).write_text(text)
        assert code_of_folders(method, sdk) != old
        assert code_of_entries(_image_of(layout, method, sdk, tmp_path / f"context of {name}")) != old


def test_a_folder_that_is_read_by_itself_holds_the_same_code(tmp_path: Path, layout: Layout) -> None:
    """An engine hands a folder over under its last name."""
    method, sdk = _code(tmp_path)
    whole = _image_of(layout, method, sdk, tmp_path / "context")
    alone: dict[str, TreeEntry] = {}
    for name in ("method", "sdk"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            archive.add(tmp_path / "context" / name, name)
        buffer.seek(0)
        alone |= read_tree(buffer, "opt")
    assert alone == whole


def test_code_that_is_too_large_to_be_ours_is_not_read_as_code(tmp_path: Path) -> None:
    found = []
    for comment in (b"#a", b"#b"):
        content = comment * MOST_BYTES
        buffer = io.BytesIO(tar_of({"opt/method/main.py": content}, mtime=1))
        found.append(read_tree(buffer)["opt/method/main.py"].sha256)
        assert found[-1] == hashlib.sha256(content).hexdigest()
    assert found[0] != found[1]


def test_comments_of_other_files_of_an_image_count() -> None:
    trees = [
        read_tree(io.BytesIO(tar_of({"opt/venv/lib/x.py": content}, mtime=1))) for content in (b"1", b"1  # new")
    ]
    assert environment_listing(trees[0], CONFIG) != environment_listing(trees[1], CONFIG)


def test_a_comment_in_what_all_methods_share_changes_no_code_tree(repository: Layout, tmp_path: Path) -> None:
    shutil.copytree(repository.methods, tmp_path / "methods")
    shutil.copytree(repository.containers, tmp_path / "containers")
    mine = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path / "local")

    def trees() -> dict[str, str]:
        return {name: code_tree(mine, name) for name in method_names(mine)}

    before = trees()
    assert before == {name: code_tree(repository, name) for name in before}
    changes = {
        "python/permafrost_sdk.py": "PROTOCOL = 1",
        "octave/read_npy.m": "numel (shape) > 2",
        "r/permafrost.R": "<-",
        "java/Npy.java": "shape.length > 2",
    }
    for name, code in changes.items():
        path = mine.methods / "_sdk" / name
        text = path.read_text()
        assert code in text
        mark = "//" if name.endswith(".java") else "#"
        path.write_text(f"\n{mark} a comment: it's new\n\n{text}\n{mark} another")
        assert trees() == before
        path.write_text(text.replace(code, code.replace("1", "2").replace(" > 2", " > 3").replace("<-", "<<-"), 1))
        language = name.partition("/")[0]
        changed = {one for one, tree in trees().items() if tree != before[one]}
        assert changed == {one for one in before if load_method(mine, one).language == language} != set()
        path.write_text(text)
