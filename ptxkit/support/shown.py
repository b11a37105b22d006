"""What `repr` says of an object, and rich's pretty printer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class SelfDescribing:
    """An object that says once what is to be seen of it, for `repr` and for rich."""

    __slots__ = ()

    def __rich_repr__(self) -> Iterator[Any]:
        """The parts: a value, `(name, value)`, or `(name, value, default)`, which is not shown by default."""
        yield from ()

    def __repr__(self) -> str:
        parts = []
        for part in self.__rich_repr__():
            if not isinstance(part, tuple):
                parts.append(repr(part))
            elif len(part) == 2 or part[1] != part[2]:
                parts.append(f"{part[0]}={part[1]!r}")
        return f"{type(self).__name__}({', '.join(parts)})"
