"""Modules: images that are none, names that are missing, modules that are gone."""

from __future__ import annotations

import ctypes

from kernels import NEXT, begin

from wrong_calls.fixtures import Call, Fixtures, halves, misused, place, raw, room, text

__all__ = ["CALLS", "begin"]

HEAD = b".version 8.0\n.target sm_80\n.address_size 64\n"
ENTRY = b".visible .entry k()\n{\n%s\n ret;\n}\n"


def load(image: bytes) -> tuple[int]:
    """A module of an image."""
    return raw("cuModuleLoadData", place(), text(image))


def _written(version: bytes, target: bytes, size: bytes = b"64", body: bytes = b"") -> tuple[int]:
    head = b".version %s\n.target %s\n.address_size %s\n" % (version, target, size)
    return load(head + ENTRY % body)


def _with_log(f: Fixtures) -> tuple[int]:
    """PTX that is none, with a log."""
    log = room()
    address = ctypes.addressof(log)
    names, values = place(5, 6), place(*halves(address), 64, 0)
    return raw("cuModuleLoadDataEx", place(), text(b".version 8.0\n.nonsense"), 2, names, values)


def _with_option(number: int, value: int) -> tuple[int]:
    values = place(*halves(value))
    return raw("cuModuleLoadDataEx", place(), text(NEXT), 1, place(number), values)


CALLS: dict[str, Call] = {
    "no image": lambda _: raw("cuModuleLoadData", place(), 0),
    "a module, nowhere": lambda _: raw("cuModuleLoadData", 0, text(NEXT)),
    "an image that is empty": lambda _: load(b""),
    "an image that is none": lambda _: load(b"nothing of the kind"),
    "an image of zeroes": lambda _: raw("cuModuleLoadData", place(), place()),
    "PTX that is none": lambda _: load(HEAD + b".nonsense\n"),
    "PTX with a letter too many": lambda _: load(NEXT.replace(b"ret;", b"rett;")),
    "PTX that ends too early": lambda _: load(NEXT[: len(NEXT) // 2]),
    "PTX without a version": lambda _: load(b".target sm_80\n" + ENTRY % b""),
    "PTX without a target": lambda _: load(b".version 8.0\n" + ENTRY % b""),
    "PTX of a version that there is not": lambda _: _written(b"99.0", b"sm_80"),
    "PTX of a version before all": lambda _: _written(b"0.1", b"sm_80"),
    "PTX for a target that there is not": lambda _: _written(b"8.0", b"sm_999"),
    "PTX for a later GPU": lambda _: _written(b"8.7", b"sm_120"),
    "PTX for another GPU alone": lambda _: _written(b"8.7", b"sm_120a"),
    "PTX for another GPU before alone": lambda _: _written(b"8.7", b"sm_100a"),
    "PTX for a target that its version lacks": lambda _: _written(b"6.0", b"sm_90"),
    "PTX of 32 bits": lambda _: _written(b"8.0", b"sm_80", b"32"),
    "PTX with a register that is not declared": lambda _: _written(
        b"8.0", b"sm_80", body=b" mov.u32 %r1, 0;"
    ),
    "PTX with an instruction of another target": lambda _: _written(
        b"8.0", b"sm_80", body=b" setmaxnreg.inc.sync.aligned.u32 32;"
    ),
    "PTX with a label that is not there": lambda _: _written(b"8.0", b"sm_80", body=b" bra NOWHERE;"),
    "PTX that calls what is declared alone": lambda _: load(
        HEAD + b".extern .func missing();\n" + ENTRY % b" call missing;"
    ),
    "PTX with a variable that is declared alone": lambda _: load(
        HEAD + b".extern .global .u32 missing;\n.visible .entry k()\n{\n .reg .u32 %r;\n"
        b" ld.global.u32 %r, [missing];\n st.global.u32 [missing], %r;\n ret;\n}\n"
    ),
    "PTX with a kernel twice": lambda _: load(HEAD + ENTRY % b"" + ENTRY % b""),
    "PTX with too much shared memory": lambda _: load(
        HEAD + b".visible .entry k()\n{\n .shared .b8 much[100000];\n .reg .u32 %r;\n"
        b" mov.u32 %r, much;\n st.shared.u32 [%r], %r;\n ret;\n}\n"
    ),
    "PTX of no kernels": lambda _: load(HEAD),
    "machine code of nothing": lambda _: load(b"\x7fELF" + bytes(60)),
    "machine code of nothing for a host": lambda _: load(b"\x7fELF\x02\x01\x01" + bytes(57)),
    "a fat binary of nothing": lambda _: load((0xBA55ED50).to_bytes(4, "little") + bytes(60)),
    "a wrapper of no fat binary": lambda _: load((0x466243B1).to_bytes(4, "little") + bytes(60)),
    "no fat binary": lambda _: raw("cuModuleLoadFatBinary", place(), 0),
    "PTX that is none, with a log": _with_log,
    "an option that there is not": lambda _: _with_option(777, 0),
    "a negative option": lambda _: _with_option(-1, 0),
    "registers at most: 0": lambda _: _with_option(0, 0),
    "an optimisation of level 77": lambda _: _with_option(7, 77),
    "a target that there is not as an option": lambda _: _with_option(9, 777),
    "an earlier target as an option": lambda _: _with_option(9, 70),
    "options, from nowhere": lambda _: raw("cuModuleLoadDataEx", place(), text(NEXT), 1, 0, 0),
    "a file that is not there": lambda _: raw("cuModuleLoad", place(), text(b"/nothing/there.ptx")),
    "a file that is a folder": lambda _: raw("cuModuleLoad", place(), text(b"/")),
    "a file that is empty": lambda _: raw("cuModuleLoad", place(), text(b"/dev/null")),
    "a file without a name": lambda _: raw("cuModuleLoad", place(), 0),
    "a module is unloaded twice": lambda f: raw("cuModuleUnload", f.unloaded),
    "no module is unloaded": lambda _: raw("cuModuleUnload", 0),
    "a kernel that is not there": lambda f: raw("cuModuleGetFunction", place(), f.module, text(b"none")),
    "a kernel without a name": lambda f: raw("cuModuleGetFunction", place(), f.module, text(b"")),
    "a kernel of a null name": lambda f: raw("cuModuleGetFunction", place(), f.module, 0),
    "a kernel, nowhere": lambda f: raw("cuModuleGetFunction", 0, f.module, text(b"next")),
    "a kernel of no module": lambda _: raw("cuModuleGetFunction", place(), 0, text(b"next")),
    "a kernel of an unloaded module": lambda f: raw(
        "cuModuleGetFunction", place(), f.unloaded, text(b"next")
    ),
    "a kernel of a library as a module": lambda f: raw(
        "cuModuleGetFunction", place(), misused(f.library), text(b"next")
    ),
    "a variable that is not there": lambda f: raw(
        "cuModuleGetGlobal_v2", place(), place(), f.module, text(b"none")
    ),
    "a kernel as a variable": lambda f: raw(
        "cuModuleGetGlobal_v2", place(), place(), f.module, text(b"next")
    ),
    "a variable of a null name": lambda f: raw("cuModuleGetGlobal_v2", place(), place(), f.module, 0),
    "a variable of no module": lambda _: raw("cuModuleGetGlobal_v2", place(), place(), 0, text(b"none")),
    "a texture that is not there": lambda f: raw("cuModuleGetTexRef", place(), f.module, text(b"none")),
    "a surface that is not there": lambda f: raw("cuModuleGetSurfRef", place(), f.module, text(b"none")),
    "the number of kernels of no module": lambda _: raw("cuModuleGetFunctionCount", place(), 0),
    "the number of kernels, nowhere": lambda f: raw("cuModuleGetFunctionCount", 0, f.module),
    "0 of the kernels of a module": lambda f: raw("cuModuleEnumerateFunctions", place(), 0, f.module),
    "the kernels of a module, nowhere": lambda f: raw("cuModuleEnumerateFunctions", 0, 1, f.module),
    "the mode of loading, nowhere": lambda _: raw("cuModuleGetLoadingMode", 0),
    "the module of no kernel": lambda _: raw("cuFuncGetModule", place(), 0),
    "the module of a kernel, nowhere": lambda f: raw("cuFuncGetModule", 0, f.function),
    "the name of no kernel": lambda _: raw("cuFuncGetName", place(), 0),
    "the name of a kernel, nowhere": lambda f: raw("cuFuncGetName", 0, f.function),
    "whether no kernel is loaded": lambda _: raw("cuFuncIsLoaded", place(), 0),
    "no kernel is loaded": lambda _: raw("cuFuncLoad", 0),
}
