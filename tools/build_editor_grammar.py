"""Build `editors/vscode/syntaxes/ptx.tmLanguage.json`, the TextMate grammar, from the rows.

Run it after every change of the rows or of the grammar's keywords: `python tools/build_editor_grammar.py`;
`--check` only says whether the file is up to date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ptxkit.asm._grammar import KEYWORDS, KINDS
from ptxkit.asm.lexer import SOURCE_BEGIN, SOURCE_END
from ptxkit.dtypes import DTYPES
from ptxkit.isa import registry
from ptxkit.isa.special_registers import SPECIAL_REGISTERS

OUTPUT = Path(__file__).resolve().parents[1] / "editors" / "vscode" / "syntaxes" / "ptx.tmLanguage.json"
NAME = r"[A-Za-z][\w$]*|[_$%][\w$]+|_"
END = r"(?![\w$:])"
START = r"(?:^|(?<=[;{}:/]))\s*"  # `/` of a comment before it


def words(found: Iterable[str]) -> str:
    """An alternative of words, the longest first, so that none hides a longer one."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(set(found), key=lambda w: (-len(w), w))) + ")"


def grammar() -> dict[str, Any]:
    """The grammar as data."""
    directives, spaces, types = [], [], []
    for word, kind in KEYWORDS.items():
        if word.startswith("."):
            {KINDS["SPACE"]: spaces, KINDS["TYPE"]: types}.get(kind, directives).append(word[1:])
    vectors = [word for word in directives if re.fullmatch(r"v\d", word)]
    directives = [word for word in directives if word not in vectors]
    types += [name for name in DTYPES if re.fullmatch(r"\w+", name)]
    modifiers = {m for opcode in registry.opcodes() for f in registry.forms(opcode) for m in f.modifiers}
    spaces += [m for m in modifiers if m.partition("::")[0] in spaces]
    modifiers -= {*types, *spaces}
    of_a_word = [
        {"match": rf"\.{words(types)}{END}", "name": "storage.type.ptx"},
        {"match": rf"\.{words(spaces)}{END}", "name": "storage.modifier.space.ptx"},
        {"match": rf"\.{words([*modifiers, *vectors])}{END}", "name": "support.constant.modifier.ptx"},
        {"match": r"\.[\w$]+(?:::[\w$]+)*", "name": "invalid.illegal.modifier.ptx"},
    ]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "PTX",
        "scopeName": "source.ptx",
        "fileTypes": ["ptx"],
        "patterns": [{"include": f"#{name}"} for name in _ORDER],
        "repository": {
            "comments": {
                "patterns": [
                    {"match": "//.*$", "name": "comment.line.double-slash.ptx"},
                    {"begin": r"/\*", "end": r"\*/", "name": "comment.block.ptx"},
                ]
            },
            "sources": {
                "begin": rf"\{SOURCE_BEGIN}[ \t]*$",
                "end": rf"^[ \t]*\{SOURCE_END}[ \t]*$",
                "name": "string.unquoted.source.ptx",
            },
            "preprocessor": {"match": r"^\s*#.*$", "name": "meta.preprocessor.ptx"},
            "strings": {"begin": '"', "end": '"|$', "name": "string.quoted.double.ptx"},
            "functions": {
                "match": rf"(\.(?:entry|func))\s+({NAME})",
                "captures": {
                    "1": {"name": "keyword.declaration.ptx"},
                    "2": {"name": "entity.name.function.ptx"},
                },
            },
            "labels": {
                "match": rf"{START}({NAME})\s*:(?!:)",
                "captures": {"1": {"name": "entity.name.label.ptx"}},
            },
            "instructions": {
                "match": rf"{START}(?:(@\s*!?)\s*([\w$%]+)\s+)?({words(registry.opcodes())})"
                r"((?:\.[\w$]+(?:::[\w$]+)*)*)(?=[\s;]|$)",
                "captures": {
                    "1": {"name": "keyword.operator.guard.ptx"},
                    "2": {"name": "variable.other.predicate.ptx"},
                    "3": {"name": "keyword.mnemonic.ptx"},
                    "4": {"patterns": of_a_word},
                },
            },
            "directives": {"match": rf"\.{words(directives)}{END}", "name": "keyword.declaration.ptx"},
            "modifiers": {"patterns": of_a_word[:-1]},
            "numbers": {
                "match": r"(?<![\w$%.])(?:0[fF][\da-fA-F]{8}|0[dD][\da-fA-F]{16}|0[xX][\da-fA-F]+U?"
                r"|0[bB][01]+U?|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)(?![\w$])",
                "name": "constant.numeric.ptx",
            },
            "special": {
                "match": rf"(?:{words(SPECIAL_REGISTERS)})(?:\.[xyzw])?(?![\w$])|\bWARP_SZ\b",
                "name": "variable.language.ptx",
            },
            "registers": {"match": r"%[\w$]+", "name": "variable.other.register.ptx"},
            "names": {"match": r"[A-Za-z_$][\w$]*", "name": "variable.other.ptx"},
            "operators": {"match": r"[-+*/%&|^~!<>=?@]+", "name": "keyword.operator.ptx"},
        },
    }


_ORDER = (
    "comments sources preprocessor strings functions labels instructions numbers directives modifiers "
    "special registers names operators"
).split()


def render() -> str:
    """The file."""
    return json.dumps(grammar(), indent=2) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="do not write; exit 1 if the file is stale")
    arguments = parser.parse_args()
    if arguments.check:
        return int(not OUTPUT.exists() or OUTPUT.read_text() != render())
    OUTPUT.write_text(render())
    return 0


if __name__ == "__main__":
    sys.exit(main())
