"""What a part is called for others' tools, what it says of its licence, and which other components it needs."""

from __future__ import annotations

import json

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Accelerator
from harness.images.cards import environment_chain, epoch_of
from harness.images.identity import code_tree, combined, environment_image_name, image_name
from harness.images.locks import Part, canonical_name
from harness.images.record import recorded_tree
from harness.materials import components
from harness.materials.components import Component, ImageSubject, components_of, subject_of
from harness.materials.notices import Notice
from tests.images.making import Workbench
from tests.materials.test_a_notice_says_something_else import bench

__all__ = ["bench"]


def component(kind: str, name: str, notice: Notice | None, version: str = "1") -> Component:
    part = Part(kind, f"{name}.file", "1" * 64, 1, "")  # type: ignore[arg-type]
    return Component(part, name, version, f"{kind}/{name}@{version}", "toy", _notice=notice)


def notice(needs: str = "", provides: str = "", **said: list[str]) -> Notice:
    groups = [group.split("|") for group in needs.split()]
    return Notice(sha256="1" * 64, file="x", needs=groups, provides=provides.split(), **said)


def needs_of(*given: Component) -> dict[str, tuple[str, ...] | None]:
    return {one.purl: one.needs for one in components._with_needs(given)}


def test_a_need_is_the_first_alternative_that_is_there() -> None:
    assert needs_of(
        component("debian", "a", notice("gone|c|d b gone")),
        component("debian", "b", notice()),
        component("debian", "c", notice()),
        component("debian", "d", notice()),
        component("debian", "unseen", None),
    ) == {
        "debian/a@1": ("debian/b@1", "debian/c@1"),
        "debian/b@1": (),
        "debian/c@1": (),
        "debian/d@1": (),
        "debian/unseen@1": None,
    }


def test_a_need_may_be_provided_by_another_or_stand_in_two_versions() -> None:
    needs = needs_of(
        component("debian", "a", notice("virtual twice")),
        component("debian", "b", notice(provides="other virtual")),
        component("debian", "twice", notice()),
        component("debian", "twice", notice(), version="2"),
    )
    assert needs["debian/a@1"] == ("debian/b@1", "debian/twice@1", "debian/twice@2")


def test_a_package_of_debian_is_none_of_python() -> None:
    needs = needs_of(
        component("debian", "numpy", notice("NumPy torch")),
        component("wheel", "NumPy", notice("scipy")),
        component("source", "My_Torch.x", notice("numpy my-torch-x")),
        component("debian", "scipy", notice()),
    )
    assert needs["debian/numpy@1"] == ()
    assert needs["wheel/NumPy@1"] == ()
    assert needs["source/My_Torch.x@1"] == ("source/My_Torch.x@1", "wheel/NumPy@1")


def test_qualifiers_have_one_order_and_none_is_empty() -> None:
    qualifiers = {"c": "3:x/", "a": "1", "b": ""}
    assert components._purl("x", "a/b:c", "1:2/3", qualifiers) == "pkg:x/a%2Fb%3Ac@1:2%2F3?a=1&c=3:x%2F"
    assert components._purl("x", "a", "1", {"b": ""}) == components._purl("x", "a", "1") == "pkg:x/a@1"


def test_one_spelling_of_a_name() -> None:
    assert canonical_name("My__Toy.-x") == "my-toy-x"


@pytest.mark.parametrize(
    ("kind", "said", "licence", "remark"),
    [
        ("debian", None, "", "the part was not fetched when notices were recorded"),
        ("debian", notice(licences=["GPL-2+", "x"]), "GPL-2.0-or-later AND LicenseRef-debian-x", ""),
        ("wheel", notice(licences=["x"], refers=["GPL"]), "LicenseRef-pypi-x", ""),
        ("source", notice(licences=["x"]), "LicenseRef-pypi-x", ""),
        (
            "debian",
            notice(refers=["GPL", "LGPL-2"]),
            "",
            "its copyright file is free text, and refers to GPL, LGPL-2",
        ),
        ("debian", notice(), "", "it names no licence that a program can read"),
    ],
)
def test_a_part_without_a_licence_says_why(
    repository: Layout, kind: str, said: Notice | None, licence: str, remark: str
) -> None:
    part = Part(kind, "x", "1" * 64, 1, "")  # type: ignore[arg-type]
    toy = environment_chain(repository, "_base")[0]
    made = components._component(part, "x", "1", "purl", toy, said)
    assert (made.licence, made.remark, made.environment, made.needs) == (licence, remark, "_base", None)


def test_parts_of_every_kind_have_their_purls(bench: Workbench) -> None:
    """One that the base locks is there once, as the base's own."""
    base = next(one for one in components_of(bench.layout, "_base") if "&upstream=" not in one.purl)
    locked = (bench.layout.containers / "_base" / "debian.lock").read_text().splitlines()
    again = next(line for line in locked if line.startswith(f"{base.name} "))
    folder = bench.environment(
        "toy",
        'summary = "made by a test"\nextends = "_base"\nlanguage = "python"\n[debian]\npackages = ["libx++"]\n'
        '[wheels]\nrequirements = ["My_Toy"]\n',
    )
    (folder / "debian.lock").write_text(
        f"libx++ 2:1.0~rc+1-2 amd64 7 {'1' * 64} pool/libx++.deb\n"
        f"plain 1 all 7 {'2' * 64} pool/plain.deb\n{again}\n"
    )
    (folder / "wheels.cpu.lock").write_text(
        f"My_Toy==1.0+cpu --hash=sha256:{'3' * 64}  # my_toy.whl\n"
        f"pip==2 --hash=sha256:{'4' * 64}  # pip.whl 7 bytes installer\n"
        f"src==3 --hash=sha256:{'5' * 64}  # src.tar.gz built with -O2\n"
    )
    said = Notice(sha256="1" * 64, file="libx", source="x-source", licences=["Expat"], needs=[["plain"]])
    (folder / "notices.jsonl").write_text(said.model_dump_json() + "\n")
    found = components_of(bench.layout, "toy")
    own = [one for one in found if one.environment == "toy"]
    assert [(one.purl, one.licence, one.part.file) for one in own] == [
        (
            "pkg:deb/debian/libx%2B%2B@2:1.0~rc%2B1-2?arch=amd64&distro=bookworm&upstream=x-source",
            "MIT",
            "libx++.deb",
        ),
        ("pkg:deb/debian/plain@1?arch=all&distro=bookworm", "", "plain.deb"),
        ("pkg:pypi/my-toy@1.0%2Bcpu", "", "my_toy.whl"),
        ("pkg:pypi/src@3", "", "src.tar.gz"),
    ]
    assert own[0].needs == (own[1].purl,) and own[1].needs is None
    assert [one.purl for one in found] == sorted(one.purl for one in found)
    assert {one.environment for one in found} == {"_base", "toy"}


@pytest.mark.parametrize(("name", "accelerator"), [("bnnr", "cpu"), ("sagan", "cuda")])
def test_the_subject_is_the_methods_image(repository: Layout, name: str, accelerator: Accelerator) -> None:
    environment, code = recorded_tree(repository, name, accelerator), code_tree(repository, name)
    subject = subject_of(repository, name, accelerator)
    assert subject == ImageSubject(
        name,
        image_name(repository, name, accelerator),
        environment,
        code,
        epoch_of(environment_chain(repository, name)),
    )
    assert subject.tree == combined(environment, code)


def test_the_subject_may_be_an_environment(repository: Layout) -> None:
    tree = recorded_tree(repository, "_octave")
    subject = subject_of(repository, "_octave")
    assert (subject.image, subject.code_tree) == (environment_image_name("_octave", tree), "")
    assert subject.tree == subject.environment_tree == tree


def test_a_file_that_is_no_package_of_conda_is_no_component(bench: Workbench) -> None:
    folder = bench.environment("toy", 'summary = "x"\nextends = "_base"\nlanguage = "python"\n[conda]\n')
    packages = [
        {"manager": "conda", "name": name, "url": f"channel/noarch/{name}", "hash": {"sha256": digit * 64}}
        for name, digit in {"a-b-1.2-h0.tar.bz2": "1", "lock.json": "2"}.items()
    ]
    (folder / "conda.lock").write_text(json.dumps({"package": packages}))
    own = [one for one in components_of(bench.layout, "toy") if one.environment == "toy"]
    assert [(one.purl, one.name, one.version, one.remark) for one in own] == [
        (
            "pkg:conda/a-b@1.2?build=h0&channel=channel&subdir=noarch&type=tar.bz2",
            "a-b",
            "1.2",
            "the part was not fetched when notices were recorded",
        )
    ]
