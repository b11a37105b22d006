"""The kinds of loads, stores, reductions of surfaces, and of queries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from compare.textures import make
from compare.textures.kinds import THREADS, Entry, coords, trials
from compare.textures.make import FORMATS
from compare.textures.model import AXES, ArraySpec, Kind, SamplerSpec, Trial

GEOMETRIES = ("1d", "2d", "3d", "a1d", "a2d")
COUNT = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}
ACCESSES = (("", "b8"), ("", "b16"), ("", "b32"), ("", "b64"), ("v2", "b8"), ("v2", "b16"), ("v2", "b32"),
            ("v2", "b64"), ("v4", "b8"), ("v4", "b16"), ("v4", "b32"))  # fmt: skip
"""The vectors and types of unformatted accesses."""
DATA = 4
"""Inputs that hold what a thread stores."""


def surfaces() -> Iterator[Entry]:
    """All kinds of `suld`, `sust` and `sured`."""
    for geometry in GEOMETRIES:
        for clamp in ("zero", "clamp", "trap"):
            yield from _unformatted(geometry, clamp)
    for geometry in GEOMETRIES[:3]:
        for clamp in ("zero", "clamp", "trap"):
            yield from _formatted(geometry, clamp)
            yield from _reductions(geometry, clamp)
    yield from _traps()


def _size(vec: str, kind: str) -> int:
    return int(kind[1:]) // 8 * int(vec[1:] or 1)


def _layers_inside(parts: list[np.ndarray], spec: ArraySpec) -> None:
    if spec.geometry.startswith("a"):
        parts[0] %= np.uint32(spec.layers)


def _place(
    rng: np.random.Generator, spec: ArraySpec, size: int, scale: int, clamp: str, threads: int = THREADS
) -> list[np.ndarray]:
    """Coordinates of accesses of `size` bytes, the first a multiple of them; outside unless it traps."""
    row = spec.width * spec.texel
    elements = row // size
    margin = 0 if clamp == "trap" else 2
    axes = AXES[spec.geometry]
    extents = (spec.height, spec.depth)[: axes - 1]
    x = rng.integers(-margin, elements + margin, threads) * (size if scale == 1 else 1)
    parts = [x, *(rng.integers(-margin, extent + margin, threads) for extent in extents)]
    if spec.geometry.startswith("a"):
        parts = [rng.integers(0, spec.layers + margin, threads), *parts]
    return [part.astype(np.int32).view(np.uint32) for part in parts]


def _surface(
    rng: np.random.Generator, geometry: str, size: int, formats: tuple[str, ...] = FORMATS
) -> ArraySpec:
    """A surface whose rows are multiples of an access."""
    while True:
        spec = make.array_of(rng, geometry, str(rng.choice(formats)), surface=True)
        if (spec.width * spec.texel) % size == 0:
            return spec


def _landing(spec: ArraySpec, parts: list[np.ndarray], size: int, scale: int, clamp: str) -> np.ndarray:
    """Where each access lands, as a number; -1 for nowhere."""
    steps = spec.width * spec.texel // size
    axes = AXES[spec.geometry]
    places = [part.view(np.int32).astype(np.int64) for part in parts]
    layer = places.pop(0) if spec.geometry.startswith("a") else np.zeros_like(places[0])
    places[0] = places[0] // (size if scale == 1 else 1)
    extents = [steps, spec.height, spec.depth][:axes] + [spec.layers]
    places = [*places, layer]
    number, inside = np.zeros_like(layer), np.ones(len(layer), bool)
    for place, extent in zip(reversed(places), reversed(extents), strict=True):
        inside &= (place >= 0) & (place < extent)
        number = number * extent + np.clip(place, 0, extent - 1)
    return number if clamp == "clamp" else np.where(inside, number, -1)


def _apart(landing: np.ndarray) -> np.ndarray:
    """The threads of which no two land at one place."""
    order = np.arange(len(landing))
    _, first = np.unique(landing, return_index=True)
    keep = np.zeros(len(landing), bool)
    keep[first] = True
    return order[keep | (landing < 0)]


def _registers(vec: str, kind: str, word: str) -> list[str]:
    """The registers of a vector: words as they are called, else what is converted to and from words."""
    names = {"b64": ("rd", 3), "b32": (word, 0)}.get(kind, ("h", 0))
    return [f"%{names[0]}{names[1] + n}" for n in range(int(vec[1:] or 1))]


def _load(geometry: str, clamp: str, vec: str, kind: str) -> str:
    """A load whose bits end in four outputs."""
    registers = _registers(vec, kind, "o")
    statements = [
        f"suld.b.{geometry}{'.' + vec if vec else ''}.{kind}.{clamp} {{{','.join(registers)}}}, "
        f"[%rd0, {coords(geometry)}]"
    ]
    used = len(registers)
    if kind == "b64":
        statements += [f"mov.b64 {{%o{2 * n},%o{2 * n + 1}}}, {name}" for n, name in enumerate(registers)]
        used *= 2
    elif kind != "b32":
        statements += [f"cvt.u32.u16 %o{n}, {name}" for n, name in enumerate(registers)]
    return "; ".join(statements + [f"mov.b32 %o{n}, 0" for n in range(used, 4)])


def _store(geometry: str, clamp: str, vec: str, kind: str, first: int) -> str:
    """A store of the inputs from `first` on."""
    registers = _registers(vec, kind, "i")
    statements = []
    if kind == "b64":
        statements = [
            f"mov.b64 {name}, {{%i{first + 2 * n},%i{first + 2 * n + 1}}}" for n, name in enumerate(registers)
        ]
    elif kind == "b32":
        registers = [f"%i{first + n}" for n in range(len(registers))]
    else:
        statements = [f"cvt.u16.u32 {name}, %i{first + n}" for n, name in enumerate(registers)]
    spelling = f"sust.b.{geometry}{'.' + vec if vec else ''}.{kind}.{clamp}"
    return "; ".join([*statements, f"{spelling} [%rd0, {coords(geometry)}], {{{','.join(registers)}}}"])


def _unformatted(geometry: str, clamp: str) -> Iterator[Entry]:
    count = COUNT[geometry]
    loads = tuple(_load(geometry, clamp, vec, kind) for vec, kind in ACCESSES)
    stores = tuple(_store(geometry, clamp, vec, kind, count) for vec, kind in ACCESSES)

    def load(rng: np.random.Generator, number: int) -> Trial:
        which = number % len(ACCESSES)
        size = _size(*ACCESSES[which])
        spec = _surface(rng, geometry, size)
        return Trial(
            which, spec, None, make.texels_of(rng, spec), np.stack(_place(rng, spec, size, 1, clamp))
        )

    def store(rng: np.random.Generator, number: int) -> Trial:
        which = number % len(ACCESSES)
        size = _size(*ACCESSES[which])
        spec = _surface(rng, geometry, size)
        parts = _place(rng, spec, size, 1, clamp)
        mine = _apart(_landing(spec, parts, size, 1, clamp))
        data = rng.integers(0, 1 << 32, (DATA, THREADS), dtype=np.uint32)
        return Trial(
            which, spec, None, make.texels_of(rng, spec), _some(np.concatenate([np.stack(parts), data]), mine)
        )

    yield Entry(Kind(f"suld.b.{geometry} {clamp}", loads, count, 4), trials(load, 32))
    kind = Kind(f"sust.b.{geometry} {clamp}", stores, count + DATA, 0, writes=True)
    yield Entry(kind, trials(store, 48))


def _some(inputs: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The inputs of some threads, the last of them again and again so that whole CTAs run."""
    padded = np.concatenate([chosen, np.full(THREADS - len(chosen), chosen[-1], chosen.dtype)])
    return inputs[:, padded]


def _formatted_store(geometry: str, clamp: str, number: int, first: int) -> str:
    values = ",".join(f"%i{first + n}" for n in range(number))
    vec = f"v{number}." if number > 1 else ""
    return f"sust.p.{geometry}.{vec}b32.{clamp} [%rd0, {coords(geometry)}], {{{values}}}"


def _formatted(geometry: str, clamp: str) -> Iterator[Entry]:
    count = COUNT[geometry]
    statements = tuple(_formatted_store(geometry, clamp, number, count) for number in (1, 2, 4))

    def one(rng: np.random.Generator, number: int) -> Trial:
        which = number % 3
        spec = make.array_of(rng, geometry, FORMATS[number % len(FORMATS)], (1, 2, 4)[which], surface=True)
        parts = _place(rng, spec, spec.texel, 0, clamp)
        mine = _apart(_landing(spec, parts, spec.texel, 0, clamp))
        data = rng.integers(0, 1 << 32, (DATA, THREADS), dtype=np.uint32)
        small = rng.random((DATA, THREADS)) < 0.5
        if spec.format.startswith("f"):
            data[small] = rng.normal(size=int(small.sum())).astype(np.float32).view(np.uint32)
        else:
            data[small] = rng.integers(-300, 300, int(small.sum())).astype(np.int32).view(np.uint32)
        return Trial(
            which, spec, None, make.texels_of(rng, spec), _some(np.concatenate([np.stack(parts), data]), mine)
        )

    kind = Kind(f"sust.p.{geometry} {clamp}", statements, count + DATA, 0, writes=True)
    yield Entry(kind, trials(one, 48))


BYTES = tuple(
    [(op, kind) for op in ("add",) for kind in ("u32", "s32", "u64")]
    + [(op, kind) for op in ("min", "max") for kind in ("u32", "s32", "u64", "s64")]
    + [(op, "b32") for op in ("and", "or")]
)
SAMPLES = tuple(
    [(op, "b32") for op in ("add", "min", "max", "and", "or")] + [(op, "b64") for op in ("min", "max")]
)


def _reduction(spelling: str, geometry: str, kind: str, first: int) -> str:
    if kind.endswith("64"):
        return f"mov.b64 %rd3, {{%i{first},%i{first + 1}}}; {spelling} [%rd0, {coords(geometry)}], %rd3"
    return f"{spelling} [%rd0, {coords(geometry)}], %i{first}"


def _reductions(geometry: str, clamp: str) -> Iterator[Entry]:
    count = COUNT[geometry]
    for way, cases in (("b", BYTES), ("p", SAMPLES)):
        statements = tuple(
            _reduction(f"sured.{way}.{op}.{geometry}.{kind}.{clamp}", geometry, kind, count)
            for op, kind in cases
        )

        def one(
            rng: np.random.Generator, number: int, way: str = way, cases: tuple[tuple[str, str], ...] = cases
        ) -> Trial:
            which = number % len(cases)
            size = int(cases[which][1][1:]) // 8
            if way == "p":
                spec = make.array_of(
                    rng, geometry, ("u32", "s32")[number // len(cases) % 2], size // 4, surface=True
                )
            else:
                spec = _surface(rng, geometry, size, ("u32", "s32", "f32", "u8"))
            parts = _place(rng, spec, size, 1 if way == "b" else 0, clamp)
            data = rng.integers(0, 1 << 32, (2, THREADS), dtype=np.uint32)
            return Trial(
                which, spec, None, make.texels_of(rng, spec), np.concatenate([np.stack(parts), data])
            )

        kind = Kind(f"sured.{way}.{geometry} {clamp}", statements, count + 2, 0, writes=True)
        yield Entry(kind, trials(one, 2 * len(statements)))


def _traps() -> Iterator[Entry]:
    """Accesses outside that must end the launch."""
    for name, statement in (
        ("suld", "suld.b.2d.b32.trap %o0, [%rd0, {%i0,%i1}]"),
        ("sust", "sust.b.2d.b32.trap [%rd0, {%i0,%i1}], %i0; mov.b32 %o0, 0"),
    ):

        def one(rng: np.random.Generator, number: int) -> Trial:
            spec = ArraySpec("2d", "u32", 1, 8, 4, surface=True)
            inputs = np.zeros((2, THREADS), np.uint32)
            inputs[1, 5] = 4
            return Trial(0, spec, None, make.texels_of(rng, spec), inputs)

        yield Entry(Kind(f"{name} that traps", (statement,), 2, 1, "fault", alone=True), trials(one, 1))


# ---- queries


def queries() -> Iterator[Entry]:
    """All kinds of `txq`, `suq` and `istypep`."""
    for geometry in (*GEOMETRIES, "cube", "acube"):
        names = ("width", "height", "depth")
        statement = "; ".join(f"txq.{name}.b32 %o{n}, [%rd0]" for n, name in enumerate(names))

        def one(rng: np.random.Generator, number: int, geometry: str = geometry) -> Trial:
            spec = make.array_of(rng, geometry, FORMATS[number % len(FORMATS)])
            inputs = np.zeros((1, THREADS), np.uint32)
            return Trial(0, spec, make.sampler_of(rng, False, False), make.texels_of(rng, spec), inputs)

        yield Entry(Kind(f"txq.{geometry} extents", (statement,), 1, 3), trials(one))
        statement = "; ".join(f"txq.level.{name}.b32 %o{n}, [%rd0], %i0" for n, name in enumerate(names))

        def level(rng: np.random.Generator, number: int, geometry: str = geometry) -> Trial:
            spec = make.mipmap_of(rng, geometry, "f32")
            inputs = rng.integers(0, spec.levels, (1, THREADS)).astype(np.uint32)
            sampler = SamplerSpec(normalized=True, highest=16.0)
            return Trial(0, spec, sampler, make.texels_of(rng, spec), inputs)

        yield Entry(Kind(f"txq.level.{geometry} extents", (statement,), 1, 3), trials(level))
    for geometry in GEOMETRIES:
        statement = "; ".join(f"suq.{name}.b32 %o{n}, [%rd0]" for n, name in enumerate(names))

        def surface(rng: np.random.Generator, number: int, geometry: str = geometry) -> Trial:
            spec = make.array_of(rng, geometry, FORMATS[number % len(FORMATS)], surface=True)
            return Trial(0, spec, None, make.texels_of(rng, spec), np.zeros((1, THREADS), np.uint32))

        yield Entry(Kind(f"suq.{geometry} extents", (statement,), 1, 3), trials(surface))
    yield from _fields()


FIELDS = (
    "channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples filter_mode "
    "addr_mode_0 addr_mode_1 addr_mode_2"
).split()


def _fields() -> Iterator[Entry]:
    """What ptxas reads from a table of the driver's, which may not be there."""
    for field in FIELDS:

        def texture(rng: np.random.Generator, number: int) -> Trial:
            spec = make.array_of(rng, "a2d" if number & 1 else "2d", FORMATS[number % len(FORMATS)])
            sampler = make.sampler_of(rng, bool(number & 2), bool(number & 4))
            return Trial(0, spec, sampler, make.texels_of(rng, spec), np.zeros((1, THREADS), np.uint32))

        note = "ptxas reads this field from a table of the driver"
        statement = f"txq.{field}.b32 %o0, [%rd0]"
        yield Entry(Kind(f"txq.{field}", (statement,), 1, 1, alone=True, note=note), trials(texture))
    for field in ("channel_data_type", "channel_order", "array_size", "memory_layout"):

        def surface(rng: np.random.Generator, number: int) -> Trial:
            spec = make.array_of(
                rng, "a2d" if number & 1 else "2d", FORMATS[number % len(FORMATS)], surface=True
            )
            return Trial(0, spec, None, make.texels_of(rng, spec), np.zeros((1, THREADS), np.uint32))

        statement = f"suq.{field}.b32 %o0, [%rd0]"
        yield Entry(Kind(f"suq.{field}", (statement,), 1, 1, alone=True, note=note), trials(surface))
    statement = (
        "; ".join(
            f"istypep.{kind} %p{n}, %rd0; selp.b32 %o{n}, 1, 0, %p{n}"
            for n, kind in enumerate(("texref", "samplerref", "surfref"))
        )
        + "; mov.b64 {%o3,%o4}, %rd0"
    )
    for name in ("texture", "surface"):

        def typed(rng: np.random.Generator, number: int, name: str = name) -> Trial:
            spec = make.array_of(rng, "2d", "f32", surface=name == "surface")
            sampler = None if name == "surface" else SamplerSpec()
            return Trial(0, spec, sampler, make.texels_of(rng, spec), np.zeros((1, THREADS), np.uint32))

        note = "two more outputs are the handle, which devices choose freely"
        yield Entry(Kind(f"istypep of a {name}", (statement,), 1, 5, "types", note=note), trials(typed))
