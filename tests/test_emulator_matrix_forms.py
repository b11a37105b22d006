"""Every form of chapter 9.7.14 compiles on the emulator, on a target that has it."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.emulator import Emulator
from ptxkit.isa import sample
from ptxkit.isa.notation import Form
from ptxkit.isa.registry import forms

TARGETS = ("sm_90a", "sm_120a", "sm_100a")
OPCODES = ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix")
FORMS = [form for opcode in OPCODES for form in forms(opcode) if form.since.version <= (9, 0)]


def module(statement: str, target: str) -> str:
    return f"""\
.version 9.0
.target {target}
.address_size 64
{sample.MODULE}
.visible .entry k(.param .align 16 .b8 v_kernel[64])
{{
    {sample.PREAMBLE}
    {statement}
    ret;
}}
"""


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.syntax.split("  ")[0].replace(" ", "_")[:90])
def test_form(form: Form) -> None:
    compiled = 0
    for made in sample.samples(form, 6):
        for target in TARGETS:
            text = module(made.text, target)
            if any(finding.is_error for finding in ptxkit.check(ptxkit.parse(text))):
                continue
            assert Emulator().load(text).kernel("k").program is not None
            compiled += 1
            break
    assert compiled
