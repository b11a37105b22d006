"""NVIDIA's assembler as a second opinion, and what happens when it is missing, crashes or hangs."""

import os
import subprocess
import sys

import pytest

import ptxkit
from ptxkit.diagnostics import Diagnostic, PtxkitError, Span
from ptxkit.toolchain import assembler
from ptxkit.toolchain.assembler import assemble, second_opinion
from ptxkit.toolchain.nvjitlink import MISSING
from tests.command import here

HEAD = ".version 8.0\n.target {target}\n.address_size 64\n"
KERNEL = (
    HEAD
    + """.visible .entry copy(.param .u64 from, .param .u64 to)
{{
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.b32 %r1, [%rd1];
  {statement}
  st.global.b32 [%rd2], %r1;
  ret;
}}
"""
)


def kernel(statement="", target="sm_80"):
    return ptxkit.parse(KERNEL.format(statement=statement, target=target))


@pytest.fixture(scope="session")
def real():
    """An assembler that is there."""
    try:
        return assemble(kernel()).assembler
    except PtxkitError as problem:
        pytest.skip(f"{problem.diagnostics[0].message}: nvJitLink or ptxas is needed")


def test_machine_code_and_what_it_uses(real):
    assembly = assemble(kernel())
    assert assembly.accepted
    assert assembly.cubin[:4] == b"\x7fELF"
    assert assembly.target == "sm_80"
    assert assembly.usage["copy"].registers > 0
    assert not [finding for finding in assembly.diagnostics if finding.is_error]


@pytest.mark.parametrize(
    ("own", "asked", "target"),
    [("sm_80", "sm_90a", "sm_90a"), ("sm_90", None, "sm_90"), ("sm_50", None, "sm_75")],
)
def test_what_it_makes_code_for(real, own, asked, target):
    assembly = assemble(kernel(target=own), asked)
    assert (assembly.target, assembly.accepted) == (target, True)


def test_its_messages_stand_in_our_frames(real):
    module = kernel("add.s32 %r1, %r1, %r9;")
    assembly = assemble(module)
    assert not assembly.accepted
    finding = assembly.diagnostics[0]
    assert (finding.code, finding.span.line) == ("P706", 10)
    assert finding.source is module.source


def test_a_module_that_was_changed_is_shown_as_it_is_written(real):
    module = kernel("add.s32 %r1, %r1, %r9;")
    module.statements.insert(3, ptxkit.parse(".global .b32 more;\n").statements[0])
    finding = assemble(module).diagnostics[0]
    assert finding.source.line(finding.span.line).strip() == "add.s32 %r1, %r1, %r9;"


def test_a_target_that_does_not_exist():
    with pytest.raises(PtxkitError) as raised:
        assemble(kernel(), "sm_42")
    assert raised.value.diagnostics[0].code == "P305"


def test_the_assembler_is_heard_where_the_checker_is_silent(real):
    text = KERNEL.format(statement="mov.b32 %r1, buffer;", target="sm_80").replace(
        ".visible", ".shared .b8 buffer[99999];\n.visible"
    )
    module = ptxkit.parse(text.replace("st.global", "ld.shared.b32 %r1, [buffer+8];\n  st.global"))
    found = ptxkit.check(module)
    assert not [finding for finding in found if finding.is_error]
    heard = [finding for finding in second_opinion(module, found) if finding.is_error]
    assert [finding.code for finding in heard] == ["P706"]
    assert "shared" in heard[0].message


def test_a_line_with_an_error_of_ours_is_not_reported_twice(real):
    module = kernel("add.f23 %r1, %r1, %r1;")
    found = ptxkit.check(module)
    assert [finding.code for finding in second_opinion(module, found)] == ["P213"]


def test_a_note_says_where_the_checker_is_wrong(real):
    module = kernel()
    mistaken = Diagnostic("P217", "expected something else", Span(9, 3, 9, 5), source=module.source)
    found = second_opinion(module, [mistaken])
    assert [finding.code for finding in found] == ["P217", "P719"]


def test_the_command_line(real, tmp_path):
    file = tmp_path / "bad.ptx"
    file.write_text(KERNEL.format(statement="add.s32 %r1, %r1, 1;", target="sm_80"))
    done = here("check", "--ptxas", file)
    assert (done.returncode, done.stdout) == (0, "1 file checked: no findings\n")


# ---- an assembler that is missing, crashes or hangs


@pytest.fixture
def other_ptxas(tmp_path, monkeypatch):
    """Puts a script in the place of every assembler."""

    def put(script):
        path = tmp_path / "ptxas"
        path.write_text(f"#!{sys.executable}\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(assembler, "_by_nvjitlink", lambda *given: None)

    return put


def refusal(**given):
    with pytest.raises(PtxkitError) as raised:
        assemble(kernel(), **given)
    (diagnostic,) = raised.value.diagnostics
    return diagnostic


def test_a_crash_is_a_diagnostic(other_ptxas):
    other_ptxas("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    diagnostic = refusal()
    assert diagnostic.code == "P717"
    assert "signal 11" in diagnostic.message


def test_a_hang_is_a_diagnostic(other_ptxas):
    other_ptxas("import time; time.sleep(60)")
    assert refusal(timeout=0.5).code == "P718"


def test_no_assembler_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(assembler, "_by_nvjitlink", lambda *given: None)
    diagnostic = refusal()
    assert diagnostic.code == "P716"
    assert "pip install" in diagnostic.help


def test_the_other_process_says_when_nvjitlink_is_missing(tmp_path):
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").write_text("raise ImportError('hidden')\n")
    done = subprocess.run(
        [sys.executable, "-m", "ptxkit.toolchain.nvjitlink", "sm_80"],
        input=b"",
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == MISSING
