"""Build `ptxkit/asm/_grammar.py`, the tables that the parser runs, from `ptxkit/asm/ptx.lark`.

Run it after every change of the grammar: `python tools/build_grammar.py`; `--check` only says whether the
tables are up to date. A shift/reduce or reduce/reduce conflict in the grammar is an error.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import pprint
import re
import string
import sys
import textwrap
from pathlib import Path
from typing import Any

import lark
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Reduce

ASM = Path(__file__).resolve().parent.parent / "ptxkit" / "asm"
HEADER = '''"""The tables of `ptx.lark`. Built by tools/build_grammar.py; not written by hand."""

'''


class _Conflicts(logging.Handler):
    """Lark resolves conflicts by shifting and only logs them; here they count."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "onflict" in record.getMessage():
            self.found.append(record.getMessage())


def tables(grammar: str) -> dict[str, Any]:
    """The tables of a grammar: see `render` for what each is."""
    conflicts = _Conflicts()
    lark.logger.addHandler(conflicts)
    lark.logger.setLevel(logging.DEBUG)
    try:
        built = lark.Lark(
            grammar, parser="lalr", start="module", maybe_placeholders=False, lexer="basic", debug=True
        )
    finally:
        lark.logger.removeHandler(conflicts)
    if conflicts.found:
        raise SystemExit("\n".join(["the grammar is ambiguous:", *conflicts.found]))

    positions = {
        match[1]: match.start() for match in re.finditer(r"^([A-Z_]+)(?:\.\d+)?\s*:", grammar, re.MULTILINE)
    }
    named = [t for t in built.terminals if not isinstance(t.pattern, PatternStr)]
    named.sort(key=lambda t: (-t.priority, positions[t.name]))
    literal = [t for t in built.terminals if isinstance(t.pattern, PatternStr)]
    literal.sort(key=lambda t: (-len(t.pattern.value), t.pattern.value))

    kinds = {"$END": "$"}
    letters = iter(string.ascii_uppercase + string.ascii_lowercase + string.digits)
    for terminal in literal:
        value = terminal.pattern.value
        kinds[terminal.name] = value if len(value) == 1 else next(letters)
    for terminal in named:
        kinds[terminal.name] = next(letters)
    keywords = {
        word: kinds[terminal.name] for terminal in named for word in _spellings(terminal.pattern.value)
    }

    ordered = sorted(built.rules, key=lambda rule: (rule.origin.name, str(rule.alias), str(rule.expansion)))
    rules = {rule: number for number, rule in enumerate(ordered)}
    lalr = built.parser.parser._parse_table
    numbers = _numbered(lalr.start_states["module"], lalr.states)
    actions: list[dict[str, int]] = [{} for _ in numbers]
    gotos: list[dict[str, int]] = [{} for _ in numbers]
    for state, number in numbers.items():
        for symbol, (action, argument) in sorted(lalr.states[state].items()):
            if action is Reduce:
                actions[number][kinds[symbol]] = -1 - rules[argument]
            elif symbol in kinds:
                actions[number][kinds[symbol]] = numbers[argument]
            else:
                gotos[number][str(symbol)] = numbers[argument]
    return {
        "KINDS": {
            (t.pattern.value if isinstance(t.pattern, PatternStr) else t.name): kinds[t.name]
            for t in [*named, *literal]
        },
        "KEYWORDS": keywords,
        "PATTERNS": {
            t.name: re.sub(r"(?<!\\)\((?!\?)", "(?:", t.pattern.value)
            for t in named
            if not _spellings(t.pattern.value)
        },
        "LITERALS": tuple(t.pattern.value for t in literal),
        "RULES": "\n".join(
            " ".join((origin, *map(_alternative, alternatives)))
            for origin, alternatives in itertools.groupby(ordered, lambda rule: str(rule.origin.name))
        ),
        "STATES": "\n".join(map(_state, actions, gotos)),
    }


def _alternative(rule: Any) -> str:
    """`method:length`: the method `-` where what the rule has read is spliced, a `?` behind it where a lone
    child stands for the rule."""
    name = "-" if rule.origin.name.startswith("_") else str(rule.alias or rule.origin.name)
    single = bool(rule.options and rule.options.expand1 and not rule.alias)
    return f"{name}{'?' * single}:{len(rule.expansion)}"


def _state(actions: dict[str, int], gotos: dict[str, int]) -> str:
    """`kinds action action ..`, one action where all are the same; two blanks, `rule:state rule:state ..`."""
    numbers = list(actions.values())
    row = " ".join(("".join(actions), *map(str, numbers if len(set(numbers)) > 1 else numbers[:1])))
    return f"{row}  {' '.join(f'{rule}:{state}' for rule, state in gotos.items())}".rstrip()


def _spellings(pattern: str) -> list[str]:
    """The words of a terminal that is a keyword or a choice of keywords: `\\.(noreturn|pragma)(?!..)`."""
    match = re.fullmatch(r"(\\\.)?\(?([\w|]+)\)?\(\?!\[[^]]+\]\)", pattern)
    return [("." if match[1] else "") + word for word in match[2].split("|")] if match else []


def _numbered(start: Any, states: dict[Any, Any]) -> dict[Any, int]:
    """States by breadth-first search over sorted symbols, so that the same grammar gives the same file."""
    order, queue = {start: 0}, [start]
    for state in queue:
        for _, (action, target) in sorted(states[state].items()):
            if action is not Reduce and target not in order:
                order[target] = len(order)
                queue.append(target)
    return order


def render(found: dict[str, Any]) -> str:
    """`_grammar.py`. The large tables are texts, which load fast even where Python may not keep a compiled
    file; `states.py` unfolds a state when the parser first gets there."""

    def show(name: str) -> str:
        return f"{name} = {pprint.pformat(found[name], width=108, compact=True, sort_dicts=False)}\n"

    def words(name: str) -> str:
        pairs = ", ".join(f"{word!r}:\0{kind!r}" for word, kind in found[name].items())
        filled = textwrap.fill(pairs, 108, break_long_words=False, break_on_hyphens=False)
        return f"{name} = {{\n{filled}}}\n".replace("\0", " ")

    def lines(name: str) -> str:
        return f'{name} = """\\\n{found[name]}"""\n'

    def sentences(name: str) -> str:
        """Its lines, each ended by a full stop, which is no kind; two blanks stay in one line."""
        filled = re.sub(r"(.{1,108}(?<! ) )(?! )", r"\1\\\n", found[name].replace("\n", ".") + " ")
        return f'{name} = """\\\n{filled[:-3]}""".replace(".", "\\n")\n'

    return "\n".join(
        [
            HEADER,
            "# Terminal or literal -> its kind, one character.\n" + words("KINDS"),
            "# Word -> kind, for what `PATTERNS` takes for a NAME or a WORD.\n" + words("KEYWORDS"),
            "# Terminal -> regular expression, in the order in which they are tried; literals come after.\n"
            + show("PATTERNS")
            + show("LITERALS"),
            "# A rule a line: its name, and of each alternative the method (`-` if spliced, `?` if a lone\n"
            "# child stands for it) and the length. Alternatives are numbered from the first line on.\n"
            + lines("RULES"),
            "# States, a full stop between two: kinds, and for each the next state, or -1 - the rule to\n"
            "# reduce; then rules, each with the next state.\n" + sentences("STATES"),
        ]
    )


def main() -> int:
    """Write the tables, or with `--check` compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write; exit 1 if the tables are stale")
    arguments = parser.parse_args()
    text = render(tables((ASM / "ptx.lark").read_text(encoding="utf-8")))
    target = ASM / "_grammar.py"
    if arguments.check:
        return int(not target.exists() or target.read_text(encoding="utf-8") != text)
    target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
