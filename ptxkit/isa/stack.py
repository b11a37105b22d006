"""Stack manipulation. PTX ISA 9.7.17."""

from ptxkit.isa.registry import Chapter

form = Chapter("stack", "9.7.17")

# fmt: off
form("stacksave.type     d",                   "1", type="u32 u64", since="7.3 sm_52")
form("stackrestore.type  a",                   "2", type="u32 u64", a="read reg .type", since="7.3 sm_52")
form("alloca.type        ptr, size{, immAlign}", "3", type="u32 u64", ptr=".type", size=".type", immAlign="imm 1 2 4 8 16 32 64 128 ~/256", since="7.3 sm_52")
# fmt: on
