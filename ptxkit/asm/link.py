"""Several modules as one: what the driver's linker does with PTX, done on the text. PTX ISA 11.6.

    whole = link([main, *others])

An `.extern` declaration is resolved by another module's `.visible`, `.weak` or `.common` definition. Of
several definitions the `.visible` one holds, else the first; the others go. Source files are numbered anew.
The whole has the first module's target and the newest version; every line knows the file that it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptxkit.asm.parse import parse
from ptxkit.asm.preprocess import Expanded
from ptxkit.asm.tree import Directive, Function, Module, Statement, Variable
from ptxkit.diagnostics import Source, Span, counted, error
from ptxkit.dtypes import DTYPES

_HEADER = ("version", "target", "address_size")
_FILE = re.compile(r"^[ \t]*\.file[ \t]+(\d+)", re.M)
_FILE_INDEX = re.compile(r"(^[ \t]*\.(?:file|loc)[ \t]+|\binlined_at[ \t]+)(\d+)")
"""Where the number of a source file stands: each module has its own from 1 on."""
_RANK: dict[str | None, int] = {"common": 0, "weak": 0, "visible": 1}
"""Which definition holds."""


def link(modules: Sequence[Module]) -> Module:
    """One module of several that were parsed without errors.

    Args:
        modules: the first one's `.target` is the whole's.

    Raises:
        PtxkitError: P526, two modules declare a name that neither shows, or need each other's variables, or
            a variable is declared with another size or state space than it is defined with.
    """
    _refuse_clashes(modules)
    held = _held(modules)
    first = modules[0]
    newest = max(modules, key=lambda module: module.version or (0, 0))
    lines: list[str] = []
    origins: list[tuple[Source, int]] = []
    for name, owner in (("version", newest), ("target", first), ("address_size", first)):
        for statement in owner.statements:
            if isinstance(statement, Directive) and statement.name == name and statement.span:
                lines.append(_cut(owner, statement.span))
                origins.append(_origin(owner, statement.span.line))
    above: set[str] = set()
    files = 0
    for module in _in_order(modules, held):
        shift, files = files, files + max(map(int, _FILE.findall(_text(module))), default=0)
        for number, line in enumerate(_edited(module, held, above), 1):
            lines.append(_renumbered(line, shift) if shift else line)
            origins.append(_origin(module, number))
        above.update(name for name, statement in _defined(module) if held[name] is statement)
    name = " + ".join(module.source.name for module in modules if module.source)
    text = "\n".join(lines) + "\n"
    whole = parse(text, name=name, max_size=max(1, len(text.encode("utf-8"))))
    whole.source = Expanded(name, text, origins)
    return whole


def _renumbered(line: str, by: int) -> str:
    """A line whose source files have greater numbers."""
    return _FILE_INDEX.sub(lambda found: found[1] + str(int(found[2]) + by), line)


def _held(modules: Sequence[Module]) -> dict[str, Function | Variable]:
    """The definition of each name that a module shows: the `.visible` one, else the first."""
    held: dict[str, Function | Variable] = {}
    for module in modules:
        for name, statement in _defined(module):
            other = held.get(name)
            if other is None or _RANK[statement.linkage] > _RANK[other.linkage]:
                held[name] = statement
    return held


def _edited(module: Module, held: dict[str, Function | Variable], above: set[str]) -> list[str]:
    """The module's lines without its header, its `.extern`s resolved, without definitions that do not hold.

    Args:
        module: to be edited.
        held: the definition of each name that a module shows.
        above: the names of those that come before the module.
    """
    lines = _text(module).split("\n")
    for statement in module.statements:
        span = statement.span
        if span is None:
            continue
        if isinstance(statement, Directive) and statement.name in _HEADER:
            _blank(lines, span)
            continue
        if not isinstance(statement, Variable | Function) or statement.linkage is None:
            continue
        found = [held[name] for name in _names(statement) if name in held]
        defined = isinstance(statement, Variable) or statement.body is not None
        if not found or (statement.linkage != "extern" and (not defined or found[0] is statement)):
            continue
        if isinstance(statement, Variable) and isinstance(found[0], Variable):
            _refuse_difference(module, statement, found[0])
        if found[0].linkage == statement.linkage == "visible":
            continue  # Two of them: `check` says so.
        if any(name in above for name in _names(statement)):
            _blank(lines, span)
        else:  # A function that comes later: its prototype.
            if isinstance(statement, Function) and statement.body is not None and statement.body.span:
                body = statement.body.span
                _blank(lines, body)
                line = lines[body.line - 1]
                lines[body.line - 1] = f"{line[: body.column - 1]};{line[body.column :]}"
            _replace(lines, span, statement.linkage, f".{found[0].linkage}")
    return lines


def _refuse_difference(module: Module, declared: Variable, defined: Variable) -> None:
    """A variable lies in one state space and has one size wherever it is declared."""
    name = declared.declarators[0].name
    one, other = _size(declared, name), _size(defined, name)
    if declared.space == defined.space and (one is None or other is None or one == other):
        return
    message = (
        f"`{name}` is declared in `{_name(module)}` as {_shown(declared, one)}, and defined as "
        f"{_shown(defined, other)}"
    )
    raise error("P526", message, help="declare it in the same way in all files")


def _size(variable: Variable, name: str) -> int | None:
    """The bytes of a variable; None where its declaration does not say."""
    declarator = next((d for d in variable.declarators if d.name == name), variable.declarators[0])
    size = DTYPES[variable.type].bytes * (int(variable.vector[1:]) if variable.vector else 1)
    for dimension in declarator.dimensions:
        if not dimension:
            return None
        size *= dimension
    return size


def _shown(variable: Variable, size: int | None) -> str:
    return f"{counted(size, 'byte')} in `.{variable.space}`" if size else f"an array in `.{variable.space}`"


def _names(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Function):
        yield statement.name
    elif isinstance(statement, Variable):
        for declarator in statement.declarators:
            yield declarator.name


def _declared(module: Module) -> Iterator[tuple[str, Function | Variable]]:
    """Functions and variables at module level."""
    for statement in module.statements:
        if isinstance(statement, Function | Variable):
            for name in _names(statement):
                yield name, statement


def _defined(module: Module) -> Iterator[tuple[str, Function | Variable]]:
    """What others can see of a module."""
    for name, statement in _declared(module):
        if statement.linkage in ("visible", "weak", "common") and (
            isinstance(statement, Variable) or statement.body is not None
        ):
            yield name, statement


def _refuse_clashes(modules: Sequence[Module]) -> None:
    owner: dict[str, Module] = {}
    for module in modules:
        for name in dict(_declared(module)):
            if name in owner and not _shared(name, owner[name], module):
                there = ", ".join(f"`{_name(each)}`" for each in (owner[name], module))
                message = f"`{name}` is declared in {there}, and nothing says that they share it"
                help = "rename one, or declare it `.visible` in one file and `.extern` in the other"
                raise error("P526", message, help=help)
            owner[name] = module


def _shared(name: str, first: Module, second: Module) -> bool:
    """Whether a name stands for the same thing in both modules."""
    return all(
        any(statement.linkage for other, statement in _declared(module) if other == name)
        for module in (first, second)
    )


def _in_order(modules: Sequence[Module], held: dict[str, Function | Variable]) -> list[Module]:
    """The modules, each after those whose variables it needs; a function needs only its prototype."""
    defined = [
        {name for name, s in _defined(m) if isinstance(s, Variable) and held[name] is s} for m in modules
    ]
    needed = [
        {
            name
            for name, s in _declared(m)
            if isinstance(s, Variable) and (s.linkage == "extern" or held.get(name, s) is not s)
        }
        for m in modules
    ]
    left, ordered = list(range(len(modules))), list[Module]()
    while left:
        ready = [i for i in left if not any(needed[i] & defined[j] for j in left if j != i)]
        if not ready:
            names = ", ".join(f"`{_name(modules[i])}`" for i in left)
            message = f"{names} need each other's variables, which one text can't have in any order"
            raise error("P526", message, help="define them in one of the files")
        # The last one first: the main module, which comes first, needs the others as a rule.
        ordered.append(modules[ready[-1]])
        left.remove(ready[-1])
    return ordered


def _name(module: Module) -> str:
    return module.source.name if module.source else "a module"


def _text(module: Module) -> str:
    assert module.source is not None, "only modules that were parsed are linked"
    return module.source.text


def _origin(module: Module, line: int) -> tuple[Source, int]:
    source = module.source
    assert source is not None
    return (
        source.origins[min(line, len(source.origins)) - 1] if isinstance(source, Expanded) else (source, line)
    )


def _cut(module: Module, span: Span) -> str:
    """A stretch of the text, on one line."""
    lines = _text(module).split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return " ".join(line.strip() for line in lines)


def _blank(lines: list[str], span: Span) -> None:
    """Put blanks in place of a stretch."""
    for number in range(span.line, span.end_line + 1):
        line = lines[number - 1]
        start = span.column - 1 if number == span.line else 0
        end = span.end_column - 1 if number == span.end_line else len(line)
        lines[number - 1] = line[:start] + " " * (end - start) + line[end:]


def _replace(lines: list[str], span: Span, old: str, new: str) -> None:
    """Put another linkage in place of the first one of a stretch."""
    for number in range(span.line, span.end_line + 1):
        start = span.column - 1 if number == span.line else 0
        at = lines[number - 1].find(f".{old}", start)
        if at >= 0:
            lines[number - 1] = lines[number - 1][:at] + new + lines[number - 1][at + len(old) + 1 :]
            return
