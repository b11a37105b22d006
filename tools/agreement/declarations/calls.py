"""Calls, direct and indirect, of parameters of many kinds. PTX ISA 7.1, 9.7.12.5, 11.3."""

from __future__ import annotations

from . import words
from .dice import Dice
from .parameters import Value, header, near, parenthesized, value

IMMEDIATES = (
    "1",
    "-1",
    "0",
    "0xFFFFFFFF",
    "1.0",
    "0f3F800000",
    "0d3FF0000000000000",
    "70000",
    "WARP_SZ",
    "1+2",
)


def call(dice: Dice) -> str:
    """A function and an entry that calls it."""
    takes = [value(dice) for _ in range(dice.choice((0, 1, 1, 2, 3)))]
    gives = [value(dice) for _ in range(dice.choice((0, 0, 1, 1, 2)))]
    if len(gives) == 2 and not dice.slip():
        gives = [Value("reg", one.type) for one in gives]
    kind = dice.choice(
        ("direct", "direct", "extern", "prototype", "targets", "forward", "recursion", "table")
    )
    lines, before, body = [], [], []
    text = header(dice, "f", gives, takes)
    noreturn = " .noreturn" if dice.maybe(0.06) else ""
    if kind == "forward":
        lines.append(f"{text}{noreturn};")
    elif kind == "extern":
        lines.append(f".extern {text}{noreturn};")
    elif kind != "recursion":
        lines.append(f"{text}{noreturn} {{ {'trap;' if noreturn else 'ret;'} }}")
    if kind == "table":
        lines.append(f".{dice.choice(('global', 'const'))} .u64 table[2] = {{f, f}};")
    arguments, results = [], []
    for position, one in enumerate(takes):
        arguments.append(_argument(dice, near(dice, one), f"a{position}", before))
    for position, one in enumerate(gives):
        results.append(_result(dice, near(dice, one), f"q{position}", before))
    if arguments and dice.slip():
        arguments.pop()
    elif dice.slip():
        arguments.append(dice.choice(("1", "%r", "_", "f")))
    if results and dice.slip():
        results.pop()
    returned = f"({', '.join(results)}), " if results else dice.pick(("",), ("(), ", "(_), "))
    passed = f", ({', '.join(arguments)})" if arguments else dice.pick(("", ", ()"))
    uni = dice.pick(("", "", ".uni"), (".u32", ".sync", ".uni.uni"))
    guard = dice.pick(("", "", "", "@%p ", "@!%p "), ("@%r ", "@1 "))
    before.append(".reg .pred %p; .reg .b32 %r; .reg .b64 %d;")
    label = ""
    if kind in ("prototype", "targets", "table"):
        callee, label = _indirect(dice, kind, gives, takes, before)
    else:
        callee = dice.pick(("f",), ("g", "main", "%r", "%d", "1", "f+4", "[f]"))
    body.append(f"{guard}call{uni} {returned}{callee}{passed}{label};")
    if kind == "recursion":
        lines.append(f"{text}{noreturn} {{\n{chr(10).join((*before, *body))}\nret; }}")
        lines.append(".entry main() { ret; }")
    else:
        lines.append(f".entry main() {{\n{chr(10).join((*before, *body))}\nret; }}")
    if kind == "forward" and not dice.slip():
        lines.append(f"{text}{noreturn} {{ {'trap;' if noreturn else 'ret;'} }}")
    return "\n".join((*lines, ""))


def _argument(dice: Dice, one: Value, name: str, before: list[str]) -> str:
    if one.space == "reg" and dice.maybe(0.25):
        floating = one.type.startswith("f")
        return dice.pick(words.FLOATS if floating else words.INTEGERS, IMMEDIATES)
    before.append(f"{one.declared(name)};")
    if one.vector and one.space == "reg" and dice.maybe(0.3):
        before.append(f".reg .{one.type} {name}_<4>;")
        return f"{{{', '.join(f'{name}_{i}' for i in range(int(one.vector[2])))}}}"
    return dice.pick(
        (name,),
        (
            "_",
            f"{name}+1",
            f"-{name}",
            f"[{name}]",
            f"{{{name}}}",
            f"{name}.x",
            f"!{name}",
            "2.0",
            "1",
            "%tid.x",
            "main",
            f"{name}[0]",
            "undeclared",
        ),
    )


def _result(dice: Dice, one: Value, name: str, before: list[str]) -> str:
    before.append(f"{one.declared(name)};")
    if one.vector and one.space == "reg" and dice.maybe(0.3):
        before.append(f".reg .{one.type} {name}_<4>;")
        return f"{{{', '.join(f'{name}_{i}' for i in range(int(one.vector[2])))}}}"
    return dice.pick(
        (name,),
        ("_", f"{name}+1", f"-{name}", f"[{name}]", f"{{{name}}}", f"{name}.x", "1", "%tid.x", "undeclared"),
    )


def _indirect(
    dice: Dice, kind: str, gives: list[Value], takes: list[Value], before: list[str]
) -> tuple[str, str]:
    """The register that is called, and the label at the call's end."""
    type_ = dice.pick(("u64", "b64", "s64"), ("u32", "f64", "b32", "pred", "b16", "b128", "f32"))
    before.append(f".reg .{type_} %address;")
    before.append("mov.u64 %address, f;" if kind != "table" else "ld.global.u64 %address, [table+8];")
    if not type_.endswith("64") or type_ == "f64":
        before.pop()
    near_takes, near_gives = [near(dice, v) for v in takes], [near(dice, v) for v in gives]
    if near_takes and dice.slip():
        near_takes.pop()
    if kind == "targets":
        targets = dice.pick(("f", "f", "f, f"), ("g", "main", "%d", "P", "", "1", "f<2>", "[f]"))
        line = f"P: .calltargets {targets};"
    else:
        own = dice.pick(("_",), ("f", "x", "P", ""))
        returned = f"{parenthesized(near_gives, dice.choice(('_', 'r')))} " if near_gives else ""
        passed = (
            parenthesized(near_takes, dice.choice(("_", "x"))) if near_takes else dice.pick((" ()", "", " "))
        )
        noreturn = dice.pick(("",), (" .noreturn", " .abi_preserve 4", " .maxnreg 4"))
        line = f"{dice.pick(('P: ',), ('', 'Q: '))}.callprototype {returned}{own} {passed}{noreturn};"
    before.append(line)
    return dice.pick(("%address",), ("f", "table", "%d", "%p")), dice.pick(
        (", P",), ("", ", f", ", Q", ", %d", ", P, P")
    )
