"""Running one pure operation of the emulator on plain integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import ptxkit
import ptxkit.emulator.operations
from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.symbols import module_scope
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.operation import Pure, Unsupported, operation_of
from ptxkit.isa.notation import Form
from ptxkit.isa.places import OperandPlace
from ptxkit.isa.registry import forms, opcodes, spelling
from ptxkit.isa.sample import PREAMBLE, samples


def decoded(
    text: str,
    immediates: Sequence[int | None] = (),
    selectors: Sequence[str | None] = (),
    negated: Sequence[bool] = (),
    vectors: Sequence[int] = (),
    reads: int | None = None,
) -> Decoded | None:
    """The instruction `add.rn.f32` with the most operands that it can have, or with `reads` sources.

    They are registers, but where a constant, a part, a minus or a vector of some length is asked for; each
    list counts the operands as they stand between commas, `d|p` being one. None where no row fits, or none
    has so many sources.
    """
    opcode, *modifiers = text.split(".")
    found = spelling(opcode, tuple(modifiers))
    counts = {len(places) for candidate in found.candidates for places in candidate.form.shapes}
    for number in sorted(counts, reverse=True):
        lengths = [*vectors, *[0] * number][:number]
        match = found.match(tuple(("{", *["?"] * length) if length else "?" for length in lengths))
        if match is None:
            continue
        operands = []
        for at, place in enumerate(match.places):
            operand = as_written(place)
            if lengths[at]:
                operand = tree.Vector((tree.Name("%x"),) * lengths[at])
            if at < len(immediates) and immediates[at] is not None:
                operand = tree.Integer(immediates[at])
            if at < len(selectors) and selectors[at] is not None:
                operand = tree.Name("%x", selectors[at])
            if at < len(negated) and negated[at]:
                operand = tree.Unary("-", operand)
            operands.append(operand)
        made = Decoded(tree.Instruction(opcode, tuple(modifiers), tuple(operands), match=match))
        if reads in (None, len(made.values(written=False))):
            return made
    return None


def as_written(place: OperandPlace) -> tree.Operand:
    """Registers where a row has an operand."""
    if place.shape == "pair":
        return tree.Pair(*map(as_written, place.parts))
    if place.shape == "vector":
        return tree.Vector(tuple(map(as_written, place.parts)))
    return tree.Name("%x")


def statements(form: Form) -> Iterator[tree.Instruction]:
    """Samples of a row, parsed."""
    texts = [sample.text for sample in samples(form, 60)]
    module = ptxkit.parse(
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
        + "\n".join([PREAMBLE, *texts, "}\n"])
    )
    (function,) = (each for each in module.statements if isinstance(each, tree.Function))
    assert function.body is not None
    scope = module_scope(module)
    FunctionCode(function, scope)  # It finds the rows.
    found = function.body.statements[-len(texts) :]
    assert all(isinstance(each, tree.Instruction) for each in found)
    yield from found  # type: ignore[misc]


def nameless(registered: Iterable[tuple[str, str]]) -> list[str]:
    """What is registered under a name that no row of the chapter has, and so is never called."""
    rows = {(form.chapter, form.name) for opcode in opcodes() for form in forms(opcode)}
    return sorted(f"no row of chapter {chapter} is called `{name}`" for chapter, name in {*registered} - rows)


def decode(text: str, **operands: Any) -> Pure:
    """The operation that `add.rn.f32` names; `operands` as `decoded` takes them.

    Raises:
        Unsupported: no row has these modifiers.
    """
    form = decoded(text, **operands)
    pure = operation_of(form) if form is not None else None
    if pure is None:
        raise Unsupported(f"`{text}` is of no row, or does not compute alone")
    return pure


def unsupported(text: str, **operands: Any) -> bool:
    """Whether the operation refuses these modifiers."""
    try:
        decode(text, **operands)
    except Unsupported:
        return True
    return False


def array(kind: str, words: Sequence[int] | int) -> Any:
    """Bits as the array in which values of a type travel."""
    if kind == "pred":
        return np.array(words, bool)
    dtype = DTYPES[kind]
    if dtype.bits == 128:
        return np.array(words, np.uint64)[..., None] * np.array((1, 0), np.uint64)
    size = max(8, 1 << (dtype.bits - 1).bit_length())
    values = np.array(words, f"uint{size}")
    if dtype.lanes == 1 and kind in ("f32", "f64"):
        return values.view(f"float{size}")
    return values.view(f"int{size}") if dtype.is_signed and dtype.lanes == 1 else values


def words_of(values: Any) -> list[int]:
    """The bits of an array, as ints."""
    values = np.asarray(values)
    return (values if values.dtype == bool else values.view(f"u{values.dtype.itemsize}")).tolist()


def results_of(pure: Pure, arrays: Sequence[Any], carry: Any = None) -> tuple[Any, ...]:
    """What the function of an operation returns, the carry flag last: arrays of the types that it says."""
    with np.errstate(all="ignore"):
        results = pure.function(*arrays, *([] if carry is None else [np.array(carry, bool)]))
    results = results if isinstance(results, tuple) else (results,)
    assert len(results) == len(pure.results) + pure.writes_carry, f"{len(results)} results"
    for kind, result in zip(pure.results, results, strict=False):
        assert result.dtype == array(kind, 0).dtype, f"{result.dtype} for `{kind}`"
    return results


def run(text: str, *sources: Any, carry: Any = None, **operands: Any) -> Any:
    """The operation on lists of bits, one a source; a list for each result, alone where there is one."""
    pure = decode(text, reads=len(sources), **operands)
    assert len(sources) == len(pure.sources), f"`{text}` takes {pure.sources}"
    arrays = [array(kind, words) for kind, words in zip(pure.sources, sources, strict=True)]
    before = [value.tobytes() for value in arrays]
    results = results_of(pure, arrays, carry)
    assert [value.tobytes() for value in arrays] == before, f"`{text}` wrote into its sources"
    lists = tuple(map(words_of, results))
    return lists if len(lists) > 1 else lists[0]


def propagate(text: str, sources: Sequence[Any], masks: Sequence[Any], **operands: Any) -> Any:
    """The mask of undefined bits of the results for sources and their masks (None: defined)."""
    pure = decode(text, reads=len(sources), **operands)
    assert pure.undefined is not None
    values = [array(kind, words) for kind, words in zip(pure.sources, sources, strict=True)]
    bits = [
        None if mask is None else np.array(mask, bool if kind == "pred" else f"u{value.dtype.itemsize}")
        for kind, mask, value in zip(pure.sources, masks, values, strict=True)
    ]
    results = pure.undefined(values, bits)
    results = results if isinstance(results, tuple) else (results,)
    lists = tuple(None if result is None else words_of(result) for result in results)
    return lists if len(lists) > 1 else lists[0]
