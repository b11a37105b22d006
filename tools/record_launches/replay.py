"""A recorded launch again, in an order of one's own."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ptxkit.asm import Module, parse
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.emulator.asynchronous.mbarriers import MBarriers
from ptxkit.emulator.global_memory import BASE, GRANULE, GlobalMemory
from tools.record_launches.launch import Range, RecordedLaunch


@dataclass(slots=True)
class Replay:
    """What came of it.

    Attributes:
        order, seed: how it ran.
        seconds: that it took.
        findings: how often each was told, by severity and code: `warning P650`.
        errors: the messages of the errors.
        different: bytes that are not what the record says, by the range's name.
        compared: bytes that were compared.
        phases: of the mbarrier with the most, those in which copies completed bytes: a ring of stages has
            wrapped where there are two or more.
    """

    order: str
    seed: int
    seconds: float = 0.0
    findings: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    different: dict[str, int] = field(default_factory=dict)
    compared: int = 0
    phases: int = 0

    @property
    def right(self) -> bool:
        """Whether it is what the record says, without an error."""
        return not self.errors and not self.different

    def to_json(self) -> dict[str, Any]:
        """What is kept of it."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        return {**kept, "seconds": round(self.seconds, 2), "findings": dict(sorted(self.findings.items()))}


def replay(launch: RecordedLaunch, order: str = "lazy", seed: int = 0, **options: Any) -> Replay:
    """Run a launch on a fresh emulator whose memory is as it was.

    Args:
        launch: what was recorded.
        order, seed: as of `Emulator`.
        options: the others of `Emulator`.
    """
    done = Replay(order, seed)
    memory = GlobalMemory()
    _place(memory, launch.ranges)
    emulator = Emulator(order=order, seed=seed, arch=launch.arch, memory=memory, **options)
    module = emulator.load(_parsed(launch.text))
    for each in launch.variables:
        found = module.variable(each.name)
        assert found is not None, "the module has declared it"
        each.address = found[0]
        _write(memory, each.address, each.before)
    shape = launch.grid, launch.block, launch.arguments, launch.cluster, launch.shared, launch.cooperative
    began = time.perf_counter()
    try:
        with _counted_phases(done):
            module.kernel(launch.entry).launch(*shape, programmatic=launch.programmatic)
    except PtxkitError as problem:
        _note(done, problem.diagnostics)
    done.seconds = time.perf_counter() - began
    _note(done, emulator.findings)
    for each in (*launch.ranges, *launch.variables):
        _compare(done, memory, each)
    module.image.close()
    return done


@contextmanager
def _counted_phases(done: Replay) -> Iterator[None]:
    """Count the phases in which copies complete bytes: they are numbered from 0 since the init."""
    complete_tx = MBarriers.complete_tx

    def counted(mbarriers: MBarriers, slots: np.ndarray, *others: Any) -> None:
        done.phases = max(done.phases, int(mbarriers.phase[slots].max(initial=-1)) + 1)
        complete_tx(mbarriers, slots, *others)

    MBarriers.complete_tx = counted  # type: ignore[method-assign]
    try:
        yield
    finally:
        MBarriers.complete_tx = complete_tx  # type: ignore[method-assign]


@lru_cache(maxsize=1)
def _parsed(text: str) -> Module:
    """A module, read once for all the runs of a launch."""
    return parse(text)


def _place(memory: GlobalMemory, ranges: list[Range]) -> None:
    """Give a memory the ranges, each where it was; what is allocated later lies behind them."""
    free = memory.set_aside(0, GRANULE)
    last = max((each.address + len(each.before) for each in ranges), default=free)
    memory.set_aside(max(last - free, 0), GRANULE)
    for each in ranges:
        allocation = memory.adopt(each.address, len(each.before), each.name)
        _write(memory, each.address, each.before)
        if each.undefined is not None:
            assert memory.shadow is not None, "every global memory has one"
            memory.shadow[each.address - BASE : each.address - BASE + len(each.undefined)] = each.undefined
            allocation.undefined = True


def _write(memory: GlobalMemory, address: int, data: np.ndarray) -> None:
    memory.data[address - BASE : address - BASE + len(data)] = data


def _note(done: Replay, diagnostics: list[Any] | tuple[Any, ...]) -> None:
    for found in diagnostics:
        done.findings[f"{found.severity.value} {found.code}"] += 1
        if found.is_error:
            done.errors.append(f"{found.code} {found.message}")


def _compare(done: Replay, memory: GlobalMemory, each: Range) -> None:
    """Every bit that the record says is defined must be so, and the same."""
    where = slice(each.address - BASE, each.address - BASE + len(each.after))
    wrong = memory.data[where] ^ each.after
    if memory.shadow is not None:
        wrong |= memory.shadow[where]
    if each.still_undefined is not None:
        wrong &= ~each.still_undefined
    done.compared += len(wrong)
    if count := int(np.count_nonzero(wrong)):
        done.different[each.name] = done.different.get(each.name, 0) + count
