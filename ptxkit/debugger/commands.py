"""The commands of the debugger, by the names that gdb and cuda-gdb have for them, and what completes them."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.debugger.looking import Looking
from ptxkit.debugger.motion import Motion
from ptxkit.debugger.refusals import RefusedError
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.inspection import can_show

COMMANDS = {
    "break": ("[FILE:]LINE|LABEL [CTA WARP] [if EXPR]", "stop before that line, label or function"),
    "tbreak": ("the same", "stop there once"),
    "watch": ("%REG|MEMORY|mbarrier ADDRESS", "stop where that has changed"),
    "condition": ("NUMBER [EXPR]", "stop only where that holds; without EXPR, always"),
    "ignore": ("NUMBER COUNT", "let it pass so many times"),
    "enable": ("NUMBER", "let a breakpoint or watchpoint stop again"),
    "disable": ("NUMBER", "let it stop no longer"),
    "delete": ("NUMBER", "drop it"),
    "continue": ("", "go on until something stops; `run` is the same"),
    "step": ("[N]", "let the current warp execute N lines"),
    "next": ("[N]", "the same, a call with all that it calls as one"),
    "stepi": ("[N]", "let it execute N instructions"),
    "nexti": ("[N]", "the same, a call with all that it calls as one"),
    "finish": ("", "go on until this function has returned"),
    "until": ("[[FILE:]LINE|LABEL]", "go on until the warp is there, or past this line: out of a loop"),
    "reverse-step": ("[N]", "take back N lines of the current warp"),
    "reverse-next": ("[N]", "the same, a call with all that it called as one"),
    "reverse-stepi": ("[N]", "take back N instructions of it"),
    "reverse-continue": ("", "go back to where a breakpoint or watchpoint would have stopped last"),
    "reverse-finish": ("", "go back to the call of this function"),
    "goto": ("STEP|begin", "go to a step, back or on; `info launch` says which this is"),
    "who": ("%REG|MEMORY|mbarrier ADDRESS", "say what wrote that last"),
    "print": ("%REG [LANE] [TYPE]|EXPR", "show a register or an expression, lane by lane"),
    "info": ("TOPIC", "show"),
    "shared": ("ADDRESS|NAME [COUNT] [TYPE]", "show shared memory of the current CTA"),
    "global": ("ADDRESS|NAME [COUNT] [TYPE]", "show global memory: a tensor, a variable, an address"),
    "tmem": ("LANE COLUMN [COUNT] [TYPE]", "show tensor memory of the current CTA"),
    "tile": ("ADDRESS|NAME ROWSxCOLUMNS TYPE [SWIZZLE]", "show shared memory as a tile, swizzle undone"),
    "warp": ("CTA WARP", "choose the current warp; CTA is a number or x,y,z"),
    "where": ("", "show the current instruction and its callers"),
    "list": ("[LINE]", "show the text around the current line"),
    "set": ("lines ptx|source", "what `step` and `next` count: lines of PTX, or of its source"),
    "help": ("", "show this"),
    "quit": ("", "end"),
}
"""Every command with its arguments and its line of help. A beginning of a name that is no other's will do."""
FURTHER = {
    "tile": (
        "desc EXPR ROWSxCOLUMNS TYPE [MN]: what is read through a matrix descriptor",
        "map NAME ADDRESS|NAME: the box of a tensor map; all of them take `from ROW,COLUMN`",
    ),
}
"""Further forms of a command."""
SHORT = {
    "b": "break",
    "backtrace": "where",
    "bt": "where",
    "c": "continue",
    "d": "delete",
    "fin": "finish",
    "i": "info",
    "l": "list",
    "n": "next",
    "ni": "nexti",
    "p": "print",
    "q": "quit",
    "r": "continue",
    "rc": "reverse-continue",
    "rn": "reverse-next",
    "rs": "reverse-step",
    "rsi": "reverse-stepi",
    "run": "continue",
    "s": "step",
    "si": "stepi",
    "tb": "tbreak",
    "u": "until",
    "barriers": "info barriers",
    "flying": "info flying",
    "regs": "info registers",
    "warps": "info warps",
}
"""What else commands are called."""
MOVING = frozenset("continue step next stepi nexti finish until goto".split())
"""The commands after which the launch goes on; those that go back begin it anew."""
_TAKING_PLACES = ("break", "tbreak", "until")


class Commands(Motion, Looking):
    """All commands, by their text."""

    def do(self, line: str) -> bool:
        """Do one command; whether the launch goes on.

        Raises:
            RefusedError: it can't be done.
            QuitError: it is `quit`.
            RewindError: the launch is to begin anew.
        """
        words = line.split()
        if not words:
            return False
        name = command_called(words[0])
        if " " in name:
            name, topic = name.split()
            words = [name, topic, *words[1:]]
        getattr(self, f"do_{name.replace('-', '_')}")(words[1:])
        return name in MOVING

    def do_info(self, words: Sequence[str]) -> None:
        topics = self.topics()
        if not words:
            raise RefusedError(f"expected a topic: {', '.join(topics)}")
        found = [topic for topic in topics if topic == words[0]]
        found = found or [topic for topic in topics if topic.startswith(words[0])]
        if len(found) != 1:
            raise RefusedError(f"expected a topic: {', '.join(topics)}; found `{words[0]}`")
        topics[found[0]](words[1:])

    def do_help(self, words: Sequence[str]) -> None:
        for name, (arguments, meaning) in COMMANDS.items():
            said = f"{meaning} {', '.join(self.topics())}" if name == "info" else meaning
            self.say(f"  {f'{name} {arguments}'.strip():48} {said}")
            for form in FURTHER.get(name, ()):
                self.say(f"  {name} {form}")
        short = [f"`{short}` is `{name}`" for short, name in SHORT.items()]
        for at in range(0, len(short), 5):
            self.say(f"  {', '.join(short[at : at + 5])}")

    # ---- completion

    def completions(self, line: str) -> list[str]:
        """What the last word of a line that is being typed can become."""
        words = line.split()
        last = "" if not words or line[-1:].isspace() else words.pop()
        if not words:
            return _beginning([*COMMANDS, *SHORT], last)
        try:
            name = command_called(words[0])
        except RefusedError:
            return []
        return _beginning(self._words_for(name, words[1:]), last)

    def _words_for(self, name: str, before: Sequence[str]) -> list[str]:
        """What may come next in a command, behind some of its words."""
        if "if" in before or name in ("print", "who", "watch"):
            return [*self._registers_here(), *self._variables(), *(["mbarrier"] if name != "print" else [])]
        if name in _TAKING_PLACES:
            return self.session.locations.names() if not before else ["if"]
        match name, len(before):
            case "info", 0:
                return list(self.topics())
            case "info", _ if before[0] == "lanes":
                return self._registers_here()
            case "set", 0:
                return ["lines"]
            case "set", 1:
                return ["ptx", "source"]
            case "tile", 0:
                return ["map", "desc", *self._variables()]
            case "tile", 1 if before[0] == "map":
                return list(self.session.variables.maps)
            case (("shared" | "global" | "tile"), 0):
                return self._variables()
            case (("shared" | "global" | "tile" | "tmem"), _):
                return [kind for kind in DTYPES if can_show(kind)]
        return []

    def _registers_here(self) -> list[str]:
        place, _ = self.debugger.current()
        return list(place.lane_set.code.names) if place is not None else []

    def _variables(self) -> list[str]:
        shared = self.session.variables.shared(self.debugger.execution)
        return [*shared, *self.session.variables.of_global()]


def _beginning(words: Sequence[str], start: str) -> list[str]:
    return sorted({word for word in words if word.startswith(start)})


def command_called(word: str) -> str:
    """The command that is called so, or begins so; of `warps` and the like, with its first argument."""
    if word in COMMANDS:
        return word
    if word in SHORT:
        return SHORT[word]
    found = [name for name in COMMANDS if name.startswith(word)]
    if len(found) == 1:
        return found[0]
    which = f"which is {' or '.join(f'`{name}`' for name in found)}" if found else "`help` lists them"
    raise RefusedError(f"expected a command, found `{word}`: {which}")
