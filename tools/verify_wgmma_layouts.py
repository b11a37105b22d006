"""Multiply by wgmma through every layout, descriptor and fragment of ptxkit, and record the outcome.

    python tools/verify_wgmma_layouts.py [--device cuda] [--out bench/results/wgmma_layouts.h200.json]

Needs a GPU of compute capability 9.0. The kernels and cases are those of tests/wgmma_kernels.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import wgmma_kernels

import ptxkit
from ptxkit.diagnostics import PtxkitError
from ptxkit.machine.provenance import provenance


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, help="keep the outcome as JSON")
    arguments = parser.parse_args()
    results = []
    try:
        device = ptxkit.open_device(arguments.device)
        for case in wgmma_kernels.cases():
            made, expected = wgmma_kernels.run(device, case)
            wrong = int((made != expected).sum())
            results.append({"case": case.name, "elements": expected.size, "wrong": wrong})
            if wrong:
                at = tuple(int(i) for i in np.argwhere(made != expected)[0])
                print(f"{case.name}: {wrong} of {expected.size} wrong, first at {at}")
    except PtxkitError as failed:
        print(failed, file=sys.stderr)
        return 3
    passed = sum(result["wrong"] == 0 for result in results)
    print(f"{device.name}: {passed} of {len(results)} combinations multiply correctly")
    if arguments.out:
        head = {"schema": 1, "kind": "wgmma_layouts", **provenance(), "gpu": device.name}
        arguments.out.write_text(json.dumps({**head, "passed": passed, "results": results}, indent=1) + "\n")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
