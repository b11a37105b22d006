"""Functions and calls: registers and parameters, vectors and arrays, recursion, indirect calls, pointers.

What a function computes is made of the rows' statements on registers of its own, and of loads and stores
through a generic pointer to a slot of the thread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from compare.chains import forms
from compare.chains.model import POOL, ZERO, Chain, Step
from compare.chains.writer import Here, Writer

_USED = re.compile(r"%([phwd])(\d+)\b")
_WIDTH = {letter: bits for bits, (letter, _) in POOL.items()}


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter or a result.

    Attributes:
        bits: of each part.
        parts: 1, 2 or 4 of a vector register, or words of an array.
    """

    bits: int
    parts: int = 1

    def register(self, name: str) -> str:
        """Its declaration in registers."""
        vector = f".v{self.parts} " if self.parts > 1 else ""
        return f".reg {vector}.b{self.bits} {name}" if self.bits > 1 else f".reg .pred {name}"

    def parameter(self, name: str) -> str:
        """Its declaration in parameter space."""
        if self.parts == 1:
            return f".param .b{self.bits} {name}"
        return f".param .align 16 .b8 {name}[{self.bits // 8 * self.parts}]"


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives.

    Attributes:
        in_registers: whether in registers or in parameter space.
        takes, gives: its values.
        pointer: whether it gets a generic pointer, too.
        recursive: whether it gets a count first, and calls itself as often.
    """

    in_registers: bool
    takes: tuple[Value, ...]
    gives: tuple[Value, ...]
    pointer: bool
    recursive: bool

    def header(self, name: str) -> str:
        """`.func (..) name (..)`, or a prototype for the name `_`."""
        declare = Value.register if self.in_registers else Value.parameter
        anonymous = name == "_"
        takes = [
            declare(value, "_" if anonymous else f"%a{i}" if self.in_registers else f"a{i}")
            for i, value in enumerate(self.all_takes)
        ]
        gives = [
            declare(value, "_" if anonymous else f"%r{i}" if self.in_registers else f"r{i}")
            for i, value in enumerate(self.gives)
        ]
        return f"({', '.join(gives)}) {name} ({', '.join(takes)})"

    @property
    def all_takes(self) -> tuple[Value, ...]:
        """With the count and the pointer before the others."""
        return ((Value(32),) if self.recursive else ()) + ((Value(64),) if self.pointer else ()) + self.takes


def signature(writer: Writer) -> Signature:
    """Any."""
    random = writer.random
    in_registers = random.random() < 0.5
    recursive = random.random() < 0.25
    # In registers the calling convention has 32 and 64 bits alone.
    kinds = [Value(32), Value(32), Value(64)] if in_registers else [Value(32), Value(64), Value(16)]
    kinds += [Value(32, 2), Value(32, 4), Value(64, 2)]
    # One result: for more, ptxas does without its calling convention, and so without recursion.
    gives = (random.choice(kinds),)
    takes = tuple(random.choice(kinds) for _ in range(random.randrange(1, 5)))
    return Signature(in_registers, takes, gives, random.random() < 0.4, recursive)


def define(writer: Writer, deck: forms.Deck, name: str, made: Signature) -> None:
    """Write a function."""
    inner = Writer(Chain(name, 0), writer.random, Here(mask="", whole_warp=False, whole_cta=False, guard=""))
    lines: list[str] = []
    body: list[str] = []
    moved: dict[str, str] = {}
    values = _taken(inner, made, body, moved)
    if made.pointer:
        target = inner.target(32)
        body.append(f"ld.b32 {target}, [%pointer+{4 * writer.random.randrange(8)}];")
    while inner.written < writer.random.randrange(3, 7):
        case = deck.deal(writer.random)
        if not case.of_warp and not case.memory and not case.temporary:
            forms.statement(inner, case)
    for step in inner.chain.steps:
        assert isinstance(step, Step)
        body += [*step.lines, *step.after]
    if made.pointer:
        body.append(f"st.b32 [%pointer+{32 + 4 * writer.random.randrange(8)}], {inner.source(32)};")
    if made.recursive:
        body += _again(inner, name, made, values)
    body += _given(inner, made)
    used = sorted(set(_USED.findall("\n".join(body))), key=lambda pair: (pair[0], int(pair[1])))
    lines += [
        f".reg .{'pred' if bits == 1 else f'b{bits}'} %{letter}<{count}>;"
        for bits, (letter, count) in POOL.items()
    ]
    lines += [
        *ZERO,
        ".reg .pred %q;",
        ".reg .b32 %x, %y, %count;",
        ".reg .b16 %lo, %hi;",
        ".reg .b64 %pointer;",
    ]
    lines += inner.chain.variables
    for letter, number in used:
        if f"%{letter}{number}" not in moved:
            lines.append(_initial(letter, int(number)))
    writer.chain.functions.append(
        "\n".join([f".func {made.header(name)}", "{", *lines, *body, "DONE:", "ret;", "}"])
    )


def _initial(letter: str, number: int) -> str:
    bits = _WIDTH[letter]
    if bits == 1:
        return f"setp.eq.u32 %p{number}, {number % 2}, 0;"
    word = 0x9E3779B97F4A7C15 * (number + 1) & (1 << bits) - 1
    return f"mov.b{bits} %{letter}{number}, {word:#x};"


def _taken(inner: Writer, made: Signature, body: list[str], moved: dict[str, str]) -> list[list[str]]:
    """Move what comes in into the function's registers; their names."""
    names: list[list[str]] = []
    places = list(made.all_takes)
    for index, value in enumerate(places):
        special = []
        if made.recursive and index == 0:
            special = ["%count"]
        elif made.pointer and index == int(made.recursive):
            special = ["%pointer"]
        into = special or inner.targets(value.bits, value.parts)
        names.append(into)
        moved.update(dict.fromkeys(into, ""))
        if not made.in_registers:
            vector = f".v{value.parts}" if value.parts > 1 else ""
            operand = into[0] if value.parts == 1 else f"{{{', '.join(into)}}}"
            body.append(f"ld.param{vector}.b{value.bits} {operand}, [a{index}];")
        else:
            for part, name in enumerate(into):
                source = f"%a{index}" + (f".{'xyzw'[part]}" if value.parts > 1 else "")
                body.append(f"mov.{'pred' if value.bits == 1 else f'b{value.bits}'} {name}, {source};")
        if not special:
            inner.recent[value.bits] += into
    return names


def _given(inner: Writer, made: Signature) -> list[str]:
    lines = []
    for index, value in enumerate(made.gives):
        sources = [inner.source(value.bits) for _ in range(value.parts)]
        if made.in_registers:
            for part, source in enumerate(sources):
                target = f"%r{index}" + (f".{'xyzw'[part]}" if value.parts > 1 else "")
                lines.append(f"mov.{'pred' if value.bits == 1 else f'b{value.bits}'} {target}, {source};")
        else:
            vector = f".v{value.parts}" if value.parts > 1 else ""
            operand = sources[0] if value.parts == 1 else f"{{{', '.join(sources)}}}"
            lines.append(f"st.param{vector}.b{value.bits} [r{index}], {operand};")
    return lines


def _again(inner: Writer, name: str, made: Signature, values: list[list[str]]) -> list[str]:
    """Call itself with other values, as long as there is a count; take its results into registers."""
    arguments = [["%count"], *([["%pointer"]] if made.pointer else [])]
    arguments += [[inner.source(value.bits) for _ in range(value.parts)] for value in made.takes]
    results = [inner.targets(value.bits, value.parts) for value in made.gives]
    return [
        "setp.eq.u32 %q, %count, 0;",
        "@%q bra LAST;",
        "sub.u32 %count, %count, 1;",
        *transfer(made, name, arguments, results, "again"),
        "LAST:",
    ]


def transfer(
    made: Signature,
    name: str,
    arguments: list[list[str]],
    results: list[list[str]],
    tag: str,
    prototype: str = "",
) -> list[str]:
    """The lines of a call."""
    before, after, declared = [], [], []
    taken, given = [], []
    for kind, values, registers, texts in (
        ("a", made.all_takes, arguments, taken),
        ("r", made.gives, results, given),
    ):
        for index, (value, names) in enumerate(zip(values, registers, strict=True)):
            moves = before if kind == "a" else after
            if made.in_registers and value.parts == 1:
                texts.append(names[0])
                continue
            own = f"{'%' if made.in_registers else ''}{kind}_{tag}_{index}"
            declared.append((value.register(own) if made.in_registers else value.parameter(own)) + ";")
            texts.append(own)
            if made.in_registers:
                for part, register in enumerate(names):
                    pair = (f"{own}.{'xyzw'[part]}", register)
                    to, source = pair if kind == "a" else pair[::-1]
                    moves.append(f"mov.b{value.bits} {to}, {source};")
            else:
                vector = f".v{value.parts}" if value.parts > 1 else ""
                operand = names[0] if value.parts == 1 else f"{{{', '.join(names)}}}"
                if kind == "a":
                    moves.append(f"st.param{vector}.b{value.bits} [{own}], {operand};")
                else:
                    moves.append(f"ld.param{vector}.b{value.bits} {operand}, [{own}];")
    call = f"call ({', '.join(given)}), {name}, ({', '.join(taken)}){f', {prototype}' if prototype else ''};"
    return ["{", *declared, *before, call, *after, "}"]


def statement(writer: Writer, deck: forms.Deck) -> None:
    """A call of a new function, directly or through its address, which may be one of two."""
    random = writer.random
    made = signature(writer)
    tag = str(writer.written)
    name = f"f{tag}_{writer.chain.name}"
    define(writer, deck, name, made)
    indirect = random.random() < 0.3 and not any(
        value.parts > 1 or value.bits == 1 for value in (*made.all_takes, *made.gives)
    )
    lines: list[str] = []
    arguments: list[list[str]] = []
    if made.recursive:
        arguments.append(["%count"])
        # As deep in all lanes: behind a recursion that lanes leave at different depths, ptxas takes the warp
        # for converged and leaves `bar.warp.sync` out.
        lines.append(f"mov.b32 %count, {random.randrange(4)};")
    if made.pointer:
        arguments.append(["%pointer"])
        lines += random.choice(
            (
                ["mov.u64 %pointer, %gm;"],
                ["cvt.u64.u32 %pointer, %sm;", "cvta.shared.u64 %pointer, %pointer;"],
                ["cvta.local.u64 %pointer, mine;"],
            )
        )
    arguments += [[writer.source(value.bits) for _ in range(value.parts)] for value in made.takes]
    results: list[list[str]] = []
    for value in made.gives:
        besides = [name for group in results for name in group]
        group: list[str] = []
        for _ in range(value.parts):
            group.append(writer.target(value.bits, (*besides, *group)))
        results.append(group)
    if indirect:
        other = f"g{tag}_{writer.chain.name}"
        define(writer, deck, other, made)
        prototype = f"PROTOTYPE_{tag}"
        lines += [
            f"mov.u64 %at, {name};",
            f"mov.u64 %to, {other};",
            f"selp.b64 %at, %at, %to, {writer.source(1)};",
            f"{prototype}: .callprototype {made.header('_')};",
        ]
        lines += transfer(made, "%at", arguments, results, tag, prototype)
    else:
        lines += transfer(made, name, arguments, results, tag)
    flat = [
        (register, value.bits) for value, group in zip(made.gives, results, strict=True) for register in group
    ]
    kind = "registers" if made.in_registers else "parameters"
    writer.step(
        "calls",
        f"call by {kind}{', indirect' if indirect else ''}{', recursive' if made.recursive else ''}",
        lines,
        flat,
    )
