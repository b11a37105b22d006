"""Control flow. PTX ISA 9.7.12. The operands of `call` are checked against what it calls, not against a row."""

from ptxkit.isa.registry import Chapter

form = Chapter("control", "9.7.12")

# fmt: off
form("bra{.uni}      tgt",                     "3", tgt="read label")
form("brx.idx{.uni}  index, tlist",            "4", index="read u32", tlist="targets", since="6.0 sm_30")
form("call{.uni}     func",                    "5", func="read function")
form("ret{.uni}",                              "6")
form("exit",                                   "7")
# fmt: on
