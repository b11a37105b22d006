"""Integer arithmetic. PTX ISA 9.7.1."""

from ptxkit.isa.registry import Chapter

form = Chapter("integer", "9.7.1")

INTEGERS = "u16 u32 u64 s16 s32 s64"
PACKED = {".u16x2 | .s16x2": "8.0 sm_90"}

# fmt: off
form("add.type            d, a, b",       "1",  type=f"{INTEGERS} u16x2 s16x2", needs=PACKED)
form("add{.sat}.s32       d, a, b",       "1")
form("sub.type            d, a, b",       "2",  type=INTEGERS)
form("sub{.sat}.s32       d, a, b",       "2")
form("mul.lo.type         d, a, b",       "3",  type=INTEGERS)
form("mul.hi.type         d, a, b",       "3",  type=INTEGERS)
form("mul.wide.type       d, a, b",       "3",  type="u16 u32 s16 s32", d="2*.type")
form("mad.lo.type         d, a, b, c",    "4",  type=INTEGERS)
form("mad.hi.type         d, a, b, c",    "4",  type=INTEGERS)
form("mad.wide.type       d, a, b, c",    "4",  type="u16 u32 s16 s32", d="2*.type", c="2*.type")
form("mad.hi.sat.s32      d, a, b, c",    "4")
form("mul24.lo.type       d, a, b",       "5",  type="u32 s32")
form("mul24.hi.type       d, a, b",       "5",  type="u32 s32")
form("mad24.lo.type       d, a, b, c",    "6",  type="u32 s32")
form("mad24.hi.type       d, a, b, c",    "6",  type="u32 s32")
form("mad24.hi.sat.s32    d, a, b, c",    "6")
form("sad.type            d, a, b, c",    "7",  type=INTEGERS)
form("div.type            d, a, b",       "8",  type=INTEGERS)
form("rem.type            d, a, b",       "9",  type=INTEGERS)
form("abs.type            d, a",          "10", type="s16 s32 s64")
form("neg.type            d, a",          "11", type="s16 s32 s64")
form("min.atype           d, a, b",       "12", atype="u16 u32 u64 u16x2 s16 s64", d=".atype", b=".atype", needs={".u16x2": "8.0 sm_90"})
form("min{.relu}.btype    d, a, b",       "12", btype="s16x2 s32", d=".btype", a=".btype", needs={".s16x2 | .relu": "8.0 sm_90"})
form("max.atype           d, a, b",       "13", atype="u16 u32 u64 u16x2 s16 s64", d=".atype", b=".atype", needs={".u16x2": "8.0 sm_90"})
form("max{.relu}.btype    d, a, b",       "13", btype="s16x2 s32", d=".btype", a=".btype", needs={".s16x2 | .relu": "8.0 sm_90"})
form("popc.type           d, a",          "14", type="b32 b64", d="u32", since="2.0 sm_20")
form("clz.type            d, a",          "15", type="b32 b64", d="u32", since="2.0 sm_20")
form("bfind{.shiftamt}.type  d, a",       "16", type="u32 u64 s32 s64", d="u32", since="2.0 sm_20")
form("fns.b32             d, mask, base, offset", "17", mask="b32", base="b32", offset="s32 bits", since="6.0 sm_30")
form("brev.type           d, a",          "18", type="b32 b64", since="2.0 sm_20")
form("bfe.type            d, a, b, c",    "19", type="u32 u64 s32 s64", b="u32 0..255", c="u32 0..255", since="2.0 sm_20")
form("bfi.type            f, a, b, c, d", "20", type="b32 b64", c="u32 0..255", d="u32 0..255", since="2.0 sm_20")
form("szext.mode.type     d, a, b",       "21", mode="clamp wrap", type="u32 s32", b="u32", since="7.6 sm_70")
form("bmsk.mode.b32       d, a, b",       "22", mode="clamp wrap", d="u32", a="u32", b="u32", since="7.6 sm_70")
form("dp4a.atype.btype    d, a, b, c",    "23", atype="u32 s32", btype="u32 s32", d="s32", c="s32", since="5.0 sm_61")
form("dp2a.lo.atype.btype d, a, b, c",    "24", atype="u32 s32", btype="u32 s32", d="s32", c="s32", since="5.0 sm_61")
form("dp2a.hi.atype.btype d, a, b, c",    "24", atype="u32 s32", btype="u32 s32", d="s32", c="s32", since="5.0 sm_61")
# fmt: on
