"""The emulator: PTX executed on the CPU, and loud about what is wrong with it."""

from ptxkit.emulator.device import Buffer, Emulator, Kernel, LoadedModule
from ptxkit.emulator.execution import Counts
from ptxkit.emulator.faults import EmulatorFault

__all__ = ["Buffer", "Counts", "Emulator", "EmulatorFault", "Kernel", "LoadedModule"]
