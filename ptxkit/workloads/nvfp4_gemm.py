"""NVFP4 matrix product: d[m, n] = sum over k of a[m, k] * b[n, k].

Operands are e2m1, two to a byte, the element of lower index in the low nibble; every 16 elements along K
share an e4m3 scale that is never negative.

| tensor       | type  | shape                             |
|--------------|-------|-----------------------------------|
| a            | e2m1  | M, K                              |
| b            | e2m1  | N, K                              |
| sfa, sfb     | ue4m3 | rows, K/16                        |
| sfa_permuted | ue4m3 | ceil(M/128), ceil(K/64), 32, 4, 4 |
| sfb_permuted | ue4m3 | ceil(N/128), ceil(K/64), 32, 4, 4 |
| d            | bf16  | M, N                              |

The permuted scales repeat `sfa` and `sfb` in the 512-byte atoms that tcgen05 reads: scale (m, j) lies at
[m // 128, j // 4, m % 32, m // 32 % 4, j % 4].
"""

from __future__ import annotations

import numpy as np

from ptxkit.workloads import Arrays, Cost, Expected, Generator, Size, Sizes, Tensor, Tolerance, Workload
from ptxkit.workloads.nvfp4_gemv import ATOM, BLOCK, E2M1, LARGEST_SCALE, nibbles, permute_scales

F32_SLACK = 2.0**-20
"""What summation in f32, in any order, may lose of the sum of magnitudes."""


class Nvfp4Gemm(Workload):
    """The block-scaled product, with inputs that cover the formats."""

    name = "nvfp4_gemm"
    summary = "d[m,n] = sum_k a[m,k] b[n,k], e2m1 with an e4m3 scale per 16 elements, bf16 out"
    sizes = (
        Size("M", "the rows of a"),
        Size("N", "the rows of b"),
        Size("K", "the length of a row, in blocks of 16 elements that share a scale", BLOCK, BLOCK),
    )
    generators = {"full": Generator("every nibble and every finite scale")}
    tolerance = Tolerance(ulp=1.0)

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        blocks, atoms = K // BLOCK, -(-K // (4 * BLOCK))
        return (
            Tensor("a", "e2m1", (M, K)),
            Tensor("sfa", "ue4m3", (M, blocks)),
            Tensor("b", "e2m1", (N, K)),
            Tensor("sfb", "ue4m3", (N, blocks)),
            Tensor("sfa_permuted", "ue4m3", (-(-M // ATOM), atoms, 32, 4, 4)),
            Tensor("sfb_permuted", "ue4m3", (-(-N // ATOM), atoms, 32, 4, 4)),
            Tensor("d", "bf16", (M, N), "output"),
        )

    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        """Nibbles and scale codes drawn uniformly by numpy's PCG64 with `seed`."""
        rng = np.random.default_rng(seed)
        K = sizes["K"]
        arrays: Arrays = {}
        for name, rows in (("a", sizes["M"]), ("b", sizes["N"])):
            arrays[name] = rng.integers(0, 256, (rows, K // 2), np.uint8)
            scales = rng.integers(0, LARGEST_SCALE + 1, (rows, K // BLOCK), np.uint8)
            arrays[f"sf{name}"] = scales
            if f"sf{name}_permuted" in wanted:
                arrays[f"sf{name}_permuted"] = permute_scales(scales[None])[0]
        stored = {tensor.name: tensor.storage_dtype for tensor in self.tensors(sizes)}
        return {name: array.view(stored[name]) for name, array in arrays.items()}

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """The product in float64, of which each operand, scaled, is exact."""
        a, b = (
            E2M1[nibbles(inputs[name])].astype(np.float64)
            * np.repeat(inputs[f"sf{name}"].astype(np.float64), BLOCK, axis=1)
            for name in ("a", "b")
        )
        return {"d": Expected(a @ b.T, np.abs(a) @ np.abs(b).T * F32_SLACK)}

    def cost(self, sizes: Sizes) -> Cost:
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        return Cost((M + N) * (K // 2 + K // BLOCK), 2 * M * N, 2 * M * N * K, "e2m1")
