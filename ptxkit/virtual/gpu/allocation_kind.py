"""What an allocation of the virtual GPU is to the host."""

from __future__ import annotations

from enum import Enum


class AllocationKind(Enum):
    """What an allocation is to the host."""

    DEVICE = "device"
    MANAGED = "managed"
    PINNED = "pinned"
    REGISTERED = "registered"
