"""Building takes time in proportion to the text (tools/measure_building.py)."""

from __future__ import annotations

import cProfile
import gc
import random
import tracemalloc
import weakref
from typing import Any

import pytest

from ptxkit.asm import parse
from ptxkit.asm.bit_sets import BitSets, bits_of, numbers_in
from ptxkit.asm.dataflow import BasicBlock, solve_liveness
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.gc_pause import gc_paused
from ptxkit.asm.symbols import module_scope
from tools.measure_building import SHAPES, seconds


def test_sets_of_numbers() -> None:
    assert bits_of(()) == 0
    assert numbers_in(0) == ()
    random.seed(3)
    for most, count in ((3, 2), (64, 7), (64, 8), (65, 9), (5000, 5), (5000, 300)):
        members = sorted(random.sample(range(most), count))
        bits = sum(1 << member for member in members)
        assert bits_of(members) == bits_of(iter(members)) == bits
        assert numbers_in(bits) == tuple(members)
    sets = BitSets([(1,), (), (3, 0)])
    assert [*sets] == [2, 0, 9]
    assert [*sets[1:]] == [0, 9]


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_takes_twice_the_calls(shape: str) -> None:
    """Of Python's functions; what they cost is measured by tools/measure_building.py."""

    def calls(text: str) -> int:
        profile = cProfile.Profile()
        profile.runcall(seconds, text)
        return sum(entry.callcount for entry in profile.getstats())

    small, large = SHAPES[shape](400), SHAPES[shape](800)
    seconds(small)
    assert calls(large) / calls(small) < 1.1 * len(large) / len(small)


def test_liveness_visits_no_block_for_another() -> None:
    class Counted(list[int]):
        looks = 0

        def __getitem__(self, index: Any) -> Any:
            Counted.looks += 1
            return super().__getitem__(index)

    chain = [
        BasicBlock(i, i + 1, successors=(i + 1,) if i < 999 else (), predecessors=(i - 1,) if i else ())
        for i in range(1000)
    ]
    solve_liveness(chain, Counted([2] * 1000), Counted([1] * 1000))
    assert {block.live_in for block in chain} == {2}
    assert 1000 <= Counted.looks <= 6000


@pytest.mark.parametrize("shape", ["straight", "alive"])
def test_memory_grows_with_the_text(shape: str) -> None:
    """No set of all registers is kept for each instruction."""
    held = []
    for size in (1000, 4000):
        module = parse(SHAPES[shape](size))
        code = FunctionCode(module.entries[0], module_scope(module))
        tracemalloc.start()
        kept = code.reads, code.writes, code.kills, code.blocks
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert all(kept)
    assert held[1] / held[0] < 5, held


def test_a_pause_of_the_collector_leaves_what_is_frozen() -> None:
    def paused() -> bool:
        with gc_paused():
            return not gc.isenabled()

    assert gc.isenabled()
    assert paused()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        assert paused()
        assert gc.get_freeze_count() == frozen > 0
    finally:
        gc.unfreeze()
    gc.disable()
    try:
        assert paused()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_made_in_a_pause_is_collected_later() -> None:
    class Held:
        pass

    with gc_paused():
        held = Held()
        held.itself = held  # type: ignore[attr-defined]
        seen = weakref.ref(held)
        del held
    assert seen() is not None
    gc.collect()
    assert seen() is None
