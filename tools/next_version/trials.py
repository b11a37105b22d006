"""Statements to be tried, out of texts and rows, each as a kernel of its own."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ptxkit
from ptxkit.asm.tokens import statement_tokens
from ptxkit.asm.tree import Instruction, Variable, walk
from ptxkit.isa import registry
from ptxkit.isa.sample import REGISTERS, samples
from tools.agreement.inline import library
from tools.agreement.inline.text import Text, entry
from tools.agreement.mutations import split_operands

OPERANDS = ("b32", "b64", "b16", "b8", "f32", "f64", "pred", "b128")
"""Types that are tried for the operands of a manual's examples, which say none."""
DECLARED = ".shared .align 128 .b8 sm[1024]; .shared .align 8 .b64 mb;"
_USED = re.compile(r"%([a-z]+\d*(?:x2)?)_(\d+)\b")
_LINE = re.compile(
    r"^\s*((?:@!?\w+\s+)?[a-z]\w*(?:\.[\w:]+)+(?:\s[^;{}\n]*(?:\{[^;{}\n]*\}[^;{}\n]*)*)?;)", re.M
)
_WORD = re.compile(r"\.[a-zA-Z_]\w*(?:::\w+)*")
_NAME = re.compile(r"(?<![\w.%:$])[a-zA-Z_%$][\w$%]*(?![\w(:])")


@dataclass(frozen=True)
class Trial:
    """One statement.

    Attributes:
        statement: as it is shown.
        kernel: with `NAME` in the place of the kernel's name.
        where: the file and line, or the row, that it came from.
    """

    statement: str
    kernel: str
    where: str


def of_paths(paths: Iterable[Path]) -> Iterator[Trial]:
    """The statements of PTX files, of Markdown and of folders with C++ in them.

    Raises:
        ValueError: a path is none of these.
    """
    for path in paths:
        if path.is_dir():
            yield from _of_library(path)
            for inside in sorted(path.rglob("*.md")):
                yield from of_markdown(inside.read_text(encoding="utf-8"), str(inside.relative_to(path)))
            for inside in sorted(path.rglob("*.ptx")):
                yield from of_ptx(inside.read_text(encoding="utf-8"), str(inside.relative_to(path)))
        elif path.suffix == ".ptx":
            yield from of_ptx(path.read_text(encoding="utf-8"), path.name)
        elif path.suffix == ".md":
            yield from of_markdown(path.read_text(encoding="utf-8"), path.name)
        else:
            raise ValueError(f"{path}: expected a .ptx or .md file, or a folder")


def _of_library(folder: Path) -> Iterator[Trial]:
    for text in library.read(folder).texts:
        for constants in text.attempts()[:4]:
            yield _of_text(text, constants)


def _of_text(text: Text, constants: Sequence[str]) -> Trial:
    shown = " ".join(text.substituted(constants).split())
    return Trial(shown, entry(text, "NAME", constants), text.where)


def of_ptx(text: str, where: str) -> Iterator[Trial]:
    """Each instruction of a file that names nothing but registers."""
    seen = set()
    for function in ptxkit.parse(text).functions:
        statements = list(walk(function.body.statements if function.body else []))
        types = {}
        for variable in statements:
            if isinstance(variable, Variable) and variable.space == "reg":
                for declarator in variable.declarators:
                    types[declarator.name] = (variable.type, declarator.count)
        for statement in statements:
            if not isinstance(statement, Instruction):
                continue
            shown = "".join(f"{gap or ''}{token}" for gap, token in statement_tokens(statement))
            names = set(_NAME.findall(shown.partition(" ")[2])) - {"_"}
            declared = {name: _type_of(name, types) for name in names}
            key = (statement.spelling, re.sub(r"\d+", "0", shown), tuple(sorted(map(str, declared.values()))))
            if key in seen or None in declared.values():
                continue
            seen.add(key)
            registers = " ".join(f".reg .{t} {name};" for name, t in sorted(declared.items()) if t)
            line = f":{statement.span.line}" if statement.span else ""
            yield Trial(shown, _kernel(f"{registers}\n{shown}"), where + line)


def _type_of(name: str, types: dict[str, tuple[str, int | None]]) -> str | None:
    """The type of a register, declared alone or among others (`%r<8>`); none where it is special."""
    if name in types:
        return types[name][0]
    stem = name.rstrip("0123456789")
    if stem in types and types[stem][1]:
        return types[stem][0]
    return "" if name.startswith("%") else None


def of_markdown(text: str, where: str) -> Iterator[Trial]:
    """A manual's examples: each with every register of one type, and the first of another."""
    seen = set()
    for match in _LINE.finditer(text):
        shown = " ".join(match[1].split())
        if shown in seen:
            continue
        seen.add(shown)
        line = f"{where}:{text.count(chr(10), 0, match.start()) + 1}"
        tail = shown.partition(" ")[2]
        names = list(dict.fromkeys(n for n in _NAME.findall(tail) if n not in ("_", "sm", "mb")))
        names = [name for name in names if not name.startswith("%")]
        for first, others in itertools.product(OPERANDS, OPERANDS) if names else [("b32", "b32")]:
            types = {name: "pred" if name in ("p", "q") else others for name in names}
            if names:
                types[names[0]] = first
            for bracketed in re.findall(r"\[\s*(\w+)", tail):
                if bracketed in types:
                    types[bracketed] = "b64"
            registers = " ".join(f".reg .{type_} {name};" for name, type_ in types.items())
            yield Trial(shown, _kernel(f"{registers}\n{shown}"), line)


def _kernel(body: str) -> str:
    return f".visible .entry NAME() {{ {DECLARED}\n{body}\nret; }}"


def words(paths: Iterable[Path]) -> set[str]:
    """Every modifier that texts mention, without its dot."""
    found: set[str] = set()
    for path in paths:
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            found.update(w[1:] for w in _WORD.findall(file.read_text(encoding="utf-8", errors="replace")))
    return found


def of_rows(count: int, further: Iterable[str], seed: int, known: tuple[int, int]) -> Iterator[Trial]:
    """Statements of the rows that a version has, each with a modifier more.

    Args:
        count: how many.
        further: modifiers beside those of the rows.
        seed: of everything that is chosen.
        known: the version.
    """
    random_ = random.Random(f"next version {seed}")
    forms = [form for opcode in registry.opcodes() for form in registry.forms(opcode)]
    forms = [form for form in forms if form.since.version <= known]
    everywhere = sorted({modifier for form in forms for modifier in form.modifiers} | set(further))
    for _ in range(count):
        form = random_.choice(forms)
        made = list(samples(form, 4, random_.randrange(1 << 30)))
        if not made:
            continue
        statement = random_.choice(made).text
        head, _, tail = statement.partition(" ")
        place = random_.choice((len(head), *(i for i, letter in enumerate(head) if letter == ".")))
        head = head.rstrip(";")
        changed = f"{head[:place]}.{random_.choice(everywhere)}{head[place:]} {tail}".replace(" ;", ";")
        changed = changed if changed.rstrip().endswith(";") else changed.rstrip() + ";"
        used = sorted(set(_USED.findall(changed)))
        registers = " ".join(
            f".reg .{type_} %{type_}_{index};" for type_, index in used if type_ in REGISTERS
        )
        if re.search(r"\bv_|_there|\bk\b", changed):
            continue
        yield Trial(changed, _kernel(f"{registers}\n{changed}"), f"row {form.section} {form.name}")


def operands(trial: Trial) -> list[str]:
    """The operands of a statement, in order."""
    return split_operands(trial.statement.rstrip(";").partition(" ")[2])
