"""Tensor copies that look at what they load, store pixels along W or scatter rows, as in PTX ISA 9.4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensor_box_kernels import COMPLETE, ORDERS, Run, load, store

from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.encodings.tensor_maps import TensorMap

# ---- reports


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("place", "reports"),
    [(None, False), ((4, 6), True), ((4, 14), False), ((7, 0), False), ((0, 0), True)],
    ids=["nowhere", "inside", "beyond the columns", "beyond the rows", "at the start"],
)
def test_a_tensor_copy_looks_at_what_lies_in_the_tensor(
    place: tuple[int, int] | None, reports: bool, order: str
) -> None:
    """A tensor of 6 rows of 12 halves, rows of 16 in memory, and a box of 8 times 16."""
    device = Emulator(order)
    halves = np.arange(8 * 16, dtype=np.uint16).reshape(8, 16) + 1
    if place is not None:
        halves[place[0], place[1] // 8 * 8 : place[1] // 8 * 8 + 8] = 0x8000
        if place[1] == 14:
            halves[place[0], 8:12] = 9
    held = device.array(halves)
    made = TensorMap(address=held.address, dtype="f16", shape=[6, 12], strides=[32], box=[8, 16])
    mechanism = "mbarrier::report::validity::per_16bytes::8000"
    body = load(
        f"cp.async.bulk.tensor.2d.shared::cta.global.{COMPLETE}.{mechanism} "
        "[%box], [%map, {0, 0}], [%bar];",
        256,
    )
    run = Run(device, made, held, np.zeros((8, 16), np.uint16), body)
    wanted = np.zeros((8, 16), np.uint16)
    wanted[:6, :12] = halves[:6, :12]
    np.testing.assert_array_equal(run.image, wanted)
    assert run.reported == (1 if reports else 2)
    assert device.findings == []


# ---- pixels along W


def images(device: Emulator) -> tuple[Any, TensorMap]:
    """Two images of 3 rows of 6 pixels of 32 halves; a box leaves out the first and the last pixel."""
    held = device.array(np.arange(2 * 3 * 6 * 32, dtype=np.uint16).reshape(2, 3, 6, 32))
    made = TensorMap(
        address=held.address,
        dtype="f16",
        shape=[2, 3, 6, 32],
        pixel_box_lower_corner=[0, 1],
        pixel_box_upper_corner=[0, -1],
        channels_per_pixel=32,
        pixels_per_column=3,
        swizzle="64B",
    )
    return held, made


def swizzled(pixels: np.ndarray) -> np.ndarray:
    """Rows of 64 bytes as the swizzle of 64 bytes lays them: bits 4 and 5 of an address by bits 7 and 8."""
    data = np.ascontiguousarray(pixels).view(np.uint8).reshape(-1)
    at = np.arange(len(data))
    laid = np.zeros_like(data)
    laid[at ^ (at >> 7 & 3) << 4] = data
    return laid


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("operation", ["store", "add"])
def test_pixels_are_stored_along_w(operation: str, order: str) -> None:
    """Three pixels of row 1 of image 1 from W = 2 on: the last of the box."""
    device = Emulator(order)
    held, made = images(device)
    before = held.numpy()
    pixels = (np.arange(3 * 32).reshape(3, 32) % 7 + 1).astype(np.float16)
    verb, operator = ("cp.async", "") if operation == "store" else ("cp.reduce.async", ".add")
    body = store(
        f"{verb}.bulk.tensor.4d.global.shared::cta{operator}.im2col_no_offs::w.bulk_group "
        "[%map, {0, 2, 1, 1}], [%box];",
        256,
    )
    run = Run(device, made, held, swizzled(np.concatenate([pixels, pixels[:1] * 0])), body)
    wanted = before.copy()
    part = before[1, 1, 2:5].view(np.float16)
    wanted[1, 1, 2:5] = (pixels if operation == "store" else part + pixels).view(np.uint16)
    np.testing.assert_array_equal(run.held, wanted)
    assert device.findings == []


@pytest.mark.parametrize(
    ("changes", "coordinates", "code"),
    [
        ({}, "{0, 5, 1, 1}", "P624"),
        ({}, "{0, -1, 1, 1}", "P624"),
        ({"pixel_box_upper_corner": [0, 1]}, "{0, 2, 1, 1}", "P619"),
        ({"pixel_box_lower_corner": [0, -1]}, "{0, 2, 1, 1}", "P619"),
        ({"swizzle": "none"}, "{0, 2, 1, 1}", "P619"),
    ],
    ids=["right of the box", "negative", "upper corner", "lower corner", "swizzle"],
)
def test_pixels_that_cannot_be_stored(changes: dict[str, Any], coordinates: str, code: str) -> None:
    device = Emulator()
    held, made = images(device)
    body = store(
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs::w.bulk_group "
        f"[%map, {coordinates}], [%box];",
        256,
    )
    with pytest.raises(EmulatorFault) as caught:
        Run(device, made.replace(**changes), held, np.zeros(256, np.uint8), body)
    assert [found.code for found in caught.value.diagnostics] == [code]


@pytest.mark.parametrize("target", ["sm_107f", "sm_100f"])
def test_rows_may_be_scattered_before_a_tensor_on_sm_107(target: str) -> None:
    """Rows -1 and 9 of 8 are left out."""
    device = Emulator()
    held = device.array(np.zeros((8, 16), np.uint32))
    made = TensorMap(address=held.address, dtype="u32", shape=[8, 16], strides=[64], box=[1, 16])
    image = np.arange(64, dtype=np.uint32).reshape(4, 16) + 1
    body = store(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
        "[%map, {0, -1, 3, 9, 0}], [%box];",
        256,
    )
    if target == "sm_100f":
        with pytest.raises(EmulatorFault, match="TMA-COORDINATE"):
            Run(device, made, held, image, body, target=target)
        return
    run = Run(device, made, held, image, body, target=target)
    wanted = np.zeros((8, 16), np.uint32)
    wanted[3], wanted[0] = image[1], image[3]
    np.testing.assert_array_equal(run.held, wanted)
