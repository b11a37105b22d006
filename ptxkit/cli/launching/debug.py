"""Stop a launch on the emulator: what `ptxkit debug` does."""

from __future__ import annotations

import signal
import sys
from typing import Any

from ptxkit.cli.files import STANDARD
from ptxkit.cli.launching.plans import emulated, planned, ruled
from ptxkit.cli.launching.prompt import Prompt, QuitError
from ptxkit.cli.output import print_diagnostics
from ptxkit.diagnostics import PtxkitError, Source, error, exit_code
from ptxkit.emulator import Emulator
from ptxkit.emulator.device import EmulatorModule
from ptxkit.plan import LaunchPlan
from ptxkit.running.loaded_plan import Case, LoadedPlan
from ptxkit.running.report import judge, not_verified
from ptxkit.running.session import Session


def debug(given: dict[str, Any]) -> int:
    """Launch under the prompt; the exit code of what was found."""
    if given["file"] == STANDARD:
        raise error("P560", "expected a file, found `-`: commands come from standard input")
    options = emulated(given, "debug")
    found, plan = planned(given)
    options = ruled(options, given["file"], found)
    with Session(found.module, options) as running:
        return _debug(running, plan, found.module.source)


def _debug(running: Session, plan: LaunchPlan, main: Source | None) -> int:
    """The launch with its prompt; the exit code of what was found, 0 where the user left before."""
    device, loaded = running.device, running.loaded
    assert isinstance(device, Emulator)
    assert isinstance(loaded, EmulatorModule)
    case = Case(plan)
    with LoadedPlan(device, loaded, plan) as on_device:
        on_device.fill(case.inputs)
        on_device.compile()
        tensors = {
            name: (buffer.address, on_device.tensors[name].tensor.dtype)
            for name, buffer in on_device.buffers.items()
        }
        prompt = Prompt(loaded.image, main, tensors, device.findings)
        device.prepare = prompt.debugger.prepare
        code = 0
        before = signal.signal(signal.SIGINT, lambda *_: prompt.debugger.interrupt())
        try:
            prompt.read()
            code = _launch(prompt, on_device, case, plan)
            prompt.end()
            prompt.read()
        except QuitError:
            pass
        finally:
            signal.signal(signal.SIGINT, before)
            device.prepare = None
        return code


def _launch(prompt: Prompt, on_device: LoadedPlan, case: Case, plan: LaunchPlan) -> int:
    """Launch, verify, and say how it ended."""
    try:
        on_device.launch()
        outputs = on_device.outputs()
        prompt.tell_findings()
        compared = case.compare(outputs)
        judged = [finding for comparison in compared for finding in judge(comparison)]
        if not compared:
            judged = [not_verified(plan)]
        print("the launch has ended" + ("" if judged else ", and its outputs are verified"))
    except PtxkitError as problem:
        prompt.tell_findings()
        judged = list(problem.diagnostics)
        print("the launch has ended with a finding")
    print_diagnostics(judged, sys.stdout)
    return exit_code(judged)
