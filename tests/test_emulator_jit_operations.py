"""Each form that the `jit` extra compiles against the numpy function that defines it, bit for bit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pure_operations import decode, decoded, nameless, statements

pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")

import ptxkit.emulator.jit.lowerings
import ptxkit.emulator.operations
from ptxkit.asm.decode import Decoded
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.code import Computation
from ptxkit.emulator.jit import stretch
from ptxkit.emulator.jit.lowering import LOWERINGS, find
from ptxkit.emulator.jit.stretch import Stretch
from ptxkit.emulator.operands import SourceOperand, TargetOperand
from ptxkit.emulator.operation import operation_of
from ptxkit.emulator.values import RAW, WARP, constant, dtype_of, raw_dtype, writer
from ptxkit.isa.notation import Form
from ptxkit.isa.registry import forms as rows
from ptxkit.isa.registry import opcodes

assert ptxkit.emulator.operations
assert ptxkit.emulator.jit.lowerings


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Compile however little there is to do."""
    monkeypatch.setattr(stretch, "CALL_COST", 0)


SCALARS = ("u16", "u32", "u64", "s16", "s32", "s64")
WORDS = tuple(f"{kind}{size}" for kind in "bus" for size in (16, 32, 64))
INTEGERS = tuple(f"{kind}{size}" for kind in "us" for size in (8, 16, 32, 64))
ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
FLOATING = (*ORDERED, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")

FORMS = [
    *(f"{opcode}.{kind}" for opcode in ("add", "sub", "min", "max") for kind in SCALARS),
    *(f"{opcode}.lo.{kind}" for opcode in ("mul", "mad") for kind in SCALARS),
    *(f"{o}.{part}.{k}" for o in ("mul", "mad") for part in ("hi", "wide") for k in SCALARS if "64" not in k),
    *(f"{opcode}.{kind}" for opcode in ("abs", "neg") for kind in ("s16", "s32", "s64", "f32", "f64")),
    *("abs.ftz.f32", "neg.ftz.f32"),
    *(f"{opcode}.{kind}" for opcode in ("popc", "brev", "bfi") for kind in ("b32", "b64")),
    *("bfe.u32", "bfe.u64"),
    *(f"clmad.{half}.{kind}" for half in ("lo", "hi") for kind in ("u64", "s64")),
    *(f"dp4a.{a}.{b}" for a in ("u32", "s32") for b in ("u32", "s32")),
    *(f"{opcode}.{kind}" for opcode in ("and", "or", "xor", "not") for kind in ("pred", "b16", "b32", "b64")),
    *(f"{opcode}.{kind}" for opcode in ("cnot", "shl", "shr") for kind in ("b16", "b32", "b64")),
    *(f"shr.{kind}" for kind in SCALARS),
    *(f"shf.{side}.{mode}.b32" for side in "lr" for mode in ("clamp", "wrap")),
    "prmt.b32",
    *(f"mov.{kind}" for kind in (*WORDS, "pred", "f32", "f64")),
    *(f"cvta.{space}.u64" for space in ("global", "shared", "local", "const", "param")),
    *(f"cvta.to.{space}.u64" for space in ("global", "shared", "local")),
    *(f"setp.{operator}.{kind}" for operator in ("eq", "ne") for kind in WORDS),
    *(f"setp.{operator}.{kind}" for operator in ORDERED for kind in SCALARS),
    *(f"setp.{operator}.u32" for operator in ("lo", "ls", "hi", "hs")),
    *(f"setp.{operator}.{kind}" for operator in FLOATING for kind in ("f32", "f64")),
    *(f"setp.lt.{boolean}.s32" for boolean in ("and", "or", "xor")),
    *(f"selp.{kind}" for kind in (*WORDS, "f32", "f64")),
    *(f"{o}{mode}.{k}" for o in ("add", "sub", "mul") for mode in ("", ".rn") for k in ("f32", "f64")),
    *(f"{opcode}.rn.ftz.f32" for opcode in ("add", "sub")),
    *(f"{opcode}.f32x2" for opcode in ("add", "sub", "mul")),
    *("fma.rn.f32", "fma.rn.f64", "fma.rn.f32x2", "mad.rn.f32", "mad.rn.f64"),
    *("div.rn.f32", "div.rn.f64", "div.full.f32", "div.full.ftz.f32"),
    *(f"{opcode}.rn.{kind}" for opcode in ("rcp", "sqrt") for kind in ("f32", "f64")),
    *(f"{opcode}.approx{mode}.f32" for opcode in ("rcp", "sqrt") for mode in ("", ".ftz")),
    *(f"{opcode}{mode}.f32" for opcode in ("min", "max") for mode in ("", ".ftz", ".NaN", ".ftz.NaN")),
    *("min.f64", "max.f64", "copysign.f32", "copysign.f64"),
    *(f"{o}{mode}.{k}" for o in ("add", "sub", "mul") for mode in ("", ".rn") for k in ("f16", "f16x2")),
    *("fma.rn.f16", "fma.rn.f16x2"),
    *(f"cvt.{to}.{source}" for to in INTEGERS for source in INTEGERS),
    *(f"cvt.rn.{to}.{source}" for to in ("f32", "f64") for source in INTEGERS),
    *(f"cvt.rzi.{to}.f32" for to in INTEGERS if "64" not in to),
    *("cvt.f32.f16", "cvt.f32.bf16", "cvt.rn.f32.f64"),
    *("cvt.rn.f16.f32", "cvt.rn.bf16.f32", "cvt.rn.f16x2.f32", "cvt.rn.bf16x2.f32"),
    *("cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2", "cvt.rn.f16x2.e2m1x2"),
]  # fmt: skip

FEWER = [(f"{o}{mode}.f32", 2) for o in ("min", "max") for mode in ("", ".ftz", ".NaN", ".ftz.NaN")]
"""Forms of which another has more operands, with how many they read."""

EDGES = {
    8: [0, 1, 0x7F, 0x80, 0xFF],
    16: [0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7FFF, 0x8000, 0x8001, 0xBC00, 0xFC00, 0xFFFF],
    32: [
        0, 1, 2, 31, 32, 33, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0x800001,
        0x3F800000, 0x38800000, 0x387FC000, 0x33000000, 0x33000001, 0x477FEFFF, 0x477FF000, 0x4B000000,
        0x4F000000, 0x4EFFFFFF, 0x5F000000, 0x7F7FFFFF, 0x7F7F8000, 0x7F800000, 0x7F800001, 0x7FC00000,
        0x7FFFFFFF, 0x80000000, 0x80000001, 0x80800000, 0xBF800000, 0xCF000000, 0xFF7FFFFF, 0xFF800000,
        0xFFC00000, 0xFFFFFFFF,
    ],
    64: [
        0, 1, 63, 64, 65, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 32, 0x000FFFFFFFFFFFFF, 0x0010000000000000,
        0x3FF0000000000000, 0x36A0000000000000, 0x380FFFFFF0000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000,
        0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001, 0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF,
        0x8000000000000000, 0xBFF0000000000000, 0xFFF0000000000000, 0xFFFFFFFFFFFFFFFF,
    ],
}  # fmt: skip
"""Words where something changes: ends of ranges, infinities, NaN, ties, shift amounts about the width."""


def words(random: np.random.Generator, bits: int, shape: tuple[int, ...]) -> Any:
    """Random words of registers: any bits, small numbers, and edges, alone and beside their neighbours."""
    if bits == 1:
        return random.integers(0, 2, shape).astype(bool)
    dtype = RAW[bits]
    anything = random.integers(0, 1 << 63, shape, np.uint64) * np.uint64(2) + random.integers(
        0, 2, shape, np.uint64
    )
    edges = np.array(EDGES[bits], np.uint64)[random.integers(0, len(EDGES[bits]), shape)]
    # Packed halves have edges, too.
    halves = np.array(EDGES[16], np.uint64)
    packed = sum(halves[random.integers(0, len(halves), shape)] << np.uint64(16 * i) for i in range(4))
    near = edges + random.integers(0, 5, shape, np.uint64) - np.uint64(2)
    choice = random.integers(0, 6, shape)
    return np.choose(choice, [anything, anything, edges, near, packed, anything & np.uint64(63)]).astype(
        dtype
    )


def both_ways(
    text: str, values: dict[int, Any], rows: int, constants: dict[int, int], **operands: Any
) -> None:
    """Run a form compiled and by numpy on values of its sources; results, shapes and types must agree."""
    form = decoded(text, **operands)
    assert form is not None
    operation, lowering = operation_of(form), find(form)
    assert operation is not None
    assert lowering is not None, f"`{text}` is not compiled"
    sources, widths, arguments = [], [], []
    for number, kind in enumerate(operation.sources):
        dtype, bits = dtype_of(kind), DTYPES[kind].bits
        if number in constants:
            value = constant(constants[number], kind)
            sources.append(SourceOperand(dtype, bits, value=value))
            arguments.append(value)
        else:
            sources.append(SourceOperand(dtype, bits, slot=len(widths)))
            arguments.append(values[number].view(dtype))
            widths.append(8 * dtype.itemsize if dtype.kind != "b" else 1)
    registers = [value for number, value in values.items() if number not in constants]
    targets = []
    for kind in operation.results:
        bits = max(8, 8 * raw_dtype(DTYPES[kind].bits).itemsize) if kind != "pred" else 1
        targets.append(TargetOperand(len(widths), bits))
        widths.append(bits)
    if len(targets) == 1 and targets[0].bits in (8, 16, 32):
        # The same result extended into a wider register.
        wide = 2 * targets[0].bits
        targets[0] = TargetOperand(targets[0].slot, wide, writer(wide, operation.results[0]))
        widths[-1] = wide
    computation = Computation(form, operation, sources, targets, None)
    made = Stretch([computation], [lowering], [], [], widths, -1)
    group = SimpleNamespace(undefined={}, n=rows, regs=[*registers, *[None] * len(targets)])
    made(group)
    with np.errstate(all="ignore"):
        expected = operation.function(*arguments)
    results = expected if isinstance(expected, tuple) else (expected,)
    for target, result in zip(targets, results, strict=True):
        if target.convert is not None:
            result = target.convert(result)
        found = group.regs[target.slot]
        assert found.shape == np.shape(result)
        assert found.dtype.itemsize == result.dtype.itemsize
        plain = f"u{result.dtype.itemsize}"
        same = np.asarray(found).view(plain) == np.asarray(result).view(plain)
        if not np.all(same):
            at = np.unravel_index(np.argmin(same), np.shape(same))
            operands_there = [
                hex(int(np.broadcast_to(v, (rows, WARP))[at].view(f"u{v.dtype.itemsize}"))) for v in arguments
            ]
            raise AssertionError(
                f"`{text}` of {operands_there}: expected {int(result.view(plain)[at]):#x}, "
                f"found {int(found.view(plain)[at]):#x}"
            )


def sources_of(text: str, random: np.random.Generator, shapes: Any, **operands: Any) -> dict[int, Any]:
    operation = decode(text, **operands)
    made = {}
    for number, kind in enumerate(operation.sources):
        dtype = dtype_of(kind)
        bits = 1 if kind == "pred" else 8 * dtype.itemsize
        made[number] = words(random, bits, shapes(number))
    return made


@pytest.mark.parametrize("text", FORMS)
def test_compiled_form_has_numpys_bits(text):
    rows = 96
    values = sources_of(text, np.random.default_rng(len(text)), lambda number: (rows, WARP))
    both_ways(text, values, rows, {})


@pytest.mark.parametrize(("text", "reads"), FEWER)
def test_compiled_form_with_fewer_operands(text, reads):
    rows = 96
    values = sources_of(text, np.random.default_rng(4), lambda number: (rows, WARP), reads=reads)
    both_ways(text, values, rows, {}, reads=reads)


def compared_rows() -> set[Form]:
    """The rows of every form that is compared."""
    forms = [decoded(text) for text in FORMS]
    forms += [decoded(text, reads=reads) for text, reads in FEWER]
    forms += [decoded(text, vectors=counts) for text, *counts in PACKED]
    forms += [decoded(text, immediates=immediates(constants)) for text, constants in CONSTANTS]
    return {form.row for form in forms}


def untested(tested: set[Form]) -> list[str]:
    """The rows of which something is compiled, and no form is tested; names, none of whose rows is."""
    names = {(row.chapter, row.name) for row in tested}
    found = [
        f"`{row.syntax}`"
        for opcode in opcodes()
        for row in rows(opcode)
        if (row.chapter, row.name) in LOWERINGS and row not in tested
        if any(form.row is row and find(form) is not None for form in map(Decoded, statements(row)))
    ]
    return found + [f"`{name}` of chapter {chapter}" for chapter, name in set(LOWERINGS) - names]


def test_every_lowering_is_tested():
    tested = compared_rows()
    assert not nameless(LOWERINGS)
    assert not untested(tested), "add a form to FORMS, one with a constant operand to CONSTANTS"
    two, lop3 = decoded("min.f32", reads=2).row, decoded("lop3.b32").row
    assert untested(tested - {two, lop3}) == [f"`{two.syntax}`", "`lop3` of chapter logic"]


@pytest.mark.parametrize(
    "text", ["cvt.f32.f16", "cvt.f32.bf16", "cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2"]
)
def test_every_code_of_16_bits(text):
    rows = 2048
    both_ways(text, {0: np.arange(1 << 16, dtype=np.uint16).reshape(rows, WARP)}, rows, {})


PACKED = [
    ("mov.b32", 0, 2), ("mov.b32", 2, 0), ("mov.b64", 0, 2), ("mov.b64", 2, 0), ("mov.b64", 0, 4),
    ("mov.b64", 4, 0), ("mov.v2.u32", 2, 2), ("mov.b16", 2, 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "pieces", "packed"), PACKED)
def test_packing(text, pieces, packed):
    rows = 8
    vectors = {"vectors": (pieces, packed)}
    values = sources_of(text, np.random.default_rng(1), lambda number: (rows, WARP), **vectors)
    both_ways(text, values, rows, {}, **vectors)


TABLES = (0x01, 0x1E, 0x2A, 0x40, 0x6A, 0x80, 0x96, 0xAA, 0xC0, 0xCA, 0xE8, 0xF8, 0xFE)


@pytest.mark.parametrize(
    "table", [*TABLES, *(pytest.param(t, marks=pytest.mark.slow) for t in range(1, 255) if t not in TABLES)]
)
def test_three_input_logic(table):
    rows = 2
    operands = {"immediates": (None, None, None, None, table)}
    values = sources_of("lop3.b32", np.random.default_rng(table), lambda number: (rows, WARP), **operands)
    both_ways("lop3.b32", values, rows, {}, **operands)


CONSTANTS = [
    *((f"{o}.b{bits}", {1: n}) for o in ("shl", "shr") for bits in (16, 32, 64) for n in (0, 3, 16, 70)),
    *((f"shr.s{bits}", {1: amount}) for bits in (16, 32, 64) for amount in (0, 3, 15, 16, 32, 64, 70)),
    *((f"shf.{side}.clamp.b32", {2: n}) for side in "lr" for n in (0, 5, 32, 40)),
    *((f"shf.{side}.wrap.b32", {2: n}) for side in "lr" for n in (0, 5, 32, 40)),
    *((f"bfe.{kind}", {1: 4, 2: length}) for kind in ("u32", "u64") for length in (0, 8, 64, 256)),
    *((f"bfi.{kind}", {2: 4, 3: length}) for kind in ("b32", "b64") for length in (0, 8, 64, 256)),
    *(("prmt.b32", {2: selectors}) for selectors in (0x3210, 0x5410, 0x7632, 0xBA98, 0x0123)),
    ("prmt.b32", {0: 0x0C080604, 1: 0x7D7E7F80}),
    ("add.f32", {1: 0x7F800001}), ("mul.f32", {0: 0x00000001}), ("setp.lt.f32", {1: 0x7FC00000}),
    ("min.s16", {1: 0x8000}), ("cvt.s64.s8", {0: 0x80}), ("selp.b32", {0: 1, 1: 0}),
    *(("lop3.b32", {3: table}) for table in (0x01, 0x96, 0xCA)),
]  # fmt: skip
"""Forms with constants, by the operand's number among those that are read."""


def immediates(constants: dict[int, int]) -> list[int | None]:
    """What `decoded` takes for them: the destination comes first."""
    return [None, *(constants.get(number) for number in range(4))]


@pytest.mark.parametrize(("text", "constants"), CONSTANTS)
def test_constant_operands(text, constants):
    rows = 16
    operands = {"immediates": immediates(constants)}
    values = sources_of(text, np.random.default_rng(2), lambda number: (rows, WARP), **operands)
    both_ways(text, values, rows, constants, **operands)


SHAPES = [(), (1, WARP), (6, 1), (6, WARP)]


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", SHAPES)
@pytest.mark.parametrize(
    "text", ["add.u32", "setp.lt.s64", "mad.wide.u16", "fma.rn.f32", "prmt.b32", "and.pred"]
)
def test_shapes_are_numpys(text, first, second):
    random = np.random.default_rng(3)
    values = sources_of(text, random, lambda number: (first, second, ())[number])
    both_ways(text, {k: v if v.ndim else v[()] for k, v in values.items()}, 6, {})
