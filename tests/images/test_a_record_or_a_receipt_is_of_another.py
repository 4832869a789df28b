"""Records, names and receipts: which variant they are of, what they hold, and why one is refused."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import ImageError, UsageError
from harness.base.layout import Layout
from harness.images import preparation, receipts
from harness.images.cards import (
    AcceleratorPart,
    Environment,
    EnvironmentCard,
    WheelsPart,
    environment_chain,
    layers_of,
    load_environment,
)
from harness.images.identity import (
    code_fault,
    combined,
    environment_image_name,
    image_name,
    image_tree,
    method_image_name,
    parity_folders,
)
from harness.images.receipts import BuiltImage, every_receipt, receipt_path, receipts_of, write_receipt
from harness.images.record import (
    TreeRecord,
    lock_digests,
    read_record,
    recorded_tree,
    variant_of,
    write_record,
)
from tests.core.word_for_word import said
from tests.images.making import Workbench


def made(folder: Path, name: str = "toy", **card: Any) -> Environment:
    return Environment(name, folder, EnvironmentCard(summary="x", **card))


# records


def test_a_variant_is_used_only_where_there_is_one(tmp_path: Path) -> None:
    cuda = AcceleratorPart(compute_capabilities=["8.0"], not_lockable="no wheels")
    both: Any = {"cpu": AcceleratorPart(), "cuda": AcceleratorPart(compute_capabilities=["8.0"])}
    two = made(tmp_path, wheels=WheelsPart(), variants=both)
    assert (variant_of(two, "cpu"), variant_of(two, "cuda")) == ("cpu", "cuda")
    one = made(tmp_path, wheels=WheelsPart())
    assert (variant_of(one, "cpu"), variant_of(one, "cuda")) == ("cpu", "cpu")
    assert variant_of(made(tmp_path, variants={"cuda": cuda}), "cuda") == "cpu", "without wheels there is one"
    only = made(tmp_path, wheels=WheelsPart(), variants={"cuda": cuda})
    for accelerator, more in (("cuda", ": no wheels"), ("cpu", "")):
        with pytest.raises(UsageError) as refused:
            variant_of(only, accelerator)  # type: ignore[arg-type]
        assert said(refused.value) == (
            f"environment 'toy' has no {accelerator} variant",
            f"{tmp_path / 'environment.toml'}: variants.{accelerator}{more}",
            "choose another (--accelerator)",
        )


def record(**changed: Any) -> TreeRecord:
    fields = {"tree": "t", "parent": "p", "files": 1, "bytes": 2, "added_bytes": -3, "locks": {"b": "2", "a": "1"}}
    return TreeRecord(**{**fields, **changed})


def test_a_record_is_this_text(tmp_path: Path) -> None:
    environment = made(tmp_path)
    assert read_record(environment, "cpu") is None
    write_record(environment, "cpu", record(), "listing")
    assert read_record(environment, "cuda") is None
    write_record(environment, "cuda", record(tree="u"), "listing cuda")
    write_record(environment, "cpu", record(locks={}), "listing cpu")
    assert (tmp_path / "tree.toml").read_text() == (
        "# Recorded by `harness image build toy --record`; do not edit.\n"
        '\n[cpu]\ntree = "t"\nparent = "p"\nfiles = 1\nbytes = 2\nadded_bytes = -3\n\n[cpu.locks]\n'
        '\n[cuda]\ntree = "u"\nparent = "p"\nfiles = 1\nbytes = 2\nadded_bytes = -3\n'
        '\n[cuda.locks]\n"a" = "1"\n"b" = "2"\n'
    )
    assert [(tmp_path / f"tree.{one}.txt").read_text() for one in ("cpu", "cuda")] == [
        "listing cpu",
        "listing cuda",
    ]
    assert (read_record(environment, "cpu"), read_record(environment, "cuda")) == (
        record(locks={}),
        record(tree="u"),
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda path: path.unlink(), "was never built and recorded"),
        (
            lambda path: path.write_text(path.read_text().replace('.lock" = "', '.lock" = "0')),
            "has locks that changed since it was recorded",
        ),
        (
            lambda path: path.write_text(path.read_text().replace('parent = "', 'parent = "0')),
            "extends an environment that changed since it was recorded",
        ),
        (
            lambda path: path.write_text(path.read_text().replace('parent = "', 'parent = "g')),
            "extends an environment that changed since it was recorded",
        ),
        (
            lambda path: path.write_text(re.sub(r'parent = "\w+"', 'parent = ""', path.read_text())),
            "extends an environment that changed since it was recorded",
        ),
    ],
)
def test_a_record_that_is_old_says_why(bench: Workbench, change: Any, why: str) -> None:
    path = bench.layout.containers / "_numpy" / "tree.toml"
    change(path)
    with pytest.raises(ImageError) as refused:
        recorded_tree(bench.layout, "als_wr")
    assert said(refused.value) == (
        f"environment '_numpy' {why}",
        str(path),
        "restore its files, or accept what they give with `harness image build _numpy --record`",
    )


@pytest.mark.parametrize("lock", ["debian.lock", "wheels.cpu.lock", "conda.lock"])
def test_every_lock_of_an_environment_holds_its_record(bench: Workbench, lock: str) -> None:
    card = 'summary = "x"\n[debian]\npackages = ["a"]\n[wheels]\n[conda]\n'
    folder = bench.environment("toy", card)
    for name in ("debian.lock", "wheels.cpu.lock", "conda.lock"):
        (folder / name).write_text(name)
    toy = load_environment(bench.layout, "toy")
    write_record(toy, "cpu", record(parent="", locks=lock_digests(toy, "cpu")), "listing")
    assert recorded_tree(bench.layout, "toy") == "t"
    (folder / lock).write_text("edited")
    with pytest.raises(ImageError) as refused:
        recorded_tree(bench.layout, "toy")
    assert refused.value.what == "environment 'toy' has locks that changed since it was recorded"


@pytest.mark.parametrize("lock", ["debian.lock", "wheels.cpu.lock", "conda.lock"])
@pytest.mark.parametrize("is_gone", [True, False])
def test_a_record_of_fewer_or_of_more_locks_is_refused(bench: Workbench, lock: str, is_gone: bool) -> None:
    card = 'summary = "x"\n[debian]\npackages = ["a"]\n[wheels]\n[conda]\n'
    folder = bench.environment("toy", card)
    for name in ("debian.lock", "wheels.cpu.lock", "conda.lock"):
        (folder / name).write_text(name)
    toy = load_environment(bench.layout, "toy")
    locks = lock_digests(toy, "cpu")
    if is_gone:
        (folder / lock).unlink()
    else:
        del locks[lock]
    write_record(toy, "cpu", record(parent="", locks=locks), "listing")
    with pytest.raises(ImageError) as refused:
        recorded_tree(bench.layout, "toy")
    assert refused.value.what == "environment 'toy' has locks that changed since it was recorded"


def test_a_record_with_a_parent_is_none_of_an_environment_without(bench: Workbench) -> None:
    toy = load_environment(bench.layout, bench.environment("toy", 'summary = "x"\n[wheels]\n').name)
    write_record(toy, "cpu", record(parent="p", locks={}), "listing")
    with pytest.raises(ImageError) as refused:
        recorded_tree(bench.layout, "toy")
    assert refused.value.what == "environment 'toy' extends an environment that changed since it was recorded"


def test_an_environment_that_holds_nothing_has_no_tree(bench: Workbench) -> None:
    bench.environment("toy", 'summary = "x"\n')
    with pytest.raises(ImageError, match=r"^environment 'toy' is empty"):
        recorded_tree(bench.layout, "toy")


# names and receipts


def test_names_say_what_an_image_holds(repository: Layout) -> None:
    tree = "0123456789abcdef0123"
    assert method_image_name("m", tree) == "localhost/permafrost/m:0123456789abcdef"
    assert environment_image_name("_e_x", tree) == "localhost/permafrost/environment-e_x:0123456789abcdef"
    assert combined("a", "b") != combined("b", "a")
    assert image_name(repository, "constant").startswith("localhost/permafrost/constant:")
    assert code_fault(repository, "constant") == ""


def test_a_method_whose_code_is_missing_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = SimpleNamespace(name="m", language="python", benchmarks=["b"], uses=["s"])
    monkeypatch.setattr("harness.images.identity.load_method", lambda *_: card)
    layout = Layout(root=tmp_path, cache=tmp_path, local=tmp_path)
    wanted = [layout.methods / "m", layout.methods / "_sdk/python", layout.methods / "_shared/s"]
    for path in wanted:
        assert code_fault(layout, "m") == f"the code of method 'm' is missing: {path}; restore the folder"
        path.mkdir(parents=True)
    assert code_fault(layout, "m") == ""
    own, core, shared = wanted
    (own / "x.py").write_text("")
    (core / "x.py").write_text("")
    assert code_fault(layout, "m") == "", "a method's own files lie apart"
    (shared / "x.py").write_text("")
    assert code_fault(layout, "m") == (
        f"two shared folders of method 'm' hold a file called x.py: {core}, {shared}; "
        "rename one of them: all lie in one folder inside the image"
    )


def test_golden_cases_of_shared_code_are_replayed_with_the_methods_own(tmp_path: Path) -> None:
    layout = Layout(root=tmp_path, cache=tmp_path, local=tmp_path)
    card: Any = SimpleNamespace(name="m", uses=["b", "a", "none"])
    expected = [layout.methods / one / "parity" for one in ("m", "_shared/b", "_shared/a")]
    for folder in (*expected, layout.methods / "_shared/other/parity", layout.methods / "_shared/none"):
        folder.mkdir(parents=True)
    assert parity_folders(layout, card) == expected
    expected[0].rmdir()
    assert parity_folders(layout, card) == expected[1:]


def built(name: str, image_id: str = "sha256:1") -> BuiltImage:
    return BuiltImage(
        engine="docker", name=name, image_id=image_id, environment_tree="e", code_tree="c", size_bytes=1
    )


def test_receipts_are_found_by_name_and_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipts, "_stores", {})
    layout = Layout(root=tmp_path, cache=tmp_path / "cache", local=tmp_path)
    asked: list[str] = []

    def engine(name: str, store: dict[str, str]) -> Any:
        socket = Path("/run", name, *store.values())
        info = lambda: asked.append(name) or store  # type: ignore[func-returns-value]  # noqa: E731
        return SimpleNamespace(name=name, socket=socket, client=SimpleNamespace(info=info))

    engines = [
        engine("docker", {"DockerRootDir": "/a"}),
        engine("docker", {"DockerRootDir": "/b"}),
        engine("podman", {}),
    ]
    for number, one in enumerate(engines):
        for name in ("x:1", "y:1"):
            write_receipt(receipt_path(layout, one, name), built(name, f"sha256:{number}"))
    assert asked == ["docker", "docker", "podman"], "an engine is asked once"
    assert sorted(one.image_id for one in receipts_of(layout, "x:1")) == ["sha256:0", "sha256:1", "sha256:2"]
    assert {one.name for one in receipts_of(layout, "x:1")} == {"x:1"}
    assert len(every_receipt(layout)) == 6 and receipts_of(layout, "z:1") == []
    path = receipt_path(layout, engines[0], "x:1")
    assert path.parent.parent == layout.cache / "images" and path.suffix == ".json"
    assert (len(path.stem), len(path.parent.name)) == (24, 12)
    # what an engine gave to an image says nothing of another engine's, nor of another image
    for one, name in ((engines[1], "x:1"), (engines[0], "y:1")):
        place = receipt_path(layout, one, name)
        own = place.read_bytes()
        place.write_bytes(path.read_bytes())
        assert receipts.read_receipt(place) is None
        place.write_bytes(own)
        assert receipts.read_receipt(place) is not None
    # one that somebody else wrote tells where there may be something to clean, and no more
    path.write_text(path.read_text().replace('"size_bytes": 1', '"size_bytes": 0'))
    assert sorted(one.image_id for one in receipts_of(layout, "x:1")) == ["sha256:1", "sha256:2"]
    assert len(every_receipt(layout)) == 6
    path.write_text("damaged")
    assert len(every_receipt(layout)) == 5 and receipts.read_receipt(path) is None


def test_a_row_of_the_overview_is_of_its_own_layer(
    repository: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts, "_stores", {})
    layout = Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path)
    engine: Any = SimpleNamespace(name="docker", socket=Path("/x"), client=SimpleNamespace(info=lambda: {}))
    name = image_name(layout, "constant")
    write_receipt(receipt_path(layout, engine, name), built(name))
    rows = {row["name"]: row for row in preparation.overview(layout)}
    top = layers_of(environment_chain(layout, "constant"))[-1]
    kept = read_record(top, "cpu")
    assert kept is not None and top.name != "constant"
    assert rows["constant"] == {
        "name": "constant",
        "kind": "method",
        "variant": "cpu",
        "extends": load_environment(layout, "constant").card.extends,
        "tree": image_tree(layout, "constant"),
        "why": "",
        "image": name,
        "bytes": kept.bytes,
        "added_bytes": 0,
        "built": [built(name).model_dump()],
    }
    own = read_record(load_environment(layout, "_numpy"), "cpu")
    assert own is not None and rows["_numpy"] == {
        "name": "_numpy",
        "kind": "environment",
        "variant": "cpu",
        "extends": load_environment(layout, "_numpy").card.extends,
        "tree": own.tree,
        "why": "",
        "image": environment_image_name("_numpy", own.tree),
        "bytes": own.bytes,
        "added_bytes": own.added_bytes,
        "built": [],
    }


def test_an_environment_that_is_being_written_hides_no_other_one(bench: Workbench) -> None:
    for name, text in (("empty", ""), ("astray", 'extends = "nowhere"\n')):
        folder = bench.layout.containers / name
        folder.mkdir()
        (folder / "environment.toml").write_text(f'summary = "x"\n{text}')
    rows = {row["name"]: row for row in preparation.overview(bench.layout)}
    assert {"_numpy", "empty", "astray"} <= {*rows}
    assert rows["empty"]["why"] == "nothing is asked for in it or below it"
    assert rows["astray"]["why"].startswith("no environment is called 'nowhere'")
    assert rows["empty"].keys() == rows["astray"].keys() == rows["_numpy"].keys()
    assert [rows["empty"][name] for name in ("kind", "tree", "image", "built")] == ["environment", "", "", []]


def test_an_environment_that_is_not_recorded_is_listed_with_the_reason(bench: Workbench) -> None:
    (bench.layout.containers / "_numpy" / "tree.toml").unlink()
    rows = {row["name"]: row for row in preparation.overview(bench.layout)}
    row = rows["_numpy"]
    assert (row["why"], row["tree"], row["image"], row["bytes"], row["added_bytes"], row["built"]) == (
        "environment '_numpy' was never built and recorded",
        "",
        "",
        0,
        0,
        [],
    )


@pytest.mark.parametrize("accelerator", ["cpu", "cuda"])
def test_the_size_on_disk_is_of_the_variant_that_is_used(repository: Layout, accelerator: Any) -> None:
    expected = 0
    layers = preparation.needed_layers(repository, ["_torch"], accelerator)
    assert accelerator in [variant for _, variant in layers]
    for environment, variant in layers:
        kept = read_record(environment, variant)
        expected += kept.added_bytes if kept is not None else 0
    assert preparation.recorded_size(repository, ["_torch"], accelerator) == expected
