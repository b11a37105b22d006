"""The Python API in wrong hands: what is taken for what, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_kernels import DOUBLE, without_card

import ptxkit
from ptxkit.device.protocol import Buffer, Device, Kernel

TEXT = without_card(DOUBLE)
MAP: dict[str, Any] = {"dtype": "bf16", "shape": (64, 64), "strides": (128,), "box": (8, 64)}


@pytest.fixture
def device() -> Device:
    return ptxkit.open_device("emu")


@pytest.fixture
def kernel(device: Device) -> Kernel:
    return device.load(TEXT).kernel()


def refusal(call: Callable[[], Any]) -> ptxkit.Diagnostic:
    with pytest.raises(ptxkit.PtxkitError) as caught:
        call()
    return caught.value.diagnostics[0]


# ---- arguments


@pytest.mark.parametrize(
    "count", [8, True, np.int32(8), np.uint8(8), np.True_, np.array(8), np.array(8, np.int8), b"\x08\0\0\0"]
)
def test_what_counts_as_a_number(device: Device, kernel: Kernel, count: Any) -> None:
    x, y = device.array(np.arange(8, dtype=np.float32)), device.array(np.zeros(8, np.float32))
    kernel.launch(grid=1, block=32, args=[x, y, count])
    number = count if not isinstance(count, bytes) else 8
    assert np.array_equal(y.numpy(), np.where(np.arange(8) < int(number), 2 * np.arange(8), 0))


@pytest.mark.parametrize(
    ("count", "code"),
    [
        (8.0, "P502"),
        (np.float32(8), "P502"),
        (float("nan"), "P502"),
        ("8", "P502"),
        (None, "P502"),
        (3j, "P502"),
        ([8], "P502"),
        (np.array([8]), "P502"),
        (int, "P502"),
        (np.float32, "P502"),
        (-(2**31) - 1, "P503"),
        (2**32, "P503"),
        (10**40, "P503"),
        (b"\x08", "P505"),
    ],
)
def test_what_is_no_number(device: Device, kernel: Kernel, count: Any, code: str) -> None:
    x = device.empty(8, "f32")
    found = refusal(lambda: kernel.launch(grid=1, block=32, args=[x, x, count]))
    assert (found.code, "argument 2, `n`" in found.message) == (code, True)


@pytest.mark.parametrize(
    ("pointer", "code"),
    [
        (None, "P502"),
        (1.5, "P502"),
        ("x", "P502"),
        (object(), "P502"),
        (np.zeros(8, np.float32), "P502"),
        (np.float32, "P502"),
        (-(2**63) - 1, "P503"),
        (2**64, "P503"),
    ],
)
def test_what_is_no_pointer(device: Device, kernel: Kernel, pointer: Any, code: str) -> None:
    x = device.empty(8, "f32")
    found = refusal(lambda: kernel.launch(grid=1, block=32, args=[pointer, x, 8]))
    assert (found.code, "argument 0, `x`" in found.message) == (code, True)


@pytest.mark.parametrize(
    "args", [3, "abc", {"x": 1}, {"X": 1, "y": 2, "n": 3}, np.array([1, 2, 3]), None, (n for n in range(3))]
)
def test_what_is_no_list_of_arguments(kernel: Kernel, args: Any) -> None:
    assert refusal(lambda: kernel.launch(grid=1, block=32, args=args)).code == "P501"


class OnGpu:
    """An array that lies in the memory of a GPU."""

    __cuda_array_interface__ = {
        "shape": (8,),
        "typestr": "<f4",
        "data": (0x7F0000000000, False),
        "version": 3,
    }


def test_buffers_of_other_devices(device: Device, kernel: Kernel) -> None:
    x, other = device.empty(8, "f32"), ptxkit.open_device("emu")
    for stranger in (other.array(np.ones(8, np.float32)), OnGpu()):
        found = refusal(lambda given=stranger: kernel.launch(grid=1, block=32, args=[given, x, 8]))
        assert found.code == "P509"


def test_freed_buffers(device: Device, kernel: Kernel) -> None:
    x, y = device.array(np.ones(8, np.float32)), device.empty(8, "f32")
    x.free()
    x.free()
    uses: list[Callable[[], Any]] = [
        x.numpy,
        lambda: x.write(np.ones(8, np.float32)),
        lambda: kernel.launch(grid=1, block=32, args=[x, y, 8]),
    ]
    for use in uses:
        assert refusal(use).code == "P604"


def test_a_closed_emulator(device: Device, kernel: Kernel) -> None:
    """As a closed GPU, in tests/test_driver_memory.py; what was read before stays, and another one works."""
    x, y = device.array(np.ones(8, np.float32)), device.empty(8, "f32")
    kernel.launch(grid=1, block=32, args=[x, y, 8])
    device.close()
    device.close()
    uses: list[Callable[[], Any]] = [
        lambda: device.load(TEXT),
        lambda: device.array(np.ones(8, np.float32)),
        lambda: device.empty(8, "f32"),
        device.synchronize,
        lambda: kernel.launch(grid=1, block=32, args=[x, y, 8]),
        lambda: kernel.launch(grid=1, block=32, args=[0, 0, 0]),
        x.numpy,
        lambda: x.write(np.ones(8, np.float32)),
    ]
    for use in uses:
        assert refusal(use).code == "P714"
    x.free()
    assert device.findings == []
    assert ptxkit.open_device("emu").empty(8, "f32").nbytes == 32


# ---- arrays


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.float32)[::3],
        np.arange(8, dtype=np.float32)[::-1],
        np.asfortranarray(np.arange(8, dtype=np.float32).reshape(2, 4)),
        np.broadcast_to(np.float32(3), 8),
        np.arange(8, dtype=">f4"),
        np.arange(8, dtype=np.float32),
    ],
)
def test_arrays_of_any_layout(device: Device, array: np.ndarray) -> None:
    """What is copied is the numbers, in the order of C and of this machine."""
    made = device.array(array)
    assert np.array_equal(made.numpy(), array)
    assert made.dtype == np.float32
    written = device.empty(array.shape, "f32")
    written.write(array)
    assert np.array_equal(written.numpy(), array)


@pytest.mark.parametrize("array", [None, object(), [object()], np.array([{}])])
def test_what_is_no_array(device: Device, array: Any) -> None:
    assert refusal(lambda: device.array(array)).code == "P517"
    buffer: Buffer = device.empty(1, "u64")
    assert refusal(lambda: buffer.write(array)).code == "P517"


# ---- the rest of the public names


@pytest.mark.parametrize("thing", [None, 3, b"text\n", [], ptxkit.parse(TEXT)])
def test_what_is_no_text(device: Device, thing: Any) -> None:
    with pytest.raises(TypeError, match="expected PTX text or the path of a file, found"):
        ptxkit.parse(thing)
    if not isinstance(thing, ptxkit.Module):
        with pytest.raises(TypeError, match="expected PTX text or the path of a file, found"):
            device.load(thing)


@pytest.mark.parametrize("thing", [None, 3, TEXT, "gemv.ptx"])
def test_what_is_no_module(thing: Any) -> None:
    for function in (ptxkit.check, ptxkit.write):
        with pytest.raises(TypeError, match=r"expected a module, as .* makes it, found"):
            function(thing)


@pytest.mark.parametrize("target", ["sm_1", "", 90, "SM_90"])
def test_what_is_no_target(target: Any) -> None:
    assert refusal(lambda: ptxkit.check(ptxkit.parse(TEXT), target=target)).code == "P305"
    assert refusal(lambda: ptxkit.open_device("emu", arch=target)).code == "P305"
    assert refusal(lambda: ptxkit.tensor_map(0, **MAP, target=target)).code == "P458"


@pytest.mark.parametrize("name", ["shape", "strides", "box", "element_strides"])
@pytest.mark.parametrize("value", [64, "64", 1.5, (1.5, 64)])
def test_what_is_no_list_of_extents(name: str, value: Any) -> None:
    assert refusal(lambda: ptxkit.tensor_map(0, **{**MAP, name: value})).code == "P459"
