"""The shipped kernels assemble and give no finding under any order; each single-line fault in them is found.

`kernel_faults/KERNEL.toml` holds a kernel's faults, the sizes under which it runs here, and the registers
that its plan allows. Left to the longer run are every second fault and those with `slow`, eager order and a
second seed, all orders but the first of sizes that are `long`, and sizes that are `slow`. A fault with
`warning` is only warned of.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from assembler import linker
from command import codes, here

import ptxkit
from ptxkit.diagnostics import Severity, code_info
from ptxkit.shipped import kernels
from ptxkit.toolchain.assembler import assemble

ERROR = re.compile(r"^error\[(P\d+)\]", re.MULTILINE)
TABLES = {
    f"{path.stem}.ptx": tomllib.loads(path.read_text())
    for path in sorted((Path(__file__).parent / "kernel_faults").glob("*.toml"))
}
FAULTS = [
    pytest.param(
        kernel,
        fault["sizes"],
        fault,
        id=f"{kernel}: {fault['name']}",
        marks=[pytest.mark.slow] if fault.get("slow") or number % 2 else [],
    )
    for kernel, table in TABLES.items()
    for number, fault in enumerate(table["fault"])
]
SIZES = [(kernel, sizes) for kernel, table in TABLES.items() for sizes in table["sizes"]]


def long_sizes(kernel: str) -> list[str]:
    """The sizes of a kernel whose orders but the first are left to the longer run."""
    found: list[str] = TABLES[kernel].get("long", [])
    return found


REGISTERS = [
    (kernel, target, most) for kernel, table in TABLES.items() for target, most in table["registers"].items()
]


def run(
    file: object, kernel: str, sizes: str, order: str = "lazy", seed: int = 0
) -> subprocess.CompletedProcess[str]:
    table = TABLES[kernel]
    given = [part for name, value in table["sizes"][sizes].items() for part in ("-p", f"{name}={value}")]
    given += table.get("options", {}).get(sizes, [])
    return here("run", file, "--device", "emu", *given, "--order", order, "--seed", seed)


def broken(text: str, fault: dict[str, Any]) -> str:
    """The kernel with one fault."""
    before, at = "", 0
    for _ in range(fault.get("nth", 1)):
        at = text.index(fault["line"], at + len(before))
        before = fault["line"]
    return text[:at] + fault["instead"] + text[at + len(fault["line"]) :]


@pytest.mark.parametrize(("kernel", "sizes", "fault"), FAULTS)
def test_a_fault_is_found(tmp_path: Path, kernel: str, sizes: str, fault: dict[str, Any]) -> None:
    path = tmp_path / kernel
    path.write_text(broken(kernels.shipped()[kernel].read_text(), fault))
    done = run(path, kernel, sizes)
    info = code_info(fault["code"])
    assert info is not None
    wrong = 4 if fault["code"].startswith("P8") else 1
    warned = fault.get("warning", info.severity is not Severity.ERROR)
    printed = done.stderr + done.stdout
    found = codes(printed) if warned else ERROR.findall(printed)  # Before an error there may be warnings.
    assert found[:1] == [fault["code"]], printed
    assert done.returncode == (0 if warned else wrong)


@pytest.mark.slow
@pytest.mark.parametrize(("order", "seeds"), [("eager", 1), ("random", 4)])
@pytest.mark.parametrize(("kernel", "sizes", "fault"), FAULTS)
def test_a_fault_is_found_in_the_other_orders(
    tmp_path: Path, kernel: str, sizes: str, fault: dict[str, Any], order: str, seeds: int
) -> None:
    """By any code, in random order by one of four seeds."""
    path = tmp_path / kernel
    path.write_text(broken(kernels.shipped()[kernel].read_text(), fault))
    runs = (run(path, kernel, sizes, order, seed) for seed in range(seeds))
    assert any(done.returncode or codes(done.stderr + done.stdout) for done in runs)


def clean(kernel: str, sizes: str, order: str, seed: int) -> None:
    done = run(kernel, kernel, sizes, order, seed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert codes(done.stderr + done.stdout) == []


@pytest.mark.parametrize(
    ("order", "seed", "kernel", "sizes"),
    [
        pytest.param(
            *order,
            *case,
            marks=[pytest.mark.slow]
            if number in (1, 3)
            or (number and case[1] in long_sizes(case[0]))
            or case[1] in TABLES[case[0]].get("slow", [])
            else [],
        )
        for number, order in enumerate([("lazy", 0), ("eager", 0), ("random", 0), ("random", 1)])
        for case in SIZES
    ],
)
def test_no_fault_no_finding(kernel: str, sizes: str, order: str, seed: int) -> None:
    clean(kernel, sizes, order, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "sizes"), SIZES)
def test_no_finding_by_any_seed(kernel: str, sizes: str) -> None:
    for seed in range(2, 22):
        clean(kernel, sizes, "random", seed)


@pytest.mark.parametrize(("kernel", "target", "most"), REGISTERS)
def test_the_registers_are_as_planned(kernel: str, target: str, most: int) -> None:
    """An `a` target runs only on that part: for another the file's target line is changed."""
    linker()
    text = kernels.shipped()[kernel].read_text()
    own = re.search(r"^\.target (sm_\w+a)$", text, re.MULTILINE)
    if own and own[1] != target:
        text = text.replace(own[0], f".target {target}")
    made = assemble(ptxkit.parse(text), target)
    assert made.cubin is not None, made.diagnostics
    for usage in made.usage.values():
        assert usage.registers <= most
        assert usage.stack == usage.spill_stores == usage.spill_loads == 0


def test_pages_count_the_faults() -> None:
    counted = {}
    for page in (Path(__file__).parents[1] / "docs" / "kernels").glob("*.md"):
        said = re.search(r"(\d+)\s+single-line faults", page.read_text("utf-8"))
        if said:
            counted[page.stem] = int(said[1])
    assert counted == {kernel: len(TABLES[f"{kernel}.ptx"]["fault"]) for kernel in counted}
    assert len(counted) >= 2
