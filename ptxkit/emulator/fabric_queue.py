"""Fabric operations between their issue and their submission. PTX ISA 9.7.11.3, 9.7.11.5.5, 9.7.11.5.6."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.asynchronous.operation import AsyncOperation
from ptxkit.emulator.cta_batch import CtaBatch
from ptxkit.emulator.values import WARP

FETCHING = ("fabric.try_get.async", "fabric.try_pullred.async", "fabric.try_get.async.tensor")
"""The operations that read what is behind a handle."""


class FabricQueue:
    """The fabric operations of a batch. Each is of one thread.

    Attributes:
        issued: those that nobody has submitted, in order.
        submitted: those whose reads of shared memory nobody has waited for.
    """

    def __init__(self, batch: CtaBatch) -> None:
        self.batch = batch
        self.issued: list[AsyncOperation] = []
        self.submitted: list[AsyncOperation] = []
        batch.at_exit.append(self._exited)

    def issue(self, operation: AsyncOperation) -> None:
        """An operation is issued; it begins when its thread submits it."""
        self.batch.queue.issue(operation, held=True)
        self.issued.append(operation)

    def submit(self, threads: np.ndarray, fetching: bool) -> None:
        """Threads submit what they have issued. `fetching`: only what reads behind handles."""
        mine = [
            operation
            for operation in self.issued
            if _thread(operation) in threads and (not fetching or operation.site.name in FETCHING)
        ]
        self.issued = [operation for operation in self.issued if all(operation is not one for one in mine)]
        for operation in mine:
            self.submitted.append(operation)
            self.batch.queue.begin(operation)

    def wait_for_reads(self, threads: np.ndarray) -> None:
        """Threads wait until what they have submitted has read their shared memory."""
        left = []
        for operation in self.submitted:
            if _thread(operation) not in threads:
                left.append(operation)
                continue
            self.batch.queue.fetch(operation)
            self.batch.queue.observe(operation, np.ones(1, bool), writes=False)
        self.submitted = left

    def _exited(self, rows: np.ndarray) -> None:
        """Threads have exited: what they have issued must be submitted, and done."""
        batch = self.batch
        for operation in [one for one in self.issued if not batch.alive[one.rows[0], one.lanes[0]]]:
            self.issued.remove(operation)
            batch.launch.report(
                "P6154",
                f"a thread exits that has not submitted this `{operation.site.name}`",
                operation.site,
                (operation.thread(0),),
                "put `fabric.submit` behind it, and wait for its mbarrier before the thread exits",
            )
        ctas: np.ndarray = ~np.any(batch.alive.reshape(len(batch.ctas), -1), axis=1)
        for operation in list(self.submitted):
            if not ctas[operation.rows[0] // batch.warps_per_cta]:
                continue
            self.submitted.remove(operation)
            if not operation.delivered or operation.unread.any() or operation.unwritten.any():
                batch.launch.report(
                    "P6154",
                    f"its CTA exits while this `{operation.site.name}` may not have completed",
                    operation.site,
                    (operation.thread(0),),
                    "wait for the phase of its mbarrier before the last thread exits",
                )


def _thread(operation: AsyncOperation) -> int:
    return int(operation.rows[0]) * WARP + int(operation.lanes[0])
