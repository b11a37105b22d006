"""Which arithmetic the tensor cores have: one row an architecture, an instruction and its types.

PTX promises little about sums of products (9.7.14.5.14, "Precision and rounding"); what the hardware does has
been measured. `MEASURED` rows hold the parameters of the revised MMA-Sim paper (arXiv 2511.10909: about a
million random and adversarial tests an instruction on V100, T4, A100, RTX 4090, H100, B200 and RTX PRO 6000),
in part confirmed by Khattak and Mikaitis (arXiv 2512.07004) and by an H200. The exponent of zero of Hopper's
f16 sums is that of an H200, -21 (a port of the paper's model has -22, for `wgmma` -133), and is taken for
Blackwell too, where that port has the same numbers. `ASSEMBLED` rows follow from the machine code that ptxas
13.0 makes of the instruction, and the measured rows of what it consists of.
`ASSUMED` rows are the nearest measured ones; nobody has checked them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Order(StrEnum):
    """In which order products and accumulator are summed.

    `ASCENDING`: steps along k, the accumulator in the first. `HALVES`: elements are converted to f16; of each
    four along K the first two make one step, which starts from zero, the others a second; then an IEEE
    addition of the accumulator. `FMA`: no matrix unit, but IEEE arithmetic of f32. For D of f32 a fused
    multiply-add for each product, from zero along k, then the accumulator is added; for D of f16 the
    accumulator plus the sum of the first two products plus that of the last two, then one rounding to f16.
    """

    ASCENDING = "ascending"
    HALVES = "halves"
    FMA = "fma"


class Evidence(StrEnum):
    """What a row rests on; see the module."""

    MEASURED = "measured"
    ASSEMBLED = "assembled"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Model:
    """How a matrix instruction sums a row of A times a column of B and the accumulator.

    One step takes `step` products and the accumulator. It cuts each of these terms toward zero to a multiple
    of 2^(e - fraction), e being the greatest exponent among them, adds them exactly and converts the sum
    once: to f32 toward zero, to f16 to nearest even. The exponent of a product is the sum of its factors'
    exponents, that of a subnormal number the least one of its format. A sum that rounds to zero is +0.

    Attributes:
        step: products that are added at once.
        fraction: bits that a term keeps below the greatest exponent.
        bits: fraction bits of an f32 result.
        zero: the exponent of a term that is zero, where D is f32.
        zero_f16: the same where D is f16; None where there is no such form.
        order: of the sum.
        group: neighbouring products whose sum is exact and makes one term.
        evidence: what this rests on.
    """

    step: int
    fraction: int
    bits: int
    zero: int
    zero_f16: int | None
    order: Order
    group: int
    evidence: Evidence

    def zero_exponent(self, result: str) -> int:
        """The exponent of a term that is zero, for D of type `f32` or `f16`."""
        if result == "f32":
            return self.zero
        assert self.zero_f16 is not None
        return self.zero_f16


VOLTA, TURING, AMPERE, ADA = "volta", "turing", "ampere", "ada"
HOPPER, BLACKWELL, RTX_BLACKWELL = "hopper", "blackwell", "rtx blackwell"

GENERATIONS = {
    (7, 0): VOLTA,
    (7, 2): VOLTA,
    (7, 5): TURING,
    (8, 0): AMPERE,
    (8, 6): AMPERE,
    (8, 7): AMPERE,
    (8, 8): AMPERE,
    (8, 9): ADA,
    (9, 0): HOPPER,
    (10, 0): BLACKWELL,
    (10, 3): BLACKWELL,
    (11, 0): BLACKWELL,
    (12, 0): RTX_BLACKWELL,
    (12, 1): RTX_BLACKWELL,
}
"""By compute capability. Measured on 7.0, 7.5, 8.0, 8.9, 9.0, 10.0 and 12.0; the others are assumed to do as
their neighbours."""

MODELS: dict[tuple[str, str, str], Model] = {}
"""By generation, instruction and the type of A and B, or the kind of a block-scaled instruction."""

F8, F8F6F4 = "e4m3 e5m2", "e4m3 e5m2 e3m2 e2m3 e2m1"


def _row(
    generations: str,
    instructions: str,
    types: str,
    step: int,
    fraction: int,
    zero: int,
    zero_f16: int | None,
    evidence: Evidence,
    bits: int = 23,
    order: Order = Order.ASCENDING,
    group: int = 1,
) -> None:
    model = Model(step, fraction, bits, zero, zero_f16, order, group, evidence)
    for generation in generations.split():
        name = RTX_BLACKWELL if generation == "rtx" else generation
        for instruction in instructions.split():
            for element in types.split():
                MODELS[name, instruction, element] = model


_M, _A, _GUESS = Evidence.MEASURED, Evidence.ASSEMBLED, Evidence.ASSUMED
# fmt: off
#    generations             instruction   types     step fraction zero f16 zero
_row("volta",                "mma.m8n8k4", "f16",        4, 23, -131,  -20, _M)
_row("volta",                "wmma",       "f16",        4, 23, -131,  -20, _GUESS)
_row("turing",               "mma",        "f16",        8, 24, -132,  -21, _M)
_row("turing",               "wmma",       "f16",        8, 24, -132,  -21, _A)
_row("turing",               "mma.m8n8k4", "f16",        4, 23, -131,  -20, _GUESS)
_row("ampere ada",           "mma",        "f16 bf16",   8, 24, -132,  -21, _M)
_row("ampere ada",           "wmma",       "f16 bf16",   8, 24, -132,  -21, _A)
_row("ampere ada",           "mma",        "tf32",       4, 24, -132, None, _M)
_row("ampere ada",           "wmma",       "tf32",       4, 24, -132, None, _A)
_row("ada",                  "mma",        F8,          16, 13, -132,  -21, _M, bits=13)
_row("hopper blackwell rtx", "mma",        "f16 bf16",  16, 25, -133,  -21, _M)
_row("hopper blackwell rtx", "wmma",       "f16 bf16",  16, 25, -133,  -21, _A)
_row("hopper blackwell rtx", "mma",        "tf32",       8, 25, -133, None, _M)
_row("hopper blackwell rtx", "wmma",       "tf32",       4, 25, -133, None, _A)
_row("hopper blackwell",     "mma",        F8,          16, 25, -133,  -21, _A, order=Order.HALVES)
_row("rtx",                  "mma",        F8F6F4,      32, 25, -133,  -21, _M)
_row("rtx",                  "mma",        "mxf8f6f4",  32, 25, -133, None, _M)
_row("rtx",                  "mma",        "mxf4 mxf4nvf4", 64, 35, -139, None, _M, group=16)
_row("ampere ada hopper blackwell rtx", "mma.m8n8k4", "f16", 4, 23, -131, -20, _A, order=Order.FMA)
_row("hopper",               "wgmma",      "f16 bf16",  16, 25, -133,  -21, _M)
_row("hopper",               "wgmma",      "tf32",       8, 25, -133, None, _M)
_row("hopper",               "wgmma",      F8,          32, 13, -133,  -21, _M, bits=13)
_row("blackwell",            "tcgen05",    "f16 bf16",  16, 25, -133,  -21, _M)
_row("blackwell",            "tcgen05",    "tf32",       8, 25, -133, None, _M)
_row("blackwell",            "tcgen05",    F8F6F4,      32, 25, -133,  -21, _M)
_row("blackwell",            "tcgen05",    "mxf8f6f4",  32, 25, -133, None, _M)
_row("blackwell",            "tcgen05",    "mxf4 mxf4nvf4", 64, 35, -139, None, _M, group=16)
# fmt: on


def find(capability: tuple[int, int], instruction: str, element: str) -> Model | None:
    """The model of an instruction.

    Args:
        capability: (9, 0) for sm_90a. A part that isn't listed counts as the newest listed one before it.
        instruction: `mma`, `mma.m8n8k4`, `wmma`, `wgmma` or `tcgen05`.
        element: the type of A, `bf16`; for a block-scaled instruction its kind, `mxf4`.

    Returns:
        None where that part has no such instruction, or none that is known.
    """
    known = [listed for listed in GENERATIONS if listed <= capability]
    if not known:
        return None
    return MODELS.get((GENERATIONS[max(known)], instruction, element))
