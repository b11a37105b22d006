"""What a virtual GPU says where it fails itself, and where there can be none."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ptxkit.diagnostics import PtxkitError
from ptxkit.virtual.libraries import write_libraries
from ptxkit.virtual.options import VirtualOptions
from ptxkit.virtual.report import ProcessReport
from ptxkit.virtual.results import code


def test_a_fault_of_ptxkits_own_is_told_as_that() -> None:
    report = ProcessReport(VirtualOptions(quiet=True))
    with pytest.raises(KeyError) as raised:
        raise KeyError(17)
    assert report.failed(raised.value) == code("UNKNOWN")
    (finding,) = report.findings
    assert finding.diagnostic.code == "P750"
    assert finding.diagnostic.message == "ptxkit failed: KeyError: 17"
    assert any("raise KeyError(17)" in note for note in finding.diagnostic.notes)


@pytest.mark.skipif(not hasattr(os, "uname"), reason="asks the system for its machine")
def test_libraries_are_for_linux_on_two_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine="riscv64"))
    with pytest.raises(PtxkitError, match="a virtual GPU needs Linux on x86_64, aarch64, found") as raised:
        write_libraries(tmp_path)
    assert [diagnostic.code for diagnostic in raised.value.diagnostics] == ["P751"]
    assert list(tmp_path.iterdir()) == []
