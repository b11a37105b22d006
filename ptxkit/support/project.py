"""The settings of a project: `[tool.ptxkit]` in pyproject.toml, or the whole of ptxkit.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import error, reason


def settings(folder: Path) -> tuple[Path | None, Mapping[str, Any]]:
    """The file nearest above a folder that has settings, and the settings; None and nothing where none has.

    Raises:
        PtxkitError: P519, it can't be read, or is no TOML.
    """
    for parent in (folder, *folder.parents):
        for name, path in (("ptxkit.toml", ()), ("pyproject.toml", ("tool", "ptxkit"))):
            file = parent / name
            if not file.is_file():
                continue
            try:
                found: Any = tomllib.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError) as problem:
                raise error("P519", f"`{file}` can't be read: {reason(problem)}") from None
            for key in path:
                found = found.get(key) if isinstance(found, Mapping) else None
            if isinstance(found, Mapping):
                return file, found
    return None, {}
