"""What must come out of the kernels whose cards can't say it, by numpy.

Each takes the inputs by tensor and the sizes, and gives the outputs by tensor.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Arrays = Mapping[str, np.ndarray]


def chased(inputs: Arrays, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """bench/kernels/pointer_chase.ptx: where each thread ends."""
    following = np.asarray(inputs["next"], "u4") & np.uint32(sizes["n"] - 1)
    places = np.arange(sizes["threads"], dtype="u4")
    for _ in range(sizes["steps"]):
        places = following[places]
    return {"ends": places}


def collatz(inputs: Arrays, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """bench/kernels/collatz.ptx: steps from 1, 2, .., n to 1."""
    values = np.arange(1, sizes["n"] + 1, dtype="u8")
    steps = np.zeros(sizes["n"], "u4")
    while (going := values != 1).any():
        odd = values % 2 == 1
        values = np.where(going, np.where(odd, 3 * values + 1, values // 2), values)
        steps += going
    return {"steps": steps}


REFERENCES = {"chased": chased, "collatz": collatz}
