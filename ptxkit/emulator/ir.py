"""The intermediate representation of steps, for whoever compiles instructions otherwise than into steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.address import AddressOperand
from ptxkit.emulator.operands import SourceOperand, TargetOperand
from ptxkit.emulator.operation import Pure


@dataclass(frozen=True, slots=True, eq=False)
class Computation:
    """A pure instruction.

    Attributes:
        form: the instruction.
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


IRNode = Computation | MemoryTransfer | None
"""What the step of an instruction is made of; None for anything else."""
