"""Kernels that Triton and nvcc made, against numpy, on the emulator; and where there is a GPU on both, with
the same bits wherever their operations are exact:

    PTXKIT_REQUIRE_GPU=1 pytest -m gpu tests/test_emulator_corpus.py tests/test_emulator_gemm.py
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from asm_corpus import each_build
from both_devices import Both, device, gpu, in_order

from ptxkit.emulator import Emulator, EmulatorFault

__all__ = ["device", "gpu"]


def compared(device: Emulator | Both, exact: bool) -> Emulator | Both:
    """The device, told whether the bits of an emulator and a GPU must be the same."""
    if isinstance(device, Both):
        device.exact = exact
    return device


class Triton:
    """A Triton kernel on a device. Triton appends two scratch pointers, 0 where they are not used."""

    def __init__(self, path: Path, device: Emulator | Both, exact: bool = True) -> None:
        self.device: Any = compared(device, exact)
        meta = json.loads(path.with_suffix(".json").read_text())
        self.kernel = self.device.load(path).kernel()
        self.block, self.shared = meta["block"], meta["shared_mem_bytes"]

    def launch(self, grid: int, *args: Any) -> None:
        """One launch; there is never a warning."""
        self.kernel.launch((grid,), self.block, [*args, 0, 0], shared=self.shared)
        assert self.device.findings == []


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(1)


@each_build("add")
def test_add(path: Path, random: np.random.Generator, device: Any) -> None:
    t, n = Triton(path, device), 10_007
    a, b = random.standard_normal((2, n)).astype(np.float32)
    c = t.device.empty(n, np.float32)
    t.launch(-(-n // 1024), t.device.array(a), t.device.array(b), c, n)
    assert np.array_equal(c.numpy(), a + b)


@each_build("softmax")
def test_softmax(path: Path, random: np.random.Generator, device: Any) -> None:
    t, rows, n = Triton(path, device, exact=False), 37, 700
    x = random.standard_normal((rows, n)).astype(np.float32)
    y = t.device.empty((rows, n), np.float32)
    t.launch(rows, t.device.array(x), y, n, n, n)
    expected = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y.numpy(), expected / expected.sum(axis=1, keepdims=True), rtol=1e-5)


@each_build("layernorm")
def test_layernorm(path: Path, random: np.random.Generator, device: Any) -> None:
    t, rows, n = Triton(path, device, exact=False), 5, 3000
    x = random.standard_normal((rows, n)).astype(ml_dtypes.bfloat16)
    w, b = random.standard_normal((2, n)).astype(ml_dtypes.bfloat16)
    y = t.device.empty((rows, n), ml_dtypes.bfloat16)
    mean, rstd = t.device.empty(rows, np.float32), t.device.empty(rows, np.float32)
    t.launch(rows, t.device.array(x), t.device.array(w), t.device.array(b), y, mean, rstd, n, 1e-5)
    exact = x.astype(np.float64)
    mu = exact.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt(exact.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(mean.numpy(), mu[:, 0], atol=1e-6)
    np.testing.assert_allclose(rstd.numpy(), scale[:, 0], rtol=1e-5)
    expected = (exact - mu) * scale * w.astype(np.float64) + b.astype(np.float64)
    np.testing.assert_allclose(y.numpy().astype(np.float64), expected, rtol=1e-2, atol=1e-2)


@each_build("scan_sum")
def test_scan_sum(path: Path, random: np.random.Generator, device: Any) -> None:
    t, n = Triton(path, device), 500
    x = random.integers(-100, 100, n).astype(np.int32)
    y = t.device.empty(n, np.int32)
    t.launch(1, t.device.array(x), y, n)
    assert np.array_equal(y.numpy(), np.cumsum(x))


@each_build("convert")
def test_convert(path: Path, random: np.random.Generator, device: Any) -> None:
    t, n = Triton(path, device), 3000
    x = (random.standard_normal(n) * 10.0 ** random.integers(-8, 6, n)).astype(np.float32)
    types = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, np.float16, ml_dtypes.bfloat16)
    outputs = [t.device.empty(n, kind) for kind in types]
    t.launch(-(-n // 512), t.device.array(x), *outputs, n)
    for output, kind in zip(outputs, types, strict=True):
        got = output.numpy()
        largest = {ml_dtypes.float8_e4m3fn: 448, ml_dtypes.float8_e5m2: 57344}.get(kind)
        with np.errstate(over="ignore"):
            expected = (x if largest is None else np.clip(x, -largest, largest)).astype(kind)
        bits = f"u{got.itemsize}"
        assert np.array_equal(got.view(bits), expected.view(bits)), kind


@each_build("spinlock")
def test_spinlock(path: Path, random: np.random.Generator, device: Any) -> None:
    t, ctas = Triton(path, device), 12
    x = random.integers(-3, 9, (ctas, 128)).astype(np.float32)
    lock, total = t.device.array(np.zeros(1, np.int32)), t.device.array(np.zeros(129, np.float32))
    t.launch(ctas, lock, t.device.array(x), total)
    assert np.array_equal(total.numpy()[:128], x.sum(axis=0))
    assert total.numpy()[128] == x.max()


# ---- nvcc


class Nvcc:
    """A file of the nvcc corpus on a device."""

    def __init__(self, path: Path, device: Emulator | Both, exact: bool = True) -> None:
        self.device: Any = compared(device, exact)
        self.module = self.device.load(path)
        self.array, self.empty = self.device.array, self.device.empty

    def __call__(self, entry: str, grid: Any, block: Any, *args: Any, **rest: Any) -> None:
        kernel = self.module.kernel(entry)
        kernel.launch(grid if isinstance(grid, tuple) else (grid,), block, args, **rest)
        assert self.device.findings == []


@each_build("reduce")
def test_reduce_tree(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, out = random.integers(-9, 9, 5000).astype(np.float32), run.empty(4, np.float32)
    run("reduce_tree", 4, 256, run.array(x), out, 5000, shared=1024)
    assert out.numpy().sum() == x.sum()


@each_build("reduce")
def test_reduce_shfl(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, out = random.integers(-9, 9, 5000).astype(np.float32), run.array(np.zeros(1, np.float32))
    run("reduce_shfl", 4, 160, run.array(x), out, 5000)
    assert out.numpy()[0] == x.sum()


@each_build("reduce")
def test_cooperative_groups_reduce(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, out = random.integers(-99, 99, 500).astype(np.int32), run.empty(1500, np.int32)
    run("cg_reduce", 5, 128, run.array(x), out, 500)
    warps = np.append(x, np.zeros(12, np.int32)).reshape(-1, 32)
    columns = (np.repeat(warps.sum(1), 32), np.repeat(warps.max(1), 32), np.cumsum(warps, axis=1).ravel())
    assert np.array_equal(out.numpy().reshape(-1, 3), np.stack(columns, axis=1)[:500])


@each_build("reduce", "sm_80", "sm_90a", "sm_100a", "sm_120a")
def test_redux(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, out = random.integers(0, 2**32, 32).astype(np.uint32), run.empty(96, np.uint32)
    run("redux", 1, 32, run.array(x), out)
    assert (out.numpy().reshape(-1, 3) == [x.sum(dtype=np.uint32), x.max(), np.bitwise_xor.reduce(x)]).all()


@each_build("control")
def test_switch(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    n = 64
    t, x, out = (
        np.arange(n, dtype=np.int32),
        random.integers(-2, 14, n).astype(np.int32),
        run.empty(n, np.int32),
    )
    run("sw", 1, n, run.array(x), out)
    ones = np.array([int(i).bit_count() for i in t], np.int32)
    cases = [t, t * t, t ^ 55, t // 3, t % 7, -t, t << 3, t >> 1, ~t, t * np.int32(1234567), ones]
    expected = [cases[x[i]][i] if 0 <= x[i] < len(cases) else 42 for i in range(n)]
    assert np.array_equal(out.numpy(), expected)


@each_build("control")
def test_recursion(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, out = random.integers(0, 12, 64).astype(np.int32), run.empty(64, np.int32)
    run("recurse", 1, 64, run.array(x), out)
    fibonacci = [0, 1]
    while len(fibonacci) < 12:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert np.array_equal(out.numpy(), np.take(fibonacci, x))


@each_build("control")
def test_function_pointers(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    s, a = random.integers(0, 9, 64).astype(np.int32), random.standard_normal(64).astype(np.float32)
    out = run.empty(64, np.float32)
    run("fptr", 1, 64, run.array(s), run.array(a), out)
    b = a + np.float32(1)
    assert np.array_equal(out.numpy(), np.choose(s % 3, [a + b, a * b, np.maximum(a, b)]))


@each_build("control")
def test_virtual_functions(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device, exact=False)
    x, out = random.standard_normal(64).astype(np.float32), run.empty(64, np.float32)
    run("virt", 1, 64, run.array(x), out)
    expected = np.where(np.arange(64) & 1, x * x * 2, np.float32(3.14159) * x * x * 2)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)


@each_build("control")
def test_struct_argument(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    d, c = random.integers(0, 9, 5).astype(np.float64), random.integers(-9, 9, 7).astype(np.int8)
    packed = d.tobytes() + np.int32(77).tobytes() + c.tobytes() + bytes(5)
    out = run.empty(64, np.float64)
    run("structarg", 1, 64, packed, out)
    expected = []
    for k in range(64):
        doubles, chars = d.copy(), c.astype(int)
        doubles[k % 5] += k
        chars[k % 7] = k
        expected.append((77 ^ k) + doubles.sum() + chars.sum())
    assert np.array_equal(out.numpy(), expected)


@each_build("control")
def test_local_array(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, n, out = random.integers(-50, 50, 64).astype(np.int32), 30, run.empty(64, np.uint32)
    run("localarr", 1, 64, run.array(x), out, n)
    expected = []
    for value in map(int, x):
        a = [i * value for i in range(64)]
        for i in range(n):
            j, k = value * i & 63, i * 7 & 63
            a[j], a[k] = a[k], a[j]
        s = 0
        for i in range(64):
            s = s * 31 + a[i] & 0xFFFF_FFFF
        expected.append(s)
    assert np.array_equal(out.numpy(), np.array(expected, np.uint32))


@each_build("memory")
def test_constants(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, out = random.integers(-9, 9, 64).astype(np.float32), run.empty(64, np.float32)
    run("consts", 1, 64, run.array(x), out, 7)
    coefficients = np.arange(1, 17, dtype=np.float32)
    assert np.array_equal(out.numpy(), x * coefficients[(np.arange(64) + 7) & 15] + b"hello"[2])


@each_build("memory")
def test_vectors(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    a = random.standard_normal((64, 4)).astype(np.float32)
    b = random.integers(0, 1000, (64, 2)).astype(np.uint32)
    c = random.integers(-99, 99, (64, 4)).astype(np.int8)
    out, shifted = run.empty((64, 4), np.float32), run.empty(64, np.uint16)
    run("vec", 2, 32, run.array(a), run.array(b), out, shifted, run.array(c))
    expected = a.copy()
    expected[:, 0] += b[:, 0].astype(np.float32)
    expected[:, 1] -= b[:, 1].astype(np.float32)
    expected[:, 2] *= c[:, 0].astype(np.float32)
    expected[:, 3] += c[:, 3].astype(np.float32)
    assert np.array_equal(out.numpy(), expected)
    assert np.array_equal(shifted.numpy(), (b[:, 0] >> 3).astype(np.uint16))


@each_build("memory")
def test_cache_hints(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    a, out = random.integers(-9, 9, (5, 32)).astype(np.float32), run.empty((4, 32), np.float32)
    run("cachehints", 1, 32, run.array(a), out, 0)
    assert np.array_equal(out.numpy(), np.stack([a.sum(axis=0), *(np.full(32, i) for i in (1, 2, 3))]))


@each_build("memory")
def test_dynamic_shared_memory(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    n = 96
    x, out, t = random.integers(-999, 999, n).astype(np.int32), run.empty(n, np.int32), np.arange(n)
    run("dynsmem", 1, n, run.array(x), out, n, shared=6 * n)
    assert np.array_equal(out.numpy(), x[n - 1 - t] + (x * 3).astype(np.int16)[t * 5 % n])


@each_build("memory")
def test_transpose(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, out = random.standard_normal((70, 70)).astype(np.float32), run.empty((70, 70), np.float32)
    run("transpose", (3, 3), (32, 8), run.array(x), out, 70)
    assert np.array_equal(out.numpy(), x.T)
    assert run.device.counts.barriers == 9


@each_build("memory")
def test_generic_pointers(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    g, out, t = random.integers(0, 99, 64).astype(np.int32), run.empty(64, np.int32), np.arange(64)
    run("genericptr", 1, 64, run.array(g), out, 9)
    local = np.array([1, 2, 3, 9])
    by_space = (g[t & 3] + 2000, (t & 3) * 2 + 1000, local[t & 3] + 4000)
    assert np.array_equal(out.numpy(), np.choose(t % 3, by_space))


@each_build("memory")
def test_malloc_and_use_after_free(path: Path) -> None:
    """The kernel frees its memory in odd threads, and then clears it in all of them."""
    run = Nvcc(path, Emulator())
    with pytest.raises(EmulatorFault) as caught:
        run("mallocfree", 1, 32, run.empty(32, np.uint64))
    (found,) = caught.value.diagnostics
    assert found.code == "P604"
    assert "thread (1, 0, 0)" in found.notes[0]
    assert "freed: by thread (1, 0, 0)" in found.notes[1]


def counted(start: int, turns: int, step: Any) -> Iterator[int]:
    for _ in range(turns):
        yield start
        start = step(start)


@each_build("atomics")
def test_atomics(path: Path, device: Any) -> None:
    run = Nvcc(path, device, exact=False)
    n, t = 96, np.arange(96)
    i, u = np.array([5, 0, 0, 0, 0, 0, 0, 0], np.int32), np.zeros(1040, np.uint32)
    u[0] = 0xFFFF_FFFF
    initial = (i, u, np.zeros(2, np.uint64), np.zeros(2, np.float32), np.zeros(1))
    buffers = [run.array(array) for array in initial]
    run("atoms", 1, n, *buffers)
    i, u, wide, f, d = (buffer.numpy() for buffer in buffers)
    assert list(i[:3]) == [5 + t.sum(), 1 - n, n - 1]
    assert list(u[:3]) == [0, 0xFFFF_FFFF, np.bitwise_xor.reduce(t * 77)]
    up = list(counted(0, n, lambda v: 0 if v >= 9 else v + 1))
    down = list(counted(0, n, lambda v: 5 if v == 0 or v > 5 else v - 1))
    assert list(wide) == [(t << 20).sum(), (n - 1) ** 2]
    assert (f[0], d[0]) == (1.5 * t.sum(), 0.25 * t.sum())
    if in_order(device):
        assert (list(u[16 : 16 + n]), list(u[528 : 528 + n])) == (up, down)
        assert (i[3], i[4], f[1]) == (n - 1, 1, n - 1)
    else:
        assert (sorted(u[16 : 16 + n]), sorted(u[528 : 528 + n])) == (sorted(up), sorted(down))
        assert i[3] in t
        assert i[4] - 1 in t
        assert f[1] in t


@each_build("atomics")
def test_half_atomics(path: Path, device: Any) -> None:
    run = Nvcc(path, device)
    half, bfloat = run.array(np.zeros(2, np.float16)), run.array(np.zeros(2, ml_dtypes.bfloat16))
    single = run.array(np.zeros(1, np.float16))
    run("atoms_half", 1, 32, half, bfloat, single)
    assert [*half.numpy(), *bfloat.numpy(), *single.numpy()] == [32, 496, 32, 64, 16]


@each_build("atomics")
def test_scoped_atomics(path: Path, device: Any) -> None:
    """Each thread stores back the value it took from the counter; the last one's stays. The largest of them
    is kept, too."""
    run = Nvcc(path, device, exact=False)
    g, out = run.array(np.array([3, 0], np.int32)), run.empty(64, np.int32)
    run("atoms_scoped", 1, 64, g, out)
    counter, largest = g.numpy(), out.numpy()[3::4] - 5
    assert counter[1] == 5
    assert (out.numpy().reshape(-1, 4)[:, :3] == 16 + 5).all()
    assert (largest == largest[0]).all()
    assert max(16, counter[0]) <= largest[0] <= 66
    if in_order(device):
        assert (counter[0], largest[0]) == (66, 66)


@each_build("atomics")
def test_last_block(path: Path, random: np.random.Generator, device: Any) -> None:
    run = Nvcc(path, device)
    x, out = random.integers(0, 9, (8, 64)).astype(np.float32), run.array(np.zeros(1, np.float32))
    run(
        "lastblock",
        8,
        64,
        run.array(x),
        run.array(np.zeros(8, np.float32)),
        run.array(np.zeros(1, np.uint32)),
        out,
    )
    assert out.numpy()[0] == x.sum()


@each_build("printf")
def test_printf(path: Path, device: Any, capfd: pytest.CaptureFixture[str]) -> None:
    run = Nvcc(path, device)
    capfd.readouterr()
    run("pf", 1, 32, run.array(np.arange(32, dtype=np.int32)), run.array(np.arange(32) / 2))
    ctypes.CDLL(None).fflush(None)
    expected = [f"t={t} x={t} d={t / 2:f} s=lit\n" for t in range(4)]
    lines = capfd.readouterr().out.splitlines(keepends=True)
    assert sorted(lines) == sorted(expected * (2 if isinstance(device, Both) else 1))
    if in_order(device):
        assert lines == expected


@each_build("printf")
def test_assertion(path: Path) -> None:
    run = Nvcc(path, Emulator())
    x = np.arange(32, dtype=np.int32)
    x[9] = -1
    with pytest.raises(EmulatorFault) as caught:
        run("pf", 1, 32, run.array(x), run.array(np.arange(32) / 2))
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("P610", "assertion failed: `x[threadIdx.x]>=0`")
    source = path.with_name("printf.cu").read_text().split("\n")
    (line,) = [number for number, text in enumerate(source, 1) if "assert(" in text]
    assert found.notes == (
        "thread (9, 0, 0) of CTA (0, 0, 0)",
        f"in printf.cu:{line}, `void pf(const int *, const double *)`",
    )
