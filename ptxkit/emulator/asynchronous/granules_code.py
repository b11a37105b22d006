"""The LLVM IR of what `granules` does with the records of a region.

A function takes one array of 64-bit words, in the order of `FIELDS`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ptxkit.emulator.loop_code import I64, LoopCode

FIELDS = (
    "records", "count", "starts", "sizes", "items", "first", "shift", "values",
    "index", "item", "record", "room",
)  # fmt: skip
"""The records; the intervals, in bytes of the bank, and their items; where the history's memory begins; the
bytes of a granule, as a power of 2. For `fill` a record for each interval; for `runs` where they go, how
many fit."""


def granules_code(name: str, bits: int) -> str:
    """The module of a function on records of so many bits: `fill`, which sets them, or `runs`, which returns
    how many runs there are, and stores as many as there is room for."""
    code = _GranulesCode(bits)
    return code.fill() if name == "fill" else code.runs()


class _GranulesCode(LoopCode):
    """The function under construction."""

    def __init__(self, bits: int) -> None:
        super().__init__("granules", FIELDS)
        self.kind = ir.IntType(bits)

    def _intervals(self, body: Any) -> None:
        """For each interval that has bytes: `body` of its number, its first granule, and their count."""
        builder, words = self.builder, self.words
        with self.loop(words["count"]) as number:
            size = self._item("sizes", I64, number)
            with builder.if_then(builder.icmp_signed(">", size, ir.Constant(I64, 0))):
                start = builder.sub(self._item("starts", I64, number), words["first"])
                last = builder.sub(builder.add(start, size), ir.Constant(I64, 1))
                first, last = (builder.ashr(at, words["shift"]) for at in (start, last))
                body(number, first, builder.add(builder.sub(last, first), ir.Constant(I64, 1)))

    def _item(self, name: str, kind: Any, index: Any) -> Any:
        return self.builder.load(self.at(self.pointer(name), kind, index), typ=kind)

    def fill(self) -> str:
        def body(number: Any, first: Any, count: Any) -> None:
            record = self._item("values", self.kind, number)
            with self.loop(count) as further:
                at = self.at(self.pointer("records"), self.kind, self.builder.add(first, further))
                self.builder.store(record, at)

        self._intervals(body)
        self.builder.ret(ir.Constant(I64, 0))
        return str(self.module)

    def runs(self) -> str:
        builder = self.builder
        found, before, item_before = (builder.alloca(kind) for kind in (I64, self.kind, I64))
        builder.store(ir.Constant(I64, 0), found)
        builder.store(ir.Constant(self.kind, 0), before)
        builder.store(ir.Constant(I64, -1), item_before)

        def body(number: Any, first: Any, count: Any) -> None:
            item = self._item("items", I64, number)
            with self.loop(count) as further:
                index = builder.add(first, further)
                record = self._item("records", self.kind, index)
                differs = builder.or_(
                    builder.icmp_unsigned("!=", record, builder.load(before, typ=self.kind)),
                    builder.icmp_unsigned("!=", item, builder.load(item_before, typ=I64)),
                )
                there = builder.icmp_unsigned("!=", record, ir.Constant(self.kind, 0))
                with builder.if_then(builder.and_(differs, there)):
                    builder.store(record, before)
                    builder.store(item, item_before)
                    so_far = builder.load(found, typ=I64)
                    with builder.if_then(builder.icmp_unsigned("<", so_far, self.words["room"])):
                        for name, kind, value in (
                            ("index", I64, index), ("item", I64, item), ("record", self.kind, record),
                        ):  # fmt: skip
                            builder.store(value, self.at(self.pointer(name), kind, so_far))
                    builder.store(builder.add(so_far, ir.Constant(I64, 1)), found)

        self._intervals(body)
        builder.ret(builder.load(found, typ=I64))
        return str(self.module)
