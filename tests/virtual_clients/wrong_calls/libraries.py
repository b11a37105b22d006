"""Libraries and their kernels."""

from __future__ import annotations

from bindings import check
from cuda.bindings import driver as cuda
from kernels import NEXT, begin

from wrong_calls.fixtures import Call, Fixtures, misused, place, raw, text

__all__ = ["CALLS", "begin"]


def _load(image: bytes) -> tuple[int]:
    return raw("cuLibraryLoadData", place(), text(image), 0, 0, 0, 0, 0, 0)


def _gone_kernel(_: Fixtures) -> object:
    """A kernel whose library was unloaded."""
    library = check(cuda.cuLibraryLoadData(NEXT, None, None, 0, None, None, 0))
    made = check(cuda.cuLibraryGetKernel(library, b"next"))
    check(cuda.cuLibraryUnload(library))
    return misused(made)


CALLS: dict[str, Call] = {
    "no image": lambda _: raw("cuLibraryLoadData", place(), 0, 0, 0, 0, 0, 0, 0),
    "a library, nowhere": lambda _: raw("cuLibraryLoadData", 0, text(NEXT), 0, 0, 0, 0, 0, 0),
    "an image that is empty": lambda _: _load(b""),
    "an image that is none": lambda _: _load(b"nothing of the kind"),
    "PTX that is none": lambda _: _load(b".version 8.0\n.target sm_80\n.nonsense\n"),
    "machine code of nothing": lambda _: _load(b"\x7fELF" + bytes(60)),
    "PTX for another GPU": lambda _: _load(
        b".version 8.7\n.target sm_120a\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n"
    ),
    "an option that there is not": lambda _: raw(
        "cuLibraryLoadData", place(), text(NEXT), 0, 0, 0, place(777), place(), 1
    ),
    "options, from nowhere": lambda _: raw("cuLibraryLoadData", place(), text(NEXT), 0, 0, 1, 0, 0, 0),
    "a file that is not there": lambda _: raw(
        "cuLibraryLoadFromFile", place(), text(b"/nothing/there.ptx"), 0, 0, 0, 0, 0, 0
    ),
    "a file without a name": lambda _: raw("cuLibraryLoadFromFile", place(), 0, 0, 0, 0, 0, 0, 0),
    "a library is unloaded twice": lambda f: raw("cuLibraryUnload", f.unloaded_library),
    "no library is unloaded": lambda _: raw("cuLibraryUnload", 0),
    "a module is unloaded as a library": lambda f: raw("cuLibraryUnload", misused(f.module)),
    "a kernel that is not there": lambda f: raw("cuLibraryGetKernel", place(), f.library, text(b"none")),
    "a kernel of a null name": lambda f: raw("cuLibraryGetKernel", place(), f.library, 0),
    "a kernel, nowhere": lambda f: raw("cuLibraryGetKernel", 0, f.library, text(b"next")),
    "a kernel of no library": lambda _: raw("cuLibraryGetKernel", place(), 0, text(b"next")),
    "a kernel of an unloaded library": lambda f: raw(
        "cuLibraryGetKernel", place(), f.unloaded_library, text(b"next")
    ),
    "the number of kernels of no library": lambda _: raw("cuLibraryGetKernelCount", place(), 0),
    "the kernels, nowhere": lambda f: raw("cuLibraryEnumerateKernels", 0, 1, f.library),
    "the module of no library": lambda _: raw("cuLibraryGetModule", place(), 0),
    "the module, nowhere": lambda f: raw("cuLibraryGetModule", 0, f.library),
    "the module of an unloaded library": lambda f: raw("cuLibraryGetModule", place(), f.unloaded_library),
    "a variable that is not there": lambda f: raw(
        "cuLibraryGetGlobal", place(), place(), f.library, text(b"none")
    ),
    "a kernel as a variable": lambda f: raw("cuLibraryGetGlobal", place(), place(), f.library, text(b"next")),
    "a managed variable that is not there": lambda f: raw(
        "cuLibraryGetManaged", place(), place(), f.library, text(b"none")
    ),
    "a unified function that is not there": lambda f: raw(
        "cuLibraryGetUnifiedFunction", place(), f.library, text(b"none")
    ),
    "the function of no kernel": lambda _: raw("cuKernelGetFunction", place(), 0),
    "the function of a gone kernel": lambda f: raw("cuKernelGetFunction", place(), _gone_kernel(f)),
    "the function, nowhere": lambda f: raw("cuKernelGetFunction", 0, f.kernel),
    "the library of no kernel": lambda _: raw("cuKernelGetLibrary", place(), 0),
    "the name of no kernel": lambda _: raw("cuKernelGetName", place(), 0),
    "the name, nowhere": lambda f: raw("cuKernelGetName", 0, f.kernel),
    "an attribute that there is not": lambda f: raw("cuKernelGetAttribute", place(), 77, f.kernel, 0),
    "an attribute of no kernel": lambda _: raw("cuKernelGetAttribute", place(), 0, 0, 0),
    "an attribute on a device that is not there": lambda f: raw(
        "cuKernelGetAttribute", place(), 0, f.kernel, 99
    ),
    "an attribute, nowhere": lambda f: raw("cuKernelGetAttribute", 0, 0, f.kernel, 0),
    "an attribute is set that can't be": lambda f: raw("cuKernelSetAttribute", 0, 64, f.kernel, 0),
    "an attribute is set that there is not": lambda f: raw("cuKernelSetAttribute", 77, 64, f.kernel, 0),
    "too much shared memory": lambda f: raw("cuKernelSetAttribute", 8, 1 << 20, f.kernel, 0),
    "less than no shared memory": lambda f: raw("cuKernelSetAttribute", 8, -1, f.kernel, 0),
    "a preference of the cache that there is not": lambda f: raw("cuKernelSetCacheConfig", f.kernel, 77, 0),
    "a parameter that there is not": lambda f: raw("cuKernelGetParamInfo", f.kernel, 2, place(), place()),
    "a parameter of no kernel": lambda _: raw("cuKernelGetParamInfo", 0, 0, place(), place()),
    "a parameter, nowhere": lambda f: raw("cuKernelGetParamInfo", f.kernel, 0, 0, 0),
}
