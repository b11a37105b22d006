"""The LLVM IR of a stretch: a function of up to four loops, one for each extent of its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from ptxkit.emulator.code import Computation
from ptxkit.emulator.jit.extents import Extent
from ptxkit.emulator.jit.lowering import Across, Lowering
from ptxkit.emulator.jit.words import Words
from ptxkit.emulator.loop_code import splat
from ptxkit.emulator.native import FUNCTION
from ptxkit.emulator.operands import SourceOperand
from ptxkit.emulator.values import WARP, dtype_of

I64, POINTER = ir.IntType(64), ir.PointerType()


@dataclass(eq=False, slots=True)
class EmittedValue:
    """A value of a stretch: one that it reads, or a result.

    Attributes:
        extent: along which axes it differs.
        bits: width of its register.
        place: of a uniform one that is read, among these; of an array, among all arrays; None: it has none.
        number: what it is, where code may rely on that.
    """

    extent: Extent
    bits: int
    place: int | None = None
    number: int | None = None


@dataclass(eq=False, slots=True)
class EmittedNode:
    """An instruction of a stretch.

    Attributes:
        computation, lowering: what it computes.
        extent: of its results.
        sources: what it reads; None for a constant.
        guard: the predicate before it, if one differs between threads.
        old: what its destinations held, where it has such a guard.
        results: what they hold then; None for one that is left out.
    """

    computation: Computation
    lowering: Lowering | Across
    extent: Extent
    sources: list[EmittedValue | None]
    guard: EmittedValue | None
    old: list[EmittedValue | None]
    results: list[EmittedValue | None]


def bits_of(dtype: np.dtype) -> int:
    """The width of a word of a dtype: 1 for a predicate."""
    return 1 if dtype.kind == "b" else 8 * dtype.itemsize


class Emission:
    """Builds the function of a stretch: `void run(i64 rows, ptr places)`.

    The places are pointers: to the uniform numbers as 64-bit words, those that are read and then those that
    are kept, and to the arrays.

    Args:
        inputs: what the stretch reads.
        uniform: how many of them are uniform.
        arrays: how many arrays there are.
    """

    def __init__(self, inputs: Sequence[EmittedValue], uniform: int, arrays: int) -> None:
        self._module = ir.Module(name="stretch")
        function = ir.Function(self._module, ir.FunctionType(ir.VoidType(), [I64, POINTER]), name=FUNCTION)
        self._rows, places = function.args
        self._builder = ir.IRBuilder(function.append_basic_block("entry"))
        self._uniform = uniform
        self._numbers, *self._arrays = (
            self._builder.load(self._at(places, I64, number), typ=POINTER) for number in range(1 + arrays)
        )
        scalars = Words(self._builder, 0)
        self._words: dict[EmittedValue, Any] = {}
        for value in inputs:
            if not value.extent:
                assert value.place is not None
                number = self._builder.load(self._at(self._numbers, I64, value.place), typ=I64)
                self._words[value] = scalars.resize(number, value.bits)

    def _at(self, pointer: Any, kind: Any, index: Any) -> Any:
        """The address of an element of an array."""
        where = ir.Constant(I64, index) if isinstance(index, int) else index
        return self._builder.gep(pointer, [where], source_etype=kind)

    def loop(
        self, extent: Extent, nodes: Sequence[EmittedNode], stored: Sequence[EmittedValue], lanes: int
    ) -> None:
        """Build the loop of the nodes whose results have an extent; it stores some of these.

        Loops come in `ORDER`. `lanes`: of the vectors.
        """
        if extent is Extent.UNIFORM:
            words = Words(self._builder, 0)
            for node in nodes:
                self._compute(node, words, self._words)
            return
        builder = self._builder
        lanes = 0 if extent is Extent.ROWS else lanes
        step = lanes or 1
        if extent is Extent.LANES:
            end = ir.Constant(I64, WARP)
        else:
            end = builder.mul(self._rows, ir.Constant(I64, WARP if extent is Extent.THREADS else 1))
        words = Words(builder, lanes)
        known = {value: self._broadcast(self._words[value], lanes) for value in uniform_in(nodes)}
        with self._turns(end, step) as index:
            for node in nodes:
                for value in (*node.sources, node.guard, *node.old):
                    if value is not None and value not in known:
                        known[value] = self._load(value, extent, index, lanes)
                self._compute(node, words, known)
            for value in stored:
                self._store(value, known[value], index, words)

    def warps(self, nodes: Sequence[EmittedNode], stored: Sequence[EmittedValue]) -> None:
        """Build one loop of nodes whose results differ between rows or threads: a row in each turn, as its
        lanes see one another."""
        single, wide = Words(self._builder, 0), Words(self._builder, WARP)
        of_row: dict[EmittedValue, Any] = dict(self._words)
        of_lanes = {value: self._broadcast(self._words[value], WARP) for value in uniform_in(nodes)}
        with self._turns(self._rows, 1) as row:
            first = self._builder.mul(row, ir.Constant(I64, WARP))

            def alone(value: EmittedValue) -> Any:
                if value not in of_row:
                    of_row[value] = self._load(value, Extent.ROWS, row, 0)
                return of_row[value]

            def spread(value: EmittedValue) -> Any:
                if value not in of_lanes:
                    if value.extent & Extent.LANES:
                        of_lanes[value] = self._load(value, Extent.THREADS, first, WARP)
                    else:
                        of_lanes[value] = self._broadcast(alone(value), WARP)
                return of_lanes[value]

            for node in nodes:
                across = isinstance(node.lowering, Across)
                find = spread if across or node.extent & Extent.LANES else alone
                read = (*node.sources, node.guard, *node.old)
                known = {value: find(value) for value in read if value is not None}
                made, found = (wide, of_lanes) if node.extent & Extent.LANES else (single, of_row)
                self._compute(node, wide if across else made, known, made)
                found.update((value, known[value]) for value in node.results if value is not None)
            for value in stored:
                if value.extent & Extent.LANES:
                    self._store(value, of_lanes[value], first, wide)
                else:
                    self._store(value, of_row[value], row, single)

    @contextmanager
    def _turns(self, end: Any, step: int) -> Iterator[Any]:
        """A loop from 0 on, at least once; its body is what is built inside."""
        builder = self._builder
        before, body = builder.block, builder.append_basic_block("body")
        builder.branch(body)
        builder.position_at_end(body)
        index = builder.phi(I64)
        index.add_incoming(ir.Constant(I64, 0), before)
        yield index
        following = builder.add(index, ir.Constant(I64, step))
        index.add_incoming(following, builder.block)
        behind = builder.append_basic_block("behind")
        builder.cbranch(builder.icmp_unsigned("<", following, end), body, behind)
        builder.position_at_end(behind)

    def finish(self, kept: Sequence[EmittedValue]) -> str:
        """Store the uniform results that are kept, and return: the text of the module."""
        scalars = Words(self._builder, 0)
        for place, value in enumerate(kept, self._uniform):
            number = scalars.resize(self._words[value], 64)
            self._builder.store(number, self._at(self._numbers, I64, place))
        self._builder.ret_void()
        return str(self._module)

    # ---- values in a loop

    def _load(self, value: EmittedValue, extent: Extent, index: Any, lanes: int) -> Any:
        """The words of an array for one turn of a loop over `extent`."""
        builder = self._builder
        assert value.place is not None
        of_row = value.extent is Extent.ROWS and extent is Extent.THREADS
        if of_row:
            index = builder.udiv(index, ir.Constant(I64, WARP))
        elif value.extent is Extent.LANES and extent is Extent.THREADS:
            index = builder.and_(index, ir.Constant(I64, WARP - 1))
        size = max(value.bits, 8)
        element = ir.IntType(size)
        kind = ir.VectorType(element, lanes) if lanes and not of_row else element
        pointer = self._at(self._arrays[value.place], element, index)
        loaded = builder.load(pointer, typ=kind, align=size // 8)
        if value.bits == 1:
            loaded = builder.trunc(
                loaded, ir.VectorType(ir.IntType(1), lanes) if lanes and not of_row else ir.IntType(1)
            )
        return self._broadcast(loaded, lanes) if of_row else loaded

    def _broadcast(self, word: Any, lanes: int) -> Any:
        """A single word in all lanes of a vector."""
        return splat(self._builder, word, lanes) if lanes else word

    def _store(self, value: EmittedValue, word: Any, index: Any, words: Words) -> None:
        assert value.place is not None
        size = max(value.bits, 8)
        pointer = self._at(self._arrays[value.place], ir.IntType(size), index)
        self._builder.store(words.resize(word, size), pointer, align=size // 8)

    def _compute(
        self, node: EmittedNode, words: Words, known: dict[EmittedValue, Any], into: Words | None = None
    ) -> None:
        """Build an instruction; its results become known, as words of `into` if that is given."""
        operands = []
        for source, value in zip(node.computation.sources, node.sources, strict=True):
            bits = bits_of(source.dtype)
            if value is None:
                operands.append(words.constant(bits, number_of(source)))
                continue
            if value.number is not None:
                operands.append(words.constant(bits, ~value.number if source.invert else value.number))
                continue
            operand = words.resize(known[value], bits)
            operands.append(words.invert(operand) if source.invert else operand)
        lower = node.lowering.lower if isinstance(node.lowering, Across) else node.lowering
        made, into = lower(words, *operands), into or words
        results = made if isinstance(made, tuple) else (made,)
        guard = known[node.guard] if node.guard is not None else None
        if guard is not None and node.computation.guard is not None and node.computation.guard.invert:
            guard = words.invert(guard)
        kinds = node.computation.operation.results
        for kind, result, old, value in zip(kinds, results, node.old, node.results, strict=True):
            if value is not None:
                word = into.resize(result, value.bits, dtype_of(kind).kind == "i")
                known[value] = word if guard is None or old is None else into.choose(guard, word, known[old])


def number_of(source: SourceOperand) -> int:
    """The bits of a constant."""
    bits = bits_of(source.dtype)
    return int(source.value) if bits == 1 else int(source.value.view(f"u{bits // 8}"))


def uniform_in(nodes: Sequence[EmittedNode]) -> list[EmittedValue]:
    """What is uniform among the values that nodes read."""
    read = (value for node in nodes for value in (*node.sources, node.guard, *node.old))
    return list(dict.fromkeys(value for value in read if value is not None and not value.extent))
