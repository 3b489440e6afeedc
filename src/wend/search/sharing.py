# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Sharing: things by number, searches or rows of a table, each of which all agents share that want the same of it."""

from __future__ import annotations

from wend.kernel import jit


@jit
def number_of(keys, users, key):
    """The number of the thing in use that has this key; if there is none, the first number that nobody uses."""
    unused = -1
    for number in range(users.size - 1, -1, -1):
        if users[number] == 0:
            unused = number
        elif keys[number] == key:
            return number
    return unused
