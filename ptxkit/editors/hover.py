"""What an editor shows of a word: the forms of an instruction, what a name stands for."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.asm.decode import find_match
from ptxkit.asm.kinds import Names
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.asm.tree import Instruction
from ptxkit.editors.document import Document
from ptxkit.editors.locate import statement_at, word_at
from ptxkit.isa import describe
from ptxkit.isa.notation import Form
from ptxkit.isa.special_registers import SPECIAL_REGISTERS

FEW = 4
"""As many forms are shown."""


def hover(document: Document, line: int, column: int) -> str | None:
    """Markdown about the word at a place, None where there is nothing to say."""
    word = word_at(document, line, column)
    if word is None:
        return None
    statement, scope = statement_at(document, line, word.column)
    symbol = scope.lookup(word.name)
    if symbol is not None:
        return _symbol(document, symbol)
    register = SPECIAL_REGISTERS.get(word.name)
    if register is not None:
        return f"```ptx\n{register.declaration}\n```\n{describe.special_register(register)}"
    if isinstance(statement, Instruction) and _is_ahead(statement, document.made_line(line), word.column):
        match = find_match(statement, Names(scope))
        if match is not None:
            return _forms([match.form])
    return _forms(_nearest_forms(word.text))


def _is_ahead(instruction: Instruction, line: int, column: int) -> bool:
    """Whether a place is ahead of an instruction's operands, where opcode and modifiers are."""
    spans = (operand.span for operand in instruction.operands)
    return all(span is None or (line, column) < (span.line, span.column) for span in spans)


def _nearest_forms(text: str) -> Sequence[Form]:
    """The forms of a spelling, or of as much of its beginning as there is."""
    while text and not text.startswith("."):
        found = describe.find(text)
        if found:
            return found
        text = text.rpartition(".")[0]
    return ()


def _forms(forms: Sequence[Form]) -> str | None:
    if not forms:
        return None
    parts = [f"PTX ISA {form.section}\n```text\n{describe.to_text(form)}\n```" for form in forms[:FEW]]
    if len(forms) > FEW:
        parts.append(f"and {len(forms) - FEW} more: `ptxkit explain {forms[0].name}`")
    return "\n\n".join(parts)


def _symbol(document: Document, symbol: Symbol) -> str:
    """A name, its declaration and where that stands."""
    if symbol.kind in (SymbolKind.LABEL, SymbolKind.FUNCTION, SymbolKind.ALIAS):
        head = f"{symbol.kind} {symbol.name}"
    else:
        vector = f" .{symbol.vector}" if symbol.vector else ""
        head = f".{symbol.space}{vector} .{symbol.type} {symbol.name}"
    made = document.module.source
    if symbol.span is None or made is None:
        return f"```ptx\n{head}\n```"
    source, span, _ = made.origin(symbol.span)
    place = f"line {span.line}" if document.is_here(source) else f"{source.name}:{span.line}"
    written = (source.line(span.line) or "").strip()
    return f"```ptx\n{head}\n```\ndeclared in {place}: `{written}`"
