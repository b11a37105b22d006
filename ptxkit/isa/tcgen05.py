"""Tensor Memory and the fifth-generation tensor cores. PTX ISA 9.7.16."""

from ptxkit.isa.registry import Chapter

form = Chapter("tcgen05", "9.7.16")

FAMILY = "8.6 sm_100f sm_110f"
GROUP = "cta_group::1 cta_group::2"
TMEM = "in tmem"
TMEM_B32 = "exact b32 in tmem"
FLOAT = "kind::f16 kind::tf32 kind::f8f6f4"
SCALED = "kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4"
VECTORS = "scale_vec::1X scale_vec::2X scale_vec::4X block16 block32"
COLLECTOR = "collector::a::fill collector::a::use collector::a::lastuse collector::a::discard"
COLLECTOR_B = " ".join(
    f"collector::b{buffer}::{op}" for buffer in range(4) for op in ("fill", "use", "lastuse", "discard")
)
SCALES = ".kind::mxf8f6f4 -> !.scale_vec::2X & !.scale_vec::4X & !.block16; .kind::mxf4 -> !.scale_vec::1X & !.scale_vec::4X & !.block16; .kind::mxf4nvf4 -> !.scale_vec::1X & .scale_vectorsize"
ARCH = "8.6 sm_100a sm_110a"
SCALED_NEEDS = {
    ".scale_vec::1X | .scale_vec::2X | .scale_vec::4X": "8.6 sm_100a sm_103a sm_110a, 9.4 sm_107a",
    ".kind::mxf4nvf4": "8.7",
    ".block16 | .block32": "8.8",
}
SCALE_ADVISED = {"!.scale_vectorsize": "8.8"}
SPARSE_NEEDS = {**SCALED_NEEDS, ".kind::mxf4 | .kind::mxf4nvf4": "8.6 sm_100a sm_103a sm_110a, 9.4 sm_107a"}
COLUMNS = "u32 32 64 128 256 512"

# fmt: off
form("tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32  [dst], nCols", "7.1", cta_group=GROUP, dst="in shared ~.shared::cta", nCols=COLUMNS, since=FAMILY)
form("tcgen05.dealloc.cta_group.sync.aligned.b32              taddr, nCols", "7.1", cta_group=GROUP, taddr="read u32", nCols=COLUMNS, since=FAMILY)
form("tcgen05.relinquish_alloc_permit.cta_group.sync.aligned", "7.1", cta_group=GROUP, since=FAMILY)

form("tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32   r, [taddr]", "8.3", shape="16x64b 32x32b", num="x1 x2 x4 x8 x16 x32 x64 x128", r="whole plain xnum b32", taddr=TMEM, since=FAMILY)
form("tcgen05.ld.sync.aligned.16x128b.num{.pack::16b}.b32 r, [taddr]", "8.3", num="x1 x2 x4 x8 x16 x32 x64", r="whole plain xnum*2 b32", taddr=TMEM, since=FAMILY)
form("tcgen05.ld.sync.aligned.16x256b.num{.pack::16b}.b32 r, [taddr]", "8.3", num="x1 x2 x4 x8 x16 x32", r="whole plain xnum*4 b32", taddr=TMEM, since=FAMILY)
form("tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32  r, [taddr], immHalfSplitoff", "8.3", num="x1 x2 x4 x8 x16 x32 x64 x128", r="whole plain xnum b32", taddr=TMEM, immHalfSplitoff="imm", since=FAMILY)
form("tcgen05.ld.red.sync.aligned.32x32b.num.redOp{.abs}{.NaN}.f32   r, redval, [taddr]", "8.3", num="x2 x4 x8 x16 x32 x64 x128", redOp="min max", r="whole plain xnum f32", redval="write b32", taddr=TMEM, since="8.8 sm_103f sm_110f")
form("tcgen05.ld.red.sync.aligned.16x32bx2.num.redOp{.abs}{.NaN}.f32 r, redval, [taddr], immHalfSplitoff", "8.3", num="x2 x4 x8 x16 x32 x64 x128", redOp="min max", r="whole plain xnum f32", redval="write b32", taddr=TMEM, immHalfSplitoff="imm", since="8.8 sm_103f sm_110f")
form("tcgen05.ld.red.sync.aligned.32x32b.num.redOp.type    r, redval, [taddr]", "8.3", num="x2 x4 x8 x16 x32 x64 x128", redOp="min max", type="u32 s32", r="whole plain xnum .type", redval="write b32", taddr=TMEM, since="8.8 sm_103f sm_110f")
form("tcgen05.ld.red.sync.aligned.16x32bx2.num.redOp.type  r, redval, [taddr], immHalfSplitoff", "8.3", num="x2 x4 x8 x16 x32 x64 x128", redOp="min max", type="u32 s32", r="whole plain xnum .type", redval="write b32", taddr=TMEM, immHalfSplitoff="imm", since="8.8 sm_103f sm_110f")
form("tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32   [taddr], r", "8.4", shape="16x64b 32x32b", num="x1 x2 x4 x8 x16 x32 x64 x128", r="plain xnum b32", taddr=TMEM, since=FAMILY)
form("tcgen05.st.sync.aligned.16x128b.num{.unpack::16b}.b32 [taddr], r", "8.4", num="x1 x2 x4 x8 x16 x32 x64", r="plain xnum*2 b32", taddr=TMEM, since=FAMILY)
form("tcgen05.st.sync.aligned.16x256b.num{.unpack::16b}.b32 [taddr], r", "8.4", num="x1 x2 x4 x8 x16 x32", r="plain xnum*4 b32", taddr=TMEM, since=FAMILY)
form("tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32  [taddr], immHalfSplitoff, r", "8.4", num="x1 x2 x4 x8 x16 x32 x64 x128", r="plain xnum b32", taddr=TMEM, immHalfSplitoff="imm", since=FAMILY)
form("tcgen05.wait::ld.sync.aligned",      "8.5", since=FAMILY)
form("tcgen05.wait::st.sync.aligned",      "8.5", since=FAMILY)

form("tcgen05.cp.cta_group.shape{.b8x16.src_fmt}  [taddr], s-desc", "9.2", cta_group=GROUP, shape="128x256b 4x256b 128x128b", src_fmt="b6x16_p32 b4x16_p64", taddr=TMEM, s_desc="u64", since=FAMILY)
form("tcgen05.cp.cta_group.64x128b.multicast{.b8x16.src_fmt}  [taddr], s-desc", "9.2", cta_group=GROUP, multicast="warpx2::02_13 warpx2::01_23", src_fmt="b6x16_p32 b4x16_p64", taddr=TMEM, s_desc="u64", since=FAMILY)
form("tcgen05.cp.cta_group.32x128b.warpx4{.b8x16.src_fmt}  [taddr], s-desc", "9.2", cta_group=GROUP, src_fmt="b6x16_p32 b4x16_p64", taddr=TMEM, s_desc="u64", since=FAMILY)
form("tcgen05.shift.cta_group.down  [taddr]", "9.3", cta_group=GROUP, taddr=TMEM, since="8.6 sm_100a sm_103a sm_110a, 9.4 sm_107a")

form("tcgen05.mma.cta_group.kind{.collector}  [d], a-desc, b-desc, idesc{, disable-output-lane}, {!}enable-input-d{, scale-input-d}", "10.9.1", cta_group=GROUP, kind=FLOAT, collector=COLLECTOR, d=TMEM_B32, a_desc="u64", b_desc="u64", idesc="u32", disable_output_lane="reg xgroup*4 b32", enable_input_d="pred", scale_input_d="imm 0..15", rules="scale_input_d -> .kind::f16 | .kind::tf32", since=FAMILY, needs={"scale_input_d": "8.6 sm_100f"})
form("tcgen05.mma.cta_group.kind.block_scale{.scale_vectorsize}{.collector}  [d], a-desc, b-desc, idesc, [scale-A], [scale-B], {!}enable-input-d", "10.9.1", cta_group=GROUP, kind=SCALED, scale_vectorsize=VECTORS, collector=COLLECTOR, d=TMEM_B32, a_desc="u64", b_desc="u64", idesc="u32", scale_A=TMEM_B32, scale_B=TMEM_B32, enable_input_d="pred", rules=SCALES, since=FAMILY, needs=SCALED_NEEDS, advises=SCALE_ADVISED)
form("tcgen05.mma.cta_group.kind::i8{.collector}  [d], a-desc, b-desc, idesc{, disable-output-lane}, {!}enable-input-d", "10.9.1", cta_group=GROUP, collector=COLLECTOR, d=TMEM_B32, a_desc="u64", b_desc="u64", idesc="u32", disable_output_lane="reg xgroup*4 b32", enable_input_d="pred", since=ARCH)
form("tcgen05.mma.cta_group.kind{.ashift}{.collector}  [d], [a], b-desc, idesc{, disable-output-lane}, {!}enable-input-d{, scale-input-d}", "10.9.1", cta_group=GROUP, kind=FLOAT, collector=COLLECTOR, d=TMEM_B32, a=TMEM_B32, b_desc="u64", idesc="u32", disable_output_lane="reg xgroup*4 b32", enable_input_d="pred", scale_input_d="imm 0..15", rules="scale_input_d -> .kind::f16 | .kind::tf32; .ashift -> !.collector::a::use & !.collector::a::fill", since=FAMILY, needs={"scale_input_d": "8.6 sm_100f"})
form("tcgen05.mma.cta_group.kind.block_scale{.scale_vectorsize}{.collector}  [d], [a], b-desc, idesc, [scale-A], [scale-B], {!}enable-input-d", "10.9.1", cta_group=GROUP, kind=SCALED, scale_vectorsize=VECTORS, collector=COLLECTOR, d=TMEM_B32, a=TMEM_B32, b_desc="u64", idesc="u32", scale_A=TMEM_B32, scale_B=TMEM_B32, enable_input_d="pred", rules=SCALES, since=FAMILY, needs=SCALED_NEEDS, advises=SCALE_ADVISED)
form("tcgen05.mma.cta_group.kind::i8{.ashift}{.collector}  [d], [a], b-desc, idesc{, disable-output-lane}, {!}enable-input-d", "10.9.1", cta_group=GROUP, collector=COLLECTOR, d=TMEM_B32, a=TMEM_B32, b_desc="u64", idesc="u32", disable_output_lane="reg xgroup*4 b32", enable_input_d="pred", rules=".ashift -> !.collector::a::use & !.collector::a::fill", since=ARCH)
form("tcgen05.mma.sp.cta_group.kind{.collector}  [d], a-desc, b-desc, [sp-meta], idesc{, disable-output-lane}, {!}enable-input-d{, scale-input-d}", "10.9.2", cta_group=GROUP, kind=FLOAT, collector=COLLECTOR, d=TMEM_B32, a_desc="u64", b_desc="u64", sp_meta=TMEM_B32, idesc="u32", disable_output_lane="reg xgroup*4 b32", enable_input_d="pred", scale_input_d="imm 0..15", rules="scale_input_d -> .kind::f16 | .kind::tf32", since=FAMILY, needs={"scale_input_d": "8.6 sm_100f"})
form("tcgen05.mma.sp.cta_group.kind.block_scale{.scale_vectorsize}{.collector}  [d], a-desc, b-desc, [sp-meta], idesc, [scale-A], [scale-B], {!}enable-input-d", "10.9.2", cta_group=GROUP, kind=SCALED, scale_vectorsize=VECTORS, collector=COLLECTOR, d=TMEM_B32, a_desc="u64", b_desc="u64", sp_meta=TMEM_B32, idesc="u32", scale_A=TMEM_B32, scale_B=TMEM_B32, enable_input_d="pred", rules=SCALES, since=FAMILY, needs=SPARSE_NEEDS, advises=SCALE_ADVISED)
form("tcgen05.mma.sp.cta_group.kind::i8{.collector}  [d], a-desc, b-desc, [sp-meta], idesc{, disable-output-lane}, {!}enable-input-d", "10.9.2", cta_group=GROUP, collector=COLLECTOR, d=TMEM_B32, a_desc="u64", b_desc="u64", sp_meta=TMEM_B32, idesc="u32", disable_output_lane="reg xgroup*4 b32", enable_input_d="pred", since=ARCH)
form("tcgen05.mma.sp.cta_group.kind{.ashift}{.collector}  [d], [a], b-desc, [sp-meta], idesc{, disable-output-lane}, {!}enable-input-d{, scale-input-d}", "10.9.2", cta_group=GROUP, kind=FLOAT, collector=COLLECTOR, d=TMEM_B32, a=TMEM_B32, b_desc="u64", sp_meta=TMEM_B32, idesc="u32", disable_output_lane="reg xgroup*4 b32", enable_input_d="pred", scale_input_d="imm 0..15", rules="scale_input_d -> .kind::f16 | .kind::tf32; .ashift -> !.collector::a::use & !.collector::a::fill", since=FAMILY, needs={"scale_input_d": "8.6 sm_100f"})
form("tcgen05.mma.sp.cta_group.kind.block_scale{.scale_vectorsize}{.collector}  [d], [a], b-desc, [sp-meta], idesc, [scale-A], [scale-B], {!}enable-input-d", "10.9.2", cta_group=GROUP, kind=SCALED, scale_vectorsize=VECTORS, collector=COLLECTOR, d=TMEM_B32, a=TMEM_B32, b_desc="u64", sp_meta=TMEM_B32, idesc="u32", scale_A=TMEM_B32, scale_B=TMEM_B32, enable_input_d="pred", rules=SCALES, since=FAMILY, needs=SPARSE_NEEDS, advises=SCALE_ADVISED)
form("tcgen05.mma.sp.cta_group.kind::i8{.ashift}{.collector}  [d], [a], b-desc, [sp-meta], idesc{, disable-output-lane}, {!}enable-input-d", "10.9.2", cta_group=GROUP, collector=COLLECTOR, d=TMEM_B32, a=TMEM_B32, b_desc="u64", sp_meta=TMEM_B32, idesc="u32", disable_output_lane="reg xgroup*4 b32", enable_input_d="pred", rules=".ashift -> !.collector::a::use & !.collector::a::fill", since=ARCH)
form("tcgen05.mma.ws.cta_group::1.kind{.collector}      [d], a-desc, b-desc, idesc, {!}enable-input-d{, zero-column-mask-desc}", "10.9.3", kind=FLOAT, collector=COLLECTOR_B, d=TMEM_B32, a_desc="u64", b_desc="u64", idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=FAMILY)
form("tcgen05.mma.ws.cta_group::1.kind::i8{.collector}  [d], a-desc, b-desc, idesc, {!}enable-input-d{, zero-column-mask-desc}", "10.9.3", collector=COLLECTOR_B, d=TMEM_B32, a_desc="u64", b_desc="u64", idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=ARCH)
form("tcgen05.mma.ws.cta_group::1.kind{.collector}      [d], [a], b-desc, idesc, {!}enable-input-d{, zero-column-mask-desc}", "10.9.3", kind=FLOAT, collector=COLLECTOR_B, d=TMEM_B32, a=TMEM_B32, b_desc="u64", idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=FAMILY)
form("tcgen05.mma.ws.cta_group::1.kind::i8{.collector}  [d], [a], b-desc, idesc, {!}enable-input-d{, zero-column-mask-desc}", "10.9.3", collector=COLLECTOR_B, d=TMEM_B32, a=TMEM_B32, b_desc="u64", idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=ARCH)
form("tcgen05.mma.ws.sp.cta_group::1.kind{.collector}      [d], a-desc, b-desc, [sp-meta], idesc, {!}enable-input-d{, zero-column-mask-desc}", "10.9.4", kind=FLOAT, collector=COLLECTOR_B, d=TMEM_B32, a_desc="u64", b_desc="u64", sp_meta=TMEM_B32, idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=FAMILY)
form("tcgen05.mma.ws.sp.cta_group::1.kind::i8{.collector}  [d], a-desc, b-desc, [sp-meta], idesc, {!}enable-input-d{, zero-column-mask-desc}", "10.9.4", collector=COLLECTOR_B, d=TMEM_B32, a_desc="u64", b_desc="u64", sp_meta=TMEM_B32, idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=ARCH)
form("tcgen05.mma.ws.sp.cta_group::1.kind{.collector}      [d], [a], b-desc, [sp-meta], idesc, {!}enable-input-d{, zero-column-mask-desc}", "10.9.4", kind=FLOAT, collector=COLLECTOR_B, d=TMEM_B32, a=TMEM_B32, b_desc="u64", sp_meta=TMEM_B32, idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=FAMILY)
form("tcgen05.mma.ws.sp.cta_group::1.kind::i8{.collector}  [d], [a], b-desc, [sp-meta], idesc, {!}enable-input-d{, zero-column-mask-desc}", "10.9.4", collector=COLLECTOR_B, d=TMEM_B32, a=TMEM_B32, b_desc="u64", sp_meta=TMEM_B32, idesc="u32", enable_input_d="pred", zero_column_mask_desc="u64", since=ARCH)

form("tcgen05.fence::before_thread_sync", "11.1", since=FAMILY)
form("tcgen05.fence::after_thread_sync",  "11.1", since=FAMILY)
form("tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64  [mbar]{, ctaMask}", "12.1", cta_group=GROUP, mbar="in shared ~.shared::cluster", ctaMask="sum u16 0..65535", rules=".multicast::cluster -> ctaMask; ctaMask -> .multicast::cluster", since=FAMILY)
# fmt: on
