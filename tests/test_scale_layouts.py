"""Scale factors in tensor memory: the type that a product takes them as, and how far they go on with K."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.emulator.matrix_reads import KnownTensor
from ptxkit.emulator.scale_layouts import ATOM, ScaleWatch

A, B = 0x10000, 0x20000
SCALES = [KnownTensor(start, (8, ATOM), (ATOM,), 8 * ATOM, "ue4m3") for start in (A, B)]


def said(a: tuple[int, ...], b: tuple[int, ...], dtype: str = "ue4m3") -> str | None:
    """Of products 32 bytes apart along K that take these atoms."""
    watch = ScaleWatch(SCALES)
    word = 0x0000_4008_0001_0000  # No swizzle, groups of 8 rows 128 bytes apart.
    for step, atoms in enumerate(zip(a, b, strict=True)):
        for column, (start, atom) in enumerate(zip((A, B), atoms, strict=True)):

            def came(addresses: np.ndarray, first: int = start + atom * ATOM) -> np.ndarray:
                return first + addresses

            assert watch.copied(0, "line 1", word, column, came) is None
        watch.used(0, f"line {step}", [0x100 + 32 * step, 0x9000 + 32 * step], [0, 1], dtype)
    return watch.found()


def test_atoms_one_behind_the_other_are_right() -> None:
    assert said((0, 1, 2, 3), (0, 1, 2, 3)) is None


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (
            (0, 2, 4),
            (0, 1, 2),
            "the matrices go 32 bytes on along K, the scale factors of A 2 atoms and those of B 1 atom",
        ),
        ((0, 1, 2), (0, 0, 0), "the scale factors of A 1 atom and those of B 0 atoms"),
    ],
)
def test_atoms_out_of_step(a: tuple[int, ...], b: tuple[int, ...], says: str) -> None:
    text = said(a, b)
    assert text is not None
    assert text.startswith("from the product at line 0 to that at line 1")
    assert says in text


def test_factors_of_the_other_matrix() -> None:
    assert said((0, 1, 2, 3), (-125, 0, 1, 2)) == (
        "the product at line 0 takes atom 3 of A's scale factors for B: where B's begin is wrong, in the "
        "descriptor of their copy or in tensor memory"
    )


def test_a_type_that_is_another_s() -> None:
    assert said((0,), (0,), "ue8m0") == (
        "the product at line 0 takes the scale factors of A as ue8m0, and their tensor holds ue4m3"
    )
