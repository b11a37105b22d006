"""Sums of products that seldom occur, of every floating-point `mma` and `wgmma`, on both devices."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import wgmma_tiles as tiles

from compare import values
from compare.aims import AIMS, LAYOUTS, codes
from compare.cases import Case, cases
from compare.execute import run_on
from compare.judge import element
from compare.kernels import Program, program
from ptxkit import open_device, parse
from ptxkit.dtypes import DTYPES
from ptxkit.targets import Target, Version

EXAMPLES = 4
"""Differences of a spelling that are written down."""


@dataclass(slots=True)
class Tally:
    """Of one spelling.

    Attributes:
        sums: how many were computed.
        different: those with a bit that differs.
        outcomes: how many are of each kind, as the emulator has them.
        by_aim: where sums differ, how many, by what their operands aim at.
        examples: differences.
    """

    sums: int = 0
    different: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    by_aim: dict[str, int] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count another part of the same spelling."""
        self.sums += other.sums
        self.different += other.different
        for mine, others in ((self.outcomes, other.outcomes), (self.by_aim, other.by_aim)):
            for name, count in others.items():
                mine[name] = mine.get(name, 0) + count
        self.examples += other.examples[: EXAMPLES - len(self.examples)]


def outcomes(bits: np.ndarray, name: str) -> dict[str, int]:
    """How many codes of a type are zeros of each sign, subnormal, ordinary, infinite, NaN."""
    exponent_bits, fraction_bits = LAYOUTS[name]
    magnitude = bits & bits.dtype.type((1 << exponent_bits + fraction_bits) - 1)
    zero = magnitude == 0
    infinity = bits.dtype.type(((1 << exponent_bits) - 1) << fraction_bits)
    least = bits.dtype.type(1 << fraction_bits)
    kinds = {
        "+0": zero & (bits == 0),
        "-0": zero & (bits != 0),
        "subnormal": ~zero & (magnitude < least),
        "number": (magnitude >= least) & (magnitude < infinity),
        "infinity": magnitude == infinity,
        "NaN": magnitude > infinity,
    }
    return {kind: int(where.sum()) for kind, where in kinds.items()}


def tally(emulated: np.ndarray, real: np.ndarray | None, aims: np.ndarray, name: str) -> Tally:
    """Compare sums.

    Args:
        emulated, real: codes of D; `real` is None where there is no GPU.
        aims: which of `AIMS` each has.
        name: the type of D. The bits of a NaN count, but in f64, where `mma` hands on those of its operands.
    """
    found = Tally(emulated.size, outcomes=outcomes(emulated, name))
    if real is None:
        return found
    wrong = emulated != real
    if name == "f64":
        wrong &= ~(np.isnan(emulated.view(np.float64)) & np.isnan(real.view(np.float64)))
    found.different = int(wrong.sum())
    for number in np.flatnonzero(np.bincount(aims[wrong], minlength=len(AIMS))):
        found.by_aim[AIMS[number].name] = int((aims[wrong] == number).sum())
    return found


# ---- mma


def products(target: Target, version: Version, pattern: str = "") -> list[Case]:
    """One statement of each spelling of `mma` with floating-point results."""
    found: dict[str, Case] = {}
    for case in cases(target, version, r"^mma\."):
        if element(case.outputs[0].type) in ("f16", "f32", "f64") and re.search(pattern, case.spelling):
            found.setdefault(case.spelling, case)
    return list(found.values())


def _aims_of(warps: int) -> np.ndarray:
    return np.arange(warps) % len(AIMS)


def inputs(case: Case, threads: int, seed: int) -> dict[str, np.ndarray]:
    """The bits of each input; a warp's elements follow one of the aims."""
    random = np.random.default_rng([seed, *case.spelling.encode()])
    found = values.inputs(case, threads, seed)
    operands = re.findall(r"\{[^{}]*\}|%\w+", case.text)
    roles = {
        name: role
        for role, operand in zip("abc", operands[1:4], strict=True)
        for name in re.findall(r"%(\w+)", operand)
    }
    aims = np.repeat(_aims_of(threads // values.WARP), values.WARP)
    for register in case.inputs:
        if (role := roles.get(register.name)) is None:
            continue
        name = element(register.type)
        width = DTYPES[name].bits if name != "tf32" else 32
        word = np.zeros(threads, np.uint64)
        for place in range(0, register.bits, width):
            drawn = codes(name, role, element(case.outputs[0].type), aims, random)
            word |= drawn << np.uint64(place)
        found[register.name] = word
    return found


def compare_products(
    device: Any, pool: Any, chosen: list[Case], warps: int, target: Target, version: Version, seed: int
) -> Iterator[tuple[str, Tally]]:
    """A tally of each spelling of `mma`.

    Args:
        device: the GPU, or None.
        pool: of processes for the emulator.
        chosen: the statements.
        warps: that execute each, a multiple of 4; a tenth of them where the sums are f64.
        target, version: of the modules.
        seed: of the values.
    """
    jobs = []
    for case in chosen:
        some = warps if case.outputs[0].type != "f64" else max(warps // 40, 1) * 4
        made = program([case], some * values.WARP, target, version, seed, inputs)
        real = None if device is None else run_on(device, parse(made.text), made)["k0"]
        jobs.append((case, pool.apply_async(_emulated_products, (case, made, real, str(target)))))
    for case, job in jobs:
        yield case.spelling, job.get()


def _emulated_products(case: Case, made: Program, real: np.ndarray | None, target: str) -> Tally:
    warnings.simplefilter("ignore")
    (kernel,) = made.kernels
    emulated = run_on(open_device("emu", arch=target), parse(made.text), made)["k0"]
    name = element(case.outputs[0].type)
    aims = np.repeat(_aims_of(kernel.threads // values.WARP), values.WARP)
    sides = [None if words is None else _sums(words, name, case) for words in (emulated, real)]
    assert sides[0] is not None
    found = tally(sides[0], sides[1], np.broadcast_to(aims[:, None], sides[0].shape), name)
    if real is not None and found.different:
        threads = np.flatnonzero((sides[0] != sides[1]).any(axis=1))
        for warp in np.unique(threads // values.WARP)[:EXAMPLES]:
            lanes = slice(warp * values.WARP, (warp + 1) * values.WARP)
            words = {"inputs": kernel.values[:, lanes], "emulator": emulated[:, lanes], "gpu": real[:, lanes]}
            example = {side: [[f"{word:x}" for word in row] for row in rows] for side, rows in words.items()}
            found.examples.append({"statement": case.text, "aim": AIMS[aims[lanes][0]].name, **example})
    return found


def _sums(words: np.ndarray, name: str, case: Case) -> np.ndarray:
    """Results (registers, threads) as codes (threads, sums)."""
    width = DTYPES[name].bits // 8
    held = np.ascontiguousarray(words.T.astype(f"u{case.outputs[0].bits // 8}"))
    return held.view(f"u{width}")


# ---- wgmma


def compare_tiles(device: Any, pool: Any, count: int, pattern: str, seed: int) -> Iterator[tuple[str, Tally]]:
    """A tally of each variant of `wgmma.mma_async`.

    Args:
        device: the GPU, or None.
        pool: of processes for the emulator.
        count: tiles with 8 columns of each; wider ones fewer.
        pattern: what the spelling must contain.
        seed: of the variants and the tiles.
    """
    jobs = []
    for number, variant in enumerate(tiles.variants(seed)):
        if variant.types[0] == "s32" or not re.search(pattern, variant.spelling):
            continue
        some = max(count * 8 // variant.n, len(AIMS))
        drawn = _tiles(variant, some, [seed, number])
        real = None if device is None else tiles.run(device, variant, drawn)
        jobs.append((variant, pool.apply_async(_emulated_tiles, (variant, drawn, real))))
    for variant, job in jobs:
        yield variant.spelling, job.get()


def _tiles(variant: tiles.Variant, count: int, seed: list[int]) -> tiles.Tiles:
    random = np.random.default_rng(seed)
    plain = tiles.random_tiles(variant, count, seed[-1])
    result, a, b = variant.types
    drawn = [
        codes(name, role, result, np.broadcast_to(_aims_of(count)[:, None, None], old.shape), random)
        for name, role, old in ((a, "a", plain.a), (b, "b", plain.b), (result, "c", plain.c))
    ]
    return tiles.Tiles(
        drawn[0].astype(plain.a.dtype),
        drawn[1].astype(plain.b.dtype),
        drawn[2].astype(plain.c.dtype),
        plain.nibbles,
    )


def _emulated_tiles(variant: tiles.Variant, drawn: tiles.Tiles, real: np.ndarray | None) -> Tally:
    warnings.simplefilter("ignore")
    emulated = tiles.run(open_device("emu", arch="sm_90a"), variant, drawn)
    aims = np.broadcast_to(_aims_of(len(emulated))[:, None, None], emulated.shape)
    found = tally(emulated, real, aims, variant.types[0])
    if real is not None and found.different:
        for tile, row, column in np.argwhere(emulated != real)[:EXAMPLES]:
            place = (tile, row, column)
            operands = {
                "a": drawn.a[tile, row],
                "b": drawn.b[tile, column],
                "c": drawn.c[place][None],
                "metadata": [] if drawn.nibbles is None else drawn.nibbles[tile, row],
                "emulator": emulated[place][None],
                "gpu": real[place][None],
            }
            example = {key: [f"{code:x}" for code in held] for key, held in operands.items()}
            found.examples.append({"variant": repr(variant), "aim": AIMS[aims[place]].name, **example})
    return found
