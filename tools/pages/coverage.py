"""The tables of docs/coverage.md: what is done with each form of the instruction set.

A form is a row of `ptxkit/isa`. Of each, up to 40 sample statements are made; they are parsed, checked, and
compiled by the emulator, each for the newest target that has it. What a GPU said of a form is taken from
bench/results/devices.<gpu>.json, which `tools/compare_devices.py` writes, and asynchronous.<gpu>.json, which
`tools/compare_asynchronous.py` writes, and how ptxas and the checker agree
on it from bench/results/agreement.json, which `python -m tools.agreement each` writes. What else the
execution of a form rests on is in semantics.toml beside this file.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ptxkit
from ptxkit import targets
from ptxkit.asm import tree
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.emulator import Emulator, EmulatorModule
from ptxkit.isa import registry
from ptxkit.isa.notation import Form
from ptxkit.isa.sample import MODULE, PREAMBLE, samples

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
LIMIT = 40
"""Statements of a form."""
BATCH = 400
"""Statements of a file."""
SEMANTICS = Path(__file__).with_name("semantics.toml")
BASES = ("manual", "other implementation", "inferred")
"""What the execution of a form may rest on, where no GPU was compared."""
REASONS = 2
"""Reasons why something is not emulated that a line of the page names."""
FUNCTIONS = (
    ".func v_nothing() { ret; } "
    ".func (.param .b32 v_r) v_same(.param .b32 v_a) { .reg .b32 %v; ld.param.b32 %v, [v_a]; "
    "st.param.b32 [v_r], %v; ret; } "
)
"""What `CALLS` call."""
CALLS = (
    "call v_nothing;",
    "call.uni v_nothing;",
    "{ .param .b32 v_x, v_y; st.param.b32 [v_x], 5; call (v_y), v_same, (v_x); }",
    "{ .param .b32 v_x, v_y; st.param.b32 [v_x], 5; call.uni (v_y), v_same, (v_x); }",
    "{ .reg .b64 %v_at; mov.b64 %v_at, v_nothing; v_type: .callprototype _ (); call %v_at, v_type; }",
)
"""Statements of `call`, whose operands follow from what it calls and not from its row."""
HEAD = MODULE.replace("\n", " ") + FUNCTIONS


@dataclass
class Line:
    """One form.

    Attributes:
        form: the row.
        statements: samples made of it.
        parsed, checked, emulated: how many of them are.
        undocumented: whether the manual has none of its spellings: ptxas alone takes them.
        missing: what the emulator says it lacks, and how often.
        asked: statements that ptxas and the checker judged.
        differ: those on which they differ.
        hardware: the record of each GPU, by its name.
    """

    form: Form
    statements: int = 0
    parsed: int = 0
    checked: int = 0
    emulated: int = 0
    undocumented: bool = False
    missing: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    differ: int = 0
    hardware: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def extent(self) -> str:
        """`all`, `some` or `none` of its statements are emulated; `gone` where no target has the form."""
        if self.emulated == self.statements:
            return "all" if self.statements else "gone"
        return "some" if self.emulated else "none"


@dataclass(frozen=True)
class Statement:
    """A sample, with the line it counts for and what stands after `.target`."""

    line: Line
    text: str
    target: str


def lines(limit: int = LIMIT, forms: Iterable[Form] | None = None) -> list[Line]:
    """These forms, by default every one, judged on up to `limit` statements."""
    if forms is None:
        forms = (form for opcode in registry.opcodes() for form in registry.forms(opcode))
    found = [Line(form) for form in forms]
    found.sort(key=lambda line: registry.CHAPTERS.index(line.form.chapter))
    by_target: dict[str, list[Statement]] = {}
    for line in found:
        for text, facts in _statements(line, limit):
            target = home(line.form, facts)
            if target is not None:
                line.statements += 1
                by_target.setdefault(target, []).append(Statement(line, text, target))
    for statements in by_target.values():
        for start in range(0, len(statements), BATCH):
            judge(statements[start : start + BATCH])
    return found


def _statements(line: Line, limit: int) -> list[tuple[str, frozenset[str]]]:
    """Statements of a form, with the modifiers and operands that they have: the manual's, if it has any."""
    if line.form.opcode == "call":
        return [(text, frozenset()) for text in CALLS]
    made = list(samples(line.form, limit))
    chosen = [sample for sample in made if sample.of_manual]
    line.undocumented = not chosen
    return [(sample.text, sample.facts) for sample in chosen or made]


def home(form: Form, facts: frozenset[str]) -> str | None:
    """The newest target that has these modifiers, and the texture mode that goes with a sampler."""
    for name in reversed(targets.SUPPORTED):
        if form.available(targets.NEWEST_VERSION, targets.TARGETS[name], facts):
            return f"{name}, texmode_independent" if form.sampler in facts else name
    return None


# ---- parser, checker, emulator


def judge(statements: list[Statement]) -> None:
    """Parse, check and compile statements of one target, in one file, and count in their lines."""
    module = _module(statements)
    refused = _at(module.diagnostics, len(statements))
    _count("parsed", statements, refused)
    refused |= _at(ptxkit.check(module), len(statements))
    _count("checked", statements, refused)
    sound = [statement for i, statement in enumerate(statements) if i not in refused]
    lacking = unsupported(sound)
    _count("emulated", sound, lacking)
    for i, message in lacking.items():
        sound[i].line.missing[message] += 1


def unsupported(statements: list[Statement]) -> dict[int, str]:
    """What the emulator's compiler says of those that it refuses, by index."""
    messages: dict[int, str] = {}
    while alive := [i for i in range(len(statements)) if i not in messages]:
        try:
            kernel = EmulatorModule(Emulator(), _module([statements[i] for i in alive])).kernel()
            assert kernel.attributes
            break
        except PtxkitError as refused:
            found = _at(refused.diagnostics, len(alive))
            messages |= {alive[i]: message for i, message in found.items()}
    return messages


def _module(statements: list[Statement]) -> tree.Module:
    """A file with one statement a line; the first stands on line 4."""
    body = "\n".join(statement.text for statement in statements)
    return ptxkit.parse(
        f".version {targets.show(targets.NEWEST_VERSION)}\n.target {statements[0].target}\n.address_size 64 "
        f"{HEAD} .entry k(.param .b64 v_kernel) {{ {PREAMBLE}\n{body}\nret;\n}}\n"
    )


def _at(found: Iterable[Diagnostic], count: int) -> dict[int, str]:
    """Messages of errors, by the statement they are about."""
    messages: dict[int, str] = {}
    for diagnostic in found:
        if diagnostic.is_error:
            index = diagnostic.span.line - 4 if diagnostic.span else -1
            if not 0 <= index < count:
                raise RuntimeError(f"an error outside the statements: {diagnostic}")
            messages.setdefault(index, diagnostic.message)
    return messages


def _count(what: str, statements: list[Statement], refused: dict[int, str]) -> None:
    for i, statement in enumerate(statements):
        if i not in refused:
            setattr(statement.line, what, getattr(statement.line, what) + 1)


# ---- hardware


def records() -> list[dict[str, Any]]:
    """The comparisons with GPUs."""
    paths = [*sorted(RESULTS.glob("devices.*.json")), *sorted(RESULTS.glob("asynchronous.*.json"))]
    documents = [json.loads(path.read_text()) for path in paths]
    return [document for document in documents if document["gpu"]]


def add_hardware(found: list[Line], documents: list[dict[str, Any]]) -> list[str]:
    """Put what the records say of each form into its line; returns the recorded forms that have none."""
    by_row: dict[tuple[str, str], list[Line]] = {}
    for line in found:
        by_row.setdefault((line.form.section, line.form.syntax), []).append(line)
    gone = []
    for document in documents:
        for entry in document["forms"]:
            alike = by_row.get((entry["section"], entry["form"]))
            if alike is None:
                gone.append(f"{entry['section']} {entry['form']}")
                continue
            for line in alike:
                own = entry if len(alike) == 1 else share(entry, line.form)
                if own["instances"]:
                    line.hardware[document["gpu"]] = own
    return gone


def share(entry: dict[str, Any], form: Form) -> dict[str, Any]:
    """What a record says of one of several forms with the same syntax: of the spellings that it has."""
    choices = [((None,) if slot.optional else ()) + slot.values for slot in form.slots]
    own = {".".join((form.opcode, *filter(None, chosen))) for chosen in itertools.product(*choices)}
    counts = [sum(each) for name, each in entry["spellings"].items() if name in own]
    differs = [each for name, each in entry.get("differs", {}).items() if name in own]
    wrong = sum(each["wrong"] for each in differs)
    return {**entry, "instances": sum(counts), "mismatches": wrong}


# ---- ptxas


def agreement() -> dict[str, Any] | None:
    """The comparison of ptxas and the checker; None where it is not recorded."""
    path = RESULTS / "agreement.json"
    return json.loads(path.read_text()) if path.exists() else None


def add_agreement(found: list[Line], document: dict[str, Any] | None) -> None:
    """Put what the record says of each form into its line; forms of one syntax share what it says."""
    if document is None:
        return
    recorded = {(entry["section"], entry["form"]): entry for entry in document["forms"]}
    for line in found:
        entry = recorded.get((line.form.section, line.form.syntax))
        if entry is not None:
            line.asked, line.differ = entry["statements"], entry["differ"]


# ---- what the semantics rest on


def semantics() -> list[dict[str, Any]]:
    """The entries of semantics.toml, for which its head says what they mean."""
    entries: list[dict[str, Any]] = tomllib.loads(SEMANTICS.read_text())["forms"]
    return entries


def concerns(entry: dict[str, Any], form: Form) -> bool:
    """Whether an entry of semantics.toml is about a form."""
    if form.chapter not in entry["chapters"].split():
        return False
    if "opcodes" in entry and form.opcode not in entry["opcodes"].split():
        return False
    asked = set(entry.get("modifiers", "").split())
    return not asked or bool(asked & form.modifiers)


def rests_on(line: Line, entries: list[dict[str, Any]]) -> str:
    """What the execution of a form rests on; `-` where it is not executed."""
    if not line.emulated:
        return "-"
    if line.hardware:
        return ", ".join(name.removeprefix("NVIDIA ") for name in line.hardware)
    for entry in entries:
        if concerns(entry, line.form):
            return f"{', '.join(entry['rests'])}: {entry['why']}"
    return "manual"


# ---- the page


def recorded(documents: list[dict[str, Any]], compared: dict[str, Any] | None) -> str:
    """What the records were made with, a line each."""
    said = []
    for document in documents:
        driver = document["machine"]["driver"]["driver"]
        said.append(f"{document['gpu']}, {document['target']}, {document['date'][:10]}, driver {driver}")
    if compared:
        said.append(f"{compared['assembler']}, {compared['date'][:10]}")
    return "".join(f"- {line}\n" for line in dict.fromkeys(said)) or "Nothing has been recorded yet.\n"


def page(found: list[Line], documents: list[dict[str, Any]], compared: dict[str, Any] | None) -> str:
    """The tables, of lines that have what the documents say."""
    names = list(dict.fromkeys(document["gpu"] for document in documents))
    parts = [f"Compared with:\n\n{recorded(documents, compared)}", _summary(found, names)]
    for chapter in registry.CHAPTERS:
        of_chapter = [line for line in found if line.form.chapter == chapter]
        if of_chapter:
            parts.append(f"## {_title(chapter)}\n\n{_table(of_chapter, names)}")
    return "\n".join(parts)


def _title(chapter: str) -> str:
    return chapter.replace("_", " ")


def _summary(found: list[Line], names: list[str]) -> str:
    columns = ["chapter", "forms", "statements", "emulated: all", "some", "none", "no more"]
    columns += [title for name in names for title in (f"compared on {name}", "instances", "differ")]
    rows = []
    for chapter in (*registry.CHAPTERS, None):
        of_chapter = [line for line in found if chapter in (None, line.form.chapter)]
        if not of_chapter:
            continue
        extents = Counter(line.extent for line in of_chapter)
        numbers = [len(of_chapter), sum(line.statements for line in of_chapter)]
        numbers += [extents[extent] for extent in ("all", "some", "none", "gone")]
        for name in names:
            entries = [line.hardware[name] for line in of_chapter if name in line.hardware]
            numbers += [len(entries), *(sum(e[key] for e in entries) for key in ("instances", "mismatches"))]
        title = "**all**" if chapter is None else f"[{_title(chapter)}](#{_title(chapter).replace(' ', '-')})"
        rows.append([title, *map(str, numbers)])
    return _markdown(columns, rows)


def _table(of_chapter: list[Line], names: list[str]) -> str:
    columns = ["section", "form", "parsed", "checked", "ptxas", "emulated", "rests on", *names]
    rows, entries = [], semantics()
    for line in of_chapter:
        form = f"`{line.form.syntax}`{', *ptxas alone*' if line.undocumented else ''}"
        cells = [line.form.section, form, _part(line, "parsed"), _part(line, "checked")]
        cells += [_asked(line), _emulated(line), rests_on(line, entries)]
        rows.append([*cells, *(_compared(line.hardware.get(name)) for name in names)])
    return _markdown(columns, rows)


def _part(line: Line, what: str) -> str:
    number = getattr(line, what)
    if not line.statements:
        return _gone(line.form)
    return "yes" if number == line.statements else f"{number} of {line.statements}"


def _gone(form: Form) -> str:
    """Since when no supported target has a form."""
    assert form.until is not None
    return f"before PTX {targets.show(form.until.version)}"


def _asked(line: Line) -> str:
    if not line.asked:
        return "-"
    return f"{line.asked}, {line.differ} differ" if line.differ else f"{line.asked}"


def _emulated(line: Line) -> str:
    if line.extent == "gone":
        return _gone(line.form)
    if line.extent == "all":
        return "all"
    reasons = Counter[str]()
    for message, count in line.missing.items():
        reasons[re.sub(r"^the emulator does not execute `[^`]*`: ", "", message)] += count
    said = [reason for reason, _ in reasons.most_common(REASONS)]
    more = len(reasons) - len(said)
    if more:
        said.append(f"and {more} more reasons" if more > 1 else "and 1 more reason")
    if line.checked < line.statements:
        said.append(f"{line.statements - line.checked} are not read or not accepted")
    number = "none" if line.extent == "none" else f"{line.emulated} of {line.statements}"
    return f"{number}: {'; '.join(said)}" if said else number


def _compared(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "-"
    said = f"{entry['instances']}"
    return f"{said}, **{entry['mismatches']} differ**" if entry["mismatches"] else said


def _markdown(columns: list[str], rows: list[list[str]]) -> str:
    cells = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in cells)


def tables() -> str:
    """The tables of every form, with what is recorded of it."""
    found, documents, compared = lines(), records(), agreement()
    add_agreement(found, compared)
    add_hardware(found, documents)
    return page(found, documents, compared)
