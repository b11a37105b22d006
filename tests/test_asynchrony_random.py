"""Programs of mbarrier operations, copies and reductions, on the emulator in every order and on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from asynchronous_programs import copies, mbarriers, reductions, remote

from ptxkit.emulator import Emulator
from ptxkit.running.devices import open_device


@pytest.fixture(params=["lazy", "eager", "random", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    opened = open_device("cuda") if request.param == "cuda" else Emulator(request.param)
    yield opened
    if isinstance(opened, Emulator):
        assert opened.findings == []
    opened.close()


@pytest.mark.parametrize("seed", range(4))
def test_counts_and_phases(device: Any, seed: int) -> None:
    made = mbarriers(np.random.default_rng(seed))
    assert made.run(device).tolist() == made.out.tolist()


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_layouts_reports_and_conditional_phases(order: str) -> None:
    made = [mbarriers(np.random.default_rng(seed), later=True) for seed in range(8)]
    assert sum(program.text.count("per_element::ff") for program in made) > 40
    for seed, program in enumerate(made):
        device = Emulator(order, seed=seed)
        assert program.run(device).tolist() == program.out.tolist()
        assert device.findings == []


@pytest.mark.parametrize("seed", range(4))
def test_mbarriers_of_a_peer(device: Any, seed: int) -> None:
    made = remote(np.random.default_rng(seed))
    assert made.run(device).tolist() == made.out.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_bulk_copies(device: Any, seed: int) -> None:
    made = copies(np.random.default_rng(seed))
    assert made.run(device).tobytes() == made.out.tobytes()


@pytest.mark.parametrize("number", range(3))
def test_reductions_of_every_operator_and_type(device: Any, number: int) -> None:
    made = reductions(np.random.default_rng(number))[number]
    assert made.run(device).tobytes() == made.out.tobytes()
