"""The picture of the debugger's page: where each command of a session with the debugger leads.

    python tools/draw_debugging.py > docs/debug.svg

It runs the last session of docs/debug.md under the debugger and draws the lines of the kernel as rows, the
commands as columns, and a stop as a dot; `info launch` behind each command says the step.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "debug.md"
KERNEL = ROOT / "tests" / "data" / "debug_tile.ptx"
SESSION = re.compile(r"```console\n\$ ptxkit debug tile\.ptx\n(.*?)```", re.DOTALL)
ASK = "info launch"
LEFT, TOP, ROW, COLUMN = 440, 112, 20, 74
"""Where the columns begin, where the rows do, the height of a row and the width of a column."""
STYLE = """text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#2b3036}
.code{font:12px ui-monospace,SFMono-Regular,Menlo,monospace}
.number,.step{fill:#7a838c}
.row{fill:#f4f6f8}
.on{stroke:#3d8f80}
.back{stroke:#c8553d}
path{fill:none;stroke-width:2}
.dot{stroke:#fff;stroke-width:2}"""
COLORS = {"on": "#3d8f80", "back": "#c8553d"}


class Stop(NamedTuple):
    """Where a command has led: the line, and the step."""

    command: str
    line: int
    step: int
    more: str

    @property
    def way(self) -> str:
        """`back` or `on`."""
        return "back" if self.command.startswith("reverse") else "on"


def stops() -> list[Stop]:
    """Those of the page's last session."""
    session = SESSION.findall(PAGE.read_text("utf-8"))[-1]
    commands = re.findall(r"^\(debug\) (.*)$", session, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tile.ptx").write_text(KERNEL.read_text("utf-8"))
        text = "".join(f"{command}\n{ASK}\n" for command in commands if command != "quit")
        done = subprocess.run(
            [sys.executable, "-m", "ptxkit", "debug", "tile.ptx"],
            cwd=folder,
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
    answers = [part.partition("\n") for part in done.stdout.split("(debug) ")[1:]]
    found = []
    for (command, _, said), (_, _, told) in zip(answers[::2], answers[1::2], strict=False):
        line, step = re.search(r"tile\.ptx:(\d+) in `", said), re.search(r"^step (\d+)$", told, re.M)
        if line is None or step is None or command.startswith("who"):
            continue
        lanes = re.search(r", (lanes [\d, -]+);", said)
        new = re.search(r"new value: (.*)", said)
        more = f"{said.splitlines()[0]}, {new[0].strip()}" if new else lanes[1] if lanes else ""
        found.append(Stop(command, int(line[1]), int(step[1]), more))
    return found


def svg(found: list[Stop]) -> str:
    """The picture."""
    text = KERNEL.read_text("utf-8").splitlines()
    lines = list(range(min(stop.line for stop in found) - 5, max(stop.line for stop in found) + 2))
    width, height = LEFT + COLUMN * len(found) + 60, TOP + ROW * len(lines) + 46

    def at(index: int) -> tuple[float, float]:
        return LEFT + COLUMN * index + COLUMN / 2, TOP + ROW * lines.index(found[index].line) + ROW / 2

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        f"<style>{STYLE}</style>",
        "<defs>",
    ]
    for way, color in COLORS.items():
        parts.append(
            f'<marker id="{way}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L8 4L0 8z" style="fill:{color};stroke:none"/></marker>'
        )
    parts += ["</defs>", f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for row, line in enumerate(lines):
        y = TOP + ROW * row
        if row % 2 == 0:
            parts.append(f'<rect class="row" x="0" y="{y}" width="{width}" height="{ROW}"/>')
        parts.append(f'<text class="code number" x="34" y="{y + 14}" text-anchor="end">{line}</text>')
        shown = text[line - 1].rstrip()
        shown = shown if len(shown) <= 54 else f"{shown[:53]}…"
        parts.append(f'<text class="code" x="46" y="{y + 14}" xml:space="preserve">{escape(shown)}</text>')
    for index, stop in enumerate(found):
        x, y = at(index)
        parts.append(
            f'<text transform="translate({x - 4:g} {TOP - 12}) rotate(-45)" style="fill:{COLORS[stop.way]}">'
            f"{escape(stop.command)}</text>"
        )
        parts.append(
            f'<text class="step" x="{x:g}" y="{TOP + ROW * len(lines) + 18}" '
            f'text-anchor="middle">{stop.step}</text>'
        )
        if index:
            before = at(index - 1)
            parts.append(_arrow(before, (x, y), stop.way))
    for index, stop in enumerate(found):
        x, y = at(index)
        title = f"{stop.command}: line {stop.line}, step {stop.step}"
        title += f"\n{stop.more}" if stop.more else ""
        parts.append(
            f'<g><title>{escape(title)}</title><circle class="dot" cx="{x:g}" cy="{y:g}" r="6" '
            f'fill="{COLORS[stop.way]}"/></g>'
        )
    parts.append(
        f'<text class="step" x="{LEFT - 8}" y="{TOP + ROW * len(lines) + 18}" text-anchor="end">step</text>'
    )
    return "\n".join([*parts, "</svg>", ""])


def _arrow(start: tuple[float, float], end: tuple[float, float], way: str) -> str:
    """From a stop to the next one, short of its dot."""
    (x, y), (to_x, to_y) = start, end
    far = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
    near = (far - 9) / far
    tip = x + (to_x - x) * near, y + (to_y - y) * near
    return f'<path class="{way}" marker-end="url(#{way})" d="M{x:g} {y:g}L{tip[0]:.1f} {tip[1]:.1f}"/>'


def main() -> int:
    """Print the picture."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    sys.stdout.write(svg(stops()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
