"""Feed the assembler mutated PTX: whatever the text, the answer must be diagnostics.

    python tools/fuzz.py [--cases 1000000] [--seed 0] [--processes 1] [--seconds S] [--output FILE]
    python tools/fuzz.py --join FILE.. [--output FILE]  one document of several runs
    python tools/fuzz.py --seed 0 --show 1234          print case 1234, and what becomes of it

Seeds are the corpus, the kernels of this repository, statements made from every row of the instruction set,
and generated trees. A case is made from them by up to thirty mutations of bytes, of tokens and of statements;
its number and the run's seed decide it alone. `examine` says what must hold of each: no exception, no more
than SECONDS of the processor and MEMORY, the text written back byte for byte, formatted to the same tree,
findings that render. Writes bench/results/fuzz.json, now and then while it runs; a case that fails is
printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import ptxkit
from ptxkit.asm import parse as parse_module
from ptxkit.asm.check import check
from ptxkit.asm.tree import Malformed, Module, walk
from ptxkit.diagnostics import code_info, render_text
from ptxkit.isa import registry, sample
from ptxkit.machine.provenance import provenance

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("PTXKIT_CORPUS", ROOT / "tests" / "corpus"))
OUTPUT = ROOT / "bench" / "results" / "fuzz.json"
SECONDS = 10
"""Of the processor, that one case may take."""
MEMORY = 2 << 30
"""Bytes of address space that a process may take, over all its cases."""
CHUNK = 1000
"""Cases that a process takes at a time."""
KINDS = {"statements": 745, "piece": 235, "tree": 18, "file": 2}
"""What a case is made from, and its share in a thousand."""
TREES = 60
"""Generated trees."""

VERSIONS = ("9.0", "9.0", "9.0", "8.0", "7.0", "8.7", "6.3", "9.9", "1.0")
TARGETS = ("sm_100a", "sm_90a", "sm_90", "sm_75", "sm_80", "sm_120a", "sm_103f", "sm_30", "sm_999")
OUTSIDE = {
    "v_global": ".global .align 128 .b8 v_global[1024];",
    "v_const": ".const .align 128 .b8 v_const[1024];",
    "v_tex": ".global .texref v_tex;",
    "v_surf": ".global .surfref v_surf;",
    "call": ".func (.param .b32 w_result) w_function (.param .b64 w_a, .param .b32 w_b);",
}
INSIDE = {
    "v_shared": ".shared .align 128 .b8 v_shared[1024];",
    "v_local": ".local .align 128 .b8 v_local[1024];",
    "v_param": ".param .b32 v_param;",
    "_there": "L_there: T_there: .branchtargets L_there, L_there;",
}
"""What statements name, and its declaration at module scope or in a body."""
REGISTERS = {f"%{type_}_": type_ for type_ in sample.REGISTERS}
REGISTERS |= {"%p": "pred", "%rs": "b16", "%r": "b32", "%rd": "b64", "%f": "f32", "%fd": "f64"}
"""The registers that statements use, by the beginning of their names: of `sample`, of nvcc and of Triton."""
REGISTER = re.compile(r"%(?:[a-z0-9]+_|[a-z]+)(?=\d)")

TOKEN = re.compile(r"[ \t\r\n]+|//[^\n]*|[\w.$%:]+|.", re.DOTALL)
OPCODE = re.compile(r"(?<![\w$%.])([a-z]\w*)((?:\.[\w:]+)+)")
NUMBER = re.compile(r"(?<![\w$%.])\d+(?![\w.])")
DEBRIS = (
    *";{}[](),:.@!%$#\"'/\\*+-<>=?~|&^_0aZ \n\t\r\f\v\x1a\x7f",
    *(
        "/*",
        "*/",
        "//",
        "::",
        ".reg",
        ".b32",
        ".entry",
        ".func",
        ".section",
        "{{",
        "((",
        "0x",
        "call",
        "é",
        "\ufeff",
    ),
    *(
        "0f3f800000",
        "0d7ff0000000000000",
        "@@DWARF x",
        '# 3 "x"\n',
        "#define X 1\n",
        ".visible .entry q()",
        "WARP_SZ",
    ),
    *(
        ".reg .b32 %z<5>;",
        ".loc 1 2 3",
        '.pragma "x";',
        "- - -",
        "? 1 : 2",
        "1e999",
        "9" * 5000,
        "0x" + "f" * 99,
    ),
    *(
        "(" * 150,
        "[" * 50,
        "{" * 250,
        "-" * 150,
        ".a" * 200,
        "generic(x)",
        "// /// ptxkit\n// block = 1\n// ///\n",
    ),
    *(
        "// ptxkit: allow P201",
        ".global .u32 x[2] = {1,2};",
        "L: .branchtargets L<3>;",
        "\ud800",
        "\U0001f600",
    ),
)
NUMBERS = (
    "0",
    "-1",
    "1",
    "3",
    "7",
    "16",
    "64",
    "255",
    "256",
    "4095",
    "65536",
    "0x7fffffff",
    "4294967296",
    "1.5",
)
NUMBERS += (
    "18446744073709551615",
    "18446744073709551616",
    "0xffffffffffffffffffff",
    "0f7fc00000",
    "08",
    "1e400",
)


@dataclass(frozen=True)
class Seeds:
    """What cases are made from: whole texts, statements, and words of all of them."""

    files: tuple[str, ...]
    trees: tuple[str, ...]
    statements: tuple[str, ...]
    words: tuple[str, ...]


@cache
def seeds() -> Seeds:
    """Every seed; the same in every run with the same corpus and commit."""
    found_in = (CORPUS.glob("*/*.ptx"), ROOT.glob("kernels_ptx/**/*.ptx"), ROOT.glob("bench/**/*.ptx"))
    files = tuple(path.read_text() for paths in found_in for path in sorted(paths))
    found = {line.strip(): None for text in files for line in text.split("\n") if line.rstrip().endswith(";")}
    for opcode in registry.opcodes():
        for form in registry.forms(opcode):
            found.update((each.text, None) for each in sample.samples(form, 6))
    words = sorted({word for statement in found for word in re.findall(r"[\w.$%:]+", statement)})
    return Seeds(files, _trees(), tuple(found), tuple(words))


def _trees() -> tuple[str, ...]:
    """Texts of generated trees, always the same ones."""
    sys.path.insert(0, str(ROOT / "tests"))
    from asm_trees import modules
    from hypothesis import HealthCheck, Phase, given, settings

    found: list[str] = []

    @settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=TREES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(modules)
    def collect(module: Module) -> None:
        found.append(ptxkit.write(module) + "\n")

    collect()
    return tuple(found)


# ---- mutations


def by_bytes(text: str, draw: random.Random) -> str:
    """Lose, double, move or replace a few characters."""
    at, other = draw.randrange(len(text) + 1), draw.randrange(len(text) + 1)
    length = draw.choice((1, 1, 2, 5, 20, 200))
    action = draw.randrange(6)
    if action == 0:
        return text[:at] + text[at + length :]
    if action == 1:
        return text[:at] + text[other : other + length] + text[at:]
    if action == 2:
        return text[:at] + draw.choice(DEBRIS) + text[at:]
    if action == 3:
        return (
            text[:at]
            + chr(draw.choice((draw.randrange(1, 128), draw.randrange(128, 0x500))))
            + text[at + 1 :]
        )
    if action == 4 and draw.random() < 0.3:
        return text[:at]
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


def by_tokens(text: str, draw: random.Random) -> str:
    """Lose, double, swap or replace a token."""
    tokens = TOKEN.findall(text)
    places = [index for index, token in enumerate(tokens) if not token.isspace()]
    if not places:
        return text
    at, other = draw.choice(places), draw.choice(places)
    action = draw.randrange(6)
    if action == 0:
        tokens[at] = ""
    elif action == 1:
        tokens[at] += " " + tokens[at]
    elif action == 2:
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif action == 3:
        tokens[at] = draw.choice(seeds().words)
    elif action == 4:
        tokens[at] = draw.choice(DEBRIS)
    else:
        tokens[at] += draw.choice(" ,\t\n.") + draw.choice(seeds().words)
    return "".join(tokens)


def by_statements(text: str, draw: random.Random) -> str:
    """Change an opcode's modifiers, a number, or whole statements."""
    action = draw.randrange(7)
    if action < 3 and (opcodes := list(OPCODE.finditer(text))):
        match = draw.choice(opcodes)
        modifiers = match[2].split(".")[1:]
        at, other = draw.randrange(len(modifiers)), draw.randrange(len(modifiers))
        if action == 0:
            del modifiers[at]
        elif action == 1:
            modifiers[at], modifiers[other] = modifiers[other], modifiers[at]
        else:
            modifiers.insert(at, draw.choice(draw.choice(seeds().words).split(".")) or "b32")
        return text[: match.start()] + ".".join((match[1], *modifiers)) + text[match.end() :]
    if action == 3 and (numbers := list(NUMBER.finditer(text))):
        match = draw.choice(numbers)
        return text[: match.start()] + draw.choice(NUMBERS) + text[match.end() :]
    statements = text.split(";")
    at, other = draw.randrange(len(statements)), draw.randrange(len(statements))
    if action == 4:
        statements[at], statements[other] = statements[other], statements[at]
    elif action == 5:
        statements[at] = draw.choice(seeds().statements).rstrip(";")
    else:
        del statements[at]
    return ";".join(statements)


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    by_bytes,
    by_tokens,
    by_tokens,
    by_statements,
    by_statements,
)


def framed(body: str, version: str, target: str) -> str:
    """A module with these statements in a kernel; what they name is declared for the most part."""
    outside = [declaration for name, declaration in OUTSIDE.items() if name in body]
    inside = [declaration for name, declaration in INSIDE.items() if name in body]
    used = [name for name in dict.fromkeys(REGISTER.findall(body)) if name in REGISTERS]
    inside += [f".reg .{REGISTERS[name]} {name}<4000>;" for name in used]
    kernel = ".entry w_kernel(.param .u64 v_kernel)" if "v_kernel" in body else ".entry w_kernel"
    return "\n".join(
        (f".version {version}", f".target {target}", *outside, kernel, "{", *inside, body, "ret;", "}")
    )


def case(seed: int, number: int) -> tuple[str, str]:
    """The kind and the text of a case."""
    draw = random.Random(f"{seed} {number}")
    known = seeds()
    kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
    if kind == "statements":
        body = "\n".join(draw.choices(known.statements, k=draw.randrange(1, 4)))
        for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
            body = draw.choice(MUTATIONS)(body, draw)
        text = framed(body, draw.choice(VERSIONS), draw.choice(TARGETS))
        times = draw.choice((0, 0, 0, 0, 1))
    elif kind == "tree":
        text, times = draw.choice(known.trees), draw.choice((0, 1, 2, 5))
    else:
        text, times = draw.choice(known.files), draw.choice((1, 1, 2, 5, 30))
        if kind == "piece":
            start = draw.randrange(len(text))
            text = text[start : start + draw.choice((100, 300, 1000))]
    for _ in range(times):
        text = draw.choice(MUTATIONS)(text, draw)
    return kind, text + "\n"


# ---- what must hold


def examine(text: str, closely: bool = False) -> Counter[str]:
    """Read, write, format and check a text, and count the codes of what is found.

    Args:
        text: with a newline in it.
        closely: read it again, by what the parser has kept of the first time, and compare; format it twice.

    Raises:
        AssertionError: what must hold does not.
    """
    module = parse_module(text)
    assert module.source is not None
    if not module.complete and not module.statements:
        assert any(d.is_error for d in module.diagnostics), "not read, and no error"  # a preprocessor line
    else:
        assert ptxkit.write(module) == module.source.text, "what was read is not written back"
    errors = any(d.is_error for d in module.diagnostics)
    if closely:
        again = parse_module(text)
        assert again == module, "reading twice gives two trees"
        assert again.diagnostics == module.diagnostics, "reading twice gives other diagnostics"
    if not errors:
        assert not any(isinstance(s, Malformed) for s in walk(module.statements)), "malformed, and no error"
    canonical = ptxkit.write(module, canonical=True) or "\n"
    if not errors:
        formatted = parse_module(canonical)
        assert formatted == module, "formatting changes the tree"
        if closely:
            twice = ptxkit.write(formatted, canonical=True) or "\n"
            assert twice == canonical, "formatting twice changes the text"
    found = check(module)
    for diagnostic in found:
        assert code_info(diagnostic.code) is not None, diagnostic.code
        assert "\n" not in diagnostic.message, diagnostic.message
    assert errors <= any(d.is_error for d in found), "the checker dropped an error"
    render_text(found[:5])
    json.dumps([d.to_json() for d in found[:5]])
    return Counter(d.code for d in found)


@dataclass
class Outcome:
    """What became of many cases."""

    cases: int = 0
    characters: int = 0
    clean: int = 0
    slowest: tuple[float, int] = (0.0, -1)
    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    memory: int = 0

    def add(self, other: Outcome) -> None:
        self.cases += other.cases
        self.characters += other.characters
        self.clean += other.clean
        self.slowest = max(self.slowest, other.slowest)
        self.kinds += other.kinds
        self.codes += other.codes
        self.failures += other.failures
        self.memory = max(self.memory, other.memory)


def attempt(text: str, closely: bool) -> tuple[Counter[str], str | None]:
    """The codes of what is found in a text, and what went wrong."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return examine(text, closely), None
    except Exception as wrong:  # noqa: BLE001 - any exception is what is looked for
        signal.setitimer(signal.ITIMER_PROF, 0)
        frames = traceback.extract_tb(wrong.__traceback__)
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
        return Counter(), f"{type(wrong).__name__} at {where}: {' '.join(str(wrong).split())[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _out_of_time(signum: int, frame: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def bounded() -> None:
    """Give this process its bounds."""
    signal.signal(signal.SIGPROF, _out_of_time)
    pages = Path("/proc/self/statm")
    had = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
    resource.setrlimit(resource.RLIMIT_AS, (had + MEMORY, had + MEMORY))


def run(seed: int, numbers: range, deadline: float = math.inf) -> Outcome:
    """Examine these cases, those that can begin before the deadline, in seconds of the monotonic clock."""
    found = Outcome()
    for number in numbers:
        if time.monotonic() > deadline:
            break
        kind, text = case(seed, number)
        start = time.process_time()
        codes, wrong = attempt(text, closely=number % 4 == 0)
        found.slowest = max(found.slowest, (time.process_time() - start, number))
        found.cases += 1
        found.characters += len(text)
        found.kinds[kind] += 1
        found.codes.update(codes.keys())
        if wrong is not None:
            found.failures.append((number, wrong))
        elif not codes:
            found.clean += 1
    found.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return found


def chunks(first: int, count: int) -> Iterator[range]:
    for start in range(first, first + count, CHUNK):
        yield range(start, min(start + CHUNK, first + count))


def document(total: Outcome, seed: int, first: int, seconds: float, origin: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": 1,
        "kind": "fuzz",
        "seed": seed,
        "first": first,
        "cases": total.cases,
        "made_from": dict(total.kinds),
        "characters": total.characters,
        "without_a_finding": total.clean,
        "cases_with_each_code": dict(sorted(total.codes.items())),
        "failures": [{"case": number, "what": what} for number, what in total.failures],
        "slowest": {"seconds": round(total.slowest[0], 3), "case": total.slowest[1]},
        "bounds": {"seconds_a_case": SECONDS, "bytes_of_address_space": MEMORY},
        "peak_resident_bytes": total.memory,
        "seconds": round(seconds),
        **origin,
    }


def joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One document of several runs, no case of which is another's."""
    ranges = sorted((part["seed"], part["first"], part["first"] + part["cases"]) for part in parts)
    for before, after in pairwise(ranges):
        if before[0] == after[0] and before[2] > after[1]:
            raise SystemExit(f"case {after[1]} of seed {after[0]} is in two runs")
    sums = ("cases", "characters", "without_a_finding")
    counts = ("made_from", "cases_with_each_code")
    run = ("seed", "first", "cases", "slowest", "seconds", "date", "commit", "modified", "machine")
    return {
        **{name: parts[0][name] for name in ("schema", "kind", "bounds")},
        **{name: sum(part[name] for part in parts) for name in sums},
        **{name: dict(sorted(sum((Counter(p[name]) for p in parts), Counter()).items())) for name in counts},
        "failures": [{"seed": part["seed"], **failure} for part in parts for failure in part["failures"]],
        "peak_resident_bytes": max(part["peak_resident_bytes"] for part in parts),
        "runs": [{name: part[name] for name in run} for part in parts],
    }


def show(seed: int, number: int) -> int:
    kind, text = case(seed, number)
    sys.stdout.write(f"{text}\n---- case {number}, {kind}\n")
    codes, wrong = attempt(text, closely=True)
    print(dict(codes), wrong or "holds")
    return int(wrong is not None)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no case after so many")
    parser.add_argument("--output", type=Path, help="the document; by default bench/results/fuzz.json")
    parser.add_argument(
        "--join", type=Path, nargs="+", metavar="FILE", help="make one document of those of several runs"
    )
    parser.add_argument("--show", type=int, metavar="N", help="print case N and examine it alone")
    arguments = parser.parse_args()
    if arguments.join:
        whole = joined([json.loads(path.read_text()) for path in arguments.join])
        (arguments.output or OUTPUT).write_text(json.dumps(whole, indent=1) + "\n")
        return int(bool(whole["failures"]))
    seeds()
    if arguments.show is not None:
        bounded()
        return show(arguments.seed, arguments.show)
    start, total, origin = time.monotonic(), Outcome(), provenance()

    def keep() -> None:
        found = document(total, arguments.seed, arguments.first, time.monotonic() - start, origin)
        (arguments.output or OUTPUT).write_text(json.dumps(found, indent=1) + "\n")

    with ProcessPoolExecutor(arguments.processes, initializer=bounded) as pool:
        parts = list(chunks(arguments.first, arguments.cases))
        for outcome in pool.map(
            run, [arguments.seed] * len(parts), parts, [start + arguments.seconds] * len(parts)
        ):
            for number, what in outcome.failures:
                print(f"case {number}: {what}", flush=True)
            total.add(outcome)
            if total.cases % (20 * CHUNK) == 0:
                keep()
                line = f"{total.cases} cases, {total.memory >> 20} MB, slowest {total.slowest[0]:.2f} s"
                print(line, file=sys.stderr, flush=True)
    keep()
    print(f"{total.cases} cases, {len(total.failures)} failures, slowest {total.slowest[0]:.2f} s")
    return int(bool(total.failures))


if __name__ == "__main__":
    sys.exit(main())
