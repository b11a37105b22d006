"""Small kernels for tests of the command line, each with its card."""

from __future__ import annotations

DOUBLE = """\
// y = 2 x
// /// ptxkit
// [launch]
// grid = "ceildiv(n, 128)"
// block = 128
// params = ["x", "y", "n"]
// when = "n < 1000000"
// [presets]
// smoke = { n = 300 }
// even = { n = 256 }
// [tensors.x]
// dtype = "f32"
// shape = "n"
// init = "randn"
// [tensors.y]
// dtype = "f32"
// shape = "n"
// expect = "2 * x"
// ///
.version 7.8
.target sm_75
.address_size 64

.visible .entry double(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<8>;

    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r2, 128, %r3;
    setp.ge.u32 %p, %r4, %r1;
    @%p bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r4, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f1, [%rd6];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%rd7], %f2;
DONE:
    ret;
}
"""

SPIN = """\
// counts to 2^31 before it writes
// /// ptxkit
// [launch]
// grid = 1
// block = 32
// params = ["y"]
// [tensors.y]
// dtype = "u32"
// shape = 1
// expect = "2 ** 31 + zeros(1)"
// ///
.version 7.8
.target sm_75
.address_size 64

.visible .entry spin(.param .u64 y)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;

    ld.param.u64 %rd1, [y];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 0;
LOOP:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, 0x80000000;
    @%p bra LOOP;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""


def without_card(text: str) -> str:
    """The kernel alone."""
    lines = text.splitlines(keepends=True)
    first, last = lines.index("// /// ptxkit\n"), lines.index("// ///\n")
    return "".join(lines[:first] + lines[last + 1 :])


WAIT = SPIN.replace("counts to 2^31 before it writes", "waits for what nobody writes").replace(
    """    mov.u32 %r1, 0;
LOOP:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, 0x80000000;
""",
    """LOOP:
    ld.volatile.global.u32 %r1, [%rd2];
    setp.ne.u32 %p, %r1, 7;
""",
)

TILES = """\
// out = x, tile by tile through the tensor memory accelerator
// /// ptxkit
// [launch]
// grid = ["N // 32", "M // 8"]
// block = 32
// params = ["N", "x_map", "out"]
// [presets]
// smoke = { M = 16, N = 64 }
// [tensors.x]
// dtype = "f32"
// shape = ["M", "N"]
// init = "randn"
// [tensors.out]
// dtype = "f32"
// shape = ["M", "N"]
// expect = "x"
// [tensor_maps.x_map]
// tensor = "x"
// box = [8, 32]
// swizzle = "none"
// ///
.version 8.0
.target sm_90
.address_size 64

.visible .entry tiles(.param .u32 N, .param .align 64 .b8 x_map[128], .param .u64 out)
{
    .shared .align 128 .b8 tile[1024];
    .shared .align 8 .b64 barrier;
    .reg .pred %first, %done, %more;
    .reg .b32 %r<12>;
    .reg .f32 %f;
    .reg .b64 %rd<6>;

    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ctaid.y;
    shl.b32 %r3, %r1, 5;
    shl.b32 %r4, %r2, 3;
    setp.eq.u32 %first, %r0, 0;
    mov.u32 %r5, barrier;
    mov.u32 %r6, tile;
    @%first mbarrier.init.shared::cta.b64 [%r5], 1;
    @%first fence.proxy.async;
    bar.sync 0;
    mov.b64 %rd0, x_map;
    cvta.param.u64 %rd1, %rd0;
    @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024;
    @%first cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r6], [%rd1, {%r3, %r4}], [%r5];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %done, [%r5], 0;
    @!%done bra WAIT;
    ld.param.u32 %r7, [N];
    ld.param.u64 %rd2, [out];
    cvta.to.global.u64 %rd3, %rd2;
    add.u32 %r3, %r3, %r0;
    mad.lo.u32 %r8, %r4, %r7, %r3;
    mul.wide.u32 %rd4, %r8, 4;
    add.u64 %rd3, %rd3, %rd4;
    mul.wide.u32 %rd5, %r7, 4;
    mad.lo.u32 %r6, %r0, 4, %r6;
    mov.u32 %r9, 0;
NEXT:
    ld.shared.f32 %f, [%r6];
    st.global.f32 [%rd3], %f;
    add.u32 %r6, %r6, 128;
    add.u64 %rd3, %rd3, %rd5;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %more, %r9, 8;
    @%more bra NEXT;
    ret;
}
"""
