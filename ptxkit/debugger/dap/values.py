"""Scopes and variables of a warp: registers by type and lane, parameters, memories, barriers, copies."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ptxkit.debugger.commands import Commands
from ptxkit.debugger.expressions import Expression
from ptxkit.debugger.refusals import RefusedError
from ptxkit.debugger.text import by_text, grouped, texts_of
from ptxkit.debugger.variables import VariablePlace, memory_words
from ptxkit.dtypes import DTYPES
from ptxkit.emulator import inspection
from ptxkit.emulator.code_places import WarpNumber
from ptxkit.emulator.inspection import KnownBits, RegisterState, can_show, shown
from ptxkit.emulator.special import SPECIAL

ELEMENTS = 1 << 16
"""Most elements of a memory that are children of a variable."""
FIRST = 4
"""FrameValues that stand for a variable with many."""


class Shown(NamedTuple):
    """A variable as it is shown.

    Attributes:
        name, value, type: as texts.
        children: what it consists of, from one number on, so many; None for nothing.
        indexed: how many elements it has; 0 where its children have names.
        watch: what `watch` calls it; empty where it can't be watched.
        memory: where it lies, for `readMemory`; empty where that is nowhere.
    """

    name: str
    value: str
    type: str = ""
    children: Callable[[int, int], Iterable[Shown]] | None = None
    indexed: int = 0
    watch: str = ""
    memory: str = ""


class FrameValues:
    """What frames hold; numbers are good until the launch goes on.

    Args:
        commands: of the session.
    """

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._session = commands.session
        self._debugger = commands.debugger
        self._held: list[tuple[WarpNumber, Callable[[int, int], Iterable[Shown]]]] = []
        self._seen: dict[tuple[int, str], tuple[WarpNumber, str]] = {}

    def forget(self) -> None:
        """The launch goes on."""
        self._held.clear()
        self._seen.clear()

    @contextmanager
    def of(self, warp: WarpNumber) -> Iterator[None]:
        """What is asked meanwhile is asked of a warp."""
        before, self._debugger.warp = self._debugger.warp, warp
        try:
            yield
        finally:
            self._debugger.warp = before

    def _hold(self, warp: WarpNumber, children: Callable[[int, int], Iterable[Shown]]) -> int:
        self._held.append((warp, children))
        return len(self._held)

    def _as_json(self, warp: WarpNumber, one: Shown, within: int = 0) -> dict[str, Any]:
        reference = self._hold(warp, one.children) if one.children is not None else 0
        if one.watch:
            self._seen[within, one.name] = warp, one.watch
        found = {"name": one.name, "value": one.value, "type": one.type, "variablesReference": reference}
        if one.children is not None and one.indexed:
            found["indexedVariables"] = one.indexed
        if one.memory:
            found["memoryReference"] = one.memory
        return found

    # ---- what is asked

    def scopes(self, warp: WarpNumber) -> list[dict[str, Any]]:
        """The scopes of a warp's frame."""
        kinds: list[tuple[str, str, Callable[[int, int], Iterable[Shown]], bool]] = [
            ("Registers", "registers", self._registers, False),
            ("Parameters", "arguments", self._parameters, False),
            ("Special registers", "registers", self._special, True),
            ("Shared memory", "locals", self._shared, True),
            ("Tensors and global variables", "globals", self._global, True),
            ("Barriers", "locals", self._barriers, True),
            ("In flight", "locals", self._flying, True),
        ]
        return [
            {
                "name": name,
                "presentationHint": hint,
                "variablesReference": self._hold(warp, children),
                "expensive": expensive,
            }
            for name, hint, children, expensive in kinds
        ]

    def variables(self, reference: int, start: int, count: int) -> list[dict[str, Any]]:
        """The children of a scope or variable, from one on; all of them where `count` is 0.

        Raises:
            RefusedError: there is none of that number, or it has no value now.
        """
        if not 0 < reference <= len(self._held):
            raise RefusedError("the launch has gone on since")
        warp, children = self._held[reference - 1]
        with self.of(warp):
            return [self._as_json(warp, one, reference) for one in children(start, count or ELEMENTS)]

    def watch_of(self, reference: int, name: str) -> tuple[WarpNumber, str] | None:
        """A variable that was shown, as `watch` calls it; None where it can't be watched."""
        return self._seen.get((reference, name))

    def evaluate(self, warp: WarpNumber, text: str) -> dict[str, Any]:
        """An expression in a warp. Raises RefusedError: it has no value."""
        with self.of(warp):
            expression = Expression(text)
            names = self._commands.names()
            (row,) = expression.evaluate(names, 1)
            texts = texts_of(row, names.active(0))
            kind = ""
            if expression.register is not None:
                kind = f".{names.read(expression.register)[1]}"
            made = Shown(text, _summary(texts), kind, _lanes_of(texts) if len(by_text(texts)) > 1 else None)
            found = self._as_json(warp, made)
        return {"result": found["value"], **{k: v for k, v in found.items() if k not in ("name", "value")}}

    def memory(self, reference: str, offset: int, count: int) -> dict[str, Any]:
        """Bytes of memory at `shared:CTA:ADDRESS` or `global:ADDRESS`. Raises RefusedError: no address."""
        space, _, rest = reference.partition(":")
        cta, _, address = rest.rpartition(":")
        try:
            start = int(address, 16) + offset
            warp = WarpNumber(int(cta or self._debugger.warp.cta), self._debugger.warp.number)
        except ValueError:
            raise RefusedError(f"expected an address, found `{reference}`") from None
        with self.of(warp):
            batch, number = self._session.home()
            try:
                words = memory_words(self._session.variables, batch, number, space, "u8", (start,), count)
            except RefusedError:
                words = []
        data = base64.b64encode(bytes(word.bits for word in words)).decode()
        return {"address": hex(start), "data": data, "unreadableBytes": count - len(words)}

    # ---- scopes

    def _registers(self, start: int, count: int) -> Iterator[Shown]:
        place, _, row = self._session.here()
        by_type: dict[str, list[RegisterState]] = {}
        for register in inspection.registers(place, row):
            if not register.lost:
                by_type.setdefault(register.type, []).append(register)
        for kind, registers in by_type.items():
            yield Shown(f".{kind}", f"{len(registers)}", "", _all([_register(one) for one in registers]))

    def _special(self, start: int, count: int) -> Iterator[Shown]:
        place, _, row = self._session.here()
        for name in SPECIAL:
            register = inspection.special_register(place, row, name)
            if register is not None:
                yield _register(register)._replace(watch="")

    def _parameters(self, start: int, count: int) -> Iterator[Shown]:
        found = self._session.variables.parameters(self._commands.execution())
        for name, (kind, elements) in found.items():
            texts = [shown(KnownBits(one), kind) if can_show(kind) else hex(one) for one in elements]
            children = _all([Shown(f"[{at}]", text) for at, text in enumerate(texts)])
            several = len(texts) > 1
            yield Shown(name, _first(texts), f".{kind}", children if several else None, len(texts) * several)

    def _shared(self, start: int, count: int) -> Iterator[Shown]:
        places = self._session.variables.shared(self._debugger.execution)
        yield from (self._memory("shared", name, place) for name, place in places.items())
        layout = self._commands.execution().launch.shared
        if layout.dynamic:
            at = layout.start + layout.total - layout.dynamic
            yield self._memory("shared", "dynamic", VariablePlace(at, "b32", layout.dynamic))

    def _global(self, start: int, count: int) -> Iterator[Shown]:
        places = self._session.variables.of_global()
        yield from (self._memory("global", name, place) for name, place in places.items())

    def _memory(self, space: str, name: str, place: VariablePlace) -> Shown:
        kind = place.type if can_show(place.type) else "b8"
        width = DTYPES[kind].bytes
        size = min((place.size or width) // width, ELEMENTS) or 1
        batch, cta = self._session.home()

        def read(start: int, count: int) -> list[KnownBits]:
            at = (place.address + start * width,)
            return memory_words(
                self._session.variables, batch, cta, space, kind, at, min(count, size - start)
            )

        def elements(start: int, count: int) -> Iterator[Shown]:
            for at, value in enumerate(read(start, count), start):
                where = place.address + at * width
                watch = f"{space}.{kind}[{where:#x}]"
                yield Shown(f"[{at}]", shown(value, kind), f".{kind}", watch=watch, memory=where_is(where))

        def where_is(address: int) -> str:
            return f"shared:{batch.ctas[cta]}:{address:#x}" if space == "shared" else f"global:{address:#x}"

        texts = [shown(value, kind) for value in read(0, FIRST)]
        more = ", ..." if size > FIRST else ""
        text = f"{', '.join(texts)}{more}" if size > 1 else texts[0]
        watch = f"{space}.{kind}[{place.address:#x}] {size}" if size <= 1024 else ""
        memory = where_is(place.address)
        if size == 1:
            return Shown(name, text, f".{kind}", watch=watch, memory=memory)
        return Shown(name, text, f".{kind}[{size}]", elements, size, watch, memory)

    def _barriers(self, start: int, count: int) -> Iterator[Shown]:
        batch, cta = self._session.home()
        variables = self._session.variables.shared(self._debugger.execution)
        names = {place.address: name for name, place in variables.items()}
        for address, state in inspection.mbarriers(batch, cta):
            name = names.get(address, hex(address))
            yield Shown(f"mbarrier {name}", state, watch=f"mbarrier {address:#x}")
        for text in inspection.barriers(batch, cta):
            name, _, state = text.partition(": ")
            yield Shown(name, state)

    def _flying(self, start: int, count: int) -> Iterator[Shown]:
        for at, text in enumerate(inspection.in_flight(*self._session.home())):
            yield Shown(f"{at}", text)


def _register(register: RegisterState) -> Shown:
    texts = [shown(one, register.type) if one is not None else None for one in register.values]
    children = _lanes_of(texts) if len(by_text(texts)) > 1 else None
    return Shown(register.name, _summary(texts), f".{register.type}", children, watch=register.name)


def _summary(texts: Sequence[str | None]) -> str:
    """One value where all lanes that are here have the same, else the first ones."""
    found = by_text(texts)
    return next(iter(found)) if len(found) == 1 else grouped(texts, FIRST)


def _first(texts: Sequence[str]) -> str:
    return ", ".join(texts[:FIRST]) + (", ..." if len(texts) > FIRST else "")


def _lanes_of(texts: Sequence[str | None]) -> Callable[[int, int], Iterable[Shown]]:
    return _all([Shown(f"lane {lane}", text) for lane, text in enumerate(texts) if text is not None])


def _all(children: list[Shown]) -> Callable[[int, int], Iterable[Shown]]:
    return lambda start, count: children[start : start + count]
