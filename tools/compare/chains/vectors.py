"""Vector registers, packing and unpacking, and moves of parts of words."""

from __future__ import annotations

from compare.chains.writer import Writer

PARTS = "xyzw"


def statement(writer: Writer) -> None:
    """One of them."""
    writer.random.choice((vector, pack, unpack, halves))(writer)


def vector(writer: Writer) -> None:
    """A vector register, written as a whole and read part by part."""
    count = writer.random.choice((2, 4))
    bits = writer.random.choice((16, 32) if count == 4 else (16, 32, 64))
    name = writer.fresh("v", f"v{count} .b{bits}")
    operands = [writer.source(bits) for _ in range(count)]
    results = writer.targets(bits, count)
    order = writer.random.sample(range(count), count)
    lines = [f"mov.v{count}.b{bits} {name}, {{{', '.join(operands)}}};"]
    lines += [f"mov.b{bits} {into}, {name}.{PARTS[part]};" for into, part in zip(results, order, strict=True)]
    copies = {into: operands[part] for into, part in zip(results, order, strict=True)}
    label = f"mov.v{count}.b{bits}"
    writer.step("vectors", label, lines, [(into, bits) for into in results], copies=copies)


def pack(writer: Writer) -> None:
    """Two or four registers to one."""
    whole, part = writer.random.choice(((32, 16), (64, 32), (64, 16)))
    operands = [writer.source(part) for _ in range(whole // part)]
    target = writer.target(whole)
    text = f"mov.b{whole} {target}, {{{', '.join(operands)}}};"
    writer.step("vectors", f"mov.b{whole} pack {whole // part}", [text], [(target, whole)])


def unpack(writer: Writer) -> None:
    """One register to two or four, some of them sinks."""
    whole, part = writer.random.choice(((32, 16), (64, 32), (64, 16)))
    results = writer.targets(part, whole // part)
    sink = writer.random.randrange(len(results)) if writer.random.random() < 0.3 else -1
    texts = ["_" if place == sink else name for place, name in enumerate(results)]
    text = f"mov.b{whole} {{{', '.join(texts)}}}, {writer.source(whole)};"
    kept = [(name, part) for place, name in enumerate(results) if place != sink]
    writer.step("vectors", f"mov.b{whole} unpack {whole // part}", [text], kept)


def halves(writer: Writer) -> None:
    """Through 128 bits."""
    first, second = writer.source(64), writer.source(64)
    low, high = writer.targets(64, 2)
    lines = [
        "{",
        ".reg .b128 %long;",
        f"mov.b128 %long, {{{first}, {second}}};",
        f"mov.b128 {{{high}, {low}}}, %long;",
        "}",
    ]
    copies = {high: first, low: second}
    writer.step("vectors", "mov.b128", lines, [(low, 64), (high, 64)], copies=copies)
