"""The launch card against the `.entry` it launches: parameters, block, cluster, shared memory.

PTX ISA 7.1 and 11.2.1 (`.entry` parameters), 11.4 (`.maxntid`, `.reqntid`), 11.7 (cluster directives).
What depends on sizes is checked for every preset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ptxkit import targets
from ptxkit.asm.tree import Function, Module, Variable
from ptxkit.card.expression import SizeExpression
from ptxkit.card.model import Card, LaunchCard, Param
from ptxkit.card.read import read
from ptxkit.diagnostics import Diagnostic, PtxkitError, Span, SpanLabel, counted

TENSOR_MAP_BYTES = 128
MAX_THREADS = 1024
"""Most threads of a CTA on every target."""

AGAINST_ENTRIES = "P538"
"""The first code of what is wrong between a card and the entries; those before it are of the card alone."""

_ADDRESS = ("u64", "s64", "b64")
_FLOATS = ("f16", "f32", "f64")


def check_card(module: Module) -> list[Diagnostic]:
    """What is wrong with the launch card: alone (P530 to P537) and against the entries (P538 to P542).

    A module without a source text or without a card has nothing to check. A file with syntax errors has its
    card read but not compared, for its entries may be incomplete.
    """
    if module.source is None:
        return []
    try:
        card = read(module.source)
    except PtxkitError as problem:
        return list(problem.diagnostics)
    if card is None or module.has_errors:
        return []
    found: list[Diagnostic] = []
    for launch in card.launches:
        entry = _entry(module, card, launch, found)
        if entry is not None:
            comparison = _Comparison(module, card, launch, entry)
            found += comparison.run()
    return found


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
    listed = ", ".join(f"`{name}`" for name in entries)
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
                return "a tensor"
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
        values: dict[str, tuple[int, ...]] = {}
        for key in ("grid", "block", "cluster", "shared"):
            given = getattr(self.launch, key)
            terms = (given,) if isinstance(given, SizeExpression) else given
            if terms is None or (sizes is None and any(term.names for term in terms)):
                continue
            try:
                values[key] = tuple(term.evaluate(sizes or {}) for term in terms)
            except PtxkitError as problem:
                yield from problem.diagnostics
        yield from self._block(values, where)
        yield from self._grid_and_cluster(values, where)
        yield from self._shared(values, where)

    def _span(self, key: str) -> Span | None:
        return self.launch.spans.get(key, self.launch.span)

    def _directive(self, name: str) -> tuple[tuple[int, ...], Span | None] | None:
        directive = self.entry.directive(name)
        if directive is None:
            return None
        values = [getattr(argument, "value", None) for argument in directive.arguments]
        if not values or not all(isinstance(value, int) for value in values):
            return None
        return tuple(value for value in values if value is not None), directive.span

    def _block(self, values: Mapping[str, tuple[int, ...]], where: str) -> Iterator[Diagnostic]:
        if "block" not in values:
            return
        block, span = values["block"], self._span("block")
        required, most = self._directive("reqntid"), self._directive("maxntid")
        shown = _shape(block)
        fits = all(1 <= extent <= limit for extent, limit in zip(block, targets.MAX_BLOCK, strict=False))
        if not fits or prod(block) > MAX_THREADS:
            limits = _shape(targets.MAX_BLOCK)
            message = f"expected a block of 1 to {MAX_THREADS} threads within {limits}, found {shown}{where}"
            yield self._error("P540", message, span, help="let more CTAs do the work")
        elif required and _three(required[0]) != _three(block):
            message = f"expected a block of {_shape(required[0])} threads, found {shown}{where}"
            yield self._error("P540", message, span, (required[1], "required here"), "make the two agree")
        elif most and prod(block) > prod(most[0]):
            message = f"expected a block of at most {counted(prod(most[0]), 'thread')}, found {shown}{where}"
            yield self._error("P540", message, span, (most[1], "limited here"), "make the two agree")

    def _grid_and_cluster(self, values: Mapping[str, tuple[int, ...]], where: str) -> Iterator[Diagnostic]:
        required, most = self._directive("reqnctapercluster"), self._directive("maxclusterrank")
        cluster = values.get("cluster")
        span = self._span("cluster")
        if cluster is not None:
            shown = _shape(cluster)
            if min(cluster) < 1:
                yield self._error("P541", f"expected a cluster of 1 or more CTAs, found {shown}{where}", span)
                return
            if required and _three(required[0]) != _three(cluster):
                message = f"expected a cluster of {_shape(required[0])} CTAs, found {shown}{where}"
                yield self._error("P541", message, span, (required[1], "required here"), "make the two agree")
            elif prod(cluster) > (largest := self._largest_cluster()):
                message = f"expected a cluster of at most {counted(largest, 'CTA')}, found {shown}{where}"
                help = f"`{self.module.target}` holds no larger one"
                yield self._error("P541", message, span, help=help)
            elif most and prod(cluster) > most[0][0]:
                message = f"expected a cluster of at most {counted(most[0][0], 'CTA')}, found {shown}{where}"
                yield self._error("P541", message, span, (most[1], "limited here"), "make the two agree")
        elif required:
            cluster = required[0]
        if "grid" not in values:
            return
        grid = values["grid"]
        if any(not 1 <= extent <= limit for extent, limit in zip(grid, targets.MAX_GRID, strict=False)):
            message = f"expected a grid of 1 to {_shape(targets.MAX_GRID)} CTAs, found {_shape(grid)}{where}"
            help = "keep the extents above 0, `max(1, ..)`, and put the longest dimension on x"
            yield self._error("P540", message, self._span("grid"), help=help)
        elif cluster and any(g % c for g, c in zip(_three(grid), _three(cluster), strict=True)):
            message = (
                f"expected a grid of whole clusters of {_shape(cluster)} CTAs, found {_shape(grid)}{where}"
            )
            help = "round the grid up to whole clusters, and let the CTAs beyond the work return"
            yield self._error("P541", message, self._span("grid"), help=help)

    def _largest_cluster(self) -> int:
        target = targets.parse(self.module.target or "")
        return (
            targets.limits(target).cluster
            if target
            else max(limit.cluster for limit in targets.LIMITS.values())
        )

    def _shared(self, values: Mapping[str, tuple[int, ...]], where: str) -> Iterator[Diagnostic]:
        target = targets.parse(self.module.target or "")
        if "shared" not in values or target is None:
            return
        (size,) = values["shared"]
        limit = targets.limits(target).shared_per_cta
        if not 0 <= size <= limit:
            message = (
                f"expected 0 to {limit} bytes of dynamic shared memory on `{target}`, found {size}{where}"
            )
            yield self._error("P542", message, self._span("shared"))


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


def _three(extents: Sequence[int]) -> tuple[int, ...]:
    return (*extents, *(1,) * (3 - len(extents)))


def _shape(extents: Sequence[int]) -> str:
    """`256`, or `32 x 8`."""
    return " x ".join(str(extent) for extent in extents)
