"""Python that writes PTX: a method per form of the instruction set, typed registers, structured control flow.

    from ptxkit.asm.build import Builder, param, special

    b = Builder("sm_90a")
    with b.entry("scale", [param("u64", "x"), param("f32", "factor")], maxntid=256) as k:
        x, factor = k.parameters
        base = k.ld.param.u64(..., k[x])
        thread = k.mov.u32(..., special.tid.x)
        at = k.mad.wide.u32(..., thread, 4, base)
        value = k.ld.global_.f32(..., k[at])
        k.st.global_.f32(k[at], k.mul.f32(..., value, k.ld.param.f32(..., k[factor])))
        k.ret()

A mistake raises `PtxkitError` where it is made, with the checker's own words. What the builder made is a tree
as `parse` gives one, and `check` has nothing against it. `values` says what may stand as an operand, `chain`
how an instruction is spelled.
"""

from ptxkit.asm.build.body import Body
from ptxkit.asm.build.declare import param
from ptxkit.asm.build.module import Builder
from ptxkit.asm.build.values import (
    WARP_SZ,
    LabelOperand,
    MemoryVariable,
    Register,
    Registers,
    f32,
    f64,
    generic,
    sink,
    special,
)

__all__ = [
    "WARP_SZ",
    "Body",
    "Builder",
    "LabelOperand",
    "MemoryVariable",
    "Register",
    "Registers",
    "f32",
    "f64",
    "generic",
    "param",
    "sink",
    "special",
]
