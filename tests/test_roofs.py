"""The kernels of the roofs: right on the emulator and on a GPU."""

from __future__ import annotations

import pytest
from command import here, ptxkit

from ptxkit.bench.bench import arithmetic_kernel
from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import capabilities
from ptxkit.shipped import kernels

ARITHMETIC = sorted(name for name in kernels.shipped() if name.startswith(("roofs/mma_", "roofs/wgmma_")))


def test_every_roof_is_a_shipped_kernel() -> None:
    assert len(ARITHMETIC) == 9


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_roofs_are_right_on_the_emulator(name: str) -> None:
    done = here("run", name, "--device", "emu", "--preset", "all")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.gpu
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_roofs_are_right_on_a_gpu(name: str) -> None:
    if "wgmma" in name and (9, 0) not in capabilities():
        pytest.skip("wgmma needs compute capability 9.0")
    many = ["-p", "CTAS=5", "-p", "WRITERS=5", "-p", "STEPS=1000"]
    for sizes in (["--preset", "all"], [*many, "-p", "ADD=0"] if "wgmma" in name else many):
        done = ptxkit("run", name, "--device", "cuda", *sizes)
        assert done.returncode == 0, done.stdout + done.stderr


def test_which_kernel_is_the_roof() -> None:
    assert arithmetic_kernel("bf16", (9, 0)) == ("roofs/wgmma_bf16.ptx", 2 * 128 * 256 * 64)
    assert arithmetic_kernel("e4m3", (9, 0)) == ("roofs/wgmma_e4m3.ptx", 2 * 128 * 256 * 128)
    assert arithmetic_kernel("tf32", (8, 0)) == ("roofs/mma_tf32.ptx", 2 * 8 * 32 * 64 * 8)
    for dtype, capability in (("e4m3", (8, 0)), ("bf16", (7, 5)), ("e2m1", (9, 0)), ("no type", (9, 0))):
        with pytest.raises(PtxkitError) as caught:
            arithmetic_kernel(dtype, capability)
        assert caught.value.diagnostics[0].code == "P808"
