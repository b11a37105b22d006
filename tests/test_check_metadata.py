"""`.metadata_section`: records for profilers, beside `trace.mark`, as ptxas 13.5 takes them."""

import subprocess

import pytest

import ptxkit
from ptxkit.asm.format import format_module
from ptxkit.asm.script import script
from tools.agreement import assemblers

NEWEST = list(assemblers.RELEASES)[-1]
DOMAIN = ".metadata_domain 1\n"
RECORD = '.metadata 1 {\n"event_annotation_record",\n.b32 1, // a comment\n"x"\n}'
CASES = [
    # version, target, sections, statement, code
    ("9.5", "sm_107a", ["", RECORD], "", "P225"),
    ("9.5", "sm_107a", [DOMAIN + RECORD], "trace.mark 1;", None),
    ("9.5", "sm_107f", [DOMAIN], "trace.mark 1;", None),
    ("9.5", "sm_107f", [RECORD], "trace.mark 1;", "P225"),
    ("9.5", "sm_107f", [""], "trace.mark 1;", "P225"),
    ("9.5", "sm_107f", [], "trace.mark 1;", None),
    ("9.0", "sm_90", [RECORD], "", None),
    ("9.0", "sm_90", [""], "", None),
    ("9.5", "sm_90", [DOMAIN], "", "P312"),
    ("9.4", "sm_107a", [DOMAIN], "", "P311"),
    ("9.5", "sm_107a", [".metadata_domain 2"], "", "P225"),
    ("9.5", "sm_107a", [RECORD + "\n" + DOMAIN], "", "P225"),
    ("9.5", "sm_107a", [DOMAIN + DOMAIN], "", "P225"),
    ("9.5", "sm_90", [RECORD + RECORD], "", "P225"),
    ("9.5", "sm_90", [RECORD + RECORD.replace("1 {", "2 {")], "", None),
    ("9.5", "sm_90", ['.metadata 1 { "x" }'], "", "P101"),
    ("9.5", "sm_90", ['.metadata 1 { .b32 1, "x" }'], "", "P101"),
    ("9.5", "sm_90", ['.metadata 1 { "x", .b64 4294967296 }'], "", "P225"),
    ("9.5", "sm_90", ['.metadata 4294967296 { "x", "y" }'], "", "P225"),
    ("9.5", "sm_90", ['.metadata 0x10 { "", .f16x2 4294967295 }'], "", None),
]


def module(version, target, sections, statement):
    """A file with these sections and one statement."""
    written = "".join(f".metadata_section {{\n{section}\n}}\n" for section in sections)
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    return f"{head}{written}.visible .entry k()\n{{\n{statement}\nret;\n}}\n"


@pytest.mark.parametrize(("version", "target", "sections", "statement", "code"), CASES)
def test_the_checkers_verdict(version, target, sections, statement, code):
    found = ptxkit.check(ptxkit.parse(module(version, target, sections, statement)))
    assert [d.code for d in found if d.is_error][:1] == ([code] if code else [])


@pytest.mark.skipif(not assemblers.is_here(NEWEST), reason=f"ptxas {NEWEST} has not been fetched")
@pytest.mark.parametrize(("version", "target", "sections", "statement", "code"), CASES)
def test_the_verdict_of_ptxas(version, target, sections, statement, code, tmp_path):
    path = tmp_path / "x.ptx"
    path.write_text(module(version, target, sections, statement))
    ptxas = assemblers.fetch(NEWEST) / "ptxas"
    run = subprocess.run([ptxas, f"-arch={target}", path, "-o", tmp_path / "x.cubin"], check=False)
    assert (run.returncode == 0) == (code is None)


def test_it_is_written_as_it_was_read():
    text = module("9.5", "sm_107a", [DOMAIN + RECORD], "trace.mark 1;")
    tree = ptxkit.parse(text)
    assert ptxkit.write(tree) == text
    assert ptxkit.parse(format_module(tree)) == tree
    made: dict = {}
    exec(script(tree), made)
    assert made["module"] == tree
