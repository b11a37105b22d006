"""What a person asked of the debugger and can't have."""

from __future__ import annotations


class RefusedError(Exception):
    """A command that can't be done; says why."""


class QuitError(Exception):
    """The user has had enough."""
