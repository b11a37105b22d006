"""GPUs through the CUDA driver API: load, launch, memory, streams, graphs, timing.

The bindings are imported when a device is opened, so that importing this package needs no CUDA.
"""

from __future__ import annotations

from ptxkit.driver.clocks import Clocks
from ptxkit.driver.device import (
    CudaDevice,
    capabilities,
    describe_gpus,
    device_count,
    device_uuid,
    driver_version,
)
from ptxkit.driver.graphs import Graph
from ptxkit.driver.launch import CudaKernel, PreparedLaunch
from ptxkit.driver.memory import DeviceBuffer
from ptxkit.driver.module import CudaModule
from ptxkit.driver.streams import Event, Stream
from ptxkit.driver.timing import Stopwatch

__all__ = [
    "Clocks",
    "CudaDevice",
    "CudaKernel",
    "CudaModule",
    "DeviceBuffer",
    "Event",
    "Graph",
    "PreparedLaunch",
    "Stopwatch",
    "Stream",
    "capabilities",
    "describe_gpus",
    "device_count",
    "device_uuid",
    "driver_version",
]
