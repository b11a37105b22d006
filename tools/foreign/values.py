"""Values in LLVM's intermediate language, one made of others at random."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

WIDTH = {
    "i1": 1,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
    "i128": 128,
    "half": 16,
    "float": 32,
    "double": 64,
}
INTEGERS = ("i8", "i16", "i32", "i64", "i128")
FLOATS = ("half", "float", "double")
VECTORS = ("<2 x i32>", "<4 x i8>", "<2 x half>", "<4 x float>", "<2 x i64>")
ORDERED = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno")
OPERATIONS = ("fadd", "fsub", "fmul", "fdiv", "fneg", "fma", "fabs", "sqrt", "minimum", "maximum")
STATEMENTS = (
    *("arithmetic", "arithmetic", "shift", "division", "compare", "choose", "resize", "count_bits"),
    *("overflow", "funnel", "floating", "floating", "round", "convert", "reinterpret", "vector", "vector"),
    *("array", "bytes"),
)
"""Methods that write one more value; some more often than others."""
SIGNED = ("eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle")


@dataclass
class Writer:
    """The text of one function as it grows.

    Attributes:
        random: decides everything.
        lines: so far.
        pool: the values that can be used here, by type.
        block: the label of the block that is being written.
        count: of names.
    """

    random: random.Random
    lines: list[str] = field(default_factory=list)
    pool: dict[str, list[str]] = field(default_factory=dict)
    block: str = "entry"
    count: int = 0

    def fresh(self, stem: str = "v") -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def put(self, kind: str, text: str) -> str:
        """A new value."""
        name = f"%{self.fresh()}"
        self.lines.append(f"  {name} = {text}")
        self.pool.setdefault(kind, []).append(name)
        return name

    def hidden(self, text: str) -> str:
        """A value that nothing else uses."""
        name = f"%{self.fresh()}"
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    def any(self, kind: str) -> str:
        """A value of a type: a recent one, or a constant."""
        known = self.pool.get(kind, [])
        if known and self.random.random() < 0.9:
            return known[max(int(len(known) * self.random.random() ** 0.5), 0)]
        return self.constant(kind)

    def constant(self, kind: str) -> str:
        if kind in ("half", "float", "double"):
            return self.random.choice(("0.0", "1.0", "-1.0", "0.5", "3.0", "-1024.0", "0.0078125"))
        if kind.startswith("<"):
            return "zeroinitializer"
        bits = WIDTH[kind]
        if bits == 1:
            return self.random.choice(("true", "false"))
        edges = (0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 7, self.random.getrandbits(bits - 1))
        return str(self.random.choice(edges))

    def known(self, kinds: tuple[str, ...]) -> str:
        """A type of which there are values."""
        return self.random.choice([kind for kind in kinds if self.pool.get(kind)] or [kinds[0]])

    # ---- single values

    def step(self) -> None:
        """One more value."""
        getattr(self, self.random.choice(STATEMENTS))()

    def arithmetic(self) -> None:
        kind = self.known(INTEGERS)
        operation = self.random.choice(("add", "sub", "mul", "and", "or", "xor"))
        self.put(kind, f"{operation} {kind} {self.any(kind)}, {self.any(kind)}")

    def shift(self) -> None:
        kind = self.known(INTEGERS)
        amount = self.hidden(f"and {kind} {self.any(kind)}, {WIDTH[kind] - 1}")
        self.put(kind, f"{self.random.choice(('shl', 'lshr', 'ashr'))} {kind} {self.any(kind)}, {amount}")

    def division(self) -> None:
        kind = self.known(INTEGERS)
        positive = self.hidden(f"lshr {kind} {self.any(kind)}, {self.random.randrange(1, WIDTH[kind])}")
        divisor = self.hidden(f"or {kind} {positive}, 1")
        if self.random.random() < 0.3:
            divisor = str(self.random.choice((3, 7, 10, 100, -5, 64)))
        operation = self.random.choice(("udiv", "urem", "sdiv", "srem"))
        self.put(kind, f"{operation} {kind} {self.any(kind)}, {divisor}")

    def compare(self) -> None:
        if self.random.random() < 0.4:
            kind = self.known(FLOATS)
            self.put("i1", f"fcmp {self.random.choice(ORDERED)} {kind} {self.any(kind)}, {self.any(kind)}")
        else:
            kind = self.known(INTEGERS)
            self.put("i1", f"icmp {self.random.choice(SIGNED)} {kind} {self.any(kind)}, {self.any(kind)}")

    def choose(self) -> None:
        kind = self.known((*INTEGERS, *FLOATS, *VECTORS))
        self.put(kind, f"select i1 {self.any('i1')}, {kind} {self.any(kind)}, {kind} {self.any(kind)}")

    def resize(self) -> None:
        to = self.random.choice(INTEGERS)
        kind = self.known(("i1", *INTEGERS))
        if WIDTH[to] == WIDTH[kind]:
            return
        operation = "trunc" if WIDTH[to] < WIDTH[kind] else self.random.choice(("zext", "sext"))
        self.put(to, f"{operation} {kind} {self.any(kind)} to {to}")

    def count_bits(self) -> None:
        kind = self.known(INTEGERS)
        name = self.random.choice(("ctpop", "ctlz", "cttz", "bitreverse", "bswap", "abs"))
        if name == "bswap" and kind == "i8":
            return
        more = ", i1 false" if name in ("ctlz", "cttz", "abs") else ""
        self.put(kind, f"call {kind} @llvm.{name}.{kind}({kind} {self.any(kind)}{more})")

    def overflow(self) -> None:
        kind = self.known(INTEGERS)
        a, b = self.any(kind), self.any(kind)
        if self.random.random() < 0.5:
            names = ("smax", "smin", "umax", "umin", "uadd.sat", "usub.sat", "sadd.sat", "ssub.sat")
            self.put(kind, f"call {kind} @llvm.{self.random.choice(names)}.{kind}({kind} {a}, {kind} {b})")
            return
        name = self.random.choice(
            ("uadd", "usub", "sadd", "ssub", *(("umul", "smul") if kind != "i128" else ()))
        )
        both = f"{{ {kind}, i1 }}"
        pair = self.hidden(f"call {both} @llvm.{name}.with.overflow.{kind}({kind} {a}, {kind} {b})")
        self.put(kind, f"extractvalue {both} {pair}, 0")
        self.put("i1", f"extractvalue {both} {pair}, 1")

    def funnel(self) -> None:
        kind = self.known(("i32", "i64", "i16", "i8"))
        name = self.random.choice(("fshl", "fshr"))
        operands = ", ".join(f"{kind} {self.any(kind)}" for _ in range(3))
        self.put(kind, f"call {kind} @llvm.{name}.{kind}({operands})")

    def floating(self) -> None:
        kind = self.known(FLOATS)
        a, b = self.any(kind), self.any(kind)
        name = self.random.choice(OPERATIONS)
        if kind == "half" and name in ("fdiv", "fma", "sqrt", "minimum", "maximum"):
            name = "fadd"
        if name == "fneg":
            self.put(kind, f"fneg {kind} {a}")
        elif name == "fma":
            operands = ", ".join(f"{kind} {x}" for x in (a, b, self.any(kind)))
            self.put(kind, f"call {kind} @llvm.fma.{suffix(kind)}({operands})")
        elif name in ("fabs", "sqrt"):
            self.put(kind, f"call {kind} @llvm.{name}.{suffix(kind)}({kind} {a})")
        elif name in ("minimum", "maximum"):
            self.put(kind, f"call {kind} @llvm.{name}.{suffix(kind)}({kind} {a}, {kind} {b})")
        else:
            self.put(kind, f"{name} {kind} {a}, {b}")

    def round(self) -> None:
        kind = self.known(("float", "double"))
        a = self.any(kind)
        if self.random.random() < 0.2:
            sign = self.number(kind)
            self.put(kind, f"call {kind} @llvm.copysign.{suffix(kind)}({kind} {a}, {kind} {sign})")
            return
        name = self.random.choice(("floor", "ceil", "trunc", "rint", "roundeven"))
        self.put(kind, f"call {kind} @llvm.{name}.{suffix(kind)}({kind} {a})")

    def number(self, kind: str) -> str:
        """A value of a floating-point type that is no NaN."""
        value = self.any(kind)
        bad = self.hidden(f"fcmp uno {kind} {value}, {value}")
        return self.hidden(f"select i1 {bad}, {kind} 1.0, {kind} {value}")

    def convert(self) -> None:
        which = self.random.randrange(4)
        kind = self.known(FLOATS)
        whole = self.random.choice(("i8", "i16", "i32", "i64"))
        if which == 0:
            name = self.random.choice(("fptosi", "fptoui"))
            wide = "float" if kind == "half" else kind
            value = self.any(kind)
            if kind == "half":
                value = self.hidden(f"fpext half {value} to float")
            self.put(whole, f"call {whole} @llvm.{name}.sat.{whole}.{suffix(wide)}({wide} {value})")
        elif which == 1:
            to = self.random.choice(("float", "double"))
            self.put(to, f"{self.random.choice(('sitofp', 'uitofp'))} {whole} {self.any(whole)} to {to}")
        elif which == 2:
            to = self.random.choice(FLOATS)
            if WIDTH[to] != WIDTH[kind] and not (kind == "double" and to == "half"):
                operation = "fpext" if WIDTH[to] > WIDTH[kind] else "fptrunc"
                self.put(to, f"{operation} {kind} {self.any(kind)} to {to}")
        else:
            self.put("i1", f"trunc {whole} {self.any(whole)} to i1")

    def reinterpret(self) -> None:
        kind = self.random.choice(("half", "float", "double"))
        whole = f"i{WIDTH[kind]}"
        if self.random.random() < 0.5:
            self.put(whole, f"bitcast {kind} {self.number(kind)} to {whole}")
        else:
            self.put(kind, f"bitcast {whole} {self.any(whole)} to {kind}")

    def vector(self) -> None:
        kind = self.random.choice(VECTORS)
        count, element = int(kind[1]), kind[5:-1]
        known = self.pool.get(kind)
        if not known or self.random.random() < 0.3:
            value = "zeroinitializer" if not known else known[-1]
            for lane in range(count):
                value = self.hidden(
                    f"insertelement {kind} {value}, {element} {self.any(element)}, i32 {lane}"
                )
            self.pool.setdefault(kind, []).append(value)
            return
        match self.random.randrange(4):
            case 0:
                self.put(
                    element, f"extractelement {kind} {self.any(kind)}, i32 {self.random.randrange(count)}"
                )
            case 1:
                mask = ", ".join(f"i32 {self.random.randrange(2 * count)}" for _ in range(count))
                both = f"{kind} {self.any(kind)}, {kind} {self.any(kind)}"
                self.put(kind, f"shufflevector {both}, <{count} x i32> <{mask}>")
            case 2 if element == "i8":
                self.put("i32", f"bitcast {kind} {self.any(kind)} to i32")
            case _:
                names = (
                    ("fadd", "fsub", "fmul")
                    if element in FLOATS
                    else ("add", "sub", "mul", "and", "or", "xor")
                )
                self.put(kind, f"{self.random.choice(names)} {kind} {self.any(kind)}, {self.any(kind)}")

    # ---- memory

    def array(self) -> None:
        """A word of an array in local memory, by an index of the program's own."""
        index = self.hidden(f"and i32 {self.any('i32')}, 7")
        place = self.hidden(f"getelementptr i32, ptr %words, i32 {index}")
        if self.random.random() < 0.5:
            self.lines.append(f"  store i32 {self.any('i32')}, ptr {place}, align 4")
        else:
            self.put("i32", f"load i32, ptr {place}, align 4")

    def bytes(self) -> None:
        """A value of any width at any byte of another array."""
        kind = self.known(("i8", "i16", "i32", "i64"))
        offset = self.random.randrange(24)
        place = self.hidden(f"getelementptr i8, ptr %bytes, i32 {offset}")
        align = offset & -offset or 8
        if self.random.random() < 0.5:
            self.lines.append(f"  store {kind} {self.any(kind)}, ptr {place}, align {min(align, 8)}")
        else:
            self.put(kind, f"load {kind}, ptr {place}, align {min(align, 8)}")


def suffix(kind: str) -> str:
    """How intrinsics name a floating-point type."""
    return f"f{WIDTH[kind]}"
