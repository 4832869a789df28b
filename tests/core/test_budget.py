"""No CPU and no byte is lent twice, and nobody waits for what will never be free."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.base.errors import UsageError
from harness.methods.card import Resources
from harness.planning.budget import Budget, Lent, Share, this_machine


def test_never_more_is_lent_than_there_is() -> None:
    budget, stop = Budget(Share(cpus=3, memory=10)), threading.Event()
    lock, busy, most = threading.Lock(), 0, 0

    def work(number: int) -> None:
        nonlocal busy, most
        cpus = 1 + number % 3
        with budget.lend(Share(cpus=cpus, memory=1), stop.is_set) as granted:
            assert granted
            with lock:
                busy += cpus
                most = max(most, busy)
            time.sleep(0.002)
            with lock:
                busy -= cpus

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(60)))
    assert most == 3


def test_memory_alone_can_make_a_run_wait() -> None:
    budget, stop = Budget(Share(cpus=8, memory=10)), threading.Event()
    with budget.lend(Share(cpus=1, memory=8), stop.is_set):
        started = threading.Event()

        def other() -> None:
            with budget.lend(Share(cpus=1, memory=4), stop.is_set):
                started.set()

        thread = threading.Thread(target=other)
        thread.start()
        assert not started.wait(0.1)
    assert started.wait(2)
    thread.join()


def test_what_running_ones_may_still_write_is_set_aside() -> None:
    free = 25
    budget, stop = Budget(Share(cpus=8, memory=10), room=lambda: free), threading.Event()
    with (
        budget.lend(Share(cpus=1, memory=1, disk=10), stop.is_set),
        budget.lend(Share(cpus=1, memory=1, disk=10), stop.is_set),
    ):
        started = threading.Event()

        def other() -> None:
            with budget.lend(Share(cpus=1, memory=1, disk=10), stop.is_set):
                started.set()

        thread = threading.Thread(target=other)
        thread.start()
        assert not started.wait(0.3), "5 are left beside the 20 that the others may still write"
        free = 30
        assert started.wait(2), "room that was made counts"
    thread.join()


def test_a_run_alone_starts_whatever_it_may_write() -> None:
    budget, stop = Budget(Share(cpus=1, memory=1), room=lambda: 3), threading.Event()
    for _ in range(2):
        with budget.lend(Share(cpus=1, memory=1, disk=10), stop.is_set) as granted:
            assert granted


def test_without_a_bound_runs_start_beside_each_other_whatever_they_may_write() -> None:
    budget, asked = Budget(Share(cpus=2, memory=2)), list[None]()

    def ends_at_the_second_look() -> bool:
        asked.append(None)
        return len(asked) > 1

    large = Share(cpus=1, memory=1, disk=1 << 50)
    with budget.lend(large, lambda: False), budget.lend(large, ends_at_the_second_look) as granted:
        assert granted


def test_a_run_takes_the_output_its_card_allows() -> None:
    assert Share.of(Resources(output="3MiB")).disk == 3 << 20


def test_a_waiting_run_ends_when_a_person_stops() -> None:
    budget, stop = Budget(Share(cpus=1, memory=1)), threading.Event()
    with budget.lend(Share(cpus=1, memory=1), stop.is_set):
        threading.Timer(0.05, stop.set).start()
        with budget.lend(Share(cpus=1, memory=1), stop.is_set) as granted:
            assert not granted


def test_a_share_comes_back_after_a_failure() -> None:
    budget, stop = Budget(Share(cpus=1, memory=1)), threading.Event()
    with pytest.raises(RuntimeError), budget.lend(Share(cpus=1, memory=1), stop.is_set):
        raise RuntimeError
    with budget.lend(Share(cpus=1, memory=1), stop.is_set) as granted:
        assert granted


def test_no_workers_is_refused() -> None:
    with pytest.raises(UsageError, match="0 workers"):
        this_machine(workers=0)


def test_a_share_is_counted_by_each_resource() -> None:
    one, other = Share(cpus=5, memory=50, gpus=2), Share(cpus=2, memory=20, gpus=1)
    assert one + other == Share(7, 70, 3) and one - other == Share(3, 30, 1)
    assert one.fits(one) and one.fits(other) and not other.fits(one)
    for less in (Share(4, 50, 2), Share(5, 49, 2), Share(5, 50, 1)):
        assert not less.fits(one) and one.fits(less)
    assert str(Share(2, 3 << 29, 1)) == "2 CPUs, 1.5 GiB of memory and 1 GPU"


def test_a_run_takes_what_its_card_says() -> None:
    resources = Resources(cpus=3, memory="2GiB", gpus=1, output="3GiB")
    assert Share.of(resources) == Share(cpus=3, memory=2 << 30, gpus=1, disk=3 << 30)


@pytest.mark.parametrize(("installed", "lent"), [(64, 63), (3, 2), (2, 1), (1, 0.5)])
def test_a_gibibyte_stays_free_or_half_where_there_is_little(
    monkeypatch: pytest.MonkeyPatch, installed: int, lent: float
) -> None:
    told = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": installed * (1 << 30) // 4096}
    monkeypatch.setattr("harness.planning.budget.os.sysconf", told.__getitem__)
    monkeypatch.setattr("harness.planning.budget.os.sched_getaffinity", lambda _: set(range(6)))
    assert this_machine() == Share(cpus=6, memory=int(lent * (1 << 30)), gpus=0)
    assert this_machine(workers=2, gpus=1) == Share(cpus=2, memory=int(lent * (1 << 30)), gpus=1)
    assert this_machine(workers=1).cpus == 1


def test_everything_can_be_lent_at_once_and_comes_back() -> None:
    budget, stop = Budget(Share(cpus=2, memory=2, gpus=1)), threading.Event()
    for _ in range(3):
        with (
            budget.lend(Share(cpus=1, memory=1, gpus=1), stop.is_set) as first,
            budget.lend(Share(cpus=1, memory=1), stop.is_set) as second,
        ):
            assert first and second
    assert budget.total == Share(cpus=2, memory=2, gpus=1)


def test_what_was_not_lent_does_not_come_back() -> None:
    """A run that was stopped before it had its share must not free another one's."""
    budget, stop = Budget(Share(cpus=1, memory=1)), threading.Event()
    stop.set()
    with budget.lend(Share(cpus=1, memory=1), stop.is_set) as granted:
        assert not granted
    stop.clear()
    with budget.lend(Share(cpus=1, memory=1), stop.is_set):
        threading.Timer(0.05, stop.set).start()
        with budget.lend(Share(cpus=1, memory=1), stop.is_set) as granted:
            assert not granted


def test_each_run_has_a_gpu_of_its_own() -> None:
    """Drawn at random: whoever holds devices holds what nobody else does, and all come back."""
    budget, never = Budget(Share(cpus=9, memory=9, gpus=3), gpus=("0", "2", "GPU-5f")), threading.Event()
    held, seen, guard = set[str](), set[str](), threading.Lock()

    def run(number: int) -> None:
        with budget.lend(Share(cpus=1, memory=1, gpus=1 + number % 2), never.is_set) as lent:
            with guard:
                assert len(lent.gpus) == 1 + number % 2 and not held & set(lent.gpus)
                held.update(lent.gpus)
                seen.update(lent.gpus)
            time.sleep(random.random() / 200)
            with guard:
                held.difference_update(lent.gpus)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(60)))
    assert seen == {"0", "2", "GPU-5f"} == set(budget.gpus)
    with budget.lend(Share(cpus=1, memory=1), never.is_set) as lent:
        assert lent and lent.gpus == ()


class _Patient(threading.Condition):
    """Waits as long as nothing is said, and notes for how long it was asked to."""

    asked: set[float | None]

    def wait(self, timeout: float | None = None) -> bool:
        self.asked.add(timeout)
        return super().wait(30)


def test_all_who_wait_are_told_of_a_share_that_comes_back() -> None:
    """Beside that they look five times a second, as nobody tells them that a person stopped."""
    budget, never = Budget(Share(cpus=2, memory=2)), threading.Event()
    budget._changed = patient = _Patient()
    patient.asked = set()
    started = [threading.Event() for _ in range(2)]

    def other(number: int) -> None:
        with budget.lend(Share(cpus=1, memory=1), never.is_set):
            started[number].set()
            started[1 - number].wait(10)

    with budget.lend(Share(cpus=2, memory=2), never.is_set):
        threads = [threading.Thread(target=other, args=(number,), daemon=True) for number in range(2)]
        for thread in threads:
            thread.start()
        latest = time.monotonic() + 10
        while len(patient._waiters) < 2 and time.monotonic() < latest:  # type: ignore[attr-defined]
            time.sleep(0.001)
    assert all(one.wait(10) for one in started)
    assert patient.asked == {0.2}


def test_a_share_takes_no_gpu_and_writes_nothing_that_it_does_not_name() -> None:
    assert Share(2, 3) == Share(cpus=2, memory=3, gpus=0, disk=0)
    budget = Budget(Share(cpus=2, memory=2), room=lambda: 0)
    with budget.lend(Share(cpus=1, memory=1), lambda: False), budget.lend(Share(1, 1), lambda: False) as lent:
        assert lent and lent.gpus == ()
    assert Budget(Share(1, 1), gpus=()).gpus == () and not Lent(False) and Lent(True).gpus == ()
