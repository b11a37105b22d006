"""The LLVM IR behind loads by one register of addresses: loops over the rows, loads and places.

A load is an entry of 64-bit words: what is added to each address, its record, and an array for each element.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from ptxkit.emulator.jit.memory_code import DONE, I8, UNSETTLED
from ptxkit.emulator.jit.rows_code import BESIDE, SAME, SHAPED, Places, RowsCode, RowsShape
from ptxkit.emulator.loop_code import I64, POINTER, splat

FIELDS = (*SHAPED, "shadow", "write", "first read", "last read", "loads", "entries")
STEP, RECORD, ELEMENTS = range(3)
"""Of an entry."""


def loads_code(shape: RowsShape) -> str:
    """The function of loads of some shape: it returns `UNSETTLED`, with nothing done, where a record of a
    write is one that some row may not have seen, or where something is undefined."""
    return _Loads(shape).text()


class _Loads(RowsCode):
    """A function under construction."""

    def __init__(self, shape: RowsShape) -> None:
        super().__init__("loads", FIELDS, shape, (SAME, BESIDE))

    def text(self) -> str:
        """The whole module."""
        shape, builder = self.shape, self.builder
        self.look(self._loads, _step)
        looks = shape.shadowed or (shape.record_bits and shape.has_write)
        for act in (self._meet, self._move) if looks else (self._move,):
            with self.loop(self.words["rows"]) as row:
                self.each(row, act, self._loads, _step)
        builder.ret(ir.Constant(I64, DONE))
        return str(self.module)

    @contextmanager
    def _loads(self) -> Iterator[list[Any]]:
        """A loop over the loads: the words of each."""
        size = ELEMENTS + self.shape.elements
        with self.loop(self.words["loads"]) as load:
            first = self.builder.mul(load, ir.Constant(I64, size))
            entries = self.pointer("entries")
            yield [
                self.load(entries, I64, self.builder.add(first, ir.Constant(I64, at)), 8)
                for at in range(size)
            ]

    def _meet(self, _: list[Any], places: Places) -> None:
        """Leave where something is undefined, or the record of a write is at the limit or beyond."""
        builder, shape = self.builder, self.shape
        if shape.shadowed:
            where = self.at(self.pointer("shadow"), I8, places.offset)
            count = shape.elements * places.apart
            bits = builder.load(where, typ=self.wide(self.kind, count), align=shape.width)
            some = builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, None if count > 1 else 0))
            with builder.if_then(self.any(some, count), likely=False):
                builder.ret(ir.Constant(I64, UNSETTLED))
        if shape.record_bits and shape.has_write:
            self.meet(places, ("write",))

    def _move(self, entry: list[Any], places: Places) -> None:
        """Load, and enter that."""
        builder, shape = self.builder, self.shape
        source = self.at(self.pointer("data"), I8, places.offset)
        every = self.wide(self.kind, shape.elements * places.apart)
        found = builder.load(source, typ=every, align=shape.width)
        for number, element in enumerate(entry[ELEMENTS:]):
            value = found
            if shape.elements > 1:
                value = self.chosen(found, [*range(number, shape.elements * places.apart, shape.elements)])
            if places.case == SAME:
                value = splat(builder, value, places.lanes)
            target = self.at(builder.inttoptr(element, POINTER), self.kind, places.index)
            builder.store(value, target, align=shape.width)
        if not shape.record_bits:
            return
        record = self.spread(self.as_record(entry[RECORD]), self.count(places))
        where = self.records("first read", places)
        first = builder.load(where, typ=self.wide(self.record, self.count(places)), align=self.align)
        fresh = builder.icmp_unsigned("<", first, self.limit(places))
        own = builder.or_(self.threads("threads", places), record)
        builder.store(builder.select(fresh, own, first), where, align=self.align)
        # The last of those who share a place read it last.
        at = builder.add(places.index, I64(places.lanes - 1)) if places.case == SAME else None
        last = builder.or_(self.threads("last threads", places, at), record)
        builder.store(last, self.records("last read", places), align=self.align)


def _step(entry: list[Any]) -> Any:
    return entry[STEP]
