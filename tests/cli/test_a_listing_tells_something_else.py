"""Lists, names and kinds of output: what is read of data, goldens and jobs by hand, and how a name is taken."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from harness.base.layout import Layout
from harness.base.tables import folded
from harness.cli.data import _state, _verification
from harness.cli.diff import _cut
from harness.cli.job import shell_text
from harness.cli.names import METHOD, METHOD_ROW, METRIC
from harness.cli.output import chosen_kind, deliver
from harness.cli.parity import _document, _lines, _summary
from harness.data import load_manifest, manifest_names
from harness.parity import CaseFinding
from harness.parity.finding import ArrayFinding, Standing
from tests.cli.calls import document, harness_of

data = "harness.cli.data"


def judged(monkeypatch: pytest.MonkeyPatch, layout: Layout, name: str = "fdataset", **answers: object) -> str:
    """The state of a dataset of which these things are found."""
    usual = {"missing_tables": (), "changed_files": [], "is_converted": False, "local_copy": None}
    for function, answer in {**usual, **answers}.items():
        monkeypatch.setattr(f"{data}.{function}", lambda *_, answer=answer: answer)
    return _state(layout, load_manifest(layout, name), ())


def test_a_dataset_is_where_it_is(monkeypatch: pytest.MonkeyPatch, layout: Layout) -> None:
    files = load_manifest(layout, "fdataset").files
    names = ", ".join(file.name for file in files)
    away = f"{len(files)} files (harness data show fdataset)" if len(files) > 3 else names
    assert judged(monkeypatch, layout) == f"to be downloaded: {away}"
    assert judged(monkeypatch, layout, local_copy=Path("x")) == "can be made from what is here"
    assert judged(monkeypatch, layout, is_converted=True) == "here"
    assert judged(monkeypatch, layout, changed_files=[Path("a/x"), Path("y")], is_converted=True) == (
        "changed, not what the manifest records: x, y"
    )
    assert judged(monkeypatch, layout, missing_tables=("t",), changed_files=[Path("x")]) == (
        "to be brought: `harness data get fdataset` says how"
    )


def test_a_dataset_that_is_away_is_no_fault_unless_it_was_named(
    monkeypatch: pytest.MonkeyPatch, layout: Layout
) -> None:
    state = judged(monkeypatch, layout)
    row = _verification(layout, "fdataset", (), required=False)
    assert row == {"name": "fdataset", "verdict": "not here", "reason": state}


@pytest.mark.parametrize(
    ("words", "verdict", "code"),
    [
        (("data", "verify"), "ok", 0),
        (("data", "verify"), "not here", 0),
        (("data", "verify"), "corrupt", 4),
        (("data", "verify", "hdvd"), "ok", 0),
        (("data", "verify", "hdvd"), "not here", 4),
        (("data", "verify", "hdvd"), "corrupt", 4),
    ],
)
def test_what_is_wrong_with_data_is_in_the_exit_code(
    words: tuple[str, ...], verdict: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def verification(_layout: object, name: str, _mirrors: object, *, required: bool) -> dict[str, str]:
        asked.append(required)
        # one that is not the first
        own = verdict if name == "hdvd" else "ok"
        return {"name": name, "verdict": own, "reason": "" if own == "ok" else "why"}

    monkeypatch.setattr(f"{data}._verification", verification)
    result = harness_of(*words)
    assert result.return_value == code and set(asked) == {len(words) == 3}
    assert f"hdvd: {verdict}{'' if verdict == 'ok' else ': why'}" in result.stdout.splitlines()
    rows = document(harness_of(*words, "--json"))["rows"]
    assert {row["verdict"] for row in rows} == {verdict, *(["ok"] if len(rows) > 1 else [])}


def test_a_dataset_is_shown_with_each_file(layout: Layout) -> None:
    manifest = load_manifest(layout, "hdvd")
    lines = harness_of("data", "show", "hdvd").stdout.splitlines()
    assert lines[0] == f"hdvd: {manifest.title} (benchmark repurposing)"
    assert f"  licence: {manifest.licence}" in lines or not manifest.licence
    for file in manifest.files:
        assert any(line.startswith(f"  {file.name} ({file.bytes:,} bytes): ") for line in lines)
    told = document(harness_of("data", "show", "hdvd", "--json"))
    assert told["folder"] == str(layout.root / "datasets" / "hdvd") and told["title"] == manifest.title
    listed = harness_of("data", "list")
    assert listed.return_value == 0 and len(listed.stdout.splitlines()) >= len(manifest_names(layout))


ARRAYS = (
    ArrayFinding("scores", Standing.OK, error=1.25e-9, allowed=1e-6),
    ArrayFinding("ranks", Standing.OK, error=0.0, allowed=0.0, note="as integers"),
)


def test_a_listing_fits_a_terminal_and_is_a_line_each_elsewhere() -> None:
    rows = [("a", "some words that go on"), ("bb", "few")]
    assert folded(rows, None) == ["a   some words that go on", "bb  few"]
    assert folded(rows, 16) == ["a   some words", "    that go on", "bb  few"]
    long = [("a/long-name", "1", "some words that go on"), ("b/name", "2", "few")]
    assert folded(long, 19) == ["a/long-name  1", "    some words that", "    go on", "b/name       2  few"]
    assert folded([], 80) == folded([], None) == []


def test_a_golden_case_is_told_with_each_array() -> None:
    good = CaseFinding("case-1", "kind", "bnnr", ARRAYS, seconds=1.26)
    assert list(_lines(good)) == [
        f"case-1 (bnnr, 1.3 s): {Standing.OK}",
        f"    {'scores':24} {Standing.OK!s:8} largest error 1.25e-09, tolerance 1.0e-06",
        f"    {'ranks':24} {Standing.OK!s:8} largest error 0.00e+00, equal (as integers)",
    ]
    bad = next(one for one in Standing if one.is_bad)
    # what is allowed is told, whatever was found
    pairs = ((0.0, 1e-16), (1.0, 0.0))
    same, other = (ArrayFinding("ids", bad, error=error, allowed=allowed) for error, allowed in pairs)
    assert [line.partition(", ")[2] for line in _lines(CaseFinding("case", "kind", "", (same, other)))] == [
        "",
        "tolerance 1.0e-16",
        "equal",
    ]
    missing = ArrayFinding("loss", bad, error=None, allowed=0.0, note="it is not there")
    worst = CaseFinding("case-2", "kind", "", (missing,), note="no run")
    assert list(_lines(worst)) == [f"case-2: {bad}: no run", f"    {'loss':24} {bad}: it is not there"]
    assert _summary([good, worst, good]) == f"\n3 comparisons: 2 {Standing.OK}, 1 {bad}"
    told = _document(Path("/g"), [], [good])
    assert (told["golden"], told["cases"], told["ok"], len(told["findings"])) == ("/g", 0, True, 1)
    assert _document(Path("/g"), [], [good, worst])["ok"] is False


@pytest.mark.parametrize(
    ("equal", "fault", "code", "said"),
    [
        (None, "", 0, "a valid answer; no good run has its key: aaaaaaaaaaaa"),
        (True, "", 0, "a valid answer; equal bit for bit to run aaaaaaaaaaaa"),
        (False, "", 1, "a valid answer; another answer than that of run aaaaaaaaaaaa"),
        (None, "no file", 1, "no answer: no file"),
    ],
)
def test_an_answer_made_by_hand_is_judged(
    equal: bool | None, fault: str, code: int, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    note: Any = SimpleNamespace(planned=SimpleNamespace(job=SimpleNamespace(label="a job")))
    named = {} if fault else {"predictions.npy": "1" * 64, "traces.npy": "2" * 64}
    answer = SimpleNamespace(note=note, fault=fault, files=named)
    checked = SimpleNamespace(key="a" * 64, answer=answer, equal=equal, is_good=not fault and equal is not False)
    monkeypatch.setattr("harness.api.check_job", lambda *_, **__: checked, raising=False)
    result = harness_of("job", "check", str(tmp_path))
    files = [f"  {name}  sha256 {digest}" for name, digest in named.items()]
    assert result.return_value == code and result.stdout.splitlines() == [f"a job: {said}", *files]
    result = harness_of("job", "check", str(tmp_path), "--json")
    told = document(result)
    assert (result.return_value, told["key"], told["fault"], told["equal"]) == (code, "a" * 64, fault, equal)
    assert told["files"] == answer.files


def test_a_line_for_a_shell_is_the_same_words() -> None:
    words = ["docker", "run", *[f"--option={number:020}" for number in range(9)], "a b"]
    lines = shell_text(words).splitlines()
    assert len(lines) == 4 and max(map(len, lines)) <= 100 and lines[0].startswith("docker run --option")
    assert all(line.endswith(" \\") for line in lines[:-1]) and all(line.startswith("  ") for line in lines[1:])
    assert " ".join(line.removesuffix("\\").strip() for line in lines).endswith("'a b'")
    assert shell_text(["docker"]) == "docker"


@pytest.mark.parametrize(
    ("kind", "text", "taken"),
    [
        (METHOD, "BNNR", "bnnr"),
        (METHOD_ROW, "SCPMF/corrected", "scpmf/corrected"),
        (METRIC, "auc/as-defined", "AUC/as-defined"),
        (METHOD, "nobody", "nobody"),
        (METHOD, "bnnr", "bnnr"),
    ],
)
def test_a_name_in_other_letters_is_taken_with_a_word(
    kind: Any, text: str, taken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    context = click.Context(click.Command("x"))
    assert kind.convert(text, None, context) == taken
    said = capsys.readouterr().err
    head = text if kind is METRIC else text.partition("/")[0]
    whole = taken if kind is METRIC else taken.partition("/")[0]
    assert said == ("" if taken == text else f"{kind.name} {head}: taken as {whole}\n")


def test_the_kind_of_an_answer_is_that_of_its_file_or_option(tmp_path: Path) -> None:
    none: dict[str, str | None] = {"--json": None}
    assert chosen_kind(None, none) == "text" and chosen_kind(None, none, usual="csv") == "csv"
    assert chosen_kind(None, {"--json": "json", "--format json": "json"}) == "json"
    assert chosen_kind(Path("a.MD"), none) == "markdown"
    assert chosen_kind(Path("a.json"), {"--json": "json"}) == "json"
    for kind, ending in (("xlsx", ".xlsx"), ("parquet", ".parquet"), ("pdf", ".pdf")):
        with pytest.raises(click.UsageError, match=f"{kind} is written to a file: --output NAME{ending}"):
            chosen_kind(None, {f"--format {kind}": kind})


def test_what_was_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deliver("text", None, "a note")
    deliver("text", tmp_path / "a.txt", "3 rows")
    deliver(b"x", tmp_path / "a.csv")
    assert (
        capsys.readouterr().out == f"textwritten: {tmp_path / 'a.txt'} (3 rows)\nwritten: {tmp_path / 'a.csv'}\n"
    )
    assert (tmp_path / "a.csv").read_bytes() == b"x" and (tmp_path / "a.txt").read_text() == "text"


def test_a_long_value_is_cut_where_a_line_ends() -> None:
    assert _cut("x" * 34) == "x" * 34 and _cut("x" * 35) == f"{'x' * 33}…"
