"""Mutated inputs end in diagnostics: the cases of tools/fuzz.py, a few thousand of them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.long
TOOL = Path(__file__).resolve().parents[1] / "tools" / "fuzz.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz"] = module
    spec.loader.exec_module(module)
    return module


def test_mutated_inputs_end_in_diagnostics(fuzz: ModuleType) -> None:
    found = fuzz.run(1, range(1500))
    assert found.failures == []
    assert found.cases == 1500
    assert set(found.kinds) == set(fuzz.KINDS)
    families = {code[:2] for code in found.codes}
    assert {"P1", "P2", "P3"} <= families
    assert found.clean > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_mutated_inputs_end_in_diagnostics(fuzz: ModuleType, seed: int) -> None:
    assert fuzz.run(seed, range(20_000)).failures == []


def test_a_case_is_the_same_again(fuzz: ModuleType) -> None:
    assert [fuzz.case(5, number) for number in range(20)] == [fuzz.case(5, number) for number in range(20)]
    assert fuzz.case(5, 0) != fuzz.case(6, 0)


def test_what_goes_wrong_is_noticed(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz.ptxkit, "write", lambda module, canonical=False: "something else")
    _, wrong = fuzz.attempt(".version 9.0\n", closely=False)
    assert "not written back" in wrong
    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    fuzz.signal.signal(fuzz.signal.SIGPROF, fuzz._out_of_time)
    monkeypatch.setattr(fuzz, "parse_module", lambda text: [x for x in iter(int, 1)])
    _, wrong = fuzz.attempt(".version 9.0\n", closely=False)
    assert wrong.startswith("TimeoutError")


def test_runs_are_joined(fuzz: ModuleType) -> None:
    origin = {"commit": "c", "date": "d", "modified": False, "machine": {}}
    parts = [fuzz.document(fuzz.run(7, range(at, at + 20)), 7, at, 1.0, origin) for at in (20, 0)]
    whole = fuzz.joined(parts)
    assert whole["cases"] == 40
    assert sum(whole["made_from"].values()) == 40
    assert [run["first"] for run in whole["runs"]] == [20, 0]
    with pytest.raises(SystemExit, match="case 10 of seed 7 is in two runs"):
        fuzz.joined([{**parts[0], "first": 10}, parts[1]])
    assert fuzz.joined([{**parts[0], "seed": 8, "first": 10}, parts[1]])["cases"] == 40
