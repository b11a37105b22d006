"""Whole files with one call each, direct or indirect, of parameters of many kinds. PTX ISA 7.1."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import ptxkit

from .oracle import Sheet, Verdict, by_ptxas_alone

TYPES = "b8 b16 b32 b64 u8 u32 s32 u64 s64 f32 f64 f16 b128".split()
REGISTERS = [type_ for type_ in TYPES if type_ not in ("b8", "u8")] + ["pred"]
ALIGNMENTS = (None, None, 1, 2, 4, 8, 16)
COUNTS = (None, None, 2, 4, 8, 16)
HEAD = [".version 9.0", ".target sm_90", ".address_size 64"]
PLACE = "9.0 sm_90"


@dataclass(frozen=True)
class Value:
    """A parameter or an argument: `.param .align 8 .b8 x[16]`."""

    space: str
    type: str
    align: int | None = None
    count: int | None = None

    def declared(self, name: str) -> str:
        """Its declaration under a name, without the semicolon."""
        align = f".align {self.align} " if self.align else ""
        return f".{self.space} {align}.{self.type} {name}{f'[{self.count}]' if self.count else ''}"


def _value(random_: random.Random) -> Value:
    if random_.random() < 0.35:
        return Value("reg", random_.choice(REGISTERS))
    return Value("param", random_.choice(TYPES), random_.choice(ALIGNMENTS), random_.choice(COUNTS))


def _near(value: Value, random_: random.Random) -> Value:
    """The same, or with one property changed."""
    change = random_.choice(("space", "align", "count", "type", *[""] * 4))
    if change == "space":
        return Value("reg", value.type) if value.space == "param" else replace(value, space="param")
    if change == "type":
        return replace(value, type=random_.choice(TYPES))
    if change == "align" and value.space == "param":
        return replace(value, align=random_.choice(ALIGNMENTS))
    if change == "count" and value.space == "param":
        return replace(value, count=random_.choice(COUNTS))
    return value


def _list(values: list[Value], name: str) -> str:
    return f"({', '.join(v.declared('_' if name == '_' else f'{name}{i}') for i, v in enumerate(values))})"


def text(random_: random.Random) -> str:
    """A file with a function and a kernel that calls it."""
    takes = [_value(random_) for _ in range(random_.randrange(3))]
    gives = [_value(random_)] if random_.random() < 0.5 else []
    arguments = [_near(value, random_) for value in takes]
    results = [_near(value, random_) for value in gives]
    if arguments and random_.random() < 0.1:
        arguments.pop()
    elif random_.random() < 0.05:
        arguments.append(_value(random_))
    kind = random_.choice(("direct", "direct", "extern", "prototype", "targets"))
    header = f".func {_list(gives, 'r') + ' ' if gives else ''}f{_list(takes, 'x')}"
    lines = [*HEAD, f".extern {header};" if kind == "extern" else f"{header} {{ ret; }}", ".entry k() {"]
    lines += [f"{value.declared(f'q{i}')};" for i, value in enumerate(results)]
    lines += [f"{value.declared(f'a{i}')};" for i, value in enumerate(arguments)]
    result = "(q0), " if results and random_.random() < 0.95 else ""
    names = ", ".join(f"a{i}" for i in range(len(arguments)))
    passed = f", ({names})" if names else ""
    if kind in ("prototype", "targets"):
        lines.append(".reg .b64 address; mov.u64 address, f;")
        wanted = [_near(value, random_) for value in takes] if random_.random() < 0.5 else takes
        prototype = f".callprototype {_list(gives, '_') + ' ' if gives else ''}_ {_list(wanted, '_')};"
        lines.append(f"P: {prototype if kind == 'prototype' else '.calltargets f;'}")
        lines.append(f"call {result}address{passed}, P;")
    else:
        lines.append(f"call {result}f{passed};")
    return "\n".join([*lines, "ret; }", ""])


def judge(seed: int) -> Verdict:
    """Both verdicts on the file that a seed makes."""
    source = text(random.Random(seed))
    errors = [d for d in ptxkit.check(ptxkit.parse(source)) if d.is_error]
    theirs = by_ptxas_alone(Sheet(source.split("\n"), {}, "compute_90"))
    shown = " ".join(source.split("\n")[len(HEAD) :]).strip()
    ours = f"{errors[0].code} {errors[0].message}" if errors else None
    return Verdict(shown, "calls", "", PLACE, theirs, ours)


def verdicts(limit: int, seed: int) -> Iterator[Verdict]:
    """Both verdicts on `limit` files."""
    with ProcessPoolExecutor() as pool:
        yield from pool.map(judge, range(seed * limit, (seed + 1) * limit), chunksize=20)
