"""Descriptors by request: the JSON of `ptxkit desc batch`, a request and an answer a line.

`{"op": "encode", "kind": K, ...fields}` gives `{"value": "0x.."}`, `{"op": "decode", "kind": K,
"value": "0x.."}` gives `{"fields": {..}}`, and what is wrong gives `{"error": {"code", "message"}}`. With
`"arch": "sm_107a"` what that target lacks is wrong, too.
A tensor map's value is its 128 bytes in hexadecimal, byte 0 first; every other value is a number. JSON has no
hexadecimal numbers: where a field takes an integer, `"0x7f0000000400"` is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from ptxkit.bits import Word, refuse
from ptxkit.diagnostics import Diagnostic, PtxkitError, error
from ptxkit.encodings.kinds import KINDS
from ptxkit.encodings.targeted import Targeted
from ptxkit.encodings.tensor_maps import TensorMap
from ptxkit.targets import parse as parse_target

REQUEST = "P407"
VALUE = "P408"


def kind_class(kind: Any) -> type[Word]:
    """The class of a kind of descriptor.

    Raises:
        PtxkitError: P407, no such kind; the message lists them.
    """
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]
    raise error(REQUEST, f"`kind` must be one of {', '.join(KINDS)}, found {kind}")


def encode(kind: str, fields: dict[str, Any], arch: Any = None) -> str:
    """The value of a descriptor as text. `arch`: a target that must have it; None for any."""
    word = kind_class(kind)(**fields)
    _check_target(word, arch)
    return bytes(word).hex() if isinstance(word, TensorMap) else word.hex


def decode(kind: str, value: Any, arch: Any = None) -> dict[str, Any]:
    """The fields of a descriptor, plain data. `arch`: a target that must have it; None for any."""
    cls = kind_class(kind)
    word = cls.decode(parse_value(cls, value))
    _check_target(word, arch)
    return word.fields()


def _check_target(word: Word, arch: Any) -> None:
    """Raises P407, no such target; P428, it lacks something."""
    if arch is None:
        return
    target = parse_target(arch) if isinstance(arch, str) else None
    if target is None:
        raise error(REQUEST, f"`arch` must be a target such as sm_107a, found {arch}")
    if isinstance(word, Targeted):
        refuse(word.check_target(target.capability))


def parse_value(cls: type[Word], value: Any) -> int:
    """The word that a text (or, for numbers, an int) stands for.

    Raises:
        PtxkitError: P408, no number or the wrong count of digits.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = value.removeprefix("0x").removeprefix("0X").replace("_", "") if isinstance(value, str) else ""
    digits = cls.WIDTH // 4
    try:
        raw = bytes.fromhex(text.zfill(digits))
    except ValueError:
        raw = b""
    if not text or len(raw) * 2 != digits or (issubclass(cls, TensorMap) and len(text) != digits):
        exactly = "exactly" if issubclass(cls, TensorMap) else "at most"
        shown = f"`{value[:40]}`" if isinstance(value, str) else value
        raise error(
            VALUE, f"`value` of `{cls.KIND}` must be {exactly} {digits} hexadecimal digits, found {shown}"
        )
    return int.from_bytes(raw, "little" if issubclass(cls, TensorMap) else "big")


def answer(request: Any) -> dict[str, Any]:
    """The answer to one request; what is wrong with it is in the answer, never raised."""
    try:
        if not isinstance(request, dict):
            raise error(REQUEST, "a request must be a JSON object")
        rest = dict(request)
        operation, kind, arch = (rest.pop(name, None) for name in ("op", "kind", "arch"))
        if operation == "encode":
            return {"value": encode(kind, {name: _hexadecimal(value) for name, value in rest.items()}, arch)}
        if operation == "decode":
            if set(rest) != {"value"}:
                raise error(REQUEST, "a decode request has only `op`, `kind` and `value`")
            return {"fields": decode(kind, rest["value"], arch)}
        raise error(REQUEST, f"`op` must be encode or decode, found {operation}")
    except PtxkitError as refused:
        return {"error": error_json(refused.diagnostics)}


_HEXADECIMAL = re.compile(r"0[xX](_?[0-9a-fA-F])+")


def _hexadecimal(value: Any) -> Any:
    """A field with the integers that are written as text; names and everything else stay."""
    if isinstance(value, list):
        return [_hexadecimal(item) for item in value]
    if isinstance(value, str) and _HEXADECIMAL.fullmatch(value):
        return int(value, 16)
    return value


def answer_line(line: str, dumps: Callable[[Any], str] = json.dumps) -> str:
    """The answer to one line of `desc batch`, a line of JSON without its end."""
    try:
        request = json.loads(line)
    except RecursionError:
        return dumps(
            {"error": {"code": REQUEST, "message": "a line must be a JSON object: too deeply nested"}}
        )
    except ValueError as wrong:
        return dumps({"error": {"code": REQUEST, "message": f"a line must be a JSON object: {wrong}"}})
    return dumps(answer(request))


def error_json(diagnostics: tuple[Diagnostic, ...]) -> dict[str, str]:
    """`{"code", "message"}`: the first code, and every message with the section it comes from."""
    texts = [f"{d.message} ({d.notes[-1]})" if d.notes else d.message for d in diagnostics]
    return {"code": diagnostics[0].code, "message": "; ".join(texts)}


_CORNERS = ("pixel_box_lower_corner", "pixel_box_upper_corner")
LISTS = ("shape", "strides", "box", "element_strides", *_CORNERS, "start_count")


def parse_fields(texts: Iterable[str]) -> dict[str, Any]:
    """Fields written `name=value`: numbers in any base, true and false, names, lists `64,64` or `[64, 64]`.

    Raises:
        PtxkitError: P407, no `=`, or a name given twice.
    """
    fields: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise error(REQUEST, f"a field must be `name=value`, found `{text}`")
        if name in fields:
            raise error(REQUEST, f"`{name}` is given twice")
        inner = value.strip("[]")
        if name in LISTS or "," in value:
            fields[name] = [_parse_value(item.strip()) for item in inner.split(",") if item.strip()]
        else:
            fields[name] = _parse_value(value)
    return fields


def _parse_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text, 0)
    except ValueError:
        return text
