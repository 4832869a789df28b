"""Tools that are not ours read the same log, the same statement and the same signatures as we do."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.proof.log import Log
from harness.proof.tree import inclusion_proof, leaf_hash, root_of
from tests.judges import judge
from tests.proof.conftest import Command

_PYMERKLE = """
import json, sys
from pymerkle import InmemoryTree, verify_consistency, verify_inclusion
given = json.load(sys.stdin)
tree = InmemoryTree(algorithm="sha256")
states = [tree.get_root()]
for line in given["lines"]:
    tree.append_entry(line.encode())
    states.append(tree.get_root())
assert [state.hex() for state in states[1:]] == given["roots"][1:], "other roots"
size, root = len(given["lines"]), bytes.fromhex(given["roots"][-1])
for place in range(size):
    proof = tree.prove_inclusion(place + 1, size)
    leaf = bytes.fromhex(given["leaves"][place])
    assert tree.get_leaf(place + 1) == leaf, "another leaf"
    verify_inclusion(leaf, root, proof)
    path = [one if isinstance(one, str) else one.hex() for one in proof.serialize()["path"]]
    assert sorted(path) == sorted([leaf.hex(), *given["inclusion"][place]]), "another inclusion proof"
for before in range(1, size + 1):
    proof = tree.prove_consistency(before, size)
    verify_consistency(bytes.fromhex(given["roots"][before]), root, proof)
print("agreed", size)
"""

_IN_TOTO = """
import sys
from google.protobuf.json_format import Parse
import in_toto_attestation.v1.statement_pb2 as spb
from in_toto_attestation.v1.statement import Statement
message = Parse(sys.stdin.read(), spb.Statement())
Statement.copy_from_pb(message).validate()
print(message.type, len(message.subject), message.predicate_type)
"""


def ask(program: str, text: str) -> str:
    python = judge("proof") / "python"
    done = subprocess.run(
        [python, "-W", "ignore", "-c", program], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def opinion(lines: list[bytes]) -> str:
    """What pymerkle says of all that we say of a log."""
    leaves = [leaf_hash(line) for line in lines]
    sizes = range(len(lines) + 1)
    question = {
        "lines": [line.decode() for line in lines],
        "leaves": [leaf.hex() for leaf in leaves],
        "roots": [root_of(leaves[:size]).hex() for size in sizes],
        "inclusion": [[one.hex() for one in inclusion_proof(leaves, place)] for place in sizes[:-1]],
    }
    return ask(_PYMERKLE, json.dumps(question))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 64, 100])
def test_pymerkle_finds_the_same_roots_and_proofs(size: int) -> None:
    assert opinion([b'{"leaf":%d}' % number for number in range(size)]) == f"agreed {size}"


def test_pymerkle_finds_the_same_of_a_log_that_was_made(made: Layout) -> None:
    log = Log(made.local)
    assert opinion(log.lines()) == f"agreed {log.size}" and log.size == 4
    assert log.root() == root_of(log.hashes()).hex()


def test_in_toto_takes_the_statement(made: Layout, harness: Command) -> None:
    harness("attest", "--reference")
    text = (made.reference / "statement.json").read_text()
    kind, subjects, _ = ask(_IN_TOTO, text).split()
    assert kind == "https://in-toto.io/Statement/v1" and int(subjects) == 4


def test_in_toto_takes_what_a_second_party_signs(made: Layout, harness: Command, key: Path) -> None:
    from tests.proof.test_a_second_party_vouches_for_nothing import confirmed

    path = confirmed(made, harness, key).path
    kind, subjects, _ = ask(_IN_TOTO, path.read_text()).split()
    assert kind == "https://in-toto.io/Statement/v1" and int(subjects) == 1


def verified_by_ssh(made: Layout, signature: Path, message: bytes) -> bool:
    """What a reader types who does not have our programs."""
    signers = made.root / "results" / "allowed_signers"
    words = [
        "ssh-keygen",
        "-Y",
        "verify",
        "-f",
        signers,
        "-I",
        "author",
        "-n",
        "permafrost-results",
        "-s",
        signature,
    ]
    done = subprocess.run(list(map(str, words)), input=message, capture_output=True, check=False)
    return done.returncode == 0


def test_ssh_keygen_verifies_file_and_envelope(made: Layout, harness: Command, key: Path, tmp_path: Path) -> None:
    assert harness("attest", "--reference", "--key", key).exit_code == 0
    statement = (made.reference / "statement.json").read_bytes()
    signature = made.reference / "statement.json.sig"
    assert verified_by_ssh(made, signature, statement)
    assert not verified_by_ssh(made, signature, statement.replace(b'"memory": 1', b'"memory": 0'))
    envelope = json.loads((made.reference / "statement.dsse.json").read_bytes())
    assert base64.b64decode(envelope["payload"]) == statement
    (sealed,) = envelope["signatures"]
    (tmp_path / "envelope.sig").write_bytes(base64.b64decode(sealed["sig"]))
    kind = envelope["payloadType"]
    # the words of the specification of DSSE: lengths in decimal digits, one space between all
    signed = b" ".join([b"DSSEv1", b"%d" % len(kind), kind.encode(), b"%d" % len(statement), statement])
    assert verified_by_ssh(made, tmp_path / "envelope.sig", signed)
