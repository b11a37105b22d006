"""What a device says of itself. Driver API, `CUdevice_attribute` and `CUdevice_P2PAttribute`.

What the target's limits do not say is as on an H200 where programs may ask for it, and 0 for what a virtual
GPU has not: graphics, links to other processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.targets import MAX_BLOCK, MAX_GRID, WARP_SIZE
from ptxkit.virtual.gpu.device import CLOCK_RATE
from ptxkit.virtual.results import failure

if TYPE_CHECKING:
    from ptxkit.virtual.gpu.device import VirtualDevice

NEWEST = 161
"""The greatest number of an attribute."""

TEXTURES = {
    21: 131072, 22: 131072, 23: 65536, 24: 16384, 25: 16384, 26: 16384,  # 1D, 2D, 3D
    27: 32768, 28: 32768, 29: 2048, 42: 32768, 43: 2048,  # layers of 2D, of 1D
    45: 32768, 46: 32768, 47: 8192, 48: 8192, 49: 32768,  # gathers, other shapes of 3D
    52: 32768, 53: 32768, 54: 2046,  # cubes and their layers
    55: 32768, 56: 131072, 57: 65536, 58: 16384, 59: 16384, 60: 16384,  # surfaces of 1D, 2D, 3D
    61: 32768, 62: 2048, 63: 32768, 64: 32768, 65: 2048, 66: 32768, 67: 32768, 68: 2046,
    69: 1 << 28, 70: 131072, 71: 65000, 72: 2097120,  # linear and pitched memory
    73: 32768, 74: 32768, 77: 32768,  # mipmaps
}  # fmt: skip
"""The largest textures and surfaces: CUDA C++ Programming Guide, "Technical specifications"."""

_FIXED: dict[int, int] = {
    2: MAX_BLOCK[0],
    3: MAX_BLOCK[1],
    4: MAX_BLOCK[2],
    5: MAX_GRID[0],
    6: MAX_GRID[1],
    7: MAX_GRID[2],
    10: WARP_SIZE,
    11: 0x7FFFFFFF,  # MAX_PITCH
    13: CLOCK_RATE,
    14: 512,  # TEXTURE_ALIGNMENT
    15: 1,  # GPU_OVERLAP
    **TEXTURES,
    19: 1,  # CAN_MAP_HOST_MEMORY
    30: 512,  # SURFACE_ALIGNMENT
    31: 1,  # CONCURRENT_KERNELS
    32: 1,  # ECC_ENABLED
    36: 3201000,  # MEMORY_CLOCK_RATE
    37: 6144,  # GLOBAL_MEMORY_BUS_WIDTH
    38: 60 << 20,  # L2_CACHE_SIZE
    40: 3,  # ASYNC_ENGINE_COUNT
    41: 1,  # UNIFIED_ADDRESSING
    51: 32,  # TEXTURE_PITCH_ALIGNMENT
    78: 1,  # STREAM_PRIORITIES_SUPPORTED
    79: 1,  # GLOBAL_L1_CACHE_SUPPORTED
    80: 1,  # LOCAL_L1_CACHE_SUPPORTED
    83: 1,  # MANAGED_MEMORY
    87: 2,  # SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    89: 1,  # CONCURRENT_MANAGED_ACCESS
    90: 1,  # COMPUTE_PREEMPTION_SUPPORTED
    91: 1,  # CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
    95: 1,  # COOPERATIVE_LAUNCH
    99: 1,  # HOST_REGISTER_SUPPORTED
    102: 1,  # VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    108: 40 << 20,  # MAX_PERSISTING_L2_CACHE_SIZE
    109: 128 << 20,  # MAX_ACCESS_POLICY_WINDOW_SIZE
    113: 1,  # READ_ONLY_HOST_REGISTER_SUPPORTED
    115: 1,  # MEMORY_POOLS_SUPPORTED
    122: 1,  # CAN_USE_64_BIT_STREAM_MEM_OPS
    123: 1,  # CAN_USE_STREAM_WAIT_VALUE_NOR
    126: 4,  # MEM_SYNC_DOMAIN_COUNT
    129: 1,  # UNIFIED_FUNCTION_POINTERS
    131: -1,  # NUMA_ID
    134: 0,  # HOST_NUMA_ID
    142: 1,  # HOST_NUMA_MEMORY_POOLS_SUPPORTED
    144: 1,  # HOST_MEMORY_POOLS_SUPPORTED
}

_OF_THE_DEVICE: dict[int, Callable[[VirtualDevice], int]] = {
    1: lambda device: device.limits.threads_per_cta,
    8: lambda device: device.limits.shared_static,
    9: lambda device: device.limits.constant,
    12: lambda device: device.limits.registers_per_cta,
    16: lambda device: device.limits.sm_count or 1,
    33: lambda device: device.ordinal + 1,  # PCI_BUS_ID
    39: lambda device: device.limits.threads_per_sm,
    75: lambda device: device.target.capability[0],
    76: lambda device: device.target.capability[1],
    81: lambda device: device.limits.shared_per_sm,
    82: lambda device: device.limits.registers_per_sm,
    88: lambda device: device.machine.options.host_memory,  # PAGEABLE_MEMORY_ACCESS
    97: lambda device: device.limits.shared_per_cta,
    106: lambda device: device.limits.ctas_per_sm,
    111: lambda device: device.limits.shared_reserved,
    120: lambda device: device.limits.cluster > 1,
    132: lambda device: device.target.capability >= (9, 0),  # MULTICAST_SUPPORTED
    127: lambda device: device.target.capability >= (9, 0),  # TENSOR_MAP_ACCESS_SUPPORTED
}

for _endpoint in (
    153,
    154,
    155,
    156,
):  # LOGICAL_ENDPOINT_.._SUPPORTED: unicast, multicast, counted, on the owner
    _OF_THE_DEVICE[_endpoint] = lambda device: device.target.capability >= (10, 0)


def device_attribute(device: VirtualDevice, attribute: int) -> int:
    """The value of an attribute.

    Raises:
        DriverError: INVALID_VALUE, there is no such attribute.
    """
    if not 1 <= attribute <= NEWEST:
        raise failure("INVALID_VALUE", f"there is no device attribute {attribute}")
    if attribute in _OF_THE_DEVICE:
        return int(_OF_THE_DEVICE[attribute](device))
    return _FIXED.get(attribute, 0)


def peer_attribute(attribute: int) -> int:
    """What holds between any two devices: access and atomics, all of one rank.

    Raises:
        DriverError: INVALID_VALUE, there is no such attribute.
    """
    values = {1: 0, 2: 1, 3: 1, 4: 0, 5: 0}
    if attribute not in values:
        raise failure("INVALID_VALUE", f"there is no attribute {attribute} of a pair of devices")
    return values[attribute]
