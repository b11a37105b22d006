"""What the calls of a chapter are answered, a line of JSON before each and one behind it.

    python -m wrong_calls                    # the chapters: {name: [what each call is, ..]}
    python -m wrong_calls CHAPTER,CHAPTER..  # all calls of chapters that have the same before their first
    python -m wrong_calls CHAPTER FIRST      # from the call FIRST on, counted from 0

A call's line says its chapter and its code; where what it needs can't be made here, the reason instead. With
FIRST the process ends behind a call after which its driver is not to be trusted: one with a handle that is
gone or is something else's, or that left the context with an error.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

from cuda.bindings import driver as cuda

from wrong_calls import faults
from wrong_calls.fixtures import Call, Fixtures, trust

CHAPTERS = (
    "initialization", "devices", "no_context", "contexts", "memory", "host_memory", "copies", "pools",
    "virtual_memory", "modules", "libraries", "linker", "execution", "launches", "occupancy", "streams",
    "events", "capture", "graphs", "graph_updates", "graph_memory", "tensor_maps", "arrays", "textures",
)  # fmt: skip


def calls_of(chapter: str) -> dict[str, Call]:
    """The calls of a chapter; the faults are a chapter each."""
    name, _, fault = chapter.partition(".")
    return faults.CALLS if fault else import_module(f"wrong_calls.{name}").CALLS


def begin(chapter: str) -> object:
    """What a process of a chapter has before its first call: the context, where there is one."""
    name, _, fault = chapter.partition(".")
    return faults.begin(fault) if fault else import_module(f"wrong_calls.{name}").begin()


def say(**line: object) -> None:
    print(json.dumps(line), flush=True)


def answer(context: object, call: Call) -> dict[str, object]:
    """What a call is answered."""
    fixtures = Fixtures()
    try:
        return {"code": int(call(fixtures)[0])}  # type: ignore[call-overload]
    except Exception as problem:  # noqa: BLE001 - whatever it is, the call was not made
        return {"unmade": f"{type(problem).__name__}: {problem}"}
    finally:
        fixtures.close()
        if context is not None:
            cuda.cuCtxSetCurrent(context)


def sound(context: object) -> bool:
    """Whether the context has no error."""
    return context is None or cuda.cuCtxSynchronize() == (cuda.CUresult.CUDA_SUCCESS,)


def main() -> None:
    chapters = [*CHAPTERS, *(f"faults.{fault}" for fault in faults.FAULTS)]
    if len(sys.argv) == 1:
        say(**{chapter: list(calls_of(chapter)) for chapter in chapters})
        return
    wanted, *first = sys.argv[1:]
    context = begin(wanted.partition(",")[0])
    for chapter in wanted.split(","):
        for what, call in list(calls_of(chapter).items())[int(first[0]) if first else 0 :]:
            say(chapter=chapter, call=what)
            say(chapter=chapter, call=what, **answer(context, call))
            if first and not chapter.startswith("faults.") and not (trust.kept and sound(context)):
                return


if __name__ == "__main__":
    main()
