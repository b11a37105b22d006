"""What the emulator counts of accesses: bank conflicts, wavefronts, sectors. Figures of the first two tests
were counted by Nsight Compute on an H200 (bench/results/counts.h200.json, tools/compare_counts.py)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traffic_kernels import AREA, Case, Whole, cases

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import compare_counts

from ptxkit.emulator import Emulator
from ptxkit.emulator.counts import OUT, Traffic, sectors, wavefronts
from ptxkit.emulator.jit import available

CASES = {(case.operation, case.pattern): case for case in cases()}


def counted(case: Case | Whole, **options: bool) -> dict[str, int]:
    device = Emulator(sanitize=False, traffic=True, **options)
    case.launch(device)
    assert device.counts.traffic is not None
    return dict(device.counts.traffic.counts)


@pytest.mark.parametrize(
    "jit", [False, pytest.param(True, marks=pytest.mark.skipif(not available(), reason="no llvmlite"))]
)
@pytest.mark.parametrize(("pattern", "wavefronts_"), [("rows of 32 words", 4096), ("rows of 33 words", 128)])
def test_transposes(pattern: str, wavefronts_: int, jit: bool) -> None:
    """128 warps store a row each and load a column, whose words lie in one bank or in 32."""
    found = counted(CASES["transpose", pattern], jit=jit)
    assert found == {
        "global_requests_loaded": 128,
        "global_sectors_loaded": 512,
        "global_requests_stored": 128,
        "global_sectors_stored": 512,
        "shared_wavefronts_stored": 128,
        "shared_bank_conflicts_stored": 0,
        "shared_wavefronts_loaded": wavefronts_,
        "shared_bank_conflicts_loaded": wavefronts_ - 128,
    }


@pytest.mark.parametrize(
    ("operation", "pattern", "expected"),
    [
        ("ld.shared of 4 bytes", "stride 2", (2, 1)),
        ("ld.shared of 8 bytes", "stride 1", (2, 0)),
        ("ld.shared of 8 bytes", "pairs", (1, 0)),
        ("st.shared of 8 bytes", "pairs", (2, 0)),
        ("ld.shared of 8 bytes", "even and odd", (2, 1)),
        ("ld.shared of 8 bytes", "halves alike", (2, 0)),
        ("ld.shared of 16 bytes", "stride 0", (2, 0)),
        ("st.shared of 16 bytes", "stride 0", (4, 0)),
        ("ld.shared of 16 bytes", "stride 4", (16, 12)),
    ],
)
def test_wide_accesses_go_in_parts(operation: str, pattern: str, expected: tuple[int, int]) -> None:
    found = counted(CASES[operation, pattern])
    what = "loaded" if operation.startswith("ld") else "stored"
    assert (found[f"shared_wavefronts_{what}"], found[f"shared_bank_conflicts_{what}"]) == expected


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([1, 2, 4, 8, 16]), st.booleans(), st.integers(1, 6))
def test_warps_add_up(data: st.DataObject, size: int, shared: bool, rows: int) -> None:
    """Many warps at once cost what each costs, wherever its lanes begin."""
    most = AREA // size - 1
    lines = st.lists(st.integers(0, most), min_size=32, max_size=32)
    index = np.array([data.draw(lines) for _ in range(rows)], np.int64) * size
    active = np.array([data.draw(st.lists(st.booleans(), min_size=32, max_size=32)) for _ in range(rows)])
    start = data.draw(st.integers(0, 100)) * size
    traffic = Traffic()
    traffic.lanes("shared" if shared else "global", index, active, rows, size, "loaded", offset=start)
    each = [np.where(on, line + start, OUT) for line, on in zip(index, active, strict=True) if on.any()]
    if shared:
        costs = [wavefronts(line, size, "loaded") for line in each]
        wanted = sum(cost[0] for cost in costs), sum(cost[1] for cost in costs)
        names = "shared_wavefronts_loaded", "shared_bank_conflicts_loaded"
    else:
        wanted = len(each), sum(sectors(line, "loaded") for line in each)
        names = "global_requests_loaded", "global_sectors_loaded"
    assert tuple(traffic.counts[name] for name in names) == wanted


@pytest.mark.long
def test_the_emulator_counts_what_a_gpu_did() -> None:
    """Every launch of the record but those that it says differ, and kernels that are others by now."""
    record = json.loads((Path(__file__).parents[1] / "bench" / "results" / "counts.h200.json").read_text())
    assert record["compared"] == len(record["launches"]) == len(CASES)
    assert record["differ"] == sum("differs" in launch for launch in record["launches"]) <= 1
    for launch in record["launches"]:
        case = CASES[launch["operation"], launch["pattern"]]
        if "differs" in launch or (isinstance(case, Whole) and case.digest != launch["sha256"]):
            continue
        found = compare_counts.counted(case)
        names = [name for name in record["metrics"] if compare_counts.comparable(case, name)]
        assert {name: found[name] for name in names} == {name: launch.get(name, 0) for name in names}, launch


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("in a row, to in a row", 16),
        ("in a row, to every second", 32),
        ("every second, to in a row", 16),
        ("every third, to in a row", 20),
        ("all alike, to in a row", 16),
        ("in a row, to columns", 32),
        ("pairs, to columns", 16),
    ],
)
def test_copies_past_l1_count_where_they_go_to(pattern: str, expected: int) -> None:
    """Sectors of shared memory, each once for every line of 128 bytes that something in it comes from."""
    found = counted(CASES["cp.async.cg from and to", pattern])
    assert (found["global_requests_copied"], found["global_sectors_copied"]) == (1, expected)


def test_lanes_that_copy_nothing_cost_nothing() -> None:
    lane, rows = np.arange(32), np.ones(32, int)
    traffic = Traffic()
    traffic.copies(rows, lane, 16 * lane, np.where(lane % 4, 16, 0), 16, 32 * lane)
    assert traffic.counts == {"global_requests_copied": 1, "global_sectors_copied": 24}
    traffic.copies(rows, lane, 16 * lane, np.zeros(32, int), 16, 32 * lane)
    assert traffic.counts == {"global_requests_copied": 1, "global_sectors_copied": 24}


def test_nothing_is_counted_unasked() -> None:
    device = Emulator()
    CASES["transpose", "rows of 33 words"].launch(device)
    assert device.counts.traffic is None
