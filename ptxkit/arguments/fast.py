"""The short way to pack: a function written for one signature, for values that need no thought.

`Signature.pack` accepts much and explains what it refuses; a launch that is made a million times wants
neither. The function made here packs ints, floats, buffers of one type and bytes with a single call of
`struct`, exactly as `pack` would, and raises on everything else, which `pack` then judges.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.arguments.parameter import Parameter, layout
from ptxkit.arguments.values import is_device_array

REFUSED = (AttributeError, OverflowError, TypeError, ValueError, struct.error)
"""What a packer raises for values that `Signature.pack` has to judge."""


def compile_packer(parameters: Sequence[Parameter], buffer: type, home: object) -> Callable[..., None]:
    """`pack(space, a, b, ..)`: writes the arguments' bytes into a writable buffer of the space's size.

    Args:
        parameters: of the signature.
        buffer: the type of the device's buffers; they have `address` and `context`.
        home: the `context` of the buffers that may be given.

    The function raises one of `REFUSED` for values that are not plainly right; the space is then undefined.
    """
    names = [f"a{parameter.index}" for parameter in parameters]
    lines = [f"def pack({', '.join(['space', *names])}):"]
    for parameter, name in zip(parameters, names, strict=True):
        lines += [f"    {line}" for line in _checks(parameter, name)]
    lines.append(f"    pack_into({', '.join(['space', '0', *names])})")
    scope: dict[str, Any] = {
        "Buffer": buffer,
        "block": _block,
        "home": home,
        "pack_into": struct.Struct(layout(parameters)).pack_into,
    }
    exec("\n".join(lines), scope)
    packer: Callable[..., None] = scope["pack"]
    return packer


def _block(value: Any) -> bytes:
    if is_device_array(value):
        raise TypeError
    given: bytes = value.__bytes__()
    return given


def _checks(parameter: Parameter, name: str) -> list[str]:
    """The lines that make `struct` do the rest; integers need none, it checks their type and range."""
    if parameter.takes_address:
        lines = [
            f"if type({name}) is Buffer and {name}.context is home: {name} = {name}.address",
            f"elif type({name}) is not int: raise TypeError",
        ]
        if parameter.pointee_alignment > 1:
            lines.append(f"if {name} % {parameter.pointee_alignment}: raise ValueError")
        return lines
    if parameter.is_float:
        return [f"if type({name}) is not float: raise TypeError"]
    if parameter.is_aggregate:
        return [
            f"if type({name}) is not bytes: {name} = block({name})",
            f"if len({name}) != {parameter.size}: raise ValueError",
        ]
    return []
