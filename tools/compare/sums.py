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
from compare.aims import AIMS, LAYOUTS, Types, matrices
from compare.cases import Case, cases
from compare.execute import run_on
from compare.judge import element
from compare.kernels import Program, program
from ptxkit import open_device, parse
from ptxkit.layouts import fragments
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
        name: the type of D. The bits of a NaN count.
    """
    found = Tally(emulated.size, outcomes=outcomes(emulated, name))
    if real is None:
        return found
    wrong = emulated != real
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


def _aims_of(tiles_: int) -> np.ndarray:
    return np.arange(tiles_) % len(AIMS)


def inputs(case: Case, threads: int, seed: int) -> dict[str, np.ndarray]:
    """The bits of each input; one warp after the other has the next aim."""
    random = np.random.default_rng([seed, *case.spelling.encode()])
    found = values.inputs(case, threads, seed)
    operands = [re.findall(r"%(\w+)", operand) for operand in re.findall(r"\{[^{}]*\}|%\w+", case.text)]
    kinds = {register.name: element(register.type) for register in (*case.inputs, *case.outputs)}
    types = Types(*(kinds[operands[place][0]] for place in (1, 2, 3, 0)))
    shape, parts = _shape(case), case.modifiers
    m, _, k = shape
    stored = k // 2 if any(part.startswith("sp") for part in parts) else k
    aims = _aims_of(threads // values.WARP)
    bits = 1 + sum(LAYOUTS[types.a])
    cells = [fragments.mma_a(m, stored, bits), fragments.mma_b(8, k, bits), fragments.mma_cd(m)]
    tiles_of_lane = np.zeros((values.WARP, 1), int)
    if shape == (8, 8, 4) and types.a == "f16":
        # Four tiles, by threads 4q .. 4q+3 and 16 above.
        cells = [
            fragments.mma_m8n8k4("a", parts[3] == "col"),
            fragments.mma_m8n8k4("b", parts[4] == "col"),
            fragments.mma_m8n8k4("c", f32=types.c == "f32"),
        ]
        tiles_of_lane = np.arange(values.WARP)[:, None] % 16 // 4
    each = int(tiles_of_lane.max()) + 1
    drawn = matrices(types, shape, stored, np.repeat(aims, each), random)
    for names, matrix, name, (row, column) in zip(
        operands[1:4], (drawn.a, drawn.b, drawn.c), (types.a, types.b, types.c), cells, strict=True
    ):
        held = matrix.reshape(len(aims), each, *matrix.shape[1:])[:, tiles_of_lane, row, column]
        (register, *_) = (register for register in case.inputs if register.name == names[0])
        codes = np.ascontiguousarray(held.astype(f"u{(1 + sum(LAYOUTS[name])) // 8}"))
        words = codes.view(f"u{register.bits // 8}")
        for place, input_ in enumerate(names):
            found[input_] = words[:, :, place].reshape(threads).astype(np.uint64)
    return found


def _shape(case: Case) -> tuple[int, int, int]:
    (shape,) = (match for part in case.modifiers if (match := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", part)))
    return int(shape[1]), int(shape[2]), int(shape[3])


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
        jobs.append(pool.apply_async(_emulated_products, (case, some, target, version, seed)))
    for case, job in zip(chosen, jobs, strict=True):
        made, emulated = job.get()
        real = None if device is None else run_on(device, parse(made.text), made)["k0"]
        yield case.spelling, _compared_products(case, made, emulated, real)


def _emulated_products(
    case: Case, warps: int, target: Target, version: Version, seed: int
) -> tuple[Program, np.ndarray]:
    warnings.simplefilter("ignore")
    made = program([case], warps * values.WARP, target, version, seed, inputs)
    return made, run_on(open_device("emu", arch=str(target)), parse(made.text), made)["k0"]


def _compared_products(case: Case, made: Program, emulated: np.ndarray, real: np.ndarray | None) -> Tally:
    (kernel,) = made.kernels
    name = element(case.outputs[0].type)
    aims = np.repeat(_aims_of(kernel.threads // values.WARP), values.WARP)
    sums = _sums(emulated, name, case)
    each = np.broadcast_to(aims[:, None], sums.shape)
    if real is None:
        return tally(sums, None, each, name)
    found = tally(sums, _sums(real, name, case), each, name)
    threads = np.flatnonzero((emulated != real).any(axis=0)) if found.different else []
    for warp in np.unique(np.asarray(threads, int) // values.WARP)[:EXAMPLES]:
        lanes = slice(warp * values.WARP, (warp + 1) * values.WARP)
        sides = {"inputs": kernel.values[:, lanes], "emulator": emulated[:, lanes], "gpu": real[:, lanes]}
        words = {side: [[f"{word:x}" for word in row] for row in rows] for side, rows in sides.items()}
        found.examples.append({"statement": case.text, "aim": AIMS[aims[lanes][0]].name, **words})
    return found


def _sums(words: np.ndarray, name: str, case: Case) -> np.ndarray:
    """Results (registers, threads) as codes (threads, sums)."""
    width = (1 + sum(LAYOUTS[name])) // 8
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
        if variant.types[0] != "s32" and re.search(pattern, variant.spelling):
            some = max(count * 8 // variant.n, len(AIMS))
            jobs.append((variant, pool.apply_async(_emulated_tiles, (variant, some, [seed, number]))))
    for variant, job in jobs:
        drawn, emulated = job.get()
        real = None if device is None else tiles.run(device, variant, drawn)
        yield variant.spelling, _compared_tiles(variant, drawn, emulated, real)


def _tiles(variant: tiles.Variant, count: int, seed: list[int]) -> tiles.Tiles:
    plain = tiles.random_tiles(variant, count, seed[-1])
    d, a, b = variant.types
    drawn = matrices(
        Types(a, b, d, d),
        (tiles.M, variant.n, variant.k),
        variant.stored,
        _aims_of(count),
        np.random.default_rng(seed),
    )
    return tiles.Tiles(
        drawn.a.astype(plain.a.dtype),
        np.ascontiguousarray(drawn.b.transpose(0, 2, 1)).astype(plain.b.dtype),
        drawn.c.astype(plain.c.dtype),
        plain.nibbles,
    )


def _emulated_tiles(variant: tiles.Variant, count: int, seed: list[int]) -> tuple[tiles.Tiles, np.ndarray]:
    warnings.simplefilter("ignore")
    drawn = _tiles(variant, count, seed)
    return drawn, tiles.run(open_device("emu", arch="sm_90a"), variant, drawn)


def _compared_tiles(
    variant: tiles.Variant, drawn: tiles.Tiles, emulated: np.ndarray, real: np.ndarray | None
) -> Tally:
    aims = np.broadcast_to(_aims_of(len(emulated))[:, None, None], emulated.shape)
    found = tally(emulated, real, aims, variant.types[0])
    if real is None:
        return found
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
        codes = {key: [f"{code:x}" for code in held] for key, held in operands.items()}
        found.examples.append({"variant": repr(variant), "aim": AIMS[aims[place]].name, **codes})
    return found
