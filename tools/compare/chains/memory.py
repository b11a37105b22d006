"""Loads, stores and atomics in every state space, by addresses made in every way.

Each thread has a slot of `SLOT` bytes in global (`%gm`), shared (`own`, `%sm`) and local memory (`mine`);
tables in global (`gdata`), constant (`cdata`), shared (`fixed`) and parameter space (`given`) are only read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from compare.cases import Case
from compare.chains import forms
from compare.chains.model import SLOT
from compare.chains.writer import Writer

TYPES = tuple(f"{kind}{bits}" for bits in (8, 16, 32, 64) for kind in "bus") + ("f32", "f64")
REDUCTIONS = (
    "add.u32",
    "add.s32",
    "min.u32",
    "max.s32",
    "and.b32",
    "or.b32",
    "xor.b32",
    "add.u64",
    "max.u64",
    "min.s64",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement goes to.

    Attributes:
        name: the state space, and how the address is made.
        lines: that make it.
        suffix: the state space on the instruction, with its dot; empty for a generic address.
        address: what an offset is added to, with a plus.
    """

    name: str
    lines: tuple[str, ...]
    suffix: str
    address: str


Way = Callable[[Writer], Place]


def _plain(name: str, suffix: str, address: str, *lines: str) -> Way:
    return lambda writer: Place(name, lines, suffix, address)


TO_GENERIC = ("cvt.u64.u32 %at, %sm;", "cvta.shared.u64 %at, %at;")
RANK = "mov.u32 %y, %cluster_ctarank;"
WRITABLE: tuple[Way, ...] = (
    _plain("global", ".global", "%gm"),
    _plain("global, generic", "", "%gm"),
    _plain("global, there and back", "", "%at", "cvta.to.global.u64 %at, %gm;", "cvta.global.u64 %at, %at;"),
    _plain("global, cvta.to", ".global", "%at", "cvta.to.global.u64 %at, %gm;"),
    _plain("shared", ".shared", "%sm"),
    _plain("shared::cta", ".shared::cta", "%sm"),
    _plain("shared, 64 bits", ".shared", "%at", "cvt.u64.u32 %at, %sm;"),
    _plain("shared, cvta", "", "%at", *TO_GENERIC),
    _plain("shared, there and back", ".shared", "%at", *TO_GENERIC, "cvta.to.shared.u64 %at, %at;"),
    _plain("shared, mapa", ".shared::cluster", "%y", RANK, "mapa.shared::cluster.u32 %y, %sm, %y;"),
    _plain("shared, generic mapa", "", "%at", *TO_GENERIC, RANK, "mapa.u64 %at, %at, %y;"),
    _plain("local, name", ".local", "mine"),
    _plain("local, generic name", "", "mine"),
    _plain("local, 64 bits", ".local", "%at", "mov.u64 %at, mine;"),
    _plain("local, 32 bits", ".local", "%y", "mov.u32 %y, mine;"),
    _plain("local, cvta", "", "%at", "cvta.local.u64 %at, mine;"),
    _plain("local, and back", ".local", "%at", "cvta.local.u64 %at, mine;", "cvta.to.local.u64 %at, %at;"),
)  # fmt: skip
READABLE: tuple[Way, ...] = (
    _plain("const, name", ".const", "cdata"),
    _plain("const, 64 bits", ".const", "%at", "mov.u64 %at, cdata;"),
    _plain("const, cvta", "", "%at", "cvta.const.u64 %at, cdata;"),
    _plain("global, name", ".global", "gdata"),
    _plain("global, generic name", "", "gdata"),
    _plain("global, cvta of a name", "", "%at", "cvta.global.u64 %at, gdata;"),
    _plain("shared, name", ".shared", "fixed"),
    _plain("shared, generic name", "", "fixed"),
    _plain("shared, cvta of a name", "", "%at", "cvta.shared.u64 %at, fixed;"),
    _plain("param, name", ".param", "given"),
    _plain("param, cvta", "", "%at", "cvta.param.u64 %at, given;"),
    _plain("param, 64 bits", ".param", "%at", "mov.b64 %at, given;"),
)


def _shape(writer: Writer) -> tuple[str, int, int]:
    """A type, how many bytes one has, how many there are."""
    type_ = writer.random.choice(TYPES)
    size = int(type_[1:]) // 8
    counts = [1, 1, 1, 2, 4] if size < 8 else [1, 1, 2]
    return type_, size, writer.random.choice(counts)


def _offset(writer: Writer, place: Place, wide: int) -> tuple[Place, str]:
    """An aligned offset, a constant one or, where the address is in a register, one of each thread's own."""
    limit = SLOT // wide
    if place.address[0] != "%" or writer.random.random() < 0.6:
        return place, f"+{writer.random.randrange(limit) * wide}"
    lines = (*place.lines, f"and.b32 %x, {writer.source(32)}, {(limit - 1) * wide};")
    if place.address in ("%sm", "%y"):
        return Place(place.name, (*lines, f"add.u32 %y, {place.address}, %x;"), place.suffix, "%y"), ""
    lines = (*lines, "cvt.u64.u32 %to, %x;", f"add.u64 %at, {place.address}, %to;")
    return Place(place.name, lines, place.suffix, "%at"), ""


def _register(writer: Writer, size: int) -> int:
    """The width of a register for so many bytes: as wide, or wider."""
    widths = [bits for bits in (16, 32, 64) if bits >= 8 * size]
    return widths[0] if writer.random.random() < 0.6 else writer.random.choice(widths)


def _named(opcode: str, place: Place, count: int, type_: str, order: str = "") -> str:
    vector = f".v{count}" if count > 1 else ""
    return f"{opcode}{order}{place.suffix}{vector}.{type_}"


def _order(writer: Writer, place: Place, choices: tuple[str, ...]) -> str:
    """An order of memory, where the space has one."""
    shared_or_global = place.name.startswith(("global", "shared")) and place.address not in ("gdata", "fixed")
    if not shared_or_global or writer.random.random() < 0.7:
        return ""
    return writer.random.choice(choices)


def load(writer: Writer) -> None:
    """Any type, one or several, into registers as wide or wider."""
    type_, size, count = _shape(writer)
    way = writer.random.choice(WRITABLE if writer.random.random() < 0.6 else READABLE)
    place, offset = _offset(writer, way(writer), size * count)
    bits = _register(writer, size) if type_[0] != "f" else 8 * size
    results = writer.targets(bits, count)
    operand = results[0] if count == 1 else f"{{{', '.join(results)}}}"
    name = _named(
        "ld", place, count, type_, _order(writer, place, (".volatile", ".relaxed.cta", ".acquire.gpu"))
    )
    lines = [*place.lines, f"{name} {operand}, [{place.address}{offset}];"]
    retyped = type_[0] == "f" or bits > 8 * size
    after = [forms.as_bits(result, bits) for result in results] if retyped else []
    writer.step("memory", f"{name} ({place.name})", lines, [(result, bits) for result in results], after)


def store(writer: Writer) -> None:
    """Any type, one or several, from registers as wide or wider; read again at once."""
    type_, size, count = _shape(writer)
    place, offset = _offset(writer, writer.random.choice(WRITABLE)(writer), size * count)
    bits = _register(writer, size) if type_[0] != "f" else 8 * size
    operands, before = [writer.source(bits) for _ in range(count)], []
    if bits > 8 * size:
        # Of a register that a float was computed in, ptxas stores the float made a narrower integer.
        words = [writer.fresh("s", f"b{bits}") for _ in operands]
        before = [f"add.u{bits} {word}, {name}, {size};" for word, name in zip(words, operands, strict=True)]
        operands = words
    operand = operands[0] if count == 1 else f"{{{', '.join(operands)}}}"
    order = _order(writer, place, (".volatile", ".relaxed.cta", ".release.gpu"))
    name = _named("st", place, count, type_, order)
    lines = [*place.lines, *before, f"{name} [{place.address}{offset}], {operand};"]
    results: list[tuple[str, int]] = []
    after: list[str] = []
    if writer.random.random() < 0.5:
        # By the same address, as bits, so that a store that goes wrong is seen here.
        back = writer.targets(max(16, 8 * size), count)
        into = back[0] if count == 1 else f"{{{', '.join(back)}}}"
        lines.append(f"{_named('ld', place, count, f'b{8 * size}')} {into}, [{place.address}{offset}];")
        results = [(result, max(16, 8 * size)) for result in back]
        after = [forms.as_bits(result, 16) for result in back] if size == 1 else []
    writer.step("memory", f"{name} ({place.name})", lines, results, after)


def long(writer: Writer) -> None:
    """128 bits at once."""
    place, offset = _offset(writer, writer.random.choice(WRITABLE)(writer), 16)
    low, high = writer.targets(64, 2)
    lines = ["{", ".reg .b128 %long;", *place.lines]
    if writer.random.random() < 0.5:
        lines += [
            f"mov.b128 %long, {{{writer.source(64)}, {writer.source(64)}}};",
            f"st{place.suffix}.b128 [{place.address}{offset}], %long;",
        ]
    lines += [
        f"ld{place.suffix}.b128 %long, [{place.address}{offset}];",
        f"mov.b128 {{{low}, {high}}}, %long;",
        "}",
    ]
    writer.step("memory", f"ld{place.suffix}.b128 ({place.name})", lines, [(low, 64), (high, 64)])


def space(writer: Writer) -> None:
    """`isspacep` of a generic address; `getctarank` of one of shared memory."""
    ways = [place for way in (*WRITABLE, *READABLE) if not (place := way(writer)).suffix]
    place = writer.random.choice([place for place in ways if place.address[0] == "%"])
    if place.name.startswith("shared") and writer.random.random() < 0.3:
        target = writer.target(32)
        text = f"getctarank.u64 {target}, {place.address};"
        writer.step("memory", f"getctarank.u64 ({place.name})", [*place.lines, text], [(target, 32)])
        return
    asked = writer.random.choice(
        ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param")
    )
    target = writer.target(1)
    text = f"isspacep.{asked} {target}, {place.address};"
    writer.step("memory", f"isspacep.{asked} ({place.name})", [*place.lines, text], [(target, 1)])


def barrier(writer: Writer) -> list[str]:
    """Lines that all threads of the chain meet at."""
    if writer.chain.ctas == 1:
        return [writer.random.choice(("bar.sync 0;", "barrier.sync 1;", "barrier.sync.aligned 2, 64;"))]
    return ["barrier.cluster.arrive.release;", "barrier.cluster.wait.acquire;"]


def exchange(writer: Writer) -> None:
    """Every thread writes into its slot and reads that of another one, between barriers."""
    bits = writer.random.choice((32, 64))
    source, target = writer.source(bits), writer.target(bits)
    offset = writer.random.randrange(SLOT * 8 // bits) * bits // 8
    distance = writer.random.randrange(1, 64 if writer.chain.ctas == 1 else 32)
    lines = [
        f"st.shared.b{bits} [%sm+{offset}], {source};",
        *barrier(writer),
        f"mov.u32 %x, %tid.x; xor.b32 %x, %x, {distance}; mov.u32 %y, own; mad.lo.u32 %y, %x, {SLOT}, %y;",
    ]
    if writer.chain.ctas == 1:
        lines.append(f"ld.shared.b{bits} {target}, [%y+{offset}];")
    elif writer.random.random() < 0.5:
        lines += [
            "mov.u32 %x, %cluster_ctarank; xor.b32 %x, %x, 1; mapa.shared::cluster.u32 %y, %y, %x;",
            f"ld.shared::cluster.b{bits} {target}, [%y+{offset}];",
        ]
    else:
        lines += [
            "cvt.u64.u32 %at, %y; cvta.shared.u64 %at, %at; mov.u32 %x, %cluster_ctarank; xor.b32 %x, %x, 1;",
            f"mapa.u64 %at, %at, %x; ld.b{bits} {target}, [%at+{offset}];",
        ]
    lines += barrier(writer)
    writer.step("memory", "exchange", split(lines), [(target, bits)], together=True)


def sum_(writer: Writer) -> None:
    """All threads reduce integers into one place, and read it between barriers."""
    operation = writer.random.choice(REDUCTIONS)
    bits = int(operation[-2:])
    source, target = writer.source(bits), writer.target(bits)
    name, address = (
        ("global", "%sum") if writer.chain.ctas == 2 or writer.random.random() < 0.5 else ("shared", "sums")
    )
    offset = writer.random.randrange(8) * 8
    suffix = f".{name}" if writer.random.random() < 0.6 or name == "shared" else ""
    lines = [
        f"red{suffix}.{operation} [{address}+{offset}], {source};",
        *barrier(writer),
        f"ld.{name}.b{bits} {target}, [{address}+{offset}];",
        *barrier(writer),
    ]
    writer.step("memory", f"red{suffix}.{operation} of all", lines, [(target, bits)], together=True)


def split(lines: list[str]) -> list[str]:
    """One statement a line."""
    return [part.strip() + ";" for line in lines for part in line.split(";") if part.strip()]


def atomic(writer: Writer, case: Case) -> None:
    """A statement of `compare.atomics`, in the thread's slot; a generic one in shared memory, too, but
    vectors, which only global memory has."""
    modifiers = set(case.modifiers)
    generic = "[%at]" in case.text and not {"global", "shared", "v2", "v4", "v8"} & modifiers
    if generic and writer.random.random() < 0.5:
        lines = TO_GENERIC
        made = [tuple(text.replace(".global.", ".") for text in part) for part in (case.before, case.after)]
        case = replace(case, before=made[0], after=made[1])
    else:
        lines = (f"add.u64 %at, %gm, {writer.random.randrange(SLOT // 8) * 8};",)
    forms.statement(writer, replace(case, before=(*lines, *case.before)))


def statement(writer: Writer) -> None:
    """One of them."""
    kinds = [load, load, load, store, store, store, long, space]
    if writer.here.whole_cta:
        kinds += [exchange, sum_]
    writer.random.choice(kinds)(writer)
