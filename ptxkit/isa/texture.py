"""Textures. PTX ISA 9.7.10."""

from ptxkit.isa.registry import Chapter

form = Chapter("texture", "9.7.10")

DTYPE = "u32 s32 f16 f32"
FLAT = "1d 2d 3d a1d a2d"
ALL = "1d 2d 3d a1d a2d cube acube"
SAMPLES = "2dms a2dms"
NEEDS = {"p": "7.1 sm_60", "e | f": "4.3 sm_30"}
NO_OFFSET = ".cube | .acube -> !e; .3d -> !f"
"""Cube maps take no offset, three-dimensional textures no depth compare."""

# fmt: off
form("tex.geom.v4.dtype.f32        d{|p}, [a, {b,} c]{, e}{, f}", "3", geom=ALL, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels f32", e="shifts s32", f="f32", rules=NO_OFFSET, needs=NEEDS)
form("tex.base.geom.v4.dtype.f32   d{|p}, [a, {b,} c]{, e}{, f}", "3", geom=ALL, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels f32", e="shifts s32", f="f32", rules=NO_OFFSET, needs=NEEDS)
form("tex.level.geom.v4.dtype.f32  d{|p}, [a, {b,} c], lod{, e}{, f}", "3", geom=ALL, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels f32", lod="f32", e="shifts s32", f="f32", rules=NO_OFFSET, needs=NEEDS)
form("tex.grad.geom.v4.dtype.f32   d{|p}, [a, {b,} c], dPdx, dPdy{, e}{, f}", "3", geom=ALL, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels f32", dPdx="gradients f32", dPdy="gradients f32", e="shifts s32", f="f32", rules=NO_OFFSET, needs=NEEDS)
form("tex.geom.v4.dtype.s32        d{|p}, [a, {b,} c]{, e}", "3", geom=FLAT, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels s32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.base.geom.v4.dtype.s32   d{|p}, [a, {b,} c]{, e}", "3", geom=FLAT, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels s32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.level.geom.v4.dtype.s32  d{|p}, [a, {b,} c], lod{, e}", "3", geom=FLAT, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels s32", lod="s32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.grad.geom.v4.dtype.s32   d{|p}, [a, {b,} c], dPdx, dPdy{, e}", "3", geom=FLAT, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels s32", dPdx="gradients f32", dPdy="gradients f32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.geom.v4.dtype.s32        d{|p}, [a, {b,} c]{, e}", "3", geom=SAMPLES, dtype=DTYPE, d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels s32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.geom.v2.f16x2.f32        d{|p}, [a, {b,} c]{, e}{, f}", "3", geom=ALL, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels f32", e="shifts s32", f="f32", rules=NO_OFFSET, needs=NEEDS)
form("tex.base.geom.v2.f16x2.f32   d{|p}, [a, {b,} c]{, e}{, f}", "3", geom=ALL, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels f32", e="shifts s32", f="f32", rules=NO_OFFSET, needs=NEEDS)
form("tex.level.geom.v2.f16x2.f32  d{|p}, [a, {b,} c], lod{, e}{, f}", "3", geom=ALL, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels f32", lod="f32", e="shifts s32", f="f32", rules=NO_OFFSET, needs=NEEDS)
form("tex.grad.geom.v2.f16x2.f32   d{|p}, [a, {b,} c], dPdx, dPdy{, e}{, f}", "3", geom=ALL, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels f32", dPdx="gradients f32", dPdy="gradients f32", e="shifts s32", f="f32", rules=NO_OFFSET, needs=NEEDS)
form("tex.geom.v2.f16x2.s32        d{|p}, [a, {b,} c]{, e}", "3", geom=FLAT, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels s32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.base.geom.v2.f16x2.s32   d{|p}, [a, {b,} c]{, e}", "3", geom=FLAT, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels s32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.level.geom.v2.f16x2.s32  d{|p}, [a, {b,} c], lod{, e}", "3", geom=FLAT, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels s32", lod="s32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.grad.geom.v2.f16x2.s32   d{|p}, [a, {b,} c], dPdx, dPdy{, e}", "3", geom=FLAT, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels s32", dPdx="gradients f32", dPdy="gradients f32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})
form("tex.geom.v2.f16x2.s32        d{|p}, [a, {b,} c]{, e}", "3", geom=SAMPLES, d="sinks x2 f16x2", p="pred", a="texref u64", b="samplerref u64", c="texels s32", e="shifts s32", needs={"p": "7.1 sm_60", "e": "4.3 sm_30"})

form("tld4.comp.geom.v4.dtype.f32  d{|p}, [a, {b,} c]{, e}{, f}", "4", comp="r g b a", geom="2d a2d cube acube", dtype="u32 s32 f32", d="sinks x4 .dtype", p="pred", a="texref u64", b="samplerref u64", c="texels f32", e="shifts s32", f="f32", rules=".cube | .acube -> !e & !f", since="2.2 sm_20", needs=NEEDS)
form("txq.query.b32            d, [a]", "5", query="width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2", d="b32", a="texref samplerref u64", since="1.5")
form("txq.level.query.b32      d, [a], lod", "5", query="width height depth", d="b32", a="texref u64", lod="u32", since="4.3 sm_30")
form("istypep.type             p, a", "6", type="texref samplerref surfref", a="reg u64", since="4.0 sm_30")
# fmt: on
