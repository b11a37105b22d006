"""Compare what the emulator counts of memory accesses with what Nsight Compute counts on a GPU.

    python tools/compare_counts.py       # needs `ncu` and a GPU that it may profile; two minutes on an H200
    python tools/compare_counts.py --recorded bench/results/counts.h200.json    # the emulator anew; no GPU

The launches are those of tests/traffic_kernels.py: loads, stores, atomics, copies and `ldmatrix` of one warp
in many patterns, and transposes. What is compared is bank conflicts and wavefronts of shared memory, requests
and sectors of global memory. Writes bench/results/counts.<gpu>.json. Exit 1 where anything differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from traffic_kernels import Case, cases

import ptxkit
from ptxkit.emulator import Emulator
from ptxkit.provenance import provenance

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
WAVEFRONTS, CONFLICTS = "data_pipe_lsu_wavefronts_mem_shared", "data_bank_conflicts_pipe_lsu_mem_shared"
REQUESTS, SECTORS = "t_requests_pipe_lsu_mem_global", "t_sectors_pipe_lsu_mem_global"
COPY = "op_ldgsts_cache_access"
METRICS = {
    "shared_wavefronts_loaded": (f"{WAVEFRONTS}_op_ld",),
    "shared_wavefronts_stored": (f"{WAVEFRONTS}_op_st",),
    "shared_wavefronts_reduced": (f"{WAVEFRONTS}_op_atom",),
    "shared_bank_conflicts_loaded": (f"{CONFLICTS}_op_ld",),
    "shared_bank_conflicts_stored": (f"{CONFLICTS}_op_st",),
    "shared_bank_conflicts_reduced": (f"{CONFLICTS}_op_atom",),
    "global_requests_loaded": (f"{REQUESTS}_op_ld",),
    "global_requests_stored": (f"{REQUESTS}_op_st",),
    "global_requests_reduced": (f"{REQUESTS}_op_red", f"{REQUESTS}_op_atom"),
    "global_requests_copied": (f"{REQUESTS}_{COPY}",),
    "global_sectors_loaded": (f"{SECTORS}_op_ld",),
    "global_sectors_stored": (f"{SECTORS}_op_st",),
    "global_sectors_reduced": (f"{SECTORS}_op_red", f"{SECTORS}_op_atom"),
    "global_sectors_copied": (f"{SECTORS}_{COPY}",),
}
"""What the emulator counts, and the profiler's counters that must add up to the same."""
COPIES = {
    "global_requests_loaded": "global_requests_copied",
    "global_sectors_loaded": "global_sectors_copied",
}
"""The profiler counts copies with loads as well."""


def launch_all() -> None:
    """Every case once on the GPU, in order."""
    device = ptxkit.open_device("cuda")
    kernels: dict[str, Any] = {}
    for case in cases():
        if case.text not in kernels:
            kernels[case.text] = device.load(case.text).kernel("k")
        case.launch(device, kernels[case.text])


def measured() -> list[dict[str, int]]:
    """What the profiler counts of each case, by the emulator's names."""
    names = [f"l1tex__{name}.sum" for parts in METRICS.values() for name in parts]
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "none"]
    command += ["--clock-control", "none", "--metrics", ",".join(names), sys.executable, __file__, "--launch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = list(csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"')))
    if len(rows) != len(cases()) + 1:
        sys.exit(f"{' '.join(command[:3])} gave {len(rows)} rows\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    found = []
    for row in rows[1:]:
        counts = {
            ours: sum(round(float(row[f"l1tex__{name}.sum"].replace(",", ""))) for name in parts)
            for ours, parts in METRICS.items()
        }
        for loaded, copied in COPIES.items():
            counts[loaded] -= counts[copied]
        found.append(counts)
    return found


def counted(case: Case) -> dict[str, int]:
    """What the emulator counts."""
    emulator = Emulator(sanitize=False, traffic=True)
    case.launch(emulator)
    assert emulator.counts.traffic is not None
    return dict(emulator.counts.traffic.counts)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--launch", action="store_true", help="only launch everything: what `ncu` runs")
    parser.add_argument("--recorded", type=Path, help="take the GPU's figures from this record")
    parser.add_argument("--out", type=Path, help="the file to write")
    arguments = parser.parse_args()
    if arguments.launch:
        launch_all()
        return 0
    if arguments.recorded:
        document = json.loads(arguments.recorded.read_text())
        head = {
            key: value for key, value in document.items() if key not in ("compared", "differ", "launches")
        }
        real = [{name: launch.get(name, 0) for name in METRICS} for launch in document["launches"]]
    else:
        head = {"schema": 1, "kind": "counts", **provenance(), "gpu": ptxkit.open_device("cuda").name}
        real = measured()
    launches, different = [], 0
    for case, counts in zip(cases(), real, strict=True):
        mine = counted(case)
        wrong = {
            name: [mine.get(name, 0), counts[name]] for name in METRICS if mine.get(name, 0) != counts[name]
        }
        different += bool(wrong)
        entry: dict[str, Any] = {"operation": case.operation, "pattern": case.pattern}
        entry |= {name: count for name, count in counts.items() if count}
        launches.append(entry | ({"differs": wrong} if wrong else {}))
        if wrong:
            print(f"{case.operation}, {case.pattern}: emulated and real {wrong}")
    print(f"{head['gpu']}: {len(launches)} launches, {different} differ")
    short = re.sub(r"^nvidia_", "", re.sub(r"\W+", "_", head["gpu"].lower()))
    lines = ",\n".join(f"  {json.dumps(entry)}" for entry in launches)
    whole = {**head, "metrics": METRICS, "compared": len(launches), "differ": different}
    text = json.dumps(whole, indent=1)[:-2] + f',\n "launches": [\n{lines}\n ]\n}}\n'
    (arguments.out or RESULTS / f"counts.{short}.json").write_text(text)
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
