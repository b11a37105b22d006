"""Of a large text bodies are read when somebody looks at them; the tree and the findings are those of a text
that is read at once."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from asm_corpus import each_file, read

from ptxkit.asm import parse
from ptxkit.asm.check import check
from ptxkit.asm.link import link
from ptxkit.asm.tree import Function, Module
from ptxkit.asm.unread import UnreadBody, UnreadModule, is_read, known_diagnostics
from ptxkit.asm.write import write
from ptxkit.diagnostics import PtxkitError
from ptxkit.emulator import Emulator
from ptxkit.emulator.device import EmulatorModule
from ptxkit.emulator.global_memory import BASE

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n\n"


def entry(name: str, body: str = "", value: int = 1) -> str:
    return f"""
.visible .entry {name}(.param .u64 {name}_out) // writes {{ one
{{
    .reg .b64 %a;   /* a brace: }} */
    .reg .b32 %r<4>;
    ld.param.u64 %a, [{name}_out];
    {{ .reg .b32 %x; mov.u32 %x, {value}; mov.u32 %r1, %x; }}
    .pragma "a string with a }} in it";
    {body}
    st.global.u32 [%a], %r1;   // the last comment
    ret;
    // behind it
}}
"""


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Module]:
    """Parses any text as a large one."""

    def later(text: str) -> Module:
        with monkeypatch.context() as small:
            small.setattr(sys.modules["ptxkit.asm.parse"], "SMALLEST", 0)
            return parse(text)

    return later


def function(module: Module, name: str) -> Function:
    return next(each for each in module.functions if each.name == name)


def launched(module: Module | EmulatorModule, name: str) -> int:
    """What an entry writes."""
    loaded = Emulator().load(module) if isinstance(module, Module) else module
    out = loaded.device.empty(1, np.uint32)
    loaded.kernel(name).launch(1, 1, [out])
    return int(out.numpy()[0])


def same(later: Module, whole: Module, text: str) -> None:
    assert later == whole
    assert write(later) == text
    assert later.diagnostics == whole.diagnostics
    for one, other in zip(later.statements, whole.statements, strict=True):
        assert one.span == other.span
        assert repr(one) == repr(other)
        if isinstance(one, Function) and one.body is not None:
            assert isinstance(other, Function)
            assert other.body is not None
            assert one.body.span == other.body.span
            assert [each.span for each in one.body.statements] == [
                each.span for each in other.body.statements
            ]


def test_bodies_are_read_when_they_are_looked_at(unread: Callable[[str], Module]) -> None:
    text = HEADER + entry("a") + entry("b")
    module = unread(text)
    assert isinstance(module, UnreadModule)
    a, b = module.entries
    assert (a.name, a.parameters[0].name, b.name) == ("a", "a_out", "b")
    assert isinstance(a.body, UnreadBody)
    assert len(a.body.statements) == 7
    assert type(a.body).__name__ == "Block"
    assert (is_read(a), is_read(b)) == (True, False)
    same(module, parse(text), text)
    assert is_read(b)
    assert type(module) is Module


@each_file
def test_files_of_the_corpus_are_the_same(path: Path, unread: Callable[[str], Module]) -> None:
    text = read(path)
    if "\n" in text:
        module = unread(text)
        same(module, parse(text), text)


BROKEN = ("add.u32 %r1, %r1", "mov.u32 {1;", "}", "ld.global.u32 %r1, [%a;", '.pragma "open', "/* open")


@pytest.mark.parametrize("body", BROKEN)
def test_errors_are_those_of_a_text_that_is_read_at_once(body: str, unread: Callable[[str], Module]) -> None:
    text = HEADER + entry("a") + entry("b", body) + entry("c")
    later, whole = unread(text), parse(text)
    assert later.diagnostics == whole.diagnostics
    assert check(unread(text)) == check(whole)


def test_what_declares_for_the_module_is_read_at_once(unread: Callable[[str], Module]) -> None:
    text = HEADER + entry("a", ".global .b32 kept[4];") + entry("b") + entry("c")
    assert [is_read(each) for each in unread(text).entries] == [True, False, False]


def test_copies_are_read(unread: Callable[[str], Module]) -> None:
    text = HEADER + entry("a") + entry("b")
    whole = parse(text)
    assert copy.deepcopy(unread(text)) == whole
    assert pickle.loads(pickle.dumps(unread(text))) == whole
    assert whole == unread(text)
    assert function(unread(text), "a") == function(whole, "a")


def test_an_entry_with_errors_does_not_stop_another(unread: Callable[[str], Module]) -> None:
    for body in ("add.u32 %r1, %r1", "add.u32 %r1, %nothing, 1;"):
        module = unread(HEADER + entry("a", body) + entry("b", value=7))
        loaded = Emulator().load(module)
        assert launched(loaded, "b") == 7
        assert not is_read(function(module, "a"))
        for _ in range(2):
            with pytest.raises(PtxkitError) as caught:
                loaded.kernel("a")
        assert launched(loaded, "b") == 7
        assert {each.code for each in caught.value.diagnostics} == {
            each.code for each in check(module) if each.is_error
        }


CALLED = """
.func (.param .b32 r) {0}() {{ .reg .b32 %v; mov.u32 %v, {1}; st.param.b32 [r], %v; ret; }}
"""


def test_what_an_entry_calls_is_read_with_it(unread: Callable[[str], Module]) -> None:
    calls = "{ .param .b32 got; call (got), helped, (); ld.param.b32 %r1, [got]; }"
    text = HEADER + CALLED.format("helper", 5) + ".alias helped, helper;\n" + CALLED.format("other", 6)
    module = unread(text.replace(".alias", ".func (.param .b32 r) helped();\n.alias") + entry("a", calls))
    assert launched(module, "a") == 5
    assert is_read(function(module, "helper"))
    assert not is_read(function(module, "other"))


def test_an_entry_that_calls_through_a_pointer_reaches_every_function(
    unread: Callable[[str], Module],
) -> None:
    calls = """{ .reg .b64 %t; .param .b32 got; ld.global.b64 %t, [table+8];
        form: .callprototype (.param .b32 _) _ (); call (got), %t, (), form; ld.param.b32 %r1, [got]; }"""
    text = HEADER + CALLED.format("one", 5) + CALLED.format("two", 6)
    module = unread(text + ".global .u64 table[2] = {one, two};\n" + entry("a", calls) + entry("b"))
    assert launched(module, "a") == 6
    assert [is_read(each) for each in module.functions] == [True, True, True, False]


def test_linked_modules(unread: Callable[[str], Module]) -> None:
    main = unread(HEADER + entry("a") + entry("b"))
    whole = link([main, parse(HEADER + CALLED.format("c", 1))])
    assert {each.name for each in whole.functions} == {"a", "b", "c"}
    assert not any(map(is_read, main.entries))
    assert known_diagnostics(main) == []


def test_tables_of_words() -> None:
    """Long lists of integers go a way of their own."""
    tables = ".global .b16 w[2][3] = {{1, 0xFFFF, 65536}, {-1, 5}};\n.global .b64 q[] = {1, 2};\n"
    device = Emulator()
    loaded = device.load(HEADER + tables)
    for name, kind, wanted in (("w", "u2", [1, 65535, 0, 65535, 5, 0]), ("q", "u8", [1, 2])):
        address, size = loaded.variable(name) or (0, 0)
        held = device.memory.data[address - BASE : address - BASE + size]
        assert held.view(kind).tolist() == wanted
