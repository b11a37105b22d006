"""When Python looks for garbage cycles: rarely while a command starts, as ever in somebody else's process."""

import subprocess
import sys

import pytest

from ptxkit.support.collector import FIRST, LATER

MAIN = "import sys; from ptxkit.__main__ import main; "
RUN = ["run", "gemv.ptx", "--device", "emu"]
LAUNCH = """
from ptxkit.emulator import Emulator
text = '.version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }'
Emulator().load(text).kernel().launch(1, 1, [])
"""


@pytest.mark.parametrize(
    ("code", "threshold", "frozen"),
    [
        (f"{MAIN} sys.argv[1:] = {RUN}; main()", LATER, True),
        (f"{MAIN} sys.argv[1:] = ['kernels']; main()", FIRST, False),
        (f"{MAIN} main({RUN})", None, False),
        (LAUNCH, None, False),
    ],
    ids=["a command that launches", "one that doesn't", "one within a program", "a library's launch"],
)
def test_cycles_are_sought_rarely_until_a_command_launches(
    code: str, threshold: int | None, frozen: bool
) -> None:
    told = "import gc, sys\nbefore = gc.get_threshold()[0]\n" + code
    told += "\nprint(gc.get_threshold()[0], before, gc.get_freeze_count(), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    now, before, stays = map(int, done.stderr.split())
    assert now == (before if threshold is None else threshold)
    assert (stays > 0) == frozen


DROPPED = """
import gc
from ptxkit.asm.gc_pause import gc_paused

class Circle:
    def __init__(self):
        self.itself = self

for _ in range(300):
    with gc_paused():
        made = [Circle() for _ in range(1000)]
print(sum(isinstance(one, Circle) for one in gc.get_objects()))
"""


def test_what_is_dropped_between_pauses_is_collected() -> None:
    """A pause begins the collector's count anew: it would never come to what trees hold in circles."""
    done = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150_000
