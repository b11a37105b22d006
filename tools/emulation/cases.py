"""The fixed set: a name, what it stands for, and the launches that are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CUBE_512 = {"M": 512, "N": 512, "K": 512}
CUBE_1024 = {"M": 1024, "N": 1024, "K": 1024}
CUBE_2048 = {"M": 2048, "N": 2048, "K": 2048}


@dataclass(frozen=True)
class MeasuredCase:
    """One program of the set.

    Attributes:
        name: what `--only` looks at.
        about: what it stands for.
        file: a kernel with a launch card, from the checkout's root; empty where the text is generated.
        sizes: of the card, or arguments of what generates the text (`generated.py`).
        smoke: the same, so small that nothing but the way through matters; None: the card's first preset.
        reference: what says what must come out where the card doesn't (`references.py`).
        large: whether it takes minutes, and is left out unless it is asked for.
    """

    name: str
    about: str
    file: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    smoke: Mapping[str, int] | None = None
    reference: str | None = None
    large: bool = False


KERNELS, TUTORIAL, SHIPPED = "bench/kernels", "docs/tutorial", "kernels_ptx"
ATTENTION = {"batch": 1, "heads": 4, "kv_heads": 2, "s_q": 1024, "s_k": 1024, "d": 128, "causal": 1}

CASES = (
    MeasuredCase("saxpy", "elementwise, 4 Mi elements", f"{TUTORIAL}/01-saxpy/saxpy.ptx", {"n": 1 << 22}),
    MeasuredCase(
        "transpose",
        "tiles in shared memory, 2048 x 2048",
        f"{TUTORIAL}/03-transpose/transpose.ptx",
        {"rows": 2048, "columns": 2048},
    ),
    MeasuredCase(
        "sgemm_naive", "f32 product from global memory, 512^3", f"{KERNELS}/sgemm_naive.ptx", CUBE_512
    ),
    MeasuredCase("sgemm_tiles", "f32 product by shared tiles, 512^3", f"{KERNELS}/sgemm_tiles.ptx", CUBE_512),
    MeasuredCase("sgemm_naive_2048", "the same, 2048^3", f"{KERNELS}/sgemm_naive.ptx", CUBE_2048, large=True),
    MeasuredCase("sgemm_tiles_2048", "the same, 2048^3", f"{KERNELS}/sgemm_tiles.ptx", CUBE_2048, large=True),
    MeasuredCase(
        "reduce",
        "sums of blocks by shuffles, 4 Mi elements",
        f"{TUTORIAL}/02-reduction/reduction.ptx",
        {"blocks": 1 << 14},
    ),
    MeasuredCase(
        "scan", "prefix sums of 1 Mi elements in three launches", f"{KERNELS}/scan.ptx", {"blocks": 1024}
    ),
    MeasuredCase(
        "bitonic_sort",
        "sorts of 1024 in shared memory, 256 of them",
        f"{KERNELS}/bitonic_sort.ptx",
        {"blocks": 256},
    ),
    MeasuredCase(
        "pointer_chase",
        "64 Ki threads, 64 loads each that hang on one another",
        f"{KERNELS}/pointer_chase.ptx",
        {"n": 1 << 20, "threads": 1 << 16, "steps": 64},
        reference="chased",
    ),
    MeasuredCase(
        "histogram", "atomics in shared memory, 1 Mi elements", f"{KERNELS}/histogram.ptx", {"n": 1 << 20}
    ),
    MeasuredCase(
        "collatz",
        "divergent branches and loops, 64 Ki threads",
        f"{KERNELS}/collatz.ptx",
        {"n": 1 << 16},
        reference="collatz",
    ),
    MeasuredCase(
        "flash_attn",
        "attention by wgmma and tensor copies, 4 heads of 1024 x 128, causal",
        f"{SHIPPED}/flash_attn.ptx",
        {**ATTENTION, "packed": 0, "f16": 0},
    ),
    MeasuredCase("gemm_mma", "f16 product by mma, 512^3", f"{KERNELS}/gemm_mma.ptx", CUBE_512),
    MeasuredCase("gemm_wgmma", "bf16 product by wgmma, 1024^3", f"{SHIPPED}/gemm_wgmma.ptx", CUBE_1024),
    MeasuredCase("gemm_tcgen05", "bf16 product by tcgen05, 1024^3", f"{SHIPPED}/gemm_tcgen05.ptx", CUBE_1024),
    MeasuredCase(
        "tiny_launches",
        "2,000 launches of one tiny kernel",
        sizes={"kernels": 1, "launches": 2000},
        smoke={"kernels": 1, "launches": 20},
    ),
    MeasuredCase(
        "tiny_kernels",
        "200 tiny modules, a launch of each",
        sizes={"kernels": 200, "launches": 200},
        smoke={"kernels": 3, "launches": 3},
    ),
    MeasuredCase(
        "huge_module",
        "one small entry of a module of several MB",
        sizes={"statements": 200_000},
        smoke={"statements": 300},
    ),
)
