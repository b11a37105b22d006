"""docs/emulator/rules.md: each rule has a code, and a kernel that breaks it and is found by that code.

The repaired kernels are clean: test_asynchrony.py, test_findings.py, test_tensor_memory_faults.py and
test_kernel_faults.py see to that.
"""

from __future__ import annotations

import re
from pathlib import Path

import asynchronous_kernels
import finding_kernels
import pytest
import tensor_memory_faults
import test_kernel_faults

import ptxkit
from ptxkit.diagnostics import Severity, code_info, code_table

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| ([A-Z0-9-]+) \| (P\d+|-) \| (\w+|-) \| (.*) \|$", re.MULTILINE)
LINK = re.compile(r"\[`?(.*?)`?\]\(\.\./\.\./(.*?)\)(?:, (.*))?")
RULES = ROW.findall((ROOT / "docs" / "emulator" / "rules.md").read_text("utf-8"))
OTHERS = {
    "test_strict.py",
    "test_programmatic.py",
    "test_textures.py",
    "test_surfaces.py",
    "test_machine.py",
    "test_multimem.py",
    "test_virtual_peers.py",
    "test_virtual_stream_races.py",
    "test_fabric.py",
}
"""Tests that hold a rule both ways themselves."""


def test_every_rule_is_listed_once() -> None:
    names = [name for name, *_ in RULES]
    assert len(names) == len(set(names))
    listed = {(name, code) for name, code, *_ in RULES} | {("MULTI-ISSUE", "P6129")}
    for code, info in code_table().items():
        if code.startswith("P6") and info.name.isupper():
            assert (info.name, code) in listed


@pytest.mark.parametrize(("name", "code", "severity", "broken"), RULES, ids=[rule[0] for rule in RULES])
def test_a_rule_is_found_by_its_code(name: str, code: str, severity: str, broken: str) -> None:
    if code == "-":
        assert severity == "-"
        return
    info = code_info(code)
    assert info is not None
    assert severity == ("error" if info.severity is Severity.ERROR else severity)
    link = LINK.fullmatch(broken)
    if link is None:
        assert code in [found.code for found in ptxkit.check(ptxkit.parse(_statement(broken.strip("`"))))]
        return
    shown, path, which = link.groups()
    file = ROOT / path
    assert file.is_file()
    if file.parent.name == "findings":
        (found,) = finding_kernels.findings(finding_kernels.version(file.read_text(), "broken"))
        assert found.code == code
    elif file.parent.name == "asynchrony":
        kernel = asynchronous_kernels.AsyncKernel(file)
        codes, old, new, *order = kernel.header["faults"][int(which.removeprefix("fault "))]
        assert code in codes.split()
        device = asynchronous_kernels.device_for(order)
        assert code in asynchronous_kernels.codes_found(kernel, old, new, device)
    elif file.parent.name == "kernel_faults":
        table = test_kernel_faults.TABLES[f"{shown}.ptx"]
        assert code in [fault["code"] for fault in table["fault"] if fault["name"] == which]
    elif which is not None:
        assert tensor_memory_faults.FAULTS[which].code == code
    else:
        assert file.name in OTHERS
        assert code in file.read_text("utf-8")


def _statement(text: str) -> str:
    return f".version 8.6\n.target sm_90a\n.address_size 64\n.entry k() {{\n{text}\nret;\n}}\n"
