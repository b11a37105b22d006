"""Statements made from the rows of the instruction set (`compare.cases`, `compare.atomics`).

Left out are forms whose results are not determined to the last bit, and floating-point sums and products
without a rounding modifier, which the driver's compiler may contract (PTX ISA 9.7.3.3).
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence

from compare import judge
from compare.approximate import is_approximate
from compare.cases import Case, Register
from compare.chains.model import POOL
from compare.chains.writer import EVERY, Writer
from compare.values import SPARSE, SPARSE_PAIRS

_REGISTER = re.compile(r"%([io]\d+[lhb]?|oc|im|om|[ct])(?!\w)")
MASKED = frozenset("vote match redux elect".split())
"""Opcodes of a warp that any of its lanes can execute together."""
SWAPPED = frozenset("add sub mul fma mad min max".split())
"""Opcodes of f64 whose operands ptxas swaps, so that of two NaN the other one is handed on."""
FOLDED = frozenset("neg abs".split())
"""Opcodes of floats that ptxas makes a part of the statement that reads their result, or of a selection where
they are guarded, so that a NaN stays as it is."""


def fit(case: Case) -> bool:
    """Whether a statement may take part in a chain."""
    widths = {register.bits for register in (*case.inputs, *case.outputs)}
    unrounded = (
        case.opcode in ("add", "sub", "mul")
        and not {"rn", "rz", "rm", "rp"} & set(case.modifiers)
        and any(judge.element(register.type) in judge.NAN for register in case.outputs)
    )
    carry = "cc" in case.modifiers or case.opcode in ("addc", "subc", "madc")
    # A third operand of `and`, `or`, `xor`, `exch` must be declared as f64.
    third = case.opcode == "atom" and "cas" not in case.modifiers and ", c" in case.row.partition("{,")[0]
    chosen = case.opcode == "activemask"
    alone = unrounded or carry or third or chosen or is_approximate(case) or misread(case)
    return widths <= set(POOL) and not alone


def misread(case: Case) -> bool:
    """Whether ptxas 13.0 and driver 580.159.04 lose track of a statement's result: that of `set` to f16 or
    bf16. Read as a 16-bit integer it keeps what the upper half of its 32-bit register holds, and a conversion
    of its bits, whatever type they are taken for, gives the 0 or 1 that it was made from."""
    return case.opcode == "set" and any(register.type in ("f16", "bf16") for register in case.outputs)


def loses_its_guard(case: Case) -> bool:
    """Whether ptxas 13.0 and later and driver 580.159.04 guard only a part of what they make of a statement:
    of `set` the comparison but not the conversion of its result, of `testp` the first test alone. Lanes that
    are switched off get another value."""
    return case.opcode in ("set", "testp")


def video(case: Case) -> bool:
    """Whether ptxas may lose the guard of a statement: the last of the additions that it makes of
    `vsub4.add` stood unguarded in one chain of 3,200."""
    return case.opcode.startswith("v") and case.opcode != "vote"


def loses_the_flag(case: Case) -> bool:
    """Whether ptxas 13.0 at level 0 loses the carry flag at a statement: at a division of 64-bit integers, a
    routine of which uses the flag's predicate. A chain that only a higher level computes wrongly would then
    agree at no level."""
    return case.opcode in ("div", "rem") and any(register.type in ("u64", "s64") for register in case.outputs)


def retyped(case: Case, register: Register) -> bool:
    """Whether ptxas 13.0 and driver 580.159.04 take a result for more than its bits, and read it wrongly.

    What was computed as a float, or converted, is converted once more where a shift amount, a narrower store
    or a conversion of another type reads it; comparisons are folded into those that read them, without
    `.ftz`, and so is the predicate of `lop3`. Behind `xor` with a zero that ptxas doesn't know a result is
    bits.
    """
    return judge.element(register.type) in judge.NAN or case.opcode in ("cvt", "set", "lop3")


def overwritten(case: Case) -> bool:
    """Whether ptxas 13.0 and driver 580.159.04 write results of a statement before they have read all that it
    reads: `mma` of 8-bit floats for sm_90, whose sums are added to C element by element. Where an element of
    D has the register of a later one of C, that one is lost."""
    return case.opcode == "mma" and bool({"e4m3", "e5m2"} & set(case.modifiers))


class Deck:
    """Statements, dealt so that every opcode comes often, and of it every spelling as often as others.

    Args:
        cases: those that fit are taken.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        self.spellings: dict[str, dict[str, list[Case]]] = {}
        for case in cases:
            if fit(case):
                self.spellings.setdefault(case.opcode, {}).setdefault(case.spelling, []).append(case)
        # Opcodes with many spellings more often, but far from as often as they have spellings.
        self.opcodes = list(self.spellings)
        self.names = {opcode: list(found) for opcode, found in self.spellings.items()}
        self.weights = list(itertools.accumulate(len(found) ** 0.5 for found in self.names.values()))

    def deal(self, random_: random.Random) -> Case:
        """One of them."""
        (opcode,) = random_.choices(self.opcodes, cum_weights=self.weights)
        return random_.choice(self.spellings[opcode][random_.choice(self.names[opcode])])


def possible(writer: Writer, case: Case) -> bool:
    """Whether those who are here can execute a statement."""
    here = writer.here
    if here.guard:
        lost = loses_its_guard(case) or video(case)
        return not case.of_warp and not lost and not case.temporary
    if case.of_warp:
        return here.whole_warp or (case.opcode in MASKED and "mask" in {r.type for r in case.inputs})
    return True


def statement(writer: Writer, case: Case) -> None:
    """Write a statement with registers of the chain."""
    names: dict[str, str] = {}
    lines: list[str] = []
    sources = _sources(writer, case)
    for register in case.inputs:
        if register.type == "mask":
            names[register.name] = writer.here.mask or EVERY
        elif register.type == "lane":
            names[register.name] = "%x"
            lines.append(f"and.b32 %x, {writer.source(32)}, 31;")
        elif register.type == "metadata":
            names[register.name] = "%x"
            nibbles = SPARSE_PAIRS if "tf32" in case.modifiers else SPARSE
            word = sum(int(writer.random.choice(list(nibbles))) << 4 * place for place in range(8))
            lines.append(f"mov.b32 %x, {word:#010x};")
        else:
            names[register.name] = sources[register.name]
    written: list[tuple[Register, str]] = []
    for register in case.outputs:
        besides = [name for _, name in written]
        if case.opcode == "setp":
            # Of one that reads its own result in a loop ptxas takes the first turn's for all.
            besides += names.values()
        name = writer.target(register.bits, besides)
        names[register.name] = name
        written.append((register, name))
    for register in case.inputs:
        if register.name in sources:
            names[register.name] = _apart(writer, case, register, names, lines)
    names["t"] = "%y"
    for register in case.temporary:
        names.setdefault(register.name, f"%{register.name}")
    open_, why = "", ""
    if case.memory:
        lines += _atomic(writer, case, names)
    elif case.opcode in SWAPPED and case.outputs[0].type == "f64":
        open_, why = writer.fresh("t", "pred"), "swapped"
        lines += two_nans(open_, [names[register.name] for register in case.inputs])
    declared = [f".reg .{r.declared} %{r.name};" for r in case.temporary if r.name != "t"]
    for text in (*case.before, case.text, *case.after):
        lines.append(_REGISTER.sub(lambda found: names[found[1]], text))
    if declared:
        lines = ["{", *declared, *lines, "}"]
    after: list[str] = []
    if why == "swapped":
        after = [f"selp.b64 {written[0][1]}, 0x7ff8000000000000, {written[0][1]}, {open_};"]
    elif case.opcode in FOLDED and judge.element(written[0][0].type) in judge.NAN:
        ((register, name),) = written
        open_, why = writer.fresh("t", "pred"), "folded"
        lines += a_nan(register.type, name, open_)
        after = one_nan(register.type, name)
    for register, name in written:
        if register.bits > 1 and retyped(case, register):
            after.append(as_bits(name, register.bits))
    together = case.of_warp
    if together:
        lines = [f"bar.warp.sync {writer.here.mask};", *lines]
    results = [(name, register.bits) for register, name in written]
    family = "atomics" if case.memory else "forms"
    copies: dict[str, str] = {}
    if case.opcode == "mov" and len(case.inputs) == len(case.outputs):
        read = [sources[register.name] for register in case.inputs]
        copies = {name: source for (_, name), source in zip(written, read, strict=True)}
    writer.step(family, case.spelling, lines, results, after, open_, why, together, copies)


def _sources(writer: Writer, case: Case) -> dict[str, str]:
    """Registers for the operands; different ones where ptxas would see that two are the same."""
    by_width: dict[int, list[Register]] = {}
    for register in case.inputs:
        by_width.setdefault(register.bits, []).append(register)
    found = {}
    for bits, registers in by_width.items():
        if overwritten(case):
            names = [writer.constant(bits) for _ in registers]
        elif case.opcode in ("min", "max") and judge.element(case.outputs[0].type) in judge.NAN:
            names = writer.sources(bits, len(registers))
        else:
            names = [writer.source(bits) for _ in registers]
        found |= {register.name: name for register, name in zip(registers, names, strict=True)}
    return found


def _apart(writer: Writer, case: Case, register: Register, names: dict[str, str], lines: list[str]) -> str:
    """The register for an operand: another one with its content where ptxas would misread it, or where it is
    a copy of another operand of `min` or `max`, whose NaN ptxas would hand on as it is."""
    name = names[register.name]
    if case.opcode in ("min", "max") and judge.element(case.outputs[0].type) in judge.NAN:
        others = [names[other.name] for other in case.inputs if other.name != register.name]
        if any(writer.same.get(name, name) == writer.same.get(other, other) for other in others):
            return writer.apart(name, register.bits, lines)
    return writer.read(case.spelling, name, register.bits, lines)


def as_bits(name: str, bits: int) -> str:
    """A statement behind which ptxas knows nothing of a register's content."""
    return f"xor.b{bits} {name}, {name}, %zero{bits};"


def _atomic(writer: Writer, case: Case, names: dict[str, str]) -> list[str]:
    """What an operand of an atomic addition goes through."""
    kind, added = case.inputs[0].type, case.inputs[1].name
    if case.opcode not in ("atom", "red") or "add" not in case.modifiers or "global" in case.modifiers:
        return []
    if kind == "f64":
        # In shared memory threads add, and ptxas swaps the operands: to a NaN in memory a number is added.
        operand, predicate = writer.fresh("s", "b64"), writer.fresh("t", "pred")
        lines = two_nans(predicate, [names["im"], names[added]])
        lines.append(f"selp.b64 {operand}, 0x3ff0000000000000, {names[added]}, {predicate};")
    elif kind.endswith("x2") and case.inputs[1].bits == 32:
        # In shared memory ptxas adds to the upper half what stands in the upper register of a result of 64
        # bits, of which the operand is the lower one: behind an addition it stands alone.
        operand = writer.fresh("s", "b32")
        lines = [f"add.u32 {operand}, {names[added]}, 4;"]
    else:
        return []
    names[added] = operand
    return lines


def two_nans(predicate: str, operands: Sequence[str]) -> list[str]:
    """Statements that set a predicate where two of two or three f64 are NaN."""
    first, second, *third = operands
    lines = [f"setp.nan.f64 %q, {first}, {first};", f"setp.nan.and.f64 {predicate}, {second}, {second}, %q;"]
    if third:
        (last,) = third
        lines += [
            f"setp.nan.or.f64 %q, {second}, {second}, %q;",
            f"setp.nan.and.f64 %q, {last}, {last}, %q;",
            f"or.pred {predicate}, {predicate}, %q;",
        ]
    return lines


def a_nan(type_: str, name: str, predicate: str) -> list[str]:
    """Statements that set a predicate where a register holds a NaN."""
    element = judge.element(type_)
    if element == type_:
        return [f"setp.nan.{element} {predicate}, {name}, {name};"]
    return [
        f"mov.b32 {{%lo, %hi}}, {name};",
        f"setp.nan.{element} %q, %lo, %lo;",
        f"setp.nan.or.{element} {predicate}, %hi, %hi, %q;",
    ]


def one_nan(type_: str, name: str) -> list[str]:
    """Statements that make every NaN in a register the same."""
    element = judge.element(type_)
    bits, infinity = judge.NAN[element]
    quiet = f"{infinity | infinity >> 1 | 1 << (bits // 2 - 2):#x}"
    compared = "f32" if element == "tf32" else element
    if element == type_:
        return [f"setp.nan.{compared} %q, {name}, {name};", f"selp.b{bits} {name}, {quiet}, {name}, %q;"]
    lines = [f"mov.b32 {{%lo, %hi}}, {name};"]
    for half in ("%lo", "%hi"):
        lines += [f"setp.nan.{element} %q, {half}, {half};", f"selp.b16 {half}, {quiet}, {half}, %q;"]
    return [*lines, f"mov.b32 {name}, {{%lo, %hi}};"]
