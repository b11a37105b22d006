"""What a launch plan holds, its JSON, and the problem behind it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from ptxkit.asm import Module, parse
from ptxkit.asm.reading import as_text
from ptxkit.card import initial as initial_text
from ptxkit.device.protocol import Dim3
from ptxkit.diagnostics import Source, error, reason
from ptxkit.workloads import Arrays, Cost, Expected, Tensor, Tolerance, Workload, workload
from ptxkit.workloads.declared import Declared, DeclaredProblem

SCHEMA = 1
"""Version of the plan's JSON."""


@dataclass(frozen=True, slots=True)
class Program:
    """The PTX: a file of this machine, or the text itself for another.

    Attributes:
        name: for messages.
        path: the file, None where `text` is all there is.
        include: folders that `#include` looks in, after the file's own.
        define: macros, each with what it stands for.
    """

    name: str
    path: str | None = None
    text: str | None = None
    include: tuple[str, ...] = ()
    define: tuple[tuple[str, str], ...] = ()

    def read(self) -> str:
        """The text.

        Raises:
            PtxkitError: P559, the file can't be read any more.
        """
        try:
            return self.read_bytes().decode("utf-8")
        except UnicodeDecodeError as problem:
            raise error("P559", f"cannot read `{self.path}`: {reason(problem)}") from None

    def read_bytes(self) -> bytes:
        """What the file holds.

        Raises:
            PtxkitError: P559, the file can't be read any more.
        """
        if self.text is not None:
            return self.text.encode()
        assert self.path is not None
        try:
            return Path(self.path).read_bytes()
        except OSError as problem:
            raise error("P559", f"cannot read `{self.path}`: {reason(problem)}") from None

    def module(self) -> Module:
        """The program, parsed.

        Raises:
            PtxkitError: P559, the file can't be read any more.
        """
        beside = [str(Path(self.path).parent)] if self.path is not None else []
        folders = [*beside, *self.include]
        return parse(
            as_text(self.read()),
            name=self.name,
            max_size=sys.maxsize,
            include=folders,
            define=dict(self.define),
        )


@dataclass(frozen=True, slots=True)
class PlanTensor:
    """One tensor of the plan.

    Attributes:
        initial: a content of its own (`randn`, `@x.npy`, ..); None: the workload's, or nothing defined.
        expect: what it must hold afterwards, where no workload says so.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str
    initial: str | None = None
    expect: str | None = None
    rtol: float | None = None
    atol: float | None = None

    @property
    def tensor(self) -> Tensor:
        """Its layout."""
        return Tensor(self.name, self.dtype, self.shape, self.role)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: exactly one of the four is set. `content`: a struct, its bytes as hexadecimal digits."""

    tensor: str | None = None
    tensor_map: str | None = None
    value: int | float | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class PlanTensorMap:
    """A tensor map over a tensor, extents and strides settled; the arguments of `ptxkit.tensor_map`."""

    name: str
    tensor: str
    box: tuple[int, ...]
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None
    element_strides: tuple[int, ...] | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch, in CTAs, threads and bytes. `entry` None: the file's only one."""

    entry: str | None
    grid: Dim3
    block: Dim3
    arguments: tuple[Argument, ...]
    cluster: Dim3 | None = None
    shared: int = 0
    cooperative: bool = False


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """Everything that a run needs, as data.

    Attributes:
        operations, arithmetic: of a problem without a workload, as the card's `[cost]` says (`Cost`).
    """

    program: Program
    launches: tuple[Launch, ...]
    tensors: tuple[PlanTensor, ...]
    sizes: dict[str, int]
    workload: str | None = None
    preset: str | None = None
    inputs: str | None = None
    seed: int = 0
    tensor_maps: tuple[PlanTensorMap, ...] = ()
    operations: int = 0
    arithmetic: str | None = None

    @property
    def bytes(self) -> int:
        """Device memory of all tensors."""
        return sum(tensor.tensor.nbytes for tensor in self.tensors)

    def embedded(self) -> LaunchPlan:
        """The same plan for another machine, the program's text inside, as the preprocessor leaves it."""
        module = self.program.module()
        text = module.source.text if module.source and module.complete else self.program.read()
        return replace(self, program=Program(self.program.name, None, text))

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict; `from_json` makes the plan again."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | str) -> LaunchPlan:
        """The plan that `to_json` wrote, given as a dict or as text.

        Raises:
            PtxkitError: P558, it is not a plan of this schema.
        """
        try:
            document = dict(json.loads(data) if isinstance(data, str) else data)
            schema = document.pop("schema", None)
            if schema != SCHEMA:
                raise error("P558", f"expected a launch plan of schema {SCHEMA}, found {schema}")
            document["program"] = _program_from(document["program"])
            document["launches"] = tuple(_launch_from(launch) for launch in document["launches"])
            document["tensors"] = tuple(PlanTensor(**_tuples(tensor)) for tensor in document["tensors"])
            document["tensor_maps"] = tuple(PlanTensorMap(**_tuples(m)) for m in document["tensor_maps"])
            return cls(**document)
        except (KeyError, TypeError, ValueError) as problem:
            why = f"it has no {problem}" if isinstance(problem, KeyError) else reason(problem)
            help = "`LaunchPlan.to_json` writes one"
            raise error("P558", f"expected a launch plan, found something else: {why}", help=help) from None


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def _program_from(data: Mapping[str, Any]) -> Program:
    given = {**data, "include": tuple(data.get("include", ()))}
    given["define"] = tuple((str(name), str(text)) for name, text in data.get("define", ()))
    return Program(**given)


def _launch_from(data: Mapping[str, Any]) -> Launch:
    table = _tuples(data)
    table["arguments"] = tuple(Argument(**argument) for argument in table["arguments"])
    return Launch(**table)


# ---- the problem behind a plan


class Problem(Protocol):
    """What the runner asks of a plan's problem, wherever it comes from."""

    def generate(self, wanted: frozenset[str] | None = None) -> Arrays:
        """First contents, as stored. `wanted`: of these tensors, others may be left out; None: of all."""

    def reference(self, inputs: Arrays) -> dict[str, Expected]:
        """What each output must hold."""

    def tolerance(self, name: str) -> Tolerance:
        """How far an output may be from that."""

    def cost(self) -> Cost | None:
        """What the problem asks of the hardware; None if unspecified."""


@dataclass(frozen=True)
class _WorkloadProblem:
    """A registered workload at the plan's sizes; the plan may replace contents and add scratch tensors."""

    workload: Workload
    plan: LaunchPlan
    own: DeclaredProblem

    def generate(self, wanted: frozenset[str] | None = None) -> Arrays:
        taken = frozenset(tensor.name for tensor in self.plan.tensors)
        wanted = taken if wanted is None else taken & wanted
        generator = self.workload.generator(self.plan.inputs)
        arrays = self.workload.generate(self.plan.sizes, generator, self.plan.seed, wanted)
        return {**arrays, **self.own.generate(wanted)}

    def reference(self, inputs: Arrays) -> dict[str, Expected]:
        return self.workload.reference(self.plan.sizes, inputs)

    def tolerance(self, name: str) -> Tolerance:
        return self.workload.tolerance

    def cost(self) -> Cost:
        return self.workload.cost(self.plan.sizes)


def problem_of(plan: LaunchPlan, source: Source | None = None) -> Problem:
    """The problem that the plan's runs are inputs to and verified against.

    Raises:
        PtxkitError: P550, P554 (no such workload), P557 (an `expect` that can't be).
    """
    found = workload(plan.workload) if plan.workload else None
    declared = [
        Declared(t.tensor, initial_text.parse(t.initial) if t.initial else None, t.expect, t.rtol, t.atol)
        for t in plan.tensors
        if found is None or t.initial
    ]
    own = DeclaredProblem(declared, plan.sizes, plan.seed, source, plan.operations, plan.arithmetic)
    return _WorkloadProblem(found, plan, own) if found else own
