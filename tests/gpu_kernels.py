"""Small kernels for the tests of the driver, in plain PTX for sm_80 or, where clusters are used, sm_90."""

from __future__ import annotations

import numpy as np

from ptxkit.asm import parse
from ptxkit.device.arguments import Signature


def module(body: str, version: str = "8.0", target: str = "sm_80") -> str:
    return f".version {version}\n.target {target}\n.address_size 64\n{body}"


AXPY = module(
    """.visible .entry axpy(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 y,
                    .param .f32 a, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %d<6>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r3, %r4;
    @%p bra DONE;
    ld.param.u64 %d0, [x];
    ld.param.u64 %d1, [y];
    cvta.to.global.u64 %d2, %d0;
    cvta.to.global.u64 %d3, %d1;
    mul.wide.u32 %d4, %r3, 4;
    add.u64 %d2, %d2, %d4;
    add.u64 %d3, %d3, %d4;
    ld.param.f32 %f0, [a];
    ld.global.f32 %f1, [%d2];
    ld.global.f32 %f2, [%d3];
    fma.rn.f32 %f3, %f0, %f1, %f2;
    st.global.f32 [%d3], %f3;
DONE:
    ret;
}
"""
)
"""y = a x + y."""

FILL = module(
    """.visible .entry fill(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<5>;
    .reg .b64 %d<4>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d1, %d0;
    mul.wide.u32 %d2, %r3, 4;
    add.u64 %d3, %d1, %d2;
    ld.param.u32 %r4, [value];
    st.global.u32 [%d3], %r4;
    ret;
}
"""
)
"""out[i] = value for every thread i."""

DOUBLE = module(
    """.visible .entry double(.param .u64 data)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    mov.u32 %r0, %tid.x;
    ld.param.u64 %d0, [data];
    cvta.to.global.u64 %d1, %d0;
    mul.wide.u32 %d2, %r0, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.u32 %r1, [%d3];
    shl.b32 %r2, %r1, 1;
    st.global.u32 [%d3], %r2;
    ret;
}
"""
)
"""data[i] *= 2 for every thread i of one CTA."""

SHARED = module(
    """.extern .shared .align 16 .b8 dynamic[];
.visible .entry touch(.param .u64 out, .param .u32 offset)
{
    .shared .align 4 .b8 fixed[1024];
    .reg .b32 %r<6>;
    .reg .b64 %d<2>;
    ld.param.u32 %r0, [offset];
    mov.u32 %r1, dynamic;
    add.u32 %r1, %r1, %r0;
    mov.u32 %r2, 4711;
    st.shared.u32 [%r1], %r2;
    mov.u32 %r3, fixed;
    st.shared.u32 [%r3], %r2;
    bar.sync 0;
    ld.shared.u32 %r4, [%r1];
    ld.shared.u32 %r5, [%r3];
    add.u32 %r4, %r4, %r5;
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d1, %d0;
    st.global.u32 [%d1], %r4;
    ret;
}
"""
)
"""out[0] = 2 * 4711, by way of dynamic shared memory at `offset` and of 1024 static bytes."""

WHERE = """.visible .entry {name}(.param .u64 out)
{directives}
{{
    .reg .pred %p;
    .reg .b32 %r<12>;
    .reg .b64 %d<4>;
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p, %r0, 0;
    @%p bra DONE;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ctaid.y;
    mov.u32 %r3, %nctaid.x;
    mov.u32 %r4, %nctaid.y;
    mad.lo.u32 %r5, %r2, %r3, %r1;
    mov.u32 %r6, %cluster_ctarank;
    mov.u32 %r7, %cluster_nctarank;
    mov.u32 %r8, %ntid.x;
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d1, %d0;
    mul.wide.u32 %d2, %r5, 32;
    add.u64 %d3, %d1, %d2;
    st.global.v4.u32 [%d3], {{%r1, %r2, %r3, %r4}};
    st.global.v4.u32 [%d3+16], {{%r6, %r7, %r8, %r8}};
DONE:
    ret;
}}
"""
"""out[cta] = ctaid.x, ctaid.y, nctaid.x, nctaid.y, rank in the cluster, its size, ntid.x, ntid.x."""


def where(directives: str = "", version: str = "8.0") -> str:
    return module(WHERE.format(name="where", directives=directives), version, "sm_90")


GRID_BARRIER = module(
    """.visible .entry meet(.param .u64 counter, .param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %d<6>;
    ld.param.u64 %d0, [counter];
    ld.param.u64 %d1, [out];
    cvta.to.global.u64 %d2, %d0;
    cvta.to.global.u64 %d3, %d1;
    mov.u32 %r0, %nctaid.x;
    mov.u32 %r1, %ctaid.x;
    atom.global.add.u32 %r2, [%d2], 1;
WAIT:
    ld.acquire.gpu.global.u32 %r3, [%d2];
    setp.lt.u32 %p, %r3, %r0;
    @%p bra WAIT;
    mul.wide.u32 %d4, %r1, 4;
    add.u64 %d5, %d3, %d4;
    st.global.u32 [%d5], %r3;
    ret;
}
"""
)
"""Each CTA of one thread waits for all others, then writes how many it saw."""

SPIN = module(
    """.visible .entry spin(.param .u64 flag)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [flag];
    cvta.to.global.u64 %d1, %d0;
WAIT:
    ld.volatile.global.u32 %r1, [%d1];
    setp.eq.u32 %p, %r1, 0;
    @%p bra WAIT;
    ret;
}
"""
)
"""Waits until flag[0] is not 0."""

EARLY = module(
    """.visible .entry first(.param .u64 flag, .param .u64 out)
{
    .reg .pred %again, %unset;
    .reg .b32 %flag, %left;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [flag];
    ld.param.u64 %d1, [out];
    cvta.to.global.u64 %d0, %d0;
    cvta.to.global.u64 %d1, %d1;
    mov.u32 %left, 100000;
    griddepcontrol.launch_dependents;
LOOK:
    ld.volatile.global.u32 %flag, [%d0];
    sub.u32 %left, %left, 1;
    setp.eq.u32 %unset, %flag, 0;
    setp.ne.and.u32 %again, %left, 0, %unset;
    @%again bra LOOK;
    st.global.u32 [%d1], %flag;
    ret;
}
.visible .entry second(.param .u64 flag)
{
    .reg .b32 %one;
    .reg .b64 %d;
    ld.param.u64 %d, [flag];
    cvta.to.global.u64 %d, %d;
    mov.u32 %one, 1;
    st.volatile.global.u32 [%d], %one;
    ret;
}
""",
    target="sm_90",
)
"""`first` lets dependents begin and looks for a while whether flag[0] is set: out[0]; `second` sets it."""

CALLER = module(
    """.extern .func (.param .b32 result) square(.param .b32 value);
.visible .entry use(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d1, %d0;
    ld.param.u32 %r1, [n];
    {
    .param .b32 value;
    .param .b32 result;
    st.param.b32 [value], %r1;
    call.uni (result), square, (value);
    ld.param.b32 %r2, [result];
    }
    st.global.u32 [%d1], %r2;
    ret;
}
"""
)
SQUARE = module(
    """.visible .func (.param .b32 result) square(.param .b32 value)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [value];
    mul.lo.u32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
"""
)
"""`use` calls `square`, which is in another file."""

FAULTS = {
    "P720": module(
        """.visible .entry fault()
{
    .reg .b32 %r<2>;
    .reg .b64 %d<2>;
    mov.u64 %d1, 64;
    ld.global.u32 %r1, [%d1];
    st.global.u32 [%d1], %r1;
    ret;
}
"""
    ),
    "P721": module(
        """.global .align 8 .b8 room[16];
.visible .entry fault()
{
    .reg .b32 %r<2>;
    .reg .b64 %d<3>;
    mov.u64 %d1, room;
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %d2, %r1;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1+1], %r1;
    ret;
}
"""
    ),
    "P722": module(".visible .entry fault()\n{\n    trap;\n}\n"),
    "P723": module(
        """.extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line,
                           .param .b64 function, .param .b64 size);
.global .align 1 .b8 text[8] = {98, 114, 111, 107, 101, 110, 33, 0};
.visible .entry fault()
{
    .reg .b32 %r<2>;
    .reg .b64 %d<3>;
    mov.u64 %d1, text;
    cvta.global.u64 %d2, %d1;
    mov.u32 %r1, 12;
    mov.u64 %d1, 1;
    {
    .param .b64 a;
    .param .b64 b;
    .param .b32 c;
    .param .b64 d;
    .param .b64 e;
    st.param.b64 [a], %d2;
    st.param.b64 [b], %d2;
    st.param.b32 [c], %r1;
    st.param.b64 [d], %d2;
    st.param.b64 [e], %d1;
    call.uni __assertfail, (a, b, c, d, e);
    }
    ret;
}
"""
    ),
}
"""A kernel `fault` for each fault, by the code that it should end in."""


def echo(parameters: str, name: str = "echo", version: str = "8.1") -> tuple[str, Signature]:
    """A kernel that copies its parameter space, parameter by parameter, to `out`, its first parameter.

    What the host packed at an offset must be what `ld.param` finds there.
    """
    header = f".visible .entry {name}(.param .u64 out, {parameters})"
    signature = Signature.of(parse(module(header + "\n{\n    ret;\n}\n", version)).entries[0])
    lines = [header, "{", "    .reg .b16 %h;", "    .reg .b64 %d<2>;"]
    lines += ["    ld.param.u64 %d0, [out];", "    cvta.to.global.u64 %d1, %d0;"]
    for parameter in signature:
        for byte in range(parameter.size):
            lines.append(f"    ld.param.u8 %h, [{parameter.name}+{byte}];")
            lines.append(f"    st.global.u8 [%d1+{parameter.offset + byte}], %h;")
    return module("\n".join([*lines, "    ret;", "}", ""]), version), signature


PARAMETERS = {
    "integers": (
        ".param .u8 a, .param .s8 b, .param .u16 c, .param .s16 d, .param .u32 e, .param .s32 f, "
        ".param .u64 g, .param .s64 h, .param .b8 i, .param .b64 j",
        [255, -128, 65535, -32768, 2**32 - 1, -(2**31), 2**64 - 1, -(2**63), -1, 5],
    ),
    "floats": (
        ".param .f16 a, .param .f32 b, .param .f64 c, .param .b16 d",
        [1.5, -0.1, 1e300, np.float16(3)],
    ),
    "a struct": (".param .u8 a, .param .align 8 .b8 s[24], .param .u8 b", [1, bytes(range(24)), 2]),
    "a tensor map": (
        ".param .u32 n, .param .align 64 .b8 map[128], .param .u32 m",
        [1, bytes(range(128)), 2],
    ),
    "wide alignments": (
        ".param .u8 a, .param .align 32 .b8 b[32], .param .u16 c, .param .align 128 .b8 d[128], "
        ".param .u32 e, .param .align 64 .b8 f[192], .param .u8 g",
        [1, bytes(range(32)), 2, bytes(range(100, 228)), 3, bytes(range(40, 232)), 4],
    ),
    "arrays": (
        ".param .u8 a, .param .s16 b[6], .param .f32 c[3]",
        [7, [1, -2, 3, -4, 5, -6], [0.5, -1, 2]],
    ),
    "four kilobytes and more": (
        ".param .align 16 .b8 big[5000], .param .u32 last",
        [np.arange(5000).astype(np.uint8), 0xDEADBEEF],
    ),
}
"""Declarations of parameters and values for them."""
