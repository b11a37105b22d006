"""The tensors and tensor maps of a plan, from workload, card and flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ptxkit.card import Card, Initial, LaunchCard, SizeExpression
from ptxkit.diagnostics import Diagnostic, PtxkitError, error, listing
from ptxkit.plan.data import PlanTensor, PlanTensorMap, Program
from ptxkit.plan.flags import ArgumentFlag, TensorFlag, layout_of
from ptxkit.workloads import Workload


@dataclass(frozen=True, slots=True)
class Tensors:
    """What the tensors of a plan are made of."""

    program: Program
    card: Card
    workload: Workload | None
    sizes: Mapping[str, int]
    arguments: Mapping[str, ArgumentFlag]

    def all(self) -> Iterable[PlanTensor]:
        """The workload's tensors, then the card's, then those that flags alone declare."""
        flags = {name: flag for name, flag in self.arguments.items() if isinstance(flag, TensorFlag)}
        known = [
            PlanTensor(tensor.name, tensor.dtype, tensor.shape, tensor.role)
            for tensor in (self.workload.tensors(self.sizes) if self.workload else ())
        ]
        for card in self.card.tensors:
            shape = tuple(extent.evaluate(self.sizes) for extent in card.shape)
            role = "output" if card.expect else "input" if card.initial else "scratch"
            initial = self._beside(card.initial) if card.initial else None
            if any(tensor.name == card.name for tensor in known):
                message = f"expected a tensor that the workload lacks, found its `{card.name}`"
                help = (
                    "beside a workload, `[tensors]` declares additional tensors: leave out those that it has"
                )
                raise PtxkitError(Diagnostic("P562", message, card.span, help=help, source=self.card.source))
            known.append(
                PlanTensor(card.name, card.dtype, shape, role, initial, card.expect, card.rtol, card.atol)
            )
        for tensor in known:
            yield self._with_flag(tensor, flags.pop(tensor.name)) if tensor.name in flags else tensor
        for name, flag in flags.items():
            if not self.card.launches:
                yield self._declared_by_flag(name, flag)

    def _beside(self, initial: Initial) -> str:
        """A card's content; a file that it names lies beside the PTX."""
        if initial.file is None or self.program.path is None:
            return str(initial)
        return str(Initial("file", file=str(Path(self.program.path).parent / initial.file)))

    def _with_flag(self, tensor: PlanTensor, flag: TensorFlag) -> PlanTensor:
        """A known tensor with the content that `--arg` gives it."""
        if flag.dtype is not None and flag.dtype != tensor.dtype:
            raise error("P537", f"expected `{tensor.dtype}` for tensor `{tensor.name}`, found `{flag.dtype}`")
        if flag.shape is not None:
            shape = tuple(extent.evaluate(self.sizes) for extent in flag.shape)
            if shape != tensor.shape:
                message = (
                    f"expected shape {list(tensor.shape)} for tensor `{tensor.name}`, found {list(shape)}"
                )
                raise error("P556", message)
        return replace(tensor, initial=str(flag.initial) if flag.initial else tensor.initial)

    def _declared_by_flag(self, name: str, flag: TensorFlag) -> PlanTensor:
        initial = str(flag.initial) if flag.initial else None
        if flag.dtype is not None and flag.shape is not None:
            dtype, shape = flag.dtype, tuple(extent.evaluate(self.sizes) for extent in flag.shape)
        else:
            assert flag.initial is not None
            assert flag.initial.file is not None
            dtype, shape = layout_of(name, Path(flag.initial.file))
        return PlanTensor(name, dtype, shape, "argument", initial)


def tensor_maps(
    card: Card, launches: Sequence[LaunchCard], sizes: Mapping[str, int], tensors: Mapping[str, PlanTensor]
) -> Iterable[PlanTensorMap]:
    """Those that the launches take, and those that no launch of the card does."""
    taken = {param.name for launch in launches for param in launch.params}
    others = {param.name for launch in card.launches for param in launch.params} - taken

    def settled(extents: Sequence[SizeExpression] | None) -> tuple[int, ...] | None:
        return None if extents is None else tuple(extent.evaluate(sizes) for extent in extents)

    for each in card.tensor_maps:
        if each.name in others:
            continue
        if each.tensor not in tensors:
            known = listing(tensors)
            message = f"expected a tensor for tensor map `{each.name}`, found `{each.tensor}`"
            raise PtxkitError(
                Diagnostic("P534", message, each.span, help=f"there is {known}", source=card.source)
            )
        yield PlanTensorMap(
            each.name,
            each.tensor,
            settled(each.box) or (),
            each.dtype,
            settled(each.shape),
            settled(each.strides),
            settled(each.element_strides),
            dict(each.options),
        )
