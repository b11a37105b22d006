"""CUTLASS's own examples, compiled to PTX by the nvcc in PATH.

    python tools/compilers/cutlass_examples.py SOURCES OUT --include FOLDER

SOURCES is a checkout of CUTLASS, or the wheel of an older one:
`pip download --no-deps nvidia-cutlass; unzip nvidia_cutlass-*.whl -d SOURCES`. FOLDER has the headers of
cuRAND, which nvidia-curand brings where the toolkit lacks them. Each example takes nvcc a minute or more;
those that OUT has already are left.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = {
    "sm_90a": (
        "cute/tutorial/hopper/wgmma_sm90.cu",
        "cute/tutorial/hopper/wgmma_tma_sm90.cu",
        "48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu",
        "54_hopper_fp8_warp_specialized_gemm/54_hopper_fp8_warp_specialized_gemm.cu",
        "62_hopper_sparse_gemm/62_hopper_sparse_gemm.cu",
        "57_hopper_grouped_gemm/57_hopper_grouped_gemm.cu",
    ),
    "sm_100a": (
        "cute/tutorial/blackwell/01_mma_sm100.cu",
        "cute/tutorial/blackwell/02_mma_tma_sm100.cu",
        "cute/tutorial/blackwell/03_mma_tma_multicast_sm100.cu",
        "cute/tutorial/blackwell/04_mma_tma_2sm_sm100.cu",
        "cute/tutorial/blackwell/05_mma_tma_epi_sm100.cu",
        "70_blackwell_gemm/70_blackwell_fp16_gemm.cu",
        "72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm.cu",
        "83_blackwell_sparse_gemm/83_blackwell_sparse_gemm.cu",
        "75_blackwell_grouped_gemm/75_blackwell_grouped_gemm.cu",
        "91_fp4_gemv/91_fp4_gemv.cu",
    ),
}
FLAGS = ("-ptx", "-std=c++17", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-w")
TIMEOUT = 900.0


def build(sources: Path, more: list[Path], example: str, target: str, out: Path) -> str | None:
    """Compile one example; what went wrong, or None."""
    path = sources / "examples" / example
    folders = (
        sources / "include",
        sources / "tools/util/include",
        sources / "examples/common",
        path.parent,
        *more,
    )
    command = ["nvcc", *FLAGS, f"-arch={target}", *(f"-I{folder}" for folder in folders)]
    try:
        done = subprocess.run(
            [*command, str(path), "-o", str(out)],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        out.unlink(missing_ok=True)
        return f"nvcc took longer than {TIMEOUT:.0f} s"
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["nvcc failed"])[0]


def versions(sources: Path) -> dict[str, str]:
    """The versions of CUTLASS and nvcc."""
    header = (sources / "include/cutlass/version.h").read_text(encoding="utf-8")
    numbers = [re.search(rf"CUTLASS_{part} (\d+)", header) for part in ("MAJOR", "MINOR", "PATCH")]
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"V([\d.]+)", said)
    return {
        "cutlass": ".".join(number[1] for number in numbers if number),
        "nvcc": release[1] if release else "unknown",
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--include", type=Path, action="append", default=[], help="further headers")
    parser.add_argument("--only", default="", help="examples whose path contains this")
    given = parser.parse_args()
    inside = given.sources / "cutlass_library/source"
    sources = inside if inside.exists() else given.sources
    given.out.mkdir(parents=True, exist_ok=True)
    failed = {}
    for target, examples in EXAMPLES.items():
        for example in examples:
            name = f"{Path(example).stem}.{target}.ptx"
            if given.only in example and not (given.out / name).exists():
                why = build(sources, given.include, example, target, given.out / name)
                print(f"{name}: {why or 'made'}", flush=True)
                if why:
                    failed[name] = why
    about = {"compiler": "CUTLASS", "versions": versions(sources), "failed": failed}
    (given.out / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
