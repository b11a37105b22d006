"""Extended-precision integer arithmetic, through the carry flag. PTX ISA 9.7.2."""

from ptxkit.isa.registry import Chapter

form = Chapter("extended", "9.7.2")

TYPES = "u32 s32 u64 s64"
SHORT = "~u16 ~s16"
WIDE = {".u64 | .s64": "4.3 sm_20"}

# fmt: off
form("add.cc.type         d, a, b",       "1", type=TYPES, since="1.2", needs=WIDE)
form("addc{.cc}.type      d, a, b",       "2", type=TYPES, since="1.2", needs=WIDE)
form("addc.type           d, a, b",       "2", type=SHORT, since="1.2")
form("sub.cc.type         d, a, b",       "3", type=TYPES, since="1.2", needs=WIDE)
form("subc{.cc}.type      d, a, b",       "4", type=TYPES, since="1.2", needs=WIDE)
form("subc.type           d, a, b",       "4", type=SHORT, since="1.2")
form("mad.lo.cc.type      d, a, b, c",    "5", type=TYPES, since="3.0 sm_20", needs=WIDE)
form("mad.hi.cc.type      d, a, b, c",    "5", type=TYPES, since="3.0 sm_20", needs=WIDE)
form("madc.lo{.cc}.type   d, a, b, c",    "6", type=TYPES, since="3.0 sm_20", needs=WIDE)
form("madc.lo.type        d, a, b, c",    "6", type=SHORT, since="3.0 sm_20")
form("madc.hi{.cc}.type   d, a, b, c",    "6", type=TYPES, since="3.0 sm_20", needs=WIDE)
form("madc.hi.type        d, a, b, c",    "6", type=SHORT, since="3.0 sm_20")
# fmt: on
