"""Programs of nvcc on a virtual GPU: a shared runtime, PTX in fat binaries of all compressions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from virtual import CLIENTS, execute, needs_linux

pytestmark = [
    needs_linux,
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is needed"),
]


SOURCE = (CLIENTS / "runtime.cu").read_text()


def built(folder: Path, *options: str, source: str = "runtime.cu") -> Path:
    program = folder / Path(source).stem
    subprocess.run(["nvcc", *options, CLIENTS / source, "-o", program], check=True)
    return program


@pytest.mark.parametrize("mode", ["none", "speed", "size"])
@pytest.mark.parametrize("order", ["lazy", "eager"])
def test_a_program_of_nvcc(mode: str, order: str, tmp_path: Path) -> None:
    """Its PTX plain, compressed by LZ4, and by Zstandard."""
    fat = f"--compress-mode={mode}"
    program = built(tmp_path, "-arch=sm_90", "-cudart", "shared", "-Xfatbin", fat)
    done = execute(program, options=("--order", order))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "sm_90, 132 multiprocessors, ptxkit virtual GPU (sm_90a)",
        "sum 6144, calls 42, noted 13, shared 1024, resident 8",
        "cudaErrorInvalidConfiguration, cudaSuccess",
        "cudaErrorInvalidValue",
    ]


@pytest.mark.parametrize("order", ["lazy", "eager"])
def test_textures(order: str, tmp_path: Path) -> None:
    """Arrays, layers, mipmaps, linear and pitched memory, against loops on the host."""
    program = built(tmp_path, "-arch=sm_90", "-cudart", "shared", source="textures.cu")
    done = execute(program, options=("--order", order))
    assert done.returncode == 0, done.stdout + done.stderr
    compared = ["fractions", "pitched", "layers", "linear", "levels"]
    assert done.stdout.split("\n")[:-1] == [
        *(f"{each} 0" for each in compared),
        "cudaErrorContextIsDestroyed",
    ]


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_graphs(order: str, tmp_path: Path) -> None:
    program = built(tmp_path, "-arch=sm_90", "-cudart", "shared", source="graphs.cu")
    done = execute(program, options=("--order", order))
    assert (done.returncode, done.stdout) == (0, "25 6\n135\n1135\n"), done.stdout + done.stderr


def test_attributes_of_a_librarys_kernel(tmp_path: Path) -> None:
    """It may take more shared memory on the device that they name, and on no device that there is not."""
    program = built(tmp_path, "-arch=sm_90", "-cudart", "shared", source="libraries.cu")
    done = execute(program)
    expected = ["cudaErrorInvalidValue", "cudaSuccess", "cudaErrorInvalidDevice", "cudaSuccess", "7"]
    assert (done.returncode, done.stdout.split()) == (0, expected), done.stderr


def test_a_missing_barrier_is_found_in_the_programs_own_source(tmp_path: Path) -> None:
    program = built(tmp_path, "-arch=sm_90", "-cudart", "shared", "-lineinfo", "-DFAULT")
    done = execute(program)
    assert done.returncode == 3
    assert "cudaErrorLaunchFailure" in done.stdout
    line = next(n for n, text in enumerate(SOURCE.splitlines(), 1) if "part[thread] += part" in text)
    assert "error[P650]: SMEM-RACE" in done.stderr
    assert f"::: {CLIENTS / 'runtime.cu'}:{line}:" in done.stderr


def test_of_several_texts_the_best_is_taken(tmp_path: Path) -> None:
    """For sm_100 PTX for sm_80 will do, that for sm_90a alone won't."""
    targets = [f"-gencode=arch=compute_{name},code=compute_{name}" for name in ("80", "90a")]
    program = built(tmp_path, *targets, "-cudart", "shared")
    assert execute(program, options=("--arch", "sm_100a")).returncode == 0
    assert execute(program, options=("--arch", "sm_90a")).returncode == 0


def test_machine_code_alone_is_refused_with_advice(tmp_path: Path) -> None:
    program = built(tmp_path, "-gencode=arch=compute_90,code=sm_90", "-cudart", "shared")
    done = execute(program)
    assert done.returncode == 3
    assert "cudaErrorNoKernelImageForDevice" in done.stdout
    assert "machine code alone; compile with `-gencode arch=compute_90a,code=compute_90a`" in done.stderr


def test_a_static_runtime_is_told_what_to_do(tmp_path: Path) -> None:
    done = execute(built(tmp_path, "-arch=sm_90"))
    assert done.returncode == 3
    assert "Link the program with `-cudart shared`" in done.stderr
