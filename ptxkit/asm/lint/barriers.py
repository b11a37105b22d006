"""mbarriers: used and never initialised; bytes expected that the copies do not bring. PTX ISA 9.7.13.15."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ptxkit.asm.check.context import Context
from ptxkit.asm.decode import Decoded
from ptxkit.asm.flow import FunctionCode
from ptxkit.asm.lint.values import Value, Values, VariableAddress
from ptxkit.asm.tree import Address, Function, Instruction, Module, walk
from ptxkit.asm.unread import is_read
from ptxkit.diagnostics import SpanLabel, counted

BULK = "mbarrier::complete_tx::bytes"


def check_barriers(context: Context, code: FunctionCode, values: Values) -> None:
    """Warn of barriers that no `mbarrier.init` reaches, and of wrong byte counts."""
    users = []
    for number, instruction in enumerate(code.instructions):
        address = barrier(Decoded(instruction))
        if address is not None:
            users.append(User(number, instruction, address, values.of(address)))
    _check_initialised(context, code, users)
    _check_bytes(context, code, users, values)


@dataclass(frozen=True)
class User:
    """An instruction that works on an mbarrier: its number, the operand, where that lies if it is known."""

    number: int
    instruction: Instruction
    address: Address
    place: Value

    def has(self, modifier: str) -> bool:
        """Whether the instruction has a modifier."""
        return modifier in self.instruction.modifiers


def barrier(form: Decoded) -> Address | None:
    """The mbarrier that an instruction works on; None where it works on none."""
    name = "addr" if form.row.chapter == "mbarrier" else "mbar"
    address = form.operands.get(name) if name in form.row.specs else None
    return address if isinstance(address, Address) else None


def _check_initialised(context: Context, code: FunctionCode, users: list[User]) -> None:
    if code.function.kind != "entry" or any(i.opcode == "call" for i in code.instructions):
        return  # Somebody else may initialise them.
    places = [user.place for user in users if user.has("init")]
    if not all(isinstance(place, VariableAddress) for place in places):
        return
    for user in users:
        known = not places or isinstance(user.place, VariableAddress)
        if known and not user.has("init") and user.place not in places:
            context.warn(
                "P231",
                f"the mbarrier of `{user.instruction.spelling}` is never initialised",
                user.address.span or user.instruction.span,
                help="let one thread write `mbarrier.init.shared::cta.b64 [a], count;` before",
            )
            return


def _check_bytes(context: Context, code: FunctionCode, users: list[User], values: Values) -> None:
    """Where one barrier is expected once, and all the copies that complete on it stand beside that."""
    moving = [user for user in users if user.has("expect_tx") or user.has(BULK)]
    if not all(isinstance(user.place, VariableAddress) for user in moving):
        return
    by_place: dict[Value, list[User]] = defaultdict(list)
    for user in moving:
        by_place[user.place].append(user)
    for found in by_place.values():
        expecting = [user for user in found if user.has("expect_tx")]
        copies = [user for user in found if not user.has("expect_tx")]
        sizes = [_size(copy.instruction, values) for copy in copies]
        if len(expecting) != 1 or not copies or None in sizes:
            continue
        instruction = expecting[0].instruction
        amount = values.of(instruction.operands[-1])
        total = sum(size for size in sizes if size is not None)
        together = len({code.block_of(user.number) for user in found}) == 1
        same = all(copy.instruction.guard == instruction.guard for copy in copies)
        if isinstance(amount, int) and amount != total and together and same:
            span = copies[0].instruction.span
            bring = "the copy brings" if len(copies) == 1 else f"the {len(copies)} copies bring"
            context.warn(
                "P232",
                f"the mbarrier expects {counted(amount, 'byte')}, and {bring} {total}",
                instruction.span,
                labels=(SpanLabel(span, "from here"),) if span else (),
                help=f"expect {counted(total, 'byte')}",
            )


def _size(instruction: Instruction, values: Values) -> int | None:
    """The bytes of a bulk copy; a tensor copy's depend on its tensor map."""
    size = Decoded(instruction).operands.get("size")
    value = values.of(size) if size is not None else None
    return value if isinstance(value, int) else None


def uses(module: Module, opcode: str, modifier: str) -> bool:
    """Whether any function of a module that has been read has such an instruction."""
    return any(
        isinstance(statement, Instruction)
        and statement.opcode == opcode
        and any(m == modifier or m.startswith(f"{modifier}::") for m in statement.modifiers)
        for function in module.statements
        if isinstance(function, Function) and function.body is not None and is_read(function)
        for statement in walk(function.body.statements)
    )
