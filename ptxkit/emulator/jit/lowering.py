"""Pure operations as LLVM IR: what each function of `operations/` computes, bit for bit.

A file of `lowerings/` covers the chapter that the file of the same name in `operations/` covers. A function,
registered in `Lowerings` by the name of a row, takes the instruction and returns a lowering. What no file
lowers, or is answered with None, stays with numpy. `tests/test_emulator_jit_operations.py` holds each form
against its numpy function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ptxkit.asm.decode import Decoded
from ptxkit.emulator.code import Computation, Exchange, IRNode
from ptxkit.emulator.jit.extents import Extent
from ptxkit.emulator.lane_set import CodeToRun
from ptxkit.emulator.opcodes import ChapterReaders, Readers
from ptxkit.emulator.special import VARYING

Lowering = Callable[..., Any]
"""Takes `Words` and a word for each source; returns the result, a tuple where there are several."""
Maker = Callable[[Decoded], Lowering | None]
"""Makes the lowering of an instruction, or says None."""


class Across(NamedTuple):
    """The lowering of a computation whose lanes see one another: `Words` are those of all 32 lanes.

    Attributes:
        lower: as `Lowering`; gives a single word where the result is one of the row.
        extent: of the result, by those of the sources.
        settles: the sources that are worth a function of their own for each number, where they are uniform.
        moves: whether the result is the first source where its extent says that lanes have no part in it.
    """

    lower: Lowering
    extent: Callable[..., Extent]
    settles: tuple[int, ...] = ()
    moves: bool = False


LOWERINGS: Readers = {}
EXCHANGES: Readers = {}


class Lowerings(ChapterReaders[Maker]):
    """The lowerings of a chapter."""

    readers = LOWERINGS

    def elementwise(self, name: str, lowering: Lowering) -> None:
        """An instruction whose lowering is the same for all its types and modifiers."""
        self(name)(lambda instruction: lowering)


class Exchanges(ChapterReaders[Callable[[Computation], Across | None]]):
    """The lowerings of a chapter's exchanges: of one computation each."""

    readers = EXCHANGES


def find(instruction: Decoded) -> Lowering | None:
    """The lowering of an instruction that numpy computes; None where there is none."""
    made = LOWERINGS.get((instruction.row.chapter, instruction.row.name))
    return made(instruction) if made is not None else None


def lowering_of(node: IRNode, code: CodeToRun) -> Lowering | None:
    """How an instruction is compiled; None where it is left to numpy."""
    if not isinstance(node, Computation):
        return None
    operation = node.operation
    if operation.reads_carry or operation.writes_carry or not _compiles(node, code):
        return None
    return find(node.form)


def lowerings_of(exchange: Exchange, code: CodeToRun) -> list[Across] | None:
    """The same of an exchange."""
    found = []
    for node in exchange.computations:
        made = EXCHANGES.get((node.form.row.chapter, node.form.row.name))
        lowering = made(node) if made is not None and _compiles(node, code) else None
        if lowering is None:
            return None
        found.append(lowering)
    return found


def _compiles(node: Computation, code: CodeToRun) -> bool:
    """Whether stretches can hold its operands."""
    slots = [source.slot for source in node.sources if source.slot is not None] + [*node.writes]
    if any(code.widths[slot] > 64 for slot in slots):
        return False
    return not any(source.compute is not None and source.name in VARYING for source in node.sources)


def same(words: Any, a: Any) -> Any:
    """The word itself: what `mov` does."""
    return a
