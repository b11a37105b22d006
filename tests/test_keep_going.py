"""Going past errors: each is reported once, what can't be executed is left out, and the launch goes on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from asynchronous_kernels import KERNELS, AsyncKernel
from command import codes, here
from test_kernel_faults import FAULTS as KERNEL_FAULTS
from test_kernel_faults import TABLES, broken

from ptxkit.emulator import Emulator, EmulatorFault
from ptxkit.shipped import kernels

LONG = {("sentinel", 6)}
"""Faults that are gone past thousands of times, until an mbarrier's tx-count is out of range for good."""
ASYNC_FAULTS = [
    pytest.param(
        kernel,
        fault,
        id=f"{kernel.name}-{number}-{fault[0].replace(' ', '-')}",
        marks=[pytest.mark.slow] if number % 2 or (kernel.name, number) in LONG else [],
    )
    for kernel in KERNELS
    for number, fault in enumerate(kernel.header["faults"])
]

HEAD = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out)
{
    .reg .u32 %r<16>;
    .reg .u64 %d<16>;
    .reg .f32 %f<4>;
    .reg .pred %p<4>;
    .shared .align 16 .b8 tile[1024];
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d1, %d1, %d3;
    add.u64 %d2, %d2, %d3;
"""


def launch(
    body: str, x: int = 64, out: int = 64, block: int = 64, **options: object
) -> tuple[Emulator, np.ndarray]:
    """A kernel of `x` words of ones and `out` words of 7; and what it leaves there."""
    device = Emulator(**{"keep_going": True, **options})
    given, taken = device.array(np.ones(x, np.uint32)), device.array(np.full(out, 7, np.uint32))
    device.load(f"{HEAD}{body}\n    ret;\n}}\n").kernel().launch(1, 64, [given, taken])
    return device, taken.numpy()


def found(device: Emulator) -> list[str]:
    return [each.code for each in device.findings]


def test_a_bad_load_gives_undefined_bits_and_a_bad_store_is_dropped() -> None:
    body = "ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 4; st.global.u32 [%d2], %r2;"
    device, out = launch(body, x=60, out=62)
    assert found(device) == ["P602", "P602", "P606"]
    assert "4 threads here, up to thread (63, 0, 0) of CTA (0, 0, 0)" in device.findings[0].notes
    assert "2 threads here, up to thread (63, 0, 0) of CTA (0, 0, 0)" in device.findings[1].notes
    assert out[:60].tolist() == [5] * 60


def test_only_the_lanes_that_are_wrong_are_left_out() -> None:
    """Lanes 3 and 40 have odd addresses, lane 50 no memory at all."""
    body = """
    setp.eq.u32 %p1, %r1, 3; setp.eq.or.u32 %p1, %r1, 40, %p1; @%p1 add.u64 %d1, %d1, 2;
    setp.eq.u32 %p2, %r1, 50; @%p2 mov.u64 %d1, 64;
    mov.u32 %r2, 9;
    ld.global.u32 %r2, [%d1];
    or.pred %p3, %p1, %p2; @%p3 mov.u32 %r2, 0;
    st.global.u32 [%d2], %r2;"""
    device, out = launch(body)
    assert sorted(found(device)) == ["P602", "P603"]
    assert out.tolist() == [0 if lane in (3, 40, 50) else 1 for lane in range(64)]


def test_what_was_not_loaded_is_undefined_where_it_decides() -> None:
    body = """
    ld.global.u32 %r2, [%d1];
    setp.ne.u32 %p1, %r2, 0;
    @%p1 st.global.u32 [%d2], %r2;"""
    device, _ = launch(body, x=60)
    assert found(device)[:2] == ["P602", "P605"]
    assert any("what `ld.global.u32` could not give" in note for note in device.findings[1].notes)


def test_an_error_is_reported_once_with_how_often_it_was_met() -> None:
    body = """
    mov.u32 %r3, 0;
again:
    ld.global.u32 %r2, [%d1];
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 10;
    @%p1 bra again;"""
    device, _ = launch(body, x=63)
    assert found(device) == ["P602"]
    assert device.findings[0].notes[-1] == "met 10 times in this launch"


def test_a_race_keeps_the_bytes_of_its_order() -> None:
    body = """
    mov.u32 %r4, tile; shl.b32 %r5, %r1, 2; add.u32 %r6, %r4, %r5; st.shared.u32 [%r6], %r1;
    xor.b32 %r5, %r5, 128; add.u32 %r6, %r4, %r5; ld.shared.u32 %r2, [%r6];
    st.global.u32 [%d2], %r2;"""
    device, out = launch(body)
    assert found(device) == ["P650"]
    assert out.tolist() == [lane ^ 32 for lane in range(64)]


def test_nothing_goes_past_a_trap() -> None:
    with pytest.raises(EmulatorFault) as ended:
        launch("ld.global.u32 %r2, [%d1]; trap;", x=60)
    assert [each.code for each in ended.value.diagnostics] == ["P610"]


def test_nothing_goes_past_a_launch_without_progress() -> None:
    with pytest.raises(EmulatorFault) as ended:
        launch("again: ld.relaxed.gpu.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 1; @%p1 bra again;")
    assert ended.value.diagnostics[0].code == "P608"


def test_the_limit_ends_the_launch() -> None:
    body = "".join(f"ld.global.u32 %r2, [%d1+{4 * at}];\n" for at in range(1, 6))
    with pytest.raises(EmulatorFault) as ended:
        launch(body, keep_going=3)
    assert ended.value.diagnostics[0].notes[-1] == "the launch ends here: it has gone past 3 errors"


def test_without_it_the_first_error_is_raised() -> None:
    with pytest.raises(EmulatorFault) as ended:
        launch("ld.global.u32 %r2, [%d1]; st.global.u32 [%d2], %r2;", x=60, out=60, keep_going=False)
    assert [each.code for each in ended.value.diagnostics] == ["P602"]


def test_without_the_sanitizer_bounds_are_gone_past_too() -> None:
    device, out = launch(
        "mov.u32 %r2, 9; ld.global.u32 %r2, [%d1]; st.global.u32 [%d2], %r2;", x=60, sanitize=False
    )
    assert found(device) == ["P602"]
    assert out[:60].tolist() == [1] * 60


@pytest.mark.parametrize("order", ["lazy", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("kernel", "fault"), ASYNC_FAULTS)
def test_every_planted_fault_is_gone_past_or_ends(kernel: AsyncKernel, fault: list[str], order: str) -> None:
    """No exception is anything but a finding, and what is wrong is among the findings."""
    wanted, old, new, *how = fault
    device = Emulator(how[0] if how else order, strict="strict" in how, keep_going=True)
    seen: list[str] = []
    try:
        kernel.run(device, kernel.broken(old, new))
    except EmulatorFault as ended:
        seen = [each.code for each in ended.diagnostics]
    except AssertionError:
        seen = ["wrong result"]
    seen += [each.code for each in device.findings]
    if order == "lazy":
        assert set(wanted.split()) & set(seen), f"found {seen}"


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "sizes", "fault"), KERNEL_FAULTS)
def test_a_fault_of_a_shipped_kernel_is_gone_past(
    tmp_path: Path, kernel: str, sizes: str, fault: dict
) -> None:
    path = tmp_path / kernel
    path.write_text(broken(kernels.shipped()[kernel].read_text(), fault))
    table = TABLES[kernel]
    given = [part for name, value in table["sizes"][sizes].items() for part in ("-p", f"{name}={value}")]
    given += table.get("options", {}).get(sizes, [])
    done = here("run", path, "--device", "emu", *given, "--keep-going")
    assert fault["code"] in codes(done.stderr + done.stdout), done.stdout + done.stderr
    assert "P599" not in codes(done.stderr + done.stdout)


WRONG = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out)
{
    .reg .u32 %r<4>;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d1, %d1, %d3;
    add.u64 %d2, %d2, %d3;
    ld.global.u32 %r2, [%d1];
    st.global.u32 [%d2], %r2;
    ret;
}
"""
ARGUMENTS = [
    "--device",
    "emu",
    "--grid",
    "1",
    "--block",
    "64",
    "--arg",
    "x=u32[60]:arange",
    "--arg",
    "out=u32[64]",
]


def test_the_command_goes_on_and_saves_what_came_out(tmp_path: Path) -> None:
    file, saved = tmp_path / "k.ptx", tmp_path / "out.npy"
    file.write_text(WRONG)
    done = here("run", file, *ARGUMENTS, "--keep-going", "--save", f"out={saved}", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    listed = [each["code"] for each in report["runs"][0]["diagnostics"]]
    assert listed[:2] == ["P602", "P606"]
    assert np.load(saved)[:60].tolist() == list(range(60))


def test_the_command_says_what_it_went_past_before_the_end(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(WRONG.replace("    ret;", "    trap;"))
    done = here("run", file, *ARGUMENTS, "--keep-going")
    assert done.returncode == 1
    assert codes(done.stderr + done.stdout) == ["P602", "P610"]


def test_the_limit_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(
        WRONG.replace("out, 64", "out, 60").replace("st.global.u32 [%d2]", "st.global.u32 [%d2+64]")
    )
    done = here("run", file, *ARGUMENTS, "--keep-going", "--error-limit", "1")
    assert done.returncode == 1
    assert (done.stdout + done.stderr).count("the launch ends here: it has gone past 1 error") == 1
    refused = here("run", file, *ARGUMENTS, "--keep-going", "--error-limit", "0")
    assert refused.returncode == 2


def test_errors_go_before_wrong_results(tmp_path: Path) -> None:
    card = """\
// /// ptxkit
// [launch]
// grid = 1
// block = 64
// params = ["x", "out"]
// [presets]
// only = {}
// [tensors]
// x = { dtype = "u32", shape = 60, init = "arange" }
// out = { dtype = "u32", shape = 64, expect = "arange(64) + 1" }
// ///
"""
    file = tmp_path / "k.ptx"
    file.write_text(card + WRONG)
    done = here("run", file, "--device", "emu", "--keep-going")
    assert (done.returncode, codes(done.stdout + done.stderr)) == (1, ["P602", "P606", "P801"])
    file.write_text(card.replace("60,", "64,") + WRONG)
    done = here("run", file, "--device", "emu", "--keep-going")
    assert (done.returncode, codes(done.stdout + done.stderr)) == (4, ["P801"])


def test_what_could_not_be_loaded_is_stored() -> None:
    """One value for all warps, of which bits are undefined in some lanes, at places that lanes alone tell."""
    device, taken = launch(
        """
    ld.param.u64 %d2, [out]; mov.u32 %r1, %laneid; mul.wide.u32 %d3, %r1, 8; add.u64 %d2, %d2, %d3;
    mov.u32 %r2, 5; ld.shared.b32 %r3, [tile+8]; ld.shared.u16 %r2, [%r3];
    st.global.u8 [%d2+4], %r2;"""
    )
    assert found(device) == ["P605", "P602", "P606"]  # The host reads what is undefined.
    assert taken[::2].tolist() == [7] * 32
