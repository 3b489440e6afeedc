"""Arguments of public calls: numbers, flags, points and series of them, as plain Python values.

Callers may give NumPy's scalars and arrays wherever a number, a flag or a point is asked for. What does not fit is a
ParameterError that names the argument, what was expected and what was given; nothing is ever rounded to fit.
"""

from __future__ import annotations

import math
import operator
import reprlib
from typing import Any

import numpy as np

from wend.errors import ParameterError

WHOLE_MAX = 2**63 - 1       # what an int64 holds


def whole(value: Any, name: str, *, low: int | None = None, high: int = WHOLE_MAX) -> int:
    """A whole number within these bounds; 3.0 is one, 3.5 and True are none."""
    plain = _whole_or_none(value)
    if plain is None or not (-WHOLE_MAX if low is None else low) <= plain <= high:
        least = "" if low is None else f" from {low}"
        most = f" up to {high}" if high < WHOLE_MAX or (plain is not None and plain > high) else ""
        raise _refused(name, "a whole number" + least + most, value)
    return plain


def number(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    low: float | None = None,
    high: float = math.inf,
    finite: bool = False,
) -> float:
    """A number larger than `above`, at least `low` and at most `high`; infinity is one, unless it is to be finite."""
    plain = _plain(value)
    try:
        parsed = math.nan if isinstance(plain, (bool, str, bytes)) else float(plain)
    except (TypeError, ValueError, OverflowError):
        parsed = math.nan
    too_large = finite and math.isinf(parsed)
    too_small = (above is not None and parsed <= above) or (low is not None and parsed < low)
    if math.isnan(parsed) or too_large or too_small or parsed > high:
        bound = "" if above is None else f" above {above:g}"
        most = "" if high == math.inf else f" up to {high:g}"
        kind = "a finite number" if finite else "a number"
        raise _refused(name, kind + (bound if low is None else f" from {low:g}") + most, value)
    return parsed


def flag(value: Any, name: str) -> bool:
    """True or False; 1 and 0 will do."""
    if value is True or value is False:
        return value
    plain = _plain(value)
    if isinstance(plain, bool):
        return plain
    if _whole_or_none(plain) not in (0, 1):
        raise _refused(name, "True or False", value)
    return bool(plain)


def point(value: Any, name: str) -> tuple[int, int]:
    """A point (x, y) of whole numbers, on the map or off it."""
    if type(value) is tuple and len(value) == 2 and type(value[0]) is int and type(value[1]) is int:
        return value
    try:
        x, y = (_whole_or_none(coordinate) for coordinate in value)
    except (TypeError, ValueError):
        x = y = None
    if x is None or y is None or isinstance(value, (str, bytes, dict, set, frozenset)):
        raise _refused(name, "a point (x, y) of whole numbers", value)
    return x, y


def series(value: Any, name: str, of: str) -> list[Any]:
    """The items of whatever can be iterated over; `of` says of what kind they should be."""
    try:
        items = iter(value)
    except TypeError:
        items = None
    if items is None or isinstance(value, (str, bytes)):
        raise _refused(name, f"a series of {of}", value)
    return list(items)


def points(value: Any, name: str) -> list[tuple[int, int]]:
    """Points (x, y) of whole numbers; an array of two columns will do."""
    items = series(value, name, "points (x, y)")
    if len(items) == 2 and all(_whole_or_none(item) is not None for item in items):
        raise _refused(name, "a series of points (x, y)", items, hint=": put the one point into a list")
    return [point(item, f"{name}[{k}]") for k, item in enumerate(items)]


def instance(value: Any, name: str, kind: type | tuple[type, ...], expected: str) -> None:
    """Refuse what is not of this class; `expected` says in words what is."""
    if not isinstance(value, kind):
        raise _refused(name, expected, value)


def function(value: Any, name: str) -> None:
    """Refuse what is neither None nor can be called."""
    if value is not None and not callable(value):
        raise _refused(name, "a function", value)


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _plain(value: Any) -> Any:
    """A scalar of NumPy, or an array of a single one without axes, as Python's own."""
    return value.item() if _is_array(value) and value.ndim == 0 else value


def _whole_or_none(value: Any) -> int | None:
    if type(value) is int:
        return value
    plain = _plain(value)
    if isinstance(plain, bool):
        return None
    if isinstance(plain, float):
        return int(plain) if plain.is_integer() else None
    try:
        return operator.index(plain)
    except TypeError:
        return None


def _refused(name: str, expected: str, value: Any, *, hint: str = "") -> ParameterError:
    return ParameterError(f"{name} is {expected}, not {_shown(value)}{hint}")


def _shown(value: Any) -> str:
    """A short text that shows a value, whatever it is."""
    try:
        return reprlib.repr(value.tolist() if _is_array(value) else value)
    except Exception:       # a foreign object may fail to show itself in any way
        return f"an object of type {type(value).__name__}"
