"""With real engines: images equal their records on both, and everything that is not as recorded is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.base.errors import CorruptData, ImageError, MissingData
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import Supply, ensure_environment, ensure_image, image_name
from harness.images.build import known_image, record_environment
from harness.images.builder import RECIPE, build
from harness.images.cards import environment_chain
from harness.images.export import copy_files, image_entries
from harness.images.identity import PREFIX, environment_image_name
from harness.images.locks import format_debian, read_debian
from harness.images.parts import part_path
from harness.images.receipts import building, receipt_path
from harness.images.record import recorded_tree
from harness.images.stages import make_environment
from harness.images.verify import installed_differences, run_check, verify_images
from tests.images.making import EPOCH, Workbench

pytestmark = pytest.mark.engine

# one of each language; the images of Octave and of R are larger
METHODS = ("constant", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("als_wr", "bnnr", "lrssl")))
OFFLINE = Supply(network=False)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_image_is_what_the_repository_says(any_engine: Engine, repository: Layout, method: str) -> None:
    findings = list(verify_images(any_engine, repository, [method]))
    assert [finding for finding in findings if finding.fault] == []
    assert {finding.check for finding in findings} >= {
        "image",
        "environment tree",
        "code tree",
        "installed",
        "runs",
    }


@pytest.mark.thorough
def test_a_second_build_gives_the_same_trees(docker_engine: Engine, repository: Layout) -> None:
    findings = list(verify_images(docker_engine, repository, ["constant"], rebuild=True))
    rebuilt = [finding for finding in findings if finding.check == "rebuilt"]
    assert [finding.image for finding in rebuilt] == ["_base", "_python", "_numpy", "constant"]
    assert [finding for finding in findings if finding.fault] == []
    left = docker_engine.client.images.list(f"{PREFIX}/rebuilt-numpy")
    assert left == []


@pytest.mark.thorough
def test_both_engines_make_the_same_tree_of_a_new_environment(
    docker_engine: Engine, podman_engine: Engine, bench: Workbench
) -> None:
    bench.debian("toy", {"./etc/": b"", "./etc/toy": b"1", "./usr/bin/": b"", "./usr/bin/toy": "/etc/toy"})
    trees = [
        record_environment(engine, bench.layout, "toy", supply=OFFLINE).tree
        for engine in (docker_engine, podman_engine)
    ]
    assert trees[0] == trees[1]
    for engine in (docker_engine, podman_engine):
        image = ensure_environment(engine, bench.layout, "toy", supply=OFFLINE)
        assert "etc/toy" in image_entries(engine, image.name)
        engine.client.images.remove(image.name, force=True)


def test_the_network_is_off_while_an_image_is_built(
    any_engine: Engine, repository: Layout, tmp_path: Path
) -> None:
    base = ensure_environment(any_engine, repository, "_base")
    context = tmp_path / "context"
    context.mkdir()
    (context / RECIPE).write_text(
        f"FROM {base.name} AS probe\nUSER 0:0\n"
        "RUN mkdir /seen && cat /proc/net/dev > /seen/interfaces && cat /proc/net/route > /seen/routes && "
        "perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) or die; "
        'exit(connect(S, sockaddr_in(53, inet_aton("9.9.9.9"))) ? 1 : 0)\'\n'
    )
    image_id = build(any_engine, context, target="probe", arguments={}, labels={}, epoch=EPOCH, cached=False)
    try:
        copied = copy_files(any_engine, image_id, "seen", tmp_path)
    finally:
        any_engine.client.images.remove(image_id, force=True)
    seen = {path.name: path.read_text() for path in copied}
    assert re.findall(r"^\s*(\w+):", seen["interfaces"], re.M) == ["lo"]
    assert len(seen["routes"].splitlines()) == 1  # the head, and no route


def test_a_part_that_was_tampered_with_is_refused(docker_engine: Engine, bench: Workbench) -> None:
    folder = bench.debian("toy", {"./etc/toy": b"1"})
    part = read_debian(folder / "debian.lock")[0].part
    path = part_path(bench.layout, part)
    path.write_bytes(path.read_bytes().replace(b"debian-binary", b"debian-bimary"))
    with pytest.raises(CorruptData, match="changed after it was fetched"):
        record_environment(docker_engine, bench.layout, "toy", supply=OFFLINE)


def test_a_part_that_no_source_has_is_named(docker_engine: Engine, bench: Workbench) -> None:
    folder = bench.debian("toy", {"./etc/toy": b"1"})
    part_path(bench.layout, read_debian(folder / "debian.lock")[0].part).unlink()
    with pytest.raises(MissingData, match=r"permafrost-test-toy_1\.0_all\.deb is in none of its sources"):
        record_environment(docker_engine, bench.layout, "toy", supply=OFFLINE)


def test_what_is_installed_but_not_locked_stops_the_build(docker_engine: Engine, bench: Workbench) -> None:
    folder = bench.debian("toy", {"./etc/toy": b"1"})
    lock = folder / "debian.lock"
    lock.write_text(lock.read_text().replace("permafrost-test-toy 1.0 ", "permafrost-test-toy 2.0 "))
    with pytest.raises(ImageError, match="is not what is locked") as caught:
        record_environment(docker_engine, bench.layout, "toy", supply=OFFLINE)
    assert "> permafrost-test-toy 1.0 all installed" in str(caught.value)


def test_a_build_that_comes_out_otherwise_is_refused_and_says_where(
    docker_engine: Engine, bench: Workbench
) -> None:
    folder = bench.debian("toy", {"./etc/": b"", "./etc/toy": b"1"})
    record_environment(docker_engine, bench.layout, "toy", supply=OFFLINE)
    before = environment_image_name("toy", recorded_tree(bench.layout, "toy"))
    record, listing = (folder / "tree.toml").read_text(), (folder / "tree.cpu.txt").read_text()
    bench.debian("toy", {"./etc/": b"", "./etc/toy": b"2"})
    record_environment(docker_engine, bench.layout, "toy", supply=OFFLINE)
    after = environment_image_name("toy", recorded_tree(bench.layout, "toy"))
    # The record of the first build with the lock of the second: what a tampered record looks like.
    (folder / "tree.cpu.txt").write_text(listing)
    changed = (folder / "tree.toml").read_text().split("[cpu.locks]")[1]
    (folder / "tree.toml").write_text(record.split("[cpu.locks]")[0] + "[cpu.locks]" + changed)
    docker_engine.client.images.remove(before, force=True)
    with pytest.raises(ImageError, match="came out as tree") as caught:
        ensure_environment(docker_engine, bench.layout, "toy", supply=OFFLINE)
    assert "/etc" in caught.value.where
    assert "/usr/bin" not in caught.value.where
    docker_engine.client.images.remove(after, force=True)


def test_an_image_that_was_replaced_under_its_name_is_refused(docker_engine: Engine, bench: Workbench) -> None:
    bench.debian("toy", {"./etc/": b"", "./etc/toy": b"3"})
    record_environment(docker_engine, bench.layout, "toy", supply=OFFLINE)
    name = environment_image_name("toy", recorded_tree(bench.layout, "toy"))
    base = ensure_environment(docker_engine, bench.layout, "_base")
    docker_engine.client.images.get(base.name).tag(*name.rsplit(":", 1))
    try:
        with pytest.raises(ImageError, match="does not hold what its name says") as caught:
            ensure_environment(docker_engine, bench.layout, "toy", supply=OFFLINE)
        assert base.image_id in str(caught.value)
    finally:
        docker_engine.client.images.remove(name, force=True)


@pytest.mark.thorough
@pytest.mark.alone
def test_an_image_that_was_removed_is_built_again(any_engine: Engine, repository: Layout) -> None:
    first = ensure_image(any_engine, repository, "constant")
    any_engine.client.images.remove(first.name, force=True)
    assert known_image(any_engine, repository, first.name, first.environment_tree, first.code_tree) is None
    second = ensure_image(any_engine, repository, "constant")
    assert second.name == first.name == image_name(repository, "constant")
    assert (second.environment_tree, second.code_tree) == (first.environment_tree, first.code_tree)


@pytest.mark.alone
def test_an_image_made_by_another_clone_is_read_back_and_taken(docker_engine: Engine, repository: Layout) -> None:
    first = ensure_image(docker_engine, repository, "constant")
    path = receipt_path(repository, docker_engine, first.name)
    for change in (None, path.read_text().replace(first.image_id, "sha256:" + "0" * 64)):
        path.unlink()
        if change is not None:
            path.write_text(change)
        second = ensure_image(docker_engine, repository, "constant")
        assert second.image_id == first.image_id
        assert second.code_tree == first.code_tree


@pytest.mark.alone
def test_a_method_image_with_other_code_is_refused(docker_engine: Engine, repository: Layout) -> None:
    right, other = (ensure_image(docker_engine, repository, name) for name in ("constant", "als_wr"))
    docker_engine.client.images.get(other.image_id).tag(*right.name.rsplit(":", 1))
    try:
        with pytest.raises(ImageError, match="does not hold what its name says") as caught:
            ensure_image(docker_engine, repository, "constant")
        assert f"code tree {other.code_tree[:16]} instead of {right.code_tree[:16]}" in caught.value.where
    finally:
        docker_engine.client.images.get(right.image_id).tag(*right.name.rsplit(":", 1))


@pytest.mark.thorough
def test_podman_does_not_take_another_environments_step_for_ours(podman_engine: Engine, bench: Workbench) -> None:
    """Buildah's cache ignores bind mounts: two environments with the same recipe would come out equal."""
    found = set()
    for number in ("1", "2"):
        bench.debian("toy", {"./etc/": b"", "./etc/toy": number.encode()})
        chain = environment_chain(bench.layout, "toy")
        base = ensure_environment(podman_engine, bench.layout, "_base")
        # builders beside this one take a folder that nobody holds the lock for to be left behind
        with building(bench.layout):
            made = make_environment(podman_engine, bench.layout, chain, "cpu", base=base.name)
        podman_engine.client.images.remove(made.image_id, force=True)
        found.add(made.tree)
    assert len(found) == 2


def test_a_failing_check_is_reported_with_what_it_said(docker_engine: Engine, repository: Layout) -> None:
    base = ensure_environment(docker_engine, repository, "_base")
    assert run_check(docker_engine, base.name, ["/bin/sh", "-c", "true"]) == ""
    said = run_check(docker_engine, base.name, ["/bin/sh", "-c", "echo broken >&2; exit 4"])
    assert "exit 4" in said
    assert "broken" in said
    assert "Read-only" in run_check(docker_engine, base.name, ["/bin/sh", "-c", ": > /etc/x"])


def test_installed_packages_are_compared_with_the_locks_both_ways(bench: Workbench) -> None:
    folder = bench.debian("toy", {"./etc/toy": b"1"})
    base = bench.layout.containers / "_base" / "debian.lock"
    lines = [
        f"Package: {p.name}\nStatus: install ok installed\nVersion: {p.version}\nArchitecture: {p.architecture}\n"
        for p in read_debian(base)
    ]
    extra = "Package: spy\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n"
    found = installed_differences(bench.layout, "toy", {}, "\n".join([*lines, extra]), "cpu")
    assert found == [
        "permafrost-test-toy 1.0 all is locked but not installed",
        "spy 1 all is installed but not locked",
    ]
    (folder / "debian.lock").write_text(format_debian([], name="toy"))
    assert installed_differences(bench.layout, "toy", {}, "\n".join(lines), "cpu") == []
