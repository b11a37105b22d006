"""Several emulated devices in one process: launches that run at the same time, and what orders their accesses
(PTX ISA 8.5, scope; 8.7.3, synchronizes-with; 8.10.4, causality)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from emulated import module

from ptxkit import open_machine
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.emulator.global_memory import Allocation, GlobalMemory
from ptxkit.emulator.machine import EmulatedMachine

ORDERS = [("lazy", 0), ("eager", 0), *(("random", seed) for seed in range(6))]
orders = pytest.mark.parametrize(("order", "seed"), ORDERS, ids=[f"{o}-{s}" for o, s in ORDERS])

PARAMETERS = ".param .u64 mine, .param .u64 theirs, .param .u64 data, .param .u32 me, .param .u32 rounds"
LOAD = """
    ld.param.u64 %rd1, [mine];
    ld.param.u64 %rd2, [theirs];
    ld.param.u64 %rd3, [data];
    ld.param.u32 %r1, [me];
    ld.param.u32 %r2, [rounds];
"""
PING_PONG = (
    LOAD
    + """
    mov.u32 %r3, 0;
LOOP:
    and.b32 %r4, %r3, 1;
    setp.ne.u32 %p1, %r4, %r1;
    add.u32 %r3, %r3, 1;
    @%p1 bra WAIT;
    ld.global.u32 %r5, [%rd3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%rd3], %r5;
    RELEASE
    bra NEXT;
WAIT:
    ACQUIRE
    setp.lt.u32 %p2, %r6, %r3;
    @%p2 bra WAIT;
    AFTER
NEXT:
    setp.lt.u32 %p3, %r3, %r2;
    @%p3 bra LOOP;
"""
)
"""In turn each device adds 1 to `data` and tells the other one by its flag."""


def ping_pong(release: str, acquire: str, after: str = "") -> str:
    body = PING_PONG.replace("RELEASE", release).replace("ACQUIRE", acquire).replace("AFTER", after)
    return module(body, PARAMETERS)


RELEASE = "st.release.{}.global.u32 [%rd1], %r3;"
ACQUIRE = "ld.acquire.{}.global.u32 %r6, [%rd2];"


@pytest.fixture
def machine(order: str, seed: int) -> Iterator[EmulatedMachine]:
    with open_machine(2, order=order, seed=seed) as made:
        yield made


def together(
    machine: EmulatedMachine, *launches: tuple[str, list[Any]], grid: int = 1, block: int = 1
) -> None:
    """Launch a text on each device, with arguments, all at the same time."""
    with machine.together():
        for device, (text, args) in zip(machine.devices, launches, strict=True):
            device.load(text).kernel().launch(grid, block, args)


def play(machine: EmulatedMachine, text: str, rounds: int = 9) -> int:
    """What `data` is after so many rounds of two devices."""
    flags = [device.array(np.zeros(1, np.uint32), "flag") for device in machine.devices]
    data = machine.devices[0].array(np.zeros(1, np.uint32), "data")
    together(machine, (text, [*flags, data, 0, rounds]), (text, [*flags[::-1], data, 1, rounds]))
    return int(data.numpy()[0])


def found(machine: EmulatedMachine, text: str) -> Diagnostic:
    """The one error that the same ends with."""
    with pytest.raises(EmulatorFault) as caught:
        play(machine, text)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


@orders
@pytest.mark.parametrize(
    ("release", "acquire", "after"),
    [
        (RELEASE.format("sys"), ACQUIRE.format("sys"), ""),
        ("fence.sc.sys; st.relaxed.sys.global.u32 [%rd1], %r3;", ACQUIRE.format("sys"), ""),
        (RELEASE.format("sys"), "ld.relaxed.sys.global.u32 %r6, [%rd2];", "fence.acq_rel.sys;"),
        (
            "membar.sys; st.volatile.global.u32 [%rd1], %r3;",
            "ld.volatile.global.u32 %r6, [%rd2];",
            "membar.sys;",
        ),
        (
            "atom.release.sys.global.exch.b32 %r7, [%rd1], %r3;",
            "atom.acquire.sys.global.add.u32 %r6, [%rd2], 0;",
            "",
        ),
    ],
    ids=["release and acquire", "a fence before", "a fence behind", "volatile", "atomics"],
)
def test_flags_of_system_scope_order_devices(
    machine: EmulatedMachine, release: str, acquire: str, after: str
) -> None:
    assert play(machine, ping_pong(release, acquire, after)) == 9
    assert not machine.findings


@orders
@pytest.mark.parametrize(
    ("release", "acquire", "after"),
    [
        (RELEASE.format("gpu"), ACQUIRE.format("sys"), ""),
        (RELEASE.format("sys"), ACQUIRE.format("gpu"), ""),
        (RELEASE.format("cta"), ACQUIRE.format("cta"), ""),
        ("fence.acq_rel.gpu; st.relaxed.sys.global.u32 [%rd1], %r3;", ACQUIRE.format("sys"), ""),
        (RELEASE.format("sys"), "ld.relaxed.sys.global.u32 %r6, [%rd2];", "fence.acq_rel.gpu;"),
        (
            "membar.gl; st.volatile.global.u32 [%rd1], %r3;",
            "ld.volatile.global.u32 %r6, [%rd2];",
            "membar.sys;",
        ),
        ("atom.release.global.exch.b32 %r7, [%rd1], %r3;", ACQUIRE.format("sys"), ""),
    ],
    ids=["release", "acquire", "both", "fence before", "fence behind", "membar", "atom"],
)
def test_a_narrower_scope_is_found(machine: EmulatedMachine, release: str, acquire: str, after: str) -> None:
    assert found(machine, ping_pong(release, acquire, after)).code == "P6150"


@orders
def test_flags_that_order_nothing_are_found(machine: EmulatedMachine) -> None:
    text = ping_pong("st.relaxed.sys.global.u32 [%rd1], %r3;", "ld.relaxed.sys.global.u32 %r6, [%rd2];")
    race = found(machine, text)
    assert race.code == "P651"
    assert "another device's" in race.message
    assert {note.rpartition(" on ")[2][:8] for note in race.notes[:2]} == {"device 0", "device 1"}


ADD = module("ld.param.u64 %rd1, [data]; red.SCOPEglobal.add.u32 [%rd1], 1;", ".param .u64 data")


@orders
def test_atomic_operations_of_devices_need_system_scope(machine: EmulatedMachine) -> None:
    def added(scope: str) -> int:
        data = machine.devices[1].array(np.zeros(1, np.uint32))
        together(machine, *2 * [(ADD.replace("SCOPE", scope), [data])], grid=3, block=64)
        return int(data.numpy()[0])

    assert added("relaxed.sys.") == 2 * 3 * 64
    assert not machine.findings
    with pytest.raises(
        EmulatorFault, match=r"P6150.*a strong write races with another device's strong write"
    ):
        added("")


HAND_ON = """
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [local];
    ld.param.u64 %rd3, [data];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r9, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    @!%p1 bra LAST;
    setp.eq.u32 %p3, %r9, 0;
    @!%p3 bra MET;
WAIT:
    ld.acquire.sys.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAIT;
MET:
    bar.sync 0;
    setp.eq.u32 %p3, %r9, 32;
    @%p3 st.release.gpu.global.u32 [%rd2], 1;
    bra END;
LAST:
    ld.acquire.gpu.global.u32 %r2, [%rd2];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra LAST;
    ld.global.u32 %r3, [%rd3];
    setp.eq.u32 %p3, %r9, 0;
    @%p3 st.global.u32 [%rd3 + 4], %r3;
END:
"""
"""One CTA waits for the other device and tells another CTA of its own, by a warp that a barrier told."""
TELL = module(
    """
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd3, [data];
    st.global.u32 [%rd3], 7;
    st.release.sys.global.u32 [%rd1], 1;
    """,
    ".param .u64 flag, .param .u64 data",
)


@orders
def test_what_a_device_knows_of_another_is_handed_on(machine: EmulatedMachine) -> None:
    first, second = machine.devices
    flag, local, data = (first.array(np.zeros(2, np.uint32)) for _ in range(3))
    with machine.together():
        first.load(TELL).kernel().launch(1, 1, [flag, data])
        text = module(HAND_ON, ".param .u64 flag, .param .u64 local, .param .u64 data")
        second.load(text).kernel().launch(2, 64, [flag, local, data])
    assert data.numpy().tolist() == [7, 7]
    assert not machine.findings


@orders
def test_a_race_of_devices_is_found_whoever_comes_first(machine: EmulatedMachine) -> None:
    text = module("ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [value]; st.global.u32 [%rd1], %r1;",
                  ".param .u64 data, .param .u32 value")  # fmt: skip
    data = machine.devices[0].array(np.zeros(1, np.uint32))
    with pytest.raises(EmulatorFault, match="P651") as caught:
        together(machine, (text, [data, 1]), (text, [data, 2]))
    assert "another device's write" in caught.value.diagnostics[0].message


@orders
def test_launches_one_after_the_other_are_ordered(machine: EmulatedMachine) -> None:
    text = module("ld.param.u64 %rd1, [data]; ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1;"
                  " st.global.u32 [%rd1], %r1;", ".param .u64 data")  # fmt: skip
    data = machine.devices[0].array(np.zeros(1, np.uint32))
    kernels = [device.load(text).kernel() for device in machine.devices]
    for _ in range(3):
        for kernel in kernels:
            kernel.launch(1, 1, [data])
    with machine.together():
        kernels[0].launch(1, 1, [data])
    kernels[1].launch(1, 1, [data])
    assert data.numpy()[0] == 8


INDIRECT = "ld.param.u64 %rd1, [table]; ld.global.u64 %rd1, [%rd1]; mov.u32 %r1, 1;"
"""Races are sought from the first store on in what pointers from memory lead to."""


@orders
@pytest.mark.parametrize("which", [0, 1])
def test_accesses_of_different_sizes_race(machine: EmulatedMachine, which: int) -> None:
    stores = ["st.global.u32 [%rd1], %r1;", "st.global.u8 [%rd1 + 3], %r1;"]
    texts = [module(INDIRECT + store, ".param .u64 table") for store in stores[:: 1 - 2 * which]]
    device = machine.devices[0]
    data = device.array(np.zeros(1, np.uint32), "data")
    table = device.array(np.array([data.address], np.uint64))
    with pytest.raises(EmulatorFault, match="P651"):
        together(machine, *((text, [table]) for text in texts))


@orders
def test_launches_of_one_device_run_at_the_same_time(machine: EmulatedMachine) -> None:
    """Within a device `.gpu` is wide enough."""
    device = machine.devices[1]
    flags = [device.array(np.zeros(1, np.uint32)) for _ in range(2)]
    data = device.array(np.zeros(1, np.uint32))
    kernel = device.load(ping_pong(RELEASE.format("gpu"), ACQUIRE.format("gpu"))).kernel()
    with machine.together():
        kernel.launch(1, 1, [*flags, data, 0, 7])
        kernel.launch(1, 1, [*flags[::-1], data, 1, 7])
    assert data.numpy()[0] == 7


@orders
def test_devices_that_wait_for_each_other_in_vain(machine: EmulatedMachine) -> None:
    wait = "WAIT: ld.acquire.sys.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;"
    text = module(f"ld.param.u64 %rd1, [flag]; {wait}", ".param .u64 flag")
    flag = machine.devices[0].array(np.zeros(1, np.uint32))
    with pytest.raises(EmulatorFault) as caught:
        together(machine, *2 * [(text, [flag])], block=32)
    (livelock,) = caught.value.diagnostics
    assert livelock.code == "P608"
    assert "2 warps loop" in livelock.message
    assert ["on device 0" in livelock.notes[0], "on device 1" in livelock.notes[1]] == [True, True]


@orders
def test_a_fault_of_one_ends_the_others(machine: EmulatedMachine) -> None:
    flag = machine.devices[0].array(np.zeros(1, np.uint32))
    wait = "WAIT: ld.acquire.sys.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;"
    waits = module(f"ld.param.u64 %rd1, [flag]; {wait}", ".param .u64 flag")
    waits = waits.replace("{\n", ".minperctamemory 64\n{\n", 1).replace(".version 8.7", ".version 9.4")
    used = machine.devices[0].memory.used
    with pytest.raises(EmulatorFault, match="P610"):
        together(machine, (waits, [flag]), (module("trap;", ""), []))
    assert machine.devices[0].memory.used == used
    assert play(machine, ping_pong(RELEASE.format("sys"), ACQUIRE.format("sys"))) == 9


def test_a_machine_has_devices() -> None:
    for wrong in (0, 65):
        with pytest.raises(PtxkitError, match=r"P520.*from 1 to 64 devices"):
            open_machine(wrong)
    with pytest.raises(PtxkitError, match=r"P305.*`sm_1`"):
        open_machine(2, arch="sm_1")
    with open_machine(2) as machine, pytest.raises(PtxkitError, match=r"P520.*`together`"):  # noqa: SIM117
        with machine.together(), machine.together():
            pass


def test_a_closed_machine_is_closed() -> None:
    machine = open_machine(2)
    data = machine.devices[1].array(np.zeros(1, np.uint32))
    machine.close()
    with pytest.raises(PtxkitError, match="P714"):
        data.numpy()


class GuardedMemory(GlobalMemory):
    """Memory of which device 0 may not reach what is called `theirs`. A virtual GPU's has peers, mappings."""

    def __init__(self) -> None:
        super().__init__()
        self.device_count = 2

    def bars(self, allocation: Allocation, device: int) -> bool:
        return device == 0 and "theirs" in allocation.name


@pytest.mark.parametrize(
    "statements",
    [
        "ld.global.u32 %r1, [%rd1];",
        "st.u32 [%rd1], 1;",
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "cp.async.ca.shared.global [s], [%rd1], 16;",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 16;",
    ],
)
def test_memory_that_a_device_may_not_reach(statements: str) -> None:
    text = (
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
        "    .reg .b32 %r<2>;\n    .reg .b64 %rd<2>;\n    .shared .align 16 .b8 s[16];\n"
        f"    ld.param.u64 %rd1, [x];\n    {statements}\n    ret;\n}}\n"
    )
    device = Emulator(memory=GuardedMemory())
    with pytest.raises(EmulatorFault) as caught:
        device.load(text).kernel().launch(1, 1, [device.array(np.zeros(4, np.uint32), "theirs")])
    assert [found.code for found in caught.value.diagnostics] == ["P6152"]
    device.load(text).kernel().launch(1, 1, [device.array(np.zeros(4, np.uint32), "ours")])
