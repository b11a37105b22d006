"""Links: inputs that are none, functions that nobody gives, links that are over."""

from __future__ import annotations

from bindings import check
from cuda.bindings import driver as cuda
from kernels import NEXT, begin

from wrong_calls.fixtures import Call, Fixtures, place, raw, text

__all__ = ["CALLS", "begin"]

CUBIN, PTX, FATBIN, OBJECT, LIBRARY = range(5)
CALLER = (
    b".version 8.0\n.target sm_80\n.address_size 64\n.extern .func missing();\n"
    b".visible .entry k()\n{\n call missing;\n ret;\n}\n"
)


def _state() -> object:
    return check(cuda.cuLinkCreate(0, [], []))


def _add(state: object, kind: int, data: bytes, size: int | None = None) -> tuple[int]:
    length = len(data) + (kind == PTX) if size is None else size
    return raw("cuLinkAddData_v2", state, kind, text(data), length, text(b"input"), 0, 0, 0)


def _added(*texts: bytes) -> object:
    state = _state()
    for one in texts:
        _add(state, PTX, one)
    return state


def _complete(state: object) -> tuple[int]:
    return raw("cuLinkComplete", state, place(), place())


def _completed_twice(_: Fixtures) -> tuple[int]:
    state = _added(NEXT)
    _complete(state)
    return _complete(state)


def _added_after(_: Fixtures) -> tuple[int]:
    state = _added(NEXT)
    _complete(state)
    return _add(state, PTX, NEXT)


CALLS: dict[str, Call] = {
    "a link, nowhere": lambda _: raw("cuLinkCreate_v2", 0, 0, 0, 0),
    "an option that there is not": lambda _: raw("cuLinkCreate_v2", 1, place(777), place(), place()),
    "options, from nowhere": lambda _: raw("cuLinkCreate_v2", 1, 0, 0, place()),
    "an input of no link": lambda _: _add(0, PTX, NEXT),
    "an input of a kind that there is not": lambda _: _add(_state(), 77, NEXT),
    "no input": lambda _: raw("cuLinkAddData_v2", _state(), PTX, 0, 100, 0, 0, 0, 0),
    "an input of no bytes": lambda _: _add(_state(), PTX, NEXT, 0),
    "PTX that is none": lambda _: _add(_state(), PTX, b".version 8.0\n.target sm_80\n.nonsense\n"),
    "words that are no PTX": lambda _: _add(_state(), PTX, b"nothing of the kind"),
    "words as machine code": lambda _: _add(_state(), CUBIN, b"nothing of the kind"),
    "words as a fat binary": lambda _: _add(_state(), FATBIN, b"nothing of the kind"),
    "words as an object": lambda _: _add(_state(), OBJECT, b"nothing of the kind"),
    "words as a library": lambda _: _add(_state(), LIBRARY, b"nothing of the kind"),
    "PTX of a later version": lambda _: _add(_state(), PTX, NEXT.replace(b"8.0", b"99.0")),
    "PTX for another GPU": lambda _: _add(
        _state(), PTX, NEXT.replace(b"8.0", b"8.7").replace(b"sm_80", b"sm_120a")
    ),
    "an input after the end": _added_after,
    "a file that is not there": lambda _: raw(
        "cuLinkAddFile_v2", _state(), PTX, text(b"/nothing/there.ptx"), 0, 0, 0
    ),
    "a file that is empty": lambda _: raw("cuLinkAddFile_v2", _state(), PTX, text(b"/dev/null"), 0, 0, 0),
    "a file without a name": lambda _: raw("cuLinkAddFile_v2", _state(), PTX, 0, 0, 0, 0),
    "a file of no link": lambda _: raw("cuLinkAddFile_v2", 0, PTX, text(b"/nothing"), 0, 0, 0),
    "the end of no link": lambda _: _complete(0),
    "the end of a link of nothing": lambda _: _complete(_state()),
    "the end of a link that lacks a function": lambda _: _complete(_added(CALLER)),
    "the end of a link with a kernel twice": lambda _: _complete(_added(NEXT, NEXT)),
    "the end of a link, nowhere": lambda _: raw("cuLinkComplete", _added(NEXT), 0, 0),
    "a second end": _completed_twice,
    "no link is destroyed": lambda _: raw("cuLinkDestroy", 0),
}
