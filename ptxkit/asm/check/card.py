"""The launch card against the `.entry` it launches: parameters, block, cluster, shared memory.

PTX ISA 7.1 and 11.2.1 (`.entry` parameters), 11.4 (`.maxntid`, `.reqntid`), 11.7 (cluster directives).
What depends on sizes is checked for every preset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ptxkit import targets
from ptxkit.asm.launch import Requirements, violations
from ptxkit.asm.tree import Function, Module, Variable
from ptxkit.asm.unread import known_errors
from ptxkit.card.expression import SizeExpression
from ptxkit.card.model import Card, LaunchCard, Param
from ptxkit.card.read import read
from ptxkit.diagnostics import Diagnostic, PtxkitError, Span, SpanLabel, counted, listing

TENSOR_MAP_BYTES = 128
CODES = {"grid": "P540", "block": "P540", "cluster": "P541", "shared": "P542"}
"""The code of what is wrong with a part of a launch; that a grid is no whole clusters is the cluster's."""

AGAINST_ENTRIES = "P538"
"""The first code of what is wrong between a card and the entries; those before it are of the card alone."""

_ADDRESS = ("u64", "s64", "b64")
_FLOATS = ("f16", "f32", "f64")


def check_card(module: Module) -> list[Diagnostic]:
    """What is wrong with the launch card: alone (P530 to P537, P557) and against the entries (P538 to P542).

    A module without a source text or without a card has nothing to check. A file with syntax errors has its
    card read but not compared, for its entries may be incomplete.
    """
    if module.source is None:
        return []
    try:
        card = read(module.source)
    except PtxkitError as problem:
        return list(problem.diagnostics)
    if card is None or known_errors(module):
        return []
    found = [*_expectations(card)]
    for launch in card.launches:
        entry = _entry(module, card, launch, found)
        if entry is not None:
            comparison = _Comparison(module, card, launch, entry)
            found += comparison.run()
    return found


def _expectations(card: Card) -> Iterator[Diagnostic]:
    """What is wrong with what the tensors must hold (P557)."""
    wanted = [tensor for tensor in card.tensors if tensor.expect is not None]
    if not wanted:
        return
    from ptxkit.card.expect import checked

    filled = (tensor.name for tensor in card.tensors if tensor.initial is not None)
    names = [*filled, *card.size_names] if card.presets else None
    for tensor in wanted:
        try:
            checked(tensor.expect or "", names, tensor.expect_span, card.source)
        except PtxkitError as problem:
            yield from problem.diagnostics


def _entry(module: Module, card: Card, launch: LaunchCard, found: list[Diagnostic]) -> Function | None:
    entries = {entry.name: entry for entry in module.entries}
    if launch.entry in entries:
        return entries[launch.entry]
    if launch.entry is None and len(entries) == 1:
        return next(iter(entries.values()))
    if launch.entry is None:
        message = f"expected `entry` in `[launch]`: the file has {len(entries)} entries"
    else:
        message = f"expected the name of an `.entry`, found `{launch.entry}`"
    span = launch.spans.get("entry", launch.span)
    listed = listing(entries)
    help = f"the entries are {listed}" if listed else "a kernel is a `.visible .entry NAME(..)`"
    found.append(Diagnostic("P538", message, span, help=help, source=card.source))
    return None


@dataclass
class _Comparison:
    """One launch beside its entry."""

    module: Module
    card: Card
    launch: LaunchCard
    entry: Function

    def __post_init__(self) -> None:
        self.requirements = Requirements.of(self.entry)
        target = targets.parse(self.module.target or "")
        roomiest = max(targets.LIMITS.values(), key=lambda limits: (limits.shared_per_cta, limits.cluster))
        self.limits = targets.limits(target) if target else roomiest

    def run(self) -> Iterator[Diagnostic]:
        yield from self._params()
        seen = set()
        for preset in self.card.presets:
            if not self._applies(preset.sizes):
                continue
            for diagnostic in self._extents(preset.sizes, f" with preset `{preset.name}`"):
                if (diagnostic.code, diagnostic.span) not in seen:
                    seen.add((diagnostic.code, diagnostic.span))
                    yield diagnostic
        if not self.card.presets:
            yield from self._extents(None, "")

    def _error(
        self,
        code: str,
        message: str,
        span: Span | None,
        label: tuple[Span | None, str] | None = None,
        help: str = "",
    ) -> Diagnostic:
        labels = (SpanLabel(label[0], label[1]),) if label and label[0] else ()
        return Diagnostic(code, message, span, labels=labels, help=help or None, source=self.card.source)

    # ---- parameters

    def _params(self) -> Iterator[Diagnostic]:
        params, declared = self.launch.params, self.entry.parameters
        if len(params) != len(declared):
            names = ", ".join(f"`{variable.name}`" for variable in declared) or "none"
            yield self._error(
                "P539",
                f"expected {counted(len(declared), 'argument')} in `params`, one for each parameter of "
                f"`{self.entry.name}`, found {len(params)}",
                self.launch.spans.get("params", self.launch.span),
                (self.entry.span and _first_line(self.entry.span), f"has {len(declared)}"),
                f"its parameters are {names}",
            )
            return
        own = _own_names(declared)
        for place, (param, variable) in enumerate(zip(params, declared, strict=True)):
            objection = self._misfit(param, variable)
            if objection:
                yield self._error(
                    "P539",
                    f"expected {objection} for parameter `{variable.name}`, found {self._what(param)}",
                    param.span,
                    (variable.span, "declared here"),
                    "`params` lists the arguments in the order of the `.entry`",
                )
            elif param.name and param.name != own[place] and param.name in own:
                yield self._error(
                    "P539",
                    f"expected the argument of parameter `{variable.name}`, found the name of another, "
                    f"`{param.name}`",
                    param.span,
                    (variable.span, "declared here"),
                    "put `params` in the order of the `.entry`, or rename its parameters",
                )

    def _kind(self, param: Param) -> str:
        """`tensor`, `tensor map`, `integer` or `float`."""
        if not isinstance(param.value, SizeExpression):
            return "float"
        if param.name is None or param.name in self.card.size_names:
            return "integer"
        if any(param.name == tensor_map.name for tensor_map in self.card.tensor_maps):
            return "tensor map"
        known = any(param.name == tensor.name for tensor in self.card.tensors)
        unnamed_sizes = self.card.workload is not None and not self.card.presets
        return "tensor" if known or not unnamed_sizes else "tensor or size"

    def _what(self, param: Param) -> str:
        written = param.value.text if isinstance(param.value, SizeExpression) else str(param.value)
        return f"{self._kind(param)} `{written}`"

    def _misfit(self, param: Param, variable: Variable) -> str | None:
        """What the parameter would take instead, in words; None where the argument fits."""
        scalar = not variable.declarators[0].dimensions and variable.vector is None
        type_ = f"`.{variable.type}`"
        takes_address = scalar and variable.type in _ADDRESS
        match self._kind(param):
            case "tensor" if not takes_address:
                return f"a value of type {type_}" if scalar else "a value passed whole"
            case "tensor map" if _bytes(variable) != TENSOR_MAP_BYTES:
                return f"a value of type {type_}" if scalar else f"a value of {_bytes(variable)} bytes"
            case "integer" | "float" if not scalar:
                return "a value passed whole"
            case "integer" | "float" if variable.pointer is not None:
                null = isinstance(param.value, SizeExpression) and param.value.text == "0"
                return None if null else "a tensor, or `0` for none,"
            case "float" if variable.type not in _FLOATS:
                return f"an integer of type {type_}"
        return None

    # ---- extents

    def _applies(self, sizes: Mapping[str, int]) -> bool:
        """Whether this launch runs for these sizes."""
        if self.launch.group is None:
            return _holds(self.launch.when, sizes)
        group = (launch for launch in self.card.launches if launch.group == self.launch.group)
        return next((launch for launch in group if _holds(launch.when, sizes)), None) is self.launch

    def _extents(self, sizes: Mapping[str, int] | None, where: str) -> Iterator[Diagnostic]:
        values: dict[str, Any] = {}
        for key in ("grid", "block", "cluster", "shared"):
            given = getattr(self.launch, key)
            terms = (given,) if isinstance(given, SizeExpression) else given
            if terms is None or (sizes is None and any(term.names for term in terms)):
                continue
            try:
                extents = tuple(term.evaluate(sizes or {}) for term in terms)
                values[key] = extents[0] if key == "shared" else extents
            except PtxkitError as problem:
                yield from problem.diagnostics
        for part, found in violations(self.requirements, self.limits, values):
            code = "P541" if found.code == "P513" else CODES[part]
            help = found.help or ("make the two agree" if found.span else "")
            span = self.launch.spans.get(part, self.launch.span)
            yield self._error(code, f"{found.message}{where}", span, (found.span, "declared here"), help)


def _holds(when: SizeExpression | None, sizes: Mapping[str, int]) -> bool:
    if when is None:
        return True
    try:
        return bool(when.evaluate(sizes))
    except PtxkitError:
        return False


def _own_names(declared: Sequence[Variable]) -> list[str]:
    """Parameter names without the prefix that all of them share: `gemv_a`, `gemv_M` are `a`, `M`."""
    names = [variable.name for variable in declared]
    shared = next((i for i, column in enumerate(zip(*names, strict=False)) if len(set(column)) > 1), 0)
    cut = names[0].rfind("_", 0, shared) + 1 if names else 0
    return [name[cut:] for name in names]


def _bytes(variable: Variable) -> int | None:
    from ptxkit.dtypes import DTYPES

    dimensions = variable.declarators[0].dimensions
    known = [d for d in dimensions if d is not None]
    type_ = DTYPES.get(variable.type)
    return prod(known) * type_.bytes if type_ and dimensions and len(known) == len(dimensions) else None


def _first_line(span: Span) -> Span:
    return span if span.line == span.end_line else Span(span.line, span.column, span.line, span.column + 1)
