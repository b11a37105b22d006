"""The rules of tensor memory: two correct kernels, and the change of a line that breaks each rule."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.emulator import Emulator

DATA = Path(__file__).parent / "data"
SINGLE = (DATA / "tensor_memory.ptx").read_text()
PAIR = (DATA / "tensor_memory_pair.ptx").read_text()
ORDERS = ("lazy", "eager")
SMS = 148
"""SMs of sm_100a: one more CTA shares one."""

ALLOC = "    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %r16;\n"
RELINQUISH = "    @%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
DEALLOC = "    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, %r16;\n"
STORE = "    tcgen05.st.sync.aligned.32x32b.x8.b32 [%r8], {%r4, %r4, %r4, %r4, %r4, %r4, %r4, %r4};\n"
FIRST = "    @%p0 tcgen05.mma.cta_group::1.kind::f16 [%r5], [%r13], %rd2, %r12, %p2;\n"
SECOND = "    @%p0 tcgen05.mma.cta_group::1.kind::f16 [%r5], %rd1, %rd2, %r12, %p3;\n"
COMMIT = "    @%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [barrier];\n"
WAIT = "    mbarrier.try_wait.parity.shared::cta.b64 %p4, [barrier], 0;\n    @!%p4 bra first;\n"
RELAXED = WAIT.replace(".parity.", ".parity.relaxed.cluster.")
AFTER = "    tcgen05.fence::after_thread_sync;\n"
BEFORE = "    tcgen05.fence::before_thread_sync;\n"
LOAD = "    tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r20, %r21, %r22, %r23}, [%r7];\n"
WAIT_LD = "    tcgen05.wait::ld.sync.aligned;\n"
ARRIVE = "    mbarrier.arrive.shared::cta.b64 _, [handed];\n"
BARE = "    mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [handed];\n"
HAND = "    mbarrier.try_wait.parity.shared::cta.b64 %p4, [handed], 0;\n    @!%p4 bra hand;\n"
THIRD = "    tcgen05.mma.cta_group::1.kind::f16 [%r5], %rd1, %rd2, %r12, %p2;\n"
SPARSE = "    mov.b32 %r12, 0x08100494;\n"
INTEGERS = SINGLE.replace("kind::f16", "kind::ti16").replace("8.8", "9.4").replace("sm_100a", "sm_107a")
UNALLOCATED = "\n".join(
    line.replace("ld.shared.b32 %r5, [slot]", "mov.b32 %r5, 0")
    for line in PAIR.split("\n")
    if "alloc" not in line
)
"""The pair without tensor memory of its own."""
SMALL = f"""\
.version 8.8
.target sm_100a
.address_size 64
.shared .align 4 .b32 slot;
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<32>;
    mov.b32 %r0, 0;
    setp.eq.b32 %p1, %r0, %r0;
    mov.b32 %r16, 128;
{ALLOC}{RELINQUISH}    ld.shared.b32 %r5, [slot];
{DEALLOC}    ret;
}}
"""
"""One warp that allocates 128 columns and frees them: several CTAs of an SM at the same time."""

TOGETHER = SMALL.replace("cta_group::1", "cta_group::2").replace(
    "entry k(.param .u64 out)", "entry k(.param .u64 out)\n.reqnctapercluster 2"
)
"""The same by the warps of a pair, which do not meet between."""
MEET = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
READ = "    ld.shared.b32 %r5, [slot];\n"


@dataclass(frozen=True)
class Fault:
    """A change to a kernel.

    Attributes:
        code: what is found.
        old, new: the lines that are replaced, once.
        says: what the finding says somewhere.
        base: the kernel.
        grid: CTAs.
        orders: in which it is found by this code.
    """

    code: str
    old: str
    new: str
    says: str = ""
    base: str = SINGLE
    grid: int = 1
    orders: tuple[str, ...] = ORDERS

    @property
    def text(self) -> str:
        """The broken kernel."""
        assert self.old in self.base
        return self.base.replace(self.old, self.new, 1)


FAULTS = {
    "no wait for the commit": Fault("P6100", WAIT, "", "may still write"),
    "a wait for the other phase": Fault(
        "P6100", WAIT, WAIT.replace("], 0;", "], 1;"), "tracked by", orders=("lazy",)
    ),
    "no commit": Fault("P6101", COMMIT + "first:\n" + WAIT, "first:\n    bar.sync 0;\n", "no commit tracks"),
    "a commit by another lane": Fault("P6102", COMMIT, COMMIT.replace("%p0", "%p5"), "another lane"),
    "a relaxed wait without a fence": Fault("P6103", WAIT + AFTER, RELAXED),
    "a product after a barrier without a fence": Fault(
        "P6103", "    bar.sync 0;\n" + AFTER, "    bar.sync 0;\n", "what orders it after `tcgen05.st`"
    ),
    "a load after a commit without a fence": Fault("P6103", WAIT + AFTER, WAIT, "after `tcgen05.mma`"),
    "a product after a hand-over without a fence": Fault("P6103", HAND + AFTER, HAND, "after `tcgen05.ld`"),
    "a load of a pair without a fence": Fault("P6103", AFTER, "", "after `tcgen05.mma`", base=PAIR, grid=2),
    "a relaxed arrival without a fence": Fault("P6104", BEFORE + ARRIVE, BARE),
    "a load before the wait for a store": Fault(
        "P6105", "    tcgen05.wait::st.sync.aligned;\n", LOAD.replace("%r7", "%r8")
    ),
    "a product before the wait for a store": Fault("P6105", "    tcgen05.wait::st.sync.aligned;\n", ""),
    "an overwritten load": Fault("P6106", LOAD + WAIT_LD, LOAD, "before `tcgen05.ld` has been waited for"),
    "a product while others load": Fault("P6107", HAND, "", "nothing orders"),
    "a store over a product": Fault("P6107", COMMIT, COMMIT + STORE.replace("%r8", "%r7")),
    "another shape over the accumulator": Fault(
        "P6107",
        SECOND,
        "    mov.b32 %r14, 0x08080490;\n" + SECOND.replace("%r12", "%r14"),
        "different shapes or accumulators",
    ),
    "an accumulator that nobody wrote": Fault("P6108", FIRST, FIRST.replace("%p2", "%p3"), "adds to cells"),
    "too few columns": Fault("P6109", "mov.b32 %r16, 128;", "mov.b32 %r16, 32;", "columns 0 to 31"),
    "columns that do not exist": Fault(
        "P6110", LOAD, LOAD.replace("[%r7]", "[%r7+510]"), "columns 510 to 513"
    ),
    "a lane where D can't begin": Fault(
        "P6110",
        FIRST,
        "    add.u32 %r14, %r5, 0x100000;\n" + FIRST.replace("[%r5]", "[%r14]"),
        "lane 0, found 16",
    ),
    "a leak": Fault("P6111", DEALLOC, "", "exits"),
    "another size freed": Fault(
        "P6112", DEALLOC, DEALLOC.replace("%r16", "64"), "no allocation of 64 columns"
    ),
    "freed twice": Fault("P6113", DEALLOC, DEALLOC * 2, "freed before"),
    "freed while others load": Fault("P6114", "    bar.sync 0;\n" + DEALLOC, DEALLOC),
    "freed during a product": Fault(
        "P6114", DEALLOC, AFTER + "    " + THIRD.strip().join(("@%p0 ", "\n")) + DEALLOC
    ),
    "allocated after relinquishing": Fault("P6115", ALLOC + RELINQUISH, RELINQUISH + ALLOC),
    "a larger second allocation": Fault("P6116", ALLOC, ALLOC + ALLOC.replace("%r16", "256"), "at most 128"),
    "48 columns": Fault("P6117", "mov.b32 %r16, 128;", "mov.b32 %r16, 48;", "found 48"),
    "columns that never come": Fault(
        "P6118", ALLOC, ALLOC.replace("%r16", "512") * 2, "0 of its SM are free", orders=ORDERS
    ),
    "a permit that is kept": Fault("P6119", RELINQUISH, "", "same SM", base=SMALL, grid=SMS + 1),
    "one CTA of a pair allocates": Fault(
        "P6118",
        "    @%p1 tcgen05.alloc",
        "    setp.eq.and.u32 %p5, %r14, 0, %p1;\n    @%p5 tcgen05.alloc",
        "a warp of the other CTA of the pair",
        base=PAIR,
        grid=2,
    ),
    "another warp's lanes": Fault(
        "P6120",
        LOAD,
        "    add.u32 %r24, %r7, 0x200000;\n" + LOAD.replace("%r7", "%r24"),
        "warp 0 reaches lanes 0 to 31",
    ),
    "both groups": Fault("P6121", COMMIT, COMMIT.replace("cta_group::1", "cta_group::2"), "as before"),
    "a peer that has exited": Fault(
        "P6122",
        "    bfe.u32 %r8, %r2, 4, 14;\n",
        "    setp.eq.u32 %p6, %r14, 1;\n    @%p6 exit;\n"
        "loop:\n    add.u32 %r15, %r15, 1;\n    setp.lt.u32 %p6, %r15, 50;\n    @%p6 bra loop;\n"
        "    bfe.u32 %r8, %r2, 4, 14;\n",
        base=UNALLOCATED.replace("    setp.eq.u32 %p0", "    mov.u32 %r15, 0;\n    setp.eq.u32 %p0"),
        grid=2,
    ),
    "a pair without a cluster": Fault(
        "P6123", ".reqnctapercluster 2\n", "", "needs pairs of CTAs", base=PAIR, grid=2
    ),
    "freed before the other CTA allocates": Fault(
        "P6132", READ, READ, "rank 1 has executed its `tcgen05.alloc", base=TOGETHER, grid=2
    ),
    "freed after a barrier before both allocate": Fault(
        "P6132", "    mov.b32 %r16", MEET + "    mov.b32 %r16", "at line", base=TOGETHER, grid=2
    ),
    "a mask beyond the cluster": Fault(
        "P6123", "mov.b16 %h0, 3;", "mov.b16 %h0, 7;", "found 0x7", base=PAIR, grid=2
    ),
    "a buffer that nothing filled": Fault("P6124", SECOND, SECOND.replace("f16 ", "f16.collector::a::use ")),
    "a reserved bit": Fault("P6125", "0x08100490", "0x081004d0", "bit"),
    "M = 64 for a pair": Fault("P6125", "0x10100490", "0x04100490", "needs M 128", base=PAIR, grid=2),
    "no constant in the descriptor": Fault("P6126", "mov.b64 %rd2, {%r11, 0x00004010};", "mov.b64 %rd2, 0;"),
    "a reserved bit of a mask": Fault(
        "P6127",
        SECOND,
        "    mov.b64 %rd5, 0x7000000000;\n" + SECOND.replace("mma.", "mma.ws.").replace("%p3;", "%p3, %rd5;"),
    ),
    "metadata that means nothing": Fault(
        "P6128",
        SECOND,
        SPARSE + SECOND.replace("mma.", "mma.sp.").replace("%rd2, ", "%rd2, [%r13], "),
        "found 0b0101",
        base=SINGLE.replace(STORE, STORE.replace("%r4", "%r15")).replace(
            "mov.b32 %r15, 0;", "mov.b32 %r15, 0x55555555;"
        ),
    ),
    "an integer in two's complement": Fault(
        "P6133", "0x08100490", "0x08100da0", "in row 0, at 0 along K", base=INTEGERS
    ),
    "a product by a whole warp": Fault("P6129", SECOND, SECOND.replace("%p0", "%p1"), "32 threads"),
    "A overwritten too soon": Fault("P6130", COMMIT, COMMIT + STORE, "may still read"),
    "shared A overwritten too soon": Fault(
        "P653", COMMIT, COMMIT + "    bar.sync 0;\n    st.shared.b32 [%r3], %r4;\n", orders=("lazy",)
    ),
    "an address that others may not see": Fault(
        "P650", RELINQUISH + "    bar.sync 0;\n", RELINQUISH, "alloc"
    ),
    "allocated by one lane": Fault("P640", ALLOC, ALLOC.replace("%p1", "%p0"), "lanes"),
    "an address that differs in a warp": Fault("P642", LOAD, "    add.u32 %r7, %r7, %r0;\n" + LOAD, "`%r7`"),
    "cells that nobody wrote": Fault("P606", LOAD, LOAD.replace("[%r7]", "[%r7+100]"), "tensor memory"),
    "no proxy fence": Fault("P665", "    fence.proxy.async.shared::cta;\n", "", "tcgen05.mma"),
    "a descriptor with the rank of its CTA": Fault(
        "P602",
        "bfe.u32 %r9, %r2, 4, 14;",
        "shr.u32 %r9, %r2, 4;\n    add.u32 %r9, %r9, 256;",
        "its leading byte offset holds the rank of the CTA, 1",
        base=SINGLE.replace("1, 1\n{", "1, 1\n.reqnctapercluster 2\n{").replace("%r10, 256", "%r10, 0"),
        grid=2,
    ),
    "a descriptor past the end": Fault("P602", "bfe.u32 %r9, %r2, 4, 14;", "mov.u32 %r9, 0x2000;"),
}


def findings(text: str, grid: int, order: str, seed: int = 0) -> list[Diagnostic]:
    """What the emulator finds; without an error the result is read."""
    device = Emulator(order=order, seed=seed)
    out = device.empty(128 * grid, np.float32)
    try:
        device.load(text).kernel().launch((grid,), (32 if "reqntid" not in text else 128,), [out])
        device.synchronize()
        result = out.numpy()
    except PtxkitError as caught:
        return [*device.findings, *caught.diagnostics]
    if not device.findings and "mma" in text:
        assert (result == (16 if "cta_group::2" in text else 48)).all()
    return device.findings
