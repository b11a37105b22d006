"""Chains on the emulator and on a GPU; what differs is made small."""

from __future__ import annotations

import json
import traceback
import zlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

import ptxkit
from compare.chains import judge
from compare.chains.execute import run
from compare.chains.judge import Verdict
from compare.chains.model import Chain
from compare.chains.reduce import reduced
from compare.chains.text import module
from compare.execute import STICKY, Bench, Failed, Poisoned, assemble
from compare.kernels import Program
from ptxkit.asm.tree import Module
from ptxkit.device.protocol import Device
from ptxkit.diagnostics import PtxkitError

MOST_REDUCED = 1
"""Chains that one process makes small."""
LONGEST = 80
"""Tries that one chain is worth."""


class Failure(Exception):
    """A device did not execute a module."""


def compare_chains(bench: Bench, chains: Sequence[Chain], unoptimized: str = "") -> list[Verdict]:
    """Execute and compare chains, one by one where they do not run together; what differs is done again
    without the optimisations of the driver's compiler, if there was no reason to leave them out at once.

    Raises:
        Poisoned: as by `Bench.run`.
    """
    try:
        sides = _both(bench, chains, unoptimized=bool(unoptimized))
    except Failure as failure:
        if len(chains) > 1:
            return [compare_chains(bench, [chain], unoptimized)[0] for chain in chains]
        return [Verdict(failed=str(failure))]
    found = []
    for place, chain in enumerate(chains):
        emulated, measured = sides[0][place], sides[-1][place]
        verdict = judge.compare(chain, emulated, measured)
        verdict.unoptimized = unoptimized
        if verdict.wrong:
            verdict.optimized = not unoptimized and _agrees_unoptimized(bench, chain)
            verdict.small = _small(bench, chain, verdict)
            _save(bench, chain, emulated, measured, verdict)
        found.append(verdict)
    return found


def _agrees_unoptimized(bench: Bench, chain: Chain) -> bool:
    try:
        sides = _both(bench, [chain], unoptimized=True)
    except Failure:
        return False
    return not judge.compare(chain, sides[0][0], sides[-1][0]).wrong


def _both(
    bench: Bench,
    chains: Sequence[Chain],
    without: Collection[tuple[str, int]] = (),
    unoptimized: bool = False,
) -> list[list[np.ndarray]]:
    text = module(chains, bench.setting.target, bench.setting.version, without)
    if bench.setting.assemble:
        _assemble(bench, text, unoptimized)
    parsed = ptxkit.parse(text)
    # The sanitizer finds nothing in chains, which tests/test_compare_chains.py shows on some.
    emulator = ptxkit.open_device("emu", arch=str(bench.setting.target), sanitize=bench.gpu is None)
    devices = [emulator] if bench.gpu is None else [emulator, bench.gpu]
    return [_run(device, parsed, chains, unoptimized) for device in devices]


def _run(device: Device, parsed: Module, chains: Sequence[Chain], unoptimized: bool) -> list[np.ndarray]:
    try:
        return run(device, parsed, chains, unoptimized)
    except PtxkitError as problem:
        first = problem.diagnostics[0]
        if first.code.startswith(STICKY):
            raise Poisoned(f"{first.code}: {first.message}") from None
        line = f", line {first.span.line}" if first.span else ""
        raise Failure(f"{device.kind}: {first.code}: {first.message}{line}") from None
    except Exception as problem:  # noqa: BLE001
        # A defect of the emulator must not end the comparison of everything else; it is written down.
        where = traceback.extract_tb(problem.__traceback__)[-1]
        place = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
        raise Failure(f"{device.kind}: {type(problem).__name__}: {problem} ({place})") from None


def _assemble(bench: Bench, text: str, unoptimized: bool) -> None:
    try:
        assemble(Program(text, (), ()), bench.setting.target, unoptimized)
    except Failed as failed:
        raise Failure(f"{failed.state}: {failed.reason}") from None


def _small(bench: Bench, chain: Chain, verdict: Verdict) -> str:
    """The text of a chain that still differs, with few statements; empty where it is not looked for."""
    if bench.gpu is None or bench.reduced >= MOST_REDUCED:
        return ""
    bench.reduced += 1

    def differs(without: frozenset[int]) -> bool:
        try:
            sides = _both(bench, [chain], [(chain.name, number) for number in without])
        except Failure:
            return False
        return judge.compare(chain, sides[0][0], sides[-1][0], without).wrong

    without = reduced(chain, verdict, differs, LONGEST)
    return module([chain], bench.setting.target, bench.setting.version, [(chain.name, n) for n in without])


def _save(bench: Bench, chain: Chain, emulated: np.ndarray, measured: np.ndarray, verdict: Verdict) -> None:
    """Keep a chain with what both devices left, so that a mend can be tried without the GPU."""
    keep = bench.setting.keep
    if keep is None:
        return
    keep.mkdir(parents=True, exist_ok=True)
    text = module([chain], bench.setting.target, bench.setting.version)
    stem = keep / f"{chain.name}-{zlib.crc32(text.encode()):08x}"
    stem.with_suffix(".ptx").write_text(text)
    np.savez_compressed(stem.with_suffix(".npz"), emulator=emulated, gpu=measured)
    said: dict[str, Any] = {
        "seed": chain.seed,
        "agrees unoptimized": verdict.optimized,
        "example": verdict.example,
        "small": verdict.small,
    }
    stem.with_suffix(".json").write_text(json.dumps(said, indent=2))
