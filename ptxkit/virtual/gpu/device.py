"""A device of the machine."""

from __future__ import annotations

from ptxkit import targets
from ptxkit.emulator import Emulator
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.gpu.pool import Pool


class VirtualDevice:
    """One virtual GPU.

    Attributes:
        ordinal: its number.
        emulator: what runs its kernels.
        limits: what it can hold.
        retained: how often its primary context was retained.
        default_pool, pool: the memory pool that it came with, and the one that `cuMemAllocAsync` takes from.
    """

    def __init__(self, machine: Host, ordinal: int) -> None:
        options = machine.options
        self.machine = machine
        self.ordinal = ordinal
        self.target = options.target
        self.limits = targets.limits(options.target)
        self.emulator = Emulator(
            order=options.order,
            seed=options.seed + ordinal,
            sanitize=options.sanitize,
            arch=options.arch,
            memory=machine.memory,
        )
        self.emulator.origins = machine.origins
        self.primary_flags = 0
        self.retained = 0
        self.default_pool: Pool | None = None
        self.pool: Pool | None = None

    @property
    def name(self) -> str:
        """What `cuDeviceGetName` says."""
        return f"ptxkit virtual GPU ({self.target.name})"

    @property
    def total_memory(self) -> int:
        """Bytes of memory."""
        return self.machine.memory.budget
