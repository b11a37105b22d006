"""Kernels that multiply one pair of tiles by `wgmma`, for every layout of `ptxkit.layouts` and type.

The operands are packed on the host by `SharedTile.pack`, copied to shared memory byte for byte, and read
through `SharedTile.descriptor`; the accumulator is stored register by register and put together by
`fragments.wgmma_d`. Whatever is wrong with a layout, a descriptor or a fragment makes the product wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tcgen05_model import decode, random_codes

from ptxkit.layouts import PATTERNS, SharedTile, fragments
from ptxkit.layouts.bitpacking import codes

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}
M = 64


@dataclass(frozen=True)
class Case:
    """One product: D (64 x n) = A (64 x k) B (n x k)^T.

    Attributes:
        a, b: the tiles.
        in_registers: A comes from registers instead.
        lines: lines of 128 bytes by which A begins late; its descriptor has that base offset.
    """

    a: SharedTile
    b: SharedTile
    in_registers: bool = False
    lines: int = 0

    @property
    def name(self) -> str:
        place = "registers" if self.in_registers else f"{self.a.major} {self.a.swizzle} {self.a.order}"
        late = f" base offset {self.lines}" if self.lines else ""
        return f"{self.a.dtype} n{self.b.mn} a {place}{late} b {self.b.major} {self.b.swizzle} {self.b.order}"

    @property
    def step(self) -> int:
        """K of one instruction: 32 bytes."""
        return 256 // self.a.bits


def cases() -> Iterator[Case]:
    """Every type, major-ness, swizzle and order; mixed swizzles; A in registers; base offsets."""

    def tile(mn: int, dtype: str, major: str = "K", swizzle: str = "128B", order: str = "MN") -> SharedTile:
        k = 2 * max(32, PATTERNS["128B"].row_bytes) * 8 // BITS[dtype]
        return SharedTile(mn, k, dtype, major, swizzle, order)

    swizzles = ("none", "32B", "64B", "128B")
    for dtype, swizzle, order in itertools.product(BITS, swizzles, ("MN", "K")):
        for major_a, major_b in itertools.product(("K", "MN"), repeat=2):
            if BITS[dtype] != 16 and "MN" in (major_a, major_b):
                continue
            yield Case(tile(M, dtype, major_a, swizzle, order), tile(64, dtype, major_b, swizzle, order))
    for first, second in itertools.permutations(swizzles, 2):
        yield Case(tile(M, "bf16", "K", first), tile(64, "bf16", "K", second, "K"))
    for dtype, n in zip(BITS, (8, 16, 24, 32, 40, 48, 64), strict=True):
        yield Case(tile(M, dtype), tile(n, dtype), in_registers=True)
    for swizzle, lines in (("128B", range(1, 8)), ("64B", range(1, 4)), ("32B", range(1, 2))):
        for late in lines:
            yield Case(tile(M, "f16", "K", swizzle), tile(64, "f16"), lines=late)


def place_b(case: Case) -> int:
    """Where B begins in the buffer."""
    return -(-(case.lines * 128 + case.a.nbytes) // 1024) * 1024


def source(case: Case) -> str:
    """The kernel: parameters image (shared memory), registers of A, D (a word a thread and register)."""
    n, dtype = case.b.mn, case.a.dtype
    integer = dtype in ("s8", "u8")
    accumulator = "s32" if integer else "f32"
    count = n // 2
    size = place_b(case) + case.b.nbytes
    d = ", ".join(f"%d{i}" for i in range(count))
    opcode = f"wgmma.mma_async.sync.aligned.m64n{n}k{case.step}.{accumulator}.{dtype}.{dtype}"
    scale = "" if integer else ", 1, 1"
    transposes = [int(tile.major == "MN") for tile in (case.a, case.b)][int(case.in_registers) :]
    trans = "".join(f", {t}" for t in transposes) if BITS[dtype] == 16 else ""
    body = []
    for number, k in enumerate(range(0, case.a.k, case.step)):
        predicate = "%zero" if number == 0 else "%one"
        low_b, high_b = halves(case.b.descriptor(case.b.k_advance(k), "smem.wgmma"))
        body += [f"add.u32 %t1, %b_low, {low_b:#x};", f"mov.b64 %desc_b, {{%t1, {high_b:#x}}};"]
        if case.in_registers:
            a = "{" + ", ".join(f"%a{4 * number + i}" for i in range(4)) + "}"
        else:
            low_a, high_a = halves(
                case.a.descriptor(case.a.k_advance(k), "smem.wgmma").replace(base_offset=case.lines)
            )
            body += [f"add.u32 %t0, %a_low, {low_a:#x};", f"mov.b64 %desc_a, {{%t0, {high_a:#x}}};"]
            a = "%desc_a"
        body.append(f"{opcode} {{{d}}}, {a}, %desc_b, {predicate}{scale}{trans};")
    registers_a = 4 * case.a.k // case.step if case.in_registers else 0
    loads_a = [f"ld.global.b32 %a{i}, [%from_a + {512 * i}];" for i in range(registers_a)]
    zeros = [f"mov.b32 %d{i}, 0;" for i in range(count)]
    stores = [f"st.global.b32 [%to + {512 * i}], %d{i};" for i in range(count)]
    lines = [
        ".version 8.0",
        ".target sm_90a",
        ".address_size 64",
        f".shared .align 1024 .b8 buffer[{size}];",
        ".visible .entry multiply(.param .u64 image, .param .u64 a_registers, .param .u64 d)",
        ".reqntid 128, 1, 1",
        "{",
        ".reg .pred %zero, %one, %more;",
        f".reg .{'s32' if integer else 'f32'} %d<{count}>;",
        f".reg .b32 %thread, %at, %offset, %a_low, %b_low, %t0, %t1, %v<4>, %a<{max(1, registers_a)}>;",
        ".reg .b64 %image, %from, %from_a, %to, %wide, %desc_a, %desc_b;",
        "setp.ne.b32 %zero, 0, 0;",
        "setp.eq.b32 %one, 0, 0;",
        "ld.param.u64 %image, [image];",
        "ld.param.u64 %from_a, [a_registers];",
        "ld.param.u64 %to, [d];",
        "cvta.to.global.u64 %image, %image;",
        "cvta.to.global.u64 %from_a, %from_a;",
        "cvta.to.global.u64 %to, %to;",
        "mov.u32 %thread, %tid.x;",
        "mov.u32 %at, buffer;",
        f"add.u32 %a_low, %at, {case.lines * 128};",
        "bfe.u32 %a_low, %a_low, 4, 14;",
        f"add.u32 %b_low, %at, {place_b(case)};",
        "bfe.u32 %b_low, %b_low, 4, 14;",
        "shl.b32 %offset, %thread, 4;",
        "COPY:",
        "cvt.u64.u32 %wide, %offset;",
        "add.u64 %from, %image, %wide;",
        "ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%from];",
        "add.u32 %t0, %at, %offset;",
        "st.shared.v4.b32 [%t0], {%v0, %v1, %v2, %v3};",
        "add.u32 %offset, %offset, 2048;",
        f"setp.lt.u32 %more, %offset, {size};",
        "@%more bra COPY;",
        "mul.wide.u32 %wide, %thread, 4;",
        "add.u64 %from_a, %from_a, %wide;",
        "add.u64 %to, %to, %wide;",
        *loads_a,
        *zeros,
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "wgmma.fence.sync.aligned;",
        *body,
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
        *stores,
        "ret;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def halves(descriptor) -> tuple[int, int]:
    """The low and the high word of a descriptor."""
    high, low = divmod(int(descriptor), 2**32)
    return low, high


def run(device, case: Case, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The product on a device, and what it should be."""
    rng = np.random.default_rng(seed)
    a = random_codes(rng, (M, case.a.k), case.a.dtype)
    b = random_codes(rng, (case.b.mn, case.b.k), case.b.dtype)
    image = np.zeros(place_b(case) + case.b.nbytes, dtype=np.uint8)
    start = case.lines * 128
    image[start : start + case.a.nbytes] = case.a.pack(a)
    image[place_b(case) :] = case.b.pack(b)
    image = np.concatenate([image, np.zeros(-len(image) % 2048, dtype=np.uint8)])
    kernel = device.load(source(case)).kernel()
    out = device.empty((case.b.mn // 2, 128), "s32" if case.a.dtype in ("s8", "u8") else "f32")
    kernel.launch(grid=1, block=128, args=[device.array(image), device.array(registers_of_a(case, a)), out])
    device.synchronize()
    row, column = fragments.wgmma_d(case.b.mn)
    made = np.zeros((M, case.b.mn))
    made[row, column] = out.numpy().T
    return made, decode(a, case.a.dtype) @ decode(b, case.b.dtype).T


def registers_of_a(case: Case, a: np.ndarray) -> np.ndarray:
    """A as the threads hold it: uint32 (registers, 128)."""
    if not case.in_registers:
        return np.zeros((1, 128), dtype=np.uint32)
    words = []
    for k in range(0, case.a.k, case.step):
        row, column = fragments.wgmma_a(case.step, case.a.bits)
        held = codes(a, case.a.bits)[row, column + k]
        per_word = 32 // case.a.bits
        shifts = np.arange(per_word, dtype=np.uint64) * np.uint64(case.a.bits)
        words.append((held.reshape(128, -1, per_word) << shifts).sum(axis=-1).astype(np.uint32))
    return np.concatenate(words, axis=1).T.copy()
