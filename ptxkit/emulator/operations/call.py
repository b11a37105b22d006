"""`call`: of a function, through a pointer, of the functions that the system provides. PTX ISA 9.7.12.5."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.diagnostics import counted
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.call_abi import CallParameter
from ptxkit.emulator.calls import Argument, enter, parameter_argument, value_argument
from ptxkit.emulator.effect import Effect, Effects, Links
from ptxkit.emulator.faults import Site, fault
from ptxkit.emulator.instruction import ScopedInstruction
from ptxkit.emulator.lane_set import End, LaneSet
from ptxkit.emulator.operands import lanes_of, undefined_decides
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.system import SYSTEM, SystemCall
from ptxkit.emulator.values import distinct

effect = Effects("control")

DEVICE_RUNTIME = ("cuda", "__cudaCDP2")
"""How the names of the functions begin by which kernels launch kernels."""


@effect("call")
def call(instruction: ScopedInstruction) -> Effect:
    """`call{.uni} (ret), f, (args)`; `call{.uni} (ret), fptr, (args), list or prototype`."""
    returns, given = _elements(instruction, "ret_param"), _elements(instruction, "param_list")
    callee = instruction.operands["func"]
    results = [instruction.scope.parameters.argument(operand) for operand in returns]
    symbol = instruction.scope.meaning(callee) if isinstance(callee, tree.Name) else None
    if symbol is not None and symbol.kind in (SymbolKind.FUNCTION, SymbolKind.ALIAS):
        return _direct(instruction, symbol, given, results)
    prototype = _prototype(instruction, instruction.operands.get("flist"))
    if len(prototype) != len(given):
        raise Unsupported(f"{counted(len(given), 'argument')} where the prototype has {len(prototype)}")
    arguments = [_argument(instruction, o, v) for o, v in zip(given, prototype, strict=True)]
    return _indirect(instruction, callee, arguments, [_size(variable) for variable in prototype], results)


def _elements(instruction: ScopedInstruction, operand: str) -> tuple[tree.Operand, ...]:
    """What stands in parentheses; nothing where they are left out."""
    there = instruction.operands.get(operand)
    return there.elements if isinstance(there, tree.Arguments) else ()


def _size(variable: tree.Variable) -> int:
    """Bytes of a parameter of a prototype."""
    elements = [int(variable.vector[1:])] if variable.vector else []
    return max(DTYPES[variable.type].bits // 8, 1) * prod(
        size or 0 for size in (*variable.declarators[0].dimensions, *elements)
    )


def _argument(instruction: ScopedInstruction, operand: tree.Operand, parameter: tree.Variable) -> Argument:
    passed = instruction.scope.parameters.argument(operand)
    if passed is not None:
        return parameter_argument(passed)
    # A constant for a vector is the bits of all of it; of a floating-point number, those of its literal.
    type_name = f"b{8 * _size(parameter)}" if parameter.vector else parameter.type
    if isinstance(operand, tree.Float) and type_name in ("b32", "b64"):
        operand = tree.Integer(operand.bits & (1 << int(type_name[1:])) - 1, span=operand.span)
    return value_argument(instruction.source(operand, type_name))


def is_provided(name: str) -> bool:
    """Whether a function that no module has is the system's, or of CUDA's device runtime."""
    return name in SYSTEM or name.startswith(DEVICE_RUNTIME)


def _direct(
    instruction: ScopedInstruction,
    symbol: Symbol,
    given: tuple[tree.Operand, ...],
    results: list[CallParameter | None],
) -> Effect:
    program = instruction.scope.program
    name = program.image.resolve(symbol.name)
    header = program.image.prototypes[name].parameters
    if len(header) != len(given):
        raise Unsupported(f"{counted(len(given), 'argument')} where `{name}` takes {len(header)}")
    arguments = [_argument(instruction, o, v) for o, v in zip(given, header, strict=True)]
    if name not in program.image.functions:
        provided = SYSTEM.get(name)
        if provided is None:
            if name.startswith(DEVICE_RUNTIME):
                raise Unsupported(f"a call of `{name}`, dynamic parallelism through CUDA's device runtime")
            raise Unsupported(f"a call of `{name}`, which is defined elsewhere")
        site = instruction.site
        return Effect(lambda lane_set, guard: provided(SystemCall(lane_set, guard, arguments, results, site)))
    code, site = program.declare(name), instruction.site

    def link(linker: Links) -> End:
        back = linker.next
        return lambda lane_set: enter(lane_set, code, arguments, results, back, site)

    return Effect(link=link)


def _prototype(instruction: ScopedInstruction, operand: tree.Operand | None) -> tuple[tree.Variable, ...]:
    """The parameters that a list of targets or a prototype gives an indirect call."""
    image = instruction.scope.program.image
    symbol = instruction.scope.meaning(operand) if isinstance(operand, tree.Name) else None
    if symbol is None:
        raise Unsupported("a call through a pointer without a prototype")
    if isinstance(symbol.label_of, tree.Prototype):
        return symbol.label_of.parameters
    listed = instruction.scope.flow.table(symbol) or ()
    names = [target.name for target in listed]
    if not names and symbol.declarator is not None and isinstance(symbol.declarator.initializer, tree.Vector):
        elements = symbol.declarator.initializer.elements
        names = [element.name for element in elements if isinstance(element, tree.Name)]
    if not names:
        raise Unsupported(f"a call through a pointer with `{symbol.name}`, which lists no functions")
    return image.prototypes[image.resolve(names[0])].parameters


def _indirect(
    instruction: ScopedInstruction,
    callee: tree.Operand,
    arguments: list[Argument],
    sizes: list[int],
    results: list[CallParameter | None],
) -> Effect:
    source = instruction.source(callee, "u64" if _is_wide(instruction, callee) else "u32")
    read, site, program = source.reader, instruction.site, instruction.scope.program

    def link(linker: Links) -> End:
        back = linker.next

        def end(lane_set: LaneSet) -> int:
            value = read(lane_set)
            entry = source.undefined(lane_set)
            if entry is not None:
                undefined_decides(lane_set, entry[0], entry[1], site, f"the callee `{source.name}`")
            lanes = lanes_of(lane_set, None, value.shape)
            found = distinct(value if lanes is None else value[lanes])
            if len(found) == 1:
                return begin(lane_set, int(found[0]), value)
            for address in found:
                same = value == address
                mask = same if lane_set.mask is None else same & lane_set.mask
                part = lane_set.part(mask, lane_set.count(same), lane_set.pc)
                part.pc = begin(part, int(address), value)
                lane_set.schedule.ready.append(part)
            return -1

        def begin(lane_set: LaneSet, address: int, value: Any) -> int:
            name = program.image.function_at(address)
            function = program.image.functions.get(name) if name is not None else None
            if name is None or function is None or function.kind != "func":
                raise _no_function(lane_set, address, site)
            code = program.function(name)
            taken, given = ([side.size for side in sides] for sides in (code.parameters, code.returns))
            wanted = [parameter.size if parameter is not None else None for parameter in results]
            fits = len(wanted) == len(given) and all(
                w in (None, g) for w, g in zip(wanted, given, strict=True)
            )
            if taken != sizes or not fits:
                raise _misfit(lane_set, name, (taken, given), (sizes, wanted), site)
            return enter(lane_set, code, arguments, results, back, site)

        return end

    return Effect(link=link, alone=True)


def _no_function(lane_set: LaneSet, address: int, site: Site) -> Exception:
    thread = lane_set.thread(*lane_set.first(np.True_))
    message = f"call target {address:#x} is not a function that this call can reach"
    return fault("P614", message, site, (f"{thread}",))


def _misfit(
    lane_set: LaneSet,
    name: str,
    has: tuple[list[int], list[int]],
    wants: tuple[list[int], list[int | None]],
    site: Site,
) -> Exception:
    """A function is called through a pointer by a prototype that is not its own."""

    def shown(sizes: Sequence[int | None]) -> str:
        return "(" + ", ".join("_" if size is None else counted(size, "byte") for size in sizes) + ")"

    message = (
        f"`{name}` takes {shown(has[0])} and returns {shown(has[1])}; "
        f"the call passes {shown(wants[0])} and expects {shown(wants[1])}"
    )
    help = "call it by a prototype with its parameters"
    return fault("P614", message, site, (f"{lane_set.thread(*lane_set.first(np.True_))}",), help)


def _is_wide(instruction: ScopedInstruction, operand: tree.Operand) -> bool:
    symbol = instruction.scope.meaning(operand) if isinstance(operand, tree.Name) else None
    return symbol is None or symbol.type.endswith("64")
