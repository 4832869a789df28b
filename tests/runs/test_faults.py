"""Every way a method can fail, in a real container on each engine, leaves the right verdict and nothing else."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from harness.base.vocabulary import Verdict
from harness.execution.runs import Outcome
from tests.runs.helpers import GOOD, MIB, NPY, Bench

pytestmark = [pytest.mark.engine, pytest.mark.alone]

# name -> (program, limits, verdict, words of the reason)
FAULTS: dict[str, tuple[str, dict[str, Any], Verdict, str]] = {
    "exit 3": ("print('the last words'); raise SystemExit(3)", {}, Verdict.ERROR, "exit code 3: the last words"),
    "exit 3 with predictions": (GOOD + "raise SystemExit(3)", {}, Verdict.ERROR, "exit code 3"),
    "exception": ("raise ValueError('boom')", {}, Verdict.ERROR, "ValueError: boom"),
    "own signal": ("import os; os.kill(os.getpid(), 11)", {}, Verdict.ERROR, "SIGSEGV"),
    "main process out of memory": ("b = bytearray(600 << 20)", {}, Verdict.MEMORY, "killed out of memory"),
    "child out of memory, exit 0": (
        GOOD + "import subprocess; subprocess.run([sys.executable, '-c', 'b = bytearray(600 << 20)'])",
        {},
        Verdict.MEMORY,
        "the rest ended with code 0",
    ),
    "child out of memory, exit 1": (
        "import subprocess, sys\n"
        "raise SystemExit(subprocess.run([sys.executable, '-c', 'b = bytearray(600 << 20)']).returncode != 0)",
        {},
        Verdict.MEMORY,
        "the rest ended with code 1",
    ),
    "hang that ignores SIGTERM": (
        GOOD + "import signal; signal.signal(15, signal.SIG_IGN); time.sleep(100)",
        {"seconds": 1.0},
        Verdict.TIMEOUT,
        "time limit of 1 s",
    ),
    "closes its log and hangs": (
        GOOD + "os.close(1); os.close(2); time.sleep(100)",
        {"seconds": 1.0},
        Verdict.TIMEOUT,
        "time limit",
    ),
    "full scratch": (
        "open('/tmp/x', 'wb').write(bytes(64 << 20))",
        {"scratch_bytes": 8 * MIB},
        Verdict.ERROR,
        "No space left on device",
    ),
    "full output, one file": (
        "open('/out/predictions.npy', 'wb').write(bytes(64 << 20))",
        {"output_bytes": 16 * MIB},
        Verdict.INVALID,
        "bytes to /out",
    ),
    "full output, many files": (
        "for i in range(1000): open(f'/out/{i}', 'wb').write(bytes(4 << 20))",
        {"output_bytes": 32 * MIB},
        Verdict.INVALID,
        "bytes to /out",
    ),
    "very many files": (
        "i = 0\nwhile True: open(f'/out/{i}', 'wb'); i += 1",
        {"output_files": 500},
        Verdict.INVALID,
        "more than 500 files",
    ),
    "no output": ("pass", {}, Verdict.INVALID, "predictions.npy is missing"),
    "empty output": ("open('/out/predictions.npy', 'w')", {}, Verdict.INVALID, "predictions.npy is empty"),
    "output is a link": (
        "import os; os.symlink('/etc/passwd', '/out/predictions.npy')",
        {},
        Verdict.INVALID,
        "symbolic link",
    ),
    "output is a pipe": (
        "import os; os.mkfifo('/out/predictions.npy')",
        {},
        Verdict.INVALID,
        "not a regular file",
    ),
    "output is a folder": (
        "import os; os.mkdir('/out/predictions.npy')",
        {},
        Verdict.INVALID,
        "not a regular file",
    ),
    "no such program": ("", {}, Verdict.ERROR, "/no/program"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_gets_its_verdict(bench: Bench, fault: str) -> None:
    program, limits, verdict, words = FAULTS[fault]
    if fault == "no such program":
        bench = Bench(
            bench.engine, type(bench.image)(bench.image.name, bench.image.image_id, ("/no/program",)), bench.folder
        )
    outcome = bench.run(program, **limits)
    assert (outcome.verdict, words in outcome.reason) == (verdict, True), outcome.reason
    # that a program is not there may be the engine's doing, once
    attempts = 2 if fault == "no such program" else 1
    assert len(outcome.attempts) == attempts, "a method's own failure must never be repeated"
    assert_clean(outcome)


def test_a_good_run_is_ok_with_its_evidence(bench: Bench) -> None:
    report = "import json\nwith open('/out/method.json', 'w') as f:\n"
    report += "  json.dump({'protocol': 1, 'peak_memory_bytes': 123 << 20, 'cpu_seconds': 0.0625}, f)"
    trace = "os.mkdir('/out/trace'); npy('/out/trace/W.npy', [1.0]); open('/out/trace/x.txt', 'w').write('x')"
    # it lives until the harness has looked at it; of one that ends at once, its own word is taken
    program = GOOD + f"{report}\n{trace}\nprint('done', flush=True); import time; time.sleep(1)"
    outcome = bench.run(program, traces=True)
    assert outcome.verdict is Verdict.OK, outcome.reason
    assert outcome.exit_code == 0 and outcome.log.read_bytes() == b"done\n"
    taken = sorted(path.relative_to(outcome.out_folder).as_posix() for path in outcome.out_folder.rglob("*.*"))
    assert taken == ["method.json", "predictions.npy", "trace/W.npy"]
    assert outcome.ignored == ("trace/x.txt",)
    assert outcome.peak_bytes is not None and 0 < outcome.peak_bytes < 123 << 20, "the kernel's word"
    assert outcome.cpu_s is not None and 0 < outcome.cpu_s < 7.5
    assert outcome.ran_s is not None and 0 < outcome.ran_s < outcome.wall_s
    assert outcome.memory_limit_enforced is True
    assert_clean(outcome)
    outcome.discard()
    assert not outcome.folder.exists()


def test_a_fork_bomb_stays_in_its_container(bench: Bench) -> None:
    program = (
        GOOD
        + "n = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(60)\n    n += 1\nexcept OSError: print(n)"
    )
    outcome = bench.run(program, processes=32, seconds=20.0)
    assert outcome.verdict is Verdict.OK, outcome.reason
    assert 20 <= int(outcome.log.read_text()) < 32


def test_a_log_of_100_mb_is_cut_in_the_middle(bench: Bench) -> None:
    program = GOOD + "print('BEGIN')\nfor _ in range(1600): sys.stdout.write('x' * 65535 + chr(10))\nprint('END')"
    outcome = bench.run(program, log_bytes=MIB)
    assert outcome.verdict is Verdict.OK, outcome.reason
    text = outcome.log.read_bytes()
    assert len(text) < MIB + 200 and text.startswith(b"BEGIN\n") and text.endswith(b"END\n")
    assert outcome.log_bytes == 1600 * 65536 + 10
    assert f"[{outcome.log_cut_bytes} of {outcome.log_bytes} bytes of this log were cut here]".encode() in text


def test_a_log_that_is_not_utf8_is_kept_as_it_is(bench: Bench) -> None:
    outcome = bench.run("import os; os.write(2, bytes(range(128, 256)) + b'\\n'); raise SystemExit(3)")
    assert outcome.verdict is Verdict.ERROR
    assert outcome.log.read_bytes() == bytes(range(128, 256)) + b"\n"
    assert "\ufffd" in outcome.reason


def test_a_folder_too_deep_for_any_path_is_removed(bench: Bench) -> None:
    outcome = bench.run(
        GOOD + "os.chdir('/out')\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')", output_files=5000
    )
    assert outcome.verdict in (Verdict.OK, Verdict.INVALID)
    assert_clean(outcome)


def test_the_users_wish_ends_a_run_at_once(bench: Bench) -> None:
    stop = threading.Event()
    timer = threading.Timer(0.8, stop.set)
    timer.start()
    began = time.monotonic()
    outcome = bench.run("import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(100)", stop=stop)
    timer.join()
    assert outcome.verdict is Verdict.INTERRUPTED and time.monotonic() - began < 8
    assert len(outcome.attempts) == 1


def test_a_half_written_file_is_refused_by_the_check(bench: Bench) -> None:
    from harness.base.errors import InvalidPredictions

    def check(folder: object) -> None:
        raise InvalidPredictions("predictions.npy: ends early")

    outcome = bench.run(NPY + "open('/out/predictions.npy', 'wb').write(b'\\x93NUMPY\\x01')", check=check)
    assert (outcome.verdict, outcome.reason) == (Verdict.INVALID, "predictions.npy: ends early")


def assert_clean(outcome: Outcome) -> None:
    """Only the log and what was collected are left of a run."""
    assert sorted(path.name for path in outcome.folder.iterdir()) == ["collected", "log.txt"]
