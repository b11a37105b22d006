"""Wrong descriptors, swizzles and indexes of products: the first sentence of a finding names the cause."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ptxkit.__main__ import main
from ptxkit.running.session import Session

ROOT = Path(__file__).parents[1]
WGMMA, TCGEN05, SCALED, PAIR = (
    ROOT / "docs" / "tutorial" / folder / f"{name}.ptx"
    for folder, name in (
        ("06-wgmma", "wgmma"),
        ("08-tcgen05", "tcgen05"),
        ("09-block-scaled", "block_scaled"),
        ("10-two-ctas", "pair"),
    )
)
KERNELS = ROOT / "kernels_ptx"
A, B = (f"or.b64 %{side}_desc, %{side}_desc, 0x4000004000010000;" for side in "ab")
A5, B5 = (f"or.b64 %{side}_desc, %{side}_desc, 0x4000404000010000;" for side in "ab")
STEP_A, STEP_B = (f"add.u64 %{side}_desc, %{side}_desc, 2;" for side in "ab")
BOTH = f"    {STEP_A}\n    {STEP_B}\n"
BOX = '// box = [64, 64]\n// swizzle = "128B"'
PLANTED = [
    (WGMMA, A, A.replace("0x4", "0x0"), "matrix A was written with a 128-byte swizzle and is read without"),
    (
        WGMMA,
        B,
        B.replace("0x4", "0x8"),
        "matrix B was written with a 128-byte swizzle and is read with a 64-",
    ),
    (
        WGMMA,
        A,
        A.replace("0x4000004", "0x4000002"),
        "matrix A has a stride byte offset of 512 in its descriptor, and",
    ),
    (
        WGMMA,
        B,
        B.replace("0x4000004", "0x4000008"),
        "matrix B has a stride byte offset of 2048 in its descriptor, and",
    ),
    (WGMMA, A, A.replace("0x4000", "0x4002"), "matrix A has base offset 1 in its descriptor and lies with 0"),
    (
        WGMMA,
        STEP_A,
        STEP_A.replace("2;", "1;"),
        "multiplies elements 8 to 23 of A along K with elements 16 to",
    ),
    (WGMMA, STEP_B, STEP_B.replace("2;", "4;"), "multiplies elements 16 to 31 of A along K with elements 32"),
    (WGMMA, "shr.u32 %a_at, %a_at, 4;", "", "matrix A lies at 0x400, and its descriptor has that address"),
    (
        WGMMA,
        BOX,
        BOX.replace("128B", "none"),
        "matrix A was written without a swizzle and is read with a 128",
    ),
    (
        WGMMA,
        "b_desc, 0, 1, 1, 0, 0;",
        "b_desc, 0, 1, 1, 0, 1;",
        "reads A as K-major and B as MN-major, and K",
    ),
    (WGMMA, "shr.u32 %b_at, %b_at, 4;", "mov.u32 %b_at, %a_at;", "matrices A and B of the product"),
    (
        TCGEN05,
        A5,
        A5.replace("0x4", "0xc"),
        "matrix A was written with a 128-byte swizzle and is read with a 32",
    ),
    (TCGEN05, B5, B5.replace("40400", "40100"), "matrix B has a stride byte offset of 256 in its descriptor"),
    (TCGEN05, BOTH, "", "elements 16 to 31 along K are taken by no product"),
    (TCGEN05, "0x08080490", "0x08100490", "has 64 elements along N, and 32 of them were copied"),
    (TCGEN05, "shr.u32 %b_at, %b_at, 4;", "", "matrix B lies at 0x4400, and its descriptor has that address"),
    (
        SCALED,
        STEP_B,
        STEP_B.replace("2;", "1;"),
        "elements 64 to 127 of A along K with elements 32 to 95 of B",
    ),
    (
        SCALED,
        B5,
        B5.replace("0x4", "0x8"),
        "matrix B was written with a 128-byte swizzle and is read with a 64",
    ),
    (
        PAIR,
        B5,
        B5.replace("40400", "40200"),
        "matrix B has a stride byte offset of 512 in its descriptor, and",
    ),
    (
        PAIR,
        STEP_A,
        STEP_A.replace("2;", "3;"),
        "multiplies elements 24 to 39 of A along K with elements 16 to",
    ),
]


@pytest.mark.parametrize(
    ("kernel", "old", "new", "says"), PLANTED, ids=[f"{one[0].stem}: {one[3]}" for one in PLANTED]
)
def test_the_cause_of_a_wrong_result_opens_its_finding(
    tmp_path: Path, kernel: Path, old: str, new: str, says: str
) -> None:
    text = kernel.read_text()
    assert old in text
    path = tmp_path / kernel.name
    path.write_text(text.replace(old, new))
    command = [sys.executable, "-m", "ptxkit", "run", str(path), "--device", "emu", "--preset", "smoke"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode in (1, 4)
    (first,) = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error[")][:1]
    opening = first.partition("]: ")[2]
    assert says in opening.partition(": expected")[0]


RIGHT = [WGMMA, TCGEN05, SCALED, PAIR]
RIGHT += [
    KERNELS / f"{name}.ptx"
    for name in ("attn_dist", "gemm_nvfp4", "gemm_tcgen05", "gemm_ue5m3", "gemm_wgmma")
]
RIGHT += [KERNELS / "roofs" / "wgmma_tf32.ptx", KERNELS / "gemv_tcgen05.ptx"]
RIGHT += [ROOT / "tests" / "data" / "mma_tile.ptx", KERNELS / "roofs" / "mma_f16.ptx"]
LONG = [KERNELS / f"{name}.ptx" for name in ("sparse_attn_bwd", "flash_attn", "gemm_fp8")]


@pytest.mark.parametrize(
    "kernel",
    [*RIGHT, *(pytest.param(path, marks=pytest.mark.slow) for path in LONG)],
    ids=lambda path: path.stem,
)
def test_nothing_is_wrong_with_how_right_kernels_read(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    causes: list[str | None] = []

    def explained(session: Session, on_device: Any, case: Any, found: list[Any], *_: Any) -> list[Any]:
        causes.append(on_device.cause(case.inputs))
        return found

    monkeypatch.setattr(Session, "_explained", explained)
    assert main(["run", str(kernel), "--device", "emu", "--preset", "smoke"]) == 0
    assert causes == [None]
