"""Matrix products of the virtual cuBLAS and cuBLASLt, as a program calls them, beside numpy's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from virtual import compiled, execute, needs_linux

from ptxkit.virtual.libraries import LIBRARIES, write_libraries

pytestmark = [needs_linux, pytest.mark.long]


@pytest.mark.parametrize(
    "case", ["every_letter", "every_combination", "batches", "scalars", "errors", "about", "transfers"]
)
def test_cublas(case: str) -> None:
    done = execute("blas_products.py", case)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize("case", ["plain", "pointers", "epilogues", "fp8", "vectors", "descriptors"])
def test_cublaslt(case: str) -> None:
    done = execute("blaslt_products.py", case)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize("kind", ["mxfp8", "nvfp4"])
def test_factors_of_blocks(kind: str) -> None:
    done = execute("blaslt_products.py", "blocks", kind, options=("--arch", "sm_100a"))
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize(
    ("arch", "plain", "not_transposed", "blocks"),
    [("sm_80", 15, 15, 15), ("sm_90a", 0, 15, 15), ("sm_100a", 0, 0, 0), ("sm_120a", 0, 15, 0)],
)
def test_what_of_fp8_a_device_has(arch: str, plain: int, not_transposed: int, blocks: int) -> None:
    done = execute("blaslt_products.py", "fp8_refused", options=("--arch", arch))
    expected = [str(plain), str(not_transposed), str(blocks), "right"]
    assert (done.returncode, done.stdout.split()) == (0, expected), done.stderr


@pytest.mark.parametrize(
    ("order", "how", "result"),
    [("lazy", "event", "64.0"), ("lazy", "nothing", "0.0"), ("eager", "nothing", "64.0")],
)
def test_a_missing_event_changes_a_product(order: str, how: str, result: str) -> None:
    done = execute("blas_order.py", "streams", how, options=("--order", order))
    missing = how == "nothing"
    assert (done.returncode, done.stdout) == (int(missing), f"{result}\n"), done.stderr
    assert done.stderr.count("error[P6155]: STREAM-RACE: `cublasSgemm_v2` ") == missing, done.stderr


@pytest.mark.parametrize(
    ("case", "says"),
    [("pinned", "0.0 16.0"), ("destroyed", "0.0 4.0"), ("captured", "24.0"), ("unread", "4.0")],
)
def test_products_are_work_of_a_stream(case: str, says: str) -> None:
    done = execute("blas_order.py", case)
    assert (done.returncode, done.stdout) == (0, f"{says}\n"), done.stderr
    assert "0 errors, 0 warnings" in done.stderr


@pytest.mark.parametrize(
    ("case", "finding", "says"),
    [
        (
            "outside",
            "error[P602]: out of bounds: 64 bytes at {}, which `cublasSgemm_v2` reads as B",
            "0 700 13",
        ),
        ("freed", "error[P604]: use after free: 64 bytes at {}, which `cublasSgemm_v2` reads as A", "0 700"),
        (
            "pageable",
            "error[P602]: out of bounds: 64 bytes at {}, which `cublasSgemm_v2` writes as C",
            "0 700",
        ),
        (
            "misaligned",
            "error[P603]: misaligned: 64 bytes at {}, which `cublasSgemm_v2` writes as C",
            "0 716",
        ),
        ("peers", "error[P6152]: PEER-ACCESS: 64 bytes at {}, which `cublasSgemm_v2` reads as A", "0 700"),
    ],
)
def test_what_a_product_must_not_touch(case: str, finding: str, says: str) -> None:
    """It is found where the product happens; the context is lost then, as after a kernel's fault."""
    done = execute("blas_order.py", case, options=("--devices", "2" if case == "peers" else "1"))
    before, after = finding.split("{}")
    line = next((line for line in done.stderr.splitlines() if line.startswith(before)), "")
    assert after in line, done.stderr
    assert "called from" in done.stderr
    assert "1 error, 0 warnings" in done.stderr
    assert (done.returncode, done.stdout) == (1, f"{says}\n")


def test_all_of_the_hosts_memory() -> None:
    done = execute("blas_order.py", "pageable", options=("--host-memory",))
    assert (done.returncode, done.stdout) == (0, "0 0\n"), done.stderr


def test_undefined_elements_make_undefined_results() -> None:
    """They are told where the host reads them, also what another product made of them, and no others are."""
    done = execute("blas_order.py", "undefined")
    assert done.returncode == 0, done.stderr
    before, read, again = done.stderr.replace("again", "not yet").split("not yet\n")
    assert before == ""
    for text, byte, number in ((read, 4, 3), (again, 0, 4)):
        assert f"warning[P606]: undefined result: byte {byte} of memory (allocation {number})" in text
        assert "first undefined read: A, memory (allocation 1), at `cublasSgemm_v2`" in text
    assert "2 warnings" in again
    untracked = execute("blas_order.py", "undefined", options=("--no-sanitize",))
    assert "0 errors, 0 warnings" in untracked.stderr


def test_an_undefined_factor_makes_all_of_a_product_undefined() -> None:
    done = execute("blas_order.py", "unset_alpha")
    assert "warning[P606]: undefined result: byte 0 of memory (allocation 2)" in done.stderr
    assert "first undefined read: alpha, memory (allocation 4), at `cublasSgemm_v2`" in done.stderr


def test_what_does_nothing_is_named() -> None:
    done = execute("blas_products.py", "errors")
    named = done.stderr.partition("functions that do nothing, and said so:\n")[2].split("\n  calls")[0]
    assert sorted(named.split()) == ["cublasCdotu", "cublasCgemm", "cublasGetError", "cublasSnrm2_v2"]
    assert "cublasSgemm_v2 -> CUBLAS_STATUS_INVALID_VALUE" in done.stderr
    assert "cublasSgemm_v2: lda must be at least 4, found 3" in done.stderr


@pytest.mark.skipif(not shutil.which("gcc"), reason="a C compiler is needed")
def test_a_program_without_python(tmp_path: Path) -> None:
    done = execute(compiled("blas.c", tmp_path))
    assert (done.returncode, done.stdout) == (0, "0: 10 14 14 20\n"), done.stderr


@pytest.mark.skipif(not shutil.which("nm"), reason="nm is needed")
def test_symbols_have_the_versions_of_nvidias(tmp_path: Path) -> None:
    """And libcublas has cuBLASLt's functions, which programs take from its handle."""
    write_libraries(tmp_path)
    listed = {
        name: subprocess.check_output(["nm", "-D", tmp_path / name], text=True)
        for name in ("libcublas.so.13", "libcublasLt.so")
    }
    assert " T cublasSgemm_v2@@libcublas.so.13\n" in listed["libcublas.so.13"]
    assert " T cublasLtMatmul@@libcublas.so.13\n" in listed["libcublas.so.13"]
    assert " T cublasLtMatmul@@libcublasLt.so.13\n" in listed["libcublasLt.so"]
    assert "cublasSgemm_v2" not in listed["libcublasLt.so"]
    assert os.readlink(tmp_path / "libcublas.so") == "libcublas.so.13"


def test_every_function_has_a_symbol() -> None:
    """What is registered under a name that no library exports could never be called."""
    for name in ("cublas", "cublaslt"):
        definition = next(each for each in LIBRARIES if each.name == name)
        exported = {symbol.name for symbol in definition.symbols()}
        functions = {
            each for each in definition.module().load().by_name if name == "cublas" or "cublasLt" in each
        }
        assert functions <= exported
        assert len(functions) > 25
