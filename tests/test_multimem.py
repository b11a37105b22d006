"""Multicast objects on a machine of several emulated devices: PTX ISA 8.2.3, 9.7.10.13 to 15, 9.7.10.28.5,
9.7.14.8. What is expected is reckoned with Python's integers and fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from emulated import module
from test_machine import orders

from ptxkit import open_machine
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.emulator import EmulatorFault
from ptxkit.emulator.machine import EmulatedMachine

DEVICES = 3


@pytest.fixture
def machine(order: str, seed: int) -> Iterator[EmulatedMachine]:
    with open_machine(DEVICES, order=order, seed=seed) as made:
        yield made


def kernel(body: str, parameters: str = ".param .u64 all, .param .u64 out") -> str:
    names = [word.strip().split()[-1] for word in parameters.split(",")]
    loads = [f"ld.param.u64 %rd{at}, [{name}];" for at, name in enumerate(names, 1)]
    text = module("\n".join([*loads, body]), parameters, target="sm_100a")
    return text.replace(".version 8.7", ".version 9.4")


def one_launch(machine: EmulatedMachine, text: str, args: list[Any], block: int = 1, device: int = 0) -> None:
    machine.devices[device].load(text).kernel().launch(1, block, args)


def refused(code: str, machine: EmulatedMachine, text: str, args: list[Any]) -> Diagnostic:
    with pytest.raises(EmulatorFault) as caught:
        one_launch(machine, text, args)
    (found,) = caught.value.diagnostics
    assert found.code == code
    return found


# ---- what the instructions do


PLACE = "mov.u32 %r1, %tid.x; mad.wide.u32 %rd3, %r1, 4, %rd1; mad.wide.u32 %rd4, %r1, 4, %rd2;"


@orders
def test_a_store_reaches_every_copy(machine: EmulatedMachine) -> None:
    everywhere = machine.multicast(64, np.uint32)
    stores = (
        "multimem.st.weak.global.u32 [%rd3], %r1; multimem.st.async.release.sys.global.u32 [%rd3 + 128], %r1;"
    )
    one_launch(machine, kernel(PLACE + stores), [everywhere, 0], 32, device=1)
    for copy in everywhere.numpy():
        assert copy.tolist() == [*range(32), *range(32)]
    assert not machine.findings


@orders
def test_reductions_of_all_devices_reach_every_copy(machine: EmulatedMachine) -> None:
    everywhere = machine.multicast(3, np.uint32)
    everywhere.write(np.array([5, 6, 7], np.uint32))
    body = """
        mov.u32 %r1, %tid.x;
        multimem.red.global.add.u32 [%rd1], %r1;
        multimem.red.release.sys.global.max.u32 [%rd1 + 4], %r1;
        multimem.red.async.release.sys.global.add.u32 [%rd1 + 8], 1;
    """
    with machine.together():
        for device in machine.devices:
            device.load(kernel(body)).kernel().launch(1, 32, [everywhere, 0])
    total = DEVICES * sum(range(32))
    for copy in everywhere.numpy():
        assert copy.tolist() == [5 + total, 31, 7 + DEVICES * 32]
    assert not machine.findings


SIGNED = np.array([[5, -7, 1 << 30, 0], [-9, 3, 1 << 30, -1], [11, -2, 1 << 30, 1]], np.int32)


@orders
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("add.u32", lambda a, b: (a + b) & 0xFFFFFFFF),
        ("add.s32", lambda a, b: (a + b) & 0xFFFFFFFF),
        ("and.b32", lambda a, b: a & b),
        ("or.b32", lambda a, b: a | b),
        ("xor.b32", lambda a, b: a ^ b),
        ("min.u32", min),
        ("max.u32", max),
        ("min.s32", lambda a, b: min(a, b, key=lambda x: x - (x >> 31 << 32))),
        ("max.s32", lambda a, b: max(a, b, key=lambda x: x - (x >> 31 << 32))),
    ],
)
def test_integers_are_reduced(
    machine: EmulatedMachine, operation: str, expected: Callable[[int, int], int]
) -> None:
    everywhere = machine.multicast(4, np.uint32)
    words = SIGNED.view(np.uint32)
    for copy, row in zip(everywhere.copies, words, strict=True):
        copy.write(row)
    out = machine.devices[0].empty(4, np.uint32)
    body = f"{PLACE} multimem.ld_reduce.global.{operation} %r2, [%rd3]; st.global.u32 [%rd4], %r2;"
    one_launch(machine, kernel(body), [everywhere, out], 4)
    assert out.numpy().tolist() == [reduce(expected, column) for column in words.T.tolist()]


def rounded(value: Fraction, dtype: Any) -> float:
    """A fraction rounded to a type, to nearest even: the nearer of the type's numbers."""
    codes = np.arange(1 << 8 * np.dtype(dtype).itemsize, dtype=f"u{np.dtype(dtype).itemsize}").view(dtype)
    with np.errstate(invalid="ignore"):
        numbers = codes.astype(np.float64)
    even = np.arange(len(codes)) % 2 == 0
    finite = np.isfinite(numbers)
    numbers, near = np.where(finite, numbers, 0), float(value)
    close = np.flatnonzero(
        finite & (np.abs(numbers - near) <= np.abs(numbers[finite] - near).min() * 4 + 1e-30)
    )
    best = min(close.tolist(), key=lambda at: (abs(Fraction(float(numbers[at])) - value), not even[at]))
    return float(numbers[best])


FLOATS = {
    "f16x2": (np.float16, 2),
    "bf16x2": (ml_dtypes.bfloat16, 2),
    "e4m3x4": (ml_dtypes.float8_e4m3fn, 1),
    "e5m2x4": (ml_dtypes.float8_e5m2, 1),
}


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0), ("eager", 0)])
@pytest.mark.parametrize("operation", ["add", "min", "max", "add.acc"])
@pytest.mark.parametrize("name", FLOATS)
def test_narrow_floats_are_reduced(machine: EmulatedMachine, name: str, operation: str) -> None:
    dtype, size = FLOATS[name]
    random = np.random.default_rng(7)
    host = (random.normal(size=(DEVICES, 64)) * 2.0 ** random.integers(-4, 4, (DEVICES, 64))).astype(dtype)
    everywhere = machine.multicast(64, dtype)
    for copy, row in zip(everywhere.copies, host, strict=True):
        copy.write(row)
    out = machine.devices[0].empty(64, dtype)
    precision = operation.replace(".acc", ".acc::f32" if size == 2 else ".acc::f16")
    body = f"{PLACE} multimem.ld_reduce.global.{precision}.{name} %r2, [%rd3]; st.global.b32 [%rd4], %r2;"
    one_launch(machine, kernel(body), [everywhere, out], 64 * size // 4)
    wide = {"add": dtype, "add.acc": np.float32 if size == 2 else np.float16}.get(operation)

    def expected(column: Sequence[Any]) -> float:
        values = [Fraction(float(value)) for value in column]
        if wide is None:
            return float({"min": min, "max": max}[operation](values))
        total = values[0]
        for value in values[1:]:
            total += value
            if wide is np.float32:
                total = Fraction(float(np.float32(np.float64(float(total)))))
            else:
                total = Fraction(rounded(total, wide))
        return rounded(total, dtype)

    assert out.numpy().astype(np.float64).tolist() == [expected(column) for column in host.T]


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
def test_single_and_double_floats_are_added(machine: EmulatedMachine) -> None:
    body = """
        multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
        st.global.v4.f32 [%rd2], {%f1, %f2, %f3, %f4};
        multimem.ld_reduce.acquire.sys.global.add.f64 %fd1, [%rd1 + 16];
        st.global.f64 [%rd2 + 16], %fd1;
    """
    host = np.random.default_rng(1).normal(size=(DEVICES, 4)).astype(np.float32)
    double = np.random.default_rng(2).normal(size=(DEVICES, 1))
    everywhere = machine.multicast(24, np.uint8)
    for copy, row, wide in zip(everywhere.copies, host, double, strict=True):
        copy.write(np.concatenate([row.view(np.uint8), wide.view(np.uint8)]))
    out = machine.devices[0].empty(24, np.uint8)
    one_launch(machine, kernel(body), [everywhere, out])
    found = out.numpy()
    assert found[:16].view(np.float32).tolist() == ((host[0] + host[1]) + host[2]).tolist()
    assert found[16:].view(np.float64).tolist() == ((double[0] + double[1]) + double[2]).tolist()


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
def test_undefined_bits_of_any_copy_are_undefined(machine: EmulatedMachine) -> None:
    everywhere = machine.multicast(2, np.uint32)
    everywhere.copies[0].write(np.zeros(2, np.uint32))
    everywhere.copies[2].write(np.zeros(2, np.uint32))
    out = machine.devices[0].empty(1, np.uint32)
    body = "multimem.ld_reduce.global.add.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2;"
    one_launch(machine, kernel(body), [everywhere, out])
    with pytest.raises(EmulatorFault, match="P606"):
        out.numpy()


BULK = """
    .shared .align 16 .b8 tile[256];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r2, %r3;
    st.shared.u32 [%r3], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 ret;
    COPY
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
"""


@orders
@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        ("multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;", [*range(64)]),
        (
            "mov.b16 %h1, 0xff;"
            " multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], 256, %h1;",
            [at if at % 4 < 2 else 100 + at for at in range(64)],
        ),
        (
            "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 256;",
            [100 + 2 * at for at in range(64)],
        ),
    ],
    ids=["copy", "masked", "reduction"],
)
def test_bulk_copies_reach_every_copy(machine: EmulatedMachine, copy: str, expected: list[int]) -> None:
    everywhere = machine.multicast(64, np.uint32)
    everywhere.write(100 + np.arange(64, dtype=np.uint32))
    one_launch(machine, kernel(BULK.replace("COPY", copy)), [everywhere, 0], 64)
    for found in everywhere.numpy():
        assert found.tolist() == expected
    assert not machine.findings


# ---- an all-reduce


ALL_REDUCE = """
    ld.param.u64 %rd4, [flag];
    ld.param.u64 %rd5, [mine];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd6, %r1, 16, %rd2;
    mad.wide.u32 %rd7, %r1, 16, %rd1;
    ld.param.u32 %r2, [rank];
    add.u32 %r3, %r1, %r2;
    st.global.v4.u32 [%rd6], {%r3, %r3, %r3, %r3};
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra MET;
    SIGNAL
FIRST:
    WAIT
    setp.lt.u32 %p2, %r4, 3;
    @%p2 bra FIRST;
MET:
    bar.sync 0;
    // Each device sums a third of the elements.
    rem.u32 %r5, %r1, 3;
    setp.ne.u32 %p3, %r5, %r2;
    @%p3 bra SUMMED;
    multimem.ld_reduce.weak.global.add.u32 %r6, [%rd7];
    multimem.st.weak.global.u32 [%rd7], %r6;
SUMMED:
    bar.sync 0;
    @%p1 bra DONE;
    multimem.red.release.sys.global.add.u32 [%rd4], 1;
    fence.proxy.alias;
LAST:
    ld.acquire.sys.global.u32 %r4, [%rd5];
    setp.lt.u32 %p2, %r4, 6;
    @%p2 bra LAST;
DONE:
    bar.sync 0;
    ld.global.u32 %r7, [%rd6];
    mad.wide.u32 %rd8, %r1, 4, %rd3;
    st.global.u32 [%rd8], %r7;
"""
SIGNAL = "multimem.red.release.sys.global.add.u32 [%rd4], 1; fence.proxy.alias;"
WAIT = "ld.acquire.sys.global.u32 %r4, [%rd5];"
PARAMETERS = (
    ".param .u64 all, .param .u64 own, .param .u64 out, .param .u64 flag, .param .u64 mine, .param .u32 rank"
)


def all_reduce(machine: EmulatedMachine, signal: str = SIGNAL, wait: str = WAIT) -> list[list[int]]:
    """What each device has read of the sums, of 48 elements."""
    body = ALL_REDUCE.replace("SIGNAL", signal).replace("WAIT", wait)
    loads = "ld.param.u64 %rd1, [all]; ld.param.u64 %rd2, [own]; ld.param.u64 %rd3, [out];"
    text = module(loads + body, PARAMETERS)
    everywhere, flags = (
        machine.multicast((48, 4), np.uint32, "data"),
        machine.multicast(1, np.uint32, "flags"),
    )
    flags.write(np.zeros(1, np.uint32))
    outs = [device.empty(48, np.uint32) for device in machine.devices]
    with machine.together():
        for rank, device in enumerate(machine.devices):
            args = [everywhere, everywhere.copies[rank], outs[rank], flags, flags.copies[rank], rank]
            device.load(text).kernel().launch(1, 48, args)
    return [out.numpy().tolist() for out in outs]


@orders
def test_an_all_reduce(machine: EmulatedMachine) -> None:
    assert all_reduce(machine) == DEVICES * [[3 * at + 3 for at in range(48)]]
    assert not machine.findings


@orders
@pytest.mark.parametrize(
    ("signal", "wait", "code"),
    [
        (SIGNAL.replace("sys", "gpu"), WAIT, "P6150"),
        (SIGNAL, WAIT.replace("sys", "gpu"), "P6150"),
        (SIGNAL.replace("release", "relaxed"), WAIT, "P651"),
        (SIGNAL, "mov.u32 %r4, 3;", "P651"),
    ],
    ids=["signal", "wait", "relaxed", "no wait"],
)
def test_faults_of_an_all_reduce(machine: EmulatedMachine, signal: str, wait: str, code: str) -> None:
    with pytest.raises(EmulatorFault) as caught:
        all_reduce(machine, signal, wait)
    assert [found.code for found in caught.value.diagnostics] == [code]


@orders
@pytest.mark.parametrize(
    ("store", "code"),
    [("weak", "P651"), ("relaxed.gpu", "P6150"), ("relaxed.sys", None)],
)
def test_stores_of_two_devices_to_all_copies(machine: EmulatedMachine, store: str, code: str | None) -> None:
    everywhere = machine.multicast(1, np.uint32)
    text = kernel(f"mov.u32 %r1, %rd2; multimem.st.{store}.global.u32 [%rd1], %r1;").replace(
        "mov.u32 %r1, %rd2", "cvt.u32.u64 %r1, %rd2"
    )

    def run() -> None:
        with machine.together():
            for value, device in enumerate(machine.devices, 1):
                device.load(text).kernel().launch(1, 1, [everywhere, value])

    if code is not None:
        with pytest.raises(EmulatorFault, match=code):
            run()
        return
    run()
    assert {int(copy[0]) for copy in everywhere.numpy()} <= {1, 2, 3}


# ---- wrong addresses


WRONG = [
    ("ld.global.u32 %r1, [%rd1];", "all", "P6151"),
    ("st.global.u32 [%rd1], %r1;", "all", "P6151"),
    ("red.relaxed.sys.global.add.u32 [%rd1], 1;", "all", "P6151"),
    ("multimem.st.global.u32 [%rd1], 1;", "copy", "P6151"),
    ("multimem.ld_reduce.global.add.u32 %r1, [%rd1];", "copy", "P6151"),
    ("multimem.st.global.u32 [%rd1 + 2], 1;", "all", "P603"),
    ("multimem.st.global.u32 [%rd1 + 256], 1;", "all", "P6151"),
    ("mov.u32 %r1, s; cvta.shared.u64 %rd3, %rd3; multimem.st.u32 [%rd3], 1;", "all", "P602"),
]


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
@pytest.mark.parametrize(("access", "given", "code"), WRONG)
def test_wrong_addresses_are_found(machine: EmulatedMachine, access: str, given: str, code: str) -> None:
    everywhere = machine.multicast(64, np.uint32)
    everywhere.write(np.zeros(64, np.uint32))
    first = ".shared .align 16 .b8 s[16]; mov.u64 %rd3, s; mov.u32 %r1, 0;"
    refused(
        code, machine, kernel(first + access), [everywhere if given == "all" else everywhere.copies[0], 0]
    )


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
@pytest.mark.parametrize(
    ("address", "size", "given", "code"),
    [
        ("%rd1", 256, "copy", "P6151"),
        ("%rd1 + 8", 16, "all", "P661"),
        ("%rd1 + 16", 256, "all", "P663"),
    ],
)
def test_wrong_addresses_of_bulk_copies_are_found(
    machine: EmulatedMachine, address: str, size: int, given: str, code: str
) -> None:
    everywhere = machine.multicast(64, np.uint32)
    copy = f"multimem.cp.async.bulk.global.shared::cta.bulk_group [{address}], [%r2], {size};"
    text = kernel(BULK.replace("COPY", copy)).replace("bar.sync 0;", "")
    args = [everywhere if given == "all" else everywhere.copies[0], 0]
    with pytest.raises(EmulatorFault, match=code):
        one_launch(machine, text, args, 64)


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
def test_memory_that_a_device_has_not_bound_is_found(machine: EmulatedMachine) -> None:
    everywhere = machine.multicast(64, np.uint32)
    bindings = machine.devices[0].memory.find(everywhere.address).multicast.bindings  # type: ignore[union-attr]
    bindings[1] = bindings[1]._replace(size=128)
    one_launch(machine, kernel("multimem.st.global.u32 [%rd1 + 124], 1;"), [everywhere, 0])
    found = refused("P6151", machine, kernel("multimem.st.global.u32 [%rd1 + 128], 1;"), [everywhere, 0])
    assert "device 1 has bound no memory" in found.message
    copy = "multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;"
    text = kernel(BULK.replace("COPY", copy))
    with pytest.raises(EmulatorFault, match=r"P6151.*device 1 has not bound memory for all of them"):
        one_launch(machine, text, [everywhere, 0], 64)


@pytest.mark.parametrize(("order", "seed"), [("lazy", 0)])
def test_teams(machine: EmulatedMachine) -> None:
    pair = machine.multicast(1, np.uint32, team=[2, 0])
    one_launch(machine, kernel("multimem.st.global.u32 [%rd1], 9;"), [pair, 0])
    assert [copy.tolist() for copy in pair.numpy()] == [[9], [9]]
    for team in ([], [0, 0], [3]):
        with pytest.raises(PtxkitError, match=r"P520.*expected a team of some of 3 devices"):
            machine.multicast(1, np.uint32, team=team)
    address = pair.address
    del pair
    refused("P6151", machine, kernel("multimem.st.global.u32 [%rd1], 9;"), [address, 0])
