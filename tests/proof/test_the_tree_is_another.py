"""The tree is that of RFC 6962: held against its definition, written out here by hand, whatever the size."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.proof.tree import (
    consistency_proof,
    inclusion_proof,
    is_extended,
    is_included,
    leaf_hash,
    root_of,
)

CONTENTS = st.lists(st.binary(max_size=8), max_size=40, unique=True)


def sha(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def defined_root(contents: list[bytes]) -> bytes:
    """MTH of section 2.1, word for word."""
    n = len(contents)
    if n == 0:
        return sha(b"")
    if n == 1:
        return sha(b"\x00" + contents[0])
    k = 1
    while k * 2 < n:
        k *= 2
    return sha(b"\x01" + defined_root(contents[:k]) + defined_root(contents[k:]))


def hashes(contents: list[bytes]) -> list[bytes]:
    return [leaf_hash(content) for content in contents]


@given(CONTENTS)
def test_the_root_is_the_defined_one(contents: list[bytes]) -> None:
    assert root_of(hashes(contents)) == defined_root(contents)


@given(CONTENTS.filter(len), st.data())
def test_a_leaf_is_shown_where_it_is_and_nowhere_else(contents: list[bytes], data: st.DataObject) -> None:
    leaves = hashes(contents)
    size, root = len(leaves), root_of(leaves)
    place = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(leaves, place)
    assert is_included(leaves[place], place, size, proof, root)
    assert not is_included(leaf_hash(b"nothing of these"), place, size, proof, root)
    assert not is_included(leaves[place], size, size, proof, root)
    assert not is_included(leaves[place], place, size, [*proof, root], root)
    if proof:
        assert not is_included(leaves[place], place, size, proof[:-1], root)
        other = data.draw(st.integers(0, size - 1))
        assert is_included(leaves[place], other, size, proof, root) == (other == place)


@given(CONTENTS.filter(len), st.data())
def test_a_log_that_has_grown_is_told_from_another(contents: list[bytes], data: st.DataObject) -> None:
    leaves = hashes(contents)
    size = data.draw(st.integers(1, len(leaves)))
    before, after = root_of(leaves[:size]), root_of(leaves)
    proof = consistency_proof(leaves, size)
    assert is_extended(size, before, len(leaves), after, proof)
    assert not is_extended(size, sha(before), len(leaves), after, proof)
    assert not is_extended(size, before, len(leaves), sha(after), proof)
    assert not is_extended(size, before, len(leaves), after, [*proof, after])
    place = data.draw(st.integers(0, size - 1))
    forged = [*leaves]
    forged[place] = leaf_hash(b"nothing of these")
    assert not is_extended(size, before, len(forged), root_of(forged), consistency_proof(forged, size))


def test_there_is_no_proof_of_what_is_not_there() -> None:
    leaves = hashes([b"one", b"two"])
    for place in (-1, 2):
        with pytest.raises(IndexError):
            inclusion_proof(leaves, place)
    for size in (0, 3):
        with pytest.raises(IndexError):
            consistency_proof(leaves, size)
    assert not is_extended(0, root_of([]), 2, root_of(leaves), [])
    assert not is_extended(2, root_of(leaves), 1, leaves[0], [])
    # a log does not shrink, and one of nothing was never there, whatever root is said to be theirs
    assert not is_extended(2, root_of(leaves), 1, root_of(leaves), [])
    assert not is_extended(0, root_of(leaves), 2, root_of(leaves), [root_of(leaves)])
    assert not is_extended(3, root_of(leaves), 2, root_of(leaves), [])
    assert is_extended(2, root_of(leaves), 2, root_of(leaves), [])
    # a proof that ends early shows nothing of a larger log
    assert is_extended(1, leaves[0], 2, root_of(leaves), [leaves[1]])
    assert not is_extended(1, leaves[0], 8, root_of(leaves), [leaves[1]])
    for place in (-1, 2):
        assert not is_included(leaves[0], place, 2, [leaves[1]], root_of(leaves))
    # counted from the end is no place
    assert is_included(leaves[1], 1, 2, [leaves[0]], root_of(leaves))
    assert not is_included(leaves[1], -1, 2, [leaves[0]], root_of(leaves))
    with pytest.raises(IndexError, match="a log of 2 leaves has none at 2"):
        inclusion_proof(leaves, 2)
    with pytest.raises(IndexError, match="a log of 2 leaves was never one of 3"):
        consistency_proof(leaves, 3)


def test_proofs_of_every_place_and_every_size_hold_and_no_others() -> None:
    """Of all logs of few leaves: a path that only some sizes take is not left to chance."""
    leaves = hashes([bytes([number]) for number in range(34)])
    roots = [root_of(leaves[:size]) for size in range(len(leaves) + 1)]
    other = sha(b"nothing of these")
    for later in range(1, len(leaves) + 1):
        for place in range(later):
            proof = inclusion_proof(leaves[:later], place)
            assert is_included(leaves[place], place, later, proof, roots[later])
            assert not is_included(other, place, later, proof, roots[later])
        for size in range(1, later):
            proof = consistency_proof(leaves[:later], size)
            assert is_extended(size, roots[size], later, roots[later], proof)
            assert not is_extended(size, other, later, roots[later], proof)
            assert not is_extended(size, roots[size], later, other, proof)
            for at in range(len(proof)):
                assert not is_extended(size, roots[size], later, roots[later], [*proof[:at], *proof[at + 1 :]])
