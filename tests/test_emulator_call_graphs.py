"""Random programs of functions that call each other, whose results Python computes beside them."""

import shutil

import numpy as np
import pytest
from call_graphs import WARP, Program

import ptxkit
from ptxkit.emulator import Emulator
from tools.agreement.declarations import makes_code


@pytest.mark.parametrize("order", ["lazy", "random"])
@pytest.mark.parametrize("seed", range(12))
def test_every_thread_has_the_number_that_python_has(seed, order):
    program = Program(seed)
    assert [d for d in ptxkit.check(ptxkit.parse(program.text)) if d.is_error] == []
    emulator = Emulator(order, arch="sm_90", seed=seed)
    out = emulator.empty(WARP, np.uint32)
    emulator.load(program.text).kernel("k").launch(1, WARP, [out])
    assert np.array_equal(out.numpy(), program.expected)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not here")
@pytest.mark.parametrize("seed", range(4))
def test_ptxas_takes_them(seed):
    assert makes_code(Program(seed).text, "sm_90") is None


def test_the_programs_have_all_ways_to_call_and_to_pass():
    text = "".join(Program(seed).text for seed in range(12))
    ways = (".callprototype", ".calltargets", ".alias", "table", "bra DONE", "bra SKIP", ".weak", "call.uni")
    passed = (
        ".reg .v4 .b32",
        ".reg .v2 .b64",
        ".reg .b128",
        ".reg .f16",
        ".param .align 64 .b8",
        ".param .b8",
    )
    assert [what for what in (*ways, *passed) if what not in text] == []
