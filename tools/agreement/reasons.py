"""Why the checker and ptxas differ on a statement, see `reasons.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .oracle import Verdict

FILE = Path(__file__).with_name("reasons.toml")
NUMBER = r"(?:[-+!~(]|\(?\.[su]64\))*(?:\d|\.\d|WARP_SZ)[^,{}\[\];]*"
"""What `<number>` in a statement's expression stands for: a number, or an expression of numbers."""


@dataclass(frozen=True)
class Reason:
    """One cause of disagreements.

    Attributes:
        name: a few words.
        statement: a regular expression that a statement's text contains.
        ptxas: a regular expression that its message contains, which is `accepts` where it accepts.
        why: in sentences.
        spelled: of operands spelled otherwise (`spellings`), where no other reason counts; `too`: there, too.
    """

    name: str
    statement: re.Pattern[str]
    ptxas: str
    why: str
    spelled: bool | str = False

    def explains(self, verdict: Verdict) -> bool:
        """Whether the disagreement is of this kind."""
        return bool(
            re.search(self.ptxas, verdict.theirs or "accepts") and self.statement.search(verdict.text)
        )


@cache
def reasons() -> tuple[Reason, ...]:
    """Every reason, in the order of the file."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(
        Reason(
            name,
            re.compile(entry["statement"].replace("<number>", NUMBER)),
            entry["ptxas"],
            " ".join(entry["why"].split()),
            entry.get("spelled", False),
        )
        for name, entry in table.items()
    )


def reason_of(verdict: Verdict, known: Sequence[Reason] | None = None) -> str | None:
    """The name of the first reason that explains a disagreement; None where none does.

    Args:
        verdict: the disagreement.
        known: the reasons that count; those that are not of spellings alone where none are given.
    """
    for reason in [reason for reason in reasons() if reason.spelled is not True] if known is None else known:
        if reason.explains(verdict):
            return reason.name
    return None


def unexplained(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The disagreements that no reason explains."""
    return [verdict for verdict in verdicts if not verdict.agrees and reason_of(verdict) is None]
