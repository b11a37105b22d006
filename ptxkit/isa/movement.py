"""Data movement and conversion of addresses. PTX ISA 9.7.9.3 to 9.7.9.20, 9.7.9.23, 9.7.9.24; `cvt` is in conversion.py."""

from ptxkit.isa.registry import Chapter

form = Chapter("movement", "9.7.9")

TYPE = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"
L1 = "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"
L2 = "L2::evict_normal L2::evict_first L2::evict_last"
PREFETCH = "L2::64B L2::128B L2::256B"
SCOPE = "cta cluster gpu sys"
LOAD_SPACES = "const global local param param::entry param::func shared shared::cta shared::cluster"
STORE_SPACES = "global local param param::func shared shared::cta shared::cluster"
SHARED_SPACES = "global shared shared::cta shared::cluster"

LONG = "(.b64 | .u64 | .s64 | .f64)"
WIDE = f"(.v8 & (.b32 | .u32 | .s32 | .f32) | .v4 & {LONG})"
"""The accesses of 256 bits."""

SPACED = f"{WIDE} -> .global | !.ss"
LOADED = ".v8 -> .b32 | .u32 | .s32 | .f32; !(.b128 & .vec)"
"""Of vectors that are loaded: with `.v8` of narrower elements, which it takes in stores, ptxas crashes."""
STORED = f"!(.v8 & {LONG}); !(.b128 & .vec); {SPACED}"
HINT = ".L2::cache_hint -> cache_policy; cache_policy -> .L2::cache_hint; .L2::cache_hint -> .global | !.ss"
EVICT = f".level1 -> .global | !.ss; .level2 -> {WIDE}"
FETCH = ".level_prefetch -> .global | !.ss"

NEEDS = {
    WIDE: "8.8 sm_100",
    ".b128": "8.3 sm_70",
    ".shared::cta": "7.8 sm_30",
    ".shared::cluster": "7.8 sm_90",
}
LOAD_NEEDS = {**NEEDS, ".param::entry | .param::func": "8.3"}
STORE_NEEDS = {**NEEDS, ".param::func": "8.3"}
HINT_NEEDS = {".L2::cache_hint": "7.4 sm_80"}
EVICT_NEEDS = {".level1": "7.4 sm_70", ".level2": "8.8 sm_100"}
FETCH_NEEDS = {".level_prefetch": "7.4 sm_75", ".L2::256B": "7.4 sm_80"}
ORDERED = {".cluster": "7.8 sm_90", ".b128 & .sys": "8.4"}

# fmt: off
form("mov.type  d, a",  "3", type="b16 b32 b64 u16 u32 u64 s16 s32 s64 b128", a=".type sreg variable function", needs={".b128": "8.3 sm_70"})
form("mov.type  d, a",  "3", type="f32 f64")
form("mov.type  d, a",  "3", type="u64", a="reg .type texref samplerref surfref", since="3.1 sm_20")
form("mov.pred  d, {!}a",  "3", a="pred sreg")
form("mov.type  d, a",  "4", type="b16 b32 b64 b128", d=".type pack", a=".type sreg", needs={".b128": "8.3 sm_70"})
form("mov.type  d, a",  "4", type="b16 b32 b64 b128", a=".type pack", needs={".b128": "8.3 sm_70"})
form("mov.vec.type  d, a",  "3", vec="v2 v4", type="b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", d="vec .type", a="vec loose .type sreg variable", rules=f"!(.v4 & {LONG})")

form("shfl.mode.b32       d{|p}, a, b, c",             "5", mode="up down bfly idx", b="b32", c="b32", p="pred sink", since="3.0 sm_30", until="6.4 sm_70")
form("shfl.sync.mode.b32  d{|p}, a, b, c, membermask", "6", mode="up down bfly idx", b="b32", c="b32", p="pred sink", membermask="u32", since="6.0 sm_30")
form("prmt.b32{.mode}     d, a, b, c",                 "7", mode="f4e b4e rc8 ecl ecr rc16", since="2.0 sm_20")

form("ld{.weak}{.ss}{.cop}{.L2::cache_hint}{.level_prefetch}{.vec}.type  d, [a]{.unified}{, cache-policy}", "8", a="load in .ss", ss=LOAD_SPACES, cop="ca cg cs lu cv", level_prefetch=PREFETCH, vec="v2 v4 v8", type=f"{TYPE} b128", d="wide vec .type",
     rules=(LOADED, SPACED, HINT, FETCH), needs={**LOAD_NEEDS, **HINT_NEEDS, **FETCH_NEEDS, ".weak": "6.0 sm_70"}, advises={"unified": "8.0 sm_90"})
form("ld{.weak}{.ss}{.level1}{.level2}{.L2::cache_hint}{.level_prefetch}{.vec}.type  d, [a]{.unified}{, cache-policy}", "8", a="load in .ss", ss=LOAD_SPACES, level1=L1, level2=L2, level_prefetch=PREFETCH, vec="v2 v4 v8", type=f"{TYPE} b128", d="wide vec .type",
     rules=(LOADED, SPACED, HINT, FETCH, EVICT), needs={**LOAD_NEEDS, **HINT_NEEDS, **FETCH_NEEDS, **EVICT_NEEDS, ".weak": "6.0 sm_70"}, advises={"unified": "8.0 sm_90"})
form("ld.volatile{.ss}{.level_prefetch}{.vec}.type  d, [a]", "8", a="load unified in .ss", ss=f"{SHARED_SPACES} local", level_prefetch=PREFETCH, vec="v2 v4 v8", type=f"{TYPE} b128", d="wide vec .type",
     rules=(LOADED, SPACED, FETCH), needs={**NEEDS, **FETCH_NEEDS, ".local": "9.1"})
form("ld.sem.scope{.ss}{.level1}{.level2}{.L2::cache_hint}{.level_prefetch}{.vec}.type  d, [a]{, cache-policy}", "8", a="load unified in .ss", sem="relaxed acquire", scope=SCOPE, ss=SHARED_SPACES, level1=L1, level2=L2, level_prefetch=PREFETCH, vec="v2 v4 v8", type=f"{TYPE} b128", d="wide vec .type",
     rules=(LOADED, SPACED, HINT, FETCH, EVICT), since="6.0 sm_70", needs={**NEEDS, **HINT_NEEDS, **FETCH_NEEDS, **EVICT_NEEDS, **ORDERED})
form("ld.mmio.relaxed.sys{.global}.type  d, [a]", "8", type=f"{TYPE} b128", d="wide vec .type", a="load unified in .global", since="8.2 sm_70", needs={".b128": "8.4"})

form("ld.global{.cop}.nc{.L2::cache_hint}{.level_prefetch}{.vec}.type  d, [a]{, cache-policy}", "9", cop="ca cg cs", level_prefetch=PREFETCH, vec="v2 v4 v8", type=f"{TYPE} b128", d="wide vec .type", a="load unified in global",
     rules=(LOADED, HINT.rpartition(";")[0]), since="3.1 sm_32", needs={WIDE: "8.8 sm_100", ".b128": "8.3 sm_70", **HINT_NEEDS, **FETCH_NEEDS})
form("ld.global.nc{.level1}{.level2}{.L2::cache_hint}{.level_prefetch}{.vec}.type  d, [a]{, cache-policy}", "9", level1=L1, level2=L2, level_prefetch=PREFETCH, vec="v2 v4 v8", type=f"{TYPE} b128", d="wide vec .type", a="load unified in global",
     rules=(LOADED, HINT.rpartition(";")[0], f".level2 -> {WIDE}"), since="3.1 sm_32", needs={WIDE: "8.8 sm_100", ".b128": "8.3 sm_70", **HINT_NEEDS, **FETCH_NEEDS, **EVICT_NEEDS})
form("ldu{.ss}{.vec}.type  d, [a]", "10", a="load unified in .ss", ss="global", vec="v2 v4", type=f"{TYPE} b128", d="wide vec .type", rules=f"!(.v4 & {LONG}); !(.b128 & .vec)", since="2.0", needs={".b128": "8.3 sm_70"})

form("st{.weak}{.ss}{.cop}{.L2::cache_hint}{.vec}.type  [a], b{, cache-policy}", "11", a="store in .ss", ss=STORE_SPACES, cop="wb cg cs wt", vec="v2 v4 v8", type=f"{TYPE} b128", b="wide vec .type",
     rules=(STORED, HINT), needs={**STORE_NEEDS, **HINT_NEEDS, ".weak": "6.0 sm_70"})
form("st{.weak}{.ss}{.level1}{.level2}{.L2::cache_hint}{.vec}.type  [a], b{, cache-policy}", "11", a="store in .ss", ss=STORE_SPACES, level1=L1, level2=L2, vec="v2 v4 v8", type=f"{TYPE} b128", b="wide vec .type",
     rules=(STORED, HINT, EVICT), needs={**STORE_NEEDS, **HINT_NEEDS, **EVICT_NEEDS, ".weak": "6.0 sm_70"})
form("st.volatile{.ss}{.vec}.type  [a], b", "11", a="store in .ss", ss=f"{SHARED_SPACES} local", vec="v2 v4 v8", type=f"{TYPE} b128", b="wide vec .type", rules=STORED, needs={**NEEDS, ".local": "9.1"})
form("st.sem.scope{.ss}{.level1}{.level2}{.L2::cache_hint}{.vec}.type  [a], b{, cache-policy}", "11", a="store in .ss", sem="relaxed release", scope=SCOPE, ss=SHARED_SPACES, level1=L1, level2=L2, vec="v2 v4 v8", type=f"{TYPE} b128", b="wide vec .type",
     rules=(STORED, HINT, EVICT), since="6.0 sm_70", needs={**NEEDS, **HINT_NEEDS, **EVICT_NEEDS, **ORDERED})
form("st.mmio.relaxed.sys{.global}.type  [a], b", "11", type=f"{TYPE} b128", b="wide vec .type", a="store in .global", since="8.2 sm_70", needs={".b128": "8.4"})

form("st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type  [a], b, [mbar]", "12", vec="v2 v4", type="b32 b64 u32 u64 s32 s64 f32 f64", a="in shared::cluster ~.shared::cluster", b="vec loose untyped .type", mbar="in shared::cluster ~.shared::cluster", rules=f"!(.v4 & {LONG})", since="8.1 sm_90")
form("st.async{.cluster}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type  [a], b, [mbar]", "12", vec="v2 v4", type="b32 b64 u32 u64 s32 s64 f32 f64", a="in shared::cluster ~.shared::cluster", b="vec loose untyped .type", mbar="in shared::cluster ~.shared::cluster", rules=f"!(.v4 & {LONG})", since="8.1 sm_90")
form("st.async.weak.type                                                               [a], b", "12", type=TYPE, a="in generic", undocumented="a", since="8.1 sm_90")
form("st.async{.scope}{.shared::cluster}.mbarrier::complete_tx::bytes.type             [a], b", "12", scope="weak cluster", type="b32 b64 u32 u64 s32 s64 f32 f64", a="in shared::cluster ~.shared::cluster", undocumented="a", since="8.1 sm_90")
form("st.async{.mmio}.release.scope{.global}.type  [a], b", "12", scope="gpu sys", type=TYPE, a="in .global", ptxas_optional="release scope", rules=".mmio -> .release & .sys; .release -> .scope", since="8.1 sm_90", needs={".release | .global": "8.7 sm_100", ".scope": "sm_100"}, advises={"a": "8.7 sm_100"})
form("st.bulk{.weak}.shared::cta    [a], size, initval", "13", a="reg in shared::cta", size="u64 0..16777216/8", initval="imm u64 0", since="8.6 sm_100")
form("st.bulk{.weak}                [a], size, initval", "13", size="u64 0..16777216/8", initval="imm u64 0", since="8.6 sm_100")
for size, since, needed in (("exact u32", "9.0 sm_100", {}), ("exact b32", "9.0 sm_100", {}), ("exact s32", "8.6 sm_100", {"size": "9.0"})):
    form("st.bulk{.weak}.shared::cta    [a], size, initval", "13", a="reg in shared::cta", size=size, initval="imm u64 0", since=since, advises=needed)
    form("st.bulk{.weak}                [a], size, initval", "13", size=size, initval="imm u64 0", since=since, advises=needed)
# fmt: on

MULTIMEM = "b32 b64 u32 u64 s32 s64"
FLOATS = "f16 f16x2 bf16 bf16x2 f32 f64 e5m2 e5m2x2 e5m2x4 e4m3 e4m3x2 e4m3x4"
FLOAT_VECTORS = ".f16 | .bf16 -> .vec; .f64 -> !.vec; .e5m2 | .e4m3 -> .v4 | .v8; .e5m2x2 | .e4m3x2 -> .vec; .v8 -> .f16 | .bf16 | .e5m2 | .e4m3 | .e5m2x2 | .e4m3x2"
ACCUMULATE = ".f32 | .f64 -> .add; .acc_prec -> .add; .acc::f32 -> .f16 | .f16x2 | .bf16 | .bf16x2; .acc::f16 -> .e5m2 | .e5m2x2 | .e5m2x4 | .e4m3 | .e4m3x2 | .e4m3x4"
FP8 = {".e5m2 | .e5m2x2 | .e5m2x4 | .e4m3 | .e4m3x2 | .e4m3x4": "8.6 sm_100f sm_110f sm_120a sm_121a"}
LOGIC = "(.and | .or | .xor) -> .b32 | .b64; .add | .min | .max -> !.b32 & !.b64; .s64 -> .min | .max"

# fmt: off
form("multimem.ld_reduce{.ldsem.scope}{.ss}.op.type  d, [a]", "14", ldsem="relaxed acquire", scope=SCOPE, ss="global", op="min max add and or xor", type=MULTIMEM, rules=LOGIC, since="8.1 sm_90")
form("multimem.ld_reduce.weak{.ss}.op.type           d, [a]", "14", ss="global", op="min max add and or xor", type=MULTIMEM, rules=LOGIC, since="8.1 sm_90")
form("multimem.st{.stsem.scope}{.ss}.type            [a], b", "14", stsem="relaxed release", scope=SCOPE, ss="global", type=MULTIMEM, since="8.1 sm_90")
form("multimem.st.weak{.ss}.type                     [a], b", "14", ss="global", type=MULTIMEM, since="8.1 sm_90")
form("multimem.red{.redsem.scope}{.ss}.op.type       [a], b", "14", redsem="relaxed release", scope=SCOPE, ss="global", op="min max add and or xor", type=MULTIMEM, rules=LOGIC, since="8.1 sm_90")
form("multimem.ld_reduce{.ldsem.scope}{.ss}.op{.acc_prec}{.vec}.type  d, [a]", "14", ldsem="relaxed acquire", scope=SCOPE, ss="global", op="min max add", acc_prec="acc::f32 acc::f16", vec="v2 v4 v8", type=FLOATS, d="vec untyped .type", rules=(FLOAT_VECTORS, ACCUMULATE), since="8.1 sm_90", needs={**FP8, ".acc::f32": "8.2"})
form("multimem.ld_reduce.weak{.ss}.op{.acc_prec}{.vec}.type  d, [a]", "14", ss="global", op="min max add", acc_prec="acc::f32 acc::f16", vec="v2 v4 v8", type=FLOATS, d="vec untyped .type", rules=(FLOAT_VECTORS, ACCUMULATE), since="8.1 sm_90", needs={**FP8, ".acc::f32": "8.2"})
form("multimem.st{.stsem.scope}{.ss}{.vec}.type      [a], b", "14", stsem="relaxed release", scope=SCOPE, ss="global", vec="v2 v4 v8", type=FLOATS, b="vec untyped .type", rules=FLOAT_VECTORS, since="8.1 sm_90", needs=FP8)
form("multimem.st.weak{.ss}{.vec}.type               [a], b", "14", ss="global", vec="v2 v4 v8", type=FLOATS, b="vec untyped .type", rules=FLOAT_VECTORS, since="8.1 sm_90", needs=FP8)
form("multimem.red{.redsem.scope}{.ss}.add.redtype        [a], b", "14", redsem="relaxed release", scope=SCOPE, ss="global", redtype="f16x2 bf16x2 f32 f64", b=".redtype", since="8.1 sm_90")
form("multimem.red{.redsem.scope}{.ss}.redop.vec.redtype  [a], b", "14", redsem="relaxed release", scope=SCOPE, ss="global", redop="add min max", vec="v2 v4 v8", redtype="f16 f16x2 bf16 bf16x2 f32", b="vec .redtype", rules=".v8 -> .f16 | .bf16; .min | .max -> !.f32", since="8.1 sm_90")

form("prefetch{.space}.level                  [a]", "15", space="global local", level="L1 L2", since="2.0 sm_20")
form("prefetch{.global}.level                 [a]", "15", a="in .global", level="L2::evict_last L2::evict_normal", since="7.4 sm_80")
form("prefetchu.L1                            [a]", "15", a="in global", since="2.0 sm_20")
form("prefetch{.space}.tensormap              [a]", "15", space="const param", since="8.0 sm_90")
form("applypriority{.global}.L2::evict_normal [a], size", "16", a="in .global", size="imm u64 128", since="7.4 sm_80")
form("discard{.global}.L2                     [a], size", "17", a="in .global", size="imm u64 128", since="7.4 sm_80")
form("createpolicy.range{.global}.primary{.secondary}.b64  policy, [a], primary-size, total-size", "18", a="in .global", policy="u64", primary="L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged", secondary="L2::evict_first L2::evict_unchanged", primary_size="u32 0..total_size", total_size="u32", since="7.4 sm_80")
form("createpolicy.fractional.primary{.secondary}.b64      policy{, fraction}", "18", policy="u64", primary="L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged", secondary="L2::evict_first L2::evict_unchanged", fraction="f32 0.0..1.0", since="7.4 sm_80")
form("createpolicy.cvt.L2.b64                              policy, access-property", "18", policy="u64", access_property="u64", since="7.4 sm_80")
form("isspacep.space    p, a", "19", space="const global local shared shared::cta shared::cluster param param::entry", a="u64", since="2.0 sm_20", needs={".const": "3.1", ".param | .param::entry": "7.7 sm_70", ".shared::cta": "7.8 sm_30", ".shared::cluster": "7.8 sm_90", ".param::entry": "8.3"})
form("isspacep.space    p, a", "19", space="const global local shared shared::cta shared::cluster param param::entry", a="u32", since="2.0 sm_20", needs={".const": "3.1", ".param | .param::entry": "7.7 sm_70", ".shared::cta": "7.8 sm_30", ".shared::cluster": "7.8 sm_90", ".param::entry": "8.3"})
form("cvta.space.size     p, a", "20", space="const global local shared shared::cta shared::cluster param param::entry", size="u32 u64", p=".size", a=".size variable in .space", rules="!.u32", since="2.0 sm_20", needs={".const": "3.1", ".param | .param::entry": "7.7 sm_70", ".shared::cta": "7.8 sm_30", ".shared::cluster": "7.8 sm_90", ".param::entry": "8.3"})
form("cvta.to.space.size  p, a", "20", space="const global local shared shared::cta shared::cluster param param::entry", size="u32 u64", p=".size", a=".size", rules="!.u32", since="2.0 sm_20", needs={".const": "3.1", ".param | .param::entry": "7.7 sm_70", ".shared::cta": "7.8 sm_30", ".shared::cluster": "7.8 sm_90", ".param::entry": "8.3"})
form("mapa{.space}.type        d, a, b", "23", space="shared::cluster", type="u32 u64 ~s32 ~s64", a=".type variable in shared::cluster", b="u32", since="7.8 sm_90")
form("getctarank{.space}.type  d, a",    "24", space="shared::cluster", type="u32 u64 ~s32 ~s64", d="u32", a=".type variable in shared::cluster", since="7.8 sm_90")
# fmt: on
