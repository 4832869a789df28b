"""What is read back out of an image, and what its locks say should be there, with no engine at hand."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.images import export, preparation
from harness.images.cards import Environment, environment_chain, layers_of
from harness.images.conda import read_conda
from harness.images.export import code_entries, copy_files, image_config, image_entries, image_layers
from harness.images.lock import held_packages
from harness.images.locks import Part, read_debian, read_wheels
from harness.images.preparation import needed_layers, needed_parts, parts_of_layers, recorded_size
from harness.images.record import read_record
from harness.images.verify import installed_differences
from tests.images.making import tar_of


class FakeEngine:
    """An engine whose containers hold these files, handed out in pieces of a few bytes."""

    def __init__(self, files: dict[str, bytes | str], *, piece: int = 7) -> None:
        self.client = SimpleNamespace(containers=self, images=self)
        self._files, self._piece = files, piece
        self.created: list[dict[str, Any]] = []
        self.removed: list[bool] = []
        self.refused = ""

    def create(self, image: str, **settings: Any) -> FakeEngine:
        if self.refused:
            raise APIError("no", explanation=self.refused)
        self.created.append({"image": image, **settings})
        return self

    def remove(self, *, force: bool) -> None:
        self.removed.append(force)

    def export(self, *, chunk_size: int) -> Iterator[bytes]:
        assert chunk_size == export._CHUNK
        return self._pieces(self._files)

    def get_archive(self, path: str) -> tuple[Iterator[bytes], dict[str, Any]]:
        place = path.lstrip("/")
        last = place.rpartition("/")[2]
        below = {
            last + name[len(place) :]: content
            for name, content in self._files.items()
            if name == place or name.startswith(f"{place}/")
        }
        return self._pieces(below), {}

    def _pieces(self, files: dict[str, bytes | str]) -> Iterator[bytes]:
        whole = tar_of(files)
        # a stream may hand out nothing for once
        yield b""
        for start in range(0, len(whole), self._piece):
            yield whole[start : start + self._piece]

    def get(self, image: str) -> Any:
        attributes = {"Config": {"User": f"of {image}"}, "RootFS": {"Layers": ["sha256:1", "sha256:2"]}}
        return SimpleNamespace(attrs=attributes)


FILES: dict[str, bytes | str] = {
    "opt/method/": b"",
    "opt/method/main.py": b"print(1)\n",
    "opt/sdk/": b"",
    "opt/sdk/below/part.py": b"x = 1\n" * 1000,
    "usr/a": b"a",
    "usr/link": "a",
}


@pytest.mark.parametrize("piece", [1, 511, 512, 1 << 20])
def test_files_come_whole_in_whatever_pieces(piece: int) -> None:
    engine: Any = FakeEngine(FILES, piece=piece)
    entries = image_entries(engine, "an/image")
    assert {name: entry.kind for name, entry in entries.items()} == {
        "opt/method": "folder",
        "opt/method/main.py": "file",
        "opt/sdk": "folder",
        "opt/sdk/below/part.py": "file",
        "usr/a": "file",
        "usr/link": "link",
    }
    assert entries["opt/sdk/below/part.py"].size == 6000
    assert engine.removed == [True]
    settings = {"command": ["never-started"], "network_mode": "none", "labels": {"permafrost": "export"}}
    assert engine.created == [{"image": "an/image", **settings}]


def test_the_code_alone_is_the_code_of_the_whole() -> None:
    engine: Any = FakeEngine(FILES)
    whole = image_entries(engine, "an/image")
    assert code_entries(engine, "an/image") == {
        name: entry for name, entry in whole.items() if name.startswith("opt/")
    }
    assert engine.removed == [True, True]


def test_settings_and_layers_are_the_images_own() -> None:
    engine: Any = FakeEngine(FILES)
    assert image_config(engine, "an/image") == {"User": "of an/image"}
    assert image_layers(engine, "an/image") == ["sha256:1", "sha256:2"]


def test_files_of_a_folder_are_copied_and_nothing_else(tmp_path: Path) -> None:
    engine: Any = FakeEngine(FILES)
    paths = copy_files(engine, "an/image", "opt/sdk", tmp_path)
    assert paths == [tmp_path / "part.py"] and paths[0].read_bytes() == FILES["opt/sdk/below/part.py"]
    assert copy_files(engine, "an/image", "usr/a", tmp_path) == [tmp_path / "a"]


def test_an_image_that_can_not_be_read_says_so_and_leaves_no_container() -> None:
    engine: Any = FakeEngine({})
    engine.refused = "no such image"
    with pytest.raises(ImageError) as refused:
        image_entries(engine, "an/image")
    assert refused.value.what == "the image can't be read back: no such image"
    assert (refused.value.where, refused.value.todo) == ("an/image", "run `harness doctor`")
    assert engine.removed == []
    broken: Any = FakeEngine(FILES)
    broken.export = lambda *, chunk_size: iter([b"no archive" * 100])
    with pytest.raises(tarfile.TarError):
        image_entries(broken, "an/image")
    assert broken.removed == [True]


def paragraph(name: str, version: str, architecture: str, status: str = "install ok installed") -> str:
    return f"Package: {name}\nStatus: {status}\nVersion: {version}\nArchitecture: {architecture}\n"


def honest(layout: Layout, name: str) -> tuple[dict[str, Any], str]:
    """The paths and the list of packages of an image that is as its locks say."""
    chain = environment_chain(layout, name)
    status = "\n".join(paragraph(one.name, one.version, one.architecture) for one in held_packages(chain))
    entries: dict[str, Any] = {"usr/bin/true": None}
    for environment in layers_of(chain):
        if environment.card.wheels is not None:
            for wheel in read_wheels(environment.lock_path("wheels", "cpu")):
                if not wheel.installer:
                    folder = f"{wheel.name.replace('-', '_').upper()}-{wheel.version}.dist-info"
                    entries[f"opt/venv/lib/python3.11/site-packages/{folder}"] = None
                    entries[f"opt/venv/lib/python3.11/site-packages/{folder}/METADATA"] = None
        if environment.card.conda is not None:
            for package in read_conda(environment.lock_path("conda", "cpu")):
                stem = package.file.removesuffix(".conda").removesuffix(".tar.bz2")
                entries[f"opt/conda/conda-meta/{stem}.json"] = None
    return entries, status


@pytest.mark.parametrize("name", ["_base", "_numpy", "als_wr", "_torch"])
def test_an_image_as_its_locks_say_has_no_difference(repository: Layout, name: str) -> None:
    entries, status = honest(repository, name)
    assert installed_differences(repository, name, entries, status, "cpu") == []


def test_a_conda_package_is_known_by_its_file(repository: Layout, tmp_path: Path) -> None:
    """Its name, version and build; a lock names the file that is fetched, in either of two formats."""
    containers = tmp_path / "containers"
    shutil.copytree(repository.containers / "_base", containers / "_base")
    (containers / "toy").mkdir()
    (containers / "toy" / "environment.toml").write_text(
        'summary = "x"\nextends = "_base"\nlanguage = "r"\n[conda]\n'
    )
    names = ["a-tool-1.0-h1_0", "b-2.0-0"]
    files = [f"toys/noarch/{names[0]}.conda", f"toys/noarch/{names[1]}.tar.bz2"]
    packages = [{"manager": "conda", "name": "x", "url": file, "hash": {"sha256": "0" * 64}} for file in files]
    (containers / "toy" / "conda.lock").write_text(json.dumps({"package": packages}))
    layout = Layout(tmp_path, tmp_path / "cache", tmp_path / "local")
    entries, status = honest(layout, "toy")
    assert {f"opt/conda/conda-meta/{name}.json" for name in names} <= entries.keys()
    assert installed_differences(layout, "toy", entries, status, "cpu") == []
    assert installed_differences(layout, "toy", {}, status, "cpu") == [
        f"{name} conda is locked but not installed" for name in names
    ]


def test_every_kind_of_package_is_missed_and_noticed(repository: Layout) -> None:
    entries, status = honest(repository, "_numpy")
    numpy = next(path for path in entries if "NUMPY" in path and path.endswith(".dist-info"))
    version = numpy.removesuffix(".dist-info").rpartition("-")[2]
    del entries[numpy]
    place = "opt/venv/lib/python3.11/site-packages"
    entries |= {f"{place}/Some.Thing-2.0.dist-info": None, "opt/conda/conda-meta/a-tool-1.0-0.json": None}
    # these are no packages
    entries |= {f"{place}/below/other-2.0.dist-info": None, "opt/conda/conda-meta/below/x.json": None}
    base = read_debian(environment_chain(repository, "_base")[0].lock_path("debian", "cpu"))[0]
    own = paragraph(base.name, base.version, base.architecture)
    removed = paragraph(base.name, base.version, base.architecture, "deinstall ok config-files")
    status = status.replace(own, removed) + "\n" + paragraph("spy", "1", "all")
    assert installed_differences(repository, "_numpy", entries, status, "cpu") == [
        f"{base.name} {base.version} {base.architecture} is locked but not installed",
        f"numpy {version} wheel is locked but not installed",
        "a-tool-1.0-0 conda is installed but not locked",
        "some-thing 2.0 wheel is installed but not locked",
        "spy 1 all is installed but not locked",
    ]


@pytest.mark.parametrize(
    "status",
    ["install ok half-installed", "deinstall ok half-installed", "purge ok not-installed", "install ok unpacked"],
)
def test_what_dpkg_did_not_finish_is_not_installed(repository: Layout, status: str) -> None:
    entries, whole = honest(repository, "_base")
    changed = whole.replace("install ok installed", status, 1)
    (fault,) = installed_differences(repository, "_base", entries, changed, "cpu")
    assert fault.endswith(" is locked but not installed")


def test_a_package_of_another_version_or_architecture_is_another(repository: Layout) -> None:
    entries, status = honest(repository, "_base")
    for old, new in (("Version: ", "Version: 9"), ("Architecture: ", "Architecture: x")):
        changed = status.replace(old, new, 1)
        assert len(installed_differences(repository, "_base", entries, changed, "cpu")) == 2


def test_layers_come_in_the_order_of_building_each_once(repository: Layout) -> None:
    layers = needed_layers(repository, ["als_wr", "constant", "als_wr"])
    names = [environment.name for environment, _ in layers]
    assert names[0] == "_base" and len(set(names)) == len(names)
    for method in ("als_wr", "constant"):
        chain = [one.name for one in layers_of(environment_chain(repository, method))]
        assert sorted(chain, key=names.index) == chain
    assert all(variant == "cpu" for _, variant in layers)


def test_each_layer_is_of_the_variant_that_is_used_of_it(
    repository: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has no wheels, or none for CUDA, is the same below both."""
    expected = {"_base": "cpu", "_python": "cpu", "_torch": "cuda", "_drugs": "cuda", "_numpy": "cpu"}
    layers = needed_layers(repository, ["_drugs", "_numpy"], "cuda")
    assert {environment.name: variant for environment, variant in layers} == expected
    assert [environment.name for environment, _ in layers] == list(expected)
    # what another is made in runs on a CPU, and comes before it
    monkeypatch.setattr(Environment, "helper", property(lambda self: "_torch" if self.name == "_numpy" else None))
    made = [(environment.name, variant) for environment, variant in needed_layers(repository, ["_numpy"], "cuda")]
    assert made == [("_base", "cpu"), ("_python", "cpu"), ("_torch", "cpu"), ("_numpy", "cpu")]


def test_what_images_share_is_fetched_and_counted_once(repository: Layout) -> None:
    parts = needed_parts(repository, ["als_wr", "constant"])
    assert parts == parts_of_layers(needed_layers(repository, ["als_wr", "constant"]))
    assert len({part.sha256 for part in parts}) == len(parts) > 50
    one, other, both = (
        recorded_size(repository, names) for names in (["als_wr"], ["constant"], ["als_wr", "constant"])
    )
    assert max(one, other) <= both < one + other
    expected = 0
    for environment, variant in needed_layers(repository, ["als_wr"]):
        record = read_record(environment, variant)
        assert record is not None
        expected += record.added_bytes
    assert one == expected > 10_000_000
    assert recorded_size(repository, []) == 0


def test_two_files_of_one_name_are_both_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """As two layers may hold one wheel that was built twice."""
    parts = {name: Part("wheel", "x-1.whl", digit * 64, 1, "x==1") for name, digit in (("a", "1"), ("b", "2"))}
    monkeypatch.setattr(preparation, "parts_of", lambda environment, _: [parts[environment]])
    layers: Any = [("a", "cpu"), ("b", "cpu"), ("a", "cuda")]
    assert parts_of_layers(layers) == [*parts.values()]


def test_a_pipe_ends_when_its_pieces_do() -> None:
    stream = export._stream(iter([b"ab", b"", b"cde"]))
    assert (stream.read(1), stream.read(3), stream.read(), stream.read()) == (b"a", b"bcd", b"e", b"")
    assert isinstance(stream, io.BufferedReader)
