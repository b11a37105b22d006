"""Matrix products of rows by the weights of their experts: d[m, n] = sum over k of a[m, k] * b[e, n, k].

e is experts[m // 128]: rows are sorted by expert, and an expert's rows fill whole tiles of 128. Operands are
e2m1, two to a byte, the element of lower index in the low nibble; every 16 elements along K share a ue5m3
scale (PTX ISA 9.4: five bits of exponent, three of mantissa, no sign, 0xff the only NaN).

| tensor       | type  | shape                                |
|--------------|-------|--------------------------------------|
| a            | e2m1  | M, K                                 |
| b            | e2m1  | E, N, K                              |
| sfa          | ue5m3 | M, K/16                              |
| sfb          | ue5m3 | E, N, K/16                           |
| experts      | u32   | ceil(M/128)                          |
| sfa_permuted | ue5m3 | ceil(M/128), ceil(K/64), 32, 4, 4    |
| sfb_permuted | ue5m3 | E, ceil(N/128), ceil(K/64), 32, 4, 4 |
| d            | bf16  | M, N                                 |

The permuted scales repeat `sfa` and `sfb` in the 512-byte atoms that tcgen05 reads: scale (m, j) lies at
[m // 128, j // 4, m % 32, m // 32 % 4, j % 4]; what no element has is zero.
"""

from __future__ import annotations

import numpy as np

from ptxkit.workloads import Arrays, Cost, Expected, Generator, Size, Sizes, Tensor, Tolerance, Workload
from ptxkit.workloads.nvfp4_gemm import F32_SLACK
from ptxkit.workloads.nvfp4_gemv import ATOM, BLOCK, E2M1, nibbles, permute_scales

LARGEST_SCALE = 0xFE
"""The ue5m3 code of 114688, the largest finite value; 0xFF is NaN."""
SPREAD = 16
"""Codes that a row's scales are drawn from: two powers of two."""

_CODES = np.arange(LARGEST_SCALE + 1)
UE5M3 = np.ldexp(_CODES % 8 + 8.0 * (_CODES >= 8), np.maximum(_CODES // 8, 1) - 15 - 3)
"""The value of each code: the bias is 15, and below 2**-14 numbers are subnormal."""


class Ue5m3Gemm(Workload):
    """The products, with inputs that cover the formats."""

    name = "ue5m3_gemm"
    summary = "d[m,n] = sum_k a[m,k] b[experts[m/128],n,k], e2m1 with a ue5m3 scale per 16 elements, bf16 out"
    sizes = (
        Size("M", "the rows of a"),
        Size("N", "the rows of an expert's b"),
        Size("K", "the length of a row, in blocks of 16 elements that share a scale", BLOCK, BLOCK),
        Size("E", "the experts"),
    )
    generators = {"full": Generator("every nibble; scales of a row alike, from row to row every finite one")}
    tolerance = Tolerance(ulp=1.0)

    def tensors(self, sizes: Sizes) -> tuple[Tensor, ...]:
        M, N, K, E = sizes["M"], sizes["N"], sizes["K"], sizes["E"]
        tiles, blocks, atoms = -(-M // ATOM), K // BLOCK, -(-K // (4 * BLOCK))
        return (
            Tensor("a", "e2m1", (M, K)),
            Tensor("sfa", "ue5m3", (M, blocks)),
            Tensor("b", "e2m1", (E, N, K)),
            Tensor("sfb", "ue5m3", (E, N, blocks)),
            Tensor("experts", "u32", (tiles,)),
            Tensor("sfa_permuted", "ue5m3", (tiles, atoms, 32, 4, 4)),
            Tensor("sfb_permuted", "ue5m3", (E, -(-N // ATOM), atoms, 32, 4, 4)),
            Tensor("d", "bf16", (M, N), "output"),
        )

    def generate(self, sizes: Sizes, generator: str, seed: int, wanted: frozenset[str]) -> Arrays:
        """Nibbles drawn uniformly by numpy's PCG64 with `seed`.

        A row's scales lie within `SPREAD` codes of each other, so that no block drowns in another; where they
        lie runs through all codes from row to row, in random order. Row tiles are dealt out to the experts
        evenly; of more experts than row tiles some have none.
        """
        rng = np.random.default_rng(seed)
        M, N, K, E = sizes["M"], sizes["N"], sizes["K"], sizes["E"]
        a, b = (rng.integers(0, 256, (*shape, K // 2), np.uint8) for shape in ((M,), (E, N)))
        sfa, sfb = (_scales(rng, rows, K // BLOCK) for rows in (M, E * N))
        sfb = sfb.reshape(E, N, -1)
        tiles = np.arange(-(-M // ATOM))
        experts = np.sort(rng.permutation(E)[tiles % E]).astype(np.uint32)
        arrays: Arrays = {"a": a, "sfa": sfa, "b": b, "sfb": sfb, "experts": experts}
        if "sfa_permuted" in wanted:
            arrays["sfa_permuted"] = permute_scales(sfa[None])[0]
        if "sfb_permuted" in wanted:
            arrays["sfb_permuted"] = permute_scales(sfb)
        stored = {tensor.name: tensor.storage_dtype for tensor in self.tensors(sizes)}
        return {name: array.view(stored[name]) for name, array in arrays.items()}

    def reference(self, sizes: Sizes, inputs: Arrays) -> dict[str, Expected]:
        """The products in float64, of which each operand, scaled, is exact."""
        a, b = (
            E2M1[nibbles(inputs[name].view(np.uint8))].astype(np.float64)
            * np.repeat(UE5M3[inputs[f"sf{name}"]], BLOCK, axis=-1)
            for name in ("a", "b")
        )
        values, slack = (np.empty((sizes["M"], sizes["N"])) for _ in range(2))
        for tile, expert in enumerate(inputs["experts"].tolist()):
            rows = slice(ATOM * tile, ATOM * (tile + 1))
            values[rows] = a[rows] @ b[expert].T
            slack[rows] = np.abs(a[rows]) @ np.abs(b[expert]).T * F32_SLACK
        return {"d": Expected(values, slack)}

    def cost(self, sizes: Sizes) -> Cost:
        """An expert's weights are read if it has rows."""
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        tiles = -(-M // ATOM)
        row = K // 2 + K // BLOCK
        read = (M + min(sizes["E"], tiles) * N) * row + 4 * tiles
        return Cost(read, 2 * M * N, 2 * M * N * K, "e2m1")


def _scales(rng: np.random.Generator, rows: int, blocks: int) -> np.ndarray:
    """Codes (rows, blocks) in `uint8`."""
    steps = np.linspace(1 - SPREAD, LARGEST_SCALE, rows + 2)[1:-1]
    lowest = rng.permutation(steps.round().astype(np.int16))
    codes = lowest[:, None] + rng.integers(0, SPREAD, (rows, blocks), np.int16)
    return codes.clip(0, LARGEST_SCALE).astype(np.uint8)
