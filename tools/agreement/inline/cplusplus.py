"""The `asm` statements of C++ and CUDA sources, those that macros make included."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

import pcpp

from .text import REGISTERS, Operand, Text

ALTERNATIVES = 8
"""Most combinations of a macro's definitions that are tried: one a branch of `#if`."""
DEPTH = 2
"""How deep strings in strings are searched: code that is compiled at run time stands in strings."""
KEYWORDS = frozenset(("asm", "__asm__", "__asm"))
_TOKEN = re.compile(
    r"""(?P<comment>//(?:[^\n\\]|\\.)*|/\*.*?\*/|\\\r?\n)
    |(?P<directive>^[ \t]*\#(?:[^\n\\/]|\\.|/\*.*?\*/|/(?!\*))*)
    |(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?P<inside>.*?)\)(?P=mark)")
    |(?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
    |(?P<char>'(?:[^'\\\n]|\\.)+')
    |(?P<name>[A-Za-z_]\w*)
    |(?P<number>\.?\d(?:[\w.]|(?<=[\da-fA-F])'(?=[\da-fA-F]))*)
    |(?P<other>\S)""",
    re.DOTALL | re.VERBOSE | re.MULTILINE,
)
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(\([^)]*\))?(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_NUMBER = re.compile(r"\s*(-?\s*(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*\s*")


@dataclass(frozen=True)
class Token:
    """A piece of a source: its kind, its text, what a string stands for, and its place."""

    kind: str
    text: str
    value: str
    start: int
    end: int


def scan(source: str) -> list[Token]:
    """The tokens of a source, without comments; a directive is one token."""
    found = []
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup or ""
        if match["raw"]:
            kind, value = "string", match["inside"]
        elif kind == "string":
            value = _ESCAPE.sub(_unescaped, match[0][match[0].index('"') + 1 : -1])
        else:
            value = match[0]
        if kind != "comment":
            found.append(Token(kind, match[0], value, *match.span()))
    return found


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "x":
        return chr(int(code[1:], 16) & 0xFF)
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    return "" if code == "\n" else _ESCAPES.get(code, code)


@dataclass(frozen=True)
class Macro:
    """A definition: `NAME(parameters)` or `NAME`, and what it stands for."""

    name: str
    parameters: str
    body: str

    def names(self) -> set[str]:
        """The names in it."""
        return set(re.findall(r"[A-Za-z_]\w*", self.body))


Macros = Mapping[str, Sequence[Macro]]


def definitions(tokens: Iterable[Token]) -> dict[str, list[Macro]]:
    """The macros that a file defines, each with its definitions in all branches of `#if`."""
    found: dict[str, list[Macro]] = {}
    for token in tokens:
        match = _DEFINE.match(token.text) if token.kind == "directive" else None
        if match:
            body = _TOKEN.sub(_ordinary, re.sub(r"\\\r?\n", " ", match[3])).strip()
            macro = Macro(match[1], re.sub(r"\\\r?\n", " ", match[2] or ""), body)
            if macro not in found.setdefault(macro.name, []):
                found[macro.name].append(macro)
    return found


def _ordinary(match: re.Match[str]) -> str:
    """A token as pcpp reads it: no comment, no raw string."""
    if match["comment"]:
        return " "
    return quoted(match["inside"]) if match["raw"] else match[0]


def quoted(value: str) -> str:
    """A string as C++ writes it."""
    letters = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(letters.get(letter, letter) for letter in value) + '"'


def making_asm(macros: Macros) -> set[str]:
    """The names of macros that stand for an `asm` statement, through others, too."""
    found: set[str] = set()
    inside = {name: set().union(*(macro.names() for macro in all_)) for name, all_ in macros.items()}
    while True:
        more = {n for n, names in inside.items() if n not in found and names & (KEYWORDS | found)}
        if not more:
            return found
        found |= more


@dataclass
class Finder:
    """Finds the texts of one library.

    Attributes:
        shared: macros of the whole library, for files that do not define them.
        left_out: why statements gave no text, counted.
        used: macros that make statements and stand in a source.
    """

    shared: Macros
    left_out: Counter[str] = field(default_factory=Counter)
    used: set[str] = field(default_factory=set)
    _known: dict[Macro, object] = field(default_factory=dict)
    _preprocessor: pcpp.Preprocessor = field(default_factory=pcpp.Preprocessor)

    def texts(self, source: str, where: str, depth: int = 0) -> Iterator[Text]:
        """The texts of one source.

        Args:
            source: C++ or CUDA.
            where: its file.
            depth: how many strings deep it was found.
        """
        tokens = scan(source)
        own = definitions(tokens)
        macros = {**self.shared, **own}
        makers = making_asm(macros)
        at = 0
        while at < len(tokens):
            token = tokens[at]
            at += 1
            if token.kind == "name" and (token.text in KEYWORDS or token.text in makers):
                end = _closing(tokens, at)
                stretch = tokens[at - 1 : end]
                place = f"{where}:{source.count(chr(10), 0, token.start) + 1}"
                if token.text in KEYWORDS:
                    if end == at:
                        continue
                    yield from self._statement(stretch, macros, place)
                else:
                    self.used |= _reached({token.text}, macros)
                    yield from self._expanded(stretch, macros, place)
                at = max(end, at)
            elif token.kind == "string" and depth < DEPTH and "asm" in token.value and "(" in token.value:
                yield from self.texts(token.value, where, depth + 1)

    def of_unused(self) -> Iterator[Text]:
        """The texts of the library's macros that none of its sources uses."""
        for name in sorted(making_asm(self.shared) - self.used):
            for macro in self.shared[name]:
                if KEYWORDS & macro.names():
                    yield from self.texts(macro.body, name, DEPTH)

    def _statement(self, tokens: Sequence[Token], macros: Macros, where: str) -> Iterator[Text]:
        template, operands, _ = _sections(tokens)
        given = [token for operand, _ in operands for token in _constraint(operand)]
        if all(token.kind == "string" for token in (*template, *given)):
            yield from self._parsed(tokens, where)
        else:
            yield from self._expanded(tokens, macros, where)

    def _expanded(self, tokens: Sequence[Token], macros: Macros, where: str) -> Iterator[Text]:
        """The texts of a stretch after its macros have been expanded, for each combination of definitions."""
        written = " ".join(quoted(t.value) if t.kind == "string" else t.text for t in tokens)
        reached = _reached({token.text for token in tokens if token.kind == "name"}, macros)
        several = [name for name in sorted(reached) if len(macros[name]) > 1]
        first = {name: self._read(known[0]) for name, known in macros.items() if self._read(known[0])}
        for chosen in islice(product(*(macros[name] for name in several)), ALTERNATIVES):
            self._preprocessor.macros = first | {m.name: self._read(m) for m in chosen if self._read(m)}
            made = self._preprocessor.expand_macros(self._preprocessor.tokenize(written))
            fresh = scan("".join(token.value for token in made))
            for at, token in enumerate(fresh):
                if token.text in KEYWORDS:
                    end = _closing(fresh, at + 1)
                    if end > at + 1:
                        yield from self._parsed(fresh[at:end], where)

    def _read(self, macro: Macro) -> object:
        """A definition as pcpp keeps it."""
        if macro not in self._known:
            self._preprocessor.macros = {}
            self._preprocessor.define(f"{macro.name}{macro.parameters} {macro.body}")
            self._known[macro] = self._preprocessor.macros.get(macro.name)
        return self._known[macro]

    def _parsed(self, tokens: Sequence[Token], where: str) -> Iterator[Text]:
        template, operands, colons = _sections(tokens)
        if not template:
            return
        names = [token.text for token in template if token.kind != "string"]
        if names:
            self.left_out["the text depends on something that is no macro"] += 1
            return
        found = [_operand(operand, output) for operand, output in operands]
        if None in found:
            self.left_out["an operand's constraint is none of PTX's"] += 1
            return
        value = "".join(token.value for token in template)
        yield Text(value, _tied([o for o in found if o]), plain=not colons, where=where)


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Where the parentheses end that begin at a token or after its qualifiers; the token where none do."""
    start = at
    while at < len(tokens) and tokens[at].text in (
        "volatile",
        "__volatile__",
        "__volatile",
        "inline",
        "goto",
    ):
        at += 1
    if at == len(tokens) or tokens[at].text != "(":
        return start
    depth = 0
    for position in range(at, len(tokens)):
        depth += (tokens[position].text == "(") - (tokens[position].text == ")")
        if depth == 0:
            return position + 1
    return start


def _sections(tokens: Sequence[Token]) -> tuple[list[Token], list[tuple[list[Token], bool]], int]:
    """An `asm` statement's text, its operands with whether each is an output, and its number of colons."""
    first = next(i for i, token in enumerate(tokens) if token.text == "(") + 1
    sections: list[list[list[Token]]] = [[[]]]
    depth = 0
    for token in tokens[first:-1]:
        if token.kind == "directive":
            continue
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        symbolic = (token.text == "]" and depth == 0) or token.text == "["
        if token.text == ":" and depth == 0:
            sections.append([[]])
        elif token.text == "," and depth == 0 and not symbolic and len(sections) > 1:
            sections[-1].append([])
        else:
            sections[-1][-1].append(token)
    operands = [(o, True) for o in (sections[1] if len(sections) > 1 else []) if o]
    operands += [(o, False) for o in (sections[2] if len(sections) > 2 else []) if o]
    return sections[0][0], operands, len(sections) - 1


def _constraint(operand: Sequence[Token]) -> Sequence[Token]:
    """What stands in front of an operand's expression, which is in parentheses."""
    return operand[: next((i for i, token in enumerate(operand) if token.text == "("), len(operand))]


def _operand(tokens: Sequence[Token], output: bool) -> Operand | str | None:
    """An operand; the number of the one that it is tied to; None where it is none of PTX's."""
    name = ""
    if tokens[0].text == "[" and len(tokens) > 3:
        name, tokens = tokens[1].text, tokens[3:]
    strings = _constraint(tokens)
    if any(token.kind != "string" for token in strings):
        return None
    constraint = "".join(token.value for token in strings).strip()
    letter = constraint.lstrip("=+&")
    if letter.isdigit():
        return letter
    if letter in ("n", "i"):
        inner = " ".join(token.text for token in tokens[len(strings) + 1 : -1])
        number = _NUMBER.fullmatch(inner)
        return Operand("n", name=name, value=number[1].replace(" ", "") if number else "")
    if letter not in REGISTERS:
        return None
    return Operand(letter, output, not output or "+" in constraint, name)


def _tied(found: Sequence[Operand | str]) -> tuple[Operand, ...]:
    """Operands of which some are tied to others: `"0"` is the register of the first."""
    plain = [operand for operand in found if isinstance(operand, Operand)]
    return tuple(o if isinstance(o, Operand) else Operand(plain[int(o)].letter) for o in found)


def _reached(names: set[str], macros: Macros) -> set[str]:
    found: set[str] = set()
    todo = [name for name in names if name in macros]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [n for macro in macros[name] for n in macro.names() if n in macros]
    return found
