"""Words made of named bit fields.

A descriptor is a class body: one field a line, as the manual's table has it. From that one
definition come the constructor, encode and decode, the range checks, equality, the table that
`ptxkit explain` prints and the one in the documentation. Every bit belongs to exactly one field;
a class with a gap or an overlap can't be defined.

    class SmemDescWgmma(Word64):
        address  = bits[13:0].scaled(16, "where the matrix starts")
        reserved = bits[61:14].reserved()
        swizzle  = bits[63:62].enum({"none": 0, "128B": 1, "64B": 2, "32B": 3})

    word = SmemDescWgmma(address=0x400, swizzle="128B")
    int(word), word.swizzle, SmemDescWgmma.decode(int(word)) == word

Nothing else in the project shifts the bits of a descriptor by hand.
"""

from ptxkit.bits.field import Field, bits
from ptxkit.bits.word import (
    MISSING_FIELD,
    NO_SUCH_CODE,
    NOT_A_WORD,
    OUT_OF_RANGE,
    RESERVED_SET,
    UNKNOWN_FIELD,
    FieldRow,
    Word,
    Word32,
    Word64,
    Word1024,
    refuse,
)

__all__ = [
    "MISSING_FIELD",
    "NOT_A_WORD",
    "NO_SUCH_CODE",
    "OUT_OF_RANGE",
    "RESERVED_SET",
    "UNKNOWN_FIELD",
    "Field",
    "FieldRow",
    "Word",
    "Word32",
    "Word64",
    "Word1024",
    "bits",
    "refuse",
]
