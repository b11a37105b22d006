"""How much findings weigh: one vocabulary wherever somebody says so, of the emulator and of the checker.

A finding is allowed, warned of or denied, by what selects it: its code or the name of that (`P669`,
`MBAR-INIT-NOT-VISIBLE`), a family (`P2`), or `warnings`. The narrowest counts. What nobody says anything
about is an error, a warning or a note as whoever found it has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from ptxkit.diagnostics import (
    CodeInfo,
    Diagnostic,
    Severity,
    code_table,
    error,
    listing,
    reason,
)


class Level(StrEnum):
    """What becomes of a finding."""

    ALLOW = "allow"
    WARN = "warn"
    DENY = "deny"


Rules = Mapping[str, Level]
"""By what selects findings, what somebody wants."""

EMULATOR = ("P6",)
"""The families of what the emulator finds: its rules."""
CHECKER = ("P1", "P2", "P3", "P4", "P5")
"""The families of what `check` finds."""
WARNINGS = "warnings"
"""What selects every warning."""
SELECT = "select"
"""The key for the only findings that are wanted."""

ALWAYS = ("P601", "P608", "P610", "P611", "P614", "P630", "P676")
"""What ends a launch whatever is wanted: nothing is left to execute."""

_COMMENT = re.compile(r"//.*?\bptxkit:\s*allow\s+(\S.*)")
_PLAIN = r"P\d+|.*-.*"
_NAME = r"([A-Za-z0-9-]+)(?:[\s,:]+|$)"


def selector(name: str, families: tuple[str, ...] = EMULATOR) -> str:
    """What a code, a name of one, a family or `warnings` selects, in any case of letters.

    Raises:
        PtxkitError: P518, nothing of these families, or nothing can be changed about it.
    """
    if name.lower() == WARNINGS:
        return WARNINGS
    if name.upper() in families:
        return name.upper()
    known = {info.code: info for info in code_table().values() if info.code[:2] in families}
    names: dict[str, CodeInfo] = {info.name.upper(): info for info in known.values()}
    found = known.get(name.upper()) or names.get(name.upper())
    if found is None:
        import difflib

        near = difflib.get_close_matches(name.upper(), [*known, *names], 3)
        wanted = "the code or the name of a rule" if families == EMULATOR else "a code or its name"
        help = f"did you mean {listing(near)}?" if near else f"`ptxkit explain {families[-1]}` lists them"
        message = f"expected {wanted}, a family such as `{families[-1]}`, or `{WARNINGS}`, found `{name}`"
        raise error("P518", message, help=help)
    if found.code in ALWAYS:
        raise error("P518", f"`{found.code}`, {found.name}, ends a launch whatever is wanted")
    return found.code


def rules(given: Mapping[str, str], families: tuple[str, ...] = EMULATOR) -> Rules:
    """What somebody wants.

    Args:
        given: a level, `allow`, `warn` or `deny`, by what selects findings.
        families: those that can be selected.

    Raises:
        PtxkitError: P518, no such rule or level.
    """
    found: dict[str, Level] = {}
    for name, level in given.items():
        if level not in tuple(Level):
            raise error("P518", f"expected {listing(Level)} for `{name}`, found `{level}`")
        found[selector(name, families)] = Level(level)
    return found


def from_options(
    allow: Iterable[str], warn: Iterable[str], deny: Iterable[str], families: tuple[str, ...] = EMULATOR
) -> Rules:
    """What options of a command want, each with one selector or several between commas; as `from_table`."""
    given = {"allow": allow, "warn": warn, "deny": deny}
    return from_table({key: separated(texts) for key, texts in given.items()}, families)


def separated(texts: Iterable[str]) -> list[str]:
    """What repeated options say: `P203,P204` is two."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def from_table(
    table: Mapping[str, Any], families: tuple[str, ...] = EMULATOR, name: str = "sanitizer"
) -> Rules:
    """What a TOML table wants: `allow`, `warn`, `deny`, each a list of selectors.

    Raises:
        PtxkitError: P518, no table, another key or kind of value, no such rule, one that stands twice.
    """
    if not isinstance(table, Mapping):
        raise error("P518", f"expected a table `[{name}]`, found {table!r}")
    found: dict[str, Level] = {}
    for key, names in table.items():
        if key not in tuple(Level):
            raise error("P518", f"expected {listing(Level)} in `[{name}]`, found `{key}`")
        for selected in selectors(key, names, families):
            if found.setdefault(selected, Level(key)) != key:
                raise error("P518", f"`{selected}` stands in `{found[selected]}` and in `{key}`")
    return found


def selectors(key: str, names: Any, families: tuple[str, ...]) -> list[str]:
    """What a list in a table selects.

    Raises:
        PtxkitError: P518, it is no list, or of something else.
    """
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise error("P518", f"expected a list of codes or names for `{key}`, found {names!r}")
    return [selector(name, families) for name in names]


# ---- a project's settings


def project_rules(folder: Path) -> Rules:
    """What the project of a folder wants of the emulator's rules: its table `[sanitizer]`.

    Raises:
        PtxkitError: P519, the settings can't be read, or have another key; P518, what is wrong in the table.
    """
    return from_table(_settings(folder).get("sanitizer", {}))


def project_check(folder: Path) -> tuple[Rules, list[str]]:
    """What the project of a folder wants of the checker's findings: how much they weigh, and what alone is
    selected, nothing where all are; its table `[check]`.

    Raises:
        PtxkitError: as `project_rules`.
    """
    table = _settings(folder).get("check", {})
    rest = {key: value for key, value in table.items() if key != SELECT} if table else table
    wanted = from_table(rest, CHECKER, "check")
    return wanted, selectors(SELECT, table.get(SELECT, []), CHECKER)


def _settings(folder: Path) -> Mapping[str, Any]:
    """`[tool.ptxkit]` in pyproject.toml, or the whole of ptxkit.toml: of the file nearest above a folder that
    has settings; nothing where none has.

    Raises:
        PtxkitError: P519, it can't be read, is no TOML, or has another key.
    """
    for parent in (folder, *folder.parents):
        for name, path in (("ptxkit.toml", ()), ("pyproject.toml", ("tool", "ptxkit"))):
            file = parent / name
            try:
                text = file.read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as problem:
                raise error("P519", f"`{file}` can't be read: {reason(problem)}") from None
            if path and b"ptxkit" not in text:
                continue
            import tomllib

            try:
                found: Any = tomllib.loads(text.decode())
            except ValueError as problem:
                raise error("P519", f"`{file}` can't be read: {reason(problem)}") from None
            for key in path:
                found = found.get(key) if isinstance(found, Mapping) else None
            if isinstance(found, Mapping):
                for key in found:
                    if key not in ("sanitizer", "check"):
                        message = (
                            f"expected `sanitizer` or `check` in the settings of `{file}`, found `{key}`"
                        )
                        raise error("P519", message)
                return found
    return {}


# ---- a comment at a place


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a comment allows: `// ptxkit: allow P669, the caller fences`, on its line, or alone on the next.

    Attributes:
        codes: of the findings.
        text: how the comment names them.
        reason: why, empty where it does not say so.
        alone: whether nothing stands before the comment.
    """

    codes: frozenset[str]
    text: str
    reason: str
    alone: bool


def allowance(line: str) -> Allowance | None:
    """What a line's comment allows, by codes or names; None where it allows nothing."""
    comment = _COMMENT.search(line)
    if comment is None:
        return None
    codes: list[str] = []
    rest = comment[1]
    while (word := re.match(_NAME, rest)) and (code := _code_called(word[1])):
        if codes and not re.fullmatch(_PLAIN, word[1]):
            break  # a word of the reason, such as `trap`, that is a name by chance
        codes.append(code)
        rest = rest[word.end() :]
    if not codes:
        return None
    text = comment[1][: len(comment[1]) - len(rest)].rstrip(" \t,:")
    return Allowance(frozenset(codes), text, rest.strip(" -"), not line[: comment.start()].strip())


@cache
def _code_called(name: str) -> str | None:
    """The code that is meant by a code or the name of one."""
    called = name.upper()
    return next(
        (info.code for info in code_table().values() if called in (info.code, info.name.upper())), None
    )


# ---- what becomes of a finding


def weighed(found: Diagnostic, wanted: Rules) -> Diagnostic | None:
    """A finding as it counts: with the severity that is wanted; None where it is allowed.

    A comment allows the findings of one rule at its line, and says why: `// ptxkit: allow P669, the caller
    fences`.
    """
    level = _level(found, wanted)
    comment = _comment_on(found)
    if level is Level.ALLOW or (comment is not None and comment.reason):
        return None
    if comment is not None:
        note = f"`ptxkit: allow {comment.text}` does not count here, as it gives no reason behind the code"
        found = replace(found, notes=(*found.notes, note))
    if level is None or (level is Level.DENY) is found.is_error:
        return found
    return replace(found, severity=Severity.ERROR if level is Level.DENY else Severity.WARNING)


def _level(found: Diagnostic, wanted: Rules) -> Level | None:
    """What is wanted of a finding, by the narrowest that selects it."""
    if found.code in wanted:
        return wanted[found.code]
    if found.code in ALWAYS:
        return None
    if found.code[:2] in wanted and found.severity is not Severity.NOTE:
        return wanted[found.code[:2]]
    return wanted.get(WARNINGS) if found.severity is Severity.WARNING else None


def chosen(found: Iterable[Diagnostic], wanted: Rules, select: Iterable[str] = ()) -> list[Diagnostic]:
    """Findings as they count: those that are selected, all where nothing is, with the severity wanted."""
    only = set(select)
    return [
        counts
        for each in found
        if not only or {each.code, each.code[:2]} & only or (WARNINGS in only and not each.is_error)
        for counts in [weighed(each, wanted)]
        if counts is not None
    ]


def _comment_on(found: Diagnostic) -> Allowance | None:
    """The comment that allows what is found, at its line or alone on the line before; None: there is none."""
    if found.span is None or found.source is None:
        return None
    line = found.span.line
    for at in (line, line - 1):
        comment = allowance(found.source.line(at) or "")
        if comment is not None and found.code in comment.codes and comment.alone == (at != line):
            return comment
    return None
