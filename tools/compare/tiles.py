"""Random tiles on both devices: products of one `wgmma.mma_async` each, in every type, dense and sparse."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import wgmma_tiles as tiles

from compare.orders import EXAMPLES, ORDERS, TARGET
from ptxkit.emulator import Emulator

NARROW, WIDE = 640, 32
"""Tiles of a variant with 8 columns, and of one with more."""


def compare_tiles(device: Any, pool: Any, count: int, seed: int) -> dict[str, Any]:
    """Counts by types of D, A and B, and what differed."""
    jobs = []
    for number, (variant, some) in enumerate(_variants(count, seed)):
        made = None
        if device is not None:
            made = tiles.run(device, variant, tiles.random_tiles(variant, some, number))
        jobs.append(
            (
                variant,
                some,
                pool.apply_async(_emulated_tiles, (variant, some, number, ORDERS[number % 3], made)),
            )
        )
    by_types: Counter[str] = Counter()
    by_kernel: dict[str, tuple[int, int]] = {}
    examples: list[dict[str, Any]] = []
    different = compared = elements = 0
    for variant, some, job in jobs:
        wrong, of_all, said = job.get()
        compared += some
        elements += of_all
        by_types[f"{'.'.join(variant.types)}{' sparse' if variant.sparse else ''}"] += some
        text = tiles.sources(variant)
        before = by_kernel.get(text, (0, 0))
        by_kernel[text] = before[0] + some, before[1] + bool(wrong or said)
        if wrong or said:
            different += 1
            if len(examples) < EXAMPLES:
                examples.append({"variant": repr(variant), "elements": wrong, "of": of_all, "said": said})
    return {
        "compared": compared,
        "different": different,
        "variants": len(jobs),
        "elements": elements,
        "by types": dict(sorted(by_types.items())),
        "by kernel": by_kernel,
        "examples": examples,
    }


def _variants(count: int, seed: int) -> Iterator[tuple[tiles.Variant, int]]:
    """Variants with a number of tiles each, `count` in all: the narrow ones many, all widths some."""
    left = count
    for each in range(1000):
        for variant in tiles.variants(seed + each):
            some = min(NARROW if variant.n == 8 else WIDE, left)
            if not some:
                return
            left -= some
            yield variant, some


def _emulated_tiles(
    variant: tiles.Variant, some: int, seed: int, order: str, real: np.ndarray | None
) -> tuple[int, int, str]:
    warnings.simplefilter("ignore")
    chosen = tiles.random_tiles(variant, some, seed)
    emulator = Emulator(arch=TARGET, order=order)
    made = tiles.run(emulator, variant, chosen)
    expected = tiles.expected(variant, chosen) if real is None else real
    said = str(emulator.findings[0].message) if emulator.findings else ""
    return int((made != expected).sum()), made.size, said
