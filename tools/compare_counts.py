"""Compare what the emulator counts of memory accesses with what Nsight Compute counts on a GPU.

    python tools/compare_counts.py       # needs `ncu` and a GPU that it may profile; two minutes on an H200
    python tools/compare_counts.py --recorded bench/results/counts.h200.json    # the emulator anew; no GPU

The launches are those of tests/traffic_kernels.py: loads, stores, atomics, copies and `ldmatrix` of one warp
in many patterns, transposes, and whole kernels of kernels_ptx and the tutorial. What is compared is bank
conflicts and wavefronts of shared memory, requests and sectors of global memory. Writes
bench/results/counts.<gpu>.json. Exit 1 where anything differs.
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

from traffic_kernels import Case, Whole, cases

import ptxkit
from ptxkit.emulator import Emulator
from ptxkit.machine.provenance import provenance

RESULTS = Path(__file__).resolve().parents[1] / "bench" / "results"
WAVEFRONTS, CONFLICTS = "data_pipe_lsu_wavefronts_mem_shared", "data_bank_conflicts_pipe_lsu_mem_shared"
REQUESTS, SECTORS = "t_requests_pipe_lsu_mem_global", "t_sectors_pipe_lsu_mem_global"
METRICS = {
    "shared_wavefronts_loaded": (f"l1tex__{WAVEFRONTS}_op_ld",),
    "shared_wavefronts_stored": (f"l1tex__{WAVEFRONTS}_op_st",),
    "shared_wavefronts_reduced": (f"l1tex__{WAVEFRONTS}_op_atom",),
    "shared_bank_conflicts_loaded": (f"l1tex__{CONFLICTS}_op_ld",),
    "shared_bank_conflicts_stored": (f"l1tex__{CONFLICTS}_op_st",),
    "shared_bank_conflicts_reduced": (f"l1tex__{CONFLICTS}_op_atom",),
    "global_requests_loaded + global_requests_copied": (f"l1tex__{REQUESTS}_op_ld",),
    "global_requests_stored": (f"l1tex__{REQUESTS}_op_st",),
    "global_requests_reduced": (f"l1tex__{REQUESTS}_op_red", f"l1tex__{REQUESTS}_op_atom"),
    "global_sectors_loaded + global_sectors_copied": (f"l1tex__{SECTORS}_op_ld",),
    "global_sectors_stored": (f"l1tex__{SECTORS}_op_st",),
    "global_sectors_reduced": (f"l1tex__{SECTORS}_op_red", f"l1tex__{SECTORS}_op_atom"),
}
"""What the emulator counts, and the profiler's counters that must add up to the same. Those of loads have
copies in them."""
COPIES = {"global_requests_copied": (f"smsp__sass_l1tex_{REQUESTS}_op_ldgsts",)}
"""The same of launches that copy with `cp.async`. The profiler's counter of their sectors is left out: it
tells none of most copies past L1, and more than all loads together of others."""


def launch_all(some: list[Case | Whole]) -> None:
    """Every case once on the GPU, in order."""
    device = ptxkit.open_device("cuda")
    kernels: dict[str, Any] = {}
    for case in some:
        if isinstance(case, Case) and case.text not in kernels:
            kernels[case.text] = device.load(case.text).kernel("k")
        case.launch(device, kernels.get(case.text))


def measured() -> list[dict[str, int]]:
    """What the profiler counts of each case, by the emulator's names."""
    found = profiled(cases(), METRICS, "all")
    copying = [counts for case, counts in zip(cases(), found, strict=True) if case.copies]
    apart = profiled([case for case in cases() if case.copies], COPIES, "copies")
    for counts, copied in zip(copying, apart, strict=True):
        counts |= copied
    return found


def profiled(
    some: list[Case | Whole], metrics: dict[str, tuple[str, ...]], which: str
) -> list[dict[str, int]]:
    """What the profiler counts of launches, one by one."""
    names = [f"{name}.sum" for parts in metrics.values() for name in parts]
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "none"]
    command += ["--clock-control", "none", "--metrics", ",".join(names)]
    command += [sys.executable, __file__, "--launch", which]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = list(csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"')))
    if len(rows) != len(some) + 1:
        sys.exit(f"{' '.join(command[:3])} gave {len(rows)} rows\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return [
        {
            ours: sum(round(float(row[f"{name}.sum"].replace(",", ""))) for name in parts)
            for ours, parts in metrics.items()
        }
        for row in rows[1:]
    ]


def counted(case: Case | Whole) -> dict[str, int]:
    """What the emulator counts, by the names of the comparison."""
    emulator = Emulator(sanitize=False, traffic=True)
    case.launch(emulator)
    assert emulator.counts.traffic is not None
    counts = emulator.counts.traffic.counts
    return {name: sum(counts[part] for part in name.split(" + ")) for name in METRICS | COPIES}


def comparable(case: Case | Whole, name: str) -> bool:
    """Whether a count of a case should be the same: in whole kernels also copies and tensor copies access
    shared memory, and theirs are not counted."""
    return isinstance(case, Case) or not name.startswith("shared") or "cp.async" not in case.text


def compared(case: Case | Whole, real: dict[str, Any]) -> dict[str, Any]:
    """A launch for the record; `differs` has what the emulator and the profiler count otherwise.

    A kernel that was another one when it was recorded stays as it is.
    """
    if isinstance(case, Whole) and real.get("sha256", case.digest) != case.digest:
        print(f"{case.operation}, {case.pattern}: is another file than was recorded", file=sys.stderr)
        return real
    mine = counted(case)
    wrong = {
        name: [mine[name], real.get(name, 0)]
        for name in METRICS | COPIES
        if comparable(case, name) and mine[name] != real.get(name, 0)
    }
    entry: dict[str, Any] = {"operation": case.operation, "pattern": case.pattern}
    entry |= {"sha256": case.digest} if isinstance(case, Whole) else {}
    entry |= {name: real[name] for name in METRICS | COPIES if real.get(name)}
    if wrong:
        print(f"{case.operation}, {case.pattern}: emulated and real {wrong}")
        entry["differs"] = wrong
    return entry


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--launch", choices=["all", "copies"], help="only launch: what `ncu` runs")
    parser.add_argument("--recorded", type=Path, help="take the GPU's figures from this record")
    parser.add_argument("--out", type=Path, help="the file to write")
    arguments = parser.parse_args()
    if arguments.launch:
        launch_all([case for case in cases() if case.copies or arguments.launch == "all"])
        return 0
    if arguments.recorded:
        document = json.loads(arguments.recorded.read_text())
        head = {
            key: value for key, value in document.items() if key not in ("compared", "differ", "launches")
        }
        real = document["launches"]
    else:
        head = {"schema": 1, "kind": "counts", **provenance(), "gpu": ptxkit.open_device("cuda").name}
        real = measured()
    launches = [compared(case, counts) for case, counts in zip(cases(), real, strict=True)]
    different = sum("differs" in launch for launch in launches)
    print(f"{head['gpu']}: {len(launches)} launches, {different} differ")
    short = re.sub(r"^nvidia_", "", re.sub(r"\W+", "_", head["gpu"].lower()))
    lines = ",\n".join(f"  {json.dumps(entry)}" for entry in launches)
    whole = {**head, "metrics": METRICS | COPIES, "compared": len(launches), "differ": different}
    text = json.dumps(whole, indent=1)[:-2] + f',\n "launches": [\n{lines}\n ]\n}}\n'
    (arguments.out or RESULTS / f"counts.{short}.json").write_text(text)
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
