"""The language server: as a process over its pipes, and what it says of a text."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asm_corpus import FILES, read
from command import here, refused
from language_client import Client

from ptxkit.editors.complete import complete
from ptxkit.editors.document import Document
from ptxkit.editors.hover import hover
from ptxkit.editors.locate import definition
from ptxkit.isa.unfinished import next_modifiers

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

TEXT = """\
.version 9.0
.target sm_90a
.extern .func helper(.param .b32 a);
.global .b32 table[4];
.visible .entry k(.param .u64 p)
{
    .reg .pred %p1;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    /* µm 😀 */ mov.u32 %r1, %tid.x;
again:
    { .reg .f32 %r1; mov.f32 %r1, 0f00000000; }
    ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];
    st.global.u32 [table], %r3;
    @%p1 bra again;
    ret;
}
"""
LINES = TEXT.split("\n")


def document(text: str = TEXT) -> Document:
    return Document(Path("/nowhere/k.ptx"), text)


def place(line: int, fragment: str, inside: int = 0) -> tuple[int, int]:
    """Line and column of the first occurrence of a fragment in a line of `TEXT`."""
    return line, LINES[line - 1].index(fragment) + 1 + inside


# ---- over the pipes


@pytest.fixture
def client() -> Iterator[Client]:
    found = Client()
    yield found
    if found.process.poll() is None:
        assert found.close() == 0


def test_findings_follow_the_typing(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "k.ptx", TEXT)
    assert [(d["code"], d["severity"]) for d in client.diagnostics(uri, 1)] == [("P109", 2), ("P204", 2)]
    change: dict[str, Any] = {
        "range": {"start": {"line": 13, "character": 4}, "end": {"line": 13, "character": 6}},
        "text": "lt",
    }
    version = {"uri": uri, "version": 2}
    client.notify("textDocument/didChange", {"textDocument": version, "contentChanges": [change]})
    error, *_ = (d for d in client.diagnostics(uri, 2) if d["severity"] == 1)
    assert error["code"] == "P212"
    assert error["source"] == "ptxkit"
    assert error["range"]["start"] == {"line": 13, "character": 4}
    assert error["message"].startswith("there is no instruction `lt`")
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    empty = client.receive()
    assert empty["params"]["diagnostics"] == []


def test_quick_typing_is_checked_once(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "k.ptx", TEXT)
    client.diagnostics(uri, 1)
    for version in range(2, 30):
        versioned = {"uri": uri, "version": version}
        client.notify(
            "textDocument/didChange",
            {"textDocument": versioned, "contentChanges": [{"text": f"{TEXT}// {version}\n"}]},
        )
    client.diagnostics(uri, 29)
    published = [m for m in client.notifications if m.get("method") == "textDocument/publishDiagnostics"]
    assert published == []


def test_questions(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "k.ptx", TEXT)
    capabilities = client.initialized["capabilities"]
    assert capabilities["hoverProvider"]
    assert "." in capabilities["completionProvider"]["triggerCharacters"]
    shown = client.ask("hover", uri, 13, 5)["contents"]["value"]
    assert "9.7.9.8" in shown
    found = client.ask("definition", uri, 15, 15)
    assert found["uri"] == uri
    assert found["range"]["start"] == {"line": 11, "character": 0}
    items = client.ask("completion", uri, 13, 7)["items"]
    assert {"global", "param", "shared"} <= {item["label"] for item in items}
    symbols = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [symbol["name"] for symbol in symbols] == ["helper", "table", "k"]
    options = {"tabSize": 4, "insertSpaces": True}
    (edit,) = client.request("textDocument/formatting", {"textDocument": {"uri": uri}, "options": options})
    assert "\n\n.visible .entry k(\n    .param .u64 p\n)\n{\n" in edit["newText"]


def test_columns_are_the_clients(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "k.ptx", TEXT)
    units = len("    /* µm 😀 */ mov.u32 %r1, ".encode("utf-16-le")) // 2
    assert "special register" in client.ask("hover", uri, 10, units + 1)["contents"]["value"]
    assert ".reg .b32 %r1" in client.ask("hover", uri, 10, units - 4)["contents"]["value"]


def test_included_files(client: Client, tmp_path: Path) -> None:
    (tmp_path / "tile.ptx").write_text("\n.shared .b32 tile[4];\n.shared .b33 bad;\n")
    text = TEXT.replace(".extern .func helper(.param .b32 a);", '#include "tile.ptx"').replace(
        ".global.u32 [table]", ".shared.u32 [tile]"
    )
    uri = client.open(tmp_path / "k.ptx", text)
    errors = [d for d in client.diagnostics(uri, 1) if d["severity"] == 1]
    assert [d["message"].split("\n")[0].rpartition("/")[2] for d in errors] == [
        "tile.ptx:3:9: expected a type, found `.b33`"
    ]
    found = client.ask("definition", uri, 14, text.split("\n")[14].index("tile") + 1)
    assert found["uri"] == (tmp_path / "tile.ptx").as_uri()
    assert found["range"]["start"] == {"line": 1, "character": 13}


def edited(text: str, edits: list[dict[str, Any]]) -> str:
    """The text with edits of the protocol made; columns are characters here."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda each: list(each["range"]["start"].values()), reverse=True):
        (first, column), (last, end) = (tuple(edit["range"][at].values()) for at in ("start", "end"))
        made = lines[first][:column] + edit["newText"] + lines[last][end:]
        lines[first : last + 1] = made.split("\n")
    return "\n".join(lines)


def at(text: str, fragment: str, inside: int = 0) -> dict[str, int]:
    """Where a fragment begins, as the protocol counts."""
    before = text[: text.index(fragment) + inside]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


LOOP = """\
.version 8.0
.target sm_80
.global .b32 sum;
.visible .entry k(.param .u64 sum_at)
{
    .reg .pred %p;
    .reg .b32 %n, %r<4>;  // %n counts
    mov.u32 %n, 0;
sum_up:
    add.u32 %n, %n, 1;
    {
        .reg .b32 %n;
        mov.u32 %n, %r1;
    }
    setp.lt.u32 %p, %n, 9;
    @%p bra sum_up;
    st.global.u32 [sum], %n;
    ret;
}
"""


def test_references_are_those_of_the_same_name(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "k.ptx", LOOP)

    def lines(fragment: str, inside: int = 0, declaration: bool = True) -> list[int]:
        where = {"textDocument": {"uri": uri}, "position": at(LOOP, fragment, inside)}
        found = client.request(
            "textDocument/references", {**where, "context": {"includeDeclaration": declaration}}
        )
        assert all(location["uri"] == uri for location in found)
        return [location["range"]["start"]["line"] + 1 for location in found]

    assert lines("%n, 0") == [7, 8, 10, 10, 15, 17]
    assert lines("%n, 0", declaration=False) == [8, 10, 10, 15, 17]
    assert lines("%n, %r1") == [12, 13]
    assert lines("sum]") == [3, 17]
    assert lines("sum_up:") == [9, 16]
    assert lines("%r1") == [7, 13]
    assert lines("ret") == []


def test_a_name_is_changed_wherever_it_means_the_same(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "k.ptx", LOOP)

    def rename(fragment: str, name: str) -> dict[str, Any]:
        where = {"textDocument": {"uri": uri}, "position": at(LOOP, fragment)}
        return client.answer("textDocument/rename", {**where, "newName": name})

    changed = edited(LOOP, rename("%n, 0", "%count")["result"]["changes"][uri])
    outer = LOOP.replace("%n", "%count").replace("// %count", "// %n")
    assert changed == outer.replace(".b32 %count;\n", ".b32 %n;\n").replace("%count, %r1", "%n, %r1")
    changed = edited(LOOP, rename("sum]", "total")["result"]["changes"][uri])
    assert changed == LOOP.replace("b32 sum;", "b32 total;").replace("[sum]", "[total]")
    for fragment, name, said in [
        ("%n, 0", "%p", "means something else already, declared in line 6"),
        ("%n, 0", "2n", "expected a name"),
        ("%r1", "%i", "is one of `%r<..>`"),
        ("ret", "x", "no name"),
    ]:
        assert said in rename(fragment, name)["error"]["message"]


def test_fixes_are_offered_where_findings_are(client: Client, tmp_path: Path) -> None:
    text = LOOP.replace("setp.lt", "setpp.lt").replace("%r1;", "%new;").replace("%n, 0;", "%n, 0")
    uri = client.open(tmp_path / "k.ptx", text)
    client.diagnostics(uri, 1)
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    asked = {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}}
    actions = client.request("textDocument/codeAction", asked)
    offered = {action["title"]: action for action in actions}
    assert {"Change to `setp`", "End the statement with `;`", "Declare `.reg .b32 %new;`"} <= set(offered)
    assert offered["End the statement with `;`"]["isPreferred"]
    assert not offered["Change to `setp`"]["isPreferred"]
    for title, before, after in [
        ("Change to `setp`", "setpp", "setp"),
        ("End the statement with `;`", "%n, 0", "%n, 0;"),
        (
            "Declare `.reg .b32 %new;`",
            "        mov.u32 %n, %new",
            "        .reg .b32 %new;\n        mov.u32 %n, %new",
        ),
    ]:
        action = offered[title]
        assert action["kind"] == "quickfix"
        assert action["diagnostics"][0]["source"] == "ptxkit"
        assert edited(text, action["edit"]["changes"][uri]) == text.replace(before, after)
    line = {"start": at(text, "setpp"), "end": at(text, "setpp", 4)}
    alone = client.request("textDocument/codeAction", {**asked, "range": line})
    assert "Declare `.reg .b32 %new;`" not in {action["title"] for action in alone}


PRODUCT = """\
.version 8.6
.target sm_100a
.visible .entry k()
{
    .reg .pred %p;
    .reg .b32 %d, %i;
    .reg .b64 %a, %b;
    mov.b32 %i, 0x8400490;
    mov.b64 %a, 0x4000404000010000;
    mov.u64 %b, %clock64;
    mov.b32 %d, 0;
    setp.ne.u32 %p, 1, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%d], %a, %b, %i, %p;
    ret;
}
"""


def test_constant_descriptors_are_explained_in_their_line(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "k.ptx", PRODUCT)
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    asked = {"textDocument": {"uri": uri}, "range": whole}
    first, second = client.request("textDocument/inlayHint", asked)
    assert first["position"] == at(PRODUCT, "%a, %b, %i", 2)
    assert "swizzle=128B" in first["label"]
    assert second["position"] == at(PRODUCT, "%i, %p;", 2)
    assert second["label"] == "d=f32 a=bf16 b=bf16 n=256 m=128"
    assert "| 22:17 | `n` | 256 |" in second["tooltip"]["value"]
    above = {**whole, "end": {"line": 5, "character": 0}}
    assert client.request("textDocument/inlayHint", {**asked, "range": above}) == []


def test_a_projects_settings_hold_in_an_editor(client: Client, tmp_path: Path) -> None:
    (tmp_path / "ptxkit.toml").write_text("[check]\nallow = ['P204']\ndeny = ['warnings']\n")
    uri = client.open(tmp_path / "k.ptx", TEXT)
    assert [(d["code"], d["severity"]) for d in client.diagnostics(uri, 1)] == [("P109", 1)]


# ---- what it says


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (place(14, "ld."), "ld{.weak}"),
        (place(14, "v4"), "ld{.weak}"),
        (place(14, "%r3"), ".reg .b32 %r3\n```\ndeclared in line 8: `.reg .b32 %r<8>;`"),
        (place(13, "%r1;"), ".reg .f32 %r1"),
        (place(13, "%r1, 0"), ".reg .f32 %r1"),
        (place(11, "%r1"), ".reg .b32 %r1"),
        (place(10, "[p", 1), ".param .u64 p\n```\ndeclared in line 5"),
        (place(11, "tid"), "special register, since PTX 2.0"),
        (place(15, "table"), ".global .b32 table"),
        (place(16, "again"), "label again\n```\ndeclared in line 12"),
        (place(16, "bra"), "bra{.uni} tgt"),
    ],
)
def test_hover(where: tuple[int, int], expected: str) -> None:
    text = hover(document(), *where)
    assert text is not None
    assert expected in text


def test_hover_shows_the_form_that_an_instruction_is_of() -> None:
    text = hover(document(), *place(14, "ld."))
    assert text is not None
    assert text.count("PTX ISA 9.7.9.8") == 1
    unfinished = document(TEXT.replace("    ret;", "    ld"))
    text = hover(unfinished, 17, 6)
    assert text is not None
    assert text.count("PTX ISA 9.7.9.8") > 1
    assert hover(document(), 6, 1) is None
    assert hover(document(), 99, 1) is None


@pytest.mark.parametrize(
    ("where", "line"),
    [
        (place(14, "%r3"), 8),
        (place(13, "%r1, 0"), 13),
        (place(11, "%r1"), 8),
        (place(10, "[p", 1), 5),
        (place(15, "table"), 4),
        (place(16, "again"), 12),
    ],
)
def test_definition(where: tuple[int, int], line: int) -> None:
    found = definition(document(), *where)
    assert found is not None
    assert found[1].line == line


@pytest.mark.parametrize(
    ("typed", "expected", "unwanted"),
    [
        ("    ld.", {"global", "param", "weak", "u32"}, {"add", "rn"}),
        ("    ld.global.v", {"v2", "v4", "v8"}, {"global"}),
        ("    ld.global.v4.", {"u32", "b64"}, {"v4", "shared"}),
        ("    @%p1 mma.sync.aligned.", {"m16n8k16"}, {"sync"}),
        ("    cp.async.bulk.", {"tensor", "global", "commit_group"}, {"ca"}),
        ("    ma", {"mad", "max", "mapa"}, {"add"}),
        ("    add.u32 %r1, %r", {"%r1", "%r5", "%rd1"}, {"%p1", "table"}),
        ("    mov.u32 %r1, %tid.", {"x", "y", "z"}, {"u32"}),
        ("    mov.u32 %r1, %cta", {"%ctaid"}, {"%tid"}),
        ("    bra ag", {"again"}, {"table"}),
        ("    ld.global.u32 %r1, [ta", {"table"}, {"again"}),
        ("    .sh", {".shared"}, {".visible"}),
        ("    .reg .u", {".u16", ".u32", ".u64"}, {".b32"}),
        ("    // ld.", set(), {"global"}),
    ],
)
def test_completion(typed: str, expected: set[str], unwanted: set[str]) -> None:
    for text in (TEXT.replace("    ret;", typed), TEXT.replace("    ret;\n}", typed)):
        found = complete(document(text), 17, len(typed) + 1)
        texts = {each.text for each in found}
        assert expected <= texts
        assert not unwanted & texts
        assert len(texts) == len(found)
        for each in found:
            assert each.text.startswith(typed[each.start - 1 :])


def test_completion_at_module_scope() -> None:
    found = {each.text for each in complete(document(".version 9.0\n.target sm_90\n.v"), 3, 3)}
    assert found == {".visible", ".v2", ".v4", ".v8", ".version"}
    assert complete(document(""), 1, 1) == []


def test_every_modifier_of_the_corpus_is_proposed() -> None:
    seen: set[tuple[str, ...]] = set()
    for path in FILES[:: max(1, len(FILES) // 12)]:
        for line in read(path).split("\n"):
            word = line.split("//")[0].strip().partition(" ")[0].partition("\t")[0]
            if word[:1].isalpha() and "." in word:
                seen.add(tuple(word.rstrip(";").split(".")))
    assert len(seen) > 50
    for opcode, *modifiers in seen:
        if opcode == "call":
            continue
        for index, modifier in enumerate(modifiers):
            assert modifier in next_modifiers(opcode, modifiers[:index]), (opcode, modifiers)


def test_any_place_of_a_damaged_text_is_answered() -> None:
    draw = random.Random(3)
    for _ in range(60):
        text = list(TEXT)
        for _ in range(draw.choice((1, 3, 20))):
            text[draw.randrange(len(text))] = draw.choice(" ;{}[].%@(\n")
        given = document("".join(text))
        for _ in range(10):
            line = draw.randrange(1, 20)
            column = draw.randrange(1, 50)
            hover(given, line, column)
            definition(given, line, column)
            complete(given, line, column)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("pygls", "ptxkit.editors.server"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    refused(here("lsp"), 3, "P570")
