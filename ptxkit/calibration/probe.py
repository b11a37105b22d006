"""The microbenchmarks of `probes.toml`: their PTX, and which of them a figure needs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import nan
from typing import Any

from ptxkit.diagnostics import error, listing

GIVEN = ("sm_count", "clock", "l2_size", "floor")
"""What figures may name beside values of probes: the driver's, and an empty launch between events."""
OF_A_CTA = 262_144
"""Bytes of data for each CTA where a probe says nothing else."""

_SUMS = {
    "u": "xor.b32 %sum, %sum, {name};",
    "x": "mov.b32 %low, {name}; xor.b32 %sum, %sum, %low;",
    "d": "mov.b64 {{%low, %high}}, {name}; xor.b32 %sum, %sum, %low; xor.b32 %sum, %sum, %high;",
    "l": "mov.b64 {{%low, %high}}, {name}; xor.b32 %sum, %sum, %low; xor.b32 %sum, %sum, %high;",
}
"""How registers get into the sum that keeps ptxas from dropping them."""
_FIRST = {
    "u": "add.u32 {name}, %thread, {number};",
    "x": "add.u32 %low, %thread, {number}; cvt.rn.f32.u32 {name}, %low;",
    "d": "add.u32 %low, %thread, {number}; cvt.rn.f64.u32 {name}, %low;",
    "l": "add.u32 %low, %thread, {number}; cvt.u64.u32 {name}, %low;",
}
"""How they begin."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A microbenchmark; `probes.toml` says what each field means."""

    name: str
    frame: str = field(repr=False)
    texts: Mapping[str, str] = field(repr=False)
    body: str = ""
    sass: Mapping[str, int] = field(default_factory=dict)
    setup: str = ""
    finish: str = ""
    target: str = "sm_80"
    unit: str = "cycles"
    threads: int = 32
    ctas: int | str = 1
    cluster: int = 1
    unroll: int = 16
    chains: int = 1
    rounds: tuple[int, int] = (8, 40)
    chain: tuple[int, int] | None = None
    bytes: int | str = 0
    shared: int | str = 0
    cold: bool = False
    vary: str = "rounds"

    def text(self) -> str:
        """Its PTX."""
        body = "\n".join(self._copy(number) for number in range(self.unroll))
        names = sorted({(match[1], int(match[2])) for match in re.finditer(r"%([uxdl])(\d+)\b", body)})

        def each(of: Mapping[str, str]) -> str:
            return "\n".join(of[kind].format(name=f"%{kind}{n}", number=n) for kind, n in names)

        return (self._inserted(self.frame) + "\n").format(
            target=self.target,
            threads=self.threads,
            values=each(_FIRST),
            setup=self._inserted(self.setup),
            body=body,
            finish=self._inserted(self.finish),
            sums=each(_SUMS),
        )

    def data_bytes(self, ctas: int) -> int:
        """Bytes of its data, if so many CTAs run."""
        if self.chain is not None:
            return self.chain[0]
        return int(_computed(str(self.bytes), {"threads": ctas * self.threads})) or OF_A_CTA * ctas

    def _copy(self, number: int) -> str:
        """One copy of the body."""
        text = re.sub(
            r"\$(\d+)\{(.*;)\}",
            lambda m: "\n".join(m[2].replace("$k", str(k)) for k in range(int(m[1]))),
            self._inserted(self.body),
        )
        text = re.sub(
            r"\$x(\d+):(\d+)",
            lambda m: ", ".join(f"%x{n}" for n in range(int(m[1]), int(m[1]) + int(m[2]))),
            text,
        )
        text = text.replace("$n", str(number)).replace("$i", str(number % self.chains))
        # Constant offsets are written as products.
        return re.sub(r"\+(\d+)\*(\d+)\]", lambda m: f"+{int(m[1]) * int(m[2])}]", text)

    def _inserted(self, text: str) -> str:
        """With the texts that several probes share."""
        for name, shared in (*self.texts.items(), *self.texts.items()):  # A text may name another.
            text = re.sub(rf"\${name}\b", shared.strip().replace("\\", r"\\"), text)
        return text.strip()


@dataclass(frozen=True, slots=True)
class Figures:
    """What a figure is made of.

    Attributes:
        probes: by name, in order.
        formulas: of each figure, of names of probes, of other figures and of `GIVEN`.
    """

    probes: Mapping[str, Probe]
    formulas: Mapping[str, str]

    def chosen(self, only: Iterable[str]) -> list[str]:
        """The figures of these names, and those that they are made of, in the table's order; all, if of none.

        Raises:
            PtxkitError: P560, there is no such figure.
        """
        wanted: set[str] = set()
        left = list(only) or list(self.formulas)
        while left:
            name = left.pop()
            if name not in self.formulas:
                raise error("P560", f"expected a figure, found `{name}`", help=f"{listing(self.formulas)}")
            if name not in wanted:
                wanted.add(name)
                left += [one for one in names_of(self.formulas[name]) if one in self.formulas and one != name]
        return [name for name in self.formulas if name in wanted]

    def needed(self, chosen: Iterable[str]) -> list[Probe]:
        """The probes that these figures are made of."""
        names = {name.removesuffix("_start") for one in chosen for name in names_of(self.formulas[one])}
        return [probe for probe in self.probes.values() if probe.name in names]

    def values(self, chosen: Iterable[str], measured: Mapping[str, float]) -> dict[str, float]:
        """These figures, as far as what they are made of was measured."""
        known, found = dict(measured), dict[str, float]()
        left = list(chosen)
        while ready := [
            one
            for one in left
            if all(
                name in known and (name not in left or name == one) for name in names_of(self.formulas[one])
            )
        ]:
            for one in ready:
                known[one] = found[one] = _computed(self.formulas[one], known)
                left.remove(one)
        return {name: found[name] for name in self.formulas if name in found}


@cache
def figures() -> Figures:
    """The table."""
    given = tomllib.loads((files("ptxkit.calibration") / "probes.toml").read_text("utf-8"))
    probes = {}
    for one in given["probe"]:
        pairs = {name: tuple(one[name]) for name in ("rounds", "chain") if name in one}
        probes[one["name"]] = Probe(**{"frame": given["frame"], "texts": given["texts"], **one, **pairs})
    return Figures(probes, given["figures"])


@cache
def names_of(formula: str) -> tuple[str, ...]:
    """What a formula names."""
    return tuple(dict.fromkeys(re.findall(r"[a-z]\w*", formula)))


def _computed(formula: str, names: Mapping[str, Any]) -> float:
    """The value of a formula of the table; no number where something takes no time."""
    try:
        return float(eval(formula, {"__builtins__": {}}, dict(names)))
    except ZeroDivisionError:
        return nan
