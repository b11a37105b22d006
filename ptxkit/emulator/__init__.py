"""The emulator: PTX executed on the CPU, and loud about what is wrong with it."""

from ptxkit.emulator.buffer import EmulatorBuffer
from ptxkit.emulator.counts import Counts
from ptxkit.emulator.device import Emulator, EmulatorKernel, EmulatorModule
from ptxkit.emulator.faults import EmulatorFault

__all__ = ["Counts", "Emulator", "EmulatorBuffer", "EmulatorFault", "EmulatorKernel", "EmulatorModule"]
