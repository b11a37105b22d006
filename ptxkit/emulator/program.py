"""An entry of a module as the machine runs it: its functions compiled, its shared memory laid out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.asm import tree
from ptxkit.asm.decode import Decoded, traits
from ptxkit.asm.flow import FunctionCode as Flow
from ptxkit.asm.flow import operand_names, read_names, written_names
from ptxkit.asm.gc_pause import gc_paused
from ptxkit.asm.launch import CheckedLaunch
from ptxkit.asm.symbols import Symbol, SymbolKind
from ptxkit.diagnostics import Diagnostic, PtxkitError
from ptxkit.emulator.addresses import PARAM_START, plain_space
from ptxkit.emulator.code import Code
from ptxkit.emulator.image import Image
from ptxkit.emulator.memory import Bank
from ptxkit.emulator.operation import Unsupported
from ptxkit.isa.modifiers import StateSpace


def stored_through(flow: Flow) -> set[str]:
    """The names of an entry's parameters from which the addresses of its stores may be computed.

    Blind to the flow of control. An address that was loaded from memory has no known parameter behind it.
    """
    sources = _sources(flow)
    found: set[str] = set()
    for instruction in flow.instructions:
        handed: list[tree.Operand] = []
        if "stores" in traits(instruction):
            # The place that is stored to comes first; then a source, its tensor map, an mbarrier.
            handed.extend([each for each in instruction.operands if isinstance(each, tree.Address)][:1])
        elif "calls" in traits(instruction) and "param_list" in Decoded(instruction).operands:
            handed = [Decoded(instruction).operands["param_list"]]
        for operand in handed:
            for name in operand_names(operand):
                symbol = flow.meaning(name)
                if symbol is not None:
                    found |= sources.get(symbol, set())
    return found


def _sources(flow: Flow) -> dict[Symbol, set[str]]:
    """For each register, and each `.param` variable of a call, the parameters that may reach it."""
    sources: dict[Symbol, set[str]] = {}
    feeds: dict[int, list[Symbol]] = {}  # what each instruction writes
    into: dict[Symbol, list[int]] = {}  # the instructions that a symbol is read by
    for number, instruction in enumerate(flow.instructions):
        symbols = [symbol for name in read_names(instruction) if (symbol := flow.meaning(name)) is not None]
        if not symbols:
            continue
        targets: Sequence[tree.Name] = written_names(instruction)
        space = Decoded(instruction).find(StateSpace) if "stores" in traits(instruction) else None
        if plain_space(space or "") == "param":
            targets = operand_names(instruction.operands[0])
        parameters = {symbol.name for symbol in symbols if symbol.kind is SymbolKind.PARAMETER}
        feeds[number] = [target for name in targets if (target := flow.meaning(name)) is not None]
        if parameters:
            for target in feeds[number]:
                sources.setdefault(target, set()).update(parameters)
        if "loads" not in traits(instruction):
            for symbol in symbols:
                if symbol.kind is not SymbolKind.PARAMETER:
                    into.setdefault(symbol, []).append(number)
    passed: dict[int, set[str]] = {}
    changed = list(sources)
    while changed:
        symbol = changed.pop()
        reached = sources[symbol]
        for number in into.get(symbol, ()):
            known = passed.setdefault(number, set())
            if reached <= known:
                continue
            known |= reached
            for target in feeds[number]:
                if not known <= sources.setdefault(target, set()):
                    sources[target] |= known
                    changed.append(target)
    return sources


def loads_of_products(flow: Flow) -> frozenset[int]:
    """The loads of a function, by `id`, from which `wgmma` may take registers: all but its accumulator's."""
    blocks = flow.blocks
    wanted = [0] * (len(blocks) + 1)  # before each block: registers whose values a product may take later
    loads: set[int] = set()
    waiting = set(range(len(blocks)))
    while waiting:
        at = max(waiting)
        waiting.remove(at)
        block = blocks[at]
        before = 0
        for following in block.successors:
            before |= wanted[following]
        for number in range(block.stop - 1, block.start - 1, -1):
            instruction = flow.instructions[number]
            if before and flow.writes[number] & before:
                before &= ~flow.kills[number]
                if "loads" in traits(instruction):
                    loads.add(id(instruction))
                else:
                    before |= flow.reads[number]
            before |= _taken(flow, instruction)
        if before != wanted[at]:
            wanted[at] = before
            waiting.update(block.predecessors)
    return frozenset(loads)


def _taken(flow: Flow, instruction: tree.Instruction) -> int:
    """The registers that a product takes, but for its accumulator, as bits."""
    if "multiplies_registers" not in traits(instruction):
        return 0
    return flow.register_bits([name for o in instruction.operands[1:] for name in operand_names(o)])


Build = Callable[["EntryProgram", tree.Function, Code], list[Diagnostic]]
"""Compiles a function into its code; see `ptxkit.emulator.builder.build`."""


CTA_MEMORY = 1024
"""What `%perctamemorysize` is a multiple of."""


def _number(entry: tree.Function, directive: str) -> int:
    """The number that an entry's directive gives; 0 where the entry does not have it."""
    arguments = (
        argument for each in entry.directives if each.name == directive for argument in each.arguments
    )
    return next((argument.value for argument in arguments if isinstance(argument, tree.Integer)), 0)


class EntryProgram:
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
        takes_columns: whether some function has a `tcgen05.alloc`.
        launches_dependents: whether some function has a `griddepcontrol.launch_dependents`.
        clustered: whether it is compiled for clusters of several CTAs.
        registers: `.maxnreg`; 0 where the entry does not say.
        cta_memory: bytes of global memory that each CTA has for itself: `.minperctamemory`, rounded up as the
            register that tells it is (10.35); 0 where the entry does not say.
        unset: what can be read before it is written, by the number of its origin: "register `%r3`".
        apart: whether its CTAs can't talk to each other; None before somebody asked.
        lasting: the shapes of launches that were worth several cores, True, or not, False.
    """

    @gc_paused()
    def __init__(
        self,
        image: Image,
        entry: tree.Function,
        offsets: dict[str, int],
        shared_start: int,
        build: Build,
        clustered: bool = False,
    ) -> None:
        self.image = image
        self._build = build
        self.entry = entry
        self.capability = image.capability
        self.offsets = offsets
        self.unset: list[str] = []
        self.apart: bool | None = None
        self.lasting: dict[CheckedLaunch, bool] = {}
        self.smallest: dict[str, int] = {}
        self.reads_clock = False
        self.reserved = 0
        self.asynchronous = False
        self.tensor_fences = False
        self.takes_columns = False
        self.launches_dependents = False
        self.clustered = clustered
        self.registers = _number(entry, "maxnreg")
        self.cta_memory = -(-_number(entry, "minperctamemory") // CTA_MEMORY) * CTA_MEMORY
        self._codes: dict[str, Code] = {}
        self._live = 0, 0
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
    def live_registers(self) -> int:
        """The most registers whose values count at the beginning of a block."""
        if self._live[0] != len(self._codes):
            live = max((len(block.live) for code in self.codes for block in code.blocks), default=0)
            self._live = len(self._codes), live
        return self._live[1]

    @property
    def shared_variables(self) -> dict[Symbol, int]:
        """The shared variables that the entry can reach, with their addresses."""
        return self._shared_at

    def function(self, name: str) -> Code:
        """The compiled function called `name`. Raises P601, it has forms that the emulator does not
        execute."""
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
        self.problems += self._build(self, function, code)
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
        """The instructions of a function that has a body in the module."""
        return self.image.flow(self.image.functions[self.image.resolve(function)])

    def has_body(self, function: str) -> bool:
        """Whether the module has the body of a function, or of the one that it is an alias of."""
        return self.image.resolve(function) in self.image.functions

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
