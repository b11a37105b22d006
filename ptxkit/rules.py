"""How much a breach of the emulator's rules weighs: one vocabulary wherever somebody says so.

Every rule has a code of family P6 and a name: `P669`, `MBAR-INIT-NOT-VISIBLE`. A breach is allowed, warned of
or denied; what nobody says anything about is an error or a warning as the emulator has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from ptxkit.diagnostics import CodeInfo, Diagnostic, Severity, code_info, code_table, error, listing


class Level(StrEnum):
    """What becomes of a breach of a rule."""

    ALLOW = "allow"
    WARN = "warn"
    DENY = "deny"


Rules = Mapping[str, Level]
"""By code, what somebody wants."""

ALWAYS = ("P601", "P608", "P610", "P611", "P614", "P630", "P676")
"""What ends a launch whatever is wanted: nothing is left to execute."""

_COMMENT = r"//.*?\bptxkit:\s*allow\s+([A-Za-z0-9-]+)[\s,:]+(\S.*)"


def rule(name: str) -> CodeInfo:
    """The rule that a code or a name stands for, in any case of letters.

    Raises:
        PtxkitError: P518, there is none, or nothing can be changed about it.
    """
    rules = {info.code: info for info in code_table().values() if info.code.startswith("P6")}
    names = {info.name.upper(): info for info in rules.values()}
    found = rules.get(name.upper()) or names.get(name.upper())
    if found is None:
        import difflib

        near = difflib.get_close_matches(name.upper(), [*rules, *names], 3)
        help = f"did you mean {listing(near)}?" if near else "`ptxkit explain P6` lists them"
        raise error("P518", f"expected the code or the name of a rule, P6.., found `{name}`", help=help)
    if found.code in ALWAYS:
        raise error("P518", f"`{found.code}`, {found.name}, ends a launch whatever is wanted")
    return found


def rules(given: Mapping[str, str]) -> Rules:
    """What somebody wants, by code.

    Args:
        given: a level, `allow`, `warn` or `deny`, by the code or name of a rule.

    Raises:
        PtxkitError: P518, no such rule or level.
    """
    found: dict[str, Level] = {}
    for name, level in given.items():
        if level not in tuple(Level):
            raise error("P518", f"expected {listing(Level)} for `{name}`, found `{level}`")
        found[rule(name).code] = Level(level)
    return found


def from_options(allow: Iterable[str], warn: Iterable[str], deny: Iterable[str]) -> Rules:
    """What options of a command want; as `from_table`."""
    return from_table({"allow": list(allow), "warn": list(warn), "deny": list(deny)})


def from_table(table: Mapping[str, Any]) -> Rules:
    """What a TOML table `[sanitizer]` wants: `allow`, `warn`, `deny`, each a list of codes or names.

    Raises:
        PtxkitError: P518, no table, another key or kind of value, no such rule, one that stands twice.
    """
    if not isinstance(table, Mapping):
        raise error("P518", f"expected a table `[sanitizer]`, found {table!r}")
    found: dict[str, Level] = {}
    for key, names in table.items():
        if key not in tuple(Level):
            raise error("P518", f"expected {listing(Level)} in `[sanitizer]`, found `{key}`")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise error("P518", f"expected a list of codes or names for `{key}`, found {names!r}")
        for name in names:
            code = rule(name).code
            if found.setdefault(code, Level(key)) != key:
                raise error("P518", f"`{code}` stands in `{found[code]}` and in `{key}`")
    return found


def weighed(found: Diagnostic, wanted: Rules) -> Diagnostic | None:
    """A finding as it counts: with the severity that is wanted; None where it is allowed.

    A comment allows the findings of one rule at its line, and says why: `// ptxkit: allow P669, the caller
    fences`.
    """
    level = wanted.get(found.code)
    if level is Level.ALLOW or _silenced(found):
        return None
    if level is None or (level is Level.DENY) is found.is_error:
        return found
    return replace(found, severity=Severity.ERROR if level is Level.DENY else Severity.WARNING)


def _silenced(found: Diagnostic) -> bool:
    if found.span is None or found.source is None:
        return False
    comment = re.search(_COMMENT, found.source.line(found.span.line) or "")
    if comment is None:
        return False
    info = code_info(found.code)
    return comment[1].upper() in (found.code, info.name.upper() if info else found.code)
