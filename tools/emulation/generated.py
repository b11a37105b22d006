"""Programs whose text is made: tiny kernels that differ in their numbers, and a module of several MB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

TINY = """\
.version 8.0
.target sm_80
.address_size 64
// out[i] = out[i] * {factor} + number, for i = 0 to 31.
.visible .entry tiny(.param .u64 out, .param .u32 number)
{{
    .reg .b32 %thread, %value, %number;
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    ld.param.u32 %number, [number];
    mov.u32 %thread, %tid.x;
    mad.wide.u32 %out, %thread, 4, %out;
    ld.global.u32 %value, [%out];
    mad.lo.u32 %value, %value, {factor}, %number;
    st.global.u32 [%out], %value;
    ret;
}}
"""
LANES = 32


@dataclass(frozen=True)
class GeneratedProgram:
    """Modules and their launches, one after the other, each of one CTA, on 32 words that begin as 0, 1, ..

    Attributes:
        modules: a text and its entry's name.
        threads: of the CTA.
        launches: the module's number, and the arguments behind the words' address.
        expected: the words in the end.
    """

    modules: tuple[tuple[str, str], ...]
    threads: int
    launches: tuple[tuple[int, tuple[int, ...]], ...]
    expected: np.ndarray


def start() -> np.ndarray:
    """The words before the first launch."""
    return np.arange(LANES, dtype="u4")


def tiny(kernels: int, launches: int) -> GeneratedProgram:
    """Launches of tiny kernels by turns, each with another number."""
    factors = [2 * number + 3 for number in range(kernels)]
    words = start()
    for number in range(launches):
        words = words * np.uint32(factors[number % kernels]) + np.uint32(number)
    return GeneratedProgram(
        tuple((TINY.format(factor=factor), "tiny") for factor in factors),
        LANES,
        tuple((number % kernels, (number,)) for number in range(launches)),
        words,
    )


def huge(statements: int) -> GeneratedProgram:
    """A module of so many statements, an entry for every 100: its first one is launched, by one thread.

    That entry sums 0 and 7, 7 and that sum, and so on (`measure_building.entries`).
    """
    from measure_building import entries

    before, last = 0, 7
    for _ in range(100):
        before, last = last, (before + last) % (1 << 32)
    words = start()
    words[0] = last
    return GeneratedProgram(((entries(statements), "k0"),), 1, ((0, ()),), words)


def generated(sizes: Mapping[str, Any]) -> GeneratedProgram:
    """The program that a case's sizes ask for."""
    return huge(**sizes) if "statements" in sizes else tiny(**sizes)
