"""A shell completes names that exist, all kinds of them, in any case, without importing what a command needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from harness import benchmarks
from harness.base.layout import Layout
from harness.cli import group, names
from harness.cli.completion import outline_of, outlined, stand_in
from harness.data import manifest_names
from harness.images.cards import environment_names
from harness.methods.card import load_method, method_names
from harness.methods.weights import weights_names
from harness.planning.suites import suite_names
from harness.results.reference import load_reference
from harness.splits.strategies import strategy_names
from harness.status.table import STORED
from tests.cli.test_an_option_is_dropped import COMMANDS
from tests.conftest import REPOSITORY

# What a shell's press of a key may not import: each takes longer than a person likes to wait.
_HEAVY = ("pydantic", "numpy", "pandas", "rich", "docker", "requests", "harness.benchmarks", "harness.api")


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("PERMAFROST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "local"))


def completed(*words: str) -> dict[str, str | None]:
    """What a shell shows for the last word: texts, with a word on each."""
    shell = ShellComplete(group, {}, "harness", "_HARNESS_COMPLETE")
    return {one.value: one.help for one in shell.get_completions([*words[:-1]], words[-1])}


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("ru", ["run"]),
        ("run --meth", ["--method"]),
        # what may be repeated is offered again, and nothing else
        ("run --method bnnr --meth", ["--method"]),
        ("run --suite smoke --sui", []),
        ("run --method bn", ["bnnr"]),
        ("run --method BN", ["bnnr"]),
        ("run --suite sm", ["smoke"]),
        ("run --dataset cda", ["cdataset"]),
        ("run --split we", ["weakly_correlated"]),
        ("run --method als_wr --variant ", ["published", "corrected"]),
        ("table --method als_wr/c", ["als_wr/corrected"]),
        ("table --metric NS-AUC/as-d", ["NS-AUC/as-defined"]),
        ("status --suite sto", ["stored"]),
        ("status --verdict TIME", ["timeout"]),
        ("data get syn", ["synthetic", "synthetic_ddi", "synthetic_ddi_multilabel"]),
        ("data get synthetic fd", ["fdataset"]),
        ("split make synthetic ran", ["random"]),
        ("image verify _to", ["_torch"]),
        ("predict com", ["combos"]),
        ("study --benchmark dt", ["dti"]),
        ("run --mirror ", [""]),
    ],
)
def test_values_are_completed(typed: str, shown: list[str]) -> None:
    assert list(completed(*typed.split(" "))) == shown


def test_keys_are_those_of_both_sets_with_their_jobs(layout: Layout, tmp_path: Path) -> None:
    reference = load_reference(layout)
    for beginning in ("30a", "f"):
        expected = {key for key in reference if key.startswith(beginning)}
        shown = completed("audit", beginning)
        assert {key for key in expected if key[:12] in shown} == expected and len(shown) == len(expected) > 0
        assert list(shown) == sorted(shown)
    key = next(iter(reference))
    assert completed("show", key[:8]) == {
        key[:12]: f"{reference[key].planned.job.benchmark}: {reference[key].planned.job.label}"
    }
    here = "00" + "ab" * 31
    (tmp_path / "local" / "runs" / "00" / here).mkdir(parents=True)
    (tmp_path / "local" / "runs" / "00" / ".half").mkdir()
    assert completed("show", "00ab") == {here[:12]: None} or completed("show", "00ab") == {here[:12]: ""}
    assert list(completed("diff", "00abab", here[:20])) == [here[:21]]


@pytest.mark.parametrize("typed", ["/abc", "**x", "..", "[0", "xyz", "0" * 65])
def test_what_begins_no_key_is_completed_by_none(typed: str) -> None:
    assert completed("show", typed) == {}


def test_a_removed_run_is_not_completed(tmp_path: Path) -> None:
    leaf = {"key": "fa" * 32, "kind": "record", "scope": "x"}
    lines = [leaf, {**leaf, "key": "fb" * 32}, {"key": "fa" * 32, "kind": "removal"}]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in lines) + '{"key":"fa')
    assert names._logged(path, "f", failed=False) == {"fb" * 32: "x"}


def test_a_run_that_failed_is_completed_only_where_it_can_be_shown(tmp_path: Path) -> None:
    tree = Layout(root=tmp_path / "tree", cache=tmp_path, local=tmp_path / "own")
    elsewhere, here, twice = "fa" * 32, "fb" * 32, "fc" * 32
    leaves = [
        {"key": elsewhere, "kind": "failure", "scope": "x"},
        {"key": twice, "kind": "record", "scope": "y"},
        {"key": twice, "kind": "failure", "scope": "y"},
    ]
    for path, told in ((tree.reference, leaves), (tree.local, [{**leaves[0], "key": here}])):
        path.mkdir(parents=True)
        text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in told)
        (path / "log.jsonl").write_text(text)
    (tree.runs / here[:2] / here).mkdir(parents=True)
    assert names._runs(tree, "f") == {here: "x", twice: "y"}


def test_names_are_listed_as_the_harness_lists_them(layout: Layout) -> None:
    """They are listed a second time, because the modules that list them take too long to import."""
    assert names.METHOD.known() == method_names(layout)
    assert names.DATASET.known() == manifest_names(layout)
    assert names.SUITE.known() == sorted(suite_names())
    assert names.STORED_SUITE.known() == [*sorted(suite_names()), STORED]
    assert names.BENCHMARK.known() == list(benchmarks.names())
    assert names.SPLIT.known() == sorted({one for name in benchmarks.names() for one in strategy_names(name)})
    assert names.WEIGHTS.known() == sorted(weights_names(layout))
    assert names.IMAGE.known() == sorted({*method_names(layout), *environment_names(layout)})
    assert set(names.VARIANT.known()) == {
        variant for name in method_names(layout) for variant in load_method(layout, name).variants
    }


_NAMED = {
    "--method": {"METHOD", "METHOD_ROW"},
    "--dataset": {"DATASET"},
    "--suite": {"SUITE", "STORED_SUITE"},
    "--variant": {"VARIANT"},
    "--split": {"SPLIT"},
    "--strategy": {"SPLIT"},
    "--metric": {"METRIC"},
    "--benchmark": {"BENCHMARK"},
    "KEY": {"KEY"},
    "KEYS": {"KEY"},
}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_that_takes_a_name_completes_it(path: tuple[str, ...]) -> None:
    for param in COMMANDS[path].params:
        spelled = param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
        if spelled in _NAMED:
            allowed = {id(getattr(names, kind)) for kind in _NAMED[spelled]}
            assert id(param.type) in allowed, f"{' '.join(path)} {spelled}"
        # and the word of a list may be in any case
        assert not isinstance(param.type, click.Choice) or not param.type.case_sensitive


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_outline_completes_as_its_command(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    outline = json.loads(json.dumps(outline_of(path[-1], command)))
    other = stand_in(outline)
    for ours, theirs in zip(outline["params"], outline_of(path[-1], other)["params"], strict=True):
        # metrics stand in the outline themselves
        kind = {} if ours["type"].get("name") == "METRIC" else ours["type"]
        assert theirs == {**ours, "type": kind}
    for context, one in ((click.Context(command), command), (click.Context(other), other)):
        context.resilient_parsing = True
        assert {item.value for item in one.shell_complete(context, "--")} >= {
            opt for param in command.params if isinstance(param, click.Option) for opt in param.opts
        }


def test_an_outline_is_made_once_and_again_when_the_harness_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = []

    def load() -> click.Command:
        loads.append(1)
        return COMMANDS["diff",]

    for _ in range(2):
        assert outlined("diff", load).name == "diff"
    assert len(loads) == 1
    monkeypatch.setattr("harness.cli.completion._stamp", lambda package: "other")
    outlined("diff", load)
    assert len(loads) == 2
    assert [one.name for one in (tmp_path / "cache" / "completion").iterdir()] == ["other"]


def test_a_changed_file_has_another_stamp(tmp_path: Path) -> None:
    from harness.cli.completion import _stamp

    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "one.py").write_text("1")
    before = _stamp(tmp_path)
    assert _stamp(tmp_path) == before
    written = (tmp_path / "below" / "one.py").stat().st_mtime_ns
    (tmp_path / "below" / "one.py").write_text("12")
    # a copy may keep the time of another version
    os.utime(tmp_path / "below" / "one.py", ns=(written, written))
    longer = _stamp(tmp_path)
    assert longer != before
    # of the same size, but written later; then of another name, and one beside it
    then = (tmp_path / "below" / "one.py").stat().st_mtime_ns + 1
    os.utime(tmp_path / "below" / "one.py", ns=(then, then))
    later = _stamp(tmp_path)
    (tmp_path / "below" / "one.py").rename(tmp_path / "below" / "two.py")
    renamed = _stamp(tmp_path)
    (tmp_path / "three.py").touch()
    last = _stamp(tmp_path)
    assert len({longer, later, renamed, last}) == 4
    # in whichever folder
    for name in ("beside", "between"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "four.py").touch()
        before, last = last, _stamp(tmp_path)
        assert before != last
        (tmp_path / name / "five.py").touch()
        before, last = last, _stamp(tmp_path)
        assert before != last
    # what Python writes beside them is none of them
    (tmp_path / "__pycache__").mkdir()
    for name in ("__pycache__/three.py", "three.pyc"):
        (tmp_path / name).touch()
    assert _stamp(tmp_path) == last


def test_a_cache_that_cannot_be_written_is_no_hindrance(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PERMAFROST_CACHE", str(tmp_path / "file"))
    assert list(completed("run", "--method", "bn")) == ["bnnr"]


def test_outside_a_repository_there_are_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Layout:
        from harness.base.errors import UsageError

        raise UsageError("this is not a Permafrost repository")

    monkeypatch.setattr("harness.cli.names.find_layout", nowhere)
    assert completed("run", "--method", "bn") == {}


def _press(words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What bash gets for the last of these words."""
    place = str(len(words.split(" ")) - 1)
    asked = {"COMP_WORDS": words, "COMP_CWORD": place, "_HARNESS_COMPLETE": "bash_complete"}
    program = (
        "import sys; sys.argv = ['harness']\n"
        "from harness.cli import main\n"
        "try:\n    main()\n"
        f"finally:\n    print([one for one in {_HEAVY!r} if one in sys.modules], file=sys.stderr)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **asked, **environment},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize("words", ["harness run --method bn", "harness show 30a"])
def test_nothing_heavy_is_imported_for_a_key_that_is_pressed(words: str) -> None:
    first, second = _press(words), _press(words)
    assert first.stdout == second.stdout and first.stdout.startswith("plain,")
    assert second.stderr == "[]\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_is_printed(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness"],
        env={**os.environ, "_HARNESS_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_HARNESS_COMPLETE" in done.stdout and "harness" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)
    assert f"_HARNESS_COMPLETE={shell}_source" in (REPOSITORY / "docs" / "shell.md").read_text()
