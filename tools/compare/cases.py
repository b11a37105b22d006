"""What is compared: statements made from the rows of the instruction set, with all combinations of modifiers.

A row takes part where its statements do nothing but compute registers from registers: arithmetic, comparison,
selection, bits, conversion, moves, video, and what a warp does together (`shfl`, `vote`, `match`, `redux`,
`elect`, `mma`, `movmatrix`). From each combination of modifiers that the target has come one or more
statements, which differ in what is no modifier: constants, selected parts, negated predicates, widths of
registers, operands that may be left out.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ptxkit import targets
from ptxkit.dtypes import DTYPES, Kind
from ptxkit.isa.candidate import Candidate
from ptxkit.isa.notation import Form, OperandPlace, Spec
from ptxkit.isa.operands import resolve_count, resolve_type
from ptxkit.isa.registry import forms, opcodes

CHAPTERS = frozenset("integer extended floating half mixed comparison logic conversion video".split())
OTHERS = frozenset("mov prmt shfl vote match redux activemask elect mma movmatrix".split())
"""Opcodes of other chapters that compute registers from registers."""
WARP = frozenset("shfl vote match redux activemask elect mma movmatrix".split())
"""Opcodes of which a whole warp executes one."""

VARIANTS = 4
"""Statements of a spelling whose operands leave a choice; `lop3` has more."""
EVERY_LANE = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Register:
    """A register of a statement: `%i0`, `%i1`, .. are read, `%o0`, `%o1`, .. written.

    Attributes:
        name: without the percent sign.
        type: what its bits mean: a PTX type, of which the register holds as many as fit; `pred`; or `mask`
            (lanes of the warp), `lane` (0 to 31), `metadata` (which elements of a sparse matrix there are).
        bits: its width; 1 for a predicate.
    """

    name: str
    type: str
    bits: int

    @property
    def declared(self) -> str:
        """The type of its declaration."""
        if self.type in ("s8", "u8") and self.bits == 8:
            return self.type
        return "pred" if self.bits == 1 else f"b{self.bits}"


@dataclass(frozen=True, slots=True)
class Case:
    """A statement to be executed with many values.

    Attributes:
        row: the row's syntax.
        section: of the manual.
        spelling: opcode and modifiers.
        text: the statement, with its registers.
        inputs, outputs: its registers.
        before, after: statements that give and take the carry, or take apart what is too wide to load.
        temporary: registers of those.
        partial: some lanes of each warp are switched off, as the operand `mask` says.
        memory: it works on a place in memory, `%at`, where the last output is stored in the end.
    """

    row: str
    section: str
    spelling: str
    text: str
    inputs: tuple[Register, ...]
    outputs: tuple[Register, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    temporary: tuple[Register, ...] = ()
    partial: bool = False
    memory: bool = False

    @property
    def opcode(self) -> str:
        """The part before the first dot."""
        return self.spelling.partition(".")[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The parts after the first dot."""
        return tuple(self.spelling.split(".")[1:])

    @property
    def of_warp(self) -> bool:
        """Whether a warp executes it together, so that 32 threads make one instance."""
        return self.opcode in WARP


def compared(form: Form) -> bool:
    """Whether a row takes part."""
    return form.chapter in CHAPTERS or form.opcode in OTHERS


def cases(target: targets.Target, version: targets.Version, pattern: str = "", seed: int = 0) -> list[Case]:
    """Every statement for a target, the same ones for the same seed.

    Args:
        target: what they must assemble for.
        version: the `.version` of the modules.
        pattern: a regular expression that a spelling must contain.
        seed: of what is chosen at random.
    """
    found: dict[str, Case] = {}
    for opcode in opcodes():
        for form in forms(opcode):
            if compared(form):
                for case in _cases_of(form, target, version, re.compile(pattern), seed):
                    found.setdefault(case.text + " ".join(case.before), case)
    return list(found.values())


def _cases_of(
    form: Form, target: targets.Target, version: targets.Version, pattern: re.Pattern[str], seed: int
) -> Iterator[Case]:
    choices = [((None,) if slot.optional else ()) + slot.values for slot in form.slots]
    for chosen in itertools.product(*choices):
        slots = {slot.name: value for slot, value in zip(form.slots, chosen, strict=True) if value}
        if any(slots.get(slot.name) in slot.undocumented for slot in form.slots):
            continue
        spelling = ".".join((form.opcode, *(value for value in chosen if value)))
        facts = frozenset({f".{value}" for value in slots.values()} | {f".{name}" for name in slots})
        if not pattern.search(spelling) or not form.available(version, target, facts):
            continue
        candidate = Candidate(form, form.name, slots, facts)
        for places in form.shapes:
            random_ = random.Random(f"{seed} {spelling} {len(places)}")
            made: set[str] = set()
            for variant in range(16 if form.opcode == "lop3" else VARIANTS):
                case = _Maker(candidate, spelling, random_, variant).case(places)
                if case is not None and case.text not in made:
                    made.add(case.text)
                    yield case


class _Maker:
    """One statement."""

    def __init__(self, candidate: Candidate, spelling: str, random_: random.Random, variant: int) -> None:
        self.form = candidate.form
        self.slots = candidate.slots
        self.facts = set(candidate.facts)
        self.spelling = spelling
        self.random = random_
        self.variant = variant
        self.inputs: list[Register] = []
        self.outputs: list[Register] = []

    def case(self, places: Sequence[OperandPlace]) -> Case | None:
        texts = [self.operand(place) for place in places]
        if None in texts or not all(rule.holds(frozenset(self.facts)) for rule in self.form.rules):
            return None
        text = f"{self.spelling} {', '.join(text for text in texts if text)};"
        plain = Case(
            self.form.syntax, self.form.section, self.spelling, text, tuple(self.inputs), tuple(self.outputs)
        )
        if plain.opcode in WARP:
            return _partial(plain, self.variant)
        return _with_carry(_with_bytes(_with_words(plain)))

    # ---- operands

    def operand(self, place: OperandPlace) -> str | None:
        self.facts.add(place.name)
        if place.shape == "pair":
            first = self.leaf(place.parts[0], True)
            if place.parts[1].optional and self.variant % 2:
                return first
            self.facts.add(place.parts[1].name)
            second = self.leaf(place.parts[1], True)
            return f"{first}|{second}" if first and second else None
        if place.shape == "vector":
            parts = [self.leaf(part, self.form.writes(place)) for part in place.parts]
            self.facts.update(part.name for part in place.parts)
            return None if None in parts else f"{{{', '.join(part for part in parts if part)}}}"
        return self.leaf(place, self.form.writes(place)) if place.shape == "plain" else None

    def leaf(self, place: OperandPlace, written: bool) -> str | None:
        spec = self.form.specs[place.name]
        type_ = "pred" if "pred" in spec.words else resolve_type(spec, self.slots)
        if not written and (constant := self.constant(spec)) is not None:
            return constant
        if type_ is None:
            return None
        count = resolve_count(spec, self.slots)
        if count is not None:
            meaning = self.meaning(place, type_)
            return f"{{{', '.join(self.register(type_, written, meaning) for _ in range(count))}}}"
        if "pack" in spec.words and DTYPES[type_].kind is Kind.BITS and (packed := self.pack(type_, written)):
            return packed
        name = self.register(self.width(spec, type_, written), written, self.meaning(place, type_))
        if place.selector and (place.negatable == "required" or self.variant):
            name += f".{self.random.choice(self.form.selectors[place.selector])}"
        sign = place.negatable if place.negatable in ("!", "-") else ""
        return sign + name if sign and self.variant & 1 else name

    def constant(self, spec: Spec) -> str | None:
        if spec.choices:
            return str(self.random.choice(spec.choices))
        if "imm" in spec.words and spec.low is not None and spec.high is not None:
            return str(self.random.randrange(int(spec.low), int(spec.high) + 1, spec.step))
        return None

    def pack(self, type_: str, written: bool) -> str | None:
        """A vector of two or four registers for one, in some variants."""
        if self.variant not in ((1,) if written else (2, 3)):
            return None
        parts = 2 if type_ == "b16" or type_ == "b128" or self.variant == 3 else 4
        part = DTYPES[type_].bits // parts
        if part < 16:
            return None
        return f"{{{', '.join(self.register(f'b{part}', written) for _ in range(parts))}}}"

    def width(self, spec: Spec, type_: str, written: bool) -> str:
        """The type of the register: one wider than the operand in the later variants, where it may be."""
        dtype = DTYPES[type_]
        integer = dtype.lanes == 1 and dtype.kind in (Kind.SIGNED, Kind.UNSIGNED, Kind.BITS)
        if "wide" not in spec.words or not integer or not self.variant or (written and self.variant == 3):
            return type_
        return self.random.choice([wide for wide in ("b16", "b32", "b64") if DTYPES[wide].bits >= dtype.bits])

    def meaning(self, place: OperandPlace, type_: str) -> str:
        """What a register holds, where that is more than the row's type for it says."""
        if self.form.opcode == "mma" and place.name in ("a", "b"):
            if "b1" in self.form.modifiers:
                return "b32"
            return self.slots.get(f"{place.name}type", type_)
        if self.form.opcode in (*WARP, "fns"):
            return {"membermask": "mask", "e": "metadata", "base": "lane"}.get(place.name, type_)
        return type_

    def register(self, type_: str, written: bool, meaning: str | None = None) -> str:
        into = self.outputs if written else self.inputs
        into.append(Register(f"{'o' if written else 'i'}{len(into)}", meaning or type_, register_bits(type_)))
        return f"%{into[-1].name}"


def register_bits(type_: str) -> int:
    """How wide a register for a value of the type is."""
    if type_ == "pred":
        return 1
    dtype = DTYPES[type_]
    smallest = 8 if dtype.lanes > 1 else 16
    return next(width for width in (8, 16, 32, 64, 128) if width >= max(dtype.bits, smallest))


# ---- what surrounds a statement


def _partial(case: Case, variant: int) -> Case:
    """In every second variant, with the lanes alone that the mask names."""
    masked = any(register.type == "mask" for register in case.inputs)
    return replace(case, partial=masked and variant % 2 == 1)


def _with_words(case: Case) -> Case:
    """Registers of 128 bits are put together from two, and taken apart."""
    before, after, temporary = list(case.before), list(case.after), list(case.temporary)
    inputs: list[Register] = []
    outputs: list[Register] = []
    for register in (*case.inputs, *case.outputs):
        read = register in case.inputs
        into = inputs if read else outputs
        if register.bits != 128:
            into.append(register)
            continue
        temporary.append(register)
        halves = [replace(register, name=f"{register.name}{half}", type="b64", bits=64) for half in "lh"]
        into += halves
        pair = f"{{%{halves[0].name}, %{halves[1].name}}}"
        if read:
            before.append(f"mov.b128 %{register.name}, {pair};")
        else:
            after.append(f"mov.b128 {pair}, %{register.name};")
    return replace(
        case,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        before=tuple(before),
        after=tuple(after),
        temporary=tuple(temporary),
    )


def _with_bytes(case: Case) -> Case:
    """Where `cvt` wants a register of 8 bits, between .bf16 and .s8 or .u8, one stands between it and one of
    16 bits."""
    if case.opcode != "cvt" or "bf16" not in case.modifiers:
        return case
    text, before, after, temporary = case.text, case.before, case.after, case.temporary
    for register in (*case.inputs, *case.outputs):
        if register.type in ("s8", "u8"):
            byte = replace(register, name=f"{register.name}b", bits=8)
            wide = f"{register.type[0]}16"
            text = text.replace(f"%{register.name}", f"%{byte.name}")
            temporary = (*temporary, byte)
            if register in case.inputs:
                before = (*before, f"cvt.{byte.type}.{wide} %{byte.name}, %{register.name};")
            else:
                after = (*after, f"cvt.{wide}.{byte.type} %{register.name}, %{byte.name};")
    return replace(case, text=text, before=before, after=after, temporary=temporary)


def _with_carry(case: Case) -> Case:
    """The carry that the statement reads is made from an input, the one it writes goes into an output; by
    additions, whatever the statement is, for the flag has one meaning. PTX ISA 9.7.2."""
    if case.opcode in ("addc", "subc", "madc"):
        carry, sink = Register("c", "b32", 32), Register("t", "b32", 32)
        # -1 + c: a carry where c is not 0.
        case = replace(
            case,
            inputs=(*case.inputs, carry),
            before=(*case.before, "add.cc.u32 %t, %c, 0xffffffff;"),
            temporary=(*case.temporary, sink),
        )
    if "cc" in case.modifiers:
        sink = Register("oc", "b32", 32)
        case = replace(case, outputs=(*case.outputs, sink), after=(*case.after, "addc.u32 %oc, 0, 0;"))
    return case
