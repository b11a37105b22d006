"""A roofline picture: operations a second over operations a byte, beneath the measured roofs.

S. Williams, A. Waterman, D. Patterson, Roofline: an insightful visual performance model for multicore
architectures, CACM 52 (2009). Kernels whose problem counts no operations are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ptxkit.bench.measurement import BenchState
from ptxkit.diagnostics import error
from ptxkit.support.atomic_file import check_folder, write_atomically

_MARKERS = "osD^vP*X"
_ROOFS = {"problem": "the problems' own traffic", "read": "read-only sweep", "copy": "copy"}


def check(path: Path) -> None:
    """Whether a picture can be drawn into a file: asked before the measuring.

    Raises:
        PtxkitError: P524, matplotlib is missing or does not know the format; P567, there is no such folder.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise error("P524", "matplotlib is not installed", help="pip install 'ptxkit[plot]'") from None
    formats = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        listed = ", ".join(f"`.{name}`" for name in sorted(formats))
        raise error("P524", f"expected a file {listed}, found `{path}`")
    check_folder(path)


def roofline(states: Sequence[BenchState], path: Path) -> bool:
    """Draw the states that have a figure into a file; its suffix says which format.

    Returns:
        Whether there was anything to draw.

    Raises:
        PtxkitError: P567, the file can't be written.
    """
    from matplotlib.figure import Figure

    drawn = [state for state in states if state.rate and state.bandwidth]
    if not drawn:
        return False
    figure = Figure(figsize=(8, 5), layout="constrained")
    _draw(figure.add_subplot(), drawn)
    format = path.suffix.removeprefix(".").lower()
    write_atomically(path, lambda file: figure.savefig(file, dpi=150, format=format))
    return True


def _draw(axes: Any, states: Sequence[BenchState]) -> None:
    intensities = [_intensity(state) for state in states]
    low, high = min(intensities) / 4, max(intensities) * 4
    for name, label in _ROOFS.items():
        bandwidth = max(_bandwidth(state, name) for state in states)
        if not bandwidth:
            continue
        axes.plot(
            [low, high],
            [low * bandwidth, high * bandwidth],
            linewidth=1,
            linestyle="-" if name == "problem" else "--",
            label=f"{label}: {bandwidth / 1e12:.2f} TB/s",
        )
    peaks = {
        state.arithmetic.dtype: rate
        for state in states
        if state.arithmetic and state.floor and (rate := state.arithmetic.rate(state.floor))
    }
    for dtype, rate in peaks.items():
        axes.axhline(rate, linewidth=1, linestyle=":", label=f"{dtype} products: {rate / 1e12:.0f} Top/s")
    files = list(dict.fromkeys(state.plan.program.name for state in states))
    for number, file in enumerate(files):
        own = [state for state in states if state.plan.program.name == file]
        axes.plot(
            [_intensity(state) for state in own],
            [state.rate for state in own],
            linestyle="none",
            marker=_MARKERS[number % len(_MARKERS)],
            label=file,
        )
        for state in own:
            name = state.plan.preset or " ".join(f"{k}={v}" for k, v in state.plan.sizes.items())
            place = (_intensity(state), state.rate)
            axes.annotate(name, place, (6, -10), textcoords="offset points", fontsize=7)
    device = next((state.report.device for state in states if state.report), "")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="operations a byte",
        ylabel="operations a second, time above the floor",
        title=device,
    )
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend(fontsize=8)


def _intensity(state: BenchState) -> float:
    assert state.report
    assert state.report.cost
    return state.report.cost.operations / state.report.cost.bytes


def _bandwidth(state: BenchState, name: str) -> float:
    """A roof's bytes a second, in the time above the floor; 0 where the state has no such roof."""
    for roof in state.roofs:
        if roof.name == name and state.floor and roof.figure.seconds > state.floor.seconds:
            above = roof.figure.seconds - state.floor.seconds
            return (roof.bytes_read + roof.bytes_written) / above
    return 0.0
