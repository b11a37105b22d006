"""One run of a text says which changes of it change a value, and in which CTAs."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest
from command import here

import ptxkit
from ptxkit import open_device
from ptxkit.asm.mends.edit import Edit, changed
from ptxkit.asm.mends.statements import KernelText
from ptxkit.asm.mends.whatif import FLAGS, what_if
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.emulator.global_memory import BASE
from ptxkit.plan import Program, Request, flags, make
from ptxkit.running.loaded_plan import Case
from ptxkit.running.mending.trial import Trials

KERNEL = """\
#define TWICE(to, from) add.u32 to, from, from;
.version 8.0
.target sm_80
.address_size 64
.visible .entry places(.param .u64 y)
{
    .reg .b32 %cta, %thread, %other, %at;
    .reg .b64 %y;
    .reg .f32 %value;
    .reg .pred %first;
    ld.param.u64 %y, [y];
    mov.u32 %cta, %ctaid.x;
    mov.u32 %thread, %tid.x;
    and.b32 %other, %cta, 2;
    mul.lo.u32 %at, %cta, 32;
    add.u32 %at, %at, %thread;
    setp.eq.u32 %first, %cta, 0;
    @%first mul.lo.u32 %thread, %thread, 4;
    TWICE(%other, %other)
    mul.wide.u32 %y, %at, 4;
    ret;
}
"""


def change(text: KernelText, statement: str, old: str, new: str) -> Edit:
    """A change of a statement that is in the text once, where it has `old`."""
    (one,) = [one for one in text.statements if one.text.strip().startswith(statement)]
    at = one.text.rindex(old)
    return changed(one, 1.0, at, at + len(old), new)


@pytest.mark.parametrize(
    ("statement", "old", "new", "where"),
    [
        ("mul.lo.u32 %at", "%cta", "%other", [False, True, False, True]),
        ("mul.lo.u32 %at", "32", "64", [False, True, True, True]),
        ("and.b32", "2", "3", [False, True, False, True]),
        ("and.b32", "and", "or", [True, True, False, True]),
        ("setp.eq", "0", "2", [True, False, True, False]),
        ("@%first", "4", "5", [True, False, False, False]),
        ("add.u32 %at", "%at, %thread", "%thread, %at", [False] * 4),
        ("mul.wide", "4", "8", [True] * 4),
        ("add.u32 to", "from", "%thread", [True] * 4),
    ],
)
def test_where_a_value_changes(statement: str, old: str, new: str, where: list[bool]) -> None:
    """Beside others, of which it takes no notice."""
    kernel = KernelText.of(KERNEL)
    edits = [change(kernel, "mov.u32 %cta", "x", "y"), change(kernel, statement, old, new)]
    looks = what_if(kernel, edits, 4, 100)
    assert looks is not None
    assert sorted(looks.numbers) == [0, 1]
    device = open_device("emu", arch="sm_90a")
    module = device.load(looks.text)
    module.kernel().launch(grid=4, block=32, args=[0])
    address, size = module.variable(FLAGS)
    held = device.memory.data[address - BASE : address - BASE + size].reshape(2, 4)
    assert held[looks.numbers.index(0)].tolist() == [0, 1, 1, 1]  # %ctaid.y is 0.
    assert (held[looks.numbers.index(1)] != 0).tolist() == where


def test_what_is_not_looked_at() -> None:
    """Memory, results, and more than one thing at once."""
    kernel = KernelText.of(KERNEL)
    edits = [
        change(kernel, "ld.param", "y", "y + 8"),
        change(kernel, "add.u32 %at", "add.u32 %at, %at, %thread;", ""),
        change(kernel, "and.b32", "%other, %cta, 2", "%at, %cta, 2"),
    ]
    assert what_if(kernel, edits, 4, 100) is None


def test_an_error_is_that_of_its_change() -> None:
    kernel = KernelText.of(KERNEL)
    edits = [change(kernel, "and.b32", "2", "3"), change(kernel, "mul.lo.u32 %at", "%cta", "%first")]
    looks = what_if(kernel, edits, 4, 100)
    assert looks is not None
    with pytest.raises(PtxkitError) as refused:
        open_device("emu", arch="sm_90a").load(looks.text)
    assert [looks.meant_by(problem) for problem in refused.value.diagnostics] == [[1]]


def test_a_change_that_tells_wrong_ctas_from_right_ones_is_found(tmp_path: Path) -> None:
    """Half of the CTAs write wrong elements: in the others what is scaled wrongly is 0."""
    text = Path("kernels_ptx/gemm_ue5m3.ptx").read_text("utf-8")
    right = "mul.lo.u32 %expert, %expert, %column_atoms;"
    assert text.count(right) == 1
    file = tmp_path / "gemm_ue5m3.ptx"
    file.write_text(text.replace(right, right.replace("%column_atoms", "%columns")), "utf-8")
    done = here("run", str(file), "--mend", "60")
    assert done.returncode == 4
    first = re.search(r"the result is right with `([^`]*)`", done.stdout + done.stderr)
    assert first is not None, done.stdout + done.stderr
    assert first[1] == right


def test_reading_a_text_does_not_count_as_its_launch() -> None:
    """How long a launch may take is known from one whose text had been read before."""
    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 seen = 0;\n"
        ".visible .entry long()\n{\n.reg .b32 %at;\n.reg .pred %never;\nsetp.ne.u32 %never, 1, 1;\n"
        "@%never bra MORE;\nst.global.u32 [seen], 7;\nret;\nMORE:\n"
        + 4000 * "add.u32 %at, %at, %at;\n"
        + "st.global.u32 [seen], %at;\nret;\n}\n"
    )
    start = time.process_time()
    module = ptxkit.parse(text)
    reading = time.process_time() - start
    request = Request(grid=flags.extents("1", "--grid"), block=flags.extents("32", "--block"))
    case = Case(make(Program("long.ptx", None, text), module, None, request))
    device = open_device("emu", arch="sm_90a")
    assert isinstance(device, Emulator)
    trials = Trials(case, device, lambda trial, read: trial.load(read))
    seen = trials.variable(text, "seen", reading / 2)
    assert isinstance(seen, np.ndarray)
    assert seen.tolist() == [7, 0, 0, 0]
