"""Execute modules on both devices, so that one statement that fails takes no other with it."""

from __future__ import annotations

import traceback
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ptxkit
from compare import judge
from compare.cases import Case
from compare.kernels import BLOCK, Kernel, Program, program
from ptxkit import targets
from ptxkit.device.protocol import Device
from ptxkit.diagnostics import Diagnostic, PtxkitError

EXAMPLES = 3
"""Disagreements of a case that are written down."""
STICKY = ("P72", "P712")
"""Codes after which a process can't use the GPU any more begin like this."""

Results = dict[str, np.ndarray]
"""By kernel, `uint64[results, threads]`."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run has throughout.

    Attributes:
        target, version: of the modules.
        seed: of the values.
        gpu: whether there is a GPU; else the emulator runs alone.
        ordinal: the GPU's number.
        assemble: hand every module to nvJitLink first.
        keep: a folder for modules, values and results where something differs.
    """

    target: targets.Target
    version: targets.Version
    seed: int = 0
    gpu: bool = True
    ordinal: int = 0
    assemble: bool = False
    keep: Path | None = None


@dataclass(slots=True)
class Outcome:
    """What became of one case.

    Attributes:
        state: `compared`; `not emulated`; `refused` by the checker, by nvJitLink or by the driver; `fault`.
        reason: why it was not compared.
        how: see `judge.Verdict`.
        threads, instances: executed; warps where a warp executes together.
        wrong: instances that disagree.
        payloads: NaNs with other bits.
        examples: the first disagreements.
    """

    state: str
    reason: str = ""
    how: str = ""
    threads: int = 0
    instances: int = 0
    wrong: int = 0
    swapped: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)


class Poisoned(Exception):
    """The process can't use the GPU any more."""


class Bench:
    """Both devices."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.reduced = 0
        self.emulator: Device = ptxkit.open_device("emu", arch=str(setting.target))
        self.gpu: Device | None = ptxkit.open_device(f"cuda:{setting.ordinal}") if setting.gpu else None

    def run(self, cases: Sequence[Case], threads: int) -> list[Outcome]:
        """Execute and compare each case in so many threads.

        Raises:
            Poisoned: a kernel left the GPU unusable. The same cases can be tried in parts by a new process.
        """
        outcomes: dict[int, Outcome] = {}
        waiting = [list(range(len(cases)))]
        while waiting:
            chosen = waiting.pop()
            made = program([cases[i] for i in chosen], threads, *self._module, self.setting.seed)
            try:
                results = self.execute(made)
            except Failed as failed:
                dropped = failed.owners(made)
                if not dropped and len(chosen) > 1:
                    half = len(chosen) // 2
                    waiting += [chosen[:half], chosen[half:]]
                    continue
                for place, reason in (dropped or {0: failed.reason}).items():
                    outcomes[chosen[place]] = Outcome(failed.state, reason)
                waiting += [left] if (left := [i for i in chosen if i not in outcomes]) else []
                continue
            for place, i in enumerate(chosen):
                outcomes[i] = verdict(cases[i], place, made, results)
            if any(outcomes[i].wrong for i in chosen):
                self.save(made, results)
        return [outcomes[i] for i in range(len(cases))]

    def save(self, made: Program, results: Sequence[Results]) -> None:
        """Keep a module with its values and both devices' results, to look into what differs."""
        if self.setting.keep is None:
            return
        self.setting.keep.mkdir(parents=True, exist_ok=True)
        stem = self.setting.keep / f"{zlib.crc32(made.text.encode()):08x}"
        stem.with_suffix(".ptx").write_text(made.text)
        arrays = {f"{kernel.name}.values": kernel.values for kernel in made.kernels}
        for side, result in zip(("emulator", "gpu"), results, strict=False):
            arrays.update({f"{name}.{side}": array for name, array in result.items()})
        np.savez_compressed(stem.with_suffix(".npz"), allow_pickle=False, **arrays)

    @property
    def _module(self) -> tuple[targets.Target, targets.Version]:
        return self.setting.target, self.setting.version

    def execute(self, made: Program) -> list[Results]:
        """The results of the emulator, then, where there is one, of the GPU."""
        module = ptxkit.parse(made.text)
        if self.setting.assemble:
            assemble(made, self.setting.target)
        found = [run_on(self.emulator, module, made)]
        if self.gpu is not None:
            found.append(run_on(self.gpu, module, made))
        return found


class Failed(Exception):
    """A module did not run.

    Attributes:
        state: as of `Outcome`.
        diagnostics: what was said.
    """

    def __init__(self, state: str, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(state)
        self.state = state
        self.diagnostics = tuple(diagnostics)

    @property
    def reason(self) -> str:
        """The first thing that was said."""
        return (
            f"{self.diagnostics[0].code}: {self.diagnostics[0].message}" if self.diagnostics else self.state
        )

    def owners(self, made: Program) -> dict[int, str]:
        """What it is held against (`Program.lines`), each with a reason; none where no line is named."""
        found: dict[int, str] = {}
        for diagnostic in self.diagnostics:
            owner = made.owner_at(diagnostic.span.line) if diagnostic.span else None
            if owner is not None:
                found.setdefault(owner, f"{diagnostic.code}: {diagnostic.message}")
        return found


def run_on(device: Device, module: Any, made: Program) -> Results:
    """Execute every kernel of a module.

    Raises:
        Failed: the device does not take the module, or a kernel failed.
        Poisoned: a kernel left the GPU unusable.
    """
    what = "the driver" if device.kind == "cuda" else "the emulator"
    results: Results = {}
    try:
        loaded = device.load(module)
        for kernel in made.kernels:
            results[kernel.name] = _launch(device, loaded.kernel(kernel.name), kernel)
    except PtxkitError as problem:
        codes = [diagnostic.code for diagnostic in problem.diagnostics]
        if any(code.startswith(STICKY) for code in codes):
            raise Poisoned(f"{codes[0]}: {problem.diagnostics[0].message}") from None
        state = "fault" if results else "refused"
        if "P601" in codes:
            state = "not emulated"
        elif codes[0][:2] in ("P1", "P2", "P3", "P4"):
            what = "the checker"
        elif codes[0].startswith("P6"):
            state = "fault"
        raise Failed(f"{state} by {what}" if state == "refused" else state, problem.diagnostics) from None
    except Exception as problem:  # noqa: BLE001
        # A defect of the emulator must not end the comparison of everything else; it is written down.
        where = traceback.extract_tb(problem.__traceback__)[-1]
        message = f"{type(problem).__name__}: {problem} ({where.filename.rpartition('/')[2]}:{where.lineno})"
        raise Failed("fault", [Diagnostic("P599", message)]) from None
    return results


def _launch(device: Device, kernel: Any, data: Kernel) -> np.ndarray:
    values = device.array(data.values)
    results = device.array(np.zeros((data.rows, data.threads), np.uint64))
    kernel.launch((data.threads // BLOCK,), (BLOCK,), [values, results])
    found = results.numpy()
    values.free()
    results.free()
    return found


def assemble(made: Program, target: targets.Target, unoptimized: bool = False) -> None:
    """Hand a module to nvJitLink.

    Raises:
        Failed: it refuses.
    """
    from cuda.bindings import nvjitlink

    from ptxkit.asm.assembler_log import read_log

    data = made.text.encode()
    options = [f"-arch={target}", *(["-O0"] if unoptimized else [])]
    handle = nvjitlink.create(len(options), options)
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "compared.ptx")
        nvjitlink.complete(handle)
    except nvjitlink.nvJitLinkError as problem:
        log = bytearray(nvjitlink.get_error_log_size(handle))
        if log:
            nvjitlink.get_error_log(handle, log)
        said = read_log(bytes(log).partition(b"\0")[0].decode(errors="replace"), None)
        raise Failed("refused by nvJitLink", said or [Diagnostic("P706", str(problem))]) from None
    finally:
        nvjitlink.destroy(handle)


def verdict(case: Case, index: int, made: Program, results: Sequence[Results]) -> Outcome:
    """Compare one case of a module."""
    kernel = next(kernel for kernel in made.kernels if index in kernel.places)
    first, row = kernel.places[index]
    inputs = list(kernel.values[first : first + len(case.inputs)])
    sides = [list(result[kernel.name][row : row + len(case.outputs)]) for result in results]
    found = judge.compare(case, inputs, sides[0], sides[1] if len(sides) > 1 else None)
    width = 32 if case.of_warp else 1
    wrong = found.wrong.reshape(-1, width).any(axis=1)
    outcome = Outcome("compared", how=found.how, threads=kernel.threads, swapped=found.swapped)
    outcome.instances = found.compared // width
    outcome.wrong = int(wrong.sum())
    for instance in np.flatnonzero(wrong)[:EXAMPLES]:
        thread = int(instance) * width + int(
            np.argmax(found.wrong[instance * width : (instance + 1) * width])
        )
        outcome.examples.append(_example(case, thread, inputs, sides, found))
    return outcome


def _example(
    case: Case,
    thread: int,
    inputs: Sequence[np.ndarray],
    sides: Sequence[Sequence[np.ndarray]],
    found: judge.Verdict,
) -> dict[str, Any]:
    def shown(registers: Sequence[Any], values: Sequence[np.ndarray]) -> dict[str, str]:
        return {
            register.name: f"{int(value[thread]):#0{2 + max(1, register.bits // 4)}x}"
            for register, value in zip(registers, values, strict=True)
        }

    example: dict[str, Any] = {"statement": case.text, "thread": thread, "inputs": shown(case.inputs, inputs)}
    for side, values in zip(("emulator", "gpu"), sides, strict=False):
        example[side] = shown(case.outputs, values)
    wrong = [side for side, bad in found.against if bad[thread]]
    if wrong:
        example["outside the documented error"] = wrong
    return example
