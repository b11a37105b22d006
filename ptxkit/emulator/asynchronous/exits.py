"""What threads leave behind when they exit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxkit.emulator.asynchronous.operation import Membership, Operation

if TYPE_CHECKING:
    from ptxkit.emulator.asynchronous.queue import Queue


def exited(queue: Queue, ctas: np.ndarray) -> None:
    """Warn if CTAs are gone, all their threads, while shared memory of theirs is in use, or with copies that
    nobody committed."""
    gang = queue.gang
    ctas = np.unique(ctas)
    gone = ctas[~gang.alive.reshape(len(gang.ctas), -1)[ctas].any(axis=1)]
    for operation in queue.flying if len(gone) else ():
        _check_committed(operation, gone)
        for regions, flags, verb in (
            (operation.reads, operation.unread, "read"),
            (operation.writes, operation.unwritten, "write"),
        ):
            for region in regions:
                if region.bank is not gang.shared or not flags.any():
                    continue
                held = region.of_items(flags)
                tile = held.start // gang.shared.stride
                hit = np.isin(tile, gone)
                if verb == "write":
                    hit &= tile != operation.rows[held.item] // gang.warps
                if hit.any():
                    at = int(np.argmax(hit))
                    gang.launch.warn(
                        "P659",
                        f"EXIT-WITH-PENDING-READ: CTA {gang.name_cta(int(tile[at]))} exits while this "
                        f"operation may still {verb} its shared memory",
                        operation.site,
                        (f"issued by {operation.thread(int(held.item[at]))}",),
                    )


def _check_committed(operation: Operation, gone: np.ndarray) -> None:
    signal = operation.signal
    if not isinstance(signal, Membership) or signal.groups.name != "cp.async":
        return
    left = signal.index >= signal.groups.committed[operation.rows, operation.lanes]
    left &= operation.unwritten & np.isin(operation.rows // operation.gang.warps, gone)
    if left.any():
        message = "ASYNC-NO-COMMIT: a CTA exits with copies that were neither committed nor waited for"
        thread = operation.thread(int(np.argmax(left)))
        operation.gang.launch.warn("P656", message, operation.site, (thread,))
