"""The values of an array, each once."""

from __future__ import annotations

from typing import Any

import numpy as np


def distinct(values: Any) -> np.ndarray:
    """The values of an array, each once, in ascending order.

    What `np.unique` gives without further arguments; the first call of that one loads `numpy.ma`, which takes
    longer than many a launch.
    """
    flat = np.sort(values, axis=None)
    first = np.ones(flat.shape, bool)
    np.not_equal(flat[1:], flat[:-1], out=first[1:])
    return flat[first]
