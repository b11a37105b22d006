"""How many registers sparse data take: uncompressed, the elements that are kept, and the metadata that says where they were. PTX ISA 9.7.16.8."""

from __future__ import annotations

from collections.abc import Mapping

COMPRESSED = frozenset({"full", "metadata", "kept"})
REGISTER = 32
"""Bits of a register."""
LEAST, MOST = 32, 4096
"""Bits of the data that `spdecompress` makes."""


def compressed_count(part: str, slots: Mapping[str, str]) -> int:
    """The registers of one operand.

    Args:
        part: one of `COMPRESSED`.
        slots: the form's modifiers: `num`; `etype`, `itype` and `ratio` where the row has them.

    Returns:
        Their number; 0 where the modifiers don't go together.
    """
    groups = int(slots["num"][1:])
    if "etype" not in slots:  # Two of four single-precision numbers of Tensor Memory are kept.
        return -(-groups // REGISTER)
    element, index = int(slots["etype"][1:]), int(slots["itype"][1:])
    if "ratio" not in slots:  # Two of four elements in each pair of registers are kept.
        return {"full": 2 * groups, "kept": groups, "metadata": -(-groups * index // element)}[part]
    some, total = map(int, slots["ratio"].removeprefix("sp::").split(":"))
    whole = total * element * groups
    if some * element > REGISTER or (index == 2 and total > 4) or not LEAST <= whole <= MOST:
        return 0
    bits = {"full": whole, "kept": some * element * groups, "metadata": some * index * groups}[part]
    return -(-bits // REGISTER)
