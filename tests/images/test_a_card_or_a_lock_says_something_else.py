"""Environment cards and locks: every bound and every message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.base.errors import ManifestError, UsageError
from harness.images.cards import (
    AcceleratorPart,
    CondaPart,
    DebianPart,
    Environment,
    EnvironmentCard,
    WheelsPart,
    environment_chain,
    epoch_of,
    language_of,
    layers_of,
    refuse_unless_usable,
)
from harness.images.locks import DebianPackage, Part, Wheel, format_wheels, read_debian, read_wheels
from harness.images.record import wheels_not_in
from tests.core.word_for_word import said
from tests.images.making import Workbench
from tests.images.programs import SHA


def made(folder: Path, name: str = "toy", **card: Any) -> Environment:
    return Environment(name, folder, EnvironmentCard(summary="x", **card))


def test_a_card_says_what_it_does_not_say() -> None:
    card = EnvironmentCard(summary="x")
    assert card.model_dump() == {
        "summary": "x",
        "extends": None,
        "language": None,
        "epoch": None,
        "debian": {"suite": "bookworm", "archives": [], "packages": [], "left_out": {}},
        "wheels": None,
        "conda": None,
        "variants": {"cpu": {"wheels": [], "compute_capabilities": [], "not_lockable": ""}},
        "check": [],
    }
    assert WheelsPart().model_dump() == {
        "python": "3.11",
        "requirements": [],
        "left_out": {},
        "installer": "pip",
        "from_source": [],
        "flags": "-O2",
        "builder": "_compiler",
    }
    assert CondaPart().model_dump() == {
        "environment": "environment.yml",
        "platform": "linux-64",
        "installer": "_conda",
    }


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: WheelsPart(from_source=["a==1", "b"]), "'b' is not NAME==VERSION"),
        (lambda: WheelsPart(from_source=["a==1 "]), "'a==1 ' is not NAME==VERSION"),
        (lambda: WheelsPart(flags="-march=native"), "'native' would make what is built depend on the machine"),
        (lambda: WheelsPart(flags="-mtune=native -O2"), "'native' would make what is built depend on the machine"),
        (lambda: WheelsPart(flags=""), "at least 1 character"),
        (lambda: AcceleratorPart(compute_capabilities=["8"]), "'8' is not a compute capability such as '8.0'"),
        (lambda: AcceleratorPart(compute_capabilities=["8.0", "100.0"]), "'100.0' is not a compute capability"),
        (lambda: AcceleratorPart(compute_capabilities=["8.00"]), "'8.00' is not a compute capability"),
        (lambda: EnvironmentCard(summary="x", epoch=-1), "greater than or equal to 0"),
        (
            lambda: EnvironmentCard(
                summary="x", variants={"cpu": AcceleratorPart(), "cuda": AcceleratorPart(wheels=["a"])}
            ),
            "variants: have wheels, but there is no [wheels] table",
        ),
        (
            lambda: EnvironmentCard(summary="x", wheels=WheelsPart(), variants={"cuda": AcceleratorPart()}),
            "variants.cuda.compute_capabilities: is missing",
        ),
    ],
)
def test_a_card_out_of_its_bounds_says_which(make: Any, why: str) -> None:
    with pytest.raises(ValidationError) as refused:
        make()
    assert why in str(refused.value)


def test_a_card_at_its_bounds_is_taken() -> None:
    assert WheelsPart(from_source=["A.b_c-1==1!2.0+x"], flags="-f").flags == "-f"
    assert AcceleratorPart(compute_capabilities=["8.0", "12.1"]).compute_capabilities == ["8.0", "12.1"]
    assert EnvironmentCard(summary="x", epoch=0).epoch == 0
    parts: Any = {"cpu": AcceleratorPart(wheels=["a"])}
    assert EnvironmentCard(summary="x", wheels=WheelsPart(), variants=parts).variants == parts


@pytest.mark.parametrize(
    ("card", "backends", "helper"),
    [
        ({}, [], None),
        ({"debian": DebianPart(packages=["a"])}, ["debian"], None),
        ({"wheels": WheelsPart()}, ["wheels"], None),
        ({"wheels": WheelsPart(builder="_b")}, ["wheels"], None),
        ({"wheels": WheelsPart(from_source=["a==1"], builder="_b")}, ["wheels"], "_b"),
        ({"conda": CondaPart(installer="_i")}, ["conda"], "_i"),
        (
            {
                "conda": CondaPart(),
                "wheels": WheelsPart(from_source=["a==1"]),
                "debian": DebianPart(packages=["a"]),
            },
            ["debian", "wheels", "conda"],
            "_conda",
        ),
    ],
)
def test_what_an_environment_is_made_with(
    tmp_path: Path, card: dict[str, Any], backends: list[str], helper: str | None
) -> None:
    environment = made(tmp_path, **card)
    assert (environment.backends, environment.helper) == (backends, helper)
    assert layers_of([environment]) == ([environment] if backends else [])
    assert environment.supports("cpu") and not environment.supports("cuda")
    names = [environment.lock_path(one, "cuda").name for one in ("debian", "wheels", "conda")]
    assert names == ["debian.lock", "wheels.cuda.lock", "conda.lock"]


def test_the_nearest_language_and_epoch_hold(tmp_path: Path) -> None:
    base, middle, top = (
        made(tmp_path / name, name, **card)
        for name, card in (
            ("_base", {"epoch": 5, "language": "r"}),
            ("_middle", {"epoch": 0, "language": "java"}),
            ("top", {}),
        )
    )
    assert language_of([base, middle, top]) == "java" and epoch_of([base, middle, top]) == 0
    assert language_of([base, top]) == "r" and epoch_of([base, top]) == 5
    with pytest.raises(ManifestError) as refused:
        language_of([top, made(tmp_path / "last", "last")])
    assert said(refused.value) == (
        "environment 'last' has no language",
        f"{tmp_path / 'last' / 'environment.toml'}: language",
        "name one of python, octave, r, java, or extend an environment that does",
    )
    with pytest.raises(ManifestError) as refused:
        epoch_of([top, made(tmp_path / "last", "last")])
    assert said(refused.value) == (
        "no epoch is given",
        f"{tmp_path / 'top' / 'environment.toml'}: epoch",
        "write epoch = SECONDS (SOURCE_DATE_EPOCH) in the base",
    )


def test_a_circle_and_a_wrong_gpu_are_named(bench: Workbench) -> None:
    bench.environment("one", 'summary = "x"\nextends = "two"\n')
    folder = bench.environment("two", 'summary = "x"\nextends = "one"\n')
    with pytest.raises(ManifestError) as circle:
        environment_chain(bench.layout, "one")
    assert said(circle.value) == (
        "'one' extends itself",
        f"{folder / 'environment.toml'}: extends",
        "let one of them extend another environment",
    )
    card = EnvironmentCard(summary="x", variants={"cuda": AcceleratorPart(compute_capabilities=["7.0", "8.0"])})
    refuse_unless_usable(card, name="t", capability="8.0")
    with pytest.raises(UsageError) as wrong:
        refuse_unless_usable(card, name="t", capability="9.0")
    assert said(wrong.value) == (
        "this GPU has compute capability 9.0; the CUDA variant of 't' was built for 7.0, 8.0",
        "containers/t/environment.toml: variants.cuda.compute_capabilities",
        "use another GPU, or run it on the CPU (--accelerator cpu), which is the reference",
    )
    with pytest.raises(UsageError) as none:
        refuse_unless_usable(EnvironmentCard(summary="x"), name="t", capability="9.0")
    assert said(none.value) == (
        "environment 't' has no CUDA variant",
        "containers/t/environment.toml: variants",
        "run it on the CPU (--accelerator cpu)",
    )


RESTORE = "restore the file, or make it again with `harness image lock toy`"
SIX = "six fields: package version architecture size sha256 path"
WHEEL = "NAME==VERSION --hash=sha256:HASH  # FILE.whl"


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        *(
            ("debian", line, SIX)
            for line in (
                f"a 1 x 5 {SHA}",
                f"a 1 x 5 {SHA} p q",
                f"a 1 x -5 {SHA} p",
                f"a 1 x \N{SUPERSCRIPT FIVE} {SHA} p",
                f"a 1 x 5 {SHA[1:]} p",
                "\udcff",
            )
        ),
        *(("debian", f"a 1 x 5 {SHA} {path}", "a path relative to the archive") for path in ("/p", ".p", "h://p")),
        *(
            ("wheels", line, WHEEL)
            for line in (
                "a==1",
                f"a==1 --hash=sha256:{SHA[1:]}  # a.whl",
                f"a==1 --hash=sha256:{SHA}  # a.tar.gz",
                f"a==1 --hash=sha256:{SHA}  # a.whl 5 byte",
                f"a>=1 --hash=sha256:{SHA}  # a.whl",
                f"a==1 --hash=sha256:{SHA}  # a.whl built with x",
            )
        ),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, name: str, line: str, expected: str) -> None:
    path = tmp_path / "toy" / f"{name}.lock"
    path.parent.mkdir()
    path.write_text(f"# head\n\n   \n{line}\n", errors="surrogateescape")
    read: Any = read_debian if name == "debian" else read_wheels
    with pytest.raises(ManifestError) as refused:
        read(path)
    assert said(refused.value) == (f"not a lock line; expected {expected}", f"{path}: line 4", RESTORE)


def test_what_is_locked_twice_or_never_is_named(tmp_path: Path) -> None:
    path = tmp_path / "toy" / "x.lock"
    path.parent.mkdir()
    with pytest.raises(ManifestError) as refused:
        read_wheels(path)
    assert said(refused.value) == (
        "an environment has no lock",
        str(path),
        "make it with `harness image lock toy`",
    )
    for read, lines in (
        (read_debian, [f"{name} 1 x 5 {SHA} p" for name in "bacab"]),
        (read_wheels, [f"{name}==1 --hash=sha256:{SHA}  # a.whl" for name in "bacab"]),
    ):
        path.write_text("\n".join(lines))
        with pytest.raises(ManifestError) as refused:
            read(path)
        assert said(refused.value) == (
            "locked twice: a, b",
            str(path),
            "make the lock again with `harness image lock toy`",
        )


def test_every_field_of_a_lock_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    path.write_text(f"b 2:1 all 0 {SHA} pool/x/b_1_all.deb\n")
    (package,) = read_debian(path)
    assert package == DebianPackage("b", "2:1", "all", 0, SHA, "pool/x/b_1_all.deb")
    assert package.part == Part("debian", "b_1_all.deb", SHA, 0, "pool/x/b_1_all.deb")
    # at the root of its archive
    flat = replace(package, path="b_1_all.deb")
    assert flat.part == Part("debian", "b_1_all.deb", SHA, 0, "b_1_all.deb")
    part = package.part
    assert (part.kind, part.file, part.sha256, part.size, part.path) == (
        "debian",
        "b_1_all.deb",
        SHA,
        0,
        "pool/x/b_1_all.deb",
    )
    wheels = [
        Wheel("A.b", "1+x", SHA, "a.whl", installer=True, size=3),
        Wheel("b", "1", SHA, "b.tar.gz", flags="-O2 -g", size=4),
        Wheel("c", "1", SHA, "c.tar.gz", flags="x"),
        Wheel("d", "1", SHA, "d.whl", size=0),
    ]
    path.write_text(format_wheels(wheels[::-1], name="x"))
    assert path.read_text().splitlines()[2:] == [
        f"A.b==1+x --hash=sha256:{SHA}  # a.whl 3 bytes installer",
        f"b==1 --hash=sha256:{SHA}  # b.tar.gz 4 bytes built with -O2 -g",
        f"c==1 --hash=sha256:{SHA}  # c.tar.gz built with x",
        f"d==1 --hash=sha256:{SHA}  # d.whl 0 bytes",
    ]
    found = read_wheels(path)
    assert found == wheels and [one.size for one in found] == [3, 4, None, 0]
    assert [(one.part.kind, one.part.file, one.part.size, one.part.path) for one in found] == [
        ("wheel", "a.whl", 3, "A.b==1+x"),
        ("source", "b.tar.gz", 4, "b==1"),
        ("source", "c.tar.gz", None, "c==1"),
        ("wheel", "d.whl", 0, "d==1"),
    ]


def test_wheels_that_a_listing_has_no_facts_of_were_not_installed(tmp_path: Path) -> None:
    """By name, however it is spelled, and version; what only installs others is gone by then."""
    wheels = [
        Wheel("flit_core", "3.9", SHA, "f.whl", installer=True),
        Wheel("numpy", "2.0.1", SHA, "n.whl"),
        Wheel("ruamel.yaml", "0.18+x", SHA, "r.whl"),
        Wheel("scipy", "1.14", SHA, "s.whl"),
        Wheel("toy", "1.0", SHA, "t.tar.gz", flags="-O2"),
    ]
    environment = made(tmp_path, wheels=WheelsPart())
    environment.lock_path("wheels", "cuda").write_text(format_wheels(wheels, name="toy"))
    facts = ("Ruamel_Yaml-0.18+x", "numpy-2.0.2", "toy-1.0")
    lines = [f"{SHA} 5 /opt/venv/lib/python3.11/site-packages/{one}.dist-info\n" for one in facts]
    # what lies below such a folder is not the folder
    lines.append(f"{SHA} 1 /opt/venv/lib/python3.11/site-packages/scipy-1.14.dist-info/licenses\n")
    assert wheels_not_in("".join(lines), environment, "cuda") == ["numpy 2.0.1", "scipy 1.14"]
    assert wheels_not_in("", made(tmp_path), "cuda") == []
