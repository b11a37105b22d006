"""Each finding of the emulator: a kernel that provokes it, and the same kernel repaired."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import STORE_R1, fault, launch, line_of, module

from ptxkit.diagnostics import PtxkitError, code_table
from ptxkit.emulator import Emulator, EmulatorFault

TID = "    mov.u32 %r20, %tid.x;\n"
LOAD_IN = """
    ld.param.u64 %rd1, [in];
    mad.wide.u32 %rd1, %r20, 4, %rd1;
"""
IN_OUT = ".param .u64 in, .param .u64 out"


def ints(device: Emulator, count: int) -> object:
    return device.array(np.arange(count, dtype=np.uint32))


# ---- P602, P603, P604


def test_out_of_bounds() -> None:
    text = module(TID + LOAD_IN + "    ld.global.u32 %r1, [%rd1];\n" + STORE_R1, IN_OUT)
    device = Emulator()
    out = device.empty(64, np.uint32)
    found = fault("P602", text, [ints(device, 40), out], block=64, device=device)
    assert found.span is not None
    assert found.span.line == line_of(text, "ld.global.u32")
    assert found.message.startswith("out of bounds: 4 bytes at 0x7e")
    assert found.notes[0] == "thread (40, 0, 0) of CTA (0, 0, 0)"
    assert "0 bytes past the end of `array uint32[40]`" in found.notes[1]
    launch(text, [ints(device, 64), out], block=64, device=device)
    assert np.array_equal(out.numpy(), np.arange(64))


@pytest.mark.parametrize("rows", [0, 1, 7, 99])
def test_an_index_that_is_rows_off_meets_no_other_buffer(rows: int) -> None:
    """Of 100 rows of 1000 words, `rows` rows past the end."""
    text = module(
        TID + LOAD_IN + f"    ld.global.u32 %r1, [%rd1 + {4000 * (100 + rows)}];\n" + STORE_R1, IN_OUT
    )
    device = Emulator()
    buffers = [ints(device, 100_000), device.empty(100_000, np.uint32)]
    found = fault("P602", text, buffers, device=device)
    assert f"{4000 * rows} bytes past the end of `array uint32[100000]`" in found.notes[1]


def test_out_of_bounds_between_two_buffers() -> None:
    """Lanes may hit several buffers at once; the one that hits none is found."""
    body = """
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    setp.eq.u32 %p1, %r20, 3;
    and.b32 %r2, %r20, 1;
    setp.eq.u32 %p2, %r2, 1;
    selp.b64 %rd3, %rd1, %rd2, %p2;
    @%p1 add.u64 %rd3, %rd3, 4094;
    st.global.u32 [%rd3], 1;
"""
    device = Emulator()
    one, other = ints(device, 4), ints(device, 4)
    assert (
        "thread (3, 0, 0)" in fault("P602", module(TID + body, IN_OUT), [one, other], device=device).notes[0]
    )
    launch(module(TID + body.replace("4094", "4"), IN_OUT), [one, other], device=device)


@pytest.mark.parametrize(
    ("space", "address", "message"),
    [
        ("shared", "1024 + 64", "4 bytes at 0x440 of shared memory"),
        ("shared", "16", "4 bytes at 0x10 of shared memory"),
        ("local", "256 + 16", "4 bytes at 0x110 of local memory"),
        ("const", "1024 + 4", "4 bytes at 0x404 of const memory"),
        ("param", "1024 + 8", "4 bytes at 0x408 of param memory"),
    ],
)
def test_out_of_bounds_of_a_space(space: str, address: str, message: str) -> None:
    body = f"""
    .shared .align 4 .b8 s[64];
    .local .align 4 .b8 l[16];
    mov.u32 %r2, {address};
    ld.{space}.u32 %r1, [%r2];
"""
    text = module(body, before=".const .b32 c = 7;")
    assert message in fault("P602", text, [0]).message


def test_null_pointer() -> None:
    text = module("    ld.param.u64 %rd1, [out];\n    ld.u32 %r1, [%rd1];\n")
    assert "4 bytes at 0x0 of global memory" in fault("P602", text, [0]).message


def test_guarded_access_of_lanes_inside() -> None:
    """Lanes that a guard switches off may hold any address."""
    body = (
        TID
        + LOAD_IN
        + """
    mov.u32 %r1, 9;
    setp.lt.u32 %p1, %r20, 8;
    @%p1 ld.global.u32 %r1, [%rd1];
"""
    )
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(module(body + STORE_R1, IN_OUT), [ints(device, 8), out], device=device)
    assert list(out.numpy()) == [*range(8), *[9] * 24]


@pytest.mark.parametrize(("form", "step"), [("u32", 2), ("v4.u32", 4), ("v2.u64", 8), ("b128", 8)])
def test_misaligned(form: str, step: int) -> None:
    registers = {"u32": "%r1", "v4.u32": "{%r1, %r2, %r3, %r4}", "v2.u64": "{%rd2, %rd3}", "b128": "%q"}[form]
    body = (
        TID
        + f"""
    .reg .b128 %q;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r20, 16, %rd1;
    setp.eq.u32 %p1, %r20, 5;
    @%p1 add.u64 %rd1, %rd1, STEP;
    ld.global.{form} {registers}, [%rd1];
"""
    )
    device = Emulator()
    out = device.array(np.zeros(256, np.uint32))
    found = fault("P603", module(body.replace("STEP", str(step))), [out], device=device)
    assert "thread (5, 0, 0) of CTA (0, 0, 0)" in found.notes[0]
    launch(module(body.replace("STEP", "16")), [out], device=device)


def test_use_after_free() -> None:
    text = module("    ld.param.u64 %rd1, [out];\n    st.global.u32 [%rd1], 1;\n")
    device = Emulator()
    buffer = device.empty(4, np.uint32)
    launch(text, [buffer], device=device)
    address = buffer.address
    buffer.free()
    found = fault("P604", text, [address], device=device)
    assert found.notes[1].endswith("was freed: the host freed it")
    with pytest.raises(PtxkitError, match="P604"):
        buffer.numpy()


# ---- P605, P606


def test_undefined_branch() -> None:
    body = """
    .shared .align 4 .b32 s;
    ld.shared.u32 %r2, [s];
    add.u32 %r3, %r2, 1;
    setp.gt.u32 %p1, %r3, 7;
    mov.u32 %r1, 0;
    @%p1 bra END;
    mov.u32 %r1, 1;
END:
"""
    text = module(body + STORE_R1)
    device = Emulator()
    out = device.empty(32, np.uint32)
    found = fault("P605", text, [out], device=device)
    assert found.message == "undefined: the guard `%p1` depends on bits that were never written"
    assert found.span is not None
    assert found.span.line == line_of(text, "bra END")
    assert [label.span.line for label in found.labels] == [line_of(text, "ld.shared")]
    repaired = text.replace("    ld.shared.u32", "    st.shared.u32 [s], 3;\n    ld.shared.u32")
    launch(repaired, [out], device=device)
    assert np.array_equal(out.numpy(), np.ones(32))


def test_undefined_register_as_address() -> None:
    body = "    @%p1 mov.u64 %rd2, 0;\n    ld.global.u32 %r1, [%rd2];\n"
    found = fault("P605", module("    setp.eq.u32 %p1, 0, 1;\n" + body), [0])
    assert found.message == "undefined: the address `%rd2` depends on bits that were never written"
    assert "register `%rd2`" in found.notes[1]


def test_undefined_result() -> None:
    """The finding names the store, and the first undefined read behind it, through shared memory."""
    body = """
    .shared .align 4 .b32 s[32];
    mov.u32 %r3, s;
    mad.lo.u32 %r3, %r20, 4, %r3;
    setp.ne.u32 %p1, %r20, 5;
    @%p1 st.shared.u32 [%r3], %r20;
    bar.sync 0;
    ld.shared.u32 %r2, [%r3];
    mul.lo.u32 %r1, %r2, 3;
"""
    text = module(TID + body + STORE_R1)
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(text, [out], device=device)
    with pytest.raises(EmulatorFault) as caught:
        out.numpy()
    (found,) = caught.value.diagnostics
    assert found.code == "P606"
    assert "element [5] of `empty uint32[32]`" in found.message
    assert found.span is not None
    assert found.span.line == line_of(text, "st.global.u32")
    assert any(
        "shared memory" in note and f"line {line_of(text, 'ld.shared')}" in note for note in found.notes
    )
    launch(text.replace("setp.ne.u32 %p1, %r20, 5", "setp.ne.u32 %p1, %r20, 55"), [out], device=device)
    assert np.array_equal(out.numpy(), np.arange(32) * 3)


@pytest.mark.parametrize("kind", ["red.global.add.u32 [%rd4], %r2", "atom.global.add.u32 %r3, [%rd4], %r2"])
def test_an_atomic_takes_nothing_from_lanes_that_stay_out(kind: str) -> None:
    """What nobody wrote spoils the places of the lanes that bring it, and no others."""
    body = f"""
    .shared .align 4 .b32 s[32];
    mov.u32 %r4, s;
    mad.lo.u32 %r4, %r20, 4, %r4;
    setp.lt.u32 %p1, %r20, 16;
    @%p1 st.shared.u32 [%r4], %r20;
    bar.warp.sync -1;
    ld.shared.u32 %r2, [%r4];
    ld.param.u64 %rd4, [in];
    mad.wide.u32 %rd4, %r20, 4, %rd4;
    setp.lt.u32 %p2, %r20, 16;
    @%p2 {kind};
    mov.u32 %r1, 1;
"""
    text = module(TID + body + STORE_R1, IN_OUT)
    device = Emulator()
    sums, out = device.array(np.arange(32, dtype=np.uint32)), device.empty(32, np.uint32)
    launch(text, [sums, out], device=device)
    values = np.arange(32)
    assert np.array_equal(sums.numpy(), np.where(values < 16, 2 * values, values))
    launch(text.replace("setp.lt.u32 %p2, %r20, 16", "setp.le.u32 %p2, %r20, 16"), [sums, out], device=device)
    with pytest.raises(EmulatorFault) as caught:
        sums.numpy()
    (found,) = caught.value.diagnostics
    assert found.code == "P606"
    assert "element [16] of `array uint32[32]`" in found.message


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_an_exchange_defines_its_place(kind: str) -> None:
    """What was there goes to the lane that comes first, with its undefined bits, and to no other."""
    body = f"""
    .shared .align 8 .b64 s;
    .reg .b32 %x<3>;
    .reg .b64 %y<3>;
    cvt.u64.u32 %y1, %r20;
    mov.u32 %x1, %r20;
    atom.shared.exch.{kind} %{"x" if kind == "b32" else "y"}2, [s], %{"x" if kind == "b32" else "y"}1;
    cvt.u32.u64 %r3, %y2;
    mov.u32 %r3, %x2;
    bar.sync 0;
    ld.shared.u32 %r1, [s];
"""
    body = "\n".join(line for line in body.split("\n") if ("%y" if kind == "b32" else "%x") not in line)
    text = module(TID + body + STORE_R1)
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(text, [out], device=device)
    assert np.array_equal(out.numpy(), np.full(32, 31))
    launch(text.replace("ld.shared.u32 %r1, [s]", "mov.u32 %r1, %r3"), [out], device=device)
    with pytest.raises(EmulatorFault) as caught:
        out.numpy()
    (found,) = caught.value.diagnostics
    assert found.code == "P606"
    assert "element [0] of `empty uint32[32]`" in found.message


def test_an_exchange_brings_its_operands_undefined_bits() -> None:
    body = """
    .shared .align 4 .b32 s;
    @%p1 mov.u32 %r2, 3;
    atom.shared.exch.b32 %r3, [s], %r2;
    bar.sync 0;
    ld.shared.u32 %r1, [s];
"""
    text = module(TID + "    setp.lt.u32 %p1, %r20, 31;\n" + body + STORE_R1)
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(text, [out], device=device)
    with pytest.raises(EmulatorFault, match="P606"):
        out.numpy()
    launch(text.replace("setp.lt.u32 %p1, %r20, 31", "setp.gt.u32 %p1, %r20, 0"), [out], device=device)
    assert np.array_equal(out.numpy(), np.full(32, 3))


def test_memory_that_no_kernel_wrote_reads_back() -> None:
    device = Emulator()
    assert device.empty(8, np.float32).numpy().shape == (8,)


def test_undefined_bits_may_be_copied_and_masked() -> None:
    """Compilers move undefined registers about; what is masked off again is no finding."""
    body = (
        TID
        + """
    .shared .align 4 .b32 s[2];
    .local .align 8 .b64 l;
    mov.u32 %r3, s;
    ld.shared.u32 %r2, [%r3];
    st.local.u32 [l], %r2;
    ld.local.u32 %r4, [l];
    and.b32 %r5, %r4, 0;
    add.u32 %r1, %r5, %r20;
    mov.b64 %rd1, {%r4, %r20};
    mov.b64 {%r6, %r7}, %rd1;
    add.u32 %r1, %r1, %r7;
    shfl.sync.bfly.b32 %r8, %r2, 1, 31, -1;
"""
    )
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(module(body + STORE_R1), [out], device=device)
    assert np.array_equal(out.numpy(), 2 * np.arange(32))


def test_undefined_bytes_written_by_the_host() -> None:
    text = module(TID + LOAD_IN + "    ld.global.u32 %r1, [%rd1];\n" + STORE_R1, IN_OUT)
    device = Emulator()
    source, out = device.empty(32, np.uint32), device.empty(32, np.uint32)
    launch(text, [source, out], device=device)
    with pytest.raises(EmulatorFault, match="P606"):
        out.numpy()
    source.write(np.arange(32, dtype=np.uint32))
    launch(text, [source, out], device=device)
    assert np.array_equal(out.numpy(), np.arange(32))


def test_undefined_without_the_sanitizer() -> None:
    device = Emulator(sanitize=False)
    out = device.empty(32, np.uint32)
    body = "    .shared .align 4 .b32 s;\n    ld.shared.u32 %r1, [s];\n"
    launch(module(body + STORE_R1), [out], device=device)
    assert out.numpy().shape == (32,)


# ---- the rules of barriers and warps


def test_barrier_deadlock() -> None:
    body = (
        TID
        + """
    setp.ge.u32 %p1, %r20, 64;
    @%p1 bra OTHER;
    bar.sync 0;
    bra END;
OTHER:
    barrier.sync 1, 96;
END:
"""
    )
    found = fault("P636", module(body), [0], block=128)
    assert found.message == "BAR-DEADLOCK: 4 warps wait, and nothing can release them"
    line = line_of(module(body), "bar.sync 0")
    assert found.notes[0] == (
        f"warps 0-1 of CTA (0, 0, 0) at line {line}: wait for barrier 0 of CTA (0, 0, 0), "
        "which expects all warps; warps 2, 3 have not arrived"
    )
    assert (
        "barrier 1 of CTA (0, 0, 0), which expects 96 threads; warps 0, 1 have not arrived" in found.notes[1]
    )
    assert len(found.notes) == 2
    launch(module(body.replace("1, 96", "1, 64").replace("bar.sync 0", "bar.sync 0, 64")), [0], block=128)


def test_a_warp_whose_lanes_have_parted_waits_once_and_a_state_is_told_once() -> None:
    """Lane 0 of the first of four warps waits elsewhere than the other lanes: five lane sets, four warps."""
    body = (
        TID
        + """
    .shared .align 8 .b64 bar;
    setp.ne.u32 %p1, %r20, 0;
    mov.u32 %r1, bar;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [%r1], 2;
READY:
    bar.sync 0;
    @%p1 bra OTHERS;
    mbarrier.arrive.shared.b64 _, [%r1];
FIRST:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra FIRST;
    bra END;
OTHERS:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra OTHERS;
END:
"""
    )
    found = fault("P676", module(body), [0], block=128)
    assert found.message == "MBAR-UNDER-ARRIVE: 4 warps wait, and nothing can release them"
    waits = [note for note in found.notes if "wait" in note]
    assert len(waits) == 3
    assert sum("pending count 1 of 2" in note for note in found.notes) == 1
    assert all("of the mbarrier at 0x" in note for note in waits)


def test_lane_missing() -> None:
    body = (
        TID
        + """
    setp.ge.u32 %p1, %r20, 8;
    @%p1 bra OTHER;
    shfl.sync.bfly.b32 %r1, %r20, 1, 31, MASK;
    bra END;
OTHER:
    bar.warp.sync -1;
END:
"""
    )
    found = fault("P622", module(body.replace("MASK", "-1")), [0])
    assert found.message == "SYNC-LANE-MISSING: 1 warp waits, and nothing can release it"
    assert "lanes 0xffffff00 of its member mask 0xffffffff" in found.notes[0]
    launch(module(body.replace("MASK", "0xff").replace("sync -1", "sync 0xffffff00")), [0])


def test_same_instruction_in_two_places_meets() -> None:
    body = (
        TID
        + """
    setp.ge.u32 %p1, %r20, 8;
    @%p1 bra OTHER;
    shfl.sync.bfly.b32 %r1, %r20, 16, 31, -1;
    bra END;
OTHER:
    add.u32 %r2, %r20, 100;
    shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;
END:
"""
    )
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(module(body + STORE_R1), [out], device=device)
    held = np.where(np.arange(32) < 8, np.arange(32), np.arange(32) + 100)
    assert np.array_equal(out.numpy(), held[np.arange(32) ^ 16])


def test_own_lane_not_in_the_mask() -> None:
    body = TID + "    vote.sync.any.pred %p1, %p2, MASK;\n"
    body = "    setp.eq.u32 %p2, 0, 0;\n" + body
    found = fault("P620", module(body.replace("MASK", "0xfffffffe")), [0])
    assert found.message.startswith("SYNC-MASK-SELF: lane 0 executes `vote.sync.any.pred`")
    launch(module(body.replace("MASK", "0xffffffff")), [0])


def test_different_masks() -> None:
    body = (
        TID
        + """
    setp.lt.u32 %p1, %r20, 16;
    selp.b32 %r2, 0x0000ffff, HIGH, %p1;
    redux.sync.add.u32 %r1, %r20, %r2;
"""
    )
    found = fault("P621", module(body.replace("HIGH", "0xffffffff")), [0])
    assert found.notes == (
        "thread (16, 0, 0) of CTA (0, 0, 0) has 0xffffffff, which names lane 0",
        "thread (0, 0, 0) of CTA (0, 0, 0) has 0x0000ffff",
    )
    launch(module(body.replace("HIGH", "0xffff0000")), [0])


def test_shuffle_from_an_inactive_lane() -> None:
    """It returns something undefined, which is a finding where it matters."""
    body = (
        TID
        + """
    mov.u32 %r1, 0;
    setp.ge.u32 %p1, %r20, 16;
    @%p1 bra END;
    shfl.sync.down.b32 %r1, %r20, 8, 31, 0xffff;
END:
"""
    )
    device = Emulator()
    out = device.empty(32, np.uint32)
    launch(module(body + STORE_R1), [out], device=device)
    with pytest.raises(EmulatorFault) as caught:
        out.numpy()
    (found,) = caught.value.diagnostics
    assert "element [8]" in found.message
    assert any("SHFL-INACTIVE" in note for note in found.notes)
    launch(module(body.replace("8, 31", "8, 15") + STORE_R1), [out], device=device)
    assert list(out.numpy()[:16]) == [*range(8, 16), *range(8, 16)]


def test_uniform_branch() -> None:
    body = TID + "    setp.lt.u32 %p1, %r20, 40;\n    @%p1 bra.uni END;\n    mov.u32 %r1, 1;\nEND:\n"
    found = fault("P626", module(body), [0], block=64)
    assert found.notes == (
        "thread (32, 0, 0) of CTA (0, 0, 0) takes the branch",
        "thread (40, 0, 0) of CTA (0, 0, 0) does not",
    )
    launch(module(body.replace("40;", "32;")), [0], block=64)


@pytest.mark.parametrize(
    ("code", "wrong", "right"),
    [
        ("P630", "@%p1 bar.sync 1, 64;\n    @!%p1 bar.sync 1, 96;", "bar.sync 1, 64;"),
        ("P631", "mov.u32 %r2, 48;\n    bar.sync 1, %r2;", "mov.u32 %r2, 64;\n    bar.sync 1, %r2;"),
        ("P632", "mov.u32 %r2, 16;\n    bar.sync %r2;", "mov.u32 %r2, 15;\n    bar.sync %r2;"),
        (
            "P633",
            "@%p1 bar.sync 1;\n    @!%p1 bar.red.popc.u32 %r2, 1, %p1;",
            "bar.red.popc.u32 %r2, 1, %p1;",
        ),
        ("P634", "@%p1 barrier.arrive 1, 64;\n    @%p1 barrier.sync 1, 64;", "barrier.sync 1, 64;"),
    ],
)
def test_rules_of_barriers(code: str, wrong: str, right: str) -> None:
    body = TID + "    setp.lt.u32 %p1, %r20, 32;\n    {}\n"
    name = code_table()[code].name
    assert fault(code, module(body.format(wrong)), [0], block=64).message.startswith(f"{name}: ")
    launch(module(body.format(right)), [0], block=64)


def test_diverged_barrier() -> None:
    body = (
        TID
        + """
    and.b32 %r2, %r20, 1;
    setp.eq.u32 %p1, %r2, 1;
    @%p1 bra ODD;
    bar.sync 0;
    bra END;
ODD:
    bar.sync 0;
END:
"""
    )
    found = fault("P635", module(body), [0])
    assert found.message == "BAR-DIVERGED: a warp reaches `bar.sync` in parts"
    launch(module(body.replace("bar.sync", "barrier.sync")), [0])


# ---- P601, P610, P611, P614, P618


def test_not_emulated() -> None:
    text = module(
        "    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}], %f7;\n", before=".global .texref t;"
    )
    with pytest.raises(PtxkitError) as caught:
        launch(text, [0])
    assert [found.code for found in caught.value.diagnostics] == ["P601"]
    assert "`tex.2d.v4.f32.f32`" in caught.value.diagnostics[0].message


def test_trap() -> None:
    body = TID + "    setp.eq.u32 %p1, %r20, 7;\n    @%p1 trap;\n"
    found = fault("P610", module(body), [0])
    assert found.notes == ("thread (7, 0, 0) of CTA (0, 0, 0)",)
    launch(module(body.replace("20, 7", "20, 77")), [0])


def test_stack_overflow() -> None:
    before = """
.func down(.reg .b32 n)
{
    .reg .pred %p;
    .local .align 8 .b8 space[1024];
    .reg .b32 m;
    setp.eq.u32 %p, n, 0;
    @%p ret;
    sub.u32 m, n, 1;
    call down, (m);
    ret;
}
"""
    body = "    mov.u32 %r1, DEPTH;\n    call down, (%r1);\n"
    found = fault("P611", module(body.replace("DEPTH", "600"), before=before), [0])
    assert found.message.startswith(
        "stack overflow: expected at most 524288 bytes of local memory, found 525"
    )
    launch(module(body.replace("DEPTH", "100"), before=before), [0])


def test_branch_index_out_of_range() -> None:
    body = TID + "targets: .branchtargets A, B;\n    brx.idx %r20, targets;\nA:\nB:\n"
    found = fault("P614", module(body), [0])
    assert found.message == "branch index out of range: expected less than 2, found 2"
    launch(module("    mov.u32 %r20, 1;\n" + body.replace(TID, "")), [0])


def test_call_of_no_function() -> None:
    before = ".func f() { ret; }\n"
    body = """
    mov.u64 %rd1, f;
    add.u64 %rd1, %rd1, STEP;
proto: .callprototype _ ();
    call %rd1, (), proto;
"""
    assert fault("P614", module(body.replace("STEP", "8"), before=before), [0]).code == "P614"
    launch(module(body.replace("STEP", "0"), before=before), [0])


def test_double_free() -> None:
    before = """
.extern .func (.param .b64 r) malloc (.param .b64 size);
.extern .func free (.param .b64 p);
"""
    body = """
    .param .b64 size, p, q;
    st.param.b64 [size], 64;
    call (p), malloc, (size);
    ld.param.b64 %rd1, [p];
    st.param.b64 [q], %rd1;
    call free, (q);
"""
    twice = body + "    call free, (q);\n"
    assert "for the second time" in fault("P618", module(twice, before=before), [0], block=1).message
    launch(module(body, before=before), [0])


def test_every_code_is_explained_and_tested() -> None:
    """Every P6 code that the package emits has its entry, and this folder's tests name it."""
    import re
    from pathlib import Path

    import ptxkit

    root = Path(ptxkit.__file__).parent
    emitted = {
        code
        for path in (root / "emulator").rglob("*.py")
        for code in re.findall(r'"(P6\d\d)"', path.read_text())
    }
    here = Path(__file__).parent
    tests = "".join(path.read_text() for path in (*here.glob("*.py"), *here.rglob("*.ptx")))
    known = {code for code in code_table() if code.startswith("P6")}
    assert emitted - known == set()
    assert {code for code in emitted if code not in tests} == set()


SPIN = """
    mov.u32 %r20, %tid.x;
    ld.param.u64 %rd1, [out];
    setp.ne.u32 %p1, %r20, 0;
    @%p1 bra MEET;
WAIT:
    ld.acquire.gpu.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 nanosleep.u32 100;
    @%p2 bra WAIT;
MEET:
    bar.sync 0;
"""


def test_livelock() -> None:
    device = Emulator()
    flag = device.array(np.zeros(1, np.uint32))
    found = fault("P608", module(SPIN), [flag], block=64, device=device)
    assert found.message == "LIVELOCK: 2 warps loop, polling memory that will never change"
    line = line_of(module(SPIN), "ld.acquire")
    assert found.notes[0] == (
        "warp 0 of CTA (0, 0, 0), lanes 0x00000001 polls memory by "
        f"`ld.acquire.gpu.global.u32` at line {line}"
    )
    flag.write(np.ones(1, np.uint32))
    launch(module(SPIN), [flag], block=64, device=device)


def test_a_loop_that_ends_is_no_livelock() -> None:
    """It counts its looks, or it looks at a clock."""
    counted = SPIN.replace(
        "@%p2 bra WAIT", "add.u32 %r3, %r3, 1;\n    setp.lt.u32 %p2, %r3, 2000;\n    @%p2 bra WAIT"
    )
    counted = "    mov.u32 %r3, 0;\n" + counted
    timed = SPIN.replace(
        "@%p2 bra WAIT",
        "mov.u64 %rd2, %globaltimer;\n    sub.u64 %rd2, %rd2, %rd3;\n"
        "    setp.lt.u64 %p2, %rd2, 300000;\n    @%p2 bra WAIT",
    )
    timed = "    mov.u64 %rd3, %globaltimer;\n" + timed
    for body in (counted, timed):
        device = Emulator()
        launch(module(body), [device.array(np.zeros(1, np.uint32))], block=64, device=device)


def test_ctas_without_room() -> None:
    """CTA 0 waits for the last one, which can't start: each fills a multiprocessor's shared memory."""
    body = """
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %nctaid.x;
    ld.param.u64 %rd1, [out];
    add.u32 %r4, %r2, 1;
    setp.eq.u32 %p1, %r4, %r3;
    @%p1 bra SET;
WAIT:
    ld.acquire.gpu.global.u32 %r5, [%rd1];
    setp.eq.u32 %p2, %r5, 0;
    @%p2 bra WAIT;
    ret;
SET:
    st.release.gpu.global.u32 [%rd1], 1;
"""
    device = Emulator()
    flag = device.array(np.zeros(1, np.uint32))
    found = fault("P608", module(body), [flag], grid=140, device=device, shared=200 * 1024)
    assert found.notes[-1].startswith("8 CTAs have not started")
    launch(module(body), [flag], grid=132, device=device, shared=200 * 1024)


def test_polls_while_copies_are_in_flight() -> None:
    """CTA 0 polls; the copies that CTA 1 waits for come one after the other, so nothing is stuck."""
    body = """
    mov.u32 %r2, %ctaid.x;
    ld.param.u64 %rd1, [out];
    setp.eq.u32 %p1, %r2, 1;
    @%p1 bra SET;
WAIT:
    ld.acquire.gpu.global.u32 %r5, [%rd1];
    setp.eq.u32 %p2, %r5, 0;
    @%p2 bra WAIT;
    ret;
SET:
    add.u64 %rd2, %rd1, 16;
    mbarrier.init.shared.b64 [full], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
"""
    bulk = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    copy = f"    {bulk} [data+{{0}}], [%rd2], 16, [full];\n"
    end = """
FULL:
    mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
    @!%p2 bra FULL;
    st.release.gpu.global.u32 [%rd1], 1;
"""
    before = ".shared .align 8 .b64 full;\n.shared .align 16 .b8 data[256];\n"
    text = module(body + "".join(copy.format(16 * number) for number in range(16)) + end, before=before)
    for seed in range(5):
        device = Emulator(order="random", seed=seed)
        flag = device.array(np.zeros(8, np.uint32))
        launch(text, [flag], block=1, grid=2, device=device)
        assert flag.numpy()[0] == 1


def test_division_by_zero() -> None:
    body = "    mov.u32 %r20, %tid.x;\n    div.u32 %r1, 100, %r20;\n"
    text = module(body + STORE_R1)
    device = Emulator()
    out = device.empty(64, np.uint32)
    launch(text, [out], block=64, device=device)
    (found,) = device.findings
    assert (found.code, str(found.severity)) == ("P615", "warning")
    assert found.notes == ("thread (0, 0, 0) of CTA (0, 0, 0)",)
    assert list(out.numpy()[:3]) == [0xFFFF_FFFF, 100, 50]
    guarded = body.replace("    div", "    setp.ne.u32 %p1, %r20, 0;\n    mov.u32 %r1, 0;\n    @%p1 div")
    device = Emulator()
    launch(module(guarded + STORE_R1), [device.empty(64, np.uint32)], block=64, device=device)
    assert device.findings == []
