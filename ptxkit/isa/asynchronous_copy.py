"""Asynchronous copies: cp.async, bulk and tensor copies, tensor maps. PTX ISA 9.7.9.25 to 9.7.9.28."""

from ptxkit.isa.registry import Chapter

form = Chapter("asynchronous_copy", "9.7.9")

PREFETCH = "L2::64B L2::128B L2::256B"
COMPLETE = "mbarrier::complete_tx::bytes"
HINT = ".L2::cache_hint -> cache_policy; cache_policy -> .L2::cache_hint"
MULTICAST = ".multicast::cluster -> ctaMask; ctaMask -> .multicast::cluster"
IM2COL = ".im2col | .im2col::w | .im2col::w::128 -> info; info -> .im2col | .im2col::w | .im2col::w::128; .im2col | .im2col::w | .im2col::w::128 -> .3d | .4d | .5d"
FAMILY = "8.6 sm_100f sm_110f"
REPLACE = "8.3 sm_90a, 8.6 sm_100f sm_110f, 8.7 sm_120f"

# fmt: off
form("cp.async.ca.shared{::cta}.global{.L2::cache_hint}{.level_prefetch}  [dst], [src], cp-size{, src-size}{, cache-policy}", "25.3.1", level_prefetch=PREFETCH, dst="in .shared", src="in global", cp_size="imm 4 8 16", src_size="u32 0..cp_size", rules=HINT, since="7.0 sm_80", needs={".level_prefetch | .L2::cache_hint": "7.4"})
form("cp.async.cg.shared{::cta}.global{.L2::cache_hint}{.level_prefetch}  [dst], [src], cp-size{, src-size}{, cache-policy}", "25.3.1", level_prefetch=PREFETCH, dst="in .shared", src="in global", cp_size="imm 16", src_size="u32 0..16", rules=HINT, since="7.0 sm_80", needs={".level_prefetch | .L2::cache_hint": "7.4"})
form("cp.async.ca.shared{::cta}.global{.L2::cache_hint}{.level_prefetch}  [dst], [src], cp-size{, {!}ignore-src}{, cache-policy}", "25.3.1", level_prefetch=PREFETCH, dst="in .shared", src="in global", cp_size="imm 4 8 16", ignore_src="reg pred", rules=HINT, since="7.0 sm_80", needs={"ignore_src": "7.5", ".level_prefetch | .L2::cache_hint": "7.4"})
form("cp.async.cg.shared{::cta}.global{.L2::cache_hint}{.level_prefetch}  [dst], [src], cp-size{, {!}ignore-src}{, cache-policy}", "25.3.1", level_prefetch=PREFETCH, dst="in .shared", src="in global", cp_size="imm 16", ignore_src="reg pred", rules=HINT, since="7.0 sm_80", needs={"ignore_src": "7.5", ".level_prefetch | .L2::cache_hint": "7.4"})
form("cp.async.commit_group",       "25.3.2", since="7.0 sm_80")
form("cp.async.wait_group  N",      "25.3.3", N="read imm", since="7.0 sm_80")
form("cp.async.wait_all",           "25.3.3", since="7.0 sm_80")

form(f"cp.async.bulk.shared::cta.global.{COMPLETE}{{.L2::cache_hint}}  [dstMem], [srcMem], size, [mbar]{{, cache-policy}}", "25.4.1", dstMem="in shared::cta", srcMem="in global", size="u32 0..1048560/16", mbar="bare masks u64 in shared::cta", rules=HINT, since="8.6 sm_90")
form(f"cp.async.bulk.shared::cluster.global.{COMPLETE}{{.multicast::cluster}}{{.L2::cache_hint}}  [dstMem], [srcMem], size, [mbar]{{, ctaMask}}{{, cache-policy}}", "25.4.1", dstMem="in shared::cluster", srcMem="in global", size="u32 0..1048560/16", mbar="bare masks u64 in shared::cluster", ctaMask="u16 0..65535", rules=(HINT, MULTICAST), since="8.0 sm_90")
form(f"cp.async.bulk.shared::cluster.shared::cta.{COMPLETE}  [dstMem], [srcMem], size, [mbar]", "25.4.1", dstMem="in shared::cluster", srcMem="in shared::cta", size="u32 0..1048560/16", mbar="bare masks u64 in shared::cluster", since="8.0 sm_90")
form("cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}{.cp_mask}  [dstMem], [srcMem], size{, cache-policy}{, byteMask}", "25.4.1", dstMem="in global", srcMem="in shared::cta", size="u32 0..1048560/16", byteMask="u16", rules=(HINT, ".cp_mask -> byteMask; byteMask -> .cp_mask"), since="8.0 sm_90", needs={".cp_mask": "8.6 sm_100"})
form(f"cp.reduce.async.bulk.shared::cluster.shared::cta.{COMPLETE}.redOp.type  [dstMem], [srcMem], size, [mbar]", "25.4.2", redOp="and or xor add inc dec min max", type="b32 u32 s32 b64 u64", dstMem="in shared::cluster", srcMem="in shared::cta", size="u32 0..1048560/16", mbar="bare u64 in shared::cluster", rules=".and | .or | .xor -> .b32; .add -> .u32 | .s32 | .u64; .inc | .dec -> .u32; .min | .max -> .u32 | .s32", since="8.0 sm_90")
form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.redOp.type  [dstMem], [srcMem], size{, cache-policy}", "25.4.2", redOp="and or xor add inc dec min max", type="f16 bf16 b32 u32 s32 b64 u64 s64 f32 f64", dstMem="in global", srcMem="in shared::cta", size="u32 0..1048560/16", rules=(HINT, ".and | .or | .xor -> .b32 | .b64; .add -> .u32 | .s32 | .u64 | .f32 | .f64; .inc | .dec -> .u32; .min | .max -> .u32 | .s32 | .u64 | .s64 | .f16 | .bf16"), since="8.0 sm_90")
form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.type  [dstMem], [srcMem], size{, cache-policy}", "25.4.2", type="f16 bf16", dstMem="in global", srcMem="in shared::cta", size="u32 0..1048560/16", rules=HINT, since="8.0 sm_90")
form("cp.async.bulk.prefetch.L2.global{.L2::cache_hint}  [srcMem], size{, cache-policy}", "25.4.3", srcMem="in global", size="u32 0..1048560/16", rules=HINT, since="8.0 sm_90")
form("cp.async.bulk.commit_group",  "27.2.1", since="8.0 sm_90")
form("cp.async.bulk.wait_group{.read}  N", "27.2.2", N="read imm", since="8.0 sm_90")

form(f"cp.async.bulk.tensor.dim.shared::cta.global{{.load_mode}}.{COMPLETE}{{.cta_group}}{{.L2::cache_hint}}  [dstMem], [tensorMap, tensorCoords], [mbar]{{, info}}{{, cache-policy}}", "27.1.2", dim="1d 2d 3d 4d 5d", load_mode="tile tile::gather4 im2col im2col::w im2col::w::128", cta_group="cta_group::1 cta_group::2", dstMem="bare in shared::cta", tensorMap="in global", tensorCoords="coordinates s32", mbar="bare in shared::cta", info="offsets u16", rules=(HINT, IM2COL, ".tile::gather4 -> .2d"), since="8.6 sm_90", needs={".cta_group": FAMILY, ".im2col::w::128": FAMILY, ".tile::gather4 | .im2col::w": "8.6 sm_100"})
form(f"cp.async.bulk.tensor.dim.shared::cluster.global{{.load_mode}}.{COMPLETE}{{.multicast::cluster}}{{.cta_group}}{{.L2::cache_hint}}  [dstMem], [tensorMap, tensorCoords], [mbar]{{, info}}{{, ctaMask}}{{, cache-policy}}", "27.1.2", dim="1d 2d 3d 4d 5d", load_mode="tile tile::gather4 im2col im2col::w im2col::w::128", cta_group="cta_group::1 cta_group::2", dstMem="bare in shared::cluster", tensorMap="in global", tensorCoords="coordinates s32", mbar="bare in shared::cluster", ctaMask="u16 0..65535", info="offsets u16", rules=(HINT, MULTICAST, IM2COL, ".tile::gather4 -> .2d"), since="8.0 sm_90", needs={".cta_group": FAMILY, ".im2col::w::128 | .tile::gather4 | .im2col::w": FAMILY})
form("cp.async.bulk.tensor.dim.global.shared::cta{.load_mode}.bulk_group{.L2::cache_hint}  [tensorMap, tensorCoords], [srcMem]{, cache-policy}", "27.1.2", dim="1d 2d 3d 4d 5d", load_mode="tile tile::scatter4 im2col_no_offs", tensorMap="in global", tensorCoords="coordinates s32", srcMem="bare in shared::cta", rules=(HINT, ".tile::scatter4 -> .2d; .im2col_no_offs -> .3d | .4d | .5d"), since="8.0 sm_90", needs={".tile::scatter4": FAMILY})
form("cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.bulk_group{.L2::cache_hint}  [tensorMap, tensorCoords], [srcMem]{, cache-policy}", "27.1.3", dim="1d 2d 3d 4d 5d", redOp="add min max inc dec and or xor", load_mode="tile im2col_no_offs", tensorMap="in global", tensorCoords="coordinates s32", srcMem="bare in shared::cta", rules=(HINT, ".im2col_no_offs -> .3d | .4d | .5d"), since="8.0 sm_90")
form("cp.async.bulk.prefetch.tensor.dim.L2.global{.load_mode}{.L2::cache_hint}  [tensorMap, tensorCoords]{, info}{, cache-policy}", "27.1.4", dim="1d 2d 3d 4d 5d", load_mode="tile tile::gather4 im2col im2col::w im2col::w::128", tensorMap="in global", tensorCoords="coordinates s32", info="offsets u16", rules=(HINT, IM2COL, ".tile::gather4 -> .2d"), since="8.0 sm_90", needs={".im2col::w::128 | .tile::gather4 | .im2col::w": FAMILY})

form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], new_val",      "28", field="global_address", ss="global shared::cta", type="b64", addr="in .ss", new_val=".type", since=REPLACE)
form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], new_val",      "28", field="rank", ss="global shared::cta", type="b32", addr="in .ss", new_val=".type", since=REPLACE)
form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], ord, new_val", "28", field="box_dim global_dim element_stride", ss="global shared::cta", type="b32", addr="in .ss", ord="imm 0..4", new_val="u32", since=REPLACE)
form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], ord, new_val", "28", field="global_stride", ss="global shared::cta", type="b64", addr="in .ss", ord="imm 0..3~4", new_val=".type", since=REPLACE)
form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], new_val",      "28", field="elemtype", ss="global shared::cta", type="b32", addr="in .ss", new_val="imm 0..15", above={"new_val 12": "8.7 sm_100"}, since=REPLACE)
form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], new_val",      "28", field="interleave_layout", ss="global shared::cta", type="b32", addr="in .ss", new_val="imm 0..2", since=REPLACE)
form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], new_val",      "28", field="swizzle_mode", ss="global shared::cta", type="b32", addr="in .ss", new_val="imm 0..4", above={"new_val 3": "8.8 sm_103a, 9.4 sm_107a"}, since=REPLACE)
form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], new_val",      "28", field="swizzle_atomicity", ss="global shared::cta", type="b32", addr="in .ss", new_val="imm 0..3", since="8.6 sm_100f sm_110f, 8.7 sm_120f")
form("tensormap.replace.tile.field{.ss}.b1024.type  [addr], new_val",      "28", field="fill_mode", ss="global shared::cta", type="b32", addr="in .ss", new_val="imm 0..1", since=REPLACE)
# fmt: on
