"""What `harness image` says of images and parts, what it asks for, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.images.cards import environment_chain
from harness.images.preparation import needed_parts
from harness.images.receipts import BuiltImage
from harness.images.transport import SavedImage, SavedImages
from harness.images.verify import ImageFinding
from harness.methods.card import method_names
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

image = "harness.cli.image"
ENGINE = object()
BUILT = BuiltImage(
    engine="docker",
    name="permafrost/bnnr:1",
    image_id="sha256:aa",
    environment_tree="e" * 40,
    code_tree="c" * 40,
    size_bytes=123_400_000,
    built_seconds=4.26,
)


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that answers, and does nothing."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(f"{image}.find_engine", lambda _layout: nullcontext(ENGINE))


class Supplies:
    """What a command asked a supply of parts for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, new: int = 0) -> None:
        self.asked: list[dict[str, Any]] = []
        self.fetched: list[Any] = []
        self.new = new
        monkeypatch.setattr(f"{image}.Supply", self._made)

    def _made(self, mirrors: tuple[Path, ...] = (), **others: Any) -> Supplies:
        self.asked.append({"mirrors": mirrors, **others})
        return self

    def fetch(self, _layout: Layout, parts: list[str]) -> int:
        """Say that some were new, and report each as it comes."""
        self.fetched.append(parts)
        report = self.asked[-1].get("progress")
        for number, part in enumerate(parts, start=1):
            if report:
                report(number, len(parts), SimpleNamespace(file=part))
        return self.new


def test_a_row_tells_what_is_recorded_and_what_was_built(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = {
        "name": "bnnr",
        "kind": "method",
        "variant": "cpu",
        "extends": "_octave",
        "tree": "0123456789abcdef" + "9" * 24,
        "why": "",
        "image": BUILT.name,
        "bytes": 123_400_000,
        "added_bytes": 2_000_000,
        "built": [BUILT.model_dump(), BUILT.model_copy(update={"built_seconds": 0.0}).model_dump()],
    }
    bare = {**recorded, "name": "_r", "kind": "environment", "extends": None, "bytes": 0, "added_bytes": 0}
    lacking = {**bare, "tree": "", "why": "it was never built", "image": "", "built": []}
    plain = {**bare, "built": []}
    monkeypatch.setattr(f"{image}.overview", lambda _layout: [recorded, lacking, plain])
    head, *lines = [
        [cell.strip() for cell in line.split("  ") if cell.strip()]
        for line in harness_of("image", "list").stdout.splitlines()
    ]
    assert head == ["name", "kind", "for", "on top of", "tree", "MB", "own MB", "built here"]
    built = "docker 123 MB in 4.3 s; docker 123 MB"
    assert lines == [
        [*("bnnr", "method", "cpu", "_octave", "0123456789abcdef"), *("123", "2"), built],
        ["_r", "environment", "cpu", "-", "-", "0", "0", "it was never built"],
        ["_r", "environment", "cpu", "-", "0123456789abcdef", "0", "0", "-"],
    ]
    rows = document(harness_of("image", "list", "--json"))["rows"]
    assert rows == [recorded, lacking, plain]


def test_a_lock_fetches_what_parents_hold_and_says_what_is_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    supplies = Supplies(monkeypatch)
    monkeypatch.setattr(f"{image}.needed_parts", lambda _layout, names: [f"parts of {', '.join(names)}"])

    def lock(_layout: Layout, name: str, *, say: Callable[[str], None]) -> list[Path]:
        say("resolving")
        return [Path(name) / "a.lock", Path(name) / "b.lock"]

    monkeypatch.setattr(f"{image}.lock_environment", lock)
    result = harness_of("image", "lock", "_octave", "bnnr", "--mirror", str(tmp_path))
    assert result.stdout.splitlines() == [
        line
        for name in ("_octave", "bnnr")
        for line in (
            f"{name}: resolving",
            f"{name}: wrote {name}/a.lock",
            f"{name}: wrote {name}/b.lock",
            f"{name}: now run `harness image build {name} --record`",
        )
    ]
    parents = {
        name: environment_chain(Layout(REPOSITORY, tmp_path, tmp_path), name)[-1].card.extends
        for name in ("_octave", "bnnr")
    }
    assert supplies.fetched == [[f"parts of {one}"] for one in parents.values() if one]
    assert supplies.fetched and all(one == {"mirrors": (tmp_path,)} for one in supplies.asked)
    result = harness_of("image", "lock", "bnnr", "--json")
    assert document(result)["rows"] == [{"name": "bnnr", "locks": ["bnnr/a.lock", "bnnr/b.lock"]}]
    assert result.stderr == "bnnr: resolving\n"
    monkeypatch.setattr(f"{image}.lock_environment", lambda *_, say: [])
    assert harness_of("image", "lock", "bnnr").stdout == "bnnr: nothing in it is locked\n"


def test_parts_that_are_not_here_are_listed_and_none_is_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repository: Layout
) -> None:
    layout = Layout(repository.root, tmp_path / "cache", tmp_path / "local")
    monkeypatch.setattr(f"{image}.find_layout", lambda: layout)
    supplies = Supplies(monkeypatch, new=2)
    parts = needed_parts(layout, ["_python"])
    # of a part whose lock says no size none is told
    parts[-1] = replace(parts[-1], size=None)
    monkeypatch.setattr(f"{image}.needed_parts", lambda *_: parts)
    write_atomic(layout.parts / parts[0].sha256[:2] / parts[0].sha256, "here")
    head, *rows, last = harness_of("image", "fetch", "_python", "--dry-run").stdout.splitlines()
    assert head.split() == ["kind", "bytes", "sha256", "where", "an", "archive", "keeps", "it"]
    assert [row.split() for row in rows] == [
        [part.kind, str(part.size or "?"), part.sha256, part.path] for part in parts[1:]
    ]
    assert last == f"not here: {len(parts) - 1} of {len(parts)} parts; {layout.parts}"
    told = document(harness_of("image", "fetch", "_python", "--dry-run", "--json"))
    assert told["missing"] == [asdict(part) for part in parts[1:]] and (told["parts"], told["new"]) == (
        len(parts),
        0,
    )
    for part in parts:
        write_atomic(layout.parts / part.sha256[:2] / part.sha256, "here")
    told_all = harness_of("image", "fetch", "_python", "--dry-run").stdout
    assert told_all == f"not here: 0 of {len(parts)} parts; {layout.parts}\n" and supplies.fetched == []


def test_parts_are_counted_as_they_come(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repository: Layout
) -> None:
    asked: list[Any] = []

    def needed(_layout: Layout, names: list[str], accelerator: str) -> list[str]:
        asked.append((names, accelerator))
        return ["a.deb", "b.deb", "c.deb"]

    supplies = Supplies(monkeypatch, new=2)
    steps: list[Any] = []
    progress = SimpleNamespace(
        begin=lambda what, total: steps.append((what, total)), step=lambda file: steps.append(file)
    )
    choices: list[object] = []

    def progress_for(choice: object) -> object:
        choices.append(choice)
        return nullcontext(progress)

    monkeypatch.setattr(f"{image}.needed_parts", needed)
    monkeypatch.setattr(f"{image}.progress_for", progress_for)
    result = harness_of("image", "fetch", "bnnr", "--accelerator", "cuda", "--mirror", str(tmp_path))
    folder = repository.parts
    assert result.stdout == f"parts that are here, as locked: 3, of them fetched now: 2; {folder}\n"
    # a bar for all of them, begun once
    assert steps == [("fetching parts", 3), "a.deb", "b.deb", "c.deb"]
    told = document(harness_of("image", "fetch", "--all", "--json"))
    assert (told["folder"], told["parts"], told["new"]) == (str(folder), 3, 2)
    harness_of("image", "fetch")
    every = method_names(repository)
    assert asked == [(["bnnr"], "cuda"), (every, "cpu"), (every, "cpu")]
    assert choices == ["auto", None, "auto"] and supplies.fetched == [["a.deb", "b.deb", "c.deb"]] * 3
    assert [one["mirrors"] for one in supplies.asked] == [(tmp_path,), (), ()]


def test_what_is_built_is_told_and_recorded_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[Any] = []
    supplies = Supplies(monkeypatch)

    def making(word: str) -> Callable[..., Any]:
        def make(engine: object, _layout: Layout, name: str, accelerator: str, *, supply: Supplies) -> Any:
            assert (engine, supply) == (ENGINE, supplies)
            done.append((word, name, accelerator))
            # what a build says while it works
            supplies.asked[-1]["announce"](f"{word} {name}")
            recorded = SimpleNamespace(tree="0123456789abcdef" + "9" * 24, bytes=2_600_000)
            return recorded if word == "record" else BUILT.model_copy(update={"name": name})

        return make

    for word in ("record_environment", "ensure_image", "ensure_environment"):
        monkeypatch.setattr(f"{image}.{word}", making(word.partition("_")[0] if "record" in word else word))
    result = harness_of("image", "build", "bnnr", "_octave", "--offline", "--mirror", str(tmp_path))
    lines = [f"{name}  123 MB  built in 4.3 s  sha256:aa" for name in ("bnnr", "_octave")]
    assert result.stdout.splitlines() == lines
    assert result.stderr.splitlines() == ["ensure_image bnnr", "ensure_environment _octave"]
    assert done == [("ensure_image", "bnnr", "cpu"), ("ensure_environment", "_octave", "cpu")]
    assert (supplies.asked[0]["mirrors"], supplies.asked[0]["network"]) == ((tmp_path,), False)
    assert callable(supplies.asked[0]["progress"])

    done.clear()
    result = harness_of("image", "build", "bnnr", "--record", "--accelerator", "cuda")
    assert done == [("record", "bnnr", "cuda"), ("ensure_image", "bnnr", "cuda")]
    assert result.stdout.splitlines() == ["bnnr: recorded tree 0123456789abcdef, 3 MB", lines[0]]
    assert supplies.asked[1]["network"] is True
    result = harness_of("image", "build", "bnnr", "--record", "--json")
    assert document(result)["rows"] == [BUILT.model_copy(update={"name": "bnnr"}).model_dump()]
    assert "bnnr: recorded tree 0123456789abcdef, 3 MB" in result.stderr.splitlines()


FINDINGS = (
    ImageFinding("bnnr", "tree", "as recorded", seconds=1.26),
    ImageFinding("bnnr", "code", "as recorded", "another tree", 12.0),
)


@pytest.mark.parametrize(("findings", "code"), [(FINDINGS, 3), (FINDINGS[:1], 0)])
def test_an_image_that_is_another_one_is_a_fault(
    findings: tuple[ImageFinding, ...], code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []
    supplies = Supplies(monkeypatch)

    def verify(
        engine: object, _layout: Layout, names: list[str], accelerator: str, *, rebuild: bool, supply: object
    ) -> Iterator[ImageFinding]:
        assert (engine, supply) == (ENGINE, supplies)
        asked.append((names, accelerator, rebuild))
        yield from findings

    monkeypatch.setattr(f"{image}.verify_images", verify)
    result = harness_of("image", "verify", "bnnr", "--rebuild", "--mirror", str(tmp_path))
    lines = [
        "ok     bnnr         tree                1.3 s  as recorded",
        "FAULT  bnnr         code               12.0 s  another tree",
    ]
    assert (result.return_value, result.stdout.splitlines()) == (code, lines[: len(findings)])
    result = harness_of("image", "verify", "bnnr", "--accelerator", "cuda", "--json")
    assert (result.return_value, document(result)["rows"]) == (code, [one.as_json() for one in findings])
    assert asked == [(["bnnr"], "cpu", True), (["bnnr"], "cuda", False)]
    assert supplies.asked == [{"mirrors": (tmp_path,)}, {"mirrors": ()}]


def test_parts_and_images_are_handed_over_to_a_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repository: Layout
) -> None:
    asked: list[Any] = []
    file, other = tmp_path / "one.tar", tmp_path / "other.tar"
    file.write_bytes(b"x" * 2_600_000)
    other.write_bytes(b"x" * 1_400_000)

    def needed(_layout: Layout, names: list[str], accelerator: str) -> list[str]:
        asked.append((names, accelerator))
        return ["a.deb", "b.deb"]

    def handed(engine: object, _layout: Layout, names: list[str], folder: Path, accelerator: str) -> list[Path]:
        assert engine is ENGINE
        asked.append((names, folder, accelerator))
        return [file, other]

    monkeypatch.setattr(f"{image}.needed_parts", needed)
    monkeypatch.setattr(f"{image}.export_parts", lambda _layout, parts, folder: len(parts) - (folder != tmp_path))
    monkeypatch.setattr(f"{image}.hand_over", handed)
    result = harness_of("image", "export", str(tmp_path / "new"), "bnnr", "_octave", "drrs", "--images")
    assert result.stdout.splitlines() == [
        f"parts in {tmp_path / 'new'}: 2, of them new: 1",
        f"{file}  3 MB",
        f"{other}  1 MB",
    ]
    # an environment has no image of its own to be handed over
    assert asked == [(["bnnr", "_octave", "drrs"], "cpu"), (["bnnr", "drrs"], tmp_path / "new", "cpu")]
    asked.clear()
    result = harness_of("image", "export", str(tmp_path), "--accelerator", "cuda")
    assert result.stdout == f"parts in {tmp_path}: 2, of them new: 2\n"
    assert asked == [(method_names(repository), "cuda")]
    told = document(harness_of("image", "export", str(tmp_path / "new"), "bnnr", "--images", "--json"))
    assert (told["folder"], told["parts"], told["new"], told["images"]) == (
        str(tmp_path / "new"),
        2,
        1,
        [str(file), str(other)],
    )


def test_images_of_a_file_are_told_with_their_trees(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    file = tmp_path / "images.tar"
    supplies = Supplies(monkeypatch)
    saved = SavedImages(
        images=tuple(
            SavedImage(
                name=name, accelerator="cpu", image=f"p/{name}:1", environment_tree="e" * 40, code_tree=code
            )
            for name, code in (("bnnr", "c" * 40), ("_octave", ""))
        )
    )

    def save(
        engine: object, _layout: Layout, names: list[str], target: Path, accelerator: str, *, supply: object
    ) -> SavedImages:
        assert (engine, supply) == (ENGINE, supplies)
        asked.append((names, accelerator))
        target.write_bytes(b"x" * 2_600_000)
        return saved

    monkeypatch.setattr(f"{image}.save_images", save)
    result = harness_of("image", "save", str(file), "bnnr", "_octave", "--mirror", str(tmp_path))
    assert result.stdout.splitlines() == [
        f"p/bnnr:1  environment tree {'e' * 16}, code tree {'c' * 16}",
        f"p/_octave:1  environment tree {'e' * 16}, code tree -",
        f"{file}: 3 MB",
    ]
    told = document(harness_of("image", "save", str(file), "bnnr", "--accelerator", "cuda", "--json"))
    assert (told["file"], told["bytes"], told["format"]) == (str(file), 2_600_000, 1)
    assert [one["name"] for one in told["images"]] == ["bnnr", "_octave"]
    assert asked == [(["bnnr", "_octave"], "cpu"), (["bnnr"], "cuda")]
    assert supplies.asked == [{"mirrors": (tmp_path,)}, {"mirrors": ()}]

    def load(engine: object, _layout: Layout, taken: Path) -> list[BuiltImage]:
        assert (engine, taken) == (ENGINE, file)
        return [BUILT, other]

    other = BUILT.model_copy(update={"name": "permafrost/drrs:1", "image_id": "sha256:bb"})
    monkeypatch.setattr(f"{image}.load_images", load)
    assert harness_of("image", "load", str(file)).stdout.splitlines() == [
        "permafrost/bnnr:1  verified  sha256:aa",
        "permafrost/drrs:1  verified  sha256:bb",
    ]
    rows = document(harness_of("image", "load", str(file), "--json"))["rows"]
    assert rows == [BUILT.model_dump(), other.model_dump()]
