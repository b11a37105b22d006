"""CUDA C++ sources compiled to PTX by nvcc for every target.

    python tools/compilers/nvcc_sources.py OUT SOURCE.cu.. --nvcc NVCC --include FOLDER --targets sm_90a

nvcc of a release later than the toolkit's comes from packages, into `nvidia/cu13` of a Python's packages:
`pip install nvidia-cuda-nvcc nvidia-cuda-cccl nvidia-cuda-runtime`. FOLDER is then its `include`, and, given
once more, its `include/cccl`. What OUT has already is left.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from ptxkit import targets

FLAGS = ("-x", "cu", "-ptx", "-std=c++17", "--expt-relaxed-constexpr", "-w")
TIMEOUT = 300.0


def build(nvcc: str, include: list[Path], source: Path, target: str, out: Path) -> str | None:
    """Compile one source; what went wrong, or None."""
    flags = (*FLAGS, f"-arch={target}", *(f"-I{folder}" for folder in include))
    command = [nvcc, *flags, str(source), "-o", str(out)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        out.unlink(missing_ok=True)
        return f"nvcc took longer than {TIMEOUT:.0f} s"
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["nvcc failed"])[0]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--targets", nargs="+", default=[*targets.SUPPORTED])
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    about = given.out / "about.json"
    failed = json.loads(about.read_text(encoding="utf-8"))["failed"] if about.exists() else {}
    for source in given.sources:
        for target in given.targets:
            name = f"{source.stem}.{target}.ptx"
            if (given.out / name).exists():
                continue
            failed.pop(name, None)
            why = build(given.nvcc, given.include, source, target, given.out / name)
            print(f"{name}: {why or 'made'}", flush=True)
            if why:
                failed[name] = why
    said = subprocess.run([given.nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"V([\d.]+)", said)
    document = {
        "compiler": "nvcc",
        "versions": {"nvcc": release[1] if release else "unknown"},
        "failed": failed,
    }
    about.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
