"""Two runs are never one user of the machine, for whom the kernel would count together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.engine.facts import read_facts
from harness.execution.runs import user
from harness.execution.runs.user import container_user

FACTS = read_facts({}, {}, api_version="1.41", socket="/run/engine.sock")
ROOTLESS = replace(FACTS, rootless=True, user_namespace=True)


def test_each_run_of_root_has_a_number_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "_has_all_numbers", lambda: True)
    drawn = [container_user(FACTS, uid=0, gid=0) for _ in range(1000)]
    # of a quarter of a billion numbers one is drawn twice now and then
    assert len({one.uid for one in drawn}) > 990 and all(one.own and one.gid == one.uid for one in drawn)
    # beyond people, services and ranges of subordinate users; within what every tool can hold
    assert all(1_878_000_000 < one.uid < 2**31 for one in drawn)


@pytest.mark.parametrize("remapped", [False, True], ids=["rootless", "remapped by root's engine"])
def test_numbers_in_a_user_name_space_are_ones_that_it_has(remapped: bool) -> None:
    facts = replace(FACTS, user_namespace=True) if remapped else ROOTLESS
    drawn = {container_user(facts, uid=0 if remapped else 1000, gid=1000).uid for _ in range(1000)}
    assert len(drawn) > 950 and all(1000 < number < 65_534 for number in drawn)


def test_a_harness_inside_a_user_name_space_asks_for_no_number_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "_has_all_numbers", lambda: False)
    assert container_user(FACTS, uid=0, gid=0).uid < 65_534


@pytest.mark.parametrize(
    ("mapped", "all_of_them"),
    [
        ("0 0 4294967295", True),
        ("0 100000 65536", False),
        # one less than what is drawn from, and one more
        ("0 0 2147418112", False),
        ("0 0 2147418113", True),
    ],
)
def test_the_name_space_is_read_from_the_kernel(
    mapped: str, all_of_them: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uid_map").write_text(f"         {mapped}\n")
    monkeypatch.setattr(user, "_UID_MAP", tmp_path / "uid_map")
    assert user._has_all_numbers() is all_of_them


def test_an_ordinary_user_with_roots_engine_keeps_his_number() -> None:
    assert container_user(FACTS, uid=1000, gid=1001) == (1000, 1001, False)


def test_a_number_is_drawn_from_all_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = list[range]()

    def choice(numbers: range) -> int:
        drawn.append(numbers)
        return numbers[-1]

    monkeypatch.setattr("harness.execution.runs.user.secrets.choice", choice)
    monkeypatch.setattr(user, "_has_all_numbers", lambda: True)
    assert container_user(FACTS, uid=0, gid=0) == (0x7FFE_FFFF, 0x7FFE_FFFF, True)
    assert container_user(ROOTLESS, uid=1000, gid=1000) == (0xEFFF, 0xEFFF, True)
    assert drawn == [range(0x7000_0000, 0x7FFF_0000), range(0x4000, 0xF000)]


def test_where_the_kernel_does_not_tell_few_numbers_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user, "_UID_MAP", tmp_path / "none")
    assert user._has_all_numbers() is False
    (tmp_path / "several").write_text("0 100000 65536\n  65536 0 4294901760\n")
    monkeypatch.setattr(user, "_UID_MAP", tmp_path / "several")
    assert user._has_all_numbers() is True, "any line may hold them"
