"""Matrix products of e4m3 numbers with DeepSeek's block scales.

    d[m, n] = sum over b of sa[b, m] * sb[n // 128, b] * sum over k in block b of a[m, k] * b[n, k]

Blocks are 128 long in k: a has a scale for each row and block, b one for each 128 rows and block.

| tensor | type | shape                         |
|--------|------|-------------------------------|
| a      | e4m3 | M, K                          |
| b      | e4m3 | N, K                          |
| sa     | f32  | ceil(K/128), 4 * ceil(M/4)    |
| sb     | f32  | ceil(N/128), ceil(K/128)      |
| d      | bf16 | M, N                          |

`sa` holds NaN behind scale M of a block, where nothing is to be read.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np

from ptxkit.workloads import Arrays, Cost, Expected, Generator, Size, Sizes, Tensor, Tolerance, Workload

BLOCK = 128
LARGEST = 448.0
"""The largest e4m3 number."""
STEP = 32
"""Products that a Hopper tensor core sums at once, with the sum so far."""
LOST = (STEP + 2) * 2.0**-13
"""Of the largest of them, what the sum may lose: all are cut off behind 13 bits of fraction, and it too."""
ROWS = 256
"""Rows of a that the reference takes at a time."""


class BlockScaledGemm(Workload):
    """The problem."""

    name = "block_scaled_gemm"
    summary = "d[m,n] = sum_k a[m,k] b[n,k], e4m3 with a scale per 1x128 of a and 128x128 of b, bf16 out"
    sizes = (
        Size("M", "the rows of a"),
        Size("N", "the rows of b", 8, 8),
        Size("K", "the length of a row", 16, 16),
    )
    generators = {
        "normal": Generator("normal numbers, blocks of different deviations, scaled to use all of e4m3"),
        "ones": Generator("every number 1, scales powers of two: sums are exact"),
    }
    tolerance = Tolerance(ulp=1.0)

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        blocks = -(-K // BLOCK)
        return (
            Tensor("a", "e4m3", (M, K)),
            Tensor("b", "e4m3", (N, K)),
            Tensor("sa", "f32", (blocks, -(-M // 4) * 4)),
            Tensor("sb", "f32", (-(-N // BLOCK), blocks)),
            Tensor("d", "bf16", (M, N), "output"),
        )

    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        """Inputs from numpy's PCG64 with `seed`; the largest number of a block becomes 448."""
        rng = np.random.default_rng(seed)
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        a, sa = _quantized(rng, M, K, 1, generator)
        b, sb = _quantized(rng, N, K, BLOCK, generator)
        padded = np.full((sa.shape[1], -(-M // 4) * 4), np.nan, np.float32)
        padded[:, :M] = sa.T
        return {"a": a, "b": b, "sa": padded, "sb": sb}

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """In float64, with what the tensor cores and the f32 sums of blocks may lose at most.

        A step sums 32 products and the sum of the steps before. None of them exceeds the product of the
        largest factors, or that sum, and each loses less than 2^-13 of the largest.
        """
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        blocks = -(-K // BLOCK)
        values, slack = np.zeros((M, N)), np.zeros((M, N))
        scales_b = np.repeat(inputs["sb"].astype(np.float64), BLOCK, axis=0)[:N]
        b = inputs["b"].astype(np.float64)

        def fill(first: int) -> None:
            rows = slice(first, min(first + ROWS, M))
            a = inputs["a"][rows].astype(np.float64)
            for block in range(blocks):
                scale = inputs["sa"][block, rows, None].astype(np.float64) * scales_b[:, block]
                total, lost = np.zeros(scale.shape), np.zeros(scale.shape)
                for k in range(BLOCK * block, min(BLOCK * (block + 1), K), STEP):
                    some_a, some_b = a[:, k : k + STEP], b[:, k : k + STEP]
                    largest = np.abs(some_a).max(axis=1)[:, None] * np.abs(some_b).max(axis=1)
                    np.maximum(largest, np.abs(total), out=largest)
                    total += some_a @ some_b.T
                    lost += np.maximum(largest, np.abs(total), out=largest)
                values[rows] += scale * total
                slack[rows] += scale * (LOST * lost + (blocks + 3) * 2.0**-24 * np.abs(total))

        with ThreadPoolExecutor() as pool:
            for _ in pool.map(fill, range(0, M, ROWS)):
                pass
        return {"d": Expected(values, slack)}

    def cost(self, sizes: Sizes) -> Cost:
        """Each tensor once."""
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        blocks = -(-K // BLOCK)
        read = (M + N) * K + 4 * blocks * (M + -(-N // BLOCK))
        return Cost(read, 2 * M * N, 2 * M * N * K, "e4m3")


def _quantized(
    rng: np.random.Generator, rows: int, length: int, tall: int, generator: str
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (rows, length) and their scales (rows / tall, length / 128), both rounded up."""
    blocks, bands = -(-length // BLOCK), -(-rows // tall)
    if generator == "ones":
        scales = np.exp2(rng.integers(-2, 3, (bands, blocks))).astype(np.float32)
        return np.ones((rows, length), ml_dtypes.float8_e4m3fn), scales
    deviations = np.exp2(rng.uniform(-2, 2, (bands, blocks))).astype(np.float32)
    numbers = rng.standard_normal((bands * tall, blocks * BLOCK), np.float32)
    numbers[rows:], numbers[:, length:] = 0, 0
    numbers = numbers.reshape(bands, tall, blocks, BLOCK)
    numbers *= deviations[:, None, :, None]
    scales = np.maximum(np.abs(numbers).max(axis=(1, 3)), np.float32(1e-4)) / np.float32(LARGEST)
    quantized = np.clip(numbers / scales[:, None, :, None], -LARGEST, LARGEST).astype(ml_dtypes.float8_e4m3fn)
    return quantized.reshape(bands * tall, blocks * BLOCK)[:rows, :length].copy(), scales
