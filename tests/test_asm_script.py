"""`ptxkit script`: the script makes an equal tree again, for the corpus, the kernels and generated trees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from asm_corpus import each_file, each_small_file
from asm_trees import modules
from command import here, refused
from command import ptxkit as ptxkit_command
from hypothesis import HealthCheck, given, settings

import ptxkit
from ptxkit.asm.script import script
from ptxkit.asm.tree import Directive, Function, Module
from ptxkit.isa.registry import forms, opcodes
from ptxkit.isa.sample import MODULE, PREAMBLE, samples

KERNELS_FOLDER = Path(__file__).resolve().parents[1] / "kernels_ptx"
KERNELS = sorted(KERNELS_FOLDER.rglob("*.ptx"))
calm = settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))


def executed(text: str) -> Module:
    """The module that a script makes."""
    found: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, "<script>", "exec"), found)
    made = found["module"]
    assert isinstance(made, Module)
    return made


def made_again(path: Path) -> str:
    """The script of a file, after proof that it makes the tree, the comments and the spellings again."""
    module = ptxkit.parse(path)
    text = script(module)
    again = executed(text)
    assert again == module
    assert ptxkit.write(again, canonical=True) == ptxkit.write(module, canonical=True)
    return text


@each_small_file
def test_corpus(path: Path) -> None:
    made_again(path)


@pytest.mark.slow
@each_file
def test_whole_corpus(path: Path) -> None:
    assert ".append(" not in made_again(path)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow][: at % 3]) for at, path in enumerate(KERNELS)],
    ids=lambda path: path.stem,
)
def test_kernels(path: Path) -> None:
    assert ".append(" not in made_again(path)


def test_every_form() -> None:
    """Samples of every form: those that the checker takes become calls, the others nodes."""
    statements = [
        sample.text for opcode in opcodes() for form in forms(opcode) for sample in samples(form, 2)
    ]
    head = f".version 9.5\n.target sm_107a\n.address_size 64\n{MODULE}.entry k(.param .b32 v_kernel) {{\n"
    parsed = [s for s in statements if not ptxkit.parse(f".entry k() {{\n{s}\n}}").diagnostics]
    module = ptxkit.parse("\n".join([head, PREAMBLE, *parsed, "}"]))
    text = script(module)
    assert executed(text) == module
    faulty = {found.span for found in ptxkit.check(module) if found.is_error}
    lines = {span.line for span in faulty if span}
    assert text.count("k.append(") == len(lines)
    assert len(parsed) > 7 * len(lines)


@pytest.mark.parametrize(
    "body",
    [
        "{" * 40 + "ret;" + "}" * 40,
        ".reg .u32 %r; mov.u32 %r, " + "1+" * 90 + "1;",
        ".reg .u32 %r; mov.u32 %r, " + "(" * 60 + "1" + ")" * 60 + ";",
        ".reg .u32 %class, %k, %b, %r1, %1x_; mov.u32 %class, %k; mov.u32 %b, %r1; mov.u32 %1x_, %k;",
        ".reg .u32 %r; { .reg .f32 %r; mov.f32 %r, 0f7FC00000; } mov.u32 %r, -0;",
        "L: { bra L; L: bra L; } bra L;",
        ".reg .u32 %r, %r; mov.u32 %r, 1; bra nowhere; { X: } bra X;",
        ".reg .u32 %r<4>; .reg .u32 %r2; mov.u32 %r2, %r01; mov.u32 %r3, %r4;",
        ".reg .f64 %d; mov.f64 %d, 1e400; mov.f64 %d, 0d7FF8000000000001; mov.f64 %d, 00.10;",
        '.pragma "a\\b", "e"; // comment */ "quoted"\n/* two\nlines */ ret; /* end */',
    ],
)
def test_odd_bodies(body: str) -> None:
    module = ptxkit.parse(f".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {{\n{body}\n}}\n")
    assert executed(script(module)) == module


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// only a comment\n",
        ".target sm_90\n.version 9.0\n",
        ".version 9.0\n.global .u32 x;\n.target sm_90\n",
        ".version 9.0\n.target sm_91\n.entry k() { ret; }\n",
        ".version 9.9\n.target sm_90, debug\n.address_size 32\n.visible .entry k() { ret; }\n",
        ".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 x = 1;\n.global .u32 x = 2;\n"
        ".entry k() { .reg .u32 %r; ld.global.u32 %r, [x]; }\n",
        ".version 9.0\n.target sm_90\n.func f();\n.func f() { ret; }\n.func f() { call f; }\n",
        ".version 9.0\n.target sm_90\n.entry k(.param .pred p, .param .u32 p) .maxntid 0 { ret; }\n",
    ],
)
def test_odd_modules(text: str) -> None:
    module = ptxkit.parse(text, name="odd.ptx") if "\n" in text else Module([])
    assert executed(script(module)) == module


def test_what_is_not_read_is_not_scripted() -> None:
    with pytest.raises(ptxkit.PtxkitError) as problem:
        script(ptxkit.parse(".entry k() {\n add.u32 %r1\n}\n"))
    assert problem.value.diagnostics[0].code.startswith("P1")


def test_command(tmp_path: Path) -> None:
    done = ptxkit_command("script", "gemv.ptx")
    assert done.returncode == 0, done.stderr
    path = tmp_path / "gemv.py"
    path.write_text(done.stdout)
    printed = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    assert ptxkit.parse(printed) == ptxkit.parse(KERNELS_FOLDER / "gemv.ptx")
    broken = tmp_path / "broken.ptx"
    broken.write_text(".entry k() {\n add.u32 %r1\n}\n")
    refused(here("script", broken), 1, "P102")
    refused(here("script", "nothing.ptx"), 2, "P559")


@pytest.mark.long
@calm
@given(modules)
def test_generated_trees(module: Module) -> None:
    assert executed(script(module)) == module


def test_a_node_that_stands_twice() -> None:
    """One object in two places is a directive that is given twice."""
    twice = Directive("noreturn")
    module = Module([Function("func", "f", directives=(twice, twice))])
    assert executed(script(module)) == module
    assert [found.code for found in ptxkit.check(module) if "twice" in found.message] == ["P225"]
