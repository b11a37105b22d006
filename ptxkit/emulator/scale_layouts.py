"""Scale factors of block-scaled products: where those that a product takes come from.

An atom of scale factors is 512 bytes, in shared as in tensor memory 32 rows of 16 (PTX ISA 9.7.16.10.7);
kernels keep it so in global memory, too. The same elements of a matrix have the same scale factors in each
product that takes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator.matrix_reads import KnownTensor
from ptxkit.emulator.misplaced_rows import SharedSources
from ptxkit.encodings.shared_memory import SmemDescTcgen05
from ptxkit.layouts import operand_bits

ROWS, ROW = 32, 16
ATOM = ROWS * ROW
ROW_BYTES = 128
"""How far products go on along K at most, one after the other."""
SCALES = {"ue4m3", "ue8m0", "ue5m3"}


@dataclass(frozen=True, slots=True)
class ScaledProduct:
    """Where a product's matrices and their scale factors come from."""

    where: str
    matrices: tuple[int, ...]
    scales: tuple[int, ...]


class ScaleWatch:
    """The copies of scale factors into tensor memory, and the products that take them.

    Args:
        tensors: of the launch.
    """

    def __init__(self, tensors: Sequence[KnownTensor] = ()) -> None:
        self._tensors = tensors
        self.mistyped: str | None = None
        self._atoms: dict[tuple[Hashable, int], int] = {}
        self._products: list[ScaledProduct] = []

    def copied(self, cta: Hashable, where: str, word: int, column: int, came: SharedSources) -> str | None:
        """An atom comes into tensor memory. What is wrong with that, in words.

        Args:
            cta: whose.
            where: the line of the copy.
            word: its matrix descriptor.
            column: where its first word goes.
            came: where bytes of the CTA's shared memory come from.
        """
        self._atoms.pop((cta, column), None)
        try:
            given = SmemDescTcgen05.decode(word)
            first = _whole(came, given)
        except PtxkitError:
            return None
        if first is not None:
            self._atoms[cta, column] = first
            starts = (tensor.address for tensor in self._tensors if tensor.address <= first)
            into = (first - max(starts, default=first)) % ATOM
            if not into:
                return None
            return (
                f"the copy at {where} takes {ATOM} bytes of scale factors from {into} bytes behind where an "
                "atom of them begins"
            )
        for offset in (128, 16, 32, 64, 256, 512, 1024):
            other = given.replace(stride_byte_offset=offset)
            if other != given and _whole(came, other) is not None:
                return (
                    f"the scale factors that the copy at {where} takes have a stride byte offset of "
                    f"{given.stride_byte_offset} in its descriptor, and groups of 8 rows lie {offset} bytes "
                    "apart"
                )
        return None

    def used(
        self, cta: Hashable, where: str, firsts: Sequence[int], columns: Sequence[int], dtype: str
    ) -> None:
        """A product takes matrices that come from `firsts`, and the scale factors at `columns`, of a type."""
        scales = [self._atoms.get((cta, column), -1) for column in columns]
        held = [self._type_at(first) for first in scales]
        for name, its in zip("AB", held, strict=True):
            if self.mistyped is None and its != dtype and {its, dtype} <= SCALES:
                taken = f"the product at {where} takes the scale factors of {name} as {dtype}"
                self.mistyped = f"{taken}, and their tensor holds {its}"
        if min(*scales, *firsts) >= 0:
            self._products.append(ScaledProduct(where, tuple(firsts), tuple(scales)))

    def found(self) -> str | None:
        """What is wrong, once everything has run."""
        if self.mistyped is not None:
            return self.mistyped
        strayed = self._strayed()
        if strayed is not None:
            return strayed
        for side, name in enumerate("AB"):
            wrong = self._differing(side, side)
            if wrong is None:
                continue
            if self._differing(0, 1) is None and self._differing(1, 0) is None:
                return (
                    f"the product at {wrong.where} takes the scale factors of B for A, and those of A for B"
                )
            return (
                f"products at {wrong.where} multiply the same elements of {name} by different scale factors: "
                f"those of {name} are another tile's, or another step's along K"
            )
        return self._out_of_step()

    def _strayed(self) -> str | None:
        """Which product takes scale factors of the other matrix, where most take those of their own."""
        tensors = [[self._tensor_at(one.scales[side]) for one in self._products] for side in range(2)]
        own = [Counter(filter(None, found)).most_common(1) for found in tensors]
        if not all(own) or own[0][0][0] == own[1][0][0]:
            return None
        for side, (name, other) in enumerate((("A", "B"), ("B", "A"))):
            theirs = own[1 - side][0][0]
            for one, tensor in zip(self._products, tensors[side], strict=True):
                if tensor == theirs:
                    number = (one.scales[side] - theirs) // ATOM
                    taken = f"takes atom {number} of {other}'s scale factors for {name}"
                    return (
                        f"the product at {one.where} {taken}: where {name}'s begin is wrong, in the "
                        "descriptor of their copy or in tensor memory"
                    )
        return None

    def _out_of_step(self) -> str | None:
        """Whether from one product to the next, farther along K, other atoms of A follow than of B."""
        for one, other in pairwise(self._products):
            steps = [its - mine for mine, its in zip(one.matrices, other.matrices, strict=True)]
            ways = [its - mine for mine, its in zip(one.scales, other.scales, strict=True)]
            if 0 < steps[0] == steps[1] <= ROW_BYTES and ways[0] != ways[1]:
                a, b = (f"{way / ATOM:g} atom{'s' * (way != ATOM)}" for way in ways)
                return (
                    f"from the product at {one.where} to that at {other.where} the matrices go "
                    f"{steps[0]} bytes on along K, the scale factors of A {a} and those of B {b}"
                )
        return None

    def _tensor_at(self, address: int) -> int | None:
        """The address of the tensor that holds an address."""
        held = (one.address for one in self._tensors if one.address <= address < one.address + one.size)
        return next(held, None)

    def _type_at(self, address: int) -> str:
        held = (one.dtype for one in self._tensors if one.address <= address < one.address + one.size)
        return next(held, "")

    def _differing(self, matrix: int, scale: int) -> ScaledProduct | None:
        """The first product whose matrix has other scale factors than in a product before."""
        seen: dict[int, int] = {}
        for one in self._products:
            if seen.setdefault(one.matrices[matrix], one.scales[scale]) != one.scales[scale]:
                return one
        return None


def _whole(came: SharedSources, descriptor: SmemDescTcgen05) -> int | None:
    """Where an atom comes from whose bytes lie behind one another there; None where they do not."""
    sources = came(operand_bits(descriptor, ROWS, ROW, "u8", "K") // 8)
    first = int(sources[0, 0])
    whole = first >= 0 and bool((sources.ravel() == first + np.arange(ATOM)).all())
    return first if whole else None
