"""Random programs of functions that call each other, and what each thread's result must be.

Every function folds the words that it is passed into a number, passes words made of that number on to
functions below it, folds what they return, and returns words made of the number. Python does the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Words = list[np.ndarray]
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
WARP = 32
_MASK = {8: 0xFF, 16: 0xFFFF, 32: 0xFFFFFFFF, 64: 0xFFFFFFFFFFFFFFFF}


@dataclass(frozen=True)
class Kind:
    """How words are passed.

    Attributes:
        space: `reg` or `param`.
        declared: what stands before the name, and behind it.
        words: the offset in bytes, or the element of a vector, and the bits of each word.
        counter: it says how often a function calls itself, and is not folded.
    """

    space: str
    declared: tuple[str, str]
    words: tuple[tuple[int, int], ...]
    counter: bool = False

    def declare(self, name: str) -> str:
        """The declaration of a name, without its semicolon."""
        return f".{self.space} {self.declared[0]} {name}{self.declared[1]}"


def kind(random_: random.Random, few: bool = False) -> Kind:
    """Any way to pass words that ptxas has."""
    chosen = random_.randrange(6)
    if chosen == 0:
        bits = random_.choice((16, 32, 32, 64))
        types = {16: ("b16", "f16"), 32: ("b32", "u32", "s32", "f32"), 64: ("b64", "u64", "s64", "f64")}
        return Kind("reg", (f".{random_.choice(types[bits])}", ""), ((0, bits),))
    if chosen == 1:
        lanes, bits = random_.choice(((2, 16), (2, 32), (4, 32), (2, 64), (4, 16)))
        return Kind("reg", (f".v{lanes} .b{bits}", ""), tuple((i, bits) for i in range(lanes)))
    if chosen == 2:
        return Kind("reg", (".b128", ""), ((0, 64), (8, 64)))
    if chosen == 3:
        bits = random_.choice((8, 16, 32, 32, 64))
        type_ = random_.choice(("b", "u", "s", "f") if bits > 16 else ("b",))
        align = random_.choice(("", "", f".align {bits // 8} ", ".align 16 "))
        return Kind("param", (f"{align}.{type_}{bits}", ""), ((0, bits),))
    bits = 8 if chosen == 4 else random_.choice((16, 32, 64))
    align = random_.choice((4, 8, 16, 64)) if bits == 8 else max(random_.choice((1, 8, 16)), bits // 8)
    words, end = [], 0
    for _ in range(random_.randrange(1, 5 if few else 8)):
        width = random_.choice([w for w in (8, 16, 32, 64) if w <= 8 * align]) if bits == 8 else bits
        start = -(-end // (width // 8)) * (width // 8) + (
            random_.choice((0, 0, width // 8)) if bits == 8 else 0
        )
        words.append((start, width))
        end = start + width // 8
    count = -(-end * 8 // bits) + (random_.randrange(4) if bits == 8 else 0)
    return Kind("param", (f".align {align} .b{bits}", f"[{count}]"), tuple(words))


@dataclass
class Function:
    """One function: its text, and what it does to the words that it is passed."""

    name: str
    takes: list[Kind]
    gives: list[Kind]
    linkage: str = ""
    text: str = ""
    compute: Callable[[list[Words]], list[Words]] = lambda arguments: []

    def header(self, name: str | None = None, parameters: bool = True) -> str:
        """`(results) name (parameters)`, with `_` for every name where `parameters` is False."""
        lists = (
            ", ".join(one.declare(f"{prefix}{i}" if parameters else "_") for i, one in enumerate(kinds))
            for prefix, kinds in (("r", self.gives), ("x", self.takes))
        )
        returned, passed = lists
        return f"{f'({returned}) ' if returned else ''}{name or self.name} ({passed})"


@dataclass
class _Body:
    """The statements of one body, and the steps of what they compute."""

    lines: list[str] = field(default_factory=list)
    count: int = 0

    def fresh(self, bits: int) -> str:
        """A new register."""
        self.count += 1
        self.lines.append(f".reg .b{bits} %t{self.count};")
        return f"%t{self.count}"

    def fold(self, register: str, bits: int) -> None:
        """`%acc = %acc * 31 + register`, in halves where it has 64 bits."""
        if bits == 64:
            low, high = self.fresh(32), self.fresh(32)
            self.lines.append(f"mov.b64 {{{low}, {high}}}, {register};")
            parts = [low, high]
        elif bits == 16:
            wide = self.fresh(32)
            self.lines.append(f"cvt.u32.u16 {wide}, {register};")
            parts = [wide]
        else:
            parts = [register]
        self.lines += [f"mad.lo.u32 %acc, %acc, 31, {part};" for part in parts]

    def word(self, bits: int, constant: int) -> str:
        """A register with a word made of `%acc`."""
        low = self.fresh(32)
        self.lines.append(f"add.u32 {low}, %acc, {constant};")
        if bits == 16:
            half = self.fresh(16)
            self.lines.append(f"cvt.u16.u32 {half}, {low};")
            return half
        if bits == 64:
            high, wide = self.fresh(32), self.fresh(64)
            self.lines.append(f"xor.b32 {high}, %acc, {constant};")
            self.lines.append(f"mov.b64 {wide}, {{{low}, {high}}};")
            return wide
        return low

    def read(self, one: Kind, name: str) -> None:
        """Fold all words of a parameter or a result."""
        if one.counter:
            return
        if one.declared[0] == ".b128":
            parts = [self.fresh(64), self.fresh(64)]
            self.lines.append(f"mov.b128 {{{parts[0]}, {parts[1]}}}, {name};")
            for part in parts:
                self.fold(part, 64)
            return
        for place, bits in one.words:
            if one.space == "param":
                register = self.fresh(max(bits, 32) if bits == 8 else bits)
                self.lines.append(
                    f"ld.param.{'u8' if bits == 8 else f'b{bits}'} {register}, [{name}+{place}];"
                )
            else:
                register = f"{name}.{'xyzw'[place]}" if one.declared[0].startswith(".v") else name
                copy = self.fresh(bits)
                self.lines.append(f"mov.b{bits} {copy}, {register};")
                register = copy
            self.fold(register, bits)

    def write(self, one: Kind, name: str, constants: list[int]) -> None:
        """Give all words of an argument or a result values made of `%acc`."""
        if one.counter:
            self.lines.append(f"and.b32 {name}, %acc, 3;")
            return
        made = [self.word(bits, c) for (_, bits), c in zip(one.words, constants, strict=True)]
        if one.declared[0] == ".b128":
            self.lines.append(f"mov.b128 {name}, {{{made[0]}, {made[1]}}};")
            return
        for (place, bits), register in zip(one.words, made, strict=True):
            if one.space == "param":
                self.lines.append(f"st.param.b{bits} [{name}+{place}], {register};")
            elif one.declared[0].startswith(".v"):
                self.lines.append(f"mov.b{bits} {name}.{'xyzw'[place]}, {register};")
            else:
                self.lines.append(f"mov.b{bits} {name}, {register};")


def folded(acc: np.ndarray, one: Kind, words: Words) -> np.ndarray:
    """What `_Body.read` computes."""
    if one.counter:
        return acc
    for (_, bits), word in zip(one.words, words, strict=True):
        halves = [word & 0xFFFFFFFF, word >> np.uint64(32)] if bits == 64 else [word]
        for half in halves:
            acc = (acc * np.uint64(31) + half) & np.uint64(0xFFFFFFFF)
    return acc


def made(acc: np.ndarray, one: Kind, constants: list[int]) -> Words:
    """What `_Body.write` computes."""
    if one.counter:
        return [acc & np.uint64(3)]
    found = []
    for (_, bits), constant in zip(one.words, constants, strict=True):
        low = (acc + np.uint64(constant)) & np.uint64(0xFFFFFFFF)
        high = acc ^ np.uint64(constant)
        found.append((low | high << np.uint64(32) if bits == 64 else low) & np.uint64(_MASK[bits]))
    return found


Step = Callable[..., np.ndarray]
"""What a call does to the number, and, of a function that calls itself, with how many calls left."""


class Program:
    """A module of functions and one entry, `k`, which leaves a number of each thread in an array.

    Args:
        seed: of everything that is chosen.
        functions: how many there are.
    """

    def __init__(self, seed: int, functions: int = 6) -> None:
        self.random = random.Random(seed)
        self.before: list[str] = []
        self.behind: list[str] = []
        self.known: list[Function] = []
        self.tables = 0
        for number in range(functions):
            self._add(number)
        body = _Body()
        steps = self._calls(body, 4)
        lines = "\n".join(body.lines)
        texts = "\n".join(function.text for function in self.known)
        self.text = f"""{HEAD}{chr(10).join(self.before)}
{texts}
.entry k(.param .u64 out)
{{
.reg .b32 %acc, %me; .reg .b64 %out, %at;
mov.u32 %me, %tid.x;
mad.lo.u32 %acc, %me, 2654435761, 12345;
{lines}
ld.param.u64 %out, [out];
mad.wide.u32 %at, %me, 4, %out;
st.global.u32 [%at], %acc;
ret;
}}
{chr(10).join(self.behind)}
"""
        start = (np.arange(WARP, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(12345)) & np.uint64(
            0xFFFFFFFF
        )
        for step in steps:
            start = step(start)
        self.expected = start.astype(np.uint32)

    def _add(self, number: int) -> None:
        random_ = self.random
        twin = bool(self.known) and random_.random() < 0.3
        like = random_.choice(self.known) if twin else None
        takes = list(like.takes) if like else [kind(random_) for _ in range(random_.randrange(4))]
        gives = list(like.gives) if like else [kind(random_, True) for _ in range(random_.randrange(2))]
        function = Function(f"f{number}", takes, gives, random_.choice(("", "", ".visible ", ".weak ")))
        if not like and random_.random() < 0.25:
            takes.insert(0, Kind("reg", (random_.choice((".b32", ".u32")), ""), ((0, 32),), counter=True))
        recursive = bool(takes) and takes[0].counter
        body = _Body()
        body.lines.append(f".reg .b32 %acc; mov.b32 %acc, {number + 7};")
        for i, one in enumerate(takes):
            body.read(one, f"x{i}")
        steps = self._calls(body, random_.randrange(3))
        again = self._recursion(body, function) if recursive else None
        constants = [[random_.randrange(1 << 31) for _ in one.words] for one in gives]
        for i, one in enumerate(gives):
            body.write(one, f"r{i}", constants[i])

        def compute(arguments: list[Words]) -> list[Words]:
            acc = np.full(WARP, number + 7, np.uint64)
            for one, words in zip(takes, arguments, strict=True):
                acc = folded(acc, one, words)
            for step in steps:
                acc = step(acc)
            if again is not None:
                acc = again(acc, arguments[0][0])
            return [made(acc, one, c) for one, c in zip(gives, constants, strict=True)]

        function.compute = compute
        lines = "\n".join(body.lines)
        defined = f"{function.linkage}.func {function.header()}\n{{\n{lines}\nret;\n}}"
        if random_.random() < 0.3:
            self.before.append(f"{function.linkage}.func {function.header()};")
            self.behind.append(defined)
        else:
            function.text = defined
        self.known.append(function)

    def _recursion(self, body: _Body, function: Function) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """A call of itself by the threads whose counter is not zero."""
        body.count += 1
        label = f"DONE{body.count}"
        body.lines += [
            f".reg .pred %p{body.count};",
            f"setp.eq.u32 %p{body.count}, x0, 0;",
            f"@%p{body.count} bra {label};",
        ]
        inner = self._call(body, [function], "direct", counter="x0")
        body.lines.append(f"{label}:")

        def step(acc: np.ndarray, counter: np.ndarray) -> np.ndarray:
            active = counter > 0
            left = np.where(active, counter - active, 0).astype(np.uint64)
            return np.where(active, inner(acc, left), acc) if active.any() else acc

        return step

    def _calls(self, body: _Body, count: int) -> list[Step]:
        if not self.known:
            return []
        return [self._any_call(body) for _ in range(count)]

    def _any_call(self, body: _Body) -> Step:
        random_ = self.random
        callee = random_.choice(self.known)
        twins = [f for f in self.known if (f.takes, f.gives) == (callee.takes, callee.gives)]
        way = random_.choice(("direct", "direct", "alias", "prototype", "targets", "table", "table"))
        callees = [random_.choice(twins), random_.choice(twins)] if way == "table" else [callee]
        if way == "alias" and callee.linkage == ".weak ":
            way = "direct"  # A weak function has no other names.
        if random_.random() < 0.75:
            return self._call(body, callees, way)
        body.count += 1
        label, predicate = f"SKIP{body.count}", f"%p{body.count}"
        bit = 1 << random_.randrange(6)
        body.lines += [
            f".reg .pred {predicate}; .reg .b32 %m{body.count};",
            f"and.b32 %m{body.count}, %acc, {bit};",
            f"setp.eq.u32 {predicate}, %m{body.count}, 0;",
            f"@{predicate} bra {label};",
        ]
        inner = self._call(body, callees, way)
        body.lines.append(f"{label}:")
        return lambda acc: np.where(acc & np.uint64(bit) == 0, acc, inner(acc))

    def _call(self, body: _Body, callees: list[Function], way: str, counter: str | None = None) -> Step:
        random_, first = self.random, callees[0]
        body.lines.append("{")
        constants, literals = [], {}
        names = []
        for i, one in enumerate(first.takes):
            given = [random_.randrange(1 << 31) for _ in one.words]
            constants.append(given)
            if (
                not one.counter
                and one.declared[0] in (".b32", ".u32", ".s32", ".b64", ".u64", ".s64")
                and random_.random() < 0.2
            ):
                literals[i] = random_.choice((1, 7, 0x7FFFFFFF, 123456))
                names.append(str(literals[i]))
                continue
            body.lines.append(f"{one.declare(f'a{i}')};")
            if one.counter and counter is not None:
                body.lines.append(f"sub.u32 a{i}, {counter}, 1;")
            else:
                body.write(one, f"a{i}", given)
            names.append(f"a{i}")
        for i, one in enumerate(first.gives):
            body.lines.append(f"{one.declare(f'q{i}')};")
        returned = f"({', '.join(f'q{i}' for i in range(len(first.gives)))}), " if first.gives else ""
        passed = f", ({', '.join(names)})" if names else ""
        target, label = self._target(body, callees, way)
        uni = random_.choice(("", ".uni")) if way == "direct" else ""
        body.lines.append(f"call{uni} {returned}{target}{passed}{label};")
        for i, one in enumerate(first.gives):
            body.read(one, f"q{i}")
        body.lines.append("}")

        def step(acc: np.ndarray, left: np.ndarray | None = None) -> np.ndarray:
            arguments = [made(acc, one, c) for one, c in zip(first.takes, constants, strict=True)]
            if left is not None:
                arguments[0] = [left]
            for i, value in literals.items():
                arguments[i] = [np.full(WARP, value, np.uint64)]
            results = first.compute(arguments)
            if len(callees) > 1:
                odd = acc & np.uint64(1) == 1
                others = callees[1].compute(arguments)
                results = [
                    [np.where(odd, b, a) for a, b in zip(one, two, strict=True)]
                    for one, two in zip(results, others, strict=True)
                ]
            for one, words in zip(first.gives, results, strict=True):
                acc = folded(acc, one, words)
            return acc

        return step

    def _target(self, body: _Body, callees: list[Function], way: str) -> tuple[str, str]:
        """What is called, and what stands at the call's end."""
        first = callees[0]
        if way == "direct":
            return first.name, ""
        self.tables += 1
        number = self.tables
        if way == "alias":
            self.before.append(f".func {first.header(f'other{number}')};")
            # The alias is declared behind the definition that it stands for.
            self.behind.append(f".alias other{number}, {first.name};")
            return f"other{number}", ""
        body.lines.append(f".reg .b64 %f{number}, %g{number}; .reg .b32 %i{number};")
        if way == "table":
            space = self.random.choice(("global", "const"))
            names = ", ".join(f.name for f in callees)
            for one in callees:
                self.before.append(f"{one.linkage}.func {one.header()};")
            self.before.append(f".{space} .u64 table{number}[2] = {{{names}}};")
            body.lines += [
                f"and.b32 %i{number}, %acc, 1;",
                f"mov.u64 %g{number}, table{number};",
                f"mad.wide.u32 %g{number}, %i{number}, 8, %g{number};",
                f"ld.{space}.u64 %f{number}, [%g{number}];",
            ]
        else:
            body.lines.append(f"mov.u64 %f{number}, {first.name};")
        if way == "targets":
            body.lines.append(f"P{number}: .calltargets {first.name};")
        else:
            returned, _, passed = first.header(parameters=False).partition(f"{first.name} ")
            body.lines.append(f"P{number}: .callprototype {returned}_ {passed};")
        return f"%f{number}", f", P{number}"
