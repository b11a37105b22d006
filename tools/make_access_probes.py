"""Make kernels that only access memory, and a list of their launches, for `time_launches.py`.

    python tools/make_access_probes.py SET FOLDER
    python tools/time_launches.py time --list FOLDER/SET.toml --folder FOLDER
    python tools/time_launches.py profile --list FOLDER/SET.toml --folder FOLDER

`stores`: each thread writes some neighbouring words one after another, far from those of its last round. What
L1 sends together, and how long L2 takes for sectors and lines that are filled in part, is seen from the
sectors and the times. `loads`: each thread reads words in the same way; what DRAM delivers for lone sectors
is seen from its bytes. `atomics`: threads change words of shared or global memory, several of a warp the same
one, and other warps those words or others. `chains`: warps read one word after another, each when the last
has come. The records are bench/results/profiles.SET.h200.json and
times.SET.h200.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CTAS, THREADS, MOST_BYTES, MOST_ROUNDS = 132 * 8, 256, 1 << 29, 16
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
VECTORS = {1: "u32", 2: "v2.u32", 4: "v4.u32"}


@dataclass(frozen=True, slots=True)
class Words:
    """A kernel whose threads load or store words: of each round bytes from one thread to the next, accesses
    in a row, and words of one."""

    name: str
    stride: int
    count: int
    words: int
    loads: bool = False

    def kernel(self) -> str:
        """The PTX."""
        value = "%t" if self.words == 1 else "{" + ", ".join(["%t"] * self.words) + "}"
        vector, accesses = VECTORS[self.words], ""
        for at in range(self.count):
            offset = 4 * self.words * at
            if not self.loads:
                accesses += f"  st.global.{vector} [%a+{offset}], {value};\n"
                continue
            registers = [f"%v{4 * at + n}" for n in range(self.words)]
            into = registers[0] if self.words == 1 else "{" + ", ".join(registers) + "}"
            accesses += f"  ld.global.{vector} {into}, [%a+{offset}];\n"
        sums = "".join(
            f"  xor.b32 %s, %s, %v{4 * at + n};\n" for at in range(self.count) for n in range(self.words)
        )
        end = "  setp.eq.u32 %p, %s, 77;\n  @%p st.global.u32 [%x], %s;\n"
        return f"""\
.visible .entry {self.name}(.param .u64 x, .param .u32 rounds)
{{
  .reg .b64 %x, %a; .reg .b32 %t, %c, %n, %left, %s, %v<{4 * self.count}>; .reg .pred %p;
  ld.param.u64 %x, [x]; ld.param.u32 %left, [rounds];
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %s, 0;
  mad.lo.u32 %t, %c, %n, %t;
  mad.wide.u32 %a, %t, {self.stride}, %x;
ROUND:
{accesses}{sums if self.loads else ""}  add.u64 %a, %a, {CTAS * THREADS * self.stride};
  sub.u32 %left, %left, 1;
  setp.ne.u32 %p, %left, 0;
  @%p bra ROUND;
{end if self.loads else ""}  ret;
}}
"""

    def arguments(self) -> list[str]:
        """Its launch."""
        once = CTAS * THREADS * self.stride
        rounds = max(1, min(MOST_ROUNDS, MOST_BYTES // once))
        given = ["--arg", f"x=u8[{once * rounds + 65536}]:zeros", "--arg", f"rounds={rounds}"]
        return ["--entry", self.name, "--grid", str(CTAS), "--block", str(THREADS), *given]


@dataclass(frozen=True, slots=True)
class Changes:
    """A kernel whose threads change words over and over: the operation; how many neighbouring lanes change
    the same word; of how many words; whether each CTA has words of its own; CTAs and their threads."""

    name: str
    operation: str
    lanes: int
    words: int
    own: bool = True
    ctas: int = 132
    threads: int = 256
    rounds: int = 512

    def kernel(self) -> str:
        """The PTX."""
        kind = self.operation.rpartition(".")[2]
        size = 8 if kind in ("f64", "u64") else 4
        one = {"f32": "0f3F800000", "f64": "0d3FF0000000000000", "f16x2": "%one"}.get(kind, "1")
        shared = ".shared." in self.operation
        base = "mov.u64 %x, room;" if shared else "ld.param.u64 %x, [x];"
        own = "mad.lo.u32 %t, %c, %n, %t;" if self.own and not shared else ""
        changes = f"  {self.operation} [%x], {one};\n" * 8
        return f"""\
.visible .entry {self.name}(.param .u64 x)
{{
  .reg .b64 %x; .reg .b32 %t, %c, %n, %left, %one; .reg .pred %p;
  .shared .align 16 .b8 room[16384];
  {base} mov.u32 %one, 0x3c003c00;
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; {own}
  shr.u32 %t, %t, {self.lanes.bit_length() - 1};
  rem.u32 %t, %t, {self.words};
  mad.wide.u32 %x, %t, {size}, %x;
  mov.u32 %left, {self.rounds // 8};
ROUND:
{changes}  sub.u32 %left, %left, 1;
  setp.ne.u32 %p, %left, 0;
  @%p bra ROUND;
  ret;
}}
"""

    def arguments(self) -> list[str]:
        """Its launch."""
        given = ["--arg", "x=u8[8388608]:zeros"]
        return ["--entry", self.name, "--grid", str(self.ctas), "--block", str(self.threads), *given]


@dataclass(frozen=True, slots=True)
class Chain:
    """A kernel whose warps read one word after another, each when the last has come: bytes from one to the
    next, how many, and CTAs, which all read the same."""

    name: str
    stride: int
    count: int
    ctas: int

    def kernel(self) -> str:
        """The PTX."""
        return f"""\
.visible .entry {self.name}(.param .u64 x)
{{
  .reg .b64 %x, %a, %b; .reg .b32 %v, %left; .reg .pred %p;
  ld.param.u64 %x, [x]; mov.u64 %a, %x; mov.u32 %left, {self.count};
ROUND:
  ld.global.u32 %v, [%a];
  cvt.u64.u32 %b, %v;
  add.u64 %a, %a, %b;
  add.u64 %a, %a, {self.stride};
  sub.u32 %left, %left, 1;
  setp.ne.u32 %p, %left, 0;
  @%p bra ROUND;
  setp.eq.u64 %p, %a, 77;
  @%p st.global.u64 [%x], %a;
  ret;
}}
"""

    def arguments(self) -> list[str]:
        """Its launch."""
        given = ["--arg", f"x=u8[{self.stride * (self.count + 1)}]:zeros"]
        return ["--entry", self.name, "--grid", str(self.ctas), "--block", "32", *given]


def _atomics() -> Iterator[Changes]:
    """Of each operation in which way its words lie, and who else changes them."""
    for kind in ("add.u32", "add.f32", "add.f64", "add.noftz.f16x2"):
        short = kind.rpartition(".")[2]
        for lanes in (1, 2, 8, 32):
            yield Changes(f"shared_{short}_{lanes}", f"red.shared.{kind}", lanes, 32 // lanes, threads=32)
        yield Changes(f"shared_{short}_own", f"red.shared.{kind}", 1, 256)
        yield Changes(f"shared_{short}_same", f"red.shared.{kind}", 1, 32)
        yield Changes(f"shared_{short}_one", f"red.shared.{kind}", 32, 1)
    for kind in ("add.u32", "add.f32"):
        short = kind.rpartition(".")[2]
        for words in (1, 8, 64, 1024):
            for lanes in (1, 32):
                name = f"global_{short}_{words}_{lanes}"
                yield Changes(name, f"red.global.{kind}", lanes, words, False, 132 * 4, rounds=64)
        yield Changes(f"global_{short}_own", f"red.global.{kind}", 1, 1 << 20, True, 132 * 4, rounds=64)


SETS: dict[str, list[Words] | list[Changes] | list[Chain]] = {
    "stores": [
        Words("words_8x2", 8, 2, 1),
        Words("words_16x4", 16, 4, 1),
        Words("words_32x8", 32, 8, 1),
        Words("words_64x16", 64, 16, 1),
        Words("words_128x8", 128, 8, 1),
        Words("halves_32x2", 32, 2, 4),
        Words("quarters_16x2", 16, 2, 2),
        Words("word", 4, 1, 1),
        Words("four_words", 16, 1, 4),
        Words("lone_32", 32, 1, 1),
        Words("lone_64", 64, 1, 1),
        Words("lone_128", 128, 1, 1),
    ],
    "loads": [
        Words("load_word", 4, 1, 1, True),
        Words("load_four_words", 16, 1, 4, True),
        Words("load_32", 32, 1, 1, True),
        Words("load_64", 64, 1, 1, True),
        Words("load_128", 128, 1, 1, True),
        Words("load_256", 256, 1, 1, True),
        Words("load_128_first_half", 128, 4, 4, True),
        Words("load_128_three", 128, 6, 4, True),
    ],
    "atomics": list(_atomics()),
    "chains": [
        Chain(f"chain_{stride}_{ctas}", stride, 8192, ctas)
        for stride in (16, 32, 64, 128, 256, 4096)
        for ctas in (1, 128)
    ],
}


def main() -> None:
    """Make the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("set", choices=SETS, help="which kernels")
    parser.add_argument("folder", type=Path, help="where to")
    given = parser.parse_args()
    folder, kernels = given.folder, SETS[given.set]
    folder.mkdir(parents=True, exist_ok=True)
    made = HEAD + "".join(one.kernel() for one in kernels)
    (folder / f"{given.set}.ptx").write_text(made, encoding="utf-8")
    launches = (
        f"[[launch]]\nfile = {json.dumps(f'{given.set}.ptx')}\narguments = {json.dumps(one.arguments())}\n"
        for one in kernels
    )
    (folder / f"{given.set}.toml").write_text("\n".join(launches), encoding="utf-8")


if __name__ == "__main__":
    main()
