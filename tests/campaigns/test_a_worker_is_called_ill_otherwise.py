"""What is held against a worker, and for how long: only runs that failed there, each once, until one goes well."""

from __future__ import annotations

from harness.execution.health import Health


def test_only_what_failed_there_is_held_against_a_worker() -> None:
    health = Health()
    for key in "ab":
        health.failed("w1", key, "x")
    for key in "cdefg":
        assert health.went_well("w2", key) == []
        health.is_settled(key)
    assert not health.ill and health.can_work("w1") and health.can_work("w2")
    health.failed("w1", "h", "x")
    assert not health.can_work("w1"), "three in a row, of which nobody knows whose they are"
    assert [health.went_well("w2", key) for key in "abi"] == [[], [], []] and not health.ill


def test_a_run_that_fails_twice_on_a_worker_is_one_failure_of_it() -> None:
    health = Health()
    for _ in range(5):
        health.failed("w1", "a", "x")
    assert health.can_work("w1") and health.went_well("w2", "a") == []
    health.failed("w1", "a", "y")
    health.is_settled("a")
    assert health.can_work("w1")


def test_every_worker_that_a_run_shows_as_ill_is_told_once() -> None:
    health = Health()
    for worker in ("w1", "w2"):
        for key in "abcd":
            health.failed(worker, key, f"no disk on {worker}")
    assert [health.went_well("w3", key) for key in "abcd"] == [[], [], ["w1", "w2"], []]
    words = "3 runs in a row failed there and were made by others"
    assert health.ill == {worker: f"{words}: no disk on {worker}" for worker in ("w1", "w2")}
    assert not health.refused("w1", "another harness") and health.ill["w1"].startswith(words)
    assert health.refused("w4", "another harness") and health.ill["w4"] == "another harness"


def test_a_worker_is_ill_of_what_failed_there_last() -> None:
    health = Health()
    health.failed("w1", "z", "a hiccup")
    assert health.went_well("w1", "y") == []
    for key, reason in (("a", "no disk"), ("b", "no disk"), ("c", "no memory")):
        health.failed("w1", key, reason)
    assert [health.went_well("w2", key) for key in "abc"] == [[], [], ["w1"]]
    assert health.ill == {"w1": "3 runs in a row failed there and were made by others: no memory"}


def test_a_run_that_goes_well_ends_the_row_of_its_worker_alone() -> None:
    health = Health()
    for worker in ("w1", "w2"):
        for key in "abc":
            health.failed(worker, key, "x")
    assert health.went_well("w1", "d") == []
    assert health.can_work("w1") and not health.can_work("w2")
