"""`ptxkit run` on the emulator: the main job, flags, JSON, files in and out."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import codes, here, ptxkit, refused
from gpu_kernels import CALLER, SQUARE
from small_kernels import DOUBLE, without_card
from test_workloads import USER_FILE

from ptxkit.running.report import judge
from ptxkit.shipped import kernels
from ptxkit.workloads import Expected, Tensor, Tolerance
from ptxkit.workloads.comparison import compare

pytestmark = pytest.mark.long

EMU = ("--device", "emu")


STRUCT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry third(.param .align 4 .b8 s[12], .param .u64 out)
{
    .reg .b32 %word;
    .reg .b64 %out;
    ld.param.u32 %word, [s + 8];
    ld.param.u64 %out, [out];
    st.global.u32 [%out], %word;
    ret;
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "double.ptx"
    path.write_text(DOUBLE)
    return path


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The kernel without its card."""
    path = tmp_path / "bare.ptx"
    path.write_text(without_card(DOUBLE))
    return path


def good(*arguments: object) -> subprocess.CompletedProcess[str]:
    done = here(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def document(*arguments: object) -> dict:
    done = good(*arguments, "--json")
    loaded = json.loads(done.stdout)
    assert loaded["schema"] == 1
    assert loaded["kind"] == "run"
    return loaded


# ---- the main job


def test_the_main_job_from_any_folder(tmp_path: Path) -> None:
    done = ptxkit("run", "gemv.ptx", *EMU, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gemv.ptx  smoke  M=128 K=256 L=1  on emu as sm_90" in done.stdout
    assert "ok, 128 elements" in done.stdout
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_struct_by_its_bytes(tmp_path: Path) -> None:
    path, saved = tmp_path / "third.ptx", tmp_path / "out.npy"
    path.write_text(STRUCT)
    launch = ("run", path, *EMU, "--grid", 1, "--block", 1, "--arg", "out=u32[1]", "--save", f"out={saved}")
    good(*launch, "--arg", "s=bytes:01000000_02000000_0c0000ff")
    assert np.load(saved).tolist() == [0xFF00000C]
    assert "found bytes of 4" in refused(here(*launch, "--arg", "s=bytes:01000000"), 2, "P505")
    for text in ("bytes:0x10", "bytes:123"):
        assert f"found `{text}`" in refused(here(*launch, "--arg", f"s={text}"), 2, "P560")


@pytest.mark.parametrize("inputs", ["full", "contest"])
def test_the_main_job_as_json(inputs: str) -> None:
    (run,) = document("run", "gemv", *EMU, "--inputs", inputs, "-v")["runs"]
    (output,) = run["outputs"]
    assert (run["workload"], run["preset"], run["inputs"]) == ("nvfp4_gemv", "smoke", inputs)
    assert run["seed"] == {"full": 0, "contest": 1111}[inputs]
    assert (output["tensor"], output["ok"], output["wrong"], output["elements"]) == ("c", True, 0, 128)
    assert 0 <= output["max_ulp"] <= 1
    bytes_read = 129 * (128 + 16)
    wanted = {"bytes_read": bytes_read, "bytes_written": 256, "operations": 2 * 128 * 256, "arithmetic": None}
    assert run["cost"] == wanted
    assert run["counters"]["ctas"] == 8
    assert run["counters"]["bytes_stored_global"] == 256


def test_orders_seeds_and_the_sanitizer_do_not_change_the_result() -> None:
    expected = None
    for options in (("--order", "eager"), ("--order", "random", "--seed", "7"), ("--no-sanitize",)):
        (run,) = document("run", "gemv.ptx", *EMU, "-p", "M=40", "-p", "K=512", "-p", "L=2", *options)["runs"]
        if "--seed" in options:
            assert run["seed"] == 7
            continue
        expected = expected or run["outputs"]
        assert run["outputs"] == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "code", "found"), [("sm_80", 1, "P313"), ("sm_91", 2, "P560"), ("sm_100a", 0, None)]
)
def test_a_target_that_the_file_does_not_run_on(arch: str, code: int, found: str | None) -> None:
    done = ptxkit("run", "gemv.ptx", *EMU, "--arch", arch)
    assert done.returncode == code, done.stdout + done.stderr
    assert codes(done.stderr + done.stdout)[:1] == ([found] if found else [])


@pytest.mark.slow
def test_every_preset_of_every_shipped_kernel_for_the_emulator() -> None:
    found = document("run", "gemv.ptx", *EMU, "--preset", "all")
    assert len(found["runs"]) == 12
    for run in found["runs"]:
        assert run["ok"], run
        assert run["verified"]


# ---- a file of one's own


def test_a_declared_problem_in_full(kernel: Path) -> None:
    done = good("run", kernel, *EMU, "-v")
    for part in (
        "grid 3x1x1",
        "x: f32 300, input",
        "y: f32 300, output",
        "ok, 300 elements",
        "thread instructions",
    ):
        assert part in done.stdout


def test_every_preset_in_a_table(kernel: Path) -> None:
    lines = good("run", kernel, *EMU, "--preset", "all").stdout.splitlines()
    assert lines[0].split()[:3] == ["preset", "sizes", "result"]
    assert [line.split()[:3] for line in lines[1:3]] == [["smoke", "n=300", "ok"], ["even", "n=256", "ok"]]
    assert lines[3] == "2 of 2 presets passed on emu as sm_75"
    assert here("run", kernel, *EMU, "--preset", "all", "-p", "n=3").returncode == 2
    kernel.write_text(DOUBLE.replace("add.f32 %f2, %f1, %f1", "mul.f32 %f2, %f1, %f1"))
    wrong = here("run", kernel, *EMU, "--preset", "all")
    assert wrong.returncode == 4
    assert codes(wrong.stdout) == ["P801", "P801"]


def test_presets_that_are_named(kernel: Path) -> None:
    names = ("even", "smoke")
    both = [word for name in names for word in ("--preset", name)]
    assert [run["preset"] for run in document("run", kernel, *EMU, *both)["runs"]] == list(names)
    refused = here("run", kernel, *EMU, *both, "-p", "n=3")
    assert (refused.returncode, "P545" in refused.stderr, "make 2" in refused.stderr) == (2, True, True)


@pytest.mark.parametrize(
    ("tolerance", "said"),
    [
        (Tolerance(), "allowed: none"),
        (Tolerance(ulp=1), "allowed: 1 ulp"),
        (Tolerance(rtol=0.001, atol=0.5), "allowed: 0.001 of the value + 0.5"),
        (Tolerance(0.001, 0.5, 2), "allowed: 0.001 of the value + 0.5 + 2 ulp"),
    ],
)
def test_what_was_allowed_is_told(tolerance: Tolerance, said: str) -> None:
    values = np.ones(4, np.float32)
    found = compare(Tensor("y", "f32", (4,), "output"), 2 * values, Expected(values), tolerance)
    (diagnostic,) = judge(found)
    assert diagnostic.code == "P801"
    assert any(note.endswith(said) for note in diagnostic.notes)


def test_a_kernel_without_a_card(bare: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(200, dtype=np.float32))
    launch = (
        "run",
        bare,
        "--entry",
        "double",
        *EMU,
        "--grid",
        "ceildiv(n, 128)",
        "--block",
        "128",
        "-p",
        "n=200",
    )
    done = good(*launch, "--arg", f"x=@{tmp_path / 'x.npy'}", "--arg", "y=f32[n]", "--arg", "n=200",
                "--save", f"y={tmp_path / 'y.npy'}")  # fmt: skip
    assert codes(done.stdout) == ["P803"]
    assert np.array_equal(np.load(tmp_path / "y.npy"), 2 * np.arange(200, dtype=np.float32))


def test_arguments_called_as_the_parameters_may_come_in_any_order(bare: Path, tmp_path: Path) -> None:
    launch = ("run", bare, *EMU, "--grid", "2", "--block", "128")
    saved = ("--save", f"y={tmp_path / 'y.npy'}")
    good(*launch, "--arg", "n=200", "--arg", "y=f32[200]", "--arg", "x=f32[200]:arange", *saved)
    assert np.array_equal(np.load(tmp_path / "y.npy"), 2 * np.arange(200, dtype=np.float32))
    text = refused(here(*launch, "--arg", "n=200", "--arg", "x=f32[200]"), 2, "P562")
    assert "expected `--arg y=..` for a parameter of `double`" in text


def test_an_argument_replaces_a_content(kernel: Path, tmp_path: Path) -> None:
    good("run", kernel, *EMU, "--arg", "x=f32[n]:arange", "--save", f"y={tmp_path / 'y.npy'}")
    assert np.array_equal(np.load(tmp_path / "y.npy"), 2 * np.arange(300, dtype=np.float32))


def test_a_workload_of_ones_own(kernel: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(USER_FILE)
    lines = DOUBLE.splitlines(keepends=True)
    cut = slice(lines.index("// [tensors.x]\n"), lines.index("// ///\n"))
    del lines[cut]
    kernel.write_text("".join(lines).replace("// [launch]", '// workload = "double"\n// [launch]'))
    assert codes(here("run", kernel, *EMU).stderr) == ["P550"]
    by_card = tmp_path / "by_card.ptx"
    by_card.write_text(kernel.read_text().replace('"double"', f'"{tmp_path / "mine.py"}:Double"'))
    assert codes(here("run", by_card, *EMU).stderr) == ["P550"]
    (run,) = document("run", kernel, *EMU, "--workload", f"{tmp_path / 'mine.py'}:Double")["runs"]
    assert run["verified"]
    assert run["outputs"][0]["max_ulp"] == 0


def test_a_timeout_that_is_long_enough_changes_nothing(kernel: Path) -> None:
    (run,) = document("run", kernel, *EMU, "--timeout", "60")["runs"]
    assert run["ok"]
    assert run["outputs"][0]["elements"] == 300
    kernel.write_text(DOUBLE.replace("add.f32 %f2, %f1, %f1", "mul.f32 %f2, %f1, %f1"))
    assert here("run", kernel, *EMU, "--timeout", "60").returncode == 4


def test_a_worker_that_crashes_takes_nothing_with_it(kernel: Path, tmp_path: Path) -> None:
    crash = '        if sizes["n"] == 300: __import__("os")._exit(7)\n'
    head, mark, tail = USER_FILE.partition("    def generate(self, sizes, generator, seed, wanted):\n")
    (tmp_path / "mine.py").write_text(head + mark + crash + tail)
    lines = DOUBLE.splitlines(keepends=True)
    del lines[lines.index("// [tensors.x]\n") : lines.index("// ///\n")]
    own = f"{tmp_path / 'mine.py'}:Double"
    kernel.write_text("".join(lines).replace("// [launch]", '// workload = "double"\n// [launch]'))
    done = here("run", kernel, *EMU, "--preset", "all", "--timeout", "60", "--workload", own)
    assert done.returncode == 5
    assert codes(done.stdout) == ["P566"]
    assert "exit code 7" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 of 2 presets passed on emu as sm_75"


def test_a_fault_on_the_emulator_names_the_line(kernel: Path) -> None:
    kernel.write_text(DOUBLE.replace("add.s64 %rd7, %rd4, %rd5", "add.s64 %rd7, %rd4, 0x10000000"))
    done = here("run", kernel, *EMU)
    assert done.returncode == 1
    assert "error[P6" in done.stderr
    assert "st.global.f32" in done.stderr
    failed = json.loads(here("run", kernel, *EMU, "--json").stdout)
    assert failed["ok"] is False
    assert failed["runs"][0]["diagnostics"][0]["code"].startswith("P6")


# ---- kernels, check


def test_a_fault_calls_a_tensor_by_its_name(bare: Path) -> None:
    launch = ("run", bare, *EMU, "--grid", "2", "--block", "128", "--arg", "n=200")
    text = refused(here(*launch, "--arg", "x=f32[199]:arange", "--arg", "y=f32[200]"), 1, "P602")
    assert "past the end of `x float32[199]`" in text


def test_kernels_are_listed_with_what_they_need() -> None:
    done = good("kernels", "--json")
    listed = {kernel["name"]: kernel for kernel in json.loads(done.stdout)["kernels"]}
    gemv = listed["gemv.ptx"]
    assert (gemv["target"], gemv["entries"], gemv["workload"]) == (
        "sm_90",
        ["gemv", "gemv_rows", "gemv_any"],
        "nvfp4_gemv",
    )
    assert next(iter(gemv["presets"])) == "smoke"
    assert "gemv.ptx" in good("kernels").stdout
    assert Path(good("kernels", "--path", "gemv").stdout.strip()).is_file()


def test_recorded_runs_say_where_a_kernel_has_been_verified(kernel: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    first = document("run", kernel, *EMU, "--preset", "all")
    (results / "first.json").write_text(json.dumps(first))
    found = kernels.verifications(str(kernel), kernel, kernels.records((results,)))
    assert [(v.device, v.presets, v.failed, v.current) for v in found] == [
        ("emu", ("smoke", "even"), (), True)
    ]
    kernel.write_text(DOUBLE.replace("add.f32 %f2, %f1, %f1", "mul.f32 %f2, %f1, %f1"))
    found = kernels.verifications(str(kernel), kernel, kernels.records((results,)))
    assert [v.current for v in found] == [False]
    second = json.loads(here("run", kernel, *EMU, "--json").stdout)
    (results / "second.json").write_text(json.dumps(second))
    found = kernels.verifications(str(kernel), kernel, kernels.records((results,)))
    assert [(v.presets, v.failed, v.current) for v in found] == [((), ("smoke",), True)]
    assert kernels.verifications("gemv.ptx", kernel, kernels.records((results,))) == []


def test_doctor() -> None:
    done = good("doctor")
    assert "ptxkit" in done.stdout
    facts = {fact["name"]: fact for fact in json.loads(good("doctor", "--json").stdout)["facts"]}
    assert facts["ptxkit"]["state"] == "good"
    for fact in facts.values():
        assert fact["found"]
        assert fact["state"] != "missing" or fact["mend"]


def test_check_in_every_format(kernel: Path) -> None:
    assert good("check", kernel, "gemv.ptx").stdout == "2 files checked: no findings\n"
    kernel.write_text(DOUBLE.replace("// block = 128", "// block = 2048"))
    assert codes(here("check", kernel).stdout) == ["P540"]
    found = json.loads(here("check", kernel, "--json").stdout)
    assert [d["code"] for d in found["diagnostics"]] == ["P540"]
    assert found["diagnostics"][0]["span"]["line"] == DOUBLE[: DOUBLE.index("// block")].count("\n") + 1
    github = here("check", kernel, "--output-format", "github").stdout
    assert github.startswith("::error file=")
    sarif = json.loads(here("check", kernel, "--output-format", "sarif").stdout)
    assert sarif["runs"][0]["results"][0]["ruleId"] == "P540"
    assert here("check", kernel).returncode == 1


def test_files_are_linked(tmp_path: Path) -> None:
    """The same files as on a GPU; what is wrong in the linked one stands in its own lines."""
    caller, square = tmp_path / "caller.ptx", tmp_path / "square.ptx"
    caller.write_text(CALLER)
    square.write_text(SQUARE)
    launch = ("--grid", 1, "--block", 1, "--arg", "out=u32[1]", "--arg", "n=12")
    saved = tmp_path / "out.npy"
    done = here("run", caller, *EMU, *launch, "--link", square, "--save", f"out={saved}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert np.load(saved).tolist() == [144]
    square.write_text(SQUARE.replace("mul.lo.u32 %r2", "mul.lo.u32 %r9"))
    printed = refused(here("run", caller, *EMU, *launch, "--link", square), 1, "P201")
    assert f"{square}:8" in printed
    refused(here("run", caller, *EMU, *launch, "--link", tmp_path / "none.ptx"), 2, "P559")


UNSET = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
    .reg .u64 %at;
    .reg .f32 %f;
    .shared .align 4 .f32 s[4];
    ld.param.u64 %at, [y];
    ld.shared.f32 %f, [s];
    st.global.f32 [%at], %f;
    ret;
}
"""


def test_undefined_bytes_are_found_without_a_card_and_without_save(tmp_path: Path) -> None:
    """Nothing says which tensor is a result, so all are looked at, and no bytes are made up as work."""
    kernel = tmp_path / "unset.ptx"
    kernel.write_text(UNSET)
    given = (*EMU, "--grid", 1, "--block", 1, "--arg", "x=f32[4]:randn", "--arg", "y=f32[4]")
    found = here("run", kernel, *given)
    assert (found.returncode, codes(found.stdout + found.stderr)) == (1, ["P606"])
    kernel.write_text(UNSET.replace("ld.shared.f32 %f, [s]", "mov.f32 %f, 0f3F800000"))
    right = good("run", kernel, *given)
    assert codes(right.stdout) == ["P803", "P809"]
    assert "written" not in right.stdout


def test_a_name_that_is_no_parameter_stands_out_among_those_that_are(tmp_path: Path) -> None:
    kernel = tmp_path / "unset.ptx"
    kernel.write_text(UNSET)
    launch = (*EMU, "--grid", 1, "--block", 1, "--arg", "x=f32[4]:randn", "--arg", "y=f32[4]")
    printed = refused(here("run", kernel, *launch, "--arg", "z=3"), 2, "P562")
    assert "expected a parameter of `k` after `--arg`, found `z`" in printed
    printed = refused(
        here("run", kernel, *EMU, "--grid", 1, "--block", 1, "--arg", "xx=f32[4]", "--arg", "y=f32[4]"),
        2,
        "P562",
    )
    assert "did you mean `x`?" in printed
    in_order = here(
        "run", kernel, *EMU, "--grid", 1, "--block", 1, "--arg", "a=f32[4]:ones", "--arg", "b=f32[4]"
    )
    assert codes(in_order.stderr) == ["P606"]


def test_a_run_that_fails_keeps_its_launch_and_sizes_in_json(tmp_path: Path) -> None:
    kernel = tmp_path / "double.ptx"
    kernel.write_text(DOUBLE.replace("@%p bra DONE;", ""))
    done = here("run", kernel, *EMU, "--json", "-p", "n=100")
    document = json.loads(done.stdout)
    (failed,) = document["runs"]
    assert (done.returncode, document["ok"], failed["verified"]) == (1, False, False)
    assert failed["sizes"] == {"n": 100}
    assert failed["launches"][0]["grid"] == [1, 1, 1]
    assert [d["code"] for d in failed["diagnostics"]] == ["P602"]


def test_an_entry_is_named_in_the_same_way_by_every_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tmp_path / "two.ptx"
    entry = ".visible .entry {}(.param .u64 x) {{ ret; }}\n"
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    kernel.write_text(head + entry.format("first") + entry.format("second"))
    launch = ("--device", "emu", "--grid", 1, "--block", 1, "--arg", "x=f32[4]")
    for verb, *more in (
        ["run"],
        ["trace", "-o", tmp_path / "t.json"],
        ["profile"],
        ["bench"],
        ["sweep"],
        ["debug"],
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO("run\nquit\n"))
        assert here(verb, kernel, "--entry", "second", *launch, *more).returncode == 0
        wrong = here(verb, kernel, "--entry", "third", *launch, *more)
        assert codes(wrong.stderr)[-1] == "P504"


def test_what_was_saved_is_not_proposed_again(tmp_path: Path) -> None:
    kernel = tmp_path / "unset.ptx"
    kernel.write_text(UNSET.replace("ld.shared.f32 %f, [s]", "mov.f32 %f, 0f3F800000"))
    given = (*EMU, "--grid", 1, "--block", 1, "--arg", "x=f32[4]:randn", "--arg", "y=f32[4]")
    assert "`--save y=y.npy` keeps a tensor" in good("run", kernel, *given).stdout
    saved = good("run", kernel, *given, "--save", f"y={tmp_path / 'y.npy'}").stdout
    assert "keeps a tensor" not in saved
    assert f"`y` is in `{tmp_path / 'y.npy'}`" in saved


def test_a_bench_without_a_gpu_says_so_first(tmp_path: Path) -> None:
    kernel = tmp_path / "double.ptx"
    kernel.write_text(DOUBLE)
    with subprocess.Popen(
        [sys.executable, "-m", "ptxkit", "bench", str(kernel), "--device", "emu"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        said = running.communicate(timeout=100)[0].splitlines()
    assert "emulated: verified and counted, not timed" in said[0]
    assert "emu as sm_" in said[1]
