"""Records of regions in access histories: compiled code finds and sets what numpy does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="the `jit` extra is not installed")

from ptxkit.emulator.access_history import AccessHistory
from ptxkit.emulator.asynchronous import granules
from ptxkit.emulator.asynchronous.granules import Granules
from ptxkit.emulator.asynchronous.region import Region
from ptxkit.emulator.memory import Bank

SIZE, START = 1 << 12, 64


def both(history: AccessHistory, region: Region) -> list[Granules]:
    """The granules of a region, for numpy and for compiled code."""
    found: list[Any] = []
    for jit in (False, True):
        batch = SimpleNamespace(launch=SimpleNamespace(options=SimpleNamespace(jit=jit)))
        found.append(Granules(batch, history, region))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("granule", [1, 4, 16])
@pytest.mark.parametrize("private", [False, True])
def test_runs_and_fills(monkeypatch: pytest.MonkeyPatch, granule: int, private: bool) -> None:
    monkeypatch.setattr(granules, "WORTH", 0)
    monkeypatch.setattr(granules, "ROOM", 8)
    random = np.random.default_rng(granule)
    bank = Bank(np.zeros(SIZE, np.uint8))
    for _ in range(20):
        history = AccessHistory(SIZE - START, granule, START, private)
        records = history.records("write")
        records[:] = random.integers(0, 4, len(records) // 8).repeat(8)
        count = int(random.integers(1, 30))
        start = START + random.integers(0, SIZE - START - 256, count)
        region = Region(bank, start, random.integers(0, 256, count), np.sort(random.integers(0, 5, count)))
        plain, compiled = both(history, region)
        assert compiled.compiled
        assert not plain.compiled
        found = plain.runs("write")
        assert len(found[0])
        for one, other in zip(found, compiled.runs("write"), strict=True):
            np.testing.assert_array_equal(one, other)
        made = random.integers(1, 1 << 20, count).astype(history.dtype)
        before, filled = records.copy(), []
        for each in (plain, compiled):
            records[:] = before
            each.fill("write", made)
            filled.append(records.copy())
        np.testing.assert_array_equal(*filled)
        assert (filled[0] != before).any()


def test_nothing_is_compiled_for_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(granules, "_seen", 0)
    history = AccessHistory(SIZE, 4)
    region = Region(Bank(np.zeros(SIZE, np.uint8)), np.array([0]), 16)
    history.records("write")
    _, few = both(history, region)
    assert not few.compiled
    assert [len(part) for part in few.runs("write")] == [0, 0, 0]
