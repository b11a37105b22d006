"""A trace as a picture: one SVG to look at, without scripts and fonts of its own.

A row for each warp, each asynchronous operation and each mbarrier of a CTA, from the trace that
`trace.Recorder` gives. Warps that did the same share a row. Lines lead from the warp that issues an operation
to it, and from its end to the mbarrier that it signals. As in the trace the axis counts steps, not time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Any

Event = dict[str, Any]

WIDTH, LEFT, RIGHT, ROW, BAR = 1200, 150, 14, 22, 16
"""The picture's width, what stands left and right of the axis, a row's height and a bar's."""
LETTER = 6.4
"""Width of a letter in a bar, on average; what a font makes wider is cut off at the bar's end."""
SIGNALLED = re.compile(r"(mbarrier 0x[0-9a-f]+(?: `[^`]+`)?) of CTA (\(\d+, \d+, \d+\))")
PRODUCT = re.compile(r"wgmma\.mma_async|tcgen05\.mma")
KINDS = {
    "run": ("#8cc5b9", "a warp runs"),
    "wait": ("#f3e4c4", "a warp waits"),
    "copy": ("#6d9fd6", "a copy in flight"),
    "product": ("#e08a66", "a product in flight"),
    "other": ("#b39ac9", "another operation"),
    "phase": ("#c9d2dc", "a phase of an mbarrier"),
    "unfinished": ("#eceff2", "one not completed"),
    "columns": ("#a9c48f", "tensor memory"),
}
"""What a bar may be: its colour, and what the legend says of it."""
STYLE = """text{font:11px ui-sans-serif,system-ui,sans-serif;fill:#2b3036}
.cta{font-weight:600}
.axis{fill:#7a838c}
.grid{stroke:#e8ebee}
.link{fill:none;stroke:#59636e;stroke-width:.8;opacity:.55}
.mark{stroke:#2b3036;stroke-width:1.2}
.bar{stroke:#fff;stroke-width:.7}"""
WAITS = f"""<defs>
<pattern id="waits" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="6" height="6" fill="{KINDS["wait"][0]}"/><path d="M0 0V6" stroke="#e2cb97" stroke-width="2"/>
</pattern></defs>"""


@dataclass
class _Row:
    """One row: its label, the tracks that it shows, and their slices and instants."""

    label: str
    process: int
    tracks: list[int]
    slices: list[Event]
    marks: list[Event]
    y: float = 0.0

    @property
    def story(self) -> list[tuple[Any, ...]]:
        """What two warps must have in common to share a row."""
        facts = [(e["ts"], e.get("dur"), e["name"]) for e in (*self.slices, *self.marks)]
        return sorted(facts, key=repr)


@dataclass
class _Cta:
    """The rows of one CTA."""

    name: str
    rows: list[_Row] = field(default_factory=list)


def svg(trace: Event) -> str:
    """The picture of a trace. `trace`: what `trace.Recorder.to_json` gives."""
    ctas = _ctas(trace["traceEvents"])
    steps = max(1, trace["metadata"]["steps"])
    scale = (WIDTH - LEFT - RIGHT) / steps
    y = 8.0
    for cta in ctas:
        y += 20
        for row in cta.rows:
            row.y = y
            y += ROW
        y += 6
    bottom = y
    parts = [*_grid(steps, scale, bottom)]
    rows = {(row.process, track): row for cta in ctas for row in cta.rows for track in row.tracks}
    for cta in ctas:
        if cta.rows:
            parts.append(f'<text class="cta" x="8" y="{cta.rows[0].y - 5}">{escape(cta.name)}</text>')
        for row in cta.rows:
            parts.extend(_bars(row, scale))
    parts.extend(_links(ctas, rows, scale))
    parts.extend(_legend(ctas, bottom + 34))
    height = bottom + 66
    box = f'viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">'
    back = f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", WAITS, back, *parts, "</svg>", ""])


def _ctas(events: Iterable[Event]) -> list[_Cta]:
    """The CTAs of a trace, each with its rows: warps, operations, mbarriers, tensor memory."""
    ctas: dict[int, _Cta] = {}
    rows: dict[tuple[int, int], _Row] = {}
    for event in events:
        if event["ph"] == "M":
            if event["name"] == "process_name":
                ctas[event["pid"]] = _Cta(event["args"]["name"])
            elif event["name"] == "thread_name":
                at = event["pid"], event["tid"]
                rows[at] = _Row(event["args"]["name"], at[0], [at[1]], [], [])
            continue
        row = rows[event["pid"], event["tid"]]
        (row.slices if event["ph"] == "X" else row.marks).append(event)
    order = ("warp", "asynchronous", "mbarrier", "tensor")
    for (process, track), row in sorted(
        rows.items(), key=lambda i: (order.index(i[1].label.split()[0]), i[0])
    ):
        kept = ctas[process].rows
        last = kept[-1] if kept else None
        if (
            row.label.startswith("warp")
            and last
            and last.label.startswith("warp")
            and last.story == row.story
        ):
            last.tracks.append(track)
            first = last.label.split()[1].partition("-")[0]
            last.label = f"warps {first}-{row.label.split()[1]}"
        elif row.slices or row.marks:
            kept.append(row)
    return [cta for cta in ctas.values() if cta.rows]


def _kind(event: Event) -> str:
    if event["cat"] == "warp":
        return "run" if event["name"] == "run" else "wait"
    if event["cat"] == "mbarrier":
        return "phase" if event["args"]["complete"] else "unfinished"
    if event["cat"] == "tensor memory":
        return "columns"
    if PRODUCT.match(event["name"]):
        return "product"
    return "copy" if "cp" in event["name"].split(".") or ".async" in event["name"] else "other"


def _texts(event: Event) -> list[str]:
    """What may stand in a bar, the longest first: what it is and the line, or less of that."""
    name, line = event["name"], event["args"].get("line")
    short = {"copy": "copy", "product": "mma"}.get(_kind(event), "")
    if name == "run":
        return []
    if name.startswith("wait: "):
        name, short = "waits: " + ".".join(name.removeprefix("wait: ").split(".")[:3]), "waits"
    elif event["cat"] == "operation" and event["args"]["items"] > 1:
        name = f"{event['args']['items']} x {name}"
    if line is None:
        return [name, short]
    written = [f"{name} :{line}  {place}" for place in _written(event)]
    return [*written, f"{name} :{line}", *([f"{short} :{line}"] if short else []), f":{line}"]


def _written(event: Event) -> list[str]:
    """The line that an instruction was compiled from, without its folder, with the text and without."""
    for place in event["args"].get("compiled_from", ())[:1]:
        found = re.match(r"(?:.*?[/\\])?([^/\\:]+:\d+)(?::\d+)?(?: in .*?)?(: .*)?$", place)
        return [found[1] + (found[2] or ""), found[1]] if found else [place]
    return []


def _tooltip(event: Event) -> str:
    found = [event["name"]]
    for key, value in event["args"].items():
        between = "; inlined at " if key == "compiled_from" else ", "
        found.append(f"{key.replace('_', ' ')}: {between.join(value) if isinstance(value, list) else value}")
    return "\n".join(found)


def _bars(row: _Row, scale: float) -> Iterable[str]:
    label = re.sub(r"^(mbarrier) 0x\w+ `(.+)`", r"\1 \2", row.label)
    label = re.sub(r"^asynchronous (\d+)", lambda found: f"in flight {int(found[1]) + 1}", label)
    most = int((LEFT - 16) / LETTER)
    shown = label if len(label) <= most else f"{label[: most - 1]}…"
    name = f'<text x="{LEFT - 8}" y="{row.y + 12:g}" text-anchor="end">{escape(shown)}</text>'
    yield f"<g><title>{escape(label)}</title>{name}</g>" if shown != label else name
    for event in row.slices:
        x, width = LEFT + event["ts"] * scale, max(1.0, event["dur"] * scale)
        kind = _kind(event)
        fill = "url(#waits)" if kind == "wait" else KINDS[kind][0]
        fits = (words for words in _texts(event) if words and len(words) * LETTER < width - 6)
        text = _clipped(x + 4, row.y, width - 5, next(fits, ""))
        yield (
            f'<g><title>{escape(_tooltip(event))}</title><rect class="bar" x="{x:.1f}" y="{row.y:g}" '
            f'width="{width:.1f}" height="{BAR}" rx="2" fill="{fill}"/>{text}</g>'
        )
    for event in row.marks:
        x = LEFT + event["ts"] * scale
        yield (
            f"<g><title>{escape(_tooltip(event))}</title>"
            f'<path class="mark" d="M{x:.1f} {row.y + BAR - 5:g}v5"/></g>'
        )


def _clipped(x: float, y: float, width: float, words: str) -> str:
    """A text that ends where its room does, whatever font shows it: an inner picture of that size."""
    if not words:
        return ""
    text = f'<text y="12">{escape(words)}</text>'
    return f'<svg x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{BAR}">{text}</svg>'


def _links(ctas: list[_Cta], rows: dict[tuple[int, int], _Row], scale: float) -> Iterable[str]:
    """From the warp that issues an operation to it, and from its end to the mbarrier that it signals."""
    barriers = {(_place(cta), row.label): row for cta in ctas for row in cta.rows}
    for cta in ctas:
        for row in cta.rows:
            for event in row.slices:
                if event["cat"] != "operation":
                    continue
                begin, end = LEFT + event["ts"] * scale, LEFT + (event["ts"] + event["dur"]) * scale
                issuer = rows.get((row.process, event["args"]["warp"]))
                if issuer:
                    yield f'<path class="link" d="M{begin:.1f} {issuer.y + BAR:g}V{row.y:g}"/>'
                for barrier, place in SIGNALLED.findall(event["args"]["signal"]):
                    signalled = barriers.get((place, barrier))
                    if signalled:
                        yield f'<path class="link" d="M{end:.1f} {row.y + BAR:g}V{signalled.y:g}"/>'


def _place(cta: _Cta) -> str:
    """The coordinates of a CTA, as signals name it."""
    found = re.search(r"CTA (\(\d+, \d+, \d+\))", cta.name)
    return found[1] if found else ""


def _grid(steps: int, scale: float, bottom: float) -> Iterable[str]:
    unit = next(size for power in range(12) for m in (1, 2, 5) if steps / (size := m * 10**power) <= 12)
    for step in range(0, steps + 1, unit):
        x = LEFT + step * scale
        yield f'<path class="grid" d="M{x:.1f} 8V{bottom:g}"/>'
        yield f'<text class="axis" x="{x:.1f}" y="{bottom + 12:g}" text-anchor="middle">{step}</text>'
    yield f'<text class="axis" x="8" y="{bottom + 12:g}">steps, not time</text>'


def _legend(ctas: list[_Cta], y: float) -> Iterable[str]:
    """The colours that occur."""
    there = {_kind(event) for cta in ctas for row in cta.rows for event in row.slices}
    x = float(LEFT)
    for kind, (color, words) in KINDS.items():
        if kind in there:
            fill = "url(#waits)" if kind == "wait" else color
            yield f'<rect x="{x:g}" y="{y - 10:g}" width="14" height="12" rx="2" fill="{fill}"/>'
            yield f'<text x="{x + 19:g}" y="{y:g}">{words}</text>'
            x += 34 + len(words) * 5.6
    signs = (
        ('<path class="mark" d="M{x} {y}v5"/>', "a fence, a commit, an arrival"),
        ('<path class="link" d="M{x} {low}v10"/>', "issues it, or signals when it ends"),
        ('<text x="{x}" y="{base}">:9</text>', "the line of the file"),
    )
    x, y = float(LEFT), y + 18
    for sign, words in signs:
        yield sign.format(x=f"{x + 4:g}", y=f"{y - 6:g}", low=f"{y - 9:g}", base=f"{y:g}")
        yield f'<text x="{x + 24:g}" y="{y:g}">{words}</text>'
        x += 44 + len(words) * 5.6
