"""Which bases an address may have: registers, variables, special registers, in each state space. PTX ISA 6.4.1.

The manual allows registers, variables and integers. Where ptxas emits the access itself it allows less: in global and
generic memory the base must have 64 bits. Instructions that it turns into calls allow more: it moves the base first.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.dtypes import DTYPES
from ptxkit.isa.notation import Form
from ptxkit.isa.operands import LONGEST, OperandKind, same_space
from ptxkit.isa.places import OperandPlace, Spec

DIRECT = frozenset("ld ldu st atom red multimem prefetch prefetchu discard applypriority mbarrier".split())
"""Opcodes that access memory at the one address they name, except for the names in `INDIRECT`."""
INDIRECT = frozenset({"st.async", "st.bulk", "red.async", "multimem.st.async", "multimem.red.async"})
OPAQUE_BASES = frozenset(
    "multimem cp tensormap clusterlaunchcontrol fence ldmatrix stmatrix tex tld4 txq".split()
)
"""Opcodes with addresses in which ptxas takes the name of a texture or surface."""
FOLLOWED = frozenset({"L2::cache_hint", "multicast", "multicast::cluster"})
"""Slots of copies whose modifier comes with an operand behind the mbarrier."""
NARROW_BASES = frozenset("clusterlaunchcontrol fence cp ldmatrix stmatrix".split())
"""Opcodes with addresses in which ptxas takes a register of 8 or 16 bits."""


def is_direct(form: Form) -> bool:
    """Whether the instruction is one access, which ptxas emits itself and so checks the address's width."""
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
    if base[0] == "var" and is_elsewhere(form, base[1], spaces, slots):
        return False
    return base[1] != "param" or _parameter_fits(base[2], spec)


def is_elsewhere(form: Form, space: str, spaces: tuple[str, ...], slots: Mapping[str, str]) -> bool:
    """Whether a generic address names a variable in memory for which the instruction is not.

    Cache policies, `prefetch` and its like, and in atomics vectors of packed halves and a fourth operand are for
    global memory, atomics not for local; of a variable elsewhere ptxas 13.5 makes no code.
    """
    if space == "local":
        return form.opcode == "atom" or (
            form.opcode == "prefetch" and spaces == ("generic",) and "level" in slots
        )
    if not space.startswith("shared"):
        return False
    if form.opcode == "atom" and form.undocumented is not None:
        return True
    if spaces != ("generic",):
        return False
    if form.opcode in ("atom", "red"):
        halves = "vec" in slots and slots.get("type") in ("f16x2", "bf16x2")
        return halves or "L2::cache_hint" in slots.values()
    hinted = form.opcode == "st" and "L2::cache_hint" in slots.values()
    return hinted or form.opcode in ("prefetch", "discard", "applypriority")


def is_passed(form: Form, slots: Mapping[str, str]) -> bool:
    """Whether it accesses parameters of a function, or of a call, and none of a kernel."""
    space = slots.get("ss")
    return space == "param::func" or (space == "param" and form.opcode == "st")


def bare_fits(spec: Spec, kind: OperandKind, spaces: tuple[str, ...]) -> bool:
    """Whether ptxas takes it for an address without brackets: a register, a variable, either and a number, or a
    floating-point number."""
    base = kind[1] if kind[0] == "offset" else kind
    if isinstance(base, tuple):
        return variable_fits(base, spaces)
    if kind in ("float", "0f"):
        return "moved" not in spec.words
    if base not in DTYPES or (base == "pred" and (kind != base or "predicates" not in spec.words)):
        return False
    return "moved" not in spec.words or (DTYPES[base].bits in (32, 64) and base != "f32" and base != "f16x2")


def is_mask(spec: Spec, kind: OperandKind) -> bool:
    """Whether ptxas takes what stands for an address without brackets for a mask."""
    return "masks" in spec.words and kind in ("b16", "u16", "s16")


def none_fits(form: Form, spaces: tuple[str, ...]) -> bool:
    """Whether ptxas takes `_` in the place of the address: of a reduction in shared memory."""
    return form.name == "red" and any(space.startswith("shared") for space in spaces)


def variable_fits(base: OperandKind, spaces: tuple[str, ...]) -> bool:
    """Whether it is a variable in one of the spaces."""
    return base[0] == "var" and any(same_space(base[1], wanted) for wanted in spaces)


def unified_fits(base: OperandKind, spaces: tuple[str, ...]) -> bool:
    """Whether `.unified` may follow the address: in global memory, of a variable only with that attribute."""
    variable = isinstance(base, tuple) and base[0] == "var"
    return {"global", "generic"} >= set(spaces) and (not variable or base[2:] == ("unified",))


def _parameter_fits(role: str, spec: Spec) -> bool:
    """Whether a parameter may be the base: a load reads no return parameter, a store writes no input, and no other
    instruction takes a parameter declared for a call."""
    if "load" in spec.words:
        return role != "out"
    if "store" in spec.words:
        return role != "in"
    return role != "local"


def _special_fits(form: Form, place: OperandPlace, base: tuple, slots: Mapping[str, str]) -> bool:
    """Whether ptxas takes a special register as an address: wherever it ignores the state space. Where it looks at the
    state space it crashes, except for loads of one register and the longest generic accesses."""
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
    """Whether it is an access of 256 bits, for which ptxas has rules of its own."""
    vec, type_ = slots.get("vec"), slots.get("type")
    return vec is not None and type_ is not None and int(vec[1:]) * DTYPES[type_].bits == LONGEST


def _width_fits(
    form: Form, place: OperandPlace, base: str, spaces: tuple[str, ...], slots: Mapping[str, str]
) -> bool:
    """Whether ptxas takes an address of that width."""
    bits = DTYPES[base].bits
    if is_direct(form):
        if form.opcode == "mbarrier":
            return bits != 32 or any(value.startswith("shared") for value in slots.values())
        return bits != 32 or not {"global", "generic"}.issuperset(spaces)
    if form.name.startswith("tensormap.query") or (form.opcode == "fabric" and place.name == "tensorMap"):
        return bits == 64
    if form.opcode in ("ldmatrix", "stmatrix") and "generic" in spaces:
        return bits >= 32
    if place.name == "mbar" and form.opcode != "tcgen05":
        return True
    return bits >= 32 or form.opcode in NARROW_BASES or form.name == "tensormap.cp_fenceproxy"
