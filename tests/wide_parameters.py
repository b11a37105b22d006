"""128 bits on their way to a device function and back: as NVIDIA's assembler gets it right, and others."""

from __future__ import annotations

from dataclasses import dataclass

TEXT = """\
.version 8.8
.target sm_90
.address_size 64
.func (RESULT) swap(VALUE)
{
    .reg .b64 %low, %high;
    .reg .b128 %wide;
    READ
    WRITE
    ret;
}
.entry k(.param .u64 out, .param .align 16 .b128 given)
{
    .reg .b64 %out, %low, %high;
    .reg .b128 %wide;
    ld.param.u64 %out, [out];
    ld.param.b128 %wide, [given];
    {
    .param .align 16 .b128 there, back;
    st.param.b128 [there], %wide;
    CALL
    }
    st.global.u64 [%out], %low;
    st.global.u64 [%out+8], %high;
    ret;
}
"""
PLAIN = {
    "RESULT": ".param .align 16 .b128 result",
    "VALUE": ".param .align 16 .b128 value",
    "READ": "ld.param.v2.b64 {%low, %high}, [value];",
    "WRITE": "mov.b128 %wide, {%high, %low}; st.param.b128 [result], %wide;",
    "CALL": "call (back), swap, (%wide); ld.param.v2.b64 {%low, %high}, [back];",
}


@dataclass(frozen=True)
class Way:
    """A kernel whose function swaps the halves of 128 bits.

    Attributes:
        text: the kernel `k(out, given)`.
        lost: what `check` says that the assembler loses; None where everything comes.
    """

    text: str
    lost: str | None


def _way(lost: str | None = None, **changes: str) -> Way:
    text = TEXT
    for name, words in (PLAIN | changes).items():
        text = text.replace(name, words)
    return Way(text, lost)


WAYS = {
    "register to parameter": _way(),
    "parameter to parameter": _way(CALL="call (back), swap, (there); ld.param.v2.b64 {%low, %high}, [back];"),
    "parameter in a register": _way(
        "passes 8 bits of `.reg .b128 value`",
        VALUE=".reg .b128 value",
        READ="mov.b128 {%low, %high}, value;",
    ),
    "result in a register": _way(
        "returns 8 bits of `.reg .b128 result`",
        RESULT=".reg .b128 result",
        WRITE="mov.b128 %wide, {%high, %low}; mov.b128 result, %wide;",
    ),
    "result taken by a register": _way(
        "leaves the upper 64 bits of `%wide` 0",
        CALL="call (%wide), swap, (there); mov.b128 {%low, %high}, %wide;",
    ),
    "result loaded whole": _way(
        "leaves the upper 64 bits of a `ld.param.b128` 0",
        CALL="call (back), swap, (there); ld.param.b128 %wide, [back]; mov.b128 {%low, %high}, %wide;",
    ),
    "parameter loaded whole": _way(
        "leaves the upper 64 bits of a `ld.param.b128` 0",
        READ="ld.param.b128 %wide, [value]; mov.b128 {%low, %high}, %wide;",
    ),
}
