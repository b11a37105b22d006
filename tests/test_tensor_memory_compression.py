"""`tcgen05.ld.spcompress` against the manual's rules for `spcompress` on plain lists of codes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from emulated import fault, launch
from ieee import F32, is_nan, ordered

from ptxkit.emulator import Emulator

NANS = (0x7FC00000, 0xFFC00001, 0x7F800001)
SPECIAL = (0, 1 << 31, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 1, 0x80000001, *NANS)


def text(num: int, operation: str, red: bool, stored: int) -> str:
    """A kernel of one warp: each lane stores words, loads half of them with their places, and a reduction."""
    first, metadata = ".red" if red else "", -(-num // 32)

    def vector(name: str, count: int) -> str:
        return "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"

    value = "%red, " if red else ""
    loaded = f"{vector('m', metadata)}, {vector('c', num // 2)}, {value}[%tmem]"
    results = [f"%m{i}" for i in range(metadata)] + [f"%c{i}" for i in range(num // 2)] + ["%red"]
    lines = [
        *(f"    ld.global.b32 %w{i}, [%in + {4 * i}];" for i in range(num)),
        f"    tcgen05.st.sync.aligned.32x32b.x{stored}.b32 [%tmem], {vector('w', stored)};",
        "    tcgen05.wait::st.sync.aligned;",
        f"    tcgen05.ld{first}.spcompress.sync.aligned.32x32b.x{num}.{operation} {loaded};",
        "    tcgen05.wait::ld.sync.aligned;",
        *(f"    st.global.b32 [%out + {4 * i}], {name};" for i, name in enumerate(results)),
    ]
    body = "\n".join(lines)
    return f"""\
.version 9.4
.target sm_107a
.address_size 64
.shared .align 4 .b32 slot;
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b32 %w<{num}>, %c<{num}>, %m<{metadata}>, %red, %tmem, %t;
    .reg .b64 %in, %out;
    mov.u32 %t, %tid.x;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mad.wide.u32 %in, %t, {4 * num}, %in;
    mad.wide.u32 %out, %t, {4 * len(results)}, %out;
    mov.b32 %red, 0;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 128;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    ld.shared.b32 %tmem, [slot];
{body}
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 128;
    ret;
}}
"""


def places(group: list[int], operation: str) -> list[int]:
    """The two that are kept: NaN before all, then by value or magnitude; of equals the first."""

    def key(at: int) -> tuple[bool, int]:
        code = group[at] & 0x7FFFFFFF if "abs" in operation else group[at]
        found = 0 if is_nan(F32, code) else ordered(F32, code)
        return not is_nan(F32, code), -found if operation.startswith("max") else found

    return sorted(sorted(range(4), key=key)[:2])


def reduction(codes: list[int], operation: str) -> int | None:
    """The least or the greatest of codes; None for a NaN."""
    codes = [code & 0x7FFFFFFF for code in codes] if "abs" in operation else codes
    numbers = [code for code in codes if not is_nan(F32, code)]
    if not numbers or ("NaN" in operation and len(numbers) < len(codes)):
        return None
    return (max if operation.startswith("max") else min)(numbers, key=lambda code: ordered(F32, code))


def lane(source: random.Random, num: int, special: float) -> list[int]:
    return [
        source.choice(SPECIAL) if source.random() < special else source.getrandbits(32) for _ in range(num)
    ]


CASES = [
    (num, f"{op}.sp::2:4{sign}.f32.b2", False)
    for num in (4, 8, 128)
    for op in ("min", "max")
    for sign in ("", ".abs")
]
CASES += [
    (num, f"{op}.sp::2:4{rest}.f32.b2", True)
    for num in (4, 32, 64)
    for op in ("min", "max")
    for rest in ("", ".abs", ".NaN", ".abs.NaN")
]


@pytest.mark.parametrize(("num", "operation", "red"), CASES)
def test_what_is_kept(num: int, operation: str, red: bool) -> None:
    source = random.Random(f"{num} {operation}")
    lanes = [lane(source, num, at / 31) for at in range(31)] + [[NANS[0]] * num]
    device = Emulator()
    metadata = -(-num // 32)
    out = device.empty((32, metadata + num // 2 + 1), np.uint32)
    words = device.array(np.array(lanes, np.uint32))
    device.load(text(num, operation, red, num)).kernel().launch((1,), (32,), [words, out])
    for codes, row in zip(lanes, out.numpy().tolist(), strict=True):
        groups = [codes[at : at + 4] for at in range(0, num, 4)]
        chosen = [places(group, operation) for group in groups]
        bits = sum(place << 2 * i for i, place in enumerate(at for pair in chosen for at in pair))
        assert row[:metadata] == [bits >> 32 * i & 0xFFFFFFFF for i in range(metadata)]
        kept = [group[at] for group, pair in zip(groups, chosen, strict=True) for at in pair]
        assert row[metadata:-1] == kept
        wanted = reduction(codes, operation) if red else 0
        assert is_nan(F32, row[-1]) if wanted is None else row[-1] == wanted
    assert device.findings == []


@pytest.mark.parametrize(
    ("name", "mask", "spoiled"),
    [
        ("m0", 0xF, False),
        ("m0", 0xF0, True),
        ("c1", ~0, False),
        ("c2", ~0, True),
        ("c3", ~0, True),
        ("red", ~0, True),
    ],
)
def test_what_nobody_wrote_spoils_its_group(name: str, mask: int, spoiled: bool) -> None:
    """Of 8 columns the first 7 have been written."""
    whole = text(8, "max.sp::2:4.f32.b2", True, 4)
    more = "    tcgen05.st.sync.aligned.32x32b.x2.b32 [%tmem + 4], {%w4, %w5};\n"
    more += "    tcgen05.st.sync.aligned.32x32b.x1.b32 [%tmem + 6], {%w6};\n"
    branch = (
        f"    and.b32 %t, %{name}, {mask & 0xFFFFFFFF};\n    setp.eq.u32 %p, %t, 0;\n    @%p bra END;\nEND:\n"
    )
    changed = (
        whole.replace("    tcgen05.wait::st", more + "    tcgen05.wait::st")
        .replace("    tcgen05.dealloc", branch + "    tcgen05.dealloc")
        .replace("    .reg .b64", "    .reg .pred %p;\n    .reg .b64")
    )
    device = Emulator()
    args = [device.array(np.ones((32, 8), np.uint32)), device.empty((32, 6), np.uint32)]
    if spoiled:
        assert "tensor memory" in str(fault("P605", changed, args, device=device))
    else:
        launch(changed, args, device=device)
