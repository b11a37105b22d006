"""Memory behind logical endpoints: fabric operations, as PTX ISA 9.3 to 9.5 brought them. PTX ISA 9.7.10.5."""

from ptxkit.isa.registry import Chapter

form = Chapter("fabric", "9.7.10.5")

SINCE = "9.3 sm_100"
ATOM = "9.4 sm_100"
FAMILIES = "9.3 sm_100f sm_110f sm_120f"
TENSOR = "9.4 sm_107f"
BYTES = "mbarrier::complete_tx::bytes.mbarrier::report::fabric"
UNITS = "mbarrier::complete_tx::16B.mbarrier::report::fabric"
HINT = ".L2::cache_hint -> cache_policy; cache_policy -> .L2::cache_hint; .relaxed -> .sys"
"""Every form needs a policy if it has a hint, and a scope if it has an order."""
MASK = ".cp_mask -> byteMask; byteMask -> .cp_mask"
REMOTE = {"leId": "reg value u32", "offset": "reg u64"}
LOCAL = {"mbar": "in shared::cta"}
MOVED = {"mbar": "bare moved in shared::cta"}
SIZE = "u32"
REDUCE = ".and | .or | .xor -> .b32 | .b64; .add -> .u32 | .u64 | .f16 | .bf16 | .f32 | .f64; .min | .max -> .u32 | .s32 | .u64 | .s64 | .f16 | .bf16"

# fmt: off
form(f"fabric.try_get.async.shared::cta.{BYTES}{{.L2::cache_hint}}.relaxed.sys.b128  [dst], [leId, offset], size, [mbar]{{, cache-policy}}", "1", dst="bare moved in shared::cta", size=SIZE, rules=HINT, ptxas_optional="relaxed sys", since=SINCE, **REMOTE, **MOVED)
for counted, count, given in (("", "", {}), (".counted::bytes", ", counter", {"counter": "reg u64"})):
    mask = "" if counted else "{.cp_mask}"
    masked = "" if counted else "{, byteMask}"
    rules = (HINT, MASK) if mask else (HINT,)
    bytes_ = {"byteMask": "u16"} if mask else {}
    form(f"fabric.try_put.async{{.multimem}}.shared::cta.{UNITS}{{.L2::cache_hint}}{counted}{mask}.relaxed.sys.b128  [leId, offset{count}], [src], size, [mbar]{masked}{{, cache-policy}}", "2", src="bare moved in shared::cta", size=SIZE, rules=rules, ptxas_optional="relaxed sys", since=SINCE, **REMOTE, **MOVED, **given, **bytes_)
    form(f"fabric.try_red.async{{.multimem}}.shared::cta.{UNITS}{{.L2::cache_hint}}{counted}.relaxed.sys.redOp.type  [leId, offset{count}], [src], size, [mbar]{{, cache-policy}}", "3", redOp="and or xor min max add", type="b32 b64 u32 s32 u64 s64 f16 bf16 f32 f64", src="bare moved in shared::cta", size=SIZE, rules=(HINT, REDUCE), ptxas_optional="relaxed sys", since=SINCE, **REMOTE, **MOVED, **given)
form(f"fabric.try_pullred.async.multimem.shared::cta.{BYTES}.relaxed.sys.redOp.type.sync            [dst], [leId, offset], size, [mbar], membermask", "4", redOp="and or xor min max add", type="b32 b64 u32 s32 u64 s64 f16 bf16 f32 f64", dst="bare moved in shared::cta", size=SIZE, membermask="imm 4294967295", rules=(REDUCE, "!.f64; .relaxed -> .sys"), ptxas_optional="relaxed sys", since=SINCE, **REMOTE, **LOCAL)
form(f"fabric.try_pullred.async.multimem.shared::cta.{BYTES}.relaxed.sys.redOp.type.sync            [dst], [leId, offset], size, [mbar], membermask", "4", redOp="min max", type="e4m3 e5m2", dst="bare moved in shared::cta", size=SIZE, membermask="imm 4294967295", rules=".relaxed -> .sys", ptxas_optional="relaxed sys", since=FAMILIES, **REMOTE, **LOCAL)
form(f"fabric.try_pullred.async.multimem.shared::cta.{BYTES}.relaxed.sys.add.acc_prec.type.sync     [dst], [leId, offset], size, [mbar], membermask", "4", acc_prec="acc::f16 acc::f32", type="e4m3 e5m2 f16 bf16", dst="bare moved in shared::cta", size=SIZE, membermask="imm 4294967295", rules=".acc::f16 -> .e4m3 | .e5m2; .acc::f32 -> .f16 | .bf16; .relaxed -> .sys", ptxas_optional="relaxed sys", since=FAMILIES, **REMOTE, **LOCAL)
form(f"fabric.try_atom.async.shared::cta.{UNITS}{{.L2::cache_hint}}.relaxed.sys.op.type             [leId, offset], [dst], [src], [mbar]{{, cache-policy}}", "5", op="and or xor exch cas min max add", type="b32 b64 b128 u32 ~s32 u64 f16x2 bf16x2 f32 f64", dst="bare moved in shared::cta", src="bare moved in shared::cta", rules=(HINT, ".and | .or | .xor -> .b32 | .b64; .exch | .cas -> .b32 | .b64 | .b128; .min | .max -> .u32 | .s32 | .u64 | .f16x2 | .bf16x2; .add -> .u32 | .u64 | .f16x2 | .bf16x2 | .f32 | .f64"), since=ATOM, **REMOTE, **LOCAL)
form("fabric.submit{.op_restrict::fetching}",      "6", since=SINCE)
form("fabric.submit.commit_group",                 "6", since="9.5 sm_100")
form("fabric.wait.sync_restrict::reads",           "7", since=SINCE)
form("fabric.wait.sync_restrict::read  N",         "7", N="read imm", since="9.5 sm_100")
form("fabric.wait.sync_restrict::reads  N",        "7", N="read imm", undocumented="N", since=SINCE)

# Tensors: the map's address is replaced by an offset behind the endpoint, on demand its sizes and strides, too.
for dim, override, parts, given in (
    ("1d 2d 3d 4d 5d", "", "", {}),
    ("1d", ".override::global_dim", ", sizes", {"sizes": "short xdim b8"}),
    ("2d 3d 4d 5d", ".override::global_dim_stride", ", sizes, lowStrides, upStrides", {"sizes": "short xdim b8", "lowStrides": "xdim-1 u32", "upStrides": "reg u16"}),
):
    tensor = {"dim": dim, "tensorMap": "reg in generic", "leId": "reg u32", "offset": "reg u64", "tensorCoords": "coordinates s32", **LOCAL, **given}
    at = f"override::global_address{override}"
    form(f"fabric.try_get.async.tensor.dim.shared::cta{{.tile}}.{BYTES}{{.L2::cache_hint}}.{at}.relaxed.sys.b128  [dst], [tensorMap, leId, offset{parts}, tensorCoords], [mbar]{{, cache-policy}}", "8", dst="bare moved in shared::cta", rules=HINT, ptxas_optional="relaxed sys", since=TENSOR, **(tensor | MOVED))
    for counted, count, more in (("", "", {}), (".counted::bytes", ", counter", {"counter": "reg u64"})):
        form(f"fabric.try_put.async.tensor{{.multimem}}.dim.shared::cta{{.tile}}.{UNITS}{{.L2::cache_hint}}{counted}.{at}.relaxed.sys.b128  [tensorMap, leId, offset{count}{parts}, tensorCoords], [src], size, [mbar]{{, cache-policy}}", "9", src="bare moved in shared::cta", size=SIZE, rules=HINT, ptxas_optional="relaxed sys", since=TENSOR, **tensor, **more)
        form(f"fabric.try_red.async.tensor{{.multimem}}.dim.shared::cta{{.tile}}.{UNITS}{{.L2::cache_hint}}{counted}.{at}.relaxed.sys.redOp  [tensorMap, leId, offset{count}{parts}, tensorCoords], [src], size, [mbar]{{, cache-policy}}", "10", redOp="and or xor min max add", src="bare moved in shared::cta", size=SIZE, rules=HINT, ptxas_optional="relaxed sys", since=TENSOR, **tensor, **more)
# fmt: on
