"""Functions of LLVM that loop over arrays: what those of loads, stores and sums are built with.

A function `i64 run(ptr)` takes one array of 64-bit words, each with a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from ptxkit.emulator.native import FUNCTION

I64, POINTER = ir.IntType(64), ir.PointerType()


def splat(builder: ir.IRBuilder, word: Any, count: int) -> Any:
    """A single word in each element of a vector."""
    undefined = ir.Constant(ir.VectorType(word.type, count), ir.Undefined)
    first = builder.insert_element(undefined, word, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        first, first, ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
    )


class LoopCode:
    """A function under construction.

    Args:
        name: of its module.
        fields: what its words are called.
    """

    def __init__(self, name: str, fields: Sequence[str]) -> None:
        self.module = ir.Module(name=name)
        function = ir.Function(self.module, ir.FunctionType(I64, [POINTER]), name=FUNCTION)
        (self.arguments,) = function.args
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.words = {
            field: self.builder.load(self.at(self.arguments, I64, number), typ=I64)
            for number, field in enumerate(fields)
        }

    def at(self, pointer: Any, kind: Any, index: Any) -> Any:
        """The address of an element of an array."""
        where = ir.Constant(I64, index) if isinstance(index, int) else index
        return self.builder.gep(pointer, [where], source_etype=kind)

    def pointer(self, name: str) -> Any:
        """A word as a pointer."""
        return self.builder.inttoptr(self.words[name], POINTER)

    @contextmanager
    def loop(self, end: Any, step: int = 1) -> Iterator[Any]:
        """A loop from 0 on, at least once; its body is what is built inside. `end`: a number, or a word."""
        builder = self.builder
        before = builder.block
        head, behind = builder.append_basic_block("loop"), builder.append_basic_block("behind")
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(I64)
        index.add_incoming(ir.Constant(I64, 0), before)
        yield index
        following = builder.add(index, ir.Constant(I64, step))
        index.add_incoming(following, builder.block)
        last = ir.Constant(I64, end) if isinstance(end, int) else end
        builder.cbranch(builder.icmp_unsigned("<", following, last), head, behind)
        builder.position_at_end(behind)
