"""Random programs of mbarrier operations and of copies, on the emulator in every order and on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ptxkit.devices import open_device
from ptxkit.emulator import Emulator

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


@pytest.fixture(params=["lazy", "eager", "random", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    opened = open_device("cuda") if request.param == "cuda" else Emulator(request.param)
    yield opened
    opened.close()


@dataclass
class Reference:
    """An mbarrier as the manual's text has it: phase, expected and pending count, tx-count."""

    expected: int
    pending: int
    phase: int = 0
    tx: int = 0

    def arrive(self, count: int) -> int:
        before = self.pending
        self.pending -= count
        self.settle()
        return before

    def settle(self) -> None:
        if self.pending == 0 and self.tx == 0:
            self.phase += 1
            self.pending = self.expected

    def answers(self) -> int:
        """What a test for parity 0 and 1 says, as bits 0 and 1."""
        return 1 << (1 - (self.phase & 1))


def program(random: np.random.Generator, barriers: int, operations: int) -> tuple[str, list[int]]:
    """A straight program of one thread, and the words that it must store: after each operation the answers of
    all mbarriers, and the pending count of a token where there is one."""
    model = [Reference(count, count) for count in random.integers(1, 9, barriers).tolist()]
    lines = [
        f"    .shared .align 8 .b64 bar[{barriers}];",
        "    mov.u32 %r1, bar;",
        "    ld.param.u64 %d1, [out];",
    ]
    lines += [f"    mbarrier.init.shared::cta.b64 [%r1+{8 * i}], {m.expected};" for i, m in enumerate(model)]
    words: list[int] = []

    def store(register: str, value: int) -> None:
        lines.append(f"    st.global.u32 [%d1+{4 * len(words)}], {register};")
        words.append(value)

    for _ in range(operations):
        which = int(random.integers(barriers))
        m, at = model[which], f"[%r1+{8 * which}]"
        number = int(random.integers(1, 4))
        kind = str(random.choice(["arrive", "expect", "complete", "both", "drop", "some"]))
        bytes_ = int(random.integers(1, 5)) * 16
        if kind == "arrive" and m.pending >= number:
            lines.append(f"    mbarrier.arrive.shared::cta.b64 _, {at}, {number};")
            m.arrive(number)
        elif kind == "both" and m.pending:
            lines.append(f"    mbarrier.arrive.expect_tx.shared::cta.b64 _, {at}, {bytes_};")
            m.tx += bytes_
            m.arrive(1)
        elif kind == "expect" and m.pending:
            lines.append(f"    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {at}, {bytes_};")
            m.tx += bytes_
        elif kind == "complete" and m.tx > 0:
            done = min(bytes_, m.tx)
            lines.append(f"    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 {at}, {done};")
            m.tx -= done
            m.settle()
        elif kind == "drop" and m.pending >= number and m.expected > number:
            lines.append(f"    mbarrier.arrive_drop.shared::cta.b64 _, {at}, {number};")
            m.expected -= number
            m.arrive(number)
        elif kind == "some" and m.pending > number:
            lines.append(f"    mbarrier.arrive.noComplete.shared::cta.b64 %d2, {at}, {number};")
            lines.append("    mbarrier.pending_count.b64 %r4, %d2;")
            store("%r4", m.arrive(number))
        lines.append("    mov.u32 %r2, 0;")
        for i in range(barriers):
            for parity in (0, 1):
                lines.append(f"    mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1+{8 * i}], {parity};")
                lines.append(f"    @%p1 or.b32 %r2, %r2, {1 << (2 * i + parity)};")
        store("%r2", sum(m.answers() << 2 * i for i, m in enumerate(model)))
    return HEAD + "\n".join(lines) + "\n    ret;\n}\n", words


@pytest.mark.parametrize("seed", range(4))
def test_counts_and_phases(device: Any, seed: int) -> None:
    text, words = program(np.random.default_rng(seed), 3, 60)
    x, out = device.array(np.zeros(1, np.uint32)), device.array(np.zeros(len(words), np.uint32))
    device.load(text).kernel("k").launch(1, 1, [x, out])
    device.synchronize()
    assert out.numpy().tolist() == words


def copies(random: np.random.Generator, count: int) -> tuple[str, np.ndarray, np.ndarray]:
    """A program that copies stretches of 4 KiB about: in bulk to shared memory, and from there back.

    Returns:
        The text, the argument, and what must be in `out`.
    """
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
    return HEAD + "\n".join(lines) + "\n    ret;\n}\n", x, out


@pytest.mark.parametrize("seed", range(4))
def test_bulk_copies(device: Any, seed: int) -> None:
    text, x, wanted = copies(np.random.default_rng(seed), 24)
    argument, out = device.array(x), device.array(np.zeros_like(x))
    device.load(text).kernel("k").launch(1, 1, [argument, out])
    device.synchronize()
    assert out.numpy().tobytes() == wanted.tobytes()
