"""A profile as text: a table of the lines that did most, or the whole text with figures beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.profiles import LineProfile, Profile

COLUMNS = ("warps", "lanes", "waits", "bytes", "sectors", "conflicts", "mma")
"""Of the figures beside a line: how often warps executed it and what share that is, lanes of each, its share
of the waiting, bytes loaded and stored, sectors a request, bank conflicts, multiply-adds of tensor cores."""


def meaning(profile: Profile) -> str:
    """What the columns of a profile say, in a sentence."""
    return (
        "warps: executions, and their share; lanes: of a warp, on the average; waits: share of all "
        f"{profile.unit} waited; sectors: of 32 bytes, a request; conflicts: extra wavefronts of shared "
        "memory"
    )


def table(profile: Profile, lines: Sequence[LineProfile], width: int) -> Iterator[str]:
    """Lines with their figures, in the order given.

    Args:
        profile: that they belong to.
        lines: of it.
        width: columns of the terminal; longer lines are cut.
    """
    rows = [figures(profile, line) for line in lines]
    places = [_place(line) for line in lines]
    used = [column for column in range(len(COLUMNS)) if any(row[column] for row in rows)]
    widths = [max(len(COLUMNS[column]), *(len(row[column]) for row in rows)) for column in used]
    first = max((len(place) for place in places), default=0)
    heads = " ".join(COLUMNS[column].rjust(wide) for column, wide in zip(used, widths, strict=True))
    yield f"{'':<{first}} {heads}"
    for place, row, line in zip(places, rows, lines, strict=True):
        cells = " ".join(row[column].rjust(wide) for column, wide in zip(used, widths, strict=True))
        yield fit(f"{place:<{first}} {cells}  {line.text}", width)
        for what in waits(profile, line):
            yield fit(f"{'':<{first}} {'':<{len(heads)}}    {what}", width)


def annotated(profile: Profile, width: int) -> Iterator[str]:
    """The whole text of each file in which something was executed, figures beside each line."""
    for name, source in profile.texts.items():
        lines = {line.place.line: line for line in profile.lines if line.place.file == name}
        if not lines:
            continue
        rows = {number: figures(profile, line) for number, line in lines.items()}
        used = [column for column in range(len(COLUMNS)) if any(row[column] for row in rows.values())]
        widths = [max(len(COLUMNS[column]), *(len(row[column]) for row in rows.values())) for column in used]
        yield name
        yield " ".join(COLUMNS[column].rjust(wide) for column, wide in zip(used, widths, strict=True))
        total = source.text.count("\n") + (not source.text.endswith("\n"))
        digits = len(str(total))
        for number in range(1, total + 1):
            row = rows.get(number, ("",) * len(COLUMNS))
            cells = " ".join(row[column].rjust(wide) for column, wide in zip(used, widths, strict=True))
            yield fit(f"{cells} {number:>{digits}} | {source.line(number) or ''}".rstrip(), width)


def figures(profile: Profile, line: LineProfile) -> tuple[str, ...]:
    """The figures of a line, as `COLUMNS` has them; empty where there is nothing to say."""
    executed, waited = profile.shares(line)
    did, sectors = line.did, line.sectors_per_request
    size = sum(did.loaded.values()) + sum(did.stored.values())
    return (
        f"{short(did.warps)} {_percent(executed)}",
        f"{line.lanes:.3g}" if did.warps else "",
        _percent(waited) if did.wait_steps else "",
        short(size) if size else "",
        f"{sectors:.3g}" if sectors is not None else "",
        short(line.bank_conflicts) if line.bank_conflicts else "",
        short(did.multiply_adds) if did.multiply_adds else "",
    )


def waits(profile: Profile, line: LineProfile) -> Iterator[str]:
    """What warps waited for at a line, longest first, where the line itself does not say it."""
    found = sorted(line.did.waits.items(), key=lambda item: -item[1].steps)
    for what, wait in found:
        if what:
            times = f"{wait.times:,} times, " if wait.times else ""
            yield f"waits for {what}: {times}{wait.steps:,} {profile.unit}"


def short(count: int) -> str:
    """`512`, `33.6k`, `1.07G`: at most three digits from a thousand on."""
    value: float = count
    for unit in ("", "k", "M", "G", "T"):
        if value < 999.5 or unit == "T":
            break
        value /= 1000
    return f"{value:.3g}{unit}" if unit else str(count)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _place(line: LineProfile) -> str:
    name = line.place.file.rpartition("/")[2]
    return f"{name}:{line.place.line}" if name else str(line.place.line)


def fit(text: str, width: int) -> str:
    """A line for a terminal: cut where it is longer than that."""
    return text if len(text) <= width else text[: width - 3] + "..."
