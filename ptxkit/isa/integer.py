"""Integer arithmetic. PTX ISA 9.7.1."""

from ptxkit.isa.registry import Chapter

form = Chapter("integer", "9.7.1")

form(
    "add.type  d, a, b",
    "1",
    type="u16 u32 u64 s16 s32 s64 u16x2 s16x2",
    needs={".u16x2 | .s16x2": "8.0 sm_90"},
)
form("add{.sat}.s32  d, a, b", "1")
