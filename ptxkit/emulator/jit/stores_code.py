"""The LLVM IR behind a store by all lanes of some rows: loops over the rows and places."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ptxkit.emulator.jit.memory_code import DONE, I8, UNSETTLED
from ptxkit.emulator.jit.rows_code import BESIDE, SHAPED, Places, RowsCode, RowsShape
from ptxkit.emulator.loop_code import I64

FIELDS = (*SHAPED, "step", "record", "shadow", "write", "first read", "last read")
"""Then an array for each element."""


def stores_code(shape: RowsShape) -> str:
    """The function of a store of some shape: it returns `UNSETTLED`, with nothing done, where a record of the
    access history is one that some row may not have seen, or where lanes store to one place."""
    return _Store(shape).text()


class _Store(RowsCode):
    """A function under construction."""

    def __init__(self, shape: RowsShape) -> None:
        self._elements = [f"element {number}" for number in range(shape.elements)]
        super().__init__("store", (*FIELDS, *self._elements), shape, (BESIDE,))

    def text(self) -> str:
        """The whole module."""
        shape, builder = self.shape, self.builder
        self.look(self.once, self._step)
        if shape.record_bits:
            kinds = ("write",) * shape.has_write + ("first read", "last read") * shape.has_reads
            if kinds:
                self._rows(lambda _, places: self.meet(places, kinds))
            self._rows(self._enter)
            self._undo_duplicates()
        self._rows(self._move)
        builder.ret(I64(DONE))
        return str(self.module)

    def _rows(self, act: Any) -> None:
        with self.loop(self.words["rows"]) as row:
            self.each(row, act, self.once, self._step)

    def _step(self, _: None) -> Any:
        return self.words["step"]

    def _own(self, places: Places) -> Any:
        record = self.as_record(self.words["record"])
        return self.builder.or_(self.threads("threads", places), self.spread(record, self.count(places)))

    def _enter(self, _: None, places: Places) -> None:
        self.builder.store(self._own(places), self.records("write", places), align=self.align)

    def _undo_duplicates(self) -> None:
        """Where lanes share a place, take the records back and leave: numpy sees whether their values differ.

        What was there before need not come back: the store that numpy then makes would have written over it,
        and it lies below the limit of every row.
        """
        builder = self.builder
        shared = builder.alloca(ir.IntType(1))
        builder.store(ir.IntType(1)(0), shared)

        def compare(_: None, places: Places) -> None:
            count = self.count(places)
            found = builder.load(
                self.records("write", places), typ=self.wide(self.record, count), align=self.align
            )
            differs = self.any(builder.icmp_unsigned("!=", found, self._own(places)), count)
            builder.store(builder.or_(builder.load(shared, typ=ir.IntType(1)), differs), shared)

        def clear(_: None, places: Places) -> None:
            nothing = ir.Constant(self.wide(self.record, self.count(places)), None)
            builder.store(nothing, self.records("write", places), align=self.align)

        self._rows(compare)
        with builder.if_then(builder.load(shared, typ=ir.IntType(1)), likely=False):
            self._rows(clear)
            builder.ret(I64(UNSETTLED))

    def _move(self, _: None, places: Places) -> None:
        """Store, and take note that this is defined."""
        builder, shape, lanes = self.builder, self.shape, places.apart
        values = [
            builder.load(
                self.at(self.pointer(name), self.kind, places.index),
                typ=self.wide(self.kind, lanes),
                align=shape.width,
            )
            for name in self._elements
        ]
        target = self.at(self.pointer("data"), I8, places.offset)
        builder.store(self._side_by_side(values), target, align=shape.width)
        if shape.shadowed:
            nothing = ir.Constant(self.wide(self.kind, lanes * shape.elements), None)
            where = self.at(self.pointer("shadow"), I8, places.offset)
            builder.store(nothing, where, align=shape.width)

    def _side_by_side(self, values: list[Any]) -> Any:
        """The elements of each lane beside one another."""
        while len(values) > 1:
            half = len(values) // 2
            values = [self._alternating(a, b) for a, b in zip(values[:half], values[half:], strict=True)]
        return values[0]

    def _alternating(self, a: Any, b: Any) -> Any:
        """Two vectors, element by element."""
        if not isinstance(a.type, ir.VectorType):
            pair = ir.Constant(ir.VectorType(a.type, 2), ir.Undefined)
            pair = self.builder.insert_element(pair, a, ir.IntType(32)(0))
            return self.builder.insert_element(pair, b, ir.IntType(32)(1))
        count = a.type.count
        order = [at for pair in zip(range(count), range(count, 2 * count), strict=True) for at in pair]
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), 2 * count), order))
