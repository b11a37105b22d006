"""The inline assembly of Python, MLIR and LLVM: a text with `$0` for operands, and its constraints."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import pairwise

from .cplusplus import Finder
from .text import REGISTERS, Operand, Text

_CONSTRAINTS = re.compile(
    r"(?:[=+&]*(?:[a-zA-Z]|\d+)|~\{[\w{}]*\})(?:,(?:[=+&]*(?:[a-zA-Z]|\d+)|~\{[\w{}]*\}))*|"
)
_PAIR = re.compile(r'(?:inline_asm|\basm\b)[^"\n]*"((?:[^"\\]|\\.)*)"\s*,\s*"((?:[^"\\]|\\.)*)"')
_CODE = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_CODE_IN = re.compile(r"\basm\b[^(]*\(")
_PATTERN = re.compile(r"\{\{|\[\[|//\s*CHECK")
"""What a test's expectation has instead of a text."""


def of_ir(source: str, where: str, finder: Finder) -> Iterator[Text]:
    """The texts of a file of MLIR or LLVM."""
    for match in _PAIR.finditer(source):
        if _PATTERN.search(match[1]):
            finder.left_out["a pattern of a test"] += 1
            continue
        template = _CODE.sub(_character, match[1])
        yield from _text(template, match[2], f"{where}:{source.count(chr(10), 0, match.start()) + 1}", finder)


def _character(match: re.Match[str]) -> str:
    named = {"n": "\n", "t": "\t", "r": "\r"}
    code = match[1]
    return chr(int(code, 16)) if len(code) == 2 else named.get(code, code)


def of_python(source: str, where: str, finder: Finder) -> Iterator[Text]:
    """The texts of a Python file: those of its calls of `inline_asm`, and those of C++ in its strings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            finder.left_out["a Python file that Python does not read"] += 1
            return
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                    names[target.id] = node.value.value
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and "inline_asm" in ast.unparse(node.func):
            yield from _of_call(node, names, where, finder)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _CODE_IN.search(node.value):
            yield from finder.texts(node.value, f"{where}:{node.lineno}", 1)


def _of_call(node: ast.Call, names: dict[str, str], where: str, finder: Finder) -> Iterator[Text]:
    strings: list[str | None] = []
    for given in (*node.args, *(keyword.value for keyword in node.keywords)):
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            strings.append(given.value)
        elif isinstance(given, ast.Name) and given.id in names:
            strings.append(names[given.id])
        elif isinstance(given, ast.JoinedStr):
            strings.append(None)
    for template, constraints in pairwise(strings):
        if template is None:
            finder.left_out["the text is put together at run time"] += 1
            return
        if constraints is not None and _CONSTRAINTS.fullmatch(constraints.replace(" ", "")):
            yield from _text(template, constraints.replace(" ", ""), f"{where}:{node.lineno}", finder)
            return
    finder.left_out["the text is put together at run time"] += 1


def _text(template: str, constraints: str, where: str, finder: Finder) -> Iterator[Text]:
    operands: list[Operand] = []
    for constraint in constraints.split(",") if constraints else []:
        letter = constraint.lstrip("=+&")
        if constraint.startswith("~"):
            continue
        if letter.isdigit() and int(letter) < len(operands):
            letter = operands[int(letter)].letter
        output = constraint.startswith(("=", "+"))
        if letter in ("n", "i"):
            operands.append(Operand("n"))
        elif letter in REGISTERS:
            operands.append(Operand(letter, output, not output or "+" in constraint))
        else:
            finder.left_out["an operand's constraint is none of PTX's"] += 1
            return
    yield Text(template, tuple(operands), dollars=True, where=where)
