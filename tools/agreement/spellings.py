"""Statements of the rows with one operand spelled otherwise: what people, compilers and slips write there.

A row's sample has operands as the row wants them; disagreements are in what the row does not say. So one
operand of a sample, an element of a vector, a part of an address or half of a pair gives way to a spelling
that knows nothing of the row: registers of every type, bare, in braces, negated and with an offset,
numbers in each notation and beyond each range, names of every kind. Most are refused, on both sides.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ptxkit.isa.notation import Form
from ptxkit.isa.sample import COUNT, REGISTERS, VARIABLES, samples
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.machine.provenance import provenance

from . import record
from .mutations import split_operands
from .oracle import Verdict
from .reasons import reason_of, reasons
from .rows import Case, place_of

SAMPLES = 6
"""Samples of a row from which one is chosen."""

INTEGERS = tuple(
    "0 1 2 3 4 7 8 15 16 17 31 32 64 128 255 256 1024 4095 4096 65535 65536 70000 2147483647 2147483648"
    " 4294967295 4294967296 99999999999 9223372036854775807 9223372036854775808 18446744073709551615"
    " -1 -2 -7 -128 -129 -32769 -2147483648 -2147483649 -9223372036854775808"
    " 0x0 0x7F 0xFF 0xfffF 0x10000 0x7FFFFFFF 0xFFFFFFFF 0x100000000 0xFFFFFFFFFFFFFFFF"
    " 010 0377 0b0 0b101 0b11111111"
    " 1U 0U 7U 255U 0x1FU 4294967295U 0b11U 017U +1 ~0 ~5 !0 !1 !7"
    " (1+2) (1<<4) 4*4 16-1 (3>2?1:0) WARP_SZ WARP_SZ-1 (.s64)1 (.u64)-1".split()
)
FLOATS = tuple(
    "0. 1. 0.5 1.0 -1.0 2.5e3 1e10 1E-3 -1.5e+2 1e400 0f00000000 0f3F800000 0fBF800000 0f7FC00000 0F3f800000"
    " 0d0000000000000000 0d3FF0000000000000 0dBFF0000000000000 0D3ff0000000000000 -0f3F800000"
    " !2.0 ~1.0 1.0+2.0 1.5+1 (1.5)".split()
)
NAMES = (*VARIABLES.values(), "v_param", "v_tex", "v_surf")
"""Variables of every state space, and opaque ones."""
BESIDE = ("_", "0", "1", "-1", "0.", "1.5", "0f3F800000", "%tid.x", "%clock", "v_global")
"""What may stand in a vector beside registers."""
OFFSETS = ("+4", "+1", "+0", "+-4", "+0x10", "-4", "+WARP_SZ", "+1+2", "+1.5", "+65536")
PARTS = ("x", "y", "w", "r", "b0", "h1", "b3", "b7")
ELSE = ("L_there", "T_there", "k", "_")
SPECIAL = tuple(
    name + component
    for name, register in SPECIAL_REGISTERS.items()
    for component in (("", ".x", ".w") if register.vector else ("",))
    if not re.search(r"\d\d$|envreg[2-9]|pm[1-7]", name)
)


def _register(random_: random.Random, types: Sequence[str] = REGISTERS) -> str:
    return f"%{random_.choice(types)}_{random_.randrange(COUNT)}"


def _vector(random_: random.Random) -> str:
    """Registers of one type, of several of one width, or of any, with numbers and `_` among them."""
    count = random_.choice((1, 1, 2, 2, 3, 4, 4, 8))
    type_ = random_.choice(REGISTERS)
    near = [other for other in REGISTERS if other[1:] == type_[1:]]
    types = random_.choice(([type_], [type_], near, REGISTERS))
    elements = [_register(random_, types) for _ in range(count)]
    if random_.random() < 0.4:
        elements[random_.randrange(count)] = random_.choice(BESIDE)
    return f"{{{', '.join(elements)}}}"


def _offset(random_: random.Random) -> str:
    names = random_.choice((NAMES, SPECIAL))
    base = random_.choice((_register(random_), _register(random_), random_.choice(names)))
    return base + random_.choice(OFFSETS)


def _negated(random_: random.Random) -> str:
    what = random_.choice((_register(random_), _register(random_, ["pred"]), random_.choice(NAMES)))
    return random_.choice("!!-~") + what


def _itself(random_: random.Random, was: str) -> str:
    """What stands there, spelled otherwise, or a register of the same width."""
    width = re.search(r"\d+", was)
    near = [type_ for type_ in REGISTERS if width and type_[1:] == width[0]] or REGISTERS
    return random_.choice(
        (f"{{{was}}}", f"{was}+4", f"-{was}", f"!{was}", f"{was}|_", _register(random_, near))
    )


def _plain(make: Callable[[random.Random], str]) -> Callable[[random.Random, str], str]:
    return lambda random_, was: make(random_)


KINDS: dict[str, Callable[[random.Random, str], str]] = {
    "itself": _itself,
    "register": _plain(_register),
    "register in braces": _plain(lambda random_: f"{{{_register(random_)}}}"),
    "vector": _plain(_vector),
    "integer": _plain(lambda random_: random_.choice(INTEGERS)),
    "float": _plain(lambda random_: random_.choice(FLOATS)),
    "number in braces": _plain(lambda random_: f"{{{random_.choice(INTEGERS + FLOATS)}}}"),
    "offset": _plain(_offset),
    "negated": _plain(_negated),
    "variable": _plain(lambda random_: random_.choice(NAMES)),
    "special register": _plain(lambda random_: random_.choice(SPECIAL)),
    "part of a register": _plain(lambda random_: f"{_register(random_)}.{random_.choice(PARTS)}"),
    "label, function, sink": _plain(lambda random_: random_.choice(ELSE)),
    "address": _plain(lambda random_: f"[{random_.choice((_register(random_), random_.choice(NAMES)))}]"),
    "pair": _plain(
        lambda random_: f"{_register(random_)}|{random_.choice((_register(random_, ['pred']), '_'))}"
    ),
}
"""What may be written instead of an operand, by the name under which it is counted."""


def cases(forms: Sequence[Form], count: int, seed: int) -> list[Case]:
    """Statements with one operand spelled otherwise, each for a target that has its row.

    Args:
        forms: the rows.
        count: how many.
        seed: of everything that is chosen.
    """
    random_ = random.Random(f"spellings {seed}")
    found: dict[Case, None] = {}
    tries = 0
    while len(found) < count and tries < 20 * count:
        tries += 1
        form = random_.choice(forms)
        made = list(samples(form, SAMPLES, random_.randrange(1 << 30)))
        if not made:
            continue
        sample = random_.choice(made)
        place = place_of(form, sample, random_)
        kind = random_.choice(list(KINDS))
        changed = respell(sample.text, KINDS[kind], random_)
        if place and changed:
            found[Case(changed, place, f"{form.section} {form.syntax}", kind)] = None
    if len(found) < count:
        print(f"only {len(found)} statements could be made", file=sys.stderr)
    return list(found)


def respell(statement: str, spell: Callable[[random.Random, str], str], random_: random.Random) -> str | None:
    """The statement with one operand, or a part of one, given way; None where it has none."""
    head, _, tail = statement.rstrip(";").partition(" ")
    choices = list(_places(split_operands(tail)))
    if not choices:
        return None
    before, was, after = random_.choice(choices)
    return f"{head} {before}{spell(random_, was)}{after};"


def _places(operands: list[str]) -> Iterator[tuple[str, str, str]]:
    """What may give way in a list, with the text before and after.

    That is each operand; of a vector the first and the last element; each part of an address, each half of a
    pair.
    """
    for at, operand in enumerate(operands):
        before = "".join(f"{other}, " for other in operands[:at])
        after = "".join(f", {other}" for other in operands[at + 1 :])
        yield before, operand, after
        if operand[:1] in ("{", "["):
            inside, _, suffix = operand[1:].rpartition("}" if operand[0] == "{" else "]")
            parts = split_operands(inside)
            for position, (left, was, right) in enumerate(_places(parts)):
                if operand[0] == "[" or position in (0, len(parts) - 1):
                    closing = "}" if operand[0] == "{" else "]"
                    yield f"{before}{operand[0]}{left}", was, f"{right}{closing}{suffix}{after}"
        elif "|" in operand:
            first, _, second = operand.partition("|")
            yield before, first, f"|{second}{after}"
            yield f"{before}{first}|", second, after


# ---- what is kept


def reason(verdict: Verdict) -> str | None:
    """The name of the reason of a disagreement, of those for spellings alone."""
    return reason_of(verdict, [reason for reason in reasons() if reason.spelled])


def document(verdicts: Iterable[Verdict], seed: int) -> dict[str, Any]:
    """What one run found: every disagreement, counted by its reason, and apart those that have none."""
    found = list(verdicts)
    differ = [verdict for verdict in found if not verdict.agrees]
    named = Counter(reason(verdict) or "none" for verdict in differ)
    plain = [verdict for verdict in differ if reason(verdict) is None]
    judged = len(found) - len(differ) + len(plain)
    return {
        "schema": record.SCHEMA,
        "kind": "spellings",
        **provenance(),
        "assembler": record.assembler(),
        "reasons": dict(sorted(named.items())),
        "without a reason": {
            "differ": len(plain),
            "refused by ptxkit alone": sum(verdict.theirs is None for verdict in plain),
            "agreement": 1 - len(plain) / max(judged, 1),
        },
        **record.part(found, {"statements": len(found), "seed": seed}),
    }
