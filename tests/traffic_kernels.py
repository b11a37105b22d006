"""Kernels that access memory in a pattern: what the emulator counts of it, and a GPU's profiler.

Most are of one warp. A table in global memory says for each lane at which byte it accesses, or that it does
not. They make the same two accesses beside their own: a lane loads its entry of the table, and stores a word.
Two transpose a matrix; and there are whole kernels of kernels_ptx and of the tutorial.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit import card
from ptxkit.asm import parse
from ptxkit.plan import Program, Request, make
from ptxkit.running.loaded_plan import Case as Problem
from ptxkit.running.loaded_plan import LoadedPlan

ROOT = Path(__file__).resolve().parents[1]

LANES = 32
AREA = 16384
"""Bytes of shared memory, and of global memory, that the offsets reach into."""
OUT = -1
"""In place of an offset: the lane takes no part."""
SEED = 7

SOURCE = """\
.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 table, .param .u64 memory, .param .u64 sink) {
    .shared .align 128 .b8 area[16384];
    .reg .pred %p;
    .reg .b16 %h;
    .reg .b32 %lane, %offset, %shared, %r0, %r1, %r2, %r3;
    .reg .b64 %table, %global, %sink;
    ld.param.u64 %table, [table];
    ld.param.u64 %global, [memory];
    ld.param.u64 %sink, [sink];
    mov.u32 %lane, %tid.x;
    mad.wide.u32 %table, %lane, 4, %table;
    mad.wide.u32 %sink, %lane, 4, %sink;
    ld.global.s32 %offset, [%table];
    setp.ge.s32 %p, %offset, 0;
    mov.u32 %shared, area;
    add.u32 %shared, %shared, %offset;
    mad.wide.s32 %global, %offset, 1, %global;
    mov.u32 %r0, %lane;
    mov.u32 %r1, %lane;
    mov.u32 %r2, %lane;
    mov.u32 %r3, %lane;
    cvt.u16.u32 %h, %lane;
BODY
    xor.b32 %r0, %r0, %r1;
    xor.b32 %r2, %r2, %r3;
    xor.b32 %r0, %r0, %r2;
    st.global.u32 [%sink], %r0;
    ret;
}
"""

SCATTER = """\
    shr.u32 %shared, %offset, 14;
    shl.b32 %shared, %shared, 4;
    and.b32 %offset, %offset, 16383;
    mov.u32 %r3, area;
    add.u32 %shared, %shared, %r3;
    ld.param.u64 %global, [memory];
    mad.wide.u32 %global, %offset, 1, %global;
    cp.async.cg.shared.global [%shared], [%global], 16;
    cp.async.wait_all;"""

TRANSPOSE = """\
.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 table, .param .u64 memory, .param .u64 sink) {
    .shared .align 128 .b8 tile[4224];
    .reg .pred %p;
    .reg .b32 %x, %y, %row, %at, %to, %tile, %value, %i, %cta, %cx, %cy;
    .reg .b64 %memory, %sink, %d;
    ld.param.u64 %memory, [memory];
    ld.param.u64 %sink, [sink];
    mov.u32 %cta, %ctaid.x;
    and.b32 %cx, %cta, 1;
    shr.u32 %cy, %cta, 1;
    mov.u32 %x, %tid.x;
    shr.u32 %y, %x, 5;
    and.b32 %x, %x, 31;
    mov.u32 %tile, tile;
    mov.u32 %i, 0;
IN:
    add.u32 %row, %y, %i;
    mad.lo.u32 %at, %cy, 32, %row;
    mad.lo.u32 %at, %at, 2, %cx;
    mad.lo.u32 %at, %at, 32, %x;
    mad.wide.u32 %d, %at, 4, %memory;
    ld.global.u32 %value, [%d];
    mad.lo.u32 %to, %row, PITCH, %tile;
    mad.lo.u32 %to, %x, 4, %to;
    st.shared.u32 [%to], %value;
    add.u32 %i, %i, 8;
    setp.lt.u32 %p, %i, 32;
    @%p bra IN;
    bar.sync 0;
    mov.u32 %i, 0;
OUT:
    add.u32 %row, %y, %i;
    mad.lo.u32 %to, %x, PITCH, %tile;
    mad.lo.u32 %to, %row, 4, %to;
    ld.shared.u32 %value, [%to];
    mad.lo.u32 %at, %cx, 32, %row;
    mad.lo.u32 %at, %at, 2, %cy;
    mad.lo.u32 %at, %at, 32, %x;
    mad.wide.u32 %d, %at, 4, %sink;
    st.global.u32 [%d], %value;
    add.u32 %i, %i, 8;
    setp.lt.u32 %p, %i, 32;
    @%p bra OUT;
    ret;
}
"""

TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}
REGISTERS = {1: "%h", 2: "%h", 4: "%r0", 8: "{%r0, %r1}", 16: "{%r0, %r1, %r2, %r3}"}


@dataclass(frozen=True, eq=False)
class Case:
    """One launch.

    Attributes:
        operation: what is executed, for people.
        pattern: how lanes lie, for people.
        text: the kernel `k`.
        offsets: int32 (32,), a byte for each lane, or `OUT`.
        grid, block: how it is launched.
    """

    operation: str
    pattern: str
    text: str
    offsets: np.ndarray
    grid: int = 1
    block: int = LANES

    @property
    def copies(self) -> bool:
        """Whether it copies with `cp.async`."""
        return "cp.async" in self.text

    def launch(self, device: Any, kernel: Any = None) -> None:
        """Run it once, by a kernel that has been loaded where there is one."""
        kernel = kernel or device.load(self.text).kernel("k")
        arrays = [self.offsets, np.zeros(AREA, np.uint8), np.zeros(AREA, np.uint8)]
        kernel.launch(self.grid, self.block, [device.array(array) for array in arrays])
        device.synchronize()


@dataclass(frozen=True, eq=False)
class Whole:
    """A kernel with its card: one launch.

    Attributes:
        operation: the file, from the repository's root.
        pattern: the preset of its card.
    """

    operation: str
    pattern: str

    @property
    def text(self) -> str:
        """The file."""
        return (ROOT / self.operation).read_text()

    @property
    def copies(self) -> bool:
        """Whether it copies with `cp.async`."""
        return "cp.async.c" in self.text

    @property
    def digest(self) -> str:
        """What tells the file from earlier and later ones."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def launch(self, device: Any, kernel: Any = None) -> None:
        """Run it once."""
        path = ROOT / self.operation
        module = parse(path)
        assert module.source is not None
        preset = Request(preset=self.pattern)
        plan = make(Program(path.name, str(path)), module, card.read(module.source), preset)
        assert len(plan.launches) == 1
        with LoadedPlan(device, device.load(module), plan) as on_device:
            on_device.fill(Problem(plan).inputs)
            on_device.launch()
            device.synchronize()


WHOLE = [
    Whole("docs/tutorial/02-reduction/reduction.ptx", "smoke"),
    Whole("docs/tutorial/03-transpose/transpose.ptx", "smoke"),
    Whole("docs/tutorial/04-cp-async-ring/ring.ptx", "smoke"),
    Whole("kernels_ptx/gemv.ptx", "smoke"),
    Whole("kernels_ptx/attn_dist.ptx", "smoke"),
    Whole("kernels_ptx/attn_dist.ptx", "smoke_64"),
    Whole("kernels_ptx/gemm_wgmma.ptx", "smoke"),
]


def patterns(size: int, random: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Ways in which 32 lanes may lie, as numbers of elements of `size` bytes."""
    lane = np.arange(LANES)
    for stride in (0, 1, 2, 4, 32):
        yield f"stride {stride}", lane * stride % (AREA // size)
    yield "pairs", lane // 2
    yield "halves alike", lane % 16
    yield "even and odd", lane % 2 * 64
    yield "three off the line", lane + 3
    yield "permutation", random.permutation(LANES)
    for most in (64, AREA // size):
        yield f"random below {most}", random.integers(0, most, LANES)
    yield "even lanes", np.where(lane % 2 == 0, lane, OUT)
    yield "some lanes", np.where(random.random(LANES) < 0.4, lane * 32 % (AREA // size), OUT)


COPIED = ("stride 0", "stride 1", "stride 4", "random below 1024", "some lanes")
"""The patterns of copies that fill with zeros."""


def operations() -> Iterator[tuple[str, int, str]]:
    """What accesses memory: for people, the bytes of a lane, the instructions."""
    for size in TYPES:
        for space in ("shared", "global"):
            kind, register = TYPES[size], REGISTERS[size]
            place = f"[%{space}]"
            widen = "\n    cvt.u32.u16 %r0, %h;" if size < 4 else ""
            yield (
                f"ld.{space} of {size} bytes",
                size,
                f"    @%p ld.{space}.{kind} {register}, {place};{widen}",
            )
            yield f"st.{space} of {size} bytes", size, f"    @%p st.{space}.{kind} {place}, {register};"
    for space in ("shared", "global"):
        yield f"red.{space}.add.u32", 4, f"    @%p red.{space}.add.u32 [%{space}], %r1;"
        yield f"atom.{space}.add.u32", 4, f"    @%p atom.{space}.add.u32 %r0, [%{space}], %r1;"
    for size in (4, 8, 16):
        text = f"    @%p cp.async.ca.shared.global [%shared], [%global], {size};\n    cp.async.wait_all;"
        yield f"cp.async of {size} bytes", size, text


def copies() -> Iterator[tuple[str, str]]:
    """Copies of 16 bytes that differ in the cache that they go through, and in what lanes they fill with
    zeros."""
    odd = "    and.b32 %r3, %lane, 1;\n"
    for cache in ("ca", "cg"):
        copy = f"    @%p cp.async.{cache}.shared.global [%shared], [%global], 16"
        name = f"cp.async.{cache} of 16 bytes"
        if cache == "cg":
            yield name, f"{copy};"
        yield f"{name}, of them 4", f"{copy}, 4;"
        yield f"{name}, of them none", f"{copy}, 0;"
        yield f"{name}, in even lanes none", f"{odd}    mul.lo.u32 %r3, %r3, 16;\n{copy}, %r3;"
        yield (
            f"{name}, ignored in odd lanes",
            f"    .reg .pred %ignored;\n{odd}    setp.ne.u32 %ignored, %r3, 0;\n{copy}, %ignored;",
        )


def scattered() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Where copies of 16 bytes past L1 come from and go to, as numbers of 16 bytes."""
    lane = np.arange(LANES)
    sources = {
        "in a row": lane,
        "every second": 2 * lane,
        "every third": 3 * lane,
        "pairs": lane // 2,
        "rows of 8 alike": lane % 8,
        "all alike": lane * 0,
    }
    places = {
        "in a row": lane,
        "every second": 2 * lane,
        "swapped": lane ^ 1,
        "swizzled": lane ^ lane // 8,
        "two halves": lane % 2 * 32 + lane // 2,
        "columns": lane % 8 * 8 + lane // 8,
    }
    for source, numbers in sources.items():
        for place, others in places.items():
            yield f"{source}, to {place}", numbers, others


def matrices() -> Iterator[tuple[str, str]]:
    """Loads and stores of 8x8 matrices, whose rows of 16 bytes the lanes name."""
    for count in (1, 2, 4):
        registers = ", ".join(f"%r{number}" for number in range(count))
        place = "[%shared]"
        yield (
            f"ldmatrix x{count}",
            f"    ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{registers}}}, {place};",
        )


def transposes() -> Iterator[tuple[str, str]]:
    """Transposes of a 64x64 matrix of words by CTAs of 8 warps, a tile of 32x32 each."""
    for pitch in (32, 33):
        yield f"rows of {pitch} words", TRANSPOSE.replace("PITCH", str(4 * pitch))


def cases() -> list[Case | Whole]:
    """All of them; the same at every call."""
    random = np.random.default_rng(SEED)
    found: list[Case | Whole] = []
    for operation, size, body in operations():
        for pattern, elements in patterns(size, random):
            offsets = np.where(elements == OUT, OUT, elements * size).astype(np.int32)
            found.append(Case(operation, pattern, SOURCE.replace("BODY", body), offsets))
    for operation, body in matrices():
        text = SOURCE.replace("BODY", body)
        for stride in (16, 48, 64, 128, 144):
            offsets = (np.arange(LANES) * stride % AREA).astype(np.int32)
            found.append(Case(operation, f"rows {stride} bytes apart", text, offsets))
        offsets = (random.integers(0, AREA // 16, LANES) * 16).astype(np.int32)
        found.append(Case(operation, "random rows", text, offsets))
    for pattern, text in transposes():
        found.append(Case("transpose", pattern, text, np.zeros(LANES, np.int32), 4, 256))
    for operation, body in copies():
        text = SOURCE.replace("BODY", f"{body}\n    cp.async.wait_all;")
        for pattern, elements in patterns(16, random):
            if pattern in COPIED or operation == "cp.async.cg of 16 bytes":
                offsets = np.where(elements == OUT, OUT, elements * 16).astype(np.int32)
                found.append(Case(operation, pattern, text, offsets))
    for pattern, numbers, places in scattered():
        offsets = (16 * (numbers + (places << 10))).astype(np.int32)
        found.append(Case("cp.async.cg from and to", pattern, SOURCE.replace("BODY", SCATTER), offsets))
    return [*found, *WHOLE]
