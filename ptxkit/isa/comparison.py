"""Comparison and selection, in full and half precision. PTX ISA 9.7.6 and 9.7.7."""

from ptxkit.isa.registry import Chapter

form = Chapter("comparison", "9.7.6")
half = Chapter("comparison", "9.7.7")

BITS = "eq ne"
SIGNED = "eq ne lt le gt ge"
UNSIGNED = "eq ne lt le gt ge lo ls hi hs"
FLOAT = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"
BOOL = "and or xor"
COMBINED = ".BoolOp -> c; c -> .BoolOp"
"""The manual's two lines, with and without a predicate to combine the result with, are one row here."""

PLAIN = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"
F16 = {".f16": "4.2 sm_53"}
BF16_SM90 = "7.8 sm_90"

# fmt: off
form("set.CmpOp{.BoolOp}{.ftz}.dtype.f32   d, a, b{, {!}c}", "1", CmpOp=FLOAT, BoolOp=BOOL, dtype="u32 s32 f32 f16", a="f32", b="f32", c="pred", rules=COMBINED, needs=F16)
form("set.CmpOp{.BoolOp}.dtype.f64         d, a, b{, {!}c}", "1", CmpOp=FLOAT, BoolOp=BOOL, dtype="u32 s32 f32 f16", a="f64", b="f64", c="pred", rules=COMBINED, needs=F16)
form("set.CmpOp{.BoolOp}.dtype.stype       d, a, b{, {!}c}", "1", CmpOp=UNSIGNED, BoolOp=BOOL, dtype="u32 s32 f32 f16", stype="u16 u32 u64", a=".stype", b=".stype", c="pred", rules=COMBINED, needs=F16)
form("set.CmpOp{.BoolOp}.dtype.stype       d, a, b{, {!}c}", "1", CmpOp=SIGNED, BoolOp=BOOL, dtype="u32 s32 f32 f16", stype="s16 s32 s64", a=".stype", b=".stype", c="pred", rules=COMBINED, needs=F16)
form("set.CmpOp{.BoolOp}.dtype.stype       d, a, b{, {!}c}", "1", CmpOp=BITS, BoolOp=BOOL, dtype="u32 s32 f32 f16", stype="b16 b32 b64", a=".stype", b=".stype", c="pred", rules=COMBINED, needs=F16)
form("setp.CmpOp{.BoolOp}{.ftz}.f32   p{|q}, a, b{, {!}c}",  "2", p="pred sink", q="pred sink", CmpOp=FLOAT, BoolOp=BOOL, c="pred", rules=COMBINED)
form("setp.CmpOp{.BoolOp}.f64         p{|q}, a, b{, {!}c}",  "2", p="pred sink", q="pred sink", CmpOp=FLOAT, BoolOp=BOOL, c="pred", rules=COMBINED)
form("setp.CmpOp{.BoolOp}.type        p{|q}, a, b{, {!}c}",  "2", p="pred sink", q="pred sink", CmpOp=UNSIGNED, BoolOp=BOOL, type="u16 u32 u64", c="pred", rules=COMBINED)
form("setp.CmpOp{.BoolOp}.type        p{|q}, a, b{, {!}c}",  "2", p="pred sink", q="pred sink", CmpOp=SIGNED, BoolOp=BOOL, type="s16 s32 s64", c="pred", rules=COMBINED)
form("setp.CmpOp{.BoolOp}.type        p{|q}, a, b{, {!}c}",  "2", p="pred sink", q="pred sink", CmpOp=BITS, BoolOp=BOOL, type="b16 b32 b64", c="pred", rules=COMBINED)
form("selp.type                       d, a, b, {!}c",        "3", type=PLAIN, c="pred")
form("slct.dtype.s32                  d, a, b, c",           "4", dtype=PLAIN, a=".dtype", b=".dtype", c="s32")
form("slct{.ftz}.dtype.f32            d, a, b, c",           "4", dtype=PLAIN, a=".dtype", b=".dtype", c="f32")

half("set.CmpOp{.BoolOp}.bf16.stype        d, a, b{, {!}c}", "1", CmpOp=FLOAT, BoolOp=BOOL, stype="f16 f32 f64", d="bf16", a=".stype", b=".stype", c="reg pred", rules=COMBINED, since=BF16_SM90)
half("set.CmpOp{.BoolOp}.bf16.stype        d, a, b{, {!}c}", "1", CmpOp=UNSIGNED, BoolOp=BOOL, stype="u16 u32 u64", d="bf16", a=".stype", b=".stype", c="reg pred", rules=COMBINED, since=BF16_SM90)
half("set.CmpOp{.BoolOp}.bf16.stype        d, a, b{, {!}c}", "1", CmpOp=SIGNED, BoolOp=BOOL, stype="s16 s32 s64", d="bf16", a=".stype", b=".stype", c="reg pred", rules=COMBINED, since=BF16_SM90)
half("set.CmpOp{.BoolOp}.bf16.stype        d, a, b{, {!}c}", "1", CmpOp=BITS, BoolOp=BOOL, stype="b16 b32 b64", d="bf16", a=".stype", b=".stype", c="reg pred", rules=COMBINED, since=BF16_SM90)
half("set.CmpOp{.BoolOp}{.ftz}.dtype.f16   d, a, b{, {!}c}", "1", CmpOp=FLOAT, BoolOp=BOOL, dtype="f16 u16 s16 u32 s32", a="f16", b="f16", c="pred", rules=COMBINED, since="4.2 sm_53", needs={".u16 | .s16 | .u32 | .s32": "6.5"})
half("set.CmpOp{.BoolOp}.bf16.bf16         d, a, b{, {!}c}", "1", CmpOp=FLOAT, BoolOp=BOOL, d="bf16", a="bf16", b="bf16", c="reg pred", rules=COMBINED, since=BF16_SM90)
half("set.CmpOp{.BoolOp}.dtype.bf16        d, a, b{, {!}c}", "1", CmpOp=FLOAT, BoolOp=BOOL, dtype="u16 s16 u32 s32", d="loose .dtype", a="bf16", b="bf16", c="reg pred", rules=COMBINED, since=BF16_SM90)
half("set.CmpOp{.BoolOp}{.ftz}.dtype.f16x2 d, a, b{, {!}c}", "1", CmpOp=FLOAT, BoolOp=BOOL, dtype="f16x2 u32 s32", a="f16x2", b="f16x2", c="pred", rules=COMBINED, since="4.2 sm_53", needs={".u32 | .s32": "6.5"})
half("set.CmpOp{.BoolOp}.dtype.bf16x2      d, a, b{, {!}c}", "1", CmpOp=FLOAT, BoolOp=BOOL, dtype="bf16x2 u32 s32", a="bf16x2", b="bf16x2", c="reg pred", rules=COMBINED, since=BF16_SM90)
half("setp.CmpOp{.BoolOp}{.ftz}.f16   p, a, b{, {!}c}",      "2", p="pred sink", CmpOp=FLOAT, BoolOp=BOOL, c="pred", rules=COMBINED, since="4.2 sm_53")
half("setp.CmpOp{.BoolOp}{.ftz}.f16x2 p{|q}, a, b{, {!}c}",    "2", p="pred sink", q="pred sink", CmpOp=FLOAT, BoolOp=BOOL, c="pred", rules=COMBINED, since="4.2 sm_53")
half("setp.CmpOp{.BoolOp}.bf16        p, a, b{, {!}c}",      "2", p="pred sink", CmpOp=FLOAT, BoolOp=BOOL, c="reg pred", rules=COMBINED, since=BF16_SM90)
half("setp.CmpOp{.BoolOp}.bf16x2      p{|q}, a, b{, {!}c}",    "2", p="pred sink", q="pred sink", CmpOp=FLOAT, BoolOp=BOOL, c="reg pred", rules=COMBINED, since=BF16_SM90)
# fmt: on
