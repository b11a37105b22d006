"""What the clients of cuda.bindings share."""

from typing import Any


def check(answer: tuple[Any, ...]) -> Any:
    """The results of a call that must succeed."""
    code, *results = answer
    assert code == 0, code.name
    return results[0] if len(results) == 1 else tuple(results) or None
