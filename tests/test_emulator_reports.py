"""Payload reports of mbarriers: which copies report, and what waits for both kinds of phases say of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator, EmulatorFault

ROW = 64
"""Bytes of each copy."""
MECHANISMS = {
    "validity::per_16bytes::80000000": ("u4", 0x80000000),
    "validity::per_16bytes::8000": ("u2", 0x8000),
    "validity::per_16bytes::80": ("u1", 0x80),
    "validity::per_16bytes::8": ("nibble", 0x8),
    "validity::per_element::ff": ("u1", 0xFF),
    "disabled": ("u1", 0xFF),
}
"""For each mechanism its elements, and the pattern: table 33 of PTX ISA 9.4."""

KERNEL = """
.version 9.4
.target sm_107f
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out, .param .u32 rows)
{{
    .reg .pred %p<9>;
    .reg .b8 %value;
    .reg .b32 %r<20>, %rows;
    .reg .b64 %d<9>, %state;
    .shared .align 128 .b8 buf[64];
    .shared .align 8 .b64 bar;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [out];
    ld.param.u32 %rows, [rows];
    mbarrier.init.layout::{layout}.shared::cta.b64 [bar], 1;
    mov.u32 %r1, 0;
NEXT:
    mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], 64;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.mbarrier::report::{mechanism}
        [buf], [%d1], 64, [bar];
    and.b32 %r2, %r1, 1;
WAIT:
    {wait}
    @!%p1 bra WAIT;
    selp.u32 %r3, 1, 0, %p2;
    cvt.u32.u8 %r4, %value;
    mbarrier.test_wait.parity.phase_type::conditional.shared::cta.b64 %p3, [bar], 0;
    mbarrier.try_wait.parity.phase_type::conditional.shared::cta.b64 %p4, [bar], 1, 1;
    selp.u32 %r5, 1, 0, %p3;
    selp.u32 %r6, 1, 0, %p4;
    st.global.v4.u32 [%d2], {{%r3, %r4, %r5, %r6}};
    add.u64 %d1, %d1, 64;
    add.u64 %d2, %d2, 16;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p5, %r1, %rows;
    @%p5 bra NEXT;
    ret;
}}
"""
WAITS = {
    "parity": "mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 %p1|%p2, %value, [bar], %r2;",
    "state": "mbarrier.test_wait.phase_type::primary.acquire.cta.b64 %p1|%p2, %value, [bar], %state;",
}


def run(device: Emulator, x: np.ndarray, mechanism: str, wait: str = "parity", layout: str = "v1") -> Any:
    """What the kernel leaves: of each row the report's predicate and value, and whether the conditional
    phases of parity 0 and 1 are complete."""
    out = device.array(np.zeros((len(x), 4), np.uint32))
    text = KERNEL.format(mechanism=mechanism, wait=WAITS[wait], layout=layout)
    device.load(text).kernel("k").launch(1, 1, [device.array(x), out, len(x)])
    device.synchronize()
    return out.numpy()


def elements(rows: np.ndarray, kind: str) -> np.ndarray:
    """The elements of each 16 bytes: (rows, 4, elements)."""
    chunks = rows.reshape(len(rows), -1, 16)
    if kind == "nibble":
        return np.stack([chunks % 16, chunks // 16], axis=3).reshape(len(rows), chunks.shape[1], 32)
    return np.ascontiguousarray(chunks).view(f"<{kind}")


def filled(kind: str, pattern: int) -> np.ndarray:
    """A row of nothing but the pattern."""
    if kind == "nibble":
        return np.full(ROW, pattern * 17, np.uint8)
    return np.full(ROW // np.dtype(kind).itemsize, pattern & 0xFFFFFFFF, f"<{kind}").view(np.uint8)


def rows_of(kind: str, pattern: int, count: int = 12) -> np.ndarray:
    """Rows of random bytes, some with the pattern somewhere, some all of it; none by chance."""
    random = np.random.default_rng(3)
    rows = random.integers(1, 0x70, (count, ROW), dtype=np.uint8) & 0x77
    size = 1 if kind == "nibble" else np.dtype(kind).itemsize
    for row in range(1, count, 2):
        place = int(random.integers(ROW // size)) * size if row % 4 == 1 else 16 * (row % 3)
        rows[row, place : place + size] = filled(kind, pattern)[:size]
    rows[count - 1] = filled(kind, pattern)
    return rows


def expected(reports: np.ndarray) -> np.ndarray:
    """What the kernel must leave, by whether each phase's copy reports: 9.7.15.16.8 of PTX ISA 9.4."""
    advanced = np.cumsum(~reports)
    return np.stack([reports, 0 * advanced, advanced % 2 == 1, advanced % 2 == 0], axis=1).astype(np.uint32)


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("order", ["lazy", "eager"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_copy_reports_what_it_looks_for(mechanism: str, order: str, wait: str) -> None:
    kind, pattern = MECHANISMS[mechanism]
    rows = rows_of(kind, pattern)
    hits = elements(rows, kind) == pattern
    reports = (hits[:, :, 0] if "per_16bytes" in mechanism else hits.any(axis=2)).any(axis=1)
    assert 0 < np.count_nonzero(reports) < len(reports)
    reports &= mechanism != "disabled"
    device = Emulator(order)
    np.testing.assert_array_equal(run(device, rows, mechanism, wait), expected(reports))
    assert device.findings == []


@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if "per_16bytes" in name])
def test_which_element_is_sampled_differs_in_random_order(mechanism: str) -> None:
    kind, pattern = MECHANISMS[mechanism]
    row = rows_of(kind, pattern, 2)[:1]
    half = row.copy()
    half[:, 8:16] = filled(kind, pattern)[8:16]
    found = {run(Emulator("random", seed=seed), half, mechanism)[0, 0] for seed in range(24)}
    assert found == {0, 1}
    whole = row.copy()
    whole[:, :16] = filled(kind, pattern)[:16]
    assert {run(Emulator("random", seed=seed), whole, mechanism)[0, 0] for seed in range(8)} == {1}
    assert {run(Emulator("random", seed=seed), row, mechanism)[0, 0] for seed in range(8)} == {0}


def test_both_phases_of_layout_v0_move_in_unison() -> None:
    rows = np.full((5, ROW), 0xFF, np.uint8)
    never = np.zeros(5, bool)
    np.testing.assert_array_equal(run(Emulator(), rows, "disabled", layout="v0"), expected(never))
    with pytest.raises(EmulatorFault, match="MBAR-LAYOUT"):
        run(Emulator(), rows, "validity::per_element::ff", layout="v0")


def test_a_launch_that_goes_on_has_no_report_in_layout_v0() -> None:
    device = Emulator(keep_going=True)
    rows = np.full((3, ROW), 0xFF, np.uint8)
    found = run(device, rows, "validity::per_element::ff", layout="v0")
    np.testing.assert_array_equal(found, expected(np.zeros(3, bool)))
    assert [finding.code for finding in device.findings] == ["P6200"]


def test_what_was_never_written_decides_no_report() -> None:
    device = Emulator()
    x, out = device.empty((2, ROW), "u8"), device.array(np.zeros((2, 4), np.uint32))
    kernel = device.load(
        KERNEL.format(mechanism="validity::per_16bytes::80", wait=WAITS["parity"], layout="v1")
    ).kernel("k")
    with pytest.raises(PtxkitError, match="whether the copy reports depends on bits that were never written"):
        kernel.launch(1, 1, [x, out, 2])


MULTICAST = """
.version 9.4
.target sm_107f
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out)
{
    .reg .pred %p<9>;
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .shared .align 128 .b8 buf[64];
    .shared .align 8 .b64 bar;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [out];
    mov.u32 %r1, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 0;
    mbarrier.init.layout::v1.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
    barrier.cluster.arrive.relaxed;
    barrier.cluster.wait.acquire;
    @%p1 cp.async.bulk.relaxed.gpu.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster::32b
        .mbarrier::report::validity::per_16bytes::8000.b128 [buf], [%d1], 64, [bar], 14;
WAIT:
    setp.ne.u32 %p2, %r1, 0;
    @!%p2 bra DONE;
    mbarrier.try_wait.parity.phase_type::primary.acquire.cluster.shared::cta.b64 %p2|%p3, [bar], 0;
    @!%p2 bra WAIT;
    selp.u32 %r2, 1, 2, %p3;
    mad.wide.u32 %d2, %r1, 4, %d2;
    st.global.u32 [%d2], %r2;
DONE:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
}
"""


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("bad", [False, True])
def test_a_multicast_copy_reports_in_each_cta_of_its_mask(order: str, bad: bool) -> None:
    device = Emulator(order)
    x, out = np.arange(32, dtype=np.uint16) + 1, device.array(np.zeros(4, np.uint32))
    x[8:16] = 0x8000 if bad else 3
    device.load(MULTICAST).kernel("k").launch(4, 1, [device.array(x), out], cluster=4)
    device.synchronize()
    np.testing.assert_array_equal(out.numpy(), [0, *[1 if bad else 2] * 3])
    assert device.findings == []


def test_a_deadlock_names_the_copy_that_reported() -> None:
    """A thread waits for the conditional phase of a phase that has reported, and does nothing else."""
    device = Emulator()
    stuck = WAITS["parity"].replace("primary", "conditional").replace("|%p2, %value", "")
    text = KERNEL.format(mechanism="validity::per_element::ff", wait=stuck, layout="v1")
    out = device.array(np.zeros((1, 4), np.uint32))
    with pytest.raises(EmulatorFault) as caught:
        device.load(text).kernel("k").launch(1, 1, [device.array(np.full(ROW, 0xFF, np.uint8)), out, 1])
    (found,) = caught.value.diagnostics
    assert found.code == "P668"
    (said,) = (note for note in found.notes if "has reported" in note)
    assert "phase 1, pending count 1 of 1, tx-count 0, conditional phase 0" in said
    assert "per_element::ff` at line 20 has reported: conditional phase 0 has not advanced" in said


LAYOUTS = """
.version 9.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<5>;
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .shared .align 8 .b64 first, second, third;
    ld.param.u64 %d1, [out];
    mbarrier.init.shared::cta.b64 [first], 1;
    mbarrier.init.layout::v0.shared::cta.b64 [second], 1;
    mbarrier.init.layout::v1.shared::cta.b64 [third], 511;
    cvta.shared.u64 %d2, third;
    mbarrier.check_layout.layout::v0.shared::cta.b64 %p1, [first];
    mbarrier.check_layout.layout::v1.shared::cta.b64 %p2, [second];
    mbarrier.check_layout.layout::v1.b64 %p3, [%d2];
    mbarrier.inval.shared::cta.b64 [third];
    mbarrier.init.layout::v0.shared::cta.b64 [third], 1;
    mbarrier.check_layout.layout::v1.b64 %p4, [%d2]; // last
    selp.u32 %r1, 1, 0, %p1;
    selp.u32 %r2, 1, 0, %p2;
    selp.u32 %r3, 1, 0, %p3;
    selp.u32 %r4, 1, 0, %p4;
    st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
    ret;
}
"""


def test_which_layout_an_mbarrier_has() -> None:
    device = Emulator()
    out = device.array(np.zeros(4, np.uint32))
    device.load(LAYOUTS).kernel("k").launch(1, 1, [out])
    np.testing.assert_array_equal(out.numpy(), [1, 0, 1, 0])
    assert device.findings == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("[third], 511;", "[third], 512;", "P674"),
        ("mbarrier.init.layout::v0.shared::cta.b64 [third], 1;", "", "P673"),
        ("mbarrier.init.shared::cta.b64 [first], 1;", "", "P670"),
        ("[%d2]; // last", "[%d2+-4];", "P603"),
        ("[%d2]; // last", "[%d1];", "P602"),
    ],
)
def test_what_has_no_layout(old: str, new: str, code: str) -> None:
    device = Emulator()
    text = LAYOUTS.replace(old, new)
    assert text != LAYOUTS
    with pytest.raises(EmulatorFault) as caught:
        device.load(text).kernel("k").launch(1, 1, [device.array(np.zeros(4, np.uint32))])
    assert [found.code for found in caught.value.diagnostics] == [code]


def test_the_layout_of_another_cta_s_mbarrier_cannot_be_asked_for() -> None:
    text = LAYOUTS.replace("[%d2]; // last", "[%d4];").replace(
        "    mbarrier.check_layout.layout::v0.shared::cta.b64",
        "    barrier.cluster.arrive; barrier.cluster.wait;\n"
        "    mov.u32 %r5, %cluster_ctarank; xor.b32 %r5, %r5, 1;\n"
        "    cvta.shared.u64 %d3, first; mapa.u64 %d4, %d3, %r5;\n"
        "    mbarrier.check_layout.layout::v0.shared::cta.b64",
    )
    device = Emulator()
    with pytest.raises(EmulatorFault, match="MBAR-REMOTE-WAIT"):
        device.load(text).kernel("k").launch(2, 1, [device.array(np.zeros(4, np.uint32))], cluster=2)
