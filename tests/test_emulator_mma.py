"""`mma` and `mma.sp` on the emulator: every shape and type, bit for bit against the reference."""

from __future__ import annotations

import matrix_kernels as matrices
import numpy as np
import pytest
from emulated import fault
from matrix_kernels import BITS, execute, from_registers, model_of, random_codes, to_registers

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.layouts import fragments

WARPS = 2


def shape_of(statement: str) -> tuple[int, int, int]:
    part = next(m for m in statement.split(".") if m.startswith("m") and m[1].isdigit())
    m, _, rest = part[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


def run(
    statement: str,
    types: tuple[str, str, str, str],
    target: str,
    random: np.random.Generator,
    container: bool = False,
) -> tuple[np.ndarray, ...]:
    """A, B, C and D as codes, of random dense matrices."""
    m, n, k = shape_of(statement)
    d_type, a_type, b_type, c_type = types
    a = random_codes(a_type, (WARPS, m, k), random)
    b = random_codes(b_type, (WARPS, k, n), random)
    c = random_codes(c_type, (WARPS, m, n), random)
    bits_a = 8 if container else BITS[a_type]
    cells = fragments.mma_cd(m)
    put_a, put_b = (
        matrices.in_container(x, t, random) if container else x for x, t in ((a, a_type), (b, b_type))
    )
    operands = [
        to_registers(put_a, fragments.mma_a(m, k, bits_a), bits_a),
        to_registers(put_b, fragments.mma_b(n, k, bits_a), bits_a),
        to_registers(c, cells, BITS[c_type]),
    ]
    width = max(BITS[d_type], 32)
    count = m * n // 32 * BITS[d_type] // width
    found = execute(statement + " {0}, {1}, {2}, {3}", operands, (count, width), target)
    return a, b, c, from_registers(found, cells, BITS[d_type], (m, n))


FLOATS = [
    (f"mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{d}", target)
    for shape, a, b, results, targets in (
        ("m16n8k8", "f16", "f16", "f16 f32", "sm_75 sm_80 sm_90"),
        ("m16n8k16", "f16", "f16", "f16 f32", "sm_80 sm_90 sm_100"),
        ("m16n8k8", "bf16", "bf16", "f32", "sm_80 sm_90"),
        ("m16n8k16", "bf16", "bf16", "f32", "sm_80 sm_89 sm_90 sm_100 sm_120a"),
        ("m16n8k4", "tf32", "tf32", "f32", "sm_80 sm_90"),
        ("m16n8k8", "tf32", "tf32", "f32", "sm_80 sm_90 sm_120a"),
        ("m16n8k16", "e4m3", "e5m2", "f16 f32", "sm_89 sm_90 sm_120a"),
        ("m16n8k32", "e5m2", "e4m3", "f16 f32", "sm_89 sm_90 sm_100 sm_120a"),
    )
    for d in results.split()
    for target in targets.split()
]


@pytest.mark.parametrize(("statement", "target"), FLOATS)
def test_floats(statement: str, target: str) -> None:
    random = np.random.default_rng(len(statement))
    d, a, b, c = statement.split(".")[-4:]
    types = (d, a, b, c)
    left, right, start, found = run(statement, types, target, random)
    wanted = matrices.floats(model_of(target, "mma", a), left, right, start, types)
    assert np.array_equal(found, wanted)


SMALL = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


@pytest.mark.parametrize("a", SMALL)
@pytest.mark.parametrize("b", SMALL)
def test_f8f6f4(a: str, b: str) -> None:
    d = "f16" if SMALL.index(a) % 2 else "f32"
    statement = f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{d}.{a}.{b}.{d}"
    left, right, start, found = run(
        statement, (d, a, b, d), "sm_120a", np.random.default_rng(1), container=True
    )
    wanted = matrices.floats(model_of("sm_120a", "mma", a), left, right, start, (d, a, b, d))
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("shape", ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"])
@pytest.mark.parametrize("mode", ["", "rn", "rz", "rm", "rp"])
def test_f64(shape: str, mode: str) -> None:
    statement = f"mma.sync.aligned.{shape}.row.col{'.' if mode else ''}{mode}.f64.f64.f64.f64"
    left, right, start, found = run(statement, ("f64",) * 4, "sm_90", np.random.default_rng(2))
    assert np.array_equal(found, matrices.doubles(left, right, start, mode or "rn"))


INTEGERS = [
    (shape, a, b)
    for kinds, shapes in (
        (("u8", "s8"), ("m8n8k16", "m16n8k16", "m16n8k32")),
        (("u4", "s4"), ("m8n8k32", "m16n8k32", "m16n8k64")),
    )
    for shape in shapes
    for a in kinds
    for b in kinds
]


@pytest.mark.parametrize(("shape", "a", "b"), INTEGERS)
@pytest.mark.parametrize("saturate", [False, True])
def test_integers(shape: str, a: str, b: str, saturate: bool) -> None:
    clamp = ".satfinite" if saturate else ""
    statement = f"mma.sync.aligned.{shape}.row.col{clamp}.s32.{a}.{b}.s32"
    random = np.random.default_rng(3)
    left, right, start, found = run(statement, ("s32", a, b, "s32"), "sm_90", random)
    assert np.array_equal(found, matrices.integers(left, right, start, (a, b), saturate))


def test_integer_sums_wrap_or_clamp() -> None:
    """127 * 127 * 32 beyond the largest accumulator."""
    for clamp, wanted in (("", 2**31 - 1 + 127 * 127 * 32), (".satfinite", 2**31 - 1)):
        statement = f"mma.sync.aligned.m16n8k32.row.col{clamp}.s32.s8.s8.s32 {{0}}, {{1}}, {{2}}, {{3}}"
        ones = np.full((1, 32, 4), 0x7F7F7F7F, np.uint32)
        c = np.full((1, 32, 4), 0x7FFFFFFF, np.uint32)
        found = execute(statement, [ones, ones[..., :2], c], (4, 32), "sm_80")
        assert (found == wanted % 2**32).all()


@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
@pytest.mark.parametrize("operator", ["xor", "and"])
def test_bits(shape: str, operator: str) -> None:
    statement = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{operator}.popc"
    left, right, start, found = run(statement, ("s32", "b1", "b1", "s32"), "sm_80", np.random.default_rng(4))
    assert np.array_equal(found, matrices.bits(left, right, start, operator))


# ---- m8n8k4: four products a warp


@pytest.mark.parametrize("layouts", [(a, b) for a in ("row", "col") for b in ("row", "col")])
@pytest.mark.parametrize("types", [("f16", "f16"), ("f32", "f16"), ("f32", "f32")])
def test_m8n8k4(layouts: tuple[str, str], types: tuple[str, str]) -> None:
    """Small integers, so that any order of summation gives the same."""
    d, c = types
    random = np.random.default_rng(5)
    kinds = {"f16": np.float16, "f32": np.float32}
    a, b, start = (
        random.integers(-9, 10, (4, *shape)).astype(np.float16) for shape in ((8, 4), (4, 8), (8, 8))
    )
    start = start.astype(kinds[c])
    lane = np.arange(32)[:, None]
    product = lane % 16 // 4

    def registers(matrix: np.ndarray, cells: fragments.Cells) -> np.ndarray:
        chosen = matrix[product, cells[0], cells[1]][None]
        return matrices.pack(
            chosen.view(np.uint16 if chosen.itemsize == 2 else np.uint32), 8 * chosen.itemsize
        )

    operands = [
        registers(a, fragments.mma_m8n8k4("a", layouts[0] == "col")),
        registers(b, fragments.mma_m8n8k4("b", layouts[1] == "col")),
        registers(start, fragments.mma_m8n8k4("c", f32=c == "f32")),
    ]
    statement = (
        f"mma.sync.aligned.m8n8k4.{layouts[0]}.{layouts[1]}.{d}.f16.f16.{c} {{0}}, {{1}}, {{2}}, {{3}}"
    )
    found = execute(statement, operands, (8 if d == "f32" else 4, 32), "sm_90").view(kinds[d])[0]
    wanted = (a.astype(np.float32) @ b.astype(np.float32) + start).astype(kinds[d])
    row, column = fragments.mma_m8n8k4("c", f32=d == "f32")
    assert np.array_equal(found, wanted[product, row, column])


# ---- sparse matrices

SPARSE_FLOATS = [
    ("m16n8k16", "f16", "f16"), ("m16n8k32", "f16", "f16"), ("m16n8k16", "f16", "f32"),
    ("m16n8k32", "f16", "f32"), ("m16n8k16", "bf16", "f32"), ("m16n8k32", "bf16", "f32"),
    ("m16n8k8", "tf32", "f32"), ("m16n8k16", "tf32", "f32"), ("m16n8k64", "e4m3", "f32"),
]  # fmt: skip
SPARSE_INTEGERS = [("m16n8k32", "s8"), ("m16n8k64", "u8"), ("m16n8k64", "s4"), ("m16n8k128", "u4")]


def run_sparse(
    name: str, types: tuple[str, str, str, str], selector: int, target: str, container: bool = False
) -> tuple[np.ndarray, ...]:
    """A with its dense K, B, C, D and which elements of A are stored."""
    m, n, k = shape_of(name)
    d_type, a_type, b_type, c_type = types
    random = np.random.default_rng(k + selector)
    bits = 8 if container else BITS[a_type]
    nibbles, where, present = matrices.sparse(k, bits, WARPS, "ordered" in name, random)
    stored = random_codes(a_type, (WARPS, m, k // 2), random)
    a = np.zeros((WARPS, m, k), stored.dtype)
    np.put_along_axis(a, where, stored, axis=2)
    b, c = random_codes(b_type, (WARPS, k, n), random), random_codes(c_type, (WARPS, m, n), random)
    put_a, put_b = (
        matrices.in_container(x, t, random) if container else x for x, t in ((stored, a_type), (b, b_type))
    )
    cells = fragments.mma_cd(m)
    operands = [
        to_registers(put_a, fragments.mma_a(m, k // 2, bits), bits),
        to_registers(put_b, fragments.mma_b(n, k, bits), bits),
        to_registers(c, cells, BITS[c_type]),
        matrices.metadata_registers(nibbles, k, bits, selector, random),
    ]
    count = 4 if BITS[d_type] == 32 else 2
    found = execute(f"{name} {{0}}, {{1}}, {{2}}, {{3}}, {{4}}, {selector}", operands, (count, 32), target)
    return a, b, c, from_registers(found, cells, BITS[d_type], (m, n)), present


def selectors(shape: str, element: str) -> list[int]:
    """The first and the last that the shape has."""
    bits = BITS[element]
    last = 4 * 4 * fragments.SPARSE_CHUNK[bits] // shape_of(shape)[2] - 1
    return sorted({0, last})


@pytest.mark.parametrize(("shape", "element", "result"), SPARSE_FLOATS)
@pytest.mark.parametrize("variant", ["sp", "sp::ordered_metadata"])
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_sparse_floats(shape: str, element: str, result: str, variant: str, target: str) -> None:
    if element == "e4m3" and target == "sm_80":
        target = "sm_89"
    types = (result, element, element, result)
    name = f"mma.{variant}.sync.aligned.{shape}.row.col.{'.'.join(types)}"
    for selector in selectors(shape, element):
        a, b, c, found, present = run_sparse(name, types, selector, target)
        # Stored pairs in any order: a step takes the same elements, and their order in it doesn't count.
        wanted = matrices.floats(model_of(target, "mma", element), a, b, c, types, present)
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize(("shape", "element"), SPARSE_INTEGERS)
@pytest.mark.parametrize("variant", ["sp", "sp::ordered_metadata"])
def test_sparse_integers(shape: str, element: str, variant: str) -> None:
    name = f"mma.{variant}.sync.aligned.{shape}.row.col.satfinite.s32.{element}.{element}.s32"
    for selector in selectors(shape, element):
        a, b, c, found, _ = run_sparse(name, ("s32", element, element, "s32"), selector, "sm_80")
        assert np.array_equal(found, matrices.integers(a, b, c, (element, element), True))


@pytest.mark.parametrize(("a", "b"), [("e4m3", "e5m2"), ("e3m2", "e2m1"), ("e2m1", "e2m3")])
def test_sparse_f8f6f4(a: str, b: str) -> None:
    types = ("f32", a, b, "f32")
    name = f"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.{'.'.join(types)}"
    left, right, start, found, present = run_sparse(name, types, 0, "sm_120a", container=True)
    wanted = matrices.floats(model_of("sm_120a", "mma", a), left, right, start, types, present)
    assert np.array_equal(found, wanted)


def test_metadata_order_is_that_of_cutlass() -> None:
    """Its host code reorders metadata words of 16 bits (f16) or 32 (narrower) for `ldmatrix`-like loads."""
    for bits, k, group, interleave in ((16, 32, 32, 4), (8, 64, 16, 2)):
        rows, words = group, 2
        memory = np.zeros((rows, words, 2), np.int64)
        for row in range(rows):
            for word in range(words):
                at, column = row // group * group + row % 8 * interleave + row % group // 8, word
                if at % 2 == 0 and column % 2 == 1:
                    at, column = at + 1, column - 1
                elif at % 2 == 1 and column % 2 == 0:
                    at, column = at - 1, column + 1
                memory[at, column] = row, word
        flat = memory.reshape(-1, 2)
        per_word = 4 if bits == 16 else 8
        lanes, shifts = fragments.mma_metadata(k, bits, 0)
        for row, chunk in np.ndindex(16, k // 4):
            if bits == 16:
                (place,) = np.flatnonzero((flat == (row, chunk // per_word)).all(axis=1))
                lane, half = divmod(int(place), 2)
                assert (lanes[row, chunk], shifts[row, chunk]) == (lane, 16 * half + 4 * (chunk % 4))
            else:
                (place,) = np.flatnonzero((flat == (row, chunk // per_word)).all(axis=1))
                assert (lanes[row, chunk], shifts[row, chunk]) == (int(place), 4 * (chunk % 8))


# ---- what is wrong with them

SPARSE = "mma.{}.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {{0}}, {{1}}, {{2}}, {{3}}, {{4}}, 1"


def sparse_text(variant: str, nibble: int, before: str = "") -> tuple[str, list[object], Emulator]:
    """Metadata that is `nibble` everywhere, in the lanes that selector 1 names; 0 elsewhere."""
    a, b, c = (np.zeros((1, 32, n), np.uint32) for n in (4, 4, 4))
    metadata = np.zeros((1, 32), np.uint32)
    metadata[:, np.arange(32) % 4 >= 2] = 0x11111111 * nibble
    operands = [a, b, c, metadata]
    device = Emulator()
    source = device.array(np.concatenate([o.reshape(32, -1) for o in operands], axis=1))
    text = matrices.kernel(SPARSE.format(variant), operands, (4, 32), "sm_90", before)
    return text, [source, device.empty((32, 4), np.uint32)], device


@pytest.mark.parametrize(
    ("variant", "nibble"),
    [("sp", 0b0101), ("sp", 0), ("sp::ordered_metadata", 0b0001), ("sp::ordered_metadata", 0b1111)],
)
def test_metadata_without_meaning_is_found(variant: str, nibble: int) -> None:
    text, args, device = sparse_text(variant, nibble)
    found = fault("P643", text, args, device=device)
    assert f"found 0b{nibble:04b}" in found.message
    assert "thread (2, 0, 0)" in found.notes[0]


def test_metadata_that_descends_is_fine_where_order_is_free() -> None:
    text, args, device = sparse_text("sp", 0b0001)
    device.load(text).kernel("k").launch((1,), (32,), args)


def test_a_guard_that_splits_a_warp_is_found() -> None:
    text, args, device = sparse_text("sp", 0b0100, "setp.lt.u32 %p, %thread, 16; @%p")
    assert "ALIGNED-DIVERGED" in fault("P640", text, args, device=device).message
    text, args, device = sparse_text("sp", 0b0100, "setp.lt.u32 %p, %thread, 32; @%p")
    device.load(text).kernel("k").launch((1,), (32,), args)


def test_lanes_that_wait_elsewhere_are_found() -> None:
    """Half of the warp goes to one `mma`, half to another: they never execute one together."""
    statement = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {0}, {1}, {2}, {3}; bra DONE; OTHER: "
    statement += (
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {0}, {1}, {2}, {3}; DONE: mov.u32 %thread, 0"
    )
    operands = [np.zeros((1, 32, n), np.uint32) for n in (2, 1, 4)]
    before = "setp.lt.u32 %p, %thread, 16; @%p bra OTHER;"
    text = matrices.kernel(statement, operands, (4, 32), "sm_90", before)
    device = Emulator()
    args = [device.array(np.zeros((32, 7), np.uint32)), device.empty((32, 4), np.uint32)]
    fault("P640", text, args, device=device)


def test_undefined_bits_spread_along_rows_and_columns() -> None:
    """An undefined B spoils its column; tf32 doesn't look at the low 13 bits of a word."""
    name = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {0}, {1}, {2}, {3}"
    a, b, c = (np.ones((1, 32, n), np.uint32) for n in (4, 2, 4))
    for mask, spoilt in ((0x1FFF, False), (0x2000, True)):
        # Lane 5 has k = 1 and 5 of column 1; what nobody wrote comes from shared memory.
        before = f"""
    .shared .align 4 .b32 nobody;
    .reg .u32 %v;
    .reg .pred %five;
    ld.shared.u32 %v, [nobody];
    and.b32 %v, %v, {mask};
    setp.eq.u32 %five, %thread, 5;
    @%five or.b32 %s1_0, %s1_0, %v;"""
        device = Emulator()
        text = matrices.kernel(name, [a, b, c], (4, 32), "sm_90", before)
        result = device.empty((32, 4), np.uint32)
        source = device.array(np.concatenate([o[0] for o in (a, b, c)], axis=1))
        device.load(text).kernel("k").launch((1,), (32,), [source, result])
        if not spoilt:
            result.numpy()
            continue
        with pytest.raises(EmulatorFault, match="P606") as caught:
            result.numpy()
        # Column 1 is the second element of each quad's first lane.
        assert "element [0, 1]" in caught.value.diagnostics[0].message


def test_float32_instead_of_the_measured_model() -> None:
    """Four products of 2^-25 beside 1: sm_90 keeps what they add up to, f32 rounds each away."""
    name = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {0}, {1}, {2}, {3}"
    a, b, c = (
        np.zeros((1, 16, 16), np.uint16),
        np.zeros((1, 16, 8), np.uint16),
        np.zeros((1, 16, 8), np.uint32),
    )
    a[0, 0, :4], b[0, :4, 0], c[0, 0, 0] = 0x3300, 0x3F80, 0x3F800000
    cells = fragments.mma_cd(16)
    operands = [
        to_registers(a, fragments.mma_a(16, 16, 16), 16),
        to_registers(b, fragments.mma_b(8, 16, 16), 16),
        to_registers(c, cells, 32),
    ]
    for arithmetic, wanted in (("measured", 0x3F800001), ("float32", 0x3F800000)):
        device = Emulator(tensor_cores=arithmetic)
        found = execute(name, operands, (4, 32), "sm_90", device)
        assert found[0, 0, 0] == wanted
    with pytest.raises(PtxkitError, match="P520"):
        Emulator(tensor_cores="exact")
