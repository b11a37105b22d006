"""Attention forward, with the logarithm of the softmax's denominator.

    o[i] = sum over j of softmax over j (q[i] . k[j] / sqrt(d)) * v[j]
    lse[i] = log of the sum over j of exp(q[i] . k[j] / sqrt(d))

for each head of each sequence; `heads / kv_heads` query heads share a head of keys and values. Causal, query
i sees the keys up to i + s_k - s_q, so that the last query sees all of them. A query that sees none has o = 0
and lse = -inf. Packed, sequences of different lengths lie one behind the other: sequence b has the queries
q_starts[b] to q_starts[b + 1] and the keys k_starts[b] to k_starts[b + 1], s_q and s_k on average and at most
twice as many.

| tensor   | type        | shape                                        |
|----------|-------------|----------------------------------------------|
| q        | bf16 or f16 | batch * s_q, heads, d                        |
| k, v     | bf16 or f16 | batch * s_k, kv_heads, d                     |
| q_starts | s32         | batch + 1                                    |
| k_starts | s32         | batch + 1                                    |
| o        | bf16 or f16 | batch * s_q, heads, d                        |
| lse      | f32         | batch, heads, s_q; packed heads, batch * s_q |
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import ml_dtypes
import numpy as np

from ptxkit.diagnostics import error
from ptxkit.workloads import Arrays, Cost, Expected, Generator, Size, Sizes, Tensor, Tolerance, Workload

HEAD_SIZES = (64, 128, 256)
ROWS = 512
"""Queries whose scores the reference holds at a time."""


class FlashAttn(Workload):
    """The problem."""

    name = "flash_attn"
    summary = "o = softmax(q k^T / sqrt(d)) v and lse, causal or not, sequences of one length or packed"
    sizes = (
        Size("batch", "the sequences"),
        Size("heads", "the heads of queries"),
        Size("kv_heads", "the heads of keys and values"),
        Size("s_q", "the queries of a sequence"),
        Size("s_k", "the keys of a sequence"),
        Size("d", "the elements of a head: 64, 128 or 256", 64, 64),
        Size("causal", "1 if queries see no later keys, else 0", 0),
        Size("packed", "1 if sequences differ in length, else 0", 0),
        Size("f16", "1 for f16, 0 for bf16", 0),
    )
    generators = {
        "normal": Generator("standard normal numbers"),
        "sharp": Generator("queries 16 times as large: few keys matter, the highest score rises often"),
    }
    tolerance = Tolerance(atol=1e-6)

    def check(self, sizes: Sizes) -> None:
        """Beyond what each size may be: heads fit, `d` is one of three, and flags are 0 or 1.

        Raises:
            PtxkitError: P551 (a size is missing or unknown), P552 (a size can't be).
        """
        super().check(sizes)
        if sizes["d"] not in HEAD_SIZES:
            raise error("P552", f"expected `d` of 64, 128 or 256, found {sizes['d']}")
        if sizes["heads"] % sizes["kv_heads"]:
            message = f"expected `heads` to be a multiple of `kv_heads`, {sizes['kv_heads']}"
            raise error("P552", f"{message}, found {sizes['heads']}")
        for name in ("causal", "packed", "f16"):
            if sizes[name] > 1:
                raise error("P552", f"expected `{name}` of 0 or 1, found {sizes[name]}")

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        batch, heads, kv_heads, d = (sizes[name] for name in ("batch", "heads", "kv_heads", "d"))
        queries, keys = batch * sizes["s_q"], batch * sizes["s_k"]
        dtype = "f16" if sizes["f16"] else "bf16"
        return (
            Tensor("q", dtype, (queries, heads, d)),
            Tensor("k", dtype, (keys, kv_heads, d)),
            Tensor("v", dtype, (keys, kv_heads, d)),
            Tensor("q_starts", "s32", (batch + 1,)),
            Tensor("k_starts", "s32", (batch + 1,)),
            Tensor("o", dtype, (queries, heads, d), "output"),
            Tensor(
                "lse", "f32", (heads, queries) if sizes["packed"] else (batch, heads, sizes["s_q"]), "output"
            ),
        )

    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        """Inputs from numpy's PCG64 with `seed`.

        Packed sequences come in pairs, one as much longer than the average as the other is shorter.
        """
        rng = np.random.default_rng(seed)
        dtype = np.float16 if sizes["f16"] else ml_dtypes.bfloat16
        shapes = {tensor.name: tensor.shape for tensor in self.tensors(sizes)}
        made: Arrays = {}
        for name in ("q", "k", "v"):
            values = rng.standard_normal(shapes[name], np.float32)
            made[name] = (values * 16 if name == "q" and generator == "sharp" else values).astype(dtype)
        for name, average in (("q_starts", sizes["s_q"]), ("k_starts", sizes["s_k"])):
            lengths = np.full(sizes["batch"], average)
            if sizes["packed"]:
                more = rng.integers(-average, average, sizes["batch"] // 2, endpoint=True)
                lengths[: 2 * len(more) : 2] += more
                lengths[1 : 2 * len(more) : 2] -= more
            made[name] = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
        return made

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """Head by head in float64, as many at a time as there are cores.

        Slack: p is rounded to the type of v before it is multiplied, and o at the end, each by at most one
        unit roundoff; f16 also loses what is below its least number, where p is 1 or more at the row's
        highest score.
        """
        shape = (sizes["batch"] * sizes["s_q"], sizes["heads"], sizes["d"])
        o, spread = np.zeros(shape), np.zeros(shape)
        lse: np.ndarray = np.full((sizes["heads"], len(o)), -np.inf)
        group = sizes["heads"] // sizes["kv_heads"]
        roundoff, least = (2.0**-11, 2.0**-25) if sizes["f16"] else (2.0**-8, 0.0)
        scale = sizes["d"] ** -0.5

        def fill(sequence_and_head: tuple[int, int]) -> None:
            sequence, head = sequence_and_head
            (q_first, q_last), (k_first, k_last) = (
                inputs[name][sequence : sequence + 2].tolist() for name in ("q_starts", "k_starts")
            )
            k, v = (inputs[name][k_first:k_last, head // group].astype(np.float64) for name in ("k", "v"))
            if not len(k):
                return
            for first in range(q_first, q_last, ROWS):
                rows = slice(first, min(first + ROWS, q_last))
                scores = inputs["q"][rows, head].astype(np.float64) * scale @ k.T
                if sizes["causal"]:
                    last_seen = np.arange(rows.start, rows.stop) - q_last + len(k)
                    scores[np.arange(len(k)) > last_seen[:, None]] = -np.inf
                top = scores.max(axis=1, keepdims=True)
                seen = np.isfinite(top[:, 0])
                np.exp(np.subtract(scores, top, where=seen[:, None], out=scores), out=scores)
                total = scores.sum(axis=1, keepdims=True)
                scores[seen] /= total[seen]
                o[rows, head] = scores @ v
                spread[rows, head] = scores @ np.abs(v)
                if least:
                    spread[rows, head] += least / roundoff * np.abs(v).sum(axis=0)
                lse[head, rows][seen] = (top[seen] + np.log(total[seen]))[:, 0]

        with ThreadPoolExecutor() as pool:
            for _ in pool.map(fill, product(range(sizes["batch"]), range(sizes["heads"]))):
                pass
        if not sizes["packed"]:
            lse = lse.reshape(sizes["heads"], sizes["batch"], sizes["s_q"]).swapaxes(0, 1)
        slack = 1.05 * roundoff * (spread + np.abs(o))
        with np.errstate(invalid="ignore"):
            precision = np.where(np.isfinite(lse), 1e-5 * np.maximum(np.abs(lse), 1), 0)
        return {"o": Expected(o, slack), "lse": Expected(lse, precision)}

    def cost(self, sizes: Sizes) -> Cost:
        """Each tensor once; 4 d operations for each key that a query of a sequence of average length sees."""
        batch, heads, kv_heads, d = (sizes[name] for name in ("batch", "heads", "kv_heads", "d"))
        s_q, s_k = sizes["s_q"], sizes["s_k"]
        hidden = min(s_q, s_k) * (min(s_q, s_k) - 1) // 2 + max(s_q - s_k, 0) * s_k if sizes["causal"] else 0
        read = 2 * batch * d * (s_q * heads + 2 * s_k * kv_heads)
        written = batch * s_q * heads * (2 * d + 4)
        return Cost(
            read, written, 4 * batch * heads * d * (s_q * s_k - hidden), "f16" if sizes["f16"] else "bf16"
        )
