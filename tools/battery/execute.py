"""Kernels of the battery on the emulator, and what becomes of them."""

from __future__ import annotations

import enum
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.emulator.device import EmulatorModule

from .inputs import content
from .source import DTYPES, Kernel, Source


class Verdict(enum.Enum):
    """What became of a launch."""

    RIGHT = "right"
    WRONG = "wrong results"
    FINDING = "findings"
    REFUSED = "refused"
    INTERNAL = "internal errors"


@dataclass(frozen=True)
class Outcome:
    """One launch.

    Attributes:
        verdict: what became of it.
        detail: the first thing that is wrong.
        worst: the largest error in units in the last place, where results are inexact.
        outputs: what the kernel left; None where it did not end.
        printed: what it printed.
    """

    verdict: Verdict
    detail: str = ""
    worst: float = 0.0
    outputs: tuple[np.ndarray, ...] | None = None
    printed: str = ""


def inputs_of(source: Source, kernel: Kernel) -> list[np.ndarray]:
    """A kernel's inputs."""
    return [
        content(array, f"{source.name}.{kernel.name}.{number}", kernel.threads)
        for number, array in enumerate(kernel.inputs)
    ]


class Machine:
    """An emulator that loads a module once and launches its kernels one after the other.

    After a launch that did not end well the next one has a fresh emulator.

    Args:
        text: PTX, or a module.
        order, seed: of asynchronous work and of lane sets.
        jit: whether blocks that run often are compiled.
    """

    def __init__(self, text: Any, order: str = "lazy", seed: int = 0, jit: bool | None = None) -> None:
        self._text = text
        self._options: dict[str, Any] = {"order": order, "seed": seed, "jit": jit}
        self._module: EmulatorModule | None = None

    def launch(self, source: Source, kernel: Kernel) -> Outcome:
        """Launch a kernel once; what it left is not judged yet."""
        outcome = self._launch(source, kernel)
        if outcome.verdict is not Verdict.RIGHT:
            self._module = None
        return outcome

    def _launch(self, source: Source, kernel: Kernel) -> Outcome:
        try:
            if self._module is None:
                self._module = Emulator(**self._options).load(self._text)
            device, printed = self._module.device, list[str]()
            device.output = printed.append
            entry = self._module.kernel(kernel.name)
            arguments = [device.array(array) for array in inputs_of(source, kernel)]
            for array in kernel.outputs:
                arguments.append(device.array(np.zeros(array.size(kernel.threads), DTYPES[array.dtype])))
            entry.launch(
                (kernel.grid,),
                (kernel.block,),
                arguments,
                shared=kernel.shared,
                cooperative=kernel.cooperative,
            )
            device.synchronize()
            left = tuple(output.numpy() for output in arguments[len(kernel.inputs) :])
        except PtxkitError as refused:
            faults = [d for d in refused.diagnostics if d.code.startswith("P6") and d.code != "P601"]
            return Outcome(Verdict.FINDING if faults else Verdict.REFUSED, str(refused))
        except Exception:  # noqa: BLE001 whatever it is, it is the emulator's and counted as such
            return Outcome(Verdict.INTERNAL, traceback.format_exc(limit=-3))
        if device.findings:
            return Outcome(Verdict.FINDING, str(device.findings[0]), outputs=left)
        return Outcome(Verdict.RIGHT, outputs=left, printed="".join(printed))


def judge(outcome: Outcome, source: Source, kernel: Kernel, expected: list[np.ndarray]) -> Outcome:
    """A launch that ended, held against the reference; or one that must be refused against why."""
    if kernel.refused:
        good = outcome.verdict in (Verdict.REFUSED, Verdict.FINDING) and kernel.refused in outcome.detail
        why = "" if good else f"expected it to be refused: `{kernel.refused}`; {outcome.detail}"
        return Outcome(Verdict.RIGHT if good else Verdict.WRONG, why)
    if outcome.verdict is not Verdict.RIGHT or outcome.outputs is None:
        return outcome
    lines = sorted(outcome.printed.splitlines())
    if lines != sorted(kernel.prints):
        return Outcome(Verdict.WRONG, f"expected it to print {kernel.prints}, found {lines}")
    worst = 0.0
    for number, (got, wanted) in enumerate(zip(outcome.outputs, expected, strict=True)):
        if kernel.ulp is None:
            wrong = _different(got, wanted, kernel.nan)
        else:
            error = distance(got, wanted)
            near = np.zeros(got.shape, bool)
            if kernel.absolute:
                with np.errstate(invalid="ignore"):
                    near = np.abs(got.astype(wanted.dtype) - wanted) <= kernel.absolute
            wrong = (error > kernel.ulp) & ~near
            worst = max(worst, float(error[~near].max(initial=0)))
        if wrong.any():
            at = int(np.argmax(wrong))
            each = kernel.outputs[number]
            where = (
                f"element {at}" if each.total else f"element {at % each.count} of thread {at // each.count}"
            )
            found, right = got[at], wanted[at]
            if kernel.ulp is None:
                bits = f"u{got.itemsize}"
                found, right = f"{got.view(bits)[at]:#x}", f"{wanted.view(bits)[at]:#x}"
            detail = f"output {number}, {where}: expected {right}, found {found}"
            return Outcome(Verdict.WRONG, f"{detail}; {int(wrong.sum())} differ", worst, outcome.outputs)
    return Outcome(Verdict.RIGHT, "", worst, outcome.outputs)


def _different(got: np.ndarray, wanted: np.ndarray, nan: bool) -> np.ndarray:
    bits = f"u{got.itemsize}"
    wrong: np.ndarray = got.view(bits) != wanted.view(bits)
    if nan:
        with np.errstate(invalid="ignore"):
            got, wanted = (array.astype(np.float64) for array in (got, wanted))
        wrong &= ~(np.isnan(got) & np.isnan(wanted))
    return wrong


def distance(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How many numbers lie between results and the right ones; infinite where one alone is a NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = exact.astype(got.dtype)
    steps = np.abs(_ordinal(got) - _ordinal(rounded)).astype(np.float64)
    neither = ~(np.isnan(got) | np.isnan(rounded))
    both = np.isnan(got) & np.isnan(rounded)
    return np.where(both, 0.0, np.where(neither, steps, np.inf))


def _ordinal(values: np.ndarray) -> np.ndarray:
    """Which number of its type each is, counted from zero."""
    bits = 8 * values.itemsize
    words = values.view(f"u{values.itemsize}").astype(np.uint64)
    magnitude = (words & np.uint64((1 << bits - 1) - 1)).astype(np.int64)
    return np.where(words >> np.uint64(bits - 1), -magnitude, magnitude)
