"""The zero-column mask descriptor: which columns of B `tcgen05.mma.ws` takes as zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.bits import NOT_A_WORD, OUT_OF_RANGE, Word64, bits, refuse
from ptxkit.diagnostics import Diagnostic, PtxkitError

SHIFT = "P440"

SUB_MASKS = {128: 1, 64: 2, 32: 4}
"""Sub-masks by M; each covers N / count columns."""


class ZeroColumnMask(Word64):
    """Zero-column mask descriptor of `tcgen05.mma.ws`.

    The mask repeats a run of used columns (0 bits) and a run of zeroed ones (1 bits). The manual's
    prose swaps the two spans against its own examples; the examples hold: `use_span` + 1 columns of
    B are used, `skip_span` + 1 are zeroed. A `first_span` bit of 0 begins with used columns;
    `start_count` drops that many columns from the front of the pattern.
    """

    KIND = "zero-column-mask"
    SECTION = "PTX ISA 9.7.16.4.3, table 45"

    start_count_0 = bits[7:0].about("columns dropped from the front of sub-mask 0").default(0)
    start_count_1 = bits[15:8].about("of sub-mask 1").default(0)
    start_count_2 = bits[23:16].about("of sub-mask 2").default(0)
    start_count_3 = bits[31:24].about("of sub-mask 3").default(0)
    first_span = bits[35:32].about("bit i: sub-mask i begins with zeroed columns").default(0)
    reserved_36 = bits[38:36].reserved()
    non_zero_mask = bits[39].flag("0: every column is used, 1: the mask is generated")
    skip_span = bits[47:40].about("zeroed columns of a run, less one").default(0)
    use_span = bits[55:48].about("used columns of a run, less one").default(0)
    shift = bits[61:56].between(0, 32, "first column of B; at most 16 where M = 32").default(0)
    reserved_62 = bits[63:62].reserved()

    @classmethod
    def accept(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Takes `start_count` as four counts, and `first_span` as a number or four bits."""
        given = dict(values)
        counts = given.pop("start_count", None)
        if counts is not None:
            if not isinstance(counts, (list, tuple)) or len(counts) != 4:
                message = f"`start_count` of `{cls.KIND}` must be four counts, found {counts}"
                raise PtxkitError(Diagnostic(OUT_OF_RANGE, message, notes=(cls.SECTION,)))
            given.update({f"start_count_{i}": count for i, count in enumerate(counts)})
        first = given.get("first_span")
        if isinstance(first, (list, tuple)):
            if len(first) != 4 or any(bit not in (0, 1) for bit in first):
                message = f"`first_span` of `{cls.KIND}` must be 0 .. 15 or four bits, found {first}"
                raise PtxkitError(Diagnostic(OUT_OF_RANGE, message, notes=(cls.SECTION,)))
            given["first_span"] = sum(bit * 2**i for i, bit in enumerate(first))
        return given

    def fields(self) -> dict[str, Any]:
        """As the base, with the counts in one list."""
        fields = super().fields()
        counts = [fields.pop(f"start_count_{i}") for i in range(4)]
        return {"start_count": counts, **fields}

    def mask(self, m: int, n: int) -> list[int]:
        """The mask for an M x N operation: N bits, column 0 first; 1 zeroes the column of B.

        Raises:
            PtxkitError: P440, this M takes no such shift; P406, no such M or N.
        """
        if m not in SUB_MASKS or n % SUB_MASKS[m]:
            message = f"`.ws` has M 32, 64 or 128 and N 64, 128 or 256, found {m} x {n}"
            raise PtxkitError(Diagnostic(NOT_A_WORD, message))
        refuse(self.check_use(m))
        if not self.non_zero_mask:
            return [0] * n
        columns = n // SUB_MASKS[m]
        return [bit for i in range(SUB_MASKS[m]) for bit in self._sub_mask(i, columns)]

    def _sub_mask(self, index: int, columns: int) -> list[int]:
        used, zeroed = [0] * (self.use_span + 1), [1] * (self.skip_span + 1)
        period = zeroed + used if self.first_span >> index & 1 else used + zeroed
        start = getattr(self, f"start_count_{index}")
        return [period[(start + column) % len(period)] for column in range(columns)]

    def check_use(self, m: int) -> Iterator[Diagnostic]:
        """What rules out this mask in an instruction with that M."""
        if m == 32 and self.shift > 16:
            message = f"`shift` of `{self.KIND}` must be 0 .. 16 where M = 32, found {self.shift}"
            yield Diagnostic(SHIFT, message, notes=(self.SECTION,))
