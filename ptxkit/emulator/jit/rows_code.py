"""Functions of LLVM that access memory row by row: what those of loads and of stores have in common.

How the places of a row lie is looked at once: where they lie side by side, or are one, the row is accessed
and entered as a vector; so is each half or quarter of a row where that is so within each, as where the
threads of a CTA have two coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

from llvmlite import ir

from ptxkit.emulator.access_history import ROW, SHIFT
from ptxkit.emulator.jit.memory_code import I8, UNSETTLED, is_own
from ptxkit.emulator.loop_code import I64, LoopCode, splat
from ptxkit.emulator.values import WARP

ANY, BESIDE, SAME = range(3)
"""How places lie."""
PARTS = (WARP, WARP // 2, WARP // 4)
"""Lanes of a part of a row, the whole first. A row's pattern is ANY, or how the places of each part lie, plus
two for each size ahead of it."""
SCATTERED, APART = 2, 3
"""What a function of whole blocks returns, with nothing done: rows access anything else, or a block whose
granules have records of their own."""
LONGEST = 64
"""Elements or records of the longest vectors."""
SHAPED = (
    "rows", "address", "start", "data", "tiles", "granule", "threads", "last threads", "limit", "limits",
    "patterns", "apart", "least", "span", "odd",
)  # fmt: skip
"""Words that all such functions take: how many rows; the arrays of addresses, of the CTA's part of the memory
for each row, of the first thread of each row, twice (of rows that share their places the first one's and the
last one's), of the least record that each row may not have seen, or that itself; where the memory begins, and
its bytes; a granule's bytes as a power of two; room for the patterns; which blocks are set apart; of loads
the least address that may be, by how much others may be greater, and the bits that none has."""


class RowsShape(NamedTuple):
    """What the code hangs on.

    Attributes:
        stores: whether it stores.
        address_bits: of the register.
        width, elements: bytes of an element, and how many elements.
        lanes: places of a row: 32, or 1 where its lanes share one.
        tiles: whether each row has memory of its own.
        record_bits: of an access history's record; 0 where there is no history.
        granules: records of a place.
        has_write, has_reads: whether the history has such records that are looked at.
        limits: whether rows differ in what they may not have seen.
        own: whether each place is of one thread, whose own records are none that it may not have seen.
        shadowed: whether what is loaded may be undefined; whether what is stored was.
        whole: whether each row accesses a block of the history, which has one record.
    """

    stores: bool
    address_bits: int
    width: int
    elements: int
    lanes: int
    tiles: bool
    record_bits: int
    granules: int
    has_write: bool
    has_reads: bool
    limits: bool
    own: bool
    shadowed: bool = False
    whole: bool = False


class Places(NamedTuple):
    """Places that are accessed at once.

    Attributes:
        row: their row.
        index: of the first, among all places.
        offset: where that lies in the memory, in bytes.
        lanes: how many.
        case: how they lie.
    """

    row: Any
    index: Any
    offset: Any
    lanes: int
    case: int

    @property
    def apart(self) -> int:
        """How many different places they are."""
        return self.lanes if self.case == BESIDE else 1


class RowsCode(LoopCode):
    """A function `i64 run(ptr)` under construction.

    Args:
        fields: its words, `SHAPED` among them.
        cases: how places may lie to be accessed at once.
    """

    def __init__(self, name: str, fields: tuple[str, ...], shape: RowsShape, cases: tuple[int, ...]) -> None:
        super().__init__(name, fields)
        self.shape = shape
        self.cases = cases
        self.record = ir.IntType(shape.record_bits or 32)
        self.align = shape.record_bits // 8
        self.kind = ir.IntType(8 * shape.width)

    # ---- rows

    def look(self, outer: Callable[[], AbstractContextManager[Any]], step: Callable[[Any], Any]) -> None:
        """Note how the places of each row lie; leave if they should be blocks and are none, or if one is
        loaded from that may not be. See `each`."""
        if self.shape.lanes == 1:
            return
        with self.loop(self.words["rows"]) as row:
            pattern = self._look(row)
            if self.shape.whole:
                other = self.builder.icmp_unsigned("!=", pattern, I8(BESIDE))
                with self.builder.if_then(other, likely=False):
                    self.builder.ret(I64(SCATTERED))
            else:
                self.builder.store(pattern, self.at(self.pointer("patterns"), I8, row), align=1)
        if self.shape.whole:
            with self.loop(self.words["rows"]) as row:
                self.each(row, self._is_block, outer, step)

    def _is_block(self, _: Any, places: Places) -> None:
        """Leave where a row accesses no block, or one that is set apart."""
        builder = self.builder
        inside = builder.and_(builder.lshr(places.offset, self.words["granule"]), I64(ROW - 1))
        with builder.if_then(builder.icmp_unsigned("!=", inside, I64(0)), likely=False):
            builder.ret(I64(SCATTERED))
        apart = self.load(self.pointer("apart"), I8, self._record_at(places), 1)
        with builder.if_then(builder.icmp_unsigned("!=", apart, I8(0)), likely=False):
            builder.ret(I64(APART))

    def _patterns(self) -> Iterator[tuple[int, int, int]]:
        """Which there is code for: the number of a size, its lanes, and how their places lie."""
        if self.shape.whole:
            yield 0, WARP, BESIDE
            return
        for number, part in enumerate(PARTS):
            for case in self.cases:
                if case == SAME or number == 0 or self.shape.elements == 1:
                    yield number, part, case

    def _look(self, row: Any) -> Any:
        builder, bits = self.builder, self.shape.address_bits
        kind = ir.IntType(bits)
        vector = ir.VectorType(kind, WARP)
        where = self.at(self.pointer("address"), kind, builder.mul(row, I64(WARP)))
        every = builder.load(where, typ=vector, align=bits // 8)
        if not self.shape.stores:
            self._stay(every)
        pattern = I8(ANY)
        for number, part, case in reversed([*self._patterns()]):
            firsts = ir.Constant(ir.VectorType(ir.IntType(32), WARP), [n // part * part for n in range(WARP)])
            first = builder.shuffle_vector(every, ir.Constant(vector, ir.Undefined), firsts)
            step = self.shape.width * self.shape.elements if case == BESIDE else 0
            expected = ir.Constant(vector, [lane % part * step for lane in range(WARP)])
            as_expected = builder.icmp_unsigned("==", builder.sub(every, first), expected)
            fits = builder.icmp_signed(
                "==", builder.bitcast(as_expected, ir.IntType(WARP)), ir.IntType(WARP)(-1)
            )
            pattern = builder.select(fits, I8(2 * number + case), pattern)
        return pattern

    def _stay(self, every: Any) -> None:
        """Leave if an address of a row lies where none may."""
        builder, kind = self.builder, every.type.element

        def word(name: str) -> Any:
            found = self.words[name]
            return splat(builder, found if kind.width == 64 else builder.trunc(found, kind), WARP)

        beyond = builder.icmp_unsigned(">", builder.sub(every, word("least")), word("span"))
        nothing = ir.Constant(every.type, None)
        odd = builder.icmp_unsigned("!=", builder.and_(every, word("odd")), nothing)
        with builder.if_then(self.any(builder.or_(beyond, odd), WARP), likely=False):
            builder.ret(I64(UNSETTLED))

    def each(
        self,
        row: Any,
        act: Callable[[Any, Places], None],
        outer: Callable[[], AbstractContextManager[Any]],
        step: Callable[[Any], Any],
    ) -> None:
        """Do something at the places of a row, at once where their pattern allows it.

        Args:
            act: builds what is done; takes what `outer` gives, and the places.
            outer: a loop around all of a row's places.
            step: of what `outer` gives, what is added to each address.
        """
        builder, lanes = self.builder, self.shape.lanes
        if lanes == 1:
            with outer() as entry:
                act(entry, self._places(step(entry), row, row, 1, ANY))
            return
        first = builder.mul(row, I64(lanes))
        if self.shape.whole:
            with outer() as entry:
                act(entry, self._places(step(entry), row, first, lanes, BESIDE))
            return
        pattern = self.load(self.pointer("patterns"), I8, row, 1)
        cases = [(2 * number + case, case, part) for number, part, case in self._patterns()]
        blocks = [builder.append_basic_block("pattern") for _ in cases]
        others, behind = builder.append_basic_block("each"), builder.append_basic_block("behind")
        switch = builder.switch(pattern, others)
        for (number, case, part), block in zip(cases, blocks, strict=True):
            switch.add_case(I8(number), block)
            builder.position_at_end(block)
            longest = LONGEST // max(self.shape.granules, self.shape.elements)
            unit = min(part, max(longest, 1)) if case == BESIDE else part
            with outer() as entry, self.loop(WARP, unit) if unit < WARP else self.once() as lane:
                index = first if lane is None else builder.add(first, lane)
                act(entry, self._places(step(entry), row, index, unit, case))
            builder.branch(behind)
        builder.position_at_end(others)
        with outer() as entry, self.loop(lanes) as lane:
            act(entry, self._places(step(entry), row, builder.add(first, lane), 1, ANY))
        builder.branch(behind)
        builder.position_at_end(behind)

    def _places(self, step: Any, row: Any, index: Any, lanes: int, case: int) -> Places:
        builder, kind = self.builder, ir.IntType(self.shape.address_bits)
        word = self.load(self.pointer("address"), kind, index, self.shape.address_bits // 8)
        word = builder.add(word, step if self.shape.address_bits == 64 else builder.trunc(step, kind))
        if self.shape.address_bits < 64:
            word = builder.zext(word, I64)
        distance = builder.sub(word, self.words["start"])
        if self.shape.tiles:
            distance = builder.add(distance, self.load(self.pointer("tiles"), I64, row, 8))
        return Places(row, index, distance, lanes, case)

    @contextmanager
    def once(self) -> Iterator[None]:
        """No loop around a row's places."""
        yield

    # ---- words

    def load(self, pointer: Any, kind: Any, index: Any, align: int) -> Any:
        """An element of an array."""
        return self.builder.load(self.at(pointer, kind, index), typ=kind, align=align)

    def wide(self, kind: Any, count: int) -> Any:
        """A vector's type, or that of one element."""
        return ir.VectorType(kind, count) if count > 1 else kind

    def spread(self, word: Any, count: int) -> Any:
        """A word in each element of such a vector."""
        return splat(self.builder, word, count) if count > 1 else word

    def chosen(self, vector: Any, places: list[int]) -> Any:
        """Some elements of a vector, in an order."""
        if not isinstance(vector.type, ir.VectorType):
            return self.spread(vector, len(places))
        if places == [*range(vector.type.count)]:
            return vector
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
        found = self.builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)
        return found if len(places) > 1 else self.builder.extract_element(found, ir.IntType(32)(0))

    def as_record(self, word: Any) -> Any:
        """A word as a record."""
        return self.builder.trunc(word, self.record) if self.shape.record_bits < 64 else word

    # ---- the history

    def records(self, name: str, places: Places) -> Any:
        """Where the records of places begin."""
        return self.at(self.pointer(name), self.record, self._record_at(places))

    def _record_at(self, places: Places) -> Any:
        granule = self.builder.lshr(places.offset, self.words["granule"])
        return self.builder.lshr(granule, I64(SHIFT)) if self.shape.whole else granule

    def count(self, places: Places) -> int:
        """How many records places have."""
        return 1 if self.shape.whole else self.shape.granules * places.apart

    def limit(self, places: Places) -> Any:
        """For each record of places the least that their row may not have seen."""
        if self.shape.limits:
            word = self.load(self.pointer("limits"), self.record, places.row, self.align)
        else:
            word = self.as_record(self.words["limit"])
        return self.spread(word, self.count(places))

    def threads(self, name: str, places: Places, index: Any = None) -> Any:
        """For each record of places who accesses it. `index`: of the one place that stands for all."""
        builder = self.builder
        found = self.load(self.pointer(name), self.record, places.row, self.align)
        if self.shape.whole:
            return found  # The record of its first lane stands for a block.
        if self.shape.lanes > 1:
            lane = builder.and_(places.index if index is None else index, I64(WARP - 1))
            found = builder.or_(found, self.as_record(lane))
        lanes = places.lanes if places.case == BESIDE else 1
        if lanes > 1:  # The first lane is a multiple of their number.
            found = builder.or_(
                self.spread(found, lanes), ir.Constant(self.wide(self.record, lanes), [*range(lanes)])
            )
        return self.chosen(found, [at // self.shape.granules for at in range(self.count(places))])

    def meet(self, places: Places, kinds: tuple[str, ...]) -> None:
        """Leave where a record of these kinds is at the limit or beyond, and not the thread's own."""
        builder, count = self.builder, self.count(places)
        limit = self.limit(places)
        own = self.threads("threads", places) if self.shape.own and places.case != SAME else None
        met = None
        for kind in kinds:
            found = builder.load(
                self.records(kind, places), typ=self.wide(self.record, count), align=self.align
            )
            reached = builder.icmp_unsigned(">=", found, limit)
            if own is not None:
                mine = is_own(builder, found, own, self.shape.record_bits)
                reached = builder.and_(reached, builder.not_(mine))
            met = reached if met is None else builder.or_(met, reached)
        with builder.if_then(self.any(met, count), likely=False):
            builder.ret(I64(UNSETTLED))

    def any(self, conditions: Any, count: int) -> Any:
        """Whether one of some predicates holds."""
        if count == 1:
            return conditions
        bits = ir.IntType(count)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(conditions, bits), bits(0))
