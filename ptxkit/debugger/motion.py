"""Commands that let the launch go on, or take it back."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.debugger.asking import Asking
from ptxkit.debugger.refusals import QuitError, RefusedError
from ptxkit.debugger.session import LINES
from ptxkit.debugger.text import check_count, number


class Motion(Asking):
    """The commands that move. Each either returns, and the launch goes on, or raises."""

    def do_continue(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        self.session.go_on()

    def do_step(self, words: Sequence[str]) -> None:
        self.session.step(_times(words))

    def do_next(self, words: Sequence[str]) -> None:
        self.session.step(_times(words), over=True)

    def do_stepi(self, words: Sequence[str]) -> None:
        self.session.step(_times(words), lines="ptx")

    def do_nexti(self, words: Sequence[str]) -> None:
        self.session.step(_times(words), over=True, lines="ptx")

    def do_finish(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        self.session.finish()

    def do_until(self, words: Sequence[str]) -> None:
        check_count(words, 0, 1)
        self.session.until(self.session.locations.at(words[0]) if words else [])

    def do_reverse_step(self, words: Sequence[str]) -> None:
        self.session.back(_times(words))

    def do_reverse_next(self, words: Sequence[str]) -> None:
        self.session.back(_times(words), over=True)

    def do_reverse_stepi(self, words: Sequence[str]) -> None:
        self.session.back(_times(words), lines="ptx")

    def do_reverse_continue(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        self.session.back_on()

    def do_reverse_finish(self, words: Sequence[str]) -> None:
        check_count(words, 0)
        self.session.back_out()

    def do_goto(self, words: Sequence[str]) -> None:
        check_count(words, 1)
        self.session.goto(1 if words[0] == "begin" else number(words[0]))

    def do_set(self, words: Sequence[str]) -> None:
        check_count(words, 2)
        if words[0] != "lines" or words[1] not in LINES:
            raise RefusedError("expected `set lines ptx` or `set lines source`")
        self.session.lines = words[1]

    def do_quit(self, words: Sequence[str]) -> None:
        raise QuitError


def _times(words: Sequence[str]) -> int:
    check_count(words, 0, 1)
    return max(number(words[0]), 1) if words else 1
