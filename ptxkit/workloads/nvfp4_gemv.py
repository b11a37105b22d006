"""NVFP4 matrix-vector product: c[l, m] = sum over k of a[l, m, k] * b[l, 0, k].

The GPU MODE task `nvfp4_gemv` (gpu-mode/reference-kernels, problems/nvidia/nvfp4_gemv). Operands are e2m1,
two to a byte, the element of lower index in the low nibble; every 16 elements along K share an e4m3 scale
that is never negative. b and its scales are padded to 128 rows, of which row 0 is the vector.

| tensor       | type  | shape                               | the task's own view               |
|--------------|-------|-------------------------------------|-----------------------------------|
| a            | e2m1  | L, M, K                             | (M, K/2, L), strides (K/2, 1, MK/2) |
| sfa          | ue4m3 | L, M, K/16                          | (M, K/16, L)                      |
| b            | e2m1  | L, 128, K                           | (128, K/2, L)                     |
| sfb          | ue4m3 | L, 128, K/16                        | (128, K/16, L)                    |
| sfa_permuted | ue4m3 | L, ceil(M/128), ceil(K/64), 32, 4, 4 | (32, 4, M/128, 4, K/64, L)        |
| sfb_permuted | ue4m3 | L, 1, ceil(K/64), 32, 4, 4          | (32, 4, 1, 4, K/64, L)            |
| c            | f16   | L, M                                | (M, 1, L), strides (1, 1, M)      |

The permuted scales repeat `sfa` and `sfb` in the 512-byte atoms that tcgen05 reads: scale (m, j) lies at
[m // 128, j // 4, m % 32, m // 32 % 4, j % 4].
"""

from __future__ import annotations

import numpy as np

from ptxkit.workloads import Arrays, Cost, Expected, Generator, Size, Sizes, Tensor, Tolerance, Workload

BLOCK = 16
"""Elements that share a scale."""
B_ROWS = 128
"""Rows that b is padded to."""
ATOM = 128
"""Rows of a scale-factor atom; it is four scales wide."""

LARGEST_SCALE = 0x7E
"""The e4m3 code of 448, the largest finite value; 0x7F is NaN."""
SCALE_ONE, SCALE_TWO = 0x38, 0x40
"""The e4m3 codes of 1 and 2."""

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
"""The value of each nibble."""
_BYTES = np.arange(256)
_PAIRS = np.stack([E2M1[_BYTES & 15], E2M1[_BYTES >> 4]], axis=1).copy().view(np.uint64)[:, 0]
"""For each byte its two values as float32, in one 64-bit word so that one gather decodes both."""

BLOCK_RMS = 34.0
"""Root mean square of the dot product of two blocks of 16 uniformly random nibbles."""
LOWEST_TARGET, HIGHEST_TARGET = -4.0, 17.0
"""Binary logarithms of the magnitudes that `full` aims a row's result at; f16 ends at 2**16."""
F32_SLACK = 2.0**-20
"""What summation in f32, in any order of a few dozen partial sums, may lose of the sum of magnitudes."""
REFERENCE_CHUNK = 1 << 20
"""Elements of a that the reference decodes at a time."""


class Nvfp4Gemv(Workload):
    """The task's problem, with inputs that cover the formats as well as the task's own."""

    name = "nvfp4_gemv"
    summary = "c[m,l] = sum_k a[m,k,l] b[k,l], e2m1 with an e4m3 scale per 16 elements, f16 out"
    sizes = (
        Size("M", "the rows of a"),
        Size("K", "the length of a row, in blocks of 16 elements that share a scale", BLOCK, BLOCK),
        Size("L", "the batches"),
    )
    generators = {
        "full": Generator(
            "every nibble and every finite scale, results from small to beyond the range of f16"
        ),
        "contest": Generator(
            "the task's own: low nibbles 0 to 1.5, high nibbles 0, scales 0, 1, 2", seed=1111
        ),
    }
    tolerance = Tolerance(rtol=1e-3, atol=1e-3, ulp=1.0)

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        M, K, L = sizes["M"], sizes["K"], sizes["L"]
        blocks, atoms = K // BLOCK, -(-K // (4 * BLOCK))
        return (
            Tensor("a", "e2m1", (L, M, K)),
            Tensor("sfa", "ue4m3", (L, M, blocks)),
            Tensor("b", "e2m1", (L, B_ROWS, K)),
            Tensor("sfb", "ue4m3", (L, B_ROWS, blocks)),
            Tensor("sfa_permuted", "ue4m3", (L, -(-M // ATOM), atoms, 32, 4, 4)),
            Tensor("sfb_permuted", "ue4m3", (L, B_ROWS // ATOM, atoms, 32, 4, 4)),
            Tensor("c", "f16", (L, M), "output"),
        )

    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        """Inputs from numpy's PCG64 with `seed`.

        `contest` has the task's distribution; the bytes differ from those that PyTorch's own generators draw.

        `full` draws nibbles uniformly. b's scales run through every finite code, and a's complement them:
        a row aims at a magnitude, and where b's scale is large a's is small, so that the products of a row
        are of one size, every code occurs on both sides, and most results lie in the range of f16. The
        magnitudes of the rows run evenly from 2**-4 to 2**17, where the last few overflow.
        """
        rng = np.random.default_rng(seed)
        make = _full if generator == "full" else _contest
        arrays = make(rng, sizes["M"], sizes["K"], sizes["L"])
        for name in ("sfa", "sfb"):
            if f"{name}_permuted" in wanted:
                arrays[f"{name}_permuted"] = permute_scales(arrays[name])
        e4m3 = {tensor.name: tensor.storage_dtype for tensor in self.tensors(sizes)}
        return {name: array.view(e4m3[name]) for name, array in arrays.items()}

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """The float64 sum over blocks; a block's dot product is exact in float32, its scales in float64."""
        M, K, L = sizes["M"], sizes["K"], sizes["L"]
        blocks = K // BLOCK
        values = np.empty((L, M))
        slack = np.empty((L, M))
        step = max(1, REFERENCE_CHUNK // K)
        for batch in range(L):
            b = E2M1[nibbles(inputs["b"][batch, 0])].reshape(blocks, BLOCK)
            scale_b = inputs["sfb"][batch, 0].astype(np.float64)
            for first in range(0, M, step):
                rows = slice(first, min(first + step, M))
                a = _PAIRS[inputs["a"][batch, rows]].view(np.float32).reshape(-1, blocks, BLOCK)
                terms = np.einsum("rji,ji->rj", a, b).astype(np.float64)
                terms *= inputs["sfa"][batch, rows].astype(np.float64)
                terms *= scale_b
                values[batch, rows] = terms.sum(axis=1)
                slack[batch, rows] = np.abs(terms).sum(axis=1) * F32_SLACK
        return {"c": Expected(values, slack)}

    def cost(self, sizes: Sizes) -> Cost:
        """One row of b and of its scales a batch; the padding need not be read."""
        M, K, L = sizes["M"], sizes["K"], sizes["L"]
        return Cost(L * (M + 1) * (K // 2 + K // BLOCK), 2 * L * M, 2 * M * K * L)


def permute_scales(plain: np.ndarray) -> np.ndarray:
    """Scales (L, rows, blocks) in tcgen05's atoms, zero-padded: (L, rows/128, blocks/4, 32, 4, 4)."""
    batches, rows, blocks = plain.shape
    row_atoms, column_atoms = -(-rows // ATOM), -(-blocks // 4)
    padded = np.zeros((batches, row_atoms * ATOM, column_atoms * 4), plain.dtype)
    padded[:, :rows, :blocks] = plain
    atoms = padded.reshape(batches, row_atoms, 4, 32, column_atoms, 4)
    return np.ascontiguousarray(atoms.transpose(0, 1, 4, 3, 2, 5))


def nibbles(packed: np.ndarray) -> np.ndarray:
    """The e2m1 codes of packed bytes, lower index from the low nibble."""
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1)


def _contest(rng: np.random.Generator, M: int, K: int, L: int) -> Arrays:
    def operand(rows: int) -> np.ndarray:
        return rng.integers(0, 4, (L, rows, K // 2), np.uint8)

    def scales(rows: int) -> np.ndarray:
        codes = np.array([0, SCALE_ONE, SCALE_TWO], np.uint8)
        return codes[rng.integers(0, 3, (L, rows, K // BLOCK), np.uint8)]

    return {"a": operand(M), "b": operand(B_ROWS), "sfa": scales(M), "sfb": scales(B_ROWS)}


def _full(rng: np.random.Generator, M: int, K: int, L: int) -> Arrays:
    blocks = K // BLOCK
    a = rng.integers(0, 256, (L, M, K // 2), np.uint8)
    b = rng.integers(0, 256, (L, B_ROWS, K // 2), np.uint8)
    sfb = rng.integers(0, LARGEST_SCALE + 1, (L, B_ROWS, blocks), np.uint8)
    sfa = np.empty((L, M, blocks), np.uint8)
    for batch in range(L):
        sfb[batch, 0] = rng.permuted(np.resize(rng.permutation(LARGEST_SCALE + 1), blocks))
        targets = rng.permuted(np.linspace(LOWEST_TARGET, HIGHEST_TARGET, M))
        product = targets - np.log2(BLOCK_RMS * np.sqrt(blocks))
        # Eight e4m3 codes make a factor of two and code 56 is 1: the sum of two codes tells their product.
        level = np.round(8 * product + 2 * SCALE_ONE).astype(np.int16)
        spread = rng.integers(-4, 5, (M, blocks), np.int8)
        codes = level[:, None] - sfb[batch, 0].astype(np.int16) + spread
        sfa[batch] = np.clip(codes, 0, LARGEST_SCALE)
    return {"a": a, "b": b, "sfa": sfa, "sfb": sfb}
