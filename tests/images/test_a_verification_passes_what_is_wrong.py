"""What `harness image verify` says, check by check, with no engine at hand: each fault is a finding of its own."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from docker.errors import APIError

from harness.base.errors import ImageError
from harness.base.layout import Layout
from harness.images import verify
from harness.images.fetch import Supply
from harness.images.identity import combined
from harness.images.locks import DebianPackage, Wheel, format_debian, format_wheels, read_debian
from harness.images.trees import TreeEntry, environment_listing, listing_digest, read_tree

ENTRIES = {
    "opt/method/main.py": TreeEntry("file", 0o644, 0, 0, "", "1" * 64, 3),
    "usr": TreeEntry("folder", 0o755, 0, 0, "", "", 0),
}
TREE = listing_digest(environment_listing(ENTRIES, {}))
IMAGE_ID = "sha256:" + "abcdef0123456789" * 4


class FakeContainer:
    """Ends with a code, or never answers."""

    def __init__(self, code: int, output: bytes, *, silent: bool = False) -> None:
        self.code, self.output, self.silent = code, output, silent
        self.did: list[str] = []

    def start(self) -> None:
        self.did.append("start")

    def wait(self, timeout: int) -> dict[str, int]:
        self.did.append(f"wait {timeout}")
        if self.silent:
            raise requests.ReadTimeout
        return {"StatusCode": self.code}

    def logs(self, *, stream: bool, follow: bool) -> bytes:
        assert not stream and not follow, "a stream of Podman may never end"
        return self.output

    def remove(self, *, force: bool) -> None:
        self.did.append(f"remove {force}")


def checked(container: FakeContainer, *, refused: str = "") -> tuple[str, dict[str, Any]]:
    """What a check of an environment says, and what the engine was asked for."""
    asked: dict[str, Any] = {}

    def create(image: str, **settings: Any) -> FakeContainer:
        asked.update(settings, image=image)
        if refused:
            raise APIError("no", explanation=refused)
        return container

    engine: Any = SimpleNamespace(client=SimpleNamespace(containers=SimpleNamespace(create=create)))
    return verify.run_check(engine, "an/image", ["python", "-c", "import numpy"]), asked


def test_the_check_of_an_environment_runs_behind_walls() -> None:
    container = FakeContainer(0, b"all is well")
    fault, asked = checked(container)
    assert fault == "" and container.did == ["start", "wait 60", "remove True"]
    assert asked == {
        "image": "an/image",
        "entrypoint": ["python"],
        "command": ["-c", "import numpy"],
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "tmpfs": {"/tmp": "size=64m"},
        "labels": {"permafrost": "check"},
    }


def test_a_check_that_fails_says_what_the_program_said_at_last() -> None:
    output = b"a" * 500 + b"\xff" + b"b" * 399 + b"\n"
    fault, _ = checked(FakeContainer(3, output))
    assert fault == "exit 3: \N{REPLACEMENT CHARACTER}" + "b" * 399


def test_a_check_that_never_ends_is_given_up_and_removed() -> None:
    container = FakeContainer(0, b"", silent=True)
    assert checked(container)[0] == "no answer within 60 s"
    assert container.did[-1] == "remove True"


def test_a_check_that_can_not_begin_says_why() -> None:
    assert checked(FakeContainer(0, b""), refused="no such image")[0] == "no such image"


class Bench:
    """The parts of a verification, each of which can be made to fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.missing = self.tree_fault = self.check_fault = ""
        self.code = "c" * 64
        self.differences: list[str] = []
        checks = {"_base": ["sh"], "_python": [], "_numpy": ["python"]}
        links = [SimpleNamespace(name=name, card=SimpleNamespace(check=check)) for name, check in checks.items()]
        patches: dict[str, Any] = {
            "ensure_image": self._ensured("method"),
            "ensure_environment": self._ensured("environment"),
            "image_entries": lambda _engine, name: self._asked("entries", name, ENTRIES),
            "image_config": lambda _engine, name: self._asked("config", name, {}),
            "environment_chain": lambda _layout, name: self._asked("chain", name, links),
            "layers_of": lambda chain: chain,
            "variant_of": lambda environment, accelerator: f"{environment.name} {accelerator}",
            "read_record": lambda environment, variant: self._asked("record", variant, f"of {environment.name}"),
            "compare_with_record": self._compare,
            "code_of_entries": lambda entries: self._asked("code", len(entries), self.code),
            "_dpkg_status": lambda _engine, name: self._asked("status", name, "status"),
            "installed_differences": lambda *about: self._asked("installed", about[1:], self.differences),
            "run_check": lambda _engine, image, command: self._asked("run", (image, *command), self.check_fault),
        }
        for name, answer in patches.items():
            monkeypatch.setattr(verify, name, answer)

    def _asked(self, what: str, about: object, answer: Any) -> Any:
        self.asked.append((what, about))
        return answer

    def _ensured(self, kind: str) -> Any:
        def ensure(_engine: object, _layout: object, name: str, accelerator: str, *, supply: object) -> Any:
            self.asked.append((kind, name, accelerator, supply))
            if self.missing:
                raise ImageError(self.missing, where="here", todo="build it")
            return SimpleNamespace(
                image_id=IMAGE_ID, name=f"permafrost/{name}:1", environment_tree=TREE, code_tree="c" * 64
            )

        return ensure

    def _compare(self, environment: Any, variant: str, listing: str, record: str) -> None:
        assert (environment.name, variant, record) == ("_numpy", "_numpy cuda", "of _numpy")
        assert listing_digest(listing) == TREE
        if self.tree_fault:
            raise ImageError(self.tree_fault, where="/usr", todo="build it again")

    def findings(self, layout: Layout, *names: str) -> list[verify.ImageFinding]:
        supply: Any = "a supply"
        engine: Any = None
        return list(verify.verify_images(engine, layout, names, "cuda", supply=supply))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def outcomes_of(findings: Sequence[verify.ImageFinding]) -> list[tuple[str, str, str]]:
    return [(one.check, one.detail, one.fault) for one in findings]


WELL = [
    ("image", "abcdef012345 is the one that was verified when it was built", ""),
    ("environment tree", f"{TREE[:16]}, 2 entries", ""),
    ("code tree", f"{'c' * 16}; image tree {combined(TREE, 'c' * 64)[:16]}", ""),
    ("installed", "equals the locks", ""),
    ("runs", "check of _base", ""),
    ("runs", "check of _numpy", ""),
]


def test_a_method_is_checked_in_every_way(bench: Bench, layout: Layout) -> None:
    findings = bench.findings(layout, "constant")
    assert outcomes_of(findings) == WELL
    assert all(one.image == "constant" and one.as_json()["ok"] and one.seconds >= 0 for one in findings)
    assert bench.asked[0] == ("method", "constant", "cuda", "a supply")
    image = "permafrost/constant:1"
    wanted = [("entries", image), ("config", image), ("status", image), ("code", 2), ("run", (image, "sh"))]
    wanted.append(("run", (image, "python")))
    assert all(one in bench.asked for one in wanted)
    (installed,) = (one[1] for one in bench.asked if one[0] == "installed")
    assert installed == ("constant", ENTRIES, "status", "cuda")


def test_an_environment_has_no_code(bench: Bench, layout: Layout) -> None:
    assert outcomes_of(bench.findings(layout, "_numpy")) == [one for one in WELL if one[0] != "code tree"]
    assert bench.asked[0] == ("environment", "_numpy", "cuda", "a supply")


def test_several_images_are_checked_one_after_the_other(bench: Bench, layout: Layout) -> None:
    bench.missing = "it is not built"
    findings = bench.findings(layout, "constant", "_numpy")
    assert [one.image for one in findings] == ["constant", "_numpy"]


def test_an_image_that_is_not_there_is_the_only_finding(bench: Bench, layout: Layout) -> None:
    bench.missing = "it is not built"
    (finding,) = bench.findings(layout, "constant")
    detail = "exists and is the one that was verified when it was built"
    assert outcomes_of([finding]) == [("image", detail, "it is not built (here)")] and not finding.as_json()["ok"]


def test_the_whole_code_tree_is_compared(bench: Bench, layout: Layout) -> None:
    bench.code = "c" * 63 + "d"
    (finding,) = (one for one in bench.findings(layout, "constant") if one.check == "code tree")
    assert finding.fault


@pytest.mark.parametrize("fault", ["tree", "code", "installed", "check"])
def test_one_fault_hides_no_other_check(bench: Bench, layout: Layout, fault: str) -> None:
    expected = [*WELL]
    if fault == "tree":
        bench.tree_fault = "another tree"
        expected[1] = (*WELL[1][:2], "another tree (/usr)")
    elif fault == "code":
        bench.code = "d" * 64
        detail = f"{'d' * 16}; image tree {combined(TREE, 'd' * 64)[:16]}"
        expected[2] = ("code tree", detail, f"the image holds {'d' * 16}, locked is {'c' * 16}")
    elif fault == "installed":
        bench.differences = [f"p{number} is locked but not installed" for number in range(9)]
        expected[3] = (*WELL[3][:2], "; ".join(bench.differences[:8]))
    else:
        bench.check_fault = "exit 1: no numpy"
        expected[4:] = [(*one[:2], "exit 1: no numpy") for one in WELL[4:]]
    findings = bench.findings(layout, "constant")
    assert outcomes_of(findings) == expected
    assert [one.as_json()["ok"] for one in findings].count(False) == (2 if fault == "check" else 1)


def test_a_rebuild_is_made_only_when_it_is_asked_for(
    bench: Bench, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    again: list[tuple[object, ...]] = []

    def rebuild(_engine: object, *about: object) -> Iterator[verify.ImageFinding]:
        again.append(about)
        yield verify.ImageFinding("constant", "rebuilt", "equal")

    monkeypatch.setattr(verify, "_rebuild", rebuild)
    assert outcomes_of(bench.findings(layout, "constant")) == WELL and not again
    engine: Any = None
    supply: Any = "a supply"
    for given, used in ((supply, supply), (None, Supply())):
        findings = list(verify.verify_images(engine, layout, ["constant"], "cuda", rebuild=True, supply=given))
        assert outcomes_of(findings) == [*WELL, ("rebuilt", "equal", "")]
        assert again.pop() == (layout, ["constant"], "cuda", used)


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.FIFOTYPE])
@pytest.mark.parametrize("name", ["usr/x", "opt/method/x.py"])
def test_whose_an_entry_is_is_read_the_right_way_round(kind: bytes, name: str) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.uid, entry.gid, entry.linkname = kind, 7, 8, "elsewhere"
        archive.addfile(entry)
    buffer.seek(0)
    (found,) = read_tree(buffer).values()
    assert (found.uid, found.gid) == (7, 8)
    assert found.target == ("elsewhere" if kind == tarfile.SYMTYPE else "")


def test_committed_locks_say_whence_they_are_and_read_back_as_they_are(repository: Layout) -> None:
    locks = sorted(repository.containers.glob("*/*.lock"))
    assert len(locks) > 20
    for path in locks:
        text = path.read_text(encoding="utf-8")
        command = f"`harness image lock {path.parent.name}`"
        assert command in text.split("\n", 1)[0] or path.name.startswith("conda"), path
        if path.name == "debian.lock":
            assert text == format_debian(read_debian(path), name=Path(path).parent.name)


def test_a_lock_says_how_it_is_made_and_what_its_columns_are() -> None:
    head = "# Generated by `harness image lock x`; do not edit."
    wheel = Wheel("numpy", "1.0", "a" * 64, "numpy-1.0-py3-none-any.whl", size=7)
    assert format_wheels([wheel], name="x").splitlines() == [
        head,
        "# requirement --hash  # file size",
        f"numpy==1.0 --hash=sha256:{'a' * 64}  # numpy-1.0-py3-none-any.whl 7 bytes",
    ]
    package = DebianPackage("libc6", "2.36", "amd64", 9, "b" * 64, "pool/libc6.deb")
    assert format_debian([package], name="x").splitlines() == [
        head,
        "# package version architecture size sha256 path-in-the-archive",
        f"libc6 2.36 amd64 9 {'b' * 64} pool/libc6.deb",
    ]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("helper", [None, "_compiler"])
def test_a_layer_is_made_again_on_its_rebuilt_parent(
    monkeypatch: pytest.MonkeyPatch, layout: Layout, count: int, helper: str | None
) -> None:
    layers = [SimpleNamespace(name=name, helper=helper) for name in ("_base", "_python", "_numpy")[:count]]
    asked: dict[str, Any] = {}
    monkeypatch.setattr(verify, "environment_chain", lambda _layout, name: (name, layers))
    monkeypatch.setattr(verify, "layers_of", lambda chain: chain[1])
    monkeypatch.setattr(
        verify,
        "make_environment",
        lambda *about, **choices: asked.update(choices, layers=about[2], variant=about[3]),
    )
    engine: Any = None
    top: Any = layers[-1]
    rebuilds = {name: f"rebuilt {name}" for name in ("_base", "_python", "_compiler")}
    verify._make_again(engine, layout, top, "cuda", rebuilds)
    assert asked == {
        "layers": layers,
        "variant": "cuda",
        "base": f"rebuilt {layers[-2].name}" if count > 1 else None,
        "helper": "rebuilt _compiler" if helper else None,
        "cached": False,
    }
