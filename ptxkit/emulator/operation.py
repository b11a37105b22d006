"""What an operation of the emulator is, and how one is found for an instruction.

A file of `operations/` covers a chapter of the manual; `ptxkit.emulator.opcodes` loads the files of a
chapter when its first instruction is met. A *pure* operation has no effect beyond its destinations and treats
each lane alone; it is registered in `Operations` by the name of its row, as a function that reads the
instruction and returns a `Pure`. Operations that touch memory, other lanes, control flow or asynchronous
machinery are registered in `ptxkit.emulator.effect.Effects`, and get the machine's context.

Values. A register holds raw bits in an unsigned numpy array (`uint16`, `uint32`, `uint64`; `bool` for
predicates; `.b128` as an array with a last axis of two `uint64`, low word first). A `Pure` names a type
for every source and result, and its function receives and returns arrays of that type's own numpy dtype:
`u32`/`b32` as uint32, `s32` as int32, `f32` as float32, `f64` as float64, `pred` as bool. Types that numpy
computes slowly or not at all (`f16`, `bf16`, packed and 8-bit formats) travel as the unsigned integer of
their width (`uint64` for `f32x2`). `u8`, `s8` and the other 8-bit types travel in `uint8`/`int8`.

Vector operands. The elements of `{a, b}` count as operands of their own, in order: `mov.b32 d, {a, b}` has
the results `b32` and the sources `b16`, `b16`; `mov.b64 {lo, hi}, x` the results `b32`, `b32`. So `mov` is
pure in all its forms.

Shapes. Values broadcast against `(warps, 32)`: a value that is the same for every lane may have shape
`()`, for every warp `(1, 32)`, within a warp `(warps, 1)`. A pure function must be elementwise and let
numpy broadcast, never assume a full shape, never write into its arguments, and never warn (the machine
runs it under `np.errstate(all="ignore")`). Lanes that are switched off hold arbitrary bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.opcodes import OPERATIONS, ChapterReaders, load_operation

Array = np.ndarray | np.generic


class Unsupported(Exception):
    """The emulator does not execute this form; the machine reports it as P601 with the instruction."""


class Pure(NamedTuple):
    """An elementwise operation.

    Attributes:
        results: the type of each destination, in operand order (`d|p` counts as two). A destination that the
            program leaves out or writes as `_` is dropped by the machine.
        sources: the type of each source operand, in operand order.
        function: takes one array a source (then, with `reads_carry`, the carry flag as bool) and returns one
            array a result, a tuple where there are several (then, with `writes_carry`, the new flag last).
        reads_carry, writes_carry: the instruction uses the condition code register's CC.CF.
        undefined: how undefinedness propagates: a function of two sequences, the sources' values (as
            `function` gets them) and their masks. A mask is an array of unsigned integers as wide as the
            value (of bool for predicates), a bit set where the source bit is undefined, or None where all
            of it is defined; at least one isn't None. Returns a mask or None for each result, a tuple where
            there are several. The carry flag takes no part. None: any undefined source bit makes every
            result bit undefined.
        divides: the second source is the divisor of a division of integers, which must not be 0.
    """

    results: tuple[str, ...]
    sources: tuple[str, ...]
    function: Callable[..., Any]
    reads_carry: bool = False
    writes_carry: bool = False
    undefined: Callable[..., Any] | None = None
    divides: bool = False


Operation = Callable[[Decoded], Pure]
"""What an instruction computes, by its row."""


class Operations(ChapterReaders[Operation]):
    """The pure operations of a chapter."""

    readers = OPERATIONS

    def elementwise(
        self,
        name: str,
        function: Callable[..., Any],
        undefined: Callable[..., Any] | None = None,
        *,
        divides: bool = False,
    ) -> None:
        """An instruction that does the same with all its types and modifiers, see `Pure`."""
        self(name)(lambda instruction: computes(instruction, function, undefined, divides=divides))


def computes(
    instruction: Decoded,
    function: Callable[..., Any],
    undefined: Callable[..., Any] | None = None,
    *,
    results: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    divides: bool = False,
) -> Pure:
    """The operation whose operands have the types that the row says.

    Args:
        function, undefined: see `Pure`.
        results, sources: types in place of the row's, where the function sees the bits as something else.
        divides: see `Pure`.
    """
    return Pure(
        tuple(results or [kind for _, kind in instruction.values(written=True)]),
        tuple(sources or [kind for _, kind in instruction.values(written=False)]),
        function,
        reads_carry=instruction.reads_carry,
        writes_carry=instruction.writes_carry,
        undefined=undefined,
        divides=divides,
    )


def operation_of(instruction: Decoded) -> Pure | None:
    """What an instruction computes; None where it does something else."""
    load_operation(instruction.row.chapter, instruction.row.name)
    operation = OPERATIONS.get((instruction.row.chapter, instruction.row.name))
    return operation(instruction) if operation is not None else None
