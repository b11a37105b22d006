"""Parallel synchronisation and communication: barriers, fences, atomics, votes. PTX ISA 9.7.13; mbarriers are in mbarrier.py."""

from ptxkit.isa.registry import Chapter

form = Chapter("synchronization", "9.7.13")

SCOPE = "cta cluster gpu sys"
CTA = {".cta": "7.8"}
HINT = (
    ".L2::cache_hint -> cache_policy; cache_policy -> .L2::cache_hint; .L2::cache_hint -> .global | !.space"
)
CACHE = {".L2::cache_hint": "7.4 sm_80"}
SPACES = {
    ".shared::cta": "7.8 sm_30",
    ".shared::cluster": "7.8 sm_90",
    ".scope": "5.0 sm_60",
    ".sem": "6.0 sm_70",
    ".cluster": "7.8 sm_90",
}
SPACE = "global shared shared::cta shared::cluster"
UNSHARED = "!.shared & !.shared::cta"

# fmt: off
form("barrier{.cta}.sync{.aligned}             a{, b}",          "1", a="read u32 0..15", b="u32 ~0..4096/32", since="6.0 sm_30", needs=CTA)
form("barrier{.cta}.aligned.sync               a{, b}",          "1", a="read u32 0..15", b="u32 ~0..4096/32", undocumented=".sync", since="6.0 sm_30", needs=CTA)
form("barrier{.cta}.arrive{.aligned}           a, b",            "1", a="read u32 0..15", b="u32 32..~4096/32", since="6.0 sm_30", needs=CTA)
form("barrier{.cta}.red.popc{.aligned}.u32     d, a{, b}, {!}c", "1", a="u32 0..15", b="u32 ~0..4096/32", c="pred", since="6.0 sm_30", needs=CTA)
form("barrier{.cta}.red.op{.aligned}.pred      p, a{, b}, {!}c", "1", op="and or", p=".pred", a="u32 0..15", b="u32 ~0..4096/32", c="pred", since="6.0 sm_30", needs=CTA)
form("bar{.cta}.sync                           a{, b}",          "1", a="read u32 0..15", b="u32 ~0..4096/32", needs=CTA)
form("bar{.cta}.arrive                         a, b",            "1", a="read u32 0..15", b="u32 32..~4096/32", since="2.0 sm_20", needs=CTA)
form("bar{.cta}.red.popc.u32                   d, a{, b}, {!}c", "1", a="u32 0..15", b="u32 ~0..4096/32", c="pred", since="2.0 sm_20", needs=CTA)
form("bar{.cta}.red.op.pred                    p, a{, b}, {!}c", "1", op="and or", p=".pred", a="u32 0..15", b="u32 ~0..4096/32", c="pred", since="2.0 sm_20", needs=CTA)
form("bar.warp.sync                            membermask",      "2", membermask="read u32", since="6.0 sm_30")
form("barrier.cluster.arrive{.sem}{.aligned}",                   "3", sem="release relaxed", since="7.8 sm_90", needs={".sem": "8.0"})
form("barrier.cluster.wait{.acquire}{.aligned}",                 "3", since="7.8 sm_90", needs={".acquire": "8.0"})

form("fence{.sem}.scope",                                        "4", sem="sc acq_rel acquire release", scope=SCOPE, since="6.0 sm_70", needs={".cluster": "7.8 sm_90", ".acquire | .release": "8.6 sm_90"})
form("fence.acquire.sync_restrict::shared::cluster.cluster",     "4", since="8.6 sm_90")
form("fence.release.sync_restrict::shared::cta.cluster",         "4", since="8.6 sm_90")
form("fence.mbarrier_init.release.cluster",                      "4", since="8.0 sm_90")
form("fence.proxy.alias",                                        "4", since="7.5 sm_70")
form("fence.proxy.async{.space}",                                "4", space="global shared::cta shared::cluster", since="8.0 sm_90")
form("fence.proxy.tensormap::generic.release.scope",             "4", scope=SCOPE, since="8.3 sm_90")
form("fence.proxy.tensormap::generic.acquire.scope  [addr], size", "4", scope=SCOPE, addr="in generic const param", size="imm u32 128", since="8.3 sm_90")
form("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "4", since="8.6 sm_90")
form("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",     "4", since="8.6 sm_90")
form("membar.level",                                             "4", level="cta gl sys", since="1.4")
form("membar.proxy.alias",                                       "4", since="7.5 sm_60")

form("atom{.sem}{.scope}{.space}.op{.L2::cache_hint}.type        d, [a], b{, cache-policy}", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, op="and or xor exch", type="b32 b64", d="sink .type", rules=HINT, since="1.1", needs={**SPACES, **CACHE})
form("atom{.sem}{.scope}{.space}.add{.L2::cache_hint}.type       d, [a], b{, cache-policy}", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, type="u32 s32 u64 f32 f64", d="sink .type", rules=HINT, since="1.1", needs={**SPACES, **CACHE})
form("atom{.sem}{.scope}{.space}.op{.L2::cache_hint}.type        d, [a], b{, cache-policy}", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, op="inc dec", type="u32", d="sink .type", rules=HINT, since="1.1", needs={**SPACES, **CACHE})
form("atom{.sem}{.scope}{.space}.op{.L2::cache_hint}.type        d, [a], b{, cache-policy}", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, op="min max", type="u32 s32 u64 s64", d="sink .type", rules=HINT, since="1.1", needs={**SPACES, **CACHE})
form("atom{.sem}{.scope}{.space}.cas.type                        d, [a], b, c", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, type="b16 b32 b64", d="sink .type", since="1.1", needs={**SPACES, ".b16": "6.3 sm_70"})
form("atom{.sem}{.scope}{.space}.cas.b128                        d, [a], b, c", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, d="sink b128", c="reg b128", since="8.3 sm_90", needs={**SPACES, ".sys": "8.4"})
form("atom{.sem}{.scope}{.space}.op.b32                          d, [a], b, c", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, op="and or xor exch", d="sink b32", c="reg b32", undocumented="c", rules=UNSHARED, since="1.1", needs=SPACES)
form("atom{.sem}{.scope}{.space}.op.b32                          d, [a], b, c", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, op="and or xor exch", d="sink b32", c="single f32", undocumented="c", rules=UNSHARED, since="1.1", needs=SPACES)
form("atom{.sem}{.scope}{.space}.op.b64                          d, [a], b, c", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, op="and or xor exch", d="sink b64", c="exact f64", undocumented="c", rules=UNSHARED, since="1.1", needs=SPACES)
form("atom{.sem}{.scope}{.space}.op.b64                          d, [a], b, c", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, op="and or xor exch", d="sink b64", c="imm double f64", undocumented="c", rules=UNSHARED, since="1.1", needs=SPACES)
form("atom{.sem}{.scope}{.space}.exch{.L2::cache_hint}.b128      d, [a], b{, cache-policy}", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, d="sink b128", rules=HINT, since="8.3 sm_90", needs={**SPACES, **CACHE, ".sys": "8.4"})
form("atom{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type d, [a], b{, cache-policy}", "5", a="unified in .space", sem="relaxed acquire release acq_rel", scope=SCOPE, space=SPACE, type="f16 f16x2 bf16 bf16x2", rules=HINT, since="6.2 sm_60", needs={**SPACES, **CACHE, ".f16": "6.3 sm_70", ".bf16 | .bf16x2": "7.8 sm_90"})
form("atom{.sem}{.scope}{.global}.add{.L2::cache_hint}.vec.f32         d, [a], b{, cache-policy}", "5", sem="relaxed acquire release acq_rel", scope=SCOPE, vec="v2 v4", a="unified in .global", d="vec sink f32", b="vec f32", rules=HINT.rpartition(";")[0], since="8.1 sm_90", needs=CACHE)
form("atom{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type  d, [a], b{, cache-policy}", "5", sem="relaxed acquire release acq_rel", scope=SCOPE, op="add min max", vec="v2 v4 v8", type="f16 bf16", a="unified in .global", d="vec sink .type", b="vec .type", rules=HINT.rpartition(";")[0], since="8.1 sm_90", needs=CACHE)
form("atom{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type  d, [a], b{, cache-policy}", "5", sem="relaxed acquire release acq_rel", scope=SCOPE, op="add min max", vec="v2 v4", type="f16x2 bf16x2", a="unified in .global", d="vec sink .type", b="vec .type", rules=HINT.rpartition(";")[0], since="8.1 sm_90", needs=CACHE)

form("red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type         [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, space=SPACE, op="and or xor", type="b32 b64", rules=HINT, since="1.2", needs={**SPACES, **CACHE})
form("red{.sem}{.scope}{.space}.add{.L2::cache_hint}.type        [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, space=SPACE, type="u32 s32 u64 f32 f64", rules=HINT, since="1.2", needs={**SPACES, **CACHE})
form("red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type         [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, space=SPACE, op="inc dec", type="u32", rules=HINT, since="1.2", needs={**SPACES, **CACHE})
form("red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type         [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, space=SPACE, op="min max", type="u32 s32 u64 s64", rules=HINT, since="1.2", needs={**SPACES, **CACHE})
form("red{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type  [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, space=SPACE, type="f16 f16x2 bf16 bf16x2", rules=HINT, since="6.2 sm_60", needs={**SPACES, **CACHE, ".f16": "6.3 sm_70", ".bf16 | .bf16x2": "7.8 sm_90"})
form("red{.sem}{.scope}{.global}.add{.L2::cache_hint}.vec.f32    [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, vec="v2 v4", a="in .global", b="vec f32", rules=HINT.rpartition(";")[0], since="8.1 sm_90", needs=CACHE)
form("red{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type  [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, op="add min max", vec="v2 v4 v8", type="f16 bf16", a="in .global", b="vec .type", rules=HINT.rpartition(";")[0], since="8.1 sm_90", needs=CACHE)
form("red{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type  [a], b{, cache-policy}", "6", sem="relaxed release", scope=SCOPE, op="add min max", vec="v2 v4", type="f16x2 bf16x2", a="in .global", b="vec .type", rules=HINT.rpartition(";")[0], since="8.1 sm_90", needs=CACHE)

form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]", "7", op="inc dec", type="u32", a="in shared::cluster ~.shared::cluster", mbar="in shared::cluster ~.shared::cluster", since="8.1 sm_90")
form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]", "7", op="min max", type="u32 s32", a="in shared::cluster ~.shared::cluster", mbar="in shared::cluster ~.shared::cluster", since="8.1 sm_90")
form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]", "7", op="and or xor", type="b32", a="in shared::cluster ~.shared::cluster", mbar="in shared::cluster ~.shared::cluster", since="8.1 sm_90")
form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.type [a], b, [mbar]", "7", type="u32 s32 u64", a="in shared::cluster ~.shared::cluster", mbar="in shared::cluster ~.shared::cluster", since="8.1 sm_90")
form("red.async.relaxed.scope{.global}.op.b32   [a], b", "7", scope="gpu sys", op="and or xor", a="in .global", b="u32", undocumented="a", since="8.6 sm_100", needs={".global": "8.7"})
form("red.async.relaxed.scope{.global}.op.type  [a], b", "7", scope="gpu sys", op="add min max inc dec", type="u32 s32 u64 s64", a="in .global", undocumented="a", rules=".inc | .dec -> .u32; .min | .max -> .u32 | .s32", since="8.6 sm_100", needs={".global": "8.7"})
form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type  [a], b", "7", op="add min max inc dec and or xor", type="u32 s32 u64 b32", a="in shared::cluster ~.shared::cluster", undocumented="a", rules=".and | .or | .xor -> .b32; .b32 -> .and | .or | .xor; .inc | .dec -> .u32; .min | .max -> .u32 | .s32", since="8.1 sm_90")
form("red.async{.mmio}.release.scope{.global}.add.type           [a], b", "7", scope="gpu sys", type="u32 s32 u64 s64", a="in .global", rules=".mmio -> .sys", since="8.7 sm_100")

form("vote.mode.pred         d, {!}a",             "8", mode="all any uni", since="1.2 sm_12", until="6.4 sm_70")
form("vote.ballot.b32        d, {!}a",             "8", a="pred", since="1.2 sm_20", until="6.4 sm_70")
form("vote.sync.mode.pred    d, {!}a, membermask", "9", mode="all any uni", since="6.0 sm_30")
form("vote.sync.ballot.b32   d, {!}a, membermask", "9", a="pred", since="6.0 sm_30")
form("match.any.sync.type    d, a, membermask",    "10", type="b32 b64", d="u32", since="6.0 sm_70")
form("match.all.sync.type    d{|p}, a, membermask", "10", type="b32 b64", d="sink u32", p="pred sink", since="6.0 sm_70")
form("activemask.b32         d",                   "11", since="6.2 sm_30")
form("redux.sync.op.type     dst, src, membermask", "12", op="add min max", type="u32 s32", dst=".type", src=".type", since="7.0 sm_80")
form("redux.sync.op.b32      dst, src, membermask", "12", op="and or xor", dst="u32", src="u32", since="7.0 sm_80")
form("redux.sync.op{.abs}{.NaN}.f32  dst, src, membermask", "12", op="min max", dst="f32", src="f32", since="8.6 sm_100f")
form("griddepcontrol.action",                      "13", action="launch_dependents wait", since="7.8 sm_90")
form("elect.sync             d|p, membermask",     "14", d="sink u32", p="pred", since="8.0 sm_90")

form("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned  [dst], [src], size", "16", scope=SCOPE, dst="in global", src="in shared::cta", size="imm u32 128", since="8.3 sm_90")
form("clusterlaunchcontrol.try_cancel.async{.space}.mbarrier::complete_tx::bytes{.multicast::cluster::all}.b128  [addr], [mbar]", "17", space="shared::cta", mbar="in .space", since="8.6 sm_100", needs={".multicast::cluster::all": "8.6 sm_100f sm_110f, 8.7 sm_120f"})
form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128           pred, response", "18", pred="pred", response="b128", since="8.6 sm_100")
form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128     {x, y, z, w}, response", "18", x="sink u32", y="sink u32", z="sink u32", w="sink u32", response="b128", since="8.6 sm_100")
form("clusterlaunchcontrol.query_cancel.dimension.b32.b128              reg, response", "18", dimension="get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z", reg="b32", response="braced b128", since="8.6 sm_100")
# fmt: on
