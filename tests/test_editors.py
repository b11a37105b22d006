"""What editors and pre-commit take from here: the TextMate grammar, the VS Code package, the hooks."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from asm_corpus import each_small_file, read
from command import ptxkit as command

import ptxkit
from ptxkit.asm.check.places import spelling_span
from ptxkit.asm.tree import Instruction, Label, walk
from ptxkit.debugger.session import LINES

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "editors" / "vscode"
GRAMMAR = json.loads((PACKAGE / "syntaxes" / "ptx.tmLanguage.json").read_text())
RULES = [rule for each in GRAMMAR["patterns"] for rule in [GRAMMAR["repository"][each["include"][1:]]]]


def flat(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rules without those that only hold others."""
    return [
        inner
        for rule in rules
        for inner in (flat(rule["patterns"]) if "patterns" in rule and "match" not in rule else [rule])
    ]


FLAT = flat(RULES)
COMPILED: dict[str, re.Pattern[str]] = {}


def compiled(pattern: str) -> re.Pattern[str]:
    if pattern not in COMPILED:
        COMPILED[pattern] = re.compile(pattern, re.ASCII)
    return COMPILED[pattern]


def scopes(text: str) -> list[list[str | None]]:
    """The innermost scope of every character of every line, as an editor would have it."""
    inside: dict[str, Any] | None = None
    lines = []
    for line in text.split("\n"):
        found, inside = _line(line, inside)
        lines.append(found)
    return lines


def _line(line: str, inside: dict[str, Any] | None) -> tuple[list[str | None], dict[str, Any] | None]:
    found: list[str | None] = [None] * len(line)
    position = 0
    while position <= len(line):
        if inside is not None:
            match = compiled(inside["end"]).search(line, position)
            end = match.end() if match else len(line)
            found[position:end] = [inside["name"]] * (end - position)
            position = end
            if match is None:
                break
            inside = None
            continue
        best = None
        for rule in FLAT:
            match = compiled(rule.get("match") or rule["begin"]).search(line, position)
            if match and (best is None or match.start() < best[0].start()):
                best = match, rule
        if best is None:
            break
        match, rule = best
        if "name" in rule:
            found[match.start() : match.end()] = [rule["name"]] * (match.end() - match.start())
        for number, capture in rule.get("captures", {}).items():
            start, end = match.span(int(number))
            if "name" in capture:
                found[start:end] = [capture["name"]] * (end - start)
            while "patterns" in capture and start < end:
                for each in capture["patterns"]:
                    if inner := compiled(each["match"]).match(line, start):
                        found[start : inner.end()] = [each["name"]] * (inner.end() - start)
                        start = inner.end()
                        break
        inside = rule if "begin" in rule else None
        position = max(match.end(), position + (match.end() == match.start()))
    return found, inside


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    path = ROOT / "tools" / "build_editor_grammar.py"
    spec = importlib.util.spec_from_file_location("build_editor_grammar", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_grammar_is_that_of_the_rows(builder: ModuleType) -> None:
    assert builder.grammar() == GRAMMAR, "run tools/build_editor_grammar.py"


@each_small_file
def test_every_token_of_a_file_has_a_scope(path: Path) -> None:
    text = read(path)
    module = ptxkit.parse(text)
    found = scopes(text)
    lines = text.split("\n")
    for line, names in zip(lines, found, strict=True):
        for character, name in zip(line, names, strict=True):
            assert name or character in " \t\r,;:()[]{}", line
            assert not (name or "").startswith("invalid"), line
    for statement in walk(module.statements):
        if isinstance(statement, Instruction):
            span = spelling_span(statement, module.source)
            assert span is not None
            assert found[span.line - 1][span.column - 1] == "keyword.mnemonic.ptx", lines[span.line - 1]
        elif isinstance(statement, Label):
            assert statement.span is not None
            place = found[statement.span.line - 1][statement.span.column - 1]
            assert place == "entity.name.label.ptx"


@pytest.mark.parametrize(
    ("text", "word", "scope"),
    [
        ("    @!%p1 ld.global.v4.u32 {%r1}, [%rd1];", "@!", "keyword.operator.guard"),
        ("    @!%p1 ld.global.v4.u32 {%r1}, [%rd1];", "%p1", "variable.other.predicate"),
        ("    @!%p1 ld.global.v4.u32 {%r1}, [%rd1];", ".global", "storage.modifier.space"),
        ("    @!%p1 ld.global.v4.u32 {%r1}, [%rd1];", ".v4", "support.constant.modifier"),
        ("    @!%p1 ld.global.v4.u32 {%r1}, [%rd1];", ".u32", "storage.type"),
        ("    cp.async.bulk.shared::cluster.global [a];", ".shared::cluster", "storage.modifier.space"),
        ("    ld.globl.u32 %r1, [a];", ".globl", "invalid.illegal.modifier"),
        ("    mov.f32 %f1, 0f3F800000; // add", "0f3F800000", "constant.numeric"),
        ("    mov.f32 %f1, 0f3F800000; // add", "add", "comment.line"),
        ("    mov.u32 add, %tid.x;", "add", "variable.other"),
        ("    mov.u32 add, %tid.x;", "%tid.x", "variable.language"),
        (".visible .entry gemv(", "gemv", "entity.name.function"),
        (".reg .b32 %r<4>;", ".reg", "storage.modifier.space"),
        (".maxntid 128", ".maxntid", "keyword.declaration"),
        ("#define A 1", "define", "meta.preprocessor"),
        ('.pragma "nounroll";', "nounroll", "string.quoted"),
        ("/* a\n mov */ ret;", "mov", "comment.block"),
        ("/* a\n mov */ ret;", "ret", "keyword.mnemonic"),
    ],
)  # fmt: skip
def test_scopes(text: str, word: str, scope: str) -> None:
    number, line = next((n, line) for n, line in enumerate(text.split("\n")) if word in line)
    names = scopes(text)[number]
    start = line.index(word)
    assert all((name or "").startswith(scope) for name in names[start : start + len(word)])


def test_the_package_names_what_is_there() -> None:
    package = json.loads((PACKAGE / "package.json").read_text())
    contributed = package["contributes"]
    (grammar,) = contributed["grammars"]
    (language,) = contributed["languages"]
    assert (PACKAGE / grammar["path"]).is_file()
    assert (PACKAGE / language["configuration"]).is_file()
    assert (PACKAGE / package["main"]).is_file()
    assert grammar["scopeName"] == GRAMMAR["scopeName"]
    assert package["version"] == ptxkit.__version__
    json.loads((PACKAGE / "language-configuration.json").read_text())
    first, *rest = contributed["configuration"]["properties"]["ptxkit.command"]["default"]
    assert first == "ptxkit"
    assert command(*rest, "--help").returncode == 0


def test_the_hooks_run(tmp_path: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    entries = re.findall(r"^  entry: ptxkit (.*)$", text, re.MULTILINE)
    assert entries == ["check", "fmt"]
    assert re.findall(r"^  files: (.*)$", text, re.MULTILINE) == [r"\.ptx$"] * 2
    good, bad = tmp_path / "good.ptx", tmp_path / "bad.ptx"
    good.write_text(".version 9.0\n.target sm_90\n\n.entry k() { ret; }\n")
    bad.write_text(".version 9.0\n.target sm_90\n.entry k() { ret }\n")
    for entry in entries:
        assert command(*entry.split(), good).returncode == 0
        assert command(*entry.split(), good, bad).returncode == 1
    assert "{\n    ret;\n}\n" in good.read_text()


def test_the_extension_starts_the_debugger_and_the_server() -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    script = ROOT / "tests" / "data" / "vscode_extension.js"
    done = subprocess.run(
        ["node", str(script), str(PACKAGE / "extension.js")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["adapter"] == {"command": "some", "args": ["where", "ptxkit", "dap"]}
    assert said["clients"] == [{"command": "ptxkit", "args": ["lsp"]}]
    assert said["subscriptions"] == 2
    assert said["given"] == {"type": "ptxkit", "program": "a.ptx"}
    assert said["nothing"] is None
    assert said["open"]["program"] == "/x/tile.ptx"
    assert said["open"]["stopOnEntry"] is True


def test_the_package_registers_the_debugger_with_what_a_launch_has() -> None:
    contributes = json.loads((PACKAGE / "package.json").read_text())["contributes"]
    (debugger,) = contributes["debuggers"]
    launch = debugger["configurationAttributes"]["launch"]
    page = (ROOT / "docs" / "debug.md").read_text("utf-8").partition("## In an editor")[2]
    assert debugger["type"] == "ptxkit"
    assert set(launch["properties"]) == set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    assert launch["properties"]["lines"]["enum"] == ["auto", *LINES]
    assert contributes["configuration"]["properties"]["ptxkit.debugAdapter"]["default"] == ["ptxkit", "dap"]
    assert {"language": "ptx"} in contributes["breakpoints"]
