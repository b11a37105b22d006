"""Asynchronous warpgroup-level matrix instructions. PTX ISA 9.7.15."""

from ptxkit.isa.registry import Chapter

form = Chapter("wgmma", "9.7.15")


def shapes(k: int, every: int = 8, last: int = 256) -> str:
    """`m64n8k16 m64n16k16 ..`: every multiple of 8 columns, or of 16 from 32 on."""
    columns = [n for n in range(8, last + 1, 8) if every == 8 or n <= 24 or n % every == 0]
    return " ".join(f"m64n{n}k{k}" for n in columns)


MIXED = {".u8 & .s8": "8.4"}
SIGN = "imm -1 1"
BIT = "imm 0 1"
DESC = "u64"

# fmt: off
form("wgmma.mma_async.sync.aligned.shape.f16.f16.f16     d, a-desc, b-desc, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b", "5.2", shape=shapes(16), d="whole both xn/4 f16x2", a_desc=DESC, b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_a=BIT, imm_trans_b=BIT, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f32.f16.f16     d, a-desc, b-desc, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b", "5.2", shape=shapes(16), d="whole both xn/2 f32", a_desc=DESC, b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_a=BIT, imm_trans_b=BIT, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f16.f16.f16     d, a, b-desc, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-b", "5.2", shape=shapes(16), d="whole both xn/4 f16x2", a="x4 f16x2", b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_b=BIT, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f32.f16.f16     d, a, b-desc, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-b", "5.2", shape=shapes(16), d="whole both xn/2 f32", a="x4 f16x2", b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_b=BIT, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16   d, a-desc, b-desc, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b", "5.2", shape=shapes(16), d="whole both xn/2 f32", a_desc=DESC, b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_a=BIT, imm_trans_b=BIT, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16   d, a, b-desc, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-b", "5.2", shape=shapes(16), d="whole both xn/2 f32", a="x4 bf16x2", b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_b=BIT, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32   d, a-desc, b-desc, {!}scale-d, imm-scale-a, imm-scale-b", "5.2", shape=shapes(8), d="whole both xn/2 f32", a_desc=DESC, b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32   d, a, b-desc, {!}scale-d, imm-scale-a, imm-scale-b", "5.2", shape=shapes(8), d="whole both xn/2 f32", a="x4 tf32", b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f16.atype.btype d, a-desc, b-desc, {!}scale-d, imm-scale-a, imm-scale-b", "5.2", shape=shapes(32), atype="e4m3 e5m2", btype="e4m3 e5m2", d="whole both xn/4 f16x2", a_desc=DESC, b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f32.atype.btype d, a-desc, b-desc, {!}scale-d, imm-scale-a, imm-scale-b", "5.2", shape=shapes(32), atype="e4m3 e5m2", btype="e4m3 e5m2", d="whole both xn/2 f32", a_desc=DESC, b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f16.atype.btype d, a, b-desc, {!}scale-d, imm-scale-a, imm-scale-b", "5.2", shape=shapes(32), atype="e4m3 e5m2", btype="e4m3 e5m2", d="whole both xn/4 f16x2", a="exact x4 b32", b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.f32.atype.btype d, a, b-desc, {!}scale-d, imm-scale-a, imm-scale-b", "5.2", shape=shapes(32), atype="e4m3 e5m2", btype="e4m3 e5m2", d="whole both xn/2 f32", a="exact x4 b32", b_desc=DESC, scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype  d, a-desc, b-desc, {!}scale-d", "5.2", shape=shapes(32, 16), atype="s8 u8", btype="s8 u8", d="whole both xn/2 s32", a_desc=DESC, b_desc=DESC, scale_d="pred 0..1", lax="aligned", since="8.0 sm_90a", needs=MIXED)
form("wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype  d, a, b-desc, {!}scale-d", "5.2", shape=shapes(32, 16), atype="s8 u8", btype="s8 u8", d="whole both xn/2 s32", a="x4 u32", b_desc=DESC, scale_d="pred 0..1", lax="aligned", since="8.0 sm_90a", needs=MIXED)
form("wgmma.mma_async.sync.aligned.shape.s32.b1.b1.and.popc           d, a-desc, b-desc, {!}scale-d", "5.2", shape=shapes(256, 16), d="whole both xn/2 s32", a_desc=DESC, b_desc=DESC, scale_d="pred 0..1", lax="aligned", since="8.0 sm_90a")
form("wgmma.mma_async.sync.aligned.shape.s32.b1.b1.and.popc           d, a, b-desc, {!}scale-d", "5.2", shape=shapes(256, 16), d="whole both xn/2 s32", a="x4 u32", b_desc=DESC, scale_d="pred 0..1", lax="aligned", since="8.0 sm_90a")

form("wgmma.mma_async.sp.sync.aligned.shape.f16.f16.f16     d, a-desc, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b", "6.3", shape=shapes(32), d="whole both xn/4 f16x2", a_desc=DESC, b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0 1", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_a=BIT, imm_trans_b=BIT, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f32.f16.f16     d, a-desc, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b", "6.3", shape=shapes(32), d="whole both xn/2 f32", a_desc=DESC, b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0 1", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_a=BIT, imm_trans_b=BIT, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f16.f16.f16     d, a, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-b", "6.3", shape=shapes(32), d="whole both xn/4 f16x2", a="x4 f16x2", b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0 1", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_b=BIT, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f32.f16.f16     d, a, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-b", "6.3", shape=shapes(32), d="whole both xn/2 f32", a="x4 f16x2", b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0 1", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_b=BIT, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f32.bf16.bf16   d, a-desc, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b", "6.3", shape=shapes(32), d="whole both xn/2 f32", a_desc=DESC, b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0 1", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_a=BIT, imm_trans_b=BIT, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f32.bf16.bf16   d, a, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b, imm-trans-b", "6.3", shape=shapes(32), d="whole both xn/2 f32", a="x4 bf16x2", b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0 1", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, imm_trans_b=BIT, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f32.tf32.tf32   d, a-desc, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b", "6.3", shape=shapes(16), d="whole both xn/2 f32", a_desc=DESC, b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0 1", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f32.tf32.tf32   d, a, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b", "6.3", shape=shapes(16), d="whole both xn/2 f32", a="x4 tf32", b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0 1", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f16.atype.btype d, a-desc, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b", "6.3", shape=shapes(64), atype="e4m3 e5m2", btype="e4m3 e5m2", d="whole both xn/4 f16x2", a_desc=DESC, b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f32.atype.btype d, a-desc, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b", "6.3", shape=shapes(64), atype="e4m3 e5m2", btype="e4m3 e5m2", d="whole both xn/2 f32", a_desc=DESC, b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f16.atype.btype d, a, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b", "6.3", shape=shapes(64), atype="e4m3 e5m2", btype="e4m3 e5m2", d="whole both xn/4 f16x2", a="exact x4 b32", b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape.f32.atype.btype d, a, b-desc, sp-meta, sp-sel, {!}scale-d, imm-scale-a, imm-scale-b", "6.3", shape=shapes(64), atype="e4m3 e5m2", btype="e4m3 e5m2", d="whole both xn/2 f32", a="exact x4 b32", b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0", scale_d="pred 0..1", imm_scale_a=SIGN, imm_scale_b=SIGN, lax="aligned", since="8.2 sm_90a")
form("wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.s32.atype.btype  d, a-desc, b-desc, sp-meta, sp-sel, {!}scale-d", "6.3", shape=shapes(64, 16), atype="s8 u8", btype="s8 u8", d="whole both xn/2 s32", a_desc=DESC, b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0", scale_d="pred 0..1", lax="aligned", since="8.2 sm_90a", needs=MIXED)
form("wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.s32.atype.btype  d, a, b-desc, sp-meta, sp-sel, {!}scale-d", "6.3", shape=shapes(64, 16), atype="s8 u8", btype="s8 u8", d="whole both xn/2 s32", a="x4 u32", b_desc=DESC, sp_meta="reg unread u32", sp_sel="imm 0", scale_d="pred 0..1", lax="aligned", since="8.2 sm_90a", needs=MIXED)

form("wgmma.fence.sync.aligned",         "7.1", lax="aligned", since="8.0 sm_90a")
form("wgmma.commit_group.sync.aligned",  "7.2", lax="aligned", since="8.0 sm_90a")
form("wgmma.wait_group.sync.aligned  N", "7.3", N="read imm 0..~2147483647", lax="aligned", since="8.0 sm_90a")
# fmt: on
