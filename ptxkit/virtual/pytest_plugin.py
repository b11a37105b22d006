"""`pytest --ptxkit`: the tests run on a virtual GPU, and one in which a finding occurred fails with it.

The plugin loads with every pytest where ptxkit is installed; without `--ptxkit` it imports nothing of weight.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ptxkit.virtual.gpu.machine import Machine

OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("arch", {"default": "sm_90a", "metavar": "SM", "help": "the target of the virtual GPUs"}),
    ("devices", {"default": 1, "type": int, "metavar": "N", "help": "how many virtual GPUs there are"}),
    (
        "order",
        {"default": "lazy", "choices": ["lazy", "eager", "random"], "help": "when asynchronous work happens"},
    ),
    ("seed", {"default": 0, "type": int, "metavar": "N", "help": "seed of --ptxkit-order random"}),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--ptxkit` and its options."""
    group = parser.getgroup("ptxkit", "a virtual GPU (ptxkit)")
    group.addoption(
        "--ptxkit", action="store_true", help="run the tests on a virtual GPU; findings fail the test"
    )
    for name, rest in OPTIONS:
        group.addoption(f"--ptxkit-{name}", **rest)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any module of the tests looks for a driver, ours is there."""
    given = early_config.known_args_namespace
    if not getattr(given, "ptxkit", False):
        return
    from ptxkit.diagnostics import PtxkitError
    from ptxkit.rules import project_rules
    from ptxkit.virtual.installation import install

    settings: dict[str, Any] = {name: getattr(given, f"ptxkit_{name}") for name, _ in OPTIONS}
    try:
        rules = project_rules(early_config.rootpath)
        machine = install(keep_going=True, quiet=True, rules=rules, **settings)
    except PtxkitError as problem:
        raise pytest.UsageError(str(problem)) from None
    early_config.pluginmanager.register(VirtualGpu(machine), "ptxkit-virtual-gpu")


class VirtualGpu:
    """What watches the tests of a session."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Let what a test queued happen in the test, and fail it for what was found."""
        before = len(self._machine.report.findings)
        try:
            result = yield
        except BaseException:
            self._show(item, before)
            raise
        if errors := self._show(item, before):
            pytest.fail(f"ptxkit found {errors}, see below", pytrace=False)
        return result

    def _show(self, item: pytest.Item, before: int) -> str:
        """Add what was found to the test's report; how many errors that are, in words."""
        from ptxkit.diagnostics import counted, render_text

        with self._machine.schedule.lock:
            self._machine.schedule.finish_all()
        found = [finding.shown() for finding in self._machine.report.findings[before:]]
        if found:
            item.add_report_section("call", "ptxkit", render_text(found))
        errors = sum(finding.is_error for finding in found)
        return counted(errors, "error") if errors else ""

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What ran, and what was not supported."""
        from ptxkit.diagnostics import counted

        report = self._machine.report
        errors = sum(finding.diagnostic.is_error for finding in report.findings)
        terminalreporter.section("ptxkit")
        target = self._machine.options.arch
        found = f"{counted(errors, 'error')}, {counted(len(report.findings) - errors, 'warning')}"
        terminalreporter.line(f"launches on a virtual GPU ({target}): {report.launches}; {found}")
        for name, count in report.unsupported.most_common():
            terminalreporter.line(f"not supported yet: {name} ({count} times)")
