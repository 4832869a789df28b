"""The commands: see docs/testing.md."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.mutants.changes import Mutant, sample_of
from benchmarks.mutants.groups import folders_of, group_of, modules_of
from benchmarks.mutants.planting import VARIABLE as MUTANT
from benchmarks.mutants.session import VARIABLE

_ROOT = Path(__file__).resolve().parents[2]
_EQUIVALENT = Path(__file__).with_name("equivalent.toml")
# Read-only for the tests but for the folder of this work: a defect may delete or kill what it should not.
_WALLS = """
set -e
ip link set lo up
mount --make-rprivate /
mkdir -p "$CACHE" "$WORK/changed" "$WORK/overlay" "$WORK/tmp"
mount -t overlay overlay -o "lowerdir=$CACHE,upperdir=$WORK/changed,workdir=$WORK/overlay" "$CACHE"
mount --bind "$WORK" "$WORK"
for place in $(findmnt -rno TARGET | sort -u); do
    case "$place" in
        "$WORK"|"$CACHE"|/proc|/proc/*|/dev|/dev/*|/sys) ;;
        *) mount -o remount,bind,ro "$place" 2>/dev/null || true ;;
    esac
done
exec "$@"
"""
_HOOK = "from benchmarks.mutants import planting\n\nplanting.hook()\n"
_TRACE = """
import os
from pathlib import Path
if places := os.environ.get("PERMAFROST_MUTANTS_TRACE"):
    from benchmarks.mutants.reach import follow
    follow(*map(Path, places.split(":")))
"""


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("command", choices=("run", "plant", "again", "table"))
    parser.add_argument(
        "names", nargs="*", help="packages or modules (run), packages (table), or one file of defects (plant)"
    )
    parser.add_argument("--each", type=int, default=6, help="mutants of one module")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--work", type=Path, default=Path("/var/tmp/permafrost-mutants"))
    parser.add_argument("--first", action="store_true", help="the score of the first time, not of the last")
    parser.add_argument("--survivors", action="store_true", help="list what survived")
    arguments = parser.parse_intermixed_args()
    work = arguments.work.resolve()
    if arguments.command == "table":
        print(table(read_outcomes(work, first=arguments.first), arguments.names, listed=arguments.survivors))
        return 0
    if arguments.command == "plant":
        mutants = planted(Path(arguments.names[0]))
    elif arguments.command == "again":
        mutants = survivors(read_outcomes(work), arguments.names)
    else:
        names = modules_of(_ROOT, arguments.names)
        mutants = [one for name in names for one in sample_of(_ROOT, name, arguments.each, arguments.seed)]
    run(work, mutants, again=arguments.command == "again")
    return 0


def planted(path: Path) -> list[Mutant]:
    """Defects that a person wrote down: `module`, `before` (once in its text), `after`."""
    mutants = []
    for entry in tomllib.loads(path.read_text())["mutant"]:
        text = (_ROOT / entry["module"]).read_bytes()
        before, after = entry["before"].encode(), entry["after"]
        if text.count(before) != 1:
            raise SystemExit(f"{path}: {entry['module']} holds {text.count(before)} times: {entry['before']}")
        start = text.index(before)
        line = text[:start].count(b"\n") + 1
        mutants.append(Mutant(entry["module"], line, start, start + len(before), entry["before"], after))
    return mutants


def survivors(outcomes: dict[str, dict[str, Any]], groups: list[str]) -> list[Mutant]:
    """What survived the last time and still is where it was."""
    mutants = [Mutant(**outcome["mutant"]) for outcome in outcomes.values() if not outcome["killed_by"]]
    return [
        mutant
        for mutant in mutants
        if (not groups or group_of(mutant.module) in groups) and mutant.is_there(_ROOT)
    ]


def run(work: Path, mutants: list[Mutant], *, again: bool) -> None:
    """Test every mutant that was not tested yet, package by package, in a copy of the tree."""
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(
                f"{work}: mutants are being planted there; wait, or name another folder by --work"
            ) from None
        _run(work, mutants, lock.fileno(), again=again)


def _run(work: Path, mutants: list[Mutant], lock: int, *, again: bool) -> None:
    _copy_tree(work / "tree")
    hook = work / "hook" / "sitecustomize.py"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(_HOOK + _TRACE)
    outcomes = read_outcomes(work)
    done = {name for name, one in outcomes.items() if one["killed_by"] or not again}
    left = [mutant for mutant in mutants if mutant.name not in done]
    folders = dict.fromkeys(folders_of(mutant.module) for mutant in left)
    for chosen in folders:
        _start(work, [mutant for mutant in left if folders_of(mutant.module) == chosen], chosen, lock)


def _start(work: Path, mutants: list[Mutant], folders: tuple[str, ...], lock: int) -> None:
    described = work / "work.json"
    content = {"root": str(work / "tree"), "work": str(work), "mutants": [asdict(one) for one in mutants]}
    described.write_text(json.dumps(content))
    cache = os.environ.get("PERMAFROST_CACHE") or Path.home() / ".cache" / "permafrost"
    environment = {
        **os.environ,
        VARIABLE: str(described),
        "CACHE": str(cache),
        "WORK": str(work),
        "TMPDIR": str(work / "tmp"),
        "PERMAFROST_RESULTS": str(work / "results"),
        "PYTHONPATH": f"{work / 'hook'}:{work / 'tree'}",
        "DOCKER_HOST": "unix:///nowhere/engine.sock",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    environment.pop(MUTANT, None)
    # the first process of a name space of its own is not ended by a signal to its parent
    command = ["setpriv", "--pdeathsig", "KILL"]
    command += ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"]
    command += ["sh", "-c", _WALLS, "sh"]
    command += [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "benchmarks.mutants.session"]
    command += ["-m", "not engine", "--hypothesis-seed=0", f"--basetemp={work / 'tmp' / 'warm'}", *folders]
    with (work / "pytest.txt").open("w") as stream:
        ended = subprocess.run(
            command, cwd=work / "tree", env=environment, stdout=stream, check=False, pass_fds=(lock,)
        )
    if ended.returncode not in (0, 5):
        raise SystemExit(f"pytest ended with {ended.returncode}: see {work / 'pytest.txt'}")


def read_outcomes(work: Path, *, first: bool = False) -> dict[str, dict[str, Any]]:
    """The last outcome of each mutant, or the first."""
    path = work / "outcomes.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {content["name"]: content for content in map(json.loads, lines[::-1] if first else lines)}


def table(outcomes: dict[str, dict[str, Any]], groups: list[str], *, listed: bool) -> str:
    """The score of each package: mutants that fell, of those that are not known to change nothing."""
    equivalent = [
        (one["module"], one["before"], one["after"]) for one in tomllib.loads(_EQUIVALENT.read_text())["mutant"]
    ]
    counts: dict[str, Counter[str]] = {}
    left = []
    for outcome in outcomes.values():
        mutant = outcome["mutant"]
        group = group_of(mutant["module"])
        if groups and group not in groups:
            continue
        same = (mutant["module"], mutant["before"], mutant["after"]) in equivalent
        state = "killed" if outcome["killed_by"] else "equivalent" if same else "survived"
        counts.setdefault(group, Counter())[state] += 1
        if state == "survived":
            left.append(
                f"{mutant['module']}:{mutant['line']}: {mutant['before']}\n"
                f"    -> {mutant['after']}    ({outcome['because'] or outcome['tests']})"
            )
    rows = ["| package | mutants | noticed | equivalent | score |", "|---|---|---|---|---|"]
    for group, count in sorted(counts.items()):
        meant = count["killed"] + count["survived"]
        score = f"{100 * count['killed'] / meant:.0f} %" if meant else ""
        rows.append(f"| {group} | {count.total()} | {count['killed']} | {count['equivalent']} | {score} |")
    return "\n".join([*rows, *(["", *sorted(left)] if listed else [])])


def _copy_tree(target: Path) -> None:
    """The tree as it is now, without what git ignores: the tests may be edited while mutants are planted."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=_ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    present = {name for name in listed if (_ROOT / name).is_file()}
    for path in target.rglob("*") if target.exists() else ():
        name = path.relative_to(target).as_posix()
        if path.is_file() and name not in present and "__pycache__" not in name:
            path.unlink()
    for name in present:
        source, copy = _ROOT / name, target / name
        if not copy.exists() or copy.stat().st_mtime_ns != source.stat().st_mtime_ns:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)


if __name__ == "__main__":
    sys.exit(main())
