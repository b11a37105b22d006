"""`ptxkit doctor` and the facts behind it."""

from __future__ import annotations

import json

import pytest
from command import ptxkit

from ptxkit.diagnostics import PtxkitError
from ptxkit.driver import device_count
from ptxkit.machine.doctor import FactState, examine


def gpus() -> int:
    try:
        return device_count()
    except PtxkitError:
        return 0


def test_facts_agree_with_what_can_be_opened() -> None:
    facts = {fact.name: fact for fact in examine()}
    assert facts["ptxkit"].state is FactState.GOOD
    assert facts["CUDA bindings"].state is FactState.GOOD
    assert sum(name.startswith("cuda:") for name in facts) == gpus()
    if not gpus():
        missing = facts["driver"] if facts["driver"].state is FactState.MISSING else facts["GPU"]
        assert missing.state is FactState.MISSING
        assert "--device emu" in missing.mend


def test_what_is_missing_has_a_remedy_and_what_is_good_has_none() -> None:
    for fact in examine():
        assert (fact.mend is not None) == (
            fact.state is FactState.MISSING
        ) or fact.state is FactState.OPTIONAL


def test_the_verb_prints_and_ends_well() -> None:
    done = ptxkit("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert "CUDA bindings" in done.stdout
    if not gpus():
        assert "--device emu" in done.stdout


def test_the_verb_speaks_json() -> None:
    done = ptxkit("doctor", "--json")
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    assert {fact["name"] for fact in document["facts"]} >= {"ptxkit", "driver", "nvJitLink", "ptxas"}
    assert all(fact["state"] in ("good", "missing", "optional") for fact in document["facts"])


def test_every_extra_and_tool_is_looked_for() -> None:
    facts = {fact.name: fact for fact in examine()}
    assert set(facts) >= {"jit", "plot", "lsp", "cluster", "compute-sanitizer", "ncu", "NVML", "nvdisasm"}
    for name in ("jit", "plot", "lsp", "cluster"):
        if facts[name].state is FactState.OPTIONAL:
            assert facts[name].mend == f"pip install 'ptxkit[{name}]'"
        else:
            assert all(facts[name].details.values())


def test_missing_tools_are_no_failure(tmp_path) -> None:
    done = ptxkit("doctor", PATH=str(tmp_path))
    assert done.returncode == 0
    assert "not on PATH" in done.stdout


@pytest.mark.gpu
def test_a_gpu_is_described() -> None:
    facts = {fact.name: fact for fact in examine()}
    first = facts["cuda:0"]
    assert first.details["sm_count"] > 0
    assert first.details["memory"] > 1 << 30
    assert first.details["compute_mode"] in ("default", "exclusive process")
    assert facts["driver"].details["driver"] is not None
    assert ".version" in facts["driver"].found
