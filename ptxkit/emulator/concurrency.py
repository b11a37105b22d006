"""Launches that run at the same time, each a few steps at a turn."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from ptxkit.emulator.company import Company
from ptxkit.emulator.deadlock import Watch, livelock
from ptxkit.emulator.execution import QUANTUM, Execution, Progress
from ptxkit.emulator.global_memory import GlobalMemory

LEAST_TURN = 5
"""In random order a turn has from 2 to this power to `QUANTUM` blocks."""


@dataclass(slots=True, eq=False)
class UnderWay:
    """A launch that has begun and not ended.

    Attributes:
        execution: it.
        rounds: what is left of it.
        stalled: whether its last round began no CTA and ended none.
    """

    execution: Execution
    rounds: Generator[bool]
    stalled: bool = False


class Concurrency:
    """The launches under way on devices that share one memory.

    Args:
        memory: theirs.
        random: decides how long a turn is; None where it is always the same.

    Attributes:
        under_way: the launches, in the order in which they began.
    """

    def __init__(self, memory: GlobalMemory, random: np.random.Generator | None) -> None:
        self.under_way: list[UnderWay] = []
        self._memory = memory
        self._random = random
        self._company: Company | None = None
        self._watch = Watch()
        self._watched = False

    def begin(self, execution: Execution, progress: Progress | None = None) -> UnderWay:
        """A launch begins: from now on the others run at the same time as it. It has done nothing yet.

        Raises:
            PtxkitError: P516, there are too many CTAs.
        """
        if self._company is None:
            if self._memory.events.start():
                self._memory.forget_histories()
            self._company = Company(self._memory)
        execution.begin(self._company)
        made = UnderWay(execution, execution.rounds(progress))
        self.under_way.append(made)
        self._watched = False
        return made

    def turn(self, one: UnderWay) -> bool:
        """A launch has a turn; whether it has ended.

        Raises:
            EmulatorFault: what it met; it has ended.
        """
        if self._random is not None:
            one.execution.quantum = 1 << int(self._random.integers(LEAST_TURN, QUANTUM.bit_length()))
        try:
            with np.errstate(all="ignore"):
                one.stalled = next(one.rounds)
        except StopIteration:
            self.end(one)
            return True
        except BaseException:
            self.end(one)
            raise
        return False

    def end(self, one: UnderWay) -> None:
        """Let go of a launch, whether it has come to its end or not."""
        one.rounds.close()
        self.under_way.remove(one)
        assert self._company is not None
        self._company.leave(one.execution.launch)
        self._watched = False
        if not self.under_way:
            self._company = None

    def stuck(self) -> bool:
        """Whether nothing will ever change: all have had a turn since this was asked last, and all are where
        they were before."""
        executions = [one.execution for one in self.under_way]
        watched, self._watched = self._watched, all(one.stalled for one in self.under_way)
        return watched and self._watched and self._watch.stuck(executions)


def run_together(executions: Sequence[Execution], memory: GlobalMemory, order: str, seed: int) -> None:
    """Run launches at the same time, to their ends.

    Args:
        executions: the launches.
        memory: that of their devices.
        order: who has a turn: in lazy order all of them, the last first; in eager order the first first; in
            random order whom the seed chooses.
        seed: of random order.

    Raises:
        EmulatorFault: the first error that one of them does not go past; P608, all of them wait for what
            never comes.
    """
    random = np.random.default_rng(seed) if order == "random" else None
    concurrency = Concurrency(memory, random)
    try:
        for execution in executions:
            concurrency.begin(execution)
        while concurrency.under_way:
            turns = concurrency.under_way[:: -1 if order == "lazy" else 1]
            if random is not None:
                turns = [turns[at] for at in random.permutation(len(turns))]
            for one in turns:
                concurrency.turn(one)
            if concurrency.stuck():
                raise livelock([one.execution for one in concurrency.under_way])
    finally:
        for one in concurrency.under_way[:]:
            concurrency.end(one)
