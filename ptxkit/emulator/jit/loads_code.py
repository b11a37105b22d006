"""The LLVM IR behind loads by one register of addresses: loops over the rows, loads and places.

A load is an entry of 64-bit words: what is added to each address, its record, and an array for each element.
How the places of a row lie is looked at once: where they lie side by side, or are one, a row is loaded and
entered at once; so is each half or quarter of a row where that is so within each, as where the threads of a
CTA have two coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from llvmlite import ir

from ptxkit.emulator.jit.memory_code import DONE, I8, UNSETTLED, is_own
from ptxkit.emulator.loop_code import I64, POINTER, LoopCode, splat
from ptxkit.emulator.values import WARP

FIELDS = (
    "rows", "address", "start", "data", "tiles", "write", "first read", "last read", "granule", "threads",
    "last threads", "limit", "limits", "patterns", "loads", "entries",
)  # fmt: skip
STEP, RECORD, ELEMENTS = range(3)
"""Of an entry."""
ANY, BESIDE, SAME = range(3)
"""How places lie."""
PARTS = (WARP, WARP // 2, WARP // 4)
"""Lanes of a part of a row, the whole first. A row's pattern is ANY, or how the places of each part lie, plus
two for each size ahead of it."""


class LoadsShape(NamedTuple):
    """What the code of such loads hangs on.

    Attributes:
        address_bits: of the register.
        width, elements: bytes of an element, and how many elements.
        lanes: places of a row: 32, or 1 where its lanes share one.
        tiles: whether each row has memory of its own.
        record_bits: of an access history's record; 0 where there is no history.
        granules: records of a place.
        has_write: whether the history has records of writes.
        limits: whether rows differ in what they may not have seen.
        own: whether each place is of one thread, whose own records are none that it may not have seen.
    """

    address_bits: int
    width: int
    elements: int
    lanes: int
    tiles: bool
    record_bits: int
    granules: int
    has_write: bool
    limits: bool
    own: bool


def loads_code(shape: LoadsShape) -> str:
    """The function of loads of some shape: it returns `UNSETTLED`, with nothing done, where a record of a
    write is one that some row may not have seen."""
    return _Loads(shape).text()


class _Loads(LoopCode):
    """A function `i64 run(ptr)` under construction."""

    def __init__(self, shape: LoadsShape) -> None:
        super().__init__("loads", FIELDS)
        self.shape = shape
        self.record = ir.IntType(shape.record_bits or 32)
        self.kind = ir.IntType(8 * shape.width)
        self.beside = shape.elements == 1 and shape.granules in (0, 1)

    def text(self) -> str:
        """The whole module."""
        shape, builder = self.shape, self.builder
        if shape.lanes > 1:
            with self.loop(self.words["rows"]) as row:
                self._look(row)
        if shape.record_bits and shape.has_write:
            with self.loop(self.words["rows"]) as row:
                self._each(row, self._meet)
        with self.loop(self.words["rows"]) as row:
            self._each(row, self._move)
        builder.ret(ir.Constant(I64, DONE))
        return str(self.module)

    # ---- loops

    @contextmanager
    def _loads(self) -> Iterator[list[Any]]:
        """A loop over the loads: the words of each."""
        size = ELEMENTS + self.shape.elements
        with self.loop(self.words["loads"]) as load:
            first = self.builder.mul(load, ir.Constant(I64, size))
            entries = self.pointer("entries")
            yield [
                self._load(entries, I64, self.builder.add(first, ir.Constant(I64, at)), 8)
                for at in range(size)
            ]

    def _each(self, row: Any, act: Any) -> None:
        """For each load do something at the places of a row, at once where their pattern allows it."""
        builder, lanes = self.builder, self.shape.lanes
        if lanes == 1:
            with self._loads() as entry:
                act(entry, row, row, ANY, 1)
            return
        first = builder.mul(row, ir.Constant(I64, lanes))
        pattern = self._load(self.pointer("patterns"), I8, row, 1)
        cases = [
            (2 * number + case, case, part)
            for number, part in enumerate(PARTS)
            for case in ([SAME, BESIDE] if self.beside else [SAME])
        ]
        blocks = [builder.append_basic_block("pattern") for _ in cases]
        others, behind = builder.append_basic_block("each"), builder.append_basic_block("behind")
        switch = builder.switch(pattern, others)
        for (number, case, part), block in zip(cases, blocks, strict=True):
            switch.add_case(ir.Constant(I8, number), block)
            builder.position_at_end(block)
            with self._loads() as entry:
                for lane in range(0, WARP, part):
                    act(entry, row, builder.add(first, ir.Constant(I64, lane)), case, part)
            builder.branch(behind)
        builder.position_at_end(others)
        with self._loads() as entry, self.loop(lanes) as lane:
            act(entry, row, builder.add(first, lane), ANY, 1)
        builder.branch(behind)
        builder.position_at_end(behind)

    # ---- places

    def _load(self, pointer: Any, kind: Any, index: Any, align: int) -> Any:
        return self.builder.load(self.at(pointer, kind, index), typ=kind, align=align)

    def _look(self, row: Any) -> None:
        """Note how the places of a row lie."""
        builder, bits = self.builder, self.shape.address_bits
        kind = ir.IntType(bits)
        vector = ir.VectorType(kind, WARP)
        where = self.at(self.pointer("address"), kind, builder.mul(row, ir.Constant(I64, WARP)))
        every = builder.load(where, typ=vector, align=bits // 8)
        pattern = ir.Constant(I8, ANY)
        for number, part in reversed([*enumerate(PARTS)]):
            firsts = ir.Constant(ir.VectorType(ir.IntType(32), WARP), [n // part * part for n in range(WARP)])
            first = builder.shuffle_vector(every, ir.Constant(vector, ir.Undefined), firsts)
            away = builder.sub(every, first)
            for case, step in ((BESIDE, self.shape.width), (SAME, 0)):
                expected = ir.Constant(vector, [lane % part * step for lane in range(WARP)])
                each = builder.bitcast(builder.icmp_unsigned("==", away, expected), ir.IntType(WARP))
                fits = builder.icmp_signed("==", each, ir.IntType(WARP)(-1))
                pattern = builder.select(fits, ir.Constant(I8, 2 * number + case), pattern)
        builder.store(pattern, self.at(self.pointer("patterns"), I8, row), align=1)

    def _offset(self, entry: list[Any], row: Any, index: Any) -> Any:
        """Where a place lies in the memory, in bytes."""
        builder, kind = self.builder, ir.IntType(self.shape.address_bits)
        word = self._load(self.pointer("address"), kind, index, self.shape.address_bits // 8)
        if self.shape.address_bits < 64:
            word = builder.zext(word, I64)
        distance = builder.sub(builder.add(word, entry[STEP]), self.words["start"])
        if self.shape.tiles:
            distance = builder.add(distance, self._load(self.pointer("tiles"), I64, row, 8))
        return distance

    def _records(self, name: str, offset: Any) -> Any:
        first = self.builder.lshr(offset, self.words["granule"])
        return self.at(self.pointer(name), self.record, first)

    def _wide(self, kind: Any, count: int) -> Any:
        return ir.VectorType(kind, count) if count > 1 else kind

    def _spread(self, word: Any, count: int) -> Any:
        return splat(self.builder, word, count) if count > 1 else word

    def _word(self, word: Any) -> Any:
        """A word as a record."""
        return self.builder.trunc(word, self.record) if self.shape.record_bits < 64 else word

    def _limit(self, row: Any) -> Any:
        """The least record that a row may not have seen."""
        if self.shape.limits:
            return self._load(self.pointer("limits"), self.record, row, self.shape.record_bits // 8)
        return self._word(self.words["limit"])

    # ---- what is done at a place, or at those of a row

    def _meet(self, entry: list[Any], row: Any, index: Any, pattern: int, part: int) -> None:
        """Leave where the record of a write is at the limit or beyond."""
        builder, shape = self.builder, self.shape
        lanes = part if pattern == BESIDE else 1
        count = shape.granules * lanes
        place = self._records("write", self._offset(entry, row, index))
        found = builder.load(place, typ=self._wide(self.record, count), align=shape.record_bits // 8)
        reached = builder.icmp_unsigned(">=", found, self._spread(self._limit(row), count))
        if shape.own and pattern != SAME:
            where = self.at(self.pointer("threads"), self.record, index)
            threads = builder.load(where, typ=self._wide(self.record, lanes), align=shape.record_bits // 8)
            own = is_own(
                builder, found, threads if lanes > 1 else self._spread(threads, count), shape.record_bits
            )
            reached = builder.and_(reached, builder.not_(own))
        if count > 1:
            bits = ir.IntType(count)
            reached = builder.icmp_unsigned("!=", builder.bitcast(reached, bits), bits(0))
        with builder.if_then(reached, likely=False):
            builder.ret(ir.Constant(I64, UNSETTLED))

    def _move(self, entry: list[Any], row: Any, index: Any, pattern: int, part: int) -> None:
        """Load, and enter that."""
        builder, shape = self.builder, self.shape
        offset = self._offset(entry, row, index)
        source = self.at(self.pointer("data"), I8, offset)
        lanes = part if pattern == BESIDE else 1
        for number, element in enumerate(entry[ELEMENTS:]):
            where = self.at(source, self.kind, number)
            value = builder.load(where, typ=self._wide(self.kind, lanes), align=shape.width)
            if pattern == SAME:
                value = splat(builder, value, part)
            target = self.at(builder.inttoptr(element, POINTER), self.kind, index)
            builder.store(value, target, align=shape.width)
        if not shape.record_bits:
            return
        count, align = shape.granules * lanes, shape.record_bits // 8
        record = self._word(entry[RECORD])

        def own(name: str, at: Any) -> Any:
            where = self.at(self.pointer(name), self.record, at)
            threads = builder.load(where, typ=self._wide(self.record, lanes), align=align)
            mine = builder.or_(threads, self._spread(record, lanes))
            return mine if lanes > 1 else self._spread(mine, count)

        place = self._records("first read", offset)
        first = builder.load(place, typ=self._wide(self.record, count), align=align)
        fresh = builder.icmp_unsigned("<", first, self._spread(self._limit(row), count))
        builder.store(builder.select(fresh, own("threads", index), first), place, align=align)
        # The last of those who share a place read it last.
        last = builder.add(index, ir.Constant(I64, part - 1)) if pattern == SAME else index
        builder.store(own("last threads", last), self._records("last read", offset), align=align)
