"""One case in a process of its own; prints what it took, as JSON.

    python tools/emulation/case_process.py CHECKOUT CASE [--smoke] [--no-sanitize]

`ptxkit` is that of CHECKOUT, which must come first in PYTHONPATH; kernels and cases are those of this file's.
Parts, in seconds of processor time: `build` (reading, checking, making code, a block's at its first use
included), `compile` (LLVM, its import included), `tensors` (making, filling, reading them), `execute`. `own`
is what is no part of a user's program: making inputs and comparing results.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT / "tools")

from emulation.cases import CASES, MeasuredCase  # noqa: E402
from emulation.seams import PartClock  # noqa: E402


def reset_peak() -> None:
    """Let the most memory held so far be what is held now, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int | None:
    """The most memory that this process has held; None where the system does not say."""
    try:
        lines = [line.split() for line in Path("/proc/self/status").read_text().splitlines()]
    except OSError:
        return None
    return next((int(words[1]) * 1024 for words in lines if words[:1] == ["VmHWM:"]), None)


class CardRun:
    """A kernel by its launch card."""

    def __init__(self, case: MeasuredCase, smoke: bool, clock: PartClock, device: Any) -> None:
        from ptxkit import card
        from ptxkit.asm import parse
        from ptxkit.plan import Program, Request, make
        from ptxkit.running.loaded_plan import Case, LoadedPlan

        path = ROOT / case.file
        with clock.part("build"):
            module = parse(path)
            loaded = device.load(module)
            assert module.source is not None
            request = Request() if smoke else Request(sizes=dict(case.sizes))
            plan = make(Program(path.name, str(path)), module, card.read(module.source), request)
        self._case = case
        self._problem = Case(plan)
        with clock.part("own"):
            inputs = self._problem.inputs
        self.sizes = dict(plan.sizes)
        self.bytes = sum(array.nbytes for array in inputs.values()) + plan.bytes
        self.launches = len(plan.launches)
        reset_peak()
        with clock.part("tensors"):
            self._on_device = LoadedPlan(device, loaded, plan)
            self._on_device.fill(inputs)
        with clock.part("build"):
            self._on_device.compile()
        self._device, self._clock = device, clock

    def run(self) -> int:
        """Everything once; returns how many instructions threads executed."""
        from collections import Counter

        counters: Counter[str] = Counter()
        with self._clock.part("execute"):
            self._on_device.launch(counters)
        return counters["thread_instructions"]

    def right(self) -> bool:
        """Whether the outputs are what they must be."""
        wanted = self._case.reference
        if wanted is None:
            with self._clock.part("tensors"):
                outputs = self._on_device.outputs()
            with self._clock.part("own"):
                compared = self._problem.compare(outputs)
                return bool(compared) and all(each.ok for each in compared)
        from emulation.references import REFERENCES

        with self._clock.part("own"):
            expected = REFERENCES[wanted](self._problem.inputs, self.sizes)
        with self._clock.part("tensors"):
            found = {name: self._on_device.read(name) for name in expected}
        return all((found[name] == array).all() for name, array in expected.items())


class GeneratedRun:
    """Generated modules and their launches."""

    def __init__(self, case: MeasuredCase, smoke: bool, clock: PartClock, device: Any) -> None:
        with clock.part("own"):
            from emulation.generated import generated, start

            self.sizes = dict((case.smoke if smoke else None) or case.sizes)
            self._program = generated(self.sizes)
        reset_peak()
        self.launches = len(self._program.launches)
        with clock.part("tensors"):
            self._words = device.array(start(), "out")
        self.bytes = 2 * self._words.nbytes
        with clock.part("build"):
            self._kernels = [device.load(text).kernel(entry) for text, entry in self._program.modules]
            for kernel in self._kernels:
                assert kernel.program
        self._device, self._clock = device, clock

    def run(self) -> int:
        """As `CardRun.run`."""
        instructions = 0
        program, words, device = self._program, self._words, self._device
        with self._clock.part("execute"):
            for module, arguments in program.launches:
                self._kernels[module].launch(1, program.threads, [words, *arguments])
                instructions += device.counts.instructions
        return instructions

    def right(self) -> bool:
        """As `CardRun.right`."""
        with self._clock.part("tensors"):
            found = self._words.numpy()
        return bool((found == self._program.expected).all())


def measure(case: MeasuredCase, smoke: bool, sanitize: bool, checkout: Path) -> dict[str, Any]:
    """What the case took in this process so far, and what came of it."""
    clock = PartClock()
    clock.watch()
    import ptxkit

    found_in = Path(ptxkit.__file__).resolve().parents[1]
    if found_in != checkout.resolve():
        raise SystemExit(f"expected ptxkit of {checkout}, found that of {found_in}")
    from ptxkit.emulator import Emulator

    device = Emulator(sanitize=sanitize)
    made = (CardRun if case.file else GeneratedRun)(case, smoke, clock, device)
    instructions = made.run()
    peak = peak_bytes()
    if device.findings or not made.right():
        found = "; ".join(each.message for each in device.findings[:3])
        raise SystemExit(f"the result of {case.name} is wrong, or something was found: {found}")
    own = {"wall": clock.wall.pop("own"), "cpu": clock.cpu.pop("own")}
    return {
        "sizes": made.sizes,
        "launches": made.launches,
        "thread_instructions": instructions,
        "own": own,
        "parts": clock.by_part(),
        "launch": {"wall": clock.wall["execute"], "cpu": clock.whole["execute"]},
        "peak_bytes": peak,
        "tensor_bytes": made.bytes,
        "missing_seams": clock.missing,
    }


def main() -> None:
    """Print a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("case", choices=[case.name for case in CASES])
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--no-sanitize", dest="sanitize", action="store_false")
    given = parser.parse_args()
    case = next(case for case in CASES if case.name == given.case)
    print(json.dumps(measure(case, given.smoke, given.sanitize, given.checkout)))


if __name__ == "__main__":
    main()
