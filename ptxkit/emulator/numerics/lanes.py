"""Recomputing a few lanes of a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def repair(result: Any, doubtful: Any, function: Callable[..., Any], *operands: Any) -> Any:
    """The result with the `doubtful` lanes computed anew by `function`, which gets operands of one axis."""
    shape = np.shape(result)
    doubtful = np.broadcast_to(doubtful, shape)
    if np.count_nonzero(doubtful) * 2 > doubtful.size:
        lanes: Any = slice(None)
    else:
        lanes = np.flatnonzero(doubtful)
    chosen = [np.broadcast_to(operand, shape).reshape(-1)[lanes] for operand in operands]
    fixed = np.array(result).reshape(-1)
    fixed[lanes] = function(*chosen)
    return fixed.reshape(shape)
