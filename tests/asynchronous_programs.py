"""Programs of the asynchronous machine that are made, not written: random operations on mbarriers, random
bulk copies, reductions with every operator and type. Each knows what it must leave in `out`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

HEAD = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .b64 %d<16>;
"""


@dataclass(frozen=True, eq=False)
class Program:
    """A kernel `k` of two pointers.

    Attributes:
        name: for people.
        text: the module.
        x: what the first pointer is to.
        out: what must be where the second one points to, which begins as zeros.
        grid, block, cluster: how it is launched.
    """

    name: str
    text: str
    x: np.ndarray
    out: np.ndarray
    grid: Any = 1
    block: Any = 1
    cluster: Any = None

    def run(self, device: Any) -> np.ndarray:
        """What a launch leaves in `out`."""
        x, out = device.array(self.x), device.array(np.zeros_like(self.out))
        kernel = device.load(self.text).kernel("k")
        kernel.launch(self.grid, self.block, [x, out], cluster=self.cluster)
        device.synchronize()
        found: np.ndarray = out.numpy()
        return found


# ---- mbarriers


@dataclass
class Reference:
    """An mbarrier as the manual's text has it: phase, expected and pending count, tx-count; layout,
    conditional phase, and whether an operation of the current phase has reported."""

    expected: int
    pending: int
    phase: int = 0
    tx: int = 0
    layout: int = 0
    conditional: int = 0
    reports: bool = False

    def arrive(self, count: int) -> int:
        before = self.pending
        self.pending -= count
        self.settle()
        return before

    def settle(self) -> None:
        if self.pending == 0 and self.tx == 0:
            self.phase += 1
            self.conditional += not self.reports
            self.reports = False
            self.pending = self.expected

    def answers(self, conditional: bool = False) -> int:
        """What a test for parity 0 and 1 says, as bits 0 and 1."""
        return 1 << (1 - ((self.conditional if conditional else self.phase) & 1))


@dataclass
class _MBarriers:
    """A program of one thread under construction, and the words that it must store."""

    random: np.random.Generator
    model: list[Reference]
    later: bool = False
    lines: list[str] = field(default_factory=list)
    words: list[int] = field(default_factory=list)

    def store(self, register: str, value: int) -> None:
        self.lines.append(f"    st.global.u32 [%d1+{4 * len(self.words)}], {register};")
        self.words.append(value)

    def semantics(self, waits: bool = False) -> str:
        """What a wait or an arrival may say of order, or nothing."""
        strong = "acquire" if waits else "release"
        said = ["", f".{strong}.cta", f".{strong}.cluster", ".relaxed.cta", ".relaxed.cluster"]
        return str(self.random.choice(said))

    def place(self, which: int) -> tuple[str, str]:
        """A state space, and the address of an mbarrier in it; generic where the space is empty."""
        space = str(self.random.choice(["", ".shared", ".shared::cta"]))
        return space, f"[{'%r1' if space else '%d3'}+{8 * which}]"

    def operate(self) -> None:
        """One operation that the rules allow, if what was drawn is one."""
        random, lines = self.random, self.lines
        which = int(random.integers(len(self.model)))
        m, (space, at) = self.model[which], self.place(which)
        number, bytes_ = int(random.integers(1, 4)), int(random.integers(1, 5)) * 16
        kind = str(
            random.choice(["arrive", "expect", "complete", "both", "drop", "drop both", "some", "drop some"])
        )
        if self.later and m.layout and m.pending == 1 and m.tx == 0:
            self.copy(which, bool(random.integers(2)))
            return
        order = self.semantics()
        at_once = f".relaxed.{random.choice(['cta', 'cluster'])}" if random.random() < 0.5 else ""
        before = m.phase, len(lines)
        if kind == "arrive" and m.pending >= number:
            lines.append(f"    mbarrier.arrive{order}{space}.b64 %d2, {at}, {number};")
            m.arrive(number)
        elif kind == "both" and m.pending:
            lines.append(f"    mbarrier.arrive.expect_tx{order}{space}.b64 %d2, {at}, {bytes_};")
            m.tx += bytes_
            m.arrive(1)
        elif kind == "expect" and m.pending:
            lines.append(f"    mbarrier.expect_tx{at_once}{space}.b64 {at}, {bytes_};")
            m.tx += bytes_
        elif kind == "complete" and m.tx > 0:
            done = min(bytes_, m.tx)
            lines.append(f"    mbarrier.complete_tx{at_once}{space}.b64 {at}, {done};")
            m.tx -= done
            m.settle()
        elif kind == "drop" and m.pending >= number and m.expected > number:
            lines.append(f"    mbarrier.arrive_drop{order}{space}.b64 %d2, {at}, {number};")
            m.expected -= number
            m.arrive(number)
        elif kind == "drop both" and m.pending and m.expected > 1:
            lines.append(f"    mbarrier.arrive_drop.expect_tx{order}{space}.b64 %d2, {at}, {bytes_};")
            m.tx += bytes_
            m.expected -= 1
            m.arrive(1)
        elif kind == "some" and m.pending > number:
            lines.append(f"    mbarrier.arrive.noComplete{space}.b64 %d2, {at}, {number};")
            self.count(m.arrive(number))
        elif kind == "drop some" and m.pending > number and m.expected > number:
            lines.append(f"    mbarrier.arrive_drop.noComplete{space}.b64 %d2, {at}, {number};")
            m.expected -= number
            self.count(m.arrive(number))
        if len(lines) > before[1] and kind not in ("expect", "complete"):
            self.look(at, space, m.phase > before[0])

    def copy(self, which: int, reports: bool) -> None:
        """Complete a phase by a copy of 16 bytes, which reports where there is one of 0xff among them, and
        store what the wait for it says of that."""
        m, at, label = self.model[which], f"[%r1+{8 * which}]", f"COPIED{len(self.lines)}"
        source = int(self.random.integers(1, 4)) * 16 if reports else 0
        self.lines += [
            f"    mbarrier.arrive.expect_tx.shared::cta.b64 _, {at}, 16;",
            "    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
            f".mbarrier::report::validity::per_element::ff [%r3], [%d4+{source}], 16, {at};",
            f"{label}:",
            "    mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64 "
            f"%p1|%p2, %q1, {at}, {m.phase & 1};",
            f"    @!%p1 bra {label};",
            "    selp.b32 %r4, 512, 256, %p2;",
            "    cvt.u32.u8 %r5, %q1;",
            "    or.b32 %r4, %r4, %r5;",
        ]
        self.store("%r4", 512 if reports else 256)
        m.reports = reports
        m.arrive(1)

    def look(self, at: str, space: str, complete: bool) -> None:
        """Store whether the phase of the state that an operation returned is complete."""
        name = f"mbarrier.{self.random.choice(['test', 'try'])}_wait{self.semantics(True)}{space}.b64"
        self.lines.append(f"    {name} %p1, {at}, %d2;")
        self.lines.append("    selp.b32 %r4, 1, 0, %p1;")
        self.store("%r4", int(complete))

    def count(self, pending: int) -> None:
        """Store the pending count of the state that an operation returned."""
        self.lines.append("    mbarrier.pending_count.b64 %r4, %d2;")
        self.store("%r4", pending)

    def ask(self) -> None:
        """Store the answers of all mbarriers to both parities."""
        self.lines.append("    mov.u32 %r2, 0;")
        chosen = [str(self.random.choice(PHASES)) if self.later else "" for _ in self.model]
        for i, phase in enumerate(chosen):
            for parity in (0, 1):
                space, at = self.place(i)
                kind, hint = ("try", ", 100") if self.random.random() < 0.1 else ("test", "")
                name = f"mbarrier.{kind}_wait.parity{phase}{self.semantics(True)}{space}.b64"
                self.lines.append(f"    {name} %p1, {at}, {parity}{hint};")
                self.lines.append(f"    @%p1 or.b32 %r2, %r2, {1 << (2 * i + parity)};")
        answers = [m.answers(phase == PHASES[2]) for m, phase in zip(self.model, chosen, strict=True)]
        self.store("%r2", sum(answer << 2 * i for i, answer in enumerate(answers)))


PHASES = ("", ".phase_type::primary", ".phase_type::conditional")


def mbarriers(
    random: np.random.Generator, barriers: int = 3, operations: int = 60, later: bool = False
) -> Program:
    """One thread, which stores after each operation the answers of all mbarriers, and the pending count of a
    state where there is one. `later`: with layouts, copies that report, and both kinds of phases."""
    counts = random.integers(1, 4 if later else 9, barriers).tolist()
    made = _MBarriers(random, [Reference(count, count) for count in counts], later)
    made.lines += [f"    .shared .align 8 .b64 bar[{barriers}];", "    mov.u32 %r1, bar;"]
    if later:
        made.lines += ["    .shared .align 16 .b8 buf[16];", "    .reg .b8 %q1;", "    mov.u32 %r3, buf;"]
        made.lines += ["    ld.param.u64 %d4, [x];"]
        for m in made.model:
            m.layout = int(random.integers(2))
    made.lines += [
        "    ld.param.u64 %d1, [out];",
        "    cvt.u64.u32 %d3, %r1;",
        "    cvta.shared.u64 %d3, %d3;",
    ]
    for i, m in enumerate(made.model):
        space, at = made.place(i)
        layout = f".layout::v{m.layout}" if later else ""
        made.lines.append(f"    mbarrier.init{layout}{space}.b64 {at}, {m.expected};")
    for _ in range(operations):
        made.operate()
        made.ask()
    head = HEAD.replace("8.6", "9.4").replace("sm_90a", "sm_107f") if later else HEAD
    text = head + "\n".join(made.lines) + "\n    ret;\n}\n"
    x = np.zeros(64, np.uint8)
    x[[16 + 3, 32, 48 + 15]] = 0xFF
    return Program("mbarriers", text, x, np.array(made.words, np.uint32))


def remote(random: np.random.Generator, operations: int = 24) -> Program:
    """Two CTAs of a thread each work on the other's mbarrier; after each operation they meet, and each stores
    what its own one answers."""
    model = Reference(count := int(random.integers(3, 9)), count)
    meet = ["    barrier.cluster.arrive.release.aligned;", "    barrier.cluster.wait.acquire.aligned;"]
    lines = [
        "    .shared .align 8 .b64 bar;",
        "    mov.u32 %r1, bar;",
        f"    mbarrier.init.shared::cta.b64 [%r1], {count};",
        "    fence.mbarrier_init.release.cluster;",
        "    mov.u32 %r5, %cluster_ctarank;",
        "    xor.b32 %r6, %r5, 1;",
        "    mapa.shared::cluster.u32 %r7, %r1, %r6;",
        "    ld.param.u64 %d1, [out];",
        "    SKIP",
        *meet,
    ]
    words: list[int] = []
    for _ in range(operations):
        order = str(random.choice([".release.cluster", ".relaxed.cluster"]))
        at_once = str(random.choice(["", ".relaxed.cta", ".relaxed.cluster"]))
        kind = str(random.choice(["arrive", "both", "drop", "drop both", "expect", "complete"]))
        number, bytes_ = int(random.integers(1, 3)), int(random.integers(1, 5)) * 16
        if kind == "arrive" and model.pending >= number:
            lines.append(f"    mbarrier.arrive{order}.shared::cluster.b64 _, [%r7], {number};")
            model.arrive(number)
        elif kind == "both" and model.pending:
            lines.append(f"    mbarrier.arrive.expect_tx{order}.shared::cluster.b64 _, [%r7], {bytes_};")
            model.tx += bytes_
            model.arrive(1)
        elif kind == "drop" and model.pending >= number and model.expected > number:
            lines.append(f"    mbarrier.arrive_drop{order}.shared::cluster.b64 _, [%r7], {number};")
            model.expected -= number
            model.arrive(number)
        elif kind == "drop both" and model.pending and model.expected > 1:
            lines.append(f"    mbarrier.arrive_drop.expect_tx{order}.shared::cluster.b64 _, [%r7], {bytes_};")
            model.tx += bytes_
            model.expected -= 1
            model.arrive(1)
        elif kind == "expect" and model.pending:
            lines.append(f"    mbarrier.expect_tx{at_once}.shared::cluster.b64 [%r7], {bytes_};")
            model.tx += bytes_
        elif kind == "complete" and model.tx > 0:
            done = min(bytes_, model.tx)
            lines.append(f"    mbarrier.complete_tx{at_once}.shared::cluster.b64 [%r7], {done};")
            model.tx -= done
            model.settle()
        else:
            continue
        lines += [*meet, "    mov.u32 %r2, 0;"]
        for parity in (0, 1):
            lines.append(f"    mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], {parity};")
            lines.append(f"    @%p1 or.b32 %r2, %r2, {1 << parity};")
        lines += [f"    st.global.u32 [%d1+{4 * len(words)}], %r2;", *meet]
        words.append(model.answers())
    lines[8] = f"    mad.wide.u32 %d1, %r5, {4 * len(words)}, %d1;"
    text = HEAD + "\n".join(lines) + "\n    ret;\n}\n"
    return Program(
        "mbarriers of a peer", text, np.zeros(1, np.uint32), np.array(words * 2, np.uint32), 2, 1, 2
    )


# ---- bulk copies


def copies(random: np.random.Generator, count: int = 24) -> Program:
    """Stretches of 4 KiB go about: in bulk to shared memory, and from there back."""
    size = 4096
    x = random.integers(0, 256, size, np.uint8)
    out, shared = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    lines = [
        "    .shared .align 128 .b8 buf[4096];",
        "    .shared .align 8 .b64 bar;",
        "    .reg .b32 %phase;",
    ]
    lines += ["    ld.param.u64 %d1, [x];", "    ld.param.u64 %d2, [out];", "    mov.u32 %r1, buf;"]
    lines += [
        "    mov.u32 %r2, bar;",
        "    mbarrier.init.shared::cta.b64 [%r2], 1;",
        "    mov.u32 %phase, 0;",
    ]
    lines += ["    mov.u32 %r3, 0;", "    mov.u32 %r4, 0;", "Z:", "    add.u32 %r5, %r1, %r4;"]
    lines += ["    st.shared.u32 [%r5], %r3;", "    add.u32 %r4, %r4, 4;", "    setp.lt.u32 %p1, %r4, 4096;"]
    lines += ["    @%p1 bra Z;", "    fence.proxy.async.shared::cta;"]
    for number in range(count):
        length = int(random.integers(1, 17)) * 16
        cuts = np.sort(random.choice(np.arange(0, size // 16), 3, replace=False)) * 16
        sources = [int(random.integers(0, (size - length) // 16 + 1)) * 16 for _ in cuts]
        ends = [*cuts[1:].tolist(), size]
        parts = [(a, s, min(length, e - a)) for a, s, e in zip(cuts.tolist(), sources, ends, strict=True)]
        if random.random() < 0.6:
            total = sum(n for _, _, n in parts)
            lines.append(f"    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {total};")
            for to, source, n in parts:
                name = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
                lines.append(f"    {name} [%r1+{to}], [%d1+{source}], {n}, [%r2];")
                shared[to : to + n] = x[source : source + n]
            lines += [f"W{number}:", "    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %phase;"]
            lines += [f"    @!%p1 bra W{number};", "    xor.b32 %phase, %phase, 1;"]
        else:
            for to, source, n in parts:
                lines.append(
                    f"    cp.async.bulk.global.shared::cta.bulk_group [%d2+{to}], [%r1+{source}], {n};"
                )
                out[to : to + n] = shared[source : source + n]
            lines += ["    cp.async.bulk.commit_group;", "    cp.async.bulk.wait_group 0;"]
    return Program("bulk copies", HEAD + "\n".join(lines) + "\n    ret;\n}\n", x, out)


# ---- reductions

CHUNK = 128
"""Bytes that each reduction is of."""
TYPES: dict[str, Any] = {
    "b32": np.uint32, "u32": np.uint32, "s32": np.int32, "b64": np.uint64, "u64": np.uint64, "s64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
TO_GLOBAL = [
    *((op, kind) for op in ("and", "or", "xor") for kind in ("b32", "b64")),
    *(("add", kind) for kind in ("u32", "s32", "u64", "f32", "f64")),
    *(("add.noftz", kind) for kind in ("f16", "bf16")),
    *((op, "u32") for op in ("inc", "dec")),
    *((op, kind) for op in ("min", "max") for kind in ("u32", "s32", "u64", "s64", "f16", "bf16")),
]
"""Operators and types of `cp.reduce.async.bulk` to global memory."""
TO_CLUSTER = [
    *((op, "b32") for op in ("and", "or", "xor")),
    *(("add", kind) for kind in ("u32", "s32", "u64")),
    *((op, "u32") for op in ("inc", "dec")),
    *((op, kind) for op in ("min", "max") for kind in ("u32", "s32")),
]
"""Those of `cp.reduce.async.bulk` and `red.async` to shared memory of the cluster."""


def reduced(operator: str, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """What a reduction leaves: numpy arrays of one type."""
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "add": np.add, "add.noftz": np.add,
        "min": np.minimum, "max": np.maximum,
        "inc": lambda a, b: np.where(a >= b, 0, a + 1),
        "dec": lambda a, b: np.where((a == 0) | (a > b), b, a - 1),
    }  # fmt: skip
    return np.asarray(functions[operator](old, new), old.dtype)


def _operands(random: np.random.Generator, kind: str) -> np.ndarray:
    """Values of a type, `CHUNK` bytes of them; small integers among them, which `inc` and `dec` wrap at."""
    dtype = np.dtype(TYPES[kind])
    count = CHUNK // dtype.itemsize
    if "f" in kind:
        return random.standard_normal(count).astype(dtype)
    words = random.integers(0, 256, CHUNK, np.uint8).view(dtype)
    return np.where(random.random(count) < 0.5, words, (words & dtype.type(7)).astype(dtype))


def _to_global(random: np.random.Generator) -> Program:
    """One CTA: `out` gets the first half of `x`, then the second half is added to it and so on."""
    pairs = [(_operands(random, kind), _operands(random, kind)) for _, kind in TO_GLOBAL]
    size = CHUNK * len(TO_GLOBAL)
    lines = [f"    .shared .align 128 .b8 buf[{size}];", "    .reg .b32 %thread;"]
    lines += ["    ld.param.u64 %d1, [x];", "    ld.param.u64 %d2, [out];", "    mov.u32 %r1, buf;"]
    lines += ["    mov.u32 %thread, %tid.x;", "    shl.b32 %r2, %thread, 2;", "    add.u32 %r3, %r1, %r2;"]
    lines += ["    cvt.u64.u32 %d3, %r2;", "    add.u64 %d4, %d1, %d3;", "    add.u64 %d5, %d2, %d3;"]
    for at in range(0, size, CHUNK):
        lines += [f"    ld.global.u32 %r4, [%d4+{at}];", f"    st.global.u32 [%d5+{at}], %r4;"]
        lines += [f"    ld.global.u32 %r4, [%d4+{size + at}];", f"    st.shared.u32 [%r3+{at}], %r4;"]
    lines += [
        "    fence.proxy.async;",
        "    bar.sync 0;",
        "    setp.ne.u32 %p1, %thread, 0;",
        "    @%p1 ret;",
    ]
    for number, (operator, kind) in enumerate(TO_GLOBAL):
        name = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{operator}.{kind}"
        at = number * CHUNK
        lines.append(f"    {name} [%d2+{at}], [%r1+{at}], {CHUNK};")
    lines += ["    cp.async.bulk.commit_group;", "    cp.async.bulk.wait_group 0;"]
    x = np.concatenate([pair[half].view(np.uint8) for half in (0, 1) for pair in pairs])
    found = [reduced(op, *pair).view(np.uint8) for (op, _), pair in zip(TO_GLOBAL, pairs, strict=True)]
    text = HEAD + "\n".join(lines) + "\n    ret;\n}\n"
    return Program("bulk reductions to global memory", text, x, np.concatenate(found), 1, CHUNK // 4)


def _to_cluster(random: np.random.Generator, bulk: bool) -> Program:
    """Two CTAs: each reduces its half of `x` into the other's shared memory, which holds 0 to begin with, and
    that twice, the second time with the words turned about."""
    chosen = TO_CLUSTER
    size = CHUNK * len(chosen)
    threads = CHUNK // 4
    lines = [
        f"    .shared .align 128 .b8 from[{size}];",
        f"    .shared .align 128 .b8 to[{size}];",
        "    .shared .align 8 .b64 bar;",
        "    .reg .b32 %thread, %rank, %peer, %own, %there, %here, %signal, %phase;",
        "    ld.param.u64 %d1, [x];",
        "    ld.param.u64 %d2, [out];",
        "    mov.u32 %thread, %tid.x;",
        "    mov.u32 %rank, %cluster_ctarank;",
        "    xor.b32 %peer, %rank, 1;",
        "    mov.u32 %own, from;",
        "    mov.u32 %here, to;",
        "    mov.u32 %r6, bar;",
        "    mapa.shared::cluster.u32 %there, %here, %peer;",
        "    mapa.shared::cluster.u32 %signal, %r6, %peer;",
        "    shl.b32 %r2, %thread, 2;",
        f"    mad.lo.u32 %r3, %rank, {2 * size}, %r2;",
        "    cvt.u64.u32 %d3, %r3;",
        "    add.u64 %d4, %d1, %d3;",
        f"    mad.lo.u32 %r3, %rank, {size}, %r2;",
        "    cvt.u64.u32 %d3, %r3;",
        "    add.u64 %d5, %d2, %d3;",
        "    setp.ne.u32 %p1, %thread, 0;",
        "    @%p1 bra READY;",
        "    mbarrier.init.shared::cta.b64 [%r6], 1;",
        "    fence.mbarrier_init.release.cluster;",
        "READY:",
        "    add.u32 %r7, %here, %r2;",
        "    add.u32 %r8, %own, %r2;",
        "    mov.u32 %r5, 0;",
        "    mov.u32 %phase, 0;",
    ]
    lines += [f"    st.shared.u32 [%r7+{at}], %r5;" for at in range(0, size, CHUNK)]
    for turn in (0, 1):
        for at in range(0, size, CHUNK):
            lines.append(f"    ld.global.u32 %r4, [%d4+{turn * size + at}];")
            lines.append(f"    st.shared.u32 [%r8+{at}], %r4;")
        lines += ["    fence.proxy.async;", "    barrier.cluster.arrive.release.aligned;"]
        lines += ["    barrier.cluster.wait.acquire.aligned;", f"    @%p1 bra SENT{turn};"]
        lines.append(f"    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], {size};")
        if not bulk:
            lines.append(f"SENT{turn}:")
        for number, (operator, kind) in enumerate(chosen):
            at, tail = number * CHUNK, f"mbarrier::complete_tx::bytes.{operator}.{kind}"
            if bulk:
                name = f"cp.reduce.async.bulk.shared::cluster.shared::cta.{tail}"
                lines.append(f"    {name} [%there+{at}], [%own+{at}], {CHUNK}, [%signal];")
                continue
            wide = np.dtype(TYPES[kind]).itemsize == 8
            name = f"red.async.relaxed.cluster.shared::cluster.{tail}"
            lines.append("    add.u32 %r9, %there, %r2;")
            if wide:
                lines += [
                    "    add.u32 %r9, %r9, %r2;",
                    "    add.u32 %r10, %own, %r2;",
                    "    add.u32 %r10, %r10, %r2;",
                ]
                lines += [
                    f"    setp.lt.u32 %p2, %thread, {threads // 2};",
                    f"    @%p2 ld.shared.u64 %d6, [%r10+{at}];",
                ]
                lines.append(f"    @%p2 {name} [%r9+{at}], %d6, [%signal];")
            else:
                lines += [f"    ld.shared.u32 %r4, [%r8+{at}];", f"    {name} [%r9+{at}], %r4, [%signal];"]
        if bulk:
            lines.append(f"SENT{turn}:")
        lines += ["    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r6], %phase;"]
        lines += [f"    @!%p3 bra WAIT{turn};", "    xor.b32 %phase, %phase, 1;"]
        lines.insert(len(lines) - 3, f"WAIT{turn}:")
        lines += ["    barrier.cluster.arrive.release.aligned;", "    barrier.cluster.wait.acquire.aligned;"]
    for at in range(0, size, CHUNK):
        lines += [f"    ld.shared.u32 %r4, [%r7+{at}];", f"    st.global.u32 [%d5+{at}], %r4;"]
    values = [[[_operands(random, kind) for _, kind in chosen] for _ in (0, 1)] for _ in (0, 1)]
    x = np.concatenate([v.view(np.uint8) for cta in values for turn in cta for v in turn])
    out = []
    for rank in (0, 1):
        for number, (operator, kind) in enumerate(chosen):
            held = np.zeros(CHUNK // np.dtype(TYPES[kind]).itemsize, TYPES[kind])
            for turn in (0, 1):
                held = reduced(operator, held, values[1 - rank][turn][number])
            out.append(held.view(np.uint8))
    name = "bulk reductions" if bulk else "asynchronous reductions"
    text = HEAD + "\n".join(lines) + "\n    ret;\n}\n"
    return Program(f"{name} to the cluster", text, x, np.concatenate(out), 2, threads, 2)


def reductions(random: np.random.Generator) -> list[Program]:
    """Every operator and type, to global memory and to shared memory of the cluster."""
    return [_to_global(random), _to_cluster(random, True), _to_cluster(random, False)]
