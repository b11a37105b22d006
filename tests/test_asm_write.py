"""Tree to text: byte for byte, after a change, and in the canonical style."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from asm_corpus import each_file, each_small_file, read

import ptxkit
from ptxkit.asm.tree import (
    Address,
    Binary,
    Block,
    Directive,
    Float,
    Function,
    Guard,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Node,
    Section,
    Unary,
    Variable,
    walk,
)

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def parsed(text: str) -> Module:
    module = ptxkit.parse(text)
    assert not module.diagnostics, module.diagnostics[0]
    return module


def stripped(module: Module) -> Module:
    """The module as code would have built it: no layout, no spelling, no span, no source, no tail."""

    def strip(node: object) -> None:
        if isinstance(node, Node):
            node.span = None
            for name in ("layout", "text"):
                if hasattr(node, name):
                    setattr(node, name, None)
            for each in fields(node):
                strip(getattr(node, each.name))
        elif isinstance(node, list | tuple):
            for inner in node:
                strip(inner)

    strip(module.statements)
    return Module(module.statements)


# ---- byte for byte


@each_file
def test_an_untouched_file_is_written_byte_for_byte(path: Path) -> None:
    text = read(path)
    module = parsed(text)
    module.source = None
    assert ptxkit.write(module) == text


@each_small_file
@pytest.mark.parametrize("change", ["\r\n", "\r", "no final newline"])
def test_line_ends_are_kept(path: Path, change: str) -> None:
    text = read(path)
    if change == "no final newline":
        text = text.rstrip()
    elif change == "\r":
        # A `//` comment only ends at a line feed, so its line keeps one.
        text = "".join(f"{line}\n" if "//" in line else f"{line}\r" for line in text.split("\n"))
    else:
        text = text.replace("\n", change)
    assert ptxkit.write(parsed(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "\n",
        "// nothing but a comment\n",
        "\ufeff.version 9.0\n",
        "\t\f\r\n.version\t9.0\f\n\n\n",
        "/* a */.version/* b */9.0/* c *//* d */\n",
        '# 1 "a.cu"\n.version 9.0\n# 2 "a.cu"\n.target/* */sm_90\n',
        ".reg.b32 a;.reg.pred.b32 x;\n",
        ".entry k{ld.param.b64 a,[b];ld .param.b64 a,[b];ld.param .b64 a,[b];ld\n.param\n.b64 a,[b];}\n",
        ".entry k(){mov.b32 a,%tid.x;mov.b32 a,%tid .x;mov .b32 a,%tid.x;mov .b32 a,b;}\n",
        ".func f;.func f();.func()f;.func()f();\n",
        ".entry k(){p:.callprototype _;p:.callprototype()_;p:.callprototype _();}\n",
        '.entry k(.param .b8 .align 4 a[0x10],.param .b64 .ptr b).pragma"x" ; .maxntid 1,2 ,3{}\n',
        ".align 4 .attribute ( .unified( 1 ,0x2 ),.managed) .global .u32 x [ 2 ] [ 3U ] = { { 1 } };\n",
        ".extern .func f /* a */ ( /* b */ ) /* c */ ; // d\n",
        ".section .debug_str{a:.b8 1 , -2 .b32 a-b}// x\n// y",
        ".entry k(){@ ! p mov.b32 a , - - 1 + ( 2 ) * 3 ? 4 : 5 ;{ { } } }\n",
    ],
)
def test_odd_layouts_are_written_byte_for_byte(text: str) -> None:
    module = ptxkit.parse(text if "\n" in text else f"{text}\n")
    module.source = None
    assert ptxkit.write(module) == (text if "\n" in text else f"{text}\n")


# ---- a changed tree


def test_a_change_shows_only_where_it_is() -> None:
    text = (
        f"{HEAD}.entry k()\n{{\n  add.s32\t%r1,  %r2, 3;  // three\n"
        "  /* two */ ld.b32 %r1, [%r2 + 4];\n  ret  ;\n}\n"
    )
    module = parsed(text)
    body = module.entries[0].body
    assert body is not None
    add, load, _ = body.statements
    assert isinstance(add, Instruction)
    assert isinstance(load, Instruction)
    add.opcode = "sub"
    add.operands = (*add.operands[:2], Integer(0xFF, "0xFF"))
    load.operands = (load.operands[0], Address(Name("%r2")))
    assert ptxkit.write(module) == text.replace("add.s32", "sub.s32").replace(
        "%r2, 3;", "%r2, 0xFF;"
    ).replace("ld.b32 %r1, [%r2 + 4];", "ld.b32 %r1, [%r2];")


def test_new_and_moved_statements() -> None:
    text = f"{HEAD}.entry k()\n{{\n    mov.b32 %r1, 3;\n    ret;\n}}\n"
    module = parsed(text)
    body = module.entries[0].body
    assert body is not None
    body.statements.insert(1, Instruction("exit", guard=Guard("%p1", True)))
    body.statements.insert(2, Block([Label("L"), Instruction("bra", (), (Name("L"),))]))
    assert ptxkit.write(module) == text.replace(
        "    ret;", "    @!%p1 exit;\n    {\n        L:\n        bra L;\n    }\n    ret;"
    )
    assert ptxkit.parse(ptxkit.write(module)) == module


def test_comments_of_a_changed_statement_are_kept() -> None:
    module = parsed(f"{HEAD}.entry k()\n{{\n    add.s32 %r1, // sum\n        %r2, /* b */ %r3;\n}}\n")
    body = module.entries[0].body
    assert body is not None
    (add,) = body.statements
    assert isinstance(add, Instruction)
    add.operands = add.operands[:1]
    for canonical in (False, True):
        text = ptxkit.write(module, canonical=canonical)
        assert "// sum\n" in text
        assert "/* b */" in text
        assert parsed(text) == module


def test_tokens_that_a_change_brings_together_stay_apart() -> None:
    module = parsed(".version 9.0 .entry k{@p ret;}\n")
    body = module.entries[0].body
    assert body is not None
    (ret,) = body.statements
    assert isinstance(ret, Instruction)
    ret.layout = ("", "", "", "")
    assert ptxkit.write(module) == ".version 9.0 .entry k{@p ret;}\n"
    module.statements[1].layout = ("", "", "")
    assert ptxkit.write(module) == ".version 9.0 .entry k{@p ret;}\n"
    module.statements[0].layout = ("", "")
    assert parsed(ptxkit.write(module)) == module


def test_operators_get_the_parentheses_that_they_need() -> None:
    one, two, three = Integer(1), Integer(2), Integer(3)
    trees = {
        "(1 + 2) * 3": Binary("*", Binary("+", one, two), three),
        "1 - (2 - 3)": Binary("-", one, Binary("-", two, three)),
        "1 - 2 - 3": Binary("-", Binary("-", one, two), three),
        "-(1 + 2)": Unary("-", Binary("+", one, two)),
        "-1 + 2": Binary("+", Unary("-", one), two),
        "smem + 1 << 2": Binary("+", Name("smem"), Binary("<<", one, two)),
        "0f3F800000": Float(0x3F800000, 32),
    }
    for text, tree in trees.items():
        module = Module([Function("entry", "k", body=Block([Instruction("op", (), (tree,))]))])
        assert f"op {text};" in ptxkit.write(module)


# ---- the canonical style


def test_the_canonical_style() -> None:
    module = parsed(
        "//  head  \n\n\n.version 9.0\r\n.target  sm_90a,debug\n.address_size 64 // bits\n"
        ".global .align 4 .u32 x [2]={1,2};\n"
        ".visible .entry k(.param.u64 .ptr.global.align 16 a // in\n,\n// out\n.param .u32 b)"
        ".maxntid 128,1,1 .minnctapersm 2\n"
        "{// body\n\n.reg .b32 %r<4>;\n\n\n  mov.b32 %r1,%tid .x ;/* here */ // there\n"
        "L:add.s32 %r1, // one\n %r2,/*two*/%r3;\n"
        "{ld.shared.v2.b32{%r1,%r2},[ %r3+ -4 ]; // last\n// alone\n\n}\n@!%p bra L;\n\n}.func f\n;\n"
        ".section .debug_str{\nL0:.b8 1,2\n.b32 L0+4}\n// tail"
    )
    assert ptxkit.write(module, canonical=True) == (
        "//  head\n"
        "\n"
        ".version 9.0\n"
        ".target sm_90a, debug\n"
        ".address_size 64  // bits\n"
        ".global .align 4 .u32 x[2] = {1, 2};\n"
        "\n"
        ".visible .entry k(\n"
        "    .param .u64 .ptr .global .align 16 a  // in\n"
        "    ,\n"
        "    // out\n"
        "    .param .u32 b\n"
        ")\n"
        ".maxntid 128, 1, 1\n"
        ".minnctapersm 2\n"
        "{  // body\n"
        "    .reg .b32 %r<4>;\n"
        "\n"
        "    mov.b32 %r1, %tid.x;  /* here */ // there\n"
        "L:\n"
        "    add.s32 %r1,  // one\n"
        "        %r2, /*two*/ %r3;\n"
        "    {\n"
        "        ld.shared.v2.b32 {%r1, %r2}, [%r3 + -4];  // last\n"
        "        // alone\n"
        "    }\n"
        "    @!%p bra L;\n"
        "}\n"
        "\n"
        ".func f;\n"
        "\n"
        ".section .debug_str\n"
        "{\n"
        "L0:\n"
        "    .b8 1, 2\n"
        "    .b32 L0 + 4\n"
        "}\n"
        "// tail\n"
    )


@pytest.mark.parametrize("blank", [" ", "\t", "\r\n", "\f", "\x1a"])
def test_white_space_in_a_statement_is_no_comment(blank: str) -> None:
    text = f"{HEAD}.entry k {{ mov.b32 %r1{blank}, 8; ld .global .b32 {blank}%r1, [%r2]; }}\n"
    formatted = ptxkit.write(parsed(text), canonical=True)
    assert "    mov.b32 %r1, 8;\n    ld.global.b32 %r1, [%r2];\n" in formatted


@each_file
def test_the_canonical_style_keeps_the_tree_and_is_idempotent(path: Path) -> None:
    text = read(path)
    module = parsed(text)
    first = ptxkit.write(module, canonical=True)
    again = parsed(first)
    assert again == module
    assert ptxkit.write(again, canonical=True) == first
    assert _comments(first) == _comments(text)


def _comments(text: str) -> list[str]:
    return [line.partition("//")[2].strip() for line in text.splitlines() if "//" in line]


@each_small_file
def test_a_stripped_tree_says_the_same(path: Path) -> None:
    module = parsed(read(path))
    bare = stripped(parsed(read(path)))
    for canonical in (False, True):
        assert parsed(f"{ptxkit.write(bare, canonical=canonical)}\n") == module


# ---- ptxas on what we write


def _assemble(text: str, target: str) -> str:
    """What the assembler says about it; empty where it is content. Skips where there is no assembler."""
    try:
        from cuda.bindings import nvjitlink
    except ImportError:
        return _ptxas(text, target)
    try:
        handle = nvjitlink.create(1, [f"-arch={target}"])
    except RuntimeError:
        return _ptxas(text, target)
    data = text.encode()
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "k.ptx")
        nvjitlink.complete(handle)
    except nvjitlink.nvJitLinkError:
        log = bytearray(nvjitlink.get_error_log_size(handle))
        nvjitlink.get_error_log(handle, log)
        return log.decode(errors="replace")
    finally:
        nvjitlink.destroy(handle)
    return ""


def _ptxas(text: str, target: str) -> str:
    program = shutil.which("ptxas")
    if program is None:
        pytest.skip("neither nvJitLink nor a ptxas on PATH")
    done = subprocess.run(
        [program, f"-arch={target}", "-o", "/dev/null", "/dev/stdin"],
        input=text,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr if done.returncode else ""


@each_file
def test_the_assembler_takes_what_we_write(path: Path) -> None:
    module = parsed(read(path))
    assert module.target is not None
    assert _assemble(ptxkit.write(stripped(module), canonical=True), module.target) == ""


def test_the_assembler_is_really_asked() -> None:
    assert "syntax error" in _assemble(f"{HEAD}.entry k() {{ mov.b32 }}\n", "sm_90a")


# ---- helpers of the tree


def test_walk_visits_every_statement() -> None:
    module = parsed(f"{HEAD}.entry k() {{ {{ ret; }} L: ret; }} .section .debug_str {{ .b8 1 }}\n")
    kinds: Iterator[type] = (type(statement) for statement in walk(module.statements))
    assert list(kinds) == [
        Directive,
        Directive,
        Directive,
        Function,
        Block,
        Instruction,
        Label,
        Instruction,
        Section,
    ]


def test_variables_keep_an_unusual_order() -> None:
    module = parsed(".align 8 .global .v2 .u32 x;\n.global .align 8 .v2 .u32 x;\n")
    first, second = module.statements
    assert first == second
    assert isinstance(first, Variable)
    assert first.order == ("align", "space", "vector", "type")
    assert (
        ptxkit.write(module, canonical=True) == ".align 8 .global .v2 .u32 x;\n.global .align 8 .v2 .u32 x;\n"
    )
