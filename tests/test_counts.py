"""What the emulator counts, held against what the shape of a problem says must happen."""

from __future__ import annotations

import json

import pytest
from command import here


@pytest.mark.parametrize(
    ("kernel", "unit", "expected"),
    [
        # Products of 64 x 256 x 16 by a warpgroup, of 256 x 256 x 16 by a pair of CTAs.
        ("gemm_wgmma.ptx", 64 * 256 * 16, "issued.wgmma.mma_async"),
        ("gemm_tcgen05.ptx", 256 * 256 * 16, "issued.tcgen05.mma"),
    ],
)
def test_products_cover_the_problem(kernel: str, unit: int, expected: str) -> None:
    done = here("run", kernel, "--device", "emu", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    m, n, k = (run["sizes"][name] for name in "MNK")
    counters = run["counters"]
    assert counters[expected] == m * n * k // unit
    # Tiles of D leave in bf16, once each.
    assert counters["bytes_stored_global"] == 2 * m * n
    (launch,) = run["launches"]
    assert counters["shared_bytes"] == launch["shared"]


def test_columns_of_tensor_memory_are_shown_to_people() -> None:
    done = here("run", "gemm_tcgen05.ptx", "--device", "emu", "-v")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["tensor", "memory", "columns", "512"] in rows
    assert ["issued", "tcgen05.mma", "24"] in rows
