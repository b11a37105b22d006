"""Runs of statements that hand the carry flag on. PTX ISA 9.7.2.

Sums and differences, of 32 and of 64 bits, write and read it in any order; other statements stand between.
"""

from __future__ import annotations

from collections.abc import Callable

from compare.chains.writer import Writer

SETS = ("add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc")
READS = ("addc", "subc", "madc.lo", "madc.hi")
TYPES = ("u32", "s32", "u64", "s64")


def run(writer: Writer, between: Callable[[Writer], None]) -> None:
    """A statement that sets the flag, and some that read it."""
    random = writer.random
    _statement(writer, random.choice(SETS))
    for _ in range(random.randrange(1, 6)):
        if random.random() < 0.25:
            between(writer)
        if random.random() < 0.15:
            _statement(writer, random.choice(SETS))
        _statement(writer, random.choice(READS) + random.choice((".cc", ".cc", "")))


def _statement(writer: Writer, name: str) -> None:
    type_ = writer.random.choice(TYPES)
    bits = int(type_[1:])
    operands = [writer.source(bits) for _ in range(3 if name.startswith("mad") else 2)]
    if writer.random.random() < 0.2:
        operands[-1] = writer.random.choice(("0", "1", "-1", "0x7fffffff"))
    target = writer.target(bits)
    label, lines = f"{name}.{type_}", list[str]()
    read = [writer.read(label, operand, bits, lines) for operand in operands]
    writer.step("carry", label, [*lines, f"{label} {target}, {', '.join(read)};"], [(target, bits)])
