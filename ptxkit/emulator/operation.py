"""What an operation of the emulator is, and how one is found for an instruction.

A file of `operations/` covers a chapter of the manual. A *pure* operation has no effect beyond its
destinations and treats each lane alone; it is registered with `@pure("add", "sub")` as a function that
reads the modifiers and returns a `Pure`. Operations that touch memory, other lanes, control flow or
asynchronous machinery are registered by the machine (`@effect`), and get its context.

Values. A register holds raw bits in an unsigned numpy array (`uint16`, `uint32`, `uint64`; `bool` for
predicates; `.b128` as an array with a last axis of two `uint64`, low word first). A `Pure` names a type
for every source and result, and its function receives and returns arrays of that type's own numpy dtype:
`u32`/`b32` as uint32, `s32` as int32, `f32` as float32, `f64` as float64, `pred` as bool. Types that numpy
computes slowly or not at all (`f16`, `bf16`, packed and 8-bit formats) travel as the unsigned integer of
their width. `u8`, `s8` and the other 8-bit types travel in the low bits of `uint8`/`int8`.

Shapes. Values broadcast against `(warps, 32)`: a value that is the same for every lane may have shape
`()`, for every warp `(1, 32)`, within a warp `(warps, 1)`. A pure function must be elementwise and let
numpy broadcast, never assume a full shape, never write into its arguments, and never warn (the machine
runs it under `np.errstate(all="ignore")`). Lanes that are switched off hold arbitrary bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.dtypes import DTYPES, DType

Array = np.ndarray | np.generic


class Unsupported(Exception):
    """The emulator does not execute this form; the machine reports it as P601 with the instruction."""


@dataclass(frozen=True, slots=True)
class Pure:
    """An elementwise operation.

    Attributes:
        results: the type of each destination, in operand order (`d|p` counts as two). A destination that the
            program leaves out or writes as `_` is dropped by the machine.
        sources: the type of each source operand, in operand order.
        function: takes one array a source (then, with `reads_carry`, the carry flag as bool) and returns one
            array a result, a tuple where there are several (then, with `writes_carry`, the new flag last).
        reads_carry, writes_carry: the instruction uses the condition code register's CC.CF.
        undefined: how undefinedness propagates: a function from the sources' values and masks (uint arrays,
            a bit set where the source bit is undefined) to the results' masks. None: any undefined source bit
            makes every result bit undefined.
    """

    results: tuple[str, ...]
    sources: tuple[str, ...]
    function: Callable[..., Any]
    reads_carry: bool = False
    writes_carry: bool = False
    undefined: Callable[..., Any] | None = None


class Modifiers:
    """An instruction's modifiers, handed out one by one, so that none is overlooked.

    Args:
        opcode: `add`.
        modifiers: `("rn", "ftz", "f32")`.
        immediates: for each operand of the instruction, its value as a Python int (the raw bits of a
            float literal, converted to the operand's width) where it is a constant, else None.
        target: the compute capability, (9, 0) for sm_90a.
    """

    def __init__(
        self,
        opcode: str,
        modifiers: Sequence[str],
        immediates: Sequence[int | None] = (),
        target: tuple[int, int] = (9, 0),
    ) -> None:
        self.opcode = opcode
        self.left = list(modifiers)
        self.immediates = tuple(immediates)
        self.target = target

    def flag(self, name: str) -> bool:
        """Whether modifier `name` is there; takes it."""
        if name in self.left:
            self.left.remove(name)
            return True
        return False

    def choose(self, *names: str, default: str | None = None) -> str | None:
        """The first modifier among `names`, taken; `default` where there is none."""
        for modifier in self.left:
            if modifier in names:
                self.left.remove(modifier)
                return modifier
        return default

    def need(self, *names: str) -> str:
        """Like `choose`, but one must be there.

        Raises:
            Unsupported: none is.
        """
        found = self.choose(*names)
        if found is None:
            raise Unsupported(f"`{self.opcode}` needs one of {', '.join(f'`.{name}`' for name in names)}")
        return found

    def type(self) -> DType:
        """The first modifier that is a type, taken.

        Raises:
            Unsupported: there is none.
        """
        for modifier in self.left:
            if modifier in DTYPES:
                self.left.remove(modifier)
                return DTYPES[modifier]
        raise Unsupported(f"`{self.opcode}` has no type")

    def done(self) -> None:
        """Every modifier must have been taken by now.

        Raises:
            Unsupported: some were not.
        """
        if self.left:
            left = ", ".join(f"`.{modifier}`" for modifier in self.left)
            raise Unsupported(f"`{self.opcode}` with {left}")


PURE: dict[str, Callable[[Modifiers], Pure]] = {}


def pure(*opcodes: str) -> Callable[[Callable[[Modifiers], Pure]], Callable[[Modifiers], Pure]]:
    """Register a reader of modifiers for these opcodes."""

    def register(reader: Callable[[Modifiers], Pure]) -> Callable[[Modifiers], Pure]:
        for opcode in opcodes:
            if opcode in PURE:
                raise ValueError(f"`{opcode}` is registered twice")
            PURE[opcode] = reader
        return reader

    return register


def decode_pure(modifiers: Modifiers) -> Pure | None:
    """The pure operation for these modifiers, or None where the opcode is no pure one.

    Raises:
        Unsupported: the opcode is known, this form of it is not.
    """
    reader = PURE.get(modifiers.opcode)
    if reader is None:
        return None
    operation = reader(modifiers)
    modifiers.done()
    return operation
