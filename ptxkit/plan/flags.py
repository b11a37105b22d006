"""What the command line says about a launch: `--arg x=f32[1024]:randn`, `--grid 8,2`, `-p M=128`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from ptxkit.card import Initial, SizeExpression, expression, initial
from ptxkit.diagnostics import PtxkitError, error
from ptxkit.dtypes import DTYPES
from ptxkit.workloads.content import map_npy

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_TYPED = re.compile(r"\.?(?P<type>[a-z]\w*)\s*\[(?P<shape>[^\]]*)\]\s*(?::(?P<content>.+))?\Z")
_USAGE = "write `x=f32[1024]:randn`, `x=f32[1024]` for an output, `x=@x.npy`, `n=3`, or `s=bytes:0100ff7f`"
_BYTES = "bytes:"


class TensorFlag(NamedTuple):
    """`--arg` with a tensor. `dtype` and `shape` are None where a `.npy` or the card decides."""

    dtype: str | None
    shape: tuple[SizeExpression, ...] | None
    initial: Initial | None


ArgumentFlag = TensorFlag | int | float | bytes


def split(text: str, option: str) -> tuple[str, str]:
    """`name=value` in two.

    Raises:
        PtxkitError: P560, it has another form.
    """
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not _NAME.match(name) or not value:
        usage = "-p M=128" if option == "-p" else "--arg n=3" if option == "--arg" else f"{option} y=y.npy"
        raise error(
            "P560", f"expected `NAME=VALUE` after `{option}`, found `{text}`", help=f"write `{usage}`"
        )
    return name, value


def once(pairs: Iterable[tuple[str, T]], option: str) -> dict[str, T]:
    """Named values of a repeated option, in order.

    Raises:
        PtxkitError: P560, one name twice.
    """
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise error("P560", f"expected `{name}` once after `{option}`, found it again")
        found[name] = value
    return found


def size(text: str) -> tuple[str, int]:
    """One `-p`.

    Raises:
        PtxkitError: P560, it is no `NAME=INTEGER`.
    """
    name, value = split(text, "-p")
    try:
        number = int(value, 0)
    except ValueError:
        number = -1
    if number < 0:
        raise error("P560", f"expected an integer of 0 or more for size `{name}`, found `{value}`")
    return name, number


def extents(text: str, option: str, most: int = 3) -> tuple[SizeExpression, ...]:
    """`--grid`, `--block`, `--cluster`: expressions over sizes, separated by commas; `--shared`: one.

    Raises:
        PtxkitError: P560, there are more, or they are no expressions.
    """
    parts = _split_commas(text)
    if not 1 <= len(parts) <= most or not all(part.strip() for part in parts):
        wanted, usage = ("a number", "49152") if most == 1 else (f"1 to {most} numbers", "8,2")
        raise error(
            "P560", f"expected {wanted} after `{option}`, found `{text}`", help=f"write `{option} {usage}`"
        )
    return tuple(_expression(part) for part in parts)


def _expression(text: str) -> SizeExpression:
    try:
        return expression.parse(text)
    except PtxkitError as problem:
        raise PtxkitError(replace(d, code="P560") for d in problem.diagnostics) from None


def _split_commas(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def argument(text: str) -> tuple[str, ArgumentFlag]:
    """One `--arg`.

    Raises:
        PtxkitError: P560 (its form), P537 (no such type), P536 (no such content).
    """
    name, value = split(text, "--arg")
    number = _number(value)
    if number is not None:
        return name, number
    if value.startswith(_BYTES):
        return name, _bytes(name, value)
    if value.startswith("@"):
        return name, TensorFlag(None, None, initial.parse(value))
    match = _TYPED.match(value)
    if match is None:
        raise error("P560", f"expected a tensor or a number for `{name}`, found `{value}`", help=_USAGE)
    dtype = match["type"]
    if dtype not in DTYPES or DTYPES[dtype].numpy is None:
        raise error(
            "P537", f"expected a type for `{name}`, found `{dtype}`", help="`f32`, `bf16`, `s32`, `e2m1`, .."
        )
    shape = tuple(_expression(part) for part in _split_commas(match["shape"]) if part.strip())
    content = initial.parse(match["content"]) if match["content"] else None
    return name, TensorFlag(dtype, shape, content)


def _bytes(name: str, text: str) -> bytes:
    """A struct's bytes, lowest first, two digits each; `_` may stand between them."""
    try:
        return bytes.fromhex(text.removeprefix(_BYTES).replace("_", ""))
    except ValueError:
        help = f"write `--arg {name}=bytes:01000000_ffff`, two digits a byte, the lowest first"
        raise error("P560", f"expected hexadecimal digits for `{name}`, found `{text}`", help=help) from None


def _number(text: str) -> int | float | None:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def layout_of(name: str, path: Path) -> tuple[str, tuple[int, ...]]:
    """The PTX type and the shape of a `.npy`, from its header.

    Raises:
        PtxkitError: P555 (no such file, or no `.npy`), P556 (its type has no counterpart).
    """
    array = map_npy(name, path)
    dtype, shape = array.dtype, tuple(int(extent) for extent in array.shape)
    ptx = {"f": "f", "i": "s", "u": "u"}.get(dtype.kind, "?") + str(8 * dtype.itemsize)
    if ptx not in DTYPES:
        help = f"give the type: `--arg {name}=bf16[{','.join(map(str, shape))}]:@{path}`"
        raise error("P556", f"expected numbers in `{path}`, found `{dtype}`", help=help)
    return ptx, shape
