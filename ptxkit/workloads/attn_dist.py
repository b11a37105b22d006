"""Attention distribution over selected keys, summed over heads.

    attn_sum[s, j] = sum over h of exp2(q[s, h] . k[indices[s, j]] * 576**-0.5 * log2(e) - lse[s, h])

where indices[s, j] is a key that query s may see, and 0 elsewhere: where it is negative or s_kv and more, or
past the causal limit. Query s is at position p = q_start_index_s + s; with k_stride positions to a key it
sees the keys up to floor((p + 1 - k_stride) / k_stride). Multi-head latent attention, sparse prefill: one key
head of 576 elements for all query heads; `lse` is the base-2 logarithm of the softmax's denominator.

| tensor   | type | shape          |
|----------|------|----------------|
| q        | bf16 | s_q, h_q, 576  |
| k        | bf16 | s_kv, 576      |
| indices  | s32  | s_q, topk      |
| lse      | f32  | s_q, h_q       |
| attn_sum | f32  | s_q, topk      |
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np

from ptxkit.workloads import Arrays, Cost, Expected, Generator, Size, Sizes, Tensor, Tolerance, Workload

DEPTH = 576
"""Elements of a key: 512 of the latent and 64 with a rotary embedding."""
SCALE = DEPTH**-0.5 * np.log2(np.e)
"""Of a dot product, so that a power of two gives the exponential."""


class AttnDist(Workload):
    """The problem, with inputs in which every kind of invalid index occurs."""

    name = "attn_dist"
    summary = "attn_sum[s,j] = sum_h exp2(q[s,h] . k[indices[s,j]] scale - lse[s,h]), 0 where j is not seen"
    sizes = (
        Size("s_q", "the queries"),
        Size("h_q", "the heads of a query", 64, 64),
        Size("s_kv", "the keys"),
        Size("topk", "the keys selected for a query", 64, 64),
        Size("q_start_index_s", "the position of the first query", 0),
        Size("k_stride", "positions to a key"),
    )
    generators = {
        "mixed": Generator("random keys; some indices out of range on either side, some queries with none"),
        "valid": Generator("random keys, every index in range"),
    }
    tolerance = Tolerance(rtol=1e-3, atol=1e-6)

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        queries, heads, keys, chosen = (sizes[name] for name in ("s_q", "h_q", "s_kv", "topk"))
        return (
            Tensor("q", "bf16", (queries, heads, DEPTH)),
            Tensor("k", "bf16", (keys, DEPTH)),
            Tensor("indices", "s32", (queries, chosen)),
            Tensor("lse", "f32", (queries, heads)),
            Tensor("attn_sum", "f32", (queries, chosen), "output"),
        )

    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        """Inputs from numpy's PCG64 with `seed`.

        Dot products have a deviation of one after scaling; `lse` lies around the logarithm of the sum of
        as many exponentials as there are keys, so that a head's terms add up to about one.
        """
        rng = np.random.default_rng(seed)
        queries, heads, keys, chosen = (sizes[name] for name in ("s_q", "h_q", "s_kv", "topk"))
        indices = rng.integers(0, keys, (queries, chosen), np.int32)
        if generator == "mixed":
            kind = rng.integers(0, 16, indices.shape)
            indices[kind == 0] = -1
            indices[kind == 1] = keys
            indices[kind == 2] = np.iinfo(np.int32).max
            indices[1::7] = -1
        middle = np.log2(chosen) + 0.5 * np.log2(np.e)
        return {
            "q": rng.standard_normal((queries, heads, DEPTH), np.float32).astype(ml_dtypes.bfloat16),
            "k": rng.standard_normal((keys, DEPTH), np.float32).astype(ml_dtypes.bfloat16),
            "indices": indices,
            "lse": (middle + rng.standard_normal((queries, heads), np.float32)).astype(np.float32),
        }

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """Query by query in float64, as many at a time as there are cores: numpy lets other threads run."""
        queries, keys = sizes["s_q"], sizes["s_kv"]
        sums = np.zeros((queries, sizes["topk"]))
        k = inputs["k"].astype(np.float64)

        def fill(query: int) -> None:
            indices = inputs["indices"][query]
            position = sizes["q_start_index_s"] + query
            last = (position + 1 - sizes["k_stride"]) // sizes["k_stride"]
            seen = (indices >= 0) & (indices <= min(last, keys - 1))
            terms = (inputs["q"][query].astype(np.float64) * SCALE) @ k[indices[seen]].T
            terms -= inputs["lse"][query].astype(np.float64)[:, None]
            sums[query, seen] = np.exp2(terms, out=terms).sum(axis=0)

        with ThreadPoolExecutor() as pool:
            for _ in pool.map(fill, range(queries)):
                pass
        return {"attn_sum": Expected(sums)}

    def cost(self, sizes: Sizes) -> Cost:
        """Each query and key once from memory; a key is read from the L2 cache as often as it is selected."""
        queries, heads, keys, chosen = (sizes[name] for name in ("s_q", "h_q", "s_kv", "topk"))
        read = 2 * DEPTH * (queries * heads + keys) + 4 * queries * (chosen + heads)
        return Cost(read, 4 * queries * chosen, 2 * queries * heads * chosen * DEPTH, "bf16")
