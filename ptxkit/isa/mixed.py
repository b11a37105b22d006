"""Arithmetic of single precision with half-precision operands. PTX ISA 9.7.5."""

from ptxkit.isa.registry import Chapter

form = Chapter("mixed", "9.7.5")

RND = "rn rz rm rp"

# fmt: off
form("add{.rnd}{.sat}.f32.atype  d, a, c",    "1", rnd=RND, atype="f16 bf16", d="f32", c="f32", a=".atype", since="8.6 sm_100")
form("sub{.rnd}{.sat}.f32.atype  d, a, c",    "2", rnd=RND, atype="f16 bf16", d="f32", c="f32", a=".atype", since="8.6 sm_100")
form("fma.rnd{.sat}.f32.abtype   d, a, b, c", "3", rnd=RND, abtype="f16 bf16", d="f32", a=".abtype", b=".abtype", c="f32", since="8.6 sm_100")
# fmt: on
