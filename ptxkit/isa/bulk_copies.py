"""Bulk and tensor copies, as PTX ISA 9.1 to 9.5 brought them: to several GPUs, ordered, with reports and overrides. PTX ISA 9.7.9.25.4, 9.7.9.27, 9.7.9.28."""

from collections.abc import Mapping

from ptxkit.isa.asynchronous_copy import COMPLETE, FAMILY, HINT, IM2COL
from ptxkit.isa.registry import Chapter

form = Chapter("bulk_copies", "9.7.9")

SCOPE = "cta cluster gpu sys"
NEAR = "cta cluster"
SIZE = "u32 0..1048560/16"
RUBIN = "9.4 sm_107f"
ORDERED = "9.3 sm_90"
BARE = "8.0 sm_90"
"""What `.b128` without an order needs; only ptxas takes that, not the manual."""
ORDER = ".relaxed -> .scope; .scope -> .relaxed"
REDUCE = ".and | .or | .xor -> .b32 | .b64; .add -> .u32 | .s32 | .u64 | .f32 | .f64; .inc | .dec -> .u32; .min | .max -> .u32 | .s32 | .u64 | .s64 | .f16 | .bf16"
NEARBY = (
    ".and | .or | .xor -> .b32; .add -> .u32 | .s32 | .u64; .inc | .dec -> .u32; .min | .max -> .u32 | .s32"
)
REPORT = "mbarrier::report::disabled mbarrier::report::validity::per_16bytes::80000000 mbarrier::report::validity::per_16bytes::8000 mbarrier::report::validity::per_16bytes::80 mbarrier::report::validity::per_16bytes::8 mbarrier::report::validity::per_element::ff"
MULTICAST = ".multicast -> ctaMask; ctaMask -> .multicast"
WIDE = "multicast::cluster::32b"
LOADS = "tile tile::gather4 im2col im2col::w im2col::w::128"
SAVES = "tile tile::scatter4 im2col_no_offs im2col_no_offs::w"
FLAT = ".im2col_no_offs | .im2col_no_offs::w -> .3d | .4d | .5d"
MBAR = "bare masks u64 in shared::cta"

# fmt: off
form(f"cp.async.bulk{{.weak}}.shared::cta.global.{COMPLETE}{{.report}}{{.L2::cache_hint}}  [dstMem], [srcMem], size, [mbar]{{, cache-policy}}", "25.4.1", report=REPORT, dstMem="in shared::cta", srcMem="in global", size=SIZE, mbar=MBAR, rules=HINT, since=ORDERED, needs={".report": RUBIN})
form(f"cp.async.bulk{{.weak}}.shared::cta.global.{COMPLETE}{{.report}}{{.L2::cache_hint}}.ignore_oob  [dstMem], [srcMem], size, ignoreBytesLeft, ignoreBytesRight, [mbar]{{, cache-policy}}", "25.4.1", report="mbarrier::report::disabled", dstMem="in shared::cta", srcMem="in global", size=SIZE, ignoreBytesLeft="u32 0..15", ignoreBytesRight="u32 0..15", mbar="in shared::cta", rules=HINT, since="9.2 sm_90", needs={".report": RUBIN, ".weak": "9.3"})
form(f"cp.async.bulk.relaxed.scope.shared::cta.global.{COMPLETE}{{.report}}{{.L2::cache_hint}}.b128  [dstMem], [srcMem], size, [mbar]{{, cache-policy}}", "25.4.1", scope=SCOPE, report=REPORT, dstMem="in shared::cta", srcMem="in global", size=SIZE, mbar=MBAR, rules=(HINT, ORDER), ptxas_optional="relaxed scope", since="8.6 sm_90", needs={".report": RUBIN, ".relaxed": "9.3"})
for width, mask, at, needs in (("multicast::cluster multicast::cluster::16b", "u16 0..65535", "bare masks u64 in shared::cluster", {".multicast::cluster::16b": "9.4"}), (WIDE, "u32 0..4294967295", "in shared::cluster", {".multicast": RUBIN})):
    form(f"cp.async.bulk{{.weak}}.shared::cluster.global.{COMPLETE}{{.multicast}}{{.report}}{{.L2::cache_hint}}  [dstMem], [srcMem], size, [mbar]{{, ctaMask}}{{, cache-policy}}", "25.4.1", multicast=width, report=REPORT, dstMem="in shared::cluster", srcMem="in global", size=SIZE, mbar=at, ctaMask=mask, rules=(HINT, MULTICAST), since=ORDERED, needs={".report": RUBIN, **needs})
    form(f"cp.async.bulk.relaxed.scope.shared::cluster.global.{COMPLETE}{{.multicast}}{{.report}}{{.L2::cache_hint}}.b128  [dstMem], [srcMem], size, [mbar]{{, ctaMask}}{{, cache-policy}}", "25.4.1", scope=SCOPE, multicast=width, report=REPORT, dstMem="in shared::cluster", srcMem="in global", size=SIZE, mbar=at, ctaMask=mask, rules=(HINT, MULTICAST, ORDER), ptxas_optional="relaxed scope", since=BARE, needs={".report": RUBIN, ".relaxed": "9.3 sm_90a sm_100f sm_110f", **needs})
form(f"cp.async.bulk{{.weak}}.shared::cluster.shared::cta.{COMPLETE}  [dstMem], [srcMem], size, [mbar]", "25.4.1", dstMem="in shared::cluster", srcMem="in shared::cta", size=SIZE, mbar="bare masks u64 in shared::cluster", since=ORDERED)
form(f"cp.async.bulk.relaxed.scope.shared::cluster.shared::cta.{COMPLETE}.b128  [dstMem], [srcMem], size, [mbar]", "25.4.1", scope=NEAR, dstMem="in shared::cluster", srcMem="in shared::cta", size=SIZE, mbar="bare masks u64 in shared::cluster", rules=ORDER, ptxas_optional="relaxed scope", since=BARE, needs={".relaxed": "9.3"})
for several in ("", "multimem."):
    hint, policy, hinted = ("", "", ()) if several else ("{.L2::cache_hint}", "{, cache-policy}", (HINT,))
    form(f"{several}cp.async.bulk{{.weak}}.global.shared::cta.bulk_group{hint}{{.cp_mask}}  [dstMem], [srcMem], size{policy}{{, byteMask}}", "25.4.1", dstMem="in global", srcMem="in shared::cta", size=SIZE, byteMask="u16", rules=(*hinted, ".cp_mask -> byteMask; byteMask -> .cp_mask"), since="9.1 sm_90" if several else ORDERED, needs={".cp_mask": "sm_100", ".weak": "9.3"})
    form(f"{several}cp.async.bulk.relaxed.scope.global.shared::cta.bulk_group{hint}{{.cp_mask}}.b128  [dstMem], [srcMem], size{policy}{{, byteMask}}", "25.4.1", scope=SCOPE, dstMem="in global", srcMem="in shared::cta", size=SIZE, byteMask="u16", rules=(*hinted, ".cp_mask -> byteMask; byteMask -> .cp_mask", ORDER), ptxas_optional="relaxed scope", since="9.1 sm_90" if several else BARE, needs={".cp_mask": "8.6 sm_100", ".relaxed": "9.3"})
    form(f"{several}cp.reduce.async.bulk{{.relaxed.scope}}.global.shared::cta.bulk_group{hint}.redOp.type  [dstMem], [srcMem], size{policy}", "25.4.2", scope=SCOPE, redOp="and or xor add inc dec min max", type="f16 bf16 b32 u32 s32 b64 u64 s64 f32 f64", dstMem="in global", srcMem="in shared::cta", size=SIZE, rules=(*hinted, REDUCE), since="9.1 sm_90" if several else ORDERED, needs={".relaxed": "9.3"})
    form(f"{several}cp.reduce.async.bulk{{.relaxed.scope}}.global.shared::cta.bulk_group{hint}.add.noftz.type  [dstMem], [srcMem], size{policy}", "25.4.2", scope=SCOPE, type="f16 bf16 f32", dstMem="in global", srcMem="in shared::cta", size=SIZE, rules=hinted, since="9.1 sm_90", needs={".relaxed": "9.3", ".f32": "9.4"})
form(f"cp.reduce.async.bulk.relaxed.scope.shared::cluster.shared::cta.{COMPLETE}.redOp.type  [dstMem], [srcMem], size, [mbar]", "25.4.2", scope=NEAR, redOp="and or xor add inc dec min max", type="b32 u32 s32 b64 u64", dstMem="in shared::cluster", srcMem="in shared::cta", size=SIZE, mbar="bare u64 in shared::cluster", rules=NEARBY, since=ORDERED)
form("cp.async.bulk.prefetch.L2.global.L2::evict_last  [srcMem], size", "25.4.3", srcMem="in global", size=SIZE, since=RUBIN)
form("applypriority.async.bulk{.global}.bulk_group.L2::evict_normal  [a], size", "25.4.4", a="in .global", size=SIZE, since=RUBIN)
form("cp.async.bulk.wait_group.sync_restrict::proxy::async  N", "27.2.2", N="read imm", since="9.5 sm_90")

# Tensors, whose map's address may be overridden, and on demand its sizes and strides, too.
Given = Mapping[str, str]
FIRST = {"tensorCoords": "coordinates s32 0..0"}
"""With sizes of its own a copy starts at the address that it is given: a number among the coordinates is 0."""
OVERRIDES: tuple[tuple[str, str, str, Given], ...] = (
    ("1d 2d 3d 4d 5d", "", "", {}),
    ("1d 2d 3d 4d 5d", ".override::global_address", ", gAddr", {"gAddr": "reg u64"}),
    ("1d", ".override::global_address.override::global_dim", ", gAddr, sizes", {"gAddr": "reg u64", "sizes": "short xdim b8", **FIRST}),
    ("2d 3d 4d 5d", ".override::global_address.override::global_dim_stride", ", gAddr, sizes, lowStrides, upStrides", {"gAddr": "reg u64", "sizes": "short xdim b8", "lowStrides": "xdim-1 u32", "upStrides": "reg u16", **FIRST}),
)
for dims, override, parts, given in OVERRIDES:
    tensor = {"dim": dims, "tensorMap": "in global", "tensorCoords": "coordinates s32", **given}
    at = f"[tensorMap{parts}, tensorCoords]"
    whole = "sizes" in given
    loads: dict[str, str] = {"load_mode": "tile"} if whole else {"load_mode": LOADS, "info": "offsets u16"}
    info = "" if whole else "{, info}"
    read = () if whole else (IM2COL, ".tile::gather4 -> .2d")
    saves, flat = ("tile", ()) if whole else (SAVES, (f".tile::scatter4 -> .2d; {FLAT}",))
    reduces, level = ("tile", ()) if whole else ("tile im2col_no_offs im2col_no_offs::w", (FLAT,))
    form(f"cp.async.bulk.tensor.dim.shared::cta.global{{.load_mode}}.{COMPLETE}{{.cta_group}}{{.report}}{{.L2::cache_hint}}{override}  [dstMem], {at}, [mbar]{info}{{, cache-policy}}", "27.1.2", cta_group="cta_group::1 cta_group::2", report=REPORT, dstMem="bare in shared::cta", mbar="bare in shared::cta", rules=(HINT, *read), since=RUBIN, **tensor, **loads)
    for width, mask, needs in (("multicast::cluster multicast::cluster::16b", "u16 0..65535", {}), (WIDE, "u32 0..4294967295", {".multicast": RUBIN})):
        if override and width != WIDE:
            continue
        older = {} if whole else {".cta_group | .im2col::w::128 | .tile::gather4 | .im2col::w": FAMILY}
        form(f"cp.async.bulk.tensor.dim.shared::cluster.global{{.load_mode}}.{COMPLETE}{{.multicast}}{{.cta_group}}{{.report}}{{.L2::cache_hint}}{override}  [dstMem], {at}, [mbar]{info}{{, ctaMask}}{{, cache-policy}}", "27.1.2", multicast=width, cta_group="cta_group::1 cta_group::2", report=REPORT, dstMem="bare in shared::cluster", mbar="bare in shared::cluster", ctaMask=mask, rules=(HINT, MULTICAST, *read), since=RUBIN if override else "9.4 sm_90", needs={**older, ".report": RUBIN, **needs}, **tensor, **loads)
    form(f"cp.async.bulk.tensor.dim.global.shared::cta{{.load_mode}}.bulk_group{{.report}}{{.L2::cache_hint}}{override}  {at}, [srcMem]{{, cache-policy}}", "27.1.2", load_mode=saves, report=REPORT, srcMem="bare predicates in shared::cta" if override else "bare in shared::cta", rules=(HINT, *flat), undocumented=".report", since=RUBIN, **tensor)
    form(f"cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{{.load_mode}}.bulk_group{{.L2::cache_hint}}{override}  {at}, [srcMem]{{, cache-policy}}", "27.1.3", redOp="add min max inc dec and or xor", load_mode=reduces, srcMem="bare in shared::cta", rules=(HINT, *level), since=RUBIN, **tensor)
    form(f"cp.async.bulk.prefetch.tensor.dim.L2.global{{.load_mode}}{{.L2::cache_hint}}{override}  {at}{info}{{, cache-policy}}", "27.1.4", rules=(HINT, *read), since=RUBIN, **tensor, **loads)
    form(f"cp.async.bulk.prefetch.tensor.dim.L2.global{{.load_mode}}.L2::evict_last{override}  {at}{info}", "27.1.4", rules=read, since=RUBIN, **tensor, **loads)
    form(f"applypriority.async.bulk.tensor.dim{{.global}}.bulk_group{{.load_mode}}.L2::evict_normal{override}  {at}{info}", "27.1.5", rules=read, since=RUBIN, **tensor, **loads)

# What ptxas lets pass beside: restrictions of other instructions, and reports of copies that raise none.
form("cp.async.bulk.wait_group.restricted{.read}  N", "27.2.2", restricted="sync_restrict::shared::cta sync_restrict::shared::cluster", N="read imm", undocumented=".restricted", since="8.6 sm_90")

form("tensormap.replace.tile.field.class{.ss}.b1024.type  [addr], new_val", "28", field="global_address", **{"class": "alloc_large alloc_small alloc_same"}, ss="global shared::cta", type="b64", addr="in .ss", new_val=".type", since="9.5 sm_90a sm_100f sm_110f sm_120f")
form("tensormap.query.alloc_class_large{.ss}.b1024          p, [addr]", "28", ss="global const param shared::cta", p="pred", addr="in .ss", since="9.5 sm_90a sm_100f sm_110f sm_120f")
# fmt: on
