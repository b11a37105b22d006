"""Loads, stores, atomics, fences and special instructions, as PTX ISA 9.2 to 9.5 brought them. PTX ISA 9.7.9, 9.7.13, 9.7.19."""

from ptxkit.isa.movement import TYPE
from ptxkit.isa.registry import Chapter
from ptxkit.isa.synchronization import CACHE, HINT, SCOPE, SPACE, SPACES

form = Chapter("memory", "9.7.9")
parallel = Chapter("memory", "9.7.13")
special = Chapter("memory", "9.7.19")

LONG = "(.b64 | .u64 | .s64 | .f64)"
SEM = "relaxed acquire release acq_rel"

# fmt: off
form("ld.mmio.acquire.sys{.global}.type  d, [a]", "8", type=f"{TYPE} b128", d="wide vec .type", a="load unified in .global", since="9.3 sm_70")
form("st.mmio.release.sys{.global}.type  [a], b", "11", type=f"{TYPE} b128", b="wide vec .type", a="store in .global", since="9.3 sm_70")
form("ld.proxy::readonly{.global}{.nc}{.vec}.type  d, [a]", "8", a="load in .global", vec="v2 v4 v8", type=TYPE, d="wide vec .type", rules=".v8 -> .b32 | .u32 | .s32 | .f32; .nc -> .global", undocumented=".nc", since="9.4 sm_90", needs={f".v8 | .v4 & {LONG}": "sm_100"})
form("st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes.b128  [a], b, [mbar]", "12", a="in shared::cluster ~.shared::cluster", mbar="in shared::cluster ~.shared::cluster", since="9.2 sm_90")
form("multimem.st.async.release.scope{.global}.type        [a], b", "14", scope="gpu sys", type=TYPE, a="in .global", since="9.3 sm_100")
form("multimem.red.async.release.scope{.global}.add.type   [a], b", "14", scope="gpu sys", type="u32 s32 u64", a="in .global", since="9.3 sm_100")
form("prefetch{.global}.L1::32B.valid_addr  [a]", "15", a="in .global", since="9.4 sm_90")
form("prefetch{.global}.level.L1::32B.valid_addr  [a]", "15", level="L1 L2 L2::evict_last L2::evict_normal", a="in .global", undocumented=".level", since="9.4 sm_90")
form("createpolicy.range.fabric{.global}.primary{.secondary}.b64  policy, [leId, offset], primary-size, total-size", "18", policy="u64", leId="reg value u32", offset="reg u64", primary="L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged", secondary="L2::evict_first L2::evict_unchanged", primary_size="u32 0..total_size", total_size="u32", undocumented=".global", since="9.4 sm_100")

parallel("atom{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.f32       d, [a], b{, cache-policy}", "5", a="unified in .space", sem=SEM, scope=SCOPE, space=SPACE, d="sink f32", rules=HINT, since="9.4 sm_90", needs={**SPACES, **CACHE})
parallel("atom{.sem}{.scope}{.global}.add.noftz{.L2::cache_hint}.vec.f32  d, [a], b{, cache-policy}", "5", sem=SEM, scope=SCOPE, vec="v2 v4", a="unified in .global", d="vec sink f32", b="vec f32", rules=HINT.rpartition(";")[0], since="9.4 sm_90", needs=CACHE)
parallel("red{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.f32        [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, space=SPACE, rules=HINT, since="9.4 sm_90", needs={**SPACES, **CACHE})
parallel("red{.sem}{.scope}{.global}.add.noftz{.L2::cache_hint}.vec.f32   [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, vec="v2 v4", a="in .global", b="vec f32", rules=HINT.rpartition(";")[0], since="9.4 sm_90", needs=CACHE)
parallel("fence.proxy.proxykind.alias.sem.sys",  "4", proxykind="generic::fabric fabric::generic fabric::fabric", sem="acquire release ~acq_rel", since="9.3 sm_100")
parallel("fence.proxy.tensormap::generic.acq_rel.scope",               "4", scope=SCOPE, undocumented=".acq_rel", since="8.3 sm_90")
parallel("fence.proxy.tensormap::generic.acq_rel.scope  [addr], size", "4", scope=SCOPE, addr="in generic const param", size="imm u32", undocumented=".acq_rel", since="8.3 sm_90")
parallel("fence.proxy.alias.sem.sys",            "4", sem="acquire release", since="9.4 sm_90")
parallel("fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster", "4", since="9.4 sm_90")
parallel("fence.alias.sync_restrict::read.release.sys", "4", since="9.5 sm_90")

MARK = "9.5 sm_107f"
special("trace.mark            event",              "6", event="read imm 0..4095", since=MARK)
special("trace.mark.type       event, payload",     "6", event="read imm 0..4095", type="b32 b64", payload=".type", since=MARK)
special("trace.mark.cond       event, {!}p",          "6", event="read imm 0..4095", p="reg pred", since=MARK)
special("trace.mark.cond.type  event, {!}p, payload", "6", event="read imm 0..4095", p="reg pred", type="b32 b64", payload=".type", since=MARK)
# fmt: on
