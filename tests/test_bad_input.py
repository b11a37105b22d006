"""Bad input of every kind to the command as a process: a clear diagnostic, the exit code, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command import here, ptxkit, refused
from small_kernels import DOUBLE, SPIN, without_card

from ptxkit.shipped import kernels

pytestmark = pytest.mark.long


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "double.ptx"
    path.write_text(DOUBLE)
    return path


def variant(kernel: Path, old: str, new: str) -> Path:
    assert old in DOUBLE
    kernel.write_text(DOUBLE.replace(old, new))
    return kernel


# ---- the file


@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_truncated_file(kernel: Path, verb: str) -> None:
    kernel.write_text(DOUBLE[: DOUBLE.index("mul.wide") + 12])
    done = ptxkit(verb, kernel)
    printed = done.stdout + done.stderr
    assert done.returncode == 1
    assert "error[P1" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_binary_file(kernel: Path, verb: str) -> None:
    kernel.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 8)
    refused(ptxkit(verb, kernel), 1, "P112")


@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_file_above_the_size_limit(kernel: Path, verb: str) -> None:
    with kernel.open("a") as file:
        file.truncate(33 << 20)
    printed = refused(ptxkit(verb, kernel), 1, "P111")
    assert "--max-size" in printed
    kernel.write_text(DOUBLE)
    refused(here(verb, kernel, "--max-size", "100"), 1, "P111")
    assert here("check", kernel, "--max-size", "2K").returncode == 0


@pytest.mark.parametrize("verb", ["run", "check"])
def test_no_such_file(verb: str) -> None:
    printed = refused(ptxkit(verb, "gemw.ptx"), 2, "P559")
    assert "`gemv.ptx`" in printed


def test_a_name_that_is_nearly_that_of_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "saxpy.ptx").write_text(".version 8.0\n.target sm_80\n")
    assert "did you mean `saxpy.ptx`?" in refused(ptxkit("check", "saxpi.ptx", cwd=tmp_path), 2, "P559")
    elsewhere = tmp_path / "saxpi.ptx"
    assert f"did you mean `{tmp_path / 'saxpy.ptx'}`?" in refused(ptxkit("check", elsewhere), 2, "P559")


def test_a_folder(tmp_path: Path) -> None:
    refused(ptxkit("run", tmp_path), 2, "P110")


def test_a_file_that_may_not_be_read(kernel: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every file")
    kernel.chmod(0)
    refused(ptxkit("run", kernel), 2, "P110")


def test_an_empty_file(kernel: Path) -> None:
    kernel.write_text("")
    done = ptxkit("run", kernel)
    assert done.returncode in (1, 2)
    assert "error[P" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["", "x" * 5000, "no/such/folder.ptx"])
def test_a_name_that_no_file_has(name: str) -> None:
    printed = refused(here("run", name), 2, "P559")
    assert len(printed) < 300


def test_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    link = tmp_path / "gone.ptx"
    link.symlink_to("nowhere.ptx")
    printed = refused(ptxkit("check", link), 2, "P559")
    assert "a link that leads nowhere" in printed
    assert "did you mean" not in printed


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (DOUBLE.encode("utf-16"), "found UTF-16"),
        ("// caf\u00e9\n".encode("latin-1") + DOUBLE.encode(), "found text in another encoding: byte 6"),
        (b"\x7fELF\x02\x01" + bytes(64), "found a binary file"),
        (b"\x50\xed\x55\xba\x01" + bytes(64), "found a binary file"),
    ],
)
def test_what_a_file_is_that_is_no_ptx(kernel: Path, content: bytes, found: str) -> None:
    kernel.write_bytes(content)
    printed = refused(here("check", kernel), 1, "P112")
    assert found in printed
    assert ("cuobjdump" in printed) == ("binary" in found)


def test_a_text_of_one_line(kernel: Path, tmp_path: Path) -> None:
    """A text without a newline is no path, wherever it goes."""
    one = " ".join(line for line in without_card(DOUBLE).splitlines() if not line.startswith("//"))
    linked = tmp_path / "linked.ptx"
    linked.write_text(".version 8.0 .target sm_75 .address_size 64 .global .u32 other;")
    assert here("run", kernel, "--device", "emu", "--link", linked).returncode == 0
    kernel.write_text(one)
    launch = [
        "--grid",
        "1",
        "--block",
        "32",
        "--arg",
        "x=f32[32]:ones",
        "--arg",
        "y=f32[32]",
        "--arg",
        "n=32",
    ]
    for more in ([], ["--timeout", "60"]):
        done = ptxkit("run", kernel, "--device", "emu", *launch, *more)
        assert done.returncode == 0, done.stderr


# ---- card and entry


def test_an_unknown_entry(kernel: Path) -> None:
    printed = refused(ptxkit("run", kernel, "--entry", "triple"), 2, "P504")
    assert "`double`" in printed


def test_a_missing_card(kernel: Path) -> None:
    kernel.write_text(without_card(DOUBLE))
    printed = refused(ptxkit("run", kernel), 2, "P543")
    assert "--grid" in printed


@pytest.mark.parametrize("verb", ["run", "check"])
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('["x", "y", "n"]', '["x", "y"]', "P539"),
        ('["x", "y", "n"]', '["y", "x", "n"]', "P539"),
        ('["x", "y", "n"]', '["x", "n", "y"]', "P539"),
        ("\n{\n", "\n.reqntid 64\n{\n", "P540"),
        ("// block = 128", '// block = 128\n// entry = "triple"', "P538"),
    ],
)
def test_a_card_that_contradicts_its_entry(kernel: Path, verb: str, old: str, new: str, code: str) -> None:
    done = ptxkit(verb, variant(kernel, old, new))
    printed = done.stdout + done.stderr
    assert done.returncode == 1
    assert f"error[{code}]" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_card_that_is_no_card(kernel: Path, verb: str) -> None:
    refused(ptxkit(verb, variant(kernel, "// block = 128", "// block =")), 1, "P530")
    refused(
        here(verb, variant(kernel, "// [presets]", "// [preset]")),
        1,
        "P532",
    )


# ---- sizes, arguments, outputs


def test_a_shape_that_the_kernel_cannot_take(kernel: Path) -> None:
    printed = refused(ptxkit("run", kernel, "-p", "n=2000000"), 2, "P561")
    assert "n < 1000000" in printed
    refused(here("run", "gemv.ptx", "--preset", "smoke", "-p", "K=100"), 2, "P552")
    refused(here("run", "gemv.ptx", "-p", "M=100"), 2, "P551")
    refused(here("run", kernel, "-p", "n=x"), 2, "P560")
    refused(here("run", kernel, "--preset", "huge"), 2, "P544")


def test_a_tensor_map_that_cannot_be_says_which(tmp_path: Path) -> None:
    path = tmp_path / "gemm.ptx"
    text = kernels.shipped()["gemm_wgmma.ptx"].read_text()
    path.write_text(text.replace("box = [128, 64]", "box = [128, 72]", 1))
    printed = refused(here("run", path, "--device", "emu"), 1, "P456")
    assert "tensor map `a_map` of `a`, bf16[256, 128]" in printed


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e308", "x"])
@pytest.mark.parametrize("verb", ["run", "bench", "sweep"])
def test_a_time_limit_that_is_none(kernel: Path, verb: str, value: str) -> None:
    refused(here(verb, kernel, "--device", "emu", "--timeout", value), 2, "P560")


@pytest.mark.parametrize("option", ["--min-time", "--max-time", "--max-noise", "--warmup", "--pause"])
@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_a_setting_of_a_bench_that_is_none(kernel: Path, option: str, value: str) -> None:
    refused(here("bench", kernel, "--device", "emu", option, value), 2, "P560")


def test_a_size_beyond_all_memory(kernel: Path) -> None:
    assert here("check", kernel, "--max-size", "99999999999999999999G").returncode == 0


@pytest.mark.parametrize(
    ("option", "value", "found"),
    [
        ("--grid", "x", "the sizes are `n`"),
        ("--grid", "n**9", "n ** 9"),
        ("--grid", "4.5", "4.5"),
        ("--grid", "1,2,3,4", "expected 1 to 3 numbers"),
        ("--block", "", "expected 1 to 3 numbers"),
        ("--shared", "1,2", "expected a number after `--shared`"),
        ("--shared", "1e9", "1e9"),
        ("--arg", "x=f32[q]", "expected a size of the problem, found `q`"),
    ],
)
def test_an_expression_that_is_none(kernel: Path, option: str, value: str, found: str) -> None:
    assert found in refused(here("run", kernel, "--device", "emu", option, value), 2, "P560")


def test_a_wrong_dtype(kernel: Path, tmp_path: Path) -> None:
    refused(ptxkit("run", kernel, "--arg", "x=bf16[n]:randn"), 2, "P537")
    refused(here("run", kernel, "--arg", "x=f31[n]"), 2, "P537")
    np.save(tmp_path / "x.npy", np.zeros(300))
    printed = refused(
        ptxkit("run", kernel, "--arg", f"x=@{tmp_path / 'x.npy'}", "--device", "emu"), 2, "P556"
    )
    assert "float64" in printed


def test_a_file_to_save_to_that_cannot_be(kernel: Path, tmp_path: Path) -> None:
    refused(ptxkit("run", kernel, "--save", f"y={tmp_path / 'no' / 'y.npy'}"), 2, "P567")
    refused(here("run", kernel, "--save", "z=z.npy"), 2, "P562")


def test_wrong_arguments_from_flags(kernel: Path) -> None:
    kernel.write_text(without_card(DOUBLE))
    launch = ("run", kernel, "--device", "emu", "--grid", "1", "--block", "128")
    done = ptxkit(*launch, "--arg", "x=f32[8]:randn")
    assert done.returncode == 2
    assert "error[P5" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("sizes", [{"M": 4096, "K": 1 << 40, "L": 1}, {"M": 1 << 40, "K": 256, "L": 1}])
def test_out_of_device_memory(sizes: dict[str, int]) -> None:
    given = [part for name, value in sizes.items() for part in ("-p", f"{name}={value}")]
    done = ptxkit("run", "gemv.ptx", "--device", "emu", *given)
    printed = refused(done, 3, "P705")
    assert "asked for" in printed
    assert "free" in printed


def test_an_unknown_device(kernel: Path) -> None:
    refused(ptxkit("run", kernel, "--device", "gpu0"), 2, "P520")
    refused(here("run", kernel, "--device", "cuda:0", "--order", "eager"), 2, "P520")


@pytest.mark.parametrize("target", ["sm_50", "sm_20"])
def test_a_target_that_no_assembler_knows(kernel: Path, tmp_path: Path, target: str) -> None:
    out = tmp_path / "k.cubin"
    refused(here("asm", kernel, "-o", out, "--target", target), 2, "P560")
    refused(here("sass", kernel, "--target", target), 2, "P560")
    assert not out.exists()


# ---- endings


def test_control_c(kernel: Path, tmp_path: Path) -> None:
    kernel.write_text(SPIN)
    save = tmp_path / "y.npy"
    command = [sys.executable, "-m", "ptxkit", "run", str(kernel), "--device", "emu", "--save", f"y={save}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        try:
            assert "s" in running.stderr.readline()
            running.send_signal(signal.SIGINT)
            sent = time.monotonic()
            stdout, stderr = running.communicate(timeout=20)
            took = time.monotonic() - sent
        finally:
            running.kill()
    assert running.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert stdout == ""
    assert took < 10
    assert sorted(path.name for path in tmp_path.iterdir()) == ["double.ptx"]


def test_a_timeout_kills_the_run(kernel: Path) -> None:
    kernel.write_text(SPIN)
    printed = refused(ptxkit("run", kernel, "--device", "emu", "--timeout", "3"), 6, "P565")
    assert "`spin`" in printed


STANDS_STILL = """
import sys, time
from ptxkit.running import stalled
from ptxkit.__main__ import main
from ptxkit.emulator.scheduler import Scheduler
stalled.Stalled.__init__.__defaults__ = (1.0,)
run = Scheduler.run

def still(*given):
    HOW
    return run(*given)

Scheduler.run = still
sys.exit(main(["run", sys.argv[1], "--device", "emu"]))
"""


def standing_still(kernel: Path, how: str) -> subprocess.CompletedProcess[str]:
    """A run whose emulation may retire nothing for a second, and does this first."""
    command = [sys.executable, "-c", STANDS_STILL.replace("HOW", how), str(kernel)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("how", ["while True: pass", "time.sleep(100)"])
def test_an_emulation_that_stands_still_ends_by_itself(kernel: Path, how: str) -> None:
    assert "`double` of" in refused(standing_still(kernel, how), 6, "P565")


def test_an_emulation_that_gets_no_processor_is_waited_for(kernel: Path) -> None:
    done = standing_still(kernel, "time.sleep(2.5)")
    assert done.returncode == 0, done.stderr


def test_a_wrong_result(kernel: Path) -> None:
    variant(kernel, "add.f32 %f2, %f1, %f1", "mul.f32 %f2, %f1, %f1")
    printed = refused(ptxkit("run", kernel, "--device", "emu"), 4, "P801")
    assert "`y[0]`" in printed


def test_an_output_that_is_not_written(kernel: Path) -> None:
    variant(kernel, 'ceildiv(n, 128)"', 'n // 128"')
    printed = refused(ptxkit("run", kernel, "--device", "emu"), 4, "P802")
    assert "`y[256]`" in printed
