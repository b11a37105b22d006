"""Random functions in LLVM's intermediate language; their results hang on nothing that it leaves open.

A function takes the address of its inputs and that of its outputs. Its values are integers of 1 to 128
bits, floating-point numbers and vectors; they go through arithmetic, conversions, intrinsics, branches,
loops, arrays, calls, recursion and function pointers. Shifts are masked, divisors are not 0, conversions
saturate, and a NaN's bits, which two processors may choose differently, become no integer.
"""

from __future__ import annotations

import random

from tools.foreign.values import FLOATS, INTEGERS, VECTORS, Writer

INPUTS = ("i8", "i16", "i32", "i64", "i128", "half", "float", "double", "i32", "i64", "float", "i32")
SLOT = 16
"""Bytes of each input and output."""


class Body(Writer):
    """The statements of a function: values, and what runs under conditions, in loops and elsewhere."""

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            roll = self.random.random()
            if depth and roll < 0.06:
                self.branch(depth - 1)
            elif depth and roll < 0.10:
                self.loop(depth - 1)
            elif depth and roll < 0.12:
                self.switch(depth - 1)
            elif roll < 0.17:
                self.call()
            else:
                self.step()

    def part(self, label: str, following: str, depth: int, kind: str) -> tuple[str, str]:
        """A block of statements that goes on to another one: the value that it leaves, and its last block."""
        before = {name: list(values) for name, values in self.pool.items()}
        self.label(label)
        self.statements(self.random.randrange(2, 8), depth)
        left, last = self.any(kind), self.block
        self.lines.append(f"  br label %{following}")
        self.pool = before
        return left, last

    def branch(self, depth: int) -> None:
        yes, no, join = self.fresh("yes"), self.fresh("no"), self.fresh("join")
        kind = self.known((*INTEGERS, *FLOATS, *VECTORS))
        self.lines.append(f"  br i1 {self.any('i1')}, label %{yes}, label %{no}")
        ways = [self.part(label, join, depth, kind) for label in (yes, no)]
        self.label(join)
        self.put(kind, f"phi {kind} " + ", ".join(f"[ {value}, %{last} ]" for value, last in ways))

    def switch(self, depth: int) -> None:
        cases = [self.fresh("case") for _ in range(4)]
        join = self.fresh("join")
        chosen = self.hidden(f"and i32 {self.any('i32')}, 7")
        kind = self.known((*INTEGERS, *FLOATS))
        table = " ".join(f"i32 {2 * i + 1}, label %{label}" for i, label in enumerate(cases[1:]))
        self.lines.append(f"  switch i32 {chosen}, label %{cases[0]} [ {table} ]")
        ways = [self.part(label, join, depth, kind) for label in cases]
        self.label(join)
        self.put(kind, f"phi {kind} " + ", ".join(f"[ {value}, %{last} ]" for value, last in ways))

    def loop(self, depth: int) -> None:
        """Up to seven rounds, each from the value of the one before."""
        head, body, done = self.fresh("head"), self.fresh("body"), self.fresh("done")
        kind = self.known((*INTEGERS, *FLOATS))
        rounds, first, came = self.hidden(f"and i32 {self.any('i32')}, 7"), self.any(kind), self.block
        self.lines.append(f"  br label %{head}")
        number, value = f"%{self.fresh()}", f"%{self.fresh()}"
        start = len(self.lines)
        self.label(head)
        more = self.hidden(f"icmp ult i32 {number}, {rounds}")
        self.lines.append(f"  br i1 {more}, label %{body}, label %{done}")
        before = {name: list(values) for name, values in self.pool.items()}
        self.pool.setdefault(kind, []).append(value)
        self.pool.setdefault("i32", []).append(number)
        self.label(body)
        self.statements(self.random.randrange(2, 8), depth)
        following = self.hidden(f"add i32 {number}, 1")
        left, last = self.any(kind), self.block
        self.lines.append(f"  br label %{head}")
        self.lines[start + 1 : start + 1] = [
            f"  {number} = phi i32 [ 0, %{came} ], [ {following}, %{last} ]",
            f"  {value} = phi {kind} [ {first}, %{came} ], [ {left}, %{last} ]",
        ]
        self.pool = before
        self.label(done)
        self.pool.setdefault(kind, []).append(value)

    def call(self) -> None:
        """One of the functions below, or one through a pointer."""
        match self.random.randrange(4):
            case 0:
                triple = "{ i32, i64, double }"
                given = [f"{kind} {self.any(kind)}" for kind in ("i16", "i64", "float", "i8")]
                pair = self.hidden(f"call {triple} @mixed({', '.join(given)})")
                for number, kind in enumerate(("i32", "i64", "double")):
                    self.put(kind, f"extractvalue {triple} {pair}, {number}")
            case 1:
                depth = self.hidden(f"and i32 {self.any('i32')}, 15")
                self.put("i64", f"call i64 @recursive(i32 {depth}, i64 {self.any('i64')})")
            case 2:
                kind = "<4 x float>"
                if self.pool.get(kind):
                    self.put(
                        kind,
                        f"call {kind} @vectors({kind} {self.any(kind)}, <2 x i32> {self.any('<2 x i32>')})",
                    )
            case _:
                chosen = self.hidden(f"select i1 {self.any('i1')}, ptr @first, ptr @second")
                self.put("i32", f"call i32 {chosen}(i32 {self.any('i32')}, i16 {self.any('i16')})")


HELPERS = """
define { i32, i64, double } @mixed(i16 %a, i64 %b, float %c, i8 %d) noinline {
  %1 = zext i16 %a to i32
  %2 = sext i8 %d to i32
  %3 = mul i32 %1, %2
  %4 = sext i32 %3 to i64
  %5 = xor i64 %4, %b
  %6 = fpext float %c to double
  %7 = sitofp i32 %2 to double
  %8 = fadd double %6, %7
  %9 = insertvalue { i32, i64, double } undef, i32 %3, 0
  %10 = insertvalue { i32, i64, double } %9, i64 %5, 1
  %11 = insertvalue { i32, i64, double } %10, double %8, 2
  ret { i32, i64, double } %11
}
define i64 @recursive(i32 %n, i64 %x) noinline {
  %1 = icmp eq i32 %n, 0
  br i1 %1, label %end, label %more
more:
  %2 = sub i32 %n, 1
  %3 = mul i64 %x, 6364136223846793005
  %4 = call i64 @recursive(i32 %2, i64 %3)
  %5 = zext i32 %n to i64
  %6 = add i64 %4, %5
  ret i64 %6
end:
  ret i64 %x
}
define <4 x float> @vectors(<4 x float> %a, <2 x i32> %b) noinline {
  %1 = sitofp <2 x i32> %b to <2 x float>
  %2 = shufflevector <2 x float> %1, <2 x float> undef, <4 x i32> <i32 0, i32 1, i32 1, i32 0>
  %3 = fadd <4 x float> %a, %2
  ret <4 x float> %3
}
define i32 @first(i32 %a, i16 %b) noinline {
  %1 = sext i16 %b to i32
  %2 = sub i32 %a, %1
  ret i32 %2
}
define i32 @second(i32 %a, i16 %b) noinline {
  %1 = zext i16 %b to i32
  %2 = mul i32 %a, %1
  ret i32 %2
}
"""


def function(seed: int, length: int = 60) -> tuple[str, list[str]]:
    """The text of `@body(ptr %in, ptr %out)` and its helpers, and the types of its outputs in order."""
    writer = Body(random.Random(seed))
    for number, kind in enumerate(INPUTS):
        place = writer.hidden(f"getelementptr i8, ptr %in, i64 {SLOT * number}")
        writer.put(kind, f"load {kind}, ptr {place}, align 16")
    writer.compare()
    for number in range(8):
        place = writer.hidden(f"getelementptr i32, ptr %words, i32 {number}")
        writer.lines.append(f"  store i32 {writer.any('i32')}, ptr {place}, align 4")
    for number in range(4):
        place = writer.hidden(f"getelementptr i64, ptr %bytes, i32 {number}")
        writer.lines.append(f"  store i64 {writer.any('i64')}, ptr {place}, align 8")
    writer.statements(length, 2)
    outputs = []
    for kind, values in writer.pool.items():
        for value in values[-6:]:
            place = writer.hidden(f"getelementptr i8, ptr %out, i64 {SLOT * len(outputs)}")
            stored, as_kind = value, kind
            if kind == "i1":
                stored, as_kind = writer.hidden(f"zext i1 {value} to i8"), "i8"
            writer.lines.append(f"  store {as_kind} {stored}, ptr {place}, align 16")
            outputs.append(as_kind)
    body = "\n".join(writer.lines)
    text = f"""{HELPERS}
define void @body(ptr %in, ptr %out) {{
entry:
  %words = alloca [8 x i32], align 4
  %bytes = alloca [32 x i8], align 8
{body}
  ret void
}}
"""
    return text, outputs
