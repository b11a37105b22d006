"""Conversion to and from narrow formats, as PTX ISA 9.1 to 9.4 brought it. PTX ISA 9.7.9.21."""

from ptxkit.isa.registry import Chapter

form = Chapter("narrow", "9.7.9")

FAMILIES = "sm_100f sm_110f sm_120f"
FIXED = "9.1 sm_100a sm_103a sm_110a sm_120a sm_121a, 9.4 sm_107a"
RUBIN = "9.4 sm_107f"
NARROW = "e4m3x2 e5m2x2 e2m3x2 e3m2x2 e2m1x2"
HALVES = "f16x2 bf16x2"
WIDER = "e4m3x2 e5m2x2 e2m3x2 e3m2x2"
SCALED2 = ".scaled::n2::ue8m0 -> sf; sf -> .scaled::n2::ue8m0"
SCALED1 = ".scaled::n1::ue8m0 -> sf; sf -> .scaled::n1::ue8m0"
LOOSE = "anytype32 bf16x2"
"""ptxas does not look at the type of two bf16 that are scaled by one number or become two e2m1."""

# fmt: off
# From two halves to two narrow floats, and back.
form("cvt.rn.satfinite{.relu}.dtype.f16x2                               d, a",          "21", dtype="e2m3x2 e3m2x2 e2m1x2", d=".dtype", a="f16x2", since=f"9.1 {FAMILIES}")
form("cvt.rn.satfinite{.relu}.dtype.bf16x2                              d, a",          "21", dtype=WIDER, d=".dtype", a="bf16x2", since=f"9.1 {FAMILIES}")
form("cvt.rn.satfinite{.relu}.e2m1x2.bf16x2                              d, a",          "21", d="e2m1x2", a=LOOSE, since=f"9.1 {FAMILIES}")
form("cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.atype        d, a{, sf}",    "21", atype=NARROW, d="bf16x2", a=".atype", sf="ue8m0x2", rules=SCALED2, since=f"9.2 {FAMILIES}")
# To and from two fixed-point numbers of 8 bits.
form("cvt.frnd2.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.f32         d, a, b{, sf}", "21", frnd2="rn rz", d="bits s2f6x2", a="f32", b="f32", sf="ue8m0x2", rules=SCALED2, since=FIXED, needs={".rz": "9.4 sm_107a"})
form("cvt.frnd2.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.bf16x2      d, a{, sf}",    "21", frnd2="rn rz", d="bits s2f6x2", a="bf16x2", sf="ue8m0x2", rules=SCALED2, since=FIXED, needs={".rz": "9.4 sm_107a"})
form("cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.s2f6x2       d, a{, sf}",    "21", d="bf16x2", a="s2f6x2", sf="ue8m0x2", rules=SCALED2, since=FIXED)
# Towards zero, with a common scale, and with zeros that are positive.
form("cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.dtype.f32    d, a, b{, sf}", "21", frnd2="rn rz", dtype=NARROW, d=".dtype", a="f32", b="f32", sf="ue8m0", rules=SCALED1, since=RUBIN)
form("cvt.frnd2.satfinite{.relu}{.pzo}{.scaled::n1::ue8m0}.dtype.f16x2  d, a{, sf}",    "21", frnd2="rn rz", dtype=NARROW, d=".dtype", a="f16x2", sf="ue8m0", rules=SCALED1, since=RUBIN)
form("cvt.frnd2.satfinite{.relu}{.pzo}.dtype.bf16x2                     d, a",          "21", frnd2="rn rz", dtype=WIDER, d=".dtype", a="bf16x2", since=RUBIN)
form("cvt.frnd2.satfinite{.relu}{.pzo}.e2m1x2.bf16x2                    d, a",          "21", frnd2="rn rz", d="e2m1x2", a=LOOSE, since=RUBIN)
form("cvt.frnd2.satfinite{.relu}{.pzo}.scaled::n1::ue8m0.dtype.bf16x2   d, a, sf",      "21", frnd2="rn rz", dtype=NARROW, d=".dtype", a=LOOSE, sf="ue8m0", since=RUBIN)
form("cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32                        d, a",          "21", frnd2="rn rz", dtype="f16", d="wide .dtype", a="wide f32", since=RUBIN)
form("cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32                        d, a",          "21", frnd2="rn rz", dtype="bf16 tf32", d=".dtype", a="f32", since=RUBIN)
form("cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32                        d, a, b",       "21", frnd2="rn rz", dtype="f16x2", d="wide .dtype", a="wide f32", b="wide f32", since=RUBIN)
form("cvt.frnd2{.relu}{.satfinite}.pzo.dtype.f32                        d, a, b",       "21", frnd2="rn rz", dtype="bf16x2", d=".dtype", a="f32", b="f32", since=RUBIN)
# Two unsigned floats with five bits of exponent, a format of scales.
form("cvt.frnd{.satfinite}.ue5m3x2.f32                                  d, a, b",       "21", frnd="rn rz rp", d="ue5m3x2", a="f32", b="f32", since=RUBIN)
form("cvt.frnd{.satfinite}.ue5m3x2.atype                                d, a",          "21", frnd="rn rz rp", atype=HALVES, d="ue5m3x2", a=".atype", since=RUBIN)
form("cvt.frnd2{.satfinite}.scaled::n1::ue8m0.ue5m3x2.f32               d, a, b, sf",   "21", frnd2="rn rz", d="ue5m3x2", a="f32", b="f32", sf="ue8m0", since=RUBIN)
for halves, source in (("f16x2", "f16x2"), ("bf16x2", LOOSE)):
    form("cvt.frnd2{.satfinite}.scaled::n1::ue8m0.ue5m3x2.atype             d, a, sf",      "21", frnd2="rn rz", atype=halves, d="ue5m3x2", a=source, sf="ue8m0", since=RUBIN)
    form("cvt.frnd{.satfinite}.ue5m3x2.atype                            d, a, sf",      "21", frnd="rn rz rp", atype=halves, d="ue5m3x2", a=source, sf="b8", undocumented="sf", since=RUBIN)
form("cvt.frnd{.satfinite}.ue5m3x2.bf16x2                               d, a, sf",      "21", frnd="rn rz rp", d="ue5m3x2", a="bf16x2", sf="reg u16", undocumented="sf", since=RUBIN)
form("cvt.rn.f16x2.ue5m3x2                                              d, a",          "21", d="f16x2", a="ue5m3x2", since=RUBIN)
form("cvt.rn{.satfinite}{.scaled::n2::ue8m0}.bf16x2.ue5m3x2             d, a{, sf}",    "21", d="bf16x2", a="ue5m3x2", sf="ue8m0x2", rules=SCALED2, since=RUBIN)
# fmt: on
