"""Functions and entries: their headers, one declared again, aliases, performance directives."""

from __future__ import annotations

from dataclasses import replace

from . import words
from .dice import Dice
from .parameters import header, near, parenthesized, value

LINKAGES = ("", "", ".visible ", ".weak ")
Directives = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""What may follow a directive, and what may not."""
EXTENTS = ("1", "32", "128", "128, 1, 1", "16, 16", "8, 8, 4", "1024", "1024, 1, 1")
NO_EXTENTS = (
    "0",
    "-1",
    "2048",
    "1, 2, 3, 4",
    "",
    "x",
    "1.5",
    "128,",
    "0, 1, 1",
    "64, 0",
    "0x20",
    "32U",
    "4294967296",
)
NUMBERS = ("1", "2", "32", "64", "128", "255")
NO_NUMBERS = ("0", "-1", "256", "512", "", "x", "1, 2", "1.5", "4294967296", "0x10")
OF_ENTRY: Directives = {
    "maxntid": (EXTENTS, NO_EXTENTS),
    "reqntid": (EXTENTS, NO_EXTENTS),
    "reqnctapercluster": (("1", "2", "4", "2, 2", "2, 1, 1", "8"), (*NO_EXTENTS, "16")),
    "maxnreg": (NUMBERS, NO_NUMBERS),
    "minnctapersm": (NUMBERS[:3], NO_NUMBERS),
    "maxnctapersm": (NUMBERS[:3], NO_NUMBERS),
    "maxclusterrank": (("1", "4", "8"), NO_NUMBERS),
    "explicitcluster": (("",), ("1",)),
    "blocksareclusters": (("",), ("1",)),
    "pragma": (
        ('"nounroll";', '"other";', '"a", "b";'),
        ("", "nounroll;", '"nounroll"', ";", '"frequency 4";'),
    ),
}
NO_ALIASES = ("f, a", "a, a", "a, nothing", "nothing, f", "a", "a, f, f", "main, f", "a, main", "a, g")
OF_FUNCTION: Directives = {
    "noreturn": (("",), ("1",)),
    "abi_preserve": (("0", "8", "16", "64"), NO_NUMBERS),
    "abi_preserve_control": (("0", "4", "8"), NO_NUMBERS),
}


def _directives(dice: Dice, own: Directives, others: Directives, most: int = 3) -> str:
    found = []
    for name in dice.some(sorted(own), most) + (
        [dice.choice(sorted(others))] if others and dice.slip() else []
    ):
        good, bad = {**own, **others}[name]
        found.append(f".{name} {dice.pick(good, bad)}".rstrip())
    if found and dice.slip():
        found.append(found[0])
    return " ".join(found)


def tuned(dice: Dice) -> str:
    """An entry or a function with performance directives."""
    entry = dice.maybe(0.7)
    own, others = (OF_ENTRY, OF_FUNCTION) if entry else (OF_FUNCTION, OF_ENTRY)
    linkage = dice.pick(LINKAGES, (".extern ", ".common "))
    given = _directives(dice, own, others)
    end = "{ ret; }"
    kind = ".entry e()" if entry else ".func e()"
    if dice.maybe(0.15):
        before = _directives(dice, own, others, 2) if dice.maybe(0.5) else given
        kind = f"{linkage}{kind} {before};\n{linkage}{kind}"
    elif dice.slip():
        end = ";"
    inside = dice.pick(
        ("",), (".maxntid 32;", ".maxnreg 32", ".noreturn;", '.pragma "nounroll";', ".reqntid 1")
    )
    if end != ";":
        end = f"{{ {inside} ret; }}"
    return f"{linkage}{kind} {given}\n{end}\n.entry main() {{ ret; }}\n"


def entry(dice: Dice) -> str:
    """An entry of parameters of every kind."""
    given = []
    for position in range(dice.choice((0, 1, 1, 2, 3, 6))):
        type_ = dice.pick((*words.TYPES, "u64", "u64", "texref", "samplerref", "surfref"), words.NO_TYPES)
        pointer = ""
        if dice.maybe(0.3):
            space = dice.pick(
                (".global ", ".shared ", ".const ", ".local ", ""), (".param ", ".reg ", ".tex ")
            )
            pointer = f".ptr {space}{words.align(dice)}"
            type_ = dice.pick(("u64", "u64", "b64", "s64"), words.TYPES)
        shape = dice.pick(
            ("", "", "", "[4]", "[16]", "[1]"), ("[0]", "[]", "[2][2]", "[5000]", "[-1]", "<2>")
        )
        name = words.name(dice) if dice.maybe(0.3) else f"p{position}"
        vector = words.vector(dice, 0.1)
        space = dice.pick(("param",), ("reg", "const", "shared", "param::entry"))
        align = words.align(dice, 0.2)
        given.append(f".{space} {align}{vector}.{type_} {pointer}{name}{shape}")
        if dice.slip():
            given[-1] = dice.choice(
                (
                    f"{vector}.{space} .{type_} {pointer}{name}",
                    f".{type_} .{space} {name}",
                    f".{space} .{type_}",
                    f".{space} .{type_} {name} {align}",
                )
            )
    returned = dice.pick(("",), ("(.reg .b32 r) ", "(.param .b32 r) ", "() "))
    linkage = dice.pick(LINKAGES, (".extern ", ".common "))
    attribute = dice.pick(("",), (".attribute(.managed) ",))
    body = ".reg .b64 %a; " + (
        f"mov.b64 %a, {given[0].split()[-1].split('[')[0]};" if given and dice.maybe(0.6) else ""
    )
    return f"{linkage}.entry {attribute}{returned}main({', '.join(given)}) {{ {body} ret; }}\n"


def function(dice: Dice) -> str:
    """A function, and what it does with its parameters."""
    takes = [value(dice) for _ in range(dice.choice((0, 1, 2, 3)))]
    gives = [value(dice) for _ in range(dice.choice((0, 1, 1, 2)))]
    if len(gives) == 2 and not dice.slip():
        gives = [replace(one, space="reg", align="", shape="") for one in gives]
    name = dice.pick(("f",), words.NAMES) if dice.maybe(0.8) else words.name(dice)
    linkage = dice.pick(LINKAGES, (".extern ", ".common "))
    attribute = dice.pick(("",), (".attribute(.unified(1, 2)) ", ".attribute(.managed) "))
    text = header(dice, name, gives, takes).replace(".func ", f".func {attribute}", 1)
    directives = _directives(dice, OF_FUNCTION, OF_ENTRY, 1)
    body = []
    for one, own in ((v, f"{n}{i}") for n, vs in (("x", takes), ("r", gives)) for i, v in enumerate(vs)):
        bits = words.BITS.get(one.type, 0)
        if bits < 16 or one.vector or dice.maybe(0.5):
            continue
        if one.space == "param":
            access = (
                f"ld.param.b{bits} %q, [{own}]"
                if own[0] == "x" or dice.slip()
                else f"st.param.b{bits} [{own}], %q"
            )
        else:
            access = f"mov.b{bits} %q, {own}" if own[0] == "x" else f"mov.b{bits} {own}, %q"
        body.append(f"{{ .reg .b{bits} %q; {access}; }}")
    twice = f"{linkage}{text} {directives};\n" if dice.maybe(0.15) else ""
    inner = " ".join(body)
    closing = dice.pick(("ret;", "ret;", ""), ("exit;", "ret.uni;", "trap;"))
    return f"{twice}{linkage}{text} {directives} {{ {inner} {closing} }}\n.entry main() {{ ret; }}\n"


def again(dice: Dice) -> str:
    """A function, variable or entry declared, and declared or defined again, nearly the same."""
    takes = [value(dice) for _ in range(dice.randrange(3))]
    gives = [value(dice) for _ in range(dice.randrange(2))]
    linkage = dice.choice(("", "", ".visible ", ".weak ", ".extern "))
    kinds = dice.pick(
        (("func", "func"), ("func", "func"), ("entry", "entry"), ("global", "global")),
        (("func", "entry"), ("global", "func"), ("global", "const"), ("entry", "global")),
    )
    lines = []
    for position, kind in enumerate(kinds):
        if position:
            takes, gives = [near(dice, v) for v in takes], [near(dice, v) for v in gives]
            if takes and dice.slip():
                takes = takes[1:]
            if dice.maybe(0.35):
                linkage = dice.choice(("", ".visible ", ".weak ", ".extern ", ".visible "))
        body = dice.pick((";", "{ ret; }") if position else (";",), ("{ ret; }", ";"))
        directives = _directives(dice, OF_FUNCTION, {}, 1) if dice.maybe(0.15) else ""
        if kind == "func":
            lines.append(f"{linkage}{header(dice, 'f', gives, takes)} {directives}{body}")
        elif kind == "entry":
            given = [replace(v, space="param") for v in takes]
            lines.append(f"{linkage}.entry f{parenthesized(given, 'x')} {body}")
        else:
            type_ = dice.choice(("u32", "u32", "b32", "u64")) if dice.maybe(0.3) else "u32"
            shape = dice.choice(("[4]", "[]", "[8]", "")) if dice.maybe(0.3) else "[4]"
            align = words.align(dice, 0.2)
            first = linkage or dice.choice((".extern ", ".visible ", ".weak ", ".common "))
            lines.append(f"{first}.{kind} {align}.{type_} f{shape}{' = {1, 2}' if dice.maybe(0.15) else ''};")
    if dice.maybe(0.2):
        lines.append(dice.choice(lines))
    if dice.maybe(0.15):
        dice.shuffle(lines)
    called = "call f;" if dice.maybe(0.3) and not takes and not gives and kinds == ("func", "func") else ""
    return "\n".join((*lines, f".entry main() {{ {called} ret; }}\n"))


def alias(dice: Dice) -> str:
    """An alias of a function, called or not."""
    takes = [value(dice) for _ in range(dice.randrange(3))]
    gives = [value(dice) for _ in range(dice.randrange(2))]
    near_takes, near_gives = [near(dice, v) for v in takes], [near(dice, v) for v in gives]
    own = dice.pick(("", ".visible "), (".weak ", ".extern "))
    its = dice.pick(("", ".visible "), (".weak ", ".extern "))
    body = dice.pick(("{ ret; }",), (";", ""))
    lines = [
        f"{own}{header(dice, 'a', near_gives, near_takes)}{dice.pick((';',), ('{ ret; }',))}",
        f"{its}{header(dice, 'f', gives, takes)}{body}",
    ]
    if dice.maybe(0.3):
        lines.reverse()
    line = f".alias {dice.pick(('a, f',), NO_ALIASES)};"
    lines.insert(dice.pick((2, 2), (0, 1)), line)
    if dice.slip():
        lines.append(line)
    if dice.slip():
        lines.insert(0, ".global .u32 g;")
    called = "call a;" if not takes and not gives and dice.maybe(0.6) else ""
    return "\n".join((*lines, f".entry main() {{ {called} ret; }}\n"))
