"""Make kernels that only store, and a list of their launches, for `time_launches.py`.

    python tools/make_store_probes.py FOLDER
    python tools/time_launches.py time --list FOLDER/stores.toml --folder FOLDER
    python tools/time_launches.py profile --list FOLDER/stores.toml --folder FOLDER

Each thread writes some neighbouring words one after another, far from those of its last round. What L1 sends
together, and how long L2 takes for sectors and lines that are filled in part, is seen from the sectors and
the times: bench/results/profiles.stores.h200.json, times.stores.h200.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

CTAS, THREADS, MOST_BYTES, MOST_ROUNDS = 132 * 8, 256, 1 << 28, 16
SHAPES = {
    "words_8x2": (8, 2, 1),
    "words_16x4": (16, 4, 1),
    "words_32x8": (32, 8, 1),
    "words_64x16": (64, 16, 1),
    "words_128x8": (128, 8, 1),
    "halves_32x2": (32, 2, 4),
    "quarters_16x2": (16, 2, 2),
    "word": (4, 1, 1),
    "four_words": (16, 1, 4),
}
"""Of each kernel the bytes from one thread to the next, its stores in a row, and the words of a store."""
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel(name: str, stride: int, count: int, words: int) -> str:
    """The PTX of a kernel."""
    vector = {1: "u32", 2: "v2.u32", 4: "v4.u32"}[words]
    value = "%t" if words == 1 else "{" + ", ".join(["%t"] * words) + "}"
    stores = "".join(f"  st.global.{vector} [%a+{4 * words * at}], {value};\n" for at in range(count))
    return f"""\
.visible .entry {name}(.param .u64 x, .param .u32 rounds)
{{
  .reg .b64 %x, %a; .reg .b32 %t, %c, %n, %left; .reg .pred %p;
  ld.param.u64 %x, [x]; ld.param.u32 %left, [rounds];
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;
  mad.lo.u32 %t, %c, %n, %t;
  mad.wide.u32 %a, %t, {stride}, %x;
ROUND:
{stores}  add.u64 %a, %a, {CTAS * THREADS * stride};
  sub.u32 %left, %left, 1;
  setp.ne.u32 %p, %left, 0;
  @%p bra ROUND;
  ret;
}}
"""


def launch(name: str, stride: int) -> str:
    """Its launch, as lists have them."""
    once = CTAS * THREADS * stride
    rounds = max(1, min(MOST_ROUNDS, MOST_BYTES // once))
    values = [f"x=u8[{once * rounds + 65536}]:zeros", f"rounds={rounds}"]
    words = ["--entry", name, "--grid", str(CTAS), "--block", str(THREADS)]
    for value in values:
        words += ["--arg", value]
    return f"[[launch]]\nfile = {json.dumps('stores.ptx')}\narguments = {json.dumps(words)}\n"


def main() -> None:
    """Make the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    made = HEAD + "".join(kernel(name, *shape) for name, shape in SHAPES.items())
    (folder / "stores.ptx").write_text(made, encoding="utf-8")
    launches = "\n".join(launch(name, shape[0]) for name, shape in SHAPES.items())
    (folder / "stores.toml").write_text(launches, encoding="utf-8")


if __name__ == "__main__":
    main()
