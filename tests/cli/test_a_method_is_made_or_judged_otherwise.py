"""What commands about methods and their models ask for and tell, and how they end: new, parity, weights."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.cli import new, parity, weights
from harness.conformance import CheckResult, checks_of
from harness.methods.card import load_method, load_methods, method_names
from harness.methods.weights import load_weights, weights_names
from harness.parity import CaseFinding
from harness.parity.cases import METRICS, SPLITS
from harness.parity.finding import ArrayFinding, Standing
from tests.cli.calls import document, harness_of
from tests.conftest import REPOSITORY

SOURCE = "its folders hold source text, and no links or data"


pytestmark = pytest.mark.usefixtures("repository_here")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Whether an engine might have been installed, each time that one was asked for, and the mirrors of images."""
    asked: list[Any] = []

    def on_demand(_layout: object, *, install: bool, mirrors: tuple[Path, ...] = ()) -> Any:
        asked.append((install, *mirrors))
        return nullcontext("a run")

    monkeypatch.setattr("harness.execution.trials.on_demand", on_demand)
    return asked


def test_a_skeleton_is_told_file_by_file(monkeypatch: pytest.MonkeyPatch, repository: Layout) -> None:
    asked: list[Any] = []

    def make(layout: Layout, *given: str) -> list[Path]:
        asked.append(given)
        return [layout.root / "methods" / "mine" / name for name in ("a.py", "b.toml")]

    monkeypatch.setattr("harness.methods.scaffold.new_method", make)
    result = harness_of("new", "method", "mine", "--language", "R")
    assert result.stdout.splitlines() == [
        "methods/mine/a.py",
        "methods/mine/b.toml",
        "next: harness new check mine   (builds its image and runs the self-test; docs/adding-a-method.md)",
    ]
    words = ("--language", "Octave", "--benchmark", "ddi", "--title", "Mine")
    told = document(harness_of("new", "method", "mine", *words, "--json"))
    assert (told["method"], told["files"]) == ("mine", ["methods/mine/a.py", "methods/mine/b.toml"])
    assert asked == [("mine", "r", "repurposing", ""), ("mine", "octave", "ddi", "Mine")]


@pytest.mark.parametrize(
    ("fault", "reasons", "code"),
    [
        ("", ("", "", ""), 0),
        ("", ("", "too few", ""), 1),
        ("", ("", "", "too few"), 1),
        ("", ("slow", "slow", ""), 1),
        ("", ("slow", "", "slow"), 1),
        ("a link", ("", "", ""), 1),
    ],
)
def test_a_self_test_is_told_check_by_check(
    fault: str,
    reasons: tuple[str, str, str],
    code: int,
    engines: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    first, *checks = checks_of(load_method(Layout(REPOSITORY, REPOSITORY, REPOSITORY), "bnnr"))[:3]

    def test(card: Any, run: str) -> Iterator[CheckResult]:
        assert (card.name, run) == ("bnnr", "a run")
        for one, reason in zip((first, *checks), reasons, strict=True):
            yield CheckResult(one.name, passed=not reason, reason=reason)

    monkeypatch.setattr(new, "code_fault", lambda _layout, name: fault if name == "bnnr" else "?")
    monkeypatch.setattr("harness.conformance.self_test", test)
    result = harness_of("new", "check", "bnnr")
    ends = [f"FAILED: {one}" if one else "passed" for one in reasons]
    if reasons[0]:
        ends = ["FAILED: as above" if end == ends[0] and place else end for place, end in enumerate(ends)]
    expected = [f"bnnr: {SOURCE}: {f'FAILED: {fault}' if fault else 'passed'}"]
    if not fault:
        # what is no source is never run
        expected += [f"bnnr: {one.promise}: {end}" for one, end in zip((first, *checks), ends, strict=True)]
    assert (result.return_value, result.stdout.splitlines()) == (code, expected)
    # each of several, one after the other
    both = harness_of("new", "check", "als_wr", "bnnr", "lrssl").stdout.splitlines()
    assert both == [f"als_wr: {SOURCE}: FAILED: ?", *expected, f"lrssl: {SOURCE}: FAILED: ?"]
    result = harness_of("new", "check", "bnnr", "--install", "--mirror", str(tmp_path), "--json")
    rows = document(result)["rows"]
    assert result.return_value == code and len(rows) == len(expected)
    assert rows[0] == {"method": "bnnr", "check": "source", "passed": not fault, "reason": fault}
    if not fault:
        row = {"method": "bnnr", "check": first.name, "passed": not reasons[0], "reason": reasons[0]}
        assert rows[1] == row
    assert engines == [(False,), (False,), (True, tmp_path)]


def found(standing: Standing, subject: str = "bnnr") -> CaseFinding:
    array = ArrayFinding("scores", standing, error=1.0, allowed=0.5)
    return CaseFinding("case-1", "method", subject, (array,), standing)


@pytest.fixture
def golden(monkeypatch: pytest.MonkeyPatch, engines: list[Any]) -> SimpleNamespace:
    """Golden cases of one method and of the splits; what came of them, and what was asked."""
    case = SimpleNamespace(asked=[], findings=[found(Standing.OK)], engines=engines)

    def check(_layout: object, cases: object, cards: list[Any], run: str, **others: Any) -> Iterator[CaseFinding]:
        case.asked.append((cases, [card.name for card in cards], run, others))
        yield from case.findings

    def find(folder: Path) -> list[str]:
        case.folder = folder
        return ["one case", "two cases"]

    monkeypatch.setattr("harness.parity.find_cases", find)
    monkeypatch.setattr("harness.parity.check_cases", check)
    covered = {("one case", "bnnr"), ("two cases", SPLITS)}
    monkeypatch.setattr("harness.parity.check.is_covered", lambda one, _cards, subject: (one, subject) in covered)
    return case


@pytest.mark.parametrize("standing", [*Standing])
def test_what_is_beyond_its_tolerance_is_in_the_exit_code(standing: Standing, golden: SimpleNamespace) -> None:
    golden.findings = [found(Standing.OK), found(standing)]
    result = harness_of("parity", "--golden", "/g")
    assert result.return_value == int(standing in (Standing.BEYOND, Standing.FAILED))
    lines = [line for one in golden.findings for line in parity._lines(one)]
    assert result.stdout == "\n".join([*lines, parity._summary(golden.findings), ""])
    result = harness_of("parity", "--golden", "/g", "--json")
    told = document(result)
    assert result.return_value == int(standing.is_bad) and (told["cases"], told["ok"]) == (2, not standing.is_bad)
    assert [one["case"] for one in told["findings"]] == ["case-1"] * 2


def test_golden_cases_are_those_that_were_named(
    golden: SimpleNamespace, tmp_path: Path, repository: Layout
) -> None:
    harness_of("parity", "--golden", "/g")
    harness_of("parity", "BNNR", SPLITS, "--golden", "/g", "--mirror", str(tmp_path), "--install")
    assert golden.folder == Path("/g") and golden.engines == [(False,), (True, tmp_path)]
    cases, cards = ["one case", "two cases"], [card.name for card in load_methods(repository)]
    assert golden.asked == [
        (cases, cards, "a run", {"mirrors": (), "only": ()}),
        (cases, cards, "a run", {"mirrors": (tmp_path,), "only": ("bnnr", SPLITS)}),
    ]


@pytest.mark.parametrize(
    ("subject", "what"),
    [
        ("bnrr", "no method is called 'bnrr'"),
        (METRICS, f"no golden case covers '{METRICS}'"),
        ("drrs", "no golden case covers 'drrs'"),
        ("constant", "no golden case covers 'constant'"),
    ],
)
def test_what_no_golden_case_is_about_is_refused(
    subject: str, what: str, golden: SimpleNamespace, repository: Layout
) -> None:
    with pytest.raises(UsageError) as error:
        harness_of("parity", "bnnr", subject, "--golden", "/g")
    assert error.value.what == what and golden.asked == []
    if "covers" in what:
        why = load_method(repository, subject).without_golden if subject != METRICS else ""
        assert error.value.where == (" ".join(why.split()) or "/g")
        assert error.value.todo == "name another folder or method"
    else:
        assert "did you mean 'bnnr'" in error.value.todo and error.value.where == str(repository.methods)


def test_why_a_method_has_no_golden_case_is_said(golden: SimpleNamespace, repository: Layout) -> None:
    cards = [load_method(repository, name) for name in method_names(repository)]
    card = next(one for one in cards if "\n" in one.without_golden or "  " in one.without_golden)
    with pytest.raises(UsageError) as error:
        harness_of("parity", card.name, "--golden", "/g")
    assert error.value.where == " ".join(card.without_golden.split()) != card.without_golden


DIGEST = "d" * 64


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, repository: Layout) -> SimpleNamespace:
    """Models of which one is here; what is asked for."""
    case = SimpleNamespace(asked=[], verified=[], here="textddi")

    def kept(name: str) -> object:
        manifest = load_weights(repository, name)
        return SimpleNamespace(digest=DIGEST, manifest=manifest, verify=lambda: case.verified.append(name))

    def bring(_layout: object, name: str, *, say: Callable[[str], None], **others: Any) -> object:
        case.asked.append((name, others))
        say("fetching")
        return kept(name)

    def adapt(engine: str, _layout: object, *given: Any, say: Callable[[str], None], **others: Any) -> object:
        case.asked.append((engine, *given, others))
        say("training")
        return kept(given[0])

    def find(_layout: object, *, install: bool) -> Any:
        case.asked.append(install)
        return nullcontext("an engine")

    monkeypatch.setattr(weights, "are_here", lambda _layout, name: name == case.here)
    monkeypatch.setattr(weights, "kept_weights", lambda _layout, name: kept(name))
    monkeypatch.setattr(weights, "bring_weights", bring)
    monkeypatch.setattr(weights, "adapt_weights", adapt)
    monkeypatch.setattr(weights, "find_engine", find)
    return case


@pytest.mark.usefixtures("models")
def test_a_model_is_here_or_it_is_said_how_to_have_it(repository: Layout) -> None:
    states = {
        "textddi": f"here, {DIGEST[:16]}",
        "pure_scibert": "to be brought: `harness weights get pure_scibert`",
        "pure_scibert:dapt": "to be made: `harness weights adapt pure_scibert:dapt`",
    }
    rows = document(harness_of("weights", "list", "--json"))["rows"]
    assert [row["method"] for row in rows] == weights_names(repository)
    lines = harness_of("weights", "list").stdout.splitlines()
    assert len(lines) == len(rows)
    for name, state in states.items():
        one = load_weights(repository, name)
        row = next(row for row in rows if row["method"] == name)
        assert row == {"method": name, "state": state, **one.model_dump(mode="json")}
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        assert re.split("  +", line) == [name, one.title, one.size, one.licence, state]
    assert len({line.index("here, " if "here, " in line else "to be ") for line in lines}) == 1


def test_a_model_is_brought_from_where_it_was_named(models: SimpleNamespace, tmp_path: Path) -> None:
    title = "RoBERTa-base"
    result = harness_of("weights", "get", "TEXTDDI", "--from", str(tmp_path))
    assert result.stdout == f"fetching\n{title}: {DIGEST}\n"
    result = harness_of("weights", "get", "textddi", "--mirror", str(tmp_path), "--json")
    told = document(result)
    assert (told["method"], told["title"], told["digest"]) == ("textddi", title, DIGEST)
    assert result.stderr == "fetching\n"
    assert models.asked == [
        ("textddi", {"given": tmp_path, "mirrors": ()}),
        ("textddi", {"given": None, "mirrors": (tmp_path,)}),
    ]


def test_a_model_is_made_of_what_was_named(models: SimpleNamespace, tmp_path: Path) -> None:
    corpus = tmp_path / "texts"
    corpus.write_text("one\n")
    words = ("weights", "adapt", "pure_scibert:dapt", "--corpus", str(corpus))
    result = harness_of(*words)
    title = load_weights(Layout(REPOSITORY, REPOSITORY, REPOSITORY), "pure_scibert:dapt").title
    assert result.stdout == f"training\n{title}: {DIGEST}\n"
    more = ("--set", "epochs=3", "--set", "rate=1e-4", "--accelerator", "CUDA", "--install", "--json")
    result = harness_of(*words, *more, "--mirror", str(tmp_path))
    assert document(result)["method"] == "pure_scibert:dapt" and result.stderr == "training\n"
    assert models.asked == [
        False,
        ("an engine", "pure_scibert:dapt", corpus, {}, {"accelerator": "cpu", "mirrors": ()}),
        True,
        (
            "an engine",
            "pure_scibert:dapt",
            corpus,
            {"epochs": 3.0, "rate": 1e-4},
            {"accelerator": "cuda", "mirrors": (tmp_path,)},
        ),
    ]
    for text in ("epochs=", "epochs=many", "epochs=True", "epochs=true"):
        with pytest.raises(UsageError) as error:
            harness_of(*words, "--set", text)
        assert error.value.what == "the value of epochs is no number"
        assert error.value.todo == "write for example --set epochs=3"
    for texts, what in (
        (("epochs",), "'epochs' sets nothing"),
        (("epochs=nan",), "'nan' is no finite number"),
        (("epochs=3", "epochs=4"), "epochs is set twice: 3 and 4"),
    ):
        with pytest.raises(UsageError, match=what):
            harness_of(*words, *(word for text in texts for word in ("--set", text)))
    assert len(models.asked) == 4


def test_models_that_are_here_are_read(models: SimpleNamespace, repository: Layout) -> None:
    names = weights_names(repository)
    lines = [f"{name}: {'ok' if name == 'textddi' else 'not here'}" for name in names]
    assert harness_of("weights", "verify").stdout.splitlines() == lines and models.verified == ["textddi"]
    result = harness_of("weights", "verify", "--json")
    assert [f"{row['method']}: {row['verdict']}" for row in document(result)["rows"]] == lines
    assert models.verified == ["textddi"] * 2
