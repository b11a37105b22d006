"""Run probes on a device.

The emulator takes a device's place where only the way through is to be seen: its figures mean nothing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit import targets
from ptxkit.asm import parse
from ptxkit.calibration.probe import Probe
from ptxkit.device.protocol import Buffer, Device
from ptxkit.driver import CudaDevice, Stopwatch
from ptxkit.encodings.tensor_maps import tensor_map

RUNS = 5
"""Of each probe, of few rounds and of many; the medians count."""
SAMPLES = 20
"""Launches between events for each of these."""
PASSES = 2
"""Of a loop whose cycles count, the last of them; of what is timed there is one."""
KEY = 0x3210
"""A parameter that ptxas doesn't know: a selector of bytes, and what no sum is likely to be."""
ROWS, ROW_BYTES, BOX_BYTES = 256, 8192, 16
"""The matrix that tensor copies read, and how wide their box is."""


@dataclass(frozen=True, slots=True)
class ProbedDevice:
    """What is measured: a GPU, or the emulator in its place.

    Attributes:
        device: where probes run.
        name, driver, target, capability: of the GPU, of its driver's release, the newest target that it runs.
        given: what the driver says, as formulas of figures name it.
        rounds: how many are run where a probe wants `few, many`.
        most: bytes that a chain of addresses may have.
    """

    device: Device
    name: str
    driver: str
    target: str
    capability: tuple[int, int]
    given: dict[str, float]
    rounds: Callable[[tuple[int, int]], tuple[int, int]]
    most: int

    def runs(self, probe: Probe) -> bool:
        """Whether a probe's target is one that it runs."""
        wanted = targets.parse(probe.target)
        return wanted is not None and wanted.runs_on(self.capability)


def gpu_subject(device: CudaDevice, driver: str) -> ProbedDevice:
    """A GPU."""
    major, minor = device.capability
    target = f"sm_{major}{minor}{'a' if major >= 9 else ''}"
    given = {
        "sm_count": float(device.sm_count),
        "clock": device.attribute("CLOCK_RATE") * 1e3,
        "l2_size": float(device.l2_bytes),
    }
    return ProbedDevice(
        device, device.name, driver, target, device.capability, given, lambda rounds: rounds, 1 << 40
    )


def emulated_subject(device: Device) -> ProbedDevice:
    """The emulator, with two multiprocessors, few rounds and little memory."""
    given = {"sm_count": 2.0, "clock": 1e9, "l2_size": float(1 << 20)}
    return ProbedDevice(device, "emulator", "none", "sm_90a", (9, 0), given, lambda _: (1, 2), 1 << 16)


class ProbeRunner:
    """Runs probes.

    Args:
        subject: on what.
    """

    def __init__(self, subject: ProbedDevice) -> None:
        self.subject = subject
        device = subject.device
        gpu = device if isinstance(device, CudaDevice) else None
        self._watches = (
            {cold: Stopwatch(gpu, "read" if cold else "none") for cold in (False, True)} if gpu else {}
        )

    def floor(self) -> float:
        """Seconds that an empty launch takes between events."""
        if not self._watches:
            return 1e-6
        watch = self._watches[True]
        return statistics.median(watch.times(watch.nothing, RUNS * SAMPLES))

    def measured(self, probe: Probe) -> dict[str, float]:
        """What one copy of a probe takes, by its name; of seconds also what is left at no rounds."""
        with ExitStack() as stack:
            few, many, rounds = self._runs(probe, stack)
            each = (many - few) / (rounds[1] - rounds[0])
            found = {probe.name: each / probe.unroll}
            if probe.unit == "seconds":
                found[f"{probe.name}_start"] = few - each * rounds[0]
            return found

    def _runs(self, probe: Probe, stack: ExitStack) -> tuple[float, float, tuple[int, int]]:
        """What few rounds take, what many do, and how many these are."""
        subject, device = self.subject, self.subject.device
        rounds = subject.rounds(probe.rounds)
        sms = int(subject.given["sm_count"])
        ctas = sms if probe.ctas == "all" else int(probe.ctas) * probe.cluster
        most = ctas * (rounds[1] if probe.vary == "ctas" else 1)
        shared = targets.limits(subject.target).shared_per_cta if probe.shared == "all" else int(probe.shared)
        kernel = device.load(parse(probe.text())).kernel("probe")

        def buffer(size: int) -> Buffer:
            made = device.zeros(size, "u8")
            stack.callback(made.free)
            return made

        out, sink = buffer(8 * most), buffer(8)
        data = buffer(min(probe.data_bytes(ctas), subject.most if probe.chain else 1 << 40))
        starts = _chained(data, probe.chain[1]) if probe.chain else np.array([data.address], np.uint64)
        if probe.cold and probe.unit == "cycles":
            buffer(2 * int(subject.given["l2_size"]))  # Takes the place of the data in L2.
        box = b"\0" * 128
        if "%box" in probe.body:
            box = bytes(
                tensor_map(
                    data, dtype="bf16", shape=(ROWS, ROW_BYTES // 2), strides=(ROW_BYTES,),
                    box=(ROWS, BOX_BYTES // 2), swizzle="none",
                )
            )  # fmt: skip
        at = 0

        def launch(number: int, stream: Any = None) -> Callable[[], Any]:
            """A launch of so many rounds. One goes on in a chain where the last one ended."""
            nonlocal at
            passes = PASSES if probe.unit == "cycles" else 1
            grid, turns = (ctas * number, 1) if probe.vary == "ctas" else (ctas, number)
            arguments = [out, sink, int(starts[at % len(starts)]), turns, passes, KEY, box]
            at += turns * passes * probe.unroll
            cluster = probe.cluster if probe.cluster > 1 else None
            more = {} if stream is None else {"stream": stream}
            return kernel.prepare(grid, probe.threads, arguments, shared=shared, cluster=cluster, **more)

        if probe.unit == "seconds":
            few, many = (self._seconds(launch, number, probe.cold) for number in rounds)
        else:

            def cycles(number: int) -> float:
                launch(number)()
                device.synchronize()
                return statistics.median(out.numpy().view(np.uint64).tolist())

            cycles(rounds[0])
            pairs = [(cycles(rounds[0]), cycles(rounds[1])) for _ in range(RUNS if self._watches else 1)]
            few, many = (statistics.median(each) for each in zip(*pairs, strict=True))
        return few, many, rounds

    def _seconds(self, launch: Callable[..., Callable[[], Any]], number: int, cold: bool) -> float:
        """Seconds of a launch between events."""
        if not self._watches:
            ready = launch(number)
            begun = time.perf_counter()
            ready()
            self.subject.device.synchronize()
            return time.perf_counter() - begun
        watch = self._watches[cold]
        ready = launch(number, watch.stream)
        watch.prime(ready)
        watch.times(ready, SAMPLES)
        return statistics.median(watch.times(ready, RUNS * SAMPLES))


def _chained(data: Buffer, stride: int) -> np.ndarray:
    """Fill memory with addresses, each that of the next in one random circle; the addresses in its order."""
    order = np.random.default_rng(0).permutation(data.nbytes // stride)
    addresses = data.address + order.astype(np.uint64) * np.uint64(stride)
    content = np.zeros((len(order), stride // 8), np.uint64)
    content[order, 0] = np.roll(addresses, -1)
    data.write(content.view(np.uint8).reshape(-1))
    return addresses
