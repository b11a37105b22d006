"""The Python interface as somebody who knows numpy, Numba or CuPy expects it, on both devices."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_kernels import AXPY, FILL
from virtual import needs_linux

import ptxkit
from ptxkit.device.protocol import Device
from ptxkit.diagnostics import PtxkitError
from ptxkit.running.devices import open_device


@pytest.fixture(params=["emu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest):
    with open_device(request.param) as opened:
        yield opened


def test_a_device_closes_at_the_end_of_its_block() -> None:
    with ptxkit.open_device("emu") as device:
        assert device.empty(1, "u32").nbytes == 4
    with pytest.raises(PtxkitError, match="P714"):
        device.empty(1, "u32")


def test_a_kernel_is_launched_as_numba_does(device: Device) -> None:
    kernel = device.load(FILL).kernel()
    out = device.zeros(100, "u32")
    kernel[4, 25](out, 7)
    assert out.numpy().tolist() == [7] * 100
    kernel[(2, 1, 1), (25,), 0, 0](out, value=8)
    assert out.numpy().tolist() == [8] * 50 + [7] * 50
    kernel[4, 25](value=9, out=out)
    assert out[99] == 9
    kernel.launch(4, 25, {"value": 10, "out": out})
    assert out[99] == 10
    assert repr(kernel[4, 25]) == "LaunchShape('fill', grid=4, block=25)"


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        (lambda kernel, out: kernel[1, 1](out, valeu=1), "no parameter `valeu`"),
        (lambda kernel, out: kernel[1, 1](out, out=out), "given twice"),
        (lambda kernel, out: kernel[1, 1](value=1), "needs `out`"),
        (lambda kernel, out: kernel.launch(1, 1, {"out": out}), "needs `value`"),
        (lambda kernel, out: kernel.prepare(1, 1, {"out": out}), "needs `value`"),
    ],
)
def test_names_of_arguments(device: Device, launch: Callable[..., Any], said: str) -> None:
    with pytest.raises(PtxkitError, match="P501") as caught:
        launch(device.load(FILL).kernel(), device.zeros(1, "u32"))
    assert said in str(caught.value)


def test_what_is_no_shape_of_a_launch(device: Device) -> None:
    kernel: Any = device.load(FILL).kernel()
    out = device.zeros(1, "u32")
    with pytest.raises(TypeError, match="expected `kernel"):
        kernel[4]
    with pytest.raises(TypeError, match="needs a grid and a block"):
        kernel(out, 1)


def test_launches_are_prepared(device: Device) -> None:
    kernel = device.load(FILL).kernel()
    first, second = device.zeros(32, "u32"), device.zeros(32, "u32")
    prepared = kernel.prepare(1, 32, {"value": 1, "out": first})
    prepared()
    prepared.bind("value", -1).bind(0, second)()
    assert first.numpy().tolist() == [1] * 32
    assert second.numpy().tolist() == [(1 << 32) - 1] * 32
    for bad in (lambda: prepared.bind("values", 1), lambda: kernel.prepare(1, 0, [first, 1])):
        with pytest.raises(PtxkitError):
            bad()


def test_signed_integers_go_where_compilers_write_unsigned_ones(device: Device) -> None:
    out = device.zeros(2, "s32")
    device.load(FILL).kernel()[1, 2](out, -5)
    assert out.numpy().tolist() == [-5, -5]
    x = device.zeros(2, "f32")
    with pytest.raises(PtxkitError, match="P503"):
        device.load(AXPY).kernel()[1, 2](-4, x, 1.0, 2)


def test_a_buffer_is_read_and_written_in_places(device: Device) -> None:
    given = np.arange(24, dtype=np.float32).reshape(4, 6)
    buffer = device.array(given)
    assert len(buffer) == 4
    assert buffer[1, 2] == 8
    np.testing.assert_array_equal(buffer[1:3, ::2], given[1:3, ::2])
    np.testing.assert_array_equal(np.asarray(buffer), given)
    np.testing.assert_array_equal(np.asarray(buffer, np.float64), given)
    np.testing.assert_array_equal(device.array(buffer).numpy(), given)
    buffer[2] = 1
    buffer[:, 0] = [7, 7, 7, 7]
    given[2], given[:, 0] = 1, 7
    np.testing.assert_array_equal(buffer.numpy(), given)
    assert [row.sum() for row in buffer] == list(given.sum(1))
    with pytest.raises(IndexError):
        buffer[4]
    with pytest.raises(ValueError, match="copy"):
        np.asarray(buffer, copy=False)


@pytest.mark.parametrize(
    "use",
    [np.sum, np.mean, np.sqrt, np.max, lambda b: np.add(b, 1), lambda b: np.ones(3) * b, np.array_equal],
)
def test_numpy_does_not_compute_with_device_memory(device: Device, use: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"buffer\.numpy\(\)|array_equal"):
        use(device.zeros(3, "f32"))


def test_what_lives_on_a_device_is_not_pickled(device: Device) -> None:
    loaded = device.load(FILL)
    buffer = device.zeros(3, "f32")
    for each in (device, loaded, loaded.kernel(), buffer, loaded.kernel().prepare(1, 1, [buffer, 1])):
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="can't be pickled"):
                way(each)


def test_an_emulators_memory_is_taken_without_a_copy() -> None:
    with ptxkit.open_device("emu") as device:
        buffer = device.empty(32, "u32")
        view = np.from_dlpack(buffer)
        device.load(FILL).kernel()[1, 32](buffer, 3)
        assert view.tolist() == [3] * 32
        with pytest.raises(BufferError):
            np.from_dlpack(buffer, copy=True)
    del buffer
    assert view.tolist() == [3] * 32


def test_undefined_elements_are_told_where_they_are_read() -> None:
    """A kernel copies what nobody wrote; other elements can be read, and the bad one after it is written."""
    text = FILL.replace("ld.param.u32 %r4, [value];", "ld.global.u32 %r4, [%d3+128];")
    with ptxkit.open_device("emu") as device:
        buffer = device.empty(64, "u32")
        buffer[32:48] = np.arange(16)
        device.load(text).kernel()[1, 32](buffer, 0)
        assert buffer[:16].tolist() == list(range(16))
        for bad in (lambda: buffer[20], buffer.numpy, lambda: np.asarray(buffer), lambda: buffer[10:20]):
            with pytest.raises(ptxkit.EmulatorFault, match="P606"):
                bad()
        buffer[16:32] = 5
        assert buffer.numpy()[:32].tolist() == [*range(16), *[5] * 16]


def test_objects_say_what_they_are(device: Device) -> None:
    from rich.pretty import pretty_repr

    loaded = device.load(FILL)
    buffer = device.zeros((3, 4), "bf16", name="weights")
    for each, said in [
        (loaded, "entries=['fill']"),
        (loaded.kernel(), "'fill', parameters='.u64 out, .u32 value'"),
        (buffer, "[3, 4], dtype='bfloat16'"),
        (ptxkit.parse(FILL), "entries=['fill'], target='sm_80'"),
    ]:
        assert said in repr(each)
        assert said in pretty_repr(each, max_width=200)
    assert ("name='weights'" in repr(buffer)) is (device.kind == "emu")
    assert repr(ptxkit.open_device("emu", order="eager", arch="sm_100a")) == (
        "Emulator(arch='sm_100a', order='eager')"
    )


@pytest.mark.long
def test_types_reach_those_who_use_the_package(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "uses.py"
    program.write_text(
        "import ptxkit\n"
        "with ptxkit.open_device('emu') as device:\n"
        "    kernel = device.load('k.ptx').kernel()\n"
        "    kernel.launch(grid=4, block=(32,), args=[device.zeros(3, 'f32'), -1])\n"
        "    kernel[4, 32](1)\n"
        "    reveal_type(device.array([1])[0])\n"
        "    kernel.launch(grid='4', block=1)\n"
        "    reveal_type(ptxkit.check)\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "uses.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1, done.stdout
    assert 'Argument "grid" to "launch"' in errors[0]
    assert "list[ptxkit.diagnostics.Diagnostic]" in done.stdout


@needs_linux
@pytest.mark.long
def test_the_same_on_a_virtual_gpu() -> None:
    """The GPU's own classes, driven through the driver API of `ptxkit exec`."""
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "cuda"]
    command = [sys.executable, "-m", "ptxkit", "exec", "-q", "--", sys.executable, *tests]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
