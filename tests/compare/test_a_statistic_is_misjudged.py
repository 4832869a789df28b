"""A statistic over several methods gets the verdict that the authors' own runs would get, no more and no less."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.compare.claims import ADJUSTED_P, DIFFERENCE, MEDIAN, Claim, H
from harness.compare.comparison import ClaimVerdict
from harness.compare.groups import Several, judge_all
from harness.compare.paper import Place
from tests.study.conftest import Drawn

Claims = dict[tuple[str, str, str], Claim]
GRAPH_BASED = ("HAN", "LRSSL")


@pytest.mark.parametrize(
    "about", [("Table 5", "Fdataset", MEDIAN), ("Table 6", "Fdataset", H), ("Table 6", "Fdataset", DIFFERENCE)]
)
def test_the_authors_own_runs_reproduce_their_numbers(
    drawn: Drawn, claims: Claims, about: tuple[str, str, str]
) -> None:
    one = drawn(20).judge(claims[about])
    assert one.verdict is ClaimVerdict.REPRODUCED, one.reason
    assert one.n == 20 and "range" in one.test


def test_another_world_deviates(drawn: Drawn, claims: Claims) -> None:
    several = drawn(20, shift=0.3, of=GRAPH_BASED)
    for statistic in (H, DIFFERENCE):
        assert several.judge(claims["Table 6", "Fdataset", statistic]).verdict is ClaimVerdict.DEVIATES


def test_an_h_of_few_runs_is_taken_to_the_papers_number(drawn: Drawn, claims: Claims) -> None:
    few, many = (drawn(seeds).judge(claims["Table 6", "Fdataset", H]).ours for seeds in (35, 46))
    assert few is not None and many is not None
    assert few == pytest.approx(many, rel=0.3) and many == pytest.approx(128.5, rel=0.2)


def test_too_few_seeds_decide_nothing(drawn: Drawn, claims: Claims) -> None:
    one = drawn(9).judge(claims["Table 6", "Fdataset", H])
    assert one.verdict is ClaimVerdict.NOT_COMPARABLE and one.reason == "9 of 100 seeds"
    assert one.ours is not None
    blunt = drawn(10).judge(claims["Table 6", "Cdataset", H])
    assert blunt.verdict is ClaimVerdict.NOT_COMPARABLE and "need not show" in blunt.reason


def test_a_missing_method_makes_a_claim_wait(drawn: Drawn, nothing_run: Several, claims: Claims) -> None:
    one = drawn(10, without=["HAN"]).judge(claims["Table 6", "Fdataset", H])
    assert one.verdict is ClaimVerdict.PENDING and "HAN on Fdataset" in one.reason
    assert nothing_run.judge(claims["Table 5", "Fdataset", MEDIAN]).verdict is ClaimVerdict.PENDING


def test_a_method_that_fails_here_is_told(drawn: Drawn, claims: Claims) -> None:
    several = drawn(10, without=["HAN"])
    place = Place("Fdataset", "HAN", "random_simple")
    failing = replace(several, ours=replace(several.ours, failures={place: "memory: killed"}))
    one = failing.judge(claims["Table 6", "Fdataset", H])
    assert one.verdict is ClaimVerdict.NOT_COMPARABLE and "memory: killed" in one.reason


def test_data_that_nobody_has_are_named(drawn: Drawn, claims: Claims) -> None:
    one = drawn(10).judge(claims["Table 6", "TRANSCRIPT", H])
    assert one.verdict is ClaimVerdict.NOT_COMPARABLE and one.reason.startswith("no data here")
    everything = drawn(10).judge(claims["Table 10", "GB", DIFFERENCE])
    assert everything.verdict is ClaimVerdict.NOT_COMPARABLE
    for name in ("Gottlieb", "PREDICT_public", "PREDICT_private", "DNdataset", "TRANSCRIPT"):
        assert name in everything.reason


def test_what_is_here_is_compared_on_its_own(drawn: Drawn, claims: Claims) -> None:
    part = drawn(20).on_part(claims["Table 10", "NN", DIFFERENCE])
    assert part is not None and part.verdict is ClaimVerdict.REPRODUCED, part
    assert drawn(20).on_part(claims["Table 6", "Fdataset", H]) is None


def test_runs_like_the_authors_do_not_vouch_for_a_misprint(drawn: Drawn, claims: Claims) -> None:
    claim = claims["Table 6", "Fdataset", DIFFERENCE]._replace(published="-0.20")
    one = drawn(20).judge(claim)
    assert one.verdict is ClaimVerdict.DEVIATES and "do not give the printed number" in one.reason


def test_seeds_that_some_method_lacks_are_left_out(drawn: Drawn, claims: Claims) -> None:
    several = drawn(20)
    place = next(one for one in several.ours.values if one.method == "HAN" and one.dataset == "Fdataset")
    fewer = dict(several.ours.values)
    fewer[place] = {seed: run for seed, run in fewer[place].items() if seed % 2}
    one = replace(several, ours=replace(several.ours, values=fewer)).judge(claims["Table 6", "Fdataset", H])
    assert one.n == (10 if place.split == "random_simple" else 20)


def test_adjusted_chances_follow_their_tests(drawn: Drawn, claims: Claims) -> None:
    wanted = [claim for claim in claims.values() if claim.statistic in (H, ADJUSTED_P)]
    found = judge_all(drawn(10), wanted)
    assert found.keys() == set(wanted)
    for claim, one in found.items():
        if claim.statistic == ADJUSTED_P:
            assert one.files is not None and one.files.agrees
            assert one.verdict is ClaimVerdict.NOT_COMPARABLE
