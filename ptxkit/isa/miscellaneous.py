"""Miscellaneous instructions. PTX ISA 9.7.19."""

from ptxkit.isa.registry import Chapter

form = Chapter("miscellaneous", "9.7.19")

SETMAXNREG = "8.0 sm_90a, 8.6 sm_100f sm_110f, 8.7 sm_120f"

# fmt: off
form("brkpt",                                  "1")
form("nanosleep.u32  t",                       "2", t="read u32", since="6.3 sm_70")
form("pmevent        a",                       "3", a="read imm 0..15", since="1.4")
form("pmevent.mask   a",                       "3", a="read imm 0..65535", since="3.0 sm_20")
form("trap",                                   "4")
form("setmaxnreg.inc.sync.aligned.u32  imm-reg-count", "5", imm_reg_count="read imm 24..256/8", since=SETMAXNREG)
form("setmaxnreg.dec.sync.aligned.u32  imm-reg-count", "5", imm_reg_count="read imm 24..256/8", since=SETMAXNREG)
# fmt: on
