"""A compiled function: blocks of steps over numbered register slots.

A block is entered only at its start and left only at its end. It begins at a label or a synchronisation point
(a barrier, a warp-synchronous instruction), and ends with a branch, a call, a return, or before the next
block. `ptxkit.emulator.builder` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.asm.bit_sets import Numbers, bits_of
from ptxkit.asm.decode import Decoded
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.call_abi import CallParameter
from ptxkit.emulator.faults import Site
from ptxkit.emulator.lane_set import End, LaneSet, Step, SyncPoint, Undefined
from ptxkit.emulator.operands import AddressOperand, SourceOperand, TargetOperand
from ptxkit.emulator.operation import Pure


@dataclass(frozen=True, slots=True, eq=False)
class Computation:
    """A pure instruction.

    Attributes:
        operation: what it computes.
        sources: its operands, in the order of the operation's.
        targets: its destinations; None for one that is left out.
        guard: the predicate before it, if there is one.
    """

    form: Decoded
    operation: Pure
    sources: Sequence[SourceOperand]
    targets: Sequence[TargetOperand | None]
    guard: SourceOperand | None

    @property
    def writes(self) -> set[int]:
        """The slots of its destinations."""
        return {target.slot for target in self.targets if target is not None}


@dataclass(frozen=True, slots=True, eq=False)
class MemoryTransfer:
    """A weak load or store.

    Attributes:
        address, accessor: where.
        width, count: bytes of an element, and how many elements.
        dtype: of an element.
        targets: where a load puts them; None for `_`.
        sources: where a store takes them from; None for a load.
        guard: the predicate before it, if there is one.
    """

    address: AddressOperand
    accessor: Accessor
    width: int
    count: int
    dtype: np.dtype
    targets: Sequence[TargetOperand | None]
    sources: Sequence[SourceOperand] | None
    guard: SourceOperand | None

    @property
    def stores(self) -> bool:
        """Whether it is a store."""
        return self.sources is not None

    @property
    def reads(self) -> list[int]:
        """The slots that it reads, but for what a guard keeps."""
        read = [self.address.base, self.guard, *(self.sources or ())]
        return [source.slot for source in read if source is not None and source.slot is not None]


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """An instruction by which the lanes of a warp see one another's values, as all 32 of them execute it.

    Attributes:
        computations: what becomes of each destination; no one reads what one before it writes. Their
            functions take values of shape (rows, 32).
        members: the member mask.
    """

    computations: Sequence[Computation]
    members: SourceOperand


IRNode = Computation | MemoryTransfer | Exchange | None
"""What the step of an instruction is made of; None for anything else."""

MakeSteps = Callable[[], tuple[Step, Step]]
"""Makes the steps of an instruction: for lane sets without and with undefined bits."""


@dataclass(slots=True, eq=False)
class CodeBlock:
    """Instructions that run one after another.

    Attributes:
        number: its place in the function; the order of the text.
        makers: one an instruction, of its steps.
        sites: the same instructions, for findings.
        guards: their guards, where they have any.
        ir: what the steps of pure instructions, loads, stores and exchanges are made of; None for the others.
        reads, kills: the slots that each instruction reads and surely overwrites.
        ran: threads that have run the steps where a back end might compile them, in all launches.
        compiled: whether what takes the place of the steps has run.
        plan: what runs in place of the steps once it has.
        chain: what runs in place of these and of the blocks that follow, where it can; None: nothing does.
        sync_point: what a lane set must pass first, if there is something.
        end: what comes next.
        straight: whether that is the block behind it, in any case.
        live: the slots whose values count when the block begins.
        live_out: those that count at its end, as bits.
        count: how many instructions.
    """

    number: int
    makers: list[MakeSteps] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    guards: list[SourceOperand | None] = field(default_factory=list)
    ir: list[IRNode] = field(default_factory=list)
    reads: Sequence[Numbers] = ()
    kills: Sequence[Numbers] = ()
    ran: int = 0
    compiled: bool = False
    plan: Sequence[Step] | None = None
    chain: Callable[[LaneSet], bool] | None = None
    sync_point: SyncPoint | None = None
    end: End = lambda lane_set: -1
    straight: bool = False
    live: tuple[int, ...] = ()
    live_out: int = 0
    count: int = 0
    _steps: list[Step] | None = None
    _tracked: list[Step] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        """One an instruction; one that returns something true has brought in undefined bits. They are made
        when the block first runs: most kernels leave many of their blocks out."""
        if self._steps is None:
            self._make()
        return self._steps  # type: ignore[return-value]

    @property
    def tracked(self) -> list[Step]:
        """The same instructions, for lane sets that have undefined bits."""
        if self._steps is None:
            self._make()
        return self._tracked

    def _make(self) -> None:
        pairs = [make() for make in self.makers]
        self._steps = [step for step, _ in pairs]
        self._tracked = [tracked for _, tracked in pairs]
        self.makers.clear()

    def set_steps(self, steps: list[Step], tracked: list[Step]) -> None:
        """Have steps that were made for other blocks."""
        self._steps, self._tracked = steps, tracked

    def live_after(self, wanted: Iterable[int]) -> dict[int, int]:
        """Behind each of some instructions of the block the slots whose values count, as bits."""
        asked, found, live = set(wanted), dict[int, int](), self.live_out
        for number in range(self.count - 1, -1, -1):
            if number in asked:
                found[number] = live
            for slot in self.kills[number]:
                live &= ~(1 << slot)
            live |= bits_of(self.reads[number])
        return found

    def run(self, lane_set: LaneSet) -> None:
        """Run the instructions for a lane set by numpy: the definition of what they do."""
        if lane_set.undefined:
            for step in self.tracked:
                step(lane_set)
            return
        for number, step in enumerate(self.steps, 1):
            if step(lane_set):
                for careful in self.tracked[number:]:
                    careful(lane_set)
                return

    def forget_dead(self, undefined: Undefined) -> None:
        """Drop the undefined bits of registers that nobody reads any more."""
        for slot in [slot for slot in undefined if not self.live_out >> slot & 1]:
            del undefined[slot]


class Code:
    """A compiled function.

    Attributes:
        name: the function's name.
        number: its number in the program.
        blocks: in the order of the text, and an empty one behind the last, which returns.
        names: what each slot is called.
        widths: the bits of each slot.
        blank: a zero for each slot.
        defined: the same as a mask of undefined bits: none.
        wide: slots of `.b128` registers.
        initial, initial_undefined: registers at the function's start.
        frame: bytes of local variables.
        parameters, returns: where arguments go and results come from.
    """

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.blocks: list[CodeBlock] = []
        self.names: list[str] = []
        self.widths: list[int] = []
        self.blank: list[Any] = []
        self.defined: list[Any] = []
        self.wide: frozenset[int] = frozenset()
        self.initial: list[Any] = []
        self.initial_undefined: Undefined = {}
        self.frame = 0
        self.parameters: list[CallParameter] = []
        self.returns: list[CallParameter] = []
