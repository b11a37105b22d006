"""`tcgen05.ld`, `st`, `cp` and `shift` in kernels, against the manual's layouts."""

from __future__ import annotations

import numpy as np
import pytest
from assembler import log_of

import ptxkit
from ptxkit.descriptors import SmemDescTcgen05
from ptxkit.emulator import Emulator
from ptxkit.layouts.tensor_memory import COPY_SHAPES, MOVE_SHAPES, copy_cells

COLUMNS = 256
MOVES = [
    (shape, num, packed, lane)
    for shape, known in MOVE_SHAPES.items()
    for num in ((1, 16) if shape == "32x32b" else (2, 16))
    for packed in (False, True)
    for lane in ((0, 16) if known.lanes == 16 and num == 2 and packed else (0,))
]
SPLIT = 80
"""Columns between the halves of `16x32bx2`."""


def kernel(body: str, registers: int, parameters: str, shared: int = 0, target: str = "sm_100a") -> str:
    """One entry of whole warps with 512 columns at `%tmem`; each warp's own lanes at `%mine`."""
    return f"""\
.version 8.8
.target {target}
.address_size 64
.shared .align 1024 .b8 buffer[{shared + 16}];
.shared .align 8 .b64 barrier;
.shared .align 4 .b32 slot;
.visible .entry k({parameters})
{{
    .reg .pred %p<4>;
    .reg .b32 %r<{registers}>, %w<{COLUMNS}>, %tmem, %mine, %t, %n, %first;
    .reg .b64 %rd<8>;
    mov.u32 %t, %tid.x;
    shr.u32 %n, %t, 5;
    setp.eq.u32 %p0, %n, 0;
    setp.eq.u32 %p1, %t, 0;
    @%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;
    @%p0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    @%p1 mbarrier.init.shared.b64 [barrier], 1;
    bar.sync 0;
    ld.shared.b32 %tmem, [slot];
    shl.b32 %n, %n, 21;
    add.u32 %mine, %tmem, %n;
{body}
    bar.sync 0;
    @%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 512;
    ret;
}}
"""


def vector(name: str, first: int, count: int) -> str:
    return "{" + ", ".join(f"%{name}{i}" for i in range(first, first + count)) + "}"


def whole(operation: str) -> str:
    """Move all `COLUMNS` columns between `%w` and tensor memory."""
    lines = []
    for at in range(0, COLUMNS, 32):
        registers, address = vector("w", at, 32), f"[%mine + {at}]"
        order = f"{registers}, {address}" if operation == "ld" else f"{address}, {registers}"
        lines.append(f"    tcgen05.{operation}.sync.aligned.32x32b.x32.b32 {order};")
    return "\n".join([*lines, f"    tcgen05.wait::{operation}.sync.aligned;"])


def memory(operation: str, name: str, parameter: str, count: int) -> str:
    """Load or store `count` words a thread."""
    lines = [
        f"    ld.param.u64 %rd0, [{parameter}];",
        f"    mad.wide.u32 %rd0, %t, {4 * count}, %rd0;",
    ]
    for i in range(count):
        place = f"[%rd0 + {4 * i}]"
        pair = f"%{name}{i}, {place}" if operation == "ld" else f"{place}, %{name}{i}"
        lines.append(f"    {operation}.global.b32 {pair};")
    return "\n".join(lines)


def cells(shape: str, num: int, packed: bool, lane: int) -> tuple[np.ndarray, np.ndarray]:
    """Lane and column of every register (32, registers), of the lower of two columns where packed."""
    rows, columns = MOVE_SHAPES[shape].cells(num)
    columns = columns * (2 if packed else 1)
    if shape == "16x32bx2":
        columns = columns + np.arange(32)[:, None] // 16 * SPLIT
    return rows + lane, columns


def opcode(operation: str, shape: str, num: int, packed: bool) -> str:
    modifier = {"ld": ".pack::16b", "st": ".unpack::16b"}[operation] if packed else ""
    return f"tcgen05.{operation}.sync.aligned.{shape}.x{num}{modifier}.b32"


@pytest.mark.parametrize(("shape", "num", "packed", "lane"), MOVES)
def test_loads_have_the_manuals_layout(shape: str, num: int, packed: bool, lane: int) -> None:
    count = MOVE_SHAPES[shape].registers * num
    split = f", {SPLIT}" if shape == "16x32bx2" else ""
    body = "\n".join(
        [
            memory("ld", "w", "in", COLUMNS),
            whole("st"),
            f"    {opcode('ld', shape, num, packed)} {vector('r', 0, count)}, [%mine + {lane << 16}]{split};",
            "    tcgen05.wait::ld.sync.aligned;",
            memory("st", "r", "out", count),
        ]
    )
    text = kernel(body, count, ".param .u64 in, .param .u64 out")
    words = np.random.default_rng(num).integers(0, 1 << 32, (32, COLUMNS), dtype=np.uint32)
    device = Emulator()
    out = device.empty((32, count), np.uint32)
    device.load(text).kernel().launch((1,), (32,), [device.array(words), out])
    rows, columns = cells(shape, num, packed, lane)
    expected = words[rows, columns]
    if packed:
        expected = expected & 0xFFFF | words[rows, columns + 1] << 16
    assert np.array_equal(out.numpy(), expected)
    assert device.findings == []


@pytest.mark.parametrize(("shape", "num", "packed", "lane"), MOVES)
def test_stores_have_the_manuals_layout(shape: str, num: int, packed: bool, lane: int) -> None:
    count = MOVE_SHAPES[shape].registers * num
    split = f", {SPLIT}" if shape == "16x32bx2" else ""
    body = "\n".join(
        [
            memory("ld", "w", "in", COLUMNS),
            whole("st"),
            memory("ld", "r", "values", count),
            f"    {opcode('st', shape, num, packed)} [%mine + {lane << 16}]{split}, {vector('r', 0, count)};",
            "    tcgen05.wait::st.sync.aligned;",
            whole("ld"),
            memory("st", "w", "out", COLUMNS),
        ]
    )
    text = kernel(body, count, ".param .u64 in, .param .u64 values, .param .u64 out")
    random = np.random.default_rng(num)
    words = random.integers(0, 1 << 32, (32, COLUMNS), dtype=np.uint32)
    values = random.integers(0, 1 << 32, (32, count), dtype=np.uint32)
    device = Emulator(order="eager")
    out = device.empty((32, COLUMNS), np.uint32)
    device.load(text).kernel().launch((1,), (32,), [device.array(words), device.array(values), out])
    rows, columns = cells(shape, num, packed, lane)
    words[rows, columns] = values & 0xFFFF if packed else values
    if packed:
        words[rows, columns + 1] = values >> 16
    assert np.array_equal(out.numpy(), words)
    assert device.findings == []


REDUCTIONS = [
    ("32x32b", "min.f32", "f32"), ("32x32b", "max.abs.NaN.f32", "f32"), ("32x32b", "max.NaN.f32", "f32"),
    ("32x32b", "min.u32", "u32"), ("32x32b", "max.s32", "s32"), ("16x32bx2", "max.u32", "u32"),
    ("16x32bx2", "min.abs.f32", "f32"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "operation", "kind"), REDUCTIONS)
def test_loads_reduce_along_columns(shape: str, operation: str, kind: str) -> None:
    split = f", {SPLIT}" if shape == "16x32bx2" else ""
    body = "\n".join(
        [
            memory("ld", "w", "in", COLUMNS),
            whole("st"),
            f"    tcgen05.ld.red.sync.aligned.{shape}.x8.{operation} "
            f"{vector('x', 0, 8)}, %x8, [%mine]{split};",
            "    tcgen05.wait::ld.sync.aligned;",
            memory("st", "x", "out", 9),
        ]
    )
    text = kernel(body, 1, ".param .u64 in, .param .u64 out", target="sm_103a")
    text = text.replace("    .reg .b64", f"    .reg .{kind} %x<9>;\n    .reg .b64", 1)
    errors, _ = log_of(text, arch="sm_103a")
    assert errors == ""
    words = np.random.default_rng(3).integers(0, 1 << 32, (32, COLUMNS), dtype=np.uint32)
    words[5, 2] = 0x7FC00000
    device = Emulator()
    out = device.empty((32, 9), np.uint32)
    device.load(text).kernel().launch((1,), (32,), [device.array(words), out])
    made = out.numpy()
    rows, columns = cells(shape, 8, False, 0)
    loaded = words[rows, columns]
    assert np.array_equal(made[:, :8], loaded)
    values = loaded.view({"f32": np.float32, "u32": np.uint32, "s32": np.int32}[kind])
    if "abs" in operation:
        values = np.abs(values)
    if kind == "f32":
        least, greatest = (np.min, np.max) if "NaN" in operation else (np.nanmin, np.nanmax)
    else:
        least, greatest = np.min, np.max
    expected = (least if operation.startswith("min") else greatest)(values, axis=1)
    assert np.array_equal(made[:, 8].view(expected.dtype), expected, equal_nan=kind == "f32")


@pytest.mark.parametrize(("shape", "multicast"), COPY_SHAPES)
def test_copies_fill_the_lanes_that_the_manual_names(shape: str, multicast: str) -> None:
    """A descriptor of cores of 8 rows by 16 bytes; a second copy goes 8 columns further."""
    name = ".".join(part for part in (shape, multicast) if part)
    rows, bits = (int(part) for part in shape[:-1].split("x"))
    descriptor = SmemDescTcgen05(address=0, leading_byte_offset=2048, stride_byte_offset=128, swizzle="none")
    upper, lower = divmod(int(descriptor), 1 << 32)
    body = "\n".join(
        [
            "    mov.u32 %first, buffer;",
            "    ld.param.u64 %rd0, [in];",
            "    mad.wide.u32 %rd0, %t, 32, %rd0;",
            "    mad.lo.u32 %n, %t, 32, %first;",
            *(
                f"    ld.global.b32 %w0, [%rd0 + {at}];\n    st.shared.b32 [%n + {at}], %w0;"
                for at in range(0, 32, 4)
            ),
            "    fence.proxy.async.shared::cta;",
            *(f"    mov.b32 %w{i}, 0;" for i in range(COLUMNS)),
            whole("st"),
            "    tcgen05.fence::before_thread_sync;",
            "    bar.sync 0;",
            "    tcgen05.fence::after_thread_sync;",
            "    bfe.u32 %first, %first, 4, 14;",
            f"    add.u32 %first, %first, {lower:#x};",
            f"    mov.b64 %rd1, {{%first, {upper:#x}}};",
            f"    @%p1 tcgen05.cp.cta_group::1.{name} [%tmem + 8], %rd1;",
            "    @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [barrier];",
            "wait:",
            "    mbarrier.try_wait.parity.shared::cta.b64 %p2, [barrier], 0;",
            "    @!%p2 bra wait;",
            "    tcgen05.fence::after_thread_sync;",
            whole("ld"),
            memory("st", "w", "out", COLUMNS),
        ]
    )
    text = kernel(body, 1, ".param .u64 in, .param .u64 out", shared=4096)
    data = np.random.default_rng(5).integers(0, 256, 4096, dtype=np.uint8)
    expected = np.zeros((128, COLUMNS * 4), np.uint8)
    lane, byte = copy_cells(shape, multicast)
    row, column = np.indices((rows, bits // 8))
    source = data[row // 8 * 128 + row % 8 * 16 + column // 16 * 2048 + column % 16]
    expected[lane, byte + 32] = source[..., None]
    for order in ("lazy", "eager"):
        device = Emulator(order=order)
        out = device.empty((128, COLUMNS), np.uint32)
        device.load(text).kernel().launch((1,), (128,), [device.array(data), out])
        assert np.array_equal(out.numpy(), expected.view(np.uint32))
        assert device.findings == []


def test_shift_moves_rows_down_but_the_last() -> None:
    body = "\n".join(
        [
            memory("ld", "w", "in", COLUMNS),
            whole("st"),
            "    tcgen05.fence::before_thread_sync;",
            "    bar.sync 0;",
            "    tcgen05.fence::after_thread_sync;",
            f"    add.u32 %n, %tmem, {32 << 16 | 16};",
            "    @%p1 tcgen05.shift.cta_group::1.down [%n];",
            "    @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [barrier];",
            "wait:",
            "    mbarrier.try_wait.parity.shared::cta.b64 %p2, [barrier], 0;",
            "    @!%p2 bra wait;",
            "    tcgen05.fence::after_thread_sync;",
            whole("ld"),
            memory("st", "w", "out", COLUMNS),
        ]
    )
    text = kernel(body, 1, ".param .u64 in, .param .u64 out")
    words = np.random.default_rng(6).integers(0, 1 << 32, (128, COLUMNS), dtype=np.uint32)
    device = Emulator()
    out = device.empty((128, COLUMNS), np.uint32)
    device.load(text).kernel().launch((1,), (128,), [device.array(words), out])
    expected = words.copy()
    expected[32:63, 16:24] = words[33:64, 16:24]
    assert np.array_equal(out.numpy(), expected)


def test_ptxas_takes_these_kernels() -> None:
    """One of each sort; the others differ in a modifier."""
    for shape, num in (("16x64b", 8), ("16x32bx2", 4)):
        count = MOVE_SHAPES[shape].registers * num
        split = f", {SPLIT}" if shape == "16x32bx2" else ""
        body = (
            f"    {opcode('ld', shape, num, True)} {vector('r', 0, count)}, [%mine]{split};\n"
            f"    {opcode('st', shape, num, True)} [%mine]{split}, {vector('r', 0, count)};"
        )
        text = kernel(body, count, "")
        assert log_of(text, arch="sm_100a")[0] == ""
        assert not [one for one in ptxkit.check(ptxkit.parse(text)) if one.is_error]
