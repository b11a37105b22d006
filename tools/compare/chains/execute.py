"""Execute chains on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from compare.chains.model import PLACES, THREADS, Chain
from compare.chains.text import DATA, SUMS
from ptxkit.asm.tree import Module
from ptxkit.device.protocol import Device


def launch(device: Device, loaded: object, chain: Chain) -> np.ndarray:
    """What a chain leaves: rows of results, slots of global memory, sums; as `uint64` words."""
    inputs = chain.inputs()
    slots = inputs[PLACES:].T.reshape(-1)
    before = np.concatenate(
        [np.zeros(chain.rows * THREADS, np.uint64), slots, np.arange(SUMS // 8, dtype=np.uint64)]
    )
    values, results = device.array(inputs), device.array(before)
    given = np.array(DATA, np.uint32).tobytes()
    kernel = loaded.kernel(chain.name)  # type: ignore[attr-defined]
    kernel.launch((chain.ctas,), (THREADS // chain.ctas,), [values, results, given])
    found: np.ndarray = results.numpy()
    values.free()
    results.free()
    return found


def run(
    device: Device, parsed: Module, chains: Sequence[Chain], unoptimized: bool = False
) -> list[np.ndarray]:
    """Load a module of several chains and launch each; a GPU's driver may be told not to optimise."""
    load: Any = device.load
    loaded = load(parsed, optimization=0) if unoptimized and device.kind == "cuda" else load(parsed)
    return [launch(device, loaded, chain) for chain in chains]
