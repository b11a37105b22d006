"""`ptxkit asm` and `ptxkit sass`: machine code, and the PTX lines beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from assembler import cubin_of
from command import here, refused
from small_kernels import DOUBLE

from ptxkit.diagnostics import PtxkitError
from ptxkit.driver.binary import check_binary
from ptxkit.toolchain.sass import disassemble, find, read_listing

LISTING = """\t.target\tsm_90

//--------------------- .text.second              --------------------------
\t.section\t.text.second,"ax",@progbits
second:
.text.second:
\t//## File ".nv_debug_ptx_txt.3461239924", line 12
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/kernel.cu", line 3
        /*0010*/              @!P0 LDG.E.128 R12, desc[UR8][R18.64] ;
.L_x_2:
\t//## File ".nv_debug_ptx_txt", line 7
        /*0020*/               @P0 BRA `(.L_x_2) ;                   /* 0xfffffffc00f40947 */
                                                                     /* 0x000fea000383ffff */

//--------------------- .text.first               --------------------------
first:
        /*0000*/                   EXIT ;
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "double.ptx"
    path.write_text(DOUBLE)
    return path


@pytest.fixture
def assembler() -> None:
    cubin_of(DOUBLE, "sm_90")  # skips where nvJitLink is missing


@pytest.fixture
def disassembler() -> None:
    if find() is None:
        pytest.skip("nvdisasm is not installed")


def test_a_listing_is_read() -> None:
    second, first = read_listing(LISTING)
    assert (second.name, first.name) == ("second", "first")
    assert [(i.address, i.line, i.label) for i in second.instructions] == [
        (0x00, 12, None),
        (0x10, 12, None),
        (0x20, 7, ".L_x_2"),
    ]
    assert [i.stall for i in second.instructions] == [0, 0, 5]
    assert second.instructions[1].text == "@!P0 LDG.E.128 R12, desc[UR8][R18.64]"
    assert [(i.text, i.line) for i in first.instructions] == [("EXIT", None)]
    assert read_listing("") == []


@pytest.mark.usefixtures("assembler")
def test_asm_writes_machine_code(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "double.cubin"
    done = here("asm", kernel, "-o", out, "--target", "sm_90a")
    assert done.returncode == 0, done.stderr
    assert "for sm_90a" in done.stdout
    assert "registers, no spills" in done.stdout
    check_binary("double.cubin", out.read_bytes())
    plain = out.stat().st_size
    found = json.loads(here("asm", kernel, "-o", out, "--line-info", "--json").stdout)
    assert (found["ok"], found["target"], found["bytes"]) == (True, "sm_75", out.stat().st_size)
    assert found["usage"]["double"]["registers"] > 0
    assert found["bytes"] > plain
    assert sorted(path.name for path in tmp_path.iterdir()) == ["double.cubin", "double.ptx"]


@pytest.mark.usefixtures("assembler")
def test_asm_refuses_in_diagnostics(kernel: Path, tmp_path: Path) -> None:
    out = tmp_path / "double.cubin"
    kernel.write_text(DOUBLE.replace("add.f32 %f2, %f1, %f1", "add.f32 %f2, %f1, %f9"))
    done = here("asm", kernel, "-o", out)
    assert done.returncode == 1
    assert "%f9" in done.stderr
    assert not out.exists()
    kernel.write_text(DOUBLE)
    refused(here("asm", kernel, "-o", tmp_path / "no" / "double.cubin"), 2, "P567")
    refused(here("asm", kernel, "-o", out, "--target", "sm_1"), 2, "P560")
    refused(here("asm", kernel), 2, "P560")


@pytest.mark.usefixtures("assembler", "disassembler")
def test_machine_code_stands_under_its_line(kernel: Path) -> None:
    done = here("sass", kernel, "--entry", "double")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("double: ")
    store = next(i for i, line in enumerate(lines) if "| st.global.f32 [%rd7], %f2;" in line)
    assert "STG" in lines[store + 1]
    found = json.loads(here("sass", kernel, "--target", "sm_90", "--json").stdout)
    (function,) = found["functions"]
    by_line = {i["line"]: i["text"] for i in function["instructions"] if "STG" in i["text"]}
    assert [DOUBLE.splitlines()[line - 1].strip() for line in by_line] == ["st.global.f32 [%rd7], %f2;"]
    assert [i["address"] for i in function["instructions"]] == sorted(
        i["address"] for i in function["instructions"]
    )


@pytest.mark.usefixtures("disassembler")
def test_machine_code_made_before(kernel: Path, tmp_path: Path) -> None:
    cubin = tmp_path / "double.cubin"
    cubin.write_bytes(cubin_of(DOUBLE, "sm_90"))
    assert "STG" in here("sass", cubin).stdout
    refused(here("sass", cubin, "--entry", "triple"), 2, "P504")
    refused(here("sass", cubin, "--target", "sm_90"), 2, "P560")
    cubin.write_bytes(cubin.read_bytes()[:600])
    refused(here("sass", cubin), 3, "P731")


def test_without_a_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxkit.toolchain.sass.find", lambda: None)
    with pytest.raises(PtxkitError) as caught:
        disassemble(b"\x7fELF")
    assert [d.code for d in caught.value.diagnostics] == ["P730"]
    assert "pip install" in (caught.value.diagnostics[0].help or "")


@pytest.mark.usefixtures("disassembler")
def test_no_instruction_is_lost() -> None:
    """Sixteen bytes each, one after the other, up to the padding's end at a multiple of 128 bytes."""
    (function,) = disassemble(cubin_of(DOUBLE, "sm_90"))
    addresses = [instruction.address for instruction in function.instructions]
    assert addresses == list(range(0, 16 * len(addresses), 16))
    assert len(addresses) % 8 == 0


def test_a_routine_behind_a_function_has_a_label() -> None:
    """ptxas calls it for the division of 64-bit integers."""
    row = "        /*0010*/                   IMAD R2, R2, R3, R4 ;"
    text = f"//----- .text.k  -----\nk:\n{row}\n$__internal_0_$__cuda_sm20_div_s64:\n{row}\n"
    (found,) = read_listing(text)
    assert [one.label for one in found.instructions] == [None, "$__internal_0_$__cuda_sm20_div_s64"]
