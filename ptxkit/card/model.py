"""What a launch card says, as data. `ptxkit.card.read` makes one from a file's comments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ptxkit.card.expression import SizeExpression
from ptxkit.card.initial import Initial
from ptxkit.diagnostics import Source, Span
from ptxkit.rules import Rules

Sizes = Mapping[str, int]
"""A problem's sizes by name: `{"M": 128, "K": 256, "L": 1}`."""


@dataclass(frozen=True, slots=True)
class Param:
    """One argument of a launch: what is in `params`, in the order of the `.entry`.

    Attributes:
        value: the name of a tensor, of a tensor map or of a size; integer arithmetic over sizes; or a float.
    """

    value: SizeExpression | float
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str | None:
        """The bare name that it is, else None."""
        if isinstance(self.value, SizeExpression) and self.value.names == (self.value.text,):
            return self.value.text
        return None


@dataclass(frozen=True, slots=True)
class LaunchCard:
    """One `[launch]`.

    Attributes:
        entry: the `.entry`, None where the file has exactly one.
        grid, block, cluster: along x, y, z; trailing ones may be left out. No cluster: the entry's own.
        shared: bytes of dynamic shared memory.
        cooperative: all CTAs resident at once.
        params: one for each parameter of the entry, in its order.
        when: launch only where this holds.
        group: of the launches that share a group, only the first whose `when` holds runs.
    """

    grid: tuple[SizeExpression, ...]
    block: tuple[SizeExpression, ...]
    entry: str | None = None
    cluster: tuple[SizeExpression, ...] | None = None
    shared: SizeExpression | None = None
    cooperative: bool = False
    params: tuple[Param, ...] = ()
    when: SizeExpression | None = None
    group: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TensorCard:
    """One `[tensors.NAME]`.

    Attributes:
        dtype: PTX's name of the element type.
        shape: in elements, outermost first.
        initial: what it holds before the launch; None: nothing defined.
        expect: what it must hold after it, a numpy-like expression over the tensors and sizes.
        rtol, atol: how far from that it may be; None for the type's usual tolerance.
    """

    name: str
    dtype: str
    shape: tuple[SizeExpression, ...]
    initial: Initial | None = None
    expect: str | None = None
    rtol: float | None = None
    atol: float | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    expect_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TensorMapCard:
    """One `[tensor_maps.NAME]`: the arguments of `ptxkit.tensor_map`, in elements and bytes over sizes.

    Attributes:
        tensor: the tensor that it maps.
        box: elements that one copy moves, outermost first.
        dtype, shape, strides: those of the tensor where they are None.
        options: `swizzle`, `interleave`, `l2_promotion`, `oob_fill`, as given.
    """

    name: str
    tensor: str
    box: tuple[SizeExpression, ...]
    dtype: str | None = None
    shape: tuple[SizeExpression, ...] | None = None
    strides: tuple[SizeExpression, ...] | None = None
    element_strides: tuple[SizeExpression, ...] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Preset:
    """One entry of `[presets]`: sizes, and the workload's input generator where it names one."""

    name: str
    sizes: Mapping[str, int]
    inputs: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A launch card.

    Attributes:
        workload: the registered problem that the kernel solves, or None.
        launches: in order.
        presets: in order; the first is the default.
        tensors: scratch tensors, or every tensor of a file without a workload.
        operations: how many a problem without a workload asks for: `[cost]`.
        arithmetic: the type whose tensor-core products bound them.
        rules: how much a breach of each of the emulator's rules weighs in this kernel: `[sanitizer]`.
        span: of the opening line.
    """

    launches: tuple[LaunchCard, ...] = ()
    workload: str | None = None
    presets: tuple[Preset, ...] = ()
    tensors: tuple[TensorCard, ...] = ()
    tensor_maps: tuple[TensorMapCard, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    source: Source | None = field(default=None, compare=False, repr=False)
    workload_span: Span | None = field(default=None, compare=False, repr=False)
    operations: SizeExpression | None = None
    arithmetic: str | None = None
    rules: Rules = field(default_factory=dict)

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes that the presets give; every preset gives the same."""
        return tuple(self.presets[0].sizes) if self.presets else ()
