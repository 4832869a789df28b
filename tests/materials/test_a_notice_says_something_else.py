"""What is recorded of a part is what the part says: its licence, its needs, and nothing of another part."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import packaging.markers
import pytest

from harness.base.errors import CorruptData, ManifestError
from harness.base.layout import Layout
from harness.images.cards import load_environment
from harness.images.context import parts_of
from harness.images.locks import Wheel, format_debian, format_wheels
from harness.images.parts import part_path
from harness.images.record import variant_of
from harness.materials.notices import read_notices, record_notices
from tests.images.making import Workbench, locked, make_deb

HEAD = 'summary = "made by a test"\nextends = "_base"\nlanguage = "python"\n'
FORMAT = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"


@pytest.fixture
def bench(repository: Layout, tmp_path: Path) -> Workbench:
    """A private copy of the base alone, with a store of the test's own."""
    base = Layout(root=tmp_path / "base", cache=tmp_path / "cache", local=tmp_path / "local")
    shutil.copytree(repository.containers / "_base", base.containers / "_base")
    shutil.copyfile(repository.root / "Dockerfile", base.root / "Dockerfile")
    return Workbench(base, tmp_path)


def recorded(bench: Workbench) -> list[dict[str, Any]]:
    """The notices of the environment `toy`, without the names of its files."""
    path, count = record_notices(bench.layout, "toy")
    assert path == bench.layout.containers / "toy" / "notices.jsonl"
    notices = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(notices) == count
    return [{name: value for name, value in one.items() if name not in ("sha256", "file")} for one in notices]


def store(bench: Workbench, *wheels: Wheel, contents: Mapping[str, bytes]) -> None:
    folder = bench.environment("toy", HEAD + '[wheels]\nrequirements = ["toy"]\n')
    (folder / "wheels.cpu.lock").write_text(format_wheels(wheels, name="toy"))
    for wheel in wheels:
        if wheel.file in contents:
            path = part_path(bench.layout, wheel.part)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents[wheel.file])


def python_package(bench: Workbench, metadata: str | bytes, *, source: bool = False) -> None:
    """An environment with one wheel or source distribution that has these metadata, and decoys."""
    buffer, metadata = io.BytesIO(), metadata.encode() if isinstance(metadata, str) else metadata
    if source:
        files = {
            "toy-1/toy.egg-info/PKG-INFO": b"License: of another\n",
            "toy-1/PKG-INFO": metadata,
            "toy-1/setup.py": b"",
        }
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    else:
        with zipfile.ZipFile(buffer, "w") as wheel:
            wheel.writestr("toy/_vendor/other-1.dist-info/METADATA", "License: of another\n")
            wheel.writestr("toy-1.dist-info/METADATA", metadata)
    content = buffer.getvalue()
    name = "toy-1.tar.gz" if source else "toy-1-py3-none-any.whl"
    one = Wheel("toy", "1", sha256(content).hexdigest(), name, flags="-O2" if source else "")
    store(bench, one, contents={name: content})


LICENCES = {
    "License-Expression: MIT OR X\nLicense: other\nClassifier: License :: Mine\n": ["MIT OR X"],
    "License: BSD \nClassifier: License :: Mine\n": ["BSD"],
    f"License: {'x' * 80}\nClassifier: License :: Mine\n": ["x" * 80],
    f"License: {'x' * 81}\nClassifier: License :: Mine\n": ["Mine"],
    "License: UNKNOWN\nClassifier: License :: OSI Approved :: Mine\n": ["Mine"],
    "License: The Copyright of me\nClassifier: License :: Mine\n": ["Mine"],
    "License: one\n  two\nClassifier: License :: Mine\n": ["Mine"],
    "Classifier: License :: b\nClassifier: License :: a\nClassifier: License :: b\nClassifier: License\n": [
        "a",
        "b",
    ],
    "Classifier: License :: OSI Approved\nClassifier: Topic :: License :: x\n": [],
    "Name: toy\n\nLicense: in its description\n": [],
}


@pytest.mark.parametrize("metadata", LICENCES)
def test_a_python_package_names_its_licence(bench: Workbench, metadata: str) -> None:
    python_package(bench, metadata)
    assert recorded(bench)[0].get("licences", []) == LICENCES[metadata]


@pytest.mark.parametrize("source", [False, True])
def test_a_python_package_needs_what_every_image_would_install(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, *, source: bool
) -> None:
    """Whatever the machine is that records it."""
    elsewhere = dict.fromkeys(packaging.markers.default_environment(), "elsewhere")
    elsewhere |= {"python_version": "2.7", "python_full_version": "2.7.18", "implementation_version": "2.7.18"}
    monkeypatch.setattr(packaging.markers, "default_environment", lambda: elsewhere)
    here = {
        "python_version": "3.11",
        "python_full_version": "3.11.0",
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "sys_platform": "linux",
    }
    lines = [f'Requires-Dist: need-{name}>=1; {name} == "{value}"' for name, value in here.items()]
    lines += [
        "Requires-Dist: plain[extra]>2",
        "Requires-Dist: plain",
        'Requires-Dist: no; sys_platform == "win32"',
    ]
    lines += ['Requires-Dist: none; extra == "test"']
    python_package(bench, "\n".join(["License: MIT", *lines]) + "\n", source=source)
    needs = [["plain"], *([f"need-{name}"] for name in here)]
    assert recorded(bench) == [{"licences": ["MIT"], "needs": sorted(needs)}]


@pytest.mark.parametrize("source", [False, True])
def test_a_python_package_without_metadata_is_broken(bench: Workbench, *, source: bool) -> None:
    buffer = io.BytesIO()
    if source:
        tarfile.open(fileobj=buffer, mode="w:gz").close()
    else:
        zipfile.ZipFile(buffer, "w").close()
    content, name = buffer.getvalue(), "toy-1.tar.gz" if source else "toy-1.whl"
    one = Wheel("toy", "1", sha256(content).hexdigest(), name, flags="-O2" if source else "")
    store(bench, one, contents={name: content})
    with pytest.raises(CorruptData, match="a Python package has no metadata") as fault:
        record_notices(bench.layout, "toy")
    assert fault.value.where == str(part_path(bench.layout, one.part))
    assert fault.value.todo == "delete this file and fetch it again"


def debian(
    bench: Workbench, tmp_path: Path, packages: Mapping[str, dict[str, bytes | str]], **fields: str
) -> None:
    """An environment of hand-made packages by name, with their documentation, and control fields for all."""
    folder = bench.environment("toy", HEAD + '[debian]\npackages = ["x"]\n')
    lines = []
    for name, files in packages.items():
        documents = {f"./usr/share/doc/{path}": content for path, content in files.items()}
        deb = make_deb(tmp_path, name, documents, **fields)
        lines.append(locked(deb))
        path = part_path(bench.layout, lines[-1].part)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(deb.read_bytes())
    (folder / "debian.lock").write_text(format_debian(lines, name="toy"))


def test_a_debian_package_says_what_it_needs_and_provides(bench: Workbench, tmp_path: Path) -> None:
    fields = {
        "Depends": "a (>= 1) | b:any, c",
        "Pre-Depends": "d,",
        "Provides": "x (= 1), y",
        "Source": "x-src (1.0)",
        "Suggests": "none",
    }
    debian(bench, tmp_path, {"p": {}}, **fields)
    assert recorded(bench) == [{"needs": [["d"], ["a", "b"], ["c"]], "provides": ["x", "y"], "source": "x-src"}]
    debian(bench, tmp_path, {"p": {}}, Source="p (2)", Depends="c")
    assert recorded(bench) == [{"needs": [["c"]]}]
    debian(bench, tmp_path, {"p": {}})
    assert recorded(bench) == [{}]


COPYRIGHTS: dict[str, tuple[list[str], list[str]]] = {
    f"{FORMAT}\nFiles: *\nLicense: b \n Text: x\n\nLicense:\tb\n\nLicense: a\n See common-licenses/GPL-2\n": (
        ["a", "b"],
        [],
    ),
    "Format-Specification: http://dep.debian.net/deps/DEP5\nLicense: a\n": (["a"], []),
    "format: Copyright-Format\nLicense: a\n  License: no\nLicense:\n no\n": (["a"], []),
    "X-Format: copyright-format\nLicense: a\n": ([], []),
    "Format: my own\nLicense: a\n": ([], []),
    "See /usr/share/common-licenses/GPL-2. Or common-licenses/Apache-2.0, common-licenses/GPL-2\nLicense: a\n": (
        [],
        ["Apache-2.0", "GPL-2"],
    ),
    "é": ([], []),
}


@pytest.mark.parametrize("text", COPYRIGHTS)
def test_licences_are_those_of_a_copyright_file(bench: Workbench, tmp_path: Path, text: str) -> None:
    debian(bench, tmp_path, {"p": {"p/changelog": b"License: no", "p/copyright": text.encode()}})
    (notice,) = recorded(bench)
    assert (notice.get("licences", []), notice.get("refers", [])) == COPYRIGHTS[text]


def test_what_is_no_text_in_full_is_read_all_the_same(bench: Workbench, tmp_path: Path) -> None:
    debian(bench, tmp_path, {"p": {"p/copyright": b"\xff\n" + f"{FORMAT}License: a\xe9\n".encode("latin-1")}})
    assert recorded(bench) == [{"licences": ["a\ufffd"]}]
    python_package(bench, b"Author: \xff\nLicense: MIT\n")
    assert recorded(bench) == [{"licences": ["MIT"]}]


OWN = f"{FORMAT}License: own\n".encode()
LINKED: dict[str, tuple[dict[str, dict[str, bytes | str]], list[str]]] = {
    "its folder is a link": ({"p": {"p": "q"}, "q": {"q/copyright": OWN}}, ["own"]),
    "its file is a link": ({"p": {"p/copyright": "../q/copyright"}, "q": {"q/copyright": OWN}}, ["own"]),
    "from the root": ({"p": {"p": "/usr/share/doc/q"}, "q": {"q/copyright": OWN}}, ["own"]),
    "of a folder itself": ({"p": {"p/": b"", "p/copyright": OWN}}, ["own"]),
    "to a package that is not there": ({"p": {"p": "q"}}, []),
    "of another name": ({"p": {"pq/copyright": OWN}}, []),
    "over as many as may be": (
        {**{f"p{n or ''}": {f"p{n or ''}": f"p{n + 1}"} for n in range(4)}, "p4": {"p4/copyright": OWN}},
        ["own"],
    ),
    "over more": (
        {**{f"p{n or ''}": {f"p{n or ''}": f"p{n + 1}"} for n in range(5)}, "p5": {"p5/copyright": OWN}},
        [],
    ),
}


@pytest.mark.parametrize("case", LINKED)
def test_documentation_that_is_a_link(bench: Workbench, tmp_path: Path, case: str) -> None:
    packages, licences = LINKED[case]
    debian(bench, tmp_path, packages)
    path, _ = record_notices(bench.layout, "toy")
    notices = {one["file"]: one for one in map(json.loads, path.read_text().splitlines())}
    assert notices["p_1.0_all.deb"].get("licences", []) == licences


def test_what_was_recorded_stays_while_it_is_locked(bench: Workbench) -> None:
    kept, gone, late = (
        Wheel(name, "1", digit * 64, f"{name}.whl") for name, digit in zip("bca", "123", strict=True)
    )
    store(bench, kept, late, contents={})
    path = bench.layout.containers / "toy" / "notices.jsonl"
    lines = [{"file": one.file, "sha256": one.sha256, "licences": ["é"]} for one in (kept, gone, late)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert record_notices(bench.layout, "toy") == (path, 2)
    assert path.read_text(encoding="utf-8") == (
        f'{{"file": "a.whl", "licences": ["é"], "sha256": "{late.sha256}"}}\n'
        f'{{"file": "b.whl", "licences": ["é"], "sha256": "{kept.sha256}"}}\n'
    )
    environment = load_environment(bench.layout, "toy")
    assert {sha256: one.file for sha256, one in read_notices(environment).items()} == {
        late.sha256: "a.whl",
        kept.sha256: "b.whl",
    }


def test_an_environment_of_conda_packages_is_recorded_though_they_say_nothing(bench: Workbench) -> None:
    folder = bench.environment("toy", HEAD + "[conda]\n")
    content = b"a package"
    url, digest = "some-channel/linux-64/lib-toy-1.2-h0_3.conda", {"sha256": sha256(content).hexdigest()}
    package = {"manager": "conda", "name": "lib-toy", "url": url, "hash": digest}
    (folder / "conda.lock").write_text(json.dumps({"package": [package]}))
    environment = load_environment(bench.layout, "toy")
    (part,) = parts_of(environment, variant_of(environment, "cpu"))
    path = part_path(bench.layout, part)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    assert recorded(bench) == []


def test_a_line_that_is_no_notice_is_told_with_what_to_do(bench: Workbench) -> None:
    store(bench, contents={})
    path = bench.layout.containers / "toy" / "notices.jsonl"
    assert read_notices(load_environment(bench.layout, "toy")) == {}
    path.write_text(f'{{"file": "a", "sha256": "{"1" * 64}"}}\n{{"file": 7}}\n')
    with pytest.raises(ManifestError, match="not a notice: ") as refusal:
        read_notices(load_environment(bench.layout, "toy"))
    assert refusal.value.where == f"{path}: line 2"
    assert refusal.value.todo == "restore the file, or make it again: `harness image sbom toy --record`"
