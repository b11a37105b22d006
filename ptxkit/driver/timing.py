"""Times of launches on a GPU, between events in a stream of their own.

A sample is what lies between two events. The host puts it into the stream behind a gate, a word in its memory
for which the stream waits, and opens the gate when all of it is in: so no sample waits for the host, nor for
the GPU's fetching of commands, which may fall between an event and a launch where many samples are queued.
Where launches block (`CUDA_LAUNCH_BLOCKING`, profilers) there is no gate.

Before each sample the L2 cache is flushed, outside the two events:

- `read`: by reading twice its size. It then holds lines that can be dropped at no cost, and a kernel pays for
  its own bytes alone, as under a profiler that invalidates the caches.
- `write`: by writing twice its size, as many tools do. The cache is left full of modified lines; their way
  back to memory is paid by the kernel whose lines take their place.
- `none`: not at all; a working set that fits stays in the cache.

CUDA driver API, event management and stream memory operations.
"""

from __future__ import annotations

import ctypes
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.driver.context import CudaContext
from ptxkit.driver.device import CudaDevice
from ptxkit.driver.errors import bindings, check
from ptxkit.driver.streams import Event, Stream

FLUSHES = ("read", "write", "none")
"""How the L2 cache can be flushed, the default first."""

KERNELS = Path(__file__).with_name("timing.ptx")

_BATCH = 32
_BATCH_SECONDS = 0.5
"""Most samples, and seconds of them, roughly, between two words to whoever watches over launches."""
_QUEUE = 700
"""Most commands behind one gate; a stream holds 1024, and then the host would wait for the gate it holds."""
_CTAS_PER_SM, _THREADS = 8, 256
_VECTOR = 16
_INJECTED = ("CUDA_INJECTION64_PATH", "NV_COMPUTE_PROFILER_PERFWORKS_DIR", "NV_TPS_LAUNCH_TOKEN")
"""What profilers set in the environment of the programs that they watch."""
_SM_NUMBERS = 1024
"""One more than the largest `%smid` that the clocks are read on."""


class Stopwatch:
    """Times launches into its stream, and reads the SM clock over a stretch of them.

    Attributes:
        stream: what is timed must be launched into it.
        flush: `read`, `write` or `none`.
        flush_bytes: twice the size of the L2 cache; 0 for `none`.
    """

    def __init__(
        self, device: CudaDevice, flush: str = FLUSHES[0], watch: Callable[[bool], Any] | None = None
    ) -> None:
        """A stopwatch of a device.

        Args:
            device: the GPU.
            flush: how the L2 cache is flushed before each sample.
            watch: told True before launches that are waited for, False after them.

        Raises:
            PtxkitError: P521, no such way to flush; P705, out of memory.
        """
        if flush not in FLUSHES:
            raise error("P521", f"expected {', '.join(f'`{f}`' for f in FLUSHES)}, found `{flush}`")
        self.flush = flush
        self.flush_bytes = 0 if flush == "none" else 2 * device.l2_bytes
        self.stream = Stream(device.context, non_blocking=True)
        self._context = device.context
        self._watch = watch
        self._gate = _Gate(device.context)
        self._start, self._end = Event(device.context), Event(device.context)
        module = device.load(KERNELS)
        ctas = _CTAS_PER_SM * device.sm_count
        self._flushed = device.empty(max(self.flush_bytes, _VECTOR), "u8")
        with self._context:
            wiped = bindings().cuMemsetD8(self._flushed.address, 0, self._flushed.nbytes)
            check(wiped, "clear the buffer that flushes the L2 cache")
        self._sweep = module.kernel("sweep").prepare(
            ctas, _THREADS, [self._flushed, self.flush_bytes // _VECTOR, self._flushed], stream=self.stream
        )
        self._stamps = [device.array(np.zeros((_SM_NUMBERS, 2), np.uint64)) for _ in range(2)]
        self._stamp = module.kernel("stamp").prepare(
            device.sm_count, 1, [self._stamps[0]], stream=self.stream
        )
        self.nothing: Callable[[], None] = module.kernel("nothing").prepare(1, 32, stream=self.stream)
        for launch in (self._sweep, self._stamp, self.nothing):
            self.prime(launch)

    def prime(self, launch: Callable[[], Any]) -> None:
        """Launch once and wait. What a first launch loads or allocates would else wait for the gate.

        Args:
            launch: as for `times`, which must be primed.
        """
        self._context.synchronize()
        if self._watch:
            self._watch(True)
        launch()
        self.stream.synchronize()
        if self._watch:
            self._watch(False)

    def times(self, launch: Callable[[], Any], count: int, commands: int = 1) -> list[float]:
        """Times of `count` samples in seconds, in order; each carries the cost of a pair of events.

        Args:
            launch: puts the work of one sample into `stream` and returns. It must not wait for the GPU, and
                have been primed.
            count: samples.
            commands: launches that `launch` makes.

        Raises:
            PtxkitError: what a launch met.
        """
        # Copies to the device may still be under way, and this stream does not wait for others.
        self._context.synchronize()
        gated = commands + 3 <= _QUEUE and not _launches_block()
        found: list[float] = []
        size = 1
        while len(found) < count:
            found += self._batch(launch, min(size, count - len(found)), gated)
            size = max(1, min(_BATCH, int(_BATCH_SECONDS / max(found[-1], 1e-6))))
        return found

    def flush_cache(self, number: int = 0) -> None:
        """Put a flush of the L2 cache into the stream.

        Args:
            number: for `write`, the byte to write, modulo 256.
        """
        if self.flush == "read":
            self._sweep()
        elif self.flush == "write":
            buffer = self._flushed
            with self._context:
                wiped = bindings().cuMemsetD8Async(
                    buffer.address, number & 0xFF, buffer.nbytes, self.stream.handle
                )
                check(wiped, "flush the L2 cache")

    def start_clock(self) -> None:
        """Begin to read the SM clock."""
        self._read_clock(0)

    def sm_clock(self) -> float | None:
        """The SM clock in Hz since `start_clock`, the median over the SMs; None where it can't be said."""
        self._read_clock(1)
        self.stream.synchronize()
        first, second = (stamps.numpy() for stamps in self._stamps)
        seen = (first[:, 1] > 0) & (second[:, 1] > first[:, 1]) & (second[:, 0] > first[:, 0])
        cycles, nanoseconds = (second[seen] - first[seen]).T
        return statistics.median((cycles / nanoseconds * 1e9).tolist()) if seen.any() else None

    def _read_clock(self, which: int) -> None:
        self._stamps[which].write(np.zeros((_SM_NUMBERS, 2), np.uint64))
        self._context.synchronize()
        self._stamp.bind("out", self._stamps[which])()

    def _batch(self, launch: Callable[[], Any], count: int, gated: bool) -> list[float]:
        if self._watch:
            self._watch(True)
        found = [self._sample(launch, number, gated) for number in range(count)]
        if self._watch:
            self._watch(False)
        return found

    def _sample(self, launch: Callable[[], Any], number: int, gated: bool) -> float:
        # Giving memory back waits for the GPU, which waits for the gate.
        self._context.postpone()
        try:
            if gated:
                self._gate.close(self.stream)
            self.flush_cache(number)
            self._start.record(self.stream)
            launch()
            self._end.record(self.stream)
        finally:
            self._gate.open()
            self._context.catch_up()
        self.stream.synchronize()
        return self._end.seconds_since(self._start)


def _launches_block() -> bool:
    """Whether a launch returns only when the kernel is through: behind a gate it would never."""
    return os.environ.get("CUDA_LAUNCH_BLOCKING", "0") != "0" or any(name in os.environ for name in _INJECTED)


class _Gate:
    """A word in host memory: a stream waits until it holds at least the number of the last closing."""

    __slots__ = ("__weakref__", "_address", "_number", "_word")

    def __init__(self, context: CudaContext) -> None:
        driver = bindings()
        with context:
            pointer = check(driver.cuMemHostAlloc(ctypes.sizeof(ctypes.c_uint32), 0), "allocate host memory")
            self._address = int(check(driver.cuMemHostGetDevicePointer(pointer, 0), "map host memory"))
        self._word = ctypes.c_uint32.from_address(int(pointer))
        self._word.value = self._number = 0
        context.own(self, driver.cuMemFreeHost, pointer)

    def close(self, stream: Stream) -> None:
        """Let the stream wait here."""
        driver = bindings()
        self._number += 1
        at_least = int(driver.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ)
        with stream.context:
            waits = driver.cuStreamWaitValue32(stream.handle, self._address, self._number, at_least)
            check(waits, "let a stream wait for the host")

    def open(self) -> None:
        """Let it go on."""
        self._word.value = self._number
