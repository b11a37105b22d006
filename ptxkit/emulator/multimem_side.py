"""Where a bulk copy to a multimem address writes: at one place of each device. PTX ISA 9.7.10.28.5."""

from __future__ import annotations

import numpy as np

from ptxkit.diagnostics import counted
from ptxkit.emulator.copy_sides import CopySide
from ptxkit.emulator.global_memory import BASE
from ptxkit.emulator.issuers import Issuers
from ptxkit.emulator.lane_set import LaneSet
from ptxkit.emulator.multicast import MulticastRange


class MultimemSide(CopySide):
    """The destination of a bulk copy to a multimem address."""

    def copies(self, lane_set: LaneSet, issuers: Issuers, sizes: np.ndarray) -> list[np.ndarray]:
        """The offsets in the bank of each copy's first byte, for each device of the team. Raises P661, P663,
        P6151."""
        memory = lane_set.launch.memory
        offsets = self._anywhere(lane_set, issuers)
        found = memory.find(int(offsets.min()) + BASE)
        if not isinstance(found, MulticastRange) or int(offsets.min()) + BASE >= found.end:
            if memory.device_count == 1:
                return [self(lane_set, issuers, sizes)]
            help = "give it an address of a multicast object: one device's memory alone has no copies"
            lowest, what = offsets == offsets.min(), "the destination is no multimem address"
            issuers.refuse(lowest, "P6151", self.site, what, help)
        assert isinstance(found, MulticastRange)
        issuers.refuse(
            offsets % self.aligned != 0,
            "P661",
            self.site,
            lambda at: (
                f"expected an address that is a multiple of {self.aligned}, found "
                f"{int(offsets[at]) + BASE:#x}"
            ),
        )
        issuers.refuse(
            offsets + BASE + sizes > found.end,
            "P663",
            self.site,
            lambda at: f"{counted(int(sizes[at]), 'byte')} at {int(offsets[at]) + BASE:#x} leave {found}",
        )
        made = []
        for device in found.multicast.team:
            places = found.multicast.places(device, offsets + BASE - found.address + found.start, sizes)
            self._check_bound(issuers, offsets, sizes, places, device)
            made.append(np.where(places == 0, BASE, places).astype(np.int64) - BASE)
        return made

    def _check_bound(
        self, issuers: Issuers, offsets: np.ndarray, sizes: np.ndarray, places: np.ndarray, device: int
    ) -> None:
        def said(at: int) -> str:
            span = f"{counted(int(sizes[at]), 'byte')} at {int(offsets[at]) + BASE:#x}"
            return f"{span}, where device {device} has not bound memory for all of them"

        issuers.refuse((places == 0) & (sizes > 0), "P6151", self.site, said)
