"""Results that kernels made from what nobody wrote: they are found where the host reads them (P606)."""

from __future__ import annotations

import numpy as np

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.emulator.faults import Origins, finding
from ptxkit.emulator.global_memory import BASE
from ptxkit.virtual.gpu.memory import UnifiedMemory


def undefined_result(memory: UnifiedMemory, origins: Origins, address: int, size: int) -> Diagnostic | None:
    """A warning where a kernel made some of these bytes from bits that nobody wrote; else None.

    Bytes that no kernel wrote either are none: programs copy more than they need.
    """
    owner = memory.owner(address) if memory.reaches(address, size) else None
    if owner is None or not owner.undefined or memory.origins is None or memory.shadow is None:
        return None
    start = address - BASE
    words = memory.origins[start // 4 : (start + size + 3) // 4]
    for word in np.flatnonzero(words):
        at = start // 4 * 4 + 4 * int(word)
        bad = np.flatnonzero(memory.shadow[max(at, start) : min(at + 4, start + size)])
        if not len(bad):
            continue
        number = int(words[word])
        offset = max(at, start) + int(bad[0]) + BASE - owner.address
        notes, labels = origins.describe(number)
        site = origins[number].site
        return finding(
            "P606",
            f"undefined result: byte {offset} of {owner.name} depends on bits that were never written",
            site,
            [f"the host reads {owner}", *notes],
            labels=[label for label in labels if label.span != site.span],
            severity=Severity.WARNING,
        )
    return None
