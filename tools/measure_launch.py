"""Measure what a launch costs on the host, beside the bare driver call and other libraries.

    python tools/measure_launch.py OUT.json [--batches 60] [--batch 400]

One kernel of five parameters (two pointers, three ints) that does nothing. The ways take turns, a batch of
launches each and every round begins with another, the device is waited for outside the timed part; the
medians over the batches are printed, in microseconds a launch. cuda.core and CuPy take part where they are
installed, with arrays of their own. A launch into the default stream costs the driver something else than one
into a stream that does not wait for it: so each is compared with its like.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import measuring

from ptxkit.driver import CudaDevice, driver_version
from ptxkit.driver.errors import bindings

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u32 m, .param .u32 n, .param .s32 k)
{
    ret;
}
"""
NODES = 100
REPLAYS = 10
"""Launches of a graph in a batch."""
OWN = ", own stream"
"""What stands behind the name of a way that launches into a stream of its own."""
PEERS = ("cuda.core launch", "CuPy RawKernel")


def ways(device: CudaDevice) -> dict[str, Callable[[], Any]]:
    """Each way to launch, ready to be called."""
    driver = bindings()
    kernel = device.load(PTX).kernel()
    x, y = device.empty(1024, "f32"), device.empty(1024, "f32")
    stream, numbers = device.stream(non_blocking=True), itertools.cycle(range(1 << 20))
    found: dict[str, Callable[[], Any]] = {
        "cuLaunchKernel, prepacked": _bare(kernel, x, y),
        "prepared": kernel.prepare(4, 128, [x, y, 1, 2, 3]),
        "launch": lambda: kernel.launch(4, 128, [x, y, 1, 2, 3]),
        "launch, another number each time": lambda: kernel.launch(4, 128, [x, y, 1, 2, next(numbers)]),
        f"prepared{OWN}": kernel.prepare(4, 128, [x, y, 1, 2, 3], stream=stream),
        f"launch{OWN}": lambda: kernel.launch(4, 128, [x, y, 1, 2, 3], stream=stream),
    }
    with device.capture() as graph:
        for _ in range(NODES):
            kernel.launch(4, 128, [x, y, 1, 2, 3], stream=graph.stream)
    executable, replay = graph._executable, driver.cuGraphLaunch

    def bare_graph() -> None:
        (status,) = replay(executable, 0)
        if status:
            raise RuntimeError(status)

    found[f"cuGraphLaunch, {NODES} nodes"] = bare_graph
    found[f"graph, {NODES} nodes"] = graph.launch
    for peer in (_cuda_core, _cupy):
        found |= peer(device)
    return found


def _bare(kernel: Any, x: Any, y: Any) -> Callable[[], None]:
    """`cuLaunchKernel` on an address packed before, its status checked."""
    driver = bindings()
    values = (ctypes.c_uint64(x.address), ctypes.c_uint64(y.address), *map(ctypes.c_int32, (1, 2, 3)))
    pointers = (ctypes.c_void_p * 5)(*map(ctypes.addressof, values))
    address, function, stream, launch = ctypes.addressof(pointers), kernel._function, 0, driver.cuLaunchKernel

    def call(_kept: Any = (values, pointers)) -> None:
        (status,) = launch(function, 4, 1, 1, 128, 1, 1, 0, stream, address, 0)
        if status:
            raise RuntimeError(status)

    return call


def _cuda_core(device: CudaDevice) -> dict[str, Callable[[], Any]]:
    try:
        from cuda.core import Device, LaunchConfig, ObjectCode, launch
    except ImportError:
        try:
            from cuda.core.experimental import Device, LaunchConfig, ObjectCode, launch
        except ImportError:
            return {}
    import numpy as np

    theirs = Device(device.ordinal)
    theirs.set_current()
    stream = theirs.create_stream()
    kernel = ObjectCode.from_ptx(PTX.encode()).get_kernel("nothing")
    x, y = theirs.allocate(4096, stream=stream), theirs.allocate(4096, stream=stream)
    ints = [np.int32(value) for value in (1, 2, 3)]
    config, default = LaunchConfig(grid=4, block=128), theirs.default_stream
    return {
        "cuda.core launch": lambda: launch(default, config, kernel, x, y, *ints),
        f"cuda.core launch{OWN}": lambda: launch(stream, config, kernel, x, y, *ints),
    }


def _cupy(device: CudaDevice) -> dict[str, Callable[[], Any]]:
    try:
        import cupy
    except ImportError:
        return {}
    cupy.cuda.Device(device.ordinal).use()
    source = 'extern "C" __global__ void nothing(float *a, float *b, int m, int n, int k) {}'
    kernel = cupy.RawKernel(source, "nothing")
    x, y = cupy.zeros(1024, cupy.float32), cupy.zeros(1024, cupy.float32)
    ints = [cupy.int32(value) for value in (1, 2, 3)]
    stream = cupy.cuda.Stream(non_blocking=True)

    def in_stream() -> None:
        with stream:
            kernel((4,), (128,), (x, y, *ints))

    return {"CuPy RawKernel": lambda: kernel((4,), (128,), (x, y, *ints)), f"CuPy RawKernel{OWN}": in_stream}


def measure(device: CudaDevice, batches: int, batch: int) -> dict[str, dict[str, float]]:
    """Median and quartiles in microseconds a launch, by way."""
    calls = ways(device)
    times: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for round_number in range(batches + 3):
        first = round_number % len(names)
        for name in names[first:] + names[:first]:
            call, count = calls[name], REPLAYS if "nodes" in name else batch
            start = time.perf_counter()
            for _ in range(count):
                call()
            elapsed = time.perf_counter() - start
            device.synchronize()
            if round_number >= 3:
                times[name].append(elapsed / count * 1e6)
    found = {}
    for name, each in times.items():
        low, median, high = statistics.quantiles(each, n=4)
        found[name] = {"median": median, "low": low, "high": high}
    return found


def document(device: CudaDevice, batches: int, batch: int) -> dict[str, Any]:
    """The figures with what they were measured with."""
    versions = {}
    for package in ("cuda-bindings", "cuda-core", "cupy-cuda12x", "cupy-cuda13x"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "schema": 1,
        "what": "host cost of a launch, microseconds",
        "gpu": device.name,
        "cuda": list(driver_version()),
        "packages": versions,
        "batches": batches,
        "batch": batch,
        "figures": measure(device, batches, batch),
    }


def main() -> None:
    parser = measuring.command_line(__doc__)
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument(
        "--batch", type=int, default=400, help="launches of a batch; below 1024, the queue's depth"
    )
    chosen = parser.parse_args()
    with CudaDevice() as device:
        made = document(device, chosen.batches, chosen.batch)
    found = made["figures"]
    width = max(map(len, found))
    for name, figures in found.items():
        print(
            f"{name:<{width}}  {figures['median']:8.3f} us   ({figures['low']:.3f} .. {figures['high']:.3f})"
        )
    bare = found["cuLaunchKernel, prepacked"]["median"]
    print(f"prepared / bare = {found['prepared']['median'] / bare:.3f}")
    graph, replay = found[f"graph, {NODES} nodes"]["median"], found[f"cuGraphLaunch, {NODES} nodes"]["median"]
    print(f"graph / replay  = {graph / replay:.3f}")
    measuring.write(chosen.output, made)


if __name__ == "__main__":
    main()
