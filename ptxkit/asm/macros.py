"""Macros as pcpp expands them, and lines as it cuts them into tokens, in less time.

pcpp asks each token of each macro several times what it is. Here only names that are macros are looked at. A
text that is read again and again, by a file that includes itself, is cut only twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pcpp
from pcpp.parser import LexToken

BUILT_IN = ("__LINE__", "__COUNTER__")


def copied(token: Any) -> Any:
    """A token like another."""
    made = LexToken()
    made.__dict__.update(token.__dict__)
    return made


LexToken.__copy__ = copied


class MacroExpansion(pcpp.Preprocessor):
    """pcpp with a faster way through macros."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: dict[str, list[list[dict[str, Any]]] | None] = {}

    def group_lines(self, input: str, abssource: str) -> Iterator[list[Any]]:
        """The tokens of each line of a text."""
        if input not in self._lines:
            self._lines[input] = None
            yield from super().group_lines(input, abssource)
            return
        known = self._lines[input]
        if known is None:
            lines = super().group_lines(input, abssource)
            known = self._lines[input] = [[dict(token.__dict__) for token in line] for line in lines]
        for line in known:
            tokens = [LexToken() for _ in line]
            for token, attributes in zip(tokens, line, strict=True):
                token.__dict__.update(attributes)
                token.source = abssource
            yield tokens

    def expand_macros(self, tokens: list[Any], expanding_from: Sequence[str] = ()) -> list[Any]:
        """Replace the macros among some tokens. `expanding_from`: those that this is part of."""
        macros, name, at = self.macros, self.t_ID, 0
        while at < len(tokens):
            token = tokens[at]
            if token.type != name or (token.value not in macros and token.value not in BUILT_IN):
                at += 1
                continue
            if self.linemacrodepth == 0:
                self.linemacro = token.lineno
            self.linemacrodepth += 1
            macro = macros.get(token.value)
            if macro is None:
                self._built_in(token)
                at += 1
            elif token.value in expanding_from or token.value in token.__dict__.get("expanded_from", ()):
                at += 1
            elif macro.arglist is None:
                made = [copied(one) for one in macro.value]
                tokens[at : at + 1] = self._replacement(token, made, expanding_from)
            else:
                at = self._call(tokens, at, macro, expanding_from)
            self.linemacrodepth -= 1
            if self.linemacrodepth == 0:
                self.linemacro = 0
        return tokens

    def _built_in(self, token: Any) -> None:
        if token.value == "__LINE__" and self.expand_linemacro:
            token.type, token.value = self.t_INTEGER, self.t_INTEGER_TYPE(self.linemacro)
        elif token.value == "__COUNTER__" and self.expand_countermacro:
            token.type, token.value = self.t_INTEGER, self.t_INTEGER_TYPE(self.countermacro)
            self.countermacro += 1

    def _replacement(self, token: Any, tokens: list[Any], expanding_from: Sequence[str]) -> list[Any]:
        """What stands in place of a macro's name, of its own tokens; its macros are replaced, too."""
        macros, name, source, line = self.macros, self.t_ID, token.source, token.lineno
        made = self.expand_macros(tokens, [*expanding_from, token.value])
        for one in made:
            one.source, one.lineno = source, line
            if one.type == name and one.value in macros:
                one.expanded_from = [*one.__dict__.get("expanded_from", ()), token.value]
        return made

    def _call(self, tokens: list[Any], at: int, macro: Any, expanding_from: Sequence[str]) -> int:
        """Replace a macro with arguments, if it has them here. Returns where to go on."""
        token, after = tokens[at], at + 1
        while after < len(tokens) and tokens[after].type in (*self.t_WS, *self.t_COMMENT):
            after += 1
        if after == len(tokens) or tokens[after].value != "(":
            return after
        count, arguments, positions = self.collect_args(tokens[after:], True)
        if count == 0:
            return len(tokens)  # The list of arguments does not end.
        behind, wanted = after + count, len(macro.arglist)
        if macro.variadic:
            if len(arguments) < wanted - 1:
                plural = "s" if wanted > 2 else ""
                message = f"Macro {token.value} must have at least {wanted - 1} argument{plural}"
                self.on_error(token.source, token.lineno, message)
                return behind
            if len(arguments) == wanted - 1:
                arguments.append([])
            else:
                arguments[wanted - 1] = tokens[after + positions[wanted - 1] : behind - 1]
                del arguments[wanted:]
        elif len(arguments) != wanted and (arguments != [[]] or wanted > 1):
            message = f"Macro {token.value} requires {wanted} arguments but was passed {len(arguments)}"
            self.on_error(token.source, token.lineno, message)
            return behind
        arguments += [[] for _ in range(wanted - len(arguments))]
        made = self._replacement(token, self.macro_expand_args(macro, arguments), expanding_from)
        if len(tokens) > behind and tokens[behind].type in self.t_ID:
            space = copied(tokens[behind])
            space.type, space.value = self.t_SPACE, " "
            made.append(space)
        tokens[at:behind] = made
        return at
