"""The texts of a library: a folder with its sources."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .cplusplus import Finder, Macro, definitions, making_asm, scan
from .llvm import of_ir, of_python
from .text import Text

SOURCES = frozenset(".cu .cuh .h .hpp .hxx .inl .cpp .cc .cxx .c .in .inc .cl .jinja".split())
IR = frozenset((".mlir", ".ll"))
LARGEST = 4_000_000
"""Largest source that is read, in bytes: what is larger holds data."""
_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_QUOTED = re.compile(r'^\s*#\s*define\b[^\n]*"', re.MULTILINE)
_DEFINES = re.compile(r"^\s*#\s*define\b", re.MULTILINE)


@dataclass(frozen=True)
class Library:
    """What was found in a library.

    Attributes:
        name: of its folder.
        commit: of its checkout; empty where it is none.
        texts: each text once.
        statements: how many statements had them.
        left_out: why further statements gave no text, counted.
    """

    name: str
    commit: str
    texts: list[Text]
    statements: int
    left_out: Counter[str]


def read(folder: Path) -> Library:
    """The texts of the sources below a folder."""
    sources = dict(_sources(folder))
    shared: dict[str, list[Macro]] = {}
    for path, source in sources.items():
        if Path(path).suffix in SOURCES and (
            _QUOTED.search(source) or (_ASM.search(source) and _DEFINES.search(source))
        ):
            for name, macros in definitions(scan(source)).items():
                known = shared.setdefault(name, [])
                known += [macro for macro in macros if macro not in known]
    finder = Finder(shared)
    makers = making_asm(shared)
    wanted = re.compile(rf"\b(?:asm|__asm__|__asm{''.join(f'|{name}' for name in sorted(makers))})\b")
    found: dict[object, Text] = {}
    statements = 0
    for text in _texts(sources, wanted, finder):
        statements += 1
        try:
            found.setdefault(text.key(), text)
        except IndexError:
            finder.left_out["the text names an operand that it has not"] += 1
    return Library(folder.name, _commit(folder), list(found.values()), statements, finder.left_out)


def _sources(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in SOURCES | IR | {".py"} and path.is_file() and path.stat().st_size <= LARGEST:
            yield str(path.relative_to(folder)), path.read_text(encoding="utf-8", errors="replace")


def _texts(sources: dict[str, str], wanted: re.Pattern[str], finder: Finder) -> Iterator[Text]:
    for path, source in sources.items():
        suffix = Path(path).suffix
        if suffix in IR:
            yield from of_ir(source, path, finder)
        elif suffix == ".py":
            if "asm" in source:
                yield from of_python(source, path, finder)
        elif wanted.search(source):
            yield from finder.texts(source, path)
    yield from finder.of_unused()


def _commit(folder: Path) -> str:
    run = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return run.stdout.strip() if run.returncode == 0 else ""
