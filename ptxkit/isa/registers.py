"""Which registers and constants may stand where an instruction has an operand of a type. PTX ISA 9.4."""

from __future__ import annotations

from functools import cache

from ptxkit.dtypes import DTYPES, Kind

INTEGER = frozenset({Kind.SIGNED, Kind.UNSIGNED})


@cache
def register_fits(register: str, wanted: str, wide: bool = False, element: bool = False) -> bool:
    """Whether a register of type `register` may stand where an instruction of type `wanted` has an operand.

    Args:
        register: the declared type.
        wanted: the instruction's type, perhaps an alternate or packed one.
        wide: the register may be wider (9.4.1).
        element: it is an element of a `.v2`, .. vector, where a float's place takes integers of its width.

    Untyped bits fit every type of their width; signed and unsigned integers each other; floats only
    themselves. A `.f16x2` register passes for the 32-bit integer or the predicate that the instruction's own type
    names: so says ptxas.
    """
    have, want = DTYPES[register], DTYPES[wanted]
    if register == wanted:
        return True
    if want.kind is Kind.PREDICATE:
        return register == "f16x2"
    if have.kind is Kind.PREDICATE:
        return False
    bits = register_bits(wanted)
    if wanted == "b128":
        return False
    same = have.bits == bits or (wide and have.bits > bits)
    if want.kind is Kind.BITS and want.fundamental:
        return same
    if want.kind in INTEGER and want.lanes == 1 and want.fundamental:
        return same and (have.kind is Kind.BITS or have.kind in INTEGER or register == "f16x2")
    if have.kind is Kind.BITS:
        return same
    if element and wanted in ("f16", "f32", "f64") and have.kind in INTEGER:
        return have.bits == bits
    return register == "f16x2" and want.kind in INTEGER and bits == 32


def register_bits(type_: str) -> int:
    """How wide the register is that holds a value of the type."""
    bits = DTYPES[type_].bits
    return 8 if bits < 8 else bits if bits in (8, 16, 32, 64, 128) else 64 if bits > 32 else 32


@cache
def constant_fits(constant: str, wanted: str) -> bool:
    """Whether a constant of that kind may stand for an operand of type `wanted`."""
    want = DTYPES[wanted]
    if constant == "int":
        if want.kind is Kind.PREDICATE:
            return True
        return want.fundamental and (want.kind is Kind.BITS or want.kind in INTEGER)
    if wanted in ("f32", "f64"):
        return True
    return wanted == ("b64" if constant == "float" else "b32")
