"""What each Python of a program runs first while its launches are recorded: kernels come with a recorder."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from ptxkit.virtual.clients.imports import AFTER


def _record(module: ModuleType) -> None:
    root = str(Path(__file__).resolve().parents[3])
    if root not in sys.path:
        sys.path.append(root)
    from tools.record_launches.recorder import watch

    watch(module)


AFTER["ptxkit.virtual.gpu.module"] = _record
