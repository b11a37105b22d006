"""Where each key and value of a TOML text stands: what `tomllib` knows and does not tell.

The text has been through `tomllib` already, so this walks valid TOML only. TOML 1.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Path = tuple[str | int, ...]
"""Keys and list indices from the root: `("launch", 0, "grid", 1)`."""
Extent = tuple[int, int]
"""First and past-the-end offset in the text."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'", re.DOTALL
)
_SCALAR = re.compile(r"[^\s,\]}#][^,\]}#\n]*")


@dataclass
class Positions:
    """Extents by path.

    Attributes:
        values: of each value; a string's extent includes its quotes.
        keys: of the last key of each path, table headers included.
    """

    text: str
    values: dict[Path, Extent] = field(default_factory=dict)
    keys: dict[Path, Extent] = field(default_factory=dict)
    _at: int = 0
    _arrays: dict[Path, int] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Positions:
        """The positions in a valid TOML text."""
        positions = cls(text)
        positions._document()
        return positions

    def find(self, path: Path) -> Extent | None:
        """The extent of the value at `path`, else of its key, else of the nearest parent that has one."""
        while path:
            found = self.values.get(path) or self.keys.get(path)
            if found:
                return found
            path = path[:-1]
        return None

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self._at)
        assert match is not None
        self._at = match.end()

    def _document(self) -> None:
        table: Path = ()
        self._skip()
        while self._at < len(self.text):
            if self.text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()

    def _header(self) -> Path:
        repeated = self.text.startswith("[[", self._at)
        self._at += 2 if repeated else 1
        path: Path = ()
        parts = self._dotted()
        for key, _ in parts:
            path = self._resolved((*path, key))
        if repeated:
            bare = path[:-1] if isinstance(path[-1], int) else path
            self._arrays[bare] = self._arrays.get(bare, -1) + 1
            path = (*bare, self._arrays[bare])
        self._at += 2 if repeated else 1
        self.keys[path] = parts[-1][1]
        return path

    def _resolved(self, path: Path) -> Path:
        """`path`, continued into the last element where it names an array of tables."""
        return (*path, self._arrays[path]) if path in self._arrays else path

    def _dotted(self) -> list[tuple[str, Extent]]:
        parts = []
        while True:
            self._skip()
            string = _STRING.match(self.text, self._at)
            match = string or _BARE_KEY.match(self.text, self._at)
            assert match is not None
            parts.append((match.group()[1:-1] if string else match.group(), match.span()))
            self._at = match.end()
            self._skip()
            if self.text[self._at] != ".":
                return parts
            self._at += 1

    def _pair(self, table: Path) -> None:
        path = table
        for key, extent in self._dotted():
            path = (*path, key)
            self.keys.setdefault(path, extent)
        self._at += 1
        self._value(path)

    def _value(self, path: Path) -> None:
        self._skip()
        start = self._at
        opening = self.text[start]
        if opening == "[":
            self._sequence("]", path, table=False)
        elif opening == "{":
            self._sequence("}", path, table=True)
        else:
            match = _STRING.match(self.text, start) or _SCALAR.match(self.text, start)
            assert match is not None
            self._at = start + len(match.group().rstrip())
        self.values[path] = (start, self._at)

    def _sequence(self, closing: str, path: Path, table: bool) -> None:
        self._at += 1
        index = 0
        self._skip()
        while self.text[self._at] != closing:
            if table:
                self._pair(path)
            else:
                self._value((*path, index))
            index += 1
            self._skip()
            if self.text[self._at] == ",":
                self._at += 1
                self._skip()
        self._at += 1
