"""Structured sparsity in registers and Tensor Memory, and Rubin's tensor cores, as PTX ISA 9.1 and 9.4 brought them. PTX ISA 9.7.14, 9.7.16."""

from ptxkit.isa.matrix import CTA, SPACE, SUBBYTE
from ptxkit.isa.registry import Chapter
from ptxkit.isa.tcgen05 import ARCH, COLLECTOR, COLLECTOR_B, GROUP, SCALED, SCALES, TMEM, TMEM_B32

form = Chapter("compression", "9.7.16")
matrix = Chapter("compression", "9.7.14")

RUBIN = "9.4 sm_107f"
ALONE = "9.4 sm_107a"
FAMILY = "9.4 sm_100f sm_110f"
FLOAT = "kind::f16 kind::tf32 kind::f8f6f4 kind::ti16"
OPERAND_B = " ".join(f"collector::b::{use}" for use in ("fill", "use", "lastuse", "discard"))
SCALE = "scale_input_d -> .kind::f16 | .kind::tf32"
SHIFT = ".ashift -> !.collector::a::use & !.collector::a::fill"
VECTORS = "scale_vec::1X scale_vec::2X scale_vec::4X block16 block32"
COLUMNS = "u32 32..~576/32"
BYTES = {"byte_a": "u16 0", "thread_a": "u16 0..1", "byte_b": "u16 0", "thread_b": "u16 0..3"}

# fmt: off
matrix("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "5.14", d="x4 f32", a="exact x4 b32", b="exact x2 b32", c="x4 f32", sfa="reg anytype32 b32", sfb="reg anytype32 b32", since="9.1 sm_120f", **BYTES)
matrix("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 d, a, b, c, e, f, sfa, {byte-a, thread-a}, sfb, {byte-b, thread-b}", "6.3", d="x4 f32", a="exact x4 b32", b="exact x4 b32", c="x4 f32", e="reg anytype32 u32", f="imm 0", sfa="reg anytype32 b32", sfb="reg anytype32 b32", since="9.1 sm_120a sm_121a", **BYTES)
matrix("ldmatrix.sync.aligned.m8n16.num{.ss}.s8.s4  r, [p]", "5.15", num="x1 x2 x4", ss="shared shared::cta", r="xnum b32", p="in shared ~.ss", since="9.4 sm_90a sm_100f sm_110f sm_120f")

# What ptxas lets pass beside: accumulators of products of few bits as floats.
matrix("wmma.load.c.sync.aligned.layout.shape{.ss}.f32   r, [p]{, stride}", "4.3", layout="row col", shape="m8n8k32 m8n8k128", ss=SPACE, p="in .ss", r="plain x2 f32", stride="u32", undocumented=".f32", since=SUBBYTE, needs=CTA)
matrix("wmma.store.d.sync.aligned.layout.shape{.ss}.f32  [p], r{, stride}", "4.4", layout="row col", shape="m8n8k32 m8n8k128", ss=SPACE, p="in .ss", r="plain x2 f32", stride="u32", undocumented=".f32", since=SUBBYTE, needs=CTA)

form("spcompress.etype.itype.sp::2:4.num        mdata, cdata, data, spdesc", "8.6", etype="b8 b16", itype="b2 b4", num="x1 x2 x4 x8 x16 x32 x64", mdata="metadata b32", cdata="write kept u32", data="full u32", spdesc="reg b32", since=ALONE)
form("spdecompress.etype.itype.ratio.num        data, mdata, cdata", "8.7", etype="b8 b16", itype="b2 b4", ratio="sp::1:2 sp::1:4 sp::1:8 sp::1:16 sp::2:4 sp::2:8 sp::2:16 sp::4:8 sp::4:16", num="x1 x2 x4 x8 x16 x32 x64", data="full b32", mdata="metadata b32", cdata="kept b32", since=ALONE)
form("tcgen05.ld.spcompress.sync.aligned.32x32b.num.redOp.sp::2:4{.abs}.f32.b2            mdata, cdata, [taddr]", "8.3", num="x4 x8 x16 x32 x64 x128", redOp="min max", mdata="whole plain metadata b32", cdata="write whole plain xnum/2 b32", taddr=TMEM, since=ALONE)
form("tcgen05.ld.red.spcompress.sync.aligned.32x32b.num.redOp.sp::2:4{.abs}{.NaN}.f32.b2  mdata, cdata, redval, [taddr]", "8.3", num="x4 x8 x16 x32 x64 x128", redOp="min max", mdata="whole plain metadata b32", cdata="write whole plain xnum/2 b32", redval="write b32", taddr=TMEM, since=ALONE)

form("tcgen05.alloc.exclusive.cta_group.sync.aligned{.shared::cta}.b32  [dst], nCols", "7.1", cta_group=GROUP, dst="in shared ~.shared::cta", nCols=COLUMNS, since=FAMILY)
form("tcgen05.dealloc.exclusive.cta_group.sync.aligned.b32              taddr, nCols", "7.1", cta_group=GROUP, taddr="read u32", nCols=COLUMNS, since=FAMILY)
for width, mask, needs in (("multicast::cluster multicast::cluster::16b", "sum u16 0..65535", {".multicast::cluster::16b": "9.4"}), ("multicast::cluster::32b", "sum u32 0..4294967295", {".multicast": RUBIN})):
    form("tcgen05.commit.cta_group.mbarrier::arrive::one{.restricted}{.shared::cluster}{.multicast}.b64  [mbar]{, ctaMask}", "12.1", cta_group=GROUP, restricted="sync_restrict::shared::read::mma::a ~sync_restrict::shared::cta ~sync_restrict::shared::cluster", multicast=width, mbar="in shared ~.shared::cluster", ctaMask=mask, rules=".multicast -> ctaMask; ctaMask -> .multicast", since="8.6 sm_100f sm_110f", needs={".sync_restrict::shared::read::mma::a": RUBIN, **needs})

BOTH = {"cta_group": GROUP, "collector": COLLECTOR, "collector_b": OPERAND_B, "d": TMEM_B32, "b_desc": "u64", "idesc": "u32", "enable_input_d": "pred"}
LANES = {"disable_output_lane": "reg xgroup*4 b32"}
SCALED_BY = {"scale_A": TMEM_B32, "scale_B": TMEM_B32}
for sparse, meta, section, given in (("", "", "10.9.1", {}), (".sp", ", [sp-meta]", "10.9.2", {"sp_meta": TMEM_B32})):
    for shift, a, operand in (("", "a-desc", {"a_desc": "u64"}), ("{.ashift}", "[a]", {"a": TMEM_B32})):
        shifted = SHIFT if shift else ()
        form(f"tcgen05.mma{sparse}.cta_group.kind{shift}{{.collector}}{{.collector_b}}  [d], {a}, b-desc{meta}, idesc{{, disable-output-lane}}, {{!}}enable-input-d{{, scale-input-d}}", section, kind=FLOAT, scale_input_d="imm 0..15", rules=(SCALE, *((shifted,) if shift else ())), since=RUBIN, **BOTH, **LANES, **given, **operand)
        form(f"tcgen05.mma{sparse}.cta_group.kind.block_scale{{.scale_vectorsize}}{{.collector}}{{.collector_b}}  [d], {a}, b-desc{meta}, idesc, [scale-A], [scale-B], {{!}}enable-input-d", section, kind=SCALED, scale_vectorsize=VECTORS, rules=SCALES, since=RUBIN, needs={".scale_vec::1X | .scale_vec::2X | .scale_vec::4X": ALONE, **({".kind::mxf4 | .kind::mxf4nvf4": ALONE} if sparse else {})}, **BOTH, **SCALED_BY, **given, **operand)
        form(f"tcgen05.mma.ws{sparse}.cta_group::1.kind::ti16{{.collector}}      [d], {a}, b-desc{meta}, idesc, {{!}}enable-input-d{{, zero-column-mask-desc}}", "10.9.4" if sparse else "10.9.3", collector=COLLECTOR_B, d=TMEM_B32, b_desc="u64", idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=RUBIN, **given, **operand)
        # ptxas counts operands: it takes a predicate in the place of the lanes, and any scale of a kind that has none.
        alone = {"cta_group": GROUP, "collector": COLLECTOR, "d": TMEM_B32, "b_desc": "u64", "idesc": "u32", "enable_input_d": "pred", "rules": shifted, **given, **operand}
        form(f"tcgen05.mma{sparse}.cta_group.kind{shift}{{.collector}}{{.collector_b}}  [d], {a}, b-desc{meta}, idesc, {{!}}disable-output-lane, {{!}}enable-input-d, scale-input-d", section, kind="kind::f16 kind::tf32", collector_b=OPERAND_B, disable_output_lane="reg pred", scale_input_d="imm 0..15", undocumented="disable_output_lane", since="8.6 sm_100f", needs={".collector_b": RUBIN}, **alone)
        lanes, scale, scaled = ("", "", {}) if sparse else ("{, disable-output-lane}", "{, scale-input-d}", {"scale_input_d": "imm"})
        form(f"tcgen05.mma{sparse}.cta_group.kind::i8{shift}{{.collector}}  [d], {a}, b-desc{meta}, idesc, {{!}}disable-output-lane, {{!}}enable-input-d{scale}", section, disable_output_lane="reg pred", undocumented="disable_output_lane", since=ARCH, **scaled, **alone)
        form(f"tcgen05.mma{sparse}.cta_group.kind::i8{shift}{{.collector}}  [d], {a}, b-desc{meta}, idesc{lanes}, {{!}}enable-input-d, scale-input-d", section, scale_input_d="imm", undocumented="scale_input_d", since=ARCH, **({} if sparse else LANES), **alone)
for a, operand in (("a-desc", {"a_desc": "u64"}), ("[a]", {"a": TMEM_B32})):
    form(f"tcgen05.mma.cta_group.kind::f8f6f4.decompress::lut::b{{.collector}}{{.collector_b}}  [d], {a}, b-desc, [lut], idesc{{, disable-output-lane}}, {{!}}enable-input-d", "10.9.1", lut=TMEM_B32, since=RUBIN, **BOTH, **LANES, **operand)
    form(f"tcgen05.mma.cta_group.kind::mxf8f6f4.block_scale.decompress::lut::b{{.block32}}{{.collector}}{{.collector_b}}  [d], {a}, b-desc, [lut], idesc, [scale-A], [scale-B], {{!}}enable-input-d", "10.9.1", lut=TMEM_B32, since=RUBIN, **BOTH, **SCALED_BY, **operand)
# fmt: on
