"""Sample statements from a row: every modifier value, every operand list, many of their combinations.

The comparison with ptxas (`tools/agreement`), the tests and the examples in the documentation use them.
`PREAMBLE` declares their variables and registers, which are named after their type: `%b32_0`.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ptxkit.dtypes import DTYPES, FUNDAMENTAL, Kind
from ptxkit.isa.addresses import is_elsewhere, is_passed
from ptxkit.isa.candidate import Candidate
from ptxkit.isa.match import address_spaces
from ptxkit.isa.notation import Form
from ptxkit.isa.operands import OPAQUE, resolve_count, resolve_type
from ptxkit.isa.places import OperandPlace, Spec
from ptxkit.isa.registers import constant_fits, register_fits
from ptxkit.isa.texels import GEOMETRY

REGISTERS = tuple(sorted(FUNDAMENTAL))
COUNT = 140
"""Registers of each type that `PREAMBLE` declares."""

MODULE = """.global .align 128 .b8 v_global[1024];
.const .align 128 .b8 v_const[1024];
.global .texref v_tex;
.global .surfref v_surf;
"""

VARIABLES = {
    "global": "v_global",
    "const": "v_const",
    "shared": "v_shared",
    "local": "v_local",
    "param": "v_kernel",
}
"""The variable of each state space."""

OPAQUES = {"texref": "v_tex", "surfref": "v_surf"}
"""The variable of each opaque type; samplers can only be declared in independent texturing mode."""

PREAMBLE = (
    " ".join(f".reg .{type_} %{type_}_<{COUNT}>;" for type_ in REGISTERS)
    + " .shared .align 128 .b8 v_shared[1024]; .local .align 128 .b8 v_local[1024];"
    " .param .align 128 .b8 v_param[1024]; L_there: T_there: .branchtargets L_there, L_there;"
)
"""What a body must declare for samples to stand in it; one line."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One statement.

    Attributes:
        text: with its semicolon.
        candidate: the form it was made from, and its modifiers.
        facts: modifiers and operands that are there, as `notation.Condition` has them.
    """

    text: str
    candidate: Candidate
    facts: frozenset[str]

    @property
    def of_manual(self) -> bool:
        """Whether the manual has the statement; rows also hold what ptxas takes beyond it."""
        slots, form = self.candidate.slots, self.candidate.form
        if form.undocumented and form.undocumented.holds(self.facts):
            return False
        return not any(
            slots.get(slot.name) in slot.undocumented
            or (slot.ptxas_optional and not slot.optional and slot.name not in slots)
            for slot in form.slots
        )


def samples(form: Form, limit: int, seed: int = 0) -> Iterator[Sample]:
    """At most `limit` statements of a form, the same for the same seed."""
    random_ = random.Random(f"{form.syntax} {seed}")
    made: set[str] = set()
    for slots in itertools.islice(_combinations(form, random_, 20 * limit), 20 * limit):
        candidate = _candidate(form, slots)
        for places in form.shapes:
            if len(made) >= limit:
                return
            sample = _sample(candidate, places, random_)
            if sample is not None and sample.text not in made:
                made.add(sample.text)
                yield sample


def _combinations(form: Form, random_: random.Random, limit: int) -> Iterator[dict[str, str]]:
    """Choices of modifiers: all where they are few, else random ones in which every value occurs."""
    choices = [((None,) if slot.optional or slot.ptxas_optional else ()) + slot.values for slot in form.slots]
    names = [slot.name for slot in form.slots]
    total = 1
    for values in choices:
        total *= len(values)
    if total <= limit:
        combinations = list(itertools.product(*choices))
        random_.shuffle(combinations)
    else:
        combinations = []
        for position, values in enumerate(choices):
            for value in values:
                for _ in range(8):
                    chosen = [random_.choice(options) for options in choices]
                    chosen[position] = value
                    combinations.append(tuple(chosen))
        random_.shuffle(combinations)
        combinations += [
            tuple(random_.choice(options) for options in choices) for _ in range(limit - len(combinations))
        ]
    for combination in combinations:
        yield {name: value for name, value in zip(names, combination, strict=True) if value is not None}


def _candidate(form: Form, slots: Mapping[str, str]) -> Candidate:
    facts = {f".{value}" for value in slots.values()} | {f".{name}" for name in slots}
    return Candidate(form, form.name, slots, frozenset(facts))


def _sample(candidate: Candidate, places: Sequence[OperandPlace], random_: random.Random) -> Sample | None:
    form = candidate.form
    facts = set(candidate.facts)
    maker = _OperandMaker(candidate, random_, facts)
    texts = []
    for place in places:
        text = maker.operand(place)
        if text is None:
            return None
        texts.append(text)
    if not all(rule.holds(frozenset(facts)) for rule in form.rules):
        return None
    spelling = ".".join(
        (form.opcode, *(candidate.slots[s.name] for s in form.slots if s.name in candidate.slots))
    )
    return Sample(f"{spelling} {', '.join(texts)};".replace(" ;", ";"), candidate, frozenset(facts))


class _OperandMaker:
    """Operands for one statement."""

    def __init__(self, candidate: Candidate, random_: random.Random, facts: set[str]) -> None:
        self.candidate = candidate
        self.form = candidate.form
        self.slots = candidate.slots
        self.random = random_
        self.facts = facts
        self.next = random_.randrange(8)

    def operand(self, place: OperandPlace) -> str | None:
        self.facts.add(place.name)
        if place.shape == "address":
            return self.address(place)
        if place.shape == "pair":
            first = self.value(place.parts[0], True)
            if place.parts[1].optional and self.random.random() < 0.5:
                return first
            self.facts.add(place.parts[1].name)
            second = self.value(place.parts[1], True)
            return f"{first}|{second}" if first and second and first + second != "__" else None
        if place.shape in ("vector", "arguments"):
            parts = [self.part(part, self.form.writes(place)) for part in place.parts]
            if None in parts:
                return None
            inner = ", ".join(part for part in parts if part)
            return f"{{{inner}}}" if place.shape == "vector" else f"({inner})"
        return self.value(place, self.form.writes(place))

    def part(self, place: OperandPlace, written: bool) -> str | None:
        if place.shape == "plain":
            self.facts.add(place.name)
            return self.value(place, written)
        return self.operand(place)

    def address(self, place: OperandPlace) -> str | None:
        spec = self.form.specs[place.name]
        spaces = address_spaces(self.candidate, place)
        if spec.words & OPAQUE or "value" in spec.words:
            base: str | None = self.value(place.parts[0], "value" not in spec.words)
        else:
            base = self.base(() if "reg" in spec.words else spaces, spec)
        if base is None:
            return None
        base = base.partition("+")[0] if len(place.parts) > 1 else base
        rest = []
        for part in place.parts[1:]:
            if part.optional and self.random.random() < 0.5:
                continue
            text = self.part(part, False)
            if text is None:
                return None
            rest.append(text)
        suffix = ""
        everywhere = {"global", "generic"} >= set(spaces)
        if place.suffix and everywhere and base.startswith("%") and self.random.random() < 0.2:
            self.facts.add(place.suffix)
            suffix = f".{place.suffix}"
        return f"[{', '.join((base, *rest))}]{suffix}"

    def base(self, spaces: tuple[str, ...], spec: Spec) -> str | None:
        choices = [self.register("b64"), self.register("u64"), f"{self.register('b64')}+16"]
        choices += [f"{self.register('b64')}+-16"]
        for space in spaces:
            root = space.partition("::")[0]
            if root == "tmem":
                choices = [self.register("b32"), f"{self.register('b32')}+4"]
                choices += [] if "exact" in spec.words else [self.register("u32")]
            elif root == "generic":
                choices.append("v_global")
                if not is_elsewhere(self.form, "shared", spaces, self.slots):
                    choices.append("v_shared+16")
            elif root == "param":
                known = {"load", "store"} & spec.words and not is_passed(self.form, self.slots)
                choices = choices if known else []
                choices += ["v_param", "v_param+32"] if {"load", "store"} & spec.words else []
                choices += [] if is_passed(self.form, self.slots) else ["v_kernel"]
            elif root in VARIABLES and not is_elsewhere(self.form, root, spaces, self.slots):
                choices += [VARIABLES[root], f"{VARIABLES[root]}+32"]
                narrow = self.form.opcode != "mbarrier" or any("shared" in v for v in self.slots.values())
                narrow = narrow and not self.form.name.startswith("tensormap.query")
                if root in ("shared", "local") and narrow:
                    choices += [self.register("b32"), f"{self.register('u32')}+8"]
        return self.random.choice(choices)

    def register(self, type_: str) -> str:
        self.next = (self.next + 1) % COUNT
        return f"%{type_}_{self.next}"

    def value(self, place: OperandPlace, written: bool) -> str | None:
        spec = self.form.specs[place.name]
        type_ = "pred" if "pred" in spec.words else resolve_type(spec, self.slots)
        if spec.words & {"texels", "shifts", "gradients"}:
            assert type_ is not None
            return self.geometry(spec, type_)
        count = resolve_count(spec, self.slots)
        sign = ""
        if place.negatable and self.random.random() < 0.4:
            sign = place.negatable
        if count == 0:
            return None
        if count is not None:
            assert type_ is not None
            choices = self.registers(type_, spec, element="vec" in spec.words)
            one = self.random.choice(choices)
            return f"{{{', '.join(self.register(one) for _ in range(count))}}}"
        text = self.scalar(spec, type_, written)
        if text is None:
            return None
        if place.selector and (place.negatable == "required" or self.random.random() < 0.6):
            if not text.startswith("%"):
                return None
            selected = f"{text}.{self.random.choice(self.form.selectors[place.selector])}"
            return selected if place.negatable == "required" else sign + selected
        return text if place.negatable == "required" or not text.startswith("%") else sign + text

    def registers(self, type_: str, spec: Spec, element: bool = False) -> list[str]:
        if "exact" in spec.words:
            return [type_]
        wide = "wide" in spec.words and self.random.random() < 0.4
        without = {"f16x2", "b128"} if "called" in spec.words else {"f16x2"}
        return [r for r in REGISTERS if r not in without and register_fits(r, type_, wide, element)]

    def geometry(self, spec: Spec, type_: str) -> str | None:
        texels, shifts, gradients = GEOMETRY[self.slots["geom"]]
        count = texels if "texels" in spec.words else shifts if "shifts" in spec.words else gradients
        if not count:
            return None
        types = [type_] * count
        if "texels" in spec.words and self.slots["geom"].startswith("a"):
            types[0] = "u32"
        return f"{{{', '.join(self.register(type_) for type_ in types)}}}"

    def scalar(self, spec: Spec, type_: str | None, written: bool) -> str | None:
        words = spec.words
        if "label" in words:
            return "L_there"
        if "targets" in words:
            return "T_there"
        choices: list[str] = []
        if "any" in words:
            choices += [self.register(r) for r in REGISTERS if r != "f16x2"]
        if type_ is not None and "imm" not in words:
            choices += [self.register(r) for r in self.registers(type_, spec)]
        if not written:
            choices += self.constants(spec, type_)
            if "variable" in words:
                choices += self.variables(spec, type_)
        elif "sink" in words:
            choices.append("_")
        choices += [OPAQUES[word] for word in OPAQUES if word in words]
        return self.random.choice(choices) if choices else None

    def variables(self, spec: Spec, type_: str | None) -> list[str]:
        spaces = [self.slots.get(name[1:], "generic") if name[0] == "." else name for name in spec.spaces]
        names = [VARIABLES[root] for name in spaces if (root := name.partition("::")[0]) in VARIABLES]
        names = names or ["v_global"]
        if type_ is not None and DTYPES[type_].bits == 32:  # Global memory has 64-bit addresses.
            names = [name for name in names if name != "v_global"]
        return names + [f"{name}+4" for name in names]

    def constants(self, spec: Spec, type_: str | None) -> list[str]:
        if spec.choices:
            return [str(value) for value in spec.choices]
        if spec.low is not None and spec.high is not None:
            if isinstance(spec.low, float):
                return [str(spec.high)]
            low = int(spec.low)
            high = low if isinstance(spec.high, str) else int(spec.high)
            return [str(low), str(high), str((low + high) // 2 // spec.step * spec.step)]
        if spec.words & ({"reg", "exact"} | OPAQUE):
            return []
        if type_ is None:
            return ["1"] if "imm" in spec.words else []
        found = []
        if constant_fits("int", type_):
            found.append(
                "1" if DTYPES[type_].kind is Kind.PREDICATE else self.random.choice(["0", "5", "0x7F", "-3"])
            )
        if constant_fits("float", type_) and "single" not in spec.words:
            found.append("1.5")
        if constant_fits("0f", type_) and "double" not in spec.words:
            found.append("0f3F800000")
        return found
