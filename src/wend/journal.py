"""The journal of a world: each call to it happens as a whole or not at all.

While a call changes the world it writes into a journal how to take each change back. If the call fails, for whatever
reason and at whatever line, the journal takes everything back, the last change first. A tick goes on to a point where
it is decided: from there on the journal holds what is left to do instead, and an interrupt cannot stop it.

Each step of a journal can be made twice without harm. So an interrupt in the middle of taking back does no harm either:
the next call to the world begins with what is left in the journal.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ABSENT = object()
_VIEWS = (np.ndarray, np.void)      # what indexing answers with that changes along with the array


class Journal:
    """What is to be done should the call at hand end now, the last step first."""

    uncaptured = ("_steps",)    # a snapshot is taken between two calls, when there is nothing in it

    def __init__(self) -> None:
        self._steps: list[tuple[Callable[..., None], tuple[Any, ...]]] = []

    def keep(self, array: NDArray[Any], where: Any = ...) -> None:
        """What an array holds, or holds at an index, is about to change."""
        self._steps.append((_put, (array, where, _value(array, where))))

    def keep_row(self, arrays: tuple[NDArray[Any], ...], row: int) -> None:
        """What each of some arrays holds at an index is about to change."""
        self._steps.append((_put_row, (arrays, row, [_value(array, row) for array in arrays])))

    def keep_item(self, table: dict[Any, Any], key: Any) -> None:
        """What a dict holds under a key is about to change."""
        self._steps.append((_put_item, (table, key, table.get(key, _ABSENT))))

    def keep_attribute(self, owner: Any, name: str) -> None:
        """An attribute is about to be assigned."""
        self._steps.append((setattr, (owner, name, getattr(owner, name))))

    def on_failure(self, step: Callable[..., None], *arguments: Any) -> None:
        """A change is about to be made that this takes back."""
        self._steps.append((step, arguments))

    def decide(self, step: Callable[..., None], *arguments: Any) -> None:
        """From here on the call has happened: nothing is taken back, and this step is what is left of it."""
        self._steps = [(step, arguments)]

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, where: TracebackType | None) -> None:
        """If the call was made, nothing is left of it."""
        if kind is None:
            self._steps = []
        else:
            self.settle()

    def settle(self) -> None:
        """Make all steps."""
        steps = self._steps
        while steps:
            step, arguments = steps[-1]
            step(*arguments)
            steps.pop()

    def __reduce__(self) -> tuple[type[Journal], tuple[()]]:
        return Journal, ()      # a world is copied between two calls, when there is nothing in it


def _value(array: NDArray[Any], where: Any) -> np.generic | NDArray[Any]:
    """What an array holds at an index, and no view of it."""
    value: np.generic | NDArray[Any] = array[where]
    return value.copy() if isinstance(value, _VIEWS) else value


def _put_row(arrays: tuple[NDArray[Any], ...], row: int, values: list[Any]) -> None:
    for array, value in zip(arrays, values, strict=True):
        array[row] = value


def _put(array: NDArray[Any], where: Any, value: np.generic | NDArray[Any]) -> None:
    array[where] = value


def _put_item(table: dict[Any, Any], key: Any, value: Any) -> None:
    if value is _ABSENT:
        table.pop(key, None)
    else:
        table[key] = value
