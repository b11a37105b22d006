"""Textures. PTX ISA 9.7.10."""

from ptxkit.isa.registry import Chapter

form = Chapter("texture", "9.7.10")

DTYPE = "u32 s32 f16 f32"
FLAT = "1d 2d 3d a1d a2d"
ALL = "1d 2d 3d a1d a2d cube acube"
SAMPLES = "2dms a2dms"
TEXTURE = {"p": "pred", "a": "texref u64", "b": "samplerref u64", "e": "shifts s32"}
FLOAT = {**TEXTURE, "ctype": "f32", "c": "texels .ctype", "f": "f32"}
INTEGER = {**TEXTURE, "ctype": "s32", "c": "texels .ctype"}
COMPARED = {"needs": {"p": "7.1 sm_60", "e | f": "4.3 sm_30"}, "rules": ".3d -> !f"}
SHIFTED = {"needs": {"p": "7.1 sm_60", "e": "4.3 sm_30"}}
GRADIENTS = {"dPdx": "gradients f32", "dPdy": "gradients f32"}

# fmt: off
for typed, vector in (("v4.dtype", {"dtype": DTYPE, "d": "loose x4 .dtype"}), ("v2.f16x2", {"d": "whole plain x2 f16x2"})):
    form(f"tex.geom.{typed}.ctype        d{{|p}}, [a, {{b,}} c]{{, e}}{{, f}}", "3", geom=ALL, **FLOAT, **COMPARED, **vector)
    form(f"tex.base.geom.{typed}.ctype   d{{|p}}, [a, {{b,}} c]{{, e}}{{, f}}", "3", geom=ALL, **FLOAT, **COMPARED, **vector)
    form(f"tex.level.geom.{typed}.ctype  d{{|p}}, [a, {{b,}} c], lod{{, e}}{{, f}}", "3", geom=ALL, lod="braced .ctype", **FLOAT, **COMPARED, **vector)
    form(f"tex.grad.geom.{typed}.ctype   d{{|p}}, [a, {{b,}} c], dPdx, dPdy{{, e}}{{, f}}", "3", geom=ALL, **FLOAT, **COMPARED, **GRADIENTS, **vector)
    form(f"tex.geom.{typed}.ctype        d{{|p}}, [a, {{b,}} c]{{, e}}", "3", geom=f"{FLAT} {SAMPLES}", **INTEGER, **SHIFTED, **vector)
    form(f"tex.base.geom.{typed}.ctype   d{{|p}}, [a, {{b,}} c]{{, e}}", "3", geom=FLAT, **INTEGER, **SHIFTED, **vector)
    form(f"tex.level.geom.{typed}.ctype  d{{|p}}, [a, {{b,}} c], lod{{, e}}", "3", geom=FLAT, lod="braced .ctype", **INTEGER, **SHIFTED, **vector)
    form(f"tex.grad.geom.{typed}.ctype   d{{|p}}, [a, {{b,}} c], dPdx, dPdy{{, e}}", "3", geom=FLAT, **INTEGER, **SHIFTED, **GRADIENTS, **vector)

form("tld4.comp.geom.v4.dtype.ctype  d{|p}, [a, {b,} c]{, e}{, f}", "4", comp="r g b a", geom="2d a2d cube acube", dtype="u32 s32 f32", d="loose x4 .dtype", since="2.2 sm_20", needs=COMPARED["needs"], **FLOAT)
form("txq.query.b32            d, [a]", "5", query="width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples filter_mode addr_mode_0 addr_mode_1 addr_mode_2", d="b32", a="texref samplerref u64", since="1.5")
form("txq.query.b32            d, [a]", "5", query="force_unnormalized_coords", d="b32", a="samplerref u64", since="1.5")
form("txq.level.query.b32      d, [a], lod", "5", query="width height depth", d="b32", a="texref u64", lod="braced u32", since="4.3 sm_30")
form("istypep.type             p, a", "6", type="texref samplerref surfref", a="u64", since="4.0 sm_30")
# fmt: on
