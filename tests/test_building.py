"""Building takes time in proportion to the text (tools/measure_building.py)."""

from __future__ import annotations

import random
import time
import tracemalloc

import pytest

from ptxkit.asm import parse
from ptxkit.asm.bit_sets import BitSets, bits_of, numbers_in
from ptxkit.asm.dataflow import BasicBlock, solve_liveness
from ptxkit.asm.flow import FunctionCode
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
def test_twice_the_text_takes_twice_the_time(shape: str) -> None:
    """The square of the length would be four times as much. Each measured three times: the least counts."""
    small, large = SHAPES[shape](1000), SHAPES[shape](2000)
    seconds(small)
    spent = [[sum(seconds(text)) for text in (small, large)] for _ in range(3)]
    least = [min(each) for each in zip(*spent, strict=True)]
    assert least[1] / least[0] < 1.5 * len(large) / len(small), spent


def test_liveness_visits_no_block_for_another() -> None:
    def solved(count: int) -> float:
        chain = [
            BasicBlock(i, i + 1, successors=(i + 1,), predecessors=(i - 1,) if i else ())
            for i in range(count)
        ]
        start = time.process_time()
        solve_liveness(chain, [2] * count, [1] * count)
        spent = time.process_time() - start
        assert {block.live_in for block in chain} == {2}
        return spent

    assert min(solved(16000) for _ in range(3)) < 6 * min(solved(4000) for _ in range(3)) + 0.01


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
