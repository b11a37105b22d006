"""Warp-level matrix instructions: wmma, mma, mma.sp, ldmatrix, stmatrix, movmatrix. PTX ISA 9.7.14."""

from ptxkit.isa.registry import Chapter

form = Chapter("matrix", "9.7.14")

CTA = {".shared::cta": "7.8"}
SMALL = {".m8n32k16 | .m32n8k16": "6.1"}
LOAD = "6.0 sm_70"
INTEGER = "6.3 sm_72"
SUBBYTE = "6.3 sm_75"
ALTERNATE = "7.0 sm_80"
SPACE = "global shared shared::cta"
LAYOUT = "row col"
RND = "rn rz rm rp"

# fmt: off
# wmma: 9.7.14.4.3 to 9.7.14.4.5, fragments in 9.7.14.4.1.
form("wmma.load.a.sync.aligned.layout.shape{.ss}.f16   r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain x8 f16x2", stride="u32", since=LOAD, needs={**SMALL, **CTA})
form("wmma.load.b.sync.aligned.layout.shape{.ss}.f16   r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain x8 f16x2", stride="u32", since=LOAD, needs={**SMALL, **CTA})
form("wmma.load.c.sync.aligned.layout.shape{.ss}.f16   r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain x4 f16x2", stride="u32", since=LOAD, needs={**SMALL, **CTA})
form("wmma.load.c.sync.aligned.layout.shape{.ss}.f32   r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain x8 f32", stride="u32", since=LOAD, needs={**SMALL, **CTA})
form("wmma.load.c.sync.aligned.layout.shape{.ss}.s32   r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain x8 s32", stride="u32", since=INTEGER, needs=CTA)
form("wmma.load.a.sync.aligned.layout.shape{.ss}.atype r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", atype="u8 s8", ss=SPACE, p="in .ss", r="plain xm/8 u32", stride="u32", since=INTEGER, needs=CTA)
form("wmma.load.b.sync.aligned.layout.shape{.ss}.btype r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", btype="u8 s8", ss=SPACE, p="in .ss", r="plain xn/8 u32", stride="u32", since=INTEGER, needs=CTA)
form("wmma.load.a.sync.aligned.layout.shape{.ss}.bf16  r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain xm/4 bf16x2", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.load.b.sync.aligned.layout.shape{.ss}.bf16  r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain xn/4 bf16x2", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.load.a.sync.aligned.layout.m16n16k8{.ss}.tf32 r, [p]{, stride}", "4.3", layout=LAYOUT, ss=SPACE, p="in .ss", r="plain x4 tf32", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.load.b.sync.aligned.layout.m16n16k8{.ss}.tf32 r, [p]{, stride}", "4.3", layout=LAYOUT, ss=SPACE, p="in .ss", r="plain x4 tf32", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.load.c.sync.aligned.layout.m16n16k8{.ss}.f32  r, [p]{, stride}", "4.3", layout=LAYOUT, ss=SPACE, p="in .ss", r="plain x8 f32", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.load.a.sync.aligned.layout.m8n8k4{.ss}.f64    r, [p]{, stride}", "4.3", layout=LAYOUT, ss=SPACE, p="in .ss", r="plain x1 f64", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.load.b.sync.aligned.layout.m8n8k4{.ss}.f64    r, [p]{, stride}", "4.3", layout=LAYOUT, ss=SPACE, p="in .ss", r="plain x1 f64", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.load.c.sync.aligned.layout.m8n8k4{.ss}.f64    r, [p]{, stride}", "4.3", layout=LAYOUT, ss=SPACE, p="in .ss", r="plain x2 f64", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.load.a.sync.aligned.row.m8n8k32{.ss}.atype    r, [p]{, stride}", "4.3", atype="s4 u4", ss=SPACE, p="in .ss", r="plain x1 u32", stride="u32", since=SUBBYTE, needs=CTA)
form("wmma.load.b.sync.aligned.col.m8n8k32{.ss}.btype    r, [p]{, stride}", "4.3", btype="s4 u4", ss=SPACE, p="in .ss", r="plain x1 u32", stride="u32", since=SUBBYTE, needs=CTA)
form("wmma.load.c.sync.aligned.layout.shape{.ss}.s32     r, [p]{, stride}", "4.3", layout=LAYOUT, shape="m8n8k32 m8n8k128", ss=SPACE, p="in .ss", r="plain x2 s32", stride="u32", since=SUBBYTE, needs=CTA)
form("wmma.load.a.sync.aligned.row.m8n8k128{.ss}.b1      r, [p]{, stride}", "4.3", ss=SPACE, p="in .ss", r="plain x1 u32", stride="u32", since=SUBBYTE, needs=CTA)
form("wmma.load.b.sync.aligned.col.m8n8k128{.ss}.b1      r, [p]{, stride}", "4.3", ss=SPACE, p="in .ss", r="plain x1 u32", stride="u32", since=SUBBYTE, needs=CTA)

form("wmma.store.d.sync.aligned.layout.shape{.ss}.f16    [p], r{, stride}", "4.4", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain x4 f16x2", stride="u32", since=LOAD, needs={**SMALL, **CTA})
form("wmma.store.d.sync.aligned.layout.shape{.ss}.f32    [p], r{, stride}", "4.4", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain x8 f32", stride="u32", since=LOAD, needs={**SMALL, **CTA})
form("wmma.store.d.sync.aligned.layout.shape{.ss}.s32    [p], r{, stride}", "4.4", layout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", ss=SPACE, p="in .ss", r="plain x8 s32", stride="u32", since=INTEGER, needs=CTA)
form("wmma.store.d.sync.aligned.layout.shape{.ss}.s32    [p], r{, stride}", "4.4", layout=LAYOUT, shape="m8n8k32 m8n8k128", ss=SPACE, p="in .ss", r="plain x2 s32", stride="u32", since=SUBBYTE, needs=CTA)
form("wmma.store.d.sync.aligned.layout.m16n16k8{.ss}.f32 [p], r{, stride}", "4.4", layout=LAYOUT, ss=SPACE, p="in .ss", r="plain x8 f32", stride="u32", since=ALTERNATE, needs=CTA)
form("wmma.store.d.sync.aligned.layout.m8n8k4{.ss}.f64   [p], r{, stride}", "4.4", layout=LAYOUT, ss=SPACE, p="in .ss", r="plain x2 f64", stride="u32", since=ALTERNATE, needs=CTA)

form("wmma.mma.sync.aligned.alayout.blayout.shape.f16.f16      d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", d="x4 f16x2", a="x8 f16x2", b="x8 f16x2", c="x4 f16x2", since=LOAD, needs=SMALL)
form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.f16      d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", d="x8 f32", a="x8 f16x2", b="x8 f16x2", c="x4 f16x2", since=LOAD, needs=SMALL)
form("wmma.mma.sync.aligned.alayout.blayout.shape.f16.f32      d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", d="x4 f16x2", a="x8 f16x2", b="x8 f16x2", c="x8 f32", since=LOAD, needs=SMALL)
form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.f32      d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", d="x8 f32", a="x8 f16x2", b="x8 f16x2", c="x8 f32", since=LOAD, needs=SMALL)
form("wmma.mma.sync.aligned.alayout.blayout.shape.s32.u8.u8.s32{.satfinite} d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", d="x8 s32", a="xm/8 u32", b="xn/8 u32", c="x8 s32", since=INTEGER)
form("wmma.mma.sync.aligned.alayout.blayout.shape.s32.s8.s8.s32{.satfinite} d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", d="x8 s32", a="xm/8 u32", b="xn/8 u32", c="x8 s32", since=INTEGER)
form("wmma.mma.sync.aligned.alayout.blayout.shape.f32.bf16.bf16.f32 d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, shape="m16n16k16 m8n32k16 m32n8k16", d="x8 f32", a="xm/4 bf16x2", b="xn/4 bf16x2", c="x8 f32", since=ALTERNATE)
form("wmma.mma.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32 d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, d="whole x8 f32", a="x4 tf32", b="x4 tf32", c="x8 f32", since=ALTERNATE)
form("wmma.mma.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64 d, a, b, c", "4.5", alayout=LAYOUT, blayout=LAYOUT, rnd=RND, d="x2 f64", a="x1 f64", b="x1 f64", c="x2 f64", since=ALTERNATE)
form("wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32{.satfinite} d, a, b, c", "4.5", d="x2 s32", a="x1 u32", b="x1 u32", c="x2 s32", since=SUBBYTE)
form("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32{.satfinite} d, a, b, c", "4.5", d="x2 s32", a="x1 u32", b="x1 u32", c="x2 s32", since=SUBBYTE)
form("wmma.mma.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 d, a, b, c", "4.5", op="xor and", d="x2 s32", a="x1 reg u32", b="x1 reg u32", c="x2 s32", since=SUBBYTE, needs={".and": "7.1 sm_80"})

# mma: 9.7.14.5.14; the registers of a thread by shape and type.
form("mma.sync.aligned.m8n8k4.alayout.blayout.f16.f16.f16.f16   d, a, b, c", "5.14", alayout=LAYOUT, blayout=LAYOUT, d="x4 f16x2", a="x2 f16x2", b="x2 f16x2", c="x4 f16x2", since="6.4 sm_70")
form("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f16   d, a, b, c", "5.14", alayout=LAYOUT, blayout=LAYOUT, d="x8 f32", a="x2 f16x2", b="x2 f16x2", c="x4 f16x2", since="6.4 sm_70")
form("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f32   d, a, b, c", "5.14", alayout=LAYOUT, blayout=LAYOUT, d="x8 f32", a="x2 f16x2", b="x2 f16x2", c="x8 f32", since="6.4 sm_70")
form("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16          d, a, b, c", "5.14", d="x2 f16x2", a="x2 f16x2", b="x1 f16x2", c="x2 f16x2", since="6.5 sm_75")
form("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32          d, a, b, c", "5.14", d="x4 f32", a="x2 f16x2", b="x1 f16x2", c="x4 f32", since="6.5 sm_75")
form("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16         d, a, b, c", "5.14", d="x2 f16x2", a="x4 f16x2", b="x2 f16x2", c="x2 f16x2", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32         d, a, b, c", "5.14", d="x4 f32", a="x4 f16x2", b="x2 f16x2", c="x4 f32", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32        d, a, b, c", "5.14", d="x4 f32", a="x2 tf32", b="x1 tf32", c="x4 f32", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32        d, a, b, c", "5.14", d="x4 f32", a="x4 tf32", b="x2 tf32", c="x4 f32", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32        d, a, b, c", "5.14", d="x4 f32", a="x2 bf16x2", b="x1 bf16x2", c="x4 f32", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32       d, a, b, c", "5.14", d="x4 f32", a="x4 bf16x2", b="x2 bf16x2", c="x4 f32", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k16.row.col.f32.atype.btype.f32     d, a, b, c", "5.14", atype="e4m3 e5m2", btype="e4m3 e5m2", d="x4 f32", a="x2 b32", b="x1 b32", c="x4 f32", since="8.7 sm_89")
form("mma.sync.aligned.m16n8k32.row.col.f32.atype.btype.f32     d, a, b, c", "5.14", atype="e4m3 e5m2", btype="e4m3 e5m2", d="x4 f32", a="x4 b32", b="x2 b32", c="x4 f32", since="8.4 sm_89")
form("mma.sync.aligned.m16n8k16.row.col.f16.atype.btype.f16     d, a, b, c", "5.14", atype="e4m3 e5m2", btype="e4m3 e5m2", d="x2 f16x2", a="x2 b32", b="x1 b32", c="x2 f16x2", since="8.7 sm_89")
form("mma.sync.aligned.m16n8k32.row.col.f16.atype.btype.f16     d, a, b, c", "5.14", atype="e4m3 e5m2", btype="e4m3 e5m2", d="x2 f16x2", a="x4 b32", b="x2 b32", c="x2 f16x2", since="8.7 sm_89")
form("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.atype.btype.f32 d, a, b, c", "5.14", atype="e4m3 e5m2 e3m2 e2m3 e2m1", btype="e4m3 e5m2 e3m2 e2m3 e2m1", d="x4 f32", a="x4 b32", b="x2 b32", c="x4 f32", since="8.6 sm_100a sm_110a, 8.7 sm_100f sm_110f sm_120f", needs={".e3m2 | .e2m3 | .e2m1": "sm_120f"})
form("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.atype.btype.f16 d, a, b, c", "5.14", atype="e4m3 e5m2 e3m2 e2m3 e2m1", btype="e4m3 e5m2 e3m2 e2m3 e2m1", d="x2 f16x2", a="x4 b32", b="x2 b32", c="x2 f16x2", since="8.7 sm_100f sm_110f sm_120f", needs={".e3m2 | .e2m3 | .e2m1": "sm_120f"})
form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "5.14", d="x4 f32", a="exact x4 b32", b="exact x2 b32", c="x4 f32", sfa="reg anytype32 b32", sfb="reg anytype32 b32", byte_a="u16 0 2", thread_a="u16 0..1", byte_b="u16 0 2", thread_b="u16 0..3", since="8.7 sm_120a sm_121a, 8.8 sm_120f")
form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "5.14", d="x4 f32", a="exact x4 b32", b="exact x2 b32", c="x4 f32", sfa="reg anytype32 b32", sfb="reg anytype32 b32", byte_a="u16 0 2", thread_a="u16 0..1", byte_b="u16 0 2", thread_b="u16 0..3", since="8.7 sm_120a sm_121a, 8.8 sm_120f")
form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 d, a, b, c, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "5.14", d="x4 f32", a="exact x4 b32", b="exact x2 b32", c="x4 f32", sfa="reg anytype32 b32", sfb="reg anytype32 b32", byte_a="u16 0", thread_a="u16 0..1", byte_b="u16 0", thread_b="u16 0..3", since="8.7 sm_120a sm_121a, 8.8 sm_120f")
form("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0 d, a, b, c, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "5.14", atype="e4m3 e5m2 e3m2 e2m3 e2m1", btype="e4m3 e5m2 e3m2 e2m3 e2m1", d="x4 f32", a="exact x4 b32", b="exact x2 b32", c="x4 f32", sfa="reg anytype32 b32", sfb="reg anytype32 b32", byte_a="u16 0..3", thread_a="u16 0..1", byte_b="u16 0..3", thread_b="u16 0..3", since="8.7 sm_120f")
form("mma.sync.aligned.m8n8k4.row.col{.rnd}.f64.f64.f64.f64          d, a, b, c", "5.14", rnd=RND, d="x2 f64", a="x1 f64", b="x1 f64", c="x2 f64", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k4.row.col{.rnd}.f64.f64.f64.f64         d, a, b, c", "5.14", rnd=RND, d="x4 f64", a="x2 f64", b="x1 f64", c="x4 f64", since="7.8 sm_90")
form("mma.sync.aligned.m16n8k8.row.col{.rnd}.f64.f64.f64.f64         d, a, b, c", "5.14", rnd=RND, d="x4 f64", a="x4 f64", b="x2 f64", c="x4 f64", since="7.8 sm_90")
form("mma.sync.aligned.m16n8k16.row.col{.rnd}.f64.f64.f64.f64        d, a, b, c", "5.14", rnd=RND, d="x4 f64", a="x8 f64", b="x4 f64", c="x4 f64", since="7.8 sm_90")
form("mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32.atype.btype.s32  d, a, b, c", "5.14", atype="u8 s8", btype="u8 s8", d="x2 s32", a="x1 u32", b="x1 u32", c="x2 s32", since="6.5 sm_75")
form("mma.sync.aligned.m16n8k16.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c", "5.14", atype="u8 s8", btype="u8 s8", d="x4 s32", a="x2 b32", b="x1 b32", c="x4 s32", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c", "5.14", atype="u8 s8", btype="u8 s8", d="x4 s32", a="x4 b32", b="x2 b32", c="x4 s32", since="7.0 sm_80")
form("mma.sync.aligned.m8n8k32.row.col{.satfinite}.s32.atype.btype.s32  d, a, b, c", "5.14", atype="u4 s4", btype="u4 s4", d="x2 s32", a="x1 b32", b="x1 b32", c="x2 s32", since="6.5 sm_75")
form("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c", "5.14", atype="u4 s4", btype="u4 s4", d="x4 s32", a="x2 b32", b="x1 b32", c="x4 s32", since="7.0 sm_80")
form("mma.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c", "5.14", atype="u4 s4", btype="u4 s4", d="x4 s32", a="x4 b32", b="x2 b32", c="x4 s32", since="7.0 sm_80")
form("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.bitOp.popc   d, a, b, c", "5.14", bitOp="xor and", d="x2 s32", a="x1 b32", b="x1 b32", c="x2 s32", since="7.0 sm_75", needs={".and": "7.1 sm_80"})
form("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.bitOp.popc  d, a, b, c", "5.14", bitOp="xor and", d="x4 s32", a="x2 b32", b="x1 b32", c="x4 s32", since="7.0 sm_80", needs={".and": "7.1"})
form("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.bitOp.popc  d, a, b, c", "5.14", bitOp="xor and", d="x4 s32", a="x4 b32", b="x2 b32", c="x4 s32", since="7.0 sm_80", needs={".and": "7.1"})

# mma.sp: 9.7.14.6.3.
form("mma.spvariant.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", d="x2 f16x2", a="x2 f16x2", b="x2 f16x2", c="x2 f16x2", e="reg anytype32 u32", f="imm 0..3", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", d="x4 untyped f32", a="x2 f16x2", b="x2 f16x2", c="x4 untyped f32", e="reg anytype32 u32", f="imm 0..3", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", d="x4 untyped f32", a="x2 bf16x2", b="x2 bf16x2", c="x4 untyped f32", e="reg anytype32 u32", f="imm 0..3", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", d="x2 f16x2", a="x4 f16x2", b="x4 f16x2", c="x2 f16x2", e="reg anytype32 u32", f="imm 0..1", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", d="x4 untyped f32", a="x4 f16x2", b="x4 f16x2", c="x4 untyped f32", e="reg anytype32 u32", f="imm 0..1~3", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", d="x4 untyped f32", a="x4 bf16x2", b="x4 bf16x2", c="x4 untyped f32", e="reg anytype32 u32", f="imm 0..1", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", d="x4 untyped f32", a="x2 tf32", b="x2 tf32", c="x4 untyped f32", e="reg anytype32 u32", f="imm 0..3", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", d="x4 untyped f32", a="x4 tf32", b="x4 tf32", c="x4 untyped f32", e="reg anytype32 u32", f="imm 0..1", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k64.row.col.f32.atype.btype.f32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", atype="e4m3 e5m2", btype="e4m3 e5m2", d="x4 f32", a="x4 b32", b="x4 b32", c="x4 f32", e="reg anytype32 u32", f="imm 0", since="8.4 sm_89", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k64.row.col.f16.atype.btype.f16 d, a, b, c, e, f", "6.3", spvariant="sp::ordered_metadata", atype="e4m3 e5m2", btype="e4m3 e5m2", d="x2 f16x2", a="x4 b32", b="x4 b32", c="x2 f16x2", e="reg anytype32 u32", f="imm 0", since="8.7 sm_120f")
form("mma.spvariant.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.atype.btype.f32 d, a, b, c, e, f", "6.3", spvariant="sp::ordered_metadata", atype="e4m3 e5m2 e3m2 e2m3 e2m1", btype="e4m3 e5m2 e3m2 e2m3 e2m1", d="x4 f32", a="x4 b32", b="x4 b32", c="x4 f32", e="reg anytype32 u32", f="imm 0", since="8.6 sm_100a sm_110a, 8.7 sm_100f sm_110f sm_120f", needs={".e3m2 | .e2m3 | .e2m1": "sm_120f"})
form("mma.spvariant.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.atype.btype.f16 d, a, b, c, e, f", "6.3", spvariant="sp::ordered_metadata", atype="e4m3 e5m2 e3m2 e2m3 e2m1", btype="e4m3 e5m2 e3m2 e2m3 e2m1", d="x2 f16x2", a="x4 b32", b="x4 b32", c="x2 f16x2", e="reg anytype32 u32", f="imm 0", since="8.7 sm_120f")
form("mma.spvariant.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, e, f, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "6.3", spvariant="sp::ordered_metadata", sfa="reg anytype32 b32", sfb="reg anytype32 b32", byte_a="u16 0 2", thread_a="u16 0..1", byte_b="u16 0 2", thread_b="u16 0..3", d="x4 f32", a="exact x4 b32", b="exact x4 b32", c="x4 f32", e="reg anytype32 u32", f="imm 0", since="8.7 sm_120a sm_121a")
form("mma.spvariant.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, e, f, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "6.3", spvariant="sp::ordered_metadata", sfa="reg anytype32 b32", sfb="reg anytype32 b32", byte_a="u16 0 2", thread_a="u16 0..1", byte_b="u16 0 2", thread_b="u16 0..3", d="x4 f32", a="exact x4 b32", b="exact x4 b32", c="x4 f32", e="reg anytype32 u32", f="imm 0", since="8.7 sm_120a sm_121a")
form("mma.spvariant.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 d, a, b, c, e, f, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "6.3", spvariant="sp::ordered_metadata", sfa="reg anytype32 b32", sfb="reg anytype32 b32", byte_a="u16 0", thread_a="u16 0..1", byte_b="u16 0", thread_b="u16 0..3", d="x4 f32", a="exact x4 b32", b="exact x4 b32", c="x4 f32", e="reg anytype32 u32", f="imm 0", since="8.7 sm_120a sm_121a")
form("mma.spvariant.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0 d, a, b, c, e, f, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "6.3", spvariant="sp::ordered_metadata", atype="e4m3 e5m2 e3m2 e2m3 e2m1", btype="e4m3 e5m2 e3m2 e2m3 e2m1", sfa="reg anytype32 b32", sfb="reg anytype32 b32", byte_a="u16 0..3", thread_a="u16 0..1", byte_b="u16 0..3", thread_b="u16 0..3", d="x4 f32", a="exact x4 b32", b="exact x4 b32", c="x4 f32", e="reg anytype32 u32", f="imm 0", since="8.7 sm_120f")
form("mma.spvariant.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", atype="u8 s8", btype="u8 s8", d="x4 s32", a="x2 lone anytype32 b32", b="x2 b32", c="x4 s32", e="reg anytype32 u32", f="imm 0..1", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", atype="u8 s8", btype="u8 s8", d="x4 s32", a="x4 lone anytype32 b32", b="x4 b32", c="x4 s32", e="reg anytype32 u32", f="imm 0", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", atype="u4 s4", btype="u4 s4", d="x4 s32", a="x2 lone anytype32 b32", b="x2 b32", c="x4 s32", e="reg anytype32 u32", f="imm 0..1", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})
form("mma.spvariant.sync.aligned.m16n8k128.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f", "6.3", spvariant="sp sp::ordered_metadata", atype="u4 s4", btype="u4 s4", d="x4 s32", a="x4 lone anytype32 b32", b="x4 b32", c="x4 s32", e="reg anytype32 u32", f="imm 0", since="7.1 sm_80", needs={".sp::ordered_metadata": "8.5"})

NARROW = "8.6 sm_100f sm_110f, 8.7 sm_120f"
form("ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16               r, [p]", "5.15", num="x1 x2 x4", ss="shared shared::cta", r="xnum b32", p="in shared ~.ss", since="6.5 sm_75", needs=CTA)
form("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8                r, [p]", "5.15", num="x1 x2", ss="shared shared::cta", r="xnum*2 b32", p="in shared ~.ss", since=NARROW)
form("ldmatrix.sync.aligned.m8n16.num{.ss}.b8x16.src_fmt            r, [p]", "5.15", num="x1 x2 x4", ss="shared shared::cta", src_fmt="b6x16_p32 b4x16_p64", r="xnum b32", p="in shared ~.ss", since=NARROW)
form("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8x16.src_fmt     r, [p]", "5.15", num="x1 x2", ss="shared shared::cta", src_fmt="b6x16_p32 b4x16_p64", r="xnum*2 b32", p="in shared ~.ss", since=NARROW)
form("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16               [p], r", "5.16", num="x1 x2 x4", ss="shared shared::cta", r="xnum b32", p="in shared ~.ss", since="7.8 sm_90")
form("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8                 [p], r", "5.16", num="x1 x2 x4", ss="shared shared::cta", r="xnum b32", p="in shared ~.ss", since=NARROW)
form("movmatrix.sync.aligned.m8n8.trans.b16                         d, a",  "5.17", d="lone anytype32 b32", a="reg lone anytype32 b32", since="7.8 sm_75")
# fmt: on
