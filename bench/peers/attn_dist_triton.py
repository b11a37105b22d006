"""attn_dist in Triton: what a compiler makes of the problem, in two kernels at their best configurations.

In both a program takes a query and gathers a key once for all its heads:

- `whole`: q stays on chip for the whole query; a tile of keys comes with all of its 576 elements.
- `chunks`: q and keys come in pieces of 64 elements, which leaves room for larger tiles and more stages;
  q is read again from the L2 cache for each tile.

Their configurations are timed and the fastest of each is a peer; what does not fit into shared memory drops
out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

DEPTH = 576
SCALE = 0.060112293
LAUNCHES = 7
"""Of a configuration when it is tuned; the median counts."""


@triton.jit
def whole(
    q, k, indices, lse, attn_sum, s_kv, topk, q_start_index_s, k_stride, scale,
    HEADS: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """Products of 512 elements and of the last 64: extents must be powers of two."""
    query = tl.program_id(0)
    heads = query * HEADS + tl.arange(0, HEADS)
    main, rest = tl.arange(0, 512), 512 + tl.arange(0, 64)
    q_main = tl.load(q + heads[:, None].to(tl.int64) * 576 + main[None, :])
    q_rest = tl.load(q + heads[:, None].to(tl.int64) * 576 + rest[None, :])
    minus = tl.load(lse + heads)
    limit = tl.minimum((q_start_index_s + query + 1) // k_stride, s_kv)
    for first in range(0, topk, KEYS):
        at = query.to(tl.int64) * topk + first + tl.arange(0, KEYS)
        index = tl.load(indices + at)
        seen = (index >= 0) & (index < limit)
        rows = k + tl.where(seen, index, 0)[:, None].to(tl.int64) * 576
        products = tl.dot(q_main, tl.load(rows + main[None, :]).T)
        products = tl.dot(q_rest, tl.load(rows + rest[None, :]).T, products)
        terms = tl.exp2(products * scale - minus[:, None])
        tl.store(attn_sum + at, tl.where(seen, tl.sum(terms, 0), 0.0))


@triton.jit
def chunks(
    q, k, indices, lse, attn_sum, s_kv, topk, q_start_index_s, k_stride, scale,
    HEADS: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """Products piece by piece."""
    query = tl.program_id(0)
    heads = query * HEADS + tl.arange(0, HEADS)
    piece = tl.arange(0, 64)
    minus = tl.load(lse + heads)
    limit = tl.minimum((q_start_index_s + query + 1) // k_stride, s_kv)
    q_rows = q + heads[:, None].to(tl.int64) * 576 + piece[None, :]
    for first in range(0, topk, KEYS):
        at = query.to(tl.int64) * topk + first + tl.arange(0, KEYS)
        index = tl.load(indices + at)
        seen = (index >= 0) & (index < limit)
        rows = k + tl.where(seen, index, 0)[:, None].to(tl.int64) * 576 + piece[None, :]
        products = tl.zeros((HEADS, KEYS), tl.float32)
        for column in range(0, 576, 64):
            products = tl.dot(tl.load(q_rows + column), tl.load(rows + column).T, products)
        terms = tl.exp2(products * scale - minus[:, None])
        tl.store(attn_sum + at, tl.where(seen, tl.sum(terms, 0), 0.0))


KERNELS = {"whole": whole, "chunks": chunks}
CONFIGURATIONS = [
    {"kernel": "whole", "KEYS": 64, "num_warps": 4, "num_stages": 1},
    {"kernel": "whole", "KEYS": 64, "num_warps": 4, "num_stages": 2},
    {"kernel": "chunks", "KEYS": 128, "num_warps": 4, "num_stages": 4},
    {"kernel": "chunks", "KEYS": 128, "num_warps": 8, "num_stages": 4},
]
"""The fastest on an H200 of tiles of 32 to 128 keys, 4 and 8 warps and 1 to 5 stages."""


def _options(configuration: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in configuration.items() if name != "kernel"}


def tune(
    stream: torch.cuda.Stream, heads: int, tensors: tuple[torch.Tensor, ...], sizes: tuple[int, ...]
) -> dict[str, tuple[Callable[[], Any], dict[str, Any]]]:
    """By kernel the fastest configuration's launch in a stream, and that configuration.

    Args:
        heads: 64 or 128.
        tensors: q, k, indices, lse, attn_sum.
        sizes: s_kv, topk, q_start_index_s, k_stride.
    """

    def launch_of(configuration: dict[str, Any]) -> Callable[[], Any]:
        kernel, options = KERNELS[configuration["kernel"]], _options(configuration)

        def launch() -> None:
            with torch.cuda.stream(stream):
                kernel[(tensors[2].shape[0],)](*tensors, *sizes, SCALE, HEADS=heads, **options)

        return launch

    found: dict[str, tuple[float, dict[str, Any]]] = {}
    for configuration in CONFIGURATIONS:
        launch = launch_of(configuration)
        try:
            launch()
        except triton.runtime.errors.OutOfResources:
            continue
        seconds = []
        for _ in range(LAUNCHES):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record(stream)
            launch()
            end.record(stream)
            end.synchronize()
            seconds.append(begin.elapsed_time(end) / 1e3)
        median = sorted(seconds)[LAUNCHES // 2]
        if median < found.get(configuration["kernel"], (float("inf"), {}))[0]:
            found[configuration["kernel"]] = median, configuration
    return {name: (launch_of(best), best) for name, (_, best) in found.items()}
