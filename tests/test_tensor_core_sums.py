"""Sums that an H200 computed, recorded word for word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptxkit.emulator import tensor_cores
from ptxkit.emulator.tensor_cores import find

OBSERVED = Path(__file__).parent / "data" / "f16_sums.txt"
"""With D of f16: sums that round to zero from either side, and sums whose last bits decide about a half."""
WIDTHS = {"f16": np.uint16, "e4m3": np.uint8, "e5m2": np.uint8}


def observed() -> dict[str, list[list[str]]]:
    """The columns behind an instruction, by instruction."""
    found: dict[str, list[list[str]]] = {}
    for line in OBSERVED.read_text().splitlines():
        if not line.startswith("#"):
            instruction, *columns = line.split()
            found.setdefault(instruction, []).append(columns)
    return found


def elements(text: str, name: str) -> np.ndarray:
    """The codes in a string of hexadecimal digits, the first one first."""
    width = np.dtype(WIDTHS[name])
    return np.frombuffer(bytes.fromhex(text), width.newbyteorder(">")).astype(width)


@pytest.mark.parametrize("instruction", observed())
def test_sums(instruction: str) -> None:
    """A sum that rounds to zero is +0; terms are cut as if there were one with the exponent of zero."""
    opcode, *parts = instruction.split(".")
    a_type, b_type = parts[-3:-1] if opcode == "mma" else parts[-2:]
    rows = observed()[instruction]
    a = np.stack([elements(row[0], a_type) for row in rows], axis=1)
    b = np.stack([elements(row[1], b_type) for row in rows], axis=1)
    c = np.array([int(row[2], 16) for row in rows], np.uint16)
    factors = tensor_cores.decode(a[:, None], a_type), tensor_cores.decode(b[:, None], b_type)
    found = tensor_cores.multiply(find((9, 0), opcode, a_type), *factors, c[None], ("f16", "f16"))[0]
    assert [f"{code:04x}" for code in found] == [row[3] for row in rows]
