"""Control flow. PTX ISA 9.7.12. The operands of `call` are checked against what it calls, not against a row."""

from ptxkit.isa.registry import Chapter

form = Chapter("control", "9.7.12")

# fmt: off
form("bra{.uni}      tgt",                     "3", tgt="read label", traits="branches")
form("brx.idx{.uni}  index, tlist",            "4", index="read u32", tlist="targets", traits="branches", since="6.0 sm_30")
form("call{.uni}     func",                    "5", func="read function", traits="calls")
form("ret{.uni}",                              "6", traits="ends")
form("exit",                                   "7", traits="ends")
# fmt: on
