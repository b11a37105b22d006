"""Every form of the instruction set, on the emulator: it runs, or it says clearly why not."""

from __future__ import annotations

from collections import Counter

import pytest

from ptxkit.diagnostics import PtxkitError, code_table
from ptxkit.emulator import Emulator
from ptxkit.isa import registry
from ptxkit.isa.sample import MODULE, PREAMBLE, samples

POINTERS = " ".join(f"mov.u64 %{kind}_{i}, v_global;" for kind in ("b64", "u64", "s64") for i in range(20))
THREADS = " ".join(f"mov.u32 %{kind}_{i}, %tid.x;" for kind in ("b32", "u32", "s32") for i in range(12))
PREDICATES = " ".join(f"setp.lt.u32 %pred_{i}, %b32_{i}, 7;" for i in range(9))


def run(statement: str, assigned: bool, sanitize: bool, block: int) -> str:
    """The code of what a launch of one statement ends with, or `ok`."""
    before = f"{POINTERS} {THREADS} {PREDICATES}" if assigned else ""
    text = (
        f".version 9.0\n.target sm_100a\n.address_size 64 {MODULE}\n"
        f".entry k(.param .b64 v_kernel) {{ {PREAMBLE} {before}\n{statement}\nret;\n}}\n"
    )
    try:
        Emulator(sanitize=sanitize).load(text).kernel().launch((2,), (block,), [0])
    except PtxkitError as refused:
        return refused.diagnostics[0].code
    return "ok"


def forms(limit: int, rows: int | None = None) -> Counter[str]:
    """How launches end, of up to `limit` samples of every form or of the first `rows` of each opcode."""
    ends: Counter[str] = Counter()
    for opcode in registry.opcodes():
        for form in registry.forms(opcode)[:rows]:
            for i, sample in enumerate(samples(form, limit)):
                ends[run(sample.text, i % 2 == 0, i % 3 != 2, (64, 40)[i % 2])] += 1
    return ends


@pytest.mark.long
def test_some_samples() -> None:
    ends = forms(1, 1)
    assert set(ends) - {"ok"} <= set(code_table())
    assert ends["ok"] > 50


def test_an_access_outside_a_parameter_is_refused() -> None:
    assert run("ld.param.b32 %b32_1, [v_param+1024];", True, True, 32) == "P601"
    assert run("st.param.b32 [v_param+-4], %b32_1;", True, True, 32) == "P601"


@pytest.mark.slow
def test_samples() -> None:
    ends = forms(6)
    assert set(ends) - {"ok"} <= set(code_table())
    assert ends["ok"] > 1000
