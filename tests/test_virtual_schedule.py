"""The queue of operations: what may happen is known, however much is queued."""

from __future__ import annotations

import cProfile
from functools import partial

import pytest

from ptxkit.virtual.gpu.schedule import Rounds, WorkSchedule
from ptxkit.virtual.results import DriverError


class Context:
    """Owns operations."""

    lost = 0

    def lose(self, problem: Exception) -> None:
        raise problem


def kernel(number: int, found: list[int]) -> Rounds:
    """Begins, and then happens."""
    yield
    found.append(number)


def happened(order: str, count: int) -> list[int]:
    """Two streams of operations of two contexts, and one that waits for both: in which order they happen."""
    schedule, found = WorkSchedule(order, 1), list[int]()
    owners, last = (Context(), Context()), [None, None]
    with schedule.lock:
        for number in range(count):
            side = number % 2
            last[side] = schedule.queue(  # type: ignore[call-overload]
                partial(kernel, number, found), owners[side], [last[side]], beside=True
            )
        schedule.finish(schedule.queue(lambda: found.append(count), owners[0], last))
    assert not schedule.pending
    assert not schedule._beside
    return found


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_everything_happens_behind_what_it_waits_for(order: str) -> None:
    found = happened(order, 40)
    assert sorted(found) == [*range(41)]
    assert found[-1] == 40
    for side in (0, 1):
        mine = [number for number in found[:-1] if number % 2 == side]
        assert mine == sorted(mine)


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_twice_as_many_take_twice_the_calls(order: str) -> None:
    def calls(count: int) -> int:
        profile = cProfile.Profile()
        profile.runcall(happened, order, count)
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(800) / calls(400) < 2.3


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("outside", [False, True])
def test_what_runs_can_not_wait_for_itself(order: str, outside: bool) -> None:
    """A finaliser that frees a module while a kernel of its thread is emulated, or a host function."""
    schedule, context, told = WorkSchedule(order, 3), Context(), list[object]()

    def run() -> None:
        with schedule.lock, pytest.raises(DriverError, match="would have to wait for") as refused:
            schedule.finish_all()
        told.append(refused.value.code)

    with schedule.lock:
        first = schedule.queue(run, context, (), outside)
        schedule.queue(lambda: told.append("then"), context, (first,))
        schedule.finish_all()
    assert (told, schedule.pending) == ([800, "then"], {})
