"""What everyday commands cost: memory. Times are no test; tools/measure_everyday.py measures them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ptxkit

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from measure_everyday import LARGE, MEMORY, large, memory


def test_the_large_file_is_right() -> None:
    text = large(200_000)
    assert len(text) >= 200_000
    module = ptxkit.parse(text)
    assert len(module.entries) > 1
    assert not any(found.is_error for found in ptxkit.check(module))


@pytest.mark.slow
def test_a_large_file_is_checked_in_little_memory() -> None:
    assert memory(LARGE)["bytes"] < MEMORY
