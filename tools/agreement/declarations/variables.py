"""Variables and registers: state space, linkage, alignment, vector, type, shape, initial values."""

from __future__ import annotations

from . import words
from .dice import Dice

SPACES = ("global", "const", "shared")
INSIDE = ("shared", "local", "param", "global", "const")
LINKAGES = ("", "", "", "", ".visible ", ".extern ", ".weak ", ".common ")
ATTRIBUTES = (".attribute(.managed) ", ".attribute(.unified(19, 95)) ")
NO_ATTRIBUTES = (
    ".attribute() ",
    ".attribute(.unified) ",
    ".attribute(managed) ",
    ".attribute(.unified(1)) ",
    ".attribute(.managed, .unified(1, 2)) ",
    ".attribute(.other) ",
    ".attribute(.managed(1, 2)) ",
)
TARGETS = ("g", "g_array", "c", "f", "k", "g_u64", "g_extern")
NO_TARGETS = ("s", "later", "nothing", "%laneid", "e_shared")
BEFORE = """\
.global .u32 g;
.global .align 8 .u64 g_u64;
.global .b8 g_array[64];
.extern .global .b32 g_extern;
.const .f32 c;
.shared .b32 s;
.extern .shared .b8 e_shared[];
.func f() { ret; }
.entry k() { ret; }
"""
"""What the initial values name."""


def variable(dice: Dice) -> str:
    """One declaration at module level or in a body, and its address taken."""
    inside = dice.maybe(0.5)
    space = dice.pick(
        INSIDE if inside else SPACES, ("reg", "local", "param", "tex", "const[1]", "shared::cta")
    )
    linkage = dice.pick(LINKAGES, LINKAGES[4:]) if not inside else dice.pick(("",), LINKAGES[4:])
    type_ = dice.pick(words.TYPES, words.NO_TYPES)
    attributes = dice.pick(ATTRIBUTES, NO_ATTRIBUTES) if dice.maybe(0.1) else ""
    parts = [f".{space} ", attributes, words.align(dice), words.vector(dice)]
    if dice.maybe(0.15):
        dice.shuffle(parts)
    names, declared = [], []
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        name = words.name(dice)
        shape = words.dimensions(dice)
        if shape and dice.maybe(0.25 if "extern" in linkage else 0.08):
            shape = "[]" + shape[shape.index("]") + 1 :]
        value = (
            f" = {initial(dice, type_, shape)}" if dice.maybe(0.15) and space in ("global", "const") else ""
        )
        names.append(name)
        declared.append(f"{name}{shape}{value}")
    if dice.slip():
        declared[0] += dice.choice(("<4>", "<1>", "<0>"))
    line = f"{linkage}{''.join(parts)}.{type_} {', '.join(declared)};"
    taken = f"{{ .reg .b64 %a; mov.u64 %a, {names[0]}; }}" if dice.maybe(0.5) else ""
    if inside:
        return f".entry main() {{\n{line}\n{taken}\nret; }}\n"
    if dice.maybe(0.2):
        line = dice.choice((f"{line}\n{line}", f".extern {line}\n{line}", f"{line}\n.extern {line}"))
    return f"{line}\n.entry main() {{\n{taken}\nret; }}\n"


def initial(dice: Dice, type_: str, shape: str) -> str:
    """A value that mostly has the shape."""
    sizes = [part.strip("[]") for part in shape.split("][")] if shape else []
    if dice.slip():
        sizes = dice.choice((sizes[1:], [*sizes, "2"]))
    return _nested(dice, type_, sizes)


def _nested(dice: Dice, type_: str, sizes: list[str]) -> str:
    if not sizes:
        return words.number(dice, type_)
    size = int(sizes[0]) if sizes[0].isdecimal() else 3
    count = dice.pick((min(size, 5), max(0, min(size, 5) - 1)), (0, size + 1))
    return "{" + ", ".join(_nested(dice, type_, sizes[1:]) for _ in range(count)) + "}"


def initialized(dice: Dice) -> str:
    """A variable whose initial value is a number, an address, an offset, a mask, or a list of such."""
    space = dice.pick(("global", "const"), ("shared", "local"))
    type_ = dice.pick((*words.TYPES, "u64", "u64", "u64", "b64", "u32", "u8"), ("f16x2", "bf16", "pred"))
    shape = dice.pick(("", "", "[4]", "[2][2]", "[]", "[1]", "[2][3]"), ("[0]", "[][2]", "[2][]", "[][]"))
    vector = dice.pick(("",), (".v2 ", ".v4 "))
    linkage = dice.pick(("", "", "", ".visible ", ".weak "), (".extern ", ".common "))
    sizes = [size or "2" for size in shape.strip("[]").split("][")] if shape else []
    addresses = type_ in ("u64", "u32", "b64", "u8") and dice.maybe(0.6)
    value = _filled(dice, type_, sizes, addresses)
    if vector and dice.maybe(0.7):
        value = f"{{{value}, {value}}}"
    if dice.slip():
        value = dice.choice(('"text"', "{}", f"{{{value}}}", "", f"{value},", f"({value})", "%r", "1 2"))
    line = f"{linkage}.{space} {words.align(dice, 0.1)}{vector}.{type_} x{shape} = {value};"
    return f"{BEFORE}{line}\n.global .u32 later;\n.entry main() {{ .reg .b64 %a; mov.u64 %a, x; ret; }}\n"


def _filled(dice: Dice, type_: str, sizes: list[str], addresses: bool) -> str:
    if sizes:
        count = min(int(sizes[0]), dice.choice((1, 2, 3, 4))) + dice.slip()
        return "{" + ", ".join(_filled(dice, type_, sizes[1:], addresses) for _ in range(count)) + "}"
    if not addresses or dice.maybe(0.3):
        return words.number(dice, type_)
    return _address(dice, type_)


def _address(dice: Dice, type_: str) -> str:
    name = dice.pick(TARGETS, NO_TARGETS)
    offset = dice.pick(
        ("", "", "", "+4", "+(2+3)", "+0x10", "+0"), ("-4", "+-4", "+x", "*2", "+1.5", "+c", "[2]")
    )
    kind = dice.choice(("plain", "plain", "generic", "mask"))
    if kind == "generic":
        return f"generic({name}){offset}"
    if kind == "mask" or (type_ == "u8" and dice.maybe(0.7)):
        mask = dice.pick(
            ("0xFF", "0xFF00", "0xFF0000", "0xFF00000000", "255", "0xFF00000000000000"),
            ("0xF", "0xFFFF", "0x1FF", "0", "-1", "0xFFF", "65280U"),
        )
        inner = dice.choice((name, name, f"generic({name})"))
        return f"{mask}({inner}{offset})" if dice.maybe(0.8) else f"{mask}({inner}){offset}"
    return f"{name}{offset}"


def register(dice: Dice) -> str:
    """Registers of one or several names, and one of them read."""
    lines = []
    for _ in range(dice.choice((1, 1, 2))):
        type_ = dice.pick((*words.TYPES, "pred", "f16x2"), words.NO_TYPES)
        vector = words.vector(dice, 0.15)
        declared = []
        for _ in range(dice.choice((1, 1, 2, 3))):
            count = dice.pick(
                ("", "", "<4>", "<1>", "<10>", "<100>"),
                (
                    "<0>",
                    "<-1>",
                    "<x>",
                    "[4]",
                    "[]",
                    "<2><2>",
                    "<1.5>",
                    "<0x10>",
                    "<4U>",
                    "<2+2>",
                    "[2][2]",
                    " = 1",
                    "<WARP_SZ>",
                    "<10000>",
                ),
            )
            declared.append(words.name(dice) + count)
        parts = [".reg ", vector, dice.pick(("",), (".align 4 ", ".volatile ", ".attribute(.managed) "))]
        if dice.slip():
            dice.shuffle(parts)
        line = f"{dice.pick(('',), ('.visible ', '.extern '))}{''.join(parts)}.{type_} {', '.join(declared)};"
        lines.append(line)
    name = declared[0]
    base, _, rest = name.partition("<")
    used = (
        f"{base}{dice.pick((0, 0, int(rest[:-1]) - 1), (rest[:-1], '00', '01'))}"
        if rest[:-1].isdecimal() and rest != "0>"
        else base
    )
    if vector:
        used += dice.pick((".x", ".y"), ("", ".z", ".w", ".r", ".g", ".a", ".b", ".x.x", ".q", ".b0"))
    elif dice.slip():
        used += dice.choice((".x", ".b0"))
    bits = words.BITS.get(type_)
    if type_ == "pred":
        use = f"@{used} bra L; L:"
    elif bits and bits >= 16 and dice.maybe(0.6):
        use = f"{{ .reg .b{bits} %q<2>; mov.b{bits} %q1, {used}; }}"
    else:
        use = ""
    body = "\n".join((*lines, use))
    return f".entry main() {{\n{body}\nret; }}\n"
