"""Reading the launch card: TOML in `//` comments, in the manner of PEP 723, into a `Card`.

Everything is validated here: types, unknown keys, expressions, sizes and names, each complaint with its
place in the file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ptxkit.card import expression, frame, initial
from ptxkit.card.expression import SizeExpression, unknown_size
from ptxkit.card.frame import CardFrame
from ptxkit.card.model import Card, LaunchCard, Param, Preset, TensorCard, TensorMapCard
from ptxkit.card.positions import Path
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, listing
from ptxkit.dtypes import DTYPES
from ptxkit.rules import Rules, from_table

T = TypeVar("T")

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_RESERVED = {"and", "or", "not", "in", "is", "if", "else", "lambda", "True", "False", "None"}

_TOP = ("workload", "launch", "presets", "tensors", "tensor_maps", "cost", "sanitizer")
_COST = ("operations", "arithmetic")
_LAUNCH = ("entry", "grid", "block", "cluster", "shared", "cooperative", "params", "when", "group")
_TENSOR = ("dtype", "shape", "init", "expect", "rtol", "atol")
_OPTIONS = ("swizzle", "interleave", "l2_promotion", "oob_fill")
_MAP = ("tensor", "dtype", "box", "shape", "strides", "element_strides", *_OPTIONS)


def read(source: Source) -> Card | None:
    """The launch card of a file, None where it has none.

    Raises:
        PtxkitError: P530 to P537, everything that is wrong with it.
    """
    block = frame.find(source)
    return _CardReader(block).card() if block else None


class _CardReader:
    """One card being read. Complaints collect, so that one run shows them all."""

    def __init__(self, block: CardFrame) -> None:
        self.frame = block
        self.source = block.source
        self.found: list[Diagnostic] = []
        self.sizes: tuple[str, ...] | None = None

    def _complain(
        self, code: str, message: str, path: Path, help: str | None = None, key: bool = False
    ) -> None:
        span = self.frame.key_span(path) if key else self.frame.value_span(path)
        self.found.append(Diagnostic(code, message, span, help=help, source=self.source))

    def _guard(self, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except PtxkitError as problem:
            self.found += problem.diagnostics
            return None

    # ---- the document

    def card(self) -> Card:
        document = self.frame.document
        self._known_keys(document, _TOP, ())
        workload = self._typed(document, "workload", str, "a workload's name", ())
        presets = self._presets(document)
        # A misspelt `presets` would make every size unknown: one complaint is enough.
        guessed = workload is not None or any(key not in _TOP for key in document)
        self.sizes = tuple(presets[0].sizes) if presets else None if guessed else ()
        tensor_tables, map_tables = self._tables(document, "tensors"), self._tables(document, "tensor_maps")
        tensors = [self._tensor(name, table, ("tensors", name)) for name, table in tensor_tables]
        maps = [self._tensor_map(name, table, ("tensor_maps", name)) for name, table in map_tables]
        operations, arithmetic = self._cost(document, workload)
        launches = self._launches(document)
        rules = self._rules(document)
        names = [*(self.sizes or ()), *(t.name for t in tensors if t), *(m.name for m in maps if m)]
        for name in sorted({name for name in names if names.count(name) > 1}):
            owner = "tensors" if any(t and t.name == name for t in tensors) else "tensor_maps"
            self._complain(
                "P532", f"expected one thing called `{name}`, found several", (owner, name), key=True
            )
        if workload is None and self.sizes is not None:
            self._check_names(launches, [name for name, _ in (*tensor_tables, *map_tables)])
        if self.found:
            raise PtxkitError(self.found)
        return Card(
            tuple(launch for launch in launches if launch),
            workload,
            tuple(presets),
            tuple(tensor for tensor in tensors if tensor),
            tuple(tensor_map for tensor_map in maps if tensor_map),
            self.frame.span,
            self.source,
            self.frame.value_span(("workload",)),
            operations,
            arithmetic,
            rules,
        )

    def _rules(self, document: Mapping[str, Any]) -> Rules:
        table = self._typed(document, "sanitizer", dict, "a table", ()) or {}
        try:
            return from_table(table)
        except PtxkitError as problem:
            span = self.frame.key_span(("sanitizer",))
            self.found += [wrong.at(span, self.source) for wrong in problem.diagnostics]
            return {}

    def _known_keys(self, table: Mapping[str, Any], known: Iterable[str], path: Path) -> None:
        for key in table:
            if key not in known:
                import difflib

                where = f"`[{'.'.join(str(p) for p in path if isinstance(p, str))}]`" if path else "the card"
                near = difflib.get_close_matches(key, list(known), 1)
                listed = listing(known)
                hint = f"did you mean `{near[0]}`?" if near else f"{where} knows {listed}"
                self._complain(
                    "P532", f"expected a key of {where}, found `{key}`", (*path, key), hint, key=True
                )

    def _require(
        self, table: Mapping[str, Any], keys: Iterable[str], where: str, path: Path, help: str = ""
    ) -> None:
        for key in keys:
            if key not in table:
                message = f"expected `{key}` {where}, found none"
                self._complain("P532", message, path, help.format(key) or None, key=True)

    def _typed(self, table: Mapping[str, Any], key: str, kind: type[T], what: str, path: Path) -> T | None:
        value = table.get(key)
        if value is None:
            return None
        if type(value) is not kind and not (kind is float and type(value) is int):
            self._complain("P532", f"expected {what}, found {_describe(value)}", (*path, key))
            return None
        return kind(value)  # type: ignore[call-arg]

    def _tables(self, document: Mapping[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
        table = self._typed(document, key, dict, "a table", ()) or {}
        out = []
        for name, value in table.items():
            if not isinstance(value, dict):
                self._complain("P532", f"expected a table, found {_describe(value)}", (key, name))
            elif self._is_name(name, (key, name)):
                out.append((name, value))
        return out

    def _is_name(self, name: str, path: Path) -> bool:
        if _IDENTIFIER.match(name) and name not in _RESERVED:
            return True
        hint = "use letters, digits and `_`, no digit first"
        self._complain("P532", f"expected a name, found `{name}`", path, hint, key=True)
        return False

    def _presets(self, document: Mapping[str, Any]) -> list[Preset]:
        presets: list[Preset] = []
        for name, value in (self._typed(document, "presets", dict, "a table", ()) or {}).items():
            path: Path = ("presets", name)
            if not isinstance(value, dict):
                self._complain("P532", f"expected sizes `{{ M = 128, .. }}`, found {_describe(value)}", path)
                continue
            inputs = self._typed(value, "inputs", str, "the name of an input generator", path)
            sizes = {}
            for size, number in value.items():
                if size == "inputs" or not self._is_name(size, (*path, size)):
                    continue
                if type(number) is not int or number < 0:
                    message = f"expected a size of 0 or more, found {_describe(number)}"
                    self._complain("P532", message, (*path, size))
                sizes[size] = number
            if presets and set(sizes) != set(presets[0].sizes):
                expected = listing(presets[0].sizes) or "none"
                hint = f"every preset gives the sizes of the first: {expected}"
                self._complain(
                    "P532", f"expected the sizes {expected}, found {listing(sizes) or 'none'}", path, hint
                )
                continue
            presets.append(Preset(name, sizes, inputs))
        return presets

    def _cost(
        self, document: Mapping[str, Any], workload: str | None
    ) -> tuple[SizeExpression | None, str | None]:
        """The operations of a problem without a workload, and the type of its tensor-core products."""
        table = self._typed(document, "cost", dict, "a table", ()) or {}
        if table and workload is not None:
            hint = f"`{workload}` defines the cost"
            message = "expected no `[cost]` beside a workload, found one"
            self._complain("P532", message, ("cost",), hint, key=True)
        self._known_keys(table, _COST, ("cost",))
        arithmetic = self._typed(table, "arithmetic", str, "a type, `bf16`", ("cost",))
        if arithmetic is not None and arithmetic not in DTYPES:
            message = f"expected a type, `bf16`, found `{arithmetic}`"
            self._complain("P532", message, ("cost", "arithmetic"))
        if "operations" not in table:
            return None, arithmetic
        return self._integer(table["operations"], ("cost", "operations")), arithmetic

    # ---- launches

    def _launches(self, document: Mapping[str, Any]) -> list[LaunchCard | None]:
        value = document.get("launch")
        if value is None:
            return []
        if isinstance(value, dict):
            return [self._launch(value, ("launch",))]
        if isinstance(value, list) and value and all(isinstance(launch, dict) for launch in value):
            return [self._launch(launch, ("launch", i)) for i, launch in enumerate(value)]
        self._complain("P532", f"expected a table `[launch]`, found {_describe(value)}", ("launch",))
        return []

    def _launch(self, table: Mapping[str, Any], path: Path) -> LaunchCard | None:
        self._known_keys(table, _LAUNCH, path)
        help = "`{} = 256`; three numbers or expressions in brackets for x, y and z"
        self._require(table, ("grid", "block"), "in `[launch]`", path, help)
        grid = self._shape(table, "grid", path, 3)
        block = self._shape(table, "block", path, 3)
        launch = LaunchCard(
            grid=grid or (),
            block=block or (),
            entry=self._typed(table, "entry", str, "the name of an `.entry`", path),
            cluster=self._shape(table, "cluster", path, 3),
            shared=self._integer(table["shared"], (*path, "shared")) if "shared" in table else None,
            cooperative=bool(self._typed(table, "cooperative", bool, "`true` or `false`", path)),
            params=self._params(table, path) or (),
            when=self._integer(table["when"], (*path, "when")) if "when" in table else None,
            group=self._typed(table, "group", str, "the name of a group", path),
            span=self.frame.key_span(path),
            spans={key: self.frame.value_span((*path, key)) for key in table},
        )
        return launch if grid and block else None

    def _shape(
        self, table: Mapping[str, Any], key: str, path: Path, most: int
    ) -> tuple[SizeExpression, ...] | None:
        """One to `most` extents; a single one may stand without brackets."""
        if key not in table:
            return None
        value = table[key]
        if not isinstance(value, list):
            single = self._integer(value, (*path, key))
            return (single,) if single else None
        if not 1 <= len(value) <= most:
            self._complain("P532", f"expected 1 to {most} numbers, found {len(value)}", (*path, key))
            return None
        extents = [self._integer(element, (*path, key, i)) for i, element in enumerate(value)]
        whole = tuple(extent for extent in extents if extent)
        return whole if len(whole) == len(extents) else None

    def _integer(self, value: Any, path: Path) -> SizeExpression | None:
        """An integer or a string that holds an integer expression over sizes."""
        parsed = self._expression(value, path)
        if parsed and self.sizes is not None:
            unknown = [name for name in parsed.names if name not in self.sizes]
            self.found += [unknown_size(parsed, name, dict.fromkeys(self.sizes)) for name in unknown]
            return None if unknown else parsed
        return parsed

    def _expression(self, value: Any, path: Path) -> SizeExpression | None:
        if type(value) is int:
            value = str(value)
            return self._guard(lambda: expression.parse(value, self.frame.value_span(path), self.source))
        if isinstance(value, str):
            return self._guard(lambda: expression.parse(value, self.frame.inside_span(path), self.source))
        self._complain("P532", f"expected an integer or an expression, found {_describe(value)}", path)
        return None

    def _params(self, table: Mapping[str, Any], path: Path) -> tuple[Param, ...] | None:
        values = self._typed(table, "params", list, "a list of arguments", path)
        if values is None:
            return None
        params = []
        for i, value in enumerate(values):
            place: Path = (*path, "params", i)
            if type(value) is float:
                params.append(Param(value, self.frame.value_span(place)))
                continue
            parsed = self._expression(value, place)
            if parsed:
                params.append(Param(parsed, self.frame.value_span(place)))
        return tuple(params) if len(params) == len(values) else None

    def _check_names(self, launches: list[LaunchCard | None], named: list[str]) -> None:
        """Every name in `params` is a tensor, a tensor map or a size of this card."""
        known = dict.fromkeys([*named, *(self.sizes or ())])
        for param in (p for launch in launches if launch for p in launch.params):
            if not isinstance(param.value, SizeExpression):
                continue
            if param.name is None:
                sizes = dict.fromkeys(self.sizes or ())
                self.found += [
                    unknown_size(param.value, n, sizes) for n in param.value.names if n not in sizes
                ]
            elif param.name not in known:
                message = f"expected a tensor, a tensor map or a size in `params`, found `{param.name}`"
                ways = f"declare `[tensors.{param.name}]`, or name a `workload` that has it"
                help = f"this card has {listing(known) or 'nothing'}: {ways}"
                span = param.value.name_span(param.name)
                self.found.append(Diagnostic("P534", message, span, help=help, source=self.source))

    # ---- tensors

    def _tensor(self, name: str, table: Mapping[str, Any], path: Path) -> TensorCard | None:
        self._known_keys(table, _TENSOR, path)
        before = len(self.found)
        self._require(table, ("dtype", "shape"), f"of tensor `{name}`", path)
        dtype = self._dtype(table, path)
        shape = self._shape(table, "shape", path, 8)
        init = self._typed(table, "init", str, "a tensor's content", path)
        parsed = None
        if init is not None:
            content = init
            parsed = self._guard(
                lambda: initial.parse(content, self.frame.value_span((*path, "init")), self.source)
            )
        expect = self._typed(table, "expect", str, "an expression", path)
        rtol, atol = self._tolerance(table, "rtol", path), self._tolerance(table, "atol", path)
        if len(self.found) > before or dtype is None or shape is None:
            return None
        span, expect_span = self.frame.key_span(path), self.frame.inside_span((*path, "expect"))
        return TensorCard(name, dtype, shape, parsed, expect, rtol, atol, span, expect_span)

    def _tolerance(self, table: Mapping[str, Any], key: str, path: Path) -> float | None:
        value = self._typed(table, key, float, "a number", path)
        if value is not None and not 0 <= value < math.inf:
            self._complain("P532", f"expected a number of 0 or more, found `{value:g}`", (*path, key))
        return value

    def _dtype(self, table: Mapping[str, Any], path: Path) -> str | None:
        name = self._typed(table, "dtype", str, "a type's name", path)
        if name is None:
            return None
        name = name.removeprefix(".")
        if name not in DTYPES or DTYPES[name].numpy is None or DTYPES[name].pack > 2:
            types = ", ".join(sorted(d.name for d in DTYPES.values() if d.numpy and d.pack <= 2))
            self._complain(
                "P537", f"expected a type, found `{name}`", (*path, "dtype"), f"the types are {types}"
            )
            return None
        return name

    def _tensor_map(self, name: str, table: Mapping[str, Any], path: Path) -> TensorMapCard | None:
        self._known_keys(table, _MAP, path)
        before = len(self.found)
        self._require(table, ("tensor", "box"), f"of tensor map `{name}`", path)
        tensor = self._typed(table, "tensor", str, "a tensor's name", path)
        dtype = self._typed(table, "dtype", str, "a type's name", path)
        lists = {
            key: self._shape(table, key, path, 5) for key in ("box", "shape", "strides", "element_strides")
        }
        options = {key: self._typed(table, key, str, "a string", path) for key in _OPTIONS if key in table}
        if len(self.found) > before or tensor is None or lists["box"] is None:
            return None
        return TensorMapCard(
            name,
            tensor,
            lists["box"],
            dtype,
            lists["shape"],
            lists["strides"],
            lists["element_strides"],
            {key: value for key, value in options.items() if value is not None},
            self.frame.key_span(path),
        )


def _describe(value: Any) -> str:
    """A TOML value in a few words."""
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"`{value}`"
        case str():
            return f'`"{value if len(value) <= 40 else value[:37] + "..."}"`'
        case list():
            return "a list"
        case dict():
            return "a table"
    return f"a {type(value).__name__}"
