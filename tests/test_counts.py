"""What the emulator counts, held against what the shape of a problem says must happen."""

from __future__ import annotations

import json

import pytest
from command import here

from ptxkit.emulator import Emulator

COUNTED = """
.version 8.0
.target sm_90
.address_size 64
.entry k() {
    .reg .b32 %r<4>;
    .reg .f32 %f<2>;
    .reg .pred %p<3>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
LOOP:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 5;
    @%p1 bra LOOP;
    setp.lt.u32 %p2, %r1, 32;
    @%p2 bra END;
    cvt.rn.f32.u32 %f1, %r1;
    mul.f32 %f1, %f1, %f1;
END:
    exit;
}
"""


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
    by_chapter = {name: count for name, count in counters.items() if name.startswith("instructions.")}
    assert sum(by_chapter.values()) == counters["thread_instructions"]


def test_instructions_count_by_chapter() -> None:
    device = Emulator()
    device.load(COUNTED).kernel().launch((3,), (64,), [])
    # Of 3 CTAs with 64 threads; the loop runs 5 times, and the product only in half of the threads.
    threads = 3 * 64
    assert device.counts.by_chapter == {
        "movement": 2 * threads,
        "integer": 5 * threads,
        "comparison": (5 + 1) * threads,
        "control": (5 + 1 + 1) * threads,
        "floating": threads // 2,
        "conversion": threads // 2,
    }
    assert sum(device.counts.by_chapter.values()) == device.counts.instructions


def test_traffic_is_counted_where_it_is_shown() -> None:
    # Nothing is copied by cp.async there: its requests and sectors count apart from those of loads.
    done = here("run", "gemv_sm100a.ptx", "--device", "emu", "--json")
    (run,) = json.loads(done.stdout)["runs"]
    counters = run["counters"]
    # 320 loads of a warp find 23,040 bytes in 800 sectors: most lines of B are read by several CTAs.
    assert counters["global_requests_loaded"] <= counters["global_sectors_loaded"]
    assert 32 * counters["global_sectors_loaded"] >= counters["bytes_loaded_global"]
    assert counters["shared_wavefronts_loaded"] > counters["shared_bank_conflicts_loaded"] == 0
    assert "shared bank conflicts loaded" in here("run", "gemv_sm100a.ptx", "--device", "emu", "-v").stdout


def test_columns_of_tensor_memory_are_shown_to_people() -> None:
    done = here("run", "gemm_tcgen05.ptx", "--device", "emu", "-v")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["tensor", "memory", "columns", "512"] in rows
    assert ["issued", "tcgen05.mma", "24"] in rows
