"""One change of a statement: of a modifier, a type, an operand, an immediate."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

TYPES = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f32 f64 f16x2 bf16 bf16x2 pred".split()
CHANGES = ("drop", "double", "swap", "replace", "type", "operand", "immediate", "fewer", "more")
NUMBERS = tuple("0 1 3 -7 17 96 255 4096 1048576 0x7FFFFFFF 0xFFFFFFFF 1.5 0f3F800000".split())
_STATEMENT = re.compile(r"(\s*(?:@!?[\w$%]+\s+)?)([\w.:]+)\s*(.*?)\s*;(.*)", re.DOTALL)


def mutate(
    text: str, random_: random.Random, vocabulary: Sequence[str], operands: Sequence[str]
) -> tuple[str, str] | None:
    """The statement with one change, and what the change was; None where that change can't be made.

    Args:
        text: the statement, a guard and a semicolon included.
        random_: what chooses.
        vocabulary: modifiers to put in.
        operands: operands to put in.
    """
    match = _STATEMENT.fullmatch(text)
    if match is None:
        return None
    guard, head, tail, rest = match.groups()
    opcode, *modifiers = head.split(".")
    written = split_operands(tail)
    change = random_.choice(CHANGES)
    numbers = [i for i, operand in enumerate(written) if re.match(r"-?\d", operand)]
    if change == "drop" and modifiers:
        modifiers.pop(random_.randrange(len(modifiers)))
    elif change == "double" and modifiers:
        position = random_.randrange(len(modifiers))
        modifiers.insert(position, modifiers[position])
    elif change == "swap" and len(modifiers) > 1:
        a, b = random_.sample(range(len(modifiers)), 2)
        modifiers[a], modifiers[b] = modifiers[b], modifiers[a]
    elif change in ("replace", "type") and modifiers:
        new = random_.choice(TYPES if change == "type" else list(vocabulary))
        modifiers[random_.randrange(len(modifiers))] = new
    elif change == "operand" and written:
        written[random_.randrange(len(written))] = random_.choice(operands)
    elif change == "immediate" and numbers:
        written[random_.choice(numbers)] = random_.choice(NUMBERS)
    elif change == "fewer" and written:
        written.pop(random_.randrange(len(written)))
    elif change == "more":
        written.append(random_.choice(operands))
    else:
        return None
    changed = f"{'.'.join((opcode, *modifiers))} {', '.join(written)}".rstrip()
    return f"{guard}{changed};{rest}", change


def split_operands(text: str) -> list[str]:
    """The operands of a statement, at the commas outside brackets."""
    found, depth, current = [], 0, ""
    for letter in text:
        if letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        if letter == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += letter
    return [*found, current.strip()] if current.strip() else found
