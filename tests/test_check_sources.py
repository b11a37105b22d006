"""`.nv_intermediate_source_section`: sources of other languages (11.5.6), as ptxas 13.5 takes them."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_editors import scopes

import ptxkit
from ptxkit.asm.format import format_module
from ptxkit.asm.script import script
from tools.agreement import assemblers

NEWEST = list(assemblers.RELEASES)[-1]
FILES = '.file 1 "a.cu"\n.file 2 "a.tileir"\n'
SOURCE = '#map = () -> "x\n  } ; /* .source_end z\n'
BLOCK = f""".code_block {{ // a comment
  .ir_name: "TileIR"
  .sourceFileName: 2
  .source_begin \t
{SOURCE}
  .source_end
}}"""
CASES = [
    # version, what stands before the section, what is in it, code
    ("9.4", FILES, BLOCK, None),
    ("9.5", FILES, f"{BLOCK}\n{BLOCK}", None),
    ("9.5", FILES, "", None),
    ("9.5", FILES, BLOCK.replace(SOURCE, "\n"), None),
    ("9.5", FILES, BLOCK.replace(f"{SOURCE}\n", ""), None),
    ("9.5", FILES, BLOCK.replace("2", "0x2"), None),
    ("9.5", FILES, BLOCK.replace("\n  .source_begin", " .source_begin"), None),
    ("9.5", FILES, BLOCK.replace(SOURCE, ".source_begin\n"), None),
    ("9.3", FILES, BLOCK, "P311"),
    ("9.3", FILES, "", "P311"),
    ("9.5", "", BLOCK, "P225"),
    ("9.5", FILES, BLOCK.replace("2", "3"), "P225"),
    ("9.5", FILES, BLOCK.replace("2", "4294967298"), "P225"),
    ("9.5", FILES, ".code_block {\n}", "P101"),
    ("9.5", FILES, BLOCK.replace('.ir_name: "TileIR"', ""), "P101"),
    ("9.5", FILES, BLOCK.replace(".ir_name:", ".ir_name"), "P101"),
    ("9.5", FILES, BLOCK.replace('"TileIR"', "TileIR"), "P101"),
    ("9.5", FILES, BLOCK.replace(".sourceFileName: 2", ""), "P101"),
    ("9.5", FILES, BLOCK.replace("2", '"a.tileir"'), "P101"),
    ("9.5", FILES, BLOCK.replace(".source_begin", ".source_begin // a comment"), "P101"),
    ("9.5", FILES, BLOCK.replace(".source_begin \t", ".source_begin \t\r"), "P101"),
    ("9.5", FILES, BLOCK.replace("  .source_end\n}", "  .source_end }"), "P104"),
    ("9.5", FILES, BLOCK.replace("  .source_end\n", ""), "P104"),
    ("9.5", FILES, BLOCK.replace("map", "µ"), "P109"),
    ("9.5", FILES, ".b8 1", "P101"),
]


def module(version: str, before: str, inside: str) -> str:
    """A file with such a section."""
    section = f".nv_intermediate_source_section {{\n{inside}\n}}\n"
    head = f".version {version}\n.target sm_75\n.address_size 64\n"
    return f"{head}{before}{section}.entry k()\n{{\n    ret;\n}}\n"


@pytest.mark.parametrize(("version", "before", "inside", "code"), CASES)
def test_the_checkers_verdict(version: str, before: str, inside: str, code: str | None) -> None:
    found = ptxkit.check(ptxkit.parse(module(version, before, inside)))
    assert [d.code for d in found if d.is_error] == ([code] if code else [])


@pytest.mark.skipif(not assemblers.is_here(NEWEST), reason=f"ptxas {NEWEST} has not been fetched")
@pytest.mark.parametrize(("version", "before", "inside", "code"), CASES)
def test_the_verdict_of_ptxas(
    version: str, before: str, inside: str, code: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "x.ptx"
    path.write_bytes(module(version, before, inside).encode())
    ptxas = assemblers.fetch(NEWEST) / "ptxas"
    run = subprocess.run([ptxas, "-arch=sm_75", path, "-o", tmp_path / "x.cubin"], check=False)
    assert (run.returncode == 0) == (code is None)


def test_a_language_that_the_manual_does_not_have() -> None:
    (found,) = ptxkit.check(ptxkit.parse(module("9.5", FILES, BLOCK.replace("TileIR", "tile ir"))))
    assert (found.code, found.is_error) == ("P222", False)


def test_inside_a_function() -> None:
    text = module("9.5", FILES, BLOCK)
    section = text[text.index(".nv_") : text.index(".entry")]
    found = ptxkit.parse(text.replace("    ret;", f"{section}ret;")).diagnostics
    assert found[0].code == "P105"


@pytest.mark.parametrize(("version", "before", "inside", "code"), CASES)
def test_it_is_written_as_it_was_read(version: str, before: str, inside: str, code: str | None) -> None:
    text = module(version, before, inside)
    tree = ptxkit.parse(text)
    assert ptxkit.write(tree) == text
    if code not in ("P101", "P104", "P109"):
        laid_out = format_module(tree)
        assert ptxkit.parse(laid_out) == tree
        assert format_module(ptxkit.parse(laid_out)) == laid_out
        made: dict[str, Any] = {}
        exec(script(tree), made)
        assert made["module"] == tree


def test_its_layout() -> None:
    text = (
        BLOCK.replace(" // a comment", "// a")
        .replace('"TileIR"\n', '"TileIR" // b\n')
        .replace("begin \t", "begin")
    )
    laid_out = format_module(ptxkit.parse(module("9.5", FILES, text)))
    section = laid_out.partition('.tileir"\n')[2].partition("\n\n.entry")[0]
    assert (
        section
        == f"""
.nv_intermediate_source_section {{
    .code_block {{  // a
        .ir_name: "TileIR"  // b
        .sourceFileName: 2
        .source_begin
{SOURCE}
  .source_end
    }}
}}"""
    )


def test_the_preprocessor_leaves_it_alone(tmp_path: Path) -> None:
    lines = f"{SOURCE}#if 1\n\n  ret X\n"
    text = module("9.5", f"#define X ret\n{FILES}", BLOCK.replace(SOURCE, lines)).replace("    ret;", "X;")
    tree = ptxkit.parse(text)
    assert [d.code for d in ptxkit.check(tree)] == []
    (block,) = tree.statements[5].lines
    assert block.arguments[2].value == f" \n{lines}\n  ".replace(" \n", "\n", 1)
    assert tree.functions[0].body.statements[0].opcode == "ret"
    assert tree.functions[0].span.line == text.split("\n").index(".entry k()") + 1

    (tmp_path / "x.inc").write_text(text.partition(FILES)[2].partition(".entry")[0])
    included = text.replace(text[text.index(".nv_") : text.index(".entry")], '#include "x.inc"\n')
    (tmp_path / "x.ptx").write_text(included)
    assert ptxkit.parse(tmp_path / "x.ptx") == tree
    without = text.replace(".nv_", "#if 0\n.nv_").replace(".entry", "#endif\n.entry")
    assert len(ptxkit.parse(without).statements) == len(tree.statements) - 1
    assert "map" not in ptxkit.parse(without).source.text
    plain = module("9.5", FILES, BLOCK.replace(SOURCE, lines))
    assert not ptxkit.parse(plain).source.made


def test_an_editor_shows_it_apart() -> None:
    text = module("9.5", FILES, BLOCK)
    shown = dict(zip(text.split("\n"), scopes(text), strict=True))
    assert set(shown['#map = () -> "x']) == {"string.unquoted.source.ptx"}
    assert shown["    ret;"][4] == "keyword.mnemonic.ptx"
