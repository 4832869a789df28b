from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ManifestError
from harness.images.debian import PackageCandidate, close_over
from harness.images.locks import DebianPackage


def _candidate(
    name: str, *depends: tuple[str, ...], provides: tuple[str, ...] = (), essential: bool = False
) -> PackageCandidate:
    package = DebianPackage(name, "1", "all", 1, "0" * 64, f"pool/{name}.deb")
    return PackageCandidate(package, essential, provides, depends)


def _names(candidates: list[PackageCandidate], roots: list[str], left_out: list[str]) -> list[str]:
    return [package.name for package in close_over(candidates, roots, left_out)]


def test_what_only_a_left_out_package_needs_goes_too() -> None:
    candidates = [
        _candidate("octave", ("qt",), ("blas",)),
        _candidate("qt", ("llvm",), ("common",)),
        _candidate("llvm"),
        _candidate("blas", ("common",)),
        _candidate("common"),
    ]
    assert _names(candidates, ["octave"], ["qt"]) == ["blas", "common", "octave"]


def test_a_virtual_package_is_met_by_its_provider() -> None:
    candidates = [_candidate("r", ("blas3", "libblas.so.3")), _candidate("openblas", provides=("libblas.so.3",))]
    assert _names(candidates, ["r"], []) == ["openblas", "r"]


def test_essential_packages_are_roots_and_what_nothing_needs_is_dropped() -> None:
    candidates = [_candidate("dpkg", ("tar",), essential=True), _candidate("tar"), _candidate("apt", ("dpkg",))]
    assert _names(candidates, ["?essential"], []) == ["dpkg", "tar"]


def test_leaving_out_what_nothing_needs_is_an_error_that_names_it() -> None:
    with pytest.raises(ManifestError, match="libnothing"):
        close_over([_candidate("a")], ["a"], ["libnothing"])


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.sets(st.sampled_from("abcdefgh"), max_size=3)))
def test_everything_reachable_is_held_and_nothing_else(graph: dict[str, set[str]]) -> None:
    candidates = [_candidate(name, *((needed,) for needed in sorted(graph.get(name, ())))) for name in "abcdefgh"]
    reached, waiting = set(), ["a"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += graph.get(name, ())
    assert _names(candidates, ["a"], []) == sorted(reached)
