"""What the lanes of a region do together: the member mask is a ballot of them."""

from __future__ import annotations

from compare.chains.writer import Writer


def statement(writer: Writer) -> None:
    """One of them, by those that are here."""
    writer.random.choice((shuffle, shuffle, vote, match, redux, active))(writer)


def _step(writer: Writer, label: str, lines: list[str], results: list[tuple[str, int]]) -> None:
    writer.step("warp", label, [f"bar.warp.sync {writer.here.mask};", *lines], results, together=True)


def shuffle(writer: Writer) -> None:
    """`shfl.sync.idx` from the first, the last, or, in a whole warp, any lane."""
    mask, source, target = writer.here.mask, writer.source(32), writer.target(32)
    predicate = writer.target(1)
    kind = writer.random.randrange(3 if writer.here.whole_warp else 2)
    lane = [
        f"brev.b32 %x, {mask}; bfind.u32 %x, %x; xor.b32 %x, %x, 31;",
        f"bfind.u32 %x, {mask};",
        f"and.b32 %x, {writer.source(32)}, 31;",
    ][kind]
    _step(
        writer,
        "shfl.sync.idx.b32",
        [*(part.strip() + ";" for part in lane.split(";") if part.strip()),
         f"shfl.sync.idx.b32 {target}|{predicate}, {source}, %x, 31, {mask};"],
        [(target, 32), (predicate, 1)],
    )  # fmt: skip


def vote(writer: Writer) -> None:
    """`vote.sync` in all modes."""
    mask, sign, source = writer.here.mask, writer.random.choice(("", "!")), writer.source(1)
    mode = writer.random.choice(("all", "any", "uni", "ballot"))
    if mode == "ballot":
        target = writer.target(32)
        _step(
            writer,
            "vote.sync.ballot.b32",
            [f"vote.sync.ballot.b32 {target}, {sign}{source}, {mask};"],
            [(target, 32)],
        )
        return
    target = writer.target(1)
    label, lines = f"vote.sync.{mode}.pred", list[str]()
    read = writer.read(label, source, 1, lines)
    _step(writer, label, [*lines, f"{label} {target}, {sign}{read}, {mask};"], [(target, 1)])


def match(writer: Writer) -> None:
    """`match.sync` of values of which few are different."""
    bits = writer.random.choice((32, 64))
    mask, source, target = writer.here.mask, writer.source(bits), writer.target(32)
    few, lines = ("%x", [f"and.b32 %x, {source}, 3;"]) if bits == 32 else (source, [])
    if writer.random.random() < 0.5:
        text = f"match.any.sync.b{bits} {target}, {few}, {mask};"
        _step(writer, f"match.any.sync.b{bits}", [*lines, text], [(target, 32)])
        return
    predicate = writer.target(1)
    text = f"match.all.sync.b{bits} {target}|{predicate}, {few}, {mask};"
    _step(writer, f"match.all.sync.b{bits}", [*lines, text], [(target, 32), (predicate, 1)])


def redux(writer: Writer) -> None:
    """`redux.sync` of integers."""
    spelling = writer.random.choice(
        ("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32")
    )
    mask, source, target = writer.here.mask, writer.source(32), writer.target(32)
    _step(
        writer,
        f"redux.sync.{spelling}",
        [f"redux.sync.{spelling} {target}, {source}, {mask};"],
        [(target, 32)],
    )


def active(writer: Writer) -> None:
    """`activemask`, whose lanes are some of those here; one elected of these."""
    target, mask = writer.target(32), writer.here.mask
    if writer.random.random() < 0.5:
        # Which ones is the hardware's choice, behind `bar.warp.sync`, too.
        lines = ["activemask.b32 %x;", f"or.b32 {target}, %x, {mask};"]
        _step(writer, "activemask.b32", lines, [(target, 32)])
        return
    predicate = writer.target(1)
    _step(writer, "elect.sync", [f"elect.sync {target}|{predicate}, {mask};"], [(target, 32), (predicate, 1)])
