"""Conversion between types. PTX ISA 9.7.9.21 and 9.7.9.22."""

from ptxkit.isa.registry import Chapter

form = Chapter("conversion", "9.7.9")

IRND = "rni rzi rmi rpi"
FRND = "rn rz rm rp"
INTEGERS = "u8 u16 u32 u64 s8 s16 s32 s64"
SHORT = "u8 u16 u32 s8 s16 s32"
A = "wide .atype sreg"

SM80 = "7.0 sm_80"
SM90 = "7.8 sm_90"
FP8 = "8.1 sm_89, 7.8 sm_90"
NARROW = "8.6 sm_100f sm_110f, 8.7 sm_120f"
STOCHASTIC = "8.7 sm_100a sm_103a, 9.4 sm_107a"
SATURATE = {".satfinite": "8.1"}

# fmt: off
# Integer to integer: `.sat` only where the destination's range does not hold the source's.
form("cvt{.sat}.u8.atype   d, a",   "21", atype="u16 u32 u64 s8 s16 s32 s64", d="wide u8",  a=A)
form("cvt.u8.u8            d, a",   "21", d="wide u8",  a="wide u8 sreg")
form("cvt{.sat}.u16.atype  d, a",   "21", atype="u32 u64 s8 s16 s32 s64",     d="wide u16", a=A)
form("cvt.u16.atype        d, a",   "21", atype="u8 u16",                     d="wide u16", a=A)
form("cvt{.sat}.u32.atype  d, a",   "21", atype="u64 s8 s16 s32 s64",         d="wide u32", a=A)
form("cvt.u32.atype        d, a",   "21", atype="u8 u16 u32",                 d="wide u32", a=A)
form("cvt{.sat}.u64.atype  d, a",   "21", atype="s8 s16 s32 s64",             d="wide u64", a=A)
form("cvt.u64.atype        d, a",   "21", atype="u8 u16 u32 u64",             d="wide u64", a=A)
form("cvt{.sat}.s8.atype   d, a",   "21", atype="u8 u16 u32 u64 s16 s32 s64", d="wide s8",  a=A)
form("cvt.s8.s8            d, a",   "21", d="wide s8",  a="wide s8 sreg")
form("cvt{.sat}.s16.atype  d, a",   "21", atype="u16 u32 u64 s32 s64",        d="wide s16", a=A)
form("cvt.s16.atype        d, a",   "21", atype="u8 s8 s16",                  d="wide s16", a=A)
form("cvt{.sat}.s32.atype  d, a",   "21", atype="u32 u64 s64",                d="wide s32", a=A)
form("cvt.s32.atype        d, a",   "21", atype="u8 u16 s8 s16 s32",          d="wide s32", a=A)
form("cvt{.sat}.s64.u64    d, a",   "21", d="wide s64", a="wide u64 sreg")
form("cvt.s64.atype        d, a",   "21", atype="u8 u16 u32 s8 s16 s32 s64",  d="wide s64", a=A)
# Float to integer.
form("cvt.irnd{.sat}.dtype.f16        d, a", "21", irnd=IRND, dtype=INTEGERS, d="wide .dtype", a="wide f16")
form("cvt.irnd{.ftz}{.sat}.dtype.f32  d, a", "21", irnd=IRND, dtype=SHORT, d="wide .dtype", a="wide f32")
form("cvt.irnd{.sat}.dtype.f32        d, a", "21", irnd=IRND, dtype="u64 s64", d="wide .dtype", a="wide f32")
form("cvt.irnd.ftz{.sat}.dtype.f32    d, a", "21", irnd=IRND, dtype="u64 s64", a="wide called f32")
form("cvt.irnd{.sat}.dtype.f64        d, a", "21", irnd=IRND, dtype=INTEGERS, d="wide .dtype", a="wide f64")
form("cvt.irnd.dtype.bf16             d, a", "21", irnd=IRND, dtype=INTEGERS, d=".dtype", a="bf16", since=SM90)
# Integer to float.
form("cvt.frnd{.sat}.f16.atype        d, a", "21", frnd=FRND, atype=INTEGERS, d="wide f16", a="wide .atype")
form("cvt.frnd{.ftz}{.sat}.f32.atype  d, a", "21", frnd=FRND, atype=INTEGERS, d="wide f32", a="wide .atype")
form("cvt.frnd{.sat}.f64.atype        d, a", "21", frnd=FRND, atype=INTEGERS, d="wide f64", a="wide .atype")
form("cvt.frnd.bf16.atype             d, a", "21", frnd=FRND, atype=INTEGERS, d="bf16", a=".atype", since=SM90)
# Float to float.
form("cvt{.irnd}{.sat}.f16.f16        d, a", "21", irnd=IRND, d="wide f16", a="wide f16")
form("cvt{.irnd}{.ftz}{.sat}.f32.f32  d, a", "21", irnd=IRND, d="wide f32", a="wide f32")
form("cvt{.irnd}{.sat}.f64.f64        d, a", "21", irnd=IRND, d="wide f64", a="wide f64")
form("cvt{.irnd}.bf16.bf16            d, a", "21", irnd=IRND, d="bf16", a="bf16", since=SM90)
form("cvt.frnd{.ftz}{.sat}.f16.f32    d, a", "21", frnd=FRND, d="wide f16", a="wide f32")
form("cvt.frnd{.sat}.f16.f64          d, a", "21", frnd=FRND, d="wide f16", a="wide f64")
form("cvt{.ftz}{.sat}.f32.f16         d, a", "21", d="wide f32", a="wide f16")
form("cvt.frnd{.sat}.f32.f64          d, a", "21", frnd=FRND, d="wide f32", a="wide f64")
form("cvt.rn.ftz{.sat}.f32.f64        d, a", "21", d="wide called f32", a="f64")
form("cvt.frnd.ftz{.sat}.f32.f64      d, a", "21", frnd="rz rm rp", d="f32", a="f64")
form("cvt{.sat}.f64.f16               d, a", "21", d="wide f64", a="wide f16")
form("cvt{.sat}.f64.f32               d, a", "21", d="wide f64", a="wide f32")
form("cvt.ftz{.sat}.f64.f32           d, a", "21", d="f64", a="wide called f32")
form("cvt{.frnd}{.ftz}.f32.bf16       d, a", "21", frnd=f"~{FRND.replace(' ', ' ~')}", d="f32", a="bf16", since="7.1 sm_80", needs={".ftz": SM90})
form("cvt{.frnd}.f64.bf16             d, a", "21", frnd=f"~{FRND.replace(' ', ' ~')}", d="f64", a="bf16", since=SM90)
form("cvt{.frnd}.f16.bf16             d, a", "21", frnd=FRND, d="f16", a="bf16", since=SM90)
form("cvt{.frnd}.bf16.f16             d, a", "21", frnd=FRND, d="bf16", a="f16", since=SM90)
form("cvt.frnd{.ftz}.bf16.f32         d, a", "21", frnd=FRND, d="bf16", a="f32", since=SM80)
form("cvt.frnd.bf16.f64               d, a", "21", frnd=FRND, d="bf16", a="f64", since=SM90)
# To half-precision and tf32 formats, with `.relu` and `.satfinite`.
form("cvt.frnd2{.relu}{.satfinite}.f16.f32       d, a",           "21", frnd2="rn rz", d="wide f16", a="wide f32", since=f"{SM80}, 8.1 sm_75", needs={**SATURATE, ".relu": SM80})
form("cvt.frnd2{.relu}{.satfinite}.f16x2.f32     d, a, b",        "21", frnd2="rn rz", d="wide f16x2", a="wide f32", b="wide f32", since=SM80, needs=SATURATE)
form("cvt.rs{.relu}{.satfinite}.f16x2.f32        d, a, b, rbits", "21", d="wide f16x2", a="wide f32", b="wide f32", rbits="exact b32", since=STOCHASTIC)
form("cvt.frnd2{.relu}{.satfinite}.bf16.f32      d, a",           "21", frnd2="rn rz", d="bf16", a="f32", since=SM80, needs=SATURATE)
form("cvt.frnd2{.relu}{.satfinite}.bf16x2.f32    d, a, b",        "21", frnd2="rn rz", d="bf16x2", a="f32", b="f32", since=SM80, needs=SATURATE)
form("cvt.rs{.relu}{.satfinite}.bf16x2.f32       d, a, b, rbits", "21", d="bf16x2", a="f32", b="f32", rbits="exact b32", since=STOCHASTIC)
form("cvt.rna{.satfinite}.tf32.f32               d, a",           "21", d="tf32", a="single f32", since=SM80, needs=SATURATE)
form("cvt.frnd2{.satfinite}{.relu}.tf32.f32      d, a",           "21", frnd2="rn rz", d="tf32", a="f32", since=SM90, needs={".satfinite": "8.6 sm_100"})
# To and from packed 8-, 6- and 4-bit formats.
form("cvt.rn.satfinite{.relu}.f8x2type.f32       d, a, b",        "21", f8x2type="e4m3x2 e5m2x2", d=".f8x2type", a="f32", b="f32", since=FP8)
form("cvt.rn.satfinite{.relu}.f8x2type.f16x2     d, a",           "21", f8x2type="e4m3x2 e5m2x2", d=".f8x2type", a="f16x2", since=FP8)
form("cvt.rn{.relu}.f16x2.f8x2type               d, a",           "21", f8x2type="e4m3x2 e5m2x2", d="f16x2", a=".f8x2type", since=FP8)
form("cvt.rs{.relu}.satfinite.f8x4type.f32       d, {a, b, e, f}, rbits", "21", f8x4type="e4m3x4 e5m2x4", d=".f8x4type", a="f32", b="f32", e="f32", f="f32", rbits="exact b32", since=STOCHASTIC)
form("cvt.rn.satfinite{.relu}.f4x2type.f32       d, a, b",        "21", f4x2type="e2m1x2", d=".f4x2type", a="f32", b="f32", since=NARROW)
form("cvt.rn{.relu}.f16x2.f4x2type               d, a",           "21", f4x2type="e2m1x2", d="f16x2", a=".f4x2type", since=NARROW)
form("cvt.rs{.relu}.satfinite.f4x4type.f32       d, {a, b, e, f}, rbits", "21", f4x4type="e2m1x4", d=".f4x4type", a="f32", b="f32", e="f32", f="f32", rbits="exact b32", since=STOCHASTIC)
form("cvt.rn.satfinite{.relu}.f6x2type.f32       d, a, b",        "21", f6x2type="e2m3x2 e3m2x2", d=".f6x2type", a="f32", b="f32", since=NARROW)
form("cvt.rn{.relu}.f16x2.f6x2type               d, a",           "21", f6x2type="e2m3x2 e3m2x2", d="f16x2", a=".f6x2type", since=NARROW)
form("cvt.rs{.relu}.satfinite.f6x4type.f32       d, {a, b, e, f}, rbits", "21", f6x4type="e2m3x4 e3m2x4", d=".f6x4type", a="f32", b="f32", e="f32", f="f32", rbits="exact b32", since=STOCHASTIC)
form("cvt.frnd3{.satfinite}.ue8m0x2.f32          d, a, b",        "21", frnd3="rz rp", d="ue8m0x2", a="f32", b="f32", since=NARROW)
form("cvt.frnd3{.satfinite}.ue8m0x2.bf16x2       d, a",           "21", frnd3="rz rp", d="ue8m0x2", a="bf16x2", since=NARROW)
form("cvt.rn.bf16x2.ue8m0x2                      d, a",           "21", d="bf16x2", a="ue8m0x2", since=NARROW)
form("cvt.pack.sat.convertType.abType            d, a, b",        "22", convertType="u16 s16", abType="s32", d="wide s32", a="wide .abType", b="wide .abType", since="6.5 sm_72")
form("cvt.pack.sat.convertType.abType.cType      d, a, b, c",     "22", convertType="u2 s2 u4 s4 u8 s8", abType="s32", cType="b32", d="wide s32", a="wide .abType", b="wide .abType", c="wide .cType", since="6.5 sm_72", needs={".u2 | .s2 | .u4 | .s4": "6.5 sm_75"})
# fmt: on
