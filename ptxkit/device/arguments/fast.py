"""The short way to pack: a function written for one signature, for values that need no thought.

`Signature.pack` accepts much and explains what it refuses; a launch that is made a million times wants
neither. The function made here packs ints, floats, buffers, other libraries' arrays and bytes exactly as
`pack` would, and raises on everything else, which `pack` then judges. It writes only what is not the value
that lies in the space already; a value counts as the same only if it is the same object and can't change.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from ptxkit.device.arguments.parameter import FORMATS, Parameter
from ptxkit.device.arguments.values import AddressOf, is_device_array

REFUSED = (AttributeError, OverflowError, TypeError, ValueError, struct.error)
"""What a packer raises for values that `Signature.pack` has to judge."""

_INTEGERS: dict[str, Any] = {
    f"{kind}{bits}": FORMATS[f"{kind}{bits}"] for kind in "us" for bits in (8, 16, 32, 64)
}
_UNKNOWN = object()
"""Stands for what lies in a space and is not an object that could be given again."""


class ParameterSpace:
    """Memory for one launch's parameters, and the array of pointers to them that the driver takes.

    Each parameter has its own pointer, so that it need not lie where the driver will put it: of parameters
    aligned to more than 16 bytes the driver aligns the address in the constant bank, in which the parameter
    space begins at 0x210 on compute capability 9.0. `.align 64` after 4 bytes is at 64 here, at 48 there.

    Attributes:
        bytes: the space, to be written through `fill` or by a packer of the signature.
        address: of the array of pointers.
        last: the values that lie in it, as packers compare them.
        u8, s8, u16, s16, u32, s32, u64, s64: the same memory as integers.
    """

    __slots__ = ("_block", "_pointers", "address", "bytes", "last", *_INTEGERS)

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        size = max((p.offset + p.size for p in parameters), default=0)
        self._block = ctypes.create_string_buffer(-(-size // 8) * 8 or 8)
        base = ctypes.addressof(self._block)
        pointers = [base + parameter.offset for parameter in parameters]
        self._pointers = (ctypes.c_void_p * max(len(pointers), 1))(*pointers)
        self.address = ctypes.addressof(self._pointers)
        whole = memoryview(self._block).cast("B")
        self.bytes = whole[:size]
        for name, letter in _INTEGERS.items():
            setattr(self, name, whole.cast(letter))
        self.last: tuple[Any, ...] = (_UNKNOWN,) * len(pointers)

    def fill(self, packed: bytes) -> None:
        """Put the bytes of all parameters into it."""
        self.bytes[:] = packed
        self.last = (_UNKNOWN,) * len(self.last)


Packer = Callable[[ParameterSpace, Any], None]


def compile_packer(
    parameters: Sequence[Parameter], buffer: type, home: object, address_of: AddressOf
) -> Packer:
    """`pack(space, args)`: writes the arguments' bytes into a space of the signature.

    Args:
        parameters: of the signature.
        buffer: the type of the device's buffers; they have `address` and `context`.
        home: the `context` of the buffers that may be given.
        address_of: gives the device address of other libraries' arrays, None for what is none.

    The function raises one of `REFUSED` for values that are not plainly right; the space is then to be
    filled before it is used.
    """
    given = [f"a{p.index}" for p in parameters]
    taken = [f"b{p.index}" if p.takes_address else f"a{p.index}" for p in parameters]
    last = [f"l{p.index}" for p in parameters]
    addresses = dict.fromkeys(b for a, b in zip(given, taken, strict=True) if a != b)
    same = " and ".join(f"{value} is {before}" for value, before in zip(taken, last, strict=True))
    lines = ["def pack(space, args):"]
    lines.append(f"    {_tuple(given)} = args")
    lines += [f"    {b} = a{b[1:]}.address if type(a{b[1:]}) is Buffer else a{b[1:]}" for b in addresses]
    lines.append(f"    {_tuple(last)} = space.last")
    lines.append(f"    if not ({same or 'True'}): write({', '.join(['space', *given, *addresses, *last])})")
    lines.append(f"def write({', '.join(['space', *given, *addresses, *last])}):")
    lines.append("    space.last = nothing")
    for parameter, value, before in zip(parameters, taken, last, strict=True):
        lines.append(f"    if {value} is not {before}:")
        lines += [f"        {line}" for line in _write(parameter, value)]
    lines.append(f"    space.last = {_tuple(taken)}")
    scope: dict[str, Any] = {
        "Buffer": buffer,
        "address_of": address_of,
        "block": _block,
        "home": home,
        "nothing": (_UNKNOWN,) * len(parameters),
        "unknown": _UNKNOWN,
        **{f"pack_{name}": struct.Struct("<" + FORMATS[name]).pack_into for name in ("f16", "f32", "f64")},
    }
    exec(_code("\n".join(lines)), scope)
    packer: Packer = scope["pack"]
    return packer


@lru_cache
def _code(text: str) -> CodeType:
    """Compiled once for all kernels of like signatures, however often they are loaded."""
    return compile(text, "<packer>", "exec")


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)},)" if names else "()"


def _block(value: Any) -> bytes:
    if is_device_array(value):
        raise TypeError
    given: bytes = value.__bytes__()
    return given


def _write(parameter: Parameter, value: str) -> list[str]:
    """The lines that write one value. A view of integers checks their type and range."""
    where = f"space.{parameter.type.replace('b', 'u')}[{parameter.offset // max(parameter.size, 1)}]"
    if parameter.takes_address:
        argument = f"a{parameter.index}"
        lines = [
            f"given = {value}",
            f"if type(given) is not int: given, {value} = address_of({argument}), unknown",
            f"elif given is not {argument} and {argument}.context is not home: raise TypeError",
            "if type(given) is not int: raise TypeError",
        ]
        if parameter.pointee_alignment > 1:
            lines.append(f"if given % {parameter.pointee_alignment}: raise ValueError")
        return [*lines, *_aligned(parameter, f"{where} = given")]
    if parameter.is_float:
        return [
            f"if type({value}) is not float: raise TypeError",
            f"pack_{parameter.type}(space.bytes, {parameter.offset}, {value})",
        ]
    if parameter.is_aggregate:
        return [
            f"given = {value}",
            f"if type(given) is not bytes: given, {value} = block(given), unknown",
            f"if len(given) != {parameter.size}: raise ValueError",
            f"space.bytes[{parameter.offset}:{parameter.offset + parameter.size}] = given",
        ]
    return [*_aligned(parameter, f"{where} = {value}"), f"if type({value}) is not int: {value} = unknown"]


def _aligned(parameter: Parameter, line: str) -> list[str]:
    """The line; a parameter that `.align` puts between words is left to `Signature.pack`."""
    return [line] if parameter.offset % parameter.size == 0 else ["raise ValueError"]
