"""Logic and shift. PTX ISA 9.7.8."""

from ptxkit.isa.registry import Chapter

form = Chapter("logic", "9.7.8")

# fmt: off
form("and.pred         d, {!}a, {!}b",    "1")
form("and.type         d, a, b",          "1", type="b16 b32 b64")
form("or.pred          d, {!}a, {!}b",    "2")
form("or.type          d, a, b",          "2", type="b16 b32 b64")
form("xor.pred         d, {!}a, {!}b",    "3")
form("xor.type         d, a, b",          "3", type="b16 b32 b64")
form("not.pred         d, {!}a",          "4")
form("not.type         d, a",             "4", type="b16 b32 b64")
form("cnot.type        d, a",             "5", type="b16 b32 b64")
form("lop3.b32         d, a, b, c, immLut",       "6", d="sink b32", immLut="imm ~0..255", since="4.3 sm_50")
form("lop3.BoolOp.b32  d|p, a, b, c, immLut, {!}q", "6", BoolOp="or and", d="sink b32", immLut="imm ~0..255", p="pred", since="8.2 sm_70")
form("shf.l.mode.b32   d, a, b, c",       "7", mode="clamp wrap", c="u32", since="3.1 sm_32")
form("shf.r.mode.b32   d, a, b, c",       "7", mode="clamp wrap", c="u32", since="3.1 sm_32")
form("shl.type         d, a, b",          "8", type="b16 b32 b64", b="u32")
form("shr.type         d, a, b",          "9", type="b16 b32 b64 u16 u32 u64 s16 s32 s64", b="u32")
# fmt: on
