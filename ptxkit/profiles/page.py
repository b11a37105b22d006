"""A profile as one HTML page, without scripts, fonts or network. Bars show shares, details waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ptxkit.profiles import LineProfile, Profile
from ptxkit.profiles.listing import COLUMNS, figures, meaning, waits

STYLE = """body{font:14px/1.45 ui-sans-serif,system-ui,sans-serif;color:#2b3036}
body{margin:2em auto;max-width:90em;padding:0 1em}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}p{color:#59636e}
table{border-collapse:collapse;width:100%}
th{position:sticky;top:0;background:#fff;font-weight:600;text-align:right;border-bottom:1px solid #c9d2dc}
th:last-child,td:last-child{text-align:left}
td,th{padding:1px 8px;white-space:nowrap}
td{font:12px ui-monospace,Menlo,Consolas,monospace;text-align:right;font-variant-numeric:tabular-nums}
td.text{white-space:pre}td.no{color:#7a838c}
tr.ran:hover td{background:#f4f6f8}
details{font:12px ui-sans-serif,system-ui,sans-serif;color:#8a6d1f}
.from{color:#7a838c}"""
HEAT, WAIT = "224,138,102", "243,214,140"
"""Colours of what warps executed and waited."""


def page(profile: Profile, title: str) -> str:
    """The page, UTF-8 text. `title`: what was run, and where."""
    head = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>"
    )
    total = profile.total
    said = (
        f"{total.warps:,} instructions of warps, {total.threads:,} of threads, in {profile.steps:,} "
        f"{profile.unit}. "
        f"{escape(_sentence(profile.axis))} {escape(_sentence(meaning(profile)))}"
    )
    parts = [head, f"<p>{said}</p>"]
    if profile.sources:
        parts += ["<h2>What it was compiled from</h2>", *_table(profile, profile.sources)]
    for name, source in profile.texts.items():
        ran = {line.place.line: line for line in profile.lines if line.place.file == name}
        if not ran:
            continue
        count = source.text.count("\n") + (not source.text.endswith("\n"))
        texts = [(number, source.line(number) or "", ran.get(number)) for number in range(1, count + 1)]
        parts += [f"<h2>{escape(name)}</h2>", _head(), *_rows(profile, texts), "</table>"]
    return "\n".join([*parts, "</body></html>\n"])


def _table(profile: Profile, lines: Sequence[LineProfile]) -> Iterator[str]:
    yield _head()
    for line in lines:
        name = line.place.file.rpartition("/")[2]
        yield _row(profile, f"{name}:{line.place.line}", line.text, line)
    yield "</table>"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _head() -> str:
    return f"<table><tr>{''.join(f'<th>{column}</th>' for column in COLUMNS)}<th></th><th></th></tr>"


def _rows(profile: Profile, texts: Sequence[tuple[int, str, LineProfile | None]]) -> Iterator[str]:
    for number, text, line in texts:
        if line is None:
            blank = "<td></td>" * len(COLUMNS)
            yield f'<tr>{blank}<td class="no">{number}</td><td class="text">{escape(text)}</td></tr>'
        else:
            yield _row(profile, str(number), text, line)


def _row(profile: Profile, label: str, text: str, line: LineProfile) -> str:
    executed, waited = profile.shares(line)
    cells = []
    for column, figure in zip(COLUMNS, figures(profile, line), strict=True):
        share, colour = {"warps": (executed, HEAT), "waits": (waited, WAIT)}.get(column, (0.0, HEAT))
        bar = f"{100 * share:.1f}%"
        style = (
            f' style="background:linear-gradient(90deg,rgba({colour},.55) {bar},transparent {bar})"'
            if share >= 0.0005
            else ""
        )
        cells.append(f"<td{style}>{escape(figure)}</td>")
    story = list(waits(profile, line))
    more = "".join(f"<div>{escape(each)}</div>" for each in story)
    where = "; inlined at ".join(str(place) for place in line.compiled_from)
    tip = f' title="{escape(where)}"' if where else ""
    below = f"<details><summary>what warps waited for</summary>{more}</details>" if story else ""
    return (
        f'<tr class="ran"{tip}>{"".join(cells)}<td class="no">{escape(label)}</td>'
        f'<td class="text">{escape(text)}{below}</td></tr>'
    )
