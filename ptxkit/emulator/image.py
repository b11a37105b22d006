"""A module on the emulator: its variables in memory, its functions numbered, its entries as programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded, traits
from ptxkit.asm.flow import FunctionCode as Flow
from ptxkit.asm.symbols import Symbol, SymbolKind, module_scope
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.addresses import CODE, CODE_STEP, CONST, CONST_START, PARAM_START
from ptxkit.emulator.code import Code
from ptxkit.emulator.constants import literal
from ptxkit.emulator.memory import BASE, Allocation, Bank, GlobalMemory
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.program import Builder
from ptxkit.emulator.provenance import stored_through


class Image:
    """A loaded module.

    Attributes:
        module: its tree.
        source: the text for code frames.
        capability: of the device it runs on.
        tensor_cores: how that device sums products of matrices.
        scope: the module's names.
        memory: where its global variables live.
        const: the bank of `.const` variables.
    """

    def __init__(
        self,
        module: tree.Module,
        capability: tuple[int, int],
        memory: GlobalMemory,
        tensor_cores: str = "measured",
    ) -> None:
        self.module = module
        self.source = module.source
        self.capability = capability
        self.tensor_cores = tensor_cores
        self.scope = module_scope(module)
        self.memory = memory
        self.functions = {f.name: f for f in module.functions if f.body is not None}
        self.prototypes = {f.name: f for f in module.functions}
        self._aliases = dict(_aliases(module))
        self._numbers = {name: i for i, name in enumerate(self.prototypes)}
        self.allocations: dict[Symbol, Allocation] = {}
        self._const_at: dict[Symbol, int] = {}
        self._flows: dict[str, Flow] = {}
        self._place()

    # ---- variables

    def size_of(self, symbol: Symbol) -> int:
        """Bytes of a variable; 0 for one of unknown size (`.extern .shared smem[]`)."""
        count = int(symbol.vector[1:]) if symbol.vector else 1
        dimensions = symbol.declarator.dimensions if symbol.declarator else ()
        for dimension in dimensions:
            if not dimension:  # `[]`, and `[0]` before a list, are as large as the list.
                initializer = symbol.declarator.initializer if symbol.declarator else None
                dimension = len(initializer.elements) if isinstance(initializer, tree.Vector) else 0
            count *= dimension
        return count * DTYPES[symbol.type].bytes

    def alignment_of(self, symbol: Symbol) -> int:
        """Bytes: `.align`, else that of the vector or element."""
        declaration = symbol.declaration
        if isinstance(declaration, tree.Variable) and declaration.align:
            return declaration.align
        return DTYPES[symbol.type].bytes * (int(symbol.vector[1:]) if symbol.vector else 1)

    def _place(self) -> None:
        """Give every variable of global and constant memory its address, then their first values."""
        const = CONST_START
        variables = list(self._variables())
        for symbol in variables:
            if symbol.space == "const":
                align = self.alignment_of(symbol)
                const = -(-const // align) * align
                self._const_at[symbol] = const
                const += self.size_of(symbol)
            elif symbol.space == "global":
                name = f"variable `{symbol.name}`"
                self.allocations[symbol] = self.memory.allocate(
                    self.size_of(symbol), name, self.alignment_of(symbol)
                )
        self.const_end = const
        self.const = self._constant_bank(const - CONST_START)
        for symbol in variables:
            declarator = symbol.declarator
            if declarator is None or declarator.initializer is None:
                continue
            data = np.zeros(self.size_of(symbol), np.uint8)
            self._fill(data, symbol, declarator.initializer)
            if symbol.space == "const":
                start = self._const_at[symbol] - CONST_START
                self.const.data[start : start + len(data)] = data
            else:
                start = self.allocations[symbol].address - BASE
                self.memory.data[start : start + len(data)] = data

    def _constant_bank(self, size: int) -> Bank:
        """The memory of `.const` variables: a part of global memory, where the host writes it."""
        whole = -(-size // 32) * 32 + 32
        self._constants = self.memory.allocate(whole, "constant memory of the module") if size else None
        if self._constants is None:
            return Bank(np.zeros(whole, np.uint8))
        start = self._constants.address - BASE
        return Bank(self.memory.data[start : start + whole])

    def variable(self, name: str) -> tuple[int, int] | None:
        """The address and the bytes of a variable in global memory, a constant's too, or None."""
        symbol = self.scope.lookup(name)
        if symbol in self.allocations:
            return self.allocations[symbol].address, self.size_of(symbol)
        if symbol in self._const_at and self._constants is not None:
            return self._constants.address + self._const_at[symbol] - CONST_START, self.size_of(symbol)
        return None

    def _variables(self) -> Sequence[Symbol]:
        found = [s for s in self.scope.symbols() if s.space in ("global", "const")]
        for function in self.functions.values():
            found += [s for s in self.flow(function).variables if s.space in ("global", "const")]
        return [symbol for symbol in found if not _is_elsewhere(symbol)]

    def _fill(self, data: np.ndarray, symbol: Symbol, initializer: tree.Operand) -> None:
        width = DTYPES[symbol.type].bytes
        vector = [int(symbol.vector[1:])] if symbol.vector else []
        dimensions = [d or 0 for d in (symbol.declarator.dimensions if symbol.declarator else ())] + vector
        if dimensions and not dimensions[0] and isinstance(initializer, tree.Vector):
            dimensions[0] = len(initializer.elements)

        def put(value: tree.Operand, level: int, at: int) -> None:
            if isinstance(value, tree.Vector):
                step = width
                for dimension in dimensions[level + 1 :]:
                    step *= dimension
                for element in value.elements:
                    put(element, level + 1, at)
                    at += step
            else:
                bits = self._initial(value, symbol.type)
                data[at : at + width] = np.frombuffer(bits.to_bytes(width, "little"), np.uint8)

        try:
            put(initializer, 0, 0)
        except Unsupported as unsupported:
            raise PtxkitError(
                Diagnostic(
                    "P601",
                    f"the emulator can't initialise `{symbol.name}`: {unsupported}",
                    symbol.span,
                    source=self.source,
                )
            ) from None

    def _initial(self, value: tree.Operand, type_name: str) -> int:
        """The bits of one element of an initialiser: a constant, an address, or a byte of one."""
        limit = (1 << 8 * DTYPES[type_name].bytes) - 1
        known = literal(value, type_name)
        if known is not None:
            return known
        match value:
            case tree.Name():
                symbol = self.scope.lookup(value.name)
                if symbol is None:
                    raise Unsupported(f"`{value.name}` is not declared")
                return self.address_of(symbol) & limit
            case tree.Generic(operator="generic", operand=inner):
                return self._generic(inner) & limit
            case tree.Generic(operator=tree.Integer(value=mask), operand=inner):
                shift = (mask & -mask).bit_length() - 1
                return (self._initial(inner, "b64") & mask) >> shift & limit
            case tree.Binary(operator="+" | "-" as operator, left=left, right=right):
                a, b = self._initial(left, "b64"), self._initial(right, "b64")
                return (a + b if operator == "+" else a - b) & limit
            case tree.Parenthesized(inner=inner):
                return self._initial(inner, type_name)
        raise Unsupported("an element of this kind")

    def _generic(self, operand: tree.Operand) -> int:
        if isinstance(operand, tree.Name):
            symbol = self.scope.lookup(operand.name)
            if symbol is not None and symbol.space == "const":
                return self.address_of(symbol) + CONST
        return self._initial(operand, "b64")

    def address_of(self, symbol: Symbol) -> int:
        """The address of a function, or of a global or constant variable in its own space."""
        if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.ALIAS):
            return self.code_address(symbol.name)
        if symbol in self.allocations:
            return self.allocations[symbol].address
        if symbol in self._const_at:
            return self._const_at[symbol]
        if _is_elsewhere(symbol):
            raise Unsupported(f"the address of `{symbol.name}`, which is defined elsewhere")
        raise Unsupported(f"the address of `{symbol.name}`")

    # ---- functions

    def flow(self, function: tree.Function) -> Flow:
        """A function's instructions with the meaning of their names."""
        known = self._flows.get(function.name)
        if known is None:
            known = self._flows[function.name] = Flow(function, self.scope)
        return known

    def resolve(self, name: str) -> str:
        """The function that a name stands for, through `.alias`."""
        return self._aliases.get(name, name)

    def code_address(self, name: str) -> int:
        """What the address of a function reads as."""
        return CODE + CODE_STEP * (1 + self._numbers[self.resolve(name)])

    def function_at(self, address: int) -> str | None:
        """The name of the function at an address, None where there is none."""
        number, rest = divmod(address - CODE, CODE_STEP)
        if rest or not 1 <= number <= len(self._numbers):
            return None
        return list(self._numbers)[number - 1]

    def close(self) -> None:
        """Give the variables' memory back."""
        for allocation in (*self.allocations.values(), *([self._constants] if self._constants else [])):
            self.memory.free(allocation, "the module was unloaded")


class Program:
    """An entry with everything it can call, compiled.

    Attributes:
        image: the module.
        entry: the `.entry`.
        code: its code.
        offsets: of the kernel parameters, by name.
        shared_static: bytes of declared shared memory.
        has_dynamic: whether a variable names dynamic shared memory.
        shared_start: the address of the first of them.
        dynamic_start: the address where dynamic shared memory begins.
        stored_through: names of the entry's parameters that may be addresses of stores.
        smallest: bytes of the smallest access to `shared` and `global` memory, by the state space.
        reads_clock: whether some function looks at a clock.
        reserved: bytes ahead of `shared_start` that it may use: what the system keeps there for cooperative
            groups, where some function asks for it.
        asynchronous: whether some function works asynchronously.
        tensor_fences: whether some function has a `tcgen05.fence`.
        clustered: whether it is compiled for clusters of several CTAs.
        registers: `.maxnreg`; 0 where the entry does not say.
        unset: what can be read before it is written, by the number of its origin: "register `%r3`".
    """

    def __init__(
        self,
        image: Image,
        entry: tree.Function,
        offsets: dict[str, int],
        shared_start: int,
        clustered: bool = False,
    ) -> None:
        self.image = image
        self.entry = entry
        self.capability = image.capability
        self.offsets = offsets
        self.unset: list[str] = []
        self.smallest: dict[str, int] = {}
        self.reads_clock = False
        self.reserved = 0
        self.asynchronous = False
        self.tensor_fences = False
        self.clustered = clustered
        self.registers = next(
            (
                argument.value
                for directive in entry.directives
                if directive.name == "maxnreg"
                for argument in directive.arguments
                if isinstance(argument, tree.Integer)
            ),
            0,
        )
        self._codes: dict[str, Code] = {}
        self._shared_at: dict[Symbol, int] = {}
        self.shared_start = shared_start
        self._place_shared()
        self.stored_through = stored_through(image.flow(entry))
        self.problems: list[Diagnostic] = []
        self.code = self._compile(entry)
        if self.problems:
            raise PtxkitError(self.problems)

    # ---- functions

    @property
    def codes(self) -> tuple[Code, ...]:
        """The functions that have been compiled so far, the entry first."""
        return tuple(self._codes.values())

    @property
    def shared_variables(self) -> dict[Symbol, int]:
        """The shared variables that the entry can reach, with their addresses."""
        return self._shared_at

    def function(self, name: str) -> Code:
        """The compiled function called `name`.

        Raises:
            PtxkitError: P601, it has forms that the emulator does not execute.
        """
        code = self._codes.get(name)
        if code is None:
            code = self._compile(self.image.functions[name])
            if self.problems:
                raise PtxkitError(self.problems)
        return code

    def declare(self, name: str) -> Code:
        """The code of a function that is called: compiled now, or while this runs for a recursive one."""
        return self._codes.get(name) or self._compile(self.image.functions[name])

    def _compile(self, function: tree.Function) -> Code:
        code = Code(function.name, len(self._codes))
        self._codes[function.name] = code
        builder = Builder(self, function, code)
        self.problems += builder.build()
        return code

    def touches(self, space: str, size: int) -> None:
        """Take note of an access of `size` bytes."""
        for reached in ("shared", "global") if space == "generic" else (space,):
            self.smallest[reached] = min(size, self.smallest.get(reached, size))

    def unset_origin(self, what: str) -> int:
        """The (negative) number of the origin of a register that was never written."""
        self.unset.append(what)
        return -len(self.unset)

    # ---- addresses

    @property
    def constants(self) -> tuple[Bank, int]:
        """The constant memory, and the address behind its last byte."""
        return self.image.const, self.image.const_end

    def flow(self, function: str) -> Flow:
        """The instructions of a function of the module."""
        return self.image.flow(self.image.functions[function])

    def address_of(self, symbol: Symbol) -> int:
        """The address of a variable outside local and parameter space, or of a function."""
        if symbol in self._shared_at:
            return self._shared_at[symbol]
        return self.image.address_of(symbol)

    def parameter_address(self, symbol: Symbol, function: tree.Function) -> int:
        """The address of a kernel parameter."""
        if function is self.entry and symbol.name in self.offsets:
            return PARAM_START + self.offsets[symbol.name]
        raise Unsupported(
            f"the parameter `{symbol.name}` of a device function, whose address only `mov` takes"
        )

    def _place_shared(self) -> None:
        """Lay out the shared variables that the entry can reach; dynamic shared memory follows them."""
        static: list[Symbol] = []
        dynamic: list[Symbol] = []
        for function in self._reachable():
            flow = self.image.flow(function)
            used = [*flow.variables, *flow.mentioned]
            for symbol in used:
                if not symbol.space.startswith("shared") or symbol in static or symbol in dynamic:
                    continue
                unsized = self.image.size_of(symbol) == 0
                (dynamic if unsized else static).append(symbol)
        at = self.shared_start
        for symbol in static:
            align = self.image.alignment_of(symbol)
            at = -(-at // align) * align
            self._shared_at[symbol] = at
            at += self.image.size_of(symbol)
        self.shared_static = at - self.shared_start
        self.has_dynamic = bool(dynamic)
        align = max((self.image.alignment_of(symbol) for symbol in dynamic), default=16)
        self.dynamic_start = -(-at // max(align, 16)) * max(align, 16)
        for symbol in dynamic:
            self._shared_at[symbol] = self.dynamic_start

    def _reachable(self) -> list[tree.Function]:
        """The entry and every function it can call; all of them where it calls through a pointer."""
        found = [self.entry]
        names = {self.entry.name}
        for function in found:
            flow = self.image.flow(function)
            for instruction in flow.instructions:
                if "calls" not in traits(instruction):
                    continue
                callee = Decoded(instruction).operands["func"]
                symbol = flow.meaning(callee) if isinstance(callee, tree.Name) else None
                if symbol is not None and symbol.kind in (SymbolKind.FUNCTION, SymbolKind.ALIAS):
                    wanted = [self.image.resolve(symbol.name)]
                else:
                    wanted = [f.name for f in self.image.functions.values() if f.kind == "func"]
                for name in wanted:
                    if name not in names and name in self.image.functions:
                        names.add(name)
                        found.append(self.image.functions[name])
        return found


def _is_elsewhere(symbol: Symbol) -> bool:
    """Whether a variable is declared `.extern` and never defined here."""
    return isinstance(symbol.declaration, tree.Variable) and symbol.declaration.linkage == "extern"


def _aliases(module: tree.Module) -> Iterator[tuple[str, str]]:
    """Each `.alias a, b;`: `a` is another name of function `b` (11.6.5)."""
    for statement in module.statements:
        if isinstance(statement, tree.Directive) and statement.name == "alias":
            names = [argument.name for argument in statement.arguments if isinstance(argument, tree.Name)]
            if len(names) == 2:
                yield names[0], names[1]
