"""What a tensor holds before the first launch: `randn`, `uniform(-1, 1)`, `@x.npy`, ..

The same spelling is in a card's `init` and after the colon of `--arg x=f32[1024]:randn`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, Span, counted

KINDS: dict[str, tuple[int, str]] = {
    "undefined": (0, "nothing: reading it before writing it is a bug"),
    "zeros": (0, "zero everywhere"),
    "ones": (0, "one everywhere"),
    "full": (1, "the given value everywhere"),
    "arange": (0, "0, 1, 2, .. in memory order"),
    "randn": (0, "normal numbers, mean 0 and deviation 1"),
    "uniform": (2, "numbers from the first value to below the second"),
    "randint": (2, "integers from the first value to below the second"),
    "bits": (0, "random bits"),
}
"""Generators: how many values each takes, and what it makes."""

_CALL = re.compile(r"(?P<kind>\w+)\s*(?:\((?P<values>[^()]*)\))?\Z")


@dataclass(frozen=True, slots=True)
class Initial:
    """A tensor's first content: a generator with its values, or `file`, the path of a `.npy`."""

    kind: str
    values: tuple[float, ...] = ()
    file: str | None = None

    def __str__(self) -> str:
        if self.file is not None:
            return f"@{self.file}"
        values = (str(int(value) if value.is_integer() else value) for value in self.values)
        return f"{self.kind}({', '.join(values)})" if self.values else self.kind


def parse(text: str, span: Span | None = None, source: Source | None = None) -> Initial:
    """Read an `init`.

    Raises:
        PtxkitError: P536, there is no such generator, or it takes other values, or another range.
    """

    def refuse(message: str, help: str) -> PtxkitError:
        return PtxkitError(Diagnostic("P536", message, span, help=help, source=source))

    text = text.strip()
    if text.startswith("@") and len(text) > 1:
        return Initial("file", file=text[1:])
    match = _CALL.match(text)
    kind = match["kind"] if match else None
    known = (
        "a tensor's content is one of " + ", ".join(f"`{_usage(name)}`" for name in KINDS) + " or `@FILE.npy`"
    )
    if match is None or kind not in KINDS:
        raise refuse(f"expected a tensor's content, found `{text}`", known)
    count, _ = KINDS[kind]
    written = [value for value in (match["values"] or "").split(",") if value.strip()]
    try:
        values = tuple(float(value) for value in written)
    except ValueError:
        raise refuse(f"expected numbers, found `{text}`", f"write `{_usage(kind)}`") from None
    if len(values) != count:
        raise refuse(
            f"expected {counted(count, 'value')} in `{kind}`, found {len(values)}", f"write `{_usage(kind)}`"
        )
    objection = _objection(kind, values)
    if objection:
        raise refuse(f"expected {objection}, found `{text}`", f"write `{_usage(kind)}`")
    return Initial(kind, values)


def _objection(kind: str, values: tuple[float, ...]) -> str | None:
    """What these values of a generator should be, where they can't be used."""
    if kind == "uniform":
        low, high = values
        fits = low <= high and math.isfinite(high - low)
        return None if fits else "a range of numbers"
    if kind == "randint":
        low, high = values
        fits = low < high and all(v.is_integer() and abs(v) < 2**63 for v in values)
        return None if fits else "a range of integers of 64 bits"
    return None


def _usage(kind: str) -> str:
    return kind + {0: "", 1: "(1.5)", 2: "(0, 10)"}[KINDS[kind][0]]
