"""Ranks and tests rest on common seeds, and every number that lacks something says so in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, wilcoxon

from harness import api
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.metric import Metric
from harness.cli import group, main
from harness.contest import (
    COLUMNS,
    Mark,
    draw,
    hold_contest,
    rows_of,
    to_csv,
    to_json,
    to_latex,
    to_markdown,
    to_text,
)
from harness.contest.picture import _value_scale, groups_of
from harness.contest.rows import notes
from harness.contest.text import latex
from harness.results.reference import load_reference
from tests.contest.conftest import LOWER, contest_of

_FIRST = [0.5, 0.6, 0.7, 0.8, 0.9, 0.55, 0.65]
_LESS = [value - 0.01 * place for place, value in enumerate(_FIRST, start=1)]


def test_means_ranks_and_tests_are_those_of_the_values() -> None:
    contest = contest_of({"mine": {"one": _FIRST}, "other": {"one": _LESS}})
    mine, other = contest.entries
    assert mine.summary and mine.summary.mean == pytest.approx(np.mean(_FIRST))
    assert mine.summary.sd == pytest.approx(np.std(_FIRST, ddof=1))
    assert (mine.rank, other.rank, mine.test, mine.marks, other.marks) == (1, 2, None, (), ())
    assert other.test and other.test.p == pytest.approx(wilcoxon(_FIRST, _LESS, method="exact").pvalue)
    assert other.test.difference == pytest.approx(0.04)
    assert other.test.dominance == 1


def test_where_lower_is_better_the_lower_one_is_first() -> None:
    contest = contest_of({"mine": {"one": _LESS}, "other": {"one": _FIRST}}, LOWER)
    mine, other = contest.entries
    assert (mine.rank, other.rank) == (1, 2)
    assert other.test and other.test.difference > 0 and other.test.dominance == 1


def test_ranks_and_tests_rest_on_common_seeds() -> None:
    # over its own seeds the other is better; where both have a value it is not
    contest = contest_of(
        {"mine": {"one": [0.5, 0.5, 0.0, 0.0]}, "other": {"one": [0.4, 0.4, Verdict.TIMEOUT, 0.1]}}
    )
    mine, other = contest.entries
    assert other.test and other.test.n == 3
    assert other.test.difference == pytest.approx(0.1 / 3)
    assert (mine.rank, other.rank) == (1, 2)
    assert "ranks rest on the 3 seeds that all methods have" in to_text(contest)


_NONE = "no ranks, since no seed is common to all methods."


@pytest.mark.parametrize(
    ("mine", "other", "told"),
    [
        # of two that have the same seeds there is nothing to tell, nor where nobody has any
        ([0.5, 0.6], [0.4, 0.5], ""),
        ([Verdict.TIMEOUT], [Verdict.PENDING], ""),
        # one that has none at all is marked, and the others are ranked over their own
        ([0.5, 0.6], [Verdict.TIMEOUT, Verdict.TIMEOUT], ""),
        # whichever has the fewer
        ([0.5, 0.6, 0.7], [0.4, Verdict.ERROR, 0.5], "ranks rest on the 2 seeds that all methods have."),
        ([0.5, Verdict.ERROR, 0.7], [0.4, 0.4, 0.5], "ranks rest on the 2 seeds that all methods have."),
        ([0.5, Verdict.ERROR], [0.4, 0.5], "ranks rest on the 1 seed that all methods have."),
        ([0.5, 0.6], [None, 0.5], "ranks rest on the 1 seed that all methods have."),
        ([0.5, Verdict.TIMEOUT], [Verdict.TIMEOUT, 0.4], _NONE),
    ],
)
def test_what_the_ranks_of_each_setting_rest_on_is_told(mine: list[Any], other: list[Any], told: str) -> None:
    whole = [0.5, 0.6, 0.7]
    contest = contest_of({"mine": {"one": mine, "whole": whole}, "other": {"one": other, "whole": whole}})
    lines = [line for line in notes(contest) if re.match("(one|whole), cluster: (ranks|no ranks)", line)]
    assert lines == ([f"one, cluster: {told}"] if told else [])


def test_what_a_number_lacks_is_marked() -> None:
    whole = [0.5] * 7
    contest = contest_of(
        {
            "whole": {"one": whole},
            "failed": {"one": [*whole[:6], Verdict.MEMORY]},
            "pending": {"one": [*whole[:6], Verdict.PENDING]},
            "undefined": {"one": [*whole[:6], None]},
            "few": {"one": whole[:5]},
            "nothing": {"one": [Verdict.ERROR] * 7},
            "refused": {"one": [Verdict.NOT_APPLICABLE] * 7},
        }
    )
    marks = {entry.row: entry.marks for entry in contest.entries}
    assert marks == {
        "whole": (),
        "failed": (Mark.FAILED,),
        "pending": (Mark.MISSING,),
        "undefined": (Mark.MISSING,),
        "few": (Mark.FEW,),
        "nothing": (Mark.FAILED,),
        "refused": (),
    }
    assert {entry.row for entry in contest.entries if entry.rank is None} == {"nothing", "refused"}
    remarks = " ".join(contest.problems)
    assert "memory 1" in remarks and "error 7" in remarks and "no class has two members" in remarks
    assert "refused on one, cluster: not applicable" in to_text(contest)


def test_every_form_says_what_a_number_lacks() -> None:
    contest = contest_of(
        {"mine": {"one": _FIRST}, "other": {"one": [*_LESS[:5], Verdict.TIMEOUT, Verdict.PENDING]}}
    )
    for text in (
        to_text(contest),
        to_markdown(contest),
        to_csv(contest),
        json.dumps(to_json(contest), ensure_ascii=False),
    ):
        assert "†‡§" in text
        assert "timeout 1" in text
    printed = to_latex(contest)
    assert r"\textsuperscript{\dag}\textsuperscript{\ddag}\textsuperscript{\S}" in printed
    assert "timeout 1" in printed
    without = to_latex(contest_of({"mine": {"one": _FIRST}, "other": {"one": [Verdict.ERROR] * 7}}))
    assert r"other & -\textsuperscript{\dag} & 0/7" in without
    for picture in (draw(contest, "svg").decode(), draw(contest, "pdf").decode("cp1252")):
        assert picture.count("†‡§") >= 2  # at the name, and in the line that explains it
        assert "timeout 1" in picture


def test_the_best_is_bold_whatever_it_lacks() -> None:
    contest = contest_of({"mine": {"one": [*_FIRST[:6], Verdict.TIMEOUT]}, "other": {"one": _LESS}})
    mine, other = contest.entries
    assert mine.rank == 1 and mine.marks and not other.marks
    (line,) = (line for line in to_markdown(contest).splitlines() if line.startswith("| mine"))
    assert line.split(" | ")[1].startswith("**0.6750") and to_markdown(contest).count("**0.") == 1
    (row,) = (line for line in to_latex(contest).splitlines() if r"\textbf{" in line)
    assert row.startswith(r"mine & \textbf{0.6750")


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([20.0, 20.0], 19.0, 21.0),
        ([-40.0, -40.0], -42.0, -38.0),
        ([0.5, 0.5], 0.45, 0.55),
        ([0.0, 0.0], -0.05, 0.05),
    ],
)
def test_equal_values_stand_in_the_middle_of_a_scale(values: list[float], low: float, high: float) -> None:
    scale = _value_scale(contest_of({"mine": {"one": values}}).entries, 10.0)
    assert [scale.low, scale.high] == pytest.approx([low, high])


def test_of_many_reasons_for_a_missing_number_the_first_is_told() -> None:
    """Each seed may have counts of its own."""
    whole = contest_of({"mine": {"one": [None, None, None, 0.5]}})
    cells = tuple(
        replace(one, notes={name: f"{text} ({one.cell.job.split.seed})" for name, text in one.notes.items()})
        for one in whole.table.cells
    )
    contest = hold_contest(replace(whole.table, cells=cells), whole.metric, whole.methods)
    about = "ok 4, 3 without this metric (S1 F1: no class has two members (1)); 1 of 4 seeds have a value"
    assert contest.problems == [f"‡§ mine on one, cluster: {about}"]
    # what was not scored yet may have this metric
    for waiting, told in (
        (1, "1 not scored: run `harness score`, 2 without this metric (S1 F1: no class has two members (2))"),
        (3, "3 not scored: run `harness score`"),
    ):
        mixed = [replace(one, scored=False, notes={}) for one in cells[:waiting]] + [*cells[waiting:]]
        contest = hold_contest(replace(whole.table, cells=tuple(mixed)), whole.metric, whole.methods)
        about = f"ok 4, {told}; 1 of 4 seeds have a value"
        assert contest.problems == [f"‡§ mine on one, cluster: {about}"]


def test_many_settings_of_one_lack_are_one_line() -> None:
    contest = contest_of({"mine": {f"set{number}": [0.5] for number in range(9)}})
    assert len(contest.problems) == 1
    assert "set0, cluster; set1, cluster; set2, cluster; set3, cluster and 5 more: ok 1" in contest.problems[0]
    # each of them is marked all the same
    assert to_text(contest).count("0.5000§") == 9


def test_too_few_seeds_for_any_test_are_told_with_how_many_it_takes() -> None:
    few = {"one": _FIRST[:5]}
    contest = contest_of({"mine": few, "second": {"one": _LESS[:5]}, "third": few})
    assert "No test here can reach 0.05" in to_text(contest)
    assert "takes 7\n  common seeds" in to_text(contest) or "takes 7 common seeds" in to_text(contest)
    assert "No test here can reach" not in to_text(contest_of({"mine": {"one": _FIRST}, "other": {"one": _LESS}}))
    # one that can decide is enough, whatever the others lack
    lacking: list[float | Verdict | None] = [*_LESS[:3], *[Verdict.ERROR] * 4]
    some = contest_of({"mine": {"one": _FIRST}, "second": {"one": _LESS}, "third": {"one": lacking}})
    assert [one.test and one.test.n for one in some.entries] == [None, 7, 3]
    assert "No test here can reach" not in to_text(some)


def test_the_rank_test_is_over_the_settings_that_all_have() -> None:
    random = np.random.default_rng(1)
    values = random.normal(size=(4, 3, 8))
    contest = contest_of(
        {
            name: {f"data{place}": values[place, column].tolist() for place in range(4)}
            | {"half": values[0, column].tolist() if column else [Verdict.ERROR] * 8}
            for column, name in enumerate(("mine", "second", "third"))
        }
    )
    assert contest.rank_test and contest.rank_test.blocks == 4
    assert contest.rank_test.statistic == pytest.approx(friedmanchisquare(*values.mean(axis=2).T).statistic)
    assert not any("half" in block for block in contest.blocks)
    assert "critical difference" in to_text(contest).lower()
    assert b"CD = " in draw(contest, "pdf") and b"CD = " in draw(contest, "svg")


@pytest.mark.parametrize(("methods", "datasets", "is_tested"), [(2, 3, False), (3, 1, False), (3, 2, True)])
def test_ranks_are_tested_of_three_methods_in_two_settings_at_least(
    methods: int, datasets: int, *, is_tested: bool
) -> None:
    of_one = {f"d{number}": [0.1, 0.2, 0.3] for number in range(datasets)}
    contest = contest_of({f"m{number}": of_one for number in range(methods)})
    assert (contest.rank_test is not None) == is_tested == bool(contest.blocks) == bool(contest.mean_ranks)


@pytest.mark.parametrize(("settings", "p", "is_told"), [(2, 1 / 6, True), (3, 1 / 36, False), (4, 1 / 216, False)])
def test_that_no_ranks_differ_is_told_where_chance_gives_them_more_often_than_the_level(
    settings: int, p: float, *, is_told: bool
) -> None:
    """Three methods of one order everywhere: of the other settings each can stand in one of six."""
    contest = contest_of(
        {f"m{number}": {f"d{place}": [0.1 * number] for place in range(settings)} for number in range(1, 4)}
    )
    assert contest.rank_test and contest.rank_test.exact and contest.rank_test.p == pytest.approx(p)
    assert ("Friedman's test finds no difference" in " ".join(notes(contest))) == is_told


def test_the_critical_difference_is_drawn_as_long_as_it_is() -> None:
    random = np.random.default_rng(0)
    contest = contest_of(
        {
            name: {f"data{place}": random.normal(column, 0.1, 7).tolist() for place in range(8)}
            for column, name in enumerate(("mine", "second", "third", "fourth"))
        }
    )
    assert contest.rank_test
    picture = draw(contest, "svg").decode()
    first, second = re.findall(r'<text x="([\d.]+)" y="43.0" class="tick" text-anchor="middle">[12]<', picture)
    ((start, end),) = re.findall(r'<line x1="([\d.]+)" y1="20.0" x2="([\d.]+)" y2="20.0"', picture)
    unit = float(second) - float(first)
    assert (float(end) - float(start)) / unit == pytest.approx(contest.rank_test.critical_difference, abs=0.01)
    assert start == first


def test_a_name_is_no_markup_wherever_it_stands() -> None:
    names = ("a*b*", "c|d", "<e>")
    contest = contest_of(
        {
            name: {f"data{place}": [0.1 * column + 0.01 * place] for place in range(8)}
            for column, name in enumerate(names, 1)
        }
    )
    assert contest.rank_test
    text = to_markdown(contest)
    ranks = text[text.index("mean rank") :]
    for name, escaped in zip(names, (r"a\*b\*", r"c\|d", "&lt;e&gt;"), strict=True):
        assert name not in text and escaped in ranks
    printed = to_latex(contest)
    below = printed[printed.index("mean rank") :].splitlines()
    rows = dict(line.split(" & ", 1) for line in below if " & " in line)
    assert rows == {
        r"\textless{}e\textgreater{}": r"1.00 \\",
        "c|d": r"2.00 \\",
        "a*b*": r"3.00 \\",
    }


@given(st.lists(st.floats(1, 9), min_size=1, max_size=8), st.floats(0.1, 4))
@example(ranks=[1.0, 2.0, 3.5], difference=1.0)
def test_bars_join_all_and_only_what_is_near(ranks: list[float], difference: float) -> None:
    ranks = sorted(ranks)
    bars = groups_of(ranks, difference)
    near = {
        (a, b) for a in range(len(ranks)) for b in range(a + 1, len(ranks)) if ranks[b] - ranks[a] <= difference
    }
    assert {(a, b) for low, high in bars for a in range(low, high + 1) for b in range(a + 1, high + 1)} == near
    assert len({low for low, _ in bars}) == len({high for _, high in bars}) == len(bars)


@given(st.text(alphabet=st.characters(codec="ascii", exclude_categories=["Cc"])))
def test_no_sign_of_tex_survives_unescaped(text: str) -> None:
    words = r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater)\{\}|\\[&%$#_{}]"
    rest = re.sub(words, "", latex(text))
    assert not set(rest) & set(r"\&%$#_{}~^<>")
    plain = re.sub(r"\\[a-z]+\{\}|\\", "", latex(text))
    assert all(sign in plain for sign in text if sign.isalnum())


def test_a_table_for_latex_has_as_many_columns_as_it_says() -> None:
    contest = contest_of({"my_own": {"a_set": _FIRST}, "other": {"a_set": _LESS}})
    lines = to_latex(contest).splitlines()
    columns = next(re.search(r"tabular\}\{(l+r+)\}", line) for line in lines if "begin{tabular}" in line)
    assert columns
    rows = [line for line in lines if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count(" & ") + 1 for line in rows} == {len(columns[1])}
    assert any(line.startswith(r"my\_own & \textbf{") for line in rows)
    assert not any(line.startswith(r"other & \textbf{") for line in rows)
    assert sum(line.count("{") - line.count("}") - line.count(r"\{") + line.count(r"\}") for line in lines) == 0


def test_the_same_contest_gives_the_same_bytes() -> None:
    contest = contest_of({"mine": {"one": _FIRST}, "other": {"one": _LESS}})
    for kind in ("svg", "pdf"):
        assert draw(contest, kind) == draw(contest, kind)
    content = draw(contest, "pdf")
    place = int(content.rstrip().rsplit(b"\n", 2)[1])
    assert content.startswith(b"%PDF-") and content[place:].startswith(b"xref")


def test_rows_have_all_columns_and_csv_reads_back() -> None:
    contest = contest_of({"mine": {"one": _FIRST}, "other": {"one": _LESS}})
    assert [tuple(row) for row in rows_of(contest)] == [COLUMNS] * 2
    read = list(csv.DictReader(io.StringIO(to_csv(contest))))
    assert float(read[1]["p_holm"]) == contest.entries[1].adjusted_p
    assert read[0]["p"] == ""


def test_differences_that_cancel_are_0_and_not_nothing_in_every_form() -> None:
    contest = contest_of({"mine": {"one": [0.25, 0.5, 0.75, 0.5]}, "other": {"one": [0.5, 0.25, 0.5, 0.75]}})
    row, read = rows_of(contest)[1], list(csv.DictReader(io.StringIO(to_csv(contest))))[1]
    for name, value in (("difference", 0.0), ("dominance", 0.0), ("dz", 0.0), ("p", 1.0), ("common_seeds", 4)):
        assert row[name] == value and float(read[name]) == value, name
    (line,) = (line for line in to_text(contest).splitlines() if line.startswith("  other "))
    assert line.split()[-4:] == ["+0.0000", "1.0000", "+0.00", "+0.00"]


def test_the_frame_is_what_the_committed_results_say(layout: Layout) -> None:
    """By hand from the committed files, with scipy."""
    metric, names = "AUC/as-defined", ("als_wr", "popularity", "pmf")
    values: dict[str, dict[int, float]] = {name: {} for name in names}
    for entry in load_reference(layout, "repurposing").values():
        job = entry.planned.job
        if (job.dataset, job.split.text, job.variant) == (
            "synthetic",
            "random",
            "published",
        ) and job.method in names:
            assert (entry.scores is not None) == (entry.content["verdict"] == "ok")
            if entry.scores is None:
                continue
            values[job.method][job.split.seed] = entry.scores.metrics[metric] or 0.0
    here = api.Repository(layout)
    contest = api.contest(
        names, metric=metric, datasets="synthetic", splits="random", reference=True, repository=here
    )
    frame = api.table(contest).set_index("method")
    assert list(frame.columns) == [name for name in COLUMNS if name != "method"]
    common = sorted(set.intersection(*(set(one) for one in values.values())))
    means = {name: np.mean([values[name][seed] for seed in common]) for name in names}
    for name in names:
        assert frame.loc[name, "mean"] == pytest.approx(np.mean(list(values[name].values())))
        assert frame.loc[name, "n"] == len(values[name])
        assert frame.loc[name, "rank"] == 1 + sum(other > means[name] for other in means.values())
    for name in names[1:]:
        seeds = sorted(values["als_wr"].keys() & values[name].keys())
        first, second = ([values[one][seed] for seed in seeds] for one in ("als_wr", name))
        assert frame.loc[name, "p"] == pytest.approx(wilcoxon(first, second, method="exact").pvalue)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "nobody"], "no method is called 'nobody'"),
        (["--method", "bnnr/corected"], "has no variant 'corected'"),
        (["--method", "bnnr", "--method", "bnnr"], "named twice"),
        (["--method", "bnnr", "--metric", "NS-AUC"], "choose one of: NS-AUC/as-published, NS-AUC/as-defined"),
        (["--method", "bnnr", "--metric", "NS-AUC/as-defind"], "did you mean 'NS-AUC/as-defined'"),
        (["--method", "bnnr", "--method", "mlp"], "no one benchmark in common"),
        (["--method", "bnnr", "--dataset", "drugbank"], "no one benchmark in common"),
        (["--method", "bnnr", "--output", "table.xlsx"], "Known endings"),
        (["--method", "bnnr", "--output", "table.tex", "--format", "csv"], "exclude each other"),
        (["--method", "bnnr", "--format", "pdf"], "--output NAME.pdf"),
        (["--method", "bnnr", "--format", "svg", "--json"], "exclude each other"),
        (["--method", "bnnr", "--suite", "ddi-smoke"], "this suite has nothing of repurposing"),
        (["--method", "bnnr", "--suite", "smoke", "--seed", "1"], "names its own seeds"),
        (["--method", "bnnr", "--reference", "--split", "randm"], "did you mean 'random'"),
        (["--method", "bnnr"], "no run of what was asked for is known"),
    ],
)
def test_a_wrong_request_says_what(
    arguments: list[str],
    said: str,
    layout: Layout,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(layout.local))
    with pytest.raises(SystemExit) as ended:
        main(["table", *arguments])
    assert ended.value.code == 2
    told = capsys.readouterr()
    # an error is JSON where that was asked for
    assert said in (told.out if "--json" in arguments else told.err)


def test_strict_shows_nothing_that_must_not_stand_alone(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PERMAFROST_RESULTS", str(layout.local))
    asked = ["table", "--method", "als_wr", "--reference", "--dataset", "fdataset", "--split", "random"]
    marked = [*asked, "--method", "lrssl", "--seed", "17263407"]
    assert CliRunner().invoke(group, [*asked, "--strict"]).exit_code == 0
    assert CliRunner().invoke(group, marked).exit_code == 0
    with pytest.raises(SystemExit) as ended:
        main([*marked, "--strict"])
    output = capsys.readouterr()
    assert (ended.value.code, output.out) == (1, "")
    assert "als_wr on fdataset, random: ok 1; 1 of 1 seeds have a value" in output.err


@pytest.mark.parametrize(
    ("better", "scale", "values", "is_no_bar"),
    [
        ("higher", (0.0, 1.0), [0.0, 0.0], True),
        ("higher", (0.0, 1.0), [0.0, 0.1], False),
        ("lower", (0.0, 1.0), [1.0, 1.0], True),
        ("lower", (0.0, 1.0), [0.0, 0.0], False),
        ("higher", None, [0.0, 0.0], False),
        ("higher", (0.0, 1.0), [None, Verdict.ERROR], False),
    ],
)
def test_a_control_that_is_as_bad_as_can_be_is_called_no_bar(
    better: Any, scale: tuple[float, float] | None, values: list[Any], is_no_bar: bool
) -> None:
    """Where ties count as wrong, one answer for everything has 0: a method above it may be worse than chance."""
    metric = Metric("M", "made up", better=better, range=scale)
    contest = contest_of({"mine": {"one": [0.2, 0.3]}, "constant": {"one": values}}, metric)
    told = f"constant has the worst M that there is, {0 if better == 'higher' else 1}, on one, cluster: "
    told += "whoever is better than that may still be worse than chance (docs/metrics.md)."
    assert (told in notes(contest)) == is_no_bar
    # a method of which that is true is just bad
    assert not any("the worst M" in note for note in notes(contest_of({"mine": {"one": values}}, metric)))


def test_of_many_settings_in_which_a_control_is_no_bar_three_are_named() -> None:
    metric = Metric("M", "made up", better="higher", range=(0.0, 1.0))
    for count, rest in ((3, ": "), (4, " and 1 more: ")):
        sides: dict[str, list[float]] = {"mine": [0.2, 0.3], "constant": [0.0, 0.0]}
        rows = {row: {f"set{number}": values for number in range(count)} for row, values in sides.items()}
        contest = contest_of(rows, metric)
        (told,) = (note for note in notes(contest) if "the worst M" in note)
        assert f", on set0, cluster; set1, cluster; set2, cluster{rest}whoever" in told
