"""What of the driver API and the others a virtual GPU does: the tables of docs/exec-coverage.md."""

from __future__ import annotations

import sys
from collections import defaultdict

from ptxkit.virtual.libraries import LIBRARIES, Definition


def tables() -> str:
    """A section a library: its functions by the module that has them, and those that do nothing yet. What no
    header declares is left out, and what another library has, too, stands there."""
    shown: set[str] = set()
    return "\n".join(_section(definition, shown) for definition in LIBRARIES)


def _section(definition: Definition, shown: set[str]) -> str:
    functions = definition.module().load().by_name
    names = sorted({symbol.plain for symbol in definition.symbols() if symbol.declared} - shown)
    shown.update(names)
    chapters: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name in functions:
            chapters[functions[name].__module__].append(name)
    there = sum(map(len, chapters.values()))
    lines = [f"## `{definition.soname}`", "", f"{there} of {len(names)} functions.", ""]
    lines += ["| | |", "|---|---|"]
    for module, found in sorted(chapters.items()):
        about = (sys.modules[module].__doc__ or "").split("\n")[0].rstrip(".").split(". ")[0]
        lines.append(f"| {about} | {', '.join(f'`{name}`' for name in found)} |")
    missing = [f"`{name}`" for name in names if name not in functions]
    lines += ["", f"Not supported yet: {', '.join(missing) or 'none'}.", ""]
    return "\n".join(lines)
