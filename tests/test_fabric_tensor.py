"""Fabric operations on tensors: PTX ISA 9.7.11.5.7 to 9.

A tensor of 6 x 8 words lies behind an endpoint; a box has 4 x 8.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from test_fabric import FETCHED, SENT, STORE_TILE, kernel
from test_machine import orders

from ptxkit import open_machine
from ptxkit.emulator import EmulatorFault
from ptxkit.emulator.machine import EmulatedMachine
from ptxkit.encodings.tensor_maps import TensorMap

WHERE = 256
"""The offset of the tensor behind its endpoint."""
BOX = 4 * 8 * 4


@pytest.fixture
def machine(order: str, seed: int) -> Iterator[EmulatedMachine]:
    with open_machine(2, order=order, seed=seed, arch="sm_107a") as made:
        yield made


def tensor_kernel(issue: str, bytes_: int, after: str = "", fill: str | None = None) -> str:
    prepare = "mov.b64 %rd5, map; cvta.param.u64 %rd5, %rd5;"
    given = {} if fill is None else {"fill": fill}
    text = kernel(f"{prepare} {issue}", bytes_, after=after, **given)
    text = text.replace(".param .u64 more", ".param .u64 more, .param .align 128 .b8 map[128]")
    return text.replace(".target sm_100a", ".target sm_107a")


def run(machine: EmulatedMachine, text: str, number: int, out: object, offset: int, block: int = 32) -> None:
    device = machine.devices[0]
    somewhere = device.array(np.zeros(64, np.uint32))
    made = TensorMap(address=somewhere.address, dtype="u32", shape=[6, 8], strides=[32], box=[4, 8])
    device.load(text).kernel().launch(1, block, [number, out, offset, made])


AT = "[%rd5, %r10, %rd9{}, {{0, {}}}]"
GET = (
    f"@!%p1 fabric.try_get.async.tensor.2d.shared::cta.tile.{FETCHED}"
    ".override::global_address.relaxed.sys.b128"
    " [%r2], {}, [%r3];"
)


@orders
@pytest.mark.parametrize("row", [0, 1, 4])
def test_a_get_takes_a_box(machine: EmulatedMachine, row: int) -> None:
    """What lies beyond the tensor is filled with zeros."""
    words = np.arange(160, dtype=np.uint32)
    number = machine.endpoint(machine.devices[1].array(words, "there"), 1).number
    out = machine.devices[0].empty(32, np.uint32)
    text = tensor_kernel(GET.format(AT.format("", row)), BOX, STORE_TILE, "")
    run(machine, text, number, out, WHERE)
    tensor = np.zeros((10, 8), np.uint32)
    tensor[:6] = words[WHERE // 4 :][:48].reshape(6, 8)
    assert out.numpy().reshape(4, 8).tolist() == tensor[row : row + 4].tolist()
    assert not machine.findings


SEND = (
    f"@!%p1 fabric.try_{{}}.async.tensor{{}}.2d.shared::cta.tile.{SENT}{{}}"
    ".override::global_address.relaxed.sys.{}"
    " {}, [%r2], 128, [%r3];"
)


@orders
@pytest.mark.parametrize(("what", "kind"), [("put", "b128"), ("red", "add"), ("red", "max")])
@pytest.mark.parametrize("many", [False, True], ids=["unicast", "multicast"])
def test_puts_and_reductions_of_a_box(machine: EmulatedMachine, what: str, kind: str, many: bool) -> None:
    """The rows of the box that lie beyond the tensor are left out."""
    words = np.arange(160, dtype=np.uint32) % 7
    if many:
        everywhere = machine.multicast(160, np.uint32)
        everywhere.write(words)
        number, copies = machine.endpoint(everywhere).number, everywhere.copies
    else:
        copies = [machine.devices[1].array(words, "there")]
        number = machine.endpoint(copies[0], 1).number
    send = SEND.format(what, ".multimem" if many else "", "", kind, AT.format("", 4))
    run(machine, tensor_kernel(send, BOX // 16), number, 0, WHERE)
    box = np.arange(1, 17, dtype=np.uint32)
    part = slice(WHERE // 4 + 32, WHERE // 4 + 48)
    wanted = words.copy()
    wanted[part] = {"b128": box, "add": words[part] + box, "max": np.maximum(words[part], box)}[kind]
    for copy in copies:
        assert copy.numpy().tolist() == wanted.tolist()
    assert not machine.findings


@orders
def test_sizes_and_strides_of_a_box(machine: EmulatedMachine) -> None:
    """5 columns of 3 rows, which are 48 bytes apart."""
    words = np.arange(160, dtype=np.uint32)
    number = machine.endpoint(machine.devices[1].array(words, "there"), 1).number
    out = machine.devices[0].empty(32, np.uint32)
    get = GET.replace("global_address.", "global_address.override::global_dim_stride.")
    sizes = "mov.b16 %h5, 5; mov.b16 %h6, 3; mov.u32 %r20, 3; mov.b16 %h7, 0;"
    issue = sizes + get.format(AT.format(", {%h5, %h6}, {%r20}, %h7", 0))
    run(machine, tensor_kernel(issue, BOX, STORE_TILE, ""), number, out, WHERE)
    wanted = np.zeros((4, 8), np.uint32)
    for row in range(3):
        wanted[row, :5] = words[WHERE // 4 + 12 * row :][:5]
    assert out.numpy().reshape(4, 8).tolist() == wanted.tolist()


@orders
def test_a_counter_counts_the_box(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.zeros(160, np.uint32), "there")
    send = SEND.format("put", "", ".counted::bytes", "b128", AT.format(", %rd8", 0))
    text = tensor_kernel("mov.u64 %rd8, 0; " + send, BOX // 16)
    run(machine, text, machine.endpoint(there, 1).number, 0, WHERE)
    found = there.numpy()
    assert found[:2].tolist() == [BOX, 0]
    assert found[WHERE // 4 :][:32].tolist() == [*range(1, 33)]


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
@pytest.mark.parametrize(
    ("offset", "size", "code", "said"),
    [
        (480, 128, "P6153", "of a box are not all bound by device 1"),
        (640, 128, "P6153", "at offset 0x280 are not all bound"),
        (8, 128, "P661", "a multiple of 16"),
        (0, 64, "P662", "expected 128 bytes, the box of the tensor map, found 64"),
    ],
)
def test_wrong_boxes_are_found(
    machine: EmulatedMachine, offset: int, size: int, code: str, said: str
) -> None:
    number = machine.endpoint(machine.devices[1].array(np.zeros(160, np.uint32)), 1).number
    send = SEND.format("put", "", "", "b128", AT.format("", 2)).replace(" 128,", f" {size},")
    with pytest.raises(EmulatorFault) as caught:
        run(machine, tensor_kernel(send, BOX // 16), number, 0, offset)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert said in found.message
