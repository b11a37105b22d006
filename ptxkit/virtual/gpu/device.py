"""A device of the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxkit import targets
from ptxkit.emulator import Emulator
from ptxkit.emulator.special import clocks
from ptxkit.emulator.texels.objects import Surface, Texture
from ptxkit.virtual.gpu.graph_memory import GraphUsage
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.gpu.pool import Pool
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.results import failure

if TYPE_CHECKING:
    from ptxkit.emulator.launch_state import LaunchState
    from ptxkit.emulator.timing.predict import Predictor

CLOCK_RATE = 1980000
"""kHz: how fast the clocks run that kernels read."""


@dataclass(frozen=True, slots=True)
class TextureRecord:
    """What a texture or surface object was made from: the structures that said so."""

    resource: bytes
    sampling: bytes = b""
    view: bytes = b""


class VirtualDevice:
    """One virtual GPU.

    Attributes:
        ordinal: its number.
        emulator: what runs its kernels.
        predictor: says how long launches would take elsewhere; None where nobody asks.
        limits: what it can hold.
        retained: how often its primary context was retained.
        texture_records: what its texture and surface objects were made from, by their handles.
        graph_usage: what graphs use of its memory.
        default_pool, pool: the memory pool that it came with, and the one that `cuMemAllocAsync` takes from.
        ahead: seconds by which its time, as events tell it, is ahead of the host's: kernels that looked at a
            clock have seen so much more pass than they took.
    """

    def __init__(self, machine: Host, ordinal: int) -> None:
        options = machine.options
        self.machine = machine
        self.ordinal = ordinal
        self.target = options.target
        self.limits = targets.limits(options.target)
        self.predictor = _predictor(options)
        predicted = self.predictor is not None
        self.emulator = Emulator(
            order="eager" if predicted else options.order,
            seed=options.seed + ordinal,
            sanitize=options.sanitize and not predicted,
            arch=options.arch,
            memory=machine.memory,
            strict=options.strict,
            keep_going=options.keep_going,
            rules=options.rules,
            traffic=predicted,
            jit=False if predicted else None,
        )
        if self.predictor is not None:
            self.emulator.prepare = self.predictor.begin
        self.emulator.origins = machine.origins
        self.emulator.number = ordinal
        self.primary_flags = 0
        self.retained = 0
        self.texture_records: dict[int, TextureRecord] = {}
        self.graph_usage = GraphUsage()
        self.default_pool: Pool | None = None
        self.pool: Pool | None = None
        self.ahead = 0.0

    def passed(self, launch: LaunchState, seconds: float) -> None:
        """A launch is over whose kernel saw time pass, and that took so many seconds of the host's."""
        self.ahead += max(0.0, clocks(launch) / (1000 * CLOCK_RATE) - seconds)

    @property
    def name(self) -> str:
        """What `cuDeviceGetName` says."""
        return f"ptxkit virtual GPU ({self.target.name})"

    def add_texture(self, made: Texture | Surface, record: TextureRecord) -> int:
        """The handle of a texture or surface object."""
        handle = self.emulator.textures.add(made)
        self.texture_records[handle] = record
        return handle

    def texture_record(self, handle: int) -> TextureRecord:
        """What an object was made from.

        Raises:
            DriverError: INVALID_VALUE, there is no such object.
        """
        if handle not in self.texture_records:
            raise failure("INVALID_VALUE", f"{handle:#x} is no handle of a texture or surface object")
        return self.texture_records[handle]

    def remove_texture(self, handle: int) -> None:
        """An object is destroyed."""
        del self.texture_records[handle]
        self.emulator.textures.remove(handle)

    @property
    def total_memory(self) -> int:
        """Bytes of memory."""
        return self.machine.memory.budget


def _predictor(options: VirtualOptions) -> Predictor | None:
    """What predicts the launches of a device; None where nobody asks."""
    if not options.predict:
        return None
    from ptxkit.emulator.timing.gpu import gpu
    from ptxkit.emulator.timing.predict import Predictor

    return Predictor(gpu(options.predict))
