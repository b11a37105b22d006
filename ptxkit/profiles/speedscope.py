"""A profile for Speedscope: what warps executed, waited and moved, as flame graphs over source lines.

The format: speedscope's file-format-schema.json, profiles of type `sampled`. A stack begins with the
function, goes on with where a compiler inlined what, outermost first, and ends with the line of PTX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.profiles import LineProfile, Profile

FORMAT = "https://www.speedscope.app/file-format-schema.json"
WEIGHTS: dict[str, tuple[str, Callable[[LineProfile], int]]] = {
    "instructions of warps": ("none", lambda line: line.did.warps),
    "steps that warps waited": ("none", lambda line: line.did.wait_steps),
    "bytes of global memory": ("bytes", lambda line: line.did.loaded["global"] + line.did.stored["global"]),
    "multiply-adds of tensor cores": ("none", lambda line: line.did.multiply_adds),
}
"""The profiles of a file: what a line weighs in each, and in which unit of the format."""


def document(profile: Profile, name: str) -> dict[str, Any]:
    """The file. `name`: of the whole."""
    frames: dict[tuple[str, str, int], int] = {}

    def frame(label: str, file: str = "", line: int = 0) -> int:
        return frames.setdefault((label, file, line), len(frames))

    stacks = [_stack(line, frame) for line in profile.lines]
    profiles = []
    for title, (unit, weigh) in WEIGHTS.items():
        kept = [
            (stack, weigh(line)) for stack, line in zip(stacks, profile.lines, strict=True) if weigh(line)
        ]
        if kept:
            weights = [weight for _, weight in kept]
            samples = [stack for stack, _ in kept]
            profiles.append(
                {
                    "type": "sampled",
                    "name": title,
                    "unit": unit,
                    "startValue": 0,
                    "endValue": sum(weights),
                    "samples": samples,
                    "weights": weights,
                }
            )
    return {
        "$schema": FORMAT,
        "exporter": "ptxkit profile",
        "name": name,
        "activeProfileIndex": 0,
        "profiles": profiles,
        "shared": {
            "frames": [
                {"name": label, **({"file": file, "line": line} if file else {})}
                for label, file, line in frames
            ]
        },
    }


def _stack(line: LineProfile, frame: Callable[..., int]) -> list[int]:
    """The numbers of the frames of a line, outermost first."""
    found = [frame(line.functions[0] if line.functions else "?")]
    for place in reversed(line.compiled_from):
        label = f"{place.function or place.file.rpartition('/')[2]}:{place.line}"
        found.append(frame(label, place.file, place.line))
    return [*found, frame(f"{line.place.line}: {line.text}", line.place.file, line.place.line)]
