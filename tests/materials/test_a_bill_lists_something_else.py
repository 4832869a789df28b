"""Bills of materials name what is in the image, no less and no more, in formats that others' tools accept."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import ImageError, ManifestError
from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.engine import Engine
from harness.images import ensure_image
from harness.images.cards import environment_chain, environment_names, layers_of, load_environment
from harness.images.context import parts_of
from harness.images.locks import Part, canonical_name, read_wheels
from harness.images.parts import checked_part
from harness.images.record import variant_of
from harness.materials.components import components_of
from harness.materials.notices import NOTICES, read_notices, record_notices
from harness.materials.sbom import ENDINGS, Format, bill_of_materials
from harness.methods.card import method_names
from tests.images.conftest import bench
from tests.images.making import Workbench
from tests.judges import judge

__all__ = ["bench"]

# one of each language, on the smallest images there are
METHODS = ("als_wr", "lrssl", "bnnr", "biolne")
ACCELERATORS: tuple[Accelerator, ...] = ("cpu", "cuda")
_STRICT = """
import json, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
for path in sys.argv[1:]:
    text = open(path).read()
    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"{path}: {fault}")
    for purl in [one["purl"] for one in json.loads(text)["components"]]:
        if PackageURL.from_string(purl).to_string() != purl:
            sys.exit(f"{path}: {purl}")
"""
_DEP5 = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
License: GPL-2+ or Artistic

Files: a
License: permissive

License: permissive
 Do what you like.
"""


def bills(layout: Layout, folder: Path, form: Format) -> list[Path]:
    paths = []
    for name in [*METHODS, "sagan"]:
        for accelerator in ACCELERATORS[: 2 if name == "sagan" else 1]:
            text, _ = bill_of_materials(layout, name, accelerator, form=form)
            paths.append(folder / f"{name}-{accelerator}{ENDINGS[form]}")
            paths[-1].write_text(text)
    return paths


def test_cyclonedx_is_valid_in_the_strict_sense(repository: Layout, tmp_path: Path) -> None:
    paths = bills(repository, tmp_path, "cyclonedx")
    done = subprocess.run([judge("proof") / "python", "-c", _STRICT, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_spdx_is_valid(repository: Layout, tmp_path: Path) -> None:
    for path in bills(repository, tmp_path, "spdx"):
        done = subprocess.run([judge("proof") / "pyspdxtools", "-i", path], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.engine
@pytest.mark.parametrize("method", METHODS)
def test_debian_packages_are_those_dpkg_lists_in_the_image(
    engine: Engine, repository: Layout, method: str
) -> None:
    image = ensure_image(engine, repository, method)
    form = r"${Package} ${Version} ${Architecture}\n"
    listed = output_of(engine, image.name, ["/usr/bin/dpkg-query", "--show", f"--showformat={form}"])
    ours = [
        f"{one.name} {one.version} {re.search('arch=([a-z0-9]+)', one.purl)[1]}"  # type: ignore[index]
        for one in components_of(repository, method)
        if one.part.kind == "debian"
    ]
    assert sorted(listed.splitlines()) == sorted(ours)


@pytest.mark.engine
def test_wheels_are_those_pip_lists_in_the_image(engine: Engine, repository: Layout) -> None:
    image = ensure_image(engine, repository, "als_wr")
    pip = next(part for part in all_wheels(repository, "als_wr") if part.file.startswith("pip-"))
    program = (
        "import sys; sys.path.insert(0, '/pip.whl'); import runpy; runpy.run_module('pip', run_name='__main__')"
    )
    listed = output_of(
        engine,
        image.name,
        ["/opt/venv/bin/python", "-c", program, "list", "--format=json", "--disable-pip-version-check"],
        {str(checked_part(repository, pip)): {"bind": "/pip.whl", "mode": "ro"}},
    )
    theirs = {(canonical_name(one["name"]), one["version"]) for one in json.loads(listed)} - {
        ("pip", pip.path[5:])
    }
    ours = {
        (canonical_name(one.name), one.version)
        for one in components_of(repository, "als_wr")
        if one.part.kind != "debian"
    }
    assert ours == theirs


def output_of(
    engine: Engine, image: str, command: list[str], volumes: dict[str, dict[str, str]] | None = None
) -> str:
    text: bytes = engine.client.containers.run(
        image,
        entrypoint=command[:1],
        command=command[1:],
        network_mode="none",
        read_only=True,
        tmpfs={"/tmp": "size=64m"},
        volumes=volumes or {},
        stderr=False,
        remove=True,
        labels={"permafrost": "check"},
    )
    return text.decode()


def all_wheels(layout: Layout, name: str) -> list[Part]:
    chain = [one for one in environment_chain(layout, name) if one.card.wheels is not None]
    return [wheel.part for one in chain for wheel in read_wheels(one.lock_path("wheels", "cpu"))]


@pytest.mark.parametrize("form", ["cyclonedx", "spdx"])
def test_a_bill_is_the_same_bytes_without_any_part(repository: Layout, tmp_path: Path, form: Format) -> None:
    elsewhere = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")
    assert bill_of_materials(elsewhere, "bnnr", form=form) == bill_of_materials(repository, "bnnr", form=form)


def test_every_method_has_a_bill_and_no_component_twice(repository: Layout) -> None:
    for name in method_names(repository):
        components = components_of(repository, name)
        purls = {component.purl for component in components}
        assert len(purls) == len(components) > 60
        assert all(set(component.needs or ()) <= purls for component in components)
        parts = {
            part.sha256
            for one in layers_of(environment_chain(repository, name))
            for part in parts_of(one, variant_of(one, "cpu"))
            if not part.file.startswith(("pip-", "py_rattler-"))
        }
        assert {component.part.sha256 for component in components} == parts


def test_every_part_of_a_cpu_image_has_a_notice(repository: Layout) -> None:
    """A lock that is made again without `harness image sbom NAME --record` would lose its licences."""
    for name in environment_names(repository):
        environment = load_environment(repository, name)
        parts = {part.sha256: part.file for part in parts_of(environment, variant_of(environment, "cpu"))}
        assert [file for sha256, file in parts.items() if sha256 not in read_notices(environment)] == []


def test_notices_are_what_the_parts_say(repository: Layout, bench: Workbench) -> None:
    bench.fetch("_java")
    (bench.layout.containers / "_java" / NOTICES).unlink()
    path, count = record_notices(bench.layout, "_java")
    assert count == 4
    assert path.read_bytes() == (repository.containers / "_java" / NOTICES).read_bytes()


def test_a_dependency_is_a_component(repository: Layout) -> None:
    components = {component.name: component for component in components_of(repository, "lrssl")}
    names = {component.purl: component.name for component in components.values()}
    needs = {names[purl] for purl in components["r-base-core"].needs or ()}
    assert {"libc6", "libreadline8"} <= needs


def test_licences_are_read_out_of_packages(bench: Workbench) -> None:
    folder = bench.debian("toy", {"./usr/share/doc/permafrost-test-toy/copyright": _DEP5.encode()})
    record_notices(bench.layout, "toy")
    notice = json.loads((folder / NOTICES).read_text())
    assert notice["licences"] == ["GPL-2+ or Artistic", "permissive"]
    (component,) = [one for one in components_of(bench.layout, "toy") if one.environment == "toy"]
    assert component.licence == "(GPL-2.0-or-later OR Artistic-1.0) AND LicenseRef-debian-permissive"


def test_a_link_to_another_packages_licence_is_followed(bench: Workbench, tmp_path: Path) -> None:
    bench.fetch("_base")
    folder = bench.debian("toy", {"./usr/share/doc/permafrost-test-toy": "bash"})
    record_notices(bench.layout, "toy")
    bash = [json.loads(line) for line in (bench.layout.containers / "_base" / NOTICES).read_text().splitlines()]
    (wanted,) = [one["licences"] for one in bash if one["file"].startswith("bash_")]
    assert json.loads((folder / NOTICES).read_text())["licences"] == wanted


def test_free_text_is_no_licence(bench: Workbench) -> None:
    text = b"You find it in /usr/share/common-licenses/GPL-2, but for a part.\nLicense: mine\n"
    bench.debian("toy", {"./usr/share/doc/permafrost-test-toy/copyright": text})
    record_notices(bench.layout, "toy")
    (component,) = [one for one in components_of(bench.layout, "toy") if one.environment == "toy"]
    assert (component.licence, component.remark) == ("", "its copyright file is free text, and refers to GPL-2")


def test_a_part_that_was_never_seen_says_so(bench: Workbench) -> None:
    (bench.layout.containers / "_java" / NOTICES).unlink()
    components = [one for one in components_of(bench.layout, "_java") if one.environment == "_java"]
    assert {one.remark for one in components} == {"the part was not fetched when notices were recorded"}
    assert {one.needs for one in components} == {None}


def test_a_notice_that_is_none_is_refused(bench: Workbench) -> None:
    path = bench.layout.containers / "_java" / NOTICES
    path.write_text('{"file": "a.deb"}\n')
    with pytest.raises(ManifestError, match="not a notice") as refusal:
        components_of(bench.layout, "_java")
    assert refusal.value.where == f"{path}: line 1"


def test_an_image_that_was_never_recorded_has_no_bill(bench: Workbench) -> None:
    bench.debian("toy", {"./etc/": b""})
    with pytest.raises(ImageError, match="never built and recorded"):
        bill_of_materials(bench.layout, "toy")


def test_notices_change_no_tree(bench: Workbench, repository: Layout) -> None:
    before = [path.read_bytes() for path in sorted(bench.layout.containers.glob("*/tree.toml"))]
    for path in bench.layout.containers.glob(f"*/{NOTICES}"):
        path.unlink()
    with_none = json.loads(bill_of_materials(bench.layout, "_octave")[0])["metadata"]["component"]
    assert with_none == json.loads(bill_of_materials(repository, "_octave")[0])["metadata"]["component"]
    assert before == [path.read_bytes() for path in sorted(repository.containers.glob("*/tree.toml"))]


def test_a_conda_package_has_a_purl_of_its_own(bench: Workbench) -> None:
    folder = bench.environment(
        "toy", 'summary = "made by a test"\nextends = "_base"\nlanguage = "python"\n[conda]\n'
    )
    package = {
        "manager": "conda",
        "name": "lib-toy",
        "url": "some-channel/linux-64/lib-toy-1.2-h0_3.conda",
        "hash": {"sha256": "0" * 64},
    }
    (folder / "conda.lock").write_text(json.dumps({"package": [package]}))
    (component,) = [one for one in components_of(bench.layout, "toy") if one.environment == "toy"]
    assert component.purl == "pkg:conda/lib-toy@1.2?build=h0_3&channel=some-channel&subdir=linux-64&type=conda"
