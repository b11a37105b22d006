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
