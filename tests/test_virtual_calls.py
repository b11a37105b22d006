"""What each call of a virtual GPU goes through: parameters by address, processes that are forked."""

from __future__ import annotations

import ctypes
import os
import random

import pytest
from virtual import needs_linux

from ptxkit.virtual import forks
from ptxkit.virtual.abi import gatherer
from ptxkit.virtual.results import DriverError

pytestmark = needs_linux


def test_pieces_are_gathered_from_anywhere() -> None:
    """Of every size, with gaps between them, each at an odd place that ends where its bytes do."""
    chance = random.Random(1)
    for _ in range(200):
        pieces, expected, held = [], bytearray(), []
        for _ in range(chance.randrange(6)):
            gap, count = chance.randrange(5), chance.choice((0, 1, 2, 3, 4, 8, 12, 16, 40))
            piece, odd = chance.randbytes(count), chance.randrange(3)
            pieces.append((len(expected) + gap, count))
            expected += bytes(gap) + piece
            held.append((ctypes.create_string_buffer(bytes(odd) + piece, odd + max(count, 1)), odd))
        size = len(expected) + chance.randrange(3)
        addresses = (ctypes.c_uint64 * max(len(held), 1))(*[ctypes.addressof(b) + odd for b, odd in held])
        found = gatherer(pieces, size)(ctypes.addressof(addresses))
        assert found == bytes(expected).ljust(size, b"\0")


def test_a_piece_that_is_nowhere_is_refused() -> None:
    value = ctypes.c_uint64(1)
    addresses = (ctypes.c_uint64 * 2)(ctypes.addressof(value), 0)
    with pytest.raises(DriverError, match="null"):
        gatherer([(0, 8), (8, 8)], 16)(ctypes.addressof(addresses))


@pytest.mark.parametrize("wiping", [True, False])
def test_a_forked_process_knows_that_it_is_one(wiping: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the kernel refuses to wipe pages."""
    if not wiping:
        monkeypatch.setattr(forks, "_WIPE_ON_FORK", 12345)
    mark = forks.process_mark()
    assert mark[0]
    child = os.fork()
    if not child:
        os._exit(7 if mark[0] else 8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 8
    assert mark[0]
