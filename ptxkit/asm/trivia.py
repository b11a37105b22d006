"""White space and comments between tokens, taken apart."""

from __future__ import annotations

import re
from typing import NamedTuple

_TRIVIA = re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)|(?P<newline>\n)|[^\n/#]+", re.DOTALL)


class Comments(NamedTuple):
    """What a stretch of white space and comments holds.

    Attributes:
        trailing: comments on the line of the token before.
        own_line: (whether a blank line precedes, the comment), for those that stand on lines of their own.
        blank: whether a blank line precedes the token behind.
    """

    trailing: list[str]
    own_line: list[tuple[bool, str]]
    blank: bool

    @property
    def ends_line(self) -> bool:
        """Whether the token behind must stand on another line than the one before."""
        return bool(self.own_line) or any(
            comment.startswith("//") or "\n" in comment for comment in self.trailing
        )


def read_comments(trivia: str) -> Comments:
    """Take white space and comments apart."""
    trailing: list[str] = []
    own_line: list[tuple[bool, str]] = []
    newlines = 0
    broken = False
    for match in _TRIVIA.finditer(trivia):
        if match.lastgroup == "newline":
            newlines += 1
            broken = True
        elif match.lastgroup == "comment":
            comment = match[0].replace("\r\n", "\n").rstrip()
            if broken or comment.startswith("#"):
                own_line.append((newlines > 1, comment))
            else:
                trailing.append(comment)
            newlines = 0
    return Comments(trailing, own_line, newlines > 1)
