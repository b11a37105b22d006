"""What programs compute, as `tools.suites numbers` notes it, and whether two runs have computed the same."""

from __future__ import annotations

import base64
import json
import re
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from ptxkit.virtual.libraries import write_libraries
from tests.virtual import CLIENTS, execute, needs_linux
from tools.suites import record, same
from tools.suites.program_numbers import (
    PRELOADED,
    compared_suites,
    library,
    open_bits,
    run_suite,
    table,
    write,
)
from tools.suites.programs import programs
from tools.suites.suite import Checkout, Suite

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="a C compiler is needed")


@needs_linux
@needs_gcc
def test_copies_to_the_host_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, with all its bytes; those to a device are not."""
    libraries, program, log = tmp_path / "libraries", tmp_path / "copies", tmp_path / "log"
    libraries.mkdir()
    write_libraries(libraries)
    linked = [libraries / "libcudart.so.13", libraries / "libcuda.so.1"]
    subprocess.run(["gcc", CLIENTS / "copies.c", *linked, "-o", program], check=True)
    monkeypatch.setenv("NUMBERS_LOG", str(log))
    done = execute("sh", "-c", PRELOADED, library(tmp_path), program)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    told = [(row["kind"], row["bytes"]) for row in rows]
    assert told == [
        ("cudaMemcpy", 10000),
        ("cudaMemcpy", 8),
        ("cudaMemcpyAsync", 64),
        ("cudaMemcpy2D", 16),
        ("cudaMemcpyAsync", 64),
        ("cuMemcpyDtoH", 64),
    ]
    large, small, queued, rows_of_two, captured, of_the_driver = rows
    assert captured["why"].startswith("captured")
    assert bytes.fromhex(small["sample"]) == bytes(range(8))
    assert bytes.fromhex(rows_of_two["sample"]) == bytes([*range(8), *range(16, 24)])
    assert queued["hash"] == of_the_driver["hash"]
    assert len({row["hash"] for row in rows if "hash" in row}) == 4
    every = bytes(n % 256 for n in range(10000))
    held = bytes.fromhex(large["sample"])
    assert (len(held), held[:16], held[-16:]) == (4096, every[:16], every[-16:])
    log.unlink()
    monkeypatch.setenv("NUMBERS_FREED", "1")
    done = execute("sh", "-c", PRELOADED, library(tmp_path), program)
    assert done.returncode == 0, done.stdout + done.stderr
    *copied, freed, untouched, first, last = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row.get("hash") for row in copied] == [row.get("hash") for row in rows]
    assert (freed["kind"], freed["bytes"], freed["hash"]) == ("cudaFree", 10000, large["hash"])
    assert (untouched["kind"], untouched["sample"]) == ("cudaFree", bytes(8).hex())
    assert (first["kind"], first["bytes"], first["hash"]) == ("cudaMalloc", 10000, large["hash"])
    assert (last["kind"], last["sample"]) == ("cudaMalloc", bytes(range(16)).hex())


@needs_linux
@pytest.mark.skipif(not shutil.which("g++"), reason="a C++ compiler is needed")
def test_what_seeds_random_numbers_is_the_same_in_every_run(tmp_path: Path) -> None:
    main = 'int main() { printf("%u", std::random_device{}()); }'
    source = f"#include <random>\n#include <cstdio>\n{main}\n"
    (tmp_path / "seed.cpp").write_text(source)
    subprocess.run(["g++", tmp_path / "seed.cpp", "-o", tmp_path / "seed"], check=True)
    command = ["sh", "-c", PRELOADED, library(tmp_path), tmp_path / "seed"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "0"


PROGRAM = """
#include <cstdio>
const float FACTOR = 0.1f;
__global__ void scale(float *x) { x[threadIdx.x] *= FACTOR; }
int main() {
    float host[64], *x;
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    scale<<<1, 64>>>(x);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("done\\n");
}
"""


@pytest.mark.long
@needs_linux
@needs_gcc
@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is needed")
def test_runs_of_a_program_and_of_one_that_is_off(tmp_path: Path) -> None:
    """As two sides: the same, and one copy of two different by as much as the factor is."""
    rows = {}
    for side, factor in (("ours", "0.1f"), ("again", "0.1f"), ("off", "0.11f")):
        folder = tmp_path / side
        (folder / "scale").mkdir(parents=True)
        (folder / "scale" / "main.cu").write_text(PROGRAM.replace("0.1f", factor))
        (folder / "scale" / "CMakeLists.txt").write_text("add_executable(scale main.cu)\n")
        (folder / "table.toml").write_text('[programs.scale]\nright = "done"\n')
        options = ["-cudart", "shared", "-arch=sm_90"]
        suite = Suite("own", "", "", [], "", ".", options, 60, programs=str(folder / "table.toml"))
        found = run_suite(
            Checkout(suite, folder, sys.executable), [], folder / "work", "*", 1, 60, 240, "virtual"
        )
        write(found, folder)
        assert found["programs"]["scale"]["outcome"] == "passed", found
    for side in ("again", "off"):
        record = same.compare(tmp_path / "ours", tmp_path / side)
        rows[side] = record["suites"]["own"]["programs"]["scale"]
    assert (rows["again"]["numbers"], rows["again"]["identical"], rows["again"]["different"]) == (2, 2, [])
    assert (rows["off"]["numbers"], rows["off"]["identical"]) == (2, 1)
    (different,) = rows["off"]["different"]
    assert (different["kind"], different["count"], different["why"]) == ("cudaMemcpy", 1, same.UNEXPLAINED)
    assert 63 / 256 <= different["share"] < 1  # of bytes: a copy has no type


def _run(*numbers: dict[str, Any], outcome: str = "passed") -> dict[str, Any]:
    return {"outcome": outcome, "why": "no more", "numbers": list(numbers)}


def _number(kind: str, digest: str, **rest: Any) -> dict[str, Any]:
    if "sample" in rest:
        rest["sample"] = base64.b64encode(zlib.compress(rest["sample"])).decode()
    return {"kind": kind, "bytes": 8, "hash": digest, **rest}


def test_copies_in_another_order_are_compared_as_sets() -> None:
    here = _run(_number("copy", "a"), _number("copy", "a"), _number("copy", "b"), _number("copy", "c"))
    there = _run(_number("copy", "b"), _number("copy", "a"), _number("copy", "d"), _number("copy", "a"))
    row = same.program("p", here, there)
    assert (row["by"], row["numbers"], row["identical"]) == ("sets", 4, 3)
    shorter = _run(_number("copy", "a"), _number("copy", "b"))
    row = same.program("p", here, shorter)
    assert (row["by"], row["numbers"], row["identical"], row["counts"]) == ("sets", 4, 2, [4, 2])


COUNTS = """
#include <cstdio>
#include <cstdlib>
int main() {
    FILE *log = fopen(getenv("NUMBERS_LOG"), "a"), *runs = fopen("runs", "a+");
    fputc('.', runs);
    fprintf(log, "{\\"kind\\": \\"copy\\", \\"bytes\\": 1, \\"hash\\": \\"a\\"}\\n");
    fprintf(log, "{\\"kind\\": \\"copy\\", \\"bytes\\": 1, \\"hash\\": \\"%ld\\"}\\n", ftell(runs));
    puts("counted");
}
"""


@pytest.mark.long
@needs_gcc
@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is needed")
def test_a_program_runs_twice_on_a_real_gpu(tmp_path: Path) -> None:
    """Built once; of the numbers of the first run those are marked that the second one doesn't give again."""
    (tmp_path / "counts").mkdir()
    (tmp_path / "counts" / "main.cpp").write_text(COUNTS)
    table = tmp_path / "table.toml"
    table.write_text('[programs.counts]\nright = "counted"\nsources = ["counts/main.cpp"]\n')
    suite = Suite("own", "", "", [], "", ".", ["-cudart", "none"], 60, programs=str(table))
    checkout = Checkout(suite, tmp_path, sys.executable)
    found = run_suite(checkout, None, tmp_path / "work", "*", 1, 60, 240, "real")["programs"]["counts"]
    assert found["outcome"] == "passed"
    assert [(number["hash"], number.get("steady", True)) for number in found["numbers"]] == [
        ("a", True),
        ("1", False),
    ]


def test_what_the_real_gpu_does_not_give_again_differs_for_that_reason() -> None:
    here = _run(_number("k: x", "a"), _number("k: x", "b"))
    there = _run(_number("k: x", "c", steady=False), _number("k: x", "d"))
    whys = [(row["count"], row["why"]) for row in same.program("p", here, there)["different"]]
    assert whys == [(1, same.UNSTEADY), (1, same.UNEXPLAINED)]
    here = _run(_number("cudaFree", "a"))
    there = _run(_number("cudaFree", "c", steady=False))
    (row,) = same.program("57_hopper_grouped_gemm", here, there)["different"]
    assert row["why"].startswith("pointers")


def test_what_follows_from_other_inputs_is_no_difference_of_the_kernel() -> None:
    """And what is the same in spite of them is the same; what a graph copies is not compared."""
    captured = {"kind": "copy", "bytes": 8, "why": "captured: 1"}
    here = _run(_number("k: x", "a", inputs="1"), _number("k: y", "b", inputs="1"), captured)
    there = _run(_number("k: x", "c", inputs="2"), _number("k: y", "b", inputs="2"), captured)
    row = same.program("p", here, there)
    assert (row["numbers"], row["identical"], row["other_inputs"], row["different"]) == (2, 1, 1, [])
    assert (row["by"], row["unseen"]) == ("turns", 1)


def test_a_program_that_fails_on_one_side_is_not_compared() -> None:
    row = same.program("p", _run(_number("copy", "a")), _run(outcome="failed"))
    assert row == {"outcomes": ["passed", "failed"], "why_theirs": "no more", "numbers": 0}
    record = {"suites": {"s": {"programs": {"p": row}}}}
    assert same.totals(record)["programs"] == 0


def test_a_program_whose_own_check_fails_is_compared() -> None:
    check = _run(_number("copy", "a"), outcome="failed") | {"why": "exit code 0: cuBLAS is missing"}
    row = same.program("x", check, _run(_number("copy", "a")))
    assert (row["outcomes"], row["why_ours"]) == (["failed", "passed"], "exit code 0: cuBLAS is missing")
    assert (row["numbers"], row["identical"], row["by"]) == (1, 1, "turns")


def test_the_largest_difference_of_samples() -> None:
    here, there = (struct.pack("<4f", 1, 2, last, float("nan")) for last in (3.0, 4.0))
    told = same.difference(here, there, "float32")
    assert told == {"share": 0.25, "largest": 1.0, "relative": 0.25}
    assert same.difference(here, there, None)["share"] == 1 / 16  # bytes: 0x40400000, 0x40800000
    told_of_bf16 = same.difference(b"\x80\x3f", b"\x00\x40", "bfloat16")
    assert told_of_bf16 == {"share": 1, "largest": 1, "relative": 0.5}
    row = same.program(
        "5_Domain_Specific/p",
        _run(_number("k: x", "a", dtype="float32", sample=here)),
        _run(_number("k: x", "b", dtype="float32", sample=there)),
    )
    assert row["different"] == [{"kind": "k: x", "count": 1, "why": same.UNEXPLAINED, **told}]


@needs_linux
def test_launches_of_triton_are_noted(tmp_path: Path) -> None:
    """What a kernel wrote, also through addresses, and the same random numbers on every device."""
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("triton", reason="triton is not installed")
    program, log = tmp_path / "program.py", tmp_path / "log"
    program.write_text(TRITON)
    launches = Path(same.__file__).parent / "plugin" / "launches.py"
    done = execute("env", f"NUMBERS_LOG={log}", sys.executable, launches, "python", program, "word")
    assert (done.returncode, done.stdout) == (0, "word [1.0, 1.0]\n"), done.stderr
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(row["kind"], row["shape"], row["dtype"]) for row in rows] == [
        ("double: y", [8], "float32"),
        ("double_all: addresses[0]", [8], "float32"),
    ]
    assert rows[0]["hash"] != rows[1]["hash"]
    values = struct.unpack("<8f", bytes.fromhex(rows[1]["sample"]))
    assert values == tuple(4 * value for value in range(8))


TRITON = """
import sys, torch, triton, triton.language as tl

@triton.jit
def double(x, y):
    at = tl.arange(0, 8)
    tl.store(y + at, 2 * tl.load(x + at))

@triton.jit
def double_all(addresses):
    at = tl.arange(0, 8)
    x = tl.load(addresses).to(tl.pointer_type(tl.float32))
    tl.store(x + at, 2 * tl.load(x + at))

x = torch.arange(8, dtype=torch.float32, device="cuda")
y = torch.empty(8, device="cuda")
assert not y.any() and torch.equal(torch.rand_like(y), torch.manual_seed(0) and torch.rand(8))
double[(1,)](x, y)
double_all[(1,)](torch.tensor([y.data_ptr()], device="cuda"))
print(sys.argv[1], triton.testing.do_bench(lambda: None, quantiles=[0.2, 0.8]))
"""


TESTS = """
import random
import numpy as np
from cuda.bindings import driver

def given(answer):
    assert int(answer[0]) == 0
    return answer[1:]

def start():
    given(driver.cuInit(0))
    (context,) = given(driver.cuDevicePrimaryCtxRetain(given(driver.cuDeviceGet(0))[0]))
    given(driver.cuCtxSetCurrent(context))

def test_copies():
    start()
    (place,) = given(driver.cuMemAlloc(4096))
    (stream,) = given(driver.cuStreamCreate(0))
    given(driver.cuMemsetD8(place, 7, 4096))
    back = np.zeros(4096, np.uint8)
    given(driver.cuMemcpyDtoH(back, place, 8))
    given(driver.cuMemcpyDtoHAsync(back.ctypes.data, place, 4096, stream))
    assert (back == 7).all()

def test_host():
    start()
    (place,) = given(driver.cuMemAlloc(64))
    given(driver.cuMemsetD8(place, 9, 64))
    (pinned,) = given(driver.cuMemAllocHost(64))
    (managed,) = given(driver.cuMemAllocManaged(32, 1))
    given(driver.cuMemcpyAsync(int(pinned), place, 16, 0))
    given(driver.cuMemcpyAsync(place, int(pinned), 16, 0))
    given(driver.cuStreamSynchronize(0))
    given(driver.cuMemsetD8(managed, 5, 8))
    given(driver.cuCtxSynchronize())
    given(driver.cuMemFreeHost(pinned))
    given(driver.cuMemFree(managed))
    given(driver.cuMemFree(place))

def test_fails():
    test_copies()
    assert False

def test_seeds():
    assert random.random() == random.Random(0).random()
    assert np.random.rand() == np.random.RandomState(0).rand()
"""


@pytest.mark.long
@needs_linux
def test_copies_of_tests_are_noted(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings.driver")
    (tmp_path / "test_it.py").write_text(TESTS)
    suite = Suite("own", "", "", [], "", ".", [], test_seconds=60)
    checkout = Checkout(suite, tmp_path, sys.executable)
    found = run_suite(checkout, ["--no-sanitize"], tmp_path / "work", "*", 1, 60, 100, "a virtual GPU")
    row = found["programs"]["test_it.py"]
    passed = dict.fromkeys(("test_copies", "test_host", "test_seeds"), "passed")
    assert row["tests"] == passed | {"test_fails": "failed"}
    assert [(number["kind"], number["bytes"]) for number in row["numbers"][:2]] == [
        ("test_copies: cuMemcpyDtoH", 8),
        ("test_copies: cuMemcpyDtoHAsync", 4096),
    ]
    assert same.sample(row["numbers"][0]) == bytes([7] * 8)
    assert len(same.sample(row["numbers"][1])) == 1024
    in_place = [number for number in row["numbers"] if number["test"] == "test_host"]
    assert [(number["kind"], same.sample(number)) for number in in_place] == [
        ("test_host: cuMemcpyAsync", bytes([9] * 16)),
        ("test_host: cuMemFreeHost", bytes([9] * 16 + [0] * 48)),
        ("test_host: cuMemFree", bytes([5] * 8 + [0] * 24)),
    ]
    assert {number["test"] for number in row["numbers"]} == {"test_copies", "test_host", "test_fails"}
    compared = same.program("test_it.py", row, row)
    assert (compared["tests"], compared["numbers"], compared["identical"]) == (2, 5, 5)


def test_programs_for_another_device_are_not_compared(tmp_path: Path) -> None:
    suite = compared_suites()["deepgemm"]
    found = run_suite(Checkout(suite, tmp_path, sys.executable), [], tmp_path, "*", 1, 60, 0, "a virtual GPU")
    assert list(found["programs"]) == ["sm90_bf16_gemm", "sm90_fp8_gemm_1d2d"]


@pytest.mark.parametrize(
    ("ptx", "is_open"),
    [
        (
            "add.f32 %f1, %f2, %f3; fma.rn.f32 %f1, %f2, %f3, %f4; mul.rn.f32 %f1, %f2, %f3;",
            [],
        ),
        ("mul.f32 %f1, %f2, %f3;\nadd.f32 %f4, %f1, %f5;", ["products and sums that may be contracted"]),
        ("ex2.approx.ftz.f32 %f1, %f2;", ["approximations"]),
        ("div.full.f32 %f1, %f2, %f3;", ["approximations"]),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1}, {%r2}, {%r3}, {%r4};", []),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1, 1, 1;",
            ["sums of matrix products"],
        ),
        ("red.global.add.f32 [%rd1], %f1;", ["sums in the order of atomics"]),
        ("atom.global.add.u32 %r1, [%rd1], 1;", ["the order of atomics"]),
        ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];", ["filtered textures"]),
        ("mov.u64 %rd1, %clock64;", ["clocks and places"]),
    ],
)
def test_which_bits_ptx_leaves_open(ptx: str, is_open: list[str]) -> None:
    assert open_bits([ptx]) == is_open


def test_the_table_of_numbers() -> None:
    names: set[str] = set()
    for suite in compared_suites().values():
        if suite.programs:
            names |= set(programs(suite.programs))
        else:
            names |= set(record.read(record.record_path(suite.name))["files"])
    for row in table()["reasons"]:
        assert any(re.search(row["program"], name) for name in names), row
        assert row["is"]
        assert set(row) <= {"program", "kind", "is", "dtype", "unsteady"}
