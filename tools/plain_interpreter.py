"""A plain interpretation of bench/kernels/gemv_simt.ptx: what `measure_emulator.py` compares with.

One thread runs after another, from one barrier or shuffle to the next, an instruction at a time, on Python
numbers. Each instruction is decoded once, to a function of the thread's registers. Nothing is checked but
that memory is long enough. f32 values are Python floats, all others integers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from ctypes import c_float
from typing import Any

from ptxkit.asm import tree

Registers = list[Any]
Step = Callable[[Registers], int | None]
"""One instruction: where it jumps to, a negative number to wait, None to go on."""

WARP = 32
BARRIER, SHUFFLE, EXIT = -1, -2, -3
M32 = 0xFFFF_FFFF
SHARED_AT = 1024
"""Where the dynamic shared memory begins."""


# ---- arithmetic


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _e4m3(code: int) -> float:
    exponent, fraction = code >> 3 & 15, code & 7
    if code & 127 == 127:
        return math.nan
    magnitude = fraction * 2.0**-9 if not exponent else (8 + fraction) * 2.0 ** (exponent - 10)
    return -magnitude if code >> 7 else magnitude


E4M3 = [_e4m3(code) for code in range(256)]
HALF, BITS16, BITS64, DOUBLE = (struct.Struct(f"<{letter}") for letter in "eHqd")


def _half(value: float) -> int:
    """The f16 nearest to a value, as bits."""
    try:
        packed = HALF.pack(value)
    except OverflowError:
        packed = HALF.pack(math.copysign(math.inf, value))
    return int(BITS16.unpack(packed)[0])


def _of_half(bits: int) -> float:
    return float(HALF.unpack(BITS16.pack(bits))[0])


def _fma(a: float, b: float, c: float) -> float:
    """a * b + c in f32: the product is exact in f64, the sum is rounded to odd there, then to nearest."""
    product = a * b
    total = product + c
    part = total - product
    rest = (product - (total - part)) + (c - part)
    if rest and math.isfinite(total) and not BITS64.unpack(DOUBLE.pack(total))[0] & 1:
        total = math.nextafter(total, math.copysign(math.inf, rest))
    return c_float(total).value


def _prmt(a: int, b: int, selector: int) -> int:
    table, result = a | b << 32, 0
    for i in range(4):
        choice = selector >> 4 * i & 15
        byte = table >> 8 * (choice & 7) & 255
        result |= (255 * (byte >> 7) if choice & 8 else byte) << 8 * i
    return result


def _dp4a(a: int, b: int, c: int) -> int:
    """Unsigned bytes of a times signed bytes of b."""
    for i in range(0, 32, 8):
        byte = b >> i & 255
        c += (a >> i & 255) * (byte - 256 if byte & 128 else byte)
    return c & M32


def _halves(a: int, b: int) -> int:
    low = _half(_of_half(a & 0xFFFF) * _of_half(b & 0xFFFF))
    return low | _half(_of_half(a >> 16) * _of_half(b >> 16)) << 16


VALUES: dict[str, Callable[..., Any]] = {
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "shl.b32": lambda a, b: a << b & M32 if b < 32 else 0,
    "shl.b64": lambda a, b: a << b & (1 << 64) - 1 if b < 64 else 0,
    "shr.u32": lambda a, b: a >> b,
    "shr.u64": lambda a, b: a >> b,
    "add.u32": lambda a, b: a + b & M32,
    "add.u64": lambda a, b: a + b & (1 << 64) - 1,
    "sub.u32": lambda a, b: a - b & M32,
    "sub.s32": lambda a, b: a - b & M32,
    "min.u32": min,
    "mad.lo.u32": lambda a, b, c: a * b + c & M32,
    "mul.wide.u32": lambda a, b: a * b,
    "prmt.b32": _prmt,
    "dp4a.u32.s32": _dp4a,
    "add.rn.f32": lambda a, b: c_float(a + b).value,
    "fma.rn.f32": _fma,
    "mul.rn.f16x2": _halves,
    "cvt.rn.f32.s32": lambda a: c_float(_signed(a)).value,
    "cvt.f32.f16": _of_half,
    "cvt.rn.f16.f32": _half,
    "cvt.rn.f16x2.e4m3x2": lambda a: _half(E4M3[a & 255]) | _half(E4M3[a >> 8]) << 16,
    "selp.f32": lambda a, b, c: a if c else b,
    "setp.lt.u32": lambda a, b: a < b,
    "setp.ge.u32": lambda a, b: a >= b,
    "setp.ne.u32": lambda a, b: a != b,
    "setp.eq.u32": lambda a, b: a == b,
    "setp.lt.and.u32": lambda a, b, c: a < b and c,
}
"""Instructions that compute one register from others."""


# ---- the plain interpreter


class Thread:
    """One thread: the instruction it is at, its registers, what it waits for (0: nothing)."""

    __slots__ = ("at", "registers", "waits")

    def __init__(self, registers: Registers) -> None:
        self.at, self.registers, self.waits = 0, registers, 0


class Interpreter:
    """One entry, decoded. Refuses, by a KeyError, what the kernel does not use.

    Args:
        module: the file.
        parameters: the values of the parameters, addresses for pointers.
        memory: all of global memory; its first byte is at address 0.
    """

    def __init__(self, module: tree.Module, parameters: Sequence[int], memory: bytearray) -> None:
        (entry,) = module.entries
        assert entry.body is not None
        self.memory, self.shared, self.constants = memory, bytearray(), bytearray()
        self.names: dict[str, int] = {}
        self.slots: dict[Any, int] = {}
        self.start: Registers = []
        self.shuffles: dict[int, tuple[int, int, int]] = {}
        self.executed = 0
        for variable in module.statements:
            if isinstance(variable, tree.Variable) and variable.space == "const":
                self._place(variable)
            elif isinstance(variable, tree.Variable) and variable.space == "shared":
                self.names[variable.name] = SHARED_AT
        names = [parameter.name for parameter in entry.parameters]
        self.parameters = dict(zip(names, parameters, strict=True))
        self.labels: dict[str, int] = {}
        instructions: list[tree.Instruction] = []
        for statement in entry.body.statements:
            if isinstance(statement, tree.Label):
                self.labels[statement.name] = len(instructions)
            elif isinstance(statement, tree.Instruction):
                instructions.append(statement)
        self.code = [self._decode(at, instruction) for at, instruction in enumerate(instructions)]

    def run(self, grid: tuple[int, int], threads: int, shared: int) -> None:
        """Execute CTAs one after another, each with its own shared memory."""
        for y in range(grid[1]):
            for x in range(grid[0]):
                self.shared[:] = bytes(SHARED_AT + shared)
                cta = [Thread(list(self.start)) for _ in range(threads)]
                for i, thread in enumerate(cta):
                    for name, value in (("%tid.x", i), ("%ctaid.x", x), ("%ctaid.y", y)):
                        thread.registers[self._slot(name)] = value
                while any(thread.waits != EXIT for thread in cta):
                    for thread in cta:
                        if thread.waits == 0:
                            self._advance(thread)
                    self._meet(cta)

    def _advance(self, thread: Thread) -> None:
        """Run one thread until it waits for others or exits."""
        code, registers, at, executed = self.code, thread.registers, thread.at, 0
        while True:
            step, guard, unless = code[at]
            executed += 1
            at += 1
            if guard is None or registers[guard] != unless:
                to = step(registers)
                if to is not None:
                    if to < 0:
                        break
                    at = to
        thread.at, thread.waits = at, to
        self.executed += executed

    def _meet(self, cta: list[Thread]) -> None:
        """Let threads go on that have waited for one another."""
        for first in range(0, len(cta), WARP):
            warp = cta[first : first + WARP]
            if all(thread.waits == SHUFFLE for thread in warp):
                target, source, distance = self.shuffles[warp[0].at - 1]
                values = [thread.registers[source] for thread in warp]
                for lane, thread in enumerate(warp):
                    thread.registers[target] = values[lane ^ thread.registers[distance]]
                    thread.waits = 0
        if all(thread.waits in (BARRIER, EXIT) for thread in cta):
            for thread in cta:
                thread.waits = 0 if thread.waits == BARRIER else EXIT
        elif all(thread.waits for thread in cta):
            raise RuntimeError("threads wait for one another for ever")

    # ---- decoding

    def _place(self, variable: tree.Variable) -> None:
        """A `.const` variable of 32-bit words into constant memory."""
        initializer = variable.declarators[0].initializer
        assert isinstance(initializer, tree.Vector)
        self.names[variable.name] = len(self.constants)
        for word in initializer.elements:
            assert isinstance(word, tree.Integer)
            self.constants += struct.pack("<I", word.value)

    def _slot(self, key: Any, value: Any = None) -> int:
        if key not in self.slots:
            self.slots[key] = len(self.start)
            self.start.append(value)
        return self.slots[key]

    def _operand(self, operand: tree.Operand) -> int:
        """The slot of an operand; constants and the addresses of variables have slots of their own."""
        match operand:
            case tree.Name(name, component) if name.startswith("%"):
                return self._slot(f"{name}.{component}" if component else name)
            case tree.Name(name):
                return self._slot(("constant", self.names[name]), self.names[name])
            case tree.Integer(value):
                return self._slot(("constant", value), value)
            case tree.Float(bits, 32):
                value = struct.unpack("<f", struct.pack("<I", bits))[0]
                return self._slot(("float", bits), value)
        raise KeyError(operand)

    def _decode(self, at: int, instruction: tree.Instruction) -> tuple[Step, int | None, bool]:
        guard = instruction.guard
        slot, unless = (None, False) if guard is None else (self._slot(guard.name), guard.negated)
        return self._step(at, instruction), slot, unless

    def _step(self, at: int, instruction: tree.Instruction) -> Step:
        opcode, operands = instruction.opcode, instruction.operands
        if opcode in ("ld", "st"):
            return self._access(instruction)
        if opcode == "bra":
            assert isinstance(operands[0], tree.Name)
            target = self.labels[operands[0].name]
            return lambda r: target
        if opcode in ("bar", "ret"):
            return lambda r: BARRIER if opcode == "bar" else EXIT
        if instruction.spelling == "shfl.sync.bfly.b32":
            target, source, distance = map(self._operand, operands[:3])
            self.shuffles[at] = target, source, distance
            return lambda r: SHUFFLE
        if isinstance(operands[0], tree.Vector):
            low, high = map(self._operand, operands[0].elements)
            return _unpack(low, high, self._operand(operands[1]))
        target, *sources = map(self._operand, operands)
        if opcode == "mov":
            return _move(target, sources[0])
        return _compute(VALUES[instruction.spelling], target, sources)

    def _access(self, instruction: tree.Instruction) -> Step:
        """A load or store: of a parameter, of 16 or 32 bits, or of four words."""
        space, loads = instruction.modifiers[0], instruction.opcode == "ld"
        address, other = instruction.operands[::-1] if loads else instruction.operands
        assert isinstance(address, tree.Address)
        base = address.base
        assert isinstance(base, tree.Name)
        if space == "param":
            value = self.parameters[base.name]
            return _move(self._operand(other), self._slot(("constant", value), value))
        offset = address.offset.value if isinstance(address.offset, tree.Integer) else 0
        memory = {"const": self.constants, "shared": self.shared, "global": self.memory}[space]
        elements = other.elements if isinstance(other, tree.Vector) else (other,)
        layout = struct.Struct(f"<{len(elements)}{'H' if instruction.modifiers[-1] == 'b16' else 'I'}")
        access = _load if loads else _store
        return access(memory, layout, self._operand(base), offset, [self._operand(e) for e in elements])


def _move(target: int, source: int) -> Step:
    def step(r: Registers) -> None:
        r[target] = r[source]

    return step


def _unpack(low: int, high: int, source: int) -> Step:
    def step(r: Registers) -> None:
        r[low], r[high] = r[source] & 0xFFFF, r[source] >> 16

    return step


def _compute(value: Callable[..., Any], target: int, sources: Sequence[int]) -> Step:
    a, b, c = (*sources, 0, 0)[:3]

    def one(r: Registers) -> None:
        r[target] = value(r[a])

    def two(r: Registers) -> None:
        r[target] = value(r[a], r[b])

    def three(r: Registers) -> None:
        r[target] = value(r[a], r[b], r[c])

    return (one, two, three)[len(sources) - 1]


def _load(memory: bytearray, layout: struct.Struct, base: int, offset: int, targets: list[int]) -> Step:
    def step(r: Registers) -> None:
        for target, value in zip(targets, layout.unpack_from(memory, r[base] + offset), strict=True):
            r[target] = value

    return step


def _store(memory: bytearray, layout: struct.Struct, base: int, offset: int, sources: list[int]) -> Step:
    def step(r: Registers) -> None:
        layout.pack_into(memory, r[base] + offset, *[r[source] for source in sources])

    return step
