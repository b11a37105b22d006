"""The signature of an `.entry`: packing values, and the table that errors print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ptxkit.asm.tree import Function
from ptxkit.device.arguments.fast import Packer, compile_packer
from ptxkit.device.arguments.parameter import Parameter, place
from ptxkit.device.arguments.values import AddressOf, UnfitError, describe, device_address, encode
from ptxkit.diagnostics import Diagnostic, PtxkitError, Source, Span, counted


class Signature:
    """The parameters of one `.entry`, and how values become their bytes.

    Attributes:
        name: the entry's name.
        parameters: in order.
        size: bytes of the whole parameter space.
        offsets: of each parameter.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[Parameter],
        span: Span | None = None,
        source: Source | None = None,
    ) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self.offsets = tuple(parameter.offset for parameter in self.parameters)
        self.size = max((p.offset + p.size for p in self.parameters), default=0)
        self._span = span
        self._source = source
        self._indices = {parameter.name: parameter.index for parameter in self.parameters}

    @classmethod
    def of(cls, function: Function, source: Source | None = None) -> Signature:
        """The signature of an `.entry`.

        Args:
            function: the entry, with or without a body.
            source: the text that its spans refer to, for code frames.

        Raises:
            PtxkitError: P507, a parameter whose size is unknown or whose type no host value can have.
        """
        return cls(function.name, place(function.parameters, source), _name_span(function, source), source)

    def __len__(self) -> int:
        return len(self.parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def __repr__(self) -> str:
        parameters = counted(len(self.parameters), "parameter")
        return f"Signature({self.name!r}, {parameters}, {counted(self.size, 'byte')})"

    def parameter(self, key: int | str) -> Parameter:
        """The parameter at an index, or with a name.

        Raises:
            PtxkitError: P501, there is none.
        """
        index = self._indices.get(key) if isinstance(key, str) else key
        if index is None or not 0 <= index < len(self.parameters):
            shown = f"`{key}`" if isinstance(key, str) else f"number {key}"
            raise self._error(Diagnostic("P501", f"entry `{self.name}` has no parameter {shown}"))
        return self.parameters[index]

    def arranged(self, named: Mapping[str, Any], first: Sequence[Any] = ()) -> list[Any]:
        """Arguments in the order of the parameters.

        Args:
            named: values by the names of parameters.
            first: values of the first parameters, in order.

        Raises:
            PtxkitError: P501, a name that no parameter has, a parameter without a value or with two.
        """
        for name in named:
            if name not in self._indices:
                from difflib import get_close_matches

                near = get_close_matches(str(name), self._indices, 1)
                help = f"did you mean `{near[0]}`?" if near else None
                message = f"entry `{self.name}` has no parameter `{name}`"
                raise self._error(Diagnostic("P501", message, self._span, help=help))
            if self._indices[name] < len(first):
                message = f"`{name}` of entry `{self.name}` is given twice, in order and by name"
                raise self._error(Diagnostic("P501", message, self._span))
        rest = self.parameters[len(first) :]
        missing = [f"`{parameter.name}`" for parameter in rest if parameter.name not in named]
        if missing:
            message = f"entry `{self.name}` needs {', '.join(missing)}, found no such argument"
            raise self._error(Diagnostic("P501", message, self._span))
        return [*first, *(named[parameter.name] for parameter in rest)]

    def pack(self, args: Sequence[Any] | Mapping[str, Any], address_of: AddressOf | None = None) -> bytes:
        """The bytes of the whole parameter space.

        Args:
            args: one value a parameter, in order or by name.
            address_of: what turns an argument into a device address; by default `device_address`.

        Raises:
            PtxkitError: P501 (count), P502 (a value that the type can't take), P503 (range), P505 (size or
                shape), P506 (alignment); the parameter table is in the notes.
        """
        resolve = address_of or device_address
        if isinstance(args, Mapping):
            args = self.arranged(args)
        if not isinstance(args, list | tuple):
            message = f"expected the arguments as a list, a tuple or a dict, found {describe(args)}"
            raise self._error(Diagnostic("P501", message, self._span))
        if len(args) != len(self.parameters):
            expected = counted(len(self.parameters), "argument")
            message = f"entry `{self.name}` takes {expected}, found {len(args)}"
            raise self._error(Diagnostic("P501", message, self._span), args)
        space = bytearray(self.size)
        found: list[Diagnostic] = []
        for parameter, value in zip(self.parameters, args, strict=True):
            try:
                encoded = encode(parameter, value, resolve)
                space[parameter.offset : parameter.offset + parameter.size] = encoded
            except UnfitError as unfit:
                found.append(unfit.diagnostic(parameter))
        if found:
            raise self._error(found, args)
        return bytes(space)

    def packer(self, buffer: type, home: object, address_of: AddressOf | None = None) -> Packer:
        """A quick `pack(space, args)` for plain values: see `ptxkit.device.arguments.fast`."""
        return compile_packer(self.parameters, buffer, home, address_of or device_address)

    def pack_one(self, key: int | str, value: Any, address_of: AddressOf | None = None) -> bytes:
        """The bytes of one parameter, to be put at its offset.

        Raises:
            PtxkitError: as `pack`.
        """
        parameter = self.parameter(key)
        try:
            return encode(parameter, value, address_of or device_address)
        except UnfitError as unfit:
            raise self._error(unfit.diagnostic(parameter), {parameter.index: value}) from None

    def table(self, args: Sequence[Any] | dict[int, Any] | None = None) -> list[str]:
        """The parameter table, a line each: index, name, declaration, size, offset and what was given."""
        given: dict[int, Any] = {}
        if args is not None:
            given = args if isinstance(args, dict) else dict(enumerate(args))
        rows = []
        for p in self.parameters:
            size = f"{counted(p.size, 'byte')} at {p.offset}"
            row = [str(p.index), p.name, p.text, size]
            if args is not None:
                row.append(describe(given[p.index]) if p.index in given else "not given")
            rows.append(row)
        if isinstance(args, Sequence):
            extra = range(len(rows), len(args))
            rows += [[str(i), "", "no such parameter", "", describe(args[i])] for i in extra]
        columns = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, columns, strict=True)) for row in rows
        ]
        return [line.rstrip() for line in lines] or ["the entry has no parameters"]

    def _error(
        self, found: Diagnostic | list[Diagnostic], args: Sequence[Any] | dict[int, Any] | None = None
    ) -> PtxkitError:
        """An error with the parameter table in the notes of the last finding."""
        each = found if isinstance(found, list) else [found]
        placed = [diagnostic.at(diagnostic.span, self._source) for diagnostic in each]
        placed[-1] = replace(placed[-1], notes=(*placed[-1].notes, *self.table(args)))
        return PtxkitError(placed)


def _name_span(function: Function, source: Source | None) -> Span | None:
    """Where the entry's name stands; the tree knows only where the whole function does."""
    if function.span is None or source is None:
        return function.span
    name = re.compile(rf"(?<![\w$]){re.escape(function.name)}(?![\w$])")
    for number in range(function.span.line, function.span.end_line + 1):
        if match := name.search(source.line(number) or ""):
            return Span(number, match.start() + 1, number, match.end() + 1)
    return function.span
