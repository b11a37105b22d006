"""Packed arithmetic, as PTX ISA 9.2 to 9.4 brought it. PTX ISA 9.7.1, 9.7.3 to 9.7.6."""

from ptxkit.isa.registry import Chapter

form = Chapter("packed", "9.7.1")
half = Chapter("packed", "9.7.4")
mixed = Chapter("packed", "9.7.5")
comparison = Chapter("packed", "9.7.6")

BYTES = "9.2 sm_120f, 9.4 sm_107f"
RUBIN = "9.4 sm_107f"
BLACKWELL = "9.4 sm_100a sm_103a"
RND = "rn rz rm rp"
FP8 = "e5m2x4 e4m3x4"
NARROW = f"{FP8} e3m2x4 e2m3x4 e2m1x4 e2m1p4x4 ue8m0x4"

# fmt: off
form("add{.sat}.type    d, a, b",    "1",  type="u8x4 s8x4", since=BYTES)
form("add.sat.type      d, a, b",    "1",  type="u16x2 s16x2 u32", since=BYTES)
form("sub{.sat}.type    d, a, b",    "2",  type="u8x4 s8x4", since=BYTES)
form("neg.s8x4          d, a",       "11", since=BYTES)
form("min.u8x4          d, a, b",    "12", since=BYTES)
form("min{.relu}.s8x4   d, a, b",    "12", since=BYTES)
form("max.u8x4          d, a, b",    "13", since=BYTES)
form("max{.relu}.s8x4   d, a, b",    "13", since=BYTES)
form("clmad.lo.type     d, a, b, c", "25", type="u64 ~s64", a="u64", b="u64", c="u64", since="9.3 sm_80")
form("clmad.hi.type     d, a, b, c", "25", type="u64 ~s64", a="u64", b="u64", c="u64", since="9.3 sm_80")

comparison("set.CmpOp.type  d, a, b",   "1", CmpOp="eq ne lt le gt ge lo ls hi hs", type="u8x4 u16x2", d="exact b32", since=RUBIN)
comparison("set.CmpOp.type  d, a, b",   "1", CmpOp="eq ne lt le gt ge", type="s8x4 s16x2", d="exact b32", since=RUBIN)

# Four floats of 8, 6 or 4 bits: computed exactly, rounded once.
half("add{.rn}{.satfinite}.dtype.atype        d, a, c",    "1", dtype=FP8, atype=NARROW, d="braced .dtype", a="braced .atype", c="braced .dtype", since=BLACKWELL)
half("sub{.rn}{.satfinite}.dtype.atype        d, a, c",    "2", dtype=FP8, atype=NARROW, d="braced .dtype", a="braced .atype", c="braced .dtype", since=BLACKWELL)
half("mul.rn{.satfinite}.dtype.atype.btype    d, a, b",    "3", dtype=FP8, atype=NARROW, btype=NARROW, d="braced .dtype", a="braced .atype", b="braced .btype", ptxas_optional="rn", since=BLACKWELL)
half("fma{.rn}{.satfinite}.dtype.atype.btype  d, a, b, c", "4", dtype=FP8, atype=NARROW, btype=NARROW, d="braced .dtype", a="braced .atype", b="braced .btype", c="braced .dtype", since=BLACKWELL)
half("mul.dtype.dtype2.btype                  d, a, b",    "3", dtype="bf16x2", dtype2="bf16x2", btype="f16x2", d=".dtype", a=".dtype2", b=".btype", since=RUBIN)
half("mul.dtype.dtype2.btype                  d, a, b",    "3", dtype="f16x2", dtype2="f16x2", btype="bf16x2", d=".dtype", a=".dtype2", b=".btype", since=RUBIN)

# Two single-precision numbers with two of half precision.
mixed("add{.rnd}.f32x2.atype.ctype      d, a, c",    "1", rnd=RND, atype="f16x2 bf16x2", ctype="f32x2", d="f32x2", a=".atype", c="f32x2", since=RUBIN)
mixed("sub{.rnd}.f32x2.atype.ctype      d, a, c",    "2", rnd=RND, atype="f16x2 bf16x2", ctype="f32x2", d="f32x2", a=".atype", c="f32x2", since=RUBIN)
mixed("fma.rnd.f32x2.atype.btype.ctype  d, a, b, c", "3", rnd=RND, atype="f16x2 bf16x2", btype="f32x2", ctype="f32x2", d="f32x2", a=".atype", b="f32x2", c="f32x2", since=RUBIN)
for opcode, section in (("add", "1"), ("sub", "2")):
    mixed(f"{opcode}.rz.ftz.f16x2.atype.btype  d, a, b", section, atype="f32x2", btype="f32x2", d="f16x2", a="f32x2", b="f32x2", ptxas_optional="rz", since=RUBIN)
    mixed(f"{opcode}.rz.bf16x2.atype.btype     d, a, b", section, atype="f32x2", btype="f32x2", d="bf16x2", a="f32x2", b="f32x2", ptxas_optional="rz", since=RUBIN)
half("mul.rz.ftz.f16x2.atype.btype  d, a, b", "3", atype="f32x2", btype="f32x2", d="f16x2", a="f32x2", b="f32x2", since=RUBIN)
half("mul.rz.bf16x2.atype.btype     d, a, b", "3", atype="f32x2", btype="f32x2", d="bf16x2", a="f32x2", b="f32x2", since=RUBIN)
# What ptxas lets pass beside: other roundings of bf16, and .sat of f16.
half("fma.rnd.oob{.relu}.type  d, a, b, c", "4", rnd="rz rm rp", type="bf16 bf16x2", undocumented=".oob", since="8.1 sm_90")
half("fma.rn.oob.sat.type      d, a, b, c", "4", type="f16 f16x2", undocumented=".oob", since="8.1 sm_90")
# fmt: on
