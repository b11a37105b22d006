"""Several modules as one: what the driver's linker does with PTX, done on the text. PTX ISA 11.6.

    whole = link([main, *others])

An `.extern` declaration is resolved by another module's `.visible`, `.weak` or `.common` definition. The
whole has the first module's target and the newest version; every line knows the file that it came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.asm.parse import parse
from ptxkit.asm.preprocess import Expanded
from ptxkit.asm.tree import Directive, Function, Module, Statement, Variable
from ptxkit.diagnostics import Source, Span, error

_HEADER = ("version", "target", "address_size")
_EXTERN = ".extern"


def link(modules: Sequence[Module]) -> Module:
    """One module of several that were parsed without errors.

    Args:
        modules: the first one's `.target` is the whole's.

    Raises:
        PtxkitError: P526, two modules declare a name that neither shows, or need each other's variables.
    """
    _refuse_clashes(modules)
    first = modules[0]
    newest = max(modules, key=lambda module: module.version or (0, 0))
    lines: list[str] = []
    origins: list[tuple[Source, int]] = []
    for name, owner in (("version", newest), ("target", first), ("address_size", first)):
        for statement in owner.statements:
            if isinstance(statement, Directive) and statement.name == name and statement.span:
                lines.append(_cut(owner, statement.span))
                origins.append(_origin(owner, statement.span.line))
    linkage = {name: statement.linkage for module in modules for name, statement in _defined(module)}
    above: set[str] = set()
    for module in _in_order(modules):
        for number, line in enumerate(_edited(module, linkage, above), 1):
            lines.append(line)
            origins.append(_origin(module, number))
        above.update(name for name, _ in _defined(module))
    name = " + ".join(module.source.name for module in modules if module.source)
    text = "\n".join(lines) + "\n"
    whole = parse(text, name=name, max_size=max(1, len(text.encode("utf-8"))))
    whole.source = Expanded(name, text, origins)
    return whole


def _edited(module: Module, linkage: dict[str, str | None], above: set[str]) -> list[str]:
    """The module's lines without its header, its `.extern`s resolved.

    Args:
        module: to be edited.
        linkage: of every definition that a module shows.
        above: those that stand before the module.
    """
    lines = _text(module).split("\n")
    for statement in module.statements:
        span = statement.span
        if span is None:
            continue
        if isinstance(statement, Directive) and statement.name in _HEADER:
            _blank(lines, span)
        elif isinstance(statement, Variable | Function) and statement.linkage == "extern":
            found = [name for name in _names(statement) if name in linkage]
            if found and found[0] in above:
                _blank(lines, span)
            elif found:
                _replace(lines, span, f".{linkage[found[0]]}")  # the prototype of what comes later
    return lines


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


def _in_order(modules: Sequence[Module]) -> list[Module]:
    """The modules, each behind those whose variables it needs; a function needs only its prototype."""
    defined = [{name for name, s in _defined(m) if isinstance(s, Variable)} for m in modules]
    needed = [
        {name for name, s in _declared(m) if isinstance(s, Variable) and s.linkage == "extern"}
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


def _replace(lines: list[str], span: Span, linkage: str) -> None:
    """Put another linkage in place of the first `.extern` of a stretch."""
    for number in range(span.line, span.end_line + 1):
        start = span.column - 1 if number == span.line else 0
        at = lines[number - 1].find(_EXTERN, start)
        if at >= 0:
            lines[number - 1] = lines[number - 1][:at] + linkage + lines[number - 1][at + len(_EXTERN) :]
            return
