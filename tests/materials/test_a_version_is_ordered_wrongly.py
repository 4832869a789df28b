"""Versions of Debian packages are ordered as dpkg orders them, dpkg itself being asked."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from harness.base.layout import Layout
from harness.images.cards import environment_names, load_environment
from harness.images.locks import read_debian
from harness.materials.versions import compare_versions

# pieces that real versions are made of, and single characters that are allowed
_PIECES = st.sampled_from(
    ["~", "~~", "+", ".", "-", "0", "00", "1", "01", "9", "10", "a", "b", "Z", "rc", "deb12u", "+b"]
)
_UPSTREAM = st.lists(st.one_of(_PIECES, st.sampled_from("019azAZ.+~-")), max_size=7).map(
    lambda pieces: "0" + "".join(pieces)
)
_REVISION = st.lists(st.sampled_from("019azAZ.+~"), max_size=4).map("".join)
_EPOCHS = st.sampled_from(["", "", "0:", "1:", "01:", "12:"])


@st.composite
def versions(draw: st.DrawFn) -> str:
    revision = draw(_REVISION)
    return draw(_EPOCHS) + draw(_UPSTREAM).rstrip("-") + (f"-{revision}" if revision else "")


def dpkg_order(pairs: list[tuple[str, str]]) -> list[int]:
    """What dpkg says of each pair, all asked in one shell."""
    if shutil.which("dpkg") is None:
        pytest.skip("needs dpkg, which orders versions itself")
    script = (
        'while read -r a b; do if dpkg --compare-versions "$a" lt "$b"; then echo -1; '
        'elif dpkg --compare-versions "$a" eq "$b"; then echo 0; else echo 1; fi; done'
    )
    text = "".join(f"{one} {other}\n" for one, other in pairs)
    done = subprocess.run(["sh", "-c", script], input=text, capture_output=True, text=True, check=True)
    assert "warning" not in done.stderr, done.stderr
    return [int(line) for line in done.stdout.split()]


# a smaller counterexample would cost thousands of calls of dpkg
@settings(max_examples=30, phases=[Phase.generate])
@given(pairs=st.lists(st.tuples(versions(), versions()), min_size=10, max_size=25))
def test_the_order_is_that_of_dpkg(pairs: list[tuple[str, str]]) -> None:
    ours = [compare_versions(one, other) for one, other in pairs]
    assert dict(zip(pairs, ours, strict=True)) == dict(zip(pairs, dpkg_order(pairs), strict=True))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.0~rc1-1", "1.0-1"),
        ("1.0-1", "1.0-1+deb12u1"),
        ("1.0-1+deb12u1", "1.0-1+deb12u10"),
        ("9.9", "1:0.1"),
        ("1.0-1", "1.0-1+b1"),
        ("1.0", "1.0a"),
        ("1.0a", "1.0+"),
        ("2.9", "2.10"),
        ("1-1-1", "1-2-0"),
    ],
)
def test_older_is_older(older: str, newer: str) -> None:
    assert (compare_versions(older, newer), compare_versions(newer, older)) == (-1, 1)
    assert dpkg_order([(older, newer)]) == [-1]


def test_every_locked_version_equals_itself_and_is_ordered_as_dpkg_does(repository: Layout) -> None:
    environments = [load_environment(repository, name) for name in environment_names(repository)]
    paths = [one.lock_path("debian", "cpu") for one in environments if "debian" in one.backends]
    locked = sorted({package.version for path in paths for package in read_debian(path)})
    pairs = [*zip(locked, locked, strict=True), *pairwise(locked)]
    assert len(pairs) > 100
    assert [compare_versions(one, other) for one, other in pairs] == dpkg_order(pairs)
