"""Commands about breakpoints and watchpoints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ptxkit.asm.tree import Instruction
from ptxkit.debugger.asking import Asking, LaneCondition
from ptxkit.debugger.refusals import RefusedError
from ptxkit.debugger.text import check_count, checked_type, number
from ptxkit.debugger.watching import NO_VALUE, MbarrierWatch, MemoryWatch, RegisterWatch
from ptxkit.diagnostics import counted
from ptxkit.emulator import inspection
from ptxkit.emulator.code_places import WarpNumber
from ptxkit.emulator.last_writer import last_writer, last_writer_of_shared
from ptxkit.emulator.stops import Breakpoint, Watched, Watchpoint

_MEMORY = re.compile(r"(shared|global|tmem)\.(\w+)\[(.+)\]")


class Stopping(Asking):
    """The commands that say where to stop."""

    def do_break(self, words: Sequence[str]) -> None:
        if not words:
            self.list_breakpoints()
            return
        self._break(words, temporary=False)

    def do_tbreak(self, words: Sequence[str]) -> None:
        self._break(words, temporary=True)

    def _break(self, words: Sequence[str], temporary: bool) -> None:
        words, condition = list(words), None
        if "if" in words:
            at = words.index("if")
            words, condition = words[:at], " ".join(words[at + 1 :])
        check_count(words, 1, 3)
        if len(words) == 2:
            raise RefusedError("expected a warp after the CTA")
        warp = self.warp(words[1:]) if len(words) == 3 else None
        places = self.session.locations.at(words[0])
        self.say(self.described(self.add_breakpoint(places, condition, warp, temporary)))

    def add_breakpoint(
        self,
        places: Sequence[Instruction],
        condition: str | None = None,
        warp: WarpNumber | None = None,
        temporary: bool = False,
    ) -> Breakpoint:
        """A further breakpoint. Raises RefusedError: the condition is no expression."""
        holds = LaneCondition(condition, self) if condition is not None else None
        made = Breakpoint(self.debugger.number(), places, warp, holds, temporary)
        self.debugger.add(made)
        return made

    def described(self, stop: Breakpoint | Watchpoint) -> str:
        """A breakpoint or watchpoint in a line."""
        more = "" if stop.enabled else ", disabled"
        more += f", ignored {counted(stop.ignored, 'time')} more" if stop.ignored else ""
        if isinstance(stop, Watchpoint):
            return f"watchpoint {stop.number}: {stop.watched.text}{more}"
        kind = "temporary breakpoint" if stop.temporary else "breakpoint"
        at = ", ".join(self.session.locations.described(one) for one in stop.instructions)
        who = f" for warp {stop.warp.number} of CTA {stop.warp.cta}" if stop.warp else ""
        condition = f" if {stop.condition.text}" if stop.condition else ""
        return f"{kind} {stop.number} at {at}{who}{condition}{more}"

    def list_breakpoints(self) -> None:
        """Say all of them, in the order of their numbers."""
        all_stops: list[Breakpoint | Watchpoint] = [
            *self.debugger.breakpoints.values(),
            *self.debugger.watchpoints.values(),
        ]
        for stop in sorted(all_stops, key=lambda one: one.number):
            hits = f", hit {counted(stop.hits, 'time')}" if stop.hits else ""
            self.say(self.described(stop) + hits)

    def _numbered(self, text: str) -> Breakpoint | Watchpoint:
        wanted = number(text)
        found = self.debugger.breakpoints.get(wanted) or self.debugger.watchpoints.get(wanted)
        if found is None:
            raise RefusedError(f"there is no breakpoint {text}")
        return found

    def do_delete(self, words: Sequence[str]) -> None:
        check_count(words, 1)
        self.debugger.delete(self._numbered(words[0]).number)

    def do_enable(self, words: Sequence[str]) -> None:
        check_count(words, 1)
        self._numbered(words[0]).enabled = True

    def do_disable(self, words: Sequence[str]) -> None:
        check_count(words, 1)
        self._numbered(words[0]).enabled = False

    def do_ignore(self, words: Sequence[str]) -> None:
        check_count(words, 2)
        self._numbered(words[0]).ignored = number(words[1])

    def do_condition(self, words: Sequence[str]) -> None:
        if not words:
            raise RefusedError("expected a number and an expression")
        stop = self._numbered(words[0])
        if isinstance(stop, Watchpoint):
            raise RefusedError(f"{words[0]} is a watchpoint, which has no condition")
        stop.condition = LaneCondition(" ".join(words[1:]), self) if words[1:] else None

    # ---- watchpoints

    def do_watch(self, words: Sequence[str]) -> None:
        watched, missing = self.watched(words)
        self.say(self.described(self.debugger.watch(watched, missing)))

    def do_who(self, words: Sequence[str]) -> None:
        watched, missing = self.watched(words)
        if isinstance(watched, MemoryWatch) and watched.space != "tmem":
            batch, cta = self.session.home()
            byte = watched.at[0]
            shared = watched.space == "shared"
            by = last_writer_of_shared(batch, cta, byte) if shared else last_writer(batch.launch, byte)
            if by is not None:
                self.say(f"{watched.text}: written last by {by}")
        self.session.who(watched, missing)

    def watched(self, words: Sequence[str]) -> tuple[Watched, Any]:
        """What `%REG`, `shared.f32[ADDRESS] [COUNT]`, `mbarrier ADDRESS|NAME`, or a variable stands for, and
        what it counts as while it can't be seen."""
        if not words:
            raise RefusedError("expected a register, memory, or `mbarrier` and its address")
        warp = self.debugger.warp
        if words[0] == "mbarrier":
            check_count(words, 2)
            address = self._shared_address(words[1])
            return MbarrierWatch(self.debugger, warp.cta, address, words[1]), None
        text, count = " ".join(words), 1
        if len(words) > 1 and words[-1].isdecimal():
            text, count = " ".join(words[:-1]), max(number(words[-1]), 1)
        variables = self.session.variables
        memory = _MEMORY.fullmatch(text)
        if memory is not None:
            space, kind, inner = memory.groups()
            at = tuple(self._place_in(space, part.strip()) for part in inner.split(","))
            if len(at) != (2 if space == "tmem" else 1):
                raise RefusedError("expected `tmem.b32[LANE, COLUMN]`, or an address for other memory")
            kind = checked_type(kind)
            return MemoryWatch(self.debugger, variables, warp.cta, space, kind, at, count), None
        shared = variables.shared(self.debugger.execution)
        for space, places in (("shared", shared), ("global", variables.of_global())):
            if text in places:
                kind = places[text].type if inspection.can_show(places[text].type) else "b8"
                at = (places[text].address,)
                return MemoryWatch(self.debugger, variables, warp.cta, space, kind, at, count), None
        if count > 1 or not re.fullmatch(r"[%$\w.]+", text) or text[0].isdecimal():
            raise RefusedError(f"expected a register or memory such as `shared.f32[0x400]`, found `{text}`")
        return RegisterWatch(self.debugger, warp, text), NO_VALUE

    def _place_in(self, space: str, text: str) -> int:
        """An address, a lane or a column."""
        if text.isdecimal() or re.fullmatch(r"0x[0-9a-fA-F]+", text):
            return number(text)
        if space == "shared":
            return self._shared_address(text)
        places = self.session.variables.of_global()
        return places[text].address if text in places else self.address(text)

    def _shared_address(self, text: str) -> int:
        places = self.session.variables.shared(self.debugger.execution)
        return places[text].address if text in places else self.address(text)
