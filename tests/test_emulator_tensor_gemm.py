"""Matrix products with `wgmma` and tensor copies that Triton made, in every order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from asm_corpus import builds

from ptxkit.emulator import Emulator
from ptxkit.encodings.tensor_maps import tensor_map

BUILDS = [*builds("matmul_tma_host", "sm90"), *builds("matmul_bf16", "sm90")]


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("path", BUILDS, ids=lambda path: path.stem)
def test_triton_matmul(path: Path, order: str) -> None:
    m, n, k = 256, 128, 192
    meta = json.loads(path.with_suffix(".json").read_text())
    emulator = Emulator(order=order)
    kernel = emulator.load(path).kernel()
    random = np.random.default_rng(0)
    a, b = ((random.integers(-8, 8, shape) / 4).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
    held = [emulator.array(a), emulator.array(b), emulator.empty((m, n), ml_dtypes.bfloat16)]
    arguments: list[Any] = [*held, m, n, k, k, n, n]
    if "tma" in path.stem:
        # Each tensor descriptor is its map, its shape and its strides in elements.
        arguments = []
        for buffer, described in zip(held, meta["tensordesc_meta"], strict=True):
            box = described["block_size"]
            made = tensor_map(buffer, dtype="bf16", shape=buffer.shape, box=box, swizzle="128B")
            arguments += [made, *buffer.shape, buffer.shape[1], 1]
        arguments.append(k)
    kernel.launch(
        grid=(m // meta["constexprs"]["BM"], n // meta["constexprs"]["BN"]),
        block=meta["block"],
        args=[*arguments, 0, 0],
        shared=meta["shared_mem_bytes"],
    )
    emulator.synchronize()
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert np.array_equal(held[2].numpy().view(np.uint16), expected.view(np.uint16))
    assert emulator.findings == []
