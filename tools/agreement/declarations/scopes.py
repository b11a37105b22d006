"""Scopes: blocks, shadowing, labels, names used before they are declared, lists of targets."""

from __future__ import annotations

from .dice import Dice

NAMES = ("a", "b", "%r", "%r1", "L", "$x")


def scopes(dice: Dice) -> str:
    """Declarations and uses of few names in blocks, at module level, and as labels."""
    dice.wild *= 1.5  # Most names mean something somewhere.
    lines = []
    for _ in range(dice.choice((0, 0, 1))):
        lines.append(f".{dice.choice(('global', 'const', 'shared'))} .b32 {dice.choice(NAMES)};")
    if dice.maybe(0.2):
        lines.append(f".func {dice.choice(NAMES)}() {{ ret; }}")
    passed = f".param .b64 {dice.choice(NAMES)}" if dice.maybe(0.3) else ""
    known: list[set[str]] = [set()]
    labels: set[str] = set()
    lines.append(f".entry main({passed}) {{")
    lines += _block(dice, 0, known, labels)
    return "\n".join((*lines, "ret; }", ""))


def _block(dice: Dice, depth: int, known: list[set[str]], labels: set[str]) -> list[str]:
    lines: list[str] = []
    for _ in range(dice.choice((3, 5, 7))):
        kind = dice.choice(("declare", "declare", "use", "use", "block", "label", "branch"))
        own = known[-1]
        visible = sorted(set().union(*known))
        if kind == "declare":
            free = [name for name in NAMES if name not in own]
            name = dice.pick(free or NAMES, NAMES)
            count = dice.pick(("", "", "<4>"), ("<2>",))
            if dice.maybe(0.75):
                lines.append(f".reg .b32 {name}{count};")
                own.add(name if not count else f"{name}0")
            else:
                lines.append(f".{dice.choice(('local', 'shared', 'param'))} .b32 {name};")
        elif kind == "use" and visible:
            name = dice.pick(visible, (*NAMES, "%r2", "a3", "a01", "b00"))
            lines.append(f"mov.b32 {name}, {dice.choice(visible)};")
        elif kind == "block" and depth < 3:
            lines += ["{", *_block(dice, depth + 1, [*known, set()], labels), "}"]
        elif kind == "label":
            label = dice.pick([f"L{len(labels)}"], ("L0", *NAMES))
            labels.add(label)
            lines.append(f"{label}:")
        elif kind == "branch" and labels:
            lines.append(f"bra {dice.pick(sorted(labels), (*NAMES, 'L9', 'main'))};")
    return lines


def targets(dice: Dice) -> str:
    """`brx.idx` through a list of labels."""
    count = dice.choice((1, 2, 3))
    labels = [f"L{i}" for i in range(count)]
    named = list(labels)
    if dice.slip():
        named[0] = dice.choice(("L9", "f", "%r", "main", "x", "T", "L<2>", "1"))
    lines = [
        ".global .u32 x;",
        ".func f() { ret; }",
        ".entry main() {",
        f".reg .{dice.pick(('u32', 'b32', 's32'), ('u64', 'u16', 'f32', 'pred'))} %r;",
        ".reg .pred %p;",
    ]
    every = ", ".join(named)
    names = dice.pick((every, f"L<{count}>"), ("", f"{every},", "L<9>", "L<0>"))
    line = f"{dice.pick(('T: ',), ('', 'S: '))}.branchtargets {names};"
    index = dice.pick(("%r",), ("0", "%p", "L0", "_"))
    label = dice.pick(("T",), ("L0", "f", "%r", "T2", "x"))
    jump = f"{dice.pick(('', '@%p '))}brx.idx{dice.pick(('', '.uni'), ('.u32',))} {index}, {label};"
    rest = [f"{label}: {'' if dice.maybe(0.2) else 'bar.sync 0;'}" for label in labels]
    if dice.slip():
        rest = ["{", *rest, "}"]
    block = [line, jump]
    if dice.maybe(0.2):
        block.reverse()
    elif dice.slip():
        block = ["{", line, "}", jump]
    return "\n".join((*lines, *block, *rest, "ret; }", ""))
