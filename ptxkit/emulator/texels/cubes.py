"""From a direction to a face of a cube and the place on it. CUDA C++ Programming Guide, "Cubemap
textures"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Faces(NamedTuple):
    """Places on faces.

    Attributes:
        face: the face's number.
        s, t: coordinates from 0 to 1, float64.
    """

    face: np.ndarray
    s: np.ndarray
    t: np.ndarray


def _chosen(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
    """Where z is the longest component, where y is, and where the longest is negative: of equal ones z goes
    before y, y before x."""
    ax, ay, az = np.abs(x), np.abs(y), np.abs(z)
    of_z = (az >= ax) & (az >= ay)
    of_y = ~of_z & (ay >= ax)
    return of_z, of_y, np.where(of_z, z, np.where(of_y, y, x)) < 0


def _number(chosen: tuple[Any, Any, Any]) -> Any:
    """The number of the chosen face."""
    of_z, of_y, negative = chosen
    return np.where(of_z, 4, np.where(of_y, 2, 0)) + negative


def _turned(vector: tuple[Any, Any, Any], chosen: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """A vector as the chosen face has it: along s, along t, and outwards."""
    (x, y, z), (of_z, of_y, negative) = vector, chosen
    sign = np.where(negative, np.float32(-1), np.float32(1))
    s = np.where(of_z, sign * x, np.where(of_y, x, -sign * z))
    t = np.where(of_y, sign * z, -y)
    return s, t, sign * np.where(of_z, z, np.where(of_y, y, x))


def project(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Faces:
    """The faces that directions point at, float32. ptxas brings the longest component to 1 by its reciprocal,
    and a GPU does not divide by what came out."""
    largest = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(z))
    scale = np.float32(1) / largest
    x, y, z = (part * scale for part in (x, y, z))
    chosen = _chosen(x, y, z)
    s, t, _ = _turned((x, y, z), chosen)
    return Faces(_number(chosen).astype(np.int64), _half(s), _half(t))


def _half(part: np.ndarray) -> np.ndarray:
    """From -1..1 to 0..1, exactly: float64, for what is cut off behind it is a matter of coordinates."""
    return (part.astype(np.float64) + 1) / 2


class Step(NamedTuple):
    """From one place to another.

    Attributes:
        s, t: how far along a face, whose edge is 1 long.
        through: how far through the cube.
        stays: where the other place lies on the same face.
    """

    s: np.ndarray
    t: np.ndarray
    through: np.ndarray
    stays: np.ndarray


def step(place: Sequence[np.ndarray], change: Sequence[np.ndarray]) -> Step:
    """How far a change of a direction goes on the face that the direction points at; neighbouring faces lie
    unfolded round it, and to the opposite one the way goes straight through the cube, as on an H200."""
    x, y, z = (part.astype(np.float64) for part in place)
    dx, dy, dz = (part.astype(np.float64) for part in change)
    here, there = (x, y, z), (x + dx, y + dy, z + dz)
    chosen, found = _chosen(*here), _chosen(*there)
    stays = _number(chosen) == _number(found)
    s, t, major = _turned(here, chosen)
    largest = np.max(np.abs(there), axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    across, down, out = (part / largest for part in _turned(there, chosen))
    over_s = ~stays & (np.abs(across) >= 1)
    over_t = ~stays & ~over_s & (np.abs(down) >= 1)
    across = np.where(over_s, np.sign(across) * (2 - out), across)
    down = np.where(over_t, np.sign(down) * (2 - out), down)
    through = np.where(stays | over_s | over_t, 0.0, 1.0)
    return Step((across - s / major) / 2, (down - t / major) / 2, through, stays)


class Seam(NamedTuple):
    """Texels that may lie beyond the edge of their face.

    Attributes:
        face, x, y: of the texel that is there: on the same face or on a neighbour.
        corner: where there is none: beyond two edges.
    """

    face: np.ndarray
    x: np.ndarray
    y: np.ndarray
    corner: np.ndarray


def across_edges(face: np.ndarray, x: np.ndarray, y: np.ndarray, edge: np.ndarray) -> Seam:
    """The texels with numbers from -1 to `edge`, on faces with `edge` texels a side."""
    out_x, out_y = (x < 0) | (x >= edge), (y < 0) | (y >= edge)
    s, t = ((2 * part + 1 - edge) / edge for part in (x, y))
    one = np.ones_like(s)
    directions = np.array(
        [(one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)]
    )
    way = (
        np.choose(face, directions[:, 0]),
        np.choose(face, directions[:, 1]),
        np.choose(face, directions[:, 2]),
    )
    chosen = _chosen(*way)
    new_s, new_t, major = _turned(way, chosen)
    found = _number(chosen)
    far = [np.clip(np.floor((part / major + 1) / 2 * edge), 0, edge - 1) for part in (new_s, new_t)]
    outside = out_x | out_y
    new_x, new_y = (
        np.where(outside, there, here).astype(np.int64) for there, here in zip(far, (x, y), strict=True)
    )
    return Seam(
        np.where(outside, found, face),
        np.clip(new_x, 0, edge - 1),
        np.clip(new_y, 0, edge - 1),
        out_x & out_y,
    )
