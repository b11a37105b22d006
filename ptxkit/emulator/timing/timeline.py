"""The timeline of a prediction as trace events, which Perfetto shows; a microsecond there is a cycle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.emulator.timing.predict import Prediction

Event = dict[str, Any]


def events(predictions: Sequence[Prediction]) -> list[Event]:
    """Slices in the "Trace Event Format": a process a multiprocessor, a track a warp or a resource."""
    found: list[Event] = []
    processes = 0
    for one in predictions:
        tracks: dict[tuple[int, str], int] = {}
        for piece in one.simulated.timeline:
            key = piece.place, piece.track
            process = processes + piece.place
            if key not in tracks:
                tracks[key] = len(tracks)
                found += _names(
                    process, tracks[key], piece.track, f"{one.entry}, multiprocessor {piece.place}"
                )
            found.append(
                {
                    "ph": "X",
                    "name": piece.what,
                    "ts": piece.start,
                    "dur": piece.end - piece.start,
                    "pid": process,
                    "tid": tracks[key],
                    "args": {"at": piece.site.where if piece.site is not None else ""},
                }
            )
        processes += 1 + max((piece.place for piece in one.simulated.timeline), default=0)
    return found


def _names(process: int, track: int, name: str, launch: str) -> list[Event]:
    return [
        {"ph": "M", "name": "process_name", "pid": process, "args": {"name": launch}},
        {"ph": "M", "name": "thread_name", "pid": process, "tid": track, "args": {"name": name}},
    ]
