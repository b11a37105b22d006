"""The shipped kernels assemble and give no finding under any order; each single-line fault in them is found.

`kernel_faults/KERNEL.toml` holds a kernel's faults, the sizes under which it runs here, and the registers
that its plan allows.
"""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
from assembler import linker
from command import codes, here

import ptxkit
from ptxkit import kernels
from ptxkit.assembler import assemble

TABLES = {
    f"{path.stem}.ptx": tomllib.loads(path.read_text())
    for path in sorted((Path(__file__).parent / "kernel_faults").glob("*.toml"))
}
FAULTS = [
    pytest.param(kernel, table["sizes"][fault["sizes"]], fault, id=f"{kernel}: {fault['name']}")
    for kernel, table in TABLES.items()
    for fault in table["fault"]
]
SIZES = [
    pytest.param(kernel, sizes, id=f"{kernel}-{name}")
    for kernel, table in TABLES.items()
    for name, sizes in table["sizes"].items()
]
REGISTERS = [
    (kernel, target, most) for kernel, table in TABLES.items() for target, most in table["registers"].items()
]
ORDERS = [("lazy", 0), ("eager", 0), *(("random", seed) for seed in range(20))]


def run(file: object, sizes: dict[str, int], order: str, seed: int) -> subprocess.CompletedProcess[str]:
    given = [part for name, value in sizes.items() for part in ("-p", f"{name}={value}")]
    return here("run", file, "--device", "emu", *given, "--order", order, "--seed", seed)


@pytest.mark.parametrize(("kernel", "sizes", "fault"), FAULTS)
def test_a_fault_is_found(tmp_path: Path, kernel: str, sizes: dict[str, int], fault: dict[str, str]) -> None:
    text = kernels.shipped()[kernel].read_text()
    assert text.count(fault["line"]) >= 1
    path = tmp_path / kernel
    path.write_text(text.replace(fault["line"], fault["instead"], 1))
    done = run(path, sizes, "lazy", 0)
    assert codes(done.stderr + done.stdout)[:1] == [fault["code"]], done.stdout + done.stderr
    assert done.returncode == (4 if fault["code"].startswith("P8") else 1)


@pytest.mark.parametrize(("kernel", "sizes"), SIZES)
def test_no_fault_no_finding(kernel: str, sizes: dict[str, int]) -> None:
    for order, seed in ORDERS:
        done = run(kernel, sizes, order, seed)
        assert done.returncode == 0, done.stdout + done.stderr
        assert codes(done.stderr + done.stdout) == []


@pytest.mark.parametrize(("kernel", "target", "most"), REGISTERS)
def test_the_registers_are_as_planned(kernel: str, target: str, most: int) -> None:
    linker()
    made = assemble(ptxkit.parse(kernels.shipped()[kernel]), target)
    assert made.cubin is not None, made.diagnostics
    for usage in made.usage.values():
        assert usage.registers <= most
        assert usage.stack == usage.spill_stores == usage.spill_loads == 0
