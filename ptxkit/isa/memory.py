"""Loads, stores, atomics, fences and special instructions, as PTX ISA 9.2 to 9.5 brought them. PTX ISA 9.7.9, 9.7.13, 9.7.19."""

from ptxkit.isa.movement import L2, PREFETCH, TYPE, WIDE
from ptxkit.isa.registry import Chapter
from ptxkit.isa.synchronization import CACHE, HINT, SCOPE, SPACE, SPACES

form = Chapter("memory", "9.7.9")
parallel = Chapter("memory", "9.7.13")
special = Chapter("memory", "9.7.19")

LONG = "(.b64 | .u64 | .s64 | .f64)"
BEYOND = {"level2": L2, "vec": "v4 v8", "type": TYPE, "undocumented": ".level2", "since": "8.8 sm_100"}
LIMITED = HINT.rpartition(";")[0]
"""A policy goes with its hint; the space is global in any case."""
SEM = "relaxed acquire release acq_rel"

RESTRICTED = "sync_restrict::shared::cta sync_restrict::shared::cluster sync_restrict::shared::cluster::read"
RESTRICTS = "8.6 sm_90"
RESTRICTING = {".sync_restrict::shared::cta | .sync_restrict::shared::cluster": "8.6"}
SPACES_OF_FENCES = "global shared::cta shared::cluster"
EITHER = f"{RESTRICTED} {SPACES_OF_FENCES}"
READS = {".sync_restrict::shared::cluster::read": "9.4"}

# fmt: off
form("ld.mmio.acquire.sys{.global}.type  d, [a]", "8", type=f"{TYPE} b128", d="wide vec .type", a="load unified in .global", since="9.3 sm_70")
form("st.mmio.release.sys{.global}.type  [a], b", "11", type=f"{TYPE} b128", b="wide vec .type", a="store in .global", since="9.3 sm_70")
form("ld.proxy::readonly{.global}{.nc}{.vec}.type  d, [a]", "8", a="load in .global", vec="v2 v4 v8", type=TYPE, d="wide vec .type", rules=".v8 -> .b32 | .u32 | .s32 | .f32; .nc -> .global", undocumented=".nc", since="9.4 sm_90", needs={f".v8 | .v4 & {LONG}": "sm_100"})
# Of 256 bits ptxas takes a priority in the second-level cache beside whatever else is said of caches.
form("ld{.weak}{.global}.cop.level2{.L2::cache_hint}{.level_prefetch}.vec.type  d, [a]{, cache-policy}", "8", cop="ca cg cs lu cv", a="load unified in .global", level_prefetch=PREFETCH, d="wide vec .type", rules=(WIDE, LIMITED), **BEYOND)
form("ld.volatile{.global}.level2{.level_prefetch}.vec.type                     d, [a]", "8", a="load unified in .global", level_prefetch=PREFETCH, d="wide vec .type", rules=WIDE, **BEYOND)
form("ld.proxy::readonly{.global}{.nc}.level2.vec.type                          d, [a]", "8", a="load in .global", d="wide vec .type", rules=(WIDE, ".nc -> .global"), needs={".proxy::readonly": "9.4"}, **BEYOND)
form("ld.global.cop.nc.level2{.L2::cache_hint}{.level_prefetch}.vec.type        d, [a]{, cache-policy}", "9", cop="ca cg cs", a="load unified in global", level_prefetch=PREFETCH, d="wide vec .type", rules=(WIDE, LIMITED), **BEYOND)
form("st{.weak}{.global}.cop.level2{.L2::cache_hint}.vec.type                   [a], b{, cache-policy}", "11", cop="wb cg cs wt", a="store in .global", b="wide vec .type", rules=(WIDE, LIMITED), **BEYOND)
form("st.volatile{.global}.level2.vec.type                                      [a], b", "11", a="store in .global", b="wide vec .type", rules=WIDE, **BEYOND)
form("st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes.b128  [a], b, [mbar]", "12", a="in shared::cluster ~.shared::cluster", mbar="in shared::cluster ~.shared::cluster", since="9.2 sm_90")
form("multimem.st.async.release.scope{.global}.type        [a], b", "14", scope="gpu sys", type="b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f64", a="in .global", since="9.3 sm_100")
form("multimem.st.async.release.scope{.global}.f32         [a], b", "14", scope="gpu sys", a="in .global", b="single f32", since="9.3 sm_100")
for bits in (8, 16, 32):  # ptxas takes wider integers.
    form("multimem.st.async.release.scope{.global}.type    [a], b", "14", scope="gpu sys", type=f"b{bits} u{bits} s{bits}", a="in .global", b=f"reg wide called u{bits}", undocumented="b", since="9.3 sm_100")
form("multimem.red.async.release.scope{.global}.add.type   [a], b", "14", scope="gpu sys", type="u32 s32 u64", a="in .global", since="9.3 sm_100")
form("prefetch{.global}.L1::32B.valid_addr  [a]", "15", a="in .global", since="9.4 sm_90")
form("prefetch{.global}.level.L1::32B.valid_addr  [a]", "15", level="L1 L2 L2::evict_last L2::evict_normal", a="in .global", undocumented=".level", since="9.4 sm_90")
form("createpolicy.range{.global}.primary{.secondary}.fabric.b64  policy, [leId, offset], primary-size, total-size", "18", policy="u64", leId="reg value u32", offset="reg u64", primary="L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged", secondary="L2::evict_first L2::evict_unchanged", primary_size="u32 0..total_size", total_size="u32", undocumented=".fabric", since="9.4 sm_100")
form("createpolicy.range.fabric{.global}.primary{.secondary}.b64  policy, [leId, offset], primary-size, total-size", "18", policy="u64", leId="reg value u32", offset="reg u64", primary="L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged", secondary="L2::evict_first L2::evict_unchanged", primary_size="u32 0..total_size", total_size="u32", undocumented=".global", since="9.4 sm_100")

parallel("atom{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.f32       d, [a], b{, cache-policy}", "5", a="unified in .space", sem=SEM, scope=SCOPE, space=SPACE, d="sink f32", rules=HINT, since="9.4 sm_90", needs={**SPACES, **CACHE})
parallel("atom{.sem}{.scope}{.global}.add.noftz{.L2::cache_hint}.vec.f32  d, [a], b{, cache-policy}", "5", sem=SEM, scope=SCOPE, vec="v2 v4", a="unified in .global", d="vec sink f32", b="vec f32", rules=HINT.rpartition(";")[0], since="9.4 sm_90", needs=CACHE)
parallel("red{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.f32        [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, space=SPACE, rules=HINT, since="9.4 sm_90", needs={**SPACES, **CACHE})
parallel("red{.sem}{.scope}{.global}.add.noftz{.L2::cache_hint}.vec.f32   [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, vec="v2 v4", a="in .global", b="vec f32", rules=HINT.rpartition(";")[0], since="9.4 sm_90", needs=CACHE)
parallel("fence.proxy.proxykind.alias.sem.sys",  "4", proxykind="generic::fabric fabric::generic fabric::fabric", sem="acquire release ~acq_rel", since="9.3 sm_100")
parallel("fence.proxy.tensormap::generic.acq_rel.scope",               "4", scope=SCOPE, undocumented=".acq_rel", since="8.3 sm_90")
parallel("fence.proxy.proxykind.acq_rel.scope  [addr], size", "4", proxykind="tensormap::generic async::generic", scope=SCOPE, addr="in generic const param", size="imm u32", undocumented=".acq_rel", since="8.3 sm_90")
parallel("fence.proxy.alias.sem.sys",            "4", sem="acquire release", since="9.4 sm_90")
parallel("fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster", "4", since="9.4 sm_90")
# Restrictions and spaces that mean nothing to ptxas, which it lets pass.
parallel("fence.proxy.alias.restricted",                             "4", restricted=RESTRICTED, undocumented=".restricted", since=RESTRICTS, needs=READS)
parallel("fence.proxy.alias.sem.restricted.sys",                     "4", sem="acquire release", restricted=RESTRICTED, undocumented=".restricted", since="9.4 sm_90")
parallel("fence.proxy.async{.space}.restricted",                     "4", space=SPACES_OF_FENCES, restricted=RESTRICTED, undocumented=".restricted", since=RESTRICTS, needs=READS)
parallel("fence.proxy.proxykind.alias.sem.restricted.sys",           "4", proxykind="generic::fabric fabric::generic fabric::fabric", sem="acquire release", restricted=EITHER, undocumented=".restricted", since="9.3 sm_100", needs=READS)
parallel("fence.proxy.tensormap::generic.relsem.restricted.scope",   "4", relsem="release acq_rel", scope=SCOPE, restricted=EITHER, undocumented=".restricted", since="8.3 sm_90", needs={**RESTRICTING, **READS})
parallel("fence.proxy.async::generic.acq_rel{.restricted}.scope",    "4", scope=SCOPE, restricted=EITHER, undocumented=".acq_rel", since="8.3 sm_90", needs={**RESTRICTING, **READS})
parallel("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.space.cluster", "4", space=SPACES_OF_FENCES, undocumented=".space", since=RESTRICTS)
parallel("fence.proxy.async::generic.release.sync_restrict::shared::cta.space.cluster",     "4", space=SPACES_OF_FENCES, undocumented=".space", since=RESTRICTS)
parallel("fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cta",     "4", undocumented=".cta", since="9.4 sm_90")
parallel("fence.alias.sync_restrict::read.release.sys", "4", since="9.5 sm_90")

MARK = "9.5 sm_107f"
special("trace.mark            event",              "6", event="read imm 0..4095", since=MARK)
special("trace.mark.type       event, payload",     "6", event="read imm 0..4095", type="b32 b64", payload=".type", since=MARK)
special("trace.mark.cond       event, {!}p",          "6", event="read imm 0..4095", p="reg pred", since=MARK)
special("trace.mark.cond.type  event, {!}p, payload", "6", event="read imm 0..4095", p="reg pred", type="b32 b64", payload=".type", since=MARK)
# fmt: on
