"""One parameter of an `.entry`, and where it lies in the parameter space. PTX ISA 5.1.6.1 to 5.1.6.3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ptxkit import dtypes
from ptxkit.asm.tree import Variable
from ptxkit.diagnostics import Source, Span, error

_INTEGERS = {8: "Bb", 16: "Hh", 32: "Ii", 64: "Qq"}
FORMATS = {
    **{f"{kind}{bits}": letters[kind == "s"] for bits, letters in _INTEGERS.items() for kind in "bus"},
    "b128": "16s",
    "f16": "e",
    "f32": "f",
    "f64": "d",
    "f16x2": "4s",
}
"""`struct` formats, little-endian, of the types that a parameter can have."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature.

    Attributes:
        index: its place, from 0.
        name: as declared.
        type: the element type without its dot.
        size: bytes in the parameter space.
        alignment: `.align`, else the type's natural alignment.
        offset: bytes from the start of the parameter space.
        dimensions: of an array, outermost first; empty for a scalar.
        pointer: for `.ptr`: (state space or None for generic, alignment or None); else None.
        text: the declaration without `.param` and the name: `.u64 .ptr .global .align 16`, `.b8[128]`.
        span: where it is declared.
    """

    index: int
    name: str
    type: str
    size: int
    alignment: int
    offset: int
    dimensions: tuple[int, ...] = ()
    pointer: tuple[str | None, int | None] | None = None
    text: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def takes_address(self) -> bool:
        """Whether a device buffer can be given: a 64-bit integer or untyped scalar."""
        return not self.dimensions and self.type in ("u64", "s64", "b64")

    @property
    def pointee_alignment(self) -> int:
        """What `.ptr .align` promises about the address, 1 where it promises nothing."""
        return (self.pointer[1] or 1) if self.pointer else 1

    @property
    def is_float(self) -> bool:
        """Whether it is one floating-point number."""
        return not self.dimensions and self.type in ("f16", "f32", "f64")

    @property
    def is_aggregate(self) -> bool:
        """Whether `FORMATS` has no number for it: arrays, packed and 128-bit values."""
        return bool(self.dimensions) or FORMATS[self.type].endswith("s")


def place(variables: Sequence[Variable], source: Source | None = None) -> tuple[Parameter, ...]:
    """The parameters of an `.entry`, each at the next multiple of its alignment.

    Raises:
        PtxkitError: P507, an array of unknown size, or a type that no host value can have.
    """
    parameters: list[Parameter] = []
    end = 0
    for index, variable in enumerate(variables):
        size, alignment, dimensions = _extent(variable, source)
        offset = -(-end // alignment) * alignment
        end = offset + size
        parameters.append(
            Parameter(
                index=index,
                name=variable.name,
                type=variable.type,
                size=size,
                alignment=alignment,
                offset=offset,
                dimensions=dimensions,
                pointer=variable.pointer,
                text=_declaration(variable),
                span=variable.span,
            )
        )
    return tuple(parameters)


def _extent(variable: Variable, source: Source | None) -> tuple[int, int, tuple[int, ...]]:
    """Size, alignment and dimensions of a parameter."""
    (declarator,) = variable.declarators
    if variable.type not in FORMATS or variable.vector:
        type_name = f".{variable.vector}.{variable.type}" if variable.vector else f".{variable.type}"
        message = (
            f"parameter `{declarator.name}` has type `{type_name}`, into which no host value can be packed"
        )
        raise error("P507", message, variable.span, source=source)
    element = dtypes.dtype(variable.type).bytes
    dimensions = []
    for dimension in declarator.dimensions:
        if dimension is None or dimension <= 0:
            message = f"parameter `{declarator.name}` is an array of unknown size"
            raise error("P507", message, variable.span, source=source, help="write the size in the brackets")
        dimensions.append(dimension)
    return element * math.prod(dimensions), variable.align or element, tuple(dimensions)


def _declaration(variable: Variable) -> str:
    (declarator,) = variable.declarators
    words = [f".align {variable.align}"] if variable.align else []
    words.append(f".{variable.type}")
    if variable.pointer:
        space, alignment = variable.pointer
        words.append(".ptr")
        words += [f".{space}"] if space else []
        words += [f".align {alignment}"] if alignment else []
    return " ".join(words) + "".join(f"[{d}]" for d in declarator.dimensions if d is not None)
