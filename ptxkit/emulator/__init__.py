"""The emulator: PTX executed on the CPU, and loud about what is wrong with it.

CTAs execute together in batches, and numpy computes for all lanes at once: a register is an array with a row
for each warp of the batch, 32 lanes wide. So a row is a warp, and `row // batch.warps_per_cta` the number of
its CTA in the batch.
"""

from ptxkit.emulator.buffer import EmulatorBuffer
from ptxkit.emulator.counts import Counts
from ptxkit.emulator.device import Emulator, EmulatorKernel, EmulatorModule
from ptxkit.emulator.faults import EmulatorFault

__all__ = ["Counts", "Emulator", "EmulatorBuffer", "EmulatorFault", "EmulatorKernel", "EmulatorModule"]
