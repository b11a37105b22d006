"""A module on the emulator: its variables in memory, its functions numbered, its entries as programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ptxkit.asm import tree
from ptxkit.asm.flow import FunctionCode as Flow
from ptxkit.asm.gc_pause import gc_paused
from ptxkit.asm.symbols import Symbol, SymbolKind, module_scope
from ptxkit.asm.unread import is_read
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.dtypes import DTYPES
from ptxkit.emulator.addresses import CODE, CODE_STEP, CONST, CONST_START
from ptxkit.emulator.constants import literal
from ptxkit.emulator.global_memory import BASE, Allocation, GlobalMemory
from ptxkit.emulator.memory import Bank
from ptxkit.emulator.operation import Unsupported
from ptxkit.emulator.texels.table import Textures
from ptxkit.isa.operands import OPAQUE

WORDS = {width: (1 << 8 * width) - 1 for width in (1, 2, 4, 8)}
"""The bits of the values of a table, by the bytes of each."""


class Image:
    """A loaded module.

    Attributes:
        module: its tree.
        source: the text for code frames.
        capability: of the device it runs on.
        tensor_cores: how that device sums products of matrices.
        jit: whether what is hot may be compiled.
        scope: the module's names.
        memory: where its global variables live.
        textures: what its opaque variables stand for.
        const: the bank of `.const` variables.
    """

    def __init__(
        self,
        module: tree.Module,
        capability: tuple[int, int],
        memory: GlobalMemory,
        tensor_cores: str = "measured",
        textures: Textures | None = None,
        jit: bool = False,
    ) -> None:
        self.module = module
        self.source = module.source
        self.capability = capability
        self.tensor_cores = tensor_cores
        self.jit = jit
        self.scope = module_scope(module)
        self.memory = memory
        self.textures = textures or Textures()
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

    @gc_paused()
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
            if symbol in self.allocations and symbol.type in OPAQUE:
                from ptxkit.emulator.texels.variables import opaque_variable

                self.textures.declare(self.allocations[symbol].address, opaque_variable(symbol))
        self.const_end = const
        self.const = self._constant_bank(const - CONST_START)
        for symbol in variables:
            declarator = symbol.declarator
            if declarator is None or declarator.initializer is None or symbol.type in OPAQUE:
                continue
            data = np.zeros(self.size_of(symbol), np.uint8)
            self._fill(data, symbol, declarator.initializer)
            if symbol.space == "const":
                start = self._const_at[symbol] - CONST_START
                self.const.data[start : start + len(data)] = data
            else:
                start = self.allocations[symbol].address - BASE
                self.memory.data[start : start + len(data)] = data

    @property
    def constant_bytes(self) -> int:
        """Bytes of the variables of constant memory."""
        return sum(self.size_of(symbol) for symbol in self._const_at)

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
        for function in filter(is_read, self.functions.values()):  # the others declare none
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
                words = [each.value for each in value.elements if isinstance(each, tree.Integer)]
                if step == width in WORDS and len(words) == len(value.elements):
                    table = np.array([word & WORDS[width] for word in words], f"<u{width}").view(np.uint8)
                    data[at : at + len(table)] = table
                    return
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
        for allocation in self.allocations.values():
            self.textures.withdraw(allocation.address)
        for allocation in (*self.allocations.values(), *([self._constants] if self._constants else [])):
            self.memory.free(allocation, "the module was unloaded")


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
