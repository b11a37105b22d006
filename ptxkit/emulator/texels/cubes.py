"""From a direction to a face of a cube and the place on it. CUDA C++ Programming Guide, "Cubemap
textures"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Faces(NamedTuple):
    """Places on faces: the face's number, and its coordinates from 0 to 1."""

    face: np.ndarray
    s: np.ndarray
    t: np.ndarray


def project(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Faces:
    """The faces that directions point at, float32. Of equal magnitudes z goes before y, y before x."""
    largest = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(z))
    scale = np.float32(1) / largest
    x, y, z = (part * scale for part in (x, y, z))
    ax, ay, az = np.abs(x), np.abs(y), np.abs(z)
    of_z = (az >= ax) & (az >= ay)
    of_y = ~of_z & (ay >= ax)
    negative = np.where(of_z, z, np.where(of_y, y, x)) < 0
    face = np.where(of_z, 4, np.where(of_y, 2, 0)) + negative
    sign = np.where(negative, np.float32(-1), np.float32(1))
    s = np.where(of_z, sign * x, np.where(of_y, x, -sign * z))
    t = np.where(of_y, sign * z, -y)
    major = np.where(of_z, az, np.where(of_y, ay, ax))
    return Faces(face.astype(np.int64), _half(s, major), _half(t, major))


def _half(minor: np.ndarray, major: np.ndarray) -> np.ndarray:
    """From -1..1 to 0..1."""
    return ((minor.astype(np.float64) / major + 1) / 2).astype(np.float32)
