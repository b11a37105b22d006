"""Run every file of the tutorial for GPUs before Blackwell, the broken ones too, and keep what came of it.

    python tools/run_tutorial.py bench/results/tutorial.h200.json [--commit COMMIT]

A broken file may give a right result, a wrong one, or stop the GPU: each runs in a process of its own.
How long each took goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ptxkit
from ptxkit.machine.provenance import provenance

TUTORIAL = Path(__file__).resolve().parents[1] / "docs" / "tutorial"


def run(file: Path, device: str = "cuda:0") -> dict[str, Any]:
    """One run: its exit code, the first error's code, and how many elements were wrong."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "ptxkit", "run", str(file), "--device", device, "--timeout", "5", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    print(f"{file.name}: exit code {done.returncode}, {time.monotonic() - begun:.1f} s", file=sys.stderr)
    document = json.loads(done.stdout)
    reports = document.get("runs", [])
    found = [one for report in reports for one in report["diagnostics"]] + document.get("diagnostics", [])
    errors = [one["code"] for one in found if one["severity"] == "error"]
    outputs = [output for report in reports for output in report.get("outputs", [])]
    return {
        "exit": done.returncode,
        "code": errors[0] if errors else None,
        "wrong": sum(output["wrong"] for output in outputs),
        "elements": sum(output["elements"] for output in outputs),
    }


def steps() -> list[tuple[str, Path, Path]]:
    """The steps that are for GPUs before Blackwell: folder, right file, broken file."""
    found = []
    for broken in sorted(TUTORIAL.glob("*/*_broken.ptx")):
        right = broken.with_name(broken.name.replace("_broken", ""))
        if "\n.target sm_100" not in right.read_text("utf-8"):
            found.append((broken.parent.name, right, broken))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--commit", help="what is measured, where there is no checkout to ask")
    chosen = parser.parse_args()
    gpu = ptxkit.open_device("cuda").describe()
    document = {"schema": 1, "kind": "tutorial", **provenance(), "device": gpu["name"], "gpu": gpu}
    document["commit"] = document["commit"] or chosen.commit
    found = steps()
    with ThreadPoolExecutor(4) as pool:
        rights = pool.map(run, (right for _, right, _ in found))
        brokens = pool.map(run, (broken for _, _, broken in found))
        document["steps"] = [
            {"step": name, "right": right, "broken": broken}
            for (name, _, _), right, broken in zip(found, rights, brokens, strict=True)
        ]
    chosen.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
