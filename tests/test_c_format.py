"""What device code prints, against the C library's own `snprintf`."""

from __future__ import annotations

import ctypes
import ctypes.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.emulator.system import SIZES, formatted

LIBRARY = ctypes.util.find_library("c")
needs_c = pytest.mark.skipif(LIBRARY is None, reason="there is no C library here")


def by_c(form: str, *arguments: object) -> str:
    """The text that the C library makes."""
    buffer = ctypes.create_string_buffer(4096)
    length = ctypes.CDLL(LIBRARY).snprintf(buffer, len(buffer), form.encode(), *arguments)
    return buffer.raw[:length].decode("latin-1")


def by_us(form: str, *arguments: object) -> str:
    """The same by `formatted`."""
    waiting = list(arguments)
    return formatted(form, lambda kind: waiting.pop(0))


FLAGS = st.text("-+ #0", max_size=3)
WIDTH = st.one_of(st.just(""), st.integers(1, 30).map(str))
PRECISION = st.one_of(st.just(""), st.integers(0, 20).map(lambda digits: f".{digits}"), st.just("."))


@needs_c
@given(
    FLAGS,
    WIDTH,
    PRECISION,
    st.sampled_from(["", *SIZES]),
    st.sampled_from("diouxX"),
    st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 8, 255, 2**31, 2**32 - 1, 2**63])),
)
def test_integers(flags: str, width: str, precision: str, length: str, kind: str, value: int) -> None:
    size = SIZES.get(length, 4)
    value &= 2**64 - 1 if size == 8 else 2**32 - 1
    form = f"[%{flags}{width}{precision}{length}{kind}]"
    argument = ctypes.c_uint64(value) if size == 8 else ctypes.c_uint32(value)
    assert by_us(form, value) == by_c(form, argument)


@needs_c
@given(
    FLAGS,
    WIDTH,
    PRECISION,
    st.sampled_from("eEfFgGaA"),
    st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 1.0, 0.5, 1.5, 2.5, 255.0, 5e-324, 1e22])),
)
def test_floats(flags: str, width: str, precision: str, kind: str, value: float) -> None:
    form = f"[%{flags}{width}{precision}{kind}]"
    if value != value:
        value = float("nan")
    assert by_us(form, value) == by_c(form, ctypes.c_double(value))


@needs_c
@given(st.text("-", max_size=1), WIDTH, PRECISION, st.text("abc xyz", max_size=12))
def test_texts(flags: str, width: str, precision: str, text: str) -> None:
    form = f"[%{flags}{width}{precision}s] [%{flags}{width}c]%%"
    assert by_us(form, text, ord("q")) == by_c(form, ctypes.c_char_p(text.encode()), ctypes.c_int(ord("q")))


@needs_c
def test_stars_and_pointers() -> None:
    for form, arguments in (
        ("[%*d]", (7, 42)), ("[%-*d]", (7, 42)), ("[%*d]", (2**32 - 7, 42)), ("[%.*f]", (2, 3.14159)),
        ("[%.*f]", (2**32 - 1, 2.5)), ("[%*.*e]", (15, 3, 12345.678)),
    ):  # fmt: skip
        passed = [ctypes.c_double(x) if isinstance(x, float) else ctypes.c_uint32(x) for x in arguments]
        assert by_us(form, *arguments) == by_c(form, *passed)
    for pointer in (0, 0x1234, 2**48):
        assert (
            by_us("[%p] [%20p]", pointer, pointer) == f"[{pointer:#x}] [{pointer:#20x}]" if pointer else True
        )
    assert by_us("[%p] [%10p] [%s]", 0, 0, None) == "[(nil)] [     (nil)] [(null)]"


def test_what_is_no_conversion_is_dropped() -> None:
    assert by_us("%q 100%% %", 1) == "% 100% %"
