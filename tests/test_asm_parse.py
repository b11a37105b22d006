"""Text to tree: literals, spans, every statement, limits."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest
from asm_corpus import each_file, each_small_file, read

import ptxkit
from ptxkit import PtxkitError, Severity
from ptxkit.asm import parse as parse_module_function
from ptxkit.asm.parser import _SHAPES
from ptxkit.asm.tree import (
    Address,
    Arguments,
    Binary,
    Block,
    Conditional,
    Constant,
    Declarator,
    Directive,
    Element,
    Float,
    Function,
    Generic,
    Guard,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Node,
    Pair,
    Parenthesized,
    Prototype,
    Section,
    String,
    Unary,
    Variable,
    Vector,
    walk,
)

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def body(text: str) -> list[object]:
    """The statements of a function with this body, which must be free of errors."""
    module = ptxkit.parse(f"{HEAD}.entry k() {{\n{text}\n}}\n")
    assert not module.diagnostics, module.diagnostics[0]
    block = module.entries[0].body
    assert block is not None
    return list(block.statements)


def item(text: str) -> object:
    """The one statement of a module that is nothing else."""
    module = ptxkit.parse(f"{text}\n")
    assert not module.diagnostics, module.diagnostics[0]
    (statement,) = module.statements
    return statement


def operand(text: str) -> object:
    (statement,) = body(f"op {text};")
    assert isinstance(statement, Instruction)
    (found,) = statement.operands
    return found


# ---- operands


def double(value: float, text: str) -> Float:
    return Float(struct.unpack("<Q", struct.pack("<d", value))[0], 64, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("42", 42),
        ("42U", 42),
        ("0x1F", 31),
        ("0X1fU", 31),
        ("017", 15),
        ("0b101", 5),
        ("0B11U", 3),
        ("0xFFFFFFFFFFFFFFFF", 2**64 - 1),
    ],
)
def test_integer_literals(text: str, value: int) -> None:
    found = operand(text)
    assert found == Integer(value)
    assert isinstance(found, Integer)
    assert found.text == text


@pytest.mark.parametrize(
    ("text", "bits", "width"),
    [
        ("0f3F800000", 0x3F800000, 32),
        ("0Fbf800000", 0xBF800000, 32),
        ("0d3FF0000000000000", 0x3FF0000000000000, 64),
        ("0D3ff0000000000000", 0x3FF0000000000000, 64),
        ("1.0", 0x3FF0000000000000, 64),
        ("1.", 0x3FF0000000000000, 64),
        (".5", 0x3FE0000000000000, 64),
        ("1e3", 0x408F400000000000, 64),
        ("2.5E-1", 0x3FD0000000000000, 64),
    ],
)
def test_floating_point_literals(text: str, bits: int, width: int) -> None:
    found = operand(text)
    assert found == Float(bits, width)
    assert isinstance(found, Float)
    assert found.text == text


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("%r1", Name("%r1")),
        ("_", Name("_")),
        ("%tid.x", Name("%tid", "x")),
        ("%tid .x", Name("%tid", "x")),
        ("%r1.b3210", Name("%r1", "b3210")),
        ("WARP_SZ", Name("WARP_SZ")),
        ("call", Name("call")),
        ("!%p1", Unary("!", Name("%p1"))),
        ("-%r1.h1", Unary("-", Name("%r1", "h1"))),
        ("-1", Unary("-", Integer(1))),
        ("--1", Unary("-", Unary("-", Integer(1)))),
        ("smem+4*2", Binary("+", Name("smem"), Binary("*", Integer(4), Integer(2)))),
        ("smem+4<<1", Binary("+", Name("smem"), Binary("<<", Integer(4), Integer(1)))),
        ("1+2*3", Binary("+", Integer(1), Binary("*", Integer(2), Integer(3)))),
        ("1-2-3", Binary("-", Binary("-", Integer(1), Integer(2)), Integer(3))),
        ("(1+2)*3", Binary("*", Parenthesized(Binary("+", Integer(1), Integer(2))), Integer(3))),
        ("10 % 3", Binary("%", Integer(10), Integer(3))),
        ("1|2^3&4", Binary("|", Integer(1), Binary("^", Integer(2), Binary("&", Integer(3), Integer(4))))),
        ("1&&0||1", Binary("||", Binary("&&", Integer(1), Integer(0)), Integer(1))),
        ("1<2==1", Binary("==", Binary("<", Integer(1), Integer(2)), Integer(1))),
        ("(.u64)-3", Unary("(.u64)", Unary("-", Integer(3)))),
        ("1?2:3?4:5", Conditional(Integer(1), Integer(2), Conditional(Integer(3), Integer(4), Integer(5)))),
        ("-1.5", Unary("-", double(1.5, "1.5"))),
        ("(0f3F800000)", Parenthesized(Float(0x3F800000, 32))),
        ("{%r1, _, 3}", Vector((Name("%r1"), Name("_"), Integer(3)))),
        ("{1+1,v.x}", Vector((Binary("+", Integer(1), Integer(1)), Name("v", "x")))),
        ("[%rd1]", Address(Name("%rd1"))),
        ("[ %rd1 + 0x10 ]", Address(Name("%rd1"), Integer(16), "+")),
        ("[%rd1+-16]", Address(Name("%rd1"), Unary("-", Integer(16)), "+")),
        ("[smem+8-4]", Address(Name("smem"), Binary("-", Integer(8), Integer(4)), "+")),
        ("[16+4]", Address(Binary("+", Integer(16), Integer(4)))),
        ("[%rd1, {%r1, %r2}]", Address(Name("%rd1"), rest=(Vector((Name("%r1"), Name("%r2"))),))),
        ("[tex, smp, {%f1}]", Address(Name("tex"), rest=(Name("smp"), Vector((Name("%f1"),))))),
        ("[%rd1].unified", Address(Name("%rd1"), suffix="unified")),
        ("[%rd1+4].unified", Address(Name("%rd1"), Integer(4), "+", suffix="unified")),
        ("%p1|%p2", Pair(Name("%p1"), Name("%p2"))),
        ("{%r1, %r2} | %p2", Pair(Vector((Name("%r1"), Name("%r2"))), Name("%p2"))),
        ("_ | %p2", Pair(Name("_"), Name("%p2"))),
        ("array[2]", Element(Name("array"), Integer(2))),
        ("array[%r1]", Element(Name("array"), Name("%r1"))),
    ],
)
def test_operands(text: str, tree: Node) -> None:
    assert operand(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("ret;", Instruction("ret")),
        ("ld.global::x.v4.u32 %r1;", Instruction("ld", ("global::x", "v4", "u32"), (Name("%r1"),))),
        ("ld .param\n.b64 %r1;", Instruction("ld", ("param", "b64"), (Name("%r1"),))),
        ("ld.param .b64 %r1;", Instruction("ld", ("param", "b64"), (Name("%r1"),))),
        (
            "st .weak .shared::cta .b32 [a];",
            Instruction("st", ("weak", "shared::cta", "b32"), (Address(Name("a")),)),
        ),
        ("@%p1 exit;", Instruction("exit", guard=Guard("%p1"))),
        ("@ ! %p1 exit;", Instruction("exit", guard=Guard("%p1", True))),
        (
            "tcgen05.ld.sync.aligned.16x256b.x1.b32 a;",
            Instruction("tcgen05", ("ld", "sync", "aligned", "16x256b", "x1", "b32"), (Name("a"),)),
        ),
        ("cp.reduce.2d.4X.128x128b;", Instruction("cp", ("reduce", "2d", "4X", "128x128b"))),
        (
            "call.uni (r), f, (a, 3), p;",
            Instruction(
                "call",
                ("uni",),
                (Arguments((Name("r"),)), Name("f"), Arguments((Name("a"), Integer(3))), Name("p")),
            ),
        ),
        ("call f;", Instruction("call", (), (Name("f"),))),
        ("call (r), f, ();", Instruction("call", (), (Arguments((Name("r"),)), Name("f"), Arguments(())))),
        ("mov.b32 call, 3;", Instruction("mov", ("b32",), (Name("call"), Integer(3)))),
        ("L1:", Label("L1")),
        ("call:", Label("call")),
        ("{}", Block([])),
        ("{ L: ret; }", Block([Label("L"), Instruction("ret")])),
        (".loc 1 2 3", Directive("loc", (Integer(1), Integer(2), Integer(3)))),
        (
            ".loc 1 2 3, function_name .debug_str+16, inlined_at 1 4 5",
            Directive(
                "loc",
                (
                    *(Integer(n) for n in (1, 2, 3)),
                    Name("function_name"),
                    Binary("+", Name(".debug_str"), Integer(16)),
                    Name("inlined_at"),
                    *(Integer(n) for n in (1, 4, 5)),
                ),
            ),
        ),
        ('.pragma "nounroll", "x";', Directive("pragma", (String("nounroll"), String("x")))),
        (".branchtargets A, N<5>;", Directive("branchtargets", (Name("A"), Declarator("N", 5)))),
        (".calltargets f, g;", Directive("calltargets", (Name("f"), Name("g")))),
        (".callprototype _;", Prototype((), "_", ())),
        (
            ".callprototype (.param .b32 _) _ (.param .align 8 .b8 _[12]) .noreturn .abi_preserve 8;",
            Prototype(
                (Variable("param", "b32", (Declarator("_"),)),),
                "_",
                (Variable("param", "b8", (Declarator("_", None, (12,)),), align=8),),
                (Directive("noreturn"), Directive("abi_preserve", (Integer(8),))),
            ),
        ),
        (".extern .func f;", Function("func", "f", linkage="extern")),
        (".target sm_80", Directive("target", (Name("sm_80"),))),
        (".reg .pred p, q<4>;", Variable("reg", "pred", (Declarator("p"), Declarator("q", 4)))),
        (".reg .v4 .b32 v;", Variable("reg", "b32", (Declarator("v"),), vector="v4")),
        (".reg.b32 x;", Variable("reg", "b32", (Declarator("x"),))),
        (".reg .b32;", Variable("reg", "b32", ())),
    ],
)
def test_statements_of_a_body(text: str, tree: Node) -> None:
    assert body(text) == [tree]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (".version 9.0", Directive("version", (Name("9.0"),))),
        (".target sm_90a, debug", Directive("target", (Name("sm_90a"), Name("debug")))),
        (".address_size 64", Directive("address_size", (Integer(64),))),
        ('.file 1 "a b.cu"', Directive("file", (Integer(1), String("a b.cu")))),
        ('.file 1 "a.cu", 12, 34', Directive("file", (Integer(1), String("a.cu"), Integer(12), Integer(34)))),
        (".alias a, b;", Directive("alias", (Name("a"), Name("b")))),
        (
            ".visible .global .align 16 .v2 .u32 a, b[][2];",
            Variable(
                "global",
                "u32",
                (Declarator("a"), Declarator("b", None, (None, 2))),
                "visible",
                align=16,
                vector="v2",
            ),
        ),
        (
            ".align 8 .attribute(.managed, .unified(1 ,0x2)) .global .b8 a;",
            Variable("global", "b8", (Declarator("a"),), align=8, attributes=("managed", "unified(1, 0x2)")),
        ),
        (".tex .u64 t;", Variable("tex", "u64", (Declarator("t"),))),
        (
            ".global .u64 p[2] = {generic(a) + 8, b+4};",
            Variable(
                "global",
                "u64",
                (
                    Declarator(
                        "p",
                        None,
                        (2,),
                        Vector(
                            (
                                Binary("+", Generic("generic", Name("a")), Integer(8)),
                                Binary("+", Name("b"), Integer(4)),
                            )
                        ),
                    ),
                ),
            ),
        ),
        (
            ".global .u8 m[2] = {0xFF(generic(a)+4), 0xFF00(1000 + 546)};",
            Variable(
                "global",
                "u8",
                (
                    Declarator(
                        "m",
                        None,
                        (2,),
                        Vector(
                            (
                                Generic(Integer(255), Binary("+", Generic("generic", Name("a")), Integer(4))),
                                Generic(Integer(0xFF00), Binary("+", Integer(1000), Integer(546))),
                            )
                        ),
                    ),
                ),
            ),
        ),
        (
            ".global .samplerref s = { addr_mode_0 = clamp_to_border, force_unnormalized_coords = 1 };",
            Variable(
                "global",
                "samplerref",
                (
                    Declarator(
                        "s",
                        initializer=Vector(
                            (
                                Binary("=", Name("addr_mode_0"), Name("clamp_to_border")),
                                Binary("=", Name("force_unnormalized_coords"), Integer(1)),
                            )
                        ),
                    ),
                ),
            ),
        ),
        (
            ".visible .entry k(.param .u64 .ptr.global.align 16 a, .param .b8 .align 4 b[12]) "
            ".maxntid 16,4 .explicitcluster;",
            Function(
                "entry",
                "k",
                (
                    Variable("param", "u64", (Declarator("a"),), pointer=("global", 16)),
                    Variable("param", "b8", (Declarator("b", None, (12,)),), align=4),
                ),
                linkage="visible",
                directives=(Directive("maxntid", (Integer(16), Integer(4))), Directive("explicitcluster")),
            ),
        ),
        (
            '.entry k .pragma "nounroll"; .maxnreg 32 { ret; }',
            Function(
                "entry",
                "k",
                directives=(Directive("pragma", (String("nounroll"),)), Directive("maxnreg", (Integer(32),))),
                body=Block([Instruction("ret")]),
            ),
        ),
        (
            ".weak .func .attribute(.unified(0xAB, 0xCD)) (.reg .b32 r) f (.param .b32 a) .noreturn;",
            Function(
                "func",
                "f",
                (Variable("param", "b32", (Declarator("a"),)),),
                (Variable("reg", "b32", (Declarator("r"),)),),
                "weak",
                ("unified(0xAB, 0xCD)",),
                (Directive("noreturn"),),
            ),
        ),
        (
            ".section .debug_info { L0:\n.b8 1, -2\n.b32 .debug_abbrev\n.b32 L1-L0\n.b64 L0+4\n.4byte 1 }",
            Section(
                ".debug_info",
                [
                    Label("L0"),
                    Directive("b8", (Integer(1), Unary("-", Integer(2)))),
                    Directive("b32", (Name(".debug_abbrev"),)),
                    Directive("b32", (Binary("-", Name("L1"), Name("L0")),)),
                    Directive("b64", (Binary("+", Name("L0"), Integer(4)),)),
                    Directive("4byte", (Integer(1),)),
                ],
            ),
        ),
    ],
)
def test_statements_of_a_module(text: str, tree: Node) -> None:
    assert item(text) == tree


def test_sizes_that_are_not_plain_decimal_keep_their_spelling() -> None:
    node = item(".shared .align 0x10 .b8 a[WARP_SZ][0x8], b<4U>;")
    assert isinstance(node, Variable)
    first, second = node.declarators
    assert (node.align, first.dimensions, second.count) == (16, (32, 8), 4)
    assert isinstance(node.align, Constant)
    assert [str(d.text) for d in first.dimensions if isinstance(d, Constant)] == ["WARP_SZ", "0x8"]


# ---- spans


def _nodes(node: object) -> list[Node]:
    found = []
    if isinstance(node, Node):
        found.append(node)
        for name in node.__dataclass_fields__:
            value = getattr(node, name)
            for inner in value if isinstance(value, list | tuple) else [value]:
                found += _nodes(inner)
    return found


def _text_at(lines: list[str], node: Node) -> str:
    assert node.span is not None
    line, column, end_line, end_column = node.span
    if line == end_line:
        return lines[line - 1][column - 1 : end_column - 1]
    between = lines[line : end_line - 1]
    return "\n".join([lines[line - 1][column - 1 :], *between, lines[end_line - 1][: end_column - 1]])


@each_small_file
@pytest.mark.parametrize("change", ["", "crlf", "spread"])
def test_spans_say_where_a_node_stands(path: Path, change: str) -> None:
    text = read(path)
    text = text[: text.rfind(";\n") + 2]
    if change == "crlf":
        text = text.replace("\n", "\r\n")
    elif change == "spread":
        text = text.replace(", ", ",\n  ")
    lines = text.split("\n")
    checked = 0
    for statement in ptxkit.parse(text).statements:
        for node in _nodes(statement):
            if isinstance(node, Name):
                spelled = node.name if node.component is None else f"{node.name}.{node.component}"
                assert _text_at(lines, node) == spelled
            elif isinstance(node, Integer | Float):
                assert _text_at(lines, node) == node.text
            elif isinstance(node, Instruction):
                shown = _text_at(lines, node)
                assert shown.startswith("@" if node.guard else node.spelling)
                assert shown.endswith(";")
            elif isinstance(node, Vector):
                assert _text_at(lines, node)[0] + _text_at(lines, node)[-1] == "{}"
            elif isinstance(node, Address):
                assert _text_at(lines, node)[0] + _text_at(lines, node)[-1] == "[]"
            else:
                continue
            checked += 1
    assert checked > 20


def test_every_node_has_a_span() -> None:
    module = ptxkit.parse(
        f"{HEAD}.global .u32 a[2] = {{1, generic(a)+4}};\n.entry k(.param .u64 p) .maxntid 3 {{\n"
        "@!%p1 call (r), f, (a, [b+4], {c, -1}), q;\nx|y: ret;\nop a|b, c[1], (1+2)*3, 1?2:3;\n}\n"
    )
    for statement in module.statements:
        for node in _nodes(statement):
            assert node.span is not None, node


# ---- shapes


@each_file
def test_a_kept_shape_builds_what_the_grammar_builds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = read(path)[:15_000]
    for shapes in _SHAPES.values():
        shapes.clear()
    once = ptxkit.parse(text)
    again = ptxkit.parse(text)
    for shapes in _SHAPES.values():
        shapes.clear()
    monkeypatch.setattr(sys.modules["ptxkit.asm.parser"], "MAX_SHAPE", 0)
    without = ptxkit.parse(text)
    assert not any(_SHAPES.values())
    for module in (once, again):
        assert module == without
        assert [repr(n.span) for n in _all(module)] == [repr(n.span) for n in _all(without)]
        assert [s.layout for s in walk(module.statements)] == [s.layout for s in walk(without.statements)]


def _all(module: Module) -> list[Node]:
    return [node for statement in module.statements for node in _nodes(statement)]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('// a ret; b\n.pragma "x";', [Directive("pragma", (String("x"),))]),
        ("// ret;\nop 4 / 2;", [Instruction("op", (), (Binary("/", Integer(4), Integer(2)),))]),
        (
            "/* a */ ret; /* ret; **/ L: /* ret; */ exit;",
            [Instruction("ret"), Label("L"), Instruction("exit")],
        ),
        ("/***/ret;/*/ret;/**/", [Instruction("ret")]),
    ],
)
def test_a_comment_is_never_read_as_a_statement(text: str, tree: list[Node]) -> None:
    body("ret;")  # now its shape is known
    assert body(text) == tree


def test_a_long_initializer() -> None:
    literals = [str(i * 7919 % 256) for i in range(3000)] + ["1.5", "0f3F800000", "0x1F", "-1"] * 600
    lines = [", ".join(literals[i : i + 16]) for i in range(0, len(literals), 16)]
    source = f"{HEAD}.global .f64 x[] = {{ {{ 1, 2 }},\n{(',' + chr(10)).join(lines)} }};\n"
    module = ptxkit.parse(source)
    assert not module.diagnostics
    (variable,) = (s for s in module.statements if isinstance(s, Variable))
    initializer = variable.declarators[0].initializer
    assert isinstance(initializer, Vector)
    first, *rest = initializer.elements
    assert first == Vector((Integer(1), Integer(2)))
    assert len(rest) == len(literals)
    rows = source.split("\n")
    for text, node in zip(literals, rest, strict=True):
        assert _text_at(rows, node) == text
    assert rest[3000:3004] == [double(1.5, "1.5"), Float(0x3F800000, 32), Integer(31), Unary("-", Integer(1))]
    assert ptxkit.write(module) == source
    broken = source.replace("-1, 1.5", "-1 1.5", 1)
    module = ptxkit.parse(broken)
    assert [d.code for d in module.diagnostics] == ["P101"]
    assert ptxkit.write(module) == broken


# ---- what is read


def test_a_path_and_a_text(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(HEAD)
    for module in (ptxkit.parse(path), ptxkit.parse(str(path)), ptxkit.parse(HEAD)):
        assert module.version == (9, 0)
        assert module.target == "sm_90a"
    assert ptxkit.parse(path).source.name == str(path)  # type: ignore[union-attr]
    assert ptxkit.parse(HEAD, name="x").source.name == "x"  # type: ignore[union-attr]
    assert parse_module_function is ptxkit.parse


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "empty.ptx"
    path.write_text("")
    module = ptxkit.parse(path)
    assert (module.statements, module.tail, module.diagnostics) == ([], "", [])
    assert ptxkit.write(module) == ""


@pytest.mark.parametrize("path", ["no/such/file.ptx", "", ".", "x" * 5000, "nul\0byte"])
def test_what_cannot_be_read(path: str) -> None:
    with pytest.raises(PtxkitError) as raised:
        ptxkit.parse(path)
    (found,) = raised.value.diagnostics
    assert found.code == "P110"
    assert found.message.startswith("cannot read `")


@pytest.mark.parametrize("as_text", [True, False])
def test_a_file_above_the_limit(tmp_path: Path, as_text: bool) -> None:
    path = tmp_path / "big.ptx"
    path.write_text(f"{HEAD}// é\n", encoding="utf-8")
    size = path.stat().st_size
    source = read(path) if as_text else path
    assert ptxkit.parse(source, max_size=size).version == (9, 0)
    with pytest.raises(PtxkitError) as raised:
        ptxkit.parse(source, max_size=size - 1)
    assert [d.code for d in raised.value.diagnostics] == ["P111"]


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x01\x00\x00\n", b".version 9.0\n\xff\xfe\n", b"\n\0"])
def test_a_binary_file_is_one_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(data)
    module = ptxkit.parse(path)
    assert [d.code for d in module.diagnostics] == ["P112"]
    assert module.statements == []


def test_beyond_ascii() -> None:
    (mark,) = ptxkit.parse(f"\ufeff{HEAD}").diagnostics
    assert (mark.code, mark.severity) == ("P109", Severity.ERROR)
    module = ptxkit.parse(f"{HEAD}// 3 µs\n// 4 µs\n")
    (comment,) = module.diagnostics
    assert (comment.code, comment.severity, comment.span) == ("P109", Severity.WARNING, (4, 6, 4, 7))
    (string,) = ptxkit.parse(f'{HEAD}// 3 µs\n.file 1 "/* µ.cu"\n').diagnostics
    assert (string.code, string.severity, string.span) == ("P109", Severity.ERROR, (5, 13, 5, 14))


# ---- limits


@pytest.mark.parametrize("depth", [100, 150, 10_000])
def test_deep_nesting_of_operands(depth: int) -> None:
    for text in (
        "(" * depth + "1" + ")" * depth,
        "-" * depth + "1",
        "1" + "+1" * depth,
        "1?2:" * depth + "3",
    ):
        source = f"{HEAD}.entry k() {{ mov.b32 %r1, {text}; ret; }}\n"
        module = ptxkit.parse(source)
        assert [d.code for d in module.diagnostics] == (["P108"] if depth > 100 else [])
        assert ptxkit.write(module) == source


@pytest.mark.parametrize("depth", [199, 250, 10_000])
def test_deep_nesting_of_blocks(depth: int) -> None:
    source = f"{HEAD}.entry k() {{ {'{' * depth}{'}' * depth} ret; }}\n"
    module = ptxkit.parse(source)
    assert [d.code for d in module.diagnostics] == (["P108"] if depth > 200 else [])
    assert ptxkit.write(module) == source
    assert ptxkit.write(module, canonical=True)
    assert module.entries[0].body is not None
    assert module.entries[0].body.statements[-1] == Instruction("ret")


each_line = pytest.mark.parametrize(
    "line", ["L: ", "L:\n", "L: L: L: ret; ", ".loc 1 2 3 ", "{} ", "ret ", "x,,; ", "} ", '"', "/* ", "a, "]
)


def _read_many(line: str, size: int) -> None:
    text = f"{HEAD}.entry k() {{\n{line * (size // len(line))}\n}}\n"
    assert ptxkit.write(ptxkit.parse(text)) == text


@each_line
def test_a_line_many_times(line: str) -> None:
    _read_many(line, 20_000)


@pytest.mark.slow
@pytest.mark.timeout(120)
@each_line
def test_no_line_takes_quadratic_time(line: str) -> None:
    """Work that grows with the square of the text would take hours here."""
    _read_many(line, 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["instructions", "initializer"])
def test_memory_of_a_ten_megabyte_file(kind: str) -> None:
    """In a process of its own: the peak of its memory stays well below 1 GB."""
    code = f"""
import resource, sys
from ptxkit import parse
if {kind!r} == "instructions":
    line = "\\tfma.rn.f32 \\t%f{{}}, %f{{}}, %f{{}}, %f{{}};\\n"
    text = {HEAD!r} + ".entry k() {{\\n" + "".join(
        line.format(i % 9973, i % 977, i % 97, i % 3989) for i in range(260_000)) + "}}\\n"
else:
    text = {HEAD!r} + ".global .b8 x[] = {{" + ", ".join(str(i % 256) for i in range(2_150_000)) + "}};\\n"
assert 9_500_000 < len(text) < 12_000_000, len(text)
module = parse(text)
assert not module.diagnostics
held = []
if sys.platform == "linux":  # There `ru_maxrss` begins with what the process that started this one held.
    held = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(held[0] if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 800_000
