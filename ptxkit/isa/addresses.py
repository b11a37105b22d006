"""Which bases an address may have: registers, variables, special registers, in each state space. PTX ISA 6.4.1.

The manual has registers, variables and integers. ptxas makes code of less, for an access that it makes itself has 64
bits in global and generic memory, and of more, for of other instructions it makes calls, and moves the base first.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.dtypes import DTYPES
from ptxkit.isa.notation import Form
from ptxkit.isa.operands import LONGEST, OperandKind, same_space
from ptxkit.isa.places import OperandPlace, Spec

DIRECT = frozenset("ld ldu st atom red multimem prefetch prefetchu discard applypriority mbarrier".split())
"""Opcodes that access memory at the one address that they name, but for these names:"""
INDIRECT = frozenset({"st.async", "st.bulk", "red.async"})
OPAQUE_BASES = frozenset(
    "multimem cp tensormap clusterlaunchcontrol fence ldmatrix stmatrix tex tld4 txq".split()
)
"""Opcodes with addresses in which ptxas takes the name of a texture or surface."""
NARROW_BASES = frozenset("clusterlaunchcontrol fence cp ldmatrix stmatrix".split())
"""Opcodes with addresses in which ptxas takes a register of 8 or 16 bits."""


def is_direct(form: Form) -> bool:
    """Whether ptxas makes the one access that the instruction says, and so looks at the width of its address."""
    tensor_map = any(slot.name == "tensormap" for slot in form.slots)
    return form.opcode in DIRECT and form.name not in INDIRECT and not tensor_map


def base_fits(
    form: Form, place: OperandPlace, base: OperandKind, spaces: tuple[str, ...], slots: Mapping[str, str]
) -> bool:
    """Whether an address may have that base.

    Args:
        form: the instruction's.
        place: the address.
        base: the kind of what stands first in the brackets.
        spaces: the state spaces that it may be in.
        slots: the form's modifiers.
    """
    spec = form.specs[place.name]
    if base == "?":
        return True
    if isinstance(base, str):
        if base == "int":
            return "local" in spaces or form.opcode == "fence"
        if spaces == ("tmem",):
            return base == "b32" or ("exact" not in spec.words and base in ("u32", "s32", "f16x2"))
        return (
            base in DTYPES
            and base[0] in "bus"
            and base != "b128"
            and _width_fits(form, place, base, spaces, slots)
        )
    if base[0] == "sreg":
        return _special_fits(form, place, base, slots)
    if base[0] == "opaque":
        named = form.name not in ("multimem.st", "cp.async.mbarrier.arrive") and spaces != ("tmem",)
        return form.opcode in OPAQUE_BASES and named
    if "reg" in spec.words or not variable_fits(base, spaces):
        return False
    if base == ("var", "local") and form.opcode == "atom":
        return False  # ptxas crashes.
    return base[1] != "param" or _parameter_fits(base[2], spec)


def variable_fits(base: OperandKind, spaces: tuple[str, ...]) -> bool:
    """Whether it is a variable in one of the spaces."""
    return base[0] == "var" and any(same_space(base[1], wanted) for wanted in spaces)


def unified_fits(base: OperandKind, spaces: tuple[str, ...]) -> bool:
    """Whether `.unified` may follow the address: in global memory, of a variable only with that attribute."""
    variable = isinstance(base, tuple) and base[0] == "var"
    return {"global", "generic"} >= set(spaces) and (not variable or base[2:] == ("unified",))


def _parameter_fits(role: str, spec: Spec) -> bool:
    """Loads don't read return parameters, stores don't write inputs, nothing else takes one for a call."""
    if "load" in spec.words:
        return role != "out"
    if "store" in spec.words:
        return role != "in"
    return role != "local"


def _special_fits(form: Form, place: OperandPlace, base: tuple, slots: Mapping[str, str]) -> bool:
    """Whether ptxas takes a special register for an address: wherever it does not look at the state space. Where it
    does, it crashes, but for loads of one register and the longest generic accesses."""
    if base[1] in ("pred", "v4") or base[-1] == "component":
        return False
    if is_direct(form):
        if is_longest(slots) and "ss" in {slot.name for slot in form.slots} and "ss" not in slots:
            return True
        return (form.opcode in ("ld", "ldu") and "vec" not in slots) or form.name in (
            "multimem.ld_reduce",
            "multimem.red",
        )
    return form.opcode != "tcgen05" or place.name in ("mbar", "dst")


def is_longest(slots: Mapping[str, str]) -> bool:
    """Whether it is one of the accesses of 256 bits, which ptxas treats in a way of its own."""
    vec, type_ = slots.get("vec"), slots.get("type")
    return vec is not None and type_ is not None and int(vec[1:]) * DTYPES[type_].bits == LONGEST


def _width_fits(
    form: Form, place: OperandPlace, base: str, spaces: tuple[str, ...], slots: Mapping[str, str]
) -> bool:
    """Whether ptxas makes code of an address that wide."""
    bits = DTYPES[base].bits
    if is_direct(form):
        if form.opcode == "mbarrier":
            return bits != 32 or any(value.startswith("shared") for value in slots.values())
        return bits != 32 or not {"global", "generic"}.issuperset(spaces)
    if form.name == "tensormap.query":
        return bits == 64
    if form.opcode in ("ldmatrix", "stmatrix") and "generic" in spaces:
        return bits >= 32
    if place.name == "mbar" and form.opcode != "tcgen05":
        return True
    return bits >= 32 or form.opcode in NARROW_BASES or form.name == "tensormap.cp_fenceproxy"
