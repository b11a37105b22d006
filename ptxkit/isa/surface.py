"""Surfaces. PTX ISA 9.7.11."""

from ptxkit.isa.registry import Chapter

form = Chapter("surface", "9.7.11")

GEOM = "1d 2d 3d a1d a2d"
CLAMP = "trap clamp zero"
SHORT = "!(.v4 & .b64)"

# fmt: off
form("suld.b.geom{.cop}{.vec}.dtype.clamp  d, [a, coords]", "1", geom=GEOM, cop="ca cg cs cv", vec="v2 v4", dtype="b8 b16 b32 b64", clamp=CLAMP, d="wide vec loose .dtype", a="surfref u64", coords="texels loose s32", rules=SHORT, since="1.5")
form("sust.b.geom{.cop}{.vec}.ctype.clamp  [a, coords], c", "2", geom=GEOM, cop="wb cg cs wt", vec="v2 v4", ctype="b8 b16 b32 b64", clamp=CLAMP, a="surfref u64", coords="texels loose s32", c="wide vec loose .ctype", rules=SHORT, since="1.5")
form("sust.p.geom{.cop}{.vec}.b32.clamp    [a, coords], c", "2", geom=GEOM, cop="~wb ~cg ~cs ~wt", vec="v2 v4", clamp=CLAMP, a="surfref u64", coords="texels loose s32", c="wide vec loose b32", since="2.0 sm_20")
form("sured.b.op.geom.ctype.clamp          [a, coords], c", "3", op="add", geom="1d 2d 3d", ctype="u32 s32 u64", clamp=CLAMP, a="surfref u64", coords="texels loose s32", c="wide .ctype", since="2.0 sm_20")
form("sured.b.op.geom.ctype.clamp          [a, coords], c", "3", op="min max", geom="1d 2d 3d", ctype="u32 s32 u64 s64", clamp=CLAMP, a="surfref u64", coords="texels loose s32", c="wide .ctype", since="2.0 sm_20", needs={".u64 | .s64": "8.1 sm_50"})
form("sured.b.op.geom.ctype.clamp          [a, coords], c", "3", op="and or", geom="1d 2d 3d", ctype="b32", clamp=CLAMP, a="surfref u64", coords="texels loose s32", c="wide .ctype", since="2.0 sm_20")
form("sured.p.op.geom.ctype.clamp          [a, coords], c", "3", op="add min max and or", geom="1d 2d 3d", ctype="b32", clamp=CLAMP, a="surfref u64", coords="texels loose s32", c="wide .ctype", since="2.0 sm_20")
form("sured.p.op.geom.ctype.clamp          [a, coords], c", "3", op="min max", geom="1d 2d 3d", ctype="b64", clamp=CLAMP, a="surfref u64", coords="texels loose s32", c="wide .ctype", since="8.1 sm_50")
form("suq.query.b32                        d, [a]", "4", query="width height depth channel_data_type channel_order array_size memory_layout", d="b32", a="surfref u64", since="1.5")
# fmt: on
