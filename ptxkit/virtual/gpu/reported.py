"""Whose what is found is: an operation that is happening, and where the program asked for it."""

from __future__ import annotations

from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.virtual.calling import NOWHERE, HostStack
from ptxkit.virtual.gpu.host import Host
from ptxkit.virtual.results import DriverError


class ReportedWork:
    """What is found within is of one operation; an error within becomes the driver's.

    Args:
        machine: whose report takes it.
        name: what the operation is called.
        stack: where the program asked for it.
        findings: what leaves warnings there meanwhile: they are taken from it.
    """

    __slots__ = ("_findings", "_machine", "_name", "_stack")

    def __init__(
        self, machine: Host, name: str, stack: HostStack, findings: list[Diagnostic] | None = None
    ) -> None:
        self._machine = machine
        self._name = name
        self._stack = stack
        self._findings = findings

    def __enter__(self) -> None:
        report = self._machine.report
        report.launch, report.stack = self._name, self._stack

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        machine, report = self._machine, self._machine.report
        try:
            if isinstance(problem, PtxkitError):
                raise DriverError(report.failed(problem)) from None
        finally:
            if self._findings:
                for found in self._findings:
                    report.add(found)
                self._findings.clear()
            machine.memory.forget_host()
            report.launch, report.stack = "", NOWHERE
