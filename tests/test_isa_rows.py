"""The rows of the instruction set: each reads, makes sample statements, and those statements check."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Set
from pathlib import Path

import pytest

import ptxkit
from ptxkit import targets
from ptxkit.isa import registry
from ptxkit.isa.names import NAMES
from ptxkit.isa.notation import Form
from ptxkit.isa.sample import MODULE, PREAMBLE, samples
from ptxkit.isa.traits import TRAITS

FORMS = [form for opcode in registry.opcodes() for form in registry.forms(opcode)]
MANUAL = [
    line.split() for line in (Path(__file__).parent / "data" / "instructions.txt").read_text().splitlines()
]
"""Section and names of every instruction, from the headings of chapter 9.7."""


def fitting_target(form: Form, facts: frozenset[str]) -> str | None:
    """A target that has the form with these modifiers."""
    for name in reversed(targets.SUPPORTED):
        if form.available(targets.NEWEST_VERSION, targets.TARGETS[name], facts):
            independent = form.sampler in facts
            return f"{name}, texmode_independent" if independent else name
    return None


@pytest.mark.parametrize("trait", TRAITS)
def test_traits_are_of_instructions_that_have_rows(trait):
    assert set(TRAITS[trait].instructions.split()) <= {form.name for form in FORMS}


DATA = frozenset({"b", "r", "srcMem", "new_val"})
"""What instructions call the data that goes to the address before it."""


def writes_memory(form: Form) -> bool:
    """Whether a row has a destination in memory: it is called so, or data follows an address."""
    addresses = {place.name for place in form.places if place.shape == "address"}
    if addresses & {"dst", "dstMem"}:
        return True
    target = form.places[0] if form.places else None
    if target is None or target.name not in addresses or form.specs[target.name].spaces == ("tmem",):
        return False
    return bool(DATA & {leaf.name for place in form.places[1:] for leaf in place.leaves()})


OBJECTS = frozenset({"mbarrier", "mbarrier_reports", "texture", "surface"})
"""Chapters whose addresses are of objects."""
NO_DATA = frozenset({"createpolicy.range", "createpolicy.range.fabric", "tensormap.query.alloc_class_large"})
"""What looks at an address alone, or at a tensor map."""


def loads_memory(form: Form) -> bool:
    """Whether registers get what is in memory: a destination that is no address, and an address."""
    if not form.places or not form.writes(form.places[0]) or form.chapter in OBJECTS or form.name in NO_DATA:
        return False
    addresses = [form.specs[place.name].spaces for place in form.places if place.shape == "address"]
    return bool(addresses) and addresses != [("tmem",)]


def without(trait: str, has: Callable[[Form], bool], having: Set[str]) -> list[str]:
    """The instructions that should have a trait, and are not among those that do."""
    names = {form.name for form in FORMS if has(form)} - having
    return [f"`{name}` has no trait `{trait}` (ptxkit/isa/traits.py)" for name in sorted(names)]


def test_what_writes_memory_stores_and_what_reads_it_loads():
    stores, loads = (set(TRAITS[trait].instructions.split()) for trait in ("stores", "loads"))
    assert not without("stores", writes_memory, stores)
    assert without("stores", writes_memory, stores - {"red"}) == [
        "`red` has no trait `stores` (ptxkit/isa/traits.py)"
    ]
    assert not without("loads", loads_memory, loads | stores)
    assert without("loads", loads_memory, (loads | stores) - {"ldu"}) == [
        "`ldu` has no trait `loads` (ptxkit/isa/traits.py)"
    ]
    assert not any(writes_memory(form) for form in FORMS if form.name == "prefetch")


@pytest.mark.parametrize(
    ("section", "names"), [(line[0], line[1:]) for line in MANUAL], ids=lambda value: str(value)
)
def test_every_instruction_of_the_manual_has_rows(section, names):
    for name in names:
        rows = [form for form in registry.forms(name.partition(".")[0]) if form.section == section]
        assert rows, f"{name} has no row for section {section}"


MODIFIED = frozenset(
    "add.cc sub.cc mad.cc rcp.approx.ftz.f64 rsqrt.approx.ftz.f64 shfl.sync ld.global.nc vote.sync "
    "match.sync redux.sync elect.sync mma.sp mma.sp::ordered_metadata wgmma.mma_async.sp tcgen05.mma.sp "
    "tcgen05.mma.ws.sp".split()
)
"""Headings of the manual with modifiers that have slots: of these instructions the name is shorter."""


def unnamed(headings: Iterable[str], names: Set[str]) -> list[str]:
    """The headings of several parts that neither are names nor begin some (`wmma.load`)."""
    return [
        f"`{heading}` is not in ptxkit/isa/names.py"
        for heading in headings
        if "." in heading and not any(name.startswith(heading) for name in names | MODIFIED)
    ]


def test_every_name_of_the_manual_is_a_name():
    headings = [name for _, *names in MANUAL for name in names]
    assert not unnamed(headings, NAMES)
    assert set(headings) >= MODIFIED
    assert unnamed(headings, NAMES - {"cp.async.bulk.prefetch.tensor"}) == [
        "`cp.async.bulk.prefetch.tensor` is not in ptxkit/isa/names.py"
    ]


def test_every_name_is_of_a_row():
    assert {name for form in FORMS for name in form.names} >= NAMES


def test_rows_are_of_sections_that_the_manual_has():
    unheard = {form.section for form in FORMS} - {line[0] for line in MANUAL}
    assert not unheard, "a heading of the manual is missing in tests/data/instructions.txt"


def test_no_row_stands_twice():
    seen: dict[tuple[object, ...], Form] = {}
    for form in FORMS:
        key = (form.syntax, form.slots, tuple(form.specs.items()), form.since, form.until)
        assert key not in seen, form.syntax
        seen[key] = form


@pytest.mark.parametrize("chapter", registry.CHAPTERS)
def test_samples_of_every_row_check(chapter):
    by_target: dict[str, list[str]] = defaultdict(list)
    for form in FORMS:
        if form.chapter != chapter or form.opcode == "call":
            continue
        made = list(samples(form, 4))
        assert made, f"no sample of {form.syntax}"
        for sample in made:
            target = fitting_target(form, sample.facts)
            if target is not None and (sample.of_manual or form.opcode != "tcgen05"):
                by_target[target].append(sample.text)
    assert by_target
    for target, statements in by_target.items():
        text = (
            f".version {targets.show(targets.NEWEST_VERSION)}\n.target {target}\n.address_size 64\n{MODULE}\n"
            f".entry k(.param .b64 v_kernel) {{ {PREAMBLE}\n" + "\n".join(statements) + "\nret;\n}\n"
        )
        errors = [diagnostic for diagnostic in ptxkit.check(ptxkit.parse(text)) if diagnostic.is_error]
        assert not errors, "\n".join(map(str, errors[:3]))


def test_samples_of_a_row_are_the_same_for_the_same_seed():
    form = registry.forms("ld")[0]
    assert [s.text for s in samples(form, 9, 3)] == [s.text for s in samples(form, 9, 3)]
    assert [s.text for s in samples(form, 9, 3)] != [s.text for s in samples(form, 9, 4)]


def test_a_form_that_no_target_has_any_more_makes_samples_only():
    vote = next(form for form in registry.forms("vote") if form.until is not None)
    assert fitting_target(vote, frozenset()) is None
