"""The gradient of sparse attention, whole and its first phase.

Multi-head latent attention over selected keys: one key head of d_qk elements, whose first 512 are also the
value, for 64 or 128 query heads. Query s sees the keys indices[s, j] for j < topk_length[s], where the index
is a key: neither negative nor s_kv and more. With scale = d_qk**-0.5, for the pairs that are seen:

    p[s, h, j]  = q[s, h] . kv[i]                        i = indices[s, j]
    delta[s, h] = o[s, h] . do[s, h]
    w[s, h, j]  = exp2(p[s, h, j] * scale * log2(e) - lse[s, h])
    ds[s, h, j] = w[s, h, j] * (do[s, h] . kv[i, :512] - delta[s, h]) * scale
    dq[s, h]    = sum over j of ds[s, h, j] * kv[i]
    dkv[i]      = sum over s, h, j with i = indices[s, j] of ds[s, h, j] * q[s, h], and
                  w[s, h, j] * do[s, h] on the first 512

| tensor      | type | shape            | first phase | whole   |
|-------------|------|------------------|-------------|---------|
| q           | bf16 | s_q, heads, d_qk | input       | input   |
| kv          | bf16 | s_kv, d_qk       | input       | input   |
| o, do       | bf16 | s_q, heads, 512  | input       | input   |
| indices     | s32  | s_q, topk        | input       | input   |
| topk_length | s32  | s_q              | input       | input   |
| lse         | f32  | s_q, heads       |             | input   |
| p           | f32  | s_q, heads, topk | output      | scratch |
| delta       | f32  | s_q, heads       | output      | scratch |
| dq          | bf16 | s_q, heads, d_qk |             | output  |
| dkv         | f32  | s_kv, d_qk       |             | output  |

p is 0 where nothing is seen. `lse` is the base-2 logarithm of the softmax's denominator, minus infinity for a
query that sees nothing; its o is 0.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import ml_dtypes
import numpy as np

from ptxkit.diagnostics import error
from ptxkit.workloads import Arrays, Cost, Expected, Generator, Size, Sizes, Tensor, Tolerance, Workload

HEADS = (64, 128)
SIZES = ("s_q", "s_kv", "topk", "heads", "d_qk")
VALUE_DEPTH = 512
"""Elements of a value: the latent part of a key."""
DEPTHS = (512, 576)
"""Elements of a key: the latent part alone, or with 64 that carry a rotary embedding."""

BF16 = 2.0**-8 + 2.0**-14
"""What rounding to bf16's 8 bits may change, relatively, and a little for what comes before it."""


def seen_keys(indices: np.ndarray, length: int, keys: int) -> np.ndarray:
    """Which of a query's selected keys it sees: shape [topk], bool."""
    return (indices >= 0) & (indices < keys) & (np.arange(len(indices)) < length)


class SparseAttention(Workload):
    """The forward pass, which gives the gradient's inputs."""

    sizes = (
        Size("s_q", "the queries"),
        Size("s_kv", "the keys"),
        Size("topk", "the keys selected for a query", 64, 64),
        Size("heads", "the heads of queries, 64 or 128", min(HEADS), 64),
        Size("d_qk", "the elements of a key, 512 or 576", min(DEPTHS), 64),
    )
    generators = {
        "mixed": Generator(
            "random keys; some indices out of range on either side, lists of every length, some of none"
        ),
        "valid": Generator("random keys, every index in range, every list full"),
        "wide": Generator("as mixed; q, kv and do over many powers of two, from flat softmax to sharp"),
    }

    def check(self, sizes: Sizes) -> None:
        super().check(sizes)
        if sizes["heads"] not in HEADS:
            raise error("P552", f"expected `heads` of 64 or 128, found {sizes['heads']}")
        if sizes["d_qk"] not in DEPTHS:
            raise error("P552", f"expected `d_qk` of 512 or 576, found {sizes['d_qk']}")

    def inputs(self, sizes: Sizes) -> tuple[Tensor, ...]:
        """What a kernel may read."""
        queries, keys, chosen, heads, depth = (sizes[name] for name in SIZES)
        return (
            Tensor("q", "bf16", (queries, heads, depth)),
            Tensor("kv", "bf16", (keys, depth)),
            Tensor("o", "bf16", (queries, heads, VALUE_DEPTH)),
            Tensor("do", "bf16", (queries, heads, VALUE_DEPTH)),
            Tensor("indices", "s32", (queries, chosen)),
            Tensor("topk_length", "s32", (queries,)),
        )

    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        """Inputs from numpy's PCG64 with `seed`, o and lse by the forward pass in f32.

        Scaled dot products have a deviation of one, up to eight in `wide`. Of every eight queries, from the
        second on, one has an empty list and one only indices that are no keys, except in `valid`.
        """
        rng = np.random.default_rng(seed)
        queries, keys, chosen, heads, depth = (sizes[name] for name in SIZES)
        indices = rng.integers(0, keys, (queries, chosen), np.int32)
        length = np.full(queries, chosen, np.int32)
        if generator != "valid":
            kind = rng.integers(0, 16, indices.shape)
            indices[kind == 0] = -1
            indices[kind == 1] = keys
            indices[kind == 2] = np.iinfo(np.int32).max
            length = rng.integers(chosen // 2, chosen + 1, queries, np.int32)
            length[2::8] = 0
            indices[5::8] = -1
        arrays: Arrays = {
            "q": rng.standard_normal((queries, heads, depth), np.float32).astype(ml_dtypes.bfloat16),
            "kv": rng.standard_normal((keys, depth), np.float32).astype(ml_dtypes.bfloat16),
            "o": np.zeros((queries, heads, VALUE_DEPTH), ml_dtypes.bfloat16),
            "do": rng.standard_normal((queries, heads, VALUE_DEPTH), np.float32).astype(ml_dtypes.bfloat16),
            "indices": indices,
            "topk_length": length,
            "lse": np.full((queries, heads), -np.inf, np.float32),
        }
        if generator == "wide":
            for name, least, most in (("q", -8, 2), ("kv", -3, 2), ("do", -30, 30)):
                powers = rng.integers(least, most, (*arrays[name].shape[:-1], 1)).astype(np.float32)
                arrays[name] *= np.exp2(powers).astype(ml_dtypes.bfloat16)
        kv = arrays["kv"].astype(np.float32)
        for query in range(queries):
            seen = seen_keys(indices[query], int(length[query]), keys)
            if not seen.any():
                continue
            rows = kv[indices[query][seen]]
            logits = arrays["q"][query].astype(np.float32) @ rows.T * np.float32(depth**-0.5 * np.log2(np.e))
            top = logits.max(axis=1, keepdims=True)
            terms = np.exp2(logits - top)
            sums = terms.sum(axis=1, keepdims=True)
            arrays["o"][query] = (terms / sums @ rows[:, :VALUE_DEPTH]).astype(ml_dtypes.bfloat16)
            arrays["lse"][query] = (top + np.log2(sums))[:, 0]
        return arrays


class SparseAttnBwdPhase1(SparseAttention):
    """Products of queries and keys, and of results and their gradients: what the second phase starts from."""

    name = "sparse_attn_bwd_phase1"
    summary = "p[s,h,j] = q[s,h] . kv[indices[s,j]], 0 where j is not seen; delta[s,h] = o[s,h] . do[s,h]"
    tolerance = Tolerance(rtol=1e-6)

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        queries, chosen, heads = sizes["s_q"], sizes["topk"], sizes["heads"]
        return (
            *self.inputs(sizes),
            Tensor("p", "f32", (queries, heads, chosen), "output"),
            Tensor("delta", "f32", (queries, heads), "output"),
        )

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """Query by query in float64. The slack is what f32 sums lose: 2**-18 of the sum of the magnitudes."""
        queries, keys, chosen, heads = (sizes[name] for name in SIZES[:4])
        p, p_slack = np.zeros((2, queries, heads, chosen))
        kv = inputs["kv"].astype(np.float64)
        for query in range(queries):
            indices = inputs["indices"][query]
            seen = seen_keys(indices, int(inputs["topk_length"][query]), keys)
            q, rows = inputs["q"][query].astype(np.float64), kv[indices[seen]]
            p[query][:, seen] = q @ rows.T
            p_slack[query][:, seen] = 2.0**-18 * (np.abs(q) @ np.abs(rows).T)
        products = inputs["o"].astype(np.float64) * inputs["do"].astype(np.float64)
        return {
            "p": Expected(p, p_slack),
            "delta": Expected(products.sum(axis=-1), 2.0**-18 * np.abs(products).sum(axis=-1)),
        }

    def cost(self, sizes: Sizes) -> Cost:
        """Each query and key once from memory; a key is read from the L2 cache as often as it is selected."""
        queries, keys, chosen, heads, depth = (sizes[name] for name in SIZES)
        read = 2 * (queries * heads * (depth + 2 * VALUE_DEPTH) + keys * depth) + 4 * queries * (chosen + 1)
        written = 4 * queries * heads * (chosen + 1)
        return Cost(read, written, 2 * queries * heads * (chosen * depth + VALUE_DEPTH), "bf16")


class SparseAttnBwd(SparseAttention):
    """The gradients of queries and keys, from those of the result."""

    name = "sparse_attn_bwd"
    summary = "gradients dq, dkv of sparse attention over selected keys, from o, lse and do"
    tolerance = Tolerance(rtol=2**-8)

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        queries, keys, chosen, heads, depth = (sizes[name] for name in SIZES)
        return (
            *self.inputs(sizes),
            Tensor("lse", "f32", (queries, heads)),
            Tensor("p", "f32", (queries, heads, chosen), "scratch"),
            Tensor("delta", "f32", (queries, heads), "scratch"),
            Tensor("dq", "bf16", (queries, heads, depth), "output"),
            Tensor("dkv", "f32", (keys, depth), "output"),
        )

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """Query by query in float64.

        The slack is for w and ds in bf16, as the tensor cores take them, of the sum of the magnitudes; for w
        what p may be off by; and for ds where do . kv and delta cancel, 2**-18 of the magnitudes in them.
        """
        queries, keys, _, heads, depth = (sizes[name] for name in SIZES)
        dq, dq_slack = np.zeros((2, queries, heads, depth))
        dkv, dkv_slack = np.zeros((2, keys, depth))
        alone = Lock()
        kv = inputs["kv"].astype(np.float64)

        def fill(query: int) -> None:
            part = self._pairs(sizes, inputs, kv, query)
            if part is None:
                return
            rows, seen, do, w, ds, w_error, ds_error = (
                part[name] for name in ("rows", "seen", "do", "w", "ds", "w_error", "ds_error")
            )
            q = inputs["q"][query].astype(np.float64)
            dq[query] = ds @ rows
            dq_slack[query] = ds_error @ np.abs(rows)
            sums, slack = ds.T @ q, ds_error.T @ np.abs(q)
            sums[:, :VALUE_DEPTH] += w.T @ do
            slack[:, :VALUE_DEPTH] += w_error.T @ np.abs(do)
            order = np.argsort(seen, kind="stable")
            different, first = np.unique(seen[order], return_index=True)
            sums, slack = (np.add.reduceat(each[order], first) for each in (sums, slack))
            with alone:
                dkv[different] += sums
                dkv_slack[different] += slack

        with ThreadPoolExecutor() as pool:
            list(pool.map(fill, range(queries)))
        return {"dq": Expected(dq, dq_slack), "dkv": Expected(dkv, dkv_slack)}

    def _pairs(self, sizes: Sizes, inputs: Arrays, kv: np.ndarray, query: int) -> Arrays | None:
        """Of a query that sees a key, by name: its `rows` of kv in float64 [n, d_qk] and their numbers
        `seen`, `do`; `w`, `ds` and what they may be off by, `w_error`, `ds_error`, [heads, n] each."""
        scale = sizes["d_qk"] ** -0.5
        indices = inputs["indices"][query]
        seen = indices[seen_keys(indices, int(inputs["topk_length"][query]), sizes["s_kv"])]
        if not len(seen):
            return None
        rows = kv[seen]
        values = rows[:, :VALUE_DEPTH]
        do, o = inputs["do"][query].astype(np.float64), inputs["o"][query].astype(np.float64)
        lse = inputs["lse"][query].astype(np.float64)[:, None]
        q = inputs["q"][query].astype(np.float64)
        w = np.exp2(q @ rows.T * scale * np.log2(np.e) - lse)
        factor = (do @ values.T - (o * do).sum(axis=1, keepdims=True)) * scale
        magnitudes = np.abs(do) @ np.abs(values).T + np.abs(o * do).sum(axis=1, keepdims=True)
        w_error = w * (BF16 + 2.0**-18 * scale * (np.abs(q) @ np.abs(rows).T))
        ds_error = w_error * np.abs(factor) + 2.0**-18 * w * magnitudes * scale
        part = {"rows": rows, "seen": seen, "do": do, "w": w, "ds": w * factor}
        return part | {"w_error": w_error, "ds_error": ds_error}

    def cost(self, sizes: Sizes) -> Cost:
        """Each input once, dkv written once; products q.kv and do.kv, and three that make dq and dkv."""
        queries, keys, chosen, heads, depth = (sizes[name] for name in SIZES)
        read = 2 * (queries * heads * (depth + 2 * VALUE_DEPTH) + keys * depth)
        read += 4 * queries * (chosen + 1 + heads)
        written = 2 * queries * heads * depth + 4 * keys * depth
        return Cost(read, written, 2 * queries * heads * chosen * (3 * depth + 2 * VALUE_DEPTH), "bf16")
