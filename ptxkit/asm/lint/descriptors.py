"""Descriptors that are constants: decoded and held against the instruction that uses them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ptxkit.asm.check.context import Context
from ptxkit.asm.lint.values import Values
from ptxkit.asm.tree import Instruction, Operand
from ptxkit.bits import Word
from ptxkit.diagnostics import Diagnostic, Severity, Span
from ptxkit.encodings.instruction import INSTRUCTION_DESCRIPTORS
from ptxkit.encodings.instruction_base import InstructionDescriptor
from ptxkit.encodings.shared_memory import SmemDescTcgen05, SmemDescWgmma
from ptxkit.encodings.targeted import Targeted


def descriptors(instruction: Instruction) -> Iterator[tuple[Operand, type[Word]]]:
    """The operands of an instruction that are descriptors, each with what it is."""
    first = instruction.modifiers[:1]
    if instruction.opcode == "wgmma" and first == ("mma_async",):
        yield from ((operand, SmemDescWgmma) for operand in instruction.operands[1:3])
    elif instruction.opcode == "tcgen05" and first in (("mma",), ("cp",)):
        yield from ((operand, SmemDescTcgen05) for operand in instruction.operands[1:3])
        found = instruction_descriptor(instruction)
        if found is not None:
            yield found


def instruction_descriptor(instruction: Instruction) -> tuple[Operand, type[InstructionDescriptor]] | None:
    """The `idesc` of a `tcgen05.mma`, and its kind; None where it has none."""
    kind = next((m for m in instruction.modifiers if m.startswith("kind::")), "")
    cls = INSTRUCTION_DESCRIPTORS.get(kind.removeprefix("kind::"))
    place = 4 if "sp" in instruction.modifiers else 3
    if cls is None or len(instruction.operands) <= place:
        return None
    return instruction.operands[place], cls


def check_instruction_descriptor(context: Context, instruction: Instruction, values: Values) -> None:
    """Check the constant `idesc` of a `tcgen05.mma`."""
    found = instruction_descriptor(instruction)
    if found is None:
        return
    operand, cls = found
    value = values.of(operand)
    if not isinstance(value, int):
        return
    value %= 2**32
    problems = cls.diagnose(value)
    if not any(problem.is_error for problem in problems):
        group = 2 if "cta_group::2" in instruction.modifiers else 1
        word = cls.decode(value)
        problems = [*problems, *word.check_use(group, ws="ws" in instruction.modifiers)]
        problems += _lacking(context, word)
    _report(context, instruction, operand, f"instruction descriptor 0x{value:08x}", problems)


def check_shared_memory(context: Context, instruction: Instruction, values: Values, cls: type[Word]) -> None:
    """Check the constant shared-memory descriptors of a product."""
    for operand in instruction.operands[1:3]:
        value = values.of(operand)
        if isinstance(value, int):
            problems = cls.diagnose(value % 2**64)
            if not any(problem.is_error for problem in problems):
                problems = [*problems, *_lacking(context, cls.decode(value % 2**64))]
            _report(context, instruction, operand, f"descriptor 0x{value % 2**64:016x}", problems)


def _lacking(context: Context, word: Word) -> list[Diagnostic]:
    """What the module's target does not have of a descriptor."""
    return word.check_target(context.target.capability) if isinstance(word, Targeted) else []


def _report(
    context: Context, instruction: Instruction, operand: Operand, what: str, problems: Iterable[Diagnostic]
) -> None:
    span: Span | None = operand.span or instruction.span
    for problem in problems:
        if problem.is_error:
            message = f"{what} of `{instruction.spelling}`: {problem.message}"
            context.found.append(
                replace(
                    problem,
                    message=message,
                    span=span,
                    severity=Severity.WARNING,
                    source=context.module.source,
                )
            )
