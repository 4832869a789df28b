"""Whatever a method leaves behind, its run gets a verdict of its own and the campaign goes on.

Each case answers well first and then spoils something, in a real container, through the whole way to the table.
"""

from __future__ import annotations

import json

import pytest
from pyarrow.parquet import read_table

from harness.audit import audit_runs
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.engine import Engine
from harness.results.index import build_index
from harness.results.scoring import score_all
from harness.results.store import Store, join
from tests.campaigns.conftest import probe_plan
from tests.fabricate import run_plan

pytestmark = pytest.mark.engine

REPORT = "open('/out/method.json', 'w').write({!r})"
TRACE = "os.mkdir('/out/trace'); "
# what it does last -> verdict, words of the reason
CASES = {
    "half a sign in the report": (REPORT.format('{"protocol": 1, "a": "\\ud800"}'), Verdict.OK, ""),
    "a number beyond all numbers": (
        REPORT.format('{"protocol": 1, "cpu_seconds": 1e400}'),
        Verdict.INVALID,
        "method.json: 1e400 is beyond all numbers",
    ),
    "a report that is no JSON": (
        REPORT.format('{"protocol": 1, "losses": [NaN]}'),
        Verdict.INVALID,
        "NaN is not JSON",
    ),
    "a report of other types": (
        REPORT.format('{"protocol": 1, "seconds": {"fit": "long"}}'),
        Verdict.INVALID,
        "method.json: seconds.fit",
    ),
    "a report of a liar": (
        REPORT.format('{"protocol": 1, "cpu_seconds": 9e17, "peak_memory_bytes": 900000000000000001}'),
        Verdict.OK,
        "",
    ),
    "a shape too long to print": (
        "data = open('/out/predictions.npy', 'rb').read(); "
        "head = b\"{'descr': '<f8', 'fortran_order': False, 'shape': (0x\" + b'f' * 4000 + b',), }'; "
        "open('/out/predictions.npy', 'wb').write(data[:8] + len(head).to_bytes(2, 'little') + head)",
        Verdict.INVALID,
        "predictions.npy: has a header that can't be read",
    ),
    "a deep report": (REPORT.format('{"protocol": 1, "a": ' + "[" * 500 + "]" * 500 + "}"), Verdict.OK, ""),
    "a report that is a list": (REPORT.format("[1]"), Verdict.INVALID, "not a JSON object"),
    "a long reason with control signs": (
        REPORT.format(json.dumps({"protocol": "\x1b[2J" + "x" * 900_000})),
        Verdict.INVALID,
        "speaks protocol",
    ),
    "a type with control signs": (
        "data = open('/out/predictions.npy', 'rb').read(); "
        "open('/out/predictions.npy', 'wb').write(data.replace(b'<f8', b'\\x1b[J', 1))",
        Verdict.INVALID,
        "predictions.npy",
    ),
    "a lowest score made up": (
        "np.save('/out/lowest.npy', np.array([0.9]))",
        Verdict.INVALID,
        "lowest.npy: model 0 tells 0.9",
    ),
    "no lowest score": ("os.unlink('/out/lowest.npy')", Verdict.INVALID, "lowest.npy is missing"),
    "one file under two names": (
        "os.unlink('/out/lowest.npy'); os.link('/out/predictions.npy', '/out/lowest.npy')",
        Verdict.INVALID,
        "lowest.npy",
    ),
    "a name that is no text": (TRACE + "open(b'/out/trace/\\xff.npy', 'w')", Verdict.OK, ""),
    "a name with a line end": (TRACE + "open('/out/trace/a\\n.npy', 'w')", Verdict.OK, ""),
    "traces that are no files": (
        TRACE + "os.symlink('/in/job.json', '/out/trace/a.npy'); os.mkdir('/out/trace/b.npy')",
        Verdict.OK,
        "",
    ),
    "a record of its own": ("open('/out/record.json', 'w').write('{}')", Verdict.OK, ""),
    "a closed folder": ("os.chmod('/out/predictions.npy', 0); os.chmod('/out', 0)", Verdict.OK, ""),
    "a child that writes on": (
        "\nif os.fork() == 0:\n  os.setsid()\n  while True: open('/out/predictions.npy', 'wb').write(b'late')\n"
        "time.sleep(0.3)",
        Verdict.INVALID,
        "predictions.npy",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_odd_answer_harms_only_its_own_run(probe_layout: Layout, engine: Engine, case: str) -> None:
    last_words, verdict, words = CASES[case]
    plan, store = probe_plan(probe_layout, 1, last_words=last_words), Store(probe_layout.runs)
    run_plan(probe_layout, plan, engine)
    (cell,) = join(plan, store)
    assert cell.planned is not None
    assert cell.verdict is verdict and words in cell.reason, cell.reason
    assert cell.reason.isprintable() and len(cell.reason) < 1100
    assert score_all(probe_layout, store, join(plan, store, records=True)).computed == (verdict is Verdict.OK)
    assert [row["cpu_s"] for row in read_table(build_index(probe_layout).path).to_pylist() if row["cpu_s"] < 100]
    report = audit_runs(probe_layout, [cell.planned.key])
    assert not report.failed
    stored = {"job.json", "log.txt", "predictions.npy", "lowest.npy", "method.json"}
    assert set(store.record(cell.planned.key).files) <= stored


def test_no_file_in_a_container_tells_a_test_label(probe_layout: Layout, engine: Engine) -> None:
    """The file system as the method sees it: no data but the declared inputs, and these without test labels."""
    look = """
labels, folds = np.load("/in/associations.npy"), np.load("/in/folds.npy")
places = ("/in", "/out", "/opt", "/tmp", "/home", "/root", "/srv", "/mnt", "/data")
found = [os.path.join(at, name) for top in places for at, _, names in os.walk(top) for name in names]
print(json.dumps({"labels": int(np.abs(labels[folds < 0]).sum()), "known": int(np.abs(labels).sum()),
                  "found": found, "job": json.load(open("/in/job.json"))}))
"""
    plan, store = probe_plan(probe_layout, 1, last_words=look), Store(probe_layout.runs)
    run_plan(probe_layout, plan, engine)
    (cell,) = join(plan, store)
    assert cell.planned is not None and cell.verdict is Verdict.OK, cell.reason
    seen = json.loads((store.path(cell.planned.key) / "log.txt").read_text())
    assert seen["labels"] == 0 and seen["known"] > 0
    outside = {name for name in seen["found"] if not name.startswith("/opt/venv/")}
    answers = {f"/out/{name}" for name in ("lowest.npy", "method.json", "predictions.npy")}
    code = {"/opt/method/main.py", "/opt/sdk/permafrost_sdk.py", "/opt/sdk/repurposing_sdk.py"}
    assert outside == {"/in/associations.npy", "/in/folds.npy", "/in/job.json", *answers, *code}
    told = json.dumps(seen["job"])
    for secret in ("synthetic", "random", cell.planned.key, cell.planned.dataset_digest, str(probe_layout.cache)):
        assert secret not in told, "a method is not told which dataset it is, nor where the truth lies"
