"""What an operation of the emulator is, and how one is found for an instruction.

A file of `operations/` covers a chapter of the manual; `ptxkit.emulator.opcodes` loads the files of an
opcode when its first form is read. A *pure* operation has no effect beyond its
destinations and treats each lane alone; it is registered with `@pure("add", "sub")` as a function that
reads the modifiers and returns a `Pure`. Operations that touch memory, other lanes, control flow or
asynchronous machinery are registered by the machine (`@effect`), and get its context.

Values. A register holds raw bits in an unsigned numpy array (`uint16`, `uint32`, `uint64`; `bool` for
predicates; `.b128` as an array with a last axis of two `uint64`, low word first). A `Pure` names a type
for every source and result, and its function receives and returns arrays of that type's own numpy dtype:
`u32`/`b32` as uint32, `s32` as int32, `f32` as float32, `f64` as float64, `pred` as bool. Types that numpy
computes slowly or not at all (`f16`, `bf16`, packed and 8-bit formats) travel as the unsigned integer of
their width (`uint64` for `f32x2`). `u8`, `s8` and the other 8-bit types travel in `uint8`/`int8`.

Vector operands. The elements of `{a, b}` count as operands of their own, in order: `mov.b32 d, {a, b}` has
the results `b32` and the sources `b16`, `b16`; `mov.b64 {lo, hi}, x` the results `b32`, `b32`. The reader
learns from `Modifiers.vectors` which operands are vectors. So `mov` is pure in all its forms.

Shapes. Values broadcast against `(warps, 32)`: a value that is the same for every lane may have shape
`()`, for every warp `(1, 32)`, within a warp `(warps, 1)`. A pure function must be elementwise and let
numpy broadcast, never assume a full shape, never write into its arguments, and never warn (the machine
runs it under `np.errstate(all="ignore")`). Lanes that are switched off hold arbitrary bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DTYPES, DType
from ptxkit.emulator.opcodes import load, load_chapter

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


class Modifiers:
    """An instruction's modifiers, handed out one by one, so that none is overlooked.

    Args:
        opcode: `add`.
        modifiers: `("rn", "ftz", "f32")`.
        immediates: for each operand of the instruction as written (`d|p` and `{a, b}` are one), its value
            as a Python int (the raw bits of a float literal, converted to the operand's width) where it is
            a constant, else None.
        target: the compute capability, (9, 0) for sm_90a.
        vectors: for each operand as written, its number of elements where it is a vector, else 0.
        selectors: for each operand as written, what follows its dot in a video instruction (`h1` of
            `%r1.h1`), else None.
        negated: for each operand as written, whether a minus stands before it, as in `vmad`. (A predicate's
            `!` is no concern of an operation: the machine applies it.)
    """

    def __init__(
        self,
        opcode: str,
        modifiers: Sequence[str],
        immediates: Sequence[int | None] = (),
        target: tuple[int, int] = (9, 0),
        *,
        vectors: Sequence[int] = (),
        selectors: Sequence[str | None] = (),
        negated: Sequence[bool] = (),
    ) -> None:
        self.opcode = opcode
        self.left = list(modifiers)
        self.immediates = tuple(immediates)
        self.target = target
        self.vectors = tuple(vectors)
        self.selectors = tuple(selectors)
        self.negated = tuple(negated)

    def copy(self) -> Modifiers:
        """What is left of the modifiers, for another reader."""
        made = copy(self)
        made.left = list(self.left)
        return made

    @property
    def types(self) -> str:
        """The types still to be taken, joined: `f32.f16` for `add.rz.f32.f16`."""
        return ".".join(modifier for modifier in self.left if modifier in DTYPES)

    def immediate(self, operand: int) -> int | None:
        """The constant value of an operand as written, 0 being the first destination; None where not one."""
        return self.immediates[operand] if operand < len(self.immediates) else None

    def vector(self, operand: int) -> int:
        """The number of elements of an operand as written, 0 where it is no vector."""
        return self.vectors[operand] if operand < len(self.vectors) else 0

    def selector(self, operand: int) -> str | None:
        """The part of an operand that a video instruction selects, None for all of it."""
        return self.selectors[operand] if operand < len(self.selectors) else None

    def negation(self, operand: int) -> bool:
        """Whether a minus stands before an operand."""
        return self.negated[operand] if operand < len(self.negated) else False

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


Operation = Callable[[Decoded], Pure]
"""What an instruction computes, by its row."""

OPERATIONS: dict[tuple[str, str], Operation] = {}
"""The operations by chapter of the instruction set and name of the instruction (`mul.lo`)."""


class Operations:
    """Where a chapter's operations are registered, by the names of their rows.

    `ptxkit.isa` has a file a chapter, and its rows know what type each operand has and which modifiers go
    together; so an operation is asked for what a row allows, and for nothing else.

    Args:
        chapter: the name of that file.
    """

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter

    def __call__(self, *names: str) -> Callable[[Operation], Operation]:
        """A decorator: the operation of instructions of these names."""

        def register(operation: Operation) -> Operation:
            for name in names:
                if OPERATIONS.setdefault((self.chapter, name), operation) is not operation:
                    raise ValueError(f"`{name}` of chapter {self.chapter} is registered twice")
            return operation

        return register

    def elementwise(
        self,
        name: str,
        function: Callable[..., Any],
        undefined: Callable[..., Any] | None = None,
        *,
        divides: bool = False,
    ) -> None:
        """An instruction that does the same with all its types and modifiers, see `Pure`."""
        self(name)(lambda form: computes(form, function, undefined, divides=divides))


def computes(
    form: Decoded,
    function: Callable[..., Any],
    undefined: Callable[..., Any] | None = None,
    *,
    results: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    divides: bool = False,
) -> Pure:
    """The operation whose operands have the types that the row says.

    Args:
        form: the instruction.
        function, undefined: see `Pure`.
        results, sources: types in place of the row's, where the function sees the bits as something else.
        divides: see `Pure`.
    """
    return Pure(
        tuple(results or [kind for _, kind in form.values(written=True)]),
        tuple(sources or [kind for _, kind in form.values(written=False)]),
        function,
        reads_carry=form.reads_carry,
        writes_carry=form.writes_carry,
        undefined=undefined,
        divides=divides,
    )


def operation_of(form: Decoded) -> Pure | None:
    """What an instruction computes; None where it does something else."""
    load_chapter(form.row.chapter)
    operation = OPERATIONS.get((form.row.chapter, form.row.name))
    return operation(form) if operation is not None else None


Reader = Callable[[Modifiers], Pure]

PURE: dict[str, dict[str | None, Reader]] = {}
"""The readers of each opcode by the types they take, joined as in `Modifiers.types`; None takes any."""


def pure(*opcodes: str, types: Sequence[str] | None = None) -> Callable[[Reader], Reader]:
    """Register a reader of modifiers for these opcodes.

    An opcode that several chapters of the manual share is registered in each with the types that it has
    there: `add` with `u32`, .. in 9.7.1, with `f32`, `f64` in 9.7.3, with `f32.f16` in 9.7.5. The manual's
    names of two parts (`add.cc`, `cvt.pack`) are opcodes of their own here; the second part remains a
    modifier.
    """

    def register(reader: Reader) -> Reader:
        for opcode in opcodes:
            readers = PURE.setdefault(opcode, {})
            for key in types if types is not None else (None,):
                if key in readers:
                    raise ValueError(f"`{opcode}` of type {key} is registered twice")
                readers[key] = reader
        return reader

    return register


def decode_pure(modifiers: Modifiers) -> Pure | None:
    """The pure operation for these modifiers, or None where the opcode is no pure one.

    Raises:
        Unsupported: the opcode is known, this form of it is not.
    """
    load(modifiers.opcode)
    readers = PURE.get(modifiers.opcode)
    for modifier in modifiers.left:
        readers = PURE.get(f"{modifiers.opcode}.{modifier}", readers)
    if readers is None:
        return None
    types = modifiers.types
    reader = readers.get(types, readers.get(None))
    if reader is None:
        raise Unsupported(f"`{modifiers.opcode}` " + (f"of type `.{types}`" if types else "has no type"))
    operation = reader(modifiers)
    modifiers.done()
    return operation
