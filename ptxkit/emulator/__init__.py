"""The emulator: PTX executed on the CPU, and loud about what is wrong with it."""

from ptxkit.emulator.buffer import Buffer
from ptxkit.emulator.counts import Counts
from ptxkit.emulator.device import Emulator, Kernel, LoadedModule
from ptxkit.emulator.faults import EmulatorFault

__all__ = ["Buffer", "Counts", "Emulator", "EmulatorFault", "Kernel", "LoadedModule"]
