"""Tensor copies whose instruction overrides what their map says: PTX ISA 9.4, 9.7.10.28.5.2."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_box_kernels import COMPLETE, ORDERS, OVERRIDE, WINDOW, Run, buffer, elsewhere, load, store

from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.encodings.tensor_maps import TensorMap


def box_of(words: np.ndarray, start: int, pitch: int, rows: int, columns: int) -> np.ndarray:
    """A box of 8 rows of 16 words: as many rows and columns of a tensor, zeros beyond."""
    box = np.zeros((8, 16), np.uint32)
    for row in range(rows):
        first = start + row * pitch
        box[row, :columns] = words[first : first + columns]
    return box


def plain_map(device: Emulator) -> TensorMap:
    """A map of 8 rows of 16 words, which lie where nobody looks."""
    return TensorMap(address=elsewhere(device), dtype="u32", shape=[8, 16], strides=[64], box=[8, 16])


@pytest.mark.parametrize("order", ORDERS)
def test_an_address_stands_in_place_of_the_map_s(order: str) -> None:
    device = Emulator(order)
    held = buffer(device)
    body = load(
        f"cp.async.bulk.tensor.2d.shared::cta.global.tile.{COMPLETE}.{OVERRIDE} "
        "[%box], [%map, %at, {4, 3}], [%bar];",
        512,
    )
    run = Run(device, plain_map(device), held, np.zeros((8, 16), np.uint32), body, at=4096)
    wanted = box_of(run.held, 1024 + 3 * 16 + 4, 16, 5, 12)
    np.testing.assert_array_equal(run.image, wanted)
    assert device.findings == []


SIZES = {
    "b8": "mov.b16 %h1, 12; cvt.u8.u16 %q1, %h1; mov.b16 %h1, 5; cvt.u8.u16 %q2, %h1;",
    "b16": "mov.b16 %h1, 0x7f0c; mov.b16 %h2, 0xaa05;",
}
"""Twelve columns and five rows; of wider registers the low half counts."""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", SIZES)
def test_sizes_and_strides_stand_in_place_of_the_map_s(kind: str, order: str) -> None:
    """Rows are 48 words apart: 12 units of 16 bytes."""
    device = Emulator(order)
    held = buffer(device)
    sizes = "{%q1, %q2}" if kind == "b8" else "{%h1, %h2}"
    body = SIZES[kind] + load(
        "mov.u32 %r3, 12; mov.b16 %h3, 0; "
        f"cp.async.bulk.tensor.2d.shared::cluster.global.{COMPLETE}.{OVERRIDE}.override::global_dim_stride "
        f"[%box], [%map, %at, {sizes}, {{%r3}}, %h3, {{0, 0}}], [%bar];",
        512,
    )
    run = Run(device, plain_map(device), held, np.zeros((8, 16), np.uint32), body, at=256)
    np.testing.assert_array_equal(run.image, box_of(run.held, 64, 48, 5, 12))
    assert device.findings == []


def test_the_upper_part_of_a_stride_has_four_bits() -> None:
    """tensorGlobalStride[i] = (lower[i] + (upper[i] << 32)) << 4: the finding names where the second slice
    of a tensor of 2 x 1 x 4 words would lie."""
    device = Emulator()
    held = buffer(device)
    made = TensorMap(address=elsewhere(device), dtype="u32", shape=[2, 2, 4], box=[2, 1, 4])
    body = "mov.b16 %h1, 4; mov.b16 %h2, 2; mov.b16 %h4, 2;" + load(
        "mov.u32 %r3, 1; mov.u32 %r4, 6; mov.b16 %h3, 0x35; "
        f"cp.async.bulk.tensor.3d.shared::cta.global.{COMPLETE}.{OVERRIDE}.override::global_dim_stride "
        "[%box], [%map, %at, {%h1, %h2, %h4}, {%r3, %r4}, %h3, {0, 0, 0}], [%bar];",
        32,
    )
    with pytest.raises(EmulatorFault) as caught:
        Run(device, made, held, np.zeros(8, np.uint32), body)
    stride = (6 + (3 << 32)) << 4
    (found,) = caught.value.diagnostics
    assert found.code == "P602"
    assert f"a box reaches {held.address + stride:#x} of global memory" in found.message


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("operation", ["store", "add", "max"])
def test_stores_and_reductions_override_the_map(operation: str, order: str) -> None:
    device = Emulator(order)
    held = buffer(device)
    before = held.numpy()
    image = np.arange(64, dtype=np.uint32) + 3
    made = TensorMap(address=elsewhere(device), dtype="u32", shape=[64], box=[64])
    verb, operator = ("cp.async", "") if operation == "store" else ("cp.reduce.async", f".{operation}")
    body = "mov.b16 %h1, 40; cvt.u8.u16 %q1, %h1;" + store(
        f"{verb}.bulk.tensor.1d.global.shared::cta{operator}.tile.bulk_group.{OVERRIDE}.override::global_dim "
        "[%map, %at, {%q1}, {0}], [%box];",
        256,
    )
    run = Run(device, made, held, image, body, at=512)
    part = slice(128, 168)
    wanted = before.copy()
    wanted[part] = {
        "store": image[:40],
        "add": before[part] + image[:40],
        "max": np.maximum(before[part], image[:40]),
    }[operation]
    np.testing.assert_array_equal(run.held, wanted)
    assert device.findings == []


TWO = f"cp.async.bulk.tensor.2d.shared::cta.global.{COMPLETE}.{OVERRIDE}"
WHOLE = (
    "mov.b16 %h1, {columns}; mov.b16 %h2, 5; mov.u32 %r3, 4; mov.b16 %h3, {upper}; "
    + TWO
    + ".override::global_dim_stride [%box], [%map, %at, {{%h1, %h2}}, {{%r3}}, %h3, {{{first}, 0}}], [%bar];"
)


@pytest.mark.parametrize(
    ("instruction", "at", "code"),
    [
        (TWO + " [%box], [%map, %at, {0, 0}], [%bar];", 8, "P603"),
        (TWO + " [%box], [%map, %at, {0, 0}], [%bar];", WINDOW + 16, "P602"),
        ("mov.u32 %r4, 4; " + WHOLE.format(columns=12, upper=0, first="%r4"), 0, "P624"),
        (WHOLE.format(columns=0, upper=0, first=0), 0, "P619"),
        (WHOLE.format(columns=12, upper=0x10, first=0), 0, "P619"),
        (f"cp.async.bulk.prefetch.tensor.2d.L2.global.tile.{OVERRIDE} [%map, %at, {{0, 0}}];", 8, "P603"),
    ],
    ids=["misaligned", "window", "coordinates", "no columns", "unused bits", "prefetch"],
)
def test_what_cannot_stand_in_place_of_the_map_s(instruction: str, at: int, code: str) -> None:
    device = Emulator()
    held = buffer(device)
    with pytest.raises(EmulatorFault) as caught:
        Run(device, plain_map(device), held, np.zeros((8, 16), np.uint32), load(instruction, 512), at=at)
    assert [found.code for found in caught.value.diagnostics] == [code]


def test_a_smaller_window_can_be_allowed() -> None:
    device = Emulator(rules={"P602": "allow"})
    held = buffer(device)
    body = load(TWO + " [%box], [%map, %at, {0, 0}], [%bar];", 512)
    run = Run(device, plain_map(device), held, np.zeros((8, 16), np.uint32), body, at=2 * WINDOW - 512)
    np.testing.assert_array_equal(run.image.reshape(-1), run.held[-128:])
    assert device.findings == []


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("@!%p2 bra WAIT; // wait", "", {"P691", "P652", "P605"}),
        ("_, [%bar], 512", "_, [%bar], 496", {"P677", "P678"}),
        (TWO, TWO.replace(OVERRIDE, f"mbarrier::report::validity::per_element::ff.{OVERRIDE}"), {"P6200"}),
    ],
    ids=["no wait", "bytes", "layout"],
)
@pytest.mark.parametrize("order", ORDERS)
def test_broken_loads_are_found(old: str, new: str, codes: set[str], order: str) -> None:
    device = Emulator(order)
    held = buffer(device)
    body = load(TWO + " [%box], [%map, %at, {0, 0}], [%bar];", 512)
    assert body.count(old) == 1
    found: list[str] = []
    try:
        Run(
            device,
            plain_map(device),
            held,
            np.zeros((8, 16), np.uint32),
            body.replace(old, new),
            layout=0,
        )
    except EmulatorFault as fault:
        found = [each.code for each in fault.diagnostics]
    assert codes & {*found, *(each.code for each in device.findings)}


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("cp.async.bulk.commit_group;\n", "", {"P656", "P652", "P606", "P660"}),
        ("cp.async.bulk.wait_group 0; // stored", "ld.global.u32 %r5, [%at];", {"P652"}),
        ("cp.async.bulk.wait_group 0; // stored", "st.shared.u32 [%box], %r1;", {"P653"}),
    ],
    ids=["no commit", "read in flight", "overwritten"],
)
def test_broken_stores_are_found(old: str, new: str, codes: set[str]) -> None:
    device = Emulator()
    held = buffer(device)
    made = TensorMap(address=elsewhere(device), dtype="u32", shape=[64], box=[64])
    body = store(
        f"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.{OVERRIDE} [%map, %at, {{0}}], [%box];", 256
    )
    changed = body.replace(old, new) + "ld.global.u32 %r6, [%at]; st.global.u32 [%d1], %r6;"
    assert changed.count(old) == body.count(old) - 1
    with pytest.raises(EmulatorFault) as caught:
        Run(device, made, held, np.zeros(64, np.uint32), changed)
    assert caught.value.diagnostics[0].code in codes


@pytest.mark.parametrize("order", ORDERS)
def test_priorities_and_prefetches_move_nothing(order: str) -> None:
    device = Emulator(order)
    held = buffer(device)
    before = held.numpy()
    body = (
        "cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::evict_last [%map, {0, 0}]; "
        f"cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::evict_last.{OVERRIDE} [%map, %at, {{0, 0}}]; "
        "applypriority.async.bulk.tensor.2d.global.bulk_group.tile.L2::evict_normal [%map, {0, 0}]; "
        f"applypriority.async.bulk.tensor.2d.bulk_group.L2::evict_normal.{OVERRIDE} [%map, %at, {{0, 0}}]; "
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    )
    run = Run(device, plain_map(device), held, np.zeros(4, np.uint32), body)
    np.testing.assert_array_equal(run.held, before)
    assert device.findings == []
