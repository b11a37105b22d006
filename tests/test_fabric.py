"""Fabric operations on a machine of emulated devices: PTX ISA 9.7.11.

What is expected is reckoned with numpy's integers, and floats that are sums of small whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from emulated import module
from test_machine import orders

from ptxkit import open_machine
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.emulator import EmulatorFault
from ptxkit.emulator.machine import EmulatedMachine

DEVICES = 3
FETCHED = "mbarrier::complete_tx::bytes.mbarrier::report::fabric"
SENT = "mbarrier::complete_tx::16B.mbarrier::report::fabric"
PARAMETERS = ".param .u32 endpoint, .param .u64 out, .param .u64 more"

FRAME = """
    .shared .align 128 .b8 tile[256];
    .shared .align 16 .b8 back[256];
    .shared .align 8 .b64 bar;
    ld.param.u32 %r10, [endpoint];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd9, [more];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mov.u32 %r5, back;
    mov.u32 %r3, bar;
    shl.b32 %r4, %r1, 2;
    add.u32 %r6, %r2, %r4;
    FILL
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.layout::v1.shared::cta.b64 [%r3], 1;
READY:
    fence.proxy.async.shared::cta;
    bar.sync 0;
    ISSUE
    @%p1 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [%r3], BYTES;
WAIT:
    mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 %p2|%p3, %h1, [%r3], 0;
    @!%p2 bra WAIT;
    selp.u32 %r8, 1, 0, %p3;
    AFTER
"""
FILL = "add.u32 %r7, %r1, 1; st.shared.u32 [%r6], %r7;"
"""The tile has 1, 2, 3, .."""


def kernel(issue: str, bytes_: int, fill: str = FILL, after: str = "", submit: str = "fabric.submit;") -> str:
    body = FRAME.replace("FILL", fill).replace("ISSUE", f"{issue} {submit}").replace("BYTES", str(bytes_))
    text = module(body.replace("AFTER", after), PARAMETERS, target="sm_100a")
    return (
        text.replace(".version 8.7", ".version 9.4")
        .replace("%h1,", "%v1,")
        .replace(".reg .b32 %r<32>;", ".reg .b32 %r<32>;\n    .reg .b8 %v<2>;")
    )


@pytest.fixture
def machine(order: str, seed: int) -> Iterator[EmulatedMachine]:
    with open_machine(DEVICES, order=order, seed=seed, arch="sm_100a") as made:
        yield made


def run(machine: EmulatedMachine, text: str, args: list[Any], block: int = 64, device: int = 0) -> None:
    machine.devices[device].load(text).kernel().launch(1, block, args)


GET = f"@!%p1 fabric.try_get.async.shared::cta.{FETCHED}.relaxed.sys.b128 [%r2], [%r10, %rd9], 256, [%r3];"
STORE_TILE = """
    ld.shared.u32 %r7, [%r6];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    st.global.u32 [%rd3], %r7;
"""


@orders
def test_a_get_copies_from_another_device(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.arange(80, dtype=np.uint32), "there")
    out = machine.devices[0].empty(64, np.uint32)
    endpoint = machine.endpoint(there, 1)
    run(machine, kernel(GET, 256, fill="", after=STORE_TILE), [endpoint.number, out, 64])
    assert out.numpy().tolist() == [*range(16, 80)]
    assert not machine.findings


PUT = f"@!%p1 fabric.try_put.async.shared::cta.{SENT}.relaxed.sys.b128 [%r10, %rd9], [%r2], 256, [%r3];"
RED = f"@!%p1 fabric.try_red.async.shared::cta.{SENT}.relaxed.sys.{{}} [%r10, %rd9], [%r2], 256, [%r3];"
MASKED = (
    f"mov.b16 %h2, 0x00ff; @!%p1 fabric.try_put.async.shared::cta.{SENT}.cp_mask.relaxed.sys.b128"
    " [%r10, %rd9], [%r2], 256, [%r3], %h2;"
)


@orders
@pytest.mark.parametrize(
    ("put", "expected"),
    [
        (PUT, [*16 * [100], *range(1, 65)]),
        (MASKED, [*16 * [100], *(at + 1 if at % 4 < 2 else 100 for at in range(64))]),
        (
            RED.format("add.u32"),
            [*16 * [100], *range(101, 165)],
        ),
        (
            RED.format("max.s32"),
            80 * [100],
        ),
    ],
    ids=["put", "masked", "add", "max"],
)
def test_puts_and_reductions(machine: EmulatedMachine, put: str, expected: list[int]) -> None:
    there = machine.devices[2].array(np.full(80, 100, np.uint32), "there")
    run(machine, kernel(put, 16), [machine.endpoint(there, 2).number, 0, 64])
    assert there.numpy().tolist() == expected
    assert not machine.findings


@orders
@pytest.mark.parametrize(("operation", "expected"), [("put", range(1, 65)), ("red", range(8, 72))])
def test_multicast_endpoints(machine: EmulatedMachine, operation: str, expected: range) -> None:
    everywhere = machine.multicast(64, np.uint32)
    everywhere.write(np.full(64, 7, np.uint32))
    what = "b128" if operation == "put" else "add.u32"
    send = (
        f"@!%p1 fabric.try_{operation}.async.multimem.shared::cta.{SENT}.relaxed.sys.{what}"
        " [%r10, %rd9], [%r2], 256, [%r3];"
    )
    run(machine, kernel(send, 16), [machine.endpoint(everywhere).number, 0, 0])
    for copy in everywhere.numpy():
        assert copy.tolist() == [*expected]


@orders
@pytest.mark.parametrize(
    ("what", "dtype"),
    [
        ("add.u32", np.uint32),
        ("min.s32", np.int32),
        ("add.f32", np.float32),
        ("add.acc::f32.f16", np.float16),
    ],
)
def test_a_pull_reduction(machine: EmulatedMachine, what: str, dtype: Any) -> None:
    count = 256 // np.dtype(dtype).itemsize
    host = np.random.default_rng(3).integers(-9, 9, (DEVICES, count)).astype(dtype)
    everywhere = machine.multicast(count, dtype)
    for copy, row in zip(everywhere.copies, host, strict=True):
        copy.write(row)
    out = machine.devices[0].empty(64, np.uint32)
    pull = (
        "setp.ge.u32 %p4, %r1, 32; @%p4 bra PULLED;"
        f" fabric.try_pullred.async.multimem.shared::cta.{FETCHED}.relaxed.sys.{what}.sync"
        " [%r2], [%r10, %rd9], 256, [%r3], 0xffffffff;\nPULLED:"
    )
    text = kernel(pull, 256, fill="", after=STORE_TILE)
    run(machine, text, [machine.endpoint(everywhere).number, out, 0])
    reduced = host.min(axis=0) if what.startswith("min") else host.sum(axis=0, dtype=dtype)
    assert out.numpy().view(dtype).tolist() == reduced.tolist()


ATOM = f"@!%p1 fabric.try_atom.async.shared::cta.{SENT}.relaxed.sys.{{}} [%r10, %rd9], [%r5], [%r2], [%r3];"
ATOMS = [
    ("add.u32", 4, [41, 42], 5, [41, 47], 42),
    ("exch.b32", 4, [41, 42], 5, [41, 5], 42),
    ("min.u32", 4, [41, 42], 5, [41, 5], 42),
    ("xor.b32", 4, [41, 42], 5, [41, 42 ^ 5], 42),
    ("cas.b32", 4, [41, 42], 42, [41, 99], 42),
    ("cas.b32", 4, [41, 43], 42, [41, 43], 43),
]


@orders
@pytest.mark.parametrize(("what", "offset", "held", "given", "left", "seen"), ATOMS)
def test_atomic_operations(
    machine: EmulatedMachine, what: str, offset: int, held: list[int], given: int, left: list[int], seen: int
) -> None:
    there = machine.devices[1].array(np.array([*held, 0, 0], np.uint32), "there")
    out = machine.devices[0].empty(1, np.uint32)
    fill = f"@!%p1 st.shared.u32 [%r2 + {offset}], {given}; @!%p1 st.shared.u32 [%r2 + {16 + offset}], 99;"
    fill = "setp.ne.u32 %p1, %r1, 0; " + fill
    atom = ATOM.format(what)
    after = f"@!%p1 ld.shared.u32 %r7, [%r5 + {offset}]; @!%p1 st.global.u32 [%rd1], %r7;"
    text = kernel(atom, 1, fill=fill, after=after)
    run(machine, text, [machine.endpoint(there, 1).number, out, offset])
    assert there.numpy().tolist()[:2] == left
    assert out.numpy().tolist() == [seen]


@orders
def test_bytes_beside_the_element_of_an_atom_are_unspecified(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.zeros(4, np.uint32))
    out = machine.devices[0].empty(1, np.uint32)
    atom = ATOM.format("add.u32")
    after = "@!%p1 ld.shared.u32 %r7, [%r5 + 8]; @!%p1 st.global.u32 [%rd1], %r7;"
    run(machine, kernel(atom, 1, after=after), [machine.endpoint(there, 1).number, out, 4])
    with pytest.raises(EmulatorFault, match="P606"):
        out.numpy()


# ---- orders


COUNTED = (
    f"@!%p1 fabric.try_put.async.shared::cta.{SENT}.counted::bytes.relaxed.sys.b128"
    " [%r10, %rd9, %rd8], [%r2], 256, [%r3];"
)
RECEIVER = """
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra MET;
SPIN:
    READ
    setp.lt.u64 %p2, %rd3, 512;
    @%p2 bra SPIN;
    FENCE
MET:
    bar.sync 0;
    mad.wide.u32 %rd4, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd4];
    mad.wide.u32 %rd4, %r1, 4, %rd2;
    st.global.u32 [%rd4], %r2;
"""
READS = [
    ("ld.acquire.sys.global.u64 %rd3, [%rd1 + 512];", "", None),
    ("ld.relaxed.sys.global.u64 %rd3, [%rd1 + 512];", "fence.proxy.generic::fabric.alias.acquire.sys;", None),
    ("ld.relaxed.sys.global.u64 %rd3, [%rd1 + 512];", "", "P651"),
    ("ld.acquire.gpu.global.u64 %rd3, [%rd1 + 512];", "", "P6150"),
]


def counted(machine: EmulatedMachine, read: str, fence: str) -> list[int]:
    """Two devices put a half each, and the third reads when its counter says that all is there."""
    there = machine.devices[2].array(np.zeros(192, np.uint32), "there")
    out = machine.devices[2].empty(128, np.uint32)
    endpoint = machine.endpoint(there, 2)
    receive = module(
        RECEIVER.replace("READ", read).replace("FENCE", fence),
        ".param .u64 data, .param .u64 out",
        target="sm_100a",
    ).replace(".version 8.7", ".version 9.4")
    with machine.together():
        for at in (0, 1):
            text = kernel("mov.u64 %rd8, 512; " + COUNTED, 16)
            machine.devices[at].load(text).kernel().launch(1, 64, [endpoint.number, 0, 256 * at])
        machine.devices[2].load(receive).kernel().launch(1, 128, [there, out])
    return out.numpy().tolist()


@orders
@pytest.mark.parametrize(("read", "fence", "code"), READS, ids=["acquire", "fence", "relaxed", "gpu"])
def test_a_counter_tells_of_the_data(
    machine: EmulatedMachine, read: str, fence: str, code: str | None
) -> None:
    if code is None:
        assert counted(machine, read, fence) == 2 * [*range(1, 65)]
        assert not machine.findings
        return
    with pytest.raises(EmulatorFault) as caught:
        counted(machine, read, fence)
    assert [found.code for found in caught.value.diagnostics] == [code]


@orders
def test_shared_memory_may_be_overwritten_once_it_is_read(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.zeros(64, np.uint32), "there")
    again = "bar.sync 0; st.shared.u32 [%r6], 0;"
    number = machine.endpoint(there, 1).number
    wait = "fabric.submit; fabric.wait.sync_restrict::reads;"
    run(machine, kernel(PUT, 16, submit=wait + again), [number, 0, 0])
    assert there.numpy().tolist() == [*range(1, 65)]
    with pytest.raises(EmulatorFault, match="P653"):
        run(machine, kernel(PUT, 16, submit="fabric.submit;" + again), [number, 0, 0])


@orders
def test_a_failing_link_is_reported(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.zeros(64, np.uint32), "there")
    endpoint = machine.endpoint(there, 1)
    out = machine.devices[0].empty(1, np.uint32)
    text = kernel(PUT, 16, after="@!%p1 st.global.u32 [%rd1], %r8;")
    for failing in (False, True):
        endpoint.failing = failing
        run(machine, text, [endpoint.number, out, 0])
        assert out.numpy().tolist() == [int(failing)]
        there.write(np.zeros(64, np.uint32)) if not failing else None
    assert not there.numpy().any()


# ---- faults


def refused(machine: EmulatedMachine, code: str, text: str, args: list[Any], block: int = 64) -> Diagnostic:
    with pytest.raises(EmulatorFault) as caught:
        run(machine, text, args, block)
    (found,) = caught.value.diagnostics
    assert found.code == code, found
    return found


MULTIMEM = PUT.replace("async.", "async.multimem.")


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
@pytest.mark.parametrize(
    ("issue", "which", "offset", "code", "said"),
    [
        (PUT, "none", 0, "P6153", "there is no logical endpoint"),
        (PUT, "all", 0, "P6153", "is a multicast one, where it takes a unicast one"),
        (MULTIMEM, "one", 0, "P6153", "is a unicast one, where it takes a multicast one"),
        (MULTIMEM, "pair", 0, "P6153", "device 0 is no member"),
        (PUT, "one", 16, "P6153", "256 bytes at offset 0x10 are not all bound by device 1"),
        (PUT, "one", 8, "P661", "a multiple of 16"),
        ("mov.u64 %rd8, 512; " + COUNTED, "uncounted", 0, "P6153", "does not support counted"),
        ("mov.u64 %rd8, 0; " + COUNTED, "one", 0, "P6153", "lies in the data"),
        ("mov.u64 %rd8, 520; " + COUNTED, "one", 0, "P661", "a multiple of 256"),
        (PUT.replace("256,", "8,"), "one", 0, "P662", "a multiple of 16"),
    ],
)
def test_wrong_handles_are_found(
    machine: EmulatedMachine, issue: str, which: str, offset: int, code: str, said: str
) -> None:
    there = machine.devices[1].array(np.zeros(64, np.uint32))
    numbers = {
        "none": 77,
        "one": machine.endpoint(there, 1).number,
        "uncounted": machine.endpoint(there, 1, counted=False).number,
        "all": machine.endpoint(machine.multicast(64, np.uint32)).number,
        "pair": machine.endpoint(machine.multicast(64, np.uint32, team=[1, 2])).number,
    }
    assert said in refused(machine, code, kernel(issue, 16), [numbers[which], 0, offset]).message


@orders
def test_what_is_not_submitted_or_not_waited_for_is_found(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.zeros(64, np.uint32))
    args = [machine.endpoint(there, 1).number, 0, 0]
    leaves = kernel(PUT, 16, submit="ret;")
    assert "has not submitted" in refused(machine, "P6154", leaves, args).message
    early = kernel(PUT, 16, submit="fabric.submit; ret;")
    assert "may not have completed" in refused(machine, "P6154", early, args).message


@orders
def test_a_submission_of_fetching_operations_leaves_others(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.zeros(64, np.uint32))
    args = [machine.endpoint(there, 1).number, 0, 0]
    text = kernel(PUT, 16, submit="fabric.submit.op_restrict::fetching; ret;")
    assert "has not submitted" in refused(machine, "P6154", text, args).message


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
def test_an_mbarrier_of_the_old_layout_is_found(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.zeros(64, np.uint32))
    text = kernel(PUT, 16, submit="fabric.submit; ret;").replace("init.layout::v1", "init")
    refused(machine, "P6200", text, [machine.endpoint(there, 1).number, 0, 0])


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
def test_a_missing_proxy_fence_is_found(machine: EmulatedMachine) -> None:
    there = machine.devices[1].array(np.zeros(64, np.uint32))
    text = kernel(PUT, 16).replace("fence.proxy.async.shared::cta;", "")
    refused(machine, "P665", text, [machine.endpoint(there, 1).number, 0, 0])


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
@pytest.mark.parametrize(
    "issue",
    [
        "fabric.submit.commit_group;",
        "fabric.wait.sync_restrict::read 0;",
    ],
)
def test_what_is_not_executed(machine: EmulatedMachine, issue: str) -> None:
    text = (
        kernel(issue, 16)
        .replace(".target sm_100a", ".target sm_107a")
        .replace(".version 9.4", ".version 9.5")
    )
    device = open_machine(1).devices[0]
    with pytest.raises(PtxkitError, match="P601"):
        device.load(text).kernel().launch(1, 64, [0, 0, 0])
