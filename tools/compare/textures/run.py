"""The GPU's answers, by processes of which one that spoils the GPU takes no other kind with it, and the
emulator's."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from compare.execute import STICKY
from compare.textures.bare_kinds import bare
from compare.textures.emulated import run as emulate
from compare.textures.hard_kinds import hard
from compare.textures.judge import Verdict, judge
from compare.textures.kinds import TRIALS, Entry, textures
from compare.textures.level_kinds import levels
from compare.textures.make import random_of
from compare.textures.model import Kind, Trial, load, save
from compare.textures.size_kinds import sizes
from compare.textures.surface_kinds import queries, surfaces
from compare.textures.variable_kinds import variables
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator

LEVEL_ERROR = 2
"""By which a level may be off where derivatives give it, in units of 1/256."""


class Setting(NamedTuple):
    """What a run has throughout.

    Attributes:
        target, version: of the kernels.
        seed: of everything random.
        folder: where answers are kept.
        ordinal: of the GPU.
        patience: seconds for a kind.
    """

    target: str
    version: str
    seed: int
    folder: Path
    ordinal: int
    patience: float


def entries() -> Mapping[str, Entry]:
    """Every kind, by name."""
    return {
        entry.kind.name: entry
        for make in (textures, bare, hard, levels, sizes, surfaces, queries, variables)
        for entry in make()
    }


def trials_of(entry: Entry, seed: int) -> list[Trial]:
    """The trials of a kind."""
    return entry.make(random_of(seed, entry.kind.name), TRIALS)


# ---- the GPU


def measure(setting: Setting, names: Sequence[str], done: Callable[[str, str], None]) -> None:
    """Keep the GPU's answers to every kind. `done`: called with each kind and what went wrong, or nothing."""
    known = entries()
    together = [name for name in names if not known[name].kind.alone]
    groups = [[name] for name in names if known[name].kind.alone]
    while together or groups:
        group = together or groups.pop()
        together = _in_process(setting, group, done)


def _in_process(setting: Setting, names: list[str], done: Callable[[str, str], None]) -> list[str]:
    """Let a process do kinds until it can't go on. Returns those that are left."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, setting, names), daemon=True)
    process.start()
    theirs.close()
    left = list(names)
    while left:
        reason = f"no answer in {setting.patience:g} s"
        try:
            if not ours.poll(setting.patience):
                break
            reason = ours.recv()
        except (EOFError, ConnectionResetError):
            process.join()
            reason = f"the process ended: {process.exitcode}"
            done(left.pop(0), reason)
            break
        done(left.pop(0), reason.removeprefix("lost: "))
        if reason.startswith("lost: "):
            break
    else:
        process.join(setting.patience)
        return left
    if process.is_alive() and not left:
        process.join(1)
    if process.is_alive():
        process.kill()
        if left and not reason.startswith("lost: "):
            done(left.pop(0), reason)
    process.join()
    return left


def _work(connection: Connection, setting: Setting, names: list[str]) -> None:
    """In a process: the kinds one after another. Sends for each what went wrong, or an empty text."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from compare.textures.gpu import Gpu, Refused

    known = entries()
    gpu = Gpu(setting.ordinal)
    for name in names:
        kind, lost = known[name].kind, ""
        made = trials_of(known[name], setting.seed)
        for trial in made:
            try:
                gpu.run(kind, trial, setting.target, setting.version)
            except Refused as refused:
                trial.failed = str(refused)
                lost = trial.failed if refused.sticky else ""
            except PtxkitError as problem:
                trial.failed = "; ".join(f"{found.code}: {found.message}" for found in problem.diagnostics)
                lost = (
                    trial.failed
                    if any(found.code.startswith(STICKY) for found in problem.diagnostics)
                    else ""
                )
            except (TypeError, ValueError, AttributeError, OSError) as problem:
                trial.failed = f"{type(problem).__name__}: {problem}"
            if lost:
                break
        save(setting.folder / kind.file, kind, made)
        failed = next((trial.failed for trial in made if trial.failed), "")
        connection.send(f"lost: {failed}" if lost else failed)
        if lost:
            break
    connection.close()


# ---- the emulator


def compare(task: tuple[Setting, str]) -> tuple[str, Verdict]:
    """Compare one kind with the answers that are kept."""
    setting, name = task
    entry = entries()[name]
    path = setting.folder / entry.kind.file
    if not path.exists():
        verdict = Verdict()
        verdict.refuse("gpu", "no answers")
        return name, verdict
    kept, made = load(path)
    kind = replace(kept, judged=entry.kind.judged, derived=entry.kind.derived)
    return name, _judged(setting, kind, made)


def emulated(task: tuple[Setting, str]) -> tuple[str, Verdict]:
    """Execute one kind on the emulator alone."""
    setting, name = task
    entry = entries()[name]
    made = trials_of(entry, setting.seed)
    verdict = Verdict()
    device = _emulator(setting)
    for trial in made:
        try:
            emulate(device, entry.kind, trial, setting.target, setting.version)
            verdict.fetches += trial.threads
        except PtxkitError as problem:
            verdict.refuse("emulator", _told(problem))
    return name, verdict


def _emulator(setting: Setting) -> Emulator:
    return Emulator(arch=setting.target, jit=False)


def _told(problem: PtxkitError) -> str:
    return "; ".join(f"{found.code}: {found.message}" for found in problem.diagnostics)


def _judged(setting: Setting, kind: Kind, made: list[Trial]) -> Verdict:
    verdict = Verdict()
    device = _emulator(setting)
    for trial in made:
        result: Any = None
        try:
            result = emulate(device, kind, trial, setting.target, setting.version)
        except PtxkitError as problem:
            if kind.judged != "fault":
                verdict.refuse("emulator", _told(problem))
        if kind.judged == "fault":
            verdict.fetches += 1
            agree = (result is None) == (trial.answer is None)
            verdict.equal, verdict.differ = verdict.equal + agree, verdict.differ + (not agree)
        elif trial.answer is None:
            verdict.refuse("gpu", trial.failed or "not reached")
        elif result is not None:
            judge(kind, trial, *result, verdict, _beside(setting, device, kind, trial))
    return verdict


def _beside(setting: Setting, device: Emulator, kind: Kind, trial: Trial) -> list[np.ndarray]:
    """The answers with levels that lie a little lower or higher, where derivatives give the level."""
    if not kind.derived or trial.sampler is None:
        return []
    near = [trial.sampler.bias + part / 256 for part in (-LEVEL_ERROR, -1, 1, LEVEL_ERROR)]
    others = [replace(trial, sampler=replace(trial.sampler, bias=bias)) for bias in near]
    return [emulate(device, kind, other, setting.target, setting.version)[0] for other in others]
