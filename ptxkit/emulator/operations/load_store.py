"""Loads, stores and addresses: `ld`, `ldu`, `st`, `cvta`, `isspacep`, `prefetch`, .. PTX ISA 9.7.9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.asm import tree
from ptxkit.diagnostics import counted
from ptxkit.emulator.accessor import Accessor
from ptxkit.emulator.addresses import CLUSTER_STEP, WINDOW, WINDOWS, plain_space
from ptxkit.emulator.effect import Effect, effect
from ptxkit.emulator.faults import fault
from ptxkit.emulator.operands import lanes_of
from ptxkit.emulator.operation import Modifiers, Pure, Unsupported, pure
from ptxkit.emulator.parts import Transfer
from ptxkit.emulator.passing import gather, scatter
from ptxkit.emulator.traffic import note
from ptxkit.emulator.values import RAW, WARP, dtype_of, viewed

if TYPE_CHECKING:
    from ptxkit.emulator.form import Address, Form
    from ptxkit.emulator.group import Group

SPACES = (
    "global", "shared", "shared::cta", "shared::cluster", "local", "const",
    "param", "param::entry", "param::func",
)  # fmt: skip
MOST_BULK = 1 << 24
"""Most bytes of a `st.bulk`."""
SCOPES = ("cta", "cluster", "gpu", "sys")
ORDERS = ("weak", "relaxed", "acquire", "release", "volatile")
CACHE = (
    "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
    "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
    "L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::cache_hint",
    "L2::64B", "L2::128B", "L2::256B",
)  # fmt: skip


POLICY = np.uint64(0x14F0_0000_0000_0000)
"""What every cache policy reads as; its bits mean nothing to a program."""


def _accessed(form: Form, address: Address, named: str) -> str:
    """The state space that an access reaches: a device function's own parameters are local memory wherever
    they have an address, and `.param` in it means them unless `::entry` is said (9.7.9.8)."""
    in_function = form.builder.function.kind == "func"
    return "local" if in_function and named in ("param", "param::func") else named


def _hints(m: Modifiers) -> bool:
    """Take what changes no result; whether a cache policy follows as an operand."""
    policy = False
    while (hint := m.choose(*CACHE)) is not None:
        policy |= hint == "L2::cache_hint"
    return policy


@effect("ld", "ldu")
def ld(form: Form) -> Effect:
    """`ld{.weak}{.ss}{.cop}{.vec}.type d, [a]` and its volatile, relaxed and acquire forms."""
    m = form.modifiers
    m.flag("mmio")
    order = m.choose(*ORDERS, default="weak")
    m.choose(*SCOPES)
    named = m.choose(*SPACES, default="generic") or ""
    space = plain_space(named)
    policy = _hints(m)
    m.flag("unified")
    count = int((m.choose("v2", "v4", "v8") or "v1")[1:])
    kind = m.type()
    expected = 2 if policy else 1
    if len(form.targets) != count or len(form.source_operands) < expected:
        raise Unsupported(f"{counted(len(form.targets), 'destination')} where it loads {count}")
    width = kind.bytes
    dtype, raw = dtype_of(kind.name), RAW[width * 8]
    targets = [form.target(operand, kind.name) for operand in form.targets]
    operand = form.source_operands[0]
    if isinstance(operand, tree.Address):
        sliced = form.builder.parameters.place_of(operand)
        if sliced is not None and space == "param":
            return _load_parameter(form, *sliced, width, targets, dtype)
    address = form.address(operand)
    named = _accessed(form, address, named)
    space = plain_space(named)
    accessor = Accessor(address, named, width * count, form.site)
    strength = {"weak": "", "acquire": "yes"}.get(order or "", "fence")
    form.builder.program.touches(space, width * count)

    def step(group: Group, guard: Any) -> bool:
        accesses = accessor(group, guard)
        if strength:
            group.gang.poll(group, form.site)
        tainted = False
        for access in accesses:
            group.gang.launch.counts.load(access.space, access.lanes * width * count)
            note(access, width * count, "loaded")
            values, masks = access.load(width, count, strength)
            chosen = access.guard
            for i, target in enumerate(targets):
                if target is None:
                    continue
                mask = None
                if masks is not None and masks[i].any():
                    mask = (
                        _extended(target, masks[i], dtype),
                        group.gang.launch.origins.of_read(access, width * count),
                    )
                    tainted = True
                target.write(group, viewed(values[i], dtype if width < 16 else raw), mask, chosen)
        return tainted

    if strength or width == 16:
        return Effect(step)
    return Effect(step, transfer=Transfer(address, accessor, width, count, dtype, targets, None, form.guard))


def _extended(target: Any, mask: Any, dtype: np.dtype) -> Any:
    """A loaded value's undefined bits as the register has them; sign extension spreads an undefined sign."""
    if target.convert is None:
        return mask
    return viewed(target.convert(viewed(mask, dtype)), RAW[target.bits])


def _load_parameter(
    form: Form, symbol: Any, offset: int, width: int, targets: list[Any], dtype: np.dtype
) -> Effect:
    """`ld.param` of a device function's parameter or return value."""
    parameters = form.builder.parameters
    places = [
        (target, offset + i * width, parameters.covering(symbol, offset + i * width, width))
        for i, target in enumerate(targets)
        if target is not None
    ]

    def step(group: Group, guard: Any) -> bool:
        tainted = False
        loaded = [(t, gather(group.regs, group.undefined, pieces, at, width)) for t, at, pieces in places]
        for target, (value, mask, origin) in loaded:
            entry = None
            if mask is not None:
                entry = (_extended(target, mask, dtype), origin)
                tainted = True
            target.write(group, value if width == 16 else viewed(value, dtype), entry, guard)
        return tainted

    return Effect(step)


@effect("st")
def st(form: Form) -> Effect:
    """`st{.weak}{.ss}{.cop}{.vec}.type [a], b` and its volatile, relaxed and release forms."""
    m = form.modifiers
    if "bulk" in m.left:
        return _st_bulk(form)
    if "async" in m.left:
        raise Unsupported("asynchronous stores")
    m.flag("mmio")
    order = m.choose(*ORDERS, default="weak")
    m.choose(*SCOPES)
    named = m.choose(*SPACES, default="generic") or ""
    space = plain_space(named)
    _hints(m)
    count = int((m.choose("v2", "v4", "v8") or "v1")[1:])
    kind = m.type()
    width = kind.bytes
    operand = form.instruction.operands[0]
    stored = form.sources[1 : 1 + count]
    if len(stored) != count:
        raise Unsupported(f"{counted(len(stored), 'source')} where it stores {count}")
    if space == "const":
        raise Unsupported("a store to constant memory")
    name = kind.name if kind.bits == 128 else f"b{kind.bits}"
    sources = [form.source(part, _stored_type(part, kind.name, name)) for part in stored]
    readers = [source.reader for source in sources]
    raw = RAW[width * 8]
    if isinstance(operand, tree.Address):
        sliced = form.builder.parameters.place_of(operand)
        if sliced is not None and space == "param":
            return _store_parameter(form, *sliced, width, sources)
    address = form.address(operand)
    named = _accessed(form, address, named)
    space = plain_space(named)
    accessor = Accessor(address, named, width * count, form.site)
    strength = {"weak": "", "release": "yes"}.get(order or "", "fence")
    form.builder.program.touches(space, width * count)

    def step(group: Group, guard: Any) -> None:
        values = tuple(viewed(read(group), raw) for read in readers)
        masks, origin = None, 0
        if group.undefined:
            found = [source.undefined(group) for source in sources]
            if any(found):
                masks = tuple(raw.type(0) if entry is None else viewed(entry[0], raw) for entry in found)
                first = next(entry[1] for entry in found if entry)
                origin = group.gang.launch.origins.of_store(first, form.site, group.gang.launch.program)
        for access in accessor(group, guard):
            group.gang.launch.counts.store(access.space, access.lanes * width * count)
            note(access, width * count, "stored")
            access.store(values, masks, width, origin, strength)

    if strength or width == 16:
        return Effect(step)
    return Effect(step, transfer=Transfer(address, accessor, width, count, raw, (), sources, form.guard))


def _st_bulk(form: Form) -> Effect:
    """`st.bulk{.weak}{.shared::cta} [a], size, 0`: zeros, `size` bytes of them in each lane."""
    m = form.modifiers
    m.need("bulk")
    m.flag("weak")
    space = "shared" if m.flag("shared::cta") else "generic"
    operand = form.instruction.operands[0]
    read = form.deciding(form.sources[1], "u64" if _is_wide(form, form.sources[1]) else "u32")
    accessor = Accessor(form.address(operand), space, 8, form.site)
    form.builder.program.touches("shared", 8)
    site = form.site

    def step(group: Group, guard: Any) -> None:
        sizes = np.broadcast_to(read(group), (group.n, WARP)).astype(np.int64)
        active = lanes_of(group, guard, sizes.shape)
        longest = int((sizes if active is None else np.where(active, sizes, 0)).max())
        if longest % 8 or longest > MOST_BULK:
            message = f"bulk store: expected a multiple of 8 bytes up to {MOST_BULK}, found {longest}"
            raise fault("P603", message, site, (f"{group.thread(*group.first(sizes == longest))}",))
        for offset in range(0, longest, 8):
            for access in accessor(group, _and(guard, sizes > offset), offset):
                if access.space != "shared":
                    access.refuse("clears", "and works on the CTA's own shared memory alone")
                access.store((np.uint64(0),), None, 8)

    return Effect(step)


def _and(guard: Any, condition: Any) -> Any:
    return condition if guard is None else guard & condition


def _is_wide(form: Form, operand: tree.Operand) -> bool:
    """Whether an operand is a 64-bit register."""
    symbol = form.builder.meaning(operand) if isinstance(operand, tree.Name) else None
    return symbol is not None and symbol.type.endswith("64")


def _stored_type(operand: tree.Operand, typed: str, raw: str) -> str:
    """A literal is read in the instruction's own type, a register as raw bits."""
    return raw if isinstance(operand, tree.Name) else typed


def _store_parameter(form: Form, symbol: Any, offset: int, width: int, sources: list[Any]) -> Effect:
    """`st.param` to an argument or a return value."""
    parameters = form.builder.parameters
    raw = RAW[width * 8]
    places = [
        (source, source.reader, offset + i * width, parameters.covering(symbol, offset + i * width, width))
        for i, source in enumerate(sources)
    ]

    def step(group: Group, guard: Any) -> None:
        for source, read, at, pieces in places:
            entry = source.undefined(group)
            mask, origin = (None, 0) if entry is None else (viewed(entry[0], raw), entry[1])
            scatter(group, pieces, at, width, (viewed(read(group), raw), mask, origin), guard)

    return Effect(step)


@effect("prefetch", "prefetchu", "applypriority")
def prefetch(form: Form) -> Effect:
    """Hints: they change nothing, and an address that is not valid does not matter."""
    form.modifiers.left.clear()
    return Effect(lambda group, guard: None)


@effect("createpolicy")
def createpolicy(form: Form) -> Effect:
    """`createpolicy.kind.. cache-policy, ..`: an opaque number, and a hint to whoever takes it."""
    form.modifiers.left.clear()
    target = form.target(form.targets[0], "b64")

    def step(group: Group, guard: Any) -> None:
        if target is not None:
            target.write(group, POLICY, None, guard)

    return Effect(step)


@effect("discard")
def discard(form: Form) -> Effect:
    """`discard.global.L2 [a], 128`: what lies there is undefined from then on."""
    m = form.modifiers
    m.choose("global")
    m.need("L2")
    size = m.immediate(1)
    if size != 128:
        raise Unsupported("a size other than 128")
    accessor = Accessor(form.address(form.source_operands[0]), "global", 128, form.site)

    def step(group: Group, guard: Any) -> None:
        for access in accessor(group, guard):
            group.gang.launch.discard(access, 128)

    return Effect(step)


# ---- addresses


@pure("cvta")
def cvta(m: Modifiers) -> Pure:
    """`cvta{.to}.space.size p, a`. A 32-bit address is the low word: windows begin where that is 0."""
    to_space = m.flag("to")
    space = plain_space(m.need(*SPACES) or "")
    kind = m.type().name
    base = WINDOWS.get(space, 0) if kind == "u64" else 0
    step = np.uint64(-base % (1 << 64) if to_space else base)
    if base == 0:
        return Pure((kind,), (kind,), lambda a: a, undefined=lambda values, masks: masks[0])
    return Pure((kind,), (kind,), lambda a: a + step)


@effect("isspacep")
def isspacep(form: Form) -> Effect:
    """`isspacep.space p, a`. Parameters count as global, constants don't; a 32-bit address is in no window.
    Only `.shared::cluster` has the memory of other CTAs."""
    named = form.modifiers.need(*SPACES) or ""
    space = plain_space(named)
    operand = form.sources[0]
    source = form.source(operand, "u64" if _is_wide(form, operand) else "u32")
    target = form.target(form.targets[0], "pred")
    read, site = source.reader, form.site
    others = [np.uint64(WINDOWS[name]) for name in ("const", "shared", "local")]

    def step(group: Group, guard: Any) -> bool:
        address = read(group).astype(np.uint64)
        if space == "global":
            inside = ~np.logical_or.reduce([address - base < np.uint64(WINDOW) for base in others])
        else:
            inside = address - np.uint64(WINDOWS[space]) < np.uint64(WINDOW)
            if space == "shared" and named != "shared::cluster" and group.gang.cluster > 1:
                rank = (address - np.uint64(WINDOWS[space])) // np.uint64(CLUSTER_STEP)
                inside = inside & (rank == group.special("%cluster_ctarank"))
        entry, mask = source.undefined(group), None
        if entry is not None:
            mask = (entry[0] != 0, group.gang.launch.origins.root(entry[1], group.gang.launch.program, site))
        if target is not None:
            target.write(group, inside, mask, guard)
        return mask is not None

    return Effect(step)
