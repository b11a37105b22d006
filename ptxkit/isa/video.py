"""Video instructions on parts of 32-bit registers. PTX ISA 9.7.18."""

from ptxkit.isa.registry import Chapter

form = Chapter("video", "9.7.18")

TYPES = "u32 s32"
PARTS = "b0 b1 b2 b3 h0 h1"
OP2 = "add min max"
HALVES = " ".join(f"h{x}{y}" for x in range(4) for y in range(4))
MASK2 = "h0 h1 h10"
EIGHT = range(8)
# ptxas reads `.b1024` as a type.
BYTES = " ".join(f"b{x}{y}{z}{w}" for x in EIGHT for y in EIGHT for z in EIGHT for w in EIGHT).replace(
    "b1024 ", ""
)
MASK4 = "b0 b1 b10 b2 b20 b21 b210 b3 b30 b31 b310 b32 b320 b321 b3210"
SCALAR = {"dtype": TYPES, "atype": TYPES, "btype": TYPES, "asel": PARTS, "bsel": PARTS, "since": "2.0 sm_20"}
SHIFT = {
    "dtype": TYPES,
    "atype": TYPES,
    "btype": "u32",
    "mode": "clamp wrap",
    "asel": PARTS,
    "bsel": PARTS,
    "since": "2.0 sm_20",
}
SET = {
    "atype": TYPES,
    "btype": TYPES,
    "cmp": "eq ne lt le gt ge",
    "asel": PARTS,
    "bsel": PARTS,
    "d": "u32",
    "since": "2.0 sm_20",
}
SIMD2 = {
    "dtype": TYPES,
    "atype": TYPES,
    "btype": TYPES,
    "mask": MASK2,
    "asel": HALVES,
    "bsel": HALVES,
    "a": "reg .atype",
    "b": "reg .btype",
    "since": "3.0 sm_30",
}
SIMD4 = {
    "dtype": TYPES,
    "atype": TYPES,
    "btype": TYPES,
    "mask": MASK4,
    "asel": BYTES,
    "bsel": BYTES,
    "a": "reg .atype",
    "b": "reg .btype",
    "since": "3.0 sm_30",
}

# fmt: off
for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
    form(f"{name}.dtype.atype.btype{{.sat}}      d, a{{.asel}}, b{{.bsel}}",         "1.1", **SCALAR)
    form(f"{name}.dtype.atype.btype{{.sat}}.op2  d, a{{.asel}}, b{{.bsel}}, c",      "1.1", op2=OP2, c=".dtype", **SCALAR)
    form(f"{name}.dtype.atype.btype{{.sat}}      d.dsel, a{{.asel}}, b{{.bsel}}, c", "1.1", dsel=PARTS, c=".dtype", **SCALAR)
for name in ("vshl", "vshr"):
    form(f"{name}.dtype.atype.btype{{.sat}}.mode      d, a{{.asel}}, b{{.bsel}}",         "1.2", **SHIFT)
    form(f"{name}.dtype.atype.btype{{.sat}}.mode.op2  d, a{{.asel}}, b{{.bsel}}, c",      "1.2", op2=OP2, c=".dtype", **SHIFT)
    form(f"{name}.dtype.atype.btype{{.sat}}.mode      d.dsel, a{{.asel}}, b{{.bsel}}, c", "1.2", dsel=PARTS, c=".dtype", **SHIFT)
for operands in ("{-}a{.asel}, b{.bsel}, c", "a{.asel}, {-}b{.bsel}, c", "a{.asel}, b{.bsel}, {-}c"):
    form(f"vmad.dtype.atype.btype{{.sat}}{{.scale}}  d, {operands}", "1.3", scale="shr7 shr15", c=".dtype", **SCALAR)
form("vmad.dtype.atype.btype.po{.sat}{.scale}  d, a{.asel}, b{.bsel}, c",          "1.3", scale="shr7 shr15", c=".dtype", **SCALAR)
form("vset.atype.btype.cmp      d, a{.asel}, b{.bsel}",         "1.4", **SET)
form("vset.atype.btype.cmp.op2  d, a{.asel}, b{.bsel}, c",      "1.4", op2=OP2, c="u32", **SET)
form("vset.atype.btype.cmp      d.dsel, a{.asel}, b{.bsel}, c", "1.4", dsel=PARTS, c="u32", **SET)
for name in ("vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2"):
    form(f"{name}.dtype.atype.btype{{.sat}}  d{{.mask}}, a{{.asel}}, b{{.bsel}}, c", "2.1", c="reg .dtype", **SIMD2)
    form(f"{name}.dtype.atype.btype.add      d{{.mask}}, a{{.asel}}, b{{.bsel}}, c", "2.1", c="reg .dtype", **SIMD2)
form("vset2.atype.btype.cmp      d{.mask}, a{.asel}, b{.bsel}, c", "2.2", atype=TYPES, btype=TYPES, cmp="eq ne lt le gt ge", mask=MASK2, asel=HALVES, bsel=HALVES, d="u32", a="reg .atype", b="reg .btype", c="reg u32", since="3.0 sm_30")
form("vset2.atype.btype.cmp.add  d{.mask}, a{.asel}, b{.bsel}, c", "2.2", atype=TYPES, btype=TYPES, cmp="eq ne lt le gt ge", mask=MASK2, asel=HALVES, bsel=HALVES, d="u32", a="reg .atype", b="reg .btype", c="reg u32", since="3.0 sm_30")
for name in ("vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4"):
    form(f"{name}.dtype.atype.btype{{.sat}}  d{{.mask}}, a{{.asel}}, b{{.bsel}}, c", "2.3", c="reg .dtype", **SIMD4)
    form(f"{name}.dtype.atype.btype.add      d{{.mask}}, a{{.asel}}, b{{.bsel}}, c", "2.3", c="reg .dtype", **SIMD4)
form("vset4.atype.btype.cmp      d{.mask}, a{.asel}, b{.bsel}, c", "2.4", atype=TYPES, btype=TYPES, cmp="eq ne lt le gt ge", mask=MASK4, asel=BYTES, bsel=BYTES, d="u32", a="reg .atype", b="reg .btype", c="reg u32", since="3.0 sm_30")
form("vset4.atype.btype.cmp.add  d{.mask}, a{.asel}, b{.bsel}, c", "2.4", atype=TYPES, btype=TYPES, cmp="eq ne lt le gt ge", mask=MASK4, asel=BYTES, bsel=BYTES, d="u32", a="reg .atype", b="reg .btype", c="reg u32", since="3.0 sm_30")
# fmt: on
