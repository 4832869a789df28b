"""What the log costs: verification of a signed log of 100,000 leaves (< 5 s), and one more leaf on it.

    python -m benchmarks.signed_log [--leaves N] [--json]

Verified are signature, root, history, 50,000 results, the plan and the digests of the repository. What it takes
to read the records of so many stored runs, benchmarks.resume measures.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness.base.files import digest_of
from harness.base.layout import Layout, find_layout
from harness.proof.attestation import attest
from harness.proof.leaves import Event, Leaf, LoggedResult
from harness.proof.log import Log
from harness.proof.plans import LoggedCell, enter_plan
from harness.proof.results import ResultSet
from harness.proof.tree import inclusion_proof, is_included, root_of
from harness.proof.verification import verify

_LIMIT_SECONDS = 5.0
_AT = "2026-01-01T00:00:00Z"


def measure(count: int) -> dict[str, float]:
    """CPU seconds of each part, the machine being shared; of an append, wall seconds."""
    repository = find_layout(Path(__file__).resolve().parent.parent)
    with tempfile.TemporaryDirectory(prefix="permafrost-log-") as folder:
        layout = Layout(repository.root, Path(folder) / "cache", Path(folder))
        log, key = Log(layout.local), Path(folder) / "key"
        results = _fill(log, count)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        signers = Path(folder) / "signers"
        signers.write_text(f"author {key.with_suffix('.pub').read_text()}")
        checked = ResultSet("made up", layout.local, results)
        measured = {"attest_s": _seconds(lambda: attest(layout, checked, key))}
        proof = verify(layout, checked, signers)
        assert not proof.failed, proof
        measured["verify_s"] = min(_seconds(lambda: verify(layout, checked, signers)) for _ in range(3))
        hashes = log.hashes()
        measured["root_s"] = _seconds(lambda: root_of(hashes))
        path = inclusion_proof(hashes, count // 2)
        assert is_included(hashes[count // 2], count // 2, len(hashes), path, root_of(hashes))
        one = Leaf(Event.SCORE, _AT, "x", key="0" * 64, record="r", score="s")
        for name, grown in (("append_wall_s", log), ("append_to_empty_wall_s", Log(Path(folder) / "empty"))):
            began = time.perf_counter()
            for _ in range(100):
                grown.append([one])
            measured[name] = (time.perf_counter() - began) / 100
        return {"leaves": count, **measured}


def _fill(log: Log, count: int) -> dict[str, LoggedResult]:
    """A plan, and a record and scores for each of its cells."""
    keys = [digest_of(number) for number in range((count - 1) // 2)]
    enter_plan(log, "made up", [LoggedCell(key, f"cell {key[:12]}") for key in keys])
    leaves, results = list[Leaf](), dict[str, LoggedResult]()
    for key in keys:
        record, score = digest_of(["record", key]), digest_of(["score", key])
        scope = f"repurposing: bnnr/published on fdataset, random-{key[:6]}"
        leaves.append(Leaf(Event.RECORD, _AT, scope, key=key, record=record, verdict="ok"))
        leaves.append(Leaf(Event.SCORE, _AT, scope, key=key, record=record, score=score))
        results[key] = LoggedResult(record, "ok", score, scope)
    log.append(leaves)
    return results


def _seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, default=100_001)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    measured = measure(arguments.leaves)
    if arguments.json:
        print(json.dumps(measured))
        return
    for name, value in measured.items():
        print(f"{name:20} {value:.4g}")
    print("fast enough" if measured["verify_s"] < _LIMIT_SECONDS else f"slower than {_LIMIT_SECONDS} s")


if __name__ == "__main__":
    main()
