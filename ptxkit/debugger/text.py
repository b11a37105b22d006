"""The words of a command, and the lines that answer it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from ptxkit.debugger.expressions import UNDEFINED, Row
from ptxkit.debugger.refusals import RefusedError
from ptxkit.diagnostics import counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.faults import Site, ranges
from ptxkit.emulator.inspection import KnownBits, RegisterState, can_show, shown

COUNT = 8
"""Elements of memory that are shown where nobody says how many, and in a line."""
WIDTH = 110
"""Characters of a line of a table, if the terminal does not say otherwise."""


# ---- words and numbers


def check_count(words: Sequence[str], least: int, most: int | None = None) -> None:
    """Refuse other than `least` to `most` arguments; exactly `least` where `most` is left out."""
    most = least if most is None else most
    if not least <= len(words) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise RefusedError(f"expected {wanted} arguments, found {len(words)}; `help` lists them")


def number(text: str) -> int:
    """A number as PTX and Python write it, not negative."""
    try:
        value = int(text, 0)
    except ValueError:
        raise RefusedError(f"expected a number, found `{text}`") from None
    if value < 0:
        raise RefusedError(f"expected a number that is not negative, found `{text}`")
    return value


def count_of(words: Sequence[str], otherwise: int) -> int:
    """COUNT of `[COUNT] [TYPE]`."""
    return max(number(words[0]), 1) if words and words[0][0].isdecimal() else otherwise


def type_of(words: Sequence[str]) -> str | None:
    """TYPE of `[COUNT] [TYPE]`."""
    if not words or (len(words) == 1 and words[0][0].isdecimal()):
        return None
    if len(words) == 2 and not words[0][0].isdecimal():
        raise RefusedError(f"expected a number, found `{words[0]}`")
    return checked_type(words[-1])


def checked_type(text: str) -> str:
    """A type that memory can be shown as."""
    kind = text.removeprefix(".")
    if not can_show(kind):
        raise RefusedError(f"expected a type such as `f32`, `s32` or `b8`, found `{text}`")
    return kind


# ---- text


def place_of(site: Site | None) -> str:
    """`line 12, `bar.sync``: where a warp stands."""
    return f"{site.where}, `{site.instruction.spelling}`" if site else "at its end"


def by_text(texts: Sequence[str | None]) -> dict[str, list[int]]:
    """The lanes of each text; None for a lane that is elsewhere."""
    found: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        if text is not None:
            found.setdefault(text, []).append(at)
    return found


def grouped(texts: Sequence[str | None], most: int = 32) -> str:
    """The lanes in one line, those of one text together: `1 in lanes 0-3, 2 in lanes 4-31`; at most so many
    texts."""
    found = [f"{text} in lanes {ranges(lanes)}" for text, lanes in by_text(texts).items()]
    return ", ".join(found[:most]) + (", ..." if len(found) > most else "")


def lane_lines(head: str, texts: Sequence[str | None]) -> list[str]:
    """A text for each lane: a line for each text where there are few, else eight lanes a line."""
    lanes_of = by_text(texts)
    if len(lanes_of) <= 4:
        return [f"{head}: {text} in lanes {ranges(lanes)}" for text, lanes in lanes_of.items()]
    eights = [(at, texts[at : at + 8]) for at in range(0, len(texts), 8)]
    return [f"{head}:", *(f"  lane {at:2}: {' '.join(text or '-' for text in row)}" for at, row in eights)]


def register_lines(register: RegisterState, kind: str, lane: int | None) -> list[str]:
    """A register in one lane, or in all, those of one value together."""
    head = f"{register.name} .{kind}"
    if register.lost:
        return [f"{head}: no value: {register.lost}"]
    if lane is not None:
        if lane >= len(register.values):
            raise RefusedError(f"expected a lane from 0 to {len(register.values) - 1}, found {lane}")
        value = register.values[lane]
        return [f"{head}: {shown(value, kind) if value else 'the lane is elsewhere'}"]
    return lane_lines(head, [shown(value, kind) if value else None for value in register.values])


def told(value: object) -> str | None:
    """What an expression is in a lane, as people write it; None where the lane is elsewhere."""
    if value is None:
        return None
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and float(np.float32(value)) == value:
        return str(np.float32(value))
    return str(value)


def texts_of(row: Row, active: Sequence[bool]) -> list[str | None]:
    """An expression in the lanes of a row that are here."""
    return [told(value) if on else None for value, on in zip(row, active, strict=True)]


def lane_table(registers: Sequence[RegisterState], lanes: Sequence[int], width: int = WIDTH) -> list[str]:
    """Registers as columns and lanes as rows, in as many tables as the width asks for."""
    columns = [
        (one.name, [shown(value, one.type) if value else "-" for value in one.values])
        for one in registers
        if not one.lost
    ]
    lines: list[str] = []
    while columns:
        taken: list[tuple[str, list[str]]] = []
        used = 4
        while columns and (not taken or used + _wide(columns[0]) + 2 <= width):
            used += _wide(columns[0]) + 2
            taken.append(columns.pop(0))
        widths = [_wide(column) for column in taken]
        heads = "  ".join(name.rjust(size) for (name, _), size in zip(taken, widths, strict=True))
        lines += [*([""] if lines else []), f"lane  {heads}"]
        for lane in lanes:
            cells = "  ".join(texts[lane].rjust(size) for (_, texts), size in zip(taken, widths, strict=True))
            lines.append(f"{lane:4}  {cells}")
    return lines


def _wide(column: tuple[str, list[str]]) -> int:
    name, texts = column
    return max(len(name), *map(len, texts))


def element_lines(address: int, values: Sequence[KnownBits], kind: str) -> list[str]:
    """Elements of memory, eight a line; lines that repeat the one before them are left out."""
    rows = [(at, [shown(v, kind) for v in values[at : at + COUNT]]) for at in range(0, len(values), COUNT)]
    lines = []
    for _, same in groupby(rows, key=lambda row: row[1]):
        (at, texts), *more = same
        lines.append(f"{address + at * DTYPES[kind].bytes:#x}: {' '.join(texts)}")
        if more:
            lines.append(f"  and {counted(len(more), 'more line')} of the same")
    return lines


def matrix_lines(
    texts: Callable[[int, int], str], rows: range, columns: range, size: tuple[int, int]
) -> list[str]:
    """A part of a matrix, with the numbers of its rows and columns.

    Args:
        texts: of an element.
        rows, columns: of the part.
        size: rows and columns of the whole.
    """
    cells = [[texts(row, column) for column in columns] for row in rows]
    widths = [max(len(str(column)), *(len(line[at]) for line in cells)) for at, column in enumerate(columns)]
    gutter = len(str(rows[-1]))
    heads = "  ".join(str(column).rjust(width) for column, width in zip(columns, widths, strict=True))
    lines = [f"{'':{gutter}}  {heads}"]
    for row, line in zip(rows, cells, strict=True):
        body = "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        lines.append(f"{row:{gutter}}  {body}")
    if (rows.start, columns.start, rows.stop, columns.stop) != (0, 0, *size):
        lines.append(f"of {size[0]} rows and {size[1]} columns")
    return lines
