"""The problem that a file's own `[tensors]`, or the command line, declares: contents and expectations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxkit.card import Initial
from ptxkit.diagnostics import Source, Span
from ptxkit.dtypes import DTYPES
from ptxkit.workloads import content
from ptxkit.workloads.expect import Expect
from ptxkit.workloads.problem import Arrays, Cost, Expected, Sizes, Tensor, Tolerance

USUAL: dict[str, Tolerance] = {
    "f64": Tolerance(1e-7, 1e-7),
    "f32": Tolerance(1.3e-6, 1e-5),
    "f16": Tolerance(1e-3, 1e-5),
    "bf16": Tolerance(1.6e-2, 1e-5),
    "tf32": Tolerance(1e-3, 1e-5),
}
"""Tolerance of an output that names none: that of `torch.testing.assert_close`; 1 ulp for narrower types."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One declared tensor at its final shape.

    Attributes:
        initial: its first content; None: nothing defined.
        expect: what it must hold afterwards, or None.
    """

    tensor: Tensor
    initial: Initial | None = None
    expect: str | None = None
    rtol: float | None = None
    atol: float | None = None
    span: Span | None = None


class DeclaredProblem:
    """The problem that a list of declared tensors makes.

    Raises:
        PtxkitError: P557, an `expect` that is not an expression over the tensors and sizes.
    """

    def __init__(
        self,
        declared: Sequence[Declared],
        sizes: Sizes,
        seed: int = 0,
        source: Source | None = None,
        operations: int = 0,
        arithmetic: str | None = None,
    ) -> None:
        self._operations, self._arithmetic = operations, arithmetic
        self.declared = {d.tensor.name: d for d in declared}
        self.sizes = sizes
        self.seed = seed
        filled = (name for name, d in self.declared.items() if d.initial is not None)
        names = dict.fromkeys((*filled, *sizes))
        self._expects = {
            d.tensor.name: Expect(d.expect, names, d.span, source) for d in declared if d.expect is not None
        }

    def generate(self, wanted: frozenset[str] | None = None) -> Arrays:
        """First contents, as stored, of the tensors that have one; of those that are wanted, None for all."""
        return {
            name: content.fill(d.tensor, d.initial, self.seed)
            for name, d in self.declared.items()
            if d.initial is not None and (wanted is None or name in wanted)
        }

    def reference(self, inputs: Arrays) -> dict[str, Expected]:
        """What each output must hold, from the contents before the launch."""
        values: dict[str, object] = dict(self.sizes)
        for name, array in inputs.items():
            values[name] = content.decode(self.declared[name].tensor, array)
        out = {}
        for name, expect in self._expects.items():
            tensor = self.declared[name].tensor
            out[name] = Expected(expect.fitting(values, tensor.shape))
        return out

    def tolerance(self, name: str) -> Tolerance:
        """How far the output may be from the reference."""
        d = self.declared[name]
        kind = DTYPES[d.tensor.dtype]
        usual = USUAL.get(kind.name, Tolerance(ulp=1.0)) if kind.is_float else Tolerance()
        if d.rtol is None and d.atol is None:
            return usual
        return Tolerance(d.rtol or 0.0, d.atol or 0.0)

    def cost(self) -> Cost | None:
        """Every tensor once: read where it has a content, written where it has an expectation.

        Operations are what the card says of them. None where no tensor has an expectation: what the kernel is
        to do is unknown.
        """
        if not self._expects and not self._operations:
            return None
        read = sum(d.tensor.nbytes for d in self.declared.values() if d.initial is not None)
        written = sum(d.tensor.nbytes for d in self.declared.values() if d.expect is not None)
        return Cost(read, written, self._operations, self._arithmetic)
