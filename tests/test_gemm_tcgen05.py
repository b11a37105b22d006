"""gemm_tcgen05.ptx on magnitudes over nearly all of bf16's range."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from command import codes, here


@pytest.mark.parametrize(("M", "N", "K"), [(72, 40, 136), (200, 264, 72)])
def test_magnitudes_over_nearly_all_of_the_range(tmp_path: Path, M: int, N: int, K: int) -> None:
    """Rows scaled by powers of two from 2**-55 to 2**55; nothing is negative, so that nothing cancels."""
    rng = np.random.default_rng(0)
    given, matrices = [], {}
    for name, rows in (("a", M), ("b", N)):
        scales = np.exp2(rng.integers(-55, 56, (rows, 1)))
        values = (np.abs(rng.standard_normal((rows, K))) * scales).astype(ml_dtypes.bfloat16)
        matrices[name] = values.astype(float)
        np.save(tmp_path / f"{name}.npy", values.view(np.uint16))
        given += ["--arg", f"{name}=@{tmp_path}/{name}.npy"]
    given += [part for name, value in (("M", M), ("N", N), ("K", K)) for part in ("-p", f"{name}={value}")]
    done = here("run", "gemm_tcgen05", "--device", "emu", *given, "--save", f"d={tmp_path}/d.npy")
    assert done.returncode == 0, done.stdout + done.stderr
    assert codes(done.stderr + done.stdout) == []
    d = np.load(tmp_path / "d.npy").view(ml_dtypes.bfloat16).astype(float)
    expected = matrices["a"] @ matrices["b"].T
    assert expected.max() / expected.min() > 2.0**150
    assert (np.abs(d - expected) <= 1.01 * 2.0**-8 * expected).all()
