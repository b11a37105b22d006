"""Instructions as attribute chains: `k.ld.global_.v4.u32` is `ld.global.v4.u32`.

A modifier is an attribute of its own name, with four spellings where Python needs them: `__` for `::`
(`shared__cta`), a `_` after a keyword (`global_`, `and_`), a `_` before a digit (`_2d`, `_16x256b`), and one
for the colon of a ratio (`sp__2_4` is `.sp::2:4`).
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from typing import Any

from ptxkit.isa.unfinished import Unfinished, unfinished

Emit = Callable[[str, tuple[str, ...], tuple[Any, ...], Any], Any]
"""Adds an instruction: opcode, modifiers, operands, guard."""


_RATIO = re.compile(r"sp::(\d+)_(\d+)\Z")


def attribute(word: str) -> str | None:
    """How an opcode or a modifier is spelled as an attribute; None where it can't be."""
    name = word.replace("::", "__").replace(":", "_")
    if name[:1].isdigit():
        name = f"_{name}"
    if keyword.iskeyword(name):
        name = f"{name}_"
    return name if name.isidentifier() and name.isascii() and modifier(name) == word else None


def modifier(name: str) -> str | None:
    """The opcode or modifier that an attribute spells; None where it spells none."""
    if name.endswith("_") and keyword.iskeyword(name[:-1]):
        return name[:-1]
    if name.startswith("_"):
        if not name[1:2].isdigit():
            return None
        name = name[1:]
    return _RATIO.sub(r"sp::\1:\2", name.replace("__", "::"))


class OpcodeChain:
    """An opcode with the modifiers so far. Calling it adds the instruction; `dir` lists what may follow.

    Its `repr` shows the forms that it can still become.
    """

    __slots__ = ("_emit", "_modifiers", "_opcode", "_predicate")

    def __init__(
        self, emit: Emit, opcode: str, modifiers: tuple[str, ...] = (), predicate: Any = None
    ) -> None:
        self._emit = emit
        self._opcode = opcode
        self._modifiers = modifiers
        self._predicate = predicate

    def __getattr__(self, name: str) -> OpcodeChain:
        word = modifier(name)
        if word is None:
            raise AttributeError(f"`{name}` spells no modifier")
        return OpcodeChain(self._emit, self._opcode, (*self._modifiers, word), self._predicate)

    def __call__(self, *operands: Any) -> Any:
        """Add the instruction with these operands.

        Returns:
            The new registers that `...` stands for: one, or a tuple of several; a list for a vector. None
            where there is no `...`.

        Raises:
            PtxkitError: what the checker has against it.
        """
        return self._emit(self._opcode, self._modifiers, operands, self._predicate)

    def __dir__(self) -> list[str]:
        return sorted(
            {
                name
                for each in _open(self._opcode, self._modifiers)
                for word in each.following
                if (name := attribute(word)) is not None
            }
        )

    def __repr__(self) -> str:
        lines = [".".join((self._opcode, *self._modifiers))]
        lines += [f"    {each.form.syntax}" for each in _open(self._opcode, self._modifiers)]
        return "\n".join(lines)


def _open(opcode: str, modifiers: tuple[str, ...]) -> list[Unfinished]:
    """The forms that begin with these modifiers."""
    return [each for each in unfinished(opcode, modifiers) if each.ordered]
