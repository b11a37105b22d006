"""Half-precision and bfloat16 arithmetic. PTX ISA 9.7.4."""

from ptxkit.isa.registry import Chapter

form = Chapter("half", "9.7.4")

BF16_SM90 = "7.8 sm_90"
XORSIGN = {".xorsign": "7.2 sm_86"}

# fmt: off
form("add{.rnd}{.ftz}{.sat}.type  d, a, b",    "1",  rnd="rn", type="f16 f16x2", since="4.2 sm_53")
form("add{.rnd}.type              d, a, b",    "1",  rnd="rn", type="bf16 bf16x2", since=BF16_SM90)
form("sub{.rnd}{.ftz}{.sat}.type  d, a, b",    "2",  rnd="rn", type="f16 f16x2", since="4.2 sm_53")
form("sub{.rnd}.type              d, a, b",    "2",  rnd="rn", type="bf16 bf16x2", since=BF16_SM90)
form("mul{.rnd}{.ftz}{.sat}.type  d, a, b",    "3",  rnd="rn", type="f16 f16x2", since="4.2 sm_53")
form("mul{.rnd}.type              d, a, b",    "3",  rnd="rn", type="bf16 bf16x2", since=BF16_SM90)
form("fma.rnd{.ftz}{.sat}.type    d, a, b, c", "4",  rnd="rn", type="f16 f16x2", since="4.2 sm_53")
form("fma.rnd{.ftz}.relu.type     d, a, b, c", "4",  rnd="rn", type="f16 f16x2", since="7.0 sm_80")
form("fma.rnd{.relu}.type         d, a, b, c", "4",  rnd="rn ~rz ~rm ~rp", type="bf16 bf16x2", since="7.0 sm_80")
form("fma.rnd.oob{.relu}.type     d, a, b, c", "4",  rnd="rn", type="f16 f16x2 bf16 bf16x2", since="8.1 sm_90")
form("neg{.ftz}.type              d, a",       "5",  type="f16 f16x2", since="6.0 sm_53")
form("neg.type                    d, a",       "5",  type="bf16 bf16x2", since="7.0 sm_80")
form("abs{.ftz}.type              d, a",       "6",  type="f16 f16x2", since="6.5 sm_53")
form("abs.type                    d, a",       "6",  type="bf16 bf16x2", since="7.0 sm_80")
form("min{.ftz}{.NaN}{.xorsign.abs}.type  d, a, b", "7", type="f16 f16x2", since="7.0 sm_80", needs=XORSIGN)
form("min{.NaN}{.xorsign.abs}.type        d, a, b", "7", type="bf16 bf16x2", since="7.0 sm_80", needs=XORSIGN)
form("max{.ftz}{.NaN}{.xorsign.abs}.type  d, a, b", "8", type="f16 f16x2", since="7.0 sm_80", needs=XORSIGN)
form("max{.NaN}{.xorsign.abs}.type        d, a, b", "8", type="bf16 bf16x2", since="7.0 sm_80", needs=XORSIGN)
form("tanh.approx.type            d, a",       "9",  type="f16 f16x2 bf16 bf16x2", since="7.0 sm_75", needs={".bf16 | .bf16x2": BF16_SM90})
form("ex2.approx.atype            d, a",       "10", atype="f16 f16x2", d=".atype", since="7.0 sm_75")
form("ex2.approx.ftz.btype        d, a",       "10", btype="bf16 bf16x2", d=".btype", a=".btype", since=BF16_SM90)
# fmt: on
